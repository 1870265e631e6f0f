//! Cubes of integers as layers of planes, for hosts that do not sample such cubes: the shader chooses the face.
//!
//! ```text
//! v3 : i32x4 = tex.sample cube lod, v1, v2, v4   =>   tex.sample 2d array lod, v1, [s, t, 6 * layer + face], v4
//! ```
//!
//! Face and place are those of Vulkan's table of cube maps: of equal components z goes before y before x. A level that
//! would be implicit comes from the derivatives of the direction, brought to the face, so there are no seams of levels. What
//! is gathered at an edge is all of one face.

use super::Lifted;
use super::rework::{each_inst, lanes, resource_of, rewrite, set_args, vector};
use xenoglot_ir::imm::{Dim, TexInfo, TexOperands};
use xenoglot_ir::module::{ResourceKind, Texel};
use xenoglot_ir::{Builder, Imm, Inst, Op, Resource, Type, Value};

/// Binds every cube of integers as layers, and says so in the shader's information.
pub fn flatten_integer_cubes(lifted: &mut Lifted) {
    let module = &mut lifted.module;
    let mut flattened: Vec<Resource> = Vec::new();
    for (resource, data) in module.resources.iter_mut() {
        if let ResourceKind::Texture { dim: dim @ Dim::Cube, arrayed, texel, .. } = &mut data.kind
            && *texel != Texel::Float
        {
            (*dim, *arrayed) = (Dim::D2, true);
            flattened.push(resource);
        }
    }
    if flattened.is_empty() {
        return;
    }
    for texture in &mut lifted.info.textures {
        if texture.dim == Dim::Cube && texture.texel != Texel::Float {
            (texture.dim, texture.arrayed, texture.flat_cube) = (Dim::D2, true, true);
        }
    }
    each_inst(module, |_, b, inst| {
        let data = &b.func.insts[inst];
        if let Imm::Tex(info) = data.imm
            && info.dim == Dim::Cube
            && resource_of(b, inst).is_some_and(|r| flattened.contains(&r))
        {
            flatten(b, inst, info);
        }
        true
    });
}

fn flatten(b: &mut Builder, inst: Inst, info: TexInfo) {
    let mut flat = TexInfo { dim: Dim::D2, arrayed: true, ..info };
    let mut args = b.func.args(inst).to_vec();
    match b.func.insts[inst].op {
        Op::TexQuerySize => return size(b, inst, info, flat),
        Op::TexQueryLevels => {}
        op => {
            let direction = lanes(b, args[1]);
            let face = Face::of(b, &direction);
            let mut coordinates = face.place(b);
            // What level there would be is asked of a place without a layer.
            if op != Op::TexQueryLod {
                let layer = face.layer(b, info.arrayed.then(|| direction[3]));
                coordinates.push(layer);
            }
            args[1] = vector(b, &coordinates);
            if op == Op::TexSample {
                face.level(b, &direction[..3], &mut args, &mut flat.operands);
            }
        }
    }
    b.func.insts[inst].imm = Imm::Tex(flat);
    set_args(b, inst, &args);
}

/// A size without the layers that faces are, or with cubes for layers.
fn size(b: &mut Builder, inst: Inst, info: TexInfo, flat: TexInfo) {
    let args = b.func.args(inst).to_vec();
    let flags = b.func.insts[inst].flags;
    let query = b.inst(Op::TexQuerySize, flags, Imm::Tex(flat), &args, &[Type::I32X3]);
    let size = b.func.results(query)[0];
    let mut size = lanes(b, size);
    let layers = size.pop().filter(|_| info.arrayed);
    if let Some(layers) = layers {
        let six = b.i32(6);
        size.push(b.op(Op::Udiv, &[layers, six]));
    }
    rewrite(b, inst, Op::Build, &size);
}

/// The face that a direction points to.
struct Face {
    /// Whether z, and else whether y, is the greatest.
    is_z: Value,
    is_y: Value,
    /// Whether the greatest is negative.
    negative: Value,
    /// The components along the face, and the magnitude of the greatest.
    s: Value,
    t: Value,
    depth: Value,
}

impl Face {
    fn of(b: &mut Builder, direction: &[Value]) -> Face {
        let [x, y, z] = [direction[0], direction[1], direction[2]];
        let [ax, ay, az] = [x, y, z].map(|v| b.op(Op::Fabs, &[v]));
        let over_x = b.op(Op::FcmpOle, &[ax, az]);
        let over_y = b.op(Op::FcmpOle, &[ay, az]);
        let is_z = b.op(Op::And, &[over_x, over_y]);
        let is_y = b.op(Op::FcmpOle, &[ax, ay]);
        let depth = b.select(is_y, ay, ax);
        let depth = b.select(is_z, az, depth);
        let greatest = b.select(is_y, y, x);
        let greatest = b.select(is_z, z, greatest);
        let zero = b.f32(0.0);
        let negative = b.op(Op::FcmpOlt, &[greatest, zero]);
        let mut face = Face { is_z, is_y, negative, s: zero, t: zero, depth };
        [face.s, face.t] = face.along(b, [x, y, z]);
        face
    }

    /// A vector's components along the face.
    fn along(&self, b: &mut Builder, [x, y, z]: [Value; 3]) -> [Value; 2] {
        let [left, down, back] = [x, y, z].map(|v| b.op(Op::Fneg, &[v]));
        let of_x = b.select(self.negative, z, back);
        let of_z = b.select(self.negative, left, x);
        let s = b.select(self.is_y, x, of_x);
        let s = b.select(self.is_z, of_z, s);
        let of_y = b.select(self.negative, back, z);
        let t = b.select(self.is_y, of_y, down);
        let t = b.select(self.is_z, down, t);
        [s, t]
    }

    /// Coordinates on the face, from 0 to less than 1, where a sampler that repeats would begin again.
    fn place(&self, b: &mut Builder) -> Vec<Value> {
        let (half, last, depth) = (b.f32(0.5), b.f32(1.0_f32.next_down()), self.depth);
        let place = |v| {
            let v = b.op(Op::Fdiv, &[v, depth]);
            let v = b.op(Op::Fmul, &[v, half]);
            let v = b.op(Op::Fadd, &[v, half]);
            b.op(Op::Fmin, &[v, last])
        };
        [self.s, self.t].map(place).into()
    }

    /// The layer of the face in a cube, or in one of several.
    fn layer(&self, b: &mut Builder, cube: Option<Value>) -> Value {
        let [first, second, third] = [0.0, 2.0, 4.0].map(|n| b.f32(n));
        let face = b.select(self.is_y, second, first);
        let face = b.select(self.is_z, third, face);
        let (zero, one, six) = (b.f32(0.0), b.f32(1.0), b.f32(6.0));
        let back = b.select(self.negative, one, zero);
        let face = b.op(Op::Fadd, &[face, back]);
        match cube {
            Some(cube) => {
                // Layers are rounded before they are counted by six.
                let cube = b.op(Op::RoundEven, &[cube]);
                let first = b.op(Op::Fmul, &[cube, six]);
                b.op(Op::Fadd, &[first, face])
            }
            None => face,
        }
    }

    /// Brings what chooses the level of a sample to the face: gradients, given or implicit.
    fn level(&self, b: &mut Builder, direction: &[Value], args: &mut Vec<Value>, operands: &mut TexOperands) {
        let has = |operands: &TexOperands, which: TexOperands| operands.0 & which.0 != 0;
        if has(operands, TexOperands::LOD) {
            return;
        }
        let gradients = if has(operands, TexOperands::GRAD) {
            [2, 3].map(|i| lanes(b, args[i]))
        } else {
            let factor = has(operands, TexOperands::BIAS).then(|| {
                let bias = args.remove(2);
                b.op(Op::Exp2, &[bias])
            });
            operands.0 &= !TexOperands::BIAS.0;
            operands.0 |= TexOperands::GRAD.0;
            args.splice(2..2, [args[0]; 2]);
            [Op::DdxCoarse, Op::DdyCoarse].map(|op| {
                let along = direction.iter().map(|&v| {
                    let v = b.op(op, &[v]);
                    factor.map_or(v, |factor| b.op(Op::Fmul, &[v, factor]))
                });
                along.collect()
            })
        };
        for (i, gradient) in (2..).zip(gradients) {
            let gradient = self.gradient(b, [gradient[0], gradient[1], gradient[2]]);
            args[i] = vector(b, &gradient);
        }
    }

    /// The gradient of the place: that of `(s / depth + 1) / 2` where the direction changes so.
    fn gradient(&self, b: &mut Builder, change: [Value; 3]) -> [Value; 2] {
        let [x, y, z] = change;
        let depth = b.select(self.is_y, y, x);
        let depth = b.select(self.is_z, z, depth);
        let away = b.op(Op::Fneg, &[depth]);
        let depth = b.select(self.negative, away, depth);
        let along = self.along(b, change);
        let (half, square) = (b.f32(0.5), b.op(Op::Fmul, &[self.depth, self.depth]));
        let mut of = |(change, v): (Value, Value)| {
            let up = b.op(Op::Fmul, &[change, self.depth]);
            let down = b.op(Op::Fmul, &[v, depth]);
            let v = b.op(Op::Fsub, &[up, down]);
            let v = b.op(Op::Fdiv, &[v, square]);
            b.op(Op::Fmul, &[v, half])
        };
        [of((along[0], self.s)), of((along[1], self.t))]
    }
}
