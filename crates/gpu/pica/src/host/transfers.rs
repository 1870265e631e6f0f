//! Fills, display transfers and texture copies on the device.
//!
//! Transfers whose source is all in guest memory are done there instead, by `crate::transfer`, which also defines the results.

use xenoglot_host::{Device, Error};

use super::batch::Source;
use super::cache::{Cache, Context};
use super::kernels::params;
use crate::memory::Memory;
use crate::raster::framebuffer::PixelBuffer;
use crate::transfer::{CopyJob, DisplayJob, Job, Work};

/// Limit on the pixels or words of a job on the device: enough for all of video memory, and no more than devices take.
pub(super) const MOST: u64 = 1 << 22;

/// Whether a job whose ranges are all memory is done on the device.
pub fn is_possible(job: &Job, cache: &Cache, device: &Device) -> bool {
    let Some(source) = job.source().map(|span| span.range()) else { return true };
    let to = job.destination().range();
    let apart = source.end <= to.start || to.end <= source.start;
    // Tiles that stick out of the image would overlap those of the next row.
    let whole = match &job.0 {
        Work::Display(DisplayJob { width, height, output, .. }) => {
            !output.tiled || width % 8 == 0 && height % 8 == 0
        }
        _ => true,
    };
    let bytes = (source.end - source.start).max(to.end - to.start);
    // Pixels have at least two bytes.
    let is_small = bytes <= 4 * MOST && cache.size_of(bytes / 2 + 1) <= device.max_buffer();
    cache.owns(&source) && apart && whole && is_small
}

/// Does a job for which [`is_possible`] holds.
pub fn run(cx: &mut Context, cache: &mut Cache, memory: &mut dyn Memory, job: &Job) -> Result<(), Error> {
    match &job.0 {
        Work::Fill(fill) => {
            let place = PixelBuffer { address: fill.to.address, bytes: fill.size };
            cache.fill(memory, place, fill.value, &fill.to.range());
            Ok(())
        }
        Work::Display(job) => display(cx, cache, memory, job),
        Work::Copy(job) => copy(cx, cache, memory, job),
    }
}

fn display(
    cx: &mut Context,
    cache: &mut Cache,
    memory: &mut dyn Memory,
    job: &DisplayJob,
) -> Result<(), Error> {
    let DisplayJob { from, to, from_format, to_format, input, output, width, height, scale: shrunk, flip } =
        *job;
    let place = |address, bytes| PixelBuffer { address, bytes };
    let pixels = |bytes: u64, of: u32| (bytes / u64::from(of)) as u32;
    let (in_bytes, out_bytes) = (from_format.bytes(), to_format.bytes());
    let source_place = place(from.address, in_bytes);
    let source = cache.pixels(cx, memory, source_place, pixels(from.bytes, in_bytes), &from.range())?;
    // All of the output is written: what is there is not needed.
    let target_place = place(to.address, out_bytes);
    let target = cache.pixels(cx, memory, target_place, pixels(to.bytes, out_bytes), &(0..0))?;
    let scale = cache.scale();
    let words = params(&[
        width as u32,
        height as u32,
        input.stride as u32,
        output.stride as u32,
        input.tiled.into(),
        output.tiled.into(),
        shrunk[0],
        shrunk[1],
        from_format.number(),
        to_format.number(),
        flip.into(),
        scale.get(),
        source.stride,
        target.stride,
    ]);
    let count = [(width * height) as u32, scale.planes()];
    let from = Source::Buffer(source.buffer);
    cx.batch.kernel(cx.device, &cx.kernels.transfer, from, &target.buffer, &words, count);
    cache.own(memory, target.id, &to.range());
    Ok(())
}

fn copy(cx: &mut Context, cache: &mut Cache, memory: &mut dyn Memory, job: &CopyJob) -> Result<(), Error> {
    let CopyJob { from, to, from_lines, to_lines, total } = *job;
    let words = |bytes: u64| (bytes / 4) as u32;
    let place = |address| PixelBuffer { address, bytes: 4 };
    let source = cache.pixels(cx, memory, place(from.address), words(from.bytes), &from.range())?;
    // The bytes in gaps keep their values, so they must be valid.
    let kept = if to_lines.gap == 0 { 0..0 } else { to.range() };
    let target = cache.pixels(cx, memory, place(to.address), words(to.bytes), &kept)?;
    let lines = params(&[
        words(total),
        words(from_lines.width),
        words(from_lines.gap),
        words(to_lines.width),
        words(to_lines.gap),
        source.stride,
        target.stride,
    ]);
    let count = [words(total), cache.scale().planes()];
    let from = Source::Buffer(source.buffer);
    cx.batch.kernel(cx.device, &cx.kernels.copy, from, &target.buffer, &lines, count);
    cache.own(memory, target.id, &to.range());
    Ok(())
}
