//! Which lifting an operation has.

use super::Unsupported;
use super::cx::{Cx, Lift};
use super::memory::Place;
use crate::inst::{Inst, Role};
use crate::opcode::Opcode;
use xenoglot_ir::Op;

/// Whether an operation does more than write registers, or depends on which lanes execute it, so that its guard must
/// be a branch.
pub(super) fn needs_branch(inst: &Inst) -> bool {
    use Opcode::*;
    matches!(
        inst.op,
        Ald | Ast
            | Out
            | Ipa
            | Kil
            | Tex
            | Tld
            | Texs
            | Tlds
            | Tld4
            | Tld4s
            | Txd
            | Txq
            | Tmml
            | Suld
            | Sust
            | Suatom
            | Sured
            | Ld
            | Ldc
            | Ldg
            | Lds
            | Ldl
            | St
            | Stg
            | Sts
            | Stl
            | Atom
            | Atoms
            | Red
            | Membar
            | Bar
            | Shfl
            | Vote
    )
}

impl Cx<'_> {
    /// Lifts an instruction that is not flow.
    pub fn lift(&mut self, inst: &Inst) -> Lift<()> {
        use Opcode::*;
        match inst.op {
            Mov | Mov32i => self.mov(inst),
            Sel => self.sel(inst),
            S2r | Cs2r => self.s2r(inst),
            Iadd | Iadd32i => self.iadd(inst),
            Iadd3 => self.iadd3(inst),
            Iscadd | Iscadd32i => self.iscadd(inst),
            Lea => self.lea(inst),
            Imnmx => self.imnmx(inst),
            Imul | Imul32i => self.imul(inst),
            Imad | Imad32i => self.imad(inst),
            Idp => self.idp(inst),
            Imadsp => self.imadsp(inst),
            Xmad => self.xmad(inst),
            Lop | Lop32i => self.lop(inst),
            Lop3 => self.lop3(inst),
            Shl => self.shl(inst),
            Shr => self.shr(inst),
            Shf => self.shf(inst),
            Bfe => self.bfe(inst),
            Bfi => self.bfi(inst),
            Prmt => self.prmt(inst),
            Flo => self.flo(inst),
            Popc => self.popc(inst),
            P2r => self.p2r(inst),
            R2p => self.r2p(inst),
            Iset => self.iset(inst),
            Isetp => self.isetp(inst),
            Icmp => self.icmp(inst),
            Fset => self.fset(inst, false),
            Fsetp => self.fsetp(inst, false),
            Fcmp => self.fcmp(inst),
            Dset => self.fset(inst, true),
            Dsetp => self.fsetp(inst, true),
            Pset => self.pset(inst),
            Psetp => self.psetp(inst),
            Cset => self.cset(inst),
            Csetp => self.csetp(inst),
            Fadd | Fadd32i => self.fadd(inst),
            Fmul | Fmul32i => self.fmul(inst),
            Ffma | Ffma32i => self.ffma(inst),
            Fmnmx => self.fmnmx(inst),
            Fchk => self.fchk(inst),
            Mufu => self.mufu(inst),
            Rro => self.rro(inst),
            Dadd => self.double_binary(inst, Op::Fadd),
            Dmul => self.double_binary(inst, Op::Fmul),
            Dfma => self.dfma(inst),
            Dmnmx => self.dmnmx(inst),
            Hadd2 | Hadd2_32i => self.half_arithmetic(inst, Op::Fadd, [Role::A, Role::B]),
            Hmul2 | Hmul2_32i => self.half_arithmetic(inst, Op::Fmul, [Role::A, Role::B]),
            Hfma2 | Hfma2_32i => self.half_arithmetic(inst, Op::Fma, [Role::A, Role::B, Role::C]),
            Hset2 => self.hset2(inst),
            Hsetp2 => self.hsetp2(inst),
            F2f => self.f2f(inst),
            F2i => self.f2i(inst),
            I2f => self.i2f(inst),
            I2i => self.i2i(inst),
            Vadd | Vabsdiff | Vmnmx | Vset | Vmad | Vshl | Vshr => self.video(inst),
            Vsetp => self.vsetp(inst),
            Vabsdiff4 => self.vabsdiff4(inst),
            Ldc => self.ldc(inst),
            Ld => self.load(inst, Place::Generic),
            Ldg => self.load(inst, Place::Global),
            Lds => self.load(inst, Place::Shared),
            Ldl => self.load(inst, Place::Local),
            St => self.store(inst, Place::Generic),
            Stg => self.store(inst, Place::Global),
            Sts => self.store(inst, Place::Shared),
            Stl => self.store(inst, Place::Local),
            Atom | Red => self.atomic(inst, Place::Global),
            Atoms => self.atomic(inst, Place::Shared),
            Shfl => self.shfl(inst),
            Fswzadd => self.fswzadd(inst),
            Vote => self.vote(inst),
            Sam | Ram => self.quad_on(),
            Membar => self.membar(inst),
            Bar => self.bar(inst),
            B2r => self.b2r(inst),
            Ald => self.ald(inst),
            Ast => self.ast(inst),
            Al2p => self.al2p(inst),
            Isberd => self.isberd(inst),
            Out => self.out(inst),
            Ipa => self.ipa(inst),
            Pixld => self.pixld(inst),
            Kil => self.kil(inst),
            Tex => self.tex(inst),
            Tld => self.tld(inst),
            Texs | Tlds => self.packed_fetch(inst),
            Tld4 => self.tld4(inst),
            Tld4s => self.tld4s(inst),
            Txd => self.txd(inst),
            Txq => self.txq(inst),
            Tmml => self.tmml(inst),
            Suld => self.suld(inst),
            Sust => self.sust(inst),
            Suatom | Sured => self.suatom(inst),
            // Scheduling, and hints to caches whose contents are not visible.
            Nop | Depbar | Cctl | Cctll | Cctlt => Ok(()),
            _ => Err(Unsupported),
        }
    }
}
