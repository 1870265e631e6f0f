//! A program for Linux on the host's machine code: `linux [--compile LIBRARY | --with LIBRARY | --interpret] PROGRAM [ARGUMENT...]`.
//!
//! `--compile` makes a library of the program, `--with` runs it with one.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use xenoglot_cpu::aot::{self, Library};
use xenoglot_cpu::{Jit, Options};
use xenoglot_guest::linux::{Config, End, Program, Stdio, System};
use xenoglot_guest::{Engine, Interpreter};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut args = std::env::args().skip(1).peekable();
    let option = args.next_if(|arg| arg.starts_with("--"));
    let path = match option.as_deref() {
        Some("--compile" | "--with") => args.next(),
        _ => None,
    };
    let arguments: Vec<Vec<u8>> = args.map(String::into_bytes).collect();
    let name = String::from_utf8_lossy(arguments.first().ok_or("a program is wanted")?).into_owned();
    let bytes: Arc<[u8]> = std::fs::read(&name)?.into();
    let library = match (option.as_deref(), path) {
        (Some("--compile"), Some(path)) => {
            println!("{:?}", aot::compile(&bytes, path.as_ref(), &aot::Options::default())?);
            return Ok(ExitCode::SUCCESS);
        }
        (Some("--with"), Some(path)) => Some(Arc::new(Library::open(path.as_ref(), &bytes)?)),
        _ => None,
    };
    let interpret = option.as_deref() == Some("--interpret");
    let new_engine = move || -> Box<dyn Engine + Send> {
        let jit = match &library {
            Some(library) => Jit::with_library(Options::default(), Arc::clone(library)),
            None => Jit::new(Options::default()),
        };
        match jit {
            Ok(jit) if !interpret => Box::new(jit),
            _ => Box::new(Interpreter::default()),
        }
    };
    let program = Program { bytes, path: "/program".into(), arguments, environment: Vec::new() };
    let config = Config { root: Some(std::env::current_dir()?), writable: true, ..Config::default() };
    let mut system = System::new(config, Stdio::inherit()?, program, new_engine)?;
    let end = system.run(&mut u64::MAX.clone(), None);
    system.deaths().iter().for_each(|death| eprintln!("{death}"));
    match end {
        End::Ended(status) => Ok(status.exit_code().into()),
        other => Err(format!("{other:?}").into()),
    }
}
