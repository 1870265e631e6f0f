//! The Nintendo DS's whole graphics: accesses in any order, states, and scenes of whole pictures.

use crate::bytes::Bytes;
use std::sync::OnceLock;
use xenoglot_nds::raster::{Extensions, Options, Renderer};
use xenoglot_nds::state;
use xenoglot_nds::video::bus::Width;
use xenoglot_nds::video::{Drawing, LINES, RowTime, Video};
use xenoglot_nds::whole::{Limits, Player, Whole};
use xenoglot_testgen::rng::Rng;

/// Accesses of a run.
const MAX_ACCESSES: usize = 512;
/// Lines that pass at once, at most.
const MAX_LINES: u32 = 300;
/// Frames of a scene that are played.
const MAX_FRAMES: u32 = 2;

fn options(extensions: Extensions) -> Options {
    Options { threads: 1, extensions, ..Options::default() }
}

/// Registers that accesses go to besides any addresses: first address and number of halfwords.
const AREAS: [(u32, u32); 10] = [
    (0x0400_0000, 0x38),
    (0x0400_1000, 0x38),
    (0x0400_0240, 5),
    (0x0400_0304, 1),
    (0x0400_0320, 0x50),
    (0x0400_0400, 0x20),
    (0x0400_0440, 0xc8),
    (0x0500_0000, 0x400),
    (0x0600_0000, 0x50_0000),
    (0x0700_0000, 0x400),
];

fn address(bytes: &mut Bytes) -> u32 {
    let area = usize::from(bytes.u8());
    let word = bytes.u32();
    AREAS
        .get(area % (AREAS.len() + 1))
        .map_or(word, |&(first, halves)| first + word % halves * 2 + (word >> 31))
}

/// Reads and writes of both processors at any addresses, with time between them, on two machines: one of them without vector
/// extensions, and it goes on from the other's state in the middle. All that can be read, and both screens, are the same. The
/// first byte says how pictures of the 3D engines are drawn, and how long that takes.
pub fn nds_bus(data: &[u8]) {
    let mut video = [Extensions::Best, Extensions::Baseline].map(|e| Video::new(options(e)));
    let how = data.first().copied().unwrap_or(0);
    let by_row = how & 1 != 0;
    let time = if how & 2 == 0 { RowTime::default() } else { RowTime { row: 900, polygon: 700, pixel: 3 } };
    for video in &mut video {
        video.set_drawing(if by_row { Drawing::ByRow } else { Drawing::WholeFrame });
        video.set_row_time(time);
    }
    let mut renderers = [Extensions::Best, Extensions::Baseline].map(|e| Renderer::new(options(e)));
    let run = |video: &mut Video, renderer: &mut Renderer, bytes: &mut Bytes| {
        let mut read = Vec::new();
        let mut lines = 0;
        for _ in 0..MAX_ACCESSES {
            if bytes.is_empty() {
                break;
            }
            let what = bytes.u8();
            let width = [Width::Byte, Width::Half, Width::Word, Width::Word][usize::from(what >> 6)];
            match what & 7 {
                0 => {
                    // A few cycles, or many lines.
                    let cycles = u32::from(bytes.u8()) << (what >> 3 & 15).min(11);
                    let cycles = cycles.min(MAX_LINES * 2130);
                    lines += cycles / 2130;
                    if lines > 2 * LINES {
                        break;
                    }
                    let Ok(asked) = video.advance(cycles, renderer);
                    read.push(asked.bits());
                }
                1 => read.push(video.read(address(bytes), width)),
                2 => read.push(video.read_arm7(address(bytes), width)),
                3 => video.write_arm7(address(bytes), bytes.u32(), width),
                _ => read.push(video.write(address(bytes), bytes.u32(), width).is_err().into()),
            }
        }
        let Ok(asked) = video.advance(LINES * 2130, renderer);
        read.push(asked.bits());
        read
    };
    let (first, second) = data.split_at(data.len() / 2);
    for part in [first, second] {
        let [a, b] = [0, 1].map(|i| run(&mut video[i], &mut renderers[i], &mut Bytes::new(part)));
        assert_eq!(a, b, "what was read differs");
        assert!((0..2).all(|screen| video[0].screen(screen) == video[1].screen(screen)), "screens differ");
        let state = video[0].save();
        // A picture that is being drawn row by row is drawn anew up to the row at hand, with textures as they are now.
        for video in video.iter_mut().skip(usize::from(!by_row)) {
            video.load(&state).expect("a state of its own");
        }
        assert!(video[1].save() == state, "a state changes by being loaded");
    }
}

/// A state in the middle of a frame, without its head.
fn payload() -> &'static [u8] {
    static STATE: OnceLock<Vec<u8>> = OnceLock::new();
    STATE.get_or_init(|| {
        let mut video = Video::new(options(Extensions::Best));
        let mut renderer = Renderer::new(options(Extensions::Best));
        let mut write = |address, value| {
            let _ = video.write(address, value, Width::Word);
        };
        write(0x0400_0304, 0x820f);
        write(0x0400_0000, 0x0001_1f18);
        for word in [
            0x60,
            0xbfff_0000,
            0x29,
            0x1f_00c0,
            0x40,
            0,
            0x23,
            0,
            0,
            0x23,
            0x1000,
            0,
            0x23,
            0x1000_0000,
            0,
            0x50,
            0,
        ] {
            write(0x0400_0400, word);
        }
        for word in [0x40, 2, 0x23, 0, 0, 0x23, 0x1000, 0] {
            write(0x0400_0400, word);
        }
        let Ok(_) = video.advance(300 * 2130 + 700, &mut renderer);
        video.save().split_off(12)
    })
}

/// States with changed bytes, as data has them: each place of 3 bytes, then the byte. They are refused with a reason, or played.
pub fn nds_state(data: &[u8]) {
    let mut changed = payload().to_vec();
    for &[a, b, c, byte] in data.as_chunks::<4>().0 {
        let place = u32::from_le_bytes([a, b, c, 0]) as usize % changed.len();
        if let Some(place) = changed.get_mut(place) {
            *place = byte;
        }
    }
    let sealed = state::save(|io| io.bytes(&mut changed));
    let mut video = Video::new(options(Extensions::Best));
    if video.load(&sealed).is_ok() {
        let Ok(_) = video.advance(LINES * 2130, &mut Renderer::new(options(Extensions::Best)));
        let state = video.save();
        video.load(&state).expect("a state of its own");
    }
}

/// Scenes of whole pictures: refused with an offset, or played to their end, whatever they ask for.
pub fn n2d(data: &[u8]) {
    let Ok(whole) = Whole::from_bytes(data, &Limits::default()) else { return };
    let image = vec![0x5a; 0x20000];
    if let Ok(mut player) = Player::new(&whole, |_| Some(image.as_slice()), 1) {
        let mut renderer = Renderer::new(options(Extensions::Best));
        for _ in 0..whole.frames.min(MAX_FRAMES) {
            let _ = player.frame(&mut renderer);
        }
    }
}

/// Accesses to start from.
pub(crate) fn accesses() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(11);
    let input = |_| {
        // All is switched on, and banks are mapped, by words at any address.
        let mut out = Vec::new();
        let mut word = |address: u32, value: u32| {
            out.extend([0xc4, AREAS.len() as u8]);
            out.extend(address.to_le_bytes());
            out.extend(value.to_le_bytes());
        };
        word(0x0400_0304, 0x820f);
        word(0x0400_0240, 0x8484_8281);
        word(0x0400_0244, 0x0083_8584);
        word(0x0400_0248, 0x8382);
        word(0x0400_0000, rng.next_u32() | 0x11f00);
        word(0x0400_1000, rng.next_u32() | 0x11f00);
        word(0x0400_0064, rng.next_u32() | 1 << 31);
        for _ in 0..64 {
            out.push(rng.next_u32() as u8);
            out.push(rng.below(AREAS.len() as u32) as u8);
            out.extend((rng.next_u32() & 0x7fff_ffff).to_le_bytes());
            out.extend(rng.next_u32().to_le_bytes());
        }
        out
    };
    (0..24).map(input).collect()
}

/// Changes of states to start from.
pub(crate) fn changes() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(12);
    (0..24).map(|_| (0..4 * (1 + rng.below(8))).map(|_| rng.next_u32() as u8).collect()).collect()
}

/// Scenes of whole pictures to start from.
pub(crate) fn wholes() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(13);
    let chunk =
        |tag: &[u8; 4], payload: &[u8]| [&tag[..], &(payload.len() as u32).to_le_bytes(), payload].concat();
    let write = |address: u32, value: u32, bytes: u32| [address, value, bytes].map(u32::to_le_bytes).concat();
    let scene = |_| {
        let start: Vec<u8> = [
            write(0x0400_0304, 0x820f, 2),
            write(0x0400_0240, 0x81, 1),
            write(0x0400_0000, rng.next_u32() | 0x11f00, 4),
            write(0x0400_0064, rng.next_u32() | 1 << 31, 4),
        ]
        .concat();
        let line = [&[0, 0, rng.below(192) as u8, 0][..], &write(0x0400_0010, rng.next_u32(), 2)].concat();
        [
            chunk(b"ND2D", &[1, 0, 0, 0]),
            chunk(b"META", b"name=x\nframes=1"),
            chunk(b"MEMW", &[[0u8; 8].as_slice(), &[1, 2, 3, 4]].concat()),
            chunk(b"MEMR", &[&[1u8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0][..], b"image"].concat()),
            chunk(b"REGI", &start),
            chunk(b"WRIT", &line),
            chunk(b"GXST", &[[0u32, 0x50, 0].map(u32::to_le_bytes).concat()].concat()),
            chunk(b"XSUM", &[0; 44]),
        ]
        .concat()
    };
    (0..12).map(scene).collect()
}
