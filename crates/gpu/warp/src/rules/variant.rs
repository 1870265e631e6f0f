//! Variants of states: what a program that shades primitives is specialised for.

use super::{Key, Setting};
use crate::state::{RenderState, combiner, format};

/// What a shading program knows of a state. States that differ only in numbers, or in what the output half of the rules
/// reads (depth, stencil, blend), have the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Nothing: the program draws any state.
    #[default]
    General,
    /// All that decides about its code.
    Known {
        /// [`crate::state::combiner`].
        combiner: u8,
        /// [`mod@format`]; 0 without a texture.
        format: u8,
        /// Whether there are levels but the first.
        levels: bool,
        /// Whether texels are dropped for their alpha.
        alpha_test: bool,
        /// Whether there is fog.
        fog: bool,
    },
}

impl Variant {
    /// The variant of a state. Modes and formats that mean the same are the same.
    pub fn of(state: &RenderState) -> Variant {
        let mode = (state.combiner & combiner::MODE).min(combiner::COLOR + 1);
        let sampled = state.combiner & combiner::SAMPLE != 0;
        let levels = sampled && state.last_level() != 0;
        let kind = match state.format & format::KIND {
            kind @ (format::I8
            | format::I4
            | format::LA88
            | format::PALETTE8
            | format::PALETTE4
            | format::RGB565) => kind,
            _ => format::ARGB1555,
        };
        let filters = format::BILINEAR | if levels { format::TRILINEAR } else { 0 };
        Variant::Known {
            combiner: state.combiner & !combiner::MODE | mode,
            format: if sampled { kind | state.format & filters } else { 0 },
            levels,
            alpha_test: state.alpha_threshold != 0,
            fog: state.fog.enable != 0,
        }
    }

    /// The key of a state of this variant, of its loaded key.
    pub fn key<I: Copy>(self, loaded: Key<I>) -> Key<I> {
        let Variant::Known { combiner, format, levels, alpha_test, fog } = self else { return loaded };
        let shift = RenderState { format, ..RenderState::default() }.texels_shift();
        Key {
            combiner: Setting::Known(combiner),
            threshold: if alpha_test { loaded.threshold } else { Setting::Known(0) },
            format: Setting::Known(format),
            last_level: if levels { loaded.last_level } else { Setting::Known(0) },
            shift: Setting::Known(shift as u8),
            fog: Setting::Known(fog.into()),
            ..loaded
        }
    }
}
