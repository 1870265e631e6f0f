//! The triangle draw coordinator: fetches indices, asks for vertices, sets triangles up and hands them to the
//! rasteriser.

use super::external::Raster;
use super::triangle::{Setup, Triangle, Vertex};
use super::vertex_cache::VertexCache;
use super::vpu::Vpu;
use crate::event::{Activity, Event, NEVER};
use crate::machine::Shared;
use crate::memory::{BURST, Direction};
use crate::params::Params;
use crate::unit::Unit;
use serde::{Deserialize, Serialize};

/// What a draw is told.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct DrawJob {
    pub setup: Setup,
    pub indices: u32,
    pub triangles: u16,
    pub sig: u32,
    /// When it was started.
    pub start: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum State {
    /// Needs the next index.
    Index,
    /// Waits for the burst with the next index.
    Fetch { done: u64 },
    /// Waits for the vertex cache.
    Vertex,
    /// Sets the triangle up.
    Setup { done: u64 },
    /// Has a triangle for the rasteriser.
    Hand,
}

/// The coordinator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Draw {
    job: Option<DrawJob>,
    state: State,
    triangle: u16,
    corner: usize,
    vertices: [Vertex; 3],
    /// The triangle that is set up.
    ready: Option<Triangle>,
    /// The burst of indices it has.
    burst: Option<u32>,
}

/// What a finished draw was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn {
    pub bin: [u16; 2],
    pub start: u64,
}

impl Draw {
    pub fn new() -> Draw {
        let vertices = [Vertex::default(); 3];
        Draw { job: None, state: State::Index, triangle: 0, corner: 0, vertices, ready: None, burst: None }
    }

    pub fn is_idle(&self) -> bool {
        self.job.is_none()
    }

    /// Whether this state is valid for `params` in tick `now`.
    pub fn is_sound(&self, params: &Params, now: u64) -> bool {
        let corners = match self.state {
            State::Index | State::Fetch { .. } | State::Vertex => 0..=2,
            State::Setup { .. } | State::Hand => 3..=3,
        };
        corners.contains(&self.corner)
            && self.vertices.iter().all(Vertex::is_sound)
            && self.ready.iter().all(|t| t.setup.is_sound(params))
            && self.job.is_none_or(|job| {
                job.setup.is_sound(params) && self.triangle <= job.triangles && job.start <= now
            })
    }

    pub fn start(&mut self, job: DrawJob) {
        *self = Draw { job: Some(job), ..Draw::new() };
    }

    pub fn describe(&self) -> String {
        match &self.job {
            None => "idle".into(),
            Some(job) => format!("triangle {} of {}, corner {}", self.triangle, job.triangles, self.corner),
        }
    }

    fn index_address(&self, job: &DrawJob) -> u32 {
        job.indices.wrapping_add(u32::from(self.triangle) * 6 + self.corner as u32 * 2)
    }

    fn next_triangle(&mut self) {
        self.triangle += 1;
        self.corner = 0;
        self.state = State::Index;
    }

    pub fn tick(
        &mut self,
        shared: &mut Shared,
        cache: &mut VertexCache,
        raster: &mut Raster,
        vpus: &[Vpu],
    ) -> (Activity, Option<Drawn>) {
        let Some(job) = self.job else { return (Activity::IDLE, None) };
        let instant = shared.params.instant.triangle_draw;
        while self.triangle < job.triangles {
            let activity = self.step(&job, shared, cache, raster);
            // An instant unit goes on until it waits for another one.
            if !instant || activity.until == NEVER {
                return (activity, None);
            }
        }
        if !raster.is_idle() || vpus.iter().any(|v| !v.is_idle()) {
            return (Activity::blocked(Event::Drain), None);
        }
        shared.sig |= job.sig;
        self.job = None;
        let drawn = Drawn { bin: job.setup.bin, start: job.start };
        (Activity::busy(Event::Tick, shared.now), Some(drawn))
    }

    fn step(
        &mut self,
        job: &DrawJob,
        shared: &mut Shared,
        cache: &mut VertexCache,
        raster: &mut Raster,
    ) -> Activity {
        let now = shared.now;
        let instant = shared.params.instant.triangle_draw;
        match &mut self.state {
            State::Index => {
                let address = self.index_address(job);
                if self.burst == Some(address / BURST) {
                    let index = u16::from_le_bytes(shared.memory.read(address & !1, &mut shared.faults));
                    cache.ask(index);
                    self.state = State::Vertex;
                    return Activity::busy(Event::Tick, now);
                }
                let burst = address & !(BURST - 1);
                let done = shared.access(Unit::Draw, Direction::Read, burst, BURST);
                self.state = State::Fetch { done };
                Activity::busy(Event::MemRead, now)
            }
            State::Fetch { done } if !instant && now < *done => Activity::until(Event::MemRead, *done),
            State::Fetch { .. } => {
                self.burst = Some(self.index_address(job) / BURST);
                self.state = State::Index;
                Activity::busy(Event::MemRead, now)
            }
            State::Vertex => {
                let Some(vertex) = cache.answer() else { return Activity::blocked(Event::VtxWait) };
                self.vertices[self.corner] = vertex;
                self.corner += 1;
                self.state = match self.corner {
                    3 if instant => State::Setup { done: now },
                    3 => State::Setup { done: now + u64::from(shared.params.raster.setup) },
                    _ => State::Index,
                };
                Activity::busy(Event::Tick, now)
            }
            State::Setup { done } if !instant && now < *done => Activity::until(Event::SetupTri, *done),
            State::Setup { .. } => {
                self.ready = Triangle::new(job.setup, self.vertices);
                match self.ready {
                    Some(_) => self.state = State::Hand,
                    None => self.next_triangle(),
                }
                Activity::busy(Event::SetupTri, now)
            }
            State::Hand => {
                if !raster.offer(&mut self.ready) {
                    return Activity::blocked(Event::QueueFull);
                }
                self.next_triangle();
                Activity::busy(Event::Tick, now)
            }
        }
    }
}
