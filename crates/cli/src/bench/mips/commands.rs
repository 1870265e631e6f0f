//! Whole commands beside qemu-user: cold starts, and programs of Debian's packages.

use super::{Options, Wall, build};
use anyhow::{Context, Result};
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use xenoglot_testgen::debian::{self, Input};

/// What a command did.
struct Ran {
    /// The least seconds from its start to its end.
    seconds: f64,
    printed: Vec<u8>,
    code: Option<i32>,
}

/// Runs a command a few times; `None` when there is none of that name.
fn time(command: &mut Command, input: Option<&File>, runs: usize) -> Result<Option<Ran>> {
    let mut ran = Ran { seconds: f64::INFINITY, printed: Vec::new(), code: None };
    for _ in 0..runs {
        let mut stdout = tempfile::tempfile()?;
        let stdin = match input {
            Some(mut file) => {
                file.rewind()?;
                file.try_clone()?.into()
            }
            None => Stdio::null(),
        };
        command.stdin(stdin).stdout(stdout.try_clone()?).stderr(Stdio::null());
        let start = Instant::now();
        let Ok(status) = command.status() else { return Ok(None) };
        ran.seconds = ran.seconds.min(start.elapsed().as_secs_f64());
        ran.code = status.code();
        ran.printed.clear();
        stdout.rewind()?;
        stdout.read_to_end(&mut ran.printed)?;
    }
    Ok(Some(ran))
}

/// A command of ours beside one of qemu's.
fn beside(
    program: String,
    ours: &mut Command,
    qemu: &mut Command,
    input: Option<&File>,
    runs: usize,
) -> Result<Wall> {
    let ours = time(ours, input, runs)?;
    let qemu = time(qemu, input, runs)?;
    let same = matches!((&ours, &qemu), (Some(a), Some(b)) if (a.code, &a.printed) == (b.code, &b.printed));
    Ok(Wall { program, seconds: ours.map(|ran| ran.seconds), qemu: qemu.map(|ran| ran.seconds), same })
}

/// Short programs: one in C that prints a line, just in time and ahead of time, and one in C++, of those beside the sources.
pub(super) fn cold(own: &Path, folder: &Path, sources: &Path) -> Result<Vec<Wall>> {
    const RUNS: usize = 10;
    let mut out = Vec::new();
    let source = folder.join("hello.c");
    std::fs::write(&source, "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n")?;
    if let Some(hello) = build("mips-linux-gnu-gcc", &["-static", "-O2"], &source, folder.join("hello.elf")) {
        let mut qemu = Command::new("qemu-mips");
        qemu.arg(&hello);
        let mut ours = Command::new(own);
        ours.arg("run").arg(&hello);
        out.push(beside("hello, static glibc, JIT".into(), &mut ours, &mut qemu, None, RUNS)?);
        let library = folder.join("hello.xga");
        let mut aot = Command::new(own);
        aot.arg("aot").arg(&hello).arg("-o").arg(&library).stdout(Stdio::null()).stderr(Stdio::null());
        if aot.status().is_ok_and(|status| status.success()) {
            let mut ours = Command::new(own);
            ours.arg("run").arg("--aot").arg(&library).arg(&hello);
            out.push(beside("hello, static glibc, AOT".into(), &mut ours, &mut qemu, None, RUNS)?);
        }
    }
    if let Some(cxx) = of_archive(&sources.with_file_name("elf_musl.tar.xz"), "cxx.elf")? {
        let path = folder.join("cxx.elf");
        std::fs::write(&path, &cxx)?;
        // qemu runs only what may be executed.
        #[cfg(unix)]
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let mut qemu = Command::new("qemu-mips");
        qemu.arg(&path);
        let mut ours = Command::new(own);
        ours.arg("run").arg(&path);
        let name = format!("C++ of {} kB, static musl, JIT", cxx.len() / 1000);
        out.push(beside(name, &mut ours, &mut qemu, None, RUNS)?);
    }
    Ok(out)
}

/// A file of an archive; `None` when either is missing.
fn of_archive(archive: &Path, name: &str) -> Result<Option<Vec<u8>>> {
    let Ok(file) = File::open(archive) else { return Ok(None) };
    for entry in tar::Archive::new(lzma_rust2::XzReader::new(file, false)).entries()? {
        let mut entry = entry?;
        if entry.path()?.file_name().is_some_and(|file| file == name) {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// Programs of Debian's packages, each a process that starts with nothing compiled.
pub(super) fn debian(own: &Path, folder: &Path, options: &Options<'_>, runs: usize) -> Result<Vec<Wall>> {
    let Some(root) = debian::root() else { return Ok(Vec::new()) };
    std::fs::create_dir_all(folder.join("tmp"))?;
    let mut out = Vec::new();
    for program in debian::PROGRAMS {
        let input = match program.input {
            Input::File(name) => {
                let path = options.debian.join(name);
                File::open(&path).with_context(|| format!("cannot read {}", path.display()))?
            }
            Input::Text(bytes) => {
                let mut file = tempfile::tempfile()?;
                std::io::Write::write_all(&mut file, &debian::text(bytes))?;
                file
            }
        };
        let path = root.join(program.path);
        let mut ours = Command::new(own);
        // sqlite3 makes temporary files.
        ours.arg("run").arg("--root").arg(folder).arg("--writable").arg("--sysroot").arg(&root);
        ours.args(["--env", "PATH=/bin"]).arg(&path).arg("--").args(program.arguments);
        let mut qemu = Command::new("qemu-mipsel");
        qemu.arg("-L").arg(&root).arg(&path).args(program.arguments).env_clear().env("PATH", "/bin");
        out.push(beside(program.package.into(), &mut ours, &mut qemu, Some(&input), runs)?);
    }
    Ok(out)
}
