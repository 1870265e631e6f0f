//! What descriptors are bound to: plain data.

use crate::hex;
use crate::job::{DescriptorKind, DescriptorSlot};
use crate::texel::TexelFormat;
use serde::{Deserialize, Serialize};

/// What the texels of a texture are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Numbers {
    /// Four singles.
    Float,
    /// Four signed words.
    Signed,
    /// Four unsigned words.
    Unsigned,
    /// One single, which is compared with.
    Depth,
}

/// The dimensions of a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum TextureShape {
    D1,
    D2,
    D3,
    Cube,
}

/// A texture with its sampler, which repeats, and filters what is not of integers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextureContents {
    /// Its dimensions.
    pub shape: TextureShape,
    /// It is seen with layers.
    pub arrayed: bool,
    /// What its texels are.
    pub numbers: Numbers,
    /// Width, height and depth of level 0.
    pub size: [u32; 3],
    /// Layers; faces count.
    pub layers: u32,
    /// Levels; one of several samples has one.
    pub levels: u32,
    /// Samples: where there are several, all texels are the first of `texels`.
    pub samples: u32,
    /// Level by level, and layer by layer in them, without gaps.
    #[serde(with = "hex")]
    pub texels: Vec<u8>,
}

/// A storage image of one level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageContents {
    /// Its dimensions.
    pub shape: TextureShape,
    /// It is seen with layers.
    pub arrayed: bool,
    /// What its texels are.
    pub format: TexelFormat,
    /// Width, height and depth.
    pub size: [u32; 3],
    /// Layers; faces count.
    pub layers: u32,
    /// Samples: where there are several, all are zero before the run, and nothing is told of them after it.
    pub samples: u32,
    /// Layer by layer, without gaps, as they are before the run; none where there are several samples.
    #[serde(with = "hex")]
    pub texels: Vec<u8>,
}

/// What a descriptor is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contents {
    /// The bytes of a uniform or storage buffer.
    Buffer(#[serde(with = "hex")] Vec<u8>),
    /// The bytes of a buffer of texels.
    Texels(TexelFormat, #[serde(with = "hex")] Vec<u8>),
    /// A texture.
    Texture(TextureContents),
    /// A sampler alone; one that goes with a texture is made for what the texture has.
    Sampler(Sampling),
    /// A storage image.
    Image(ImageContents),
    /// What an element of an earlier descriptor of images or buffers of texels is bound to, seen in another format.
    View(View),
}

/// What a sampler does. It repeats textures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampling {
    /// It filters texels and levels linearly; otherwise it takes the nearest.
    pub filters: bool,
    /// It compares with depths: 1 where the reference is at most the depth.
    pub compares: bool,
}

/// A second way to see texels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The set of the descriptor that brings the texels.
    pub set: u32,
    /// Its binding.
    pub binding: u32,
    /// Its element.
    pub element: u32,
    /// What the texels are here; they are as large as there.
    pub format: TexelFormat,
}

impl Contents {
    /// The bytes before the run: none of a view.
    pub fn data(&self) -> &[u8] {
        match self {
            Contents::Buffer(data) | Contents::Texels(_, data) => data,
            Contents::Texture(texture) => &texture.texels,
            Contents::Image(image) => &image.texels,
            Contents::Sampler(_) | Contents::View(_) => &[],
        }
    }
}

impl DescriptorKind {
    /// Whether shaders write it, so that it is read back.
    pub fn is_written(self) -> bool {
        matches!(self, DescriptorKind::Storage | DescriptorKind::Image | DescriptorKind::ImageBuffer)
    }
}

/// The bytes that a job returns: every element of every descriptor that the module writes.
pub(crate) fn written<'a>(
    slots: &'a [DescriptorSlot],
    contents: &'a [Vec<Contents>],
) -> impl Iterator<Item = usize> + 'a {
    let written = slots.iter().zip(contents).filter(|(slot, _)| slot.kind.is_written());
    written.flat_map(|(_, elements)| elements).map(|element| element.data().len())
}
