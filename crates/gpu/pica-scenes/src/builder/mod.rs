//! A frame at a time: where things lie in memory, command lists, buffers, transfers.
//!
//! | memory | what |
//! |---|---|
//! | start of VRAM | colour buffer, RGBA8 |
//! | [`DEPTH`] | depth and stencil buffer, D24S8 |
//! | [`OFFSCREEN`] | what is rendered to be read as a texture |
//! | start of FCRAM | two frames as they are shown, in turn, RGB8 |
//! | [`DATA`] | vertices, indices and textures, there from the start |
//! | [`LISTS`] | command lists of two frames, in turn |
//!
//! The console's screens lie on their side: a frame has [`HEIGHT`] columns and [`WIDTH`] rows in memory.

mod program;
mod state;

pub use program::{Program, bundled};
pub(crate) use state::f16;
pub use state::{Blend, Combine, Compare, Light, Operand, Source, Stage, Texture, Wrap};

use crate::mesh::Attribute;
use xenoglot_capture::{Capture, Info};
use xenoglot_pica::memory::{FCRAM, VRAM};
use xenoglot_pica::regs::*;
use xenoglot_pica::replay::{CommandList, Recorder, Shown};
use xenoglot_pica::transfer::{DisplayTransfer, Fill};
use xenoglot_pica_shader::float::{Denormals, F24};

/// Width of the picture as it is seen.
pub const WIDTH: u32 = 400;
/// Height of the picture as it is seen.
pub const HEIGHT: u32 = 240;

const COLOR: u32 = VRAM;
const DEPTH: u32 = VRAM + 0x6_0000;
/// Off-screen colour buffer of at most 512x512 RGBA8.
pub const OFFSCREEN: u32 = VRAM + 0x10_0000;
const SHOWN: [u32; 2] = [FCRAM, FCRAM + 0x6_0000];
const DATA: u32 = FCRAM + 0x10_0000;
const LISTS: [u32; 2] = [FCRAM + 0x200_0000, FCRAM + 0x280_0000];

/// Fill control: 32 bits at a time.
const FILL_WORDS: u32 = 1 << 9;
/// Transfer flags: to RGB8.
const TO_RGB8: u32 = 1 << 12;
const RGB8: u32 = 1;

/// Bits of a 24-bit float register.
pub(crate) fn f24(value: f32) -> u32 {
    F24.from_f32(value, Denormals::Flush)
}

/// Vertices in memory, interleaved.
#[derive(Clone, Copy, Debug)]
pub struct VertexBuffer {
    address: u32,
    attributes: &'static [Attribute],
}

/// 16-bit indices in memory.
#[derive(Clone, Copy, Debug)]
pub struct IndexBuffer {
    address: u32,
    count: u32,
}

/// Where is drawn to.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    color: u32,
    width: u32,
    height: u32,
}

impl Target {
    /// The frame that is shown, on its side.
    pub const SCREEN: Target = Target { color: COLOR, width: HEIGHT, height: WIDTH };

    /// A square at [`OFFSCREEN`].
    pub const fn offscreen(side: u32) -> Target {
        Target { color: OFFSCREEN, width: side, height: side }
    }
}

/// Makes a capture.
#[derive(Debug)]
pub struct Builder {
    recorder: Recorder,
    /// The next free byte for data.
    free: u32,
    frame: u32,
    /// What is done before the frame's command list.
    fills: Vec<Fill>,
    /// The frame's command list.
    pub list: CommandList,
}

impl Builder {
    /// A capture; its first frame sets all state to the scenes' defaults.
    pub fn new(title: &str) -> Builder {
        let info = Info {
            title: title.into(),
            creator: concat!("xenoglot ", env!("CARGO_PKG_VERSION")).into(),
            ..Info::default()
        };
        let mut builder = Builder {
            recorder: Recorder::new(info),
            free: DATA,
            frame: 0,
            fills: Vec::new(),
            list: CommandList::new(),
        };
        builder.reset();
        builder.target(Target::SCREEN);
        builder
    }

    /// Puts data into main memory before the first frame; where they lie.
    pub fn place(&mut self, bytes: Vec<u8>) -> u32 {
        let address = self.free;
        self.free += (bytes.len() as u32).next_multiple_of(128);
        assert!(self.free <= LISTS[0], "a scene's data fit");
        self.recorder.memory(address, bytes);
        address
    }

    /// Places vertices.
    pub fn vertices(&mut self, (bytes, attributes): (Vec<u8>, &'static [Attribute])) -> VertexBuffer {
        VertexBuffer { address: self.place(bytes), attributes }
    }

    /// Places indices.
    pub fn indices(&mut self, indices: &[u16]) -> IndexBuffer {
        let bytes = indices.iter().flat_map(|index| index.to_le_bytes()).collect();
        IndexBuffer { address: self.place(bytes), count: indices.len() as u32 }
    }

    /// Says what the attributes of the following draws are: attribute n goes to input register n.
    pub fn bind(&mut self, vertices: &VertexBuffer) {
        let attributes = vertices.attributes;
        let formats = attributes.iter().zip(0..).map(|(a, i)| u64::from(a.format()) << (4 * i)).sum::<u64>();
        let components = (0..attributes.len() as u64).map(|i| i << (4 * i)).sum::<u64>();
        let (count, stride) = (attributes.len() as u32, Attribute::stride(attributes));
        self.list.write(ATTRIBUTE_BASE, FCRAM / 8);
        self.list.write_all(ATTRIBUTE_FORMATS, &[formats as u32, (formats >> 32) as u32 | (count - 1) << 28]);
        let loader = [
            vertices.address - FCRAM,
            components as u32,
            (components >> 32) as u32 | stride << 16 | count << 28,
        ];
        self.list.write_all(LOADER, &loader);
    }

    /// Draws vertices by their indices.
    pub fn draw(&mut self, indices: &IndexBuffer) {
        self.list.write(INDEX_ARRAY, (indices.address - FCRAM) | 1 << 31);
        self.list.write(VERTEX_COUNT, indices.count);
        self.list.write(DRAWING, 0).write(DRAW_INDEXED, 1).write(DRAWING, 1);
    }

    /// Draws the vertices from `first` on in their order.
    pub fn draw_range(&mut self, first: u32, count: u32) {
        self.list.write(FIRST_VERTEX, first).write(VERTEX_COUNT, count);
        self.list.write(DRAWING, 0).write(DRAW_ARRAYS, 1).write(DRAWING, 1);
    }

    /// Sets where is drawn to, with the viewport over all of it.
    pub fn target(&mut self, target: Target) {
        let Target { color, width, height } = target;
        let half = |side: u32| f24(side as f32 / 2.0);
        let inverse = |side: u32| f24(2.0 / side as f32) << 1;
        self.list
            .write_all(VIEWPORT_HALF_WIDTH, &[half(width), inverse(width), half(height), inverse(height)]);
        self.list.write(VIEWPORT_CORNER, 0);
        let size = width | (height - 1) << 12 | 1 << 24;
        self.list.write_all(DEPTH_ADDRESS, &[DEPTH / 8, color / 8, size]);
    }

    /// Fills the off-screen buffer before the frame's command list.
    pub fn clear_offscreen(&mut self, side: u32, value: u32) {
        let end = OFFSCREEN + side * side * 4;
        self.fills.push(Fill { start: OFFSCREEN, end, value, control: FILL_WORDS });
    }

    /// Ends a frame that began with this background, depth 0 (the farthest) and stencil 0.
    pub fn end_frame(&mut self, [r, g, b]: [u8; 3]) {
        let bytes = WIDTH * HEIGHT * 4;
        let background = u32::from_be_bytes([r, g, b, 255]);
        for (start, value) in [(COLOR, background), (DEPTH, 0)] {
            self.recorder.fill(Fill { start, end: start + bytes, value, control: FILL_WORDS });
        }
        self.fills.drain(..).for_each(|fill| self.recorder.fill(fill));
        let turn = self.frame as usize % 2;
        self.recorder.list(LISTS[turn], &self.list);
        self.list.clear();
        let size = HEIGHT | WIDTH << 16;
        self.recorder.display_transfer(DisplayTransfer {
            src: COLOR,
            dst: SHOWN[turn],
            out_size: size,
            in_size: size,
            flags: TO_RGB8,
        });
        self.recorder.end_frame(Shown {
            address: SHOWN[turn],
            width: HEIGHT,
            height: WIDTH,
            format: RGB8,
            on_its_side: true,
        });
        self.frame += 1;
    }

    /// The capture.
    pub fn finish(self) -> Capture {
        self.recorder.finish()
    }
}
