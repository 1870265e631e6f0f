//! Suite of DXIL shaders.

mod bindless;
pub mod format;
mod gpu;
mod interp;
mod stages;

use crate::limit::{Emit, Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::vulkan::{self, Language};
use crate::{Error, Request};
use format::{Test, Vector};
pub use gpu::job;
use interp::Raw;
use xenoglot::Translator;
use xenoglot::dxil::{Bounds, LiftOptions, RegisterSpaces, lift, lift_bound, load};
use xenoglot_dxil::lift::LiftError;
use xenoglot_ir::Module;
use xenoglot_opt::pipeline::Level;
use xenoglot_vulkan::DeviceInfo;

/// Suite `dxil`: every shader at the path. Those without a test beside them are only translated: to valid SPIR-V with both
/// binding models on engine `spirv`. Engine `bindless` binds by root signature, on the interpreter and on a device.
pub(crate) fn shaders(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let item = |v: Vector| Item::single(v.name.clone(), v);
    let items: Vec<Item<Vector>> = format::read(&request.path)?.into_iter().map(item).collect();
    let judge = |item: &Item<Vector>, emit: &mut Emit| {
        let vector = &item.data;
        emit(match vector.needs().any(|need| need == DERIVATIVES) {
            true => {
                let verdict = Verdict::Unconfirmed("the interpreter has no derivatives".into());
                Case { name: vector.name.clone(), verdict }
            }
            false => case(vector, interpreted(vector)),
        });
    };
    if request.engine == "interp" {
        return Work::plain(items, judge).run(observer);
    }
    let (items, others): (Vec<_>, Vec<_>) = match request.engine {
        "spirv" => items.into_iter().partition(|item| item.data.test.is_some()),
        _ => (items, Vec::new()),
    };
    let translated = Work::plain(others, |item: &Item<Vector>, emit| {
        let verdict = stages::translated(&item.data).unwrap_or_else(Verdict::Failed);
        emit(Case { name: item.data.name.clone(), verdict });
    });
    let translated = translated.run(observer)?;
    if items.is_empty() {
        return Ok(translated);
    }
    let (device, request) = (vulkan::device(request)?, request.clone());
    let shared = device.clone();
    let ran = match request.engine {
        "bindless" => {
            let judge = move |engine: &mut bindless::Engine, item: &Item<Vector>, emit: &mut Emit| {
                emit(on_device(&item.data, &shared, |v| engine.run(v)));
            };
            Work::with(items, move || bindless::Engine::new(&request, &device), judge).run(observer)
        }
        engine => {
            let language = if engine == "glsl" { Language::Glsl } else { Language::Spirv };
            let judge = move |engine: &mut gpu::Engine, item: &Item<Vector>, emit: &mut Emit| {
                emit(on_device(&item.data, &shared, |v| engine.run(v)));
            };
            Work::with(items, move || gpu::Engine::new(language, &request, &device), judge).run(observer)
        }
    };
    Ok(Summary::total([ran?, translated]))
}

/// What tests need that derive in workgroups.
const DERIVATIVES: &str = "compute derivatives";

/// Runs a shader on a device, if that has what the shader needs.
fn on_device(vector: &Vector, device: &DeviceInfo, run: impl FnOnce(&Vector) -> Result<(), String>) -> Case {
    let mut needs = vector.needs().flat_map(str::split_whitespace);
    let lacking = needs.find(|&need| device.features.get(need) == Some(false));
    match lacking {
        Some(need) => {
            let verdict = Verdict::Unconfirmed(format!("the device lacks {need}"));
            Case { name: vector.name.clone(), verdict }
        }
        None => case(vector, run(vector)),
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
            Translator::new().optimize(&mut module, Some(Level::Full));
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

fn case(vector: &Vector, result: Result<(), String>) -> Case {
    let verdict = result.map_or_else(Verdict::Failed, |()| Verdict::Passed);
    Case { name: vector.name.clone(), verdict }
}
