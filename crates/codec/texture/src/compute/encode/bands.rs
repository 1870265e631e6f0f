//! Pictures whose texels or blocks are more than a buffer of the device holds are cut into bands.

use crate::format::{Extent, Format};
use std::ops::Range;

/// A part of a picture that is encoded by itself: whole rows of blocks of both formats, or whole slices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    pub extent: Extent,
    /// Its bytes in the data.
    pub data: Range<usize>,
    /// Its bytes in the output.
    pub out: Range<usize>,
}

/// The bands of a picture, each with at most `most` bytes of blocks or of texels if its blocks are small enough. Nothing if bytes cannot
/// be counted.
pub fn bands(from: Format, to: Format, extent: Extent, most: u64) -> Option<Vec<Band>> {
    let bytes = |extent| Some([from.data_bytes(extent)?, from.output_bytes(extent)?, to.data_bytes(extent)?]);
    let fits = |extent| bytes(extent).is_some_and(|bytes| bytes.iter().all(|&n| n as u64 <= most));
    let [data, _, out] = bytes(extent)?;
    if fits(extent) {
        return Some(vec![Band { extent, data: 0..data, out: 0..out }]);
    }
    let [_, block_height, block_depth] = from.block();
    // Blocks of 4 rows begin where blocks of the other format do.
    let mut least = block_height;
    while !least.is_multiple_of(4) {
        least = least.checked_mul(2)?;
    }
    let mut rows = extent.height.checked_next_multiple_of(least)?;
    // Where blocks have depth, slices are whole: rows of several slices are not next to each other in the output.
    while block_depth == 1 && rows > least && !fits(Extent { height: rows, depth: 1, ..extent }) {
        rows = (rows / 2).next_multiple_of(least);
    }
    let mut bands = Vec::new();
    let (mut data, mut out) = (0, 0);
    for z in (0..extent.depth).step_by(block_depth as usize) {
        for y in (0..extent.height).step_by(rows as usize) {
            let (height, depth) = (rows.min(extent.height - y), block_depth.min(extent.depth - z));
            let extent = Extent { height, depth, ..extent };
            let [of_data, _, of_out] = bytes(extent)?;
            bands.push(Band { extent, data: data..data + of_data, out: out..out + of_out });
            (data, out) = (data + of_data, out + of_out);
        }
    }
    Some(bands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::astc::Footprint;
    use crate::{Profile, Quality, Texel, transcode_into};

    fn transcoded(from: Format, extent: Extent, data: &[u8], to: Format) -> Vec<u8> {
        let mut out = vec![0; to.data_bytes(extent).unwrap()];
        transcode_into(from, extent, data, to, Quality::Fast, &mut out).unwrap();
        out
    }

    #[test]
    fn bands_are_the_picture() {
        let astc =
            |width, height| Format::Astc(Footprint::new(width, height, 1).unwrap(), Profile::LdrUnorm8);
        for from in [Format::Plain(Texel::Rgba8), Format::Etc2Rgb, astc(5, 5), astc(6, 6)] {
            for [width, height, depth] in [[70, 93, 1], [33, 41, 3], [9, 4, 2]] {
                let extent = Extent { width, height, depth };
                let bytes = from.data_bytes(extent).unwrap();
                let data: Vec<u8> = (0..bytes).map(|i| (i * i / 8) as u8).collect();
                let expected = transcoded(from, extent, &data, Format::Bc7);
                for most in [0, 9_000, 1 << 20] {
                    let bands = bands(from, Format::Bc7, extent, most).unwrap();
                    assert!(
                        most != 9_000 || bands.iter().all(|b| from.output_bytes(b.extent).unwrap() <= 9_000)
                    );
                    assert_eq!(bands.last().unwrap().data.end, bytes);
                    let parts =
                        bands.iter().map(|b| transcoded(from, b.extent, &data[b.data.clone()], Format::Bc7));
                    assert_eq!(parts.collect::<Vec<_>>().concat(), expected, "{from} {extent:?} {most}");
                }
            }
        }
    }

    #[test]
    fn slices_of_volumes_stay_together() {
        let from = Format::Astc(Footprint::new(4, 4, 4).unwrap(), Profile::LdrUnorm8);
        let extent = Extent { width: 10, height: 10, depth: 10 };
        let bands = bands(from, Format::Bc7, extent, 64).unwrap();
        assert_eq!(bands.iter().map(|band| band.extent.depth).collect::<Vec<_>>(), [4, 4, 2]);
        assert_eq!(bands.last().unwrap().out.end, Format::Bc7.data_bytes(extent).unwrap());
    }
}
