//! Optimisation passes over the IR, one file each, and the pass list.
//!
//! A pass is a file with one public function `run` and a header that shows before and after in the text form. Most take a
//! function ([`Work`]); those that give a module functions, memory or variables ([`add_position`], [`legalize`], [`lower_draw_parameters`], [`lower_floats`],
//! [`lower_float64`], [`lower_int64`], [`lower_narrow`], [`lower_signed_atomics`],
//! [`lower_subgroups`], [`lower_wide_atomics`]) take the module and what the host [lacks](Lacks). [`pipeline`] is the list of them, in the order
//! in which they run. What passes may assume about an instruction beyond the op table is in [`effects`].
//!
//! Nothing here knows a guest machine or a host language. A pass keeps a verified function verified and its results
//! the same bit for bit (NaN payloads apart), faults and out-of-bounds accesses included; but for [`relax`], which is there
//! to change them and runs only where asked for.
//!
//! ```
//! use xenoglot_ir::text::{Limits, parse};
//! use xenoglot_opt::pipeline::Verify;
//! use xenoglot_opt::{Context, Options, optimize};
//!
//! let mut module = parse(
//!     r#"module compute "square" {
//!   entry func @main(v0 : i32) -> i32 {
//!     slot r0 : i32
//!   block0:
//!     slot_set r0, v0
//!     v1 : i32 = slot_get r0
//!     v2 : i32 = const 1
//!     v3 : i32 = imul v1, v2
//!     return v3
//!   }
//! }"#,
//!     &Limits::default(),
//! )?;
//! optimize(&mut module, &mut Context::new(), &Options::default(), &mut Verify)?;
//! assert!(module.to_string().contains("return v0"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

pub mod add_position;
pub mod block_params;
pub mod branch_fold;
pub mod bypass;
pub mod combine_samplers;
pub mod constant_fold;
pub mod context;
pub mod copy_propagate;
pub mod cse;
pub mod dead_code;
mod edit;
pub mod effects;
pub mod flatten;
pub mod inline_calls;
pub mod join_components;
mod lacks;
pub mod legalize;
pub mod licm;
pub mod lower_absent;
pub mod lower_derivatives;
pub mod lower_draw_parameters;
pub mod lower_float64;
pub mod lower_floats;
pub mod lower_helpers;
pub mod lower_int64;
pub mod lower_invocations;
pub mod lower_levels;
pub mod lower_memory;
pub mod lower_narrow;
pub mod lower_signed_atomics;
pub mod lower_subgroups;
pub mod lower_texel_buffers;
pub mod lower_texture_lines;
pub mod lower_wide_atomics;
pub mod pipeline;
pub mod promote;
pub mod quads;
pub mod relax;
pub mod scalarize;
pub mod separate_bindings;
pub mod separate_comparisons;
pub mod separate_samplers;
pub mod session;
pub mod simplify;
pub mod split_arrays;
pub mod temporaries;

pub use context::Context;
pub use lacks::Lacks;
pub use pipeline::{Options, PASSES, Pass, PassKind, optimize, optimize_function};
pub use session::{Session, Work};
pub use xenoglot_ir::analysis::Changed;

/// Counts the changes of what all passes share: the pass list, and what edits functions and knows of them. Passes have
/// versions of their own ([`Pass::version`]). Both are part of a cache's keys.
pub const VERSION: u16 = 20;
