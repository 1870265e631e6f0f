//! What an embedder may choose about the CPU renderer.

/// Options of a [`Renderer`](super::Renderer).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Code for the pixel stages. What is drawn does not depend on it.
    pub code: Code,
}

/// Code for the pixel stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Code {
    /// The best for this processor: AVX2 where there is.
    #[default]
    Native,
    /// What the target's baseline can do.
    Portable,
}

impl Code {
    /// Whether the stages run as compiled for AVX2.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn is_avx2(self) -> bool {
        self == Code::Native && is_x86_feature_detected!("avx2")
    }
}
