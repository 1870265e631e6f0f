//! Which instructions a filter runs on.

use crate::{State, Tones, lanes, reference};
use core::fmt;

/// The instructions of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// One tone after the other: the reference.
    Scalar,
    /// Four tones at once, on every x86-64.
    Sse,
    /// Eight tones at once.
    Avx2,
    /// Sixteen tones at once.
    Avx512,
    /// Four tones at once, on every AArch64.
    Neon,
}

impl Engine {
    /// All of them, from the narrowest on.
    pub const ALL: [Engine; 5] = [Engine::Scalar, Engine::Neon, Engine::Sse, Engine::Avx2, Engine::Avx512];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Scalar => "scalar",
            Engine::Sse => "sse",
            Engine::Avx2 => "avx2",
            Engine::Avx512 => "avx512",
            Engine::Neon => "neon",
        }
    }

    /// The engine of this name.
    pub fn find(name: &str) -> Option<Engine> {
        Engine::ALL.into_iter().find(|e| e.name() == name)
    }

    /// Whether this processor has the instructions.
    pub fn is_available(self) -> bool {
        match self {
            Engine::Scalar => true,
            Engine::Sse => cfg!(target_arch = "x86_64"),
            Engine::Neon => cfg!(target_arch = "aarch64"),
            #[cfg(target_arch = "x86_64")]
            Engine::Avx2 => pulp::x86::V3::is_available(),
            #[cfg(target_arch = "x86_64")]
            Engine::Avx512 => pulp::x86::V4::is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            Engine::Avx2 | Engine::Avx512 => false,
        }
    }

    /// The widest of this processor.
    pub fn fastest() -> Engine {
        Engine::ALL.into_iter().rev().find(|e| e.is_available()).unwrap_or(Engine::Scalar)
    }

    /// Filters samples. Where the instructions are missing, those that every processor of the kind has do the same.
    pub(crate) fn run(self, tones: &Tones, state: &mut State, input: &[f32], output: &mut [f32]) {
        match self {
            Engine::Scalar => reference::run(tones, state, input, output),
            #[cfg(target_arch = "x86_64")]
            Engine::Avx2 if let Some(simd) = pulp::x86::V3::try_new() => simd.vectorize(
                #[inline(always)]
                || lanes::run(tones, state, input, output),
            ),
            #[cfg(target_arch = "x86_64")]
            Engine::Avx512 if let Some(simd) = pulp::x86::V4::try_new() => simd.vectorize(
                #[inline(always)]
                || lanes::run(tones, state, input, output),
            ),
            _ => lanes::run(tones, state, input, output),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
