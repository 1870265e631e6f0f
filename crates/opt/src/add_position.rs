//! Adds a position to vertex shaders that write none: WebGPU and naga require one.
//!
//! ```text
//! module vertex "v" {                      module vertex "v" {
//!   output %o = location 0 : f32x4           output %o = location 0 : f32x4
//!                                     =>     output %position = builtin position : f32x4
//!   entry func @main() {                     entry func @main() {
//!   block0:                                  block0:
//!                                              v0 : f32x4 = const [0.0, 0.0, 0.0, 0.0]
//!                                              output %position, v0
//! ```
//!
//! Such shaders exist for the outputs they capture or the buffers they store to; what they draw is undefined anyway.

use crate::{Changed, Lacks};
use xenoglot_ir::module::{Builtin, Direction, Interpolation, Semantic, VarData};
use xenoglot_ir::{Bits, Builder, Module, Stage, Type};

/// Gives a vertex shader a position, of zeros, if it has none.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    let position = Semantic::Builtin(Builtin::Position);
    let has = module.vars.values().any(|v| v.semantic == position && v.direction == Direction::Output);
    if !lacks.vertex_without_position || module.stage != Stage::Vertex || has {
        return Changed::NONE;
    }
    let Some(entry) = module.entry.expand() else { return Changed::NONE };
    let Some(block) = module.funcs.get(entry).and_then(|f| f.entry()) else { return Changed::NONE };
    let is_taken = |name: &str| module.vars.values().any(|v| v.name == name);
    let mut name = Builtin::Position.name().to_owned();
    while is_taken(&name) {
        name.push('_');
    }
    let var = module.vars.push(VarData {
        name,
        direction: Direction::Output,
        ty: Type::F32X4,
        semantic: position,
        interpolation: Interpolation::Smooth,
        array: None,
        inner: None,
        stream: 0,
    });
    let f = &mut module.funcs[entry];
    let after = std::mem::take(&mut f.blocks[block].insts);
    let mut b = Builder::new(f, block);
    let zeros = b.constant(Type::F32X4, Bits::default());
    b.output(var, zeros);
    f.blocks[block].insts.extend(after);
    Changed::INSTS
}
