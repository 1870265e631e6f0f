//! Runs the built program.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The bundled shaders.
pub fn shaders() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../front/pica/shaders")
}

/// A bundled shader.
pub fn shader(name: &str) -> String {
    shaders().join(name).display().to_string()
}

/// A new folder for the test called `name`.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // The folder of an earlier run.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// `xenoglot` with these arguments.
pub fn xenoglot(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xenoglot"));
    command.args(args).env_remove("RUST_LOG");
    command
}

/// Runs `xenoglot` with `input` on standard input.
pub fn run_with(args: &[&str], input: &[u8]) -> Output {
    let mut child =
        xenoglot(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A program that does not read closes the pipe.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("panicked"), "xenoglot {args:?}: {stderr}");
    assert!(output.status.code().is_some(), "xenoglot {args:?} was killed");
    output
}

/// Runs `xenoglot`, which must end with this exit code.
pub fn run(args: &[&str], code: i32) -> Output {
    let output = run_with(args, b"");
    assert_eq!(
        output.status.code(),
        Some(code),
        "xenoglot {args:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Standard output of a run that succeeds.
pub fn text(args: &[&str]) -> String {
    String::from_utf8(run(args, 0).stdout).unwrap()
}

/// The JSON a run that succeeds prints.
pub fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_slice(&run(args, 0).stdout).unwrap()
}

/// The size of a PNG of 8 bits a channel, and its pixels as RGBA.
pub fn picture(path: &Path) -> ((u32, u32), Vec<[u8; 4]>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut decoder = png::Decoder::new(file);
    decoder.set_transformations(png::Transformations::ALPHA);
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgba);
    ((info.width, info.height), bytes[..info.buffer_size()].as_chunks().0.to_vec())
}
