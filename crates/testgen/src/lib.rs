//! Random control-flow graphs, IR and guest programs for tests, fuzzing and benchmarks.
//!
//! ```
//! use xenoglot_testgen::ir::{Options, count_ops, generate};
//!
//! // The same seed always gives the same module, and every module is verified IR.
//! let module = generate(7, &Options::default());
//! xenoglot_ir::verify(&module)?;
//! assert!(!count_ops(&module).is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod archive;
pub mod cfg;
pub mod debian;
pub mod dxil;
pub mod ir;
pub mod lanes;
pub mod maxwell;
pub mod memory;
pub mod mips;
pub mod pica;
pub mod pica_ref;
pub mod pictures;
pub mod property;
pub mod rng;
pub mod skip;
#[cfg(feature = "spirv-tools")]
pub mod spirv_tools;
pub mod warps;

pub use skip::skip;
