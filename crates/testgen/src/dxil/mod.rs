//! Random compute shaders of Direct3D 12: as DXIL, and what they compute.
//!
//! A random one ([`Shader`]) is a tree of statements: branches, loops, switches with cases that go on in the next one, breaks,
//! memory of the group with barriers and atomics, waves in flow that diverges, integers of 16, 32 and 64 bits, floats of 16
//! and 32, vectors. It is run as such ([`run`]) and written as bitcode ([`bitcode`]), for which no compiler is needed.
//! [`Growth`] makes shaders of any size.
//!
//! ```
//! use xenoglot_testgen::dxil::{INPUT_WORDS, Shader, bitcode, run};
//! use xenoglot_testgen::rng::Rng;
//!
//! let shader = Shader::random(&mut Rng::new(7));
//! assert!(bitcode(&shader).starts_with(b"BC"));
//! let written = run(&shader, &[1; INPUT_WORDS as usize], 8);
//! assert!(written.iter().any(|&word| word != 0));
//! ```

mod bits;
mod emit;
mod eval;
mod growth;
pub mod module;
mod shader;
mod write;

pub use emit::bitcode;
pub use eval::run;
pub use growth::Growth;
pub use shader::{INPUT_WORDS, OUTPUT_WORDS, Shader, THREADS};
