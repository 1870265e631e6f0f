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
