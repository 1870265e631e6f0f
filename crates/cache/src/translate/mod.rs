//! The facade behind the cache: what a program, its options and a host are in keys, and compilation that records what had
//! a part in it.

#[cfg(feature = "dxil")]
pub mod dxil;
#[cfg(feature = "maxwell")]
pub mod maxwell;
#[cfg(feature = "pica")]
pub mod pica;

use crate::cache::{Cache, Found};
use crate::failure::Failure;
use crate::key::{Canonical, Key, KeyWriter};
use crate::record::{Recorder, Stateless};
use crate::versions::Versions;
use serde::Serialize;
use std::convert::Infallible;
use xenoglot::host::Language;
use xenoglot::{Floats, Host, Options, Translator};
use xenoglot_ir::Module;
use xenoglot_opt::pipeline::{Level, Observer, PASSES, Ran};

impl Canonical for Host {
    const NAME: &'static str = "host";
    const SCHEMA: u16 = 3;
}

/// [`Options`] as they are in keys.
#[derive(Serialize)]
struct OptionsInKeys {
    level: Option<u8>,
    relaxed_floats: bool,
    names: u8,
    guest_lines: bool,
    robust: bool,
    flip_y: bool,
}

impl Canonical for OptionsInKeys {
    const NAME: &'static str = "options";
    const SCHEMA: u16 = 1;
}

impl From<&Options> for OptionsInKeys {
    fn from(options: &Options) -> OptionsInKeys {
        // A new field has to be considered here.
        let &Options { level, floats, names, guest_lines, robust, flip_y } = options;
        OptionsInKeys {
            level: level.map(|level| match level {
                Level::None => 0,
                Level::Light => 1,
                Level::Full => 2,
            }),
            relaxed_floats: floats == Floats::Relaxed,
            names: match names {
                xenoglot_spirv::Names::None => 0,
                xenoglot_spirv::Names::Interface => 1,
                xenoglot_spirv::Names::All => 2,
            },
            guest_lines,
            robust,
            flip_y,
        }
    }
}

/// The versions that this program's translations are made under.
pub fn present() -> Versions {
    xenoglot::versions().collect()
}

/// Adds a host and the options of its code to a key.
///
/// # Errors
/// A host that does not serialise; there is none.
pub fn add_host(key: &mut KeyWriter, host: &Host, options: &Options) -> Result<(), Failure> {
    key.value(host).map_err(Failure::refused)?;
    key.value(&OptionsInKeys::from(options)).map_err(Failure::refused)?;
    Ok(())
}

/// The base key of a program in a file of any kind, lifted without a state around it: of the file's bytes, which of its
/// programs is meant and how it is lifted (any text that says so), and of the host.
///
/// # Errors
/// As [`add_host`].
pub fn base_of_file(
    bytes: &[u8],
    program: &str,
    lift: &str,
    host: &Host,
    options: &Options,
) -> Result<Key, Failure> {
    let mut key = Key::of("file");
    key.bytes(bytes).bytes(program.as_bytes()).bytes(lift.as_bytes());
    add_host(&mut key, host, options)?;
    Ok(key.finish())
}

/// Compiles a module as [`Translator::compile`] does, and has the recorder note what had a part in it.
///
/// # Errors
/// The translator's. [`Language::Native`] is refused: machine code has addresses of this process inside.
pub fn compile(
    translator: &mut Translator,
    recorder: &Recorder,
    module: &mut Module,
    host: &Host,
    options: &Options,
) -> Result<Vec<u8>, Failure> {
    if host.language == Language::Native {
        return Err(Failure::refused("machine code in memory cannot be kept"));
    }
    ["translate", "ir", "opt"].into_iter().for_each(|part| recorder.uses(part));
    let passes = Passes { recorder, came_to_an_end: false };
    let mut observer = Note(recorder);
    match translator.prepare(module, host, options, &mut observer) {
        Ok(()) => passes.came_to_an_end(),
        Err(never) => match never {},
    }
    recorder.uses("structure");
    writers(host.language).iter().for_each(|part| recorder.uses(part));
    let code = translator.write(module, host, options).map_err(Failure::refused)?;
    Ok(code.into_bytes())
}

/// The code of a module for a host, from the cache if there is one: for programs that are generated. What the module was
/// made of has no part in the key; the module itself has.
///
/// # Errors
/// A module that is not valid, and the translator's, remembered or new.
pub fn translate_module(cache: &Cache, mut module: Module, host: &Host, options: &Options) -> Found {
    let mut key = Key::of("module");
    key.bytes(module.to_string().as_bytes());
    add_host(&mut key, host, options)?;
    cache.translate(key.finish(), &Stateless, |recorder| {
        recorder.uses("ir");
        let valid = xenoglot_ir::verify(&module);
        valid.map_err(|errors| Failure::refused(format_args!("{errors:?}")))?;
        compile(&mut Translator::new(), recorder, &mut module, host, options)
    })
}

/// What writes a language.
fn writers(language: Language) -> &'static [&'static str] {
    match language {
        Language::Spirv(_) | Language::SpirvForNaga => &["spirv"],
        Language::Glsl(_) => &["glsl"],
        Language::Native => &[],
        Language::Wgsl | Language::Msl(..) | Language::Hlsl(..) => &["spirv", "naga"],
    }
}

/// Notes each pass that ran.
struct Note<'a>(&'a Recorder);

impl Observer for Note<'_> {
    type Error = Infallible;

    fn after(&mut self, ran: Ran<'_>) -> Result<(), Infallible> {
        self.0.uses(ran.pass.path);
        Ok(())
    }
}

/// Of a list of passes that a panic ended it is not known which one it was: the failure depends on all.
struct Passes<'a> {
    recorder: &'a Recorder,
    came_to_an_end: bool,
}

impl Passes<'_> {
    fn came_to_an_end(mut self) {
        self.came_to_an_end = true;
    }
}

impl Drop for Passes<'_> {
    fn drop(&mut self) {
        if !self.came_to_an_end {
            PASSES.iter().for_each(|pass| self.recorder.uses(pass.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::canonical;

    /// These bytes are part of every key: where they change for the same host or options, the schema has to be raised.
    #[test]
    fn bytes_of_hosts_and_options_are_as_they_were() {
        let hex = |bytes: Vec<u8>| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let host: Host = "lavapipe-25".parse().unwrap();
        assert_eq!(hex(canonical(&host).unwrap()), SNAPSHOT_HOST);
        let options = Options { level: Some(Level::Light), robust: true, ..Options::default() };
        assert_eq!(hex(canonical(&OptionsInKeys::from(&options)).unwrap()), SNAPSHOT_OPTIONS);
    }

    const SNAPSHOT_HOST: &str = "04000000686f737403000973706972762d312e360000010101000100000101000808000800";
    const SNAPSHOT_OPTIONS: &str = "070000006f7074696f6e73010001010000000100";
}
