//! Conversion on the host's GPU against that on the CPU.

use xenoglot_host::{Device, DeviceOptions};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;
use xenoglot_testgen::skip::skip;
use xenoglot_yuv::compute::{Converter, Error};
use xenoglot_yuv::{
    Component, Conversion, Filter, Format, Frame, Layout, Model, Plane, Range, Reconstruction, Siting,
    Subsampling, convert, convert_rgba8,
};

fn converter() -> Option<Converter> {
    match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => Some(Converter::new(&device).unwrap()),
        Err(error) => {
            skip(&error.to_string());
            None
        }
    }
}

fn layouts() -> impl Iterator<Item = (Layout, Subsampling)> {
    let layouts = Layout::ALL.into_iter().filter(|&layout| layout != Layout::Mono);
    layouts.flat_map(|layout| {
        let of = Subsampling::ALL.into_iter();
        of.filter(move |&s| layout.subsampling().is_none_or(|own| own == s)).map(move |s| (layout, s))
    })
}

fn any_conversion(rng: &mut Rng) -> Conversion {
    let models = [
        Model::RgbIdentity,
        Model::YcbcrIdentity,
        Model::Bt709,
        Model::Bt601,
        Model::Bt2020,
        Model::Smpte240M,
        Model::Fcc,
    ];
    let components = [
        Component::Zero,
        Component::One,
        Component::Red,
        Component::Green,
        Component::Blue,
        Component::Alpha,
    ];
    let mut pick = |n: u32| rng.below(n) as usize;
    let siting = [Siting::CositedEven, Siting::Midpoint];
    Conversion {
        model: models[pick(7)],
        range: [Range::Full, Range::Narrow][pick(2)],
        siting: [siting[pick(2)], siting[pick(2)]],
        filter: [Filter::Nearest, Filter::Linear, Filter::Cubic][pick(3)],
        reconstruction: [Reconstruction::Explicit, Reconstruction::Implicit][pick(2)],
        components: [(); 4].map(|()| components[pick(6)]),
    }
}

#[test]
fn frames_are_as_on_the_cpu() {
    let Some(converter) = converter() else { return };
    let mut rng = property::rng(11);
    for (layout, subsampling) in layouts() {
        // More than once, as a conversion is any.
        for bits in [8, 10, 12, 16, 8, 10, 12, 16, 10, 10] {
            if layout.bits().is_some_and(|needed| needed != bits) {
                continue;
            }
            let format = Format { layout, subsampling, bits, high: rng.below(2) == 1 };
            let (width, height) = (1 + rng.below(40) as usize, 1 + rng.below(20) as usize);
            let gap = rng.below(5) as usize;
            let planes: Vec<(Vec<u8>, usize)> = format
                .planes(width, height)
                .unwrap()
                .into_iter()
                .map(|(row, rows)| {
                    let bytes = (0..(row + gap) * rows).map(|_| rng.next_u32() as u8).collect();
                    (bytes, row + gap)
                })
                .collect();
            let planes: Vec<Plane> =
                planes.iter().map(|(data, pitch)| Plane { data, pitch: *pitch }).collect();
            let frame = Frame::new(format, width, height, &planes).unwrap();
            let conversion = any_conversion(&mut rng);
            let (mut cpu, mut gpu) = (vec![[0.0; 4]; width * height], vec![[0.0; 4]; width * height]);
            convert(&frame, &conversion, &mut cpu).unwrap();
            converter.convert(&frame, &conversion, &mut gpu).unwrap();
            for (cpu, gpu) in cpu.as_flattened().iter().zip(gpu.as_flattened()) {
                assert!((cpu - gpu).abs() < 1e-5, "{format:?} {conversion:?}: {gpu}, not {cpu}");
            }
            let (mut cpu, mut gpu) = (vec![[0; 4]; width * height], vec![[0; 4]; width * height]);
            convert_rgba8(&frame, &conversion, &mut cpu).unwrap();
            converter.convert_rgba8(&frame, &conversion, &mut gpu).unwrap();
            for (cpu, gpu) in cpu.as_flattened().iter().zip(gpu.as_flattened()) {
                assert!(cpu.abs_diff(*gpu) <= 1, "{format:?} {conversion:?}: {gpu}, not {cpu}");
            }
        }
    }
}

#[test]
fn short_outputs_are_refused() {
    let Some(converter) = converter() else { return };
    let format = Format { layout: Layout::Planar, subsampling: Subsampling::S444, bits: 8, high: false };
    let frame = Frame::tight(format, 4, 4, &[0; 48]).unwrap();
    let result = converter.convert(&frame, &Conversion::default(), &mut [[0.0; 4]; 15]);
    assert!(matches!(result, Err(Error::Size(_))), "{result:?}");
    let empty = Frame::tight(format, 0, 4, &[]).unwrap();
    converter.convert(&empty, &Conversion::default(), &mut []).unwrap();
}
