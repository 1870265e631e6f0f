//! The categories with control flow, and typical shaders.

use super::{COUNTER, MAD_DESCRIPTORS, ONE, ROUNDS, Writer, X_ONLY_AT, word};
use xenoglot_pica_shader::decode::decode;
use xenoglot_pica_shader::desc::{Component, Descriptor, Mask, Modifier, Swizzle};
use xenoglot_pica_shader::inst::{
    Condition, ConditionMode, Dst, Index, Opcode, Operands, Relation, Src, SrcReg,
};

/// Words that deeply nested scopes take at most: ten conditionals with two words at the end of the
/// one branch and one in the other.
const DEEP: usize = 10 * 4 + 3;

/// Words of a counted backward jump.
const GUARD: usize = 3;

/// How scopes are made.
#[derive(Clone, Copy)]
struct Style {
    /// The last word of a scope neither ends another scope nor changes the program counter.
    padded: bool,
    /// How many procedures there are.
    procedures: usize,
}

/// A call whose procedure is not placed yet.
struct PendingCall {
    at: usize,
    procedure: usize,
}

impl Writer<'_> {
    /// A main program and procedures. The entry point.
    pub(super) fn structured(&mut self, words: usize, padded: bool) -> u32 {
        let procedures = if words < 24 { 0 } else { 1 + self.rng.below(4) as usize };
        let style = Style { padded, procedures };
        let sizes: Vec<usize> =
            (0..procedures).map(|_| 2 + self.rng.below((words as u32 / 8).min(40)) as usize).collect();
        let main = words - sizes.iter().sum::<usize>();
        let main_first = self.rng.percent(50);
        let mut calls = Vec::new();
        let mut places = Vec::new();
        let mut entry = 0;
        for part in 0..=procedures {
            // The main program is the first or the last part.
            let procedure = if main_first { part.checked_sub(1) } else { Some(part) };
            match procedure.filter(|&n| n < procedures) {
                Some(n) => {
                    places.push((self.code.len(), sizes[n]));
                    self.scope(sizes[n], 2, Some(n), style, &mut calls);
                }
                None => {
                    entry = self.code.len() as u32;
                    let (depth, end) = (if padded { 4 } else { 10 }, self.code.len() + main - 1);
                    if !padded && main > DEEP && self.rng.percent(60) {
                        self.deep();
                    }
                    self.body(end - self.code.len(), depth, None, style, &mut calls);
                    self.put(Opcode::End, Operands::Nullary);
                }
            }
        }
        for call in calls {
            let (start, size) = places[call.procedure];
            let (target, count) = (start as u16, size as u8);
            let (op, operands) = match self.rng.below(3) {
                0 => (Opcode::Call, Operands::Range { target, count }),
                1 => {
                    let cond = self.condition();
                    (Opcode::Callc, Operands::ConditionRange { cond, target, count })
                }
                _ => {
                    let uniform = self.rng.below(16) as u8;
                    (Opcode::Callu, Operands::BoolRange { uniform, target, count })
                }
            };
            self.code[call.at] = word(op, operands, 0);
        }
        entry
    }

    /// `words` words that end a scope.
    fn scope(
        &mut self,
        words: usize,
        depth: u32,
        within: Option<usize>,
        style: Style,
        calls: &mut Vec<PendingCall>,
    ) {
        if !style.padded || words == 0 {
            return self.body(words, depth, within, style, calls);
        }
        self.body(words - 1, depth, within, style, calls);
        if self.rng.percent(50) {
            self.put(Opcode::Nop, Operands::Nullary);
        } else {
            self.arithmetic();
        }
    }

    /// `words` words with scopes nested `depth` deep at most. Procedures call only those after them.
    fn body(
        &mut self,
        words: usize,
        depth: u32,
        within: Option<usize>,
        style: Style,
        calls: &mut Vec<PendingCall>,
    ) {
        let end = self.code.len() + words;
        while self.code.len() < end {
            let left = end - self.code.len();
            match self.rng.below(100) {
                0..14 if depth > 0 && left >= 4 => {
                    let size = 3 + self.rng.below((left as u32 - 3).min(48)) as usize;
                    let otherwise = self.rng.below(size as u32 - 1) as usize;
                    let at = self.code.len();
                    self.put(Opcode::Nop, Operands::Nullary);
                    self.scope(size - 1 - otherwise, depth - 1, within, style, calls);
                    let target = self.here();
                    self.scope(otherwise, depth - 1, within, style, calls);
                    let count = otherwise as u8;
                    let (op, operands) = if self.rng.percent(70) {
                        let cond = self.condition();
                        (Opcode::Ifc, Operands::ConditionRange { cond, target, count })
                    } else {
                        let uniform = self.rng.below(16) as u8;
                        (Opcode::Ifu, Operands::BoolRange { uniform, target, count })
                    };
                    self.code[at] = word(op, operands, 0);
                }
                14..20 if depth > 0 && left >= 4 => {
                    let size = 2 + self.rng.below((left as u32 - 2).min(32)) as usize;
                    let at = self.code.len();
                    self.put(Opcode::Nop, Operands::Nullary);
                    self.scope(size, depth - 1, within, style, calls);
                    let uniform = self.rng.below(4) as u8;
                    self.code[at] =
                        word(Opcode::Loop, Operands::Loop { uniform, target: self.here() - 1 }, 0);
                }
                20..25 => {
                    let first = if style.padded { within.map_or(0, |n| n + 1) } else { 0 };
                    let choice = style.procedures.saturating_sub(first);
                    if choice == 0 {
                        self.arithmetic();
                        continue;
                    }
                    let procedure = first + self.rng.below(choice as u32) as usize;
                    calls.push(PendingCall { at: self.code.len(), procedure });
                    self.put(Opcode::Nop, Operands::Nullary);
                }
                25..27 => {
                    let cond = self.condition();
                    self.put(Opcode::Breakc, Operands::Condition { cond });
                }
                27 if self.rng.percent(20) => self.put(Opcode::End, Operands::Nullary),
                28..38 if !style.padded && left >= DEEP => self.deep(),
                _ => self.arithmetic(),
            }
        }
    }

    /// Scopes of one kind nested about as deep as their stack, at most [`DEEP`] words.
    fn deep(&mut self) {
        let depth = 4 + self.rng.below(7) as usize;
        let first = self.code.len();
        let uniform = self.rng.below(16) as u8;
        match self.rng.below(3) {
            0 => {
                (0..depth).for_each(|_| self.put(Opcode::Nop, Operands::Nullary));
                self.few(1);
                for at in (first..first + depth).rev() {
                    self.few(0);
                    let (target, count) = (self.here(), 1);
                    self.arithmetic();
                    // One uniform: all are taken, or none.
                    self.code[at] = word(Opcode::Ifu, Operands::BoolRange { uniform, target, count }, 0);
                }
            }
            1 => {
                // A call chain; most calls are all there is of their callers, so that returns come together.
                for _ in 0..depth {
                    let target = self.here() + 1;
                    let count = if self.rng.percent(75) { 1 } else { self.rng.below(6) as u8 };
                    self.put(Opcode::Call, Operands::Range { target, count });
                    if self.rng.percent(20) {
                        self.arithmetic();
                    }
                }
                self.arithmetic();
            }
            _ => {
                let depth = depth.min(6);
                (0..depth).for_each(|_| self.put(Opcode::Nop, Operands::Nullary));
                self.few(1);
                for at in (first..first + depth).rev() {
                    let (uniform, target) = (self.rng.below(4) as u8, self.here() - 1);
                    self.code[at] = word(Opcode::Loop, Operands::Loop { uniform, target }, 0);
                    self.few(0);
                }
            }
        }
    }

    /// `least` instructions or up to two more.
    fn few(&mut self, least: u32) {
        (0..least + self.rng.below(3)).for_each(|_| self.arithmetic());
    }

    /// Moves ranges and puts jumps into a structured program.
    pub(super) fn disturb(&mut self) {
        let words = self.code.len() as u32;
        for at in 0..self.code.len() {
            let Ok(mut inst) = decode(at * 4, self.code[at]) else { continue };
            if inst.op == Opcode::End {
                continue;
            }
            if self.rng.percent(4) {
                let ops = [Opcode::Jmpc, Opcode::Jmpu, Opcode::Jmpc, Opcode::Breakc, Opcode::Call];
                let op = ops[self.rng.below(ops.len() as u32) as usize];
                self.code[at] = word(op, self.operands(op, words), 0);
                continue;
            }
            if !self.rng.percent(25) {
                continue;
            }
            let near = |w: &mut Self, n: u16| (n + w.rng.below(5) as u16).saturating_sub(2) & 0xfff;
            match &mut inst.operands {
                Operands::Range { target, count }
                | Operands::ConditionRange { target, count, .. }
                | Operands::BoolRange { target, count, .. } => {
                    *target = near(self, *target);
                    *count = near(self, (*count).into()) as u8;
                }
                Operands::Loop { target, .. } => *target = near(self, *target),
                _ => continue,
            }
            self.code[at] = word(inst.op, inst.operands, inst.ignored);
        }
    }

    /// Conditionals, loops and exits made of jumps. The entry point.
    pub(super) fn jumping(&mut self, words: usize) -> u32 {
        let mut exits = Vec::new();
        self.jump_body(words - 1, 5, &mut exits);
        let end = self.here();
        exits.into_iter().for_each(|at| self.jump_from(at, end));
        self.put(Opcode::End, Operands::Nullary);
        0
    }

    /// A JMPC or JMPU at `at` to `target`.
    fn jump_from(&mut self, at: usize, target: u16) {
        let (op, operands) = if self.rng.percent(75) {
            (Opcode::Jmpc, Operands::ConditionTarget { cond: self.condition(), target })
        } else {
            let (uniform, value) = (self.rng.below(16) as u8, self.rng.percent(50));
            (Opcode::Jmpu, Operands::BoolTarget { uniform, value, target })
        };
        self.code[at] = word(op, operands, 0);
    }

    /// Takes a round from the counter and jumps back if there was one.
    fn guarded_jump(&mut self, target: u16) {
        let counter = Src::plain(SrcReg::Temp(COUNTER));
        let (one, rounds) = (Src::plain(SrcReg::Const(ONE)), Src::plain(SrcReg::Const(ROUNDS)));
        let desc = X_ONLY_AT;
        self.put(Opcode::Add, Operands::Binary { dst: Dst::Temp(COUNTER), src: [one, counter], desc });
        let (x, y) = (Relation::Gt, self.relation());
        self.put(Opcode::Cmp, Operands::Compare { src: [rounds, counter], x, y, desc });
        let cond = Condition { x: true, y: false, mode: ConditionMode::X };
        self.put(Opcode::Jmpc, Operands::ConditionTarget { cond, target });
    }

    /// `words` words; `exits` collects jumps out of the innermost loop.
    fn jump_body(&mut self, words: usize, depth: u32, exits: &mut Vec<usize>) {
        let end = self.code.len() + words;
        while self.code.len() < end {
            let left = end - self.code.len();
            match self.rng.below(100) {
                0..12 if depth > 0 && left >= 3 => {
                    let size = 1 + self.rng.below((left as u32 - 2).min(32)) as usize;
                    let at = self.code.len();
                    self.put(Opcode::Nop, Operands::Nullary);
                    self.jump_body(size, depth - 1, exits);
                    let target = self.here();
                    self.jump_from(at, target);
                }
                12..17 if depth > 0 && left >= GUARD + 2 => {
                    let size = 1 + self.rng.below((left - GUARD - 1).min(32) as u32) as usize;
                    let (header, mut inner) = (self.here(), Vec::new());
                    self.jump_body(size, depth - 1, &mut inner);
                    self.guarded_jump(header);
                    let after = self.here();
                    inner.into_iter().for_each(|at| self.jump_from(at, after));
                }
                17..19 => {
                    exits.push(self.code.len());
                    self.put(Opcode::Nop, Operands::Nullary);
                }
                _ => self.arithmetic(),
            }
        }
    }

    /// Jumps from anywhere to anywhere. The entry point.
    pub(super) fn irreducible(&mut self, words: usize) -> u32 {
        let mut jumps = Vec::new();
        // Where a jump may go: not between the words of a guard, which would go round uncounted.
        let mut labels = vec![0u16];
        while self.code.len() + 1 < words {
            let left = words - 1 - self.code.len();
            labels.push(self.here());
            match self.rng.below(100) {
                0..8 if left >= GUARD => {
                    let target = labels[self.rng.below(labels.len() as u32) as usize];
                    self.guarded_jump(target);
                }
                8..24 => {
                    jumps.push(self.code.len());
                    self.put(Opcode::Nop, Operands::Nullary);
                }
                _ => self.arithmetic(),
            }
        }
        labels.push(self.here());
        self.put(Opcode::End, Operands::Nullary);
        for at in jumps {
            // One in fifty may go back unguarded.
            let first = labels.partition_point(|&l| usize::from(l) <= at);
            let from = if self.rng.percent(2) { 0 } else { first };
            let target = labels[from + self.rng.below((labels.len() - from) as u32) as usize];
            self.jump_from(at, target);
        }
        0
    }

    /// A vertex shader. v0 is the position, v1 the normal, v2 texture coordinates, v3 bone numbers, v4 their weights;
    /// c0 to c3 the projection, c4 and c5 limits, c8 on lights, c30 on bones. The entry point.
    pub(super) fn typical(&mut self, words: usize) -> u32 {
        use Component::{X, Y, Z};
        let (v, r, c) = (SrcReg::Input, SrcReg::Temp, SrcReg::Const);
        let mut units = Units { w: self, words: words - 1 };
        let mut position = v(0);
        if words > 48 {
            let bones = if words > 96 { 4 } else { 2 };
            for (bone, weight) in Component::ALL.into_iter().enumerate().take(bones) {
                units.mova(v(3), weight);
                for (row, lane) in [X, Y, Z].into_iter().enumerate() {
                    let matrix = Operand { index: Index::A0x, ..all(c(30 + row as u8)) };
                    units.put(Opcode::Dp4, Dst::Temp(5), &[lane], &[matrix, all(v(0))]);
                }
                let sum = all(if bone == 0 { v(5) } else { r(6) });
                units.put(Opcode::Mad, Dst::Temp(6), &Component::ALL, &[all(r(5)), one(v(4), weight), sum]);
            }
            position = r(6);
        }
        for (row, lane) in Component::ALL.into_iter().enumerate() {
            units.put(Opcode::Dp4, Dst::Output(0), &[lane], &[all(c(row as u8)), all(position)]);
        }
        units.put(Opcode::Mov, Dst::Output(2), &[X, Y], &[all(v(2))]);
        let mut light = 0;
        while units.w.code.len() + 1 < words {
            let at = 8 + 2 * (light % 8);
            units.put(Opcode::Add, Dst::Temp(1), &[X, Y, Z], &[all(c(at)), all(position)]);
            units.put(Opcode::Dp3, Dst::Temp(2), &[X], &[all(r(1)), all(r(1))]);
            units.put(Opcode::Rsq, Dst::Temp(2), &[X], &[all(r(2))]);
            units.put(Opcode::Mul, Dst::Temp(1), &[X, Y, Z], &[all(r(1)), one(r(2), X)]);
            units.put(Opcode::Dp3, Dst::Temp(3), &[X], &[all(r(1)), all(v(1))]);
            units.put(Opcode::Max, Dst::Temp(3), &[X], &[all(c(4)), all(r(3))]);
            units.put(Opcode::Mad, Dst::Temp(4), &Component::ALL, &[one(r(3), X), all(c(at + 1)), all(r(4))]);
            units.put(Opcode::Min, Dst::Temp(4), &Component::ALL, &[all(c(5)), all(r(4))]);
            units.put(Opcode::Mov, Dst::Output(1), &Component::ALL, &[all(r(4))]);
            light = light.wrapping_add(1);
        }
        self.put(Opcode::End, Operands::Nullary);
        0
    }
}

/// A source: register, index, selection.
#[derive(Clone, Copy)]
struct Operand {
    reg: SrcReg,
    index: Index,
    swizzle: Swizzle,
}

/// All components of a register.
fn all(reg: SrcReg) -> Operand {
    Operand { reg, index: Index::None, swizzle: Swizzle::IDENTITY }
}

/// One component of a register, four times.
fn one(reg: SrcReg, c: Component) -> Operand {
    Operand { swizzle: Swizzle::new([c; 4]), ..all(reg) }
}

/// Writes instructions as long as there is room.
struct Units<'w, 'r> {
    w: &'w mut Writer<'r>,
    words: usize,
}

impl Units<'_, '_> {
    fn descriptor(&mut self, lanes: &[Component], sources: &[Operand]) -> u8 {
        let mask = lanes.iter().fold(Mask::NONE, |mask, &c| mask.with(c));
        let mut modifiers = [Modifier::PLAIN; 3];
        for (modifier, source) in modifiers.iter_mut().zip(sources) {
            modifier.swizzle = source.swizzle;
        }
        self.w.descriptor(Descriptor::new(mask, modifiers), MAD_DESCRIPTORS)
    }

    fn put(&mut self, op: Opcode, dst: Dst, lanes: &[Component], sources: &[Operand]) {
        if self.w.code.len() >= self.words {
            return;
        }
        let desc = self.descriptor(lanes, sources);
        let src = |s: Operand| Src { reg: s.reg, index: s.index };
        let operands = match *sources {
            [a] => Operands::Unary { dst, src: src(a), desc },
            [a, b] => Operands::Binary { dst, src: [src(a), src(b)], desc },
            [a, b, c] => Operands::Mad { dst, src: [src(a), src(b), src(c)], desc },
            _ => return,
        };
        self.w.put(op, operands);
    }

    /// `mova a0.x, reg.c`
    fn mova(&mut self, reg: SrcReg, c: Component) {
        if self.w.code.len() < self.words {
            let desc = self.descriptor(&[Component::X], &[one(reg, c)]);
            self.w.put(Opcode::Mova, Operands::MoveAddress { src: Src::plain(reg), desc });
        }
    }
}
