//! Suites of NVIDIA Maxwell machine code.

pub mod compare;
pub mod decode;
pub mod format;
pub mod gpu;
pub mod graphics;
pub mod interp;
pub mod launch;

use crate::limit::{Emit, Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::vulkan::{self, Language};
use crate::{Error, Request};
use format::{Corpus, Kernel, Variant};
use launch::Launch;
use xenoglot_maxwell::lift::{Lifted, bind_storage};
use xenoglot_opt::Context;

/// A variant of an executable kernel, with its cubin's bytes.
struct Program {
    kernel: Kernel,
    variant: Variant,
    cubin: Vec<u8>,
}

/// The results of each way to run a program.
type Runs = Vec<Result<Verdict, String>>;

/// How the interpreter runs programs.
const WAYS: [&str; 3] = ["as lifted", "with storage buffers", "optimised"];

/// Suite `maxwell`: every compilation of every executable kernel.
pub(crate) fn kernels(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let corpus = Corpus::read(&request.path)?;
    let language = if request.engine == "glsl" { Language::Glsl } else { Language::Spirv };
    let ways = if request.engine == "interp" { &WAYS[..] } else { &[language.name()] };
    let mut items = Vec::new();
    for kernel in corpus.kernels.iter().filter(|k| k.executable) {
        for (name, variant) in &kernel.variants {
            let cubin = corpus.cubins.get(&variant.cubin).cloned().unwrap_or_default();
            let names = ways.iter().map(|way| format!("{} {name}, {way}", kernel.name)).collect();
            let program = Program { kernel: kernel.clone(), variant: variant.clone(), cubin };
            items.push(Item::together(names, program));
        }
    }
    if request.engine == "interp" {
        return Work::plain(items, |item, emit| report(item, interpret(&item.data), emit)).run(observer);
    }
    let (device, request) = (vulkan::device(request)?, request.clone());
    let judge = |engine: &mut gpu::Engine, item: &Item<Program>, emit: &mut Emit| {
        report(item, vec![translate(engine, &item.data)], emit);
    };
    Work::with(items, move || gpu::Engine::new(language, &request, &device), judge).run(observer)
}

fn interpret(p: &Program) -> Runs {
    let launch = match Launch::new(&p.kernel, &p.variant, &p.cubin) {
        Ok(launch) => launch,
        Err(e) => return vec![Err(e); WAYS.len()],
    };
    let mut lifted = match launch.lift() {
        Ok(lifted) => lifted,
        Err(e) => return vec![Err(e.to_string()); WAYS.len()],
    };
    let run = |lifted: &Lifted| {
        xenoglot_ir::verify(&lifted.module).map_err(|e| e.to_string())?;
        let memory = interp::run(&launch, &lifted.module, &lifted.info.storage_buffers)?;
        Ok(compare::judge(&launch, &memory))
    };
    let before = run(&lifted);
    let mut bound = lifted.clone();
    let mut context = Context::new();
    for func in bound.module.funcs.keys() {
        context.session(&mut bound.module, func).run(xenoglot_opt::promote::run);
    }
    bind_storage(&mut bound, &launch::options(), 1);
    let Ok(()) =
        xenoglot_opt::optimize(&mut lifted.module, &mut Context::new(), &Default::default(), &mut ());
    vec![before, run(&bound), run(&lifted)]
}

fn translate(engine: &mut gpu::Engine, p: &Program) -> Result<Verdict, String> {
    let launch = Launch::new(&p.kernel, &p.variant, &p.cubin)?;
    let module = launch.lift().map_err(|e| e.to_string())?.module;
    Ok(compare::judge(&launch, &engine.run(&launch, module)?))
}

fn report(item: &Item<Program>, runs: Runs, emit: &mut Emit) {
    for (name, result) in item.names.iter().zip(runs) {
        emit(Case { name: name.clone(), verdict: result.unwrap_or_else(Verdict::Failed) });
    }
}
