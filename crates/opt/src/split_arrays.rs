//! Arrays of buffers as single buffers, for languages that have no such arrays or want constant indices.
//!
//! ```text
//! storage @b = set 0 binding 5 [2] ..            storage @b = set 0 binding 5 ..
//!                                                storage @b_1 = set 0 binding 37 ..
//! v2 : i32 = load storage @b, v0, v1       =>    v2 : i32 = call @load_b_i32 v0, v1
//!
//!                                                func @load_b_i32(v0 : i32, v1 : i32) -> i32 {
//!                                                block0:
//!                                                  switch v1, [0: block1, 1: block2], block3
//!                                                block1:
//!                                                  v2 : i32 = load storage @b, v0
//!                                                  return v2
//!                                                ..
//! ```
//!
//! Element k of an array is bound in its set, [`STEP`] · k bindings behind the first, so that whoever binds them knows where. Of
//! an array without bound, or a longer one, there are as many elements as the host says; what is behind reads as zeros and is not
//! written. An array with another resource in the place of an element stays as it is. Arrays of textures, samplers and images stay
//! arrays, of as many elements where the language has none without bound.
//!
//! A pass over the module, since it adds resources and functions to it.

use crate::{Changed, Lacks, edit};
use smallvec::SmallVec;
use xenoglot_ir::entity::{EntityRef, SecondaryMap};
use xenoglot_ir::module::{Count, ResourceKind};
use xenoglot_ir::{Bits, Builder, Flags, Func, Function, Imm, Inst, Module, Op, Resource, Type, Value};

/// From one element's binding to the next one's. A heap of descriptors of Direct3D is bound as an array of each kind of
/// descriptor, at bindings one behind the other: their elements lie between each other's.
pub const STEP: u32 = 32;

/// An access through a number of an element.
#[derive(Clone, PartialEq, Eq)]
struct Shape {
    op: Op,
    imm: Imm,
    args: SmallVec<[Type; 4]>,
    results: SmallVec<[Type; 1]>,
}

/// Splits the arrays of buffers of a module.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    let Some(most) = lacks.buffer_arrays.filter(|&most| most > 0) else { return Changed::NONE };
    let elements = declare(module, most);
    if lacks.unbounded_arrays {
        for data in module.resources.values_mut().filter(|data| data.count == Count::Unbounded) {
            data.count = Count::Fixed(most);
        }
    }
    if elements.values().all(Vec::is_empty) {
        return Changed::NONE;
    }
    let mut shapes: Vec<Shape> = Vec::new();
    let first = module.funcs.len();
    for f in module.funcs.values_mut() {
        function(f, &elements, first, &mut shapes);
    }
    for shape in &shapes {
        let name = resource(shape.imm).and_then(|r| module.resources.get(r)).map_or("", |r| &r.name);
        let func = accessor(shape, name, &elements);
        module.funcs.push(func);
    }
    Changed::ALL
}

/// The resource that an instruction accesses, if it is a buffer by all that can be told.
fn resource(imm: Imm) -> Option<Resource> {
    match imm {
        Imm::Mem(mem) => mem.resource.expand(),
        Imm::Resource(resource) => Some(resource),
        _ => None,
    }
}

/// The same immediate with another resource.
fn with_resource(imm: Imm, resource: Resource) -> Imm {
    match imm {
        Imm::Mem(mem) => Imm::Mem(xenoglot_ir::MemInfo { resource: resource.into(), ..mem }),
        _ => Imm::Resource(resource),
    }
}

/// Declares the elements of each array; the array itself becomes its first one.
fn declare(module: &mut Module, most: u32) -> SecondaryMap<Resource, Vec<Resource>> {
    let mut elements: SecondaryMap<Resource, Vec<Resource>> = SecondaryMap::new();
    let arrays: Vec<Resource> = module.resources.keys().collect();
    for array in arrays {
        let data = module.resources[array].clone();
        let count = match data.count {
            Count::One => continue,
            Count::Fixed(count) => count.min(most).max(1),
            Count::Unbounded => most,
        };
        let buffer =
            matches!(data.kind, ResourceKind::UniformBuffer { .. } | ResourceKind::StorageBuffer { .. });
        let bindings: Option<Vec<u32>> =
            (1..count).map(|k| k.checked_mul(STEP)?.checked_add(data.binding)).collect();
        let Some(bindings) = bindings.filter(|_| buffer && !has_handle(module, array)) else { continue };
        // Views of one heap share their places.
        let is_taken = |binding: u32| {
            let mut others = module.resources.iter().filter(|(r, _)| *r != array);
            others.any(|(_, r)| r.set == data.set && r.binding == binding && !is_view(r, &data, binding))
        };
        if bindings.iter().any(|&binding| is_taken(binding)) {
            continue;
        }
        module.resources[array].count = Count::One;
        elements[array].push(array);
        for (k, binding) in (1..).zip(bindings) {
            let mut name = format!("{}_{k}", data.name);
            while module.resources.values().any(|r| r.name == name) {
                name.push('_');
            }
            let element = module.resources.push(xenoglot_ir::module::ResourceData {
                name,
                binding,
                count: Count::One,
                ..data.clone()
            });
            elements[array].push(element);
        }
    }
    elements
}

/// Whether a resource at an element's binding is an element of another view of the same array.
fn is_view(
    other: &xenoglot_ir::module::ResourceData,
    array: &xenoglot_ir::module::ResourceData,
    binding: u32,
) -> bool {
    other.count == Count::One
        && other.kind.name() == array.kind.name()
        && (binding - array.binding).is_multiple_of(STEP)
}

/// Whether a handle is taken of a resource, which may go anywhere.
fn has_handle(module: &Module, resource: Resource) -> bool {
    module.funcs.values().any(|f| {
        let mut insts = f.layout.iter().flat_map(|&block| &f.blocks[block].insts).map(|&inst| &f.insts[inst]);
        insts.any(|data| data.op == Op::ResourceHandle && data.imm == Imm::Resource(resource))
    })
}

fn function(
    f: &mut Function,
    elements: &SecondaryMap<Resource, Vec<Resource>>,
    first: usize,
    shapes: &mut Vec<Shape>,
) {
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        for n in 0..f.blocks[block].insts.len() {
            let inst = f.blocks[block].insts[n];
            let Some(array) = resource(f.insts[inst].imm) else { continue };
            let of = elements.get(array).map_or(&[][..], Vec::as_slice);
            if !of.is_empty() {
                access(f, inst, of, first, shapes);
            }
        }
    }
}

fn access(f: &mut Function, inst: Inst, of: &[Resource], first: usize, shapes: &mut Vec<Shape>) {
    let args: SmallVec<[Value; 4]> = f.args(inst).into();
    let Some((&element, rest)) = args.split_last() else { return };
    let data = &f.insts[inst];
    let (op, imm) = (data.op, data.imm);
    let known = f.const_bits(element).and_then(|bits| of.get(usize::try_from(bits.lane(0)).ok()?));
    if let Some(&known) = known {
        return edit::rewrite(f, inst, op, Flags::NONE, with_resource(imm, known), rest);
    }
    let shape = Shape {
        op,
        imm,
        args: args.iter().map(|&v| f.ty(v)).collect(),
        results: f.results(inst).iter().map(|&v| f.ty(v)).collect(),
    };
    let number = shapes.iter().position(|s| *s == shape).unwrap_or_else(|| {
        shapes.push(shape);
        shapes.len() - 1
    });
    edit::rewrite(f, inst, Op::Call, Flags::NONE, Imm::Func(Func::new(first + number)), &args);
}

/// A function of an access's operands that accesses the element that the last one counts.
fn accessor(shape: &Shape, name: &str, elements: &SecondaryMap<Resource, Vec<Resource>>) -> Function {
    let ty = shape.results.first().or(shape.args.get(1)).map(|ty| format!("_{ty}")).unwrap_or_default();
    let mut f = Function::new(format!("{}_{name}{ty}", shape.op.info().name.replace('.', "_")));
    f.returns = shape.results.to_vec();
    let entry = f.add_block();
    let params: SmallVec<[Value; 4]> = shape.args.iter().map(|&ty| f.add_param(entry, ty)).collect();
    let of = resource(shape.imm).and_then(|r| elements.get(r)).map_or(&[][..], Vec::as_slice);
    let mut cases = Vec::new();
    for (k, &element) in (0..).zip(of) {
        let block = f.add_block();
        cases.push((k, block));
        let mut b = Builder::new(&mut f, block);
        let rest = params.get(..params.len().saturating_sub(1)).unwrap_or_default();
        let made = b.inst(shape.op, Flags::NONE, with_resource(shape.imm, element), rest, &shape.results);
        let results: SmallVec<[Value; 1]> = b.func.results(made).into();
        b.ret(&results);
    }
    let outside = f.add_block();
    let mut b = Builder::new(&mut f, outside);
    let zeros: SmallVec<[Value; 1]> =
        shape.results.iter().map(|&ty| b.constant(ty, Bits::default())).collect();
    b.ret(&zeros);
    let mut b = Builder::new(&mut f, entry);
    let cases: Vec<_> = cases.iter().map(|&(k, block)| (k, block, &[][..])).collect();
    match params.last() {
        Some(&element) => b.switch(element, &cases, (outside, &[])),
        None => b.jump(outside, &[]),
    }
    f
}
