//! Statements to a program: words are laid out and open places remembered; `link` fills them in.

mod link;

use super::ast::{
    ConstantDecl, Field, FloatValue, Gsh, Guard, Instruction, Operands as Written, Place, Reg, Statement,
    StatementKind, Targets,
};
use super::descriptors::{Want, bits_read, reach};
use super::registers::{Alias, File};
use super::section::{Section, Shared, container_name};
use super::{Layout, Options, Position, Reason};
use crate::container::{Geometry, GeometryMode, Label, LineEntry, RegisterFile, ShaderKind};
use crate::decode;
use crate::desc::{Component, Descriptor, Mask, Modifier};
use crate::inst::{Condition, Format, Index, Inst, Opcode, Operands, Src, SrcReg};
use std::collections::{BTreeMap, HashMap};

type Error = (Position, Reason);
type Result<T> = std::result::Result<T, Error>;
/// An error with the number of its source.
type PlacedError = (usize, Position, Reason);

/// A word in the making.
struct Slot<'a> {
    source: usize,
    at: Position,
    content: Content<'a>,
}

enum Content<'a> {
    Word(u32),
    Inst { inst: Inst, want: Option<Want>, bits: u32, open: Open<'a> },
}

/// What of a flow instruction is filled in at the end.
enum Open<'a> {
    Nothing,
    /// The target.
    Target(Place<'a>),
    /// The target and the count, from a procedure.
    Procedure(Place<'a>),
    /// The target and the count, from a range of words.
    Range(Place<'a>, Place<'a>),
    /// The target of a loop, from the word after its body.
    LoopEnd(Place<'a>),
}

/// An open scope.
enum Block<'a> {
    Proc { name: &'a str, start: u32 },
    If { inst: usize, start_else: Option<u32> },
    For { inst: usize },
    ConstantArray { name: &'a str, size: Option<i64>, items: Vec<ConstantDecl>, at: Position },
}

pub(super) struct Encoder<'a> {
    options: Options,
    code: Vec<Slot<'a>>,
    sections: Vec<Section<'a>>,
    shared: Shared<'a>,
    procs: HashMap<&'a str, (u32, u32)>,
    labels: HashMap<(usize, &'a str), u32>,
    fixed: BTreeMap<usize, (u32, u32)>,
    version: u32,
    filenames: Vec<String>,
    lines: Vec<LineEntry>,
    // Of the source at hand:
    source: usize,
    first_section: usize,
    current: usize,
    blocks: Vec<(Position, Block<'a>)>,
    /// Where a scope ended or a label stands: nothing else may end there.
    busy_end: Option<u32>,
}

impl<'a> Encoder<'a> {
    pub(super) fn new(options: Options) -> Self {
        Encoder {
            options,
            code: Vec::new(),
            sections: Vec::new(),
            shared: Shared::default(),
            procs: HashMap::new(),
            labels: HashMap::new(),
            fixed: BTreeMap::new(),
            version: 0,
            filenames: Vec::new(),
            lines: Vec::new(),
            source: 0,
            first_section: 0,
            current: 0,
            blocks: Vec::new(),
            busy_end: None,
        }
    }

    /// Takes in one source.
    pub(super) fn source(&mut self, source: usize, statements: &[Statement<'a>]) -> Result<()> {
        self.source = source;
        self.first_section = self.sections.len();
        self.busy_end = None;
        let start = Position { line: 1, column: 1 };
        self.select(start, 0)?;
        for statement in statements {
            self.statement(statement)?;
        }
        match self.blocks.pop() {
            Some((at, _)) => Err((at, Reason::Block("this block has no .end"))),
            None => Ok(()),
        }
    }

    /// Makes executable `number` of this source the current one.
    fn select(&mut self, at: Position, number: i64) -> Result<()> {
        let made = self.sections.len() - self.first_section;
        let range = Reason::Range { what: "executable", value: number, min: 0, max: made as i64 };
        let number = usize::try_from(number).ok().filter(|&n| n <= made).ok_or((at, range))?;
        if number == made {
            let limit = self.options.limits.executables;
            if self.sections.len() >= limit {
                return Err((at, Reason::Limit { what: "executables", limit }));
            }
            self.sections.push(Section::new(self.source, at, &self.options));
        }
        self.current = self.first_section + number;
        Ok(())
    }

    fn section(&mut self) -> &mut Section<'a> {
        &mut self.sections[self.current]
    }

    /// The address of the next word; the limit on words keeps it small.
    fn here(&self) -> u32 {
        self.code.len() as u32
    }

    fn push(&mut self, at: Position, content: Content<'a>) -> Result<()> {
        let limit = self.options.limits.code_words;
        if self.code.len() >= limit {
            return Err((at, Reason::Limit { what: "program words", limit }));
        }
        self.code.push(Slot { source: self.source, at, content });
        Ok(())
    }

    fn statement(&mut self, statement: &Statement<'a>) -> Result<()> {
        let at = statement.at;
        match &statement.kind {
            StatementKind::CodeLabel(name) => {
                let here = self.here();
                if self.labels.insert((self.source, name), here).is_some() {
                    return Err((at, Reason::Duplicate((*name).to_owned())));
                }
                if !self.is_picassos() {
                    self.busy_end = Some(here);
                }
            }
            StatementKind::Proc(name) => {
                if !self.blocks.is_empty() {
                    return Err((at, Reason::Block("a procedure cannot stand inside a block")));
                }
                self.blocks.push((at, Block::Proc { name, start: self.here() }));
            }
            StatementKind::Else => self.else_branch(at)?,
            StatementKind::End => self.end_block(at)?,
            StatementKind::Alias { name, register } => {
                let alias: Alias = self.section().resolve(register)?;
                if register.index != Index::None {
                    let (expected, found) = ("a register without an index", format!("{:?}", register.name));
                    return Err((register.at, Reason::WrongRegister { expected, found }));
                }
                self.section().define(at, name, alias)?;
            }
            StatementKind::Uniforms { file, decls } => {
                for decl in decls {
                    self.sections[self.current].uniform(&mut self.shared, *file, decl)?;
                }
            }
            StatementKind::Out { name, semantic, components, register } => {
                self.section().output(at, *name, semantic, *components, register.as_ref())?;
            }
            StatementKind::Constant { name, value } => {
                self.sections[self.current].constants(&mut self.shared, at, name, &[*value])?;
            }
            StatementKind::ConstantArray { name, size } => {
                let block = Block::ConstantArray { name, size: *size, items: Vec::new(), at };
                self.blocks.push((at, block));
            }
            StatementKind::ConstantItem(values) => match self.blocks.last_mut() {
                Some((_, Block::ConstantArray { items, .. })) => items.push(ConstantDecl::Float(*values)),
                _ => return Err((at, Reason::Block("no array of constants is open"))),
            },
            StatementKind::Set { register, value } => self.section().set(register, *value)?,
            StatementKind::Entry { from, to } => {
                self.section().entry = Some((from.clone(), to.clone()));
            }
            StatementKind::NoDvle => self.section().nodvle = true,
            StatementKind::Dvle(number) => self.select(at, *number)?,
            StatementKind::Gsh(gsh) => self.gsh(gsh.as_ref())?,
            StatementKind::Vsh => self.section().set_kind(ShaderKind::Vertex),
            StatementKind::Geometry([mode, start, variable, fixed]) => {
                let modes = [GeometryMode::Point, GeometryMode::Variable, GeometryMode::Fixed];
                self.section().dvle.geometry = Geometry {
                    mode: usize::try_from(*mode).ok().and_then(|n| modes.get(n).copied()).unwrap_or_default(),
                    fixed_start: *start as u8,
                    variable_count: *variable as u8,
                    fixed_count: *fixed as u8,
                };
            }
            StatementKind::Merge(value) => self.section().merge = Some(*value),
            StatementKind::Field(field, value) => match field {
                Field::InputMask => self.section().input_mask = Some(*value as u16),
                Field::OutputMask => self.section().output_mask = Some(*value as u16),
                Field::Version => self.section().dvle.version = *value as u16,
                Field::ProgramVersion => self.version = *value as u32,
            },
            StatementKind::LabelEntry { name, id, address, size } => {
                let name = container_name(at, name)?;
                let label = Label { id: *id as u16, address: *address as u32, size: *size as u32, name };
                self.section().dvle.labels.push(label);
            }
            StatementKind::Filename(name) => self.filenames.push(container_name(at, name)?),
            StatementKind::SourceLine { file, line } => {
                self.lines.push(LineEntry { file: *file as u32, line: *line as u32 });
            }
            StatementKind::Descriptor { index, value, tag } => {
                self.fixed.insert(*index as usize, (*value as u32, *tag as u32));
            }
            StatementKind::Word(word) => self.push(at, Content::Word(*word as u32))?,
            StatementKind::Instruction(instruction) => self.instruction(at, instruction)?,
        }
        Ok(())
    }

    fn gsh(&mut self, gsh: Option<&Gsh<'a>>) -> Result<()> {
        let section = self.section();
        let Some(gsh) = gsh else {
            section.geometry_shader(None);
            return Ok(());
        };
        let float = File::Uniform(RegisterFile::Float);
        let number = |reg: &Reg<'a>| section.number(reg, float, "a float uniform");
        let first = number(&gsh.first)?;
        let fixed_start = gsh.start.as_ref().map_or(Ok(0), number)?;
        // The parser lets through 0 to 255.
        let count = gsh.count as u8;
        section.geometry_shader(Some(first));
        section.dvle.geometry = match gsh.mode {
            GeometryMode::Point => Geometry::default(),
            GeometryMode::Variable => {
                Geometry { mode: gsh.mode, variable_count: count, ..Geometry::default() }
            }
            GeometryMode::Fixed => {
                Geometry { mode: gsh.mode, fixed_start, fixed_count: count, ..Geometry::default() }
            }
        };
        Ok(())
    }

    /// Makes sure that a scope can end here: after each instruction the unit looks at one address only, so a flow
    /// instruction standing last in a scope, a place jumped to there and the end of an inner scope need a NOP. Picasso has
    /// none after a break that does not stand last in a loop, nor at a label, but one in an empty scope behind other words.
    fn pad(&mut self, at: Position, scope_start: usize, is_loop: bool) -> Result<()> {
        let picasso = self.is_picassos();
        let is_empty = self.code.len() == scope_start;
        let ends_in_flow = self.code.last().is_some_and(|slot| match &slot.content {
            Content::Inst { inst, .. } => match inst.op {
                Opcode::Break | Opcode::Breakc => is_loop || !picasso,
                Opcode::Call | Opcode::Callc | Opcode::Callu | Opcode::Jmpc | Opcode::Jmpu => true,
                _ => false,
            },
            Content::Word(_) => false,
        });
        let collides = ends_in_flow || self.busy_end == Some(self.here());
        let pads_empty = picasso && !self.code.is_empty();
        if self.options.pad && if is_empty { pads_empty } else { collides } {
            self.nop(at)?;
        }
        Ok(())
    }

    fn is_picassos(&self) -> bool {
        self.options.layout == Layout::Picasso
    }

    fn nop(&mut self, at: Position) -> Result<()> {
        let inst = Inst { op: Opcode::Nop, operands: Operands::Nullary, ignored: 0 };
        self.push(at, Content::Inst { inst, want: None, bits: 0, open: Open::Nothing })
    }

    fn else_branch(&mut self, at: Position) -> Result<()> {
        let no_if = (at, Reason::Block(".else without ifc or ifu"));
        let Some((_, Block::If { inst, start_else: None })) = self.blocks.last() else {
            return Err(no_if);
        };
        let inst = *inst;
        self.pad(at, inst + 1, false)?;
        let here = self.here();
        if let Some((_, Block::If { start_else, .. })) = self.blocks.last_mut() {
            *start_else = Some(here);
        }
        self.busy_end = None;
        Ok(())
    }

    fn end_block(&mut self, at: Position) -> Result<()> {
        let Some((_, block)) = self.blocks.pop() else {
            return Err((at, Reason::Block(".end without a block")));
        };
        match block {
            Block::Proc { name, start } => {
                self.pad(at, start as usize, false)?;
                let len = self.here() - start;
                if self.procs.insert(name, (start, len)).is_some() {
                    return Err((at, Reason::Duplicate(name.to_owned())));
                }
            }
            Block::If { inst, start_else } => {
                // Picasso takes an empty branch behind `.else` for one of the words before.
                let branch = start_else.filter(|_| !self.is_picassos());
                self.pad(at, branch.map_or(inst + 1, |start| start as usize), false)?;
                let end = self.here();
                let start = start_else.unwrap_or(end);
                self.patch(at, inst, start, end - start)?;
                self.busy_end = Some(end);
            }
            Block::For { inst } => {
                self.pad(at, inst + 1, true)?;
                if self.code.len() == inst + 1 {
                    // Without a word of its own a loop would end at its own address.
                    self.nop(at)?;
                }
                let end = self.here();
                self.patch(at, inst, end - 1, 0)?;
                self.busy_end = Some(end);
            }
            Block::ConstantArray { name, size, mut items, at } => {
                if let Some(size) = size {
                    let size = usize::try_from(size).unwrap_or(0);
                    if items.len() > size {
                        return Err((at, Reason::Block("more constants than the array's size")));
                    }
                    items.resize(size, ConstantDecl::Float([FloatValue::Raw(0); 4]));
                }
                self.sections[self.current].constants(&mut self.shared, at, name, &items)?;
            }
        }
        Ok(())
    }

    /// Fills in the target and count of the flow instruction at `index`.
    fn patch(&mut self, at: Position, index: usize, target: u32, count: u32) -> Result<()> {
        if let Some(Slot { content: Content::Inst { inst, .. }, .. }) = self.code.get_mut(index) {
            link::set_target(at, inst, target.into(), count.into())?;
        }
        Ok(())
    }

    fn instruction(&mut self, at: Position, written: &Instruction<'a>) -> Result<()> {
        if let Some((_, Block::ConstantArray { .. })) = self.blocks.last() {
            return Err((at, Reason::Block("an instruction cannot stand in an array of constants")));
        }
        let op = written.op;
        let index = self.code.len();
        let picasso = self.is_picassos();
        let section = &mut self.sections[self.current];
        let mut open = Open::Nothing;
        let mut block = None;
        let mut descriptor = None;
        let condition = |cond: Condition| if picasso { cond.with_ignored(true) } else { cond };
        let (op, operands) = match &written.operands {
            Written::Nullary => (op, Operands::Nullary),
            Written::Unary(dst, src) => {
                let ((dst, mask), (src, modifier)) = (section.dst(dst)?, section.src(src)?);
                descriptor = Some((mask, vec![modifier]));
                (op, Operands::Unary { dst, src, desc: 0 })
            }
            Written::MoveAddress(letters, src) => {
                let (src, modifier) = section.src(src)?;
                let components = letters.chars().filter_map(Component::from_letter);
                descriptor = Some((components.fold(Mask::NONE, Mask::with), vec![modifier]));
                (op, Operands::MoveAddress { src, desc: 0 })
            }
            Written::Binary(dst, srcs) => {
                let ((dst, mask), a, b) = (section.dst(dst)?, section.src(&srcs[0])?, section.src(&srcs[1])?);
                descriptor = Some((mask, vec![a.1, b.1]));
                (choose_form(op, a.0, b.0), Operands::Binary { dst, src: [a.0, b.0], desc: 0 })
            }
            Written::Compare(srcs, x, y) => {
                let (a, b) = (section.src(&srcs[0])?, section.src(&srcs[1])?);
                descriptor = Some((Mask::NONE, vec![a.1, b.1]));
                (op, Operands::Compare { src: [a.0, b.0], x: *x, y: *y, desc: 0 })
            }
            Written::Mad(dst, srcs) => {
                let (dst, mask) = section.dst(dst)?;
                let [a, b, c] = [section.src(&srcs[0])?, section.src(&srcs[1])?, section.src(&srcs[2])?];
                descriptor = Some((mask, vec![a.1, b.1, c.1]));
                (choose_form(op, b.0, c.0), Operands::Mad { dst, src: [a.0, b.0, c.0], desc: 0 })
            }
            Written::Condition(cond) => (op, Operands::Condition { cond: condition(*cond) }),
            Written::SetEmit { vertex, primitive, winding } => {
                section.uses_emitter();
                // The parser lets through 0 to 3.
                let vertex = *vertex as u8;
                (op, Operands::SetEmit { vertex, primitive: *primitive, winding: *winding })
            }
            Written::Flow(guard, targets) => {
                let operands = flow_operands(section, op, guard, condition)?;
                open = match targets {
                    Targets::Block => {
                        block = Some(match op {
                            Opcode::Loop => Block::For { inst: index },
                            _ => Block::If { inst: index, start_else: None },
                        });
                        Open::Nothing
                    }
                    Targets::One(place) => match op.format() {
                        Format::Loop => Open::LoopEnd(place.clone()),
                        Format::ConditionTarget | Format::BoolTarget => Open::Target(place.clone()),
                        _ => Open::Procedure(place.clone()),
                    },
                    Targets::Two(from, to) => Open::Range(from.clone(), to.clone()),
                };
                (op, operands)
            }
        };
        let want = descriptor.map(|(mask, modifiers)| {
            let mut sources = [Modifier::PLAIN; 3];
            sources.iter_mut().zip(modifiers).for_each(|(slot, modifier)| *slot = modifier);
            let all = op.descriptor_bits();
            let bits = if picasso { bits_read(op, mask) } else { all };
            Want {
                bits,
                value: Descriptor::new(mask, sources).0 & all,
                reach: reach(op.format()),
                // The parser lets through 0 to 127.
                forced: written.descriptor.map(|index| index as u8),
            }
        });
        let inst = Inst { op, operands, ignored: 0 };
        // Errors of the operands are told here, where the place is at hand; targets are zero for now.
        decode::encode(&inst).map_err(|e| (at, e.into()))?;
        self.push(at, Content::Inst { inst, want, bits: written.bits as u32, open })?;
        if let Some(block) = block {
            self.blocks.push((at, block));
        }
        Ok(())
    }
}

/// The form of `op` whose wide source is the one that needs it, as picasso chooses: the plain form unless only the
/// inverted one can encode the operands. `a` is wide in the plain form, `b` in the inverted.
pub(crate) fn choose_form(op: Opcode, a: Src, b: Src) -> Opcode {
    let needs_wide = |src: Src| matches!(src.reg, SrcReg::Const(_)) || src.index != Index::None;
    match op.format() {
        Format::Binary | Format::Mad if needs_wide(b) && !needs_wide(a) => op.inverted().unwrap_or(op),
        _ => op,
    }
}

fn flow_operands(
    section: &Section<'_>,
    op: Opcode,
    guard: &Guard<'_>,
    condition: impl Fn(Condition) -> Condition,
) -> Result<Operands> {
    let (target, count) = (0, 0);
    Ok(match guard {
        Guard::Always => Operands::Range { target, count },
        Guard::Condition(cond) => match op.format() {
            Format::ConditionTarget => Operands::ConditionTarget { cond: condition(*cond), target },
            _ => Operands::ConditionRange { cond: condition(*cond), target, count },
        },
        Guard::Uniform(reg, value) => {
            let (file, expected) = match op.format() {
                Format::Loop => (RegisterFile::Int, "an int uniform"),
                _ => (RegisterFile::Bool, "a bool uniform"),
            };
            let uniform = section.number(reg, File::Uniform(file), expected)?;
            match op.format() {
                Format::Loop => Operands::Loop { uniform, target },
                Format::BoolTarget => Operands::BoolTarget { uniform, value: *value, target },
                _ => Operands::BoolRange { uniform, target, count },
            }
        }
    })
}
