//! Modules of DXIL, built value by value, so that tests need no compiler of shaders; `write` makes bitcode of them.
//!
//! Numbers of operators are those of `LLVMBitCodes.h` (LLVM 3.7).

use std::collections::HashMap;

/// A type, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ty(pub(super) u32);

/// What a type is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Shape {
    Void,
    Half,
    Float,
    Int(u32),
    Pointer { to: Ty, space: u32 },
    Array { count: u64, of: Ty },
    Vector { count: u64, of: Ty },
    Struct { name: &'static str, fields: Vec<Ty> },
    Function { returns: Ty, params: Vec<Ty> },
    Metadata,
}

/// A value of the module or of its function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Val {
    /// A variable of the workgroup.
    Global(u32),
    /// A function.
    Function(u32),
    /// A constant.
    Constant(u32),
    /// What an instruction gives.
    Inst(u32),
}

/// A block of the function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block(pub(super) u32);

/// Operators of two operands, by their numbers; division and remainder of floats are the signed ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "LLVM's names")]
pub enum Binary {
    Add = 0,
    Sub = 1,
    Mul = 2,
    Udiv = 3,
    Sdiv = 4,
    Urem = 5,
    Srem = 6,
    Shl = 7,
    Lshr = 8,
    Ashr = 9,
    And = 10,
    Or = 11,
    Xor = 12,
}

/// Conversions, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "LLVM's names")]
pub enum Cast {
    Trunc = 0,
    Zext = 1,
    Sext = 2,
    FpToSi = 4,
    SiToFp = 6,
}

/// Comparisons, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "LLVM's names")]
pub enum Predicate {
    Foeq = 1,
    Folt = 4,
    Eq = 32,
    Ne = 33,
    Ugt = 34,
    Ule = 37,
    Sgt = 38,
    Slt = 40,
}

/// Atomic operations on memory, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "LLVM's names")]
pub enum Rmw {
    Add = 1,
    And = 3,
    Or = 5,
    Xor = 6,
    Max = 7,
    Min = 8,
    Umax = 9,
    Umin = 10,
}

#[derive(Clone, Debug)]
pub(super) enum Inst {
    Binary(Binary, Val, Val),
    Cast(Cast, Val, Ty),
    Select(Val, Val, Val),
    Compare(Predicate, Val, Val),
    Gep { of: Ty, base: Val, indices: [Val; 2] },
    ExtractValue(Val, u32),
    ExtractElement(Val, Val),
    InsertElement(Val, Val, Val),
    Phi(Ty, Vec<(Val, Block)>),
    Alloca(Ty),
    Load(Val),
    Store { pointer: Val, value: Val },
    Atomic { op: Rmw, pointer: Val, value: Val },
    Call { function: Val, args: Vec<Val> },
    Jump(Block),
    Branch { condition: Val, yes: Block, no: Block },
    Switch { value: Val, default: Block, cases: Vec<(Val, Block)> },
    Return,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Constant {
    Integer(i64),
    Undef,
}

pub(super) struct Declared {
    pub(super) name: String,
    pub(super) ty: Ty,
}

/// The shader model and what else metadata says.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Minor version of the shader model, which is 6.
    pub minor: u32,
    /// Invocations of a group, along x.
    pub threads: u32,
}

/// A compute shader with a buffer to read, `t0`, and one to write, `u1`.
pub struct Module {
    pub(super) facts: Facts,
    pub(super) types: Vec<Shape>,
    pub(super) type_ids: HashMap<Shape, Ty>,
    pub(super) constants: Vec<(Ty, Constant)>,
    pub(super) constant_ids: HashMap<(Ty, Constant), u32>,
    pub(super) globals: Vec<Declared>,
    pub(super) functions: Vec<Declared>,
    pub(super) function_ids: HashMap<String, u32>,
    pub(super) insts: Vec<(Inst, Option<Ty>)>,
    pub(super) blocks: Vec<Vec<u32>>,
    /// Blocks in the order in which they got their first instruction, so that values are defined before they are used.
    pub(super) order: Vec<Block>,
    pub(super) at: Block,
}

/// The address space of variables that a workgroup shares.
pub(super) const SHARED: u32 = 3;
impl Module {
    /// An empty shader, whose first block is where instructions go.
    pub fn new(facts: Facts) -> Module {
        let mut module = Module {
            facts,
            types: Vec::new(),
            type_ids: HashMap::new(),
            constants: Vec::new(),
            constant_ids: HashMap::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            function_ids: HashMap::new(),
            insts: Vec::new(),
            blocks: vec![Vec::new()],
            order: vec![Block(0)],
            at: Block(0),
        };
        let void = module.void();
        let main = module.ty(Shape::Function { returns: void, params: Vec::new() });
        module.functions.push(Declared { name: "main".into(), ty: main });
        module
    }

    pub(super) fn ty(&mut self, shape: Shape) -> Ty {
        if let Some(&known) = self.type_ids.get(&shape) {
            return known;
        }
        let ty = Ty(self.types.len() as u32);
        self.types.push(shape.clone());
        self.type_ids.insert(shape, ty);
        ty
    }

    /// The type of what gives nothing.
    pub fn void(&mut self) -> Ty {
        self.ty(Shape::Void)
    }

    /// Integers.
    pub fn int(&mut self, bits: u32) -> Ty {
        self.ty(Shape::Int(bits))
    }

    /// Floats of 16 or 32 bits.
    pub fn float(&mut self, bits: u32) -> Ty {
        self.ty(if bits == 16 { Shape::Half } else { Shape::Float })
    }

    /// Arrays.
    pub fn array(&mut self, count: u64, of: Ty) -> Ty {
        self.ty(Shape::Array { count, of })
    }

    /// Vectors.
    pub fn vector(&mut self, count: u64, of: Ty) -> Ty {
        self.ty(Shape::Vector { count, of })
    }

    /// A structure by its name.
    pub fn structure(&mut self, name: &'static str, fields: Vec<Ty>) -> Ty {
        self.ty(Shape::Struct { name, fields })
    }

    /// Handles of resources.
    pub fn handle(&mut self) -> Ty {
        let byte = self.int(8);
        let pointer = self.pointer(byte, 0);
        self.structure("dx.types.Handle", vec![pointer])
    }

    pub(super) fn pointer(&mut self, to: Ty, space: u32) -> Ty {
        self.ty(Shape::Pointer { to, space })
    }

    /// A constant integer, of which the low bits count.
    pub fn integer(&mut self, ty: Ty, value: u64) -> Val {
        let bits = match self.types[ty.0 as usize] {
            Shape::Int(bits) => bits,
            _ => 64,
        };
        let value = (value << (64 - bits)) as i64 >> (64 - bits);
        self.constant(ty, Constant::Integer(value))
    }

    /// A constant integer of 32 bits.
    pub fn i32(&mut self, value: u32) -> Val {
        let ty = self.int(32);
        self.integer(ty, value.into())
    }

    /// A value that may be anything.
    pub fn undef(&mut self, ty: Ty) -> Val {
        self.constant(ty, Constant::Undef)
    }

    fn constant(&mut self, ty: Ty, constant: Constant) -> Val {
        let next = self.constants.len() as u32;
        let id = *self.constant_ids.entry((ty, constant)).or_insert(next);
        if id == next {
            self.constants.push((ty, constant));
        }
        Val::Constant(id)
    }

    /// A variable that the workgroup shares.
    pub fn shared(&mut self, ty: Ty) -> Val {
        let name = format!("shared{}", self.globals.len());
        self.globals.push(Declared { name, ty });
        self.pointer(ty, SHARED);
        Val::Global(self.globals.len() as u32 - 1)
    }

    /// A block, still empty.
    pub fn block(&mut self) -> Block {
        self.blocks.push(Vec::new());
        Block(self.blocks.len() as u32 - 1)
    }

    /// Where instructions go.
    pub fn current(&self) -> Block {
        self.at
    }

    /// Has instructions go to a block that is empty.
    pub fn go_on_in(&mut self, block: Block) {
        self.order.push(block);
        self.at = block;
    }

    /// The type of a value.
    fn type_of(&mut self, value: Val) -> Ty {
        match value {
            Val::Constant(id) => self.constants[id as usize].0,
            Val::Inst(id) => self.insts[id as usize].1.unwrap_or(Ty(0)),
            Val::Global(id) => {
                let ty = self.globals[id as usize].ty;
                self.pointer(ty, SHARED)
            }
            Val::Function(id) => {
                let ty = self.functions[id as usize].ty;
                self.pointer(ty, 0)
            }
        }
    }

    fn pointee(&mut self, pointer: Val) -> (Ty, u32) {
        let ty = self.type_of(pointer);
        match self.types[ty.0 as usize] {
            Shape::Pointer { to, space } => (to, space),
            _ => (ty, 0),
        }
    }

    fn element(&self, of: Ty) -> Ty {
        match self.types[of.0 as usize] {
            Shape::Array { of, .. } | Shape::Vector { of, .. } => of,
            _ => of,
        }
    }

    fn push(&mut self, inst: Inst, ty: Option<Ty>) -> Val {
        let id = self.insts.len() as u32;
        self.insts.push((inst, ty));
        self.blocks[self.at.0 as usize].push(id);
        Val::Inst(id)
    }

    /// An operator on two values of one type.
    pub fn binary(&mut self, op: Binary, left: Val, right: Val) -> Val {
        let ty = self.type_of(left);
        self.push(Inst::Binary(op, left, right), Some(ty))
    }

    /// A conversion; the value itself where it has the type already.
    pub fn cast(&mut self, op: Cast, value: Val, to: Ty) -> Val {
        if self.type_of(value) == to {
            return value;
        }
        self.push(Inst::Cast(op, value, to), Some(to))
    }

    /// One of two values.
    pub fn select(&mut self, condition: Val, yes: Val, no: Val) -> Val {
        let ty = self.type_of(yes);
        self.push(Inst::Select(condition, yes, no), Some(ty))
    }

    /// A comparison of scalars.
    pub fn compare(&mut self, predicate: Predicate, left: Val, right: Val) -> Val {
        let bool = self.int(1);
        self.push(Inst::Compare(predicate, left, right), Some(bool))
    }

    /// The address of an element of an array.
    pub fn element_at(&mut self, array: Val, index: Val) -> Val {
        let (of, space) = self.pointee(array);
        let to = self.element(of);
        let ty = self.pointer(to, space);
        let zero = self.i32(0);
        self.push(Inst::Gep { of, base: array, indices: [zero, index] }, Some(ty))
    }

    /// A member of a structure whose members are of type `ty`.
    pub fn member(&mut self, structure: Val, index: u32, ty: Ty) -> Val {
        self.push(Inst::ExtractValue(structure, index), Some(ty))
    }

    /// An element of a vector.
    pub fn extract(&mut self, vector: Val, index: Val) -> Val {
        let ty = self.type_of(vector);
        let of = self.element(ty);
        self.push(Inst::ExtractElement(vector, index), Some(of))
    }

    /// A vector with another element.
    pub fn insert(&mut self, vector: Val, element: Val, index: Val) -> Val {
        let ty = self.type_of(vector);
        self.push(Inst::InsertElement(vector, element, index), Some(ty))
    }

    /// What comes from one of several blocks: at the start of a block, before what is no phi.
    pub fn phi(&mut self, ty: Ty, incoming: Vec<(Val, Block)>) -> Val {
        self.push(Inst::Phi(ty, incoming), Some(ty))
    }

    /// Adds what a phi is if control comes from another block.
    pub fn add_incoming(&mut self, phi: Val, value: Val, from: Block) {
        if let Val::Inst(id) = phi
            && let (Inst::Phi(_, incoming), _) = &mut self.insts[id as usize]
        {
            incoming.push((value, from));
        }
    }

    /// A variable of the invocation.
    pub fn local(&mut self, ty: Ty) -> Val {
        let pointer = self.pointer(ty, 0);
        self.i32(1);
        self.push(Inst::Alloca(ty), Some(pointer))
    }

    /// What a variable holds.
    pub fn load(&mut self, pointer: Val) -> Val {
        let (ty, _) = self.pointee(pointer);
        self.push(Inst::Load(pointer), Some(ty))
    }

    /// Changes a variable.
    pub fn store(&mut self, pointer: Val, value: Val) {
        self.push(Inst::Store { pointer, value }, None);
    }

    /// Changes a variable in one step; what was there before is of no interest.
    pub fn atomic(&mut self, op: Rmw, pointer: Val, value: Val) {
        let (ty, _) = self.pointee(pointer);
        self.push(Inst::Atomic { op, pointer, value }, Some(ty));
    }

    /// Calls an operation: `dx.op.` and `name`, with its number and operands.
    pub fn operation(&mut self, name: &str, number: u32, operands: &[Val], returns: Ty) -> Val {
        let number = self.i32(number);
        let args: Vec<Val> = std::iter::once(number).chain(operands.iter().copied()).collect();
        let params = args.iter().map(|&v| self.type_of(v)).collect();
        let ty = self.ty(Shape::Function { returns, params });
        self.pointer(ty, 0);
        let next = self.functions.len() as u32;
        let id = *self.function_ids.entry(name.into()).or_insert(next);
        if id == next {
            self.functions.push(Declared { name: format!("dx.op.{name}"), ty });
        }
        let void = self.void();
        let given = Some(returns).filter(|&ty| ty != void);
        self.push(Inst::Call { function: Val::Function(id), args }, given)
    }

    /// Ends the block: it goes on in another.
    pub fn jump(&mut self, to: Block) {
        self.push(Inst::Jump(to), None);
    }

    /// Ends the block with a choice of two.
    pub fn branch(&mut self, condition: Val, yes: Block, no: Block) {
        self.push(Inst::Branch { condition, yes, no }, None);
    }

    /// Ends the block with a choice by a number of 32 bits.
    pub fn switch(&mut self, value: Val, default: Block, cases: &[(u32, Block)]) {
        let cases = cases.iter().map(|&(n, block)| (self.i32(n), block)).collect();
        self.push(Inst::Switch { value, default, cases }, None);
    }

    /// Ends the function.
    pub fn ret(&mut self) {
        self.push(Inst::Return, None);
    }
}
