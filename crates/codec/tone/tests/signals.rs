//! Any signal, cut anyhow.

use proptest::prelude::*;
use xenoglot_tone::{Channels, Engine, Error, ToneFilter, TonePlayer};

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
