//! When a scene came out as expected: triangles, interrupts and memory exactly; all NaNs are one.

use super::format::{Scene, TriangleWords, VERTEX_WORDS};
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
}

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

fn regions(scene: &Scene, memory: &dyn Memory) -> Option<String> {
    scene.regions.iter().find_map(|region| {
        let len = region.bytes.len();
        let Some(got) = memory.bytes(region.address, len as u32) else {
            return Some(format!("{len} bytes at {:#010x} are not all memory", region.address));
        };
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

/// Judges what a run left behind.
pub fn judge(scene: &Scene, got: &Observed) -> Verdict {
    match front(scene, got).or_else(|| regions(scene, got.memory)) {
        None => Verdict::Passed,
        Some(difference) => Verdict::Failed(difference),
    }
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
}
