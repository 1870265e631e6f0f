//! Where triangles go.

use crate::early_depth::EarlyDepth;
use crate::lcd::{Frame, Image};
use crate::memory::Memory;
use crate::raster::Chip;
use crate::regs::Registers;
use crate::report::Report;
use crate::tables::Tables;
use crate::transfer::Job;
use crate::vertex::{Mesh, Triangle};
use std::ops::Range;
use thiserror::Error;

/// A renderer left triangles out because it may not draw more pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no pixels left")]
pub struct OutOfPixels;

/// Triangles to draw, and with what.
pub struct Draw<'a> {
    /// The registers of that moment.
    pub regs: &'a Registers,
    /// The tables of that moment.
    pub tables: &'a Tables,
    /// Where colour and depth buffers and textures are. Pixels of them that are not are dropped or read as 0.
    pub memory: &'a mut dyn Memory,
    /// The early depth test's buffer.
    pub early_depth: &'a mut EarlyDepth,
    /// As they are handed to the clipper, in order.
    pub triangles: Mesh<'a>,
    /// Bounds the work, in pixels: what a renderer looks at is taken off it.
    pub pixels: &'a mut u64,
}

impl Draw<'_> {
    /// The same draw for another to do.
    pub fn again(&mut self) -> Draw<'_> {
        let Draw { regs, tables, memory, early_depth, triangles, pixels } = self;
        Draw { regs, tables, memory: &mut **memory, early_depth, triangles: *triangles, pixels }
    }
}

/// Draws triangles into guest memory.
pub trait Renderer {
    /// Draws triangles in order.
    ///
    /// # Errors
    /// Triangles from one on were left out because nothing is left of the pixels.
    fn draw(&mut self, draw: Draw<'_>) -> Result<(), OutOfPixels>;

    /// What it obeys beyond what the emulator behind the test vectors does.
    fn chip(&self) -> Chip {
        Chip::default()
    }

    /// Ends a call of [`Gpu`](crate::gpu::Gpu). Unless memory [is tracked](Memory::is_tracked), it brings all that was drawn to
    /// guest memory, which may have changed before the next draw.
    fn finish(&mut self, _memory: &mut dyn Memory) {}

    /// Adds counts and errors since the last report.
    fn report(&mut self, _report: &mut Report) {}

    /// Does a fill, transfer or copy whose ranges are all memory. If it returns false, the caller does it in guest memory.
    fn transfer(&mut self, _memory: &mut dyn Memory, _job: &Job) -> bool {
        false
    }

    /// Whether it has bytes of this range of addresses that are newer than guest memory's.
    fn owns(&self, _range: &Range<u64>) -> bool {
        false
    }

    /// Brings its newer bytes of this range to guest memory.
    fn flush_region(&mut self, _memory: &mut dyn Memory, _range: &Range<u64>) {}

    /// Drops its bytes of this range: guest memory was written there.
    fn invalidate_region(&mut self, _range: &Range<u64>) {}

    /// The picture of a frame, where it has more pixels of it than guest memory.
    fn picture(&mut self, _memory: &mut dyn Memory, _frame: &Frame) -> Option<Image> {
        None
    }

    /// Drops all that it keeps of guest memory, without bringing it there: the memory is about to be replaced.
    fn forget(&mut self) {}
}

/// Forwards all functions of [`Renderer`] except [`Renderer::draw`] to the renderer in a field: for renderers that observe or
/// change draws before they pass them on.
///
/// ```
/// use xenoglot_pica::renderer::{Draw, NullRenderer, OutOfPixels, Renderer};
///
/// struct Counted(u64, NullRenderer);
///
/// impl Renderer for Counted {
///     fn draw(&mut self, draw: Draw<'_>) -> Result<(), OutOfPixels> {
///         self.0 += draw.triangles.len() as u64;
///         self.1.draw(draw)
///     }
///
///     xenoglot_pica::forward_renderer!(1);
/// }
/// ```
#[macro_export]
macro_rules! forward_renderer {
    ($inner:tt) => {
        fn chip(&self) -> $crate::raster::Chip {
            self.$inner.chip()
        }

        fn finish(&mut self, memory: &mut dyn $crate::memory::Memory) {
            self.$inner.finish(memory);
        }

        fn report(&mut self, report: &mut $crate::report::Report) {
            self.$inner.report(report);
        }

        fn transfer(&mut self, memory: &mut dyn $crate::memory::Memory, job: &$crate::transfer::Job) -> bool {
            self.$inner.transfer(memory, job)
        }

        fn owns(&self, range: &::std::ops::Range<u64>) -> bool {
            self.$inner.owns(range)
        }

        fn flush_region(&mut self, memory: &mut dyn $crate::memory::Memory, range: &::std::ops::Range<u64>) {
            self.$inner.flush_region(memory, range);
        }

        fn invalidate_region(&mut self, range: &::std::ops::Range<u64>) {
            self.$inner.invalidate_region(range);
        }

        fn picture(
            &mut self,
            memory: &mut dyn $crate::memory::Memory,
            frame: &$crate::lcd::Frame,
        ) -> Option<$crate::lcd::Image> {
            self.$inner.picture(memory, frame)
        }

        fn forget(&mut self) {
            self.$inner.forget();
        }
    };
}

/// Why a renderer on the host's GPU had the CPU renderer draw. Nothing is missing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Detour {
    /// The draw uses what [`Chip`] has a model of.
    #[error("it uses gas or the early depth test")]
    Modelled,
    /// The draw reads what it writes: each pixel must see what the one before it wrote.
    #[error("it reads what it writes")]
    Feedback,
    /// The draw's program is being compiled.
    #[error("its program is being compiled")]
    Compiling,
    /// The tiles that are drawn to are not all memory.
    #[error("its buffers are not all memory")]
    Unmapped,
    /// Its buffers, with all samples of the scale, are larger than the device allows.
    #[error("its buffers are too large at this scale")]
    TooLarge,
    /// The draw has no program.
    #[error("{0}")]
    NoProgram(String),
    /// Attributes are infinite, no numbers or close to it.
    #[error("its attributes are not finite")]
    NotFinite,
    /// The device failed.
    #[error("{0}")]
    Device(String),
}

/// Draws nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullRenderer;

impl Renderer for NullRenderer {
    fn draw(&mut self, _: Draw<'_>) -> Result<(), OutOfPixels> {
        Ok(())
    }
}

/// Keeps the triangles that pass through to another renderer.
#[derive(Clone, Debug, Default)]
pub struct Recorder<R> {
    /// The renderer.
    pub inner: R,
    /// What it was given.
    pub triangles: Vec<Triangle>,
}

impl<R: Renderer> Renderer for Recorder<R> {
    fn draw(&mut self, draw: Draw<'_>) -> Result<(), OutOfPixels> {
        self.triangles.extend(draw.triangles.iter().map(|vertices| vertices.map(|vertex| *vertex)));
        self.inner.draw(draw)
    }

    crate::forward_renderer!(inner);
}
