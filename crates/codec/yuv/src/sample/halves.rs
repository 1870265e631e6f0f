//! Vectors of AVX2, which are made by halves.

/// A half of some numbers.
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
