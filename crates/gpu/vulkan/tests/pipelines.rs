//! What the driver compiled, kept in a cache from one opening of a device to the next.

mod common;

use common::{DOUBLE, compute_run, device, glsl, storage, words};
use std::path::Path;
use std::sync::Arc;
use xenoglot_cache::{Cache, Key, Kind, Options, Versions};
use xenoglot_vulkan::{ComputeJob, Device, DeviceOptions, glslang};

fn open(folder: &Path) -> Arc<Cache> {
    Arc::new(Cache::open(folder, Versions::default(), &Options::default()).unwrap())
}

/// Runs a shader on a device that is opened with a cache and closed again.
fn run(cache: &Arc<Cache>, spirv: &[u32]) {
    let device = Device::open_with(&DeviceOptions::from_env(), Arc::clone(cache) as _).unwrap();
    let runs = vec![compute_run(vec![storage(0, &[1, 2, 3, 0x8000_0005])], 1)];
    let job = ComputeJob { spirv: spirv.to_vec(), entry: "main".to_owned(), runs };
    // SAFETY: glslang makes valid modules.
    let outputs = unsafe { device.run_compute(&job) }.unwrap();
    assert_eq!(words(&outputs[0].buffers[0]), [2, 4, 6, 10]);
}

/// The entries of pipelines.
fn kept(cache: &Cache) -> Vec<(Key, Vec<u8>)> {
    cache.flush().unwrap();
    let stored = cache.hosts().unwrap().contents().unwrap();
    let entries = stored.keys().filter_map(|key| Some((*key, cache.get(key)?)));
    let blobs = entries.filter(|(_, entry)| entry.kind == Kind::Blob);
    blobs.map(|(key, entry)| (key, entry.payload.to_vec())).collect()
}

#[test]
fn pipelines_are_kept_from_one_opening_to_the_next() {
    let (Some(_), Some(spirv)) = (device(), glsl(DOUBLE, glslang::Stage::Compute)) else { return };
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    run(&cache, &spirv);
    let first = kept(&cache);
    assert_eq!(first.len(), 1, "one device and driver");
    let (key, data) = &first[0];
    assert!(data.len() >= 32, "{} bytes", data.len());
    drop(cache);

    // What is read and found again is not written again.
    let cache = open(folder.path());
    run(&cache, &spirv);
    assert_eq!(cache.hosts().unwrap().counts().puts, 0);
    assert_eq!(kept(&cache), first);

    // Data of another device or driver, of none, and what a driver did not finish writing, do not reach this one.
    for changed in [Vec::new(), vec![0xa5; 4096], data[..31].to_vec(), [&[16, 0, 0, 0], &data[4..]].concat()]
    {
        cache.put(*key, Kind::Blob, 0, changed);
        run(&cache, &spirv);
        assert_eq!(kept(&cache), first);
    }
}

#[test]
fn a_cache_in_memory_keeps_pipelines_while_it_lives() {
    let (Some(_), Some(spirv)) = (device(), glsl(DOUBLE, glslang::Stage::Compute)) else { return };
    let cache = Arc::new(Cache::memory(Versions::default()));
    run(&cache, &spirv);
    let entries = cache.counts().entries;
    assert_eq!(entries, 1);
    run(&cache, &spirv);
    assert_eq!(cache.counts().entries, entries);
}
