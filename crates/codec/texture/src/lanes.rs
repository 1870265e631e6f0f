//! Choices without branches, for loops that vectorise.

/// All ones for true.
#[inline(always)]
pub const fn mask(condition: bool) -> u16 {
    (condition as u16).wrapping_neg()
}

/// The bits of `then` where `mask` has ones, and of `otherwise` where it has zeros.
#[inline(always)]
pub const fn chosen(mask: u16, then: u16, otherwise: u16) -> u16 {
    then & mask | otherwise & !mask
}
