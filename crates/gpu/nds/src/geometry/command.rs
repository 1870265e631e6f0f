//! Commands of the geometry engine by number: parameters and costs, as GBATEK lists them.

/// Most parameters of a command.
pub const MAX_PARAMS: usize = 32;

/// A command's facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandInfo {
    /// The command; `None` for a number that is none.
    pub command: Option<Command>,
    /// Name; empty for a number that is no command.
    pub name: &'static str,
    /// Parameter words, up to [`MAX_PARAMS`].
    pub params: u8,
    /// Cycles of 33 MHz it keeps the engine busy, without what depends on state. Those of SWAP_BUFFERS follow the vertical
    /// blank.
    pub cycles: u16,
}

macro_rules! commands {
    ($($number:literal $command:ident $name:literal $params:literal $cycles:literal;)+) => {
        /// A command; its discriminant is its number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Command {
            $(#[doc = $name] $command = $number,)+
        }

        const COMMANDS: &[(Command, CommandInfo)] = &[$((
            Command::$command,
            CommandInfo { command: Some(Command::$command), name: $name, params: $params, cycles: $cycles },
        )),+];
    };
}

// Number, variant, name, parameter words, cycles.
commands! {
    0x00 Nop "NOP" 0 0;
    0x10 MtxMode "MTX_MODE" 1 1;
    0x11 MtxPush "MTX_PUSH" 0 17;
    0x12 MtxPop "MTX_POP" 1 36;
    0x13 MtxStore "MTX_STORE" 1 17;
    0x14 MtxRestore "MTX_RESTORE" 1 36;
    0x15 MtxIdentity "MTX_IDENTITY" 0 19;
    0x16 MtxLoad4x4 "MTX_LOAD_4x4" 16 34;
    0x17 MtxLoad4x3 "MTX_LOAD_4x3" 12 30;
    0x18 MtxMult4x4 "MTX_MULT_4x4" 16 35;
    0x19 MtxMult4x3 "MTX_MULT_4x3" 12 31;
    0x1a MtxMult3x3 "MTX_MULT_3x3" 9 28;
    0x1b MtxScale "MTX_SCALE" 3 22;
    0x1c MtxTrans "MTX_TRANS" 3 22;
    0x20 Color "COLOR" 1 1;
    0x21 Normal "NORMAL" 1 9;
    0x22 Texcoord "TEXCOORD" 1 1;
    0x23 Vtx16 "VTX_16" 2 9;
    0x24 Vtx10 "VTX_10" 1 8;
    0x25 VtxXy "VTX_XY" 1 8;
    0x26 VtxXz "VTX_XZ" 1 8;
    0x27 VtxYz "VTX_YZ" 1 8;
    0x28 VtxDiff "VTX_DIFF" 1 8;
    0x29 PolygonAttr "POLYGON_ATTR" 1 1;
    0x2a TeximageParam "TEXIMAGE_PARAM" 1 1;
    0x2b PlttBase "PLTT_BASE" 1 1;
    0x30 DifAmb "DIF_AMB" 1 4;
    0x31 SpeEmi "SPE_EMI" 1 4;
    0x32 LightVector "LIGHT_VECTOR" 1 6;
    0x33 LightColor "LIGHT_COLOR" 1 1;
    0x34 Shininess "SHININESS" 32 32;
    0x40 BeginVtxs "BEGIN_VTXS" 1 1;
    0x41 EndVtxs "END_VTXS" 0 1;
    0x50 SwapBuffers "SWAP_BUFFERS" 1 392;
    0x60 Viewport "VIEWPORT" 1 1;
    0x70 BoxTest "BOX_TEST" 3 103;
    0x71 PosTest "POS_TEST" 2 9;
    0x72 VecTest "VEC_TEST" 1 5;
}

const NONE: CommandInfo = CommandInfo { command: None, name: "", params: 0, cycles: 0 };

static TABLE: [CommandInfo; 256] = {
    let mut table = [NONE; 256];
    let mut i = 0;
    while i < COMMANDS.len() {
        let (command, info) = COMMANDS[i];
        table[command as usize] = info;
        i += 1;
    }
    table
};

/// The facts of a command number.
#[inline]
pub fn info(command: u8) -> &'static CommandInfo {
    &TABLE[usize::from(command)]
}

/// Whether it is BOX_TEST, POS_TEST or VEC_TEST: what GXSTAT bit 0 is about.
#[inline]
pub fn is_test(command: u8) -> bool {
    matches!(info(command).command, Some(Command::BoxTest | Command::PosTest | Command::VecTest))
}

/// Whether it is MTX_PUSH or MTX_POP: what GXSTAT bit 14 is about. MTX_STORE and MTX_RESTORE do not count.
#[inline]
pub fn is_push_or_pop(command: u8) -> bool {
    matches!(info(command).command, Some(Command::MtxPush | Command::MtxPop))
}

/// Numbers of all commands.
pub fn numbers() -> impl Iterator<Item = u8> {
    COMMANDS.iter().map(|c| c.0 as u8).filter(|&n| n != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_fit() {
        assert!(TABLE.iter().all(|c| usize::from(c.params) <= MAX_PARAMS));
        assert_eq!(numbers().count(), 37);
        assert_eq!((info(0x16).params, info(0x34).params, info(0x42).params), (16, 32, 0));
    }
}
