//! A translation is found again exactly where everything that it asked is answered as before: one answer at a time is
//! changed, and what is found must be what a translation under the changed state makes.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use xenoglot::dxil::{self, LiftOptions, Remapper, Slot};
use xenoglot::maxwell::{self, FileGpu};
use xenoglot::{Host, Options};
use xenoglot_cache::translate::dxil::BindingState;
use xenoglot_cache::translate::maxwell::GpuState;
use xenoglot_cache::translate::{dxil as dxil_cache, maxwell as maxwell_cache, pica as pica_cache, present};
use xenoglot_cache::{Cache, Found, Recorder};
use xenoglot_dxil::binding::{
    BindError, Checks, DescriptorKind, Heap, Location, Registers, StageVariable, StreamOutput, Target,
    Windows,
};
use xenoglot_dxil::model::{ResourceClass, ShaderKind};
use xenoglot_ir::imm::Dim;
use xenoglot_ir::module::{ImageFormat, Texel};
use xenoglot_maxwell::gpu::{
    AlphaTest, Captured, ConstantWord, GpuAccessor, Handle, InputPrimitive, Shape, TessDomain, Tessellator,
    Texture,
};

fn vectors(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(path)
}

fn files_below(folder: &Path, ending: &str, out: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, ending, out);
        } else if path.extension().is_some_and(|e| e == ending) {
            out.push(path);
        }
    }
}

/// What was found and made, by which answer was changed.
#[derive(Default)]
struct Tally(BTreeMap<&'static str, [u32; 2]>);

impl Tally {
    /// A look-up under a changed state: the same as `fresh` makes, or nothing.
    fn look_up(
        &mut self,
        what: &'static str,
        found: Option<Found>,
        asked: bool,
        fresh: impl FnOnce() -> Found,
    ) {
        assert_eq!(found.is_none(), asked, "{what}: asked {asked}");
        self.0.entry(what).or_default()[usize::from(found.is_some())] += 1;
        if let Some(found) = found {
            match (found, fresh()) {
                (Ok(found), Ok(fresh)) => assert!(found.payload == fresh.payload, "{what}: other code"),
                (found, fresh) => assert_eq!(found.is_ok(), fresh.is_ok(), "{what}"),
            }
        }
    }

    fn print(&self, of: &str) {
        self.0.iter().for_each(|(what, [misses, hits])| eprintln!("{of} {what}: {misses} miss, {hits} hit"));
    }
}

/// The answers that can be changed.
const STATE: [&str; 28] = [
    "handle bank",
    "texture",
    "array length",
    "image format",
    "vertex attribute",
    "colour target",
    "input primitive",
    "tessellator",
    "early tests",
    "per sample",
    "samples",
    "depth range",
    "flip y",
    "y down",
    "point size",
    "alpha test",
    "two-sided colours",
    "legacy location",
    "nonuniform indexing",
    "draw parameters",
    "dither",
    "dual source",
    "window positions",
    "draw constants",
    "layer from vertex",
    "gather bias",
    "scaled attribute",
    "captured",
];

/// A GPU with one answer changed.
struct ChangedGpu {
    file: FileGpu,
    change: &'static str,
}

macro_rules! changed {
    ($($change:literal $method:ident($($argument:ident: $kind:ty)?) -> $result:ty = |$own:ident| $value:expr;)*) => {
        impl GpuAccessor for ChangedGpu {
            $(fn $method(&self $(, $argument: $kind)?) -> $result {
                let $own = &self.file;
                if self.change == $change { $value } else { $own.$method($($argument)?) }
            })*
        }

        /// The names of what a recorder has seen, in the order of the questions' numbers.
        const NUMBERS: &[&str] = &[$($change),*];
    };
}

changed! {
    "handle bank" handle_bank() -> u8 = |file| file.handle_bank ^ 1;
    "texture" texture(_handle: Handle) -> Texture = |file| Texture {
        shape: Some(Shape { dim: Dim::D2, arrayed: true, multisampled: false }), texel: Texel::Uint, normalized: false,
    };
    "array length" array_length(_handle: Handle) -> Option<u32> = |file| Some(5);
    "image format" image_format(_handle: Handle) -> ImageFormat = |file| ImageFormat::R32ui;
    "vertex attribute" vertex_attribute(_location: u32) -> Texel = |file| Texel::Sint;
    "colour target" color_target(_target: u32) -> Texel = |file| Texel::Uint;
    "input primitive" input_primitive() -> InputPrimitive = |file| InputPrimitive::LinesAdjacency;
    "tessellator" tessellator() -> Tessellator = |file| Tessellator {
        domain: TessDomain::Isolines, clockwise: true, ..file.state.tessellator
    };
    "early tests" early_fragment_tests() -> bool = |file| !file.state.early_fragment_tests;
    "per sample" per_sample() -> bool = |file| !file.state.per_sample;
    "samples" samples() -> u32 = |file| 8;
    "depth range" minus_one_to_one_depth() -> bool = |file| !file.state.minus_one_to_one_depth;
    "flip y" flip_y() -> bool = |file| !file.state.flip_y;
    "y down" y_down() -> bool = |file| !file.state.y_down;
    "point size" point_size() -> Option<f32> = |file| Some(3.5);
    "alpha test" alpha_test() -> Option<(AlphaTest, f32)> = |file| Some((AlphaTest::Greater, 0.25));
    "two-sided colours" two_sided_colors() -> bool = |file| true;
    "legacy location" legacy_location() -> u32 = |file| 20;
    "nonuniform indexing" nonuniform_indexing() -> bool = |file| false;
    "draw parameters" draw_parameters() -> bool = |file| false;
    "dither" alpha_to_coverage_dither() -> bool = |file| true;
    "dual source" dual_source_blend() -> bool = |file| true;
    "window positions" window_positions() -> Option<[f32; 2]> = |file| Some([64.0, 48.0]);
    "draw constants" draw_constants() -> Option<ConstantWord> = |file| Some(ConstantWord { bank: 0, offset: 0 });
    "layer from vertex" layer_from_vertex() -> bool = |file| false;
    "gather bias" gather_bias() -> Option<u8> = |file| Some(8);
    "scaled attribute" scaled_attribute(_location: u32) -> bool = |file| true;
    "captured" captured(buffer: u32) -> Option<Captured> = |file| {
        (buffer == 0).then(|| Captured { stride: 16, words: vec![28, 29, 30, 31] })
    };
    "viewport mask" viewport_mask() -> bool = |file| true;
}

#[test]
fn maxwell_programs_miss_exactly_what_they_asked() {
    let file = std::fs::File::open(vectors("maxwell/graphics/public.tar.xz")).unwrap();
    let mut archive = tar::Archive::new(lzma_rust2::XzReader::new(std::io::BufReader::new(file), true));
    let (host, options, lift) = (Host::default(), Options::default(), maxwell::Options::default());
    let (mut tally, mut programs) = (Tally::default(), 0);
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.path().unwrap().extension().is_none_or(|e| e != "dksh") {
            continue;
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        for program in maxwell::load(&bytes).unwrap() {
            programs += 1;
            let cache = Cache::memory(present());
            let base = maxwell_cache::base(&program, None, &lift, &host, &options).unwrap();
            let recorder = Recorder::new();
            let gpu = program.gpu;
            let lifted =
                maxwell::lift_on(&program, None, &lift, &maxwell_cache::Recorded::new(&gpu, &recorder));
            let recording = recorder.recording();
            // A lifter that is answered as before does as before.
            let again = maxwell::lift_on(&program, None, &lift, &maxwell_cache::Replayed(&recording));
            assert_eq!(lifted.map(|l| l.module.to_string()).ok(), again.map(|l| l.module.to_string()).ok());
            let first = maxwell_cache::translate(&cache, &program, &lift, &gpu, &host, &options);
            let second = cache.find(base, &GpuState(&gpu)).expect("it was put");
            assert_eq!(first.map(|e| e.payload.clone()).ok(), second.map(|e| e.payload.clone()).ok());
            for change in STATE {
                let changed = ChangedGpu { file: gpu, change };
                let number = NUMBERS.iter().position(|name| *name == change).unwrap() as u8;
                let asked = recording.facts.iter().any(|fact| {
                    let differs = xenoglot_cache::State::answer(&GpuState(&changed), &fact.query).unwrap()
                        != fact.answer;
                    fact.query[0] == number && differs
                });
                tally.look_up(change, cache.find(base, &GpuState(&changed)), asked, || {
                    let fresh = Cache::memory(present());
                    maxwell_cache::translate(&fresh, &program, &lift, &changed, &host, &options)
                });
            }
        }
    }
    tally.print("maxwell");
    assert!(programs > 20, "{programs} programs");
    for (what, [_, hits]) in &tally.0 {
        assert!(*hits > 0 || *what == "handle bank", "every program depends on {what}");
    }
    for what in ["texture", "alpha test", "flip y", "colour target", "vertex attribute"] {
        assert!(tally.0[what][0] > 0, "no program depends on {what}");
    }
}

const BINDINGS: [&str; 13] = [
    "SRVs",
    "UAVs",
    "CBVs",
    "samplers",
    "counters",
    "heaps",
    "heaps indexed",
    "checks",
    "windows",
    "push words",
    "inputs",
    "outputs",
    "streams",
];

/// A binding model with one answer changed.
struct ChangedBindings<'a>(&'a dyn Remapper, &'static str);

impl ChangedBindings<'_> {
    fn moved(&self, what: &str, slot: Slot) -> Slot {
        if self.1 == what { Slot { set: slot.set + 9, ..slot } } else { slot }
    }
}

impl Remapper for ChangedBindings<'_> {
    fn resource(&self, registers: &Registers) -> Result<Target, BindError> {
        let what = match registers.class {
            ResourceClass::Srv => "SRVs",
            ResourceClass::Uav => "UAVs",
            ResourceClass::Cbv => "CBVs",
            ResourceClass::Sampler => "samplers",
        };
        self.0.resource(registers).map(|target| match target {
            Target::Slot(slot) => Target::Slot(self.moved(what, slot)),
            other => other,
        })
    }

    fn counter(&self, registers: &Registers) -> Result<Target, BindError> {
        self.0.counter(registers).map(|target| match target {
            Target::Slot(slot) => Target::Slot(self.moved("counters", slot)),
            other => other,
        })
    }

    fn heap(&self, heap: Heap, kind: DescriptorKind) -> Result<Slot, BindError> {
        self.0.heap(heap, kind).map(|slot| self.moved("heaps", slot))
    }

    fn is_heap_indexed(&self, heap: Heap) -> bool {
        self.0.is_heap_indexed(heap) != (self.1 == "heaps indexed")
    }

    fn descriptor_checks(&self, heap: Heap) -> Option<Checks> {
        let slot = Slot { set: 30, binding: 0 };
        let changed = (self.1 == "checks").then_some(Checks { slot, program: 0 });
        changed.or_else(|| self.0.descriptor_checks(heap))
    }

    fn buffer_windows(&self) -> Option<Windows> {
        let changed = (self.1 == "windows").then_some(Windows::pairs(Slot { set: 30, binding: 1 }));
        changed.or_else(|| self.0.buffer_windows())
    }

    fn push_words(&self) -> u32 {
        self.0.push_words() + 4 * u32::from(self.1 == "push words")
    }

    fn input(&self, stage: ShaderKind, variable: &StageVariable) -> Location {
        let Location { location, component } = self.0.input(stage, variable);
        Location { location: location + u32::from(self.1 == "inputs"), component }
    }

    fn output(&self, stage: ShaderKind, variable: &StageVariable) -> Location {
        let Location { location, component } = self.0.output(stage, variable);
        Location { location: location + u32::from(self.1 == "outputs"), component }
    }

    fn stream_output(&self, stage: ShaderKind, variable: &StageVariable) -> Option<StreamOutput> {
        let place = StreamOutput { buffer: 0, offset: 16 * variable.row, stride: 512 };
        if self.1 == "streams" { Some(place) } else { self.0.stream_output(stage, variable) }
    }
}

#[test]
fn dxil_shaders_miss_exactly_what_they_asked() {
    let mut files = Vec::new();
    files_below(&vectors("dxil"), "dxil", &mut files);
    files.sort();
    let step = xenoglot_testgen::property::budget(4, 1);
    let (host, options, lift) = (Host::default(), Options::default(), LiftOptions::default());
    let (mut tally, mut shaders) = (Tally::default(), 0);
    for path in files.iter().step_by(step) {
        let bytes = std::fs::read(path).unwrap();
        let Ok(module) = dxil::load(&bytes) else { continue };
        let Ok(remapper) = dxil::BindingModel::default().remapper(&bytes, &module, 0) else { continue };
        shaders += 1;
        let remapper = &*remapper;
        let cache = Cache::memory(present());
        let base = dxil_cache::base(&bytes, &lift, &host, &options).unwrap();
        let recorder = Recorder::new();
        let lifted = dxil::lift_bound(&module, &lift, &dxil_cache::Recorded::new(remapper, &recorder));
        let recording = recorder.recording();
        let again = dxil::lift_bound(&module, &lift, &dxil_cache::Replayed(&recording));
        assert_eq!(lifted.map(|l| l.module.to_string()).ok(), again.map(|l| l.module.to_string()).ok());
        let first = dxil_cache::translate(&cache, &bytes, &lift, remapper, &host, &options);
        let second = cache.find(base, &BindingState(remapper)).expect("it was put");
        assert_eq!(first.map(|e| e.payload.clone()).ok(), second.map(|e| e.payload.clone()).ok());
        for change in BINDINGS {
            let changed = ChangedBindings(remapper, change);
            let state = BindingState(&changed);
            let asked = recording
                .facts
                .iter()
                .any(|fact| xenoglot_cache::State::answer(&state, &fact.query).unwrap() != fact.answer);
            tally.look_up(change, cache.find(base, &state), asked, || {
                let fresh = Cache::memory(present());
                dxil_cache::translate(&fresh, &bytes, &lift, &changed, &host, &options)
            });
        }
    }
    tally.print("dxil");
    assert!(shaders > 30, "{shaders} shaders");
    for what in ["SRVs", "UAVs", "CBVs", "inputs", "outputs"] {
        let [misses, hits] = tally.0[what];
        assert!(misses > 0 && hits > 0, "{what}: {misses} miss, {hits} hit");
    }
}

#[test]
fn pica_programs_miss_when_an_option_changes() {
    let source = ".out o_pos position\n.proc main\nmov o_pos, v0\nend\n.end";
    let shbin = &xenoglot::pica::load(source.as_bytes()).unwrap()[0].shbin;
    let (cache, host, options) = (Cache::memory(present()), Host::default(), Options::default());
    let plain = xenoglot::pica::Options::default();
    let translate = |pica: &xenoglot::pica::Options, host: &Host, options: &Options| {
        pica_cache::translate(&cache, shbin, 0, pica, host, options).unwrap().payload.clone()
    };
    let first = translate(&plain, &host, &options);
    assert_eq!(translate(&plain, &host, &options), first);
    assert_eq!((cache.counts().hits, cache.counts().misses), (1, 1));
    translate(&xenoglot::pica::Options { count_steps: true, ..plain }, &host, &options);
    translate(&plain, &"vulkan-1.3".parse().unwrap(), &options);
    translate(&plain, &host, &Options { robust: true, ..options });
    assert_eq!((cache.counts().hits, cache.counts().misses), (1, 4));
}
