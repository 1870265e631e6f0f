//! CiTrace recordings (`.ctf`) of the emulators Citra and Azahar as captures.
//!
//! A recording has registers and shader units at its start, then a stream of register writes of the guest's processor, of
//! what memory the GPU read, and of ends of frames; `docs/xgc.md` has the bytes. Tables (lighting, fog, procedural
//! textures) at the start are not in the format: draws that use one before a list has filled it find zeros.

use super::op::{MACHINE, Operation, Shown};
use crate::lcd::{Eye, Frame, Lcd, Picture, Screen};
use crate::memory::{FCRAM, VRAM};
use crate::regs::*;
use crate::transfer::{DisplayTransfer, Fill, TextureCopy};
use thiserror::Error;
use xenoglot_capture::{Capture, Info};

const MAGIC: [u8; 4] = *b"CiTr";
const VERSION: u32 = 1;
/// Bytes of the header, and of an element of the stream.
const HEADER: usize = 100;
const ELEMENT: usize = 20;

/// Kinds of elements.
const FRAME: u32 = 0xe1;
const MEMORY: u32 = 0xe2;
const REGISTER: u32 = 0xe3;
/// The width of a register write, which older recordings have between the address and the value.
const WIDTHS: std::ops::RangeInclusive<u32> = 0xd1..=0xd4;

/// Physical and virtual address of the GPU's registers; those of the PICA200 proper come after 4 KiB of others.
const WINDOWS: [u32; 2] = [0x1040_0000, 0x1ef0_0000];
const WINDOW: u32 = 0x2000;
const OTHERS: usize = 0x400;
/// Offsets in the window: memory fills and transfers (3dbrew, "GPU/External Registers").
const FILLS: [usize; 2] = [0x10, 0x20];
const TRANSFER: usize = 0xc00;
/// Bit of a transfer's flags: a texture copy.
const AS_COPY: u32 = 1 << 3;

/// Bounds on what a recording becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportLimits {
    /// Bytes of all memory loads: a recording may name the same bytes any number of times.
    pub bytes: u64,
    /// Bytes of main memory, from [`FCRAM`] on.
    pub fcram: u32,
}

impl Default for ImportLimits {
    /// A GiB, and the main memory of the larger console.
    fn default() -> ImportLimits {
        ImportLimits { bytes: 1 << 30, fcram: 256 << 20 }
    }
}

/// Why a file was not imported.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ImportError {
    /// The file does not start as a recording does.
    #[error("not a CiTrace recording: the file does not start with \"CiTr\"")]
    Magic,
    /// Another version.
    #[error("version {0} of CiTrace; only 1 is known")]
    Version(u32),
    /// A part reaches beyond the end of the file.
    #[error("{what} at {offset:#x}: {bytes} bytes are not all in the file")]
    Truncated {
        /// Which part.
        what: &'static str,
        /// Where it is said to be.
        offset: u64,
        /// How long it is said to be.
        bytes: u64,
    },
    /// An element of an unknown kind.
    #[error("element at {offset:#x}: there is no kind {kind:#x}")]
    Kind {
        /// Where it is in the file.
        offset: u64,
        /// The kind.
        kind: u32,
    },
    /// A memory load outside the machine's memory.
    #[error("element at {offset:#x}: {bytes} bytes at {address:#010x} are not all memory")]
    Unmapped {
        /// Where the element is in the file.
        offset: u64,
        /// Physical address.
        address: u32,
        /// Bytes from there on.
        bytes: u32,
    },
    /// More memory than [`ImportLimits`] allows.
    #[error("element at {offset:#x}: more bytes of memory than the limit of {limit}")]
    Limit {
        /// Where the element is in the file.
        offset: u64,
        /// The limit.
        limit: u64,
    },
}

/// A recording as a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The capture.
    pub capture: Capture,
    /// Ends of frames.
    pub frames: u64,
    /// Register writes that are not the GPU's, such as the screens' brightness; they were left out.
    pub ignored: u64,
}

/// Reads a recording.
///
/// # Errors
/// [`ImportError`].
pub fn import(file: &[u8], info: Info, limits: &ImportLimits) -> Result<Imported, ImportError> {
    let header = Header::read(file)?;
    let mut import = Import {
        capture: Capture::new(MACHINE, info),
        others: [0; OTHERS],
        lcd: Lcd::default(),
        lists: [[0; 2]; 2],
        shown: None,
        frames: 0,
        ignored: 0,
    };
    import.start(file, &header)?;
    let stream = part(file, "stream", header.stream, u64::from(header.elements) * ELEMENT as u64)?;
    let elements = stream.as_chunks::<ELEMENT>().0;
    let field = |element: &[u8; ELEMENT], n: usize| word(element, n).unwrap_or(0);
    // Widths stand in all writes of a recording or in none.
    let mut writes = elements.iter().filter(|e| field(e, 0) == REGISTER).peekable();
    let value_at =
        if writes.peek().is_some() && writes.all(|e| WIDTHS.contains(&field(e, 2))) { 3 } else { 2 };
    let mut left = limits.bytes;
    for (element, number) in elements.iter().zip(0u64..) {
        let offset = u64::from(header.stream) + number * ELEMENT as u64;
        match field(element, 0) {
            FRAME => import.frame(limits),
            REGISTER => import.register(field(element, 1), field(element, value_at)),
            MEMORY => {
                let [from, bytes, address] = [1, 2, 3].map(|n| field(element, n));
                left = left
                    .checked_sub(bytes.into())
                    .ok_or(ImportError::Limit { offset, limit: limits.bytes })?;
                let contents = part(file, "memory", from, bytes.into())?;
                if !is_memory(limits, address, bytes.into()) {
                    return Err(ImportError::Unmapped { offset, address, bytes });
                }
                import.push(&Operation::Memory { address, bytes: contents });
            }
            kind => return Err(ImportError::Kind { offset, kind }),
        }
    }
    let Import { capture, frames, ignored, .. } = import;
    Ok(Imported { capture, frames, ignored })
}

fn word(bytes: &[u8], n: usize) -> Option<u32> {
    bytes.get(4 * n..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

fn part<'f>(file: &'f [u8], what: &'static str, at: u32, bytes: u64) -> Result<&'f [u8], ImportError> {
    let rest = file.get(at as usize..);
    let part = rest.and_then(|rest| rest.get(..usize::try_from(bytes).ok()?));
    part.ok_or(ImportError::Truncated { what, offset: at.into(), bytes })
}

fn is_memory(limits: &ImportLimits, address: u32, bytes: u64) -> bool {
    const VRAM_BYTES: u64 = 6 << 20;
    let inside = |start: u32, size: u64| address >= start && u64::from(address - start) + bytes <= size;
    inside(VRAM, VRAM_BYTES) || inside(FCRAM, limits.fcram.into())
}

/// Where the parts are.
struct Header {
    /// Offsets in bytes and lengths in words, in the order of [`Part`].
    parts: [(u32, u32); 10],
    stream: u32,
    elements: u32,
}

/// Parts of the state at the start.
#[derive(Clone, Copy)]
enum Part {
    Others,
    Registers = 2,
    FixedAttributes,
    VertexCode,
    VertexDescriptors,
    VertexUniforms,
    GeometryCode,
    GeometryDescriptors,
    GeometryUniforms,
}

impl Header {
    fn read(file: &[u8]) -> Result<Header, ImportError> {
        if !file.starts_with(&MAGIC) {
            return Err(ImportError::Magic);
        }
        let header = part(file, "header", 0, HEADER as u64)?;
        let field = |n: usize| word(header, n).unwrap_or(0);
        if field(1) != VERSION {
            return Err(ImportError::Version(field(1)));
        }
        let parts = std::array::from_fn(|n| (field(3 + 2 * n), field(4 + 2 * n)));
        Ok(Header { parts, stream: field(23), elements: field(24) })
    }

    fn words<'f>(
        &self,
        file: &'f [u8],
        which: Part,
        what: &'static str,
    ) -> Result<impl Iterator<Item = u32> + Clone + 'f, ImportError> {
        let (at, words) = self.parts.get(which as usize).copied().unwrap_or_default();
        // The place of an empty part may be anything.
        let bytes = if words == 0 { &[][..] } else { part(file, what, at, 4 * u64::from(words))? };
        Ok(bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)))
    }
}

/// A vector of four words in the three of a data port: w highest.
fn packed(x: u32, y: u32, z: u32, w: u32) -> [u32; 3] {
    [w << 8 | z >> 16 & 0xff, z << 16 | y >> 8 & 0xffff, y << 24 | x & 0xff_ffff]
}

/// The ports of a unit: code, descriptors, uniforms, each an index and its data.
const VERTEX_PORTS: [u32; 3] = [VERTEX_CODE_PORT, VERTEX_DESCRIPTOR_PORT, VERTEX_UNIFORM_PORT];
const GEOMETRY_PORTS: [u32; 3] = [GEOMETRY_CODE_PORT, GEOMETRY_DESCRIPTOR_PORT, GEOMETRY_UNIFORM_PORT];

/// An import in progress.
struct Import {
    capture: Capture,
    /// The registers before those of the PICA200.
    others: [u32; OTHERS],
    lcd: Lcd,
    /// Size and address of the two list channels.
    lists: [[u32; 2]; 2],
    /// What the last display transfer wrote.
    shown: Option<Shown>,
    frames: u64,
    ignored: u64,
}

impl Import {
    fn push(&mut self, operation: &Operation) {
        operation.encode(&mut self.capture.ops);
    }

    fn write(&mut self, register: u32, value: u32) {
        self.push(&Operation::Register { register, value, mask: 0xf });
    }

    /// The state at the start: registers as they are, uploads as writes to the data ports.
    fn start(&mut self, file: &[u8], header: &Header) -> Result<(), ImportError> {
        let registers = header.words(file, Part::Registers, "registers")?;
        // Azahar has the whole window in this part, Citra the PICA200's registers only, and the others before.
        let (_, count) = header.parts.get(Part::Registers as usize).copied().unwrap_or_default();
        let whole = count as usize > COUNT.max(OTHERS);
        let others = header.words(file, if whole { Part::Registers } else { Part::Others }, "registers")?;
        for ((place, value), address) in self.others.iter_mut().zip(others).zip((WINDOWS[0]..).step_by(4)) {
            *place = value;
            self.lcd.write(address, value);
        }
        let mut initial = [0; COUNT];
        let registers = registers.skip(if whole { OTHERS } else { 0 });
        initial.iter_mut().zip(registers).for_each(|(place, value)| *place = value);
        let registers = (0..).zip(initial).filter(|&(_, value)| value != 0);
        self.capture.registers.extend(registers);
        let of = |register: u32| initial.get(register as usize).copied().unwrap_or(0);
        for (channel, list) in (0..).zip(&mut self.lists) {
            *list = [of(LIST_SIZE + channel), of(LIST_ADDRESS + channel)];
        }

        let fixed: Vec<u32> =
            header.words(file, Part::FixedAttributes, "fixed attributes")?.take(64).collect();
        for (n, &[x, y, z, w]) in (0..).zip(fixed.as_chunks().0) {
            // 15 is not an attribute but the port of immediate mode.
            if n < 15 {
                self.write(FIXED_ATTRIBUTE, n);
                packed(x, y, z, w)
                    .into_iter()
                    .zip(0..)
                    .for_each(|(v, k)| self.write(FIXED_ATTRIBUTE_DATA + k, v));
            }
        }
        self.write(FIXED_ATTRIBUTE, of(FIXED_ATTRIBUTE));
        for (ports, first, parts) in [
            (VERTEX_PORTS, VERTEX_BOOLS, [Part::VertexCode, Part::VertexDescriptors, Part::VertexUniforms]),
            (
                GEOMETRY_PORTS,
                GEOMETRY_BOOLS,
                [Part::GeometryCode, Part::GeometryDescriptors, Part::GeometryUniforms],
            ),
        ] {
            let [code, descriptors, uniforms] = parts;
            for (port, which, what) in [(ports[0], code, "code"), (ports[1], descriptors, "descriptors")] {
                let words: Vec<u32> = header.words(file, which, what)?.take(4096).collect();
                self.upload(port, &words);
            }
            let words: Vec<u32> = header.words(file, uniforms, "uniforms")?.take(4 * 96).collect();
            let packed = words.as_chunks().0.iter().flat_map(|&[x, y, z, w]| packed(x, y, z, w));
            self.upload(ports[2], &packed.collect::<Vec<u32>>());
            // b0 to b15 and i0 to i3.
            (first..first + 5).for_each(|register| self.write(register, of(register)));
            ports.iter().for_each(|&port| self.write(port, of(port)));
        }
        Ok(())
    }

    /// Writes words from index 0 on through the port whose data register follows it.
    fn upload(&mut self, port: u32, words: &[u32]) {
        if words.is_empty() {
            return;
        }
        self.write(port, 0);
        let used = words.iter().rposition(|&w| w != 0).map_or(0, |last| last + 1);
        // A uniform is three words.
        let used = used.next_multiple_of(3).min(words.len());
        words.iter().take(used).for_each(|&word| self.write(port + 1, word));
    }

    fn other(&self, offset: usize) -> u32 {
        self.others.get(offset / 4).copied().unwrap_or(0)
    }

    fn register(&mut self, address: u32, value: u32) {
        let offset = WINDOWS.iter().map(|&start| address.wrapping_sub(start)).find(|&offset| offset < WINDOW);
        let Some(offset) = offset else {
            self.ignored += 1;
            return;
        };
        if let Some(place) = self.others.get_mut(offset as usize / 4) {
            *place = value;
            self.lcd.write(WINDOWS[0] + (offset & !3), value);
            return self.trigger(offset as usize & !3, value);
        }
        let register = offset / 4 - OTHERS as u32;
        if register as usize >= COUNT {
            self.ignored += 1;
            return;
        }
        let list = |first: u32| Some(register.wrapping_sub(first)).filter(|&channel| channel < 2);
        if let Some(channel) = list(LIST_JUMP) {
            let [size, list] = self.lists.get(channel as usize).copied().unwrap_or_default();
            if value != 0 {
                self.push(&Operation::List {
                    address: (list & 0x1fff_ffff) * 8,
                    bytes: (size & 0x1fff_ffff) * 8,
                });
            }
            return;
        }
        for (field, first) in [LIST_SIZE, LIST_ADDRESS].into_iter().enumerate() {
            let place = list(first).and_then(|channel| self.lists.get_mut(channel as usize)?.get_mut(field));
            if let Some(place) = place {
                *place = value;
            }
        }
        self.write(register, value);
    }

    /// A write to one of the registers before the PICA200's that may start something.
    fn trigger(&mut self, offset: usize, value: u32) {
        if value & 1 == 0 {
            return;
        }
        for unit in FILLS {
            if offset == unit + 0xc {
                let [start, end] = [0, 4].map(|at| self.other(unit + at).wrapping_mul(8));
                // Nothing is filled from address 0.
                if start != 0 {
                    self.push(&Operation::Fill(Fill {
                        start,
                        end,
                        value: self.other(unit + 8),
                        control: value,
                    }));
                }
            }
        }
        if offset == TRANSFER + 0x18 {
            let at = |offset| self.other(TRANSFER + offset);
            let (src, dst, flags) = (at(0).wrapping_mul(8), at(4).wrapping_mul(8), at(0x10));
            if flags & AS_COPY != 0 {
                let (bytes, in_line, out_line) = (at(0x20), at(0x24), at(0x28));
                self.push(&Operation::Copy(TextureCopy { src, dst, bytes, in_line, out_line, flags }));
                return;
            }
            let (out_size, in_size) = (at(8), at(0xc));
            let transfer = DisplayTransfer { src, dst, out_size, in_size, flags };
            self.push(&Operation::Display(transfer));
            let [x, y] = transfer.scale();
            let (width, height) = ((out_size & 0xffff) >> x, out_size >> 16 >> y);
            let format = flags >> 12 & 7;
            self.shown = Some(Shown { address: dst, width, height, format, on_its_side: true });
        }
    }

    /// Ends a frame with what the upper screen shows: the framebuffer of its registers or, if there is none, the output of the
    /// last display transfer.
    fn frame(&mut self, limits: &ImportLimits) {
        let screen = match self.lcd.picture(Screen::Top, Eye::Left) {
            Picture::Frame(Frame { address, width, height, format, on_its_side, .. }) => {
                Some(Shown { address, width, height, format, on_its_side })
            }
            Picture::Off | Picture::Color(_) => None,
        };
        let blank = Shown { address: VRAM, width: 240, height: 400, format: 0, on_its_side: true };
        let shows = |shown: &Shown| {
            let frame = shown.frame();
            frame.pixel().is_ok() && is_memory(limits, shown.address, frame.bytes())
        };
        let shown = [screen, self.shown].into_iter().flatten().find(shows).unwrap_or(blank);
        self.push(&Operation::Frame(shown));
        self.frames += 1;
    }
}

#[cfg(test)]
mod tests;
