//! What a shader computes: all lanes at once, under masks, after the meaning of HLSL and of DXIL.rst.

use super::module::{Binary, Predicate, Rmw};
use super::shader::{
    ARRAY, Case, Cond, Expr, Float, INPUT_WORDS, MinMax, OUTPUT_WORDS, Shader, Stmt, THREADS, Ternary, Unary,
    WRITTEN, Wave, Width,
};

const LANES: usize = THREADS as usize;
/// A number for each lane.
type Lanes = [u64; LANES];
/// Lanes, as bits.
type Mask = u32;

/// What `shader` writes for what is in the buffer it reads, [`INPUT_WORDS`] words, in waves of so many lanes.
pub fn run(shader: &Shader, input: &[u32], wave: u32) -> Vec<u32> {
    let mut machine = Machine {
        shader,
        input,
        wave,
        vars: vec![[0; LANES]; shader.vars.len()],
        arrays: [[0; ARRAY as usize]; LANES],
        output: vec![0; LANES * OUTPUT_WORDS as usize],
    };
    machine.block(&shader.body, Mask::MAX, &mut Leaving::default());
    machine.output
}

/// Lanes that have left what is around them.
#[derive(Default)]
struct Leaving {
    breaks: Mask,
    continues: Mask,
}

struct Machine<'s> {
    shader: &'s Shader,
    input: &'s [u32],
    wave: u32,
    vars: Vec<Lanes>,
    arrays: [[u32; ARRAY as usize]; LANES],
    output: Vec<u32>,
}

fn lanes(mask: Mask) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

fn each(f: impl FnMut(usize) -> u64) -> Lanes {
    std::array::from_fn(f)
}

impl Machine<'_> {
    /// Runs statements; the lanes that come to their end.
    fn block(&mut self, stmts: &[Stmt], mut mask: Mask, leaving: &mut Leaving) -> Mask {
        for stmt in stmts {
            if mask == 0 {
                break;
            }
            mask = self.statement(stmt, mask, leaving);
        }
        mask
    }

    fn statement(&mut self, stmt: &Stmt, mask: Mask, leaving: &mut Leaving) -> Mask {
        match stmt {
            Stmt::Assign(var, expr) => {
                let value = self.expr(expr, self.shader.vars[*var], mask);
                self.assign(*var, &value, mask);
            }
            Stmt::SetElement { index, value } => {
                let (index, value) = (self.word(index, mask), self.word(value, mask));
                for lane in lanes(mask) {
                    self.arrays[lane][index[lane] as usize % ARRAY as usize] = value[lane] as u32;
                }
            }
            Stmt::Write(expr) => {
                let value = self.word(expr, mask);
                for lane in lanes(mask) {
                    let at = self.vars[WRITTEN][lane].min(u64::from(OUTPUT_WORDS) - 1);
                    self.output[lane * OUTPUT_WORDS as usize + at as usize] = value[lane] as u32;
                    self.vars[WRITTEN][lane] += 1;
                }
            }
            Stmt::If { cond, yes, no } => {
                let taken = self.cond(cond, mask);
                let yes = self.block(yes, taken, leaving);
                return yes | self.block(no, mask & !taken, leaving);
            }
            Stmt::Loop { counter, rounds, tested_after, body } => {
                return self.repeat(*counter, rounds, *tested_after, body, mask);
            }
            Stmt::Switch { value, cases, others } => return self.switch(value, cases, others, mask, leaving),
            Stmt::Break => {
                leaving.breaks |= mask;
                return 0;
            }
            Stmt::Continue => {
                leaving.continues |= mask;
                return 0;
            }
            Stmt::Return => return 0,
            Stmt::Exchange { value, index, to } => {
                let shared = self.word(value, mask);
                let index = self.word(index, mask);
                self.assign(*to, &each(|lane| shared[index[lane] as usize % LANES]), mask);
            }
            Stmt::Combine { cond, op, index, value, to } => {
                let mut shared = each(|lane| lane as u64);
                let taken = self.cond(cond, mask);
                let (index, value) = (self.word(index, taken), self.word(value, taken));
                for lane in lanes(taken) {
                    let at = &mut shared[index[lane] as usize % LANES];
                    *at = combine(*op, *at as u32, value[lane] as u32).into();
                }
                self.assign(*to, &shared, mask);
            }
        }
        mask
    }

    fn assign(&mut self, var: usize, value: &Lanes, mask: Mask) {
        for lane in lanes(mask) {
            self.vars[var][lane] = value[lane];
        }
    }

    fn repeat(
        &mut self,
        counter: usize,
        rounds: &Expr,
        tested_after: bool,
        body: &[Stmt],
        mask: Mask,
    ) -> Mask {
        let rounds = self.word(rounds, mask);
        self.assign(counter, &[0; LANES], mask);
        let more = |machine: &Machine, mask: Mask| -> Mask {
            lanes(mask).filter(|&l| machine.vars[counter][l] < rounds[l]).map(|l| 1 << l).sum()
        };
        let mut active = if tested_after { mask } else { more(self, mask) };
        let mut ended = mask & !active;
        while active != 0 {
            let mut leaving = Leaving::default();
            let through = self.block(body, active, &mut leaving) | leaving.continues;
            ended |= leaving.breaks;
            for lane in lanes(through) {
                self.vars[counter][lane] += 1;
            }
            active = more(self, through);
            ended |= through & !active;
        }
        ended
    }

    fn switch(
        &mut self,
        value: &Expr,
        cases: &[Case],
        others: &[Stmt],
        mask: Mask,
        leaving: &mut Leaving,
    ) -> Mask {
        let value = self.word(value, mask);
        let (mut left, mut through, mut ended) = (mask, 0, 0);
        let mut inner = Leaving::default();
        for case in cases {
            let here: Mask =
                lanes(left).filter(|&l| value[l] == u64::from(case.number)).map(|l| 1 << l).sum();
            left &= !here;
            let after = self.block(&case.body, here | through, &mut inner);
            through = 0;
            match case.falls_through {
                true => through = after,
                false => ended |= after,
            }
        }
        ended |= self.block(others, left | through, &mut inner);
        leaving.continues |= inner.continues;
        ended | inner.breaks
    }

    fn word(&mut self, expr: &Expr, mask: Mask) -> Lanes {
        self.expr(expr, Width::W32, mask)
    }

    fn expr(&mut self, expr: &Expr, width: Width, mask: Mask) -> Lanes {
        let keep = width.mask();
        match expr {
            Expr::Constant(n) => [*n & keep; LANES],
            Expr::Var(var) => self.vars[*var],
            Expr::Thread => each(|lane| lane as u64),
            Expr::Input(at) => {
                let at = self.word(at, mask);
                each(|lane| self.input[at[lane] as usize % INPUT_WORDS as usize].into())
            }
            Expr::Element(at) => {
                let at = self.word(at, mask);
                each(|lane| self.arrays[lane][at[lane] as usize % ARRAY as usize].into())
            }
            Expr::Binary(op, args) => {
                let [a, b] = [&args[0], &args[1]].map(|e| self.expr(e, width, mask));
                each(|lane| binary(*op, width, a[lane], b[lane]))
            }
            Expr::Unary(op, of) => {
                let of = self.word(of, mask);
                each(|lane| unary(*op, of[lane] as u32).into())
            }
            Expr::MinMax(op, args) => {
                let [a, b] = [&args[0], &args[1]].map(|e| self.expr(e, width, mask));
                each(|lane| min_max(*op, width, a[lane], b[lane]))
            }
            Expr::Ternary(op, args) => {
                let [a, b, c] = [0, 1, 2].map(|n| self.word(&args[n], mask));
                each(|lane| ternary(*op, a[lane] as u32, b[lane] as u32, c[lane] as u32).into())
            }
            Expr::Bfi(args) => {
                let [bits, offset, new, old] = [0, 1, 2, 3].map(|n| self.word(&args[n], mask));
                each(|lane| {
                    let (bits, offset) = (bits[lane] as u32 & 31, offset[lane] as u32 & 31);
                    let field = ((1u32 << bits) - 1) << offset;
                    ((new[lane] as u32) << offset & field | old[lane] as u32 & !field).into()
                })
            }
            Expr::Select(parts) => {
                let taken = self.cond(&parts.0, mask);
                let (yes, no) = (self.expr(&parts.1, width, mask), self.expr(&parts.2, width, mask));
                each(|lane| if taken >> lane & 1 == 1 { yes[lane] } else { no[lane] })
            }
            Expr::Cast { from, sign, of } => {
                let of = self.expr(of, *from, mask);
                each(|lane| if *sign { from.signed(of[lane]) as u64 & keep } else { of[lane] & keep })
            }
            Expr::Float { half, of } => {
                let of = self.float(of, *half, mask);
                of.map(|f| u64::from(f as i32 as u32))
            }
            Expr::Wave(op, of) => {
                let of = self.word(of, mask);
                self.wave(*op, &of, mask)
            }
            Expr::Vector { op, left, right, index } => {
                let index = self.word(index, mask);
                let mut value = |e: &Expr| self.expr(e, width, mask);
                let pairs: Vec<(Lanes, Lanes)> =
                    left.iter().zip(right).map(|(a, b)| (value(a), value(b))).collect();
                each(|lane| {
                    let (a, b) = &pairs[index[lane] as usize % pairs.len()];
                    binary(*op, width, a[lane], b[lane])
                })
            }
        }
    }

    fn float(&mut self, float: &Float, half: bool, mask: Mask) -> [f32; LANES] {
        match float {
            Float::Small(of) => {
                let of = self.word(of, mask);
                let bits = if half { 3 } else { 63 };
                of.map(|n| (n & bits) as f32)
            }
            Float::Binary(op, args) => {
                let [a, b] = [0, 1].map(|n| self.float(&args[n], half, mask));
                std::array::from_fn(|lane| match op {
                    Binary::Add => a[lane] + b[lane],
                    Binary::Sub => a[lane] - b[lane],
                    _ => a[lane] * b[lane],
                })
            }
            Float::Mad(args) => {
                let [a, b, c] = [0, 1, 2].map(|n| self.float(&args[n], half, mask));
                std::array::from_fn(|lane| a[lane] * b[lane] + c[lane])
            }
            Float::Max(args) => {
                let [a, b] = [0, 1].map(|n| self.float(&args[n], half, mask));
                std::array::from_fn(|lane| a[lane].max(b[lane]))
            }
            Float::Min(args) => {
                let [a, b] = [0, 1].map(|n| self.float(&args[n], half, mask));
                std::array::from_fn(|lane| a[lane].min(b[lane]))
            }
            Float::Abs(of) => self.float(of, half, mask).map(f32::abs),
        }
    }

    /// The lanes of `mask` that a condition holds for.
    fn cond(&mut self, cond: &Cond, mask: Mask) -> Mask {
        match cond {
            Cond::Compare(width, predicate, args) => {
                let [a, b] = [&args[0], &args[1]].map(|e| self.expr(e, *width, mask));
                let holds = |&lane: &usize| {
                    let (a, b) = (a[lane], b[lane]);
                    let signed = (width.signed(a), width.signed(b));
                    match predicate {
                        Predicate::Eq => a == b,
                        Predicate::Ne => a != b,
                        Predicate::Ugt => a > b,
                        Predicate::Ule => a <= b,
                        Predicate::Sgt => signed.0 > signed.1,
                        _ => signed.0 < signed.1,
                    }
                };
                lanes(mask).filter(holds).map(|lane| 1 << lane).sum()
            }
            Cond::CompareFloats(predicate, args) => {
                let [a, b] = [0, 1].map(|n| self.float(&args[n], false, mask));
                let holds = |&lane: &usize| match predicate {
                    Predicate::Foeq => a[lane] == b[lane],
                    _ => a[lane] < b[lane],
                };
                lanes(mask).filter(holds).map(|lane| 1 << lane).sum()
            }
            Cond::Not(of) => mask & !self.cond(of, mask),
            Cond::And(args) => self.cond(&args[0], mask) & self.cond(&args[1], mask),
            Cond::Or(args) => self.cond(&args[0], mask) | self.cond(&args[1], mask),
            Cond::Any(of) => {
                let holds = self.cond(of, mask);
                self.waves(mask, |wave| holds & wave != 0)
            }
            Cond::All(of) => {
                let holds = self.cond(of, mask);
                self.waves(mask, |wave| holds & wave == wave)
            }
        }
    }

    /// The active lanes of the waves whose active lanes `holds` is true for.
    fn waves(&self, mask: Mask, holds: impl Fn(Mask) -> bool) -> Mask {
        let active = |first: u32| mask & self.wave_at(first);
        (0..THREADS).step_by(self.wave as usize).map(active).filter(|&wave| holds(wave)).sum()
    }

    fn wave_at(&self, first: u32) -> Mask {
        (((1u64 << self.wave) - 1) << first) as Mask
    }

    fn wave(&self, op: Wave, of: &Lanes, mask: Mask) -> Lanes {
        let mut result = [0; LANES];
        for first in (0..THREADS).step_by(self.wave as usize) {
            let active = mask & self.wave_at(first);
            let values = || lanes(active).map(|lane| of[lane] as u32);
            let set =
                lanes(active).filter(|&lane| of[lane] & 1 == 1).map(|lane| 1 << lane).sum::<Mask>() >> first;
            for lane in lanes(active) {
                let before = active & ((1 << lane) - 1);
                let set_before = set & ((1 << (lane as u32 - first)) - 1);
                result[lane] = u64::from(match op {
                    Wave::Sum => values().fold(0, u32::wrapping_add),
                    Wave::Min => values().map(u32::cast_signed).min().unwrap_or_default().cast_unsigned(),
                    Wave::Max => values().map(u32::cast_signed).max().unwrap_or_default().cast_unsigned(),
                    Wave::Umin => values().min().unwrap_or_default(),
                    Wave::Umax => values().max().unwrap_or_default(),
                    Wave::And => values().fold(u32::MAX, |a, b| a & b),
                    Wave::Or => values().fold(0, |a, b| a | b),
                    Wave::Xor => values().fold(0, |a, b| a ^ b),
                    Wave::Before => lanes(before).fold(0u32, |sum, lane| sum.wrapping_add(of[lane] as u32)),
                    Wave::First => values().next().unwrap_or_default(),
                    Wave::Ballot => set,
                    Wave::Count => set.count_ones(),
                    Wave::CountBefore => set_before.count_ones(),
                });
            }
        }
        result
    }
}

/// As [`Expr::Binary`] says of what operands are made first.
fn binary(op: Binary, width: Width, a: u64, b: u64) -> u64 {
    let distance = b & u64::from(width.bits() - 1);
    let (signed, divisor) = (width.signed(a), ((b & 15) + 1) as i64);
    let value = match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::Udiv => a / (b | 1),
        Binary::Urem => a % (b | 1),
        Binary::Sdiv => (signed / divisor) as u64,
        Binary::Srem => (signed % divisor) as u64,
        Binary::Shl => a << distance,
        Binary::Lshr => a >> distance,
        Binary::Ashr => (signed >> distance) as u64,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
    };
    value & width.mask()
}

/// The last two count from the highest bit, and all three have all bits set where there is none.
fn unary(op: Unary, n: u32) -> u32 {
    match op {
        Unary::Bfrev => n.reverse_bits(),
        Unary::Countbits => n.count_ones(),
        Unary::FirstbitLo if n == 0 => u32::MAX,
        Unary::FirstbitLo => n.trailing_zeros(),
        Unary::FirstbitHi if n == 0 => u32::MAX,
        Unary::FirstbitHi => n.leading_zeros(),
        Unary::FirstbitSHi => {
            let n = if n.cast_signed() < 0 { !n } else { n };
            unary(Unary::FirstbitHi, n)
        }
    }
}

fn min_max(op: MinMax, width: Width, a: u64, b: u64) -> u64 {
    let less = width.signed(a) < width.signed(b);
    match op {
        MinMax::Imax => {
            if less {
                b
            } else {
                a
            }
        }
        MinMax::Imin => {
            if less {
                a
            } else {
                b
            }
        }
        MinMax::Umax => a.max(b),
        MinMax::Umin => a.min(b),
    }
}

/// Bit fields have width, offset and what they are of.
fn ternary(op: Ternary, a: u32, b: u32, c: u32) -> u32 {
    let (bits, offset) = (a & 31, b & 31);
    let field = |shifted_down: fn(u32, u32) -> u32| match bits {
        0 => 0,
        _ if bits + offset < 32 => shifted_down(c << (32 - bits - offset), 32 - bits),
        _ => shifted_down(c, offset),
    };
    match op {
        Ternary::Imad | Ternary::Umad => a.wrapping_mul(b).wrapping_add(c),
        Ternary::Ibfe => field(|n, by| (n.cast_signed() >> by).cast_unsigned()),
        Ternary::Ubfe => field(|n, by| n >> by),
    }
}

fn combine(op: Rmw, old: u32, value: u32) -> u32 {
    let signed = (old.cast_signed(), value.cast_signed());
    match op {
        Rmw::Add => old.wrapping_add(value),
        Rmw::And => old & value,
        Rmw::Or => old | value,
        Rmw::Xor => old ^ value,
        Rmw::Max => signed.0.max(signed.1).cast_unsigned(),
        Rmw::Min => signed.0.min(signed.1).cast_unsigned(),
        Rmw::Umax => old.max(value),
        Rmw::Umin => old.min(value),
    }
}
