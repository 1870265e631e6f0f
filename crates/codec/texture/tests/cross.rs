//! Random blocks against decoders of other hands: 20,000 of each format, with `XENOGLOT_LONG` a million.
//!
//! Where those are known to differ from the specifications, the test says how and leaves that out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use xenoglot_testgen::property;
use xenoglot_testgen::skip;
use xenoglot_texture::astc::Footprint;
use xenoglot_texture::console::tegra::{Block, Level};
use xenoglot_texture::{Extent, Format, Profile, decode_into};

fn rounds() -> usize {
    property::budget(20_000, 1_000_000)
}

/// The texels of one block.
fn ours(format: Format, block: &[u8]) -> Vec<u8> {
    let [width, height, depth] = format.block();
    let extent = Extent { width, height, depth };
    let mut out = vec![0; format.output_bytes(extent).unwrap()];
    decode_into(format, extent, block, &mut out).unwrap();
    out
}

/// Random blocks, each through both decoders.
fn compare(format: Format, theirs: impl Fn(&[u8]) -> Vec<u8>, same: impl Fn(&[u8], &[u8]) -> bool) {
    compare_changed(format, |_| (), theirs, same);
}

/// Random blocks after a change, each through both decoders.
fn compare_changed(
    format: Format,
    change: impl Fn(&mut [u8]),
    theirs: impl Fn(&[u8]) -> Vec<u8>,
    same: impl Fn(&[u8], &[u8]) -> bool,
) {
    let mut rng = property::rng(7);
    for _ in 0..rounds() {
        let mut block: Vec<u8> = (0..format.block_bytes()).map(|_| rng.next_u32() as u8).collect();
        change(&mut block);
        let (ours, theirs) = (ours(format, &block), theirs(&block));
        assert!(same(&ours, &theirs), "{format:?} {block:02x?}\n{ours:?}\n{theirs:?}");
    }
}

fn exact(ours: &[u8], theirs: &[u8]) -> bool {
    ours == theirs
}

/// Eight bits may be rounded otherwise.
fn nearly(ours: &[u8], theirs: &[u8]) -> bool {
    ours.iter().zip(theirs).all(|(a, b)| a.abs_diff(*b) <= 1)
}

/// Their bytes by a function of a block and a pitch.
fn bytes(count: usize, decode: impl Fn(&[u8], &mut [u8])) -> impl Fn(&[u8]) -> Vec<u8> {
    move |block| {
        let mut out = vec![0; count];
        decode(block, &mut out);
        out
    }
}

#[test]
fn bc1_to_bc3() {
    compare(Format::Bc1, bytes(64, |b, out| bcdec_rs::bc1(b, out, 16)), nearly);
    // It knows BC1 with alpha only: without, what is transparent is opaque.
    let opaque = |block: &[u8], out: &mut [u8]| {
        bcdec_rs::bc1(block, out, 16);
        out.iter_mut().skip(3).step_by(4).for_each(|alpha| *alpha = 255);
    };
    compare(Format::Bc1Rgb, bytes(64, opaque), nearly);
    compare(Format::Bc2, bytes(64, |b, out| bcdec_rs::bc2(b, out, 16)), nearly);
    compare(Format::Bc3, bytes(64, |b, out| bcdec_rs::bc3(b, out, 16)), nearly);
}

/// Words of ours within one step of their bytes.
fn high(ours: &[u8], theirs: &[u8]) -> bool {
    let words = ours.as_chunks().0.iter().map(|w| u16::from_le_bytes(*w));
    words.zip(theirs).all(|(w, b)| w.abs_diff(u16::from(*b) * 257) <= 257)
}

/// The same of numbers with a sign; -128 is -127.
fn high_signed(ours: &[u8], theirs: &[u8]) -> bool {
    let words = ours.as_chunks().0.iter().map(|w| i32::from(i16::from_le_bytes(*w)));
    words.zip(theirs).all(|(w, b)| (w * 127 - i32::from((*b as i8).max(-127)) * 32767).abs() <= 32767)
}

/// Signed ones are rounded down there, and -128 is clamped before the ends are compared (`vectors/texture/FORMAT.md`): such
/// ends are changed.
#[test]
fn bc4_and_bc5() {
    compare(Format::Bc4Unorm, bytes(16, |b, out| bcdec_rs::bc4(b, out, 4, false)), high);
    compare(Format::Bc5Unorm, bytes(32, |b, out| bcdec_rs::bc5(b, out, 8, false)), high);
    let ends = |block: &mut [u8]| {
        for half in block.chunks_mut(8) {
            half[..2].iter_mut().filter(|end| **end == 0x80).for_each(|end| *end = 0x81);
        }
    };
    compare_changed(Format::Bc4Snorm, ends, bytes(16, |b, out| bcdec_rs::bc4(b, out, 4, true)), high_signed);
    compare_changed(Format::Bc5Snorm, ends, bytes(32, |b, out| bcdec_rs::bc5(b, out, 8, true)), high_signed);
}

#[test]
fn bc6h_and_bc7() {
    let halves = |signed| {
        move |block: &[u8]| {
            let mut out = [0; 48];
            bcdec_rs::bc6h_half(block, &mut out, 12, signed);
            out.chunks(3).flat_map(|c| [c[0], c[1], c[2], 0x3c00]).flat_map(u16::to_le_bytes).collect()
        }
    };
    compare(Format::Bc6hUfloat, halves(false), exact);
    compare(Format::Bc6hSfloat, halves(true), exact);
    compare(Format::Bc7, bytes(64, |b, out| bcdec_rs::bc7(b, out, 16)), exact);
}

type WholePicture = fn(&[u8], usize, usize, &mut [u32]) -> Result<(), &'static str>;

/// Texels of texture2ddecoder are BGRA.
fn texture2d(decode: WholePicture) -> impl Fn(&[u8]) -> Vec<u8> {
    move |block| {
        let mut out = [0; 16];
        decode(block, 4, 4, &mut out).unwrap();
        out.iter().flat_map(|t| [(t >> 16) as u8, (t >> 8) as u8, *t as u8, (t >> 24) as u8]).collect()
    }
}

/// Of ETC2 with one bit of alpha, transparent texels keep a colour there. ETC1's blocks out of range are read otherwise; made
/// individual, there are none.
#[test]
fn etc() {
    let individual = |block: &mut [u8]| block[3] &= !2;
    compare_changed(Format::Etc1, individual, texture2d(texture2ddecoder::decode_etc1), exact);
    let visible = |ours: &[u8], theirs: &[u8]| {
        ours.chunks(4).zip(theirs.chunks(4)).all(|(a, b)| if a[3] == 0 { b[3] == 0 } else { a == b })
    };
    compare(Format::Etc2Rgba1, texture2d(texture2ddecoder::decode_etc2_rgba1), visible);
    compare(Format::Etc2Rgb, texture2d(texture2ddecoder::decode_etc2_rgb), exact);
    compare(Format::Etc2Rgba8, texture2d(texture2ddecoder::decode_etc2_rgba8), exact);
}

/// Words of ours within two steps of the bytes that theirs keeps of eleven bits.
fn high_of_eleven(least: i32, ours: &[u8], theirs: &[u8]) -> bool {
    let words = ours.as_chunks().0.iter().map(|w| match least {
        0 => i32::from(u16::from_le_bytes(*w)) >> 5,
        _ => i32::from(i16::from_le_bytes(*w)) >> 5,
    });
    words.zip(theirs).all(|(w, b)| ((w - least) >> 3).abs_diff((*b).into()) <= 1)
}

/// It reads the indices from the bytes of a block that come first, not last. There the same bytes are put for ours, and as
/// their other end comes first, turned around.
#[test]
fn eac() {
    fn turned(block: &[u8]) -> Vec<u8> {
        block.chunks(8).flat_map(|b| [b[0], b[1], b[5], b[4], b[3], b[2], b[1], b[0]]).collect()
    }
    type Case = (Format, WholePicture, i32);
    let cases: [Case; 4] = [
        (Format::EacR11Unorm, texture2ddecoder::decode_eacr, 0),
        (Format::EacR11Snorm, texture2ddecoder::decode_eacr_signed, -1023),
        (Format::EacRg11Unorm, texture2ddecoder::decode_eacrg, 0),
        (Format::EacRg11Snorm, texture2ddecoder::decode_eacrg_signed, -1023),
    ];
    for (format, decode, least) in cases {
        let mut rng = property::rng(8);
        for _ in 0..rounds() {
            let block: Vec<u8> = (0..format.block_bytes()).map(|_| rng.next_u32() as u8).collect();
            let ours = ours(format, &turned(&block));
            let channels = format.block_bytes() / 8;
            let theirs: Vec<u8> =
                texture2d(decode)(&block).chunks(4).flat_map(|texel| texel[..channels].to_vec()).collect();
            assert!(high_of_eleven(least, &ours, &theirs), "{format:?} {block:02x?}\n{ours:?}\n{theirs:?}");
        }
    }
}

/// Blocks of low dynamic range, within one step: they round to eight bits. Where theirs panics or ours says that the
/// block is illegal, there is nothing to compare.
#[test]
fn astc() {
    let mut rng = property::rng(9);
    let (mut compared, mut worse) = (0, Vec::new());
    for footprint in Footprint::ALL.into_iter().filter(|f| f.size()[2] == 1) {
        let [width, height, _] = footprint.size().map(|n| n as usize);
        let format = Format::Astc(footprint, Profile::LdrUnorm8);
        for _ in 0..rounds() {
            let block: Vec<u8> = (0..16).map(|_| rng.next_u32() as u8).collect();
            let ours = ours(format, &block);
            if ours.chunks(4).any(|texel| texel == [255, 0, 255, 255]) {
                continue;
            }
            let mut theirs = vec![0; width * height];
            let decode = || texture2ddecoder::decode_astc(&block, width, height, width, height, &mut theirs);
            if !matches!(catch_unwind(AssertUnwindSafe(decode)), Ok(Ok(()))) {
                continue;
            }
            let theirs: Vec<u8> = theirs
                .iter()
                .flat_map(|t| [(t >> 16) as u8, (t >> 8) as u8, *t as u8, (t >> 24) as u8])
                .collect();
            compared += 1;
            if !nearly(&ours, &theirs) {
                worse.push(format!("{width}x{height} {block:02x?}"));
            }
        }
    }
    println!("{compared} blocks compared");
    assert!(compared > rounds() / 10, "{compared}");
    assert!(worse.is_empty(), "{} of {compared}: {:#?}", worse.len(), &worse[..worse.len().min(8)]);
}

/// Blocks as the program `astcenc` decodes them to halves, bit for bit, illegal ones too.
#[test]
fn astc_of_high_range() {
    /// Blocks along each side of a picture.
    const SIDE: u32 = 141;
    if Command::new("astcenc").arg("-version").output().is_err() {
        return skip("no program astcenc");
    }
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("blocks.astc"), folder.path().join("texels.dds"));
    let mut rng = property::rng(10);
    for footprint in Footprint::ALL.into_iter().filter(|f| f.size()[2] == 1) {
        let [width, height, depth] = footprint.size();
        let format = Format::Astc(footprint, Profile::Hdr);
        let extent = Extent::flat(width * SIDE, height * SIDE);
        let mut header = vec![0x13, 0xab, 0xa1, 0x5c, width as u8, height as u8, depth as u8];
        for length in [extent.width, extent.height, extent.depth] {
            header.extend(&length.to_le_bytes()[..3]);
        }
        for _ in 0..rounds().div_ceil((SIDE * SIDE) as usize) {
            let data: Vec<u8> =
                (0..format.data_bytes(extent).unwrap()).map(|_| rng.next_u32() as u8).collect();
            std::fs::write(&input, [&header[..], &data].concat()).unwrap();
            let run = Command::new("astcenc").arg("-dH").args([&input, &output]).output().unwrap();
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
            let mut ours = vec![0; format.output_bytes(extent).unwrap()];
            decode_into(format, extent, &data, &mut ours).unwrap();
            // Texels are what the file ends with.
            let theirs = std::fs::read(&output).unwrap();
            let theirs = &theirs[theirs.len() - ours.len()..];
            let texels = || ours.chunks(8).zip(theirs.chunks(8)).enumerate();
            if let Some((at, (ours, theirs))) = texels().find(|(_, (ours, theirs))| ours != theirs) {
                let (x, y) = (at as u32 % extent.width, at as u32 / extent.width);
                let block = (y / height * SIDE + x / width) as usize;
                let block = &data[16 * block..][..16];
                panic!("{footprint:?} {block:02x?} {x},{y}: {ours:02x?} {theirs:02x?}");
            }
        }
    }
}

#[test]
fn tegra() {
    let mut rng = property::rng(3);
    for _ in 0..rounds() / 100 {
        let (width, rows, slices) = (1 + rng.below(90), 1 + rng.below(90), 1 + rng.below(4));
        let element = [1, 2, 4, 8, 12, 16][rng.below(6) as usize];
        let height = 1 << rng.below(6);
        let block = Block::usual(rows, slices).with_height(height).unwrap();
        let level = Level { width, rows, slices, element };
        let linear: Vec<u8> = (0..level.linear_bytes().unwrap()).map(|_| rng.next_u32() as u8).collect();
        let mut tiled = vec![0; level.tiled_bytes(block).unwrap()];
        level.tile(block, &linear, &mut tiled).unwrap();
        let their_height = tegra_swizzle::BlockHeight::new(height).unwrap();
        let theirs =
            tegra_swizzle::swizzle::swizzle_block_linear(width, rows, slices, &linear, their_height, element);
        assert!(theirs.unwrap() == tiled, "{level:?} {block:?}");
        let mut back = vec![0; linear.len()];
        level.untile(block, &tiled, &mut back).unwrap();
        assert!(back == linear, "{level:?} {block:?}");
    }
}
