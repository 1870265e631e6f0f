//! Features of shading: textures, procedural textures, fragment lighting, combiners.

use super::{COLOR, DATA, DATA_BYTES, Feature, OTHER, SIDE, Scene, nibbles};
use crate::builder::f16;
use xenoglot_pica::regs::*;

pub const FEATURES: &[Feature] = &[
    ("combiners", combiners),
    ("textures", textures),
    ("kinds of textures", kinds),
    ("what was drawn as a texture", drawn_texture),
    ("procedural textures", procedural),
    ("lighting", lighting),
    ("bump mapping", bump),
];

const STAGES: [u32; 6] = [COMBINER0, COMBINER1, COMBINER2, COMBINER3, COMBINER4, COMBINER5];
const UNITS: [(u32, u32); 3] =
    [(TEXTURE0, TEXTURE0_FORMAT), (TEXTURE1, TEXTURE1_FORMAT), (TEXTURE2, TEXTURE2_FORMAT)];
const CONFIGURATIONS: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 8];

/// Random combiner stages with these sources.
fn stages(scene: &mut Scene, sources: &[u32]) {
    for stage in STAGES {
        let [color, alpha] = [(); 2].map(|()| nibbles([(); 3].map(|()| scene.one_of(sources))));
        let operands = nibbles([(); 3].map(|()| scene.one_of(&[0, 1, 2, 3, 4, 5, 8, 9, 12, 13])));
        let alphas = scene.rng.next_u32() & 0x777;
        let operations = scene.rng.below(10) | scene.rng.below(10) << 16;
        let (constant, scale) = (scene.rng.next_u32(), scene.rng.below(4) | scene.rng.below(4) << 16);
        let words = [color | alpha << 16, operands | alphas << 12, operations, constant, scale];
        scene.list.write_all(stage, &words);
    }
    let (buffer, updates) = (scene.rng.next_u32(), scene.rng.below(256) << 8);
    scene.list.write(COMBINER_BUFFER, buffer).write_bytes(FOG_MODE, updates, 2);
}

/// A first stage that multiplies sources, and others that pass its result on.
fn show(scene: &mut Scene, [first, second]: [u32; 2]) {
    let sources = first | second << 4;
    scene.list.write_all(COMBINER0, &[sources | sources << 16, 0, 1 | 1 << 16, 0, 0]);
    for stage in &STAGES[1..] {
        scene.list.write_all(*stage, &[0x000f_000f, 0, 0, 0, 0]);
    }
}

fn combiners(scene: &mut Scene) {
    unit(scene, 0, 0);
    scene.list.write(TEXTURE_UNITS, 1);
    scene.each = |scene| stages(scene, &[0, 3, 13, 14, 15]);
}

/// Sets a unit's texture to one of this kind, at a random place in the data.
fn unit(scene: &mut Scene, number: usize, kind: u32) {
    let (first, format) = UNITS[number];
    let side = |scene: &mut Scene| {
        if scene.rng.percent(70) { 8 << scene.rng.below(4) } else { 8 + scene.rng.below(57) }
    };
    let (height, width) = (side(scene), side(scene));
    let wraps = scene.rng.below(8) << 8 | scene.rng.below(8) << 12;
    let address = DATA + scene.rng.below(DATA_BYTES / 2 / 128) * 128;
    let (border, texels) = (scene.rng.next_u32(), scene.rng.below(14));
    scene.list.write_all(first, &[border, height | width << 16, wraps | kind << 28, 0, address / 8]);
    scene.list.write(format, texels);
}

fn textures(scene: &mut Scene) {
    scene.each = |scene| {
        (0..3).for_each(|number| unit(scene, number, 0));
        let units = scene.rng.below(8) | scene.rng.below(2) << 13;
        scene.list.write(TEXTURE_UNITS, units);
        let sources = [(); 2].map(|()| scene.one_of(&[3, 4, 5]));
        show(scene, sources);
    };
}

fn kinds(scene: &mut Scene) {
    scene.each = |scene| {
        let kind = scene.one_of(&[1, 2, 3, 4, 5]);
        unit(scene, 0, kind);
        let faces = [(); 5].map(|()| (DATA + scene.rng.below(DATA_BYTES / 2 / 128) * 128) / 8);
        let shadow = scene.rng.next_u32() & 0xff_ffff;
        scene.list.write_all(TEXTURE0 + 5, &faces.map(|address| address & 0x3f_ffff));
        scene.list.write(TEXTURE0_SHADOW, shadow).write(TEXTURE_UNITS, 1);
        if matches!(kind, 2 | 4) {
            // Shadow maps have four bytes a texel.
            scene.list.write(TEXTURE0_FORMAT, 0);
        }
        show(scene, [3, 0]);
    };
}

/// Draws to one of two colour buffers, with the other one as the texture.
fn drawn_texture(scene: &mut Scene) {
    scene.draws = 4;
    scene.each = |scene| {
        let [to, from] = if scene.rng.percent(50) { [COLOR, OTHER] } else { [OTHER, COLOR] };
        unit(scene, 0, 0);
        let format = if scene.rng.percent(60) { 0 } else { scene.rng.below(14) };
        let height = if scene.rng.percent(60) { SIDE } else { SIDE / 2 };
        scene.list.write(TEXTURE0 + 1, height | SIDE << 16).write(TEXTURE0 + 4, from / 8);
        scene.list.write(TEXTURE0_FORMAT, format).write(TEXTURE_UNITS, 1).write(COLOR_ADDRESS, to / 8);
        show(scene, [3, 0]);
    };
}

fn procedural(scene: &mut Scene) {
    let tables = [(0, 128, 0xff_ffff), (2, 128, 0xff_ffff), (3, 128, 0xff_ffff), (4, 256, !0), (5, 256, !0)];
    for (table, count, mask) in tables {
        let words = scene.words(count, mask);
        scene.list.write(PROCTEX_LUT_PORT, table << 8).stream(PROCTEX_LUT_DATA, &words);
    }
    scene.each = |scene| {
        let clamps = scene.rng.below(5) | scene.rng.below(5) << 3;
        let functions = scene.rng.below(10) << 6 | scene.rng.below(10) << 10;
        let rest = scene.rng.below(4) << 14 | scene.rng.below(3) << 16 | scene.rng.below(3) << 18;
        let [u, v] = [(); 2].map(|()| {
            let phase = scene.number(-2.0, 2.0);
            scene.rng.below(1 << 16) | f16(phase) << 16
        });
        let (across, up) = (scene.number(0.0, 3.0), scene.number(0.0, 3.0));
        let lut = scene.rng.below(6) | scene.rng.below(128) << 11;
        let offset = scene.rng.below(128);
        let frequency = f16(across) | f16(up) << 16;
        scene.list.write_all(PROCTEX_SETUP, &[clamps | functions | rest, u, v, frequency, lut, offset]);
        let coordinates = scene.rng.below(3);
        scene.list.write(TEXTURE_UNITS, 1 << 10 | coordinates << 8);
        show(scene, [6, 6]);
    };
}

fn lighting(scene: &mut Scene) {
    for table in [0, 1, 3, 4, 5, 6, 8, 9, 10, 16, 17, 18] {
        let words = scene.words(256, 0xff_ffff);
        scene.list.write(LIGHT_LUT_PORT, table << 8).stream(LIGHT_LUT_DATA, &words);
    }
    scene.list.write(LIGHTING_ENABLE, 1).write(LIGHTING_DISABLE, 0);
    scene.each = |scene| {
        light_all(scene);
        stages(scene, &[1, 2, 15]);
    };
}

/// Three lights with random colours, positions, spots, attenuation and tables.
fn light_all(scene: &mut Scene) {
    let color = |scene: &mut Scene| scene.rng.next_u32() & 0x0ff3_fcff;
    for light in (LIGHT..).step_by(0x10).take(3) {
        let colors = [(); 4].map(|()| color(scene));
        let [x, y, z] = [(); 3].map(|()| scene.number(-3.0, 3.0)).map(f16);
        let spot = [scene.rng.next_u32() & 0x1fff_1fff, scene.rng.next_u32() & 0x1fff];
        let configuration = scene.rng.below(16);
        // Floats of 20 bits, 12 of them the mantissa.
        let [bias, scale] = [(); 2].map(|()| (59 + scene.rng.below(4)) << 12 | scene.rng.below(1 << 12));
        scene.list.write_all(light, &colors).write_all(light + 4, &[x | y << 16, z]);
        scene.list.write_all(light + 6, &spot).write_all(light + 9, &[configuration, bias, scale]);
    }
    let ambient = color(scene);
    let count = scene.rng.below(3);
    let configuration = scene.one_of(&CONFIGURATIONS);
    let flags = scene.rng.next_u32() & (0xf << 16 | 1 << 27 | 3 << 2);
    let disabled = scene.rng.next_u32() & scene.rng.next_u32();
    let signed = scene.rng.next_u32() & 0x0222_2222;
    let inputs = nibbles([(); 7].map(|()| scene.rng.below(6)));
    let scales = nibbles([(); 7].map(|()| scene.one_of(&[0, 1, 2, 3, 6, 7])));
    let order = nibbles([(); 3].map(|()| scene.rng.below(3)));
    scene.list.write(LIGHT_AMBIENT, ambient).write(LIGHT_COUNT, count);
    scene.list.write(LIGHT_CONFIG, configuration << 4 | flags).write(LIGHT_DISABLE, disabled);
    scene.list.write_all(LIGHT_LUT_SIGNED, &[signed, inputs, scales]).write(LIGHT_ORDER, order);
}

/// Normals, tangents and shadows of textures.
fn bump(scene: &mut Scene) {
    lighting(scene);
    scene.each = |scene| {
        light_all(scene);
        (0..3).for_each(|number| unit(scene, number, 0));
        let textures = scene.rng.below(3) << 22 | scene.rng.below(3) << 24;
        let mode = scene.rng.below(3) << 28 | scene.rng.below(2) << 30;
        let shadows = scene.rng.below(2) | scene.rng.below(16) << 16;
        let configuration = scene.one_of(&CONFIGURATIONS) << 4;
        scene.list.write(LIGHT_CONFIG, configuration | textures | mode | shadows).write(TEXTURE_UNITS, 7);
        show(scene, [1, 1]);
    };
}
