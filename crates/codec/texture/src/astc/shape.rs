//! What follows from the size of a block alone, for each of its texels.

use super::{CHUNK, Footprint, ROOM};

/// Texels fewer than this make a small block, whose coordinates are doubled for the choice of partitions.
const SMALL: usize = 31;

pub struct Shape {
    /// Width, height and depth.
    pub size: [u8; 3],
    pub is_flat: bool,
    pub texels: usize,
    /// Coordinates of texels, doubled in small blocks.
    pub places: [[u8; ROOM]; 3],
    /// The same as 1024ths of the way along the axis.
    pub ways: [[u16; ROOM]; 3],
}

impl Shape {
    const fn new(footprint: Footprint) -> Shape {
        let Footprint { width, height, depth } = footprint;
        let size = [width as usize, height as usize, depth as usize];
        let texels = footprint.texels();
        let mut shape = Shape {
            size: [width, height, depth],
            is_flat: depth == 1,
            texels,
            places: [[0; ROOM]; 3],
            ways: [[0; ROOM]; 3],
        };
        let mut i = 0;
        while i < texels {
            let at = [i % size[0], i / size[0] % size[1], i / size[0] / size[1]];
            let mut a = 0;
            while a < 3 {
                shape.places[a][i] = if texels < SMALL { 2 * at[a] } else { at[a] } as u8;
                if size[a] > 1 {
                    shape.ways[a][i] = (step(size[a]) * at[a]) as u16;
                }
                a += 1;
            }
            i += 1;
        }
        shape
    }

    /// Chunks that hold the texels.
    #[inline(always)]
    pub fn chunks(&self) -> usize {
        self.texels.div_ceil(CHUNK)
    }
}

/// What a step of a texel is in 1024ths of the way along an axis of `texels` texels, two at least.
pub const fn step(texels: usize) -> usize {
    (1024 + texels / 2) / (texels - 1)
}

/// In the order of [`Footprint::ALL`].
static SHAPES: [Shape; 24] = {
    let mut shapes = [const { Shape::new(Footprint::ALL[0]) }; 24];
    let mut i = 0;
    while i < shapes.len() {
        shapes[i] = Shape::new(Footprint::ALL[i]);
        i += 1;
    }
    shapes
};

/// The shape of blocks of a footprint.
pub fn of(footprint: Footprint) -> &'static Shape {
    let index = Footprint::ALL.iter().position(|&f| f == footprint).unwrap_or(0);
    &SHAPES[index]
}
