//! Operations on pairs of vectors: the halves of a group, or of what takes AVX2 two registers. Macros, because a closure would not be compiled for the
//! instruction set of its caller.

/// A half of some numbers.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn half<T: Copy + Default, const N: usize>(numbers: &[T], half: usize) -> [T; N] {
    numbers.as_chunks().0.get(half).copied().unwrap_or([T::default(); N])
}

/// Both halves, by an expression with the number of each.
macro_rules! halves {
    ($half:ident => $value:expr) => {{
        let (low, high);
        {
            let $half = 0;
            low = $value;
        }
        {
            let $half = 1;
            high = $value;
        }
        [low, high]
    }};
}

pub(super) use halves;
