//! Maxwell programs and the GPU around them.

use super::{Translator, add_host, compile};
use crate::cache::{Cache, Found};
use crate::failure::Failure;
use crate::key::{Canonical, Key};
use crate::record::{Recorder, Recording, State, from_bytes, to_bytes};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xenoglot::maxwell::{Kind, Options, Program, lift_on};
use xenoglot::{Host, Options as CodeOptions};
use xenoglot_ir::imm::Dim;
use xenoglot_ir::module::{ImageFormat, Texel};
use xenoglot_maxwell::gpu::{
    AlphaTest, Captured, ConstantWord, DefaultGpu, GpuAccessor, Handle, InputPrimitive, Shape, Tessellator,
    Texture,
};
use xenoglot_maxwell::lift::{GlobalMemory, LiftOptions, Limits};
use xenoglot_maxwell::sph::Sph;

/// A question to the GPU. Their bytes are in stores: new ones go to the end, and a change of one that there is raises
/// the schema of [`InKeys`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Query {
    HandleBank,
    Texture(Handle),
    ArrayLength(Handle),
    ImageFormat(Handle),
    VertexAttribute(u32),
    ColorTarget(u32),
    InputPrimitive,
    Tessellator,
    EarlyFragmentTests,
    PerSample,
    Samples,
    MinusOneToOneDepth,
    FlipY,
    YDown,
    PointSize,
    AlphaTest,
    TwoSidedColors,
    LegacyLocation,
    NonuniformIndexing,
    DrawParameters,
    AlphaToCoverageDither,
    DualSourceBlend,
    WindowPositions,
    DrawConstants,
    LayerFromVertex,
    GatherBias,
    ScaledAttribute(u32),
    Captured(u32),
    ViewportMask,
}

/// A texture as an answer: names, where the IR has enumerations.
#[derive(Serialize, Deserialize)]
struct TextureAnswer {
    shape: Option<(String, bool, bool)>,
    texel: String,
    normalized: bool,
}

impl From<Texture> for TextureAnswer {
    fn from(texture: Texture) -> TextureAnswer {
        let Texture { shape, texel, normalized } = texture;
        let shape =
            shape.map(|Shape { dim, arrayed, multisampled }| (dim.name().into(), arrayed, multisampled));
        TextureAnswer { shape, texel: texel.name().into(), normalized }
    }
}

impl TextureAnswer {
    fn texture(&self) -> Option<Texture> {
        let shape = match &self.shape {
            None => None,
            Some((dim, arrayed, multisampled)) => {
                Some(Shape { dim: Dim::parse(dim)?, arrayed: *arrayed, multisampled: *multisampled })
            }
        };
        Some(Texture { shape, texel: Texel::parse(&self.texel)?, normalized: self.normalized })
    }
}

/// The answer of a GPU as bytes.
fn answer(gpu: &dyn GpuAccessor, query: Query) -> Option<Vec<u8>> {
    match query {
        Query::HandleBank => to_bytes(&gpu.handle_bank()),
        Query::Texture(handle) => to_bytes(&TextureAnswer::from(gpu.texture(handle))),
        Query::ArrayLength(handle) => to_bytes(&gpu.array_length(handle)),
        Query::ImageFormat(handle) => to_bytes(gpu.image_format(handle).name()),
        Query::VertexAttribute(location) => to_bytes(gpu.vertex_attribute(location).name()),
        Query::ColorTarget(target) => to_bytes(gpu.color_target(target).name()),
        Query::InputPrimitive => to_bytes(&gpu.input_primitive()),
        Query::Tessellator => to_bytes(&gpu.tessellator()),
        Query::EarlyFragmentTests => to_bytes(&gpu.early_fragment_tests()),
        Query::PerSample => to_bytes(&gpu.per_sample()),
        Query::Samples => to_bytes(&gpu.samples()),
        Query::MinusOneToOneDepth => to_bytes(&gpu.minus_one_to_one_depth()),
        Query::FlipY => to_bytes(&gpu.flip_y()),
        Query::YDown => to_bytes(&gpu.y_down()),
        // By their bits: there are several zeros and NaNs.
        Query::PointSize => to_bytes(&gpu.point_size().map(f32::to_bits)),
        Query::AlphaTest => to_bytes(&gpu.alpha_test().map(|(test, reference)| (test, reference.to_bits()))),
        Query::TwoSidedColors => to_bytes(&gpu.two_sided_colors()),
        Query::LegacyLocation => to_bytes(&gpu.legacy_location()),
        Query::NonuniformIndexing => to_bytes(&gpu.nonuniform_indexing()),
        Query::DrawParameters => to_bytes(&gpu.draw_parameters()),
        Query::AlphaToCoverageDither => to_bytes(&gpu.alpha_to_coverage_dither()),
        Query::DualSourceBlend => to_bytes(&gpu.dual_source_blend()),
        Query::WindowPositions => to_bytes(&gpu.window_positions().map(|size| size.map(f32::to_bits))),
        Query::DrawConstants => to_bytes(&gpu.draw_constants()),
        Query::LayerFromVertex => to_bytes(&gpu.layer_from_vertex()),
        Query::ViewportMask => to_bytes(&gpu.viewport_mask()),
        Query::GatherBias => to_bytes(&gpu.gather_bias()),
        Query::ScaledAttribute(location) => to_bytes(&gpu.scaled_attribute(location)),
        Query::Captured(buffer) => to_bytes(&gpu.captured(buffer)),
    }
}

/// A GPU whose state can be asked what was recorded.
pub struct GpuState<'a>(pub &'a dyn GpuAccessor);

impl State for GpuState<'_> {
    fn answer(&self, query: &[u8]) -> Option<Vec<u8>> {
        answer(self.0, from_bytes(query)?)
    }
}

/// A GPU whose answers are recorded.
pub struct Recorded<'a> {
    gpu: &'a dyn GpuAccessor,
    recorder: &'a Recorder,
}

impl<'a> Recorded<'a> {
    /// Records what `gpu` answers.
    pub fn new(gpu: &'a dyn GpuAccessor, recorder: &'a Recorder) -> Recorded<'a> {
        Recorded { gpu, recorder }
    }

    fn note(&self, query: Query) {
        self.recorder.note(&query, || answer(self.gpu, query));
    }
}

/// A GPU that answers as a recorded one did; what that one was not asked has the default answers.
pub struct Replayed<'a>(pub &'a Recording);

impl Replayed<'_> {
    fn get<T: DeserializeOwned>(&self, query: Query) -> Option<T> {
        from_bytes(&self.0.answer(&to_bytes(&query)?)?)
    }
}

/// The trait's methods, for both.
macro_rules! accessors {
    ($($method:ident($($argument:ident: $kind:ty)?) -> $result:ty = $query:ident, |$read:ident: $raw:ty| $make:expr;)*) => {
        impl GpuAccessor for Recorded<'_> {
            $(fn $method(&self $(, $argument: $kind)?) -> $result {
                self.note(Query::$query $(($argument))?);
                self.gpu.$method($($argument)?)
            })*
        }

        impl GpuAccessor for Replayed<'_> {
            $(fn $method(&self $(, $argument: $kind)?) -> $result {
                let read: Option<$raw> = self.get(Query::$query $(($argument))?);
                read.and_then(|$read| $make).unwrap_or_else(|| DefaultGpu.$method($($argument)?))
            })*
        }
    };
}

accessors! {
    handle_bank() -> u8 = HandleBank, |bank: u8| Some(bank);
    texture(handle: Handle) -> Texture = Texture, |texture: TextureAnswer| texture.texture();
    array_length(handle: Handle) -> Option<u32> = ArrayLength, |length: Option<u32>| Some(length);
    image_format(handle: Handle) -> ImageFormat = ImageFormat, |name: String| ImageFormat::parse(&name);
    vertex_attribute(location: u32) -> Texel = VertexAttribute, |name: String| Texel::parse(&name);
    color_target(target: u32) -> Texel = ColorTarget, |name: String| Texel::parse(&name);
    input_primitive() -> InputPrimitive = InputPrimitive, |primitive: InputPrimitive| Some(primitive);
    tessellator() -> Tessellator = Tessellator, |tessellator: Tessellator| Some(tessellator);
    early_fragment_tests() -> bool = EarlyFragmentTests, |early: bool| Some(early);
    per_sample() -> bool = PerSample, |per_sample: bool| Some(per_sample);
    samples() -> u32 = Samples, |samples: u32| Some(samples);
    minus_one_to_one_depth() -> bool = MinusOneToOneDepth, |depth: bool| Some(depth);
    flip_y() -> bool = FlipY, |flip: bool| Some(flip);
    y_down() -> bool = YDown, |down: bool| Some(down);
    point_size() -> Option<f32> = PointSize, |bits: Option<u32>| Some(bits.map(f32::from_bits));
    alpha_test() -> Option<(AlphaTest, f32)> = AlphaTest,
        |test: Option<(AlphaTest, u32)>| Some(test.map(|(test, bits)| (test, f32::from_bits(bits))));
    two_sided_colors() -> bool = TwoSidedColors, |two_sided: bool| Some(two_sided);
    legacy_location() -> u32 = LegacyLocation, |location: u32| Some(location);
    nonuniform_indexing() -> bool = NonuniformIndexing, |nonuniform: bool| Some(nonuniform);
    draw_parameters() -> bool = DrawParameters, |parameters: bool| Some(parameters);
    alpha_to_coverage_dither() -> bool = AlphaToCoverageDither, |dither: bool| Some(dither);
    dual_source_blend() -> bool = DualSourceBlend, |dual: bool| Some(dual);
    window_positions() -> Option<[f32; 2]> = WindowPositions,
        |size: Option<[u32; 2]>| Some(size.map(|size| size.map(f32::from_bits)));
    draw_constants() -> Option<ConstantWord> = DrawConstants, |word: Option<ConstantWord>| Some(word);
    layer_from_vertex() -> bool = LayerFromVertex, |layer: bool| Some(layer);
    viewport_mask() -> bool = ViewportMask, |mask: bool| Some(mask);
    gather_bias() -> Option<u8> = GatherBias, |bias: Option<u8>| Some(bias);
    scaled_attribute(location: u32) -> bool = ScaledAttribute, |scaled: bool| Some(scaled);
    captured(buffer: u32) -> Option<Captured> = Captured, |captured: Option<Captured>| Some(captured);
}

/// A program and how it is lifted, as they are in keys. What the GPU around it says is recorded instead.
#[derive(Serialize)]
struct InKeys<'a> {
    name: &'a str,
    kind: KindInKeys,
    code: &'a [u8],
    entry: u32,
    functions: &'a [u32],
    banks: &'a [(u32, &'a [u8])],
    unlinked_code: bool,
    unlinked_banks: &'a [u32],
}

#[derive(Serialize)]
enum KindInKeys {
    Compute { workgroup: Option<[u32; 3]>, shared_bytes: u32, local_bytes: u32 },
    Graphics(Box<Sph>),
}

impl Canonical for InKeys<'_> {
    const NAME: &'static str = "maxwell program";
    const SCHEMA: u16 = 2;
}

impl<'a> From<&'a Program<'a>> for InKeys<'a> {
    fn from(program: &'a Program<'a>) -> InKeys<'a> {
        // `registers` has no part in the code.
        let Program { name, kind, code, entry, registers: _, functions, banks, unlinked, gpu: _ } = program;
        InKeys {
            name,
            kind: match *kind {
                Kind::Compute { workgroup, shared_bytes, local_bytes } => {
                    KindInKeys::Compute { workgroup, shared_bytes, local_bytes }
                }
                Kind::Graphics(sph) => KindInKeys::Graphics(Box::new(sph)),
            },
            code,
            entry: *entry,
            functions,
            banks,
            unlinked_code: unlinked.code,
            unlinked_banks: &unlinked.banks,
        }
    }
}

#[derive(Serialize)]
struct OptionsInKeys {
    workgroup: [u32; 3],
    dynamic_shared_bytes: u32,
    stack_bytes: u32,
    global_base: u64,
    windows: [u32; 2],
    set: u32,
    limits: (u64, u32),
    storage_alignment: Option<u32>,
    flatten_integer_cubes: bool,
    scale_textures: bool,
    stages_to_compute: bool,
}

impl Canonical for OptionsInKeys {
    const NAME: &'static str = "maxwell options";
    const SCHEMA: u16 = 3;
}

impl From<&Options> for OptionsInKeys {
    fn from(options: &Options) -> OptionsInKeys {
        // A new field has to be considered here.
        let &Options {
            workgroup,
            dynamic_shared_bytes,
            stack_bytes,
            lift,
            storage_alignment,
            flatten_integer_cubes,
            scale_textures,
            stages_to_compute,
        } = options;
        let LiftOptions { global, shared_window, local_window, set, limits } = lift;
        let GlobalMemory::Window { base } = global;
        let Limits { max_nodes, max_depth } = limits;
        OptionsInKeys {
            workgroup,
            dynamic_shared_bytes,
            stack_bytes,
            global_base: base,
            windows: [shared_window, local_window],
            set,
            limits: (max_nodes as u64, max_depth),
            storage_alignment,
            flatten_integer_cubes,
            scale_textures,
            stages_to_compute,
        }
    }
}

/// The base key of a program's translations.
///
/// # Errors
/// A value that does not serialise; there is none.
pub fn base(
    program: &Program,
    before: Option<&Program>,
    options: &Options,
    host: &Host,
    code: &CodeOptions,
) -> Result<Key, Failure> {
    let mut key = Key::of("maxwell");
    key.value(&InKeys::from(program)).map_err(Failure::refused)?;
    key.number(before.is_some().into());
    if let Some(before) = before {
        key.value(&InKeys::from(before)).map_err(Failure::refused)?;
    }
    key.value(&OptionsInKeys::from(options)).map_err(Failure::refused)?;
    add_host(&mut key, host, code)?;
    Ok(key.finish())
}

/// A program's code for a host, from the cache if everything is as it was when it was made.
///
/// # Errors
/// The lifter's and the translator's, remembered or new.
pub fn translate(
    cache: &Cache,
    program: &Program,
    options: &Options,
    gpu: &dyn GpuAccessor,
    host: &Host,
    code: &CodeOptions,
) -> Found {
    let base = base(program, None, options, host, code)?;
    cache.translate(base, &GpuState(gpu), |recorder| {
        recorder.uses("maxwell");
        // The lifter makes and verifies IR, and runs two passes to find where addresses come from.
        ["translate", "ir", "opt/promote", "opt/copy_propagate"]
            .into_iter()
            .for_each(|part| recorder.uses(part));
        let lifted = lift_on(program, None, options, &Recorded::new(gpu, recorder));
        let mut module = lifted.map_err(Failure::refused)?.module;
        compile(&mut Translator::new(), recorder, &mut module, host, code)
    })
}
