//! A VPU: threads that take fragments from its queue and issue one instruction a tick between them.

use super::fragment::Queue;
use super::texture::TextureUnit;
use crate::cosim::{Outcome, Replaceable, Seam, VpuInput, VpuOutput, access};
use crate::event::{Activity, Event, NEVER};
use crate::machine::{Faults, Shared};
use crate::memory::Sdram;
use crate::params::{Latencies, Params};
use crate::unit::tile::Tiles;
use serde::{Deserialize, Serialize};
use xenoglot_vpu::exec::{Step, Surroundings, Thread, step};
use xenoglot_vpu::isa::Latency;
use xenoglot_vpu::number::Lanes;
use xenoglot_vpu::{Number, Op, Program, REGISTERS, TILE_BUFFERS};

/// Instructions that an instant VPU issues in a tick at most.
const MAX_ISSUED: u32 = 1 << 16;

/// A thread's place.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Slot {
    thread: Thread,
    pixel: u16,
    /// When it can issue its next instruction.
    ready_at: u64,
    /// Whether it waits for the texture unit.
    sampling: bool,
}

/// A vector processing unit. Threads issue in turn; a fragment waits while another thread is at its pixel, so that each
/// pixel sees its fragments one after the other, in the order of the triangles.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Vpu {
    /// Its number.
    number: u8,
    pub queue: Queue,
    slots: Vec<Slot>,
    /// Bit n: slot n has a thread.
    active: u64,
    /// Pixels with a thread, a bit each.
    pixels: Vec<u64>,
    /// The slot that is asked first.
    next: usize,
    /// The earliest tick in which a thread can issue, as of the last tick.
    wake: u64,
    /// The word of the last instruction.
    pub issued: u16,
    seam: Seam<VpuInput, VpuOutput>,
    outside: Outside,
}

/// What the machine keeps for a model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Outside {
    threads: u32,
    /// What it loaded or sampled last.
    value: Lanes,
    /// The slot whose sample is there, and when it can be used.
    sampled: Option<(u32, u64)>,
    /// Bit n: the thread of slot n waits for the texture unit.
    sampling: u64,
}

impl Vpu {
    pub fn new(params: &Params, number: u8) -> Vpu {
        Vpu {
            number,
            queue: Queue::new(params.vpu_queue),
            slots: vec![Slot::default(); params.threads as usize],
            active: 0,
            pixels: vec![0; ((params.bin_size * params.bin_size) as usize).div_ceil(64)],
            next: 0,
            wake: NEVER,
            issued: 0,
            seam: Seam::default(),
            outside: Outside::default(),
        }
    }

    pub fn describe(&self) -> String {
        if self.seam.is_external() {
            let (threads, model) = (self.threads(), self.seam.describe());
            return format!("{threads} threads, {} fragments wait{model}", self.queue.len());
        }
        let words: Vec<String> =
            self.threads_in_order().map(|n| self.slots[n].thread.pc.to_string()).collect();
        let at = if words.is_empty() { String::new() } else { format!(" at {}", words.join(" ")) };
        format!("{} threads{at}, {} fragments wait", self.threads(), self.queue.len())
    }

    pub fn threads(&self) -> u32 {
        self.active.count_ones() + self.outside.threads
    }

    /// Whether this state is valid for `params`.
    pub fn is_sound(&self, params: &Params, number: u8) -> bool {
        let pixels = params.bin_size * params.bin_size;
        let threads = self.slots.len();
        let mut marks = Vpu { pixels: vec![0; self.pixels.len()], ..Vpu::new(params, self.number) };
        self.number == number
            && threads == params.threads as usize
            && self.pixels.len() == (pixels as usize).div_ceil(64)
            && self.next < threads
            && self.active.checked_shr(threads as u32).unwrap_or(0) == 0
            && self.slots.iter().all(|s| u32::from(s.pixel) < pixels)
            && self.queue.is_sound(params.vpu_queue, pixels)
            && self.outside.threads <= params.threads
            && self.outside.sampling.checked_shr(threads as u32).unwrap_or(0) == 0
            && {
                self.threads_in_order().for_each(|n| marks.mark(self.slots[n].pixel, true));
                marks.pixels == self.pixels
            }
    }

    fn mark(&mut self, pixel: u16, busy: bool) {
        let (word, bit) = (usize::from(pixel) / 64, 1 << (pixel % 64));
        if busy { self.pixels[word] |= bit } else { self.pixels[word] &= !bit }
    }

    fn is_marked(&self, pixel: u16) -> bool {
        self.pixels[usize::from(pixel) / 64] >> (pixel % 64) & 1 != 0
    }

    /// Starts a thread on the first fragment, if there is a slot and its pixel is free.
    fn dispatch(&mut self, now: u64) -> bool {
        let free = (!self.active).trailing_zeros() as usize;
        let Some(fragment) = self.queue.front().copied() else { return false };
        if free >= self.slots.len() || self.is_marked(fragment.pixel) {
            return false;
        }
        self.queue.pop();
        let slot = &mut self.slots[free];
        slot.thread.registers = fragment.registers;
        slot.thread.pc = 0;
        (slot.pixel, slot.ready_at, slot.sampling) = (fragment.pixel, now, false);
        self.active |= 1 << free;
        self.mark(fragment.pixel, true);
        self.wake = now;
        true
    }

    /// Starts and runs threads until none is left that does not wait for the texture unit.
    fn tick_instantly(&mut self, shared: &mut Shared, textures: &mut TextureUnit) -> Activity {
        let now = shared.now;
        let mut issued = 0;
        // Programs may loop for ever.
        while issued < MAX_ISSUED {
            while self.dispatch(now) {}
            let Some(n) = self.ready(now) else { break };
            self.issue(n, shared, textures);
            issued += 1;
        }
        match (issued, self.active) {
            (1.., _) => Activity::busy(Event::Exec, now),
            (0, 0) => Activity::IDLE,
            (0, _) => Activity::until(Event::TexWait, self.wake),
        }
    }

    /// Occupied slots in round-robin order, from the one that issues next.
    fn threads_in_order(&self) -> impl Iterator<Item = usize> + use<> {
        let (active, next) = (self.active, self.next);
        let parts = [active >> next << next, active & ((1 << next) - 1)];
        parts.into_iter().flat_map(|mut bits| {
            std::iter::from_fn(move || {
                let n = bits.trailing_zeros() as usize;
                bits &= bits.wrapping_sub(1);
                (n < 64).then_some(n)
            })
        })
    }

    /// The sample that the thread of a slot waits for is there, and can be used from a tick on.
    pub fn sampled(&mut self, slot: usize, ready_at: u64) {
        if self.seam.is_external() {
            self.outside.sampled = Some((slot as u32, ready_at));
            self.outside.sampling &= !1u64.checked_shl(slot as u32).unwrap_or(0);
            return;
        }
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.ready_at = ready_at;
            self.wake = self.wake.min(ready_at);
        }
    }

    /// The first thread that can issue; without one, notes when there will be one.
    fn ready(&mut self, now: u64) -> Option<usize> {
        self.wake = NEVER;
        for n in self.threads_in_order() {
            let ready_at = self.slots[n].ready_at;
            if ready_at <= now {
                // Others may be ready as well.
                self.wake = now;
                return Some(n);
            }
            self.wake = self.wake.min(ready_at);
        }
        None
    }

    fn issue(&mut self, n: usize, shared: &mut Shared, textures: &mut TextureUnit) {
        self.next = (n + 1) % self.slots.len();
        let slot = &mut self.slots[n];
        self.issued = slot.thread.pc;
        let now = shared.now;
        let number = shared.params.number;
        let (mut around, program) = Around::new(shared, textures, slot.pixel, [self.number, n as u8]);
        let stepped = step(&mut slot.thread, program, number, &mut around);
        let waits = around.waits;
        if let Some(profile) = &mut shared.profile {
            let ticks = match stepped {
                Step::Next(op) => latency(&shared.params.latency, op),
                _ => 1,
            };
            profile.issue(self.number, slot.pixel, self.issued, ticks.into());
        }
        match stepped {
            Step::Next(op) => {
                slot.sampling = op == Op::Tex;
                let own = if shared.params.instant.vpu { 0 } else { latency(&shared.params.latency, op) };
                slot.ready_at = if waits { NEVER } else { now + u64::from(own) };
            }
            end => {
                if end == Step::Undefined {
                    shared.faults |= Faults::INSTRUCTION;
                }
                let pixel = slot.pixel;
                self.active &= !(1 << n);
                self.mark(pixel, false);
            }
        }
    }
}

impl Replaceable for Vpu {
    type Input = VpuInput;
    type Output = VpuOutput;
    type Others<'a> = TextureUnit;

    fn seam(&self) -> &Seam<VpuInput, VpuOutput> {
        &self.seam
    }

    fn seam_mut(&mut self) -> &mut Seam<VpuInput, VpuOutput> {
        &mut self.seam
    }

    fn is_idle(&self) -> bool {
        self.threads() == 0 && self.queue.len() == 0
    }

    fn tick_own(&mut self, shared: &mut Shared, textures: &mut TextureUnit) -> Activity {
        if shared.params.instant.vpu {
            return self.tick_instantly(shared, textures);
        }
        let now = shared.now;
        let dispatched = self.queue.len() > 0 && self.dispatch(now);
        if now >= self.wake
            && let Some(n) = self.ready(now)
        {
            self.issue(n, shared, textures);
            return Activity::busy(Event::Exec, now);
        }
        if dispatched {
            return Activity::busy(Event::Tick, now);
        }
        if self.active == 0 {
            return Activity::IDLE;
        }
        let sampling = self.threads_in_order().all(|n| self.slots[n].sampling);
        Activity::until(if sampling { Event::TexWait } else { Event::Latency }, self.wake)
    }

    fn input(&mut self, shared: &mut Shared, _: &mut TextureUnit) -> (VpuInput, bool) {
        let mut input = VpuInput { now: shared.now, value: self.outside.value, ..VpuInput::default() };
        let sampled = self.outside.sampled.take();
        if let Some((slot, at)) = sampled {
            (input.sampled, input.slot, input.sampled_at) = (1, slot, at);
        }
        if let Some(fragment) = self.queue.front() {
            (input.fragment, input.pixel, input.registers) = (1, fragment.pixel.into(), fragment.registers);
        }
        (input.globals, input.loads) = (shared.globals, shared.loads);
        let words = shared.program.words();
        input.words = words.len() as u32;
        input.program.iter_mut().zip(words).for_each(|(a, b)| *a = b);
        (input, sampled.is_some())
    }

    fn carry_out(&mut self, output: &VpuOutput, shared: &mut Shared, textures: &mut TextureUnit) -> Outcome {
        let threads = output.threads.min(shared.params.threads);
        let mut sound = threads == output.threads;
        if output.take != 0 {
            sound &= self.queue.front().is_some();
            self.queue.pop();
        }
        let handed = output.take != 0 || output.access != access::NONE || threads != self.outside.threads;
        self.outside.threads = threads;
        if output.undefined != 0 {
            shared.faults |= Faults::INSTRUCTION;
        }
        if output.issue == 0 && output.access == access::NONE {
            return Outcome { sound, handed };
        }
        let pixels = shared.tiles.size * shared.tiles.size;
        let Some(pixel) = u16::try_from(output.pixel).ok().filter(|_| output.pixel < pixels) else {
            return Outcome { sound: false, handed };
        };
        if output.issue != 0 {
            self.issued = output.pc as u16;
            if let Some(profile) = &mut shared.profile {
                profile.issue(self.number, pixel, self.issued, output.ticks.into());
            }
        }
        let latency = u64::from(if shared.params.instant.vpu { 0 } else { shared.params.latency.texture });
        let now = shared.now;
        let slots = self.slots.len() as u32;
        let (mut around, _) = Around::new(shared, textures, pixel, [self.number, output.slot as u8]);
        let unit = (output.unit as usize % TILE_BUFFERS) as u8;
        match output.access {
            access::NONE => (),
            access::LOAD => self.outside.value = around.load_tile(unit),
            access::STORE => around.store_tile(unit, &output.value),
            // A thread has one sample at a time.
            access::SAMPLE if output.slot < slots && self.outside.sampling >> output.slot & 1 == 0 => {
                self.outside.value = around.sample(unit, &output.value);
                let waits = around.waits;
                if waits {
                    self.outside.sampling |= 1 << output.slot;
                } else {
                    self.sampled(output.slot as usize, now + latency);
                }
            }
            _ => sound = false,
        }
        Outcome { sound, handed }
    }
}

pub(crate) fn latency(latencies: &Latencies, op: Op) -> u32 {
    match op.info().latency {
        Latency::Simple => latencies.simple,
        Latency::Multiply => latencies.multiply,
        Latency::Dot => latencies.dot,
        Latency::Special => latencies.special,
        Latency::Tile => latencies.tile,
        Latency::Texture => latencies.texture,
    }
}

/// The machine around a thread.
struct Around<'a> {
    pixel: u16,
    number: Number,
    globals: &'a [Lanes; REGISTERS],
    targets: [u8; TILE_BUFFERS],
    tiles: &'a mut Tiles,
    memory: &'a Sdram,
    faults: &'a mut Faults,
    textures: &'a mut TextureUnit,
    /// The thread's VPU and slot.
    thread: [u8; 2],
    /// Whether it waits for the texture unit.
    waits: bool,
}

impl<'a> Around<'a> {
    /// The surroundings of a thread at a pixel, and its program.
    fn new(
        shared: &'a mut Shared,
        textures: &'a mut TextureUnit,
        pixel: u16,
        thread: [u8; 2],
    ) -> (Around<'a>, &'a Program) {
        let around = Around {
            pixel,
            number: shared.params.number,
            globals: &shared.globals,
            targets: shared.targets,
            tiles: &mut shared.tiles,
            memory: &shared.memory,
            faults: &mut shared.faults,
            textures,
            thread,
            waits: false,
        };
        (around, &shared.program)
    }

    fn tile(&self, n: u8) -> u8 {
        self.targets[usize::from(n) % TILE_BUFFERS] % TILE_BUFFERS as u8
    }
}

impl Surroundings for Around<'_> {
    fn global(&self, n: u8) -> Lanes {
        self.globals[usize::from(n) % REGISTERS]
    }

    fn load_tile(&mut self, n: u8) -> Lanes {
        let tile = self.tile(n);
        self.tiles.formats[usize::from(tile)].unpack(self.number, self.tiles.word(tile, self.pixel))
    }

    fn store_tile(&mut self, n: u8, v: &Lanes) {
        let tile = self.tile(n);
        let word = self.tiles.formats[usize::from(tile)].pack(self.number, v);
        self.tiles.set(tile, self.pixel, word);
    }

    fn sample(&mut self, n: u8, uv: &Lanes) -> Lanes {
        let (v, waits) = self.textures.sample(self.thread, self.number, n, uv, self.memory, self.faults);
        self.waits = waits;
        v
    }
}
