//! What the driver compiled, kept from run to run.
//!
//! Drivers of phones leave that to the application, and those of desktops prune what they keep by themselves.

use crate::Error;
use crate::error::Named;
use ash::vk;
use std::sync::Arc;

/// Bytes that all data begin with: their number, a version, and whose they are (`VkPipelineCacheHeaderVersionOne`).
const HEADER: usize = 32;

/// Where what a driver compiled is kept: `xenoglot-cache` has one with its feature `vulkan`.
pub trait PipelineStore: Send + Sync {
    /// What was kept for a device. The bytes that stand for it are of its name, its driver and the driver's version.
    fn load(&self, device: &[u8]) -> Option<Vec<u8>>;
    /// Keeps it in the place of what there was.
    fn store(&self, device: &[u8], data: Vec<u8>);
}

/// A device's pipeline cache; a null handle where there is no [`PipelineStore`] to keep it in.
#[derive(Default)]
pub(crate) struct Pipelines {
    pub raw: vk::PipelineCache,
    kept: Option<Kept>,
}

/// Where a pipeline cache is kept.
struct Kept {
    store: Arc<dyn PipelineStore>,
    device: Vec<u8>,
    /// What was there.
    before: Vec<u8>,
}

/// What stands for a device and its driver. An update of the driver makes it another.
fn device(properties: &vk::PhysicalDeviceProperties) -> Vec<u8> {
    let name = properties.device_name_as_c_str().unwrap_or_default();
    let mut device = Vec::new();
    for number in [properties.vendor_id, properties.device_id, properties.driver_version] {
        device.extend(number.to_le_bytes());
    }
    device.extend(properties.pipeline_cache_uuid);
    device.extend(name.to_bytes());
    device
}

/// Whether the header of data names the device.
fn is_of(data: &[u8], properties: &vk::PhysicalDeviceProperties) -> bool {
    let mut header = Vec::with_capacity(HEADER);
    for word in [HEADER as u32, 1, properties.vendor_id, properties.device_id] {
        header.extend(word.to_le_bytes());
    }
    header.extend(properties.pipeline_cache_uuid);
    data.starts_with(&header)
}

impl Pipelines {
    /// The pipeline cache of a device as it was left.
    pub(crate) fn open(
        raw: &ash::Device,
        properties: &vk::PhysicalDeviceProperties,
        store: Arc<dyn PipelineStore>,
    ) -> Result<Pipelines, Error> {
        let device = device(properties);
        let before = store.load(&device).filter(|data| is_of(data, properties)).unwrap_or_default();
        let create = vk::PipelineCacheCreateInfo::default().initial_data(&before);
        // SAFETY: the data are none, or those that this device and driver gave, as the store says by the name it has them under,
        // and their header once more.
        let made = unsafe { raw.create_pipeline_cache(&create, None) }.named("vkCreatePipelineCache")?;
        Ok(Pipelines { raw: made, kept: Some(Kept { store, device, before }) })
    }

    /// Keeps what the driver has compiled, and destroys the pipeline cache.
    ///
    /// # Safety
    /// The pipeline cache is of this device, and nothing uses it.
    pub(crate) unsafe fn close(&mut self, device: &ash::Device) {
        let raw = std::mem::take(&mut self.raw);
        if let Some(Kept { store, device: name, before }) = self.kept.take() {
            // SAFETY: the pipeline cache is of this device, as the caller promises.
            let data = unsafe { device.get_pipeline_cache_data(raw) };
            if let Ok(data) = data
                && data != before
            {
                store.store(&name, data);
            }
        }
        // SAFETY: nothing uses it, as the caller promises; null is allowed.
        unsafe { device.destroy_pipeline_cache(raw, None) }
    }
}
