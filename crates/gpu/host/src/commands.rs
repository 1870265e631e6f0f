//! Dispatches in order.

use std::ops::Range;

use crate::{Arguments, Buffer, Device, Error, Program};

/// What a device is to do, in order: each command sees what those before it wrote.
#[derive(Debug, Default)]
pub struct Commands {
    list: Vec<Command>,
}

#[derive(Debug)]
enum Command {
    Dispatch { program: Program, arguments: Arguments, offsets: Vec<u32>, groups: [u32; 3] },
    Copy { from: Buffer, part: Range<u64>, to: Buffer, at: u64 },
}

impl Commands {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Runs a program over workgroups. `offsets` are those of the layout's uniform buffers, in bytes, in the order of
    /// their numbers: multiples of [`Device::uniform_alignment`].
    pub fn dispatch(&mut self, program: &Program, arguments: &Arguments, offsets: &[u32], groups: [u32; 3]) {
        let (program, arguments) = (program.clone(), arguments.clone());
        self.list.push(Command::Dispatch { program, arguments, offsets: offsets.to_vec(), groups });
    }

    /// Copies a part of a buffer to a place in another, in bytes; multiples of 4.
    pub fn copy(&mut self, from: &Buffer, part: Range<u64>, to: &Buffer, at: u64) {
        self.list.push(Command::Copy { from: from.clone(), part, to: to.clone(), at });
    }

    /// Hands the commands to the device without waiting for it, and forgets them.
    ///
    /// # Errors
    /// [`Error::Arguments`] if a command is not possible; none of them is run then.
    pub fn submit(&mut self, device: &Device) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        let list = std::mem::take(&mut self.list);
        let submitted = device.attempt(|| {
            let mut encoder = device.raw.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let mut commands = list.iter().peekable();
            while let Some(command) = commands.peek() {
                match command {
                    Command::Copy { from, part, to, at } => {
                        let size = part.end.saturating_sub(part.start);
                        encoder.copy_buffer_to_buffer(&from.raw, part.start, &to.raw, *at, size);
                        commands.next();
                    }
                    Command::Dispatch { .. } => {
                        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                        while let Some(Command::Dispatch { program, arguments, offsets, groups }) =
                            commands.next_if(|command| matches!(command, Command::Dispatch { .. }))
                        {
                            pass.set_pipeline(&program.raw);
                            pass.set_bind_group(0, &arguments.raw, offsets);
                            let [x, y, z] = *groups;
                            pass.dispatch_workgroups(x, y, z);
                        }
                    }
                }
            }
            device.queue.submit([encoder.finish()]);
        });
        submitted.map_err(Error::Arguments)
    }
}
