//! Where the host's code of a program lies, for `perf`, which looks for `/tmp/perf-PID.map`.

use super::watch::Functions;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use xenoglot_cpu::Observer;

/// The file of this process.
pub fn path() -> PathBuf {
    format!("/tmp/perf-{}.map", std::process::id()).into()
}

/// Writes a line for each compiled piece of code, with the name of the guest's function. Reports add up pieces of one name.
///
/// # Errors
/// When the file cannot be written, or is a link.
pub fn observer(functions: Functions) -> io::Result<Observer> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).custom_flags(libc::O_NOFOLLOW);
    // None when writing has failed: the program runs on.
    let file = Mutex::new(Some(options.open(path())?));
    Ok(Arc::new(move |code| {
        let Ok(mut file) = file.lock() else { return };
        let line = format!("{:x} {:x} {}\n", code.address, code.bytes, functions.name(code.pc));
        let write = |file: &mut File| file.write_all(line.as_bytes());
        if let Some(Err(e)) = file.as_mut().map(write) {
            crate::print::note(format!("{}: {e}", path().display()));
            *file = None;
        }
    }))
}
