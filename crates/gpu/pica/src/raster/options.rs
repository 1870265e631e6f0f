//! What an embedder may choose about the CPU renderer, and about registers on both.

/// Options of a [`Renderer`](super::Renderer).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Code for the pixel stages. What is drawn does not depend on it.
    pub code: Code,
    /// Whose pixels are drawn.
    pub reference: Reference,
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

/// Whose pixels are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reference {
    /// Those of the emulator behind vectors/picagpu, bit for bit. It ignores some registers.
    #[default]
    Emulator,
    /// Those of the emulator with some of these registers obeyed, as far as they are documented; there are no vectors.
    Chip(Chip),
}

impl Reference {
    /// What is obeyed.
    pub(super) fn chip(self) -> Chip {
        match self {
            Reference::Emulator => Chip::default(),
            Reference::Chip(chip) => chip,
        }
    }
}

/// Registers to obey that the emulator ignores. Fields are those of 3dbrew's page GPU/Internal Registers.
///
/// Two more features of the chip are left out because their registers are documented and their arithmetic is not: the
/// early depth test (061 to 063, 06A, 118), which compares with a buffer of its own of unknown precision, and gas
/// (fragment mode 1, fog mode 7). Draws that ask for them are counted in [`Ignored`](crate::report::Ignored).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Chip {
    /// Linear filters of texture units 0 to 2 (083, 093, 09B), with the equations of OpenGL ES 1.1, section 3.7. The
    /// chip's precision is not documented: here weights have 8 bits. Shadow textures are not filtered.
    pub filters: bool,
    /// Levels of detail of texture units 0 to 2 (083 to 084 and so on), with the equations of OpenGL ES 1.1, section
    /// 3.7. The images of an image's levels follow each other in memory.
    pub mipmaps: bool,
    /// Read permissions (112, 114), and write permissions of depth and stencil apart (115). It is not documented what
    /// the chip sees instead of a pixel that it may not read; here that is 0.
    pub permissions: bool,
}

impl Chip {
    /// Everything.
    pub const ALL: Chip = Chip { filters: true, mipmaps: true, permissions: true };
}
