//! A PICA200 shader unit that runs program words directly: what the lifter is compared with.
//!
//! Written from vectors/pica/FORMAT.md, sections 3 and 4, and on purpose from nothing else in this project: no
//! decoder, no IR. It is slow and plain. DST, DSTI, LIT, BREAK, buffer 3 of SETEMIT and relations 6 and 7 of CMP,
//! which FORMAT.md leaves out, follow the documentation of the lifter.

use crate::pica::Environment;

/// A register.
pub type Vec4 = [f32; 4];

/// All state of the unit. The scope stacks are empty at the start of each run and so not part of it.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// o0 to o15, of the current bank.
    pub outputs: [Vec4; 16],
    /// The other bank of outputs.
    pub other_bank: [Vec4; 16],
    /// r0 to r15.
    pub temps: [Vec4; 16],
    /// The three vertices of the geometry emitter.
    pub emitter: [[Vec4; 16]; 3],
    /// a0.x and a0.y; out of range is [`i32::MIN`].
    pub a0: [i32; 2],
    /// aL.
    pub al: i32,
    /// Condition flags x and y.
    pub flags: [bool; 2],
    /// What SETEMIT set.
    pub set_emit: (u8, bool, bool),
}

/// What a geometry program sent.
#[derive(Clone, Debug)]
pub enum Event {
    /// Reverses the winding of the next triangle.
    Winding,
    /// A vertex; registers outside the output mask are meaningless.
    Vertex(Box<[Vec4; 16]>),
}

/// The arithmetic of a run.
#[derive(Clone, Copy)]
pub struct Arithmetic {
    /// A NaN product of factors that are none is +0.
    pub product_rule: bool,
    /// What results are rounded to: those of all opcodes but MOV and LIT, and of MAD the product, too.
    pub round: fn(f32) -> f32,
}

impl Default for Arithmetic {
    fn default() -> Self {
        Arithmetic { product_rule: true, round: |v| v }
    }
}

/// What is run and with what.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// Program words; 0 beyond the end.
    pub code: &'a [u32],
    /// Operand descriptors; 0 beyond the end.
    pub descriptors: &'a [u32],
    /// Word address of the entry point.
    pub entry: u32,
    /// For geometry programs, what EMIT copies; EMIT and SETEMIT of other programs do nothing.
    pub geometry: Option<u16>,
    /// Uniforms and inputs.
    pub environment: &'a Environment,
    /// Arithmetic.
    pub arithmetic: Arithmetic,
    /// Instructions to run at most.
    pub fuel: u32,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At END or at the end of program memory.
    End,
    /// Out of fuel.
    Fuel,
    /// At a word that is no instruction.
    Invalid {
        /// Its address.
        pc: u32,
    },
}

/// What a run did, apart from the state it left.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Instructions executed, END among them.
    pub steps: u32,
    /// What was sent.
    pub events: Vec<Event>,
    /// How often the rule for products made a NaN +0, or would have.
    pub zeroed_products: u32,
}

/// The program counter from which on control ends.
const END_PC: u32 = 4095;

#[derive(Clone, Copy)]
struct If {
    otherwise: u32,
    end: u32,
}

#[derive(Clone, Copy)]
struct Call {
    end: u32,
    back: u32,
}

#[derive(Clone, Copy)]
struct Loop {
    start: u32,
    end: u32,
    count: u8,
    step: u8,
    first: u8,
}

fn push<T>(stack: &mut Vec<T>, depth: usize, entry: T) {
    if stack.len() == depth {
        stack.remove(0);
    }
    stack.push(entry);
}

/// Bits `hi` down to `lo` of a word.
fn bits(word: u32, hi: u32, lo: u32) -> u32 {
    (word >> lo) & ((1 << (hi - lo + 1)) - 1)
}

struct Unit<'a> {
    job: &'a Job<'a>,
    s: &'a mut State,
    zeroed: u32,
    events: Vec<Event>,
    ifs: Vec<If>,
    calls: Vec<Call>,
    loops: Vec<Loop>,
}

/// Runs a program from `state` and leaves the new state there.
pub fn run(job: &Job, state: &mut State) -> Outcome {
    let mut unit = Unit {
        job,
        s: state,
        zeroed: 0,
        events: Vec::new(),
        ifs: Vec::new(),
        calls: Vec::new(),
        loops: Vec::new(),
    };
    let (mut pc, mut steps) = (job.entry, 0);
    let end = loop {
        if pc >= END_PC {
            break End::End;
        }
        if steps == job.fuel {
            break End::Fuel;
        }
        steps += 1;
        let word = job.code.get(pc as usize).copied().unwrap_or(0);
        match unit.step(pc, word) {
            Some(next) => pc = next,
            None if word >> 26 == 0x22 => break End::End,
            None => break End::Invalid { pc },
        }
    };
    Outcome { end, steps, events: unit.events, zeroed_products: unit.zeroed }
}

impl Unit<'_> {
    /// Executes one word; the next program counter, or none at END and words that are no instruction.
    fn step(&mut self, p: u32, word: u32) -> Option<u32> {
        let mut pc = p + 1;
        let (dest, num) = (bits(word, 21, 10), bits(word, 7, 0));
        let mut broke = false;
        match word >> 26 {
            op @ (0x00..=0x04 | 0x08..=0x0a | 0x0c | 0x0d) => self.binary(op, word, false),
            op @ 0x18..=0x1b => self.binary(op, word, true),
            op @ (0x05..=0x07 | 0x0b | 0x0e | 0x0f | 0x13) => self.unary(op, word),
            0x12 => self.mova(word),
            0x20 => broke = !self.loops.is_empty(),
            0x21 => {}
            0x23 => broke = self.condition(word) && !self.loops.is_empty(),
            op @ 0x24..=0x26 => {
                if op == 0x24 || (op == 0x25 && self.condition(word)) || (op == 0x26 && self.boolean(word)) {
                    push(&mut self.calls, 4, Call { end: dest + num, back: pc });
                    pc = dest;
                }
            }
            op @ (0x27 | 0x28) => {
                if if op == 0x27 { self.boolean(word) } else { self.condition(word) } {
                    push(&mut self.ifs, 8, If { otherwise: dest, end: dest + num });
                } else {
                    pc = dest;
                }
            }
            0x29 => {
                let [count, first, step, _] = self.job.environment.ints[bits(word, 23, 22) as usize];
                self.s.al = first.into();
                push(&mut self.loops, 4, Loop { start: pc, end: dest + 1, count, step, first });
            }
            0x2a => self.emit(),
            0x2b => {
                if self.job.geometry.is_some() {
                    self.s.set_emit =
                        (bits(word, 25, 24) as u8, bits(word, 23, 23) != 0, bits(word, 22, 22) != 0);
                }
            }
            0x2c if self.condition(word) => pc = dest,
            0x2c => {}
            0x2d if self.boolean(word) == (num & 1 == 0) => pc = dest,
            0x2d => {}
            0x2e | 0x2f => self.compare(word),
            0x30..=0x3f => self.mad(word),
            _ => return None,
        }
        Some(self.end_scopes(p, pc, broke))
    }

    /// The checks after an instruction at `p` that goes on at `pc`.
    fn end_scopes(&mut self, p: u32, mut pc: u32, broke: bool) -> u32 {
        let mut q = p + 1;
        for round in 1..=4 {
            let Some(&top) = self.calls.last().filter(|c| c.end == q) else { break };
            self.calls.pop();
            if round < 4 {
                q = top.back;
                pc = q;
            }
        }
        if let Some(&top) = self.ifs.last().filter(|i| i.otherwise == p + 1) {
            self.ifs.pop();
            pc = top.end;
        }
        if let Some(top) = self.loops.last_mut().filter(|l| broke || l.end == p + 1) {
            self.s.al = self.s.al.wrapping_add(top.step.into());
            let again = !broke && top.count != 0;
            top.count = top.count.wrapping_sub(1);
            let Loop { start, end, first, .. } = *top;
            if again {
                pc = start;
            } else {
                pc = end;
                self.loops.pop();
                if !self.loops.is_empty() {
                    self.s.al = first.into();
                }
            }
        }
        pc
    }

    fn condition(&self, word: u32) -> bool {
        let x = self.s.flags[0] == (bits(word, 25, 25) != 0);
        let y = self.s.flags[1] == (bits(word, 24, 24) != 0);
        match bits(word, 23, 22) {
            0 => x || y,
            1 => x && y,
            2 => x,
            _ => y,
        }
    }

    fn boolean(&self, word: u32) -> bool {
        self.job.environment.bools >> bits(word, 25, 22) & 1 != 0
    }

    fn descriptor(&self, index: u32) -> u32 {
        self.job.descriptors.get(index as usize).copied().unwrap_or(0)
    }

    /// Source `number`, indexed if `index` is not 0, with selection and negation `n` of the descriptor.
    fn source(&self, number: u32, index: u32, descriptor: u32, n: u32) -> Vec4 {
        let environment = self.job.environment;
        let v = match number {
            0..0x10 => environment.inputs[number as usize].map(f32::from_bits),
            0x10..0x20 => self.s.temps[number as usize - 0x10],
            _ => {
                let offset = match index {
                    0 => 0,
                    1 => self.s.a0[0],
                    2 => self.s.a0[1],
                    _ => self.s.al,
                };
                let offset = if (-128..=127).contains(&offset) { offset } else { 0 };
                let at = (number as i32 - 0x20 + offset) & 0x7f;
                environment.floats.get(at as usize).map_or([1.0; 4], |c| c.map(f32::from_bits))
            }
        };
        let negate = bits(descriptor, 4 + 9 * n, 4 + 9 * n) != 0;
        let selector = bits(descriptor, 12 + 9 * n, 5 + 9 * n);
        std::array::from_fn(|lane| {
            let v = v[(selector >> (6 - 2 * lane) & 3) as usize];
            if negate { -v } else { v }
        })
    }

    fn write(&mut self, number: u32, descriptor: u32, v: Vec4) {
        let register = match number {
            0..0x10 => &mut self.s.outputs[number as usize],
            _ => &mut self.s.temps[number as usize - 0x10],
        };
        for (lane, v) in v.into_iter().enumerate() {
            if descriptor >> (3 - lane) & 1 != 0 {
                register[lane] = v;
            }
        }
    }

    fn product(&mut self, a: f32, b: f32) -> f32 {
        let p = a * b;
        if !p.is_nan() || a.is_nan() || b.is_nan() {
            return p;
        }
        self.zeroed += 1;
        if self.job.arithmetic.product_rule { 0.0 } else { p }
    }

    fn dot(&mut self, a: Vec4, b: Vec4, lanes: usize) -> Vec4 {
        let mut sum = 0.0;
        for lane in 0..lanes {
            sum += self.product(a[lane], b[lane]);
        }
        [sum; 4]
    }

    fn binary(&mut self, op: u32, word: u32, inverted: bool) {
        let d = self.descriptor(bits(word, 6, 0));
        let index = bits(word, 20, 19);
        let (a, b) = if inverted {
            (self.source(bits(word, 18, 14), 0, d, 0), self.source(bits(word, 13, 7), index, d, 1))
        } else {
            (self.source(bits(word, 18, 12), index, d, 0), self.source(bits(word, 11, 7), 0, d, 1))
        };
        let lanes = |f: fn(f32, f32) -> f32| std::array::from_fn(|i| f(a[i], b[i]));
        let truth = |v| if v { 1.0 } else { 0.0 };
        let v: Vec4 = match op {
            0x00 => lanes(|a, b| a + b),
            0x01 => self.dot(a, b, 3),
            0x02 => self.dot(a, b, 4),
            0x03 | 0x18 => self.dot([a[0], a[1], a[2], 1.0], b, 4),
            0x04 | 0x19 => [1.0, self.product(a[1], b[1]), a[2], b[3]],
            0x08 => std::array::from_fn(|i| self.product(a[i], b[i])),
            0x09 | 0x1a => std::array::from_fn(|i| truth(a[i] >= b[i])),
            0x0a | 0x1b => std::array::from_fn(|i| truth(a[i] < b[i])),
            0x0c => lanes(|a, b| if a > b { a } else { b }),
            _ => lanes(|a, b| if a < b { a } else { b }),
        };
        self.write(bits(word, 25, 21), d, v.map(self.job.arithmetic.round));
    }

    fn unary(&mut self, op: u32, word: u32) {
        let d = self.descriptor(bits(word, 6, 0));
        let v = self.source(bits(word, 18, 12), bits(word, 20, 19), d, 0);
        let round = self.job.arithmetic.round;
        let v = match op {
            0x05 => [round(v[0].exp2()); 4],
            0x06 => [round(v[0].log2()); 4],
            0x07 => self.lit(v),
            0x0b => v.map(|v| round(v.floor())),
            0x0e => [round(1.0 / v[0]); 4],
            0x0f => [round(1.0 / v[0].sqrt()); 4],
            _ => v,
        };
        self.write(bits(word, 25, 21), d, v);
    }

    fn lit(&mut self, v: Vec4) -> Vec4 {
        const LIMIT: f32 = 128.0 - 1.0 / 256.0;
        let [x, y, _, w] = v;
        self.s.flags = [x >= 0.0, w >= 0.0];
        let positive = |v: f32| if v > 0.0 { v } else { 0.0 };
        let low = if y > -LIMIT { y } else { -LIMIT };
        [positive(x), if low < LIMIT { low } else { LIMIT }, 0.0, positive(w)]
    }

    fn mova(&mut self, word: u32) {
        let d = self.descriptor(bits(word, 6, 0));
        let v = self.source(bits(word, 18, 12), bits(word, 20, 19), d, 0);
        for (lane, v) in v.into_iter().enumerate().take(2) {
            if d >> (3 - lane) & 1 != 0 {
                self.s.a0[lane] = if v.abs() < 2_147_483_648.0 { v as i32 } else { i32::MIN };
            }
        }
    }

    fn compare(&mut self, word: u32) {
        let d = self.descriptor(bits(word, 6, 0));
        let a = self.source(bits(word, 18, 12), bits(word, 20, 19), d, 0);
        let b = self.source(bits(word, 11, 7), 0, d, 1);
        for (flag, relation) in [bits(word, 26, 24), bits(word, 23, 21)].into_iter().enumerate() {
            let (a, b) = (a[flag], b[flag]);
            self.s.flags[flag] = match relation {
                0 => a == b,
                1 => a != b,
                2 => a < b,
                3 => a <= b,
                4 => a > b,
                5 => a >= b,
                _ => false,
            };
        }
    }

    fn mad(&mut self, word: u32) {
        let d = self.descriptor(bits(word, 4, 0));
        let index = bits(word, 23, 22);
        let a = self.source(bits(word, 21, 17), 0, d, 0);
        let (b, c) = if word >> 29 == 7 {
            (self.source(bits(word, 16, 10), index, d, 1), self.source(bits(word, 9, 5), 0, d, 2))
        } else {
            (self.source(bits(word, 16, 12), 0, d, 1), self.source(bits(word, 11, 5), index, d, 2))
        };
        let round = self.job.arithmetic.round;
        let v = std::array::from_fn(|i| {
            let product = round(self.product(a[i], b[i]));
            round(product + c[i])
        });
        self.write(bits(word, 28, 24), d, v);
    }

    fn emit(&mut self) {
        let Some(mask) = self.job.geometry else { return };
        let (vertex, primitive, winding) = self.s.set_emit;
        if let Some(buffer) = self.s.emitter.get_mut(usize::from(vertex)) {
            for n in (0..16).filter(|n| mask >> n & 1 != 0) {
                buffer[n] = self.s.outputs[n];
            }
        }
        if primitive {
            if winding {
                self.events.push(Event::Winding);
            }
            self.events.extend(self.s.emitter.map(|v| Event::Vertex(Box::new(v))));
        }
        std::mem::swap(&mut self.s.outputs, &mut self.s.other_bank);
    }
}
