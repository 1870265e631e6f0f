//! The filter mixed with what it hears.

use crate::{Error, ToneFilter};
use core::fmt;

/// Channels of interleaved samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// One.
    Mono,
    /// Left, right.
    Stereo,
}

impl Channels {
    /// How many there are.
    pub fn count(self) -> usize {
        match self {
            Channels::Mono => 1,
            Channels::Stereo => 2,
        }
    }
}

/// What is filtered of a stereo signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The mean of the channels, by one filter. Both channels get its tones.
    #[default]
    Mean,
    /// Each channel, by a filter of its own.
    Each,
}

impl Mode {
    /// All of them.
    pub const ALL: [Mode; 2] = [Mode::Mean, Mode::Each];

    /// Its name: `mean` or `each`.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Mean => "mean",
            Mode::Each => "each",
        }
    }

    /// The one of that name.
    pub fn find(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Frames filtered at a time.
const CHUNK: usize = 256;

/// A signal with its tones mixed in; by default half of each.
#[derive(Clone, Debug)]
pub struct TonePlayer {
    filter: ToneFilter,
    /// The right channel's in [`Mode::Each`].
    right: ToneFilter,
    channels: Channels,
    mode: Mode,
    wet: f32,
}

impl TonePlayer {
    /// A player at rest for samples at `rate` Hz.
    ///
    /// # Errors
    /// As [`ToneFilter::new`].
    pub fn new(rate: u32, channels: Channels) -> Result<TonePlayer, Error> {
        Ok(TonePlayer::with_filter(ToneFilter::new(rate)?, channels))
    }

    /// A player of a filter.
    pub fn with_filter(filter: ToneFilter, channels: Channels) -> TonePlayer {
        TonePlayer { right: filter.clone(), filter, channels, mode: Mode::default(), wet: 0.5 }
    }

    /// The filter; the left channel's in [`Mode::Each`].
    pub fn filter(&self) -> &ToneFilter {
        &self.filter
    }

    /// The part of the tones in what comes out.
    pub fn wet(&self) -> f32 {
        self.wet
    }

    /// Sets the part of the tones, from 0 to 1; other numbers are clamped, and a NaN changes nothing. The rest is the signal as it
    /// was.
    pub fn set_wet(&mut self, wet: f32) {
        if !wet.is_nan() {
            self.wet = wet.clamp(0.0, 1.0);
        }
    }

    /// What is filtered of a stereo signal.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Sets what is filtered of a stereo signal. The right channel's filter goes on from where the one of both was.
    pub fn set_mode(&mut self, mode: Mode) {
        if self.mode == Mode::Mean && mode == Mode::Each {
            self.right.clone_from(&self.filter);
        }
        self.mode = mode;
    }

    /// Forgets the signal. The mix and the mode stay.
    pub fn reset(&mut self) {
        self.filter.reset();
        self.right.reset();
    }

    /// Mixes interleaved samples in place; frames go on where those of the last call ended. What is no whole frame at
    /// the end is left alone.
    pub fn process(&mut self, samples: &mut [f32]) {
        let channels = self.channels.count();
        let dry = 1.0 - self.wet;
        let (mut heard, mut tone) = ([[0.0; CHUNK]; 2], [[0.0; CHUNK]; 2]);
        for chunk in samples.chunks_mut(CHUNK * channels) {
            let frames = chunk.len() / channels;
            let [first, second] = &mut heard;
            for ((first, second), frame) in first.iter_mut().zip(second).zip(chunk.chunks_exact(channels)) {
                (*first, *second) = match (frame, self.mode) {
                    (&[left, right], Mode::Each) => (left, right),
                    (&[left, right], Mode::Mean) => (0.5 * left + 0.5 * right, 0.0),
                    _ => (frame[0], 0.0),
                };
            }
            self.filter.process(&heard[0][..frames], &mut tone[0][..frames]);
            let is_each = self.channels == Channels::Stereo && self.mode == Mode::Each;
            if is_each {
                self.right.process(&heard[1][..frames], &mut tone[1][..frames]);
            }
            let [left, right] = &tone;
            let right = if is_each { right } else { left };
            for ((frame, left), right) in chunk.chunks_exact_mut(channels).zip(left).zip(right) {
                for (sample, tone) in frame.iter_mut().zip([left, right]) {
                    *sample = dry * *sample + self.wet * tone;
                }
            }
        }
    }
}
