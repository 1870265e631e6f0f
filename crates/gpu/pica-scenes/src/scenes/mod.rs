//! The scenes, one file each.

mod batch;
mod cubes;
mod fog;
mod mirror;
mod multitexture;
mod particles;
mod proctex;
mod shadow;
mod skinned;
mod stage;
mod subdivision;
mod toon;
mod triangles;

use crate::{Count, Scene};

/// Every scene.
pub const SCENES: &[Scene] = &[
    Scene {
        name: "cubes",
        doc: "rotating crates, textured and lit by fragment, a draw each",
        frames: 60,
        count: Some(Count { what: "cubes", default: 60, range: 20..=800 }),
        make: cubes::make,
    },
    Scene {
        name: "triangles",
        doc: "draws of a single triangle each",
        frames: 60,
        count: Some(Count { what: "triangles", default: 40, range: 1..=100 }),
        make: triangles::make,
    },
    Scene {
        name: "batch",
        doc: "a ball of crates, textured and lit by fragment, in one draw",
        frames: 60,
        count: Some(Count { what: "cubes", default: 300, range: 1..=800 }),
        make: batch::make,
    },
    Scene {
        name: "skinned",
        doc: "a bending tube: four bones per vertex, lights by vertex",
        frames: 120,
        count: None,
        make: skinned::make,
    },
    Scene {
        name: "particles",
        doc: "sparks along splines: a geometry shader with primitives of fixed size that keeps its state",
        frames: 120,
        count: Some(Count { what: "splines", default: 12, range: 1..=64 }),
        make: particles::make,
    },
    Scene {
        name: "subdivision",
        doc: "Loop's subdivision: a geometry shader with primitives of variable size; before and after",
        frames: 60,
        count: None,
        make: subdivision::make,
    },
    Scene {
        name: "toon",
        doc: "light in steps, and outlines from a second pass turned inside out",
        frames: 60,
        count: None,
        make: toon::make,
    },
    Scene {
        name: "multitexture",
        doc: "three textures in combiner stages: bricks in ETC1, a light in I8, a sign in RGBA4",
        frames: 60,
        count: None,
        make: multitexture::make,
    },
    Scene {
        name: "fog",
        doc: "an avenue in fog, which is a table over a linear depth buffer",
        frames: 60,
        count: None,
        make: fog::make,
    },
    Scene {
        name: "shadow",
        doc: "a shadow map: rendered in shadow mode, looked up by the lighting unit",
        frames: 60,
        count: None,
        make: shadow::make,
    },
    Scene {
        name: "mirror",
        doc: "a mirror in the floor: where the stencil buffer says so, the scene upside down",
        frames: 60,
        count: None,
        make: mirror::make,
    },
    Scene {
        name: "proctex",
        doc: "marble and wood from the procedural texture unit, with its noise",
        frames: 60,
        count: None,
        make: proctex::make,
    },
];
