//! The printer. It takes any module, sound or not. What the text form has no words for prints with a `?`: ids that name
//! nothing, immediates of another kind than the op's. Such text does not parse, nor does text in which a name or value is
//! defined twice or never; all other text parses back to the same module.

mod module;

use super::literal::{Lane, Number};
use super::name::{Name, Quoted};
use crate::entities::{Block, Func, Inst, Resource, Slot, Value, Var};
use crate::func::{Edge, Function, NO_GUEST, TermKind, Terminator};
use crate::imm::{
    BarrierInfo, HitInfo, Imm, MemInfo, Order, QueryInfo, Scope, SpecInfo, SubgroupInfo, TexInfo, TexOperands,
};
use crate::module::{
    Capture, Count, ImageFormat, Interpolation, Module, OutOfBounds, ResourceData, ResourceKind, Semantic,
    Texel, VarData,
};
use crate::stage::{Denormals, Depth, Geometry, Mesh, Pipeline, Samplers, Tessellation};
use crate::ty::{Bits, Type};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use module::{word, write_facts, write_resource, write_var};
use std::fmt::{self, Display, Write};

/// How guest addresses are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GuestStyle {
    /// `@0x10 ` before the instruction; the parser reads it.
    #[default]
    Prefix,
    /// `; 0x0010 mul r0, c7, v0` after the instruction, with the listing's line; a comment to the parser.
    Comment,
    /// Not at all.
    Omit,
}

/// What numbers values and blocks get.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Numbers {
    /// Their ids.
    #[default]
    Ids,
    /// 0, 1, 2 in the order of the text, as the parser would give them.
    Ordered,
}

/// How a module is printed. The default is lossless.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Guest addresses.
    pub guest: GuestStyle,
    /// Numbers of values and blocks.
    pub numbers: Numbers,
}

/// A module to print; see [`Module::display`].
pub struct ModuleText<'a> {
    module: &'a Module,
    style: Style,
}

/// A function to print; see [`Function::display`].
pub struct FuncText<'a> {
    module: &'a Module,
    func: &'a Function,
    style: Style,
}

/// An instruction or terminator to print; see [`Function::display_inst`].
pub struct InstText<'a> {
    module: &'a Module,
    func: &'a Function,
    what: Line,
}

#[derive(Clone, Copy)]
enum Line {
    Inst(Inst),
    Term(Block),
}

impl Module {
    /// The module's text in the given style; `Display` of the module itself has the default one.
    pub fn display(&self, style: Style) -> ModuleText<'_> {
        ModuleText { module: self, style }
    }
}

impl Function {
    /// The function's text; `module` has the names of what it refers to.
    pub fn display<'a>(&'a self, module: &'a Module, style: Style) -> FuncText<'a> {
        FuncText { module, func: self, style }
    }

    /// The text of one instruction on one line.
    pub fn display_inst<'a>(&'a self, module: &'a Module, inst: Inst) -> InstText<'a> {
        InstText { module, func: self, what: Line::Inst(inst) }
    }

    /// The text of a block's terminator on one line.
    pub fn display_term<'a>(&'a self, module: &'a Module, block: Block) -> InstText<'a> {
        InstText { module, func: self, what: Line::Term(block) }
    }
}

impl Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.display(Style::default()).fmt(f)
    }
}

impl Display for ModuleText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let m = self.module;
        writeln!(f, "module {} {} {{", m.stage.name(), Quoted(&m.name))?;
        if m.workgroup != [1; 3] {
            let [x, y, z] = m.workgroup;
            writeln!(f, "  workgroup {x} {y} {z}")?;
        }
        if m.shared_size != 0 {
            writeln!(f, "  shared {}", m.shared_size)?;
        }
        write_facts(f, m)?;
        for (id, var) in &m.vars {
            write_var(f, var)?;
            for capture in m.captures.iter().filter(|capture| capture.var == id) {
                let Capture { buffer, offset, stride, .. } = capture;
                write!(f, " capture {buffer} offset {offset} stride {stride}")?;
            }
            f.write_char('\n')?;
        }
        for capture in m.captures.iter().filter(|capture| !m.vars.is_valid(capture.var)) {
            writeln!(f, "  ?{} capture", capture.var)?;
        }
        for resource in m.resources.values() {
            write_resource(f, resource)?;
        }
        if let Some(entry) = m.entry.expand().filter(|&entry| !m.funcs.is_valid(entry)) {
            writeln!(f, "  entry ?{entry}")?;
        }
        for (id, func) in m.funcs.iter() {
            let entry = if m.entry.expand() == Some(id) { "entry " } else { "" };
            write!(f, "\n  {entry}")?;
            FuncPrinter::new(m, func, self.style, "  ").func(f)?;
        }
        f.write_str("}\n")
    }
}

impl Display for FuncText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        FuncPrinter::new(self.module, self.func, self.style, "").func(f)
    }
}

impl Display for InstText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printer = FuncPrinter::new(self.module, self.func, Style::default(), "");
        match self.what {
            Line::Inst(inst) => printer.inst(f, inst),
            Line::Term(block) => match self.func.blocks.get(block) {
                Some(data) => printer.term(f, &data.term),
                None => write!(f, "?{block}"),
            },
        }
    }
}

/// A sigil and the name of entity `id`, `?` and the number if there is none.
fn named<'a, K: EntityRef, V>(
    sigil: &'static str,
    map: &'a PrimaryMap<K, V>,
    id: K,
    name: impl Fn(&'a V) -> &'a str,
) -> impl Display {
    let name = map.get(id).map(name);
    fmt::from_fn(move |f| match name {
        Some(name) => write!(f, "{sigil}{}", Name(name)),
        None => write!(f, "{sigil}?{}", id.index()),
    })
}

/// Numbers in the order of the text, packed in entities; nothing for what the text does not define.
struct Renumbered {
    values: SecondaryMap<Value, PackedOption<Value>>,
    blocks: SecondaryMap<Block, PackedOption<Block>>,
}

impl Renumbered {
    fn new(func: &Function) -> Renumbered {
        let mut values = SecondaryMap::new();
        let mut blocks = SecondaryMap::new();
        let mut next = 0;
        for (n, &block) in func.layout.iter().enumerate() {
            let Some(data) = func.blocks.get(block) else { continue };
            blocks[block] = Block::new(n).into();
            let results = data.insts.iter().filter_map(|&i| func.insts.get(i)).map(|i| i.results);
            for list in std::iter::once(data.params).chain(results) {
                for &v in list.as_slice(&func.pool) {
                    if func.values.is_valid(v) {
                        values[v] = Value::new(next).into();
                        next += 1;
                    }
                }
            }
        }
        Renumbered { values, blocks }
    }
}

/// Prints one function. Lines of the function's body go through one buffer, so that comments can be aligned.
struct FuncPrinter<'a> {
    module: &'a Module,
    func: &'a Function,
    guest: GuestStyle,
    indent: &'static str,
    order: Option<Renumbered>,
}

/// Column of trailing comments.
const COMMENT_COLUMN: usize = 56;

impl<'a> FuncPrinter<'a> {
    fn new(module: &'a Module, func: &'a Function, style: Style, indent: &'static str) -> FuncPrinter<'a> {
        let order = (style.numbers == Numbers::Ordered).then(|| Renumbered::new(func));
        FuncPrinter { module, func, guest: style.guest, indent, order }
    }

    fn func(&self, f: &mut dyn Write) -> fmt::Result {
        let Self { func, indent, .. } = *self;
        write!(f, "func @{}(", Name(&func.name))?;
        if let Some(entry) = func.entry() {
            self.params(f, entry)?;
        }
        f.write_char(')')?;
        for (n, ty) in func.returns.iter().enumerate() {
            write!(f, "{}{ty}", if n == 0 { " -> " } else { ", " })?;
        }
        f.write_str(" {\n")?;
        if func.private_size != 0 {
            writeln!(f, "{indent}  private {}", func.private_size)?;
        }
        for slot in func.slots.values() {
            write!(f, "{indent}  slot {} : {}", Name(&slot.name), slot.ty)?;
            if let Some(home) = slot.home {
                write!(f, " home {home}")?;
            }
            f.write_char('\n')?;
        }
        let mut line = String::new();
        for (n, &block) in func.layout.iter().enumerate() {
            write!(f, "{indent}{}", self.block(block))?;
            if n > 0 && func.blocks.get(block).is_some_and(|b| !b.params.is_empty()) {
                f.write_char('(')?;
                self.params(f, block)?;
                f.write_char(')')?;
            }
            f.write_str(":\n")?;
            let Some(data) = func.blocks.get(block) else { continue };
            for &inst in &data.insts {
                line.clear();
                self.inst(&mut line, inst)?;
                self.line(f, &line, func.insts.get(inst).map_or(NO_GUEST, |i| i.guest))?;
            }
            line.clear();
            self.term(&mut line, &data.term)?;
            self.line(f, &line, data.term.guest)?;
        }
        writeln!(f, "{indent}}}")
    }

    /// A line of the body with its guest address.
    fn line(&self, f: &mut dyn Write, text: &str, guest: u32) -> fmt::Result {
        write!(f, "{}  ", self.indent)?;
        match self.guest {
            GuestStyle::Prefix if guest != NO_GUEST => writeln!(f, "@{guest:#x} {text}"),
            GuestStyle::Comment if guest != NO_GUEST => {
                write!(f, "{text:<COMMENT_COLUMN$}; {guest:#06x}")?;
                let listing = self.module.listing_at(guest).unwrap_or("");
                // A listing is any text; a line break in it would end the comment.
                for word in listing.split_whitespace() {
                    write!(f, " {word}")?;
                }
                f.write_char('\n')
            }
            _ => writeln!(f, "{text}"),
        }
    }

    fn params(&self, f: &mut dyn Write, block: Block) -> fmt::Result {
        let Some(data) = self.func.blocks.get(block) else { return Ok(()) };
        self.defs(f, data.params.as_slice(&self.func.pool))
    }

    /// `v1(r0) : f32, v2 : i32`.
    fn defs(&self, f: &mut dyn Write, values: &[Value]) -> fmt::Result {
        for (n, &v) in values.iter().enumerate() {
            write!(f, "{}{}", if n == 0 { "" } else { ", " }, self.value(v))?;
            match self.func.values.get(v) {
                Some(data) => {
                    if let Some(slot) = data.hint.expand() {
                        write!(f, "({})", self.slot(slot))?;
                    }
                    write!(f, " : {}", data.ty)?;
                }
                None => f.write_str(" : ?")?,
            }
        }
        Ok(())
    }

    fn inst(&self, f: &mut dyn Write, inst: Inst) -> fmt::Result {
        let Some(data) = self.func.insts.get(inst) else { return write!(f, "?{inst}") };
        let results = data.results.as_slice(&self.func.pool);
        if !results.is_empty() {
            self.defs(f, results)?;
            f.write_str(" = ")?;
        }
        write!(f, "{}{}", data.op.info().name, data.flags)?;
        let ty = match results {
            &[v] => self.func.values.get(v).map(|d| d.ty),
            _ => None,
        };
        let mut separator = " ";
        if data.imm.kind() != data.op.info().imm {
            write!(f, " ?{}", data.imm.kind().name())?;
            separator = ", ";
        } else if !matches!(data.imm, Imm::None | Imm::Stream(0)) {
            f.write_char(' ')?;
            self.imm(f, &data.imm, ty)?;
            separator = ", ";
        }
        for &v in data.args.as_slice(&self.func.pool) {
            write!(f, "{separator}{}", self.value(v))?;
            separator = ", ";
        }
        Ok(())
    }

    fn term(&self, f: &mut dyn Write, term: &Terminator) -> fmt::Result {
        f.write_str(term.kind.name())?;
        let mut separator = " ";
        for &v in term.args.as_slice(&self.func.pool) {
            write!(f, "{separator}{}", self.value(v))?;
            separator = ", ";
        }
        if term.kind == TermKind::Switch || !term.cases.is_empty() {
            write!(f, "{separator}[")?;
            for (n, &case) in term.cases.iter().enumerate() {
                write!(f, "{}{}: ", if n == 0 { "" } else { ", " }, Number(case))?;
                match term.edges.get(n) {
                    Some(edge) => self.edge(f, edge)?,
                    None => f.write_char('?')?,
                }
            }
            f.write_char(']')?;
            separator = ", ";
        }
        for edge in term.edges.iter().skip(term.cases.len()) {
            f.write_str(separator)?;
            self.edge(f, edge)?;
            separator = ", ";
        }
        Ok(())
    }

    fn edge(&self, f: &mut dyn Write, edge: &Edge) -> fmt::Result {
        write!(f, "{}", self.block(edge.block))?;
        let args = edge.args.as_slice(&self.func.pool);
        for (n, &v) in args.iter().enumerate() {
            write!(f, "{}{}", if n == 0 { "(" } else { ", " }, self.value(v))?;
        }
        f.write_str(if args.is_empty() { "" } else { ")" })
    }

    fn value(&self, v: Value) -> impl Display {
        let n = match &self.order {
            None => Some(v),
            Some(order) => order.values[v].expand(),
        };
        fmt::from_fn(move |f| match n {
            Some(n) => write!(f, "{n}"),
            None => write!(f, "v?{}", v.as_u32()),
        })
    }

    fn block(&self, b: Block) -> impl Display {
        let n = match &self.order {
            None => Some(b),
            Some(order) => order.blocks[b].expand(),
        };
        fmt::from_fn(move |f| match n {
            Some(n) => write!(f, "{n}"),
            None => write!(f, "block?{}", b.as_u32()),
        })
    }

    fn slot(&self, slot: Slot) -> impl Display {
        named("", &self.func.slots, slot, |s| &s.name)
    }

    fn var(&self, var: Var) -> impl Display {
        named("%", &self.module.vars, var, |v| &v.name)
    }

    fn resource(&self, r: Resource) -> impl Display {
        named("@", &self.module.resources, r, |r| &r.name)
    }

    fn callee(&self, func: Func) -> impl Display {
        named("@", &self.module.funcs, func, |f| &f.name)
    }

    fn imm(&self, f: &mut dyn Write, imm: &Imm, ty: Option<Type>) -> fmt::Result {
        match *imm {
            Imm::None => Ok(()),
            Imm::Const(c) => match self.func.consts.get(c) {
                Some(bits) => write_const(f, bits, ty),
                None => write!(f, "?{c}"),
            },
            Imm::Slot(s) => write!(f, "{}", self.slot(s)),
            Imm::Var(v) => write!(f, "{}", self.var(v)),
            Imm::Mem(mem) => self.mem(f, &mem),
            Imm::Lane(lane) => write!(f, "{lane}"),
            Imm::Lanes(lanes) => {
                for (n, lane) in lanes.as_slice().iter().enumerate() {
                    write!(f, "{}{lane}", if n == 0 { "[" } else { " " })?;
                }
                f.write_char(']')
            }
            Imm::Func(func) => write!(f, "{}", self.callee(func)),
            Imm::Format(format) => write!(f, "e{}m{}", format.exp, format.mant),
            Imm::Tex(tex) => write_tex(f, &tex),
            Imm::Subgroup(SubgroupInfo { width, reduce, exclusive }) => {
                write!(f, "width {width} {}{}", reduce.name(), word(exclusive, "exclusive"))
            }
            Imm::Barrier(BarrierInfo { scope, shared, storage, image, exec }) => {
                f.write_str(scope.name())?;
                for (on, text) in [(shared, "shared"), (storage, "storage"), (image, "image"), (exec, "exec")]
                {
                    write!(f, "{}", word(on, text))?;
                }
                Ok(())
            }
            Imm::Resource(r) => write!(f, "{}", self.resource(r)),
            Imm::Stream(0) => Ok(()),
            Imm::Stream(n) => write!(f, "stream {n}"),
            Imm::Query(QueryInfo { query, value, committed, column }) => {
                write!(f, "{} {}{}", self.resource(query), value.name(), word(committed, "committed"))?;
                if column != 0 {
                    write!(f, " column {column}")?;
                }
                Ok(())
            }
            Imm::Spec(SpecInfo { id, default }) => write!(f, "id {id} default {default}"),
            Imm::Hit(HitInfo { object, payload, query }) => {
                write!(f, "{} {}", self.resource(object), self.resource(payload))?;
                if let Some(query) = query.expand() {
                    write!(f, " query {}", self.resource(query))?;
                }
                Ok(())
            }
        }
    }

    fn mem(&self, f: &mut dyn Write, mem: &MemInfo) -> fmt::Result {
        f.write_str(mem.space.name())?;
        if let Some(r) = mem.resource.expand() {
            write!(f, " {}", self.resource(r))?;
        }
        match 1u64.checked_shl(u32::from(mem.align_log2)) {
            Some(align) => write!(f, " align {align}")?,
            None => f.write_str(" align ?")?,
        }
        if mem.order != Order::None {
            write!(f, " {}", mem.order.name())?;
        }
        if mem.scope != Scope::Invocation {
            write!(f, " {}", mem.scope.name())?;
        }
        let [volatile, big] = [word(mem.volatile, "volatile"), word(mem.big, "big")];
        write!(f, "{volatile}{big}{}", word(mem.apart, "apart"))
    }
}

/// A constant as literals of `ty`; as four raw words if there is no such type or the bits do not fit it.
fn write_const(f: &mut dyn Write, bits: &Bits, ty: Option<Type>) -> fmt::Result {
    let fits = |ty: &Type| {
        let lanes = usize::from(ty.lanes());
        bits.0[..lanes].iter().all(|b| b & !ty.kind().mask() == 0) && bits.0[lanes..].iter().all(|&b| b == 0)
    };
    match ty.filter(fits) {
        Some(ty) if ty.is_scalar() => write!(f, "{}", Lane(ty.kind(), bits.lane(0))),
        Some(ty) => {
            for i in 0..usize::from(ty.lanes()) {
                write!(f, "{}{}", if i == 0 { "[" } else { ", " }, Lane(ty.kind(), bits.lane(i)))?;
            }
            f.write_char(']')
        }
        None => {
            let [a, b, c, d] = bits.0;
            write!(f, "bits [{a:#x}, {b:#x}, {c:#x}, {d:#x}]")
        }
    }
}

fn write_tex(f: &mut dyn Write, tex: &TexInfo) -> fmt::Result {
    f.write_str(tex.dim.name())?;
    for (on, text) in [(tex.arrayed, "array"), (tex.multisampled, "ms"), (tex.shadow, "shadow")] {
        write!(f, "{}", word(on, text))?;
    }
    let mut known = 0;
    for (bit, text) in TexOperands::NAMED {
        known |= bit.0;
        write!(f, "{}", word(tex.operands.0 & bit.0 != 0, text))?;
    }
    write!(f, "{}", word(tex.operands.0 & !known != 0, "?"))?;
    if tex.component != 0 {
        write!(f, " comp {}", tex.component)?;
    }
    write!(f, "{}", word(tex.residency, "residency"))
}
