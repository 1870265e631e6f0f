//! What a shader uses and binds.

use crate::gpu::{ConstantWord, Handle, InputPrimitive};
use serde::{Deserialize, Serialize};
use xenoglot_ir::imm::Dim;
use xenoglot_ir::module::{ImageFormat, Texel};

/// A shader's resources: what an emulator has to provide to run it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShaderInfo {
    /// Bit n: constant bank n is read.
    pub constant_banks: u32,
    /// Bytes of shared memory, those for reducing barriers included.
    pub shared_bytes: u32,
    /// Bytes of local memory of an invocation.
    pub local_bytes: u32,
    /// Invocations of a workgroup along x, y and z; zeros in graphics.
    pub workgroup: [u32; 3],
    /// Global memory is read.
    pub reads_global: bool,
    /// Global memory is written, atomically or not.
    pub writes_global: bool,
    /// Generic addresses are used: the windows of shared and local memory matter.
    pub generic_addresses: bool,
    /// Invocations of a warp exchange values (votes, shuffles, lane numbers).
    pub warp_operations: bool,
    /// Workgroup barriers are used.
    pub barriers: bool,
    /// Special registers read, by number, in order.
    pub special_registers: Vec<u8>,
    /// Textures, in the order of their bindings.
    #[serde(default)]
    pub textures: Vec<TextureBinding>,
    /// Images, in the order of their bindings.
    #[serde(default)]
    pub images: Vec<ImageBinding>,
    /// Storage buffers that global memory was bound to, in the order of their bindings.
    #[serde(default)]
    pub storage_buffers: Vec<StorageBinding>,
    /// The uniform buffer of scales, where [`scale_textures`](crate::lift::scale_textures) made the shader read one.
    #[serde(default)]
    pub scales: Option<u32>,
    /// Where the vertices of a compute shader lie that [`stage_to_compute`](crate::lift::stage_to_compute) made.
    #[serde(default)]
    pub compute_stage: Option<ComputeStage>,
    /// What the graphics pipeline passes in and out; none of a compute kernel.
    #[serde(default)]
    pub graphics: Option<GraphicsInfo>,
}

/// A storage buffer in the place of a part of global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageBinding {
    /// The lower of the two words with the address it begins at.
    pub address: ConstantWord,
    /// Binding in the descriptor set.
    pub binding: u32,
    /// It is written.
    pub written: bool,
}

/// A texture with its sampler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextureBinding {
    /// Where the program takes the handle from; of an array, the first.
    pub handle: Handle,
    /// Binding in the descriptor set.
    pub binding: u32,
    /// Handles in the array, 4 bytes apart, or elements of the table; none of a single texture.
    pub count: Option<u32>,
    /// Dimensions.
    #[serde(with = "dim")]
    pub dim: Dim,
    /// Has layers.
    pub arrayed: bool,
    /// Has samples.
    pub multisampled: bool,
    /// Its sampler compares.
    pub shadow: bool,
    /// What reading gives.
    #[serde(with = "texel")]
    pub texel: Texel,
    /// It is a cube whose faces are bound as layers
    /// ([`flatten_integer_cubes`](crate::lift::flatten_integer_cubes)).
    #[serde(default)]
    pub flat_cube: bool,
}

/// An image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageBinding {
    /// Where the program takes the handle from; of an array, the first.
    pub handle: Handle,
    /// Binding in the descriptor set.
    pub binding: u32,
    /// Handles in the array, 4 bytes apart, or elements of the table; none of a single image.
    #[serde(default)]
    pub count: Option<u32>,
    /// Dimensions.
    #[serde(with = "dim")]
    pub dim: Dim,
    /// Has layers.
    pub arrayed: bool,
    /// Format of the view to bind; raw accesses have one of integers as wide as they are.
    #[serde(with = "format")]
    pub format: ImageFormat,
    /// It is written.
    pub written: bool,
}

/// The vertices of a stage that is a compute shader.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComputeStage {
    /// Those a geometry shader takes; a vertex shader takes attributes.
    pub input: Option<Record>,
    /// Those that come out.
    pub output: Record,
}

/// A vertex as words one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Words of a vertex.
    pub words: u32,
    /// What they are.
    pub entries: Vec<RecordEntry>,
}

/// Something a vertex has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordEntry {
    /// What it is.
    pub key: RecordKey,
    /// The first of its words.
    pub offset: u32,
    /// Its words.
    pub words: u32,
}

/// What something of a vertex is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordKey {
    /// A component of a location.
    Location {
        /// The location.
        location: u32,
        /// The component.
        component: u8,
    },
    /// A builtin, by its name in the IR.
    Builtin(String),
}

/// A component of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Varying {
    /// The location: that of generic attribute n is n, those of legacy ones are as the state says.
    pub location: u32,
    /// Bits of the components used.
    pub components: u8,
    /// Belongs to the patch.
    pub patch: bool,
}

/// What a stage of the graphics pipeline passes in and out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphicsInfo {
    /// Attributes read.
    pub inputs: Vec<Varying>,
    /// Attributes and colour targets written.
    pub outputs: Vec<Varying>,
    /// Builtins read, by their names in the IR.
    pub builtin_inputs: Vec<String>,
    /// Builtins written, by their names in the IR.
    pub builtin_outputs: Vec<String>,
    /// Fragments may be discarded.
    pub discards: bool,
    /// Derivatives are used, by instructions or by the level of detail of a texture.
    pub derivatives: bool,
    /// What a geometry shader takes and makes.
    pub geometry: Option<GeometryInfo>,
}

/// What a geometry shader takes and makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeometryInfo {
    /// Primitives taken.
    pub input: InputPrimitive,
    /// Vertices of a primitive made: 1 of points, 2 of line strips, 3 of triangle strips.
    pub output_vertices: u32,
    /// Most vertices of an invocation.
    pub max_vertices: u32,
    /// Invocations per primitive.
    pub invocations: u32,
}

macro_rules! by_name {
    ($($module:ident $ty:ty;)+) => {$(
        mod $module {
            use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

            pub(super) fn serialize<S: Serializer>(v: &$ty, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(v.name())
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<$ty, D::Error> {
                let name = String::deserialize(d)?;
                <$ty>::parse(&name).ok_or_else(|| D::Error::custom("an unknown name"))
            }
        }
    )+};
}

by_name! {
    dim super::Dim;
    texel super::Texel;
    format super::ImageFormat;
}
