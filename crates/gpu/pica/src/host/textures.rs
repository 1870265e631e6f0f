//! Decoded textures on the device, by what is in guest memory or in copies of it.

use std::ops::Range;

use rustc_hash::FxHashMap;
use xenoglot_host::{Buffer, Error};

use super::batch::Source;
use super::cache::{Cache, Context};
use super::custom::{CustomTextures, GuestTexture, Replacement};
use super::kernels::params;
use crate::fragment::{Scale, layout};
use crate::memory::{Memory, ranges};
use crate::raster::filter::{Filter, Level};
use crate::raster::framebuffer::PixelBuffer;
use crate::raster::sample::Image;
use crate::texture::{Format, Texture};

/// Bytes of guest memory and of the device after which all textures are forgotten.
const CAPACITY: usize = 256 << 20;

/// Textures that were used.
///
/// Guest memory that is not tracked may change between calls without notice: in a call, a texture is compared with it before
/// it is used first.
#[derive(Default)]
pub struct Textures {
    known: FxHashMap<Images, Known>,
    size: usize,
    generation: u64,
    custom: Option<Box<CustomTextures>>,
}

/// Texels on the device.
#[derive(Clone, Debug)]
pub struct Texels {
    /// A word each: the guest's own if they are to be seen, then those of a larger version.
    pub buffer: Buffer,
    /// Texels of the larger version along each axis for one of the guest's; 1 if there is none.
    pub scale: u32,
    /// First texel of the larger version.
    pub first: u32,
}

/// One image, or six of a cube.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Images {
    texture: Texture,
    faces: Option<[u32; 6]>,
    /// Levels, 0 if there is only the base image.
    levels: usize,
}

#[derive(Debug)]
struct Known {
    /// The bytes in guest memory that the texels were decoded from; nothing if they were decoded from a copy on the device.
    bytes: Option<Vec<u8>>,
    texels: Texels,
    /// When the bytes were last compared.
    generation: u64,
    /// The last moment at which the texels were up to date.
    moment: u64,
}

impl Textures {
    /// Guest memory may have changed without notice.
    pub fn invalidate(&mut self) {
        self.generation += 1;
    }

    /// Sets the function that may replace textures, and drops all that are known.
    pub fn set_custom(&mut self, custom: Option<Box<CustomTextures>>) {
        self.custom = custom;
        self.known.clear();
        self.size = 0;
    }

    /// The texels of an image.
    pub fn get(
        &mut self,
        cx: &mut Context,
        cache: &mut Cache,
        image: &Image,
        memory: &mut dyn Memory,
    ) -> Result<Texels, Error> {
        let images = Images {
            texture: image.texture,
            faces: image.kind.is_cube().then_some(image.faces),
            levels: levels(image).len(),
        };
        let (generation, now) = (self.generation, cache.now());
        let touched: Vec<Range<u64>> =
            image.ranges().flat_map(|(address, len)| ranges(address, len.into())).collect();
        let owned = touched.iter().any(|range| cache.owns(range));
        if let Some(known) = self.known.get_mut(&images) {
            let unwritten = !touched.iter().any(|range| cache.written_since(range, known.moment));
            let is_same =
                |known: &Known| known.bytes.as_ref().is_some_and(|bytes| is_in(bytes, &*memory, image));
            if unwritten && known.generation == generation || !owned && is_same(known) {
                (known.generation, known.moment) = (generation, now);
                return Ok(known.texels.clone());
            }
        }
        if owned {
            let texels = image.texture.width * image.texture.height * image.ranges().count() as u32;
            let fits = cache.size_of(texels.into()) <= cx.device.max_buffer();
            if let Some(place) = pixels_of(image, &*memory).filter(|_| fits) {
                return self.decode(cx, cache, memory, images, image, place);
            }
            for range in &touched {
                cache.flush(cx, memory, range)?;
            }
        }
        let mut texels = layout::image_texels(image, &*memory);
        let bytes: Vec<u8> = parts(image).flat_map(|part| read(&*memory, part).to_vec()).collect();
        let replacement = self.replace(image, &bytes, &texels);
        let (mut scale, mut first) = (1, 0);
        if let Some(mut new) = replacement {
            // With more samples than the guest's, those see the replacement and guest memory does not.
            if cache.scale() != Scale::ONE {
                first = texels.len() as u32;
                texels.append(&mut new.texels);
            } else {
                texels = new.texels;
            }
            scale = new.scale;
        }
        let buffer = cx.device.buffer_of(&texels)?;
        cx.traffic.uploaded += 4 * texels.len() as u64;
        let texels = Texels { buffer, scale, first };
        for range in touched.iter().filter(|range| !range.is_empty()) {
            cache.mark_cached(memory, range);
        }
        let known = Known { bytes: Some(bytes), texels: texels.clone(), generation, moment: cache.now() };
        self.insert(images, known);
        Ok(texels)
    }

    /// The embedder's replacement of a texture, if any.
    fn replace(&mut self, image: &Image, bytes: &[u8], texels: &[u32]) -> Option<Replacement> {
        let custom = self.custom.as_mut().filter(|_| !image.kind.is_cube() && !image.kind.is_shadow())?;
        let mut hash = [0; 16];
        hash.iter_mut().zip(blake3::hash(bytes).as_bytes()).for_each(|(to, from)| *to = *from);
        let Texture { width, height, format, .. } = image.texture;
        let levels = levels(image);
        // Of an image with levels, the base image is handed out, with the hash of all.
        let first = if levels.is_empty() { 0 } else { layout::LEVEL_HEADER as usize };
        let texels = texels.get(first..first + (width * height) as usize)?;
        let texture = GuestTexture { hash, width, height, format, texels };
        let new = custom(&texture).filter(|replacement| replacement.fits(&texture))?;
        Some(if levels.is_empty() { new } else { new.with_levels(levels) })
    }

    fn insert(&mut self, images: Images, known: Known) {
        let size =
            |known: &Known| known.bytes.as_ref().map_or(0, Vec::len) + known.texels.buffer.size() as usize;
        if self.size > CAPACITY {
            self.known.clear();
            self.size = 0;
        }
        self.size += size(&known);
        if let Some(old) = self.known.insert(images, known) {
            self.size -= size(&old);
        }
    }

    /// Decodes a texture on the device, from pixels of `bytes` bytes, some of which are newer than guest memory.
    fn decode(
        &mut self,
        cx: &mut Context,
        cache: &mut Cache,
        memory: &mut dyn Memory,
        images: Images,
        image: &Image,
        bytes: u32,
    ) -> Result<Texels, Error> {
        let Texture { width, height, format, .. } = image.texture;
        let texels = width * height;
        let scale = cache.scale();
        let faces = image.ranges().count() as u32;
        let size = cache.size_of(u64::from(texels) * u64::from(faces));
        // Commands are done in order: the old texels are no longer needed when new ones come.
        let known =
            self.known.get(&images).map(|known| &known.texels.buffer).filter(|old| old.size() == size);
        let buffer = known.map_or_else(|| cx.device.buffer(size), |known| Ok(known.clone()))?;
        for (number, (address, len)) in (0..).zip(image.ranges()) {
            let [range, _] = ranges(address, len.into());
            let place = PixelBuffer { address, bytes };
            let source = cache.pixels(cx, memory, place, len / bytes, &range)?;
            let larger = faces * texels + number * texels * scale.get() * scale.get();
            let words = params(&[
                width,
                height,
                format as u32,
                image.texture.tiles_per_row(),
                number * texels,
                larger,
                scale.get(),
                source.stride,
            ]);
            let from = Source::Buffer(source.buffer);
            let count = [texels, scale.planes()];
            cx.batch.kernel(cx.device, &cx.kernels.texels, from, &buffer, &words, count);
        }
        let (generation, moment) = (self.generation, cache.now());
        let first = if scale == Scale::ONE { 0 } else { faces * texels };
        let texels = Texels { buffer, scale: scale.get(), first };
        self.insert(images, Known { bytes: None, texels: texels.clone(), generation, moment });
        Ok(texels)
    }
}

/// The levels of an image that has more than its base image.
fn levels(image: &Image) -> &[Level] {
    image.filter.as_ref().map(Filter::levels).filter(|levels| levels.len() > 1).unwrap_or_default()
}

/// Bytes of a pixel of the copy that a texture is decoded from on the device; nothing if the CPU decodes its format or its
/// levels, or it is not all memory.
fn pixels_of(image: &Image, memory: &dyn Memory) -> Option<u32> {
    let bytes = match image.texture.format {
        Format::Rgba8 => 4,
        Format::Rgb8 => 3,
        Format::Rgb5A1 | Format::Rgb565 | Format::Rgba4 | Format::Ia8 | Format::Rg8 => 2,
        Format::I8 | Format::A8 | Format::Ia4 | Format::I4 | Format::A4 => 4,
        // Drawn pixels are hardly ever read as ETC1: they are brought to guest memory.
        Format::Etc1 | Format::Etc1A4 => return None,
    };
    if !levels(image).is_empty() {
        return None;
    }
    image.ranges().all(|(address, len)| memory.bytes(address, len).is_some()).then_some(bytes)
}

/// Whether guest memory has these bytes.
fn is_in(bytes: &[u8], memory: &dyn Memory, image: &Image) -> bool {
    let mut rest = bytes;
    parts(image).all(|part| {
        let now = read(memory, part);
        let (then, tail) = rest.split_at(rest.len().min(now.len()));
        rest = tail;
        then == now
    })
}

/// Address and length of the tiles. A tile is either wholly in memory or not.
fn parts(image: &Image) -> impl Iterator<Item = (u32, u32)> {
    let tile = image.texture.format.tile_bytes();
    image.ranges().flat_map(move |(address, len)| {
        (0..len / tile).map(move |number| (address.wrapping_add(number * tile), tile))
    })
}

/// Bytes of memory; zeros for a tile that is not.
fn read(memory: &dyn Memory, (address, len): (u32, u32)) -> &[u8] {
    const NONE: [u8; 256] = [0; 256];
    memory.bytes(address, len).unwrap_or(&NONE[..NONE.len().min(len as usize)])
}
