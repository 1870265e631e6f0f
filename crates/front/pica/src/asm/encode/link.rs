//! The end of a program: open places, descriptors, executables.

use super::{Content, Encoder, Error, Open, PlacedError, Result};
use crate::asm::ast::Place;
use crate::asm::descriptors::{self, Failure, Want};
use crate::asm::section::Section;
use crate::asm::{Position, Reason};
use crate::container::Shbin;
use crate::decode;
use crate::inst::{Inst, Operands};
use crate::program::Program;

impl<'a> Encoder<'a> {
    /// The address a place stands for.
    fn address(&self, source: usize, place: &Place<'a>) -> Result<i64> {
        match place {
            Place::Address(_, address) => Ok(*address),
            Place::Name(at, name) => {
                let label = self.labels.get(&(source, *name)).copied();
                let address = label.or_else(|| self.procs.get(name).map(|proc| proc.0));
                address.map(i64::from).ok_or_else(|| (*at, Reason::Undefined((*name).to_owned())))
            }
        }
    }

    /// Start and length of a procedure.
    fn procedure(&self, place: &Place<'a>) -> Result<(u32, u32)> {
        match place {
            Place::Name(at, name) => {
                self.procs.get(name).copied().ok_or_else(|| (*at, Reason::Undefined((*name).to_owned())))
            }
            Place::Address(at, address) => {
                let expected = "a procedure, or two addresses";
                Err((*at, Reason::Expected { expected, found: address.to_string() }))
            }
        }
    }

    fn close(&self, source: usize, at: Position, open: &Open<'a>, inst: &mut Inst) -> Result<()> {
        match open {
            Open::Nothing => Ok(()),
            Open::Target(place) => set_target(at, inst, self.address(source, place)?, 0),
            Open::Procedure(place) => {
                let (start, len) = self.procedure(place)?;
                set_target(at, inst, start.into(), len.into())
            }
            Open::Range(from, to) => {
                let from = self.address(source, from)?;
                set_target(at, inst, from, self.address(source, to)? - from)
            }
            Open::LoopEnd(place) => set_target(at, inst, self.address(source, place)? - 1, 0),
        }
    }

    /// The program, once all sources are taken in.
    pub(in crate::asm) fn finish(self) -> std::result::Result<Shbin, PlacedError> {
        let (fixed, tags) = self.fixed_descriptors();
        let wants: Vec<(usize, Want)> = self
            .code
            .iter()
            .enumerate()
            .filter_map(|(i, slot)| match &slot.content {
                Content::Inst { want, .. } => want.map(|want| (i, want)),
                Content::Word(_) => None,
            })
            .collect();
        let plain: Vec<Want> = wants.iter().map(|want| want.1).collect();
        let (descriptors, indices) =
            descriptors::allocate(&fixed, &plain, self.options.layout).map_err(|failure| {
                let (n, reason) = match failure {
                    Failure::Full(n) => (n, Reason::Full("operand descriptors")),
                    Failure::Disagrees(n, found) => {
                        (n, Reason::Descriptor { index: plain[n].forced.unwrap_or(0), found })
                    }
                };
                let slot = &self.code[wants[n].0];
                (slot.source, slot.at, reason)
            })?;
        let mut code = Vec::with_capacity(self.code.len());
        let mut indices = indices.into_iter();
        for slot in &self.code {
            let fail = |(at, reason): Error| (slot.source, at, reason);
            let word = match &slot.content {
                Content::Word(word) => *word,
                Content::Inst { inst, want, bits, open } => {
                    let mut inst = *inst;
                    if want.is_some() {
                        set_descriptor(&mut inst, indices.next().unwrap_or(0));
                    }
                    self.close(slot.source, slot.at, open, &mut inst).map_err(fail)?;
                    let word = decode::encode(&inst).map_err(|e| fail((slot.at, e.into())))?;
                    if word & bits != 0 {
                        return Err(fail((slot.at, Reason::Bits(word & bits))));
                    }
                    word | bits
                }
            };
            code.push(word);
        }
        let mut shbin = Shbin {
            version: self.version,
            program: Program { code, descriptors },
            descriptor_tags: tags,
            lines: self.lines.clone(),
            filenames: self.filenames.clone(),
            executables: Vec::new(),
        };
        for section in self.sections.iter().filter(|section| !section.nodvle) {
            let mut dvle = section.finish();
            let entry = self.entry(section).map_err(|(at, reason)| (section.source, at, reason))?;
            (dvle.main, dvle.end) = entry;
            shbin.executables.push(dvle);
        }
        Ok(shbin)
    }

    /// The table that `.desc` fixes, gaps zero, and the tags of its entries without trailing zeros.
    fn fixed_descriptors(&self) -> (Vec<u32>, Vec<u32>) {
        let len = self.fixed.last_key_value().map_or(0, |(&last, _)| last + 1);
        let entry = |i| self.fixed.get(&i).copied().unwrap_or((0, 0));
        let table = (0..len).map(|i| entry(i).0).collect();
        let mut tags: Vec<u32> = (0..len).map(|i| entry(i).1).collect();
        tags.truncate(tags.iter().rposition(|&tag| tag != 0).map_or(0, |last| last + 1));
        (table, tags)
    }

    /// Entry point and end of an executable.
    fn entry(&self, section: &Section<'a>) -> Result<(u32, u32)> {
        let main = Place::Name(section.at, "main");
        let (from, to) = match &section.entry {
            Some((from, to)) => (from, to.as_ref()),
            None => (&main, None),
        };
        if let (Place::Name(_, name), None) = (from, to)
            && let Some(&(start, len)) = self.procs.get(name)
        {
            return Ok((start, start + len));
        }
        // The parser reads no address above 32 bits.
        let start = self.address(section.source, from)? as u32;
        let end = match to {
            Some(to) => self.address(section.source, to)? as u32,
            None => self.here(),
        };
        Ok((start, end))
    }
}

/// Sets the target of a flow instruction, and its count if it has one.
pub(super) fn set_target(at: Position, inst: &mut Inst, to: i64, words: i64) -> Result<()> {
    let new_target = u16::try_from(to).ok().filter(|&t| t < 4096);
    let new_target =
        new_target.ok_or((at, Reason::Range { what: "target", value: to, min: 0, max: 4095 }))?;
    let new_count = u8::try_from(words)
        .map_err(|_| (at, Reason::Range { what: "count of words", value: words, min: 0, max: 255 }));
    match &mut inst.operands {
        Operands::Range { target, count }
        | Operands::ConditionRange { target, count, .. }
        | Operands::BoolRange { target, count, .. } => {
            *target = new_target;
            *count = new_count?;
        }
        Operands::ConditionTarget { target, .. }
        | Operands::BoolTarget { target, .. }
        | Operands::Loop { target, .. } => *target = new_target,
        _ => {}
    }
    Ok(())
}

fn set_descriptor(inst: &mut Inst, index: u8) {
    match &mut inst.operands {
        Operands::Unary { desc, .. }
        | Operands::MoveAddress { desc, .. }
        | Operands::Binary { desc, .. }
        | Operands::Compare { desc, .. }
        | Operands::Mad { desc, .. } => *desc = index,
        _ => {}
    }
}
