//! Programs on the host's device: what they compute, in order, in the background, and errors for what cannot be.

use std::time::{Duration, Instant};

use xenoglot_host::{
    Access, Arguments, Binding, Commands, Compilation, Device, DeviceOptions, Error, Layout, State, Table,
};
use xenoglot_ir::Module;
use xenoglot_ir::text::{Limits, parse};
use xenoglot_testgen::skip::skip;

/// `target[i] = source[i] * factor + target[i]` for each invocation; bindings with gaps.
const MULTIPLY_ADD: &str = "module compute \"multiply-add\" {
  workgroup 4 1 1
  input %id = builtin global_invocation_id : i32x3
  uniform @factor = set 0 binding 2 size 16
  storage @source = set 0 binding 5 read
  storage @target = set 0 binding 9 readwrite

  entry func @main() {
  block0:
    v0 : i32x3 = input %id
    v1 : i32 = extract 0, v0
    v2 : i32 = const 4
    v3 : i32 = imul v1, v2
    v4 : i32 = const 0
    v5 : i32 = load uniform @factor align 4, v4
    v6 : i32 = load storage @source align 4, v3
    v7 : i32 = load storage @target align 4, v3
    v8 : i32 = imul v5, v6
    v9 : i32 = iadd v7, v8
    store storage @target align 4, v3, v9
    return
  }
}";

const UNIFORM: Access = Access::Uniform { size: 16 };

fn module() -> Module {
    parse(MULTIPLY_ADD, &Limits::default()).unwrap()
}

fn device() -> Option<Device> {
    match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => Some(device),
        Err(error) => {
            skip(&error.to_string());
            None
        }
    }
}

fn layout(device: &Device) -> Layout {
    let bindings = [(9, Access::ReadWrite), (2, UNIFORM), (5, Access::Read)];
    device.layout(&bindings.map(|(number, access)| Binding::new(number, access)))
}

#[test]
fn dispatches_see_what_came_before_them() {
    let Some(device) = device() else { return };
    println!("{}, words {}", device.name(), if device.is_native() { "as they are" } else { "through naga" });
    let layout = layout(&device);
    let program = device.program(&layout, module()).unwrap();
    let stride = device.uniform_alignment();
    let mut factors = vec![0; stride as usize / 4 + 4];
    (factors[0], factors[stride as usize / 4]) = (10, 1000);
    let factors = device.buffer_of(&factors).unwrap();
    let source = device.buffer_of(&(0..8).collect::<Vec<u32>>()).unwrap();
    let [target, copy] = [0; 2].map(|_| device.buffer(32).unwrap());
    let arguments = Arguments::new(&device, &layout, &[&factors, &source, &target]).unwrap();
    let mut commands = Commands::default();
    commands.dispatch(&program, &arguments, &[0], [2, 1, 1]);
    commands.copy(&target, 4..12, &copy, 0);
    commands.dispatch(&program, &arguments, &[stride], [1, 1, 1]);
    commands.submit(&device).unwrap();
    assert!(commands.is_empty());
    let read = device.read(&[(&target, 0..32), (&copy, 0..8), (&target, 8..8)]).unwrap();
    assert_eq!(read, [vec![0, 1010, 2020, 3030, 40, 50, 60, 70], vec![10, 20], vec![]]);
}

#[test]
fn programs_may_be_wgsl() {
    let Some(device) = device() else { return };
    let layout = device.layout(&[Binding::new(3, Access::ReadWrite)]);
    let source = "
        @group(0) @binding(3) var<storage, read_write> words: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) { words[i] += i * i; }";
    let program = device.wgsl_program(&layout, source, "main").unwrap();
    let words = device.buffer_of(&[100; 4]).unwrap();
    let arguments = Arguments::new(&device, &layout, &[&words]).unwrap();
    let mut commands = Commands::default();
    commands.dispatch(&program, &arguments, &[], [1; 3]);
    commands.submit(&device).unwrap();
    assert_eq!(device.read(&[(&words, 0..16)]).unwrap(), [[100, 101, 104, 109]]);
    assert!(matches!(device.wgsl_program(&layout, "fn", "main"), Err(Error::Program(_))));
}

/// A program says how many workgroups another one has; stages are measured, and commands between them run, too.
#[test]
fn the_device_says_how_far_a_dispatch_goes() {
    let Some(device) = device() else { return };
    let layout = device.layout(&[Binding::new(0, Access::ReadWrite)]);
    let source = "
        @group(0) @binding(0) var<storage, read_write> words: array<u32>;
        @compute @workgroup_size(1) fn groups() { words[4] = 5u; words[5] = 2u; words[6] = 1u; }
        @compute @workgroup_size(1) fn mark(@builtin(workgroup_id) id: vec3<u32>) { words[5u * id.y + id.x] = 7u; }";
    let program = |entry| device.wgsl_program(&layout, source, entry).unwrap();
    let (groups, mark) = (program("groups"), program("mark"));
    let (numbers, words) = (device.indirect_buffer(32).unwrap(), device.buffer(48).unwrap());
    let arguments = |buffer| Arguments::new(&device, &layout, &[buffer]).unwrap();
    let (of_numbers, of_words) = (arguments(&numbers), arguments(&words));
    for timed in [false, true] {
        let mut commands = Commands::default();
        commands.dispatch(&groups, &of_numbers, &[], [1; 3]);
        commands.stage("marks");
        commands.dispatch_indirect(&mark, &of_words, &[], (&numbers, 16));
        commands.copy(&numbers, 16..24, &words, 40);
        if timed {
            let stages = commands.submit_timed(&device).unwrap();
            let names: Vec<&str> = stages.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, if device.has_timestamps() { vec!["other", "marks"] } else { Vec::new() });
        } else {
            commands.submit(&device).unwrap();
        }
        assert!(commands.is_empty());
        let read = device.read(&[(&words, 0..48)]).unwrap();
        assert_eq!(read, [[7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 5, 2]]);
        let zeros = device.buffer(48).unwrap();
        commands.copy(&zeros, 0..48, &words, 0);
        commands.submit(&device).unwrap();
    }
}

#[test]
fn a_lost_device_says_so() {
    let Some(device) = device() else { return };
    let words = device.buffer_of(&[1, 2]).unwrap();
    device.wgpu().0.destroy();
    let read = device.read(&[(&words, 0..8)]);
    assert!(matches!(read, Err(Error::Lost(_))), "{read:?}");
    assert!(matches!(device.buffer_of(&[1]), Err(Error::Lost(_))));
}

#[test]
fn background_programs_become_ready() {
    let Some(device) = device() else { return };
    let layout = layout(&device);
    let translate = |number: &u32| match number {
        0 => Err(Error::Translation("none".into())),
        _ => Ok(module()),
    };
    let table = Table::new(&device, &layout, Compilation::Background, translate);
    assert!(matches!(table.get(&1), State::Compiling | State::Ready(_)));
    assert!(matches!(table.get(&0), State::Compiling | State::Failed(_)));
    let start = Instant::now();
    while table.counts()[1] != 0 {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(matches!(table.get(&1), State::Ready(_)));
    assert!(matches!(table.get(&0), State::Failed(Error::Translation(_))));
    assert_eq!(table.counts(), [1, 0, 1]);

    let table = Table::new(&device, &layout, Compilation::Blocking, translate);
    assert!(matches!(table.get(&7), State::Ready(_)));
}

#[test]
fn what_cannot_be_is_a_typed_error() {
    let none = DeviceOptions { selector: Some("no such device".into()), ..DeviceOptions::default() };
    assert!(matches!(Device::open(&none), Err(Error::NoDevice { .. })));
    let Some(device) = device() else { return };
    let layout = layout(&device);
    assert!(matches!(device.buffer(u64::MAX), Err(Error::Buffer { .. })));
    let mut broken = module();
    broken.entry = None.into();
    assert!(matches!(device.program(&layout, broken), Err(Error::Translation(_))));
    let buffer = device.buffer(16).unwrap();
    assert!(matches!(Arguments::new(&device, &layout, &[&buffer]), Err(Error::Arguments(_))));
    assert!(matches!(device.read(&[(&buffer, 8..32)]), Err(Error::Arguments(_))));
    let mut commands = Commands::default();
    commands.copy(&buffer, 0..16, &buffer, 4);
    assert!(matches!(commands.submit(&device), Err(Error::Arguments(_))));
    // None of these harmed the device.
    assert_eq!(device.read(&[(&buffer, 0..16)]).unwrap(), [[0; 4]]);
}

#[test]
fn threads_read_from_one_device() {
    let Some(device) = device() else { return };
    std::thread::scope(|scope| {
        for thread in 0..8u32 {
            let device = device.clone();
            scope.spawn(move || {
                for round in 0..50 {
                    let words = [thread, round, 0, u32::MAX];
                    let buffer = device.buffer_of(&words).unwrap();
                    assert_eq!(device.read(&[(&buffer, 0..16)]).unwrap(), [words.to_vec()]);
                }
            });
        }
    });
}

/// A second run finds the code, and what the driver made of it.
#[test]
fn a_cache_on_disk_has_programs_of_earlier_runs() {
    use std::sync::Arc;
    use xenoglot_cache::translate::present;
    use xenoglot_cache::{Cache, Kind, Options, Versions};

    let Some(first) = device() else { return };
    let options = DeviceOptions { selector: Some(first.name().to_owned()), ..DeviceOptions::default() };
    let folder = tempfile::tempdir().unwrap();
    let run = |versions: Versions| {
        let cache = Arc::new(Cache::open(folder.path(), versions, &Options::default()).unwrap());
        {
            let device = Device::open_with(&options, &cache).unwrap();
            let layout = layout(&device);
            for compilation in [Compilation::Background, Compilation::Blocking] {
                let table = Table::new(&device, &layout, compilation, |_: &u8| Ok(module()));
                let start = Instant::now();
                let program = loop {
                    match table.get(&1) {
                        State::Ready(program) => break program,
                        State::Compiling => std::thread::sleep(Duration::from_millis(1)),
                        State::Failed(error) => panic!("{error}"),
                    }
                    assert!(start.elapsed() < Duration::from_secs(120));
                };
                assert!(table.peek(&2).is_none() && table.waited() > Duration::ZERO);
                let factors = device.buffer_of(&[10, 0, 0, 0]).unwrap();
                let source = device.buffer_of(&[1, 2, 3, 4]).unwrap();
                let target = device.buffer(16).unwrap();
                let arguments = Arguments::new(&device, &layout, &[&factors, &source, &target]).unwrap();
                let mut commands = Commands::default();
                commands.dispatch(&program, &arguments, &[0], [1, 1, 1]);
                commands.submit(&device).unwrap();
                assert_eq!(device.read(&[(&target, 0..16)]).unwrap(), [[10, 20, 30, 40]]);
            }
        }
        cache.flush().unwrap();
        let kinds = cache.hosts().unwrap().verify().unwrap().kinds;
        let counts = cache.counts();
        (counts.misses, counts.hits, kinds[Kind::Artifact as usize].0, kinds[Kind::Blob as usize].0)
    };
    let (misses, hits, artifacts, blobs) = run(present());
    assert_eq!((misses, hits, artifacts), (1, 1, 1));
    assert!(blobs <= 1);
    assert_eq!(run(present()), (0, 2, 1, blobs));
    // After an update of the writer it is translated again.
    let raised =
        present().iter().map(|(name, v)| (name.to_owned(), v + u16::from(name == "spirv"))).collect();
    assert_eq!(run(raised), (1, 1, 2, blobs));
}
