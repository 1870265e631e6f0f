//! Discovery: which instructions a region has, and where its blocks begin.

use super::{Code, Options, Reason, table};
use crate::decode::decode;
use crate::inst::{Fmt, Inst};
use crate::isa::Op;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How control leaves an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// To the next.
    Next,
    /// To the target or behind the slot.
    Branch { target: u32, likely: bool, link: bool },
    /// To the target.
    Jump { target: u32, link: bool },
    /// To what a register holds.
    Register { link: bool },
    /// It is left to an interpreter, and so is a branch with such an instruction in its slot.
    Leave(Reason),
}

/// An instruction of a region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Without meaning where the word is no instruction.
    pub inst: Inst,
    pub control: Control,
    /// The instruction in the delay slot.
    pub slot: Option<Inst>,
}

/// The instructions of a region.
#[derive(Debug)]
pub(super) struct Flow {
    /// By address; those in delay slots are with their branch.
    pub insts: BTreeMap<u32, Found>,
    /// Where blocks begin.
    pub leaders: BTreeSet<u32>,
    /// Where the region can be entered, the first one first.
    pub entries: Vec<u32>,
    /// Every address with a word that matters.
    pub words: BTreeSet<u32>,
    /// Where jumps to registers may lead, by their address.
    pub tables: BTreeMap<u32, Vec<u32>>,
    /// Even-odd pairs of floating-point registers that hold doubles somewhere in the region: a bit each.
    pub doubles: u16,
}

impl Flow {
    pub(super) fn find(code: &impl Code, start: u32, options: &Options) -> Flow {
        let mut flow = Flow {
            insts: BTreeMap::new(),
            leaders: BTreeSet::new(),
            entries: vec![start],
            words: BTreeSet::new(),
            tables: BTreeMap::new(),
            doubles: 0,
        };
        let mut work = VecDeque::from([start]);
        while let Some(leader) = work.pop_front() {
            if leader != start && code.has_region(leader) {
                continue;
            }
            flow.leaders.insert(leader);
            let mut pc = leader;
            loop {
                if flow.insts.contains_key(&pc) {
                    // What runs into a block from above ends it there, too.
                    flow.leaders.insert(pc);
                    break;
                }
                if flow.insts.len() as u32 >= options.max_insts {
                    break;
                }
                let Some(found) = flow.look(code, pc) else { break };
                flow.insts.insert(pc, found);
                if code.is_entry(pc) {
                    flow.enter(pc);
                    flow.leaders.insert(pc);
                }
                let behind = pc.wrapping_add(if found.slot.is_some() { 8 } else { 4 });
                match found.control {
                    Control::Next => {
                        pc = behind;
                        continue;
                    }
                    Control::Branch { target, link, .. } => {
                        if link {
                            flow.enter(behind);
                        }
                        work.extend([behind, target]);
                    }
                    Control::Jump { target, link: false } => work.push_back(target),
                    Control::Jump { link: true, .. } | Control::Register { link: true } => {
                        flow.enter(behind);
                        work.push_back(behind);
                    }
                    Control::Register { link: false } => {
                        // A return leads anywhere.
                        if found.inst.rs() != 31 {
                            let targets = table::targets(code, pc, found.inst.rs(), options.gp);
                            work.extend(&targets);
                            flow.tables.insert(pc, targets);
                        }
                    }
                    Control::Leave(Reason::Interpret | Reason::Syscall) => {
                        for next in after(found.inst, pc) {
                            flow.enter(next);
                            work.push_back(next);
                        }
                    }
                    Control::Leave(_) => {}
                }
                break;
            }
        }
        if code.enters_loops() {
            flow.enter_loops();
        }
        flow.leaders.retain(|pc| flow.insts.contains_key(pc));
        // Where another region begins, this one has no block of its own: code that falls through to there only runs on.
        flow.entries.retain(|pc| flow.leaders.contains(pc));
        flow
    }

    /// Makes entries of the addresses that edges lead back to.
    fn enter_loops(&mut self) {
        let mut back = BTreeSet::new();
        for (&pc, found) in &self.insts {
            match found.control {
                Control::Branch { target, .. } | Control::Jump { target, link: false } if target <= pc => {
                    back.insert(target);
                }
                _ => {}
            }
        }
        for (&pc, targets) in &self.tables {
            back.extend(targets.iter().filter(|&&target| target <= pc));
        }
        let known: BTreeSet<u32> = self.entries.iter().copied().collect();
        self.entries.extend(back.difference(&known));
    }

    fn enter(&mut self, pc: u32) {
        if !self.entries.contains(&pc) {
            self.entries.push(pc);
        }
    }

    /// The instruction at `pc`; `None` where there is no word.
    fn look(&mut self, code: &impl Code, pc: u32) -> Option<Found> {
        let bits = code.instruction(pc)?;
        self.words.insert(pc);
        let Ok(inst) = decode(bits) else {
            let inst = Inst { op: Op::Break, word: bits };
            return Some(Found { inst, control: Control::Leave(Reason::Reserved), slot: None });
        };
        let control = control(inst, pc);
        if !inst.op.has_slot() {
            self.note(inst);
            return Some(Found { inst, control, slot: None });
        }
        let slot = code.instruction(pc.wrapping_add(4));
        self.words.extend(slot.map(|_| pc.wrapping_add(4)));
        let slot = slot.and_then(|bits| decode(bits).ok());
        let slot = slot.filter(|slot| !slot.op.has_slot() && control_of_plain(*slot) == Control::Next);
        // A branch that reads what it links cannot be executed again after a fault in its slot.
        let again = match inst.op {
            Op::Jalr | Op::JalrHb => inst.rs() != inst.rd(),
            Op::Bltzal | Op::Bgezal | Op::Bltzall | Op::Bgezall => inst.rs() != 31,
            _ => true,
        };
        Some(match slot.filter(|_| again) {
            Some(slot) => {
                self.note(slot);
                Found { inst, control, slot: Some(slot) }
            }
            None => Found { inst, control: Control::Leave(Reason::Interpret), slot: None },
        })
    }

    /// Notes which registers hold doubles.
    fn note(&mut self, inst: Inst) {
        let mut pair = |register: u8| self.doubles |= 1 << (register >> 1);
        let double = inst.fmt() == Some(Fmt::D);
        match inst.op {
            Op::Ldc1 | Op::Sdc1 => pair(inst.ft()),
            Op::Ldxc1 => pair(inst.fd()),
            Op::Sdxc1 => pair(inst.fs()),
            Op::CvtD => {
                pair(inst.fd());
                if double {
                    pair(inst.fs());
                }
            }
            Op::CvtS | Op::CvtW | Op::RoundW | Op::TruncW | Op::CeilW | Op::FloorW if double => {
                pair(inst.fs());
            }
            Op::CompareF if double => [inst.fs(), inst.ft()].into_iter().for_each(pair),
            Op::AddF | Op::SubF | Op::MulF | Op::DivF if double => {
                [inst.fs(), inst.ft(), inst.fd()].into_iter().for_each(pair);
            }
            Op::MaddF | Op::MsubF | Op::NmaddF | Op::NmsubF if double => {
                [inst.fs(), inst.ft(), inst.fr(), inst.fd()].into_iter().for_each(pair);
            }
            Op::SqrtF | Op::AbsF | Op::NegF | Op::MovF | Op::MovfF | Op::MovtF | Op::MovzF | Op::MovnF
                if double =>
            {
                [inst.fs(), inst.fd()].into_iter().for_each(pair);
            }
            _ => {}
        }
    }
}

/// Where an instruction that is left to an interpreter goes on, as far as that is known.
fn after(inst: Inst, pc: u32) -> Vec<u32> {
    if !inst.op.has_slot() {
        return vec![pc.wrapping_add(4)];
    }
    let behind = pc.wrapping_add(8);
    match control(inst, pc) {
        Control::Branch { target, .. } => vec![behind, target],
        Control::Jump { target, link: false } => vec![target],
        Control::Jump { link: true, .. } | Control::Register { link: true } => vec![behind],
        _ => Vec::new(),
    }
}

fn control(inst: Inst, pc: u32) -> Control {
    let branch = |likely, link| Control::Branch { target: inst.branch_target(pc), likely, link };
    match inst.op {
        Op::Jr | Op::JrHb => Control::Register { link: false },
        Op::Jalr | Op::JalrHb => Control::Register { link: true },
        Op::J => Control::Jump { target: inst.jump_target(pc), link: false },
        Op::Jal => Control::Jump { target: inst.jump_target(pc), link: true },
        // Static branches.
        Op::Beq if inst.rs() == inst.rt() => Control::Jump { target: inst.branch_target(pc), link: false },
        Op::Bgez | Op::Blez if inst.rs() == 0 => {
            Control::Jump { target: inst.branch_target(pc), link: false }
        }
        Op::Bgezal if inst.rs() == 0 => {
            let target = inst.branch_target(pc);
            // To the instruction behind it: how position-independent code finds out where it is.
            if target == pc.wrapping_add(8) {
                return Control::Branch { target, likely: false, link: true };
            }
            Control::Jump { target, link: true }
        }
        Op::Beq | Op::Bne | Op::Blez | Op::Bgtz | Op::Bltz | Op::Bgez | Op::Bc1f | Op::Bc1t => {
            branch(false, false)
        }
        Op::Beql | Op::Bnel | Op::Blezl | Op::Bgtzl | Op::Bltzl | Op::Bgezl | Op::Bc1fl | Op::Bc1tl => {
            branch(true, false)
        }
        Op::Bltzal | Op::Bgezal => branch(false, true),
        Op::Bltzall | Op::Bgezall => branch(true, true),
        _ => control_of_plain(inst),
    }
}

/// Whether an instruction without a slot is lifted.
fn control_of_plain(inst: Inst) -> Control {
    let odd = |registers: &[u8]| registers.iter().any(|register| register & 1 != 0);
    let fmt = inst.fmt();
    let lifted = match inst.op {
        Op::Syscall => return Control::Leave(Reason::Syscall),
        Op::Break => return Control::Leave(Reason::Break),
        // FCSR is not what memory has while floats are computed.
        Op::Cfc1 | Op::Ctc1 => false,
        // The count of instructions is exact between them only.
        Op::Rdhwr => matches!(inst.rd(), 0 | 1 | 3 | 29),
        Op::Ext => inst.shift() + inst.msb() <= 31,
        Op::Ins => inst.msb() >= inst.shift(),
        Op::Ldc1 | Op::Sdc1 => !odd(&[inst.ft()]),
        Op::Ldxc1 => !odd(&[inst.fd()]),
        Op::Sdxc1 => !odd(&[inst.fs()]),
        // The program may have written the code that follows: it is looked up anew, with all registers in their homes.
        Op::Synci => false,
        // These need 64-bit registers.
        Op::Luxc1 | Op::Suxc1 | Op::AlnvPs => false,
        Op::AddF | Op::SubF | Op::MulF | Op::DivF => match fmt {
            Some(Fmt::S) => true,
            Some(Fmt::D) => !odd(&[inst.fs(), inst.ft(), inst.fd()]),
            _ => false,
        },
        Op::MaddF | Op::MsubF | Op::NmaddF | Op::NmsubF => match fmt {
            Some(Fmt::S) => true,
            Some(Fmt::D) => !odd(&[inst.fs(), inst.ft(), inst.fd(), inst.fr()]),
            _ => false,
        },
        Op::SqrtF | Op::AbsF | Op::NegF | Op::MovF | Op::MovfF | Op::MovtF | Op::MovzF | Op::MovnF => {
            match fmt {
                Some(Fmt::S) => true,
                Some(Fmt::D) => !odd(&[inst.fs(), inst.fd()]),
                _ => false,
            }
        }
        Op::CompareF => match fmt {
            Some(Fmt::S) => true,
            Some(Fmt::D) => !odd(&[inst.fs(), inst.ft()]),
            _ => false,
        },
        Op::CvtS => match fmt {
            Some(Fmt::W) => true,
            Some(Fmt::D) => !odd(&[inst.fs()]),
            _ => false,
        },
        Op::CvtD => matches!(fmt, Some(Fmt::S | Fmt::W)) && !odd(&[inst.fd()]),
        Op::CvtW | Op::RoundW | Op::TruncW | Op::CeilW | Op::FloorW => match fmt {
            Some(Fmt::S) => true,
            Some(Fmt::D) => !odd(&[inst.fs()]),
            _ => false,
        },
        Op::RoundL
        | Op::TruncL
        | Op::CeilL
        | Op::FloorL
        | Op::CvtL
        | Op::CvtPs
        | Op::CvtSPu
        | Op::CvtSPl
        | Op::Pll
        | Op::Plu
        | Op::Pul
        | Op::Puu
        | Op::RecipF
        | Op::RsqrtF => false,
        _ => true,
    };
    if lifted { Control::Next } else { Control::Leave(Reason::Interpret) }
}
