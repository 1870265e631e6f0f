//! NVIDIA Maxwell and Pascal programs: from files to modules.

mod fat;

pub use fat::{MAX_FAT_BYTES, cubin_with};
/// The front end.
pub use xenoglot_maxwell as front;

use crate::Error;
use crate::guest::{self, Guest, Image, Style, Unit, suffix};
use fat::Loaded;
use xenoglot_ir::module::ListingLine;
use xenoglot_ir::{Module, Stage};
use xenoglot_maxwell::code::Instructions;
use xenoglot_maxwell::container::{self, Cubin, Dksh, FatBinary, Format, Graphics, dksh};
use xenoglot_maxwell::disasm;
use xenoglot_maxwell::gpu::{
    DefaultGpu, GpuAccessor, GraphicsState, Handle, TessDomain, TessSpacing, Tessellator,
};
use xenoglot_maxwell::inst::Inst;
use xenoglot_maxwell::launch::{self, STACK_BYTES, stack_bytes};
use xenoglot_maxwell::lift::{
    ConstantBank, Kernel, LiftOptions, Lifted, Shader, bind_storage, cancel_perspective,
    flatten_integer_cubes, join_gradients, lift_compute_on, lift_graphics, scale_textures, stage_to_compute,
    trace_handles,
};
use xenoglot_maxwell::sph::Sph;

/// The guest.
#[derive(Clone, Copy, Debug)]
pub struct Maxwell;

/// What a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A compute kernel.
    Compute {
        /// Invocations of a workgroup along x, y and z, where the file says.
        workgroup: Option<[u32; 3]>,
        /// Bytes of shared memory of a workgroup.
        shared_bytes: u32,
        /// Bytes of local memory of an invocation.
        local_bytes: u32,
    },
    /// A stage of the graphics pipeline.
    Graphics(Sph),
}

impl Kind {
    /// The stage's name for people.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Compute { .. } => "compute",
            Kind::Graphics(sph) => sph.stage.name(),
        }
    }
}

/// A program of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Program<'a> {
    /// Its name; `main` where the file has none.
    pub name: String,
    /// What it is for.
    pub kind: Kind,
    /// Its code, the first word being a scheduling word.
    pub code: &'a [u8],
    /// Byte offset of its first group of instructions in the code.
    pub entry: u32,
    /// Registers an invocation uses, where the file says.
    pub registers: Option<u32>,
    /// Byte offsets of functions in the code, where the file says: what computed calls go to.
    pub functions: Vec<u32>,
    /// Constant banks the file fills, by number.
    pub banks: Vec<(u32, &'a [u8])>,
    /// What of the program is not complete: it refers to addresses of global data, which the file does not say.
    pub unlinked: Unlinked,
    /// What the file says of the GPU's state.
    pub gpu: FileGpu,
}

/// What of a program has relocations; nothing of one that [`container::link`](fn@container::link) gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unlinked {
    /// Its code has: it cannot be lifted.
    pub code: bool,
    /// Constant banks that have, by number. They are read when the program runs: whoever binds them has to link them.
    pub banks: Vec<u32>,
}

/// The GPU as far as a file describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileGpu {
    /// The constant bank of handles.
    pub handle_bank: u8,
    /// State of the pipeline.
    pub state: GraphicsState,
}

impl Default for FileGpu {
    fn default() -> FileGpu {
        FileGpu { handle_bank: DefaultGpu.handle_bank(), state: GraphicsState::default() }
    }
}

impl GpuAccessor for FileGpu {
    fn handle_bank(&self) -> u8 {
        self.handle_bank
    }

    fn state(&self) -> GraphicsState {
        self.state
    }
}

impl FileGpu {
    /// deko3d keeps handles in the driver's bank.
    fn of_dksh(kind: dksh::Kind) -> FileGpu {
        let mut state = GraphicsState::default();
        match kind {
            dksh::Kind::Fragment { early_tests, per_sample, .. } => {
                (state.early_fragment_tests, state.per_sample) = (early_tests, per_sample);
            }
            dksh::Kind::TessEval { mode } => {
                state.tessellator = Tessellator {
                    domain: match mode & 0xf {
                        0 => TessDomain::Isolines,
                        1 => TessDomain::Triangles,
                        _ => TessDomain::Quads,
                    },
                    spacing: match mode >> 4 & 0xf {
                        0 => TessSpacing::Equal,
                        1 => TessSpacing::FractionalOdd,
                        _ => TessSpacing::FractionalEven,
                    },
                    clockwise: mode >> 8 & 1 != 0,
                    points: mode >> 9 & 1 == 0,
                };
            }
            _ => {}
        }
        FileGpu { handle_bank: 0, state }
    }
}

/// The programs in a file.
///
/// # Errors
/// [`Error::UnknownFormat`] if the file has none; the reader's error. A fat binary has files inside: [`File`] loads them.
pub fn load(bytes: &[u8]) -> Result<Vec<Program<'_>>, Error> {
    Ok(match container::detect(bytes).ok_or(Error::UnknownFormat)? {
        Format::Cubin => Cubin::parse(bytes)?.kernels.into_iter().map(kernel).collect(),
        Format::Dksh => vec![shader(Dksh::parse(bytes)?)],
        Format::Graphics => {
            let Graphics { sph, code } = Graphics::parse(bytes)?;
            let kind = Kind::Graphics(sph);
            vec![Program {
                name: "main".into(),
                kind,
                code,
                entry: 0,
                registers: None,
                functions: Vec::new(),
                banks: Vec::new(),
                unlinked: Unlinked::default(),
                gpu: FileGpu::default(),
            }]
        }
    })
}

fn kernel(k: container::Kernel<'_>) -> Program<'_> {
    let kind = Kind::Compute { workgroup: None, shared_bytes: k.shared_bytes, local_bytes: k.local_bytes };
    let banks = k.banks.iter().map(|b| (b.bank, b.data)).collect();
    let relocated = k.banks.iter().filter(|b| b.relocated).map(|b| b.bank);
    let unlinked = Unlinked { code: k.relocated, banks: relocated.collect() };
    Program {
        name: k.name,
        kind,
        code: k.code,
        entry: k.entry,
        registers: Some(k.registers),
        functions: k.functions,
        banks,
        unlinked,
        gpu: FileGpu::default(),
    }
}

fn shader(shader: Dksh<'_>) -> Program<'_> {
    let kind = match (shader.kind, shader.sph) {
        (_, Some(sph)) => Kind::Graphics(sph),
        (dksh::Kind::Compute { workgroup, shared_bytes, local_bytes, .. }, None) => {
            Kind::Compute { workgroup: Some(workgroup), shared_bytes, local_bytes }
        }
        // The reader gives every other kind its header.
        (_, None) => Kind::Compute { workgroup: None, shared_bytes: 0, local_bytes: 0 },
    };
    let banks = if shader.constants.is_empty() { Vec::new() } else { vec![(1, shader.constants)] };
    let registers = Some(shader.registers);
    let gpu = FileGpu::of_dksh(shader.kind);
    let unlinked = Unlinked::default();
    Program {
        name: "main".into(),
        kind,
        code: shader.code,
        entry: 0,
        registers,
        functions: Vec::new(),
        banks,
        unlinked,
        gpu,
    }
}

/// How to lift a program.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Invocations of a workgroup along x, y and z, for kernels whose file does not say.
    pub workgroup: [u32; 3],
    /// Bytes of shared memory that a kernel's launch gives a workgroup beside its own
    /// ([`shared_bytes`](launch::shared_bytes)).
    pub dynamic_shared_bytes: u32,
    /// Bytes of local memory of an invocation of a kernel whose stack has no bound, as functions call themselves
    /// ([`stack_bytes`]).
    pub stack_bytes: u32,
    /// The lifter's options.
    pub lift: LiftOptions,
    /// Binds global memory to storage buffers as far as it can be traced, at addresses that are multiples of this power of
    /// two ([`bind_storage`]).
    pub storage_alignment: Option<u32>,
    /// Integer cubes are bound as layers, for hosts that do not sample them ([`flatten_integer_cubes`]).
    pub flatten_integer_cubes: bool,
    /// Textures and targets have scales ([`scale_textures`]).
    pub scale_textures: bool,
    /// Vertex and geometry shaders become compute shaders, a geometry shader's vertices being in the order of its own inputs
    /// ([`stage_to_compute`]).
    pub stages_to_compute: bool,
}

impl Default for Options {
    /// One warp.
    fn default() -> Options {
        Options {
            workgroup: [32, 1, 1],
            dynamic_shared_bytes: 0,
            stack_bytes: STACK_BYTES,
            lift: LiftOptions::default(),
            storage_alignment: None,
            flatten_integer_cubes: false,
            scale_textures: false,
            stages_to_compute: false,
        }
    }
}

/// Lifts a program for the GPU that its file describes.
///
/// # Errors
/// As [`lift_on`].
pub fn lift(program: &Program, options: &Options) -> Result<Lifted, Error> {
    lift_on(program, None, options, &program.gpu)
}

/// Lifts a program for a GPU; `before` is the first of two vertex programs, whose outputs are the second's inputs.
///
/// The multiplications by w of fragment programs are cancelled. For that, and to bind storage buffers, registers are
/// promoted already.
///
/// # Errors
/// The lifter's; [`Error::Unlinked`] for a program whose code has relocations.
pub fn lift_on(
    program: &Program,
    before: Option<&Program>,
    options: &Options,
    gpu: &dyn GpuAccessor,
) -> Result<Lifted, Error> {
    if let Some(program) = [Some(program), before].into_iter().flatten().find(|p| p.unlinked.code) {
        return Err(Error::Unlinked { kernel: program.name.clone() });
    }
    let constants = banks(program);
    let mut lifted = match program.kind {
        Kind::Compute { workgroup, shared_bytes, local_bytes } => {
            let kernel = Kernel {
                code: program.code,
                entry: program.entry,
                workgroup: workgroup.unwrap_or(options.workgroup),
                shared_bytes: launch::shared_bytes(shared_bytes, options.dynamic_shared_bytes),
                local_bytes: stack_bytes(local_bytes, options.stack_bytes),
                constants: &constants,
                functions: &program.functions,
            };
            lift_compute_on(&kernel, &options.lift, gpu)?
        }
        Kind::Graphics(sph) => {
            let shader = Shader { sph, code: program.code, entry: program.entry, constants: &constants };
            let before_constants = before.map(banks).unwrap_or_default();
            let before = before.and_then(|p| match p.kind {
                Kind::Graphics(sph) => {
                    Some(Shader { sph, code: p.code, entry: p.entry, constants: &before_constants })
                }
                Kind::Compute { .. } => None,
            });
            lift_graphics(&shader, before.as_ref(), &options.lift, gpu)?
        }
    };
    lifted.module.name.clone_from(&program.name);
    let is_fragment = lifted.module.stage == Stage::Fragment;
    let has_table = lifted.info.textures.iter().any(|texture| texture.handle == Handle::TABLE);
    if is_fragment || has_table || options.storage_alignment.is_some() {
        let mut context = xenoglot_opt::Context::new();
        for func in lifted.module.funcs.keys() {
            let mut session = context.session(&mut lifted.module, func);
            session.run(xenoglot_opt::promote::run);
            session.run(xenoglot_opt::copy_propagate::run);
        }
    }
    if is_fragment {
        cancel_perspective(&mut lifted.module);
        join_gradients(&mut lifted.module);
    }
    if has_table {
        trace_handles(&mut lifted, &options.lift, gpu);
    }
    if let Some(alignment) = options.storage_alignment {
        bind_storage(&mut lifted, &options.lift, alignment);
    }
    if options.flatten_integer_cubes {
        flatten_integer_cubes(&mut lifted);
    }
    if options.scale_textures {
        scale_textures(&mut lifted, &options.lift);
    }
    if options.stages_to_compute && matches!(lifted.module.stage, Stage::Vertex | Stage::Geometry) {
        stage_to_compute(&mut lifted, &options.lift, None)?;
    }
    Ok(lifted)
}

/// The constant banks whose contents are known.
fn banks<'a>(program: &Program<'a>) -> Vec<ConstantBank<'a>> {
    let known = program.banks.iter().filter(|(bank, _)| !program.unlinked.banks.contains(bank));
    known.map(|&(bank, data)| ConstantBank { bank, data }).collect()
}

/// The words of code; a rest of less than a word is dropped.
pub fn words(code: &[u8]) -> Vec<u64> {
    code.as_chunks().0.iter().map(|w| u64::from_le_bytes(*w)).collect()
}

impl Guest for Maxwell {
    fn name(&self) -> &'static str {
        "maxwell"
    }

    fn title(&self) -> &'static str {
        "NVIDIA Maxwell and Pascal"
    }

    fn detect(&self, bytes: &[u8]) -> Option<&'static str> {
        if FatBinary::is_one(bytes) {
            Some("NVIDIA fat binary")
        } else {
            container::detect(bytes).map(Format::name)
        }
    }

    fn options(&self) -> guest::LiftOptions {
        guest::LiftOptions::Maxwell(Options::default())
    }

    fn detect_inside(&self, bytes: &[u8]) -> Option<&'static str> {
        FatBinary::is_inside(bytes).then_some("program or library with NVIDIA kernels (fat binary)")
    }

    fn load<'a>(&self, bytes: &'a [u8]) -> Result<Box<dyn Image + 'a>, Error> {
        Ok(Box::new(File::load(bytes)?))
    }
}

/// The programs of a file, or of the cubins for SM50 to SM62 in a fat binary, which may be inside a program or library.
pub struct File<'a> {
    code: Vec<Program<'a>>,
    /// Of a fat binary, cubins with their kernels, and the suffix of their architecture.
    members: Vec<(Loaded, String)>,
    units: Vec<Unit>,
    programs: Vec<guest::Program>,
}

impl<'a> File<'a> {
    /// Reads a file.
    ///
    /// # Errors
    /// As [`load`]. Of a fat binary with more than [`MAX_FAT_BYTES`] of cubins, or with none of these architectures, the reader's.
    pub fn load(bytes: &'a [u8]) -> Result<File<'a>, Error> {
        let (code, members) = match fat::is_fat(bytes) {
            true => (Vec::new(), fat::members(bytes)?),
            false => (load(bytes)?, Vec::new()),
        };
        let inside = members.iter();
        let inside =
            inside.flat_map(|(cell, of)| cell.borrow_dependent().iter().map(move |p| (p, of.as_str())));
        let all: Vec<(&Program, &str)> = code.iter().map(|p| (p, "")).chain(inside).collect();
        let (mut units, mut programs) = (Vec::new(), Vec::new());
        for (number, (program, of)) in all.iter().enumerate() {
            let (name, suffix) = (program.name.clone(), format!("{of}{}", suffix(number, all.len())));
            let unit =
                Unit { name: Some(name.clone()), offset: None, suffix: suffix.clone(), extension: "sass" };
            units.push(unit);
            programs.push(guest::Program { name, stage: program.kind.name(), unit: number, number, suffix });
        }
        Ok(File { code, members, units, programs })
    }

    /// A program by its number.
    ///
    /// # Errors
    /// [`Error::NoExecutable`].
    pub fn program(&self, index: usize) -> Result<&Program<'_>, Error> {
        let inside = self.members.iter().flat_map(|(cell, _)| cell.borrow_dependent());
        let program = self.code.iter().chain(inside).nth(index);
        program.ok_or(Error::NoExecutable { index, count: self.programs.len() })
    }
}

impl Image for File<'_> {
    fn units(&self) -> &[Unit] {
        &self.units
    }

    fn programs(&self) -> &[guest::Program] {
        &self.programs
    }

    fn disassemble(&self, unit: usize, _: Style) -> Result<String, Error> {
        Ok(disasm::listing(&words(self.program(unit)?.code)).to_string())
    }

    fn lift(&self, program: usize, options: &guest::LiftOptions) -> Result<Module, Error> {
        let guest::LiftOptions::Maxwell(options) = options else { return Err(options.foreign("maxwell")) };
        Ok(lift(self.program(program)?, options)?.module)
    }

    fn listing(&self, program: usize) -> Vec<ListingLine> {
        let Ok(program) = self.program(program) else { return Vec::new() };
        let line = |(address, _, inst): (u32, _, Result<Inst, _>)| {
            Some(ListingLine { address, text: inst.ok()?.to_string() })
        };
        Instructions::new(&words(program.code)).filter_map(line).collect()
    }
}
