//! What translation holds in memory at its height.

use std::path::{Path, PathBuf};
use xenoglot::dxil::{BindingModel, LiftOptions, lift, lift_bound, load};
use xenoglot::{Error, Host, Options};
use xenoglot_dxil::lift::Lifted;
use xenoglot_ir::Module;
use xenoglot_maxwell::lift::LiftOptions as MaxwellOptions;
use xenoglot_opt::pipeline::Level;
use xenoglot_testgen::dxil::Growth;
use xenoglot_testgen::maxwell::{Category, Words, program};
use xenoglot_testgen::memory::{Counting, peak};
use xenoglot_testgen::property;

#[global_allocator]
static COUNTING: Counting = Counting;

/// Compiles a module for Vulkan 1.3.
fn compiled(module: &mut Module) {
    let host = Host::named("vulkan-1.3").unwrap();
    xenoglot::compile(module, &host, &Options::default()).unwrap();
}

/// Containers in the folders of `vectors/dxil`.
fn containers() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/dxil");
    let files =
        |folder: &str| std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let all =
        ["bindless", "compute", "compute-own", "fuzz", "stages", "stages-own"].into_iter().flat_map(files);
    all.filter(|path| path.extension().is_some_and(|e| e == "dxil")).collect()
}

/// A container's first shader; what was read for it is gone then.
fn lifted(bytes: &[u8]) -> Result<Lifted, Error> {
    let module = load(bytes)?;
    let remapper = BindingModel::Registers.remapper(bytes, &module, 0)?;
    lift_bound(&module, &LiftOptions { samples: Some(8), ..LiftOptions::DEFAULT }, &*remapper)
}

#[test]
fn dxil_takes_ten_megabytes() {
    let mut most = (0, PathBuf::new());
    for path in containers() {
        let bytes = std::fs::read(&path).unwrap();
        let held = peak(|| {
            let mut lifted = lifted(&bytes).unwrap();
            compiled(&mut lifted.module);
        });
        most = most.max((held, path));
    }
    println!("{} bytes, {}", most.0, most.1.display());
    assert!(most.0 <= 10 << 20, "{most:?}");
}

#[test]
fn maxwell_takes_as_much_for_each_instruction() {
    let mut rng = property::rng(4);
    let words = Words::new(&mut rng);
    let mut held = Vec::new();
    // Programs differ more than sizes do: as many instructions of each size, in more programs the smaller they are.
    for (size, count) in [(500, 40), (2_000, 10), (8_000, 3), (20_000, 1)] {
        let (mut bytes, mut insts) = (0, 0);
        for _ in 0..count {
            let sample = program(&mut rng, &words, Category::Structured, size);
            bytes += peak(|| {
                let mut lifted = sample.lift(&MaxwellOptions::default()).unwrap();
                compiled(&mut lifted.module);
            });
            // A word in four is for the schedule.
            insts += sample.code.len() / 8 * 3 / 4;
        }
        println!("{insts} instructions: {} bytes for each", bytes / insts);
        held.push(bytes / insts);
    }
    let (least, most) = (held.iter().min().unwrap(), held.iter().max().unwrap());
    assert!(*most < 2 * least, "{held:?}");
}

/// Shaders of up to 32,000 blocks, each kind of which once took the square of their size.
#[test]
fn dxil_takes_a_hundred_bytes_for_each_of_a_large_shader() {
    let options = Options { level: Some(Level::Full), ..Options::default() };
    for growth in Growth::ALL {
        for blocks in [2_000, 8_000, 32_000] {
            let bytes = growth.bitcode(blocks);
            for host in ["vulkan-1.3", "gl-4.5"] {
                let host = Host::named(host).unwrap();
                let held = peak(|| {
                    let mut module = lift(&load(&bytes).unwrap(), &LiftOptions::DEFAULT).unwrap().module;
                    xenoglot::compile(&mut module, &host, &options).unwrap();
                });
                let each = held as f64 / bytes.len() as f64;
                println!("{growth}, {blocks} blocks, {}: {each:.0} bytes for each", host.language);
                assert!(each <= 100.0, "{growth}, {blocks} blocks: {each} bytes for each");
            }
        }
    }
}
