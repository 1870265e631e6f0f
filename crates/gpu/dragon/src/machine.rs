//! The machine: units, signals and time.

use crate::command::Write;
use crate::control::Control;
use crate::cosim::Replaceable;
use crate::event::{Activity, Event, NEVER, SCHEMA};
use crate::memory::{Direction, Sdram};
use crate::params::{ParamError, Params};
use crate::profile::Profile;
use crate::unit::draw::{Draw, DrawOthers};
use crate::unit::raster::Rasterizer;
use crate::unit::simple::{ProgramLoad, WriteGlobal};
use crate::unit::texture::TextureUnit;
use crate::unit::tile::{Fill, Tiles, Transfer};
use crate::unit::vertex_cache::VertexCache;
use crate::unit::vpu::Vpu;
use crate::unit::{QUEUE_NAMES, UNITS, Unit, VPU_NAMES};
use crate::wait::{EndlessWait, Reason, UnitState};
use bitflags::bitflags;
use serde::{Deserialize, Serialize};
use xenoglot_trace::{Recorder, Trace};
use xenoglot_vpu::number::Lanes;
use xenoglot_vpu::{Program, REGISTERS, TILE_BUFFERS};

bitflags! {
    /// What a guest did wrong. Bits stay until [`Machine::clear_faults`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(from = "u32", into = "u32")]
    pub struct Faults: u32 {
        /// A write to a register that does not exist; it was ignored.
        const REGISTER = 1;
        /// A value without a meaning; the write was ignored.
        const VALUE = 1 << 1;
        /// A thread reached a word that is no instruction; it ended.
        const INSTRUCTION = 1 << 2;
        /// An access outside memory; it read zeros or wrote nothing.
        const MEMORY = 1 << 3;
        /// A model from outside ([`cosim`](crate::cosim)) did what its unit cannot do; that was dropped.
        const MODEL = 1 << 4;
    }
}

/// Bits without a meaning are dropped.
impl From<u32> for Faults {
    fn from(bits: u32) -> Faults {
        Faults::from_bits_truncate(bits)
    }
}

impl From<Faults> for u32 {
    fn from(faults: Faults) -> u32 {
        faults.bits()
    }
}

/// What units share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Shared {
    pub params: Params,
    /// The tick that runs, or comes next.
    pub now: u64,
    pub sig: u32,
    pub faults: Faults,
    pub memory: Sdram,
    pub tiles: Tiles,
    pub program: Program,
    /// Programs that were loaded so far, modulo 2 to the 32.
    pub loads: u32,
    pub globals: [Lanes; REGISTERS],
    /// Which tile buffers programs mean.
    pub targets: [u8; TILE_BUFFERS],
    /// Fragments that were queued, if they are wanted.
    #[serde(skip)]
    pub fragments: Option<Vec<FragmentStart>>,
    /// Counters that take time to keep, if they are wanted.
    #[serde(skip)]
    pub profile: Option<Box<Profile>>,
}

impl Shared {
    /// Starts an access of a unit; gives the tick in which it is done.
    pub fn access(&mut self, unit: Unit, direction: Direction, address: u32, bytes: u32) -> u64 {
        self.memory.access(unit, self.now, direction, address, bytes)
    }
}

/// What a thread starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentStart {
    /// Pixel of the tile buffer, from the left.
    pub x: u32,
    /// Pixel of the tile buffer, from the top.
    pub y: u32,
    /// Registers: r0 is the position on the screen, rn attribute n.
    pub registers: [Lanes; REGISTERS],
}

/// The units that a command can start, and the units that these feed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Units {
    pub vpus: Vec<Vpu>,
    pub program_load: ProgramLoad,
    pub draw: Draw,
    pub raster: Rasterizer,
    pub store: Transfer,
    pub load: Transfer,
    pub fill: Fill,
    pub write_global: WriteGlobal,
    pub vertex_cache: VertexCache,
    pub textures: TextureUnit,
}

/// Counters before the queues of the VPUs. Rates are those of the run so far.
const COUNTERS: [&str; 10] = [
    "FIFO depth",
    "active threads",
    "vertex cache hits, %",
    "texture cache hits, %",
    "vpu_program_load bytes",
    "triangle_draw bytes",
    "vertex_cache bytes",
    "texture bytes",
    "tile_buffer_store bytes",
    "tile_buffer_load bytes",
];
/// The units whose bytes are counted, in the order of their counters.
const MOVERS: [Unit; 6] =
    [Unit::ProgramLoad, Unit::Draw, Unit::VertexCache, Unit::Texture, Unit::Store, Unit::Load];

/// The machine. It owns its memory; the host writes data there, pushes register writes and lets it run. Copies go on as the
/// original would, but for models from outside ([`cosim`](crate::cosim)), which have to be attached anew.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(crate) shared: Shared,
    pub(crate) control: Control,
    pub(crate) units: Units,
    /// What each track did in the last tick.
    pub(crate) events: Vec<Event>,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) skip: bool,
    /// Ticks that were not run one by one.
    pub(crate) skipped: u64,
}

impl Machine {
    /// A machine at tick 0 with empty memory.
    ///
    /// # Errors
    /// Parameters that are not possible.
    pub fn new(params: Params) -> Result<Machine, ParamError> {
        params.check()?;
        let units = Units {
            vpus: (0..params.vpus as u8).map(|n| Vpu::new(&params, n)).collect(),
            program_load: ProgramLoad::default(),
            draw: Draw::new(),
            raster: Rasterizer::default(),
            store: Transfer::new(Unit::Store),
            load: Transfer::new(Unit::Load),
            fill: Fill::default(),
            write_global: WriteGlobal::default(),
            vertex_cache: VertexCache::new(params.vertex_cache),
            textures: TextureUnit::new(&params),
        };
        let events = vec![Event::GenericIdle; UNITS.len() + units.vpus.len()];
        let shared = Shared {
            now: 0,
            sig: 0,
            faults: Faults::empty(),
            memory: Sdram::new(&params),
            tiles: Tiles::new(params.bin_size),
            program: Program::default(),
            loads: 0,
            globals: Default::default(),
            targets: [0, 1, 2, 3],
            fragments: None,
            profile: None,
            params,
        };
        let control = Control::new(shared.params.fifo);
        Ok(Machine { shared, control, units, events, recorder: None, skip: true, skipped: 0 })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.shared.params
    }

    /// The memory.
    pub fn memory(&self) -> &Sdram {
        &self.shared.memory
    }

    /// The memory, for the host to write.
    pub fn memory_mut(&mut self) -> &mut Sdram {
        &mut self.shared.memory
    }

    /// Ticks so far; they run on from frame to frame.
    pub fn now(&self) -> u64 {
        self.shared.now
    }

    /// Ticks so far that were skipped because every unit's wait was known.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Signals that the command processor waits for, raised or not.
    pub fn waiting(&self) -> u32 {
        self.control.waiting()
    }

    /// Signals that are raised.
    pub fn signals(&self) -> u32 {
        self.shared.sig
    }

    /// What went wrong since the last [`Machine::clear_faults`].
    pub fn faults(&self) -> Faults {
        self.shared.faults
    }

    /// Forgets what went wrong.
    pub fn clear_faults(&mut self) {
        self.shared.faults = Faults::empty();
    }

    /// A pixel of a tile buffer as its word; `None` outside.
    pub fn tile_pixel(&self, tile: u8, x: u32, y: u32) -> Option<u32> {
        let size = self.shared.params.bin_size;
        let inside = usize::from(tile) < TILE_BUFFERS && x < size && y < size;
        inside.then(|| self.shared.tiles.word(tile, (y * size + x) as u16))
    }

    /// Whether waits that are known are skipped instead of ticked. What comes of a run is the same.
    pub fn set_skipping(&mut self, skip: bool) {
        self.skip = skip;
    }

    /// Keeps what every thread starts with from now on, in the order of the rasteriser.
    pub fn log_fragments(&mut self) {
        self.shared.fragments = Some(Vec::new());
    }

    /// What [`Machine::log_fragments`] kept; nothing is kept any more.
    pub fn take_fragments(&mut self) -> Vec<FragmentStart> {
        self.shared.fragments.take().unwrap_or_default()
    }

    /// Keeps counters that take time from now on. They are no part of checkpoints.
    pub fn start_profile(&mut self) {
        let (vpus, size) = (self.units.vpus.len(), self.shared.params.bin_size);
        self.shared.profile = Some(Box::new(Profile::new(vpus, size, &self.shared.program)));
    }

    /// What was counted since [`Machine::start_profile`].
    pub fn profile(&self) -> Option<&Profile> {
        self.shared.profile.as_deref()
    }

    /// Hits and misses of the vertex cache, and of the texture cache.
    pub fn cache_counts(&self) -> [[u64; 2]; 2] {
        let Units { vertex_cache, textures, .. } = &self.units;
        [[vertex_cache.hits, vertex_cache.misses], [textures.hits, textures.misses]]
    }

    /// Records what units do from the next tick on, in a trace whose tick 0 that is.
    pub fn start_trace(&mut self) {
        let (tracks, counters) = self.trace_names();
        self.recorder = Some(Recorder::new(&SCHEMA, self.shared.params.clock_hz, &tracks, &counters));
    }

    /// Whether what units do is recorded.
    pub fn is_traced(&self) -> bool {
        self.recorder.is_some()
    }

    /// What is over of what was recorded since the last call, or since [`Machine::start_trace`]; recording goes on. For
    /// runs whose trace would not fit in memory.
    pub fn take_trace_part(&mut self) -> Option<Trace> {
        self.recorder.as_mut().map(Recorder::part)
    }

    /// What was recorded since [`Machine::start_trace`], or the last [`Machine::take_trace_part`].
    pub fn take_trace(&mut self) -> Option<Trace> {
        self.recorder.take().map(Recorder::finish)
    }

    /// Tracks and counters.
    pub(crate) fn trace_names(&self) -> (Vec<&'static str>, Vec<&'static str>) {
        let queues = &QUEUE_NAMES[..self.units.vpus.len()];
        (self.track_names(), COUNTERS.iter().chain(queues).copied().collect())
    }

    fn track_names(&self) -> Vec<&'static str> {
        UNITS.iter().chain(&VPU_NAMES[..self.units.vpus.len()]).copied().collect()
    }

    /// Units that tick.
    pub fn unit_count(&self) -> usize {
        self.events.len()
    }

    /// Each unit's name and what it did in the last tick.
    pub fn activity(&self) -> impl Iterator<Item = (&'static str, Event)> + use<'_> {
        self.track_names().into_iter().zip(self.events.iter().copied())
    }

    /// Each unit's name, what it did in the last tick, and what it holds.
    pub fn units(&self) -> Vec<UnitState> {
        let state = |(track, (name, event))| UnitState { name, event, state: self.describe(track) };
        self.activity().enumerate().map(state).collect()
    }

    /// Words of the program that VPUs issued in the last tick.
    pub fn issued(&self) -> impl Iterator<Item = u16> + use<'_> {
        let events = &self.events[UNITS.len()..];
        let issued = events.iter().zip(&self.units.vpus).filter(|(event, _)| **event == Event::Exec);
        issued.map(|(_, vpu)| vpu.issued)
    }

    /// The register write that the command processor took in the last tick.
    pub fn taken(&self) -> Option<Write> {
        (self.events[Unit::Command as usize] == Event::GPUProcessCommand).then(|| self.control.taken())
    }

    /// Puts a register write into the FIFO; `false` if it is full.
    pub fn push(&mut self, write: Write) -> bool {
        self.control.push(write)
    }

    /// Whether the FIFO is empty and the command processor does not wait: the original's end of a frame.
    pub fn is_done(&self) -> bool {
        self.control.is_done()
    }

    /// Whether nothing is under way either.
    pub fn is_idle(&self) -> bool {
        self.units.vpus.iter().all(Vpu::is_idle) && Unit::ALL.iter().all(|&unit| self.is_unit_idle(unit))
    }

    /// Whether a unit has nothing under way.
    fn is_unit_idle(&self, unit: Unit) -> bool {
        let units = &self.units;
        match unit {
            Unit::Command => self.is_done(),
            Unit::ProgramLoad => units.program_load.is_idle(),
            Unit::Draw => units.draw.is_idle(),
            // Only the draw coordinator asks it, and is busy until it has the answer.
            Unit::VertexCache => true,
            Unit::Raster => units.raster.is_idle(),
            Unit::Texture => units.textures.is_idle(),
            Unit::Fill => units.fill.is_idle(),
            Unit::Store => units.store.is_idle(),
            Unit::Load => units.load.is_idle(),
            Unit::WriteGlobal => units.write_global.is_idle(),
        }
    }

    /// One tick of every unit, in the original's order; gives the tick before which nothing else happens.
    pub fn tick(&mut self) -> u64 {
        let (shared, units) = (&mut self.shared, &mut self.units);
        let mut until = NEVER;
        let events = &mut self.events;
        let mut note = |track: usize, activity: Activity| {
            events[track] = activity.event;
            until = until.min(activity.until);
        };
        for (n, vpu) in units.vpus.iter_mut().enumerate() {
            note(UNITS.len() + n, vpu.tick(shared, &mut units.textures));
        }
        note(Unit::ProgramLoad as usize, units.program_load.tick(shared, &mut ()));
        let Units { vertex_cache: cache, raster, vpus, .. } = units;
        let mut others = DrawOthers { cache, raster, vpus, drawn: None };
        note(Unit::Draw as usize, units.draw.tick(shared, &mut others));
        let drawn = others.drawn;
        note(Unit::Raster as usize, units.raster.tick(shared, &mut units.vpus));
        note(Unit::Store as usize, units.store.tick(shared, &mut ()));
        note(Unit::Fill as usize, units.fill.tick(shared, &mut ()));
        note(Unit::Load as usize, units.load.tick(shared, &mut ()));
        note(Unit::WriteGlobal as usize, units.write_global.tick(shared, &mut ()));
        note(Unit::VertexCache as usize, units.vertex_cache.tick(shared, &mut ()));
        note(Unit::Texture as usize, units.textures.tick(shared, &mut units.vpus));
        note(Unit::Command as usize, self.control.tick(shared, units));
        if let Some(recorder) = &mut self.recorder {
            for (track, &event) in self.events.iter().enumerate() {
                recorder.event(track, event as u16, 1);
            }
            count(recorder, &self.control, &self.shared, &self.units);
            recorder.advance(1);
            if let Some(drawn) = drawn {
                let start = recorder.now().saturating_sub(self.shared.now + 1 - drawn.start);
                recorder.phase(format!("bin {},{}", drawn.bin[0], drawn.bin[1]), start);
            }
        }
        if let Some(profile) = &mut self.shared.profile {
            profile.pass(1, self.units.vpus.iter().map(Vpu::threads));
            if let Some(drawn) = drawn {
                profile.drawn(drawn.bin, self.shared.now + 1 - drawn.start);
            }
        }
        self.shared.now += 1;
        until
    }

    /// Advances by `ticks` ticks during which nothing changes.
    fn pass(&mut self, ticks: u64) {
        if let Some(recorder) = &mut self.recorder {
            for (track, &event) in self.events.iter().enumerate() {
                recorder.event(track, event as u16, ticks);
            }
            // The host may have filled the FIFO since the last tick.
            count(recorder, &self.control, &self.shared, &self.units);
            recorder.advance(ticks);
        }
        if let Some(profile) = &mut self.shared.profile {
            profile.pass(ticks, self.units.vpus.iter().map(Vpu::threads));
        }
        self.shared.now += ticks;
        self.skipped += ticks;
    }

    /// Feeds register writes to the FIFO as there is room and runs until all are taken and the command processor does
    /// not wait. Gives the ticks that took.
    ///
    /// # Errors
    /// A wait that nothing can end, or that is not over after the parameters' limit of ticks.
    pub fn run(&mut self, writes: &[Write]) -> Result<u64, EndlessWait> {
        let start = self.shared.now;
        self.run_while(&mut &*writes, NEVER, |machine| !machine.is_done(), |_| false)?;
        Ok(self.shared.now - start)
    }

    /// As [`Machine::run`], but pauses before tick `before`, and after a tick that `stop` says to stop after. Writes
    /// that are taken are removed from `writes`, so that the same call goes on. Gives whether the run is over. `stop`
    /// does not see ticks that are skipped; in those nothing happens.
    ///
    /// # Errors
    /// As [`Machine::run`]; the limit of ticks counts from this call.
    pub fn run_until(
        &mut self,
        writes: &mut &[Write],
        before: u64,
        stop: impl FnMut(&Machine) -> bool,
    ) -> Result<bool, EndlessWait> {
        self.run_while(writes, before, |machine| !machine.is_done(), stop)?;
        Ok(self.is_done())
    }

    /// Runs until nothing is under way any more.
    ///
    /// # Errors
    /// As [`Machine::run`].
    pub fn drain(&mut self) -> Result<u64, EndlessWait> {
        let start = self.shared.now;
        self.run_while(&mut &[][..], NEVER, |machine| !machine.is_idle(), |_| false)?;
        Ok(self.shared.now - start)
    }

    fn run_while(
        &mut self,
        writes: &mut &[Write],
        before: u64,
        more: impl Fn(&Machine) -> bool,
        mut stop: impl FnMut(&Machine) -> bool,
    ) -> Result<(), EndlessWait> {
        let start = self.shared.now;
        let limit = self.shared.params.tick_limit;
        let mut feed = |control: &mut Control| {
            while !control.is_full()
                && let Some((&write, rest)) = writes.split_first()
            {
                control.push(write);
                *writes = rest;
            }
        };
        feed(&mut self.control);
        while more(self) && self.shared.now < before {
            let passed = self.shared.now - start;
            if passed >= limit {
                return Err(self.endless(Reason::Limit(limit)));
            }
            let until = self.tick();
            feed(&mut self.control);
            if stop(self) {
                break;
            }
            if until == NEVER && more(self) {
                return Err(self.endless(Reason::Stuck));
            }
            let known = until.min(before).saturating_sub(self.shared.now);
            let known = known.min(limit.saturating_sub(passed + 1));
            if self.skip && until != NEVER && known > 0 {
                self.pass(known);
            }
        }
        Ok(())
    }

    fn endless(&self, reason: Reason) -> EndlessWait {
        EndlessWait {
            reason,
            tick: self.shared.now,
            signals: self.shared.sig,
            mask: self.control.waiting(),
            units: self.units(),
        }
    }

    /// What the unit of a track holds.
    fn describe(&self, track: usize) -> String {
        let units = &self.units;
        let Some(&unit) = Unit::ALL.get(track) else {
            return units.vpus.get(track - UNITS.len()).map_or_else(String::new, Vpu::describe);
        };
        match unit {
            Unit::Command => self.control.describe(),
            Unit::Draw => units.draw.describe(),
            Unit::VertexCache => units.vertex_cache.describe(),
            Unit::Raster => units.raster.describe(),
            Unit::Fill => units.fill.describe(),
            Unit::Store => units.store.describe(),
            Unit::Load => units.load.describe(),
            Unit::ProgramLoad | Unit::Texture | Unit::WriteGlobal => {
                (if self.is_unit_idle(unit) { "idle" } else { "busy" }).to_owned()
            }
        }
    }
}

fn count(recorder: &mut Recorder, control: &Control, shared: &Shared, units: &Units) {
    recorder.count(0, control.depth() as i64);
    recorder.count(1, units.vpus.iter().map(|v| i64::from(v.threads())).sum());
    let percent = |hits: u64, misses: u64| {
        let all = hits + misses;
        // Before anything is wanted nothing is missed.
        (100 * hits).checked_div(all).unwrap_or(100) as i64
    };
    recorder.count(2, percent(units.vertex_cache.hits, units.vertex_cache.misses));
    recorder.count(3, percent(units.textures.hits, units.textures.misses));
    let ports = shared.memory.ports();
    for (n, unit) in (4..).zip(MOVERS) {
        let moved = ports.get(unit as usize).map_or(0, |port| port.read + port.written);
        recorder.count(n, moved as i64);
    }
    for (n, vpu) in units.vpus.iter().enumerate() {
        recorder.count(COUNTERS.len() + n, vpu.queue.len() as i64);
    }
}
