//! All programs of a file at once, through the cache.

use crate::isolate::{Panicked, attempt};
use crate::lift::{LiftArgs, MaxwellArgs};
use crate::program::{Select, Unit, modules};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::time::Instant;
use xenoglot::guest::{self, detect};
use xenoglot::{Host, Options, Translator};
use xenoglot_cache::translate::{base_of_file, compile};
use xenoglot_cache::{Cache, Cause, Failure, Guest, Recorder, Recording, Stateless, from_bytes, to_bytes};

/// A program of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// What tells it from the file's others in the name of a result.
    pub suffix: String,
    /// Its stage; empty if it was not lifted.
    pub stage: String,
    /// Its code, or why there is none.
    pub code: Result<Vec<u8>, Failure>,
}

/// Whose programs are in a file. Code of CPUs does not count: it becomes no shaders.
pub fn guest(bytes: &[u8]) -> Option<&'static dyn guest::Guest> {
    detect(bytes).map(|(guest, _)| guest).filter(|guest| guest.name() != "mips")
}

/// What entries hold: all programs of a file, as [`Program`]s. The number counts changes of that form.
const PROGRAMS: &str = "programs 1";

/// The programs of a file for a host, from the cache or translated now, and the microseconds that took.
pub fn translate(
    cache: &Cache,
    bytes: &[u8],
    host: &Host,
    options: &Options,
    maxwell: &MaxwellArgs,
) -> (Result<Vec<Program>, Failure>, u64) {
    let start = Instant::now();
    let mut made = false;
    let (lift, text) = maxwell.of_corpus(guest(bytes));
    let found = base_of_file(bytes, PROGRAMS, &text, host, options).and_then(|base| {
        cache.translate(base, &Stateless, |recorder| {
            made = true;
            programs(bytes, &lift, recorder, host, options)
        })
    });
    let us = if made { u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX) } else { 0 };
    let programs = found.and_then(|entry| {
        let damaged = || Failure { cause: Cause::Refused, text: "an entry of another program".into() };
        from_bytes(&entry.payload).ok_or_else(damaged)
    });
    (programs, us)
}

/// What a file is called among guests' programs.
pub const KIND: &str = "file 1";

/// Keeps a file in the cache, to be translated again after an update.
pub fn remember(cache: &Cache, bytes: &[u8]) {
    cache.remember(&Guest { kind: KIND.into(), program: bytes.to_vec(), recording: Recording::default() });
}

/// Translates all programs of a file.
fn programs(
    bytes: &[u8],
    lift: &LiftArgs,
    recorder: &Recorder,
    host: &Host,
    options: &Options,
) -> Result<Vec<u8>, Failure> {
    guest(bytes)
        .into_iter()
        .map(|guest| guest.name())
        .chain(["translate", "ir", "opt/promote", "opt/copy_propagate"])
        .for_each(|part| recorder.uses(part));
    let units = attempt(|| modules(bytes, &Select::default(), lift, false)).map_err(failure)?;
    let mut translator = Translator::new();
    let each = |(number, unit): (usize, Result<Unit>)| {
        let Unit { mut module, suffix } = match unit {
            Ok(unit) => unit,
            Err(error) => {
                return Program {
                    suffix: format!(".{number}"),
                    stage: String::new(),
                    code: Err(failure(error)),
                };
            }
        };
        let stage = module.stage.name().to_owned();
        let code = attempt(|| Ok(compile(&mut translator, recorder, &mut module, host, options)));
        if code.is_err() {
            translator = Translator::new();
        }
        Program { suffix, stage, code: code.unwrap_or_else(|e| Err(failure(e))) }
    };
    let programs: Vec<Program> = units.into_iter().enumerate().map(each).collect();
    to_bytes(&programs).ok_or_else(|| Failure::refused("the result does not serialise"))
}

fn failure(error: anyhow::Error) -> Failure {
    let cause = if error.is::<Panicked>() { Cause::Panicked } else { Cause::Refused };
    Failure { cause, text: crate::failure::text(&error) }
}
