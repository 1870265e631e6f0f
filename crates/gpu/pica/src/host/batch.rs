//! Draws that wait to be handed to the device together.

use rustc_hash::FxHashMap;
use xenoglot_host::{Access, Arguments, Binding, Buffer, Commands, Device, Error, Layout, Program};

use crate::fragment::layout::{
    DEPTH_BINDING, DESTINATION_BINDING, TABLE_BINDING, TEXTURE_BINDING, TRIANGLE_BINDING, UNIFORM_BINDING,
    UNIFORM_SIZE, Uniforms,
};

/// Words of triangles after which a batch is handed over: 16 MiB.
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
        (TRIANGLE_BINDING, Access::Read),
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
    /// Bins and triangles of all draws.
    pub words: Vec<u32>,
    uniforms: Vec<u32>,
    draws: Vec<Draw>,
}

#[derive(Debug)]
struct Draw {
    program: Program,
    buffers: Buffers,
    /// Of its uniforms, in bytes.
    uniforms: u32,
    bins: u32,
}

impl Batch {
    /// Adds a draw whose triangles are in [`Batch::words`].
    pub fn push(
        &mut self,
        device: &Device,
        program: Program,
        buffers: Buffers,
        uniforms: &Uniforms,
        bins: u32,
    ) {
        let alignment = device.uniform_alignment() as usize / 4;
        let at = self.uniforms.len().next_multiple_of(alignment.max(1));
        self.uniforms.resize(at, 0);
        self.uniforms.extend_from_slice(uniforms);
        self.draws.push(Draw { program, buffers, uniforms: at as u32 * 4, bins });
    }

    /// Turns the draws into commands, and forgets them.
    pub fn record(&mut self, device: &Device, layout: &Layout, commands: &mut Commands) -> Result<(), Error> {
        let (words, uniforms) = (std::mem::take(&mut self.words), std::mem::take(&mut self.uniforms));
        let draws = std::mem::take(&mut self.draws);
        if draws.is_empty() {
            return Ok(());
        }
        let (triangles, uniforms) = (device.buffer_of(&words)?, device.buffer_of(&uniforms)?);
        let mut known: FxHashMap<&Buffers, Arguments> = FxHashMap::default();
        for Draw { program, buffers, uniforms: offset, bins } in &draws {
            let arguments = match known.get(buffers) {
                Some(arguments) => arguments.clone(),
                None => {
                    let Buffers { tables, textures: [a, b, c], color, depth } = buffers;
                    let list = [&uniforms, tables, a, b, c, color, depth, &triangles];
                    let arguments = Arguments::new(device, layout, &list)?;
                    known.insert(buffers, arguments.clone());
                    arguments
                }
            };
            commands.dispatch(program, &arguments, &[*offset], [*bins, 1, 1]);
        }
        Ok(())
    }
}
