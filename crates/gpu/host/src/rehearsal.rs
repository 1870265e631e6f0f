//! Running programs once where nobody waits for it.
//!
//! Drivers that run programs on the processor compile one when it is dispatched first, in their queue, whatever
//! thread made it. Run once on another opening of the device, it is in the driver's cache.

use xenoglot_ir::Module;

use crate::{Access, Arguments, Buffer, Commands, Device, Error, Layout};

/// Bytes of storage buffers.
const STORAGE: u64 = 4096;

/// Another opening of a device, and buffers of zeros.
pub(crate) struct Rehearsal {
    device: Device,
    layout: Layout,
    arguments: Arguments,
    offsets: Vec<u32>,
}

impl Rehearsal {
    /// One for a device that needs it.
    pub fn new(device: &Device, layout: &Layout) -> Result<Option<Rehearsal>, Error> {
        let Some(device) = device.twin()? else { return Ok(None) };
        let layout = device.layout(layout.bindings());
        let size = |access: Access| match access {
            Access::Uniform { size } => size.into(),
            Access::Read | Access::ReadWrite => STORAGE,
        };
        let bindings = layout.bindings();
        let buffers: Vec<Buffer> =
            bindings.iter().map(|binding| device.buffer(size(binding.access))).collect::<Result<_, _>>()?;
        let arguments = Arguments::new(&device, &layout, &buffers.iter().collect::<Vec<_>>())?;
        let uniforms = bindings.iter().filter(|binding| matches!(binding.access, Access::Uniform { .. }));
        let offsets = vec![0; uniforms.count()];
        Ok(Some(Rehearsal { device, layout, arguments, offsets }))
    }

    /// Runs a program over one workgroup.
    pub fn run(&self, module: &Module) -> Result<(), Error> {
        let program = self.device.program(&self.layout, module)?;
        let mut commands = Commands::default();
        commands.dispatch(&program, &self.arguments, &self.offsets, [1; 3]);
        commands.submit(&self.device)?;
        self.device.wait()
    }
}
