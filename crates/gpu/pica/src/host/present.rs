//! Frames to pictures that stay on the device.

use std::sync::Arc;

use thiserror::Error;
use xenoglot_host::{Buffer, Error as HostError, Texture, TextureShape};

use super::HostRenderer;
use super::batch::Source;
use super::kernels::{PICTURE, params};
use super::transfers::MOST;
use crate::lcd::{Frame, FrameError, Gamma, Image};
use crate::memory::Memory;
use crate::raster::framebuffer::PixelBuffer;
use crate::renderer::Detour;

/// Why a frame is not shown.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PresentError {
    /// The frame itself cannot be shown.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The device failed; [`crate::gpu::Gpu::show`] still shows frames.
    #[error("{0}")]
    Device(Detour),
}

impl HostRenderer {
    /// The picture of a frame, upright, as a texture on the device, which programs may sample ([`Texture::wgpu`] gives wgpu's).
    /// It has as many texels for each pixel as the [scale](super::Scale) says, or one where rows are not whole pixels apart or the
    /// frame is too large for the device.
    /// Nothing comes back to the processor, and the call does not wait for the device. `old`, the texture of an earlier frame,
    /// is overwritten and returned if it has the same size.
    ///
    /// # Errors
    /// [`PresentError`].
    pub fn present(
        &mut self,
        memory: &mut dyn Memory,
        frame: &Frame,
        old: Option<Texture>,
    ) -> Result<Texture, PresentError> {
        let pixel = frame.pixel()?;
        let bytes = frame.bytes();
        let Frame { address, width, height, bytes_per_row, format, on_its_side, .. } = *frame;
        let unmapped = FrameError::Unmapped { address, bytes };
        let len = u32::try_from(bytes).map_err(|_| unmapped)?;
        memory.bytes(address, len).ok_or(unmapped)?;
        if let Some(detour) = &self.broken {
            return Err(PresentError::Device(detour.clone()));
        }
        let range = u64::from(address)..u64::from(address) + bytes;
        // The processor makes pictures whose rows are not whole pixels apart, or so far apart that a buffer of all pixels
        // between them may be more than the device has.
        let pixels = bytes / u64::from(pixel.bytes());
        let gpu = &self.programs.device;
        let is_small = pixels <= MOST
            && self.cache.size_of(pixels) <= gpu.max_buffer()
            && width.max(height) * self.options.scale.get() <= gpu.max_texture_side();
        let image = if bytes_per_row % pixel.bytes() == 0 && is_small {
            None
        } else {
            self.bring(memory, std::slice::from_ref(&range));
            Some(frame.read(memory)?)
        };
        let samples = if image.is_none() { self.options.scale.get() } else { 1 };
        let [across, down] = if on_its_side { [height, width] } else { [width, height] };
        let size = [across * samples, down * samples, 1];
        let gamma = frame.gamma.clone().filter(|_| image.is_none());
        let levels = self.levels(gamma.as_ref()).map_err(device)?;
        let shown = self.attempt(|cx, cache, _| {
            let old = old.filter(|old| old.size() == size && old.format() == PICTURE);
            let picture = old.map_or_else(|| cx.device.texture(PICTURE, TextureShape::Layers, size), Ok)?;
            let (source, words) = match &image {
                Some(image) => {
                    let first = cx.batch.upload(&reversed(image));
                    cx.traffic.uploaded += image.rgba.len() as u64;
                    (Source::Lists, [size[0], size[1], size[0], 0, 0, 0, 0, first, 1, 0])
                }
                None => {
                    let place = PixelBuffer { address, bytes: pixel.bytes() };
                    let source = cache.pixels(cx, memory, place, pixels as u32, &range)?;
                    let row = bytes_per_row / pixel.bytes();
                    let (side, looked_up) = (on_its_side.into(), gamma.is_some().into());
                    let words =
                        [size[0], size[1], row, format, side, width, looked_up, 0, samples, source.stride];
                    (Source::Buffer(source.buffer), words)
                }
            };
            cx.batch.present(cx.device, source, &levels, &picture, &params(&words));
            cx.submit()?;
            Ok(picture)
        });
        shown.map_err(PresentError::Device)
    }

    /// Waits for the device and brings a picture to the processor: a screenshot.
    ///
    /// # Errors
    /// [`PresentError::Device`].
    pub fn screenshot(&mut self, picture: &Texture) -> Result<Image, PresentError> {
        let [width, height, _] = picture.size();
        let rgba = self.programs.device.read_texture(picture).map_err(device)?;
        self.traffic.downloaded += rgba.len() as u64;
        self.traffic.submissions += 2;
        self.traffic.waits += 1;
        Ok(Image { width, height, rgba })
    }

    /// The gamma table as words, r in the lowest byte; a dummy buffer if there is none.
    fn levels(&mut self, gamma: Option<&Arc<Gamma>>) -> Result<Buffer, HostError> {
        let Some(gamma) = gamma else { return Ok(self.none[0].clone()) };
        if let Some((known, buffer)) = &self.levels
            && known == gamma
        {
            return Ok(buffer.clone());
        }
        let words = gamma.map(|[r, g, b]| u32::from_le_bytes([r, g, b, 0]));
        let buffer = self.programs.device.buffer_of(&words)?;
        self.levels = Some((Arc::clone(gamma), buffer.clone()));
        Ok(buffer)
    }
}

fn device(error: HostError) -> PresentError {
    PresentError::Device(Detour::Device(error.to_string()))
}

/// A picture as pixels in RGBA8, whose bytes are a, b, g, r.
fn reversed(image: &Image) -> Vec<u8> {
    image.rgba.as_chunks::<4>().0.iter().flat_map(|&[r, g, b, a]| [a, b, g, r]).collect()
}
