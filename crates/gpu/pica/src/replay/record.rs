//! Captures being made.

use super::list::CommandList;
use super::op::{MACHINE, Operation, Shown};
use crate::transfer::{DisplayTransfer, Fill, TextureCopy};
use xenoglot_capture::{Block, Capture, Info};

/// Writes down what a GPU is told, in order.
#[derive(Clone, Debug)]
pub struct Recorder {
    capture: Capture,
}

impl Recorder {
    /// Nothing has happened, memory and registers are 0.
    pub fn new(info: Info) -> Recorder {
        Recorder { capture: Capture::new(MACHINE, info) }
    }

    /// A register before the first operation.
    pub fn register(&mut self, register: u32, value: u32) {
        self.capture.registers.push((register, value));
    }

    /// Memory before the first operation.
    pub fn memory(&mut self, address: u32, bytes: Vec<u8>) {
        self.capture.memory.push(Block { address, bytes });
    }

    /// Records an operation.
    ///
    /// # Panics
    /// On memory writes of 4 GiB.
    pub fn push(&mut self, operation: &Operation) {
        operation.encode(&mut self.capture.ops);
    }

    /// Writes a command list to an address and runs it, as the guest's processor does.
    pub fn list(&mut self, address: u32, list: &CommandList) {
        let bytes = list.to_bytes();
        self.push(&Operation::Memory { address, bytes: &bytes });
        self.push(&Operation::List { address, bytes: bytes.len() as u32 });
    }

    /// Memory fill.
    pub fn fill(&mut self, fill: Fill) {
        self.push(&Operation::Fill(fill));
    }

    /// Display transfer.
    pub fn display_transfer(&mut self, transfer: DisplayTransfer) {
        self.push(&Operation::Display(transfer));
    }

    /// Texture copy.
    pub fn texture_copy(&mut self, copy: TextureCopy) {
        self.push(&Operation::Copy(copy));
    }

    /// The frame ends.
    pub fn end_frame(&mut self, shown: Shown) {
        self.push(&Operation::Frame(shown));
    }

    /// The capture.
    pub fn finish(self) -> Capture {
        self.capture
    }
}
