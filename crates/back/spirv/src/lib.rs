//! Writes the IR as SPIR-V 1.0 to 1.6 for Vulkan.
//!
//! [`emit`] takes a verified module and gives words, or a typed error: it never panics and never writes what it
//! does not mean. Slots may be left in functions (they become variables), but the output is best after `promote`:
//! then it has no variable, load or store of its own.
//!
//! * `unit` is the module being written: sections, interned types and constants.
//! * `body` walks a function's structured form and `ssa` finds the values that its structure hides: phis.
//! * `pure` has the ops that depend on their operands alone, `inst` the others, `memory` and `access` byte-addressed
//!   memory, `pointer` what lies behind 64-bit pointers, `texture` textures and images, `rays` rays and meshes,
//!   `interface` inputs, outputs and builtins.
//!
//! ```
//! use xenoglot_ir::text::{Limits, parse};
//! use xenoglot_ir::verify;
//! use xenoglot_spirv::{Options, emit};
//!
//! let module = parse(
//!     r#"module compute "double" {
//!   storage @data = set 0 binding 0 readwrite oob zero
//!   entry func @main() {
//!   block0:
//!     v0 : i32 = const 0
//!     v1 : i32 = load storage @data align 4, v0
//!     v2 : i32 = iadd v1, v1
//!     store storage @data align 4, v0, v2
//!     return
//!   }
//! }"#,
//!     &Limits::default(),
//! )?;
//! verify(&module)?;
//! let words = emit(&module, &Options::default())?;
//! assert_eq!(words[0], 0x0723_0203, "SPIR-V's magic number");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

mod access;
mod body;
mod error;
mod inst;
mod interface;
mod memory;
mod offsets;
mod options;
mod places;
mod pointer;
mod pure;
mod rays;
mod ssa;
mod texture;
mod unit;

pub use error::{At, Error};
pub use options::{FloatControls, Names, Options, Version};
pub use spirv::Capability;

use interface::Interface;
use memory::Memory;
use pure::Helpers;
use rays::Rays;
use spirv::{ExecutionMode, ExecutionModel, Op as S};
use unit::{Id, Unit, push, push_text};
use xenoglot_ir::NO_GUEST;
use xenoglot_ir::entities::Func;
use xenoglot_ir::entity::PrimaryMap;
use xenoglot_ir::module::{Builtin, Direction, Module, Semantic};
use xenoglot_ir::stage::{Denormals, Depth};

/// Counts the changes of this crate's code that change what it makes: part of a cache's keys.
pub const VERSION: u16 = 17;

/// Writes a verified module.
///
/// # Errors
/// What SPIR-V, the options or this crate do not support; see [`Error`].
pub fn emit(module: &Module, options: &Options) -> Result<Vec<u32>, Error> {
    Emitter::new().emit(module, options)
}

/// What `OpSourceExtension` says in modules with [`Module::relaxed_floats`].
pub const RELAXED_FLOATS: &str = "xenoglot: relaxed floats";

/// [`emit`] with its memory kept from module to module.
#[derive(Default)]
pub struct Emitter {
    unit: Unit,
    helpers: Helpers,
    scratch: body::Scratch,
}

impl Emitter {
    /// An emitter without memory.
    pub fn new() -> Emitter {
        Emitter::default()
    }

    /// Writes a verified module; see [`emit`].
    ///
    /// # Errors
    /// As [`emit`].
    pub fn emit(&mut self, module: &Module, options: &Options) -> Result<Vec<u32>, Error> {
        let mut version = options.version.unwrap_or_default();
        loop {
            match self.emit_version(module, options, version) {
                // What needs a later version is found while it is written: once for each of a few versions.
                Err(Error::Version { needed, .. }) if options.version.is_none() && needed > version => {
                    version = needed;
                }
                done => return done,
            }
        }
    }

    fn emit_version(
        &mut self,
        module: &Module,
        options: &Options,
        version: Version,
    ) -> Result<Vec<u32>, Error> {
        let model = interface::model(module.stage)?;
        let entry = module.entry.expand().ok_or(Error::NoEntry)?;
        let main = module.funcs.get(entry).ok_or(Error::NoEntry)?;
        let params = main.entry().map_or(0, |b| main.params(b).len());
        if params != 0 || !main.returns.is_empty() {
            return Err(Error::NoEntry);
        }
        let unit = &mut self.unit;
        unit.reset(options, version);
        self.helpers.clear();
        let functions: PrimaryMap<Func, Id> = module.funcs.values().map(|_| unit.id()).collect();
        let file = options.guest_lines.then(|| unit.string(&module.name));
        if module.relaxed_floats {
            unit.source_extension(RELAXED_FLOATS);
        }
        let mut interface = Interface::declare(unit, module)?;
        let memory = Memory::declare(unit, module)?;
        let rays = Rays::declare(unit, module).map_err(|reason| reason.at(None, NO_GUEST))?;
        let mut shared = body::Shared {
            unit,
            helpers: &mut self.helpers,
            interface: &mut interface,
            memory: &memory,
            rays: &rays,
            module,
            functions: &functions,
            file,
        };
        let structuring =
            xenoglot_structure::Options { depth_limit: options.max_depth, ..Default::default() };
        for (func, function) in &module.funcs {
            if function.entry().is_none() {
                return Err(Error::Invalid("a function without blocks"));
            }
            let tree = xenoglot_structure::structure(function, &structuring)?;
            body::emit(&mut shared, &mut self.scratch, func, function, &tree)?;
        }
        let id = functions[entry];
        let modes = execution_modes(unit, module, options, model, id)?;
        let mut start = Vec::new();
        let name = if main.name.is_empty() { "main" } else { &main.name };
        push_text(&mut start, S::EntryPoint, &[model as u32, id], name, &unit.interface);
        unit.finish(&start, &modes)
    }
}

fn execution_modes(
    unit: &mut Unit,
    module: &Module,
    options: &Options,
    model: ExecutionModel,
    id: Id,
) -> Result<Vec<u32>, Error> {
    let facts = &module.pipeline;
    let mut modes = Vec::new();
    let mut mode = |mode: ExecutionMode, operands: &[u32]| {
        let words: smallvec::SmallVec<[u32; 5]> =
            [id, mode as u32].into_iter().chain(operands.iter().copied()).collect();
        push(&mut modes, S::ExecutionMode, &words);
    };
    match model {
        ExecutionModel::GLCompute | ExecutionModel::TaskEXT => {
            mode(ExecutionMode::LocalSize, &module.workgroup.map(|n| n.max(1)));
            if unit.quads {
                mode(ExecutionMode::DerivativeGroupLinearKHR, &[]);
            }
        }
        ExecutionModel::MeshEXT => {
            mode(ExecutionMode::LocalSize, &module.workgroup.map(|n| n.max(1)));
            if unit.quads {
                mode(ExecutionMode::DerivativeGroupLinearKHR, &[]);
            }
            let Some(mesh) = facts.mesh else {
                return Err(Error::Invalid("a mesh shader without its primitives"));
            };
            mode(
                match mesh.primitive_vertices {
                    1 => ExecutionMode::OutputPoints,
                    2 => ExecutionMode::OutputLinesEXT,
                    3 => ExecutionMode::OutputTrianglesEXT,
                    _ => return Err(Error::Invalid("the vertices of a mesh's primitive")),
                },
                &[],
            );
            // A mesh may have no vertices or primitives, but Vulkan wants room for at least one.
            mode(ExecutionMode::OutputVertices, &[mesh.max_vertices.max(1)]);
            mode(ExecutionMode::OutputPrimitivesEXT, &[mesh.max_primitives.max(1)]);
        }
        ExecutionModel::Fragment => {
            mode(ExecutionMode::OriginUpperLeft, &[]);
            let writes = |builtin| {
                let semantic = Semantic::Builtin(builtin);
                module.vars.values().any(|v| v.direction == Direction::Output && v.semantic == semantic)
            };
            if writes(Builtin::FragDepth) {
                mode(ExecutionMode::DepthReplacing, &[]);
                match facts.depth {
                    Depth::Any => {}
                    Depth::Greater => mode(ExecutionMode::DepthGreater, &[]),
                    Depth::Less => mode(ExecutionMode::DepthLess, &[]),
                }
            }
            if writes(Builtin::StencilRef) {
                mode(ExecutionMode::StencilRefReplacingEXT, &[]);
            }
            if unit.interlocked {
                mode(ExecutionMode::PixelInterlockOrderedEXT, &[]);
            }
            if facts.early_fragment_tests {
                mode(ExecutionMode::EarlyFragmentTests, &[]);
            }
        }
        ExecutionModel::Geometry => {
            unit.capability(Capability::Geometry);
            let Some(geometry) = facts.geometry else {
                return Err(Error::Invalid("a geometry shader without its primitives"));
            };
            let input = match geometry.input_vertices {
                1 => ExecutionMode::InputPoints,
                2 => ExecutionMode::InputLines,
                3 => ExecutionMode::Triangles,
                4 => ExecutionMode::InputLinesAdjacency,
                6 => ExecutionMode::InputTrianglesAdjacency,
                _ => return Err(Error::Invalid("the vertices of an input primitive")),
            };
            let output = match geometry.output_vertices {
                1 => ExecutionMode::OutputPoints,
                2 => ExecutionMode::OutputLineStrip,
                3 => ExecutionMode::OutputTriangleStrip,
                _ => return Err(Error::Invalid("the vertices of an output primitive")),
            };
            mode(input, &[]);
            mode(output, &[]);
            mode(ExecutionMode::Invocations, &[geometry.invocations.max(1)]);
            mode(ExecutionMode::OutputVertices, &[geometry.max_vertices.max(1)]);
        }
        ExecutionModel::TessellationControl => {
            unit.capability(Capability::Tessellation);
            let Some(vertices) = facts.patch_vertices else {
                return Err(Error::Invalid("a tessellation control shader without its vertices"));
            };
            mode(ExecutionMode::OutputVertices, &[vertices]);
            for m in facts.tessellation.into_iter().flat_map(options::tessellation_modes) {
                mode(m, &[]);
            }
        }
        ExecutionModel::TessellationEvaluation => {
            unit.capability(Capability::Tessellation);
            let Some(tessellation) = facts.tessellation else {
                return Err(Error::Invalid("a tessellation evaluation shader without its domain"));
            };
            for m in options::tessellation_modes(tessellation) {
                mode(m, &[]);
            }
        }
        _ => {}
    }
    if !module.captures.is_empty() {
        mode(ExecutionMode::Xfb, &[]);
    }
    if options.maximal_reconvergence {
        unit.extension("SPV_KHR_maximal_reconvergence");
        mode(ExecutionMode::MaximallyReconvergesKHR, &[]);
    }
    let controls = options.float_controls;
    let [half, single, double] = controls.signed_zero_inf_nan;
    let signs = (ExecutionMode::SignedZeroInfNanPreserve, Capability::SignedZeroInfNanPreserve);
    let denormals = (ExecutionMode::DenormPreserve, Capability::DenormPreserve);
    let rounding = (ExecutionMode::RoundingModeRTE, Capability::RoundingModeRTE);
    for (on, bits, (what, capability)) in [
        (single, 32, signs),
        (half, 16, signs),
        (double, 64, signs),
        (controls.denorm_preserve || module.denormals == Denormals::Preserve, 32, denormals),
        (controls.round_even, 32, rounding),
    ] {
        if on {
            unit.capability(capability);
            if !unit.since(Version::V1_4) {
                unit.extension("SPV_KHR_float_controls");
            }
            mode(what, &[bits]);
        }
    }
    Ok(modes)
}
