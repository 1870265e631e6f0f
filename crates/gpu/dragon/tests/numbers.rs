//! What number types do to pictures.

mod common;

use common::{demo, frame, other_demo};
use xenoglot_dragon::host::psnr;

#[test]
fn fixed_point_comes_near_floats() {
    println!("| model | s16.16 | s18.14 | s20.12 | s22.10 | s24.8 |\n|---|---|---|---|---|---|");
    for (name, demo) in [("ring", demo()), ("ball", other_demo())] {
        let float = frame(&demo, "number = \"f32\"").picture;
        let decibels = ["s16.16", "s18.14", "s20.12", "s22.10", "s24.8"]
            .map(|number| psnr(&frame(&demo, &format!("number = \"{number}\"")).picture, &float));
        let cells: Vec<String> = decibels.iter().map(|d| format!("{d:.1}")).collect();
        println!("| {name} | {} |", cells.join(" | "));
        assert!(decibels[0] > 40.0, "{name}: {decibels:?}");
        assert!(decibels[0] > decibels[4], "{name}: {decibels:?}");
    }
}
