//! What shaders find in their buffers and textures: the same for a source and its translation.

use super::source::{Block, Opaque};
use xenoglot_ir::imm::Dim;
use xenoglot_ir::module::Texel;
use xenoglot_vulkan::{Contents, Numbers, TexelFormat, TextureContents, TextureShape};

/// Bytes of a block.
pub(super) const BLOCK_BYTES: usize = 0x2000;

/// The words of a block: matrices near the identity, which keep what they transform in sight; small integers; doubles.
/// An integer in front, which mostly chooses a way, is `round`.
pub(super) fn block(block: &Block, round: u32) -> Vec<u8> {
    let members = block.members.trim_start();
    let has = |ty: &str| members.contains(ty);
    let words: Vec<u32> = if has("double") {
        let value = |i: u32| (f64::from(i) * 0.37 - 1.5).to_bits();
        (0..BLOCK_BYTES as u32 / 8).flat_map(|i| [value(i) as u32, (value(i) >> 32) as u32]).collect()
    } else if has("uint ") || has("ivec4") {
        (0..BLOCK_BYTES as u32 / 4).map(|i| i.wrapping_mul(0x9e37_79b1) >> 24).collect()
    } else {
        // What a tessellator makes of a triangle goes by its distance from the eye.
        let value = |i: u32| match (has("eye"), i % 16 % 5) {
            (true, _) => 40.0,
            (false, 0) => 1.0,
            _ => (i.wrapping_mul(0x9e37_79b1) >> 28) as f32 * 0.004,
        };
        let first = if members.starts_with("int ") { round } else { value(0).to_bits() };
        std::iter::once(first).chain((1..BLOCK_BYTES as u32 / 4).map(|i| value(i).to_bits())).collect()
    };
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn numbers(o: &Opaque) -> Numbers {
    match o.texel {
        _ if o.shadow => Numbers::Depth,
        Texel::Float => Numbers::Float,
        Texel::Sint => Numbers::Signed,
        Texel::Uint => Numbers::Unsigned,
    }
}

/// A component of a texel: waves, so that filters that differ by a bit give nearly the same.
pub(super) fn component(
    numbers: Numbers,
    at: [u32; 3],
    layer: u32,
    level: u32,
    channel: u32,
    seed: u32,
) -> u32 {
    let [x, y, z] = at;
    match numbers {
        Numbers::Float | Numbers::Depth => {
            let phase =
                x as f32 * 0.35 + y as f32 * 0.2 + z as f32 * 0.3 + (layer + channel + seed) as f32 * 0.7;
            (0.5 + 0.4 * (phase * (1 << level) as f32).sin()).to_bits()
        }
        Numbers::Unsigned => (x * 3 + y * 5 + z * 7 + layer * 11 + channel + seed) % 16,
        Numbers::Signed => ((x * 3 + y * 5 + z * 7 + layer * 11 + channel + seed) % 16).wrapping_sub(8),
    }
}

/// The texture behind an element of a sampler.
pub(super) fn texture(o: &Opaque, element: u32) -> Contents {
    let (dim, arrayed, multisampled) = o.shape;
    let (numbers, seed) = (numbers(o), o.binding + element);
    let texel = |at, layer, level| {
        let channels = if numbers == Numbers::Depth { 1 } else { 4 };
        (0..channels).flat_map(move |c| component(numbers, at, layer, level, c, seed).to_le_bytes())
    };
    let (shape, size, layers) = match dim {
        Dim::D1 => (TextureShape::D1, [32, 1, 1], if arrayed { 4 } else { 1 }),
        Dim::D3 => (TextureShape::D3, [16, 16, 16], 1),
        Dim::Cube => (TextureShape::Cube, [16, 16, 1], if arrayed { 12 } else { 6 }),
        Dim::Buffer => {
            let format = match numbers {
                Numbers::Signed => TexelFormat::R32G32B32A32Sint,
                Numbers::Unsigned => TexelFormat::R32G32B32A32Uint,
                Numbers::Float | Numbers::Depth => TexelFormat::R32G32B32A32Sfloat,
            };
            return Contents::Texels(format, (0..256).flat_map(|x| texel([x, 0, 0], 0, 0)).collect());
        }
        _ => (TextureShape::D2, [32, 32, 1], if arrayed { 4 } else { 1 }),
    };
    let levels = if multisampled { 1 } else { 1 + u32::ilog2(size[0]) };
    let mut texels = Vec::new();
    for level in 0..levels {
        let [width, height, depth] = size.map(|n: u32| (n >> level).max(1));
        for layer in 0..layers {
            for (z, y, x) in
                (0..depth).flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| (z, y, x))))
            {
                texels.extend(texel([x, y, z], layer, level));
            }
        }
    }
    let samples = if multisampled { 4 } else { 1 };
    Contents::Texture(TextureContents { shape, arrayed, numbers, size, layers, levels, samples, texels })
}

/// What the driver keeps in constant bank 0: handles, which are not looked at, and where storage blocks lie.
///
/// Workgroups are counted at 0x0c in compute. Fragment shaders find samples at 0x830, as halfwords with a coordinate in
/// sixteenths at bit 12 and below it what IPA takes as an offset from the centre; all are at the centre here.
pub(super) fn driver_bank(base: u32, blocks: &[Block], groups: Option<[u32; 3]>) -> Vec<u8> {
    let mut bank = vec![0; 0x1_0000];
    let mut put = |at: u32, word: u32| {
        if let Some(bytes) = bank.get_mut(at as usize..at as usize + 4) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    };
    for (i, n) in (0..).zip(groups.into_iter().flatten()) {
        put(0x0c + 4 * i, n);
    }
    (0..SAMPLES).for_each(|i| put(0x830 + 4 * i, 0x8000_8000));
    for block in blocks {
        if block.storage {
            let at = base + HANDLE_BYTES + 16 * block.binding;
            put(at, place(block));
            put(at + 8, BLOCK_BYTES as u32);
        } else if groups.is_some() {
            put(0x20 + 8 * block.binding, place(block));
        }
    }
    bank
}

/// Places of samples that shaders look up.
const SAMPLES: u32 = 128;

/// Bytes of a stage's handles: 32 of textures, 8 of images.
const HANDLE_BYTES: u32 = 4 * 40;

/// Where a block lies in global memory.
pub(super) fn place(block: &Block) -> u32 {
    (1 + block.binding + if block.storage { 0 } else { 16 }) * BLOCK_BYTES as u32
}

/// Global memory with the blocks.
pub(super) fn memory(blocks: &[Block], round: u32) -> Vec<u8> {
    let mut memory = vec![0; 34 * BLOCK_BYTES];
    for b in blocks {
        let at = place(b) as usize;
        if let Some(bytes) = memory.get_mut(at..at + BLOCK_BYTES) {
            bytes.copy_from_slice(&block(b, round));
        }
    }
    memory
}
