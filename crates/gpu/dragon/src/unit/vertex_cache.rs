//! The vertex cache: direct mapped by index, emptied when a draw starts.

use super::triangle::{ATTRIBUTE_BYTES, MAX_ATTRIBUTES, Vertex};
use crate::event::{Activity, Event};
use crate::machine::Shared;
use crate::memory::Direction;

const LONGEST: usize = (MAX_ATTRIBUTES + 1) * ATTRIBUTE_BYTES as usize;

/// One request at a time: asked for in one tick, answered in a later one.
#[derive(Clone, Debug)]
pub(crate) struct VertexCache {
    lines: Vec<Option<(u16, Vertex)>>,
    address: u32,
    attributes: u8,
    request: Option<u16>,
    /// The fetch under way: when it is done.
    fetch: Option<u64>,
    answer: Option<Vertex>,
}

impl VertexCache {
    pub fn new(lines: u32) -> VertexCache {
        let lines = vec![None; lines as usize];
        VertexCache { lines, address: 0, attributes: 1, request: None, fetch: None, answer: None }
    }

    pub fn begin(&mut self, address: u32, attributes: u8) {
        self.lines.fill(None);
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
        match self.fetch {
            Some(done) if shared.now < done => return Activity::until(Event::VtxMiss, done),
            Some(_) => {
                let mut data = [0; LONGEST];
                for (n, attribute) in (0..u32::from(self.attributes)).zip(data.chunks_exact_mut(8)) {
                    let at = address.wrapping_add(n * ATTRIBUTE_BYTES);
                    attribute.copy_from_slice(&shared.memory.read::<8>(at, &mut shared.faults));
                }
                let vertex = Vertex::parse(&data[..bytes as usize], shared.params.number);
                self.lines[line] = Some((index, vertex));
                (self.fetch, self.request) = (None, None);
                self.answer = Some(vertex);
            }
            None => match &self.lines[line] {
                Some((held, vertex)) if *held == index => {
                    self.answer = Some(*vertex);
                    self.request = None;
                }
                _ => {
                    self.fetch = Some(shared.memory.access(shared.now, Direction::Read, address, bytes));
                    return Activity::busy(Event::VtxMiss, shared.now);
                }
            },
        }
        Activity::busy(Event::VtxHit, shared.now)
    }
}
