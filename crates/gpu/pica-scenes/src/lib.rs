//! Scenes for the PICA200, made from scratch: captures to look at, to compare and to measure.
//!
//! Each scene is a function from [`Params`] to a capture, and a row of [`SCENES`]. Shaders are in `shaders/` and in the
//! front end's bundle, meshes and textures are computed. Scenes depend on their parameters only; not even the machine
//! they are built on makes a difference.
//!
//! ```
//! use xenoglot_pica_scenes::{Params, Scene};
//!
//! let scene = Scene::find("triangles").unwrap();
//! let capture = scene.build(Params { frames: Some(2), count: Some(5) });
//! assert_eq!(capture.machine, *b"PICA");
//! ```
//!
//! | room | what it is for |
//! |---|---|
//! | `builder` | memory, command lists and state of a scene's frames |
//! | `mesh`, `texture`, `luts`, `math` | what is drawn |
//! | `scenes` | one file per scene |
//! | [`random`] | frames in which everything is used as something else soon, for tests |
//! | [`features`] | random scenes of one feature of the chip each, for tests |
#![deny(missing_docs)]

mod builder;
pub mod features;
mod luts;
mod math;
mod mesh;
pub mod random;
mod scenes;
mod texture;

use builder::Builder;
use std::ops::RangeInclusive;
use xenoglot_capture::Capture;

pub use builder::{HEIGHT, WIDTH};
pub use scenes::SCENES;

/// What a scene is built with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Params {
    /// Frames; [`Scene::frames`] if not given. At most [`MAX_FRAMES`].
    pub frames: Option<u32>,
    /// How many there are of what the scene counts; otherwise its default. Brought into its range.
    pub count: Option<u32>,
}

/// Most frames of a capture.
pub const MAX_FRAMES: u32 = 10_000;

/// What a scene can have more or less of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Of what.
    pub what: &'static str,
    /// Unless asked for.
    pub default: u32,
    /// What can be asked for.
    pub range: RangeInclusive<u32>,
}

/// A scene.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Its name.
    pub name: &'static str,
    /// What it shows, in a line.
    pub doc: &'static str,
    /// Frames, unless asked for.
    pub frames: u32,
    /// What it counts.
    pub count: Option<Count>,
    make: fn(&mut Builder, &Run),
}

/// Parameters of a scene that is being built.
pub(crate) struct Run {
    pub frames: u32,
    pub count: u32,
}

impl Run {
    /// For each frame the time in seconds.
    pub fn times(&self) -> impl Iterator<Item = f32> {
        (0..self.frames).map(|frame| frame as f32 / 60.0)
    }
}

impl Scene {
    /// The scene of a name.
    pub fn find(name: &str) -> Option<&'static Scene> {
        SCENES.iter().find(|scene| scene.name == name)
    }

    /// Its capture.
    pub fn build(&self, params: Params) -> Capture {
        let frames = params.frames.unwrap_or(self.frames).clamp(1, MAX_FRAMES);
        let count = self.count.as_ref().map_or(1, |count| {
            params.count.unwrap_or(count.default).clamp(*count.range.start(), *count.range.end())
        });
        let mut builder = Builder::new(self.name);
        (self.make)(&mut builder, &Run { frames, count });
        builder.finish()
    }
}
