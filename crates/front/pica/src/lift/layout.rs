//! Where the lifted program finds its uniforms, inputs and state in buffers. All offsets are in bytes, all words
//! little-endian.
//!
//! Vector registers that a program does not name are neither loaded from nor stored to its state record: they stay
//! as the caller left them, which is zero in a fresh record.

/// Binding of the uniform buffer (set 0).
pub const UNIFORM_BINDING: u32 = 0;
/// Binding of the compute wrapper's inputs (set 0).
pub const INPUT_BINDING: u32 = 1;
/// Binding of the compute wrapper's state (set 0).
pub const STATE_BINDING: u32 = 2;
/// Binding of the geometry events (set 0).
pub const EVENT_BINDING: u32 = 3;

/// The uniform buffer: c0 to c95 as four f32 each.
pub const UNIFORM_FLOATS: u32 = 0;
/// The uniform buffer: four times 1.0, which is what float uniforms read that do not exist.
pub const UNIFORM_ONES: u32 = 96 * 16;
/// The uniform buffer: i0 to i3, each x, y, z, w as four u32.
pub const UNIFORM_INTS: u32 = UNIFORM_ONES + 16;
/// The uniform buffer: b0 to b15 as bits of a u32.
pub const UNIFORM_BOOLS: u32 = UNIFORM_INTS + 4 * 16;
/// The uniform buffer: a word of zero bits, for [`hide_zeros`](super::hide_zeros).
pub const UNIFORM_ZERO: u32 = UNIFORM_BOOLS + 4;
/// Size of the uniform buffer.
pub const UNIFORM_SIZE: u32 = UNIFORM_BOOLS + 16;

/// The uniform buffer of registers: c0 to c95 and i0 to i3, x, y, z, w each, as far as there are any (the rest is zero),
/// and b0 to b15.
pub fn uniform_buffer(
    floats: impl IntoIterator<Item = u32>,
    ints: impl IntoIterator<Item = u8>,
    bools: u16,
) -> [u8; UNIFORM_SIZE as usize] {
    let mut buffer = [0; UNIFORM_SIZE as usize];
    let mut set = |from: u32, to: u32, words: &mut dyn Iterator<Item = u32>| {
        let place = &mut buffer[from as usize..to as usize];
        for (place, word) in place.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    };
    set(UNIFORM_FLOATS, UNIFORM_ONES, &mut floats.into_iter());
    set(UNIFORM_ONES, UNIFORM_INTS, &mut [1.0f32.to_bits(); 4].into_iter());
    set(UNIFORM_INTS, UNIFORM_BOOLS, &mut ints.into_iter().map(u32::from));
    set(UNIFORM_BOOLS, UNIFORM_ZERO, &mut [bools.into()].into_iter());
    buffer
}

/// Bytes of inputs per invocation: v0 to v15, unless they are packed.
pub const INPUT_STRIDE: u32 = 16 * 16;

/// Bytes per invocation of the packed registers of a set, bit n for register n.
pub const fn packed_stride(set: u16) -> u32 {
    16 * set.count_ones()
}

/// Where register `n` (0–15) lies among the packed registers of a set: the lowest one comes first.
pub const fn packed_place(set: u16, n: u8) -> u32 {
    packed_stride(set & ((1 << (n & 15)) - 1))
}

/// State record: o0 to o15, of the current bank.
pub const STATE_OUTPUTS: u32 = 0;
/// State record: r0 to r15.
pub const STATE_TEMPS: u32 = 256;
/// State record: a0.x, a0.y, aL as i32, then the condition flags (bit 0 x, bit 1 y).
pub const STATE_ADDRESS: u32 = 512;
/// State record: instructions executed (0 unless counted), primitives stored, EMITs executed, one word unused.
pub const STATE_COUNTERS: u32 = 528;
/// Bytes of state per invocation of a vertex program.
pub const VERTEX_STATE_STRIDE: u32 = 544;
/// State record of a geometry program: the other output bank.
pub const STATE_OTHER_BANK: u32 = 544;
/// State record of a geometry program: the three emitter buffers, 16 registers each; loaded and stored by persistent
/// wrappers only.
pub const STATE_EMITTER: u32 = 800;
/// State record of a geometry program: what SETEMIT set: vertex, primitive, winding; one word unused.
pub const STATE_SETEMIT: u32 = 1568;
/// Bytes of state per invocation of a geometry program.
pub const GEOMETRY_STATE_STRIDE: u32 = 1584;

/// Event record: the pool of emitted vertices, o0 to o15 each; registers outside the output mask are not written. Slots
/// 0 to 2 are what the emitter held before, slot 3 + n is the n-th EMIT's vertex.
pub const EVENT_VERTICES: u32 = 0;
/// Bytes per vertex of the pool.
pub const VERTEX_STRIDE: u32 = 256;
/// Slots of the pool before the first EMIT's.
pub const POOL_SLOTS_BEFORE: u32 = 3;
/// Bytes per primitive: 1 if the winding of the triangle is reversed, then the pool slots of its vertices.
pub const PRIMITIVE_STRIDE: u32 = 16;

/// Event record: the primitives of an invocation that may EMIT `capacity` times.
pub const fn event_primitives(capacity: u32) -> u32 {
    capacity.saturating_add(POOL_SLOTS_BEFORE).saturating_mul(VERTEX_STRIDE)
}

/// Bytes of events per invocation that may EMIT `capacity` times.
pub const fn event_stride(capacity: u32) -> u32 {
    event_primitives(capacity).saturating_add(capacity.saturating_mul(PRIMITIVE_STRIDE))
}
