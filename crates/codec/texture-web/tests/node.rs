//! The module in Node: the files of `vectors/texture-files` have the pixels there that they have here, which the suite `texture-files`
//! of `xenoglot conformance` compares with what is expected.

use std::path::{Path, PathBuf};
use std::process::Command;
use xenoglot_testgen::skip::skip;
use xenoglot_texture::container::Limits;
use xenoglot_texture::{Format, Quality};
use xenoglot_texture_web::{Read, Target, read};

/// The environment variable with the module's path; `./test.sh --long` builds it.
const MODULE: &str = "XENOGLOT_TEXTURE_WASM";

/// Names and bytes of all files.
fn files() -> Vec<(String, Vec<u8>)> {
    let archive = "../../../vectors/texture-files/texture-files.tar.zst";
    xenoglot_testgen::archive::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(archive), "files")
}

/// Has Node read files: of each its data, or why there is none. `None` if there is no module or no Node.
fn in_node(files: &[(String, Vec<u8>)], vulkan: u32) -> Option<Vec<Result<Vec<u8>, String>>> {
    let Some(module) = std::env::var_os(MODULE).map(PathBuf::from) else {
        skip("no WebAssembly module, which ./test.sh --long builds");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let [given, out] = ["in", "out"].map(|name| folder.path().join(name));
    for folder in [&given, &out] {
        std::fs::create_dir(folder).unwrap();
    }
    let paths: Vec<PathBuf> = files
        .iter()
        .map(|(name, bytes)| {
            let path = given.join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        })
        .collect();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("js/read.mjs");
    let mut node = Command::new("node");
    node.arg(script).arg(module).arg(vulkan.to_string()).arg(&out).args(&paths);
    let done = match node.output() {
        Ok(done) => done,
        Err(e) => {
            skip(&format!("node: {e}"));
            return None;
        }
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let result = |(name, _): &(String, Vec<u8>)| {
        std::fs::read(out.join(name)).map_err(|_| {
            std::fs::read_to_string(out.join(format!("{name}.error"))).expect("data or an error")
        })
    };
    Some(files.iter().map(result).collect())
}

fn here(file: &[u8], target: Target) -> Result<Read, String> {
    read(file, target, &Limits::default()).map_err(|e| e.to_string())
}

#[test]
fn texels_are_the_same() {
    let files = files();
    let Some(there) = in_node(&files, 0) else { return };
    let mut decoded = 0;
    for ((name, file), there) in files.iter().zip(there) {
        let here = here(file, Target::Texels).map(|read| read.data);
        assert!(here == there, "{name}: {:?}, {:?}", here.as_ref().err(), there.as_ref().err());
        decoded += usize::from(here.is_ok());
    }
    assert!(decoded > 400, "{decoded} files");
}

/// Encoders round as the processor's vectors do, so that blocks may differ; what they decode to hardly does.
#[test]
fn files_of_basis_universal_become_blocks() {
    let mut files = files();
    let is_basis = |file: &[u8]| {
        let texture = xenoglot_texture::container::read(file, &Limits::default());
        texture.is_ok_and(|texture| matches!(texture.format, Format::Etc1s | Format::Uastc))
    };
    files.retain(|(_, file)| is_basis(file));
    assert!(files.len() >= 10, "{} files", files.len());
    let mut in_astc = 0;
    let (astc, _) = Format::from_name("ASTC_4x4_UNORM").unwrap();
    for format in [Format::Etc2Rgb, Format::Bc7, astc] {
        let Some(there) = in_node(&files, format.vulkan(false).unwrap()) else { return };
        for ((name, file), there) in files.iter().zip(there) {
            let here = here(file, Target::Blocks(format, Quality::Normal));
            let (here, there) = match (here, there) {
                (Ok(here), Ok(there)) => (here, there),
                // There is no encoder of ASTC, and UASTC needs none.
                (Err(here), Err(there)) if format == astc => {
                    assert_eq!(here, there, "{name}");
                    continue;
                }
                (here, there) => panic!("{name}: {:?}, {:?}", here.err(), there.err()),
            };
            if format == astc {
                assert!(here.data == there, "{name}");
                in_astc += 1;
            }
            let [mut mean, mut count] = [0.0, 0.0];
            for image in &here.description.images {
                let [width, height, depth] = image.size;
                let extent = xenoglot_texture::Extent { width, height, depth };
                let texels = |data: &[u8]| {
                    let mut out = vec![0; format.output_bytes(extent).unwrap()];
                    let blocks = &data[image.offset..image.offset + image.length];
                    xenoglot_texture::decode_into(format, extent, blocks, &mut out).unwrap();
                    out
                };
                let (here, there) = (texels(&here.data), texels(&there));
                mean += here.iter().zip(&there).map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).sum::<f64>();
                count += here.len() as f64;
            }
            assert!(mean / count < 1.0, "{name}: {}", mean / count);
        }
    }
    assert!(in_astc > 0);
}
