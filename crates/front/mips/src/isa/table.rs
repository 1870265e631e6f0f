//! The rows.

use super::{Formats, Level, OpInfo, Operand};
use crate::inst::Fmt::{self, D, L, Ps, S, W};

const SD: Formats = Formats::Field(&[S, D]);
const SDP: Formats = Formats::Field(&[S, D, Ps]);
const DWL: Formats = Formats::Field(&[D, W, L]);
const SWL: Formats = Formats::Field(&[S, W, L]);
const P: Formats = Formats::Field(&[Ps]);
const LOW: Formats = Formats::Low(&[S, D, Ps]);
const NAMED_S: Formats = Formats::Named(S);
const NAMED_PS: Formats = Formats::Named(Fmt::Ps);

macro_rules! ops {
    ($($op:ident $name:literal $bits:literal $mask:literal $($formats:ident)? [$($operand:ident)*] $level:ident;)+) => {
        /// The operations. Floating-point operations of several formats are one operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op {
            $(#[doc = concat!("`", $name, "`")] $op,)+
        }

        /// The rows, in the order of [`Op`].
        pub static OPS: &[OpInfo] = &[
            $(OpInfo {
                op: Op::$op,
                name: $name,
                bits: $bits,
                mask: $mask,
                formats: ops!(@formats $($formats)?),
                operands: &[$(Operand::$operand),*],
                level: Level::$level,
            },)+
        ];
    };
    (@formats) => { Formats::None };
    (@formats $formats:ident) => { $formats };
}

ops! {
    // Shifts, and what else has opcode 0.
    Sll "sll" 0x0000_0000 0xffe0_003f [Rd Rt Shift] Mips1;
    Srl "srl" 0x0000_0002 0xffe0_003f [Rd Rt Shift] Mips1;
    Rotr "ror" 0x0020_0002 0xffe0_003f [Rd Rt Shift] Mips32r2;
    Sra "sra" 0x0000_0003 0xffe0_003f [Rd Rt Shift] Mips1;
    Sllv "sllv" 0x0000_0004 0xfc00_07ff [Rd Rt Rs] Mips1;
    Srlv "srlv" 0x0000_0006 0xfc00_07ff [Rd Rt Rs] Mips1;
    Rotrv "rorv" 0x0000_0046 0xfc00_07ff [Rd Rt Rs] Mips32r2;
    Srav "srav" 0x0000_0007 0xfc00_07ff [Rd Rt Rs] Mips1;
    Jr "jr" 0x0000_0008 0xfc1f_ffff [Rs] Mips1;
    JrHb "jr.hb" 0x0000_0408 0xfc1f_ffff [Rs] Mips32r2;
    Jalr "jalr" 0x0000_0009 0xfc1f_07ff [Rd Rs] Mips1;
    JalrHb "jalr.hb" 0x0000_0409 0xfc1f_07ff [Rd Rs] Mips32r2;
    Movf "movf" 0x0000_0001 0xfc03_07ff [Rd Rs Cc] Mips32;
    Movt "movt" 0x0001_0001 0xfc03_07ff [Rd Rs Cc] Mips32;
    Movz "movz" 0x0000_000a 0xfc00_07ff [Rd Rs Rt] Mips32;
    Movn "movn" 0x0000_000b 0xfc00_07ff [Rd Rs Rt] Mips32;
    Syscall "syscall" 0x0000_000c 0xfc00_003f [Code20] Mips1;
    Break "break" 0x0000_000d 0xfc00_003f [Code] Mips1;
    Sync "sync" 0x0000_000f 0xffff_f83f [Stype] Mips2;
    Mfhi "mfhi" 0x0000_0010 0xffff_07ff [Rd] Mips1;
    Mthi "mthi" 0x0000_0011 0xfc1f_ffff [Rs] Mips1;
    Mflo "mflo" 0x0000_0012 0xffff_07ff [Rd] Mips1;
    Mtlo "mtlo" 0x0000_0013 0xfc1f_ffff [Rs] Mips1;
    Mult "mult" 0x0000_0018 0xfc00_ffff [Rs Rt] Mips1;
    Multu "multu" 0x0000_0019 0xfc00_ffff [Rs Rt] Mips1;
    Div "div" 0x0000_001a 0xfc00_ffff [Zero Rs Rt] Mips1;
    Divu "divu" 0x0000_001b 0xfc00_ffff [Zero Rs Rt] Mips1;
    Add "add" 0x0000_0020 0xfc00_07ff [Rd Rs Rt] Mips1;
    Addu "addu" 0x0000_0021 0xfc00_07ff [Rd Rs Rt] Mips1;
    Sub "sub" 0x0000_0022 0xfc00_07ff [Rd Rs Rt] Mips1;
    Subu "subu" 0x0000_0023 0xfc00_07ff [Rd Rs Rt] Mips1;
    And "and" 0x0000_0024 0xfc00_07ff [Rd Rs Rt] Mips1;
    Or "or" 0x0000_0025 0xfc00_07ff [Rd Rs Rt] Mips1;
    Xor "xor" 0x0000_0026 0xfc00_07ff [Rd Rs Rt] Mips1;
    Nor "nor" 0x0000_0027 0xfc00_07ff [Rd Rs Rt] Mips1;
    Slt "slt" 0x0000_002a 0xfc00_07ff [Rd Rs Rt] Mips1;
    Sltu "sltu" 0x0000_002b 0xfc00_07ff [Rd Rs Rt] Mips1;
    Tge "tge" 0x0000_0030 0xfc00_003f [Rs Rt TrapCode] Mips2;
    Tgeu "tgeu" 0x0000_0031 0xfc00_003f [Rs Rt TrapCode] Mips2;
    Tlt "tlt" 0x0000_0032 0xfc00_003f [Rs Rt TrapCode] Mips2;
    Tltu "tltu" 0x0000_0033 0xfc00_003f [Rs Rt TrapCode] Mips2;
    Teq "teq" 0x0000_0034 0xfc00_003f [Rs Rt TrapCode] Mips2;
    Tne "tne" 0x0000_0036 0xfc00_003f [Rs Rt TrapCode] Mips2;
    // Opcode 1.
    Bltz "bltz" 0x0400_0000 0xfc1f_0000 [Rs Branch] Mips1;
    Bgez "bgez" 0x0401_0000 0xfc1f_0000 [Rs Branch] Mips1;
    Bltzl "bltzl" 0x0402_0000 0xfc1f_0000 [Rs Branch] Mips2;
    Bgezl "bgezl" 0x0403_0000 0xfc1f_0000 [Rs Branch] Mips2;
    Tgei "tgei" 0x0408_0000 0xfc1f_0000 [Rs Imm] Mips2;
    Tgeiu "tgeiu" 0x0409_0000 0xfc1f_0000 [Rs Imm] Mips2;
    Tlti "tlti" 0x040a_0000 0xfc1f_0000 [Rs Imm] Mips2;
    Tltiu "tltiu" 0x040b_0000 0xfc1f_0000 [Rs Imm] Mips2;
    Teqi "teqi" 0x040c_0000 0xfc1f_0000 [Rs Imm] Mips2;
    Tnei "tnei" 0x040e_0000 0xfc1f_0000 [Rs Imm] Mips2;
    Bltzal "bltzal" 0x0410_0000 0xfc1f_0000 [Rs Branch] Mips1;
    Bgezal "bgezal" 0x0411_0000 0xfc1f_0000 [Rs Branch] Mips1;
    Bltzall "bltzall" 0x0412_0000 0xfc1f_0000 [Rs Branch] Mips2;
    Bgezall "bgezall" 0x0413_0000 0xfc1f_0000 [Rs Branch] Mips2;
    Synci "synci" 0x041f_0000 0xfc1f_0000 [Memory] Mips32r2;
    // Jumps, branches, constants.
    J "j" 0x0800_0000 0xfc00_0000 [Jump] Mips1;
    Jal "jal" 0x0c00_0000 0xfc00_0000 [Jump] Mips1;
    Beq "beq" 0x1000_0000 0xfc00_0000 [Rs Rt Branch] Mips1;
    Bne "bne" 0x1400_0000 0xfc00_0000 [Rs Rt Branch] Mips1;
    Blez "blez" 0x1800_0000 0xfc1f_0000 [Rs Branch] Mips1;
    Bgtz "bgtz" 0x1c00_0000 0xfc1f_0000 [Rs Branch] Mips1;
    Addi "addi" 0x2000_0000 0xfc00_0000 [Rt Rs Imm] Mips1;
    Addiu "addiu" 0x2400_0000 0xfc00_0000 [Rt Rs Imm] Mips1;
    Slti "slti" 0x2800_0000 0xfc00_0000 [Rt Rs Imm] Mips1;
    Sltiu "sltiu" 0x2c00_0000 0xfc00_0000 [Rt Rs Imm] Mips1;
    Andi "andi" 0x3000_0000 0xfc00_0000 [Rt Rs Uimm] Mips1;
    Ori "ori" 0x3400_0000 0xfc00_0000 [Rt Rs Uimm] Mips1;
    Xori "xori" 0x3800_0000 0xfc00_0000 [Rt Rs Uimm] Mips1;
    Lui "lui" 0x3c00_0000 0xffe0_0000 [Rt Uimm] Mips1;
    Beql "beql" 0x5000_0000 0xfc00_0000 [Rs Rt Branch] Mips2;
    Bnel "bnel" 0x5400_0000 0xfc00_0000 [Rs Rt Branch] Mips2;
    Blezl "blezl" 0x5800_0000 0xfc1f_0000 [Rs Branch] Mips2;
    Bgtzl "bgtzl" 0x5c00_0000 0xfc1f_0000 [Rs Branch] Mips2;
    // SPECIAL2 and SPECIAL3.
    Madd "madd" 0x7000_0000 0xfc00_ffff [Rs Rt] Mips32;
    Maddu "maddu" 0x7000_0001 0xfc00_ffff [Rs Rt] Mips32;
    Mul "mul" 0x7000_0002 0xfc00_07ff [Rd Rs Rt] Mips32;
    Msub "msub" 0x7000_0004 0xfc00_ffff [Rs Rt] Mips32;
    Msubu "msubu" 0x7000_0005 0xfc00_ffff [Rs Rt] Mips32;
    Clz "clz" 0x7000_0020 0xfc00_07ff [RdRt Rs] Mips32;
    Clo "clo" 0x7000_0021 0xfc00_07ff [RdRt Rs] Mips32;
    Ext "ext" 0x7c00_0000 0xfc00_003f [Rt Rs Pos ExtSize] Mips32r2;
    Ins "ins" 0x7c00_0004 0xfc00_003f [Rt Rs Pos InsSize] Mips32r2;
    Wsbh "wsbh" 0x7c00_00a0 0xffe0_07ff [Rd Rt] Mips32r2;
    Seb "seb" 0x7c00_0420 0xffe0_07ff [Rd Rt] Mips32r2;
    Seh "seh" 0x7c00_0620 0xffe0_07ff [Rd Rt] Mips32r2;
    Rdhwr "rdhwr" 0x7c00_003b 0xffe0_07ff [Rt Hwr] Mips32r2;
    // Memory.
    Lb "lb" 0x8000_0000 0xfc00_0000 [Rt Memory] Mips1;
    Lh "lh" 0x8400_0000 0xfc00_0000 [Rt Memory] Mips1;
    Lwl "lwl" 0x8800_0000 0xfc00_0000 [Rt Memory] Mips1;
    Lw "lw" 0x8c00_0000 0xfc00_0000 [Rt Memory] Mips1;
    Lbu "lbu" 0x9000_0000 0xfc00_0000 [Rt Memory] Mips1;
    Lhu "lhu" 0x9400_0000 0xfc00_0000 [Rt Memory] Mips1;
    Lwr "lwr" 0x9800_0000 0xfc00_0000 [Rt Memory] Mips1;
    Sb "sb" 0xa000_0000 0xfc00_0000 [Rt Memory] Mips1;
    Sh "sh" 0xa400_0000 0xfc00_0000 [Rt Memory] Mips1;
    Swl "swl" 0xa800_0000 0xfc00_0000 [Rt Memory] Mips1;
    Sw "sw" 0xac00_0000 0xfc00_0000 [Rt Memory] Mips1;
    Swr "swr" 0xb800_0000 0xfc00_0000 [Rt Memory] Mips1;
    Ll "ll" 0xc000_0000 0xfc00_0000 [Rt Memory] Mips2;
    Lwc1 "lwc1" 0xc400_0000 0xfc00_0000 [Ft Memory] Mips1;
    Pref "pref" 0xcc00_0000 0xfc00_0000 [Hint Memory] Mips32;
    Ldc1 "ldc1" 0xd400_0000 0xfc00_0000 [Ft Memory] Mips2;
    Sc "sc" 0xe000_0000 0xfc00_0000 [Rt Memory] Mips2;
    Swc1 "swc1" 0xe400_0000 0xfc00_0000 [Ft Memory] Mips1;
    Sdc1 "sdc1" 0xf400_0000 0xfc00_0000 [Ft Memory] Mips2;
    Lwxc1 "lwxc1" 0x4c00_0000 0xfc00_f83f [Fd Indexed] Mips32r2;
    Ldxc1 "ldxc1" 0x4c00_0001 0xfc00_f83f [Fd Indexed] Mips32r2;
    Luxc1 "luxc1" 0x4c00_0005 0xfc00_f83f [Fd Indexed] Mips32r2;
    Swxc1 "swxc1" 0x4c00_0008 0xfc00_07ff [Fs Indexed] Mips32r2;
    Sdxc1 "sdxc1" 0x4c00_0009 0xfc00_07ff [Fs Indexed] Mips32r2;
    Suxc1 "suxc1" 0x4c00_000d 0xfc00_07ff [Fs Indexed] Mips32r2;
    Prefx "prefx" 0x4c00_000f 0xfc00_07ff [HintX Indexed] Mips32r2;
    // Floating point: moves between register files, branches.
    Mfc1 "mfc1" 0x4400_0000 0xffe0_07ff [Rt Fs] Mips1;
    Cfc1 "cfc1" 0x4440_0000 0xffe0_07ff [Rt Control] Mips1;
    Mfhc1 "mfhc1" 0x4460_0000 0xffe0_07ff [Rt Fs] Mips32r2;
    Mtc1 "mtc1" 0x4480_0000 0xffe0_07ff [Rt Fs] Mips1;
    Ctc1 "ctc1" 0x44c0_0000 0xffe0_07ff [Rt Control] Mips1;
    Mthc1 "mthc1" 0x44e0_0000 0xffe0_07ff [Rt Fs] Mips32r2;
    Bc1f "bc1f" 0x4500_0000 0xffe3_0000 [BranchCc Branch] Mips1;
    Bc1t "bc1t" 0x4501_0000 0xffe3_0000 [BranchCc Branch] Mips1;
    Bc1fl "bc1fl" 0x4502_0000 0xffe3_0000 [BranchCc Branch] Mips2;
    Bc1tl "bc1tl" 0x4503_0000 0xffe3_0000 [BranchCc Branch] Mips2;
    // Floating point: arithmetic.
    AddF "add" 0x4400_0000 0xfc00_003f SDP [Fd Fs Ft] Mips1;
    SubF "sub" 0x4400_0001 0xfc00_003f SDP [Fd Fs Ft] Mips1;
    MulF "mul" 0x4400_0002 0xfc00_003f SDP [Fd Fs Ft] Mips1;
    DivF "div" 0x4400_0003 0xfc00_003f SD [Fd Fs Ft] Mips1;
    SqrtF "sqrt" 0x4400_0004 0xfc1f_003f SD [Fd Fs] Mips2;
    AbsF "abs" 0x4400_0005 0xfc1f_003f SDP [Fd Fs] Mips1;
    MovF "mov" 0x4400_0006 0xfc1f_003f SDP [Fd Fs] Mips1;
    NegF "neg" 0x4400_0007 0xfc1f_003f SDP [Fd Fs] Mips1;
    RoundL "round.l" 0x4400_0008 0xfc1f_003f SD [Fd Fs] Mips32r2;
    TruncL "trunc.l" 0x4400_0009 0xfc1f_003f SD [Fd Fs] Mips32r2;
    CeilL "ceil.l" 0x4400_000a 0xfc1f_003f SD [Fd Fs] Mips32r2;
    FloorL "floor.l" 0x4400_000b 0xfc1f_003f SD [Fd Fs] Mips32r2;
    RoundW "round.w" 0x4400_000c 0xfc1f_003f SD [Fd Fs] Mips2;
    TruncW "trunc.w" 0x4400_000d 0xfc1f_003f SD [Fd Fs] Mips2;
    CeilW "ceil.w" 0x4400_000e 0xfc1f_003f SD [Fd Fs] Mips2;
    FloorW "floor.w" 0x4400_000f 0xfc1f_003f SD [Fd Fs] Mips2;
    MovfF "movf" 0x4400_0011 0xfc03_003f SDP [Fd Fs Cc] Mips32;
    MovtF "movt" 0x4401_0011 0xfc03_003f SDP [Fd Fs Cc] Mips32;
    MovzF "movz" 0x4400_0012 0xfc00_003f SDP [Fd Fs Rt] Mips32;
    MovnF "movn" 0x4400_0013 0xfc00_003f SDP [Fd Fs Rt] Mips32;
    RecipF "recip" 0x4400_0015 0xfc1f_003f SD [Fd Fs] Mips32r2;
    RsqrtF "rsqrt" 0x4400_0016 0xfc1f_003f SD [Fd Fs] Mips32r2;
    CvtS "cvt.s" 0x4400_0020 0xfc1f_003f DWL [Fd Fs] Mips1;
    CvtSPu "cvt.s.pu" 0x4400_0020 0xfc1f_003f NAMED_PS [Fd Fs] Mips32r2;
    CvtD "cvt.d" 0x4400_0021 0xfc1f_003f SWL [Fd Fs] Mips1;
    CvtW "cvt.w" 0x4400_0024 0xfc1f_003f SD [Fd Fs] Mips1;
    CvtL "cvt.l" 0x4400_0025 0xfc1f_003f SD [Fd Fs] Mips32r2;
    CvtPs "cvt.ps.s" 0x4400_0026 0xfc00_003f NAMED_S [Fd Fs Ft] Mips32r2;
    CvtSPl "cvt.s.pl" 0x4400_0028 0xfc1f_003f NAMED_PS [Fd Fs] Mips32r2;
    Pll "pll" 0x4400_002c 0xfc00_003f P [Fd Fs Ft] Mips32r2;
    Plu "plu" 0x4400_002d 0xfc00_003f P [Fd Fs Ft] Mips32r2;
    Pul "pul" 0x4400_002e 0xfc00_003f P [Fd Fs Ft] Mips32r2;
    Puu "puu" 0x4400_002f 0xfc00_003f P [Fd Fs Ft] Mips32r2;
    CompareF "c" 0x4400_0030 0xfc00_00f0 SDP [CompareCc Fs Ft] Mips1;
    AlnvPs "alnv.ps" 0x4c00_001e 0xfc00_003f [Fd Fs Ft Rs] Mips32r2;
    MaddF "madd" 0x4c00_0020 0xfc00_0038 LOW [Fd Fr Fs Ft] Mips32r2;
    MsubF "msub" 0x4c00_0028 0xfc00_0038 LOW [Fd Fr Fs Ft] Mips32r2;
    NmaddF "nmadd" 0x4c00_0030 0xfc00_0038 LOW [Fd Fr Fs Ft] Mips32r2;
    NmsubF "nmsub" 0x4c00_0038 0xfc00_0038 LOW [Fd Fr Fs Ft] Mips32r2;
}
