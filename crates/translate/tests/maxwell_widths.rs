//! The second set of Maxwell vectors, for hosts with subgroups of every width: SPIR-V is validated, GLSL compiled. At the width
//! of the device that is there they are run, by `xenoglot-conformance`.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use xenoglot::host::Subgroups;
use xenoglot::maxwell::{self, Options};
use xenoglot::{Code, Host, compile};
use xenoglot_maxwell::container::{Cubin, link};
use xenoglot_testgen::skip::skip;
use xenoglot_testgen::spirv_tools::validate;
use xenoglot_vulkan::glslang::{self, Stage};

/// The programs of a folder of vectors: names and files.
fn files(folder: &str) -> Vec<(String, Vec<u8>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/maxwell-2").join(folder);
    let file = File::open(path.join("public.tar.xz")).unwrap();
    let mut archive = tar::Archive::new(lzma_rust2::XzReader::new(file, false));
    let mut files = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        if name.ends_with(".dksh") || name.ends_with(".cubin") {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            files.push((name, bytes));
        }
    }
    files
}

/// A cubin whose kernel is linked to global data at any addresses.
fn linked(bytes: &[u8]) -> Vec<u8> {
    let cubin = Cubin::parse(bytes).unwrap();
    let addresses: Vec<u64> = (1..=cubin.globals.len() as u64).map(|n| n << 32).collect();
    link(bytes, &cubin.kernels[0].name, &addresses).unwrap()
}

/// Widths, and one that is not known.
fn hosts(name: &str) -> impl Iterator<Item = Host> {
    let host: Host = name.parse().unwrap();
    let widths = [4, 8, 16, 32, 64].map(Subgroups::exactly).into_iter().chain([Subgroups::UNKNOWN]);
    widths.map(move |subgroups| Host { subgroups, ..host.clone() })
}

/// Gives the code of each program for each host to a judge, who says what is wrong.
fn all(host: &str, judge: impl Fn(xenoglot_ir::Stage, &Code) -> Result<(), String>) {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (name, bytes) in ["graphics", "compute"].into_iter().flat_map(files) {
        let bytes = if name.ends_with(".cubin") { linked(&bytes) } else { bytes };
        let program = maxwell::load(&bytes).unwrap().remove(0);
        let options = Options { dynamic_shared_bytes: 1024, ..Options::default() };
        let module = maxwell::lift(&program, &options).unwrap().module;
        // Most programs are the same for several widths.
        let mut sound = Vec::new();
        for host in hosts(host) {
            let mut module = module.clone();
            let code = compile(&mut module, &host, &xenoglot::Options::default()).map_err(|e| e.to_string());
            let judged = code.and_then(|code| match sound.contains(&code) {
                true => Ok(()),
                false => judge(module.stage, &code).map(|()| sound.push(code)),
            });
            if let Err(why) = judged {
                wrong.push(format!("{name}, {:?}: {why}", host.subgroups));
            }
            count += 1;
        }
    }
    assert_eq!(count, (35 + 28) * 6);
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn spirv_is_valid_at_every_width() {
    all("vulkan-1.3", |_, code| {
        let Code::Words(words) = code else { return Err("not SPIR-V".into()) };
        validate(words, "vulkan1.3")
    });
}

#[test]
fn glsl_is_compiled_at_every_width() {
    if !glslang::available() {
        return skip("no glslangValidator");
    }
    all("vulkan-glsl", |stage, code| {
        let Code::Text(text) = code else { return Err("not GLSL".into()) };
        let stage = match stage {
            xenoglot_ir::Stage::Vertex => Stage::Vertex,
            xenoglot_ir::Stage::Fragment => Stage::Fragment,
            xenoglot_ir::Stage::Geometry => Stage::Geometry,
            xenoglot_ir::Stage::TessControl => Stage::TessControl,
            xenoglot_ir::Stage::TessEval => Stage::TessEvaluation,
            _ => Stage::Compute,
        };
        glslang::compile(text, stage).map(drop).map_err(|e| e.to_string())
    });
}
