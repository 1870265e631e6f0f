//! Draws that wait to be handed to the device together.

use rustc_hash::FxHashMap;
use xenoglot_host::{Access, Arguments, Binding, Buffer, Commands, Device, Error, Layout, Program};

use crate::fragment::layout::{
    BIN_BINDING, DEPTH_BINDING, DESTINATION_BINDING, TABLE_BINDING, TEXTURE_BINDING, TRIANGLE_BINDING,
    TRIANGLES_SIZE, UNIFORM_BINDING, UNIFORM_SIZE, Uniforms,
};

/// Words of bins and triangles after which a batch is handed over: 16 MiB.
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
}

/// Draws in order.
#[derive(Debug, Default)]
pub struct Batch {
    /// Bins of all draws.
    pub bins: Vec<u32>,
    /// What uniform buffers have of all draws.
    uniforms: Vec<u32>,
    draws: Vec<Draw>,
}

#[derive(Debug)]
struct Draw {
    program: Program,
    buffers: Buffers,
    /// Of its uniforms and of its triangles, in bytes.
    offsets: [u32; 2],
    bins: u32,
}

impl Batch {
    /// Words that wait.
    pub fn words(&self) -> usize {
        self.bins.len() + self.uniforms.len()
    }

    /// Adds a draw whose bins are in [`Batch::bins`].
    pub fn push(
        &mut self,
        device: &Device,
        program: Program,
        buffers: Buffers,
        uniforms: &Uniforms,
        triangles: &[u32],
        bins: u32,
    ) {
        let alignment = (device.uniform_alignment() as usize / 4).max(1);
        let offsets = [uniforms.as_slice(), triangles].map(|words| {
            let at = self.uniforms.len().next_multiple_of(alignment);
            self.uniforms.resize(at, 0);
            self.uniforms.extend_from_slice(words);
            at as u32 * 4
        });
        self.draws.push(Draw { program, buffers, offsets, bins });
    }

    /// Turns the draws into commands, and forgets them.
    pub fn record(&mut self, device: &Device, layout: &Layout, commands: &mut Commands) -> Result<(), Error> {
        let Batch { bins, mut uniforms, draws } = std::mem::take(self);
        if draws.is_empty() {
            return Ok(());
        }
        // The last triangles are bound as if their buffer was full.
        uniforms.resize(uniforms.len() + TRIANGLES_SIZE as usize / 4, 0);
        let (lists, uniforms) = (device.buffer_of(&bins)?, device.buffer_of(&uniforms)?);
        // Buffers are compared and hashed by identity.
        #[allow(clippy::mutable_key_type)]
        let mut known: FxHashMap<&Buffers, Arguments> = FxHashMap::default();
        for Draw { program, buffers, offsets, bins } in &draws {
            let arguments = match known.get(buffers) {
                Some(arguments) => arguments.clone(),
                None => {
                    let Buffers { tables, textures: [a, b, c], color, depth } = buffers;
                    let list = [&uniforms, tables, a, b, c, color, depth, &uniforms, &lists];
                    let arguments = Arguments::new(device, layout, &list)?;
                    known.insert(buffers, arguments.clone());
                    arguments
                }
            };
            commands.dispatch(program, &arguments, offsets, [*bins, 1, 1]);
        }
        Ok(())
    }
}
