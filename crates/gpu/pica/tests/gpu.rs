//! The embedder's object: draws, engines that fail, limits.

mod common;

use common::{COPY, Commands, VERTICES, place, scene};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::memory::{FCRAM, Memory, Regions};
use xenoglot_pica::raster::Chip;
use xenoglot_pica::regs::*;
use xenoglot_pica::renderer::{Draw, NullRenderer, OutOfPixels, Recorder, Renderer};
use xenoglot_pica::report::{Error, Ignored, Limits, Report, Share};
use xenoglot_pica::shader::{Batch, Cost, Engine, EngineError, Engines, Invocations, Program, Readiness};
use xenoglot_pica::timing::Work;

type TestGpu = Gpu<Recorder<NullRenderer>>;

fn run(gpu: &mut TestGpu, memory: &mut Regions, commands: &Commands) -> (Vec<[f32; 3]>, Report) {
    let bytes = place(memory, &commands.0);
    gpu.run_command_list(memory, FCRAM, bytes);
    let triangles = std::mem::take(&mut gpu.renderer_mut().triangles);
    (triangles.iter().map(|t| t.map(|v| v.values[0])).collect(), gpu.take_report())
}

fn gpu() -> TestGpu {
    Gpu::new(Recorder::default())
}

#[test]
fn arrays_and_indices() {
    let (mut memory, mut commands) = scene(16);
    memory.bytes_mut(VERTICES + 0x100, 6).unwrap().copy_from_slice(&[3, 1, 3, 7, 1, 3]);
    memory.bytes_mut(VERTICES + 0x200, 6).unwrap().copy_from_slice(&[9, 0, 8, 0, 7, 0]);
    commands.set(VERTEX_COUNT, 3).set(FIRST_VERTEX, 4).set(DRAW_ARRAYS, 1);
    commands.set(VERTEX_COUNT, 6).set(INDEX_ARRAY, 0x100).set(DRAW_INDEXED, 1);
    commands.set(VERTEX_COUNT, 3).set(INDEX_ARRAY, 0x200 | 1 << 31).set(DRAW_INDEXED, 1);
    let (triangles, report) = run(&mut gpu(), &mut memory, &commands);
    assert_eq!(triangles, [[4.0, 5.0, 6.0], [3.0, 1.0, 3.0], [7.0, 1.0, 3.0], [9.0, 8.0, 7.0]]);
    assert_eq!((report.draws, report.vertices, report.errors), (3, 3 + 3 + 3, 0));
}

#[test]
fn immediate_vertices_are_drawn_in_order_with_other_draws() {
    let (mut memory, mut commands) = scene(16);
    let vertex = |n: u32| [0, 0, [0x3f_0000, 0x40_0000, 0x40_8000][n as usize]];
    commands.set(FIXED_ATTRIBUTE, 15);
    commands.stream(FIXED_ATTRIBUTE_DATA, &vertex(0)).stream(FIXED_ATTRIBUTE_DATA, &vertex(1));
    // The third vertex of the triangle comes from the array.
    commands.set(VERTEX_COUNT, 1).set(FIRST_VERTEX, 9).set(DRAW_ARRAYS, 1);
    commands.stream(FIXED_ATTRIBUTE_DATA, &vertex(2));
    let mut gpu = gpu();
    let (triangles, report) = run(&mut gpu, &mut memory, &commands);
    assert_eq!(triangles, [[1.0, 2.0, 9.0]]);
    assert_eq!(report.draws, 3);
    // The third vertex before this list is the first of its triangle.
    let mut more = Commands::default();
    more.set(VERTEX_COUNT, 2).set(FIRST_VERTEX, 5).set(DRAW_ARRAYS, 1);
    assert_eq!(run(&mut gpu, &mut memory, &more).0, [[3.0, 5.0, 6.0]]);
}

/// Copies v0 to o0 and, on the geometry unit, sends a triangle whose third vertex it is.
const SEND: &str = "
.gsh point c0
.in v v0
.out p position
.entry gmain
.proc gmain
    setemit 2, prim
    mov p, v
    emit
    end
.end
";

#[test]
fn uploads_reach_the_geometry_unit_unless_it_is_exclusive() {
    for exclusive in [false, true] {
        let (mut memory, setup) = scene(3);
        let mut commands = Commands::default();
        commands.set(GEOMETRY_EXCLUSIVE, exclusive.into());
        commands.0.extend(&setup.0);
        commands.program(SEND, VERTEX_CODE_PORT, VERTEX_DESCRIPTOR_PORT);
        commands.set(GEOMETRY_OUTPUT_MASK, 1).set(GEOMETRY_STAGE, 2);
        commands.set(VERTEX_COUNT, 3).set(DRAW_ARRAYS, 1);
        let (triangles, report) = run(&mut gpu(), &mut memory, &commands);
        assert_eq!((report.invocations, report.errors), (3, 0), "{:?}", report.messages);
        // An exclusive unit has no program: zeros, which are ADDs, to the end of its memory.
        let expected: &[[f32; 3]] =
            if exclusive { &[] } else { &[[0.0; 3], [0.0, 0.0, 1.0], [0.0, 0.0, 2.0]] };
        assert_eq!(triangles, expected);
    }
}

/// Does nothing but count how often it was asked.
struct Broken(Arc<AtomicUsize>);

impl Broken {
    fn fail<T>(&self) -> Result<T, EngineError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Err(EngineError::Other("broken".into()))
    }
}

impl Engine for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn cost(&self) -> Cost {
        Cost { batch: 0.0, inst: 0.0, translation: 0.0 }
    }

    fn readiness(&mut self, _: &Arc<Program>) -> Readiness {
        Readiness::Ready
    }

    fn shade(&mut self, batch: Batch<'_>) -> Result<(), EngineError> {
        batch.outputs.reset(u16::MAX, 1);
        batch.outputs.values_mut().fill([9.0; 4]);
        self.fail()
    }

    fn geometry<'e>(
        &'e mut self,
        _: &'e Arc<Program>,
        _: &mut u64,
    ) -> Result<Box<dyn Invocations + 'e>, EngineError> {
        self.fail()
    }
}

#[test]
fn an_engine_that_fails_falls_back_and_the_draw_is_right() {
    let (mut memory, mut commands) = scene(8);
    commands.set(VERTEX_COUNT, 3).set(DRAW_ARRAYS, 1).set(FIRST_VERTEX, 5).set(DRAW_ARRAYS, 1);
    let asked = Arc::new(AtomicUsize::new(0));
    let engines = Engines::new(vec![Box::new(Broken(asked.clone()))]);
    let mut gpu = Gpu::with_engines(Recorder::default(), engines);
    let (triangles, report) = run(&mut gpu, &mut memory, &commands);
    assert_eq!(triangles, [[0.0, 1.0, 2.0], [5.0, 6.0, 7.0]]);
    assert_eq!((report.fallbacks, report.errors, asked.load(Ordering::Relaxed)), (2, 0, 2));
    assert!(matches!(report.messages[0], Error::Fallback { engine: "broken", .. }));
}

#[test]
fn draws_that_ask_for_what_is_left_out_are_counted() {
    let (mut memory, mut commands) = scene(8);
    commands.set(VERTEX_COUNT, 3).set(FRAGMENT_MODE, 1).set(FOG_MODE, 7).set(DRAW_ARRAYS, 1);
    commands.set(FRAGMENT_MODE, 0).set(EARLY_DEPTH, 1).set(DRAW_ARRAYS, 1);
    commands.set(FOG_MODE, 5).set(EARLY_DEPTH, 0).set(DRAW_ARRAYS, 1);
    let (triangles, report) = run(&mut gpu(), &mut memory, &commands);
    assert_eq!(report.ignored, Ignored { gas: 1, gas_fog: 2, early_depth: 1 });
    assert_eq!((triangles.len(), report.errors), (3, 0));
}

#[test]
fn the_report_says_who_shaded() {
    let (mut memory, mut commands) = scene(8);
    commands.set(VERTEX_COUNT, 3).set(DRAW_ARRAYS, 1).set(VERTEX_COUNT, 6).set(DRAW_ARRAYS, 1);
    let (_, report) = run(&mut gpu(), &mut memory, &commands);
    assert_eq!(
        report.engines.into_iter().collect::<Vec<_>>(),
        [("lanes", Share { batches: 2, invocations: 9 })]
    );
}

#[test]
fn a_word_that_is_no_instruction_costs_the_draw_only() {
    let (mut memory, mut commands) = scene(8);
    commands.set(VERTEX_CODE_PORT, 0).set(VERTEX_CODE_DATA, 0x1f << 26);
    commands.set(VERTEX_COUNT, 3).set(DRAW_ARRAYS, 1);
    commands.program(COPY, VERTEX_CODE_PORT, VERTEX_DESCRIPTOR_PORT).set(DRAW_ARRAYS, 1);
    let (triangles, report) = run(&mut gpu(), &mut memory, &commands);
    assert_eq!(triangles, [[0.0, 1.0, 2.0]]);
    assert_eq!(report.errors, 1, "{:?}", report.messages);
    assert!(matches!(report.messages[0], Error::Shader(EngineError::Lift(_))));
}

#[test]
fn jumps_go_to_the_other_list_and_do_not_return() {
    let (mut memory, mut commands) = scene(8);
    let other = FCRAM + 0x4000;
    let mut there = Commands::default();
    there.set(INTERRUPT_REQUEST, 0);
    let words: Vec<u8> = there.0.iter().flat_map(|w| w.to_le_bytes()).collect();
    memory.bytes_mut(other, words.len() as u32).unwrap().copy_from_slice(&words);
    commands.set(LIST_SIZE + 1, words.len() as u32 / 8).set(LIST_ADDRESS + 1, other / 8);
    commands.set(LIST_JUMP + 1, 0).set(VERTEX_COUNT, 3).set(DRAW_ARRAYS, 1);
    let mut gpu = gpu();
    let (triangles, _) = run(&mut gpu, &mut memory, &commands);
    assert!(triangles.is_empty());
    assert_eq!(gpu.interrupts(), 1);
}

#[test]
fn limits_end_lists_that_never_would() {
    let (mut memory, mut commands) = scene(8);
    let size = commands.0.len() as u32 * 4;
    commands.set(VERTEX_COUNT, u32::MAX).set(DRAW_ARRAYS, 1);
    commands.set(LIST_SIZE, (size + 200) / 8).set(LIST_ADDRESS, FCRAM / 8).set(LIST_JUMP, 1);
    let mut gpu = gpu();
    gpu.set_limits(Limits { writes: 1000, vertices: 100, ..Limits::default() });
    let (triangles, report) = run(&mut gpu, &mut memory, &commands);
    assert_eq!((triangles.len(), report.writes, report.vertices), (33, 1000, 100));
    assert!(report.messages.iter().any(|m| matches!(m, Error::Vertices(100))));
    assert!(report.messages.iter().any(|m| matches!(m, Error::Writes(1000))));
}

/// Needs ten pixels for each triangle.
struct Costly;

impl Renderer for Costly {
    fn draw(&mut self, draw: Draw<'_>) -> Result<(), OutOfPixels> {
        let left = draw.pixels.checked_sub(10 * draw.triangles.len() as u64);
        *draw.pixels = left.unwrap_or(0);
        left.map(drop).ok_or(OutOfPixels)
    }
}

#[test]
fn pixels_are_limited_and_counted() {
    let (mut memory, mut commands) = scene(8);
    commands.set(VERTEX_COUNT, 6).set(DRAW_ARRAYS, 1).set(DRAW_ARRAYS, 1).set(DRAW_ARRAYS, 1);
    let bytes = place(&mut memory, &commands.0);
    let mut gpu = Gpu::new(Costly);
    gpu.set_limits(Limits { pixels: 45, ..Limits::default() });
    gpu.run_command_list(&mut memory, FCRAM, bytes);
    let report = gpu.take_report();
    assert_eq!((report.draws, report.triangles, report.pixels, report.errors), (3, 6, 45, 1));
    assert!(matches!(report.messages[..], [Error::Pixels(45)]));
    // Each call has its own.
    gpu.run_command_list(&mut memory, FCRAM, bytes);
    assert_eq!(gpu.take_report().pixels, 45);
}

#[test]
fn an_endless_shader_is_stopped() {
    let (mut memory, mut commands) = scene(8);
    let endless = ".out p position\n.proc main\nagain:\n    jmpu !b0, again\n    end\n.end\n";
    commands.program(endless, VERTEX_CODE_PORT, VERTEX_DESCRIPTOR_PORT);
    commands.set(VERTEX_COUNT, 3).set(DRAW_ARRAYS, 1).set(DRAW_ARRAYS, 1);
    let mut gpu = gpu();
    gpu.set_limits(Limits { instructions: 2 << 20, ..Limits::default() });
    let (triangles, report) = run(&mut gpu, &mut memory, &commands);
    assert!(triangles.is_empty());
    assert_eq!(report.errors, 2, "{:?}", report.messages);
}

/// Attributes that no loader has are zero, or what they were in the last vertex that was loaded.
#[test]
fn attributes_are_kept_if_the_chip_is_asked_for() {
    struct Chipped(Recorder<NullRenderer>);

    impl Renderer for Chipped {
        fn draw(&mut self, draw: Draw<'_>) -> Result<(), OutOfPixels> {
            self.0.draw(draw)
        }

        fn chip(&self) -> Chip {
            Chip::ALL
        }
    }

    let (mut memory, mut commands) = scene(16);
    memory.bytes_mut(VERTICES + 0x100, 5).unwrap().copy_from_slice(&[3, 7, 3, 7, 3]);
    commands.set(VERTEX_COUNT, 5).set(INDEX_ARRAY, 0x100).set(DRAW_INDEXED, 1);
    // The last vertex that is loaded is 7; the second 3 is reused. Then the array is gone.
    commands.set(LOADER + 2, 0).set(RESTART, 1).set(VERTEX_COUNT, 3).set(DRAW_ARRAYS, 1);
    let bytes = place(&mut memory, &commands.0);
    let mut kept = Gpu::new(Chipped(Recorder::default()));
    kept.run_command_list(&mut memory, FCRAM, bytes);
    let state = kept.save_state(&mut memory);
    let last = |gpu: &Gpu<Chipped>| gpu.renderer().0.triangles.last().unwrap().map(|v| v.values[0]);
    assert_eq!(last(&kept), [7.0; 3]);
    // A state has it, too.
    let mut again = Gpu::new(Chipped(Recorder::default()));
    again.load_state(&state).unwrap();
    again.write_register(&mut memory, DRAW_ARRAYS, 1);
    assert_eq!(last(&again), [7.0; 3]);
    let (triangles, _) = run(&mut gpu(), &mut memory, &commands);
    assert_eq!(triangles.last(), Some(&[0.0; 3]));
}

/// Cycles do not depend on the engine, are told in order, and add up.
#[test]
fn cycles_are_told_in_order() {
    let (mut memory, mut commands) = scene(16);
    let setup = commands.0.len() as u64 / 2;
    commands.set(VERTEX_COUNT, 6).set(DRAW_ARRAYS, 1).set(INTERRUPT_REQUEST, 0x1234_5678);
    commands.set(INTERRUPT_COMPARE, 0x1234_5678).set(INTERRUPT_REQUEST, 0x1234_5678);
    let bytes = place(&mut memory, &commands.0);
    let told = |engines: Engines, memory: &mut Regions| {
        let mut gpu: TestGpu = Gpu::with_engines(Recorder::default(), engines);
        let (sender, events) = std::sync::mpsc::channel();
        gpu.set_observer(Some(Box::new(move |event| {
            let _ = sender.send((event.work, event.cycles));
        })));
        let cycles = gpu.run_command_list(memory, FCRAM, bytes);
        let events: Vec<(Work, u64)> = events.try_iter().collect();
        let report = gpu.take_report();
        assert_eq!(cycles, events.iter().map(|event| event.1).sum::<u64>());
        let interrupts = events.iter().filter(|event| event.0 == Work::Interrupt).count() as u64;
        assert_eq!((cycles, interrupts), (report.cycles.sum(), gpu.interrupts()));
        events
    };
    let events = told(Engines::default(), &mut memory);
    // Two triangles take longer than six vertices of two instructions.
    let draw = [(Work::Writes, setup + 2), (Work::Draw, 26), (Work::Writes, 3)];
    assert_eq!(events[..3], draw);
    assert_eq!(events.last(), Some(&(Work::Interrupt, 0)));
    assert_eq!(told(Engines::reference(), &mut memory), events);
}
