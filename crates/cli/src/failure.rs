//! Errors as people and scripts see them: messages with places, and exit codes.

use crate::print;
use std::fmt;
use std::io::ErrorKind;
use std::process::ExitCode;

/// Exit code when something failed.
const FAILED: u8 = 1;
/// Exit code for a command line that makes no sense.
const USAGE: u8 = 2;

/// The command line makes no sense, for a reason that only shows once the inputs are known.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The exit code of a guest, which is that of the command; what there is to say has been said.
#[derive(Debug)]
pub struct GuestExit(pub u8);

impl fmt::Display for GuestExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the guest exited with {}", self.0)
    }
}

impl std::error::Error for GuestExit {}

/// A [`Usage`] error.
pub fn usage(message: impl Into<String>) -> anyhow::Error {
    Usage(message.into()).into()
}

/// The exit code of a command that ended: whether everything was well, or what ended it.
pub fn exit_code(result: anyhow::Result<bool>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FAILED),
        // Whoever read the output has seen enough.
        Err(e) if print::is_broken_pipe(&e) => ExitCode::SUCCESS,
        Err(e) => {
            if let Some(GuestExit(code)) = e.downcast_ref() {
                return ExitCode::from(*code);
            }
            print::error(text(&e));
            ExitCode::from(if e.is::<Usage>() { USAGE } else { FAILED })
        }
    }
}

/// Prints what clap says instead of doing a command: help and version, or what is wrong with the command line.
pub fn help_or_usage(said: &clap::Error) -> ExitCode {
    let code = ExitCode::from(u8::try_from(said.exit_code()).unwrap_or(USAGE));
    match said.print() {
        Err(e) if !said.use_stderr() && e.kind() != ErrorKind::BrokenPipe => ExitCode::from(FAILED),
        _ => code,
    }
}

/// An error with its causes, each said once: some errors have their cause in their own message already.
pub fn text(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.ends_with(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// The message for an error in the input called `name`: `name: reason`, or `name:line:column: reason` in texts.
pub fn describe(name: &str, error: &anyhow::Error) -> String {
    let (assembly, ir) = match error.downcast_ref::<xenoglot::Error>() {
        Some(xenoglot::Error::Assembly(e)) => (Some(e), None),
        Some(xenoglot::Error::IrText(e)) => (None, Some(e)),
        _ => (error.downcast_ref::<xenoglot_pica_shader::asm::AsmError>(), None),
    };
    if let Some(e) = assembly {
        return format!("{name}:{}:{}: {}", e.at.line, e.at.column, e.reason);
    }
    if let Some(e) = ir {
        return format!("{name}:{e}");
    }
    // What an option names may be the input itself.
    let text = text(error);
    let place = format!("{name}: ");
    if text.starts_with(&place) { text } else { place + &text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_cause_that_its_effect_names_is_said_once() {
        let io = || std::io::Error::other("disk on fire");
        let repeats = xenoglot_output::Error::Io { path: "a.png".into(), source: io() };
        let error = anyhow::Error::from(repeats).context("frame 3");
        assert_eq!(text(&error), "frame 3: cannot write a.png: disk on fire");
        let plain = Err::<(), _>(io()).context("frame 4").unwrap_err();
        assert_eq!(text(&plain), "frame 4: disk on fire");
    }
}
