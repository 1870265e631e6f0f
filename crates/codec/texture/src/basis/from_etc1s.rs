//! ETC1S to other formats. A block has four colours, which lie a small and a large step on both sides of a base: where another
//! format has a few levels between two ends, all ways to put the colours on levels are tried.

use crate::decode::decode_into;
use crate::etc::eac::MODIFIERS;
use crate::format::{Extent, Format, Texel};

/// Where a part of a block begins, in bytes, and its bytes.
type Part = (usize, [u8; 8]);

/// The blocks of ETC1 and ETC2 in blocks of ETC1S. Those of ETC2 with alpha are opaque.
pub fn convert(from: Format, to: Format, data: &[u8], out: &mut [u8]) {
    let bytes = to.block_bytes();
    for (block, out) in data.chunks_exact(from.block_bytes()).zip(out.chunks_exact_mut(bytes)) {
        let (alphas, colors) = out.split_at_mut(bytes - 8);
        colors.copy_from_slice(&block[..8]);
        alphas.fill(0);
        if let Some(base) = alphas.first_mut() {
            // With a multiplier of 0 all texels have the base.
            *base = 255;
        }
    }
}

/// Replaces the colours of ETC2 with alpha by those of ETC1S, which are the same block.
pub fn keep_colors(data: &[u8], out: &mut [u8]) {
    for (block, out) in data.as_chunks::<16>().0.iter().zip(out.as_chunks_mut::<16>().0) {
        out[8..].copy_from_slice(&block[..8]);
    }
}

/// Replaces the parts of blocks for which there are better ones.
pub fn improve(from: Format, to: Format, data: &[u8], out: &mut [u8]) {
    for (block, out) in data.chunks_exact(from.block_bytes()).zip(out.chunks_exact_mut(to.block_bytes())) {
        let Some(texels) = decoded(from, block) else { continue };
        let texels: [[u8; 4]; 16] = core::array::from_fn(|i| core::array::from_fn(|c| texels[4 * i + c]));
        for (at, part) in parts(to, &texels).into_iter().flatten() {
            let mut changed = [0; 16];
            let Some(changed) = changed.get_mut(..out.len()) else { continue };
            changed.copy_from_slice(out);
            if let Some(place) = changed.get_mut(at..at + 8) {
                place.copy_from_slice(&part);
            }
            if error(to, &texels, changed) < error(to, &texels, out) {
                out.copy_from_slice(changed);
            }
        }
    }
}

/// The best encoding found for the parts of a block of `to`.
fn parts(to: Format, texels: &[[u8; 4]; 16]) -> [Option<Part>; 2] {
    let colors = || Colors::of(texels, [0, 1, 2]);
    let component = |c| Colors::of(texels, [c; 3]);
    let at = |at, part: Option<[u8; 8]>| part.map(|part| (at, part));
    match to {
        Format::Bc1Rgb => [at(0, colors().and_then(|colors| colors.bc1())), None],
        Format::Bc3 => [
            at(0, component(3).and_then(|alphas| alphas.ramp())),
            at(8, colors().and_then(|colors| colors.bc1())),
        ],
        Format::Bc4Unorm => [at(0, component(0).and_then(|reds| reds.ramp())), None],
        Format::Bc5Unorm => [
            at(0, component(0).and_then(|reds| reds.ramp())),
            at(8, component(1).and_then(|greens| greens.ramp())),
        ],
        Format::Etc2Rgba8 => [at(0, component(3).and_then(|alphas| alphas.eac::<false>())), None],
        Format::EacR11Unorm => [at(0, component(0).and_then(|reds| reds.eac::<true>())), None],
        Format::EacRg11Unorm => [
            at(0, component(0).and_then(|reds| reds.eac::<true>())),
            at(8, component(1).and_then(|greens| greens.eac::<true>())),
        ],
        _ => [None; 2],
    }
}

/// The texels of a block.
fn decoded(format: Format, block: &[u8]) -> Option<[u8; 64]> {
    let mut out = [0; 64];
    decode_into(format, Extent::flat(4, 4), block, &mut out).ok()?;
    Some(out)
}

/// The squared error of a block in the components that its format has.
fn error(format: Format, texels: &[[u8; 4]; 16], block: &[u8]) -> f32 {
    let Some(found) = decoded(format, block) else { return f32::MAX };
    let (mut sum, count) = (0.0, format.channels().count() as usize);
    for (i, texel) in texels.iter().enumerate() {
        for (c, wanted) in texel.iter().enumerate().take(count) {
            let found = match format.texel() {
                Texel::Rgba8 => f32::from(found[4 * i + c]),
                _ => {
                    let at = 2 * (i * count + c);
                    f32::from(u16::from_le_bytes([found[at % 64], found[(at + 1) % 64]])) / 257.0
                }
            };
            sum += (found - f32::from(*wanted)).powi(2);
        }
    }
    sum
}

/// Up to four different colours, from the darkest to the brightest.
struct Colors {
    count: usize,
    colors: [[f32; 3]; 4],
    /// How many texels have each.
    texels: [f32; 4],
    /// Which one a texel has.
    of: [usize; 16],
}

impl Colors {
    /// The different colours of a block, by three components of its texels; `None` if there are more than four.
    fn of(texels: &[[u8; 4]; 16], components: [usize; 3]) -> Option<Colors> {
        let texels = texels.map(|texel| components.map(|c| texel[c]));
        let key = |texel: &[u8; 3]| texel.iter().map(|c| u32::from(*c)).sum::<u32>();
        let mut sorted = texels;
        sorted.sort_unstable_by_key(|texel| (key(texel), *texel));
        let (mut count, mut different) = (0, [[0; 3]; 4]);
        for texel in sorted {
            if count == 0 || different[count - 1] != texel {
                *different.get_mut(count)? = texel;
                count += 1;
            }
        }
        let of =
            texels.map(|texel| different.iter().take(count).position(|color| *color == texel).unwrap_or(0));
        let mut number = [0.0; 4];
        of.iter().for_each(|at| number[*at] += 1.0);
        Some(Colors { count, colors: different.map(|color| color.map(f32::from)), texels: number, of })
    }

    /// The best two numbers of 0 to `top` for a component if its colours are at these of `levels` + 1 levels, and the error.
    fn ends(&self, component: usize, at: &[usize; 4], levels: usize, top: f32) -> ([f32; 2], f32) {
        let scale = 255.0 / top;
        let (mut near, mut both, mut far, mut with_near, mut with_far) = (0.0, 0.0, 0.0, 0.0, 0.0);
        // Of each colour its share of the second end, its texels, and its value.
        let colors = at.iter().zip(self.texels).zip(&self.colors).take(self.count);
        let colors =
            colors.map(|((at, texels), color)| (*at as f32 / levels as f32, texels, color[component]));
        for (share, count, value) in colors.clone() {
            let value = value / scale;
            near += count * (1.0 - share) * (1.0 - share);
            both += count * share * (1.0 - share);
            far += count * share * share;
            with_near += count * (1.0 - share) * value;
            with_far += count * share * value;
        }
        let spread = near * far - both * both;
        let first = ((far * with_near - both * with_far) / spread).clamp(0.0, top).floor();
        let mut best = ([first; 2], f32::MAX);
        for first in [first, (first + 1.0).min(top)] {
            let second = ((with_far - both * first) / far.max(1e-6)).clamp(0.0, top).round();
            let mut error = 0.0;
            for (share, count, value) in colors.clone() {
                let off = (first + (second - first) * share) * scale - value;
                error += count * off * off;
            }
            if error < best.1 {
                best = ([first, second], error);
            }
        }
        best
    }

    /// Calls `each` with all ways to put the colours on `levels` + 1 levels in their order.
    fn ways(&self, levels: usize, mut each: impl FnMut(&[usize; 4])) {
        if self.count < 2 {
            // Encoders have tables for a single colour.
            return;
        }
        for used in 0u32..2 << levels {
            if used.count_ones() as usize != self.count {
                continue;
            }
            let (mut at, mut i) = ([0; 4], 0);
            for level in 0..=levels {
                if used >> level & 1 == 1 {
                    at[i % 4] = level;
                    i += 1;
                }
            }
            each(&at);
        }
    }

    /// A block of BC1 of four colours.
    fn bc1(&self) -> Option<[u8; 8]> {
        let (mut best, mut least) = (None, f32::MAX);
        self.ways(3, |at| {
            let found = [(0, 31.0), (1, 63.0), (2, 31.0)].map(|(c, top)| self.ends(c, at, 3, top));
            let error = found.iter().map(|(_, error)| error).sum();
            if error < least {
                (best, least) = (Some((found.map(|(ends, _)| ends), *at)), error);
            }
        });
        let ([red, green, blue], at) = best?;
        let word = |end: usize| (red[end] as u16) << 11 | (green[end] as u16) << 5 | blue[end] as u16;
        let (mut ends, mut indices) = ([word(0), word(1)], 0);
        if ends[0] == ends[1] {
            return None;
        }
        // The first end is the greater number where there are four colours; indices 2 and 3 are between the ends.
        let is_turned = ends[0] < ends[1];
        if is_turned {
            ends.reverse();
        }
        for (texel, color) in self.of.iter().enumerate() {
            let level = if is_turned { 3 - at[*color] } else { at[*color] };
            indices |= [0, 2, 3, 1][level % 4] << (2 * texel);
        }
        let bits = u64::from(ends[0]) | u64::from(ends[1]) << 16 | indices << 32;
        Some(bits.to_le_bytes())
    }

    /// A ramp of eight of BC3 and BC4, by the first component.
    fn ramp(&self) -> Option<[u8; 8]> {
        let (mut best, mut least) = (None, f32::MAX);
        self.ways(7, |at| {
            let (ends, error) = self.ends(0, at, 7, 255.0);
            if error < least {
                (best, least) = (Some((ends.map(|end| end as u8), *at)), error);
            }
        });
        let (mut ends, at) = best?;
        if ends[0] == ends[1] {
            return None;
        }
        // The first end is the greater one where there are eight values.
        let is_turned = ends[0] < ends[1];
        if is_turned {
            ends.reverse();
        }
        let mut bits = u64::from(ends[0]) | u64::from(ends[1]) << 8;
        for (texel, color) in self.of.iter().enumerate() {
            let level = if is_turned { 7 - at[*color] } else { at[*color] };
            bits |= [0, 2, 3, 4, 5, 6, 7, 1][level % 8] << (16 + 3 * texel);
        }
        Some(bits.to_le_bytes())
    }

    /// A block of EAC by the first component, of eight bits or of eleven. Two colours are put on two modifiers of a table, which
    /// gives a multiplier and a base: the darkest and the brightest one on modifiers of either sign, and where one of them is on a
    /// bound, neighbours on any.
    fn eac<const ELEVEN: bool>(&self) -> Option<[u8; 8]> {
        let mut fit =
            Eac::<ELEVEN> { colors: self, tried: [0; 64], best: (0, 0, 0, [0; 4]), least: f32::MAX };
        let last = self.count - 1;
        // Values beyond a bound are clamped, so that such a colour may be on any modifier.
        let is_bounded = self.colors[0][0] == 0.0 || self.colors[last % 4][0] == 255.0;
        for (table, modifiers) in MODIFIERS.iter().enumerate() {
            let modifiers = modifiers.map(f32::from);
            let (below, above) = modifiers.split_at(4);
            fit.tried = [0; 64];
            for (low, high) in below.iter().flat_map(|low| above.iter().map(move |high| (low, high))) {
                fit.ends(table, &modifiers, [0, last], [*low, *high]);
            }
            for color in (1..self.count).filter(|_| is_bounded) {
                for (low, high) in
                    modifiers.iter().flat_map(|low| modifiers.iter().map(move |high| (low, high)))
                {
                    if low < high {
                        fit.ends(table, &modifiers, [color - 1, color], [*low, *high]);
                    }
                }
            }
        }
        let (base, multiplier, table, at) = fit.best;
        let mut bits = base << 56 | multiplier << 52 | table << 48;
        for (texel, color) in self.of.iter().enumerate() {
            // Texels lie column by column from the highest bit on.
            let place = texel % 4 * 4 + texel / 4;
            bits |= (at[*color] as u64) << (45 - 3 * place);
        }
        Some(bits.to_be_bytes())
    }
}

/// The best block of EAC so far.
struct Eac<'a, const ELEVEN: bool> {
    colors: &'a Colors,
    /// A bit for each base and multiplier that was tried with the table.
    tried: [u64; 64],
    /// Base, multiplier, table, and the modifier of each colour.
    best: (u64, u64, u64, [usize; 4]),
    least: f32,
}

impl<const ELEVEN: bool> Eac<'_, ELEVEN> {
    /// Tries the multipliers and bases that put two colours on two modifiers.
    fn ends(&mut self, table: usize, modifiers: &[f32; 8], colors: [usize; 2], at: [f32; 2]) {
        let ([first, last], [low, high]) = (colors.map(|color| self.value(color)), at);
        let multiplier = ((last - first) / (high - low)).floor();
        for multiplier in [multiplier, multiplier + 1.0] {
            let multiplier = multiplier.clamp(if ELEVEN { 0.0 } else { 1.0 }, 15.0);
            // Of eleven bits a multiplier of 0 counts as an eighth.
            let step = if multiplier == 0.0 { 0.125 } else { multiplier };
            let middle = ((first + last - step * (low + high)) * 0.5).round();
            for base in [middle - 1.0, middle, middle + 1.0] {
                self.put(table, modifiers, [base.clamp(0.0, 255.0), multiplier, step]);
            }
        }
    }

    /// Keeps the nearest modifiers to all colours if they are the best ones.
    fn put(&mut self, table: usize, modifiers: &[f32; 8], [base, multiplier, step]: [f32; 3]) {
        let [bottom, top] = if ELEVEN { [-0.5, 2047.0 / 8.0 - 0.5] } else { [0.0, 255.0] };
        let place = multiplier as usize * 256 + base as usize;
        let (tried, bit) = (&mut self.tried[place / 64 % 64], 1 << (place % 64));
        if *tried & bit != 0 {
            return;
        }
        *tried |= bit;
        let (mut error, mut at) = (0.0, [0; 4]);
        for (color, at) in at.iter_mut().enumerate().take(self.colors.count) {
            let (value, mut nearest) = (self.value(color), f32::MAX);
            for (i, modifier) in modifiers.iter().enumerate() {
                let off = (base + step * modifier).clamp(bottom, top) - value;
                if off * off < nearest {
                    (nearest, *at) = (off * off, i);
                }
            }
            error += self.colors.texels[color] * nearest;
        }
        if error < self.least {
            (self.best, self.least) = ((base as u64, multiplier as u64, table as u64, at), error);
        }
    }

    /// A colour in bases: of eleven bits values are eight times the base and a half.
    fn value(&self, color: usize) -> f32 {
        let value = self.colors.colors[color][0];
        if ELEVEN { value * (2047.0 / 255.0 / 8.0) - 0.5 } else { value }
    }
}
