//! Nodes of work graphs: what is known of them, and what becomes of them.

mod corpus;

use corpus::{own_vectors, second_vectors};
use xenoglot_dxil::binding::{Argument, HeapSets, Remapper, RootSignatureMap, covering, nodes};
use xenoglot_dxil::bitcode::{Inst, InstKind, Limits, Module, Type, ValueId, read};
use xenoglot_dxil::container::{Container, Content, FourCc, bitcode};
use xenoglot_dxil::lift::{LiftError, LiftOptions, Lifted, lift, lift_bound};
use xenoglot_dxil::program::{Launch, Node, NodeFlags, NodeId, Program, RecordGrid, RecordType};
use xenoglot_ir::Stage;

fn module(name: &str) -> Module {
    read(bitcode(&container(name)).unwrap().bytes, &Limits::default()).unwrap()
}

fn container(name: &str) -> Vec<u8> {
    let files = second_vectors().into_iter().chain(own_vectors());
    files.into_iter().find(|file| file.name == name).unwrap().bytes
}

fn id(name: &str, index: u32) -> NodeId {
    NodeId { name: name.into(), index }
}

fn lifted(module: &Module, name: &str) -> Lifted {
    let entry = Program::all(module).unwrap().iter().position(|program| program.name == name).unwrap();
    lift(module, &LiftOptions { entry, ..LiftOptions::default() }).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// What is known of a node beside its shader.
fn node(program: &Program) -> &Node {
    program.node.as_ref().unwrap()
}

#[test]
fn broadcasting_and_thread_nodes_are_compute_shaders() {
    let module = module("wg_broadcast_thread");
    let root = lifted(&module, "root");
    assert_eq!((root.module.stage, root.module.workgroup), (Stage::Compute, [32, 1, 1]));
    let known = node(&root.program);
    assert_eq!((known.launch, &known.id, known.is_entry), (Launch::Broadcasting, &id("root", 0), false));
    assert_eq!((known.grid, known.max_grid, known.max_recursion), (None, Some([16, 1, 1]), 0));
    assert_eq!((known.local_arguments, &known.shares_input_of), (None, &None));
    let input = known.input.unwrap();
    assert_eq!(input.flags, NodeFlags::INPUT | NodeFlags::THREAD | NodeFlags::GROUP);
    let grid = RecordGrid { offset: 0, components: 3, bytes: 4 };
    assert_eq!(input.record, Some(RecordType { size: 16, align: 4, grid: Some(grid) }));
    let [output] = &known.outputs[..] else { panic!("{:?}", known.outputs) };
    assert_eq!((&output.id, output.flags), (&id("leaf", 0), NodeFlags::OUTPUT | NodeFlags::READ_WRITE));
    assert_eq!((output.max_records, output.max_records_of, output.nodes), (32, None, Some(1)));
    assert!(!output.sparse);
    assert_eq!(output.record.unwrap().stride(), 4);

    let leaf = lifted(&module, "leaf");
    assert_eq!(leaf.module.workgroup, [nodes::THREADS, 1, 1]);
    let known = node(&leaf.program);
    assert_eq!((known.launch, &known.outputs[..]), (Launch::Thread, &[][..]));
    // The invocation's record is found by its number, and there may be none.
    let text = leaf.module.to_string();
    assert!(text.contains("num_workgroups") && text.contains("icmp.ult"), "{text}");
    assert_eq!(nodes::groups(known, 33), [2, 1, 1]);
    assert_eq!(nodes::groups(known, 0), [1, 0, 1]);
    assert_eq!(nodes::groups(known, 65_536 * 32), [65_535, 2, 1]);
}

#[test]
fn coalescing_nodes_are_compute_shaders() {
    let gather = lifted(&module("wg_coalescing"), "gather");
    assert_eq!((gather.module.workgroup, gather.module.shared_size), ([16, 1, 1], 4));
    let known = node(&gather.program);
    assert_eq!((known.launch, known.is_entry), (Launch::Coalescing, true));
    assert_eq!(known.input.unwrap().max_records, 16);
    let [output] = &known.outputs[..] else { panic!("{:?}", known.outputs) };
    assert_eq!((&output.id, output.flags), (&id("next", 1), NodeFlags::OUTPUT | NodeFlags::EMPTY));
    assert_eq!((output.record, output.max_records), (None, 4));
    assert_eq!(nodes::groups(known, 17), [2, 1, 1]);
    // The group counts once.
    assert_eq!(gather.module.to_string().matches("atomic.add global").count(), 1);
}

#[test]
fn arguments_are_behind_those_of_the_root_signature() {
    let module = module("wg_broadcast_thread");
    // A table, which is a word.
    let signature = covering(&Program::all(&module).unwrap()[0].resources);
    let map = RootSignatureMap::new(&signature, None, HeapSets::default());
    assert_eq!((map.push_words(), map.node_arguments()), (1, Argument::Push(2)));
    let text = lift_bound(&module, &LiftOptions::default(), &map).unwrap().module.to_string();
    assert!(text.contains("push @root = set 0 binding 0 size 16"), "{text}");
    assert!(text.contains("load push @root align 8"), "{text}");
}

#[test]
fn what_the_host_writes_is_what_shaders_read() {
    let arguments = nodes::Arguments {
        records: 0x1122_3344_5566_7788,
        stride: 16,
        count: 3,
        levels: 5,
        local: 0x99,
        outputs: vec![(0xaabb, 2)],
    };
    let bytes = arguments.to_bytes();
    let word = |at: u32| u32::from_le_bytes(bytes[at as usize..][..4].try_into().unwrap());
    assert_eq!((word(nodes::RECORDS), word(nodes::RECORDS + 4)), (0x5566_7788, 0x1122_3344));
    assert_eq!((word(nodes::STRIDE), word(nodes::COUNT), word(nodes::FINISHED)), (16, 3, 0));
    assert_eq!((word(nodes::LEVELS), word(nodes::LOCAL)), (5, 0x99));
    assert_eq!((word(nodes::OUTPUTS), word(nodes::OUTPUTS + 8)), (0xaabb, 2));
    assert_eq!(bytes.len() as u32, nodes::OUTPUTS + nodes::OUTPUT_BYTES);
    let queue = nodes::Queue { count: 7, capacity: 4, records: 0x12_0000_0034 };
    let bytes = queue.to_bytes();
    let word = |at: u32| u32::from_le_bytes(bytes[at as usize..][..4].try_into().unwrap());
    assert_eq!((word(nodes::QUEUE_COUNT), word(nodes::QUEUE_CAPACITY)), (7, 4));
    assert_eq!((word(nodes::QUEUE_RECORDS), word(nodes::QUEUE_RECORDS + 4)), (0x34, 0x12));
    assert_eq!(queue.filled(), 4);
}

#[test]
fn what_metadata_may_say_of_nodes() {
    let module = module("graph_lib");
    let nodes: Vec<Node> = Program::all(&module).unwrap().into_iter().map(|p| p.node.unwrap()).collect();
    let find = |name, index| nodes.iter().find(|node| node.id == id(name, index)).unwrap();
    assert_eq!(nodes.len(), 5);
    assert!(find("start", 0).is_entry);
    let add = find("add", 0);
    assert_eq!((add.grid, add.max_grid), (Some([2, 2, 1]), None));
    let shared = add.input.unwrap();
    assert!(shared.flags.contains(NodeFlags::READ_WRITE | NodeFlags::TRACKED | NodeFlags::COHERENT));
    let [sinks, nowhere] = &add.outputs[..] else { panic!("{:?}", add.outputs) };
    assert!(sinks.flags.contains(NodeFlags::ARRAY) && sinks.sparse && nowhere.sparse);
    assert_eq!((&sinks.id, sinks.nodes, sinks.max_records), (&id("sink", 0), Some(4), 3));
    assert_eq!(sinks.record, Some(RecordType { size: 32, align: 8, grid: None }));
    assert_eq!((nowhere.nodes, nowhere.record), (Some(1), None));
    let again = find("sink", 1);
    assert_eq!((again.launch, again.max_recursion), (Launch::Thread, 2));
    assert_eq!(find("sink", 2).input.unwrap().max_records, 2);
    let empty = find("done", 0).input.unwrap();
    assert_eq!((empty.flags, empty.record), (NodeFlags::INPUT | NodeFlags::EMPTY, None));
}

/// Why a node is refused that has the code of another one of its library.
fn refusal(name: &str, node: &str, code_of: &str) -> (String, &'static str) {
    let mut module = module(name);
    let find = |name: &str| module.functions.iter().position(|f| f.name == name.as_bytes()).unwrap();
    let (to, from) = (find(node), find(code_of));
    module.functions[to].body = module.functions[from].body.clone();
    let entry = Program::all(&module).unwrap().iter().position(|p| p.name == node).unwrap();
    let error = lift(&module, &LiftOptions { entry, ..LiftOptions::default() }).unwrap_err();
    let LiftError::Unsupported { text, why, .. } = error else { panic!("{error}") };
    (text, why)
}

#[test]
fn code_that_does_not_fit_its_node_is_refused() {
    for (name, node, code_of, text, why) in [
        (
            "wg_broadcast_thread",
            "leaf",
            "root",
            "dx.op.flattenedThreadIdInGroup.i32",
            "a place that the node's launch has not",
        ),
        (
            "wg_broadcast_thread",
            "root",
            "leaf",
            "dx.op.annotateNodeRecordHandle",
            "records of another size than is declared",
        ),
        ("graph_lib", "pairs", "add", "dx.op.groupId.i32", "a place that the node's launch has not"),
        (
            "graph_lib",
            "done",
            "start",
            "dx.op.createNodeOutputHandle",
            "an input or output that is not declared",
        ),
        (
            "graph_lib",
            "start",
            "again",
            "dx.op.annotateNodeHandle",
            "records of another size than is declared",
        ),
    ] {
        assert_eq!(refusal(name, node, code_of), (text.to_owned(), why), "{node} with {code_of}");
    }
}

#[test]
fn choices_between_records_are_refused() {
    let mut module = module("wg_broadcast_thread");
    let root = module.functions.iter().position(|f| f.name == b"root").unwrap();
    let base = module.values.len();
    let types = module.types.clone();
    let body = module.functions[root].body.as_mut().unwrap();
    let values = &body.values;
    let is = |id: ValueId, name: &str| {
        let ty = values.get(id.0 as usize - base).and_then(|v| types.get(v.ty));
        matches!(ty, Some(Type::Struct { name: Some(n), .. }) if n == name)
    };
    let condition = |inst: &Inst| matches!(inst.kind, InstKind::Compare { .. }).then_some(inst.result?);
    let condition = body.insts.iter().find_map(condition).unwrap();
    let is_record = |inst: &&mut Inst| inst.result.is_some_and(|id| is(id, "dx.types.NodeRecordHandle"));
    let mut records = body.insts.iter_mut().filter(is_record);
    let (first, second) = (records.next().unwrap(), records.next().unwrap());
    second.kind = InstKind::Select([condition, first.result.unwrap(), first.result.unwrap()]);
    let entry = Program::all(&module).unwrap().iter().position(|p| p.name == "root").unwrap();
    let error = lift(&module, &LiftOptions { entry, ..LiftOptions::default() }).unwrap_err();
    let LiftError::Unsupported { text, why, .. } = error else { panic!("{error}") };
    assert_eq!((text.as_str(), why), ("select", "a choice between handles"));
}

#[test]
fn damaged_nodes_are_lifted_or_refused() {
    let lift_all = |bytes: &[u8]| {
        let Ok(module) = bitcode(bytes).map(|code| read(code.bytes, &Limits::default())) else { return };
        let Ok(module) = module else { return };
        for entry in 0..Program::all(&module).map_or(0, |all| all.len()) {
            let _ = lift(&module, &LiftOptions { entry, ..LiftOptions::default() });
        }
    };
    for name in ["wg_broadcast_thread", "wg_coalescing", "graph_lib"] {
        let mut bytes = container(name);
        for at in 0..bytes.len() {
            // One bit of each byte, another one each time.
            let bit = 1 << (at % 8);
            bytes[at] ^= bit;
            lift_all(&bytes);
            bytes[at] ^= bit;
        }
    }
}

#[test]
fn the_librarys_part_says_what_metadata_says() {
    let mut count = 0;
    for name in ["wg_broadcast_thread", "wg_coalescing", "graph_lib"] {
        let bytes = container(name);
        let container = Container::parse(&bytes).unwrap();
        let part = container.part(FourCc::RDAT).unwrap();
        let Content::RuntimeData(data) = container.content(part).unwrap() else { panic!("{name}") };
        for program in Program::all(&module(name)).unwrap() {
            let function = data.functions.iter().find(|f| f.name == program.name).unwrap();
            assert_eq!(function.node, program.node, "{name}: {}", program.name);
            count += 1;
        }
    }
    assert_eq!(count, 8);
}
