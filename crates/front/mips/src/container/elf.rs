//! 32-bit ELF files for MIPS, of either byte order: segments to load, and symbols for whoever prints addresses.
//!
//! Everything in a file may be wrong; a field that does not fit is an [`Error`](enum@Error) with the offset of the field.

use crate::inst::Endian;
use std::fmt;
use std::ops::Range;
use thiserror::Error;

/// Size of the file header.
const HEADER_BYTES: u32 = 52;
/// Size of a program header.
const PROGRAM_HEADER_BYTES: u32 = 32;
/// Size of a section header.
const SECTION_HEADER_BYTES: u32 = 40;
/// Size of a symbol.
const SYMBOL_BYTES: u32 = 16;

const EM_MIPS: u16 = 8;
const ET_EXEC: u16 = 2;
const ET_DYN: u16 = 3;
const PT_LOAD: u32 = 1;
const PT_INTERP: u32 = 3;
const PT_PHDR: u32 = 6;
const PT_GNU_STACK: u32 = 0x6474_e551;
const PT_MIPS_ABIFLAGS: u32 = 0x7000_0003;
const PT_MIPS_REGINFO: u32 = 0x7000_0000;
const SHF_ALLOC: u32 = 2;
const SHF_EXECINSTR: u32 = 4;
const SHT_SYMTAB: u32 = 2;
const SHT_DYNSYM: u32 = 11;
const STT_FUNC: u8 = 2;

/// Why a file is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// No ELF file.
    #[error("no ELF file: the magic number is missing")]
    Magic,
    /// A file of another machine, class or kind.
    #[error("{field} is {value} at offset {offset:#x}: {wanted}")]
    Wrong {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u32,
        /// Where it is.
        offset: u64,
        /// What it would have to be.
        wanted: &'static str,
    },
    /// Something lies outside of the file.
    #[error("{what} at offset {offset:#x} with {length} bytes ends outside of the file")]
    Outside {
        /// What.
        what: &'static str,
        /// Where it begins.
        offset: u64,
        /// Its length.
        length: u64,
    },
    /// A segment that does not fit into the address space, or that has less memory than contents.
    #[error("segment {index} (header at offset {offset:#x}) {problem}")]
    Segment {
        /// Number of the program header.
        index: u16,
        /// Offset of the program header.
        offset: u64,
        /// What is wrong.
        problem: &'static str,
    },
    /// More of something than the limits allow.
    #[error("{what}: {count} at offset {offset:#x}, more than {limit}")]
    TooMany {
        /// What.
        what: &'static str,
        /// How many.
        count: u32,
        /// The limit.
        limit: u32,
        /// Where the number is.
        offset: u64,
    },
}

/// What a file may ask for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Program headers.
    pub program_headers: u32,
    /// Section headers that are looked through for symbols.
    pub sections: u32,
    /// Symbols.
    pub symbols: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { program_headers: 256, sections: 1 << 16, symbols: 1 << 22 }
    }
}

/// Whether the program says where it is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Loaded at the addresses of its segments.
    Executable,
    /// Loaded anywhere: a shared library, or a position-independent executable.
    Shared,
}

/// Access rights of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// May be read.
    pub read: bool,
    /// May be written.
    pub write: bool,
    /// May be executed.
    pub execute: bool,
}

/// A part of the file that is loaded.
#[derive(Clone, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Guest address.
    pub address: u32,
    /// The contents; zeros follow.
    pub bytes: &'a [u8],
    /// Bytes of memory.
    pub size: u32,
    /// Rights.
    pub rights: Rights,
    /// Offset of the contents in the file.
    pub offset: u32,
}

impl fmt::Debug for Segment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segment")
            .field("address", &format_args!("{:#x}", self.address))
            .field("bytes", &self.bytes.len())
            .field("size", &self.size)
            .field("rights", &self.rights)
            .finish_non_exhaustive()
    }
}

/// What `.MIPS.abiflags` says of the use of the floating-point unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatAbi {
    /// The program works with any.
    Any,
    /// Doubles in even-odd pairs of 32-bit registers (`-mfp32`).
    Double,
    /// Singles only.
    Single,
    /// No floating-point unit.
    Soft,
    /// Pairs or 64-bit registers (`-mfpxx`).
    Either,
    /// 64-bit registers (`-mfp64`).
    Registers64,
    /// A value without a meaning.
    Unknown(u8),
}

impl FloatAbi {
    fn from_byte(byte: u8) -> FloatAbi {
        match byte {
            0 => FloatAbi::Any,
            1 => FloatAbi::Double,
            2 => FloatAbi::Single,
            3 => FloatAbi::Soft,
            5 => FloatAbi::Either,
            4 | 6 | 7 => FloatAbi::Registers64,
            other => FloatAbi::Unknown(other),
        }
    }
}

/// The flags of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(
    /// `e_flags`.
    pub u32,
);

impl Flags {
    /// Whether the code is of a 64-bit architecture, or of release 6, or a compressed one.
    pub fn other_architecture(self) -> bool {
        let architecture = self.0 >> 28;
        !matches!(architecture, 0 | 1 | 5 | 7) || self.0 & 0x0600_0000 != 0
    }

    /// Whether the program wants NaNs as IEEE 754-2008 has them.
    pub fn nan2008(self) -> bool {
        self.0 & 0x400 != 0
    }

    /// Whether the program has another calling convention than o32.
    pub fn other_abi(self) -> bool {
        self.0 & 0x20 != 0 || !matches!(self.0 >> 12 & 15, 0 | 1)
    }
}

/// A function of the symbol tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Address.
    pub address: u32,
    /// Bytes; zero when not known.
    pub size: u32,
    /// Name.
    pub name: &'a [u8],
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elf<'a> {
    /// Byte order.
    pub endian: Endian,
    /// Whether the program says where it is loaded.
    pub kind: Kind,
    /// Where it starts.
    pub entry: u32,
    /// Flags of the header.
    pub flags: Flags,
    /// The segments to load, in the order of the file.
    pub segments: Vec<Segment<'a>>,
    /// Address of the program headers in memory; `None` when no segment holds them.
    pub headers_address: Option<u32>,
    /// Number of program headers.
    pub headers: u16,
    /// The program that loads this one, a path.
    pub interpreter: Option<&'a [u8]>,
    /// Whether the stack is executable; it is when the file does not say.
    pub executable_stack: bool,
    /// Use of the floating-point unit; `None` when the file does not say.
    pub float_abi: Option<FloatAbi>,
    bytes: &'a [u8],
}

/// The bytes of a file with its byte order.
#[derive(Clone, Copy)]
struct Bytes<'a> {
    bytes: &'a [u8],
    endian: Endian,
}

impl<'a> Bytes<'a> {
    fn range(self, what: &'static str, offset: u64, length: u64) -> Result<&'a [u8], Error> {
        let outside = Error::Outside { what, offset, length };
        let (Ok(start), Ok(length)) = (usize::try_from(offset), usize::try_from(length)) else {
            return Err(outside);
        };
        start.checked_add(length).and_then(|end| self.bytes.get(start..end)).ok_or(outside)
    }

    fn half(self, what: &'static str, offset: u64) -> Result<u16, Error> {
        let bytes = self.range(what, offset, 2)?;
        let [a, b] = [bytes.first(), bytes.get(1)].map(|byte| byte.copied().unwrap_or_default());
        Ok(if self.endian == Endian::Big { u16::from_be_bytes([a, b]) } else { u16::from_le_bytes([a, b]) })
    }

    fn word(self, what: &'static str, offset: u64) -> Result<u32, Error> {
        let bytes = self.range(what, offset, 4)?;
        Ok(self.endian.word(bytes.first_chunk().copied().unwrap_or_default()))
    }
}

/// Whether a file says that it is a 32-bit ELF file for MIPS.
pub fn is_mips(bytes: &[u8]) -> bool {
    let machine = match bytes {
        [0x7f, b'E', b'L', b'F', 1, 1, ..] => {
            bytes.get(18..20).map(|half| half.iter().rev().copied().collect())
        }
        [0x7f, b'E', b'L', b'F', 1, 2, ..] => bytes.get(18..20).map(<[u8]>::to_vec),
        _ => None,
    };
    machine.is_some_and(|machine| machine == EM_MIPS.to_be_bytes())
}

impl<'a> Elf<'a> {
    /// Reads a file.
    ///
    /// # Errors
    /// When the file is not a 32-bit MIPS executable or library, or something in it does not fit.
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Result<Elf<'a>, Error> {
        if !bytes.starts_with(b"\x7fELF") {
            return Err(Error::Magic);
        }
        let byte = |offset: usize| bytes.get(offset).copied().map(u32::from).unwrap_or_default();
        let wrong = |field, value, offset, wanted| Err(Error::Wrong { field, value, offset, wanted });
        if byte(4) != 1 {
            return wrong("the class", byte(4), 4, "1, a 32-bit file, is wanted");
        }
        let endian = match byte(5) {
            1 => Endian::Little,
            2 => Endian::Big,
            other => return wrong("the byte order", other, 5, "1 or 2 is wanted"),
        };
        let file = Bytes { bytes, endian };
        file.range("the header", 0, HEADER_BYTES.into())?;
        let machine = file.half("the machine", 18)?;
        if machine != EM_MIPS {
            return wrong("the machine", machine.into(), 18, "8, MIPS, is wanted");
        }
        let kind = match file.half("the kind", 16)? {
            ET_EXEC => Kind::Executable,
            ET_DYN => Kind::Shared,
            other => return wrong("the kind", other.into(), 16, "2 (executable) or 3 (shared) is wanted"),
        };
        let headers = file.half("the number of program headers", 44)?;
        if u32::from(headers) > limits.program_headers {
            return Err(Error::TooMany {
                what: "program headers",
                count: headers.into(),
                limit: limits.program_headers,
                offset: 44,
            });
        }
        let header_size = u32::from(file.half("the size of program headers", 42)?);
        if headers != 0 && header_size != PROGRAM_HEADER_BYTES {
            return wrong("the size of program headers", header_size, 42, "32 is wanted");
        }
        let mut elf = Elf {
            endian,
            kind,
            entry: file.word("the entry point", 24)?,
            flags: Flags(file.word("the flags", 36)?),
            segments: Vec::new(),
            headers_address: None,
            headers,
            interpreter: None,
            executable_stack: true,
            float_abi: None,
            bytes,
        };
        let table = file.word("the offset of the program headers", 28)?;
        for index in 0..headers {
            let offset = u64::from(table) + u64::from(index) * u64::from(PROGRAM_HEADER_BYTES);
            elf.program_header(file, index, offset)?;
        }
        if elf.headers_address.is_none() {
            elf.headers_address = elf.address_of(table);
        }
        Ok(elf)
    }

    fn program_header(&mut self, file: Bytes<'a>, index: u16, at: u64) -> Result<(), Error> {
        file.range("a program header", at, PROGRAM_HEADER_BYTES.into())?;
        let field = |n: u64| file.word("a program header", at + 4 * n);
        let (kind, offset, address, file_size) = (field(0)?, field(1)?, field(2)?, field(4)?);
        let (size, flags) = (field(5)?, field(6)?);
        match kind {
            PT_LOAD => {
                let problem = |problem| Err(Error::Segment { index, offset: at, problem });
                if file_size > size {
                    return problem("has more contents than memory");
                }
                if u64::from(address) + u64::from(size) > 1 << 32 {
                    return problem("ends outside of the address space");
                }
                let bytes = file.range("a segment", offset.into(), file_size.into())?;
                let rights = Rights { read: flags & 4 != 0, write: flags & 2 != 0, execute: flags & 1 != 0 };
                self.segments.push(Segment { address, bytes, size, rights, offset });
            }
            PT_INTERP => {
                let path = file.range("the interpreter's path", offset.into(), file_size.into())?;
                self.interpreter = Some(path.split(|&byte| byte == 0).next().unwrap_or_default());
            }
            PT_PHDR => self.headers_address = Some(address),
            PT_GNU_STACK => self.executable_stack = flags & 1 != 0,
            PT_MIPS_ABIFLAGS => {
                let bytes = file.range("the ABI flags", offset.into(), file_size.into())?;
                self.float_abi = bytes.get(7).copied().map(FloatAbi::from_byte);
            }
            _ => {}
        }
        Ok(())
    }

    /// The address that a byte of the file is loaded to.
    fn address_of(&self, offset: u32) -> Option<u32> {
        self.segments.iter().find_map(|segment| {
            let within = offset.checked_sub(segment.offset)?;
            ((within as usize) < segment.bytes.len()).then(|| segment.address.wrapping_add(within))
        })
    }

    /// The section headers: how many there are, and the words of one by its number and the field's. None where the file has none.
    fn sections(&self, limits: &Limits) -> Result<Sections<'a>, Error> {
        let file = Bytes { bytes: self.bytes, endian: self.endian };
        let table = u64::from(file.word("the offset of the section headers", 32)?);
        let count = u32::from(file.half("the number of section headers", 48)?);
        let size = file.half("the size of section headers", 46)?;
        if table == 0 || size != SECTION_HEADER_BYTES as u16 {
            return Ok(Sections { file, table, count: 0 });
        }
        if count > limits.sections {
            return Err(Error::TooMany {
                what: "section headers",
                count,
                limit: limits.sections,
                offset: 48,
            });
        }
        Ok(Sections { file, table, count })
    }

    /// Where code lies: the sections that are executable, or where the file has no sections the executable segments. Sorted, as
    /// ranges of addresses within the segments' contents.
    ///
    /// # Errors
    /// When a section header does not fit into the file, or there are more than the limit.
    pub fn code(&self, limits: &Limits) -> Result<Vec<Range<u32>>, Error> {
        let sections = self.sections(limits)?;
        let executable = || self.segments.iter().filter(|segment| segment.rights.execute);
        let mut out = Vec::new();
        for index in 0..sections.count {
            let flags = sections.field(index, 2)?;
            if flags & (SHF_ALLOC | SHF_EXECINSTR) == SHF_ALLOC | SHF_EXECINSTR {
                let (start, size) = (sections.field(index, 3)?, sections.field(index, 5)?);
                let within = |segment: &&Segment<'_>| {
                    let offset = u64::from(start.wrapping_sub(segment.address));
                    start >= segment.address && offset + u64::from(size) <= segment.bytes.len() as u64
                };
                if size != 0 && executable().any(|segment| within(&segment)) {
                    out.push(start..start.saturating_add(size));
                }
            }
        }
        if out.is_empty() {
            let ranges = executable()
                .map(|segment| segment.address..segment.address.saturating_add(segment.bytes.len() as u32));
            out = ranges.filter(|range| !range.is_empty()).collect();
        }
        out.sort_by_key(|range| (range.start, range.end));
        Ok(out)
    }

    /// What the file says that `gp` holds; `None` where it does not. Shared objects mean it before they are moved.
    ///
    /// # Errors
    /// When the place that says so is outside of the file.
    pub fn gp(&self) -> Result<Option<u32>, Error> {
        let file = Bytes { bytes: self.bytes, endian: self.endian };
        let table = u64::from(file.word("the offset of the program headers", 28)?);
        for index in 0..u64::from(self.headers) {
            let at = table + index * u64::from(PROGRAM_HEADER_BYTES);
            if file.word("a program header", at)? == PT_MIPS_REGINFO {
                let offset = u64::from(file.word("a program header", at + 4)?);
                return Ok(Some(file.word("the register information", offset + 20)?).filter(|&gp| gp != 0));
            }
        }
        Ok(None)
    }

    /// The functions of the symbol tables, in the order of the file; empty when the file is stripped.
    ///
    /// # Errors
    /// When a table does not fit into the file, or is longer than the limit.
    pub fn functions(&self, limits: &Limits) -> Result<Vec<Symbol<'a>>, Error> {
        let sections = self.sections(limits)?;
        let (file, count) = (sections.file, sections.count);
        let mut out = Vec::new();
        for index in 0..count {
            if !matches!(sections.field(index, 1)?, SHT_SYMTAB | SHT_DYNSYM) {
                continue;
            }
            let strings = sections.field(index, 6)?;
            if strings >= count {
                continue;
            }
            let (start, length) = (sections.field(strings, 4)?, sections.field(strings, 5)?);
            let names = file.range("a string table", start.into(), length.into())?;
            let (offset, size) = (u64::from(sections.field(index, 4)?), sections.field(index, 5)?);
            let symbols = size / SYMBOL_BYTES;
            if symbols > limits.symbols.saturating_sub(out.len() as u32) {
                return Err(Error::TooMany {
                    what: "symbols",
                    count: symbols,
                    limit: limits.symbols,
                    offset,
                });
            }
            file.range("a symbol table", offset, size.into())?;
            for symbol in 0..u64::from(symbols) {
                out.extend(function(file, names, offset + symbol * u64::from(SYMBOL_BYTES))?);
            }
        }
        Ok(out)
    }
}

/// The section headers of a file.
struct Sections<'a> {
    file: Bytes<'a>,
    table: u64,
    count: u32,
}

impl Sections<'_> {
    /// A word of a header.
    fn field(&self, index: u32, field: u64) -> Result<u32, Error> {
        let at = self.table + u64::from(index) * u64::from(SECTION_HEADER_BYTES);
        self.file.word("a section header", at + 4 * field)
    }
}

/// The symbol at an offset, when it is a defined function.
fn function<'a>(file: Bytes<'a>, names: &'a [u8], at: u64) -> Result<Option<Symbol<'a>>, Error> {
    let info = file.range("a symbol", at + 12, 1)?.first().copied().unwrap_or_default();
    let section = file.half("a symbol", at + 14)?;
    if info & 15 != STT_FUNC || section == 0 {
        return Ok(None);
    }
    let name = names.get(file.word("a symbol", at)? as usize..).unwrap_or_default();
    let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
    Ok(Some(Symbol { address: file.word("a symbol", at + 4)?, size: file.word("a symbol", at + 8)?, name }))
}
