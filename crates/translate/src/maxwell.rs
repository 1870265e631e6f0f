//! NVIDIA Maxwell and Pascal programs: from files to modules.

use crate::Error;
use xenoglot_maxwell::container::{self, Cubin, Dksh, Format, Graphics, dksh};
use xenoglot_maxwell::lift::{ConstantBank, Kernel, LiftOptions, Lifted, lift_compute};
use xenoglot_maxwell::sph::Sph;

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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Constant banks the file fills, by number.
    pub banks: Vec<(u32, &'a [u8])>,
}

/// The programs in a file.
///
/// # Errors
/// [`Error::UnknownFormat`] if the file has none; the reader's error.
pub fn load(bytes: &[u8]) -> Result<Vec<Program<'_>>, Error> {
    Ok(match container::detect(bytes).ok_or(Error::UnknownFormat)? {
        Format::Cubin => Cubin::parse(bytes)?.kernels.into_iter().map(kernel).collect(),
        Format::Dksh => vec![shader(Dksh::parse(bytes)?)],
        Format::Graphics => {
            let Graphics { sph, code } = Graphics::parse(bytes)?;
            let kind = Kind::Graphics(sph);
            vec![Program { name: "main".into(), kind, code, entry: 0, registers: None, banks: Vec::new() }]
        }
    })
}

fn kernel(k: container::Kernel<'_>) -> Program<'_> {
    let kind = Kind::Compute { workgroup: None, shared_bytes: k.shared_bytes, local_bytes: k.local_bytes };
    let banks = k.banks.iter().map(|b| (b.bank, b.data)).collect();
    Program { name: k.name, kind, code: k.code, entry: k.entry, registers: Some(k.registers), banks }
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
    Program { name: "main".into(), kind, code: shader.code, entry: 0, registers, banks }
}

/// How to lift a program.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Invocations of a workgroup along x, y and z, for kernels whose file does not say.
    pub workgroup: [u32; 3],
    /// The lifter's options.
    pub lift: LiftOptions,
}

impl Default for Options {
    /// One warp.
    fn default() -> Options {
        Options { workgroup: [32, 1, 1], lift: LiftOptions::default() }
    }
}

/// Lifts a program.
///
/// # Errors
/// [`Error::MaxwellStage`] for stages of the graphics pipeline, which are not lifted yet; the lifter's.
pub fn lift(program: &Program, options: &Options) -> Result<Lifted, Error> {
    let (workgroup, shared_bytes, local_bytes) = match program.kind {
        Kind::Compute { workgroup, shared_bytes, local_bytes } => (workgroup, shared_bytes, local_bytes),
        Kind::Graphics(Sph { stage, .. }) => return Err(Error::MaxwellStage(stage)),
    };
    let constants: Vec<ConstantBank> =
        program.banks.iter().map(|&(bank, data)| ConstantBank { bank, data }).collect();
    let kernel = Kernel {
        code: program.code,
        entry: program.entry,
        workgroup: workgroup.unwrap_or(options.workgroup),
        shared_bytes,
        local_bytes: local_bytes.saturating_add(15) & !15,
        constants: &constants,
    };
    let mut lifted = lift_compute(&kernel, &options.lift)?;
    lifted.module.name.clone_from(&program.name);
    Ok(lifted)
}

/// The words of code; a rest of less than a word is dropped.
pub fn words(code: &[u8]) -> Vec<u64> {
    code.as_chunks().0.iter().map(|w| u64::from_le_bytes(*w)).collect()
}
