//! The filter mixed with what it hears.

use crate::{Error, ToneFilter};

/// Channels of interleaved samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// One.
    Mono,
    /// Left, right.
    Stereo,
}

/// Frames filtered at a time.
const CHUNK: usize = 256;

/// Half the signal as it was, half the tones in the mean of its channels.
#[derive(Clone, Debug)]
pub struct TonePlayer {
    filter: ToneFilter,
    channels: Channels,
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
        TonePlayer { filter, channels }
    }

    /// The filter.
    pub fn filter(&self) -> &ToneFilter {
        &self.filter
    }

    /// Mixes interleaved samples in place; frames go on where those of the last call ended. What is no whole frame at
    /// the end is left alone.
    pub fn process(&mut self, samples: &mut [f32]) {
        let channels = match self.channels {
            Channels::Mono => 1,
            Channels::Stereo => 2,
        };
        let (mut mono, mut tone) = ([0.0; CHUNK], [0.0; CHUNK]);
        for chunk in samples.chunks_mut(CHUNK * channels) {
            let frames = chunk.len() / channels;
            for (mono, frame) in mono.iter_mut().zip(chunk.chunks_exact(channels)) {
                *mono = if let [left, right] = frame { 0.5 * left + 0.5 * right } else { frame[0] };
            }
            self.filter.process(&mono[..frames], &mut tone[..frames]);
            for (frame, tone) in chunk.chunks_exact_mut(channels).zip(tone) {
                for sample in frame {
                    *sample = 0.5 * *sample + 0.5 * tone;
                }
            }
        }
    }
}
