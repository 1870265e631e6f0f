//! Both engines behind the console's ports.

use crate::geometry::fifo::{CommandFifo, Full};
use crate::geometry::polygon::PolygonList;
use crate::geometry::{GeometryEngine, Readback};
use crate::memory::TextureMemory;
use crate::raster::{Options, Renderer};
use crate::registers::{Control, Registers};
use crate::state::{Io, StateError, Stated};

/// The 3D engines.
///
/// An emulator writes words ([`Gpu::write_fifo`]), lets the engine work ([`Gpu::run`]) and calls [`Gpu::vblank`] at each
/// vertical blank; rows of the frame are then in [`Gpu::renderer`].
#[derive(Clone, Debug, Default)]
pub struct Gpu {
    /// Texture and palette memory, as mapped now.
    pub memory: TextureMemory,
    registers: Registers,
    fifo: CommandFifo,
    geometry: GeometryEngine,
    renderer: Renderer,
    frames: u64,
}

impl Gpu {
    /// Engines after a reset.
    pub fn new(options: Options) -> Gpu {
        Gpu {
            geometry: GeometryEngine::new(options.rules),
            renderer: Renderer::new(options),
            ..Gpu::default()
        }
    }

    /// The rendering registers.
    pub fn registers(&self) -> &Registers {
        &self.registers
    }

    /// Sets the rendering registers. They count from the next [`Gpu::vblank`] on, but for DISP_1DOT_DEPTH, which counts
    /// at once.
    pub fn set_registers(&mut self, registers: Registers) {
        self.geometry.set_one_dot_depth(registers.one_dot_depth);
        self.registers = registers;
    }

    /// Writes DISP3DCNT: 1 in bit 13 acknowledges an overflow.
    pub fn write_control(&mut self, value: u16) {
        let overflow = Control::OVERFLOW.bits();
        if value & overflow != 0 {
            self.geometry.clear_overflow();
        }
        self.registers.control = value & !overflow;
    }

    /// DISP3DCNT as read.
    pub fn control(&self) -> u16 {
        let overflow = Control::OVERFLOW.bits();
        self.registers.control & !overflow | if self.geometry.has_overflowed() { overflow } else { 0 }
    }

    /// Writes a word to GXFIFO, 0x04000400.
    ///
    /// # Errors
    /// [`Full`] when the processor would stall: run the engine, and write it again.
    pub fn write_fifo(&mut self, word: u32) -> Result<(), Full> {
        self.fifo.write(word)
    }

    /// Writes a parameter to a command's own port, 0x04000400 + 4 times its number.
    ///
    /// # Errors
    /// As [`Gpu::write_fifo`].
    pub fn write_port(&mut self, command: u8, param: u32) -> Result<(), Full> {
        self.fifo.write_port(command, param)
    }

    /// Lets the geometry engine work for so many cycles of 33 MHz; how many it did. It stops when nothing waits, and at
    /// SWAP_BUFFERS.
    pub fn run(&mut self, cycles: u64) -> u64 {
        self.fifo.run(&mut self.geometry, cycles)
    }

    /// Writes words to GXFIFO and runs them, with no regard to time, until a SWAP_BUFFERS waits for [`Gpu::vblank`]. How
    /// many words were taken.
    pub fn feed(&mut self, words: &[u32]) -> usize {
        self.fifo.feed(&mut self.geometry, words)
    }

    /// GXSTAT, 0x04000600.
    pub fn status(&self) -> u32 {
        self.geometry.status() | self.fifo.status(&self.geometry)
    }

    /// Writes GXSTAT: 1 in bit 15 acknowledges a stack error, bits 30 and 31 choose the interrupt.
    pub fn write_status(&mut self, value: u32) {
        if value & 1 << 15 != 0 {
            self.geometry.clear_stack_error();
        }
        self.fifo.set_interrupt(value >> 30);
    }

    /// The command queue.
    pub fn fifo(&self) -> &CommandFifo {
        &self.fifo
    }

    /// The geometry engine.
    pub fn geometry(&self) -> &GeometryEngine {
        &self.geometry
    }

    /// What the guest can read of the geometry engine.
    pub fn readback(&mut self) -> Readback {
        let mut readback = self.geometry.readback();
        if self.fifo.counts_frame_before() && !self.geometry.is_swap_pending() {
            let PolygonList { polygons, vertices, .. } = self.geometry.frame();
            (readback.polygons, readback.vertices) = (polygons.len() as u16, vertices.len() as u16);
        }
        readback
    }

    /// The vertical blank: carries out a SWAP_BUFFERS, latches the registers and draws the frame. Whether there was a
    /// SWAP_BUFFERS; without one the same polygons are drawn again.
    pub fn vblank(&mut self) -> bool {
        let swapped = self.swap();
        self.renderer.draw(self.geometry.frame(), &self.registers, &self.memory);
        swapped
    }

    /// The vertical blank for callers that draw [`Gpu::polygons`] with their own renderer.
    pub fn swap(&mut self) -> bool {
        let swapped = self.geometry.vblank();
        self.frames += u64::from(swapped);
        swapped
    }

    /// SWAP_BUFFERS carried out.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Polygons and vertices of the frame shown.
    pub fn polygons(&self) -> &PolygonList {
        self.geometry.frame()
    }

    /// The frame shown.
    pub fn renderer(&self) -> &Renderer {
        &self.renderer
    }

    /// The renderer, to change how it draws.
    pub fn renderer_mut(&mut self) -> &mut Renderer {
        &mut self.renderer
    }
}

impl Stated for Gpu {
    /// Memory and the picture are not a part of it.
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let Gpu { memory: _, registers, fifo, geometry, renderer: _, frames } = self;
        registers.state(io)?;
        fifo.state(io)?;
        geometry.state(io)?;
        frames.state(io)
    }
}
