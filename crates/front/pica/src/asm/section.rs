//! One executable in the making: its names, its tables, its share of the registers.

use super::ast::{ConstantDecl, FloatValue, Name, Place, Reg, UniformDecl};
use super::registers::{Alias, File, Used, builtin, compose, looks_like_register, swizzle};
use super::{Layout, Options, Position, Reason, Rounding};
use crate::container::{Constant, ConstantValue, Dvle, Output, RegisterFile, Semantic, ShaderKind, Uniform};
use crate::desc::{Component, Mask, Modifier, Swizzle};
use crate::float::{Denormals, F24};
use crate::inst::{Dst, Index, Src, SrcReg};
use std::collections::HashMap;

type Error = (Position, Reason);
type Result<T> = std::result::Result<T, Error>;

/// Registers in use, by file.
#[derive(Clone, Copy, Default)]
struct Space([Used; 4]);

/// The uniforms that vertex shaders share.
#[derive(Default)]
pub(super) struct Shared<'a> {
    space: Space,
    /// Registers that constants of any of them occupy.
    constants: Space,
    names: HashMap<(RegisterFile, &'a str), (u8, u8)>,
}

/// An executable in the making.
pub(super) struct Section<'a> {
    pub(super) source: usize,
    pub(super) at: Position,
    pub(super) dvle: Dvle,
    pub(super) entry: Option<(Place<'a>, Option<Place<'a>>)>,
    pub(super) nodvle: bool,
    pub(super) merge: Option<bool>,
    pub(super) input_mask: Option<u16>,
    pub(super) output_mask: Option<u16>,
    /// How constants become 24-bit floats.
    rounding: Rounding,
    layout: Layout,
    aliases: HashMap<&'a str, Alias>,
    /// Input registers that its instructions read.
    reads: u16,
    outputs: Used,
    /// Inputs and constants, which are never shared.
    local: Space,
    /// A directive says which unit it is for.
    has_kind: bool,
    /// Geometry shaders do not share uniforms: their own, and the first float uniform to give out.
    own: Option<(Space, u8)>,
}

/// `name` in the characters a container can hold.
pub(super) fn container_name(at: Position, name: &str) -> Result<String> {
    if name.chars().all(|c| ('\u{1}'..='\u{ff}').contains(&c)) {
        Ok(name.to_owned())
    } else {
        Err((at, Reason::String))
    }
}

fn wrong<T>(reg: &Reg<'_>, expected: &'static str) -> Result<T> {
    Err((reg.at, Reason::WrongRegister { expected, found: format!("{:?}", reg.name) }))
}

impl<'a> Section<'a> {
    pub(super) fn new(source: usize, at: Position, options: &Options) -> Self {
        Section {
            source,
            at,
            dvle: Dvle { version: super::DEFAULT_VERSION, ..Dvle::default() },
            entry: None,
            nodvle: false,
            merge: None,
            input_mask: None,
            output_mask: None,
            rounding: options.rounding,
            layout: options.layout,
            aliases: HashMap::new(),
            reads: 0,
            outputs: Used::default(),
            local: Space::default(),
            has_kind: false,
            own: None,
        }
    }

    /// The finished executable, but for its entry point.
    pub(super) fn finish(&self) -> Dvle {
        let mut dvle = self.dvle.clone();
        let inputs = dvle.uniforms.iter().filter(|u| u.file == RegisterFile::Input);
        let declared = inputs.fold(0, |mask, u| mask | input_bits(u.first, u.count));
        let written = dvle.outputs.iter().fold(0, |mask, output| mask | 1 << output.register);
        let read = if self.layout == Layout::Plain { self.reads } else { 0 };
        dvle.input_mask = self.input_mask.unwrap_or(if declared != 0 { declared } else { read });
        dvle.output_mask = self.output_mask.unwrap_or(written);
        if self.layout == Layout::Picasso {
            dvle.uniforms.sort_by_key(|uniform| (uniform.file.base(), uniform.first));
        }
        dvle.merge_outputs = self.merge.unwrap_or_else(|| merges_by_default(&dvle));
        dvle
    }

    pub(super) fn geometry_shader(&mut self, own_from: Option<u8>) {
        self.set_kind(ShaderKind::Geometry);
        self.own = own_from.map(|first| (Space::default(), first));
    }

    pub(super) fn set_kind(&mut self, kind: ShaderKind) {
        self.dvle.kind = kind;
        self.has_kind = true;
    }

    /// SETEMIT makes a geometry shader of what does not say what it is, as in old sources.
    pub(super) fn uses_emitter(&mut self) {
        if !self.has_kind {
            self.dvle.kind = ShaderKind::Geometry;
        }
    }

    pub(super) fn define(&mut self, at: Position, name: &'a str, alias: Alias) -> Result<()> {
        if looks_like_register(name) || self.aliases.insert(name, alias).is_some() {
            return Err((at, Reason::Duplicate(name.to_owned())));
        }
        Ok(())
    }

    fn define_plain(&mut self, at: Position, name: &'a str, file: File, number: u8) -> Result<()> {
        self.define(at, name, Alias { file, number, modifier: Modifier::PLAIN })
    }

    /// What a register expression denotes, its index register aside.
    pub(super) fn resolve(&self, reg: &Reg<'_>) -> Result<Alias> {
        let plain = |(file, number)| Alias { file, number, modifier: Modifier::PLAIN };
        // No alias looks like a register.
        let found = builtin(reg.name).map(plain).or_else(|| self.aliases.get(reg.name).copied());
        let base = found.ok_or_else(|| (reg.at, Reason::Register(reg.name.to_owned())))?;
        let (value, max) = (i64::from(base.number) + reg.offset, i64::from(base.file.count()) - 1);
        let number = u8::try_from(value).ok().filter(|&n| n < base.file.count());
        let number = number.ok_or((reg.at, Reason::Range { what: "register", value, min: 0, max }))?;
        let outer = reg.components.map_or(Swizzle::IDENTITY, swizzle);
        let modifier = Modifier {
            swizzle: compose(base.modifier.swizzle, outer),
            negate: base.modifier.negate ^ reg.negate,
        };
        Ok(Alias { file: base.file, number, modifier })
    }

    /// The components a destination expression names.
    fn mask(&self, reg: &Reg<'_>) -> Result<Mask> {
        if reg.components == Some("") {
            return Ok(Mask::NONE);
        }
        let lanes = self.resolve(reg)?.modifier.swizzle.lanes();
        Ok(lanes.into_iter().fold(Mask::NONE, Mask::with))
    }

    pub(super) fn dst(&self, reg: &Reg<'_>) -> Result<(Dst, Mask)> {
        let alias = self.resolve(reg)?;
        let dst = match alias.file {
            File::Output => Dst::Output(alias.number),
            File::Temp => Dst::Temp(alias.number),
            File::Uniform(_) => return wrong(reg, "an output or temporary register"),
        };
        if alias.modifier.negate || reg.index != Index::None {
            return wrong(reg, "a destination without sign and index");
        }
        Ok((dst, self.mask(reg)?))
    }

    pub(super) fn src(&mut self, reg: &Reg<'_>) -> Result<(Src, Modifier)> {
        let alias = self.resolve(reg)?;
        let register = match alias.file {
            File::Uniform(RegisterFile::Input) => {
                self.reads |= 1 << alias.number;
                SrcReg::Input(alias.number)
            }
            File::Temp => SrcReg::Temp(alias.number),
            File::Uniform(RegisterFile::Float) => SrcReg::Const(alias.number),
            _ => return wrong(reg, "an input, a temporary or a float uniform"),
        };
        if reg.components == Some("") {
            return wrong(reg, "a source with components");
        }
        Ok((Src { reg: register, index: reg.index }, alias.modifier))
    }

    /// The number of a register that must be of `file` and plain.
    pub(super) fn number(&self, reg: &Reg<'_>, file: File, expected: &'static str) -> Result<u8> {
        let alias = self.resolve(reg)?;
        if alias.file != file || alias.modifier != Modifier::PLAIN || reg.index != Index::None {
            return wrong(reg, expected);
        }
        Ok(alias.number)
    }

    pub(super) fn uniform(
        &mut self,
        shared: &mut Shared<'a>,
        file: RegisterFile,
        decl: &UniformDecl<'a>,
    ) -> Result<()> {
        let count = u8::try_from(decl.count).ok().filter(|&n| n <= file.count());
        let count = count.ok_or((decl.at, Reason::Full("registers of this kind")))?;
        let wanted = match &decl.register {
            Some(reg) => Some(self.number(reg, File::Uniform(file), "a register of this kind")?),
            None => None,
        };
        let out_of_room = || (decl.at, Reason::Full("registers of this kind"));
        if wanted.is_some_and(|first| first + count > file.count()) {
            return Err(out_of_room());
        }
        let key = match &decl.name {
            Name::Ident(name) if file != RegisterFile::Input && self.own.is_none() => Some((file, *name)),
            _ => None,
        };
        let known = key.and_then(|key| shared.names.get(&key).copied());
        let first = match (wanted, known, &decl.name) {
            (Some(first), ..) => first,
            (None, Some((first, n)), _) if n == count => first,
            (None, Some(_), Name::Ident(name)) => {
                return Err((decl.at, Reason::Duplicate((*name).to_owned())));
            }
            _ => self.give(shared, file, count).ok_or_else(out_of_room)?,
        };
        if let Some(key) = key {
            shared.names.entry(key).or_insert((first, count));
        }
        self.space(shared, file).0[file as usize].mark(first, count);
        let name = match &decl.name {
            Name::Ident(name) => {
                self.define_plain(decl.at, name, File::Uniform(file), first)?;
                if name.starts_with('_') && file != RegisterFile::Input {
                    return Ok(());
                }
                name.replace('$', ".")
            }
            Name::Exact(name) => container_name(decl.at, name)?,
        };
        self.dvle.uniforms.push(Uniform { name, file, first, count });
        Ok(())
    }

    /// The space that this executable's uniforms of `file` come from. Inputs are always its own.
    fn space<'s>(&'s mut self, shared: &'s mut Shared<'a>, file: RegisterFile) -> &'s mut Space {
        if file == RegisterFile::Input {
            return &mut self.local;
        }
        match &mut self.own {
            Some((space, _)) => space,
            None => &mut shared.space,
        }
    }

    /// Registers for a uniform, from below.
    fn give(&mut self, shared: &mut Shared<'a>, file: RegisterFile, count: u8) -> Option<u8> {
        let n = file as usize;
        let taken = self.space(shared, file).0[n].union(self.local.0[n]);
        let (taken, from) = match (&self.own, file) {
            (Some((_, first)), RegisterFile::Float) => (taken, *first),
            (None, _) => (taken.union(shared.constants.0[n]), 0),
            _ => (taken, 0),
        };
        taken.lowest(from, file.count(), count)
    }

    /// Registers for constants, from above.
    fn give_constants(
        &mut self,
        shared: &mut Shared<'a>,
        at: Position,
        file: RegisterFile,
        count: usize,
    ) -> Result<u8> {
        let n = file as usize;
        let taken = self.space(shared, file).0[n].union(self.local.0[n]);
        let full = (at, Reason::Full("registers for constants"));
        let count = u8::try_from(count).ok().filter(|&count| count <= file.count()).ok_or(full.clone())?;
        let first = taken.highest(file.count(), count).ok_or(full)?;
        self.local.0[n].mark(first, count);
        if self.own.is_none() {
            shared.constants.0[n].mark(first, count);
        }
        Ok(first)
    }

    pub(super) fn constants(
        &mut self,
        shared: &mut Shared<'a>,
        at: Position,
        name: &'a str,
        values: &[ConstantDecl],
    ) -> Result<()> {
        let Some(value) = values.first() else {
            return Err((at, Reason::Block("an array of constants without constants")));
        };
        let file = constant_value(*value, self.rounding).file();
        let first = self.give_constants(shared, at, file, values.len())?;
        self.define_plain(at, name, File::Uniform(file), first)?;
        let rounding = self.rounding;
        let values = values.iter().map(|value| constant_value(*value, rounding));
        self.dvle
            .constants
            .extend((first..).zip(values).map(|(register, value)| Constant { register, value }));
        Ok(())
    }

    pub(super) fn set(&mut self, reg: &Reg<'_>, value: ConstantDecl) -> Result<()> {
        let value = constant_value(value, self.rounding);
        let register = self.number(reg, File::Uniform(value.file()), "a uniform of the value's kind")?;
        self.dvle.constants.push(Constant { register, value });
        Ok(())
    }

    pub(super) fn output(
        &mut self,
        at: Position,
        name: Option<&'a str>,
        semantic: &str,
        components: Option<&str>,
        register: Option<&Reg<'_>>,
    ) -> Result<()> {
        let unknown = || {
            let expected =
                "position, normalquat, color, texcoord0, texcoord0w, texcoord1, texcoord2, view or dummy";
            (at, Reason::Expected { expected, found: format!("{semantic:?}") })
        };
        let semantic = semantic_from_name(semantic).ok_or_else(unknown)?;
        let from_letters =
            |letters: &str| letters.chars().filter_map(Component::from_letter).fold(Mask::NONE, Mask::with);
        let mut mask = components.map_or(Mask::ALL, from_letters);
        let register = match register {
            Some(reg) => {
                let alias = self.resolve(reg)?;
                if alias.file != File::Output || alias.modifier.negate || reg.index != Index::None {
                    return wrong(reg, "an output register");
                }
                if reg.components.is_some() || alias.modifier != Modifier::PLAIN {
                    mask = self.mask(reg)?;
                }
                alias.number
            }
            None => self.outputs.lowest(0, 16, 1).ok_or((at, Reason::Full("output registers")))?,
        };
        self.outputs.mark(register, 1);
        if let Some(name) = name {
            self.define_plain(at, name, File::Output, register)?;
        }
        self.dvle.outputs.push(Output { semantic, register, mask });
        Ok(())
    }
}

/// Whether an executable merges output maps when its source does not say.
pub(crate) fn merges_by_default(dvle: &Dvle) -> bool {
    dvle.kind == ShaderKind::Geometry && dvle.outputs.iter().any(|o| o.semantic == Semantic::Dummy)
}

/// The mask bits of a run of input registers.
pub(crate) fn input_bits(first: u8, count: u8) -> u16 {
    (((1u32 << count) - 1) << first) as u16
}

fn semantic_from_name(name: &str) -> Option<Semantic> {
    let known = Semantic::TABLE.iter().find(|row| row.2 == name || row.3 == name);
    known
        .map(|row| row.0)
        .or_else(|| Some(Semantic::from_number(name.strip_prefix("semantic")?.parse().ok()?)))
}

fn constant_value(decl: ConstantDecl, rounding: Rounding) -> ConstantValue {
    match decl {
        ConstantDecl::Bool(value) => ConstantValue::Bool(value),
        // The parser lets through -128 to 255.
        ConstantDecl::Int(values) => ConstantValue::Int(values.map(|value| value as u8)),
        ConstantDecl::Float(values) => ConstantValue::Float(values.map(|value| match value {
            FloatValue::Value(value) => match rounding {
                Rounding::Nearest => F24.from_f32(value, Denormals::Keep),
                Rounding::Truncate => F24.truncate_f32(value),
                Rounding::Picasso => F24.rebias_f32(value),
            },
            FloatValue::Raw(bits) => bits,
        })),
    }
}
