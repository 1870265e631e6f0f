//! Pictures that are encoded, and textures that others made of them.

use crate::picture::Picture as Png;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::io::Read;
use xenoglot_testgen::pictures;
use xenoglot_texture::astc::Footprint;
use xenoglot_texture::container::{Limits, read};
use xenoglot_texture::{Extent, Format, Profile};

/// Photographs as PNG, and their and the procedural pictures' textures; its README says whose they are.
const SHIPPED: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/bench/textures.tar.zst"));

/// The photographs.
const PHOTOGRAPHS: [&str; 2] = ["chelsea", "coffee"];
/// Texels along each side of a texture that is shipped.
const SIDE: u32 = 256;

/// What is shipped.
pub struct Shipped {
    files: BTreeMap<String, Vec<u8>>,
}

/// Texels of RGBA8.
pub struct Picture {
    pub name: &'static str,
    pub extent: Extent,
    pub texels: Vec<u8>,
}

/// A picture in blocks.
pub struct Packed {
    pub name: &'static str,
    pub extent: Extent,
    pub blocks: Vec<u8>,
}

impl Shipped {
    /// Unpacks it.
    pub fn new() -> Result<Shipped> {
        let mut files = BTreeMap::new();
        let mut archive = tar::Archive::new(ruzstd::decoding::StreamingDecoder::new(SHIPPED)?);
        for entry in archive.entries()? {
            let mut entry = entry?;
            let name = entry.path()?.file_name().map(|name| name.to_string_lossy().into_owned());
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            files.extend(name.map(|name| (name, bytes)));
        }
        Ok(Shipped { files })
    }

    fn file(&self, name: String) -> Result<&[u8]> {
        self.files.get(&name).map(Vec::as_slice).context(name)
    }

    /// The procedural pictures with `side` texels along each side, and the photographs.
    pub fn pictures(&self, side: u32) -> Result<Vec<Picture>> {
        let extent = Extent::flat(side, side);
        let procedural =
            pictures::ALL.map(|(name, picture)| Picture { name, extent, texels: picture(side as usize) });
        let photographs = PHOTOGRAPHS.map(|name| {
            let Png { width, height, rgba, .. } = Png::from_png(self.file(format!("{name}.png"))?)?;
            Ok(Picture { name, extent: Extent::flat(width, height), texels: rgba })
        });
        procedural.into_iter().map(Ok).chain(photographs).collect()
    }

    /// All pictures in a format: ASTC of these footprints by astcenc, or UASTC by Basis Universal.
    pub fn packed(&self, format: Format) -> Result<Vec<Packed>> {
        let names = pictures::ALL.map(|(name, _)| name).into_iter().chain(PHOTOGRAPHS);
        names
            .map(|name| {
                if let Format::Astc(footprint, _) = format {
                    let [width, height, _] = footprint.size();
                    let texture =
                        read(self.file(format!("{name}-{width}x{height}.astc"))?, &Limits::default())?;
                    let image = texture.images.into_iter().next().context("an image")?;
                    Ok(Packed { name, extent: image.extent, blocks: image.data.into_owned() })
                } else {
                    let blocks = self.file(format!("{name}.uastc"))?.to_vec();
                    Ok(Packed { name, extent: Extent::flat(SIDE, SIDE), blocks })
                }
            })
            .collect()
    }

    /// The formats of [`packed`](Self::packed).
    pub fn formats() -> impl Iterator<Item = Format> {
        let astc = [4, 6, 8].into_iter().filter_map(|n| Footprint::new(n, n, 1));
        astc.map(|footprint| Format::Astc(footprint, Profile::LdrUnorm8)).chain([Format::Uastc])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::codec::encode::kept;
    use xenoglot_texture::decode_into;

    #[test]
    fn textures_are_of_their_pictures() {
        let shipped = Shipped::new().unwrap();
        let pictures = shipped.pictures(SIDE).unwrap();
        for format in Shipped::formats() {
            let packed = shipped.packed(format).unwrap();
            assert_eq!(packed.len(), pictures.len());
            for (packed, picture) in packed.iter().zip(&pictures) {
                assert_eq!((packed.name, packed.extent), (picture.name, picture.extent));
                let mut texels = vec![0; picture.texels.len()];
                decode_into(format, packed.extent, &packed.blocks, &mut texels).unwrap();
                let psnr = kept(format, &picture.texels, &texels);
                assert!(psnr > 32.0, "{} as {format}: {psnr:.2} dB", packed.name);
            }
        }
    }
}
