//! The container's operations and their types.

use crate::gpu::Gpu;
use crate::lcd::Frame;
use crate::memory::Memory;
use crate::renderer::Renderer;
use crate::transfer::{DisplayTransfer, Fill, Pixel, TextureCopy};
use thiserror::Error;
use xenoglot_capture::{FRAME_END, MEMORY_WRITE, Op, Stream};

/// What captures of this machine are marked with.
pub const MACHINE: [u8; 4] = *b"PICA";

const REGISTER: u32 = 16;
const LIST: u32 = 17;
const FILL: u32 = 18;
const DISPLAY: u32 = 19;
const COPY: u32 = 20;

/// The frame that is shown: rows of pixels in memory, from top to bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Physical address of the first pixel.
    pub address: u32,
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// As in display transfers: 0 RGBA8, 1 RGB8, 2 RGB565, 3 RGB5A1, 4 RGBA4.
    pub format: u32,
    /// The picture lies on its side, like the console's screens: a quarter turn to the left makes it upright.
    pub on_its_side: bool,
}

impl Shown {
    /// Where its pixels are; rows follow each other.
    pub fn frame(&self) -> Frame {
        let Shown { address, width, height, format, on_its_side } = *self;
        let bytes = Pixel::of(format).map_or(0, Pixel::bytes);
        let bytes_per_row = width.wrapping_mul(bytes);
        Frame { address, width, height, bytes_per_row, format, on_its_side, gamma: None }
    }
}

/// Something that happens to a PICA200.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// A frame ends and is shown.
    Frame(Shown),
    /// The guest's processor writes to memory.
    Memory {
        /// Physical address.
        address: u32,
        /// What is written.
        bytes: &'a [u8],
    },
    /// A register write outside a command list.
    Register {
        /// Register index.
        register: u32,
        /// The parameter.
        value: u32,
        /// Bytes of the register that change, a bit each.
        mask: u8,
    },
    /// A command list in memory is run.
    List {
        /// Physical address.
        address: u32,
        /// Bytes.
        bytes: u32,
    },
    /// Memory fill.
    Fill(Fill),
    /// Display transfer.
    Display(DisplayTransfer),
    /// Texture copy.
    Copy(TextureCopy),
}

/// Why an operation of the container is none of this machine.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum OpError {
    /// A kind that there is not.
    #[error("there is no operation of kind {0}")]
    Kind(u32),
    /// A payload of another length than the kind has.
    #[error("{bytes} bytes in an operation of kind {kind}")]
    Length {
        /// The kind.
        kind: u32,
        /// Bytes of the payload.
        bytes: usize,
    },
}

/// Bytes that are not all memory.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{bytes} bytes at {address:#010x} are not all memory")]
pub struct Unmapped {
    /// Physical address.
    pub address: u32,
    /// Bytes from there on.
    pub bytes: u64,
}

/// A payload of exactly `N` words.
fn words<const N: usize>(op: &Op) -> Result<[u32; N], OpError> {
    let error = OpError::Length { kind: op.kind, bytes: op.payload.len() };
    let (words, rest) = op.payload.as_chunks::<4>();
    let words: &[[u8; 4]; N] = words.try_into().map_err(|_| error)?;
    if rest.is_empty() { Ok(words.map(u32::from_le_bytes)) } else { Err(error) }
}

impl<'a> Operation<'a> {
    /// The meaning of an operation.
    ///
    /// # Errors
    /// [`OpError`].
    pub fn decode(op: &Op<'a>) -> Result<Operation<'a>, OpError> {
        Ok(match op.kind {
            FRAME_END => {
                let [address, width, height, format, flags] = words(op)?;
                Operation::Frame(Shown { address, width, height, format, on_its_side: flags & 1 != 0 })
            }
            MEMORY_WRITE => {
                let length = OpError::Length { kind: op.kind, bytes: op.payload.len() };
                let (address, bytes) = op.payload.split_first_chunk().ok_or(length)?;
                Operation::Memory { address: u32::from_le_bytes(*address), bytes }
            }
            REGISTER => {
                let [register, value, mask] = words(op)?;
                Operation::Register { register, value, mask: mask as u8 & 0xf }
            }
            LIST => {
                let [address, bytes] = words(op)?;
                Operation::List { address, bytes }
            }
            FILL => {
                let [start, end, value, control] = words(op)?;
                Operation::Fill(Fill { start, end, value, control })
            }
            DISPLAY => {
                let [src, dst, out_size, in_size, flags] = words(op)?;
                Operation::Display(DisplayTransfer { src, dst, out_size, in_size, flags })
            }
            COPY => {
                let [src, dst, bytes, in_line, out_line, flags] = words(op)?;
                Operation::Copy(TextureCopy { src, dst, bytes, in_line, out_line, flags })
            }
            kind => return Err(OpError::Kind(kind)),
        })
    }

    /// Appends the operation to a stream.
    ///
    /// # Panics
    /// On memory writes of 4 GiB.
    pub fn encode(&self, stream: &mut Stream) {
        match *self {
            Operation::Frame(Shown { address, width, height, format, on_its_side }) => {
                stream.push_words(FRAME_END, &[address, width, height, format, on_its_side.into()]);
            }
            Operation::Memory { address, bytes } => {
                stream.push(MEMORY_WRITE, &[&address.to_le_bytes(), bytes]);
            }
            Operation::Register { register, value, mask } => {
                stream.push_words(REGISTER, &[register, value, mask.into()]);
            }
            Operation::List { address, bytes } => stream.push_words(LIST, &[address, bytes]),
            Operation::Fill(Fill { start, end, value, control }) => {
                stream.push_words(FILL, &[start, end, value, control]);
            }
            Operation::Display(DisplayTransfer { src, dst, out_size, in_size, flags }) => {
                stream.push_words(DISPLAY, &[src, dst, out_size, in_size, flags]);
            }
            Operation::Copy(TextureCopy { src, dst, bytes, in_line, out_line, flags }) => {
                stream.push_words(COPY, &[src, dst, bytes, in_line, out_line, flags]);
            }
        }
    }

    /// Does the operation: what the guest's processor or the GPU does. Nothing happens at the end of a frame.
    ///
    /// # Errors
    /// A memory write outside memory does nothing.
    pub fn run<R: Renderer>(&self, gpu: &mut Gpu<R>, memory: &mut dyn Memory) -> Result<(), Unmapped> {
        // Whoever wants to know the cycles observes the GPU.
        let _cycles = match *self {
            Operation::Frame(_) => 0,
            Operation::Memory { address, bytes } => {
                let error = Unmapped { address, bytes: bytes.len() as u64 };
                let len = u32::try_from(bytes.len()).map_err(|_| error)?;
                if len != 0 {
                    gpu.flush_region(memory, address, len);
                    memory.bytes_mut(address, len).ok_or(error)?.copy_from_slice(bytes);
                    gpu.invalidate_region(address, len);
                }
                0
            }
            Operation::Register { register, value, mask } => {
                gpu.write_register_bytes(memory, register, value, mask)
            }
            Operation::List { address, bytes } => gpu.run_command_list(memory, address, bytes),
            Operation::Fill(fill) => gpu.fill(memory, &fill),
            Operation::Display(transfer) => gpu.display_transfer(memory, &transfer),
            Operation::Copy(copy) => gpu.texture_copy(memory, &copy),
        };
        Ok(())
    }

    /// Bytes of memory that the operation itself touches, for limits; those a command list draws are not among them.
    pub(super) fn bytes(&self) -> u64 {
        let pixels = |size: u32| u64::from(size & 0xffff) * u64::from(size >> 16) * 4;
        match *self {
            Operation::Frame(shown) => u64::from(shown.width) * u64::from(shown.height) * 4,
            Operation::Memory { bytes, .. } => bytes.len() as u64,
            Operation::Register { .. } | Operation::List { .. } => 0,
            Operation::Fill(fill) => fill.end.saturating_sub(fill.start).into(),
            Operation::Display(transfer) => pixels(transfer.in_size).max(pixels(transfer.out_size)),
            Operation::Copy(copy) => copy.bytes.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn operation(kind: u32, w: [u32; 6], bytes: &[u8]) -> Operation<'_> {
        let [a, b, c, d, e, f] = w;
        match kind {
            0 => Operation::Frame(Shown {
                address: a,
                width: b,
                height: c,
                format: d,
                on_its_side: e & 1 != 0,
            }),
            1 => Operation::Memory { address: a, bytes },
            2 => Operation::Register { register: a, value: b, mask: c as u8 & 0xf },
            3 => Operation::List { address: a, bytes: b },
            4 => Operation::Fill(Fill { start: a, end: b, value: c, control: d }),
            5 => Operation::Display(DisplayTransfer { src: a, dst: b, out_size: c, in_size: d, flags: e }),
            _ => Operation::Copy(TextureCopy { src: a, dst: b, bytes: c, in_line: d, out_line: e, flags: f }),
        }
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(256))]

        #[test]
        fn there_and_back(kind in 0u32..7, words: [u32; 6], bytes: Vec<u8>) {
            let operation = operation(kind, words, &bytes);
            let mut stream = Stream::default();
            operation.encode(&mut stream);
            let op = stream.iter().next().unwrap();
            prop_assert_eq!(Operation::decode(&op), Ok(operation));
        }

        #[test]
        fn any_operation_is_decoded_or_refused(kind in 0u32..24, payload: Vec<u8>) {
            let _ = Operation::decode(&Op { kind, payload: &payload });
        }
    }

    #[test]
    fn errors_name_kind_and_length() {
        let decode = |kind, payload: &[u8]| Operation::decode(&Op { kind, payload }).unwrap_err();
        assert_eq!(decode(15, &[]), OpError::Kind(15));
        assert_eq!(decode(LIST, &[0; 7]), OpError::Length { kind: LIST, bytes: 7 });
        assert_eq!(decode(LIST, &[0; 9]), OpError::Length { kind: LIST, bytes: 9 });
        assert_eq!(decode(MEMORY_WRITE, &[0; 3]), OpError::Length { kind: MEMORY_WRITE, bytes: 3 });
    }
}
