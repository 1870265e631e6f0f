//! Blocks from the explored control flow: runs of nodes become blocks, paths become edges.

use super::flow::{Exit, Flow, LoopEnd, Path, Target};
use super::insts::Cx;
use super::live::Live;
use super::regs::Scalar;
use crate::flow::{LOOP_DEPTH, Test};
use xenoglot_ir::{Block, Op, Value};

/// The value of a test.
pub(super) fn test(cx: &mut Cx, test: Test) -> Value {
    match test {
        Test::Flags(cond) => cx.condition(cond),
        Test::Bool(n, true) => cx.bool_uniform(n),
        Test::Bool(n, false) => {
            let b = cx.bool_uniform(n);
            cx.b.not(b)
        }
    }
}

/// Adds `n` to the count of executed instructions.
pub(super) fn count_steps(cx: &mut Cx, n: u32) {
    let (old, n) = (cx.get(Scalar::Steps), cx.b.i32(n));
    let sum = cx.b.op(Op::Iadd, &[old, n]);
    cx.set(Scalar::Steps, sum);
}

struct Emitter<'c, 'f> {
    cx: &'c mut Cx<'f>,
    flow: &'c Flow,
    live: &'c [Live],
    blocks: Vec<Option<Block>>,
    pending: Vec<u32>,
    end: Block,
    count: bool,
}

/// Appends the program to the block under the cursor; every way out of it jumps to `end`. `live` has what is live after
/// each node; all is after those it does not have.
pub(super) fn emit(cx: &mut Cx, flow: &Flow, live: &[Live], end: Block, count: bool) {
    let blocks = vec![None; flow.nodes.len()];
    let mut e = Emitter { cx, flow, live, blocks, pending: Vec::new(), end, count };
    match flow.nodes.first() {
        Some(first) if first.preds == 1 => e.run(0),
        Some(_) => {
            let block = e.block(Target::Node(0));
            e.cx.b.jump(block, &[]);
        }
        None => e.cx.b.jump(end, &[]),
    }
    while let Some(id) = e.pending.pop() {
        let block = e.block(Target::Node(id));
        e.cx.b.switch_to(block);
        e.run(id);
    }
}

impl Emitter<'_, '_> {
    /// The block that starts with the target.
    fn block(&mut self, target: Target) -> Block {
        let Target::Node(id) = target else { return self.end };
        *self.blocks[id as usize].get_or_insert_with(|| {
            self.pending.push(id);
            self.cx.b.func.add_block()
        })
    }

    /// Emits nodes from `id` on up to the end of the block.
    fn run(&mut self, mut id: u32) {
        let mut steps = 0;
        loop {
            let node = &self.flow.nodes[id as usize];
            self.cx.b.begin_guest(node.pc);
            let live = self.live.get(id as usize).unwrap_or(&Live::ALL);
            self.cx.lift(&node.inst, live);
            steps += 1;
            match node.exit {
                Exit::Always(Path { enter: None, leave: None, target: Target::Node(next) })
                    if self.flow.nodes[next as usize].preds == 1 && next != id =>
                {
                    id = next;
                }
                Exit::Always(path) => {
                    self.finish_count(steps);
                    self.cx.leave(live);
                    return self.path(path);
                }
                Exit::If(t, yes, no) => {
                    let cond = test(self.cx, t);
                    self.finish_count(steps);
                    self.cx.leave(live);
                    let (yes_block, no_block) = (self.path_block(yes), self.path_block(no));
                    self.cx.b.branch(cond, (yes_block, &[]), (no_block, &[]));
                    for (path, block) in [(yes, yes_block), (no, no_block)] {
                        if !is_plain(path) {
                            self.cx.b.switch_to(block);
                            self.path(path);
                        }
                    }
                    return;
                }
            }
        }
    }

    fn finish_count(&mut self, steps: u32) {
        if self.count {
            count_steps(self.cx, steps);
        }
    }

    /// The block a path starts in: its target if nothing happens on the way.
    fn path_block(&mut self, path: Path) -> Block {
        if is_plain(path) { self.block(path.target) } else { self.cx.b.func.add_block() }
    }

    /// Emits what happens on a path and ends the block.
    fn path(&mut self, path: Path) {
        if let Some((uniform, depth, dropped)) = path.enter {
            if dropped {
                for i in 1..LOOP_DEPTH as u8 {
                    let v = self.cx.get(Scalar::LoopCount(i));
                    self.cx.set(Scalar::LoopCount(i - 1), v);
                }
            }
            let (count, start) = (self.cx.int_uniform(uniform, 0), self.cx.int_uniform(uniform, 1));
            self.cx.set(Scalar::LoopCount(depth), count);
            self.cx.set(Scalar::Al, start);
        }
        let done = self.block(path.target);
        match path.leave {
            None => self.cx.b.jump(done, &[]),
            Some(end) => self.leave(end, done),
        }
    }

    fn leave(&mut self, end: LoopEnd, done: Block) {
        let cx = &mut *self.cx;
        let (al, step) = (cx.get(Scalar::Al), cx.int_uniform(end.uniform, 2));
        let next = cx.b.op(Op::Iadd, &[al, step]);
        let after = if end.restore { cx.int_uniform(end.uniform, 1) } else { next };
        let Some(again) = end.again else {
            cx.set(Scalar::Al, after);
            return cx.b.jump(done, &[]);
        };
        let count = cx.get(Scalar::LoopCount(end.depth));
        let (zero, one) = (cx.b.i32(0), cx.b.i32(1));
        let repeat = cx.b.op(Op::IcmpNe, &[count, zero]);
        let al = if end.restore { cx.b.select(repeat, next, after) } else { next };
        cx.set(Scalar::Al, al);
        let left = cx.b.op(Op::Isub, &[count, one]);
        cx.set(Scalar::LoopCount(end.depth), left);
        let again = self.block(again);
        self.cx.b.branch(repeat, (again, &[]), (done, &[]));
    }
}

fn is_plain(path: Path) -> bool {
    path.enter.is_none() && path.leave.is_none()
}
