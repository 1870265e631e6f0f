//! Suites of NVIDIA Maxwell machine code.

pub mod compare;
pub mod decode;
pub mod format;
pub mod gpu;
pub mod graphics;
pub mod interp;
pub mod launch;

use crate::report::{Case, Observer, Summary, Verdict};
use crate::vulkan::{self, Language};
use crate::{Error, Request};
use format::{Corpus, Kernel, Variant};
use launch::Launch;
use rayon::prelude::*;
use xenoglot_maxwell::lift::{Lifted, bind_storage};
use xenoglot_opt::Context;

/// A variant of an executable kernel, with its cubin's bytes.
struct Program<'c> {
    kernel: &'c Kernel,
    name: &'c str,
    variant: &'c Variant,
    cubin: &'c [u8],
}

/// The results of one way to run a program, with the way's name.
type Runs = Vec<(&'static str, Result<Verdict, String>)>;

/// Suite `maxwell`: every compilation of every executable kernel.
pub(crate) fn kernels(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let corpus = Corpus::read(&request.path)?;
    let executable = corpus.kernels.iter().filter(|k| k.executable);
    let programs: Vec<Program> = executable
        .flat_map(|kernel| kernel.variants.iter().map(move |(name, variant)| (kernel, name, variant)))
        .map(|(kernel, name, variant)| {
            let cubin = corpus.cubins.get(&variant.cubin).map_or(&[][..], Vec::as_slice);
            Program { kernel, name, variant, cubin }
        })
        .collect();
    if request.engine == "interp" {
        observer.total(3 * programs.len());
        let run = |p: &Program| report(p, interpret(p), observer);
        return Ok(Summary::total(programs.par_iter().map(run).collect::<Vec<_>>()));
    }
    let language = if request.engine == "glsl" { Language::Glsl } else { Language::Spirv };
    let device = vulkan::device(request)?;
    observer.total(programs.len());
    // An engine is a process with a device: one for a share of the programs.
    let share = programs.len().div_ceil(rayon::current_num_threads()).max(1);
    let summaries: Result<Vec<Summary>, Error> = programs
        .par_chunks(share)
        .map(|share| {
            let mut engine = gpu::Engine::new(language, request, &device)?;
            let run = |p: &Program| report(p, vec![(language.name(), translate(&mut engine, p))], observer);
            Ok(Summary::total(share.iter().map(run)))
        })
        .collect();
    Ok(Summary::total(summaries?))
}

fn interpret(p: &Program) -> Runs {
    const WAYS: [&str; 3] = ["as lifted", "with storage buffers", "optimised"];
    let launch = match Launch::new(p.kernel, p.variant, p.cubin) {
        Ok(launch) => launch,
        Err(e) => return WAYS.map(|way| (way, Err(e.clone()))).into(),
    };
    let mut lifted = match launch.lift() {
        Ok(lifted) => lifted,
        Err(e) => return WAYS.map(|way| (way, Err(e.to_string()))).into(),
    };
    let run = |lifted: &Lifted| {
        xenoglot_ir::verify(&lifted.module).map_err(|e| e.to_string())?;
        let memory = interp::run(&launch, &lifted.module, &lifted.info.storage_buffers)?;
        Ok(compare::judge(&launch, &memory))
    };
    let before = run(&lifted);
    let mut bound = lifted.clone();
    for func in bound.module.funcs.values_mut() {
        xenoglot_opt::promote::run(func, &mut Context::new());
    }
    bind_storage(&mut bound, &launch::options(), 1);
    let Ok(()) =
        xenoglot_opt::optimize(&mut lifted.module, &mut Context::new(), &Default::default(), &mut ());
    vec![(WAYS[0], before), (WAYS[1], run(&bound)), (WAYS[2], run(&lifted))]
}

fn translate(engine: &mut gpu::Engine, p: &Program) -> Result<Verdict, String> {
    let launch = Launch::new(p.kernel, p.variant, p.cubin)?;
    let module = launch.lift().map_err(|e| e.to_string())?.module;
    Ok(compare::judge(&launch, &engine.run(&launch, module)?))
}

fn report(p: &Program, runs: Runs, observer: &dyn Observer) -> Summary {
    let cases: Vec<Case> = runs
        .into_iter()
        .map(|(way, result)| Case {
            name: format!("{} {}, {way}", p.kernel.name, p.name),
            verdict: result.unwrap_or_else(Verdict::Failed),
        })
        .collect();
    cases.iter().for_each(|c| observer.case(c));
    Summary::of(&cases)
}
