//! How long stages of commands take on the device.

use std::time::Duration;

use crate::{Buffer, Commands, Device, Error};

/// Bytes of a timestamp.
const STAMP: u64 = 8;

impl Commands {
    /// Hands the commands to the device as [`Commands::submit`] does and waits for it; then what each stage took, in order,
    /// by the device's own clock. Those before the first stage are the stage `other`. Nothing is measured where the device
    /// has no clock ([`Device::has_timestamps`]), or there are more than 2,048 passes.
    ///
    /// # Errors
    /// As [`Commands::submit`], and [`Error::Timeout`], [`Error::Device`].
    pub fn submit_timed(&mut self, device: &Device) -> Result<Vec<(&'static str, Duration)>, Error> {
        self.name_the_rest("other");
        let names: Vec<&'static str> =
            self.runs().filter(|(_, run)| run.is_pass()).map(|(name, _)| name).collect();
        let count = 2 * names.len() as u32;
        if names.is_empty() || count > wgpu::QUERY_SET_MAX_QUERIES || !device.has_timestamps() {
            self.submit(device)?;
            return device.wait().map(|()| Vec::new());
        }
        let size = STAMP * u64::from(count);
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let stamps = device.make(size, usage, false)?;
        let submitted = device.attempt(|| self.encode_timed(device, count, &stamps));
        *self = Commands::default();
        submitted.map_err(|reason| device.lost_or(Error::Arguments(reason)))?;
        let words = device.read(&[(&stamps, 0..size)])?.concat();
        let stamps: Vec<u64> = words.as_chunks().0.iter().map(|&[low, high]| join(low, high)).collect();
        let period = f64::from(device.queue.get_timestamp_period());
        let time =
            |[begin, end]: [u64; 2]| Duration::from_nanos((end.saturating_sub(begin) as f64 * period) as u64);
        let mut stages: Vec<(&'static str, Duration)> = Vec::new();
        for (name, &pair) in names.into_iter().zip(stamps.as_chunks().0) {
            match stages.iter_mut().find(|stage| stage.0 == name) {
                Some(stage) => stage.1 += time(pair),
                None => stages.push((name, time(pair))),
            }
        }
        Ok(stages)
    }

    fn encode_timed(&self, device: &Device, count: u32, stamps: &Buffer) {
        let set = device.raw.create_query_set(&wgpu::QuerySetDescriptor {
            label: None,
            ty: wgpu::QueryType::Timestamp,
            count,
        });
        let mut encoder = device.raw.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut next = 0;
        for (_, run) in self.runs() {
            let times = run.is_pass().then(|| wgpu::ComputePassTimestampWrites {
                query_set: &set,
                beginning_of_pass_write_index: Some(next),
                end_of_pass_write_index: Some(next + 1),
            });
            next += if times.is_some() { 2 } else { 0 };
            run.encode(&mut encoder, times);
        }
        encoder.resolve_query_set(&set, 0..count, &stamps.raw, 0);
        device.queue.submit([encoder.finish()]);
    }
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
