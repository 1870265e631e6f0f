//! What a device says of itself.

use ash::vk;
use serde::{Deserialize, Serialize};

/// A Vulkan device and what matters to shaders about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// The name given by the driver, for example `llvmpipe (LLVM 15.0.6, 256 bits)`.
    pub name: String,
    /// What sort of device it is.
    pub kind: DeviceKind,
    /// Driver name and version in the driver's own words; empty below Vulkan 1.2.
    pub driver: String,
    /// Vulkan version as (major, minor, patch).
    pub api_version: (u32, u32, u32),
    /// Optional abilities.
    pub features: Features,
    /// What the driver promises about floats when a module asks for it by execution mode.
    pub float_controls: FloatControls,
    /// Sizes and counts.
    pub limits: Limits,
}

/// The sort of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are those of VkPhysicalDeviceType")]
pub enum DeviceKind {
    Discrete,
    Integrated,
    Virtual,
    Cpu,
    Other,
}

/// Optional abilities of a device, by the names of their Vulkan features.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of the Vulkan features")]
pub struct Features {
    pub shader_int64: bool,
    pub shader_int16: bool,
    pub shader_int8: bool,
    pub shader_float64: bool,
    pub shader_float16: bool,
    pub storage_buffer_16bit_access: bool,
    pub storage_buffer_8bit_access: bool,
    pub storage_input_output_16: bool,
    pub variable_pointers: bool,
    pub variable_pointers_storage_buffer: bool,
    pub vulkan_memory_model: bool,
    pub buffer_device_address: bool,
    pub descriptor_indexing: bool,
    pub shader_subgroup_extended_types: bool,
    pub shader_buffer_int64_atomics: bool,
    pub shader_demote_to_helper_invocation: bool,
    pub shader_integer_dot_product: bool,
    pub shader_maximal_reconvergence: bool,
    pub vertex_pipeline_stores_and_atomics: bool,
    pub transform_feedback: bool,
    pub geometry_shader: bool,
    pub tessellation_shader: bool,
    pub robust_buffer_access: bool,
    pub sampler_ycbcr_conversion: bool,
    pub task_shader: bool,
    pub mesh_shader: bool,
    pub fragment_shader_barycentric: bool,
    pub acceleration_structure: bool,
    pub ray_query: bool,
    pub ray_tracing_pipeline: bool,
    pub shader_resource_residency: bool,
    pub shader_storage_image_multisample: bool,
    pub shader_subgroup_clock: bool,
    pub shader_image_int64_atomics: bool,
}

impl Features {
    /// A feature by its Vulkan name; `None` if it is not one of these.
    pub fn get(&self, name: &str) -> Option<bool> {
        let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
        let all = serde_json::to_value(self).ok()?;
        let mut of_name = all.as_object()?.iter().filter(|(own, _)| plain(own) == plain(name));
        of_name.next()?.1.as_bool()
    }
}

/// `VkPhysicalDeviceFloatControlsProperties`, each entry as [for f16, for f32, for f64].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FloatControls {
    /// `SignedZeroInfNanPreserve` may be asked for.
    pub signed_zero_inf_nan_preserve: [bool; 3],
    /// `DenormPreserve` may be asked for.
    pub denorm_preserve: [bool; 3],
    /// `DenormFlushToZero` may be asked for.
    pub denorm_flush_to_zero: [bool; 3],
    /// `RoundingModeRTE` may be asked for.
    pub rounding_mode_rte: [bool; 3],
    /// `RoundingModeRTZ` may be asked for.
    pub rounding_mode_rtz: [bool; 3],
}

/// Sizes and counts a device allows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Invocations per subgroup by default; 0 below Vulkan 1.1.
    pub subgroup_size: u32,
    /// Whether fragments exchange values within quads.
    pub subgroup_quads: bool,
    /// Bytes of one uniform buffer.
    pub uniform_buffer_bytes: u32,
    /// Bytes of one storage buffer.
    pub storage_buffer_bytes: u32,
    /// Bytes of push constants.
    pub push_constant_bytes: u32,
    /// Descriptor sets of one pipeline.
    pub descriptor_sets: u32,
    /// Workgroups of one dispatch in x, y and z.
    pub workgroup_count: [u32; 3],
    /// Locations of vertex inputs.
    pub vertex_inputs: u32,
    /// Transform feedback buffers; 0 without transform feedback.
    pub capture_buffers: u32,
    /// Bytes per vertex in one transform feedback buffer.
    pub capture_stride: u32,
}

/// The oldest Vulkan this crate opens: from here on features and properties come as `Vulkan12…` structures.
pub(crate) const OLDEST_API: u32 = vk::API_VERSION_1_2;

/// The feature structures of a device, to be asked for and then to be enabled as they are.
#[derive(Default)]
pub(crate) struct FeatureChain {
    pub core: vk::PhysicalDeviceFeatures,
    v11: vk::PhysicalDeviceVulkan11Features<'static>,
    v12: vk::PhysicalDeviceVulkan12Features<'static>,
    v13: vk::PhysicalDeviceVulkan13Features<'static>,
    transform_feedback: vk::PhysicalDeviceTransformFeedbackFeaturesEXT<'static>,
    reconvergence: vk::PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR<'static>,
    maintenance5: vk::PhysicalDeviceMaintenance5FeaturesKHR<'static>,
    mesh: vk::PhysicalDeviceMeshShaderFeaturesEXT<'static>,
    barycentrics: vk::PhysicalDeviceFragmentShaderBarycentricFeaturesKHR<'static>,
    structures: vk::PhysicalDeviceAccelerationStructureFeaturesKHR<'static>,
    queries: vk::PhysicalDeviceRayQueryFeaturesKHR<'static>,
    rays: vk::PhysicalDeviceRayTracingPipelineFeaturesKHR<'static>,
    clock: vk::PhysicalDeviceShaderClockFeaturesKHR<'static>,
    wide_images: vk::PhysicalDeviceShaderImageAtomicInt64FeaturesEXT<'static>,
    pub extensions: Extensions,
    has_v13: bool,
}

/// Device extensions this crate knows what to do with.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extensions {
    pub transform_feedback: bool,
    pub maximal_reconvergence: bool,
    /// Lets a vertex shader that does not write `PointSize` draw points. It builds on Vulkan 1.3.
    pub maintenance5: bool,
    pub mesh: bool,
    pub barycentrics: bool,
    /// Acceleration structures, with the extension that they need.
    pub structures: bool,
    pub queries: bool,
    pub rays: bool,
    pub clock: bool,
    /// Images of 64-bit integers.
    pub wide_images: bool,
    /// Has to be enabled where it exists (a Vulkan layered over another API).
    pub portability_subset: bool,
}

impl Extensions {
    fn query(instance: &ash::Instance, device: vk::PhysicalDevice, api_version: u32) -> Extensions {
        // SAFETY: the device comes from this instance.
        let offered = unsafe { instance.enumerate_device_extension_properties(device) }.unwrap_or_default();
        let has = |name| offered.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
        let structures =
            has(ash::khr::acceleration_structure::NAME) && has(ash::khr::deferred_host_operations::NAME);
        Extensions {
            mesh: has(ash::ext::mesh_shader::NAME),
            barycentrics: has(ash::khr::fragment_shader_barycentric::NAME),
            structures,
            queries: structures && has(ash::khr::ray_query::NAME),
            rays: structures && has(ash::khr::ray_tracing_pipeline::NAME),
            clock: has(ash::khr::shader_clock::NAME),
            wide_images: has(ash::ext::shader_image_atomic_int64::NAME),
            transform_feedback: has(ash::ext::transform_feedback::NAME),
            maximal_reconvergence: has(ash::khr::shader_maximal_reconvergence::NAME),
            maintenance5: has(ash::khr::maintenance5::NAME) && api_version >= vk::API_VERSION_1_3,
            portability_subset: has(ash::khr::portability_subset::NAME),
        }
    }

    pub(crate) fn names(self) -> Vec<*const std::ffi::c_char> {
        [
            (self.transform_feedback, ash::ext::transform_feedback::NAME),
            (self.maximal_reconvergence, ash::khr::shader_maximal_reconvergence::NAME),
            (self.maintenance5, ash::khr::maintenance5::NAME),
            (self.mesh, ash::ext::mesh_shader::NAME),
            (self.barycentrics, ash::khr::fragment_shader_barycentric::NAME),
            (self.structures, ash::khr::acceleration_structure::NAME),
            (self.structures, ash::khr::deferred_host_operations::NAME),
            (self.queries, ash::khr::ray_query::NAME),
            (self.rays, ash::khr::ray_tracing_pipeline::NAME),
            (self.clock, ash::khr::shader_clock::NAME),
            (self.wide_images, ash::ext::shader_image_atomic_int64::NAME),
            (self.portability_subset, ash::khr::portability_subset::NAME),
        ]
        .into_iter()
        .filter_map(|(wanted, name)| wanted.then_some(name.as_ptr()))
        .collect()
    }
}

impl FeatureChain {
    /// Asks a device of at least [`OLDEST_API`] for its features.
    pub(crate) fn query(
        instance: &ash::Instance,
        device: vk::PhysicalDevice,
        api_version: u32,
    ) -> FeatureChain {
        let mut chain = FeatureChain {
            extensions: Extensions::query(instance, device, api_version),
            has_v13: api_version >= vk::API_VERSION_1_3,
            ..FeatureChain::default()
        };
        let mut features = chain.link();
        // SAFETY: `link` chains structures that this version and these extensions define, all alive in `chain`.
        unsafe { instance.get_physical_device_features2(device, &mut features) };
        chain.core = features.features;
        // They build on extensions that are not enabled.
        chain.mesh.multiview_mesh_shader = vk::FALSE;
        chain.mesh.primitive_fragment_shading_rate_mesh_shader = vk::FALSE;
        chain
    }

    /// The structures as one chain with the values they have.
    pub(crate) fn link(&mut self) -> vk::PhysicalDeviceFeatures2<'_> {
        // Each starts unlinked: an earlier call left them pointing at each other.
        self.v11.p_next = std::ptr::null_mut();
        self.v12.p_next = std::ptr::null_mut();
        self.v13.p_next = std::ptr::null_mut();
        self.transform_feedback.p_next = std::ptr::null_mut();
        self.reconvergence.p_next = std::ptr::null_mut();
        self.maintenance5.p_next = std::ptr::null_mut();
        self.mesh.p_next = std::ptr::null_mut();
        self.barycentrics.p_next = std::ptr::null_mut();
        self.structures.p_next = std::ptr::null_mut();
        self.queries.p_next = std::ptr::null_mut();
        self.rays.p_next = std::ptr::null_mut();
        self.clock.p_next = std::ptr::null_mut();
        self.wide_images.p_next = std::ptr::null_mut();
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .features(self.core)
            .push_next(&mut self.v11)
            .push_next(&mut self.v12);
        if self.has_v13 {
            features = features.push_next(&mut self.v13);
        }
        if self.extensions.transform_feedback {
            features = features.push_next(&mut self.transform_feedback);
        }
        if self.extensions.maximal_reconvergence {
            features = features.push_next(&mut self.reconvergence);
        }
        if self.extensions.maintenance5 {
            features = features.push_next(&mut self.maintenance5);
        }
        if self.extensions.mesh {
            features = features.push_next(&mut self.mesh);
        }
        if self.extensions.barycentrics {
            features = features.push_next(&mut self.barycentrics);
        }
        if self.extensions.structures {
            features = features.push_next(&mut self.structures);
        }
        if self.extensions.queries {
            features = features.push_next(&mut self.queries);
        }
        if self.extensions.rays {
            features = features.push_next(&mut self.rays);
        }
        if self.extensions.clock {
            features = features.push_next(&mut self.clock);
        }
        if self.extensions.wide_images {
            features = features.push_next(&mut self.wide_images);
        }
        features
    }

    fn features(&self) -> Features {
        let on = |value: vk::Bool32| value == vk::TRUE;
        Features {
            shader_int64: on(self.core.shader_int64),
            shader_int16: on(self.core.shader_int16),
            shader_int8: on(self.v12.shader_int8),
            shader_float64: on(self.core.shader_float64),
            shader_float16: on(self.v12.shader_float16),
            storage_buffer_16bit_access: on(self.v11.storage_buffer16_bit_access),
            storage_buffer_8bit_access: on(self.v12.storage_buffer8_bit_access),
            storage_input_output_16: on(self.v11.storage_input_output16),
            variable_pointers: on(self.v11.variable_pointers),
            variable_pointers_storage_buffer: on(self.v11.variable_pointers_storage_buffer),
            vulkan_memory_model: on(self.v12.vulkan_memory_model),
            buffer_device_address: on(self.v12.buffer_device_address),
            descriptor_indexing: on(self.v12.descriptor_indexing),
            shader_subgroup_extended_types: on(self.v12.shader_subgroup_extended_types),
            shader_buffer_int64_atomics: on(self.v12.shader_buffer_int64_atomics),
            shader_demote_to_helper_invocation: on(self.v13.shader_demote_to_helper_invocation),
            shader_integer_dot_product: on(self.v13.shader_integer_dot_product),
            shader_maximal_reconvergence: on(self.reconvergence.shader_maximal_reconvergence),
            vertex_pipeline_stores_and_atomics: on(self.core.vertex_pipeline_stores_and_atomics),
            transform_feedback: on(self.transform_feedback.transform_feedback),
            geometry_shader: on(self.core.geometry_shader),
            tessellation_shader: on(self.core.tessellation_shader),
            robust_buffer_access: on(self.core.robust_buffer_access),
            sampler_ycbcr_conversion: on(self.v11.sampler_ycbcr_conversion),
            task_shader: on(self.mesh.task_shader),
            mesh_shader: on(self.mesh.mesh_shader),
            fragment_shader_barycentric: on(self.barycentrics.fragment_shader_barycentric),
            acceleration_structure: on(self.structures.acceleration_structure),
            ray_query: on(self.queries.ray_query),
            ray_tracing_pipeline: on(self.rays.ray_tracing_pipeline),
            shader_resource_residency: on(self.core.shader_resource_residency),
            shader_storage_image_multisample: on(self.core.shader_storage_image_multisample),
            shader_subgroup_clock: on(self.clock.shader_subgroup_clock),
            shader_image_int64_atomics: on(self.wide_images.shader_image_int64_atomics),
        }
    }
}

impl DeviceInfo {
    /// Asks a device; one older than [`OLDEST_API`] gets only name, kind, version and core limits.
    pub(crate) fn query(instance: &ash::Instance, device: vk::PhysicalDevice) -> DeviceInfo {
        // SAFETY: the device comes from this instance.
        let core = unsafe { instance.get_physical_device_properties(device) };
        let mut info = DeviceInfo {
            name: text(core.device_name_as_c_str().ok()),
            kind: match core.device_type {
                vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
                vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
                vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::Virtual,
                vk::PhysicalDeviceType::CPU => DeviceKind::Cpu,
                _ => DeviceKind::Other,
            },
            driver: String::new(),
            api_version: (
                vk::api_version_major(core.api_version),
                vk::api_version_minor(core.api_version),
                vk::api_version_patch(core.api_version),
            ),
            features: Features::default(),
            float_controls: FloatControls::default(),
            limits: Limits {
                uniform_buffer_bytes: core.limits.max_uniform_buffer_range,
                storage_buffer_bytes: core.limits.max_storage_buffer_range,
                push_constant_bytes: core.limits.max_push_constants_size,
                descriptor_sets: core.limits.max_bound_descriptor_sets,
                workgroup_count: core.limits.max_compute_work_group_count,
                vertex_inputs: core
                    .limits
                    .max_vertex_input_attributes
                    .min(core.limits.max_vertex_input_bindings),
                ..Limits::default()
            },
        };
        if core.api_version < OLDEST_API {
            return info;
        }
        let chain = FeatureChain::query(instance, device, core.api_version);
        info.features = chain.features();
        info.query_properties(instance, device, chain.extensions);
        info
    }

    fn query_properties(
        &mut self,
        instance: &ash::Instance,
        device: vk::PhysicalDevice,
        extensions: Extensions,
    ) {
        let mut v11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut v12 = vk::PhysicalDeviceVulkan12Properties::default();
        let mut feedback = vk::PhysicalDeviceTransformFeedbackPropertiesEXT::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut v11).push_next(&mut v12);
        if extensions.transform_feedback {
            properties = properties.push_next(&mut feedback);
        }
        // SAFETY: the device is of Vulkan 1.2 or newer, which defines the first two structures; the third belongs to
        // an extension it offers.
        unsafe { instance.get_physical_device_properties2(device, &mut properties) };
        self.driver =
            format!("{} {}", text(v12.driver_name_as_c_str().ok()), text(v12.driver_info_as_c_str().ok()))
                .trim()
                .to_owned();
        self.limits.subgroup_size = v11.subgroup_size;
        self.limits.subgroup_quads = v11.subgroup_supported_stages.contains(vk::ShaderStageFlags::FRAGMENT)
            && v11.subgroup_supported_operations.contains(vk::SubgroupFeatureFlags::QUAD);
        self.limits.capture_buffers = feedback.max_transform_feedback_buffers;
        self.limits.capture_stride = feedback.max_transform_feedback_buffer_data_stride;
        let widths =
            |f16: vk::Bool32, f32: vk::Bool32, f64: vk::Bool32| [f16, f32, f64].map(|on| on == vk::TRUE);
        self.float_controls = FloatControls {
            signed_zero_inf_nan_preserve: widths(
                v12.shader_signed_zero_inf_nan_preserve_float16,
                v12.shader_signed_zero_inf_nan_preserve_float32,
                v12.shader_signed_zero_inf_nan_preserve_float64,
            ),
            denorm_preserve: widths(
                v12.shader_denorm_preserve_float16,
                v12.shader_denorm_preserve_float32,
                v12.shader_denorm_preserve_float64,
            ),
            denorm_flush_to_zero: widths(
                v12.shader_denorm_flush_to_zero_float16,
                v12.shader_denorm_flush_to_zero_float32,
                v12.shader_denorm_flush_to_zero_float64,
            ),
            rounding_mode_rte: widths(
                v12.shader_rounding_mode_rte_float16,
                v12.shader_rounding_mode_rte_float32,
                v12.shader_rounding_mode_rte_float64,
            ),
            rounding_mode_rtz: widths(
                v12.shader_rounding_mode_rtz_float16,
                v12.shader_rounding_mode_rtz_float32,
                v12.shader_rounding_mode_rtz_float64,
            ),
        };
    }

    /// Whether the device can take a module that declares this capability; capabilities this crate does not know are
    /// left to the driver.
    pub(crate) fn offers(&self, capability: spirv::Capability) -> bool {
        use spirv::Capability as C;
        let features = &self.features;
        let controls = &self.float_controls;
        let any = |widths: [bool; 3]| widths.contains(&true);
        match capability {
            C::Int64 => features.shader_int64,
            C::Int16 => features.shader_int16,
            C::Int8 => features.shader_int8,
            C::Float64 => features.shader_float64,
            C::Float16 => features.shader_float16,
            C::StorageBuffer16BitAccess => features.storage_buffer_16bit_access,
            C::StorageBuffer8BitAccess => features.storage_buffer_8bit_access,
            C::StorageInputOutput16 => features.storage_input_output_16,
            C::VariablePointers => features.variable_pointers,
            C::VariablePointersStorageBuffer => features.variable_pointers_storage_buffer,
            C::VulkanMemoryModel => features.vulkan_memory_model,
            C::PhysicalStorageBufferAddresses => features.buffer_device_address,
            C::Int64Atomics => features.shader_buffer_int64_atomics,
            C::DemoteToHelperInvocation => features.shader_demote_to_helper_invocation,
            C::DotProduct | C::DotProductInput4x8BitPacked => features.shader_integer_dot_product,
            C::TransformFeedback => features.transform_feedback,
            C::Geometry => features.geometry_shader,
            C::Tessellation => features.tessellation_shader,
            C::MeshShadingEXT => features.mesh_shader,
            C::FragmentBarycentricKHR => features.fragment_shader_barycentric,
            C::RayQueryKHR => features.ray_query,
            C::RayTracingKHR => features.ray_tracing_pipeline,
            C::SparseResidency => features.shader_resource_residency,
            C::StorageImageMultisample | C::ImageMSArray => features.shader_storage_image_multisample,
            C::ShaderClockKHR => features.shader_subgroup_clock,
            C::Int64ImageEXT => features.shader_image_int64_atomics,
            C::SignedZeroInfNanPreserve => any(controls.signed_zero_inf_nan_preserve),
            C::DenormPreserve => any(controls.denorm_preserve),
            C::DenormFlushToZero => any(controls.denorm_flush_to_zero),
            C::RoundingModeRTE => any(controls.rounding_mode_rte),
            C::RoundingModeRTZ => any(controls.rounding_mode_rtz),
            // Devices are made without its extension.
            C::ShaderInvocationReorderEXT => false,
            C::Kernel | C::Addresses | C::Linkage => false,
            _ => true,
        }
    }

    /// The newest SPIR-V this device takes, as (major, minor).
    pub(crate) fn spirv_version(&self) -> (u8, u8) {
        match self.api_version {
            (1, 0, _) => (1, 0),
            (1, 1, _) => (1, 3),
            (1, 2, _) => (1, 5),
            _ => (1, 6),
        }
    }
}

fn text(text: Option<&std::ffi::CStr>) -> String {
    text.map(|t| t.to_string_lossy().into_owned()).unwrap_or_default()
}
