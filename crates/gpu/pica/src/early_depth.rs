//! The early depth test's own buffer.
//!
//! 3dbrew (GPU/Internal Registers) documents the registers 061 (function), 062 and 118 (on), 063 (clears "the early depth
//! data") and 06A (the 24 bits it is cleared to), so the test has depths of its own. How fine these are, and which fragments
//! leave theirs there, is not documented. Here the buffer has 24 bits for each pixel of the framebuffer, in its order, and
//! takes the depth of each fragment that passes the test, if the draw writes depth (107 \[12\] and 115).

/// Pixels of the largest framebuffer.
const PIXELS: usize = 2048 * 1024;
/// The bits of a depth.
pub(crate) const DEPTH_MAX: u32 = 0xff_ffff;

/// The buffer: part of the GPU's state, which any renderer reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlyDepth {
    /// What pixels beyond `depths` have.
    cleared: u32,
    depths: Vec<u32>,
}

impl EarlyDepth {
    /// Sets the depth of all pixels.
    pub fn clear(&mut self, depth: u32) {
        self.cleared = depth & DEPTH_MAX;
        self.depths.clear();
    }

    /// The depth at a place of the framebuffer, in memory order.
    pub fn get(&self, place: u32) -> u32 {
        self.depths.get(place as usize).copied().unwrap_or(self.cleared)
    }

    /// Sets the depth at a place of the framebuffer; nothing happens beyond the largest one.
    pub fn set(&mut self, place: u32, depth: u32) {
        let place = place as usize;
        if place >= self.depths.len() {
            if place >= PIXELS || depth == self.cleared {
                return;
            }
            self.depths.resize(place + 1, self.cleared);
        }
        if let Some(stored) = self.depths.get_mut(place) {
            *stored = depth & DEPTH_MAX;
        }
    }

    /// What it was cleared to, and the depths from the first pixel on as runs of equal ones: depth and length.
    pub(crate) fn runs(&self) -> (u32, Vec<(u32, u32)>) {
        let depths = match self.depths.iter().rposition(|&depth| depth != self.cleared) {
            Some(last) => self.depths.get(..=last).unwrap_or_default(),
            None => &[],
        };
        let runs = depths.chunk_by(|a, b| a == b);
        (self.cleared, runs.filter_map(|run| Some((*run.first()?, run.len() as u32))).collect())
    }

    /// From [`EarlyDepth::runs`]; nothing if there is no such buffer.
    pub(crate) fn from_runs(cleared: u32, runs: &[(u32, u32)]) -> Option<EarlyDepth> {
        let mut depths = Vec::new();
        for &(depth, len) in runs {
            let end = depths.len().checked_add(len as usize)?;
            if end > PIXELS || depth > DEPTH_MAX {
                return None;
            }
            depths.resize(end, depth);
        }
        (cleared <= DEPTH_MAX).then_some(EarlyDepth { cleared, depths })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_have_what_was_set_or_cleared() {
        let mut buffer = EarlyDepth::default();
        buffer.clear(0x12ff_ffff);
        buffer.set(3, 5);
        buffer.set(PIXELS as u32, 5);
        assert_eq!(
            [0, 2, 3, 4, u32::MAX].map(|n| buffer.get(n)),
            [DEPTH_MAX, DEPTH_MAX, 5, DEPTH_MAX, DEPTH_MAX]
        );
        buffer.set(3, DEPTH_MAX);
        assert_eq!(buffer.runs(), (DEPTH_MAX, vec![]));
        buffer.clear(7);
        assert_eq!(buffer.get(3), 7);
    }

    #[test]
    fn runs_are_the_buffer() {
        let mut buffer = EarlyDepth::default();
        for (place, depth) in [(2, 9), (3, 9), (9, 1), (20, 0)] {
            buffer.set(place, depth);
        }
        let (cleared, runs) = buffer.runs();
        assert_eq!((cleared, runs.as_slice()), (0, [(0, 2), (9, 2), (0, 5), (1, 1)].as_slice()));
        let again = EarlyDepth::from_runs(cleared, &runs).unwrap();
        assert!((0..30).all(|n| again.get(n) == buffer.get(n)));
        assert_eq!(EarlyDepth::from_runs(0, &[(0, u32::MAX)]), None);
        assert_eq!(EarlyDepth::from_runs(0, &[(DEPTH_MAX + 1, 1)]), None);
    }
}
