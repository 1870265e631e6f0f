//! Where triangles go.

use crate::memory::Memory;
use crate::regs::Registers;
use crate::report::Report;
use crate::tables::Tables;
use crate::vertex::Triangle;
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
    /// As they are handed to the clipper, in order.
    pub triangles: &'a [Triangle],
    /// Bounds the work, in pixels: what a renderer looks at is taken off it.
    pub pixels: &'a mut u64,
}

impl Draw<'_> {
    /// The same draw for another to do.
    pub fn again(&mut self) -> Draw<'_> {
        let Draw { regs, tables, memory, triangles, pixels } = self;
        Draw { regs, tables, memory: &mut **memory, triangles, pixels }
    }
}

/// Draws triangles into guest memory.
pub trait Renderer {
    /// Draws triangles in order.
    ///
    /// # Errors
    /// Triangles from one on were left out because nothing is left of the pixels.
    fn draw(&mut self, draw: Draw<'_>) -> Result<(), OutOfPixels>;

    /// Brings all that was drawn to guest memory, and says what went otherwise than it should. Guest memory may have
    /// changed when the next draw comes.
    fn finish(&mut self, _memory: &mut dyn Memory, _report: &mut Report) {}
}

/// Why a renderer on the host's GPU had the CPU renderer draw. Nothing is missing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Detour {
    /// The draw reads what it writes: each pixel must see what the one before it wrote.
    #[error("it reads what it writes")]
    Feedback,
    /// The draw's program is being compiled.
    #[error("its program is being compiled")]
    Compiling,
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
        self.triangles.extend_from_slice(draw.triangles);
        self.inner.draw(draw)
    }

    fn finish(&mut self, memory: &mut dyn Memory, report: &mut Report) {
        self.inner.finish(memory, report);
    }
}
