//! Every target on its seeds, on mutations of them, and on any bytes. `XENOGLOT_LONG` runs a hundred times as many;
//! `XENOGLOT_FUZZ_SECONDS` goes on for so long.

use xenoglot_fuzzing::TARGETS;
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;

/// Changes a few bytes, repeats, moves or drops a part, or puts another seed's part there.
fn mutate(rng: &mut Rng, data: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(data.len() as u32 + 1) as usize;
        let end = (at + 1 + rng.below(32) as usize).min(data.len());
        match rng.below(6) {
            0 => drop(data.drain(at..end)),
            1 => drop(data.splice(at..at, data[at..end].to_vec())),
            2 => {
                let from = rng.below(other.len() as u32 + 1) as usize;
                let to = (from + rng.below(48) as usize).min(other.len());
                drop(data.splice(at..end, other[from..to].iter().copied()));
            }
            3 => data.truncate(at.max(1)),
            _ => {
                if let Some(byte) = data.get_mut(at) {
                    *byte = match rng.below(3) {
                        0 => rng.next_u32() as u8,
                        1 => *byte ^ 1 << rng.below(8),
                        _ => byte.wrapping_add(1),
                    };
                }
            }
        }
    }
}

fn run(name: &str) {
    let rounds = property::budget(400, 40_000);
    let target = TARGETS.iter().find(|t| t.name == name).unwrap();
    let seeds = (target.seeds)();
    assert!(seeds.len() > 10);
    seeds.iter().for_each(|s| (target.run)(s));
    let mut rng = property::rng(1);
    let seconds = std::env::var("XENOGLOT_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(seconds);
    let mut round = 0;
    while round < rounds || std::time::Instant::now() < end {
        let mut data = match round % 8 {
            0 => (0..rng.below(400)).map(|_| rng.next_u32() as u8).collect(),
            _ => rng.pick(&seeds).cloned().unwrap_or_default(),
        };
        let other = rng.pick(&seeds).cloned().unwrap_or_default();
        mutate(&mut rng, &mut data, &other);
        let result = std::panic::catch_unwind(|| (target.run)(&data));
        assert!(result.is_ok(), "{name}, round {round}: {:?}", String::from_utf8_lossy(&data));
        round += 1;
    }
    println!("{name}: {} seeds, {round} mutations", seeds.len());
}

#[test]
fn shbin() {
    run("shbin");
}

#[test]
fn assembler() {
    run("assembler");
}

#[test]
fn ir_text() {
    run("ir_text");
}

#[test]
fn translate() {
    run("translate");
}

#[test]
fn native() {
    run("native");
}

#[test]
fn cache_entry() {
    run("cache_entry");
}

#[test]
fn cache_pack() {
    run("cache_pack");
}

#[test]
fn cache_store() {
    run("cache_store");
}

#[test]
fn capture() {
    run("capture");
}

#[test]
fn citrace() {
    run("citrace");
}

#[test]
fn picagpu() {
    run("picagpu");
}

#[test]
fn pica_surfaces() {
    run("pica_surfaces");
}

#[test]
fn pica_state() {
    run("pica_state");
}

#[test]
fn raster() {
    run("raster");
}

#[test]
fn maxwell_container() {
    run("maxwell_container");
}

#[test]
fn fat_binary() {
    run("fat_binary");
}

#[test]
fn dxbc() {
    run("dxbc");
}

#[test]
fn root_signature() {
    run("root_signature");
}

#[test]
fn structure() {
    run("structure");
}

#[test]
fn maxwell_decode() {
    run("maxwell_decode");
}

#[test]
fn ndsf() {
    run("ndsf");
}

#[test]
fn nds() {
    run("nds");
}

#[test]
fn nds_bus() {
    run("nds_bus");
}

#[test]
fn nds_state() {
    run("nds_state");
}

#[test]
fn n2d() {
    run("n2d");
}

#[test]
fn texture() {
    run("texture");
}

#[test]
fn texture_file() {
    run("texture_file");
}

#[test]
fn y4m() {
    run("y4m");
}

#[test]
fn yuv() {
    run("yuv");
}

#[test]
fn dragon() {
    run("dragon");
}

#[test]
fn dragon_checkpoint() {
    run("dragon_checkpoint");
}

#[test]
fn vpu() {
    run("vpu");
}

#[test]
fn obj() {
    run("obj");
}

#[test]
fn gltf() {
    run("gltf");
}

#[test]
fn dragon_film() {
    run("dragon_film");
}

#[test]
fn dragon_params() {
    run("dragon_params");
}

#[test]
fn mips_decode() {
    run("mips_decode");
}

#[test]
fn mips_elf() {
    run("mips_elf");
}

#[test]
fn mips_guest() {
    run("mips_guest");
}

#[test]
fn mips_jit() {
    run("mips_jit");
}

#[test]
fn mips_library() {
    run("mips_library");
}

#[test]
fn warp() {
    run("warp");
}

#[test]
fn warp_state() {
    run("warp_state");
}

#[test]
fn warp_model() {
    run("warp_model");
}
