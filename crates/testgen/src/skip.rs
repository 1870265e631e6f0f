//! How a test says that it, or a part of it, could not run on this host.
//!
//! A test harness hides what a passing test prints, so a skipped check would look like one that passed. A test that
//! cannot run (no Vulkan device, a tool that is not installed) calls [`skip`] with the reason and returns; `test.sh`
//! names a file in [`SKIP_LOG`] and closes with the collected reasons.

use std::io::Write;

/// The environment variable with the absolute path of the file that collects the skipped tests.
pub const SKIP_LOG: &str = "XENOGLOT_SKIP_LOG";

/// Records that the running test skips something, and why.
///
/// Writes the line `skipped: CRATE::TEST: REASON` to standard error and, when [`SKIP_LOG`] names a file, appends it
/// there. Line breaks in `reason` become blanks, so one call is always one line.
///
/// # Panics
/// When the file named by [`SKIP_LOG`] cannot be written: a skip that nobody hears of would pass for a success.
pub fn skip(reason: &str) {
    let line = line(reason);
    eprint!("{line}");
    let Some(path) = std::env::var_os(SKIP_LOG) else { return };
    let written = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        // One call per line: appended lines of tests that run at the same time do not mix.
        .and_then(|mut file| file.write_all(line.as_bytes()));
    if let Err(error) = written {
        panic!("{SKIP_LOG} names {}, which cannot be written: {error}", path.display());
    }
}

fn line(reason: &str) -> String {
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_else(|_| "unknown".to_owned());
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("unnamed");
    let reason: Vec<&str> = reason.split_whitespace().collect();
    format!("skipped: {package}::{test}: {}\n", reason.join(" "))
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_reason_is_one_line_that_names_the_test() {
        let line = line("no\nVulkan  device");
        assert!(line.starts_with("skipped: "), "{line}");
        assert!(line.ends_with(": no Vulkan device\n"), "{line}");
        assert_eq!(line.matches('\n').count(), 1);
    }
}
