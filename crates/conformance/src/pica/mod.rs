//! Suites of the PICA200 shader unit.

pub mod compare;
pub mod format;
pub mod gpu;
pub mod interp;
pub mod kernel;
pub mod lanes;
pub mod native;

use crate::limit::{Emit, Item, LIMIT, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::vulkan::{self, Language};
use crate::{Error, Request, input};
use compare::Observed;
use format::TestProgram;
use xenoglot_opt::Context;
use xenoglot_pica_shader::float::{F16, F20, F24};

/// Suite `pica`: every program with every set, on the engine of the request.
pub(crate) fn programs(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let mut programs = Vec::new();
    for (_, bytes) in input::with_magic(&request.path, format::PROGRAMS_MAGIC)? {
        programs.extend(format::programs(&bytes)?);
    }
    let items = |ways: fn(&TestProgram) -> &'static [&'static str]| {
        programs.into_iter().map(|p| Item::together(names(&p, ways(&p)), p)).collect()
    };
    match request.engine {
        "interp" => {
            let items = items(|_| &["as lifted", "optimised"]);
            Work::plain(items, |item, emit| report(item, interpret(&item.data), emit)).run(observer)
        }
        "native" => {
            let items = items(|_| &["native"]);
            Work::plain(items, |item, emit| report(item, compile(&item.data), emit)).run(observer)
        }
        "lanes" => {
            let items = items(|_| &["lanes"]);
            Work::plain(items, |item, emit| report(item, vec![lanes::run(&item.data)], emit)).run(observer)
        }
        engine => {
            let language = if engine == "glsl" { Language::Glsl } else { Language::Spirv };
            let (device, request) = (vulkan::device(request)?, request.clone());
            let items = items(|p| if p.geometry { &["compute"] } else { &["compute", "vertex"] });
            let start = move || gpu::Engine::new(language, &request, &device);
            let judge = |engine: &mut gpu::Engine, item: &Item<TestProgram>, emit: &mut Emit| {
                report(item, translate(engine, &item.data), emit);
            };
            Work::with(items, start, judge).run(observer)
        }
    }
}

/// The names of a program's cases: each way with each set.
fn names(p: &TestProgram, ways: &[&str]) -> Vec<String> {
    let name = |way, number| format!("program {} ({}) set {number}, {way}", p.id, p.category_name());
    ways.iter().flat_map(|way| (0..p.sets.len()).map(move |number| name(way, number))).collect()
}

/// The results of one way to run a program with each set.
type Runs = Vec<Result<Observed, String>>;

fn interpret(p: &TestProgram) -> Vec<Runs> {
    let lifted = match kernel::compute(p) {
        Ok(lifted) => lifted,
        Err(e) => return vec![vec![Err(e.to_string()); p.sets.len()]; 2],
    };
    let mut module = lifted.module;
    let before = interp::run(p, &module);
    let Ok(()) = xenoglot_opt::optimize(&mut module, &mut Context::new(), &Default::default(), &mut ());
    vec![before, interp::run(p, &module)]
}

fn compile(p: &TestProgram) -> Vec<Runs> {
    let lifted = match kernel::compute(p) {
        Ok(lifted) => lifted,
        Err(e) => return vec![vec![Err(e.to_string()); p.sets.len()]],
    };
    let mut module = lifted.module;
    let Ok(()) = xenoglot_opt::optimize(&mut module, &mut Context::new(), &Default::default(), &mut ());
    vec![native::run(p, &module)]
}

fn translate(engine: &mut gpu::Engine, p: &TestProgram) -> Vec<Runs> {
    engine.set_limit(LIMIT.saturating_mul(u32::try_from(p.sets.len()).unwrap_or(u32::MAX)));
    let mut runs = vec![engine.compute(p)];
    if !p.geometry {
        runs.push(engine.vertex(p));
    }
    runs
}

fn report(item: &Item<TestProgram>, runs: Vec<Runs>, emit: &mut Emit) {
    let p = &item.data;
    let results = runs.into_iter().flat_map(|runs| p.sets.iter().zip(runs));
    for (name, (set, result)) in item.names.iter().zip(results) {
        let verdict = match result {
            Ok(observed) => compare::judge(p, set, &observed),
            Err(reason) => Verdict::Failed(reason),
        };
        emit(Case { name: name.clone(), verdict });
    }
}

/// Suite `picafloats`: conversions of the chip's floats to singles.
pub(crate) fn floats(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let mut items = Vec::new();
    for (path, bytes) in input::with_magic(&request.path, format::FLOATS_MAGIC)? {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        for (number, c) in format::floats(&bytes)?.into_iter().enumerate() {
            items.push(Item::single(format!("{file} {number}: f{} {:#x}", c.kind, c.raw), c));
        }
    }
    let judge = |item: &Item<format::FloatCase>, emit: &mut Emit| {
        let c = &item.data;
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
        item.names.iter().for_each(|name| emit(Case { name: name.clone(), verdict: verdict.clone() }));
    };
    Work::plain(items, judge).run(observer)
}
