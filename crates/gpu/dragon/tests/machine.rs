//! The machine's promises: pixels that depend on no unit count, signals, endless waits, traces that add up.

mod common;

use common::*;
use proptest::prelude::*;
use xenoglot_dragon::command::{Command, Write, sig};
use xenoglot_dragon::host::{Buffering, Demo, psnr};
use xenoglot_dragon::{Event, Faults, Machine, Params, Reason};
use xenoglot_trace::{Trace, chrome, perfetto};
use xenoglot_vpu::asm::assemble;

#[test]
fn pixels_are_the_same_for_all_unit_counts() {
    for demo in [demo(), other_demo()] {
        let want = frame(&demo, "").picture;
        let colors: std::collections::BTreeSet<&[u8]> = want.rgb.chunks(3).collect();
        assert!(colors.len() > 50, "the model is not seen");
        for toml in [
            "vpus = 1",
            "vpus = 2",
            "vpus = 8",
            "threads = 1",
            "threads = 3\nvpus = 3",
            "threads = 64",
            "vpu_queue = 1",
            "bin_size = 8",
            "bin_size = 64",
            "fifo = 1",
            "[raster]\npixels = 1",
            "[raster]\nrow_skip = false",
            "[memory]\ntiming = \"timer\"",
            "[memory.sdram]\nbanks = 1\nrefresh = 40",
            "[latency]\nsimple = 7\ntile = 9",
            "vertex_cache = 1",
        ] {
            // The checkerboard is one of bins.
            let same = !toml.contains("bin_size");
            let got = frame(&demo, toml).picture;
            assert!(!same || got == want, "{toml}: {} dB", psnr(&got, &want));
        }
        let unbinned = Demo { binning: false, ..demo };
        assert_eq!(frame(&unbinned, "").picture, want);
    }
}

#[test]
fn programs_without_depth_see_fragments_in_order() {
    let program = assemble("ldt r2, tb0\nmul r1, r1, r2\nstore tb0, r1\nexit").unwrap();
    let blended = Demo { program, ..demo() };
    let want = frame(&blended, "").picture;
    for toml in
        ["vpus = 1\nthreads = 1", "vpus = 8\nthreads = 64\nvpu_queue = 64", "[latency]\nmultiply = 50"]
    {
        assert_eq!(frame(&blended, toml).picture, want, "{toml}");
    }
}

#[test]
fn row_skipping_saves_ticks() {
    let (with, without) = (frame(&demo(), ""), frame(&demo(), "[raster]\nrow_skip = false"));
    assert!(with.ticks < without.ticks, "{} {}", with.ticks, without.ticks);
}

#[test]
fn double_buffering_hides_filling_and_storing() {
    let double = frame(&demo(), "");
    let single = frame(&Demo { buffering: Buffering::Single, ..demo() }, "");
    assert_eq!(single.picture, double.picture);
    assert!(double.ticks < single.ticks);
    // A tile is two fills of 1024 / 16 ticks and 32 rows of 12 + 4, and a few commands.
    let bins = 3 * 3;
    let hidden = bins * (2 * 64 + 32 * 16 + 40);
    assert!(single.ticks - double.ticks <= hidden, "{} {}", single.ticks, double.ticks);
}

#[test]
fn a_wait_clears_what_it_waited_for_and_nothing_else() {
    let mut machine = machine("");
    machine.run(&fill()).unwrap();
    assert_eq!(machine.signals(), 1 << 20);
    machine.run(&writes(&[Command::SigWait(1 << 20)])).unwrap();
    assert_eq!(machine.signals(), 0);
}

#[test]
fn a_wait_that_nothing_ends_is_reported_with_all_units() {
    let wait = writes(&[Command::SigWait(sig::TRIANGLES | sig::GLOBAL)]);
    let mut plain = machine("tick_limit = 1000");
    plain.set_skipping(false);
    for mut machine in [machine("tick_limit = 1000"), plain] {
        let error = machine.run(&wait).unwrap_err();
        assert_eq!((error.reason, error.mask), (Reason::Stuck, sig::TRIANGLES | sig::GLOBAL));
        assert_eq!(error.tick, 2);
        assert_eq!(error.units.len(), machine.unit_count());
        assert_eq!(error.units[0].event, Event::GPUWait);
        assert!(error.to_string().contains("waits for 0x1004"), "{error}");
    }
}

#[test]
fn a_program_that_never_ends_meets_the_limit() {
    let program = assemble("again: jmp again").unwrap();
    let error = Demo { program, ..demo() }.frame(&mut machine("tick_limit = 30000"), 0).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("not over after 30000 ticks") && text.contains("16 threads"), "{text}");
}

#[test]
fn faults_stay_until_they_are_cleared() {
    let mut machine = machine("");
    machine.run(&[Write { register: 0xff, value: 0 }, Write { register: 0x10, value: 4 }]).unwrap();
    assert_eq!(machine.faults(), Faults::REGISTER | Faults::VALUE);
    machine.run(&fill()).unwrap();
    assert_eq!(machine.faults(), Faults::REGISTER | Faults::VALUE);
    machine.clear_faults();
    let store = Command::ExecVpuTileStore { tile: 0, sig: sig::VPU_TILE0 };
    machine
        .run(&writes(&[Command::SetVpuTileAddr(0, u32::MAX), store, Command::SigWait(sig::VPU_TILE0)]))
        .unwrap();
    assert_eq!(machine.faults(), Faults::MEMORY);
}

#[test]
fn a_tile_that_is_stored_loads_to_the_same() {
    let mut machine = machine("");
    let [address, stride] = [Command::SetVpuTileAddr(0, 4096), Command::SetTileStride(64)];
    machine.run(&fill()).unwrap();
    let store = Command::ExecVpuTileStore { tile: 0, sig: sig::VPU_TILE0 };
    machine.run(&writes(&[address, stride, store, Command::SigWait(sig::VPU_TILE0)])).unwrap();
    let load = Command::ExecVpuTileLoad { tile: 3, sig: sig::LOAD_TILE0 << 3 };
    let there = Command::SetVpuTileAddr(3, 4096);
    machine.run(&writes(&[there, load, Command::SigWait(sig::LOAD_TILE0 << 3)])).unwrap();
    assert_eq!((machine.tile_pixel(3, 0, 0), machine.tile_pixel(3, 31, 31)), (Some(0x1234), Some(0x1234)));
    assert_eq!(machine.tile_pixel(3, 32, 0), None);
}

fn traced(demo: &Demo, toml: &str, skip: bool) -> (Trace, Vec<u8>, u64) {
    let mut machine = machine(toml);
    machine.set_skipping(skip);
    machine.start_trace();
    let picture = demo.frame(&mut machine, 1).unwrap().picture.rgb;
    machine.drain().unwrap();
    (machine.take_trace().unwrap(), picture, machine.skipped())
}

#[test]
fn skipping_known_waits_changes_nothing() {
    let single = Demo { buffering: Buffering::Single, ..demo() };
    for (demo, toml) in [
        (demo(), ""),
        (single, "[memory]\ntiming = \"timer\"\nread = 300\nwrite = 200"),
        (demo(), "vpus = 1\nthreads = 2\n[latency]\nsimple = 40\n[memory.sdram]\nrefresh = 50\nbanks = 1"),
    ] {
        let (plain, plain_picture, none) = traced(&demo, toml, false);
        let (skipped, picture, ticks) = traced(&demo, toml, true);
        for (a, b) in plain.tracks.iter().zip(&skipped.tracks) {
            let differs = a.spans.iter().zip(&b.spans).find(|(a, b)| a != b);
            assert!(a == b, "{toml}: {}: {differs:?}", a.name);
        }
        for (a, b) in plain.counters.iter().zip(&skipped.counters) {
            let differs = a.samples.iter().zip(&b.samples).find(|(a, b)| a != b);
            assert!(a == b, "{toml}: {}: {differs:?}", a.name);
        }
        assert!(plain == skipped, "{toml}: {} and {} ticks", plain.ticks, skipped.ticks);
        assert_eq!(picture, plain_picture);
        assert_eq!(none, 0);
        assert!(ticks > 0, "{toml}");
    }
}

#[test]
fn every_track_has_an_event_for_each_tick() {
    let (trace, _, _) = traced(&demo(), "", true);
    for n in 0..trace.tracks.len() {
        assert_eq!(trace.totals(n).iter().sum::<u64>(), trace.ticks, "{}", trace.tracks[n].name);
    }
    assert_eq!(trace.phases.len(), 9);
    assert_eq!(trace.counters.len(), 14);
    // No texture is sampled, and no tile is loaded.
    let still = ["texture cache hits, %", "texture bytes", "tile_buffer_load bytes"];
    assert!(trace.counters.iter().all(|c| (c.samples.len() > 1) != still.contains(&c.name.as_str())));
}

#[test]
fn traces_have_the_same_bytes_each_time() {
    let bytes = || {
        let (trace, _, _) = traced(&other_demo(), "", true);
        let (mut json, mut packets) = (Vec::new(), Vec::new());
        chrome::write(&trace, &mut json).unwrap();
        perfetto::write(&trace, &mut packets).unwrap();
        (json, packets)
    };
    assert!(bytes() == bytes());
}

#[test]
fn a_machine_goes_on_from_a_copy() {
    let mut machine = machine("");
    for write in fill() {
        assert!(machine.push(write));
    }
    for _ in 0..30 {
        machine.tick();
    }
    let mut copy = machine.clone();
    let ticks = machine.run(&[]).unwrap();
    assert_eq!(copy.run(&[]).unwrap(), ticks);
    assert_eq!(copy.tile_pixel(0, 9, 9), machine.tile_pixel(0, 9, 9));
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(64))]
    /// Any register writes over any memory end, with a result or an endless wait, and skipping changes nothing.
    #[test]
    fn any_writes_run_or_wait(
        writes in prop::collection::vec((0u8..0x60, any::<u32>(), 0u32..32), 0..64),
        seed in any::<u32>(),
        shift in 0u32..24,
    ) {
        let params = Params { tick_limit: 20_000, bin_size: 8, ..Params::default() };
        let params = params.with(&["memory.bytes = 65536".into()]).unwrap();
        let run = |skip| {
            let mut machine = Machine::new(params.clone()).unwrap();
            machine.set_skipping(skip);
            for (n, word) in machine.memory_mut().bytes_mut().chunks_exact_mut(4).enumerate() {
                word.copy_from_slice(&((n as u32).wrapping_mul(0x9e37_79b9) ^ seed).to_le_bytes());
            }
            let writes: Vec<Write> =
                writes.iter().map(|&(register, v, s)| Write { register, value: v >> s.max(shift) }).collect();
            let result = machine.run(&writes);
            (result, machine.now(), machine.faults(), machine.signals(), machine.memory().bytes().to_vec())
        };
        prop_assert!(run(true) == run(false));
    }
}
