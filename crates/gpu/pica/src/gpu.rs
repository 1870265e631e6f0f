//! The GPU that an emulator embeds.

use crate::assembly::Topology;
use crate::command::{List, Write};
use crate::draw::{Account, Sink, Stages, index_span, vertex_spans};
use crate::early_depth::EarlyDepth;
use crate::immediate::Immediate;
use crate::lcd::{Frame, FrameError, Image};
use crate::memory::{ADDRESSES, Memory, ranges};
use crate::regs::*;
use crate::renderer::{Draw, Renderer};
use crate::report::{Budget, Error, Limits, Report};
use crate::shader::{Engines, Kind, UniformPort};
use crate::state::{self, Parts, StateError};
use crate::tables::Tables;
use crate::timing::{Drawn, Event, Observer, Timing, Work};
use crate::transfer::{DisplayTransfer, Fill, Job, TextureCopy, TransferError};

/// Immediate vertices that are drawn together.
const IMMEDIATE_BATCH: usize = 4096;

/// What happens after a register write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The next write.
    Go,
    /// The rest of the list is skipped.
    Stop,
    /// The list at an address, of some bytes, takes the place of this one.
    Jump(u32, u32),
}

/// A PICA200.
///
/// Guest memory is handed to each call, so that an emulator can keep it where it likes. Nothing a guest does is an
/// error of a call: what goes wrong is in the [`Report`], and the frame goes on.
pub struct Gpu<R> {
    regs: Registers,
    tables: Tables,
    stages: Stages,
    /// Float uniforms under way: geometry and vertex unit.
    ports: [UniformPort; 2],
    immediate: Immediate,
    early_depth: EarlyDepth,
    renderer: R,
    limits: Limits,
    report: Report,
    interrupts: u64,
    timing: Timing,
    observer: Option<Box<Observer>>,
    /// Register writes that no event has told of.
    untold: u64,
    /// Cycles of the call.
    cycles: u64,
}

impl<R: Renderer> Gpu<R> {
    /// A GPU after reset that shades with the engines that need no compiler.
    pub fn new(renderer: R) -> Gpu<R> {
        Gpu::with_engines(renderer, Engines::default())
    }

    /// A GPU after reset that shades with these engines.
    pub fn with_engines(renderer: R, engines: Engines) -> Gpu<R> {
        Gpu {
            regs: Registers::default(),
            tables: Tables::default(),
            stages: Stages::new(engines),
            ports: Default::default(),
            immediate: Immediate::default(),
            early_depth: EarlyDepth::default(),
            renderer,
            limits: Limits::default(),
            report: Report::default(),
            interrupts: 0,
            timing: Timing::default(),
            observer: None,
            untold: 0,
            cycles: 0,
        }
    }

    /// Bounds the work of each call from now on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Sets what operations cost from now on: see [`crate::timing`].
    pub fn set_timing(&mut self, timing: Timing) {
        self.timing = timing;
    }

    /// Sets a function that is told of each draw, fill, transfer and interrupt, in order, with its cycles.
    pub fn set_observer(&mut self, observer: Option<Box<Observer>>) {
        self.observer = observer;
    }

    /// The register file.
    pub fn registers(&self) -> &Registers {
        &self.regs
    }

    /// The register file, to set without what writes cause.
    pub fn registers_mut(&mut self) -> &mut Registers {
        &mut self.regs
    }

    /// The tables of the fragment stages.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The renderer.
    pub fn renderer(&self) -> &R {
        &self.renderer
    }

    /// The renderer.
    pub fn renderer_mut(&mut self) -> &mut R {
        &mut self.renderer
    }

    /// P3D interrupts raised since reset.
    pub fn interrupts(&self) -> u64 {
        self.interrupts
    }

    /// What was done and what went wrong since the last call.
    pub fn take_report(&mut self) -> Report {
        self.renderer.report(&mut self.report);
        std::mem::take(&mut self.report)
    }

    /// The state that lasts from one call to the next, as bytes: registers, tables, shader units, attributes, incomplete
    /// vertices and primitives. Guest memory is not in it: pixels drawn so far are brought there first, and the embedder saves
    /// it. Nor are the renderer, the engines, the limits and the report: any renderer can continue from a state.
    pub fn save_state(&mut self, memory: &mut dyn Memory) -> Vec<u8> {
        self.flush(memory);
        state::save(&self.parts())
    }

    /// Continues from a state that [`Gpu::save_state`] made. The embedder puts guest memory of the same moment in place before
    /// the next call: what the renderer has kept of the present memory is dropped.
    ///
    /// # Errors
    /// If the bytes are not a state, or one of another version, damaged or impossible. Nothing has changed then.
    pub fn load_state(&mut self, state: &[u8]) -> Result<(), StateError> {
        let parts = state::load(state)?;
        self.renderer.forget();
        let Parts {
            regs,
            tables,
            units: [geometry, vertex],
            ports,
            unit,
            immediate,
            assembly,
            collector,
            interrupts,
            retained,
            early_depth,
        } = parts;
        (self.regs, self.tables, self.ports, self.immediate) = (regs, tables, ports, immediate);
        (self.interrupts, self.early_depth) = (interrupts, early_depth);
        let stages = &mut self.stages;
        (stages.vertex, stages.geometry, stages.geometry_unit) = (vertex, geometry, unit);
        (stages.assembly, stages.collector, stages.retained) = (assembly, collector, retained);
        Ok(())
    }

    fn parts(&self) -> Parts {
        let Gpu { regs, tables, stages, ports, immediate, interrupts, early_depth, .. } = self;
        Parts {
            regs: regs.clone(),
            tables: tables.clone(),
            units: [stages.geometry.clone(), stages.vertex.clone()],
            ports: *ports,
            unit: stages.geometry_unit.clone(),
            immediate: immediate.clone(),
            assembly: stages.assembly.clone(),
            collector: stages.collector.clone(),
            interrupts: *interrupts,
            retained: stages.retained,
            early_depth: early_depth.clone(),
        }
    }

    /// Writes a register from outside a list. A jump runs the list it goes to. Gives the [cycles](crate::timing) that the
    /// chip would have taken, as the calls below do.
    pub fn write_register(&mut self, memory: &mut dyn Memory, register: u32, value: u32) -> u64 {
        self.write_register_bytes(memory, register, value, 0xf)
    }

    /// As [`Gpu::write_register`]; of the register only the bytes in `mask`, 4 bits, change.
    pub fn write_register_bytes(
        &mut self,
        memory: &mut dyn Memory,
        register: u32,
        value: u32,
        mask: u8,
    ) -> u64 {
        let mut budget = Budget::new(self.limits);
        match self.write(memory, Write::new(register, value, mask.into()), &mut budget) {
            Next::Jump(address, bytes) => self.run(memory, List::new(address, bytes), &mut budget),
            Next::Go | Next::Stop => {
                self.draw_immediate(memory, &mut budget);
                self.renderer.finish(memory);
            }
        }
        self.report.instructions += budget.instructions();
        self.end()
    }

    /// Runs the command list of `bytes` bytes at a physical address.
    pub fn run_command_list(&mut self, memory: &mut dyn Memory, address: u32, bytes: u32) -> u64 {
        let mut budget = Budget::new(self.limits);
        self.run(memory, List::new(address, bytes), &mut budget);
        self.report.instructions += budget.instructions();
        self.end()
    }

    /// Ends a call: its cycles.
    fn end(&mut self) -> u64 {
        self.tell_writes();
        std::mem::take(&mut self.cycles)
    }

    /// Tells of work that was done.
    fn tell(&mut self, event: Event) {
        self.cycles = self.cycles.saturating_add(event.cycles);
        self.report.cycles.add(event);
        if let Some(observer) = &mut self.observer {
            observer(event);
        }
    }

    /// Tells of register writes.
    fn tell_writes(&mut self) {
        let count = std::mem::take(&mut self.untold);
        if count != 0 {
            self.tell(Event { work: Work::Writes, cycles: self.timing.writes(count) });
        }
    }

    /// Fills memory.
    pub fn fill(&mut self, memory: &mut dyn Memory, fill: &Fill) -> u64 {
        self.transfer(memory, Ok(fill.job()))
    }

    /// Transfers an image.
    pub fn display_transfer(&mut self, memory: &mut dyn Memory, transfer: &DisplayTransfer) -> u64 {
        self.transfer(memory, transfer.job())
    }

    /// Copies memory.
    pub fn texture_copy(&mut self, memory: &mut dyn Memory, copy: &TextureCopy) -> u64 {
        self.transfer(memory, Ok(copy.job()))
    }

    fn transfer(&mut self, memory: &mut dyn Memory, job: Result<Option<Job>, TransferError>) -> u64 {
        let done = job.and_then(|job| job.map_or(Ok(()), |job| self.transfer_job(memory, &job)));
        self.renderer.finish(memory);
        self.note(done.map_err(Error::from));
        self.end()
    }

    fn transfer_job(&mut self, memory: &mut dyn Memory, job: &Job) -> Result<(), TransferError> {
        job.check(memory)?;
        let event = self.timing.job(job);
        if self.renderer.transfer(memory, job) {
            self.tell(event);
            return Ok(());
        }
        let to = job.destination().range();
        for range in job.source().map(|span| span.range()).iter().chain([&to]) {
            self.renderer.flush_region(memory, range);
        }
        job.run(memory)?;
        self.renderer.invalidate_region(&to);
        self.tell(event);
        Ok(())
    }

    /// Brings the renderer's bytes of a range to guest memory, for an access that is about to read it or to write some of it.
    /// Needed only for memory that [is tracked](Memory::is_tracked); cheap where the renderer has nothing.
    pub fn flush_region(&mut self, memory: &mut dyn Memory, address: u32, len: u32) {
        for range in ranges(address, len.into()) {
            self.renderer.flush_region(memory, &range);
        }
    }

    /// Drops the renderer's bytes of a range, after the embedder has written to guest memory there.
    pub fn invalidate_region(&mut self, address: u32, len: u32) {
        for range in ranges(address, len.into()) {
            self.renderer.invalidate_region(&range);
        }
    }

    /// Brings all that was drawn to guest memory.
    pub fn flush(&mut self, memory: &mut dyn Memory) {
        self.renderer.flush_region(memory, &ADDRESSES);
    }

    /// The picture of a frame with the renderer's resolution: as [`Gpu::show`], or larger if the renderer has a scale.
    ///
    /// # Errors
    /// [`FrameError`].
    pub fn picture(&mut self, memory: &mut dyn Memory, frame: &Frame) -> Result<Image, FrameError> {
        match self.renderer.picture(memory, frame) {
            Some(image) => Ok(image),
            None => self.show(memory, frame),
        }
    }

    /// The picture of a frame, by way of guest memory. For pictures that stay on the host's GPU, renderers have their own call.
    ///
    /// # Errors
    /// [`FrameError`].
    pub fn show(&mut self, memory: &mut dyn Memory, frame: &Frame) -> Result<Image, FrameError> {
        self.flush_region(memory, frame.address, u32::try_from(frame.bytes()).unwrap_or(u32::MAX));
        frame.read(memory)
    }

    fn note(&mut self, done: Result<(), Error>) {
        if let Err(error) = done {
            self.report.add(error);
        }
    }

    fn run(&mut self, memory: &mut dyn Memory, mut list: List, budget: &mut Budget) {
        self.bring(memory, list.span());
        loop {
            let next = match list.next(memory) {
                Ok(Some(write)) => self.write(memory, write, budget),
                Ok(None) => break,
                Err(error) => {
                    self.report.add(error.into());
                    break;
                }
            };
            match next {
                Next::Go => {}
                Next::Stop => break,
                Next::Jump(address, bytes) => {
                    list = List::new(address, bytes);
                    self.bring(memory, list.span());
                }
            }
        }
        self.draw_immediate(memory, budget);
        self.renderer.finish(memory);
    }

    /// Brings what the GPU itself is about to read to guest memory.
    fn bring(&mut self, memory: &mut dyn Memory, (address, len): (u32, u32)) {
        if self.renderer.owns(&ADDRESSES) {
            self.flush_region(memory, address, len);
        }
    }

    /// One register write with all it causes.
    fn write(&mut self, memory: &mut dyn Memory, write: Write, budget: &mut Budget) -> Next {
        if let Err(error) = budget.write() {
            self.report.add(error);
            return Next::Stop;
        }
        self.report.writes += 1;
        self.untold += 1;
        let Write { register, value, mask } = write;
        if register as usize >= COUNT {
            return Next::Go;
        }
        let is_attribute = register.wrapping_sub(FIXED_ATTRIBUTE_DATA) < 3;
        if !is_attribute || self.immediate.pending.len() >= IMMEDIATE_BATCH {
            // What comes may change how the vertices so far are drawn.
            self.draw_immediate(memory, budget);
        }
        let old = self.regs.get(register);
        self.regs.set(register, old & !mask | value & mask);
        match register {
            INTERRUPT_REQUEST => {
                let bytes = self.regs.get(INTERRUPT_REQUEST).to_le_bytes();
                let compare = self.regs.get(INTERRUPT_COMPARE).to_le_bytes();
                if bytes.iter().zip(compare).any(|(a, b)| *a == b) {
                    self.interrupts += 1;
                    self.tell_writes();
                    self.tell(Event { work: Work::Interrupt, cycles: 0 });
                    if self.regs.bit(INTERRUPT_STOP, 0) {
                        return Next::Stop;
                    }
                }
            }
            DRAW_ARRAYS => self.draw(memory, false, budget),
            DRAW_INDEXED => self.draw(memory, true, budget),
            EARLY_DEPTH_CLEAR if self.regs.bit(EARLY_DEPTH_CLEAR, 0) => {
                self.early_depth.clear(self.regs.bits(EARLY_DEPTH_VALUE, 0, 24));
            }
            FIXED_ATTRIBUTE => {
                self.immediate.select();
                self.stages.collector.reset();
            }
            _ if is_attribute => self.immediate.push(&mut self.regs, value),
            PRIMITIVES => self.stages.assembly.configure(Topology::of(self.regs.bits(PRIMITIVES, 8, 2))),
            RESTART => self.stages.assembly.restart(),
            _ if register.wrapping_sub(LIST_JUMP) < 2 => {
                let channel = register - LIST_JUMP;
                let address = self.regs.bits(LIST_ADDRESS + channel, 0, 29) * 8;
                let bytes = self.regs.bits(LIST_SIZE + channel, 0, 29) * 8;
                return Next::Jump(address, bytes);
            }
            _ => match Kind::of(register) {
                Some(kind) => self.upload(kind, register, value),
                None => self.tables.write_port(&mut self.regs, register, value),
            },
        }
        Next::Go
    }

    /// A write to a shader unit's registers.
    fn upload(&mut self, kind: Kind, register: u32, value: u32) {
        let [geometry, vertex] = &mut self.ports;
        let port = if kind == Kind::Vertex { vertex } else { geometry };
        let Some(upload) = port.decode(kind, &mut self.regs, register, value) else { return };
        if kind == Kind::Vertex {
            self.stages.vertex.take(upload);
        }
        if kind == Kind::Geometry || !self.regs.bit(GEOMETRY_EXCLUSIVE, 0) {
            self.stages.geometry.take(upload);
        }
    }

    fn draw(&mut self, memory: &mut dyn Memory, indexed: bool, budget: &mut Budget) {
        // Not more than the draw may read: indices are looked at to know which vertices these are.
        let count = budget.allowed(self.regs.get(VERTEX_COUNT));
        if count != 0 && self.renderer.owns(&ADDRESSES) {
            if indexed {
                self.bring(memory, index_span(&self.regs, count));
            }
            for span in vertex_spans(&self.regs, &self.immediate.fixed, memory, indexed, count) {
                self.bring(memory, span);
            }
        }
        self.drawn(|gpu| {
            let Gpu { regs, tables, stages, immediate, early_depth, renderer, report, .. } = gpu;
            let mut account = Account { chip: renderer.chip(), budget, report };
            let sink: &mut Sink = &mut |memory, triangles, pixels| {
                renderer.draw(Draw { regs, tables, memory, early_depth, triangles, pixels })
            };
            stages.draw(regs, &immediate.fixed, memory, indexed, &mut account, sink);
        });
    }

    /// Draws the immediate vertices there are.
    fn draw_immediate(&mut self, memory: &mut dyn Memory, budget: &mut Budget) {
        if self.immediate.pending.is_empty() {
            return;
        }
        self.drawn(|gpu| {
            let Gpu { regs, tables, stages, immediate, early_depth, renderer, report, .. } = gpu;
            let mut account = Account { chip: renderer.chip(), budget, report };
            let sink: &mut Sink = &mut |memory, triangles, pixels| {
                renderer.draw(Draw { regs, tables, memory, early_depth, triangles, pixels })
            };
            stages.immediate(regs, &immediate.pending, memory, &mut account, sink);
            immediate.pending.clear();
        });
    }

    /// Draws, and tells of it.
    fn drawn(&mut self, draw: impl FnOnce(&mut Self)) {
        let counts = |gpu: &Self| {
            let Report { vertices, invocations, triangles, pixels, .. } = gpu.report;
            Drawn { vertices, invocations, triangles, pixels, instructions: gpu.stages.instructions }
        };
        self.tell_writes();
        let before = counts(self);
        draw(self);
        let after = counts(self);
        let cycles = self.timing.draw(&Drawn {
            vertices: after.vertices - before.vertices,
            invocations: after.invocations - before.invocations,
            triangles: after.triangles - before.triangles,
            pixels: after.pixels - before.pixels,
            instructions: after.instructions,
        });
        self.tell(Event { work: Work::Draw, cycles });
    }
}
