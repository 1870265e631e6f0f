use super::*;
use crate::{Extent, Format, Quality, decode_into, encode_into, transcode_into, transcode_into_parallel};
use xenoglot_testgen::rng::Rng;

fn texels(format: Format, extent: Extent, blocks: &[u8]) -> Vec<u8> {
    let mut out = vec![0; format.output_bytes(extent).unwrap()];
    decode_into(format, extent, blocks, &mut out).unwrap();
    out
}

fn error(a: &[u8], b: &[u8]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>() / a.len() as f64
}

/// Random blocks, whose lowest bits say that they are of mode `mode`.
fn blocks_of(mode: usize, count: usize, rng: &mut Rng) -> Vec<u8> {
    let mut out = Vec::with_capacity(count * 16);
    while out.len() < count * 16 {
        let block: [u8; 16] = core::array::from_fn(|_| rng.next_u32() as u8);
        if usize::from(uastc::mode_of(&block)) == mode {
            out.extend(block);
        }
    }
    out
}

/// Random blocks of each mode lose less than by the encoder, and no more than rounding ends to the bits of the mode costs.
#[test]
fn every_mode_is_near() {
    const COUNT: usize = 512;
    /// Mean squared errors.
    const MOST: [f64; 19] =
        [2.0, 0.5, 2.0, 7.0, 1.0, 1.5, 0.7, 7.0, 0.0, 5.0, 2.0, 0.7, 1.5, 0.7, 1.5, 2.0, 5.0, 0.5, 2.5];
    let mut rng = Rng::new(9);
    let extent = Extent::flat(4 * COUNT as u32, 4);
    for (mode, most) in MOST.into_iter().enumerate() {
        let data = blocks_of(mode, COUNT, &mut rng);
        let wanted = texels(Format::Uastc, extent, &data);
        let (mut ours, mut encoded) = (vec![0; data.len()], vec![0; data.len()]);
        convert(&data, &mut ours);
        encode_into(Format::Bc7, extent, &wanted, Quality::Fast, &mut encoded).unwrap();
        let [ours, encoded] =
            [ours, encoded].map(|blocks| error(&wanted, &texels(Format::Bc7, extent, &blocks)));
        println!("mode {mode}: {ours:.3}, by the encoder {encoded:.3}");
        assert!(ours <= most && ours <= encoded * 1.2, "mode {mode}: {ours}, by the encoder {encoded}");
    }
}

/// What moves and rounds is the same with every instruction set.
#[test]
fn every_instruction_set_gives_the_same_blocks() {
    fn by(simd: impl Simd, data: &[u8]) -> Vec<u8> {
        let mut out = vec![0; data.len()];
        Work { simd, data: data.as_chunks().0, out: out.as_chunks_mut().0 }.call();
        out
    }
    let mut rng = Rng::new(12);
    let mut data = vec![0; 16 * 4000];
    data.fill_with(|| rng.next_u32() as u8);
    let portable = by(Portable, &data);
    let mut found = vec![0; data.len()];
    convert(&data, &mut found);
    assert!(found == portable);
    #[cfg(target_arch = "x86_64")]
    {
        use pulp::x86::{V3, V4};
        assert!(V3::try_new().is_none_or(|simd| by(simd, &data) == portable));
        assert!(V4::try_new().is_none_or(|simd| by(simd, &data) == portable));
    }
}

/// Blocks whose texels have one colour keep it, however it comes about, and alpha of 255 stays 255.
#[test]
fn single_colors_and_opaque_blocks() {
    let mut rng = Rng::new(10);
    let extent = Extent::flat(4, 4);
    let (mut flat, mut opaque) = (0, 0);
    for round in 0..40_000 {
        let mut bits = u128::from_le_bytes(core::array::from_fn(|_| rng.next_u32() as u8));
        match round % 4 {
            // All weights are 0 or nearly so, or ends are alike, or most bits are set.
            0 => bits &= (1 << 70) - 1,
            1 => bits &= u128::from(rng.next_u64()) | ((1 << (30 + round % 60)) - 1),
            2 => bits |= !((1 << (16 + round % 60)) - 1),
            _ => {}
        }
        let block = bits.to_le_bytes();
        let wanted = texels(Format::Uastc, extent, &block);
        let found = texels(Format::Bc7, extent, &uastc_to_bc7(&block));
        if wanted.chunks(4).all(|texel| texel == &wanted[..4]) {
            assert_eq!(found, wanted, "{block:02x?}");
            flat += 1;
        }
        let mode = MODES.get(usize::from(uastc::mode_of(&block)));
        if mode.is_none_or(|mode| mode.components == Components::Rgb) {
            assert!(found.iter().skip(3).step_by(4).all(|alpha| *alpha == 255), "{block:02x?}");
            opaque += 1;
        }
    }
    println!("{flat} of one colour, {opaque} opaque");
    assert!(flat > 2000 && opaque > 5000);
}

/// A row of blocks is each of them, threads change nothing, and better qualities are no worse than the encoder.
#[test]
fn pictures() {
    let mut rng = Rng::new(11);
    let extent = Extent { width: 333, height: 70, depth: 2 };
    let mut data = vec![0; Format::Uastc.data_bytes(extent).unwrap()];
    data.fill_with(|| rng.next_u32() as u8);
    let wanted = texels(Format::Uastc, extent, &data);
    let mut errors = Vec::new();
    for quality in Quality::ALL {
        let mut out = [0; 3].map(|_| vec![0; data.len()]);
        let [first, second, encoded] = &mut out;
        transcode_into(Format::Uastc, extent, &data, Format::Bc7, quality, first).unwrap();
        transcode_into_parallel(Format::Uastc, extent, &data, Format::Bc7, quality, second).unwrap();
        encode_into(Format::Bc7, extent, &wanted, quality, encoded).unwrap();
        assert!(first == second, "{quality:?}");
        let [found, _, encoded] = out.map(|blocks| error(&wanted, &texels(Format::Bc7, extent, &blocks)));
        assert!(found <= encoded, "{quality:?}: {found}, by the encoder {encoded}");
        errors.push(found);
    }
    assert!(errors.is_sorted_by(|a, b| a >= b), "{errors:?}");
    let mut row = vec![0; data.len()];
    transcode_into(Format::Uastc, extent, &data, Format::Bc7, Quality::Fast, &mut row).unwrap();
    let alike = data.as_chunks::<16>().0.iter().zip(row.as_chunks().0).all(|(a, b)| uastc_to_bc7(a) == *b);
    assert!(alike);
}
