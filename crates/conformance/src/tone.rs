//! Suite of the tone filter: `vectors/tone/FORMAT.md`.

use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request, input};
use std::path::Path;
use xenoglot_tone::{Channels, Engine, TONES, ToneFilter, TonePlayer, Tones};

/// Engines of the suite.
pub(crate) const ENGINES: &[&str] = &["scalar", "sse", "avx2", "avx512", "neon"];

const RATE: u32 = 44_100;
/// Samples between rows of powers.
const POWER_STEP: usize = 4410;
/// Least ratio of signal to difference, and largest difference, of engines that may round otherwise.
const MIN_SNR: f64 = 60.0;
const MAX_DIFFERENCE: f32 = 3e-3;
/// Lengths of blocks a signal is cut into.
const BLOCKS: [usize; 5] = [1, 7, 64, 441, 4096];

struct Folder<'a> {
    path: &'a Path,
    engine: Engine,
}

impl Folder<'_> {
    fn signal(&self, name: &str) -> Result<Vec<f32>, Error> {
        let file = |ending: &str| self.path.join(format!("{name}.f32{ending}"));
        let packed = file(".zst");
        let bytes = input::read(if packed.exists() { packed } else { file("") }.as_path())?;
        Ok(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
    }

    fn filter(&self) -> Result<ToneFilter, Error> {
        ToneFilter::with_engine(RATE, 440.0, self.engine).map_err(|e| Error::Device(e.to_string()))
    }

    fn filtered(&self, input: &[f32], block: usize) -> Result<Vec<f32>, Error> {
        let mut filter = self.filter()?;
        let mut output = vec![0.0; input.len()];
        for (input, output) in input.chunks(block).zip(output.chunks_mut(block)) {
            filter.process(input, output);
        }
        Ok(output)
    }

    fn verdict(&self, got: &[f32], expected: &[f32]) -> Verdict {
        if self.engine == Engine::Scalar { exact(got, expected) } else { near(got, expected) }
    }

    /// The running powers, a row for every step.
    fn powers(&self, input: &[f32]) -> Result<Vec<f32>, Error> {
        let mut filter = self.filter()?;
        let mut rows = Vec::new();
        for input in input.chunks(POWER_STEP) {
            filter.process(input, &mut vec![0.0; input.len()]);
            rows.extend_from_slice(filter.powers());
            rows.push(filter.total_power());
        }
        Ok(rows)
    }
}

/// Runs the suite on the folder.
pub(crate) fn suite(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let engine = Engine::find(request.engine).ok_or(Error::Device(request.engine.into()))?;
    let folder = Folder { path: &request.path, engine };
    let mut cases = vec![coefficients(&folder)?];
    let signals = ["impulse", "mono", "sine440", "sine453", "white"];
    for name in signals {
        let input = folder.signal(&format!("in_{name}"))?;
        let whole = folder.filtered(&input, input.len().max(1))?;
        let verdict = folder.verdict(&whole, &folder.signal(&format!("out_{name}"))?);
        cases.push(Case { name: format!("out_{name}"), verdict });
        for block in BLOCKS {
            let verdict = exact(&folder.filtered(&input, block)?, &whole);
            cases.push(Case { name: format!("out_{name}, blocks of {block}"), verdict });
        }
    }
    for name in ["mono", "sine440"] {
        let got = folder.powers(&folder.signal(&format!("in_{name}"))?)?;
        let verdict = folder.verdict(&got, &folder.signal(&format!("power_{name}"))?);
        cases.push(Case { name: format!("power_{name}"), verdict });
    }
    let mut stereo = folder.signal("in_stereo")?;
    TonePlayer::with_filter(folder.filter()?, Channels::Stereo).process(&mut stereo);
    let verdict = folder.verdict(&stereo, &folder.signal("mix_stereo")?);
    cases.push(Case { name: "mix_stereo".into(), verdict });
    observer.total(cases.len());
    cases.iter().for_each(|case| observer.case(case));
    Ok(Summary::of(&cases))
}

fn coefficients(folder: &Folder<'_>) -> Result<Case, Error> {
    let tones = Tones::new(RATE, 440.0).map_err(|e| Error::Device(e.to_string()))?;
    let got: Vec<f32> = tones.biquads().iter().flat_map(|b| [b.n0, b.n1, b.n2, b.c1, b.c2]).collect();
    debug_assert_eq!(got.len(), 5 * TONES);
    Ok(Case { name: "coef".into(), verdict: exact(&got, &folder.signal("coef")?) })
}

/// Equal bit for bit; zeros of either sign are the same.
fn exact(got: &[f32], expected: &[f32]) -> Verdict {
    if got.len() != expected.len() {
        return Verdict::Failed(format!("{} values, expected {}", got.len(), expected.len()));
    }
    match got.iter().zip(expected).position(|(a, b)| a != b) {
        None => Verdict::Passed,
        Some(at) => Verdict::Failed(format!("value {at}: {}, expected {}", got[at], expected[at])),
    }
}

fn near(got: &[f32], expected: &[f32]) -> Verdict {
    if got.len() != expected.len() {
        return exact(got, expected);
    }
    let power = |values: &mut dyn Iterator<Item = f32>| values.map(|v| f64::from(v).powi(2)).sum::<f64>();
    let difference = || got.iter().zip(expected).map(|(a, b)| a - b);
    let worst = difference().fold(0.0f32, |worst, d| if d.abs() <= worst { worst } else { d.abs() });
    let (signal, noise) = (power(&mut expected.iter().copied()), power(&mut difference()));
    let snr = 10.0 * (signal / noise.max(f64::MIN_POSITIVE)).log10();
    if snr >= MIN_SNR && worst <= MAX_DIFFERENCE {
        Verdict::Passed
    } else {
        Verdict::Failed(format!("signal to difference {snr:.1} dB, at most {worst}"))
    }
}
