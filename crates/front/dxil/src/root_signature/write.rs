//! The binary form, written: header, parameters, what they point to in their order, samplers.

use super::read::{parameter_type, range_words, sampler_words};
use super::*;

/// Words of the header.
const HEADER: usize = 6;
/// Words of a parameter.
const PARAMETER: usize = 3;

impl RootSignature {
    /// The contents of an `RTS0` part. Reading them gives an equal value, but for flags that the version does not have.
    pub fn write(&self) -> Vec<u8> {
        let bytes = |words: usize| 4 * words as u32;
        let mut table = Vec::with_capacity(self.parameters.len() * PARAMETER);
        let mut contents = Vec::new();
        let start = HEADER + self.parameters.len() * PARAMETER;
        for parameter in &self.parameters {
            let at = start + contents.len();
            let ty = match &parameter.kind {
                ParameterKind::Constants { register, count } => {
                    contents.extend([register.number, register.space, *count]);
                    parameter_type::CONSTANTS
                }
                ParameterKind::Descriptor { class, register, flags } => {
                    contents.extend([register.number, register.space]);
                    contents.extend(self.flags_word(*flags));
                    match class {
                        ResourceClass::Srv => parameter_type::SRV,
                        ResourceClass::Uav => parameter_type::UAV,
                        ResourceClass::Cbv | ResourceClass::Sampler => parameter_type::CBV,
                    }
                }
                ParameterKind::Table(ranges) => {
                    contents.extend([ranges.len() as u32, bytes(at + 2)]);
                    contents.reserve(ranges.len() * range_words(self.version) as usize);
                    for range in ranges {
                        let Register { number, space } = range.register;
                        contents.extend([range.class.number(), range.count, number, space]);
                        contents.extend(self.flags_word(range.flags));
                        contents.push(range.offset);
                    }
                    parameter_type::TABLE
                }
            };
            table.extend([ty, parameter.visibility.number(), bytes(at)]);
        }
        let samplers = start + contents.len();
        let header = [
            self.version.number(),
            self.parameters.len() as u32,
            bytes(HEADER),
            self.samplers.len() as u32,
            bytes(samplers),
            self.flags.bits(),
        ];
        contents.extend(self.samplers.iter().flat_map(|sampler| self.sampler_words(sampler)));
        let words = header.into_iter().chain(table).chain(contents);
        words.flat_map(u32::to_le_bytes).collect()
    }

    fn flags_word(&self, flags: DescriptorFlags) -> Option<u32> {
        (self.version != Version::V1_0).then_some(flags.bits())
    }

    fn sampler_words(&self, sampler: &StaticSampler) -> impl Iterator<Item = u32> + use<> {
        let [u, v, w] = sampler.address.map(AddressMode::number);
        let words = [
            sampler.filter.number(),
            u,
            v,
            w,
            sampler.mip_lod_bias.to_bits(),
            sampler.max_anisotropy,
            sampler.comparison.number(),
            sampler.border.number(),
            sampler.min_lod.to_bits(),
            sampler.max_lod.to_bits(),
            sampler.register.number,
            sampler.register.space,
            sampler.visibility.number(),
            sampler.flags.bits(),
        ];
        words.into_iter().take(sampler_words(self.version) as usize)
    }
}
