//! What a frame of both screens costs: milliseconds by kind of scene, on one thread.
//!
//! `cargo run --release -p xenoglot-nds --example whole_frames -- vectors/nds-2d [NAME] [REPEATS]`
//!
//! Frames after a scene's last are played on; 3D is drawn anew in each, and captures are asked for again. A scene's time is
//! that of its best frame, a kind's the median of its scenes.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;
use xenoglot_nds::raster::{Options, Profile, Renderer};
use xenoglot_nds::video::bus::Width;
use xenoglot_nds::whole::{Limits, Player, Whole};

fn unpack(path: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut out = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(std::fs::File::open(path)?)?.read_to_end(&mut out)?;
    Ok(out)
}

fn files(folder: &Path, end: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let files = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut files = files.collect::<Result<Vec<PathBuf>, std::io::Error>>()?;
    files.retain(|path| path.to_string_lossy().ends_with(end));
    files.sort();
    Ok(files)
}

/// The kind of scenes that one is of.
fn kind(whole: &Whole) -> String {
    let name = whole.meta("name").unwrap_or_default();
    let kind = name.rsplit_once('_').map_or(name, |(kind, _)| kind);
    let features = whole.meta("features").unwrap_or_default();
    match (kind, features.contains("capture"), features.contains("3d")) {
        ("mixed", true, _) => "mixed, capture".into(),
        ("mixed", _, true) => "mixed, 3D".into(),
        ("mixed", ..) => "mixed, 2D".into(),
        _ => kind.into(),
    }
}

/// Milliseconds of the best frame.
fn best(whole: &Whole, images: &HashMap<String, Vec<u8>>, repeats: u32) -> Result<f64, Box<dyn Error>> {
    let options = Options { rules: Profile::MelonDs.rules(), threads: 1, ..Options::default() };
    let mut renderer = Renderer::new(options);
    let mut player = Player::new(whole, |name| images.get(name).map(Vec::as_slice), 1)?;
    let captures = whole.meta("features").unwrap_or_default().contains("capture");
    let mut best = f64::INFINITY;
    for _ in 0..repeats {
        if captures {
            let control = player.video.capture_control().0 | 1 << 31;
            player.video.write(0x0400_0064, control, Width::Word)?;
        }
        let start = Instant::now();
        player.frame(&mut renderer)?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(best)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().unwrap_or("vectors/nds-2d".into()));
    let wanted = args.next().unwrap_or_default();
    let repeats = args.next().map_or(Ok(15), |repeats| repeats.parse())?;
    let name = |path: &Path| {
        path.file_name().and_then(|n| n.to_str()?.split('.').next()).unwrap_or_default().to_owned()
    };
    let mut images = HashMap::new();
    for path in files(&folder.join("mem"), ".bin.zst")? {
        images.insert(name(&path), unpack(&path)?);
    }
    let mut kinds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for path in files(&folder, ".n2d.zst")? {
        let whole = Whole::from_bytes(&unpack(&path)?, &Limits::default())?;
        if kind(&whole).starts_with(&wanted) {
            kinds.entry(kind(&whole)).or_default().push(best(&whole, &images, repeats)?);
        }
    }
    for (kind, mut times) in kinds {
        times.sort_by(f64::total_cmp);
        let (median, min, max) = (times[times.len() / 2], times[0], times[times.len() - 1]);
        println!("{kind:24} {median:7.3} ms   {min:.3} to {max:.3}");
    }
    Ok(())
}
