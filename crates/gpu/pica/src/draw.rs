//! From draw commands to triangles: what is shaded, geometry stage, assembly.

use crate::assembly::Assembly;
use crate::geometry::{Collector, Config, Mode};
use crate::memory::Memory;
use crate::raster::Chip;
use crate::regs::*;
use crate::renderer::OutOfPixels;
use crate::report::{Budget, Error, Report};
use crate::shader::{
    Arrays, Bank, Batch, EngineError, Engines, Event, Fallback, Feed, GeometryUnit, Inputs, Kind, Packed,
    Program, Row, Served, Shader, Unit,
};
use crate::vertex::{Mesh, OutputMap, Vertex};
use crate::vertex_loader::{Loader, Source, attribute_base};
use std::collections::VecDeque;
use std::sync::Arc;

/// Vertices of a draw that are handled together: few enough that they stay in a core's cache from stage to stage, enough
/// for several cores. Bounds what a draw allocates.
const BLOCK: u32 = 1 << 12;
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

/// The vertices that a draw loaded last, which it does not load again.
///
/// In a draw with indices, the chip reuses a vertex that is among the last 64 that it loaded (vectors/picagpu/FORMAT.md,
/// section 4).
#[derive(Default)]
struct Loaded(VecDeque<u32>);

impl Loaded {
    const KEPT: usize = 64;

    /// The last of these vertices that is loaded.
    fn last(&mut self, vertices: impl Iterator<Item = u32>, indexed: bool) -> Option<u32> {
        if !indexed {
            return vertices.last();
        }
        let mut last = None;
        for vertex in vertices {
            if !self.0.contains(&vertex) {
                self.0.truncate(Loaded::KEPT - 1);
                self.0.push_front(vertex);
                last = Some(vertex);
            }
        }
        last
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
    pub geometry_unit: GeometryUnit,
    /// Attributes of the vertex that was loaded last, kept with [`Chip::retention`].
    pub retained: Bank,
    /// Instructions of the vertex and of the geometry program that ran last.
    pub instructions: [u64; 2],
    seen: Seen,
    // Kept for their allocations.
    vertices: Vec<u32>,
    items: Vec<Item>,
    inputs: Packed,
    outputs: Packed,
    /// Shaded vertices, with those that the assembly has kept.
    shaded: Vec<Vertex>,
    /// Triangles by the numbers of these.
    corners: Vec<[u32; 3]>,
}

/// What a draw may still use, and where it reports.
pub(crate) struct Account<'a> {
    /// What is obeyed.
    pub chip: Chip,
    pub budget: &'a mut Budget,
    pub report: &'a mut Report,
}

impl Account<'_> {
    /// Begins a draw of `count` vertices: how many of them may be drawn.
    fn begin(&mut self, regs: &Registers, count: u32) -> u32 {
        if let Err(error) = self.budget.draw() {
            self.report.add(error);
            return 0;
        }
        self.report.draws += 1;
        self.report.ignored.draw(regs, self.chip);
        let (allowed, error) = self.budget.vertices(count);
        error.into_iter().for_each(|e| self.report.add(e));
        allowed
    }

    /// Reports how `count` vertices or invocations were served and gives what the last engine made.
    fn settle<T>(&mut self, served: Served, count: u64, result: Result<T, EngineError>) -> Option<T> {
        for Fallback { engine, error } in served.fallbacks {
            self.report.add(Error::Fallback { engine, error });
        }
        if let Some(engine) = served.engine {
            self.report.serve(engine, count);
        }
        self.report.deferred += u64::from(served.deferred);
        self.program(result)
    }

    fn program<T>(&mut self, result: Result<T, EngineError>) -> Option<T> {
        result.map_err(|error| self.report.add(error.into())).ok()
    }
}

/// Gets the triangles of a draw block by block, and takes pixels off a budget as a renderer does.
pub(crate) type Sink<'a> = dyn FnMut(&mut dyn Memory, Mesh<'_>, &mut u64) -> Result<(), OutOfPixels> + 'a;

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
        self.collector.reset();
        let count = account.begin(regs, regs.get(VERTEX_COUNT));
        let Some(program) = self.program(regs, account) else { return };
        let retention = account.chip.retention;
        let loader = Loader::retaining(regs, fixed, retention.then_some(&self.retained));
        let mut loaded = Loaded::default();
        let config = Config::new(regs);
        let mut counts = Counts::new(indexed && config.is_some_and(|c| c.mode == Mode::Variable));
        let mut done = 0;
        while done < count {
            let block = (count - done).min(BLOCK);
            self.vertices.clear();
            self.items.clear();
            if indexed {
                if let Err(error) = self.indices(regs, memory, done, block, &mut counts) {
                    return account.report.add(error);
                }
            } else {
                let first = regs.get(FIRST_VERTEX).wrapping_add(done);
                self.vertices.extend((0..block).map(|i| first.wrapping_add(i)));
                self.items.extend((0..block).map(Item::Vertex));
            }
            if retention {
                let vertices = self.items.iter().filter_map(|item| match *item {
                    Item::Vertex(n) => self.vertices.get(n as usize).copied(),
                    Item::Count(_) => None,
                });
                if let Some(last) = loaded.last(vertices, indexed) {
                    loader.load_attributes(memory, last, &mut self.retained);
                }
            }
            let vertices = std::mem::take(&mut self.vertices);
            let spare = std::mem::take(&mut self.inputs);
            let arrays = Arrays::new(&loader, memory, &vertices, program.inputs, spare);
            let shaded = self.shade(&program, Inputs::from(&arrays), account);
            (self.inputs, self.vertices) = (arrays.into_spare(), vertices);
            if shaded {
                self.send_on(regs, memory, config.as_ref(), account, sink);
            }
            done += block;
        }
    }

    /// The vertex unit's program, if it has one.
    fn program(&mut self, regs: &Registers, account: &mut Account) -> Option<Arc<Program>> {
        let shader = Shader { source: self.vertex.source(), entry: Kind::Vertex.entry(regs), geometry: None };
        let program = self.engines.program(&shader, account.budget.fuel());
        let program = account.program(program);
        self.instructions = [program.as_ref().map_or(0, |program| program.length), 0];
        program
    }

    /// Reads `count` indices from number `first` on to `vertices` and `items`.
    fn indices(
        &mut self,
        regs: &Registers,
        memory: &dyn Memory,
        first: u32,
        count: u32,
        counts: &mut Counts,
    ) -> Result<(), Error> {
        let (base, size) = index_array(regs);
        let address = base.wrapping_add(first.wrapping_mul(size));
        let bytes = memory.bytes(address, count * size).ok_or(Error::Indices { address, count })?;
        self.seen.start();
        for index in index_values(bytes, size) {
            self.items.push(if counts.is_count(index) {
                Item::Count(index.into())
            } else {
                Item::Vertex(self.seen.number(index, &mut self.vertices))
            });
        }
        Ok(())
    }

    /// Draws vertices given through the immediate-mode port.
    pub fn immediate(
        &mut self,
        regs: &Registers,
        inputs: &[Bank],
        memory: &mut dyn Memory,
        account: &mut Account,
        sink: &mut Sink,
    ) {
        let count = account.begin(regs, inputs.len() as u32);
        let Some(program) = self.program(regs, account) else { return };
        self.inputs.reset(program.inputs, count as usize);
        let registers = (0..16usize).filter(|n| program.inputs >> n & 1 == 1);
        let values = inputs.iter().flat_map(|bank| registers.clone().filter_map(|n| bank.get(n)));
        self.inputs.values_mut().iter_mut().zip(values).for_each(|(place, value)| *place = *value);
        self.items.clear();
        self.items.extend((0..count).map(Item::Vertex));
        let inputs = std::mem::take(&mut self.inputs);
        let shaded = self.shade(&program, Inputs::from(&inputs), account);
        self.inputs = inputs;
        if shaded {
            self.send_on(regs, memory, Config::new(regs).as_ref(), account, sink);
        }
    }

    /// Shades vertices; whether that went well.
    fn shade(&mut self, program: &Arc<Program>, inputs: Inputs<'_>, account: &mut Account) -> bool {
        let (uniforms, fuel) = (&self.vertex.uniforms, account.budget.fuel());
        let mut served = Served::default();
        let outputs = &mut self.outputs;
        let shaded = self.engines.shade(Batch { program, uniforms, inputs, outputs, fuel }, &mut served);
        let count = inputs.vertices() as u64;
        let shaded = account.settle(served, count, shaded).is_some();
        account.report.vertices += if shaded { count } else { 0 };
        shaded
    }

    /// Sends `items` on, now that they are shaded.
    fn send_on(
        &mut self,
        regs: &Registers,
        memory: &mut dyn Memory,
        config: Option<&Config>,
        account: &mut Account,
        sink: &mut Sink,
    ) {
        self.corners.clear();
        match config {
            Some(config) => self.geometry(regs, config, memory, account, sink),
            None => {
                let outputs = &self.outputs;
                let map = OutputMap::new(regs, Kind::Vertex.output_mask(regs), outputs.set());
                self.shaded.resize(outputs.vertices(), Vertex::default());
                let shaded = self.shaded.iter_mut().enumerate();
                shaded.for_each(|(n, vertex)| map.set(outputs.vertex(n), vertex));
                let count = self.shaded.len() as u32;
                let kept = self.keep();
                let items = self.items.iter().filter_map(|item| match *item {
                    Item::Vertex(n) => (n < count).then_some(n),
                    Item::Count(_) => None,
                });
                let kept = self.assembly.push(kept, items, |triangle| self.corners.push(triangle));
                self.put_back(kept);
                self.send(memory, account, sink);
            }
        }
    }

    /// Puts the vertices that the assembly has behind the shaded ones; their numbers.
    fn keep(&mut self) -> [u32; 2] {
        let first = self.shaded.len() as u32;
        self.shaded.extend(self.assembly.slots);
        [first, first + 1]
    }

    /// Puts vertices into the assembly.
    fn put_back(&mut self, kept: [u32; 2]) {
        for (slot, number) in self.assembly.slots.iter_mut().zip(kept) {
            self.shaded.get(number as usize).into_iter().for_each(|vertex| *slot = *vertex);
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
        let map = OutputMap::new(regs, Kind::Geometry.output_mask(regs), u16::MAX);
        let shader = Shader {
            source: self.geometry.source(),
            entry: Kind::Geometry.entry(regs),
            geometry: Some(map.mask()),
        };
        let program = self.engines.program(&shader, account.budget.fuel());
        let Some(program) = account.program(program) else { return };
        self.instructions[1] = program.length;
        let mut feeds = Vec::new();
        for i in 0..self.items.len() {
            let feed = match self.items.get(i) {
                Some(&Item::Vertex(n)) => {
                    self.collector.vertex(config, mask, self.outputs.vertex(n as usize))
                }
                Some(&Item::Count(n)) => self.collector.count(n),
                None => None,
            };
            feeds.extend(feed);
            if feeds.len() >= INVOCATIONS && !self.invoke(&program, &map, &mut feeds, memory, account, sink) {
                return;
            }
        }
        if !feeds.is_empty() {
            self.invoke(&program, &map, &mut feeds, memory, account, sink);
        }
    }

    /// Runs invocations; whether that went well.
    fn invoke(
        &mut self,
        program: &Arc<Program>,
        map: &OutputMap,
        feeds: &mut Vec<Feed>,
        memory: &mut dyn Memory,
        account: &mut Account,
        sink: &mut Sink,
    ) -> bool {
        let mut served = Served::default();
        let (uniforms, unit) = (&mut self.geometry.uniforms, &mut self.geometry_unit);
        let fuel = account.budget.fuel();
        let sent = self.engines.invoke(program, uniforms, unit, feeds, fuel, &mut served);
        let count = feeds.len() as u64;
        feeds.clear();
        let Some(events) = account.settle(served, count, sent) else { return false };
        account.report.invocations += count;
        self.shaded.clear();
        let mut kept = self.keep();
        for event in events {
            match event {
                Event::Winding => self.assembly.reverse(),
                Event::Vertex(outputs) => {
                    let number = self.shaded.len() as u32;
                    self.shaded.push(map.vertex(Row::whole(&outputs.map(|v| v.map(f32::from_bits)))));
                    kept = self.assembly.push(kept, [number], |triangle| self.corners.push(triangle));
                }
            }
        }
        self.put_back(kept);
        self.send(memory, account, sink);
        true
    }

    fn send(&mut self, memory: &mut dyn Memory, account: &mut Account, sink: &mut Sink) {
        let triangles = Mesh::new(&self.shaded, &self.corners);
        account.report.triangles += triangles.len() as u64;
        if !triangles.is_empty() {
            let (pixels, error) = account.budget.pixels(|left| sink(memory, triangles, left));
            account.report.pixels += pixels;
            error.into_iter().for_each(|e| account.report.add(e));
            self.corners.clear();
        }
    }
}

/// Address of a draw's index array, and bytes of an index.
fn index_array(regs: &Registers) -> (u32, u32) {
    let address = attribute_base(regs).wrapping_add(regs.bits(INDEX_ARRAY, 0, 28));
    (address, if regs.bit(INDEX_ARRAY, 31) { 2 } else { 1 })
}

/// The indices in an array, of one or two bytes each.
fn index_values(bytes: &[u8], size: u32) -> impl Iterator<Item = u16> {
    bytes.chunks_exact(size as usize).map(|index| match *index {
        [low, high] => u16::from_le_bytes([low, high]),
        [low] => low.into(),
        _ => 0,
    })
}

/// Address and bytes of the first `count` indices of a draw.
pub(crate) fn index_span(regs: &Registers, count: u32) -> (u32, u32) {
    let (address, size) = index_array(regs);
    (address, count.saturating_mul(size))
}

/// Addresses and bytes of the first `count` vertices that a draw reads. Index arrays are read as they are in memory; where one
/// is not all memory, its vertices may be anywhere.
pub(crate) fn vertex_spans(
    regs: &Registers,
    fixed: &Bank,
    memory: &dyn Memory,
    indexed: bool,
    count: u32,
) -> Vec<(u32, u32)> {
    let (first, last) = if indexed {
        let (address, size) = index_array(regs);
        let bytes = memory.bytes(address, count.saturating_mul(size)).unwrap_or_default();
        let indices = index_values(bytes, size).map(u32::from);
        indices.fold((u32::MAX, 0), |(first, last), index| (first.min(index), last.max(index)))
    } else {
        let first = regs.get(FIRST_VERTEX);
        (first, first.saturating_add(count.saturating_sub(1)))
    };
    let loader = Loader::new(regs, fixed);
    let spans = loader.sources(u16::MAX).filter_map(|source| match source {
        // An array whose addresses wrap, or that no index is known of, may be anywhere.
        Source::Array(array) => {
            Some(array.range(first, last).map_or((0, u32::MAX), |r| (r.start, r.end - r.start)))
        }
        _ => None,
    });
    spans.collect()
}

/// Tells counts from vertices in the indices of a draw; what is shaded must be known before the geometry stage runs.
struct Counts {
    variable: bool,
    /// Vertices until the next count.
    left: u16,
}

impl Counts {
    fn new(variable: bool) -> Counts {
        Counts { variable, left: 0 }
    }

    fn is_count(&mut self, index: u16) -> bool {
        if !self.variable {
            return false;
        }
        if self.left == 0 {
            self.left = index;
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
    fn a_vertex_loaded_lately_is_not_loaded_again() {
        let mut loaded = Loaded::default();
        assert_eq!(loaded.last([3, 4, 3].into_iter(), true), Some(4));
        assert_eq!(loaded.last([3].into_iter(), true), None);
        assert_eq!(loaded.last(100..163, true), Some(162));
        // 64 came after it.
        assert_eq!(loaded.last([4, 3].into_iter(), true), Some(3));
        assert_eq!(loaded.last([7, 7].into_iter(), false), Some(7));
    }

    #[test]
    fn counts_stand_before_their_vertices() {
        let mut counts = Counts::new(true);
        let kinds = [2, 9, 9, 0, 1, 9].map(|i| counts.is_count(i));
        assert_eq!(kinds, [true, false, false, true, true, false]);
    }
}
