//! Program words to the steps that the engine executes.
//!
//! A step names columns: a column has one component of a register, or of a uniform, for each vertex of a group. Swizzles are
//! resolved here and cost nothing when steps are executed.

use xenoglot_pica_shader::Program;
use xenoglot_pica_shader::desc::{Descriptor, Modifier};
use xenoglot_pica_shader::flow::{Control, END_PC, Step as Way, control};
use xenoglot_pica_shader::inst::{Dst, Index, Inst, Opcode, Operands, Relation, Src, SrcReg};

/// A column's number, below [`COLUMNS`].
pub(super) type Column = u16;

/// Columns there are: a power of two, so that a number is brought into range by a mask.
pub(super) const COLUMNS: usize = 1024;
/// v0 to v15; each register has four columns.
pub(super) const INPUTS: Column = 0;
/// o0 to o15.
pub(super) const OUTPUTS: Column = 64;
/// r0 to r15.
pub(super) const TEMPS: Column = 128;
/// The bank of outputs that is not current.
pub(super) const OTHER_BANK: Column = 192;
/// c0 to c95.
pub(super) const CONSTANTS: Column = 256;
/// The register that a gather fetches into.
const GATHERED: Column = 640;
/// A temporary result, for instructions that would overwrite components they still read.
const RESULT: Column = 644;
/// 1, and behind it -1, which negation makes 1: w of the first source of DPH.
pub(super) const ONES: Column = 648;

/// What a step does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Op {
    /// Nothing but flow.
    Nop,
    /// Fetches the uniform that an index register and a number say into the destination.
    Gather(Index, u8),
    Add,
    Mul,
    Mad,
    Dp3,
    Dp4,
    Max,
    Min,
    Sge,
    Slt,
    Mov,
    Flr,
    Rcp,
    Rsq,
    Ex2,
    Lg2,
    Dst,
    Lit,
    Mova,
    Cmp(Relation, Relation),
    Emit,
    SetEmit(u8, bool, bool),
}

/// A source: the columns of x, y, z, w after selection, and the bit to flip in each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Source {
    pub columns: [Column; 4],
    pub sign: u32,
}

/// One step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub op: Op,
    /// Components written, bit 0 for x.
    pub mask: u8,
    /// Whether control flow is evaluated after it: it is the last step of its word, and the word is a flow instruction, or a
    /// scope may end after it, or the next word is a target of jumps.
    pub boundary: bool,
    /// The word's address.
    pub pc: u16,
    /// The first of the four columns of the destination.
    pub dst: Column,
    pub src: [Source; 3],
}

/// No step.
const NONE: u16 = u16::MAX;

/// What there is at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// The word that starts with this step.
    Step(usize),
    /// The end of the program.
    End,
    /// A word that is no instruction.
    Nothing,
    /// A word that was left out.
    Beyond,
}

/// A program.
#[derive(Debug)]
pub(super) struct Code {
    pub steps: Vec<Step>,
    /// The first step of each word that control can reach.
    at: Vec<u16>,
    /// The flow of each word, for boundaries.
    controls: Vec<Control>,
    /// The number of its word in `controls` for each step.
    words: Vec<u16>,
    /// Uniforms that are named without an index.
    pub constants: Vec<u8>,
    /// Registers written or read: bit n for r `n`.
    pub temps: u16,
    /// The same for o `n`.
    pub outputs: u16,
    /// Whether uniforms are indexed.
    pub gathers: bool,
    /// The address from which on words are left out.
    bound: u32,
}

/// A set of addresses, up to 4096 + 255.
struct Addresses([u64; 68]);

impl Addresses {
    fn insert(&mut self, address: u32) -> bool {
        let Some(word) = self.0.get_mut(address as usize / 64) else { return false };
        let (bit, before) = (1 << (address % 64), *word);
        *word |= bit;
        *word != before
    }

    fn contains(&self, address: u32) -> bool {
        self.0.get(address as usize / 64).is_some_and(|word| word >> (address % 64) & 1 != 0)
    }
}

/// The words below `bound` that control can reach from an entry, whatever its path, in the order of their addresses.
fn reach(program: &Program, entry: u32, bound: u32, joints: &mut Addresses) -> Vec<(u32, Option<Inst>)> {
    let mut seen = Addresses([0; 68]);
    let mut found = Vec::with_capacity(program.code.len().min(256));
    let mut pending = vec![entry];
    while let Some(mut pc) = pending.pop() {
        while pc < bound && seen.insert(pc) {
            let inst = program.inst(pc).ok();
            found.push((pc, inst));
            let Some(inst) = inst else { break };
            let (first, second) = match control(&inst) {
                Control::Always(way) => (way, None),
                Control::If(_, yes, no) => (yes, Some(no)),
            };
            for way in [Some(first), second].into_iter().flatten() {
                let [a, b] = match way {
                    Way::Next | Way::Break | Way::End => continue,
                    Way::To(to) => [to, to],
                    Way::PushIf { otherwise, end } => [otherwise, end],
                    Way::PushCall { to, end } => {
                        joints.insert(end);
                        [to, pc + 1]
                    }
                    Way::PushLoop { end, .. } => [end, pc + 1],
                };
                for to in [a, b] {
                    joints.insert(to);
                    pending.push(to);
                }
            }
            if first == Way::End {
                break;
            }
            pc += 1;
        }
    }
    found.sort_unstable_by_key(|&(pc, _)| pc);
    found
}

impl Code {
    /// Makes the steps of the words that control can reach from `entry`, as far as the program is said to go. Behind it are
    /// thousands of zero words, which are instructions, too, and which a call's last word seems to lead to.
    pub fn new(program: &Program, entry: u32) -> Code {
        Code::below(program, entry, (program.code.len() as u32).max(entry + 1).min(END_PC))
    }

    /// The same with all words there are.
    pub fn whole(program: &Program, entry: u32) -> Code {
        Code::below(program, entry, END_PC)
    }

    fn below(program: &Program, entry: u32, bound: u32) -> Code {
        let mut joints = Addresses([0; 68]);
        let words = reach(program, entry, bound, &mut joints);
        let mut code = Code {
            steps: Vec::with_capacity(words.len() + words.len() / 4),
            at: vec![NONE; words.last().map_or(0, |&(pc, _)| pc as usize + 1)],
            controls: Vec::with_capacity(words.len()),
            words: Vec::with_capacity(words.len() + words.len() / 4),
            constants: Vec::new(),
            temps: 0,
            outputs: 0,
            gathers: false,
            bound,
        };
        let mut named = 0u128;
        for (pc, inst) in words {
            let Some(inst) = inst else { continue };
            if let Some(at) = code.at.get_mut(pc as usize) {
                *at = code.steps.len() as u16; // at most three steps for each of 4095 words
            }
            named |= code.word(program, pc as u16, &inst);
            let flow = control(&inst);
            let after = pc + 1;
            // The step after it is not the next word's where that is no instruction: then the boundary finds nothing.
            let apart = program.inst(after).is_err();
            if let Some(last) = code.steps.last_mut() {
                last.boundary =
                    flow != Control::Always(Way::Next) || joints.contains(after) || after >= bound || apart;
            }
            code.words.resize(code.steps.len(), code.controls.len() as u16);
            code.controls.push(flow);
        }
        code.constants.extend((0..96u8).filter(|n| named >> n & 1 != 0));
        code
    }

    /// What there is at an address.
    pub fn place(&self, pc: u32) -> Place {
        if pc >= END_PC {
            return Place::End;
        }
        match self.at.get(pc as usize) {
            Some(&step) if step != NONE => Place::Step(step.into()),
            _ if pc >= self.bound => Place::Beyond,
            _ => Place::Nothing,
        }
    }

    /// The flow of the word that a step belongs to.
    pub fn control(&self, step: usize) -> Control {
        let word = self.words.get(step).copied().unwrap_or(0);
        self.controls.get(usize::from(word)).copied().unwrap_or(Control::Always(Way::End))
    }

    /// Adds the steps of an instruction; gives the uniforms it names.
    fn word(&mut self, program: &Program, pc: u16, inst: &Inst) -> u128 {
        let d = program.descriptor(inst.desc().unwrap_or(0));
        let mut named = 0;
        let mut src = [Source::default(); 3];
        for (n, (place, &from)) in src.iter_mut().zip(inst.srcs()).enumerate() {
            *place = self.source(pc, from, d.source(n), &mut named);
        }
        let mut step = Step { op: op(inst), mask: mask(d), boundary: false, pc, dst: RESULT, src };
        if matches!(inst.op, Opcode::Dph | Opcode::Dphi) {
            step.src[0].columns[3] = ONES;
            if step.src[0].sign != 0 {
                step.src[0].columns[3] = ONES + 1;
            }
        }
        let Some(dst) = inst.dst() else {
            self.steps.push(step);
            return named;
        };
        step.dst = match dst {
            Dst::Output(n) => {
                self.outputs |= 1 << (n & 15);
                OUTPUTS + 4 * u16::from(n & 15)
            }
            Dst::Temp(n) => {
                self.temps |= 1 << (n & 15);
                TEMPS + 4 * u16::from(n & 15)
            }
        };
        if by_component(step.op) && overwrites(&step) {
            let last = Source { columns: [0, 1, 2, 3].map(|c| RESULT + c), sign: 0 };
            let mov = Step { op: Op::Mov, src: [last, Source::default(), Source::default()], ..step };
            step.dst = RESULT;
            self.steps.push(step);
            step = mov;
        }
        self.steps.push(step);
        named
    }

    fn source(&mut self, pc: u16, src: Src, m: Modifier, named: &mut u128) -> Source {
        let first = match (src.reg, src.index) {
            (SrcReg::Input(n), _) => INPUTS + 4 * u16::from(n & 15),
            (SrcReg::Temp(n), _) => {
                self.temps |= 1 << (n & 15);
                TEMPS + 4 * u16::from(n & 15)
            }
            (SrcReg::Const(n), Index::None) => {
                *named |= 1 << (n & 0x7f);
                CONSTANTS + 4 * u16::from(n.min(95))
            }
            (SrcReg::Const(n), index) => {
                self.gathers = true;
                let mask = m.swizzle.lanes().iter().fold(0, |mask, c| mask | 1 << c.index());
                let op = Op::Gather(index, n);
                self.steps.push(Step {
                    op,
                    mask,
                    boundary: false,
                    pc,
                    dst: GATHERED,
                    src: Default::default(),
                });
                GATHERED
            }
        };
        let columns = m.swizzle.lanes().map(|c| first + c.index() as u16);
        Source { columns, sign: u32::from(m.negate) << 31 }
    }
}

fn mask(d: Descriptor) -> u8 {
    d.mask().components().fold(0, |bits, c| bits | 1 << c.index())
}

/// Whether the results of the components are written one after the other.
fn by_component(op: Op) -> bool {
    matches!(op, Op::Add | Op::Mul | Op::Mad | Op::Max | Op::Min | Op::Sge | Op::Slt | Op::Mov | Op::Flr)
}

/// Whether a component is read after one that lies in its place was written.
fn overwrites(step: &Step) -> bool {
    let written = |c: usize| step.mask >> c & 1 != 0;
    (1..4usize).filter(|&c| written(c)).any(|c| {
        let earlier = |column: Column| {
            column >= step.dst && column < step.dst + c as u16 && written(usize::from(column - step.dst))
        };
        step.src.iter().any(|s| s.columns.get(c).is_some_and(|&column| earlier(column)))
    })
}

fn op(inst: &Inst) -> Op {
    match (inst.op, inst.operands) {
        (Opcode::Add, _) => Op::Add,
        (Opcode::Dp3, _) => Op::Dp3,
        (Opcode::Dp4 | Opcode::Dph | Opcode::Dphi, _) => Op::Dp4,
        (Opcode::Dst | Opcode::Dsti, _) => Op::Dst,
        (Opcode::Ex2, _) => Op::Ex2,
        (Opcode::Lg2, _) => Op::Lg2,
        (Opcode::Lit, _) => Op::Lit,
        (Opcode::Mul, _) => Op::Mul,
        (Opcode::Sge | Opcode::Sgei, _) => Op::Sge,
        (Opcode::Slt | Opcode::Slti, _) => Op::Slt,
        (Opcode::Flr, _) => Op::Flr,
        (Opcode::Max, _) => Op::Max,
        (Opcode::Min, _) => Op::Min,
        (Opcode::Rcp, _) => Op::Rcp,
        (Opcode::Rsq, _) => Op::Rsq,
        (Opcode::Mova, _) => Op::Mova,
        (Opcode::Mov, _) => Op::Mov,
        (Opcode::Emit, _) => Op::Emit,
        (_, Operands::SetEmit { vertex, primitive, winding }) => Op::SetEmit(vertex, primitive, winding),
        (_, Operands::Compare { x, y, .. }) => Op::Cmp(x, y),
        (Opcode::Mad | Opcode::Madi, _) => Op::Mad,
        _ => Op::Nop,
    }
}
