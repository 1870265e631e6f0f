//! The languages of hosts.

use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;
use xenoglot_glsl::Target as Glsl;
use xenoglot_spirv::Version;

/// What code is written in. Serialised as its name: `spirv`, `spirv-1.6`, `spirv-naga`, `glsl-450-vulkan`, `wgsl`,
/// `msl-2.4`, `hlsl-6.0`, `native`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Language {
    /// SPIR-V words of this version; `None` for 1.3, or the first later one that has what a module needs.
    Spirv(Option<Version>),
    /// SPIR-V words that naga reads and writes in all of its languages: for wgpu, where SPIR-V does not reach the driver.
    SpirvForNaga,
    /// GLSL of a version and API.
    Glsl(Glsl),
    /// WGSL.
    Wgsl,
    /// The Metal Shading Language of a version, major and minor.
    Msl(u8, u8),
    /// HLSL of a shader model, major and minor.
    Hlsl(u8, u8),
    /// Machine code of the CPU that this runs on, in memory. Compute kernels only.
    Native,
}

/// A name that no language has.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("no language is called `{0}`")]
pub struct UnknownLanguage(String);

impl Language {
    /// The name without its version: `spirv`, `glsl`, `wgsl`, `msl`, `hlsl`, `native`.
    pub fn name(self) -> &'static str {
        match self {
            Language::Spirv(_) => "spirv",
            Language::SpirvForNaga => "spirv-naga",
            Language::Glsl(_) => "glsl",
            Language::Wgsl => "wgsl",
            Language::Msl(..) => "msl",
            Language::Hlsl(..) => "hlsl",
            Language::Native => "native",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Language::Spirv(Some(version)) => write!(f, "-{version}"),
            Language::Glsl(target) => write!(f, "-{}", target.name()),
            Language::Msl(major, minor) | Language::Hlsl(major, minor) => write!(f, "-{major}.{minor}"),
            Language::Spirv(None) | Language::SpirvForNaga | Language::Wgsl | Language::Native => Ok(()),
        }
    }
}

impl std::str::FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Language, UnknownLanguage> {
        let pair = |version: &str| {
            let (major, minor) = version.split_once('.')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        };
        let found = match text.split_once('-') {
            None if text == "spirv" => Some(Language::Spirv(None)),
            None if text == "wgsl" => Some(Language::Wgsl),
            None if text == "native" => Some(Language::Native),
            Some(("spirv", "naga")) => Some(Language::SpirvForNaga),
            Some(("spirv", version)) => version.parse().ok().map(|v| Language::Spirv(Some(v))),
            Some(("glsl", name)) => {
                Glsl::ALL.into_iter().find(|target| target.name() == name).map(Language::Glsl)
            }
            Some(("msl", version)) => pair(version).map(|(major, minor)| Language::Msl(major, minor)),
            Some(("hlsl", version)) => pair(version).map(|(major, minor)| Language::Hlsl(major, minor)),
            _ => None,
        };
        found.ok_or_else(|| UnknownLanguage(text.to_owned()))
    }
}

impl TryFrom<String> for Language {
    type Error = UnknownLanguage;

    fn try_from(text: String) -> Result<Language, UnknownLanguage> {
        text.parse()
    }
}

impl From<Language> for String {
    fn from(language: Language) -> String {
        language.to_string()
    }
}
