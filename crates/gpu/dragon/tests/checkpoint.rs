//! Checkpoints: a machine that is restored goes on as the one that was saved, and bytes that are none are refused.

mod common;

use common::*;
use proptest::prelude::*;
use std::sync::LazyLock;
use xenoglot_capture::{Block, Capture, Info, Limits};
use xenoglot_dragon::checkpoint::{CheckpointError, HOST, MACHINE, STATE, TRACE, load, save};
use xenoglot_dragon::host::{Demo, Drawing, wooden_crate};
use xenoglot_dragon::{Event, Machine};
use xenoglot_trace::Trace;
use xenoglot_vpu::asm::assemble;

/// A demo whose programs also sample a texture, over whatever memory holds.
fn sampling() -> Demo {
    let source = "tex r2, r1, t0\nldt r3, tb1\nswz r4, r0.zzzz\nsub r5.x, r3, r4\nkill r5\nstore tb0, r2\nstore tb1, r4";
    Demo { program: assemble(source).unwrap(), screen: [40, 40], ..other_demo() }
}

/// What came of a run: picture, ticks of the frame, time, trace.
type Outcome = (Vec<u8>, u64, u64, Trace);

fn outcome(mut machine: Machine, drawing: Drawing) -> Outcome {
    let frame = drawing.finish(&mut machine).unwrap();
    machine.drain().unwrap();
    (frame.picture.rgb, frame.ticks, machine.now(), machine.take_trace().unwrap())
}

fn begun(demo: &Demo, toml: &str, skip: bool) -> (Machine, Drawing) {
    let mut machine = machine(toml);
    machine.set_skipping(skip);
    machine.start_trace();
    let drawing = demo.begin(&mut machine, 1).unwrap();
    (machine, drawing)
}

#[test]
fn a_restored_machine_goes_on_as_if_it_had_not_stopped() {
    let small = Demo { screen: [40, 40], ..demo() };
    let slow = "vpus = 2\nthreads = 3\nfifo = 4\nnumber = \"f32\"\n[memory]\nbytes = 131072\n[memory.sdram]\nrefresh = 100";
    for (demo, toml, step) in [
        (&small, "bin_size = 8\nmemory.bytes = 131072", 397),
        (&small, slow, 2011),
        (&sampling(), "vpu_queue = 3\nmemory.bytes = 131072", 1013),
    ] {
        let (machine, drawing) = begun(demo, toml, true);
        let want = outcome(machine, drawing);
        let mut points = 0;
        for skip in [true, false] {
            let (mut machine, mut drawing) = begun(demo, toml, skip);
            let mut pauses = (1..).map(|n| n * step);
            while !drawing.run_until(&mut machine, pauses.next().unwrap(), |_| false).unwrap() {
                points += 1;
                let bytes = save(&machine, &drawing).unwrap();
                let (copy, rest): (Machine, Drawing) = load(&bytes).unwrap();
                assert_eq!(rest, drawing);
                assert!(outcome(copy, rest) == want, "{toml}: from tick {}", machine.now());
                // The next checkpoint is one of a machine that was restored.
                (machine, drawing) = load(&bytes).unwrap();
            }
            assert!(outcome(machine, drawing) == want, "{toml}");
        }
        assert!(points > 10, "{toml}: {points}");
    }
}

/// A machine in the middle of a draw, small.
fn busy() -> (Machine, Drawing) {
    let demo = Demo { screen: [40, 40], ..demo() };
    let toml = "bin_size = 16\nvertex_cache = 4\ntexture_cache = 4\nthreads = 4\nvpu_queue = 2\nmemory.bytes = 65536";
    let (mut machine, mut drawing) = begun(&demo, toml, true);
    let running =
        |machine: &Machine| machine.activity().any(|(name, event)| name == "vpu1" && event == Event::Exec);
    drawing.run_until(&mut machine, u64::MAX, running).unwrap();
    (machine, drawing)
}

/// A checkpoint in its parts: memory, state, and the host's.
fn parts(bytes: &[u8]) -> Capture {
    Capture::from_bytes(bytes, &Limits::default()).unwrap()
}

fn payload(capture: &Capture, kind: u32) -> Vec<u8> {
    capture.ops.iter().find(|op| op.kind == kind).unwrap().payload.to_vec()
}

/// A checkpoint of parts, with right checksums.
fn forged(memory: Vec<u8>, state: &[u8], trace: &[u8]) -> Vec<u8> {
    let mut capture = Capture::new(MACHINE, Info::default());
    capture.memory.push(Block { address: 0, bytes: memory });
    capture.ops.push(STATE, &[state]);
    capture.ops.push(TRACE, &[trace]);
    capture.ops.push(HOST, &[]);
    capture.to_bytes()
}

#[test]
fn what_is_no_checkpoint_says_why() {
    let (machine, _) = busy();
    let whole = save(&machine, &()).unwrap();
    let fails = |bytes: &[u8]| load::<()>(bytes).unwrap_err().to_string();
    let capture = parts(&whole);
    let (memory, state) = (capture.memory[0].bytes.clone(), payload(&capture, STATE));
    let trace = payload(&capture, TRACE);
    assert!(load::<()>(&forged(memory.clone(), &state, &trace)).is_ok());
    assert!(fails(b"nothing").contains("not a capture"));
    assert!(fails(&whole[..whole.len() / 2]).contains("early"));
    assert!(fails(&Capture::new(*b"PICA", Info::default()).to_bytes()).contains("a capture of PICA"));
    assert!(fails(&Capture::new(MACHINE, Info::default()).to_bytes()).contains("no memory"));
    assert!(fails(&forged(memory[1..].to_vec(), &state, &trace)).contains("state of the memory"));
    assert!(fails(&forged(memory.clone(), &state[..40], &trace)).starts_with("state: "));
    assert!(fails(&forged(memory.clone(), &[&[9], &state[1..]].concat(), &trace)).contains("version 9"));
    assert!(fails(&forged(memory, &state, &[])).starts_with("trace: "));
    let text = load::<String>(&whole).unwrap_err();
    assert!(matches!(text, CheckpointError::Contents { what: "host", .. }), "{text}");
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(2000))]
    /// Any part of a checkpoint with changed bytes, checksums right or wrong, is refused or runs.
    #[test]
    fn changed_checkpoints_are_refused_or_run(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
        part in 0..3,
    ) {
        static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| save(&busy().0, &()).unwrap());
        let change = |bytes: &mut Vec<u8>| {
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            if let Some(cut) = &cut {
                bytes.truncate(cut.index(bytes.len()));
            }
        };
        let capture = parts(&WHOLE);
        let (mut state, mut trace) = (payload(&capture, STATE), payload(&capture, TRACE));
        let bytes = match part {
            0 => {
                let mut bytes = WHOLE.clone();
                change(&mut bytes);
                bytes
            }
            1 => {
                change(&mut state);
                forged(capture.memory[0].bytes.clone(), &state, &trace)
            }
            _ => {
                change(&mut trace);
                forged(capture.memory[0].bytes.clone(), &state, &trace)
            }
        };
        if let Ok((mut machine, ())) = load::<()>(&bytes) {
            let end = machine.now() + 3000;
            let _ = machine.run_until(&mut &[][..], end, |_| false);
            machine.take_trace();
        }
    }
}

/// Fails when the state's layout changed: then [`VERSION`](xenoglot_dragon::checkpoint::VERSION) has to, and the file is
/// made anew by `xenoglot dragon step --model crate --set memory.bytes=262144 --break tick=60000 --checkpoint FILE`.
#[test]
fn checkpoints_of_this_version_are_still_read() {
    let file = include_bytes!("checkpoint/version.xgc");
    let (mut machine, (n, drawing)): (Machine, (u32, Drawing)) = load(file).unwrap();
    let mut fresh = Machine::new(machine.params().clone()).unwrap();
    let want = Demo::new(wooden_crate()).unwrap().frame(&mut fresh, n).unwrap();
    assert!(drawing.finish(&mut machine).unwrap() == want);
}
