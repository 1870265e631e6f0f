//! What the driver compiled, kept from run to run.
//!
//! Drivers of phones leave that to the application, and those of desktops prune what they keep by themselves.

use crate::Error;
use crate::error::Named;
use ash::vk;
use std::sync::Arc;
use xenoglot_cache::{Cache, Key, Kind};

/// Bytes that all data begin with: their number, a version, and whose they are (`VkPipelineCacheHeaderVersionOne`).
const HEADER: usize = 32;

/// A device's pipeline cache; a null handle where there is no [`Cache`] to keep it in.
#[derive(Default)]
pub(crate) struct Pipelines {
    pub raw: vk::PipelineCache,
    kept: Option<Kept>,
}

/// Where a pipeline cache is kept.
struct Kept {
    cache: Arc<Cache>,
    key: Key,
    /// What was there.
    before: Vec<u8>,
}

/// The key of a device and its driver. An update of the driver makes it another.
fn key(properties: &vk::PhysicalDeviceProperties) -> Key {
    let name = properties.device_name_as_c_str().unwrap_or_default();
    Key::of("pipelines of vulkan")
        .bytes(name.to_bytes())
        .number(properties.vendor_id.into())
        .number(properties.device_id.into())
        .number(properties.driver_version.into())
        .bytes(&properties.pipeline_cache_uuid)
        .finish()
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
        device: &ash::Device,
        properties: &vk::PhysicalDeviceProperties,
        cache: &Arc<Cache>,
    ) -> Result<Pipelines, Error> {
        let key = key(properties);
        let entry = cache.get(&key).filter(|entry| entry.kind == Kind::Blob);
        let before = entry.map(|entry| entry.payload.to_vec()).filter(|data| is_of(data, properties));
        let before = before.unwrap_or_default();
        let create = vk::PipelineCacheCreateInfo::default().initial_data(&before);
        // SAFETY: the data are none, or those that this device and driver gave: the entry's hash covers them and its key, and
        // the header says so once more.
        let raw = unsafe { device.create_pipeline_cache(&create, None) }.named("vkCreatePipelineCache")?;
        Ok(Pipelines { raw, kept: Some(Kept { cache: Arc::clone(cache), key, before }) })
    }

    /// Keeps what the driver has compiled, and destroys the pipeline cache.
    ///
    /// # Safety
    /// The pipeline cache is of this device, and nothing uses it.
    pub(crate) unsafe fn close(&mut self, device: &ash::Device) {
        let raw = std::mem::take(&mut self.raw);
        if let Some(Kept { cache, key, before }) = self.kept.take() {
            // SAFETY: the pipeline cache is of this device, as the caller promises.
            let data = unsafe { device.get_pipeline_cache_data(raw) };
            if let Ok(data) = data
                && data != before
            {
                cache.put(key, Kind::Blob, 0, data);
            }
        }
        // SAFETY: nothing uses it, as the caller promises; null is allowed.
        unsafe { device.destroy_pipeline_cache(raw, None) }
    }
}
