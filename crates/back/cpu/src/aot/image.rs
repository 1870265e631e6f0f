//! A program as it lies in memory before its first instruction: what is compiled ahead of time, and where its functions may begin.

use super::AotError;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use xenoglot_mips::container::elf::{Elf, Limits};
use xenoglot_mips::{Endian, Inst, Op, decode};

/// Most bytes of code of a program.
const MOST_CODE: u64 = 64 << 20;
/// Instructions between the halves of an address.
const NEAR: u32 = 16;

/// A program's segments, moved to where it is loaded.
pub(super) struct Image<'a> {
    pub(super) endian: Endian,
    pub(super) entry: u32,
    pub(super) gp: Option<u32>,
    segments: Vec<(u32, &'a [u8])>,
    /// Where code lies: sorted, apart from each other, and of whole words.
    pub(super) code: Vec<Range<u32>>,
    symbols: Vec<u32>,
}

impl<'a> Image<'a> {
    pub(super) fn new(elf: &Elf<'a>, bias: u32) -> Result<Image<'a>, AotError> {
        let limits = Limits::default();
        let mut code: Vec<Range<u32>> = Vec::new();
        for range in elf.code(&limits)? {
            let start = range.start.wrapping_add(bias).next_multiple_of(4);
            let end = range.end.wrapping_add(bias) & !3;
            let start = code.last().map_or(start, |last| start.max(last.end));
            if start < end {
                code.push(start..end);
            }
        }
        let bytes: u64 = code.iter().map(|range| u64::from(range.end - range.start)).sum();
        let span = code.first().zip(code.last()).map_or(0, |(first, last)| u64::from(last.end - first.start));
        if bytes == 0 {
            return Err(AotError::NoCode);
        }
        if bytes.max(span) > MOST_CODE {
            return Err(AotError::TooMuchCode { bytes: bytes.max(span), most: MOST_CODE });
        }
        let moved = |address: u32| address.wrapping_add(bias);
        Ok(Image {
            endian: elf.endian,
            entry: moved(elf.entry),
            gp: elf.gp()?.map(moved),
            segments: elf.segments.iter().map(|segment| (moved(segment.address), segment.bytes)).collect(),
            code,
            symbols: elf.functions(&limits)?.into_iter().map(|symbol| moved(symbol.address)).collect(),
        })
    }

    fn bytes(&self, address: u32) -> Option<[u8; 4]> {
        self.segments.iter().find_map(|&(start, bytes)| {
            let at = address.checked_sub(start)? as usize;
            bytes.get(at..)?.first_chunk().copied()
        })
    }

    pub(super) fn word(&self, address: u32) -> Option<u32> {
        self.bytes(address).map(|bytes| self.endian.word(bytes))
    }

    /// The bytes of a range of code.
    pub(super) fn code_bytes(&self, range: &Range<u32>) -> &[u8] {
        let inside = self.segments.iter().find_map(|&(start, bytes)| {
            let first = range.start.checked_sub(start)? as usize;
            bytes.get(first..first + (range.end - range.start) as usize)
        });
        inside.unwrap_or_default()
    }

    /// Whether there is an instruction at an address, as far as its place says.
    pub(super) fn is_code(&self, pc: u32) -> bool {
        let after = self.code.partition_point(|range| range.end <= pc);
        pc & 3 == 0 && self.code.get(after).is_some_and(|range| range.contains(&pc))
    }

    fn decoded(&self, pc: u32) -> Option<Inst> {
        self.word(pc).filter(|_| self.is_code(pc)).and_then(|word| decode(word).ok())
    }

    /// Where functions begin, as far as that is told, called, or looks so; and other addresses that code or data have, at which
    /// code may be entered.
    pub(super) fn beginnings(&self) -> (BTreeSet<u32>, BTreeSet<u32>) {
        let mut functions = BTreeSet::from([self.entry]);
        functions.extend(self.symbols.iter().copied());
        let mut pointers = BTreeSet::new();
        for range in &self.code {
            self.sweep(range, &mut functions, &mut pointers);
        }
        for &(start, bytes) in &self.segments {
            let first = start.next_multiple_of(4);
            let words = bytes.get((first - start) as usize..).unwrap_or_default().as_chunks().0;
            for (n, &word) in (0u32..).zip(words) {
                let address = first.wrapping_add(4 * n);
                let value = self.endian.word(word);
                if self.is_code(value) && !self.is_code(address) {
                    pointers.insert(value);
                }
            }
        }
        functions.retain(|&pc| self.is_code(pc));
        let (likely, rest): (BTreeSet<u32>, BTreeSet<u32>) =
            pointers.into_iter().partition(|&pc| self.looks_like_function(pc));
        functions.extend(likely);
        (functions, rest)
    }

    /// Looks through code in order for calls, and for addresses of code that it computes.
    fn sweep(&self, range: &Range<u32>, calls: &mut BTreeSet<u32>, pointers: &mut BTreeSet<u32>) {
        // The upper half that a register has, or the page from the global offset table, and since when.
        let mut known: BTreeMap<u8, (u32, u32)> = BTreeMap::new();
        for pc in range.clone().step_by(4) {
            let Some(inst) = self.decoded(pc) else { continue };
            let (rs, rt) = (inst.rs(), inst.rt());
            let near = |register: u8| {
                known
                    .get(&register)
                    .filter(|(_, since)| pc.wrapping_sub(*since) < 4 * NEAR)
                    .map(|known| known.0)
            };
            match inst.op {
                Op::Jal => drop(calls.insert(inst.jump_target(pc))),
                // To the next instruction: how code finds out where it is.
                Op::Bgezal if inst.branch_target(pc) != pc.wrapping_add(8) => {
                    calls.insert(inst.branch_target(pc));
                }
                Op::Lui => drop(known.insert(rt, (inst.uimm() << 16, pc))),
                Op::Addiu => {
                    let value = near(rs).map(|base| base.wrapping_add(inst.imm() as u32));
                    pointers.extend(value.filter(|&value| self.is_code(value)));
                }
                Op::Lw if rs == 28 => {
                    let place = self.gp.map(|gp| gp.wrapping_add(inst.imm() as u32));
                    match place.and_then(|place| self.word(place)) {
                        Some(page) => drop(known.insert(rt, (page, pc))),
                        None => drop(known.remove(&rt)),
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a function's first instructions are at an address: it makes room on the stack or finds its data, or comes behind
    /// another one's end.
    fn looks_like_function(&self, pc: u32) -> bool {
        let is_prologue = |n: u32| {
            let Some(inst) = self.decoded(pc.wrapping_add(4 * n)) else { return false };
            match inst.op {
                Op::Addiu => inst.rs() == 29 && inst.rt() == 29 && inst.imm() < 0,
                Op::Lui => n == 0 && inst.rt() == 28,
                _ => false,
            }
        };
        if (0..4).any(is_prologue) {
            return true;
        }
        let mut behind = pc.wrapping_sub(4);
        while self.word(behind) == Some(0) && pc.wrapping_sub(behind) < 64 {
            behind = behind.wrapping_sub(4);
        }
        // The last instruction is the delay slot of a return, and may be the nothing that was skipped.
        [behind, behind.wrapping_sub(4)].iter().any(|&at| {
            self.decoded(at).is_some_and(|inst| matches!(inst.op, Op::Jr | Op::JrHb) && inst.rs() == 31)
        })
    }
}
