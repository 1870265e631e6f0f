//! The command `astcenc`.

use std::process::Command;
use xenoglot_texture::{Extent, Format, Profile};

/// What `astcenc` does with blocks of ASTC on one thread, if it is installed and knows what to do with them.
pub fn rate(rounds: u32, format: Format, extent: Extent, data: &[u8]) -> Option<f64> {
    let Format::Astc(footprint, profile) = format else { return None };
    let folder = xenoglot_output::Scratch::new().ok()?;
    let [width, height, depth] = footprint.size().map(|n| n as u8);
    let size = [extent.width, extent.height, extent.depth];
    let mut file = vec![0x13, 0xab, 0xa1, 0x5c, width, height, depth];
    file.extend(size.iter().flat_map(|n| n.to_le_bytes().into_iter().take(3)));
    file.extend_from_slice(data);
    let input = folder.path().join("blocks.astc");
    std::fs::write(&input, file).ok()?;
    let (option, output) =
        if profile == Profile::Hdr { ("-dh", "texels.hdr") } else { ("-dl", "texels.tga") };
    let run = || {
        let mut command = Command::new("astcenc");
        command.arg(option).arg(&input).arg(folder.path().join(output)).args(["-j", "1"]);
        let printed = command.output().ok().filter(|run| run.status.success())?.stdout;
        decoding_rate(std::str::from_utf8(&printed).ok()?)
    };
    (0..rounds).map_while(|_| run()).max_by(f64::total_cmp)
}

/// The rate that `astcenc` prints, in million texels a second.
fn decoding_rate(printed: &str) -> Option<f64> {
    let line = printed.lines().find_map(|line| line.trim().strip_prefix("Decoding rate:"))?;
    line.trim().strip_suffix("MT/s")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn rates_are_found_in_what_astcenc_prints() {
        let printed =
            "Performance metrics\n\n    Total time:     0.0673 s\n    Decoding rate:       25.8391 MT/s\n";
        assert_eq!(super::decoding_rate(printed), Some(25.8391));
        assert_eq!(super::decoding_rate("usage"), None);
    }
}
