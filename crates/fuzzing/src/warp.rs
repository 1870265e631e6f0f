//! Warp: scene files, states and primitives of any bytes, models, and what they draw.

use crate::bytes::Bytes;
use xenoglot_warp::golden::{Error, Golden, Pass, Scene};
use xenoglot_warp::model::{Corner, Model, Texture, Triangle, View};
use xenoglot_warp::state::{FULL_STATE_BYTES, combiner, format};
use xenoglot_warp::{
    Cull, Draw, Engine, Fog, Frame, Memory, PRIMITIVE_BYTES, Primitive, RenderState, Stencil, Surface,
    Targets, Vertex, Viewport, clip, reference,
};

/// Columns or rows of a picture that is drawn.
const MOST_PIXELS: u32 = 96;
/// Primitives of a scene that is drawn.
const MOST_PRIMITIVES: usize = 64;
/// Bytes that are read after it is drawn.
const MOST_BYTES: u64 = 1 << 20;

/// Scene files: what is read is written to the same, and small scenes are the same on both engines.
pub fn warp(data: &[u8]) {
    let scene = match Golden::parse(data) {
        Ok(Golden::Scene(scene)) => scene,
        Ok(Golden::Setups(cases)) => {
            let mut out = Vec::new();
            let cases = cases.iter().take(MOST_PRIMITIVES);
            cases.for_each(|case| clip::draw(case.vertices, &case.viewport, case.cull, &mut out));
            return;
        }
        Err(_) => return,
    };
    let written = scene.to_bytes();
    match Golden::parse(&written) {
        Ok(Golden::Scene(back)) => assert!(back.to_bytes() == written),
        other => panic!("{other:?}"),
    }
    let size = |surface: &Surface| surface.size.into_iter().max().unwrap_or(0);
    let is_small = |pass: &Pass| {
        let Targets { color, depth } = &pass.targets;
        size(color).max(size(depth)) <= MOST_PIXELS && pass.primitives.len() <= MOST_PRIMITIVES
    };
    let bytes: u64 = scene.ranges.iter().map(|&(_, length)| u64::from(length)).sum();
    if !scene.passes.iter().all(is_small) || scene.passes.len() > 4 || bytes > MOST_BYTES {
        return;
    }
    engines_agree(&scene);
}

/// Draws a scene on both engines.
fn engines_agree(scene: &Scene) {
    let engine = Engine::new().with_batch(7);
    let fast = scene.run(|frame, memory, draw| -> Result<(), Error> {
        engine.draw(frame, memory, draw);
        Ok(())
    });
    let slow = scene.run(|frame, memory, draw| -> Result<(), Error> {
        reference::draw(frame, memory, draw);
        Ok(())
    });
    assert!(fast == slow);
}

/// States and primitives of any bytes: the first byte counts states, the next one primitives, whose states are bytes before
/// them; texels are the bytes again.
pub fn warp_state(data: &[u8]) {
    const SIZE: [u32; 2] = [40, 24];
    let mut bytes = Bytes::new(data);
    let [states, primitives] = [8, 32].map(|most| 1 + bytes.u8() % most);
    let states: Vec<RenderState> = (0..states)
        .map(|_| {
            RenderState::from_full_bytes(&std::array::from_fn::<u8, FULL_STATE_BYTES, _>(|_| bytes.u8()))
        })
        .collect();
    let (mut state_of, mut list) = (Vec::new(), Vec::new());
    for _ in 0..primitives {
        state_of.push(u16::from(bytes.u8()) % states.len() as u16);
        let record = std::array::from_fn::<u8, PRIMITIVE_BYTES, _>(|_| bytes.u8());
        list.push(Primitive::from_bytes(&record));
    }
    let Ok(mut memory) = Memory::new(1 << 14) else { return };
    memory.write(0x2000, data.get(..0x2000).unwrap_or(data));
    let surface = |offset| Surface { offset, size: SIZE, stride: 2 * SIZE[0] };
    let targets = Targets { color: surface(0), depth: surface(0x1000) };
    let (Ok(draw), Ok(frame)) = (Draw::new(&states, &list, &state_of), Frame::load(&memory, &targets)) else {
        return;
    };
    let (mut fast, mut slow) = (frame.clone(), frame);
    Engine::new().with_batch(7).draw(&mut fast, &memory, &draw);
    reference::draw(&mut slow, &memory, &draw);
    assert!(fast.words() == slow.words());
}

/// Models of any floats: a scene that both engines draw to the same, or an error.
pub fn warp_model(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let sides = [0; 2].map(|_| u32::from(bytes.u8()) % 65);
    let texture = [0; 2].map(|_| 1u32 << (bytes.u8() % 5));
    let texels = (0..texture[0] * texture[1]).map(|_| bytes.u32().to_le_bytes()).collect();
    let float = |bytes: &mut Bytes<'_>| f32::from_bits(bytes.u32());
    let view = View {
        size: sides,
        turn: float(&mut bytes),
        down: float(&mut bytes),
        zoom: float(&mut bytes),
        fog: bytes.u8() & 1 != 0,
        ..View::default()
    };
    let mut triangles = Vec::new();
    while !bytes.is_empty() && triangles.len() < MOST_PRIMITIVES {
        let mut corner = || Corner {
            position: std::array::from_fn(|_| float(&mut bytes)),
            color: std::array::from_fn(|_| float(&mut bytes)),
            uv: std::array::from_fn(|_| float(&mut bytes)),
        };
        let corners = std::array::from_fn(|_| corner());
        let place = bytes.u8();
        triangles.push(Triangle { corners, texture: (place & 1 != 0).then_some(usize::from(place >> 6)) });
    }
    let model = Model { triangles, textures: vec![Texture { size: texture, texels }] };
    if let Ok(scene) = model.scene(&view)
        && scene.primitives.len() <= 8 * MOST_PRIMITIVES
    {
        engines_agree(&scene);
    }
}

/// Bytes for [`warp_state`]: those of the scenes' states and primitives.
pub fn states() -> Vec<Vec<u8>> {
    let seed = |(number, (format, filter)): (u8, (u8, u8))| {
        let Scene { states, primitives, .. } = scene(format | filter, number);
        let mut bytes = vec![states.len() as u8 - 1, primitives.len() as u8 - 1];
        states.iter().for_each(|state| bytes.extend(state.to_full_bytes()));
        for primitive in &primitives {
            bytes.push(0);
            bytes.extend(primitive.to_bytes());
        }
        bytes
    };
    (0..).zip(kinds()).map(seed).collect()
}

/// Bytes for [`warp_model`].
pub fn models() -> Vec<Vec<u8>> {
    let seed = |number: u32| {
        let mut bytes = vec![40, 24, 2, 3];
        bytes.extend((0..32 * 4).map(|i| (number * 7 + i * 31) as u8));
        let mut put = |value: f32| bytes.extend(value.to_bits().to_le_bytes());
        [30.0, 20.0, 1.0].into_iter().for_each(&mut put);
        bytes.push(number as u8);
        for triangle in 0..4 {
            for corner in 0..3 {
                let angle = (number + triangle + 2 * corner) as f32;
                let place = [angle.sin(), angle.cos(), triangle as f32];
                let color = [0.5, 1.0, 0.2 * corner as f32, if triangle == 3 { 0.5 } else { 1.0 }];
                let values = place.into_iter().chain(color).chain([angle.sin(), angle.cos()]);
                values.for_each(|value| bytes.extend(value.to_bits().to_le_bytes()));
            }
            bytes.push(triangle as u8 & 1);
        }
        bytes
    };
    (0..12).map(seed).collect()
}

/// Formats and filters.
fn kinds() -> impl Iterator<Item = (u8, u8)> {
    let formats = [
        format::ARGB1555,
        format::I8,
        format::LA88,
        format::I4,
        format::PALETTE8,
        format::PALETTE4,
        format::RGB565,
    ];
    let filters = [0, format::BILINEAR, format::BILINEAR | format::TRILINEAR];
    formats.into_iter().flat_map(move |kind| filters.map(|filter| (kind, filter)))
}

/// Scenes with textures of every format.
pub fn scenes() -> Vec<Vec<u8>> {
    (0..).zip(kinds()).map(|(number, (kind, filter))| scene(kind | filter, number).to_bytes()).collect()
}

fn scene(format: u8, number: u8) -> Scene {
    let size = [40, 24];
    let surface = |offset| Surface { offset, size, stride: 80 };
    let state = RenderState {
        scissor: [0, 0, 40, 24],
        constant: [9, 40, 77, 3],
        depth: 0x80 | number & 7,
        blend: number & 3,
        combiner: combiner::SAMPLE | if number & 1 != 0 { combiner::ADD_CONSTANT } else { 0 },
        alpha_threshold: number & 1,
        clamp: [-4, 0, 30, 20],
        mask: [15, 7],
        width: 16,
        max_level: 2,
        format,
        levels: [0x4000, 0x4100, 0x4180, 0, 0, 0, 0, 0],
        palette: 0x4040,
        fog: Fog { enable: number >> 3 & 1, start: 0x3000, scale: 0x300, color: [90, 80, 200] },
        stencil: Stencil {
            test: if number > 12 { 0x80 | number & 7 } else { 0 },
            reference: number & 15,
            mask: 15,
            operations: [number & 7, number >> 1 & 7, 2],
        },
    };
    let viewport = Viewport { origin: [0.0; 2], size: [40.0, 24.0], depth: [0.0, 1.0] };
    let vertex = |x, y, z, w: f32| Vertex {
        position: [x, y, z, w],
        uv: [x * 16.0, y * 16.0],
        color: [0.9, z, w / 4.0, 0.5],
    };
    let mut primitives = Vec::new();
    for corners in [
        [vertex(-1.0, -1.0, 0.2, 1.0), vertex(1.5, -0.5, 0.7, 2.0), vertex(-0.5, 1.0, 0.9, 4.0)],
        [vertex(-0.2, -1.0, 0.9, 1.0), vertex(0.9, 0.1, 0.1, 1.0), vertex(0.1, 0.9, 0.5, -0.5)],
    ] {
        clip::draw(corners, &viewport, Cull::None, &mut primitives);
    }
    let count = primitives.len();
    let texture = (0..512u32).map(|i| (i * 37 + i * i / 3) as u8).collect();
    Scene {
        states: vec![state],
        state_of: vec![0; count],
        primitives,
        uploads: vec![(0x4000, texture)],
        passes: vec![Pass {
            targets: Targets { color: surface(0), depth: surface(0x1000) },
            primitives: 0..count,
            clear_color: Some(0x1234),
            clear_depth: Some(0xc000),
        }],
        ranges: vec![(0, 0x2000)],
        results: Vec::new(),
    }
}
