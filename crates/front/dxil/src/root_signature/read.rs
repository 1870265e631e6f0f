//! The binary form, read.

use super::*;
use crate::container::reader::Reader;
use crate::container::{Container, ContainerError, FourCc, Part};

/// Most parameters: a global root signature has 64 words, and a shader record, where local ones lie, 4096 bytes.
const MAX_PARAMETERS: u64 = 1024;

impl RootSignature {
    /// Reads a root signature: a container with an `RTS0` part, or the contents of one.
    ///
    /// # Errors
    /// A damaged one, or a container without one.
    pub fn parse(bytes: &[u8]) -> Result<RootSignature, ContainerError> {
        if bytes.starts_with(b"DXBC") {
            let container = Container::parse(bytes)?;
            return container.root_signature()?.ok_or(ContainerError::Missing(FourCc::RTS0));
        }
        RootSignature::read(&Part { name: FourCc::RTS0, offset: 0, data: bytes })
    }

    /// Reads the contents of a part: version; number and offset of parameters, of samplers; flags.
    pub(crate) fn read(part: &Part) -> Result<RootSignature, ContainerError> {
        let start = part.reader();
        let mut at = start;
        let version = at.number("version", Version::from_number)?;
        let parameter_count = at.count("parameters", MAX_PARAMETERS)?;
        let mut parameters_at = start.seek(at.u32("offset of parameters")?.into(), "parameters")?;
        let size = sampler_words(version) * 4;
        let sampler_count = at.count("samplers", part.data.len() as u64 / size)?;
        let mut samplers_at = start.seek(at.u32("offset of samplers")?.into(), "samplers")?;
        let flags = RootFlags::from_bits_retain(at.u32("flags")?);
        // Tables may share ranges in a damaged file; what compilers write has each byte once.
        let mut ranges_left = part.data.len() as u64 / (range_words(version) * 4);
        let parameters = (0..parameter_count)
            .map(|_| parameter(start, &mut parameters_at, version, &mut ranges_left))
            .collect::<Result<_, _>>()?;
        let samplers =
            (0..sampler_count).map(|_| sampler(&mut samplers_at, version)).collect::<Result<_, _>>()?;
        Ok(RootSignature { version, flags, parameters, samplers })
    }
}

/// Words of a range.
pub(super) const fn range_words(version: Version) -> u64 {
    if matches!(version, Version::V1_0) { 5 } else { 6 }
}

/// Words of a sampler.
pub(super) const fn sampler_words(version: Version) -> u64 {
    if matches!(version, Version::V1_2) { 14 } else { 13 }
}

/// Types of parameters.
pub(super) mod parameter_type {
    pub const TABLE: u32 = 0;
    pub const CONSTANTS: u32 = 1;
    pub const CBV: u32 = 2;
    pub const SRV: u32 = 3;
    pub const UAV: u32 = 4;
}

fn register(at: &mut Reader) -> Result<Register, ContainerError> {
    Ok(Register { number: at.u32("register")?, space: at.u32("space")? })
}

/// Version 1.0 has no flags.
fn descriptor_flags(at: &mut Reader, version: Version) -> Result<DescriptorFlags, ContainerError> {
    Ok(match version {
        Version::V1_0 => DescriptorFlags::empty(),
        _ => DescriptorFlags::from_bits_retain(at.u32("flags")?),
    })
}

/// Type, visibility, and the offset of the rest.
fn parameter(
    start: Reader,
    at: &mut Reader,
    version: Version,
    ranges_left: &mut u64,
) -> Result<Parameter, ContainerError> {
    let ty = at.u32("type of parameter")?;
    let descriptor = match ty {
        parameter_type::TABLE | parameter_type::CONSTANTS => None,
        parameter_type::CBV => Some(ResourceClass::Cbv),
        parameter_type::SRV => Some(ResourceClass::Srv),
        parameter_type::UAV => Some(ResourceClass::Uav),
        _ => return Err(at.bad(4, "type of parameter", ty)),
    };
    let visibility = at.number("visibility", Visibility::from_number)?;
    let mut at = start.seek(at.u32("offset of a parameter")?.into(), "parameter")?;
    let kind = match (ty, descriptor) {
        (_, Some(class)) => ParameterKind::Descriptor {
            class,
            register: register(&mut at)?,
            flags: descriptor_flags(&mut at, version)?,
        },
        (parameter_type::TABLE, _) => {
            let count = at.count("ranges", *ranges_left)?;
            *ranges_left -= count;
            let mut at = start.seek(at.u32("offset of ranges")?.into(), "ranges")?;
            ParameterKind::Table((0..count).map(|_| range(&mut at, version)).collect::<Result<_, _>>()?)
        }
        _ => ParameterKind::Constants { register: register(&mut at)?, count: at.u32("number of constants")? },
    };
    Ok(Parameter { kind, visibility })
}

fn range(at: &mut Reader, version: Version) -> Result<Range, ContainerError> {
    Ok(Range {
        class: at.number("class of a range", ResourceClass::from_number)?,
        count: at.u32("number of descriptors")?,
        register: register(at)?,
        flags: descriptor_flags(at, version)?,
        offset: at.u32("offset in the table")?,
    })
}

fn sampler(at: &mut Reader, version: Version) -> Result<StaticSampler, ContainerError> {
    fn address(at: &mut Reader) -> Result<AddressMode, ContainerError> {
        at.number("address mode", AddressMode::from_number)
    }
    Ok(StaticSampler {
        // The fields of a structure are read in this order.
        filter: at.number("filter", Filter::from_number)?,
        address: [address(at)?, address(at)?, address(at)?],
        mip_lod_bias: f32::from_bits(at.u32("bias")?),
        max_anisotropy: at.u32("anisotropy")?,
        comparison: at.number("comparison", Comparison::from_number)?,
        border: at.number("border color", BorderColor::from_number)?,
        min_lod: f32::from_bits(at.u32("level")?),
        max_lod: f32::from_bits(at.u32("level")?),
        register: register(at)?,
        visibility: at.number("visibility", Visibility::from_number)?,
        flags: match version {
            Version::V1_2 => SamplerFlags::from_bits_retain(at.u32("flags")?),
            _ => SamplerFlags::empty(),
        },
    })
}
