//! Transfer functions and primaries beside numbers that their standards have.

use xenoglot_yuv::light::{Primaries, Transfer, constant_luminance};

const TRANSFERS: [Transfer; 5] =
    [Transfer::Bt709, Transfer::Bt1886, Transfer::Srgb, Transfer::Pq, Transfer::Hlg];
const PRIMARIES: [Primaries; 5] = [
    Primaries::Bt709,
    Primaries::Bt2020,
    Primaries::P3D65,
    Primaries::Bt601Lines525,
    Primaries::Bt601Lines625,
];

fn near(shown: f64, meant: f64, by: f64) {
    assert!((shown - meant).abs() <= by, "{shown}, not {meant}");
}

#[test]
fn light_of_known_numbers() {
    for transfer in TRANSFERS {
        near(transfer.light(0.0), 0.0, 0.0);
        near(transfer.light(1.0), 1.0, 1e-7);
    }
    // BT.2408, table 1: the reference white of 203 cd/m² is 58 % of PQ, 100 cd/m² is 51 %, 1,000 cd/m² is 75 %.
    near(Transfer::Pq.light(0.5081) * 10_000.0, 100.0, 0.05);
    near(Transfer::Pq.light(0.5807) * 10_000.0, 203.0, 0.1);
    near(Transfer::Pq.light(0.7518) * 10_000.0, 1000.0, 0.5);
    // BT.2100: half of HLG is a twelfth of the scene's peak. BT.2408: its reference white is 75 %, 0.2650 of the peak.
    near(Transfer::Hlg.light(0.5), 1.0 / 12.0, 1e-12);
    near(Transfer::Hlg.light(0.75), 0.265, 1e-4);
    near(Transfer::Srgb.light(0.5), 0.214_041, 1e-6);
    near(Transfer::Srgb.light(0.04), 0.04 / 12.92, 1e-12);
    near(Transfer::Bt1886.light(0.5), 0.5f64.powf(2.4), 1e-12);
    near(Transfer::Bt709.light(0.04), 0.04 / 4.5, 1e-12);
    // BT.709 with the constants of three digits that it has itself: 18 % grey is 0.409.
    near(Transfer::Bt709.coded(0.18), 1.099 * 0.18f64.powf(0.45) - 0.099, 2e-4);
}

#[test]
fn codes_come_back() {
    for transfer in TRANSFERS {
        for i in 0..=1000 {
            let coded = f64::from(i) / 1000.0;
            // No light is 7.3e-7 in PQ.
            near(transfer.coded(transfer.light(coded)), coded, 8e-7);
        }
        // Where two parts meet there is no step.
        let mut last = 0.0;
        for i in 0..=100_000 {
            let light = transfer.light(f64::from(i) / 100_000.0);
            assert!(light >= last && light - last < 2e-4, "{transfer:?} {i}");
            last = light;
        }
    }
}

#[test]
fn numbers_beyond_the_range() {
    for transfer in [Transfer::Bt709, Transfer::Bt1886, Transfer::Srgb] {
        for coded in [0.01, 0.5, 1.3] {
            assert_eq!(transfer.light(-coded), -transfer.light(coded));
            assert_eq!(transfer.coded(-coded), -transfer.coded(coded));
        }
        assert!(transfer.light(1.1) > 1.0);
    }
    assert_eq!((Transfer::Pq.light(-0.1), Transfer::Hlg.light(-0.1)), (0.0, 0.0));
    assert_eq!(Transfer::Pq.light(1.1), Transfer::Pq.light(1.0));
    assert!(Transfer::Hlg.light(1.1) > 1.0);
}

#[test]
fn texels_keep_alpha() {
    let mut texels = vec![[0.5, 0.25, 1.0, 0.3]; 5000];
    Transfer::Srgb.decode(&mut texels);
    Primaries::Bt709.convert(Primaries::Bt2020, &mut texels);
    Primaries::Bt2020.convert(Primaries::Bt709, &mut texels);
    Transfer::Srgb.encode(&mut texels);
    for texel in texels {
        for (shown, meant) in texel.into_iter().zip([0.5, 0.25, 1.0, 0.3]) {
            near(shown.into(), meant, 1e-6);
        }
    }
}

#[test]
fn matrices_of_primaries() {
    // BT.2087 has that from BT.709 to BT.2020, with four digits; the luminance of BT.2020 and BT.709 is in these themselves.
    let meant = [[0.6274, 0.3293, 0.0433], [0.0691, 0.9195, 0.0114], [0.0164, 0.0880, 0.8956]];
    let shown = Primaries::Bt709.matrix_to(Primaries::Bt2020);
    for (shown, meant) in shown.as_flattened().iter().zip(meant.as_flattened()) {
        near(*shown, *meant, 6e-5);
    }
    for (primaries, meant) in
        [(Primaries::Bt709, [0.2126, 0.7152, 0.0722]), (Primaries::Bt2020, [0.2627, 0.6780, 0.0593])]
    {
        for (shown, meant) in primaries.to_xyz()[1].into_iter().zip(meant) {
            near(shown, meant, 6e-5);
        }
    }
    for from in PRIMARIES {
        for to in PRIMARIES {
            let matrix = from.matrix_to(to);
            for row in matrix {
                // White stays white.
                near(row.iter().sum(), 1.0, 1e-12);
            }
            // There and back is nothing.
            let back = to.matrix_to(from);
            for (i, row) in matrix.iter().enumerate() {
                for column in 0..3 {
                    let sum: f64 = row.iter().zip(&back).map(|(factor, row)| factor * row[column]).sum();
                    near(sum, if i == column { 1.0 } else { 0.0 }, 1e-12);
                }
            }
        }
    }
}

/// Colours brought to luma and chroma by the equations of BT.2020 come back.
#[test]
fn constant_luminance_comes_back() {
    let mut texels = Vec::new();
    let mut meant = Vec::new();
    for i in 0..343 {
        let rgb = [i % 7, i / 7 % 7, i / 49].map(|c| f64::from(c) / 6.0);
        let light = rgb.map(|c| Transfer::Bt709.light(c));
        let luma = Transfer::Bt709.coded(0.2627 * light[0] + 0.6780 * light[1] + 0.0593 * light[2]);
        let chroma = |difference: f64, below: f64, above: f64| {
            difference / if difference <= 0.0 { 2.0 * below } else { 2.0 * above }
        };
        let cb = chroma(rgb[2] - luma, 0.9702, 0.7910);
        let cr = chroma(rgb[0] - luma, 0.8591, 0.4969);
        assert!(cb.abs() < 0.5005 && cr.abs() < 0.5005);
        texels.push([cr as f32, luma as f32, cb as f32, 0.5]);
        meant.push(rgb);
    }
    constant_luminance(&mut texels);
    for (texel, meant) in texels.iter().zip(meant) {
        for (shown, meant) in texel.iter().zip(meant) {
            near((*shown).into(), meant, 1e-5);
        }
    }
}
