//! Frames of both screens: 2D engines, composition, capture, and the 3D engines' picture.

use super::median;
use super::scenes::Scenes;
use anyhow::Result;
use serde::Serialize;
use std::time::Instant;
use xenoglot_nds::raster::{Options, Profile, Renderer};
use xenoglot_nds::video::bus::Width;
use xenoglot_nds::whole::{Player, Whole};

/// Frames of a kind: the median over its scenes, of which the best frame counts. Milliseconds.
#[derive(Debug, Serialize)]
pub struct Screens {
    /// What is in them.
    pub kind: &'static str,
    /// Scenes of the kind.
    pub scenes: usize,
    /// On one thread.
    pub one_core: f64,
    /// The 3D engines' picture on all threads.
    pub all_cores: f64,
}

/// The kinds, and words of a scene's list of features that make it one: the first that fits.
const KINDS: [(&str, &[&str]); 3] = [("3D and capture", &["capture"]), ("2D and 3D", &["3d"]), ("2D", &[])];

fn kind(whole: &Whole) -> &'static str {
    let features = whole.meta("features").unwrap_or_default();
    let fits = |words: &[&str]| words.iter().all(|word| features.contains(word));
    KINDS.iter().find(|(_, words)| fits(words)).map_or("2D", |(name, _)| name)
}

/// Measures frames by kind.
pub fn measure(scenes: &Scenes, repeats: usize) -> Result<Vec<Screens>> {
    let kinds = KINDS.iter().rev().map(|&(name, _)| name);
    kinds
        .map(|name| {
            let of_kind: Vec<&Whole> = scenes.whole.iter().filter(|whole| kind(whole) == name).collect();
            let on = |threads| -> Result<f64> {
                let times = of_kind.iter().map(|whole| best(whole, scenes, threads, repeats));
                Ok(median(&mut times.collect::<Result<Vec<f64>>>()?))
            };
            Ok(Screens { kind: name, scenes: of_kind.len(), one_core: on(1)?, all_cores: on(0)? })
        })
        .filter(|screens| screens.as_ref().map_or(true, |screens| screens.scenes > 0))
        .collect()
}

/// Milliseconds of a scene's best frame. It is played on after its last, with captures asked for again.
fn best(whole: &Whole, scenes: &Scenes, threads: usize, repeats: usize) -> Result<f64> {
    let mut renderer =
        Renderer::new(Options { rules: Profile::MelonDs.rules(), threads, ..Options::default() });
    let mut player = Player::new(whole, |name| scenes.images.get(name).map(Vec::as_slice), threads)?;
    let captures = kind(whole) == KINDS[0].0;
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
