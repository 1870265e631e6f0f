//! Any sizes: pictures of no width, of no whole blocks, of too few bytes, of more bytes than there are.

use proptest::prelude::*;
use xenoglot_texture::console::{ds, tegra};
use xenoglot_texture::{Error, Extent, Format, Texel, decode_into, decode_into_parallel};

fn formats() -> Vec<Format> {
    let plain = [Texel::R8Unorm, Texel::Rgba8, Texel::Rgba32Float].map(Format::Plain);
    Format::compressed().chain(plain).collect()
}

/// The texels of `extent`, a block at a time.
fn by_blocks(format: Format, extent: Extent, data: &[u8]) -> Vec<u8> {
    let [bw, bh, bd] = format.block();
    let [across, down, _] = extent.blocks(format.block());
    let texel = format.texel().bytes();
    let one = Extent { width: bw, height: bh, depth: bd };
    let mut block = vec![0; format.output_bytes(one).unwrap()];
    let mut out = Vec::new();
    for (z, y, x) in (0..extent.depth)
        .flat_map(|z| (0..extent.height).flat_map(move |y| (0..extent.width).map(move |x| (z, y, x))))
    {
        let index = ((z / bd * down + y / bh) * across + x / bw) as usize;
        let bytes = format.block_bytes();
        decode_into(format, one, &data[index * bytes..][..bytes], &mut block).unwrap();
        let at = ((z % bd * bh + y % bh) * bw + x % bw) as usize * texel;
        out.extend_from_slice(&block[at..at + texel]);
    }
    out
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(400))]

    #[test]
    fn pictures_are_their_blocks(
        format in proptest::sample::select(formats()),
        size in [0u32..30, 0u32..30, 0u32..8],
        bytes in proptest::collection::vec(any::<u8>(), 64..256),
        short in 1usize..200,
    ) {
        let extent = Extent { width: size[0], height: size[1], depth: size[2] };
        let data: Vec<u8> = bytes.iter().copied().cycle().take(format.data_bytes(extent).unwrap()).collect();
        let needed = format.output_bytes(extent).unwrap();
        let mut out = vec![0xa5; needed + 7];
        decode_into(format, extent, &data, &mut out).unwrap();
        prop_assert!(out[needed..].iter().all(|&b| b == 0xa5));
        prop_assert_eq!(&out[..needed], &by_blocks(format, extent, &data));
        let mut parallel = vec![0; needed];
        decode_into_parallel(format, extent, &data, &mut parallel).unwrap();
        prop_assert_eq!(&out[..needed], &parallel);

        if let Some(less) = data.len().checked_sub(short) {
            let error = Error::Data { needed: data.len(), given: less };
            prop_assert_eq!(decode_into(format, extent, &data[..less], &mut out), Err(error));
        }
        if let Some(less) = needed.checked_sub(short) {
            let error = Error::Output { needed, given: less };
            prop_assert_eq!(decode_into(format, extent, &data, &mut out[..less]), Err(error));
        }
    }

    #[test]
    fn huge_extents_are_refused(format in proptest::sample::select(formats()), size in any::<[u32; 3]>()) {
        let extent = Extent { width: size[0] | 1 << 20, height: size[1] | 1 << 20, depth: size[2] | 1 };
        prop_assert!(decode_into(format, extent, &[0; 64], &mut [0; 64]).is_err());
    }

    #[test]
    fn ds_textures_of_any_memory(param in any::<u32>(), base in any::<u32>(), texture in any::<Vec<u8>>(), palette in any::<Vec<u8>>()) {
        // At most 64 x 64 texels.
        let texture_registers = ds::Texture { param: param & !(4 << 20 | 4 << 23), palette_base: base };
        let memory = ds::Memory { texture: &texture, palette: &palette };
        let mut out = vec![ds::Texel::default(); 64 * 64];
        let decoded = texture_registers.decode_into(&memory, &mut out);
        prop_assert_eq!(decoded.is_err(), param >> 26 & 7 == 0);
        prop_assert!(out.iter().all(|t| t.alpha < 32));
    }

    #[test]
    fn tegra_levels_of_any_size(
        size in [0u32..70, 0u32..70, 0u32..9],
        element in 0u32..17,
        height in 0u32..6,
        depth in 0u32..6,
        short in 1usize..100,
    ) {
        let level = tegra::Level { width: size[0], rows: size[1], slices: size[2], element };
        let block = tegra::Block::new(1 << height, 1 << depth).unwrap();
        let linear: Vec<u8> = (0..level.linear_bytes().unwrap()).map(|i| (i * 7 + i / 251) as u8).collect();
        let mut tiled = vec![0; level.tiled_bytes(block).unwrap()];
        level.tile(block, &linear, &mut tiled).unwrap();
        let mut back = vec![0; linear.len()];
        level.untile(block, &tiled, &mut back).unwrap();
        prop_assert_eq!(&back, &linear);
        if let Some(less) = tiled.len().checked_sub(short) {
            prop_assert!(level.untile(block, &tiled[..less], &mut back).is_err());
        }
    }

    #[test]
    fn tegra_surfaces_of_any_numbers(size in any::<[u32; 3]>(), element_size in any::<[u32; 3]>(), n in any::<[u32; 3]>()) {
        let block = tegra::Block::usual(size[1], size[2]);
        let surface = tegra::Surface { size, element_size, element: n[0], levels: n[1], layers: n[2], block };
        let (_, _) = (surface.bytes(), surface.placed(n[2] / 2, n[1] / 2));
        let small = tegra::Surface { levels: n[1] % 33, ..surface };
        let (_, _) = (small.bytes(), small.placed(n[2] / 2, small.levels / 2));
    }
}
