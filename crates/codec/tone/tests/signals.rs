//! Any signal, cut anyhow.

use proptest::prelude::*;
use xenoglot_tone::{Channels, Engine, Error, Mode, ToneFilter, TonePlayer};

fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.into_iter().filter(|e| e.is_available())
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(40))]

    #[test]
    fn cuts_change_no_bit(
        signal in proptest::collection::vec(-1.0f32..1.0, 0..900),
        cuts in proptest::collection::vec(1usize..90, 1..20),
        rate in proptest::sample::select(vec![44_100u32, 48_000, 96_000]),
    ) {
        let mut vectors = Vec::new();
        for engine in engines() {
            let mut filter = ToneFilter::with_engine(rate, 440.0, engine).unwrap();
            let mut whole = vec![0.0; signal.len()];
            filter.clone().process(&signal, &mut whole);
            let mut parts = Vec::new();
            let mut rest = signal.as_slice();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                let mut out = vec![0.0; now.len()];
                filter.process(now, &mut out);
                parts.extend(out);
                rest = later;
            }
            prop_assert!(whole.iter().zip(&parts).all(|(a, b)| a.to_bits() == b.to_bits()), "{engine}");
            if engine != Engine::Scalar {
                vectors.push(whole);
            }
        }
        prop_assert!(vectors.windows(2).all(|w| w[0] == w[1]), "engines differ");
    }
}

/// What is no number, and what is very loud or very quiet, keeps the filter within -1..=1 or makes it NaN; nothing hangs.
#[test]
fn hostile_samples() {
    for engine in engines() {
        for value in [0.0, -0.0, 1e-45, 1e30, -f32::MAX, f32::INFINITY, f32::NAN] {
            let mut filter = ToneFilter::with_engine(44_100, 440.0, engine).unwrap();
            let mut out = vec![0.0; 4000];
            filter.process(&vec![value; 4000], &mut out);
            assert!(out.iter().all(|v| v.is_nan() || v.abs() <= 1.0), "{engine} {value}");
        }
    }
}

/// A minute after the last sound no state is a denormal number, and the output is silent.
#[test]
fn silence_is_silent() {
    for engine in engines() {
        let mut filter = ToneFilter::with_engine(44_100, 440.0, engine).unwrap();
        let mut out = vec![0.0; 44_100];
        filter.process(&[1.0; 100], &mut out);
        for _ in 0..60 {
            filter.process(&vec![0.0; 44_100], &mut out);
        }
        assert!(out.iter().all(|&v| v == 0.0), "{engine}: {}", out[0]);
        assert!(filter.powers().iter().all(|p| *p == 0.0 || p.is_normal()), "{engine}");
    }
}

#[test]
fn impossible_filters() {
    assert_eq!(ToneFilter::new(0).unwrap_err(), Error::Rate(0));
    assert_eq!(ToneFilter::with_engine(44_100, f64::NAN, Engine::Scalar).unwrap_err(), Error::Tuning);
}

#[test]
fn a_part_of_a_frame_is_left_alone() {
    let mut player = TonePlayer::new(48_000, Channels::Stereo).unwrap();
    let mut samples = [1.0, 1.0, 0.25];
    player.process(&mut samples);
    assert_eq!(samples[2], 0.25);
    assert_eq!(samples[0], samples[1]);
}

#[test]
fn each_channel_is_as_one_alone() {
    let signal = |n: usize, pitch: f32| (n as f32 * pitch).sin();
    let mut both: Vec<f32> = (0..2000).map(|n| signal(n / 2, [0.0575, 0.0864][n % 2])).collect();
    let alone = [0.0575, 0.0864].map(|pitch| {
        let mut samples: Vec<f32> = (0..1000).map(|n| signal(n, pitch)).collect();
        let mut player = TonePlayer::new(48_000, Channels::Mono).unwrap();
        player.set_wet(0.75);
        player.process(&mut samples);
        samples
    });
    let mut player = TonePlayer::new(48_000, Channels::Stereo).unwrap();
    player.set_wet(0.75);
    player.set_mode(Mode::Each);
    player.process(&mut both);
    for (side, alone) in alone.iter().enumerate() {
        assert!(both.iter().skip(side).step_by(2).eq(alone));
    }
}

#[test]
fn a_mix_goes_from_the_signal_to_its_tones() {
    let signal: Vec<f32> = (0..1000).map(|n| (n as f32 * 0.0575).sin()).collect();
    let mixed = |wet: f32| {
        let mut samples = signal.clone();
        let mut player = TonePlayer::new(48_000, Channels::Mono).unwrap();
        player.set_wet(wet);
        player.process(&mut samples);
        // What was played is forgotten, but not the mix.
        let mut again = signal.clone();
        player.reset();
        player.process(&mut again);
        assert_eq!(samples, again);
        samples
    };
    let mut tones = vec![0.0; signal.len()];
    ToneFilter::new(48_000).unwrap().process(&signal, &mut tones);
    assert_eq!(mixed(0.0), signal);
    assert_eq!(mixed(-3.0), signal);
    assert_eq!(mixed(1.0), tones);
    assert_eq!(mixed(f32::NAN), mixed(0.5));
}
