//! Dispatches in order.

use std::ops::Range;

use crate::{Arguments, Buffer, Device, Error, Program};

/// What a device is to do, in order: each command sees what those before it wrote.
#[derive(Debug, Default)]
pub struct Commands {
    list: Vec<Command>,
    /// Stages, and the command each one begins with.
    stages: Vec<(usize, &'static str)>,
}

#[derive(Debug)]
enum Command {
    Dispatch { program: Program, arguments: Arguments, offsets: Vec<u32>, groups: Groups },
    Copy { from: Buffer, part: Range<u64>, to: Buffer, at: u64 },
}

/// How many workgroups a program runs over.
#[derive(Clone, Debug)]
enum Groups {
    /// So many along each axis.
    Direct([u32; 3]),
    /// What three words of a buffer say when the device gets there.
    Indirect(Buffer, u64),
}

impl Command {
    fn is_dispatch(&self) -> bool {
        matches!(self, Command::Dispatch { .. })
    }
}

impl Commands {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Runs a program over workgroups. `offsets` are those of the layout's uniform buffers, in bytes, in the order of
    /// their numbers: multiples of [`Device::uniform_alignment`].
    pub fn dispatch(&mut self, program: &Program, arguments: &Arguments, offsets: &[u32], groups: [u32; 3]) {
        self.push(program, arguments, offsets, Groups::Direct(groups));
    }

    /// Runs a program over as many workgroups as three words of a buffer say, from byte `at` on, a multiple of 4: what
    /// commands before this one wrote. Where a word is above [`Device::max_groups`], it does not run. The buffer is one of
    /// [`Device::indirect_buffer`], and not among the arguments.
    pub fn dispatch_indirect(
        &mut self,
        program: &Program,
        arguments: &Arguments,
        offsets: &[u32],
        groups: (&Buffer, u64),
    ) {
        self.push(program, arguments, offsets, Groups::Indirect(groups.0.clone(), groups.1));
    }

    fn push(&mut self, program: &Program, arguments: &Arguments, offsets: &[u32], groups: Groups) {
        let (program, arguments) = (program.clone(), arguments.clone());
        self.list.push(Command::Dispatch { program, arguments, offsets: offsets.to_vec(), groups });
    }

    /// Copies a part of a buffer to a place in another, in bytes; multiples of 4.
    pub fn copy(&mut self, from: &Buffer, part: Range<u64>, to: &Buffer, at: u64) {
        self.list.push(Command::Copy { from: from.clone(), part, to: to.clone(), at });
    }

    /// The commands from here to the next stage are a stage of this name, which [`Commands::submit_timed`] measures.
    pub fn stage(&mut self, name: &'static str) {
        self.stages.push((self.list.len(), name));
    }

    /// Hands the commands to the device without waiting for it, and forgets them.
    ///
    /// # Errors
    /// [`Error::Arguments`] if a command is not possible; none of them is run then. [`Error::Lost`].
    pub fn submit(&mut self, device: &Device) -> Result<(), Error> {
        let Commands { list, .. } = std::mem::take(self);
        if list.is_empty() {
            return Ok(());
        }
        let submitted = device.attempt(|| {
            let mut encoder = device.raw.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encode_all(&mut encoder, &list);
            device.queue.submit([encoder.finish()]);
        });
        submitted.map_err(|reason| device.lost_or(Error::Arguments(reason)))
    }

    /// Records the commands with an encoder of the caller's, as often as it likes. Where one is not possible, wgpu says so of that
    /// encoder.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        encode_all(encoder, &self.list);
    }

    /// Runs of dispatches, or single copies, with the names of their stages. Empty stages are left out.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (&'static str, Run<'_>)> {
        let ends = self.stages.iter().skip(1).map(|stage| stage.0).chain([self.list.len()]);
        let stages = self.stages.iter().zip(ends);
        stages.flat_map(|(&(first, name), end)| {
            let commands = self.list.get(first..end).unwrap_or_default();
            commands.chunk_by(|a, b| a.is_dispatch() && b.is_dispatch()).map(move |run| (name, Run(run)))
        })
    }

    /// Puts all commands in a stage.
    pub(crate) fn name_the_rest(&mut self, name: &'static str) {
        if self.stages.first().is_none_or(|stage| stage.0 > 0) {
            self.stages.insert(0, (0, name));
        }
    }
}

/// Commands that are one pass, or a copy.
pub(crate) struct Run<'a>(&'a [Command]);

impl Run<'_> {
    /// Whether it is a pass.
    pub fn is_pass(&self) -> bool {
        self.0.first().is_some_and(Command::is_dispatch)
    }

    /// Encodes it, with the times of its begin and end if it is a pass.
    pub fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        times: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) {
        encode(encoder, self.0, times);
    }
}

/// Encodes dispatches in passes, and copies between those.
fn encode_all(encoder: &mut wgpu::CommandEncoder, list: &[Command]) {
    list.chunk_by(|a, b| a.is_dispatch() && b.is_dispatch()).for_each(|run| encode(encoder, run, None));
}

fn encode(
    encoder: &mut wgpu::CommandEncoder,
    run: &[Command],
    timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>,
) {
    if let [Command::Copy { from, part, to, at }] = run {
        let size = part.end.saturating_sub(part.start);
        encoder.copy_buffer_to_buffer(&from.raw, part.start, &to.raw, *at, size);
        return;
    }
    let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
    let mut pass = encoder.begin_compute_pass(&descriptor);
    for command in run {
        let Command::Dispatch { program, arguments, offsets, groups } = command else { continue };
        pass.set_pipeline(&program.raw);
        pass.set_bind_group(0, &arguments.raw, offsets);
        match groups {
            Groups::Direct([x, y, z]) => pass.dispatch_workgroups(*x, *y, *z),
            Groups::Indirect(buffer, at) => pass.dispatch_workgroups_indirect(&buffer.raw, *at),
        }
    }
}
