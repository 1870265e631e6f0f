//! What translation costs: per stage for the bundled shaders, and by size for generated ones.

use anyhow::{Context as _, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};
use xenoglot::host::Language;
use xenoglot::pica::{Options as PicaOptions, lift_options};
use xenoglot::{Host, Options as CodeOptions, Translator};
use xenoglot_ir::func::Function;
use xenoglot_opt::pipeline::{Observer, Ran};
use xenoglot_pica_shader::Program;
use xenoglot_pica_shader::bundled::SHADERS;
use xenoglot_pica_shader::disasm::{DisasmOptions, disassemble_program};
use xenoglot_pica_shader::lift::{LiftOptions, Lifted, VertexOutputs, lift};
use xenoglot_structure::structure;
use xenoglot_testgen::pica::{Category, MAX_WORDS, program};
use xenoglot_testgen::rng::Rng;

/// How to measure.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The report is for a program: say nothing on the way.
    pub json: bool,
    /// Fewer repetitions and sizes.
    pub quick: bool,
}

/// Median length of the programs in the corpus of vectors/pica.
const MEDIAN_WORDS: u32 = 35;

/// What was measured. Times are microseconds, those of the fastest repetition where nothing else is said: what other
/// programs on the machine take is no cost of ours.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Stages over the bundled shaders.
    pub stages: Vec<Stage>,
    /// The bundled shaders.
    pub bundled: Vec<Row>,
    /// Generated programs by shape.
    pub growth: Vec<Growth>,
    /// Programs of the length that is usual.
    pub usual: Usual,
}

/// A stage over all bundled shaders.
#[derive(Debug, Serialize)]
pub struct Stage {
    /// Its name; passes are indented.
    pub name: String,
    /// Median over the shaders.
    pub median: f64,
    /// The dearest shader.
    pub max: f64,
}

/// A program.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Words.
    pub words: usize,
    /// Instructions in distinct scope contexts; 0 if the scope stacks are data.
    pub nodes: usize,
    /// IR instructions they are lifted to, before any pass.
    pub lifted: usize,
    /// From words to SPIR-V.
    pub to_spirv: f64,
    /// From words to GLSL.
    pub to_glsl: f64,
    /// Its disassembly.
    pub disassembly: f64,
    /// From words to SPIR-V and to GLSL in the repetition that is neither fast nor slow.
    pub usually: [f64; 2],
}

/// Programs of one shape at doubling sizes.
#[derive(Debug, Serialize)]
pub struct Growth {
    /// The shape.
    pub shape: String,
    /// A row for each size, medians over the seeds.
    pub sizes: Vec<Row>,
    /// The power of [`Row::size`] that the cost to SPIR-V grows with, fitted to every program of [`GROWN_WORDS`] and
    /// more: 1 is linear.
    pub exponent: f64,
}

impl Row {
    /// Instructions in and instructions lifted. Either alone misleads: calls multiply what is lifted, and what nobody
    /// reads is not lifted.
    fn size(&self) -> f64 {
        (self.words + self.lifted) as f64
    }
}

/// Programs of [`MEDIAN_WORDS`] words.
#[derive(Debug, Serialize)]
pub struct Usual {
    /// Words of each.
    pub words: u32,
    /// How many.
    pub programs: usize,
    /// Median from words to SPIR-V.
    pub to_spirv: f64,
    /// Median from words to GLSL.
    pub to_glsl: f64,
    /// Medians to SPIR-V and GLSL of the median repetitions.
    pub usually: [f64; 2],
    /// Median of the disassembly, the baseline of the same run.
    pub disassembly: f64,
}

/// Words from which on the growth of cost is fitted: before, what each program costs at least is seen.
const GROWN_WORDS: usize = 64;

/// A program to measure.
struct Subject {
    name: String,
    program: Program,
    options: LiftOptions,
}

impl Subject {
    fn generated(category: Category, words: u32, seed: u64) -> Subject {
        let sample = program(&mut Rng::new(seed), category, words);
        let options = LiftOptions::vertex(sample.entry, VertexOutputs::Registers(u16::MAX));
        Subject { name: format!("{category:?} {words} {seed}"), program: sample.program, options }
    }

    fn lift(&self) -> Result<Lifted> {
        lift(&self.program, &self.options).with_context(|| self.name.clone())
    }
}

/// The bundled shaders.
fn bundled() -> Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    for shader in SHADERS {
        let shbin = xenoglot_pica_shader::asm::assemble(shader.source).context(shader.name)?;
        for dvle in &shbin.executables {
            let options = lift_options(dvle, &PicaOptions::default());
            subjects.push(Subject { name: shader.name.into(), program: shbin.program.clone(), options });
        }
    }
    Ok(subjects)
}

/// Sums the times of each pass.
#[derive(Default)]
struct PassTimes(BTreeMap<&'static str, Duration>);

impl Observer for PassTimes {
    type Error = std::convert::Infallible;

    fn after(&mut self, ran: Ran<'_>) -> Result<(), Self::Error> {
        *self.0.entry(ran.pass.name).or_default() += ran.took;
        Ok(())
    }

    fn timed(&self) -> bool {
        true
    }
}

fn timed<T>(f: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let value = black_box(f());
    (value, start.elapsed().as_secs_f64() * 1e6)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.len().saturating_sub(1) / 2, values.len() / 2);
    match (values.get(low), values.get(high)) {
        (Some(low), Some(high)) => (low + high) / 2.0,
        _ => 0.0,
    }
}

fn fastest(times: &[f64]) -> f64 {
    times.iter().copied().min_by(f64::total_cmp).unwrap_or(0.0)
}

/// The stages before [`GLSL`], in the order of the table.
const STAGES: [&str; 4] = ["lift", "optimise", "structure", "SPIR-V, with structuring"];
const GLSL: &str = "GLSL, with structuring";

struct Bench {
    translator: Translator,
    spirv: Host,
    glsl: Host,
    /// Repetitions of one program at most, and the time after which there are no more.
    repetitions: usize,
    patience: Duration,
}

impl Bench {
    /// Calls `f` for each repetition.
    fn repeat(&mut self, mut f: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        // The first one warms caches up and does not count as time.
        f(self)?;
        let start = Instant::now();
        for _ in 1..self.repetitions {
            if start.elapsed() > self.patience {
                break;
            }
            f(self)?;
        }
        Ok(())
    }

    /// The costs of a program, end to end.
    fn measure(&mut self, subject: &Subject) -> Result<Row> {
        let (mut to_spirv, mut to_glsl, mut disassembly) = (Vec::new(), Vec::new(), Vec::new());
        let (mut nodes, mut instructions) = (0, 0);
        self.repeat(|bench| {
            for (host, times) in [(bench.spirv.clone(), &mut to_spirv), (bench.glsl.clone(), &mut to_glsl)] {
                let (result, time) = timed(|| -> Result<_> {
                    let mut lifted = subject.lift()?;
                    let count: usize = lifted.module.funcs.values().map(Function::inst_count).sum();
                    let code =
                        bench.translator.compile(&mut lifted.module, &host, &CodeOptions::default())?;
                    Ok((lifted, count, code))
                });
                let lifted;
                (lifted, instructions, _) = result?;
                nodes = lifted.flow.nodes;
                times.push(time);
            }
            let options = DisasmOptions::default();
            disassembly.push(timed(|| disassemble_program(&subject.program, &options)).1);
            Ok(())
        })?;
        let name = subject.name.clone();
        let words = subject.program.code.len();
        let [to_spirv_fastest, to_glsl_fastest, disassembly] =
            [&to_spirv, &to_glsl, &disassembly].map(|times| fastest(times));
        let usually = [to_spirv, to_glsl].map(median);
        Ok(Row {
            name,
            words,
            nodes,
            lifted: instructions,
            to_spirv: to_spirv_fastest,
            to_glsl: to_glsl_fastest,
            disassembly,
            usually,
        })
    }

    /// The costs of a program's stages, in the order of [`stage_names`].
    fn stages(&mut self, subject: &Subject) -> Result<BTreeMap<String, f64>> {
        let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        self.repeat(|bench| {
            let mut note = |name: &str, time| times.entry(name.into()).or_default().push(time);
            let (lifted, time) = timed(|| subject.lift());
            let mut module = lifted?.module;
            note(STAGES[0], time);
            let mut passes = PassTimes::default();
            let options = CodeOptions::default();
            let (result, time) =
                timed(|| bench.translator.prepare(&mut module, &bench.spirv, &options, &mut passes));
            let Ok(()) = result;
            note(STAGES[1], time);
            for (name, took) in passes.0 {
                note(&pass_stage(name), took.as_secs_f64() * 1e6);
            }
            let (result, time) = timed(|| {
                module
                    .funcs
                    .values()
                    .map(|f| structure(f, &Default::default()))
                    .collect::<Result<Vec<_>, _>>()
            });
            result?;
            note(STAGES[2], time);
            let (result, time) = timed(|| bench.translator.write(&module, &bench.spirv, &options));
            result?;
            note(STAGES[3], time);
            let (result, time) = timed(|| bench.translator.write(&module, &bench.glsl, &options));
            result?;
            note(GLSL, time);
            Ok(())
        })?;
        Ok(times.into_iter().map(|(name, times)| (name, fastest(&times))).collect())
    }
}

fn pass_stage(name: &str) -> String {
    format!("  {name}")
}

/// Every stage in the order of the table.
fn stage_names() -> impl Iterator<Item = String> {
    let passes = xenoglot_opt::PASSES.iter().map(|p| pass_stage(p.name));
    let [lift, optimise, structure, spirv] = STAGES.map(String::from);
    [lift, optimise].into_iter().chain(passes).chain([structure, spirv, GLSL.into()])
}

/// Measures.
pub fn run(options: &Options) -> Result<Report> {
    let say = |what: &str| {
        if !options.json {
            crate::print::note(format_args!("measuring {what}"));
        }
    };
    let mut bench = Bench {
        translator: Translator::new(),
        spirv: Host::default(),
        glsl: Host::of(Language::Glsl(xenoglot_glsl::Target::Vulkan450)),
        repetitions: if options.quick { 5 } else { 101 },
        patience: Duration::from_millis(if options.quick { 50 } else { 500 }),
    };
    let subjects = bundled()?;
    say("the bundled shaders");
    let rows = subjects.iter().map(|s| bench.measure(s)).collect::<Result<Vec<_>>>()?;
    let by_stage = subjects.iter().map(|s| bench.stages(s)).collect::<Result<Vec<_>>>()?;
    let stages = stage_names()
        .filter_map(|name| {
            let times: Vec<f64> = by_stage.iter().filter_map(|s| s.get(&name).copied()).collect();
            let max = times.iter().copied().max_by(f64::total_cmp)?;
            Some(Stage { name, median: median(times), max })
        })
        .collect();
    say(&format!("programs of {MEDIAN_WORDS} words"));
    let shapes = [Category::Straight, Category::Structured, Category::Jumps, Category::Typical];
    let usual: Vec<Row> = shapes
        .into_iter()
        .flat_map(|shape| (0..if options.quick { 2 } else { 8 }).map(move |seed| (shape, seed)))
        .map(|(shape, seed)| bench.measure(&Subject::generated(shape, MEDIAN_WORDS, seed)))
        .collect::<Result<_>>()?;
    let over = |rows: &[Row], what: fn(&Row) -> f64| median(rows.iter().map(what).collect());
    let usual = Usual {
        words: MEDIAN_WORDS,
        programs: usual.len(),
        to_spirv: over(&usual, |r| r.to_spirv),
        to_glsl: over(&usual, |r| r.to_glsl),
        usually: [over(&usual, |r| r.usually[0]), over(&usual, |r| r.usually[1])],
        disassembly: over(&usual, |r| r.disassembly),
    };
    let mut growth = Vec::new();
    for shape in shapes.into_iter().chain([Category::Irreducible]) {
        say(&format!("{shape:?} programs of growing size"));
        let (mut sizes, mut programs) = (Vec::new(), Vec::new());
        for words in (4..=12).map(|n| (1u32 << n).min(MAX_WORDS)) {
            if options.quick && words > 512 {
                break;
            }
            let rows = (0..if options.quick { 1 } else { 5 })
                .map(|seed| bench.measure(&Subject::generated(shape, words, seed)))
                .collect::<Result<Vec<_>>>()?;
            sizes.push(Row {
                name: format!("{shape:?}"),
                words: words as usize,
                nodes: over(&rows, |r| r.nodes as f64) as usize,
                lifted: over(&rows, |r| r.lifted as f64) as usize,
                to_spirv: over(&rows, |r| r.to_spirv),
                to_glsl: over(&rows, |r| r.to_glsl),
                disassembly: over(&rows, |r| r.disassembly),
                usually: [over(&rows, |r| r.usually[0]), over(&rows, |r| r.usually[1])],
            });
            programs.extend(rows);
        }
        growth.push(Growth { shape: format!("{shape:?}"), sizes, exponent: exponent(&programs) });
    }
    Ok(Report { stages, bundled: rows, growth, usual })
}

/// The power of the size that the cost to SPIR-V grows with.
fn exponent(programs: &[Row]) -> f64 {
    power(programs.iter().filter(|r| r.words >= GROWN_WORDS).map(|r| (r.size(), r.to_spirv)))
}

/// The power of the first of two numbers that the second grows with: the slope of a line through the logarithms of both, by
/// least squares.
pub(super) fn power(points: impl Iterator<Item = (f64, f64)>) -> f64 {
    let points: Vec<(f64, f64)> = points.map(|(x, y)| (x.ln(), y.ln())).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let covariance: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    covariance / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Stages over {} bundled shaders, µs", self.bundled.len())?;
        writeln!(f, "{:<28}{:>10}{:>10}", "stage", "median", "max")?;
        for s in &self.stages {
            writeln!(f, "{:<28}{:>10.1}{:>10.1}", s.name, s.median, s.max)?;
        }
        writeln!(f, "\nBundled shaders, µs")?;
        rows(f, &self.bundled)?;
        for growth in &self.growth {
            writeln!(
                f,
                "\n{} programs, µs; from {GROWN_WORDS} words on the cost to SPIR-V grows with the power {:.2} of words and instructions lifted",
                growth.shape, growth.exponent
            )?;
            rows(f, &growth.sizes)?;
        }
        let u = &self.usual;
        writeln!(
            f,
            "\nPrograms of {} words ({}): median to SPIR-V {:.1} µs, to GLSL {:.1} µs",
            u.words, u.programs, u.to_spirv, u.to_glsl
        )?;
        let [spirv, glsl] = u.usually;
        writeln!(
            f,
            "with the median repetition of each instead of the fastest: {spirv:.1} and {glsl:.1} µs"
        )?;
        writeln!(
            f,
            "against disassembly in this run ({:.1} µs): {:.1} and {:.1} times it",
            u.disassembly,
            u.to_spirv / u.disassembly,
            u.to_glsl / u.disassembly
        )
    }
}

fn rows(f: &mut fmt::Formatter<'_>, rows: &[Row]) -> fmt::Result {
    writeln!(
        f,
        "{:<24}{:>7}{:>8}{:>8}{:>12}{:>12}{:>12}",
        "program", "words", "nodes", "lifted", "to SPIR-V", "to GLSL", "disassembly"
    )?;
    for r in rows {
        writeln!(
            f,
            "{:<24}{:>7}{:>8}{:>8}{:>12.1}{:>12.1}{:>12.1}",
            r.name, r.words, r.nodes, r.lifted, r.to_spirv, r.to_glsl, r.disassembly
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(words: usize, lifted: usize, to_spirv: f64) -> Row {
        let name = String::new();
        Row { name, words, nodes: words, lifted, to_spirv, to_glsl: 0.0, disassembly: 0.0, usually: [0.0; 2] }
    }

    #[test]
    fn growth_is_a_power_of_the_size() {
        let small = row(16, 16, 1000.0);
        let power = exponent(&[small, row(64, 36, 3.0), row(64, 136, 12.0), row(128, 272, 48.0)]);
        assert!((power - 2.0).abs() < 1e-9, "{power}");
        assert_eq!(median(vec![5.0, 1.0, 2.0, 4.0]), 3.0);
        assert_eq!(median(Vec::new()), 0.0);
    }

    #[test]
    fn every_stage_and_shader_is_reported() {
        let report = run(&Options { json: true, quick: true }).unwrap();
        assert_eq!(report.bundled.len(), SHADERS.len());
        let stages: Vec<&str> = report.stages.iter().map(|s| s.name.as_str()).collect();
        assert_eq!((stages[0], stages[stages.len() - 1]), (STAGES[0], GLSL));
        assert!(stages.contains(&"  promote"));
        assert!(report.stages.iter().all(|s| s.max >= s.median));
        let text = report.to_string();
        assert!(SHADERS.iter().all(|s| text.contains(s.name)), "{text}");
        assert!(report.growth.iter().all(|g| g.exponent > 0.0));
    }
}
