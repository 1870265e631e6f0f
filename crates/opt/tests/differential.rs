//! Every pass alone and the whole list keep what random programs do, and keep SSA.

mod common;

use common::{random_module, run};
use std::collections::BTreeSet;
use xenoglot_ir::analysis::Analyses;
use xenoglot_ir::entity::{EntityRef, SecondaryMap};
use xenoglot_ir::verify::verify;
use xenoglot_ir::{Block, Function, Imm, Module, Op, Slot};
use xenoglot_opt::pipeline::{Observer, Ran, Verify};
use xenoglot_opt::temporaries::{self, Temporaries};
use xenoglot_opt::{
    Context, Options, PASSES, PassKind, branch_fold, copy_propagate, dead_code, optimize, promote, simplify,
};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;

const FUEL: u64 = 3000;
const PROGRAMS: u64 = 1500;

/// How many programs ran and what came of it.
#[derive(Default, Debug)]
struct Stats {
    compared: u32,
    /// Out of fuel, or something the reference does not evaluate.
    unfinished: u32,
    changed: u32,
}

fn program(seed: u64) -> Module {
    random_module(&mut Rng::new(seed), 16)
}

/// Programs that run to an end, with what is seen of them.
fn compare(seed: u64, name: &str, stats: &mut Stats, change: impl FnOnce(&mut Module) -> bool) {
    let before = program(seed);
    verify(&before).unwrap_or_else(|e| panic!("seed {seed}: the generator: {e}"));
    let mut after = before.clone();
    stats.changed += u32::from(change(&mut after));
    verify(&after).unwrap_or_else(|e| panic!("seed {seed}: {name}: {e}"));
    match run(&before, FUEL) {
        None => stats.unfinished += 1,
        Some(want) => {
            stats.compared += 1;
            let got = run(&after, 4 * FUEL);
            assert_eq!(got.as_ref(), Some(&want), "seed {seed}: after {name}");
        }
    }
}

/// Each pass over functions, on functions that are promoted or not; but for `relax`, which changes results.
#[test]
fn passes_alone() {
    for (n, pass) in PASSES.iter().enumerate().filter(|(_, pass)| pass.name != "relax") {
        let PassKind::Function(run) = pass.kind else { continue };
        let mut stats = Stats::default();
        let mut cx = Context::new();
        for seed in property::seeds(PROGRAMS) {
            let seed = seed + (n as u64) * 1_000_000;
            compare(seed, pass.name, &mut stats, |m| {
                let func = m.funcs.keys().next().unwrap();
                let mut session = cx.session(m, func);
                if !seed.is_multiple_of(4) {
                    session.run(promote::run);
                }
                let text = |f: &Function| format!("{:?} {:?} {:?}", f.blocks, f.layout, f.insts);
                let before = text(session.function());
                let changed = session.run(run);
                let same = before == text(session.function());
                assert!(changed.any() || same, "seed {seed}: {} hides a change", pass.name);
                changed.any()
            });
        }
        println!("{}: {stats:?}", pass.name);
        assert!(stats.compared > 400, "{} was hardly tested: {stats:?}", pass.name);
        // These programs have nothing to lower, and no quads; those of tests/lower_memory.rs and the random fragment programs of
        // the conformance tests have.
        let idle = matches!(pass.name, "lower_memory" | "quads");
        assert!(idle || stats.changed > 50, "{} had little to do: {stats:?}", pass.name);
    }
}

/// What a context knows of one function is not applied to the next: one that went through other functions does what a
/// fresh one does. (`promote` deleted live blocks where it took another function's graph for its own.)
#[test]
fn a_context_takes_nothing_from_function_to_function() {
    let mut cx = Context::new();
    for seed in property::seeds(PROGRAMS) {
        let mut m = program(seed);
        m.funcs.push(program(seed + 1).funcs.into_iter().next().unwrap().1);
        let before = m.clone();
        for func in before.funcs.keys() {
            let mut used = cx.session(&mut m, func);
            let mut alone = before.clone();
            let mut fresh = Context::new();
            let mut fresh = fresh.session(&mut alone, func);
            for pass in [promote::run, copy_propagate::run, simplify::run, branch_fold::run, dead_code::run] {
                assert_eq!(used.run(pass), fresh.run(pass), "seed {seed}");
                let text = |f: &Function| format!("{:?} {:?} {:?}", f.blocks, f.layout, f.insts);
                assert_eq!(text(used.function()), text(fresh.function()), "seed {seed}");
            }
        }
    }
}

#[test]
fn the_whole_list() {
    for scalarize in [false, true] {
        let mut stats = Stats::default();
        let mut cx = Context::new();
        let (mut before, mut after) = (0, 0);
        for seed in property::seeds(2 * PROGRAMS) {
            compare(seed, "everything", &mut stats, |m| {
                before += m.funcs.values().map(Function::inst_count).sum::<usize>();
                let options = Options { scalarize, ..Options::default() };
                optimize(m, &mut cx, &options, &mut Verify).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
                after += m.funcs.values().map(Function::inst_count).sum::<usize>();
                true
            });
        }
        println!("scalarize {scalarize}: {stats:?}, {before} instructions became {after}");
        assert!(stats.compared > 800, "{stats:?}");
    }
}

/// Runs `branch_fold` and `dead_code` again, by a context that knows nothing, where they say that nothing changed.
struct Again(u32);

impl Observer for Again {
    type Error = String;

    fn after(&mut self, ran: Ran<'_>) -> Result<(), String> {
        if ran.changed.any() || !matches!(ran.pass.name, "branch_fold" | "dead_code") {
            return Ok(());
        }
        self.0 += 1;
        let (PassKind::Function(run), Some(func)) = (ran.pass.kind, ran.func) else { return Ok(()) };
        match Context::new().session(&mut ran.module.clone(), func).run(run).any() {
            true => Err(format!("{} was left out", ran.pass.name)),
            false => Ok(()),
        }
    }
}

#[test]
fn passes_that_are_left_out_would_change_nothing() {
    let mut cx = Context::new();
    let mut again = Again(0);
    for seed in property::seeds(4 * PROGRAMS) {
        let scalarize = seed.is_multiple_of(3);
        let options = Options { scalarize, ..Options::default() };
        optimize(&mut program(seed), &mut cx, &options, &mut again)
            .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
    assert!(again.0 > 1000, "only {} runs changed nothing", again.0);
}

/// Registers that some path from the start of each reachable block reads before it sets them.
fn live_slots(f: &Function) -> SecondaryMap<Block, BTreeSet<Slot>> {
    let mut analyses = Analyses::new();
    analyses.ensure_cfg(f);
    let mut live: SecondaryMap<Block, BTreeSet<Slot>> = SecondaryMap::new();
    for _ in 0..=f.layout.len() {
        for &b in analyses.cfg().rpo() {
            let mut set: BTreeSet<Slot> =
                f.edges(b).iter().flat_map(|e| live[e.block].iter().copied()).collect();
            for &i in f.blocks[b].insts.iter().rev() {
                match (f.insts[i].op, f.insts[i].imm) {
                    (Op::SlotGet, Imm::Slot(s)) => {
                        set.insert(s);
                    }
                    (Op::SlotSet, Imm::Slot(s)) => {
                        set.remove(&s);
                    }
                    _ => {}
                }
            }
            live[b] = set;
        }
    }
    live
}

#[test]
fn promotion_leaves_no_slot_op_and_no_dead_parameter() {
    let mut cx = Context::new();
    let mut params = 0;
    for seed in property::seeds(PROGRAMS) {
        let mut m = program(seed);
        let (func, f) = m.funcs.iter().next().unwrap();
        let live = live_slots(f);
        let own = f.values.len();
        let mut session = cx.session(&mut m, func);
        session.run(promote::run);
        let f = session.function();
        for &b in &f.layout {
            assert!(f.blocks[b].insts.iter().all(|&i| !matches!(f.insts[i].op, Op::SlotGet | Op::SlotSet)));
            for v in f.params(b).iter().filter(|v| v.index() >= own && f.entry() != Some(b)) {
                params += 1;
                let slot = f.values[*v].hint.expand().unwrap();
                assert!(live[b].contains(&slot), "seed {seed}: {v} of {slot} in {b}");
            }
        }
    }
    println!("{params} parameters");
    assert!(params > 500);
}

/// Assignments pass the checker, whatever is wanted, and use fewer variables than values.
#[test]
fn temporaries_hold_what_is_read() {
    let mut cx = Context::new();
    let mut temps = Temporaries::default();
    let (mut values, mut variables) = (0, 0);
    for seed in property::seeds(2 * PROGRAMS) {
        let mut m = program(seed);
        let options = Options::default();
        if seed % 2 == 0 {
            let Ok(()) = optimize(&mut m, &mut cx, &options, &mut ());
        }
        let f = m.funcs.values().next().unwrap();
        let mut analyses = Analyses::new();
        for inline in [0, 50, 100] {
            let wanted = |v: xenoglot_ir::Value| {
                let pure = f.def_inst(v).is_some_and(|i| f.insts[i].op.info().traits.pure);
                !(pure && v.as_u32().wrapping_mul(0x9e37_79b9) % 100 < inline)
            };
            temps.compute(f, &mut analyses, wanted);
            let cfg = analyses.cfg();
            temporaries::check(f, cfg, &temps, wanted).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            for &b in cfg.rpo() {
                let defs = f.params(b).iter().chain(f.blocks[b].insts.iter().flat_map(|&i| f.results(i)));
                for &v in defs {
                    assert_eq!(temps.of(v).is_some(), wanted(v), "{v}");
                    assert!(temps.of(v).is_none_or(|t| temps.temps()[t].ty == f.ty(v)));
                    values += u32::from(wanted(v));
                }
            }
            variables += temps.temps().len();
        }
    }
    println!("{values} values in {variables} variables");
    assert!(variables * 3 < 2 * values as usize);
}

/// Loops inside each other, each with a counter that lives through those in it.
fn nested_loops(depth: usize) -> Module {
    use std::fmt::Write as _;
    let mut text = String::from(
        "module fragment \"t\" {\n  input %a = location 0 : i32 flat\n  output %o = location 0 : i32\n",
    );
    text += "  entry func @main() {\n  block0:\n    v0 : i32 = input %a\n    v1 : i32 = const 1\n    jump block1(v1)\n";
    for n in 1..=depth {
        let _ = writeln!(text, "  block{n}(v{} : i32):\n    jump block{}(v1)", n + 1, n + 1);
    }
    // The innermost block's parameter is nothing to anybody.
    let _ = writeln!(text, "  block{}(v{} : i32):\n    jump block{}", depth + 1, depth + 2, depth + 2);
    let mut value = depth + 3;
    for n in (1..=depth).rev() {
        let (latch, counter) = (2 * depth + 2 - n, n + 1);
        let _ = writeln!(text, "  block{latch}:\n    v{value} : i32 = ushr v{counter}, v0");
        let _ = writeln!(text, "    v{} : bool = icmp.ne v{value}, v1", value + 1);
        let _ = writeln!(text, "    branch v{}, block{n}(v{value}), block{}", value + 1, latch + 1);
        value += 2;
    }
    let _ = writeln!(text, "  block{}:\n    output %o, v2\n    return\n  }}\n}}", 2 * depth + 2);
    let module = xenoglot_ir::text::parse(&text, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
    verify(&module).unwrap();
    module
}

/// Where more is live than is worth finding out, each value has a variable, and the checker has nothing against it.
#[test]
fn values_that_live_through_many_loops_are_kept_apart() {
    let mut temps = Temporaries::default();
    for (depth, apart) in [(20, false), (200, true)] {
        let m = nested_loops(depth);
        let f = m.funcs.values().next().unwrap();
        let mut analyses = Analyses::new();
        temps.compute(f, &mut analyses, |_| true);
        temporaries::check(f, analyses.cfg(), &temps, |_| true).unwrap_or_else(|e| panic!("{e}"));
        let values = f.values.keys().filter(|&v| temps.of(v).is_some()).count();
        assert_eq!(temps.temps().len() == values, apart, "{depth}: {values}");
    }
}

/// The checker finds a value that was overwritten.
#[test]
fn the_checker_of_temporaries_finds_clashes() {
    let mut temps = Temporaries::default();
    let (mut found, mut tried) = (0, 0);
    for seed in property::seeds(200) {
        let m = program(seed);
        let f = m.funcs.values().next().unwrap();
        let mut analyses = Analyses::new();
        // Coloured as if constants were written where they are used, read as if they were not.
        let is_const = |v| f.def_inst(v).is_some_and(|i| f.insts[i].op == Op::Const);
        temps.compute(f, &mut analyses, |v| !is_const(v));
        tried += 1;
        found += u32::from(temporaries::check(f, analyses.cfg(), &temps, |_| true).is_err());
    }
    assert!(found > tried / 2, "{found} of {tried}");
}
