//! Loads, stores and atomics. An access whose place is known goes to the array itself; others go through an
//! accessor, a function written once per resource and type.

use crate::buffers::{Buffers, Element, View};
use crate::error::Error;
use crate::expr::{ANY, Sel};
use crate::literal::{push_number, type_name};
use crate::options::Target;
use crate::plan::Mode;
use crate::writer::{Extension, ModuleNames, Writer, precise};
use std::fmt::Write;
use xenoglot_ir::imm::Order;
use xenoglot_ir::{Func, Imm, Inst, Kind, MemInfo, Module, Op, Resource, Space, Type};

/// A memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Memory {
    Resource(Resource),
    Shared,
    Private(Func),
}

/// What an accessor does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Access {
    Load,
    Store,
    Atomic(Op),
}

struct Accessor {
    memory: Memory,
    access: Access,
    ty: Type,
    /// The address is a multiple of 16.
    aligned: bool,
    name: String,
}

/// The accessors a module uses.
#[derive(Default)]
pub(crate) struct Accessors {
    used: Vec<Accessor>,
}

impl Writer<'_> {
    fn memory(&self, inst: Inst) -> Result<(MemInfo, Memory, View), Error> {
        let Imm::Mem(mem) = self.func.insts[inst].imm else {
            return Err(Error::Malformed("an access without memory"));
        };
        if !matches!(mem.order, Order::None | Order::Relaxed) {
            return Err(self.unsupported(inst, "ordered accesses; use a barrier"));
        }
        if let Some(v) = self.func.args(inst).get(1).copied().or(self.func.result(inst)) {
            let kind = self.func.ty(v).kind();
            if mem.align_log2 < 2 || !matches!(kind, Kind::I32 | Kind::F32 | Kind::I64) {
                return Err(self.unsupported(inst, "accesses that are not made of aligned 32-bit words"));
            }
        }
        let words = |bytes: u32| View {
            element: Element::Word,
            count: Some(bytes.div_ceil(4)),
            checked: true,
            used: true,
            ..View::default()
        };
        match (mem.space, mem.resource.expand()) {
            (Space::Uniform | Space::ConstBank | Space::Push | Space::Storage, Some(r)) => {
                let view = self.buffers.view(r);
                if !view.used {
                    return Err(Error::Malformed("an access of a resource that does not exist"));
                }
                Ok((mem, Memory::Resource(r), view))
            }
            (Space::Shared, _) => Ok((mem, Memory::Shared, words(self.module.shared_size))),
            (Space::Private, _) => Ok((mem, Memory::Private(self.func_id), words(self.func.private_size))),
            _ => Err(self.unsupported(inst, "this memory space")),
        }
    }

    fn constant_offset(&self, inst: Inst) -> Option<u32> {
        let &at = self.func.args(inst).first()?;
        let bits = self.func.const_bits(at)?;
        u32::try_from(bits.lane(0)).ok()
    }

    pub(crate) fn load(&mut self, inst: Inst, ty: Type, sel: Sel) -> Result<(), Error> {
        let (mem, memory, view) = self.memory(inst)?;
        let at = *self.func.args(inst).first().ok_or(Error::Malformed("an address is missing"))?;
        let float_element = view.element == Element::Floats;
        let direct = ty.kind() != Kind::I64 && (view.count.is_some() || !view.checked);
        if let (true, Some(offset)) = (direct, self.constant_offset(inst)) {
            let first = offset / 4;
            let per = view.element.words();
            let limit = view.count.map_or(u32::MAX, |n| n.saturating_mul(per));
            let last = first.saturating_add(u32::from(ty.lanes()) - 1);
            let one_element = first / per == last / per;
            if first >= limit {
                return self.literal(ty, &[0; 4], sel, ANY);
            }
            if last < limit && one_element {
                self.open_conversion(float_element, ty.kind());
                self.array(memory)?;
                let _ = write!(self.out, "[{}]", first / per);
                if per > 1 {
                    let mut lanes = [0; 4];
                    for (to, &l) in lanes.iter_mut().zip(sel.as_slice()) {
                        *to = (first % 4) as u8 + l;
                    }
                    Sel::some(&lanes[..usize::from(sel.lanes())], 4).write(self.out);
                }
                self.close_conversion(float_element, ty.kind());
                return Ok(());
            }
        }
        let aligned = mem.align_log2 >= 4;
        let whole = ty.lanes() == 4 && aligned && view.element != Element::Word;
        if !view.checked
            && ty.kind() != Kind::I64
            && (whole || (ty.is_scalar() && view.element == Element::Word))
        {
            self.open_conversion(float_element, ty.kind());
            self.array(memory)?;
            self.out.push('[');
            self.value(at, crate::expr::POSTFIX)?;
            self.out.push_str(if whole { " >> 4]" } else { " >> 2]" });
            if whole {
                sel.write(self.out);
            }
            self.close_conversion(float_element, ty.kind());
            return Ok(());
        }
        self.accessor(memory, Access::Load, ty, aligned)?;
        self.value(at, ANY)?;
        self.out.push(')');
        sel.write(self.out);
        Ok(())
    }

    /// Writes the bytes of a buffer.
    pub(crate) fn buffer_size(&mut self, inst: Inst, ty: Type) -> Result<(), Error> {
        let Imm::Resource(r) = self.func.insts[inst].imm else {
            return Err(Error::Malformed("a size without a buffer"));
        };
        if ty != Type::I32 {
            return Err(self.unsupported(inst, "sizes of 64 bits"));
        }
        let view = self.buffers.view(r);
        let bytes = 4 * view.element.words();
        match view.count {
            Some(count) => {
                let _ = write!(self.out, "{}u", count.saturating_mul(bytes));
            }
            None => {
                self.out.push_str("(uint(");
                self.array(Memory::Resource(r))?;
                let _ = write!(self.out, ".length()) * {bytes}u)");
            }
        }
        Ok(())
    }

    /// Writes a store statement without indentation.
    pub(crate) fn store(&mut self, inst: Inst) -> Result<(), Error> {
        let (mem, memory, view) = self.memory(inst)?;
        let &[at, v] = self.func.args(inst) else {
            return Err(Error::Malformed("address and value are expected"));
        };
        let ty = self.func.ty(v);
        let per = view.element.words();
        let float_element = view.element == Element::Floats;
        let whole = if per == 4 { ty.lanes() == 4 && mem.align_log2 >= 4 } else { ty.is_scalar() };
        let inside = |offset: u32| view.count.is_some_and(|n| offset / (4 * per) < n);
        let constant = self.constant_offset(inst);
        if whole && ty.kind() != Kind::I64 && (!view.checked || constant.is_some_and(inside)) {
            self.array(memory)?;
            self.out.push('[');
            match constant {
                Some(offset) => push_number(self.out, offset / (4 * per)),
                None => {
                    self.value(at, crate::expr::POSTFIX)?;
                    self.out.push_str(if per == 4 { " >> 4" } else { " >> 2" });
                }
            }
            self.out.push_str("] = ");
            if float_element == (ty.kind() == Kind::F32) {
                self.value(v, ANY)?;
            } else {
                self.out.push_str(if float_element { "uintBitsToFloat(" } else { "floatBitsToUint(" });
                self.value(v, ANY)?;
                self.out.push(')');
            }
            self.out.push(';');
            return Ok(());
        }
        self.accessor(memory, Access::Store, ty, mem.align_log2 >= 4)?;
        self.value(at, ANY)?;
        self.out.push_str(", ");
        self.value(v, ANY)?;
        self.out.push_str(");");
        Ok(())
    }

    pub(crate) fn atomic(&mut self, inst: Inst, ty: Type) -> Result<(), Error> {
        let (_, memory, view) = self.memory(inst)?;
        if ty == Type::I64 && view.wide {
            self.extension(Extension::AtomicInt64);
        } else if ty != Type::I32 {
            return Err(self.unsupported(inst, "atomics on anything but words, or pairs of them in buffers"));
        }
        if matches!(memory, Memory::Private(_)) {
            return Err(self.unsupported(inst, "atomics on private memory"));
        }
        self.accessor(memory, Access::Atomic(self.func.insts[inst].op), ty, false)?;
        for i in 0..self.func.args(inst).len() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.value(self.func.args(inst)[i], ANY)?;
        }
        self.out.push(')');
        Ok(())
    }

    fn array(&mut self, memory: Memory) -> Result<(), Error> {
        self.out.push_str(name(self.names, memory)?);
        Ok(())
    }

    /// Writes the name of an accessor and the opening parenthesis.
    fn accessor(&mut self, memory: Memory, access: Access, ty: Type, aligned: bool) -> Result<(), Error> {
        let found = self
            .accessors
            .used
            .iter()
            .find(|a| a.memory == memory && a.access == access && a.ty == ty && a.aligned == aligned);
        if let Some(a) = found {
            self.out.push_str(&a.name);
        } else {
            let verb = match access {
                Access::Load => "load",
                Access::Store => "store",
                Access::Atomic(op) => op.info().name.trim_start_matches("atomic."),
            };
            let wish = format!("{verb}_{}_{ty}", name(self.names, memory)?);
            let name = self.namer.unique(&wish);
            self.out.push_str(&name);
            self.accessors.used.push(Accessor { memory, access, ty, aligned, name });
        }
        self.out.push('(');
        Ok(())
    }

    fn open_conversion(&mut self, float_element: bool, kind: Kind) {
        match (float_element, kind) {
            (true, Kind::F32) | (false, Kind::I32) => {}
            (true, _) => self.out.push_str("floatBitsToUint("),
            (false, _) => self.out.push_str("uintBitsToFloat("),
        }
    }

    fn close_conversion(&mut self, float_element: bool, kind: Kind) {
        if float_element != (kind == Kind::F32) {
            self.out.push(')');
        }
    }

    /// Whether a value is written in place rather than held by a variable.
    pub(crate) fn is_inline(&self, inst: Inst) -> bool {
        self.func.result(inst).is_some_and(|v| self.plan.mode(v) == Mode::Inline)
    }
}

fn name(names: &ModuleNames, memory: Memory) -> Result<&str, Error> {
    let name = match memory {
        Memory::Resource(r) => names.resources.get(r).map(String::as_str),
        Memory::Shared => Some(names.shared.as_str()),
        Memory::Private(f) => names.privates.get(f).map(String::as_str),
    };
    name.ok_or(Error::Malformed("an access of a resource that does not exist"))
}

impl Accessors {
    pub(crate) fn clear(&mut self) {
        self.used.clear();
    }

    /// Writes the definitions of all accessors in use.
    pub(crate) fn write(
        &self,
        out: &mut String,
        module: &Module,
        names: &ModuleNames,
        buffers: &Buffers,
        extensions: &mut u32,
        target: Target,
    ) -> Result<(), Error> {
        for a in &self.used {
            let (view, words) = match a.memory {
                Memory::Resource(r) => (buffers.view(r), None),
                Memory::Shared => (
                    View { element: Element::Word, checked: true, ..View::default() },
                    Some(module.shared_size),
                ),
                Memory::Private(f) => {
                    let size = module.funcs.get(f).map_or(0, |f| f.private_size);
                    (View { element: Element::Word, checked: true, ..View::default() }, Some(size))
                }
            };
            let count =
                words.map(|bytes| bytes / 4).or(view.count.map(|n| n.saturating_mul(view.element.words())));
            if a.ty.kind() == Kind::I64 {
                *extensions |= 1 << Extension::Int64 as u32;
            }
            let (mut array, mut view) = (name(names, a.memory)?, view);
            if let (Access::Atomic(_), Kind::I64, Memory::Resource(r)) = (a.access, a.ty.kind(), a.memory) {
                array = names.wide.get(r).map(String::as_str).unwrap_or_default();
                view.element = Element::Word;
            }
            let d = Definition { out, array, view, count, a, precise: precise(target) };
            match a.access {
                Access::Load => d.load()?,
                Access::Store => d.store()?,
                Access::Atomic(op) => d.atomic(op)?,
            }
        }
        Ok(())
    }
}

/// An accessor being written.
struct Definition<'a> {
    out: &'a mut String,
    array: &'a str,
    view: View,
    /// Words in the memory if that is known.
    count: Option<u32>,
    a: &'a Accessor,
    precise: &'a str,
}

const LANES: [&str; 4] = ["x", "y", "z", "w"];

impl Definition<'_> {
    /// `uint n`: elements (of `per` words each), where accesses are checked.
    fn limit(&mut self, per: u32) {
        if !self.view.checked {
            return;
        }
        let own = self.view.element.words();
        let _ = match self.count {
            Some(words) => writeln!(self.out, "    const uint n = {}u;", words / per),
            None if own == per => writeln!(self.out, "    uint n = uint({}.length());", self.array),
            None => writeln!(self.out, "    uint n = uint({}.length()) * {own}u;", self.array),
        };
    }

    /// The word `k` after word `i`, as it is stored.
    fn word(&self, k: u32) -> String {
        let index = if k == 0 { "i".to_owned() } else { format!("i + {k}u") };
        match self.view.element {
            Element::Word => format!("{}[{index}]", self.array),
            _ if k == 0 => format!("{}[i >> 2][i & 3u]", self.array),
            _ => format!("{}[({index}) >> 2][({index}) & 3u]", self.array),
        }
    }

    fn in_bounds(&self, k: u32) -> String {
        if k == 0 { "i < n".to_owned() } else { format!("i + {k}u < n") }
    }

    /// A word as it is stored, as bits of `kind`.
    fn convert(&self, kind: Kind, text: String) -> String {
        match (self.view.element == Element::Floats, kind) {
            (true, Kind::F32) | (false, Kind::I32 | Kind::I64) => text,
            (true, _) => format!("floatBitsToUint({text})"),
            (false, _) => format!("uintBitsToFloat({text})"),
        }
    }

    fn load(mut self) -> Result<(), Error> {
        let (ty, kind) = (self.a.ty, self.a.ty.kind());
        let name = type_name(ty)?;
        let qualifier = if kind == Kind::F32 { self.precise } else { "" };
        let _ = writeln!(self.out, "{qualifier}{name} {}(uint at) {{", self.a.name);
        if ty.lanes() == 4 && self.a.aligned && kind != Kind::I64 && self.view.element != Element::Word {
            self.limit(4);
            let value = self.convert(kind, format!("{}[i]", self.array));
            let _ = if self.view.checked {
                let zero = if kind == Kind::F32 { "0.0" } else { "0u" };
                write!(
                    self.out,
                    "    uint i = at >> 4;\n    return i < n ? {value} : {name}({zero});\n}}\n\n"
                )
            } else {
                write!(self.out, "    uint i = at >> 4;\n    return {value};\n}}\n\n")
            };
            return Ok(());
        }
        self.limit(1);
        self.out.push_str("    uint i = at >> 2;\n");
        let per = if kind == Kind::I64 { 2 } else { 1 };
        let lanes: Vec<String> = (0..u32::from(ty.lanes()))
            .map(|lane| {
                let (k, zero) = (lane * per, if kind == Kind::F32 { "0.0" } else { "0u" });
                let value = match per {
                    2 => {
                        let low = self.convert(kind, self.word(k));
                        let high = self.convert(kind, self.word(k + 1));
                        format!("packUint2x32(uvec2({low}, {high}))")
                    }
                    _ => self.convert(kind, self.word(k)),
                };
                let zero = if per == 2 { "uint64_t(0)" } else { zero };
                if self.view.checked {
                    format!("{} ? {value} : {zero}", self.in_bounds(k + per - 1))
                } else {
                    value
                }
            })
            .collect();
        let _ = match lanes.as_slice() {
            [one] => write!(self.out, "    return {one};\n}}\n\n"),
            _ => write!(self.out, "    return {name}({});\n}}\n\n", lanes.join(", ")),
        };
        Ok(())
    }

    fn store(mut self) -> Result<(), Error> {
        let (ty, kind) = (self.a.ty, self.a.ty.kind());
        let name = type_name(ty)?;
        let _ = writeln!(self.out, "void {}(uint at, {name} v) {{", self.a.name);
        let floats = self.view.element == Element::Floats;
        let stored = |text: String| match (floats, kind) {
            (true, Kind::F32) | (false, Kind::I32 | Kind::I64) => text,
            (true, _) => format!("uintBitsToFloat({text})"),
            (false, _) => format!("floatBitsToUint({text})"),
        };
        if ty.lanes() == 4 && self.a.aligned && kind != Kind::I64 && self.view.element != Element::Word {
            self.limit(4);
            let test = if self.view.checked { "if (i < n) " } else { "" };
            let value = stored("v".to_owned());
            let _ = write!(self.out, "    uint i = at >> 4;\n    {test}{}[i] = {value};\n}}\n\n", self.array);
            return Ok(());
        }
        self.limit(1);
        self.out.push_str("    uint i = at >> 2;\n");
        let per = if kind == Kind::I64 { 2 } else { 1 };
        for (lane, letter) in (0..u32::from(ty.lanes())).zip(LANES) {
            let v = if ty.is_scalar() { "v".to_owned() } else { format!("v.{letter}") };
            for half in 0..per {
                let k = lane * per + half;
                let value = match per {
                    2 => stored(format!("unpackUint2x32({v}).{}", LANES[half as usize])),
                    _ => stored(v.clone()),
                };
                let test = match self.view.checked {
                    true => format!("if ({}) ", self.in_bounds(lane * per + per - 1)),
                    false => String::new(),
                };
                let place = self.word(k);
                let _ = writeln!(self.out, "    {test}{place} = {value};");
            }
        }
        self.out.push_str("}\n\n");
        Ok(())
    }

    fn atomic(mut self, op: Op) -> Result<(), Error> {
        let compare = op == Op::AtomicCmpxchg;
        let (number, signed, shift) =
            if self.a.ty == Type::I64 { ("uint64_t", "int64_t", 3) } else { ("uint", "int", 2) };
        let expected = if compare { format!("{number} expected, ") } else { String::new() };
        let _ = writeln!(self.out, "{number} {}(uint at, {expected}{number} v) {{", self.a.name);
        self.limit(1);
        let _ = writeln!(self.out, "    uint i = at >> {shift};");
        if self.view.checked {
            let zero = if self.a.ty == Type::I64 { "0ul" } else { "0u" };
            let _ = writeln!(self.out, "    if (i >= n) {{\n        return {zero};\n    }}");
        }
        let place = self.word(0);
        let function = match op {
            Op::AtomicAdd => "atomicAdd",
            Op::AtomicAnd => "atomicAnd",
            Op::AtomicOr => "atomicOr",
            Op::AtomicXor => "atomicXor",
            Op::AtomicXchg => "atomicExchange",
            Op::AtomicUmin => "atomicMin",
            Op::AtomicUmax => "atomicMax",
            Op::AtomicCmpxchg => "atomicCompSwap",
            Op::AtomicSmin | Op::AtomicSmax => {
                let pick = if op == Op::AtomicSmin { "min" } else { "max" };
                let _ = write!(
                    self.out,
                    "    {number} seen = {place};\n    {number} old;\n    do {{\n        old = seen;\n        \
                     seen = atomicCompSwap({place}, old, {number}({pick}({signed}(old), {signed}(v))));\n    \
                     }} while (seen != old);\n    return old;\n}}\n\n"
                );
                return Ok(());
            }
            _ => return Err(Error::Malformed("not an atomic")),
        };
        let expected = if compare { "expected, " } else { "" };
        let _ = write!(self.out, "    return {function}({place}, {expected}v);\n}}\n\n");
        Ok(())
    }
}
