//! The operations a shader calls as `dx.op.*`, by number.
