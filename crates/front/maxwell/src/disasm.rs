//! The vendor's text (nvdisasm 12.8) of instructions.
//!
//! Reserved values of modifiers have the names that the tool gives them (`INVALIDFMZ3`, `???7`).

use crate::code::{Control, Instructions, WORD, is_control};
use crate::inst::{Inst, Operand, PT, RZ, Role, Value};
use crate::isa::{self, FORMS, Form, Kind, OperandSpec, Place, Style};
use crate::modifier::{CctlOp, Mod, special_register};
use crate::number::{write_f16, write_f32, write_f64};
use crate::opcode::Opcode;
use std::fmt::{self, Display, Formatter, Write};

/// How targets of flow operations are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Targets {
    /// As the tool prints raw code: addresses.
    #[default]
    Absolute,
    /// As `<target>`, for text that does not depend on where the word stands; the decode vectors have this form.
    Placeholder,
}

/// How an instruction is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Targets.
    pub targets: Targets,
    /// Operand slots marked `.reuse`, as in [`Control::reuse`].
    pub reuse: u8,
}

impl Inst {
    /// The instruction's text.
    pub fn display(&self, options: Options) -> impl Display {
        Text { inst: *self, options }
    }
}

impl Display for Inst {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.display(Options::default()).fmt(f)
    }
}

struct Text {
    inst: Inst,
    options: Options,
}

impl Display for Text {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text)?;
        out.write_str(text.trim_end())
    }
}

impl Text {
    fn write(&self, out: &mut String) -> fmt::Result {
        let Text { inst, options } = self;
        let form = &FORMS[inst.form];
        let guard = inst.guard;
        if !guard.is_always() {
            write!(out, "@{}", if guard.not { "!" } else { "" })?;
            write_pred(out, guard.pred)?;
            out.write_char(' ')?;
        }
        out.write_str(inst.op.name())?;
        write_modifiers(out, form, inst.word, Place::Name)?;
        out.push_str(phase(inst.op, options.reuse));
        let mut separator = " ";
        // The tool prints no space before the address of CCTL.QRY1.
        if inst.op == Opcode::Cctl && inst.modifier(Mod::CctlOp) == CctlOp::Qry1 as u8 {
            separator = "";
        }
        for spec in form.operands {
            let before = out.len();
            out.push_str(if matches!(spec.kind, Kind::RegRelative(_)) { " " } else { separator });
            let start = out.len();
            write_operand(out, form, spec, inst, *options)?;
            if out.len() == start {
                out.truncate(before);
                continue;
            }
            if spec.role == Role::Dst {
                write_modifiers(out, form, inst.word, Place::Dst)?;
            }
            separator = ", ";
        }
        Ok(())
    }
}

fn write_modifiers(out: &mut dyn Write, form: &Form, word: u64, place: Place) -> fmt::Result {
    for modifier in form.modifiers.iter().filter(|m| m.place == place) {
        if let Some((text, _)) = modifier.choice(word) {
            out.write_str(text)?;
        }
    }
    Ok(())
}

/// The bit of the scheduling word that speaks of an operand.
fn reuse_slot(op: Opcode, role: Role) -> Option<u8> {
    use Opcode::*;
    match op {
        Bfe | Bfi | Dadd | Dfma | Dmul | Fadd | Fadd32i | Fchk | Fcmp | Ffma | Ffma32i | Fmnmx | Fmul
        | Fmul32i | Fset | Fsetp | Fswzadd | Hadd2 | Hadd2_32i | Hfma2 | Hfma2_32i | Hmul2 | Hmul2_32i
        | Hset2 | Hsetp2 | Iadd | Iadd3 | Iadd32i | Icmp | Imnmx | Iscadd | Iscadd32i | Iset | Isetp
        | Lea | Lop | Lop3 | Lop32i | Mov | P2r | Prmt | R2p | Rro | Sel | Shf | Shl | Shr | Vabsdiff
        | Vabsdiff4 | Vadd | Vmad | Vmnmx | Vset | Vsetp | Vshl | Vshr | Xmad => {}
        _ => return None,
    }
    match role {
        Role::A => Some(0),
        // Additions are multiply-adds by one.
        Role::B if matches!(op, Fadd | Dadd | Fswzadd | Hadd2) => Some(2),
        Role::B => Some(1),
        Role::C => Some(2),
        _ => None,
    }
}

/// Of texture operations the bits are a phase.
fn phase(op: Opcode, reuse: u8) -> &'static str {
    use Opcode::*;
    match op {
        Tex | Texs | Tld | Tld4 | Tld4s | Tlds | Tmml | Txa | Txd | Txq => {
            ["", ".T", ".P", ".INVALIDPHASE3"][usize::from(reuse & 3)]
        }
        _ => "",
    }
}

fn write_operand(
    out: &mut String,
    form: &Form,
    spec: &OperandSpec,
    inst: &Inst,
    options: Options,
) -> fmt::Result {
    if let Kind::Text(which) = spec.kind {
        let choice = form.modifiers.iter().find(|m| m.which == which).and_then(|m| m.choice(inst.word));
        return out.write_str(choice.map_or("", |c| c.0));
    }
    let Some(operand) = isa::extract(form, spec, inst) else { return Ok(()) };
    if spec.is_hidden(&operand) {
        return Ok(());
    }
    let reuse = reuse_slot(inst.op, spec.role).is_some_and(|slot| (options.reuse >> slot) & 1 != 0)
        && operand.reg().is_some();
    let part = spec.part_text(inst.word);
    match operand.value {
        Value::Imm(_) | Value::F32(_) | Value::F64(_) | Value::F16(_) | Value::F16x2 { .. } => {
            write_immediate(out, spec, &operand, inst.word)?;
            out.push_str(part);
        }
        Value::Target(target) => write_target(out, spec, inst, target, options.targets)?,
        _ => {
            let sign = if operand.neg { "-" } else { "" };
            let not = match (operand.inv, operand.value) {
                (true, Value::Pred(_)) => "!",
                (true, _) => "~",
                _ => "",
            };
            let bar = if operand.abs { "|" } else { "" };
            write!(out, "{sign}{not}{bar}")?;
            write_value(out, spec, &operand, inst.word)?;
            // The tool puts the part inside the bars.
            write!(out, "{part}{bar}{}", if reuse { ".reuse" } else { "" })?;
        }
    }
    Ok(())
}

fn write_pred(out: &mut dyn Write, pred: u8) -> fmt::Result {
    if pred == PT { out.write_str("PT") } else { write!(out, "P{pred}") }
}

fn write_reg(out: &mut dyn Write, reg: u8) -> fmt::Result {
    if reg == RZ { out.write_str("RZ") } else { write!(out, "R{reg}") }
}

/// `0x1f` or `-0x1f`.
fn write_signed(out: &mut dyn Write, value: i64) -> fmt::Result {
    write!(out, "{}{:#x}", if value < 0 { "-" } else { "" }, value.unsigned_abs())
}

fn write_immediate(out: &mut dyn Write, spec: &OperandSpec, operand: &Operand, word: u64) -> fmt::Result {
    match operand.value {
        // Only here the sign stands before the number.
        Value::Imm(value) if operand.neg && spec.is_video_immediate() => {
            write_signed(out, -i64::from(value))?
        }
        Value::Imm(value) if spec.style != Style::Plain => write_styled(out, spec.style, value, word)?,
        Value::Imm(value) if spec.is_signed() => write_signed(out, i64::from(value as i32))?,
        Value::Imm(value) => write!(out, "{value:#x}")?,
        Value::F32(bits) => write_f32(out, bits)?,
        Value::F64(bits) => write_f64(out, bits)?,
        Value::F16(bits) => write_f16(out, bits)?,
        Value::F16x2 { lo, hi } => {
            write_f16(out, hi)?;
            out.write_str(", ")?;
            write_f16(out, lo)?;
        }
        _ => {}
    }
    let suffixed = !spec.is_video_immediate();
    for (set, text) in [(operand.neg && suffixed, ".NEG"), (operand.abs, ".ABS"), (operand.inv, ".INV")] {
        if set {
            out.write_str(text)?;
        }
    }
    Ok(())
}

fn write_styled(out: &mut dyn Write, style: Style, value: u32, word: u64) -> fmt::Result {
    match style {
        Style::Plain => write!(out, "{value:#x}"),
        Style::Unsigned => write!(out, "{:#x}", value & 0xf_ffff),
        Style::Signed49 => {
            write_signed(out, if word >> 49 & 1 != 0 { i64::from(value as i16) } else { value.into() })
        }
        Style::Lanes => (0..4)
            .rev()
            .map(|lane| ["PP", "NP", "PN", "ZP"][(value >> (2 * lane) & 3) as usize])
            .try_for_each(|lane| out.write_str(lane)),
        Style::Barriers => {
            let mut separator = '{';
            for bit in (0..32).rev().filter(|bit| (value >> bit) & 1 != 0) {
                write!(out, "{separator}{bit}")?;
                separator = ',';
            }
            out.write_char('}')
        }
        // There are six.
        Style::Scoreboard if value < 6 => write!(out, "SB{value}"),
        Style::Scoreboard => write!(out, "???{value}"),
    }
}

/// A register plus an offset, in brackets.
fn write_address(out: &mut dyn Write, base: u8, offset: i32) -> fmt::Result {
    out.write_char('[')?;
    if base != RZ || offset == 0 {
        write_reg(out, base)?;
        if offset != 0 {
            out.write_char('+')?;
        }
    }
    if offset != 0 {
        write_signed(out, offset.into())?;
    }
    out.write_char(']')
}

fn write_value(out: &mut dyn Write, spec: &OperandSpec, operand: &Operand, word: u64) -> fmt::Result {
    match operand.value {
        Value::Reg(RZ) if spec.is_misplaced(word) => out.write_str("???255"),
        Value::Reg(reg) => write_reg(out, reg),
        Value::Pred(pred) => write_pred(out, pred),
        Value::Const { bank, offset, index } => {
            write!(out, "c[{bank:#x}]{}", if spec.has_part(word) { " " } else { "" })?;
            if index == RZ {
                out.write_char('[')?;
                write_signed(out, offset.into())?;
                out.write_char(']')
            } else {
                write_address(out, index, offset)
            }
        }
        Value::Mem { base: RZ, offset, .. } if offset != 0 => write!(out, "[{:#x}]", offset as u32),
        Value::Mem { base, offset, .. } => write_address(out, base, offset),
        Value::Attr { offset, .. } if matches!(spec.kind, Kind::DirectAttr(_)) => {
            write!(out, "a[{offset:#x}]")
        }
        Value::Attr { offset, index } => {
            out.write_char('a')?;
            write_address(out, index, offset)
        }
        Value::Special(number) => match special_register(number) {
            Some(name) => out.write_str(name),
            None => write!(out, "SR{number}"),
        },
        Value::Cc(test) => write!(out, "CC.{}", test.name()),
        Value::CcRegister => out.write_str("CC"),
        Value::PredFile => out.write_str("PR"),
        Value::Imm(_)
        | Value::F32(_)
        | Value::F64(_)
        | Value::F16(_)
        | Value::F16x2 { .. }
        | Value::Target(_) => Ok(()),
    }
}

fn write_target(
    out: &mut dyn Write,
    spec: &OperandSpec,
    inst: &Inst,
    target: u32,
    targets: Targets,
) -> fmt::Result {
    let shown = match spec.kind {
        // After a register stands the offset itself, and nothing for 0.
        Kind::RegRelative(_) => {
            let offset = target.wrapping_sub(inst.address.wrapping_add(WORD)) as i32;
            if offset == 0 {
                return Ok(());
            }
            i64::from(offset)
        }
        Kind::Absolute => i64::from(target),
        _ => i64::from(target as i32),
    };
    match (targets, spec.kind) {
        (Targets::Placeholder, Kind::Relative) => out.write_str("<target>"),
        (Targets::Placeholder, Kind::RegRelative(_)) => {
            out.write_str(if shown < 0 { "-<target>" } else { "<target>" })
        }
        _ => write_signed(out, shown),
    }
}

/// A listing of code whose first word is a scheduling word: a line for each word with its address, the text and the
/// word; what is no instruction stands as `.word`.
pub fn listing(words: &[u64]) -> impl Display {
    Listing { words }
}

struct Listing<'a> {
    words: &'a [u64],
}

impl Display for Listing<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (address, control, inst) in Instructions::new(self.words) {
            if is_control(address.wrapping_sub(WORD))
                && let Some(word) = self.words.get((address / WORD - 1) as usize)
            {
                write_schedule(out, *word)?;
            }
            match inst {
                Ok(inst) => {
                    let options = Options { reuse: control.reuse, ..Options::default() };
                    writeln!(out, "/*{address:04x}*/ {} ; /* {:#018x} */", inst.display(options), inst.word)?;
                }
                Err(e) => writeln!(out, "/*{address:04x}*/ .word {:#018x} ; /* {} */", e.word, e.reason)?,
            }
        }
        Ok(())
    }
}

/// A scheduling word as three groups: wait mask, read and write barrier, yield, stall.
fn write_schedule(out: &mut dyn Write, word: u64) -> fmt::Result {
    out.write_str("/* sched")?;
    for slot in 0..3 {
        let Control { stall, yield_flag, write_barrier, read_barrier, wait_mask, .. } =
            Control::of(word, slot);
        write!(
            out,
            " {wait_mask:02x}:{}:{}:{}:{stall:x}",
            Barrier(read_barrier),
            Barrier(write_barrier),
            if yield_flag { '-' } else { 'Y' },
        )?;
    }
    writeln!(out, " {word:#018x} */")
}

struct Barrier(u8);

impl Display for Barrier {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0 == 7 { f.write_char('-') } else { self.0.fmt(f) }
    }
}
