//! Commands of the geometry engine by number: parameters and costs, as GBATEK lists them.

/// Most parameters of a command.
pub const MAX_PARAMS: usize = 32;

/// A command's facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandInfo {
    /// Name; empty for a number that is no command.
    pub name: &'static str,
    /// Parameter words, up to [`MAX_PARAMS`].
    pub params: u8,
    /// Cycles of 33 MHz it keeps the engine busy, without what depends on state. Those of SWAP_BUFFERS follow the vertical
    /// blank.
    pub cycles: u16,
}

/// Numbers that are commands: number, name, parameter words, cycles.
const COMMANDS: [(u8, &str, u8, u16); 38] = [
    (0x10, "MTX_MODE", 1, 1),
    (0x11, "MTX_PUSH", 0, 17),
    (0x12, "MTX_POP", 1, 36),
    (0x13, "MTX_STORE", 1, 17),
    (0x14, "MTX_RESTORE", 1, 36),
    (0x15, "MTX_IDENTITY", 0, 19),
    (0x16, "MTX_LOAD_4x4", 16, 34),
    (0x17, "MTX_LOAD_4x3", 12, 30),
    (0x18, "MTX_MULT_4x4", 16, 35),
    (0x19, "MTX_MULT_4x3", 12, 31),
    (0x1a, "MTX_MULT_3x3", 9, 28),
    (0x1b, "MTX_SCALE", 3, 22),
    (0x1c, "MTX_TRANS", 3, 22),
    (0x20, "COLOR", 1, 1),
    (0x21, "NORMAL", 1, 9),
    (0x22, "TEXCOORD", 1, 1),
    (0x23, "VTX_16", 2, 9),
    (0x24, "VTX_10", 1, 8),
    (0x25, "VTX_XY", 1, 8),
    (0x26, "VTX_XZ", 1, 8),
    (0x27, "VTX_YZ", 1, 8),
    (0x28, "VTX_DIFF", 1, 8),
    (0x29, "POLYGON_ATTR", 1, 1),
    (0x2a, "TEXIMAGE_PARAM", 1, 1),
    (0x2b, "PLTT_BASE", 1, 1),
    (0x30, "DIF_AMB", 1, 4),
    (0x31, "SPE_EMI", 1, 4),
    (0x32, "LIGHT_VECTOR", 1, 6),
    (0x33, "LIGHT_COLOR", 1, 1),
    (0x34, "SHININESS", 32, 32),
    (0x40, "BEGIN_VTXS", 1, 1),
    (0x41, "END_VTXS", 0, 1),
    (0x50, "SWAP_BUFFERS", 1, 392),
    (0x60, "VIEWPORT", 1, 1),
    (0x70, "BOX_TEST", 3, 103),
    (0x71, "POS_TEST", 2, 9),
    (0x72, "VEC_TEST", 1, 5),
    (0x00, "NOP", 0, 0),
];

const NONE: CommandInfo = CommandInfo { name: "", params: 0, cycles: 0 };

static TABLE: [CommandInfo; 256] = {
    let mut table = [NONE; 256];
    let mut i = 0;
    while i < COMMANDS.len() {
        let (number, name, params, cycles) = COMMANDS[i];
        table[number as usize] = CommandInfo { name, params, cycles };
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
    matches!(command, 0x70..=0x72)
}

/// Whether it is MTX_PUSH or MTX_POP: what GXSTAT bit 14 is about. MTX_STORE and MTX_RESTORE do not count.
#[inline]
pub fn is_push_or_pop(command: u8) -> bool {
    matches!(command, 0x11 | 0x12)
}

/// Numbers of all commands.
pub fn numbers() -> impl Iterator<Item = u8> {
    COMMANDS.iter().map(|c| c.0).filter(|&n| n != 0)
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
