//! Buffers of texels as storage buffers, for languages that have none.
//!
//! ```text
//! texture @t = buffer float ..                storage @t = .. read oob zero
//! v0 : tex = resource_handle @t          =>
//! v2 : f32x4 = tex.fetch buffer, v0, v1       v3 : i32 = shl v1, 4
//!                                             v2 : f32x4 = load storage @t align 16, v3
//! ```
//!
//! A texel is four words in the buffer (floats or integers, as the program reads them) or, of formats of one or two 32-bit
//! components, these alone: whoever binds them writes texels so. Outside of the buffer texels are zeros, and nothing is
//! written.
//!
//! A buffer whose handle is chosen at run time stays as it is, and so do texels of 64 bits.

use crate::edit::Replaced;
use crate::{Changed, Lacks};
use smallvec::SmallVec;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::imm::{Dim, MemInfo, Order, Scope};
use xenoglot_ir::module::{Access, ImageFormat, OutOfBounds, ResourceKind};
use xenoglot_ir::{Bits, Builder, Flags, Function, Imm, Inst, Module, Op, Resource, Space, Type, Value};

/// Words of a texel, 1, 2 or 4, of the buffers that are lowered.
type Sizes = SecondaryMap<Resource, Option<u8>>;

/// Lowers the buffers of texels of a module.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    if !lacks.texel_buffers {
        return Changed::NONE;
    }
    let mut sizes: Sizes = SecondaryMap::new();
    let mut any = false;
    for (resource, data) in &module.resources {
        let words = match data.kind {
            ResourceKind::Texture { dim: Dim::Buffer, .. } => Some(4),
            ResourceKind::Image { dim: Dim::Buffer, format, .. } => words(format),
            _ => None,
        };
        sizes[resource] = words.filter(|_| module.funcs.values().all(|f| is_lowered(f, resource)));
        any |= sizes[resource].is_some();
    }
    if !any {
        return Changed::NONE;
    }
    for f in module.funcs.values_mut() {
        function(f, &sizes);
    }
    for (resource, data) in module.resources.iter_mut() {
        if sizes[resource].is_some() {
            let access = match data.kind {
                ResourceKind::Image { access, .. } => access,
                _ => Access::Read,
            };
            data.kind = ResourceKind::StorageBuffer { access };
            data.oob = OutOfBounds::Zero;
        }
    }
    Changed::INSTS
}

/// Words of a texel in the buffer; none of 64 bits.
fn words(format: ImageFormat) -> Option<u8> {
    use ImageFormat as F;
    match format {
        F::R64i | F::R64ui => None,
        F::R32f | F::R32i | F::R32ui => Some(1),
        F::Rg32f | F::Rg32i | F::Rg32ui => Some(2),
        _ => Some(4),
    }
}

/// The resource whose handle a value is, and the instruction that takes the handle.
fn handle(f: &Function, v: Value) -> Option<(Resource, Inst)> {
    let inst = f.def_inst(v)?;
    match f.insts[inst].imm {
        Imm::Resource(resource) if f.insts[inst].op == Op::ResourceHandle => Some((resource, inst)),
        _ => None,
    }
}

/// Whether all that a function does with a buffer has a form in memory.
fn is_lowered(f: &Function, resource: Resource) -> bool {
    let is_it = |v: Value| handle(f, v).is_some_and(|(r, _)| r == resource);
    f.layout.iter().all(|&block| {
        let mut passed = f.term_args(block).iter().any(|&v| is_it(v));
        passed |= f.edges(block).iter().any(|edge| f.edge_args(edge).iter().any(|&v| is_it(v)));
        !passed
            && f.blocks[block].insts.iter().all(|&inst| {
                let args = f.args(inst);
                !args.iter().any(|&v| is_it(v))
                    || is_access(f.insts[inst].op) && !args.iter().skip(1).any(|&v| is_it(v))
            })
    })
}

fn is_access(op: Op) -> bool {
    matches!(op, Op::TexFetch | Op::TexQuerySize | Op::ImgLoad | Op::ImgStore | Op::ImgQuery)
        || op.atomic_on_memory().is_some()
}

fn function(f: &mut Function, sizes: &Sizes) {
    let mut replaced = Replaced::default();
    replaced.reset(f);
    let lowered = |f: &Function, inst: Inst| {
        let (resource, taken) = match f.insts[inst].op {
            Op::ResourceHandle => match f.insts[inst].imm {
                Imm::Resource(resource) => (resource, inst),
                _ => return None,
            },
            _ => handle(f, *f.args(inst).first()?)?,
        };
        Some((sizes[resource]?, resource, taken))
    };
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        for inst in std::mem::take(&mut f.blocks[block].insts) {
            let Some((words, resource, taken)) = lowered(f, inst) else {
                f.blocks[block].insts.push(inst);
                continue;
            };
            if inst == taken {
                continue;
            }
            let element = f.args(taken).first().copied();
            let flags = f.insts[taken].flags;
            let mut b = Builder::new(f, block);
            b.set_guest(b.func.insts[inst].guest);
            let texels = Texels { words, resource, element, flags };
            let made = texels.access(&mut b, inst);
            let results: SmallVec<[Value; 2]> = b.func.results(inst).into();
            for (n, &old) in results.iter().enumerate() {
                // What is read is resident.
                let new = made.filter(|_| n == 0).unwrap_or_else(|| b.bool(true));
                replaced.set(b.func, old, new);
            }
        }
    }
    replaced.apply(f);
}

/// Where texels are.
struct Texels {
    words: u8,
    resource: Resource,
    /// The element of an array of buffers.
    element: Option<Value>,
    flags: Flags,
}

impl Texels {
    fn inst(
        &self,
        b: &mut Builder,
        op: Op,
        atomic: bool,
        values: &[Value],
        results: &[Type],
    ) -> Option<Value> {
        let mut mem =
            MemInfo::plain(Space::Storage, Some(self.resource), 2 + self.words.trailing_zeros() as u8);
        if atomic {
            (mem.order, mem.scope) = (Order::Relaxed, Scope::Device);
        }
        let args: SmallVec<[Value; 4]> = values.iter().copied().chain(self.element).collect();
        let made = b.inst(op, self.flags, Imm::Mem(mem), &args, results);
        b.func.result(made)
    }

    /// The byte at which a texel lies. Coordinates that have none stay outside of the buffer.
    fn place(&self, b: &mut Builder, coordinate: Value) -> Value {
        let up = 2 + self.words.trailing_zeros();
        let last = b.i32(u32::MAX >> up);
        let coordinate = b.op(Op::Umin, &[coordinate, last]);
        let up = b.i32(up);
        b.op(Op::Shl, &[coordinate, up])
    }

    /// What an access to texels becomes; its first result.
    fn access(&self, b: &mut Builder, inst: Inst) -> Option<Value> {
        let args: SmallVec<[Value; 4]> = b.func.args(inst).into();
        let op = b.func.insts[inst].op;
        let result = b.func.results(inst).first().map(|&v| b.func.ty(v));
        match op {
            Op::TexQuerySize | Op::ImgQuery => {
                let args: SmallVec<[Value; 1]> = self.element.into_iter().collect();
                let made =
                    b.inst(Op::BufferSize, self.flags, Imm::Resource(self.resource), &args, &[Type::I32]);
                let bytes = b.func.result(made)?;
                let down = b.i32(2 + self.words.trailing_zeros());
                Some(b.op(Op::Ushr, &[bytes, down]))
            }
            Op::TexFetch | Op::ImgLoad => {
                let (ty, at) = (result?, self.place(b, *args.get(1)?));
                let stored = ty.with_lanes(self.words)?;
                let texel = self.inst(b, Op::Load, false, &[at], &[stored])?;
                Some(self.whole(b, texel, ty))
            }
            Op::ImgStore => {
                let (&texel, at) = (args.last()?, self.place(b, *args.get(1)?));
                let kept: SmallVec<[Value; 4]> = (0..self.words).map(|lane| b.extract(texel, lane)).collect();
                let texel = match kept[..] {
                    [lane] => lane,
                    [_, _] => b.op(Op::Build, &kept),
                    _ => texel,
                };
                self.inst(b, Op::Store, false, &[at, texel], &[]);
                None
            }
            _ => {
                let mut values: SmallVec<[Value; 4]> = args.iter().skip(1).copied().collect();
                let coordinate = values.first_mut()?;
                *coordinate = self.place(b, *coordinate);
                self.inst(b, op.atomic_on_memory()?, true, &values, &[result?])
            }
        }
    }

    /// All four components of a texel, of which some may not be stored.
    fn whole(&self, b: &mut Builder, texel: Value, ty: Type) -> Value {
        if self.words == 4 {
            return texel;
        }
        let one = if ty.kind().is_float() { u64::from(1f32.to_bits()) } else { 1 };
        let lanes: SmallVec<[Value; 4]> = (0..ty.lanes())
            .map(|lane| match lane {
                0 if self.words == 1 => texel,
                _ if lane < self.words => b.extract(texel, lane),
                _ => b.constant(ty.lane(), Bits::scalar(if lane == 3 { one } else { 0 })),
            })
            .collect();
        if lanes.len() == 1 { lanes[0] } else { b.op(Op::Build, &lanes) }
    }
}
