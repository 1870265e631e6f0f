//! Which columns of a row a tile reads. Columns beyond the row's ends repeat the outermost ones.

use core::ops::Range;

/// A range of columns, widened on either side.
pub(super) struct Window {
    /// Columns that the row has.
    pub columns: Range<usize>,
    /// Their places in the widened range.
    pub places: Range<usize>,
    /// Length of the widened range.
    pub wanted: usize,
}

impl Window {
    /// `columns` with `around` more on either side, in a row of `size` columns.
    #[inline(always)]
    pub(super) fn new(columns: &Range<usize>, around: usize, size: usize) -> Window {
        let wanted = columns.len() + 2 * around;
        let start = columns.start.saturating_sub(around);
        let end = (columns.end + around).min(size).max(start);
        let before = start + around - columns.start;
        Window { columns: start..end, places: before..(before + end - start).min(wanted), wanted }
    }

    /// Fills the places beyond the row's ends with its outermost columns.
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
