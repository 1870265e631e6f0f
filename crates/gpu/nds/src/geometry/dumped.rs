//! The engine's state as frame dumps have it: parameters of the commands that make it so.

use super::engine::GeometryEngine;
use super::light::Lighting;
use super::matrix::Matrix;
use super::viewport::Viewport;
use crate::dump::State;

fn words(matrix: &Matrix) -> [u32; 16] {
    matrix.0.map(|element| element as u32)
}

/// A colour RGB555.
fn color(channels: [i32; 3]) -> u32 {
    channels.iter().rev().fold(0, |color, &channel| color << 5 | channel as u32 & 31)
}

impl GeometryEngine {
    /// Whether a polygon has some of its vertices.
    pub(crate) fn is_within_polygon(&self) -> bool {
        self.assembly.is_within_polygon()
    }

    /// The state.
    ///
    /// # Errors
    /// What is in a state that dumps cannot have.
    pub(crate) fn dumped(&self) -> Result<State, &'static str> {
        let matrices = &self.matrices;
        if matrices.pointer != 0 || matrices.projection_stack.used || matrices.texture_stack.used {
            return Err("matrices are on the stacks");
        }
        let [x, y, z] = self.vertex.map(|v| v as u16);
        let [s, t] = self.raw_texcoord.map(|c| u32::from(c as u16));
        let Lighting { lights, diffuse, ambient, specular, emission, uses_table, shininess } = &self.lighting;
        let mut light_vectors = [0; 4];
        let mut light_colors = [0; 4];
        for (number, light) in lights.iter().enumerate() {
            // They are kept pointing away from the light, in 11 bits; the parameter has 10.
            let direction = light.direction.map(|v| -v);
            if direction.iter().any(|v| !(-512..512).contains(v)) {
                return Err("a light's vector is longer than one");
            }
            let vector = direction.iter().rev().fold(0, |vector, &v| vector << 10 | v as u32 & 0x3ff);
            light_vectors[number] = vector | (number as u32) << 30;
            light_colors[number] = color(light.color) | (number as u32) << 30;
        }
        let pairs = || matrices.stack.iter();
        let mut position_stack = Box::new([[0; 16]; 32]);
        let mut vector_stack = Box::new([[0; 16]; 32]);
        position_stack.iter_mut().zip(pairs()).for_each(|(to, from)| *to = words(&from.0.0));
        vector_stack.iter_mut().zip(pairs()).for_each(|(to, from)| *to = words(&from.1.0));
        Ok(State {
            attributes: self.attributes,
            next_attributes: self.next_attributes,
            color: color(self.color.map(i32::from)),
            viewport: viewport(self.viewport()),
            projection_stack: words(&matrices.projection_stack.entry.0),
            position_stack,
            vector_stack,
            texture_stack: words(&matrices.texture_stack.entry.0),
            projection: words(&matrices.projection),
            position: words(&matrices.position),
            vector: words(&matrices.vector),
            texture_matrix: words(&matrices.texture),
            mode: matrices.mode as u32,
            primitive: self.assembly.primitive as u32,
            vertex: (u32::from(x) | u32::from(y) << 16, z),
            texcoord: s | t << 16,
            texture: self.texture,
            palette: self.palette,
            diffuse_ambient: color(*diffuse) | color(*ambient) << 16,
            specular_emission: color(*specular) | u32::from(*uses_table) << 15 | color(*emission) << 16,
            shininess: std::array::from_fn(|i| {
                shininess[4 * i..4 * i + 4].iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
            }),
            light_vectors,
            light_colors,
            swap: self.swap_buffers().0,
        })
    }
}

/// VIEWPORT's parameter, which counts from the bottom.
fn viewport(viewport: &Viewport) -> u32 {
    let Viewport { left, top, width, height } = *viewport;
    let right = left.wrapping_add(width).wrapping_sub(1);
    let bottom = top.wrapping_add(height).wrapping_sub(1);
    let from_bottom = |row: u32| 191u32.wrapping_sub(row) & 0xff;
    left & 0xff | from_bottom(bottom) << 8 | (right & 0xff) << 16 | from_bottom(top) << 24
}
