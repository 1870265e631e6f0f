//! A picture of both screens, pixel by pixel and from the facts alone: registers that do not change within the frame.
//!
//! Nothing here is fast, and nothing is the crate's: each pixel asks every layer, each byte of memory asks every bank.

/// Sizes of the banks A to I.
pub const BANKS: [usize; 9] = [0x20000, 0x20000, 0x20000, 0x20000, 0x10000, 0x4000, 0x4000, 0x8000, 0x4000];

/// All that a picture depends on.
#[derive(Clone)]
pub struct Machine {
    pub banks: Vec<Vec<u8>>,
    pub control: [u8; 9],
    /// Palettes and OAM as bytes.
    pub palettes: Vec<u8>,
    pub oam: Vec<u8>,
    /// Registers of both engines by offset / 2.
    pub io: [[u16; 0x38]; 2],
    pub power: u16,
    pub capture: u32,
    /// The 3D engines' picture.
    pub three_d: Vec<[u32; 256]>,
    /// Entries of the display FIFO.
    pub fifo: [u16; 16],
}

/// Which memory of an engine.
#[derive(Clone, Copy, PartialEq)]
enum Memory {
    Background,
    Obj,
    BackgroundPalettes,
    ObjPalettes,
}

const KIB: usize = 1024;

/// The ranges of addresses at which a bank is seen.
fn seen(bank: usize, control: u8, engine: usize, memory: Memory) -> Vec<std::ops::Range<usize>> {
    use Memory::*;
    if control & 0x80 == 0 {
        return Vec::new();
    }
    let (ofs, size) = (usize::from(control >> 3 & 3), BANKS[bank]);
    let mst = if [0, 1, 7, 8].contains(&bank) { control & 3 } else { control & 7 };
    let at = |start: usize| start..start + size;
    // Only so much of the bank is seen.
    let first = |size: usize| 0..size;
    let small = 16 * KIB * (ofs & 1) + 64 * KIB * (ofs >> 1);
    match (engine, memory, bank, mst) {
        (0, Background, 0..=3, 1) => vec![at(128 * KIB * ofs)],
        (0, Background, 4, 1) => vec![at(0)],
        (0, Background, 5 | 6, 1) => vec![at(small), at(small + 32 * KIB)],
        (0, Obj, 0 | 1, 2) => vec![at(128 * KIB * (ofs & 1))],
        (0, Obj, 4, 2) => vec![at(0)],
        (0, Obj, 5 | 6, 2) => vec![at(small), at(small + 32 * KIB)],
        (0, BackgroundPalettes, 4, 4) => vec![first(32 * KIB)],
        (0, BackgroundPalettes, 5 | 6, 4) => vec![at(16 * KIB * (ofs & 1))],
        (0, ObjPalettes, 5 | 6, 5) => vec![first(8 * KIB)],
        (1, Background, 2, 4) => vec![at(0)],
        (1, Background, 7, 1) => vec![at(0), at(64 * KIB)],
        (1, Background, 8, 1) => vec![at(32 * KIB), at(48 * KIB), at(96 * KIB), at(112 * KIB)],
        (1, Obj, 3, 4) => vec![at(0)],
        (1, Obj, 8, 2) => (0..8).map(|i| at(16 * KIB * i)).collect(),
        (1, BackgroundPalettes, 7, 2) => vec![at(0)],
        (1, ObjPalettes, 8, 3) => vec![first(8 * KIB)],
        _ => Vec::new(),
    }
}

/// A visible pixel of a layer.
#[derive(Clone, Copy)]
struct Pixel {
    /// 6 bits a channel.
    color: [u32; 3],
    /// Blends by itself: factors of it and of what is below, in 32nds.
    blend: Option<[u32; 2]>,
    /// It takes the registers' factors.
    is_semi: bool,
}

/// What the OBJs of a line have at a column.
#[derive(Clone, Copy)]
struct ObjPixel {
    pixel: Option<Pixel>,
    priority: u16,
    mosaic: bool,
}

/// What goes on from line to line.
#[derive(Clone, Default)]
pub struct Progress {
    vertical: [[bool; 2]; 2],
    horizontal: [[bool; 2]; 2],
}

impl Machine {
    fn byte(&self, engine: usize, memory: Memory, address: usize) -> u8 {
        let space = match (engine, memory) {
            (0, Memory::Background) => 512 * KIB,
            (0, Memory::Obj) => 256 * KIB,
            (_, Memory::Background | Memory::Obj) => 128 * KIB,
            (_, Memory::BackgroundPalettes) => 32 * KIB,
            (_, Memory::ObjPalettes) => 8 * KIB,
        };
        let address = address % space;
        let mut out = 0;
        for bank in 0..9 {
            for range in seen(bank, self.control[bank], engine, memory) {
                if range.contains(&address) {
                    out |= self.banks[bank][address - range.start];
                }
            }
        }
        out
    }

    fn half(&self, engine: usize, memory: Memory, address: usize) -> u16 {
        u16::from(self.byte(engine, memory, address)) | u16::from(self.byte(engine, memory, address + 1)) << 8
    }

    fn io(&self, engine: usize, offset: usize) -> u16 {
        self.io[engine][offset / 2]
    }

    fn display(&self, engine: usize) -> u32 {
        u32::from(self.io(engine, 0)) | u32::from(self.io(engine, 2)) << 16
    }

    /// A palette's colour: bit 15 is the lowest bit of green.
    fn palette_color(value: u16) -> [u32; 3] {
        let value = u32::from(value);
        [2 * (value & 31), 2 * (value >> 5 & 31) + (value >> 15), 2 * (value >> 10 & 31)]
    }

    fn direct_color(value: u16) -> [u32; 3] {
        Machine::palette_color(value & 0x7fff)
    }

    fn standard(&self, engine: usize, is_obj: bool, index: usize) -> [u32; 3] {
        let at = 1024 * engine + if is_obj { 512 } else { 0 } + 2 * index;
        Machine::palette_color(u16::from(self.palettes[at]) | u16::from(self.palettes[at + 1]) << 8)
    }

    /// A background's pixel.
    fn background(&self, engine: usize, n: usize, x: usize, y: usize) -> Option<Pixel> {
        let display = self.display(engine);
        let mode = display & 7;
        let control = usize::from(self.io(engine, 8 + 2 * n));
        let color = |color| Some(Pixel { color, blend: None, is_semi: false });
        if n == 0 && engine == 0 && display & 8 != 0 {
            let scroll = usize::from(self.io(0, 0x10) & 0x1ff);
            let from = (x + scroll) % 512;
            let value = if from < 256 { self.three_d[y][from] } else { 0 };
            let alpha = value >> 24;
            let channels = [0, 8, 16].map(|shift| value >> shift & 63);
            let blend = Some([alpha + 1, 31 - alpha]);
            return (alpha != 0).then_some(Pixel { color: channels, blend, is_semi: false });
        }
        let (mut x, mut y) = (x, y);
        if control & 0x40 != 0 {
            let mosaic = usize::from(self.io(engine, 0x4c));
            x -= x % ((mosaic & 15) + 1);
            y -= y % ((mosaic >> 4 & 15) + 1);
        }
        let kind = match (mode, n) {
            (0, _) | (1..=5 | 7, 0 | 1) | (1 | 3, 2) => 't',
            (1, 3) | (2, _) | (4, 2) => 'a',
            (3 | 4, 3) | (5, _) => 'e',
            (6, 2) => 'l',
            _ => return None,
        };
        let (bases, maps) = match engine {
            0 => ((display >> 24 & 7) as usize * 64 * KIB, (display >> 27 & 7) as usize * 64 * KIB),
            _ => (0, 0),
        };
        let tiles = bases + (control >> 2 & 15) * 16 * KIB;
        let map = maps + (control >> 8 & 31) * 2 * KIB;
        let size = control >> 14;
        let read = |at: usize| usize::from(self.byte(engine, Memory::Background, at));
        let read_half = |at: usize| usize::from(self.half(engine, Memory::Background, at));
        let extended = |slot: usize, palette: usize, index: usize| {
            let at = slot * 8 * KIB + palette * 512 + index * 2;
            Machine::palette_color(self.half(engine, Memory::BackgroundPalettes, at))
        };
        if kind == 't' {
            let x = (x + usize::from(self.io(engine, 0x10 + 4 * n) & 0x1ff)) % (256 << (size & 1));
            let y = (y + usize::from(self.io(engine, 0x12 + 4 * n) & 0x1ff)) % (256 << (size >> 1));
            let number = match size {
                0 => 0,
                1 => x / 256,
                2 => y / 256,
                _ => x / 256 + 2 * (y / 256),
            };
            let entry = read_half(map + number * 2 * KIB + (y % 256 / 8 * 32 + x % 256 / 8) * 2);
            let column = if entry & 0x400 != 0 { 7 - x % 8 } else { x % 8 };
            let row = if entry & 0x800 != 0 { 7 - y % 8 } else { y % 8 };
            if control & 0x80 == 0 {
                let byte = read(tiles + (entry & 0x3ff) * 32 + row * 4 + column / 2);
                let index = if column % 2 == 0 { byte & 15 } else { byte >> 4 };
                return if index == 0 {
                    None
                } else {
                    color(self.standard(engine, false, (entry >> 12) * 16 + index))
                };
            }
            let index = read(tiles + (entry & 0x3ff) * 64 + row * 8 + column);
            return match (index, display & 1 << 30 != 0) {
                (0, _) => None,
                (_, false) => color(self.standard(engine, false, index)),
                (_, true) => {
                    let slot = if n < 2 && control & 0x2000 != 0 { n + 2 } else { n };
                    color(extended(slot, entry >> 12, index))
                }
            };
        }
        let at = |offset: usize| i64::from(self.io(engine, 0x20 + 16 * (n - 2) + offset) as i16);
        let point = |offset: usize| {
            let low = self.io(engine, 0x20 + 16 * (n - 2) + offset);
            let high = self.io(engine, 0x22 + 16 * (n - 2) + offset);
            let bits = (i64::from(low) | i64::from(high) << 16) & 0xfff_ffff;
            if bits & 0x800_0000 != 0 { bits - 0x1000_0000 } else { bits }
        };
        let px = (point(8) + y as i64 * at(2) + x as i64 * at(0)) >> 8;
        let py = (point(12) + y as i64 * at(6) + x as i64 * at(4)) >> 8;
        let is_bitmap = kind == 'e' && control & 0x80 != 0;
        let (width, height) = match (kind, is_bitmap) {
            ('l', _) => [(512, 1024), (1024, 512), (512, 256), (512, 512)][size],
            (_, true) => [(128, 128), (256, 256), (512, 256), (512, 512)][size],
            _ => (128 << size, 128 << size),
        };
        let is_outside = !(0..width).contains(&px) || !(0..height).contains(&py);
        if is_outside && control & 0x2000 == 0 {
            return None;
        }
        let (px, py) = (px.rem_euclid(width) as usize, py.rem_euclid(height) as usize);
        let width = width as usize;
        let by_index =
            |index: usize| if index == 0 { None } else { color(self.standard(engine, false, index)) };
        match kind {
            'l' => by_index(read(py * width + px)),
            'a' => {
                let tile = read(map + py / 8 * (width / 8) + px / 8);
                by_index(read(tiles + tile * 64 + py % 8 * 8 + px % 8))
            }
            _ if !is_bitmap => {
                let entry = read_half(map + (py / 8 * (width / 8) + px / 8) * 2);
                let column = if entry & 0x400 != 0 { 7 - px % 8 } else { px % 8 };
                let row = if entry & 0x800 != 0 { 7 - py % 8 } else { py % 8 };
                let index = read(tiles + (entry & 0x3ff) * 64 + row * 8 + column);
                match (index, display & 1 << 30 != 0) {
                    (0, _) => None,
                    (_, false) => by_index(index),
                    (_, true) => color(extended(n, entry >> 12, index)),
                }
            }
            _ => {
                let base = (control >> 8 & 31) * 16 * KIB;
                if control & 4 == 0 {
                    by_index(read(base + py * width + px))
                } else {
                    let value = read_half(base + (py * width + px) * 2) as u16;
                    if value & 0x8000 == 0 { None } else { color(Machine::direct_color(value)) }
                }
            }
        }
    }

    /// The OBJs of a line, and the columns within their window.
    fn objs(&self, engine: usize, y: usize) -> (Vec<ObjPixel>, Vec<bool>) {
        let display = self.display(engine);
        let nothing = ObjPixel { pixel: None, priority: 0, mosaic: false };
        let (mut line, mut window) = (vec![nothing; 256], vec![false; 256]);
        let oam = |half: usize| {
            let at = 1024 * engine + 2 * half;
            usize::from(self.oam[at]) | usize::from(self.oam[at + 1]) << 8
        };
        let mosaic = usize::from(self.io(engine, 0x4c));
        for number in 0..128 {
            let [a0, a1, a2] = [0, 1, 2].map(|i| oam(4 * number + i));
            let (is_affine, is_double) = (a0 & 0x100 != 0, a0 & 0x200 != 0);
            if !is_affine && is_double {
                continue;
            }
            let sizes = [
                [(8, 8), (16, 16), (32, 32), (64, 64)],
                [(16, 8), (32, 8), (32, 16), (64, 32)],
                [(8, 16), (8, 32), (16, 32), (32, 64)],
                [(8, 8); 4],
            ];
            let (width, height): (usize, usize) = sizes[a0 >> 14][a1 >> 14];
            let (place_width, place_height) =
                if is_affine && is_double { (2 * width, 2 * height) } else { (width, height) };
            let row = (y + 256 - (a0 & 255)) % 256;
            if row >= place_height {
                continue;
            }
            let mode = a0 >> 10 & 3;
            let has_mosaic = a0 & 0x1000 != 0 && mode != 2;
            let row = if has_mosaic { row.saturating_sub(y % ((mosaic >> 12 & 15) + 1)) } else { row };
            let alpha = a2 >> 12;
            if mode == 3 && alpha == 0 {
                continue;
            }
            let x = if a1 & 0x100 != 0 { (a1 & 0xff) as i64 - 256 } else { (a1 & 0xff) as i64 };
            for i in 0..place_width {
                let column = x + i as i64;
                if !(0..256).contains(&column) {
                    continue;
                }
                let (px, py) = if is_affine {
                    let m = |i: usize| i64::from(oam(16 * (a1 >> 9 & 31) + 4 * i + 3) as u16 as i16);
                    let (dx, dy) = (i as i64 - place_width as i64 / 2, row as i64 - place_height as i64 / 2);
                    let px = (dx * m(0) + dy * m(1) + 128 * width as i64) >> 8;
                    let py = (dx * m(2) + dy * m(3) + 128 * height as i64) >> 8;
                    if !(0..width as i64).contains(&px) || !(0..height as i64).contains(&py) {
                        continue;
                    }
                    (px as usize, py as usize)
                } else {
                    let px = if a1 & 0x1000 != 0 { width - 1 - i } else { i };
                    (px, if a1 & 0x2000 != 0 { height - 1 - row } else { row })
                };
                let color = self.obj_color(engine, display, [a0, a1, a2], (width, px, py));
                let priority = (a2 >> 10 & 3) as u16;
                if mode == 2 {
                    window[column as usize] |= color.is_some();
                    continue;
                }
                let blend = (mode == 3).then(|| [2 * (alpha as u32 + 1), 2 * (15 - alpha as u32)]);
                let new = ObjPixel {
                    pixel: color.map(|color| Pixel { color, blend, is_semi: mode == 1 }),
                    priority,
                    mosaic: has_mosaic,
                };
                let place = &mut line[column as usize];
                let replaces = match (&new.pixel, &place.pixel) {
                    (Some(_), Some(_)) => priority < place.priority,
                    (Some(_), None) | (None, None) => true,
                    (None, Some(_)) => false,
                };
                if replaces {
                    *place = new;
                }
            }
        }
        let width = (mosaic >> 8 & 15) + 1;
        if width > 1 {
            let mut held = nothing;
            for (column, place) in line.iter_mut().enumerate() {
                let keeps =
                    column % width != 0 && place.mosaic && held.mosaic && place.priority >= held.priority;
                if keeps {
                    *place = held;
                }
                held = *place;
            }
        }
        (line, window)
    }

    fn obj_color(
        &self,
        engine: usize,
        display: u32,
        [a0, _, a2]: [usize; 3],
        (width, x, y): (usize, usize, usize),
    ) -> Option<[u32; 3]> {
        let tile = a2 & 0x3ff;
        let read = |at: usize| usize::from(self.byte(engine, Memory::Obj, at));
        if a0 >> 10 & 3 == 3 {
            let at = match (display & 0x40 != 0, display & 0x20 != 0) {
                (true, true) => return None,
                (true, false) => {
                    let boundary = if engine == 0 && display & 1 << 22 != 0 { 256 } else { 128 };
                    tile * boundary + (y * width + x) * 2
                }
                (false, is_wide) => {
                    let m = if is_wide { 31 } else { 15 };
                    let row = if is_wide { 256 } else { 128 };
                    (tile & m) * 16 + (tile & !m) * 128 + (y * row + x) * 2
                }
            };
            let value = self.half(engine, Memory::Obj, at);
            return (value & 0x8000 != 0).then(|| Machine::direct_color(value));
        }
        let is_deep = a0 & 0x2000 != 0;
        let bytes = if is_deep { 64 } else { 32 };
        let is_1d = display & 0x10 != 0;
        let start = if is_1d { tile * (32 << (display >> 20 & 3)) } else { tile * 32 };
        let row = if is_1d { width / 8 * bytes } else { 1024 };
        let at = start + y / 8 * row + x / 8 * bytes;
        let index = if is_deep {
            read(at + y % 8 * 8 + x % 8)
        } else {
            let byte = read(at + y % 8 * 4 + x % 8 / 2);
            if x % 2 == 0 { byte & 15 } else { byte >> 4 }
        };
        let palette = a2 >> 12;
        match (index, is_deep, display & 1 << 31 != 0) {
            (0, ..) => None,
            (_, false, _) => Some(self.standard(engine, true, palette * 16 + index)),
            (_, true, false) => Some(self.standard(engine, true, index)),
            (_, true, true) => {
                let at = palette * 512 + index * 2;
                Some(Machine::palette_color(self.half(engine, Memory::ObjPalettes, at)))
            }
        }
    }

    /// The start of a line: the windows' rows.
    pub fn start_line(&self, line: u32, progress: &mut Progress) {
        for engine in 0..2 {
            for n in 0..2 {
                let value = self.io(engine, 0x44 + 2 * n);
                let [end, start] = value.to_le_bytes();
                let inside = &mut progress.vertical[engine][n];
                if line & 255 == u32::from(end) {
                    *inside = false;
                } else if line & 255 == u32::from(start) {
                    *inside = true;
                }
            }
        }
    }

    /// What windows show at each column.
    fn shown(&self, engine: usize, obj: &[bool], progress: &mut Progress) -> Vec<u8> {
        let display = self.display(engine);
        if display & 0xe000 == 0 {
            return vec![0x3f; 256];
        }
        let [inside, outside] = [0x48, 0x4a].map(|at| self.io(engine, at).to_le_bytes());
        let mut out = Vec::new();
        for x in 0..256u32 {
            let mut within = [false; 2];
            for (n, within) in within.iter_mut().enumerate() {
                if display & 0x2000 << n == 0 {
                    continue;
                }
                let [end, start] = self.io(engine, 0x40 + 2 * n).to_le_bytes();
                let flag = &mut progress.horizontal[engine][n];
                if x == u32::from(end) {
                    *flag = false;
                } else if x == u32::from(start) {
                    *flag = true;
                }
                *within = *flag && progress.vertical[engine][n];
            }
            let is_obj = display & 0x8000 != 0 && display & 0x1000 != 0 && obj[x as usize];
            out.push(
                match (within, is_obj) {
                    ([true, _], _) => inside[0],
                    (_, _) if within[1] => inside[1],
                    (_, true) => outside[1],
                    _ => outside[0],
                } & 0x3f,
            );
        }
        out
    }

    /// An engine's picture of a line.
    fn picture(&self, engine: usize, y: usize, progress: &mut Progress) -> [[u32; 3]; 256] {
        let display = self.display(engine);
        if self.power & [2, 0x200][engine] == 0 {
            return [[[0; 3]; 256], [[63; 3]; 256]][engine];
        }
        if display & 0x80 != 0 {
            return [[63; 3]; 256];
        }
        let (objs, window) = self.objs(engine, y);
        let shown = self.shown(engine, &window, progress);
        let [eva, evb] = self.io(engine, 0x52).to_le_bytes().map(|f| u32::from(f & 31).min(16));
        let evy = u32::from(self.io(engine, 0x54) & 31).min(16);
        let targets = u32::from(self.io(engine, 0x50));
        let mut out = [[0; 3]; 256];
        for x in 0..256 {
            // Layers by their order in front of each other; OBJs come before backgrounds.
            let mut layers: Vec<(u16, usize, Pixel)> = Vec::new();
            for n in 0..4 {
                if display & 0x100 << n != 0 && shown[x] & 1 << n != 0 {
                    let priority = self.io(engine, 8 + 2 * n) & 3;
                    layers.extend(self.background(engine, n, x, y).map(|p| (2 * priority + 1, n, p)));
                }
            }
            if display & 0x1000 != 0 && shown[x] & 16 != 0 {
                layers.extend(objs[x].pixel.map(|p| (2 * objs[x].priority, 4, p)));
            }
            let backdrop = Pixel { color: self.standard(engine, false, 0), blend: None, is_semi: false };
            layers.push((100, 5, backdrop));
            layers.sort_by_key(|&(order, n, _)| (order, n));
            let (_, n, top) = layers[0];
            let second = layers.get(1).filter(|&&(_, n, _)| targets >> 8 & 1 << n != 0).map(|l| l.2.color);
            let is_first = targets & 1 << n != 0 && shown[x] & 32 != 0;
            let blend = |b: [u32; 3], f: [u32; 2], shift: u32| {
                let round = 1 << (shift - 1);
                [0, 1, 2].map(|i| ((top.color[i] * f[0] + b[i] * f[1] + round) >> shift).min(63))
            };
            out[x] = match (second, targets >> 6 & 3) {
                (Some(second), _) if top.is_semi => blend(second, [eva, evb], 4),
                (Some(second), _) if top.blend.is_some() => blend(second, top.blend.unwrap_or_default(), 5),
                (Some(second), 1) if is_first => blend(second, [eva, evb], 4),
                (_, 2) if is_first => top.color.map(|c| c + (((63 - c) * evy + 8) >> 4)),
                (_, 3) if is_first => top.color.map(|c| c - ((c * evy + 7) >> 4)),
                _ => top.color,
            };
        }
        out
    }

    fn fifo_line(&self) -> [u16; 256] {
        std::array::from_fn(|x| self.fifo[x % 16])
    }

    fn bank_row(&self, bank: usize, offset: usize) -> [u16; 256] {
        if self.control[bank] & 0x87 != 0x80 && !(bank < 2 && self.control[bank] & 0x83 == 0x80) {
            return [0; 256];
        }
        std::array::from_fn(|x| {
            let at = (offset + 2 * x) % self.banks[bank].len();
            u16::from(self.banks[bank][at]) | u16::from(self.banks[bank][at + 1]) << 8
        })
    }

    /// A line of both screens, the upper first; captures it, too.
    pub fn line(&mut self, y: usize, is_capturing: bool, progress: &mut Progress) -> [[u32; 256]; 2] {
        let [a, b] = [0, 1].map(|engine| self.picture(engine, y, progress));
        let display = [0, 1].map(|engine| self.display(engine));
        let bank = (display[0] >> 18 & 3) as usize;
        let mode = display[0] >> 16 & 3;
        let white = [[63; 3]; 256];
        let bright = |engine: usize, line: [[u32; 3]; 256]| {
            let control = u32::from(self.io(engine, 0x6c));
            let f = (control & 31).min(16);
            line.map(|color| {
                color.map(|c| match control >> 14 {
                    1 => c + (((63 - c) * f) >> 4),
                    2 => c - ((c * f + 15) >> 4),
                    _ => c,
                })
            })
        };
        let first = match mode {
            0 => white,
            1 => bright(0, a),
            2 => bright(0, self.bank_row(bank, 512 * y).map(Machine::direct_color)),
            _ => bright(0, self.fifo_line().map(Machine::direct_color)),
        };
        let second = if display[1] & 0x10000 == 0 { white } else { bright(1, b) };
        if is_capturing {
            self.capture_line(y, &a, mode == 2, bank);
        }
        let pack = |line: [[u32; 3]; 256]| line.map(|[r, g, b]| r | g << 6 | b << 12);
        match (self.power & 1, self.power >> 15) {
            (0, _) => [[0; 256]; 2],
            (_, 0) => [pack(second), pack(first)],
            _ => [pack(first), pack(second)],
        }
    }

    fn capture_line(&mut self, y: usize, picture: &[[u32; 3]; 256], shows_vram: bool, bank: usize) {
        let c = self.capture;
        let (width, height) = [(128, 128), (256, 64), (256, 128), (256, 192)][(c >> 20 & 3) as usize];
        let to = (c >> 16 & 3) as usize;
        let is_lcdc = self.control[to] & 0x80 != 0 && self.control[to] & if to < 2 { 3 } else { 7 } == 0;
        if y >= height || !is_lcdc {
            return;
        }
        let scroll = usize::from(self.io(0, 0x10) & 0x1ff);
        let source_a = |x: usize| {
            if c & 1 << 24 == 0 {
                return (picture[x].map(|v| v / 2), 1);
            }
            let from = (x + scroll) % 512;
            let value = if from < 256 { self.three_d[y][from] } else { 0 };
            ([0, 8, 16].map(|shift| (value >> shift & 63) / 2), u32::from(value >> 24 != 0))
        };
        let row = if c & 1 << 25 != 0 {
            self.fifo_line()
        } else {
            let offset = if shows_vram { 0 } else { (c >> 26 & 3) as usize * 0x8000 };
            self.bank_row(bank, offset + 512 * y)
        };
        let source_b = |x: usize| {
            let value = u32::from(row[x]);
            ([value & 31, value >> 5 & 31, value >> 10 & 31], value >> 15)
        };
        let [eva, evb] = [c & 31, c >> 8 & 31].map(|f| f.min(16));
        let values: Vec<u16> = (0..width)
            .map(|x| {
                let (color, alpha) = match c >> 29 & 3 {
                    0 => source_a(x),
                    1 => source_b(x),
                    _ => {
                        let ((a, aa), (b, ab)) = (source_a(x), source_b(x));
                        let mixed = [0, 1, 2].map(|i| ((a[i] * aa * eva + b[i] * ab * evb + 8) >> 4).min(31));
                        (mixed, u32::from(aa != 0 && eva > 0 || ab != 0 && evb > 0))
                    }
                };
                (color[0] | color[1] << 5 | color[2] << 10 | alpha << 15) as u16
            })
            .collect();
        for (x, value) in values.into_iter().enumerate() {
            let at = ((c >> 18 & 3) as usize * 0x8000 + (y * width + x) * 2) % 0x20000;
            self.banks[to][at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
    }
}
