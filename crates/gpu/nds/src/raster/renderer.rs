//! Frames.

use super::buffers::{Clear, HEIGHT, Line, Row, WIDTH};
use super::fill::{FillState, Job};
use super::finish::Finish;
use super::frame::{Frame, FrameRow};
use super::polygon::{Outline, RasterPolygon, Shadow, Walker};
use super::replace::{Replaced, Replacements, Replacer};
use super::shade::Environment;
use super::shadow::{MaskHistory, OldMarks, Stencil};
use super::span::Span;
use super::{Rules, Scale, ScaledRules};
use crate::geometry::polygon::{Polygon, PolygonList};
use crate::geometry::vertex::Vertex;
use crate::memory::TextureMemory;
use crate::registers::{Control, Registers};
use fearless_simd::{Level, Simd, dispatch};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

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

/// Which polygons a few rows have.
///
/// A strip's polygons are drawn one after the other, each in all of its rows, rather than row by row: every pixel sees
/// them in the same order, and the processor sees the same kind of span several times.
#[derive(Clone, Debug, Default)]
struct Strips {
    /// Rows of a strip.
    rows: usize,
    /// Places in a frame's polygons by strip, in drawing order.
    places: Vec<u16>,
    /// Where a strip's places start, and where the last one's end.
    starts: Vec<usize>,
}

/// Rows of a strip: few enough for the nearest cache.
const STRIP_ROWS: usize = 8;
/// Parts of a frame for each thread.
const PARTS: usize = 12;
/// Rows that one thread draws alone.
const FEW_ROWS: usize = 3 * STRIP_ROWS;

impl Strips {
    fn sort(&mut self, rows: usize, polygons: &[Outline]) {
        self.rows = rows;
        let limit = |row: i32| row.clamp(0, HEIGHT as i32) as usize;
        let strips =
            |polygon: &Outline| limit(polygon.rows.start) / rows..limit(polygon.rows.end).div_ceil(rows);
        self.starts.clear();
        self.starts.resize(HEIGHT.div_ceil(rows) + 1, 0);
        for polygon in polygons {
            strips(polygon).for_each(|strip| self.starts[strip + 1] += 1);
        }
        for strip in 1..self.starts.len() {
            self.starts[strip] += self.starts[strip - 1];
        }
        self.places.resize(self.starts.last().copied().unwrap_or(0), 0);
        let mut next = self.starts.clone();
        for (i, polygon) in polygons.iter().enumerate() {
            for strip in strips(polygon) {
                self.places[next[strip]] = i as u16;
                next[strip] += 1;
            }
        }
    }

    /// Polygons of a strip.
    fn places(&self, strip: usize) -> &[u16] {
        match (self.starts.get(strip), self.starts.get(strip + 1)) {
            (Some(&from), Some(&to)) => self.places.get(from..to).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// Where a frame can be cut into parts that are drawn independently. Marks of a shadow mask that nothing clears come back two rows
/// later, so that rows may depend on rows above them; a frame without masks can be cut anywhere.
#[derive(Clone, Debug, Default)]
struct Masks {
    /// By row, if the frame has masks: whether the polygon drawn last before it is one, and whether rows from it on see no marks
    /// of rows above.
    rows: Vec<(bool, bool)>,
}

impl Masks {
    /// Finds it out, where strips are rows if there are masks.
    fn find(&mut self, has_masks: bool, strips: &Strips, polygons: &[Outline]) {
        self.rows.clear();
        if !has_masks {
            return;
        }
        let mut history = MaskHistory::default();
        let mut old_marks = [OldMarks::Kept; HEIGHT];
        for (y, old) in old_marks.iter_mut().enumerate() {
            self.rows.push((history.after_mask, false));
            let shadows = strips.places(y).iter().filter_map(|&place| polygons.get(usize::from(place)));
            *old = history.row(shadows.map(|polygon| (polygon.shadow, ())), |()| {});
        }
        // Of a row and the one above it, which have the two parts of the mask.
        let mut sees_none = [true; 2];
        for (y, &old) in old_marks.iter().enumerate().rev() {
            match old {
                OldMarks::Kept => {}
                OldMarks::Cleared => sees_none[y % 2] = true,
                OldMarks::Seen => sees_none[y % 2] = false,
            }
            self.rows[y].1 = sees_none == [true; 2];
        }
    }

    /// Whether there are masks.
    fn is_any(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Cuts rows into parts that do not depend on each other, some for each thread.
    fn parts(&self, rows: Range<usize>, threads: usize) -> Vec<Range<usize>> {
        let can_start = |row: &usize| self.rows.get(*row).is_none_or(|&(_, sees_none)| sees_none);
        let some = match threads {
            1 => rows.len(),
            _ => rows.len().div_ceil(PARTS * threads).next_multiple_of(STRIP_ROWS),
        };
        let mut parts = Vec::new();
        let mut start = rows.start;
        while start < rows.end {
            let end = (start + some..rows.end).find(can_start).unwrap_or(rows.end);
            parts.push(start..end);
            start = end;
        }
        parts
    }

    /// Whether the polygon drawn last before a row is a mask.
    fn are_before(&self, row: usize) -> bool {
        self.rows.get(row).is_some_and(|&(after_mask, _)| after_mask)
    }
}

/// A part of a frame: its first row, and its rows.
type Part<'a> = (usize, &'a mut [Line]);

/// Parts of a frame in their order; `None` for those that a thread has taken.
struct Parts<'a>(Mutex<Vec<Option<Part<'a>>>>);

impl<'a> Parts<'a> {
    fn new(mut lines: &'a mut [Line], parts: &[Range<usize>]) -> Parts<'a> {
        let one = |part: &Range<usize>| {
            let rest = std::mem::take(&mut lines);
            let (here, below) = rest.split_at_mut(part.len().min(rest.len()));
            lines = below;
            Some((part.start, here))
        };
        Parts(Mutex::new(parts.iter().map(one).collect()))
    }

    /// A part and its place, for a thread that has drawn part `drawn`. This is the next part, where the thread need not set up its
    /// polygons anew. If the next one is taken, it is the middle of the longest run of parts that are left: the thread above that run
    /// goes on with its first half.
    fn take(&self, drawn: Option<usize>) -> Option<(usize, Part<'a>)> {
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = drawn.map(|drawn| drawn + 1).filter(|&next| parts.get(next).is_some_and(Option::is_some));
        let place = next.or_else(|| {
            let (mut longest, mut start) = (0..0, 0);
            for run in parts.chunk_by(|a, b| a.is_some() == b.is_some()) {
                if run.first().is_some_and(Option::is_some) && run.len() > longest.len() {
                    longest = start..start + run.len();
                }
                start += run.len();
            }
            let first_half = if longest.start == 0 { 0 } else { longest.len() / 2 };
            longest.nth(first_half)
        })?;
        let part = parts.get_mut(place)?.take()?;
        Some((place, part))
    }
}

/// A polygon that a thread draws. Each thread takes over those of its rows: what another core has written takes long to read.
#[derive(Clone, Debug, Default)]
struct Drawn {
    polygon: RasterPolygon,
    walker: Walker,
}

/// What a thread needs.
#[derive(Clone, Debug, Default)]
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
    Submitted {
        drawn: Vec<&'a Polygon>,
        vertices: &'a [Vertex],
        control: Control,
        scale: Scale,
        replacer: &'a Replacer,
    },
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
        let (drawn, control) = (list.drawn().collect(), registers.control());
        Polygons::Submitted { drawn, vertices: &list.vertices, control, scale, replacer }
    }

    /// Takes a polygon over.
    #[inline]
    fn take_over(&self, place: usize, out: &mut RasterPolygon) {
        match self {
            Polygons::Submitted { drawn, vertices, control, scale, replacer } => {
                let Some(submitted) = drawn.get(place) else { return };
                out.take_over(submitted, vertices, *control, *scale);
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
        if self.options.threads != 1 {
            // A thread that sleeps takes longer to wake up than a frame takes to begin.
            rayon::spawn(|| {});
        }
        self.begin_at(list, registers, memory, scale);
        self.draw_rows(HEIGHT, memory, Some(list));
    }

    /// Begins a frame, for callers that draw it row by row with [`Renderer::draw_until`]. Rows are those of the frame
    /// before until they are drawn. Textures are looked up here if pictures replace them, and otherwise as rows are drawn.
    pub fn begin(&mut self, list: &PolygonList, registers: &Registers, memory: &TextureMemory) {
        self.begin_at(list, registers, memory, Scale::ONE);
        let polygons = Polygons::submitted(list, registers, self.scale, &self.replacer);
        self.polygons.resize_with(self.outlines.len(), RasterPolygon::default);
        for (place, kept) in self.polygons.iter_mut().enumerate() {
            polygons.take_over(place, kept);
        }
    }

    fn begin_at(&mut self, list: &PolygonList, registers: &Registers, memory: &TextureMemory, scale: Scale) {
        self.registers.clone_from(registers);
        self.scale = scale;
        self.replacer.find(list, memory);
        self.outlines.clear();
        self.outlines.extend(list.drawn().map(|polygon| Outline::new(polygon, &list.vertices, scale)));
        let has_masks = self.outlines.iter().any(|polygon| polygon.shadow == Shadow::Mask);
        self.strips.sort(if has_masks { 1 } else { STRIP_ROWS }, &self.outlines);
        self.masks.find(has_masks, &self.strips, &self.outlines);
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
        self.draw_rows(end, memory, None);
    }

    /// Draws rows, of polygons of a list or of those that are kept.
    fn draw_rows(&mut self, end: usize, memory: &TextureMemory, list: Option<&PolygonList>) {
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
        let threads = match self.options.threads {
            // Marks of masks are kept by the thread that draws rows one after the other.
            _ if drawn.len() <= FEW_ROWS || self.masks.is_any() && drawn.len() < HEIGHT => 1,
            0 => rayon::current_num_threads(),
            threads => threads.min(HEIGHT),
        };
        self.bands.resize_with(threads.max(self.bands.len()), Band::default);
        let bands = self.bands.get_mut(..threads).unwrap_or_default();
        let parts = self.masks.parts(drawn.clone(), threads);
        let taken = Parts::new(self.lines.get_mut(drawn.clone()).unwrap_or_default(), &parts);
        let draw = |band: &mut Band| {
            let mut last = None;
            while let Some((place, (first, lines))) = taken.take(last) {
                band.draw(&frame, first, lines);
                finish.part(level, lines);
                last = Some(place);
            }
        };
        match bands {
            [band] => draw(band),
            // The calling thread begins at once: the others may take longer to wake up than there is to do.
            [own, others @ ..] => rayon::in_place_scope(|scope| {
                for band in others {
                    scope.spawn(|_| draw(band));
                }
                draw(own);
            }),
            [] => {}
        }
        finish.seams(level, &mut self.lines, self.finished..end, &parts);
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
    /// Draws the rows from `first` on.
    fn draw(&mut self, frame: &Scene, first: usize, lines: &mut [Line]) {
        dispatch!(frame.level, simd => self.draw_with(simd, frame, first, lines));
    }

    #[inline(always)]
    fn draw_with<S: Simd>(&mut self, simd: S, frame: &Scene, first: usize, lines: &mut [Line]) {
        self.drawn.resize_with(frame.outlines.len().max(self.drawn.len()), Drawn::default);
        if self.next.is_none() {
            self.stencil.reset(frame.scale);
        }
        let continues = self.next == Some(first);
        if !continues {
            self.stencil.go_on(frame.masks.are_before(first));
        }
        self.next = Some(first + lines.len());
        let strip_rows = frame.strips.rows;
        let (mut top, mut lines) = (first, lines);
        while !lines.is_empty() {
            let strip = top / strip_rows;
            let (strip_lines, below) = lines.split_at_mut(lines.len().min((strip + 1) * strip_rows - top));
            for (y, line) in (top..).zip(&mut *strip_lines) {
                frame.clear.fill(frame.state.environment.memory, frame.scale, y, &mut line.top);
                if frame.masks.is_any() {
                    // A mark of two rows above may have pixels drawn under edges where nothing was kept.
                    line.under = Row::default();
                }
            }
            for &place in frame.strips.places(strip) {
                let Some(Outline { rows, .. }) = frame.outlines.get(usize::from(place)) else { return };
                let Range { start, end } = *rows;
                let skip = (start - top as i32).max(0) as usize;
                for (y, line) in (top..end.max(0) as usize).zip(&mut *strip_lines).skip(skip) {
                    let is_first = y as i32 == start || y == first && !continues;
                    self.span(simd, frame, usize::from(place), y, is_first, line);
                }
            }
            top += strip_lines.len();
            lines = below;
        }
    }

    #[inline(always)]
    fn span<S: Simd>(
        &mut self,
        simd: S,
        frame: &Scene,
        place: usize,
        y: usize,
        is_first: bool,
        line: &mut Line,
    ) {
        let row = y as i32;
        let Some(Drawn { polygon, walker }) = self.drawn.get_mut(place) else { return };
        if is_first {
            frame.polygons.take_over(place, polygon);
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
        walker.step(polygon, frame.rules, row + 1);
    }
}
