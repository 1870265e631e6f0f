//! Dragon: a fantasy console's tiled, programmable GPU of about 1997, as a cycle-approximate simulator.
//!
//! [`Machine`] has a command FIFO, units that tick in a fixed order, four tile buffers, an SDRAM with a timing model,
//! and VPUs that run programs of [`xenoglot_vpu`]. Each unit reports an [`Event`] each tick; [`Machine::take_trace`]
//! gives them as an [`xenoglot_trace::Trace`]. What is known of the original and what this project decided is listed in
//! `docs/dragon.md`.
//!
//! * [`command`] is what a host writes, [`params`] what can be changed, [`memory`] the SDRAM.
//! * `control` is the command processor, `unit` has the others, a file each.
//! * [`checkpoint`] is a machine as bytes.
//! * [`profile`] has counters that take time to keep.
//! * [`cosim`] puts models from outside in the place of units.
//! * [`debug`] has breakpoints.
//! * [`host`] is what a program on the console's CPU does: models, binning, frames, pictures, sweeps.
//!
//! The core owns only the machine's memory and does no I/O. Whatever a guest writes, it neither panics nor runs for
//! ever: faults are bits ([`Faults`]), endless waits an error ([`EndlessWait`]).
//!
//! ```
//! use xenoglot_dragon::command::{Command, sig};
//! use xenoglot_dragon::{Machine, Params};
//!
//! let mut machine = Machine::new(Params::default())?;
//! let writes = [
//!     Command::SetFillTileBufferValue(0, 0xf800),
//!     Command::ExecFillTileBuffer { tile: 0, sig: sig::CLEAR_TILE },
//!     Command::SigWait(sig::CLEAR_TILE),
//! ]
//! .map(Command::encode);
//! let ticks = machine.run(&writes)?;
//! assert_eq!(machine.tile_pixel(0, 31, 31), Some(0xf800));
//! assert!(ticks > 64); // 16 pixels a tick
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

pub mod checkpoint;
pub mod command;
mod control;
pub mod cosim;
pub mod debug;
mod event;
pub mod host;
mod machine;
pub mod memory;
pub mod params;
pub mod profile;
mod sdram;
mod unit;
mod wait;

pub use event::{Event, SCHEMA};
pub use machine::{Faults, FragmentStart, Machine};
pub use params::{ParamError, Params};
pub use unit::{LINKS, UNITS};
pub use wait::{EndlessWait, Reason, UnitState};
#[cfg(feature = "pica")]
pub use xenoglot_pica;
pub use {xenoglot_capture, xenoglot_trace, xenoglot_vpu};
