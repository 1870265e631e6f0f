//! A module as LLVM's text: types, globals, functions, attributes and metadata.
//!
//! Numbers of values, blocks and metadata are those that LLVM 3.7 gives them in text; calls of `dx.op` end with the
//! operation's name. What is damaged is printed as far as it goes: nothing here fails but for [`Limit`].

mod inst;
mod metadata;
mod slots;
mod text;

use crate::bitcode::{Attribute, Function, Module, Type};
use metadata::Numbers;
use slots::Slots;
use std::fmt::Write;
use text::Printer;
use thiserror::Error;

/// The text is longer than the limit: constants that are used many times can make it any length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the text is longer than {0} bytes")]
pub struct Limit(pub usize);

/// Most bytes of text.
pub const MAX_TEXT: usize = 256 << 20;

/// Prints a module.
///
/// # Errors
/// [`Limit`] at [`MAX_TEXT`] bytes.
pub fn disassemble(module: &Module) -> Result<String, Limit> {
    let numbers = Numbers::of(module);
    let mut p = Printer::new(module, &numbers, MAX_TEXT);
    match whole(&mut p) {
        Ok(()) => Ok(p.finish()),
        Err(std::fmt::Error) => Err(Limit(MAX_TEXT)),
    }
}

/// How writing ends: an error is the limit.
type Out = std::fmt::Result;

fn whole(p: &mut Printer<'_>) -> Out {
    let module = p.module;
    if !module.data_layout.is_empty() {
        writeln!(p, "target datalayout = \"{}\"", module.data_layout)?;
    }
    if !module.triple.is_empty() {
        writeln!(p, "target triple = \"{}\"", module.triple)?;
    }
    types(p)?;
    globals(p)?;
    let groups = Groups::of(module);
    // Functions in their order, those with bodies first as DXC has them last in the table.
    for function in module.functions.iter().filter(|f| f.body.is_some()) {
        defined(p, function, &groups)?;
    }
    for function in module.functions.iter().filter(|f| f.body.is_none()) {
        writeln!(p)?;
        groups.comment(p, function)?;
        signature(p, "declare", function, None, &groups)?;
        writeln!(p)?;
    }
    groups.print(p)?;
    metadata::print(p)
}

fn types(p: &mut Printer<'_>) -> Out {
    writeln!(p)?;
    for (_, ty) in p.module.types.iter() {
        match ty {
            Type::Struct { name: Some(name), packed, fields } => {
                p.local_name(name.as_bytes())?;
                write!(p, " = type ")?;
                p.fields(*packed, fields)?;
                writeln!(p)?;
            }
            Type::Opaque { name } => {
                p.local_name(name.as_bytes())?;
                writeln!(p, " = type opaque")?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn linkage(number: u32) -> &'static str {
    match number {
        1 => "weak ",
        2 => "appending ",
        3 => "internal ",
        4 => "linkonce ",
        7 => "extern_weak ",
        8 => "common ",
        9 => "private ",
        10 => "weak_odr ",
        11 => "linkonce_odr ",
        12 => "available_externally ",
        _ => "",
    }
}

fn globals(p: &mut Printer<'_>) -> Out {
    let module = p.module;
    if !module.globals.is_empty() {
        writeln!(p)?;
    }
    for (index, global) in (0..).zip(&module.globals) {
        p.global_name(&global.name, index)?;
        write!(p, " = ")?;
        match (global.initializer, linkage(global.linkage)) {
            (None, "") => write!(p, "external ")?,
            (_, linkage) => write!(p, "{linkage}")?,
        }
        if global.space != 0 {
            write!(p, "addrspace({}) ", global.space)?;
        }
        let unnamed = if global.unnamed_addr { "unnamed_addr " } else { "" };
        write!(p, "{unnamed}{} ", if global.constant { "constant" } else { "global" })?;
        p.ty(global.ty)?;
        if let Some(initializer) = global.initializer {
            write!(p, " ")?;
            p.value(None, initializer)?;
        }
        if global.align != 0 {
            write!(p, ", align {}", global.align)?;
        }
        writeln!(p)?;
    }
    Ok(())
}

/// What stands before and behind a function's parameters.
fn signature(
    p: &mut Printer<'_>,
    keyword: &str,
    function: &Function,
    slots: Option<&Slots<'_>>,
    groups: &Groups,
) -> Out {
    let Some(Type::Function { returns, params, variadic }) = p.module.types.get(function.ty) else {
        return Ok(());
    };
    write!(p, "{keyword} {}", linkage(function.linkage))?;
    p.ty(*returns)?;
    write!(p, " ")?;
    p.global_name(&function.name, 0)?;
    write!(p, "(")?;
    for (n, &param) in params.iter().enumerate() {
        write!(p, "{}", if n == 0 { "" } else { ", " })?;
        p.ty(param)?;
        for attribute in groups.of_param(p.module, function.attributes, n as u32 + 1) {
            write!(p, " {attribute}")?;
        }
        if let Some(slots) = slots {
            write!(p, " ")?;
            p.local(Some(slots), slots.first_local(n))?;
        }
    }
    if *variadic {
        write!(p, "{}...", if params.is_empty() { "" } else { ", " })?;
    }
    write!(p, ")")?;
    groups.reference(p, function.attributes)
}

fn defined(p: &mut Printer<'_>, function: &Function, groups: &Groups) -> Out {
    let Some(body) = &function.body else { return Ok(()) };
    let slots = Slots::of(p.module, body);
    writeln!(p)?;
    groups.comment(p, function)?;
    signature(p, "define", function, Some(&slots), groups)?;
    writeln!(p, " {{")?;
    inst::body(p, body, &slots, groups)?;
    writeln!(p, "}}")
}

/// Sets of attributes of functions, numbered in the order in which they are met.
struct Groups {
    /// Attributes of a function as text, by number.
    texts: Vec<String>,
    /// The number by a set's index.
    numbers: Vec<Option<usize>>,
}

impl Groups {
    fn of(module: &Module) -> Groups {
        let mut groups = Groups { texts: Vec::new(), numbers: vec![None; module.attributes.len()] };
        let calls = module.functions.iter().flat_map(|f| f.body.iter()).flat_map(|b| &b.insts);
        let of_calls = calls.filter_map(|i| match i.kind {
            crate::bitcode::InstKind::Call { attributes, .. } => Some(attributes),
            _ => None,
        });
        for set in module.functions.iter().map(|f| f.attributes).chain(of_calls) {
            let Some(index) = (set as usize).checked_sub(1) else { continue };
            let text = attributes(module, set, u32::MAX).join(" ");
            if let Some(slot) = groups.numbers.get_mut(index)
                && !text.is_empty()
            {
                let known = groups.texts.iter().position(|t| *t == text);
                *slot = Some(known.unwrap_or_else(|| {
                    groups.texts.push(text);
                    groups.texts.len() - 1
                }));
            }
        }
        groups
    }

    fn number(&self, set: u32) -> Option<usize> {
        *self.numbers.get((set as usize).checked_sub(1)?)?
    }

    fn of_param(&self, module: &Module, set: u32, index: u32) -> Vec<String> {
        attributes(module, set, index)
    }

    fn comment(&self, p: &mut Printer<'_>, function: &Function) -> Out {
        match self.number(function.attributes).and_then(|n| self.texts.get(n)) {
            Some(text) => writeln!(p, "; Function Attrs: {text}"),
            None => Ok(()),
        }
    }

    fn reference(&self, p: &mut Printer<'_>, set: u32) -> Out {
        match self.number(set) {
            Some(n) => write!(p, " #{n}"),
            None => Ok(()),
        }
    }

    fn print(&self, p: &mut Printer<'_>) -> Out {
        if !self.texts.is_empty() {
            writeln!(p)?;
        }
        for (n, text) in self.texts.iter().enumerate() {
            writeln!(p, "attributes #{n} = {{ {text} }}")?;
        }
        Ok(())
    }
}

/// Attributes of a set that are of one thing: 0 the result, from 1 on parameters, all ones the function.
fn attributes(module: &Module, set: u32, of: u32) -> Vec<String> {
    let groups = (set as usize).checked_sub(1).and_then(|i| module.attributes.get(i));
    let mut texts = Vec::new();
    for id in groups.into_iter().flatten() {
        let group = module.attribute_groups.iter().find(|g| g.id == *id && g.of == of);
        texts.extend(group.into_iter().flat_map(|g| &g.attributes).map(attribute));
    }
    texts
}

/// Names by LLVM's numbers of attributes, as far as DXC uses them.
fn attribute(attribute: &Attribute) -> String {
    let text = |t: &[u8]| format!("\"{}\"", String::from_utf8_lossy(t));
    match attribute {
        Attribute::Known(number) => match number {
            2 => "alwaysinline".into(),
            3 => "byval".into(),
            4 => "inlinehint".into(),
            5 => "inreg".into(),
            6 => "minsize".into(),
            9 => "noalias".into(),
            11 => "nocapture".into(),
            12 => "noduplicate".into(),
            14 => "noinline".into(),
            17 => "noreturn".into(),
            18 => "nounwind".into(),
            20 => "readnone".into(),
            21 => "readonly".into(),
            24 => "signext".into(),
            29 => "sret".into(),
            34 => "zeroext".into(),
            37 => "optnone".into(),
            39 => "nonnull".into(),
            43 => "convergent".into(),
            other => format!("attribute({other})"),
        },
        Attribute::Number(1, n) => format!("align {n}"),
        Attribute::Number(41, n) => format!("dereferenceable({n})"),
        Attribute::Number(kind, n) => format!("attribute({kind}, {n})"),
        Attribute::Text(key, None) => text(key),
        Attribute::Text(key, Some(value)) => format!("{}={}", text(key), text(value)),
    }
}
