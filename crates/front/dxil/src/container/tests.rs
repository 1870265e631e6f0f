use super::*;
use crate::model::{ShaderKind, ShaderModel};
use proptest::prelude::*;

/// A container of these parts, unsigned.
pub(crate) fn container(parts: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut table = Vec::new();
    let mut body = Vec::new();
    let start = 32 + 4 * parts.len();
    for (name, data) in parts {
        table.extend(((start + body.len()) as u32).to_le_bytes());
        body.extend(*name);
        body.extend((data.len() as u32).to_le_bytes());
        body.extend(*data);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    let mut out = b"DXBC".to_vec();
    out.extend([0; Digest::BYTES]);
    out.extend([1, 0, 0, 0]);
    out.extend(((start + body.len()) as u32).to_le_bytes());
    out.extend((parts.len() as u32).to_le_bytes());
    [out, table, body].concat()
}

/// The contents of a DXIL part of SM 6.4.
fn program(kind: u32, bitcode: &[u8]) -> Vec<u8> {
    let size = (24 + bitcode.len().next_multiple_of(4)) as u32 / 4;
    let words = [kind << 16 | 0x64, size, u32::from_le_bytes(*b"DXIL"), 0x104, 16, bitcode.len() as u32];
    let mut out: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    out.extend(bitcode);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

const CODE: &[u8] = b"BC\xc0\xde\x01\x02\x03\x04";

#[test]
fn programs_are_found_in_every_format() {
    let file = container(&[(b"SFI0", &[0; 8]), (b"DXIL", &program(5, CODE))]);
    let parsed = Container::parse(&file).unwrap();
    let names: Vec<String> = parsed.parts.iter().map(|p| p.name.to_string()).collect();
    assert_eq!(names, ["SFI0", "DXIL"]);
    assert_eq!(parsed.version, (1, 0));
    let shader = parsed.program().unwrap();
    assert_eq!((shader.model, shader.kind, shader.dxil), (ShaderModel::sm6(4), ShaderKind::Compute, (1, 4)));
    assert_eq!(&file[shader.offset as usize..][..CODE.len()], CODE);
    assert_eq!(bitcode(&file).unwrap(), Bitcode { bytes: CODE, program: Some(shader) });

    assert_eq!(bitcode(CODE).unwrap(), Bitcode { bytes: CODE, program: None });
    let wrapper = [0x0b17_c0de_u32, 0, 20, CODE.len() as u32, 0];
    let mut wrapped: Vec<u8> = wrapper.iter().flat_map(|w| w.to_le_bytes()).collect();
    wrapped.extend(CODE);
    assert_eq!(detect(&wrapped), Some(Format::WrappedBitcode));
    assert_eq!(bitcode(&wrapped).unwrap(), Bitcode { bytes: CODE, program: None });
}

#[test]
fn debug_programs_stand_in_and_statistics_do_not() {
    let file = container(&[(b"STAT", &program(0, CODE)), (b"ILDB", &program(1, CODE))]);
    assert_eq!(Container::parse(&file).unwrap().program().unwrap().kind, ShaderKind::Vertex);
    let file = container(&[(b"STAT", &program(0, CODE))]);
    let missing = Err(ContainerError::Missing(FourCc::DXIL));
    assert_eq!(Container::parse(&file).unwrap().program(), missing);
}

#[test]
fn errors_name_part_and_offset() {
    let mut file = container(&[(b"DXIL", &program(16, CODE))]);
    let error = Container::parse(&file).unwrap().program().unwrap_err();
    assert_eq!(error.to_string(), "DXIL at 0x2c: 0x100064 is not a valid kind of shader");
    let error = Container::parse(&file[..40]).unwrap_err();
    assert_eq!(error.to_string(), "DXBC at 0x0: container takes 76 bytes, 40 are left");
    file[32] = 72;
    let error = Container::parse(&file).unwrap_err();
    assert_eq!(error.to_string(), "DXBC at 0x4c: size of a part takes 4 bytes, 0 are left");
    file[28..32].fill(0xff);
    let error = Container::parse(&file).unwrap_err();
    assert_eq!(error.to_string(), "DXBC at 0x1c: 4294967295 parts, the limit is 256");
    assert_eq!(Container::parse(b"DXBd"), Err(ContainerError::Magic));
}

#[test]
fn digests_are_told_apart() {
    let mut file = container(&[(b"DXIL", &program(5, CODE))]);
    let digest = |file: &[u8]| Container::parse(file).unwrap().digest();
    assert_eq!(digest(&file), Digest::Unsigned);
    file[4..20].fill(1);
    assert_eq!(digest(&file), Digest::Bypass);
    file[4..20].fill(2);
    assert_eq!(digest(&file), Digest::PreviewBypass);
    file[19] = 1;
    assert_eq!(digest(&file), Digest::Wrong);
    let right = digest::compute(&file[20..]);
    file[4..20].copy_from_slice(&right);
    assert_eq!(digest(&file), Digest::Valid);
    let end = file.len() - 1;
    file[end] ^= 1;
    assert_eq!(digest(&file), Digest::Wrong);
}

/// The empty root signature as vkd3d 1.2 serialises and signs it.
#[test]
fn a_signed_container_is_valid() {
    let data: Vec<u8> = [1u32, 0, 24, 0, 24, 1].iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut file = container(&[(b"RTS0", &data)]);
    file[4..20].copy_from_slice(&0x2ed6_bb05_4636_4dc7_a507_14de_3d27_990d_u128.to_be_bytes());
    assert_eq!(Container::parse(&file).unwrap().digest(), Digest::Valid);
}

/// Values of another implementation, which agrees with vkd3d 1.2 on containers with 48 to 168 bytes behind the digest.
#[test]
fn digests_have_known_values() {
    let known: [(usize, u128); 9] = [
        (0, 0x140d60f6b775e2ba4e4abed401b2e9a1),
        (1, 0x06f94cb281d1981af4f9a91b370ae308),
        (55, 0x9ab63592763f16cbf9faadc10871b3dc),
        (56, 0x9631e575809c7fec27e1a79c6dbf0704),
        (63, 0x69c87038086b06ae036a445580d52800),
        (64, 0x702b2563302d9691eda44cda5fef4b68),
        (119, 0x953cfe1c495908c5129cd5a6ae089ecd),
        (120, 0x71f04dacbba086d5aef734027044308c),
        (200, 0x5b549f280f46bcd28c57cf76172e3ba5),
    ];
    for (len, digest) in known {
        let data: Vec<u8> = (0..len).map(|i| (7 * i + 3) as u8).collect();
        assert_eq!(digest::compute(&data), digest.to_be_bytes(), "{len}");
    }
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn any_bytes_are_read_or_refused(mut bytes: Vec<u8>, magic in 0..4usize) {
        let start: &[u8] = [b"DXBC".as_slice(), &program::BITCODE, &program::WRAPPER, &[]][magic];
        bytes.splice(0..0, start.iter().copied());
        let _ = bitcode(&bytes);
    }
}
