//! The disassembler: text that [`crate::asm`] turns back into the same program and the same container, for every
//! program and container.
//!
//! What the assembler would choose by itself is not written: the inverted form of an opcode, the operand descriptor,
//! the register masks. What it would choose differently is, with the directives documented there.

use crate::asm::DEFAULT_VERSION;
use crate::asm::Layout;
use crate::asm::descriptors::{Want, allocate, reach};
use crate::asm::encode::choose_form;
use crate::asm::section::{input_bits, merges_by_default};
use crate::container::{
    ConstantValue, Dvle, Geometry, GeometryMode, Output, RegisterFile, Semantic, ShaderKind, Shbin, Uniform,
};
use crate::decode;
use crate::desc::{Component, Descriptor, Mask, Modifier, Swizzle};
use crate::float::F24;
use crate::inst::{Condition, ConditionMode, Dst, Format, Index, Inst, Opcode, Operands, Src, SrcReg};
use crate::names::Names;
use crate::program::Program;
use std::collections::BTreeSet;
use std::fmt::Write;

/// How to write a disassembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisasmOptions {
    /// Use the names of the container's tables for registers and places.
    pub names: bool,
    /// Put address and word behind each instruction, as a comment.
    pub comments: bool,
}

impl Default for DisasmOptions {
    fn default() -> Self {
        DisasmOptions { names: true, comments: false }
    }
}

/// Column at which comments start, where the instruction leaves room.
const COMMENT_COLUMN: usize = 48;

/// Disassembles a container.
pub fn disassemble(shbin: &Shbin, options: &DisasmOptions) -> String {
    let code = decode_all(&shbin.program);
    let plan = DescriptorPlan::new(shbin, &code);
    let names = all_names(shbin, &code, options);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(&mut out, shbin, &code, &plan, &names, options);
    out
}

/// Disassembles a program without a container.
pub fn disassemble_program(program: &Program, options: &DisasmOptions) -> String {
    disassemble(&Shbin { program: program.clone(), ..Shbin::default() }, options)
}

/// One instruction as text. `descriptor` is the operand descriptor it uses; flow targets without a name are written as
/// word addresses. The bits and descriptor index that a disassembly may append in braces are left out.
pub fn instruction_text(inst: &Inst, descriptor: Descriptor, names: &Names) -> String {
    let mut out = String::new();
    let _ = write_instruction(&mut out, inst, descriptor, names);
    out
}

type Line = (u32, Option<Inst>);
type Written = std::fmt::Result;

fn decode_all(program: &Program) -> Vec<Line> {
    let decode_at = |(i, &word): (usize, &u32)| (word, decode::decode(4 * i, word).ok());
    program.code.iter().enumerate().map(decode_at).collect()
}

/// Which descriptors must be spelled out.
struct DescriptorPlan {
    /// The table is written with `.desc`.
    explicit: bool,
    /// By word: the index is written with the instruction.
    forced: Vec<bool>,
}

impl DescriptorPlan {
    fn new(shbin: &Shbin, code: &[Line]) -> Self {
        let program = &shbin.program;
        let mut wants = Vec::new();
        let mut words = Vec::new();
        for (i, (_, inst)) in code.iter().enumerate() {
            let Some((inst, index)) = inst.as_ref().and_then(|inst| Some((inst, inst.desc()?))) else {
                continue;
            };
            let bits = inst.op.descriptor_bits();
            let value = program.descriptor(index).0 & bits;
            wants.push(Want { bits, value, reach: reach(inst.op.format()), forced: None });
            words.push((i, index));
        }
        let mut forced = vec![false; code.len()];
        let automatic = allocate(&[], &wants, Layout::Plain);
        let same_indices = |indices: &[u8]| words.iter().map(|word| word.1).eq(indices.iter().copied());
        if let Ok((table, indices)) = &automatic
            && shbin.descriptor_tags.is_empty()
            && *table == program.descriptors
            && same_indices(indices)
        {
            return DescriptorPlan { explicit: false, forced };
        }
        for (want, &(i, index)) in wants.iter().zip(&words) {
            let agrees = |&value: &u32| (value ^ want.value) & want.bits == 0;
            let first = program.descriptors.iter().take(want.reach).position(agrees);
            forced[i] = first != Some(usize::from(index));
        }
        DescriptorPlan { explicit: true, forced }
    }
}

/// Names per executable, or one set of names if there is none; all share the labels.
fn all_names(shbin: &Shbin, code: &[Line], options: &DisasmOptions) -> Vec<Names> {
    let mut labels = Names::default();
    let end = code.len() as u32;
    let mut sets: Vec<Names> = if options.names {
        shbin.executables.iter().map(Names::from_dvle).collect()
    } else {
        shbin.executables.iter().map(|_| Names::default()).collect()
    };
    for dvle in shbin.executables.iter().filter(|_| options.names) {
        for label in dvle.labels.iter().filter(|l| l.address <= end && crate::names::is_identifier(&l.name)) {
            labels.add_label(label.address, &label.name);
        }
    }
    let mut places = BTreeSet::new();
    for (i, dvle) in shbin.executables.iter().enumerate() {
        let suffix = if shbin.executables.len() == 1 { String::new() } else { i.to_string() };
        for (address, name) in [(dvle.main, format!("main{suffix}")), (dvle.end, format!("main{suffix}_end"))]
        {
            if address <= end {
                labels.add_label(address, &name);
                places.insert(address);
            }
        }
    }
    for inst in code.iter().filter_map(|line| line.1) {
        places.extend(places_of(&inst).into_iter().flatten().filter(|&address| address <= end));
    }
    for address in places {
        // The second spelling is for a container whose labels take the first for another place.
        labels.add_label(address, &format!("L_{address:04x}"));
        labels.add_label(address, &format!("L__{address:04x}"));
    }
    sets.iter_mut().for_each(|names| names.share_labels(&labels));
    if sets.is_empty() {
        sets.push(labels);
    }
    sets
}

/// The addresses an instruction names.
fn places_of(inst: &Inst) -> [Option<u32>; 2] {
    let Some(target) = inst.target().map(u32::from) else { return [None; 2] };
    match inst.operands {
        Operands::Range { count, .. }
        | Operands::ConditionRange { count, .. }
        | Operands::BoolRange { count, .. } => [Some(target), Some(target + u32::from(count))],
        Operands::Loop { .. } => [Some(target + 1), None],
        _ => [Some(target), None],
    }
}

fn write_all(
    out: &mut String,
    shbin: &Shbin,
    code: &[Line],
    plan: &DescriptorPlan,
    names: &[Names],
    options: &DisasmOptions,
) -> Written {
    if shbin.version != 0 {
        writeln!(out, ".dvlpversion {:#x}", shbin.version)?;
    }
    for name in &shbin.filenames {
        writeln!(out, ".filename {}", quoted(name))?;
    }
    for line in &shbin.lines {
        writeln!(out, ".sourceline {:#x}, {}", line.file, line.line)?;
    }
    if plan.explicit {
        for (i, value) in shbin.program.descriptors.iter().enumerate() {
            write!(out, ".desc {i} {value:#010x}")?;
            match shbin.descriptor_tags.get(i) {
                None | Some(0) => writeln!(out)?,
                Some(tag) => writeln!(out, " {tag:#x}")?,
            }
        }
    }
    if shbin.executables.is_empty() {
        writeln!(out, ".nodvle")?;
    }
    let emits = code.iter().any(|line| line.1.is_some_and(|inst| inst.op == Opcode::Setemit));
    let several = shbin.executables.len() > 1;
    for (i, (dvle, names)) in shbin.executables.iter().zip(names).enumerate() {
        if several {
            writeln!(out, "\n.dvle {i}")?;
        }
        write_executable(out, dvle, names, emits)?;
    }

    let mut current = shbin.executables.len().saturating_sub(1);
    for (address, (word, inst)) in (0u32..).zip(code) {
        let holds = |dvle: &Dvle| (dvle.main..dvle.end).contains(&address);
        if let Some(owner) = shbin.executables.iter().position(holds)
            && owner != current
        {
            current = owner;
            writeln!(out, "\n.dvle {current}")?;
        }
        let Some(names) = names.get(current) else { continue };
        write_label(out, names, address)?;
        let start = out.len();
        out.push_str("    ");
        match inst {
            Some(inst) => {
                let descriptor = shbin.program.descriptor(inst.desc().unwrap_or(0));
                write_instruction(out, inst, descriptor, names)?;
                if let (Some(index), Some(true)) = (inst.desc(), plan.forced.get(address as usize)) {
                    write!(out, " {{desc {index}}}")?;
                }
                match unsaid_bits(*word, inst) {
                    0 => {}
                    bits => write!(out, " {{bits {bits:#x}}}")?,
                }
            }
            None => write!(out, ".word {word:#010x}")?,
        }
        if options.comments {
            let width = COMMENT_COLUMN.saturating_sub(out.len() - start);
            write!(out, "{:width$} ; {address:04x}: {word:08x}", "")?;
        }
        writeln!(out)?;
    }
    if let Some(names) = names.get(current) {
        write_label(out, names, code.len() as u32)?;
    }
    Ok(())
}

fn write_label(out: &mut String, names: &Names, address: u32) -> Written {
    match names.label(address) {
        Some(label) => writeln!(out, "{label}:"),
        None => Ok(()),
    }
}

/// The bits of `word` that the text of its instruction does not express.
fn unsaid_bits(word: u32, inst: &Inst) -> u32 {
    let mut plain = Inst { ignored: 0, ..*inst };
    if let Operands::Condition { cond }
    | Operands::ConditionRange { cond, .. }
    | Operands::ConditionTarget { cond, .. } = &mut plain.operands
    {
        match cond.mode {
            ConditionMode::X => cond.y = false,
            ConditionMode::Y => cond.x = false,
            ConditionMode::Or | ConditionMode::And => {}
        }
    }
    // What was decoded encodes.
    decode::encode(&plain).map_or(0, |said| word & !said)
}

fn quoted(name: &str) -> String {
    let mut out = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            // Names of containers have characters up to U+00FF.
            c => out.push_str(&format!("\\x{:02x}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

fn write_executable(out: &mut String, dvle: &Dvle, names: &Names, emits: bool) -> Written {
    if dvle.version != DEFAULT_VERSION {
        writeln!(out, ".version {:#x}", dvle.version)?;
    }
    write_kind(out, dvle, emits)?;
    if dvle.merge_outputs != merges_by_default(dvle) {
        writeln!(out, ".merge {}", dvle.merge_outputs)?;
    }
    writeln!(out, ".entry {}, {}", place(names, dvle.main), place(names, dvle.end))?;
    for label in &dvle.labels {
        let name = quoted(&label.name);
        writeln!(out, ".label {name} {} {:#x} {:#x}", label.id, label.address, label.size)?;
    }
    for (i, uniform) in dvle.uniforms.iter().enumerate() {
        write_uniform(out, uniform, names.declared(i))?;
    }
    let mut named = BTreeSet::new();
    for output in &dvle.outputs {
        let name = names.output(output.register).filter(|_| named.insert(output.register));
        write_output(out, output, name)?;
    }
    for constant in &dvle.constants {
        let n = constant.register;
        match constant.value {
            ConstantValue::Bool(value) => writeln!(out, ".setb b{n} {value}")?,
            ConstantValue::Int([x, y, z, w]) => writeln!(out, ".seti i{n}({x}, {y}, {z}, {w})")?,
            ConstantValue::Float(value) => {
                let [x, y, z, w] = value.map(float);
                writeln!(out, ".setf c{n}({x}, {y}, {z}, {w})")?;
            }
        }
    }
    let inputs = dvle.uniforms.iter().filter(|u| u.file == RegisterFile::Input);
    let declared = inputs.fold(0, |mask, u| mask | input_bits(u.first, u.count));
    if declared == 0 || dvle.input_mask != declared {
        writeln!(out, ".inmask {:#06x}", dvle.input_mask)?;
    }
    if dvle.output_mask != dvle.outputs.iter().fold(0, |mask, output| mask | 1 << output.register) {
        writeln!(out, ".outmask {:#06x}", dvle.output_mask)?;
    }
    Ok(())
}

fn write_kind(out: &mut String, dvle: &Dvle, emits: bool) -> Written {
    let Geometry { mode, fixed_start, variable_count, fixed_count } = dvle.geometry;
    if dvle.kind == ShaderKind::Geometry {
        match (mode, fixed_start, variable_count, fixed_count) {
            (GeometryMode::Point, 0, 0, 0) => return writeln!(out, ".gsh point c0"),
            (GeometryMode::Variable, 0, n, 0) => return writeln!(out, ".gsh variable c0 {n}"),
            (GeometryMode::Fixed, start @ 0..96, 0, n) => return writeln!(out, ".gsh fixed c0 c{start} {n}"),
            _ => writeln!(out, ".gsh")?,
        }
    } else if emits {
        writeln!(out, ".vsh")?;
    }
    if dvle.geometry != Geometry::default() {
        let mode = match mode {
            GeometryMode::Point => 0,
            GeometryMode::Variable => 1,
            GeometryMode::Fixed => 2,
        };
        writeln!(out, ".geometry {mode}, {fixed_start}, {variable_count}, {fixed_count}")?;
    }
    Ok(())
}

fn write_uniform(out: &mut String, uniform: &Uniform, alias: Option<&str>) -> Written {
    let Uniform { name, file, first, count } = uniform;
    let name = alias.map_or_else(|| quoted(name), str::to_owned);
    let size = if *count == 1 { String::new() } else { format!("[{count}]") };
    let letter = file.letter();
    match file {
        RegisterFile::Input => writeln!(out, ".in {name}{size} {letter}{first}"),
        RegisterFile::Float => writeln!(out, ".fvec {name}{size} = {letter}{first}"),
        RegisterFile::Int => writeln!(out, ".ivec {name}{size} = {letter}{first}"),
        RegisterFile::Bool => writeln!(out, ".bool {name}{size} = {letter}{first}"),
    }
}

fn write_output(out: &mut String, output: &Output, name: Option<&str>) -> Written {
    let name = name.unwrap_or("-");
    match Semantic::TABLE.iter().find(|row| row.0 == output.semantic) {
        Some(row) => write!(out, ".out {name} {} o{}", row.2, output.register)?,
        None => write!(out, ".out {name} semantic{} o{}", output.semantic.number(), output.register)?,
    }
    if output.mask != Mask::ALL {
        write!(out, ".{}", output.mask)?;
    }
    writeln!(out)
}

/// A 24-bit float so that reading it gives the same bits.
fn float(raw: u32) -> String {
    let value = F24.to_f32(raw);
    if value.is_nan() { format!("raw({raw:#08x})") } else { format!("{value:?}") }
}

fn place(names: &Names, address: u32) -> String {
    names.label(address).map_or_else(|| format!("{address:#x}"), str::to_owned)
}

fn write_instruction(out: &mut String, inst: &Inst, descriptor: Descriptor, names: &Names) -> Written {
    out.push_str(mnemonic(inst));
    if inst.op.format() != Format::Nullary {
        out.push(' ');
    }
    let modifiers = descriptor.sources();
    match inst.operands {
        Operands::Nullary => Ok(()),
        Operands::Unary { dst, src, .. } => {
            write_dst(out, dst, descriptor.mask(), names)?;
            write_sources(out, &[src], &modifiers, names)
        }
        Operands::MoveAddress { src, .. } => {
            match descriptor.mask().to_string().as_str() {
                "x" => out.push_str("a0"),
                "y" => out.push_str("a1"),
                "xy" => out.push_str("a01"),
                other => write!(out, "a.{other}")?,
            }
            write_sources(out, &[src], &modifiers, names)
        }
        Operands::Binary { dst, src, .. } => {
            write_dst(out, dst, descriptor.mask(), names)?;
            write_sources(out, &src, &modifiers, names)
        }
        Operands::Compare { src, x, y, .. } => {
            write_src(out, src[0], modifiers[0], names)?;
            write!(out, ", {}, {}", x.name(), y.name())?;
            write_sources(out, &src[1..], &modifiers[1..], names)
        }
        Operands::Mad { dst, src, .. } => {
            write_dst(out, dst, descriptor.mask(), names)?;
            write_sources(out, &src, &modifiers, names)
        }
        Operands::SetEmit { vertex, primitive, winding } => {
            let flags = [(primitive, "prim"), (winding, "inv")];
            let flags: Vec<&str> = flags.iter().filter(|flag| flag.0).map(|flag| flag.1).collect();
            write!(out, "{vertex}{}{}", if flags.is_empty() { "" } else { ", " }, flags.join(" "))
        }
        Operands::Condition { cond } => write_condition(out, cond),
        Operands::Range { .. } => write_places(out, inst, names, ""),
        Operands::ConditionRange { cond, .. } | Operands::ConditionTarget { cond, .. } => {
            write_condition(out, cond)?;
            write_places(out, inst, names, ", ")
        }
        Operands::BoolRange { uniform, .. } => {
            write_uniform_register(out, RegisterFile::Bool, uniform, names)?;
            write_places(out, inst, names, ", ")
        }
        Operands::BoolTarget { uniform, value, .. } => {
            out.push_str(if value { "" } else { "!" });
            write_uniform_register(out, RegisterFile::Bool, uniform, names)?;
            write_places(out, inst, names, ", ")
        }
        Operands::Loop { uniform, .. } => {
            write_uniform_register(out, RegisterFile::Int, uniform, names)?;
            write_places(out, inst, names, ", ")
        }
    }
}

/// The plain form's name, where the assembler finds the inverted form by itself.
fn mnemonic(inst: &Inst) -> &'static str {
    let wide = match inst.operands {
        Operands::Binary { src, .. } => Some((src[0], src[1])),
        Operands::Mad { src, .. } => Some((src[1], src[2])),
        _ => None,
    };
    let is_inverted = matches!(inst.op.format(), Format::BinaryInverted | Format::MadInverted);
    match (inst.op.inverted(), wide) {
        (Some(plain), Some((a, b))) if is_inverted && choose_form(plain, a, b) == inst.op => plain.name(),
        _ => inst.op.name(),
    }
}

fn write_places(out: &mut String, inst: &Inst, names: &Names, separator: &str) -> Written {
    let places: Vec<String> = places_of(inst).into_iter().flatten().map(|a| place(names, a)).collect();
    write!(out, "{separator}{}", places.join(", "))
}

fn write_condition(out: &mut String, cond: Condition) -> Written {
    let flag = |value: bool, c: Component| format!("{}cmp.{}", if value { "" } else { "!" }, c.letter());
    let (x, y) = (flag(cond.x, Component::X), flag(cond.y, Component::Y));
    match cond.mode {
        ConditionMode::Or => write!(out, "{x} || {y}"),
        ConditionMode::And => write!(out, "{x} && {y}"),
        ConditionMode::X => write!(out, "{x}"),
        ConditionMode::Y => write!(out, "{y}"),
    }
}

fn write_dst(out: &mut String, dst: Dst, mask: Mask, names: &Names) -> Written {
    match dst {
        Dst::Output(n) if names.output(n).is_some() => out.push_str(names.output(n).unwrap_or_default()),
        _ => write!(out, "{dst}")?,
    }
    if mask != Mask::ALL {
        write!(out, ".{mask}")?;
    }
    Ok(())
}

fn write_sources(out: &mut String, srcs: &[Src], modifiers: &[Modifier], names: &Names) -> Written {
    for (&src, &modifier) in srcs.iter().zip(modifiers) {
        out.push_str(", ");
        write_src(out, src, modifier, names)?;
    }
    Ok(())
}

fn write_src(out: &mut String, src: Src, modifier: Modifier, names: &Names) -> Written {
    if modifier.negate {
        out.push('-');
    }
    let named = match src.reg {
        SrcReg::Input(n) => names.register(RegisterFile::Input, n),
        SrcReg::Const(n) => names.register(RegisterFile::Float, n),
        SrcReg::Temp(_) => None,
    };
    let index = match src.index {
        Index::None => None,
        Index::A0x => Some("a0"),
        Index::A0y => Some("a1"),
        Index::Al => Some("lcnt"),
    };
    let (offset, is_array) = named.map_or((0, false), |named| (named.offset, named.count > 1));
    match named {
        Some(named) => out.push_str(named.name),
        None => write!(out, "{}", src.reg)?,
    }
    match (index, offset) {
        (Some(index), 0) => write!(out, "[{index}]")?,
        (Some(index), offset) => write!(out, "[{index}+{offset}]")?,
        (None, offset) if is_array => write!(out, "[{offset}]")?,
        _ => {}
    }
    if modifier.swizzle != Swizzle::IDENTITY {
        // Missing letters repeat the last.
        let lanes = modifier.swizzle.to_string();
        let last = &lanes[3..];
        let kept = lanes.trim_end_matches(last).len() + 1;
        write!(out, ".{}", &lanes[..kept])?;
    }
    Ok(())
}

fn write_uniform_register(out: &mut String, file: RegisterFile, n: u8, names: &Names) -> Written {
    match names.register(file, n) {
        Some(named) if named.count > 1 => write!(out, "{}[{}]", named.name, named.offset),
        Some(named) => out.write_str(named.name),
        None => write!(out, "{}{n}", file.letter()),
    }
}
