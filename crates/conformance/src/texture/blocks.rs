//! Files of BC, ETC and EAC blocks: `vectors/texture/FORMAT.md`, section bc_etc.

use super::{Decode, Strip};
use crate::Error;
use crate::input::Reader;
use crate::report::{Case, Verdict};
use xenoglot_texture::{Format, Texel};

const FORMATS: [(&str, Format); 18] = [
    ("bc1", Format::Bc1),
    ("bc2", Format::Bc2),
    ("bc3", Format::Bc3),
    ("bc4u", Format::Bc4Unorm),
    ("bc4s", Format::Bc4Snorm),
    ("bc5u", Format::Bc5Unorm),
    ("bc5s", Format::Bc5Snorm),
    ("bc6u", Format::Bc6hUfloat),
    ("bc6s", Format::Bc6hSfloat),
    ("bc7", Format::Bc7),
    ("etc1", Format::Etc1),
    ("etc2", Format::Etc2Rgb),
    ("etc2a1", Format::Etc2Rgba1),
    ("etc2a8", Format::Etc2Rgba8),
    ("r11u", Format::EacR11Unorm),
    ("r11s", Format::EacR11Snorm),
    ("rg11u", Format::EacRg11Unorm),
    ("rg11s", Format::EacRg11Snorm),
];

/// How expected values are written, by the number of the type.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// 16 bits, 0..=1; the texels have eight.
    Bytes,
    /// 16 bits as they are: unsigned, signed, or a half.
    Words,
    /// 11 bits, of which the texels have the repetition in 16.
    Eleven,
    /// Bytes as they are.
    Exact,
}

pub(super) fn cases(file: &str, bytes: &[u8], decode: &Decode) -> Result<Vec<Case>, Error> {
    let malformed = |offset, what| Error::Malformed { offset, what };
    let (_, format) =
        FORMATS.into_iter().find(|(name, _)| *name == file).ok_or(malformed(0, "name of a file"))?;
    let mut reader = Reader::new(bytes);
    reader.take(8)?;
    let (block, components) = (reader.u32()? as usize, reader.u32()? as usize);
    let (kind, size) = match reader.u32()? {
        0 => (Kind::Bytes, 2),
        1..=3 => (Kind::Words, 2),
        4 => (Kind::Eleven, 2),
        5 => (Kind::Exact, 1),
        _ => return Err(malformed(16, "type")),
    };
    if block != format.block_bytes() || !(1..=4).contains(&components) {
        return Err(malformed(8, "block or components"));
    }
    let count = reader.u32()? as usize;
    let flags = reader.take(count)?;
    let blocks = reader.take(count.saturating_mul(block))?;
    let decoded = Strip { format, blocks }.decode(decode)?;
    let mut cases = Vec::with_capacity(count);
    for (i, (texels, &flag)) in decoded.iter().zip(flags).enumerate() {
        let expected = reader.take(16 * components * size)?;
        let verdict = match (compare(format.texel(), kind, components, texels, expected), flag) {
            (None, _) => Verdict::Passed,
            (Some(difference), 0) => Verdict::Failed(difference),
            (Some(difference), _) => Verdict::Unconfirmed(format!("decoders disagree here; {difference}")),
        };
        cases.push(Case { name: format!("{file}/{i}"), verdict });
    }
    Ok(cases)
}

/// The first difference between texels and expected values.
fn compare(texel: Texel, kind: Kind, components: usize, texels: &[u8], expected: &[u8]) -> Option<String> {
    let word = |bytes: &[u8], i: usize| u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]);
    let signed = matches!(texel, Texel::R16Snorm | Texel::Rg16Snorm);
    let wide = !matches!(kind, Kind::Bytes | Kind::Exact);
    let stride = texel.bytes() / if wide { 2 } else { 1 };
    for (i, component) in (0..16 * components).map(|n| (n, n / components * stride + n % components)) {
        let got = if wide { word(texels, component) } else { texels[component].into() };
        let want = if kind == Kind::Exact { expected[i].into() } else { word(expected, i) };
        let good = match kind {
            // Half a step of eight bits, and what the rounding to 16 took.
            Kind::Bytes => (u32::from(got) * 257).abs_diff(want.into()) <= 129,
            Kind::Words | Kind::Exact => got == want,
            Kind::Eleven if signed => got as i16 / 32 == want as i16,
            Kind::Eleven => got >> 5 == want,
        };
        if !good {
            return Some(format!(
                "texel {}, component {}: {got:#x}, expected {want:#x}",
                i / components,
                i % components
            ));
        }
    }
    None
}
