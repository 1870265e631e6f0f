//! Bindings of what a lifted shader uses, all in the descriptor set that the options name.

/// Storage buffer of global memory.
pub const GLOBAL_BINDING: u32 = 0;

/// Uniform buffer of scales that [`scale_textures`](super::scale_textures) reads.
pub const SCALE_BINDING: u32 = 1;

/// The words of a draw, of a shader that [`stage_to_compute`](super::stage_to_compute) made; the next four are its buffers.
pub const DRAW_BINDING: u32 = 2;

/// Attributes of vertices, or the vertices before the stage.
pub const ATTRIBUTES_BINDING: u32 = 3;

/// The vertices of primitives.
pub const PRIMITIVES_BINDING: u32 = 4;

/// The vertices that come out.
pub const VERTICES_BINDING: u32 = 5;

/// How many vertices each invocation made.
pub const COUNTS_BINDING: u32 = 6;

/// Bytes of a constant bank as it is declared.
pub const BANK_SIZE: u32 = 0x1_0000;

/// Constant banks an instruction can name.
pub const BANKS: u8 = 32;

/// Uniform buffer of a constant bank.
pub const fn bank_binding(bank: u32) -> u32 {
    16 + bank
}

/// Where shaders put out the viewports that a vertex's primitive goes to, on hosts without such masks.
pub const MASK_LOCATION: u32 = 29;

/// Where shaders put a vertex's layer out on hosts where only geometry shaders have such outputs.
pub const LAYER_LOCATION: u32 = 30;

/// Where they put its viewport out there.
pub const VIEWPORT_LOCATION: u32 = 31;

/// The first texture; others follow in the order of their first use.
pub const TEXTURE_BINDING: u32 = 64;

/// The first image; others follow in the order of their first use.
pub const IMAGE_BINDING: u32 = 192;

/// The first storage buffer that [`bind_storage`](super::bind_storage) makes; others follow in the order of their first use.
pub const STORAGE_BINDING: u32 = 320;

/// Most textures, most images and most storage buffers.
pub const MAX_RESOURCES: u32 = 128;
