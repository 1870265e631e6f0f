//! Shaders of any size, to see how the cost of translation grows.

use super::module::{Binary, Facts, Module, Predicate, Val};
use std::fmt;

/// What there is much of in a shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// Conditions in a row, two of whose three blocks each change a value.
    Branches,
    /// Conditions inside each other.
    Nested,
    /// Loops in a row, of two blocks each.
    Loops,
    /// Loops inside each other, of two blocks each.
    NestedLoops,
    /// Cases of one switch, of a block each.
    Cases,
}

impl Growth {
    /// All of them.
    pub const ALL: [Growth; 5] =
        [Growth::Branches, Growth::Nested, Growth::Loops, Growth::NestedLoops, Growth::Cases];

    /// The bitcode of a shader with about so many blocks.
    pub fn bitcode(self, blocks: u32) -> Vec<u8> {
        let mut shader = Shader::new();
        let start = shader.start;
        let value = match self {
            Growth::Branches => (0..blocks / 3).fold(start, |value, n| shader.branch(value, n)),
            Growth::Nested => shader.nested(start, blocks / 3),
            Growth::Loops => (0..blocks / 2).fold(start, |value, n| shader.loops(value, 1, n)),
            Growth::NestedLoops => shader.loops(start, blocks / 2, 0),
            Growth::Cases => shader.cases(start, blocks),
        };
        shader.finish(value)
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Growth::Branches => "branches",
            Growth::Nested => "nested branches",
            Growth::Loops => "loops",
            Growth::NestedLoops => "nested loops",
            Growth::Cases => "cases of a switch",
        })
    }
}

struct Shader {
    m: Module,
    /// The invocation's number, which the value begins with.
    start: Val,
}

/// Invocations of the group.
const THREADS: u32 = 32;

impl Shader {
    fn new() -> Shader {
        let mut m = Module::new(Facts { minor: 0, threads: THREADS });
        let word = m.int(32);
        let start = m.operation("flattenedThreadIdInGroup.i32", 96, &[], word);
        Shader { m, start }
    }

    /// Another value, by a constant.
    fn changed(&mut self, value: Val, n: u32) -> Val {
        let n = self.m.i32(n.wrapping_mul(0x9e37_79b9) | 1);
        self.m.binary(Binary::Mul, value, n)
    }

    /// Whether a bit of the value is set.
    fn bit(&mut self, value: Val, n: u32) -> Val {
        let (bit, zero) = (self.m.i32(1 << (n % 32)), self.m.i32(0));
        let masked = self.m.binary(Binary::And, value, bit);
        self.m.compare(Predicate::Ne, masked, zero)
    }

    fn branch(&mut self, value: Val, n: u32) -> Val {
        let condition = self.bit(value, n);
        let [yes, no, after] = [(); 3].map(|()| self.m.block());
        self.m.branch(condition, yes, no);
        self.m.go_on_in(yes);
        let left = self.changed(value, n);
        self.m.jump(after);
        self.m.go_on_in(no);
        let right = self.m.binary(Binary::Xor, value, self.start);
        self.m.jump(after);
        self.m.go_on_in(after);
        let word = self.m.int(32);
        self.m.phi(word, vec![(left, yes), (right, no)])
    }

    fn nested(&mut self, start: Val, depth: u32) -> Val {
        let word = self.m.int(32);
        let mut open = Vec::new();
        let mut value = start;
        for n in 0..depth {
            let condition = self.bit(value, n);
            let [yes, no] = [(); 2].map(|()| self.m.block());
            self.m.branch(condition, yes, no);
            open.push((no, value));
            self.m.go_on_in(yes);
            value = self.changed(value, n);
        }
        while let Some((no, before)) = open.pop() {
            let (from, after) = (self.m.current(), self.m.block());
            self.m.jump(after);
            self.m.go_on_in(no);
            let other = self.m.binary(Binary::Xor, before, start);
            self.m.jump(after);
            self.m.go_on_in(after);
            value = self.m.phi(word, vec![(value, from), (other, no)]);
        }
        value
    }

    /// Loops of two rounds, each in the one before; what changes the value, and the test, come after the loop inside.
    fn loops(&mut self, start: Val, depth: u32, first: u32) -> Val {
        let (word, zero, one) = (self.m.int(32), self.m.i32(0), self.m.i32(1));
        let mut open = Vec::new();
        let mut value = start;
        for _ in 0..depth {
            let (before, header) = (self.m.current(), self.m.block());
            self.m.jump(header);
            self.m.go_on_in(header);
            value = self.m.phi(word, vec![(value, before)]);
            let round = self.m.phi(word, vec![(zero, before)]);
            open.push((header, value, round));
        }
        let mut latch = self.m.block();
        self.m.jump(latch);
        while let Some((header, phi, round)) = open.pop() {
            self.m.go_on_in(latch);
            value = self.changed(value, first + open.len() as u32);
            value = self.m.binary(Binary::Add, value, round);
            let next = self.m.binary(Binary::Add, round, one);
            let more = self.m.compare(Predicate::Eq, next, one);
            self.m.add_incoming(phi, value, latch);
            self.m.add_incoming(round, next, latch);
            // Where the loop around goes on, or what comes after the last one.
            let after = self.m.block();
            self.m.branch(more, header, after);
            latch = after;
        }
        self.m.go_on_in(latch);
        value
    }

    fn cases(&mut self, value: Val, count: u32) -> Val {
        let (word, after, others) = (self.m.int(32), self.m.block(), self.m.block());
        let cases: Vec<_> = (0..count).map(|n| (n, self.m.block())).collect();
        self.m.switch(value, others, &cases);
        let mut incoming = vec![(value, others)];
        self.m.go_on_in(others);
        self.m.jump(after);
        for (n, block) in cases {
            self.m.go_on_in(block);
            incoming.push((self.changed(value, n), block));
            self.m.jump(after);
        }
        self.m.go_on_in(after);
        self.m.phi(word, incoming)
    }

    /// Writes the value to the buffer `u1`.
    fn finish(mut self, value: Val) -> Vec<u8> {
        let m = &mut self.m;
        let (word, byte, bool, void) = (m.int(32), m.int(8), m.int(1), m.void());
        let (uav, no, handle) = (m.integer(byte, 1), m.integer(bool, 0), m.handle());
        let (zero, one, two) = (m.i32(0), m.i32(1), m.i32(2));
        let buffer = m.operation("createHandle", 57, &[uav, zero, one, no], handle);
        let at = m.binary(Binary::Shl, self.start, two);
        let (undef, mask) = (m.undef(word), m.integer(byte, 1));
        let operands = [buffer, at, undef, value, undef, undef, undef, mask];
        m.operation("bufferStore.i32", 69, &operands, void);
        m.ret();
        self.m.assemble()
    }
}
