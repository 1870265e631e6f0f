//! SPIR-V checked by SPIRV-Tools: compiled in with the feature `validator`, else the program `spirv-val` if it is
//! installed. Its text is that of the program `spirv-dis`.

use crate::report::Verdict;
use std::io::{Result as IoResult, Write};
use std::process::{Command, Output, Stdio};

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
    let output = ask("spirv-dis", &["--no-color", "-"], words).map_err(|e| format!("spirv-dis: {e}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("spirv-dis: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// Whether words are a valid module for Vulkan 1.3.
#[cfg(feature = "validator")]
pub fn validate(words: &[u32]) -> Verdict {
    use spirv_tools::val::Validator;
    let validator = spirv_tools::val::create(Some(spirv_tools::TargetEnv::Vulkan_1_3));
    match validator.validate(words, None) {
        Ok(()) => Verdict::Passed,
        Err(e) => Verdict::Failed(format!("invalid SPIR-V: {e}")),
    }
}

/// Whether words are a valid module for Vulkan 1.3; unconfirmed where nobody, or only an old validator, can tell.
#[cfg(not(feature = "validator"))]
pub fn validate(words: &[u32]) -> Verdict {
    match program::validate(words) {
        Ok(None) => Verdict::Passed,
        Ok(Some(refusal)) => match program::year() {
            Some(year) if year < program::SINCE => {
                Verdict::Unconfirmed(format!("spirv-val of {year}: {refusal}"))
            }
            _ => Verdict::Failed(format!("invalid SPIR-V: {refusal}")),
        },
        Err(e) => Verdict::Unconfirmed(format!("translated, but not validated: spirv-val: {e}")),
    }
}

#[cfg(not(feature = "validator"))]
mod program {
    use super::ask;
    use std::io::Result;
    use std::process::Command;

    const PROGRAM: &str = "spirv-val";

    /// Releases from this year on know what is valid: those of 2023 take locations of patches for those of vertices.
    pub const SINCE: u32 = 2024;

    /// What the validator has against a module, if anything.
    pub fn validate(words: &[u32]) -> Result<Option<String>> {
        let output = ask(PROGRAM, &["--target-env", "vulkan1.3", "-"], words)?;
        let refusal = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Ok((!output.status.success()).then_some(refusal))
    }

    /// The year of the release, as in `SPIRV-Tools v2023.1`.
    pub fn year() -> Option<u32> {
        let output = Command::new(PROGRAM).arg("--version").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (_, version) = text.split_once(" v")?;
        version.split_once('.')?.0.parse().ok()
    }
}
