//! wgpu's adapters and devices.

use super::{Capabilities, Floats, Host, Language, Subgroups};
use wgpu::{Adapter, AdapterInfo, Backend, Device, DeviceType, Features};
use xenoglot_spirv::Capability as C;

impl Host {
    /// What wgpu runs WGSL with on an adapter, as far as `features` are those of the device that is asked for: 64-bit and
    /// 16-bit numbers and subgroups need to be enabled there.
    pub fn of_adapter(adapter: &Adapter, features: Features) -> Host {
        Host::of_wgpu(&adapter.get_info(), features)
    }

    /// What wgpu runs WGSL with on a device, with the features that it was opened with.
    pub fn of_device(device: &Device) -> Host {
        Host::of_wgpu(&device.adapter_info(), device.features())
    }

    fn of_wgpu(info: &AdapterInfo, features: Features) -> Host {
        let of_features = [
            (Features::SHADER_F64, &[C::Float64][..]),
            (Features::SHADER_F16, &[C::Float16]),
            (Features::SHADER_INT64, &[C::Int64]),
            (
                Features::SUBGROUP,
                &[
                    C::GroupNonUniform,
                    C::GroupNonUniformVote,
                    C::GroupNonUniformArithmetic,
                    C::GroupNonUniformBallot,
                    C::GroupNonUniformShuffle,
                    C::GroupNonUniformShuffleRelative,
                    C::GroupNonUniformQuad,
                ],
            ),
        ];
        let lacking = of_features.iter().filter(|(feature, _)| !features.contains(*feature));
        let without: Capabilities = lacking.flat_map(|(_, capabilities)| *capabilities).copied().collect();
        let width = |lanes: u32| u8::try_from(lanes).unwrap_or(Subgroups::UNKNOWN.max);
        let (min, max) = (width(info.subgroup_min_size), width(info.subgroup_max_size));
        // On the CPU it is lavapipe that `fma` and sums with zero are known of.
        let gpu = info.device_type != DeviceType::Cpu || info.backend != Backend::Vulkan;
        Host {
            without,
            floats: Floats {
                fused_fma: gpu,
                zero_sums: gpu,
                quotients: !gpu,
                doubles: features.contains(Features::SHADER_F64),
                ..Floats::GPU
            },
            subgroups: if min == 0 { Subgroups::UNKNOWN } else { Subgroups { min, max } },
            ..Host::of(Language::Wgsl)
        }
    }
}
