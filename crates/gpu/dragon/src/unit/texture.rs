//! The texture unit all VPUs share: one sample at a time, a cache of lines of 32 bytes.

use crate::cosim::{MAX_LINES, MAX_SAMPLES, Outcome, Replaceable, Sample, Seam, TextureInput, TextureOutput};
use crate::event::{Activity, Event};
use crate::machine::{Faults, Shared};
use crate::memory::{BURST, Direction, Sdram};
use crate::params::Params;
use crate::unit::Unit;
use crate::unit::vpu::Vpu;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use xenoglot_vpu::number::Lanes;
use xenoglot_vpu::{Number, TEXTURES, Texture};

/// A sample that a thread waits for.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Request {
    /// VPU and slot of the thread.
    thread: [u8; 2],
    /// Lines of memory that it needs, in order; some may be the same.
    lines: [u32; MAX_LINES],
    count: u8,
}

impl Request {
    fn add(&mut self, line: u32) {
        let count = usize::from(self.count);
        let known = self.lines.iter().take(count).any(|&l| l == line);
        if let Some(place) = self.lines.get_mut(count).filter(|_| !known) {
            *place = line;
            self.count += 1;
        }
    }
}

/// Samples in the order of the requests. The cache has tags only: what is sampled is what memory holds when the sample
/// is asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TextureUnit {
    pub textures: [Texture; TEXTURES],
    tags: Vec<u32>,
    /// Whether samples take no time.
    instant: bool,
    requests: VecDeque<Request>,
    /// Lines of the first request that are there.
    fetched: u8,
    /// When the line after those is there, if it is being fetched.
    fetch: Option<u64>,
    /// Lines that were wanted and were there, and those that were not.
    pub hits: u64,
    pub misses: u64,
    seam: Seam<TextureInput, TextureOutput>,
    /// Whether a model is to forget what it has cached.
    flush: bool,
    /// Requests that a model was handed.
    handed: usize,
}

/// No line: lines are addresses divided by 32.
const EMPTY: u32 = u32::MAX;

impl TextureUnit {
    pub fn new(params: &Params) -> TextureUnit {
        TextureUnit {
            textures: Default::default(),
            tags: vec![EMPTY; params.texture_cache as usize],
            instant: params.instant.texture,
            requests: VecDeque::new(),
            fetched: 0,
            fetch: None,
            hits: 0,
            misses: 0,
            seam: Seam::default(),
            flush: false,
            handed: 0,
        }
    }

    /// Whether this state is valid for `params`.
    pub fn is_sound(&self, params: &Params) -> bool {
        let sound = |r: &Request| usize::from(r.count) <= MAX_LINES && u32::from(r.thread[0]) < params.vpus;
        self.tags.len() == params.texture_cache as usize
            && self.instant == params.instant.texture
            && self.requests.len() <= (params.vpus * params.threads) as usize
            && self.requests.iter().all(sound)
            && self.handed <= self.requests.len()
            && self.fetched <= MAX_LINES as u8
            && [self.hits, self.misses].iter().all(|&n| n <= i64::MAX as u64 / 400)
    }

    /// Forgets what is cached, when a texture is changed.
    pub fn flush(&mut self) {
        self.tags.fill(EMPTY);
        self.flush = true;
    }

    /// Samples for a thread; whether it has to wait until it is [told](Vpu::sampled) that the sample is there.
    pub fn sample(
        &mut self,
        thread: [u8; 2],
        number: Number,
        unit: u8,
        uv: &Lanes,
        memory: &Sdram,
        faults: &mut Faults,
    ) -> (Lanes, bool) {
        let mut request = Request { thread, ..Request::default() };
        let mut word = |address: u32| {
            request.add(address / BURST);
            u32::from_le_bytes(memory.read(address, faults))
        };
        let v = self.textures[usize::from(unit) % TEXTURES].sample(number, uv, &mut word);
        if !self.instant {
            self.requests.push_back(request);
        }
        (v, !self.instant)
    }

    /// The first request's sample is there.
    fn finish(&mut self, shared: &Shared, vpus: &mut [Vpu]) -> bool {
        let Some(request) = self.requests.pop_front() else { return false };
        let [vpu, slot] = request.thread.map(usize::from);
        let latency = if shared.params.instant.vpu { 0 } else { shared.params.latency.texture };
        if let Some(vpu) = vpus.get_mut(vpu) {
            vpu.sampled(slot, shared.now + u64::from(latency));
        }
        true
    }
}

impl Replaceable for TextureUnit {
    type Input = TextureInput;
    type Output = TextureOutput;
    type Others<'a> = [Vpu];

    fn seam(&self) -> &Seam<TextureInput, TextureOutput> {
        &self.seam
    }

    fn seam_mut(&mut self) -> &mut Seam<TextureInput, TextureOutput> {
        &mut self.seam
    }

    fn is_idle(&self) -> bool {
        self.requests.is_empty()
    }

    fn input(&mut self, shared: &mut Shared, _: &mut [Vpu]) -> (TextureInput, bool) {
        let (memory, _) = self.seam.reply(shared.now);
        let flush = std::mem::take(&mut self.flush);
        let mut input = TextureInput { now: shared.now, memory, flush: flush.into(), ..Default::default() };
        let new = self.requests.iter().skip(self.handed).take(MAX_SAMPLES);
        for (sample, request) in input.samples.iter_mut().zip(new) {
            let [vpu, slot] = request.thread.map(u32::from);
            *sample = Sample { vpu, slot, count: request.count.into(), lines: request.lines };
            input.count += 1;
        }
        self.handed += input.count as usize;
        (input, flush || memory.valid != 0 || input.count != 0)
    }

    fn carry_out(&mut self, output: &TextureOutput, shared: &mut Shared, vpus: &mut [Vpu]) -> Outcome {
        let mut sound = self.seam.request(Unit::Texture, Direction::Read, &output.request, shared);
        let most = MAX_LINES as u32;
        sound &= output.hits <= most && output.misses <= most;
        self.hits += u64::from(output.hits.min(most));
        self.misses += u64::from(output.misses.min(most));
        if output.finished != 0 {
            let known = self.handed > 0;
            if known {
                self.handed -= 1;
            }
            sound &= known && self.finish(shared, vpus);
        }
        Outcome { sound, handed: output.finished != 0 || output.request.valid != 0 }
    }

    fn tick_own(&mut self, shared: &mut Shared, vpus: &mut [Vpu]) -> Activity {
        let Some(request) = self.requests.front() else { return Activity::IDLE };
        if let Some(done) = self.fetch {
            if shared.now < done {
                return Activity::until(Event::MemRead, done);
            }
            self.fetch = None;
            self.fetched += 1;
        }
        let wanted = request.lines.iter().take(usize::from(request.count));
        for &line in wanted.skip(usize::from(self.fetched)) {
            let slot = line as usize % self.tags.len();
            if self.tags[slot] == line {
                self.hits += 1;
                self.fetched += 1;
                continue;
            }
            self.tags[slot] = line;
            self.misses += 1;
            let done = shared.access(Unit::Texture, Direction::Read, line * BURST, BURST);
            if shared.now < done {
                self.fetch = Some(done);
                return Activity::until(Event::MemRead, done);
            }
            self.fetched += 1;
        }
        self.finish(shared, vpus);
        self.fetched = 0;
        Activity::busy(Event::Tick, shared.now)
    }
}
