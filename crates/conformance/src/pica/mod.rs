//! Suites of the PICA200 shader unit.

pub mod compare;
pub mod format;
pub mod gpu;
pub mod interp;
pub mod kernel;
pub mod native;

use crate::report::{Case, Observer, Summary, Verdict};
use crate::vulkan::{self, Language};
use crate::{Error, Request, input};
use compare::Observed;
use format::TestProgram;
use rayon::prelude::*;
use xenoglot_opt::Context;
use xenoglot_pica_shader::float::{F16, F20, F24};

/// Suite `pica`: every program with every set, on the engine of the request.
pub(crate) fn programs(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let mut programs = Vec::new();
    for (_, bytes) in input::with_magic(&request.path, format::PROGRAMS_MAGIC)? {
        programs.extend(format::programs(&bytes)?);
    }
    match request.engine {
        "interp" => {
            observer.total(programs.iter().map(|p| 2 * p.sets.len()).sum());
            let run = |p: &TestProgram| report(p, interpret(p), observer);
            Ok(Summary::total(programs.par_iter().map(run).collect::<Vec<_>>()))
        }
        "native" => {
            observer.total(programs.iter().map(|p| p.sets.len()).sum());
            let run = |p: &TestProgram| report(p, compile(p), observer);
            Ok(Summary::total(programs.par_iter().map(run).collect::<Vec<_>>()))
        }
        engine => {
            let language = if engine == "glsl" { Language::Glsl } else { Language::Spirv };
            let device = vulkan::device(request)?;
            let runs = |p: &TestProgram| if p.geometry { p.sets.len() } else { 2 * p.sets.len() };
            observer.total(programs.iter().map(runs).sum());
            // An engine is a process with a device: one for a share of the programs.
            let share = programs.len().div_ceil(rayon::current_num_threads()).max(1);
            let summaries: Result<Vec<Vec<Summary>>, Error> = programs
                .par_chunks(share)
                .map(|share| {
                    let mut engine = gpu::Engine::new(language, request, &device)?;
                    Ok(share.iter().map(|p| report(p, translate(&mut engine, p), observer)).collect())
                })
                .collect();
            Ok(Summary::total(summaries?.concat()))
        }
    }
}

/// The results of one way to run a program, with the way's name.
type Runs = (&'static str, Vec<Result<Observed, String>>);

fn interpret(p: &TestProgram) -> Vec<Runs> {
    let lifted = match kernel::compute(p) {
        Ok(lifted) => lifted,
        Err(e) => return vec![("lift", vec![Err(e.to_string()); p.sets.len()])],
    };
    let mut module = lifted.module;
    let before = interp::run(p, &module);
    let Ok(()) = xenoglot_opt::optimize(&mut module, &mut Context::new(), &Default::default(), &mut ());
    vec![("as lifted", before), ("optimised", interp::run(p, &module))]
}

fn compile(p: &TestProgram) -> Vec<Runs> {
    let lifted = match kernel::compute(p) {
        Ok(lifted) => lifted,
        Err(e) => return vec![("lift", vec![Err(e.to_string()); p.sets.len()])],
    };
    let mut module = lifted.module;
    let Ok(()) = xenoglot_opt::optimize(&mut module, &mut Context::new(), &Default::default(), &mut ());
    vec![("native", native::run(p, &module))]
}

fn translate(engine: &mut gpu::Engine, p: &TestProgram) -> Vec<Runs> {
    let mut runs = vec![("compute", engine.compute(p))];
    if !p.geometry {
        runs.push(("vertex", engine.vertex(p)));
    }
    runs
}

fn report(p: &TestProgram, runs: Vec<Runs>, observer: &dyn Observer) -> Summary {
    let mut cases = Vec::new();
    for (way, results) in runs {
        for (number, (set, result)) in p.sets.iter().zip(results).enumerate() {
            let name = format!("program {} ({}) set {number}, {way}", p.id, p.category_name());
            let verdict = match result {
                Ok(observed) => compare::judge(p, set, &observed),
                Err(reason) => Verdict::Failed(reason),
            };
            cases.push(Case { name, verdict });
        }
    }
    cases.iter().for_each(|c| observer.case(c));
    Summary::of(&cases)
}

/// Suite `picafloats`: conversions of the chip's floats to singles.
pub(crate) fn floats(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let mut summary = Vec::new();
    for (path, bytes) in input::with_magic(&request.path, format::FLOATS_MAGIC)? {
        let conversions = format::floats(&bytes)?;
        observer.total(conversions.len());
        for (number, c) in conversions.into_iter().enumerate() {
            let got = match c.kind {
                24 => Some(F24.to_single_bits(c.raw)),
                20 => Some(F20.to_single_bits(c.raw)),
                16 => Some(F16.to_single_bits(c.raw)),
                _ => None,
            };
            let verdict = match got {
                Some(bits) if bits == c.single => Verdict::Passed,
                Some(bits) => Verdict::Failed(format!("{bits:#010x}, expected {:#010x}", c.single)),
                None => Verdict::Failed(format!("there are no floats of {} bits", c.kind)),
            };
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let case = Case { name: format!("{file} {number}: f{} {:#x}", c.kind, c.raw), verdict };
            observer.case(&case);
            summary.push(Summary::of([&case]));
        }
    }
    Ok(Summary::total(summary))
}
