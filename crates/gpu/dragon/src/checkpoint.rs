//! A machine as bytes, to go on later or elsewhere exactly as if it had never stopped.
//!
//! A checkpoint is a capture file (`docs/xgc.md`) of the machine [`MACHINE`]: the memory as a block, then operations with
//! the state of all units, the trace recorded so far, and what the host wants to find again. States are those of one
//! [`VERSION`]. What is read may be anything: sizes are bounded by the parameters' limits, and a state that the machine
//! cannot be in is refused.
//!
//! ```
//! use xenoglot_dragon::command::{Command, sig};
//! use xenoglot_dragon::{Machine, Params, checkpoint};
//!
//! let mut machine = Machine::new(Params::default())?;
//! machine.push(Command::ExecFillTileBuffer { tile: 0, sig: sig::CLEAR_TILE }.encode());
//! machine.tick();
//! let bytes = checkpoint::save(&machine, &"frame 1")?;
//! let (mut copy, host): (Machine, String) = checkpoint::load(&bytes)?;
//! assert_eq!((copy.drain()?, host.as_str()), (machine.drain()?, "frame 1"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::control::Control;
use crate::event::{Event, SCHEMA};
use crate::machine::{Machine, Shared, Units};
use crate::params::ParamError;
use crate::unit::vpu::Vpu;
use crate::unit::{UNITS, Unit};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use xenoglot_capture::{Block, Capture, FIRST_MACHINE_OP, Info, Limits};
use xenoglot_trace::{Inconsistent, Recorder, Trace};

/// The capture's machine.
pub const MACHINE: [u8; 4] = *b"DRGN";
/// Version of the state's layout. Others are refused.
pub const VERSION: u32 = 4;

/// Operation: version, then the state but for memory and trace.
pub const STATE: u32 = FIRST_MACHINE_OP;
/// Operation: the trace recorded so far, if there is one.
pub const TRACE: u32 = FIRST_MACHINE_OP + 1;
/// Operation: what the host added.
pub const HOST: u32 = FIRST_MACHINE_OP + 2;

/// Bytes of a checkpoint, unpacked: memory, state, trace and what the host added.
const MAX_BYTES: u64 = 512 << 20;
/// Bytes of the state, which unpacks to at most 20 times as many. The largest parameters need a third of it.
const MAX_STATE: usize = 8 << 20;
/// Ticks after which no checkpoint is read any more: 1400 years of the default clock.
const MAX_NOW: u64 = 1 << 62;

/// Why bytes are no checkpoint, or a machine has none.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// The file is damaged or no capture.
    #[error(transparent)]
    Container(#[from] xenoglot_capture::Error),
    /// A capture of another machine.
    #[error("a capture of {}, not a checkpoint", .0.escape_ascii())]
    Machine([u8; 4]),
    /// Another version of the state.
    #[error("a checkpoint of version {0}; this program has version {VERSION}")]
    Version(u32),
    /// An operation that is missing.
    #[error("there is no {0}")]
    Missing(&'static str),
    /// Bytes that are not what they should be.
    #[error("{what}: {error}")]
    Contents {
        /// Which operation.
        what: &'static str,
        /// What is wrong.
        error: postcard::Error,
    },
    /// Parameters that are not possible.
    #[error(transparent)]
    Params(#[from] ParamError),
    /// A state that a machine with these parameters cannot be in.
    #[error("the state of {0} is impossible")]
    State(&'static str),
    /// A trace that does not fit.
    #[error(transparent)]
    Trace(#[from] Inconsistent),
    /// A model from outside without a state.
    #[error("the model in the place of {0} cannot be saved")]
    Model(&'static str),
    /// More bytes than are allowed.
    #[error("{0} is too large")]
    TooLarge(&'static str),
}

/// All that is neither memory nor trace.
#[derive(Deserialize)]
struct State {
    shared: Shared,
    control: Control,
    units: Units,
    events: Vec<Event>,
    skip: bool,
    skipped: u64,
}

/// As [`State`], borrowed.
#[derive(Serialize)]
struct StateRef<'a> {
    shared: &'a Shared,
    control: &'a Control,
    units: &'a Units,
    events: &'a [Event],
    skip: bool,
    skipped: u64,
}

/// The machine's checkpoint, and with it what the host wants to find again: `&()` for nothing. Fragments that
/// [`Machine::log_fragments`] keeps are not in it.
///
/// # Errors
/// A model from outside that cannot be saved, or what the host gives cannot be.
pub fn save(machine: &Machine, host: &impl Serialize) -> Result<Vec<u8>, CheckpointError> {
    let Machine { shared, control, units, events, recorder, skip, skipped } = machine;
    if let Some(unit) = machine.unsavable() {
        return Err(CheckpointError::Model(unit));
    }
    let state = StateRef { shared, control, units, events, skip: *skip, skipped: *skipped };
    let creator = concat!("xenoglot-dragon ", env!("CARGO_PKG_VERSION")).to_owned();
    let title = format!("Dragon at tick {}", shared.now);
    let mut capture = Capture::new(MACHINE, Info { title, creator, ..Info::default() });
    capture.memory.push(Block { address: 0, bytes: shared.memory.bytes().to_vec() });
    capture.ops.push(STATE, &[&to_bytes("state", &(VERSION, state))?]);
    if let Some(recorder) = recorder {
        capture.ops.push(TRACE, &[&to_bytes("trace", &recorder.clone().finish())?]);
    }
    capture.ops.push(HOST, &[&to_bytes("host", host)?]);
    Ok(capture.to_bytes())
}

fn to_bytes(what: &'static str, value: &impl Serialize) -> Result<Vec<u8>, CheckpointError> {
    postcard::to_stdvec(value).map_err(|error| CheckpointError::Contents { what, error })
}

fn from_bytes<T: DeserializeOwned>(what: &'static str, bytes: &[u8]) -> Result<T, CheckpointError> {
    postcard::from_bytes(bytes).map_err(|error| CheckpointError::Contents { what, error })
}

/// The machine and what the host added.
///
/// # Errors
/// Bytes that [`save`] did not write, or that were changed.
pub fn load<H: DeserializeOwned>(bytes: &[u8]) -> Result<(Machine, H), CheckpointError> {
    let mut capture = Capture::from_bytes(bytes, &Limits { bytes: MAX_BYTES })?;
    if capture.machine != MACHINE {
        return Err(CheckpointError::Machine(capture.machine));
    }
    let memory = match (capture.memory.pop(), capture.memory.is_empty()) {
        (Some(Block { address: 0, bytes }), true) => bytes,
        _ => return Err(CheckpointError::Missing("memory")),
    };
    let payload = |kind| capture.ops.iter().find(|op| op.kind == kind).map(|op| op.payload);
    let state = payload(STATE).ok_or(CheckpointError::Missing("state"))?;
    let trace = payload(TRACE).map(|bytes| from_bytes("trace", bytes)).transpose()?;
    let host = from_bytes("host", payload(HOST).ok_or(CheckpointError::Missing("host"))?)?;
    Ok((machine(state, memory, trace)?, host))
}

fn machine(state: &[u8], memory: Vec<u8>, trace: Option<Trace>) -> Result<Machine, CheckpointError> {
    if state.len() > MAX_STATE {
        return Err(CheckpointError::TooLarge("state"));
    }
    let contents = |error| CheckpointError::Contents { what: "state", error };
    let (version, state): (u32, _) = postcard::take_from_bytes(state).map_err(contents)?;
    if version != VERSION {
        return Err(CheckpointError::Version(version));
    }
    let State { shared, control, units, events, skip, skipped } = from_bytes("state", state)?;
    let mut machine = Machine { shared, control, units, events, recorder: None, skip, skipped };
    machine.shared.params.check()?;
    machine.check(memory)?;
    if let Some(trace) = trace {
        if trace.ticks > machine.now() {
            return Err(CheckpointError::State("the trace"));
        }
        let (tracks, counters) = machine.trace_names();
        let clock = machine.params().clock_hz;
        machine.recorder = Some(Recorder::resume(&SCHEMA, clock, &tracks, &counters, trace)?);
    }
    Ok(machine)
}

impl Machine {
    /// Puts back the memory and checks what units rely on, the parameters being possible.
    fn check(&mut self, memory: Vec<u8>) -> Result<(), CheckpointError> {
        let Shared { params, now, memory: sdram, tiles, .. } = &mut self.shared;
        let (now, units) = (*now, &self.units);
        let size = params.bin_size;
        // The FIFO and the signals are the command processor's, memory and program the units'.
        let sound = [
            ("time", now <= MAX_NOW && self.skipped <= now),
            ("the memory", sdram.restore(memory, params, now)),
            ("the tile buffers", tiles.is_sound(size)),
            ("the command processor", self.control.is_sound(params)),
            (
                "the VPUs",
                units.vpus.len() == params.vpus as usize
                    && (0..).zip(&units.vpus).all(|(n, v)| Vpu::is_sound(v, params, n)),
            ),
            ("the draw coordinator", units.draw.is_sound(params, now)),
            ("the rasteriser", units.raster.is_sound(params)),
            ("the tile buffer store", units.store.is_sound(Unit::Store, size, now)),
            ("the tile buffer load", units.load.is_sound(Unit::Load, size, now)),
            ("the vertex cache", units.vertex_cache.is_sound(params)),
            ("the texture unit", units.textures.is_sound(params)),
            ("the tracks", self.events.len() == UNITS.len() + units.vpus.len()),
        ];
        match sound.iter().find(|(_, sound)| !sound) {
            Some((part, _)) => Err(CheckpointError::State(part)),
            None => Ok(()),
        }
    }
}
