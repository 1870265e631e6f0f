//! UASTC to BC7 without texels.
//!
//! Each mode of UASTC has a mode of BC7 with the same planes and partitions and almost the same weights: UASTC's modes were
//! chosen for that (UASTC texture specification of Basis Universal). So end points are rounded to what BC7 stores, indices are
//! moved to where BC7 has them, and all that depends on a mode is constant.

mod ends;
mod indices;
mod patterns;
#[cfg(test)]
mod tests;

use super::uastc::{self, Components, Endpoints, Layout, MODES};
use super::unpack::{endpoints, field, mixed, second, texels, weights, weights_of};
use crate::bc::bc7;
use crate::bc::partition::widen;
use crate::encode::bc7::SOLID;
use crate::encode::fields::Fields;
use crate::encode::group::Group;
use crate::encode::lanes::LANES;
use crate::encode::{Lines, bc7_on_lines};
use crate::simd::{Portable, Simd};
use ends::{Codes, Shares, codes};
use indices::{extremes, four_to_two, lowest_bits};
use patterns::Pattern;
use pulp::{Arch, NullaryFnOnce};

/// The block of BC7 that has nearly the texels of a block of UASTC, and the same ones if those are of a single colour. An
/// illegal block is magenta, as it is when it is decoded.
pub fn uastc_to_bc7(block: &[u8; 16]) -> [u8; 16] {
    let mut out = [0; 16];
    convert(block, &mut out);
    out
}

/// [`uastc_to_bc7`] of many blocks.
pub fn convert(data: &[u8], out: &mut [u8]) {
    let (data, out) = (data.as_chunks().0, out.as_chunks_mut().0);
    match Arch::new() {
        #[cfg(target_arch = "x86_64")]
        Arch::V4(simd) => simd.vectorize(Work { simd, data, out }),
        #[cfg(target_arch = "x86_64")]
        Arch::V3(simd) => simd.vectorize(Work { simd, data, out }),
        _ => Work { simd: Portable, data, out }.call(),
    }
}

/// Replaces those blocks of BC7 that are farther from blocks of UASTC than what [`convert`] makes of them.
pub fn improve(data: &[u8], out: &mut [u8]) {
    const BATCH: usize = 16;
    let (data, out) = (data.as_chunks::<16>().0, out.as_chunks_mut::<16>().0);
    for (data, out) in data.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
        let mut converted = [[0; 16]; BATCH];
        let converted = &mut converted[..data.len()];
        convert(data.as_flattened(), converted.as_flattened_mut());
        for ((data, converted), out) in data.iter().zip(converted).zip(out) {
            let wanted = texels(Portable, data);
            if distance(&wanted, converted) < distance(&wanted, out) {
                *out = *converted;
            }
        }
    }
}

/// The squared distance of the texels of a block of BC7.
fn distance(wanted: &[[u8; 4]; 16], block: &[u8; 16]) -> u32 {
    let mut texels = [0; 64];
    bc7::bc7(Portable, 4, block, &mut texels);
    let off = wanted.as_flattened().iter().zip(&texels).map(|(a, b)| u32::from(a.abs_diff(*b)));
    off.map(|off| off * off).sum()
}

/// The conversion of many blocks, compiled for each instruction set.
struct Work<'a, S> {
    simd: S,
    data: &'a [[u8; 16]],
    out: &'a mut [[u8; 16]],
}

impl<S: Simd> NullaryFnOnce for Work<'_, S> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Work { simd, data, out } = self;
        let (mut opaque, mut clear) = (OnLines::default(), OnLines::default());
        for (place, block) in data.iter().enumerate() {
            match converted(simd, block) {
                Found::Block(bits) => store(out, place, bits),
                Found::Line(line) if line.has_alpha => clear.push(place, &line, out),
                Found::Line(line) => opaque.push(place, &line, out),
            }
        }
        opaque.encode(out);
        clear.encode(out);
    }
}

#[inline(always)]
fn store(out: &mut [[u8; 16]], place: usize, bits: u128) {
    if let Some(out) = out.get_mut(place) {
        *out = bits.to_le_bytes();
    }
}

/// Blocks whose texels lie on one line: of sixteen the ends and levels are found together.
#[derive(Default)]
struct OnLines {
    group: Group,
    ways: [[f32; LANES]; 4],
}

impl OnLines {
    #[inline(always)]
    fn push(&mut self, place: usize, line: &Line, out: &mut [[u8; 16]]) {
        let [a, b, c, d] = line.texels.as_chunks().0 else { return };
        let lane = self.group.push(place, [a, b, c, d]);
        for (ways, way) in self.ways.iter_mut().zip(line.way) {
            ways[lane] = way.into();
        }
        if self.group.is_full() {
            self.encode(out);
        }
    }

    fn encode(&mut self, out: &mut [[u8; 16]]) {
        for ways in &mut self.ways {
            let first = ways[0];
            ways[self.group.count()..].fill(first);
        }
        self.group.encode(out, |rows| bc7_on_lines(Lines { rows, ways: &self.ways }));
    }
}

/// How a block is converted.
enum Found {
    Block(u128),
    Line(Line),
}

/// A block of one subset and one plane.
struct Line {
    /// RGBA, row by row.
    texels: [u32; 16],
    /// From one end to the other.
    way: [i16; 4],
    has_alpha: bool,
}

#[inline(always)]
fn converted<S: Simd>(simd: S, block: &[u8; 16]) -> Found {
    let bits = u128::from_le_bytes(*block);
    let found = match uastc::mode_of(block) {
        0 => single::<S, 0>(simd, bits),
        1 => several::<1, 3, 3, 1, 2, 2>(bits, &patterns::WHOLE),
        2 => several::<2, 1, 3, 2, 2, 3>(bits, &patterns::TWO_OF_THREE_BITS),
        3 => several::<3, 2, 3, 3, 3, 2>(bits, &patterns::THREE),
        4 => several::<4, 3, 3, 2, 2, 2>(bits, &patterns::TWO),
        5 => single::<S, 5>(simd, bits),
        6 => dual::<6>(bits),
        7 => several::<7, 2, 3, 2, 3, 2>(bits, &patterns::SEVEN),
        uastc::SOLID => Some(solid(uastc::color_of_solid(bits))),
        9 => several::<9, 7, 4, 2, 2, 2>(bits, &patterns::TWO),
        10 => single::<S, 10>(simd, bits),
        11 => dual::<11>(bits),
        12 => single::<S, 12>(simd, bits),
        13 => dual::<13>(bits),
        14 => single::<S, 14>(simd, bits),
        15 => single::<S, 15>(simd, bits),
        16 => several::<16, 7, 4, 2, 2, 2>(bits, &patterns::TWO),
        17 => dual::<17>(bits),
        18 => single::<S, 18>(simd, bits),
        _ => None,
    };
    found.unwrap_or_else(|| solid(uastc::ERROR))
}

/// A single colour, exact: mode 5, all of whose texels have the second colour.
fn solid(color: [u8; 4]) -> Found {
    let mut fields = Fields::of_mode(5);
    fields.put(0, 2);
    for component in &color[..3] {
        let [from, to] = SOLID[usize::from(*component)];
        fields.put(from.into(), 7);
        fields.put(to.into(), 7);
    }
    fields.put(color[3].into(), 8);
    fields.put(color[3].into(), 8);
    fields.put_indices(0x5555_5555, 2, &[0]);
    fields.put_indices(0, 2, &[0]);
    Found::Block(fields.bits())
}

/// A bit for each component of which different weights of mode `M` may give the same value between these ends.
#[inline(always)]
fn near_components<const M: usize>(ends: &Endpoints) -> u8 {
    // Weights are at least 64, 21 or 9 of 64 apart.
    let farthest = const { [0, 0, 3, 7][MODES[M].weight_bits as usize] };
    let mut near = 0;
    for (c, (from, to)) in ends[0].iter().zip(ends[1]).enumerate() {
        near |= u8::from(from.abs_diff(to) <= farthest) << c;
    }
    near
}

/// The colours between two ends of the least and the greatest of the indices of mode `M` under a mask. If they are alike, so are
/// those of all indices.
#[inline(always)]
fn extreme_colors<const M: usize, const W: usize>(ends: &Endpoints, indices: u64, mask: u64) -> Endpoints {
    let weights = const { &weights_of::<M>() };
    let [from, to] = ends.map(|end| end.map(i16::from));
    extremes::<W>(indices, mask).map(|at| {
        let weight = weights[usize::from(at) % 16] as i16;
        std::array::from_fn(|c| mixed(from[c], to[c] - from[c], weight))
    })
}

/// The texels of a block of one subset and one plane.
#[inline(always)]
fn single<S: Simd, const M: usize>(simd: S, bits: u128) -> Option<Found> {
    let mode = const { &MODES[M] };
    let [ends, ..] = endpoints::<M>(bits)?;
    let weights = weights::<S, M>(simd, bits, 1);
    let [from, to] = ends.map(|end| end.map(i16::from));
    let (mut texels, mut way) = ([0; 16], [0; 4]);
    let components = if mode.components == Components::Rgb { 3 } else { 4 };
    for c in 0..components {
        way[c] = to[c] - from[c];
        for (texel, weight) in texels.iter_mut().zip(&weights) {
            *texel |= u32::from(mixed(from[c], way[c], *weight as i16)) << (8 * c);
        }
    }
    if components == 3 {
        for texel in &mut texels {
            *texel |= 0xff00_0000;
        }
    }
    Some(Found::Line(Line { texels, way, has_alpha: components == 4 && (ends[0][3] & ends[1][3]) != 255 }))
}

/// A block in which a component has weights of its own, in mode 5.
#[inline(always)]
fn dual<const M: usize>(bits: u128) -> Option<Found> {
    let (layout, mode) = const { (Layout::of(M), &MODES[M]) };
    let [ends, ..] = endpoints::<M>(bits)?;
    let second = second::<M>(bits);
    let packed = (bits >> layout.weights) as u64;
    let planes = if mode.weight_bits == 1 {
        // The first texel's have no bit.
        let packed = packed << 2;
        [packed, packed >> 1].map(|plane| (plane & 0x5555_5555) * 3)
    } else {
        let packed = packed & 1 | (packed & 2) << 1 | (packed & !3) << 2;
        [packed, packed >> 2].map(four_to_two)
    };
    // A plane does not matter where its indices or the ends of its components are alike. Where weights have one bit only equal
    // ends are near, so that it does not matter either that their indices are 0 and 3.
    let is_constant = planes.map(|plane| plane == (plane & 3) * lowest_bits(2));
    let near = near_components::<M>(&ends);
    if (is_constant[0] || near | 1 << second == 0xf) && (is_constant[1] || near >> second & 1 == 1) {
        let [mut colors, alone] = planes.map(|plane| extreme_colors::<M, 2>(&ends, plane, lowest_bits(2)));
        for (color, alone) in colors.iter_mut().zip(alone) {
            color[second] = alone[second];
        }
        if colors[0] == colors[1] {
            return Some(solid(colors[0]));
        }
    }
    // The component with weights of its own takes the place of alpha, whose place is taken by alpha.
    let turned = ends.map(|mut end| {
        end.swap(second, 3);
        end
    });
    let colors = codes::<5, 3>(&turned, &Shares::of::<2>(planes[0], lowest_bits(2), 3));
    let mut fields = Fields::of_mode(5);
    fields.put((second as u32 + 1) % 4, 2);
    for c in 0..3 {
        fields.put(colors.codes[0][c], 7);
        fields.put(colors.codes[1][c], 7);
    }
    fields.put(turned[0][3].into(), 8);
    fields.put(turned[1][3].into(), 8);
    fields.put_indices(planes[0], 2, &[0]);
    fields.put_indices(planes[1], 2, &[0]);
    Some(Found::Block(fields.bits()))
}

/// A block of `G` subsets in UASTC and of `N` in mode `B`, which has `C` components and indices of `W` bits.
#[inline(always)]
fn several<const M: usize, const B: usize, const C: usize, const G: usize, const N: usize, const W: usize>(
    bits: u128,
    patterns: &[Pattern<G, N>],
) -> Option<Found> {
    let (layout, width, mode) = const { (Layout::of(M), W as u32, &bc7::MODES[B]) };
    let pattern = patterns.get(field(bits, layout.pattern, layout.pattern_bits))?;
    let given = endpoints::<M>(bits)?;
    let mut indices = (bits >> layout.weights) as u64 & (u64::MAX >> (64 - 16 * width + G as u32));
    for anchor in pattern.given_anchors {
        indices = widen(indices, width, anchor.into());
    }
    let mut ends = pattern.given.map(|subset| given[usize::from(subset) % 3]);
    let mut may_be_flat = true;
    for (mask, ends) in pattern.masks.into_iter().zip(&ends) {
        let first = indices >> mask.trailing_zeros() & ((1 << width) - 1);
        let other = (indices ^ (first * mask)) & (mask * ((1 << width) - 1));
        may_be_flat &= other == 0 || near_components::<M>(ends) == 0xf;
    }
    if may_be_flat {
        let mut colors = [[[0; 4]; 2]; N];
        for ((colors, ends), mask) in colors.iter_mut().zip(&ends).zip(pattern.masks) {
            *colors = extreme_colors::<M, W>(ends, indices, mask);
        }
        let [first, ..] = colors[0];
        if colors.as_flattened().iter().all(|color| *color == first) {
            return Some(solid(first));
        }
    }
    // Where the highest bit of an anchor's index is set, the ends of its subset change places.
    for (anchor, subset) in pattern.anchors.into_iter().zip(pattern.anchored) {
        let subset = usize::from(subset) % N;
        if indices >> (u32::from(anchor) * width + width - 1) & 1 == 1 {
            indices ^= pattern.masks[subset] * ((1 << width) - 1);
            ends[subset].reverse();
        }
    }
    let mut found = [Codes::default(); N];
    for ((found, ends), mask) in found.iter_mut().zip(&ends).zip(pattern.masks) {
        *found = codes::<B, C>(ends, &Shares::of::<W>(indices, mask, (1 << W) - 1));
    }
    let mut fields = Fields::of_mode(B);
    fields.put(pattern.partition.into(), mode.partition);
    for c in 0..C {
        for codes in &found {
            for end in codes.codes {
                fields.put(end[c], if c == 3 { mode.alpha } else { mode.color });
            }
        }
    }
    for codes in &found {
        if mode.own_lowest {
            fields.put(codes.lowest[0].into(), 1);
            fields.put(codes.lowest[1].into(), 1);
        } else if mode.shared_lowest {
            fields.put(codes.lowest[0].into(), 1);
        }
    }
    fields.put_indices(indices, width, &pattern.anchors);
    Some(Found::Block(fields.bits()))
}
