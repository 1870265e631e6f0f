//! Files of ASTC blocks: `vectors/texture/FORMAT.md`, section astc.

use super::{Decode, Strip, same};
use crate::Error;
use crate::input::Reader;
use crate::report::{Case, Verdict};
use xenoglot_texture::astc::Footprint;
use xenoglot_texture::{Format, Profile};

const OUTPUTS: [(Profile, &str); 4] = [
    (Profile::LdrUnorm8, "unorm8"),
    (Profile::Srgb, "srgb"),
    (Profile::LdrFloat16, "float16"),
    (Profile::Hdr, "hdr"),
];

pub(super) fn cases(file: &str, bytes: &[u8], decode: &Decode) -> Result<Vec<Case>, Error> {
    let mut reader = Reader::new(bytes);
    reader.take(8)?;
    let size = [reader.u8()?, reader.u8()?, reader.u8()?];
    let malformed = |offset, what| Error::Malformed { offset, what };
    let footprint = Footprint::new(size[0].into(), size[1].into(), size[2].into())
        .ok_or(malformed(8, "size of blocks"))?;
    if usize::from(reader.u8()?) != OUTPUTS.len() {
        return Err(malformed(11, "number of outputs"));
    }
    let (count, full) = (reader.u32()? as usize, reader.u32()? as usize);
    if full > count {
        return Err(malformed(16, "number of blocks with texels"));
    }
    reader.take(12)?;
    let classes = reader.take(count)?;
    let blocks = reader.take(count.saturating_mul(16))?;
    let checksums = reader.words(count.saturating_mul(OUTPUTS.len()))?;
    let mut cases = Vec::with_capacity(checksums.len());
    for ((profile, output), checksums) in OUTPUTS.into_iter().zip(checksums.chunks_exact(count.max(1))) {
        let format = Format::Astc(footprint, profile);
        let decoded = Strip { format, blocks }.decode(decode)?;
        for (i, (texels, &checksum)) in decoded.iter().zip(checksums).enumerate() {
            let mut verdict = Verdict::Passed;
            if i < full {
                verdict = same(texels, reader.take(texels.len())?);
            }
            if verdict == Verdict::Passed && crc32fast::hash(texels) != checksum {
                verdict = Verdict::Failed("another checksum".into());
            }
            let class = classes[i];
            cases.push(Case { name: format!("{file}/{output}/{i} (class {class})"), verdict });
        }
    }
    Ok(cases)
}
