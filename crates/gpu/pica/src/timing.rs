//! How long the chip would take: an estimate in cycles of its clock, so that an emulator can raise interrupts later than the
//! calls of [`Gpu`](crate::gpu::Gpu) return.
//!
//! No source says what each operation costs, so this is a formula over what was done, with numbers that an embedder may
//! change. It depends on nothing but the guest: all engines and renderers that count pixels give the same cycles.
//!
//! | work | cycles |
//! |---|---|
//! | register writes | [`write`](Timing::write) each |
//! | a draw | the greatest of three stages that work at the same time: vertices × instructions ÷ [`units`](Timing::units), and with a geometry program, which takes a unit, its invocations × instructions; triangles × [`triangle`](Timing::triangle); pixels ÷ [`pixels`](Timing::pixels) |
//! | a fill | bytes written ÷ [`fill`](Timing::fill) |
//! | a display transfer or texture copy | bytes read and written ÷ [`transfer`](Timing::transfer) |
//!
//! Instructions are those of the program with each call counted and loops gone through once; pixels are those in the bounds
//! of triangles, of which about half are covered. Numbers are rounded up.
//!
//! ```
//! use xenoglot_pica::gpu::Gpu;
//! use xenoglot_pica::memory::{Regions, VRAM};
//! use xenoglot_pica::raster::Renderer;
//! use xenoglot_pica::timing::Work;
//! use xenoglot_pica::transfer::Fill;
//!
//! let (sender, events) = std::sync::mpsc::channel();
//! let mut gpu = Gpu::new(Renderer::default());
//! gpu.set_observer(Some(Box::new(move |event| {
//!     let _ = sender.send(event);
//! })));
//! let fill = Fill { start: VRAM, end: VRAM + 0x1000, value: 0, control: 1 << 9 };
//! let cycles = gpu.fill(&mut Regions::console(0), &fill);
//! assert_eq!(cycles, 0x1000 / 16);
//! let event = events.recv()?;
//! assert_eq!((event.work, event.cycles), (Work::Fill, cycles));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::transfer::{self, Job};

/// The chip's clock in the console, in hertz (3dbrew, Hardware: the PICA200 has 268 MHz, the processor's 268,111,856).
pub const CLOCK: u32 = 268_111_856;

/// What operations cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Cycles of a register write.
    pub write: u32,
    /// Shader units, each of which starts an instruction a cycle.
    pub units: u32,
    /// Cycles of a triangle's setup.
    pub triangle: u32,
    /// Pixels looked at in a cycle.
    pub pixels: u32,
    /// Bytes that a fill writes in a cycle.
    pub fill: u32,
    /// Bytes that a transfer reads or writes in a cycle.
    pub transfer: u32,
}

impl Default for Timing {
    /// From DMP's figures of the chip at 200 MHz, as the press had them in 2010: 15.3 million triangles a second are 13 cycles
    /// each, 800 million pixels a second are four covered ones a cycle. It has four shader units (3dbrew, GPU/Primitive
    /// Engine). Writes of a cycle, and 16 bytes of memory a cycle, are assumptions.
    fn default() -> Timing {
        Timing { write: 1, units: 4, triangle: 13, pixels: 8, fill: 16, transfer: 16 }
    }
}

/// What took cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// Register writes up to a draw, an interrupt or the end of a list.
    Writes,
    /// A draw, or vertices of immediate mode.
    Draw,
    /// A memory fill.
    Fill,
    /// A display transfer.
    DisplayTransfer,
    /// A texture copy.
    TextureCopy,
    /// A P3D interrupt: no cycles, but a moment among the others.
    Interrupt,
}

/// Work that was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What it was.
    pub work: Work,
    /// The cycles it took.
    pub cycles: u64,
}

/// Is told of each piece of work, in order.
pub type Observer = dyn FnMut(Event) + Send;

/// Cycles by work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycles {
    /// Register writes.
    pub writes: u64,
    /// Draws.
    pub draws: u64,
    /// Memory fills.
    pub fills: u64,
    /// Display transfers and texture copies.
    pub transfers: u64,
}

impl Cycles {
    /// All of them.
    pub fn sum(&self) -> u64 {
        [self.draws, self.fills, self.transfers].into_iter().fold(self.writes, u64::saturating_add)
    }

    /// Adds an event.
    pub fn add(&mut self, event: Event) {
        let sum = match event.work {
            Work::Writes | Work::Interrupt => &mut self.writes,
            Work::Draw => &mut self.draws,
            Work::Fill => &mut self.fills,
            Work::DisplayTransfer | Work::TextureCopy => &mut self.transfers,
        };
        *sum = sum.saturating_add(event.cycles);
    }

    /// Adds what a later count has.
    pub fn merge(&mut self, later: Cycles) {
        let Cycles { writes, draws, fills, transfers } = later;
        let sums = [&mut self.writes, &mut self.draws, &mut self.fills, &mut self.transfers];
        sums.into_iter()
            .zip([writes, draws, fills, transfers])
            .for_each(|(sum, n)| *sum = sum.saturating_add(n));
    }
}

/// What a draw did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drawn {
    pub vertices: u64,
    pub invocations: u64,
    pub triangles: u64,
    pub pixels: u64,
    /// Instructions of the vertex and of the geometry program.
    pub instructions: [u64; 2],
}

impl Timing {
    /// `amount` at so many a cycle; 0 a cycle is no time at all.
    fn at(amount: u64, rate: u32) -> u64 {
        if rate == 0 { 0 } else { amount.div_ceil(rate.into()) }
    }

    /// Cycles of register writes.
    pub(crate) fn writes(&self, count: u64) -> u64 {
        count.saturating_mul(self.write.into())
    }

    /// Cycles of a draw.
    pub(crate) fn draw(&self, drawn: &Drawn) -> u64 {
        let [vertex, geometry] = drawn.instructions;
        let vertices = drawn.vertices.saturating_mul(vertex);
        let shading = if drawn.invocations == 0 {
            Timing::at(vertices, self.units)
        } else {
            let vertices = Timing::at(vertices, self.units.saturating_sub(1).max(1));
            vertices.max(drawn.invocations.saturating_mul(geometry))
        };
        let triangles = drawn.triangles.saturating_mul(self.triangle.into());
        shading.max(triangles).max(Timing::at(drawn.pixels, self.pixels))
    }

    /// What a fill, transfer or copy is, and its cycles.
    pub(crate) fn job(&self, job: &Job) -> Event {
        let written = job.destination().bytes;
        let read = job.source().map_or(0, |span| span.bytes);
        let (work, bytes, rate) = match job.0 {
            transfer::Work::Fill(_) => (Work::Fill, written, self.fill),
            transfer::Work::Display(_) => (Work::DisplayTransfer, read + written, self.transfer),
            transfer::Work::Copy(ref copy) => (Work::TextureCopy, 2 * copy.total, self.transfer),
        };
        Event { work, cycles: Timing::at(bytes, rate) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::{DisplayTransfer, TextureCopy};

    #[test]
    fn the_slowest_stage_counts() {
        let timing = Timing::default();
        let drawn =
            Drawn { vertices: 300, triangles: 100, pixels: 80, instructions: [20, 50], ..Drawn::default() };
        assert_eq!(timing.draw(&drawn), 1500);
        assert_eq!(timing.draw(&Drawn { triangles: 200, ..drawn }), 2600);
        assert_eq!(timing.draw(&Drawn { pixels: 100_001, ..drawn }), 12_501);
        // A unit less for vertices.
        assert_eq!(timing.draw(&Drawn { invocations: 1, ..drawn }), 2000);
        assert_eq!(timing.draw(&Drawn { invocations: 100, ..drawn }), 5000);
        assert_eq!(timing.draw(&Drawn::default()), 0);
    }

    #[test]
    fn transfers_count_what_they_read_and_write() {
        let timing = Timing::default();
        let size = 64 << 16 | 64;
        let display = DisplayTransfer { src: 0, dst: 0x10000, out_size: size, in_size: size, flags: 1 << 12 };
        let event = timing.job(&display.job().unwrap().unwrap());
        assert_eq!(event, Event { work: Work::DisplayTransfer, cycles: 64 * 64 * 7 / 16 });
        // Gaps are not copied.
        let copy =
            TextureCopy { src: 0, dst: 0x1000, bytes: 64, in_line: 1 << 16 | 1, out_line: 0, flags: 8 };
        assert_eq!(timing.job(&copy.job().unwrap()), Event { work: Work::TextureCopy, cycles: 8 });
    }

    #[test]
    fn hostile_numbers_do_no_harm() {
        let none = Timing { write: 0, units: 0, triangle: 0, pixels: 0, fill: 0, transfer: 0 };
        let drawn = Drawn {
            vertices: u64::MAX,
            invocations: u64::MAX,
            triangles: u64::MAX,
            pixels: u64::MAX,
            instructions: [u64::MAX; 2],
        };
        assert_eq!(none.draw(&drawn), u64::MAX);
        assert_eq!(Timing::default().draw(&drawn), u64::MAX);
        assert_eq!(Timing::default().writes(u64::MAX), u64::MAX);
    }
}
