//! Warp: scene files, and what they draw.

use xenoglot_warp::golden::{Error, Golden, Pass, Scene};
use xenoglot_warp::state::{combiner, format};
use xenoglot_warp::{Cull, Engine, RenderState, Surface, Targets, Vertex, Viewport, clip, reference};

/// Columns or rows of a picture that is drawn.
const MOST_PIXELS: u32 = 96;
/// Primitives of a scene that is drawn.
const MOST_PRIMITIVES: usize = 64;

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
    if !scene.passes.iter().all(is_small) || scene.passes.len() > 4 {
        return;
    }
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

/// Scenes with textures of every format.
pub fn scenes() -> Vec<Vec<u8>> {
    let formats = [format::ARGB1555, format::I8, format::LA88];
    let filters = [0, format::BILINEAR, format::BILINEAR | format::TRILINEAR];
    let all = formats.into_iter().flat_map(|kind| filters.map(|filter| kind | filter));
    all.zip(0u8..).map(|(format, number)| scene(format, number).to_bytes()).collect()
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
        ..RenderState::default()
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
