//! Look-up tables that command lists fill word by word through data ports. Words are kept as written.

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
        }
    }
}
