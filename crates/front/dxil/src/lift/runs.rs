//! Components of a buffer one after the other, as few accesses as there can be.
//!
//! A load or store of DXIL names an address and up to four components, or a vector of SM 6.9. What is accessed at once is as
//! much of it as is aligned: four words at multiples of sixteen bytes, two at multiples of eight. Components of 16 bits go by
//! words where they are aligned to them.

use super::bind::Bound;
use super::bytes::Access;
use super::cx::Cx;
use super::multiples::Multiple;
use super::resource::Handle;
use super::{Lift, Stop};
use crate::bitcode::ValueId;
use crate::program::{Class, Shape};
use xenoglot_ir::{Op, Type, Value};

/// Bytes of a word, and of the most words that are accessed at once.
const WORD: u32 = 4;
const QUAD: u32 = 16;

/// Where the components of an access begin.
#[derive(Clone, Copy)]
pub(super) struct Run {
    /// The buffer.
    pub buffer: Bound,
    /// Where the first one is without the constant part, an `i32`, in units.
    base: Value,
    /// Bytes of a unit: 1, or 4.
    unit: u32,
    /// The constant part, in bytes.
    further: u32,
    /// What the base is a multiple of.
    multiple: Multiple,
    /// Bytes of records that a buffer has none or all of; 0 if it may end anywhere.
    record: u32,
    /// The first byte in its record, where it is known.
    in_record: Option<u32>,
    /// Whether only what is asked for may be loaded.
    exact: bool,
}

/// A part of a run that is accessed at once: components of 32 or 64 bits.
struct Part {
    /// The first component, and how many.
    first: u32,
    count: u32,
    /// Components in front of the first one that are loaded, too, and are of no use.
    before: u32,
    /// Lanes of the access.
    lanes: u8,
}

impl Cx<'_> {
    /// Where a buffer's access begins: at an offset, or at the number of a record and an offset in it. Components have `size`
    /// bytes.
    pub(super) fn run(&mut self, handle: &Handle, first: ValueId, second: ValueId, size: u32) -> Lift<Run> {
        let buffer = self.bind(handle)?;
        let v = self.scalar(first)?;
        let bytes = handle.declared.bytes;
        let exact = handle.declared.class == Class::Uav;
        match handle.declared.shape {
            Shape::StructuredBuffer => {
                let multiple = Multiple::of(self.b.func, v).times(bytes);
                if let Ok(offset) = self.integer(second) {
                    let further = offset as u32;
                    // Records of words are counted in words, and so is what is in them.
                    let unit =
                        if bytes.is_multiple_of(WORD) && further.is_multiple_of(WORD) { WORD } else { 1 };
                    let stride = self.i32(bytes / unit);
                    let base = self.address_op(Op::Imul, v, stride);
                    let in_record = Some(further);
                    return Ok(Run {
                        buffer,
                        base,
                        unit,
                        further,
                        multiple,
                        record: bytes,
                        in_record,
                        exact,
                    });
                }
                let stride = self.i32(bytes);
                let record = self.address_op(Op::Imul, v, stride);
                let offset = self.scalar(second)?;
                let multiple = multiple.plus(Multiple::of(self.b.func, offset));
                let base = self.address_op(Op::Iadd, record, offset);
                Ok(Run { buffer, base, unit: 1, further: 0, multiple, record: bytes, in_record: None, exact })
            }
            Shape::RawBuffer => {
                let multiple = Multiple::of(self.b.func, v);
                let known = self.b.func.const_bits(v).is_some();
                // Words lie at multiples of four, whatever the offset is computed of. Where they go by vectors, bytes are as good.
                let by_words = size.is_multiple_of(WORD) && !known && multiple.align_log2(0) < 3;
                let (base, unit) = match by_words && self.has_words(buffer) {
                    true => {
                        let two = self.i32(2);
                        (self.address_op(Op::Ushr, v, two), WORD)
                    }
                    false => (v, 1),
                };
                Ok(Run { buffer, base, unit, further: 0, multiple, record: 0, in_record: None, exact })
            }
            _ => Err(Stop::Unsupported("a resource of this shape")),
        }
    }

    /// The byte of a run's component.
    fn byte(&mut self, run: &Run, offset: u32) -> Value {
        let bytes = run.further.wrapping_add(offset);
        let unit = if bytes.is_multiple_of(run.unit) { run.unit } else { 1 };
        let to_bytes = |cx: &mut Self, v: Value| {
            let two = cx.i32(2);
            cx.address_op(Op::Shl, v, two)
        };
        let base = if unit == run.unit { run.base } else { to_bytes(self, run.base) };
        let sum = match bytes / unit {
            0 => base,
            n => {
                let n = self.i32(n);
                self.address_op(Op::Iadd, base, n)
            }
        };
        if unit == 1 { sum } else { to_bytes(self, sum) }
    }

    /// The byte that a run begins at.
    pub(super) fn first_byte(&mut self, run: &Run) -> Value {
        self.byte(run, 0)
    }

    /// Whether a buffer is an array of words to the host.
    fn has_words(&self, buffer: Bound) -> bool {
        matches!(buffer, Bound::Resource { .. } | Bound::Texels { .. })
    }

    /// Whether several components may be accessed at once at all.
    fn has_vectors(&self, run: &Run) -> bool {
        matches!(run.buffer, Bound::Resource { .. } | Bound::Address(_) | Bound::Inside(..))
    }

    /// The part that begins with the first of some components, `count` of which follow each other and are used.
    fn part(&self, run: &Run, bytes: u32, first: u32, count: u32) -> Part {
        let one = Part { first, count: 1, before: 0, lanes: 1 };
        if bytes != WORD || !self.has_vectors(run) {
            return one;
        }
        let several = |lanes: u32| Part { first, count: lanes, before: 0, lanes: lanes as u8 };
        // Behind an address words are enough.
        if matches!(run.buffer, Bound::Address(_)) {
            return several(count.min(4));
        }
        let align = run.multiple.align_log2(run.further.wrapping_add(first * WORD));
        if align >= 4 && count >= 4 {
            return several(4);
        }
        // Where records are of whole quads, a quad is there if a part of it is.
        let in_quad = run.in_record.map(|at| at.wrapping_add(first * WORD) % QUAD / WORD);
        if let Some(before) = in_quad
            && !run.exact
            && run.record.is_multiple_of(QUAD)
            && run.record != 0
            && run.multiple.align_log2(run.further.wrapping_add(first * WORD).wrapping_sub(before * WORD))
                >= 4
        {
            let count = count.min(4 - before);
            if count > 1 {
                return Part { first, count, before, lanes: 4 };
            }
        }
        match align >= 3 && count >= 2 {
            true => several(2),
            false => one,
        }
    }

    fn access_of(&self, run: &Run, op: Op, offset: Value, part: &Part, ty: Type) -> Access {
        let bytes = ty.lane().bytes().unwrap_or(WORD);
        let at = run.further.wrapping_add(part.first * bytes).wrapping_sub(part.before * bytes);
        let own = bytes.trailing_zeros() as u8;
        let align_log2 = match run.buffer {
            // The address itself is one of words, and so is where a window begins.
            Bound::Address(_) | Bound::Window { .. } => own,
            _ => run.multiple.align_log2(at).max(own),
        };
        let whole = run.record.is_multiple_of(QUAD) && run.record != 0 && part.lanes == 4;
        Access { op, offset, ty, align_log2, apart: part.lanes > 1 && !whole }
    }

    /// Loads components of a type: those that are used, of `used.len()`.
    pub(super) fn load_run(&mut self, run: &Run, ty: Type, used: &[bool]) -> Lift<Vec<Option<Value>>> {
        let bytes = ty.bytes().unwrap_or(WORD);
        if bytes == 2 && self.has_vectors(run) && run.multiple.align_log2(run.further) >= 2 {
            return self.load_halves(run, ty, used);
        }
        let mut loaded = vec![None; used.len()];
        let mut at = 0;
        while at < used.len() {
            if !used[at] {
                at += 1;
                continue;
            }
            let count = used[at..].iter().take_while(|&&used| used).count();
            let part = self.part(run, bytes, at as u32, count as u32);
            let lanes = ty.with_lanes(part.lanes).unwrap_or(ty);
            let offset = self.byte(run, (part.first * bytes).wrapping_sub(part.before * bytes));
            let access = self.access_of(run, Op::Load, offset, &part, lanes);
            let v = self.access_bytes(run.buffer, access, &[])?.ok_or(Stop::Unsupported("no result"))?;
            for n in 0..part.count {
                let lane = (part.before + n) as u8;
                let component = if part.lanes == 1 { v } else { self.b.extract(v, lane) };
                loaded[at + n as usize] = Some(component);
            }
            at += part.count as usize;
        }
        Ok(loaded)
    }

    /// Components of 16 bits out of words.
    fn load_halves(&mut self, run: &Run, ty: Type, used: &[bool]) -> Lift<Vec<Option<Value>>> {
        let words: Vec<bool> = used.chunks(2).map(|pair| pair.contains(&true)).collect();
        let words = self.load_run(run, Type::I32, &words)?;
        let pair_type = ty.with_lanes(2).unwrap_or(ty);
        let mut loaded = Vec::with_capacity(used.len());
        for (word, used) in words.into_iter().zip(used.chunks(2)) {
            let pair = word.map(|word| self.cast(word, pair_type));
            for (lane, &used) in (0..).zip(used) {
                loaded.push(pair.filter(|_| used).map(|pair| self.b.extract(pair, lane)));
            }
        }
        Ok(loaded)
    }

    /// Stores components, those that there are.
    pub(super) fn store_run(&mut self, run: &Run, values: &[Option<Value>]) -> Lift<()> {
        let Some(ty) = values.iter().flatten().next().map(|&v| self.ty(v)) else { return Ok(()) };
        if values.iter().flatten().any(|&v| self.ty(v) != ty) {
            return Err(Stop::Unsupported("components of several types"));
        }
        let bytes = ty.bytes().ok_or(Stop::Unsupported("components of this type"))?;
        let mut at = 0;
        while at < values.len() {
            let there: Vec<Value> = values[at..].iter().map_while(|&v| v).collect();
            if there.is_empty() {
                at += 1;
                continue;
            }
            let align = run.multiple.align_log2(run.further.wrapping_add(at as u32 * bytes));
            if bytes == 2 && there.len() > 1 && align >= 2 && self.has_vectors(run) {
                // As words, which hold two each.
                let words = there.chunks_exact(2).map(|pair| {
                    let both = self.op(Op::Build, pair);
                    Some(self.cast(both, Type::I32))
                });
                let words: Vec<Option<Value>> = words.collect();
                let rest = Run { further: run.further.wrapping_add(at as u32 * bytes), ..*run };
                self.store_run(&rest, &words)?;
                at += 2 * words.len();
                continue;
            }
            let part = self.part(&Run { exact: true, ..*run }, bytes, at as u32, there.len() as u32);
            let parts = &there[..part.count as usize];
            let v = if part.lanes == 1 { parts[0] } else { self.op(Op::Build, parts) };
            let offset = self.byte(run, at as u32 * bytes);
            let access = self.access_of(run, Op::Store, offset, &part, self.ty(v));
            self.access_bytes(run.buffer, access, &[v])?;
            at += part.count as usize;
        }
        Ok(())
    }
}
