//! Where handles of textures and images come from, and the resources made of them.
//!
//! A bound instruction names a word of the bank of handles. One with the handle in a register is bound, too, if the
//! register's value was loaded from a constant bank: from a word, from an array of words by an index, or combined of a
//! texture's and a sampler's part. Any other is the number of an element of a table.

use super::Unsupported;
use super::bindless::{Traced, masked_length, traced};
use super::cx::{Cx, Lift, operand};
use super::layout::{IMAGE_BINDING, MAX_RESOURCES, TEXTURE_BINDING};
use crate::gpu::{ConstantWord, Handle, Shape};
use crate::info::{ImageBinding, TextureBinding};
use crate::inst::{Inst, Role, Value as Named};
use xenoglot_ir::imm::Dim;
use xenoglot_ir::module::{Access, Count, ImageFormat, OutOfBounds, ResourceData, ResourceKind, Texel};
use xenoglot_ir::{Flags, Imm, Kind, Op, Resource, Type, Value};

/// Most handles in an array whose length nobody tells.
pub(super) const DEFAULT_ARRAY: u32 = 16;

/// Longest array of handles, and the table's length where nobody tells it.
pub(super) const MAX_ARRAY: u32 = 1024;

/// The bits of a handle with the number of the texture's or image's descriptor. Above is the sampler's.
const DESCRIPTOR: u32 = 0xf_ffff;

/// A handle, or an element of an array of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub handle: Handle,
    /// The element's number and how many there are.
    pub element: Option<(Value, u32)>,
}

/// Textures and images that have been made, with what tells them apart.
#[derive(Default)]
pub(super) struct Bound {
    pub textures: Vec<(TextureBinding, Resource)>,
    pub images: Vec<(ImageBinding, Resource)>,
}

/// What a texture is declared as.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declared {
    pub shape: Shape,
    pub shadow: bool,
    pub texel: Texel,
}

impl Cx<'_> {
    /// The handle that an instruction names by a word's number.
    pub fn bound_handle(&self, word: u32) -> Source {
        let texture = ConstantWord { bank: self.io.gpu.handle_bank(), offset: 4 * word };
        Source { handle: Handle { texture, sampler: None }, element: None }
    }

    /// The handle operand of an instruction that takes no other from a tuple.
    pub fn handle_operand(&mut self, inst: &Inst) -> Lift<Source> {
        match operand(inst, Role::Handle)?.value {
            Named::Imm(word) => Ok(self.bound_handle(word)),
            Named::Reg(n) => {
                let v = self.reg(n);
                self.trace(v)
            }
            _ => Err(Unsupported),
        }
    }

    /// Where a handle in a register comes from. One that is not seen to come from a constant bank names an element of a
    /// table ([`Handle::TABLE`]); [`super::trace_handles`] looks again when all of the program is there.
    pub fn trace(&mut self, v: Value) -> Lift<Source> {
        let banks = &self.banks;
        let bank_of = |resource| {
            let bank = banks.iter().position(|b| *b == Some(resource))?;
            u8::try_from(bank).ok()
        };
        let (handle, index, length) = match traced(self.b.func, &bank_of, v) {
            Some(Traced::One(handle)) => return Ok(Source { handle, element: None }),
            Some(Traced::Array { handle, index }) => {
                let two = self.number(2);
                let length = masked_length(self.b.func, index).unwrap_or(DEFAULT_ARRAY);
                (handle, self.op(Op::Ushr, &[index, two]), length)
            }
            None => {
                let number = self.number(DESCRIPTOR);
                (Handle::TABLE, self.op(Op::And, &[v, number]), MAX_ARRAY)
            }
        };
        let count = self.io.gpu.array_length(handle).unwrap_or(length).clamp(1, MAX_ARRAY);
        let last = self.number(count - 1);
        let element = self.op(Op::Umin, &[index, last]);
        Ok(Source { handle, element: Some((element, count)) })
    }

    /// A handle of the IR for a texture.
    pub fn texture_handle(&mut self, source: Source, what: Declared) -> Lift<Value> {
        let Shape { dim, arrayed, multisampled } = what.shape;
        let count = source.element.map(|(_, count)| count);
        let same = |t: &TextureBinding| {
            t.handle == source.handle
                && (t.dim, t.arrayed, t.multisampled) == (dim, arrayed, multisampled)
                && (t.shadow, t.texel, t.count) == (what.shadow, what.texel, count)
        };
        let known = self.bound.textures.iter().find(|(t, _)| same(t)).map(|(_, r)| *r);
        let resource = match known {
            Some(resource) => resource,
            None => {
                let n = self.bound.textures.len() as u32;
                if n >= MAX_RESOURCES {
                    return Err(Unsupported);
                }
                let resource = self.module.resources.push(ResourceData {
                    name: format!("tex{n}"),
                    kind: ResourceKind::Texture { dim, arrayed, multisampled, texel: what.texel },
                    set: self.options.set,
                    binding: TEXTURE_BINDING + n,
                    count: count.map_or(Count::One, Count::Fixed),
                    oob: OutOfBounds::Zero,
                });
                let binding = TextureBinding {
                    handle: source.handle,
                    binding: TEXTURE_BINDING + n,
                    count,
                    dim,
                    arrayed,
                    multisampled,
                    shadow: what.shadow,
                    texel: what.texel,
                    flat_cube: false,
                };
                self.bound.textures.push((binding, resource));
                resource
            }
        };
        Ok(self.resource_handle(resource, source, Kind::Tex))
    }

    /// A handle of the IR for an image.
    pub fn image_handle(
        &mut self,
        source: Source,
        (dim, arrayed): (Dim, bool),
        format: ImageFormat,
        writes: bool,
    ) -> Lift<Value> {
        let count = source.element.map(|(_, count)| count);
        let same = |i: &ImageBinding| {
            i.handle == source.handle
                && (i.dim, i.arrayed, i.format, i.count) == (dim, arrayed, format, count)
        };
        let known = self.bound.images.iter_mut().find(|(i, _)| same(i));
        let resource = match known {
            Some((binding, resource)) => {
                binding.written |= writes;
                *resource
            }
            None => {
                let n = self.bound.images.len() as u32;
                if n >= MAX_RESOURCES {
                    return Err(Unsupported);
                }
                let resource = self.module.resources.push(ResourceData {
                    name: format!("img{n}"),
                    kind: ResourceKind::Image {
                        dim,
                        arrayed,
                        multisampled: false,
                        access: Access::ReadWrite,
                        format,
                    },
                    set: self.options.set,
                    binding: IMAGE_BINDING + n,
                    count: count.map_or(Count::One, Count::Fixed),
                    oob: OutOfBounds::Zero,
                });
                let handle = source.handle;
                let binding = ImageBinding {
                    handle,
                    binding: IMAGE_BINDING + n,
                    count,
                    dim,
                    arrayed,
                    format,
                    written: writes,
                };
                self.bound.images.push((binding, resource));
                resource
            }
        };
        Ok(self.resource_handle(resource, source, Kind::Img))
    }

    fn resource_handle(&mut self, resource: Resource, source: Source, kind: Kind) -> Value {
        let nonuniform = source.element.is_some() && self.io.gpu.nonuniform_indexing();
        let flags = if nonuniform { Flags::NONE.with_nonuniform() } else { Flags::NONE };
        let index: smallvec::SmallVec<[Value; 1]> = source.element.into_iter().map(|(v, _)| v).collect();
        let ty = Type::scalar(kind);
        let inst = self.b.inst(Op::ResourceHandle, flags, Imm::Resource(resource), &index, &[ty]);
        self.b.func.results(inst)[0]
    }
}
