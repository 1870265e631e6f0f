//! Frames of luma and chroma to RGBA of eight bits: milliseconds on one core, and how much faster two are.

use anyhow::{Context, Result};
use serde::Serialize;
use std::fmt;
use std::time::Instant;
use xenoglot_testgen::rng::Rng;
use xenoglot_yuv::{Conversion, Filter, Format, Frame, Layout, Precision, Subsampling, convert_rgba8_with};

/// Frames of random samples, of BT.709.
#[derive(Serialize)]
pub struct Frames {
    /// Widths and heights.
    sizes: [[usize; 2]; 2],
    layouts: Vec<Times>,
}

#[derive(Serialize)]
struct Times {
    layout: &'static str,
    chroma: &'static str,
    precision: &'static str,
    /// Of a frame of each size on one core.
    milliseconds: [f64; 2],
    /// Time of the smaller frame on one core divided by its time on two.
    two_cores: f64,
}

const S420: Subsampling = Subsampling::S420;
const S422: Subsampling = Subsampling::S422;
const S444: Subsampling = Subsampling::S444;

/// Layout, subsampling, bits, whether they are the high ones of words, and the filter of chroma.
const LAYOUTS: [(&str, Layout, Subsampling, u32, bool, Filter); 12] = [
    ("I420", Layout::Planar, S420, 8, false, Filter::Linear),
    ("I420", Layout::Planar, S420, 8, false, Filter::Nearest),
    ("NV12", Layout::SemiPlanar, S420, 8, false, Filter::Linear),
    ("NV12", Layout::SemiPlanar, S420, 8, false, Filter::Nearest),
    ("I422", Layout::Planar, S422, 8, false, Filter::Linear),
    ("I422", Layout::Planar, S422, 8, false, Filter::Nearest),
    ("YUYV", Layout::PackedYuyv, S422, 8, false, Filter::Nearest),
    ("I444", Layout::Planar, S444, 8, false, Filter::Nearest),
    ("I010", Layout::Planar, S420, 10, false, Filter::Linear),
    ("I010", Layout::Planar, S420, 10, false, Filter::Nearest),
    ("P010", Layout::SemiPlanar, S420, 10, true, Filter::Linear),
    ("P010", Layout::SemiPlanar, S420, 10, true, Filter::Nearest),
];

/// Measures, each the best of some rounds.
pub fn run(quick: bool) -> Result<Frames> {
    let (sizes, rounds) = match quick {
        true => ([[480, 270], [960, 540]], 3),
        false => ([[1920, 1080], [3840, 2160]], 40),
    };
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pools = [pool(1)?, pool(2)?];
    let [_, [width, height]] = sizes;
    let mut rng = Rng::new(3);
    let samples: Vec<u8> = (0..width * height * 4).map(|_| rng.next_u32() as u8).collect();
    let mut out = vec![[0; 4]; width * height];
    let mut layouts = Vec::new();
    for (name, layout, subsampling, bits, high, filter) in LAYOUTS {
        let format = Format { layout, subsampling, bits, high };
        let conversion = Conversion { filter, ..Conversion::default() };
        let chroma = if filter == Filter::Linear { "linear" } else { "nearest" };
        for (precision_name, precision) in [("exact", Precision::Exact), ("within one", Precision::WithinOne)]
        {
            let mut best = [[f64::INFINITY; 2]; 2];
            for _ in 0..rounds {
                for ([width, height], best) in sizes.into_iter().zip(&mut best) {
                    let bytes = samples.get(..format.bytes(width, height).context("too large")?);
                    let frame = Frame::tight(format, width, height, bytes.context("too few samples")?)?;
                    for (pool, best) in pools.iter().zip(best) {
                        // On a thread of the pool, so that none waits for another to begin.
                        let seconds = pool.install(|| {
                            let start = Instant::now();
                            convert_rgba8_with(&frame, &conversion, precision, &mut out)
                                .map(|()| start.elapsed().as_secs_f64())
                        })?;
                        *best = best.min(seconds * 1e3);
                    }
                }
            }
            let [[one, two], [large, _]] = best;
            layouts.push(Times {
                layout: name,
                chroma,
                precision: precision_name,
                milliseconds: [one, large],
                two_cores: one / two,
            });
        }
    }
    Ok(Frames { sizes, layouts })
}

impl fmt::Display for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [small, large] = self.sizes.map(|[width, height]| format!("{width}x{height}"));
        write!(f, "{:<8} {:<8} {:<10}", "frames", "chroma", "precision")?;
        writeln!(f, " {small:>12} {large:>12} {:>10}", "two cores")?;
        for Times { layout, chroma, precision, milliseconds: [small, large], two_cores } in &self.layouts {
            write!(f, "{layout:<8} {chroma:<8} {precision:<10}")?;
            writeln!(f, " {small:>9.3} ms {large:>9.3} ms {two_cores:>9.2}x")?;
        }
        Ok(())
    }
}
