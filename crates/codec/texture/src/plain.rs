//! Plain texels: numbers at fixed bits of a few bytes.
//!
//! A [`Layout`] says where the bits of red, green, blue and alpha lie and what they count, so that one reader serves the
//! hundreds of formats that Vulkan, OpenGL, Direct3D and the masks of DDS name.

use crate::format::{Channels, Texel};
use crate::half;
use alloc::vec::Vec;
use core::fmt;

/// What the bits of a component count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Numeric {
    /// From 0, all bits clear, to 1, all bits set.
    Unorm,
    /// From -1 to 1 in two's complement; the lowest code is -1, too.
    Snorm,
    /// Integers without a sign.
    Uint,
    /// Integers with a sign.
    Sint,
    /// Floats of 10 or 11 bits without a sign, halves and singles.
    Float,
}

/// The bits of a component in a texel, read as one little-endian number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Field {
    /// The lowest bit.
    pub offset: u8,
    /// How many there are, up to 32; none if the component is not stored.
    pub bits: u8,
}

impl Field {
    /// A component that is not stored.
    pub const NONE: Field = Field { offset: 0, bits: 0 };

    const fn is_stored(self) -> bool {
        self.bits > 0
    }

    const fn end(self) -> u32 {
        self.offset as u32 + self.bits as u32
    }
}

/// Where the components of a plain texel lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    bytes: u8,
    numeric: Numeric,
    luminance: bool,
    fields: [Field; 4],
}

impl Layout {
    /// Texels of `bytes` bytes, 1 to 16, with red, green, blue and alpha in `fields`. Nothing if a field lies outside the
    /// texel, no component is stored, or floats are not of 10, 11, 16 or 32 bits.
    pub const fn new(bytes: u8, numeric: Numeric, fields: [Field; 4]) -> Option<Layout> {
        if bytes == 0 || bytes > 16 {
            return None;
        }
        let (mut i, mut stored) = (0, false);
        while i < 4 {
            let Field { bits, .. } = fields[i];
            if bits > 32 || fields[i].end() > 8 * bytes as u32 {
                return None;
            }
            if matches!(numeric, Numeric::Float) && !matches!(bits, 0 | 10 | 11 | 16 | 32) {
                return None;
            }
            if matches!(numeric, Numeric::Snorm) && bits == 1 {
                return None;
            }
            stored |= bits > 0;
            i += 1;
        }
        if stored { Some(Layout { bytes, numeric, luminance: false, fields }) } else { None }
    }

    /// Equal components of `bits` bits, 8, 16 or 32, one after the other as `order` names them: `r`, `g`, `b`, `a`, `x` for
    /// one that is not used, or `l` for luminance. Nothing if there is no such layout.
    pub const fn array(order: &[u8], bits: u8, numeric: Numeric) -> Option<Layout> {
        if order.len() > 4 {
            return None;
        }
        let (mut fields, mut luminance, mut i) = ([Field::NONE; 4], false, 0);
        while i < order.len() {
            let field = Field { offset: i as u8 * bits, bits };
            if !place(&mut fields, &mut luminance, order[i], field) {
                return None;
            }
            i += 1;
        }
        with_luminance(Layout::new(order.len() as u8 * bits / 8, numeric, fields), luminance)
    }

    /// Components in a word, the first of `order` in its highest bits, with the numbers of their bits; letters as in
    /// [`Layout::array`]. Nothing if they fill no word of 8, 16, 32 or 64 bits.
    pub const fn packed(order: &[u8], bits: &[u8], numeric: Numeric) -> Option<Layout> {
        let (mut fields, mut luminance, mut offset, mut i) = ([Field::NONE; 4], false, 0u8, order.len());
        if order.len() != bits.len() || order.len() > 8 {
            return None;
        }
        while i > 0 {
            i -= 1;
            if bits[i] > 32 || !place(&mut fields, &mut luminance, order[i], Field { offset, bits: bits[i] })
            {
                return None;
            }
            offset += bits[i];
            if offset > 128 {
                return None;
            }
        }
        if !matches!(offset, 8 | 16 | 32 | 64) {
            return None;
        }
        with_luminance(Layout::new(offset / 8, numeric, fields), luminance)
    }

    /// The same layout with the component in red's place as luminance, which is copied to red, green and blue.
    pub const fn luminance(self) -> Layout {
        Layout { luminance: true, ..self }
    }

    /// Bytes of a texel.
    pub const fn bytes(self) -> usize {
        self.bytes as usize
    }

    /// What components count.
    pub const fn numeric(self) -> Numeric {
        self.numeric
    }

    /// Red, green, blue and alpha; luminance is in red's place.
    pub const fn fields(self) -> [Field; 4] {
        self.fields
    }

    /// The components that are stored.
    pub const fn channels(self) -> Channels {
        let [r, g, b, a] = self.fields;
        if self.luminance {
            return if a.is_stored() { Channels::La } else { Channels::L };
        }
        Channels::of([r.is_stored(), g.is_stored(), b.is_stored(), a.is_stored()])
    }

    /// The widest component's bits.
    const fn widest(self) -> u8 {
        let [r, g, b, a] = self.fields;
        let (mut widest, fields, mut i) = (0, [r.bits, g.bits, b.bits, a.bits], 0);
        while i < 4 {
            if fields[i] > widest {
                widest = fields[i];
            }
            i += 1;
        }
        widest
    }

    /// What its texels become: bytes where no more is needed, integers of 32 bits, else floats that hold every value.
    pub const fn texel(self) -> Texel {
        match self.numeric {
            Numeric::Unorm if self.widest() <= 8 => Texel::Rgba8,
            Numeric::Float if self.widest() <= 16 => Texel::Rgba16Float,
            Numeric::Unorm | Numeric::Snorm | Numeric::Float => Texel::Rgba32Float,
            Numeric::Uint => Texel::Rgba32Uint,
            Numeric::Sint => Texel::Rgba32Sint,
        }
    }

    /// Decodes texels; `data` and `out` are of the same number of them.
    pub(crate) fn decode(self, data: &[u8], out: &mut [u8]) {
        match self.texel() {
            Texel::Rgba8 => match self.byte_places() {
                Some(places) => self.gather(places, data, out),
                None => {
                    let scales = self.fields.map(|f| 255.0 / mask(f.bits).max(1) as f32);
                    self.each(data, out, 255, |codes| {
                        core::array::from_fn::<u8, 4, _>(|i| (codes[i] as f32 * scales[i] + 0.5) as u8)
                    });
                }
            },
            Texel::Rgba16Float => {
                // Floats of 10 and 11 bits are halves without a sign and the last bits of the fraction.
                let shifts = self.fields.map(|f| match f.bits {
                    10 => 5,
                    11 => 4,
                    _ => 0,
                });
                self.each(data, out, half::ONE, |codes| {
                    core::array::from_fn::<u16, 4, _>(|i| (codes[i] as u16) << shifts[i])
                });
            }
            Texel::Rgba32Uint => self.each(data, out, 1, |codes| codes),
            Texel::Rgba32Sint => {
                let unused = self.fields.map(|f| 32 - u32::from(f.bits.max(1)));
                self.each(data, out, 1, |codes| {
                    core::array::from_fn::<u32, 4, _>(|i| {
                        ((codes[i] << unused[i]) as i32 >> unused[i]) as u32
                    })
                });
            }
            _ => self.floats(data, out),
        }
    }

    fn floats(self, data: &[u8], out: &mut [u8]) {
        let one = 1f32.to_bits();
        match self.numeric {
            Numeric::Unorm => {
                let tops = self.fields.map(|f| f64::from(mask(f.bits).max(1)));
                self.each(data, out, one, |codes| {
                    core::array::from_fn::<u32, 4, _>(|i| ((f64::from(codes[i]) / tops[i]) as f32).to_bits())
                });
            }
            Numeric::Snorm => {
                let unused = self.fields.map(|f| 32 - u32::from(f.bits.max(1)));
                let tops = self.fields.map(|f| f64::from((mask(f.bits) >> 1).max(1)));
                self.each(data, out, one, |codes| {
                    core::array::from_fn::<u32, 4, _>(|i| {
                        let code = (codes[i] << unused[i]) as i32 >> unused[i];
                        ((f64::from(code) / tops[i]).max(-1.0) as f32).to_bits()
                    })
                });
            }
            // Singles; narrower floats beside them are widened.
            _ => {
                let bits = self.fields.map(|f| f.bits);
                self.each(data, out, one, |codes| {
                    core::array::from_fn::<u32, 4, _>(|i| match bits[i] {
                        10 => half::to_single((codes[i] << 5) as u16).to_bits(),
                        11 => half::to_single((codes[i] << 4) as u16).to_bits(),
                        16 => half::to_single(codes[i] as u16).to_bits(),
                        _ => codes[i],
                    })
                });
            }
        }
    }

    /// Where the bytes of red, green, blue and alpha are, if all components are bytes: 16 is a zero, 17 is 255.
    fn byte_places(self) -> Option<[u8; 4]> {
        let mut places = [16, 16, 16, 17];
        for (place, field) in places.iter_mut().zip(self.fields).filter(|(_, field)| field.is_stored()) {
            if field.bits != 8 || !field.offset.is_multiple_of(8) {
                return None;
            }
            *place = field.offset / 8;
        }
        if self.luminance {
            places = [places[0], places[0], places[0], places[3]];
        }
        Some(places)
    }

    fn gather(self, places: [u8; 4], data: &[u8], out: &mut [u8]) {
        let bytes = self.bytes();
        for (texel, out) in data.chunks_exact(bytes).zip(out.as_chunks_mut::<4>().0) {
            *out = places.map(|place| match place {
                16 => 0,
                17 => 255,
                place => texel.get(usize::from(place)).copied().unwrap_or(0),
            });
        }
    }

    /// Decodes texel by texel: `convert` is given the codes of the four components.
    fn each<T: Copy + ToBytes>(
        self,
        data: &[u8],
        out: &mut [u8],
        one: T,
        convert: impl Fn([u32; 4]) -> [T; 4],
    ) {
        let texels = data.chunks_exact(self.bytes()).zip(out.chunks_exact_mut(4 * T::BYTES));
        let stored = self.fields.map(Field::is_stored);
        let masks = self.fields.map(|f| mask(f.bits));
        let finish = |codes: [u32; 4], out: &mut [u8]| {
            let mut components = convert(codes);
            if !stored[3] {
                components[3] = one;
            }
            if self.luminance {
                components = [components[0], components[0], components[0], components[3]];
            }
            for (component, out) in components.into_iter().zip(out.chunks_exact_mut(T::BYTES)) {
                component.put(out);
            }
        };
        if self.bytes() <= 8 {
            let shifts = self.fields.map(|f| u32::from(f.offset).min(63));
            for (texel, out) in texels {
                let mut word = [0; 8];
                word[..texel.len()].copy_from_slice(texel);
                let word = u64::from_le_bytes(word);
                finish(core::array::from_fn(|i| (word >> shifts[i]) as u32 & masks[i]), out);
            }
        } else {
            let shifts = self.fields.map(|f| u32::from(f.offset).min(127));
            for (texel, out) in texels {
                let mut word = [0; 16];
                word[..texel.len()].copy_from_slice(texel);
                let word = u128::from_le_bytes(word);
                finish(core::array::from_fn(|i| (word >> shifts[i]) as u32 & masks[i]), out);
            }
        }
    }
}

/// Puts a field in the place of the component that a letter names; false for unknown letters.
const fn place(fields: &mut [Field; 4], luminance: &mut bool, letter: u8, field: Field) -> bool {
    let component = match letter {
        b'r' => 0,
        b'l' => {
            *luminance = true;
            0
        }
        b'g' => 1,
        b'b' => 2,
        b'a' => 3,
        b'x' => return true,
        _ => return false,
    };
    fields[component] = field;
    true
}

const fn with_luminance(layout: Option<Layout>, luminance: bool) -> Option<Layout> {
    match layout {
        Some(layout) if luminance => Some(layout.luminance()),
        layout => layout,
    }
}

/// As many low bits.
const fn mask(bits: u8) -> u32 {
    if bits >= 32 { u32::MAX } else { (1 << bits) - 1 }
}

/// Numbers that texels are made of.
trait ToBytes {
    const BYTES: usize;

    fn put(self, out: &mut [u8]);
}

macro_rules! to_bytes {
    ($($ty:ty),*) => {
        $(impl ToBytes for $ty {
            const BYTES: usize = size_of::<$ty>();

            #[inline(always)]
            fn put(self, out: &mut [u8]) {
                out.copy_from_slice(&self.to_le_bytes());
            }
        })*
    };
}

to_bytes!(u8, u16, u32);

/// As Vulkan names formats: arrays from the first byte, words from the highest bit.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = if self.luminance { ["L", "G", "B", "A"] } else { ["R", "G", "B", "A"] };
        let mut stored: Vec<(Field, &str)> =
            self.fields.into_iter().zip(letters).filter(|(field, _)| field.is_stored()).collect();
        stored.sort_by_key(|(field, _)| field.offset);
        // What lies between and behind the components.
        let mut parts = Vec::with_capacity(8);
        let mut at = 0;
        for (field, letter) in stored {
            if u32::from(field.offset) > at {
                parts.push((u32::from(field.offset) - at, "X"));
            }
            parts.push((field.bits.into(), letter));
            at = field.end();
        }
        let size = 8 * u32::from(self.bytes);
        if at < size {
            parts.push((size - at, "X"));
        }
        let first = parts.first().map_or(0, |(bits, _)| *bits);
        let is_array = parts.iter().all(|(bits, _)| *bits == first) && matches!(first, 8 | 16 | 32);
        if !is_array {
            parts.reverse();
        }
        for (bits, letter) in &parts {
            write!(f, "{letter}{bits}")?;
        }
        f.write_str(match self.numeric {
            Numeric::Unorm => "_UNORM",
            Numeric::Snorm => "_SNORM",
            Numeric::Uint => "_UINT",
            Numeric::Sint => "_SINT",
            Numeric::Float if self.widest() < 16 => "_UFLOAT",
            Numeric::Float => "_SFLOAT",
        })?;
        if is_array { Ok(()) } else { write!(f, "_PACK{size}") }
    }
}

/// Texels of three fractions of nine bits with one exponent to halves, which hold them exactly.
pub(crate) fn shared_exponent(data: &[u8], out: &mut [u8]) {
    for (texel, out) in data.as_chunks::<4>().0.iter().zip(out.as_chunks_mut::<8>().0) {
        let word = u32::from_le_bytes(*texel);
        let exponent = word >> 27;
        let component = |shift: u32| half::from_shared(word >> shift & 0x1ff, exponent);
        let halves = [component(0), component(9), component(18), half::ONE];
        for (half, out) in halves.into_iter().zip(out.as_chunks_mut::<2>().0) {
            *out = half.to_le_bytes();
        }
    }
}

/// Texels of ten bits each of red, green and blue in the extended range of displays, and two of alpha, to singles.
pub(crate) fn extended_range(data: &[u8], out: &mut [u8]) {
    // 0x180 is 0, 0x37e is 1.
    const ZERO: f32 = 384.0;
    const UNIT: f32 = 510.0;
    for (texel, out) in data.as_chunks::<4>().0.iter().zip(out.as_chunks_mut::<16>().0) {
        let word = u32::from_le_bytes(*texel);
        let component = |shift: u32| ((word >> shift & 0x3ff) as f32 - ZERO) / UNIT;
        let singles = [component(0), component(10), component(20), (word >> 30) as f32 / 3.0];
        for (single, out) in singles.into_iter().zip(out.as_chunks_mut::<4>().0) {
            *out = single.to_le_bytes();
        }
    }
}

/// Rows of pairs of texels that share red and blue; `green` are the places of the two greens in the four bytes, `red` and
/// `blue` those of the others.
pub(crate) fn shared_chroma(
    width: usize,
    [red, green, blue, second]: [usize; 4],
    data: &[u8],
    out: &mut [u8],
) {
    if width == 0 {
        return;
    }
    let rows = data.chunks_exact(width.div_ceil(2) * 4).zip(out.chunks_exact_mut(4 * width));
    for (pairs, row) in rows {
        for (pair, texels) in pairs.as_chunks::<4>().0.iter().zip(row.chunks_mut(8)) {
            for (texel, green) in texels.as_chunks_mut::<4>().0.iter_mut().zip([green, second]) {
                *texel = [pair[red], pair[green], pair[blue], 255];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(layout: Layout, texel: &[u8]) -> Vec<u8> {
        let mut out = vec![0; layout.texel().bytes()];
        layout.decode(texel, &mut out);
        out
    }

    #[test]
    fn names_are_those_of_vulkan() {
        let name = |layout: Option<Layout>| layout.unwrap().to_string();
        assert_eq!(name(Layout::array(b"rgb", 8, Numeric::Snorm)), "R8G8B8_SNORM");
        assert_eq!(name(Layout::array(b"bgrx", 8, Numeric::Unorm)), "B8G8R8X8_UNORM");
        assert_eq!(name(Layout::array(b"rg", 32, Numeric::Float)), "R32G32_SFLOAT");
        assert_eq!(name(Layout::packed(b"rgb", &[5, 6, 5], Numeric::Unorm)), "R5G6B5_UNORM_PACK16");
        assert_eq!(name(Layout::packed(b"abgr", &[2, 10, 10, 10], Numeric::Uint)), "A2B10G10R10_UINT_PACK32");
        assert_eq!(name(Layout::packed(b"bgr", &[10, 11, 11], Numeric::Float)), "B10G11R11_UFLOAT_PACK32");
    }

    #[test]
    fn impossible_layouts() {
        assert_eq!(Layout::array(b"rgbaa", 8, Numeric::Unorm), None);
        assert_eq!(Layout::array(b"xx", 8, Numeric::Unorm), None);
        assert_eq!(Layout::packed(b"rgb", &[5, 6, 6], Numeric::Unorm), None);
        assert_eq!(Layout::array(b"r", 8, Numeric::Float), None);
        let outside = Field { offset: 1, bits: 8 };
        assert_eq!(Layout::new(1, Numeric::Unorm, [outside, Field::NONE, Field::NONE, Field::NONE]), None);
    }

    /// Every code of up to eight bits becomes the nearest of 255 steps.
    #[test]
    fn narrow_codes_are_rounded_to_the_nearest() {
        for bits in 1..=8u8 {
            let field = Field { offset: 0, bits };
            let layout =
                Layout::new(1, Numeric::Unorm, [field, Field::NONE, Field::NONE, Field::NONE]).unwrap();
            let top = f64::from(mask(bits));
            for code in 0..=mask(bits) as u8 {
                let expected = (f64::from(code) * 255.0 / top).round() as u8;
                assert_eq!(decoded(layout, &[code]), [expected, 0, 0, 255]);
            }
        }
    }

    #[test]
    fn shared_exponents_are_exact() {
        for exponent in 0..32u32 {
            for fraction in 0..512u32 {
                let word = fraction | exponent << 27;
                let mut out = [0; 8];
                shared_exponent(&word.to_le_bytes(), &mut out);
                let got = half::to_single(u16::from_le_bytes([out[0], out[1]]));
                assert_eq!(got, fraction as f32 * 2f32.powi(exponent as i32 - 24));
            }
        }
    }
}
