//! What the rasteriser hands to a VPU.

use serde::{Deserialize, Serialize};
use xenoglot_vpu::REGISTERS;
use xenoglot_vpu::number::Lanes;

/// A pixel to be shaded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fragment {
    /// Place in the tile buffer.
    pub pixel: u16,
    /// What the thread starts with.
    pub registers: [Lanes; REGISTERS],
}

/// A queue of fixed length.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Queue {
    slots: Box<[Fragment]>,
    first: usize,
    len: usize,
}

impl Queue {
    pub fn new(length: u32) -> Queue {
        let empty = Fragment { pixel: 0, registers: [[0; 4]; REGISTERS] };
        Queue { slots: vec![empty; length as usize].into(), first: 0, len: 0 }
    }

    /// Whether it is a queue of `length` fragments of a tile buffer of so many pixels.
    pub fn is_sound(&self, length: u32, pixels: u32) -> bool {
        let slots = self.slots.len();
        slots == length as usize
            && self.first < slots
            && self.len <= slots
            && self.slots.iter().all(|f| u32::from(f.pixel) < pixels)
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Fragments it has room for.
    pub fn room(&self) -> u32 {
        (self.slots.len() - self.len) as u32
    }

    pub fn front(&self) -> Option<&Fragment> {
        (self.len > 0).then(|| &self.slots[self.first])
    }

    pub fn pop(&mut self) {
        if self.len > 0 {
            self.first = (self.first + 1) % self.slots.len();
            self.len -= 1;
        }
    }

    /// The slot behind the last fragment; it becomes part of the queue. `None` if the queue is full.
    pub fn push(&mut self) -> Option<&mut Fragment> {
        if self.len == self.slots.len() {
            return None;
        }
        let at = (self.first + self.len) % self.slots.len();
        self.len += 1;
        Some(&mut self.slots[at])
    }
}
