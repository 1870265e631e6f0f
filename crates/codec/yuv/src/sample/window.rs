//! The columns of a row that are read for a tile, and what stands for those beyond the row's ends.

use core::ops::Range;

/// Some columns of a row with as many more on either side.
pub(super) struct Window {
    /// Columns that the row has.
    pub columns: Range<usize>,
    /// Their places among all that are wanted.
    pub places: Range<usize>,
    /// How many are wanted.
    pub wanted: usize,
}

impl Window {
    /// `columns` and `around` more on either side, of a row of `size` columns.
    #[inline(always)]
    pub(super) fn new(columns: &Range<usize>, around: usize, size: usize) -> Window {
        let wanted = columns.len() + 2 * around;
        let start = columns.start.saturating_sub(around);
        let end = (columns.end + around).min(size).max(start);
        let before = start + around - columns.start;
        Window { columns: start..end, places: before..(before + end - start).min(wanted), wanted }
    }

    /// Repeats the outermost of the row's columns at the places beyond its ends.
    #[inline(always)]
    pub(super) fn repeat_ends<T: Copy>(&self, out: &mut [T]) {
        let Range { start, end } = self.places;
        if let (true, Some(&first)) = (start > 0, out.get(start)) {
            out[..start].fill(first);
        }
        if let (true, Some(&last)) = (end < self.wanted, out.get(end.wrapping_sub(1))) {
            out[end..].fill(last);
        }
    }
}
