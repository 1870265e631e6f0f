//! What a host lacks.

use crate::{legalize, lower_absent, lower_floats, lower_levels, lower_narrow};

/// What a host lacks, so that passes make it of what the host has. The default lacks nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Lacks {
    /// Accesses of less than 32 bits, atomics that wrap at a bound, and float atomics: made of words and loops.
    pub narrow_memory: bool,
    /// 64-bit atomics on shared memory: done under a lock.
    pub shared_int64_atomics: bool,
    /// Signed least and greatest in memory: loops of compare-exchange.
    pub signed_atomics: bool,
    /// Float arithmetic as the IR asks for it.
    pub floats: lower_floats::Options,
    /// Arithmetic that the ops and flags of the IR ask for.
    pub arithmetic: legalize::Options,
    /// Integers and floats of less than 32 bits: made of 32-bit ones.
    pub narrow: lower_narrow::Options,
    /// 64-bit integers: made of pairs of 32-bit ones.
    pub int64: bool,
    /// Vertex shaders that write no position.
    pub vertex_without_position: bool,
    /// Features without a substitute that the shader can do without.
    pub absent: lower_absent::Options,
    /// The base vertex, the first instance and the index of a draw: read from a uniform buffer.
    pub draw_parameters: bool,
    /// Textures that come with their sampler.
    pub combined_samplers: bool,
    /// Textures that have no sampler of their own.
    pub separate_samplers: bool,
    /// Buffers of texels: made of storage buffers.
    pub texel_buffers: bool,
    /// Textures and images of one dimension: made of two-dimensional ones of height 1.
    pub texture_lines: bool,
    /// Levels of detail that are asked for or bounded, and offsets of gathers.
    pub levels: lower_levels::Options,
    /// Derivatives in compute shaders: made of exchanges within quads.
    pub compute_derivatives: bool,
    /// Whether an invocation of a fragment shader is a helper: it remembers.
    pub helpers: bool,
    /// Several resources at a binding: all but the first are moved.
    pub shared_bindings: bool,
    /// Arrays of buffers: made of so many single ones. `None`, or 0, leaves them as they are.
    pub buffer_arrays: Option<u32>,
    /// Arrays of textures, samplers and images without bound: they get as many elements as those of buffers.
    pub unbounded_arrays: bool,
    /// Several variables at a location, and variables that do not begin at its first component.
    pub location_components: bool,
    /// Subgroups as wide as the guest's: what lanes tell each other goes through shared memory where the guest's width is
    /// another than this, the host's in lanes. 0 if the host's width is not known, so that all of it does; `None` leaves
    /// ops on subgroups as they are. Graphics stages have no shared memory: there the host's subgroups stand in for the
    /// guest's.
    pub subgroups: Option<u8>,
    /// Exchanges within quads of fragment shaders: made of derivatives.
    pub quads: bool,
    /// Numbers of workgroups and of the invocations in them: computed from the invocation in the dispatch.
    pub invocations: bool,
    /// Calls: functions are put in their place.
    pub calls: bool,
}

impl Lacks {
    /// A host that lacks all there is to lack, but has doubles and subgroups of 8 lanes: for tests of everything that passes make.
    pub const ALL: Lacks = Lacks {
        narrow_memory: true,
        shared_int64_atomics: true,
        signed_atomics: true,
        floats: lower_floats::Options {
            directed: true,
            fma: true,
            fma64: true,
            doubles: true,
            zeros: true,
            float64: false,
            quotients: true,
            halves: true,
        },
        narrow: lower_narrow::Options { ints: true, halves: true },
        arithmetic: legalize::Options::ALL,
        int64: true,
        vertex_without_position: true,
        absent: lower_absent::Options::ALL,
        draw_parameters: true,
        combined_samplers: true,
        separate_samplers: false,
        texel_buffers: true,
        texture_lines: true,
        levels: lower_levels::Options::ALL,
        compute_derivatives: true,
        helpers: true,
        shared_bindings: true,
        buffer_arrays: Some(8),
        unbounded_arrays: true,
        location_components: true,
        subgroups: Some(8),
        quads: true,
        invocations: true,
        calls: true,
    };
}
