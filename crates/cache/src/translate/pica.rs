//! PICA200 programs, which ask nothing: everything they depend on is given with them.

use super::{Translator, add_host, compile};
use crate::cache::{Cache, Found};
use crate::failure::Failure;
use crate::key::{Canonical, Key};
use crate::record::Stateless;
use serde::Serialize;
use xenoglot::pica::{Options, Shape, lift_executable};
use xenoglot::{Host, Options as CodeOptions};
use xenoglot_pica_shader::container::Shbin;
use xenoglot_pica_shader::lift::{ClipSpace, Numeric};

#[derive(Serialize)]
struct OptionsInKeys {
    compute: bool,
    numeric: u8,
    clip: u8,
    count_steps: bool,
    traceable: bool,
}

impl Canonical for OptionsInKeys {
    const NAME: &'static str = "pica options";
    const SCHEMA: u16 = 1;
}

impl From<&Options> for OptionsInKeys {
    fn from(options: &Options) -> OptionsInKeys {
        // A new field has to be considered here.
        let &Options { shape, numeric, clip, count_steps, traceable } = options;
        OptionsInKeys {
            compute: shape == Shape::Compute,
            numeric: match numeric {
                Numeric::Single => 0,
                Numeric::F24 => 1,
                Numeric::Fast => 2,
            },
            clip: match clip {
                ClipSpace::Guest => 0,
                ClipSpace::Vulkan => 1,
                ClipSpace::OpenGl => 2,
            },
            count_steps,
            traceable,
        }
    }
}

/// The base key of an executable's translations.
///
/// # Errors
/// A value that does not serialise; there is none.
pub fn base(
    shbin: &Shbin,
    index: usize,
    options: &Options,
    host: &Host,
    code: &CodeOptions,
) -> Result<Key, Failure> {
    let mut key = Key::of("pica");
    // The names in it have a part in the module.
    key.bytes(&shbin.write()).number(index as u64);
    key.value(&OptionsInKeys::from(options)).map_err(Failure::refused)?;
    add_host(&mut key, host, code)?;
    Ok(key.finish())
}

/// The code of an executable of a shader binary for a host, from the cache if there is one.
///
/// # Errors
/// The lifter's and the translator's, remembered or new.
pub fn translate(
    cache: &Cache,
    shbin: &Shbin,
    index: usize,
    options: &Options,
    host: &Host,
    code: &CodeOptions,
) -> Found {
    cache.translate(base(shbin, index, options, host, code)?, &Stateless, |recorder| {
        ["pica", "translate", "ir"].into_iter().for_each(|part| recorder.uses(part));
        let lifted = lift_executable(shbin, index, options);
        let mut module = lifted.map_err(Failure::refused)?.module;
        compile(&mut Translator::new(), recorder, &mut module, host, code)
    })
}
