//! The compute corpus: `vectors/maxwell/FORMAT.md`, section 1, and `vectors/maxwell-2/FORMAT.md`, as a folder or as a
//! `tar.xz` of it.

use crate::{Error, input};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// The `format` field of a kernel's description.
pub const FORMAT: &str = "maxwell-compute-1";

/// The `extensions` field of one that has what `vectors/maxwell-2` adds.
pub const EXTENSIONS: &str = "maxwell-2";

pub(super) const XZ_MAGIC: &[u8] = b"\xfd7zXZ\0";

/// A kernel with its inputs and expected outputs.
#[derive(Clone, Debug, Deserialize)]
pub struct Kernel {
    /// [`FORMAT`].
    pub format: String,
    /// [`EXTENSIONS`], or none.
    #[serde(default)]
    pub extensions: Option<String>,
    /// Its name, which is also the entry's in the cubins.
    pub name: String,
    /// Whether outputs are known; other kernels are for translation only.
    pub executable: bool,
    /// Workgroups along x, y and z.
    pub grid: [u32; 3],
    /// Invocations of a workgroup along x, y and z.
    pub block: [u32; 3],
    /// Buffers in global memory.
    pub buffers: Vec<Buffer>,
    /// Parameters in the kernel's order.
    pub params: Vec<Param>,
    /// Compilations by name: `o3`, `o0`.
    pub variants: BTreeMap<String, Variant>,
}

/// A buffer in global memory.
#[derive(Clone, Debug, Deserialize)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u32,
    /// Contents before the run.
    #[serde(deserialize_with = "base64")]
    pub before: Vec<u8>,
    /// Contents after it; none means unchanged.
    #[serde(default, deserialize_with = "optional_base64")]
    pub after: Option<Vec<u8>>,
    /// Words of a record.
    #[serde(default)]
    pub stride_words: u32,
    /// How fields of each record are compared; words without one are equal.
    #[serde(default)]
    pub slots: Vec<Slot>,
}

/// How a field of a record is compared.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Slot {
    /// Its first word in the record.
    pub word: u32,
    /// What it is.
    #[serde(rename = "type")]
    pub ty: SlotType,
    /// When it is right.
    pub mode: Mode,
    /// Relative tolerance.
    #[serde(default)]
    pub rel: f64,
    /// Absolute tolerance.
    #[serde(default)]
    pub abs: f64,
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SlotType {
    /// A word.
    U32,
    /// Two words.
    U64,
    /// A single.
    F32,
    /// A double.
    F64,
    /// A half in the low half of the word.
    F16,
    /// Two halves.
    F16x2,
}

/// When a field is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Equal bits.
    Bits,
    /// Equal bits or both NaN.
    NanAny,
    /// As `NanAny`, and zeros of either sign are equal.
    NanAnyZeroAny,
    /// Within the tolerance; infinities and NaNs agree in kind.
    Approx,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Param {
    /// The address of a buffer, by number.
    Buffer(usize),
    /// A number.
    Value(u64),
    /// A structure with addresses in it.
    Struct {
        /// Its bytes.
        #[serde(deserialize_with = "base64")]
        bytes: Vec<u8>,
        /// The addresses in it.
        pointers: Vec<Pointer>,
    },
}

/// An address in a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Pointer {
    /// Byte offset in the structure.
    pub offset: u32,
    /// The number of the buffer that it is of.
    pub buffer: usize,
}

/// A compilation of a kernel.
#[derive(Clone, Debug, Deserialize)]
pub struct Variant {
    /// Its cubin's file name.
    pub cubin: String,
    /// Byte offset of the code in the cubin.
    pub code_offset: u64,
    /// Bytes of code.
    pub code_size: u64,
    /// Bytes of shared memory of a workgroup.
    pub shared_bytes: u32,
    /// Bytes of local memory of an invocation.
    pub local_bytes: u32,
    /// Byte offsets of the parameters in constant bank 0.
    pub param_offsets: Vec<u32>,
    /// Their sizes.
    pub param_sizes: Vec<u32>,
    /// Constant banks.
    pub const_banks: Vec<ConstBank>,
    /// Global data of the module.
    #[serde(default)]
    pub global_sections: Vec<GlobalSection>,
    /// Addresses of global data in banks and in global data.
    #[serde(default)]
    pub relocations: Vec<Relocation>,
}

/// A section of global data.
#[derive(Clone, Debug, Deserialize)]
pub struct GlobalSection {
    /// Its name.
    pub section: String,
    /// Its size.
    pub bytes: u32,
    /// Its contents; zeros if there are none.
    #[serde(default, deserialize_with = "optional_base64")]
    pub data: Option<Vec<u8>>,
}

/// An address of 64 bits to be written.
#[derive(Clone, Debug, Deserialize)]
pub struct Relocation {
    /// The section it is written to.
    pub section: String,
    /// Byte offset in it.
    pub offset: u32,
    /// ELF's number of its type.
    #[serde(rename = "type")]
    pub kind: u32,
    /// The section of global data that it is of.
    pub target_section: String,
    /// Byte offset in that.
    pub target_offset: u64,
    /// Added to the address.
    pub addend: u64,
}

/// A constant bank of a compilation.
#[derive(Clone, Debug, Deserialize)]
pub struct ConstBank {
    /// Its number.
    pub bank: u32,
    /// Its contents; none for bank 0, which the driver fills.
    #[serde(default, deserialize_with = "optional_base64")]
    pub data: Option<Vec<u8>>,
    /// Its size.
    pub size: u32,
}

fn base64<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u8>, D::Error> {
    BASE64_STANDARD.decode(String::deserialize(d)?).map_err(serde::de::Error::custom)
}

fn optional_base64<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Vec<u8>>, D::Error> {
    let text = Option::<String>::deserialize(d)?;
    text.map(|t| BASE64_STANDARD.decode(t).map_err(serde::de::Error::custom)).transpose()
}

/// The kernels of a corpus, and its cubins by file name.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    /// By name.
    pub kernels: Vec<Kernel>,
    /// By file name.
    pub cubins: BTreeMap<String, Vec<u8>>,
}

impl Corpus {
    /// Reads a folder, or a tar file that may be packed by xz. Files that are neither JSON nor cubins are passed over.
    ///
    /// # Errors
    /// A file that cannot be read or unpacked, or a description that is not of the format.
    pub fn read(path: &Path) -> Result<Corpus, Error> {
        let mut corpus = Corpus::default();
        if path.is_dir() {
            for file in input::files(path)? {
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if Corpus::wants(&name) {
                    corpus.add(path, name, input::read(&file)?)?;
                }
            }
        } else {
            corpus.unpack(path)?;
        }
        if corpus.kernels.is_empty() {
            return Err(Error::NoVectors { path: path.into(), magic: FORMAT.into() });
        }
        corpus.kernels.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(corpus)
    }

    fn wants(name: &str) -> bool {
        (name.ends_with(".json") && !name.starts_with("manifest")) || name.ends_with(".cubin")
    }

    fn unpack(&mut self, path: &Path) -> Result<(), Error> {
        let bytes = input::read(path)?;
        let damaged = |e: std::io::Error| Error::Archive { path: path.into(), reason: e.to_string() };
        let tar: Box<dyn Read> = match bytes.starts_with(XZ_MAGIC) {
            true => Box::new(lzma_rust2::XzReader::new(bytes.as_slice(), false)),
            false => Box::new(bytes.as_slice()),
        };
        let mut archive = tar::Archive::new(tar.take(input::MAX_BYTES));
        for entry in archive.entries().map_err(damaged)? {
            let mut entry = entry.map_err(damaged)?;
            let name = {
                let path = entry.path().map_err(damaged)?;
                path.file_name().unwrap_or_default().to_string_lossy().into_owned()
            };
            if Corpus::wants(&name) {
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).map_err(damaged)?;
                self.add(path, name, bytes)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, name: String, bytes: Vec<u8>) -> Result<(), Error> {
        if name.ends_with(".cubin") {
            self.cubins.insert(name, bytes);
            return Ok(());
        }
        let wrong = |reason| Error::Json { path: path.into(), file: name.clone(), reason };
        let kernel: Kernel = serde_json::from_slice(&bytes).map_err(|e| wrong(e.to_string()))?;
        let (format, extensions) = (kernel.format.as_str(), kernel.extensions.as_deref());
        if format != FORMAT || extensions.is_some_and(|e| e != EXTENSIONS) {
            let extensions = extensions.unwrap_or("none");
            return Err(wrong(format!("format {format}, extensions {extensions}, which is not known")));
        }
        self.kernels.push(kernel);
        Ok(())
    }
}
