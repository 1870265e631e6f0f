//! Every implementation against plain arithmetic.

use super::*;
use crate::format::{Format, Layout, Subsampling};

/// By numbers or bytes at even places, and at odd places.
fn pairs<T: Copy, const HALF: usize, const GROUP: usize>(
    of: [T; GROUP],
    result: impl Fn(T) -> i16,
) -> [[i16; HALF]; 2] {
    [0, 1].map(|place| core::array::from_fn(|i| result(of[2 * i + place])))
}

fn check<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(words: W) {
    let mut rng = xenoglot_testgen::rng::Rng::new(11);
    for bits in [16, 9, 10, 12].into_iter().cycle().take(200) {
        let numbers: [u16; GROUP] = core::array::from_fn(|_| rng.next_u32() as u16);
        let bytes: [u8; GROUP] = core::array::from_fn(|_| rng.next_u32() as u8);
        let by = rng.next_u32() as i16;
        let scale = (rng.next_u32() % 128) as i8;
        let half: &[u16; HALF] = numbers.first_chunk().unwrap();
        let half_bytes: &[u8; HALF] = bytes.first_chunk().unwrap();
        let same = |number: u16| number.cast_signed();
        let centered = |number: u16| (i32::from(number) - 0x8000) as i16;
        let rounded = |number: u16| (((i32::from(number) >> 1) * i32::from(scale) + 64) >> 7) as i16;
        let high = |byte: u8| centered(u16::from(byte) << 8);
        let scaled = |byte: u8| i16::from(byte) * i16::from(scale);

        let [even, odd] = words.load_pairs(&numbers);
        let [even_bytes, odd_bytes] = words.load_byte_pairs(&bytes);
        let [even_scaled, odd_scaled] = words.scaled_byte_pairs(&bytes, words.scale(scale));
        let loaded = words.load(half);
        assert_eq!(words.to_array(loaded), half.map(same));
        assert_eq!(words.to_array(words.load_bytes(half_bytes)), half_bytes.map(high));
        assert_eq!([even, odd].map(|w| words.to_array(w)), pairs(numbers, same));
        assert_eq!([even_bytes, odd_bytes].map(|w| words.to_array(w)), pairs(bytes, high));
        assert_eq!([even_scaled, odd_scaled].map(|w| words.to_array(w)), pairs(bytes, scaled));
        assert_eq!(words.halves_to_array(words.load_halves(&numbers)), numbers.map(same));
        assert_eq!(words.halves_to_array(words.load_byte_halves(&bytes)), bytes.map(high));
        let halves = words.scaled_byte_halves(&bytes, words.scale(scale));
        assert_eq!(words.halves_to_array(halves), bytes.map(scaled));

        assert_eq!(words.to_array(words.centered(loaded)), half.map(centered));
        assert_eq!(words.to_array(words.scaled(loaded, words.scale(scale))), half.map(rounded));
        for is_high in [false, true] {
            let format =
                Format { layout: Layout::Planar, subsampling: Subsampling::S444, bits, high: is_high };
            let placed = words.placed(loaded, words.place(Reader::new(format, true)));
            let unused = 16 - bits;
            let code = |word: u16| if is_high { word >> unused << unused } else { word << unused };
            assert_eq!(words.to_array(placed), half.map(|word| same(code(word))), "{bits} {is_high}");
        }
        // -1 times -1 is 1, which a fraction of 15 bits cannot hold; no factor is -1.
        let by = by.max(-i16::MAX);
        let product = words.to_array(words.product(loaded, words.splat(by)));
        let meant = half.map(|a| ((i32::from(same(a)) * i32::from(by) + (1 << 14)) >> 15) as i16);
        assert_eq!(product, meant);
        let sum = words.to_array(words.add(even, odd));
        assert_eq!(sum, core::array::from_fn(|i| same(numbers[2 * i].wrapping_add(numbers[2 * i + 1]))));
        // Components below 0 and above 255.
        let small = |w| words.product(w, words.splat(600));
        let rgb = [
            [small(even), small(even_bytes), odd],
            [small(odd_bytes), even_bytes, small(words.centered(loaded))],
        ];
        let components = rgb.map(|rgb| rgb.map(|c| words.to_array(c)));
        for (i, texel) in words.to_rgba8(rgb).iter().enumerate() {
            let [r, g, b] = components[i % 2].map(|c| c[i / 2].clamp(0, 255) as u8);
            assert_eq!(*texel, [r, g, b, 255], "{i}");
        }
        let (numbers, bytes) = (words.load_halves(&numbers), words.load_byte_halves(&bytes));
        let rgb = [0, 1].map(|half| [small(numbers[half]), small(bytes[half]), numbers[half]]);
        let [reds, greens, blues] = [0, 1, 2].map(|c| words.halves_to_array([rgb[0][c], rgb[1][c]]));
        for (i, texel) in words.halves_to_rgba8(rgb).iter().enumerate() {
            let [r, g, b] = [reds[i], greens[i], blues[i]].map(|c| c.clamp(0, 255) as u8);
            assert_eq!(*texel, [r, g, b, 255], "{i}");
        }
    }
}

#[test]
fn all_instruction_sets_do_the_same() {
    check(Portable);
    #[cfg(target_arch = "x86_64")]
    {
        use pulp::x86::{V3, V4};
        V3::try_new().into_iter().for_each(check);
        V4::try_new().into_iter().for_each(check);
    }
}
