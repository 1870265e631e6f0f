//! What translating DXIL costs: the shaders of folders, from container to SPIR-V, what a driver takes for them, and generated
//! ones of growing size.

#[cfg(feature = "vulkan")]
mod driver;
mod growth;

use crate::failure;
use crate::progress::Progress;
use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use std::fmt;
#[cfg(feature = "vulkan")]
use std::path::Path;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use xenoglot::dxil::{BindingModel, LiftOptions, lift_bound, load, programs};
use xenoglot::host::Language;
use xenoglot::{Code, Host, Options as CodeOptions, Translator};
use xenoglot_dxil::bitcode::Module;
use xenoglot_spirv::Version;

/// What is measured.
pub struct Options<'a> {
    /// Folders of containers.
    pub shaders: &'a [PathBuf],
    /// Other modules of the shaders for the driver: a folder with each one's path in it, as `.spv`.
    #[cfg(feature = "vulkan")]
    pub before: Option<&'a Path>,
    /// Fewer repetitions.
    pub quick: bool,
}

/// Microseconds of the fastest repetition of each stage, and sizes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// The folder.
    pub folder: String,
    /// Shaders that were translated, each of a library's.
    pub shaders: usize,
    /// Instructions of LLVM.
    pub insts: usize,
    /// Reading containers and bitcode.
    pub read: f64,
    /// Lifting.
    pub lift: f64,
    /// Passes.
    pub optimise: f64,
    /// Writing SPIR-V.
    pub emit: f64,
    /// SPIR-V.
    pub code: Counts,
    /// Each shader.
    pub each: Vec<Shader>,
    /// Shaders that were not translated, and why.
    pub refused: Vec<String>,
    /// What the driver takes for all that it was measured for.
    pub driver: Driven,
}

/// Milliseconds that a driver takes to compile shaders and run their tests.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Driven {
    /// Shaders.
    pub shaders: usize,
    /// Ours.
    pub now: f64,
    /// Shaders of which there is another module.
    pub compared: usize,
    /// Ours of those.
    pub compared_now: f64,
    /// The other modules.
    pub before: f64,
}

impl Driven {
    fn add(&mut self, other: Driven) {
        self.shaders += other.shaders;
        self.now += other.now;
        self.compared += other.compared;
        self.compared_now += other.compared_now;
        self.before += other.before;
    }

    #[cfg(feature = "vulkan")]
    fn note(&mut self, [now, before]: [Option<f64>; 2]) {
        if let Some(now) = now {
            self.shaders += 1;
            self.now += now;
            if let Some(before) = before {
                self.compared += 1;
                self.compared_now += now;
                self.before += before;
            }
        }
    }
}

/// What there is in modules of SPIR-V.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    /// Words.
    pub words: usize,
    /// `OpPhi`.
    pub phis: usize,
    /// `OpLoopMerge`.
    pub loops: usize,
    /// `OpSelectionMerge`.
    pub selections: usize,
}

impl Counts {
    fn of(words: &[u32]) -> Counts {
        /// Words before the first instruction, and opcodes (SPIR-V specification, 2.3 and 3.42).
        const HEADER: usize = 5;
        const PHI: u32 = 245;
        const LOOP_MERGE: u32 = 246;
        const SELECTION_MERGE: u32 = 247;
        let mut counts = Counts { words: words.len(), ..Counts::default() };
        let mut rest = words.get(HEADER..).unwrap_or_default();
        while let Some(&first) = rest.first() {
            match first & 0xffff {
                PHI => counts.phis += 1,
                LOOP_MERGE => counts.loops += 1,
                SELECTION_MERGE => counts.selections += 1,
                _ => {}
            }
            rest = rest.get((first >> 16).max(1) as usize..).unwrap_or_default();
        }
        counts
    }

    fn add(&mut self, other: Counts) {
        self.words += other.words;
        self.phis += other.phis;
        self.loops += other.loops;
        self.selections += other.selections;
    }
}

/// One shader.
#[derive(Clone, Debug, Serialize)]
pub struct Shader {
    /// Its file, and its number among those of a library.
    pub name: String,
    /// Microseconds from container to SPIR-V.
    pub took: f64,
    /// SPIR-V.
    pub code: Counts,
    /// Milliseconds that the driver takes to compile it and run its test.
    pub driver: Option<f64>,
    /// The same of the other module.
    pub before: Option<f64>,
}

impl Row {
    fn total(&self) -> f64 {
        self.read + self.lift + self.optimise + self.emit
    }

    /// All rows as one.
    fn sum(rows: &[Row]) -> Row {
        let mut all = Row { folder: "all".into(), ..Row::default() };
        for row in rows {
            all.shaders += row.shaders;
            all.insts += row.insts;
            all.code.add(row.code);
            all.read += row.read;
            all.lift += row.lift;
            all.optimise += row.optimise;
            all.emit += row.emit;
            all.driver.add(row.driver);
        }
        all
    }
}

/// What was measured.
#[derive(Debug, Serialize)]
pub struct Report {
    /// By folder.
    pub folders: Vec<Row>,
    /// Generated shaders, by shape.
    pub growth: Vec<growth::Growth>,
    /// The device whose driver was measured.
    pub device: Option<String>,
}

struct Bench {
    translator: Translator,
    host: Host,
    repetitions: usize,
    patience: Duration,
    /// Microseconds of the fastest repetition of each stage, by the folder's shaders.
    best: Vec<[f64; 4]>,
    /// Modules of the folder's shaders.
    #[cfg(feature = "vulkan")]
    modules: Vec<Vec<u32>>,
}

impl Bench {
    /// Measures every shader of a container.
    fn container(&mut self, name: &str, bytes: &[u8], row: &mut Row) -> Result<()> {
        let module = load(bytes)?;
        row.insts += module.functions.iter().flat_map(|f| &f.body).map(|b| b.insts.len()).sum::<usize>();
        (0..programs(&module)?.len()).try_for_each(|entry| {
            let name = if entry == 0 { name.to_owned() } else { format!("{name}:{entry}") };
            self.measure(name, bytes, &module, entry, row)
        })
    }

    fn measure(
        &mut self,
        name: String,
        bytes: &[u8],
        module: &Module,
        entry: usize,
        row: &mut Row,
    ) -> Result<()> {
        let remapper = BindingModel::Registers.remapper(bytes, module, entry)?;
        let options = LiftOptions { entry, ..LiftOptions::default() };
        let mut best = [f64::INFINITY; 4];
        let begin = Instant::now();
        let mut counts = Counts::default();
        for n in 0..self.repetitions {
            if n > 0 && begin.elapsed() > self.patience {
                break;
            }
            let start = Instant::now();
            let module = load(bytes)?;
            let read = start.elapsed();
            let mut lifted = lift_bound(&module, &options, &*remapper)?;
            let lifting = start.elapsed();
            let options = CodeOptions::default();
            let Ok(()) = self.translator.prepare(&mut lifted.module, &self.host, &options, &mut ());
            let optimised = start.elapsed();
            let code = self.translator.write(&lifted.module, &self.host, &options)?;
            let stages = [read, lifting - read, optimised - lifting, start.elapsed() - optimised];
            for (best, took) in best.iter_mut().zip(stages) {
                *best = best.min(took.as_secs_f64() * 1e6);
            }
            if let Code::Words(words) = code {
                counts = Counts::of(&words);
                #[cfg(feature = "vulkan")]
                if n == 0 && row.shaders == self.modules.len() {
                    self.modules.push(words);
                }
            }
        }
        match self.best.get_mut(row.shaders) {
            Some(known) => known.iter_mut().zip(best).for_each(|(known, took)| *known = known.min(took)),
            None => self.best.push(best),
        }
        row.shaders += 1;
        row.code.add(counts);
        row.each.push(Shader { name, took: 0.0, code: counts, driver: None, before: None });
        Ok(())
    }
}

/// Measures.
pub fn run(options: &Options) -> Result<Report> {
    let mut bench = Bench {
        translator: Translator::new(),
        host: Host { language: Language::Spirv(Some(Version::V1_6)), ..Host::default() },
        repetitions: if options.quick { 3 } else { 25 },
        patience: Duration::from_millis(if options.quick { 50 } else { 500 }),
        best: Vec::new(),
        #[cfg(feature = "vulkan")]
        modules: Vec::new(),
    };
    #[cfg(feature = "vulkan")]
    let mut driver = driver::Driver::open(options.quick)?;
    #[cfg(feature = "vulkan")]
    let device = driver.as_ref().map(|driver| driver.name.clone());
    #[cfg(not(feature = "vulkan"))]
    let device = None;
    // Machines have slow seconds: a shader's repetitions are not all in one.
    let rounds = if options.quick { 1 } else { 8 };
    let mut folders = Vec::new();
    for folder in options.shaders {
        let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
        let mut files: Vec<PathBuf> = entries.map(|e| Ok(e?.path())).collect::<std::io::Result<_>>()?;
        files.retain(|f| f.extension().is_some_and(|e| e == "dxil"));
        files.sort();
        if files.is_empty() {
            bail!("{}: no containers", folder.display());
        }
        let mut row = Row::default();
        let progress = Progress::new(files.len() * rounds);
        for _ in 0..rounds {
            row = Row { folder: folder.display().to_string(), ..Row::default() };
            for file in &files {
                let bytes = std::fs::read(file).with_context(|| file.display().to_string())?;
                let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                if let Err(error) = bench.container(&name, &bytes, &mut row) {
                    row.refused.push(format!("{}: {}", file.display(), failure::text(&error)));
                }
                progress.step();
            }
        }
        drop(progress);
        for (shader, best) in row.each.iter_mut().zip(&bench.best) {
            shader.took = best.iter().sum();
        }
        #[cfg(feature = "vulkan")]
        if let Some(driver) = &mut driver {
            drive(driver, &files, options.before, &mut row, &mut bench.modules)?;
        }
        for [read, lift, optimise, emit] in bench.best.drain(..) {
            row.read += read;
            row.lift += lift;
            row.optimise += optimise;
            row.emit += emit;
        }
        folders.push(row);
    }
    Ok(Report { folders, growth: growth::measure(options.quick)?, device })
}

/// Measures the driver on the modules of a folder, each of its first shader.
#[cfg(feature = "vulkan")]
fn drive(
    driver: &mut driver::Driver,
    files: &[PathBuf],
    before: Option<&Path>,
    row: &mut Row,
    modules: &mut Vec<Vec<u32>>,
) -> Result<()> {
    let progress = Progress::new(files.len());
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        // Of a library its first shader; none of what was refused.
        let at = row.each.iter().position(|shader| shader.name == name);
        if let Some(at) = at
            && let (Some(shader), Some(words)) = (row.each.get_mut(at), modules.get_mut(at))
        {
            let other = before.map(|before| before.join(file).with_extension("spv"));
            let other = other.filter(|path| path.is_file()).map(|path| spirv_words(&path)).transpose()?;
            let took = driver.measure(file, [Some(std::mem::take(words)), other])?;
            [shader.driver, shader.before] = took;
            row.driver.note(took);
        }
        progress.step();
    }
    modules.clear();
    Ok(())
}

#[cfg(feature = "vulkan")]
fn spirv_words(path: &Path) -> Result<Vec<u32>> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    Ok(bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect())
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |took: Option<f64>| took.map_or_else(String::new, |took| format!("{took:.2}"));
        writeln!(
            f,
            "{:>10}{:>9}{:>7}{:>7}{:>7}{:>11}{:>11}  shader",
            "µs", "words", "phis", "loops", "ifs", "driver ms", "before ms"
        )?;
        for Shader { name, took, code, driver, before } in self.folders.iter().flat_map(|row| &row.each) {
            let Counts { words, phis, loops, selections } = code;
            let (driver, before) = (milliseconds(*driver), milliseconds(*before));
            writeln!(
                f,
                "{took:>10.1}{words:>9}{phis:>7}{loops:>7}{selections:>7}{driver:>11}{before:>11}  {name}"
            )?;
        }
        writeln!(
            f,
            "{:>9}{:>14}{:>10}{:>10}{:>10}{:>10}{:>12}{:>12}{:>9}{:>7}{:>7}{:>7}  folder (µs a shader)",
            "shaders",
            "instructions",
            "read",
            "lift",
            "optimise",
            "SPIR-V",
            "together",
            "words/inst",
            "words",
            "phis",
            "loops",
            "ifs"
        )?;
        for row in self.folders.iter().chain([&Row::sum(&self.folders)]) {
            let mean = |sum: f64| sum / row.shaders.max(1) as f64;
            writeln!(
                f,
                "{:>9}{:>14}{:>10.1}{:>10.1}{:>10.1}{:>10.1}{:>12.1}{:>12.1}{:>9}{:>7}{:>7}{:>7}  {}",
                row.shaders,
                row.insts,
                mean(row.read),
                mean(row.lift),
                mean(row.optimise),
                mean(row.emit),
                mean(row.total()),
                row.code.words as f64 / row.insts.max(1) as f64,
                row.code.words,
                row.code.phis,
                row.code.loops,
                row.code.selections,
                row.folder
            )?;
        }
        if let Some(device) = &self.device {
            writeln!(f, "\n{device} compiles shaders and runs their tests:")?;
            for row in self.folders.iter().chain([&Row::sum(&self.folders)]) {
                let Driven { shaders, now, compared, compared_now, before } = row.driver;
                if shaders > 0 {
                    write!(f, "{now:>10.1} ms{shaders:>5} shaders  {}", row.folder)?;
                }
                if compared > 0 {
                    let ratio = compared_now / before;
                    write!(f, "; {compared} of them {compared_now:.1} ms, before {before:.1}: {ratio:.2}")?;
                }
                if shaders > 0 {
                    writeln!(f)?;
                }
            }
        }
        let mut refused = self.folders.iter().flat_map(|row| &row.refused);
        refused.try_for_each(|line| writeln!(f, "  {line}"))?;
        self.growth.iter().try_for_each(|growth| write!(f, "\n{growth}"))
    }
}
