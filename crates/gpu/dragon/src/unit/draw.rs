//! The triangle draw coordinator: fetches indices, asks for vertices, sets triangles up and hands them to the
//! rasteriser.

use super::raster::Rasterizer;
use super::triangle::{Setup, Triangle, Vertex};
use super::vertex_cache::VertexCache;
use super::vpu::Vpu;
use crate::cosim::{BURST_BYTES, DrawInput, DrawOutput, Outcome, Replaceable, Seam};
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
    seam: Seam<DrawInput, DrawOutput>,
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
        Draw {
            job: None,
            state: State::Index,
            triangle: 0,
            corner: 0,
            vertices,
            ready: None,
            burst: None,
            seam: Seam::default(),
        }
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
        let seam = std::mem::take(&mut self.seam);
        *self = Draw { job: Some(job), seam, ..Draw::new() };
    }

    pub fn describe(&self) -> String {
        match &self.job {
            _ if self.seam.is_external() => {
                let job = if self.job.is_some() { "a draw" } else { "idle" };
                job.to_owned() + self.seam.describe()
            }
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

    fn step(
        &mut self,
        job: &DrawJob,
        shared: &mut Shared,
        cache: &mut VertexCache,
        raster: &mut Rasterizer,
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

/// What the coordinator reaches of other units.
pub(crate) struct DrawOthers<'a> {
    pub cache: &'a mut VertexCache,
    pub raster: &'a mut Rasterizer,
    pub vpus: &'a [Vpu],
    /// The draw that is finished in this tick.
    pub drawn: Option<Drawn>,
}

impl DrawOthers<'_> {
    /// Whether nothing of any triangle is under way.
    fn is_drained(&self) -> bool {
        self.raster.is_idle() && self.vpus.iter().all(Vpu::is_idle)
    }
}

impl Replaceable for Draw {
    type Input = DrawInput;
    type Output = DrawOutput;
    type Others<'a> = DrawOthers<'a>;

    fn seam(&self) -> &Seam<DrawInput, DrawOutput> {
        &self.seam
    }

    fn seam_mut(&mut self) -> &mut Seam<DrawInput, DrawOutput> {
        &mut self.seam
    }

    fn is_idle(&self) -> bool {
        self.job.is_none()
    }

    fn tick_own(&mut self, shared: &mut Shared, others: &mut DrawOthers<'_>) -> Activity {
        let Some(job) = self.job else { return Activity::IDLE };
        let instant = shared.params.instant.triangle_draw;
        while self.triangle < job.triangles {
            let activity = self.step(&job, shared, others.cache, others.raster);
            // An instant unit goes on until it waits for another one.
            if !instant || activity.until == NEVER {
                return activity;
            }
        }
        if !others.is_drained() {
            return Activity::blocked(Event::Drain);
        }
        self.finish(&job, shared, others);
        Activity::busy(Event::Tick, shared.now)
    }

    fn input(&mut self, shared: &mut Shared, others: &mut DrawOthers<'_>) -> (DrawInput, bool) {
        let valid = self.seam.tell(self.job.is_some());
        let (memory, there) = self.seam.reply(shared.now);
        let mut input = DrawInput {
            now: shared.now,
            memory,
            valid: valid.into(),
            room: others.raster.has_room().into(),
            drained: others.is_drained().into(),
            ..DrawInput::default()
        };
        if let Some(job) = self.job {
            (input.indices, input.triangles) = (job.indices, job.triangles.into());
            (input.cull, input.bin) = (job.setup.cull as u32, job.setup.bin.map(u32::from));
        }
        if let Some((address, _)) = there {
            input.data = shared.memory.read::<BURST_BYTES>(address & !(BURST - 1), &mut shared.faults);
        }
        if let Some(vertex) = others.cache.answer() {
            (input.vertex, input.place) = (1, [vertex.x, vertex.y]);
            self.vertices.rotate_left(1);
            self.vertices[2] = vertex;
        }
        (input, valid || memory.valid != 0 || input.vertex != 0)
    }

    fn carry_out(
        &mut self,
        output: &DrawOutput,
        shared: &mut Shared,
        others: &mut DrawOthers<'_>,
    ) -> Outcome {
        let mut sound = self.seam.request(Unit::Draw, Direction::Read, &output.request, shared);
        if output.ask != 0 {
            sound &= u16::try_from(output.index).is_ok_and(|index| others.cache.ask(index));
        }
        if output.triangle != 0 {
            let set_up = self.job.and_then(|job| Triangle::new(job.setup, self.vertices));
            let same = |t: &Triangle| (t.first, t.last, t.edges) == (output.first, output.last, output.edges);
            let mut set_up = set_up.filter(same);
            sound &= set_up.is_some() && others.raster.offer(&mut set_up);
        }
        let finished = output.finished != 0;
        match self.job {
            Some(job) if finished => {
                self.finish(&job, shared, others);
                self.seam.finish();
            }
            _ => sound &= !finished,
        }
        let handed = output.request.valid != 0 || output.ask != 0 || output.triangle != 0 || finished;
        Outcome { sound, handed }
    }
}

impl Draw {
    fn finish(&mut self, job: &DrawJob, shared: &mut Shared, others: &mut DrawOthers<'_>) {
        shared.sig |= job.sig;
        self.job = None;
        others.drawn = Some(Drawn { bin: job.setup.bin, start: job.start });
    }
}
