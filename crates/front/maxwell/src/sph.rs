//! The shader program header: 0x50 bytes before the code of a graphics program.
//!
//! Twenty little-endian words. Fields of words 0 to 4 are the same for all stages; the maps behind them come in two
//! layouts: type 1 (stages before the rasteriser) has one bit per component of an input and of an output, type 2
//! (pixels) two bits per component of an input.

use serde::Serialize;
use thiserror::Error;

/// Bytes of a header.
pub const SPH_BYTES: usize = 0x50;

/// A shader stage of the graphics pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Vertex.
    Vertex,
    /// Tessellation control.
    TessControl,
    /// Tessellation evaluation.
    TessEval,
    /// Geometry.
    Geometry,
    /// Pixel.
    Fragment,
}

impl Stage {
    /// A name for people.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Vertex => "vertex",
            Stage::TessControl => "tessellation control",
            Stage::TessEval => "tessellation evaluation",
            Stage::Geometry => "geometry",
            Stage::Fragment => "fragment",
        }
    }
}

/// What a geometry shader puts out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// Points.
    Points,
    /// Line strips.
    LineStrip,
    /// Triangle strips.
    TriangleStrip,
}

/// How an input of a pixel shader is interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    /// Not read.
    Unused,
    /// The provoking vertex's value.
    Flat,
    /// Perspective-correct.
    Perspective,
    /// Linear on the screen.
    Linear,
}

/// The map of attributes read or written by a stage before the rasteriser: one bit per component.
///
/// A map covers the attribute space from its start in steps of four bytes: bit n of `system` is the attribute at
/// `4 * n`, bits 4i to 4i+3 of `generics`, both words as one, are x to w of generic i at `0x80 + 16 * i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AttributeMap {
    /// Tessellation levels, primitive id, layer, viewport, point size, position: 0x000 to 0x07c.
    pub system: u32,
    /// Components of generic attributes 0 to 15 and 16 to 31.
    pub generics: [u64; 2],
    /// Colours front and back, diffuse and specular: 0x280 to 0x2bc.
    pub colors: u16,
    /// Clip distances, point coordinates, fog, tessellation coordinates, instance and vertex id: 0x2c0 to 0x2fc.
    pub late_system: u16,
    /// Components of fixed-function texture coordinates 0 to 9, 40 bits: 0x300 to 0x39c.
    pub texcoords: u64,
}

impl AttributeMap {
    /// Whether the attribute at a byte offset of the attribute space is named. Offsets are multiples of 4.
    pub fn has(&self, offset: u32) -> bool {
        let bit = |base: u32| (offset - base) / 4;
        match offset {
            0x000..0x080 => self.system >> bit(0) & 1 != 0,
            0x080..0x180 => self.generics[0] >> bit(0x080) & 1 != 0,
            0x180..0x280 => self.generics[1] >> bit(0x180) & 1 != 0,
            0x280..0x2c0 => self.colors >> bit(0x280) & 1 != 0,
            0x2c0..0x300 => self.late_system >> bit(0x2c0) & 1 != 0,
            0x300..0x3a0 => self.texcoords >> bit(0x300) & 1 != 0,
            _ => false,
        }
    }
}

/// What depends on the stage: inputs and outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Maps {
    /// Stages before the rasteriser.
    Vtg {
        /// Attributes read.
        inputs: AttributeMap,
        /// Attributes written.
        outputs: AttributeMap,
    },
    /// Pixels.
    Pixel {
        /// System values read, as in [`AttributeMap::system`].
        system: u32,
        /// System values read, as in [`AttributeMap::late_system`].
        late_system: u16,
        /// Two bits per component of generic attributes 0 to 31: [`Sph::interpolation`] reads them.
        generics: [u64; 4],
        /// Components of colour targets 0 to 7 written, four bits each.
        color_mask: u32,
        /// Writes the sample mask.
        sample_mask: bool,
        /// Writes the depth.
        depth: bool,
    },
}

/// A program header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sph {
    /// Version of the layout, 5 bits; 3 on these machines.
    pub version: u8,
    /// The stage.
    pub stage: Stage,
    /// Outputs of a pixel shader are packed by enabled targets.
    pub mrt_enable: bool,
    /// The program may kill pixels.
    pub kills_pixels: bool,
    /// Stores to global memory.
    pub global_store: bool,
    /// Version of the instruction set, 4 bits.
    pub sass_version: u8,
    /// A geometry shader that passes its input on.
    pub geometry_passthrough: bool,
    /// Loads or stores memory.
    pub load_or_store: bool,
    /// Computes with doubles.
    pub fp64: bool,
    /// Vertex streams written, 4 bits.
    pub stream_mask: u8,
    /// Bytes of local memory, low part, 24 bits.
    pub local_low_bytes: u32,
    /// Per-patch attributes.
    pub patch_attributes: u8,
    /// Bytes of local memory, high part, 24 bits.
    pub local_high_bytes: u32,
    /// Invocations per input primitive.
    pub threads_per_primitive: u8,
    /// Bytes of call stack, 24 bits.
    pub call_stack_bytes: u32,
    /// What a geometry shader puts out; other stages may leave anything here.
    pub topology: Option<Topology>,
    /// Most vertices a geometry shader puts out, 12 bits.
    pub max_output_vertices: u16,
    /// First attribute a tessellation control shader stores for others, in words.
    pub store_first: u8,
    /// Last such attribute.
    pub store_last: u8,
    /// Inputs and outputs.
    pub maps: Maps,
}

/// Why a header was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SphError {
    /// Fewer than 0x50 bytes.
    #[error("a program header has {SPH_BYTES:#x} bytes, here are {0:#x}")]
    Short(usize),
    /// The type is not 1 or 2.
    #[error("program headers of type {0} are not known")]
    Type(u32),
    /// The stage is none, or not one of headers of this type.
    #[error("stage {stage} in a program header of type {ty}")]
    Stage {
        /// The stage's number.
        stage: u32,
        /// The header's type.
        ty: u32,
    },
}

/// Bits `lo..lo + n` of the header, `n` at most 64.
fn bits(words: &[u32; SPH_BYTES / 4], lo: usize, n: usize) -> u64 {
    (0..n).fold(0, |out, i| {
        let at = lo + i;
        let bit = words.get(at / 32).map_or(0, |w| w >> (at % 32) & 1);
        out | u64::from(bit) << i
    })
}

/// First bit of the input map.
const INPUTS: usize = 5 * 32;
/// Bits of an input or output map of type 1.
const MAP_BITS: usize = 240;

fn map(words: &[u32; SPH_BYTES / 4], start: usize) -> AttributeMap {
    AttributeMap {
        system: bits(words, start, 32) as u32,
        generics: [32, 96].map(|at| bits(words, start + at, 64)),
        colors: bits(words, start + 160, 16) as u16,
        late_system: bits(words, start + 176, 16) as u16,
        texcoords: bits(words, start + 192, 40),
    }
}

impl Sph {
    /// Reads the first 0x50 bytes.
    ///
    /// # Errors
    /// Too few bytes, an unknown type, or a stage that headers of the type do not have.
    pub fn parse(bytes: &[u8]) -> Result<Sph, SphError> {
        let mut words = [0; SPH_BYTES / 4];
        let header = bytes.get(..SPH_BYTES).ok_or(SphError::Short(bytes.len()))?;
        for (to, from) in words.iter_mut().zip(header.as_chunks().0) {
            *to = u32::from_le_bytes(*from);
        }
        let field = |word: usize, lo: u32, n: u32| words[word] >> lo & ((1 << n) - 1);
        let flag = |word: usize, bit: u32| field(word, bit, 1) != 0;
        let (ty, stage) = (field(0, 0, 5), field(0, 10, 4));
        let stage = match (ty, stage) {
            (1, 1) => Stage::Vertex,
            (1, 2) => Stage::TessControl,
            (1, 3) => Stage::TessEval,
            (1, 4) => Stage::Geometry,
            (2, 5) => Stage::Fragment,
            (1 | 2, stage) => return Err(SphError::Stage { stage, ty }),
            (ty, _) => return Err(SphError::Type(ty)),
        };
        let maps = if stage == Stage::Fragment {
            Maps::Pixel {
                system: words[5],
                late_system: field(14, 16, 16) as u16,
                generics: std::array::from_fn(|i| bits(&words, INPUTS + 32 + 64 * i, 64)),
                color_mask: words[18],
                sample_mask: flag(19, 0),
                depth: flag(19, 1),
            }
        } else {
            Maps::Vtg { inputs: map(&words, INPUTS), outputs: map(&words, INPUTS + MAP_BITS) }
        };
        Ok(Sph {
            version: field(0, 5, 5) as u8,
            stage,
            mrt_enable: flag(0, 14),
            kills_pixels: flag(0, 15),
            global_store: flag(0, 16),
            sass_version: field(0, 17, 4) as u8,
            geometry_passthrough: flag(0, 24),
            load_or_store: flag(0, 26),
            fp64: flag(0, 27),
            stream_mask: field(0, 28, 4) as u8,
            local_low_bytes: field(1, 0, 24),
            patch_attributes: field(1, 24, 8) as u8,
            local_high_bytes: field(2, 0, 24),
            threads_per_primitive: field(2, 24, 8) as u8,
            call_stack_bytes: field(3, 0, 24),
            topology: match field(3, 24, 4) {
                1 => Some(Topology::Points),
                6 => Some(Topology::LineStrip),
                7 => Some(Topology::TriangleStrip),
                _ => None,
            },
            max_output_vertices: field(4, 0, 12) as u16,
            store_first: field(4, 12, 8) as u8,
            store_last: field(4, 24, 8) as u8,
            maps,
        })
    }

    /// How component 0 to 3 of generic attribute 0 to 31 of a pixel shader is interpolated; `Unused` for others.
    pub fn interpolation(&self, attribute: u32, component: u32) -> Interpolation {
        let Maps::Pixel { generics, .. } = self.maps else { return Interpolation::Unused };
        let word = generics.get(attribute as usize / 8).copied().unwrap_or(0);
        match word >> (attribute % 8 * 8 + component % 4 * 2) & 3 {
            0 => Interpolation::Unused,
            1 => Interpolation::Flat,
            2 => Interpolation::Perspective,
            _ => Interpolation::Linear,
        }
    }
}
