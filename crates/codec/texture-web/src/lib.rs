//! Texture files for web pages.
//!
//! Built for `wasm32-unknown-unknown` this is a module without imports; `js/texture.mjs` calls it, in browsers and in Node.
//! [`read`] is all of it: the functions with C's calling convention are how the script hands over a file and gets at what
//! was read, as numbers are all that such calls carry.
//!
//! ```
//! use xenoglot_texture::container::Limits;
//! use xenoglot_texture_web::{Target, read};
//!
//! // An .astc file: blocks of 4x4, an image of 4x4, and one block, all of which is red.
//! let header = [0x13u8, 0xab, 0xa1, 0x5c, 4, 4, 1, 4, 0, 0, 4, 0, 0, 1, 0, 0];
//! let block = [0xfcu8, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff];
//! let texture = read(&[header, block].concat(), Target::Texels, &Limits::default())?;
//! assert_eq!(texture.description.size, [4, 4, 1]);
//! assert_eq!(texture.data[..4], [255, 0, 0, 255]);
//! # Ok::<(), xenoglot_texture_web::Error>(())
//! ```
#![deny(missing_docs)]

mod exports;

use serde::Serialize;
use thiserror::Error;
use xenoglot_texture::basis::uastc_to_astc;
use xenoglot_texture::container::{self, Limits, Texture, Transfer};
use xenoglot_texture::{EncodeError, Extent, Format, Quality, transcode_into};

/// What becomes of a file's blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Texels.
    Texels,
    /// Blocks of a format that the page's GPU has. A file whose blocks are of that format keeps them.
    Blocks(Format, Quality),
}

/// Why a file was not read.
#[derive(Debug, Error)]
pub enum Error {
    /// It is damaged, or nothing that is known.
    #[error(transparent)]
    File(#[from] container::Error),
    /// Its blocks do not become those of the target.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// No format has this number of Vulkan's.
    #[error("no format has the number {0} of VkFormat")]
    Number(u32),
    /// Blocks of the target would take more bytes than the limit.
    #[error("the blocks would take more than {0} bytes")]
    TooLarge(usize),
}

/// A texture: what it is, and where its images lie in [`Read::data`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Description {
    /// The file's format.
    pub container: String,
    /// The format of the data.
    pub format: String,
    /// Its number in Vulkan, where it has one.
    pub vulkan: Option<u32>,
    /// Width, height and depth of level 0.
    pub size: [u32; 3],
    /// Levels, layers and faces.
    pub levels: u32,
    /// Layers.
    pub layers: u32,
    /// Faces: 6 of a cube.
    pub faces: u32,
    /// Colours are of sRGB.
    pub srgb: bool,
    /// Colours are multiplied by alpha.
    pub premultiplied: bool,
    /// Where rows and columns go, as KTXorientation says it: `rd` is from the top left.
    pub orientation: Option<String>,
    /// Its images.
    pub images: Vec<Image>,
}

/// An image of a texture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Image {
    /// Its level.
    pub level: u32,
    /// Its layer.
    pub layer: u32,
    /// Its face.
    pub face: u32,
    /// Width, height and depth.
    pub size: [u32; 3],
    /// Where it starts in the data.
    pub offset: usize,
    /// Its bytes.
    pub length: usize,
}

/// A texture that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// What it is.
    pub description: Description,
    /// Its images, one after the other: rows without padding.
    pub data: Vec<u8>,
}

/// Reads a file, in any of the formats of `xenoglot_texture`'s containers.
///
/// # Errors
/// When the file is damaged or not known, would hold more than `limits` allows, or its blocks do not become those of the
/// target.
pub fn read(file: &[u8], target: Target, limits: &Limits) -> Result<Read, Error> {
    let texture = container::read(file, limits)?;
    match target {
        Target::Texels => Ok(collect(&texture.decode(limits)?)),
        Target::Blocks(format, _) if format == texture.format => Ok(collect(&texture)),
        Target::Blocks(format, quality) => {
            let is_astc = matches!(format, Format::Astc(footprint, _) if footprint.size() == [4, 4, 1]);
            let too_large = || Error::TooLarge(limits.bytes);
            let mut left = limits.bytes;
            let mut transcode = |image: &container::Image| -> Result<container::Image<'static>, Error> {
                let bytes = format.data_bytes(image.extent).ok_or_else(too_large)?;
                left = left.checked_sub(bytes).ok_or_else(too_large)?;
                let mut data = vec![0; bytes];
                if texture.format == Format::Uastc && is_astc {
                    // Without a loss: blocks of UASTC are among those of ASTC.
                    let blocks = image.data.as_chunks().0.iter().zip(data.as_chunks_mut().0);
                    blocks.for_each(|(uastc, astc)| *astc = uastc_to_astc(uastc));
                } else {
                    transcode_into(texture.format, image.extent, &image.data, format, quality, &mut data)?;
                }
                let container::Image { level, layer, face, extent, .. } = *image;
                Ok(container::Image { level, layer, face, extent, data: data.into() })
            };
            let images = texture.images.iter().map(&mut transcode).collect::<Result<Vec<_>, Error>>()?;
            Ok(collect(&texture.with_images(format, images)))
        }
    }
}

fn collect(texture: &Texture<'_>) -> Read {
    let size = |Extent { width, height, depth }: Extent| [width, height, depth];
    let mut data = Vec::new();
    let images = texture.images.iter().map(|image| {
        let offset = data.len();
        data.extend_from_slice(&image.data);
        let container::Image { level, layer, face, extent, .. } = *image;
        Image { level, layer, face, size: size(extent), offset, length: image.data.len() }
    });
    let images = images.collect();
    let srgb = texture.transfer == Transfer::Srgb;
    let description = Description {
        container: texture.container.to_string(),
        format: texture.format.to_string(),
        vulkan: texture.format.vulkan(srgb),
        size: size(texture.extent),
        levels: texture.levels,
        layers: texture.layers,
        faces: texture.faces,
        srgb,
        premultiplied: texture.premultiplied,
        orientation: texture.orientation.map(|orientation| orientation.letters(3)),
        images,
    };
    Read { description, data }
}
