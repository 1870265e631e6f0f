//! Programs into memory: segments, the dynamic loader a program asks for, and the first stack.
//!
//! The stack holds, from the stack pointer up: the number of arguments, pointers to them, pointers to the environment,
//! and the auxiliary vector, each list ending with zero; above them the strings they point to (System V ABI, MIPS
//! supplement, "Process Initialization").

use super::abi::{Errno, Layout};
use super::backtrace::Symbols;
use super::fs::resolve::{Purpose, Root};
use super::process::{Program, Space};
use super::shared::Shared;
use crate::cpu::{Cpu, reg};
use crate::memory::{Fault, Memory, PAGE_BYTES, Rights};
use rustix::fs::{FileType, Mode, OFlags};
use std::sync::Arc;
use thiserror::Error;
use xenoglot_mips::Endian;
use xenoglot_mips::container::elf::{self, Elf, Kind, Limits};

/// Where the stack ends.
const STACK_TOP: u32 = 0x7fff_6000;
/// The page of the kernel's own code.
pub(super) const TRAMPOLINE_PAGE: u32 = 0x7fff_7000;
/// Where programs that may lie anywhere are put: two thirds of the address space, as Linux does.
const SHARED_BASE: u32 = 0x5555_0000;
/// The lowest address that is ever mapped (`vm.mmap_min_addr`).
pub(super) const LOWEST: u32 = 0x1_0000;
/// Distance of the mappings from the stack.
const STACK_GAP: u32 = 0x10_0000;
/// Bytes of a program that is read from a file.
const MAX_FILE: u64 = 1 << 30;

/// Why a program does not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is no program for this processor.
    #[error("{path}: {error}")]
    Elf {
        /// The program or its loader.
        path: String,
        /// What is wrong.
        error: elf::Error,
    },
    /// A program of another architecture or calling convention.
    #[error("{path}: {problem}")]
    Unsupported {
        /// The program or its loader.
        path: String,
        /// What of it is not supported.
        problem: &'static str,
    },
    /// The dynamic loader is not there.
    #[error(
        "the program wants the loader {path}, which is not there; a folder that has it can be given as sysroot"
    )]
    Loader {
        /// Path of the loader.
        path: String,
    },
    /// Two parts of the program lie in one place, or one lies where nothing may lie.
    #[error("a segment at {address:#x} with {size:#x} bytes overlaps the stack or lies below {LOWEST:#x}")]
    Place {
        /// Address of the segment.
        address: u32,
        /// Its size.
        size: u32,
    },
    /// Arguments and environment are too long.
    #[error("arguments and environment need more than a quarter of the stack")]
    Arguments,
    /// The memory limit is too low.
    #[error("the program does not fit into memory")]
    Memory(#[from] Fault),
    /// A folder cannot be opened.
    #[error("{path}: {error}")]
    Folder {
        /// The folder.
        path: String,
        /// Why.
        error: std::io::Error,
    },
}

impl LoadError {
    pub(super) fn errno(&self) -> Errno {
        match self {
            LoadError::Elf { .. } | LoadError::Unsupported { .. } | LoadError::Place { .. } => Errno::ENOEXEC,
            LoadError::Loader { .. } | LoadError::Folder { .. } => Errno::ENOENT,
            LoadError::Arguments => Errno::E2BIG,
            LoadError::Memory(_) => Errno::ENOMEM,
        }
    }
}

/// What is added to the addresses of a program's file where it lies in memory.
pub fn load_bias(elf: &Elf<'_>) -> u32 {
    if elf.kind == Kind::Shared { SHARED_BASE.wrapping_sub(span(elf).0) } else { 0 }
}

/// A program in memory, before its first instruction.
#[derive(Debug)]
pub struct Loaded {
    pub(super) memory: Memory,
    pub(super) cpu: Cpu,
    pub(super) space: Space,
    pub(super) program: Program,
}

/// Reads a file of the guest's, whole.
pub(super) fn read_file(root: &Root, path: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Errno> {
    let place = root.resolve(path, true, Purpose::Find)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let fd = rustix::fs::openat(&place.dir, place.name.as_slice(), flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&fd)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Errno::EACCES);
    }
    if stat.st_size as u64 > MAX_FILE {
        return Err(Errno::ENOMEM);
    }
    let mut bytes = Vec::new();
    let mut file = std::io::Read::take(std::fs::File::from(fd), MAX_FILE);
    std::io::Read::read_to_end(&mut file, &mut bytes).map_err(|_| Errno::EIO)?;
    Ok((bytes, place.path))
}

fn lossy(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

fn page_floor(address: u32) -> u32 {
    address & !(PAGE_BYTES - 1)
}

/// Rights of a segment or mapping; what is readable is executable where the program does not say otherwise.
pub(super) fn rights(read: bool, write: bool, execute: bool, all_executable: bool) -> Rights {
    let execute = execute || read && all_executable;
    Rights::from_bits(u32::from(read) | u32::from(write) << 1 | u32::from(execute) << 2)
}

/// The span of a file's segments: from the lowest to the end of the highest.
fn span(elf: &Elf<'_>) -> (u32, u64) {
    let low = elf.segments.iter().map(|segment| page_floor(segment.address)).min().unwrap_or_default();
    let end = elf.segments.iter().map(|s| u64::from(s.address) + u64::from(s.size)).max().unwrap_or_default();
    (low, end)
}

/// Maps the segments `bias` above their addresses; answers where they end.
fn map_segments(
    memory: &mut Memory,
    elf: &Elf<'_>,
    bias: u32,
    executable: bool,
    limit: u32,
) -> Result<u32, LoadError> {
    let total: u64 = elf.segments.iter().map(|segment| u64::from(segment.size)).sum();
    if let Some(first) = elf.segments.first().filter(|_| total > 1 << 32) {
        // They lie over one another: mapping them again and again would take its time.
        return Err(LoadError::Place { address: first.address, size: first.size });
    }
    let mut end = 0;
    for segment in elf.segments.iter().filter(|segment| segment.size != 0) {
        let start = segment.address.wrapping_add(bias);
        let stop = u64::from(start) + u64::from(segment.size);
        if start < LOWEST || stop > u64::from(limit) {
            return Err(LoadError::Place { address: start, size: segment.size });
        }
        let wanted = rights(segment.rights.read, segment.rights.write, segment.rights.execute, executable);
        // A page may be shared by two segments: the rights of both are given.
        let pages = (page_floor(start)..stop.min(u32::MAX.into()) as u32).step_by(PAGE_BYTES as usize);
        for page in pages {
            match memory.rights(page) {
                None => memory.map(page, PAGE_BYTES.into(), wanted),
                Some(has) => drop(memory.protect(page, PAGE_BYTES.into(), has.and(wanted))),
            }
        }
        memory.poke(start, segment.bytes)?;
        end = end.max(stop.min(u32::MAX.into()) as u32);
    }
    Ok(end)
}

fn check(elf: &Elf<'_>, path: &[u8]) -> Result<(), LoadError> {
    let problem = if elf.flags.other_architecture() {
        "code of a 64-bit or compressed instruction set, or of release 6"
    } else if elf.flags.other_abi() {
        "a calling convention other than o32"
    } else if elf.flags.nan2008() {
        "NaNs of IEEE 754-2008"
    } else if elf.float_abi == Some(elf::FloatAbi::Registers64) {
        "64-bit floating-point registers"
    } else {
        return Ok(());
    };
    Err(LoadError::Unsupported { path: lossy(path), problem })
}

/// What a program is started with.
#[derive(Debug)]
pub(super) struct Start<'a> {
    pub path: Vec<u8>,
    pub bytes: Arc<[u8]>,
    pub arguments: &'a [Vec<u8>],
    pub environment: &'a [Vec<u8>],
}

/// Loads a program.
pub(super) fn load(shared: &Shared, start: Start<'_>) -> Result<Loaded, LoadError> {
    let limits = Limits::default();
    let Start { path, bytes, arguments, environment } = start;
    let parse = |path: &[u8], error| LoadError::Elf { path: lossy(path), error };
    let elf = Elf::parse(&bytes, &limits).map_err(|error| parse(&path, error))?;
    check(&elf, &path)?;
    let stack_size = shared.config.stack.clamp(1 << 16, 1 << 30) & !(PAGE_BYTES - 1);
    let stack = STACK_TOP - stack_size;
    let top = stack - STACK_GAP;
    let mut memory = Memory::new(shared.config.memory);
    let executable = elf.executable_stack;
    let mut symbols = Symbols::default();

    let bias = load_bias(&elf);
    let end = map_segments(&mut memory, &elf, bias, executable, stack)?;
    symbols.add(&elf, bias, &path);
    let mut entry = elf.entry.wrapping_add(bias);
    let mut base = 0;
    if let Some(interpreter) = elf.interpreter {
        let missing = |_| LoadError::Loader { path: lossy(interpreter) };
        let (bytes, path) = read_file(&shared.root, interpreter).map_err(missing)?;
        let elf = Elf::parse(&bytes, &limits).map_err(|error| parse(&path, error))?;
        check(&elf, &path)?;
        let (low, stop) = span(&elf);
        if elf.kind == Kind::Shared {
            let size = stop - u64::from(low);
            let place = memory.find_free(size, LOWEST, top);
            base = place.ok_or(LoadError::Place { address: low, size: size as u32 })?.wrapping_sub(low);
        }
        map_segments(&mut memory, &elf, base, executable, stack)?;
        symbols.add(&elf, base, &path);
        entry = elf.entry.wrapping_add(base);
    }

    memory.map(stack, stack_size.into(), rights(true, true, false, executable));
    memory.map(TRAMPOLINE_PAGE, PAGE_BYTES.into(), rights(true, false, true, false));
    let code = Layout::new(elf.endian).words(super::frame::TRAMPOLINE).bytes;
    memory.poke(TRAMPOLINE_PAGE, &code)?;

    let auxiliary = [
        (3, elf.headers_address.map_or(0, |address| address.wrapping_add(bias))), // AT_PHDR
        (4, 32),                                                                  // AT_PHENT
        (5, elf.headers.into()),                                                  // AT_PHNUM
        (6, PAGE_BYTES),                                                          // AT_PAGESZ
        (7, base),                                                                // AT_BASE
        (8, 0),                                                                   // AT_FLAGS
        (9, elf.entry.wrapping_add(bias)),                                        // AT_ENTRY
        (11, 0),                                                                  // AT_UID
        (12, 0),                                                                  // AT_EUID
        (13, 0),                                                                  // AT_GID
        (14, 0),                                                                  // AT_EGID
        (16, 0),   // AT_HWCAP: none for release 2
        (17, 100), // AT_CLKTCK
        (23, 0),   // AT_SECURE
    ];
    let mut random = [0; 16];
    shared.random(&mut random);
    let first =
        Stack { endian: elf.endian, arguments, environment, auxiliary: &auxiliary, random, path: &path };
    let sp = first.write(&mut memory, stack_size)?;
    let mut cpu = Cpu::new(elf.endian);
    cpu.pc = entry;
    cpu.set(reg::SP, sp);
    cpu.set(reg::T9, entry);
    let heap = end.next_multiple_of(PAGE_BYTES);
    let space = Space { heap, end: heap, top, executable, shared: Vec::new() };
    let program =
        Program { path, bytes: bytes.clone(), arguments: arguments.to_vec(), symbols: Arc::new(symbols) };
    Ok(Loaded { memory, cpu, space, program })
}

/// The first stack.
struct Stack<'a> {
    endian: Endian,
    arguments: &'a [Vec<u8>],
    environment: &'a [Vec<u8>],
    auxiliary: &'a [(u32, u32)],
    random: [u8; 16],
    path: &'a [u8],
}

impl Stack<'_> {
    /// Writes it below [`STACK_TOP`]; answers the stack pointer.
    fn write(&self, memory: &mut Memory, size: u32) -> Result<u32, LoadError> {
        // The strings, in order; each list of words points into them.
        let mut strings = Vec::new();
        let mut place = |bytes: &[u8]| {
            let at = strings.len() as u32;
            strings.extend(bytes);
            strings.push(0);
            at
        };
        let arguments: Vec<u32> = self.arguments.iter().map(|text| place(text)).collect();
        let environment: Vec<u32> = self.environment.iter().map(|text| place(text)).collect();
        let (path, platform, random) = (place(self.path), place(b"mips"), place(&self.random));
        let words = arguments.len() + environment.len() + 2 * self.auxiliary.len() + 2 * 4 + 3;
        if strings.len() + 4 * words > size as usize / 4 {
            return Err(LoadError::Arguments);
        }
        // The last word of the stack stays zero.
        let base = (STACK_TOP - 4 - strings.len() as u32) & !15;
        let at = |offset: u32| base.wrapping_add(offset);
        let layout = Layout::new(self.endian)
            .u32(arguments.len() as u32)
            .words(arguments.iter().copied().map(at))
            .u32(0)
            .words(environment.iter().copied().map(at))
            .u32(0)
            .words(self.auxiliary.iter().flat_map(|&(tag, value)| [tag, value]))
            // AT_RANDOM, AT_EXECFN, AT_PLATFORM, AT_NULL
            .words([25, at(random), 31, at(path), 15, at(platform), 0, 0]);
        let sp = base.wrapping_sub(layout.bytes.len() as u32) & !15;
        memory.write_bytes(sp, &layout.bytes)?;
        memory.write_bytes(base, &strings)?;
        Ok(sp)
    }
}
