//! The vertex cache: direct mapped by index, emptied when a draw starts.

use super::triangle::{ATTRIBUTE_BYTES, MAX_ATTRIBUTES, Vertex};
use crate::cosim::{Outcome, Replaceable, Seam, VERTEX_BYTES, VertexCacheInput, VertexCacheOutput};
use crate::event::{Activity, Event};
use crate::machine::Shared;
use crate::memory::Direction;
use crate::params::Params;
use crate::unit::Unit;
use serde::{Deserialize, Serialize};

/// One request at a time: asked for in one tick, answered in a later one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct VertexCache {
    /// Index and vertex of each line; no index if it is empty.
    lines: Vec<(Option<u16>, Vertex)>,
    address: u32,
    attributes: u8,
    request: Option<u16>,
    /// The fetch under way: when it is done.
    fetch: Option<u64>,
    answer: Option<Vertex>,
    /// Vertices that were asked for and were there, and those that were not.
    pub hits: u64,
    pub misses: u64,
    seam: Seam<VertexCacheInput, VertexCacheOutput>,
    /// Whether a model is to forget what it has cached.
    flush: bool,
}

impl VertexCache {
    pub fn new(lines: u32) -> VertexCache {
        let lines = vec![(None, Vertex::default()); lines as usize];
        VertexCache {
            lines,
            address: 0,
            attributes: 1,
            request: None,
            fetch: None,
            answer: None,
            hits: 0,
            misses: 0,
            seam: Seam::default(),
            flush: false,
        }
    }

    /// Whether this state is valid for `params`.
    pub fn is_sound(&self, params: &Params) -> bool {
        self.lines.len() == params.vertex_cache as usize
            && [self.hits, self.misses].iter().all(|&n| n <= i64::MAX as u64 / 400)
            && (1..=MAX_ATTRIBUTES).contains(&usize::from(self.attributes))
            && self.lines.iter().map(|(_, vertex)| vertex).chain(&self.answer).all(Vertex::is_sound)
    }

    pub fn describe(&self) -> String {
        let request = self.request.map_or_else(|| "idle".into(), |index| format!("vertex {index}"));
        request + self.seam.describe()
    }

    pub fn begin(&mut self, address: u32, attributes: u8) {
        self.lines.iter_mut().for_each(|(index, _)| *index = None);
        (self.address, self.attributes) = (address, attributes);
        self.flush = true;
    }

    /// Asks for a vertex; false if another one is being asked for.
    pub fn ask(&mut self, index: u16) -> bool {
        let free = self.request.is_none() && self.answer.is_none();
        if free {
            self.request = Some(index);
        }
        free
    }

    fn bytes(&self) -> u32 {
        u32::from(self.attributes) * ATTRIBUTE_BYTES
    }

    pub fn answer(&mut self) -> Option<Vertex> {
        self.answer.take()
    }
}

/// Reads a vertex, or the start of it, attribute by attribute.
fn read(shared: &mut Shared, address: u32, bytes: u32) -> [u8; VERTEX_BYTES] {
    let mut data = [0; VERTEX_BYTES];
    let attributes = 0..bytes.div_ceil(ATTRIBUTE_BYTES);
    for (n, attribute) in attributes.zip(data.chunks_exact_mut(ATTRIBUTE_BYTES as usize)) {
        let at = address.wrapping_add(n * ATTRIBUTE_BYTES);
        attribute.copy_from_slice(&shared.memory.read::<8>(at, &mut shared.faults));
    }
    data
}

impl Replaceable for VertexCache {
    type Input = VertexCacheInput;
    type Output = VertexCacheOutput;
    type Others<'a> = ();

    fn seam(&self) -> &Seam<VertexCacheInput, VertexCacheOutput> {
        &self.seam
    }

    fn seam_mut(&mut self) -> &mut Seam<VertexCacheInput, VertexCacheOutput> {
        &mut self.seam
    }

    fn is_idle(&self) -> bool {
        self.request.is_none() && self.answer.is_none()
    }

    fn input(&mut self, shared: &mut Shared, (): &mut ()) -> (VertexCacheInput, bool) {
        let valid = self.seam.tell(self.request.is_some());
        let (memory, there) = self.seam.reply(shared.now);
        let flush = std::mem::take(&mut self.flush);
        let input = VertexCacheInput {
            now: shared.now,
            memory,
            flush: flush.into(),
            address: self.address,
            bytes: self.bytes(),
            valid: valid.into(),
            index: self.request.unwrap_or(0).into(),
            reserved: 0,
            data: there.map_or([0; VERTEX_BYTES], |(address, bytes)| read(shared, address, bytes)),
        };
        (input, flush || valid || memory.valid != 0)
    }

    fn carry_out(&mut self, output: &VertexCacheOutput, shared: &mut Shared, (): &mut ()) -> Outcome {
        let mut sound = self.seam.request(Unit::VertexCache, Direction::Read, &output.request, shared);
        self.hits += u64::from(output.hit & 1);
        self.misses += u64::from(output.miss & 1);
        if output.answer != 0 {
            self.seam.finish();
            sound &= self.request.take().is_some();
            if sound {
                let data = output.data.get(..self.bytes() as usize).unwrap_or_default();
                self.answer = Some(Vertex::parse(data, shared.params.number));
            }
        }
        Outcome { sound, handed: output.answer != 0 || output.request.valid != 0 }
    }

    fn tick_own(&mut self, shared: &mut Shared, (): &mut ()) -> Activity {
        let Some(index) = self.request else { return Activity::IDLE };
        let line = usize::from(index) % self.lines.len();
        let bytes = self.bytes();
        let address = self.address.wrapping_add(u32::from(index) * bytes);
        let instant = shared.params.instant.vertex_cache;
        if self.fetch.is_none() && self.lines[line].0 != Some(index) {
            self.fetch = Some(shared.access(Unit::VertexCache, Direction::Read, address, bytes));
            self.misses += 1;
            if !instant {
                return Activity::busy(Event::VtxMiss, shared.now);
            }
        }
        match self.fetch {
            Some(done) if shared.now < done => return Activity::until(Event::VtxMiss, done),
            Some(_) => {
                let data = read(shared, address, bytes);
                let vertex = Vertex::parse(&data[..bytes as usize], shared.params.number);
                self.lines[line] = (Some(index), vertex);
                (self.fetch, self.request) = (None, None);
                self.answer = Some(vertex);
            }
            None => {
                self.answer = Some(self.lines[line].1);
                self.request = None;
                self.hits += 1;
            }
        }
        Activity::busy(Event::VtxHit, shared.now)
    }
}
