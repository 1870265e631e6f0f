//! cubin: an ELF file with the compute kernels of one architecture.
//!
//! A kernel NAME is a section `.text.NAME` (code; its info field has the
//! register count in the top byte, the number of the kernel's symbol below), with
//! `.nv.info.NAME` (attributes), `.nv.shared.NAME` (as large as its shared memory) and `.nv.constantB.NAME` (bank B;
//! `.nv.constant0.NAME` is as large as bank 0 but holds only zeros). `.nv.constantB` without a name belongs to all
//! kernels, `.nv.info` holds attributes by symbol. Attribute numbers and layouts are those seen in the files of
//! `vectors/maxwell/compute` (ptxas 12.9), whose JSON states the same values.
//!
//! `.nv.global.init` and `.nv.global` are variables in global memory, with contents and zeroed. Kernels find them by
//! relocations, which [`super::link`](fn@super::link) applies.

use super::link::LinkError;
use super::{ContainerError, slice};
use object::LittleEndian;
use object::elf::{ELFDATA2LSB, FileHeader64, SHT_NOBITS, SHT_REL, SHT_RELA, STT_FUNC};
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym, SymbolTable};
use object::read::{SectionIndex, SymbolIndex};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// ELF's number for NVIDIA GPUs.
const EM_CUDA: u16 = 190;

pub(super) type Header = FileHeader64<LittleEndian>;
pub(super) type Section = object::elf::SectionHeader64<LittleEndian>;

/// How names of sections of global data begin.
pub(super) const GLOBALS: &[u8] = b".nv.global";

/// The number of the constant bank that a section's name says, and the kernel it belongs to.
pub(super) fn bank_section(name: &[u8]) -> Option<(u32, Option<&[u8]>)> {
    let rest = name.strip_prefix(b".nv.constant")?;
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count().min(3);
    let (number, owner) = rest.split_at(digits);
    let bank = number.iter().fold(0, |n, d| n * 10 + u32::from(d - b'0'));
    let owner = if owner.is_empty() { None } else { Some(owner.strip_prefix(b".")?) };
    (!number.is_empty()).then_some((bank, owner))
}

/// Whether `bytes` begin like a cubin.
pub(super) fn is_cubin(bytes: &[u8]) -> bool {
    let is_elf64 = bytes.starts_with(b"\x7fELF\x02") && bytes.get(5) == Some(&ELFDATA2LSB.0);
    is_elf64 && bytes.get(18..20) == Some(&EM_CUDA.to_le_bytes())
}

/// A parameter in constant bank 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Param {
    /// Byte offset in bank 0.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
}

/// A constant bank known before the kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bank<'a> {
    /// Its number: 2 and above; 3 holds the program's constants, 2 the compiler's, jump tables among them.
    pub bank: u32,
    /// Its contents.
    pub data: &'a [u8],
    /// Relocations write addresses to it: it is not complete before [`super::link`](fn@super::link).
    pub relocated: bool,
}

/// Variables in global memory, which live as long as the module is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global<'a> {
    /// The section's name.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
    /// What its address is a multiple of.
    pub align: u64,
    /// Its contents; empty if it is zeroed.
    pub data: &'a [u8],
    /// The section's number.
    pub(super) section: usize,
}

/// Most bytes of a section of global data.
pub const MAX_GLOBAL_BYTES: u64 = 1 << 28;

impl Global<'_> {
    /// What it holds before anything runs.
    ///
    /// # Errors
    /// [`LinkError::TooLarge`] with more than [`MAX_GLOBAL_BYTES`].
    pub fn contents(&self) -> Result<Vec<u8>, LinkError> {
        match usize::try_from(self.bytes).ok().filter(|_| self.bytes <= MAX_GLOBAL_BYTES) {
            Some(bytes) => {
                let mut contents = self.data.to_vec();
                contents.resize(bytes, 0);
                Ok(contents)
            }
            None => Err(LinkError::TooLarge { section: self.name.clone(), bytes: self.bytes }),
        }
    }
}

/// A compute kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel<'a> {
    /// Its name; bytes that are no UTF-8 are replaced.
    pub name: String,
    /// Instructions, in groups from the first byte on, functions the kernel calls among them.
    pub code: &'a [u8],
    /// Byte offset of the first instruction's group in `code`.
    pub entry: u32,
    /// Byte offsets in `code` of the functions that the file names there, the kernel itself left out: what a computed call
    /// may go to. Pointers to functions are such offsets.
    pub functions: Vec<u32>,
    /// Relocations write addresses to the code: it means nothing before [`super::link`](fn@super::link).
    pub relocated: bool,
    /// Byte offset of `code` in the file.
    pub file_offset: u64,
    /// Registers an invocation uses.
    pub registers: u32,
    /// Bytes of shared memory of a workgroup.
    pub shared_bytes: u32,
    /// Bytes of local memory of an invocation: the largest frame or stack stated.
    pub local_bytes: u32,
    /// Bytes of constant bank 0, which the driver fills.
    pub bank0_bytes: u32,
    /// Parameters by number.
    pub params: Vec<Param>,
    /// The other constant banks by number.
    pub banks: Vec<Bank<'a>>,
}

/// A cubin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cubin<'a> {
    /// The architecture's number: 53 for SM53.
    pub sm: u32,
    /// Kernels in order of their sections.
    pub kernels: Vec<Kernel<'a>>,
    /// Sections of global data.
    pub globals: Vec<Global<'a>>,
}

/// Attributes of `.nv.info` this reader takes.
mod attribute {
    pub const PARAM_CBANK: u8 = 0x0a;
    pub const FRAME_SIZE: u8 = 0x11;
    pub const MIN_STACK_SIZE: u8 = 0x12;
    pub const KPARAM_INFO: u8 = 0x17;
}

/// The format of an attribute whose payload has its size in front; all others take four bytes in all.
const SIZED: u8 = 4;

/// The attributes of an info section with their payloads; ends at the first that is cut off.
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (&[format, attribute, low, high], rest) = bytes.split_first_chunk()?;
        if format != SIZED {
            bytes = rest;
            return Some((attribute, &[][..]));
        }
        let (payload, rest) = rest.split_at_checked(u16::from_le_bytes([low, high]).into())?;
        bytes = rest;
        Some((attribute, payload))
    })
}

fn word(payload: &[u8], i: usize) -> Option<u32> {
    payload.as_chunks().0.get(i).map(|w| u32::from_le_bytes(*w))
}

/// Most parameters a kernel may have: more do not fit into bank 0.
const MAX_PARAMS: usize = 0x1000;

fn params(info: &[u8]) -> Vec<Param> {
    let cbank = attributes(info).find(|a| a.0 == attribute::PARAM_CBANK).and_then(|a| word(a.1, 1));
    let base = cbank.unwrap_or(0) & 0xffff;
    let mut params: Vec<(u32, Param)> = attributes(info)
        .filter(|a| a.0 == attribute::KPARAM_INFO)
        .filter_map(|(_, payload)| {
            // Index of the kernel; number and offset; then the size above 18 bits of other facts.
            let (place, facts) = (word(payload, 1)?, word(payload, 2)?);
            Some((place & 0xffff, Param { offset: base + (place >> 16), size: facts >> 18 }))
        })
        .take(MAX_PARAMS)
        .collect();
    params.sort_by_key(|p| p.0);
    params.dedup_by_key(|p| p.0);
    params.into_iter().map(|p| p.1).collect()
}

/// The sections of a file.
pub(super) struct Sections<'a> {
    bytes: &'a [u8],
    pub(super) table: SectionTable<'a, Header>,
    /// By section.
    pub(super) names: Vec<&'a [u8]>,
    /// By section: whether relocations write to it.
    relocated: Vec<bool>,
    /// The first section of a name.
    by_name: FxHashMap<&'a [u8], &'a Section>,
    /// Constant banks above 0, of a kernel or of all, and whether relocations write to them.
    banks: Vec<(u32, Option<&'a [u8]>, &'a Section, bool)>,
    /// The info of all kernels.
    info: &'a [u8],
}

impl<'a> Sections<'a> {
    pub(super) fn read(bytes: &'a [u8], header: &Header) -> Result<Sections<'a>, ContainerError> {
        let table = header.sections(LittleEndian, bytes)?;
        if table.len() > MAX_SECTIONS {
            return Err(ContainerError::Malformed { offset: 0, what: "number of sections" });
        }
        let mut sections = Sections {
            bytes,
            table,
            names: Vec::new(),
            relocated: vec![false; table.len()],
            by_name: FxHashMap::default(),
            banks: Vec::new(),
            info: &[],
        };
        if let Ok(strings) =
            sections.table.section(SectionIndex(header.shstrndx(LittleEndian, bytes)? as usize))
        {
            let strings = sections.data(strings)?;
            let names = sections.table.iter().map(|s| text(strings, s.sh_name(LittleEndian)));
            sections.names = names.collect();
        }
        let mut by_name = FxHashMap::default();
        for (name, section) in sections.named() {
            by_name.entry(name).or_insert(section);
        }
        sections.by_name = by_name;
        if let Some(info) = sections.find(".nv.info", b"") {
            sections.info = sections.data(info)?;
        }
        for section in sections.table.iter() {
            let is_relocations = matches!(section.sh_type(LittleEndian), SHT_REL | SHT_RELA);
            let target = sections.relocated.get_mut(section.info_link(LittleEndian).0);
            if let (true, 1.., Some(target)) = (is_relocations, section.sh_size(LittleEndian), target) {
                *target = true;
            }
        }
        let bank = |(name, section, relocated)| {
            let (bank, owner) = bank_section(name)?;
            (bank != 0).then_some((bank, owner, section, relocated))
        };
        sections.banks = sections.numbered().filter_map(bank).collect();
        Ok(sections)
    }

    /// Name, section, and whether relocations write to it.
    fn numbered(&self) -> impl Iterator<Item = (&'a [u8], &'a Section, bool)> {
        self.named().zip(&self.relocated).map(|((name, section), &relocated)| (name, section, relocated))
    }

    /// The sections of global data.
    fn globals(&self) -> Result<Vec<Global<'a>>, ContainerError> {
        let sections = self.named().enumerate();
        let globals = sections.filter(|(_, (name, _))| name.starts_with(GLOBALS));
        globals
            .map(|(number, (name, section))| {
                Ok(Global {
                    name: String::from_utf8_lossy(name).into_owned(),
                    bytes: section.sh_size(LittleEndian),
                    align: section.sh_addralign(LittleEndian).max(1),
                    data: self.data(section)?,
                    section: number,
                })
            })
            .collect()
    }

    fn named(&self) -> impl Iterator<Item = (&'a [u8], &'a Section)> {
        self.names.iter().copied().zip(self.table.iter())
    }

    fn data(&self, section: &Section) -> Result<&'a [u8], ContainerError> {
        if section.sh_type(LittleEndian) == SHT_NOBITS {
            return Ok(&[]);
        }
        let (offset, size) = (section.sh_offset(LittleEndian), section.sh_size(LittleEndian));
        slice(self.bytes, "a section", offset, size)
    }

    /// The section called `prefix` and `name`.
    fn find(&self, prefix: &str, name: &[u8]) -> Option<&'a Section> {
        self.by_name.get([prefix.as_bytes(), name].concat().as_slice()).copied()
    }

    /// The constant banks above 0 of a kernel.
    fn banks(&self, kernel: &[u8]) -> Result<Vec<Bank<'a>>, ContainerError> {
        let mut banks = Vec::new();
        for &(bank, owner, section, relocated) in &self.banks {
            if owner.is_none_or(|owner| owner == kernel) {
                banks.push(Bank { bank, data: self.data(section)?, relocated });
            }
        }
        banks.sort_by_key(|b| b.bank);
        banks.dedup_by_key(|b| b.bank);
        Ok(banks)
    }

    /// The largest frame or stack stated of a symbol.
    fn local_bytes(&self, symbol: u32) -> u32 {
        let of_symbol = |(attribute, payload): (u8, &[u8])| {
            let stated = matches!(attribute, attribute::FRAME_SIZE | attribute::MIN_STACK_SIZE);
            if stated && word(payload, 0)? == symbol { word(payload, 1) } else { None }
        };
        attributes(self.info).filter_map(of_symbol).max().unwrap_or(0)
    }
}

/// Most kernels read: each is looked up among all banks.
const MAX_KERNELS: usize = 1024;
/// Most sections of a file.
const MAX_SECTIONS: usize = 1 << 14;
/// Most bytes of a name.
const MAX_NAME: usize = 4096;

/// The text at `offset`; empty if it does not end.
fn text(strings: &[u8], offset: u32) -> &[u8] {
    let rest = strings.get(offset as usize..).unwrap_or_default();
    let end = rest.iter().take(MAX_NAME).position(|&b| b == 0);
    end.map_or(&[], |end| &rest[..end])
}

/// Narrows a size; more than 4 GiB is beyond any of the machine's memories.
fn size32(section: Option<&Section>) -> Result<u32, ContainerError> {
    let Some(section) = section else { return Ok(0) };
    let malformed =
        ContainerError::Malformed { offset: section.sh_offset(LittleEndian), what: "size of a section" };
    u32::try_from(section.sh_size(LittleEndian)).map_err(|_| malformed)
}

/// Most functions read.
const MAX_FUNCTIONS: usize = 1 << 12;

/// The functions of a file: section and offset there, sorted.
fn functions(symbols: &SymbolTable<'_, Header>) -> Vec<(usize, u32)> {
    let functions = symbols.iter().filter(|symbol| symbol.st_type() == STT_FUNC);
    let place = |symbol: &object::elf::Sym64<LittleEndian>| {
        let at = u32::try_from(symbol.st_value(LittleEndian)).ok()?;
        Some((usize::from(symbol.st_shndx(LittleEndian).0), at))
    };
    let mut functions: Vec<(usize, u32)> = functions.filter_map(place).take(MAX_FUNCTIONS).collect();
    functions.sort_unstable();
    functions.dedup();
    functions
}

impl<'a> Cubin<'a> {
    /// Reads a cubin.
    ///
    /// # Errors
    /// Another file, another architecture, or sections outside the file.
    pub fn parse(bytes: &'a [u8]) -> Result<Cubin<'a>, ContainerError> {
        if !is_cubin(bytes) {
            return Err(ContainerError::Magic("cubin"));
        }
        let header = Header::parse(bytes)?;
        let sm = header.e_flags(LittleEndian).0 & 0xff;
        if !(50..=62).contains(&sm) {
            return Err(ContainerError::Architecture(sm));
        }
        let sections = Sections::read(bytes, header)?;
        let symbols = sections.table.symbols(LittleEndian, bytes, object::elf::SHT_SYMTAB)?;
        let functions = functions(&symbols);
        let mut kernels = Vec::new();
        for (number, (name, section, relocated)) in sections.numbered().enumerate() {
            let Some(name) = name.strip_prefix(b".text.") else { continue };
            if kernels.len() == MAX_KERNELS {
                return Err(ContainerError::Malformed { offset: 0, what: "number of kernels" });
            }
            let code = sections.data(section)?;
            let info = section.sh_info(LittleEndian);
            let (registers, symbol) = (info >> 24, info & 0xff_ffff);
            let start = symbols.symbol(SymbolIndex(symbol as usize))?.st_value(LittleEndian);
            let file_offset = section.sh_offset(LittleEndian);
            let entry = u32::try_from(start).ok().filter(|&at| at % 32 == 0 && (at as usize) < code.len());
            let attributes = sections.find(".nv.info.", name).map(|s| sections.data(s)).transpose()?;
            kernels.push(Kernel {
                name: String::from_utf8_lossy(name).into_owned(),
                code,
                entry: entry.ok_or(ContainerError::Malformed { offset: file_offset, what: "entry point" })?,
                functions: functions
                    .iter()
                    .filter(|(section, at)| *section == number && u64::from(*at) != start)
                    .map(|f| f.1)
                    .collect(),
                relocated,
                file_offset,
                registers,
                shared_bytes: size32(sections.find(".nv.shared.", name))?,
                local_bytes: sections.local_bytes(symbol),
                bank0_bytes: size32(sections.find(".nv.constant0.", name))?,
                params: params(attributes.unwrap_or_default()),
                banks: sections.banks(name)?,
            });
        }
        Ok(Cubin { sm, kernels, globals: sections.globals()? })
    }

    /// The kernel of a name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel<'a>> {
        self.kernels.iter().find(|k| k.name == name)
    }
}
