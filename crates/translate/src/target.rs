//! Host languages.

/// What a module is translated to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// SPIR-V words.
    Spirv(xenoglot_spirv::Options),
    /// GLSL text.
    Glsl(xenoglot_glsl::Options),
    /// WGSL text.
    #[cfg(feature = "naga")]
    Wgsl(xenoglot_naga::Options),
    /// Metal text.
    #[cfg(feature = "naga")]
    Msl(xenoglot_naga::Options),
    /// HLSL text.
    #[cfg(feature = "naga")]
    Hlsl(xenoglot_naga::Options),
}

/// A translated module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// SPIR-V words.
    Words(Vec<u32>),
    /// Text.
    Text(String),
}

impl Code {
    /// The bytes of a file with it: words little-endian, text as UTF-8.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Code::Words(words) => words.iter().flat_map(|w| w.to_le_bytes()).collect(),
            Code::Text(text) => text.into_bytes(),
        }
    }
}
