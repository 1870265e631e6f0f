//! What the tests share: a device or a notice, GLSL or a notice, and bytes.
#![allow(dead_code, reason = "not every test file uses all of this")]

use xenoglot_testgen::skip;
use xenoglot_vulkan::{BufferBinding, BufferKind, ComputeRun, Device, DeviceOptions, Error, glslang};

/// The device the environment asks for; a host without Vulkan is a skipped test, any other error a failed one.
pub fn device() -> Option<Device> {
    match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => Some(device),
        Err(error @ (Error::NoVulkan(_) | Error::NoDevice { selector: None, .. })) => {
            skip(&error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A compiled shader; a host without the compiler is a skipped test.
pub fn glsl(source: &str, stage: glslang::Stage) -> Option<Vec<u32>> {
    match glslang::compile(source, stage) {
        Ok(words) => Some(words),
        Err(error @ glslang::Error::NotInstalled) => {
            skip(&error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

pub fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, rest) = bytes.as_chunks();
    assert!(rest.is_empty(), "{} bytes", bytes.len());
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

pub fn storage(binding: u32, data: &[u32]) -> BufferBinding {
    BufferBinding { set: 0, binding, kind: BufferKind::Storage, data: bytes(data) }
}

pub fn compute_run(buffers: Vec<BufferBinding>, groups: u32) -> ComputeRun {
    ComputeRun { buffers, push_constants: Vec::new(), groups: [groups, 1, 1] }
}

/// Doubles each word of the buffer at set 0, binding 0.
pub const DOUBLE: &str = "#version 450
    layout(local_size_x = 4) in;
    layout(set = 0, binding = 0) buffer Data { uint data[]; };
    void main() { data[gl_GlobalInvocationID.x] *= 2u; }";
