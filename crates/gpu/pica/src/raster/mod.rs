//! The pixel half of the GPU.
