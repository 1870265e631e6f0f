//! A texture and its images.

use super::{Container, Error, Limits, Orientation, Pair, Swizzle, Transfer};
use crate::decode::decode_into_parallel;
use crate::format::{Channels, Extent, Format};
use std::borrow::Cow;
use std::fmt;

/// How the levels of a KTX 2 file were packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Supercompression {
    /// Not at all.
    #[default]
    None,
    /// BasisLZ, of ETC1S.
    BasisLz,
    /// Zstandard.
    Zstandard,
    /// zlib.
    Zlib,
}

impl fmt::Display for Supercompression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Supercompression::None => "none",
            Supercompression::BasisLz => "BasisLZ",
            Supercompression::Zstandard => "Zstandard",
            Supercompression::Zlib => "zlib",
        })
    }
}

/// A texture: images of a format by level, layer and face, and how their texels are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texture<'a> {
    /// The kind of file.
    pub container: Container,
    /// Its name, if the file has several textures.
    pub name: Option<Cow<'a, str>>,
    /// The format. Files tell ASTC's sRGB from its linear form, `.astc` does not.
    pub format: Format,
    /// The components that the file stores. Decoding keeps them: texels of four components may have come of fewer.
    pub channels: Channels,
    /// How colours are encoded. Decoding does not change it: sRGB stays encoded.
    pub transfer: Transfer,
    /// Whether colours are multiplied by alpha. Decoding leaves them so.
    pub premultiplied: bool,
    /// Which way up the picture is, if the file says; see [`Orientation`] for what is meant if not.
    pub orientation: Option<Orientation>,
    /// What components are to be read from, if the file says. Decoding does not apply it.
    pub swizzle: Option<Swizzle>,
    /// How the file had packed its levels; the images here are unpacked.
    pub supercompression: Supercompression,
    /// Other keys and values of KTX, without those that are said above.
    pub pairs: Vec<Pair<'a>>,
    /// The size of level 0.
    pub extent: Extent,
    /// How many dimensions an image has, 1 to 3. Sizes of others are 1.
    pub dimensions: u32,
    /// Levels, at least one.
    pub levels: u32,
    /// Whether it is an array, even if of one layer.
    pub array: bool,
    /// Layers, at least one.
    pub layers: u32,
    /// Faces: 6 of a cube, else 1.
    pub faces: u32,
    /// The images in the order they lie in the file.
    pub images: Vec<Image<'a>>,
}

/// An image of a texture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image<'a> {
    /// Its level.
    pub level: u32,
    /// Its layer.
    pub layer: u32,
    /// Its face.
    pub face: u32,
    /// Its size.
    pub extent: Extent,
    /// Its blocks.
    pub data: Cow<'a, [u8]>,
}

impl<'a> Texture<'a> {
    /// The bytes that images hold beside the file: levels that were unpacked or decoded.
    pub fn held_bytes(&self) -> usize {
        let held = |image: &Image<'_>| match &image.data {
            Cow::Borrowed(_) => 0,
            Cow::Owned(data) => data.len(),
        };
        self.images.iter().map(held).sum()
    }

    /// A level as a texture of its own, which borrows the images; nothing if there is no such level.
    pub fn level(&self, level: u32) -> Option<Texture<'_>> {
        let images = self.images.iter().filter(|image| image.level == level);
        let images = images.map(|image| Image { level: 0, data: Cow::Borrowed(&*image.data), ..*image });
        (level < self.levels).then(|| Texture {
            extent: self.level_extent(level),
            levels: 1,
            ..self.with_images(self.format, images.collect())
        })
    }

    /// A texture of a format, two-dimensional if `extent` has no depth, without images: what is not given is as of a file
    /// that does not say.
    pub fn new(format: Format, extent: Extent) -> Texture<'a> {
        Texture {
            container: Container::Ktx2,
            name: None,
            format,
            channels: format.channels(),
            transfer: Transfer::Unknown,
            premultiplied: false,
            orientation: None,
            swizzle: None,
            supercompression: Supercompression::None,
            pairs: Vec::new(),
            extent,
            dimensions: if extent.depth > 1 { 3 } else { 2 },
            levels: 1,
            array: false,
            layers: 1,
            faces: 1,
            images: Vec::new(),
        }
    }

    /// The texture with other images of another format in place of its own, and everything else as it was.
    pub fn with_images<'b>(&'b self, format: Format, images: Vec<Image<'b>>) -> Texture<'b> {
        let pair =
            |pair: &'b Pair<'a>| Pair { key: Cow::Borrowed(&*pair.key), value: Cow::Borrowed(&*pair.value) };
        let name = self.name.as_deref().map(Cow::Borrowed);
        Texture { name, format, images, pairs: self.pairs.iter().map(pair).collect(), ..*self }
    }

    /// The texture with its images decoded, on the threads of the current Rayon pool: [`Format::Plain`], and everything
    /// else as it was. Images that are plain are borrowed.
    ///
    /// # Errors
    /// When an image is too short, or this texture's images and the decoded ones together would hold more than the limit.
    pub fn decode(&self, limits: &Limits) -> Result<Texture<'_>, Error> {
        self.decode_with(limits, |format, extent, data, out| {
            Ok(decode_into_parallel(format, extent, data, out)?)
        })
    }

    /// As [`Texture::decode`], with `decode` in place of [`decode_into_parallel`] for all formats of which
    /// [`Format::has_program`] is true.
    ///
    /// # Errors
    /// As [`Texture::decode`], and what `decode` says.
    pub fn decode_with<E: From<Error>>(
        &self,
        limits: &Limits,
        mut decode: impl FnMut(Format, Extent, &[u8], &mut [u8]) -> Result<(), E>,
    ) -> Result<Texture<'_>, E> {
        let mut held = self.held_bytes();
        let mut images = Vec::with_capacity(self.images.len());
        for image in &self.images {
            let data = if let Format::Plain(_) = self.format {
                Cow::Borrowed(&*image.data)
            } else {
                let bytes = self.format.output_bytes(image.extent).ok_or(Error::TooLarge)?;
                held = held.checked_add(bytes).ok_or(Error::TooLarge)?;
                limits.allow(held)?;
                let mut texels = vec![0; bytes];
                if !self.format.has_program() {
                    decode_into_parallel(self.format, image.extent, &image.data, &mut texels)
                        .map_err(Error::from)?;
                } else {
                    decode(self.format, image.extent, &image.data, &mut texels)?;
                }
                Cow::Owned(texels)
            };
            images.push(Image { data, ..*image });
        }
        Ok(self.with_images(Format::Plain(self.format.texel()), images))
    }

    /// The size of a level.
    pub(super) fn level_extent(&self, level: u32) -> Extent {
        let smaller = |size: u32| size.checked_shr(level).unwrap_or(0).max(1);
        Extent {
            width: smaller(self.extent.width),
            height: smaller(self.extent.height),
            depth: smaller(self.extent.depth),
        }
    }

    /// Bytes of an image of a level.
    pub(super) fn image_bytes(&self, level: u32) -> Result<usize, Error> {
        self.format.data_bytes(self.level_extent(level)).ok_or(Error::TooLarge)
    }

    /// Bytes of all images of a level.
    pub(super) fn level_bytes(&self, level: u32) -> Result<usize, Error> {
        let images = (self.layers as usize).checked_mul(self.faces as usize).ok_or(Error::TooLarge)?;
        self.image_bytes(level)?.checked_mul(images).ok_or(Error::TooLarge)
    }

    pub(super) fn push(&mut self, [level, layer, face]: [u32; 3], data: Cow<'a, [u8]>) {
        self.images.push(Image { level, layer, face, extent: self.level_extent(level), data });
    }
}

/// What a header says, before there are images.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub container: Container,
    pub format: Format,
    pub transfer: Transfer,
    pub extent: Extent,
    pub dimensions: u32,
    pub levels: u32,
    /// Layers of an array; 0 if it is none.
    pub layers: u32,
    pub faces: u32,
}

impl Shape {
    /// One picture: no levels, layers or faces beside it.
    pub fn picture(container: Container, format: Format, transfer: Transfer, extent: Extent) -> Shape {
        let dimensions = if extent.depth > 1 { 3 } else { 2 };
        Shape { container, format, transfer, extent, dimensions, levels: 1, layers: 0, faces: 1 }
    }

    /// The texture without images, once its numbers are plausible.
    pub fn texture<'a>(self, limits: &Limits) -> Result<Texture<'a>, Error> {
        let Shape { container, format, transfer, extent, dimensions, levels, layers, faces } = self;
        let largest = extent.width.max(extent.height).max(extent.depth);
        if extent.width == 0 || extent.height == 0 || extent.depth == 0 {
            return Err(Error::Malformed("size"));
        }
        if levels == 0 || levels > 32 - largest.leading_zeros() {
            return Err(Error::Malformed("number of levels"));
        }
        if !matches!(faces, 1 | 6) {
            return Err(Error::Malformed("number of faces"));
        }
        let count = u64::from(levels) * u64::from(layers.max(1)) * u64::from(faces);
        if count > limits.images as u64 {
            return Err(Error::TooLarge);
        }
        let texture = Texture::new(format, extent);
        Ok(Texture {
            container,
            transfer,
            dimensions,
            levels,
            array: layers > 0,
            layers: layers.max(1),
            faces,
            ..texture
        })
    }
}
