//! Reader of `.test` files: `vectors/dxil/FORMAT.md`.

use crate::{Error, input};
use regex::Regex;
use std::path::{Path, PathBuf};
use xenoglot_ir::module::ImageFormat;

/// First line of a test.
pub const MAGIC: &str = "dxt 1";
/// Most bytes of a resource.
const MAX_RESOURCE: usize = 64 << 20;

/// The space of resources that are given by their place in the heap.
pub const HEAP: u32 = u32::MAX;

/// Classes of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Read.
    Srv,
    /// Read and written.
    Uav,
    /// Constant buffer.
    Cbv,
}

/// How a resource is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By bytes.
    Raw,
    /// By records.
    Structured,
    /// By texels of a format of 32-bit components.
    Typed(ImageFormat),
    /// By rows of 16 bytes.
    ConstantBuffer,
}

/// A resource with what it holds before the dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Class.
    pub class: Class,
    /// Register space, or [`HEAP`].
    pub space: u32,
    /// Register, or place in the heap.
    pub register: u32,
    /// How it is accessed.
    pub kind: Kind,
    /// Contents.
    pub data: Vec<u8>,
}

/// How words are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Equal.
    Exact,
    /// Singles that differ at most by `abs` and `rel` times what is expected; NaNs are equal.
    Float {
        /// Absolute.
        abs: f32,
        /// Relative.
        rel: f32,
    },
}

/// What a resource has to start with after the dispatch.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// Class.
    pub class: Class,
    /// Register space.
    pub space: u32,
    /// Register.
    pub register: u32,
    /// How it is compared.
    pub tolerance: Tolerance,
    /// The words.
    pub words: Vec<u32>,
}

/// A test.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// Its name, which is also that of the container beside it.
    pub name: String,
    /// Workgroups along x, y and z.
    pub groups: [u32; 3],
    /// Optional abilities of a device that it takes.
    pub needs: Vec<String>,
    /// Resources.
    pub resources: Vec<Resource>,
    /// Expectations.
    pub expected: Vec<Expected>,
}

/// A test with its container.
#[derive(Clone, Debug)]
pub struct Vector {
    /// The test; none for shaders that are only translated.
    pub test: Option<Test>,
    /// Its name.
    pub name: String,
    /// The container's bytes.
    pub container: Vec<u8>,
    /// What has to be in the SPIR-V made of it.
    pub wants: Vec<Want>,
}

impl Vector {
    /// Optional abilities that its test takes.
    pub fn needs(&self) -> impl Iterator<Item = &str> {
        self.test.iter().flat_map(|test| &test.needs).map(String::as_str)
    }
}

/// Something that the text of a container's modules has to have in some of them, or must not have in any.
#[derive(Clone, Debug)]
pub struct Want {
    /// Whether it has to be there.
    pub must: bool,
    /// What is searched, in a line.
    pub pattern: Regex,
}

/// Parses a `.want` file: `must` or `not`, and a regular expression, a line.
///
/// # Errors
/// [`Error::Line`] for the first line that is not of the format.
pub fn parse_wants(path: &Path, text: &str) -> Result<Vec<Want>, Error> {
    let want = |(line, text): (usize, &str)| {
        let bad = |what| Error::Line { path: path.into(), line, what };
        let (word, pattern) = text.split_once(' ').ok_or(bad("neither `must` nor `not`"))?;
        let must = match word {
            "must" => true,
            "not" => false,
            _ => return Err(bad("neither `must` nor `not`")),
        };
        let pattern = Regex::new(pattern).map_err(|_| bad("no regular expression"))?;
        Ok(Want { must, pattern })
    };
    (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()).map(want).collect()
}

/// Reads the containers at `path`, a file or a folder, and the tests beside them.
///
/// # Errors
/// Files that cannot be read, or a test that is not of the format.
pub fn read(path: &Path) -> Result<Vec<Vector>, Error> {
    let is_container = |p: &PathBuf| p.extension().is_some_and(|e| e == "dxil");
    let mut vectors = Vec::new();
    for file in input::files(path)?.into_iter().filter(is_container) {
        let beside = file.with_extension("test");
        let test = match beside.is_file() {
            true => Some(parse(&beside, &String::from_utf8_lossy(&input::read(&beside)?))?),
            false => None,
        };
        let want = file.with_extension("want");
        let wants = match want.is_file() {
            true => parse_wants(&want, &String::from_utf8_lossy(&input::read(&want)?))?,
            false => Vec::new(),
        };
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        vectors.push(Vector { test, name, container: input::read(&file)?, wants });
    }
    match vectors.is_empty() {
        true => Err(Error::NoVectors { path: path.into(), magic: "DXBC".into() }),
        false => Ok(vectors),
    }
}

/// Parses a test.
///
/// # Errors
/// [`Error::Line`] for the first line that is not of the format.
pub fn parse(path: &Path, text: &str) -> Result<Test, Error> {
    let mut test =
        Test { name: String::new(), groups: [1; 3], needs: vec![], resources: vec![], expected: vec![] };
    let mut lines = (1..).zip(text.lines());
    if lines.next().is_none_or(|(_, first)| first.trim() != MAGIC) {
        return Err(Error::Line { path: path.into(), line: 1, what: "not `dxt 1`" });
    }
    // Where data lines go.
    let mut data: Option<Vec<u32>> = None;
    for (line, text) in lines {
        let bad = |what| Error::Line { path: path.into(), line, what };
        let fields: Vec<&str> = text.split_whitespace().collect();
        let Some((&keyword, rest)) = fields.split_first() else { continue };
        if let Some(words) = &mut data {
            if keyword != "end" {
                for field in &fields {
                    words.push(u32::from_str_radix(field, 16).map_err(|_| bad("not a word in hexadecimal"))?);
                }
                continue;
            }
            let words = data.take().unwrap_or_default();
            match (test.expected.last_mut(), test.resources.last_mut()) {
                (Some(expected), _) => expected.words = words,
                (None, Some(resource)) => {
                    let bytes = words.iter().flat_map(|w| w.to_le_bytes());
                    resource.data.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
                }
                (None, None) => return Err(bad("data of nothing")),
            }
            continue;
        }
        match keyword {
            "name" => test.name = rest.join(" "),
            "profile" | "entry" | "flags" => {}
            "need" => test.needs.push(rest.join(" ")),
            "dispatch" => {
                for (n, field) in rest.iter().take(3).enumerate() {
                    test.groups[n] = field.parse().map_err(|_| bad("not a number of groups"))?;
                }
            }
            // Expectations come after all resources.
            "resource" => test.resources.push(resource(rest).ok_or_else(|| bad("not a resource"))?),
            "init" if test.expected.is_empty() => data = Some(Vec::new()),
            "expect" => {
                test.expected.push(expected(rest).ok_or_else(|| bad("not an expectation"))?);
                data = Some(Vec::new());
            }
            _ => return Err(bad("an unknown keyword")),
        }
    }
    Ok(test)
}

fn class(name: &str) -> Option<Class> {
    Some(match name {
        "srv" => Class::Srv,
        "uav" => Class::Uav,
        "cbv" => Class::Cbv,
        _ => return None,
    })
}

/// Class, space, register, kind, bytes, stride, format.
fn resource(fields: &[&str]) -> Option<Resource> {
    let &[class_name, space, register, kind, bytes, _stride, format] = fields else { return None };
    let bytes: usize = bytes.parse().ok().filter(|&n| n <= MAX_RESOURCE)?;
    Some(Resource {
        class: class(class_name)?,
        space: if space == "heap" { HEAP } else { space.parse().ok()? },
        register: register.parse().ok()?,
        kind: match kind {
            "raw" => Kind::Raw,
            "structured" => Kind::Structured,
            "typed" => Kind::Typed(texels(format)?),
            "cbuffer" => Kind::ConstantBuffer,
            _ => return None,
        },
        data: vec![0; bytes],
    })
}

/// A format by its name in DXGI.
fn texels(name: &str) -> Option<ImageFormat> {
    Some(match name {
        "R32_FLOAT" => ImageFormat::R32f,
        "R32_SINT" => ImageFormat::R32i,
        "R32_UINT" => ImageFormat::R32ui,
        "R64_SINT" => ImageFormat::R64i,
        "R64_UINT" => ImageFormat::R64ui,
        "R32G32_FLOAT" => ImageFormat::Rg32f,
        "R32G32_SINT" => ImageFormat::Rg32i,
        "R32G32_UINT" => ImageFormat::Rg32ui,
        "R32G32B32A32_FLOAT" => ImageFormat::Rgba32f,
        "R32G32B32A32_SINT" => ImageFormat::Rgba32i,
        "R32G32B32A32_UINT" => ImageFormat::Rgba32ui,
        _ => return None,
    })
}

/// Bytes of a texel of one of these formats.
pub(super) fn texel_bytes(format: ImageFormat) -> u32 {
    use ImageFormat::*;
    match format {
        R32f | R32i | R32ui => 4,
        R64i | R64ui | Rg32f | Rg32i | Rg32ui => 8,
        _ => 16,
    }
}

/// Class, space, register, tolerance.
fn expected(fields: &[&str]) -> Option<Expected> {
    let (&[class_name, space, register], tolerance) = fields.split_first_chunk()?;
    let tolerance = match tolerance {
        ["exact"] => Tolerance::Exact,
        ["f32", "abs", abs, "rel", rel] => {
            Tolerance::Float { abs: abs.parse().ok()?, rel: rel.parse().ok()? }
        }
        _ => return None,
    };
    Some(Expected {
        class: class(class_name)?,
        space: if space == "heap" { HEAP } else { space.parse().ok()? },
        register: register.parse().ok()?,
        tolerance,
        words: Vec::new(),
    })
}

impl Expected {
    /// What differs first of a resource's bytes.
    pub fn difference(&self, got: &[u8]) -> Option<String> {
        let mut words = got.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w));
        for (n, &want) in self.words.iter().enumerate() {
            let Some(got) = words.next() else { return Some(format!("word {n} is missing")) };
            let right = match self.tolerance {
                Tolerance::Exact => got == want,
                Tolerance::Float { abs, rel } => {
                    let (got, want) = (f32::from_bits(got), f32::from_bits(want));
                    (got.is_nan() && want.is_nan())
                        || got == want
                        || (got - want).abs() <= abs + rel * want.abs()
                }
            };
            if !right {
                let register = self.register;
                return Some(format!("register {register}, word {n}: {got:#x}, expected {want:#x}"));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Test, Error> {
        parse(Path::new("x.test"), text)
    }

    #[test]
    fn a_test_has_resources_and_then_expectations() {
        let text = "dxt 1\nname x\nprofile cs_6_0\ndispatch 2 3 4\nneed shaderInt64\n\
                    resource uav 1 2 raw 8 0 -\ninit\n  00000001 ff\nend\n\
                    expect uav 1 2 f32 abs 0.5 rel 0\n 3f800000\nend\n";
        let test = parsed(text).unwrap();
        assert_eq!((test.groups, test.needs), ([2, 3, 4], vec!["shaderInt64".to_owned()]));
        assert_eq!(test.resources[0].data, [1, 0, 0, 0, 0xff, 0, 0, 0]);
        let expected = &test.expected[0];
        assert_eq!(expected.words, [0x3f80_0000]);
        assert_eq!(expected.difference(&1.25f32.to_le_bytes()), None);
        assert!(expected.difference(&1.75f32.to_le_bytes()).is_some());
        assert!(expected.difference(&[]).is_some());
    }

    #[test]
    fn damage_is_told_with_its_line() {
        for (text, at) in [("", 1), ("dxt 1\nwhat", 2), ("dxt 1\nresource uav 0 0 raw x 0 -", 2)] {
            assert!(matches!(parsed(text), Err(Error::Line { line, .. }) if line == at), "{text}");
        }
        assert!(parsed("dxt 1\ninit\n1\nend").is_err());
        assert!(parsed("dxt 1\nresource uav 0 0 raw 99999999999 0 -").is_err());
    }
}
