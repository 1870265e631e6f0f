//! Shaders as DXIL: variables become SSA values with phis, or memory.

use super::module::{Binary, Block, Cast, Facts, Module, Predicate, Ty, Val};
use super::shader::{
    ARRAY, Case, Cond, Expr, Float, INPUT_WORDS, OUTPUT_WORDS, Shader, Stmt, THREADS, Unary, WRITTEN, Wave,
    Width,
};

/// The shader as bitcode.
pub fn bitcode(shader: &Shader) -> Vec<u8> {
    let module = Module::new(Facts { minor: shader.minor, threads: THREADS });
    let mut emitter = Emitter::new(shader, module);
    if emitter.block(&shader.body) {
        emitter.m.ret();
    }
    emitter.m.assemble()
}

/// Where control comes from, and what variables are there.
type Edge = (Block, Vec<Val>);

/// A block that is gone to from several places.
struct Join {
    block: Block,
    edges: Vec<Edge>,
}

struct Emitter<'s> {
    shader: &'s Shader,
    m: Module,
    /// What variables are; empty where they are in memory.
    state: Vec<Val>,
    /// Where they are, there.
    slots: Vec<Val>,
    array: Val,
    shared: Val,
    thread: Val,
    input: Val,
    output: Val,
    breaks: Vec<Join>,
    continues: Vec<Join>,
}

impl Emitter<'_> {
    fn new(shader: &Shader, mut m: Module) -> Emitter<'_> {
        let word = m.int(32);
        let shared = m.array(THREADS.into(), word);
        let shared = m.shared(shared);
        let array = m.array(ARRAY.into(), word);
        let array = m.local(array);
        let zero = m.i32(0);
        for n in 0..ARRAY {
            let n = m.i32(n);
            let element = m.element_at(array, n);
            m.store(element, zero);
        }
        let (mut state, mut slots) = (Vec::new(), Vec::new());
        for width in &shader.vars {
            let ty = m.int(width.bits());
            let zero = m.integer(ty, 0);
            if shader.in_memory {
                let slot = m.local(ty);
                m.store(slot, zero);
                slots.push(slot);
            } else {
                state.push(zero);
            }
        }
        let [input, output] = [0, 1].map(|class| {
            let (byte, bool, handle) = (m.int(8), m.int(1), m.handle());
            // Either class has one, the first, whose register is 0 or 1.
            let (register, class) = (m.i32(class as u32), m.integer(byte, class));
            let no = m.integer(bool, 0);
            m.operation("createHandle", 57, &[class, zero, register, no], handle)
        });
        let thread = m.operation("flattenedThreadIdInGroup.i32", 96, &[], word);
        let (breaks, continues) = (Vec::new(), Vec::new());
        Emitter { shader, m, state, slots, array, shared, thread, input, output, breaks, continues }
    }

    fn get(&mut self, var: usize) -> Val {
        match self.slots.get(var) {
            Some(&slot) => self.m.load(slot),
            None => self.state[var],
        }
    }

    fn set(&mut self, var: usize, value: Val) {
        match self.slots.get(var) {
            Some(&slot) => self.m.store(slot, value),
            None => self.state[var] = value,
        }
    }

    fn join(&mut self) -> Join {
        Join { block: self.m.block(), edges: Vec::new() }
    }

    /// An edge from here.
    fn edge(&self) -> Edge {
        (self.m.current(), self.state.clone())
    }

    fn jump_to(&mut self, join: &mut Join) {
        join.edges.push(self.edge());
        self.m.jump(join.block);
    }

    /// Goes on in a join, if control comes to it.
    fn enter(&mut self, join: Join) -> bool {
        let Some(((_, first), others)) = join.edges.split_first() else { return false };
        self.m.go_on_in(join.block);
        self.state.clone_from(first);
        for var in 0..self.state.len() {
            if others.iter().any(|(_, state)| state[var] != first[var]) {
                let ty = self.int(self.shader.vars[var]);
                let incoming = join.edges.iter().map(|(from, state)| (state[var], *from)).collect();
                self.state[var] = self.m.phi(ty, incoming);
            }
        }
        true
    }

    /// Emits statements; whether control comes to their end.
    fn block(&mut self, stmts: &[Stmt]) -> bool {
        stmts.iter().all(|stmt| self.statement(stmt))
    }

    fn statement(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Assign(var, expr) => {
                let value = self.expr(expr, self.shader.vars[*var]);
                self.set(*var, value);
            }
            Stmt::SetElement { index, value } => {
                let (index, value) = (self.below(index, ARRAY), self.word(value));
                let element = self.m.element_at(self.array, index);
                self.m.store(element, value);
            }
            Stmt::Write(expr) => self.write(expr),
            Stmt::If { cond, yes, no } => return self.choice(cond, |e| e.block(yes), |e| e.block(no)),
            Stmt::Loop { counter, rounds, tested_after, body } => {
                return self.repeat(*counter, rounds, *tested_after, body);
            }
            Stmt::Switch { value, cases, others } => return self.switch(value, cases, others),
            Stmt::Break | Stmt::Continue => {
                let around = if matches!(stmt, Stmt::Break) { &mut self.breaks } else { &mut self.continues };
                if let Some(join) = around.last_mut() {
                    join.edges.push((self.m.current(), self.state.clone()));
                    self.m.jump(join.block);
                }
                return false;
            }
            Stmt::Return => {
                self.m.ret();
                return false;
            }
            Stmt::Exchange { value, index, to } => {
                let (value, index) = (self.word(value), self.below(index, THREADS));
                self.put_own(value);
                let other = self.m.element_at(self.shared, index);
                let other = self.m.load(other);
                self.barrier();
                self.set(*to, other);
            }
            Stmt::Combine { cond, op, index, value, to } => {
                self.put_own(self.thread);
                let change = |e: &mut Self| {
                    let (index, value) = (e.below(index, THREADS), e.word(value));
                    let element = e.m.element_at(e.shared, index);
                    e.m.atomic(*op, element, value);
                    true
                };
                self.choice(cond, change, |_| true);
                self.barrier();
                let own = self.m.element_at(self.shared, self.thread);
                let own = self.m.load(own);
                self.barrier();
                self.set(*to, own);
            }
        }
        true
    }

    /// Puts a number into the invocation's own element of the group's array, for others to see.
    fn put_own(&mut self, value: Val) {
        let own = self.m.element_at(self.shared, self.thread);
        self.m.store(own, value);
        self.barrier();
    }

    /// For the group and its memory.
    fn barrier(&mut self) {
        let (mode, void) = (self.m.i32(9), self.m.void());
        self.m.operation("barrier", 80, &[mode], void);
    }

    fn write(&mut self, expr: &Expr) {
        let value = self.word(expr);
        let written = self.get(WRITTEN);
        let last = self.m.i32(OUTPUT_WORDS - 1);
        let at = self.min_max(40, written, last);
        let (words, bytes) = (self.m.i32(OUTPUT_WORDS), self.m.i32(2));
        let base = self.m.binary(Binary::Mul, self.thread, words);
        let at = self.m.binary(Binary::Add, base, at);
        let at = self.m.binary(Binary::Shl, at, bytes);
        let (word, byte, void) = (self.m.int(32), self.m.int(8), self.m.void());
        let (undef, mask) = (self.m.undef(word), self.m.integer(byte, 1));
        let operands = [self.output, at, undef, value, undef, undef, undef, mask];
        self.m.operation("bufferStore.i32", 69, &operands, void);
        let one = self.m.i32(1);
        let written = self.m.binary(Binary::Add, written, one);
        self.set(WRITTEN, written);
    }

    fn choice(
        &mut self,
        cond: &Cond,
        yes: impl FnOnce(&mut Self) -> bool,
        no: impl FnOnce(&mut Self) -> bool,
    ) -> bool {
        let cond = self.cond(cond);
        let blocks = [self.m.block(), self.m.block()];
        let mut after = self.join();
        self.m.branch(cond, blocks[0], blocks[1]);
        let before = self.state.clone();
        self.m.go_on_in(blocks[0]);
        if yes(self) {
            self.jump_to(&mut after);
        }
        self.state = before;
        self.m.go_on_in(blocks[1]);
        if no(self) {
            self.jump_to(&mut after);
        }
        self.enter(after)
    }

    fn repeat(&mut self, counter: usize, rounds: &Expr, tested_after: bool, body: &[Stmt]) -> bool {
        let rounds = self.word(rounds);
        let zero = self.m.i32(0);
        self.set(counter, zero);
        let (header, mut after) = (self.m.block(), self.join());
        let before = self.m.current();
        self.m.jump(header);
        self.m.go_on_in(header);
        let mut changed = vec![counter];
        changes(body, &mut changed);
        changed.sort_unstable();
        changed.dedup();
        let mut phis = Vec::new();
        if self.slots.is_empty() {
            for var in changed {
                let ty = self.int(self.shader.vars[var]);
                self.state[var] = self.m.phi(ty, vec![(self.state[var], before)]);
                phis.push((var, self.state[var]));
            }
        }
        if !tested_after {
            let inside = self.m.block();
            let more = self.more(counter, rounds);
            after.edges.push(self.edge());
            self.m.branch(more, inside, after.block);
            self.m.go_on_in(inside);
        }
        let latch = self.join();
        self.breaks.push(after);
        self.continues.push(latch);
        let live = self.block(body);
        let joins = (self.continues.pop(), self.breaks.pop());
        let (Some(mut latch), Some(mut after)) = joins else { return false };
        if live {
            self.jump_to(&mut latch);
        }
        if self.enter(latch) {
            let (count, one) = (self.get(counter), self.m.i32(1));
            let next = self.m.binary(Binary::Add, count, one);
            self.set(counter, next);
            if tested_after {
                let more = self.more(counter, rounds);
                after.edges.push(self.edge());
                self.m.branch(more, header, after.block);
            } else {
                self.m.jump(header);
            }
            let from = self.m.current();
            for (var, phi) in phis {
                self.m.add_incoming(phi, self.state[var], from);
            }
        }
        self.enter(after)
    }

    fn more(&mut self, counter: usize, rounds: Val) -> Val {
        let count = self.get(counter);
        self.m.compare(Predicate::Ugt, rounds, count)
    }

    fn switch(&mut self, value: &Expr, cases: &[Case], others: &[Stmt]) -> bool {
        let value = self.word(value);
        let from = self.edge();
        let mut entries: Vec<Join> = (0..=cases.len()).map(|_| self.join()).collect();
        entries.iter_mut().for_each(|entry| entry.edges.push(from.clone()));
        let numbered: Vec<(u32, Block)> =
            cases.iter().zip(&entries).map(|(c, e)| (c.number, e.block)).collect();
        self.m.switch(value, entries[cases.len()].block, &numbered);
        let after = self.join();
        self.breaks.push(after);
        let mut entries = entries.into_iter().peekable();
        let bodies = cases.iter().map(|c| (&c.body[..], c.falls_through)).chain([(others, false)]);
        for (body, falls_through) in bodies {
            let Some(entry) = entries.next() else { break };
            self.enter(entry);
            if self.block(body) {
                let edge = self.edge();
                let next = entries.peek_mut().filter(|_| falls_through);
                if let Some(to) = next.or(self.breaks.last_mut()) {
                    to.edges.push(edge);
                    self.m.jump(to.block);
                }
            }
        }
        let after = self.breaks.pop();
        after.is_some_and(|after| self.enter(after))
    }

    fn int(&mut self, width: Width) -> Ty {
        self.m.int(width.bits())
    }

    fn word(&mut self, expr: &Expr) -> Val {
        self.expr(expr, Width::W32)
    }

    /// A number below a power of two.
    fn below(&mut self, expr: &Expr, count: u32) -> Val {
        let (value, mask) = (self.word(expr), self.m.i32(count - 1));
        self.m.binary(Binary::And, value, mask)
    }

    fn min_max(&mut self, number: u32, a: Val, b: Val) -> Val {
        let word = self.m.int(32);
        self.m.operation("binary.i32", number, &[a, b], word)
    }

    fn expr(&mut self, expr: &Expr, width: Width) -> Val {
        let ty = self.int(width);
        match expr {
            Expr::Constant(n) => self.m.integer(ty, *n),
            Expr::Var(var) => self.get(*var),
            Expr::Thread => self.thread,
            Expr::Input(at) => {
                let (at, two) = (self.below(at, INPUT_WORDS), self.m.i32(2));
                let at = self.m.binary(Binary::Shl, at, two);
                let undef = self.m.undef(ty);
                let loaded = self.m.structure("dx.types.ResRet.i32", vec![ty; 5]);
                let loaded = self.m.operation("bufferLoad.i32", 68, &[self.input, at, undef], loaded);
                self.m.member(loaded, 0, ty)
            }
            Expr::Element(at) => {
                let at = self.below(at, ARRAY);
                let element = self.m.element_at(self.array, at);
                self.m.load(element)
            }
            Expr::Binary(op, args) => {
                let (a, b) = (self.expr(&args[0], width), self.expr(&args[1], width));
                self.binary(*op, width, a, b)
            }
            Expr::Unary(op, of) => {
                let of = self.word(of);
                let name = if *op == Unary::Bfrev { "unary.i32" } else { "unaryBits.i32" };
                self.m.operation(name, *op as u32, &[of], ty)
            }
            Expr::MinMax(op, args) => {
                let args = [self.expr(&args[0], width), self.expr(&args[1], width)];
                self.m.operation(&format!("binary.i{}", width.bits()), *op as u32, &args, ty)
            }
            Expr::Ternary(op, args) => {
                let args = [0, 1, 2].map(|n| self.word(&args[n]));
                self.m.operation("tertiary.i32", *op as u32, &args, ty)
            }
            Expr::Bfi(args) => {
                let args = [0, 1, 2, 3].map(|n| self.word(&args[n]));
                self.m.operation("quaternary.i32", 53, &args, ty)
            }
            Expr::Select(parts) => {
                let cond = self.cond(&parts.0);
                let (yes, no) = (self.expr(&parts.1, width), self.expr(&parts.2, width));
                self.m.select(cond, yes, no)
            }
            Expr::Cast { from, sign, of } => {
                let of = self.expr(of, *from);
                let op = match (from.bits() > width.bits(), sign) {
                    (true, _) => Cast::Trunc,
                    (false, true) => Cast::Sext,
                    (false, false) => Cast::Zext,
                };
                self.m.cast(op, of, ty)
            }
            Expr::Float { half, of } => {
                let of = self.float(of, *half);
                self.m.cast(Cast::FpToSi, of, ty)
            }
            Expr::Wave(op, of) => {
                let of = self.word(of);
                self.wave(*op, of)
            }
            Expr::Vector { op, left, right, index } => self.element_of(*op, left, right, index, width),
        }
    }

    /// An operator; what its operands have to be, so that the result is defined, is made of them.
    fn binary(&mut self, op: Binary, width: Width, a: Val, b: Val) -> Val {
        let ty = self.int(width);
        let mut number = |n: u64| self.m.integer(ty, n);
        let b = match op {
            Binary::Shl | Binary::Lshr | Binary::Ashr => {
                let mask = number(u64::from(width.bits() - 1));
                self.m.binary(Binary::And, b, mask)
            }
            Binary::Udiv | Binary::Urem => {
                let one = number(1);
                self.m.binary(Binary::Or, b, one)
            }
            Binary::Sdiv | Binary::Srem => {
                let (mask, one) = (number(15), number(1));
                let low = self.m.binary(Binary::And, b, mask);
                self.m.binary(Binary::Add, low, one)
            }
            _ => b,
        };
        self.m.binary(op, a, b)
    }

    fn element_of(&mut self, op: Binary, left: &[Expr], right: &[Expr], index: &Expr, width: Width) -> Val {
        let index = self.word(index);
        let count = self.m.i32(left.len() as u32);
        let index = self.m.binary(Binary::Urem, index, count);
        let ty = self.int(width);
        let ty = self.m.vector(left.len() as u64, ty);
        let undef = self.m.undef(ty);
        let mut vectors = [undef; 2];
        for (n, (a, b)) in left.iter().zip(right).enumerate() {
            let n = self.m.i32(n as u32);
            for (vector, element) in vectors.iter_mut().zip([a, b]) {
                let element = self.expr(element, width);
                *vector = self.m.insert(*vector, element, n);
            }
        }
        let result = self.m.binary(op, vectors[0], vectors[1]);
        self.m.extract(result, index)
    }

    fn wave(&mut self, op: Wave, of: Val) -> Val {
        let (word, byte, bool) = (self.m.int(32), self.m.int(8), self.m.int(1));
        let one = self.m.i32(1);
        let mut small = |n: u64| self.m.integer(byte, n);
        // The operation, and whether numbers are unsigned.
        let combined = match op {
            Wave::Sum => Some([small(0), small(1)]),
            Wave::Min => Some([small(2), small(0)]),
            Wave::Max => Some([small(3), small(0)]),
            Wave::Umin => Some([small(2), small(1)]),
            Wave::Umax => Some([small(3), small(1)]),
            _ => None,
        };
        if let Some([op, sign]) = combined {
            return self.m.operation("waveActiveOp.i32", 119, &[of, op, sign], word);
        }
        let bits = |m: &mut Module, n: u64| {
            let n = m.integer(byte, n);
            m.operation("waveActiveBit.i32", 120, &[of, n], word)
        };
        match op {
            Wave::And => return bits(&mut self.m, 0),
            Wave::Or => return bits(&mut self.m, 1),
            Wave::Xor => return bits(&mut self.m, 2),
            Wave::Before => {
                let (sum, unsigned) = (self.m.integer(byte, 0), self.m.integer(byte, 1));
                return self.m.operation("wavePrefixOp.i32", 121, &[of, sum, unsigned], word);
            }
            Wave::First => return self.m.operation("waveReadLaneFirst.i32", 118, &[of], word),
            _ => {}
        }
        let low = self.m.binary(Binary::And, of, one);
        let set = self.m.cast(Cast::Trunc, low, bool);
        match op {
            Wave::Ballot => {
                let ballot = self.m.structure("dx.types.fouri32", vec![word; 4]);
                let ballot = self.m.operation("waveActiveBallot", 116, &[set], ballot);
                self.m.member(ballot, 0, word)
            }
            Wave::Count => self.m.operation("waveAllOp", 135, &[set], word),
            _ => self.m.operation("wavePrefixOp", 136, &[set], word),
        }
    }

    fn float(&mut self, float: &Float, half: bool) -> Val {
        let bits = if half { 16 } else { 32 };
        let ty = self.m.float(bits);
        match float {
            Float::Small(of) => {
                let of = self.below(of, if half { 4 } else { 64 });
                self.m.cast(Cast::SiToFp, of, ty)
            }
            Float::Binary(op, args) => {
                let (a, b) = (self.float(&args[0], half), self.float(&args[1], half));
                self.m.binary(*op, a, b)
            }
            Float::Mad(args) => {
                let args = [0, 1, 2].map(|n| self.float(&args[n], half));
                self.m.operation(&format!("tertiary.f{bits}"), 46, &args, ty)
            }
            Float::Max(args) | Float::Min(args) => {
                let number = if matches!(float, Float::Max(_)) { 35 } else { 36 };
                let args = [0, 1].map(|n| self.float(&args[n], half));
                self.m.operation(&format!("binary.f{bits}"), number, &args, ty)
            }
            Float::Abs(of) => {
                let of = self.float(of, half);
                self.m.operation(&format!("unary.f{bits}"), 6, &[of], ty)
            }
        }
    }

    fn cond(&mut self, cond: &Cond) -> Val {
        let bool = self.m.int(1);
        match cond {
            Cond::Compare(width, predicate, args) => {
                let (a, b) = (self.expr(&args[0], *width), self.expr(&args[1], *width));
                self.m.compare(*predicate, a, b)
            }
            Cond::CompareFloats(predicate, args) => {
                let (a, b) = (self.float(&args[0], false), self.float(&args[1], false));
                self.m.compare(*predicate, a, b)
            }
            Cond::Not(of) => {
                let (of, yes) = (self.cond(of), self.m.integer(bool, 1));
                self.m.binary(Binary::Xor, of, yes)
            }
            Cond::And(args) => {
                let (a, b) = (self.cond(&args[0]), self.cond(&args[1]));
                self.m.binary(Binary::And, a, b)
            }
            Cond::Or(args) => {
                let (a, b) = (self.cond(&args[0]), self.cond(&args[1]));
                self.m.binary(Binary::Or, a, b)
            }
            Cond::Any(of) => {
                let of = self.cond(of);
                self.m.operation("waveAnyTrue", 113, &[of], bool)
            }
            Cond::All(of) => {
                let of = self.cond(of);
                self.m.operation("waveAllTrue", 114, &[of], bool)
            }
        }
    }
}

/// Variables that statements change.
fn changes(stmts: &[Stmt], changed: &mut Vec<usize>) {
    for stmt in stmts {
        match stmt {
            Stmt::Assign(var, _) => changed.push(*var),
            Stmt::Write(_) => changed.push(WRITTEN),
            Stmt::Exchange { to, .. } | Stmt::Combine { to, .. } => changed.push(*to),
            Stmt::If { yes, no, .. } => {
                changes(yes, changed);
                changes(no, changed);
            }
            Stmt::Loop { counter, body, .. } => {
                changed.push(*counter);
                changes(body, changed);
            }
            Stmt::Switch { cases, others, .. } => {
                cases.iter().for_each(|case| changes(&case.body, changed));
                changes(others, changed);
            }
            Stmt::SetElement { .. } | Stmt::Break | Stmt::Continue | Stmt::Return => {}
        }
    }
}
