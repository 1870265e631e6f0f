//! Where handles of textures and images come from, and the resources made of them.
//!
//! A bound instruction names a word of the bank of handles. One with the handle in a register is bound, too, if the
//! register's value was loaded from a constant bank in the same block: from a word, from an array of words by an index,
//! or combined of a texture's and a sampler's part.

use super::Unsupported;
use super::cx::{Cx, Lift, operand};
use super::layout::{IMAGE_BINDING, MAX_RESOURCES, TEXTURE_BINDING};
use crate::gpu::{ConstantWord, Handle, Shape};
use crate::info::{ImageBinding, TextureBinding};
use crate::inst::{Inst, Role, Value as Named};
use xenoglot_ir::imm::Dim;
use xenoglot_ir::module::{Access, Count, ImageFormat, OutOfBounds, ResourceData, ResourceKind, Texel};
use xenoglot_ir::{Flags, Imm, Kind, Op, Resource, Space, Type, Value};

/// Most handles in an array whose length nobody tells.
const DEFAULT_ARRAY: u32 = 16;

/// Longest array of handles.
const MAX_ARRAY: u32 = 1024;

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

    /// Where a handle in a register comes from.
    pub fn trace(&mut self, v: Value) -> Lift<Source> {
        if let Some((Op::Or, args)) = self.definition(v)
            && let [a, b] = args[..]
        {
            let (texture, sampler) = match (self.loaded_word(a), self.loaded_word(b)) {
                (Some(a), Some(b)) => (a, b),
                _ => return Err(Unsupported),
            };
            // The sampler's number is in the upper bits.
            let swap = self.is_shifted(a);
            let (texture, sampler) = if swap { (sampler, texture) } else { (texture, sampler) };
            return Ok(Source { handle: Handle { texture, sampler: Some(sampler) }, element: None });
        }
        if let Some(texture) = self.loaded_word(v) {
            return Ok(Source { handle: Handle { texture, sampler: None }, element: None });
        }
        let (bank, offset) = self.load_of(v).ok_or(Unsupported)?;
        let Some((Op::Iadd, args)) = self.definition(offset) else { return Err(Unsupported) };
        let [index, base] = args[..] else { return Err(Unsupported) };
        let base = self.b.func.const_bits(base).ok_or(Unsupported)?.lane(0) as u32;
        let handle = Handle { texture: ConstantWord { bank, offset: base }, sampler: None };
        let length = self.io.gpu.array_length(handle).or_else(|| self.masked_length(index));
        let count = length.unwrap_or(DEFAULT_ARRAY).clamp(1, MAX_ARRAY);
        let (two, last) = (self.number(2), self.number(count - 1));
        let element = self.op(Op::Ushr, &[index, two]);
        let element = self.op(Op::Umin, &[element, last]);
        Ok(Source { handle, element: Some((element, count)) })
    }

    fn definition(&self, v: Value) -> Option<(Op, smallvec::SmallVec<[Value; 4]>)> {
        let inst = self.b.func.def_inst(v)?;
        Some((self.b.func.insts[inst].op, self.b.func.args(inst).into()))
    }

    /// Bank and offset of a value that was loaded from a constant bank.
    fn load_of(&self, v: Value) -> Option<(u8, Value)> {
        let inst = self.b.func.def_inst(v)?;
        let Imm::Mem(mem) = self.b.func.insts[inst].imm else { return None };
        let resource = mem.resource.expand().filter(|_| mem.space == Space::Uniform)?;
        let bank = self.banks.iter().position(|b| *b == Some(resource))?;
        Some((bank as u8, *self.b.func.args(inst).first()?))
    }

    /// The word a value was loaded from, perhaps masked or shifted since.
    fn loaded_word(&self, v: Value) -> Option<ConstantWord> {
        let v = match self.definition(v) {
            Some((Op::And | Op::Shl, args)) => *args.first()?,
            _ => v,
        };
        let (bank, offset) = self.load_of(v)?;
        let offset = self.b.func.const_bits(offset)?.lane(0) as u32;
        Some(ConstantWord { bank, offset })
    }

    fn is_shifted(&self, v: Value) -> bool {
        matches!(self.definition(v), Some((Op::Shl, _)))
    }

    /// Elements of an array whose index is masked and then shifted to bytes.
    fn masked_length(&self, index: Value) -> Option<u32> {
        let mut v = index;
        for _ in 0..4 {
            let (op, args) = self.definition(v)?;
            let known = args.iter().find_map(|&a| self.b.func.const_bits(a)).map(|b| b.lane(0) as u32);
            match (op, known) {
                (Op::And, Some(mask)) => {
                    let mask = if v == index { mask >> 2 } else { mask };
                    return mask.checked_add(1).filter(|n| n.is_power_of_two());
                }
                (Op::Select, _) => v = *args.get(1)?,
                (Op::Shl, Some(_)) => v = *args.first()?,
                _ => return None,
            }
        }
        None
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
        if source.element.is_some() {
            return Err(Unsupported);
        }
        let same = |i: &ImageBinding| {
            i.handle == source.handle && (i.dim, i.arrayed, i.format) == (dim, arrayed, format)
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
                    count: Count::One,
                    oob: OutOfBounds::Zero,
                });
                let handle = source.handle;
                let binding = ImageBinding {
                    handle,
                    binding: IMAGE_BINDING + n,
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
