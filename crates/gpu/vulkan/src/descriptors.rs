//! Descriptor sets: their layouts, their memory, and buffers written to them.

use crate::binding::{check_limit, descriptor_type};
use crate::device::{HostBuffer, Owned, Shared};
use crate::error::Named;
use crate::{BufferBinding, BufferKind, Error};
use ash::vk;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Layouts of sets from 0 on, and of a pipeline with them.
pub(crate) type Layout = (Vec<Owned<vk::DescriptorSetLayout>>, Owned<vk::PipelineLayout>);

/// A pool, and a set of each of some layouts.
pub(crate) type Sets = (Owned<vk::DescriptorPool>, Vec<vk::DescriptorSet>);

/// Most sets of a layout.
const MAX_SETS: u32 = 8;

/// The layout of bindings by set and number: types, and how many of each. Every stage sees them.
pub(crate) fn layout(
    shared: &Arc<Shared>,
    bindings: &BTreeMap<(u32, u32), (vk::DescriptorType, u32)>,
) -> Result<Layout, Error> {
    let count = bindings.keys().map(|key| key.0.saturating_add(1)).max().unwrap_or(0).min(MAX_SETS);
    let mut sets = Vec::new();
    for set in 0..count {
        let of_set: Vec<_> = bindings
            .range((set, 0)..=(set, u32::MAX))
            .map(|(&(_, binding), &(kind, count))| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(kind)
                    .descriptor_count(count)
                    .stage_flags(vk::ShaderStageFlags::ALL)
            })
            .collect();
        let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&of_set);
        // SAFETY: bindings are distinct.
        let raw = unsafe { shared.raw.create_descriptor_set_layout(&create, None) }
            .named("vkCreateDescriptorSetLayout")?;
        sets.push(Owned::new(shared, raw));
    }
    let raw: Vec<_> = sets.iter().map(|set| set.raw).collect();
    let create = vk::PipelineLayoutCreateInfo::default().set_layouts(&raw);
    // SAFETY: the set layouts are of this device.
    let layout =
        unsafe { shared.raw.create_pipeline_layout(&create, None) }.named("vkCreatePipelineLayout")?;
    Ok((sets, Owned::new(shared, layout)))
}

/// A set of each layout, of which there is at least one; `sizes` has room for all their descriptors, and no zeros.
pub(crate) fn allocate(
    shared: &Arc<Shared>,
    sizes: &[vk::DescriptorPoolSize],
    layouts: &[Owned<vk::DescriptorSetLayout>],
) -> Result<Sets, Error> {
    let create = vk::DescriptorPoolCreateInfo::default().max_sets(layouts.len() as u32).pool_sizes(sizes);
    // SAFETY: there is a layout, and no count is zero, as the caller promises.
    let pool = unsafe { shared.raw.create_descriptor_pool(&create, None) }.named("vkCreateDescriptorPool")?;
    let pool = Owned::new(shared, pool);
    let raw: Vec<_> = layouts.iter().map(|layout| layout.raw).collect();
    let allocate = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool.raw).set_layouts(&raw);
    // SAFETY: the pool has room for one set of each layout.
    let sets = unsafe { shared.raw.allocate_descriptor_sets(&allocate) }.named("vkAllocateDescriptorSets")?;
    Ok((pool, sets))
}

/// A copy of a buffer on the device.
pub(crate) fn upload(shared: &Arc<Shared>, buffer: &BufferBinding) -> Result<HostBuffer, Error> {
    let limits = &shared.info.limits;
    let (usage, limit) = match buffer.kind {
        BufferKind::Uniform => (vk::BufferUsageFlags::UNIFORM_BUFFER, limits.uniform_buffer_bytes),
        BufferKind::Storage => (vk::BufferUsageFlags::STORAGE_BUFFER, limits.storage_buffer_bytes),
        BufferKind::UniformTexel(_) => {
            (vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER, limits.storage_buffer_bytes)
        }
        BufferKind::StorageTexel(_) => {
            (vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER, limits.storage_buffer_bytes)
        }
    };
    let what =
        || format!("the {} buffer at set {}, binding {}, in bytes,", buffer.kind, buffer.set, buffer.binding);
    check_limit(what(), buffer.data.len() as u64, u64::from(limit))?;
    HostBuffer::new(shared, usage, &buffer.data)
}

/// Writes a buffer's copy to element `element` of its binding in `set`, whose layout has it with this type and as many
/// elements; the view of a buffer of texels, which has to outlive the set's use.
pub(crate) fn write_buffer(
    shared: &Arc<Shared>,
    (set, element): (vk::DescriptorSet, u32),
    buffer: &BufferBinding,
    copy: &HostBuffer,
) -> Result<Option<Owned<vk::BufferView>>, Error> {
    let range = [vk::DescriptorBufferInfo::default().buffer(copy.buffer.raw).range(copy.size)];
    let mut views = [vk::BufferView::null()];
    let mut owned = None;
    let write = vk::WriteDescriptorSet::default()
        .dst_set(set)
        .dst_binding(buffer.binding)
        .dst_array_element(element)
        .descriptor_type(descriptor_type(buffer.kind));
    let write = match buffer.kind {
        BufferKind::Uniform | BufferKind::Storage => write.buffer_info(&range),
        BufferKind::UniformTexel(texels) | BufferKind::StorageTexel(texels) => {
            let create = vk::BufferViewCreateInfo::default()
                .buffer(copy.buffer.raw)
                .format(texels.raw())
                .range(vk::WHOLE_SIZE);
            // SAFETY: the buffer is alive and was made for such views.
            let view = unsafe { shared.raw.create_buffer_view(&create, None) }.named("vkCreateBufferView")?;
            views[0] = view;
            owned = Some(Owned::new(shared, view));
            write.texel_buffer_view(&views)
        }
    };
    // SAFETY: the layout has this binding with this type and as many elements, as the caller promises.
    unsafe { shared.raw.update_descriptor_sets(&[write], &[]) };
    Ok(owned)
}
