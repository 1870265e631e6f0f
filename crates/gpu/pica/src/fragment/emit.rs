//! The program under construction: resources, inputs, and arithmetic as the CPU renderer does it.

mod buffers;

use rustc_hash::FxHashMap;
use xenoglot_ir::module::{self, Builtin, Direction, Semantic, VarData};
use xenoglot_ir::{
    Block, Builder, Flags, Function, Imm, Lanes, Module, NanMode, Op, Round, Type, Value, Var,
};

use crate::raster::batch::semantic;
use buffers::Buffers;
pub use buffers::Storage;

/// Inputs by location: name, first semantic, lanes. They are the outputs of the vertex programs' wrapper.
const INPUTS: [(&str, usize, u8); 6] = [
    ("normquat", semantic::QUATERNION, 4),
    ("color", semantic::COLOR, 4),
    ("texcoord0", semantic::TEX0, 3),
    ("texcoord1", semantic::TEX1, 2),
    ("texcoord2", semantic::TEX2, 2),
    ("view", semantic::VIEW, 3),
];
/// Number of the fragment's position among the inputs.
const POSITION: usize = INPUTS.len();

/// A pixel of a triangle: how its attributes are made, as the CPU renderer makes them.
pub struct Interpolation {
    /// Weights of the vertices.
    pub weights: [Value; 3],
    /// 1 / (1/w interpolated).
    pub w: Value,
    /// Where the attributes divided by w begin in the buffer of triangles, in bytes: three floats each.
    pub attributes: Value,
    /// 1/w of the vertices, three floats.
    pub inverse_w: Value,
    /// What a sixteenth of a pixel to the right and one upwards add to each weight, integers.
    pub steps: [[Value; 3]; 2],
    /// Place of each attribute there, by semantic.
    pub places: [Option<u32>; semantic::COUNT],
}

/// How a fragment ends that fails a test.
enum Failure {
    Kill,
    /// A jump with arguments.
    Jump(Block, Vec<Value>),
}

/// `lanes` floats, 1 to 4.
pub fn floats(lanes: u8) -> Type {
    Type::F32.with_lanes(lanes).unwrap_or(Type::F32)
}

/// A fragment program under construction: one chain of blocks, so that what was made stays available.
pub struct Emit<'f> {
    /// The cursor.
    pub b: Builder<'f>,
    /// The module, without the function.
    pub module: Module,
    constants: FxHashMap<(Type, u32), Value>,
    loads: FxHashMap<(Type, u32), Value>,
    /// How attributes are made; if it does not say, the host interpolates.
    interpolation: Option<Interpolation>,
    failure: Failure,
    /// 1 where texels are those of a larger picture, 0 where they are the guest's; the guest's if it does not say.
    pub enlarged: Option<Value>,
    inputs: [Option<Value>; POSITION + 1],
    buffers: Buffers,
}

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $op:ident;)+) => {$(
        $(#[$doc])*
        pub fn $name(&mut self, a: Value, b: Value) -> Value {
            self.b.op(Op::$op, &[a, b])
        }
    )+};
}

impl<'f> Emit<'f> {
    pub fn new(func: &'f mut Function, module: Module) -> Emit<'f> {
        let entry = func.add_block();
        Emit {
            b: Builder::new(func, entry),
            module,
            constants: FxHashMap::default(),
            loads: FxHashMap::default(),
            interpolation: None,
            failure: Failure::Kill,
            enlarged: None,
            inputs: [None; POSITION + 1],
            buffers: Buffers::default(),
        }
    }

    binary! {
        fadd Fadd;
        fsub Fsub;
        fmul Fmul;
        /// Dot product of two vectors of three lanes.
        dot Fdot3;
        iadd Iadd;
        isub Isub;
        imul Imul;
        imin Imin;
        imax Imax;
        and And;
        or Or;
        xor Xor;
        shl Shl;
        ushr Ushr;
        less FcmpOlt;
        equal FcmpOeq;
        iless IcmpSlt;
        iequal IcmpEq;
    }

    pub fn i32(&mut self, value: u32) -> Value {
        *self.constants.entry((Type::I32, value)).or_insert_with(|| self.b.i32(value))
    }

    pub fn f32(&mut self, value: f32) -> Value {
        *self.constants.entry((Type::F32, value.to_bits())).or_insert_with(|| self.b.f32(value))
    }

    pub fn vector(&mut self, lanes: [f32; 3]) -> Value {
        let lanes = lanes.map(|lane| self.f32(lane));
        self.b.op(Op::Build, &lanes)
    }

    pub fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        self.b.select(condition, a, b)
    }

    /// `vector * scalar`.
    pub fn scale(&mut self, vector: Value, scalar: Value) -> Value {
        let scalar = self.b.splat(scalar, self.b.func.ty(vector).lanes());
        self.fmul(vector, scalar)
    }

    /// `a / b`, rounded once, whatever the host's quotients are: depths and colours hang on the last bit.
    pub fn fdiv(&mut self, a: Value, b: Value) -> Value {
        self.b.op_flags(Op::Fdiv, Flags::NONE.with_round(Round::Even), &[a, b])
    }

    /// `vector / scalar`.
    pub fn divide(&mut self, vector: Value, scalar: Value) -> Value {
        let scalar = self.b.splat(scalar, self.b.func.ty(vector).lanes());
        self.fdiv(vector, scalar)
    }

    pub fn swizzle(&mut self, vector: Value, lanes: [u8; 3]) -> Value {
        match Lanes::new(&lanes) {
            Some(lanes) => self.b.shuffle(vector, vector, lanes),
            None => vector,
        }
    }

    pub fn abs(&mut self, value: Value) -> Value {
        self.b.op(Op::Fabs, &[value])
    }

    pub fn negate(&mut self, value: Value) -> Value {
        self.b.op(Op::Fneg, &[value])
    }

    pub fn sqrt(&mut self, value: Value) -> Value {
        self.b.op_flags(Op::Sqrt, Flags::NONE.with_round(Round::Even), &[value])
    }

    /// Square root of the dot product of a vector of three lanes with itself.
    pub fn length(&mut self, vector: Value) -> Value {
        let square = self.dot(vector, vector);
        self.sqrt(square)
    }

    /// The lesser one; the other one of a NaN.
    pub fn min(&mut self, a: Value, b: Value) -> Value {
        self.b.op(Op::Fmin, &[a, b])
    }

    /// The greater one; the other one of a NaN.
    pub fn max(&mut self, a: Value, b: Value) -> Value {
        self.b.op(Op::Fmax, &[a, b])
    }

    /// Clamped to `0..=high`; NaNs stay.
    pub fn clamp(&mut self, value: Value, high: f32) -> Value {
        let (zero, high) = (self.f32(0.0), self.f32(high));
        let keep = Flags::NONE.with_nan(NanMode::First);
        let value = self.b.op_flags(Op::Fmax, keep, &[value, zero]);
        self.b.op_flags(Op::Fmin, keep, &[value, high])
    }

    /// Clamped to `0..=1`, NaNs to 0, then the byte of it.
    pub fn unit_byte(&mut self, value: Value) -> Value {
        let value = self.b.op(Op::Fsat, &[value]);
        let white = self.f32(255.0);
        let value = self.fmul(value, white);
        self.int(value)
    }

    /// Integers within bounds.
    pub fn iclamp(&mut self, value: Value, low: i32, high: i32) -> Value {
        let (low, high) = (self.i32(low as u32), self.i32(high as u32));
        let value = self.imax(value, low);
        self.imin(value, high)
    }

    /// Float of a signed integer.
    pub fn float(&mut self, value: Value) -> Value {
        self.b.convert(Op::S2f, Flags::NONE, value, Type::F32)
    }

    /// Truncation of what fits a signed integer; NaNs become 0.
    pub fn int(&mut self, value: Value) -> Value {
        self.b.convert(Op::F2s, Flags::NONE.with_clamp(), value, Type::I32)
    }

    /// Truncation; what does not fit, and NaN, is the least integer.
    pub fn truncate(&mut self, value: Value) -> Value {
        let (low, high) = (self.f32(-2_147_483_648.0), self.f32(2_147_483_648.0));
        let above = self.b.op(Op::FcmpOle, &[low, value]);
        let below = self.less(value, high);
        let fits = self.and(above, below);
        let value = self.select(fits, value, low);
        self.int(value)
    }

    /// The low eight bits of an integer.
    pub fn low_byte(&mut self, value: Value) -> Value {
        let mask = self.i32(0xff);
        self.and(value, mask)
    }

    /// Truncation; its low eight bits.
    pub fn byte(&mut self, value: Value) -> Value {
        let value = self.truncate(value);
        self.low_byte(value)
    }

    /// Rounding, halves away from zero.
    pub fn round(&mut self, value: Value) -> Value {
        let whole = self.truncate(value);
        let float = self.float(whole);
        let rest = self.fsub(value, float);
        let (half, minus_half) = (self.f32(0.5), self.f32(-0.5));
        let up = self.b.op(Op::FcmpOle, &[half, rest]);
        let down = self.b.op(Op::FcmpOle, &[rest, minus_half]);
        let [up, down] = [up, down].map(|v| self.b.convert(Op::Zext, Flags::NONE, v, Type::I32));
        let whole = self.iadd(whole, up);
        self.isub(whole, down)
    }

    /// Byte `number` of a word.
    pub fn byte_of(&mut self, word: Value, number: u32) -> Value {
        let shift = self.i32(8 * number);
        let word = if number == 0 { word } else { self.ushr(word, shift) };
        if number == 3 { word } else { self.low_byte(word) }
    }

    pub fn bytes_of(&mut self, word: Value) -> [Value; 4] {
        [0, 1, 2, 3].map(|number| self.byte_of(word, number))
    }

    fn variable(&mut self, name: &str, direction: Direction, ty: Type, semantic: Semantic) -> Var {
        let interpolation = module::Interpolation::Smooth;
        self.module.vars.push(VarData {
            name: name.into(),
            direction,
            ty,
            semantic,
            interpolation,
            array: None,
            inner: None,
            stream: 0,
        })
    }

    fn input(&mut self, number: usize) -> Value {
        if let Some(value) = self.inputs[number] {
            return value;
        }
        let value = match INPUTS.get(number) {
            Some(&(_, first, lanes)) if self.interpolation.is_some() => {
                // The third coordinate of unit 0 is not beside the others.
                let semantic = |lane| match (first, lane) {
                    (semantic::TEX0, 2) => semantic::TEX0_W,
                    _ => first + lane,
                };
                let lanes: Vec<Value> =
                    (0..usize::from(lanes)).map(|lane| self.interpolated(semantic(lane))).collect();
                self.op(Op::Build, &lanes)
            }
            Some(&(name, _, lanes)) => {
                let at = Semantic::Location { location: number as u32, component: 0 };
                self.read(name, floats(lanes), at)
            }
            None => self.builtin("position", Builtin::FragCoord, Type::F32X4),
        };
        self.inputs[number] = Some(value);
        value
    }

    fn read(&mut self, name: &str, ty: Type, semantic: Semantic) -> Value {
        let var = self.variable(name, Direction::Input, ty, semantic);
        self.b.input(var, ty)
    }

    /// A builtin input.
    pub fn builtin(&mut self, name: &str, builtin: Builtin, ty: Type) -> Value {
        self.read(name, ty, Semantic::Builtin(builtin))
    }

    /// An attribute at a pixel of a triangle; 0 if the draw does not need it.
    fn interpolated(&mut self, semantic: usize) -> Value {
        let Some(at) = &self.interpolation else { return self.f32(0.0) };
        let (weights, w) = (at.weights, at.w);
        let Some(values) = self.over_w(semantic) else { return self.f32(0.0) };
        let sum = self.weighted(values, weights);
        self.fmul(sum, w)
    }

    /// An attribute divided by w at the vertices.
    fn over_w(&mut self, semantic: usize) -> Option<Value> {
        let at = self.interpolation.as_ref()?;
        let (base, place) = (at.attributes, at.places.get(semantic).copied().flatten()?);
        let offset = self.i32(16 * place);
        let offset = self.iadd(base, offset);
        Some(self.triangle_vector(offset, floats(3)))
    }

    /// Attributes one pixel to the right and one upwards; 0 in place of what is not asked for or not there. Nothing if the host
    /// interpolates.
    pub fn neighbours(&mut self, semantics: [Option<usize>; 3]) -> Vec<[Value; 3]> {
        let Some(at) = &self.interpolation else { return Vec::new() };
        let (weights, steps, inverse_w) = (at.weights, at.steps, at.inverse_w);
        let pixel = self.f32(16.0);
        let mut found = Vec::new();
        for step in steps {
            let weights = [0, 1, 2].map(|vertex: usize| {
                let step = self.float(step[vertex]);
                let step = self.fmul(step, pixel);
                self.fadd(weights[vertex], step)
            });
            let inverse = self.weighted(inverse_w, weights);
            found.push(semantics.map(|semantic| match semantic.and_then(|semantic| self.over_w(semantic)) {
                None => self.f32(0.0),
                Some(values) => {
                    let sum = self.weighted(values, weights);
                    self.fdiv(sum, inverse)
                }
            }));
        }
        found
    }

    /// Sum of the lanes of a vector times weights, in order.
    pub fn weighted(&mut self, vector: Value, weights: [Value; 3]) -> Value {
        let [a, b, c] = [0u8, 1, 2].map(|lane| {
            let value = self.b.extract(vector, lane);
            self.fmul(value, weights[usize::from(lane)])
        });
        let sum = self.fadd(a, b);
        self.fadd(sum, c)
    }

    /// From here on attributes are a pixel's, interpolated over the triangle.
    pub fn start_pixel(&mut self, interpolation: Interpolation) {
        self.interpolation = Some(interpolation);
    }

    /// From here on a fragment that fails a test goes on there.
    pub fn on_failure(&mut self, block: Block, args: &[Value]) {
        self.failure = Failure::Jump(block, args.to_vec());
    }

    /// Window position, depth, 1/w.
    pub fn position(&mut self) -> Value {
        self.input(POSITION)
    }

    /// The vector of attributes that starts at a semantic of [`semantic`]. Numbers inside a vector are no start.
    pub fn attributes(&mut self, semantic: usize) -> Value {
        let number = INPUTS.iter().position(|input| input.1 == semantic).unwrap_or(0);
        self.input(number)
    }

    /// Writes the output at location 0.
    pub fn output(&mut self, value: Value) {
        let ty = self.b.func.ty(value);
        let at = Semantic::Location { location: 0, component: 0 };
        let var = self.variable("fragment", Direction::Output, ty, at);
        if ty.kind().is_int() {
            self.module.vars[var].interpolation = module::Interpolation::Flat;
        }
        self.b.output(var, value);
    }

    /// Writes the fragment's depth.
    pub fn output_depth(&mut self, depth: Value) {
        let at = Semantic::Builtin(Builtin::FragDepth);
        let var = self.variable("depth", Direction::Output, Type::F32, at);
        self.b.output(var, depth);
    }

    /// `value + difference * fraction` of an entry.
    pub fn interpolate(&mut self, [value, difference]: [Value; 2], fraction: Value) -> Value {
        let step = self.fmul(difference, fraction);
        self.fadd(value, step)
    }

    /// Ends the fragment unless `condition` holds.
    pub fn require(&mut self, condition: Value) {
        let go_on = self.b.func.add_block();
        match &self.failure {
            Failure::Kill => {
                let kill = self.b.func.add_block();
                self.b.branch(condition, (go_on, &[]), (kill, &[]));
                self.b.switch_to(kill);
                self.b.kill();
            }
            Failure::Jump(block, args) => self.b.branch(condition, (go_on, &[]), (*block, args)),
        }
        self.b.switch_to(go_on);
    }

    /// Any other op without flags; its type follows from its operands.
    pub fn op(&mut self, op: Op, args: &[Value]) -> Value {
        self.b.op_imm(op, Flags::NONE, Imm::None, args)
    }
}
