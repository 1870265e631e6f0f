//! Scenes played on the engines.

use crate::container::Scene;
use crate::geometry::GeometryEngine;
use crate::geometry::fifo::CommandFifo;
use crate::gpu::Gpu;
use crate::memory::{PALETTE_BYTES, TEXTURE_BYTES};
use crate::raster::Frame;
use crate::recorded;
use crate::results::{self, PROBE_BYTES, RESULTS};
use thiserror::Error;

/// Bytes of a memory image: texture memory, then palettes.
pub const IMAGE_BYTES: usize = TEXTURE_BYTES + PALETTE_BYTES;

/// Why a scene could not be played.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PlayError {
    /// It names a memory image and none was given.
    #[error("the scene starts from memory image {0:?}, which is missing")]
    NoImage(String),
    /// The image has another length.
    #[error("a memory image has {IMAGE_BYTES} bytes, not {0}")]
    ImageLength(usize),
}

/// Results of a scene.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// The engines at the end.
    pub gpu: Gpu,
    /// The layout of chunk `XPRB`.
    pub probes: Vec<u8>,
}

/// Plays a scene to its end; `image` is what its memory starts with, if it names an image.
///
/// Each SWAP_BUFFERS is followed by a vertical blank at once, which draws a frame.
///
/// # Errors
/// If the image is missing or has another length.
pub fn play(scene: &Scene, image: Option<&[u8]>, mut gpu: Gpu) -> Result<Played, PlayError> {
    load(scene, image, &mut gpu)?;
    let mut probes = Vec::new();
    let mut fed = 0;
    for &probe in &scene.probes {
        let until = (probe as usize).min(scene.stream.len());
        feed(&mut gpu, scene.stream.get(fed..until).unwrap_or_default());
        fed = fed.max(until);
        probes.extend(results::probe(probe, &gpu.readback()));
    }
    feed(&mut gpu, scene.stream.get(fed..).unwrap_or_default());
    Ok(Played { gpu, probes })
}

/// Loads memory and registers of a scene.
///
/// # Errors
/// As [`play`].
pub fn load(scene: &Scene, image: Option<&[u8]>, gpu: &mut Gpu) -> Result<(), PlayError> {
    if let Some(name) = &scene.memory {
        let image = image.ok_or_else(|| PlayError::NoImage(name.clone()))?;
        if image.len() != IMAGE_BYTES {
            return Err(PlayError::ImageLength(image.len()));
        }
        let (textures, palettes) = image.split_at(TEXTURE_BYTES);
        gpu.memory.write_textures(0, textures);
        gpu.memory.write_palettes(0, palettes);
    }
    scene.textures.iter().for_each(|(address, bytes)| gpu.memory.write_textures(*address, bytes));
    scene.palettes.iter().for_each(|(address, bytes)| gpu.memory.write_palettes(*address, bytes));
    gpu.set_registers(scene.registers.clone());
    Ok(())
}

/// Runs words on a geometry engine alone, each SWAP_BUFFERS followed by a vertical blank.
pub fn run_geometry(engine: &mut GeometryEngine, fifo: &mut CommandFifo, mut words: &[u32]) {
    loop {
        let taken = fifo.feed(engine, words);
        words = words.get(taken..).unwrap_or_default();
        if !engine.vblank() {
            return;
        }
    }
}

fn feed(gpu: &mut Gpu, mut words: &[u32]) {
    loop {
        let taken = gpu.feed(words);
        words = words.get(taken..).unwrap_or_default();
        if !gpu.geometry().is_swap_pending() {
            return;
        }
        gpu.vblank();
    }
}

impl Played {
    /// How the results differ from what a scene expects: the first difference of each expected chunk. A chunk that is not
    /// known counts as a difference: nobody has looked at what it asks for or expects. So does a scene that expects nothing.
    pub fn differences(&self, scene: &Scene) -> Vec<String> {
        self.differences_of(self.gpu.renderer(), scene)
    }

    /// The same of the last frame as another renderer drew it, at the console's resolution.
    pub fn differences_of(&self, frame: &dyn Frame, scene: &Scene) -> Vec<String> {
        let mut out: Vec<String> = scene.unknown.iter().map(unknown).collect();
        if scene.expected.is_empty() {
            out.push("the scene expects nothing".into());
        }
        for expected in &scene.expected {
            if expected.tag == *b"XPRB" {
                out.extend(difference("probes", PROBE_BYTES, &expected.bytes, &self.probes));
            } else if expected.tag == *b"XSPN" {
                out.extend(recorded::difference(&expected.bytes, frame));
            } else if let Some(result) = RESULTS.iter().find(|r| r.tag == expected.tag) {
                let got = (result.make)(&self.gpu, frame);
                out.extend(match result.part {
                    0 => polygon_difference(&expected.bytes, &got),
                    part => difference(result.name, part, &expected.bytes, &got),
                });
            } else {
                out.push(unknown(&expected.tag));
            }
        }
        out
    }
}

fn unknown(tag: &[u8; 4]) -> String {
    format!("chunk {} is not known", tag.escape_ascii())
}

/// The first difference between parts of `size` bytes.
fn difference(name: &str, size: usize, expected: &[u8], got: &[u8]) -> Option<String> {
    if expected == got {
        return None;
    }
    let pairs = || expected.chunks(size).zip(got.chunks(size)).enumerate();
    let count = pairs().filter(|(_, (e, g))| e != g).count() + expected.len().abs_diff(got.len()) / size;
    let Some((at, (e, g))) = pairs().find(|(_, (e, g))| e != g) else {
        return Some(format!("{name}: {} bytes, expected {}", got.len(), expected.len()));
    };
    let place = match (name, at) {
        ("colours" | "depths" | "attributes", at) => {
            let (plane, pixel) = (at / (256 * 192), at % (256 * 192));
            format!("plane {plane} at {}, {}", pixel % 256, pixel / 256)
        }
        ("row checksums", at) => {
            format!("{} of row {}", if at < 192 { "depths" } else { "attributes" }, at % 192)
        }
        (_, at) => format!("number {at}"),
    };
    Some(format!("{name}: {count} differ, first {place}: {}, expected {}", hex(g), hex(e)))
}

fn hex(bytes: &[u8]) -> String {
    let words: Vec<String> =
        bytes.chunks(4).map(|w| w.iter().rev().map(|b| format!("{b:02x}")).collect()).collect();
    words.join(" ")
}

/// The first difference between the records of `XPOL`.
fn polygon_difference(expected: &[u8], got: &[u8]) -> Option<String> {
    const HEAD: usize = 24;
    const VERTEX: usize = 12;
    let (mut at, mut number) = (0, 0);
    while at < expected.len().max(got.len()) {
        let length = expected.get(at + 12).map_or(HEAD, |&n| HEAD + VERTEX * usize::from(n));
        let part = |bytes: &[u8]| bytes.get(at..(at + length).min(bytes.len())).map(<[u8]>::to_vec);
        let (e, g) = (part(expected).unwrap_or_default(), part(got).unwrap_or_default());
        if e != g {
            return Some(format!("polygons: number {number}: {}, expected {}", hex(&g), hex(&e)));
        }
        (at, number) = (at + length, number + 1);
    }
    None
}
