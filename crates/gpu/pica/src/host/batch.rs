//! Work that waits to be handed to the device together: draws, and what moves their pixels and texels.

use std::ops::Range;

use rustc_hash::FxHashMap;
use xenoglot_host::{
    Access, Argument, Arguments, Binding, Buffer, Commands, Device, Error, Layout, Program, Texture,
};

use super::binning::{Binned, Binners, Gathering, Marking};
use super::kernels::{Kernels, PARAMS, groups};
use crate::fragment::layout::{
    BIN_BINDING, DEPTH_BINDING, DESTINATION_BINDING, TABLE_BINDING, TEXTURE_BINDING, TRIANGLE_BINDING,
    TRIANGLES_SIZE, UNIFORM_BINDING, UNIFORM_SIZE, Uniforms,
};
use crate::report::Traffic;

/// Words of lists and uniforms after which a batch is handed over: 16 MiB.
pub const WORDS: usize = 1 << 22;

/// The buffers of tile programs.
pub fn layout(device: &Device) -> Layout {
    let bindings = [
        (UNIFORM_BINDING, Access::Uniform { size: UNIFORM_SIZE }),
        (TABLE_BINDING, Access::Read),
        (TEXTURE_BINDING, Access::Read),
        (TEXTURE_BINDING + 1, Access::Read),
        (TEXTURE_BINDING + 2, Access::Read),
        (DESTINATION_BINDING, Access::ReadWrite),
        (DEPTH_BINDING, Access::ReadWrite),
        (TRIANGLE_BINDING, Access::Uniform { size: TRIANGLES_SIZE }),
        (BIN_BINDING, Access::Read),
    ];
    device.layout(&bindings.map(|(number, access)| Binding::new(number, access)))
}

/// Buffers of a draw that other draws may share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Buffers {
    /// Tables of the fragment stages.
    pub tables: Buffer,
    /// Texels of the units.
    pub textures: [Buffer; 3],
    /// Colour buffer.
    pub color: Buffer,
    /// Depth buffer.
    pub depth: Buffer,
    /// Triangles and bins that the device made; others are in the batch.
    pub binned: Option<Binned>,
}

/// How many bins and planes a draw has.
#[derive(Clone, Debug)]
pub enum Groups {
    /// So many.
    Direct([u32; 2]),
    /// Read by the device, at a byte of a buffer.
    Indirect(Buffer, u64),
}

/// Where a step reads words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// In [`Batch::lists`].
    Lists,
    /// In a buffer.
    Buffer(Buffer),
}

/// Steps in order.
#[derive(Debug, Default)]
pub struct Batch {
    /// Bins of all draws, and bytes of guest memory on their way to the device.
    pub lists: Vec<u32>,
    /// Contents of the uniform buffers of all steps.
    uniforms: Vec<u32>,
    steps: Vec<Step>,
    /// Whether there is a draw among the steps.
    draws: bool,
}

#[derive(Debug)]
enum Step {
    Draw(Draw),
    Mark(Marking),
    /// With the offset of its parameters, in bytes.
    Gather(Gathering, u32),
    Kernel(Kernel),
    Copy {
        from: Source,
        part: Range<u64>,
        to: Buffer,
        at: u64,
    },
    Present {
        from: Source,
        levels: Buffer,
        picture: Texture,
        offset: u32,
        groups: [u32; 2],
    },
}

#[derive(Debug)]
struct Draw {
    program: Program,
    buffers: Buffers,
    /// Of its uniforms and of its triangles, in bytes.
    offsets: [u32; 2],
    groups: Groups,
}

#[derive(Debug)]
struct Kernel {
    program: Program,
    from: Source,
    to: Buffer,
    /// Of its parameters, in bytes.
    offset: u32,
    groups: [u32; 2],
}

impl Batch {
    /// Words that wait.
    pub fn words(&self) -> usize {
        self.lists.len() + self.uniforms.len()
    }

    /// Adds words to a uniform buffer; gives the byte at which they start.
    pub fn place(&mut self, device: &Device, words: &[u32]) -> u32 {
        let alignment = (device.uniform_alignment() as usize / 4).max(1);
        let at = self.uniforms.len().next_multiple_of(alignment);
        self.uniforms.resize(at, 0);
        self.uniforms.extend_from_slice(words);
        at as u32 * 4
    }

    /// Adds a draw whose triangles begin at a byte of their buffer, as [`Batch::place`] gives it for those in the batch. Its bins are
    /// in [`Batch::lists`], unless the device made them.
    pub fn draw(
        &mut self,
        device: &Device,
        program: Program,
        buffers: Buffers,
        (uniforms, triangles): (&Uniforms, u32),
        groups: Groups,
    ) {
        let offsets = [self.place(device, uniforms), triangles];
        self.steps.push(Step::Draw(Draw { program, buffers, offsets, groups }));
        self.draws = true;
    }

    /// Adds the making of bitmaps.
    pub fn mark(&mut self, marking: Marking) {
        self.steps.push(Step::Mark(marking));
    }

    /// Adds the making of lists of bitmaps.
    pub fn gather(&mut self, device: &Device, gathering: Gathering) {
        let offset = self.place(device, gathering.params());
        self.steps.push(Step::Gather(gathering, offset));
    }

    /// Adds a program of [`Kernels`] with so many invocations in each plane.
    pub fn kernel(
        &mut self,
        device: &Device,
        program: &Program,
        from: Source,
        to: &Buffer,
        params: &[u32; PARAMS],
        [invocations, planes]: [u32; 2],
    ) {
        let offset = self.place(device, params);
        let groups = [groups(invocations), planes];
        self.steps.push(Step::Kernel(Kernel {
            program: program.clone(),
            from,
            to: to.clone(),
            offset,
            groups,
        }));
    }

    /// Adds the program that shows a frame, by its parameters; `levels` are of 256 words.
    pub fn present(
        &mut self,
        device: &Device,
        from: Source,
        levels: &Buffer,
        picture: &Texture,
        params: &[u32; PARAMS],
    ) {
        let offset = self.place(device, params);
        let [width, height, _] = picture.size();
        let (levels, picture) = (levels.clone(), picture.clone());
        let groups = [groups(width), height];
        self.steps.push(Step::Present { from, levels, picture, offset, groups });
    }

    /// Adds a copy of bytes; multiples of 4.
    pub fn copy(&mut self, from: Source, part: Range<u64>, to: &Buffer, at: u64) {
        self.steps.push(Step::Copy { from, part, to: to.clone(), at });
    }

    /// Adds words to [`Batch::lists`]; gives the byte at which they start.
    pub fn add(&mut self, words: &[u32]) -> u64 {
        let at = size_of_val(self.lists.as_slice()) as u64;
        self.lists.extend_from_slice(words);
        self.lists.resize(self.lists.len().next_multiple_of(4), 0);
        at
    }

    /// Adds bytes to [`Batch::lists`]; gives the word at which they start.
    pub fn upload(&mut self, bytes: &[u8]) -> u32 {
        let at = self.lists.len();
        let (words, rest) = bytes.as_chunks::<4>();
        self.lists.extend(words.iter().map(|&word| u32::from_le_bytes(word)));
        let mut last = [0; 4];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        self.lists.push(u32::from_le_bytes(last));
        self.lists.resize(self.lists.len().next_multiple_of(4), 0);
        at as u32
    }

    /// Turns the steps into commands, and forgets them.
    pub fn record(
        &mut self,
        device: &Device,
        (layout, kernels, binners): (&Layout, &Kernels, &Binners),
        commands: &mut Commands,
        traffic: &mut Traffic,
    ) -> Result<(), Error> {
        let Batch { lists, mut uniforms, steps, draws } = std::mem::take(self);
        if steps.is_empty() {
            return Ok(());
        }
        // Bindings have a fixed size, so the last triangles or parameters need padding behind them.
        let behind = if draws { TRIANGLES_SIZE as usize / 4 } else { PARAMS };
        traffic.commands += 4 * (lists.len() + uniforms.len()) as u64;
        uniforms.resize(uniforms.len() + behind, 0);
        let (lists, uniforms) = (device.buffer_of(&lists)?, device.buffer_of(&uniforms)?);
        // Buffers are compared and hashed by identity.
        #[allow(clippy::mutable_key_type)]
        let mut of_draws: FxHashMap<&Buffers, Arguments> = FxHashMap::default();
        #[allow(clippy::mutable_key_type)]
        let mut of_kernels: FxHashMap<(&Source, &Buffer), Arguments> = FxHashMap::default();
        let buffer = |source: &Source| match source {
            Source::Lists => lists.clone(),
            Source::Buffer(buffer) => buffer.clone(),
        };
        for step in &steps {
            match step {
                Step::Draw(Draw { program, buffers, offsets, groups }) => {
                    let arguments = match of_draws.get(buffers) {
                        Some(arguments) => arguments.clone(),
                        None => {
                            let Buffers { tables, textures: [a, b, c], color, depth, binned } = buffers;
                            let (triangles, bins) = match binned {
                                Some(Binned { triangles, lists }) => (triangles, lists),
                                None => (&uniforms, &lists),
                            };
                            let list = [&uniforms, tables, a, b, c, color, depth, triangles, bins];
                            let arguments = Arguments::new(device, layout, &list)?;
                            of_draws.insert(buffers, arguments.clone());
                            arguments
                        }
                    };
                    match groups {
                        Groups::Direct([bins, planes]) => {
                            commands.dispatch(program, &arguments, offsets, [*bins, *planes, 1]);
                        }
                        Groups::Indirect(buffer, at) => {
                            commands.dispatch_indirect(program, &arguments, offsets, (buffer, *at));
                        }
                    }
                }
                Step::Mark(marking) => traffic.commands += binners.mark(device, commands, marking)?,
                Step::Gather(gathering, offset) => {
                    binners.gather(device, commands, gathering, (&uniforms, *offset))?;
                }
                Step::Kernel(Kernel { program, from, to, offset, groups }) => {
                    let arguments = match of_kernels.get(&(from, to)) {
                        Some(arguments) => arguments.clone(),
                        None => {
                            let source = buffer(from);
                            let arguments =
                                Arguments::new(device, &kernels.layout, &[&uniforms, &source, to])?;
                            of_kernels.insert((from, to), arguments.clone());
                            arguments
                        }
                    };
                    commands.dispatch(program, &arguments, &[*offset], [groups[0], groups[1], 1]);
                }
                Step::Present { from, levels, picture, offset, groups } => {
                    let buffers =
                        [&uniforms, &buffer(from), levels].map(|buffer| Argument::Buffer(buffer.clone()));
                    let all: Vec<Argument> =
                        buffers.into_iter().chain([Argument::Texture(picture.clone())]).collect();
                    let arguments = Arguments::of(device, &kernels.present_layout, &all)?;
                    commands.dispatch(&kernels.present, &arguments, &[*offset], [groups[0], groups[1], 1]);
                }
                Step::Copy { from, part, to, at } => commands.copy(&buffer(from), part.clone(), to, *at),
            }
        }
        Ok(())
    }
}
