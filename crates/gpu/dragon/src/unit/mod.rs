//! The units, a file each: what a unit does in a tick. A unit sees nothing of the others but its arguments.

pub(crate) mod draw;
pub(crate) mod fragment;
pub(crate) mod raster;
pub(crate) mod simple;
pub(crate) mod texture;
pub(crate) mod tile;
pub(crate) mod triangle;
pub(crate) mod vertex_cache;
pub(crate) mod vpu;

use xenoglot_trace::path::Links;

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
        /// Who waits for whom, for [`xenoglot_trace::path::critical`]. The command processor ends a run.
        pub const LINKS: Links = Links {
            last: Unit::Command.name(),
            waits: &[
                (Unit::Command.name(), "GPUWait", STARTED),
                (Unit::Command.name(), "UnitBusy", STARTED),
                (Unit::Draw.name(), "VtxWait", &[Unit::VertexCache.name()]),
                (Unit::Draw.name(), "QueueFull", &[Unit::Raster.name()]),
                (Unit::Draw.name(), "Drain", &[$($name,)+ Unit::Raster.name()]),
                (Unit::Raster.name(), "QueueFull", &[$($name),+]),
                $(($name, "TexWait", &[Unit::Texture.name()]),)+
            ],
            feeds: &[
                (Unit::ProgramLoad.name(), &[Unit::Command.name()]),
                (Unit::Draw.name(), &[Unit::Command.name()]),
                (Unit::Fill.name(), &[Unit::Command.name()]),
                (Unit::Store.name(), &[Unit::Command.name()]),
                (Unit::Load.name(), &[Unit::Command.name()]),
                (Unit::WriteGlobal.name(), &[Unit::Command.name()]),
                (Unit::VertexCache.name(), &[Unit::Draw.name()]),
                (Unit::Raster.name(), &[Unit::Draw.name()]),
                (Unit::Texture.name(), &[$($name),+]),
                $(($name, &[Unit::Raster.name()]),)+
            ],
            groups: &[$(($name, "vpus")),+],
        };
    };
}

/// Units that commands start, and that raise signals.
const STARTED: &[&str] = &[
    Unit::Draw.name(),
    Unit::Store.name(),
    Unit::Load.name(),
    Unit::Fill.name(),
    Unit::ProgramLoad.name(),
    Unit::WriteGlobal.name(),
];

vpus! { "vpu0" "vpu1" "vpu2" "vpu3" "vpu4" "vpu5" "vpu6" "vpu7" }
