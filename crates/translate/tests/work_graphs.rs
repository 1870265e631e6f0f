//! Work graphs of Direct3D 12 on the interpreter and on a device: a scheduler that runs nodes until no records are left.
//!
//! It has what any scheduler has to have: records that wait for each node, and for each dispatch the node's arguments, queues for
//! its outputs with room for what it may give, and its records. All of that is one piece of memory here.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use xenoglot::dxil::{
    HeapSets, LiftOptions, Lifted, RegisterSpaces, Remapper, RootSignature, RootSignatureMap, lift_bound,
    load, programs,
};
use xenoglot::{Code, Host, Options, Translator};
use xenoglot_dxil::binding::nodes::{self, Arguments, Queue, groups};
use xenoglot_dxil::model::ResourceClass;
use xenoglot_dxil::program::{Launch, Node, NodeFlags, NodeOutput, RecordGrid};
use xenoglot_dxil::root_signature::{
    DescriptorFlags, Parameter, ParameterKind, Register, RootFlags, Version, Visibility,
};
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::Module;
use xenoglot_ir::module::ResourceKind;
use xenoglot_testgen::skip::skip;
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand, serve_if_worker};
use xenoglot_vulkan::{
    AddressOf, AddressedBuffer, ArrayElement, BindlessJob, BufferBinding, BufferKind, Device, DeviceInfo, Job,
};

/// Where the interpreter has the memory of a dispatch.
const ADDRESS: u64 = 0x12_3456_7000;
/// Instructions a dispatch may take.
const LIMITS: Limits = Limits { fuel: 10_000_000, call_depth: 8, memory: 16 << 20, events: 0, trace: 0 };

/// Not a test: what the others start as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

/// The device, if it has what work graphs need.
fn device() -> Option<&'static DeviceInfo> {
    static DEVICE: OnceLock<Option<DeviceInfo>> = OnceLock::new();
    let has = |d: &DeviceInfo| d.features.buffer_device_address && d.features.descriptor_indexing;
    DEVICE.get_or_init(|| Device::list().ok()?.into_iter().next().filter(has)).as_ref()
}

/// What runs a dispatch.
enum Engine {
    Interpreter,
    Device(Box<Isolated>),
}

/// The engines that there are.
fn engines() -> Vec<Engine> {
    let mut engines = vec![Engine::Interpreter];
    match device() {
        Some(_) => {
            let command = WorkerCommand::this_test("vulkan_worker").unwrap();
            engines.push(Engine::Device(Box::new(Isolated::new(command, IsolatedOptions::default()))));
        }
        None => skip("no Vulkan device with buffer addresses and descriptor indexing"),
    }
    engines
}

/// Memory of a dispatch, and where addresses of its own bytes are in it.
#[derive(Default)]
struct Memory {
    bytes: Vec<u8>,
    addresses: Vec<(usize, u32)>,
}

impl Memory {
    /// Puts bytes behind the others; where they are.
    fn put(&mut self, bytes: &[u8]) -> u32 {
        self.bytes.resize(self.bytes.len().next_multiple_of(16), 0);
        let at = self.bytes.len() as u32;
        self.bytes.extend(bytes);
        at
    }

    /// Notes that an address is written somewhere.
    fn link(&mut self, at: u32, to: u32) {
        self.addresses.push((at as usize, to));
    }

    fn word(&self, at: u32) -> u32 {
        u32::from_le_bytes(self.bytes[at as usize..][..4].try_into().unwrap())
    }
}

impl Engine {
    /// Runs a module with memory, and a buffer at register u0 of space 0 if it has one.
    fn run(&mut self, module: &Module, grid: [u32; 3], memory: &mut Memory, buffer: &mut Vec<u8>) {
        let storage = |(_, r): &(_, &xenoglot_ir::module::ResourceData)| {
            matches!(r.kind, ResourceKind::StorageBuffer { .. })
        };
        match self {
            Engine::Interpreter => {
                let mut interpreter = Interpreter::new(module).unwrap();
                let mut bindings = Bindings::new(module);
                for &(at, to) in &memory.addresses {
                    let address = (ADDRESS + u64::from(to)).to_le_bytes();
                    memory.bytes[at..][..8].copy_from_slice(&address);
                }
                bindings.set_memory(ADDRESS, memory.bytes.clone());
                for (id, r) in module.resources.iter() {
                    match r.kind {
                        ResourceKind::PushConstants { .. } => {
                            bindings.set_buffer(id, ADDRESS.to_le_bytes().to_vec())
                        }
                        ResourceKind::StorageBuffer { .. } => bindings.set_buffer(id, buffer.clone()),
                        _ => panic!("{r:?}"),
                    }
                }
                interpreter.dispatch(grid, &mut bindings, &LIMITS).unwrap();
                memory.bytes = bindings.memory(ADDRESS).to_vec();
                if let Some((id, _)) = module.resources.iter().find(storage) {
                    *buffer = bindings.buffer(id).to_vec();
                }
            }
            Engine::Device(device) => {
                let mut module = module.clone();
                let host = Host::named("vulkan-1.2").unwrap();
                let code = Translator::new().compile(&mut module, &host, &Options::default()).unwrap();
                let Code::Words(spirv) = code else { panic!("no words") };
                let has_buffer = module.resources.iter().any(|r| storage(&r));
                let element = |data: &Vec<u8>| ArrayElement {
                    element: 0,
                    buffer: BufferBinding {
                        set: 0,
                        binding: 0,
                        kind: BufferKind::Storage,
                        data: data.clone(),
                    },
                };
                let addresses = memory.addresses.iter();
                let addresses =
                    addresses.map(|&(at, offset)| AddressOf { at: at as u32, buffer: 0, offset }).collect();
                let job = BindlessJob {
                    spirv,
                    entry: "main".into(),
                    elements: has_buffer.then(|| element(buffer)).into_iter().collect(),
                    addressed: vec![AddressedBuffer { offset: 0, data: memory.bytes.clone(), addresses }],
                    push_constants: vec![0; 8],
                    groups: grid,
                };
                let mut buffers = device.run(&Job::Bindless(job)).unwrap().remove(0).buffers;
                memory.bytes = buffers.pop().unwrap();
                if has_buffer {
                    *buffer = buffers.remove(0);
                }
            }
        }
    }
}

/// Marks where nothing may write.
const GUARD: [u8; 16] = [0xa5; 16];

/// Arguments of a local root signature: two constants that the shader does not read, and an address.
const LOCAL: [u8; 16] = [0x5a; 16];
const LOCAL_ADDRESS: u32 = 8;

/// What waits for a node: how often it may still lead to itself, and a record, empty where records have no contents.
type Waiting = (u32, Vec<u8>);

/// A graph: its nodes, and the records that wait for each.
struct Graph {
    nodes: Vec<Lifted>,
    /// By name and place in the array.
    waiting: BTreeMap<(String, u32), Vec<Waiting>>,
    /// A node that is there, and not looked at: its records stay.
    other: Option<(&'static str, u32)>,
    /// Records that a queue has room for; as many as the node may give if not said.
    capacity: Option<u32>,
    /// Records that did not fit.
    lost: u32,
    /// Whether nodes have the buffer as an argument of a local root signature, by its address, and not as a descriptor.
    is_local: bool,
}

/// A queue in the memory of a dispatch.
struct Queued<'n> {
    output: &'n NodeOutput,
    /// The node's place in its array.
    index: u32,
    queue: u32,
    records: u32,
    capacity: u32,
}

impl Graph {
    fn load(path: &str) -> Graph {
        Graph::load_bound(path, &RegisterSpaces::default())
    }

    fn load_bound(path: &str, remapper: &dyn Remapper) -> Graph {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
        let module = load(&std::fs::read(folder.join(path).with_extension("dxil")).unwrap()).unwrap();
        let count = programs(&module).unwrap().len();
        let lifted =
            |entry| lift_bound(&module, &LiftOptions { entry, ..LiftOptions::default() }, remapper).unwrap();
        let nodes = (0..count).map(lifted).collect();
        Graph { nodes, waiting: BTreeMap::new(), other: None, capacity: None, lost: 0, is_local: false }
    }

    fn node(&self, name: &str, index: u32) -> Option<&Lifted> {
        self.nodes.iter().find(|l| {
            let id = &node_of(l).id;
            id.name == name && id.index == index
        })
    }

    fn give(&mut self, name: &str, index: u32, records: impl IntoIterator<Item = Vec<u8>>) {
        let levels = self.node(name, index).map_or(0, |l| node_of(l).max_recursion);
        let records = records.into_iter().map(|record| (levels, record));
        self.waiting.entry((name.into(), index)).or_default().extend(records);
    }

    fn waiting(&self, name: &str, index: u32) -> usize {
        self.waiting.get(&(name.into(), index)).map_or(0, Vec::len)
    }

    /// Runs nodes until no records wait for any that is there.
    fn run(&mut self, engine: &mut Engine, buffer: &mut Vec<u8>) {
        for _ in 0..100 {
            let is_waited_for = |l: &&Lifted| self.waiting(&node_of(l).id.name, node_of(l).id.index) != 0;
            let Some(lifted) = self.nodes.iter().find(is_waited_for).cloned() else { return };
            let node = node_of(&lifted);
            let key = (node.id.name.clone(), node.id.index);
            let waiting = self.waiting.remove(&key).unwrap();
            let levels = waiting[0].0;
            let mut records = Vec::new();
            for (of, record) in waiting {
                // Each record of a broadcasting node has a dispatch of its own.
                match of == levels && (node.launch != Launch::Broadcasting || records.is_empty()) {
                    true => records.push(record),
                    false => self.waiting.entry(key.clone()).or_default().push((of, record)),
                }
            }
            let grid = match node.launch {
                Launch::Broadcasting => grid_of(node, &records[0]),
                _ => groups(node, records.len() as u32),
            };
            self.dispatch(engine, &lifted, grid, (levels, &records), buffer);
        }
        panic!("the graph does not come to an end");
    }

    /// Runs a node on records, and gives what comes of it to the next ones.
    fn dispatch(
        &mut self,
        engine: &mut Engine,
        lifted: &Lifted,
        grid: [u32; 3],
        (levels, records): (u32, &[Vec<u8>]),
        buffer: &mut Vec<u8>,
    ) {
        let node = node_of(lifted);
        let outputs: Vec<(u64, u32)> = node.outputs.iter().map(|o| (0, o.nodes.unwrap())).collect();
        let (stride, count) = (records[0].len() as u32, records.len() as u32);
        let arguments = Arguments { stride, count, levels, outputs, ..Arguments::default() };
        let mut memory = Memory::default();
        memory.put(&arguments.to_bytes());
        let first = memory.put(&records.concat());
        memory.put(&GUARD);
        memory.link(nodes::RECORDS, first);
        let shared = self.is_local.then(|| {
            let (at, local) = (memory.put(buffer), memory.put(&LOCAL));
            memory.link(nodes::LOCAL, local);
            memory.link(local + LOCAL_ADDRESS, at);
            at as usize
        });
        let mut queues = Vec::new();
        for (n, output) in (0..).zip(&node.outputs) {
            let is_array = output.flags.contains(NodeFlags::ARRAY);
            let there = output.nodes.unwrap();
            // Of an array there is one more, for what is outside of it.
            let all = there + u32::from(is_array);
            let first = memory.put(&vec![0; (all * nodes::QUEUE_BYTES) as usize]);
            memory.link(nodes::OUTPUTS + nodes::OUTPUT_BYTES * n, first);
            for k in 0..all {
                let index = output.id.index + k;
                let is_it = k < there && self.is_there(node, levels, &output.id.name, index);
                let groups = grid.iter().product::<u32>();
                let most = match node.launch {
                    Launch::Thread => output.max_records * count,
                    _ => output.max_records * groups,
                };
                let capacity = if is_it { self.capacity.unwrap_or(most) } else { 0 };
                let queue = first + k * nodes::QUEUE_BYTES;
                let bytes = Queue { count: 0, capacity, records: 0 }.to_bytes();
                memory.bytes[queue as usize..][..bytes.len()].copy_from_slice(&bytes);
                let stride = output.record.map_or(0, |ty| ty.stride());
                let records = memory.put(&vec![0; ((capacity + 1) * stride) as usize]);
                memory.bytes.extend(GUARD);
                memory.link(queue + nodes::QUEUE_RECORDS, records);
                queues.push(Queued { output, index, queue, records, capacity });
            }
        }
        engine.run(&lifted.module, grid, &mut memory, buffer);
        if let Some(at) = shared {
            let len = buffer.len();
            buffer.copy_from_slice(&memory.bytes[at..][..len]);
        }
        for Queued { output, index, queue, records, capacity } in queues {
            let stride = output.record.map_or(0, |ty| ty.stride());
            let guard = &memory.bytes[(records + (capacity + 1) * stride) as usize..][..GUARD.len()];
            assert_eq!(guard, GUARD, "nothing is written behind the records");
            let count = memory.word(queue + nodes::QUEUE_COUNT);
            let filled = Queue { count, capacity, records: 0 }.filled();
            self.lost += count - filled;
            let record = |n: u32| memory.bytes[(records + n * stride) as usize..][..stride as usize].to_vec();
            let given = (0..filled).map(record);
            if output.id.name == node.id.name && index == node.id.index {
                let again = self.waiting.entry((node.id.name.clone(), index)).or_default();
                again.extend(given.map(|record| (levels - 1, record)));
            } else {
                self.give(&output.id.name, index, given);
            }
        }
    }

    /// Whether a node may be given records: one that leads to itself only as often as it says.
    fn is_there(&self, from: &Node, levels: u32, name: &str, index: u32) -> bool {
        if from.id.name == name && from.id.index == index {
            return levels > 0;
        }
        self.other == Some((name, index)) || self.node(name, index).is_some()
    }
}

fn node_of(lifted: &Lifted) -> &Node {
    lifted.program.node.as_ref().unwrap()
}

/// The groups that a record asks for.
fn grid_of(node: &Node, record: &[u8]) -> [u32; 3] {
    let Some(RecordGrid { offset, components, bytes }) = node.input.and_then(|i| i.record?.grid) else {
        return node.grid.unwrap();
    };
    let mut grid = [1; 3];
    for (n, groups) in grid.iter_mut().enumerate().take(components as usize) {
        let at = offset as usize + n * bytes as usize;
        *groups = (0..bytes as usize).map(|b| u32::from(record[at + b]) << (8 * b)).sum();
    }
    let most = node.max_grid.unwrap();
    assert!(grid.iter().zip(most).all(|(&n, most)| n <= most));
    grid
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect()
}

/// What nodes of the first graph store: how many values, and those in order.
fn stored(buffer: &[u8]) -> Vec<u32> {
    let words = words(buffer);
    let mut values = words[1..=words[0] as usize].to_vec();
    assert!(words[words[0] as usize + 1..].iter().all(|&w| w == 0));
    values.sort();
    values
}

/// Runs `wg_broadcast_thread` with two groups that count from 100 on, and three from 1000 on.
fn run_two_groups_and_three(graph: &mut Graph, engine: &mut Engine) {
    graph.give("root", 0, [bytes(&[2, 1, 1, 100]), bytes(&[3, 1, 1, 1000])]);
    let mut buffer = vec![0; 4 * 256];
    graph.run(engine, &mut buffer);
    // Every second invocation gives a record.
    let want: Vec<u32> = (0..32).map(|n| 100 + 2 * n).chain((0..48).map(|n| 1000 + 2 * n)).collect();
    assert_eq!(stored(&buffer), want);
    assert_eq!(graph.lost, 0);
}

#[test]
fn a_grid_for_each_record_and_an_invocation_for_each_record() {
    for mut engine in engines() {
        let mut graph = Graph::load("dxil-2/stages/wg_broadcast_thread");
        run_two_groups_and_three(&mut graph, &mut engine);
    }
}

#[test]
fn arguments_of_a_local_root_signature() {
    let constants = ParameterKind::Constants { register: Register { number: 7, space: 1 }, count: 2 };
    let flags = DescriptorFlags::default();
    let register = Register { number: 0, space: 0 };
    let buffer = ParameterKind::Descriptor { class: ResourceClass::Uav, register, flags };
    let parameters = [constants, buffer].map(|kind| Parameter { visibility: Visibility::All, kind });
    let [local, global] = [parameters.into(), vec![]].map(|parameters| {
        let (version, flags, samplers) = (Version::V1_1, RootFlags::default(), vec![]);
        RootSignature { version, flags, parameters, samplers }
    });
    let map = RootSignatureMap::new(&global, Some(&local), HeapSets::default());
    for mut engine in engines() {
        let mut graph = Graph::load_bound("dxil-2/stages/wg_broadcast_thread", &map);
        graph.is_local = true;
        let is_buffer = |kind: &ResourceKind| matches!(kind, ResourceKind::StorageBuffer { .. });
        assert!(graph.nodes.iter().all(|l| !l.module.resources.values().any(|r| is_buffer(&r.kind))));
        run_two_groups_and_three(&mut graph, &mut engine);
    }
}

#[test]
fn records_that_do_not_fit_go_nowhere() {
    for mut engine in engines() {
        let mut graph = Graph::load("dxil-2/stages/wg_broadcast_thread");
        graph.capacity = Some(5);
        graph.give("root", 0, [bytes(&[2, 1, 1, 100])]);
        let mut buffer = vec![0; 4 * 256];
        graph.run(&mut engine, &mut buffer);
        let values = stored(&buffer);
        assert_eq!(values.len(), 5);
        assert!(values.iter().all(|n| (100..164).contains(n) && n % 2 == 0), "{values:?}");
        // The count says what was wanted.
        assert_eq!(graph.lost, 27);
    }
}

#[test]
fn a_group_for_several_records() {
    for mut engine in engines() {
        for (records, counted) in [(&[1, 2, 3][..], 0), (&[4, 5, 6], 1), (&[7; 16], 1)] {
            let mut graph = Graph::load("dxil-2/stages/wg_coalescing");
            graph.other = Some(("next", 1));
            graph.give("gather", 0, records.iter().map(|&n| bytes(&[n])));
            let mut buffer = vec![0; 16];
            graph.run(&mut engine, &mut buffer);
            assert_eq!(words(&buffer)[0], records.iter().sum::<u32>());
            assert_eq!(graph.waiting("next", 1), counted);
        }
        // Two groups, of 16 records and of 2; the sum that is stored is one of theirs, and both are above 10.
        let mut graph = Graph::load("dxil-2/stages/wg_coalescing");
        graph.other = Some(("next", 1));
        graph.give("gather", 0, (0..18).map(|n| bytes(&[n])));
        let mut buffer = vec![0; 16];
        graph.run(&mut engine, &mut buffer);
        let sum = words(&buffer)[0];
        assert!(sum == 120 || sum == 33, "{sum}");
        assert_eq!(graph.waiting("next", 1), 2);
    }
}

#[test]
fn shared_records_arrays_of_nodes_and_recursion() {
    for mut engine in engines() {
        let mut graph = Graph::load("dxil/stages-own/graph_lib");
        // Of the array of nodes that they choose from there are 1 and 2; 9 is outside.
        graph.give("start", 0, [0, 1, 2, 9].map(|n| bytes(&[n])));
        let mut buffer = vec![0; 4 * 64];
        graph.run(&mut engine, &mut buffer);
        // The 32 invocations of four groups add their numbers to the record that they share.
        let sum: u32 = (0..32).sum();
        let mut want = vec![0, 9];
        // A node that leads to itself twice, each time looking one part further.
        for record in 0..3 {
            for (level, step) in [(2, 1), (1, 2), (0, 3)] {
                let part = record * 10 + (record + step) % 4;
                want.push(sum * 1000 + part * 10 + level);
            }
        }
        // Two records that a group swaps, and one that is alone; then the node that counts them.
        want.extend([sum + 3, sum + 13, sum + 23, 7_000_003]);
        want.sort();
        assert_eq!(stored(&buffer), want);
        assert_eq!(graph.lost, 0);
    }
}
