//! Where codecs run.

use clap::ValueEnum;

/// What does the work of a codec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// All cores.
    #[default]
    Cpu,
    /// The host's GPU, by compute programs; XENOGLOT_VULKAN_DEVICE chooses one.
    #[cfg(feature = "gpu")]
    Compute,
}

/// The device of the environment.
#[cfg(feature = "gpu")]
pub fn device() -> anyhow::Result<xenoglot_host::Device> {
    let options = xenoglot_host::DeviceOptions { timeout_s: 60, ..xenoglot_host::DeviceOptions::from_env() };
    Ok(xenoglot_host::Device::open(&options)?)
}
