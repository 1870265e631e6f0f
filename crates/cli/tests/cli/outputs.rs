//! Where results go, and what becomes of them where something goes wrong.

use crate::common::{folder, run, run_with, shader, shaders, text, xenoglot};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Inputs of every kind.
struct Kit {
    folder: PathBuf,
}

impl Kit {
    fn new(name: &str) -> Kit {
        let kit = Kit { folder: folder(name) };
        run(&["scenes", "triangles", "--frames", "2", "--count", "3", "-o", &kit.path("")], 0);
        run(&["asm", &shader("basic.v.pica"), "-o", &kit.path("a.shbin")], 0);
        // A frame of 64 by 64, white.
        let y4m = [b"YUV4MPEG2 W64 H64 F25:1 C444\nFRAME\n".as_slice(), &[235; 64 * 64], &[128; 2 * 64 * 64]];
        fs::write(kit.path("a.y4m"), y4m.concat()).unwrap();
        run(&["yuv", &kit.path("a.y4m"), "-o", &kit.path("a.png")], 0);
        let spec = hound::WavSpec {
            channels: 1,
            sample_rate: 48_000,
            bits_per_sample: 16,
            sample_format: hound::SampleFormat::Int,
        };
        let mut wav = hound::WavWriter::create(kit.path("a.wav"), spec).unwrap();
        (0..4_800).for_each(|n| wav.write_sample((n * 997 % 20_000) as i16).unwrap());
        wav.finalize().unwrap();
        fs::write(kit.path("a.vpu"), "exit\n".repeat(64)).unwrap();
        let quad = "v -1 -1 0 1 0 0\nv 1 -1 0 0 1 0\nv 1 1 0 0 0 1\nv -1 1 0 1 1 1\nf 1 2 3 4\n";
        fs::write(kit.path("a.obj"), quad).unwrap();
        kit
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Commands that write a file, without its name at the end: the ending it has, and the command.
    fn writers(&self) -> Vec<(&'static str, Vec<String>)> {
        let (capture, wav, y4m) = (self.path("triangles.xgc"), self.path("a.wav"), self.path("a.y4m"));
        let (shbin, png, obj, vpu) =
            (self.path("a.shbin"), self.path("a.png"), self.path("a.obj"), self.path("a.vpu"));
        let source = shader("lit.v.pica");
        let rows: [(&str, &[&str]); 16] = [
            ("png", &["render", &capture, "-o"]),
            ("spv", &["translate", "--to", "spirv", &source, "-o"]),
            ("vert", &["translate", "--to", "glsl", &source, "-o"]),
            ("shbin", &["asm", &source, "-o"]),
            ("pica", &["disasm", "--addresses", &shbin, "-o"]),
            ("xir", &["ir", &source, "-o"]),
            ("svg", &["cfg", "--what", "guest", &source, "-o"]),
            ("txt", &["info", &source, "-o"]),
            ("rgba", &["yuv", "--to", "rgba8", &y4m, "-o"]),
            ("wav", &["tone", &wav, "-o"]),
            ("svg", &["tone", &wav, "--plot"]),
            ("png", &["texture", "compare", &png, &png, "--difference"]),
            ("png", &["dragon", "run", "--model", &obj, "-o"]),
            ("json", &["dragon", "run", "--model", &obj, "--trace"]),
            ("xgc", &["dragon", "run", "--model", &obj, "--at", "9", "--checkpoint"]),
            ("bin", &["dragon", "asm", &vpu, "-o"]),
        ];
        rows.map(|(ending, row)| (ending, row.iter().map(|s| (*s).to_owned()).collect())).into()
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// A command with one more argument.
fn with<'a>(command: &'a [String], last: &'a str) -> Vec<&'a str> {
    command.iter().map(String::as_str).chain([last]).collect()
}

#[cfg(unix)]
#[test]
fn every_command_writes_links_devices_and_pipes_through() {
    use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
    let kit = Kit::new("through");
    fs::write(kit.path("plain"), b"").unwrap();
    let mode = |path: &str| fs::metadata(path).unwrap().mode();
    for (n, (ending, command)) in kit.writers().into_iter().enumerate() {
        let (target, link) = (kit.path(&format!("target-{n}")), kit.path(&format!("link-{n}.{ending}")));
        symlink(&target, &link).unwrap();
        run(&with(&command, &link), 0);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{command:?}");
        let written = fs::read(&target).unwrap();
        assert!(!written.is_empty(), "{command:?}");
        assert_eq!(mode(&target), mode(&kit.path("plain")), "{command:?}");

        run(&with(&command, "/dev/null"), 0);
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device(), "{command:?}");

        let pipe = kit.path(&format!("pipe-{n}.{ending}"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        run(&with(&command, &pipe), 0);
        let read = reader.join().unwrap();
        // Pictures of control flow and reports hold no times; all is the same again.
        assert_eq!(read, written, "{command:?}");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo(), "{command:?}");
    }
    assert!(!kit.names().iter().any(|name| name.contains(".part")), "{:?}", kit.names());
}

/// A shell's limit on the size of files stands for a full disk.
#[cfg(unix)]
#[test]
fn what_cannot_be_written_whole_leaves_the_old_file() {
    let kit = Kit::new("cut");
    for (ending, command) in kit.writers() {
        let output = kit.path(&format!("out.{ending}"));
        fs::write(&output, b"old").unwrap();
        let before = kit.names();
        let mut shell = std::process::Command::new("sh");
        // No byte may be written to a file; the signal for that is ignored, so that the program sees an error.
        shell.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_xenoglot")]);
        let out = shell.args(with(&command, &output)).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(1), "{command:?}: {said}");
        assert!(said.contains(&format!("cannot write {output}: File too large")), "{command:?}: {said}");
        assert_eq!(fs::read(&output).unwrap(), b"old", "{command:?}");
        assert_eq!(kit.names(), before, "{command:?}");
        if Path::new("/dev/full").exists() {
            let said = run(&with(&command, "/dev/full"), 1).stderr;
            assert!(String::from_utf8_lossy(&said).contains("No space left"), "{command:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_command_leaves_nothing_half_written() {
    use std::os::unix::process::ExitStatusExt;
    let folder = folder("interrupted");
    let path = |name: &str| folder.join(name).display().to_string();
    let (width, height) = (4096, 2048);
    // Zeros that take no room: the result is eleven times as large, and takes a while to write.
    let raw = fs::File::create(path("raw.yuv")).unwrap();
    raw.set_len(width * height * 3 / 2).unwrap();
    fs::write(path("out.rgba32f"), b"old").unwrap();
    for attempt in 0.. {
        let mut child = xenoglot(&["yuv", &path("raw.yuv"), "--size", &format!("{width}x{height}")])
            .args(["--to", "rgba32f", "-o", &path("out.rgba32f")])
            .spawn()
            .unwrap();
        let mut ended = false;
        while !ended && fs::read_dir(&folder).unwrap().count() == 2 {
            ended = child.try_wait().unwrap().is_some();
        }
        // At once: a program that does it would give the command time to end. One that has ended is not there any more.
        let id = rustix::process::Pid::from_child(&child);
        let _ = rustix::process::kill_process(id, rustix::process::Signal::INT);
        let status = child.wait().unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        if fs::metadata(path("out.rgba32f")).unwrap().len() == 3 {
            return assert_eq!(status.signal(), Some(2));
        }
        // It was faster, and the file is whole.
        assert_eq!(fs::metadata(path("out.rgba32f")).unwrap().len(), width * height * 16);
        assert!(attempt < 20);
        fs::write(path("out.rgba32f"), b"old").unwrap();
    }
}

/// Commands that print.
fn printers(kit: &Kit) -> Vec<Vec<String>> {
    let capture = kit.path("triangles.xgc");
    let (wav, y4m, png, obj, vpu) =
        (kit.path("a.wav"), kit.path("a.y4m"), kit.path("a.png"), kit.path("a.obj"), kit.path("a.vpu"));
    let (trace, source) = (kit.path("trace.json"), shader("basic.v.pica"));
    run(&["dragon", "run", "--model", &obj, "--trace", &trace], 0);
    let demo = kit.path("demo");
    let rows: &[&[&str]] = &[
        &["--help"],
        &["--version"],
        &["render", "--help"],
        &["info", &source],
        &["info", "--json", &source],
        &["disasm", &source],
        &["asm", &source, "-o", "-"],
        &["cfg", "--stats", &source],
        &["cfg", &source],
        &["ir", &source],
        &["translate", "--to", "glsl", &source],
        &["translate", "--to", "spirv", &source, "-o", "-"],
        &["run", &source],
        &["run", &source, "--json"],
        &["render", &capture, "-o", "/dev/null"],
        &["render", &capture, "--json"],
        &["scenes"],
        &["scenes", "--json"],
        &["scenes", "fog", "--frames", "1", "-o", &demo],
        &["texture", "compare", &png, &png],
        &["yuv", &y4m, "-o", "-"],
        &["yuv", &y4m, "--json", "-o", "/dev/null"],
        &["tone", &wav],
        &["extract", &source],
        &["demo", "-o", &demo],
        &["dragon", "run", "--model", &obj],
        &["dragon", "run", "--model", &obj, "--report"],
        &["dragon", "step", "--model", &obj],
        &["dragon", "step", "--model", &obj, "--json"],
        &["dragon", "sweep", "--model", &obj, "--axis", "vpus=1"],
        &["dragon", "report", &trace],
        &["dragon", "report", "--json", &trace],
        &["dragon", "asm", &vpu],
        &["dragon", "disasm", &vpu],
        &["bench", "dragon", "--quick"],
    ];
    rows.iter().map(|row| row.iter().map(|s| (*s).to_owned()).collect()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_an_error_and_a_closed_one_is_not() {
    let kit = Kit::new("standard-output");
    for command in printers(&kit) {
        let args: Vec<&str> = command.iter().map(String::as_str).collect();
        let full = || fs::File::options().write(true).open("/dev/full").unwrap();
        let out = xenoglot(&args).stdout(full()).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(1), "{command:?}: {said}");
        assert!(!said.contains("panicked"), "{command:?}: {said}");
        // clap prints help by itself.
        let is_help = command.iter().any(|arg| arg.starts_with("--help") || arg == "--version");
        assert!(
            is_help || said.contains("cannot write standard output: No space left"),
            "{command:?}: {said}"
        );

        let mut child = xenoglot(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let out = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(0), "{command:?}: {said}");
        assert!(!said.contains("panicked") && !said.contains("error"), "{command:?}: {said}");

        // Where messages cannot go, they are lost, and nothing else is.
        let out = xenoglot(&args).stdout(full()).stderr(full()).output().unwrap();
        assert_eq!(out.status.code(), Some(1), "{command:?}");
    }
}

#[test]
fn inputs_are_not_overwritten() {
    let kit = Kit::new("own-input");
    let copy = kit.path("x.pica");
    fs::copy(shader("basic.v.pica"), &copy).unwrap();
    let source = fs::read(&copy).unwrap();
    let said = |args: &[&str]| String::from_utf8(run(args, 1).stderr).unwrap();
    let folder = kit.path("");
    assert!(said(&["disasm", &copy, "-o", &folder]).contains("x.pica is an input"));
    assert!(said(&["disasm", &copy, "-o", &copy]).contains("is an input"));
    assert!(said(&["disasm", &copy, "-o", &kit.path("./../own-input/x.pica")]).contains("is an input"));
    // One input's result is not another input, either.
    fs::copy(kit.path("a.shbin"), kit.path("x.shbin")).unwrap();
    assert!(said(&["disasm", &kit.path("x.shbin"), &copy, "-o", &folder]).contains("is an input"));
    assert_eq!(fs::read(&copy).unwrap(), source);
    let wav = fs::read(kit.path("a.wav")).unwrap();
    said(&["tone", &kit.path("a.wav"), "-o", &kit.path("a.wav")]);
    assert_eq!(fs::read(kit.path("a.wav")).unwrap(), wav);
    said(&["dragon", "asm", &kit.path("a.vpu"), "-o", &kit.path("a.vpu")]);
    let png = kit.path("a.png");
    said(&["texture", "compare", &png, &png, "--difference", &png]);
}

#[test]
fn a_files_name_does_not_become_a_folder() {
    let kit = Kit::new("no-folder");
    let (one, two) = (shader("basic.v.pica"), shader("lit.v.pica"));
    let before = kit.names();
    let file = kit.path("one.spv");
    for args in [
        &["translate", "--to", "spirv", &one, &two, "-o", &file][..],
        &["translate", "--to", "spirv,glsl", &one, "-o", &file],
        &["translate", "--to", "spirv", &shaders().display().to_string(), "-o", &file],
        &["translate", "--to", "spirv", &one, &two, "-o", &kit.path("a.wav")],
        &["render", &kit.path("triangles.xgc"), "--all", "-o", &kit.path("frames.png")],
        &["scenes", "fog", "-o", &kit.path("fog.xgc")],
        &["demo", "-o", &kit.path("demo.html")],
    ] {
        let said = String::from_utf8(run(args, 2).stderr).unwrap();
        assert!(said.contains("looks like a file") || said.contains("is no folder"), "{args:?}: {said}");
    }
    assert_eq!(kit.names(), before);
    // With a slash it is meant.
    run(&["translate", "--to", "spirv", &one, &two, "-o", &kit.path("one.spv/")], 0);
    assert!(Path::new(&kit.path("one.spv/basic.v.spv")).is_file());
}

#[test]
fn no_format_is_written_under_anothers_name() {
    let kit = Kit::new("endings");
    let before = kit.names();
    for (ending, command) in kit.writers() {
        // Where the name chooses the format, or no format is known by it, any will do.
        if ["json", "bin", "txt"].contains(&ending) {
            continue;
        }
        let output = kit.path("x.jpg");
        let said = String::from_utf8(run(&with(&command, &output), 2).stderr).unwrap();
        assert!(said.contains(&format!("is .{ending}, not .jpg")), "{command:?}: {said}");
    }
    assert_eq!(kit.names(), before);
}

#[test]
fn results_on_standard_output_are_alone_there() {
    let kit = Kit::new("alone");
    for (_, command) in kit.writers() {
        let file = kit.path("plain");
        run(&with(&command, &file), 0);
        let written = fs::read(&file).unwrap();
        for output in ["-", "/dev/stdout"].into_iter().filter(|o| *o == "-" || Path::new(o).exists()) {
            assert!(run(&with(&command, output), 0).stdout == written, "{command:?} {output}");
        }
    }
    assert!(!text(&["tone", &kit.path("a.wav")]).is_empty());
    // Files are read from standard input, too.
    let capture = fs::read(kit.path("triangles.xgc")).unwrap();
    let rendered = run_with(&["render", "-", "-o", "-"], &capture).stdout;
    assert!(rendered.starts_with(b"\x89PNG"));
}
