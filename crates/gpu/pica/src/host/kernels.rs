//! What happens to bytes of guest memory on the device, besides drawing: programs in WGSL (`kernels.wgsl`), of integers
//! only.

use xenoglot_host::{Access, Binding, Device, Error, Layout, Program};

/// Words of a program's parameters.
pub const PARAMS: usize = 16;
/// Invocations of a workgroup.
const GROUP: u32 = 256;

/// The programs of a device.
#[derive(Debug)]
pub struct Kernels {
    /// Parameters, source, target.
    pub layout: Layout,
    /// Pixels of one size to pixels of another.
    pub convert: Program,
    /// Textures to texels.
    pub texels: Program,
    /// Display transfers.
    pub transfer: Program,
    /// Texture copies.
    pub copy: Program,
}

impl Kernels {
    /// Compiles them.
    pub fn new(device: &Device) -> Result<Kernels, Error> {
        let bindings =
            [(0, Access::Uniform { size: PARAMS as u32 * 4 }), (1, Access::Read), (2, Access::ReadWrite)];
        let layout = device.layout(&bindings.map(|(number, access)| Binding::new(number, access)));
        let program = |entry| device.wgsl_program(&layout, include_str!("kernels.wgsl"), entry);
        let (convert, texels) = (program("convert")?, program("texels")?);
        let (transfer, copy) = (program("transfer")?, program("copy")?);
        Ok(Kernels { layout, convert, texels, transfer, copy })
    }
}

/// Workgroups for so many invocations.
pub fn groups(invocations: u32) -> u32 {
    invocations.div_ceil(GROUP)
}

/// Pads parameters.
pub fn params(words: &[u32]) -> [u32; PARAMS] {
    let mut params = [0; PARAMS];
    params.iter_mut().zip(words).for_each(|(to, from)| *to = *from);
    params
}
