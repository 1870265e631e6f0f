//! A VPU. It runs the instruction set of `xenoglot_vpu`; what takes part of it outside, takes it by the seam.

use super::NEVER;
use xenoglot_dragon::Event;
use xenoglot_dragon::cosim::*;
use xenoglot_vpu::exec::{Step, Surroundings, Thread, step};
use xenoglot_vpu::isa::Latency;
use xenoglot_vpu::number::{Fraction, Lanes};
use xenoglot_vpu::{Number, Op, Program, REGISTERS};

struct Slot {
    thread: Thread,
    pixel: u32,
    ready_at: u64,
    sampling: bool,
}

#[derive(Default)]
pub struct VpuModel {
    config: Config,
    number: Number,
    loads: Option<(u32, u32)>,
    program: Program,
    slots: Vec<Option<Slot>>,
    next: usize,
    /// The slot whose instruction has asked for a value.
    pending: Option<usize>,
}

/// What an instruction does outside.
struct Around<'a> {
    globals: &'a [Lanes; REGISTERS],
    /// What it asked for, if that is there.
    value: Option<Lanes>,
    access: (u32, u8, Lanes),
}

impl Around<'_> {
    fn ask(&mut self, access: u32, unit: u8, v: Lanes) -> Lanes {
        self.access = (access, unit, v);
        self.value.unwrap_or_default()
    }
}

impl Surroundings for Around<'_> {
    fn global(&self, n: u8) -> Lanes {
        self.globals[usize::from(n)]
    }

    fn load_tile(&mut self, n: u8) -> Lanes {
        self.ask(access::LOAD, n, Lanes::default())
    }

    fn store_tile(&mut self, n: u8, v: &Lanes) {
        self.ask(access::STORE, n, *v);
    }

    fn sample(&mut self, n: u8, uv: &Lanes) -> Lanes {
        self.ask(access::SAMPLE, n, *uv)
    }
}

impl VpuModel {
    fn latency(&self, op: Op) -> u32 {
        self.config.latency[match op.info().latency {
            Latency::Simple => 0,
            Latency::Multiply => 1,
            Latency::Dot => 2,
            Latency::Special => 3,
            Latency::Tile => 4,
            Latency::Texture => 5,
        }]
    }

    /// Slots with a thread, from the one whose turn it is.
    fn in_turn(&self) -> impl Iterator<Item = usize> + '_ {
        let count = self.slots.len();
        (0..count).map(move |n| (self.next + n) % count).filter(|&n| self.slots[n].is_some())
    }

    fn issue(&mut self, n: usize, input: &VpuInput, out: &mut VpuOutput) {
        self.next = (n + 1) % self.slots.len();
        let Some(slot) = &mut self.slots[n] else { return };
        let before = slot.thread.clone();
        let mut around =
            Around { globals: &input.globals, value: None, access: (access::NONE, 0, Lanes::default()) };
        let stepped = step(&mut slot.thread, &self.program, self.number, &mut around);
        (out.issue, out.pc, out.pixel, out.ticks) = (1, before.pc.into(), slot.pixel, 1);
        let (access, unit, value) = around.access;
        (out.access, out.unit, out.value, out.slot) = (access, unit.into(), value, n as u32);
        match stepped {
            Step::Next(op) => {
                if access == access::LOAD || access == access::SAMPLE {
                    // Its result comes with the next input.
                    slot.thread = before;
                    self.pending = Some(n);
                }
                slot.sampling = op == Op::Tex;
                out.ticks = self.latency(op);
                let ready_at = if op == Op::Tex { NEVER } else { input.now + u64::from(out.ticks) };
                if let Some(slot) = &mut self.slots[n] {
                    slot.ready_at = ready_at;
                }
            }
            end => {
                out.undefined = (end == Step::Undefined).into();
                self.slots[n] = None;
            }
        }
    }
}

impl Model<VpuInput, VpuOutput> for VpuModel {
    fn reset(&mut self, config: &Config) {
        let number = Fraction::new(config.fraction as u8).map_or(Number::Float, Number::Fixed);
        let slots = (0..config.threads).map(|_| None).collect();
        *self = VpuModel { config: *config, number, slots, ..Default::default() };
    }

    fn tick(&mut self, input: &VpuInput) -> VpuOutput {
        let mut out = VpuOutput { until: NEVER, ..Default::default() };
        if let Some(slot) = self.pending.take().and_then(|n| self.slots[n].as_mut()) {
            let (globals, value) = (&input.globals, Some(input.value));
            let mut around = Around { globals, value, access: (access::NONE, 0, Lanes::default()) };
            step(&mut slot.thread, &self.program, self.number, &mut around);
        }
        if self.loads != Some((input.loads, input.words)) {
            self.loads = Some((input.loads, input.words));
            self.program = Program::from_words(&input.program[..input.words as usize]);
        }
        if input.sampled != 0
            && let Some(slot) = &mut self.slots[input.slot as usize]
        {
            slot.ready_at = input.sampled_at;
        }
        let free = self.slots.iter().position(Option::is_none);
        let taken = self.slots.iter().flatten().any(|slot| slot.pixel == input.pixel);
        if let Some(free) = free.filter(|_| input.fragment != 0 && !taken) {
            let thread = Thread { registers: input.registers, pc: 0 };
            let (pixel, ready_at) = (input.pixel, input.now);
            self.slots[free] = Some(Slot { thread, pixel, ready_at, sampling: false });
            (out.take, out.event, out.until) = (1, Event::Tick as u32, 0);
        }
        let ready_at = |n: usize| self.slots[n].as_ref().map_or(NEVER, |slot| slot.ready_at);
        let ready = self.in_turn().find(|&n| ready_at(n) <= input.now);
        if let Some(n) = ready {
            (out.event, out.until) = (Event::Exec as u32, 0);
            self.issue(n, input, &mut out);
        } else if out.take == 0 && self.slots.iter().any(Option::is_some) {
            let sampling = self.slots.iter().flatten().all(|slot| slot.sampling);
            out.event = if sampling { Event::TexWait } else { Event::Latency } as u32;
            out.until = self.in_turn().map(ready_at).min().unwrap_or(NEVER);
        }
        out.threads = self.slots.iter().flatten().count() as u32;
        out
    }
}
