//! This program in other processes, in which drivers compile programs before they do here.

use anyhow::{Context, Result};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use xenoglot_cache::process::{Limits, serve};
use xenoglot_host::{Compiler, Compilers};

/// The only argument of those processes.
const ARGUMENT: &str = "compile-programs-for-this-tool";

/// Compiles what another process of this program asks for, if it has started this one for that.
pub fn serve_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != ARGUMENT || arguments.next().is_some() {
        return None;
    }
    let mut compiler = Compiler::default();
    Some(match serve(|request| compiler.answer(request)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

/// Such processes.
pub fn start() -> Result<Arc<Compilers>> {
    let this = std::env::current_exe().context("this program's file")?;
    let command = move || {
        let mut command = Command::new(&this);
        command.arg(ARGUMENT);
        command
    };
    Ok(Arc::new(Compilers::new(command, Limits::default())))
}
