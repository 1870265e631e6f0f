//! What a caller may ask for.

/// Language version and API.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Target {
    /// `#version 330 core`: no storage buffers, no compute, no locations on varyings (they match by name) and no
    /// bindings (they are set through the API).
    Gl330,
    /// `#version 450` for OpenGL: descriptor sets are ignored, push constants become a uniform block.
    Gl450,
    /// `#version 450` for Vulkan.
    #[default]
    Vulkan450,
    /// `#version 310 es`.
    Es310,
}

impl Target {
    /// Every target.
    pub const ALL: [Target; 4] = [Target::Gl330, Target::Gl450, Target::Vulkan450, Target::Es310];

    /// A short name: `330`, `450`, `450-vulkan`, `310es`.
    pub fn name(self) -> &'static str {
        match self {
            Target::Gl330 => "330",
            Target::Gl450 => "450",
            Target::Vulkan450 => "450-vulkan",
            Target::Es310 => "310es",
        }
    }

    pub(crate) fn is_450(self) -> bool {
        matches!(self, Target::Gl450 | Target::Vulkan450)
    }
}

/// Options of the writer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Language version and API.
    pub target: Target,
    /// Puts each guest instruction, with its address, as a comment above what it became.
    pub guest_comments: bool,
    /// Writes if-chains instead of `switch`.
    pub switch_as_if_chain: bool,
    /// Lanes of the host's subgroups if all have as many; 0: not known. Ops that need the guest's width are
    /// refused unless it is this one.
    pub subgroup_width: u8,
    /// The most constructs around a statement; see the structuring crate.
    pub depth_limit: u32,
    /// The most bytes of output; more is [`Error::TooLarge`](crate::Error::TooLarge).
    pub max_output: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            target: Target::default(),
            guest_comments: false,
            switch_as_if_chain: false,
            subgroup_width: 0,
            depth_limit: xenoglot_structure::Options::DEPTH_LIMIT,
            max_output: 64 << 20,
        }
    }
}
