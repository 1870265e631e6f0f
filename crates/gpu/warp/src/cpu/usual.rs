//! The state that most pixels are shaded with, as constants: code compiled for it has no branches.

use crate::rules::{DECODED, Key, Setting};
use crate::state::{combiner, format};

/// A texel times the colour.
const MULTIPLIED: u8 = combiner::SAMPLE | combiner::MULTIPLY;

/// Whether a state shades as most do: a table's texels, filtered, times the colour.
#[inline(always)]
pub fn is_usual<I>(key: &Key<I>) -> bool {
    use Setting::Known;
    matches!(
        key,
        Key { combiner: Known(MULTIPLIED), format: Known(format), last_level: Known(0), shift: Known(DECODED), fog: Known(0), .. }
            if format & format::BILINEAR != 0
    )
}

/// The key of such a state.
#[inline(always)]
pub fn usual<I>(key: Key<I>) -> Key<I> {
    use Setting::Known;
    Key {
        combiner: Known(MULTIPLIED),
        format: Known(format::BILINEAR),
        last_level: Known(0),
        shift: Known(DECODED),
        fog: Known(0),
        ..key
    }
}
