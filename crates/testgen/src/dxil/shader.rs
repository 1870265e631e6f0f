//! Random compute shaders as trees: what a compiler of HLSL makes DXIL of.

use super::module::{Binary, Predicate, Rmw};
use crate::rng::Rng;

/// Invocations of the group.
pub const THREADS: u32 = 32;
/// Words of the buffer that is read.
pub const INPUT_WORDS: u32 = 64;
/// Words that an invocation may write; what it writes beyond them goes to the last one.
pub const OUTPUT_WORDS: u32 = 64;
/// Elements of each invocation's own array.
pub const ARRAY: u32 = 4;

/// Variables of an invocation, by number. The first one counts the words that it has written.
pub(super) const WRITTEN: usize = 0;

/// Bits of the integers of a variable or an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    W16 = 16,
    W32 = 32,
    W64 = 64,
}

impl Width {
    pub const ALL: [Width; 3] = [Width::W16, Width::W32, Width::W64];

    pub fn bits(self) -> u32 {
        self as u32
    }

    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The number with its sign in all bits above.
    pub fn signed(self, value: u64) -> i64 {
        (value << (64 - self.bits())) as i64 >> (64 - self.bits())
    }
}

/// Operations on one integer of 32 bits, by their numbers in DXIL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unary {
    Bfrev = 30,
    Countbits = 31,
    FirstbitLo = 32,
    FirstbitHi = 33,
    FirstbitSHi = 34,
}

/// Operations on two integers, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MinMax {
    Imax = 37,
    Imin = 38,
    Umax = 39,
    Umin = 40,
}

/// Operations on three integers of 32 bits, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ternary {
    Imad = 48,
    Umad = 49,
    Ibfe = 51,
    Ubfe = 52,
}

/// What the active lanes of a wave compute together of a number of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wave {
    Sum,
    Min,
    Max,
    Umin,
    Umax,
    And,
    Or,
    Xor,
    /// The sum of the active lanes before this one.
    Before,
    /// What the first active lane has.
    First,
    /// The active lanes of which the lowest bit is set, as bits.
    Ballot,
    /// The number of these lanes.
    Count,
    /// The number of these lanes before this one.
    CountBefore,
}

/// An integer expression.
#[derive(Clone, Debug)]
pub(super) enum Expr {
    Constant(u64),
    Var(usize),
    /// The invocation's number.
    Thread,
    /// A word of the buffer that is read.
    Input(Box<Expr>),
    /// An element of the invocation's array.
    Element(Box<Expr>),
    /// Shifts take the low bits of their distance, divisions divide by odd numbers, signed ones by numbers from 1 to 16.
    Binary(Binary, Box<[Expr; 2]>),
    Unary(Unary, Box<Expr>),
    MinMax(MinMax, Box<[Expr; 2]>),
    Ternary(Ternary, Box<[Expr; 3]>),
    /// Width, offset, what is put in, into what.
    Bfi(Box<[Expr; 4]>),
    Select(Box<(Cond, Expr, Expr)>),
    /// An expression of another width, with zeros or signs above.
    Cast {
        from: Width,
        sign: bool,
        of: Box<Expr>,
    },
    /// A float of 32 or 16 bits, all of which are small integers, as an integer.
    Float {
        half: bool,
        of: Box<Float>,
    },
    Wave(Wave, Box<Expr>),
    /// An element of a vector, which is computed of two others. Shader model 6.9 has such.
    Vector {
        op: Binary,
        left: Vec<Expr>,
        right: Vec<Expr>,
        index: Box<Expr>,
    },
}

/// A float expression. Results are exact in any order of rounding: leaves are integers of a few bits.
#[derive(Clone, Debug)]
pub(super) enum Float {
    /// The low bits of an integer: 6 for floats of 32 bits, 2 for those of 16.
    Small(Expr),
    Binary(Binary, Box<[Float; 2]>),
    /// `FMad`: the product of two and a sum.
    Mad(Box<[Float; 3]>),
    Max(Box<[Float; 2]>),
    Min(Box<[Float; 2]>),
    Abs(Box<Float>),
}

/// A condition.
#[derive(Clone, Debug)]
pub(super) enum Cond {
    Compare(Width, Predicate, Box<[Expr; 2]>),
    CompareFloats(Predicate, Box<[Float; 2]>),
    Not(Box<Cond>),
    And(Box<[Cond; 2]>),
    Or(Box<[Cond; 2]>),
    /// Whether it holds for an active lane of the wave.
    Any(Box<Cond>),
    /// Whether it holds for all active lanes of the wave.
    All(Box<Cond>),
}

/// A case of a switch.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub number: u32,
    pub body: Vec<Stmt>,
    /// Whether it goes on in the next case, or in what stands for all others.
    pub falls_through: bool,
}

/// A statement.
#[derive(Clone, Debug)]
pub(super) enum Stmt {
    Assign(usize, Expr),
    SetElement {
        index: Expr,
        value: Expr,
    },
    /// Writes a word behind those that the invocation has written.
    Write(Expr),
    If {
        cond: Cond,
        yes: Vec<Stmt>,
        no: Vec<Stmt>,
    },
    /// A loop that `counter` counts, which nothing else changes; tested before each round, or after it.
    Loop {
        counter: usize,
        rounds: Expr,
        tested_after: bool,
        body: Vec<Stmt>,
    },
    Switch {
        value: Expr,
        cases: Vec<Case>,
        others: Vec<Stmt>,
    },
    /// Leaves a loop or a switch.
    Break,
    Continue,
    Return,
    /// Each invocation puts a number into the group's array and takes that of another. Between are barriers.
    Exchange {
        value: Expr,
        index: Expr,
        to: usize,
    },
    /// Invocations that `cond` holds for change an element of the group's array, which held invocations' own numbers;
    /// then each takes its own. Between are barriers.
    Combine {
        cond: Cond,
        op: Rmw,
        index: Expr,
        value: Expr,
        to: usize,
    },
}

/// A shader.
#[derive(Clone, Debug)]
pub struct Shader {
    /// Minor version of its shader model.
    pub minor: u32,
    /// Whether variables are in memory, as a compiler that does not optimise has them.
    pub(super) in_memory: bool,
    pub(super) vars: Vec<Width>,
    pub(super) body: Vec<Stmt>,
}

/// What may be generated at a place.
#[derive(Clone, Copy)]
struct Place {
    depth: u32,
    /// Whether all invocations come here together.
    uniform: bool,
    breakable: bool,
    in_loop: bool,
    /// Whether an invocation may end here: not inside of what others do together later.
    may_return: bool,
}

struct Generator<'r> {
    rng: &'r mut Rng,
    minor: u32,
    vars: Vec<Width>,
    /// Variables that statements may change; behind them are counters.
    named: usize,
    /// Counters of the loops around.
    counters: Vec<usize>,
    statements: u32,
    /// Whether some invocation may have ended.
    returned: bool,
}

/// Statements of a shader at most.
const MOST: u32 = 40;

impl Shader {
    /// A random shader.
    pub fn random(rng: &mut Rng) -> Shader {
        let minor = *rng.pick(&[2, 2, 6, 9]).unwrap_or(&2);
        let in_memory = rng.percent(30);
        let mut vars = vec![Width::W32];
        for n in 0..4 + rng.below(4) {
            vars.push(match rng.below(100) {
                0..60 => Width::W32,
                _ if n == 0 => Width::W32,
                60..80 => Width::W64,
                _ => Width::W16,
            });
        }
        let named = vars.len();
        let mut g =
            Generator { rng, minor, vars, named, counters: Vec::new(), statements: 0, returned: false };
        let mut body = Vec::new();
        for var in 1..named {
            let width = g.vars[var];
            body.push(Stmt::Assign(var, g.expr(width, 2, false)));
        }
        let top = Place { depth: 0, uniform: true, breakable: false, in_loop: false, may_return: true };
        let length = 4 + g.rng.below(6);
        body.extend(g.block(top, length));
        // What variables are at the end shows.
        for var in 1..named {
            body.push(Stmt::Write(g.narrow(var)));
        }
        Shader { minor, in_memory, vars: g.vars, body }
    }
}

impl Generator<'_> {
    fn block(&mut self, place: Place, length: u32) -> Vec<Stmt> {
        let mut block = Vec::new();
        for _ in 0..length {
            if self.statements >= MOST {
                break;
            }
            self.statements += 1;
            let stmt = self.statement(place);
            let ends = matches!(stmt, Stmt::Break | Stmt::Continue | Stmt::Return);
            block.push(stmt);
            if ends {
                break;
            }
        }
        block
    }

    fn statement(&mut self, place: Place) -> Stmt {
        let nested = place.depth < 4;
        let inner = Place { depth: place.depth + 1, uniform: false, ..place };
        match self.rng.below(100) {
            0..24 if nested => {
                let (yes, no) = (1 + self.rng.below(3), self.rng.below(3));
                Stmt::If { cond: self.cond(2, true), yes: self.block(inner, yes), no: self.block(inner, no) }
            }
            24..42 if nested => self.loop_of(place, inner),
            42..50 if nested => self.switch(inner),
            50..55 if place.breakable && !place.uniform => Stmt::Break,
            55..59 if place.in_loop && !place.uniform => Stmt::Continue,
            59..61 if place.may_return && !place.uniform => {
                self.returned = true;
                Stmt::Return
            }
            61..67 if place.uniform && !self.returned => {
                let to = self.word_var();
                let (value, index) = (self.word(), self.word());
                Stmt::Exchange { value, index, to }
            }
            67..72 if place.uniform && !self.returned => {
                let all = [Rmw::Add, Rmw::And, Rmw::Or, Rmw::Xor, Rmw::Max, Rmw::Min, Rmw::Umax, Rmw::Umin];
                let op = *self.rng.pick(&all).unwrap_or(&Rmw::Add);
                let to = self.word_var();
                let cond = self.cond(1, true);
                Stmt::Combine { cond, op, index: self.word(), value: self.word(), to }
            }
            72..82 => Stmt::Write(self.expr(Width::W32, 3, true)),
            82..87 => Stmt::SetElement { index: self.word(), value: self.expr(Width::W32, 2, true) },
            _ => {
                let var = self.assignable();
                let width = self.vars[var];
                Stmt::Assign(var, self.expr(width, 3, true))
            }
        }
    }

    fn loop_of(&mut self, place: Place, inner: Place) -> Stmt {
        let counter = self.vars.len();
        self.vars.push(Width::W32);
        // Rounds that all invocations have alike may hold what they do together.
        let uniform = place.uniform && self.rng.percent(40);
        let rounds = match uniform {
            true => Expr::Constant(u64::from(1 + self.rng.below(3))),
            false => {
                let of = self.expr(Width::W32, 2, false);
                Expr::Binary(Binary::And, Box::new([of, Expr::Constant(3)]))
            }
        };
        let inside = match uniform {
            // Nobody leaves it before the others.
            true => Place { uniform, breakable: false, in_loop: false, may_return: false, ..inner },
            false => Place { breakable: true, in_loop: true, ..inner },
        };
        self.counters.push(counter);
        let length = 1 + self.rng.below(4);
        let body = self.block(inside, length);
        self.counters.pop();
        Stmt::Loop { counter, rounds, tested_after: self.rng.percent(50), body }
    }

    fn switch(&mut self, inner: Place) -> Stmt {
        let inside = Place { breakable: true, ..inner };
        let of = self.expr(Width::W32, 2, true);
        let value = Expr::Binary(Binary::And, Box::new([of, Expr::Constant(7)]));
        let mut numbers: Vec<u32> = (0..8).filter(|_| self.rng.percent(40)).collect();
        if numbers.is_empty() {
            numbers.push(0);
        }
        let mut cases = Vec::new();
        for number in numbers {
            let length = self.rng.below(3);
            cases.push(Case {
                number,
                body: self.block(inside, length),
                falls_through: self.rng.percent(30),
            });
        }
        let length = self.rng.below(3);
        Stmt::Switch { value, cases, others: self.block(inside, length) }
    }

    fn assignable(&mut self) -> usize {
        1 + self.rng.below(self.named as u32 - 1) as usize
    }

    /// A variable that statements may change, of 32 bits: the first one is.
    fn word_var(&mut self) -> usize {
        let var = self.assignable();
        if self.vars[var] == Width::W32 { var } else { 1 }
    }

    fn word(&mut self) -> Expr {
        self.expr(Width::W32, 2, true)
    }

    /// A variable as 32 bits.
    fn narrow(&mut self, var: usize) -> Expr {
        match self.vars[var] {
            Width::W32 => Expr::Var(var),
            from => Expr::Cast { from, sign: self.rng.percent(50), of: Box::new(Expr::Var(var)) },
        }
    }

    fn pick<T: Copy>(&mut self, first: T, rest: &[T]) -> T {
        let n = self.rng.below(rest.len() as u32 + 1) as usize;
        if n == 0 { first } else { rest[n - 1] }
    }

    /// An expression; `waves` says whether lanes of a wave may work together in it.
    fn expr(&mut self, width: Width, depth: u32, waves: bool) -> Expr {
        if depth == 0 || self.rng.percent(15) {
            return self.leaf(width);
        }
        let next = depth - 1;
        let word = width == Width::W32;
        match self.rng.below(100) {
            0..38 => {
                let op = self.pick(Binary::Add, BINARY);
                Expr::Binary(op, Box::new([self.expr(width, next, waves), self.expr(width, next, waves)]))
            }
            38..46 => {
                let op = self.pick(MinMax::Imax, &[MinMax::Imin, MinMax::Umax, MinMax::Umin]);
                Expr::MinMax(op, Box::new([self.expr(width, next, waves), self.expr(width, next, waves)]))
            }
            46..54 => {
                let cond = self.cond(next, waves);
                Expr::Select(Box::new((cond, self.expr(width, next, waves), self.expr(width, next, waves))))
            }
            54..62 => {
                let from = self.pick(Width::W16, &[Width::W32, Width::W64]);
                let of = Box::new(self.expr(from, next, waves));
                Expr::Cast { from, sign: self.rng.percent(50), of }
            }
            62..68 if word => {
                let op = self.pick(
                    Unary::Bfrev,
                    &[Unary::Countbits, Unary::FirstbitLo, Unary::FirstbitHi, Unary::FirstbitSHi],
                );
                Expr::Unary(op, Box::new(self.expr(width, next, waves)))
            }
            68..74 if word => {
                let op = self.pick(Ternary::Imad, &[Ternary::Umad, Ternary::Ibfe, Ternary::Ubfe]);
                Expr::Ternary(op, Box::new([(); 3].map(|()| self.expr(width, next, waves))))
            }
            74..77 if word => Expr::Bfi(Box::new([(); 4].map(|()| self.expr(width, next, waves)))),
            77..84 if word => {
                let half = self.rng.percent(40);
                Expr::Float { half, of: Box::new(self.float(next, waves)) }
            }
            84..90 if word => Expr::Element(Box::new(self.expr(width, next, waves))),
            90..95 if word && waves => {
                let op = self.pick(Wave::Sum, WAVES);
                // Reading lanes that are active alone, without others in between.
                Expr::Wave(op, Box::new(self.expr(width, next, false)))
            }
            95.. if self.minor >= 9 && width != Width::W64 => {
                let lanes = 2 + self.rng.below(5);
                let op =
                    self.pick(Binary::Add, &[Binary::Sub, Binary::Mul, Binary::Xor, Binary::And, Binary::Or]);
                let left = (0..lanes).map(|_| self.expr(width, next.min(1), waves)).collect();
                let right = (0..lanes).map(|_| self.leaf(width)).collect();
                Expr::Vector { op, left, right, index: Box::new(self.expr(Width::W32, next, waves)) }
            }
            _ => self.leaf(width),
        }
    }

    fn leaf(&mut self, width: Width) -> Expr {
        let fit: Vec<usize> =
            (1..self.named).chain(self.counters.iter().copied()).filter(|&v| self.vars[v] == width).collect();
        match (self.rng.below(100), self.rng.pick(&fit)) {
            (0..50, Some(&var)) => Expr::Var(var),
            (0..70, _) if width == Width::W32 => {
                let at = match self.rng.percent(50) {
                    true => Expr::Thread,
                    false => Expr::Constant(self.rng.below(INPUT_WORDS).into()),
                };
                Expr::Input(Box::new(at))
            }
            (70..80, _) if width == Width::W32 => Expr::Thread,
            _ => {
                let small = u64::from(self.rng.below(9)).wrapping_sub(2);
                let any = self.rng.next_u64();
                Expr::Constant(if self.rng.percent(70) { small } else { any } & width.mask())
            }
        }
    }

    fn float(&mut self, depth: u32, waves: bool) -> Float {
        if depth == 0 || self.rng.percent(20) {
            return Float::Small(self.expr(Width::W32, depth.min(1), waves));
        }
        let next = depth - 1;
        match self.rng.below(8) {
            0..4 => {
                let op = self.pick(Binary::Add, &[Binary::Sub, Binary::Mul]);
                Float::Binary(op, Box::new([(); 2].map(|()| self.float(next, waves))))
            }
            4 => Float::Mad(Box::new([(); 3].map(|()| self.float(next, waves)))),
            5 => Float::Max(Box::new([(); 2].map(|()| self.float(next, waves)))),
            6 => Float::Min(Box::new([(); 2].map(|()| self.float(next, waves)))),
            _ => Float::Abs(Box::new(self.float(next, waves))),
        }
    }

    fn cond(&mut self, depth: u32, waves: bool) -> Cond {
        let next = depth.saturating_sub(1);
        match self.rng.below(100) {
            0..10 if depth > 0 => Cond::Not(Box::new(self.cond(next, waves))),
            10..20 if depth > 0 => Cond::And(Box::new([(); 2].map(|()| self.cond(next, waves)))),
            20..30 if depth > 0 => Cond::Or(Box::new([(); 2].map(|()| self.cond(next, waves)))),
            30..34 if waves => Cond::Any(Box::new(self.cond(next, false))),
            34..38 if waves => Cond::All(Box::new(self.cond(next, false))),
            38..46 => {
                let predicate = self.pick(Predicate::Folt, &[Predicate::Foeq]);
                Cond::CompareFloats(predicate, Box::new([(); 2].map(|()| self.float(next.min(1), waves))))
            }
            _ => {
                let width = self.pick(Width::W32, &Width::ALL);
                let predicate = self.pick(
                    Predicate::Eq,
                    &[Predicate::Ne, Predicate::Ugt, Predicate::Ule, Predicate::Sgt, Predicate::Slt],
                );
                Cond::Compare(width, predicate, Box::new([(); 2].map(|()| self.expr(width, next, waves))))
            }
        }
    }
}

const BINARY: &[Binary] = &[
    Binary::Sub,
    Binary::Mul,
    Binary::Udiv,
    Binary::Sdiv,
    Binary::Urem,
    Binary::Srem,
    Binary::Shl,
    Binary::Lshr,
    Binary::Ashr,
    Binary::And,
    Binary::Or,
    Binary::Xor,
];

const WAVES: &[Wave] = &[
    Wave::Min,
    Wave::Max,
    Wave::Umin,
    Wave::Umax,
    Wave::And,
    Wave::Or,
    Wave::Xor,
    Wave::Before,
    Wave::First,
    Wave::Ballot,
    Wave::Count,
    Wave::CountBefore,
];
