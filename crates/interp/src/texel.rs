//! Buffers of texels: of textures and images the only ones that the interpreter has memory for.

use crate::bindings::Bindings;
use crate::memory::updated;
use crate::trap::Cause;
use xenoglot_ir::entity::packed_option::ReservedValue;
use xenoglot_ir::module::{ImageFormat, Texel};
use xenoglot_ir::{Bits, Op, Resource, Type};

/// How many components a texel has, and the bytes of one; `None` for formats with less than 4.
fn components(format: ImageFormat) -> Option<(usize, usize)> {
    use ImageFormat::*;
    Some(match format {
        R32f | R32i | R32ui => (1, 4),
        Rg32f | Rg32i | Rg32ui => (2, 4),
        Rgba32f | Rgba32i | Rgba32ui => (4, 4),
        R64i | R64ui => (1, 8),
        _ => return None,
    })
}

/// A bound buffer of texels.
struct Texels<'b> {
    bytes: &'b mut Vec<u8>,
    components: usize,
    /// Bytes of a component.
    width: usize,
    kind: Texel,
}

/// The handle of a resource: its number, whether it is of an array, and the element.
pub(crate) fn handle(resource: Resource, element: Option<Bits>) -> Bits {
    let number = resource.as_u32().into();
    match element {
        None => Bits::scalar(number),
        Some(element) => Bits([number, 1, element.0[0], 0]),
    }
}

fn bound(bindings: &mut Bindings, op: Op, handle: Bits) -> Result<Texels<'_>, Cause> {
    let number = handle.0[0] as u32;
    if Resource::reserved_value().as_u32() == number {
        return Err(Cause::Unsupported { op });
    }
    let resource = Resource::from_u32(number);
    let element = (handle.0[1] != 0).then_some(handle.0[2] as u32);
    let format = bindings.texel_format(resource, element).ok_or(Cause::UnboundResource { resource })?;
    let (components, width) = components(format).ok_or(Cause::Unsupported { op })?;
    let bytes = bindings.bound_mut(resource, element).ok_or(Cause::UnboundResource { resource })?;
    Ok(Texels { bytes, components, width, kind: format.texel() })
}

/// A texel: zeros outside; what the format has no component for is 0, the fourth 1.
pub(crate) fn load(bindings: &mut Bindings, op: Op, handle: Bits, index: Bits) -> Result<Bits, Cause> {
    let Texels { bytes, components, width, kind } = bound(bindings, op, handle)?;
    let texel = bytes.chunks_exact(components * width).nth(index.0[0] as usize);
    let Some(texel) = texel else { return Ok(Bits::default()) };
    let one = if kind == Texel::Float { 1.0f32.to_bits() } else { 1 };
    let mut out = Bits([0, 0, 0, one.into()]);
    for (to, bytes) in out.0.iter_mut().zip(texel.chunks_exact(width)) {
        *to = component(bytes);
    }
    Ok(out)
}

/// Changes a texel of one component, and gives what it was: 0 outside, where nothing is changed.
pub(crate) fn atomic(
    bindings: &mut Bindings,
    op: Op,
    ty: Type,
    handle: Bits,
    index: Bits,
    operands: [u64; 2],
) -> Result<Bits, Cause> {
    let Texels { bytes, components, width, .. } = bound(bindings, op, handle)?;
    let of_memory = op.atomic_on_memory().filter(|_| components == 1 && ty.bytes() == Some(width as u32));
    let of_memory = of_memory.ok_or(Cause::Unsupported { op })?;
    let Some(texel) = bytes.chunks_exact_mut(width).nth(index.0[0] as usize) else {
        return Ok(Bits::default());
    };
    let old = component(texel);
    write(texel, updated(of_memory, ty, old, operands)?);
    Ok(Bits::scalar(old))
}

fn component(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |v, &byte| v << 8 | u64::from(byte))
}

fn write(to: &mut [u8], v: u64) {
    to.iter_mut().zip(v.to_le_bytes()).for_each(|(to, byte)| *to = byte);
}

/// Stores a texel; nothing outside.
pub(crate) fn store(
    bindings: &mut Bindings,
    op: Op,
    handle: Bits,
    index: Bits,
    value: Bits,
) -> Result<(), Cause> {
    let Texels { bytes, components, width, .. } = bound(bindings, op, handle)?;
    if let Some(texel) = bytes.chunks_exact_mut(components * width).nth(index.0[0] as usize) {
        texel.chunks_exact_mut(width).zip(value.0).for_each(|(to, v)| write(to, v));
    }
    Ok(())
}
