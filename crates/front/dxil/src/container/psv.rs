//! `PSV0`: what a pipeline is checked by. Its structures grew with versions 0 to 4; a size in front of each says how
//! much of it there is.

use super::reader::{Reader, Words};
use super::signature::ComponentType;
use super::{ContainerError, Part};
pub use crate::model::ResourceKind;
use crate::model::ShaderKind;
use crate::number::numbered;
use serde::Serialize;

numbered! {
    /// What is bound.
    BindingType {
        0 Invalid "invalid",
        1 Sampler "sampler",
        2 Cbv "CBV",
        3 SrvTyped "SRV typed",
        4 SrvRaw "SRV raw",
        5 SrvStructured "SRV structured",
        6 UavTyped "UAV typed",
        7 UavRaw "UAV raw",
        8 UavStructured "UAV structured",
        9 UavStructuredWithCounter "UAV structured with counter",
    }
}

numbered! {
    /// The meaning of a semantic.
    SemanticKind {
        0 Arbitrary "arbitrary",
        1 VertexId "SV_VertexID",
        2 InstanceId "SV_InstanceID",
        3 Position "SV_Position",
        4 RenderTargetArrayIndex "SV_RenderTargetArrayIndex",
        5 ViewportArrayIndex "SV_ViewportArrayIndex",
        6 ClipDistance "SV_ClipDistance",
        7 CullDistance "SV_CullDistance",
        8 OutputControlPointId "SV_OutputControlPointID",
        9 DomainLocation "SV_DomainLocation",
        10 PrimitiveId "SV_PrimitiveID",
        11 GsInstanceId "SV_GSInstanceID",
        12 SampleIndex "SV_SampleIndex",
        13 IsFrontFace "SV_IsFrontFace",
        14 Coverage "SV_Coverage",
        15 InnerCoverage "SV_InnerCoverage",
        16 Target "SV_Target",
        17 Depth "SV_Depth",
        18 DepthLessEqual "SV_DepthLessEqual",
        19 DepthGreaterEqual "SV_DepthGreaterEqual",
        20 StencilRef "SV_StencilRef",
        21 DispatchThreadId "SV_DispatchThreadID",
        22 GroupId "SV_GroupID",
        23 GroupIndex "SV_GroupIndex",
        24 GroupThreadId "SV_GroupThreadID",
        25 TessFactor "SV_TessFactor",
        26 InsideTessFactor "SV_InsideTessFactor",
        27 ViewId "SV_ViewID",
        28 Barycentrics "SV_Barycentrics",
        29 ShadingRate "SV_ShadingRate",
        30 CullPrimitive "SV_CullPrimitive",
        31 StartVertexLocation "SV_StartVertexLocation",
        32 StartInstanceLocation "SV_StartInstanceLocation",
    }
}

numbered! {
    /// How an input is interpolated.
    Interpolation {
        0 Undefined "undefined",
        1 Constant "nointerpolation",
        2 Linear "linear",
        3 LinearCentroid "linear centroid",
        4 LinearNoPerspective "noperspective",
        5 LinearNoPerspectiveCentroid "noperspective centroid",
        6 LinearSample "linear sample",
        7 LinearNoPerspectiveSample "noperspective sample",
    }
}

numbered! {
    /// What a tessellator divides.
    TessellatorDomain {
        0 Undefined "undefined",
        1 IsoLine "isoline",
        2 Tri "tri",
        3 Quad "quad",
    }
}

numbered! {
    /// What a tessellator gives.
    TessellatorOutput {
        0 Undefined "undefined",
        1 Point "point",
        2 Line "line",
        3 TriangleCw "triangle_cw",
        4 TriangleCcw "triangle_ccw",
    }
}

numbered! {
    /// What a geometry or mesh shader gives; mesh shaders lines and triangles alone, by other numbers.
    OutputTopology {
        0 Undefined "undefined",
        1 PointList "points",
        2 LineList "lines",
        3 LineStrip "line strip",
        4 TriangleList "triangles",
        5 TriangleStrip "triangle strip",
    }
}

/// What only shaders of a kind have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StageFacts {
    /// Nothing, or nothing that can be told without the kind of shader.
    None,
    /// Vertex.
    Vertex {
        /// It writes a position.
        writes_position: bool,
    },
    /// Hull.
    Hull {
        /// Control points of a patch that comes in.
        input_points: u32,
        /// Control points of a patch that goes out.
        output_points: u32,
        /// What the tessellator divides.
        domain: TessellatorDomain,
        /// What it gives.
        output: TessellatorOutput,
    },
    /// Domain.
    Domain {
        /// Control points of a patch.
        input_points: u32,
        /// It writes a position.
        writes_position: bool,
        /// What the tessellator divided.
        domain: TessellatorDomain,
    },
    /// Geometry.
    Geometry {
        /// 1 point, 2 line, 3 triangle, 6 and 7 those with adjacency, 8 to 39 patches of 1 to 32 control points.
        input_primitive: u32,
        /// What it gives.
        topology: OutputTopology,
        /// Streams it writes, a bit each.
        streams: u32,
        /// It writes a position.
        writes_position: bool,
        /// Most vertices it gives; 0 before version 1.
        max_vertices: u16,
    },
    /// Pixel.
    Pixel {
        /// It writes depth.
        writes_depth: bool,
        /// It runs per sample.
        per_sample: bool,
    },
    /// Mesh.
    Mesh {
        /// Bytes of group-shared memory.
        shared_bytes: u32,
        /// Those that depend on the view.
        shared_bytes_by_view: u32,
        /// Bytes of the payload.
        payload_bytes: u32,
        /// Most vertices of a group.
        max_vertices: u16,
        /// Most primitives of a group.
        max_primitives: u16,
        /// What it gives; undefined before version 1.
        topology: OutputTopology,
    },
    /// Amplification.
    Amplification {
        /// Bytes of the payload.
        payload_bytes: u32,
    },
}

/// A range of registers a shader uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Binding {
    /// What is bound.
    pub ty: BindingType,
    /// Register space.
    pub space: u32,
    /// First register.
    pub lower: u32,
    /// Last register; all ones if unbounded.
    pub upper: u32,
    /// Its shape, from version 2 on.
    pub kind: Option<ResourceKind>,
    /// Whether 64-bit atomics use it, from version 2 on.
    pub atomics_64: Option<bool>,
}

/// An element of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ElementFacts<'a> {
    /// The semantic's name; empty for system values.
    pub semantic: &'a str,
    /// The semantic's indices, one for each row.
    pub indices: Words<'a>,
    /// The first row and column of its register, if it has one.
    pub place: Option<(u8, u8)>,
    /// Columns: 1 to 4.
    pub columns: u8,
    /// The semantic's meaning.
    pub kind: SemanticKind,
    /// The type of its components.
    pub component_type: ComponentType,
    /// How it is interpolated.
    pub interpolation: Interpolation,
    /// Columns that are indexed dynamically, a bit each.
    pub dynamic_mask: u8,
    /// The geometry shader's stream it goes to: 0 to 3.
    pub stream: u8,
}

/// Which components of outputs depend on what: a mask of words for each component of inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dependencies<'a> {
    /// Registers of outputs.
    pub vectors: u8,
    /// The masks; bit 4 × register + component of each.
    pub masks: Words<'a>,
}

impl<'a> Dependencies<'a> {
    /// Words of a mask: a register has four bits.
    const fn words(vectors: u8) -> u64 {
        (vectors as u64).div_ceil(8)
    }

    fn read(at: &mut Reader<'a>, inputs: u64, vectors: u8) -> Result<Dependencies<'a>, ContainerError> {
        let words = Self::words(vectors) * inputs;
        Ok(Dependencies { vectors, masks: Words(at.words(words, "dependencies")?) })
    }

    /// Whether output component `output` depends on input component `input`.
    pub fn depends(&self, input: usize, output: usize) -> bool {
        let words = Self::words(self.vectors) as usize;
        let inside = output < usize::from(self.vectors) * 4;
        let word = input.checked_mul(words).and_then(|at| self.masks.get(at.checked_add(output / 32)?));
        inside && word.is_some_and(|word| word >> (output % 32) & 1 != 0)
    }
}

/// The part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PipelineValidation<'a> {
    /// 0 to 4, by its size.
    pub version: u8,
    /// The kind of shader, from version 1 on.
    pub kind: Option<ShaderKind>,
    /// What only such shaders have.
    pub stage: StageFacts,
    /// Lanes a wave must have at least; 0 if it does not matter.
    pub min_wave_lanes: u32,
    /// Lanes a wave may have at most; all ones if it does not matter.
    pub max_wave_lanes: u32,
    /// It uses the number of the view.
    pub uses_view_id: bool,
    /// Invocations of a group along x, y and z, from version 2 on.
    pub group_size: Option<[u32; 3]>,
    /// The entry point, from version 3 on.
    pub entry: Option<&'a str>,
    /// Bytes of group-shared memory, from version 4 on.
    pub shared_bytes: Option<u32>,
    /// What is bound.
    pub bindings: Vec<Binding>,
    /// Inputs.
    pub inputs: Vec<ElementFacts<'a>>,
    /// Outputs.
    pub outputs: Vec<ElementFacts<'a>>,
    /// Patch constants, or a mesh shader's outputs per primitive.
    pub patch_constants: Vec<ElementFacts<'a>>,
    /// Outputs of each stream that depend on the view: one input.
    pub view_to_outputs: [Dependencies<'a>; 4],
    /// Patch constants or primitives' outputs that depend on the view: one input.
    pub view_to_patch_constants: Dependencies<'a>,
    /// Outputs of each stream that depend on inputs.
    pub inputs_to_outputs: [Dependencies<'a>; 4],
    /// A hull shader's patch constants that depend on inputs.
    pub inputs_to_patch_constants: Dependencies<'a>,
    /// A domain shader's outputs that depend on patch constants.
    pub patch_constants_to_outputs: Dependencies<'a>,
}

/// The sizes of versions 0 to 4.
const SIZES: [u32; 5] = [24, 36, 48, 52, 56];
/// Bytes of a binding before version 2.
const BINDING: u64 = 16;
/// Bytes of an element.
const ELEMENT: u64 = 16;

/// How many there are of what; zero before version 1.
#[derive(Default)]
struct Counts {
    inputs: u8,
    outputs: u8,
    patch_constants: u8,
    input_vectors: u8,
    patch_vectors: u8,
    output_vectors: [u8; 4],
}

/// Reads the part. The kind of shader, if it is known, tells what version 0 leaves open.
pub(super) fn parse<'a>(
    part: &Part<'a>,
    kind: Option<ShaderKind>,
) -> Result<PipelineValidation<'a>, ContainerError> {
    let mut at = part.reader();
    let mut info = at.sized("pipeline facts")?;
    let size = info.left() as u32;
    let version = SIZES.partition_point(|&s| s <= size).checked_sub(1);
    let version = version.ok_or_else(|| info.bad(4, "size of pipeline facts", size))? as u8;
    let union: Reader = info.seek(0, "stage")?;
    info.skip(16, "stage")?;
    let min_wave_lanes = info.u32("lanes")?;
    let max_wave_lanes = info.u32("lanes")?;
    let (mut stored_kind, mut uses_view_id, mut counts) = (None, false, Counts::default());
    let mut extra = [0; 2];
    if version >= 1 {
        let number = info.u8("kind of shader")?;
        stored_kind = ShaderKind::from_number(number.into());
        if stored_kind.is_none() {
            return Err(info.bad(1, "kind of shader", number));
        }
        uses_view_id = info.u8("use of views")? != 0;
        extra = info.array("stage")?;
        counts = Counts {
            inputs: info.u8("inputs")?,
            outputs: info.u8("outputs")?,
            patch_constants: info.u8("patch constants")?,
            input_vectors: info.u8("input registers")?,
            patch_vectors: extra[0],
            output_vectors: info.array("output registers")?,
        };
    }
    let group_size = match version {
        0 | 1 => None,
        _ => Some([info.u32("group size")?, info.u32("group size")?, info.u32("group size")?]),
    };
    let entry = if version >= 3 { Some(info.u32("entry point")?) } else { None };
    let shared_bytes = if version >= 4 { Some(info.u32("shared memory")?) } else { None };
    let kind = stored_kind.or(kind);
    let stage = stage_facts(union, kind, version, extra)?;
    let bindings = bindings(&mut at, part.data.len())?;

    let mut facts = PipelineValidation {
        version,
        kind: stored_kind,
        stage,
        min_wave_lanes,
        max_wave_lanes,
        uses_view_id,
        group_size,
        entry: None,
        shared_bytes,
        bindings,
        inputs: Vec::new(),
        outputs: Vec::new(),
        patch_constants: Vec::new(),
        view_to_outputs: Default::default(),
        view_to_patch_constants: Dependencies::default(),
        inputs_to_outputs: Default::default(),
        inputs_to_patch_constants: Dependencies::default(),
        patch_constants_to_outputs: Dependencies::default(),
    };
    if version == 0 {
        return Ok(facts);
    }
    let strings = at.sized("names")?;
    let count = at.u32("number of indices")?;
    let indices = at.words(count.into(), "indices")?;
    let name = |offset: u32| strings.seek(offset.into(), "name")?.text("name");
    facts.entry = entry.map(name).transpose()?;
    if [counts.inputs, counts.outputs, counts.patch_constants] != [0; 3] {
        let size = at.u32("size of an element")?;
        if u64::from(size) < ELEMENT {
            return Err(at.bad(4, "size of an element", size));
        }
        let mut list = |count: u8| -> Result<Vec<_>, ContainerError> {
            (0..count).map(|_| element(at.part(size, "element")?, strings, indices)).collect()
        };
        facts.inputs = list(counts.inputs)?;
        facts.outputs = list(counts.outputs)?;
        facts.patch_constants = list(counts.patch_constants)?;
    }
    facts.read_dependencies(&mut at, kind, &counts)?;
    Ok(facts)
}

fn stage_facts(
    mut at: Reader,
    kind: Option<ShaderKind>,
    version: u8,
    extra: [u8; 2],
) -> Result<StageFacts, ContainerError> {
    let what = "stage";
    Ok(match kind {
        Some(ShaderKind::Vertex) => StageFacts::Vertex { writes_position: at.u8(what)? != 0 },
        Some(ShaderKind::Hull) => StageFacts::Hull {
            input_points: at.u32(what)?,
            output_points: at.u32(what)?,
            domain: at.number("tessellator domain", TessellatorDomain::from_number)?,
            output: at.number("tessellator output", TessellatorOutput::from_number)?,
        },
        Some(ShaderKind::Domain) => StageFacts::Domain {
            input_points: at.u32(what)?,
            writes_position: at.u32(what)? & 0xff != 0,
            domain: at.number("tessellator domain", TessellatorDomain::from_number)?,
        },
        Some(ShaderKind::Geometry) => StageFacts::Geometry {
            input_primitive: at.u32(what)?,
            topology: at.number("topology", OutputTopology::from_number)?,
            streams: at.u32(what)?,
            writes_position: at.u8(what)? != 0,
            max_vertices: u16::from_le_bytes(extra),
        },
        Some(ShaderKind::Pixel) => {
            StageFacts::Pixel { writes_depth: at.u8(what)? != 0, per_sample: at.u8(what)? != 0 }
        }
        Some(ShaderKind::Mesh) => StageFacts::Mesh {
            shared_bytes: at.u32(what)?,
            shared_bytes_by_view: at.u32(what)?,
            payload_bytes: at.u32(what)?,
            max_vertices: at.u16(what)?,
            max_primitives: at.u16(what)?,
            topology: match (version, extra[1]) {
                (0, _) | (_, 0) => OutputTopology::Undefined,
                (_, 1) => OutputTopology::LineList,
                (_, 2) => OutputTopology::TriangleList,
                (_, other) => return Err(at.bad(0, "topology", other)),
            },
        },
        Some(ShaderKind::Amplification) => StageFacts::Amplification { payload_bytes: at.u32(what)? },
        _ => StageFacts::None,
    })
}

fn bindings(at: &mut Reader, bytes: usize) -> Result<Vec<Binding>, ContainerError> {
    let count = at.count("bindings", bytes as u64 / BINDING)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let size = at.u32("size of a binding")?;
    if u64::from(size) < BINDING {
        return Err(at.bad(4, "size of a binding", size));
    }
    (0..count)
        .map(|_| {
            let mut at = at.part(size, "binding")?;
            let ty = at.number("type of binding", BindingType::from_number)?;
            let (space, lower, upper) = (at.u32("space")?, at.u32("register")?, at.u32("register")?);
            let (mut kind, mut atomics_64) = (None, None);
            if at.left() >= 8 {
                kind = Some(at.number("kind of resource", ResourceKind::from_number)?);
                atomics_64 = Some(at.u32("flags")? & 1 != 0);
            }
            Ok(Binding { ty, space, lower, upper, kind, atomics_64 })
        })
        .collect()
}

fn element<'a>(
    mut at: Reader<'a>,
    strings: Reader<'a>,
    indices: &'a [[u8; 4]],
) -> Result<ElementFacts<'a>, ContainerError> {
    let semantic = strings.seek(at.u32("offset of a name")?.into(), "name")?.text("name")?;
    let first = at.u32("first index")?;
    let rows = at.u8("rows")?;
    let start = usize::try_from(first).ok();
    let range = start.and_then(|start| indices.get(start..)?.get(..rows.into()));
    let indices = Words(range.ok_or_else(|| at.bad(5, "first index", first))?);
    let row = at.u8("row")?;
    let columns = at.u8("columns")?;
    let kind = at.byte("semantic", SemanticKind::from_number)?;
    let component_type = at.byte("component type", ComponentType::from_number)?;
    let interpolation = at.byte("interpolation", Interpolation::from_number)?;
    let mask_and_stream = at.u8("mask")?;
    Ok(ElementFacts {
        semantic,
        indices,
        place: (columns & 0x40 != 0).then_some((row, columns >> 4 & 3)),
        columns: columns & 15,
        kind,
        component_type,
        interpolation,
        dynamic_mask: mask_and_stream & 15,
        stream: mask_and_stream >> 4 & 3,
    })
}

impl<'a> PipelineValidation<'a> {
    fn read_dependencies(
        &mut self,
        at: &mut Reader<'a>,
        kind: Option<ShaderKind>,
        counts: &Counts,
    ) -> Result<(), ContainerError> {
        let hull = kind == Some(ShaderKind::Hull);
        // Geometry shaders have the number of vertices in its place, others nothing.
        let patch = matches!(kind, Some(ShaderKind::Hull | ShaderKind::Domain | ShaderKind::Mesh));
        let patch_vectors = if patch { counts.patch_vectors } else { 0 };
        let outputs = counts.output_vectors;
        if self.uses_view_id {
            for (masks, vectors) in self.view_to_outputs.iter_mut().zip(outputs) {
                *masks = Dependencies::read(at, 1, vectors)?;
            }
            if hull || kind == Some(ShaderKind::Mesh) {
                self.view_to_patch_constants = Dependencies::read(at, 1, patch_vectors)?;
            }
        }
        let inputs = u64::from(counts.input_vectors) * 4;
        for (masks, vectors) in self.inputs_to_outputs.iter_mut().zip(outputs) {
            *masks = Dependencies::read(at, inputs, vectors)?;
        }
        if hull {
            self.inputs_to_patch_constants = Dependencies::read(at, inputs, patch_vectors)?;
        }
        if kind == Some(ShaderKind::Domain) {
            let inputs = u64::from(patch_vectors) * 4;
            self.patch_constants_to_outputs = Dependencies::read(at, inputs, outputs[0])?;
        }
        Ok(())
    }
}
