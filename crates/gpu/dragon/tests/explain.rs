//! Savings that are promised are had, and paths add up.

use xenoglot_dragon::host::{
    Demo, ExplainOptions, Explanation, LeverKind, explain, levers, torus, wooden_crate,
};
use xenoglot_dragon::{LINKS, Machine, Params};
use xenoglot_trace::report::{compare, report};

/// Frames of a scene with a bottleneck of its own, and the parameter that is to blame.
fn scenes() -> [(&'static str, Demo, &'static str, &'static str); 4] {
    let small = |demo: Demo| Demo { screen: [96, 80], ..demo };
    let ring = || small(Demo::new(torus(20, 10)).unwrap());
    [
        // A crossbar of many stages before the SDRAM.
        ("memory", ring(), "memory.sdram.controller = 40", "memory.sdram.controller"),
        ("vertex cache", ring(), "vertex_cache = 1", "vertex_cache"),
        ("VPUs", small(Demo::new(wooden_crate()).unwrap()), "vpus = 1\nthreads = 64", "vpus"),
        (
            "tile store",
            small(Demo::new(torus(3, 3)).unwrap()),
            "threads = 64\n[memory]\ntiming = \"timer\"\nread = 2\nwrite = 80",
            "memory.write",
        ),
    ]
}

fn explained(demo: &Demo, params: &Params, frames: u32) -> Explanation {
    let options = ExplainOptions { paired: 2, ..ExplainOptions::spread(frames, demo.frames) };
    explain(demo, params, &options, &|_, _| {}).unwrap()
}

fn ticks(demo: &Demo, params: &Params, frames: &[u32]) -> u64 {
    let ticks = |&n: &u32| demo.frame(&mut Machine::new(params.clone()).unwrap(), n).unwrap().ticks;
    frames.iter().map(ticks).sum()
}

#[test]
fn the_lever_of_each_bottleneck_is_named_first_and_keeps_its_promise() {
    for (scene, demo, toml, want) in scenes() {
        let params = Params::from_toml(toml).unwrap();
        let explanation = explained(&demo, &params, 2);
        println!("{scene}\n{explanation}");
        let best = &explanation.savings[0];
        assert_eq!(best.levers[0].name, want, "{scene}");
        assert!(best.mean > 0.1, "{scene}: nothing to be had");
        // Set by hand, the lever saves what was promised, and no other saves more.
        let before: u64 = explanation.ticks.iter().sum();
        let with = |lever: &xenoglot_dragon::host::Lever| {
            before as i64
                - ticks(&demo, &params.with(&[lever.assignment()]).unwrap(), &explanation.frames) as i64
        };
        let promised = before - best.ticks;
        let had = with(&best.levers[0]);
        assert!(had as f64 >= 0.9 * promised as f64, "{scene}: {had} of {promised}");
        for lever in levers(&params).iter().filter(|l| l.kind != LeverKind::Instant) {
            assert!(with(lever) <= had, "{scene}: {lever:?}");
        }
    }
}

/// The path of a run takes all of its time, that of each bin all of the bin's, and what changed on it is what changed.
#[test]
fn paths_add_up_and_their_differences_do() {
    let [(_, demo, ..), ..] = scenes();
    let traced = |toml: &str| {
        let mut machine = Machine::new(Params::from_toml(toml).unwrap()).unwrap();
        machine.start_trace();
        demo.frame(&mut machine, 3).unwrap();
        machine.take_trace().unwrap()
    };
    let (before, after) = (traced(""), traced("[memory.sdram]\ncontroller = 40"));
    let report = report(&before, &LINKS);
    assert_eq!(report.path.parts.iter().map(|p| p.ticks).sum::<u64>(), before.ticks);
    assert!(report.phases.len() > 4);
    for phase in &report.phases {
        assert_eq!(phase.parts.iter().map(|p| p.ticks).sum::<u64>(), phase.ticks, "{}", phase.phase);
    }
    let comparison = compare(&before, &after, &LINKS);
    let sum: i64 = comparison.causes.iter().map(|c| c.after as i64 - c.before as i64).sum();
    assert_eq!(sum, after.ticks as i64 - before.ticks as i64);
    // Twice the latency of reads shows where vertices are fetched, and units that are alike are one.
    assert_eq!(
        (comparison.causes[0].unit.as_str(), comparison.causes[0].event.as_str()),
        ("vertex_cache", "VtxMiss")
    );
    assert!(comparison.changes.iter().all(|c| !c.unit.starts_with("vpu0")));
}

/// Units that take no time change no pixel.
#[test]
fn instant_units_draw_the_same() {
    for demo in scenes().map(|(_, demo, ..)| demo).into_iter().skip(1) {
        let frame = |params: &Params| demo.frame(&mut Machine::new(params.clone()).unwrap(), 3).unwrap();
        let want = frame(&Params::default());
        for lever in levers(&Params::default()).iter().filter(|l| l.kind == LeverKind::Instant) {
            let got = frame(&Params::default().with(&[lever.assignment()]).unwrap());
            assert!(got.picture == want.picture, "{lever:?}");
            assert!(got.ticks <= want.ticks, "{lever:?}: {} of {}", got.ticks, want.ticks);
        }
    }
}

/// What is over is told, and there is as much as was announced.
#[test]
fn progress_reaches_its_end() {
    let [.., (_, demo, toml, _)] = scenes();
    let most = std::sync::Mutex::new((0, 0));
    let options = ExplainOptions { paired: 3, ..ExplainOptions::spread(2, 200) };
    let explanation = explain(&demo, &Params::from_toml(toml).unwrap(), &options, &|done, all| {
        let mut most = most.lock().unwrap();
        *most = (most.0.max(done), all);
    });
    assert_eq!(explanation.unwrap().pairs.len(), 3);
    let (done, all) = *most.lock().unwrap();
    assert_eq!(done, all);
}
