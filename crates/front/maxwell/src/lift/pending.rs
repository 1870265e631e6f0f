//! Parts of products that are not computed before somebody needs them.
//!
//! Nearly every XMAD computes a part of a product of words that a later one completes ([`product`](super::product)), and
//! its register is written again before anything else reads it. So what it would compute is only noted: where the register
//! is read, or where the block ends, it is computed; where it is written, nothing is left to do. The words that it takes
//! are values, which do not change.

use super::cx::Cx;
use super::product::{Halves, Piece};
use crate::inst::{Operand, Part, RZ, Value as Named};
use crate::opcode::Opcode;
use xenoglot_ir::{Block, Op, Value};

/// What a register holds that is not computed.
pub(super) struct Pending {
    reg: u8,
    halves: Halves,
    /// The lowest part, by its factors and its addend, that C is instead of a value.
    low: Option<[Value; 3]>,
    piece: Piece,
    guest: u32,
    block: Block,
}

impl Cx<'_> {
    /// Notes that register `n` holds what an XMAD computes. There is no guard.
    pub fn postpone(&mut self, n: u8, halves: Halves, low: Option<[Value; 3]>, piece: Piece) {
        self.forget(n);
        if n != RZ {
            let (guest, block) = (self.b.guest(), self.b.block());
            self.pending.push(Pending { reg: n, halves, low, piece, guest, block });
        }
    }

    /// The part of a product that an operand is, if that is not computed.
    pub fn pending_in(&self, o: &Operand) -> Option<Piece> {
        let Named::Reg(n) = o.value else { return None };
        let whole = matches!(o.part, Part::Full | Part::H1);
        self.pending.iter().find(|p| p.reg == n && whole).map(|p| p.piece)
    }

    /// Register `n` is written: what it holds is not needed any more.
    #[inline]
    pub fn forget(&mut self, n: u8) {
        if !self.pending.is_empty() {
            self.pending.retain(|p| p.reg != n);
        }
    }

    /// Computes what register `n` holds.
    #[inline]
    pub fn settle(&mut self, n: u8) {
        if !self.pending.is_empty()
            && let Some(at) = self.pending.iter().position(|p| p.reg == n)
        {
            let pending = self.pending.swap_remove(at);
            self.compute(pending);
        }
    }

    /// Computes what all registers hold: the block is about to end.
    pub fn settle_all(&mut self) {
        while let Some(pending) = self.pending.pop() {
            self.compute(pending);
        }
    }

    fn compute(&mut self, Pending { reg, mut halves, low, piece, guest, block }: Pending) {
        debug_assert_eq!(block, self.b.block(), "a part of a product left its block");
        if let Some([a, b, c]) = low {
            halves.c = self.lowest(a, b, c);
        }
        let here = self.b.guest();
        self.b.set_guest(guest);
        let v = self.xmad_value(halves, false, false);
        self.pieces.insert(v, piece);
        if let Some(slot) = self.regs.general(self.b.func, reg) {
            self.b.slot_set(slot, v);
        }
        self.b.set_guest(here);
    }

    /// The lowest part of a product, from the register that holds it if one does.
    fn lowest(&mut self, a: Value, b: Value, c: Value) -> Value {
        let piece = Piece::Low { a, b, c };
        if let Some(n) = self.pending.iter().find(|p| p.piece == piece).map(|p| p.reg) {
            return self.reg(n);
        }
        let [x, y] = [a, b].map(|word| self.half(word, Part::H0, false));
        let product = self.op(Op::Imul, &[x, y]);
        self.op(Op::Iadd, &[product, c])
    }
}

/// Whether what an instruction is lifted to stays in its block, whatever its operands are. Not all of those that do are
/// listed.
pub(super) fn stays_in_block(op: Opcode) -> bool {
    use Opcode::*;
    matches!(
        op,
        Mov | Mov32i
            | Sel
            | S2r
            | Iadd
            | Iadd32i
            | Iadd3
            | Iscadd
            | Iscadd32i
            | Lea
            | Imnmx
            | Xmad
            | Lop
            | Lop32i
            | Lop3
            | Shl
            | Shr
            | Shf
            | Bfe
            | Bfi
            | Prmt
            | Isetp
            | Fsetp
            | Fadd
            | Fadd32i
            | Fmul
            | Fmul32i
            | Ffma
            | Ffma32i
            | Mufu
            | F2f
            | F2i
            | I2f
            | I2i
            | Ldc
            | Ldg
            | Lds
            | Ldl
            | Stg
            | Sts
            | Stl
            | Nop
            | Depbar
    )
}
