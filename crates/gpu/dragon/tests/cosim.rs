//! Models from outside: in C they draw the same pixels in the same ticks as the machine's own units, and whatever a
//! model answers, the machine stands it.

mod common;

use common::*;
use libloading::Library;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};
use std::process::Command;
use xenoglot_dragon::checkpoint::{CheckpointError, load, save};
use xenoglot_dragon::cosim::*;
use xenoglot_dragon::host::{Buffering, Demo, Drawing};
use xenoglot_dragon::{Event, Faults, Machine, Params};
use xenoglot_testgen::skip::skip;
use xenoglot_trace::Trace;

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Compiles C with the header; `None`, and a notice, where there is no compiler.
fn compile(source: &Path, output: &Path, flags: &[&str]) -> Option<()> {
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2"])
        .args(flags)
        .arg("-I")
        .arg(here("include"));
    let Ok(done) = compiler.arg(source).arg("-o").arg(output).output() else {
        skip("no C compiler");
        return None;
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(())
}

/// The models of `cosim/models.c`; not unloaded, as models may outlive the test's variables.
fn library(folder: &tempfile::TempDir) -> Option<&'static Library> {
    let path = folder.path().join("models.so");
    compile(&here("tests/cosim/models.c"), &path, &["-shared", "-fPIC"])?;
    // SAFETY: loading runs nothing of ours.
    Some(Box::leak(Box::new(unsafe { Library::new(path) }.unwrap())))
}

/// A model that a function of the library makes.
fn model<I, O: Default>(library: &Library, name: &str) -> Box<CModel<I, O>> {
    // SAFETY: the function has this type and its model keeps to the ABI, as the file shows.
    let model = unsafe {
        let new = library.get::<extern "C" fn() -> Table<I, O>>(name.as_bytes()).unwrap();
        CModel::new(new())
    };
    Box::new(model.unwrap())
}

fn finish(mut machine: Machine, drawing: Drawing) -> (Vec<u8>, Trace, Faults) {
    let picture = drawing.finish(&mut machine).unwrap().picture.rgb;
    machine.drain().unwrap();
    (picture, machine.take_trace().unwrap(), machine.faults())
}

fn begin(demo: &Demo, toml: &str) -> (Machine, Drawing) {
    let mut machine = machine(toml);
    machine.start_trace();
    let drawing = demo.begin(&mut machine, 2).unwrap();
    (machine, drawing)
}

#[test]
fn models_in_c_are_the_machines_own_units_to_the_tick() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = library(&folder) else { return };
    let single = Demo { buffering: Buffering::Single, ..other_demo() };
    for (demo, toml) in [
        (demo(), ""),
        (single, "vpus = 3\nvpu_queue = 1\nbin_size = 16\nfill_pixels = 7"),
        (
            demo(),
            "threads = 1\n[raster]\nrow_skip = false\npixels = 16\n[memory]\ntiming = \"timer\"\nread = 200",
        ),
    ] {
        let (machine, drawing) = begin(&demo, toml);
        let want = finish(machine, drawing);
        for skipping in [true, false] {
            let (mut machine, drawing) = begin(&demo, toml);
            machine.set_skipping(skipping);
            machine.attach(UnitModel::Rasterizer(model(library, "new_rasterizer"))).unwrap();
            machine.attach(UnitModel::Fill(model(library, "new_fill"))).unwrap();
            let got = finish(machine, drawing);
            assert!(got.0 == want.0, "{toml}: pixels");
            for (got, want) in got.1.tracks.iter().zip(&want.1.tracks) {
                let differs = got.spans.iter().zip(&want.spans).find(|(a, b)| a != b);
                assert!(got == want, "{toml}: {}: {differs:?}", got.name);
            }
            assert!(got.1 == want.1, "{toml}");
            assert_eq!(got.2, Faults::empty(), "{toml}");
        }
    }
}

#[test]
fn a_model_goes_on_from_a_checkpoint_and_from_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = library(&folder) else { return };
    let (machine, drawing) = begin(&demo(), "");
    let want = finish(machine, drawing);
    let (mut machine, mut drawing) = begin(&demo(), "");
    machine.attach(UnitModel::Rasterizer(model(library, "new_rasterizer"))).unwrap();
    for pause in [9_000, 11_111, 13_003] {
        assert!(!drawing.run_until(&mut machine, pause, |_| false).unwrap());
        let bytes = save(&machine, &drawing).unwrap();
        let mut copy = machine.clone();
        copy.attach(UnitModel::Rasterizer(model(library, "new_rasterizer"))).unwrap();
        assert!(finish(copy, drawing.clone()) == want, "the copy at {pause}");
        (machine, drawing) = load(&bytes).unwrap();
        // Without its model the rasteriser is stuck.
        let alone = drawing.clone().finish(&mut machine.clone()).unwrap_err().to_string();
        assert!(alone.contains("triangles, no model"), "{alone}");
        machine.attach(UnitModel::Rasterizer(model(library, "new_rasterizer"))).unwrap();
    }
    assert!(finish(machine, drawing) == want);

    let (mut machine, _) = begin(&demo(), "");
    machine.attach(UnitModel::Fill(model(library, "new_fill"))).unwrap();
    let error = save(&machine, &()).unwrap_err();
    assert!(matches!(error, CheckpointError::Model("tile_buffer_fill")), "{error}");
}

#[test]
fn a_busy_unit_is_not_replaced() {
    let (mut machine, mut drawing) = begin(&demo(), "");
    let busy = |machine: &Machine| machine.activity().any(|(_, event)| event == Event::Raster);
    drawing.run_until(&mut machine, u64::MAX, busy).unwrap();
    assert_eq!(
        machine.attach(UnitModel::Rasterizer(Box::new(Rude::<RasterOutput>::default()))),
        Err(AttachError::Busy)
    );
    assert_eq!(drawing.finish(&mut machine).unwrap(), frame_two());
}

fn frame_two() -> xenoglot_dragon::host::Frame {
    demo().frame(&mut machine(""), 2).unwrap()
}

/// Answers what it is told to, over and over.
struct Rude<O>(VecDeque<O>);

impl<O> Default for Rude<O> {
    fn default() -> Self {
        Rude(VecDeque::new())
    }
}

impl<I, O: Copy + Default + Send> Model<I, O> for Rude<O> {
    fn reset(&mut self, _: &Config) {}

    fn tick(&mut self, _: &I) -> O {
        if !self.0.is_empty() {
            self.0.rotate_left(1);
        }
        self.0.front().copied().unwrap_or_default()
    }
}

/// Answers of any kind from words: what they are made of is integers in the order of the structure.
trait Anything: Copy + Default + Send {
    fn of(words: &mut dyn FnMut() -> u32) -> Self;
}

macro_rules! anything {
    ($($output:ident: $($field:ident)*;)*) => {
        $(impl Anything for $output {
            fn of(word: &mut dyn FnMut() -> u32) -> Self {
                let until = if word().is_multiple_of(2) { u64::MAX } else { word().into() };
                let request = Request { valid: word() % 2, address: word(), bytes: word(), reserved: 0 };
                #[allow(clippy::needless_update, reason = "some have no more")]
                let out = $output { until, $($field: word(),)* ..Default::default() };
                out.asking(request)
            }
        })*
    };
}

/// Outputs that may ask for memory.
trait Asking: Sized {
    fn asking(self, _: Request) -> Self {
        self
    }
}

macro_rules! asking {
    ($($output:ident)*) => {
        $(impl Asking for $output {
            fn asking(mut self, request: Request) -> Self {
                self.request = request;
                self
            }
        })*
    };
}

asking! { ProgramLoadOutput DrawOutput VertexCacheOutput TextureOutput TransferOutput }
impl Asking for CommandOutput {}
impl Asking for FillOutput {}
impl Asking for WriteGlobalOutput {}
impl Asking for VpuOutput {}

anything! {
    CommandOutput: event take write reg value clear waits mask;
    ProgramLoadOutput: event finished;
    DrawOutput: event finished ask index triangle;
    VertexCacheOutput: event hit miss answer;
    TextureOutput: event finished hits misses;
    FillOutput: event finished first count;
    TransferOutput: event finished moved row address;
    WriteGlobalOutput: event finished global;
    VpuOutput: event take threads issue pc pixel ticks undefined access unit slot;
}

impl Anything for MemoryOutput {
    fn of(word: &mut dyn FnMut() -> u32) -> Self {
        let done = if word().is_multiple_of(4) { u64::MAX } else { word().into() };
        let [hits, closed, conflicts, refreshes] = std::array::from_fn(|_| word());
        MemoryOutput { done, queued: word().into(), hits, closed, conflicts, refreshes }
    }
}

fn rude<O: Anything>(word: &mut dyn FnMut() -> u32) -> Box<Rude<O>> {
    Box::new(Rude((0..5).map(|_| O::of(word)).collect()))
}

fn raster_output() -> impl Strategy<Value = RasterOutput> {
    let small = || prop_oneof![0u32..3, 0u32..20, any::<u32>()];
    let pixel = (0u16..40, 0u16..40).prop_map(|(x, y)| Pixel { x, y });
    let pixels = prop::collection::vec(pixel, MAX_PIXELS..=MAX_PIXELS);
    (prop::option::of(0u64..100), small(), small(), small(), small(), pixels).prop_map(
        |(until, event, ready, finished, count, pixels)| RasterOutput {
            until: until.unwrap_or(u64::MAX),
            event,
            ready,
            finished,
            count,
            pixels: pixels.try_into().unwrap(),
        },
    )
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(200))]
    #[test]
    fn whatever_models_answer_a_run_ends(
        raster in prop::collection::vec(raster_output(), 1..8),
        seed in any::<u64>(),
        units in 0u32..1 << 12,
    ) {
        let params = Params { tick_limit: 5000, ..Params::default() };
        let run = |skip| {
            let mut machine = Machine::new(params.clone()).unwrap();
            machine.set_skipping(skip);
            let mut rng = xenoglot_testgen::rng::Rng::new(seed);
            // Most words are small: counts, flags, numbers of units.
            let mut word = || {
                let word = rng.next_u32();
                match rng.below(8) {
                    0 => word,
                    1 => word & 0xffff,
                    2 | 3 => word & 31,
                    _ => word & 1,
                }
            };
            let word = &mut word;
            let models = [
                UnitModel::Rasterizer(Box::new(Rude(raster.clone().into()))),
                UnitModel::Command(rude(word)),
                UnitModel::ProgramLoad(rude(word)),
                UnitModel::Draw(rude(word)),
                UnitModel::VertexCache(rude(word)),
                UnitModel::Texture(rude(word)),
                UnitModel::Fill(rude(word)),
                UnitModel::Store(rude(word)),
                UnitModel::Load(rude(word)),
                UnitModel::WriteGlobal(rude(word)),
                UnitModel::Memory(rude(word)),
                UnitModel::Vpu(1, rude(word)),
            ];
            for (n, model) in models.into_iter().enumerate() {
                if units >> n & 1 != 0 {
                    machine.attach(model).unwrap();
                }
            }
            let _ = Demo { screen: [40, 40], ..demo() }.frame(&mut machine, 0);
            machine.take_trace();
            machine.faults()
        };
        run(true);
        run(false);
    }
}

/// A claim on a structure or a field of the header, as C.
fn size<T>(name: &str) -> String {
    format!("_Static_assert(sizeof({name}) == {}, \"{name}\");\n", size_of::<T>())
}

fn field(name: &str, field: &str, at: usize) -> String {
    format!("_Static_assert(offsetof({name}, {field}) == {at}, \"{name}.{field}\");\n")
}

#[test]
fn the_header_has_our_structures() {
    macro_rules! check {
        ($($c:literal $rust:ty: $($name:ident)*;)*) => {
            String::new() $($(+ &field($c, stringify!($name), offset_of!($rust, $name)))* + &size::<$rust>($c))*
        };
    }
    let claims = check! {
        "xenoglot_dragon_config" Config: bin_size vpus raster_pixels row_skip fill_pixels setup vertex_cache texture_cache fraction threads latency memory;
        "xenoglot_dragon_memory_config" MemoryConfig: bytes timer burst read write controller banks row_bytes cas rcd rp ras rc rrd wr turnaround rfc refresh;
        "xenoglot_dragon_request" Request: valid address bytes reserved;
        "xenoglot_dragon_reply" Reply: done valid reserved;
        "xenoglot_dragon_edge" Edge: value dx dy bias;
        "xenoglot_dragon_pixel" Pixel: x y;
        "xenoglot_dragon_sample" Sample: vpu slot count lines;
        "xenoglot_dragon_command_input" CommandInput: now signals busy depth reg value reserved;
        "xenoglot_dragon_command_output" CommandOutput: until event take write reg value clear waits mask;
        "xenoglot_dragon_command_model" Table<CommandInput, CommandOutput>: abi reserved user reset tick save load destroy;
        "xenoglot_dragon_program_load_input" ProgramLoadInput: now memory valid address;
        "xenoglot_dragon_program_load_output" ProgramLoadOutput: until event finished request;
        "xenoglot_dragon_program_load_model" Table<ProgramLoadInput, ProgramLoadOutput>: abi reserved user reset tick save load destroy;
        "xenoglot_dragon_draw_input" DrawInput: now memory valid indices triangles cull bin vertex place room drained reserved data;
        "xenoglot_dragon_draw_output" DrawOutput: until event finished ask index request triangle reserved first last edges;
        "xenoglot_dragon_draw_model" Table<DrawInput, DrawOutput>: abi reserved user reset tick save load destroy;
        "xenoglot_dragon_vertex_cache_input" VertexCacheInput: now memory flush address bytes valid index reserved data;
        "xenoglot_dragon_vertex_cache_output" VertexCacheOutput: until event hit miss answer request data;
        "xenoglot_dragon_vertex_cache_model" Table<VertexCacheInput, VertexCacheOutput>: abi reserved user reset tick save load destroy;
        "xenoglot_dragon_raster_input" RasterInput: now valid first last reserved edges room;
        "xenoglot_dragon_raster_output" RasterOutput: until event ready finished count pixels;
        "xenoglot_dragon_raster_model" Table<RasterInput, RasterOutput>: abi reserved user reset tick save load destroy;
        "xenoglot_dragon_texture_input" TextureInput: now memory flush count samples;
        "xenoglot_dragon_texture_output" TextureOutput: until event finished hits misses request;
        "xenoglot_dragon_texture_model" Table<TextureInput, TextureOutput>: abi reserved user reset tick save load destroy;
        "xenoglot_dragon_fill_input" FillInput: now valid pixels;
        "xenoglot_dragon_fill_output" FillOutput: until event finished first count;
        "xenoglot_dragon_fill_model" Table<FillInput, FillOutput>: abi reserved user reset tick save load destroy;
        "xenoglot_dragon_transfer_input" TransferInput: now memory valid address stride rows row_bytes reserved;
        "xenoglot_dragon_transfer_output" TransferOutput: until event finished moved row address reserved request;
        "xenoglot_dragon_transfer_model" Table<TransferInput, TransferOutput>: abi reserved user reset tick save load destroy;
        "xenoglot_dragon_write_global_input" WriteGlobalInput: now valid global value;
        "xenoglot_dragon_write_global_output" WriteGlobalOutput: until event finished global reserved value;
        "xenoglot_dragon_write_global_model" Table<WriteGlobalInput, WriteGlobalOutput>: abi reserved user reset tick save load destroy;
        "xenoglot_dragon_vpu_input" VpuInput: now sampled_at sampled slot fragment pixel registers value globals loads words program;
        "xenoglot_dragon_vpu_output" VpuOutput: until event take threads issue pc pixel ticks undefined access unit slot reserved value;
        "xenoglot_dragon_vpu_model" Table<VpuInput, VpuOutput>: abi reserved user reset tick save load destroy;
        "xenoglot_dragon_memory_input" MemoryInput: now unit write address bytes;
        "xenoglot_dragon_memory_output" MemoryOutput: done queued hits closed conflicts refreshes;
        "xenoglot_dragon_memory_model" Table<MemoryInput, MemoryOutput>: abi reserved user reset tick save load destroy;
    };
    let event = |name: &str, event: Event| {
        format!("_Static_assert(XENOGLOT_DRAGON_{name} == {}, \"{name}\");\n", event as u16)
    };
    let events = [
        ("GENERIC_IDLE", Event::GenericIdle),
        ("TICK", Event::Tick),
        ("PROCESS_COMMAND", Event::GPUProcessCommand),
        ("WAIT", Event::GPUWait),
        ("MEM_READ", Event::MemRead),
        ("MEM_WRITE", Event::MemWrite),
        ("QUEUE_FULL", Event::QueueFull),
        ("EXEC", Event::Exec),
        ("LATENCY", Event::Latency),
        ("TEX_WAIT", Event::TexWait),
        ("RASTER", Event::Raster),
        ("SETUP_TRI", Event::SetupTri),
        ("VTX_HIT", Event::VtxHit),
        ("VTX_MISS", Event::VtxMiss),
        ("VTX_WAIT", Event::VtxWait),
        ("DRAIN", Event::Drain),
        ("UNIT_BUSY", Event::UnitBusy),
    ];
    assert_eq!(events.len(), Event::ALL.len());
    let events: String = events.map(|(name, e)| event(name, e)).concat();
    let numbers: String = [
        ("ABI", ABI as usize),
        ("MAX_PIXELS", MAX_PIXELS),
        ("MAX_SAMPLES", MAX_SAMPLES),
        ("MAX_LINES", MAX_LINES),
        ("BURST_BYTES", BURST_BYTES),
        ("VERTEX_BYTES", VERTEX_BYTES),
        ("BUSY_PROGRAM_LOAD", busy::PROGRAM_LOAD as usize),
        ("BUSY_DRAW", busy::DRAW as usize),
        ("BUSY_FILL", busy::FILL as usize),
        ("BUSY_STORE", busy::STORE as usize),
        ("BUSY_LOAD", busy::LOAD as usize),
        ("BUSY_WRITE_GLOBAL", busy::WRITE_GLOBAL as usize),
        ("ACCESS_NONE", access::NONE as usize),
        ("ACCESS_LOAD", access::LOAD as usize),
        ("ACCESS_STORE", access::STORE as usize),
        ("ACCESS_SAMPLE", access::SAMPLE as usize),
        ("PROGRAM_WORDS", xenoglot_vpu::MAX_PROGRAM_WORDS),
    ]
    .map(|(name, value)| format!("_Static_assert(XENOGLOT_DRAGON_{name} == {value}, \"{name}\");\n"))
    .concat();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("header.c");
    std::fs::write(&source, format!("#include \"xenoglot_dragon.h\"\n{claims}{events}{numbers}")).unwrap();
    let _ = compile(&source, &folder.path().join("header.o"), &["-c"]);
}

#[test]
fn a_table_of_another_version_is_refused() {
    let table = |abi| Table::<FillInput, FillOutput> {
        abi,
        reserved: 0,
        user: std::ptr::null_mut(),
        reset: None,
        tick: None,
        save: None,
        load: None,
        destroy: None,
    };
    // SAFETY: there are no functions.
    let errors = [ABI + 1, ABI].map(|abi| unsafe { CModel::new(table(abi)) }.unwrap_err());
    assert_eq!(errors, [AbiError::Version(ABI + 1), AbiError::Missing("reset")]);
}
