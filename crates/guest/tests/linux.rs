//! Linux beyond the vectors: threads, processes, files below a root, limits, and programs that mean harm.

#![cfg(target_os = "linux")]

mod common;

use common::{compile, run, vectors, writable};
use std::path::Path;
use xenoglot_guest::linux::{Config, End, Status, calls, sig};
use xenoglot_mips::Endian;
use xenoglot_testgen::mips::{elf, i};

fn program(target: &str, name: &str, flags: &[&str]) -> Option<Vec<u8>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
    compile(target, &source, flags)
}

#[test]
fn eight_threads_with_locks_conditions_and_own_memory() {
    for target in ["mips", "mipsel"] {
        let Some(bytes) = program(target, "threads.c", &["-static", "-pthread"]) else { return };
        let ran = run(Config::default(), bytes, &[], "", 1 << 32);
        let own: String = (0..8).map(|n| format!("thread {n} own {}\n", 2000 * n)).collect();
        assert_eq!(ran.text(), format!("{own}counter 16000 atomic 56000 squares 140\n"), "{target}");
        assert_eq!(ran.code(), 0);
    }
}

#[test]
fn processes_fork_execute_spawn_wait_and_signal() {
    for target in ["mips", "mipsel"] {
        let Some(bytes) = program(target, "processes.c", &["-static"]) else { return };
        let ran = run(Config::default(), bytes, &[], "", 1 << 32);
        let wanted = "\
child 1 bytes 1000000 code 3 variable 1 handler 1
program again: exec, FD set
exec code 7
program again: spawn, FD none
spawn code 7
spawn of nothing: No such file or directory
signaled 1 by 15
pipe -1 Broken pipe
nobody -1 No child processes
";
        assert_eq!(ran.text(), wanted, "{target}");
        assert_eq!(ran.code(), 141, "SIGPIPE ends it");
    }
}

#[test]
fn timers_expire_counters_count_and_epoll_waits() {
    for target in ["mips", "mipsel"] {
        let Some(bytes) = program(target, "timers.c", &["-static"]) else { return };
        let ran = run(Config::default(), bytes, &[], "", 1 << 32);
        let wanted = "\
create 0 set 0 get 0 left 1 signal 1 code 1 value 77 disarmed 1 overrun 0
plain 0 absolute 0 alarm 1
repeated 1 stop 0 interval 1000000
handled 5 delete 0 0 again -1 Invalid argument
real 1
counter poll 1 5 read 8 is 3 empty -1 Resource temporarily unavailable write 8 sum 100000007 short -1 Invalid argument
semaphore 8 1 8 -1
pair 0 add 0 twice -1 File exists counter 0 nothing 0
send 5 ready 2 socket 1 counter 1 again 1 armed 0 2 recv hello empty -1 Resource temporarily unavailable
deleted 0 gone -1 No such file or directory itself -1 refused closed 1 10 end 0 broken -1 Broken pipe
in memory 0 1 hole -1 Cannot allocate memory
socket -1 Socket operation on non-socket, -1 Bad file descriptor
at -1 Illegal seek
";
        assert_eq!(ran.text(), wanted, "{target}");
        assert_eq!(ran.code(), 0);
    }
}

#[test]
fn a_seed_makes_runs_repeatable() {
    let Some(bytes) = program("mipsel", "files.c", &["-static"]) else { return };
    let config = || Config { seed: Some(7), ..Config::default() };
    let [first, second] = [(); 2].map(|()| run(config(), bytes.clone(), &["random"], "", 1 << 30));
    assert_eq!((first.text(), first.instructions), (second.text(), second.instructions));
    let other = run(Config { seed: Some(8), ..Config::default() }, bytes, &["random"], "", 1 << 30);
    assert_ne!(first.text(), other.text());
}

/// A folder with a file, links that lead out of it, and a file beside it.
fn tree() -> tempfile::TempDir {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("secret"), "secret").expect("a file");
    std::fs::create_dir_all(path("root/sub")).expect("a folder");
    std::fs::write(path("root/file"), "inside").expect("a file");
    symlink("../secret", path("root/relative")).expect("a link");
    symlink(path("secret"), path("root/absolute")).expect("a link");
    symlink("/file", path("root/sub/good")).expect("a link");
    symlink("../../..", path("root/sub/up")).expect("a link");
    symlink("loop", path("root/loop")).expect("a link");
    folder
}

#[test]
fn no_path_leads_out_of_the_root_and_nothing_is_written_unasked() {
    let Some(bytes) = program("mips", "files.c", &["-static"]) else { return };
    let folder = tree();
    let root = folder.path().join("root");
    let paths = [
        ("file", "inside"),
        ("/file", "inside"),
        ("../../file", "inside"),
        ("sub/../file", "inside"),
        ("sub/good", "inside"),
        ("sub/up/file", "inside"),
        ("relative", "No such file or directory"),
        ("absolute", "No such file or directory"),
        ("../secret", "No such file or directory"),
        ("sub/up/secret", "No such file or directory"),
        ("loop", "Too many levels of symbolic links"),
        ("file/", "Not a directory"),
        ("sub", "Is a directory"),
        ("", "No such file or directory"),
    ];
    let wanted: String = paths.iter().map(|(path, text)| format!("{path}: {text}\n")).collect();
    let arguments: Vec<&str> = std::iter::once("read").chain(paths.iter().map(|(path, _)| *path)).collect();
    let config = Config { root: Some(root.clone()), ..Config::default() };
    assert_eq!(run(config.clone(), bytes.clone(), &arguments, "", 1 << 30).text(), wanted);

    let ran = run(config, bytes.clone(), &["change"], "", 1 << 30);
    assert_eq!(ran.text(), "Read-only file system\n".repeat(9));
    assert_eq!(std::fs::read(root.join("file")).expect("the file"), b"inside");

    let ran = run(writable(&root), bytes, &["change"], "", 1 << 30);
    assert_eq!(ran.text(), "Success\n".repeat(9));
    assert!(!root.join("file").exists() && root.join("new/moved").exists());
    assert_eq!(std::fs::read(folder.path().join("secret")).expect("the file"), b"secret");
}

#[test]
fn what_the_root_lacks_is_found_in_the_sysroot_and_never_written_there() {
    let Some(bytes) = program("mipsel", "files.c", &["-static"]) else { return };
    let [root, sysroot] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    std::fs::write(root.path().join("both"), "root").expect("a file");
    std::fs::write(sysroot.path().join("both"), "sysroot").expect("a file");
    std::fs::write(sysroot.path().join("file"), "library").expect("a file");
    let config = Config { sysroot: Some(sysroot.path().into()), ..writable(root.path()) };
    let ran = run(config.clone(), bytes.clone(), &["read", "both", "file"], "", 1 << 30);
    assert_eq!(ran.text(), "both: root\nfile: library\n");
    let ran = run(config, bytes, &["write", "file"], "", 1 << 30);
    assert_eq!(ran.text(), "Read-only file system\n");
    assert_eq!(std::fs::read(sysroot.path().join("file")).expect("the file"), b"library");
}

#[test]
fn links_lead_from_the_root_to_the_sysroot_and_back() {
    use std::os::unix::fs::symlink;
    let Some(bytes) = program("mipsel", "files.c", &["-static"]) else { return };
    let [root, sysroot] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    for folder in [&root, &sysroot] {
        std::fs::create_dir(folder.path().join("bin")).expect("a folder");
    }
    std::fs::write(root.path().join("bin/own"), "root").expect("a file");
    std::fs::write(sysroot.path().join("bin/file"), "library").expect("a file");
    symlink("file", root.path().join("bin/relative")).expect("a link");
    symlink("/bin/file", root.path().join("bin/absolute")).expect("a link");
    symlink("../bin", root.path().join("bin/up")).expect("a link");
    symlink("own", sysroot.path().join("bin/back")).expect("a link");
    symlink("loop", sysroot.path().join("loop")).expect("a link");
    let config = Config { sysroot: Some(sysroot.path().into()), ..writable(root.path()) };
    for name in ["relative", "absolute", "up/file", "up/up/relative"] {
        let ran = run(config.clone(), bytes.clone(), &["read", &format!("bin/{name}")], "", 1 << 30);
        assert_eq!(ran.text(), format!("bin/{name}: library\n"));
    }
    let ran = run(config.clone(), bytes.clone(), &["read", "bin/back"], "", 1 << 30);
    assert_eq!(ran.text(), "bin/back: root\n");
    let ran = run(config, bytes, &["read", "loop"], "", 1 << 30);
    assert!(ran.text().contains("symbolic links"), "{}", ran.text());
}

/// Runs instructions in both byte orders with little memory and fuel.
fn guest(code: &[u32], fuel: u64) -> End {
    let ends = [Endian::Big, Endian::Little].map(|endian| {
        let config = Config { memory: 16 << 20, seed: Some(1), ..Config::default() };
        run(config, elf(endian, code, 0), &[], "", fuel).end
    });
    assert_eq!(ends[0], ends[1]);
    ends[0]
}

#[test]
fn what_a_program_does_wrong_is_its_own_end() {
    let killed = |signal| End::Ended(Status::Killed(signal));
    let guest = |code: &[u32]| guest(code, 10_000_000);
    // Jumps to garbage: where nothing is, to data, to an odd address.
    assert_eq!(guest(&[i::lui(8, 0x1234), i::jr(8), 0]), killed(sig::SEGV));
    assert_eq!(guest(&[i::jr(29), 0]), killed(sig::SEGV));
    assert_eq!(guest(&[i::lui(8, 0x40), i::addiu(8, 8, 1), i::jr(8), 0]), killed(sig::BUS));
    assert_eq!(guest(&[0xffff_ffff]), killed(sig::ILL));
    // Recurses without end.
    assert_eq!(guest(&[i::addiu(29, 29, -32), i::sw(31, 29, 28), i::branch(-3), 0]), killed(sig::SEGV));
    // Maps 4 GiB: refused (ENOMEM is 12); fills more than the limit: killed.
    let mmap = [
        i::addiu(29, 29, -32),
        i::sw(0, 29, 16),
        i::sw(0, 29, 20),
        i::addiu(4, 0, 0),
        i::lui(5, 0xffff),
        i::addiu(6, 0, 3),
        i::addiu(7, 0, 0x802),
        i::addiu(2, 0, 4090),
        i::SYSCALL,
        i::addu(4, 2, 0),
        i::addiu(2, 0, 4001),
        i::SYSCALL,
    ];
    assert_eq!(guest(&mmap), End::Ended(Status::Exited(12)));
    let fill = [
        i::addiu(29, 29, -32),
        i::sw(0, 29, 16),
        i::sw(0, 29, 20),
        i::addiu(4, 0, 0),
        i::lui(5, 0x4000),
        i::addiu(6, 0, 3),
        i::addiu(7, 0, 0x802),
        i::addiu(2, 0, 4090),
        i::SYSCALL,
        i::sw(31, 2, 0),
        i::addiu(2, 2, 4096),
        i::branch(-3),
        0,
    ];
    assert_eq!(guest(&fill), killed(sig::KILL));
    // Writes over itself: code may not be written.
    assert_eq!(guest(&[i::lui(8, 0x40), i::sw(0, 8, 0x100)]), killed(sig::SEGV));
    // Divides by zero, as compilers guard it; a loop without end.
    assert_eq!(guest(&[0x0000_01f4]), killed(sig::FPE));
    assert_eq!(guest(&[i::branch(-1), 0]), End::OutOfFuel);
    // Waits for nobody.
    assert_eq!(guest(&[i::addiu(2, 0, 4029), i::SYSCALL]), End::Deadlock);
    // Sleeps for ever and a day, again and again.
    let mut sleep = vec![i::addiu(29, 29, -32), i::lui(9, 0x7fff), i::sw(9, 29, 0), i::sw(9, 29, 4)];
    sleep.extend([i::sw(0, 29, 8), i::sw(0, 29, 12)]);
    let clock = [
        i::addiu(4, 0, 1),
        i::addiu(5, 0, 0),
        i::addu(6, 29, 0),
        i::addiu(7, 0, 0),
        i::addiu(2, 0, 4407),
        i::SYSCALL,
    ];
    sleep.extend(clock.repeat(3));
    sleep.extend([
        i::addiu(4, 0, 5),
        i::addiu(2, 0, 4027),
        i::SYSCALL,
        i::addiu(4, 0, 3),
        i::addiu(2, 0, 4001),
        i::SYSCALL,
    ]);
    assert_eq!(guest(&sleep), End::Ended(Status::Exited(3)));
    // A call that is not there: ENOSYS is 89.
    let nothing = [i::addiu(2, 0, 4018), i::SYSCALL, i::addu(4, 2, 0), i::addiu(2, 0, 4001), i::SYSCALL];
    assert_eq!(guest(&nothing), End::Ended(Status::Exited(89)));
}

#[test]
fn forks_without_end_are_bounded() {
    // fork; loop: the 65th and all later ones fail.
    let code = [i::addiu(2, 0, 4002), i::SYSCALL, i::branch(-3), 0];
    assert_eq!(guest(&code, 1_000_000), End::OutOfFuel);
}

#[test]
fn codes_of_break_are_read_when_asked_for() {
    for (code, asked, signal) in [
        (7, true, sig::FPE),
        (7 << 10, true, sig::FPE),
        (6, true, sig::FPE),
        (5, true, sig::TRAP),
        (7, false, sig::TRAP),
    ] {
        let bytes = elf(Endian::Big, &[code << 6 | 13], 0);
        let config = Config { break_codes: asked, ..Config::default() };
        assert_eq!(
            run(config, bytes, &[], "", 1000).end,
            End::Ended(Status::Killed(signal)),
            "{code} {asked}"
        );
    }
}

#[test]
fn a_death_tells_where_and_who_called() {
    let Some(bytes) = program("mips", "crash.c", &["-static", "-O1", "-fno-inline"]) else { return };
    let ran = run(Config::default(), bytes, &[], "", 1 << 30);
    assert_eq!(ran.code(), 139);
    let death = ran.deaths.last().expect("a death");
    assert_eq!((death.signal, death.address), (sig::SEGV, Some(0x10)));
    let names: Vec<&str> =
        death.backtrace.iter().filter_map(|frame| Some(frame.symbol.as_ref()?.0.as_str())).take(4).collect();
    assert_eq!(names, ["innermost", "middle", "outer", "main"]);
    assert!(death.to_string().contains("SIGSEGV"), "{death}");
}

/// The document lists the calls that there are.
#[test]
fn the_list_of_calls_in_the_document_is_complete() {
    let text = std::fs::read_to_string(vectors().join("../../docs/mips.md")).expect("the document");
    let listed = text.split("## System calls").nth(1).expect("the section");
    let listed = listed.split("\n## ").next().unwrap_or_default();
    let listed: std::collections::BTreeSet<&str> = listed.split('`').skip(1).step_by(2).collect();
    let there: std::collections::BTreeSet<&str> =
        calls().filter(|(_, _, answered)| *answered).map(|(_, name, _)| name).collect();
    assert_eq!(there, listed);
}
