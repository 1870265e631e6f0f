//! The engine that asks the host's own sampler conversion.

use super::Source;
use crate::report::Verdict;
use crate::{Error, Request, vulkan};
use xenoglot::host::Language;
use xenoglot::{Code, Host, Options, compile};
use xenoglot_ir::text::{Limits, parse};
use xenoglot_vulkan::isolated::Isolated;
use xenoglot_vulkan::{Job, SampleJob, SampledFrame};
use xenoglot_yuv::{Conversion, Filter, Layout, Model, Range, Reconstruction, Siting};

/// A device in a worker process, and the program for frames of the last size.
pub(super) struct Sampler {
    device: Isolated,
    program: Option<([usize; 2], Vec<u32>)>,
}

impl Sampler {
    pub(super) fn new(request: &Request) -> Result<Sampler, Error> {
        let device = vulkan::device(request)?;
        if !device.features.sampler_ycbcr_conversion {
            return Err(Error::Device(format!("{} has no samplers that convert", device.name)));
        }
        Ok(Sampler { device: vulkan::isolated(request, vulkan::worker(request)?), program: None })
    }

    pub(super) fn convert(
        &mut self,
        source: &Source<'_>,
        conversion: &Conversion,
        texels: &mut [[f32; 4]],
    ) -> Result<(), Verdict> {
        let spirv = match &self.program {
            Some((size, words)) if *size == source.size => words.clone(),
            _ => {
                let words = program(source.size).map_err(Verdict::Failed)?;
                self.program.insert((source.size, words)).1.clone()
            }
        };
        let model = match conversion.model {
            Model::RgbIdentity => 0,
            Model::YcbcrIdentity => 1,
            Model::Bt709 => 2,
            Model::Bt601 => 3,
            Model::Bt2020 => 4,
            model => return Err(Verdict::Unconfirmed(format!("Vulkan has no model {model:?}"))),
        };
        let frame = SampledFrame {
            size: source.size.map(|n| n as u32),
            planes: if source.format.layout == Layout::SemiPlanar { 2 } else { 3 },
            subsampling: source.format.subsampling.factors().map(|n| n as u32),
            bits: source.format.bits,
            data: source.data.to_vec(),
            model,
            narrow: conversion.range == Range::Narrow,
            midpoint: conversion.siting.map(|siting| siting == Siting::Midpoint),
            linear: conversion.filter == Filter::Linear,
            explicit: conversion.reconstruction == Reconstruction::Explicit,
        };
        let outputs = self.device.run(&Job::Sample(SampleJob { spirv, frame })).map_err(|e| match e {
            // What the host does not do is no fault of ours, nor of its.
            xenoglot_vulkan::Error::Unsupported(what) => {
                Verdict::Unconfirmed(format!("the device lacks {what}"))
            }
            e => Verdict::Failed(e.to_string()),
        })?;
        let bytes = outputs.first().and_then(|output| output.buffers.first());
        let words = bytes.map(|bytes| bytes.as_chunks::<4>().0).unwrap_or_default();
        for (texel, words) in texels.iter_mut().zip(words.as_chunks::<4>().0) {
            *texel = words.map(f32::from_le_bytes);
        }
        Ok(())
    }
}

/// Samples at the middle of each texel.
fn program([width, height]: [usize; 2]) -> Result<Vec<u32>, String> {
    let text = format!(
        r#"module compute "sample" {{
  workgroup 1 1 1
  input %id = builtin global_invocation_id : i32x3
  texture @frame = set 0 binding 0 2d
  storage @texels = set 0 binding 1 write

  entry func @main() {{
  block0:
    v0 : i32x3 = input %id
    v1 : i32 = extract 0, v0
    v2 : i32 = extract 1, v0
    v3 : f32 = u2f v1
    v4 : f32 = u2f v2
    v5 : f32 = const 0.5
    v6 : f32 = fadd v3, v5
    v7 : f32 = fadd v4, v5
    v8 : f32 = const {width}.0
    v9 : f32 = const {height}.0
    v10 : f32 = fdiv v6, v8
    v11 : f32 = fdiv v7, v9
    v12 : f32x2 = build v10, v11
    v13 : tex = resource_handle @frame
    v14 : f32 = const 0.0
    v15 : f32x4 = tex.sample 2d lod, v13, v12, v14
    v16 : i32 = const {width}
    v17 : i32 = imul v2, v16
    v18 : i32 = iadd v17, v1
    v19 : i32 = const 4
    v20 : i32 = shl v18, v19
    store storage @texels align 16, v20, v15
    return
  }}
}}"#
    );
    let mut module = parse(&text, &Limits::default()).map_err(|e| e.to_string())?;
    let host = Host::of(Language::Spirv(None));
    match compile(&mut module, &host, &Options::default()).map_err(|e| e.to_string())? {
        Code::Words(words) => Ok(words),
        _ => Err("no words".into()),
    }
}
