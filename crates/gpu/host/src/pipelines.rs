//! What a driver compiled, kept from run to run.
//!
//! Drivers of phones leave that to the application, and those of desktops prune what they keep by themselves. A device
//! whose [`Cache`] is on disk has a pipeline cache of wgpu, which it reads from there when it opens, and writes there after
//! some new programs and when it is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use xenoglot_cache::{Cache, Key, Kind};

/// New programs after which the pipelines are written.
const EVERY: u32 = 64;

/// The key of a device and its driver. A driver's update makes other code.
pub(crate) fn driver(info: &wgpu::AdapterInfo) -> Key {
    Key::of("driver of wgpu")
        .bytes(wgpu::util::pipeline_cache_key(info).unwrap_or_default().as_bytes())
        .bytes(info.name.as_bytes())
        .bytes(info.driver.as_bytes())
        .bytes(info.driver_info.as_bytes())
        .finish()
}

/// A pipeline cache of what was kept for a device: bytes of an entry whose key has its [`driver`]. `None` for a device without
/// such caches, and where there are no bytes.
pub(crate) fn load(raw: &wgpu::Device, bytes: &[u8]) -> Option<wgpu::PipelineCache> {
    if bytes.is_empty() || !raw.features().contains(wgpu::Features::PIPELINE_CACHE) {
        return None;
    }
    let descriptor = wgpu::PipelineCacheDescriptor { label: None, data: Some(bytes), fallback: true };
    // SAFETY: the bytes are those that `get_data` gave for a device and driver of these names: the cache has checked their
    // hash, which covers the key. wgpu checks the header that names device and driver once more, and begins with an empty
    // cache where it is another.
    Some(unsafe { raw.create_pipeline_cache(&descriptor) })
}

/// An empty pipeline cache, for a device that has such caches.
pub(crate) fn empty(raw: &wgpu::Device) -> Option<wgpu::PipelineCache> {
    if !raw.features().contains(wgpu::Features::PIPELINE_CACHE) {
        return None;
    }
    let descriptor = wgpu::PipelineCacheDescriptor { label: None, data: None, fallback: true };
    // SAFETY: there are no bytes.
    Some(unsafe { raw.create_pipeline_cache(&descriptor) })
}

/// A device's pipeline cache.
#[derive(Debug)]
pub(crate) struct Pipelines {
    pub raw: wgpu::PipelineCache,
    cache: Arc<Cache>,
    key: Key,
    unsaved: AtomicU32,
}

impl Pipelines {
    /// The features of a device that has a pipeline cache, of those that an adapter has.
    pub fn features(adapter: &wgpu::Adapter, cache: &Cache) -> wgpu::Features {
        match cache.is_kept() {
            true => adapter.features() & wgpu::Features::PIPELINE_CACHE,
            false => wgpu::Features::empty(),
        }
    }

    /// The pipeline cache of a device that was opened with these features, as it was left.
    pub fn open(raw: &wgpu::Device, info: &wgpu::AdapterInfo, cache: &Arc<Cache>) -> Option<Pipelines> {
        if !raw.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let key = Key::of("pipelines of wgpu").key(driver(info)).finish();
        let blob = cache.get(&key).filter(|entry| entry.kind == Kind::Blob);
        let made = blob.and_then(|entry| load(raw, &entry.payload)).or_else(|| empty(raw))?;
        Some(Pipelines { raw: made, cache: Arc::clone(cache), key, unsaved: AtomicU32::new(0) })
    }

    /// A program was made.
    pub fn note(&self) {
        if self.unsaved.fetch_add(1, Ordering::Relaxed) + 1 >= EVERY {
            self.save();
        }
    }

    fn save(&self) {
        if self.unsaved.swap(0, Ordering::Relaxed) > 0
            && let Some(data) = self.raw.get_data()
        {
            self.cache.put(self.key, Kind::Blob, 0, data);
        }
    }
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        self.save();
    }
}
