//! A root signature for shaders that come without one.

use crate::model::ResourceClass;
use crate::program::Resource;
use crate::root_signature::{
    DescriptorFlags, Parameter, ParameterKind, Range, Register, RootFlags, RootSignature, Version, Visibility,
};

/// A root signature that binds what a shader declares by tables, and opens both heaps: one table for resources, one for
/// samplers, and one for each array without bound.
pub fn covering(resources: &[Resource]) -> RootSignature {
    let (mut views, mut samplers, mut parameters) = (Vec::new(), Vec::new(), Vec::new());
    let table = |ranges| Parameter { kind: ParameterKind::Table(ranges), visibility: Visibility::All };
    for resource in resources {
        let range = Range {
            class: resource.class,
            count: resource.count.unwrap_or(Range::UNBOUNDED),
            register: Register { number: resource.lower, space: resource.space },
            flags: DescriptorFlags::empty(),
            offset: Range::APPEND,
        };
        match (resource.count, resource.class) {
            (None, _) => parameters.push(table(vec![range])),
            (_, ResourceClass::Sampler) => samplers.push(range),
            _ => views.push(range),
        }
    }
    for ranges in [samplers, views] {
        if !ranges.is_empty() {
            parameters.insert(0, table(ranges));
        }
    }
    let flags = RootFlags::CBV_SRV_UAV_HEAP_DIRECTLY_INDEXED | RootFlags::SAMPLER_HEAP_DIRECTLY_INDEXED;
    RootSignature { version: Version::V1_1, flags, parameters, samplers: Vec::new() }
}
