//! Where triangles go.

use crate::memory::Memory;
use crate::raster;
use crate::regs::Registers;
use crate::tables::Tables;
use crate::vertex::Triangle;

/// Draws triangles into guest memory.
pub trait Renderer {
    /// Draws triangles in order, with the registers and tables of that moment.
    fn draw(&mut self, regs: &Registers, tables: &Tables, memory: &mut dyn Memory, triangles: &[Triangle]);
}

impl Renderer for raster::Renderer {
    fn draw(&mut self, regs: &Registers, tables: &Tables, memory: &mut dyn Memory, triangles: &[Triangle]) {
        raster::Renderer::draw(self, regs, tables, memory, triangles);
    }
}

/// Draws nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullRenderer;

impl Renderer for NullRenderer {
    fn draw(&mut self, _: &Registers, _: &Tables, _: &mut dyn Memory, _: &[Triangle]) {}
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
    fn draw(&mut self, regs: &Registers, tables: &Tables, memory: &mut dyn Memory, triangles: &[Triangle]) {
        self.triangles.extend_from_slice(triangles);
        self.inner.draw(regs, tables, memory, triangles);
    }
}
