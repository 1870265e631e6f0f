//! The host's GPU, for engines on it.

use crate::{Error, Request};
use xenoglot_host::{Device, DeviceOptions};

/// How long a suite waits for a device that runs programs on the processor, in seconds.
const TIMEOUT_S: u64 = 120;

/// The device of the request.
pub(crate) fn device(request: &Request) -> Result<Device, Error> {
    let options = DeviceOptions { selector: request.device.clone(), timeout_s: TIMEOUT_S };
    Device::open(&options).map_err(|e| Error::Device(e.to_string()))
}
