//! Where the input registers of a batch come from.

use super::packed::Packed;
use crate::memory::Memory;
use crate::vertex_loader::Loader;
use std::cell::{Cell, OnceCell};

/// The input registers of a batch: registers, or arrays in guest memory that they are yet to be loaded from. Engines that
/// want registers have them loaded, once for all engines that try; one that fetches by itself does not.
#[derive(Clone, Copy)]
pub struct Inputs<'a>(Source<'a>);

#[derive(Clone, Copy)]
enum Source<'a> {
    Registers(&'a Packed),
    Arrays(&'a Arrays<'a>),
}

impl<'a> From<&'a Packed> for Inputs<'a> {
    fn from(registers: &'a Packed) -> Self {
        Inputs(Source::Registers(registers))
    }
}

impl<'a> From<&'a Arrays<'a>> for Inputs<'a> {
    fn from(arrays: &'a Arrays<'a>) -> Self {
        Inputs(Source::Arrays(arrays))
    }
}

impl<'a> Inputs<'a> {
    /// How many vertices.
    pub fn vertices(&self) -> usize {
        match self.0 {
            Source::Registers(registers) => registers.vertices(),
            Source::Arrays(arrays) => arrays.vertices.len(),
        }
    }

    /// The registers.
    pub fn registers(&self) -> &'a Packed {
        match self.0 {
            Source::Registers(registers) => registers,
            Source::Arrays(arrays) => arrays.load(),
        }
    }

    /// The arrays, unless there are only registers.
    #[cfg(feature = "host")]
    pub(super) fn arrays(&self) -> Option<&'a Arrays<'a>> {
        match self.0 {
            Source::Registers(_) => None,
            Source::Arrays(arrays) => Some(arrays),
        }
    }
}

/// Vertices in guest memory.
pub(crate) struct Arrays<'a> {
    pub loader: &'a Loader,
    pub memory: &'a dyn Memory,
    /// Their numbers.
    pub vertices: &'a [u32],
    /// The registers that the program reads.
    pub set: u16,
    loaded: OnceCell<Packed>,
    /// An allocation for them.
    spare: Cell<Packed>,
}

impl<'a> Arrays<'a> {
    /// Registers are loaded into `spare`.
    pub fn new(
        loader: &'a Loader,
        memory: &'a dyn Memory,
        vertices: &'a [u32],
        set: u16,
        spare: Packed,
    ) -> Arrays<'a> {
        Arrays { loader, memory, vertices, set, loaded: OnceCell::new(), spare: Cell::new(spare) }
    }

    fn load(&self) -> &Packed {
        self.loaded.get_or_init(|| {
            let mut registers = self.spare.take();
            registers.reset(self.set, self.vertices.len());
            self.loader.load(self.memory, self.vertices, &mut registers);
            registers
        })
    }

    /// The allocation.
    pub fn into_spare(self) -> Packed {
        self.loaded.into_inner().unwrap_or_else(|| self.spare.take())
    }
}
