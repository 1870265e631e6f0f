//! Time: lines and their parts by cycles, and what they ask the processors for.
//!
//! Source: GBATEK, "DS Video": a line has 355 dots of 6 cycles of 33 MHz; its horizontal blank's flag is set after 1606.

use super::{HEIGHT, LINES, Rasterizer, Video};
use crate::geometry::fifo::FIFO_ENTRIES;
use crate::state::{Io, StateError, Stated};

/// Cycles of a line.
pub const LINE_CYCLES: u32 = 355 * 6;
/// Cycles of a line before its horizontal blank.
pub const DRAWN_CYCLES: u32 = 1606;

/// A processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cpu {
    /// The ARM9.
    Arm9,
    /// The ARM7.
    Arm7,
}

bitflags::bitflags! {
    /// What the graphics ask for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Lines: u32 {
        /// Interrupt of the ARM9: the vertical blank began.
        const IRQ9_VBLANK = 1 << 0;
        /// Interrupt of the ARM9: a horizontal blank began.
        const IRQ9_HBLANK = 1 << 1;
        /// Interrupt of the ARM9: VCOUNT is as DISPSTAT has it.
        const IRQ9_VCOUNT = 1 << 2;
        /// Interrupt of the ARM7: the vertical blank began.
        const IRQ7_VBLANK = 1 << 3;
        /// Interrupt of the ARM7: a horizontal blank began.
        const IRQ7_HBLANK = 1 << 4;
        /// Interrupt of the ARM7: VCOUNT is as DISPSTAT has it.
        const IRQ7_VCOUNT = 1 << 5;
        /// Interrupt of the ARM9, as long as GXSTAT's condition holds.
        const IRQ9_GXFIFO = 1 << 6;
        /// DMA at the start of the vertical blank.
        const DMA_VBLANK = 1 << 8;
        /// DMA at the start of a drawn line's horizontal blank.
        const DMA_HBLANK = 1 << 9;
        /// Main memory display: 256 pixels are wanted by [`Video::deliver_display_pixels`], for the line that began.
        const DMA_DISPLAY = 1 << 10;
        /// DMA of the ARM9 for GXFIFO, as long as it is less than half full.
        const DMA_GXFIFO = 1 << 11;
    }
}

/// Where in a line it is.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    cycle: u32,
    /// What can be written of DISPSTAT, of both processors.
    status: [u16; 2],
}

/// Bits of DISPSTAT that can be written.
const STATUS_BITS: u16 = 0xffb8;

impl Clock {
    /// Writes DISPSTAT.
    pub fn write_status(&mut self, cpu: Cpu, value: u16) {
        self.status[cpu as usize] = value & STATUS_BITS;
    }
}

impl Stated for Clock {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let Clock { cycle, status } = self;
        cycle.state(io)?;
        status.state(io)?;
        if *cycle >= LINE_CYCLES {
            return io.contents("cycles of a line");
        }
        *status = status.map(|bits| bits & STATUS_BITS);
        Ok(())
    }
}

impl Video {
    /// Whether VCOUNT is as a processor's DISPSTAT has it.
    fn is_line_of(&self, cpu: Cpu) -> bool {
        let status = u32::from(self.clock.status[cpu as usize]);
        self.line == status >> 8 | (status & 0x80) << 1
    }

    /// DISPSTAT: \[0\] vertical blank, \[1\] horizontal blank, \[2\] VCOUNT is as set, and what was written.
    pub fn status(&self, cpu: Cpu) -> u16 {
        // The last line of a frame is no longer a part of the blank.
        let in_vblank = (HEIGHT as u32..LINES - 1).contains(&self.line);
        self.clock.status[cpu as usize]
            | u16::from(in_vblank)
            | u16::from(self.clock.cycle >= DRAWN_CYCLES) << 1
            | u16::from(self.is_line_of(cpu)) << 2
    }

    /// Cycles until something happens in [`Video::advance`].
    pub fn cycles_to_event(&self) -> u32 {
        let next = if self.clock.cycle < DRAWN_CYCLES { DRAWN_CYCLES } else { LINE_CYCLES };
        next - self.clock.cycle
    }

    /// Lets cycles of 33 MHz pass: the geometry engine works, lines begin and are drawn. What was asked for meanwhile; to see
    /// each event at its time, advance by no more than [`Video::cycles_to_event`].
    ///
    /// A line is drawn when its horizontal blank begins, with what the registers are then.
    ///
    /// # Errors
    /// When the rasteriser fails; the picture of the 3D engines is the one before then, and time has passed up to there.
    pub fn advance<R: Rasterizer>(&mut self, cycles: u32, rasterizer: &mut R) -> Result<Lines, R::Error> {
        let mut left = cycles;
        let mut lines = Lines::empty();
        while left > 0 {
            let step = left.min(self.cycles_to_event());
            left -= step;
            self.three_d.run(step.into());
            self.clock.cycle += step;
            if self.clock.cycle == DRAWN_CYCLES {
                self.draw_line();
                lines |= self.hblank();
            } else if self.clock.cycle == LINE_CYCLES {
                self.clock.cycle = 0;
                self.start_line(rasterizer)?;
                lines |= self.line_began();
            }
        }
        Ok(lines | self.levels())
    }

    /// Interrupts that DISPSTAT's bit `enable` allows.
    fn interrupts(&self, enable: u16, lines: [Lines; 2]) -> Lines {
        let [arm9, arm7] = self.clock.status.map(|status| status & enable != 0);
        let mut out = Lines::empty();
        out.set(lines[0], arm9);
        out.set(lines[1], arm7);
        out
    }

    fn hblank(&self) -> Lines {
        let dma = if self.line < HEIGHT as u32 { Lines::DMA_HBLANK } else { Lines::empty() };
        dma | self.interrupts(1 << 4, [Lines::IRQ9_HBLANK, Lines::IRQ7_HBLANK])
    }

    fn line_began(&self) -> Lines {
        let mut out = Lines::empty();
        if self.line == HEIGHT as u32 {
            out |= Lines::DMA_VBLANK | self.interrupts(1 << 3, [Lines::IRQ9_VBLANK, Lines::IRQ7_VBLANK]);
        }
        let match_interrupts = self.interrupts(1 << 5, [Lines::IRQ9_VCOUNT, Lines::IRQ7_VCOUNT]);
        for (cpu, line) in [(Cpu::Arm9, Lines::IRQ9_VCOUNT), (Cpu::Arm7, Lines::IRQ7_VCOUNT)] {
            out.set(line, match_interrupts.contains(line) && self.is_line_of(cpu));
        }
        out.set(Lines::DMA_DISPLAY, self.wants_display_pixels());
        out
    }

    /// What is asked for as long as it holds.
    pub fn levels(&self) -> Lines {
        let fifo = self.three_d.fifo();
        let mut out = Lines::empty();
        out.set(Lines::IRQ9_GXFIFO, fifo.wants_interrupt());
        out.set(Lines::DMA_GXFIFO, fifo.level() < FIFO_ENTRIES / 2);
        out
    }
}
