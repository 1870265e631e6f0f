//! What consoles do otherwise than the emulator that `vectors/nds` is from.

use super::Scale;
use crate::registers::Control;

bitflags::bitflags! {
    /// What of a console's drawing is done. Each is shown by pixels that were recorded on one; without it pixels are those of
    /// melonDS (software renderer, commit d3cd6164).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Rules: u32 {
        /// Some rows of X-major edges end a pixel before the next one starts. Recorded: StrikerX3/nds-aa;
        /// `vectors/nds-slopes/FORMAT.md`.
        const SLOPE_GAPS = 1 << 0;
        /// Coverage of X-major edges comes of a reciprocal of 19 bits, is counted from the low end of the ramp, and stays at its
        /// greatest rather than begin anew. Recorded: StrikerX3/nds-aa; `vectors/nds-console/FORMAT.md`, which has the formula.
        const COVERAGE = 1 << 1;
        /// A left edge that would be empty is drawn where it has the same end points as the right one, not where both only
        /// lie on one line. Recorded: Jaklyy/polyrastertest, tests 24 to 29.
        const LINE_END_POINTS = 1 << 2;
        /// With edge marking and without antialiasing, the upper edge of a polygon is drawn over the lower edge of another of the
        /// same id, whatever the depths. Recorded: Jaklyy/polyrastertest, tests 38, 39 and 43.
        const EDGE_OVERLAP = 1 << 3;
        /// Clipping replaces a polygon's first vertex by two; the one on the edge to the last vertex goes to the end of the list. Recorded:
        /// Jaklyy/polyrastertest, tests 62 to 64.
        const CLIP_ORDER = 1 << 4;
    }
}

impl Default for Rules {
    /// A console's.
    fn default() -> Rules {
        Profile::Console.rules()
    }
}

impl Rules {
    /// Whether upper edges are drawn over lower ones in a frame.
    pub(super) fn overlaps_edges(self, control: Control) -> bool {
        self.contains(Rules::EDGE_OVERLAP)
            && control & (Control::EDGE_MARKING | Control::ANTIALIASING) == Control::EDGE_MARKING
    }

    /// Those that hold at a resolution: above the console's, gaps and coverage are none, as they are a matter of its rows.
    pub(super) fn at(self, scale: Scale) -> ScaledRules {
        if scale == Scale::ONE {
            ScaledRules { rules: self, is_fine: false }
        } else {
            ScaledRules { rules: self - Rules::SLOPE_GAPS - Rules::COVERAGE, is_fine: true }
        }
    }
}

/// How polygons are drawn at a resolution.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScaledRules {
    /// What of a console's drawing is done.
    pub rules: Rules,
    /// Values between vertices have the precision that more pixels need.
    pub is_fine: bool,
}

impl ScaledRules {
    /// Whether a rule holds.
    pub fn contains(self, rule: Rules) -> bool {
        self.rules.contains(rule)
    }

    /// Bits of an X-major edge's place that decide where its pixels of a row end.
    pub fn far_mask(self) -> i32 {
        if self.contains(Rules::SLOPE_GAPS) { !511 } else { !0 }
    }
}

/// Whose pixels are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// A console's, as far as they are recorded.
    #[default]
    Console,
    /// Those of melonDS, for comparisons.
    MelonDs,
}

impl Profile {
    /// The rules that differ.
    pub const fn rules(self) -> Rules {
        match self {
            Profile::Console => Rules::all(),
            Profile::MelonDs => Rules::empty(),
        }
    }
}
