//! Buffers of texels: of textures and images the only ones that the interpreter has memory for.

use crate::bindings::Bindings;
use crate::trap::Cause;
use xenoglot_ir::entity::packed_option::ReservedValue;
use xenoglot_ir::module::{ImageFormat, Texel};
use xenoglot_ir::{Bits, Op, Resource};

/// Components of 32 bits that a texel has; `None` for formats of narrower ones.
fn components(format: ImageFormat) -> Option<usize> {
    use ImageFormat::*;
    Some(match format {
        R32f | R32i | R32ui => 1,
        Rg32f | Rg32i | Rg32ui => 2,
        Rgba32f | Rgba32i | Rgba32ui => 4,
        _ => return None,
    })
}

/// The handle of a resource: its number, whether it is of an array, and the element.
pub(crate) fn handle(resource: Resource, element: Option<Bits>) -> Bits {
    let number = resource.as_u32().into();
    match element {
        None => Bits::scalar(number),
        Some(element) => Bits([number, 1, element.0[0], 0]),
    }
}

/// The bytes of a bound buffer of texels, and its components.
fn bound(bindings: &mut Bindings, op: Op, handle: Bits) -> Result<(&mut Vec<u8>, usize, Texel), Cause> {
    let number = handle.0[0] as u32;
    if Resource::reserved_value().as_u32() == number {
        return Err(Cause::Unsupported { op });
    }
    let resource = Resource::from_u32(number);
    let element = (handle.0[1] != 0).then_some(handle.0[2] as u32);
    let format = bindings.texel_format(resource, element).ok_or(Cause::UnboundResource { resource })?;
    let count = components(format).ok_or(Cause::Unsupported { op })?;
    let bytes = bindings.bound_mut(resource, element).ok_or(Cause::UnboundResource { resource })?;
    Ok((bytes, count, format.texel()))
}

/// A texel: zeros outside; what the format has no component for is 0, the fourth 1.
pub(crate) fn load(bindings: &mut Bindings, op: Op, handle: Bits, index: Bits) -> Result<Bits, Cause> {
    let (bytes, count, texel) = bound(bindings, op, handle)?;
    let (words, _) = bytes.as_chunks::<4>();
    let texels = words.chunks_exact(count);
    let Some(words) = texels.into_iter().nth(index.0[0] as usize) else { return Ok(Bits::default()) };
    let one = if texel == Texel::Float { 1.0f32.to_bits() } else { 1 };
    let mut out = Bits([0, 0, 0, one.into()]);
    out.0.iter_mut().zip(words).for_each(|(to, w)| *to = u32::from_le_bytes(*w).into());
    Ok(out)
}

/// Stores a texel; nothing outside.
pub(crate) fn store(
    bindings: &mut Bindings,
    op: Op,
    handle: Bits,
    index: Bits,
    value: Bits,
) -> Result<(), Cause> {
    let (bytes, count, _) = bound(bindings, op, handle)?;
    let (words, _) = bytes.as_chunks_mut::<4>();
    if let Some(words) = words.chunks_exact_mut(count).nth(index.0[0] as usize) {
        words.iter_mut().zip(value.0).for_each(|(to, v)| *to = (v as u32).to_le_bytes());
    }
    Ok(())
}
