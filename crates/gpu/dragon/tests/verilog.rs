//! The rasteriser in Verilog, through Verilator: pixels and whole traces are those of the machine's own.

mod common;

use common::*;
use libloading::Library;
use std::path::{Path, PathBuf};
use std::process::Command;
use xenoglot_dragon::cosim::{CModel, RasterInput, RasterOutput, Table, UnitModel};
use xenoglot_dragon::host::{Buffering, Demo};
use xenoglot_dragon::{Faults, Machine};
use xenoglot_testgen::skip::skip;
use xenoglot_trace::Trace;

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn succeeds(command: &mut Command) -> String {
    let done = command.output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{command:?}\n{text}{}", String::from_utf8_lossy(&done.stderr));
    text
}

/// The model as a library; `None`, and a notice, where there is no Verilator.
fn library(folder: &Path) -> Option<&'static Library> {
    let Ok(root) = Command::new("verilator").args(["--getenv", "VERILATOR_ROOT"]).output() else {
        skip("no verilator");
        return None;
    };
    let include = PathBuf::from(String::from_utf8_lossy(&root.stdout).trim()).join("include");
    let source = here("tests/verilog/rasterizer.sv");
    succeeds(
        Command::new("verilator")
            .args(["--cc", "-O3", "-Wall", "--top-module", "rasterizer", "--Mdir"])
            .arg(folder)
            .arg(&source),
    );
    let mut sources: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "cpp"))
        .collect();
    sources.sort();
    sources.push(here("tests/verilog/rasterizer.cpp"));
    sources.extend(["verilated.cpp", "verilated_threads.cpp"].map(|name| include.join(name)));
    let library = folder.join("rasterizer.so");
    let mut compiler = Command::new(std::env::var_os("CXX").unwrap_or_else(|| "c++".into()));
    compiler.args(["-std=c++17", "-O1", "-shared", "-fPIC", "-pthread"]);
    compiler.arg("-I").arg(folder).arg("-I").arg(&include).arg("-I").arg(include.join("vltstd"));
    compiler.arg("-I").arg(here("include")).args(&sources).arg("-o").arg(&library);
    succeeds(&mut compiler);
    // SAFETY: loading runs nothing but constructors of the C++ library. It is not unloaded, as models may outlive the test's
    // variables.
    Some(Box::leak(Box::new(unsafe { Library::new(library) }.unwrap())))
}

fn model(library: &Library) -> Box<CModel<RasterInput, RasterOutput>> {
    // SAFETY: the function has this type and its model keeps to the ABI, as the file shows.
    let model = unsafe {
        let new = library
            .get::<extern "C" fn() -> Table<RasterInput, RasterOutput>>(b"new_verilog_rasterizer")
            .unwrap();
        CModel::new(new())
    };
    Box::new(model.unwrap())
}

fn drawn(demo: &Demo, frame: u32, mut machine: Machine) -> (Vec<u8>, Trace) {
    machine.start_trace();
    let picture = demo.frame(&mut machine, frame).unwrap().picture.rgb;
    machine.drain().unwrap();
    assert_eq!(machine.faults(), Faults::empty());
    (picture, machine.take_trace().unwrap())
}

#[test]
fn ten_frames_in_verilog_are_the_machines_own() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = library(folder.path()) else { return };
    let single = Demo { buffering: Buffering::Single, ..other_demo() };
    let cases = [
        (demo(), ""),
        (single, "vpus = 3\nvpu_queue = 1\nbin_size = 16"),
        (demo(), "threads = 1\nbin_size = 64\n[raster]\nrow_skip = false\npixels = 16"),
        (other_demo(), "vpus = 8\n[raster]\npixels = 1\n[memory]\ntiming = \"timer\""),
    ];
    for frame in 0..10 {
        let (demo, toml) = &cases[frame as usize % cases.len()];
        let (picture, trace) = drawn(demo, frame, machine(toml));
        for skipping in [true, false] {
            let mut machine = machine(toml);
            machine.set_skipping(skipping);
            machine.attach(UnitModel::Rasterizer(model(library))).unwrap();
            let got = drawn(demo, frame, machine);
            assert!(got.0 == picture, "frame {frame}, {toml}: pixels");
            for (got, want) in got.1.tracks.iter().zip(&trace.tracks) {
                let differs = got.spans.iter().zip(&want.spans).find(|(a, b)| a != b);
                assert!(got == want, "frame {frame}, {toml}: {}: {differs:?}", got.name);
            }
            assert!(got.1 == trace, "frame {frame}, {toml}");
        }
    }
}
