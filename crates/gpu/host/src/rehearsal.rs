//! Running programs once in the background, so that the first real dispatch does not wait for the driver.
//!
//! Drivers that run programs on the processor compile one when it is dispatched first, in their queue, whatever
//! thread made it. Run once on another opening of the device, it is in the driver's cache.

use crate::program::Words;
use crate::{Access, Argument, Arguments, Commands, Device, Error, Layout, Program};

/// Bytes of storage buffers.
const STORAGE: u64 = 4096;

/// Another opening of a device, with buffers and textures of zeros.
pub(crate) struct Rehearsal {
    device: Device,
    layout: Layout,
    arguments: Arguments,
    offsets: Vec<u32>,
}

impl Rehearsal {
    /// One for a device that needs it.
    pub fn new(device: &Device, layout: &Layout) -> Result<Option<Rehearsal>, Error> {
        device.twin()?.map(|twin| Rehearsal::on(twin, layout)).transpose()
    }

    /// One on the device itself.
    pub fn on(device: Device, layout: &Layout) -> Result<Rehearsal, Error> {
        let layout = device.layout(layout.bindings());
        let argument = |access: Access| match access {
            Access::Uniform { size } => device.buffer(size.into()).map(Argument::Buffer),
            Access::Read | Access::ReadWrite => device.buffer(STORAGE).map(Argument::Buffer),
            Access::WriteTexture { format, shape } => {
                device.texture(format, shape, [1; 3]).map(Argument::Texture)
            }
        };
        let bindings = layout.bindings();
        let given = bindings.iter().map(|binding| argument(binding.access)).collect::<Result<Vec<_>, _>>()?;
        let arguments = Arguments::of(&device, &layout, &given)?;
        let uniforms = bindings.iter().filter(|binding| matches!(binding.access, Access::Uniform { .. }));
        let offsets = vec![0; uniforms.count()];
        Ok(Rehearsal { device, layout, arguments, offsets })
    }

    /// Compiles and runs a program.
    pub fn run(&self, words: &Words) -> Result<(), Error> {
        self.run_program(&self.device.program_of(&self.layout, words)?)
    }

    /// Runs a program over one workgroup.
    pub fn run_program(&self, program: &Program) -> Result<(), Error> {
        let mut commands = Commands::default();
        commands.dispatch(program, &self.arguments, &self.offsets, [1; 3]);
        commands.submit(&self.device)?;
        self.device.wait()
    }
}
