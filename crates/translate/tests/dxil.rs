//! Every DXIL container becomes SPIR-V that is valid, as lifted and optimised.

use std::path::{Path, PathBuf};
use xenoglot::dxil::{BindingModel, LiftOptions, lift, lift_bound, load, programs};
use xenoglot::{Code, Error, Host, Options, Translator};
use xenoglot_ir::Module;
use xenoglot_testgen::spirv_tools::validate;

/// What has no lifting, and alarms when it gets one: intrinsics of vendors, choices between handles, copies of hit objects.
const REFUSED: &[&str] = &["nvapi_refused main", "handle_choice main", "hit_copied ?copied@@YAXXZ"];

/// Revision 3 of `SPV_EXT_shader_invocation_reorder`, which no validator here knows.
const UNKNOWN: &str = "hit_kind";

fn containers() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    for folder in [
        "vectors/dxil/stages",
        "vectors/dxil/stages-own",
        "vectors/dxil/compute-own",
        "crates/front/dxil/tests/containers",
    ] {
        let files = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        all.extend(files.filter(|path| path.extension().is_some_and(|e| e == "dxil")));
    }
    all.retain(|path| path.file_stem().is_some_and(|name| name != UNKNOWN));
    all.sort();
    all
}

fn host(name: &str) -> Host {
    Host::named(name).unwrap()
}

fn validated(translator: &mut Translator, module: &Module, host: &Host) -> Result<(), String> {
    let code = translator.write(module, host, &Options::default()).map_err(|e| e.to_string())?;
    let Code::Words(words) = code else { return Err("text for words".into()) };
    validate(&words, "vulkan1.3").map_err(|e| format!("invalid: {e}"))
}

fn translated(
    translator: &mut Translator,
    (bytes, module): (&[u8], &xenoglot_dxil::bitcode::Module),
    entry: usize,
) -> Result<(), String> {
    let options = LiftOptions { entry, samples: Some(8), ..LiftOptions::default() };
    let remapper = BindingModel::Registers.remapper(bytes, module, entry).map_err(|e| e.to_string())?;
    let mut lifted = lift_bound(module, &options, &*remapper).map_err(|e| e.to_string())?;
    let (host, options) = (host("vulkan-1.3"), Options::default());
    // As lifted, some have ops that passes have to lower first.
    if translator.write(&lifted.module, &host, &options).is_ok() {
        validated(translator, &lifted.module, &host).map_err(|e| format!("as lifted: {e}"))?;
    }
    let Ok(()) = translator.prepare(&mut lifted.module, &host, &options, &mut ());
    validated(translator, &lifted.module, &host).map_err(|e| format!("optimised: {e}"))
}

#[test]
fn every_container_is_valid() {
    let mut translator = Translator::new();
    let mut failures = Vec::new();
    let mut count = 0;
    for path in containers() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let module = load(&bytes).unwrap();
        for (entry, program) in programs(&module).unwrap().iter().enumerate() {
            count += 1;
            // Mangled names start with a control character.
            let name = format!("{name} {}", program.name.trim_start_matches('\u{1}'));
            match (translated(&mut translator, (&bytes, &module), entry), REFUSED.contains(&&*name)) {
                (Err(e), false) => failures.push(format!("{name}: {e}")),
                (Ok(()), true) => failures.push(format!("{name} is no longer refused")),
                _ => {}
            }
        }
    }
    assert!(count > 40);
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}

/// The words of a container's shaders, as a user of the facade gets them who asks for nothing.
fn by_default(name: &str, model: &BindingModel) -> Vec<Vec<u32>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    let bytes = std::fs::read(path).unwrap();
    let module = load(&bytes).unwrap();
    let mut translator = Translator::new();
    let mut words = |entry: usize| {
        let options = LiftOptions { entry, ..LiftOptions::default() };
        let remapper = model.remapper(&bytes, &module, entry).unwrap();
        let mut lifted = lift_bound(&module, &options, &*remapper).unwrap();
        let mut again = lifted.module.clone();
        let code = translator.compile(&mut lifted.module, &Host::default(), &Options::default());
        let code = code.unwrap_or_else(|e| panic!("{name}: {e}"));
        let Code::Words(words) = code else { panic!("{name}: no words") };
        if words[1] > 0x0001_0300 {
            let error = translator.compile(&mut again, &host("vulkan-1.1"), &Options::default());
            assert!(matches!(error, Err(Error::Spirv(xenoglot_spirv::Error::Version { .. }))), "{error:?}");
        }
        words
    };
    (0..programs(&module).unwrap().len()).map(&mut words).collect()
}

#[test]
fn the_default_version_is_one_that_the_stage_needs() {
    let version = |name: &str, model: &BindingModel| -> Vec<u32> {
        by_default(name, model).iter().map(|words| words[1] >> 8 & 0xff).collect()
    };
    for model in [BindingModel::Registers, BindingModel::root_signature(None)] {
        let library = version("vectors/dxil/stages/lib_hit_groups.dxil", &model);
        assert!(library.len() > 1 && library.iter().all(|&minor| minor == 4), "{library:?}");
        assert_eq!(version("vectors/dxil/stages/ms_line_shared.dxil", &model), [4]);
        assert_eq!(version("vectors/dxil/stages-own/query_cs.dxil", &model), [4]);
        assert_eq!(version("vectors/dxil/compute/bit_ops.dxil", &model), [3]);
    }
}

/// The instructions of a shader of `vectors/{name}`, lifted with options: number and operands.
fn instructions(name: &str, options: &LiftOptions) -> Vec<(u32, Vec<u32>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(name);
    let module = load(&std::fs::read(path).unwrap()).unwrap();
    let mut lifted = lift(&module, options).unwrap().module;
    let code = Translator::new().compile(&mut lifted, &host("vulkan-1.3"), &Options::default()).unwrap();
    let Code::Words(words) = code else { panic!("no words") };
    validate(&words, "vulkan1.3").unwrap();
    let mut found = Vec::new();
    let mut at = 5;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        found.push((words[at] & 0xffff, words[at + 1..at + length].to_vec()));
        at += length;
    }
    found
}

/// The decorations of a shader of `vectors/dxil-2/stages`, lifted with options: number and first operand.
fn decorations(name: &str, options: &LiftOptions) -> Vec<(u32, Option<u32>)> {
    const DECORATE: u32 = 71;
    let all = instructions(&format!("dxil-2/stages/{name}"), options);
    let decorations = all.iter().filter(|(op, _)| *op == DECORATE);
    decorations.map(|(_, operands)| (operands[1], operands.get(2).copied())).collect()
}

#[test]
fn the_second_target_may_be_a_source_of_blending() {
    const LOCATION: u32 = 30;
    const INDEX: u32 = 32;
    let name = "ps_dual_rov_bary.dxil";
    let plain = decorations(name, &LiftOptions::default());
    assert!(plain.contains(&(LOCATION, Some(1))) && !plain.contains(&(INDEX, Some(1))), "{plain:?}");
    let dual = decorations(name, &LiftOptions { dual_source: true, ..LiftOptions::default() });
    assert!(dual.contains(&(INDEX, Some(1))), "{dual:?}");
}

#[test]
fn positions_are_invariant_where_that_is_asked_for() {
    const INVARIANT: u32 = 18;
    let invariant = LiftOptions { invariant_position: true, ..LiftOptions::default() };
    for name in ["vs_start_vertex.dxil", "ms_view_id.dxil"] {
        let plain = decorations(name, &LiftOptions::default());
        assert!(!plain.contains(&(INVARIANT, None)), "{plain:?}");
        assert!(decorations(name, &invariant).contains(&(INVARIANT, None)), "{name}");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/dxil-2/stages/vs_start_vertex.dxil");
    let mut lifted = lift(&load(&std::fs::read(path).unwrap()).unwrap(), &invariant).unwrap().module;
    let code = Translator::new().compile(&mut lifted, &host("vulkan-glsl"), &Options::default()).unwrap();
    let Code::Text(text) = code else { panic!("no text") };
    assert!(text.contains("invariant precise gl_Position;"), "{text}");
}

#[test]
fn waves_are_without_helpers_where_that_is_asked_for() {
    const IS_HELPER_INVOCATION: u32 = 5381;
    let without = LiftOptions { waves_without_helpers: true, ..LiftOptions::default() };
    for (options, asks) in [(LiftOptions::default(), false), (without, true)] {
        let all = instructions("dxil/stages/ps_wave_match.dxil", &options);
        assert_eq!(all.iter().any(|(op, _)| *op == IS_HELPER_INVOCATION), asks);
    }
}

#[test]
fn images_are_without_format_where_that_is_asked_for() {
    const TYPE_IMAGE: u32 = 25;
    const ATOMIC: std::ops::RangeInclusive<u32> = 227..=242;
    let without = LiftOptions { images_without_format: true, ..LiftOptions::default() };
    let (mut dropped, mut kept) = (0, 0);
    let names =
        ["stages/cs_atomic64_img", "stages/cs_derivs66", "stages-own/stored_cs", "stages-own/reads_cs"];
    for name in names {
        let path = &format!("dxil/{name}.dxil");
        let formats = |options: &LiftOptions| -> Vec<u32> {
            let all = instructions(path, options);
            let storage = all.iter().filter(|(op, words)| *op == TYPE_IMAGE && words[6] == 2);
            storage.map(|(_, words)| words[7]).collect()
        };
        let atomics = instructions(path, &without).iter().any(|(op, _)| ATOMIC.contains(op));
        assert!(formats(&LiftOptions::default()).iter().all(|&format| format != 0), "{name}");
        let formats = formats(&without);
        assert!(atomics || formats.iter().all(|&format| format == 0), "{name}: {formats:?}");
        dropped += formats.iter().filter(|&&format| format == 0).count();
        kept += formats.iter().filter(|&&format| format != 0).count();
    }
    assert!(dropped > 0 && kept > 0, "{dropped}, {kept}");
}

#[test]
fn nothing_is_fused_where_all_is_to_be_precise() {
    const DECORATE: u32 = 71;
    const NO_CONTRACTION: u32 = 42;
    let precise = LiftOptions { precise: true, ..LiftOptions::default() };
    let unfused = |options: &LiftOptions| {
        let all = instructions("dxil/stages/vs_matrix_io.dxil", options);
        all.iter().filter(|(op, operands)| *op == DECORATE && operands[1] == NO_CONTRACTION).count()
    };
    assert!(unfused(&precise) > unfused(&LiftOptions::default()));
}

#[test]
fn components_of_16_bits_pass_as_such_where_that_is_asked_for() {
    const CAPABILITY: u32 = 17;
    const STORAGE_INPUT_OUTPUT_16: u32 = 4436;
    let narrow = LiftOptions { interface_16bit: true, ..LiftOptions::default() };
    for name in ["half_vs", "half_ps"] {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../vectors/dxil/stages-own/{name}.dxil"));
        let bytes = std::fs::read(path).unwrap();
        for (options, is_narrow) in [(LiftOptions::default(), false), (narrow, true)] {
            let mut module = lift(&load(&bytes).unwrap(), &options).unwrap().module;
            let words = match Translator::new().compile(&mut module, &host("vulkan-1.3"), &Options::default())
            {
                Ok(Code::Words(words)) => words,
                other => panic!("{name}: {other:?}"),
            };
            let declared = words.windows(2).any(|w| w == [2 << 16 | CAPABILITY, STORAGE_INPUT_OUTPUT_16]);
            assert_eq!(declared, is_narrow, "{name}");
            validate(&words, "vulkan1.3").unwrap();
        }
        let mut module = lift(&load(&bytes).unwrap(), &narrow).unwrap().module;
        let refused = Translator::new().compile(&mut module, &host("gl-4.5"), &Options::default());
        assert!(refused.is_err(), "{name}");
    }
}

#[test]
fn meshes_without_vertices_or_primitives_have_room_for_one() {
    const EXECUTION_MODE: u32 = 16;
    const OUTPUT_VERTICES: u32 = 26;
    const OUTPUT_PRIMITIVES: u32 = 5270;
    let words =
        by_default("vectors/dxil/stages-own/empty_maxima_ms.dxil", &BindingModel::Registers).remove(0);
    let mut modes = Vec::new();
    let mut at = 5;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        if words[at] & 0xffff == EXECUTION_MODE {
            modes.push(words[at + 2..at + length].to_vec());
        }
        at += length;
    }
    for mode in [OUTPUT_VERTICES, OUTPUT_PRIMITIVES] {
        assert!(modes.contains(&vec![mode, 1]), "{mode}: {modes:?}");
    }
    validate(&words, "vulkan1.3").unwrap();
}

/// The texts are those of the `direct` containers with phis put in, whose values are all one handle.
#[test]
fn phis_of_one_handle_stand_for_it_in_pixel_and_mesh_shaders() {
    let words = |name: &str| {
        by_default(&format!("crates/front/dxil/tests/containers/{name}.dxil"), &BindingModel::Registers)
            .remove(0)
    };
    for stage in ["ps", "ms"] {
        let phis = words(&format!("{stage}_handle_phis"));
        validate(&phis, "vulkan1.3").unwrap();
        assert_eq!(phis, words(&format!("{stage}_handle_direct")), "{stage}");
    }
}
