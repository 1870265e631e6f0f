//! Random control-flow graphs, IR and guest programs for tests, fuzzing and benchmarks.

pub mod cfg;
pub mod ir;
pub mod lanes;
pub mod maxwell;
pub mod memory;
pub mod mips;
pub mod pica;
pub mod pica_ref;
pub mod property;
pub mod rng;
pub mod skip;
pub mod warps;

pub use skip::skip;
