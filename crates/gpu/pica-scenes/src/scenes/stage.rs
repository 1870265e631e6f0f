//! What several scenes share: objects lit by fragment.

use crate::builder::{Builder, Combine, IndexBuffer, Light, Program, Source, Stage, VertexBuffer, bundled};
use crate::luts;
use crate::mesh::Mesh;
use glam::{Mat4, Vec3};

/// Table D0 of the lighting unit.
const D0: u32 = 0;

/// Light times texture 0, and the highlight on top.
pub const LIT_TEXTURE: [Stage; 2] = lit(Source::Texture0);

/// Light times a texture, and the highlight on top.
pub const fn lit(texture: Source) -> [Stage; 2] {
    [
        Stage::new(Combine::Modulate, [Source::LightPrimary, texture, Source::Previous]),
        Stage::new(Combine::Add, [Source::Previous, Source::LightSecondary, Source::Previous]),
    ]
}

/// A mesh in memory.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    pub vertices: VertexBuffer,
    pub indices: IndexBuffer,
}

impl Object {
    /// Places a mesh with normals and texture coordinates.
    pub fn lit(b: &mut Builder, mesh: &Mesh) -> Object {
        Object { vertices: b.vertices(mesh.lit()), indices: b.indices(&mesh.indices) }
    }

    /// Draws it.
    pub fn draw(&self, b: &mut Builder) {
        b.bind(&self.vertices);
        b.draw(&self.indices);
    }
}

/// A warm light from the upper right and a weak blue one from the left, in view space.
pub fn two_lights() -> [Light; 2] {
    let sun = Vec3::new(1.0, 0.95, 0.85);
    let sky = Vec3::new(0.35, 0.45, 0.7);
    let light = |direction: Vec3, color: Vec3, ambient: f32| Light {
        position: direction.extend(0.0),
        diffuse: color * 0.85,
        specular: color * 0.35,
        ambient: color * ambient,
    };
    [light(Vec3::new(0.5, 0.7, 0.6), sun, 0.12), light(Vec3::new(-0.8, 0.1, 0.4), sky, 0.1)]
}

/// A program for meshes lit by fragment, uploaded and with its projection and highlights set.
pub fn fragment_lit(b: &mut Builder, projection: &Mat4, shine: f32) -> Program {
    let program = Program::vertex(bundled("fragment_light.v.pica"));
    b.program(&program);
    program.vertex.set_matrix(&mut b.list, "projection", projection);
    b.lighting_table(D0, &luts::shine(shine));
    program
}

/// Sets a program's model-view matrix.
pub fn place(b: &mut Builder, program: &Program, model_view: &Mat4) {
    program.vertex.set_matrix(&mut b.list, "modelView", model_view);
}

/// A light at a place of the world, white.
pub fn lamp(view: &Mat4, at: Vec3, ambient: f32) -> Light {
    Light {
        position: (*view * at.extend(1.0)).truncate().extend(1.0),
        diffuse: Vec3::splat(0.9),
        specular: Vec3::splat(0.7),
        ambient: Vec3::splat(ambient),
    }
}
