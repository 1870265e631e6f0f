//! Decoded textures on the device, by what is in guest memory or in copies of it.

use std::ops::Range;

use rustc_hash::FxHashMap;
use xenoglot_host::{Buffer, Error};

use super::batch::Source;
use super::cache::{Cache, Context};
use super::custom::{CustomTextures, GuestTexture, Replacement};
use super::kernels::params;
use crate::fragment::layout;
use crate::memory::{Memory, ranges};
use crate::raster::Chip;
use crate::raster::framebuffer::PixelBuffer;
use crate::raster::sample::{Image, Unit};
use crate::regs::Registers;
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
    /// A word each.
    pub buffer: Buffer,
    /// Texels along each axis for one of the guest's.
    pub scale: u32,
}

/// One image, or six of a cube.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Images {
    texture: Texture,
    faces: Option<[u32; 6]>,
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

    /// The texels of a unit; none if it reads none.
    pub fn get(
        &mut self,
        cx: &mut Context,
        cache: &mut Cache,
        regs: &Registers,
        unit: usize,
        memory: &mut dyn Memory,
    ) -> Result<Option<Texels>, Error> {
        let Unit::Image(image) = Unit::decode(regs, unit, Chip::default()) else { return Ok(None) };
        let images = Images { texture: image.texture, faces: image.kind.is_cube().then_some(image.faces) };
        let (generation, now) = (self.generation, cache.now());
        let touched: Vec<Range<u64>> =
            image.ranges().flat_map(|(address, len)| ranges(address, len.into())).collect();
        let owned = touched.iter().any(|range| cache.owns(range));
        if let Some(known) = self.known.get_mut(&images) {
            let unwritten = !touched.iter().any(|range| cache.written_since(range, known.moment));
            let is_same =
                |known: &Known| known.bytes.as_ref().is_some_and(|bytes| is_in(bytes, &*memory, &image));
            if unwritten && known.generation == generation || !owned && is_same(known) {
                (known.generation, known.moment) = (generation, now);
                return Ok(Some(known.texels.clone()));
            }
        }
        if owned {
            if let Some(place) = pixels_of(&image, &*memory) {
                return self.decode(cx, cache, memory, images, &image, place).map(Some);
            }
            for range in &touched {
                cache.flush(cx, memory, range)?;
            }
        }
        let Some(texels) = layout::texels(regs, unit, &*memory) else { return Ok(None) };
        let bytes: Vec<u8> = parts(&image).flat_map(|part| read(&*memory, part).to_vec()).collect();
        let replacement = self.replace(&image, &bytes, &texels);
        let (texels, scale) = replacement.map_or((texels, 1), |new| (new.texels, new.scale));
        let buffer = cx.device.buffer_of(&texels)?;
        cx.traffic.uploaded += 4 * texels.len() as u64;
        let texels = Texels { buffer, scale };
        for range in touched.iter().filter(|range| !range.is_empty()) {
            cache.mark_cached(memory, range);
        }
        let known = Known { bytes: Some(bytes), texels: texels.clone(), generation, moment: cache.now() };
        self.insert(images, known);
        Ok(Some(texels))
    }

    /// The embedder's replacement of a texture, if any.
    fn replace(&mut self, image: &Image, bytes: &[u8], texels: &[u32]) -> Option<Replacement> {
        let custom = self.custom.as_mut().filter(|_| !image.kind.is_cube() && !image.kind.is_shadow())?;
        let mut hash = [0; 16];
        hash.iter_mut().zip(blake3::hash(bytes).as_bytes()).for_each(|(to, from)| *to = *from);
        let Texture { width, height, format, .. } = image.texture;
        let texture = GuestTexture { hash, width, height, format, texels };
        custom(&texture).filter(|replacement| replacement.fits(&texture))
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
        let size = u64::from(texels) * 4 * image.ranges().count() as u64;
        // Commands are done in order: the old texels are no longer needed when new ones come.
        let known =
            self.known.get(&images).map(|known| &known.texels.buffer).filter(|old| old.size() == size);
        let buffer = known.map_or_else(|| cx.device.buffer(size), |known| Ok(known.clone()))?;
        for (number, (address, len)) in (0..).zip(image.ranges()) {
            let [range, _] = ranges(address, len.into());
            let place = PixelBuffer { address, bytes };
            let (_, source) = cache.pixels(cx, memory, place, len / bytes, &range)?;
            let words =
                params(&[width, height, format as u32, image.texture.tiles_per_row(), number * texels]);
            cx.batch.kernel(cx.device, &cx.kernels.texels, Source::Buffer(source), &buffer, &words, texels);
        }
        let (generation, moment) = (self.generation, cache.now());
        let texels = Texels { buffer, scale: 1 };
        self.insert(images, Known { bytes: None, texels: texels.clone(), generation, moment });
        Ok(texels)
    }
}

/// Bytes of a pixel of the copy that a texture is decoded from on the device; nothing if the CPU decodes its format, or it is
/// not all memory.
fn pixels_of(image: &Image, memory: &dyn Memory) -> Option<u32> {
    let bytes = match image.texture.format {
        Format::Rgba8 => 4,
        Format::Rgb8 => 3,
        Format::Rgb5A1 | Format::Rgb565 | Format::Rgba4 | Format::Ia8 | Format::Rg8 => 2,
        Format::I8 | Format::A8 | Format::Ia4 | Format::I4 | Format::A4 => 4,
        // Drawn pixels are hardly ever read as ETC1: they are brought to guest memory.
        Format::Etc1 | Format::Etc1A4 => return None,
    };
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
