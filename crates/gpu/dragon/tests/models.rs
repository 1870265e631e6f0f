//! What is seen of models: textures in perspective, and blending.

mod common;

use common::*;
use xenoglot_dragon::host::{Demo, Image, Material, Mesh, glass, psnr, wooden_crate};
use xenoglot_vpu::asm::assemble;

/// A square that fills the screen, `z` towards the eye.
fn square(z: f32, color: [f32; 4]) -> Mesh {
    Mesh {
        positions: vec![[-2.0, -2.0, z], [2.0, -2.0, z], [2.0, 2.0, z], [-2.0, 2.0, z]],
        colors: vec![color; 4],
        texcoords: vec![Some([0.0, 0.0]), Some([1.0, 0.0]), Some([1.0, 1.0]), Some([0.0, 1.0])],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        ..Mesh::default()
    }
}

fn small(mesh: Mesh) -> Demo {
    Demo { screen: [64, 64], ..Demo::new(mesh).unwrap() }
}

#[test]
fn a_square_has_its_textures_colours() {
    let quarters = |x: u32, y: u32| {
        [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255; 4]][(x / 8 + y / 8 * 2) as usize]
    };
    let demo = small(square(0.0, [1.0, 1.0, 0.5, 1.0]).textured(Image::new(16, 16, quarters)));
    for number in ["s16.16", "f32"] {
        let picture = demo.frame(&mut machine(&format!("number = \"{number}\"")), 0).unwrap().picture;
        let pixel = |x: usize, y: usize| &picture.rgb[(y * 64 + x) * 3..][..3];
        // Coordinates grow downwards, the square's upwards.
        assert_eq!(pixel(8, 50), [255, 0, 0], "{number}");
        assert_eq!(pixel(56, 50), [0, 255, 0], "{number}");
        assert!((120..140).contains(&pixel(8, 8)[2]) && pixel(8, 8)[0] == 0, "{number}: {:?}", pixel(8, 8));
        assert_eq!(pixel(56, 8)[..2], [255, 255], "{number}");
    }
}

#[test]
fn what_is_translucent_is_blended_over_what_is_behind() {
    // Behind it, given first although it is nearest: sorting puts it last.
    let mut mesh = square(0.4, [1.0, 0.0, 0.0, 0.5]);
    let behind = square(-0.4, [0.0, 0.0, 1.0, 1.0]);
    mesh.positions.extend(behind.positions);
    mesh.colors.extend(behind.colors);
    mesh.triangles.extend([[4, 5, 6], [4, 6, 7]]);
    let picture = frame(&small(mesh.clone()), "").picture;
    let near = |a: u8, b: u8| a.abs_diff(b) <= 8;
    let middle = &picture.rgb[(32 * 64 + 32) * 3..][..3];
    assert!(near(middle[0], 128) && middle[1] == 0 && near(middle[2], 128), "{middle:?}");
    // Opaque, it hides what is behind.
    mesh.colors[..4].fill([1.0, 0.0, 0.0, 1.0]);
    mesh.triangles.reverse();
    let picture = frame(&Demo { program: small(glass()).program, ..small(mesh) }, "").picture;
    assert_eq!(picture.rgb[(32 * 64 + 32) * 3..][..3], [255, 0, 0]);
}

#[test]
fn our_models_are_the_same_for_all_unit_counts_and_close_for_both_numbers() {
    for mesh in [wooden_crate(), glass()] {
        let demo = Demo { screen: [96, 80], ..Demo::new(mesh).unwrap() };
        let want = frame(&demo, "").picture;
        for toml in
            ["vpus = 1\nthreads = 3", "vpus = 8\nthreads = 64\nvpu_queue = 40", "[latency]\ntexture = 90"]
        {
            assert!(frame(&demo, toml).picture == want, "{toml}");
        }
        let float = demo.frame(&mut machine("number = \"f32\""), 3).unwrap().picture;
        assert!(psnr(&float, &want) > 35.0, "{} dB", psnr(&float, &want));
    }
}

/// Each draw has its own texture and program.
#[test]
fn materials_have_textures_and_programs_of_their_own() {
    let plain = |value: u8| Image::new(8, 8, move |_, _| [value, value, value, 255]);
    let half = |x: f32, material: u16| {
        let mut mesh = square(0.0, [1.0; 4]);
        mesh.positions.iter_mut().for_each(|p| p[0] = p[0] * 0.5 + x);
        mesh.surfaces = vec![material; 2];
        mesh
    };
    let mut mesh = half(-1.0, 0);
    let right = half(1.0, 1);
    mesh.positions.extend(right.positions);
    mesh.colors.extend(right.colors);
    mesh.texcoords.extend(right.texcoords);
    mesh.triangles.extend([[4, 5, 6], [4, 6, 7]]);
    mesh.surfaces.extend([1, 1]);
    mesh.textures = vec![plain(255), plain(64)];
    let material = |name: &str, texture| Material { name: name.into(), texture: Some(texture) };
    mesh.materials = vec![material("left", 0), material("right", 1)];
    let demo = small(mesh);
    let at = |demo: &Demo, toml: &str, x: usize| {
        let picture = demo.frame(&mut machine(toml), 0).unwrap().picture;
        picture.rgb[(32 * 64 + x) * 3]
    };
    for toml in ["", "bin_size = 64", "vpus = 1\nthreads = 1"] {
        assert_eq!((at(&demo, toml, 10), at(&demo, toml, 54)), (255, 66), "{toml}");
    }
    // A program for one of them, which draws what the vertices' colours are.
    let programs = vec![("right".to_owned(), assemble("store tb0, r1\nexit").unwrap())];
    for binning in [true, false] {
        let demo = Demo { programs: programs.clone(), binning, ..demo.clone() };
        assert_eq!((at(&demo, "", 10), at(&demo, "", 54)), (255, 255));
    }
}
