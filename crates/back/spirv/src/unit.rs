//! A module being written: ids, sections, interned types and constants.
//!
//! Instructions of the function at work go to [`Unit::code`]; everything global goes to its section at once, and
//! [`Unit::finish`] puts the sections in the order of the specification.

use crate::error::{Error, Reason};
use crate::options::{Names, Options, Version};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirv::{AddressingModel, Capability, Decoration, GlslStd450Op as GlOp, MemoryModel, Op, StorageClass};
use std::ops::Range;
use xenoglot_ir::imm::SpecInfo;
use xenoglot_ir::{Bits, Kind, Type};

/// An id of the output.
pub(crate) type Id = u32;

/// Ids from here on are phis of the function at work, by number; they get real ids when the function is closed.
pub(crate) const PHI: Id = 1 << 30;

/// The universal limit on ids.
const MAX_BOUND: u32 = 0x003f_ffff;

/// The most words of an instruction.
pub(crate) const MOST_WORDS: usize = 0xffff;

/// The most operands of an instruction whose number of operands is known where it is written.
const MOST_FIXED: usize = 8;

/// Integers below this have their ids in a table. Selectors of the structured form are numbers of blocks.
const SMALL: usize = 256;

type Words = SmallVec<[u32; 8]>;

/// Appends an instruction.
pub(crate) fn push(to: &mut Vec<u32>, op: Op, operands: &[u32]) {
    to.push((operands.len() as u32 + 1) << 16 | op as u32);
    to.extend_from_slice(operands);
}

/// Appends an instruction that ends in a string.
pub(crate) fn push_text(to: &mut Vec<u32>, op: Op, before: &[u32], text: &str, after: &[u32]) {
    let start = to.len();
    to.push(0);
    to.extend_from_slice(before);
    // A string ends at its first zero byte; a zero inside would cut the operands short of the word count.
    let bytes: SmallVec<[u8; 64]> = text.bytes().filter(|&b| b != 0).take(0x8000).collect();
    for chunk in bytes.chunks(4) {
        to.push(chunk.iter().rev().fold(0, |w, &b| w << 8 | u32::from(b)));
    }
    if bytes.len().is_multiple_of(4) {
        to.push(0);
    }
    to.extend_from_slice(after);
    to[start] = ((to.len() - start) as u32) << 16 | op as u32;
}

/// The place of a type among the numbers; handles' lie past their end.
fn number_place(ty: Type) -> usize {
    ty.kind() as usize * 4 + usize::from(ty.lanes()) - 1
}

/// The module at work.
#[derive(Default)]
pub(crate) struct Unit {
    pub(crate) options: Options,
    version: Version,
    next_id: u32,
    capabilities: Vec<Capability>,
    extensions: Vec<&'static str>,
    glsl: Id,
    /// Whether there are 64-bit pointers.
    physical: bool,
    /// Whether invocations of a workgroup have to form quads.
    pub(crate) quads: bool,
    /// Whether the shader has a critical section.
    pub(crate) interlocked: bool,
    /// Whether some instruction would have more than [`MOST_WORDS`].
    pub(crate) too_long: bool,
    strings: Vec<u32>,
    names: Vec<u32>,
    annotations: Vec<u32>,
    globals: Vec<u32>,
    /// Finished functions.
    pub(crate) functions: Vec<u32>,
    /// The body at work.
    pub(crate) code: Vec<u32>,
    /// Words of the body that are no ids, although they may look like phis; in ascending order.
    pub(crate) literals: Vec<Range<usize>>,
    /// Number and vector types, in the places that [`number_place`] gives.
    numbers: [Id; 32],
    /// Their undefined values.
    undefs: [Id; 32],
    pub(crate) interned: FxHashMap<Words, Id>,
    /// Constants whose lanes are equal, by type and a lane's bits: what is asked for most.
    splats: FxHashMap<(Type, u64), Id>,
    /// The 32-bit integers among them that are small.
    small: Vec<Id>,
    /// Whether an id is a constant's.
    constants: Vec<bool>,
    /// Pointer types by storage class and target; few.
    pointers: Vec<(StorageClass, Id, Id)>,
    /// Inputs and outputs, and from 1.4 on every other global variable.
    pub(crate) interface: Vec<Id>,
}

impl Unit {
    /// Empties the unit for another module.
    pub(crate) fn reset(&mut self, options: &Options, version: Version) {
        self.options.clone_from(options);
        self.version = version;
        self.next_id = 1;
        self.glsl = 0;
        self.physical = false;
        self.quads = false;
        self.interlocked = false;
        self.too_long = false;
        self.capabilities.clear();
        self.extensions.clear();
        for section in [
            &mut self.strings,
            &mut self.names,
            &mut self.annotations,
            &mut self.globals,
            &mut self.functions,
            &mut self.code,
            &mut self.interface,
        ] {
            section.clear();
        }
        self.numbers = Default::default();
        self.undefs = Default::default();
        self.interned.clear();
        self.splats.clear();
        self.constants.clear();
        self.small.clear();
        self.small.resize(SMALL, 0);
        self.pointers.clear();
        self.literals.clear();
        self.capability(Capability::Shader);
    }

    /// A fresh id.
    pub(crate) fn id(&mut self) -> Id {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Whether the version is `v` or newer.
    pub(crate) fn since(&self, v: Version) -> bool {
        self.version >= v
    }

    /// Demands a version; `what` are the things that need it.
    pub(crate) fn needs(&self, version: Version, what: &'static str) -> Result<(), Reason> {
        if self.since(version) { Ok(()) } else { Err(Reason::Version(version, what)) }
    }

    /// Declares a capability.
    pub(crate) fn capability(&mut self, c: Capability) {
        if let Err(at) = self.capabilities.binary_search_by_key(&(c as u32), |&k| k as u32) {
            self.capabilities.insert(at, c);
        }
    }

    /// Declares an extension.
    pub(crate) fn extension(&mut self, name: &'static str) {
        if let Err(at) = self.extensions.binary_search(&name) {
            self.extensions.insert(at, name);
        }
    }

    /// Declares the extension of arrays without bound and of indices that differ, if the version lacks it.
    pub(crate) fn descriptor_indexing(&mut self) {
        if !self.since(Version::V1_5) {
            self.extension("SPV_EXT_descriptor_indexing");
        }
    }

    /// Declares 64-bit pointers.
    pub(crate) fn pointers(&mut self) {
        self.physical = true;
        self.capability(Capability::PhysicalStorageBufferAddresses);
        if !self.since(Version::V1_5) {
            self.extension("SPV_KHR_physical_storage_buffer");
        }
    }

    /// Names `id` if names of that level are wanted.
    pub(crate) fn name(&mut self, level: Names, id: Id, name: &str) {
        if self.options.names >= level && !name.is_empty() {
            push_text(&mut self.names, Op::Name, &[id], name, &[]);
        }
    }

    /// Names member `index` of a struct.
    pub(crate) fn member_name(&mut self, id: Id, index: u32, name: &str) {
        if self.options.names >= Names::Interface {
            push_text(&mut self.names, Op::MemberName, &[id, index], name, &[]);
        }
    }

    /// A string for debug instructions.
    pub(crate) fn string(&mut self, text: &str) -> Id {
        let id = self.id();
        push_text(&mut self.strings, Op::String, &[id], text, &[]);
        id
    }

    /// Says what the source asked for beyond its language.
    pub(crate) fn source_extension(&mut self, text: &str) {
        push_text(&mut self.strings, Op::SourceExtension, &[], text, &[]);
    }

    /// Decorates `id`.
    pub(crate) fn decorate(&mut self, id: Id, decoration: Decoration, operands: &[u32]) {
        let mut words: Words = SmallVec::from_slice(&[id, decoration as u32]);
        words.extend_from_slice(operands);
        push(&mut self.annotations, Op::Decorate, &words);
    }

    /// Decorates a member of a struct.
    pub(crate) fn decorate_member(&mut self, id: Id, member: u32, decoration: Decoration, operands: &[u32]) {
        let mut words: Words = SmallVec::from_slice(&[id, member, decoration as u32]);
        words.extend_from_slice(operands);
        push(&mut self.annotations, Op::MemberDecorate, &words);
    }

    /// The id of the global declaration `op key…`, with the result id before `key` (types) or after its first word
    /// (constants).
    fn intern(&mut self, op: Op, key: &[u32], typed: bool) -> Id {
        let mut words: Words = SmallVec::with_capacity(key.len() + 1);
        words.push(op as u32);
        words.extend_from_slice(key);
        if let Some(&id) = self.interned.get(&words) {
            return id;
        }
        let id = self.id();
        if typed {
            self.note_constant(id);
        }
        words.remove(0);
        words.insert(usize::from(typed), id);
        push(&mut self.globals, op, &words);
        words.remove(usize::from(typed));
        words.insert(0, op as u32);
        self.interned.insert(words, id);
        id
    }

    fn note_constant(&mut self, id: Id) {
        let at = id as usize;
        if self.constants.len() <= at {
            self.constants.resize(at + 1, false);
        }
        self.constants[at] = true;
    }

    /// Whether each id is a constant's; of those at the end that are not, nothing is said.
    pub(crate) fn constants(&self) -> &[bool] {
        &self.constants
    }

    /// A type that is not a number: `op operands…`.
    pub(crate) fn type_of(&mut self, op: Op, operands: &[u32]) -> Id {
        self.intern(op, operands, false)
    }

    /// A declaration that is never shared: structs of blocks.
    pub(crate) fn fresh_type(&mut self, op: Op, operands: &[u32]) -> Id {
        let id = self.id();
        let mut words: Words = SmallVec::from_slice(&[id]);
        words.extend_from_slice(operands);
        push(&mut self.globals, op, &words);
        id
    }

    /// A number or vector type. Handles never get here: ops that make them are refused before.
    #[inline]
    pub(crate) fn ty(&mut self, ty: Type) -> Id {
        match self.numbers.get(number_place(ty)) {
            Some(&known) if known != 0 => known,
            _ => self.declare_number(ty),
        }
    }

    #[cold]
    fn declare_number(&mut self, ty: Type) -> Id {
        if ty.kind().is_handle() {
            return self.void();
        }
        let lanes = ty.lanes();
        let id = if lanes > 1 {
            let lane = self.ty(ty.lane());
            self.type_of(Op::TypeVector, &[lane, lanes.into()])
        } else {
            let bits = ty.kind().bits();
            match ty.kind() {
                Kind::I8 => self.capability(Capability::Int8),
                Kind::I16 => self.capability(Capability::Int16),
                Kind::I64 => self.capability(Capability::Int64),
                Kind::F16 => self.capability(Capability::Float16),
                Kind::F64 => self.capability(Capability::Float64),
                _ => {}
            }
            match ty.kind() {
                Kind::Bool => self.type_of(Op::TypeBool, &[]),
                k if k.is_float() => self.type_of(Op::TypeFloat, &[bits]),
                _ => self.type_of(Op::TypeInt, &[bits, 0]),
            }
        };
        if let Some(known) = self.numbers.get_mut(number_place(ty)) {
            *known = id;
        }
        id
    }

    /// `void`.
    pub(crate) fn void(&mut self) -> Id {
        self.type_of(Op::TypeVoid, &[])
    }

    /// A pointer type.
    pub(crate) fn pointer(&mut self, class: StorageClass, to: Id) -> Id {
        if let Some(&(.., id)) = self.pointers.iter().find(|p| p.0 == class && p.1 == to) {
            return id;
        }
        let id = self.type_of(Op::TypePointer, &[class as u32, to]);
        self.pointers.push((class, to, id));
        id
    }

    /// A constant. Lanes past the type's are ignored.
    pub(crate) fn constant(&mut self, ty: Type, bits: &Bits) -> Id {
        let lanes = usize::from(ty.lanes());
        if (1..lanes).all(|i| bits.lane(i) == bits.lane(0)) {
            return self.splat(ty, bits.lane(0));
        }
        let mut words: Words = SmallVec::from_slice(&[self.ty(ty)]);
        for i in 0..lanes {
            let lane = self.splat(ty.lane(), bits.lane(i));
            words.push(lane);
        }
        self.intern(Op::ConstantComposite, &words, true)
    }

    /// The same bits in every lane.
    pub(crate) fn splat(&mut self, ty: Type, bits: u64) -> Id {
        let bits = bits & ty.kind().mask();
        if let (Type::I32, Some(&known)) = (ty, self.small.get(bits as usize))
            && known != 0
        {
            return known;
        }
        if let Some(&id) = self.splats.get(&(ty, bits)) {
            return id;
        }
        let type_id = self.ty(ty);
        let lane = if ty.is_scalar() { 0 } else { self.splat(ty.lane(), bits) };
        let id = self.id();
        let declare: (Op, &[u32]) = match (ty.lanes(), ty.kind().bits()) {
            (1, 1) if bits == 0 => (Op::ConstantFalse, &[type_id, id]),
            (1, 1) => (Op::ConstantTrue, &[type_id, id]),
            (1, 64) => (Op::Constant, &[type_id, id, bits as u32, (bits >> 32) as u32]),
            (1, _) => (Op::Constant, &[type_id, id, bits as u32]),
            (n, _) => {
                (Op::ConstantComposite, &[type_id, id, lane, lane, lane, lane][..2 + usize::from(n.min(4))])
            }
        };
        push(&mut self.globals, declare.0, declare.1);
        self.note_constant(id);
        self.splats.insert((ty, bits), id);
        if let (Type::I32, Some(known)) = (ty, self.small.get_mut(bits as usize)) {
            *known = id;
        }
        id
    }

    /// A 32-bit integer constant.
    #[inline]
    pub(crate) fn u32(&mut self, v: u32) -> Id {
        match self.small.get(v as usize) {
            Some(&known) if known != 0 => known,
            _ => self.splat(Type::I32, u64::from(v)),
        }
    }

    /// A constant of 32-bit integers whose type says that they are signed.
    pub(crate) fn signed(&mut self, ty: Type, bits: &Bits) -> Id {
        let lane_type = self.type_of(Op::TypeInt, &[32, 1]);
        let lanes = usize::from(ty.lanes());
        let lane = |unit: &mut Unit, i| unit.intern(Op::Constant, &[lane_type, bits.lane(i) as u32], true);
        if lanes == 1 {
            return lane(self, 0);
        }
        let mut words: Words = SmallVec::new();
        words.push(self.type_of(Op::TypeVector, &[lane_type, lanes as u32]));
        for i in 0..lanes {
            let lane = lane(self, i);
            words.push(lane);
        }
        self.intern(Op::ConstantComposite, &words, true)
    }

    /// A specialization constant, or its default where consumers cannot be counted on to know any.
    pub(crate) fn specialized(&mut self, SpecInfo { id: number, default }: SpecInfo) -> Id {
        if self.options.portable_ops {
            return self.u32(default);
        }
        let ty = self.ty(Type::I32);
        let key: Words = SmallVec::from_slice(&[Op::SpecConstant as u32, ty, number, default]);
        if let Some(&id) = self.interned.get(&key) {
            return id;
        }
        let id = self.id();
        push(&mut self.globals, Op::SpecConstant, &[ty, id, default]);
        self.decorate(id, Decoration::SpecId, &[number]);
        self.interned.insert(key, id);
        id
    }

    /// The zero of any type.
    pub(crate) fn null(&mut self, type_id: Id) -> Id {
        self.intern(Op::ConstantNull, &[type_id], true)
    }

    /// An undefined value.
    pub(crate) fn undef(&mut self, ty: Type) -> Id {
        if let Some(&known) = self.undefs.get(number_place(ty))
            && known != 0
        {
            return known;
        }
        let type_id = self.ty(ty);
        let id = self.intern(Op::Undef, &[type_id], true);
        if let Some(known) = self.undefs.get_mut(number_place(ty)) {
            *known = id;
        }
        id
    }

    /// A global variable.
    pub(crate) fn variable(&mut self, class: StorageClass, to: Id) -> Id {
        let pointer = self.pointer(class, to);
        let id = self.id();
        push(&mut self.globals, Op::Variable, &[pointer, id, class as u32]);
        if matches!(class, StorageClass::Input | StorageClass::Output) || self.since(Version::V1_4) {
            self.interface.push(id);
        }
        id
    }

    /// Appends an instruction with a result to the body.
    #[inline]
    pub(crate) fn op<const N: usize>(&mut self, op: Op, ty: Type, args: &[u32; N]) -> Id {
        let type_id = self.ty(ty);
        self.op_raw(op, type_id, args)
    }

    /// [`Unit::op`] with the type's id.
    #[inline]
    pub(crate) fn op_raw<const N: usize>(&mut self, op: Op, type_id: Id, args: &[u32; N]) -> Id {
        let id = self.id();
        // One check for room and no copying in a loop: the length is known.
        let mut words = [0; MOST_FIXED + 3];
        words[..3].copy_from_slice(&[(N as u32 + 3) << 16 | op as u32, type_id, id]);
        words[3..N + 3].copy_from_slice(args);
        self.code.extend_from_slice(&words[..N + 3]);
        id
    }

    /// [`Unit::op`] with any number of operands.
    pub(crate) fn op_of(&mut self, op: Op, ty: Type, args: &[u32]) -> Id {
        let type_id = self.ty(ty);
        self.op_raw_of(op, type_id, args)
    }

    /// [`Unit::op_raw`] with any number of operands.
    pub(crate) fn op_raw_of(&mut self, op: Op, type_id: Id, args: &[u32]) -> Id {
        let id = self.id();
        self.header(op, args.len() + 2);
        self.code.extend_from_slice(&[type_id, id]);
        self.code.extend_from_slice(args);
        id
    }

    /// A copy of a value, in the current block, in what naga reads. Its reader makes an invalid module of an atomic whose operand is
    /// from another block, and panics at such an operand of a subgroup op.
    pub(crate) fn here(&mut self, ty: Type, id: Id) -> Id {
        let is_constant = self.constants.get(id as usize).copied().unwrap_or_default();
        if is_constant || !self.options.portable_ops { id } else { self.op(Op::CopyObject, ty, &[id]) }
    }

    /// Starts a block of the body; the place of what comes behind its label.
    #[inline]
    pub(crate) fn label(&mut self, label: Id) -> usize {
        self.effect(Op::Label, &[label]);
        self.code.len()
    }

    /// Appends an instruction without a result to the body.
    #[inline]
    pub(crate) fn effect<const N: usize>(&mut self, op: Op, args: &[u32; N]) {
        let mut words = [0; MOST_FIXED + 1];
        words[0] = (N as u32 + 1) << 16 | op as u32;
        words[1..=N].copy_from_slice(args);
        self.code.extend_from_slice(&words[..=N]);
    }

    /// [`Unit::effect`] with any number of operands.
    pub(crate) fn effect_of(&mut self, op: Op, args: &[u32]) {
        self.header(op, args.len());
        self.code.extend_from_slice(args);
    }

    /// Appends the first word of an instruction, which looks like a phi if the instruction is very long.
    fn header(&mut self, op: Op, operands: usize) {
        self.too_long |= operands >= MOST_WORDS;
        let word = (operands as u32 + 1) << 16 | op as u32;
        self.code.push(word);
        if word >= PHI {
            self.no_ids(1);
        }
    }

    /// Notes that the last words of the body are no ids, although they may look like phis.
    pub(crate) fn no_ids(&mut self, words: usize) {
        let end = self.code.len();
        self.literals.push(end.saturating_sub(words)..end);
    }

    /// Appends an instruction of GLSL.std.450 to the body.
    pub(crate) fn glsl(&mut self, op: GlOp, ty: Type, args: &[u32]) -> Id {
        if self.glsl == 0 {
            self.glsl = self.id();
        }
        let mut words: Words = SmallVec::from_slice(&[self.glsl, op as u32]);
        words.extend_from_slice(args);
        self.op_of(Op::ExtInst, ty, &words)
    }

    /// The module: `entry` and `modes` are complete instructions.
    pub(crate) fn finish(&self, entry: &[u32], modes: &[u32]) -> Result<Vec<u32>, Error> {
        if self.next_id > MAX_BOUND {
            return Err(Error::TooLarge(self.next_id));
        }
        if self.too_long || entry.len() > MOST_WORDS {
            return Err(Error::TooLong);
        }
        let Options { capabilities: allowed, without, .. } = &self.options;
        let lacks = |c: &Capability| {
            without.contains(c) || allowed.as_ref().is_some_and(|allowed| !allowed.contains(c))
        };
        if let Some(&c) = self.capabilities.iter().find(|c| lacks(c)) {
            return Err(Error::Capability(c));
        }
        let sections = [&self.strings, &self.names, &self.annotations, &self.globals, &self.functions];
        let body: usize = sections.iter().map(|s| s.len()).sum();
        let mut out = Vec::with_capacity(body + entry.len() + modes.len() + 64);
        // The generator's number is 0: unregistered.
        out.extend_from_slice(&[
            spirv::MAGIC_NUMBER,
            0x0001_0000 | self.version.minor() << 8,
            0,
            self.next_id,
            0,
        ]);
        for &c in &self.capabilities {
            push(&mut out, Op::Capability, &[c as u32]);
        }
        for name in &self.extensions {
            push_text(&mut out, Op::Extension, &[], name, &[]);
        }
        if self.glsl != 0 {
            push_text(&mut out, Op::ExtInstImport, &[self.glsl], "GLSL.std.450", &[]);
        }
        let addressing = match self.physical {
            true => AddressingModel::PhysicalStorageBuffer64,
            false => AddressingModel::Logical,
        };
        push(&mut out, Op::MemoryModel, &[addressing as u32, MemoryModel::GLSL450 as u32]);
        out.extend_from_slice(entry);
        out.extend_from_slice(modes);
        for section in sections {
            out.extend_from_slice(section);
        }
        Ok(out)
    }
}
