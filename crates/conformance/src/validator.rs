//! SPIR-V checked by SPIRV-Tools: its shared library if there is one ([`SpirvTools::find`]), else the program `spirv-val`. Its
//! text is the library's, or that of the program `spirv-dis`.

use crate::report::Verdict;
use std::io::{Result as IoResult, Write};
use std::process::{Command, Output, Stdio};
use xenoglot_testgen::spirv_tools::{Release, SINCE, SpirvTools, release};

/// Gives words to a program that reads all before it says anything.
fn ask(program: &str, args: &[&str], words: &[u32]) -> IoResult<Output> {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    // The answer may be longer than a pipe is.
    let input = child.stdin.take();
    let writer = std::thread::spawn(move || input.map_or(Ok(()), |mut input| input.write_all(&bytes)));
    let output = child.wait_with_output()?;
    // A program that ends early has said why.
    let _ = writer.join();
    Ok(output)
}

/// The text of words, with names made of what ids are.
///
/// # Errors
/// Why there is none.
pub fn disassemble(words: &[u32]) -> Result<String, String> {
    if let Some(tools) = SpirvTools::find() {
        return tools.disassemble(words);
    }
    let output = ask("spirv-dis", &["--no-color", "-"], words).map_err(|e| format!("spirv-dis: {e}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("spirv-dis: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// Extensions that validators know since a release, and which.
const NEWER: &[(&str, Release)] = &[("SPV_EXT_shader_invocation_reorder", (2025, 5))];

/// The release that a module needs which has extensions of [`NEWER`].
fn needed(words: &[u32]) -> Option<Release> {
    const EXTENSION: u32 = 10;
    let mut at = 5;
    let mut newest = None;
    while let Some(&word) = words.get(at) {
        let length = (word >> 16).max(1) as usize;
        if word & 0xffff == EXTENSION {
            let name = words.get(at + 1..at + length).unwrap_or_default();
            let bytes: Vec<u8> = name.iter().flat_map(|w| w.to_le_bytes()).take_while(|&b| b != 0).collect();
            let known = NEWER.iter().find(|(extension, _)| extension.as_bytes() == bytes);
            newest = newest.max(known.map(|&(_, release)| release));
        }
        at += length;
    }
    newest
}

/// Whether words are a valid module for Vulkan 1.3; unconfirmed where nobody, or only an old validator, can tell.
pub fn validate(words: &[u32]) -> Verdict {
    let since = needed(words).unwrap_or(SINCE);
    match SpirvTools::find().filter(|tools| tools.release() >= since) {
        Some(tools) => match tools.validate(words, "vulkan1.3") {
            Ok(()) => Verdict::Passed,
            Err(e) => Verdict::Failed(format!("invalid SPIR-V: {e}")),
        },
        None => by_program(words, since),
    }
}

/// What `spirv-val` says. Releases before the one given are not believed when they refuse.
fn by_program(words: &[u32], since: Release) -> Verdict {
    const PROGRAM: &str = "spirv-val";
    match ask(PROGRAM, &["--target-env", "vulkan1.3", "-"], words) {
        Ok(output) if output.status.success() => Verdict::Passed,
        Ok(output) => {
            let refusal = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            match installed_release(PROGRAM) {
                Some((year, number)) if (year, number) < since => {
                    Verdict::Unconfirmed(format!("spirv-val of {year}.{number}: {refusal}"))
                }
                _ => Verdict::Failed(format!("invalid SPIR-V: {refusal}")),
            }
        }
        Err(e) => Verdict::Unconfirmed(format!("translated, but not validated: {PROGRAM}: {e}")),
    }
}

/// The program's release, as in `SPIRV-Tools v2023.1`.
fn installed_release(program: &str) -> Option<Release> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    release(text.split_once(" v")?.1)
}
