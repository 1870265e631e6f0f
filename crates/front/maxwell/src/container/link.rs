//! Relocations of a cubin: addresses of global data, written to where code, constants and data refer to them.
//!
//! ptxas leaves addresses of `__device__` variables to the loader. What it writes (seen in cubins of ptxas 11 and 12, and
//! in libraries built by them):
//!
//! | in | type | meaning |
//! |---|---|---|
//! | constant banks, global data | `R_CUDA_64` (2), `R_CUDA_G64` (4) | the 64-bit address |
//! | code | `R_CUDA_ABS32_LO_20` (43), `R_CUDA_ABS32_HI_20` (44) | its lower or upper word, in the 32 bits from bit 20 of the instruction on |
//!
//! Addresses of functions need none: they are offsets in the code. Everything else is refused.

use super::cubin::{Cubin, Header, Sections};
use super::{ContainerError, slice};
use object::LittleEndian;
use object::elf::{SHT_NOBITS, SHT_REL, SHT_RELA};
use object::read::SymbolIndex;
use object::read::elf::{FileHeader, Rel, Rela, SectionHeader, Sym, SymbolTable};
use thiserror::Error;

/// Why a cubin cannot be linked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LinkError {
    /// The file is damaged.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// Not as many addresses as the file has sections of global data.
    #[error("{given} addresses for {wanted} sections of global data")]
    Addresses {
        /// Given.
        given: usize,
        /// Sections.
        wanted: usize,
    },
    /// A section of global data is larger than global memory may be.
    #[error("`{section}` has {bytes} bytes; at most {} are possible", super::cubin::MAX_GLOBAL_BYTES)]
    TooLarge {
        /// Its name.
        section: String,
        /// Its size.
        bytes: u64,
    },
    /// A relocation of a type that this linker does not know.
    #[error("`{section}`+{offset:#x} has a relocation of type {kind}, which is not supported")]
    Type {
        /// What is to be written to.
        section: String,
        /// Byte offset in it.
        offset: u64,
        /// ELF's number of the type.
        kind: u32,
    },
    /// A relocation refers to something else than global data.
    #[error("`{section}`+{offset:#x} refers to `{symbol}`, which is no global data of the file")]
    Symbol {
        /// What is to be written to.
        section: String,
        /// Byte offset in it.
        offset: u64,
        /// What is referred to.
        symbol: String,
    },
}

impl From<object::read::Error> for LinkError {
    fn from(e: object::read::Error) -> LinkError {
        ContainerError::Elf(e).into()
    }
}

/// `R_CUDA_64`.
const ADDRESS: u32 = 2;
/// `R_CUDA_G64`.
const GENERIC_ADDRESS: u32 = 4;
/// `R_CUDA_ABS32_LO_20`.
const LOW_WORD: u32 = 43;
/// `R_CUDA_ABS32_HI_20`.
const HIGH_WORD: u32 = 44;

/// Bits of an instruction below those of a relocated immediate.
const IMMEDIATE: u32 = 20;

/// Whether relocations of a section matter to a kernel: its code, its constant banks, global data.
///
/// Not those of bank 0: it is the driver's, and handles of textures in it are told by where they are
/// ([`crate::gpu::Handle`]). Nor those of debug information and of other kernels.
fn concerns(kernel: &str, section: &[u8]) -> bool {
    let kernel = kernel.as_bytes();
    if let Some(name) = section.strip_prefix(b".text.") {
        return name == kernel;
    }
    match super::cubin::bank_section(section) {
        Some((bank, owner)) => bank != 0 && owner.is_none_or(|owner| owner == kernel),
        None => section.starts_with(super::cubin::GLOBALS),
    }
}

/// An entry of a section of relocations.
struct Relocation {
    offset: u64,
    kind: u32,
    symbol: u32,
    /// None: what is in the place is the addend.
    addend: Option<u64>,
}

/// A cubin with all relocations that concern a kernel applied and removed. `addresses` are those of the sections of
/// global data, in the order of [`Cubin::globals`].
///
/// The result is a cubin again; read it by [`Cubin::parse`] for the kernel's code and constants, and for what global data
/// holds at first.
///
/// # Errors
/// See [`LinkError`].
pub fn link(bytes: &[u8], kernel: &str, addresses: &[u64]) -> Result<Vec<u8>, LinkError> {
    let cubin = Cubin::parse(bytes)?;
    if addresses.len() != cubin.globals.len() {
        return Err(LinkError::Addresses { given: addresses.len(), wanted: cubin.globals.len() });
    }
    let header = Header::parse(bytes)?;
    let sections = Sections::read(bytes, header)?;
    let symbols = sections.table.symbols(LittleEndian, bytes, object::elf::SHT_SYMTAB)?;
    // By section: the address of global data.
    let address_of = |section: usize| {
        cubin.globals.iter().zip(addresses).find(|(g, _)| g.section == section).map(|(_, &address)| address)
    };
    let mut left = bytes.len() / 16;
    let mut out = bytes.to_vec();
    let section_headers = header.e_shoff(LittleEndian);
    for (n, section) in sections.table.iter().enumerate() {
        if !matches!(section.sh_type(LittleEndian), SHT_REL | SHT_RELA) {
            continue;
        }
        let target = section.info_link(LittleEndian);
        let name = sections.names.get(target.0).copied();
        let Some(name) = name.filter(|name| concerns(kernel, name)) else { continue };
        let target = sections.table.section(target)?;
        let relocations = entries(section, bytes)?;
        // An entry has 16 bytes at least; that sections overlap does not make more of them.
        left = left
            .checked_sub(relocations.len())
            .ok_or(ContainerError::Malformed { offset: 0, what: "number of relocations" })?;
        for relocation in relocations {
            let place = Place::new(target, name, &relocation)?;
            let symbol = symbol_address(&symbols, &sections, &relocation, name, &address_of)?;
            place.apply(bytes, &mut out, &relocation, symbol)?;
        }
        // The type of a section is the second word of its header.
        let at = section_headers + 64 * n as u64 + 4;
        let place = usize::try_from(at).ok().and_then(|at| out.get_mut(at..at + 4));
        let outside = ContainerError::Malformed { offset: at, what: "header of a section" };
        place.ok_or(outside)?.copy_from_slice(&0u32.to_le_bytes());
    }
    Ok(out)
}

fn entries(section: &super::cubin::Section, bytes: &[u8]) -> Result<Vec<Relocation>, LinkError> {
    let le = LittleEndian;
    let mut out = Vec::new();
    if let Some((entries, _)) = section.rel(le, bytes)? {
        out.extend(entries.iter().map(|r| Relocation {
            offset: r.r_offset(le),
            kind: r.r_type(le).0,
            symbol: r.r_sym(le),
            addend: None,
        }));
    }
    if let Some((entries, _)) = section.rela(le, bytes)? {
        out.extend(entries.iter().map(|r| Relocation {
            offset: Rela::r_offset(r, le),
            kind: r.r_type(le, false).0,
            symbol: r.r_sym(le, false),
            addend: Some(r.r_addend(le).cast_unsigned()),
        }));
    }
    Ok(out)
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// Where the symbol of a relocation lies in global memory.
fn symbol_address(
    symbols: &SymbolTable<Header>,
    sections: &Sections,
    relocation: &Relocation,
    place: &[u8],
    address_of: &dyn Fn(usize) -> Option<u64>,
) -> Result<u64, LinkError> {
    let symbol = symbols.symbol(SymbolIndex(relocation.symbol as usize))?;
    let section = symbols.symbol_section(LittleEndian, symbol, SymbolIndex(relocation.symbol as usize))?;
    match section.and_then(|section| address_of(section.0)) {
        Some(address) => Ok(address.wrapping_add(symbol.st_value(LittleEndian))),
        None => {
            let own = symbol.name(LittleEndian, symbols.strings()).unwrap_or_default();
            let section = section.and_then(|s| sections.names.get(s.0).copied()).unwrap_or_default();
            Err(LinkError::Symbol {
                section: text(place),
                offset: relocation.offset,
                symbol: text(if own.is_empty() { section } else { own }),
            })
        }
    }
}

/// What a relocation writes to: eight bytes of a file.
struct Place<'a> {
    /// Byte offset in the file.
    at: u64,
    section: &'a [u8],
}

impl<'a> Place<'a> {
    fn new(
        target: &super::cubin::Section,
        section: &'a [u8],
        relocation: &Relocation,
    ) -> Result<Place<'a>, LinkError> {
        let (start, size) = (target.sh_offset(LittleEndian), target.sh_size(LittleEndian));
        let end = relocation.offset.checked_add(8);
        let inside = end.is_some_and(|end| end <= size) && target.sh_type(LittleEndian) != SHT_NOBITS;
        let at = start.checked_add(relocation.offset).filter(|_| inside);
        let malformed =
            ContainerError::Malformed { offset: relocation.offset, what: "place of a relocation" };
        Ok(Place { at: at.ok_or(malformed)?, section })
    }

    fn apply(
        &self,
        before: &[u8],
        out: &mut [u8],
        relocation: &Relocation,
        symbol: u64,
    ) -> Result<(), LinkError> {
        let place = slice(before, "the place of a relocation", self.at, 8)?;
        let old = u64::from_le_bytes(*place.first_chunk().unwrap_or(&[0; 8]));
        let unsupported =
            LinkError::Type { section: text(self.section), offset: relocation.offset, kind: relocation.kind };
        let at = self.at as usize;
        let Some(to) = out.get_mut(at..at + 8) else { return Err(unsupported) };
        match relocation.kind {
            ADDRESS | GENERIC_ADDRESS => {
                let address = symbol.wrapping_add(relocation.addend.unwrap_or(old));
                to.copy_from_slice(&address.to_le_bytes());
            }
            LOW_WORD | HIGH_WORD => {
                const FIELD: u64 = (u32::MAX as u64) << IMMEDIATE;
                // Half of an addend says nothing of the other half, which the carry would come from.
                let addend = match relocation.addend {
                    Some(addend) => addend,
                    None if old & FIELD == 0 => 0,
                    None => return Err(unsupported),
                };
                let address = symbol.wrapping_add(addend);
                let half = if relocation.kind == LOW_WORD { address & 0xffff_ffff } else { address >> 32 };
                // Another relocation may have written to other bits of this word.
                let now = u64::from_le_bytes(*to.first_chunk().unwrap_or(&[0; 8]));
                to.copy_from_slice(&(now & !FIELD | half << IMMEDIATE).to_le_bytes());
            }
            _ => return Err(unsupported),
        }
        Ok(())
    }
}
