//! What the driver sets up for a launch: global memory, constant banks, windows.

use super::format::{Kernel, Param, Variant};
use xenoglot_maxwell::lift::{
    ConstantBank, GlobalMemory, Kernel as Program, LiftError, LiftOptions, Lifted, lift_compute,
};

/// Guest address of the first byte of global memory; its upper half is not zero so that code that loses it fails.
pub const BASE: u64 = 0x1_0000_0000;
/// Guest address of the generic window of shared memory.
pub const SHARED_WINDOW: u32 = 0x0100_0000;
/// Guest address of the generic window of local memory.
pub const LOCAL_WINDOW: u32 = 0x0200_0000;
/// Bytes around each buffer that nothing may change, and alignment of buffers.
const GUARD: usize = 0x100;
/// What they hold.
const FILL: u8 = 0xa5;
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
    /// Global memory before the run.
    pub memory: Vec<u8>,
    /// Where each buffer lies in it.
    pub places: Vec<usize>,
    /// Constant banks by number, each of its own size.
    pub banks: Vec<(u32, Vec<u8>)>,
}

fn put(bank: &mut [u8], offset: u32, bytes: &[u8]) -> Result<(), String> {
    let at = offset as usize;
    let to = at.checked_add(bytes.len()).and_then(|end| bank.get_mut(at..end));
    to.ok_or_else(|| format!("constant bank 0 has no {} bytes at {offset:#x}", bytes.len()))?
        .copy_from_slice(bytes);
    Ok(())
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
        let mut memory = vec![FILL; GUARD];
        let mut places = Vec::new();
        for buffer in &kernel.buffers {
            if buffer.before.len() != buffer.bytes as usize || memory.len() + buffer.before.len() > MAX_MEMORY
            {
                return Err(format!("buffer {} has another size than its contents", buffer.name));
            }
            places.push(memory.len());
            memory.extend_from_slice(&buffer.before);
            memory.resize(memory.len().next_multiple_of(GUARD) + GUARD, FILL);
        }
        let mut launch = Launch { kernel, variant, code, memory, places, banks: Vec::new() };
        let bank0 = launch.bank0()?;
        launch.banks.push((0, bank0));
        for bank in &variant.const_banks {
            if let (1.., Some(data)) = (bank.bank, &bank.data) {
                launch.banks.push((bank.bank, data.clone()));
            }
        }
        Ok(launch)
    }

    /// Bytes of local memory, with which the stack pointer starts.
    fn stack_bytes(&self) -> u32 {
        self.variant.local_bytes.saturating_add(15) & !15
    }

    /// Constant bank 0 as FORMAT.md says the driver fills it.
    fn bank0(&self) -> Result<Vec<u8>, String> {
        let stated = self.variant.const_banks.iter().find(|b| b.bank == 0).map_or(0, |b| b.size as usize);
        let mut bank = vec![0; stated.min(BANK_BYTES)];
        let ([bx, by, bz], [gx, gy, gz]) = (self.kernel.block, self.kernel.grid);
        for (offset, value) in [
            (0x00, SHARED_WINDOW),
            (0x04, LOCAL_WINDOW),
            (0x08, bx),
            (0x0c, by),
            (0x10, bz),
            (0x14, gx),
            (0x18, gy),
            (0x1c, gz),
            (0x20, self.stack_bytes()),
        ] {
            put(&mut bank, offset, &value.to_le_bytes())?;
        }
        let places = self.variant.param_offsets.iter().zip(&self.variant.param_sizes);
        for (param, (&offset, &size)) in self.kernel.params.iter().zip(places) {
            let value = match *param {
                Param::Value(value) => value,
                Param::Buffer(i) => {
                    let place = self.places.get(i).ok_or("a parameter names no buffer")?;
                    BASE + *place as u64
                }
            };
            let bytes = value.to_le_bytes();
            put(&mut bank, offset, bytes.get(..size as usize).ok_or("a parameter of more than 8 bytes")?)?;
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
            local_bytes: self.stack_bytes(),
            constants: &constants,
        };
        let options = LiftOptions {
            global: GlobalMemory::Window { base: BASE },
            shared_window: SHARED_WINDOW,
            local_window: LOCAL_WINDOW,
            ..LiftOptions::default()
        };
        lift_compute(&program, &options)
    }
}
