//! Any bytes, and files with one byte wrong.

use super::*;
use crate::sph::{Interpolation, Maps, Sph, Stage};
use proptest::prelude::*;

/// The header of `vs_transform.vert` of `vectors/maxwell/graphics`: reads xyz of attribute 0 and 1 and xy of 2.
const VERTEX: [u32; 20] = [0x60461, 0, 0, 0, 0xff000, 0, 0x377, 0, 0, 0, 0, 0, 0, 0x37f000, 0, 0, 0, 0, 0, 0];
/// The header of `fs_interp.frag`: smooth, flat and linear inputs.
const PIXEL: [u32; 20] =
    [0x65462, 0, 0, 0, 0xff000, 0xb000_0000, 0x0a0a_0f05, 0xa, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf, 0];
/// A scheduling word and EXIT, as at the end of any program.
const EXIT: [u64; 2] = [0x001f_8000_fc00_07ff, 0xe300_0000_0007_000f];

fn bytes(header: &[u32]) -> Vec<u8> {
    header.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn program(header: &[u32]) -> Vec<u8> {
    [bytes(header), EXIT.iter().flat_map(|w| w.to_le_bytes()).collect()].concat()
}

fn dksh(kind: u32, header: &[u32]) -> Vec<u8> {
    let code = [vec![0; 0x30], program(header)].concat();
    let size = code.len() as u32;
    let file = [u32::from_le_bytes(dksh::MAGIC), 24, 96, size, 24, 1];
    let program = [kind, 0x30, 12, 0, 0, 0];
    [bytes(&file), bytes(&program), vec![0; 96 - 48], code].concat()
}

#[test]
fn a_vertex_header_names_its_attributes() {
    let sph = Sph::parse(&bytes(&VERTEX)).unwrap();
    assert_eq!((sph.stage, sph.version), (Stage::Vertex, 3));
    let Maps::Vtg { inputs, outputs } = sph.maps else { panic!("{sph:?}") };
    let named = |map: &crate::sph::AttributeMap| {
        (0..0x400).step_by(4).filter(|&at| map.has(at)).collect::<Vec<u32>>()
    };
    assert_eq!(named(&inputs), [0x80, 0x84, 0x88, 0x90, 0x94, 0x98, 0xa0, 0xa4]);
    assert_eq!(named(&outputs), [0x70, 0x74, 0x78, 0x7c, 0x80, 0x84, 0x88, 0x90, 0x94]);
}

#[test]
fn a_pixel_header_says_how_inputs_are_interpolated() {
    let sph = Sph::parse(&bytes(&PIXEL)).unwrap();
    assert_eq!(sph.stage, Stage::Fragment);
    let of = |i| [0, 1, 2, 3].map(|c| sph.interpolation(i, c));
    use Interpolation::*;
    assert_eq!(of(0), [Flat, Flat, Unused, Unused]);
    assert_eq!(of(1), [Linear, Linear, Unused, Unused]);
    assert_eq!(of(2), [Perspective, Perspective, Unused, Unused]);
    assert_eq!(of(32), [Unused; 4]);
    let Maps::Pixel { color_mask, depth, .. } = sph.maps else { panic!("{sph:?}") };
    assert_eq!((color_mask, depth), (0xf, false));
}

#[test]
fn programs_are_known_by_their_content() {
    assert_eq!(detect(&program(&VERTEX)), Some(Format::Graphics));
    assert_eq!(detect(&dksh(0, &VERTEX)), Some(Format::Dksh));
    assert_eq!(detect(&bytes(&VERTEX)), None);
    let file = dksh(0, &VERTEX);
    let shader = Dksh::parse(&file).unwrap();
    assert_eq!((shader.kind, shader.registers, shader.code.len()), (dksh::Kind::Vertex, 12, 16));
    assert_eq!(shader.sph.unwrap().stage, Stage::Vertex);
}

fn read(bytes: &[u8]) {
    detect(bytes);
    let _ = (Cubin::parse(bytes), Dksh::parse(bytes), Graphics::parse(bytes), Sph::parse(bytes));
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn any_bytes_are_read_or_refused(tail: Vec<u8>, words in prop::collection::vec(any::<u32>(), 0..64)) {
        read(&tail);
        read(&bytes(&words));
        read(&[dksh::MAGIC.as_slice(), &24u32.to_le_bytes(), &bytes(&words)].concat());
        let mut elf = [b"\x7fELF\x02\x01\x01".as_slice(), &[0; 9], &[2, 0, 190, 0], &bytes(&words)].concat();
        read(&elf);
        // A table of sections in the file.
        if elf.len() > 64 {
            elf[40..48].copy_from_slice(&64u64.to_le_bytes());
            elf[48] = 53;
            elf[58..64].copy_from_slice(&[64, 0, (words.len() / 16) as u8, 0, 0, 0]);
            read(&elf);
        }
    }

    #[test]
    fn damaged_shaders_are_read_or_refused(at in 0usize..256, byte: u8, cut in 0usize..256) {
        let mut file = dksh(1, &PIXEL);
        let (at, cut) = (at % file.len(), cut % file.len());
        file[at] = byte;
        read(&file);
        read(&file[..cut]);
    }
}
