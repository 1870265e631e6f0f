//! Registers of a group of vertices, and what steps do to them.
//!
//! Results are those of vectors/pica/FORMAT.md, section 4, and NaNs those of the IR: arithmetic gives the canonical one,
//! what only moves or selects leaves them as they are.

use super::code::{COLUMNS, CONSTANTS, Column, INPUTS, ONES, Op, Source, Step};
use crate::shader::unit::{FLOAT_UNIFORMS, Uniforms};
use xenoglot_pica_shader::inst::{Condition, Index, Relation};

/// The largest magnitude LIT leaves in y: 128 - 2^-8.
const LIT_LIMIT: f32 = 127.996_09;

/// The canonical NaN.
const NAN: f32 = f32::from_bits(0x7fc0_0000);

/// A component of each of `N` vertices.
type Lane<const N: usize> = [f32; N];

/// A set of vertices, bit n for vertex n.
pub(super) type Set = u32;

/// Registers, flags and uniforms of `N` vertices, at most 32.
pub(super) struct Registers<const N: usize> {
    columns: Box<[Lane<N>; COLUMNS]>,
    /// a0.x and a0.y.
    pub a0: [[i32; N]; 2],
    /// The condition flags.
    pub flags: [Set; 2],
    /// What indexed sources read: the uniforms, then ones.
    table: Box<[[f32; 4]; 128]>,
}

impl<const N: usize> Default for Registers<N> {
    fn default() -> Self {
        let mut columns = vec![[0.0; N]; COLUMNS];
        for (column, value) in columns.iter_mut().skip(ONES.into()).zip([1.0, -1.0]) {
            *column = [value; N];
        }
        let columns = columns.into_boxed_slice().try_into().unwrap_or_else(|_| Box::new([[0.0; N]; COLUMNS]));
        Registers { columns, a0: [[0; N]; 2], flags: [0; 2], table: Box::new([[1.0; 4]; 128]) }
    }
}

fn flip(v: f32, sign: u32) -> f32 {
    f32::from_bits(v.to_bits() ^ sign)
}

fn canonical(v: f32) -> f32 {
    if v.is_nan() { NAN } else { v }
}

/// The product before NaNs are made canonical.
fn product(a: f32, b: f32) -> f32 {
    let p = a * b;
    if p.is_nan() & !(a.is_nan() | b.is_nan()) { 0.0 } else { p }
}

fn truth(holds: bool) -> f32 {
    if holds { 1.0 } else { 0.0 }
}

fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// A value as MOVA stores it. What an `i32` cannot hold becomes the least one, which is out of the range of indices.
fn address(v: f32) -> i32 {
    if v.abs() < 2_147_483_648.0 { v as i32 } else { i32::MIN }
}

impl<const N: usize> Registers<N> {
    /// All vertices there are.
    pub const ALL: Set = if N >= 32 { Set::MAX } else { (1 << N) - 1 };

    pub fn column(&self, number: Column) -> &Lane<N> {
        &self.columns[usize::from(number) % COLUMNS]
    }

    pub fn column_mut(&mut self, number: Column) -> &mut Lane<N> {
        &mut self.columns[usize::from(number) % COLUMNS]
    }

    /// Fills the columns of the uniforms that a program names, and the table if it indexes them.
    pub fn set_uniforms(&mut self, uniforms: &Uniforms, named: &[u8], indexed: bool) {
        for &n in named {
            let value = uniforms.float(n.into());
            for (c, value) in (0..).zip(value) {
                *self.column_mut(CONSTANTS + 4 * u16::from(n) + c) = [value; N];
            }
        }
        if indexed {
            for (n, place) in (0..FLOAT_UNIFORMS).zip(self.table.iter_mut()) {
                *place = uniforms.float(n);
            }
        }
    }

    /// Zeroes registers of the file that starts at a column.
    pub fn clear(&mut self, file: Column, registers: impl Iterator<Item = u16>) {
        for n in registers {
            for c in 0..4 {
                *self.column_mut(file + 4 * n + c) = [0.0; N];
            }
        }
    }

    /// Sets register `n` of the inputs of vertex `lane`.
    pub fn set_input(&mut self, n: u16, lane: usize, value: [f32; 4]) {
        self.set(INPUTS + 4 * n, lane, value);
    }

    /// Sets the register whose columns start at `first`, of one vertex.
    pub fn set(&mut self, first: Column, lane: usize, value: [f32; 4]) {
        for (c, value) in (0..).zip(value) {
            if let Some(place) = self.column_mut(first + c).get_mut(lane) {
                *place = value;
            }
        }
    }

    /// The register whose columns start at `first`, of one vertex.
    pub fn get(&self, first: Column, lane: usize) -> [f32; 4] {
        [0, 1, 2, 3].map(|c| self.column(first + c).get(lane).copied().unwrap_or(0.0))
    }

    /// The vertices for which a condition holds.
    pub fn condition(&self, condition: Condition) -> Set {
        use xenoglot_pica_shader::inst::ConditionMode as Mode;
        let [x, y] = self.flags;
        let (x, y) = (if condition.x { x } else { !x }, if condition.y { y } else { !y });
        match condition.mode {
            Mode::Or => x | y,
            Mode::And => x & y,
            Mode::X => x,
            Mode::Y => y,
        }
    }

    /// Executes a step on the vertices of `set`. EMIT and SETEMIT do nothing here: they are the emitter's.
    #[inline]
    pub fn execute(&mut self, step: &Step, set: Set, al: i32) {
        if set == Self::ALL {
            self.arithmetic::<true>(step, set, al);
        } else {
            self.arithmetic::<false>(step, set, al);
        }
    }

    fn arithmetic<const WHOLE: bool>(&mut self, step: &Step, set: Set, al: i32) {
        match step.op {
            Op::Nop | Op::Emit | Op::SetEmit(..) => {}
            Op::Gather(index, n) => self.gather(step, index, n, al),
            Op::Add => self.each::<WHOLE, 2>(step, set, |[a, b]| canonical(a + b)),
            Op::Mul => self.each::<WHOLE, 2>(step, set, |[a, b]| canonical(product(a, b))),
            Op::Mad => self.each::<WHOLE, 3>(step, set, |[a, b, c]| canonical(product(a, b) + c)),
            Op::Max => self.each::<WHOLE, 2>(step, set, |[a, b]| larger(a, b)),
            Op::Min => self.each::<WHOLE, 2>(step, set, |[a, b]| smaller(a, b)),
            Op::Sge => self.each::<WHOLE, 2>(step, set, |[a, b]| truth(a >= b)),
            Op::Slt => self.each::<WHOLE, 2>(step, set, |[a, b]| truth(a < b)),
            Op::Mov => self.each::<WHOLE, 1>(step, set, |[a]| a),
            Op::Flr => self.each::<WHOLE, 1>(step, set, |[a]| canonical(a.floor())),
            Op::Rcp => self.first::<WHOLE>(step, set, |a| canonical(1.0 / a)),
            Op::Rsq => self.first::<WHOLE>(step, set, |a| canonical(1.0 / a.sqrt())),
            Op::Ex2 => self.first::<WHOLE>(step, set, |a| canonical(a.exp2())),
            Op::Lg2 => self.first::<WHOLE>(step, set, |a| canonical(a.log2())),
            Op::Dp3 => self.dot::<WHOLE, 3>(step, set),
            Op::Dp4 => self.dot::<WHOLE, 4>(step, set),
            Op::Dst => self.distance::<WHOLE>(step, set),
            Op::Lit => self.lit::<WHOLE>(step, set),
            Op::Mova => self.mova(step, set),
            Op::Cmp(x, y) => self.compare(step, set, [x, y]),
        }
    }

    /// Component `c` of a source.
    fn source(&self, source: &Source, c: usize) -> Lane<N> {
        let from = self.column(source.columns[c % 4]);
        std::array::from_fn(|i| flip(from[i], source.sign))
    }

    #[inline(always)]
    fn store<const WHOLE: bool>(&mut self, column: Column, set: Set, values: Lane<N>) {
        let place = self.column_mut(column);
        if WHOLE {
            *place = values;
        } else {
            for (i, (place, value)) in place.iter_mut().zip(values).enumerate() {
                if set >> i & 1 != 0 {
                    *place = value;
                }
            }
        }
    }

    /// Writes a result to all enabled components.
    fn spread<const WHOLE: bool>(&mut self, step: &Step, set: Set, values: Lane<N>) {
        for c in (0..4).filter(|c| step.mask >> c & 1 != 0) {
            self.store::<WHOLE>(step.dst + c, set, values);
        }
    }

    /// Writes the result of each enabled component.
    #[inline(always)]
    fn each<const WHOLE: bool, const OPERANDS: usize>(
        &mut self,
        step: &Step,
        set: Set,
        result: impl Fn([f32; OPERANDS]) -> f32,
    ) {
        for c in (0..4usize).filter(|c| step.mask >> c & 1 != 0) {
            let operands: [&Lane<N>; OPERANDS] =
                std::array::from_fn(|s| self.column(step.src[s % 3].columns[c]));
            let signs: [u32; OPERANDS] = std::array::from_fn(|s| step.src[s % 3].sign);
            let values =
                std::array::from_fn(|i| result(std::array::from_fn(|s| flip(operands[s][i], signs[s]))));
            self.store::<WHOLE>(step.dst + c as u16, set, values);
        }
    }

    /// Writes a result of the first component.
    #[inline(always)]
    fn first<const WHOLE: bool>(&mut self, step: &Step, set: Set, result: impl Fn(f32) -> f32) {
        let values = self.source(&step.src[0], 0).map(result);
        self.spread::<WHOLE>(step, set, values);
    }

    #[inline(always)]
    fn dot<const WHOLE: bool, const LANES: usize>(&mut self, step: &Step, set: Set) {
        let mut sum = [0.0; N];
        for c in 0..LANES {
            let (a, b) = (self.column(step.src[0].columns[c % 4]), self.column(step.src[1].columns[c % 4]));
            let [a_sign, b_sign] = [step.src[0].sign, step.src[1].sign];
            for i in 0..N {
                sum[i] += product(flip(a[i], a_sign), flip(b[i], b_sign));
            }
        }
        self.spread::<WHOLE>(step, set, sum.map(canonical));
    }

    fn distance<const WHOLE: bool>(&mut self, step: &Step, set: Set) {
        let [a, b, ..] = step.src;
        let (ay, by) = (self.source(&a, 1), self.source(&b, 1));
        let y = std::array::from_fn(|i| canonical(product(ay[i], by[i])));
        let values = [[1.0; N], y, self.source(&a, 2), self.source(&b, 3)];
        self.store_masked::<WHOLE>(step, set, values);
    }

    fn store_masked<const WHOLE: bool>(&mut self, step: &Step, set: Set, values: [Lane<N>; 4]) {
        for (c, values) in (0..4).zip(values) {
            if step.mask >> c & 1 != 0 {
                self.store::<WHOLE>(step.dst + c, set, values);
            }
        }
    }

    fn lit<const WHOLE: bool>(&mut self, step: &Step, set: Set) {
        let [x, y, w] = [0, 1, 3].map(|c| self.source(&step.src[0], c));
        self.set_flags(set, [bits(&x, |v| v >= 0.0), bits(&w, |v| v >= 0.0)]);
        let y = y.map(|y| smaller(larger(y, -LIT_LIMIT), LIT_LIMIT));
        let positive = |v: f32| larger(v, 0.0);
        self.store_masked::<WHOLE>(step, set, [x.map(positive), y, [0.0; N], w.map(positive)]);
    }

    fn set_flags(&mut self, set: Set, found: [Set; 2]) {
        for (flag, found) in self.flags.iter_mut().zip(found) {
            *flag = *flag & !set | found & set;
        }
    }

    fn compare(&mut self, step: &Step, set: Set, relations: [Relation; 2]) {
        let found = [0, 1].map(|c| {
            let (a, b) = (self.source(&step.src[0], c), self.source(&step.src[1], c));
            let both = |holds: fn(f32, f32) -> bool| pairs(&a, &b, holds);
            match relations[c] {
                Relation::Eq => both(|a, b| a == b),
                Relation::Ne => both(|a, b| a != b),
                Relation::Lt => both(|a, b| a < b),
                Relation::Le => both(|a, b| a <= b),
                Relation::Gt => both(|a, b| a > b),
                Relation::Ge => both(|a, b| a >= b),
                // As the lifter has it.
                Relation::Reserved6 | Relation::Reserved7 => 0,
            }
        });
        self.set_flags(set, found);
    }

    fn mova(&mut self, step: &Step, set: Set) {
        // An indexed source was gathered in a step of its own, so writing a0.x cannot change what a0.y gets.
        for (c, register) in self.a0.iter_mut().enumerate() {
            if step.mask >> c & 1 == 0 {
                continue;
            }
            let from = &self.columns[usize::from(step.src[0].columns[c % 4]) % COLUMNS];
            for (i, (place, &v)) in register.iter_mut().zip(from).enumerate() {
                if set >> i & 1 != 0 {
                    *place = address(flip(v, step.src[0].sign));
                }
            }
        }
    }

    fn gather(&mut self, step: &Step, index: Index, n: u8, al: i32) {
        for i in 0..N {
            let index = match index {
                Index::None => 0,
                Index::A0x => self.a0[0][i],
                Index::A0y => self.a0[1][i],
                Index::Al => al,
            };
            let index = if (-128..=127).contains(&index) { index } else { 0 };
            let found = self.table[((i32::from(n) + index) & 0x7f) as usize % 128];
            for (c, value) in (0..4).zip(found) {
                if step.mask >> c & 1 != 0 {
                    self.column_mut(step.dst + c)[i] = value;
                }
            }
        }
    }
}

/// The vertices whose value has a property.
fn bits<const N: usize>(values: &Lane<N>, has: impl Fn(f32) -> bool) -> Set {
    values.iter().rev().fold(0, |set, &v| set << 1 | Set::from(has(v)))
}

fn pairs<const N: usize>(a: &Lane<N>, b: &Lane<N>, holds: impl Fn(f32, f32) -> bool) -> Set {
    a.iter().zip(b).rev().fold(0, |set, (&a, &b)| set << 1 | Set::from(holds(a, b)))
}
