//! Functions of the IR keep their block ids and the order of their edges.

use xenoglot_ir::imm::{Reduce, SubgroupInfo};
use xenoglot_ir::{Builder, Flags, Function, Imm, Op, Type, Value};
use xenoglot_structure::check::check;
use xenoglot_structure::tree::Stmt;
use xenoglot_structure::{Edge, Graph, Options, structure, structure_graph};

#[test]
fn blocks_and_edges_are_those_of_the_function() {
    let mut f = Function::new("f");
    let [entry, removed, body, exit] = [0; 4].map(|_| f.add_block());
    let v = f.add_param(entry, Type::I32);
    let p = f.add_param(exit, Type::I32);
    f.layout.retain(|&b| b != removed);
    let mut b = Builder::new(&mut f, entry);
    b.switch(v, &[(7, exit, &[v]), (9, body, &[])], (exit, &[v]));
    b.switch_to(body);
    b.jump(exit, &[v]);
    b.switch_to(removed);
    b.jump(entry, &[v]);
    b.switch_to(exit);
    b.ret(&[p]);
    let graph = Graph::of(&f).unwrap();
    assert_eq!(graph.successors(entry), [exit, body, exit]);
    assert_eq!(graph.successors(removed), []);
    let tree = structure(&f, &Options::default()).unwrap();
    assert_eq!(check(&graph, &tree, 48), Ok(()));
    let [Stmt::Block(first), Stmt::Branch { block, arms }, Stmt::Block(last), Stmt::Terminate(end)] =
        *tree.list(tree.root())
    else {
        panic!("{tree}")
    };
    assert_eq!([first, block, last, end], [entry, entry, exit, exit]);
    let arms = tree.arms(arms);
    assert_eq!(arms.len(), 3);
    assert_eq!(tree.list(arms[2].body), [Stmt::Edge(Edge { from: entry, index: 2 })]);
}

/// A loop with a test that leaves it by way of `code`, and one that leaves it directly, to one place behind it.
fn loop_with_two_exits(code: impl FnOnce(&mut Builder, Value)) -> Function {
    let mut f = Function::new("f");
    let [entry, header, short, latch, exit] = [0; 5].map(|_| f.add_block());
    let v = f.add_param(entry, Type::I32);
    let p = f.add_param(header, Type::I32);
    let q = f.add_param(exit, Type::I32);
    let mut b = Builder::new(&mut f, entry);
    b.jump(header, &[v]);
    b.switch_to(header);
    let first = b.op(Op::IcmpEq, &[p, v]);
    b.branch(first, (short, &[]), (latch, &[]));
    b.switch_to(short);
    code(&mut b, p);
    b.jump(exit, &[p]);
    b.switch_to(latch);
    let next = b.op(Op::Iadd, &[p, p]);
    let more = b.op(Op::IcmpUlt, &[next, v]);
    b.branch(more, (header, &[next]), (exit, &[next]));
    b.switch_to(exit);
    b.ret(&[q]);
    f
}

#[test]
fn short_code_on_the_way_out_of_a_loop_stays_in_it() {
    let f = loop_with_two_exits(|b, p| {
        b.op(Op::Imul, &[p, p]);
    });
    let graph = Graph::of(&f).unwrap();
    let tree = structure(&f, &Options::default()).unwrap();
    assert_eq!(check(&graph, &tree, 48), Ok(()));
    assert_eq!((tree.stats().sets, tree.stats().guards), (0, 0), "{tree}");
    // A graph does not say what is in its blocks.
    assert!(structure_graph(&graph, &Options::default()).stats().sets > 0);
}

#[test]
fn code_that_looks_at_other_lanes_comes_after_the_loop() {
    let f = loop_with_two_exits(|b, p| {
        let any = SubgroupInfo { width: 0, reduce: Reduce::Iadd, exclusive: false };
        b.inst(Op::SgReduce, Flags::NONE, Imm::Subgroup(any), &[p], &[Type::I32]);
    });
    let tree = structure(&f, &Options::default()).unwrap();
    assert!(tree.stats().sets > 0, "{tree}");
}
