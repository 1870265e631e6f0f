//! Look-up tables that command lists fill word by word through data ports. Words are kept as written.

use crate::regs::*;

/// All tables of the fragment stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Fragment lighting: table number of register 0x1C5 by entry (0 D0, 1 D1, 3 FR, 4 RB, 5 RG, 6 RR, 8 + n spot n,
    /// 16 + n distance n).
    pub lighting: Box<[[u32; 256]; 24]>,
    /// Fog.
    pub fog: [u32; 128],
    /// Procedural texture: noise.
    pub noise: [u32; 128],
    /// Procedural texture: colour map.
    pub color_map: [u32; 128],
    /// Procedural texture: alpha map.
    pub alpha_map: [u32; 128],
    /// Procedural texture: colours.
    pub colors: [u32; 256],
    /// Procedural texture: differences to the next colour.
    pub color_differences: [u32; 256],
    /// Gas: eight differences, then eight colours (3dbrew).
    pub gas: [u32; 16],
}

impl Default for Tables {
    fn default() -> Self {
        Tables {
            lighting: Box::new([[0; 256]; 24]),
            fog: [0; 128],
            noise: [0; 128],
            color_map: [0; 128],
            alpha_map: [0; 128],
            colors: [0; 256],
            color_differences: [0; 256],
            gas: [0; 16],
        }
    }
}

impl Tables {
    /// Takes a write of `value` to the data port `register`, if it is one of a table, and advances the port's index in
    /// `regs`. Words for tables or entries that there are not are dropped.
    pub(crate) fn write_port(&mut self, regs: &mut Registers, register: u32, value: u32) {
        let entry = match register {
            _ if in_port(register, LIGHT_LUT_DATA) => {
                let table = regs.bits(LIGHT_LUT_PORT, 8, 5);
                let index = regs.advance(LIGHT_LUT_PORT, 8);
                self.lighting.get_mut(table as usize).and_then(|t| t.get_mut(index as usize))
            }
            _ if in_port(register, FOG_LUT_DATA) => {
                self.fog.get_mut(regs.advance(FOG_LUT_PORT, 16) as usize % 128)
            }
            GAS_LUT_DATA => self.gas.get_mut(regs.advance(GAS_LUT_PORT, 16) as usize % 16),
            _ if in_port(register, PROCTEX_LUT_DATA) => {
                let table: Option<&mut [u32]> = match regs.bits(PROCTEX_LUT_PORT, 8, 4) {
                    0 => Some(&mut self.noise),
                    2 => Some(&mut self.color_map),
                    3 => Some(&mut self.alpha_map),
                    4 => Some(&mut self.colors),
                    5 => Some(&mut self.color_differences),
                    _ => None,
                };
                let index = regs.advance(PROCTEX_LUT_PORT, 8) as usize;
                // The small tables have half the entries the index can name.
                table.and_then(|t| t.get_mut(index % t.len()))
            }
            _ => None,
        };
        if let Some(entry) = entry {
            *entry = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_where_the_index_says_and_the_index_goes_on() {
        let (mut regs, mut tables) = (Registers::default(), Tables::default());
        regs.set(LIGHT_LUT_PORT, 0x3ff);
        tables.write_port(&mut regs, LIGHT_LUT_DATA + 7, 5);
        tables.write_port(&mut regs, LIGHT_LUT_DATA, 6);
        assert_eq!((tables.lighting[3][255], tables.lighting[3][0]), (5, 6));
        assert_eq!(regs.get(LIGHT_LUT_PORT), 0x301);

        regs.set(FOG_LUT_PORT, 127);
        tables.write_port(&mut regs, FOG_LUT_DATA, 7);
        tables.write_port(&mut regs, FOG_LUT_DATA, 8);
        assert_eq!((tables.fog[127], tables.fog[0]), (7, 8));

        regs.set(GAS_LUT_PORT, 15);
        tables.write_port(&mut regs, GAS_LUT_DATA, 9);
        tables.write_port(&mut regs, GAS_LUT_DATA, 10);
        assert_eq!((tables.gas[15], tables.gas[0]), (9, 10));

        for (number, entries) in [(0, 128), (2, 128), (3, 128), (4, 256), (5, 256)] {
            regs.set(PROCTEX_LUT_PORT, number << 8 | (entries - 1));
            tables.write_port(&mut regs, PROCTEX_LUT_DATA, number + 1);
        }
        assert_eq!([tables.noise[127], tables.color_map[127], tables.alpha_map[127]], [1, 3, 4]);
        assert_eq!([tables.colors[255], tables.color_differences[255]], [5, 6]);
    }

    #[test]
    fn there_are_24_lighting_tables() {
        let (mut regs, mut tables) = (Registers::default(), Tables::default());
        regs.set(LIGHT_LUT_PORT, 24 << 8);
        tables.write_port(&mut regs, LIGHT_LUT_DATA, 1);
        assert_eq!(tables, Tables::default());
    }
}
