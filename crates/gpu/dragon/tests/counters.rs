//! Counters add up to what was done, and frames that are drawn side by side are those that are drawn alone.

mod common;

use common::*;
use std::convert::Infallible;
use xenoglot_dragon::host::{
    AnimateOptions, Animation, Counters, DEPTH_PROGRAM, Demo, Heat, TEXTURE_PROGRAM, animate, glass, heat_map,
};
use xenoglot_dragon::{Event, Machine, Params};

fn counted(demo: &Demo, toml: &str) -> (Machine, u64) {
    let mut machine = machine(toml);
    machine.start_profile();
    machine.start_trace();
    machine.log_fragments();
    demo.frame(&mut machine, 3).unwrap();
    let fragments = machine.take_fragments().len() as u64;
    (machine, fragments)
}

#[test]
fn counters_are_what_the_trace_and_the_threads_say() {
    let glass = Demo { screen: [96, 80], ..Demo::new(glass()).unwrap() };
    for (demo, toml, source) in [
        (&demo(), "", DEPTH_PROGRAM),
        (&glass, "vpus = 2\ntexture_cache = 8", TEXTURE_PROGRAM),
        (&glass, "memory.timing = \"timer\"\nbin_size = 16", TEXTURE_PROGRAM),
    ] {
        let (mut machine, fragments) = counted(demo, toml);
        let trace = machine.take_trace().unwrap();
        let mut counters = Counters::of(&machine);
        counters.name_lines(&[source]);
        assert_eq!(counters.bins.iter().map(|b| b.fragments).sum::<u64>(), fragments, "{toml}");
        let of = |n: usize, event: Event| trace.totals(n)[event as usize];
        let track = |name: &str| trace.tracks.iter().position(|t| t.name == name).unwrap();
        for vpu in &counters.vpus {
            assert_eq!(vpu.issued, of(track(&vpu.name), Event::Exec), "{toml}: {}", vpu.name);
        }
        let issued: u64 = counters.vpus.iter().map(|v| v.issued).sum();
        assert_eq!(counters.hot.iter().map(|h| h.issued).sum::<u64>(), issued);
        assert_eq!(counters.bins.iter().map(|b| b.instructions).sum::<u64>(), issued);
        // Threads a tick, as the trace's counter has them.
        let threads = trace.counters.iter().find(|c| c.name == "active threads").unwrap();
        let ends = threads.samples.iter().skip(1).map(|s| s.0).chain([trace.ticks]);
        let sum: i64 = threads.samples.iter().zip(ends).map(|(s, end)| s.1 * (end - s.0) as i64).sum();
        assert_eq!(counters.vpus.iter().map(|v| v.thread_ticks).sum::<u64>(), sum as u64, "{toml}");
        let drawn: u64 = trace.phases.iter().map(|p| p.end - p.start).sum();
        assert_eq!(counters.bins.iter().map(|b| b.draw_ticks).sum::<u64>(), drawn, "{toml}");
        // The first instruction is that of the first line which has one, and each thread issues it.
        let first = counters.hot.iter().find(|h| h.address == 0).unwrap();
        assert_eq!((first.line, first.issued), (Some(1), fragments), "{toml}");
        assert!(
            source.lines().next().unwrap().trim().starts_with(first.instruction.split(' ').next().unwrap())
        );
        let store = counters.memory.iter().find(|u| u.unit == "tile_buffer_store").unwrap();
        let size = machine.params().bin_size as u64;
        assert_eq!(store.port.written, counters.bins.len() as u64 * size * size * 2, "{toml}");
        let cache = counters.memory.iter().find(|u| u.unit == "vertex_cache").unwrap();
        assert_eq!(counters.vertex_cache.misses, cache.port.accesses);
        assert!(counters.vertex_cache.rate > 0.2, "{toml}");
        for heat in Heat::ALL {
            let (picture, most) = heat_map(machine.profile().unwrap(), demo.screen, heat);
            assert!(most > 0 && picture.rgb.contains(&255), "{heat:?}");
        }
        let csv = counters.csv();
        assert!(csv.contains("\nticks,") && csv.contains("vpu0,") && csv.contains(",1,\""), "{csv}");
        println!("{counters}");
    }
}

#[test]
fn frames_side_by_side_are_frames_alone() {
    let demo = demo();
    let options = AnimateOptions { traced: true, profiled: true, jobs: 3 };
    let params = Params::default();
    let mut all = Counters::default();
    let mut next = 5;
    animate::<Infallible>(&demo, &params, 5..12, options, |drawn| {
        assert_eq!(drawn.number, next);
        next += 1;
        let mut alone = machine("");
        alone.start_trace();
        assert_eq!(drawn.frame, demo.scene(drawn.number).draw(&mut alone).unwrap());
        assert_eq!(drawn.trace, alone.take_trace());
        all.merge(&Counters::of(&drawn.machine));
        assert_eq!(drawn.frame.ticks, drawn.machine.now());
        Ok(())
    })
    .unwrap();
    assert_eq!(next, 12);
    assert!(all.vpus.iter().all(|v| v.per_tick > 0.0 && v.per_tick < 1.0));
    let ends = Params { tick_limit: 10, ..params };
    let error = animate::<Infallible>(&demo, &ends, 0..3, options, |_| Ok(())).unwrap_err();
    assert!(error.to_string().starts_with("frame 0: endless wait"), "{error}");
}
