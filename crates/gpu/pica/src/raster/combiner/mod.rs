//! The six combiner stages.
//!
//! [`compile`] turns the registers into a short list of operations on planes: stages that pass their input on and
//! the combiner buffer are resolved to names, operations on constants are carried out, and what does not reach the
//! fragment's colour is dropped.
//!
//! ```text
//! stage 0: rgb = texture 0 * primary, a = texture 0    p60 = p12 * p0; p61 = p13 * p1; p62 = p14 * p2
//! stage 1..5: previous                                 color = p60, p61, p62, p15
//! ```

mod compile;
mod ops;

use super::batch::{Batch, LANES, Plane};
use crate::regs::Registers;
use compile::Compiler;
pub use compile::STAGES;
pub use ops::Op;

/// Colours the stages may use, four planes each from the start of [`Batch::planes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Source {
    /// Interpolated vertex colour.
    Primary,
    /// Diffuse light.
    LightPrimary,
    /// Specular light.
    LightSecondary,
    /// Texture unit 0.
    Texture0,
    /// Texture unit 1.
    Texture1,
    /// Texture unit 2.
    Texture2,
    /// Procedural texture.
    Procedural,
}

impl Source {
    /// The source of a number in the source registers; 13 to 15 (constant, buffer, previous) are not among these.
    fn from_number(number: u32) -> Option<Source> {
        Some(match number {
            0 => Source::Primary,
            1 => Source::LightPrimary,
            2 => Source::LightSecondary,
            3 => Source::Texture0,
            4 => Source::Texture1,
            5 => Source::Texture2,
            6 => Source::Procedural,
            _ => return None,
        })
    }

    /// Its first plane.
    pub const fn plane(self) -> usize {
        self as usize * 4
    }
}

/// Planes of the sources.
const SOURCE_PLANES: usize = 7 * 4;
/// Planes of constants: no stage has more than twelve operands.
const CONSTANT_PLANES: usize = 6 * 12;
/// Planes of results: a stage makes four at most.
const RESULT_PLANES: usize = 6 * 4;
/// Planes of a batch.
pub const PLANES: usize = SOURCE_PLANES + CONSTANT_PLANES + RESULT_PLANES;
const _: () = assert!(PLANES <= u128::BITS as usize);
/// First plane of the constants.
pub const FIRST_CONSTANT: usize = SOURCE_PLANES;
const FIRST_RESULT: usize = SOURCE_PLANES + CONSTANT_PLANES;

/// A channel: a plane or the same value everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A plane of the batch.
    Plane(u8),
    /// A constant.
    Constant(u8),
}

/// A value, or 255 minus it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// The value.
    pub value: Value,
    /// Whether it is taken from 255.
    pub invert: bool,
}

/// An operation on planes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// What it does.
    pub op: Op,
    /// One channel of up to three operands; dot products take three channels of two.
    pub operands: Operands,
    /// The result times 1, 2 or 4, then at most 255.
    pub shift: u8,
    /// Plane of the result.
    pub out: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operands {
    /// One channel of each operand.
    Channel([Operand; 3]),
    /// Three channels of two.
    Vectors([[Operand; 3]; 2]),
}

impl Operands {
    fn as_slice(&self) -> &[Operand] {
        match self {
            Operands::Channel(operands) => operands,
            Operands::Vectors(operands) => operands.as_flattened(),
        }
    }
}

/// What the stages of a draw do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// Operations in order.
    pub instructions: Vec<Instruction>,
    /// The fragment's colour.
    pub color: [Value; 4],
    constants: Vec<u8>,
    uses: u32,
}

impl Program {
    /// Compiles the stages.
    pub fn compile(regs: &Registers) -> Program {
        Compiler::default().compile(regs)
    }

    /// Compiles the stages without looking at constants: channel c of stage s's is plane
    /// [`FIRST_CONSTANT`]` + 4 * s + c`, the buffer's first colour is that of a stage after the last. The program is
    /// for reading, not for [`Program::run`].
    pub fn compile_generic(regs: &Registers) -> Program {
        Compiler::generic().compile(regs)
    }

    /// Black and transparent.
    pub fn black() -> Program {
        Program { instructions: Vec::new(), color: [Value::Constant(0); 4], constants: Vec::new(), uses: 0 }
    }

    /// Whether the fragment's colour depends on `source`.
    pub fn uses(&self, source: Source) -> bool {
        self.uses >> source.plane() & 0xf != 0
    }

    /// Writes the planes of the constants, once per draw.
    pub fn fill_constants(&self, batch: &mut Batch) {
        for (plane, &value) in batch.planes[FIRST_CONSTANT..].iter_mut().zip(&self.constants) {
            plane.fill(u16::from(value));
        }
    }

    /// Works out the fragment's colour.
    #[inline(always)]
    pub fn run(&self, batch: &mut Batch) {
        let lanes = batch.lanes();
        for instruction in &self.instructions {
            instruction.run(&mut batch.planes, lanes);
        }
        for (channel, value) in batch.color.iter_mut().zip(self.color) {
            match value {
                Value::Plane(plane) => {
                    *channel = batch.planes[usize::from(plane)];
                }
                Value::Constant(value) => *channel = [u16::from(value); LANES],
            }
        }
    }

    fn constant_plane(&self, value: u8) -> Option<u8> {
        let index = self.constants.iter().position(|&constant| constant == value)?;
        Some((FIRST_CONSTANT + index) as u8)
    }
}

impl Instruction {
    #[inline(always)]
    fn run(&self, planes: &mut [Plane; PLANES], lanes: usize) {
        let mut out = [0; LANES];
        match &self.operands {
            Operands::Channel(operands) => {
                let [a, b, c] = operands.map(|operand| fetch(planes, operand));
                self.op.run(&mut out[..lanes], &a[..lanes], &b[..lanes], &c[..lanes]);
            }
            Operands::Vectors([a, b]) => {
                let (a, b) =
                    (a.map(|operand| fetch(planes, operand)), b.map(|operand| fetch(planes, operand)));
                for (lane, out) in out[..lanes].iter_mut().enumerate() {
                    *out =
                        ops::dot3([0, 1, 2].map(|i: usize| a[i][lane]), [0, 1, 2].map(|i: usize| b[i][lane]));
                }
            }
        }
        if self.shift != 0 {
            for value in &mut out[..lanes] {
                *value = (*value << self.shift).min(255);
            }
        }
        planes[usize::from(self.out)] = out;
    }
}

#[inline(always)]
fn fetch(planes: &[Plane; PLANES], operand: Operand) -> Plane {
    let Value::Plane(plane) = operand.value else { return [0; LANES] };
    let plane = &planes[usize::from(plane)];
    let mut values = *plane;
    if operand.invert {
        for value in &mut values {
            *value ^= 0xff;
        }
    }
    values
}
