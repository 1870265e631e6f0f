//! Guest memory on the device.
//!
//! A [`Cache`] has copies of ranges of guest memory, each as pixels of some size, a word per pixel: what tile programs draw to
//! and what textures are decoded from. Copies may overlap. Of each byte of guest memory it is known who has its newest
//! value: guest memory itself, or one of the copies, its *owner*; and of each copy, which of its bytes are *valid*, that is,
//! have that value. Owned bytes are valid. Before bytes are read from a copy, those that are not valid are brought there from
//! their owner or from guest memory. Pixels of the two may differ in size: a colour buffer of one format is read as a texture
//! of another, byte for byte as in guest memory.
//!
//! With a [scale](Scale), a copy has several planes of words: guest memory's own, which is the first one, and each sample of the
//! larger picture. All that happens to bytes happens in each plane; what comes from guest memory is the same in all, and what
//! goes there is the first one's.
//!
//! A memory fill is a copy of one pixel that repeats. It does nothing on the device until its bytes are read.

use std::ops::Range;

use rangemap::{RangeMap, RangeSet};
use rustc_hash::FxHashMap;
use xenoglot_host::{Buffer, Commands, Device, Error, Layout};

use super::batch::{Batch, Source};
use super::binning::Binners;
use super::kernels::{Kernels, params};
use crate::fragment::Scale;
use crate::memory::{ADDRESSES, Mark, Memory, PAGE};
use crate::raster::framebuffer::PixelBuffer;
use crate::report::Traffic;

/// Limits on the copies and on their bytes on the device: beyond either, the least recently used copies are dropped.
const COPIES: usize = 128;
const BYTES: u64 = 512 << 20;
/// Limit on the ranges whose last write is remembered.
const STAMPS: usize = 4096;

/// Which copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(u32);

/// What steps are added to, and where bytes are counted.
pub struct Context<'a> {
    /// The device.
    pub device: &'a Device,
    /// Its programs.
    pub kernels: &'a Kernels,
    /// Layout of tile programs.
    pub layout: &'a Layout,
    /// What bins triangles.
    pub binners: &'a Binners,
    /// Steps that wait.
    pub batch: &'a mut Batch,
    /// Commands that wait.
    pub commands: &'a mut Commands,
    /// What was moved.
    pub traffic: &'a mut Traffic,
}

impl Context<'_> {
    /// Hands all that waits to the device.
    pub fn submit(&mut self) -> Result<(), Error> {
        let programs = (self.layout, self.kernels, self.binners);
        self.batch.record(self.device, programs, self.commands, self.traffic)?;
        self.traffic.submissions += u64::from(!self.commands.is_empty());
        self.commands.submit(self.device)
    }
}

/// A copy that was asked for.
#[derive(Clone, Debug)]
pub struct Found {
    /// Which.
    pub id: Id,
    /// Its words.
    pub buffer: Buffer,
    /// Words from plane to plane.
    pub stride: u32,
}

/// A range of guest memory as pixels.
#[derive(Debug)]
struct Copy {
    place: PixelBuffer,
    pixels: u32,
    content: Content,
    valid: RangeSet<u64>,
    /// When it was used last.
    used: u64,
}

#[derive(Debug)]
enum Content {
    Words(Buffer),
    /// A pixel that repeats.
    Fill(u32),
}

impl Copy {
    fn start(&self) -> u64 {
        self.place.address.into()
    }

    /// Words from plane to plane; what repeats is the same in all.
    fn stride(&self) -> u32 {
        if matches!(self.content, Content::Fill(_)) { 0 } else { self.pixels }
    }

    fn bytes(&self) -> u64 {
        match &self.content {
            Content::Words(buffer) => buffer.size(),
            Content::Fill(_) => 0,
        }
    }
}

/// Copies of guest memory.
#[derive(Debug, Default)]
pub struct Cache {
    scale: Scale,
    copies: FxHashMap<Id, Copy>,
    next: u32,
    /// The owners of bytes that are newer than guest memory's.
    owners: RangeMap<u64, Id>,
    /// Pages that are marked dirty: at least those of what is owned.
    dirty: RangeSet<u64>,
    /// When bytes were written last.
    writes: RangeMap<u64, u64>,
    /// Writes before this moment are not remembered: any byte may have been written.
    forgotten: u64,
    clock: u64,
}

/// A range within another one.
fn clip(range: &Range<u64>, to: &Range<u64>) -> Range<u64> {
    range.start.max(to.start)..range.end.min(to.end)
}

/// The whole pages of a range.
fn pages(range: &Range<u64>) -> Range<u64> {
    let page = u64::from(PAGE);
    range.start & !(page - 1)..range.end.next_multiple_of(page).min(ADDRESSES.end)
}

/// Marks the pages of a range in guest memory, if it is tracked.
fn mark(memory: &mut dyn Memory, range: &Range<u64>, state: Mark) {
    if !memory.is_tracked() {
        return;
    }
    let Range { start, end } = pages(range);
    memory.mark(start as u32, (end - start).min(u32::MAX.into()) as u32, state);
}

impl Cache {
    /// No copies yet.
    pub fn new(scale: Scale) -> Cache {
        Cache { scale, ..Cache::default() }
    }

    /// Samples of the copies' pixels.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Bytes on the device of a copy of so many pixels.
    pub fn size_of(&self, pixels: u64) -> u64 {
        pixels.saturating_mul(4 * u64::from(self.scale.planes()))
    }

    /// Whether a copy owns some of a range.
    pub fn owns(&self, range: &Range<u64>) -> bool {
        !range.is_empty() && self.owners.overlaps(range)
    }

    /// Whether some of a range lies in pages that are marked dirty.
    pub fn is_dirty(&self, range: &Range<u64>) -> bool {
        !range.is_empty() && self.dirty.overlaps(range)
    }

    /// The present moment, to compare writes with.
    pub fn now(&self) -> u64 {
        self.clock
    }

    /// Whether some of a range was written after a moment.
    pub fn written_since(&self, range: &Range<u64>, moment: u64) -> bool {
        moment < self.forgotten
            || !range.is_empty() && self.writes.overlapping(range).any(|(_, &when)| when > moment)
    }

    fn note_write(&mut self, range: &Range<u64>) {
        self.clock += 1;
        if self.writes.len() > STAMPS {
            self.writes.clear();
            self.forgotten = self.clock;
        }
        self.writes.insert(range.clone(), self.clock);
    }

    /// The copy of `pixels` pixels at `place`, which is made if there is none. Its bytes in `needed` are valid then.
    pub fn pixels(
        &mut self,
        cx: &mut Context,
        memory: &mut dyn Memory,
        place: PixelBuffer,
        pixels: u32,
        needed: &Range<u64>,
    ) -> Result<Found, Error> {
        let found = self
            .copies
            .iter()
            .find(|(_, copy)| copy.place == place && matches!(copy.content, Content::Words(_)));
        let found = found.map(|(&id, copy)| (id, copy.pixels));
        let id = match found {
            Some((id, have)) if have >= pixels => id,
            smaller => {
                let content = Content::Words(cx.device.buffer(self.size_of(pixels.into()))?);
                let id = self.add(place, pixels, content);
                if let Some((old, _)) = smaller {
                    // The larger copy takes over what the smaller one owns.
                    let owned: Vec<Range<u64>> = self
                        .owners
                        .iter()
                        .filter(|(_, owner)| **owner == old)
                        .map(|(range, _)| range.clone())
                        .collect();
                    for range in owned {
                        self.validate(cx, memory, id, &range)?;
                        self.owners.insert(range, id);
                    }
                    self.copies.remove(&old);
                }
                id
            }
        };
        self.validate(cx, memory, id, needed)?;
        self.clock += 1;
        let clock = self.clock;
        let copy = self.copies.get_mut(&id).filter(|copy| matches!(copy.content, Content::Words(_)));
        match copy {
            Some(Copy { content: Content::Words(buffer), used, pixels, .. }) => {
                *used = clock;
                Ok(Found { id, buffer: buffer.clone(), stride: *pixels })
            }
            _ => Err(Error::Arguments("a copy of guest memory is gone".into())),
        }
    }

    fn add(&mut self, place: PixelBuffer, pixels: u32, content: Content) -> Id {
        self.next = self.next.wrapping_add(1);
        let id = Id(self.next);
        self.copies.insert(id, Copy { place, pixels, content, valid: RangeSet::new(), used: self.clock });
        id
    }

    /// Marks the pages of a range as cached, except those that are dirty because of other bytes.
    pub fn mark_cached(&self, memory: &mut dyn Memory, range: &Range<u64>) {
        if range.is_empty() {
            return;
        }
        for clean in self.dirty.gaps(&pages(range)) {
            mark(memory, &clean, Mark::Cached);
        }
    }

    /// Brings the bytes of a range to a copy, as far as they are not valid there.
    fn validate(
        &mut self,
        cx: &mut Context,
        memory: &mut dyn Memory,
        id: Id,
        needed: &Range<u64>,
    ) -> Result<(), Error> {
        if needed.is_empty() {
            return Ok(());
        }
        let Some(copy) = self.copies.get(&id) else { return Ok(()) };
        for gap in copy.valid.gaps(needed) {
            for (range, owner) in self.owners.overlapping(&gap) {
                if let Some(from) = self.copies.get(owner) {
                    convert(cx, from, copy, self.scale.planes(), &clip(range, &gap));
                }
            }
            for range in self.owners.gaps(&gap) {
                upload(cx, &*memory, copy, self.scale.planes(), &range);
                self.mark_cached(memory, &range);
            }
        }
        if let Some(copy) = self.copies.get_mut(&id) {
            copy.valid.insert(needed.clone());
        }
        Ok(())
    }

    /// A copy was written to: it owns these bytes, and all others have old ones.
    pub fn own(&mut self, memory: &mut dyn Memory, id: Id, range: &Range<u64>) {
        if range.is_empty() {
            return;
        }
        let touched = pages(range);
        if self.dirty.gaps(&touched).next().is_some() {
            mark(memory, range, Mark::Dirty);
            self.dirty.insert(touched);
        }
        self.note_write(range);
        for (other, copy) in &mut self.copies {
            if *other == id {
                copy.valid.insert(range.clone());
            } else {
                copy.valid.remove(range.clone());
            }
        }
        self.owners.insert(range.clone(), id);
    }

    /// Fills a range with a pixel of some bytes.
    pub fn fill(&mut self, memory: &mut dyn Memory, place: PixelBuffer, pixel: u32, range: &Range<u64>) {
        let pixels = (range.end - range.start) / u64::from(place.bytes.max(1));
        let id = self.add(place, pixels as u32, Content::Fill(pixel));
        self.own(memory, id, range);
    }

    /// Brings the dirty pages of a range to guest memory.
    pub fn flush(
        &mut self,
        cx: &mut Context,
        memory: &mut dyn Memory,
        range: &Range<u64>,
    ) -> Result<(), Error> {
        if !self.is_dirty(range) {
            return Ok(());
        }
        let range = pages(range);
        let mut parts: Vec<(Buffer, Range<u64>, Range<u64>)> = Vec::new();
        for (owned, owner) in self.owners.overlapping(&range) {
            let piece = clip(owned, &range);
            let Some(copy) = self.copies.get(owner) else { continue };
            let (lo, hi) = (piece.start - copy.start(), piece.end - copy.start());
            match &copy.content {
                Content::Fill(pixel) => store_fill(memory, &piece, lo, copy.place.bytes, *pixel),
                Content::Words(buffer) if copy.place.bytes == 4 && lo % 4 == 0 && hi % 4 == 0 => {
                    parts.push((buffer.clone(), lo..hi, piece));
                }
                Content::Words(_) => {
                    let len = (hi - lo).next_multiple_of(4);
                    let buffer = cx.device.buffer(len)?;
                    let packed = Copy {
                        place: PixelBuffer { address: piece.start as u32, bytes: 4 },
                        pixels: (len / 4) as u32,
                        content: Content::Words(buffer.clone()),
                        valid: RangeSet::new(),
                        used: 0,
                    };
                    convert(cx, copy, &packed, 1, &piece);
                    parts.push((buffer, 0..len, piece));
                }
            }
        }
        if !parts.is_empty() {
            cx.submit()?;
            let list: Vec<_> = parts.iter().map(|(buffer, part, _)| (buffer, part.clone())).collect();
            let words = cx.device.read(&list)?;
            cx.traffic.submissions += 1;
            cx.traffic.waits += 1;
            for ((_, part, piece), words) in parts.iter().zip(&words) {
                cx.traffic.downloaded += part.end - part.start;
                store(memory, piece, words);
            }
        }
        self.owners.remove(range.clone());
        for dirty in self.dirty.overlapping(&range) {
            mark(memory, &clip(dirty, &range), Mark::Cached);
        }
        self.dirty.remove(range);
        Ok(())
    }

    /// Guest memory was written: no copy's bytes in a range are valid or owned any more.
    pub fn invalidate(&mut self, range: &Range<u64>) {
        if range.is_empty() {
            return;
        }
        self.note_write(range);
        self.owners.remove(range.clone());
        self.copies.values_mut().for_each(|copy| copy.valid.remove(range.clone()));
    }

    /// Drops all copies with what they own. Pages stay marked dirty until they are flushed, which then writes nothing.
    pub fn forget(&mut self) {
        let (scale, next, clock) = (self.scale, self.next, self.clock + 1);
        let dirty = std::mem::take(&mut self.dirty);
        *self = Cache { scale, next, clock, forgotten: clock, dirty, ..Cache::default() };
    }

    /// Drops the least recently used copies if there are too many, after it has brought what they own to guest memory.
    pub fn tidy(&mut self, cx: &mut Context, memory: &mut dyn Memory) -> Result<(), Error> {
        let bytes = |copies: &FxHashMap<Id, Copy>| copies.values().map(Copy::bytes).sum::<u64>();
        if self.copies.len() <= COPIES && bytes(&self.copies) <= BYTES {
            return Ok(());
        }
        // Fills that own nothing any more go first.
        let mut is_owner: FxHashMap<Id, Vec<Range<u64>>> = FxHashMap::default();
        self.owners.iter().for_each(|(range, owner)| is_owner.entry(*owner).or_default().push(range.clone()));
        self.copies.retain(|id, copy| is_owner.contains_key(id) || matches!(copy.content, Content::Words(_)));
        let mut oldest: Vec<(u64, Id)> = self.copies.iter().map(|(&id, copy)| (copy.used, id)).collect();
        oldest.sort_unstable_by_key(|&(used, _)| used);
        for (_, id) in oldest {
            if self.copies.len() <= COPIES / 2 && bytes(&self.copies) <= BYTES / 2 {
                break;
            }
            for range in is_owner.get(&id).into_iter().flatten() {
                self.flush(cx, memory, range)?;
            }
            self.copies.remove(&id);
        }
        Ok(())
    }
}

/// Adds the step that brings bytes from one copy to another, in some of their planes.
fn convert(cx: &mut Context, from: &Copy, to: &Copy, planes: u32, range: &Range<u64>) {
    let Content::Words(target) = &to.content else { return };
    let delta = to.place.address.wrapping_sub(from.place.address);
    let (source, fill) = match &from.content {
        Content::Words(buffer) => (Source::Buffer(buffer.clone()), [0, 0]),
        Content::Fill(pixel) => (Source::Lists, [1, *pixel]),
    };
    convert_from(cx, source, [from.place.bytes, 0, delta, from.stride()], fill, (to, target, planes), range);
}

/// The same for any source: its bytes per pixel, its first word, the difference to add to the target's byte offsets, and words
/// from plane to plane.
fn convert_from(
    cx: &mut Context,
    source: Source,
    [bytes, first_word, delta, stride]: [u32; 4],
    [is_fill, pixel]: [u32; 2],
    (to, target, planes): (&Copy, &Buffer, u32),
    range: &Range<u64>,
) {
    let place = to.place;
    let [lo, hi] = [range.start, range.end].map(|at| (at - to.start()) as u32);
    let first = lo / place.bytes;
    let count = hi.div_ceil(place.bytes) - first;
    let words = params(&[
        first,
        count,
        place.bytes,
        bytes,
        first_word,
        lo,
        hi,
        delta,
        is_fill,
        pixel,
        stride,
        to.stride(),
    ]);
    cx.batch.kernel(cx.device, &cx.kernels.convert, source, target, &words, [count, planes]);
}

/// Adds the step that brings bytes from guest memory to a copy. What is not memory is 0.
fn upload(cx: &mut Context, memory: &dyn Memory, to: &Copy, planes: u32, range: &Range<u64>) {
    let Content::Words(target) = &to.content else { return };
    let len = (range.end - range.start) as u32;
    let start = range.start as u32;
    let first = match memory.bytes(start, len) {
        Some(bytes) => cx.batch.upload(bytes),
        None => cx.batch.upload(&vec![0; len as usize]),
    };
    cx.traffic.uploaded += u64::from(len);
    let at = range.start - to.start();
    if planes == 1 && to.place.bytes == 4 && at.is_multiple_of(4) && len.is_multiple_of(4) {
        let from = u64::from(first) * 4;
        return cx.batch.copy(Source::Lists, from..from + u64::from(len), target, at);
    }
    let delta = to.place.address.wrapping_sub(start);
    convert_from(cx, Source::Lists, [4, first, delta, 0], [0, 0], (to, target, planes), range);
}

/// Puts packed bytes into guest memory.
fn store(memory: &mut dyn Memory, range: &Range<u64>, words: &[u32]) {
    let len = (range.end - range.start) as u32;
    if let Some(place) = memory.bytes_mut(range.start as u32, len) {
        for (to, word) in place.chunks_mut(4).zip(words) {
            to.iter_mut().zip(word.to_le_bytes()).for_each(|(to, from)| *to = from);
        }
    }
}

/// Puts a pixel that repeats into guest memory; the range starts `at` bytes after a pixel's start.
fn store_fill(memory: &mut dyn Memory, range: &Range<u64>, at: u64, bytes: u32, pixel: u32) {
    let len = (range.end - range.start) as u32;
    let pattern = pixel.to_le_bytes();
    let pattern = pattern.get(..bytes as usize).unwrap_or_default();
    if let Some(place) = memory.bytes_mut(range.start as u32, len) {
        let skip = at as usize % pattern.len().max(1);
        place.iter_mut().zip(pattern.iter().cycle().skip(skip)).for_each(|(to, from)| *to = *from);
    }
}
