//! What a naive implementation gets wrong, shown by pixels: each test draws a picture that protects a rule.
//!
//! Rules of single functions (the clipper, matrices, textures, interpolation) have their tests beside them.

mod edges;
mod finish;
mod geometry;
mod picture;
mod pixels;
