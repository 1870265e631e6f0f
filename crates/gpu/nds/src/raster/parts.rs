//! How a frame's rows are divided among threads.

use super::Scale;
use super::buffers::{HEIGHT, Line};
use super::polygon::Outline;
use super::shadow::{MaskHistory, OldMarks};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows of a strip: few enough for the nearest cache.
pub const STRIP_ROWS: usize = 8;
/// Parts of a frame for each thread, at most.
const PARTS: usize = 24;
/// Rows of a part, at least.
const PART_ROWS: usize = STRIP_ROWS / 2;
/// Parts that are taken one by one, the last ones, so that threads end at about the same time; before, they are taken two at a time.
const LAST_PARTS: usize = 8;

/// Which polygons a few rows have.
///
/// A strip's polygons are drawn one after the other, each in all of its rows, rather than row by row: every pixel sees
/// them in the same order, and the processor sees the same kind of span several times.
#[derive(Clone, Debug, Default)]
pub struct Strips {
    /// Rows of a strip.
    pub rows: usize,
    /// Places in a frame's polygons by strip, in drawing order.
    places: Vec<u16>,
    /// Where a strip's places start, and where the last one's end.
    starts: Vec<usize>,
}

impl Strips {
    /// Sorts polygons into strips of some rows.
    pub fn sort(&mut self, rows: usize, polygons: &[Outline]) {
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
    pub fn places(&self, strip: usize) -> &[u16] {
        match (self.starts.get(strip), self.starts.get(strip + 1)) {
            (Some(&from), Some(&to)) => self.places.get(from..to).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// What shadow masks make of a frame's rows. Marks that nothing clears come back two rows later, so that rows may depend on rows
/// above them; a frame without masks can be cut anywhere.
#[derive(Clone, Debug, Default)]
pub struct Masks {
    /// By row, if the frame has masks: whether the polygon drawn last before it is one, and whether rows from it on see no marks
    /// of rows above.
    rows: Vec<(bool, bool)>,
    /// Rows from a row to the next one that has the same part of the mask.
    period: usize,
}

impl Masks {
    /// Works it out for a frame. If it has masks, its strips are single rows.
    pub fn find(&mut self, has_masks: bool, strips: &Strips, polygons: &[Outline], scale: Scale) {
        self.rows.clear();
        self.period = 2 * scale.get() as usize;
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
        // A bit for each part of the mask whose marks are seen from a row on.
        let mut seen = 0_u32;
        for (y, &old) in old_marks.iter().enumerate().rev() {
            let part = 1 << (y % self.period);
            match old {
                OldMarks::Kept => {}
                OldMarks::Cleared => seen &= !part,
                OldMarks::Seen => seen |= part,
            }
            self.rows[y].1 = seen == 0;
        }
    }

    /// Whether there are masks.
    pub fn is_any(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Whether the polygon drawn last before a row is a mask.
    pub fn are_before(&self, row: usize) -> bool {
        self.rows.get(row).is_some_and(|&(after_mask, _)| after_mask)
    }

    /// Divides rows into parts that do not depend on each other, some for each thread.
    pub fn divide(&self, rows: Range<usize>, threads: usize) -> Division {
        let can_start = |row| self.rows.get(row).is_none_or(|&(_, sees_none)| sees_none);
        let parts = cut(rows.clone(), threads, can_start);
        let longest = parts.iter().map(Range::len).max().unwrap_or(0);
        if self.is_any() && longest > rows.len() / threads.min(self.period) + STRIP_ROWS {
            Division::Interleaved(self.period)
        } else {
            Division::Cut(parts)
        }
    }
}

/// Cuts rows into parts, some for each thread.
fn cut(rows: Range<usize>, threads: usize, can_start: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let some = match threads {
        1 => rows.len(),
        _ => rows.len().div_ceil(PARTS * threads).next_multiple_of(PART_ROWS),
    };
    let mut parts = Vec::new();
    let mut start = rows.start;
    while start < rows.end {
        let end = (start + some..rows.end).find(|&row| can_start(row)).unwrap_or(rows.end);
        parts.push(start..end);
        start = end;
    }
    parts
}

/// How rows are divided.
pub enum Division {
    /// Into parts of rows next to each other.
    Cut(Vec<Range<usize>>),
    /// Into every n-th row, for n parts of the mask: a row depends on the row n above it, and on none between.
    Interleaved(usize),
}

impl Division {
    /// Of rows that can be cut anywhere.
    pub fn anywhere(rows: Range<usize>, threads: usize) -> Division {
        Division::Cut(cut(rows, threads, |_| true))
    }
}

/// Rows that a thread takes, one after the other.
pub struct Run<'a> {
    /// The first.
    pub first: usize,
    /// From one to the next.
    pub step: usize,
    /// Their pixels.
    pub lines: Vec<&'a mut Line>,
    /// How many of them it had taken before.
    pub before: usize,
}

impl<'a> Run<'a> {
    fn new(first: usize, step: usize) -> Run<'a> {
        Run { first, step, lines: Vec::new(), before: 0 }
    }

    fn end(&self) -> usize {
        self.first + self.step * self.lines.len()
    }

    fn follows(&self, other: &Run) -> bool {
        self.first == other.end() && self.step == other.step
    }

    /// Appends the rows of a part if they come next; whether they do.
    fn join(&mut self, part: &mut Run<'a>) -> bool {
        let is_next = part.follows(self);
        if is_next {
            self.before = self.lines.len();
            self.lines.append(&mut part.lines);
        }
        is_next
    }
}

/// Parts of a frame in their order; `None` for those that a thread has taken.
pub struct Parts<'a>(Mutex<Vec<Option<Run<'a>>>>);

impl<'a> Parts<'a> {
    /// Parts of the rows from `start` on.
    pub fn new(lines: &'a mut [Line], start: usize, division: &Division) -> Parts<'a> {
        let parts = match division {
            Division::Cut(parts) => {
                let mut lines = lines.iter_mut();
                let part = |rows: &Range<usize>| {
                    let lines = lines.by_ref().take(rows.len()).collect();
                    Some(Run { lines, ..Run::new(rows.start, 1) })
                };
                parts.iter().map(part).collect()
            }
            Division::Interleaved(period) => {
                let mut parts: Vec<Run> = (start..).take(*period).map(|y| Run::new(y, *period)).collect();
                for (y, line) in lines.iter_mut().enumerate() {
                    parts[y % period].lines.push(line);
                }
                parts.into_iter().map(Some).collect()
            }
        };
        Parts(Mutex::new(parts))
    }

    /// A part and its place, for a thread that has had part `last`. This is the next part, where the thread need not set up its
    /// polygons anew. If the next one is taken, it is the middle of the longest run of parts that are left: the thread above that run
    /// goes on with its first half.
    fn take(&self, last: Option<usize>) -> Option<(usize, Run<'a>)> {
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = last.map(|last| last + 1).filter(|&next| parts.get(next).is_some_and(Option::is_some));
        let place = next.or_else(|| {
            let rows =
                |parts: &[Option<Run>]| parts.iter().flatten().map(|part| part.lines.len()).sum::<usize>();
            let (mut longest, mut most, mut start) = (0..0, 0, 0);
            for run in parts.chunk_by(|a, b| a.is_some() == b.is_some()) {
                if rows(run) > most {
                    (longest, most) = (start..start + run.len(), rows(run));
                }
                start += run.len();
            }
            let first_half = if longest.start == 0 { 0 } else { longest.len() / 2 };
            longest.nth(first_half)
        })?;
        let one_by_one = parts.iter().flatten().count() <= LAST_PARTS;
        let mut part = parts.get_mut(place)?.take()?;
        let next = parts
            .get_mut(place + 1)
            .filter(|_| !one_by_one)
            .and_then(|next| next.take_if(|next| next.follows(&part)));
        match next {
            Some(mut next) => {
                part.lines.append(&mut next.lines);
                Some((place + 1, part))
            }
            None => Some((place, part)),
        }
    }

    /// Does the work of all parts on several threads, the calling one among them, each with its own `T`. Returns the rows of all runs
    /// but interleaved ones.
    pub fn share<T: Send>(
        &self,
        threads: &mut [T],
        awake: Option<Awake>,
        work: impl Fn(&mut T, &mut Run<'a>) + Sync,
    ) -> Vec<Range<usize>> {
        let runs = Mutex::new(Vec::new());
        let end = |run: &Run| {
            if run.step == 1 {
                let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
                runs.push(run.first..run.end());
            }
        };
        let work = |thread: &mut T| {
            let Some((mut place, mut run)) = self.take(None) else { return };
            work(thread, &mut run);
            while let Some((next, mut part)) = self.take(Some(place)) {
                if !run.join(&mut part) {
                    end(&run);
                    run = part;
                }
                work(thread, &mut run);
                place = next;
            }
            end(&run);
        };
        match threads {
            [thread] => work(thread),
            // The calling thread begins at once: the others may take longer to wake up than there is to do.
            [own, others @ ..] => {
                let at_work = AtomicUsize::new(others.len());
                let is_over = || at_work.load(Ordering::Relaxed) == 0;
                rayon::in_place_scope(|scope| {
                    for thread in others {
                        scope.spawn(|_| {
                            work(thread);
                            at_work.fetch_sub(1, Ordering::Relaxed);
                        });
                    }
                    drop(awake);
                    work(own);
                    yield_until(is_over);
                })
            }
            [] => {}
        }
        runs.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps threads of the current rayon pool awake, from now until it is dropped. A thread that sleeps wakes up as late as 0.1 to 0.5 ms
/// after it is given something to do, half a frame.
pub struct Awake(Arc<AtomicBool>);

/// How often a thread yields before it goes on or sleeps: some tenths of a millisecond.
const ROUNDS: usize = 1000;

/// Waits a while without sleeping. A thread of the pool does what else it has to do.
fn yield_until(is_over: impl Fn() -> bool) {
    for _ in (0..ROUNDS).take_while(|_| !is_over()) {
        if rayon::yield_now() != Some(rayon::Yield::Executed) {
            std::thread::yield_now();
        }
    }
}

impl Awake {
    /// Keeps some threads awake.
    pub fn new(threads: usize) -> Awake {
        let is_over = Arc::new(AtomicBool::new(false));
        for _ in 0..threads {
            let is_over = is_over.clone();
            rayon::spawn(move || yield_until(|| is_over.load(Ordering::Relaxed)));
        }
        Awake(is_over)
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raster::polygon::Shadow;

    fn masks(shadows: &[(Range<i32>, Shadow)], scale: Scale) -> Masks {
        let outline = |(polygon, (rows, shadow)): (u16, &(Range<i32>, Shadow))| Outline {
            polygon,
            rows: rows.clone(),
            shadow: *shadow,
        };
        let outlines: Vec<Outline> = (0..).zip(shadows).map(outline).collect();
        let (mut strips, mut masks) = (Strips::default(), Masks::default());
        strips.sort(1, &outlines);
        masks.find(true, &strips, &outlines, scale);
        masks
    }

    #[test]
    fn frames_are_cut_where_no_marks_are_seen() {
        // A polygon before the mask in all rows but 60 to 139, where the mask of the row above stays the last.
        let shadows = [(0..60, Shadow::None), (140..192, Shadow::None), (0..192, Shadow::Mask)];
        let Division::Cut(parts) = masks(&shadows, Scale::ONE).divide(0..HEIGHT, 4) else {
            panic!("there are more parts than two")
        };
        let starts: Vec<usize> = parts.iter().map(|part| part.start).collect();
        assert!(starts.iter().all(|start| !(62..140).contains(start)), "{starts:?}");
        assert!(starts.iter().filter(|&&start| start < 62).count() > 5, "{starts:?}");
    }

    #[test]
    fn rows_that_masks_tie_together_are_divided_by_parts_of_the_mask() {
        for times in 1..=4 {
            let scale = Scale::new(times).unwrap();
            let division = masks(&[(0..192, Shadow::Mask)], scale).divide(0..HEIGHT, 2);
            let Division::Interleaved(period) = division else { panic!("rows are independent") };
            assert_eq!(period, 2 * times as usize);
            let mut lines = vec![Line::default(); HEIGHT];
            let parts = Parts::new(&mut lines, 0, &division);
            let rows = Mutex::new(Vec::new());
            let mut threads = [(); 2];
            let runs = parts.share(&mut threads, None, |(), run| {
                let drawn = (run.before..run.lines.len()).map(|line| run.first + run.step * line);
                rows.lock().unwrap().extend(drawn);
            });
            let mut rows = rows.into_inner().unwrap();
            rows.sort_unstable();
            assert!(rows.into_iter().eq(0..HEIGHT));
            assert!(runs.is_empty());
        }
    }

    #[test]
    fn runs_have_all_rows() {
        for threads in 1..6 {
            let mut lines = vec![Line::default(); 150];
            let division = Division::anywhere(20..170, threads);
            let taken = Parts::new(&mut lines, 20, &division);
            let awake = Some(Awake::new(threads));
            let mut runs =
                taken.share(&mut vec![(); threads], awake, |(), run| assert!(run.before < run.lines.len()));
            runs.sort_by_key(|run| run.start);
            assert!(runs.iter().cloned().flatten().eq(20..170), "{runs:?}");
        }
    }
}
