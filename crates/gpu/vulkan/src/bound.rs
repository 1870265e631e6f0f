//! The descriptors of a job with what they are bound to, on the device.

use crate::contents::{Contents, View};
use crate::descriptors::allocate;
use crate::device::{HostBuffer, Owned, Shared};
use crate::error::Named;
use crate::graphics::descriptor_type;
use crate::image::{Picture, StorageImage, Texture, sampler};
use crate::job::{DescriptorKind, DescriptorSlot};
use crate::{Error, TexelFormat};
use ash::vk;
use std::sync::Arc;

/// A descriptor's element.
enum Element<'a> {
    Buffer(HostBuffer),
    // The view before its buffer: fields drop in this order.
    Texels { view: Owned<vk::BufferView>, buffer: HostBuffer, format: TexelFormat },
    TexelView(Owned<vk::BufferView>),
    Texture(Texture<'a>),
    Sampler(Owned<vk::Sampler>),
    Image(StorageImage),
    ImageView(Owned<vk::ImageView>),
}

/// Descriptor sets filled with a job's contents.
pub(crate) struct Bindings<'a> {
    slots: &'a [DescriptorSlot],
    contents: &'a [Vec<Contents>],
    elements: Vec<Vec<Element<'a>>>,
    sets: Vec<vk::DescriptorSet>,
    _pool: Option<Owned<vk::DescriptorPool>>,
}

impl<'a> Bindings<'a> {
    /// Copies contents to the device and binds them with the slots' layouts.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        slots: &'a [DescriptorSlot],
        contents: &'a [Vec<Contents>],
        layouts: &[Owned<vk::DescriptorSetLayout>],
    ) -> Result<Bindings<'a>, Error> {
        let suits = |(slot, elements): (&DescriptorSlot, &Vec<Contents>)| {
            elements.len() as u64 == u64::from(slot.count)
        };
        if slots.len() != contents.len() || !slots.iter().zip(contents).all(suits) {
            return Err(Error::Unsupported("a job without contents for what it uses".into()));
        }
        let mut bindings = Bindings { slots, contents, elements: Vec::new(), sets: Vec::new(), _pool: None };
        for (slot, contents) in slots.iter().zip(contents) {
            let mut of_slot = Vec::new();
            for (n, contents) in (0..).zip(contents) {
                of_slot.push(match contents {
                    Contents::View(view) => bindings.view(shared, slot.kind, view)?,
                    _ => element(shared, slot.kind, contents, bindings.is_viewed(slot, n))?,
                });
            }
            bindings.elements.push(of_slot);
        }
        if !layouts.is_empty() {
            bindings.write_sets(shared, layouts)?;
        }
        Ok(bindings)
    }

    /// Whether an element is seen in other formats.
    fn is_viewed(&self, slot: &DescriptorSlot, element: u32) -> bool {
        self.contents.iter().flatten().any(|contents| match contents {
            Contents::View(v) => (v.set, v.binding, v.element) == (slot.set, slot.binding, element),
            _ => false,
        })
    }

    /// A view of an element of an earlier descriptor.
    fn view(&self, shared: &Arc<Shared>, kind: DescriptorKind, view: &View) -> Result<Element<'a>, Error> {
        let earlier = self.slots.iter().zip(&self.elements);
        let mut of = earlier.filter(|(slot, _)| (slot.set, slot.binding) == (view.set, view.binding));
        let element = of.next().and_then(|(_, elements)| elements.get(view.element as usize));
        match (kind, element) {
            (DescriptorKind::Image, Some(Element::Image(image))) => {
                Ok(Element::ImageView(image.view(shared, view.format)?))
            }
            (DescriptorKind::ImageBuffer, Some(Element::Texels { buffer, format, .. }))
                if format.bytes() == view.format.bytes() =>
            {
                let needed = vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER;
                Ok(Element::TexelView(texel_view(shared, buffer, needed, view.format)?))
            }
            _ => Err(Error::Unsupported(format!(
                "a view of what set {}, binding {} has",
                view.set, view.binding
            ))),
        }
    }

    fn write_sets(
        &mut self,
        shared: &Arc<Shared>,
        layouts: &[Owned<vk::DescriptorSetLayout>],
    ) -> Result<(), Error> {
        let size = |s: &DescriptorSlot| vk::DescriptorPoolSize {
            ty: descriptor_type(s.kind),
            descriptor_count: s.count,
        };
        let sizes: Vec<_> = self.slots.iter().map(size).collect();
        // A set exists for the sake of a descriptor, so there are sizes.
        let (pool, sets) = allocate(shared, &sizes, layouts)?;
        for (slot, elements) in self.slots.iter().zip(&self.elements) {
            let Some(&set) = sets.get(slot.set as usize) else { continue };
            for (n, element) in (0..).zip(elements) {
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(slot.binding)
                    .dst_array_element(n)
                    .descriptor_type(descriptor_type(slot.kind));
                element.write(shared, write);
            }
        }
        self.sets = sets;
        self._pool = Some(pool);
        Ok(())
    }

    /// Records the copies of texels to images.
    ///
    /// # Safety
    /// The command buffer is being recorded, and `self` outlives its execution.
    pub(crate) unsafe fn fill(&self, shared: &Shared, commands: vk::CommandBuffer) {
        for element in self.elements.iter().flatten() {
            // SAFETY: passed on to the caller.
            unsafe {
                match element {
                    Element::Texture(texture) => texture.fill(shared, commands),
                    Element::Image(image) => image.fill(shared, commands),
                    _ => {}
                }
            }
        }
    }

    /// Records the binding of the sets.
    ///
    /// # Safety
    /// As for [`Bindings::fill`]; `layout` has the layouts of the sets.
    pub(crate) unsafe fn bind(
        &self,
        shared: &Shared,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        layout: vk::PipelineLayout,
    ) {
        if !self.sets.is_empty() {
            // SAFETY: passed on to the caller.
            unsafe { shared.raw.cmd_bind_descriptor_sets(commands, point, layout, 0, &self.sets, &[]) };
        }
    }

    /// Records the copies of images back.
    ///
    /// # Safety
    /// As for [`Bindings::fill`], which was recorded before.
    pub(crate) unsafe fn read_back(&self, shared: &Shared, commands: vk::CommandBuffer) {
        for element in self.elements.iter().flatten() {
            if let Element::Image(image) = element {
                // SAFETY: passed on to the caller.
                unsafe { image.read_back(shared, commands) };
            }
        }
    }

    /// What is in the elements that shaders write, as long as it was before; the commands are done.
    pub(crate) fn written(&self) -> Result<Vec<Vec<u8>>, Error> {
        let mut written = Vec::new();
        for ((slot, elements), contents) in self.slots.iter().zip(&self.elements).zip(self.contents) {
            for (element, contents) in elements.iter().zip(contents).filter(|_| slot.kind.is_written()) {
                written.push(match element {
                    Element::Buffer(buffer) | Element::Texels { buffer, .. } => {
                        buffer.read(contents.data().len() as u64)?
                    }
                    Element::Image(image) => image.texels()?,
                    _ => Vec::new(),
                });
            }
        }
        Ok(written)
    }
}

impl Element<'_> {
    /// Points a descriptor here, whose kind is this element's.
    fn write(&self, shared: &Shared, write: vk::WriteDescriptorSet) {
        let (mut buffer, mut image) =
            (vk::DescriptorBufferInfo::default(), vk::DescriptorImageInfo::default());
        let write = match self {
            Element::Buffer(b) => {
                buffer = buffer.buffer(b.buffer.raw).range(b.size);
                write.buffer_info(std::slice::from_ref(&buffer))
            }
            Element::Texels { view, .. } | Element::TexelView(view) => {
                write.texel_buffer_view(std::slice::from_ref(&view.raw))
            }
            Element::Texture(t) => {
                image = image.sampler(t.sampler.raw).image_view(t.picture.view.raw);
                image = image.image_layout(vk::ImageLayout::GENERAL);
                write.image_info(std::slice::from_ref(&image))
            }
            Element::Sampler(sampler) => {
                image = image.sampler(sampler.raw);
                write.image_info(std::slice::from_ref(&image))
            }
            Element::Image(StorageImage { picture: Picture { view, .. }, .. }) | Element::ImageView(view) => {
                image = image.image_view(view.raw).image_layout(vk::ImageLayout::GENERAL);
                write.image_info(std::slice::from_ref(&image))
            }
        };
        // SAFETY: the layout has this binding with this type and count.
        unsafe { shared.raw.update_descriptor_sets(&[write], &[]) };
    }
}

fn element<'a>(
    shared: &Arc<Shared>,
    kind: DescriptorKind,
    contents: &'a Contents,
    viewed: bool,
) -> Result<Element<'a>, Error> {
    use vk::BufferUsageFlags as Usage;
    use vk::FormatFeatureFlags as Can;
    let texels = |usage, needed, format: TexelFormat, data: &[u8]| {
        if data.len() < format.bytes() as usize {
            return Err(Error::Unsupported("a buffer of less than a texel".into()));
        }
        let buffer = HostBuffer::new(shared, usage, data)?;
        let view = texel_view(shared, &buffer, needed, format)?;
        Ok(Element::Texels { view, buffer, format })
    };
    Ok(match (kind, contents) {
        (DescriptorKind::Uniform, Contents::Buffer(data)) => {
            Element::Buffer(HostBuffer::new(shared, Usage::UNIFORM_BUFFER, data)?)
        }
        (DescriptorKind::Storage, Contents::Buffer(data)) => {
            Element::Buffer(HostBuffer::new(shared, Usage::STORAGE_BUFFER, data)?)
        }
        (DescriptorKind::TexelBuffer, Contents::Texels(format, data)) => {
            texels(Usage::UNIFORM_TEXEL_BUFFER, Can::UNIFORM_TEXEL_BUFFER, *format, data)?
        }
        (DescriptorKind::ImageBuffer, Contents::Texels(format, data)) => {
            texels(Usage::STORAGE_TEXEL_BUFFER, Can::STORAGE_TEXEL_BUFFER, *format, data)?
        }
        (DescriptorKind::Texture | DescriptorKind::SampledImage, Contents::Texture(contents)) => {
            Element::Texture(Texture::new(shared, contents)?)
        }
        (DescriptorKind::Sampler, Contents::Sampler(sampling)) => {
            Element::Sampler(sampler(shared, *sampling)?)
        }
        (DescriptorKind::Image, Contents::Image(contents)) => {
            Element::Image(StorageImage::new(shared, contents, viewed)?)
        }
        _ => return Err(Error::Unsupported(format!("contents of another kind than {kind:?}"))),
    })
}

/// A view of a buffer that has a texel at least and was made for such views.
fn texel_view(
    shared: &Arc<Shared>,
    buffer: &HostBuffer,
    needed: vk::FormatFeatureFlags,
    format: TexelFormat,
) -> Result<Owned<vk::BufferView>, Error> {
    if !shared.format_properties(format.raw()).buffer_features.contains(needed) {
        return Err(Error::Unsupported(format!("such buffers of {format:?}")));
    }
    let create = vk::BufferViewCreateInfo::default()
        .buffer(buffer.buffer.raw)
        .format(format.raw())
        .range(vk::WHOLE_SIZE);
    // SAFETY: the buffer was made for this, has a texel at least, and the device takes the format.
    let raw = unsafe { shared.raw.create_buffer_view(&create, None) }.named("vkCreateBufferView")?;
    Ok(Owned::new(shared, raw))
}
