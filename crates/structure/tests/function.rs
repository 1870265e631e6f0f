//! Functions of the IR keep their block ids and the order of their edges.

use xenoglot_ir::{Builder, Function, Type};
use xenoglot_structure::check::check;
use xenoglot_structure::tree::Stmt;
use xenoglot_structure::{Edge, Graph, Options, structure};

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
