//! Layouts, programs, arguments.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use xenoglot::Options;
use xenoglot_cache::translate::translate_module;
use xenoglot_ir::Module;

use crate::pipelines;
use crate::{Buffer, Device, Error, Texture, TextureFormat, TextureShape};

/// The entry point's name in modules of our SPIR-V writer.
const ENTRY: &str = "main";

/// What a program does with an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Access {
    /// A uniform buffer of so many bytes, at an offset that each dispatch says.
    Uniform {
        /// Bytes that programs see.
        size: u32,
    },
    /// A storage buffer that is read.
    Read,
    /// A storage buffer that is read and written.
    ReadWrite,
    /// A texture that is written.
    WriteTexture {
        /// Its texels.
        format: TextureFormat,
        /// Its third axis.
        shape: TextureShape,
    },
}

/// An argument of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Binding {
    /// Its binding in set 0.
    pub number: u32,
    /// What programs do with it.
    pub access: Access,
}

impl Binding {
    /// A binding.
    pub fn new(number: u32, access: Access) -> Binding {
        Binding { number, access }
    }
}

/// The arguments of programs. Programs of one layout take the same arguments; they need not use all of them.
#[derive(Clone, Debug)]
pub struct Layout {
    bindings: Vec<Binding>,
    group: wgpu::BindGroupLayout,
    pipeline: wgpu::PipelineLayout,
}

impl Layout {
    /// Its bindings by number.
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }
}

/// SPIR-V of our writer, valid for the device that made it and its twin.
pub(crate) struct Words(pub(crate) Vec<u32>);

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) raw: wgpu::ComputePipeline,
}

/// What a binding of a layout is given.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A buffer.
    Buffer(Buffer),
    /// A texture, all of it.
    Texture(Texture),
}

/// Buffers and textures for the programs of a layout.
#[derive(Clone, Debug)]
pub struct Arguments {
    pub(crate) raw: wgpu::BindGroup,
}

impl Device {
    /// A layout of these bindings. Numbers must differ; no more than eight storage buffers, which is what every device
    /// allows.
    pub fn layout(&self, bindings: &[Binding]) -> Layout {
        let mut bindings = bindings.to_vec();
        bindings.sort_by_key(|binding| binding.number);
        let entries: Vec<wgpu::BindGroupLayoutEntry> = bindings.iter().map(entry).collect();
        let group = self
            .raw
            .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let pipeline = self.raw.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            bind_group_layouts: &[Some(&group)],
            ..wgpu::PipelineLayoutDescriptor::default()
        });
        Layout { bindings, group, pipeline }
    }

    /// Compiles a compute module, as it was lifted or generated, whose resources are the layout's, in set 0. It takes as
    /// long as the driver does; [`crate::Table`] waits elsewhere.
    ///
    /// # Errors
    /// [`Error::Translation`] if it is no valid module or SPIR-V cannot express it, [`Error::Program`] if naga or the
    /// driver refuse it, or if it took down the process of [`Device::with_compilers`] that was to compile it.
    pub fn program(&self, layout: &Layout, module: Module) -> Result<Program, Error> {
        self.program_of(layout, &self.words(module)?)
    }

    /// Translates a module as [`Device::program`] does, for a later time: its code is in the device's cache then.
    ///
    /// # Errors
    /// [`Error::Translation`].
    pub fn translate(&self, module: Module) -> Result<(), Error> {
        self.words(module).map(drop)
    }

    /// A module's SPIR-V for the device, from its cache if it is there.
    pub(crate) fn words(&self, module: Module) -> Result<Words, Error> {
        let found = translate_module(&self.cache, module, &self.host, &Options::default());
        let entry = found.map_err(|failure| Error::Translation(failure.to_string()))?;
        let words = entry.payload.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word));
        Ok(Words(words.collect()))
    }

    /// Has the driver compile SPIR-V: in another process first, if the device has compilers.
    pub(crate) fn program_of(&self, layout: &Layout, words: &Words) -> Result<Program, Error> {
        let made = self.compiled_elsewhere(layout, words)?;
        let pipelines = made.and_then(|entry| pipelines::load(&self.raw, &entry.payload));
        match pipelines {
            Some(one) => self.compile_with(Some(&one), layout, ENTRY, || self.module(layout, words)),
            None => self.compile(layout, ENTRY, || self.module(layout, words)),
        }
    }

    /// Compiles words in a pipeline cache of their own. Gives the program, and what the driver made of it: nothing where it
    /// does not say.
    pub(crate) fn program_alone(&self, layout: &Layout, words: &Words) -> Result<(Program, Vec<u8>), Error> {
        let pipelines = pipelines::empty(&self.raw);
        let program = self.compile_with(pipelines.as_ref(), layout, ENTRY, || self.module(layout, words))?;
        Ok((program, pipelines.and_then(|pipelines| pipelines.get_data()).unwrap_or_default()))
    }

    /// Compiles an entry point of WGSL whose bindings are the layout's, in group 0. Accesses outside of a buffer stay
    /// in it, and loops end at some time.
    ///
    /// # Errors
    /// [`Error::Program`] if naga or the driver refuse it.
    pub fn wgsl_program(&self, layout: &Layout, source: &str, entry: &str) -> Result<Program, Error> {
        let source = || wgpu::ShaderSource::Wgsl(Cow::Borrowed(source));
        let make = || {
            self.raw
                .create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(entry), source: source() })
        };
        self.compile(layout, entry, make)
    }

    /// Compiles with the pipeline cache of the device, if it has one.
    fn compile(
        &self,
        layout: &Layout,
        entry: &str,
        module: impl Fn() -> wgpu::ShaderModule,
    ) -> Result<Program, Error> {
        let pipelines = self.pipelines.as_ref();
        let made = self.compile_with(pipelines.map(|pipelines| &pipelines.raw), layout, entry, module)?;
        pipelines.iter().for_each(|pipelines| pipelines.note());
        Ok(made)
    }

    fn compile_with(
        &self,
        cache: Option<&wgpu::PipelineCache>,
        layout: &Layout,
        entry: &str,
        module: impl Fn() -> wgpu::ShaderModule,
    ) -> Result<Program, Error> {
        let compile = || {
            self.raw.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: Some(&layout.pipeline),
                module: &module(),
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: false,
                    ..wgpu::PipelineCompilationOptions::default()
                },
                cache,
            })
        };
        let raw = self.attempt(compile).map_err(Error::Program)?;
        Ok(Program { raw })
    }

    fn module(&self, layout: &Layout, Words(words): &Words) -> wgpu::ShaderModule {
        if !self.is_native() {
            let source = wgpu::ShaderSource::SpirV(Cow::Borrowed(words));
            return self.raw.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        }
        let entry = wgpu::PassthroughShaderEntryPoint { name: ENTRY.into(), workgroup_size: (1, 1, 1) };
        let descriptor = wgpu::ShaderModuleDescriptorPassthrough {
            entry_points: Cow::Borrowed(std::slice::from_ref(&entry)),
            spirv: Some(Cow::Owned(number_densely(words, &layout.bindings))),
            ..wgpu::ShaderModuleDescriptorPassthrough::default()
        };
        // SAFETY: words are made by [`Device::words`] alone, from our writer, which makes valid modules of verified ones; or
        // they are what it made before, from the device's cache, which has checked their hash. Who writes to a cache on
        // disk is trusted: see [`Device::open_with`].
        // Accesses outside a buffer stay in it or read zero: wgpu opens Vulkan devices with robust buffer access.
        unsafe { self.raw.create_shader_module_passthrough(descriptor) }
    }
}

fn entry(binding: &Binding) -> wgpu::BindGroupLayoutEntry {
    let buffer = |ty, size: Option<u32>| wgpu::BindingType::Buffer {
        ty,
        has_dynamic_offset: size.is_some(),
        min_binding_size: size.and_then(|size| wgpu::BufferSize::new(size.into())),
    };
    let storage = |read_only| buffer(wgpu::BufferBindingType::Storage { read_only }, None);
    let ty = match binding.access {
        Access::Uniform { size } => buffer(wgpu::BufferBindingType::Uniform, Some(size)),
        Access::Read => storage(true),
        Access::ReadWrite => storage(false),
        Access::WriteTexture { format, shape } => wgpu::BindingType::StorageTexture {
            access: wgpu::StorageTextureAccess::WriteOnly,
            format: format.wgpu(),
            view_dimension: shape.raw(),
        },
    };
    wgpu::BindGroupLayoutEntry {
        binding: binding.number,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty,
        count: None,
    }
}

/// The module with each binding's rank in the layout as its number: wgpu numbers Vulkan's bindings so, and modules that
/// it does not translate must agree.
fn number_densely(words: &[u32], bindings: &[Binding]) -> Vec<u32> {
    const HEADER: usize = 5;
    const OP_DECORATE: u32 = 71;
    const DECORATION_BINDING: u32 = 33;
    let mut words = words.to_vec();
    let mut at = HEADER;
    while let Some(&first) = words.get(at) {
        if let Some([op, _, DECORATION_BINDING, number]) = words.get_mut(at..at + 4)
            && *op & 0xffff == OP_DECORATE
            && let Some(rank) = bindings.iter().position(|binding| binding.number == *number)
        {
            *number = rank as u32;
        }
        at += (first >> 16).max(1) as usize;
    }
    words
}

impl Arguments {
    /// `buffers` in the order of their bindings' numbers.
    ///
    /// # Errors
    /// As [`Arguments::of`].
    pub fn new(device: &Device, layout: &Layout, buffers: &[&Buffer]) -> Result<Arguments, Error> {
        let arguments: Vec<Argument> = buffers.iter().map(|&b| Argument::Buffer(b.clone())).collect();
        Arguments::of(device, layout, &arguments)
    }

    /// `arguments` in the order of their bindings' numbers.
    ///
    /// # Errors
    /// [`Error::Arguments`] if they are not as many as the layout's bindings, not of their kinds, or too small for a
    /// uniform buffer.
    pub fn of(device: &Device, layout: &Layout, arguments: &[Argument]) -> Result<Arguments, Error> {
        enum Bound<'a> {
            Buffer(&'a wgpu::Buffer),
            View(wgpu::TextureView),
        }
        let bound: Vec<Bound<'_>> = arguments
            .iter()
            .map(|argument| match argument {
                Argument::Buffer(buffer) => Bound::Buffer(&buffer.raw),
                Argument::Texture(texture) => Bound::View(texture.view()),
            })
            .collect();
        let entries: Vec<wgpu::BindGroupEntry> = layout
            .bindings
            .iter()
            .zip(&bound)
            .map(|(binding, bound)| wgpu::BindGroupEntry {
                binding: binding.number,
                resource: match bound {
                    Bound::View(view) => wgpu::BindingResource::TextureView(view),
                    Bound::Buffer(buffer) => wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer,
                        offset: 0,
                        size: match binding.access {
                            Access::Uniform { size } => wgpu::BufferSize::new(size.into()),
                            _ => None,
                        },
                    }),
                },
            })
            .collect();
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &layout.group, entries: &entries };
        let raw = device.attempt(|| device.raw.create_bind_group(&descriptor));
        let raw = raw.map_err(|reason| device.lost_or(Error::Arguments(reason)))?;
        Ok(Arguments { raw })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_become_ranks_and_nothing_else_changes() {
        let bindings = [4, 7, 9].map(|number| Binding::new(number, Access::Read));
        let header = [0x0723_0203, 0x1_0300, 0, 9, 0];
        // OpDecorate %1 Binding 9; OpDecorate %2 DescriptorSet 9; OpDecorate %3 Binding 4.
        let body = [4 << 16 | 71, 1, 33, 9, 4 << 16 | 71, 2, 34, 9, 4 << 16 | 71, 3, 33, 4];
        let mut expected = [header.as_slice(), &body].concat();
        (expected[8], expected[16]) = (2, 0);
        assert_eq!(number_densely(&[header.as_slice(), &body].concat(), &bindings), expected);
        // Instructions that end early or have no length.
        assert_eq!(number_densely(&[0; 7], &bindings), [0; 7]);
    }
}
