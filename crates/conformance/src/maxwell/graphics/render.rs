//! A shader and the source it was made from, drawn with the same stages around them and the same contents, and compared.

use super::contents::{Filling, Floats};
use super::pipeline::{Engine, descriptors, topology};
use super::source::{Declarations, Opaque, SAMPLER_BYTES, Tessellation, Varying};
use super::{Shader, contents, images, near, reference, stage, words};
use xenoglot::maxwell;
use xenoglot_ir::module::Texel;
use xenoglot_maxwell::gpu::TessDomain;
use xenoglot_maxwell::info::TextureBinding;
use xenoglot_maxwell::lift::{Lifted, layout};
use xenoglot_vulkan::glslang::{self, Stage};
use xenoglot_vulkan::{
    Contents, DescriptorKind, DescriptorSlot, DispatchJob, Job, PipelineInput, PipelineJob, PipelineStage,
    RenderJob, StageModule, Topology,
};

/// Width and height of targets.
const SIZE: u32 = 64;
/// Layers of targets: as many as faces of a cube.
const LAYERS: u32 = 6;
/// Quads on a side of the mesh that vertex shaders get.
const QUADS: u32 = 6;
/// Most vertices of a patch.
const MAX_PATCH: u32 = 32;
/// Workgroups of a compute shader.
const GROUPS: u32 = 2;
/// Descriptors with what each element is bound to.
type Bindings = Vec<(DescriptorSlot, Vec<Contents>)>;

/// A stage with what it binds.
struct Part {
    module: StageModule,
    bindings: Bindings,
}

fn pipeline_stage(of: Stage) -> PipelineStage {
    match of {
        Stage::Vertex => PipelineStage::Vertex,
        Stage::TessControl => PipelineStage::TessControl,
        Stage::TessEvaluation => PipelineStage::TessEval,
        Stage::Geometry => PipelineStage::Geometry,
        Stage::Fragment => PipelineStage::Fragment,
        Stage::Compute => PipelineStage::Compute,
    }
}

/// A stage written here.
fn stub(source: &str, of: Stage) -> Result<Part, String> {
    let spirv = glslang::compile(source, of).map_err(|e| format!("{e}\n{source}"))?;
    Ok(Part { module: StageModule { stage: pipeline_stage(of), spirv }, bindings: Vec::new() })
}

/// The stage of a source, whose descriptors are in this set.
fn source(shader: &Shader, set: u32, filling: Filling) -> Result<Part, String> {
    let text = reference::for_vulkan(&shader.source);
    let mut part = stub(&text, shader.stage).map_err(|e| format!("its source: {e}"))?;
    reference::bind(&mut part.module.spirv, set)?;
    let slot = |binding, kind, count| DescriptorSlot { set, binding, kind, count };
    for block in &shader.declarations.blocks {
        let (base, kind) = match block.storage {
            true => (reference::STORAGE, DescriptorKind::Storage),
            false => (0, DescriptorKind::Uniform),
        };
        let bytes = Contents::Buffer(contents::block(block, filling));
        let elements = vec![bytes; block.count as usize];
        part.bindings.push((slot(base + block.binding, kind, block.count), elements));
    }
    for sampler in &shader.declarations.samplers {
        let elements: Vec<Contents> = (0..sampler.count).map(|e| contents::texture(sampler, e)).collect();
        let kind = match elements[..] {
            [Contents::Texels(..), ..] => DescriptorKind::TexelBuffer,
            _ => DescriptorKind::Texture,
        };
        part.bindings.push((slot(reference::SAMPLER + sampler.binding, kind, sampler.count), elements));
    }
    for image in &shader.declarations.images {
        let elements = images::of_source(image)?;
        let kind = match elements[..] {
            [Contents::Texels(..), ..] => DescriptorKind::ImageBuffer,
            _ => DescriptorKind::Image,
        };
        part.bindings.push((slot(reference::IMAGE + image.binding, kind, image.count), elements));
    }
    Ok(part)
}

/// The translation of a shader.
fn translation(shader: &Shader, lifted: &Lifted, spirv: Vec<u32>, filling: Filling) -> Result<Part, String> {
    let bindings = descriptors(&lifted.module)
        .into_iter()
        .map(|slot| Ok((slot, elements(shader, lifted, slot, filling)?)))
        .collect::<Result<_, String>>()?;
    Ok(Part { module: StageModule { stage: pipeline_stage(shader.stage), spirv }, bindings })
}

/// What the elements of a translation's descriptor are bound to.
fn elements(
    shader: &Shader,
    lifted: &Lifted,
    slot: DescriptorSlot,
    filling: Filling,
) -> Result<Vec<Contents>, String> {
    let base = stage(&shader.name).map_or(0, |s| s.1);
    let blocks = &shader.declarations.blocks;
    match slot.kind {
        DescriptorKind::Storage => Ok(vec![Contents::Buffer(contents::memory(blocks, filling))]),
        DescriptorKind::Uniform => {
            let bank = slot.binding.wrapping_sub(layout::bank_binding(0));
            let mut data = match bank {
                0 => {
                    let groups = (shader.stage == Stage::Compute).then_some([GROUPS, 1, 1]);
                    contents::driver_bank(base, blocks, groups)
                }
                1 => compiler_constants(shader)?,
                _ => {
                    let places = contents::places(blocks);
                    let found = places.iter().find(|p| !p.block.storage && p.binding + 2 == bank);
                    contents::block(found.ok_or(format!("no block is constant bank {bank}"))?.block, filling)
                }
            };
            data.resize(layout::BANK_SIZE as usize, 0);
            Ok(vec![Contents::Buffer(data)])
        }
        DescriptorKind::Texture | DescriptorKind::TexelBuffer => {
            let texture = lifted.info.textures.iter().find(|t| t.binding == slot.binding);
            let texture = texture.ok_or("a texture that its description does not have")?;
            let handle = |n: u32| texture.handle.texture.offset.wrapping_add(4 * n);
            Ok((0..slot.count).map(|n| behind(shader, base, handle(n), texture)).collect())
        }
        DescriptorKind::Image | DescriptorKind::ImageBuffer => {
            images::of_translation(&shader.declarations, lifted, slot, base)
        }
        DescriptorKind::SampledImage | DescriptorKind::Sampler => {
            Err("this machine's textures come with their samplers".into())
        }
    }
}

/// The texture behind a handle at an offset of the driver's bank.
///
/// How long a table of handles is, code does not tell: where the source declares none, or one of another shape, is some
/// texture that nothing reads.
fn behind(shader: &Shader, base: u32, offset: u32, seen: &TextureBinding) -> Contents {
    let n = offset.wrapping_sub(base) / 4;
    let shape = (seen.dim, seen.arrayed, seen.multisampled);
    let Declarations { samplers, images, .. } = &shader.declarations;
    let is_declared = |o: &&Opaque, first: u32| {
        let first = first.saturating_add(o.binding);
        o.shape == shape && (first..first.saturating_add(o.count)).contains(&n)
    };
    if let Some(image) = images.iter().find(|i| is_declared(i, SAMPLER_BYTES / 4)) {
        return images::sized(image);
    }
    match samplers.iter().find(|s| is_declared(s, 0) && s.texel == seen.texel && s.shadow == seen.shadow) {
        Some(sampler) => contents::texture(sampler, n - sampler.binding),
        None => contents::any_texture(seen),
    }
}

fn compiler_constants(shader: &Shader) -> Result<Vec<u8>, String> {
    let programs = maxwell::load(&shader.dksh).map_err(|e| e.to_string())?;
    let banks = programs.first().map(|p| &p.banks[..]).unwrap_or_default();
    // Nothing but zeros is room for which way rows are counted; 1 is downwards.
    let given = banks.iter().find(|b| b.0 == 1).map(|b| b.1.to_vec());
    Ok(given.filter(|data| data.iter().any(|&b| b != 0)).unwrap_or_else(|| 1f32.to_le_bytes().to_vec()))
}

/// How a pipeline around a shader is drawn.
struct Scene {
    /// Stages beside the shader.
    others: Vec<Part>,
    inputs: Vec<PipelineInput>,
    values: Vec<Vec<[u32; 4]>>,
    targets: Vec<bool>,
    vertices: u32,
    instances: u32,
    layers: u32,
    topology: Topology,
    patch_vertices: u32,
}

/// Whether a stage gives all that the next one takes.
fn feeds(before: &Declarations, after: &Declarations) -> bool {
    [false, true].into_iter().all(|patch| {
        let given = before.interface(true, patch);
        after.interface(false, patch).iter().all(|v| {
            let fits =
                |g: &Varying| g.location == v.location && g.components >= v.components && g.texel == v.texel;
            given.iter().any(fits)
        })
    })
}

/// The stages around a shader; `shaders` is where the other half of a tessellator comes from, if it has one that suits.
fn scene(shader: &Shader, shaders: &[Shader], filling: Filling) -> Result<Scene, String> {
    let declarations = &shader.declarations;
    let (inputs, outputs) = (declarations.interface(false, false), declarations.interface(true, false));
    let mut scene = Scene {
        others: Vec::new(),
        inputs: Vec::new(),
        values: Vec::new(),
        targets: vec![false; outputs.len().max(1)],
        vertices: 6,
        instances: 1,
        layers: if declarations.layered { LAYERS } else { 1 },
        topology: Topology::Triangles,
        patch_vertices: 3,
    };
    let other = |wanted: Stage, suits: &dyn Fn(&Declarations) -> bool| {
        shaders.iter().find(|s| s.stage == wanted && suits(&s.declarations))
    };
    match shader.stage {
        Stage::Vertex => {
            scene.vertices = 6 * QUADS * QUADS;
            scene.instances = 4;
            for input in &inputs {
                let integers = input.texel != Texel::Float;
                scene.inputs.push(PipelineInput { location: input.location, integers });
                scene.values.push((0..scene.vertices).map(|n| attribute(input, n)).collect());
            }
        }
        Stage::TessControl => {
            let Tessellation { made, read, outer, .. } = declarations.tessellation;
            scene.set_patch(made.max(read));
            scene.others.push(stub(&reference::vertex(&inputs, scene.patch_vertices), Stage::Vertex)?);
            let suits = |after: &Declarations| feeds(declarations, after) && after.tessellation.read <= made;
            let last = match other(Stage::TessEvaluation, &suits) {
                Some(other) => {
                    scene.others.push(source(other, reference::SET + 1, filling)?);
                    other.declarations.interface(true, false)
                }
                None => {
                    let patch = declarations.interface(true, true);
                    let domain = match outer {
                        4 => TessDomain::Quads,
                        2 => TessDomain::Isolines,
                        _ => TessDomain::Triangles,
                    };
                    let text = reference::evaluation(&outputs, &patch, domain, made);
                    scene.others.push(stub(&text, Stage::TessEvaluation)?);
                    reference::evaluated(&outputs, &patch)
                }
            };
            scene.targets = vec![false; last.len().max(1)];
            scene.others.push(stub(&reference::fragment(&last), Stage::Fragment)?);
            return Ok(scene);
        }
        Stage::TessEvaluation => {
            let Tessellation { domain, read, .. } = declarations.tessellation;
            let corners = match domain {
                TessDomain::Isolines => 2,
                TessDomain::Triangles => 3,
                TessDomain::Quads => 4,
            };
            let suits = |before: &Declarations| {
                feeds(before, declarations) && before.tessellation.made >= read.max(1)
            };
            let before = match other(Stage::TessControl, &suits) {
                Some(other) => {
                    let Tessellation { made, read, .. } = other.declarations.tessellation;
                    scene.set_patch(made.max(read));
                    scene.others.push(source(other, reference::SET + 1, filling)?);
                    other.declarations.interface(false, false)
                }
                None => {
                    scene.set_patch(corners.max(read));
                    let patch = declarations.interface(false, true);
                    let text = reference::control(&inputs, &patch, scene.patch_vertices);
                    scene.others.push(stub(&text, Stage::TessControl)?);
                    inputs
                }
            };
            scene.others.push(stub(&reference::vertex(&before, scene.patch_vertices), Stage::Vertex)?);
        }
        Stage::Geometry => {
            scene.topology = topology(declarations.primitive);
            scene.layers = LAYERS;
            // Whole primitives of each kind.
            scene.vertices = 12;
            scene.others.push(stub(&reference::vertex(&inputs, 3), Stage::Vertex)?);
        }
        Stage::Fragment => {
            let last = outputs.iter().map(|v| v.location + 1).max().unwrap_or(0);
            let integers = |n| outputs.iter().any(|v| v.location == n && v.texel != Texel::Float);
            scene.targets = (0..last).map(integers).collect();
            scene.others.push(stub(&reference::vertex(&inputs, 3), Stage::Vertex)?);
            return Ok(scene);
        }
        Stage::Compute => return Err("a compute shader draws nothing".into()),
    }
    scene.others.push(stub(&reference::fragment(&outputs), Stage::Fragment)?);
    Ok(scene)
}

impl Scene {
    /// Draws patches of some number of vertices.
    fn set_patch(&mut self, vertices: u32) {
        self.patch_vertices = vertices.clamp(1, MAX_PATCH);
        self.vertices = if self.patch_vertices == 3 { 6 } else { self.patch_vertices };
    }
}

/// A vertex's value of an input: at location 0 its place in a mesh.
fn attribute(input: &Varying, vertex: u32) -> [u32; 4] {
    const CORNERS: [(u32, u32); 6] = [(0, 0), (1, 0), (0, 1), (0, 1), (1, 0), (1, 1)];
    let (quad, corner) = (vertex / 6, CORNERS[vertex as usize % 6]);
    let [x, y] = [quad % QUADS + corner.0, quad / QUADS + corner.1].map(|n| n as f32 / QUADS as f32);
    match (input.texel, input.location) {
        (Texel::Float, 0) => [x * 1.8 - 0.9, y * 1.8 - 0.9, 0.1 + 0.3 * x * y, 1.0].map(f32::to_bits),
        (Texel::Float, n) => [0.6 * x, 0.1 + 0.3 * y, 0.2 + 0.1 * n as f32, 0.25 * x * y].map(f32::to_bits),
        _ => [vertex % 3, quad % 5, 2, 7],
    }
}

fn job(scene: &Scene, part: &Part) -> RenderJob {
    let mut bindings: Bindings = Vec::new();
    for binding in scene.others.iter().chain([part]).flat_map(|p| &p.bindings) {
        let place = |slot: &DescriptorSlot| (slot.set, slot.binding);
        if bindings.iter().all(|b| place(&b.0) != place(&binding.0)) {
            bindings.push(binding.clone());
        }
    }
    let stages = scene.others.iter().chain([part]).map(|p| p.module.clone()).collect();
    let (descriptors, contents) = bindings.into_iter().unzip();
    RenderJob {
        pipeline: PipelineJob {
            stages,
            descriptors,
            inputs: scene.inputs.clone(),
            targets: scene.targets.clone(),
            topology: scene.topology,
            patch_vertices: scene.patch_vertices,
        },
        contents,
        inputs: scene.values.clone(),
        vertices: scene.vertices,
        instances: scene.instances,
        size: SIZE,
        layers: scene.layers,
    }
}

/// What differs between two targets.
fn difference(integers: bool, want: &[u8], got: &[u8]) -> Option<String> {
    let (want, got) = (words(want), words(got));
    let pixels = want.chunks(4).zip(got.chunks(4)).enumerate();
    let differ = |(_, (want, got)): &(usize, (&[u32], &[u32]))| {
        want.iter().zip(*got).any(|(&want, &got)| !near(integers, want, got))
    };
    let all: Vec<_> = pixels.filter(differ).collect();
    let (at, (want, got)) = all.first()?;
    let text = |pixel: &[u32]| match integers {
        true => format!("{pixel:x?}"),
        false => format!("{:?}", pixel.iter().map(|&w| f32::from_bits(w)).collect::<Vec<_>>()),
    };
    let (row, layer) = (at / SIZE as usize, at / (SIZE * SIZE) as usize);
    let place = format!("x {} y {} layer {layer}", at % SIZE as usize, row % SIZE as usize);
    Some(format!("{} pixels differ, the first at {place}: {}, not {}", all.len(), text(got), text(want)))
}

/// What a run of a source and its translation left in descriptors; none where neither drew or wrote anything.
type Left = Option<[Vec<Written>; 2]>;

impl Engine {
    /// Runs a shader and its source and compares what they leave: whether they did anything. `shaders` may have the
    /// tessellator's other half.
    ///
    /// # Errors
    /// What differs, or cannot be compared.
    pub(super) fn render(&mut self, shader: &Shader, shaders: &[Shader]) -> Result<bool, String> {
        let (lifted, spirv) = self.translate(shader)?;
        let rounds =
            if shader.declarations.blocks.iter().any(contents::chooses) { contents::ROUNDS } else { 1 };
        let mut any = false;
        for round in 0..rounds {
            // What one choice of numbers keeps out of sight, another shows.
            for floats in Floats::tried(shader.stage) {
                let filling = Filling { floats, round };
                let parts = [
                    source(shader, reference::SET, filling)?,
                    translation(shader, &lifted, spirv.clone(), filling)?,
                ];
                let left = match shader.stage {
                    Stage::Compute => self.compute(parts)?,
                    _ => self.compare_targets(&scene(shader, shaders, filling)?, &parts)?,
                };
                let Some([want, got]) = left else { continue };
                compare_images(shader, &lifted, &want, &got)?;
                if shader.stage == Stage::Compute {
                    compare_memory(&shader.declarations, &want, &got)?;
                }
                any = true;
                break;
            }
        }
        Ok(any)
    }

    /// Draws with each part in turn and compares targets; what each left in descriptors.
    fn compare_targets(&mut self, scene: &Scene, parts: &[Part; 2]) -> Result<Left, String> {
        let mut drawn = Vec::new();
        let mut left = [Vec::new(), Vec::new()];
        let mut nothing = true;
        for (part, left) in parts.iter().zip(&mut left) {
            let job = job(scene, part);
            let (slots, before) = (job.pipeline.descriptors.clone(), job.contents.clone());
            let outputs = self.0.device.run(&Job::Render(job)).map_err(|e| e.to_string())?;
            let mut buffers = outputs.into_iter().next().ok_or("no output")?.buffers;
            *left = written(&slots, buffers.split_off(scene.targets.len().min(buffers.len())));
            nothing &= is_unchanged(&slots, &before, left);
            drawn.push(buffers);
        }
        let [want, got] = &drawn[..] else { return Err("no output".into()) };
        let targets = scene.targets.iter().zip(want.iter().zip(got)).enumerate();
        for (n, (&integers, (want, got))) in targets {
            nothing &= want.iter().all(|&byte| byte == 0);
            if let Some(difference) = difference(integers, want, got) {
                return Err(format!("target {n}: {difference}"));
            }
        }
        Ok((!nothing).then_some(left))
    }

    /// Dispatches each part in turn; what each left in descriptors.
    fn compute(&mut self, parts: [Part; 2]) -> Result<Left, String> {
        let mut left = [Vec::new(), Vec::new()];
        let mut nothing = true;
        for (part, left) in parts.into_iter().zip(&mut left) {
            let (descriptors, contents): (Vec<_>, Vec<_>) = part.bindings.into_iter().unzip();
            let (slots, spirv) = (descriptors.clone(), part.module.spirv);
            let before = contents.clone();
            let job = DispatchJob { spirv, descriptors, contents, groups: [GROUPS, 1, 1] };
            let outputs = self.0.device.run(&Job::Dispatch(job)).map_err(|e| e.to_string())?;
            *left = written(&slots, outputs.into_iter().next().ok_or("no output")?.buffers);
            nothing &= is_unchanged(&slots, &before, left);
        }
        Ok((!nothing).then_some(left))
    }
}

/// Whether a job left all that its descriptors may write as it was.
fn is_unchanged(slots: &[DescriptorSlot], before: &[Vec<Contents>], left: &[Written]) -> bool {
    let before = slots.iter().zip(before).filter(|(slot, _)| slot.kind.is_written());
    let before = before.flat_map(|(_, contents)| contents);
    before.map(Contents::data).eq(left.iter().map(|w| &w.bytes[..]))
}

/// What a job left in an element of a descriptor.
struct Written {
    slot: DescriptorSlot,
    element: u32,
    bytes: Vec<u8>,
}

/// What a job left, of its descriptors that are written.
fn written(slots: &[DescriptorSlot], after: Vec<Vec<u8>>) -> Vec<Written> {
    let places = slots.iter().filter(|slot| slot.kind.is_written());
    let places = places.flat_map(|slot| (0..slot.count).map(|element| (*slot, element)));
    places.zip(after).map(|((slot, element), bytes)| Written { slot, element, bytes }).collect()
}

fn find(written: &[Written], place: (u32, u32), element: u32) -> Option<&[u8]> {
    let found = written.iter().find(|w| (w.slot.set, w.slot.binding) == place && w.element == element);
    found.map(|w| &w.bytes[..])
}

/// Compares every image that a translation writes with the source's.
fn compare_images(shader: &Shader, lifted: &Lifted, want: &[Written], got: &[Written]) -> Result<(), String> {
    let base = stage(&shader.name).map_or(0, |s| s.1);
    for slot in descriptors(&lifted.module) {
        if !matches!(slot.kind, DescriptorKind::Image | DescriptorKind::ImageBuffer) {
            continue;
        }
        let Some((binding, element, format)) = images::place(&shader.declarations, lifted, slot, base)?
        else {
            continue;
        };
        let want = find(want, (reference::SET, reference::IMAGE + binding), element).ok_or("no image")?;
        let got = find(got, (slot.set, slot.binding), 0).ok_or("no image")?;
        if let Some(difference) = images::difference(format, want, got) {
            return Err(format!("image {binding}, element {element}: {difference}"));
        }
    }
    Ok(())
}

/// Compares storage blocks, which are parts of a translation's global memory.
fn compare_memory(declarations: &Declarations, want: &[Written], got: &[Written]) -> Result<(), String> {
    for placed in contents::places(&declarations.blocks).iter().filter(|p| p.block.storage) {
        let place = (reference::SET, reference::STORAGE + placed.block.binding);
        let want = find(want, place, placed.element).ok_or("no block")?;
        // A shader that touches no storage block has no global memory.
        let Some(got) = find(got, (0, layout::GLOBAL_BINDING), 0) else { continue };
        let got = words(got.get(placed.at..).unwrap_or_default());
        let want = words(want);
        let differs = |i: &usize| got.get(*i).is_none_or(|&got| !near(false, want[*i], got));
        if let Some(at) = (0..want.len()).find(differs) {
            let (want, got) = (want[at], got.get(at).copied().unwrap_or(0));
            return Err(format!("block {}, word {at} is {got:#x}, not {want:#x}", placed.binding));
        }
    }
    Ok(())
}
