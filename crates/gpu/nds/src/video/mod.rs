//! The whole of the DS's graphics: both 2D engines, the 3D engines, video memory, capture, and what the screens show.
//!
//! An emulator writes and reads by address ([`Video::write`], [`Video::read`]), and goes through a frame's lines: for each of
//! the 263, [`Video::start_line`], [`Video::draw_line`] and the horizontal blank. [`Video::advance`] does that by
//! cycles, and says which interrupts and DMAs are asked for.

pub mod bus;
mod capture;
pub mod clock;
mod display;
mod row_buffer;
pub mod vram;

pub use capture::CaptureControl;
pub use row_buffer::RowTime;

use crate::engine2d::{Engine, Memory, PictureLine, WHITE};
use crate::geometry::polygon::PolygonList;
use crate::gpu::Gpu;
use crate::memory::TextureMemory;
use crate::raster::{Frame, Options, Renderer};
use crate::registers::Registers;
use crate::state::{self, Io, StateError, Stated};
use capture::Sources;
use clock::Clock;
use display::{DisplayFifo, master_brightness, widen};
use row_buffer::RowBuffer;
use std::convert::Infallible;
use std::ops::Range;
use vram::{Space, Vram};

/// Lines of a frame, with those of the vertical blank.
pub const LINES: u32 = 263;
/// Lines that are drawn.
pub const HEIGHT: usize = 192;
/// The line in which the picture of the 3D engines is drawn, for the next frame.
const THREE_D_LINE: u32 = 215;

/// A picture of 192 lines.
pub type Picture = [PictureLine; HEIGHT];

bitflags::bitflags! {
    /// POWCNT1, 0x04000304.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Power: u16 {
        /// The screens.
        const LCDS = 1 << 0;
        /// 2D engine A.
        const ENGINE_A = 1 << 1;
        /// The 3D rendering engine.
        const RENDERING = 1 << 2;
        /// The 3D geometry engine.
        const GEOMETRY = 1 << 3;
        /// 2D engine B.
        const ENGINE_B = 1 << 9;
        /// Engine A is shown on the upper screen.
        const SWAP = 1 << 15;
    }
}

/// What draws the picture of the 3D engines: a renderer on the processor or on the host's GPU.
pub trait Rasterizer {
    /// Why a frame could not be drawn.
    type Error;

    /// Draws a frame, not scrolled, of 256 x 192 pixels: 6 bits of red, green and blue from the lowest byte on, 5 of alpha.
    ///
    /// # Errors
    /// When the renderer fails.
    fn draw(
        &mut self,
        list: &PolygonList,
        registers: &Registers,
        memory: &TextureMemory,
        picture: &mut Picture,
    ) -> Result<(), Self::Error>;

    /// Draws some rows of a frame, with textures as they are now ([`Drawing::ByRow`]). From row 0 on it begins one; otherwise it
    /// goes on with the one whose row before was drawn last. A renderer that draws whole frames does so at the beginning.
    ///
    /// # Errors
    /// As [`Rasterizer::draw`].
    fn draw_rows(
        &mut self,
        list: &PolygonList,
        registers: &Registers,
        memory: &TextureMemory,
        rows: Range<usize>,
        picture: &mut Picture,
    ) -> Result<(), Self::Error> {
        if rows.start == 0 { self.draw(list, registers, memory, picture) } else { Ok(()) }
    }
}

/// When the picture of the 3D engines is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drawing {
    /// All of it in line 215, with textures as they are then, unless it is being drawn row by row already.
    #[default]
    WholeFrame,
    /// Row by row, as the buffer between the 3D engines and the screen takes them: from line 214 on, up to 48 rows ahead of the
    /// screen. Each row has textures as they are when it is drawn, and the work is spread over the frame.
    ByRow,
}

/// Copies rows of a frame.
fn copy(frame: &dyn Frame, rows: Range<usize>, picture: &mut Picture) {
    for (y, line) in picture.iter_mut().enumerate().take(rows.end).skip(rows.start) {
        let row = frame.row(y).and_then(|row| row.color.first_chunk());
        *line = row.copied().unwrap_or([0; 256]);
    }
}

impl Rasterizer for Renderer {
    type Error = Infallible;

    fn draw(
        &mut self,
        list: &PolygonList,
        registers: &Registers,
        memory: &TextureMemory,
        picture: &mut Picture,
    ) -> Result<(), Infallible> {
        Renderer::draw(self, list, registers, memory);
        copy(self, 0..HEIGHT, picture);
        Ok(())
    }

    fn draw_rows(
        &mut self,
        list: &PolygonList,
        registers: &Registers,
        memory: &TextureMemory,
        rows: Range<usize>,
        picture: &mut Picture,
    ) -> Result<(), Infallible> {
        if rows.start == 0 || rows.start != self.rows_drawn() {
            self.begin(list, registers, memory);
        }
        self.draw_until(rows.end, memory);
        copy(self, rows, picture);
        Ok(())
    }
}

#[cfg(feature = "compute")]
impl Rasterizer for crate::raster::compute::ComputeRenderer {
    type Error = crate::raster::compute::Error;

    fn draw(
        &mut self,
        list: &PolygonList,
        registers: &Registers,
        memory: &TextureMemory,
        picture: &mut Picture,
    ) -> Result<(), Self::Error> {
        crate::raster::compute::ComputeRenderer::draw(self, list, registers, memory)?;
        copy(self, 0..HEIGHT, picture);
        Ok(())
    }
}

/// The graphics of a DS.
#[derive(Clone, Debug)]
pub struct Video {
    options: Options,
    three_d: Gpu,
    /// Registers that the next picture of the 3D engines is drawn with.
    latched: Registers,
    vram: Vram,
    /// Palettes: engine A's for backgrounds and for OBJs, then engine B's.
    palettes: Box<[[u16; 512]; 2]>,
    oam: Box<[[u16; 512]; 2]>,
    engines: [Engine; 2],
    power: Power,
    capture: CaptureControl,
    /// Whether this frame is captured.
    is_capturing: bool,
    fifo: DisplayFifo,
    /// Whether the screens are on in this frame.
    lcds: bool,
    line: u32,
    clock: Clock,
    picture_3d: Box<Picture>,
    drawing: Drawing,
    row_time: RowTime,
    rows: RowBuffer,
    /// What the rasteriser has drawn of a picture that is drawn row by row, and whether it has begun it: not if it comes from
    /// a state.
    drawn_3d: Box<Picture>,
    has_begun: bool,
    /// The upper screen and the lower one.
    screens: Box<[Picture; 2]>,
}

fn zeroed<T: Copy, const N: usize>(value: T) -> Box<[T; N]> {
    let Ok(array) = vec![value; N].into_boxed_slice().try_into() else { unreachable!("N elements") };
    array
}

impl Video {
    /// After a reset, in the last line of a frame.
    pub fn new(options: Options) -> Video {
        Video {
            options,
            three_d: Gpu::new(options),
            latched: Registers::default(),
            vram: Vram::default(),
            palettes: zeroed([0; 512]),
            oam: zeroed([0; 512]),
            engines: [false, true].map(Engine::new),
            power: Power::empty(),
            capture: CaptureControl::default(),
            is_capturing: false,
            fifo: DisplayFifo::default(),
            lcds: false,
            line: LINES - 1,
            clock: Clock::default(),
            picture_3d: zeroed([0; 256]),
            drawing: Drawing::default(),
            row_time: RowTime::default(),
            rows: RowBuffer::default(),
            drawn_3d: zeroed([0; 256]),
            has_begun: false,
            screens: zeroed([[0; 256]; HEIGHT]),
        }
    }

    /// The 3D engines.
    pub fn three_d(&self) -> &Gpu {
        &self.three_d
    }

    /// The 3D engines, to be fed.
    pub fn three_d_mut(&mut self) -> &mut Gpu {
        &mut self.three_d
    }

    /// Video memory.
    pub fn vram(&self) -> &Vram {
        &self.vram
    }

    /// Video memory, to be written.
    pub fn vram_mut(&mut self) -> &mut Vram {
        &mut self.vram
    }

    /// A 2D engine: A (0) or B.
    pub fn engine(&self, number: usize) -> &Engine {
        &self.engines[usize::from(number != 0)]
    }

    /// VCOUNT: the line that was started last.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// POWCNT1.
    pub fn power(&self) -> Power {
        self.power
    }

    /// DISPCAPCNT.
    pub fn capture_control(&self) -> CaptureControl {
        self.capture
    }

    /// What a screen shows, the upper (0) or the lower: 6 bits of red, green and blue from the lowest bit on. Lines that are
    /// not drawn yet are those of the frame before.
    pub fn screen(&self, number: usize) -> &Picture {
        &self.screens[usize::from(number != 0)]
    }

    /// The picture of the 3D engines that is shown in this frame, not scrolled. Rows that came too late ([`RowTime`]) have what the
    /// screen found in their place. If it is drawn row by row, rows that are not shown yet are those of the frame before.
    pub fn picture_3d(&self) -> &Picture {
        &self.picture_3d
    }

    /// How long the 3D engines take for a row, from the next picture on. It is a property of the machine and not a part of a
    /// state.
    pub fn set_row_time(&mut self, time: RowTime) {
        self.row_time = time;
    }

    /// When the picture of the 3D engines is drawn, from the next one on. Like the time of rows, it is not a part of a state.
    pub fn set_drawing(&mut self, drawing: Drawing) {
        self.drawing = drawing;
    }

    /// Starts at a line, as if the one before it had just ended: for those who begin in the middle of a frame.
    pub fn begin_at(&mut self, line: u32) {
        self.line = (line + LINES - 1) % LINES;
    }

    /// Writes palette memory directly, whatever is switched off: 1024 bytes for each engine.
    pub fn write_palettes(&mut self, offset: u32, bytes: &[u8]) {
        write_halves(&mut self.palettes, offset, bytes);
    }

    /// Writes OAM directly, whatever is switched off: 1024 bytes for each engine.
    pub fn write_oam(&mut self, offset: u32, bytes: &[u8]) {
        write_halves(&mut self.oam, offset, bytes);
        let end = offset as usize + bytes.len();
        for half in offset as usize / 2..end.div_ceil(2).min(1024) {
            self.engines[half / 512].oam_changed(half % 512);
        }
    }

    /// The next line begins. In line 192 the 3D engines swap buffers and take their registers over; in line 215, or line by line
    /// ([`Drawing`]), `rasterizer` draws their picture. A picture that is drawn row by row takes the same one throughout.
    ///
    /// # Errors
    /// When the rasteriser fails; the picture is the one before then.
    pub fn start_line<R: Rasterizer>(&mut self, rasterizer: &mut R) -> Result<(), R::Error> {
        self.line = (self.line + 1) % LINES;
        for engine in &mut self.engines {
            engine.start_line(self.line);
        }
        match self.line {
            0 => {
                self.is_capturing = self.capture.0 & CaptureControl::ENABLE != 0;
                self.lcds = self.power.contains(Power::LCDS);
            }
            192 => {
                if self.is_capturing {
                    self.capture.0 &= !CaptureControl::ENABLE;
                    self.is_capturing = false;
                }
                self.fifo.clear();
                self.rows.end_frame();
                self.three_d.swap();
                self.latched = self.three_d.registers().clone();
                // The picture is scrolled line by line.
                self.latched.scroll_x = 0;
            }
            row_buffer::FIRST_LINE
                if self.drawing == Drawing::ByRow && self.power.contains(Power::RENDERING) =>
            {
                self.rows.begin(self.three_d.polygons(), self.row_time);
                self.has_begun = false;
            }
            THREE_D_LINE if !self.rows.is_by_row() && self.power.contains(Power::RENDERING) => {
                self.vram.take_textures(&mut self.three_d.memory);
                let memory = &self.three_d.memory;
                let list = self.three_d.polygons();
                rasterizer.draw(list, &self.latched, memory, &mut self.picture_3d)?;
                self.rows.take(list, self.row_time, &mut self.picture_3d);
            }
            _ => {}
        }
        if self.rows.is_by_row() { self.draw_rows(rasterizer) } else { Ok(()) }
    }

    /// Draws the rows of the 3D engines' picture that are due in the line that was started, and shows the screen its own.
    fn draw_rows<R: Rasterizer>(&mut self, rasterizer: &mut R) -> Result<(), R::Error> {
        let due = self.rows.due(self.line, self.three_d.polygons(), self.row_time);
        if !due.is_empty() && self.power.contains(Power::RENDERING) {
            self.vram.take_textures(&mut self.three_d.memory);
            let rows = if self.has_begun { due.clone() } else { 0..due.end };
            let (list, memory) = (self.three_d.polygons(), &self.three_d.memory);
            rasterizer.draw_rows(list, &self.latched, memory, rows, &mut self.drawn_3d)?;
            self.has_begun = true;
            self.rows.put(due, &self.drawn_3d);
        }
        if let Some(shown) = self.picture_3d.get_mut(self.line as usize) {
            *shown = *self.rows.row(self.line as usize);
        }
        Ok(())
    }

    /// Draws the line that was started, if it is one of the 192, and fetches the OBJs of the next.
    pub fn draw_line(&mut self) {
        self.vram.refresh();
        if let Some(y) = usize::try_from(self.line).ok().filter(|&y| y < HEIGHT) {
            self.draw(y);
            // A capture may have gone where banks overlap.
            self.vram.refresh();
        }
        let next = (self.line + 1) % LINES;
        let level = self.options.extensions.level();
        for (number, flag) in [Power::ENGINE_A, Power::ENGINE_B].into_iter().enumerate() {
            let memory = memory(&self.vram, &self.palettes, &self.oam, number);
            let engine = &mut self.engines[number];
            if next < HEIGHT as u32 && self.power.contains(flag) {
                engine.fetch_objs(level, next, &memory);
            }
            engine.end_line(self.line);
        }
    }

    fn draw(&mut self, y: usize) {
        self.rows.show(y);
        let level = self.options.extensions.level();
        let Video { engines: [engine_a, engine_b], vram, palettes, oam, screens, .. } = self;
        let [first, second] = &mut **screens;
        let (upper, lower) = match self.power.contains(Power::SWAP) {
            true => (&mut first[y], &mut second[y]),
            false => (&mut second[y], &mut first[y]),
        };
        let mut room = [0; 256];
        let line_3d = scrolled(&self.picture_3d[y], engine_a.registers().scroll(0)[0] as usize, &mut room);

        let control = engine_a.registers().control();
        let bank = (control >> 18 & 3) as usize;
        let mode = control >> 16 & 3;
        let needs_fifo = mode == 3 || self.is_capturing && self.capture.takes_fifo();
        let fifo = if needs_fifo { self.fifo.line() } else { [0; 256] };
        match mode {
            0 => upper.fill(WHITE),
            1 => {}
            2 if vram.is_lcdc(bank) => widen(&capture::row(vram, bank, 512 * y), upper),
            2 => upper.fill(0),
            _ => widen(&fifo, upper),
        }
        // What the engine draws may be captured without being on the screen.
        let mut hidden = [0; 256];
        let picture = if mode == 1 { &mut *upper } else { &mut hidden };
        if self.power.contains(Power::ENGINE_A) {
            engine_a.draw(level, self.line, &memory(vram, palettes, oam, 0), line_3d, picture);
        } else {
            picture.fill(0);
        }
        if self.power.contains(Power::ENGINE_B) {
            engine_b.draw(level, self.line, &memory(vram, palettes, oam, 1), line_3d, lower);
        }
        if self.is_capturing {
            let sources = Sources { picture, three_d: line_3d, fifo: &fifo, bank, shows_vram: mode == 2 };
            capture::capture(level, self.capture, &sources, vram, y as u32);
        }

        if mode != 0 {
            master_brightness(level, engine_a.registers().half(0x6c), upper);
        }
        let is_shown = engine_b.registers().control() >> 16 & 1 != 0;
        if !is_shown || !self.power.contains(Power::ENGINE_B) {
            lower.fill(WHITE);
        }
        if is_shown {
            master_brightness(level, engine_b.registers().half(0x6c), lower);
        }
        if !self.lcds {
            upper.fill(0);
            lower.fill(0);
        }
    }

    /// Whether a display DMA is to deliver pixels for the line that was started.
    pub fn wants_display_pixels(&self) -> bool {
        let shows_fifo = self.engines[0].registers().control() >> 16 & 3 == 3;
        let captures_fifo = self.is_capturing && self.capture.takes_fifo() && self.capture.sources()[1];
        self.line < HEIGHT as u32 && (shows_fifo || captures_fifo)
    }

    /// Pixels that a main memory display DMA delivers for the line that was started: up to 256 of 15 bits.
    pub fn deliver_display_pixels(&mut self, pixels: &[u16]) {
        self.fifo.deliver(pixels);
    }
}

/// A line of the 3D engines, scrolled by BG0HOFS to the left. `room` is where it is if it is scrolled at all.
fn scrolled<'a>(line: &'a PictureLine, by: usize, room: &'a mut PictureLine) -> &'a PictureLine {
    match by {
        0 => return line,
        1..256 => room[..256 - by].copy_from_slice(&line[by..]),
        _ => room[512 - by..].copy_from_slice(&line[..by - 256]),
    }
    room
}

/// What an engine reads.
fn memory<'a>(
    vram: &'a Vram,
    palettes: &'a [[u16; 512]; 2],
    oam: &'a [[u16; 512]; 2],
    number: usize,
) -> Memory<'a> {
    let spaces = [
        [Space::BackgroundA, Space::ObjA, Space::BackgroundPalettesA, Space::ObjPalettesA],
        [Space::BackgroundB, Space::ObjB, Space::BackgroundPalettesB, Space::ObjPalettesB],
    ];
    let [background, obj, background_palettes, obj_palettes] = spaces[number].map(|space| vram.view(space));
    Memory {
        background,
        obj,
        background_palettes,
        obj_palettes,
        palettes: &palettes[number],
        oam: &oam[number],
    }
}

/// Writes bytes into memory of halfwords; what is beyond its end is dropped.
fn write_halves(halves: &mut [[u16; 512]; 2], offset: u32, bytes: &[u8]) {
    for (at, &byte) in (offset as usize..).zip(bytes) {
        let Some(half) = halves.as_flattened_mut().get_mut(at / 2) else { return };
        let mut pair = half.to_le_bytes();
        pair[at % 2] = byte;
        *half = u16::from_le_bytes(pair);
    }
}

impl Stated for Video {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let Video {
            options: _,
            three_d,
            latched,
            vram,
            palettes,
            oam,
            engines,
            power,
            capture,
            is_capturing,
            fifo,
            lcds,
            line,
            clock,
            picture_3d,
            drawing: _,
            row_time: _,
            rows,
            drawn_3d: _,
            has_begun,
            screens,
        } = self;
        if io.is_loading() {
            *has_begun = false;
        }
        three_d.state(io)?;
        latched.state(io)?;
        vram.state(io)?;
        palettes.state(io)?;
        oam.state(io)?;
        engines.state(io)?;
        io.number(power, |power| power.bits().into(), |bits| Power::from_bits_truncate(bits as u16))?;
        io.number(capture, |capture| capture.0, |bits| CaptureControl(bits & CaptureControl::MASK))?;
        is_capturing.state(io)?;
        fifo.state(io)?;
        lcds.state(io)?;
        line.state(io)?;
        clock.state(io)?;
        picture_3d.state(io)?;
        rows.state(io)?;
        screens.state(io)?;
        if *line >= LINES {
            return io.contents("a line that a frame does not have");
        }
        picture_3d.as_flattened_mut().iter_mut().for_each(|color| *color &= 0x1f3f_3f3f);
        screens.as_flattened_mut().as_flattened_mut().iter_mut().for_each(|color| *color &= WHITE);
        Ok(())
    }
}

impl Video {
    /// All that lasts, as bytes: memory, registers, queues and pictures. Options are not a part of it, and neither is the
    /// rasteriser.
    pub fn save(&self) -> Vec<u8> {
        // The list of what is saved is the one of what is loaded, which changes it.
        let mut copy = self.clone();
        state::save(|io| copy.state(io))
    }

    /// Goes on from a state that [`Video::save`] made, whatever its options were. If a picture of the 3D engines is being drawn row by
    /// row, what the next rows depend on is drawn anew, with textures as they are in the state.
    ///
    /// # Errors
    /// If it is no state, of another version, damaged or impossible; then nothing has changed.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let mut loaded = self.clone();
        state::load(bytes, |io| loaded.state(io))?;
        *self = loaded;
        Ok(())
    }
}
