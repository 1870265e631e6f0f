//! Modules to host code.

use crate::Error;
use crate::code::{Code, Floats, Options};
use crate::host::{Capabilities, Host, Language};
use xenoglot_ir::Module;
use xenoglot_opt::pipeline::{Level, Observer};

/// Compiles modules, reusing its buffers from one to the next.
#[derive(Default)]
pub struct Translator {
    opt: xenoglot_opt::Context,
    spirv: xenoglot_spirv::Emitter,
    glsl: xenoglot_glsl::Context,
    /// From when it is first needed: to know the CPU takes longer than a translation.
    #[cfg(feature = "native")]
    native: Option<xenoglot_native::Compiler>,
}

/// Compiles one module; see [`Translator::compile`].
///
/// # Errors
/// What the host's language cannot express, with op and guest address.
pub fn compile(module: &mut Module, host: &Host, options: &Options) -> Result<Code, Error> {
    Translator::new().compile(module, host, options)
}

impl Translator {
    /// A translator with empty buffers.
    pub fn new() -> Translator {
        Translator::default()
    }

    /// A verified module's code for a host: runs the pass list, whose last phase makes each op that the host lacks of ops
    /// that it has, and writes what is left. The module is left as it was written.
    ///
    /// # Errors
    /// What the host's language cannot express, with op and guest address.
    pub fn compile(&mut self, module: &mut Module, host: &Host, options: &Options) -> Result<Code, Error> {
        let Ok(()) = self.prepare(module, host, options, &mut ());
        self.write(module, host, options)
    }

    /// The first half of [`Translator::compile`]: runs the pass list for a host before an observer, who may print, measure
    /// or verify after each pass, and stop it.
    ///
    /// # Errors
    /// The observer's.
    pub fn prepare<O: Observer>(
        &mut self,
        module: &mut Module,
        host: &Host,
        options: &Options,
        observer: &mut O,
    ) -> Result<(), O::Error> {
        let options = xenoglot_opt::Options {
            level: options.level,
            scalarize: false,
            relaxed_floats: options.floats == Floats::Relaxed,
            lacks: host.lacks(),
        };
        xenoglot_opt::optimize(module, &mut self.opt, &options, observer)
    }

    /// The second half of [`Translator::compile`]: structures and writes a module that was prepared for the same host with
    /// the same options.
    ///
    /// # Errors
    /// As [`Translator::compile`].
    pub fn write(&mut self, module: &Module, host: &Host, options: &Options) -> Result<Code, Error> {
        match host.language {
            Language::Spirv(version) => {
                let base = xenoglot_spirv::Options { version, ..xenoglot_spirv::Options::default() };
                Ok(Code::Words(self.spirv.emit(module, &spirv_options(base, host, options))?))
            }
            Language::SpirvForNaga => {
                let base = xenoglot_spirv::Options::for_naga();
                Ok(Code::Words(self.spirv.emit(module, &spirv_options(base, host, options))?))
            }
            Language::Glsl(target) => {
                let options = xenoglot_glsl::Options {
                    target,
                    guest_comments: options.guest_lines,
                    subgroup_width: host.subgroups.width(),
                    ..xenoglot_glsl::Options::default()
                };
                Ok(Code::Text(self.glsl.emit(module, &options)?))
            }
            #[cfg(feature = "native")]
            Language::Native => {
                let compiler = match &mut self.native {
                    Some(compiler) => compiler,
                    none => none.insert(xenoglot_native::Compiler::new()?),
                };
                Ok(Code::Native(compiler.compile(module)?.into()))
            }
            #[cfg(not(feature = "native"))]
            Language::Native => Err(Error::Language(host.language)),
            language => self.write_by_naga(module, language, host, options),
        }
    }

    #[cfg(feature = "naga")]
    fn write_by_naga(
        &mut self,
        module: &Module,
        language: Language,
        host: &Host,
        options: &Options,
    ) -> Result<Code, Error> {
        use xenoglot_naga::{Options as Naga, shader_model, to_hlsl, to_msl, to_wgsl};

        let base = xenoglot_spirv::Options::for_naga();
        let words = self.spirv.emit(module, &spirv_options(base, host, options))?;
        let mut naga = Naga { flip_y: options.flip_y, bound_loops: options.robust, ..Naga::default() };
        let text = match language {
            Language::Msl(major, minor) => {
                naga.metal = (major, minor);
                to_msl(&words, &naga)?
            }
            Language::Hlsl(major, minor) => {
                naga.shader_model = shader_model(major, minor).ok_or(Error::Language(language))?;
                to_hlsl(&words, &naga)?
            }
            _ => to_wgsl(&words, &naga)?,
        };
        // naga writes no comments.
        let note = if module.relaxed_floats { RELAXED } else { "" };
        Ok(Code::Text(format!("{note}{text}")))
    }

    #[cfg(not(feature = "naga"))]
    fn write_by_naga(
        &mut self,
        _: &Module,
        language: Language,
        _: &Host,
        _: &Options,
    ) -> Result<Code, Error> {
        Err(Error::Language(language))
    }

    /// Runs the pass list for no host in particular: for engines of the IR, which lack nothing, and for looking at modules.
    pub fn optimize(&mut self, module: &mut Module, level: Option<Level>) {
        let options = xenoglot_opt::Options { level, ..xenoglot_opt::Options::default() };
        let Ok(()) = xenoglot_opt::optimize(module, &mut self.opt, &options, &mut ());
    }

    /// Runs the pass list as `options` say before an observer.
    ///
    /// # Errors
    /// The observer's.
    pub fn optimize_before<O: Observer>(
        &mut self,
        module: &mut Module,
        options: &xenoglot_opt::Options,
        observer: &mut O,
    ) -> Result<(), O::Error> {
        xenoglot_opt::optimize(module, &mut self.opt, options, observer)
    }
}

#[cfg(feature = "naga")]
const RELAXED: &str = "// relaxed floats: those of the host, not of the guest\n";

/// The SPIR-V writer's options: `base` for the language, what else `host` and `options` say.
fn spirv_options(base: xenoglot_spirv::Options, host: &Host, options: &Options) -> xenoglot_spirv::Options {
    let of_host = host.capabilities.as_ref().map(Capabilities::as_slice);
    let capabilities = match (of_host, base.capabilities) {
        (Some(host), Some(base)) => Some(base.into_iter().filter(|c| host.contains(c)).collect()),
        (Some(host), None) => Some(host.to_vec()),
        (None, base) => base,
    };
    xenoglot_spirv::Options {
        capabilities,
        without: host.without.as_slice().to_vec(),
        float_controls: host.floats.controls,
        subgroup_width: host.subgroups.width(),
        host_bounds: host.robust_buffers,
        maximal_reconvergence: host.maximal_reconvergence,
        robust: options.robust,
        names: base.names.max(options.names),
        guest_lines: options.guest_lines,
        ..base
    }
}
