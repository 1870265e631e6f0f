//! Random scenes.

use xenoglot_testgen::rng::Rng;
use xenoglot_warp::state::LEVELS;
use xenoglot_warp::{
    Cull, Draw, Fog, Frame, Memory, PRIMITIVE_BYTES, Primitive, RenderState, Stencil, Surface, Targets,
    Vertex, Viewport, clip,
};

/// Bytes of memory.
const MEMORY: u32 = 1 << 18;
/// Bytes of a target; textures lie behind both, some of them in part in front.
const TARGET: u32 = 1 << 16;

/// States, primitives and memory.
pub struct Scene {
    pub memory: Memory,
    pub targets: Targets,
    pub states: Vec<RenderState>,
    pub primitives: Vec<Primitive>,
    pub state_of: Vec<u16>,
}

impl Scene {
    /// A scene of up to `most` triangles before clipping.
    pub fn random(rng: &mut Rng, most: u32) -> Scene {
        let mut memory = Memory::new(MEMORY as usize).unwrap();
        (0..MEMORY / 2).for_each(|at| memory.set_unit(at, rng.below(1 << 16) as u16));
        let size = [1 + rng.below(170), 1 + rng.below(150)];
        let surface = |offset, extra: u32| Surface { offset, size, stride: 2 * (size[0] + extra) };
        let targets = Targets { color: surface(0, rng.below(9)), depth: surface(TARGET, rng.below(9)) };
        let states: Vec<RenderState> = (0..1 + rng.below(6)).map(|_| state(rng, size)).collect();
        let mut primitives = Vec::new();
        for _ in 0..rng.below(most) {
            triangle(rng, size, &mut primitives);
        }
        let state_of = primitives.iter().map(|_| rng.below(states.len() as u32) as u16).collect();
        Scene { memory, targets, states, primitives, state_of }
    }

    pub fn draw(&self) -> Draw<'_> {
        Draw::new(&self.states, &self.primitives, &self.state_of).unwrap()
    }

    pub fn frame(&self) -> Frame {
        Frame::load(&self.memory, &self.targets).unwrap()
    }

    /// Memory after the frame is put back.
    pub fn stored(&self, frame: &Frame) -> Memory {
        let mut memory = self.memory.clone();
        frame.store(&mut memory);
        memory
    }
}

fn half(rng: &mut Rng) -> i16 {
    if rng.below(8) == 0 { rng.below(1 << 16) as i16 } else { rng.below(160) as i16 - 40 }
}

fn state(rng: &mut Rng, size: [u32; 2]) -> RenderState {
    let byte = |rng: &mut Rng| rng.below(256) as u8;
    let whole = [0, 0, size[0] as i16, size[1] as i16];
    let clamp = [-64, -64, 127, 127];
    let most = rng.below(13);
    let masks = [0xffff, 63, 31, 7, rng.below(1 << 16) as u16];
    RenderState {
        scissor: if rng.below(4) == 0 { std::array::from_fn(|_| half(rng)) } else { whole },
        constant: std::array::from_fn(|_| byte(rng)),
        depth: if rng.below(3) == 0 { byte(rng) } else { 0x82 },
        blend: if rng.below(16) == 0 { byte(rng) } else { rng.below(4) as u8 },
        combiner: if rng.below(8) == 0 {
            byte(rng)
        } else {
            0x80 | rng.below(3) as u8 | (rng.below(2) << 6) as u8
        },
        alpha_threshold: if rng.below(3) == 0 { byte(rng) } else { 0 },
        clamp: if rng.below(2) == 0 { std::array::from_fn(|_| half(rng)) } else { clamp },
        mask: std::array::from_fn(|_| masks[rng.below(5) as usize]),
        width: if rng.below(8) == 0 { half(rng) } else { 64 },
        max_level: if rng.below(2) == 0 { rng.below(9) as i8 - 1 } else { 0 },
        format: if rng.below(8) == 0 {
            byte(rng)
        } else {
            [0, 1, 2, 4, 5, 6, 8][rng.below(7) as usize] | (rng.below(4) << 6) as u8
        },
        levels: std::array::from_fn::<_, LEVELS, _>(|_| rng.below(MEMORY)),
        palette: rng.below(MEMORY),
        fog: Fog {
            enable: u8::from(rng.below(3) == 0),
            start: rng.below(1 << 16) as u16,
            scale: (rng.below(1 << 16) >> most) as u16,
            color: std::array::from_fn(|_| byte(rng)),
        },
        stencil: Stencil {
            test: if rng.below(3) == 0 { 0x80 | byte(rng) } else { byte(rng) & 0x7f },
            reference: byte(rng),
            mask: byte(rng),
            operations: std::array::from_fn(|_| byte(rng)),
        },
    }
}

fn triangle(rng: &mut Rng, size: [u32; 2], out: &mut Vec<Primitive>) {
    if rng.below(24) == 0 {
        // Anything, also numbers that are none; edges that wrap around are cut by their few rows.
        let mut bytes: [u8; PRIMITIVE_BYTES] = std::array::from_fn(|_| rng.below(256) as u8);
        for (at, rows) in [(24, 40), (26, 90), (28, 160)] {
            let row = rng.below(rows) as i16 + rows as i16;
            bytes[at..at + 2].copy_from_slice(&row.to_le_bytes());
        }
        return out.push(Primitive::from_bytes(&bytes));
    }
    let float = |rng: &mut Rng, low: f32, high: f32| {
        low + (high - low) * (rng.below(1 << 20) as f32 / (1 << 20) as f32)
    };
    let reach = if rng.below(6) == 0 { 3.0 } else { 0.3 };
    let (x, y) = (float(rng, -1.2, 1.2), float(rng, -1.2, 1.2));
    let vertices = std::array::from_fn(|_| {
        let w = float(rng, -0.1, 4.0);
        let [x, y] = [x, y].map(|at| (at + float(rng, -reach, reach)) * w);
        Vertex {
            position: [x, y, float(rng, -0.2, 1.2) * w, w],
            uv: std::array::from_fn(|_| float(rng, -100.0, 200.0)),
            color: std::array::from_fn(|_| float(rng, -0.1, 1.1)),
        }
    });
    let size = size.map(|pixels| pixels as f32);
    let viewport = Viewport { origin: [0.0; 2], size, depth: [0.0, 1.0] };
    clip::draw(vertices, &viewport, Cull::None, out);
}
