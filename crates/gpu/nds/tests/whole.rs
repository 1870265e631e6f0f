//! Whole pictures of both screens, with capture, against those of the oracle.

use rayon::prelude::*;
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use xenoglot_nds::raster::{Options, Profile, Renderer};
use xenoglot_nds::whole::{Limits, Player, Whole};

fn unpack(path: &Path) -> Vec<u8> {
    let file = std::fs::File::open(path).unwrap();
    let mut out = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(file).unwrap().read_to_end(&mut out).unwrap();
    out
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../vectors/nds-2d"))
}

/// Memory images by name.
fn images() -> HashMap<String, Vec<u8>> {
    let name =
        |path: &Path| path.file_name().unwrap().to_str().unwrap().split('.').next().unwrap().to_owned();
    let files = std::fs::read_dir(folder().join("mem")).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (name(&path), unpack(&path))).collect()
}

fn scenes() -> Vec<Whole> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.to_str().unwrap().ends_with(".n2d.zst")).collect();
    files.sort();
    files.par_iter().map(|path| Whole::from_bytes(&unpack(path), &Limits::default()).unwrap()).collect()
}

#[test]
fn every_picture_is_the_oracles() {
    let (images, scenes) = (images(), scenes());
    let failures: Vec<String> = scenes
        .par_iter()
        .flat_map_iter(|whole| {
            let image = |name: &str| images.get(name).map(Vec::as_slice);
            let mut player = Player::new(whole, image, 1).unwrap();
            let options = Options { rules: Profile::MelonDs.rules(), threads: 1, ..Options::default() };
            let differences = player.differences(&mut Renderer::new(options)).unwrap();
            differences.into_iter().map(|what| format!("{}: {what}", whole.meta("name").unwrap_or_default()))
        })
        .collect();
    println!("{} scenes", scenes.len());
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(scenes.len(), 252);
}
