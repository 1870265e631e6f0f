//! Features of the pixel stages: tests, blending, fog, formats, shadow maps, the scissor.

use super::{Feature, SIDE, Scene, nibbles};
use crate::builder::{f16, f24};
use xenoglot_pica::regs::*;

pub const FEATURES: &[Feature] = &[
    ("alpha test", alpha_test),
    ("blending", blending),
    ("logic operations", logic_operations),
    ("write masks", write_masks),
    ("depth test", depth_test),
    ("depth map", depth_map),
    ("stencil test", stencil_test),
    ("colour and depth formats", formats),
    ("fog", fog),
    ("shadow map", shadow_map),
    ("scissor", scissor),
];

fn alpha_test(scene: &mut Scene) {
    scene.each = |scene| {
        let word = 1 | scene.rng.below(8) << 4 | scene.rng.below(256) << 8;
        scene.list.write(ALPHA_TEST, word);
    };
}

fn blending(scene: &mut Scene) {
    scene.each = |scene| {
        let factors = nibbles([(); 4].map(|()| scene.rng.below(15)));
        let equations = scene.rng.below(5) | scene.rng.below(5) << 8;
        let constant = scene.rng.next_u32();
        scene.list.write(FRAGMENT_MODE, 1 << 8).write(BLENDING, factors << 16 | equations);
        scene.list.write(BLEND_CONSTANT, constant);
    };
}

fn logic_operations(scene: &mut Scene) {
    scene.each = |scene| {
        let operation = scene.rng.below(16);
        scene.list.write(FRAGMENT_MODE, 0).write(LOGIC_OP, operation);
    };
}

fn write_masks(scene: &mut Scene) {
    scene.each = |scene| {
        let depth_test = scene.rng.below(2) | 1 << 4 | scene.rng.below(32) << 8;
        let (color, depth) = (scene.rng.below(16), scene.rng.below(4));
        scene.list.write(DEPTH_TEST, depth_test).write(COLOR_WRITE, color).write(DEPTH_WRITE, depth);
    };
}

fn depth_test(scene: &mut Scene) {
    scene.list.write(DEPTH_SCALE, f24(-1.0)).write(DEPTH_MODE, 1);
    scene.each = |scene| {
        let test = scene.rng.below(8) | 1;
        let word = u32::from(scene.rng.percent(90)) | test << 4 | 0xf << 8 | scene.rng.below(2) << 12;
        scene.list.write(DEPTH_TEST, word);
    };
}

fn depth_map(scene: &mut Scene) {
    depth_test(scene);
    let (scale, offset) = (scene.number(-1.5, 1.5), scene.number(-0.5, 1.0));
    let mode = scene.rng.below(2);
    scene.list.write(DEPTH_SCALE, f24(scale)).write(DEPTH_OFFSET, f24(offset)).write(DEPTH_MODE, mode);
}

fn stencil_test(scene: &mut Scene) {
    depth_test(scene);
    scene.each = |scene| {
        let test = scene.rng.next_u32() & !0xe | 1;
        let actions = scene.rng.next_u32() & 0x777;
        let depth = scene.rng.below(2) | (1 + scene.rng.below(7)) << 4 | 0xf << 8 | scene.rng.below(2) << 12;
        scene.list.write(STENCIL_TEST, test).write(STENCIL_ACTIONS, actions).write(DEPTH_TEST, depth);
    };
}

fn formats(scene: &mut Scene) {
    stencil_test(scene);
    let color = scene.rng.below(5);
    let depth = scene.one_of(&[0, 2, 3]);
    scene.list.write(COLOR_FORMAT, color << 16 | [2, 1, 0, 0, 0][color as usize]).write(DEPTH_FORMAT, depth);
    // Also rows whose last tile is not whole.
    let (width, height) = (8 + scene.rng.below(SIDE - 7), 8 + scene.rng.below(SIDE - 7));
    scene.list.write(FRAMEBUFFER_SIZE, width | (height - 1) << 12 | 1 << 24);
    let [half_width, half_height] = [width, height].map(|side| f24(side as f32 / 2.0));
    scene.list.write(VIEWPORT_HALF_WIDTH, half_width).write(VIEWPORT_HALF_HEIGHT, half_height);
    let blend = scene.one_of(&[0x0101_0000, 0x7676_0000]);
    scene.list.write(FRAGMENT_MODE, 1 << 8).write(BLENDING, blend);
}

fn fog(scene: &mut Scene) {
    depth_map(scene);
    let (mode, color) = (5 | scene.rng.below(2) << 16, scene.rng.next_u32());
    let table = scene.words(128, 0xff_ffff);
    scene.list.write(FOG_MODE, mode).write(FOG_COLOR, color);
    scene.list.write(FOG_LUT_PORT, 0).stream(FOG_LUT_DATA, &table);
}

fn shadow_map(scene: &mut Scene) {
    let scale = scene.number(-1.2, -0.5);
    let (constant, linear) = (scene.number(-1.0, 2.0), scene.number(-1.0, 2.0));
    scene.list.write(DEPTH_SCALE, f24(scale)).write(DEPTH_MODE, 1).write(FRAGMENT_MODE, 3);
    scene.list.write(SHADOW, f16(constant) | f16(linear) << 16);
}

fn scissor(scene: &mut Scene) {
    scene.each = |scene| {
        let [a, b, c, d] = [(); 4].map(|()| scene.rng.below(SIDE + 8));
        let mode = scene.one_of(&[1, 3]);
        let (start, end) = (a.min(c) | b.min(d) << 16, a.max(c) | b.max(d) << 16);
        scene.list.write_all(SCISSOR_MODE, &[mode, start, end]);
    };
}
