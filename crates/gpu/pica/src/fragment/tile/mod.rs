//! Tile programs: compute programs that draw the triangles of a draw into an 8×8 tile of the framebuffer, a pixel per
//! invocation, from fill rule to stored pixel.
//!
//! What a host's rasteriser and output stage do is not what the chip's do: the fill rule, 12.4 positions without
//! guard band, weights that keep their bias, depth that is truncated, blending that truncates, logic operations, shadow
//! maps. Here all of it is the program's, in the integers and the order of [`crate::raster`], so that coverage and the
//! order of depths are those of the CPU renderer on every host, and colours where division and square root are.
//!
//! ```text
//! tile, pixel := of workgroup and invocation          colour, depth := stored words
//! for triangle in the tile's bin:
//!     weights; skip unless covered
//!     depth; stencil and depth test (without alpha test); skip unless passed
//!     attributes; combiners; alpha test; stencil and depth test (with one); fog
//!     colour := blended word
//! store colour, depth
//! ```
//!
//! Buffers are those of [`super::layout`]; pixels lie in the order of guest memory, a word each whatever the format's
//! size, so that 64 invocations touch 64 words in a row. A pixel's words stay with its invocation from the first to
//! the last triangle: no two invocations touch the same word, and what triangles overlap is drawn in their order.
//!
//! Workgroups in y are planes ([`super::Scale`]). A sample lies on the chip's own grid of sixteenths of a pixel, so that its
//! weights are exact integers too: sample k of n along an axis is `(16k + 8 + n/2) / n - 8` sixteenths from the middle.

mod depth_stencil;
mod pixel;

use xenoglot_ir::module::Builtin;
use xenoglot_ir::{Block, Builder, Function, Module, Op, Stage, Type, Value};

use super::emit::{Emit, Interpolation, Storage, floats};
use super::key::{Blending, FragmentKey, OutputKey};
use super::layout::{DEPTH, FIRST_BIN, ORIGIN, OUTSIDE, PLANES, SAMPLES, TILES};
use super::options::Options;
use super::output;
use crate::raster::batch::semantic;
use crate::regs::{self, Registers};
use crate::texture::tiling::TILE;
use depth_stencil::TestsKey;

/// Bytes of a bin: column and row of its tile, place of its list of triangles' numbers from the first bin on in bytes,
/// length of the list; all u32.
pub const BIN_BYTES: u32 = 16;
/// Bytes of a triangle without its attributes. Four words each: weights of the vertices, biases included, at the pixel
/// where triangles count from, and columns that may be covered, first in the low half, last plus one in the high half; what a pixel
/// to the right adds, and rows from above; what a row below adds, and a word that binning reads; 1/w, and the sum of the weights as
/// f32; z/w. Then the attributes by semantic, one divided by w at each vertex. The first twelve words are those of `HalfPlanes` of
/// `xenoglot-raster`.
pub const TRIANGLE_BYTES: u32 = 80;
/// Bytes of an attribute.
pub const ATTRIBUTE_BYTES: u32 = 16;

const SCISSOR_OUTSIDE: u32 = 1;

/// All that decides about the code of a tile program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TileKey {
    fragment: FragmentKey,
    tests: Option<TestsKey>,
    /// Whether pixels in a rectangle are dropped.
    outside: bool,
}

impl TileKey {
    /// The key of a draw with these registers; none if it changes nothing.
    pub fn decode(regs: &Registers, options: Options) -> Option<TileKey> {
        let mut fragment = FragmentKey::with_options(regs, Blending::Program, options)?;
        // Depth is never the host's.
        fragment.depth.written = false;
        let tests =
            if fragment.output == OutputKey::Shadow { None } else { TestsKey::decode(regs, options.chip) };
        Some(TileKey { fragment, tests, outside: regs.bits(regs::SCISSOR_MODE, 0, 2) == SCISSOR_OUTSIDE })
    }

    /// What the pixel stages are.
    pub fn fragment(&self) -> &FragmentKey {
        &self.fragment
    }

    /// Semantics of the attributes of its triangles, in order.
    pub fn semantics(&self) -> impl Iterator<Item = usize> {
        self.fragment
            .semantics()
            .into_iter()
            .enumerate()
            .filter(|(_, needed)| *needed)
            .map(|(number, _)| number)
    }

    /// Bytes of a triangle.
    pub fn triangle_bytes(&self) -> u32 {
        TRIANGLE_BYTES + ATTRIBUTE_BYTES * self.semantics().count() as u32
    }

    fn has_color(&self) -> bool {
        self.fragment.output != OutputKey::None
    }
}

/// The program of a key. Workgroups are bins.
pub fn generate(key: &TileKey) -> Module {
    let mut func = Function::new("main");
    let mut module = Module::new(Stage::Compute, "pica tile");
    module.workgroup = [TILE as u32, 1, 1];
    let mut emit = Emit::new(&mut func, module);
    let pixel = Pixel::locate(&mut emit);
    let stored = Words {
        color: key.has_color().then(|| emit.load(Storage::Pixels, pixel.offsets[0], Type::I32, 2)),
        depth: key.tests.is_some().then(|| emit.load(Storage::Depths, pixel.offsets[1], Type::I32, 2)),
    };

    let [head, body, next, exit] = [0; 4].map(|_| emit.b.func.add_block());
    let zero = emit.i32(0);
    emit.b.jump(head, &stored.with(zero));
    emit.b.switch_to(head);
    let number = emit.b.func.add_param(head, Type::I32);
    let words = stored.params(&mut emit.b, head);
    let more = emit.iless(number, pixel.triangles);
    emit.b.branch(more, (body, &[]), (exit, &[]));

    // What is made here is not there in the exit: the exit makes nothing.
    emit.b.switch_to(exit);
    if let Some(color) = words.color {
        emit.store(Storage::Pixels, pixel.offsets[0], color);
    }
    if let Some(depth) = words.depth {
        emit.store(Storage::Depths, pixel.offsets[1], depth);
    }
    emit.b.ret(&[]);

    let drawn = stored.params(&mut emit.b, next);
    emit.b.switch_to(body);
    let one = emit.i32(1);
    let following = emit.iadd(number, one);
    let drawing = Drawing { key, pixel: &pixel, next };
    drawing.draw(&mut emit, number, words);

    emit.b.switch_to(next);
    emit.b.jump(head, &drawn.with(following));
    let mut module = emit.module;
    module.entry = Some(module.funcs.push(func)).into();
    module
}

/// The words of a pixel; none for buffers that the draw does not use.
#[derive(Clone, Copy)]
struct Words {
    color: Option<Value>,
    depth: Option<Value>,
}

impl Words {
    fn list(&self) -> Vec<Value> {
        self.color.into_iter().chain(self.depth).collect()
    }

    /// They and a value before them.
    fn with(&self, first: Value) -> Vec<Value> {
        std::iter::once(first).chain(self.list()).collect()
    }

    /// Parameters of a block for the same words.
    fn params(&self, b: &mut Builder, block: Block) -> Words {
        let mut param = |word: Option<Value>| word.map(|_| b.func.add_param(block, Type::I32));
        Words { color: param(self.color), depth: param(self.depth) }
    }
}

/// The invocation's pixel.
struct Pixel {
    /// Column, and row from below.
    place: [Value; 2],
    /// Column and row from above, counted as triangles do.
    counted: [Value; 2],
    /// The sample, in sixteenths of a pixel to the right of the middle of the pixel where triangles count from, and below it.
    sample: [Value; 2],
    /// Of its words in the colour and the depth buffer, in bytes.
    offsets: [Value; 2],
    /// Offset of the list of triangles, in bytes.
    list: Value,
    /// How many there are.
    triangles: Value,
}

impl Pixel {
    fn locate(emit: &mut Emit) -> Pixel {
        let group = emit.builtin("group", Builtin::WorkgroupId, ints(3));
        let [group, plane] = [0, 1].map(|lane| emit.b.extract(group, lane));
        let lane = emit.builtin("lane", Builtin::LocalInvocationIndex, Type::I32);
        let [tiles_per_row, last_row, bins] = [TILES, TILES + 4, FIRST_BIN].map(|at| emit.uniform_i32(at));
        let bin_bytes = emit.i32(BIN_BYTES);
        let bin = emit.imul(group, bin_bytes);
        let bin = emit.iadd(bins, bin);
        let bin = emit.load(Storage::Bins, bin, Type::I32X4, 4);
        let [tile_x, tile_y, list, triangles] = [0, 1, 2, 3].map(|lane| emit.b.extract(bin, lane));

        let tile = emit.imul(tile_y, tiles_per_row);
        let tile = emit.iadd(tile, tile_x);
        let [pixels, two, three] = [TILE as u32, 2, 3].map(|value| emit.i32(value));
        let index = emit.imul(tile, pixels);
        let index = emit.iadd(index, lane);
        let offset = emit.shl(index, two);
        // Bits of the lane are x0 y0 x1 y1 x2 y2.
        let [x, row] = [(tile_x, 0), (tile_y, 1)].map(|(tile, first)| {
            let bits = [0, 1, 2].map(|bit| {
                let (shift, mask) = (emit.i32(first + bit), emit.i32(1 << bit));
                let bit = emit.ushr(lane, shift);
                emit.and(bit, mask)
            });
            let low = emit.or(bits[0], bits[1]);
            let low = emit.or(low, bits[2]);
            let high = emit.shl(tile, three);
            emit.or(high, low)
        });
        let y = emit.isub(last_row, row);
        let list = emit.iadd(bins, list);
        let offsets = [0, 4].map(|at| {
            let stride = emit.uniform_i32(PLANES + at);
            let first = emit.imul(plane, stride);
            emit.iadd(first, offset)
        });
        let [right, down] = sample(emit, plane);
        let four = emit.i32(4);
        let counted = [(x, ORIGIN), (row, ORIGIN + 4)].map(|(place, origin)| {
            let origin = emit.uniform_i32(origin);
            emit.isub(place, origin)
        });
        let sample = [(counted[0], right), (counted[1], down)].map(|(place, beside)| {
            let place = emit.shl(place, four);
            emit.iadd(place, beside)
        });
        Pixel { place: [x, y], counted, sample, offsets, list, triangles }
    }
}

/// How far the sample of a plane lies to the right of the middle of its pixel, and below it, in sixteenths of a pixel. Attributes
/// and textures are those of the plane from here on.
fn sample(emit: &mut Emit, plane: Value) -> [Value; 2] {
    let (zero, one) = (emit.i32(0), emit.i32(1));
    let is_first = emit.iequal(plane, zero);
    emit.enlarged = Some(emit.select(is_first, zero, one));
    let samples = emit.uniform_i32(SAMPLES);
    let number = emit.isub(plane, one);
    let [column, row] = [Op::Urem, Op::Udiv].map(|op| emit.op(op, &[number, samples]));
    let half_samples = emit.ushr(samples, one);
    let (half, sixteen) = (emit.i32(8), emit.i32(16));
    let rounding = emit.iadd(half_samples, half);
    [column, row].map(|number| {
        let at = emit.imul(number, sixteen);
        let at = emit.iadd(at, rounding);
        let at = emit.op(Op::Udiv, &[at, samples]);
        let at = emit.isub(at, half);
        emit.select(is_first, zero, at)
    })
}

/// What draws a triangle.
struct Drawing<'a> {
    key: &'a TileKey,
    pixel: &'a Pixel,
    /// Where it goes on with the next one.
    next: Block,
}

impl Drawing<'_> {
    fn draw(&self, emit: &mut Emit, number: Value, words: Words) {
        let TileKey { fragment, tests, .. } = self.key;
        emit.on_failure(self.next, &words.list());
        let triangle = self.triangle(emit, number);
        let weights = self.cover(emit, triangle);
        let depth = self.interpolate(emit, triangle, weights);

        let mut words = words;
        let early = tests.as_ref().filter(|_| fragment.alpha_test.is_none());
        if let (Some(tests), Some(depth)) = (early, depth) {
            self.test(emit, tests, depth, &mut words);
        }
        if self.key.has_color() || fragment.alpha_test.is_some() {
            let mut color = super::color(emit, fragment);
            if let Some(function) = fragment.alpha_test {
                output::test_alpha(emit, function, color[3]);
                if let (Some(tests), Some(depth)) = (tests, depth) {
                    self.test(emit, tests, depth, &mut words);
                }
            }
            if let (Some(flip), Some(depth)) = (fragment.fog, depth) {
                output::fog(emit, &mut color, depth, flip);
            }
            words.color = words.color.map(|stored| self.mix(emit, stored, color, depth));
        }
        emit.b.jump(self.next, &words.list());
    }

    /// Offset of a triangle of the list.
    fn triangle(&self, emit: &mut Emit, number: Value) -> Value {
        let (two, size) = (emit.i32(2), emit.i32(self.key.triangle_bytes()));
        let at = emit.shl(number, two);
        let at = emit.iadd(self.pixel.list, at);
        let triangle = emit.load(Storage::Bins, at, Type::I32, 2);
        emit.imul(triangle, size)
    }

    /// The weights of the vertices; goes on only if the pixel is covered.
    fn cover(&self, emit: &mut Emit, triangle: Value) -> Covered {
        let Pixel { place: [x, y], counted: [column, row], sample: [sample_x, sample_row], .. } = *self.pixel;
        let [at, right, down] = [0, 16, 32].map(|at| vector(emit, triangle, at, Type::I32X4));
        // Steps from pixel to pixel are multiples of 16.
        let four = emit.i32(4);
        let [rights, downs] = [right, down].map(|steps| {
            [0, 1, 2].map(|vertex| {
                let step = emit.b.extract(steps, vertex);
                emit.op(Op::Sshr, &[step, four])
            })
        });
        let weights = [0u8, 1, 2].map(|vertex| {
            let (right, down) = (rights[usize::from(vertex)], downs[usize::from(vertex)]);
            let (right, down) = (emit.imul(right, sample_x), emit.imul(down, sample_row));
            let weight = emit.b.extract(at, vertex);
            let weight = emit.iadd(weight, right);
            emit.iadd(weight, down)
        });
        let any = emit.or(weights[0], weights[1]);
        let any = emit.or(any, weights[2]);
        let minus_one = emit.i32(u32::MAX);
        let mut covered = emit.iless(minus_one, any);
        for (vector, place) in [(at, column), (right, row)] {
            let (half, low) = (emit.i32(16), emit.i32(0xffff));
            let range = emit.b.extract(vector, 3);
            let (first, end) = (emit.and(range, low), emit.ushr(range, half));
            let inside = within(emit, place, first, end);
            covered = emit.and(covered, inside);
        }
        if self.key.outside {
            let [x0, y0, x1, y1] = [0, 4, 8, 12].map(|at| emit.uniform_i32(OUTSIDE + at));
            let (dropped_x, dropped_y) = (within(emit, x, x0, x1), within(emit, y, y0, y1));
            let dropped = emit.and(dropped_x, dropped_y);
            let kept = emit.b.not(dropped);
            covered = emit.and(covered, kept);
        }
        emit.require(covered);
        let ups = downs.map(|down| emit.b.op(Op::Ineg, &[down]));
        Covered { weights: weights.map(|weight| emit.float(weight)), steps: [rights, ups] }
    }

    /// Interpolates the attributes at the pixel; computes its depth if the draw needs it.
    fn interpolate(
        &self,
        emit: &mut Emit,
        triangle: Value,
        Covered { weights, steps }: Covered,
    ) -> Option<Value> {
        let fragment = &self.key.fragment;
        let inverse_w = vector(emit, triangle, 48, floats(4));
        let sum = emit.b.extract(inverse_w, 3);
        let inverse = emit.weighted(inverse_w, weights);
        let one = emit.f32(1.0);
        let w = emit.fdiv(one, inverse);
        let mut places = [None; semantic::COUNT];
        for (place, semantic) in (0..).zip(self.key.semantics()) {
            places[semantic] = Some(place);
        }
        let header = emit.i32(TRIANGLE_BYTES);
        let attributes = emit.iadd(triangle, header);
        emit.start_pixel(Interpolation { weights, w, attributes, inverse_w, steps, places });

        let needed =
            self.key.tests.is_some() || fragment.fog.is_some() || fragment.output == OutputKey::Shadow;
        needed.then(|| {
            let z = vector(emit, triangle, 64, floats(3));
            let z = emit.weighted(z, weights);
            let z = emit.fdiv(z, sum);
            let (scale, offset) = (emit.uniform_f32(DEPTH), emit.uniform_f32(DEPTH + 4));
            let depth = emit.fmul(z, scale);
            let mut depth = emit.fadd(depth, offset);
            if fragment.depth.w_buffer {
                let w = emit.fmul(w, sum);
                depth = emit.fmul(depth, w);
            }
            emit.clamp(depth, 1.0)
        })
    }

    /// Stencil and depth test; goes on only if both pass.
    fn test(&self, emit: &mut Emit, tests: &TestsKey, depth: Value, words: &mut Words) {
        let Some(stored) = words.depth else { return };
        let (passes, failed, passed) = tests.run(emit, depth, stored);
        words.depth = Some(failed);
        emit.on_failure(self.next, &words.list());
        emit.require(passes);
        words.depth = Some(passed);
    }

    /// The word that takes the place of `stored`.
    fn mix(&self, emit: &mut Emit, stored: Value, color: [Value; 4], depth: Option<Value>) -> Value {
        match (&self.key.fragment.output, depth) {
            (OutputKey::Pixel(key), _) => {
                let destination = key.reads_destination().then(|| pixel::unpack(emit, key.format, stored));
                let color = output::mix(emit, key, color, destination);
                pixel::pack(emit, key.format, color)
            }
            (OutputKey::Shadow, Some(depth)) => output::shadow(emit, stored, depth, color[1]),
            _ => stored,
        }
    }
}

/// Weights of a covered pixel, as floats.
struct Covered {
    weights: [Value; 3],
    /// What a sixteenth of a pixel to the right and one upwards add to the weights.
    steps: [[Value; 3]; 2],
}

/// `lanes` integers, 1 to 4.
fn ints(lanes: u8) -> Type {
    Type::I32.with_lanes(lanes).unwrap_or(Type::I32)
}

/// A vector of a triangle.
fn vector(emit: &mut Emit, triangle: Value, at: u32, ty: Type) -> Value {
    let at = emit.i32(at);
    let offset = emit.iadd(triangle, at);
    emit.triangle_vector(offset, ty)
}

/// Whether `first <= value < end`.
fn within(emit: &mut Emit, value: Value, first: Value, end: Value) -> Value {
    let reached = emit.op(Op::IcmpSle, &[first, value]);
    let before = emit.iless(value, end);
    emit.and(reached, before)
}
