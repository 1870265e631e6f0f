//! What registers and addresses are called: the names of a container's tables, as assembly can use them.

use crate::asm::lex::{is_ident_part, is_ident_start};
use crate::asm::registers::looks_like_register;
use crate::container::{Dvle, RegisterFile, Semantic};
use std::collections::{BTreeMap, BTreeSet};

/// Names for registers and addresses. Names that assembly could not use, and repeated ones, are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    idents: Vec<String>,
    /// By entry of the uniform table: index into `idents`.
    declared: BTreeMap<usize, usize>,
    /// By file and register: index into `idents`, offset in the run, length of the run.
    registers: BTreeMap<(RegisterFile, u8), (usize, u8, u8)>,
    outputs: BTreeMap<u8, String>,
    labels: BTreeMap<u32, String>,
    used: BTreeSet<String>,
    used_labels: BTreeSet<String>,
}

/// A register's name: element `offset` of `name`, which spans `count` registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// Name of the run.
    pub name: &'a str,
    /// Which register of it.
    pub offset: u8,
    /// Its length.
    pub count: u8,
}

/// Whether `name` is an identifier of the assembler.
pub(crate) fn is_identifier(name: &str) -> bool {
    name.starts_with(is_ident_start) && name.chars().all(is_ident_part)
}

/// The identifier that stands for a name of a uniform table: picasso writes `$` for a period, and hides names with a
/// leading underscore.
fn alias_for(name: &str) -> Option<String> {
    let alias = name.replace('.', "$");
    let usable = !name.contains('$')
        && !alias.starts_with('_')
        && is_identifier(&alias)
        && !looks_like_register(&alias);
    usable.then_some(alias)
}

impl Names {
    /// The names an executable gives its inputs, uniforms, outputs and places.
    pub fn from_dvle(dvle: &Dvle) -> Names {
        let mut names = Names::default();
        for (index, uniform) in dvle.uniforms.iter().enumerate() {
            let Some(alias) = alias_for(&uniform.name) else { continue };
            if !names.used.insert(alias.clone()) {
                continue;
            }
            let ident = names.idents.len();
            names.idents.push(alias);
            names.declared.insert(index, ident);
            for offset in 0..uniform.count {
                let register = (uniform.file, uniform.first + offset);
                names.registers.entry(register).or_insert((ident, offset, uniform.count));
            }
        }
        for output in &dvle.outputs {
            if names.outputs.contains_key(&output.register) {
                continue;
            }
            let semantic = match Semantic::TABLE.iter().find(|row| row.0 == output.semantic) {
                Some(row) => row.2.to_owned(),
                None => format!("semantic{}", output.semantic.number()),
            };
            let plain = format!("out_{semantic}");
            let with_register = format!("{plain}_{}", output.register);
            let free = [plain, with_register].into_iter().find(|name| !names.used.contains(name));
            if let Some(name) = free {
                names.used.insert(name.clone());
                names.outputs.insert(output.register, name);
            }
        }
        for label in &dvle.labels {
            if is_identifier(&label.name) {
                names.add_label(label.address, &label.name);
            }
        }
        names
    }

    /// The name of a register, if it has one.
    pub fn register(&self, file: RegisterFile, number: u8) -> Option<Named<'_>> {
        let &(ident, offset, count) = self.registers.get(&(file, number))?;
        Some(Named { name: self.idents.get(ident)?, offset, count })
    }

    /// The name of output register `number`, if it has one.
    pub fn output(&self, number: u8) -> Option<&str> {
        self.outputs.get(&number).map(String::as_str)
    }

    /// The name of the word at `address`, if it has one.
    pub fn label(&self, address: u32) -> Option<&str> {
        self.labels.get(&address).map(String::as_str)
    }

    /// Names the word at `address`, unless it has a name or another word has this one.
    pub fn add_label(&mut self, address: u32, name: &str) {
        if !self.labels.contains_key(&address) && self.used_labels.insert(name.to_owned()) {
            self.labels.insert(address, name.to_owned());
        }
    }

    /// Replaces the labels by those of `other`.
    pub(crate) fn share_labels(&mut self, other: &Names) {
        self.labels.clone_from(&other.labels);
        self.used_labels.clone_from(&other.used_labels);
    }

    /// The alias that entry `index` of the uniform table defines, if it defines one.
    pub(crate) fn declared(&self, index: usize) -> Option<&str> {
        self.declared.get(&index).and_then(|&ident| self.idents.get(ident)).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::{Label, Output, Uniform};
    use crate::desc::Mask;

    #[test]
    fn names_that_assembly_cannot_say_are_left_out() {
        let uniform = |name: &str, first, count| Uniform {
            name: name.to_owned(),
            file: RegisterFile::Float,
            first,
            count,
        };
        let label = |name: &str, address| Label { id: 0, address, size: 0, name: name.to_owned() };
        let output = |semantic, register| Output { semantic, register, mask: Mask::ALL };
        let names = Names::from_dvle(&Dvle {
            uniforms: vec![
                uniform("mvp", 0, 4),
                uniform("mvp", 4, 4),
                uniform("light.color", 8, 1),
                uniform("_hidden", 9, 1),
                uniform("c7", 10, 1),
                uniform("two words", 11, 1),
                uniform("overlap", 3, 3),
            ],
            outputs: vec![
                output(Semantic::Position, 0),
                output(Semantic::TexCoord0, 1),
                output(Semantic::TexCoord0W, 1),
                output(Semantic::Position, 2),
            ],
            labels: vec![label("start", 0), label("start", 1), label("9", 2), label("other", 0)],
            ..Dvle::default()
        });
        let float = |n| names.register(RegisterFile::Float, n).map(|named| (named.name, named.offset));
        assert_eq!(float(3), Some(("mvp", 3)));
        assert_eq!(float(4), Some(("overlap", 1)));
        assert_eq!(float(6), None);
        assert_eq!(float(8), Some(("light$color", 0)));
        assert_eq!([float(9), float(10), float(11)], [None; 3]);
        assert_eq!(names.output(0), Some("out_position"));
        assert_eq!(names.output(1), Some("out_texcoord0"));
        assert_eq!(names.output(2), Some("out_position_2"));
        assert_eq!([names.label(0), names.label(1), names.label(2)], [Some("start"), None, None]);
    }
}
