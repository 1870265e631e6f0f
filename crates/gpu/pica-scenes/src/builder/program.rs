//! Shaders: upload, output map, uniforms by name.

use super::Builder;
use glam::{Mat4, Vec4};
use xenoglot_pica::regs::*;
use xenoglot_pica::replay::CommandList;
use xenoglot_pica_shader::asm::assemble;
use xenoglot_pica_shader::bundled::SHADERS;
use xenoglot_pica_shader::container::{
    ConstantValue, Dvle, GeometryMode, RegisterFile, Semantic, Shbin, Uniform,
};

/// Uniform port: words are IEEE singles.
const SINGLES: u32 = 1 << 31;
/// What a unit's input register says about the unit.
const VERTEX_UNIT: u32 = 0xa0 << 24;
const GEOMETRY_UNIT: u32 = 0x08 << 24;
/// No semantic.
const UNUSED: u32 = 31;

/// Text of a shader that comes with the front end.
pub fn bundled(name: &str) -> &'static str {
    SHADERS.iter().find(|shader| shader.name == name).expect("a bundled shader").source
}

/// A shader of one unit.
#[derive(Debug)]
pub struct Unit {
    shbin: Shbin,
    /// The unit's first register.
    base: u32,
}

/// What draws: a vertex shader and perhaps a geometry shader.
#[derive(Debug)]
pub struct Program {
    /// Vertex shader.
    pub vertex: Unit,
    /// Geometry shader.
    pub geometry: Option<Unit>,
}

impl Program {
    /// Assembles a vertex shader.
    pub fn vertex(source: &str) -> Program {
        Program { vertex: Unit::new(source, VERTEX_BOOLS), geometry: None }
    }

    /// Assembles a vertex and a geometry shader.
    pub fn geometry(vertex: &str, geometry: &str) -> Program {
        Program { geometry: Some(Unit::new(geometry, GEOMETRY_BOOLS)), ..Program::vertex(vertex) }
    }

    fn last(&self) -> &Unit {
        self.geometry.as_ref().unwrap_or(&self.vertex)
    }
}

/// The semantics of an output's components, as the output map has them.
fn semantics(semantic: Semantic) -> &'static [u32] {
    match semantic {
        Semantic::Position => &[0, 1, 2, 3],
        Semantic::NormalQuat => &[4, 5, 6, 7],
        Semantic::Color => &[8, 9, 10, 11],
        Semantic::TexCoord0 => &[12, 13],
        Semantic::TexCoord0W => &[16],
        Semantic::TexCoord1 => &[14, 15],
        Semantic::TexCoord2 => &[22, 23],
        Semantic::View => &[18, 19, 20],
        Semantic::Dummy | Semantic::Other(_) => &[],
    }
}

impl Unit {
    fn new(source: &str, base: u32) -> Unit {
        Unit { shbin: assemble(source).expect("the scenes' shaders assemble"), base }
    }

    fn executable(&self) -> &Dvle {
        self.shbin.executables.first().expect("an assembled shader has an executable")
    }

    /// The register of this unit that is `register` of the geometry unit.
    fn register(&self, register: u32) -> u32 {
        self.base + register - GEOMETRY_BOOLS
    }

    /// Inputs, the highest register and those below.
    fn inputs(&self) -> u32 {
        16 - self.executable().input_mask.leading_zeros()
    }

    fn outputs(&self) -> u32 {
        self.executable().output_mask.count_ones()
    }

    fn upload(&self, list: &mut CommandList) {
        let program = &self.shbin.program;
        list.write(self.register(GEOMETRY_CODE_PORT), 0);
        list.stream(self.register(GEOMETRY_CODE_DATA), &program.code);
        list.write(self.register(GEOMETRY_DESCRIPTOR_PORT), 0);
        list.stream(self.register(GEOMETRY_DESCRIPTOR_DATA), &program.descriptors);
        let dvle = self.executable();
        list.write(self.register(GEOMETRY_ENTRY), dvle.main);
        list.write_all(self.register(GEOMETRY_PERMUTATION), &[0x7654_3210, 0xfedc_ba98]);
        list.write(self.register(GEOMETRY_OUTPUT_MASK), dvle.output_mask.into());
        for constant in &dvle.constants {
            match constant.value {
                ConstantValue::Float(value) => {
                    let value = value.map(|raw| xenoglot_pica_shader::float::F24.to_f32(raw));
                    self.floats(list, constant.register, &[Vec4::from(value)]);
                }
                ConstantValue::Int(value) => self.int(list, constant.register, value),
                ConstantValue::Bool(_) => {}
            }
        }
    }

    fn floats(&self, list: &mut CommandList, register: u8, values: &[Vec4]) {
        list.write(self.register(GEOMETRY_UNIFORM_PORT), u32::from(register) | SINGLES);
        let words: Vec<u32> = values.iter().flat_map(|v| [v.w, v.z, v.y, v.x].map(f32::to_bits)).collect();
        list.stream(self.register(GEOMETRY_UNIFORM_DATA), &words);
    }

    fn int(&self, list: &mut CommandList, register: u8, value: [u8; 4]) {
        list.write(self.register(GEOMETRY_INTS) + u32::from(register), u32::from_le_bytes(value));
    }

    fn find(&self, file: RegisterFile, name: &str) -> &Uniform {
        let uniforms = &self.executable().uniforms;
        let found = uniforms.iter().find(|uniform| uniform.file == file && uniform.name == name);
        found.unwrap_or_else(|| panic!("the shader has no uniform {name}"))
    }

    /// Sets float uniforms from the one called `name` on.
    pub fn set(&self, list: &mut CommandList, name: &str, values: &[Vec4]) {
        self.floats(list, self.find(RegisterFile::Float, name).first, values);
    }

    /// Sets the rows of a matrix.
    pub fn set_matrix(&self, list: &mut CommandList, name: &str, matrix: &Mat4) {
        self.set(list, name, &rows(matrix));
    }

    /// Sets an int uniform.
    pub fn set_int(&self, list: &mut CommandList, name: &str, value: [u8; 4]) {
        self.int(list, self.find(RegisterFile::Int, name).first, value);
    }

    /// Sets the bool uniforms: those that are named are true.
    pub fn set_bools(&self, list: &mut CommandList, names: &[&str]) {
        let bits = |name: &&str| {
            let uniform = self.find(RegisterFile::Bool, name);
            ((1 << uniform.count) - 1) << uniform.first
        };
        let bits = names.iter().map(bits).sum();
        list.write(self.base, bits);
    }
}

/// The rows of a matrix, as shaders want them for DP4.
pub fn rows(matrix: &Mat4) -> [Vec4; 4] {
    [0, 1, 2, 3].map(|i| matrix.row(i))
}

impl Builder {
    /// Uploads a program and configures the stages for it.
    pub fn program(&mut self, program: &Program) {
        let list = &mut self.list;
        let Program { vertex, geometry } = program;
        list.write(GEOMETRY_EXCLUSIVE, geometry.is_some().into());
        vertex.upload(list);
        list.write(VERTEX_INPUTS, (vertex.inputs() - 1) | VERTEX_UNIT);
        list.write(VERTEX_OUTPUTS, vertex.outputs() - 1).write(VERTEX_OUTPUTS_COPY, vertex.outputs() - 1);
        match geometry {
            Some(unit) => {
                unit.upload(list);
                configure_geometry(list, unit, vertex.outputs());
            }
            None => {
                list.write(GEOMETRY_STAGE, 0).write(GEOMETRY_MODE, 0).write(PRIMITIVES, 0);
            }
        }
        output_map(list, program.last().executable());
    }
}

fn configure_geometry(list: &mut CommandList, unit: &Unit, attributes: u32) {
    let geometry = unit.executable().geometry;
    let (mode, to_uniforms) = match geometry.mode {
        GeometryMode::Point => (0, false),
        GeometryMode::Variable => (1, true),
        GeometryMode::Fixed => {
            let fixed = u32::from(geometry.fixed_count) - 1;
            (2 | fixed << 8 | (attributes - 1) << 12 | u32::from(geometry.fixed_start) << 16, true)
        }
    };
    list.write(GEOMETRY_STAGE, 2 | u32::from(geometry.mode == GeometryMode::Variable) << 31);
    list.write(GEOMETRY_MODE, mode);
    list.write(VARIABLE_MAIN, u32::from(geometry.variable_count).saturating_sub(1));
    list.write(
        GEOMETRY_INPUTS,
        unit.inputs().saturating_sub(1) | u32::from(to_uniforms) << 8 | GEOMETRY_UNIT,
    );
    // Topology of geometry shaders.
    list.write(PRIMITIVES, 3 << 8);
}

/// The rasteriser's view of the outputs: of each register in the mask, the semantics of its components.
fn output_map(list: &mut CommandList, dvle: &Dvle) {
    let mut map = Vec::new();
    for register in (0..16).filter(|r| dvle.output_mask >> r & 1 != 0) {
        let mut components = [UNUSED; 4];
        for output in dvle.outputs.iter().filter(|output| output.register == register) {
            for (component, &semantic) in output.mask.components().zip(semantics(output.semantic)) {
                components[component.index()] = semantic;
            }
        }
        map.push(components.into_iter().rev().fold(0, |word, semantic| word << 8 | semantic));
    }
    list.write(OUTPUT_COUNT, map.len() as u32);
    list.write_all(OUTPUT_MAP, &map);
}
