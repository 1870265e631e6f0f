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
            machine.attach_rasterizer(model(library, "new_rasterizer")).unwrap();
            machine.attach_fill(model(library, "new_fill")).unwrap();
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
    machine.attach_rasterizer(model(library, "new_rasterizer")).unwrap();
    for pause in [9_000, 11_111, 13_003] {
        assert!(!drawing.run_until(&mut machine, pause, |_| false).unwrap());
        let bytes = save(&machine, &drawing).unwrap();
        let mut copy = machine.clone();
        copy.attach_rasterizer(model(library, "new_rasterizer")).unwrap();
        assert!(finish(copy, drawing.clone()) == want, "the copy at {pause}");
        (machine, drawing) = load(&bytes).unwrap();
        // Without its model the rasteriser is stuck.
        let alone = drawing.clone().finish(&mut machine.clone()).unwrap_err().to_string();
        assert!(alone.contains("triangles, no model"), "{alone}");
        machine.attach_rasterizer(model(library, "new_rasterizer")).unwrap();
    }
    assert!(finish(machine, drawing) == want);

    let (mut machine, _) = begin(&demo(), "");
    machine.attach_fill(model(library, "new_fill")).unwrap();
    let error = save(&machine, &()).unwrap_err();
    assert!(matches!(error, CheckpointError::Model("tile_buffer_fill")), "{error}");
}

#[test]
fn a_busy_unit_is_not_replaced() {
    let (mut machine, mut drawing) = begin(&demo(), "");
    let busy = |machine: &Machine| machine.activity().any(|(_, event)| event == Event::Raster);
    drawing.run_until(&mut machine, u64::MAX, busy).unwrap();
    assert_eq!(machine.attach_rasterizer(Box::new(Rude::default())), Err(AttachError::Busy));
    assert_eq!(drawing.finish(&mut machine).unwrap(), frame_two());
}

fn frame_two() -> xenoglot_dragon::host::Frame {
    demo().frame(&mut machine(""), 2).unwrap()
}

/// Answers what it is told to, over and over.
#[derive(Default)]
struct Rude(VecDeque<RasterOutput>);

impl Model<RasterInput, RasterOutput> for Rude {
    fn reset(&mut self, _: &Config) {}

    fn tick(&mut self, _: &RasterInput) -> RasterOutput {
        self.0.rotate_left(1);
        self.0.front().copied().unwrap_or_default()
    }
}

#[derive(Default)]
struct RudeFill(VecDeque<FillOutput>);

impl Model<FillInput, FillOutput> for RudeFill {
    fn reset(&mut self, _: &Config) {}

    fn tick(&mut self, _: &FillInput) -> FillOutput {
        self.0.rotate_left(1);
        self.0.front().copied().unwrap_or_default()
    }
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

fn fill_output() -> impl Strategy<Value = FillOutput> {
    let small = || prop_oneof![0u32..3, 0u32..2000, any::<u32>()];
    (any::<u64>(), small(), small(), small(), small()).prop_map(|(until, event, finished, first, count)| {
        FillOutput { until, event, finished, first, count }
    })
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(200))]
    #[test]
    fn whatever_models_answer_a_run_ends(
        raster in prop::collection::vec(raster_output(), 1..8),
        fill in prop::collection::vec(fill_output(), 1..8),
    ) {
        let params = Params { tick_limit: 5000, ..Params::default() };
        let run = |skip| {
            let mut machine = Machine::new(params.clone()).unwrap();
            machine.set_skipping(skip);
            machine.attach_rasterizer(Box::new(Rude(raster.clone().into()))).unwrap();
            machine.attach_fill(Box::new(RudeFill(fill.clone().into()))).unwrap();
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
        "xenoglot_dragon_config" Config: bin_size vpus raster_pixels row_skip fill_pixels;
        "xenoglot_dragon_edge" Edge: value dx dy bias;
        "xenoglot_dragon_raster_input" RasterInput: now valid first last reserved edges room;
        "xenoglot_dragon_pixel" Pixel: x y;
        "xenoglot_dragon_raster_output" RasterOutput: until event ready finished count pixels;
        "xenoglot_dragon_fill_input" FillInput: now valid pixels;
        "xenoglot_dragon_fill_output" FillOutput: until event finished first count;
        "xenoglot_dragon_raster_model" Table<RasterInput, RasterOutput>: abi reserved user reset tick save load destroy;
        "xenoglot_dragon_fill_model" Table<FillInput, FillOutput>: abi reserved user reset tick save load destroy;
    };
    let event = |name: &str, event: Event| {
        format!("_Static_assert(XENOGLOT_DRAGON_{name} == {}, \"{name}\");\n", event as u16)
    };
    let events = [
        ("GENERIC_IDLE", Event::GenericIdle),
        ("TICK", Event::Tick),
        ("MEM_READ", Event::MemRead),
        ("MEM_WRITE", Event::MemWrite),
        ("QUEUE_FULL", Event::QueueFull),
        ("RASTER", Event::Raster),
    ];
    let events: String = events.map(|(name, e)| event(name, e)).concat();
    let numbers = format!(
        "_Static_assert(XENOGLOT_DRAGON_ABI == {ABI}, \"ABI\");\n\
         _Static_assert(XENOGLOT_DRAGON_MAX_PIXELS == {MAX_PIXELS}, \"MAX_PIXELS\");\n"
    );
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
