//! The rules as a program of the IR, run by the interpreter, against the reference.

mod common;

use common::Scene;
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::verify;
use xenoglot_raster::{Grid, cpu};
use xenoglot_testgen::property;
use xenoglot_warp::program::{batch_words, frame_words, state_words, uber};
use xenoglot_warp::reference;

#[test]
fn the_program_is_the_reference() {
    let mut rng = property::rng(26);
    for number in 0..property::budget(6, 60) {
        let mut scene = Scene::random(&mut rng, 12);
        let size = scene.targets.size().map(|pixels| pixels.min(40));
        (scene.targets.color.size, scene.targets.depth.size) = (size, size);
        let tile = [8, 16][number % 2];
        let module = uber(tile);
        verify(&module).unwrap();
        let grid = Grid { size, primitives: scene.primitives.len() as u32, tile };
        let draw = scene.draw();
        let edges = draw.edges(size);
        let tiles = cpu::bin(&grid, &edges);
        let mut frame = scene.frame();
        let [colors, depths] = frame.words();
        let states: Vec<u32> = scene.states.iter().flat_map(state_words).collect();
        let last = scene.memory.units().len() as u32 - 1;
        let buffers = [
            frame_words(&grid).to_vec(),
            tiles.words().to_vec(),
            batch_words(&draw, &edges, 0, &[]),
            states,
            scene.memory.words(),
            colors,
            depths,
            vec![last],
        ];
        let mut bindings = Bindings::new(&module);
        for (resource, data) in module.resources.iter() {
            bindings.set_words(resource, &buffers[data.binding as usize]);
        }
        let [columns, rows] = grid.tiles();
        let limits = Limits { fuel: u64::MAX, ..Limits::default() };
        Interpreter::new(&module).unwrap().dispatch([columns, rows, 1], &mut bindings, &limits).unwrap();
        let result = |binding| {
            let (resource, _) = module.resources.iter().find(|(_, data)| data.binding == binding).unwrap();
            bindings.words(resource)
        };
        let mut drawn = scene.frame();
        drawn.set_words(&result(5), &result(6));
        reference::draw(&mut frame, &scene.memory, &draw);
        assert!(scene.stored(&frame) == scene.stored(&drawn), "scene {number}");
    }
}
