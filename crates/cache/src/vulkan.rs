//! Pipelines of `xenoglot-vulkan`'s devices.

use crate::cache::Cache;
use crate::entry::Kind;
use crate::key::Key;
use xenoglot_vulkan::PipelineStore;

fn key(device: &[u8]) -> Key {
    Key::of("pipelines of vulkan").bytes(device).finish()
}

impl PipelineStore for Cache {
    fn load(&self, device: &[u8]) -> Option<Vec<u8>> {
        let entry = self.get(&key(device)).filter(|entry| entry.kind == Kind::Blob)?;
        Some(entry.payload.to_vec())
    }

    fn store(&self, device: &[u8], data: Vec<u8>) {
        self.put(key(device), Kind::Blob, 0, data);
    }
}
