//! Prefetching.

/// Prefetches a value into the caches, on processors that have an instruction for it.
#[inline(always)]
pub fn fetch_ahead<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..size_of::<T>()).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction, and it reads nothing that a program could see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast::<i8>().wrapping_add(line)) };
    }
    let _ = value;
}

#[cfg(test)]
mod tests {
    #[test]
    fn fetching_changes_nothing() {
        let values = [7u8; 300];
        super::fetch_ahead(&values);
        super::fetch_ahead(&values[299]);
        super::fetch_ahead(&());
        assert_eq!(values, [7; 300]);
    }
}
