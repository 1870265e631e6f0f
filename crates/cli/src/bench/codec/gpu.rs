//! Decoders on the host's GPU.

#[cfg(feature = "gpu")]
use super::rate;
use anyhow::Result;
#[cfg(feature = "gpu")]
use std::time::Instant;
#[cfg(feature = "gpu")]
use xenoglot_host::Commands;
use xenoglot_texture::{Extent, Format};

/// Decoders on the host's GPU.
#[cfg(feature = "gpu")]
pub struct Gpu(xenoglot_texture::compute::Decoder);

#[cfg(feature = "gpu")]
impl Gpu {
    /// The device of the environment, if there is one.
    pub fn open() -> Option<Gpu> {
        crate::engine::device().ok().map(|device| Gpu(xenoglot_texture::compute::Decoder::new(&device)))
    }

    pub fn name(&self) -> String {
        self.0.device().name().into()
    }

    pub fn rate(&self, rounds: u32, format: Format, extent: Extent, data: &[u8]) -> Result<f64> {
        use xenoglot_texture::compute::Decoder;
        let device = self.0.device();
        let words: Vec<u32> = data.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let blocks = device.buffer_of(&words)?;
        let texels = device.buffer(Decoder::output_bytes(format, extent).unwrap_or(0) as u64)?;
        let count = f64::from(extent.width) * f64::from(extent.height);
        self.submitted(rounds, count, |commands| {
            Ok(self.0.record(commands, format, extent, &blocks, &texels)?)
        })
    }

    /// Billions of bytes a second, read and written, of copies as large as pictures of halves.
    pub fn copied(&self, rounds: u32, extent: Extent) -> Result<f64> {
        let device = self.0.device();
        let size = u64::from(extent.width) * u64::from(extent.height) * 8;
        let (from, to) = (device.buffer(size)?, device.buffer(size)?);
        let rate = self.submitted(rounds, 2.0 * size as f64, |commands| {
            commands.copy(&from, 0..size, &to, 0);
            Ok(())
        })?;
        Ok(rate / 1e3)
    }

    /// Millions of `items` a second of what is recorded: as often in a submission as what that costs by itself counts
    /// little.
    fn submitted(
        &self,
        rounds: u32,
        items: f64,
        record: impl Fn(&mut Commands) -> Result<()>,
    ) -> Result<f64> {
        const SECONDS: f64 = 0.02;
        let device = self.0.device();
        let submit = |times: u32| -> Result<()> {
            let mut commands = Commands::default();
            (0..times).try_for_each(|_| record(&mut commands))?;
            commands.submit(device)?;
            Ok(device.wait()?)
        };
        // The first one compiles the program.
        submit(1)?;
        let start = Instant::now();
        submit(1)?;
        let times = (SECONDS / start.elapsed().as_secs_f64()).clamp(1.0, 64.0) as u32;
        rate(rounds, items * f64::from(times), || submit(times))
    }
}

/// There is none.
#[cfg(not(feature = "gpu"))]
pub enum Gpu {}

#[cfg(not(feature = "gpu"))]
impl Gpu {
    pub fn open() -> Option<Gpu> {
        None
    }

    pub fn name(&self) -> String {
        match *self {}
    }

    pub fn rate(&self, _: u32, _: Format, _: Extent, _: &[u8]) -> Result<f64> {
        match *self {}
    }

    pub fn copied(&self, _: u32, _: Extent) -> Result<f64> {
        match *self {}
    }
}
