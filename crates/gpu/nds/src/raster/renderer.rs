//! Frames.

use super::buffers::{Clear, HEIGHT, Line, Row, WIDTH};
use super::fill::{FillState, Job};
use super::finish::Finish;
use super::frame::{Frame, FrameRow};
use super::parts::{Awake, Division, Masks, Parts, Run, STRIP_ROWS, Strips};
use super::polygon::{Outline, RasterPolygon, Shadow, Walker};
use super::replace::{Replaced, Replacements, Replacer};
use super::shade::Environment;
use super::shadow::Stencil;
use super::span::Span;
use super::{Rules, Scale, ScaledRules};
use crate::geometry::polygon::{Polygon, PolygonList};
use crate::memory::TextureMemory;
use crate::registers::{Control, Registers};
use fearless_simd::{Level, Simd, dispatch};
use std::ops::Range;
use std::sync::Arc;

/// How frames are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What of a console's drawing is done; without any, pixels are those of melonDS ([`Profile`](super::Profile)).
    pub rules: Rules,
    /// Threads of the current rayon pool that share a frame's rows; 0 is all of them.
    pub threads: usize,
    /// Which of the host's vector extensions are used. Frames are the same with all.
    pub extensions: Extensions,
}

/// The host's vector extensions that are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extensions {
    /// All that help.
    #[default]
    Best,
    /// On x86, none above AVX2.
    Avx2,
    /// On x86, none above SSE4.2.
    Sse42,
    /// Those that every processor of the architecture has.
    Baseline,
}

impl Extensions {
    /// All choices.
    pub const ALL: [Extensions; 4] =
        [Extensions::Best, Extensions::Avx2, Extensions::Sse42, Extensions::Baseline];

    pub(crate) fn level(self) -> Level {
        let best = Level::new();
        match self {
            #[cfg(target_arch = "x86_64")]
            Extensions::Avx2 => best.as_avx2().map_or(best, Level::Avx2),
            #[cfg(target_arch = "x86_64")]
            Extensions::Sse42 => best.as_sse4_2().map_or(best, Level::Sse4_2),
            Extensions::Baseline => Level::baseline(),
            _ => best,
        }
    }
}

/// The renderer, and the frame it has drawn or is drawing.
#[derive(Clone, Debug)]
pub struct Renderer {
    options: Options,
    registers: Registers,
    scale: Scale,
    outlines: Vec<Outline>,
    /// The frame's polygons, where it is drawn after those who began it have gone on.
    polygons: Vec<RasterPolygon>,
    strips: Strips,
    masks: Masks,
    lines: Vec<Line>,
    /// Rows of the frame that are drawn, and of these, that are finished.
    drawn: usize,
    finished: usize,
    bands: Vec<Band>,
    replacer: Replacer,
}

/// Rows that one thread draws alone.
const FEW_ROWS: usize = 3 * STRIP_ROWS;

/// A polygon that a thread draws. Each thread takes over those of its rows: what another core has written takes long to read.
#[derive(Clone, Debug, Default)]
struct Drawn {
    polygon: RasterPolygon,
    walker: Walker,
}

/// What a thread needs. It has cache lines of its own, as threads write theirs with each span; processors fetch lines in pairs of 128 bytes.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
struct Band {
    /// Polygons that it has drawn, as they are in the row after the one drawn last.
    drawn: Vec<Drawn>,
    stencil: Stencil,
    /// The row after the one drawn last; `None` if the frame has just begun.
    next: Option<usize>,
}

impl Default for Renderer {
    fn default() -> Renderer {
        Renderer::new(Options::default())
    }
}

/// A frame's polygons in drawing order.
enum Polygons<'a> {
    /// As they were submitted.
    Submitted { list: &'a PolygonList, control: Control, scale: Scale, replacer: &'a Replacer },
    /// Taken over when the frame was begun.
    Kept(&'a [RasterPolygon]),
}

impl<'a> Polygons<'a> {
    fn submitted(
        list: &'a PolygonList,
        registers: &Registers,
        scale: Scale,
        replacer: &'a Replacer,
    ) -> Polygons<'a> {
        Polygons::Submitted { list, control: registers.control(), scale, replacer }
    }

    /// Takes a polygon over: its place in drawing order, and its outline.
    #[inline]
    fn take_over(&self, place: usize, outline: &Outline, out: &mut RasterPolygon) {
        match self {
            Polygons::Submitted { list, control, scale, replacer } => {
                let Some(submitted) = list.polygons.get(usize::from(outline.polygon)) else { return };
                out.take_over(submitted, &list.vertices, *control, *scale);
                if let Some(place) = replacer.place(submitted.texture, submitted.palette) {
                    out.shader.replace(Replaced::new(place, submitted.texture));
                }
            }
            Polygons::Kept(polygons) => {
                if let Some(polygon) = polygons.get(place) {
                    out.clone_from(polygon);
                }
            }
        }
    }
}

/// What a frame's rows are drawn from.
struct Scene<'a> {
    scale: Scale,
    masks: &'a Masks,
    clear: Clear,
    state: FillState<'a>,
    polygons: Polygons<'a>,
    outlines: &'a [Outline],
    strips: &'a Strips,
    rules: ScaledRules,
    level: Level,
}

impl Renderer {
    /// A renderer with an empty frame.
    pub fn new(options: Options) -> Renderer {
        Renderer {
            options,
            registers: Registers::default(),
            scale: Scale::ONE,
            outlines: Vec::new(),
            polygons: Vec::new(),
            strips: Strips::default(),
            masks: Masks::default(),
            lines: vec![Line::default(); HEIGHT],
            drawn: HEIGHT,
            finished: HEIGHT,
            bands: Vec::new(),
            replacer: Replacer::default(),
        }
    }

    /// Draws pictures in place of textures from the next frame on, or no more.
    pub fn set_replacements(&mut self, replacements: Option<Arc<dyn Replacements>>) {
        self.replacer = Replacer::new(replacements);
    }

    /// Draws a frame.
    pub fn draw(&mut self, list: &PolygonList, registers: &Registers, memory: &TextureMemory) {
        self.draw_corner(list, registers, memory, Scale::ONE);
    }

    /// Draws the top left 256 x 192 pixels of a frame at a higher resolution: what renderers of whole ones are compared
    /// with. At the right and bottom, outlines take what is beyond for the outside of the screen.
    pub fn draw_corner(
        &mut self,
        list: &PolygonList,
        registers: &Registers,
        memory: &TextureMemory,
        scale: Scale,
    ) {
        let others = self.threads() - 1;
        let awake = (others > 0).then(|| Awake::new(others));
        self.begin_at(list, registers, memory, scale);
        self.draw_rows(HEIGHT, memory, Some(list), awake);
    }

    /// Begins a frame, for callers that draw it row by row with [`Renderer::draw_until`]. Rows are those of the frame
    /// before until they are drawn. Textures are looked up here if pictures replace them, and otherwise as rows are drawn.
    pub fn begin(&mut self, list: &PolygonList, registers: &Registers, memory: &TextureMemory) {
        self.begin_at(list, registers, memory, Scale::ONE);
        let polygons = Polygons::submitted(list, registers, self.scale, &self.replacer);
        self.polygons.resize_with(self.outlines.len(), RasterPolygon::default);
        for (place, (outline, kept)) in self.outlines.iter().zip(&mut self.polygons).enumerate() {
            polygons.take_over(place, outline, kept);
        }
    }

    /// Threads that share a whole frame's rows.
    fn threads(&self) -> usize {
        match self.options.threads {
            0 => rayon::current_num_threads(),
            threads => threads.min(HEIGHT),
        }
    }

    fn begin_at(&mut self, list: &PolygonList, registers: &Registers, memory: &TextureMemory, scale: Scale) {
        self.registers.clone_from(registers);
        self.scale = scale;
        self.replacer.find(list, memory);
        self.outlines.clear();
        let outline = |(place, polygon): (u16, &Polygon)| Outline::new(place, polygon, &list.vertices, scale);
        self.outlines.extend(list.drawn().map(outline));
        let has_masks = self.outlines.iter().any(|polygon| polygon.shadow == Shadow::Mask);
        self.strips.sort(if has_masks { 1 } else { STRIP_ROWS }, &self.outlines);
        self.masks.find(has_masks, &self.strips, &self.outlines, scale);
        (self.drawn, self.finished) = (0, 0);
        for band in &mut self.bands {
            band.next = None;
        }
    }

    /// How many of the frame's rows are drawn as they will stay.
    pub fn rows_drawn(&self) -> usize {
        self.finished
    }

    /// Draws the rows of the frame that was begun up to the one before `end`, with textures as they are now. With edge
    /// marking the row after them is drawn, too, as outlines depend on it.
    pub fn draw_until(&mut self, end: usize, memory: &TextureMemory) {
        self.draw_rows(end, memory, None, None);
    }

    /// Draws rows, of polygons of a list or of those that are kept.
    fn draw_rows(
        &mut self,
        end: usize,
        memory: &TextureMemory,
        list: Option<&PolygonList>,
        awake: Option<Awake>,
    ) {
        let registers = &self.registers;
        let control = registers.control();
        let end = end.min(HEIGHT);
        let last = if control.contains(Control::EDGE_MARKING) { (end + 1).min(HEIGHT) } else { end };
        if end <= self.finished {
            return;
        }
        let clear = Clear::new(registers);
        let finish = Finish::new(registers, clear.border());
        let level = self.options.extensions.level();
        let frame = Scene {
            scale: self.scale,
            masks: &self.masks,
            clear,
            state: FillState {
                environment: Environment::new(registers, memory, self.replacer.pictures()),
                alpha_ref: registers.alpha_dropped(),
                blending: control.contains(Control::BLENDING),
                antialiasing: control.contains(Control::ANTIALIASING),
                overlaps_edges: self.options.rules.overlaps_edges(control),
            },
            polygons: match list {
                Some(list) => Polygons::submitted(list, registers, self.scale, &self.replacer),
                None => Polygons::Kept(&self.polygons),
            },
            outlines: &self.outlines,
            strips: &self.strips,
            rules: self.options.rules.at(self.scale),
            level,
        };
        let drawn = self.drawn..last.max(self.drawn);
        // Marks of masks are kept by the thread that draws rows one after the other.
        let few = drawn.len() <= FEW_ROWS || self.masks.is_any() && drawn.len() < HEIGHT;
        let threads = if few { 1 } else { self.threads() };
        self.bands.resize_with(threads.max(self.bands.len()), Band::default);
        let bands = self.bands.get_mut(..threads).unwrap_or_default();
        let lines = self.lines.get_mut(drawn.clone()).unwrap_or_default();
        let division = self.masks.divide(drawn.clone(), threads);
        let mut runs = Parts::new(lines, drawn.start, &division).share(bands, awake, |band, run| {
            band.draw(&frame, run);
            if run.step == 1 {
                finish.run(level, run);
            }
        });
        if let Division::Interleaved(_) = division {
            let division = Division::anywhere(drawn.clone(), threads);
            runs =
                Parts::new(lines, drawn.start, &division).share(bands, None, |_, run| finish.run(level, run));
        }
        finish.seams(level, &mut self.lines, self.finished..end, &runs);
        (self.drawn, self.finished) = (drawn.end, end);
    }

    /// A row's colours as shown, scrolled: 6 bits of red, green and blue from the lowest byte on, 5 bits of alpha.
    pub fn color_row(&self, y: usize) -> [u32; WIDTH] {
        let mut out = [0; WIDTH];
        let Some(line) = self.lines.get(y) else { return out };
        let colors = &line.top.color;
        let by = self.scroll();
        if by < WIDTH {
            out[..WIDTH - by].copy_from_slice(&colors[by..]);
        } else {
            out[2 * WIDTH - by..].copy_from_slice(&colors[..by - WIDTH]);
        }
        out
    }

    /// A row's colours, not scrolled.
    pub fn frame_row(&self, y: usize) -> Option<&[u32; WIDTH]> {
        self.lines.get(y).map(|line| &line.top.color)
    }

    /// A row's depths of 24 bits, not scrolled.
    pub fn depth_row(&self, y: usize) -> Option<&[u32; WIDTH]> {
        self.lines.get(y).map(|line| &line.top.depth)
    }

    /// A row's attributes ([`super::buffers::PixelFlags`]), not scrolled.
    pub fn attribute_row(&self, y: usize) -> Option<&[u32; WIDTH]> {
        self.lines.get(y).map(|line| &line.top.attributes)
    }
}

impl Frame for Renderer {
    fn size(&self) -> [usize; 2] {
        [WIDTH, HEIGHT]
    }

    fn scroll(&self) -> usize {
        usize::from(self.registers.scroll_x & 0x1ff)
    }

    fn row(&self, y: usize) -> Option<FrameRow<'_>> {
        let Row { color, depth, attributes } = &self.lines.get(y)?.top;
        Some(FrameRow { color, depth, attributes })
    }
}

impl Band {
    /// Draws the rows of a run that it has not drawn before.
    fn draw(&mut self, frame: &Scene, run: &mut Run) {
        dispatch!(frame.level, simd => self.draw_with(simd, frame, run));
    }

    #[inline(always)]
    fn draw_with<S: Simd>(&mut self, simd: S, frame: &Scene, run: &mut Run) {
        self.drawn.resize_with(frame.outlines.len().max(self.drawn.len()), Drawn::default);
        if self.next.is_none() {
            self.stencil.reset(frame.scale);
        }
        let (first, step) = (run.first + run.step * run.before, run.step);
        let lines = run.lines.get_mut(run.before..).unwrap_or_default();
        let continues = self.next == Some(first);
        self.next = Some(first + step * lines.len());
        let strip_rows = frame.strips.rows;
        let (mut top, mut lines) = (first, lines);
        while !lines.is_empty() {
            let strip = top / strip_rows;
            // Rows that are apart are strips of their own.
            let (strip_lines, below) = lines.split_at_mut(lines.len().min((strip + 1) * strip_rows - top));
            for (y, line) in (top..).zip(&mut *strip_lines) {
                frame.clear.fill(frame.state.environment.memory, frame.scale, y, &mut line.top);
                if frame.masks.is_any() {
                    // A mark of two rows above may have pixels drawn under edges where nothing was kept.
                    line.under = Row::default();
                    self.stencil.go_on(frame.masks.are_before(y));
                }
            }
            for &place in frame.strips.places(strip) {
                let Some(outline) = frame.outlines.get(usize::from(place)) else { return };
                let Range { start, end } = outline.rows;
                let skip = (start - top as i32).max(0) as usize;
                for (y, line) in (top..end.max(0) as usize).zip(&mut *strip_lines).skip(skip) {
                    let is_first = (y as i32) < start + step as i32 || y == first && !continues;
                    let is_first = is_first.then_some(outline);
                    self.span(simd, frame, usize::from(place), [y, y + step], is_first, line);
                }
            }
            top += step * strip_lines.len();
            lines = below;
        }
    }

    /// Draws a polygon's part of the first of two rows, and goes on to the second. `first` is its outline where this thread has not
    /// drawn the row before.
    #[inline(always)]
    fn span<S: Simd>(
        &mut self,
        simd: S,
        frame: &Scene,
        place: usize,
        [y, next]: [usize; 2],
        first: Option<&Outline>,
        line: &mut Line,
    ) {
        let row = y as i32;
        let Some(Drawn { polygon, walker }) = self.drawn.get_mut(place) else { return };
        if let Some(outline) = first {
            frame.polygons.take_over(place, outline, polygon);
            *walker = Walker::new(polygon, frame.rules, row);
        }
        let span = Span::new(polygon, walker, frame.rules, row);
        if polygon.shadow == Shadow::Mask {
            self.stencil.mark(simd, polygon, &span, y, line);
        } else {
            self.stencil.end_mask();
            let stencil = self.stencil.row(y);
            Job { state: &frame.state, polygon, span: &span, line, stencil }.run(simd);
        }
        walker.move_to(polygon, frame.rules, next as i32);
    }
}
