//! When a scene came out as expected: triangles, interrupts and memory exactly; all NaNs are one.

use super::format::{Region, Scene, TriangleWords, VERTEX_WORDS};
use crate::report::Verdict;
use xenoglot_pica::memory::Memory;
use xenoglot_pica::vertex::Triangle;

/// What a run left behind.
pub struct Observed<'a> {
    /// Triangles handed to the clipper.
    pub triangles: &'a [Triangle],
    /// Interrupts raised.
    pub interrupts: u64,
    /// Memory at the end.
    pub memory: &'a dyn Memory,
    /// What the GPU complained about.
    pub complaints: Vec<String>,
    /// Draws that the renderer had the CPU renderer draw.
    pub detours: u64,
}

/// How near a renderer on the host's GPU must come where its products and sums may be fused.
///
/// Everything is exact but colours of scenes that draw and do not render or read shadow maps: there a channel of 8 bits
/// may be off by this much, a narrower one by one step.
const CHANNEL_MARGIN: u32 = 2;
/// The same where a combiner has a dot product, whose result counts twice.
const DOT_MARGIN: u32 = 3;

const NAN: u32 = 0x7fc0_0000;

fn canonical(value: f32) -> u32 {
    if value.is_nan() { NAN } else { value.to_bits() }
}

fn triangles(expected: &[TriangleWords], got: &[Triangle]) -> Option<String> {
    for (number, (expected, got)) in expected.iter().zip(got).enumerate() {
        let words = got.iter().flat_map(|v| v.values).map(canonical);
        if let Some((at, (e, g))) =
            expected.as_flattened().iter().copied().zip(words).enumerate().find(|(_, (e, g))| e != g)
        {
            return Some(format!(
                "triangle {number} vertex {} word {} is {g:#010x} ({}), expected {e:#010x} ({})",
                at / VERTEX_WORDS,
                at % VERTEX_WORDS,
                f32::from_bits(g),
                f32::from_bits(e)
            ));
        }
    }
    let (e, g) = (expected.len(), got.len());
    (e != g).then(|| format!("{g} triangles, expected {e}"))
}

fn regions(scene: &Scene, memory: &dyn Memory, near: impl Fn(&Region, &[u8]) -> bool) -> Option<String> {
    scene.regions.iter().find_map(|region| {
        let len = region.bytes.len();
        let Some(got) = memory.bytes(region.address, len as u32) else {
            return Some(format!("{len} bytes at {:#010x} are not all memory", region.address));
        };
        if near(region, got) {
            return None;
        }
        let different = region.bytes.iter().zip(got).filter(|(e, g)| e != g).count();
        let at = region.bytes.iter().zip(got).position(|(e, g)| e != g)?;
        let (e, g) = (region.bytes.get(at).copied().unwrap_or(0), got.get(at).copied().unwrap_or(0));
        Some(format!(
            "memory of kind {:#x} at {:#010x}: byte {at:#x} is {g:#04x}, expected {e:#04x}; {different} of {len} differ",
            region.kind, region.address
        ))
    })
}

/// What differs first in what leads to the clipper: complaints are in it, too, since no scene has a cause for one.
pub fn front(scene: &Scene, got: &Observed) -> Option<String> {
    if let Some(d) = triangles(&scene.triangles, got.triangles) {
        return Some(d);
    }
    if got.interrupts != u64::from(scene.interrupts) {
        return Some(format!("{} interrupts, expected {}", got.interrupts, scene.interrupts));
    }
    got.complaints.first().cloned()
}

/// Judges what a run left behind: all of it exactly.
pub fn judge(scene: &Scene, got: &Observed) -> Verdict {
    verdict(front(scene, got).or_else(|| regions(scene, got.memory, |_, _| false)))
}

/// Judges what a run on the host's GPU left behind: all of it exactly but colours.
pub fn judge_near(scene: &Scene, got: &Observed) -> Verdict {
    const SHADOWS: u32 = 64;
    let exact = scene.flags & SHADOWS != 0 || scene.triangles.is_empty();
    let margin = if scene.tags.contains("dot3") { DOT_MARGIN } else { CHANNEL_MARGIN };
    let near = |region: &Region, got: &[u8]| {
        !exact && channels(region.kind).is_some_and(|channels| is_near(&region.bytes, got, channels, margin))
    };
    verdict(front(scene, got).or_else(|| regions(scene, got.memory, near)))
}

fn verdict(difference: Option<String>) -> Verdict {
    difference.map_or(Verdict::Passed, Verdict::Failed)
}

/// Bytes of a pixel and widths of its channels from the lowest bit on, of a region with colours.
fn channels(kind: u32) -> Option<(usize, &'static [u32])> {
    // Transfers number two formats the other way round.
    Some(match (kind & 0xff, kind >> 8 & 0xff) {
        (1 | 0x10, 0) => (4, &[8, 8, 8, 8]),
        (1 | 0x10, 1) => (3, &[8, 8, 8]),
        (1, 2) | (0x10, 3) => (2, &[1, 5, 5, 5]),
        (1, 3) | (0x10, 2) => (2, &[5, 6, 5]),
        (1 | 0x10, 4) => (2, &[4, 4, 4, 4]),
        _ => return None,
    })
}

fn is_near(expected: &[u8], got: &[u8], (size, widths): (usize, &[u32]), margin: u32) -> bool {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0u32, |word, &byte| word << 8 | u32::from(byte));
    expected.len() == got.len()
        && expected.chunks(size).zip(got.chunks(size)).all(|(expected, got)| {
            let (mut expected, mut got) = (word(expected), word(got));
            widths.iter().all(|&width| {
                let mask = (1 << width) - 1;
                let margin = if width == 8 { margin } else { 1 };
                let near = (expected & mask).abs_diff(got & mask) <= margin;
                (expected, got) = (expected >> width, got >> width);
                near
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use xenoglot_pica::vertex::Vertex;

    #[test]
    fn nans_are_one_and_zeros_are_two() {
        let mut vertex = Vertex::default();
        vertex.values[3] = f32::from_bits(0xffff_ffff);
        let mut words = [0; VERTEX_WORDS];
        words[3] = NAN;
        let got = [[vertex; 3]];
        assert_eq!(triangles(&[[words; 3]], &got), None);
        words[5] = 0x8000_0000;
        assert!(triangles(&[[words; 3]], &got).unwrap().contains("vertex 0 word 5"));
        assert!(triangles(&[], &got).unwrap().contains("1 triangles, expected 0"));
    }

    #[test]
    fn colors_are_near_by_channel() {
        let rgba8 = channels(1).unwrap();
        assert!(is_near(&[1, 2, 3, 4], &[3, 0, 3, 6], rgba8, 2));
        assert!(!is_near(&[1, 2, 3, 4], &[1, 2, 3, 7], rgba8, 2));
        assert!(is_near(&[1, 2, 3, 4], &[1, 2, 3, 7], rgba8, 3));
        let rgb565 = channels(0x0301).unwrap();
        assert_eq!(Some(rgb565), channels(0x0210));
        let bytes = |r: u16, g: u16, b: u16| (r << 11 | g << 5 | b).to_le_bytes();
        assert!(is_near(&bytes(4, 9, 31), &bytes(5, 8, 30), rgb565, 2));
        assert!(!is_near(&bytes(4, 9, 31), &bytes(6, 9, 31), rgb565, 2));
        assert_eq!((channels(0), channels(2)), (None, None));
    }
}
