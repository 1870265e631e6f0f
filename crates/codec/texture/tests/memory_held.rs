//! What reading and decoding hold in memory at their height.

use xenoglot_testgen::memory::{Counting, peak};
use xenoglot_texture::container::{Error, Limits, read};

#[global_allocator]
static COUNTING: Counting = Counting;

const WINDOW_LOG: u32 = 20;
const BLOCK: usize = 128 << 10;

/// A frame of Zstandard with a window of a megabyte that unpacks to `bytes` bytes: blocks of one repeated byte.
fn frame(bytes: usize) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, (WINDOW_LOG as u8 - 10) << 3];
    for start in (0..bytes).step_by(BLOCK) {
        let size = (bytes - start).min(BLOCK);
        let last = u32::from(start + size == bytes);
        frame.extend(&(last | 1 << 1 | (size as u32) << 3).to_le_bytes()[..3]);
        frame.push(0x55);
    }
    frame
}

/// A KTX 2 of layers of R8G8B8A8, each `side` texels wide and high, in one level under Zstandard.
fn ktx2(side: u32, layers: u32) -> Vec<u8> {
    let data = frame(side as usize * side as usize * layers as usize * 4);
    let descriptor = [28, 0, 2 | 24 << 16, 1 | 1 << 8 | 1 << 16, 0, 0, 0];
    let start = 80 + 24 + 28;
    let mut file = b"\xabKTX 20\xbb\r\n\x1a\n".to_vec();
    let header = [37, 1, side, side, 0, layers, 1, 1, 2, 104, 28, 0, 0, 0, 0, 0, 0];
    let level = [start, 0, data.len() as u32, 0, 0, 0];
    file.extend(header.iter().chain(&level).chain(&descriptor).flat_map(|word: &u32| word.to_le_bytes()));
    assert_eq!(file.len(), start as usize);
    file.extend(data);
    file
}

#[test]
fn zstd_levels_are_unpacked_once() {
    for (side, layers) in [(2048, 1), (256, 64)] {
        let file = ktx2(side, layers);
        let bytes = side as usize * side as usize * layers as usize * 4;
        let held = peak(|| {
            let texture = read(&file, &Limits::default()).unwrap();
            assert!(texture.images.iter().all(|image| image.data.iter().all(|&byte| byte == 0x55)));
        });
        println!("{held} bytes at most for a level of {bytes}");
        // The window, and what a block needs.
        let window = 1usize << WINDOW_LOG;
        assert!(held < bytes + 2 * window + (1 << 20), "{held} bytes for a level of {bytes}");
    }
}

/// 33 KB that unpack to a gigabyte, and levels for whose window there is no room.
#[test]
fn zstd_bombs_are_refused_before_they_unpack() {
    let bomb = ktx2(16_384, 1);
    assert!(bomb.len() < 34_000);
    let held = peak(|| {
        let refused = read(&bomb, &Limits::default());
        assert_eq!(refused, Err(Error::Memory { needed: 1 << 30, limit: 256 << 20 }));
    });
    assert!(held < 1 << 16, "{held}");
    let file = ktx2(512, 1);
    let held = peak(|| {
        let limits = Limits { bytes: 2 << 20, ..Limits::default() };
        let refused = read(&file, &limits);
        assert_eq!(refused, Err(Error::Window { window: 1 << WINDOW_LOG, spare: 1 << 20 }));
    });
    assert!(held < 1 << 16, "{held}");
}

/// Decoding counts what was unpacked, and copies nothing that is plain.
#[test]
fn decoding_stays_within_the_limit() {
    let file = ktx2(512, 1);
    let limits = Limits::default();
    let plain = read(&file, &limits).unwrap();
    assert_eq!(plain.held_bytes(), 1 << 20);
    assert!(peak(|| assert_eq!(plain.decode(&limits).unwrap().held_bytes(), 0)) < 1 << 16);
    // 1024 x 1024 of void extents: a texel of ASTC 12x12 is an eighth of a bit in the file and 32 in memory.
    let mut astc = vec![0x13, 0xab, 0xa1, 0x5c, 12, 12, 1, 0, 4, 0, 0, 4, 0, 1, 0, 0];
    astc.extend(
        (0..86 * 86).flat_map(|_| [0xfc, 0xfd, 255, 255, 255, 255, 255, 255, 1, 2, 3, 4, 5, 6, 7, 8]),
    );
    let texture = read(&astc, &limits).unwrap();
    let small = Limits { bytes: (4 << 20) - 1, ..limits };
    let held = peak(|| {
        assert_eq!(texture.decode(&small), Err(Error::Memory { needed: 4 << 20, limit: (4 << 20) - 1 }));
    });
    assert!(held < 1 << 16, "{held}");
    assert_eq!(texture.decode(&limits).unwrap().held_bytes(), 4 << 20);
}
