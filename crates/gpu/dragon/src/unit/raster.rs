//! The rasteriser: Pineda's edge functions along the rows of a triangle's bounding box.

use super::fragment::Fragment;
use super::triangle::Triangle;
use super::vpu::Vpu;
use crate::cosim::{MAX_PIXELS, Outcome, RasterInput, RasterOutput, Replaceable, Seam};
use crate::event::{Activity, Event};
use crate::machine::{FragmentStart, Shared};
use crate::params::Params;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Triangles that a model can have at a time.
const MAX_TRIANGLES: usize = 64;

/// Tests some pixels of a row each tick and queues covered ones at the VPU of their place, `(x/2 + y/2) mod n`: a quad
/// stays together, and a pixel always goes to the same VPU.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rasterizer {
    input: Option<Triangle>,
    current: Option<Walk>,
    seam: Seam<RasterInput, RasterOutput>,
    /// Triangles that a model has, the oldest first.
    held: VecDeque<Triangle>,
    /// Whether a model takes no other one.
    full: bool,
}

/// Where in a triangle it is. Serialised without what follows from the place.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Place", into = "Place")]
struct Walk {
    triangle: Triangle,
    x: u32,
    y: u32,
    /// Edge functions at x and y.
    edges: [i64; 3],
    /// Whether a covered pixel was seen on the row.
    seen: bool,
}

#[derive(Serialize, Deserialize)]
struct Place {
    triangle: Triangle,
    at: [u32; 2],
    seen: bool,
}

impl From<Walk> for Place {
    fn from(walk: Walk) -> Place {
        Place { at: [walk.x, walk.y], seen: walk.seen, triangle: walk.triangle }
    }
}

impl TryFrom<Place> for Walk {
    type Error = &'static str;

    fn try_from(Place { triangle, at, seen }: Place) -> Result<Walk, &'static str> {
        let [x, y] = at;
        let inside = |n: usize| (triangle.first[n]..=triangle.last[n]).contains(&at[n]);
        if !inside(0) || !inside(1) {
            return Err("a pixel outside of its triangle");
        }
        let edges = triangle.edges_at(x, y);
        Ok(Walk { triangle, x, y, edges, seen })
    }
}

impl Walk {
    fn new(triangle: Triangle) -> Walk {
        let [x, y] = triangle.first;
        let mut walk = Walk { triangle, x, y, edges: [0; 3], seen: false };
        walk.begin_row();
        walk
    }

    fn begin_row(&mut self) {
        self.x = self.triangle.first[0];
        self.seen = false;
        self.edges = self.triangle.edges_at(self.x, self.y);
    }

    fn covered(&self) -> bool {
        self.edges.iter().zip(&self.triangle.edges).all(|(v, e)| *v >= e.bias)
    }

    fn step(&mut self) {
        self.x += 1;
        for (v, e) in self.edges.iter_mut().zip(&self.triangle.edges) {
            *v += e.dx;
        }
    }
}

impl Rasterizer {
    /// Whether this state is valid for `params`.
    pub fn is_sound(&self, params: &Params) -> bool {
        let current = self.current.iter().map(|walk| &walk.triangle);
        let mut all = self.input.iter().chain(current).chain(&self.held);
        self.held.len() <= MAX_TRIANGLES && all.all(|t| t.setup.is_sound(params))
    }

    pub fn describe(&self) -> String {
        if self.seam.is_external() {
            let triangles = self.held.len() + usize::from(self.input.is_some());
            return format!("{triangles} triangles{}", self.seam.describe());
        }
        let place = match &self.current {
            None => "idle".to_owned(),
            Some(walk) => format!("at {},{}", walk.x, walk.y),
        };
        if self.input.is_some() { place + ", another triangle waits" } else { place }
    }

    /// Whether there is room for a triangle that waits.
    pub fn has_room(&self) -> bool {
        self.input.is_none() && !self.full
    }

    /// Takes a triangle, if there is room for one that waits.
    pub fn offer(&mut self, triangle: &mut Option<Triangle>) -> bool {
        let room = self.has_room();
        if room {
            self.input = triangle.take();
        }
        room
    }
}

impl Replaceable for Rasterizer {
    type Input = RasterInput;
    type Output = RasterOutput;
    type Others<'a> = [Vpu];

    fn seam(&self) -> &Seam<RasterInput, RasterOutput> {
        &self.seam
    }

    fn seam_mut(&mut self) -> &mut Seam<RasterInput, RasterOutput> {
        &mut self.seam
    }

    fn is_idle(&self) -> bool {
        self.input.is_none() && self.current.is_none() && self.held.is_empty()
    }

    fn input(&mut self, shared: &mut Shared, vpus: &mut [Vpu]) -> (RasterInput, bool) {
        let mut input = RasterInput { now: shared.now, ..RasterInput::default() };
        let new = self.input.take();
        if let Some(triangle) = &new {
            input.valid = 1;
            (input.first, input.last) = (triangle.first, triangle.last);
            input.edges = triangle.edges;
        }
        self.held.extend(new);
        input.room.iter_mut().zip(vpus.iter()).for_each(|(room, vpu)| *room = vpu.queue.room());
        (input, input.valid != 0)
    }

    fn carry_out(&mut self, output: &RasterOutput, shared: &mut Shared, vpus: &mut [Vpu]) -> Outcome {
        let count = output.count as usize;
        let mut sound = count <= MAX_PIXELS;
        for pixel in &output.pixels[..count.min(MAX_PIXELS)] {
            let at = [pixel.x.into(), pixel.y.into()];
            sound &= self.held.front().is_some_and(|t| hand_on(t, at, shared, vpus));
        }
        if output.finished != 0 {
            sound &= self.held.pop_front().is_some();
        }
        let full = output.ready == 0 || self.held.len() >= MAX_TRIANGLES;
        let handed = count != 0 || output.finished != 0 || full != self.full;
        self.full = full;
        Outcome { sound, handed }
    }

    fn tick_own(&mut self, shared: &mut Shared, vpus: &mut [Vpu]) -> Activity {
        // Taking a triangle makes room for the next one, whatever becomes of its pixels.
        let taken = self.current.is_none();
        let walk = match &mut self.current {
            Some(walk) => walk,
            None => match self.input.take() {
                Some(triangle) => self.current.insert(Walk::new(triangle)),
                None => return Activity::IDLE,
            },
        };
        let count = vpus.len() as u32;
        let instant = shared.params.instant.rasterizer;
        let pixels = if instant { u32::MAX } else { shared.params.raster.pixels };
        for tested in 0..pixels {
            let covered = walk.covered();
            if covered {
                let vpu = &mut vpus[((walk.x / 2 + walk.y / 2) % count) as usize];
                let Some(fragment) = vpu.queue.push() else {
                    return match tested {
                        0 if taken => Activity::busy(Event::QueueFull, shared.now),
                        0 => Activity::blocked(Event::QueueFull),
                        _ => Activity::busy(Event::Raster, shared.now),
                    };
                };
                begin(fragment, &walk.triangle, [walk.x, walk.y], walk.edges, shared);
                walk.seen = true;
            }
            walk.step();
            let past = !covered && walk.seen && shared.params.raster.row_skip;
            if past || walk.x > walk.triangle.last[0] {
                walk.y += 1;
                if walk.y > walk.triangle.last[1] {
                    self.current = None;
                    break;
                }
                walk.begin_row();
                if !instant {
                    break;
                }
            }
        }
        Activity::busy(Event::Raster, shared.now)
    }
}

/// Fills in what the thread of a pixel starts with.
#[inline]
fn begin(fragment: &mut Fragment, triangle: &Triangle, at: [u32; 2], edges: [i64; 3], shared: &mut Shared) {
    let [x, y] = at;
    fragment.pixel = (y * shared.tiles.size + x) as u16;
    fragment.registers = Default::default();
    let [_, e1, e2] = edges;
    triangle.registers(at, e1, e2, &mut fragment.registers);
    if let Some(profile) = &mut shared.profile {
        profile.fragment(fragment.pixel);
    }
    if let Some(log) = &mut shared.fragments {
        log.push(FragmentStart { x, y, registers: fragment.registers });
    }
}

/// Queues a pixel of a triangle; whether it lies in the triangle or on its edges, and there was room.
fn hand_on(triangle: &Triangle, at: [u32; 2], shared: &mut Shared, vpus: &mut [Vpu]) -> bool {
    let [x, y] = at;
    let inside = (0..2).all(|n| (triangle.first[n]..=triangle.last[n]).contains(&at[n]));
    let edges = triangle.edges_at(x, y);
    if !inside || edges.iter().any(|&v| v < 0) {
        return false;
    }
    let count = vpus.len() as u32;
    let Some(fragment) = vpus[((x / 2 + y / 2) % count) as usize].queue.push() else { return false };
    begin(fragment, triangle, at, edges, shared);
    true
}
