//! What is there after a write, and after one that was cut short.
#![cfg(unix)]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use xenoglot_output::{Durability, Error, Output, write, write_synced};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn files_have_the_umasks_mode_and_replaced_ones_keep_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, ours) = (folder.path().join("plain"), folder.path().join("ours"));
    fs::write(&plain, b"as the system makes it").unwrap();
    write(&ours, b"one").unwrap();
    assert_eq!(mode(&ours), mode(&plain));
    fs::set_permissions(&ours, fs::Permissions::from_mode(0o640)).unwrap();
    write_synced(&ours, b"two").unwrap();
    assert_eq!((mode(&ours), fs::read(&ours).unwrap()), (0o640, b"two".to_vec()));
    assert_eq!(names(folder.path()), ["ours", "plain"]);
}

#[test]
fn links_stay_and_what_they_point_to_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("deep")).unwrap();
    fs::write(at("deep/target"), b"old").unwrap();
    symlink("deep/target", at("near")).unwrap();
    symlink("../near", at("deep/far")).unwrap();
    symlink("deep/new", at("dangling")).unwrap();
    write(&at("deep/far"), b"new").unwrap();
    write(&at("dangling"), b"first").unwrap();
    for name in ["near", "deep/far", "dangling"] {
        assert!(fs::symlink_metadata(at(name)).unwrap().is_symlink(), "{name}");
    }
    assert_eq!(fs::read(at("deep/target")).unwrap(), b"new");
    assert_eq!(fs::read(at("deep/new")).unwrap(), b"first");
    symlink("round", at("round")).unwrap();
    assert!(matches!(write(&at("round"), b""), Err(Error::Io { .. })));
}

#[test]
fn pipes_and_devices_are_written_through() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    write(&pipe, b"through").unwrap();
    assert_eq!(reader.join().unwrap(), b"through");
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    assert_eq!(names(folder.path()), ["pipe"]);

    let null = Path::new("/dev/null");
    write(null, b"nothing").unwrap();
    assert!(fs::metadata(null).unwrap().file_type().is_char_device());
    if Path::new("/dev/full").exists() {
        let error = write(Path::new("/dev/full"), b"anything").unwrap_err();
        assert!(
            matches!(&error, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull)
        );
    }
}

#[test]
fn what_is_not_finished_leaves_the_old_contents_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, b"old").unwrap();
    let mut output = Output::create(&path).unwrap();
    output.write_all(b"half").unwrap();
    assert_eq!(names(folder.path()).len(), 2);
    drop(output);
    assert_eq!((names(folder.path()), fs::read(&path).unwrap()), (vec!["file".into()], b"old".to_vec()));
    assert!(matches!(write(folder.path(), b""), Err(Error::Folder(_))));
    assert!(matches!(write(&folder.path().join("name/"), b""), Err(Error::Folder(_))));
    write(&folder.path().join("missing/file"), b"").unwrap_err();
}

/// Runs the test called `name` of this file in a process of its own, which finds `path` in its environment.
fn child(name: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture", "--test-threads", "1"]).env("XENOGLOT_TEST_OUTPUT", path);
    command
}

/// The half-written file of the process that [`signals_leave_nothing_half_written`] ends.
#[test]
fn half_written() {
    let Some(path) = std::env::var_os("XENOGLOT_TEST_OUTPUT") else { return };
    xenoglot_output::discard_on_signals().unwrap();
    let mut output = Output::create(Path::new(&path)).unwrap();
    output.write_all(b"half").unwrap();
    println!("ready");
    // Until the parent goes, at the latest.
    let _ = std::io::stdin().read(&mut [0]);
    output.write_all(b" and half").unwrap();
    output.finish(Durability::Synced).unwrap();
}

fn signalled(signal: &str, ignored: bool) -> (std::process::ExitStatus, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), b"old").unwrap();
    let child = child("half_written", &folder.path().join("file"));
    // A shell's trap is what a process is started with.
    let mut shell = Command::new("sh");
    let script = if ignored { format!("trap '' {signal}; exec \"$@\"") } else { "exec \"$@\"".into() };
    shell.args(["-c", &script, "sh"]).arg(child.get_program()).args(child.get_args());
    shell.envs(child.get_envs().filter_map(|(k, v)| Some((k, v?))));
    let mut run = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    let mut out = std::io::BufReader::new(run.stdout.take().unwrap());
    while !said.contains("ready") {
        assert!(std::io::BufRead::read_line(&mut out, &mut said).unwrap() > 0, "{said}");
    }
    assert_eq!(names(folder.path()).len(), 2);
    let kill = Command::new("kill").args([&format!("-{signal}"), &run.id().to_string()]).status().unwrap();
    assert!(kill.success());
    if ignored {
        // Nothing happens, so it goes on.
        run.stdin.take().unwrap().write_all(b"x").unwrap();
    }
    std::io::copy(&mut out, &mut std::io::sink()).unwrap();
    (run.wait().unwrap(), folder)
}

#[test]
fn signals_leave_nothing_half_written() {
    use std::os::unix::process::ExitStatusExt;
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let (status, folder) = signalled(signal, false);
        assert_eq!(status.signal(), Some(number));
        assert_eq!(names(folder.path()), ["file"]);
        assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"old");
    }
}

#[test]
fn ignored_signals_stay_ignored() {
    let (status, folder) = signalled("INT", true);
    assert!(status.success());
    assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"half and half");
    assert_eq!(names(folder.path()), ["file"]);
}

#[test]
fn standard_output_is_not_replaced_where_it_is_a_file() {
    let Some(path) = std::env::var_os("XENOGLOT_TEST_OUTPUT") else {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let file = fs::File::create(&log).unwrap();
        let mut run = child("standard_output_is_not_replaced_where_it_is_a_file", Path::new("/dev/stdout"));
        assert!(run.stdout(file).status().unwrap().success());
        let log = fs::read_to_string(log).unwrap();
        // The test runner's own lines are before and behind it.
        let at = log.find("to the log\n").unwrap();
        assert!(at > 0 && log.contains("test result: ok"), "{log}");
        return assert_eq!(names(folder.path()), ["log"]);
    };
    write(Path::new(&path), b"to the log\n").unwrap();
}
