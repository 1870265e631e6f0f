//! Textures and targets that the host keeps at another resolution than the guest: what a shader says in the guest's
//! texels and pixels becomes the host's, and the other way round.
//!
//! ```text
//! v2 : f32x4 = input %frag_coord         =>   x and y divided by the targets' scale
//! v4 : f32x4 = tex.fetch 2d, v1, v3      =>   x and y of v3 multiplied by the texture's scale
//! v5 : i32x2 = tex.query_size 2d lod ..  =>   level 0 divided by the scale, then halved as often as the level says
//! ```
//!
//! Scales are singles in a uniform buffer ([`SCALE_BINDING`]): that of colour and depth targets, then those of textures in
//! the order of their bindings, an array having one. So an emulator changes the resolution of what a compiled shader
//! reads; where all are 1, the shader does what it did. Width and height are scaled, depth and layers are not. Images are
//! neither: what is bound as one has the guest's resolution.
//!
//! A fragment that fetches from a texture as large as its target gets the texel at its own place within the guest's pixel,
//! other shaders the texel in the middle: what copies a picture pixel by pixel keeps all of the host's.

use super::layout::{MAX_RESOURCES, SCALE_BINDING, TEXTURE_BINDING};
use super::rework::{each_inst, lanes, resource_of, rewrite, set_args, vector};
use super::{LiftOptions, Lifted};
use xenoglot_ir::imm::{Dim, TexInfo, TexOperands};
use xenoglot_ir::module::{
    Builtin, Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind, Semantic, VarData,
};
use xenoglot_ir::{
    Builder, Flags, Function, Imm, Inst, MemInfo, Module, Op, Resource, Space, Stage, Type, Value, Var,
};

/// Bytes of the buffer of scales.
pub const SCALE_BYTES: u32 = (4 * (1 + MAX_RESOURCES)).next_multiple_of(16);

/// Scales what the shader fetches, asks for the size of, and is told of its place; one that does nothing of it stays as it
/// is.
pub fn scale_textures(lifted: &mut Lifted, options: &LiftOptions) {
    let module = &mut lifted.module;
    if !module.funcs.values().any(|func| asks(module, func)) {
        return;
    }
    let scales = module.resources.push(ResourceData {
        name: "scales".into(),
        kind: ResourceKind::UniformBuffer { size: SCALE_BYTES },
        set: options.set,
        binding: SCALE_BINDING,
        count: Count::One,
        oob: OutOfBounds::Zero,
    });
    let place = (module.stage == Stage::Fragment).then(|| frag_coord(module));
    if let (Some(_), Some(graphics)) = (place, &mut lifted.info.graphics) {
        let name = Builtin::FragCoord.name();
        if !graphics.builtin_inputs.iter().any(|n| n == name) {
            graphics.builtin_inputs.push(name.into());
        }
    }
    let scaler = Scaler { scales, place };
    each_inst(module, |module, b, inst| {
        scaler.inst(module, b, inst);
        true
    });
    lifted.info.scales = Some(SCALE_BINDING);
}

/// Whether a function does anything that goes by resolution.
fn asks(module: &Module, func: &Function) -> bool {
    let place = Semantic::Builtin(Builtin::FragCoord);
    let mut insts = func.layout.iter().flat_map(|&block| &func.blocks[block].insts);
    insts.any(|&inst| match (func.insts[inst].op, func.insts[inst].imm) {
        (Op::Input, Imm::Var(var)) => module.vars[var].semantic == place,
        (Op::TexFetch | Op::TexQuerySize, _) => true,
        (Op::TexSample | Op::TexGather, Imm::Tex(info)) => {
            info.operands.0 & TexOperands::OFFSET.0 != 0 && info.dim != Dim::Cube
        }
        _ => false,
    })
}

/// The fragment's place, declared if the shader does not read it.
fn frag_coord(module: &mut Module) -> Var {
    let semantic = Semantic::Builtin(Builtin::FragCoord);
    let known = module.vars.iter().find(|(_, v)| v.semantic == semantic && v.direction == Direction::Input);
    if let Some((var, _)) = known {
        return var;
    }
    module.vars.push(VarData {
        name: Builtin::FragCoord.name().into(),
        direction: Direction::Input,
        ty: Type::F32X4,
        semantic,
        interpolation: Interpolation::Flat,
        array: None,
        inner: None,
        stream: 0,
    })
}

struct Scaler {
    scales: Resource,
    /// Where a fragment is.
    place: Option<Var>,
}

/// Lanes of coordinates or sizes that are scaled.
fn scaled(info: &TexInfo) -> usize {
    usize::from(info.size_lanes() - u8::from(info.arrayed)).min(2)
}

impl Scaler {
    fn inst(&self, module: &Module, b: &mut Builder, inst: Inst) {
        let data = &b.func.insts[inst];
        match (data.op, data.imm) {
            (Op::Input, Imm::Var(var)) if Some(var) == self.place => self.fragment(b, inst, var),
            (op, Imm::Tex(info)) if info.dim != Dim::Buffer => {
                let Some(scale) = self.texture(module, b, inst) else { return };
                match op {
                    Op::TexFetch => self.fetch(b, inst, info, scale),
                    Op::TexQuerySize => size(b, inst, info, scale),
                    Op::TexSample | Op::TexGather => offset(b, inst, info, scale),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn scale(&self, b: &mut Builder, word: u32) -> Value {
        let at = b.i32(4 * word);
        b.load(MemInfo::plain(Space::Uniform, Some(self.scales), 2), at, Type::F32)
    }

    /// The scale of the texture that an op goes to; none if it goes to an image.
    fn texture(&self, module: &Module, b: &mut Builder, inst: Inst) -> Option<Value> {
        let resource = &module.resources[resource_of(b, inst)?];
        let n = resource.binding.checked_sub(TEXTURE_BINDING).filter(|&n| n < MAX_RESOURCES)?;
        matches!(resource.kind, ResourceKind::Texture { .. }).then(|| self.scale(b, 1 + n))
    }

    /// The fragment's place in the guest's pixels.
    fn fragment(&self, b: &mut Builder, inst: Inst, var: Var) {
        let host = b.input(var, Type::F32X4);
        let scale = self.scale(b, 0);
        let mut lanes = lanes(b, host);
        for v in lanes.iter_mut().take(2) {
            *v = b.op(Op::Fdiv, &[*v, scale]);
        }
        rewrite(b, inst, Op::Build, &lanes);
    }

    fn fetch(&self, b: &mut Builder, inst: Inst, info: TexInfo, scale: Value) {
        let mut args = b.func.args(inst).to_vec();
        let mut coordinates = lanes(b, args[1]);
        let half = b.f32(0.5);
        let middle = b.op(Op::Fmul, &[scale, half]);
        let within = self.place.map(|var| {
            let targets = self.scale(b, 0);
            let place = b.input(var, Type::F32X4);
            let like_target = b.op(Op::FcmpOeq, &[scale, targets]);
            (
                like_target,
                [0, 1].map(|lane| {
                    // The host's pixel less where the guest's begins.
                    let at = b.extract(place, lane);
                    let guest = b.op(Op::Fdiv, &[at, targets]);
                    let guest = b.op(Op::Floor, &[guest]);
                    let start = b.op(Op::Fmul, &[guest, targets]);
                    b.op(Op::Fsub, &[at, start])
                }),
            )
        });
        for (lane, v) in coordinates.iter_mut().enumerate().take(scaled(&info)) {
            let rest = match &within {
                Some((like_target, rest)) => b.select(*like_target, rest[lane], middle),
                None => middle,
            };
            let texel = b.convert(Op::S2f, Flags::NONE, *v, Type::F32);
            let start = b.op(Op::Fmul, &[texel, scale]);
            let texel = b.op(Op::Fadd, &[start, rest]);
            let texel = b.op(Op::Floor, &[texel]);
            *v = b.convert(Op::F2s, Flags::NONE.with_clamp(), texel, Type::I32);
        }
        args[1] = vector(b, &coordinates);
        set_args(b, inst, &args);
    }
}

/// The size of level 0 of the texture that an op goes to, as the host has it.
fn host_size(b: &mut Builder, handle: Value, info: TexInfo) -> Vec<Value> {
    let operands = TexOperands(if info.multisampled { 0 } else { TexOperands::LOD.0 });
    let info = TexInfo { operands, component: 0, ..info };
    let level = (!info.multisampled).then(|| b.i32(0));
    let args: Vec<Value> = [handle].into_iter().chain(level).collect();
    let Some(ty) = Type::new(xenoglot_ir::Kind::I32, info.size_lanes()) else { return Vec::new() };
    let query = b.inst(Op::TexQuerySize, Flags::NONE, Imm::Tex(info), &args, &[ty]);
    let size = b.func.results(query)[0];
    lanes(b, size)
}

fn size(b: &mut Builder, inst: Inst, info: TexInfo, scale: Value) {
    let args = b.func.args(inst).to_vec();
    let mut size = host_size(b, args[0], info);
    let asked = b.inst(
        Op::TexQuerySize,
        b.func.insts[inst].flags,
        Imm::Tex(info),
        &args,
        &[b.func.ty(b.func.results(inst)[0])],
    );
    let asked = b.func.results(asked)[0];
    let at_level = lanes(b, asked);
    let (half, one) = (b.f32(0.5), b.i32(1));
    for (lane, v) in size.iter_mut().enumerate() {
        if lane >= scaled(&info) {
            *v = at_level[lane];
            continue;
        }
        let host = b.convert(Op::U2f, Flags::NONE, *v, Type::F32);
        let guest = b.op(Op::Fdiv, &[host, scale]);
        let guest = b.op(Op::Fadd, &[guest, half]);
        let guest = b.convert(Op::F2u, Flags::NONE.with_clamp(), guest, Type::I32);
        let level = match args.get(1) {
            Some(&level) => b.op(Op::Ushr, &[guest, level]),
            None => guest,
        };
        // A texture that is not there has no size.
        let least = b.op(Op::Umin, &[guest, one]);
        *v = b.op(Op::Umax, &[level, least]);
    }
    match size[..] {
        [v] => rewrite(b, inst, Op::Umax, &[v, v]),
        _ => rewrite(b, inst, Op::Build, &size),
    }
}

/// An offset moves by the host's texels; coordinates move by the rest of the guest's.
fn offset(b: &mut Builder, inst: Inst, info: TexInfo, scale: Value) {
    let has = |operand: TexOperands| usize::from(info.operands.0 & operand.0 != 0);
    if has(TexOperands::OFFSET) == 0 || info.dim == Dim::Cube {
        return;
    }
    let before = [TexOperands::COMPARE, TexOperands::BIAS, TexOperands::LOD].map(has).iter().sum::<usize>();
    let mut args = b.func.args(inst).to_vec();
    let Some(&offset) = args.get(2 + before + 2 * has(TexOperands::GRAD)) else { return };
    let offsets = lanes(b, offset);
    let size = host_size(b, args[0], info);
    let mut coordinates = lanes(b, args[1]);
    let one = b.f32(1.0);
    let more = b.op(Op::Fsub, &[scale, one]);
    for (lane, v) in coordinates.iter_mut().enumerate().take(scaled(&info)) {
        let texels = b.convert(Op::S2f, Flags::NONE, offsets[lane], Type::F32);
        let texels = b.op(Op::Fmul, &[texels, more]);
        let size = b.convert(Op::U2f, Flags::NONE, size[lane], Type::F32);
        let step = b.op(Op::Fdiv, &[texels, size]);
        *v = b.op(Op::Fadd, &[*v, step]);
    }
    args[1] = vector(b, &coordinates);
    set_args(b, inst, &args);
}
