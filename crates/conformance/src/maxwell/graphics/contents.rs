//! What shaders find in their buffers and textures: the same for a source and its translation.

use super::reflect::{Leaf, Scalar};
use super::source::{Block, Opaque};
use xenoglot_ir::imm::Dim;
use xenoglot_ir::module::Texel;
use xenoglot_maxwell::info::TextureBinding;
use xenoglot_vulkan::glslang::Stage;
use xenoglot_vulkan::{Contents, Numbers, TexelFormat, TextureContents, TextureShape};

/// Least bytes of a block.
const BLOCK_BYTES: usize = 0x2000;
/// Most bytes of a block.
const MAX_BLOCK_BYTES: usize = 0x1_0000;

/// Which numbers blocks hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Floats {
    /// Ones in steps, and small ones between them.
    Sparse,
    /// About a half.
    Middling,
    /// Distances.
    Large,
}

impl Floats {
    /// Those that shaders of a stage are tried with, until something is drawn.
    ///
    /// What a tessellator makes of a triangle goes by its distance from something.
    pub fn tried(stage: Stage) -> [Floats; 3] {
        match stage {
            Stage::TessControl => [Floats::Large, Floats::Middling, Floats::Sparse],
            _ => [Floats::Sparse, Floats::Middling, Floats::Large],
        }
    }
}

/// What blocks hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filling {
    /// Floats.
    pub floats: Floats,
    /// Added to integers that choose a way or count loops.
    pub round: u32,
}

/// Whether a block has integers of its own, which mostly choose a way.
pub(super) fn chooses(block: &Block) -> bool {
    !block.storage && block.layout.leaves.iter().any(|leaf| leaf.alone && leaf.scalar == Scalar::Int)
}

/// Bytes of a block as it is bound.
pub(super) fn block_bytes(block: &Block) -> usize {
    (block.layout.bytes as usize).next_multiple_of(256).clamp(BLOCK_BYTES, MAX_BLOCK_BYTES)
}

/// What a block holds: matrices near the identity, which keep what they transform in sight; small integers where integers
/// are, as they count loops; floats as asked.
pub(super) fn block(block: &Block, filling: Filling) -> Vec<u8> {
    let mut bytes = vec![0; block_bytes(block)];
    let layout = &block.layout;
    let mut own = 0;
    let mut put = |leaf: &Leaf, shift: u32, bytes: &mut [u8]| {
        let at = (leaf.offset.saturating_add(shift)) as usize;
        let i = at as u32 / 4;
        let hash = i.wrapping_mul(0x9e37_79b1);
        let small = (hash >> 28) as f32 * 0.004;
        let float = match (leaf.scalar, filling.floats) {
            (Scalar::Element(column, row), _) => {
                if column == row {
                    1.0
                } else {
                    small
                }
            }
            (_, Floats::Sparse) => {
                if (i % 16).is_multiple_of(5) {
                    1.0
                } else {
                    small
                }
            }
            (_, Floats::Middling) => 0.3 + small * 10.0,
            (_, Floats::Large) => 40.0,
        };
        let value: [u8; 8] = match leaf.scalar {
            Scalar::Double => (f64::from(i / 2) * 0.37 - 1.5).to_le_bytes(),
            Scalar::Long => u64::from(hash >> 28).to_le_bytes(),
            Scalar::Float | Scalar::Element(..) => u64::from(float.to_bits()).to_le_bytes(),
            Scalar::Int if block.storage => u64::from(hash >> 24).to_le_bytes(),
            Scalar::Int if leaf.alone => {
                own += 1;
                u64::from((own - 1 + filling.round) % ROUNDS).to_le_bytes()
            }
            Scalar::Int => u64::from(hash >> 28).to_le_bytes(),
        };
        let wide = matches!(leaf.scalar, Scalar::Double | Scalar::Long);
        let value = if wide { &value[..] } else { &value[..4] };
        if let Some(to) = at.checked_add(value.len()).and_then(|end| bytes.get_mut(at..end)) {
            to.copy_from_slice(value);
        }
    };
    let fixed = layout.repeated.map_or(layout.leaves.len(), |(first, _)| first);
    let (fixed, element) = layout.leaves.split_at(fixed.min(layout.leaves.len()));
    fixed.iter().for_each(|leaf| put(leaf, 0, &mut bytes));
    if let Some((_, stride)) = layout.repeated {
        for shift in (0..bytes.len() as u32).step_by(stride.max(4) as usize) {
            element.iter().for_each(|leaf| put(leaf, shift, &mut bytes));
        }
    }
    bytes
}

/// Draws with different integers.
pub(super) const ROUNDS: u32 = 5;

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

/// A texture of a shape, of which nothing else matters.
pub(super) fn any_texture(binding: &TextureBinding) -> Contents {
    let (dim, arrayed, multisampled) = (binding.dim, binding.arrayed, binding.multisampled);
    let any = Opaque {
        binding: 0,
        count: 1,
        shape: (dim, arrayed, multisampled),
        texel: binding.texel,
        shadow: binding.shadow,
        rect: false,
        format: None,
    };
    texture(&any, 0)
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
    for placed in places(blocks) {
        if placed.block.storage {
            let at = base + HANDLE_BYTES + 16 * placed.binding;
            put(at, placed.at as u32);
            put(at + 8, block_bytes(placed.block) as u32);
        } else if groups.is_some() {
            put(0x20 + 8 * placed.binding, placed.at as u32);
        }
    }
    bank
}

/// Places of samples that shaders look up.
const SAMPLES: u32 = 128;

/// Bytes of a stage's handles: 32 of textures, 8 of images.
const HANDLE_BYTES: u32 = 4 * 40;

/// Most elements of an array of blocks: more than there are bindings.
const MAX_ELEMENTS: u32 = 32;

/// An element of a block in global memory.
pub(super) struct Placed<'b> {
    pub block: &'b Block,
    /// Which element of an array of blocks.
    pub element: u32,
    /// Its own binding.
    pub binding: u32,
    /// Its byte address.
    pub at: usize,
}

/// Where blocks lie in global memory: one after the other, a block's room before the first.
pub(super) fn places(blocks: &[Block]) -> Vec<Placed<'_>> {
    let mut at = BLOCK_BYTES;
    let mut out = Vec::new();
    for block in blocks {
        for element in 0..block.count.min(MAX_ELEMENTS) {
            out.push(Placed { block, element, binding: block.binding.saturating_add(element), at });
            at += block_bytes(block);
        }
    }
    out
}

/// Global memory with the blocks.
pub(super) fn memory(blocks: &[Block], filling: Filling) -> Vec<u8> {
    let mut memory = vec![0; BLOCK_BYTES];
    for placed in places(blocks) {
        memory.resize(placed.at, 0);
        memory.extend(block(placed.block, filling));
    }
    // Room behind the last one.
    memory.resize(memory.len() + BLOCK_BYTES, 0);
    memory
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maxwell::graphics::source::Declarations;
    use xenoglot_vulkan::glslang;

    #[test]
    fn members_of_blocks_hold_what_they_are() {
        if !glslang::available() {
            return;
        }
        let source = "#version 450\nstruct S { vec2 at; int more; };\n\
            layout(std140, binding = 0) uniform U {\n\
            float scale; int loops; ivec2 size; mat3 m; double d; uint flags[2]; S s[2]; };\n\
            layout(std430, binding = 1) buffer B { float first; uint rest[]; };\n\
            layout(location = 0) out vec4 o; void main() {\n\
            o = vec4(m * vec3(scale), float(d)); for (int i = 0; i < loops + size.x + s[0].more; i++) o *= s[1].at.x;\n\
            rest[0] = flags[1] + uint(first); }";
        let words = glslang::compile_opengl(source, Stage::Fragment).unwrap();
        let found = Declarations::of_spirv(&words, Stage::Fragment).unwrap();
        let [uniform, storage] = &found.blocks[..] else { panic!("{:?}", found.blocks) };
        assert!(chooses(uniform) && !chooses(storage) && storage.storage);
        for round in 0..ROUNDS {
            let bytes = block(uniform, Filling { floats: Floats::Sparse, round });
            let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            assert_eq!(word(4), round, "the loop count goes by the round");
            for at in [8, 12, 80, 96, 120, 136] {
                assert!(word(at) < 16, "word at {at} is {:#x}", word(at));
            }
            assert_eq!(
                [16, 20, 36, 56].map(word),
                [1f32.to_bits(), word(20), 1f32.to_bits(), 1f32.to_bits()]
            );
            assert!(f32::from_bits(word(20)) < 0.1);
            let double = f64::from_le_bytes(bytes[64..72].try_into().unwrap());
            assert!(double.abs() < 100.0, "{double}");
        }
        let bytes = block(storage, Filling { floats: Floats::Middling, round: 0 });
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert!((0.2..1.0).contains(&f32::from_bits(word(0))));
        assert!((1..BLOCK_BYTES / 4).all(|i| word(4 * i) < 256));
        assert!((1..BLOCK_BYTES / 4).any(|i| word(4 * i) > 0));
    }

    #[test]
    fn every_element_of_an_array_of_blocks_has_its_place() {
        let of = |binding, count, bytes| Block {
            binding,
            count,
            storage: true,
            layout: super::super::reflect::Layout { bytes, ..Default::default() },
        };
        let blocks = [of(0, 3, 16), of(9, 1, 0x3000), of(4, 1, 4)];
        let placed: Vec<(u32, usize)> = places(&blocks).iter().map(|p| (p.binding, p.at)).collect();
        assert_eq!(placed, [(0, 0x2000), (1, 0x4000), (2, 0x6000), (9, 0x8000), (4, 0xb000)]);
        let memory = memory(&blocks, Filling { floats: Floats::Sparse, round: 0 });
        assert_eq!(memory.len(), 0xd000 + BLOCK_BYTES);
    }
}
