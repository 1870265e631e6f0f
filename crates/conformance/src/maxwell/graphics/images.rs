//! Storage images of a source and its translation: what is in them before, and whether the same is in them afterwards.

use super::contents::component;
use super::source::{Declarations, Opaque};
use super::{near, words};
use crate::vulkan::texel_format;
use xenoglot_ir::imm::Dim;
use xenoglot_ir::module::{ImageFormat, Texel};
use xenoglot_maxwell::info::ImageBinding;
use xenoglot_maxwell::lift::Lifted;
use xenoglot_vulkan::{
    Contents, DescriptorSlot, ImageContents, Numbers, TexelFormat, TextureContents, TextureShape,
};

/// Width and height of images: as large as targets, and larger than what workgroups reach.
const SIZE: u32 = 64;
/// Depth of images, and layers of those that have any.
const LAYERS: u32 = 4;
/// Texels of a buffer.
const BUFFER_TEXELS: u32 = 256;
/// Neighbours in a buffer that are alike. Invocations copy between texels that others of their workgroup write; what comes
/// of that does not go by their order where those they read are alike.
const ALIKE: u32 = 8;

/// How images see their texels: dimensions, layers, and format.
type View = (Dim, bool, ImageFormat);

/// What the components of a format are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    /// Integers of so many bits.
    Integers(u32),
    /// Fractions of so many bits.
    Fractions(u32),
    Singles,
    Halves,
    /// Components of different widths, in one word.
    Packed,
}

fn parts(format: ImageFormat) -> (u32, Parts) {
    use ImageFormat::*;
    match format {
        Rgba32f | Unknown => (4, Parts::Singles),
        Rg32f => (2, Parts::Singles),
        R32f => (1, Parts::Singles),
        Rgba16f => (4, Parts::Halves),
        Rg16f => (2, Parts::Halves),
        R16f => (1, Parts::Halves),
        R11fG11fB10f | Rgb10A2 => (1, Parts::Packed),
        Rgba16 => (4, Parts::Fractions(16)),
        Rg16 => (2, Parts::Fractions(16)),
        R16 => (1, Parts::Fractions(16)),
        Rgba8 | Rgba8Snorm => (4, Parts::Fractions(8)),
        Rg8 => (2, Parts::Fractions(8)),
        R8 => (1, Parts::Fractions(8)),
        Rgba32i | Rgba32ui | UnknownSint | UnknownUint => (4, Parts::Integers(32)),
        Rg32i | Rg32ui => (2, Parts::Integers(32)),
        R32i | R32ui => (1, Parts::Integers(32)),
        Rgba16i | Rgba16ui => (4, Parts::Integers(16)),
        Rg16i | Rg16ui => (2, Parts::Integers(16)),
        R16i | R16ui => (1, Parts::Integers(16)),
        Rgba8i | Rgba8ui => (4, Parts::Integers(8)),
        Rg8i | Rg8ui => (2, Parts::Integers(8)),
        R8i | R8ui => (1, Parts::Integers(8)),
        R64i | R64ui => (1, Parts::Integers(64)),
    }
}

/// A positive single below 2¹⁶ and not below 2⁻¹⁴ as a half, cut off.
fn half(single: f32) -> u32 {
    (single.to_bits() - 0x3800_0000) >> 13
}

/// Bytes of a texel.
fn texel(format: ImageFormat, at: [u32; 3], layer: u32, seed: u32) -> Vec<u8> {
    let (count, kind) = parts(format);
    let float = |c| f32::from_bits(component(Numbers::Float, at, layer, 0, c, seed));
    let integers = match format.texel() {
        Texel::Sint => Numbers::Signed,
        _ => Numbers::Unsigned,
    };
    let integer = |c| component(integers, at, layer, 0, c, seed);
    let part = |c| match kind {
        Parts::Singles => float(c).to_bits().to_le_bytes().to_vec(),
        Parts::Halves => (half(float(c)) as u16).to_le_bytes().to_vec(),
        Parts::Fractions(8) => vec![(float(c) * 127.0) as u8],
        Parts::Fractions(_) => ((float(c) * 32767.0) as u16).to_le_bytes().to_vec(),
        Parts::Packed if format == ImageFormat::R11fG11fB10f => {
            let word = half(float(0)) >> 4 | half(float(1)) >> 4 << 11 | half(float(2)) >> 5 << 22;
            word.to_le_bytes().to_vec()
        }
        Parts::Packed => {
            let tenth = |c| (float(c) * 1023.0) as u32;
            let word = tenth(0) | tenth(1) << 10 | tenth(2) << 20 | (at[0] + layer) << 30;
            word.to_le_bytes().to_vec()
        }
        Parts::Integers(bits) => {
            let number = i64::from(integer(c) as i32).to_le_bytes();
            number.into_iter().take(bits as usize / 8).collect()
        }
    };
    (0..count).flat_map(part).collect()
}

/// The format of an image whose source names none.
fn known(format: ImageFormat, texel: Texel) -> ImageFormat {
    match (format, texel) {
        (ImageFormat::Unknown | ImageFormat::UnknownSint, Texel::Sint) => ImageFormat::Rgba32i,
        (ImageFormat::Unknown | ImageFormat::UnknownUint, Texel::Uint) => ImageFormat::Rgba32ui,
        (ImageFormat::Unknown, Texel::Float) => ImageFormat::Rgba32f,
        _ => format,
    }
}

/// How a source sees an image.
fn declared(image: &Opaque) -> View {
    let format = known(image.format.unwrap_or(ImageFormat::Unknown), image.texel);
    (image.shape.0, image.shape.1, format)
}

/// Width, height and depth of an image, and its layers.
fn extent(image: &Opaque) -> ([u32; 3], u32) {
    let (dim, arrayed, _) = image.shape;
    match dim {
        Dim::D1 => ([SIZE, 1, 1], if arrayed { LAYERS } else { 1 }),
        Dim::D3 => ([SIZE, SIZE, LAYERS], 1),
        Dim::Cube => ([SIZE, SIZE, 1], if arrayed { 12 } else { 6 }),
        Dim::Buffer => ([BUFFER_TEXELS, 1, 1], 1),
        _ => ([SIZE, SIZE, 1], if arrayed { LAYERS } else { 1 }),
    }
}

fn shape(dim: Dim) -> TextureShape {
    match dim {
        Dim::D1 => TextureShape::D1,
        Dim::D3 => TextureShape::D3,
        Dim::Cube => TextureShape::Cube,
        _ => TextureShape::D2,
    }
}

/// An element of an image, seen in some way. A cube's faces may be seen as layers, and texels as others of the same size.
fn seen(image: &Opaque, element: u32, (dim, arrayed, format): View) -> Result<Contents, String> {
    let (of_dim, _, of_format) = declared(image);
    let (Some(stored), Some(seen)) = (texel_format(of_format), texel_format(format)) else {
        return Err("an image without a format".into());
    };
    if image.shape.2 || stored.bytes() != seen.bytes() {
        return Err("images of several samples, or seen as texels of another size, are not bound".into());
    }
    let (size, layers) = extent(image);
    let seed = image.binding + element;
    let [width, height, depth] = size;
    let mut texels = Vec::with_capacity((width * height * depth * layers * stored.bytes()) as usize);
    for (layer, z) in (0..layers).flat_map(|layer| (0..depth).map(move |z| (layer, z))) {
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let x = if of_dim == Dim::Buffer { x / ALIKE } else { x };
            texels.extend(texel(of_format, [x, y, z], layer, seed));
        }
    }
    if dim == Dim::Buffer {
        return Ok(Contents::Texels(seen, texels));
    }
    Ok(Contents::Image(ImageContents {
        shape: shape(dim),
        arrayed,
        format: seen,
        size,
        layers,
        samples: 1,
        texels,
    }))
}

/// A texture as large as an image: its size is what a translation asks a texture for.
pub(super) fn sized(image: &Opaque) -> Contents {
    let (dim, arrayed, _) = image.shape;
    let (size, layers) = extent(image);
    let count: u32 = size.iter().product();
    let texels = vec![0; (count * layers * 16) as usize];
    if dim == Dim::Buffer {
        return Contents::Texels(TexelFormat::R32G32B32A32Uint, texels);
    }
    let numbers = match image.texel {
        Texel::Float => Numbers::Float,
        Texel::Sint => Numbers::Signed,
        Texel::Uint => Numbers::Unsigned,
    };
    let shape = shape(dim);
    Contents::Texture(TextureContents {
        shape,
        arrayed,
        numbers,
        size,
        layers,
        levels: 1,
        samples: 1,
        texels,
    })
}

/// The elements of an image as its source sees them.
pub(super) fn of_source(image: &Opaque) -> Result<Vec<Contents>, String> {
    (0..image.count).map(|element| seen(image, element, declared(image))).collect()
}

/// What a translation's descriptor of an image stands for.
struct Behind<'a> {
    /// The source's image, and which element.
    image: &'a Opaque,
    element: u32,
    here: &'a ImageBinding,
    /// The binding where the translation sees it first, as its machine code may load integers of what it stores as floats.
    first: &'a ImageBinding,
}

fn behind<'a>(
    declarations: &'a Declarations,
    lifted: &'a Lifted,
    slot: DescriptorSlot,
    base: u32,
) -> Result<Behind<'a>, String> {
    let images = &lifted.info.images;
    let here = images.iter().find(|i| i.binding == slot.binding).ok_or("an image without a description")?;
    let source = |i: &ImageBinding| declarations.image(base, i.handle.texture.offset);
    let place = |(image, element): (&Opaque, u32)| (image.binding, element);
    let offset = here.handle.texture.offset;
    let (image, element) = source(here).ok_or(format!("no image has a handle at {offset:#x}"))?;
    let is_same = |i: &&ImageBinding| source(i).map(place) == Some((image.binding, element));
    let first = images.iter().find(is_same).unwrap_or(here);
    if (first.dim, first.arrayed) != (here.dim, here.arrayed) {
        return Err("an image that is seen in several shapes".into());
    }
    Ok(Behind { image, element, here, first })
}

/// What a translation's descriptor of an image is bound to.
pub(super) fn of_translation(
    declarations: &Declarations,
    lifted: &Lifted,
    slot: DescriptorSlot,
    base: u32,
) -> Result<Vec<Contents>, String> {
    let Behind { image, element, here, first } = behind(declarations, lifted, slot, base)?;
    let format = known(here.format, image.texel);
    if here.binding != first.binding {
        let format = texel_format(format).ok_or("an image without a format")?;
        let (set, binding) = (slot.set, first.binding);
        return Ok(vec![Contents::View(xenoglot_vulkan::View { set, binding, element: 0, format })]);
    }
    Ok(vec![seen(image, element, (here.dim, here.arrayed, format))?])
}

/// Where the source of a translation's descriptor binds the image: binding, element, and its format. None of an image that
/// the translation sees at an earlier binding.
pub(super) fn place(
    declarations: &Declarations,
    lifted: &Lifted,
    slot: DescriptorSlot,
    base: u32,
) -> Result<Option<(u32, u32, ImageFormat)>, String> {
    let Behind { image, element, here, first } = behind(declarations, lifted, slot, base)?;
    let place = (image.binding, element, declared(image).2);
    Ok((here.binding == first.binding).then_some(place))
}

/// What differs between texels: integers and packed components by a bit, others by more than targets may, which is a
/// step of a component of 8 bits.
pub(super) fn difference(format: ImageFormat, want: &[u8], got: &[u8]) -> Option<String> {
    let bytes = texel_format(format).map_or(4, TexelFormat::bytes) as usize;
    let wide = |chunk: &[u8]| chunk.iter().rev().fold(0, |n: u64, &b| n << 8 | u64::from(b));
    let steps = |width: usize, most: u64, want: &[u8], got: &[u8]| {
        want.chunks(width).zip(got.chunks(width)).all(|(a, b)| wide(a).abs_diff(wide(b)) <= most)
    };
    let same = |want: &[u8], got: &[u8]| match parts(format).1 {
        _ if want == got => true,
        Parts::Singles => words(want).into_iter().zip(words(got)).all(|(a, b)| near(false, a, b)),
        // Four units of a half's last place are 1/256 of it.
        Parts::Halves => steps(2, 4, want, got),
        Parts::Fractions(8) => steps(1, 1, want, got),
        Parts::Fractions(_) => steps(2, 0x101, want, got),
        Parts::Integers(_) | Parts::Packed => false,
    };
    let texels = want.chunks(bytes).zip(got.chunks(bytes)).enumerate();
    let differing: Vec<_> = texels.filter(|(_, (want, got))| !same(want, got)).collect();
    let (at, (want, got)) = differing.first()?;
    Some(format!("{} texels differ, the first at {at}: {got:02x?}, not {want:02x?}", differing.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_differ_by_a_bit_and_fractions_by_more_than_a_step() {
        let differ = |format, want: &[u8], got: &[u8]| difference(format, want, got).is_some();
        assert!(differ(ImageFormat::R32ui, &[1, 0, 0, 0], &[2, 0, 0, 0]));
        assert!(!differ(ImageFormat::R32ui, &[1, 0, 0, 0], &[1, 0, 0, 0]));
        assert!(!differ(ImageFormat::Rgba8, &[1, 9, 0, 255], &[2, 8, 0, 255]));
        assert!(differ(ImageFormat::Rgba8, &[1, 0, 0, 0], &[3, 0, 0, 0]));
        assert!(!differ(ImageFormat::R16f, &0x3c00_u16.to_le_bytes(), &0x3c04_u16.to_le_bytes()));
        assert!(differ(ImageFormat::R16f, &0x3c00_u16.to_le_bytes(), &0x3c05_u16.to_le_bytes()));
        assert!(differ(ImageFormat::Rgb10A2, &[0; 4], &[0, 0, 0, 1]));
        let (one, more) = (1_f32.to_le_bytes(), 1.01_f32.to_le_bytes());
        assert!(differ(ImageFormat::R32f, &one, &more));
    }

    #[test]
    fn texels_are_as_large_as_their_formats_say() {
        for &format in ImageFormat::ALL {
            let Some(texels) = texel_format(format) else { continue };
            assert_eq!(texel(format, [1, 2, 3], 1, 2).len(), texels.bytes() as usize, "{format:?}");
        }
    }

    #[test]
    fn halves_are_those_of_the_standard() {
        assert_eq!([1.0, 0.5, 0.25, 1.5].map(half), [0x3c00, 0x3800, 0x3400, 0x3e00]);
    }
}
