//! Suite of DXIL shaders.

mod bindless;
pub mod format;
mod gpu;
mod interp;
mod stages;

use crate::report::{Case, Observer, Summary, Verdict};
use crate::vulkan::{self, Language};
use crate::{Error, Request};
use format::{Test, Vector};
use interp::Raw;
use rayon::prelude::*;
use xenoglot::dxil::{Bounds, LiftOptions, RegisterSpaces, lift, lift_bound, load};
use xenoglot_dxil::lift::LiftError;
use xenoglot_ir::Module;
use xenoglot_vulkan::DeviceInfo;

/// Suite `dxil`: every shader at the path. Those without a test beside them are only translated: to valid SPIR-V with both
/// binding models on engine `spirv`. Engine `bindless` binds by root signature, on the interpreter and on a device.
pub(crate) fn shaders(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let vectors = format::read(&request.path)?;
    observer.total(vectors.len());
    if request.engine == "interp" {
        let run = |v: &Vector| report(v, interpreted(v), observer);
        return Ok(Summary::total(vectors.par_iter().map(run).collect::<Vec<_>>()));
    }
    let (vectors, others): (Vec<Vector>, Vec<Vector>) = match request.engine {
        "spirv" => vectors.into_iter().partition(|v| v.test.is_some()),
        _ => (vectors, Vec::new()),
    };
    let translated = stages::run(&others, observer);
    if vectors.is_empty() {
        return Ok(translated);
    }
    let language = if request.engine == "glsl" { Language::Glsl } else { Language::Spirv };
    let device = vulkan::device(request)?;
    // An engine is a process with a device: one for a share of the shaders.
    let share = vectors.len().div_ceil(rayon::current_num_threads()).max(1);
    let summaries: Result<Vec<Summary>, Error> = vectors
        .par_chunks(share)
        .map(|share| {
            if request.engine == "bindless" {
                let mut engine = bindless::Engine::new(request, &device)?;
                let run = |v: &Vector| on_device(v, &device, observer, |v| engine.run(v));
                return Ok(Summary::total(share.iter().map(run)));
            }
            let mut engine = gpu::Engine::new(language, request, &device)?;
            let run = |v: &Vector| on_device(v, &device, observer, |v| engine.run(v));
            Ok(Summary::total(share.iter().map(run)))
        })
        .collect();
    Ok(Summary::total(summaries?.into_iter().chain([translated])))
}

/// Runs a shader on a device, if that has what the shader needs.
fn on_device(
    vector: &Vector,
    device: &DeviceInfo,
    observer: &dyn Observer,
    run: impl FnOnce(&Vector) -> Result<(), String>,
) -> Summary {
    let needs = vector.test.iter().flat_map(|test| &test.needs).flat_map(|n| n.split_whitespace());
    let lacking = needs.into_iter().find(|&need| device.features.get(need) == Some(false));
    match lacking {
        Some(need) => judged(vector, Verdict::Unconfirmed(format!("the device lacks {need}")), observer),
        None => report(vector, run(vector), observer),
    }
}

/// How shaders are lifted for a device: no test goes outside of its buffers, of which checks would be most of what a driver
/// compiles, and all of them are there.
const FOR_DEVICES: LiftOptions =
    LiftOptions { bounds: Bounds::Device, all_resident: true, ..LiftOptions::DEFAULT };

fn lifted(vector: &Vector, options: &LiftOptions) -> Result<Module, String> {
    let module = load(&vector.container).map_err(|e| e.to_string())?;
    Ok(lift(&module, options).map_err(|e| e.to_string())?.module)
}

/// Runs a shader as lifted and optimised.
fn interpreted(vector: &Vector) -> Result<(), String> {
    let mut module = lifted(vector, &LiftOptions::default())?;
    let Some(test) = &vector.test else { return Ok(()) };
    for way in ["as lifted", "optimised"] {
        if way == "optimised" {
            let mut context = xenoglot_opt::Context::new();
            let Ok(()) = xenoglot_opt::optimize(&mut module, &mut context, &Default::default(), &mut ());
        }
        interp::run(test, &module, Raw::Bytes)
            .and_then(|after| compare(test, &after))
            .map_err(|e| format!("{way}: {e}"))?;
    }
    let spaces = RegisterSpaces { raw_as_texels: true, ..RegisterSpaces::default() };
    let bitcode = load(&vector.container).map_err(|e| e.to_string())?;
    match lift_bound(&bitcode, &LiftOptions::default(), &spaces) {
        Ok(lifted) => interp::run(test, &lifted.module, Raw::Texels)
            .and_then(|after| compare(test, &after))
            .map_err(|e| format!("raw buffers as texels: {e}")),
        // Texels have neither wide atomics nor halves that are stored.
        Err(xenoglot::Error::DxilLift(LiftError::Unsupported {
            why: "an access to a buffer of texels",
            ..
        })) => Ok(()),
        Err(e) => Err(format!("raw buffers as texels: {e}")),
    }
}

/// Whether resources, in the test's order, are as expected.
fn compare(test: &Test, after: &[Vec<u8>]) -> Result<(), String> {
    for expected in &test.expected {
        let is = |r: &format::Resource| {
            (r.class, r.space, r.register) == (expected.class, expected.space, expected.register)
        };
        let found = test.resources.iter().position(is).and_then(|i| after.get(i));
        let got = found.ok_or("an expectation of a resource that there is not")?;
        if let Some(difference) = expected.difference(got) {
            return Err(difference);
        }
    }
    Ok(())
}

fn report(vector: &Vector, result: Result<(), String>, observer: &dyn Observer) -> Summary {
    judged(vector, result.map_or_else(Verdict::Failed, |()| Verdict::Passed), observer)
}

fn judged(vector: &Vector, verdict: Verdict, observer: &dyn Observer) -> Summary {
    let case = Case { name: vector.name.clone(), verdict };
    observer.case(&case);
    Summary::of([&case])
}
