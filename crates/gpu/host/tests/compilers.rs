//! Programs that the driver compiles in other processes first: what takes these down costs itself only.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use xenoglot_cache::process::{Limits, serve};
use xenoglot_cache::translate::present;
use xenoglot_cache::{Cache, Entry, Key, Kind, Options, Versions};
use xenoglot_host::{
    Access, Arguments, Binding, Commands, Compilation, Compiler, Compilers, Device, DeviceOptions, Error,
    Layout, State, Table,
};
use xenoglot_ir::Module;
use xenoglot_ir::text::{Limits as TextLimits, parse};
use xenoglot_testgen::property::budget;
use xenoglot_testgen::skip::skip;

/// Set in processes that these tests start, to what drivers do there.
const CHILD: &str = "XENOGLOT_HOST_TEST_COMPILER";

/// Programs that the processes' drivers do not survive: constants that they have.
const CRASHES: u32 = 0x5bad_0001;
const HANGS: u32 = 0x5bad_0002;
const PANICS: u32 = 0x5bad_0003;
const EATS_MEMORY: u32 = 0x5bad_0004;

/// Bytes of address space that a process may have, and what one that eats memory asks for.
const MEMORY: u64 = 1 << 34;
const TOO_MUCH: usize = 1 << 36;

/// Drivers that are the device's own.
const SOUND: &str = "sound";
/// Drivers with programs that they do not survive.
const FRAIL: &str = "frail";
/// Drivers that survive no program.
const BROKEN: &str = "broken";

#[test]
fn as_a_compiler() {
    let Ok(drivers) = std::env::var(CHILD) else { return };
    let mut compiler = Compiler::default();
    let answer = |request: &[u8]| {
        let has = |number: u32| request.windows(4).any(|bytes| bytes == number.to_le_bytes());
        // The second kind of request is that to compile.
        if drivers == BROKEN && request.first() == Some(&1) || drivers == FRAIL && has(CRASHES) {
            std::process::abort();
        }
        while drivers == FRAIL && has(HANGS) {
            thread::park();
        }
        assert!(drivers != FRAIL || !has(PANICS), "a bug");
        if drivers == FRAIL && has(EATS_MEMORY) {
            std::hint::black_box(Vec::<u8>::with_capacity(TOO_MUCH));
        }
        compiler.answer(request)
    };
    serve(answer).unwrap();
}

fn compilers(drivers: &'static str) -> Arc<Compilers> {
    let command = move || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "as_a_compiler", "--nocapture", "--test-threads=1"]).env(CHILD, drivers);
        command
    };
    // A process may take long to start on a busy machine.
    Arc::new(Compilers::new(command, Limits { deadline: Duration::from_secs(20), memory: Some(MEMORY) }))
}

/// Stores a number.
fn module(number: u32) -> Module {
    let text = format!(
        "module compute \"store\" {{
  workgroup 1 1 1
  storage @target = set 0 binding 3 readwrite

  entry func @main() {{
  block0:
    v0 : i32 = const 0
    v1 : i32 = const {number}
    store storage @target align 4, v0, v1
    return
  }}
}}"
    );
    parse(&text, &TextLimits::default()).unwrap()
}

fn layout(device: &Device) -> Layout {
    device.layout(&[Binding::new(3, Access::ReadWrite)])
}

/// What a device's program of a number stores.
fn stored(device: &Device, number: u32) -> Result<u32, Error> {
    let layout = layout(device);
    let program = device.program(&layout, module(number))?;
    let target = device.buffer(4)?;
    let arguments = Arguments::new(device, &layout, &[&target])?;
    let mut commands = Commands::default();
    commands.dispatch(&program, &arguments, &[], [1; 3]);
    commands.submit(device)?;
    let read = device.read(&[(&target, 0..4)])?;
    Ok(read[0][0])
}

/// A device with a cache in a folder; `None`, which is noted, where there is no device.
fn open(folder: &Path, versions: Versions, drivers: &'static str) -> Option<(Arc<Cache>, Device)> {
    let cache = Arc::new(Cache::open(folder, versions, &Options::default()).unwrap());
    match Device::open_with(&DeviceOptions::from_env(), &cache) {
        Ok(device) => Some((cache, device.with_compilers(compilers(drivers)).unwrap())),
        Err(error) => {
            skip(&error.to_string());
            None
        }
    }
}

fn contents(cache: &Cache) -> BTreeMap<Key, Vec<u8>> {
    cache.flush().unwrap();
    cache.hosts().unwrap().contents().unwrap()
}

#[test]
fn what_a_driver_does_not_survive_costs_itself_only() {
    let folder = tempfile::tempdir().unwrap();
    let good = budget(40, 1000);
    let bad =
        [(CRASHES, "crashed"), (HANGS, "timed out"), (PANICS, "panicked"), (EATS_MEMORY, "out of memory")];
    let numbers = || (0..good).chain(bad.map(|(number, _)| number));
    // The second run has it all from the cache: its drivers survive nothing. So are failures, though the driver is sound now.
    for drivers in [FRAIL, BROKEN, SOUND] {
        let Some((cache, device)) = open(folder.path(), present(), drivers) else { return };
        for number in numbers() {
            match (stored(&device, number), bad.iter().find(|(bad, _)| *bad == number)) {
                (found, None) => assert_eq!(found, Ok(number), "{drivers}"),
                (Err(Error::Program(reason)), Some((_, cause))) => {
                    assert!(reason.starts_with(cause), "{drivers}, {number:#x}: {reason}");
                }
                (found, Some(_)) => panic!("{drivers}, {number:#x}: {found:?}"),
            }
        }
        cache.flush().unwrap();
        let kinds = cache.hosts().unwrap().verify().unwrap().kinds;
        assert_eq!(kinds[Kind::Blob as usize].0, u64::from(good), "{drivers}");
        assert_eq!(kinds[Kind::Failure as usize].0, 4, "{drivers}");
    }
    // After an update they are tried again.
    let raised =
        present().iter().map(|(name, v)| (name.to_owned(), v + u16::from(name == "spirv"))).collect();
    let Some((_, device)) = open(folder.path(), raised, SOUND) else { return };
    numbers().for_each(|number| assert_eq!(stored(&device, number), Ok(number)));
}

#[test]
fn tables_compile_in_other_processes() {
    let folder = tempfile::tempdir().unwrap();
    let Some((_, device)) = open(folder.path(), present(), FRAIL) else { return };
    let table = Table::new(&device, &layout(&device), Compilation::Background, |&n: &u32| Ok(module(n)));
    for number in (0..20).chain([CRASHES]) {
        let state = loop {
            match table.get(&number) {
                State::Compiling => thread::sleep(Duration::from_millis(1)),
                state => break state,
            }
        };
        assert_eq!(matches!(state, State::Failed(_)), number == CRASHES, "{number}: {state:?}");
    }
}

#[test]
fn one_process_and_four_make_the_same_store() {
    let of = |threads: u32| {
        let folder = tempfile::tempdir().unwrap();
        let (cache, device) = open(folder.path(), present(), FRAIL)?;
        thread::scope(|scope| {
            for thread in 0..threads {
                let device = &device;
                scope.spawn(move || {
                    let all = (0..24).chain([CRASHES, PANICS]);
                    all.skip(thread as usize).step_by(threads as usize).for_each(|number| {
                        assert_eq!(stored(device, number).is_ok(), number < 24, "{number:#x}");
                    });
                });
            }
        });
        Some(contents(&cache))
    };
    let (Some(one), Some(four)) = (of(1), of(4)) else { return };
    assert!(one.len() > 2 * 24);
    let differs = |(key, bytes): &(&Key, &Vec<u8>)| four.get(key) != Some(*bytes);
    let differing: Vec<_> = one.iter().filter(differs).map(|(key, _)| key).collect();
    assert!(
        differing.is_empty() && one.len() == four.len(),
        "{differing:?}, {} of {}",
        one.len(),
        four.len()
    );
}

/// What is done to bytes of a driver.
type Change = fn(&[u8]) -> Vec<u8>;

/// Bytes that no driver gave, in entries whose hash is right: the program is compiled, or found, and is right.
#[test]
fn what_no_driver_gave_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let Some((cache, device)) = open(folder.path(), present(), SOUND) else { return };
    assert_eq!(stored(&device, 7), Ok(7));
    drop(device);
    let blobs: Vec<(Key, Entry)> = contents(&cache)
        .into_iter()
        .filter_map(|(key, bytes)| Some((key, xenoglot_cache::entry::decode(&key, &bytes).ok()?)))
        .filter(|(_, entry)| entry.kind == Kind::Blob)
        .collect();
    assert!(!blobs.is_empty());
    drop(cache);
    let changes: [Change; 5] = [
        |_| Vec::new(),
        |_| vec![0xa5; 4096],
        |bytes| bytes[..bytes.len() / 2].to_vec(),
        |bytes| bytes.iter().map(|byte| !byte).collect(),
        |bytes| [bytes, &[0; 100]].concat(),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let put = Cache::open(folder.path(), present(), &Options::default()).unwrap();
        for (key, entry) in &blobs {
            put.put(*key, entry.kind, entry.stamp, change(&entry.payload));
        }
        drop(put);
        let Some((_, device)) = open(folder.path(), present(), BROKEN) else { return };
        assert_eq!(stored(&device, 7), Ok(7), "change {number}");
    }
}

#[test]
fn what_is_no_compiler_is_an_error() {
    let device = match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => device,
        Err(error) => return skip(&error.to_string()),
    };
    for program in ["/nowhere/no-such-program", "false", "true"] {
        let limits = Limits { deadline: Duration::from_secs(20), memory: None };
        let compilers = Arc::new(Compilers::new(move || Command::new(program), limits));
        let opened = device.clone().with_compilers(compilers);
        assert!(matches!(opened, Err(Error::Open { .. })), "{program}: {opened:?}");
    }
    // Requests come from a pipe.
    for request in [&[][..], &[7; 9], b"\x01\x03gpu"] {
        assert!(Compiler::default().answer(request).is_err());
    }
}
