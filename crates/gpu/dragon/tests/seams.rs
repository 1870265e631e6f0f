//! Every unit by a model from outside, written from the seam's description alone: pixels, ticks, traces and counters are those
//! of the machine's own unit.

mod common;
mod outside;

use common::*;
use outside::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use xenoglot_dragon::checkpoint::{load, save};
use xenoglot_dragon::command::{Command, sig};
use xenoglot_dragon::cosim::*;
use xenoglot_dragon::host::{Buffering, Counters, Demo, Drawing, glass};
use xenoglot_dragon::memory::Port;
use xenoglot_dragon::{Faults, Machine};
use xenoglot_trace::Trace;

/// Wraps a model and counts what it answers with more than idling: a model that is never asked shows nothing.
struct Counted<M>(M, Arc<AtomicU64>);

impl<I, O, M: Model<I, O>> Model<I, O> for Counted<M> {
    fn reset(&mut self, config: &Config) {
        self.0.reset(config);
    }

    fn tick(&mut self, input: &I) -> O {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.tick(input)
    }

    fn save(&self) -> Option<Vec<u8>> {
        self.0.save()
    }

    fn load(&mut self, state: &[u8]) -> bool {
        self.0.load(state)
    }
}

type Attach = fn(&mut Machine, &Arc<AtomicU64>);

/// A unit's name and what puts a model in its place.
const UNITS: [(&str, Attach); 12] = [
    ("command", |m, n| attach(m, UnitModel::Command(counted(CommandModel::default(), n)))),
    ("vpu_program_load", |m, n| attach(m, UnitModel::ProgramLoad(counted(LoaderModel, n)))),
    ("triangle_draw", |m, n| attach(m, UnitModel::Draw(counted(DrawModel::default(), n)))),
    ("vertex_cache", |m, n| attach(m, UnitModel::VertexCache(counted(CacheModel::default(), n)))),
    ("rasterizer", |m, n| attach(m, UnitModel::Rasterizer(counted(RasterModel::default(), n)))),
    ("texture", |m, n| attach(m, UnitModel::Texture(counted(TextureModel::default(), n)))),
    ("tile_buffer_fill", |m, n| attach(m, UnitModel::Fill(counted(FillModel::default(), n)))),
    ("tile_buffer_store", |m, n| attach(m, UnitModel::Store(counted(TransferModel::new(true), n)))),
    ("tile_buffer_load", |m, n| attach(m, UnitModel::Load(counted(TransferModel::new(false), n)))),
    ("write_vpu_global", |m, n| attach(m, UnitModel::WriteGlobal(counted(GlobalModel, n)))),
    ("memory", |m, n| attach(m, UnitModel::Memory(counted(MemoryModel::default(), n)))),
    ("vpu", |m, n| {
        for vpu in 0..m.params().vpus as usize {
            attach(m, UnitModel::Vpu(vpu, counted(VpuModel::default(), n)));
        }
    }),
];

fn counted<M>(model: M, calls: &Arc<AtomicU64>) -> Box<Counted<M>> {
    Box::new(Counted(model, calls.clone()))
}

fn attach(machine: &mut Machine, model: UnitModel) {
    machine.attach(model).unwrap();
}

/// What came of a run.
#[derive(PartialEq)]
struct Outcome {
    picture: Vec<u8>,
    ticks: u64,
    now: u64,
    trace: Trace,
    counters: Counters,
    ports: Vec<Port>,
    faults: Faults,
}

fn begin(demo: &Demo, toml: &str, skip: bool) -> (Machine, Drawing) {
    let mut machine = machine(toml);
    machine.set_skipping(skip);
    machine.start_trace();
    machine.start_profile();
    let drawing = demo.begin(&mut machine, 2).unwrap();
    (machine, drawing)
}

/// Ends a frame, then has the units work that no demo uses, some of them against each other.
fn finish(mut machine: Machine, drawing: Drawing) -> Outcome {
    let frame = drawing.finish(&mut machine).unwrap();
    let commands = [
        Command::SetTileStride(256),
        Command::SetVpuTileAddr(2, 4096),
        Command::ExecVpuTileLoad { tile: 2, sig: sig::LOAD_TILE0 },
        Command::SetVpuGlobal(1, 77),
        Command::ExecWriteVpuGlobal { global: 3, sig: sig::GLOBAL },
        Command::ExecVpuTileStore { tile: 0, sig: sig::VPU_TILE0 },
        Command::ExecWriteVpuGlobal { global: 15, sig: 1 << 20 },
        Command::SetVpuTileAddr(1, 65536),
        Command::ExecVpuTileLoad { tile: 1, sig: 1 << 21 },
        Command::SigWait(sig::GLOBAL | 1 << 20),
        Command::ExecVpuTileStore { tile: 2, sig: 0 },
        Command::SigWait(1 << 21 | sig::VPU_TILE0 | sig::LOAD_TILE0),
        Command::SetTriangleCount(0),
        Command::ExecDrawTriangles { sig: sig::TRIANGLES },
        Command::SigWait(sig::TRIANGLES),
    ];
    machine.run(&writes(&commands)).unwrap();
    machine.drain().unwrap();
    let mut counters = Counters::of(&machine);
    counters.name_lines(&[]);
    Outcome {
        picture: frame.picture.rgb,
        ticks: frame.ticks,
        now: machine.now(),
        trace: machine.take_trace().unwrap(),
        counters,
        ports: machine.memory().ports().to_vec(),
        faults: machine.faults(),
    }
}

fn same(what: &str, got: &Outcome, want: &Outcome) {
    for (got, want) in got.trace.tracks.iter().zip(&want.trace.tracks) {
        let differs = got.spans.iter().zip(&want.spans).find(|(a, b)| a != b);
        assert!(got == want, "{what}: {}: {differs:?}", got.name);
    }
    assert!(got.picture == want.picture, "{what}: pixels");
    assert_eq!((got.ticks, got.now), (want.ticks, want.now), "{what}");
    assert_eq!(got.faults, Faults::empty(), "{what}");
    assert_eq!(got.ports, want.ports, "{what}");
    assert!(got.trace == want.trace, "{what}: counters of the trace");
    assert!(got.counters == want.counters, "{what}: counters");
}

/// Frames with textures and blending, of few VPUs and small queues, in both orders, by both clocks of memory.
fn cases() -> [(Demo, &'static str); 4] {
    let glass = Demo { screen: [64, 48], ..Demo::new(glass()).unwrap() };
    [
        (glass.clone(), ""),
        (
            Demo { buffering: Buffering::Single, ..glass },
            "vpus = 3\nvpu_queue = 1\nbin_size = 16\nfill_pixels = 7\ntexture_cache = 4\nvertex_cache = 3",
        ),
        (
            Demo { screen: [64, 48], ..demo() },
            "threads = 2\nnumber = \"f32\"\nlatency.simple = 2\n[raster]\nrow_skip = false\npixels = 16\nsetup = 1\n[memory]\ntiming = \"timer\"\nread = 90",
        ),
        (
            Demo { screen: [64, 48], perspective: false, ..other_demo() },
            "fifo = 3\nmemory.sdram.refresh = 60",
        ),
    ]
}

#[test]
fn every_unit_can_be_a_model_from_outside() {
    for (demo, toml) in cases() {
        let (machine, drawing) = begin(&demo, toml, true);
        let want = finish(machine, drawing);
        for (unit, attach) in UNITS {
            for skip in [true, false] {
                let (mut machine, drawing) = begin(&demo, toml, skip);
                let calls = Arc::default();
                attach(&mut machine, &calls);
                let got = finish(machine, drawing);
                same(&format!("{unit}, {toml:?}, skipping {skip}"), &got, &want);
                assert!(calls.load(Ordering::Relaxed) > 0, "{unit}");
            }
        }
    }
}

#[test]
fn all_units_can_be_models_at_once() {
    for (demo, toml) in cases() {
        let (machine, drawing) = begin(&demo, toml, true);
        let want = finish(machine, drawing);
        let (mut machine, drawing) = begin(&demo, toml, true);
        let calls = Arc::default();
        UNITS.iter().for_each(|(_, attach)| attach(&mut machine, &calls));
        same(toml, &finish(machine, drawing), &want);
    }
}

/// Models that can be saved go on from a checkpoint, where the machine has what it keeps for them.
#[test]
fn models_go_on_from_a_checkpoint() {
    let (demo, toml) = &cases()[0];
    let (machine, drawing) = begin(demo, toml, true);
    let end = finish(machine, drawing).now;
    for at in [end / 3, end / 2] {
        let run = |models: bool| {
            let (mut machine, mut drawing) = begin(demo, toml, true);
            let fill = |machine: &mut Machine| {
                machine.attach(UnitModel::Fill(Box::new(FillModel::default()))).unwrap();
                machine.attach(UnitModel::Memory(Box::new(MemoryModel::default()))).unwrap();
            };
            if models {
                fill(&mut machine);
            }
            drawing.run_until(&mut machine, at, |_| false).unwrap();
            let (mut machine, drawing): (Machine, Drawing) =
                load(&save(&machine, &drawing).unwrap()).unwrap();
            if models {
                fill(&mut machine);
            }
            machine.start_profile();
            finish(machine, drawing)
        };
        same("from a checkpoint", &run(true), &run(false));
    }
    let (mut machine, _) = begin(demo, toml, true);
    machine.attach(UnitModel::Command(Box::new(CommandModel::default()))).unwrap();
    assert!(save(&machine, &()).unwrap_err().to_string().contains("command"));
}
