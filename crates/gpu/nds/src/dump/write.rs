//! Writing dumps.

use super::{FrameDump, KINDS, MAGIC, Matrix, State, VERSION};

impl FrameDump {
    /// The bytes of a dump. Banks that are neither textures nor texture palettes are left out; the contents of others are cut or
    /// filled up with zeros to their banks' size.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(1 << 20);
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.push(0);
        self.write_registers(&mut out);
        write_state(&mut out, &self.state);
        out.extend(self.banks.iter().map(|bank| bank.0));
        for ((control, contents), kind) in self.banks.iter().zip(&KINDS) {
            if kind.is_three_d(*control) {
                let end = out.len() + kind.bytes;
                out.extend(contents.iter().take(kind.bytes));
                out.resize(end, 0);
            }
        }
        out.extend((self.commands.len() as u32).to_le_bytes());
        out.extend((self.params.len() as u32).to_le_bytes());
        out.extend(&self.commands);
        words(&mut out, &self.params);
        out
    }

    fn write_registers(&self, out: &mut Vec<u8>) {
        let registers = &self.registers;
        let halves = |addresses: std::ops::Range<u32>| {
            addresses.step_by(2).flat_map(|address| registers.half(address).to_le_bytes())
        };
        out.extend(registers.control.to_le_bytes());
        out.extend(halves(0x0400_0330..0x0400_0340));
        out.push(registers.alpha_test_ref);
        out.extend(halves(0x0400_0350..0x0400_0358));
        out.extend(halves(0x0400_0358..0x0400_035c));
        out.extend(halves(0x0400_035c..0x0400_035e));
        out.extend(halves(0x0400_0360..0x0400_03c0));
        out.extend(registers.one_dot_depth.to_le_bytes());
    }
}

fn words(out: &mut Vec<u8>, words: &[u32]) {
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

fn write_state(out: &mut Vec<u8>, state: &State) {
    let State {
        attributes,
        next_attributes,
        color,
        viewport,
        projection_stack,
        position_stack,
        vector_stack,
        texture_stack,
        projection,
        position,
        vector,
        texture_matrix,
        mode,
        primitive,
        vertex: (vertex_xy, vertex_z),
        texcoord,
        texture,
        palette,
        diffuse_ambient,
        specular_emission,
        shininess,
        light_vectors,
        light_colors,
        swap,
    } = state;
    words(out, &[*attributes, *next_attributes, *color, *viewport]);
    words(out, projection_stack);
    words(out, position_stack.as_flattened());
    words(out, vector_stack.as_flattened());
    let matrices: [&Matrix; 5] = [texture_stack, projection, position, vector, texture_matrix];
    matrices.into_iter().for_each(|matrix| words(out, matrix));
    words(out, &[*mode, *primitive, *vertex_xy]);
    out.extend(vertex_z.to_le_bytes());
    words(out, &[*texcoord, *texture, *palette, *diffuse_ambient, *specular_emission]);
    words(out, shininess);
    words(out, light_vectors);
    words(out, light_colors);
    words(out, &[*swap]);
}
