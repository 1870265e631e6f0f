//! The programs that move and decode guest memory on the device, in WGSL. They compute in integers, except for the colours that
//! are written to pictures, and the program that sets triangles up.

use std::sync::OnceLock;

use super::setup;
use xenoglot_host::{Access, Binding, Device, Error, Layout, Program, TextureFormat, TextureShape};

/// Words of a program's parameters.
pub const PARAMS: usize = 16;
/// Invocations of a workgroup.
pub const GROUP: u32 = 256;

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
    /// Parameters, source, levels, picture.
    pub present_layout: Layout,
    /// Frames to pictures.
    pub present: Program,
    /// Compiled on first use.
    setup: OnceLock<Result<Program, Error>>,
}

impl Kernels {
    /// Compiles them.
    pub fn new(device: &Device) -> Result<Kernels, Error> {
        let layout = |third: &[Access]| {
            let all = [Access::Uniform { size: PARAMS as u32 * 4 }, Access::Read];
            let bindings = (0..).zip(all.iter().chain(third));
            let bindings: Vec<Binding> =
                bindings.map(|(number, &access)| Binding::new(number, access)).collect();
            device.layout(&bindings)
        };
        let picture = Access::WriteTexture { format: PICTURE, shape: TextureShape::Layers };
        let (words, present_layout) = (layout(&[Access::ReadWrite]), layout(&[Access::Read, picture]));
        let moves = concat!(include_str!("pixels.wgsl"), include_str!("kernels.wgsl"));
        let program = |entry| device.wgsl_program(&words, moves, entry);
        let (convert, texels) = (program("convert")?, program("texels")?);
        let (transfer, copy) = (program("transfer")?, program("copy")?);
        let presents = concat!(include_str!("pixels.wgsl"), include_str!("present.wgsl"));
        let present = device.wgsl_program(&present_layout, presents, "present")?;
        let setup = OnceLock::new();
        Ok(Kernels { layout: words, convert, texels, transfer, copy, present_layout, present, setup })
    }
}

impl Kernels {
    /// The program that sets triangles up.
    pub fn setup(&self, device: &Device) -> Result<&Program, Error> {
        let compile = || device.program(&self.layout, setup::program());
        self.setup.get_or_init(compile).as_ref().map_err(Clone::clone)
    }
}

/// What pictures are made of.
pub const PICTURE: TextureFormat = TextureFormat::Rgba8Unorm;

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
