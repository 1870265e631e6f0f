//! Debian's own mipsel packages, unchanged: shells with a script, and programs that take seconds. Long runs only, as the
//! packages are fetched, with a configuration of apt's that touches nothing of the machine's.

#![cfg(target_os = "linux")]

mod common;

use common::{run_as, writable};
use std::path::Path;
use std::process::Command;
use xenoglot_testgen::property::is_long;
use xenoglot_testgen::skip;

const PACKAGES: &[&str] = &[
    "bash-static",
    "busybox-static",
    "dash",
    "libc6",
    "libcrypt1",
    "libgcc-s1",
    "liblua5.4-0",
    "liblzma5",
    "libreadline8",
    "libsqlite3-0",
    "libtinfo6",
    "lua5.4",
    "perl-base",
    "sqlite3",
    "xz-utils",
    "zlib1g",
];
/// Commands of the script that are busybox's.
const TOOLS: &[&str] = &[
    "awk", "cat", "cmp", "cp", "cut", "find", "grep", "head", "ln", "ls", "md5sum", "mkdir", "mktemp", "mv",
    "rm", "sed", "seq", "sleep", "sort", "tail", "tr", "uniq", "wc", "yes",
];

fn done(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Fetches and unpacks the packages below `folder/root`.
fn fetch(folder: &Path) -> bool {
    let path = |name: &str| folder.join(name);
    for name in ["lists/partial", "archives/partial", "root/tmp"] {
        std::fs::create_dir_all(path(name)).expect("a folder");
    }
    let state = folder.display();
    let configuration = format!(
        "APT::Architecture \"mipsel\"; APT::Architectures {{ \"mipsel\"; }}; APT::Sandbox::User \"root\";
Dir::State \"{state}\"; Dir::State::lists \"{state}/lists\"; Dir::State::status \"{state}/status\"; Dir::Cache \"{state}\";
Dir::Etc::sourcelist \"{state}/sources.list\"; Dir::Etc::sourceparts \"-\";\n"
    );
    let source = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main\n";
    std::fs::write(path("apt.conf"), configuration).expect("a file");
    std::fs::write(path("sources.list"), source).expect("a file");
    std::fs::write(path("status"), "").expect("a file");
    let apt = || {
        let mut apt = Command::new("apt-get");
        apt.arg("-c").arg(path("apt.conf")).arg("-q").current_dir(folder);
        apt
    };
    if !done(apt().arg("update")) || !done(apt().arg("download").args(PACKAGES)) {
        return false;
    }
    let packages =
        std::fs::read_dir(folder).expect("the folder").filter_map(|entry| Some(entry.ok()?.path()));
    packages
        .filter(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .all(|package| done(Command::new("dpkg-deb").arg("-x").arg(package).arg(path("root"))))
}

#[test]
fn programs_of_debian_run_unchanged() {
    if !is_long() {
        return skip("a long run");
    }
    let folder = tempfile::tempdir().expect("a folder");
    if !fetch(folder.path()) {
        return skip("Debian's mipsel packages cannot be fetched");
    }
    let root = folder.path().join("root");
    for tool in TOOLS {
        std::os::unix::fs::symlink("busybox", root.join("bin").join(tool)).expect("a link");
    }
    let program = |path: &str, arguments: &[&str], input: &str| {
        let bytes = std::fs::read(root.join(path)).expect("a program");
        let name = path.rsplit('/').next().unwrap_or(path);
        let arguments: Vec<&str> = std::iter::once(name).chain(arguments.iter().copied()).collect();
        let ran = run_as(writable(&root), bytes, &arguments, input, u64::MAX);
        assert_eq!(ran.code(), 0, "{path}: {}", ran.text());
        ran.text()
    };

    // The same script by the machine's own shell.
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/shell.sh");
    let wanted = Command::new("sh").arg(&script).output().expect("a shell").stdout;
    let wanted = String::from_utf8(wanted).expect("text");
    std::fs::copy(&script, root.join("shell.sh")).expect("a copy");
    assert_eq!(program("bin/busybox", &["sh", "/shell.sh"], ""), wanted);
    assert_eq!(program("bin/bash-static", &["/shell.sh"], ""), wanted);
    assert_eq!(program("bin/dash", &["/shell.sh"], ""), wanted);

    let lua =
        "local t, x = {}, 1 for i = 1, 200000 do x = (x * 16807) % 2147483647 t[i] = x end table.sort(t)
local ok = true for i = 2, #t do ok = ok and t[i - 1] <= t[i] end print(ok, (('a1b22'):gsub('%d+', '<%0>')))";
    assert_eq!(program("usr/bin/lua5.4", &["-"], lua), "true\ta<1>b<22>\n");
    let perl =
        "my %h; $h{$_ % 97} += $_ for 1 .. 200000; my $n = () = join(',', 1 .. 20000) =~ /7(?=\\d*,)/g;
print scalar(keys %h), ' ', $h{0}, ' ', $n, \"\\n\";";
    // Multiples of 97 up to 199,917; numbers up to 20,000 with a 7 that is followed by digits and a comma, each 7 once.
    let sevens = (1..20000).map(|n: u32| n.to_string().matches('7').count()).sum::<usize>();
    let sum = (1..=2061u64).map(|n| 97 * n).sum::<u64>();
    assert_eq!(program("usr/bin/perl", &["-e", perl], ""), format!("97 {sum} {sevens}\n"));
    let sql = "create table t(a integer, b text); with recursive c(x) as (select 1 union all select x + 1 from c where \
               x < 100000) insert into t select x, hex(x) from c; select count(*), sum(a), max(length(b)) from t;";
    assert_eq!(program("usr/bin/sqlite3", &[":memory:", sql], ""), "100000|5000050000|12\n");
    let text: String =
        (0..1_200_000u32).map(|n| format!("{:07}\n", n.wrapping_mul(2_654_435_761) % 9_999_991)).collect();
    std::fs::write(root.join("text"), &text).expect("a file");
    program("usr/bin/xz", &["-k", "-1", "/text"], "");
    std::fs::rename(root.join("text"), root.join("before")).expect("renamed");
    program("usr/bin/xz", &["-d", "/text.xz"], "");
    assert!(std::fs::read(root.join("text")).expect("a file") == text.as_bytes());
}
