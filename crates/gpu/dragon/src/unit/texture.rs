//! The texture unit all VPUs share: one sample at a time, a cache of lines of 32 bytes.

use crate::event::{Activity, Event};
use crate::machine::Faults;
use crate::memory::{BURST, Direction, HORIZON, Sdram};
use crate::params::Params;
use serde::{Deserialize, Serialize};
use xenoglot_vpu::number::Lanes;
use xenoglot_vpu::{Number, TEXTURES, Texture};

/// Samples in the order of the requests. The cache has tags only: what is sampled is what memory holds when the sample
/// is asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TextureUnit {
    pub textures: [Texture; TEXTURES],
    tags: Vec<u32>,
    /// Whether samples take no time.
    instant: bool,
    /// When it can begin the next sample.
    free_at: u64,
    /// Until when it waits for memory.
    missing_until: u64,
}

/// No line: lines are addresses divided by 32.
const EMPTY: u32 = u32::MAX;

impl TextureUnit {
    pub fn new(params: &Params) -> TextureUnit {
        let tags = vec![EMPTY; params.texture_cache as usize];
        let instant = params.instant.texture;
        TextureUnit { textures: Default::default(), tags, instant, free_at: 0, missing_until: 0 }
    }

    /// Whether this state is valid for `params` in tick `now`.
    pub fn is_sound(&self, params: &Params, now: u64) -> bool {
        self.tags.len() == params.texture_cache as usize
            && self.instant == params.instant.texture
            && self.free_at.saturating_sub(now) <= HORIZON
    }

    /// Forgets what is cached, when a texture is changed.
    pub fn flush(&mut self) {
        self.tags.fill(EMPTY);
    }

    /// Samples; gives the tick in which the sample leaves the unit's queue and cache, its latency apart.
    pub fn sample(
        &mut self,
        now: u64,
        number: Number,
        unit: u8,
        uv: &Lanes,
        memory: &mut Sdram,
        faults: &mut Faults,
    ) -> (Lanes, u64) {
        let instant = self.instant;
        let texture = self.textures[usize::from(unit) % TEXTURES];
        let start = if instant { now } else { now.max(self.free_at) };
        let mut at = start;
        let tags = &mut self.tags;
        let mut word = |address: u32| {
            let line = address / BURST;
            let slot = line as usize % tags.len();
            if tags[slot] != line {
                tags[slot] = line;
                at = memory.access_by(instant, at, Direction::Read, line * BURST, BURST);
            }
            u32::from_le_bytes(memory.read(address, faults))
        };
        let v = texture.sample(number, uv, &mut word);
        if instant {
            return (v, now);
        }
        if at > start {
            self.missing_until = at;
        }
        self.free_at = at.max(start + 1);
        (v, at)
    }

    pub fn is_idle(&self, now: u64) -> bool {
        now >= self.free_at
    }

    pub fn tick(&self, now: u64) -> Activity {
        if now < self.missing_until {
            Activity::until(Event::MemRead, self.missing_until)
        } else if now < self.free_at {
            Activity::until(Event::Tick, self.free_at)
        } else {
            Activity::IDLE
        }
    }
}
