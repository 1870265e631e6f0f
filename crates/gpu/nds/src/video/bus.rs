//! The processors' addresses: registers, palettes, video memory and OAM.
//!
//! Source: GBATEK, "DS I/O Maps". Reads of what is not there, not mapped, or can only be written are 0. Palettes, video memory and
//! OAM do not take bytes from the ARM9. An engine that is switched off drops writes to its registers, palettes and OAM; DISPCNT
//! and what follows the engine (capture, display FIFO, master brightness) are not parts of it.

use super::clock::Cpu;
use super::{CaptureControl, Power, Video};
use crate::geometry::fifo::Full;
use crate::registers::Control;

/// Bytes of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 8 bits.
    Byte,
    /// 16 bits; bit 0 of the address does not count.
    Half,
    /// 32 bits; bits 0 and 1 of the address do not count.
    Word,
}

impl Width {
    /// From a number of bytes: 1, 2 or 4.
    pub fn new(bytes: u8) -> Option<Width> {
        match bytes {
            1 => Some(Width::Byte),
            2 => Some(Width::Half),
            4 => Some(Width::Word),
            _ => None,
        }
    }
}

/// Addresses of registers, without those of engine B.
const IO: u32 = 0x0400_0000;
/// Engine B's registers.
const ENGINE_B: u32 = 0x0400_1000;

/// Whether a register is a part of a 2D engine, and dropped while it is off.
fn is_engine_register(offset: u32) -> bool {
    (0x08..0x60).contains(&offset)
}

impl Video {
    /// The ARM9 writes.
    ///
    /// # Errors
    /// [`Full`] when a word for the geometry engine has no room: nothing was written, and the processor stalls. Let the engine
    /// work ([`Video::advance`]), and write it again.
    pub fn write(&mut self, address: u32, value: u32, width: Width) -> Result<(), Full> {
        match address >> 24 {
            4 => return self.write_io(address, value, width),
            5 if width != Width::Byte => {
                for (at, half) in halves(address, value, width) {
                    let place = at as usize / 2 % 1024;
                    if self.is_on(place / 512) {
                        self.palettes[place / 512][place % 512] = half;
                    }
                }
            }
            6 => match width {
                Width::Byte => {}
                Width::Half => self.vram.write(address, (value as u16).to_le_bytes()),
                Width::Word => self.vram.write(address, value.to_le_bytes()),
            },
            7 if width != Width::Byte => {
                for (at, half) in halves(address, value, width) {
                    let place = at as usize / 2 % 1024;
                    if self.is_on(place / 512) {
                        self.oam[place / 512][place % 512] = half;
                        self.engines[place / 512].oam_changed(place % 512);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The ARM9 reads.
    pub fn read(&mut self, address: u32, width: Width) -> u32 {
        let word = match address >> 24 {
            4 => return self.read_io(address, width),
            5 => pair(&self.palettes, address),
            6 => u32::from_le_bytes(self.vram.read(address & !3)),
            7 => pair(&self.oam, address),
            _ => 0,
        };
        part(word, address, width)
    }

    /// The ARM7 writes: DISPSTAT, and the banks of video memory that are its own.
    pub fn write_arm7(&mut self, address: u32, value: u32, width: Width) {
        match (address >> 24, width) {
            (6, Width::Byte) => self.vram.write_arm7(address, [value as u8]),
            (6, Width::Half) => self.vram.write_arm7(address, (value as u16).to_le_bytes()),
            (6, Width::Word) => self.vram.write_arm7(address, value.to_le_bytes()),
            (4, Width::Half | Width::Word) if address & !3 == 0x0400_0004 && address & 2 == 0 => {
                self.clock.write_status(Cpu::Arm7, value as u16);
            }
            _ => {}
        }
    }

    /// The ARM7 reads: DISPSTAT, VCOUNT, VRAMSTAT (0x04000240), and the banks of video memory that are its own.
    pub fn read_arm7(&self, address: u32, width: Width) -> u32 {
        let word = match address >> 24 {
            6 => u32::from_le_bytes(self.vram.read_arm7(address & !3)),
            4 => match address & !3 {
                0x0400_0004 => u32::from(self.status(Cpu::Arm7)) | self.line << 16,
                0x0400_0240 => self.vram.arm7_status().into(),
                _ => 0,
            },
            _ => 0,
        };
        part(word, address, width)
    }

    /// Whether a 2D engine is switched on.
    fn is_on(&self, engine: usize) -> bool {
        self.power.contains(if engine == 0 { Power::ENGINE_A } else { Power::ENGINE_B })
    }

    fn write_io(&mut self, address: u32, value: u32, width: Width) -> Result<(), Full> {
        match (address & !3, width) {
            (0x0400_0400..0x0400_0440, Width::Word) if self.power.contains(Power::GEOMETRY) => {
                return self.three_d.write_fifo(value);
            }
            (at @ 0x0400_0440..0x0400_05cc, Width::Word) if self.power.contains(Power::GEOMETRY) => {
                return self.three_d.write_port((at >> 2) as u8, value);
            }
            (0x0400_0600, Width::Word) => self.three_d.write_status(value),
            _ => match width {
                Width::Byte => self.write_byte(address, value as u8),
                _ => halves(address, value, width).for_each(|(at, half)| self.write_half(at, half)),
            },
        }
        Ok(())
    }

    fn write_byte(&mut self, address: u32, value: u8) {
        if let Some(bank) = bank(address) {
            return self.vram.set_control(bank, value);
        }
        // The other byte of the register stays as it was written.
        let before = self.written(address & !1);
        let half = match address & 1 {
            0 => before & 0xff00 | u16::from(value),
            _ => before & 0xff | u16::from(value) << 8,
        };
        self.write_half(address & !1, half);
    }

    /// A register as it was written, where bytes of it can be.
    fn written(&self, address: u32) -> u16 {
        let registers = self.three_d.registers();
        match address {
            0x0400_0004 => self.status(Cpu::Arm9),
            IO..0x0400_0060 | 0x0400_006c => self.engines[0].registers().half(address - IO),
            ENGINE_B..0x0400_1070 => self.engines[1].registers().half(address - ENGINE_B),
            0x0400_0060 => registers.control,
            0x0400_0064 => self.capture.0 as u16,
            0x0400_0066 => (self.capture.0 >> 16) as u16,
            0x0400_0304 => self.power.bits(),
            0x0400_0320..0x0400_03c0 => registers.half(address),
            _ => 0,
        }
    }

    fn write_half(&mut self, address: u32, value: u16) {
        match address {
            0x0400_0004 => self.clock.write_status(Cpu::Arm9, value),
            // VCOUNT cannot be changed here, and engine B has neither.
            0x0400_0006 | 0x0400_1004 | 0x0400_1006 => {}
            0x0400_0060 if self.power.contains(Power::RENDERING) => {
                if value & Control::UNDERFLOW.bits() != 0 {
                    self.rows.clear_underflow();
                }
                self.three_d.write_control(value & !Control::UNDERFLOW.bits());
            }
            0x0400_0060 => {}
            0x0400_0064 => self.write_capture(u32::from(value), 0xffff),
            0x0400_0066 => self.write_capture(u32::from(value) << 16, 0xffff_0000),
            0x0400_0068 => self.fifo.write(false, value),
            0x0400_006a => self.fifo.write(true, value),
            IO..0x0400_0070 => self.write_engine(0, address - IO, value),
            ENGINE_B..0x0400_1070 => self.write_engine(1, address - ENGINE_B, value),
            0x0400_0240..0x0400_024a => {
                for (at, value) in (address..).zip(value.to_le_bytes()) {
                    if let Some(bank) = bank(at) {
                        self.vram.set_control(bank, value);
                    }
                }
            }
            0x0400_0304 => self.power = Power::from_bits_truncate(value),
            0x0400_0320..0x0400_03c0 if self.power.contains(Power::RENDERING) => {
                let mut registers = self.three_d.registers().clone();
                registers.write_half(address, value);
                self.three_d.set_registers(registers);
            }
            0x0400_0610 if self.power.contains(Power::GEOMETRY) => {
                let one_dot_depth = value & 0x7fff;
                let registers = self.three_d.registers().clone();
                self.three_d.set_registers(crate::registers::Registers { one_dot_depth, ..registers });
            }
            _ => {}
        }
    }

    fn write_engine(&mut self, number: usize, offset: u32, value: u16) {
        if self.is_on(number) || !is_engine_register(offset) {
            self.engines[number].write(offset, value);
        }
    }

    fn write_capture(&mut self, value: u32, bits: u32) {
        self.capture = CaptureControl((self.capture.0 & !bits | value & bits) & CaptureControl::MASK);
    }

    fn read_io(&mut self, address: u32, width: Width) -> u32 {
        let at = address & !3;
        let word = match at {
            0x0400_0600..0x0400_06a4 => self.read_geometry(at),
            _ => u32::from(self.read_half(at)) | u32::from(self.read_half(at + 2)) << 16,
        };
        part(word, address, width)
    }

    fn read_half(&self, address: u32) -> u16 {
        match address {
            0x0400_0004 => self.status(Cpu::Arm9),
            0x0400_0006 => self.line as u16,
            0x0400_0060 => {
                let underflow = if self.rows.has_underflowed() { Control::UNDERFLOW.bits() } else { 0 };
                self.three_d.control() | underflow
            }
            0x0400_0064 => self.capture.0 as u16,
            0x0400_0066 => (self.capture.0 >> 16) as u16,
            IO..0x0400_0070 => self.engines[0].registers().read(address - IO),
            ENGINE_B..0x0400_1070 => self.engines[1].registers().read(address - ENGINE_B),
            0x0400_0304 => self.power.bits(),
            0x0400_0320 => self.rows.count(),
            _ => 0,
        }
    }

    fn read_geometry(&mut self, address: u32) -> u32 {
        let at = |first: u32| ((address - first) / 4) as usize;
        if address == 0x0400_0600 {
            return self.three_d.status();
        }
        let readback = self.three_d.readback();
        match address {
            0x0400_0604 => readback.polygons as u32 | (readback.vertices as u32) << 16,
            0x0400_0620..0x0400_0630 => readback.position.get(at(0x0400_0620)).map_or(0, |&v| v as u32),
            0x0400_0630..0x0400_0638 => {
                let half = |i: usize| readback.vector.get(i).map_or(0, |&v| u32::from(v as u16));
                let first = 2 * at(0x0400_0630);
                half(first) | half(first + 1) << 16
            }
            0x0400_0640..0x0400_0680 => readback.clip_matrix.get(at(0x0400_0640)).map_or(0, |&v| v as u32),
            0x0400_0680..0x0400_06a4 => readback.vector_matrix.get(at(0x0400_0680)).map_or(0, |&v| v as u32),
            _ => 0,
        }
    }
}

/// The bank whose control register is at an address. WRAMCNT is among them.
fn bank(address: u32) -> Option<usize> {
    match address {
        0x0400_0240..=0x0400_0246 => Some((address - 0x0400_0240) as usize),
        0x0400_0248 | 0x0400_0249 => Some((address - 0x0400_0241) as usize),
        _ => None,
    }
}

/// The halfwords of an access and their addresses.
fn halves(address: u32, value: u32, width: Width) -> impl Iterator<Item = (u32, u16)> {
    let (first, count) = match width {
        Width::Word => (address & !3, 2),
        _ => (address & !1, 1),
    };
    (0..count).map(move |i| (first + 2 * i, (value >> (16 * i)) as u16))
}

/// A word of memory of halfwords, which repeats.
fn pair(memory: &[[u16; 512]; 2], address: u32) -> u32 {
    let at = address as usize / 4 * 2 % 1024;
    let half = |at: usize| u32::from(memory[at / 512][at % 512]);
    half(at) | half(at + 1) << 16
}

/// What an access at `address` gets of the word that it is in.
fn part(word: u32, address: u32, width: Width) -> u32 {
    match width {
        Width::Byte => word >> (8 * (address & 3)) & 0xff,
        Width::Half => word >> (8 * (address & 2)) & 0xffff,
        Width::Word => word,
    }
}
