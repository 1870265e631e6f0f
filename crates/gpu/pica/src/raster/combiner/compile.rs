//! Registers to a [`Program`].

use super::ops::Op;
use super::{
    FIRST_RESULT, Instruction, Operand, Operands, Program, RESULT_PLANES, SOURCE_PLANES, Source, Value,
};
use crate::regs::{self, Registers};

/// First registers of the stages.
pub const STAGES: [u32; 6] =
    [regs::COMBINER0, regs::COMBINER1, regs::COMBINER2, regs::COMBINER3, regs::COMBINER4, regs::COMBINER5];

const SOURCE_CONSTANT: u32 = 14;
const SOURCE_BUFFER: u32 = 13;
const SOURCE_PREVIOUS: u32 = 15;
const DOT3_RGBA: u32 = 7;
/// Stages from here on cannot update the buffer.
const BUFFER_STAGES: usize = 4;

/// Channels of a colour.
type Rgba = [Value; 4];

const ZERO: Value = Value::Constant(0);
const NO_OPERAND: Operand = Operand { value: ZERO, invert: false };

/// The registers of one stage.
struct Stage<'a> {
    regs: &'a Registers,
    number: usize,
    first: u32,
}

impl Stage<'_> {
    fn color_source(&self, operand: u32) -> u32 {
        self.regs.bits(self.first, 4 * operand, 4)
    }

    fn alpha_source(&self, operand: u32) -> u32 {
        self.regs.bits(self.first, 16 + 4 * operand, 4)
    }

    fn color_operand(&self, operand: u32) -> u32 {
        self.regs.bits(self.first + 1, 4 * operand, 4)
    }

    fn alpha_operand(&self, operand: u32) -> u32 {
        self.regs.bits(self.first + 1, 12 + 4 * operand, 3)
    }

    fn color_op(&self) -> u32 {
        self.regs.bits(self.first + 2, 0, 4)
    }

    fn alpha_op(&self) -> u32 {
        self.regs.bits(self.first + 2, 16, 4)
    }

    fn color_shift(&self) -> u8 {
        shift(self.regs.bits(self.first + 4, 0, 2))
    }

    fn alpha_shift(&self) -> u8 {
        shift(self.regs.bits(self.first + 4, 16, 2))
    }
}

fn shift(scale: u32) -> u8 {
    if scale < 3 { scale as u8 } else { 0 }
}

/// What a stage can see of the stages before it.
#[derive(Clone, Copy)]
struct Inputs {
    previous: Rgba,
    buffer: Rgba,
}

/// Instructions under construction.
#[derive(Default)]
pub(super) struct Compiler {
    instructions: Vec<Instruction>,
    /// Constants are planes.
    generic: bool,
}

impl Compiler {
    pub(super) fn generic() -> Compiler {
        Compiler { generic: true, ..Compiler::default() }
    }

    pub(super) fn compile(mut self, regs: &Registers) -> Program {
        let mut inputs = Inputs { previous: [ZERO; 4], buffer: [ZERO; 4] };
        let mut next_buffer = self.constant(STAGES.len(), regs.get(regs::COMBINER_BUFFER));
        for (number, &first) in STAGES.iter().enumerate() {
            let out = self.stage(&Stage { regs, number, first }, &inputs);
            inputs = Inputs { previous: out, buffer: next_buffer };
            if number < BUFFER_STAGES {
                if regs.bit(regs::FOG_MODE, 8 + number as u32) {
                    next_buffer[..3].copy_from_slice(&out[..3]);
                }
                if regs.bit(regs::FOG_MODE, 12 + number as u32) {
                    next_buffer[3] = out[3];
                }
            }
        }
        self.finish(inputs.previous)
    }

    /// The constant of stage `number`.
    fn constant(&self, number: usize, word: u32) -> Rgba {
        let bytes = word.to_le_bytes();
        let plane = super::FIRST_CONSTANT + 4 * number;
        std::array::from_fn(|channel| {
            if self.generic { Value::Plane((plane + channel) as u8) } else { Value::Constant(bytes[channel]) }
        })
    }

    fn source(&self, number: u32, stage: &Stage<'_>, inputs: &Inputs) -> Rgba {
        match number {
            SOURCE_CONSTANT => self.constant(stage.number, stage.regs.get(stage.first + 3)),
            SOURCE_BUFFER => inputs.buffer,
            SOURCE_PREVIOUS => inputs.previous,
            _ => match Source::from_number(number) {
                Some(source) => std::array::from_fn(|channel| Value::Plane((source.plane() + channel) as u8)),
                None => [ZERO; 4],
            },
        }
    }

    fn stage(&mut self, stage: &Stage<'_>, inputs: &Inputs) -> Rgba {
        let color = |operand: u32| -> [Operand; 3] {
            let mut source = stage.color_source(operand);
            if stage.number == 0 && operand < 2 && source == SOURCE_PREVIOUS {
                source = stage.color_source(2);
            }
            color_operand(self.source(source, stage, inputs), stage.color_operand(operand))
        };
        let colors = [color(0), color(1), color(2)];
        let number = stage.color_op();
        let mut out = [ZERO; 4];
        match Op::from_number(number) {
            Some(Op::Dot3) => {
                let dot = self.emit_dot([colors[0], colors[1]]);
                out[..3].fill(self.emit_replace(dot, stage.color_shift()));
                if number == DOT3_RGBA {
                    out[3] = self.emit_replace(dot, stage.alpha_shift());
                    return out;
                }
            }
            Some(op) => {
                for channel in 0..3 {
                    out[channel] = self.emit(op, colors.map(|color| color[channel]), stage.color_shift());
                }
            }
            None => {}
        }
        let alpha = |compiler: &Self, operand: u32| {
            alpha_operand(
                compiler.source(stage.alpha_source(operand), stage, inputs),
                stage.alpha_operand(operand),
            )
        };
        // Alpha has no dot products.
        if let Some(op) = Op::from_number(stage.alpha_op()).filter(|&op| op != Op::Dot3) {
            let operands = [0, 1, 2].map(|operand| alpha(self, operand));
            out[3] = self.emit(op, operands, stage.alpha_shift());
        }
        out
    }

    /// Adds an operation on one channel, folded or simplified where possible.
    fn emit(&mut self, op: Op, mut operands: [Operand; 3], shift: u8) -> Value {
        operands[op.operands()..].fill(NO_OPERAND);
        let operands = operands.map(fold_inversion);
        let [a, b, c] = operands;
        if let [Value::Constant(a), Value::Constant(b), Value::Constant(c)] = operands.map(|o| o.value) {
            return Value::Constant((u32::from(op.fold(a, b, c)) << shift).min(255) as u8);
        }
        let is = |operand: Operand, value| operand.value == Value::Constant(value);
        let simpler = match op {
            Op::Modulate if is(a, 0) || is(b, 0) => Some(NO_OPERAND),
            Op::Modulate if is(a, 255) => Some(b),
            Op::Modulate if is(b, 255) => Some(a),
            Op::Add if is(a, 0) => Some(b),
            Op::Add | Op::Subtract if is(b, 0) => Some(a),
            Op::Interpolate if is(c, 255) => Some(a),
            Op::Interpolate if is(c, 0) => Some(b),
            _ => None,
        };
        if let Some(operand) = simpler {
            return self.emit(Op::Replace, [operand, NO_OPERAND, NO_OPERAND], shift);
        }
        if op == Op::Replace && !a.invert && shift == 0 {
            return a.value;
        }
        self.push(op, Operands::Channel(operands), shift)
    }

    fn emit_replace(&mut self, value: Value, shift: u8) -> Value {
        self.emit(Op::Replace, [Operand { value, invert: false }, NO_OPERAND, NO_OPERAND], shift)
    }

    fn emit_dot(&mut self, operands: [[Operand; 3]; 2]) -> Value {
        self.push(Op::Dot3, Operands::Vectors(operands.map(|vector| vector.map(fold_inversion))), 0)
    }

    fn push(&mut self, op: Op, operands: Operands, shift: u8) -> Value {
        let same = |i: &&Instruction| i.op == op && i.operands == operands && i.shift == shift;
        if let Some(instruction) = self.instructions.iter().find(same) {
            return Value::Plane(instruction.out);
        }
        debug_assert!(self.instructions.len() < RESULT_PLANES);
        let out = (FIRST_RESULT + self.instructions.len()) as u8;
        self.instructions.push(Instruction { op, operands, shift, out });
        Value::Plane(out)
    }

    /// Drops what `color` does not need and gives constants their planes.
    fn finish(mut self, color: Rgba) -> Program {
        let mut needed = color.into_iter().fold(0, |needed, value| needed | plane_bit(value));
        for index in (0..self.instructions.len()).rev() {
            let instruction = &self.instructions[index];
            if needed & plane_bit(Value::Plane(instruction.out)) == 0 {
                self.instructions.remove(index);
                continue;
            }
            for operand in instruction.operands.as_slice() {
                needed |= plane_bit(operand.value);
            }
        }
        let uses = needed as u32 & ((1 << SOURCE_PLANES) - 1);
        let mut program = Program { instructions: Vec::new(), color, constants: Vec::new(), uses };
        let placed = if self.generic { &mut [] } else { self.instructions.as_mut_slice() };
        for instruction in placed {
            let mut place = |operand: &mut Operand| operand.value = program.place(operand.value);
            match &mut instruction.operands {
                Operands::Channel(operands) => operands.iter_mut().for_each(&mut place),
                Operands::Vectors(operands) => operands.as_flattened_mut().iter_mut().for_each(&mut place),
            }
        }
        program.instructions = self.instructions;
        program
    }
}

impl Program {
    /// The plane of a value, a new one if it is a constant without.
    fn place(&mut self, value: Value) -> Value {
        let Value::Constant(constant) = value else { return value };
        Value::Plane(self.constant_plane(constant).unwrap_or_else(|| {
            self.constants.push(constant);
            (super::FIRST_CONSTANT + self.constants.len() - 1) as u8
        }))
    }
}

/// A set with the value's plane, if it has one.
fn plane_bit(value: Value) -> u128 {
    match value {
        Value::Plane(plane) => 1 << plane,
        Value::Constant(_) => 0,
    }
}

fn fold_inversion(operand: Operand) -> Operand {
    match operand {
        Operand { value: Value::Constant(value), invert: true } => {
            Operand { value: Value::Constant(255 - value), invert: false }
        }
        operand => operand,
    }
}

/// The operands of red, green and blue; numbers without a meaning give 0.
fn color_operand([r, g, b, a]: Rgba, number: u32) -> [Operand; 3] {
    let values = match number {
        0 | 1 => [r, g, b],
        2 | 3 => [a; 3],
        4 | 5 => [r; 3],
        8 | 9 => [g; 3],
        12 | 13 => [b; 3],
        _ => return [NO_OPERAND; 3],
    };
    values.map(|value| Operand { value, invert: number & 1 != 0 })
}

fn alpha_operand([r, g, b, a]: Rgba, number: u32) -> Operand {
    let value = match number >> 1 {
        0 => a,
        1 => r,
        2 => g,
        _ => b,
    };
    Operand { value, invert: number & 1 != 0 }
}

#[cfg(test)]
mod tests {
    use super::super::super::batch::Batch;
    use super::*;

    /// Registers whose stages all pass their input on.
    fn pass() -> Registers {
        let mut regs = Registers::default();
        for first in STAGES {
            regs.set(first, 0x000f_000f);
        }
        regs
    }

    fn run(regs: &Registers, primary: [u16; 4], texture: [u16; 4]) -> [u16; 4] {
        let program = Program::compile(regs);
        let mut batch = Batch::of(1);
        program.fill_constants(&mut batch);
        for channel in 0..4 {
            batch.planes[Source::Primary.plane() + channel].fill(primary[channel]);
            batch.planes[Source::Texture0.plane() + channel].fill(texture[channel]);
        }
        program.run(&mut batch);
        batch.color.map(|plane| plane[0])
    }

    const PRIMARY: [u16; 4] = [10, 20, 30, 40];
    const TEXTURE: [u16; 4] = [100, 150, 200, 250];

    #[test]
    fn passing_stages_cost_nothing() {
        let mut regs = pass();
        regs.set(STAGES[0], 0);
        let program = Program::compile(&regs);
        assert!(program.instructions.is_empty());
        assert!(program.uses(Source::Primary) && !program.uses(Source::Texture0));
        assert_eq!(run(&regs, PRIMARY, TEXTURE), PRIMARY);
    }

    #[test]
    fn modulation_by_a_constant_of_one_is_free() {
        let mut regs = pass();
        regs.set(STAGES[0], 0x00e0_00e0);
        regs.set(STAGES[0] + 2, 0x0001_0001);
        regs.set(STAGES[0] + 3, 0xff80_00ff);
        let program = Program::compile(&regs);
        assert_eq!(program.instructions.len(), 1, "green by 0 and by one are known, blue is not");
        assert_eq!(run(&regs, PRIMARY, TEXTURE), [10, 0, 30 * 128 / 255, 40]);
    }

    #[test]
    fn operands() {
        let operand = |color: u32, alpha: u32| {
            let mut regs = pass();
            regs.set(STAGES[0], 0x0003_0003);
            regs.set(STAGES[0] + 1, alpha << 12 | color);
            run(&regs, PRIMARY, TEXTURE)
        };
        let [r, g, b, a] = TEXTURE;
        assert_eq!(operand(0, 0), TEXTURE);
        assert_eq!(operand(1, 1), TEXTURE.map(|v| 255 - v));
        assert_eq!(operand(2, 2), [a, a, a, r]);
        assert_eq!(operand(3, 3), [255 - a, 255 - a, 255 - a, 255 - r]);
        assert_eq!(operand(4, 4), [r, r, r, g]);
        assert_eq!(operand(5, 5), [255 - r, 255 - r, 255 - r, 255 - g]);
        assert_eq!(operand(8, 6), [g, g, g, b]);
        assert_eq!(operand(9, 7), [255 - g, 255 - g, 255 - g, 255 - b]);
        assert_eq!(operand(12, 0), [b, b, b, a]);
        assert_eq!(operand(13, 0), [255 - b, 255 - b, 255 - b, a]);
    }

    #[test]
    fn scale_saturates() {
        let mut regs = pass();
        regs.set(STAGES[0], 0x0003_0003);
        for (scale, expected) in
            [(0, TEXTURE), (0x0001_0001, [200, 255, 255, 255]), (2, [255, 255, 255, 250]), (3, TEXTURE)]
        {
            regs.set(STAGES[0] + 4, scale);
            assert_eq!(run(&regs, PRIMARY, TEXTURE), expected);
        }
    }

    #[test]
    fn the_buffer_lags_one_stage() {
        let mut regs = pass();
        regs.set(regs::COMBINER_BUFFER, 0x0403_0201);
        regs.set(regs::FOG_MODE, 0x1100);
        regs.set(STAGES[0], 0);
        let read_in = |stage: usize| {
            let mut regs = regs.clone();
            regs.set(STAGES[stage], 0x000d_000d);
            run(&regs, PRIMARY, TEXTURE)
        };
        assert_eq!(read_in(0), [0; 4]);
        assert_eq!(read_in(1), [1, 2, 3, 4]);
        assert_eq!(read_in(2), PRIMARY);
    }

    #[test]
    fn first_stage_reads_its_third_source_for_previous() {
        let mut regs = pass();
        regs.set(STAGES[0], 0x000f_030f);
        assert_eq!(run(&regs, PRIMARY, TEXTURE), [100, 150, 200, 0]);
    }

    #[test]
    fn dot_product_into_alpha() {
        let mut regs = pass();
        regs.set(STAGES[0], 0x0000_0030);
        regs.set(STAGES[0] + 2, 7);
        let dot = super::super::ops::dot3([10, 20, 30], [100, 150, 200]);
        assert_eq!(run(&regs, PRIMARY, TEXTURE), [dot; 4]);
        regs.set(STAGES[0] + 2, 6);
        assert_eq!(run(&regs, PRIMARY, TEXTURE), [dot, dot, dot, 40]);
    }
}
