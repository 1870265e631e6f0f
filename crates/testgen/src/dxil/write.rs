//! Modules as bitcode of LLVM 3.7: types, constants, metadata, names and the function.
//!
//! Numbers of blocks and records are those of `LLVMBitCodes.h` (LLVM 3.7).

use super::bits::Stream;
use super::module::{Block, Constant, Inst, Module, SHARED, Shape, Ty, Val};

/// Numbers of blocks of a stream.
mod block {
    pub const MODULE: u32 = 8;
    pub const CONSTANTS: u32 = 11;
    pub const FUNCTION: u32 = 12;
    pub const VALUE_SYMTAB: u32 = 14;
    pub const METADATA: u32 = 15;
    pub const TYPE: u32 = 17;
}

/// Native types of 16 bits, and waves and integers of 64 bits (`DxilShaderFlags.h`).
const FLAGS: i64 = 1 << 23 | 1 << 20 | 1 << 19 | 1 << 5 | 1 << 4;

impl Module {
    /// The bitcode.
    pub fn assemble(mut self) -> Vec<u8> {
        let metadata = Metadata::of(&mut self);
        let mut stream = Stream::new(b"BC\xc0\xde");
        stream.block(block::MODULE, |s| {
            s.record(1, [1]);
            s.block(block::TYPE, |s| self.write_types(s));
            s.text(2, &[], "dxil-ms-dx");
            s.text(3, &[], "e-m:e-p:32:32-i1:32-i8:8-i16:16-i32:32-i64:64-f16:16-f32:32-f64:64-n8:16:32:64");
            for global in &self.globals {
                // Its type, in the address space (2 says that the type is that of the contents); initialised to undef;
                // internal; aligned to four bytes.
                let undef = self.number_of_undef(global.ty);
                s.record(7, [global.ty.0.into(), u64::from(SHARED) << 2 | 2, undef + 1, 3, 3, 0]);
            }
            for (n, function) in self.functions.iter().enumerate() {
                let declared = u64::from(n > 0);
                s.record(8, [function.ty.0.into(), 0, declared, 0, 0, 0, 0, 0]);
            }
            s.block(block::CONSTANTS, |s| self.write_constants(s));
            s.block(block::METADATA, |s| metadata.write(s));
            s.block(block::VALUE_SYMTAB, |s| {
                for (n, symbol) in self.globals.iter().chain(&self.functions).enumerate() {
                    s.text(1, &[n as u64], &symbol.name);
                }
            });
            s.block(block::FUNCTION, |s| Writer::new(&self).write(s));
        });
        stream.finish()
    }

    fn write_types(&self, s: &mut Stream) {
        s.record(1, [self.types.len() as u64]);
        let id = |ty: &Ty| u64::from(ty.0);
        for shape in &self.types {
            match shape {
                Shape::Void => s.record(2, []),
                Shape::Half => s.record(10, []),
                Shape::Float => s.record(3, []),
                Shape::Int(bits) => s.record(7, [(*bits).into()]),
                Shape::Pointer { to, space } => s.record(8, [id(to), (*space).into()]),
                Shape::Array { count, of } => s.record(11, [*count, id(of)]),
                Shape::Vector { count, of } => s.record(12, [*count, id(of)]),
                Shape::Struct { name, fields } => {
                    s.text(19, &[], name);
                    let fields: Vec<u64> = std::iter::once(0).chain(fields.iter().map(id)).collect();
                    s.record(20, fields);
                }
                Shape::Function { returns, params } => {
                    let types: Vec<u64> = [0, id(returns)].into_iter().chain(params.iter().map(id)).collect();
                    s.record(21, types);
                }
                Shape::Metadata => s.record(16, []),
            }
        }
    }

    fn write_constants(&self, s: &mut Stream) {
        let mut last = None;
        for &(ty, constant) in &self.constants {
            if last != Some(ty) {
                s.record(1, [ty.0.into()]);
                last = Some(ty);
            }
            match constant {
                Constant::Undef => s.record(3, []),
                Constant::Integer(value) => s.record(4, [signed(value)]),
            }
        }
    }

    /// Numbers of values: variables, functions, constants; those of instructions follow.
    fn number(&self, value: Val) -> u32 {
        let (globals, functions) = (self.globals.len() as u32, self.functions.len() as u32);
        match value {
            Val::Global(id) => id,
            Val::Function(id) => globals + id,
            Val::Constant(id) => globals + functions + id,
            Val::Inst(id) => id,
        }
    }

    fn in_order(&self) -> impl Iterator<Item = u32> {
        self.order.iter().flat_map(|block| self.blocks[block.0 as usize].iter().copied())
    }

    fn number_of_undef(&self, ty: Ty) -> u64 {
        let id = self.constant_ids.get(&(ty, Constant::Undef)).copied().unwrap_or_default();
        self.number(Val::Constant(id)).into()
    }
}

/// Numbers with their sign in the lowest bit; -0 stands for the least of them.
fn signed(value: i64) -> u64 {
    match value {
        i64::MIN => 1,
        0.. => (value as u64) << 1,
        _ => value.unsigned_abs() << 1 | 1,
    }
}

/// Writes the function, whose instructions have numbers in the order of the blocks.
struct Writer<'m> {
    module: &'m Module,
    /// Numbers of blocks and of what instructions give.
    blocks: Vec<u32>,
    numbers: Vec<u32>,
    next: u32,
}

impl Writer<'_> {
    fn new(module: &Module) -> Writer<'_> {
        let first = (module.globals.len() + module.functions.len() + module.constants.len()) as u32;
        let mut numbers = vec![0; module.insts.len()];
        let mut next = first;
        let mut blocks = vec![0; module.blocks.len()];
        for (n, &block) in module.order.iter().enumerate() {
            blocks[block.0 as usize] = n as u32;
        }
        for id in module.in_order() {
            if module.insts[id as usize].1.is_some() {
                numbers[id as usize] = next;
                next += 1;
            }
        }
        Writer { module, blocks, numbers, next: first }
    }

    fn number(&self, value: Val) -> u32 {
        match value {
            Val::Inst(id) => self.numbers[id as usize],
            other => self.module.number(other),
        }
    }

    /// How far back a value is.
    fn back(&self, value: Val) -> u64 {
        self.next.wrapping_sub(self.number(value)).into()
    }

    fn write(&mut self, s: &mut Stream) {
        let module = self.module;
        s.record(1, [module.order.len() as u64]);
        for id in module.in_order() {
            let (inst, ty) = &module.insts[id as usize];
            self.inst(inst, *ty, s);
            self.next += u32::from(ty.is_some());
        }
    }

    /// Writes an instruction that gives a value of type `given`.
    fn inst(&self, inst: &Inst, given: Option<Ty>, s: &mut Stream) {
        let back = |v: &Val| self.back(*v);
        let block = |b: &Block| u64::from(self.blocks[b.0 as usize]);
        match inst {
            Inst::Binary(op, a, b) => s.record(2, [back(a), back(b), *op as u64]),
            Inst::Cast(op, v, to) => s.record(3, [back(v), to.0.into(), *op as u64]),
            Inst::Select(c, yes, no) => s.record(29, [back(yes), back(no), back(c)]),
            Inst::Compare(predicate, a, b) => s.record(28, [back(a), back(b), *predicate as u64]),
            Inst::Gep { of, base, indices: [a, b] } => {
                s.record(43, [1, of.0.into(), back(base), back(a), back(b)]);
            }
            Inst::ExtractValue(v, index) => s.record(26, [back(v), (*index).into()]),
            Inst::ExtractElement(v, index) => s.record(6, [back(v), back(index)]),
            Inst::InsertElement(v, element, index) => s.record(7, [back(v), back(element), back(index)]),
            Inst::Phi(ty, incoming) => {
                let pairs = incoming.iter().flat_map(|(value, from)| {
                    let distance = i64::from(self.next) - i64::from(self.number(*value));
                    [signed(distance), block(from)]
                });
                let operands: Vec<u64> = std::iter::once(ty.0.into()).chain(pairs).collect();
                s.record(16, operands);
            }
            Inst::Alloca(ty) => {
                // One of it; aligned to 8 bytes (the logarithm and one more), with the type of its contents.
                let ids = &self.module.type_ids;
                let int = ids.get(&Shape::Int(32)).copied().unwrap_or(Ty(0));
                let one = (int, Constant::Integer(1));
                let one = self.module.constant_ids.get(&one).copied().unwrap_or_default();
                let one = self.number(Val::Constant(one));
                s.record(19, [ty.0.into(), int.0.into(), one.into(), 4 | 1 << 6]);
            }
            Inst::Load(pointer) => {
                s.record(20, [back(pointer), given.map_or(0, |ty| ty.0.into()), 3, 0]);
            }
            Inst::Store { pointer, value } => s.record(44, [back(pointer), back(value), 3, 0]),
            // Not volatile, sequentially consistent, for all threads.
            Inst::Atomic { op, pointer, value } => {
                s.record(38, [back(pointer), back(value), *op as u64, 0, 6, 1]);
            }
            Inst::Call { function, args } => {
                let Val::Function(id) = *function else { return };
                let ty = self.module.functions[id as usize].ty;
                let operands: Vec<u64> = [0, 1 << 15, ty.0.into(), back(function)]
                    .into_iter()
                    .chain(args.iter().map(back))
                    .collect();
                s.record(34, operands);
            }
            Inst::Jump(to) => s.record(11, [block(to)]),
            Inst::Branch { condition, yes, no } => s.record(11, [block(yes), block(no), back(condition)]),
            Inst::Switch { value, default, cases } => {
                let ids = &self.module.type_ids;
                let int = ids.get(&Shape::Int(32)).copied().unwrap_or(Ty(0));
                let pairs = cases.iter().flat_map(|(n, to)| [self.number(*n).into(), block(to)]);
                let operands: Vec<u64> =
                    [int.0.into(), back(value), block(default)].into_iter().chain(pairs).collect();
                s.record(12, operands);
            }
            Inst::Return => s.record(10, []),
        }
    }
}

/// Metadata: nodes, and lists of them by name.
struct Metadata {
    nodes: Vec<Node>,
    named: Vec<(&'static str, Vec<u64>)>,
}

enum Node {
    Text(&'static str),
    Value(Ty, u32),
    /// Numbers of nodes from 1 on; 0 is none.
    List(Vec<u64>),
}

impl Metadata {
    /// The shader's metadata ("Metadata" of DXIL.rst); adds the constants that it has to the module.
    fn of(module: &mut Module) -> Metadata {
        let facts = module.facts;
        for global in 0..module.globals.len() {
            let ty = module.globals[global].ty;
            module.undef(ty);
        }
        module.ty(Shape::Metadata);
        let main = module.functions[0].ty;
        let main = module.pointer(main, 0);
        let (bool, int, wide) = (module.int(1), module.int(32), module.int(64));
        let word = module.structure("struct.ByteAddressBuffer", vec![int]);
        let read = module.pointer(word, 0);
        let word = module.structure("struct.RWByteAddressBuffer", vec![int]);
        let written = module.pointer(word, 0);
        let constants = [
            (int, 0),
            (int, 1),
            (int, 6),
            (int, facts.minor.into()),
            (int, 4),
            (int, 11),
            (int, facts.threads.into()),
            (wide, FLAGS as u64),
            (bool, 0),
        ];
        let mut values: Vec<(Ty, Val)> =
            constants.iter().map(|&(ty, n)| (ty, module.integer(ty, n))).collect();
        values.push((read, module.undef(read)));
        values.push((written, module.undef(written)));
        values.push((main, Val::Function(0)));
        let mut nodes: Vec<Node> = values.iter().map(|&(ty, v)| Node::Value(ty, module.number(v))).collect();
        let mut node = |node: Node| {
            nodes.push(node);
            nodes.len() as u64
        };
        let [zero, one, six, minor, four, raw, threads, flags, no, t0, u1, function] =
            [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let (cs, name, empty) = (node(Node::Text("cs")), node(Node::Text("main")), node(Node::Text("")));
        let version = node(Node::List(vec![one, minor]));
        let model = node(Node::List(vec![cs, six, minor]));
        // Number, variable, name, space, register, count, shape, then what the class has.
        let srv = node(Node::List(vec![zero, t0, empty, zero, zero, one, raw, zero, 0]));
        let srvs = node(Node::List(vec![srv]));
        let uav = node(Node::List(vec![zero, u1, empty, zero, one, one, raw, no, no, no, 0]));
        let uavs = node(Node::List(vec![uav]));
        let resources = node(Node::List(vec![srvs, uavs, 0, 0]));
        let group = node(Node::List(vec![threads, one, one]));
        let properties = node(Node::List(vec![zero, flags, four, group]));
        let entry = node(Node::List(vec![function, name, 0, resources, properties]));
        let named = vec![
            ("dx.version", vec![version]),
            ("dx.shaderModel", vec![model]),
            ("dx.resources", vec![resources]),
            ("dx.entryPoints", vec![entry]),
        ];
        Metadata { nodes, named }
    }

    fn write(&self, s: &mut Stream) {
        for node in &self.nodes {
            match node {
                Node::Text(text) => s.text(1, &[], text),
                Node::Value(ty, value) => s.record(2, [ty.0.into(), (*value).into()]),
                Node::List(items) => s.record(3, items.iter().copied()),
            }
        }
        for (name, nodes) in &self.named {
            s.text(4, &[], name);
            s.record(10, nodes.iter().map(|n| n - 1).collect::<Vec<u64>>());
        }
    }
}
