//! From draw commands to triangles: what is shaded, geometry stage, assembly.

use crate::assembly::Assembly;
use crate::geometry::{Collector, Config};
use crate::memory::Memory;
use crate::regs::*;
use crate::report::{Error, Report};
use crate::shader::{Bank, Engines, Event, Feed, GeometryUnit, Kind, Shader, Unit};
use crate::vertex::{OutputMap, Triangle};
use crate::vertex_loader::Loader;

/// Vertices of a draw that are handled together; bounds what a draw allocates.
const BLOCK: u32 = 1 << 16;
/// Invocations of the geometry unit that are handled together, for the same reason.
const INVOCATIONS: usize = 64;

/// One element of a draw, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    /// A shaded vertex, by its number in the batch.
    Vertex(u32),
    /// The number of vertices of the geometry unit's next primitive.
    Count(u32),
}

/// Which indices of a batch were seen already, and as what number.
///
/// The chip remembers 64 vertices; a vertex program has no memory of its own, so remembering all shades the same.
#[derive(Clone, Debug)]
struct Seen {
    /// Batch and number by index.
    numbers: Vec<(u32, u32)>,
    batch: u32,
}

impl Default for Seen {
    fn default() -> Self {
        Seen { numbers: vec![(0, 0); 1 << 16], batch: 0 }
    }
}

impl Seen {
    fn start(&mut self) {
        self.batch = self.batch.wrapping_add(1);
        if self.batch == 0 {
            *self = Seen { batch: 1, ..Seen::default() };
        }
    }

    /// The number of `index`, which is added to `vertices` when it is new.
    fn number(&mut self, index: u16, vertices: &mut Vec<u32>) -> u32 {
        let new = vertices.len() as u32;
        match self.numbers.get_mut(usize::from(index)) {
            Some((batch, number)) if *batch == self.batch => *number,
            place => {
                vertices.push(index.into());
                if let Some(place) = place {
                    *place = (self.batch, new);
                }
                new
            }
        }
    }
}

/// The units with what flows between them.
#[derive(Default)]
pub(crate) struct Stages {
    pub vertex: Unit,
    pub geometry: Unit,
    pub engines: Engines,
    pub assembly: Assembly,
    pub collector: Collector,
    geometry_unit: GeometryUnit,
    seen: Seen,
    // Kept for their allocations.
    vertices: Vec<u32>,
    items: Vec<Item>,
    inputs: Vec<Bank>,
    outputs: Vec<Bank>,
    triangles: Vec<Triangle>,
}

/// What a draw may still use, and where it reports.
pub(crate) struct Account<'a> {
    pub vertices: &'a mut u64,
    pub fuel: &'a mut u64,
    pub report: &'a mut Report,
}

impl Account<'_> {
    /// As many of `count` vertices as are allowed.
    fn claim(&mut self, count: u32) -> u32 {
        let allowed = u64::from(count).min(*self.vertices) as u32;
        *self.vertices -= u64::from(allowed);
        if allowed < count {
            self.report.add(Error::Vertices(self.report.vertices));
        }
        allowed
    }
}

/// Gets the triangles of a draw block by block.
pub(crate) type Sink<'a> = dyn FnMut(&mut dyn Memory, &[Triangle]) + 'a;

impl Stages {
    /// Units after reset, with these engines.
    pub fn new(engines: Engines) -> Stages {
        Stages { engines, ..Stages::default() }
    }

    /// Draws arrays or indexed vertices.
    pub fn draw(
        &mut self,
        regs: &Registers,
        fixed: &Bank,
        memory: &mut dyn Memory,
        indexed: bool,
        account: &mut Account,
        sink: &mut Sink,
    ) {
        account.report.draws += 1;
        self.collector.reset();
        let count = account.claim(regs.get(VERTEX_COUNT));
        let loader = Loader::new(regs, fixed);
        let config = Config::new(regs);
        // Which indices are counts is known before anything is shaded.
        let mut dry = config.map(|config| (config, CountsOnly::new(&self.collector, &config)));
        let mut done = 0;
        while done < count {
            let block = (count - done).min(BLOCK);
            self.vertices.clear();
            self.items.clear();
            if indexed {
                self.seen.start();
                let address = index_address(regs, done);
                let wide = regs.bit(INDEX_ARRAY, 31);
                let Some(bytes) = memory.bytes(address, block << u32::from(wide)) else {
                    account.report.add(Error::Indices { address, count: block });
                    return;
                };
                let mut take = |index: u16| {
                    let is_count = dry.as_mut().is_some_and(|(_, counts)| counts.is_count(index));
                    self.items.push(if is_count {
                        Item::Count(index.into())
                    } else {
                        Item::Vertex(self.seen.number(index, &mut self.vertices))
                    });
                };
                if wide {
                    bytes.as_chunks::<2>().0.iter().for_each(|b| take(u16::from_le_bytes(*b)));
                } else {
                    bytes.iter().for_each(|&b| take(b.into()));
                }
            } else {
                let first = regs.get(FIRST_VERTEX).wrapping_add(done);
                self.vertices.extend((0..block).map(|i| first.wrapping_add(i)));
                self.items.extend((0..block).map(Item::Vertex));
            }
            self.inputs.clear();
            loader.load(memory, &self.vertices, &mut self.inputs);
            self.block(regs, memory, config.as_ref(), account, sink);
            done += block;
        }
    }

    /// Draws vertices whose inputs came through the immediate port.
    pub fn immediate(
        &mut self,
        regs: &Registers,
        inputs: &[Bank],
        memory: &mut dyn Memory,
        account: &mut Account,
        sink: &mut Sink,
    ) {
        let count = account.claim(inputs.len() as u32);
        self.inputs.clear();
        self.inputs.extend(inputs.iter().take(count as usize));
        self.items.clear();
        self.items.extend((0..count).map(Item::Vertex));
        self.block(regs, memory, Config::new(regs).as_ref(), account, sink);
    }

    /// Shades `inputs` and sends `items` on.
    fn block(
        &mut self,
        regs: &Registers,
        memory: &mut dyn Memory,
        config: Option<&Config>,
        account: &mut Account,
        sink: &mut Sink,
    ) {
        let shader = Shader { source: self.vertex.source(), entry: Kind::Vertex.entry(regs), geometry: None };
        let uniforms = &self.vertex.uniforms;
        let mut fallbacks = Vec::new();
        let shaded = self.engines.shade(
            &shader,
            uniforms,
            &self.inputs,
            &mut self.outputs,
            account.fuel,
            &mut fallbacks,
        );
        let messages = fallbacks.into_iter().map(|f| Error::Fallback { engine: f.engine, error: f.error });
        messages.for_each(|m| account.report.add(m));
        if let Err(error) = shaded {
            return account.report.add(error.into());
        }
        account.report.vertices += self.outputs.len() as u64;
        self.triangles.clear();
        match config {
            Some(config) => self.geometry(regs, config, memory, account, sink),
            None => {
                let map = OutputMap::new(regs, Kind::Vertex.output_mask(regs));
                let vertices: Vec<_> = self.outputs.iter().map(|o| map.vertex(o)).collect();
                let items = self.items.iter().filter_map(|item| match *item {
                    Item::Vertex(n) => vertices.get(n as usize),
                    Item::Count(_) => None,
                });
                self.triangles.extend(items.filter_map(|v| self.assembly.push(v)));
                self.send(memory, account, sink);
            }
        }
    }

    /// The geometry stage: `items` to invocations, what they send to triangles.
    fn geometry(
        &mut self,
        regs: &Registers,
        config: &Config,
        memory: &mut dyn Memory,
        account: &mut Account,
        sink: &mut Sink,
    ) {
        let mask = Kind::Vertex.output_mask(regs);
        let map = OutputMap::new(regs, Kind::Geometry.output_mask(regs));
        let shader = Shader {
            source: self.geometry.source(),
            entry: Kind::Geometry.entry(regs),
            geometry: Some(map.mask()),
        };
        let mut feeds = Vec::new();
        for i in 0..self.items.len() {
            let feed = match self.items.get(i) {
                Some(&Item::Vertex(n)) => {
                    self.outputs.get(n as usize).and_then(|o| self.collector.vertex(config, mask, o))
                }
                Some(&Item::Count(n)) => self.collector.count(n),
                None => None,
            };
            feeds.extend(feed);
            if feeds.len() >= INVOCATIONS && !self.invoke(&shader, &map, &mut feeds, memory, account, sink) {
                return;
            }
        }
        if !feeds.is_empty() {
            self.invoke(&shader, &map, &mut feeds, memory, account, sink);
        }
    }

    /// Runs invocations; whether that went well.
    fn invoke(
        &mut self,
        shader: &Shader,
        map: &OutputMap,
        feeds: &mut Vec<Feed>,
        memory: &mut dyn Memory,
        account: &mut Account,
        sink: &mut Sink,
    ) -> bool {
        let mut fallbacks = Vec::new();
        let (uniforms, unit) = (&mut self.geometry.uniforms, &mut self.geometry_unit);
        let sent = self.engines.invoke(shader, uniforms, unit, feeds, account.fuel, &mut fallbacks);
        let messages = fallbacks.into_iter().map(|f| Error::Fallback { engine: f.engine, error: f.error });
        messages.for_each(|m| account.report.add(m));
        let count = feeds.len() as u64;
        feeds.clear();
        let events = match sent {
            Ok(events) => events,
            Err(error) => {
                account.report.add(error.into());
                return false;
            }
        };
        account.report.invocations += count;
        for event in events {
            match event {
                Event::Winding => self.assembly.reverse(),
                Event::Vertex(outputs) => {
                    let vertex = map.vertex(&outputs.map(|v| v.map(f32::from_bits)));
                    self.triangles.extend(self.assembly.push(&vertex));
                }
            }
        }
        self.send(memory, account, sink);
        true
    }

    fn send(&mut self, memory: &mut dyn Memory, account: &mut Account, sink: &mut Sink) {
        account.report.triangles += self.triangles.len() as u64;
        if !self.triangles.is_empty() {
            sink(memory, &self.triangles);
            self.triangles.clear();
        }
    }
}

/// Address of index number `at`.
fn index_address(regs: &Registers, at: u32) -> u32 {
    let base = regs.bits(ATTRIBUTE_BASE, 1, 28) * 16;
    let wide = u32::from(regs.bit(INDEX_ARRAY, 31));
    base.wrapping_add(regs.bits(INDEX_ARRAY, 0, 28)).wrapping_add(at << wide)
}

/// Tells counts from vertices in the indices of a variable-mode draw.
struct CountsOnly {
    variable: bool,
    left: u32,
}

impl CountsOnly {
    fn new(collector: &Collector, config: &Config) -> CountsOnly {
        CountsOnly { variable: collector.wants_count(config), left: 0 }
    }

    fn is_count(&mut self, index: u16) -> bool {
        if !self.variable {
            return false;
        }
        if self.left == 0 {
            self.left = index.into();
            return true;
        }
        self.left -= 1;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_shaded_once() {
        let mut seen = Seen::default();
        seen.start();
        let mut vertices = Vec::new();
        let numbers = [5, 6, 5, 7, 6].map(|i| seen.number(i, &mut vertices));
        assert_eq!((numbers, vertices.as_slice()), ([0, 1, 0, 2, 1], [5, 6, 7].as_slice()));
        seen.start();
        vertices.clear();
        assert_eq!(seen.number(7, &mut vertices), 0);
    }

    #[test]
    fn counts_stand_before_their_vertices() {
        let mut counts = CountsOnly { variable: true, left: 0 };
        let kinds = [2, 9, 9, 0, 1, 9].map(|i| counts.is_count(i));
        assert_eq!(kinds, [true, false, false, true, true, false]);
    }
}
