//! The combiner stages, channel by channel in integers.

use xenoglot_ir::{Op, Type, Value};

use super::emit::Emit;
use super::layout::CONSTANTS;
use crate::raster::combiner::{
    FIRST_CONSTANT, Instruction, Op as Combine, Operand, Operands, PLANES, Program, Source, Value as Channel,
};

/// Channels by plane of the CPU renderer's batch: those of the sources, then results.
pub struct Planes([Option<Value>; PLANES]);

impl Default for Planes {
    fn default() -> Self {
        Planes([None; PLANES])
    }
}

impl Planes {
    /// Sets the colour of a source.
    pub fn set(&mut self, source: Source, color: [Value; 4]) {
        self.0[source.plane()..][..4].copy_from_slice(&color.map(Some));
    }

    /// A channel of a source; black and transparent if it was never set.
    pub fn channel(&self, emit: &mut Emit, source: Source, channel: usize) -> Value {
        self.0[source.plane() + channel].unwrap_or_else(|| emit.i32(0))
    }

    fn get(&mut self, emit: &mut Emit, channel: Channel) -> Value {
        let plane = match channel {
            Channel::Constant(value) => return emit.i32(value.into()),
            Channel::Plane(plane) => usize::from(plane),
        };
        let missing = |emit: &mut Emit| match plane.checked_sub(FIRST_CONSTANT) {
            Some(constant) => {
                let colors = emit.uniform(CONSTANTS + 16 * (constant as u32 / 4), Type::I32X4);
                emit.b.extract(colors, constant as u8 % 4)
            }
            None => emit.i32(0),
        };
        *self.0[plane].get_or_insert_with(|| missing(emit))
    }

    fn operand(&mut self, emit: &mut Emit, operand: Operand) -> Value {
        let value = self.get(emit, operand.value);
        if !operand.invert {
            return value;
        }
        let white = emit.i32(0xff);
        emit.xor(value, white)
    }

    /// Runs the stages; the fragment's colour.
    pub fn run(&mut self, emit: &mut Emit, program: &Program) -> [Value; 4] {
        for instruction in &program.instructions {
            let value = self.instruction(emit, instruction);
            self.0[usize::from(instruction.out)] = Some(value);
        }
        program.color.map(|channel| self.get(emit, channel))
    }

    fn instruction(&mut self, emit: &mut Emit, instruction: &Instruction) -> Value {
        let value = match &instruction.operands {
            Operands::Channel(operands) => {
                let [a, b, c] = operands.map(|operand| self.operand(emit, operand));
                combine(emit, instruction.op, a, b, c)
            }
            Operands::Vectors(vectors) => {
                let [a, b] = vectors.map(|vector| vector.map(|operand| self.operand(emit, operand)));
                dot3(emit, a, b)
            }
        };
        if instruction.shift == 0 {
            return value;
        }
        let shift = emit.i32(instruction.shift.into());
        let value = emit.shl(value, shift);
        at_most_white(emit, value)
    }
}

fn at_most_white(emit: &mut Emit, value: Value) -> Value {
    let white = emit.i32(255);
    emit.imin(value, white)
}

/// `value / 255` for non-negative values.
pub fn over_255(emit: &mut Emit, value: Value) -> Value {
    let white = emit.i32(255);
    emit.op(Op::Udiv, &[value, white])
}

fn product(emit: &mut Emit, a: Value, b: Value) -> Value {
    let product = emit.imul(a, b);
    over_255(emit, product)
}

/// An operation on one channel; [`Combine::Dot3`] has no meaning for one.
fn combine(emit: &mut Emit, op: Combine, a: Value, b: Value, c: Value) -> Value {
    match op {
        Combine::Replace => a,
        Combine::Modulate => product(emit, a, b),
        Combine::Add => {
            let sum = emit.iadd(a, b);
            at_most_white(emit, sum)
        }
        Combine::AddSigned => {
            let (sum, half) = (emit.iadd(a, b), emit.i32(128));
            let sum = emit.isub(sum, half);
            emit.iclamp(sum, 0, 255)
        }
        Combine::Interpolate => {
            let white = emit.i32(255);
            let rest = emit.xor(c, white);
            let (a, b) = (emit.imul(a, c), emit.imul(b, rest));
            let sum = emit.iadd(a, b);
            over_255(emit, sum)
        }
        Combine::Subtract => {
            let (difference, zero) = (emit.isub(a, b), emit.i32(0));
            emit.imax(difference, zero)
        }
        Combine::Dot3 => emit.i32(0),
        Combine::MultiplyAdd => {
            let product = product(emit, a, b);
            let sum = emit.iadd(product, c);
            at_most_white(emit, sum)
        }
        Combine::AddMultiply => {
            let sum = emit.iadd(a, b);
            let sum = at_most_white(emit, sum);
            product(emit, sum, c)
        }
    }
}

fn dot3(emit: &mut Emit, a: [Value; 3], b: [Value; 3]) -> Value {
    let (two, white, half, whole) = (emit.i32(2), emit.i32(255), emit.i32(128), emit.i32(256));
    let signed = |emit: &mut Emit, value: Value| {
        let value = emit.imul(value, two);
        emit.isub(value, white)
    };
    let mut sum = emit.i32(0);
    for (a, b) in a.into_iter().zip(b) {
        let (a, b) = (signed(emit, a), signed(emit, b));
        let product = emit.imul(a, b);
        let product = emit.iadd(product, half);
        let product = emit.op(Op::Sdiv, &[product, whole]);
        sum = emit.iadd(sum, product);
    }
    emit.iclamp(sum, 0, 255)
}
