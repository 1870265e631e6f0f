//! What a SPIR-V module made from GLSL declares: types with their layout, variables, modes of its stage.
//!
//! The compiler has done what GLSL leaves to it by then: macros, constants as lengths of arrays, several names in a
//! declaration, locations of blocks and matrices.

use spirv::{BuiltIn, Decoration, Dim, ExecutionMode, ImageFormat, Op, StorageClass};
use std::collections::BTreeMap;

/// Most scalars of a block, and how deep types nest.
const MAX_LEAVES: usize = 1 << 16;
const MAX_DEPTH: u32 = 16;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Bool,
    Int {
        bits: u32,
        signed: bool,
    },
    Float {
        bits: u32,
    },
    Vector {
        of: u32,
        count: u32,
    },
    Matrix {
        column: u32,
        count: u32,
    },
    /// An array; without a length, the last member of a storage block.
    Array {
        of: u32,
        length: Option<u32>,
    },
    Struct(Vec<u32>),
    Image(Image),
    Pointer {
        class: StorageClass,
        to: u32,
    },
}

/// An image, or what a sampler samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Image {
    /// The type of a component.
    pub texel: u32,
    pub dim: Dim,
    pub shadow: bool,
    pub arrayed: bool,
    pub multisampled: bool,
    /// It is a storage image.
    pub stored: bool,
    pub format: ImageFormat,
}

/// What is said of a variable, type or member.
#[derive(Clone, Debug, Default)]
pub(super) struct Decorations {
    pub location: Option<u32>,
    pub component: Option<u32>,
    pub binding: Option<u32>,
    pub built_in: Option<BuiltIn>,
    pub block: bool,
    pub buffer_block: bool,
    pub patch: bool,
    offset: Option<u32>,
    array_stride: Option<u32>,
    matrix_stride: Option<u32>,
    row_major: bool,
}

/// A variable outside of functions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variable {
    pub id: u32,
    pub class: StorageClass,
    /// What it points to.
    pub ty: u32,
}

/// What is in a word of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Float,
    /// An element of a matrix: column and row.
    Element(u32, u32),
    Int,
    Double,
    /// An integer of 64 bits.
    Long,
}

/// A scalar of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Its byte offset.
    pub(super) offset: u32,
    pub(super) scalar: Scalar,
    /// It is a member of its own, neither of a vector nor of an array.
    pub(super) alone: bool,
}

/// The leaves of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Leaves by offset; of the array without a length that ends it, one element.
    pub leaves: Vec<Leaf>,
    /// Where the array without a length starts among the leaves, and its stride.
    pub(super) repeated: Option<(usize, u32)>,
    /// Bytes, without the array without a length.
    pub bytes: u32,
}

/// A module's declarations.
#[derive(Debug, Default)]
pub(super) struct Module {
    types: BTreeMap<u32, Type>,
    constants: BTreeMap<u32, u32>,
    decorations: BTreeMap<u32, Decorations>,
    members: BTreeMap<(u32, u32), Decorations>,
    pub variables: Vec<Variable>,
    pub modes: Vec<(ExecutionMode, Vec<u32>)>,
    /// By variable, the greatest number that it is indexed by; numbers that are not constant leave no trace.
    pub greatest_index: BTreeMap<u32, u32>,
}

impl Module {
    /// Reads a module.
    ///
    /// # Errors
    /// Words that are no module.
    pub fn read(words: &[u32]) -> Result<Module, String> {
        if words.first() != Some(&spirv::MAGIC_NUMBER) {
            return Err("no SPIR-V".into());
        }
        let mut module = Module::default();
        let mut at = 5;
        while let Some(&first) = words.get(at) {
            let instruction = words.get(at..at + (first >> 16) as usize).filter(|i| !i.is_empty());
            let [_, operands @ ..] = instruction.ok_or("damaged SPIR-V")? else { break };
            if let Some(op) = Op::from_u32(first & 0xffff) {
                // What lacks operands declares nothing.
                let _ = module.declare(op, operands);
            }
            at += (first >> 16) as usize;
        }
        Ok(module)
    }

    fn declare(&mut self, op: Op, operands: &[u32]) -> Option<()> {
        let operand = |n: usize| operands.get(n).copied();
        let id = operand(0)?;
        let ty = match op {
            Op::TypeBool => Type::Bool,
            Op::TypeInt => Type::Int { bits: operand(1)?, signed: operand(2)? != 0 },
            Op::TypeFloat => Type::Float { bits: operand(1)? },
            Op::TypeVector => Type::Vector { of: operand(1)?, count: operand(2)? },
            Op::TypeMatrix => Type::Matrix { column: operand(1)?, count: operand(2)? },
            Op::TypeArray => {
                Type::Array { of: operand(1)?, length: Some(*self.constants.get(&operand(2)?)?) }
            }
            Op::TypeRuntimeArray => Type::Array { of: operand(1)?, length: None },
            Op::TypeStruct => Type::Struct(operands.get(1..)?.to_vec()),
            Op::TypeImage => Type::Image(Image {
                texel: operand(1)?,
                dim: Dim::from_u32(operand(2)?)?,
                shadow: operand(3)? == 1,
                arrayed: operand(4)? != 0,
                multisampled: operand(5)? != 0,
                stored: operand(6)? == 2,
                format: ImageFormat::from_u32(operand(7)?)?,
            }),
            Op::TypeSampledImage => self.types.get(&operand(1)?)?.clone(),
            Op::TypePointer => Type::Pointer { class: StorageClass::from_u32(operand(1)?)?, to: operand(2)? },
            Op::Constant | Op::SpecConstant => {
                self.constants.insert(operand(1)?, operand(2)?);
                return Some(());
            }
            Op::Decorate => {
                let Some(to) = Decoration::from_u32(operand(1)?) else { return Some(()) };
                decorate(self.decorations.entry(id).or_default(), to, operand(2));
                return Some(());
            }
            Op::MemberDecorate => {
                let Some(to) = Decoration::from_u32(operand(2)?) else { return Some(()) };
                decorate(self.members.entry((id, operand(1)?)).or_default(), to, operand(3));
                return Some(());
            }
            Op::ExecutionMode => {
                let mode = ExecutionMode::from_u32(operand(1)?)?;
                self.modes.push((mode, operands.get(2..)?.to_vec()));
                return Some(());
            }
            Op::Variable => {
                let &Type::Pointer { class, to } = self.types.get(&id)? else { return None };
                if class != StorageClass::Function {
                    self.variables.push(Variable { id: operand(1)?, class, ty: to });
                }
                return Some(());
            }
            Op::AccessChain | Op::InBoundsAccessChain => {
                let index = *self.constants.get(&operand(3)?)?;
                let greatest = self.greatest_index.entry(operand(2)?).or_default();
                *greatest = index.max(*greatest);
                return Some(());
            }
            _ => return None,
        };
        self.types.insert(id, ty);
        Some(())
    }

    pub fn is_constant(&self, id: u32) -> bool {
        self.constants.contains_key(&id)
    }

    pub fn ty(&self, id: u32) -> Option<&Type> {
        self.types.get(&id)
    }

    pub fn decorations(&self, id: u32) -> Decorations {
        self.decorations.get(&id).cloned().unwrap_or_default()
    }

    pub fn member(&self, ty: u32, member: usize) -> Decorations {
        let member = u32::try_from(member).ok().and_then(|member| self.members.get(&(ty, member)));
        member.cloned().unwrap_or_default()
    }

    /// The type in arrays, and how many elements they have together.
    pub fn element(&self, mut ty: u32) -> (u32, u32) {
        let mut count = 1u32;
        for _ in 0..MAX_DEPTH {
            let Some(Type::Array { of, length }) = self.ty(ty) else { break };
            count = count.saturating_mul(length.unwrap_or(1));
            ty = *of;
        }
        (ty, count)
    }

    /// Where the scalars of a block lie.
    pub fn layout(&self, block: u32) -> Layout {
        let mut layout = Layout::default();
        self.add_leaves(&mut layout, block, 0, &Decorations::default(), true, 0);
        layout
    }

    fn add_leaves(&self, to: &mut Layout, ty: u32, at: u32, of: &Decorations, alone: bool, depth: u32) {
        if depth > MAX_DEPTH || to.leaves.len() >= MAX_LEAVES {
            return;
        }
        let mut leaf = |offset: u32, scalar, bytes, alone| {
            to.leaves.push(Leaf { offset, scalar, alone });
            if to.repeated.is_none() {
                to.bytes = to.bytes.max(offset.saturating_add(bytes));
            }
        };
        let scalar = |ty: Option<&Type>| match ty {
            Some(Type::Float { bits: 64 }) => Some((Scalar::Double, 8)),
            Some(Type::Float { .. }) => Some((Scalar::Float, 4)),
            Some(Type::Int { bits: 64, .. }) => Some((Scalar::Long, 8)),
            Some(Type::Int { .. } | Type::Bool) => Some((Scalar::Int, 4)),
            _ => None,
        };
        match self.ty(ty) {
            Some(Type::Vector { of, count }) => {
                if let Some((scalar, bytes)) = scalar(self.ty(*of)) {
                    (0..*count).for_each(|n| leaf(at.saturating_add(n * bytes), scalar, bytes, false));
                }
            }
            Some(Type::Matrix { column, count }) => {
                let Some(Type::Vector { of: element, count: rows }) = self.ty(*column) else { return };
                let Some((kind, bytes)) = scalar(self.ty(*element)) else { return };
                let stride = of.matrix_stride.unwrap_or(16);
                for (column, row) in (0..*count).flat_map(|c| (0..*rows).map(move |r| (c, r))) {
                    let (major, minor) = if of.row_major { (row, column) } else { (column, row) };
                    let kind = if kind == Scalar::Float { Scalar::Element(column, row) } else { kind };
                    leaf(at.saturating_add(major * stride + minor * bytes), kind, bytes, false);
                }
            }
            Some(Type::Array { of: element, length }) => {
                let stride = self.decorations(ty).array_stride.unwrap_or(16);
                if length.is_none() {
                    to.repeated = Some((to.leaves.len(), stride));
                }
                for n in 0..length.unwrap_or(1) {
                    let at = at.saturating_add(n.saturating_mul(stride));
                    if to.leaves.len() >= MAX_LEAVES {
                        return;
                    }
                    self.add_leaves(to, *element, at, of, false, depth + 1);
                }
            }
            Some(Type::Struct(members)) => {
                for (n, &member) in members.iter().enumerate() {
                    let of = self.member(ty, n);
                    let at = at.saturating_add(of.offset.unwrap_or(0));
                    self.add_leaves(to, member, at, &of, alone, depth + 1);
                }
            }
            plain => {
                if let Some((scalar, bytes)) = scalar(plain) {
                    leaf(at, scalar, bytes, alone);
                }
            }
        }
    }
}

fn decorate(to: &mut Decorations, decoration: Decoration, value: Option<u32>) {
    match decoration {
        Decoration::Location => to.location = value,
        Decoration::Component => to.component = value,
        Decoration::Binding => to.binding = value,
        Decoration::BuiltIn => to.built_in = value.and_then(BuiltIn::from_u32),
        Decoration::Block => to.block = true,
        Decoration::BufferBlock => to.buffer_block = true,
        Decoration::Patch => to.patch = true,
        Decoration::Offset => to.offset = value,
        Decoration::ArrayStride => to.array_stride = value,
        Decoration::MatrixStride => to.matrix_stride = value,
        Decoration::RowMajor => to.row_major = true,
        _ => {}
    }
}
