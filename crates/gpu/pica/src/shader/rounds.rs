//! Loops that end: each way back in a program counts, and an invocation that goes back too often gives up.
//!
//! A guest could make a loop endless, and nothing stops a program on a host's GPU but the driver, which takes the device away from
//! everybody. The first two words of the event buffer say whether an invocation gave up, and how often all of them went back. The third
//! is 0, and invocations count from there: llvmpipe (Mesa 25.0.7) drops an exit of a loop that depends on a uniform if it can compute the
//! loop's greatest number of rounds, which it can where the count starts at a constant.

use xenoglot_ir::analysis::Cfg;
use xenoglot_ir::imm::{Order, Scope, Space};
use xenoglot_ir::module::{Access, Count, OutOfBounds, ResourceData, ResourceKind};
use xenoglot_ir::{Block, Builder, Flags, Function, Imm, MemInfo, Module, Op, Slot, TermKind, Type, Value};
use xenoglot_pica_shader::lift::layout::EVENT_BINDING;

/// Bytes of the event buffer of a program with bounds.
pub const BYTES: u64 = 12;
/// Of the word that says whether an invocation gave up, of the sum, and of the word that stays 0.
const GAVE_UP: u32 = 0;
const SUM: u32 = 4;
const ZERO: u32 = 8;

/// Edges that lead back, by their block and number: there is one in each cycle, also in those with several entries.
fn ways_back(func: &Function) -> Vec<(Block, usize)> {
    let mut cfg = Cfg::default();
    cfg.compute(func);
    let number = |block| cfg.rpo_number(block).unwrap_or(u32::MAX);
    let edges = |&block: &Block| {
        let edges = func.edges(block).iter().enumerate();
        let back: Vec<_> = edges.filter(|(_, edge)| number(edge.block) <= number(block)).collect();
        back.into_iter().map(move |(n, _)| (block, n))
    };
    cfg.rpo().iter().flat_map(edges).collect()
}

/// Whether a program has loops.
pub fn has_loops(module: &Module) -> bool {
    module.funcs.values().any(|func| !ways_back(func).is_empty())
}

/// Bounds the ways back of each invocation of a program whose registers are slots yet. False if only its entry point could be
/// bounded, and it has others.
pub fn bound(module: &mut Module, most: u32) -> bool {
    let Some(entry) = module.entry.expand().filter(|_| module.funcs.len() == 1) else { return false };
    let buffer = module.resources.push(ResourceData {
        name: "rounds".into(),
        kind: ResourceKind::StorageBuffer { access: Access::ReadWrite },
        set: 0,
        binding: EVENT_BINDING,
        count: Count::One,
        oob: OutOfBounds::Undefined,
    });
    let memory = MemInfo::plain(Space::Storage, Some(buffer), 2);
    let func = &mut module.funcs[entry];
    let ways = ways_back(func);
    let ends: Vec<Block> =
        func.blocks.keys().filter(|&block| func.term(block).kind == TermKind::Return).collect();
    let rounds = func.add_slot("rounds", Type::I32);
    if let Some(first) = func.entry() {
        let mut b = Builder::new(func, first);
        let at = b.i32(ZERO);
        let zero = b.load(memory, at, Type::I32);
        b.slot_set(rounds, zero);
    }
    for end in ends {
        add_up(&mut Builder::new(func, end), memory, rounds);
    }
    let over = func.add_block();
    let mut b = Builder::new(func, over);
    let (at, one) = (b.i32(GAVE_UP), b.i32(1));
    b.store(memory, at, one);
    add_up(&mut b, memory, rounds);
    b.ret(&[]);
    for (block, number) in ways {
        count(func, (block, number), rounds, (most, over));
    }
    true
}

/// Adds an invocation's rounds to the sum.
fn add_up(b: &mut Builder, memory: MemInfo, rounds: Slot) {
    let (at, own) = (b.i32(SUM), b.slot_get(rounds));
    let memory = MemInfo { order: Order::Relaxed, scope: Scope::Device, ..memory };
    b.inst(Op::AtomicAdd, Flags::NONE, Imm::Mem(memory), &[at, own], &[Type::I32]);
}

/// Puts a block into an edge that counts, and goes on only `most` times.
fn count(func: &mut Function, (block, number): (Block, usize), rounds: Slot, (most, over): (u32, Block)) {
    let term = func.term(block).clone();
    let Some(edge) = term.edges.get(number) else { return };
    let (to, args) = (edge.block, func.edge_args(edge).to_vec());
    let operands: Vec<Value> = func.term_args(block).to_vec();
    let counting = func.add_block();
    let mut edges = term.edges.clone();
    if let Some(edge) = edges.get_mut(number) {
        *edge = func.make_edge(counting, &[]);
    }
    func.set_term(block, term.kind, &operands, edges, term.cases.clone(), term.guest);
    let mut b = Builder::new(func, counting);
    let (before, one, most) = (b.slot_get(rounds), b.i32(1), b.i32(most));
    let after = b.op(Op::Iadd, &[before, one]);
    b.slot_set(rounds, after);
    let goes_on = b.op(Op::IcmpSlt, &[before, most]);
    b.branch(goes_on, (to, &args), (over, &[]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::{Program, Shader, Source};
    use std::sync::Arc;
    use xenoglot_interp::{Bindings, Interpreter, Limits};
    use xenoglot_ir::verify;
    use xenoglot_pica_shader::asm::assemble;

    /// The event buffer after a program of three invocations, each of which may go back five times.
    fn run(source: &str) -> Vec<u32> {
        let program = assemble(source).unwrap().program;
        let source = Arc::new(Source::new(&program.code, &program.descriptors));
        let program = Program::new(&Shader { source, entry: 0, geometry: None }).unwrap();
        assert!(has_loops(program.module()));
        let module = program.bounded(5).unwrap();
        verify(&module).unwrap_or_else(|errors| panic!("{errors}"));
        let mut bindings = Bindings::new(&module);
        let mut events = None;
        for (resource, data) in module.resources.iter() {
            bindings.set_words(resource, &[0; 1024]);
            events = if data.binding == EVENT_BINDING { Some(resource) } else { events };
        }
        let limits = Limits { fuel: 10_000, ..Limits::default() };
        let mut interpreter = Interpreter::new(&module).unwrap();
        interpreter.dispatch([3, 1, 1], &mut bindings, &limits).unwrap();
        bindings.words(events.unwrap())[..2].to_vec()
    }

    #[test]
    fn an_endless_program_ends() {
        let endless = ".out p position\n.proc main\nagain:\n jmpu !b0, again\n end\n.end\n";
        assert_eq!(run(endless), [1, 3 * 6]);
    }

    #[test]
    fn rounds_are_counted() {
        // i0 is 0: a loop of one round, which leads back once or not at all.
        let once = ".out p position\n.in v\n.proc main\n  for i0\n mov p, v\n .end\n end\n.end\n";
        let [gave_up, sum] = run(once)[..] else { panic!("two words") };
        assert!(gave_up == 0 && sum % 3 == 0 && sum <= 6, "{gave_up} {sum}");
    }
}
