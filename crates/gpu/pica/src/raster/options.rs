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

/// Registers to obey that the emulator ignores. Fields are those of 3dbrew's page GPU/Internal Registers. How far each is
/// known is in `docs/pica200.md`; draws that ask for gas or the early depth test without these options are counted in
/// [`Ignored`](crate::report::Ignored).
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
    /// The early depth test (061 to 063, 06A, 118), with a buffer of its own: see [`crate::early_depth`] for what of it
    /// is documented. On the host's GPU its draws are the CPU renderer's.
    pub early_depth: bool,
    /// Gas (fragment mode 1, fog mode 7, 0E4, 0E5, 120 to 126). The registers are documented and the arithmetic is not:
    /// this is a model. On the host's GPU its draws are the CPU renderer's.
    pub gas: bool,
    /// An attribute that no loader has keeps the value it had in the last vertex that was loaded: Citra's vertex loader
    /// says so in a comment. Without this it is 0.
    pub retention: bool,
}

impl Chip {
    /// Everything.
    pub const ALL: Chip = Chip {
        filters: true,
        mipmaps: true,
        permissions: true,
        early_depth: true,
        gas: true,
        retention: true,
    };
}
