//! What translating Maxwell programs costs: the kernels of a corpus, and straight programs made of their words.

use crate::failure;
use crate::progress::Progress;
use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};
use xenoglot::host::Subgroups;
use xenoglot::maxwell::{Kind, Options as LiftOptions, Program, lift, load};
use xenoglot::{Code, Host, Options as CodeOptions, Translator};
use xenoglot_conformance::maxwell::format::Corpus;
use xenoglot_maxwell::code::{WORD, is_control};
use xenoglot_maxwell::decode::decode;
use xenoglot_maxwell::flow::is_flow;
use xenoglot_testgen::rng::Rng;

/// What is measured.
pub struct Options<'a> {
    /// Kernels: a folder or a tar file.
    pub kernels: &'a Path,
    /// Fewer repetitions and sizes.
    pub quick: bool,
}

/// Guest instructions of the straight programs.
const SIZES: [usize; 6] = [100, 500, 1_000, 5_000, 10_000, 20_000];

/// `EXIT`.
const EXIT: u64 = 0xe300_0000_0007_000f;

/// What was measured.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The kernels by number of instructions, together.
    pub kernels: Vec<Row>,
    /// Kernels that were not translated, and why.
    pub refused: Vec<String>,
    /// Straight programs.
    pub straight: Vec<Row>,
}

/// Programs of about one size. Times are in microseconds, of the fastest repetition.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// How many.
    pub programs: usize,
    /// Their guest instructions.
    pub insts: usize,
    /// Lifting.
    pub lift: f64,
    /// Passes.
    pub optimise: f64,
    /// Writing SPIR-V.
    pub emit: f64,
    /// Words of SPIR-V.
    pub words: usize,
}

impl Row {
    fn add(&mut self, other: &Row) {
        self.programs += other.programs;
        self.insts += other.insts;
        self.lift += other.lift;
        self.optimise += other.optimise;
        self.emit += other.emit;
        self.words += other.words;
    }

    /// Million guest instructions a second, from words to SPIR-V.
    fn rate(&self) -> f64 {
        self.insts as f64 / (self.lift + self.optimise + self.emit)
    }
}

fn is_code(index: usize) -> bool {
    !is_control(index as u32 * WORD)
}

fn words(code: &[u8]) -> impl Iterator<Item = u64> {
    let words = code.as_chunks::<8>().0.iter().enumerate();
    words.filter(|&(i, _)| is_code(i)).map(|(_, word)| u64::from_le_bytes(*word))
}

struct Bench {
    translator: Translator,
    host: Host,
    repetitions: usize,
    patience: Duration,
}

impl Bench {
    /// Whether an instruction is translated where nothing is known of its registers.
    fn translates(&mut self, word: u64) -> bool {
        let code: Vec<u8> = [0, word, EXIT, EXIT].iter().flat_map(|w: &u64| w.to_le_bytes()).collect();
        let repetitions = std::mem::replace(&mut self.repetitions, 1);
        let row = self.measure(&program(&code));
        self.repetitions = repetitions;
        row.is_ok()
    }

    fn measure(&mut self, program: &Program) -> Result<Row> {
        let options = CodeOptions::default();
        let mut row = Row { programs: 1, insts: words(program.code).count(), ..Row::default() };
        [row.lift, row.optimise, row.emit] = [f64::INFINITY; 3];
        let begin = Instant::now();
        for n in 0..self.repetitions {
            if n > 0 && begin.elapsed() > self.patience {
                break;
            }
            let start = Instant::now();
            let mut lifted = lift(program, &LiftOptions::default())?;
            let lifting = start.elapsed();
            let Ok(()) = self.translator.prepare(&mut lifted.module, &self.host, &options, &mut ());
            let optimised = start.elapsed();
            let code = self.translator.write(&lifted.module, &self.host, &options)?;
            let stages = [lifting, optimised - lifting, start.elapsed() - optimised];
            for (best, took) in [&mut row.lift, &mut row.optimise, &mut row.emit].into_iter().zip(stages) {
                *best = best.min(took.as_secs_f64() * 1e6);
            }
            if let Code::Words(words) = code {
                row.words = words.len();
            }
        }
        Ok(row)
    }
}

/// Code of `insts` instructions drawn from `pool`, and `EXIT`.
fn straight(pool: &[u64], insts: usize) -> Vec<u8> {
    let mut rng = Rng::new(insts as u64);
    let mut code = Vec::new();
    let mut left = insts;
    for index in 0.. {
        let word = match (is_code(index), left) {
            (false, 0) => break,
            (false, _) => 0,
            (true, 0 | 1) => EXIT,
            (true, _) => pool[rng.below(pool.len() as u32) as usize],
        };
        left -= usize::from(is_code(index)).min(left);
        code.extend_from_slice(&word.to_le_bytes());
    }
    code
}

fn program(code: &[u8]) -> Program<'_> {
    let kind = Kind::Compute { workgroup: None, shared_bytes: 1 << 14, local_bytes: 1 << 10 };
    let (name, gpu) = ("straight".into(), Default::default());
    Program {
        name,
        kind,
        code,
        entry: 0,
        registers: None,
        banks: Vec::new(),
        functions: Vec::new(),
        unlinked: Default::default(),
        gpu,
    }
}

/// Measures.
pub fn run(options: &Options) -> Result<Report> {
    let corpus = Corpus::read(options.kernels).with_context(|| options.kernels.display().to_string())?;
    let mut bench = Bench {
        translator: Translator::new(),
        // For a host whose subgroups are warps, as most that run Maxwell's programs are.
        host: Host { subgroups: Subgroups::exactly(32), ..Host::default() },
        repetitions: if options.quick { 5 } else { 51 },
        patience: Duration::from_millis(if options.quick { 50 } else { 500 }),
    };
    let (mut kernels, mut refused, mut pool) = (Vec::<Row>::new(), Vec::new(), Vec::new());
    let mut known = BTreeMap::new();
    let progress = Progress::new(corpus.cubins.len());
    for (file, cubin) in &corpus.cubins {
        for kernel in load(cubin).with_context(|| file.clone())? {
            for word in words(kernel.code) {
                let straight = decode(0, word).is_ok_and(|inst| !is_flow(inst.op));
                if straight && *known.entry(word).or_insert_with(|| bench.translates(word)) {
                    pool.push(word);
                }
            }
            match bench.measure(&kernel) {
                Ok(row) => {
                    // By powers of four.
                    let class = row.insts.max(1).ilog2() as usize / 2;
                    kernels.resize(kernels.len().max(class + 1), Row::default());
                    kernels[class].add(&row);
                }
                Err(error) => refused.push(format!("{file}: {}", failure::text(&error))),
            }
        }
        progress.step();
    }
    drop(progress);
    kernels.retain(|row| row.programs > 0);
    if pool.is_empty() {
        bail!("no kernel has an instruction that can be lifted");
    }
    let sizes = SIZES.into_iter().filter(|&insts| !options.quick || insts <= 1_000);
    let straight =
        sizes.map(|insts| bench.measure(&program(&straight(&pool, insts)))).collect::<Result<_>>()?;
    Ok(Report { kernels, refused, straight })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        rows(f, "Kernels of the corpus, by size, µs", &self.kernels)?;
        rows(f, "\nStraight programs of the corpus's instructions, µs", &self.straight)?;
        let mut all = Row::default();
        self.kernels.iter().for_each(|row| all.add(row));
        writeln!(
            f,
            "\n{} kernels, {} instructions: {:.2} million a second to SPIR-V; {} not translated",
            all.programs,
            all.insts,
            all.rate(),
            self.refused.len()
        )?;
        self.refused.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

fn rows(f: &mut fmt::Formatter<'_>, title: &str, rows: &[Row]) -> fmt::Result {
    writeln!(f, "{title}")?;
    writeln!(
        f,
        "{:>9}{:>14}{:>12}{:>12}{:>12}{:>10}{:>14}",
        "programs", "instructions", "lift", "optimise", "SPIR-V", "Minst/s", "words/inst"
    )?;
    for row in rows {
        writeln!(
            f,
            "{:>9}{:>14}{:>12.1}{:>12.1}{:>12.1}{:>10.2}{:>14.1}",
            row.programs,
            row.insts,
            row.lift,
            row.optimise,
            row.emit,
            row.rate(),
            row.words as f64 / row.insts.max(1) as f64
        )?;
    }
    Ok(())
}
