//! Metadata as text: lists by name, and pieces by the numbers that LLVM gives them in text.

use super::Out;
use super::text::Printer;
use crate::bitcode::{Body, MetadataId, Module, Node};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Numbers of the pieces that are not printed where they stand: those of named lists first, each before what it holds.
pub(super) struct Numbers {
    numbers: FxHashMap<MetadataId, u32>,
    order: Vec<MetadataId>,
}

impl Numbers {
    pub fn of(module: &Module) -> Numbers {
        let mut numbers = Numbers { numbers: FxHashMap::default(), order: Vec::new() };
        let named = module.metadata.named.iter().flat_map(|&(_, items)| module.metadata.contents(items));
        named.for_each(|&id| numbers.add(module, id));
        for body in module.functions.iter().filter_map(|f| f.body.as_ref()) {
            let of_insts = body.attachments.iter().flat_map(|(_, pairs)| pairs);
            of_insts.chain(&body.attached).for_each(|&(_, id)| numbers.add(module, id));
        }
        numbers
    }

    fn add(&mut self, module: &Module, id: MetadataId) {
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            let items: &[Option<MetadataId>] = match module.metadata.get(id) {
                Some(&Node::List { items, .. }) => module.metadata.contents(items),
                Some(Node::Debug { .. }) => &[],
                _ => continue,
            };
            if self.numbers.contains_key(&id) {
                continue;
            }
            self.numbers.insert(id, self.order.len() as u32);
            self.order.push(id);
            stack.extend(items.iter().rev().flatten());
        }
    }
}

/// Prints named lists, then all pieces.
pub(super) fn print(p: &mut Printer<'_>) -> Out {
    let (module, numbers) = (p.module, p.numbers);
    if !module.metadata.named.is_empty() {
        writeln!(p)?;
    }
    for &(name, items) in &module.metadata.named {
        write!(p, "!{} = !{{", String::from_utf8_lossy(module.metadata.contents(name)))?;
        for (n, item) in module.metadata.contents(items).iter().enumerate() {
            write!(p, "{}", if n == 0 { "" } else { ", " })?;
            p.metadata(None, *item)?;
        }
        writeln!(p, "}}")?;
    }
    if !numbers.order.is_empty() {
        writeln!(p)?;
    }
    for (n, &id) in numbers.order.iter().enumerate() {
        write!(p, "!{n} = ")?;
        match module.metadata.get(id) {
            Some(&Node::List { distinct, items }) => {
                write!(p, "{}!{{", if distinct { "distinct " } else { "" })?;
                for (n, item) in module.metadata.contents(items).iter().enumerate() {
                    write!(p, "{}", if n == 0 { "" } else { ", " })?;
                    match item {
                        Some(item) => p.metadata(None, *item)?,
                        None => write!(p, "null")?,
                    }
                }
                writeln!(p, "}}")?;
            }
            Some(&Node::Debug { code, operands }) => {
                writeln!(p, "!debug({code}) {:?}", module.metadata.contents(operands))?;
            }
            _ => writeln!(p, "null")?,
        }
    }
    Ok(())
}

impl Printer<'_> {
    /// A piece where it is used: texts and values as they are, others by number.
    pub fn metadata(&mut self, body: Option<&Body>, id: MetadataId) -> Out {
        let module = self.module;
        let local = (id.0 as usize).checked_sub(module.metadata.nodes.len());
        let node = match local {
            None => module.metadata.get(id),
            Some(local) => body.and_then(|b| b.metadata.get(local)),
        };
        match node {
            Some(&Node::Text(text)) => {
                write!(self, "!\"")?;
                self.escaped(module.metadata.contents(text))?;
                write!(self, "\"")
            }
            Some(Node::Value(value)) => self.typed(None, *value),
            _ => match self.numbers.numbers.get(&id) {
                Some(n) => write!(self, "!{n}"),
                None => write!(self, "!?"),
            },
        }
    }
}
