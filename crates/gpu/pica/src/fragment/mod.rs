//! Fragment programs for a host GPU: the pixel stages of [`crate::raster`] as IR, one program per pipeline state.
//!
//! ```text
//! registers ─FragmentKey::decode─▶ key ─generate─▶ IR module ─▶ the workspace's back ends
//!     └─────layout::uniforms, tables, texels─────▶ buffers
//! ```
//!
//! A [`FragmentKey`] holds what decides about the code; constants, colours, light parameters, tables and references are
//! in buffers, so changing them makes no new program. The arithmetic is that of vectors/picagpu/FORMAT.md, sections 5,
//! 7 and 8, in the CPU renderer's order: given the same interpolated attributes and a host whose `f32` division and
//! square root are correctly rounded, colours are equal bit for bit; the integer stages (texel addresses, combiners,
//! alpha test, blending) are exact on every host.
//!
//! **Inputs** are the outputs of the vertex programs' wrapper (`xenoglot_pica_shader::lift`): quaternion, colour,
//! texture coordinates 0, 1 and 2, view at locations 0 to 5, and the fragment's position with -z/w as depth and 1/w.
//! Before clipping, the chip negates quaternions of vertices 1 and 2 that point away from vertex 0's; that needs a
//! whole triangle and is up to who feeds the vertices.
//!
//! **Outputs**: the colour at location 0, channels n/255; the depth where it is not the host's own. Fragments that fail
//! the alpha test end. Stencil and depth test are the host's. Blending is the host's too or, exactly, the program's
//! ([`Blending`]): it reads the pixel from a buffer, which the host has to keep coherent between overlapping
//! fragments, and gives what the colour buffer holds afterwards; formats with fewer bits keep their precision in a
//! target of 8 bits. Shadow rendering gives words of the shadow map in an integer target.
//!
//! Textures are buffers of decoded texels and addressed with the chip's wrapping: the chip's renderer takes the
//! nearest texel whatever filter is asked for.
//!
//! | room | what it makes |
//! |---|---|
//! | `key` | registers to a key |
//! | [`layout`] | buffers |
//! | `emit` | resources and arithmetic |
//! | `texture`, `filter`, `proctex`, `lighting` | the combiners' sources |
//! | `combiner` | the combiner stages |
//! | `output` | all that follows |
//! | `options` | what an embedder may choose |
//! | [`tile`] | whole tiles, from triangles to stored pixels, as compute programs |

mod combiner;
mod emit;
mod filter;
mod key;
pub mod layout;
mod lighting;
mod options;
mod output;
mod proctex;
#[cfg(test)]
mod tests;
mod texture;
pub mod tile;

pub use key::{Blending, FragmentKey};
pub use options::{Options, Scale, Triangles};

use xenoglot_ir::{Function, Module, Stage, Value};

use crate::raster::Chip;
use crate::raster::batch::semantic;
use crate::raster::combiner::Source;
use crate::raster::state::State;
use crate::regs::Registers;
use crate::tables::Tables;
use combiner::Planes;
use emit::Emit;
use key::{OutputKey, UNIT_SOURCES};

/// Whether a draw reads a texture or buffer that it writes, so that each pixel must see what the one before it wrote:
/// fragment programs cannot do that.
pub fn has_feedback(regs: &Registers, tables: &Tables) -> bool {
    State::decode(regs, tables, Chip::default()).is_some_and(|state| state.feedback)
}

/// The program of a key.
pub fn generate(key: &FragmentKey) -> Module {
    let mut func = Function::new("main");
    let mut emit = Emit::new(&mut func, Module::new(Stage::Fragment, "pica fragment"));
    let mut color = color(&mut emit, key);
    if let Some(function) = key.alpha_test {
        output::test_alpha(&mut emit, function, color[3]);
    }
    let needs_depth = key.fog.is_some() || key.depth.written || key.output == OutputKey::Shadow;
    let depth = needs_depth.then(|| output::depth(&mut emit, key.depth.w_buffer));
    if let (Some(flip), Some(depth)) = (key.fog, depth) {
        output::fog(&mut emit, &mut color, depth, flip);
    }
    output::write(&mut emit, key, color, depth);
    emit.b.ret(&[]);
    let mut module = emit.module;
    module.entry = Some(module.funcs.push(func)).into();
    module
}

/// The fragment's colour by the combiners.
fn color(emit: &mut Emit, key: &FragmentKey) -> [Value; 4] {
    let mut planes = Planes::default();
    sources(emit, key, &mut planes);
    planes.run(emit, &key.program)
}

/// The colours the combiners may read.
fn sources(emit: &mut Emit, key: &FragmentKey, planes: &mut Planes) {
    if key.program.uses(Source::Primary) {
        let color = emit.attributes(semantic::COLOR);
        let color = [0, 1, 2, 3].map(|lane| {
            let (value, white) = (emit.b.extract(color, lane), emit.f32(255.0));
            let value = emit.fmul(value, white);
            let value = emit.round(value);
            emit.low_byte(value)
        });
        planes.set(Source::Primary, color);
    }
    for ((number, unit), source) in key.units.iter().enumerate().zip(UNIT_SOURCES) {
        if let Some(unit) = unit {
            let color = texture::sample(emit, number, unit);
            planes.set(source, color);
        }
    }
    if let Some(proctex) = &key.proctex {
        let color = proctex::sample(emit, proctex);
        planes.set(Source::Procedural, color);
    }
    if let Some(lighting) = &key.lighting {
        let [primary, secondary] = lighting::shade(emit, lighting, planes);
        planes.set(Source::LightPrimary, primary);
        planes.set(Source::LightSecondary, secondary);
    }
}
