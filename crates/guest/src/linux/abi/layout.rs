//! Structures as bytes, in the guest's order.

use xenoglot_mips::Endian;

/// A structure that grows field by field.
#[derive(Debug)]
pub(crate) struct Layout {
    endian: Endian,
    pub bytes: Vec<u8>,
}

impl Layout {
    pub fn new(endian: Endian) -> Layout {
        Layout { endian, bytes: Vec::new() }
    }

    pub fn u16(mut self, value: u16) -> Layout {
        let bytes = if self.endian == Endian::Big { value.to_be_bytes() } else { value.to_le_bytes() };
        self.bytes.extend(bytes);
        self
    }

    pub fn u32(mut self, value: u32) -> Layout {
        let bytes = if self.endian == Endian::Big { value.to_be_bytes() } else { value.to_le_bytes() };
        self.bytes.extend(bytes);
        self
    }

    pub fn u64(mut self, value: u64) -> Layout {
        let bytes = if self.endian == Endian::Big { value.to_be_bytes() } else { value.to_le_bytes() };
        self.bytes.extend(bytes);
        self
    }

    pub fn words(mut self, values: impl IntoIterator<Item = u32>) -> Layout {
        for value in values {
            self = self.u32(value);
        }
        self
    }

    pub fn raw(mut self, bytes: &[u8]) -> Layout {
        self.bytes.extend(bytes);
        self
    }

    /// Zeros up to an offset.
    pub fn pad_to(mut self, offset: usize) -> Layout {
        self.bytes.resize(self.bytes.len().max(offset), 0);
        self
    }
}
