//! Buffers, and reading them back.

use std::ops::Range;
use std::sync::mpsc;
use std::time::Duration;

use crate::{Device, Error};

/// What every buffer can do.
const USAGES: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::UNIFORM)
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

/// Memory of the device. Clones are the same memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Buffer {
    pub(crate) raw: wgpu::Buffer,
}

impl Buffer {
    /// A buffer that the caller has made. Programs read and write those with the usage `STORAGE`.
    pub fn from_wgpu(buffer: &wgpu::Buffer) -> Buffer {
        Buffer { raw: buffer.clone() }
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.raw.size()
    }

    /// What wgpu has.
    pub fn wgpu(&self) -> &wgpu::Buffer {
        &self.raw
    }
}

impl Device {
    /// A buffer of `size` bytes, rounded up to a multiple of 4 and at least 4, all 0.
    ///
    /// # Errors
    /// [`Error::Buffer`] if it is too large.
    pub fn buffer(&self, size: u64) -> Result<Buffer, Error> {
        self.make(size, USAGES, false)
    }

    /// A buffer with these words; one of 0 if there are none.
    ///
    /// # Errors
    /// [`Error::Buffer`] if there are too many, [`Error::Lost`].
    pub fn buffer_of(&self, words: &[u32]) -> Result<Buffer, Error> {
        let size = size_of_val(words) as u64;
        let buffer = self.make(size, USAGES, true)?;
        let refused = |e: wgpu::MapRangeError| self.lost_or(Error::Buffer { size, reason: e.to_string() });
        buffer
            .raw
            .get_mapped_range_mut(..)
            .map_err(refused)?
            .slice(..size as usize)
            .copy_from_slice(bytemuck::cast_slice(words));
        buffer.raw.unmap();
        Ok(buffer)
    }

    /// A buffer of `size` bytes as [`Device::buffer`] makes it, whose words may be how many workgroups
    /// [`crate::Commands::dispatch_indirect`] runs over.
    ///
    /// # Errors
    /// [`Error::Buffer`] if it is too large.
    pub fn indirect_buffer(&self, size: u64) -> Result<Buffer, Error> {
        self.make(size, USAGES | wgpu::BufferUsages::INDIRECT, false)
    }

    pub(crate) fn make(&self, size: u64, usage: wgpu::BufferUsages, mapped: bool) -> Result<Buffer, Error> {
        let refused = |reason: String| Error::Buffer { size, reason };
        if size > self.max_buffer() {
            return Err(refused(format!("the device allows {}", self.max_buffer())));
        }
        let size = size.next_multiple_of(4).max(4);
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: mapped };
        let made = self.attempt(|| self.raw.create_buffer(&descriptor));
        let raw = made.map_err(|reason| self.lost_or(refused(reason)))?;
        Ok(Buffer { raw })
    }

    /// Waits for the device and reads parts of buffers, in bytes; multiples of 4.
    ///
    /// # Errors
    /// [`Error::Arguments`] if a part is not in its buffer, [`Error::Buffer`], [`Error::Timeout`],
    /// [`Error::Device`], [`Error::Lost`].
    pub fn read(&self, parts: &[(&Buffer, Range<u64>)]) -> Result<Vec<Vec<u32>>, Error> {
        let sizes: Vec<u64> = parts.iter().map(|(_, part)| part.end.saturating_sub(part.start)).collect();
        let total: u64 = sizes.iter().sum();
        if total == 0 {
            self.wait()?;
            return Ok(vec![Vec::new(); parts.len()]);
        }
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.make(total, usage, false)?;
        let copied = self.attempt(|| {
            let mut encoder = self.raw.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let mut at = 0;
            for ((buffer, part), &size) in parts.iter().zip(&sizes) {
                encoder.copy_buffer_to_buffer(&buffer.raw, part.start, &staging.raw, at, size);
                at += size;
            }
            self.queue.submit([encoder.finish()]);
        });
        copied.map_err(|reason| self.lost_or(Error::Arguments(reason)))?;
        let (send, receive) = mpsc::channel();
        staging.raw.map_async(wgpu::MapMode::Read, .., move |done| {
            // The receiver is gone only if the wait below failed.
            let _ = send.send(done);
        });
        self.wait()?;
        let failed = |reason: String| Error::Device(reason);
        // Another thread that waits for the device may have taken the message that it is mapped, and not passed it on yet.
        match receive.recv_timeout(Duration::from_secs(self.timeout_s)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Err(mpsc::RecvTimeoutError::Timeout) => return Err(Error::Timeout(self.timeout_s)),
            Err(error) => return Err(failed(error.to_string())),
        }
        let bytes = staging.raw.get_mapped_range(..).map_err(|e| failed(e.to_string()))?;
        let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
        let mut rest = words.as_slice();
        Ok(sizes
            .iter()
            .map(|&size| {
                let (part, tail) = rest.split_at(rest.len().min(size as usize / 4));
                rest = tail;
                part.to_vec()
            })
            .collect())
    }
}
