//! Vulkan devices.

use super::{Capabilities, Floats, Host, Language, Subgroups};
use xenoglot_spirv::{Capability as C, FloatControls, Version};
use xenoglot_vulkan::{DeviceInfo, DeviceKind};

impl Host {
    /// A Vulkan device: the SPIR-V of its version, its float controls and subgroups, without the capabilities of the
    /// features that it lacks.
    ///
    /// Drivers do not tell whether `fma` rounds once and whether sums with zero are computed: GPUs are taken to do both,
    /// renderers on the CPU neither, as lavapipe.
    pub fn of_vulkan(device: &DeviceInfo) -> Host {
        let (major, minor, _) = device.api_version;
        let version = match (major, minor) {
            (1, 0) => Version::V1_0,
            (1, 1) => Version::V1_3,
            (1, 2) => Version::V1_5,
            _ => Version::V1_6,
        };
        let offered = &device.float_controls;
        let gpu = device.kind != DeviceKind::Cpu;
        let width = u8::try_from(device.limits.subgroup_size).unwrap_or(0);
        Host {
            without: lacking(device),
            floats: Floats {
                controls: FloatControls {
                    signed_zero_inf_nan: offered.signed_zero_inf_nan_preserve,
                    denorm_preserve: offered.denorm_preserve[1],
                    round_even: offered.rounding_mode_rte[1],
                },
                fused_fma: gpu,
                zero_sums: gpu,
                quotients: !gpu,
                doubles: device.features.shader_float64,
                ..Floats::GPU
            },
            subgroups: if width == 0 { Subgroups::UNKNOWN } else { Subgroups::exactly(width) },
            ..Host::of(Language::Spirv(Some(version)))
        }
    }
}

/// The capabilities of features that a device lacks.
fn lacking(device: &DeviceInfo) -> Capabilities {
    let f = &device.features;
    let of_features: &[(bool, &[C])] = &[
        (f.shader_int64, &[C::Int64]),
        (f.shader_int16, &[C::Int16]),
        (f.shader_int8, &[C::Int8]),
        (f.shader_float64, &[C::Float64]),
        (f.shader_float16, &[C::Float16]),
        (f.storage_buffer_16bit_access, &[C::StorageBuffer16BitAccess]),
        (f.storage_buffer_8bit_access, &[C::StorageBuffer8BitAccess]),
        (f.storage_input_output_16, &[C::StorageInputOutput16]),
        (f.variable_pointers, &[C::VariablePointers]),
        (f.variable_pointers_storage_buffer, &[C::VariablePointersStorageBuffer]),
        (f.buffer_device_address, &[C::PhysicalStorageBufferAddresses]),
        (f.shader_buffer_int64_atomics, &[C::Int64Atomics]),
        (f.shader_demote_to_helper_invocation, &[C::DemoteToHelperInvocation]),
        (f.shader_integer_dot_product, &[C::DotProduct, C::DotProductInput4x8BitPacked]),
        (f.transform_feedback, &[C::TransformFeedback, C::GeometryStreams]),
        (f.geometry_shader, &[C::Geometry]),
        (f.tessellation_shader, &[C::Tessellation]),
        (f.mesh_shader, &[C::MeshShadingEXT]),
        (f.fragment_shader_barycentric, &[C::FragmentBarycentricKHR]),
        (f.ray_query, &[C::RayQueryKHR]),
        (f.ray_tracing_pipeline, &[C::RayTracingKHR]),
        // Devices are made without its extension.
        (false, &[C::ShaderInvocationReorderEXT]),
        (f.shader_resource_residency, &[C::SparseResidency]),
        (f.shader_storage_image_multisample, &[C::StorageImageMultisample]),
        (f.shader_subgroup_clock, &[C::ShaderClockKHR]),
        (f.shader_image_int64_atomics, &[C::Int64ImageEXT]),
        (device.limits.subgroup_quads, &[C::GroupNonUniformQuad]),
    ];
    of_features.iter().filter(|(has, _)| !has).flat_map(|(_, capabilities)| *capabilities).copied().collect()
}
