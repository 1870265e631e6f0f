//! Formats of texels in buffers and storage images.

use ash::vk;
use serde::{Deserialize, Serialize};

macro_rules! formats {
    ($($name:ident $raw:ident $bytes:literal,)*) => {
        /// Formats of texels, by the names of Vulkan: those that SPIR-V has names for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[expect(missing_docs, reason = "the names are those of VkFormat")]
        pub enum TexelFormat {
            $($name,)*
        }

        impl TexelFormat {
            /// Every format.
            pub const ALL: &[TexelFormat] = &[$(TexelFormat::$name,)*];

            pub(crate) fn raw(self) -> vk::Format {
                match self {
                    $(TexelFormat::$name => vk::Format::$raw,)*
                }
            }

            /// Bytes of a texel.
            pub fn bytes(self) -> u32 {
                match self {
                    $(TexelFormat::$name => $bytes,)*
                }
            }
        }
    };
}

formats! {
    R32G32B32A32Sfloat R32G32B32A32_SFLOAT 16,
    R16G16B16A16Sfloat R16G16B16A16_SFLOAT 8,
    R32G32Sfloat R32G32_SFLOAT 8,
    R16G16Sfloat R16G16_SFLOAT 4,
    R32Sfloat R32_SFLOAT 4,
    R16Sfloat R16_SFLOAT 2,
    B10G11R11UfloatPack32 B10G11R11_UFLOAT_PACK32 4,
    R16G16B16A16Unorm R16G16B16A16_UNORM 8,
    A2B10G10R10UnormPack32 A2B10G10R10_UNORM_PACK32 4,
    R8G8B8A8Unorm R8G8B8A8_UNORM 4,
    R16G16Unorm R16G16_UNORM 4,
    R8G8Unorm R8G8_UNORM 2,
    R16Unorm R16_UNORM 2,
    R8Unorm R8_UNORM 1,
    R16G16B16A16Snorm R16G16B16A16_SNORM 8,
    R8G8B8A8Snorm R8G8B8A8_SNORM 4,
    R16G16Snorm R16G16_SNORM 4,
    R8G8Snorm R8G8_SNORM 2,
    R16Snorm R16_SNORM 2,
    R8Snorm R8_SNORM 1,
    R32G32B32A32Sint R32G32B32A32_SINT 16,
    R16G16B16A16Sint R16G16B16A16_SINT 8,
    R8G8B8A8Sint R8G8B8A8_SINT 4,
    R32G32Sint R32G32_SINT 8,
    R16G16Sint R16G16_SINT 4,
    R8G8Sint R8G8_SINT 2,
    R32Sint R32_SINT 4,
    R16Sint R16_SINT 2,
    R8Sint R8_SINT 1,
    R32G32B32A32Uint R32G32B32A32_UINT 16,
    R16G16B16A16Uint R16G16B16A16_UINT 8,
    A2B10G10R10UintPack32 A2B10G10R10_UINT_PACK32 4,
    R8G8B8A8Uint R8G8B8A8_UINT 4,
    R32G32Uint R32G32_UINT 8,
    R16G16Uint R16G16_UINT 4,
    R8G8Uint R8G8_UINT 2,
    R32Uint R32_UINT 4,
    R16Uint R16_UINT 2,
    R8Uint R8_UINT 1,
    R64Sint R64_SINT 8,
    R64Uint R64_UINT 8,
}
