//! Counters that take time to keep: what is issued where, how busy threads are, and how often pixels are drawn.

use std::collections::BTreeMap;
use xenoglot_vpu::{MAX_PROGRAM_WORDS, Program, TILE_BUFFERS};

/// Most bins that are told apart; further ones are left out.
pub const MAX_BINS: usize = 1 << 14;
/// Most programs that are told apart; further ones count as the last.
pub const MAX_PROGRAMS: usize = 64;

/// What is counted from [`Machine::start_profile`](crate::Machine::start_profile) on.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Profile {
    /// Ticks.
    pub ticks: u64,
    /// By VPU.
    pub vpus: Vec<VpuProfile>,
    /// By program, in the order in which they were loaded first.
    pub programs: Vec<ProgramProfile>,
    /// By bin: its first pixel on the screen.
    pub bins: BTreeMap<[u16; 2], BinProfile>,
    /// Width and height of bins.
    pub bin_size: u32,
    program: usize,
    bin: [u16; 2],
    /// The bin that was drawn into each tile buffer last.
    tiles: [[u16; 2]; TILE_BUFFERS],
}

/// What a VPU did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct VpuProfile {
    /// Instructions.
    pub issued: u64,
    /// Ticks of all its threads.
    pub thread_ticks: u64,
}

/// What a program did.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ProgramProfile {
    /// The program.
    pub words: Vec<u32>,
    /// By word.
    pub hot: Vec<HotSpot>,
}

/// How often a word of a program was issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct HotSpot {
    /// How often.
    pub issued: u64,
    /// Ticks from its issue until the thread could issue again, of all threads; samples of textures without what they wait
    /// for memory and each other.
    pub ticks: u64,
}

/// What became of a bin.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BinProfile {
    /// Ticks of its draws.
    pub draw_ticks: u64,
    /// Ticks of the stores of its tile buffers.
    pub store_ticks: u64,
    /// Fragments of each pixel, row by row.
    pub fragments: Vec<u32>,
    /// Instructions of each pixel's threads.
    pub instructions: Vec<u32>,
}

impl Profile {
    pub(crate) fn new(vpus: usize, bin_size: u32, program: &Program) -> Profile {
        let vpus = vec![VpuProfile::default(); vpus];
        let mut profile = Profile { vpus, bin_size, ..Profile::default() };
        if !program.is_empty() {
            profile.load(program);
        }
        profile
    }

    /// A program is there from now on.
    pub(crate) fn load(&mut self, program: &Program) {
        let words = program.words();
        let known = self.programs.iter().position(|p| p.words == words);
        self.program = known.unwrap_or_else(|| {
            if self.programs.len() < MAX_PROGRAMS {
                self.programs.push(ProgramProfile { words, hot: Vec::new() });
            }
            self.programs.len() - 1
        });
    }

    /// A draw of a bin begins.
    pub(crate) fn begin(&mut self, bin: [u16; 2], targets: &[u8; TILE_BUFFERS]) {
        self.bin = bin;
        for &tile in targets {
            if let Some(place) = self.tiles.get_mut(usize::from(tile)) {
                *place = bin;
            }
        }
    }

    fn bin(&mut self, bin: [u16; 2]) -> Option<&mut BinProfile> {
        if self.bins.len() >= MAX_BINS && !self.bins.contains_key(&bin) {
            return None;
        }
        let pixels = (self.bin_size * self.bin_size) as usize;
        Some(self.bins.entry(bin).or_insert_with(|| BinProfile {
            fragments: vec![0; pixels],
            instructions: vec![0; pixels],
            ..BinProfile::default()
        }))
    }

    /// A draw has taken so many ticks.
    pub(crate) fn drawn(&mut self, bin: [u16; 2], ticks: u64) {
        if let Some(bin) = self.bin(bin) {
            bin.draw_ticks += ticks;
        }
    }

    /// The store of a tile buffer has taken so many ticks.
    pub(crate) fn stored(&mut self, tile: u8, ticks: u64) {
        let bin = self.tiles[usize::from(tile) % TILE_BUFFERS];
        if let Some(bin) = self.bin(bin) {
            bin.store_ticks += ticks;
        }
    }

    /// A fragment of the current draw is queued.
    pub(crate) fn fragment(&mut self, pixel: u16) {
        if let Some(count) = self.bin(self.bin).and_then(|bin| bin.fragments.get_mut(usize::from(pixel))) {
            *count = count.saturating_add(1);
        }
    }

    /// An instruction of the thread at a pixel is issued.
    pub(crate) fn issue(&mut self, vpu: u8, pixel: u16, word: u16, ticks: u64) {
        if let Some(vpu) = self.vpus.get_mut(usize::from(vpu)) {
            vpu.issued += 1;
        }
        if let Some(program) = self.programs.get_mut(self.program) {
            let word = usize::from(word).min(MAX_PROGRAM_WORDS);
            if program.hot.len() <= word {
                program.hot.resize(word + 1, HotSpot::default());
            }
            program.hot[word].issued += 1;
            program.hot[word].ticks += ticks;
        }
        if let Some(count) = self.bin(self.bin).and_then(|bin| bin.instructions.get_mut(usize::from(pixel))) {
            *count = count.saturating_add(1);
        }
    }

    /// Ticks pass with so many threads in each VPU.
    pub(crate) fn pass(&mut self, ticks: u64, threads: impl Iterator<Item = u32>) {
        self.ticks += ticks;
        for (vpu, threads) in self.vpus.iter_mut().zip(threads) {
            vpu.thread_ticks += ticks * u64::from(threads);
        }
    }

    /// Adds what another machine of the same kind has counted.
    pub fn merge(&mut self, other: &Profile) {
        self.ticks += other.ticks;
        if self.vpus.len() < other.vpus.len() {
            self.vpus.resize(other.vpus.len(), VpuProfile::default());
        }
        for (a, b) in self.vpus.iter_mut().zip(&other.vpus) {
            a.issued += b.issued;
            a.thread_ticks += b.thread_ticks;
        }
        for program in &other.programs {
            let known = self.programs.iter_mut().find(|p| p.words == program.words);
            let Some(known) = known else {
                if self.programs.len() < MAX_PROGRAMS {
                    self.programs.push(program.clone());
                }
                continue;
            };
            if known.hot.len() < program.hot.len() {
                known.hot.resize(program.hot.len(), HotSpot::default());
            }
            for (a, b) in known.hot.iter_mut().zip(&program.hot) {
                a.issued += b.issued;
                a.ticks += b.ticks;
            }
        }
        self.bin_size = self.bin_size.max(other.bin_size);
        for (&place, bin) in &other.bins {
            let Some(own) = self.bin(place) else { continue };
            own.draw_ticks += bin.draw_ticks;
            own.store_ticks += bin.store_ticks;
            let add = |a: &mut Vec<u32>, b: &[u32]| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a = a.saturating_add(*b));
            };
            add(&mut own.fragments, &bin.fragments);
            add(&mut own.instructions, &bin.instructions);
        }
    }
}
