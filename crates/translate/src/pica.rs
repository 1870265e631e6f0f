//! PICA200 programs: from files to modules.

use crate::Error;
use crate::detect::{Format, detect};
use xenoglot_ir::Module;
use xenoglot_pica_shader::asm;
use xenoglot_pica_shader::container::extract::extract;
use xenoglot_pica_shader::container::{Dvle, Limits, ShaderKind, Shbin};
use xenoglot_pica_shader::disasm::instruction_text;
use xenoglot_pica_shader::lift::{
    ClipSpace, GeometryWrapper, LiftOptions, Lifted, Numeric, OutputMap, VertexOutputs, Wrapper, add_listing,
    lift,
};
use xenoglot_pica_shader::names::Names;

/// A shader binary and where it was found.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Byte offset in the file; 0 for a file that is one, or was assembled.
    pub offset: usize,
    /// The binary.
    pub shbin: Shbin,
}

/// Every shader binary in a file: the file itself, what its assembly makes, or all that it has inside.
///
/// # Errors
/// [`Error::UnknownFormat`] if there is none; the reader's or assembler's error with its place.
pub fn load(bytes: &[u8]) -> Result<Vec<Loaded>, Error> {
    let limits = Limits::default();
    match detect(bytes) {
        Format::Shbin => Ok(vec![Loaded { offset: 0, shbin: Shbin::parse(bytes, &limits)? }]),
        Format::PicaAssembly => {
            let text = std::str::from_utf8(bytes).map_err(|e| Error::Utf8 { offset: e.valid_up_to() })?;
            Ok(vec![Loaded { offset: 0, shbin: asm::assemble(text)? }])
        }
        Format::ContainsShbin => {
            let found = extract(bytes, &limits).found;
            Ok(found.into_iter().map(|f| Loaded { offset: f.offset, shbin: f.shbin }).collect())
        }
        Format::IrText | Format::Maxwell(_) | Format::Dxil(_) | Format::Unknown => Err(Error::UnknownFormat),
    }
}

/// What to make of an executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Shape {
    /// A vertex shader with the output map applied; geometry programs become compute kernels.
    #[default]
    Host,
    /// A compute kernel.
    Compute,
}

/// How to lift an executable.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What to make of it.
    pub shape: Shape,
    /// Arithmetic.
    pub numeric: Numeric,
    /// How the position leaves a vertex shader.
    pub clip: ClipSpace,
    /// Whether compute kernels count executed instructions.
    pub count_steps: bool,
    /// Whether the module carries the disassembly for comments.
    pub listing: bool,
    /// Whether each instruction that writes a register leaves its trace ([`LiftOptions::traceable`]).
    pub traceable: bool,
}

/// EMITs of an invocation of a geometry kernel that are stored.
pub const EMIT_CAPACITY: u32 = 128;

/// The lifter's options for an executable.
pub fn lift_options(dvle: &Dvle, options: &Options) -> LiftOptions {
    let geometry = (dvle.kind == ShaderKind::Geometry)
        .then_some(GeometryWrapper { output_mask: dvle.output_mask, emit_capacity: EMIT_CAPACITY });
    let wrapper = match (options.shape, geometry) {
        (Shape::Host, None) => {
            Wrapper::Vertex(VertexOutputs::Mapped(OutputMap::from_outputs(&dvle.outputs), options.clip))
        }
        _ => Wrapper::Compute { workgroup: 64, persistent: geometry.is_some(), geometry },
    };
    LiftOptions {
        wrapper,
        numeric: options.numeric,
        count_steps: options.count_steps,
        traceable: options.traceable,
        ..LiftOptions::compute(dvle.main)
    }
}

/// A name for an executable: the label at its entry point, or `main`.
pub fn entry_name(dvle: &Dvle) -> &str {
    dvle.labels.iter().find(|l| l.address == dvle.main && !l.name.is_empty()).map_or("main", |l| &l.name)
}

/// Lifts an executable of `shbin`.
///
/// # Errors
/// [`Error::NoExecutable`] if there is no such one, or the lifter's.
pub fn lift_executable(shbin: &Shbin, index: usize, options: &Options) -> Result<Lifted, Error> {
    let dvle =
        shbin.executables.get(index).ok_or(Error::NoExecutable { index, count: shbin.executables.len() })?;
    let mut lifted = lift(&shbin.program, &lift_options(dvle, options))?;
    lifted.module.name = entry_name(dvle).into();
    if options.listing {
        list(&mut lifted.module, shbin, dvle);
    }
    Ok(lifted)
}

/// Adds the disassembly of every word to the module.
fn list(module: &mut Module, shbin: &Shbin, dvle: &Dvle) {
    let names = Names::from_dvle(dvle);
    let program = &shbin.program;
    let lines = (0..program.code.len() as u32).filter_map(|pc| {
        let inst = program.inst(pc).ok()?;
        Some((pc, instruction_text(&inst, program.descriptor(inst.desc().unwrap_or(0)), &names)))
    });
    add_listing(module, lines);
}
