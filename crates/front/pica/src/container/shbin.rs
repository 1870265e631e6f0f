//! SHBIN: one program (DVLP) shared by one or more executables (DVLE), behind a table of offsets (DVLB).
//!
//! The layout is the public one (3dbrew, "SHBIN"):
//!
//! ```text
//! DVLB   magic, count, count x offset of a DVLE from the file's start; the DVLP follows at once
//! DVLP   magic, version, then (offset, count) of: code words, descriptors (8 bytes each), source lines (8 bytes
//!        each), file names (bytes); offsets from the DVLP's start. Older tools write the first two and a word of 0:
//!        the header ends where the first section starts
//! DVLE   magic, version:16 kind:8 merge:8, main, end, input mask:16 output mask:16, geometry mode:8 start:8
//!        variable:8 fixed:8, then (offset, count) of: constants (20 bytes each), labels (16), outputs (8), uniforms
//!        (8), symbols (bytes); offsets from the DVLE's start
//! ```
//!
//! Names are bytes without a declared encoding; here each byte is the Unicode character of the same number, so any
//! name survives a round trip. Bytes without a known meaning (padding of output and label entries, the upper seven bits of the merge flag)
//! are not kept.

use super::reader::{Reader, half, word};
use super::{ContainerError, Limits};
use crate::desc::Mask;
use crate::program::Program;

/// A parsed file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shbin {
    /// The DVLP's version field.
    pub version: u32,
    /// Code and operand descriptors.
    pub program: Program,
    /// The second word of each descriptor entry, whose meaning is not known; shorter than the table if the rest is 0.
    pub descriptor_tags: Vec<u32>,
    /// Source lines, by word of the code; most files have none.
    pub lines: Vec<LineEntry>,
    /// Source file names.
    pub filenames: Vec<String>,
    /// The executables: entry points with their constants, outputs and names.
    pub executables: Vec<Dvle>,
}

/// Where a word of the code comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineEntry {
    /// Byte offset of the file's name in the file name table.
    pub file: u32,
    /// Line.
    pub line: u32,
}

/// Which shader unit an executable is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ShaderKind {
    /// Vertex shader.
    #[default]
    Vertex,
    /// Geometry shader.
    Geometry,
}

/// How a geometry shader is fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum GeometryMode {
    /// Vertices go to the input registers.
    #[default]
    Point,
    /// Primitives of varying size go to the float uniforms.
    Variable,
    /// Primitives of fixed size go to the float uniforms.
    Fixed,
}

/// Geometry settings; all zero in vertex shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Geometry {
    /// Mode.
    pub mode: GeometryMode,
    /// First float uniform of the vertices, fixed mode.
    pub fixed_start: u8,
    /// Vertices with all attributes, variable mode.
    pub variable_count: u8,
    /// Vertices of a primitive, fixed mode.
    pub fixed_count: u8,
}

/// An executable: an entry point into the program with what belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dvle {
    /// Version field.
    pub version: u16,
    /// Unit.
    pub kind: ShaderKind,
    /// Geometry shaders: the vertex shader's output semantics are used where this one's say "dummy".
    pub merge_outputs: bool,
    /// Word address of the entry point.
    pub main: u32,
    /// Word address just after the entry procedure.
    pub end: u32,
    /// Input registers in use, bit n = `v` n.
    pub input_mask: u16,
    /// Output registers in use, bit n = `o` n.
    pub output_mask: u16,
    /// Geometry settings.
    pub geometry: Geometry,
    /// Uniforms to preload.
    pub constants: Vec<Constant>,
    /// Named places in the code.
    pub labels: Vec<Label>,
    /// What the output registers mean.
    pub outputs: Vec<Output>,
    /// Named inputs and uniforms.
    pub uniforms: Vec<Uniform>,
}

/// A uniform preloaded with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Number in the register file of the value's type.
    pub register: u8,
    /// Value.
    pub value: ConstantValue,
}

/// The value of a preloaded uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstantValue {
    /// For `b0`–`b15`.
    Bool(bool),
    /// For `i0`–`i3`: x, y, z, w.
    Int([u8; 4]),
    /// For `c0`–`c95`: x, y, z, w as 24-bit floats.
    Float([u32; 4]),
}

impl ConstantValue {
    /// The register file it belongs to.
    pub fn file(self) -> RegisterFile {
        match self {
            ConstantValue::Bool(_) => RegisterFile::Bool,
            ConstantValue::Int(_) => RegisterFile::Int,
            ConstantValue::Float(_) => RegisterFile::Float,
        }
    }
}

/// A named place in the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Number given by the tool that wrote it.
    pub id: u16,
    /// Word address.
    pub address: u32,
    /// Words it covers; `u32::MAX` if not known.
    pub size: u32,
    /// Name.
    pub name: String,
}

/// What an output register means to the stages after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Semantic {
    /// Clip-space position.
    Position,
    /// Quaternion of the surface's tangent space, for fragment lighting.
    NormalQuat,
    /// Vertex colour.
    Color,
    /// First texture coordinate, x and y.
    TexCoord0,
    /// Third component of the first texture coordinate.
    TexCoord0W,
    /// Second texture coordinate.
    TexCoord1,
    /// Third texture coordinate.
    TexCoord2,
    /// View vector, for fragment lighting.
    View,
    /// None: passed to the geometry shader, or taken from the vertex shader's map.
    Dummy,
    /// A number without a known meaning.
    Other(u16),
}

impl Semantic {
    /// The known ones with their numbers and names in assembly, long and short.
    pub const TABLE: [(Semantic, u16, &'static str, &'static str); 9] = [
        (Semantic::Position, 0, "position", "pos"),
        (Semantic::NormalQuat, 1, "normalquat", "nquat"),
        (Semantic::Color, 2, "color", "clr"),
        (Semantic::TexCoord0, 3, "texcoord0", "tcoord0"),
        (Semantic::TexCoord0W, 4, "texcoord0w", "tcoord0w"),
        (Semantic::TexCoord1, 5, "texcoord1", "tcoord1"),
        (Semantic::TexCoord2, 6, "texcoord2", "tcoord2"),
        (Semantic::View, 8, "view", "view"),
        (Semantic::Dummy, 9, "dummy", "dummy"),
    ];

    /// The semantic with number `n`.
    pub fn from_number(n: u16) -> Semantic {
        Self::TABLE.iter().find(|row| row.1 == n).map_or(Semantic::Other(n), |row| row.0)
    }

    /// Its number in the output table.
    pub fn number(self) -> u16 {
        match self {
            Semantic::Other(n) => n,
            known => Self::TABLE.iter().find(|row| row.0 == known).map_or(0, |row| row.1),
        }
    }
}

/// A row of the output map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Meaning.
    pub semantic: Semantic,
    /// Output register, 0–15.
    pub register: u8,
    /// Components that carry it.
    pub mask: Mask,
}

/// A file of registers that a name table can refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegisterFile {
    /// `v0`–`v15`.
    Input,
    /// `c0`–`c95`.
    Float,
    /// `i0`–`i3`.
    Int,
    /// `b0`–`b15`.
    Bool,
}

impl RegisterFile {
    /// All files: letter, number of the first register in uniform tables, number of registers.
    const TABLE: [(RegisterFile, char, u16, u16); 4] = [
        (RegisterFile::Input, 'v', 0x00, 16),
        (RegisterFile::Float, 'c', 0x10, 96),
        (RegisterFile::Int, 'i', 0x70, 4),
        (RegisterFile::Bool, 'b', 0x78, 16),
    ];

    fn row(self) -> &'static (RegisterFile, char, u16, u16) {
        &Self::TABLE[self as usize]
    }

    /// `v`, `c`, `i` or `b`.
    pub fn letter(self) -> char {
        self.row().1
    }

    /// Number of registers.
    pub fn count(self) -> u8 {
        self.row().3 as u8
    }

    /// Number of its first register in uniform tables.
    pub(crate) fn base(self) -> u16 {
        self.row().2
    }

    fn locate(number: u16) -> Option<(RegisterFile, u8)> {
        let row = Self::TABLE.iter().find(|row| (row.2..row.2 + row.3).contains(&number))?;
        Some((row.0, (number - row.2) as u8))
    }
}

/// A named run of registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniform {
    /// Name.
    pub name: String,
    /// Register file.
    pub file: RegisterFile,
    /// First register.
    pub first: u8,
    /// Number of registers, at least 1.
    pub count: u8,
}

/// Converts a name's bytes to text, byte by byte.
pub(super) fn name_from_bytes(bytes: &[u8]) -> String {
    bytes.iter().map(|&b| char::from(b)).collect()
}

impl Shbin {
    /// Parses a file. Bytes after its last section are ignored.
    pub fn parse(data: &[u8], limits: &Limits) -> Result<Shbin, ContainerError> {
        parse(&Reader::new(data, limits), limits)
    }

    /// Parses the file at the start of `data` and says how many bytes it spans.
    pub fn parse_prefix(data: &[u8], limits: &Limits) -> Result<(Shbin, usize), ContainerError> {
        let reader = Reader::new(data, limits);
        let shbin = parse(&reader, limits)?;
        Ok((shbin, reader.extent()))
    }
}

/// Reads the count at `offset` and checks it.
fn count(reader: &Reader, offset: u64, what: &'static str, limit: usize) -> Result<u64, ContainerError> {
    let value = u64::from(reader.u32(offset, what)?);
    if value > limit as u64 {
        return Err(ContainerError::Limit { offset, what, value, limit });
    }
    Ok(value)
}

pub(super) fn parse(reader: &Reader, limits: &Limits) -> Result<Shbin, ContainerError> {
    reader.magic(0, "DVLB")?;
    let executables = count(reader, 4, "executables", limits.executables)?;
    let offsets = reader.entries::<4>(8, executables, "table of executables")?;
    let first_executable = offsets.iter().map(|at| u32::from_le_bytes(*at).into()).min();
    let mut shbin = parse_dvlp(reader, 8 + 4 * executables, first_executable.unwrap_or(u64::MAX), limits)?;
    for offset in offsets {
        shbin.executables.push(parse_dvle(reader, u32::from_le_bytes(*offset).into(), limits)?);
    }
    Ok(shbin)
}

/// Bytes of a DVLP's header without source lines and file names.
const SHORT_HEADER: u64 = 0x1c;
/// Bytes of a DVLP's header with them.
const HEADER: u64 = 0x28;

fn parse_dvlp(
    reader: &Reader,
    base: u64,
    first_executable: u64,
    limits: &Limits,
) -> Result<Shbin, ContainerError> {
    reader.magic(base, "DVLP")?;
    let table = |at: u64, what, limit| -> Result<(u64, u64), ContainerError> {
        let offset = base + u64::from(reader.u32(base + at, what)?);
        Ok((offset, count(reader, base + at + 4, what, limit)?))
    };
    let version = reader.u32(base + 4, "program version")?;
    let (code_at, code_len) = table(0x08, "program words", limits.code_words)?;
    let (desc_at, desc_len) = table(0x10, "operand descriptors", limits.descriptors)?;
    // What is behind a short header's end is a section, or the first executable where there is none.
    let starts = [(code_at, code_len), (desc_at, desc_len)].into_iter().filter(|(_, len)| *len > 0);
    let sections = starts.map(|(at, _)| at - base).chain(first_executable.checked_sub(base));
    let is_short = sections.min().is_some_and(|first| (SHORT_HEADER..HEADER).contains(&first));
    let (mut lines_at, mut lines_len, mut names_at, mut names_len) = (0, 0, 0, 0);
    if !is_short {
        (lines_at, lines_len) = table(0x18, "source lines", limits.entries)?;
        let most = limits.entries.saturating_mul(limits.name_bytes);
        (names_at, names_len) = table(0x20, "file name bytes", most)?;
    }

    let code = reader.entries::<4>(code_at, code_len, "program words")?;
    let descriptors = reader.entries::<8>(desc_at, desc_len, "operand descriptors")?;
    let mut descriptor_tags: Vec<u32> = descriptors.iter().map(|entry| word(entry, 4)).collect();
    let used = descriptor_tags.iter().rposition(|&tag| tag != 0).map_or(0, |last| last + 1);
    descriptor_tags.truncate(used);
    // Files without lines often leave the offset of the table unset.
    let lines =
        if lines_len == 0 { &[] } else { reader.entries::<8>(lines_at, lines_len, "source lines")? };
    let names = if names_len == 0 { &[] } else { reader.bytes(names_at, names_len, "file names")? };
    Ok(Shbin {
        version,
        program: Program {
            code: code.iter().map(|entry| word(entry, 0)).collect(),
            descriptors: descriptors.iter().map(|entry| word(entry, 0)).collect(),
        },
        descriptor_tags,
        lines: lines.iter().map(|e| LineEntry { file: word(e, 0), line: word(e, 4) }).collect(),
        filenames: split_names(names, names_at, limits)?,
        executables: Vec::new(),
    })
}

/// Splits NUL-terminated names; the last may lack its terminator.
fn split_names(bytes: &[u8], at: u64, limits: &Limits) -> Result<Vec<String>, ContainerError> {
    let mut names = Vec::new();
    let mut offset = at;
    for name in bytes.strip_suffix(b"\0").unwrap_or(bytes).split(|&b| b == 0) {
        let (value, limit) = (name.len() as u64, limits.name_bytes);
        if name.len() > limit {
            return Err(ContainerError::Limit { offset, what: "bytes in a name", value, limit });
        }
        if names.len() == limits.entries {
            let value = names.len() as u64 + 1;
            return Err(ContainerError::Limit { offset, what: "file names", value, limit: limits.entries });
        }
        if !bytes.is_empty() {
            names.push(name_from_bytes(name));
        }
        offset += name.len() as u64 + 1;
    }
    Ok(names)
}

fn parse_dvle(reader: &Reader, base: u64, limits: &Limits) -> Result<Dvle, ContainerError> {
    reader.magic(base, "DVLE")?;
    let header: [u8; 0x40] = reader.array(base, "executable header")?;
    let bad = |at: u64, what, value: u64| ContainerError::Value { offset: base + at, what, value };
    let kind = match header[6] {
        0 => ShaderKind::Vertex,
        1 => ShaderKind::Geometry,
        other => return Err(bad(6, "shader kind", other.into())),
    };
    let mode = match header[0x14] {
        0 => GeometryMode::Point,
        1 => GeometryMode::Variable,
        2 => GeometryMode::Fixed,
        other => return Err(bad(0x14, "geometry mode", other.into())),
    };
    let table = |at: u64, what| -> Result<(u64, u64), ContainerError> {
        let offset = base + u64::from(word(&header, at as usize));
        Ok((offset, count(reader, base + at + 4, what, limits.entries)?))
    };
    let (constants_at, constants_len) = table(0x18, "constants")?;
    let (labels_at, labels_len) = table(0x20, "labels")?;
    let (outputs_at, outputs_len) = table(0x28, "outputs")?;
    let (uniforms_at, uniforms_len) = table(0x30, "uniforms")?;
    let symbols_at = base + u64::from(word(&header, 0x38));
    let symbols = match word(&header, 0x3c) {
        0 => &[],
        len => reader.bytes(symbols_at, len.into(), "symbols")?,
    };
    let name = |offset: u32| {
        let name = symbol(symbols, symbols_at, offset, limits)?;
        reader.charge(symbols_at + u64::from(offset), name.len() as u64)?;
        Ok::<_, ContainerError>(name)
    };

    let constants = reader.entries::<20>(constants_at, constants_len, "constants")?;
    let labels = reader.entries::<16>(labels_at, labels_len, "labels")?;
    let outputs = reader.entries::<8>(outputs_at, outputs_len, "outputs")?;
    let uniforms = reader.entries::<8>(uniforms_at, uniforms_len, "uniforms")?;
    Ok(Dvle {
        version: half(&header, 4),
        kind,
        merge_outputs: header[7] & 1 != 0,
        main: word(&header, 0x08),
        end: word(&header, 0x0c),
        input_mask: half(&header, 0x10),
        output_mask: half(&header, 0x12),
        geometry: Geometry {
            mode,
            fixed_start: header[0x15],
            variable_count: header[0x16],
            fixed_count: header[0x17],
        },
        constants: numbered(constants, constants_at).map(parse_constant).collect::<Result<_, _>>()?,
        labels: labels
            .iter()
            .map(|e| {
                let (address, size) = (word(e, 4), word(e, 8));
                Ok(Label { id: half(e, 0), address, size, name: name(word(e, 12))? })
            })
            .collect::<Result<_, ContainerError>>()?,
        outputs: numbered(outputs, outputs_at).map(parse_output).collect::<Result<_, _>>()?,
        uniforms: numbered(uniforms, uniforms_at)
            .map(|(offset, e)| parse_uniform(offset, e, name(word(e, 0))?))
            .collect::<Result<_, _>>()?,
    })
}

/// The entries of a table with their offsets.
fn numbered<const N: usize>(entries: &[[u8; N]], at: u64) -> impl Iterator<Item = (u64, &[u8; N])> {
    entries.iter().enumerate().map(move |(i, entry)| (at + (i * N) as u64, entry))
}

/// The name at `offset` of a symbol table.
fn symbol(symbols: &[u8], symbols_at: u64, offset: u32, limits: &Limits) -> Result<String, ContainerError> {
    let at = symbols_at + u64::from(offset);
    let rest = symbols.get(offset as usize..).ok_or(ContainerError::Name { offset: at })?;
    let window = rest.get(..=limits.name_bytes).unwrap_or(rest);
    match memchr::memchr(0, window) {
        Some(len) => Ok(name_from_bytes(&rest[..len])),
        None if window.len() < rest.len() => Err(ContainerError::Limit {
            offset: at,
            what: "bytes in a name",
            value: window.len() as u64,
            limit: limits.name_bytes,
        }),
        None => Err(ContainerError::Name { offset: at }),
    }
}

fn parse_constant((offset, entry): (u64, &[u8; 20])) -> Result<Constant, ContainerError> {
    let value = match half(entry, 0) {
        0 => ConstantValue::Bool(entry[4] & 1 != 0),
        1 => ConstantValue::Int([entry[4], entry[5], entry[6], entry[7]]),
        2 => ConstantValue::Float([4, 8, 12, 16].map(|at| word(entry, at) & 0x00ff_ffff)),
        other => {
            return Err(ContainerError::Value { offset, what: "constant type", value: other.into() });
        }
    };
    let register = half(entry, 2);
    if register >= value.file().count().into() {
        let (offset, value) = (offset + 2, register.into());
        return Err(ContainerError::Value { offset, what: "constant's register", value });
    }
    Ok(Constant { register: register as u8, value })
}

fn parse_output((offset, entry): (u64, &[u8; 8])) -> Result<Output, ContainerError> {
    let register = half(entry, 2);
    if register >= 16 {
        let (offset, value) = (offset + 2, register.into());
        return Err(ContainerError::Value { offset, what: "output register", value });
    }
    Ok(Output {
        semantic: Semantic::from_number(half(entry, 0)),
        register: register as u8,
        // The table's mask has x in bit 0, a descriptor's has it in bit 3.
        mask: Mask::from_bits(entry[4].reverse_bits() >> 4),
    })
}

fn parse_uniform(offset: u64, entry: &[u8; 8], name: String) -> Result<Uniform, ContainerError> {
    let (first, last) = (half(entry, 4), half(entry, 6));
    let bad = |at, value: u16| ContainerError::Value {
        offset: offset + at,
        what: "uniform's register",
        value: value.into(),
    };
    let (file, first_index) = RegisterFile::locate(first).ok_or_else(|| bad(4, first))?;
    let (last_file, last_index) = RegisterFile::locate(last).ok_or_else(|| bad(6, last))?;
    if last_file != file || last_index < first_index {
        return Err(bad(6, last));
    }
    Ok(Uniform { name, file, first: first_index, count: last_index - first_index + 1 })
}
