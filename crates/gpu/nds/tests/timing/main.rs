//! Time: what commands of the geometry engine take, and rows that are not drawn in time.

mod geometry;
mod rows;
