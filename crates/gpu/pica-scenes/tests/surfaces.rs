//! Frames that stay on the host's GPU: after a flush, guest memory is what the CPU renderer leaves.

mod console;

use console::{Console, first_difference};
use std::collections::HashMap;
use std::sync::Arc;
use xenoglot_capture::Capture;
use xenoglot_host::{Compilation, Device, DeviceOptions};
use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::host::{HostRenderer, Options, Programs, Scale, Triangles};
use xenoglot_pica::memory::{FCRAM, Mark, Memory, PAGE, Regions, VRAM};
use xenoglot_pica::raster::{self, Chip, Reference};
use xenoglot_pica::renderer::Detour;
use xenoglot_pica::replay::Operation;
use xenoglot_pica::report::{Error, Report};
use xenoglot_pica_scenes::random;
use xenoglot_testgen::property;
use xenoglot_testgen::skip::skip;

/// Captures of several frames; `XENOGLOT_LONG` runs a hundred times as many.
const CAPTURES: u32 = 60;
const FRAMES: u32 = 4;

/// Memory as an emulator with page tables has it.
struct Marked {
    regions: Regions,
    marks: HashMap<u32, Mark>,
}

impl Marked {
    fn has(&self, address: u32, len: u32, wanted: impl Fn(Option<&Mark>) -> bool) -> bool {
        (address / PAGE..=(address + len - 1) / PAGE).any(|page| wanted(self.marks.get(&page)))
    }
}

impl Memory for Marked {
    fn tail(&self, address: u32) -> Option<&[u8]> {
        self.regions.tail(address)
    }

    fn tail_mut(&mut self, address: u32) -> Option<&mut [u8]> {
        self.regions.tail_mut(address)
    }

    fn is_tracked(&self) -> bool {
        true
    }

    fn mark(&mut self, address: u32, len: u32, mark: Mark) {
        assert!(address.is_multiple_of(PAGE) && len.is_multiple_of(PAGE), "whole pages");
        self.marks.extend((address / PAGE..(address + len) / PAGE).map(|page| (page, mark)));
    }
}

/// Plays on both, the device with options; memory must be equal at the end, and after each operation if `each`. What the device
/// did.
fn compare(
    capture: &Capture,
    programs: &Arc<Programs>,
    options: Options,
    each: bool,
) -> Result<Report, String> {
    let reference = Reference::Chip(options.chip);
    let on_cpu = raster::Options { reference, ..raster::Options::default() };
    let mut cpu = Console::new(capture, Gpu::new(raster::Renderer::with_options(on_cpu)));
    let renderer = HostRenderer::with_options(Arc::clone(programs), options).unwrap();
    let mut host = Console::new(capture, Gpu::new(renderer));
    for (number, op) in capture.ops.iter().enumerate() {
        let operation = Operation::decode(&op).unwrap();
        cpu.run(&operation);
        host.run(&operation);
        if each && let Some(at) = first_difference(cpu.flushed(), host.flushed()) {
            return Err(format!("operation {number}, memory {} at {:#x}: {operation:x?}", at.0, at.1));
        }
    }
    match first_difference(cpu.flushed(), host.flushed()) {
        Some(at) => Err(format!("at the end, memory {} at {:#x}", at.0, at.1)),
        None => Ok(host.gpu.take_report()),
    }
}

fn programs() -> Option<(Device, Arc<Programs>)> {
    match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => Some((device.clone(), Arc::new(Programs::new(&device, Compilation::Blocking)))),
        Err(error) => {
            skip(&error.to_string());
            None
        }
    }
}

#[test]
fn the_cache_does_not_show() {
    play_captures(property::budget(CAPTURES, CAPTURES * 100), Options::default());
}

/// The picture does not depend on where triangles are set up and binned.
#[test]
fn the_device_sets_up_and_bins_as_the_processor_does() {
    for (samples, chip) in [(1, Chip::default()), (2, Chip::ALL)] {
        let scale = Scale::new(samples).unwrap();
        let options = Options { scale, chip, triangles: Triangles::Device };
        play_captures(property::budget(30, CAPTURES * 10), options);
    }
}

/// What is in guest memory after a flush does not depend on the scale.
#[test]
fn the_scale_does_not_show_in_memory() {
    for samples in [2, 3, 8] {
        let options = Options { scale: Scale::new(samples).unwrap(), ..Options::default() };
        play_captures(property::budget(12, CAPTURES), options);
    }
}

/// Linear filters, levels of detail and permissions, with all of which the CPU renderer draws.
#[test]
fn registers_are_obeyed_on_the_device_too() {
    for samples in [1, 2] {
        let options = Options { scale: Scale::new(samples).unwrap(), chip: Chip::ALL, ..Options::default() };
        play_captures(property::budget(20, CAPTURES), options);
    }
}

/// Gas, the early depth test and attributes that are kept, between draws that stay on the device.
#[test]
fn models_are_the_same_with_both_renderers() {
    for samples in [1, 2] {
        let options = Options { scale: Scale::new(samples).unwrap(), chip: Chip::ALL, ..Options::default() };
        let report = play(property::budget(20, CAPTURES * 10), options, random::modelled);
        let Some(report) = report else { return };
        let modelled =
            report.messages.iter().filter(|error| matches!(error, Error::Detour(Detour::Modelled)));
        assert!(modelled.count() > 10 && report.detours < report.draws, "{report:?}");
    }
}

fn play_captures(captures: u32, options: Options) {
    play(captures, options, random::capture);
}

/// Plays random captures on both renderers; what the device did, if there is one that can be compared.
fn play(captures: u32, options: Options, capture: fn(u64, u32) -> Capture) -> Option<Report> {
    let (device, programs) = programs()?;
    if !device.name().contains("llvmpipe") {
        skip("colours are equal where division is the processor's");
        return None;
    }
    let mut sum = Report::default();
    let mut failures = Vec::new();
    for seed in 0..u64::from(captures) {
        let capture = capture(seed, FRAMES);
        match compare(&capture, &programs, options, false) {
            Ok(report) => {
                assert_eq!(report.errors, 0, "seed {seed}: {:?}", report.messages);
                sum.merge(report);
            }
            Err(error) => {
                let first = compare(&capture, &programs, options, true).err();
                failures.push(format!("seed {seed}: {error}; {first:?}"));
            }
        }
    }
    println!(
        "{captures} captures, {options:?}: {} draws, {} on the CPU, {:?}",
        sum.draws, sum.detours, sum.traffic
    );
    assert!(failures.is_empty(), "{} failures: {failures:#?}", failures.len());
    Some(sum)
}

/// Pages are flushed and invalidated as their marks ask for it, and no more: those that are not dirty have what they have on
/// the processor, after each operation.
#[test]
fn marks_are_all_that_an_emulator_needs() {
    let Some((device, programs)) = programs() else { return };
    if !device.name().contains("llvmpipe") {
        return skip("colours are equal where division is the processor's");
    }
    let mut dirty = 0;
    for seed in 200..220 {
        let capture = random::capture(seed, FRAMES);
        let mut cpu = Console::new(&capture, Gpu::new(raster::Renderer::new()));
        let mut gpu = Gpu::new(HostRenderer::new(Arc::clone(&programs)).unwrap());
        let mut memory = Marked { regions: cpu.memory.clone(), marks: HashMap::new() };
        for op in capture.ops.iter() {
            let operation = Operation::decode(&op).unwrap();
            cpu.run(&operation);
            match operation {
                Operation::Memory { address, bytes } => {
                    let len = bytes.len() as u32;
                    if memory.has(address, len, |mark| mark == Some(&Mark::Dirty)) {
                        gpu.flush_region(&mut memory, address, len);
                        assert!(!memory.has(address, len, |mark| mark == Some(&Mark::Dirty)));
                    }
                    memory.bytes_mut(address, len).unwrap().copy_from_slice(bytes);
                    if memory.has(address, len, |mark| mark.is_some()) {
                        gpu.invalidate_region(address, len);
                    }
                }
                operation => operation.run(&mut gpu, &mut memory).unwrap(),
            }
            for (start, len) in [(VRAM, random::VRAM_BYTES), (FCRAM, random::FCRAM_BYTES)] {
                for page in (start..start + len).step_by(PAGE as usize) {
                    if memory.marks.get(&(page / PAGE)) == Some(&Mark::Dirty) {
                        dirty += 1;
                    } else {
                        let same = memory.bytes(page, PAGE) == cpu.memory.bytes(page, PAGE);
                        assert!(same, "seed {seed}: page {page:#x} after {operation:x?}");
                    }
                }
            }
        }
    }
    println!("{dirty} times a page was dirty");
    assert!(dirty > 1000);
}

/// A state is made of what is on the device, too, and another renderer goes on from it.
#[test]
fn the_cpu_renderer_goes_on_from_a_state_of_the_device_and_back() {
    let Some((_, programs)) = programs() else { return };
    for seed in 100..110 {
        go_on(&programs, seed, random::capture, Chip::default());
    }
}

/// With depths of the early depth test, tables and attributes that only the state has.
#[test]
fn models_go_on_from_a_state_too() {
    let Some((_, programs)) = programs() else { return };
    for seed in 100..110 {
        go_on(&programs, seed, random::modelled, Chip::ALL);
    }
}

/// Plays a capture by the two renderers in turn, with a state for the other one before every tenth list.
fn go_on(programs: &Arc<Programs>, seed: u64, capture: fn(u64, u32) -> Capture, chip: Chip) {
    let capture = capture(seed, FRAMES);
    let on_cpu = raster::Options { reference: Reference::Chip(chip), ..raster::Options::default() };
    let mut reference = Console::new(&capture, Gpu::new(raster::Renderer::with_options(on_cpu)));
    let mut cpu = Console::new(&capture, Gpu::new(raster::Renderer::with_options(on_cpu)));
    let options = Options { chip, ..Options::default() };
    let renderer = HostRenderer::with_options(Arc::clone(programs), options).unwrap();
    let mut host = Console::new(&capture, Gpu::new(renderer));
    let mut on_device = true;
    let mut lists = 0;
    for op in capture.ops.iter() {
        let operation = Operation::decode(&op).unwrap();
        if matches!(operation, Operation::List { .. }) {
            lists += 1;
            if lists % 10 == 0 {
                // From one to the other.
                let (state, memory) = if on_device {
                    (host.gpu.save_state(&mut host.memory), host.memory.clone())
                } else {
                    (cpu.gpu.save_state(&mut cpu.memory), cpu.memory.clone())
                };
                on_device = !on_device;
                if on_device {
                    host.gpu.load_state(&state).unwrap();
                    host.memory = memory;
                } else {
                    cpu.gpu.load_state(&state).unwrap();
                    cpu.memory = memory;
                }
            }
        }
        reference.run(&operation);
        if on_device { host.run(&operation) } else { cpu.run(&operation) }
    }
    let got = if on_device { host.flushed() } else { cpu.flushed() };
    assert_eq!(first_difference(reference.flushed(), got), None, "seed {seed}");
}
