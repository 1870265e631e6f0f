//! What the driver sets up for a launch: global memory, constant banks, windows.

use super::format::{Kernel, Param, Variant};
use xenoglot_maxwell::container::Cubin;
use xenoglot_maxwell::gpu::ConstantWord;
use xenoglot_maxwell::launch::{self, Memory, STACK_BYTES, put, stack_bytes};
use xenoglot_maxwell::lift::{
    ConstantBank, GlobalMemory, Kernel as Program, LiftError, LiftOptions, Lifted, lift_compute,
};

/// Guest address of the first byte of global memory; its upper half is not zero so that code that loses it fails.
pub const BASE: u64 = 0x1_0000_0000;
/// Guest address of the generic window of shared memory.
pub const SHARED_WINDOW: u32 = 0x0100_0000;
/// Guest address of the generic window of local memory.
pub const LOCAL_WINDOW: u32 = 0x0200_0000;
/// Bytes of a constant bank.
pub const BANK_BYTES: usize = 0x1_0000;
/// Most bytes of global memory.
const MAX_MEMORY: usize = 64 << 20;

/// A launch of one variant.
pub struct Launch<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    variant: &'a Variant,
    code: &'a [u8],
    /// Where computed calls go.
    functions: Vec<u32>,
    /// Global memory before the run.
    pub memory: Memory,
    /// Constant banks by number, each of its own size.
    pub banks: Vec<(u32, Vec<u8>)>,
}

impl<'a> Launch<'a> {
    /// Lays out memory and constants.
    ///
    /// # Errors
    /// A description that contradicts itself or the cubin.
    pub fn new(kernel: &'a Kernel, variant: &'a Variant, cubin: &'a [u8]) -> Result<Launch<'a>, String> {
        let range = usize::try_from(variant.code_offset).ok().zip(usize::try_from(variant.code_size).ok());
        let code = range.and_then(|(at, size)| cubin.get(at..at.checked_add(size)?));
        let code = code.ok_or("the code lies outside the cubin")?;
        let mut memory = Memory::new(BASE);
        let mut addresses = Vec::new();
        for buffer in &kernel.buffers {
            let size = memory.bytes().len() + buffer.before.len();
            if buffer.before.len() != buffer.bytes as usize || size > MAX_MEMORY {
                return Err(format!("buffer {} has another size than its contents", buffer.name));
            }
            addresses.push(memory.add(&buffer.before));
        }
        let mut globals = Vec::new();
        for section in &variant.global_sections {
            let size = memory.bytes().len() + section.bytes as usize;
            let data = section.data.clone().unwrap_or_else(|| vec![0; section.bytes as usize]);
            if data.len() != section.bytes as usize || size > MAX_MEMORY {
                return Err(format!("{} has another size than its contents", section.section));
            }
            globals.push((section.section.as_str(), memory.add(&data), data));
        }
        let cubin = Cubin::parse(cubin).map_err(|e| e.to_string())?;
        let functions = cubin.kernel(&kernel.name).map(|k| k.functions.clone()).unwrap_or_default();
        let mut launch = Launch { kernel, variant, code, functions, memory, banks: Vec::new() };
        let bank0 = launch.bank0(&addresses)?;
        launch.banks.push((0, bank0));
        for bank in &variant.const_banks {
            if let (1.., Some(data)) = (bank.bank, &bank.data) {
                launch.banks.push((bank.bank, data.clone()));
            }
        }
        launch.relocate(&mut globals)?;
        Ok(launch)
    }

    /// Writes addresses of global data to banks and global data.
    fn relocate(&mut self, globals: &mut [(&str, u64, Vec<u8>)]) -> Result<(), String> {
        for r in &self.variant.relocations {
            let target = globals.iter().find(|g| g.0 == r.target_section).ok_or("no such global data")?.1;
            let address = target.wrapping_add(r.target_offset).wrapping_add(r.addend);
            let number = r.section.strip_prefix(".nv.constant").and_then(|n| n.split('.').next());
            let bank: Option<u32> = number.and_then(|n| n.parse().ok());
            let data = match bank {
                Some(number) => self.banks.iter_mut().find(|(bank, _)| *bank == number).map(|(_, data)| data),
                None => globals.iter_mut().find(|g| g.0 == r.section).map(|g| &mut g.2),
            };
            if !matches!(r.kind, 2 | 4) {
                return Err(format!("a relocation of type {}", r.kind));
            }
            put(data.ok_or("a relocation of nothing")?, r.offset, &address.to_le_bytes())
                .map_err(|e| e.to_string())?;
        }
        for (_, address, data) in globals {
            self.memory.replace(*address, data);
        }
        Ok(())
    }

    /// Memory from the address in two words of a constant bank on, if there is any.
    pub fn memory_from(&self, address: ConstantWord) -> Option<&[u8]> {
        let (_, bank) = self.banks.iter().find(|(bank, _)| *bank == u32::from(address.bank))?;
        let words = bank.get(address.offset as usize..)?.first_chunk()?;
        let at = u64::from_le_bytes(*words).checked_sub(BASE)?;
        self.memory.bytes().get(usize::try_from(at).ok()?..)
    }

    /// Constant bank 0 as FORMAT.md says the driver fills it.
    fn bank0(&self, addresses: &[u64]) -> Result<Vec<u8>, String> {
        let stated = self.variant.const_banks.iter().find(|b| b.bank == 0).map_or(0, |b| b.size as usize);
        let mut bank = vec![0; stated.min(BANK_BYTES)];
        let launch = launch::Launch {
            grid: self.kernel.grid,
            workgroup: self.kernel.block,
            shared_window: SHARED_WINDOW,
            local_window: LOCAL_WINDOW,
            local_bytes: stack_bytes(self.variant.local_bytes, STACK_BYTES),
        };
        launch.fill(&mut bank).map_err(|e| e.to_string())?;
        let places = self.variant.param_offsets.iter().zip(&self.variant.param_sizes);
        for (param, (&offset, &size)) in self.kernel.params.iter().zip(places) {
            let address = |i: usize| addresses.get(i).ok_or("a parameter names no buffer");
            let bytes = match param {
                Param::Value(value) => value.to_le_bytes().to_vec(),
                Param::Buffer(i) => address(*i)?.to_le_bytes().to_vec(),
                Param::Struct { bytes, pointers } => {
                    let mut bytes = bytes.clone();
                    for pointer in pointers {
                        let address = address(pointer.buffer)?.to_le_bytes();
                        put(&mut bytes, pointer.offset, &address).map_err(|e| e.to_string())?;
                    }
                    bytes
                }
            };
            let bytes = bytes.get(..size as usize).ok_or("a parameter of more bytes than it has")?;
            put(&mut bank, offset, bytes).map_err(|e| e.to_string())?;
        }
        Ok(bank)
    }

    /// Lifts the variant.
    ///
    /// # Errors
    /// The lifter's.
    pub fn lift(&self) -> Result<Lifted, LiftError> {
        let constants: Vec<ConstantBank> = self
            .banks
            .iter()
            .filter(|(bank, _)| *bank != 0)
            .map(|(bank, data)| ConstantBank { bank: *bank, data })
            .collect();
        let program = Program {
            code: self.code,
            entry: 0,
            workgroup: self.kernel.block,
            shared_bytes: self.variant.shared_bytes,
            local_bytes: stack_bytes(self.variant.local_bytes, STACK_BYTES),
            constants: &constants,
            functions: &self.functions,
        };
        lift_compute(&program, &options())
    }
}

/// How variants are lifted.
pub fn options() -> LiftOptions {
    LiftOptions {
        global: GlobalMemory::Window { base: BASE },
        shared_window: SHARED_WINDOW,
        local_window: LOCAL_WINDOW,
        ..LiftOptions::default()
    }
}
