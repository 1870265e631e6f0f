//! The second set of Maxwell vectors: what passes, and what waits for which feature.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use xenoglot_conformance::maxwell::format::Corpus;
use xenoglot_conformance::maxwell::launch::{BASE, Launch};
use xenoglot_conformance::{Case, Observer, Request, Suite, Verdict};
use xenoglot_maxwell::container::Cubin;
use xenoglot_maxwell::launch::{Memory, place_globals};
use xenoglot_testgen::skip::skip;
use xenoglot_vulkan::glslang;
use xenoglot_vulkan::isolated::{WorkerCommand, serve_if_worker};

fn vectors(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(name).join("public.tar.xz")
}

/// Not a test: what the others start as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

#[derive(Default)]
struct Cases(Mutex<Vec<Case>>);

impl Observer for Cases {
    fn total(&self, _cases: usize) {}

    fn case(&self, case: &Case) {
        self.0.lock().unwrap().push(case.clone());
    }
}

fn run(suite: &str, path: PathBuf, engine: &'static str) -> Vec<Case> {
    let request = Request::new(path, engine).with_worker(WorkerCommand::this_test("vulkan_worker").unwrap());
    let cases = Cases::default();
    Suite::find(suite).unwrap().run(&request, &cases).unwrap();
    let mut cases = cases.0.into_inner().unwrap();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

/// Checks that all pass but those that wait, and that these say so: by the start of a case's name, what it says.
fn all_pass_but(cases: &[Case], waiting: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    let mut passed = 0;
    for case in cases {
        let says = waiting.iter().find(|(name, _)| case.name.starts_with(name)).map(|w| w.1);
        match (&case.verdict, says) {
            (Verdict::Passed, None) => passed += 1,
            (Verdict::Failed(why), Some(says)) if why.contains(says) => println!("{}: {why}", case.name),
            _ => wrong.push(format!("{}: {:?}", case.name, case.verdict)),
        }
    }
    println!("{passed} of {} cases pass", cases.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn kernels_on_the_interpreter() {
    let cases = run("maxwell", vectors("maxwell-2/compute"), "interp");
    assert_eq!(cases.len(), 14 * 2 * 3);
    all_pass_but(&cases, &[]);
}

/// Whether the device is the one whose abilities are known here.
fn lavapipe() -> bool {
    let request = Request::new("", "spirv").with_worker(WorkerCommand::this_test("vulkan_worker").unwrap());
    match xenoglot_conformance::vulkan::device(&request) {
        Ok(device) if device.name.contains("llvmpipe") && glslang::available() => return true,
        Ok(_) => skip("no lavapipe, or no glslangValidator"),
        Err(e) => skip(&e.to_string()),
    }
    false
}

#[test]
fn kernels_on_a_device() {
    if !lavapipe() {
        return;
    }
    for engine in ["spirv", "glsl"] {
        let cases = run("maxwell", vectors("maxwell-2/compute"), engine);
        assert_eq!(cases.len(), 14 * 2);
        all_pass_but(&cases, &[]);
    }
}

#[test]
fn linked_cubins_hold_what_the_descriptions_say() {
    let corpus = Corpus::read(&vectors("maxwell-2/compute")).unwrap();
    let mut relocated = 0;
    for kernel in &corpus.kernels {
        for variant in kernel.variants.values() {
            let bytes = &corpus.cubins[&variant.cubin];
            let launch = Launch::new(kernel, variant, bytes).unwrap();
            let mut memory = Memory::new(BASE);
            for buffer in &kernel.buffers {
                memory.add(&buffer.before);
            }
            let linked = place_globals(bytes, &kernel.name, &mut memory).unwrap();
            let cubin = Cubin::parse(&linked).unwrap();
            assert_eq!(memory.bytes(), launch.memory.bytes(), "{}", kernel.name);
            let banks: BTreeMap<u32, &[u8]> =
                cubin.kernel(&kernel.name).unwrap().banks.iter().map(|b| (b.bank, b.data)).collect();
            let stated = launch.banks.iter().filter(|b| b.0 != 0).map(|(bank, data)| (*bank, &data[..]));
            assert_eq!(banks, stated.collect::<BTreeMap<_, _>>(), "{}", kernel.name);
            relocated += usize::from(!variant.relocations.is_empty());
        }
    }
    assert_eq!(relocated, 6);
}

/// Shaders whose sources draw something else than their code. The compiler of one made `b * b - 1e18` one `DFMA`, which keeps a square
/// that is lost where a device rounds the product. The source of the other reads an invocation that is not the same for all, which
/// GLSL does not allow, so that the reference draws what the first one has. `products_are_fused` and `lanes_read_their_own` draw both beside
/// sources that say what the code does.
const SHADERS: [(&str, &str); 2] =
    [("fs_fp64.frag", "pixels differ"), ("fs_vote_bits.frag", "pixels differ")];

fn shaders(engine: &'static str) {
    if !lavapipe() {
        return;
    }
    let cases = run("maxwell-graphics", vectors("maxwell-2/graphics"), engine);
    assert_eq!(cases.len(), 35);
    all_pass_but(&cases, &SHADERS);
}

#[test]
fn shaders_draw_what_their_sources_do_as_spirv() {
    shaders("spirv");
}

#[test]
fn shaders_draw_what_their_sources_do_as_glsl() {
    shaders("glsl");
}

/// An archive with some of the shaders of a set, their sources rewritten.
fn archive(set: &str, names: &[&str], rewrite: impl Fn(&str) -> String) -> tempfile::TempDir {
    use std::io::Read;
    let bytes = std::fs::read(vectors(set)).unwrap();
    let mut tar = Vec::new();
    lzma_rust2::XzReader::new(bytes.as_slice(), false).read_to_end(&mut tar).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut out = tar::Builder::new(std::fs::File::create(folder.path().join("some.tar")).unwrap());
    for entry in tar::Archive::new(tar.as_slice()).entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        let is_source = names.contains(&name.as_str());
        if is_source {
            bytes = rewrite(&String::from_utf8(bytes).unwrap()).into_bytes();
        }
        // Without the SPIR-V: it is made from the source.
        if is_source || name.strip_suffix(".dksh").is_some_and(|name| names.contains(&name)) {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            out.append_data(&mut header, &name, &bytes[..]).unwrap();
        }
    }
    out.finish().unwrap();
    folder
}

/// Draws a shader beside its source with `from` replaced.
fn drawn_as(name: &str, from: &str, to: &str) {
    if !lavapipe() {
        return;
    }
    let folder = archive("maxwell-2/graphics", &[name], |source| {
        assert!(source.contains(from), "{source}");
        source.replace(from, to)
    });
    for engine in ["spirv", "glsl"] {
        let cases = run("maxwell-graphics", folder.path().join("some.tar"), engine);
        assert_eq!(cases.len(), 1);
        all_pass_but(&cases, &[]);
    }
}

/// With b of 1e9 + a, b b - 1e18 - 2e9 a is the square of a, if nothing is rounded.
#[test]
fn products_are_fused() {
    drawn_as("fs_fp64.frag", "double s=b*b; s=s-1.0e18lf-2.0e9lf*a;", "double s=a*a;");
}

#[test]
fn lanes_read_their_own() {
    drawn_as("fs_vote_bits.frag", "readInvocationARB(uv.y,gl_SubGroupInvocationARB)", "uv.y");
}

#[test]
fn a_half_of_a_tessellator_is_drawn_with_one_made_for_it() {
    if !lavapipe() {
        return;
    }
    for name in ["tcs_basic.tesc", "tes_tri.tese"] {
        let folder = archive("maxwell/graphics", &[name], str::to_owned);
        let cases = run("maxwell-graphics", folder.path().join("some.tar"), "spirv");
        assert_eq!(cases.len(), 1);
        all_pass_but(&cases, &[]);
    }
}

#[test]
fn sources_are_read_however_they_are_written() {
    if !lavapipe() {
        return;
    }
    // Blanks, macros and lengths that are expressions, where the first set has numbers.
    let names = ["fs_tex_indexed.frag", "cs_ubo_many.comp", "cs_images.comp", "vs_skin.vert"];
    let folder = archive("maxwell/graphics", &names, |source| {
        let source = source.replace("binding=", "binding = ZERO + ").replace("a[4]", "a[ 2 * TWO ]");
        source.replacen('\n', "\n#define ZERO 0\n#define TWO 2\n", 1)
    });
    let cases = run("maxwell-graphics", folder.path().join("some.tar"), "spirv");
    assert_eq!(cases.len(), names.len());
    all_pass_but(&cases, &[]);
}
