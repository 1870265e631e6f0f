//! SPIR-V checked by SPIRV-Tools: compiled in with the feature `validator`, else the program `spirv-val` if it is
//! installed.

use crate::report::Verdict;

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
    use std::io::{Result, Write};
    use std::process::{Command, Stdio};

    const PROGRAM: &str = "spirv-val";

    /// Releases from this year on know what is valid: those of 2023 take locations of patches for those of vertices.
    pub const SINCE: u32 = 2024;

    /// What the validator has against a module, if anything.
    pub fn validate(words: &[u32]) -> Result<Option<String>> {
        let mut child = Command::new(PROGRAM)
            .args(["--target-env", "vulkan1.3", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        // It reads all before it says anything.
        if let Some(mut input) = child.stdin.take() {
            input.write_all(&bytes)?;
        }
        let output = child.wait_with_output()?;
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
