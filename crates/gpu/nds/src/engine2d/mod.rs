//! The 2D engines: backgrounds, OBJs and windows to a line of the picture.
//!
//! Sources: GBATEK, "LCD" and "DS Video"; what it leaves open is as in melonDS, whose author checked it with consoles
//! (docs/nds.md).
//!
//! A line is made of layers of 256 pixels (`layer::Layer`). Loops go over whole lines without branches, so that they are
//! compiled for the host's vectors: all of them are inlined into a function per extension, which a line chooses.

mod background;
mod compose;
mod layer;
mod mosaic;
mod oam;
mod object;
mod registers;
mod window;

pub use registers::{DispCnt, Registers};

use crate::state::{Io, StateError, Stated};
use crate::video::vram::View;
use background::Points;
use fearless_simd::{Level, Simd, dispatch};
use layer::{Layer, WIDTH};
use mosaic::{BackgroundMosaic, ObjMosaic};
use oam::Oam;
use object::ObjLine;
use window::Windows;

/// A line of a picture: 6 bits of red, green and blue from the lowest bit on.
pub type PictureLine = [u32; WIDTH];

/// White, as a screen that is off or blanked.
pub const WHITE: u32 = 0x3_ffff;

/// What an engine reads.
#[derive(Clone, Copy)]
pub struct Memory<'a> {
    /// Backgrounds.
    pub background: View<'a>,
    /// OBJs.
    pub obj: View<'a>,
    /// Extended palettes of backgrounds.
    pub background_palettes: View<'a>,
    /// Extended palettes of OBJs.
    pub obj_palettes: View<'a>,
    /// Palettes of backgrounds, then of OBJs.
    pub palettes: &'a [u16; 512],
    /// OAM.
    pub oam: &'a [u16; 512],
}

impl Memory<'_> {
    fn background_colors(&self) -> &[u16; 256] {
        self.palettes.first_chunk().unwrap_or(&[0; 256])
    }

    fn obj_colors(&self) -> &[u16; 256] {
        self.palettes.last_chunk().unwrap_or(&[0; 256])
    }
}

/// What a background is in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    None,
    ThreeD,
    Text,
    Affine,
    Extended,
    Large,
}

/// A 2D engine.
#[derive(Clone, Debug)]
pub struct Engine {
    registers: Registers,
    /// DISPCNT as it was in the two lines before.
    history: [DispCnt; 2],
    /// Layers that this line shows, in the bits of DISPCNT.
    enabled: DispCnt,
    windows: Windows,
    points: Points,
    background_mosaic: BackgroundMosaic,
    obj_mosaic: ObjMosaic,
    oam: Oam,
    obj: Box<ObjLine>,
    scratch: Box<Scratch>,
}

/// A line being made; nothing that lasts.
#[derive(Clone, Debug, Default)]
struct Scratch {
    layers: [Layer; 4],
    obj: object::Resolved,
    shown: window::Shown,
}

impl Engine {
    /// Engine A, or engine B, after a reset.
    pub fn new(is_b: bool) -> Engine {
        Engine {
            registers: Registers::new(is_b),
            history: [DispCnt::empty(); 2],
            enabled: DispCnt::empty(),
            windows: Windows::default(),
            points: Points::default(),
            background_mosaic: BackgroundMosaic::default(),
            obj_mosaic: ObjMosaic::default(),
            oam: Oam::default(),
            obj: Box::default(),
            scratch: Box::default(),
        }
    }

    /// The registers.
    pub fn registers(&self) -> &Registers {
        &self.registers
    }

    /// Writes 16 bits of a register, by its offset from DISPCNT.
    pub fn write(&mut self, offset: u32, value: u16) {
        self.registers.write(offset, value);
        // The internal point follows at once.
        let n = usize::from(offset >= 0x30);
        match offset {
            0x28..0x2c | 0x38..0x3c => self.points.reload_x(n, &self.registers),
            0x2c..0x30 | 0x3c..0x40 => self.points.reload_y(n, &self.registers),
            _ => {}
        }
    }

    /// Notes that a halfword of OAM, 0 to 511, was written.
    pub fn oam_changed(&mut self, half: usize) {
        self.oam.changed(half);
    }

    /// The start of any line, 0 to 262.
    pub fn start_line(&mut self, line: u32) {
        self.windows.start_line(line, &self.registers);
        let now = self.registers.dispcnt();
        let [before, earlier] = self.history;
        // A layer shows in the third line after it was switched on; what is switched off, at once.
        let layers = DispCnt::LAYERS;
        self.enabled = now & layers & earlier;
        // A forced blank ends as late.
        self.enabled |= (now | earlier) & DispCnt::FORCED_BLANK;
        self.history = [now, before];
        if line == 0 {
            self.background_mosaic.start_frame();
        }
        self.background_mosaic.start_line(line, &self.points);
    }

    /// Draws a line, 0 to 191. `three_d` is the line of the 3D engines, which only engine A shows: 6 bits a channel from the
    /// lowest byte on, 5 bits of alpha.
    pub fn draw(
        &mut self,
        level: Level,
        line: u32,
        memory: &Memory,
        three_d: &PictureLine,
        out: &mut PictureLine,
    ) {
        if self.enabled.contains(DispCnt::FORCED_BLANK) {
            out.fill(WHITE);
            return;
        }
        dispatch!(level, simd => self.draw_with(simd, line, memory, three_d, out));
    }

    #[inline(always)]
    fn draw_with<S: Simd>(
        &mut self,
        simd: S,
        line: u32,
        memory: &Memory,
        three_d: &PictureLine,
        out: &mut PictureLine,
    ) {
        let Scratch { layers, obj, shown } = &mut *self.scratch;
        let registers = &self.registers;
        let mut kinds = registers.kinds();
        for (n, kind) in kinds.iter_mut().enumerate() {
            if !self.enabled.shows_background(n) {
                *kind = Kind::None;
            }
        }
        let row = background::Row {
            registers,
            memory,
            line,
            points: &self.points,
            mosaic: &self.background_mosaic,
        };
        let has_obj = self.enabled.contains(DispCnt::OBJ);
        // Where all colours are in the palette, they are looked up when it is known which pixels are on top.
        let has_colors = (0..4).any(|n| row.has_colors(n, kinds[n])) || has_obj && self.obj.has_colors();
        let indexed = !has_colors;
        for (n, layer) in layers.iter_mut().enumerate() {
            row.draw(n, kinds[n], layer);
            let is_drawn = !matches!(kinds[n], Kind::None | Kind::ThreeD);
            if !indexed && is_drawn && !row.has_colors(n, kinds[n]) {
                layer.look_up(memory.background_colors());
            }
        }
        if has_obj {
            self.obj.apply_mosaic(registers);
            obj.resolve(&self.obj, memory, indexed);
        }
        let obj_windows = has_obj.then_some(&self.obj.window);
        let windowed = self.windows.line(registers, obj_windows, shown);
        let input = compose::Input {
            registers,
            kinds,
            layers,
            obj: has_obj.then_some(&*obj),
            shown: windowed.then_some(&*shown),
            backdrop: memory.palettes[0],
            palettes: indexed.then_some(memory.palettes),
            three_d,
        };
        compose::compose(simd, &input, out);
    }

    /// Fetches the OBJs of a line, 0 to 191.
    pub fn fetch_objs(&mut self, level: Level, line: u32, memory: &Memory) {
        self.oam.refresh(memory.oam);
        self.obj.clear();
        if !self.enabled.contains(DispCnt::OBJ) && !self.registers.dispcnt().contains(DispCnt::OBJ) {
            return;
        }
        self.obj_mosaic.step(line, &self.registers);
        let fetch = object::Fetch {
            registers: &self.registers,
            memory,
            line,
            mosaic_line: self.obj_mosaic.line(),
            entries: self.oam.on_line(line),
        };
        dispatch!(level, simd => fetch.run(simd, &mut self.obj));
    }

    /// The end of any line, 0 to 262, before its horizontal blank.
    pub fn end_line(&mut self, line: u32) {
        self.points.end_line(line, &self.registers, self.enabled);
        self.background_mosaic.end_line(line, &self.registers);
    }
}

impl Stated for Engine {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let Engine {
            registers,
            history,
            enabled,
            windows,
            points,
            background_mosaic,
            obj_mosaic,
            oam,
            obj,
            scratch: _,
        } = self;
        registers.state(io)?;
        history.state(io)?;
        enabled.state(io)?;
        windows.state(io)?;
        points.state(io)?;
        background_mosaic.state(io)?;
        obj_mosaic.state(io)?;
        obj.state(io)?;
        if io.is_loading() {
            // All of it is looked at again.
            *oam = Oam::default();
        }
        Ok(())
    }
}
