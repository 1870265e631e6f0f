//! The program loader and the unit that writes globals: one timer each.

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
    pub fn is_idle(&self) -> bool {
        self.job.is_none()
    }

    pub fn start(&mut self, address: u32, sig: u32) {
        self.job = Some(LoadJob { address, sig, done: None });
    }

    pub fn tick(&mut self, shared: &mut Shared) -> Activity {
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
        if let Some(profile) = &mut self.profile {
            profile.load(&self.program);
        }
    }
}

/// Writes globals.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WriteGlobal {
    job: Option<(u8, Lanes, u32)>,
}

impl WriteGlobal {
    pub fn is_idle(&self) -> bool {
        self.job.is_none()
    }

    pub fn start(&mut self, global: u8, value: Lanes, sig: u32) {
        self.job = Some((global, value, sig));
    }

    pub fn tick(&mut self, shared: &mut Shared) -> Activity {
        let Some((global, value, sig)) = self.job.take() else { return Activity::IDLE };
        shared.globals[usize::from(global & 15)] = value;
        shared.sig |= sig;
        Activity::busy(Event::Tick, shared.now)
    }
}
