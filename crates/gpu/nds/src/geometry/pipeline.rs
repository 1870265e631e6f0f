//! Time of the geometry engine: how long its units are busy, and which commands wait for them.
//!
//! GBATEK ("DS 3D Geometry Commands") has the cycles of single commands. How commands overlap is as in melonDS (`GPU3D.cpp`),
//! whose authors measured it on consoles: vertices, normals and polygons have a unit each, and a command takes its parameters
//! while the units still work, unless it changes what they need. The two sources differ in MTX_MULT_4x3, MTX_MULT_3x3, MTX_SCALE
//! and MTX_TRANS (35 cycles here, 31, 28 and 22 in GBATEK), LIGHT_COLOR (2, 1) and NORMAL (8, 9 to 12), where melonDS's are
//! used, and in BOX_TEST (254, 103) and SWAP_BUFFERS (325, 392), where GBATEK's are.

use super::command::{self, Command};
use super::stack::MatrixMode;
use crate::state::{Io, StateError, Stated};

/// Cycles that a vertex keeps its unit busy, and a normal its own.
const VERTEX: u8 = 7;
/// Cycles of a slot in which the polygon unit takes a vertex.
const SLOT: u8 = 9;
/// Cycles of the polygon unit: of a polygon that is rejected, a triangle, a quad.
const POLYGON: [u8; 3] = [8, 26, 35];

/// A polygon that its last vertex has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// Whether it went to polygon memory.
    pub is_kept: bool,
    /// Corners of the primitive, 3 or 4.
    pub corners: usize,
    /// Whether it is one of a strip.
    pub is_strip: bool,
}

/// What the state of the engine adds to a command's cycles.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances {
    /// MTX_MODE.
    pub mode: MatrixMode,
    /// Lights that are switched on.
    pub lights: u32,
    /// The polygon that the command has completed.
    pub completed: Option<Completed>,
}

/// Cycles for which the units are still busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    vertex: u8,
    normal: u8,
    polygon: u8,
    /// Cycles of the polygon at hand, of which `polygon` are left.
    polygon_length: u8,
    /// Slots of that polygon that have a vertex, from bit 0 on.
    slots: u8,
}

impl Pipeline {
    /// Whether a unit works.
    pub fn is_busy(&self) -> bool {
        self.vertex | self.normal | self.polygon != 0
    }

    /// Cycles pass.
    #[inline]
    pub fn pass(&mut self, cycles: u64) {
        let cycles = cycles.min(u8::MAX.into()) as u8;
        self.vertex = self.vertex.saturating_sub(cycles);
        self.normal = self.normal.saturating_sub(cycles);
        self.polygon = self.polygon.saturating_sub(cycles);
    }

    /// Cycles until a command's first word is taken. Time passes up to there, and a vertex has its slot then.
    pub fn wait(&mut self, command: Command) -> u64 {
        let wait = self.wait_for_units(command);
        self.pass(wait.into());
        let slot = if is_vertex(command) { self.take_slot() } else { 0 };
        self.pass(slot.into());
        u64::from(wait) + u64::from(slot)
    }

    fn wait_for_units(&self, command: Command) -> u8 {
        // The first word of a command counts as one of these cycles after the last word of a vertex.
        let after_vertex = match command {
            Command::Color | Command::DifAmb | Command::SpeEmi | Command::VecTest => 6,
            Command::PolygonAttr
            | Command::TeximageParam
            | Command::PlttBase
            | Command::LightColor
            | Command::Shininess
            | Command::EndVtxs
            | Command::Viewport
            | Command::PosTest
            | Command::SwapBuffers => 8,
            _ => 4,
        };
        let vertex = (self.vertex + after_vertex).saturating_sub(VERTEX + 1);
        let normal = if is_vertex(command) { 0 } else { self.normal };
        let polygon = match command {
            Command::BeginVtxs | Command::SwapBuffers => self.polygon,
            Command::LightVector if self.polygon > 0 => self.polygon + 8,
            Command::BoxTest if self.polygon > 0 => self.polygon + 10,
            _ => 0,
        };
        vertex.max(normal).max(polygon)
    }

    /// Takes the next free slot of the polygon at hand, or its end if there is none. Cycles until then.
    fn take_slot(&mut self) -> u8 {
        let elapsed = self.polygon_length - self.polygon;
        let free =
            (elapsed / SLOT..self.polygon_length.div_ceil(SLOT)).find(|slot| self.slots >> slot & 1 == 0);
        match free {
            Some(slot) if self.polygon > 0 => {
                self.slots |= 1 << slot;
                (slot * SLOT).saturating_sub(elapsed)
            }
            _ => self.polygon,
        }
    }

    /// Cycles of a command after its last word; time passes up to there.
    pub fn execute(&mut self, command: Command, circumstances: Circumstances) -> u64 {
        let mut cycles = 0;
        if is_vertex(command) {
            if let Some(completed) = circumstances.completed {
                cycles += u64::from(self.polygon);
                self.pass(cycles);
                self.begin_polygon(completed);
            }
            self.vertex = VERTEX;
        } else if command == Command::Normal {
            self.normal = VERTEX;
        }
        let rest = rest(command, circumstances);
        self.pass(rest);
        cycles + rest
    }

    fn begin_polygon(&mut self, polygon: Completed) {
        let Completed { is_kept, corners, is_strip } = polygon;
        let [rejected, triangle, quad] = POLYGON;
        let (length, slots) = match (is_kept, corners, is_strip) {
            (false, ..) => (rejected, 0b1),
            (true, 4, false) => (quad, 0b1),
            (true, 4, true) => (quad, 0b11),
            (true, _, false) => (triangle, 0b1),
            (true, _, true) => (triangle, 0b111),
        };
        (self.polygon, self.polygon_length, self.slots) = (length, length, slots);
    }
}

fn is_vertex(command: Command) -> bool {
    matches!(
        command,
        Command::Vtx16 | Command::Vtx10 | Command::VtxXy | Command::VtxXz | Command::VtxYz | Command::VtxDiff
    )
}

/// Cycles of a command itself after its last word.
fn rest(command: Command, circumstances: Circumstances) -> u64 {
    let Circumstances { mode, lights, .. } = circumstances;
    let is_texture = mode == MatrixMode::Texture;
    let info = command::info(command as u8);
    let words = u64::from(info.params.max(1));
    let both = if mode == MatrixMode::Both { 30 } else { 0 };
    match command {
        Command::MtxPop | Command::MtxRestore if is_texture => 17,
        Command::MtxLoad4x4 if is_texture => 10,
        Command::MtxLoad4x3 if is_texture => 7,
        Command::MtxMult4x4 | Command::MtxMult4x3 | Command::MtxMult3x3 | Command::MtxTrans => {
            if is_texture {
                33 - words
            } else {
                35 + both - words
            }
        }
        Command::MtxScale => (if is_texture { 33 } else { 35 }) - words,
        Command::MtxLoad4x3 => 18,
        Command::Normal => u64::from(lights.max(1)),
        Command::LightColor => 1,
        _ if is_vertex(command) => 3,
        // After the vertical blank.
        Command::SwapBuffers => info.cycles.into(),
        _ => u64::from(info.cycles).saturating_sub(words),
    }
}

impl Stated for Pipeline {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let Pipeline { vertex, normal, polygon, polygon_length, slots } = self;
        [&mut *vertex, normal, polygon, polygon_length, slots].into_iter().try_for_each(|n| n.state(io))?;
        if *vertex > VERTEX || *normal > VERTEX || *polygon > *polygon_length || *polygon_length > POLYGON[2]
        {
            return io.contents("cycles of the geometry engine's units");
        }
        Ok(())
    }
}
