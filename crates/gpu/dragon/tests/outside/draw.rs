//! From vertices to pixels.

use super::{NEVER, request};
use xenoglot_dragon::Event;
use xenoglot_dragon::cosim::*;

/// The vertex cache.
#[derive(Default)]
pub struct CacheModel {
    lines: Vec<(Option<u32>, Vec<u8>)>,
    asked: Option<u32>,
}

impl Model<VertexCacheInput, VertexCacheOutput> for CacheModel {
    fn reset(&mut self, config: &Config) {
        self.lines = vec![(None, Vec::new()); config.vertex_cache as usize];
    }

    fn tick(&mut self, input: &VertexCacheInput) -> VertexCacheOutput {
        let mut out = VertexCacheOutput { until: NEVER, ..Default::default() };
        if input.flush != 0 {
            self.lines.iter_mut().for_each(|line| line.0 = None);
        }
        if input.valid != 0 {
            self.asked = Some(input.index);
        }
        let Some(index) = self.asked else { return out };
        let count = self.lines.len();
        let line = &mut self.lines[index as usize % count];
        if input.memory.valid != 0 {
            *line = (Some(index), input.data.to_vec());
        } else if input.memory.done != 0 {
            (out.event, out.until) = (Event::VtxMiss as u32, input.memory.done);
            return out;
        } else if line.0 == Some(index) {
            out.hit = 1;
        } else {
            (out.event, out.miss) = (Event::VtxMiss as u32, 1);
            out.request = request(input.address.wrapping_add(index * input.bytes), input.bytes);
            return out;
        }
        (out.event, out.answer) = (Event::VtxHit as u32, 1);
        out.data.copy_from_slice(&line.1);
        self.asked = None;
        out
    }
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Step {
    #[default]
    Index,
    Fetch,
    Vertex,
    SetUp(u64),
    Hand,
}

/// The triangle draw coordinator.
#[derive(Default)]
pub struct DrawModel {
    size: i32,
    setup: u64,
    draw: Option<DrawInput>,
    step: Step,
    triangle: u32,
    places: Vec<[i32; 2]>,
    burst: Option<(u32, [u8; BURST_BYTES])>,
}

impl DrawModel {
    /// The triangle of the vertices, set up into an answer; whether there is anything of it to be seen.
    fn set_up(&self, draw: &DrawInput, out: &mut DrawOutput) -> bool {
        let mut v: Vec<[i64; 2]> = self.places.iter().map(|p| p.map(i64::from)).collect();
        let cross = |a: [i64; 2], b: [i64; 2], c: [i64; 2]| {
            (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
        };
        let area = cross(v[0], v[1], v[2]);
        if area == 0 || draw.cull == 1 && area > 0 || draw.cull == 2 && area < 0 {
            return false;
        }
        if area < 0 {
            v.swap(1, 2);
        }
        for axis in 0..2 {
            let low = v.iter().map(|v| v[axis]).min().unwrap().div_euclid(16);
            let high = v.iter().map(|v| v[axis]).max().unwrap().div_euclid(16);
            let bin = i64::from(draw.bin[axis]);
            let (first, last) = ((low - bin).max(0), (high - bin).min(i64::from(self.size) - 1));
            if first > last {
                return false;
            }
            (out.first[axis], out.last[axis]) = (first as u32, last as u32);
        }
        for (n, edge) in out.edges.iter_mut().enumerate() {
            let (a, b) = (v[(n + 1) % 3], v[(n + 2) % 3]);
            let centre = draw.bin.map(|n| i64::from(n) * 16 + 8);
            let [dx, dy] = [b[0] - a[0], b[1] - a[1]];
            let top_left = dy < 0 || dy == 0 && dx > 0;
            let bias = i64::from(!top_left);
            *edge = Edge { value: cross(a, b, centre), dx: -16 * dy, dy: 16 * dx, bias };
        }
        true
    }

    fn index_address(&self, draw: &DrawInput) -> u32 {
        draw.indices.wrapping_add(self.triangle * 6 + self.places.len() as u32 * 2)
    }

    fn next(&mut self) {
        self.triangle += 1;
        self.places.clear();
        self.step = Step::Index;
    }
}

impl Model<DrawInput, DrawOutput> for DrawModel {
    fn reset(&mut self, config: &Config) {
        (self.size, self.setup) = (config.bin_size as i32, config.setup.into());
    }

    fn tick(&mut self, input: &DrawInput) -> DrawOutput {
        let mut out = DrawOutput { until: NEVER, ..Default::default() };
        if input.valid != 0 {
            let (size, setup) = (self.size, self.setup);
            *self = DrawModel { size, setup, draw: Some(*input), ..Default::default() };
        }
        let Some(draw) = self.draw else { return out };
        let mut busy = |event: Event| {
            out.event = event as u32;
            out.until = 0;
        };
        if self.triangle == draw.triangles {
            if input.drained == 0 {
                (out.event, out.until) = (Event::Drain as u32, NEVER);
            } else {
                busy(Event::Tick);
                out.finished = 1;
                self.draw = None;
            }
            return out;
        }
        match self.step {
            Step::Index => {
                let address = self.index_address(&draw);
                match &self.burst {
                    Some((burst, data)) if *burst == address / 32 => {
                        busy(Event::Tick);
                        let at = (address % 32) as usize & !1;
                        (out.ask, out.index) = (1, u16::from_le_bytes([data[at], data[at + 1]]).into());
                        self.step = Step::Vertex;
                    }
                    _ => {
                        busy(Event::MemRead);
                        out.request = request(address & !31, 32);
                        self.step = Step::Fetch;
                    }
                }
            }
            Step::Fetch => {
                out.event = Event::MemRead as u32;
                out.until = input.memory.done;
                if input.memory.valid != 0 {
                    self.burst = Some((self.index_address(&draw) / 32, input.data));
                    self.step = Step::Index;
                    out.until = 0;
                }
            }
            Step::Vertex if input.vertex == 0 => out.event = Event::VtxWait as u32,
            Step::Vertex => {
                busy(Event::Tick);
                self.places.push(input.place);
                let all = self.places.len() == 3;
                self.step = if all { Step::SetUp(input.now + self.setup) } else { Step::Index };
            }
            Step::SetUp(done) => {
                (out.event, out.until) = (Event::SetupTri as u32, done);
                if input.now >= done {
                    out.until = 0;
                    match self.set_up(&draw, &mut out) {
                        true => self.step = Step::Hand,
                        false => self.next(),
                    }
                }
            }
            Step::Hand if input.room == 0 => out.event = Event::QueueFull as u32,
            Step::Hand => {
                busy(Event::Tick);
                self.set_up(&draw, &mut out);
                out.triangle = 1;
                self.next();
            }
        }
        out
    }
}

/// The rasteriser.
#[derive(Default)]
pub struct RasterModel {
    config: Config,
    waiting: Option<RasterInput>,
    walk: Option<(RasterInput, [u32; 2], bool)>,
}

impl RasterModel {
    fn walk(&mut self, room: &[u32; 8], out: &mut RasterOutput) {
        let Some((triangle, [x, y], seen)) = &mut self.walk else { return };
        let mut room = *room;
        for tested in 0..self.config.raster_pixels {
            let at = [i64::from(*x), i64::from(*y)];
            let inside = triangle.edges.iter().all(|e| e.value + at[0] * e.dx + at[1] * e.dy >= e.bias);
            if inside {
                let room = &mut room[((*x / 2 + *y / 2) % self.config.vpus) as usize];
                if *room == 0 {
                    if tested == 0 {
                        out.event = Event::QueueFull as u32;
                    }
                    return;
                }
                *room -= 1;
                out.pixels[out.count as usize] = Pixel { x: *x as u16, y: *y as u16 };
                out.count += 1;
                *seen = true;
            }
            *x += 1;
            if *x > triangle.last[0] || !inside && *seen && self.config.row_skip != 0 {
                (*x, *seen) = (triangle.first[0], false);
                *y += 1;
                if *y > triangle.last[1] {
                    (self.walk, out.finished) = (None, 1);
                }
                return;
            }
        }
    }
}

impl Model<RasterInput, RasterOutput> for RasterModel {
    fn reset(&mut self, config: &Config) {
        *self = RasterModel { config: *config, ..Default::default() };
    }

    fn tick(&mut self, input: &RasterInput) -> RasterOutput {
        let mut out = RasterOutput { until: NEVER, ..Default::default() };
        if input.valid != 0 {
            self.waiting = Some(*input);
        }
        if self.walk.is_none() {
            self.walk = self.waiting.take().map(|t| (t, t.first, false));
        }
        if self.walk.is_some() {
            out.event = Event::Raster as u32;
            self.walk(&input.room, &mut out);
            if out.event == Event::Raster as u32 {
                out.until = 0;
            }
        }
        out.ready = self.waiting.is_none().into();
        out
    }
}
