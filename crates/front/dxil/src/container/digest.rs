//! The digest of containers.
//!
//! It covers everything behind itself and is MD5 but for the end of the message: its length stands in front of the
//! last bytes instead of behind them, and the last word holds it once more. That is how published containers are
//! signed; the compiler alone leaves zeros.

use serde::Serialize;

/// What the digest says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Digest {
    /// All zeros: compiled but not validated.
    Unsigned,
    /// All ones: to run without a check (hlsl-specs, INF-0004).
    Bypass,
    /// All twos: the same for experimental shader models.
    PreviewBypass,
    /// That of the contents.
    Valid,
    /// That of other contents.
    Wrong,
}

impl Digest {
    /// Its size.
    pub const BYTES: usize = 16;
    /// Where it begins in a container.
    const START: usize = 4;

    pub(super) fn of(container: &[u8]) -> Digest {
        let Some((digest, contents)) =
            container.get(Self::START..).and_then(|rest| rest.split_first_chunk::<{ Self::BYTES }>())
        else {
            return Digest::Wrong;
        };
        match digest {
            [0, ..] if digest == &[0; Self::BYTES] => Digest::Unsigned,
            [1, ..] if digest == &[1; Self::BYTES] => Digest::Bypass,
            [2, ..] if digest == &[2; Self::BYTES] => Digest::PreviewBypass,
            _ if *digest == compute(contents) => Digest::Valid,
            _ => Digest::Wrong,
        }
    }
}

const BLOCK: usize = 64;
type Block = [u8; BLOCK];

/// The digest of what follows it.
pub(crate) fn compute(contents: &[u8]) -> [u8; Digest::BYTES] {
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let (blocks, rest) = contents.as_chunks::<BLOCK>();
    blocks.iter().for_each(|block| compress(&mut state, block));

    let bits = (contents.len() as u32).wrapping_mul(8).to_le_bytes();
    let end = ((contents.len() as u32).wrapping_mul(2) | 1).to_le_bytes();
    let mut last = [0; BLOCK];
    // The length, a byte of padding and the last word must fit beside the rest.
    if rest.len() < BLOCK - 8 {
        last[4..4 + rest.len()].copy_from_slice(rest);
        last[4 + rest.len()] = 0x80;
    } else {
        let mut block = [0; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        block[rest.len()] = 0x80;
        compress(&mut state, &block);
    }
    last[..4].copy_from_slice(&bits);
    last[BLOCK - 4..].copy_from_slice(&end);
    compress(&mut state, &last);

    let mut digest = [0; Digest::BYTES];
    for (out, word) in digest.as_chunks_mut().0.iter_mut().zip(state) {
        *out = word.to_le_bytes();
    }
    digest
}

/// Rotations by round (RFC 1321).
const ROTATIONS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// floor(2^32 × |sin(i + 1)|) (RFC 1321).
const SINES: [u32; 64] = [
    0xd76a_a478,
    0xe8c7_b756,
    0x2420_70db,
    0xc1bd_ceee,
    0xf57c_0faf,
    0x4787_c62a,
    0xa830_4613,
    0xfd46_9501,
    0x6980_98d8,
    0x8b44_f7af,
    0xffff_5bb1,
    0x895c_d7be,
    0x6b90_1122,
    0xfd98_7193,
    0xa679_438e,
    0x49b4_0821,
    0xf61e_2562,
    0xc040_b340,
    0x265e_5a51,
    0xe9b6_c7aa,
    0xd62f_105d,
    0x0244_1453,
    0xd8a1_e681,
    0xe7d3_fbc8,
    0x21e1_cde6,
    0xc337_07d6,
    0xf4d5_0d87,
    0x455a_14ed,
    0xa9e3_e905,
    0xfcef_a3f8,
    0x676f_02d9,
    0x8d2a_4c8a,
    0xfffa_3942,
    0x8771_f681,
    0x6d9d_6122,
    0xfde5_380c,
    0xa4be_ea44,
    0x4bde_cfa9,
    0xf6bb_4b60,
    0xbebf_bc70,
    0x289b_7ec6,
    0xeaa1_27fa,
    0xd4ef_3085,
    0x0488_1d05,
    0xd9d4_d039,
    0xe6db_99e5,
    0x1fa2_7cf8,
    0xc4ac_5665,
    0xf429_2244,
    0x432a_ff97,
    0xab94_23a7,
    0xfc93_a039,
    0x655b_59c3,
    0x8f0c_cc92,
    0xffef_f47d,
    0x8584_5dd1,
    0x6fa8_7e4f,
    0xfe2c_e6e0,
    0xa301_4314,
    0x4e08_11a1,
    0xf753_7e82,
    0xbd3a_f235,
    0x2ad7_d2bb,
    0xeb86_d391,
];

/// MD5's step over a block (RFC 1321).
fn compress(state: &mut [u32; 4], block: &Block) {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let [mut a, mut b, mut c, mut d] = *state;
    for (i, sine) in SINES.iter().enumerate() {
        let (mixed, word) = match i / 16 {
            0 => (b & c | !b & d, i),
            1 => (d & b | !d & c, 5 * i + 1),
            2 => (b ^ c ^ d, 3 * i + 5),
            _ => (c ^ (b | !d), 7 * i),
        };
        let sum = a.wrapping_add(mixed).wrapping_add(*sine).wrapping_add(words[word % 16]);
        (a, d, c) = (d, c, b);
        b = b.wrapping_add(sum.rotate_left(ROTATIONS[i / 16][i % 4]));
    }
    for (word, sum) in state.iter_mut().zip([a, b, c, d]) {
        *word = word.wrapping_add(sum);
    }
}
