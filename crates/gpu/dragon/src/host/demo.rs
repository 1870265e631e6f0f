//! The demo: a model that turns before a checkerboard, bin by bin.

use super::mesh::Mesh;
use super::scene::{Animation, Buffering, DemoError, Drawing, Frame, Part, Scene, ScreenVertex};
use crate::machine::Machine;
use std::cmp::Reverse;
use std::f32::consts::TAU;
use xenoglot_vpu::asm::assemble;

/// A demo.
#[derive(Clone, Debug, PartialEq)]
pub struct Demo {
    /// The model; it is best [`centred`](Mesh::centred).
    pub mesh: Mesh,
    /// The program: attribute 1 is the colour, 2 the place in texture 0 if the model has textures, with 1 in lane z where the
    /// vertex has such a place; tb0 is colour in RGB565, tb1 depth.
    pub program: Vec<u32>,
    /// Programs of materials by name, instead of that one.
    pub programs: Vec<(String, Vec<u32>)>,
    /// Pixels across and down, at most 1024 each.
    pub screen: [u16; 2],
    /// Frames of a whole turn.
    pub frames: u32,
    /// Order of the tile buffers.
    pub buffering: Buffering,
    /// Whether each bin is given only the triangles that touch it.
    pub binning: bool,
    /// Whether colours are interpolated in perspective.
    pub perspective: bool,
    /// Whether bins are filled with two greys in turn, so that they are seen; all with one if not.
    pub checkerboard: bool,
}

/// Draws fragments nearer than the depth in tb1.
pub const DEPTH_PROGRAM: &str = "\
    ldt   r2, tb1           ; depth so far
    swz   r3, r0.zzzz
    sub   r4.x, r2, r3
    kill  r4
    store tb0, r1
    store tb1, r3
    exit
";

/// Puts into tb0 what a texture colours where there is one, blended by its alpha over what is there. The alpha stays in r7.
macro_rules! shade {
    () => {
        "\
    tex   r3, r2, t0
    swz   r6, r2.zzzz       ; has it a place in the texture?
    mul   r3, r3, r1
    sel   r1, r3, r1, r6
    swz   r7, r1.wwww       ; blended over what is there
    ldt   r8, tb0
    sub   r9, r1, r8
    mad   r8, r9, r7, r8
    store tb0, r8
"
    };
}

/// Draws what is nearer than what tb1 holds, coloured by a texture where there is one and blended by its alpha over what
/// is there. Only what is opaque hides what comes later.
pub const TEXTURE_PROGRAM: &str = concat!(
    "\
    ldt   r4, tb1           ; depth so far
    swz   r5, r0.zzzz
    sub   r6.x, r4, r5
    kill  r6
",
    shade!(),
    "\
    imm   r9, 0.9375
    sge   r9, r7, r9        ; is it opaque?
    sel   r4, r5, r4, r9
    store tb1, r4
    exit
"
);

/// As [`TEXTURE_PROGRAM`], whatever depth says.
#[cfg(feature = "pica")]
pub(super) const UNTESTED_PROGRAM: &str = concat!(shade!(), "    exit\n");

/// Distance of the eye from the model's middle, and of the picture plane from the eye in half screens.
const EYE: f32 = 3.0;
const FOCAL: f32 = 2.6;

impl Animation for Demo {
    fn frames(&self) -> u32 {
        self.frames
    }

    fn scene(&self, n: u32) -> Scene {
        let angle = TAU * (n % self.frames.max(1)) as f32 / self.frames.max(1) as f32;
        let vertices = self.project(angle);
        let triangles = self.painted(&vertices);
        let part = |run: &[(u16, [u32; 3])]| {
            let material = self.mesh.materials.get(usize::from(run[0].0));
            let own = |m: &super::mesh::Material| self.programs.iter().position(|(name, _)| *name == m.name);
            Part {
                triangles: run.iter().map(|(_, t)| *t).collect(),
                texture: material.and_then(|m| m.texture),
                // The programs of materials follow the one of all.
                program: material.and_then(own).map_or(0, |n| n + 1),
            }
        };
        Scene {
            screen: self.screen,
            vertices,
            parts: triangles.chunk_by(|a, b| a.0 == b.0).map(part).collect(),
            textures: self.mesh.textures.clone(),
            programs: [&self.program]
                .into_iter()
                .chain(self.programs.iter().map(|(_, p)| p))
                .cloned()
                .collect(),
            buffering: self.buffering,
            binning: self.binning,
            perspective: self.perspective,
            checkerboard: self.checkerboard,
        }
    }
}

impl Demo {
    /// The original's picture: 320 by 240 pixels, 200 frames, a model with depth, and with texture and blending where it
    /// has them.
    ///
    /// # Errors
    /// None that can happen: the program is ours.
    pub fn new(mesh: Mesh) -> Result<Demo, DemoError> {
        let plain = mesh.textures.is_empty() && !mesh.triangles.iter().any(|t| mesh.is_translucent(t));
        let program = assemble(if plain { DEPTH_PROGRAM } else { TEXTURE_PROGRAM })?;
        let (screen, buffering) = ([320, 240], Buffering::default());
        Ok(Demo {
            mesh,
            program,
            programs: Vec::new(),
            screen,
            frames: 200,
            buffering,
            binning: true,
            perspective: true,
            checkerboard: true,
        })
    }

    /// Draws frame `n` of the turn and reads it back.
    ///
    /// # Errors
    /// A model too large, or a program that never ends.
    pub fn frame(&self, machine: &mut Machine, n: u32) -> Result<Frame, DemoError> {
        self.scene(n).draw(machine)
    }

    /// Puts frame `n` of the turn into memory, ready to be drawn.
    ///
    /// # Errors
    /// A model too large.
    pub fn begin(&self, machine: &mut Machine, n: u32) -> Result<Drawing, DemoError> {
        self.scene(n).begin(machine)
    }

    /// Triangles and their materials in the order of drawing: opaque ones by material, then those that are seen through, the
    /// farthest first.
    fn painted(&self, vertices: &[ScreenVertex]) -> Vec<(u16, [u32; 3])> {
        let depth = |&i: &u32| vertices.get(i as usize).map_or(0, |v| u32::from(v[2] as u16));
        let surfaces = self.mesh.surfaces.iter().copied().chain(std::iter::repeat(0));
        let mut triangles: Vec<(u16, [u32; 3])> = surfaces.zip(self.mesh.triangles.iter().copied()).collect();
        triangles.sort_by_key(|(material, t)| {
            let translucent = self.mesh.is_translucent(t);
            let far = if translucent { t.iter().map(depth).sum::<u32>() } else { 0 };
            (translucent, Reverse(far), if translucent { 0 } else { *material })
        });
        triangles
    }

    /// The model's vertices on the screen, turned by `angle`.
    fn project(&self, angle: f32) -> Vec<ScreenVertex> {
        let ((sin, cos), (tilt_sin, tilt_cos)) = (angle.sin_cos(), 0.5f32.sin_cos());
        let half = self.screen.map(|n| f32::from(n) / 2.0);
        let scale = half[0].min(half[1]) * FOCAL;
        let to_i16 = |v: f32| v.round() as i16;
        let to_u16 = |v: f32| v.round() as u16 as i16;
        let vertex = |p: &[f32; 3], c: &[f32; 4], t: Option<[f32; 2]>| {
            let (x, z) = (p[0] * cos + p[2] * sin, p[2] * cos - p[0] * sin);
            let (y, z) = (p[1] * tilt_cos - z * tilt_sin, p[1] * tilt_sin + z * tilt_cos);
            let w = (EYE - z).max(0.1);
            let depth = ((w - EYE + 1.5) / 3.0).clamp(0.0, 1.0) * 65535.0;
            let mut out = ScreenVertex::default();
            out[0] = to_i16((half[0] + x / w * scale) * 16.0);
            out[1] = to_i16((half[1] - y / w * scale) * 16.0);
            out[2] = to_u16(depth);
            out[3] = to_u16((1.0 / w).min(1.0) * 32768.0);
            let place = t.map_or([0.0; 3], |[u, v]| [u, v, 1.0]);
            let lanes = c.iter().chain(&place);
            out[4..].iter_mut().zip(lanes).for_each(|(o, v)| *o = to_i16(v * 16384.0));
            out
        };
        let places = self.mesh.texcoords.iter().copied().chain(std::iter::repeat(None));
        self.mesh
            .positions
            .iter()
            .zip(&self.mesh.colors)
            .zip(places)
            .map(|((p, c), t)| vertex(p, c, t))
            .collect()
    }
}
