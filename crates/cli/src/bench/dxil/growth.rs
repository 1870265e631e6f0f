//! How the cost of translation grows with a shader: generated ones of one kind of block each.

use crate::bench::translate::power;
use anyhow::{Context as _, Result};
use serde::Serialize;
use std::fmt;
use std::time::{Duration, Instant};
use xenoglot::dxil::{LiftOptions, lift, load};
use xenoglot::host::Language;
use xenoglot::{Host, Options as CodeOptions, Translator};
use xenoglot_opt::pipeline::Level;
use xenoglot_testgen::dxil::Growth as Shape;

/// Shaders of one shape.
#[derive(Debug, Serialize)]
pub struct Growth {
    /// The shape.
    pub shape: String,
    /// By size.
    pub sizes: Vec<Size>,
    /// The power of the number of blocks that the cost grows with, to SPIR-V and to GLSL: 1 is linear.
    pub exponents: [f64; 2],
}

/// A shader.
#[derive(Debug, Serialize)]
pub struct Size {
    /// Blocks.
    pub blocks: u32,
    /// Bytes of its bitcode.
    pub bytes: usize,
    /// Microseconds of the fastest repetition, from bitcode to SPIR-V and to GLSL, with all passes.
    pub took: [f64; 2],
}

/// Measures all shapes, each at doubling sizes.
pub fn measure(quick: bool) -> Result<Vec<Growth>> {
    let sizes: &[u32] = match quick {
        true => &[1_000, 2_000, 4_000],
        false => &[1_000, 2_000, 4_000, 8_000, 16_000, 32_000],
    };
    let hosts = [Host::default(), Host::of(Language::Glsl(xenoglot_glsl::Target::Vulkan450))];
    let mut translator = Translator::new();
    let mut growth = Vec::new();
    for shape in Shape::ALL {
        let mut measured = Vec::new();
        for &blocks in sizes {
            let bytes = shape.bitcode(blocks);
            let mut took = [0.0; 2];
            for (took, host) in took.iter_mut().zip(&hosts) {
                *took = fastest(&mut translator, host, &bytes)
                    .with_context(|| format!("{shape}, {blocks} blocks"))?;
            }
            measured.push(Size { blocks, bytes: bytes.len(), took });
        }
        let exponents = [0, 1].map(|n| power(measured.iter().map(|s| (f64::from(s.blocks), s.took[n]))));
        growth.push(Growth { shape: shape.to_string(), sizes: measured, exponents });
    }
    Ok(growth)
}

/// Microseconds of the fastest of some repetitions.
fn fastest(translator: &mut Translator, host: &Host, bytes: &[u8]) -> Result<f64> {
    let options = CodeOptions { level: Some(Level::Full), ..CodeOptions::default() };
    let mut best = f64::INFINITY;
    let begin = Instant::now();
    for n in 0..10 {
        if n > 1 && begin.elapsed() > Duration::from_millis(500) {
            break;
        }
        let start = Instant::now();
        let mut module = lift(&load(bytes)?, &LiftOptions::default())?.module;
        translator.compile(&mut module, host, &options)?;
        best = best.min(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok(best)
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [spirv, glsl] = self.exponents;
        writeln!(
            f,
            "{}: the cost grows with the power {spirv:.2} of the number of blocks to SPIR-V, {glsl:.2} to GLSL",
            self.shape
        )?;
        writeln!(f, "{:>10}{:>12}{:>14}{:>14}", "blocks", "bytes", "SPIR-V, ms", "GLSL, ms")?;
        for Size { blocks, bytes, took: [spirv, glsl] } in &self.sizes {
            writeln!(f, "{blocks:>10}{bytes:>12}{:>14.2}{:>14.2}", spirv / 1e3, glsl / 1e3)?;
        }
        Ok(())
    }
}
