//! Features of the units besides drawing: command processor, fills, display transfers, texture copies.

use super::{COLOR, DEPTH, Feature, NEXT_LIST, OTHER, SHOWN, SIDE, Scene};
use xenoglot_pica::regs::*;
use xenoglot_pica::replay::{CommandList, Operation};
use xenoglot_pica::transfer::{DisplayTransfer, Fill, TextureCopy};

pub const FEATURES: &[Feature] = &[
    ("command lists", lists),
    ("fills", fills),
    ("display transfers", transfers),
    ("texture copies", copies),
];

/// Bytes of registers, lists that go on in another one, interrupts that end a list.
fn lists(scene: &mut Scene) {
    let mut next = CommandList::new();
    let (blending, constant) = (scene.rng.next_u32() & 0x6666_0000, scene.rng.next_u32());
    next.write(FRAGMENT_MODE, 1 << 8).write(BLENDING, blending).write(BLEND_CONSTANT, constant);
    next.write(DRAW_ARRAYS, 1);
    let bytes = next.to_bytes();
    let size = bytes.len() as u32 / 8;
    scene.memory.push((NEXT_LIST, bytes));
    scene.each = |scene| {
        for register in [BLEND_CONSTANT, BLENDING, ALPHA_TEST, COMBINER0 + 3] {
            let (value, mask) = (scene.rng.next_u32() & 0x7fff_0f0e, scene.rng.below(16) as u8);
            scene.list.write_bytes(register, value, mask);
        }
        let stops = scene.rng.below(2);
        scene.list.write(INTERRUPT_STOP, stops);
    };
    let channel = scene.rng.below(2);
    if scene.rng.percent(50) {
        // The interrupt ends the list before the jump if INTERRUPT_STOP is set.
        scene.tail.write(INTERRUPT_COMPARE, 0x1234_5678).write(INTERRUPT_REQUEST, 0x0034_0000);
    }
    scene.tail.write(LIST_SIZE + channel, size).write(LIST_ADDRESS + channel, NEXT_LIST / 8);
    scene.tail.write(LIST_JUMP + channel, 1).write(DRAW_ARRAYS, 1);
}

fn fills(scene: &mut Scene) {
    for _ in 0..4 {
        let start = scene.one_of(&[COLOR, DEPTH, OTHER, SHOWN]) + scene.rng.below(512) * 16;
        let end = start + scene.rng.below(512) * 16;
        let (value, control) = (scene.rng.next_u32(), scene.one_of(&[0, 1 << 8, 1 << 9, 3 << 8]));
        scene.after.push(Operation::Fill(Fill { start, end, value, control }));
    }
}

/// All conversions, also of formats in which the frame was not drawn.
fn transfers(scene: &mut Scene) {
    for _ in 0..4 {
        let [width, height] = [(); 2].map(|()| 8 * (1 + scene.rng.below(SIDE / 8)));
        let formats = scene.rng.below(5) << 8 | scene.rng.below(5) << 12;
        let (scale, modes) = (scene.rng.below(3), scene.rng.next_u32() & 0x27);
        let (in_size, narrow) = (width | height << 16, scene.rng.percent(25));
        let out_size = if narrow { (width / 2).max(8) | height << 16 } else { in_size };
        let dst = SHOWN + scene.rng.below(2) * 0x4000;
        let flags = formats | modes | scale << 24;
        scene.after.push(Operation::Display(DisplayTransfer { src: COLOR, dst, out_size, in_size, flags }));
    }
}

fn copies(scene: &mut Scene) {
    for _ in 0..4 {
        let line = |scene: &mut Scene| scene.rng.below(16) | scene.rng.below(8) << 16;
        let (in_line, out_line) = (line(scene), line(scene));
        let src = COLOR + scene.rng.below(64) * 16;
        let dst = scene.one_of(&[OTHER, SHOWN]) + scene.rng.below(64) * 16;
        let bytes = 16 + scene.rng.below(0x2000);
        scene.after.push(Operation::Copy(TextureCopy { src, dst, bytes, in_line, out_line, flags: 8 }));
    }
}
