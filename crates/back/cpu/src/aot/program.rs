//! A whole program as C: every function that is found, and what between them looks like code.

use super::c::{self, Names};
use super::image::Image;
use std::collections::{BTreeMap, BTreeSet};
use xenoglot_mips::lift;

/// Most instructions of a function.
const MOST_INSTS: u32 = 8192;

/// A program in C.
pub(super) struct Program {
    /// The functions by the address at which they begin.
    pub(super) functions: BTreeMap<u32, String>,
    /// At which addresses code can be entered, and in which function that is.
    pub(super) entries: BTreeMap<u32, u32>,
    /// Instructions that are part of a function.
    pub(super) instructions: usize,
    /// Functions that are left to other engines.
    pub(super) refused: usize,
}

/// The code of a program for one function.
struct Code<'a> {
    image: &'a Image<'a>,
    functions: &'a BTreeSet<u32>,
    entries: &'a BTreeSet<u32>,
}

impl lift::Code for Code<'_> {
    fn instruction(&self, pc: u32) -> Option<u32> {
        self.image.word(pc).filter(|_| self.image.is_code(pc))
    }

    fn data(&self, address: u32) -> Option<u32> {
        self.image.word(address)
    }

    fn has_region(&self, pc: u32) -> bool {
        self.functions.contains(&pc)
    }

    fn is_entry(&self, pc: u32) -> bool {
        self.entries.contains(&pc)
    }

    fn enters_loops(&self) -> bool {
        true
    }
}

impl Program {
    pub(super) fn new(image: &Image<'_>) -> Program {
        let (mut functions, entries) = image.beginnings();
        let mut program =
            Program { functions: BTreeMap::new(), entries: BTreeMap::new(), instructions: 0, refused: 0 };
        let mut covered = BTreeSet::new();
        for pc in functions.clone() {
            program.add(image, pc, &functions, &entries, &mut covered);
        }
        // What nothing leads to that was found: functions that only data has in a form that is not an address.
        for range in &image.code {
            for pc in range.clone().step_by(4) {
                let is_code =
                    || image.word(pc).is_some_and(|word| word != 0 && xenoglot_mips::decode(word).is_ok());
                if !covered.contains(&pc) && is_code() {
                    functions.insert(pc);
                    program.add(image, pc, &functions, &entries, &mut covered);
                }
            }
        }
        program.instructions = covered.len();
        program
    }

    /// Adds the function at an address.
    fn add(
        &mut self,
        image: &Image<'_>,
        pc: u32,
        functions: &BTreeSet<u32>,
        entries: &BTreeSet<u32>,
        covered: &mut BTreeSet<u32>,
    ) {
        let options = lift::Options { endian: image.endian, max_insts: MOST_INSTS, gp: image.gp };
        let region = lift::lift(&Code { image, functions, entries }, pc, &options);
        covered.insert(pc);
        covered.extend(&region.words);
        let owner = |pc| functions.get(&pc).copied();
        let text = match region.module.entry_func() {
            Some(f) if region.entries.first() == Some(&pc) => {
                c::function(f, pc, &Names { owner: &owner }).ok()
            }
            _ => None,
        };
        let Some(text) = text else {
            // Whoever calls it comes back at once, and another engine finds its code.
            self.refused += 1;
            let text =
                format!("XGA_CODE u64 {}(State *s, u32 entered) {{\nreturn entered;\n}}\n", c::name(pc));
            self.functions.insert(pc, text);
            return;
        };
        self.functions.insert(pc, text);
        for entry in region.entries {
            // A function's own beginning is more than a place in another one.
            if entry == pc || !functions.contains(&entry) {
                self.entries.entry(entry).or_insert(pc);
            }
        }
    }
}
