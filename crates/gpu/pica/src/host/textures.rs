//! Decoded textures on the device, by what is in guest memory.

use rustc_hash::FxHashMap;
use xenoglot_host::{Buffer, Device, Error};

use crate::fragment::layout;
use crate::memory::Memory;
use crate::raster::Chip;
use crate::raster::sample::{Image, Unit};
use crate::regs::Registers;
use crate::texture::Texture;

/// Bytes of guest memory and of the device after which all textures are forgotten.
const CAPACITY: usize = 256 << 20;

/// Textures that were used.
///
/// Guest memory may change between calls without notice: in a call, a texture is compared with guest memory before it
/// is used first.
#[derive(Debug, Default)]
pub struct Textures {
    known: FxHashMap<Images, Known>,
    size: usize,
    generation: u64,
}

/// One image, or six of a cube.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Images {
    texture: Texture,
    faces: Option<[u32; 6]>,
}

#[derive(Debug)]
struct Known {
    bytes: Vec<u8>,
    buffer: Buffer,
    /// When the bytes were last compared.
    generation: u64,
}

impl Textures {
    /// Guest memory may have changed.
    pub fn invalidate(&mut self) {
        self.generation += 1;
    }

    /// The texels of a unit; none if it reads none.
    pub fn get(
        &mut self,
        device: &Device,
        regs: &Registers,
        unit: usize,
        memory: &dyn Memory,
    ) -> Result<Option<Buffer>, Error> {
        let Unit::Image(image) = Unit::decode(regs, unit, Chip::default()) else { return Ok(None) };
        let images = Images { texture: image.texture, faces: image.kind.is_cube().then_some(image.faces) };
        let generation = self.generation;
        let known = self.known.get_mut(&images);
        if let Some(known) = known.filter(|k| k.generation == generation || k.is_in(memory, &image)) {
            known.generation = generation;
            return Ok(Some(known.buffer.clone()));
        }
        let Some(texels) = layout::texels(regs, unit, memory) else { return Ok(None) };
        let buffer = device.buffer_of(&texels)?;
        let bytes: Vec<u8> = parts(&image).flat_map(|part| read(memory, part).to_vec()).collect();
        if self.size > CAPACITY {
            self.known.clear();
            self.size = 0;
        }
        self.size += bytes.len() + 4 * texels.len();
        let known = Known { bytes, buffer: buffer.clone(), generation };
        if let Some(old) = self.known.insert(images, known) {
            self.size -= old.bytes.len() + 4 * texels.len();
        }
        Ok(Some(buffer))
    }
}

impl Known {
    fn is_in(&self, memory: &dyn Memory, image: &Image) -> bool {
        let mut rest = self.bytes.as_slice();
        parts(image).all(|part| {
            let now = read(memory, part);
            let (then, tail) = rest.split_at(rest.len().min(now.len()));
            rest = tail;
            then == now
        })
    }
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
