//! The program loader and the unit that writes globals: one timer each.

use crate::cosim::{Outcome, ProgramLoadInput, ProgramLoadOutput, Replaceable, Seam};
use crate::cosim::{WriteGlobalInput, WriteGlobalOutput};
use crate::event::{Activity, Event};
use crate::machine::Shared;
use crate::memory::Direction;
use crate::unit::Unit;
use serde::{Deserialize, Serialize};
use xenoglot_vpu::number::Lanes;
use xenoglot_vpu::{MAX_PROGRAM_WORDS, Program};

/// Loads whole programs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ProgramLoad {
    job: Option<LoadJob>,
    seam: Seam<ProgramLoadInput, ProgramLoadOutput>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct LoadJob {
    address: u32,
    sig: u32,
    /// When the access is done, once it has begun.
    done: Option<u64>,
}

const PROGRAM_BYTES: usize = 4 * MAX_PROGRAM_WORDS;

impl ProgramLoad {
    pub fn start(&mut self, address: u32, sig: u32) {
        self.job = Some(LoadJob { address, sig, done: None });
    }
}

impl Replaceable for ProgramLoad {
    type Input = ProgramLoadInput;
    type Output = ProgramLoadOutput;
    type Others<'a> = ();

    fn seam(&self) -> &Seam<ProgramLoadInput, ProgramLoadOutput> {
        &self.seam
    }

    fn seam_mut(&mut self) -> &mut Seam<ProgramLoadInput, ProgramLoadOutput> {
        &mut self.seam
    }

    fn is_idle(&self) -> bool {
        self.job.is_none()
    }

    fn input(&mut self, shared: &mut Shared, (): &mut ()) -> (ProgramLoadInput, bool) {
        let valid = self.seam.tell(self.job.is_some());
        let (memory, _) = self.seam.reply(shared.now);
        let address = self.job.map_or(0, |job| job.address);
        let input = ProgramLoadInput { now: shared.now, memory, valid: valid.into(), address };
        (input, valid || memory.valid != 0)
    }

    fn carry_out(&mut self, output: &ProgramLoadOutput, shared: &mut Shared, (): &mut ()) -> Outcome {
        let mut sound = self.seam.request(Unit::ProgramLoad, Direction::Read, &output.request, shared);
        if output.finished != 0 {
            self.seam.finish();
            match self.job.take() {
                Some(job) => {
                    shared.load_program(job.address);
                    shared.sig |= job.sig;
                }
                None => sound = false,
            }
        }
        Outcome { sound, handed: output.finished != 0 || output.request.valid != 0 }
    }

    fn tick_own(&mut self, shared: &mut Shared, (): &mut ()) -> Activity {
        let Some(job) = &mut self.job else { return Activity::IDLE };
        let begin = || shared.access(Unit::ProgramLoad, Direction::Read, job.address, PROGRAM_BYTES as u32);
        let done = *job.done.get_or_insert_with(begin);
        if shared.now < done {
            return Activity::until(Event::MemRead, done);
        }
        shared.load_program(job.address);
        shared.sig |= job.sig;
        self.job = None;
        Activity::busy(Event::Tick, shared.now)
    }
}

impl Shared {
    /// What memory holds at an address becomes the program.
    fn load_program(&mut self, address: u32) {
        let bytes: [u8; PROGRAM_BYTES] = self.memory.read(address, &mut self.faults);
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        self.program = Program::from_words(&words);
        self.loads = self.loads.wrapping_add(1);
        if let Some(profile) = &mut self.profile {
            profile.load(&self.program);
        }
    }
}

/// Writes globals.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WriteGlobal {
    job: Option<(u8, Lanes, u32)>,
    seam: Seam<WriteGlobalInput, WriteGlobalOutput>,
}

impl WriteGlobal {
    pub fn start(&mut self, global: u8, value: Lanes, sig: u32) {
        self.job = Some((global, value, sig));
    }
}

impl Replaceable for WriteGlobal {
    type Input = WriteGlobalInput;
    type Output = WriteGlobalOutput;
    type Others<'a> = ();

    fn seam(&self) -> &Seam<WriteGlobalInput, WriteGlobalOutput> {
        &self.seam
    }

    fn seam_mut(&mut self) -> &mut Seam<WriteGlobalInput, WriteGlobalOutput> {
        &mut self.seam
    }

    fn is_idle(&self) -> bool {
        self.job.is_none()
    }

    fn input(&mut self, shared: &mut Shared, (): &mut ()) -> (WriteGlobalInput, bool) {
        let valid = self.seam.tell(self.job.is_some());
        let (global, value, _) = self.job.unwrap_or_default();
        (WriteGlobalInput { now: shared.now, valid: valid.into(), global: global.into(), value }, valid)
    }

    fn carry_out(&mut self, output: &WriteGlobalOutput, shared: &mut Shared, (): &mut ()) -> Outcome {
        let handed = output.finished != 0;
        if !handed {
            return Outcome { sound: true, handed };
        }
        self.seam.finish();
        let global = shared.globals.get_mut(output.global as usize);
        let sound = match (self.job.take(), global) {
            (Some((_, _, sig)), Some(global)) => {
                *global = output.value;
                shared.sig |= sig;
                true
            }
            _ => false,
        };
        Outcome { sound, handed }
    }

    fn tick_own(&mut self, shared: &mut Shared, (): &mut ()) -> Activity {
        let Some((global, value, sig)) = self.job.take() else { return Activity::IDLE };
        shared.globals[usize::from(global & 15)] = value;
        shared.sig |= sig;
        Activity::busy(Event::Tick, shared.now)
    }
}
