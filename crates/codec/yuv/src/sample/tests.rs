//! The same bytes as by the definition, texel by texel.

use super::*;
use crate::conversion::{Component, Filter, Model, Range, Reconstruction, Siting};
use crate::format::{Format, Layout, Subsampling};
use crate::frame::Channel;

const LAYOUTS: [(Layout, Subsampling); 19] = [
    (Layout::Planar, Subsampling::S420),
    (Layout::Planar, Subsampling::S422),
    (Layout::Planar, Subsampling::S440),
    (Layout::Planar, Subsampling::S444),
    (Layout::Planar, Subsampling::S411),
    (Layout::Planar, Subsampling::S410),
    (Layout::PlanarAlpha, Subsampling::S420),
    (Layout::PlanarAlpha, Subsampling::S411),
    (Layout::SemiPlanar, Subsampling::S420),
    (Layout::SemiPlanar, Subsampling::S411),
    (Layout::SemiPlanarSwapped, Subsampling::S422),
    (Layout::PackedYuyv, Subsampling::S422),
    (Layout::PackedUyvy, Subsampling::S422),
    (Layout::PackedVyuy, Subsampling::S422),
    (Layout::PackedV210, Subsampling::S422),
    (Layout::PackedVuya, Subsampling::S444),
    (Layout::PackedAyuv, Subsampling::S444),
    (Layout::PackedY410, Subsampling::S444),
    (Layout::Mono, Subsampling::S444),
];

const MODELS: [Model; 5] =
    [Model::RgbIdentity, Model::YcbcrIdentity, Model::Bt709, Model::Bt601, Model::Bt2020];

/// The two samples for a place along an axis, and their weights in parts of twice the factor.
fn along(at: usize, size: usize, factor: usize, conversion: &Conversion, axis: usize) -> [(usize, usize); 2] {
    let (at, one) = (at as isize, 2 * factor as isize);
    // Where the sample lies among those of chroma, in such parts of the way from one to the next.
    let place = match conversion.siting[axis] {
        Siting::CositedEven => 2 * at,
        Siting::Midpoint => 2 * at + 1 - factor as isize,
    };
    let (first, weight) = match (conversion.filter, conversion.reconstruction) {
        (Filter::Nearest, Reconstruction::Explicit) => (at / factor as isize, 0),
        (Filter::Nearest, Reconstruction::Implicit) => ((place + one / 2).div_euclid(one), 0),
        _ => (place.div_euclid(one), place.rem_euclid(one)),
    };
    let clamped = |sample: isize| sample.clamp(0, size as isize - 1) as usize;
    [(clamped(first), (one - weight) as usize), (clamped(first + 1), weight as usize)]
}

/// What [`convert_rgba8`] gives: chroma exact, each product and each sum rounded to a single, chroma's before luma's.
fn defined(frame: &Frame<'_>, conversion: &Conversion) -> Vec<[u8; 4]> {
    let Affine { matrix, offset } = conversion.affine(frame.format);
    let (matrix, offset) = (matrix.map(|row| row.map(|c| c * 255.0)), offset.map(|c| c * 255.0));
    let [fx, fy] = frame.format.subsampling.factors();
    let [width, height] = frame.size;
    let [cr, luma, cb] = &frame.channels;
    let unit = (4 * fx * fy) as f32;
    let mut out = Vec::with_capacity(width * height);
    for y in 0..height {
        let rows = along(y, cr.size[1], fy, conversion, 1);
        for x in 0..width {
            let columns = along(x, cr.size[0], fx, conversion, 0);
            let code = |channel: &Channel<'_>, x, y| usize::from(channel.code(frame.format, x, y));
            let chroma = |channel| {
                let mut sum = 0;
                for (row, of_row) in rows {
                    for (column, of_column) in columns {
                        sum += of_row * of_column * code(channel, column, row);
                    }
                }
                sum as f32
            };
            let (cr, luma, cb) = (chroma(cr), code(luma, x, y) as f32, chroma(cb));
            let alpha = frame.alpha.as_ref().map_or(0.0, |alpha| code(alpha, x, y) as f32);
            let sum = |row: usize| {
                let [r, g, b, a] = matrix[row];
                (luma * g + (cr * (r / unit) + (cb * (b / unit) + offset[row]))) + alpha * a
            };
            let byte = |row: usize| sum(row).round_ties_even().clamp(0.0, 255.0) as u8;
            out.push([byte(0), byte(1), byte(2), byte(3)]);
        }
    }
    out
}

fn check(format: Format, size: [usize; 2], conversion: &Conversion, data: &[u8]) {
    let [width, height] = size;
    let frame = Frame::tight(format, width, height, data).unwrap();
    let meant = defined(&frame, conversion);
    for arch in instruction_sets() {
        let mut out = vec![[0; 4]; width * height];
        rows(arch, &frame, conversion, &mut out).unwrap();
        let at = out.iter().zip(&meant).position(|(out, meant)| out != meant);
        assert!(at.is_none(), "{arch:?} {format:?} {conversion:?} {size:?}: texel {at:?}");
    }
}

/// All that this processor has.
pub(super) fn instruction_sets() -> Vec<Arch> {
    let mut all = vec![Arch::Scalar];
    #[cfg(target_arch = "x86_64")]
    {
        all.extend(pulp::x86::V3::try_new().map(Arch::V3));
        all.extend(pulp::x86::V4::try_new().map(Arch::V4));
    }
    all
}

/// Every code of luma with every pair of codes of chroma.
#[test]
fn all_codes_of_eight_bits() {
    const SIDE: usize = 4096;
    let format = Format { layout: Layout::Planar, subsampling: Subsampling::S444, bits: 8, high: false };
    let mut data = Vec::with_capacity(3 * SIDE * SIDE);
    for shift in [0, 8, 16] {
        data.extend((0..SIDE * SIDE).map(|i| (i >> shift) as u8));
    }
    for model in [Model::Bt709, Model::Bt601, Model::Bt2020] {
        for range in [Range::Narrow, Range::Full] {
            let conversion = Conversion { model, range, ..Conversion::default() };
            check(format, [SIDE, SIDE], &conversion, &data);
        }
    }
}

/// Every layout, siting, filter and model, with rows of more than a tile and ends of every kind.
#[test]
fn random_frames() {
    let mut rng = xenoglot_testgen::rng::Rng::new(7);
    let data: Vec<u8> = (0..1 << 17).map(|_| rng.next_u32() as u8).collect();
    let mut from = 0;
    for (layout, subsampling) in LAYOUTS {
        for (bits, high) in [(8, false), (10, false), (10, true), (12, true), (16, false)] {
            if layout.bits().is_some_and(|needed| needed != bits) {
                continue;
            }
            let format = Format { layout, subsampling, bits, high };
            for number in 0..32 {
                let is = |bit: u32| number >> bit & 1 == 1;
                let siting = |is_midpoint| if is_midpoint { Siting::Midpoint } else { Siting::CositedEven };
                for (i, model) in MODELS.into_iter().enumerate() {
                    let conversion = Conversion {
                        model,
                        range: if (i + number) % 2 == 0 { Range::Narrow } else { Range::Full },
                        siting: [siting(is(0)), siting(is(1))],
                        filter: if is(2) { Filter::Linear } else { Filter::Nearest },
                        reconstruction: if is(3) {
                            Reconstruction::Implicit
                        } else {
                            Reconstruction::Explicit
                        },
                        components: match (is(4), is(1)) {
                            (true, false) => {
                                [Component::Blue, Component::Green, Component::Red, Component::Alpha]
                            }
                            (true, true) => Conversion::IDENTITY,
                            (false, true) if number % 3 == 0 => {
                                [Component::Alpha, Component::Green, Component::One, Component::Red]
                            }
                            (false, _) => Conversion::OPAQUE,
                        },
                    };
                    let size = match number % 3 {
                        0 => [1 + from % 97, 1 + from % 19],
                        1 => [1000 + from % 131, 5],
                        _ => [64 * (1 + from % 3), 4],
                    };
                    from = (from + 37) % 4096;
                    check(format, size, &conversion, &data[from..]);
                }
            }
        }
    }
}
