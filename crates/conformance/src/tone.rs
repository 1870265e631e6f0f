//! Suite of the tone filter: `vectors/tone/FORMAT.md`.

use crate::limit::{Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request, input};
use std::path::PathBuf;
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

struct Folder {
    path: PathBuf,
    engine: Engine,
}

impl Folder {
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

/// A part of the suite.
#[derive(Clone, Copy)]
enum Part {
    Coefficients,
    /// A signal, whole and in blocks.
    Signal(&'static str),
    /// A signal's powers.
    Powers(&'static str),
    Stereo,
}

impl Part {
    const ALL: [Part; 9] = [
        Part::Coefficients,
        Part::Signal("impulse"),
        Part::Signal("mono"),
        Part::Signal("sine440"),
        Part::Signal("sine453"),
        Part::Signal("white"),
        Part::Powers("mono"),
        Part::Powers("sine440"),
        Part::Stereo,
    ];

    /// The names of its cases.
    fn names(self) -> Vec<String> {
        match self {
            Part::Coefficients => vec!["coef".into()],
            Part::Signal(name) => {
                let blocks = BLOCKS.map(|block| format!("out_{name}, blocks of {block}"));
                [format!("out_{name}")].into_iter().chain(blocks).collect()
            }
            Part::Powers(name) => vec![format!("power_{name}")],
            Part::Stereo => vec!["mix_stereo".into()],
        }
    }

    fn verdicts(self, folder: &Folder) -> Result<Vec<Verdict>, Error> {
        Ok(match self {
            Part::Coefficients => vec![coefficients(folder)?],
            Part::Signal(name) => {
                let input = folder.signal(&format!("in_{name}"))?;
                let whole = folder.filtered(&input, input.len().max(1))?;
                let mut verdicts = vec![folder.verdict(&whole, &folder.signal(&format!("out_{name}"))?)];
                for block in BLOCKS {
                    verdicts.push(exact(&folder.filtered(&input, block)?, &whole));
                }
                verdicts
            }
            Part::Powers(name) => {
                let got = folder.powers(&folder.signal(&format!("in_{name}"))?)?;
                vec![folder.verdict(&got, &folder.signal(&format!("power_{name}"))?)]
            }
            Part::Stereo => {
                let mut stereo = folder.signal("in_stereo")?;
                TonePlayer::with_filter(folder.filter()?, Channels::Stereo).process(&mut stereo);
                vec![folder.verdict(&stereo, &folder.signal("mix_stereo")?)]
            }
        })
    }
}

/// Runs the suite on the folder.
pub(crate) fn suite(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let engine = Engine::find(request.engine).ok_or(Error::Device(request.engine.into()))?;
    let path = request.path.clone();
    let start = move || Ok(Folder { path: path.clone(), engine });
    let items = Part::ALL.map(|part| Item::together(part.names(), part)).into();
    let cases = |folder: &mut Folder, part: &Part| {
        let verdicts = part.verdicts(folder)?;
        Ok(part.names().into_iter().zip(verdicts).map(|(name, verdict)| Case { name, verdict }).collect())
    };
    Work::files(items, start, cases).run(observer)
}

fn coefficients(folder: &Folder) -> Result<Verdict, Error> {
    let tones = Tones::new(RATE, 440.0).map_err(|e| Error::Device(e.to_string()))?;
    let got: Vec<f32> = tones.biquads().iter().flat_map(|b| [b.n0, b.n1, b.n2, b.c1, b.c2]).collect();
    debug_assert_eq!(got.len(), 5 * TONES);
    Ok(exact(&got, &folder.signal("coef")?))
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
