//! Compute shaders on the host's device: what they compute, and the errors for runs that do not fit.

mod common;

use common::{DOUBLE, bytes, compute_run, device, glsl, storage, words};
use xenoglot_vulkan::{
    BufferBinding, BufferKind, ComputeJob, ComputeRun, Device, DeviceOptions, Error, Stage, glslang,
};

#[test]
fn doubles_a_buffer_in_each_of_several_runs() {
    let (Some(device), Some(spirv)) = (device(), glsl(DOUBLE, glslang::Stage::Compute)) else { return };
    let runs = (0..8).map(|run| compute_run(vec![storage(0, &[run, 1, 0x8000_0001, 7])], 1)).collect();
    let job = ComputeJob { spirv, entry: "main".to_owned(), runs };
    // SAFETY: glslang makes valid modules.
    let outputs = unsafe { device.run_compute(&job) }.unwrap();
    assert_eq!(outputs.len(), 8);
    for (run, output) in (0..).zip(&outputs) {
        assert_eq!(words(&output.buffers[0]), [2 * run, 2, 2, 14]);
        assert!(output.captures.is_empty());
    }
}

#[test]
fn uniforms_push_constants_and_sets_reach_the_shader() {
    const SOURCE: &str = "#version 450
        layout(set = 0, binding = 3) uniform U { uvec4 u; };
        layout(push_constant) uniform P { uint first; uint second; };
        layout(set = 2, binding = 1) buffer Out { uint result[]; };
        void main() { result[gl_WorkGroupID.x] = u.y + first * 10u + second + gl_WorkGroupID.x; }";
    let (Some(device), Some(spirv)) = (device(), glsl(SOURCE, glslang::Stage::Compute)) else { return };
    // SAFETY: glslang makes valid modules.
    let pipeline = unsafe { device.prepare_compute(&spirv, "main") }.unwrap();
    let uniform =
        BufferBinding { set: 0, binding: 3, kind: BufferKind::Uniform, data: bytes(&[0, 500, 0, 0]) };
    let unused = storage(9, &[77]);
    let result = BufferBinding { set: 2, binding: 1, kind: BufferKind::Storage, data: bytes(&[0; 4]) };
    let buffers = vec![uniform.clone(), unused, result];
    // The second push constant is missing and reads as zero.
    let output =
        pipeline.dispatch(&ComputeRun { buffers, push_constants: bytes(&[2]), groups: [3, 1, 1] }).unwrap();
    assert_eq!(output.buffers[0], uniform.data);
    assert_eq!(words(&output.buffers[1]), [77]);
    assert_eq!(words(&output.buffers[2]), [520, 521, 522, 0]);
}

#[test]
fn a_run_that_does_not_fit_is_a_typed_error() {
    let (Some(device), Some(spirv)) = (device(), glsl(DOUBLE, glslang::Stage::Compute)) else { return };
    // SAFETY: glslang makes valid modules.
    let pipeline = unsafe { device.prepare_compute(&spirv, "main") }.unwrap();
    let dispatch = |buffers| pipeline.dispatch(&compute_run(buffers, 1)).unwrap_err();
    let kind = BufferKind::Storage;
    assert_eq!(dispatch(vec![]), Error::MissingBinding { set: 0, binding: 0, kind });
    assert_eq!(dispatch(vec![storage(1, &[0])]), Error::MissingBinding { set: 0, binding: 0, kind });
    assert_eq!(
        dispatch(vec![storage(0, &[0]), storage(0, &[0])]),
        Error::DuplicateBinding { set: 0, binding: 0 }
    );
    let uniform = BufferBinding { kind: BufferKind::Uniform, ..storage(0, &[0]) };
    assert_eq!(
        dispatch(vec![uniform]),
        Error::BindingKind { set: 0, binding: 0, declared: kind, bound: BufferKind::Uniform }
    );
    let mut run = compute_run(vec![storage(0, &[0])], 1);
    run.groups[1] = u32::MAX;
    assert!(matches!(pipeline.dispatch(&run), Err(Error::TooLarge { .. })));
    // None of these harmed the device.
    let output = pipeline.dispatch(&compute_run(vec![storage(0, &[4, 5, 6, 7])], 1)).unwrap();
    assert_eq!(words(&output.buffers[0]), [8, 10, 12, 14]);
}

#[test]
fn an_empty_buffer_and_no_groups_are_allowed() {
    let (Some(device), Some(spirv)) = (device(), glsl(DOUBLE, glslang::Stage::Compute)) else { return };
    // SAFETY: glslang makes valid modules.
    let pipeline = unsafe { device.prepare_compute(&spirv, "main") }.unwrap();
    let output = pipeline.dispatch(&compute_run(vec![storage(0, &[])], 1)).unwrap();
    assert!(output.buffers[0].is_empty());
    let output = pipeline.dispatch(&compute_run(vec![storage(0, &[1, 2, 3, 4])], 0)).unwrap();
    assert_eq!(words(&output.buffers[0]), [1, 2, 3, 4]);
}

#[test]
fn a_wrong_entry_point_or_module_is_a_typed_error() {
    let (Some(device), Some(spirv)) = (device(), glsl(DOUBLE, glslang::Stage::Compute)) else { return };
    // SAFETY: what is not a valid module here is refused before a driver sees it.
    let error = |words: &[u32], entry: &str| unsafe { device.prepare_compute(words, entry) }.err();
    let available = vec!["main".to_owned()];
    let no_entry = |entry: &str, available| {
        Some(Error::NoEntry { entry: entry.to_owned(), stage: Stage::Compute, available })
    };
    assert_eq!(error(&spirv, "other"), no_entry("other", available.clone()));
    assert_eq!(error(&spirv, "main\0"), no_entry("main\0", available));
    assert!(matches!(error(&[], "main"), Some(Error::Module { word: 0, .. })));
    assert!(matches!(error(&[1, 2, 3], "main"), Some(Error::Module { word: 0, .. })));
    for length in 0..40 {
        assert!(matches!(error(&spirv[..length], "main"), Some(Error::Module { .. })), "cut at {length}");
    }
    let mut newer = spirv.clone();
    newer[1] = 0x0002_0000;
    assert!(matches!(error(&newer, "main"), Some(Error::Unsupported(_))));
}

#[test]
fn an_endless_shader_times_out_and_leaves_the_device_unusable() {
    const ENDLESS: &str = "#version 450
        layout(set = 0, binding = 0) buffer Data { uint data[]; };
        void main() { while (data[0] != 1u) { atomicAdd(data[1], 1u); if (data[1] == 1u) data[1] = 2u; } }";
    let Some(spirv) = glsl(ENDLESS, glslang::Stage::Compute) else { return };
    let Some(_) = device() else { return };
    let device = Device::open(&DeviceOptions { timeout_ms: 100, ..DeviceOptions::from_env() }).unwrap();
    if device.info().kind != xenoglot_vulkan::DeviceKind::Cpu {
        xenoglot_testgen::skip("an endless shader would stop the screen of a GPU that shows one");
        return;
    }
    // SAFETY: glslang makes valid modules.
    let pipeline = unsafe { device.prepare_compute(&spirv, "main") }.unwrap();
    let run = compute_run(vec![storage(0, &[0, 2])], 1);
    assert_eq!(pipeline.dispatch(&run), Err(Error::Timeout(100)));
    assert_eq!(pipeline.dispatch(&run), Err(Error::Stuck));
}

#[test]
fn a_selector_chooses_by_name_or_lists_what_there_is() {
    let Some(device) = device() else { return };
    let name = device.info().name.clone();
    let selector = Some(name.to_uppercase());
    let same = Device::open(&DeviceOptions { selector, ..DeviceOptions::default() }).unwrap();
    assert_eq!(same.info().name, name);
    let selector = Some("no such device".to_owned());
    match Device::open(&DeviceOptions { selector: selector.clone(), ..DeviceOptions::default() }).err() {
        Some(Error::NoDevice { selector: asked, available }) => {
            assert_eq!(asked, selector);
            assert!(available.contains(&name), "{available:?}");
        }
        other => panic!("{other:?}"),
    }
}
