//! The units, a file each: what one does in a tick, and nothing of the others but what it is handed.

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
