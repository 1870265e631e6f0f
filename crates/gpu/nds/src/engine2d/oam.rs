//! Which OBJs are on which line.

/// Entries of OAM.
const ENTRIES: usize = 128;

/// Sizes of an OBJ by shape and size, width and height in pixels. Shape 3 is as melonDS has it.
const SIZES: [[[u8; 2]; 4]; 4] = [
    [[8, 8], [16, 16], [32, 32], [64, 64]],
    [[16, 8], [32, 8], [32, 16], [64, 32]],
    [[8, 16], [8, 32], [16, 32], [32, 64]],
    [[8, 8]; 4],
];

/// An OBJ's entry.
#[derive(Clone, Copy, Debug)]
pub struct Entry(pub [u16; 3]);

impl Entry {
    /// An entry of OAM by its number.
    pub fn read(oam: &[u16; 512], number: usize) -> Entry {
        let half = |i| oam.get(4 * number + i).copied().unwrap_or(0);
        Entry([half(0), half(1), half(2)])
    }

    /// Whether a matrix turns it.
    pub fn is_affine(self) -> bool {
        self.0[0] & 0x100 != 0
    }

    /// Width and height of its picture.
    pub fn size(self) -> [u32; 2] {
        let [shape, size] = [self.0[0], self.0[1]].map(|half| usize::from(half >> 14));
        SIZES[shape][size].map(u32::from)
    }

    /// Width and height of its place on the screen; none if it is off.
    pub fn place(self) -> Option<[u32; 2]> {
        let is_double = self.0[0] & 0x200 != 0;
        match (self.is_affine(), is_double) {
            (false, true) => None,
            (true, true) => Some(self.size().map(|n| 2 * n)),
            _ => Some(self.size()),
        }
    }

    /// First line, modulo 256.
    pub fn y(self) -> u32 {
        u32::from(self.0[0] & 0xff)
    }
}

/// Which OBJs are on which line, kept up to date entry by entry.
#[derive(Clone, Debug)]
pub struct Oam {
    lines: Box<[u128; 256]>,
    /// First line and height of each entry, as it is in `lines`.
    rows: [(u8, u8); ENTRIES],
    /// Entries that were written since.
    changed: u128,
}

impl Default for Oam {
    fn default() -> Oam {
        let Ok(lines) = vec![0; 256].into_boxed_slice().try_into() else { unreachable!("256 lines") };
        Oam { lines, rows: [(0, 0); ENTRIES], changed: !0 }
    }
}

impl Oam {
    /// Notes that a halfword was written.
    pub fn changed(&mut self, half: usize) {
        // The fourth of an entry is a part of a matrix.
        if half & 3 < 2 {
            self.changed |= 1 << (half / 4 % ENTRIES);
        }
    }

    /// Takes what was written over.
    pub fn refresh(&mut self, oam: &[u16; 512]) {
        while self.changed != 0 {
            let number = self.changed.trailing_zeros() as usize;
            self.changed &= self.changed - 1;
            let bit = 1u128 << number;
            let (y, height) = self.rows[number];
            (0..height).for_each(|row| self.lines[usize::from(y.wrapping_add(row))] &= !bit);
            let entry = Entry::read(oam, number);
            let (y, height) = (entry.y() as u8, entry.place().map_or(0, |[_, height]| height as u8));
            (0..height).for_each(|row| self.lines[usize::from(y.wrapping_add(row))] |= bit);
            self.rows[number] = (y, height);
        }
    }

    /// The entries on a line, a bit each.
    pub fn on_line(&self, line: u32) -> u128 {
        self.lines[line as usize % 256]
    }
}
