//! Which results anything needs: liveness of registers by component, over the nodes of the flow.
//!
//! Programs of the chip write registers that nobody reads, and whole registers for one component: what is not lifted need
//! not be removed later.

use super::flow::{Exit, Flow, Path, Target};
use super::regs::File;
use crate::desc::{Component, Descriptor, Mask, Modifier};
use crate::flow::Test;
use crate::inst::{ConditionMode, Dst, Index, Inst, Opcode, Operands, Src, SrcReg};
use crate::program::Program;

/// Components of a register: bit n for the one with number n.
pub(super) type Lanes = u8;

/// All four.
pub(super) const ALL_LANES: Lanes = 0xf;

const X: Lanes = 1;
const Y: Lanes = 2;
const Z: Lanes = 4;
const W: Lanes = 8;

/// The components of a write mask.
pub(super) fn lanes(mask: Mask) -> Lanes {
    mask.components().fold(0, |bits, c| bits | 1 << c.index())
}

/// A set of register components and flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Live {
    /// Four bits a register.
    temps: u64,
    outputs: u64,
    pub flag_x: bool,
    pub flag_y: bool,
    pub a0x: bool,
    pub a0y: bool,
}

impl Live {
    /// Nothing.
    pub const NONE: Live =
        Live { temps: 0, outputs: 0, flag_x: false, flag_y: false, a0x: false, a0y: false };
    /// Everything.
    pub const ALL: Live =
        Live { temps: u64::MAX, outputs: u64::MAX, flag_x: true, flag_y: true, a0x: true, a0y: true };

    /// The output registers of a set.
    pub fn outputs(set: u16) -> Live {
        let mut live = Live::NONE;
        for n in (0..16).filter(|n| set >> n & 1 != 0) {
            live.add(Dst::Output(n), ALL_LANES);
        }
        live
    }

    fn or(self, other: Live) -> Live {
        Live {
            temps: self.temps | other.temps,
            outputs: self.outputs | other.outputs,
            flag_x: self.flag_x | other.flag_x,
            flag_y: self.flag_y | other.flag_y,
            a0x: self.a0x | other.a0x,
            a0y: self.a0y | other.a0y,
        }
    }

    /// The components of register `n` of a file that are in it; the bank that is not current always is.
    pub fn vector(&self, file: File, n: u8) -> Lanes {
        match file {
            File::Temp => self.lanes(Dst::Temp(n)),
            File::Output => self.lanes(Dst::Output(n)),
            File::OtherBank => ALL_LANES,
        }
    }

    /// The components of a register that are in it.
    pub fn lanes(&self, dst: Dst) -> Lanes {
        let (file, n) = match dst {
            Dst::Temp(n) => (self.temps, n),
            Dst::Output(n) => (self.outputs, n),
        };
        (file >> (4 * (n & 15))) as u8 & ALL_LANES
    }

    fn file(&mut self, dst: Dst) -> (&mut u64, u8) {
        match dst {
            Dst::Temp(n) => (&mut self.temps, 4 * (n & 15)),
            Dst::Output(n) => (&mut self.outputs, 4 * (n & 15)),
        }
    }

    /// Adds components of a register.
    pub fn add(&mut self, dst: Dst, lanes: Lanes) {
        let (file, at) = self.file(dst);
        *file |= u64::from(lanes) << at;
    }

    fn remove(&mut self, dst: Dst, lanes: Lanes) {
        let (file, at) = self.file(dst);
        *file &= !(u64::from(lanes) << at);
    }

    /// Adds what `lanes` of a source after selection come from.
    fn read(&mut self, src: Src, m: Modifier, lanes: Lanes) {
        if lanes == 0 {
            return;
        }
        match src.index {
            Index::A0x => self.a0x = true,
            Index::A0y => self.a0y = true,
            Index::None | Index::Al => {}
        }
        if let SrcReg::Temp(n) = src.reg {
            let read = Component::ALL.into_iter().filter(|c| lanes >> c.index() & 1 != 0);
            self.add(Dst::Temp(n), read.fold(0, |bits, c| bits | 1 << m.swizzle.lane(c).index()));
        }
    }

    /// Adds what a test reads.
    fn test(&mut self, test: Test) {
        if let Test::Flags(cond) = test {
            self.flag_x |= cond.mode != ConditionMode::Y;
            self.flag_y |= cond.mode != ConditionMode::X;
        }
    }
}

/// What is live before an instruction if `after` is after it.
fn before(inst: &Inst, d: Descriptor, after: Live) -> Live {
    let mut live = after;
    let written = |dst| lanes(d.mask()) & after.lanes(dst);
    match inst.operands {
        Operands::Unary { dst, src, .. } => {
            let mask = written(dst);
            live.remove(dst, mask);
            let read = match inst.op {
                Opcode::Lit => {
                    let (flag_x, flag_y) = (after.flag_x, after.flag_y);
                    (live.flag_x, live.flag_y) = (false, false);
                    let by_flags = if flag_x { X } else { 0 } | if flag_y { W } else { 0 };
                    mask & (X | Y | W) | by_flags
                }
                Opcode::Rcp | Opcode::Rsq | Opcode::Ex2 | Opcode::Lg2 if mask != 0 => X,
                _ => mask,
            };
            live.read(src, d.source(0), read);
        }
        Operands::Binary { dst, src, .. } => {
            let mask = written(dst);
            live.remove(dst, mask);
            let [a, b] = match inst.op {
                _ if mask == 0 => [0; 2],
                Opcode::Dp3 => [X | Y | Z; 2],
                Opcode::Dp4 => [ALL_LANES; 2],
                Opcode::Dph | Opcode::Dphi => [X | Y | Z, ALL_LANES],
                Opcode::Dst | Opcode::Dsti => [mask & (Y | Z), mask & (Y | W)],
                _ => [mask; 2],
            };
            live.read(src[0], d.source(0), a);
            live.read(src[1], d.source(1), b);
        }
        Operands::Mad { dst, src, .. } => {
            let mask = written(dst);
            live.remove(dst, mask);
            for (i, src) in src.into_iter().enumerate() {
                live.read(src, d.source(i), mask);
            }
        }
        Operands::MoveAddress { src, .. } => {
            let mask = lanes(d.mask());
            let read = mask & (if after.a0x { X } else { 0 } | if after.a0y { Y } else { 0 });
            live.a0x &= mask & X == 0;
            live.a0y &= mask & Y == 0;
            live.read(src, d.source(0), read);
        }
        Operands::Compare { src, .. } => {
            let read = if after.flag_x { X } else { 0 } | if after.flag_y { Y } else { 0 };
            (live.flag_x, live.flag_y) = (false, false);
            for (i, src) in src.into_iter().enumerate() {
                live.read(src, d.source(i), read);
            }
        }
        _ => {}
    }
    live
}

/// Sweeps over the nodes before everything is taken for live. Loops need one for each depth of nesting.
const SWEEPS: usize = 16;

/// What is live after each node, if `at_end` is at the end of the program, and `always` always. Empty if that takes too
/// long to find.
pub(super) fn after_nodes(program: &Program, flow: &Flow, at_end: Live, always: Live) -> Vec<Live> {
    let mut before_nodes = vec![Live::NONE; flow.nodes.len()];
    let mut after_nodes = before_nodes.clone();
    for _ in 0..SWEEPS {
        let mut changed = false;
        for (id, node) in flow.nodes.iter().enumerate().rev() {
            let at = |target| match target {
                Target::Node(id) => before_nodes.get(id as usize).copied().unwrap_or(Live::ALL),
                Target::End => at_end,
            };
            let along = |path: Path| {
                let again = path.leave.and_then(|end| end.again);
                again.map_or(at(path.target), |again| at(again).or(at(path.target)))
            };
            let mut after = always.or(match node.exit {
                Exit::Always(path) => along(path),
                Exit::If(_, yes, no) => along(yes).or(along(no)),
            });
            if let Exit::If(test, ..) = node.exit {
                after.test(test);
            }
            if after_nodes[id] != after {
                changed = true;
                after_nodes[id] = after;
                let d = program.descriptor(node.inst.desc().unwrap_or(0));
                before_nodes[id] = before(&node.inst, d, after);
            }
        }
        if !changed {
            return after_nodes;
        }
    }
    Vec::new()
}
