//! Random blocks.

use xenoglot_testgen::rng::Rng;
use xenoglot_texture::{Extent, Format, decode_into};

/// Random blocks; of ASTC such without the error colour in a texel.
pub fn random(format: Format, extent: Extent) -> Vec<u8> {
    /// Different blocks; more are repetitions.
    const DIFFERENT: usize = 4096;
    let mut rng = Rng::new(1);
    let bytes = format.block_bytes();
    let mut data = Vec::with_capacity(DIFFERENT * bytes);
    while data.len() < DIFFERENT * bytes {
        let block: Vec<u8> = (0..bytes).map(|_| rng.next_u32() as u8).collect();
        if !matches!(format, Format::Astc(..)) || legal(format, &block) {
            data.extend(block);
        }
    }
    data.into_iter().cycle().take(format.data_bytes(extent).unwrap_or(0)).collect()
}

fn legal(format: Format, block: &[u8]) -> bool {
    let [width, height, depth] = format.block();
    let extent = Extent { width, height, depth };
    let mut out = vec![0; format.output_bytes(extent).unwrap_or(0)];
    let error: &[u8] = if format.texel().bytes() == 4 { &[255, 0, 255, 255] } else { &[255; 8] };
    decode_into(format, extent, block, &mut out).is_ok() && out.chunks_exact(error.len()).all(|t| t != error)
}
