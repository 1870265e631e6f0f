//! Programs of Debian's packages for `mipsel`: what is run with them, and where the unpacked packages are kept. The tests
//! of `xenoglot-guest` fetch them, `xenoglot bench mips` measures with what they fetched.

use std::path::PathBuf;

/// What a program reads from standard input.
#[derive(Clone, Copy, Debug)]
pub enum Input {
    /// A file of `vectors/mips/debian`.
    File(&'static str),
    /// So many bytes of [`text`].
    Text(usize),
}

/// A program and what it is run with.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The package, for messages.
    pub package: &'static str,
    /// The file below the root of the packages.
    pub path: &'static str,
    /// Arguments without the program's name.
    pub arguments: &'static [&'static str],
    /// Standard input.
    pub input: Input,
}

/// Programs that take seconds, print to standard output, and start no others: qemu-user, which they are compared with, leaves
/// those to the host.
pub const PROGRAMS: &[Program] = &[
    program("busybox-static", "bin/busybox", &["awk", "-f", "-"], Input::File("table.awk")),
    program("bash-static", "bin/bash-static", &[], Input::File("life.bash")),
    program("perl-base", "usr/bin/perl", &["-"], Input::File("words.pl")),
    program("lua5.4", "usr/bin/lua5.4", &["-"], Input::File("queens.lua")),
    program("sqlite3", "usr/bin/sqlite3", &[":memory:"], Input::File("rows.sql")),
    program("xz-utils", "usr/bin/xz", &["-c", "-2"], Input::Text(10 << 20)),
    program("python3.11-minimal", "usr/bin/python3.11", &["-"], Input::File("records.py")),
];

const fn program(
    package: &'static str,
    path: &'static str,
    arguments: &'static [&'static str],
    input: Input,
) -> Program {
    Program { package, path, arguments, input }
}

/// The folder that keeps fetched packages from one run to the next; `None` where the user has no folder for caches.
#[must_use]
pub fn cache() -> Option<PathBuf> {
    let named = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")))?;
    Some(caches.join("xenoglot/debian-mipsel"))
}

/// The root of all packages of [`PROGRAMS`], where they were fetched.
#[must_use]
pub fn root() -> Option<PathBuf> {
    let root = cache()?.join("programs/root");
    PROGRAMS.iter().all(|program| root.join(program.path).is_file()).then_some(root)
}

/// Text that compresses to about a third: lines of words from a small vocabulary, and numbers.
#[must_use]
pub fn text(bytes: usize) -> Vec<u8> {
    let mut state = 1u32;
    let mut draw = |n: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % n
    };
    let mut out = Vec::with_capacity(bytes + 64);
    while out.len() < bytes {
        for _ in 0..3 + draw(8) {
            let word = draw(2000);
            out.extend(
                (0..2 + word % 7)
                    .map(|n| b'a' + (word.wrapping_mul(2_654_435_761) >> (3 * n + 5)) as u8 % 26),
            );
            out.push(b' ');
        }
        out.extend(format!("{}\n", draw(10_000)).into_bytes());
    }
    out.truncate(bytes);
    out
}
