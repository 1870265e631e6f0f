//! The Vulkan device that a program runs on.

use anyhow::{Context, Result};
use xenoglot::Host;
use xenoglot::host::Language;
use xenoglot_vulkan::DeviceInfo;
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand};

/// The device that the options select, in a worker process, and what code for it is compiled for.
pub fn open(options: IsolatedOptions) -> Result<(Isolated, Host)> {
    let (isolated, device) = select(WorkerCommand::this_program()?, options)?;
    Ok((isolated, Host { language: Language::Spirv(None), ..Host::of_vulkan(&device) }))
}

/// The device that the options select, in a worker process that is started by a command.
pub fn select(worker: WorkerCommand, options: IsolatedOptions) -> Result<(Isolated, DeviceInfo)> {
    let selector = options.device.selector.clone().unwrap_or_default().to_lowercase();
    let mut isolated = Isolated::new(worker, options);
    let devices = isolated.devices()?.into_iter().filter(|d| d.name.to_lowercase().contains(&selector));
    let device = devices.min_by_key(|d| d.kind).context("there is no such Vulkan device")?;
    Ok((isolated, device))
}
