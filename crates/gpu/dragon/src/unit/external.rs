//! Units replaced by an external model: the machine's state for them, and how it interprets the model's answers.

use super::raster::{self, Rasterizer};
use super::tile;
use super::triangle::Triangle;
use super::vpu::Vpu;
use crate::cosim::{AttachError, Config, FillInput, FillModel, FillOutput, MAX_PIXELS};
use crate::cosim::{RasterInput, RasterModel, RasterOutput, Slot};
use crate::event::{Activity, Event};
use crate::machine::{Faults, Shared};
use crate::params::Params;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Triangles a rasteriser can have at a time.
const MAX_TRIANGLES: usize = 64;

/// What a model's answer says of its tick. Where something was handed over, either way, others may act in the next one.
fn activity(event: u32, until: u64, handed: bool, shared: &mut Shared) -> Activity {
    let event = Event::ALL.get(event as usize).copied().unwrap_or_else(|| {
        shared.faults |= Faults::MODEL;
        Event::Tick
    });
    let next = shared.now + 1;
    Activity::until(event, if handed { next } else { until.max(next) })
}

/// The rasteriser: the machine's own, or the wrapper around a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "a machine has one, and it is the large one")]
pub(crate) enum Raster {
    Own(Rasterizer),
    External(ExternalRaster),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ExternalRaster {
    slot: Slot<RasterInput, RasterOutput>,
    /// Whether the model takes another triangle.
    ready: bool,
    /// The triangle that the model gets in its next tick.
    handed: Option<Triangle>,
    /// Those it has, the oldest first.
    triangles: VecDeque<Triangle>,
}

impl Raster {
    pub fn attach(&mut self, model: Box<RasterModel>, config: &Config) -> Result<(), AttachError> {
        match self {
            Raster::External(unit) if unit.is_idle() || unit.slot.has_state() => {
                unit.slot.attach(model, config)
            }
            Raster::Own(own) if own.is_idle() => {
                let (mut slot, triangles) = (Slot::empty(), VecDeque::new());
                slot.attach(model, config)?;
                let unit = ExternalRaster { slot, ready: true, handed: None, triangles };
                *self = Raster::External(unit);
                Ok(())
            }
            _ => Err(AttachError::Busy),
        }
    }

    /// Whether this state is valid for `params`.
    pub fn is_sound(&self, params: &Params) -> bool {
        match self {
            Raster::Own(own) => own.is_sound(params),
            Raster::External(unit) => {
                let all = unit.triangles.iter().chain(&unit.handed);
                unit.triangles.len() <= MAX_TRIANGLES && all.into_iter().all(|t| t.setup.is_sound(params))
            }
        }
    }

    pub fn is_savable(&self) -> bool {
        match self {
            Raster::Own(_) => true,
            Raster::External(unit) => unit.slot.is_savable(),
        }
    }

    pub fn is_idle(&self) -> bool {
        match self {
            Raster::Own(own) => own.is_idle(),
            Raster::External(unit) => unit.is_idle(),
        }
    }

    pub fn describe(&self) -> String {
        match self {
            Raster::Own(own) => own.describe(),
            Raster::External(unit) => {
                let triangles = unit.triangles.len() + usize::from(unit.handed.is_some());
                format!("{triangles} triangles, {:?}", unit.slot)
            }
        }
    }

    /// Takes a triangle, if there is room for one that waits.
    pub fn offer(&mut self, triangle: &mut Option<Triangle>) -> bool {
        match self {
            Raster::Own(own) => own.offer(triangle),
            Raster::External(unit) => {
                let room = unit.ready && unit.handed.is_none();
                if room {
                    unit.handed = triangle.take();
                }
                room
            }
        }
    }

    pub fn tick(&mut self, shared: &mut Shared, vpus: &mut [Vpu]) -> Activity {
        match self {
            Raster::Own(own) => own.tick(shared, vpus),
            Raster::External(unit) => unit.tick(shared, vpus),
        }
    }
}

impl ExternalRaster {
    fn is_idle(&self) -> bool {
        self.handed.is_none() && self.triangles.is_empty()
    }

    fn tick(&mut self, shared: &mut Shared, vpus: &mut [Vpu]) -> Activity {
        let mut input = RasterInput { now: shared.now, ..RasterInput::default() };
        if let Some(triangle) = &self.handed {
            input.valid = 1;
            (input.first, input.last) = (triangle.first, triangle.last);
            input.edges = triangle.edges;
        }
        input.room.iter_mut().zip(vpus.iter()).for_each(|(room, vpu)| *room = vpu.queue.room());
        let Some(output) = self.slot.tick(&input) else {
            return if self.is_idle() { Activity::IDLE } else { Activity::blocked(Event::QueueFull) };
        };
        self.triangles.extend(self.handed.take());
        let count = output.count as usize;
        let mut sound = count <= MAX_PIXELS;
        for pixel in &output.pixels[..count.min(MAX_PIXELS)] {
            let at = [pixel.x.into(), pixel.y.into()];
            sound &= self.triangles.front().is_some_and(|t| raster::hand_on(t, at, shared, vpus));
        }
        if output.finished != 0 {
            sound &= self.triangles.pop_front().is_some();
        }
        if !sound {
            shared.faults |= Faults::MODEL;
        }
        let ready = output.ready != 0 && self.triangles.len() < MAX_TRIANGLES;
        let handed = input.valid != 0 || count != 0 || output.finished != 0 || ready != self.ready;
        self.ready = ready;
        activity(output.event, output.until, handed, shared)
    }
}

/// The tile buffer fill: the machine's own, or the wrapper around a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Fill {
    Own(tile::Fill),
    External(ExternalFill),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ExternalFill {
    slot: Slot<FillInput, FillOutput>,
    job: Option<FillJob>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct FillJob {
    tile: u8,
    value: u32,
    sig: u32,
    /// Whether the model knows of it.
    started: bool,
}

impl Fill {
    pub fn attach(&mut self, model: Box<FillModel>, config: &Config) -> Result<(), AttachError> {
        match self {
            Fill::External(unit) if unit.job.is_none() || unit.slot.has_state() => {
                unit.slot.attach(model, config)
            }
            Fill::Own(own) if own.is_idle() => {
                let mut slot = Slot::empty();
                slot.attach(model, config)?;
                *self = Fill::External(ExternalFill { slot, job: None });
                Ok(())
            }
            _ => Err(AttachError::Busy),
        }
    }

    pub fn is_savable(&self) -> bool {
        match self {
            Fill::Own(_) => true,
            Fill::External(unit) => unit.slot.is_savable(),
        }
    }

    pub fn is_idle(&self) -> bool {
        match self {
            Fill::Own(own) => own.is_idle(),
            Fill::External(unit) => unit.job.is_none(),
        }
    }

    pub fn describe(&self) -> String {
        match self {
            Fill::Own(own) => own.describe(),
            Fill::External(unit) => match unit.job {
                Some(job) => format!("tile buffer {}, {:?}", job.tile, unit.slot),
                None => format!("idle, {:?}", unit.slot),
            },
        }
    }

    pub fn start(&mut self, tile: u8, value: u32, sig: u32, shared: &Shared) {
        match self {
            Fill::Own(own) => own.start(tile, value, sig, shared),
            Fill::External(unit) => unit.job = Some(FillJob { tile, value, sig, started: false }),
        }
    }

    pub fn tick(&mut self, shared: &mut Shared) -> Activity {
        match self {
            Fill::Own(own) => own.tick(shared),
            Fill::External(unit) => unit.tick(shared),
        }
    }
}

impl ExternalFill {
    fn tick(&mut self, shared: &mut Shared) -> Activity {
        let pixels = shared.tiles.size * shared.tiles.size;
        let valid = self.job.is_some_and(|job| !job.started).into();
        let Some(output) = self.slot.tick(&FillInput { now: shared.now, valid, pixels }) else {
            return if self.job.is_none() { Activity::IDLE } else { Activity::blocked(Event::QueueFull) };
        };
        let mut sound = output.count == 0 && output.finished == 0;
        if let Some(job) = &mut self.job {
            job.started = true;
            sound = shared.tiles.fill(job.tile, output.first, output.count, job.value);
            if output.finished != 0 {
                shared.sig |= job.sig;
                self.job = None;
            }
        }
        if !sound {
            shared.faults |= Faults::MODEL;
        }
        let handed = valid != 0 || output.count != 0 || output.finished != 0;
        activity(output.event, output.until, handed, shared)
    }
}
