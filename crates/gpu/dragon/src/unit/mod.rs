//! The units, a file each: what a unit does in a tick. A unit sees nothing of the others but its arguments.

pub(crate) mod draw;
pub(crate) mod external;
pub(crate) mod fragment;
pub(crate) mod raster;
pub(crate) mod simple;
pub(crate) mod texture;
pub(crate) mod tile;
pub(crate) mod triangle;
pub(crate) mod vertex_cache;
pub(crate) mod vpu;

macro_rules! units {
    ($($unit:ident $name:literal,)+) => {
        /// A unit other than a VPU. Its discriminant is its track; those of VPUs follow.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Unit { $(#[doc = $name] $unit,)+ }

        impl Unit {
            /// Every unit, in the order of the tracks.
            pub const ALL: &[Unit] = &[$(Unit::$unit),+];

            /// The name in traces and breakpoints.
            pub const fn name(self) -> &'static str {
                match self { $(Unit::$unit => $name),+ }
            }
        }

        /// Units other than VPUs, in the order of the tracks; VPUs follow.
        pub const UNITS: [&str; Unit::ALL.len()] = [$($name),+];
    };
}

units! {
    Command "command",
    ProgramLoad "vpu_program_load",
    Draw "triangle_draw",
    VertexCache "vertex_cache",
    Raster "rasterizer",
    Texture "texture",
    Fill "tile_buffer_fill",
    Store "tile_buffer_store",
    Load "tile_buffer_load",
    WriteGlobal "write_vpu_global",
}

macro_rules! vpus {
    ($($name:literal)+) => {
        /// The names of VPUs in traces and breakpoints.
        pub(crate) const VPU_NAMES: [&str; 8] = [$($name),+];
        /// The names of the counters of their queues.
        pub(crate) const QUEUE_NAMES: [&str; 8] = [$(concat!($name, " queue")),+];
        /// Units from the end of the pipeline to its start, for [`xenoglot_trace::report::report`].
        pub const PIPELINE: [&str; 14] = [
            $($name,)+
            Unit::Raster.name(),
            Unit::Draw.name(),
            Unit::VertexCache.name(),
            Unit::Fill.name(),
            Unit::Store.name(),
            Unit::Command.name(),
        ];
    };
}

vpus! { "vpu0" "vpu1" "vpu2" "vpu3" "vpu4" "vpu5" "vpu6" "vpu7" }
