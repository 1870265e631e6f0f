//! The vertex cache: direct mapped by index, emptied when a draw starts.

use super::triangle::{ATTRIBUTE_BYTES, MAX_ATTRIBUTES, Vertex};
use crate::event::{Activity, Event};
use crate::machine::Shared;
use crate::memory::Direction;
use crate::params::Params;
use crate::unit::Unit;
use serde::{Deserialize, Serialize};

const LONGEST: usize = (MAX_ATTRIBUTES + 1) * ATTRIBUTE_BYTES as usize;

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
        self.request.map_or_else(|| "idle".into(), |index| format!("vertex {index}"))
    }

    pub fn begin(&mut self, address: u32, attributes: u8) {
        self.lines.iter_mut().for_each(|(index, _)| *index = None);
        (self.address, self.attributes) = (address, attributes);
    }

    pub fn ask(&mut self, index: u16) {
        self.request = Some(index);
    }

    pub fn answer(&mut self) -> Option<Vertex> {
        self.answer.take()
    }

    pub fn tick(&mut self, shared: &mut Shared) -> Activity {
        let Some(index) = self.request else { return Activity::IDLE };
        let line = usize::from(index) % self.lines.len();
        let bytes = u32::from(self.attributes) * ATTRIBUTE_BYTES;
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
                let mut data = [0; LONGEST];
                for (n, attribute) in (0..u32::from(self.attributes)).zip(data.chunks_exact_mut(8)) {
                    let at = address.wrapping_add(n * ATTRIBUTE_BYTES);
                    attribute.copy_from_slice(&shared.memory.read::<8>(at, &mut shared.faults));
                }
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
