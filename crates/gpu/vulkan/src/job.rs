//! What is run and what comes of it: plain data, the same for a device of this process and for a worker's.

use crate::contents::Contents;
use crate::hex;
use crate::texel::TexelFormat;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The shader stages this crate runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// A compute shader.
    Compute,
    /// A vertex shader whose outputs are captured.
    Vertex,
}

impl Stage {
    pub(crate) fn execution_model(self) -> spirv::ExecutionModel {
        match self {
            Stage::Compute => spirv::ExecutionModel::GLCompute,
            Stage::Vertex => spirv::ExecutionModel::Vertex,
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Compute => "compute",
            Stage::Vertex => "vertex",
        })
    }
}

/// How a shader sees a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BufferKind {
    /// Read only.
    Uniform,
    /// Read and written.
    Storage,
    /// Texels that are read.
    UniformTexel(TexelFormat),
    /// Texels that are read and written.
    StorageTexel(TexelFormat),
}

impl BufferKind {
    /// Whether shaders write such buffers.
    pub fn is_written(self) -> bool {
        matches!(self, BufferKind::Storage | BufferKind::StorageTexel(_))
    }

    /// Whether a shader that declares one may be given the other: formats of texels are not declared.
    pub(crate) fn fits(self, other: BufferKind) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

impl fmt::Display for BufferKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BufferKind::Uniform => "uniform",
            BufferKind::Storage => "storage",
            BufferKind::UniformTexel(_) => "uniform texel",
            BufferKind::StorageTexel(_) => "storage texel",
        })
    }
}

/// A buffer for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferBinding {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// How the shader sees it.
    pub kind: BufferKind,
    /// Its contents before the run. An empty one is bound as four zero bytes.
    #[serde(with = "hex")]
    pub data: Vec<u8>,
}

/// One dispatch of a compute shader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComputeRun {
    /// At least the buffers the module uses; others are ignored.
    pub buffers: Vec<BufferBinding>,
    /// Push constants from offset 0; what is missing up to the device's limit reads as zero.
    #[serde(with = "hex")]
    pub push_constants: Vec<u8>,
    /// Workgroups in x, y and z.
    pub groups: [u32; 3],
}

/// A compute shader and the dispatches it is to do, independent of each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComputeJob {
    /// The module.
    #[serde(with = "hex::words")]
    pub spirv: Vec<u32>,
    /// The name of the entry point.
    pub entry: String,
    /// The dispatches.
    pub runs: Vec<ComputeRun>,
}

impl ComputeJob {
    /// One dispatch of `groups` workgroups on storage buffers of words at the given bindings of set 0; the entry point
    /// is `main`.
    pub fn on_words(spirv: Vec<u32>, buffers: &[(u32, Vec<u32>)], groups: u32) -> ComputeJob {
        let storage = |(binding, words): &(u32, Vec<u32>)| BufferBinding {
            set: 0,
            binding: *binding,
            kind: BufferKind::Storage,
            data: words.iter().flat_map(|w| w.to_le_bytes()).collect(),
        };
        let buffers = buffers.iter().map(storage).collect();
        let run = ComputeRun { buffers, push_constants: Vec::new(), groups: [groups, 1, 1] };
        ComputeJob { spirv, entry: "main".to_owned(), runs: vec![run] }
    }
}

/// A buffer that is an element of an array of descriptors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayElement {
    /// Which element; those that no job names are not bound.
    pub element: u32,
    /// The buffer, and where the array is bound.
    pub buffer: BufferBinding,
}

/// A buffer that a shader reaches by its address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressedBuffer {
    /// The byte of the push constants that its 64-bit address is written to.
    pub offset: u32,
    /// Its contents before the run.
    #[serde(with = "hex")]
    pub data: Vec<u8>,
    /// Addresses of other such buffers in its contents.
    #[serde(default)]
    pub addresses: Vec<AddressOf>,
}

/// An address of a buffer in the contents of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressOf {
    /// The byte of the contents that the 64-bit address is written to.
    pub at: u32,
    /// The buffer's number in [`BindlessJob::addressed`].
    pub buffer: u32,
    /// Bytes from its beginning.
    pub offset: u32,
}

/// One dispatch of a compute shader with arrays of descriptors and buffers by address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BindlessJob {
    /// The module.
    #[serde(with = "hex::words")]
    pub spirv: Vec<u32>,
    /// The name of the entry point.
    pub entry: String,
    /// Elements of arrays: at least those that the shader accesses, of each array that the module declares.
    pub elements: Vec<ArrayElement>,
    /// Buffers by address.
    pub addressed: Vec<AddressedBuffer>,
    /// Push constants from offset 0, with room for the addresses.
    #[serde(with = "hex")]
    pub push_constants: Vec<u8>,
    /// Workgroups in x, y and z.
    pub groups: [u32; 3],
}

/// The values of one vertex input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VertexInput {
    /// The input's location.
    pub location: u32,
    /// One four-component value for each vertex, as bits: of floats where the shader's input is a float, of integers
    /// where it is an integer. An input of fewer components takes the first ones.
    pub values: Vec<[u32; 4]>,
}

/// One draw of a vertex shader: each vertex once, as a point, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VertexRun {
    /// The number of vertices.
    pub vertices: u32,
    /// At least the inputs the shader has; others are ignored.
    pub inputs: Vec<VertexInput>,
    /// At least the buffers the module uses; others are ignored.
    pub buffers: Vec<BufferBinding>,
    /// Push constants from offset 0; what is missing up to the device's limit reads as zero.
    #[serde(with = "hex")]
    pub push_constants: Vec<u8>,
}

/// A vertex shader and the draws it is to do, independent of each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VertexJob {
    /// The module. Its entry point has the `Xfb` execution mode and outputs decorated with `XfbBuffer`, `XfbStride`
    /// and `Offset`.
    #[serde(with = "hex::words")]
    pub spirv: Vec<u32>,
    /// The name of the entry point.
    pub entry: String,
    /// The draws.
    pub runs: Vec<VertexRun>,
}

/// A stage of a pipeline that is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum PipelineStage {
    Vertex,
    TessControl,
    TessEval,
    Geometry,
    Fragment,
    Compute,
    Task,
    Mesh,
    RayGen,
    Miss,
    ClosestHit,
    AnyHit,
    Intersection,
    Callable,
}

/// What a descriptor is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DescriptorKind {
    /// A uniform buffer.
    Uniform,
    /// A storage buffer.
    Storage,
    /// A texture with its sampler.
    Texture,
    /// A texture alone.
    SampledImage,
    /// A sampler alone.
    Sampler,
    /// A buffer read as texels.
    TexelBuffer,
    /// A storage image.
    Image,
    /// A buffer read and written as texels.
    ImageBuffer,
}

/// A descriptor that a pipeline's modules use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DescriptorSlot {
    /// Descriptor set, below 8.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// What it is of.
    pub kind: DescriptorKind,
    /// Elements, at least one.
    pub count: u32,
}

/// A module of a pipeline; its entry point is `main`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageModule {
    /// Its stage.
    pub stage: PipelineStage,
    /// The module.
    #[serde(with = "hex::words")]
    pub spirv: Vec<u32>,
}

/// An input of a pipeline's vertex shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineInput {
    /// The input's location.
    pub location: u32,
    /// It is of integers, not of floats.
    pub integers: bool,
}

/// A pipeline that is built and not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineJob {
    /// Its stages: one that computes, or several that draw.
    pub stages: Vec<StageModule>,
    /// Every descriptor its modules use.
    pub descriptors: Vec<DescriptorSlot>,
    /// Inputs of the vertex shader.
    pub inputs: Vec<PipelineInput>,
    /// Colour targets by location: whether each is of integers.
    pub targets: Vec<bool>,
    /// What vertices make, unless there is a tessellator.
    pub topology: Topology,
    /// Vertices of a tessellator's patch.
    pub patch_vertices: u32,
}

/// What vertices in lists make.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Topology {
    Points,
    Lines,
    LinesAdjacency,
    #[default]
    Triangles,
    TrianglesAdjacency,
}

/// One draw with a pipeline, over colour targets of zeros.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderJob {
    /// The pipeline; it draws.
    pub pipeline: PipelineJob,
    /// For each of its descriptors, what each element is bound to.
    pub contents: Vec<Vec<Contents>>,
    /// For each of its inputs, a value for each vertex, as [`VertexInput::values`].
    pub inputs: Vec<Vec<[u32; 4]>>,
    /// Vertices of an instance; workgroups of a pipeline with a mesh shader.
    pub vertices: u32,
    /// Instances.
    pub instances: u32,
    /// Width and height of the targets.
    pub size: u32,
    /// Layers of the targets.
    pub layers: u32,
}

/// One dispatch of a compute shader with descriptors of any kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchJob {
    /// The module; its entry point is `main`.
    #[serde(with = "hex::words")]
    pub spirv: Vec<u32>,
    /// Every descriptor it uses.
    pub descriptors: Vec<DescriptorSlot>,
    /// For each descriptor, what each element is bound to.
    pub contents: Vec<Vec<Contents>>,
    /// Workgroups in x, y and z.
    pub groups: [u32; 3],
}

/// A geometry of a scene that rays are traced in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RayGeometry {
    /// Triangles, three corners each.
    Triangles(Vec<[[f32; 3]; 3]>),
    /// Boxes along the axes, their least and greatest corners.
    Boxes(Vec<[[f32; 3]; 2]>),
}

/// What is run for hits of a geometry: modules by number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HitGroup {
    /// For the nearest hit.
    pub closest: Option<usize>,
    /// For every candidate.
    pub any: Option<usize>,
    /// To find hits in boxes.
    pub intersection: Option<usize>,
}

/// Rays traced in a scene: by a pipeline for that, or by a compute shader with queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RayJob {
    /// A module that generates rays and others for rays, or one that computes.
    pub modules: Vec<StageModule>,
    /// The scene. Each geometry is an instance, its number by the application is its place, and so is its hit group's.
    pub scene: Vec<RayGeometry>,
    /// Hit groups.
    pub groups: Vec<HitGroup>,
    /// Set and binding of the scene.
    pub structure: (u32, u32),
    /// Storage buffers by set and binding; other buffers are refused.
    pub buffers: Vec<BufferBinding>,
    /// Invocations, or workgroups, along x, y and z.
    pub size: [u32; 3],
}

/// A frame of Y′CbCr, and how it is sampled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledFrame {
    /// Width and height in luma samples.
    pub size: [u32; 2],
    /// Planes: 2 with pairs of Cb and Cr in the second, or 3.
    pub planes: u32,
    /// Luma samples to a chroma sample along x and y: 1 or 2.
    pub subsampling: [u32; 2],
    /// Bits of a sample: 8, or 10, 12, 16, in the high bits of words.
    pub bits: u32,
    /// The planes one after the other, without gaps.
    #[serde(with = "hex")]
    pub data: Vec<u8>,
    /// The model, by Vulkan's number of it.
    pub model: u32,
    /// The range is narrow.
    pub narrow: bool,
    /// Along x and y: chroma lies half way between luma samples, not at the even ones.
    pub midpoint: [bool; 2],
    /// The filter is linear, not the nearest sample's.
    pub linear: bool,
    /// Chroma is brought to luma's resolution first.
    pub explicit: bool,
}

/// A frame that is sampled through the host's own conversion, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleJob {
    /// A compute module, its entry point `main`, of workgroups of one invocation, one for each texel along x and y. Its
    /// texture with sampler is at set 0, binding 0; at binding 1 is a storage buffer of 16 bytes for each texel.
    #[serde(with = "hex::words")]
    pub spirv: Vec<u32>,
    /// The frame.
    pub frame: SampledFrame,
}

/// Any kind of job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Job {
    /// Dispatches of a compute shader.
    Compute(ComputeJob),
    /// Draws with a vertex shader.
    Vertex(VertexJob),
    /// A pipeline that is built.
    Pipeline(PipelineJob),
    /// A pipeline that draws. Its only output has the targets, 16 bytes for each pixel, rows from the top and layer by
    /// layer, and after them what [`Job::Dispatch`] gives.
    Render(RenderJob),
    /// A dispatch with descriptors of any kind. Its only output has every element of its storage buffers, storage images
    /// and buffers of texels that are written, in the order of descriptors and in the sizes they were given; of a view
    /// nothing.
    Dispatch(DispatchJob),
    /// A dispatch with arrays of descriptors and buffers by address. Its only output has the elements' buffers and then
    /// those by address, in the order of the job.
    Bindless(BindlessJob),
    /// Rays. Its only output has the buffers.
    Ray(RayJob),
    /// A frame that is sampled. Its only output has the storage buffer.
    Sample(SampleJob),
}

/// What a dispatch or draw left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOutput {
    /// The contents of the run's buffers afterwards, in the order and sizes of the run.
    #[serde(with = "hex::list")]
    pub buffers: Vec<Vec<u8>>,
    /// Transform feedback buffer → what was captured; per vertex as many bytes as the buffer's stride. Bytes no output
    /// covers are zero. Empty for a dispatch.
    pub captures: BTreeMap<u32, Capture>,
    /// From handing the commands to the driver until it said they are done.
    pub elapsed: Duration,
}

impl RunOutput {
    /// The contents of the run's buffers as words; a rest of less than a word is dropped.
    pub fn words(&self) -> Vec<Vec<u32>> {
        let word = |b: &[u8; 4]| u32::from_le_bytes(*b);
        self.buffers.iter().map(|bytes| bytes.as_chunks().0.iter().map(word).collect()).collect()
    }
}

/// The contents of one transform feedback buffer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// Bytes per vertex.
    pub stride: u32,
    /// The captured bytes.
    #[serde(with = "hex")]
    pub data: Vec<u8>,
}
