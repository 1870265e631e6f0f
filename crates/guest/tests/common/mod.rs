//! Programs under the kernel of this crate, with what they print.
#![allow(dead_code, reason = "each test uses a part")]

pub mod debian;

use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use xenoglot_guest::linux::{Config, Death, End, Program, Stdio, System};
use xenoglot_guest::{Engine, Interpreter};

/// The folder of the vectors.
pub fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/mips")
}

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    pub end: End,
    pub stdout: Vec<u8>,
    pub deaths: Vec<Death>,
    pub instructions: u64,
}

impl Ran {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// The exit code of a program that ended.
    pub fn code(&self) -> u8 {
        match self.end {
            End::Ended(status) => status.exit_code(),
            other => panic!("{other:?}: {}", self.text()),
        }
    }
}

/// Runs a program with arguments and standard input, for at most `fuel` instructions.
pub fn run(config: Config, bytes: Vec<u8>, arguments: &[&str], input: &str, fuel: u64) -> Ran {
    let all: Vec<&str> = std::iter::once("program").chain(arguments.iter().copied()).collect();
    run_as(config, bytes, &all, input, fuel)
}

/// The same with the program's name as the first argument. Programs that leave nothing behind run compiled, too, and must end
/// and print the same.
pub fn run_as(config: Config, bytes: Vec<u8>, arguments: &[&str], input: &str, fuel: u64) -> Ran {
    let again = (!config.writable).then(|| (config.clone(), bytes.clone()));
    let ran = run_by(Interpreter::default, config, bytes, arguments, input.as_bytes(), fuel);
    if let (Some((config, bytes)), End::Ended(_)) = (again, ran.end) {
        let compiled = run_by(xenoglot_cpu::engine, config, bytes, arguments, input.as_bytes(), fuel);
        assert_eq!((compiled.end, compiled.text()), (ran.end, ran.text()), "compiled");
        assert_eq!(compiled.deaths.len(), ran.deaths.len(), "compiled");
    }
    ran
}

/// The same by an engine.
pub fn run_by<E: Engine + 'static>(
    engine: impl FnMut() -> E + Send + 'static,
    config: Config,
    bytes: Vec<u8>,
    arguments: &[&str],
    input: &[u8],
    mut fuel: u64,
) -> Ran {
    let mut stdin = tempfile::tempfile().expect("a file");
    stdin.write_all(input).expect("written");
    stdin.rewind().expect("rewound");
    let mut stdout = tempfile::tempfile().expect("a file");
    let copy = stdout.try_clone().expect("a copy");
    let stdio = Stdio { streams: [Some(stdin.into()), Some(copy.into()), None] };
    let program = Program {
        bytes: bytes.into(),
        path: "/program".into(),
        arguments: arguments.iter().copied().map(Into::into).collect(),
        environment: vec![b"PATH=/bin".to_vec()],
    };
    let mut system = System::new(config, stdio, program, engine).expect("a program");
    let end = system.run(&mut fuel, None);
    let mut out = Vec::new();
    stdout.rewind().expect("rewound");
    stdout.read_to_end(&mut out).expect("output");
    Ran { end, stdout: out, deaths: system.deaths().to_vec(), instructions: system.instructions() }
}

/// Runs a file of the vectors.
pub fn run_file(path: &Path) -> Ran {
    run(Config::default(), std::fs::read(path).expect("a program"), &[], "", 1 << 34)
}

/// A folder the guest may write, as its root.
pub fn writable(folder: &Path) -> Config {
    Config { root: Some(folder.into()), writable: true, ..Config::default() }
}

/// Compiles a program with Debian's cross compiler for `mips` or `mipsel`; `None`, having said so, when there is none.
pub fn compile(target: &str, source: &Path, flags: &[&str]) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let compiler = format!("{target}-linux-gnu-gcc");
    let ran = Command::new(&compiler)
        .args(["-O2", "-w", "-o"])
        .arg(&out)
        .arg(source)
        .args(flags)
        .arg("-lm")
        .output();
    match ran {
        Err(_) => {
            xenoglot_testgen::skip(&format!("no {compiler}"));
            None
        }
        Ok(ran) => {
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
            Some(std::fs::read(out).expect("a program"))
        }
    }
}
