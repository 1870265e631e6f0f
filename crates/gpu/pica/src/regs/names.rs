//! The registers by name: what vectors/picagpu/FORMAT.md, section 3, has fields for, and what is looked at beyond.

use std::fmt;

/// A register, or `count` groups of `stride` registers of one meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The constant's name.
    pub name: &'static str,
    /// Index of the first register.
    pub first: u32,
    /// Groups.
    pub count: u32,
    /// Registers per group.
    pub stride: u32,
    /// The fields.
    pub doc: &'static str,
}

/// The name of one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// The row it belongs to.
    pub row: &'static Row,
    /// Its group.
    pub group: u32,
    /// Its place in the group.
    pub place: u32,
}

/// `VIEWPORT_CORNER`, `FOG_LUT_DATA[3]` or `LIGHT[2]+5`.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row.name)?;
        if self.row.count > 1 {
            write!(f, "[{}]", self.group)?;
        }
        if self.row.stride > 1 {
            write!(f, "+{:X}", self.place)?;
        }
        Ok(())
    }
}

/// The name of the register `index`, if it has one.
pub fn name(index: u32) -> Option<Name> {
    let after = TABLE.partition_point(|row| row.first <= index);
    let row = TABLE.get(after.checked_sub(1)?)?;
    let offset = index - row.first;
    let name = Name { row, group: offset / row.stride, place: offset % row.stride };
    (name.group < row.count).then_some(name)
}

macro_rules! registers {
    ($($index:literal $([$count:literal])? $(($stride:literal))? $name:ident $doc:literal,)+) => {
        $(#[doc = $doc] pub const $name: u32 = $index;)+

        /// Every named register, by index.
        pub const TABLE: &[Row] = &[$(Row {
            name: stringify!($name),
            first: $index,
            count: registers!(@ $($count)?),
            stride: registers!(@ $($stride)?),
            doc: $doc,
        }),+];
    };
    (@) => { 1 };
    (@ $n:literal) => { $n };
}

registers! {
    0x010 INTERRUPT_REQUEST "Interrupt request: bytes equal to those of `INTERRUPT_COMPARE` raise one.",
    0x020 INTERRUPT_COMPARE "Interrupt compare value.",
    0x030 INTERRUPT_MASK "Interrupt mask.",
    0x034 INTERRUPT_STOP "\\[0\\] an interrupt ends the command list.",
    0x040 CULLING "\\[1:0\\] 0, 3 none; 1 keeps clockwise; 2 keeps counter-clockwise.",
    0x041 VIEWPORT_HALF_WIDTH "Half the viewport's width, float24.",
    0x042 VIEWPORT_INVERSE_WIDTH "Its inverse.",
    0x043 VIEWPORT_HALF_HEIGHT "Half the viewport's height, float24.",
    0x044 VIEWPORT_INVERSE_HEIGHT "Its inverse.",
    0x047 CLIP_PLANE_ENABLE "\\[0\\] user clip plane on.",
    0x048 [4] CLIP_PLANE "User clip plane x, y, z, w, float24.",
    0x04d DEPTH_SCALE "Depth scale, float24.",
    0x04e DEPTH_OFFSET "Depth offset, float24.",
    0x04f OUTPUT_COUNT "\\[2:0\\] entries of the output map.",
    0x050 [7] OUTPUT_MAP "Semantics of an output: x \\[4:0\\] y \\[12:8\\] z \\[20:16\\] w \\[28:24\\]; 31 none.",
    0x061 EARLY_DEPTH_FUNCTION "\\[1:0\\] early depth test (3dbrew): 0 not less, 1 greater, 2 not greater, 3 less.",
    0x062 EARLY_DEPTH "\\[0\\] early depth test (3dbrew); not in vectors/picagpu/FORMAT.md.",
    0x063 EARLY_DEPTH_CLEAR "\\[0\\] clears the early depth test's buffer (3dbrew).",
    0x065 SCISSOR_MODE "\\[1:0\\] 0 off, 1 outside only, 3 inside only.",
    0x066 SCISSOR_START "x1 \\[9:0\\] y1 \\[25:16\\].",
    0x067 SCISSOR_END "x2 \\[9:0\\] y2 \\[25:16\\], inclusive.",
    0x068 VIEWPORT_CORNER "x \\[9:0\\] y \\[25:16\\], signed.",
    0x06a EARLY_DEPTH_VALUE "\\[23:0\\] what the early depth test's buffer is cleared to (3dbrew).",
    0x06d DEPTH_MODE "\\[0\\] 1 z buffer, 0 w buffer.",
    0x080 TEXTURE_UNITS "Units on \\[0\\] \\[1\\] \\[2\\], procedural \\[10\\] with coordinates \\[9:8\\], \\[13\\] unit 2 uses coordinates 1.",
    0x081 (10) TEXTURE0 "Unit 0: border colour, size, parameters, LOD, address, faces or shadow (085 to 08B, 08E).",
    0x08b TEXTURE0_SHADOW "\\[0\\] orthographic, bias \\[23:1\\].",
    0x08e TEXTURE0_FORMAT "\\[3:0\\].",
    0x08f LIGHTING_ENABLE "\\[0\\] fragment lighting on.",
    0x091 (5) TEXTURE1 "Unit 1: border colour, size, parameters, LOD, address.",
    0x096 TEXTURE1_FORMAT "\\[3:0\\].",
    0x099 (5) TEXTURE2 "Unit 2: border colour, size, parameters, LOD, address.",
    0x09e TEXTURE2_FORMAT "\\[3:0\\].",
    0x0a8 PROCTEX_SETUP "Clamp u \\[2:0\\] v \\[5:3\\], functions \\[9:6\\] \\[13:10\\], separate alpha \\[14\\], noise \\[15\\], shift \\[19:16\\].",
    0x0a9 PROCTEX_NOISE_U "Amplitude \\[15:0\\] signed 1.3.12, phase \\[31:16\\] float16.",
    0x0aa PROCTEX_NOISE_V "Amplitude \\[15:0\\] signed 1.3.12, phase \\[31:16\\] float16.",
    0x0ab PROCTEX_NOISE_FREQUENCY "u \\[15:0\\], v \\[31:16\\], float16.",
    0x0ac PROCTEX_LUT "Filter \\[2:0\\], LOD \\[6:3\\] \\[10:7\\], width \\[18:11\\].",
    0x0ad PROCTEX_LUT_OFFSET "Offset of level 0 \\[7:0\\].",
    0x0af PROCTEX_LUT_PORT "Index \\[7:0\\], table \\[11:8\\]: 0 noise, 2 colour map, 3 alpha map, 4 colour, 5 difference.",
    0x0b0 [8] PROCTEX_LUT_DATA "Data port.",
    0x0c0 (5) COMBINER0 "Stage 0: sources, operands, operation, constant, scale.",
    0x0c8 (5) COMBINER1 "Stage 1.",
    0x0d0 (5) COMBINER2 "Stage 2.",
    0x0d8 (5) COMBINER3 "Stage 3.",
    0x0e0 FOG_MODE "\\[2:0\\] 0 off, 5 fog, 7 gas; \\[3\\] depth density of gas; combiner buffer updates \\[15:8\\]; flip \\[16\\].",
    0x0e1 FOG_COLOR "r, g, b from the lowest byte.",
    0x0e4 GAS_ATTENUATION "Factor of the density for gas's opacity, float16 (3dbrew).",
    0x0e5 GAS_MAXIMUM "One over gas's greatest density, float16 (3dbrew, citro3d).",
    0x0e6 FOG_LUT_PORT "Index \\[15:0\\] mod 128.",
    0x0e8 [8] FOG_LUT_DATA "Data port.",
    0x0f0 (5) COMBINER4 "Stage 4.",
    0x0f8 (5) COMBINER5 "Stage 5.",
    0x0fd COMBINER_BUFFER "Initial combiner buffer r, g, b, a.",
    0x100 FRAGMENT_MODE "\\[1:0\\] 0 normal, 1 gas, 3 shadow; \\[8\\] 1 blend, 0 logic op.",
    0x101 BLENDING "Equations \\[2:0\\] \\[10:8\\], factors \\[19:16\\] \\[23:20\\] \\[27:24\\] \\[31:28\\].",
    0x102 LOGIC_OP "\\[3:0\\].",
    0x103 BLEND_CONSTANT "r, g, b, a.",
    0x104 ALPHA_TEST "\\[0\\] on, function \\[6:4\\], reference \\[15:8\\].",
    0x105 STENCIL_TEST "\\[0\\] on, function \\[6:4\\], write mask \\[15:8\\], reference \\[23:16\\], input mask \\[31:24\\].",
    0x106 STENCIL_ACTIONS "Stencil fails \\[2:0\\], depth fails \\[6:4\\], both pass \\[10:8\\].",
    0x107 DEPTH_TEST "\\[0\\] on, function \\[6:4\\], write r g b a \\[11:8\\], write depth \\[12\\].",
    0x112 COLOR_READ "Colour read permission.",
    0x113 COLOR_WRITE "\\[3:0\\] colour write permission.",
    0x114 DEPTH_READ "Depth and stencil read permission.",
    0x115 DEPTH_WRITE "\\[1:0\\] depth and stencil write permission.",
    0x116 DEPTH_FORMAT "\\[1:0\\] 0 D16, 2 D24, 3 D24S8.",
    0x117 COLOR_FORMAT "\\[18:16\\] 0 RGBA8, 1 RGB8, 2 RGB5A1, 3 RGB565, 4 RGBA4.",
    0x118 EARLY_DEPTH_ENABLE "\\[0\\] early depth test, with 062 (3dbrew).",
    0x11c DEPTH_ADDRESS "Address / 8.",
    0x11d COLOR_ADDRESS "Address / 8.",
    0x11e FRAMEBUFFER_SIZE "Width \\[10:0\\], height - 1 \\[21:12\\].",
    0x120 GAS_PLANAR "Gas's planar light: least, most, attenuation, a byte each (3dbrew).",
    0x121 GAS_VIEW "Gas's light along the view: the same.",
    0x122 GAS_COLOR "\\[7:0\\] share of 121, \\[8\\] colours by 0 density, 1 light (3dbrew).",
    0x123 GAS_LUT_PORT "Index mod 16 of gas's colour table (3dbrew).",
    0x124 GAS_LUT_DATA "Data port.",
    0x126 GAS_DEPTH "\\[23:0\\] factor of gas's distance, fixed point of 8 bits; \\[25:24\\] gas depth function (3dbrew).",
    0x130 SHADOW "Constant \\[15:0\\], linear \\[31:16\\], float16.",
    0x140 [8] (16) LIGHT "Colours, position, spot direction, configuration, attenuation.",
    0x1c0 LIGHT_AMBIENT "Global ambient.",
    0x1c2 LIGHT_COUNT "Number of lights - 1.",
    0x1c3 LIGHT_CONFIG "Shadow, Fresnel, configuration, bump, clamping.",
    0x1c4 LIGHT_DISABLE "Bits that turn shadows, spots, tables and attenuation off.",
    0x1c5 LIGHT_LUT_PORT "Index \\[7:0\\], table \\[12:8\\].",
    0x1c6 LIGHTING_DISABLE "\\[0\\] lighting off.",
    0x1c8 [8] LIGHT_LUT_DATA "Data port.",
    0x1d0 LIGHT_LUT_SIGNED "Index is signed, a nibble per table.",
    0x1d1 LIGHT_LUT_INPUT "Index input, a nibble per table.",
    0x1d2 LIGHT_LUT_SCALE "Scale, a nibble per table.",
    0x1d9 LIGHT_ORDER "Light number of slot i \\[4i+2:4i\\].",
    0x200 ATTRIBUTE_BASE "Vertex base address / 8; bit 0 ignored.",
    0x201 ATTRIBUTE_FORMATS "Attribute i: type \\[4i+1:4i\\], elements - 1 \\[4i+3:4i+2\\].",
    0x202 ATTRIBUTE_FORMATS_HIGH "The same for 8 to 11; fixed mask \\[27:16\\], attributes - 1 \\[31:28\\].",
    0x203 [12] (3) LOADER "Offset from base \\[27:0\\]; components; components \\[15:0\\], stride \\[23:16\\], count \\[31:28\\].",
    0x227 INDEX_ARRAY "Offset from base \\[27:0\\], \\[31\\] 16-bit indices.",
    0x228 VERTEX_COUNT "Vertices of a draw.",
    0x229 GEOMETRY_STAGE "\\[1:0\\] 2 on; \\[31\\] variable primitives.",
    0x22a FIRST_VERTEX "First vertex; not for indexed draws.",
    0x22e DRAW_ARRAYS "Any write draws.",
    0x22f DRAW_INDEXED "Any write draws.",
    0x232 FIXED_ATTRIBUTE "Fixed attribute number \\[3:0\\]; 15 immediate mode.",
    0x233 [3] FIXED_ATTRIBUTE_DATA "Three words per attribute.",
    0x238 [2] LIST_SIZE "Bytes / 8 of a list channel.",
    0x23a [2] LIST_ADDRESS "Address / 8 of a list channel.",
    0x23c [2] LIST_JUMP "Any write goes on in the channel's list.",
    0x242 IMMEDIATE_COUNT "\\[3:0\\] immediate mode: attributes per vertex - 1.",
    0x244 GEOMETRY_EXCLUSIVE "\\[0\\] the geometry unit is configured separately.",
    0x245 DRAWING "\\[0\\] 0 while drawing.",
    0x24a VERTEX_OUTPUTS "\\[3:0\\] outputs of the vertex unit - 1.",
    0x251 VERTEX_OUTPUTS_COPY "\\[3:0\\] the same.",
    0x252 GEOMETRY_MODE "\\[7:0\\] 0 point, 1 variable, 2 fixed; vertices - 1 \\[11:8\\]; attributes - 1 \\[15:12\\]; first uniform \\[23:16\\].",
    0x254 VARIABLE_MAIN "\\[4:0\\] variable mode: main vertices - 1.",
    0x25e PRIMITIVES "Topology \\[9:8\\] 0 list, 1 strip, 2 fan, 3 geometry; a write empties the primitive buffer.",
    0x25f RESTART "Any write empties the primitive buffer.",
    0x280 GEOMETRY_BOOLS "\\[15:0\\] b0 to b15.",
    0x281 [4] GEOMETRY_INTS "x, y, z, w bytes of i0 to i3.",
    0x289 GEOMETRY_INPUTS "Inputs - 1 \\[3:0\\], input to uniforms \\[15:8\\], unit \\[31:24\\].",
    0x28a GEOMETRY_ENTRY "\\[15:0\\] word address.",
    0x28b [2] GEOMETRY_PERMUTATION "Register of attribute i, a nibble each.",
    0x28d GEOMETRY_OUTPUT_MASK "\\[15:0\\].",
    0x290 GEOMETRY_UNIFORM_PORT "Index \\[6:0\\], \\[31\\] words are f32.",
    0x291 [8] GEOMETRY_UNIFORM_DATA "Data port.",
    0x29b GEOMETRY_CODE_PORT "Index.",
    0x29c [8] GEOMETRY_CODE_DATA "Data port.",
    0x2a5 GEOMETRY_DESCRIPTOR_PORT "Index.",
    0x2a6 [8] GEOMETRY_DESCRIPTOR_DATA "Data port.",
    0x2b0 VERTEX_BOOLS "\\[15:0\\] b0 to b15.",
    0x2b1 [4] VERTEX_INTS "x, y, z, w bytes of i0 to i3.",
    0x2b9 VERTEX_INPUTS "Inputs - 1 \\[3:0\\], unit \\[31:24\\].",
    0x2ba VERTEX_ENTRY "\\[15:0\\] word address.",
    0x2bb [2] VERTEX_PERMUTATION "Register of attribute i, a nibble each.",
    0x2bd VERTEX_OUTPUT_MASK "\\[15:0\\].",
    0x2c0 VERTEX_UNIFORM_PORT "Index \\[6:0\\], \\[31\\] words are f32.",
    0x2c1 [8] VERTEX_UNIFORM_DATA "Data port.",
    0x2cb VERTEX_CODE_PORT "Index.",
    0x2cc [8] VERTEX_CODE_DATA "Data port.",
    0x2d5 VERTEX_DESCRIPTOR_PORT "Index.",
    0x2d6 [8] VERTEX_DESCRIPTOR_DATA "Data port.",
}
