//! The same bytes as by the definition, texel by texel.

use super::*;
use crate::conversion::{Component, Filter, Model, Range, Reconstruction, Siting};
use crate::frame::{Channel, Format, Layout};

const LAYOUTS: [(Layout, Subsampling); 10] = [
    (Layout::Planar, Subsampling::S420),
    (Layout::Planar, Subsampling::S422),
    (Layout::Planar, Subsampling::S440),
    (Layout::Planar, Subsampling::S444),
    (Layout::SemiPlanar, Subsampling::S420),
    (Layout::SemiPlanarSwapped, Subsampling::S422),
    (Layout::PackedYuyv, Subsampling::S422),
    (Layout::PackedUyvy, Subsampling::S422),
    (Layout::PackedVuya, Subsampling::S444),
    (Layout::Mono, Subsampling::S444),
];

const MODELS: [Model; 5] =
    [Model::RgbIdentity, Model::YcbcrIdentity, Model::Bt709, Model::Bt601, Model::Bt2020];

/// The two samples for a place along an axis, and their weights in quarters.
fn along(at: usize, size: usize, is_halved: bool, conversion: &Conversion, axis: usize) -> [(usize, u32); 2] {
    let is_cosited = conversion.siting[axis] == Siting::CositedEven;
    let (pair, is_odd) = (at / 2, at % 2 == 1);
    let samples = match (is_halved, conversion.filter) {
        (false, _) => [(at, 4), (at, 0)],
        (_, Filter::Nearest) if is_cosited && conversion.reconstruction == Reconstruction::Implicit => {
            [(at.div_ceil(2), 4), (at, 0)]
        }
        (_, Filter::Nearest) => [(pair, 4), (pair, 0)],
        (_, Filter::Linear) if is_cosited => {
            let next = if is_odd { 2 } else { 0 };
            [(pair, 4 - next), (pair + 1, next)]
        }
        (_, Filter::Linear) if is_odd => [(pair, 3), (pair + 1, 1)],
        (_, Filter::Linear) => [(pair.saturating_sub(1), 1), (pair, 3)],
    };
    samples.map(|(sample, weight)| (sample.min(size - 1), weight))
}

fn code(format: Format, channel: &Channel<'_>, x: usize, y: usize) -> u32 {
    let at = &channel.data[channel.offset + y * channel.pitch + x * channel.step..];
    if format.bits == 8 {
        return at[0].into();
    }
    let word = u32::from(u16::from_le_bytes([at[0], at[1]]));
    if format.high { word >> (16 - format.bits) } else { word & ((1 << format.bits) - 1) }
}

/// What [`convert_rgba8`] gives: chroma exact, each product and each sum rounded to a single, chroma's before luma's.
fn defined(frame: &Frame<'_>, conversion: &Conversion) -> Vec<[u8; 4]> {
    let Affine { matrix, offset } = conversion.affine(frame.format);
    let (matrix, offset) = (matrix.map(|row| row.map(|c| c * 255.0)), offset.map(|c| c * 255.0));
    let [fx, fy] = frame.format.subsampling.factors();
    let [width, height] = frame.size;
    let [cr, luma, cb] = &frame.channels;
    let mut out = Vec::with_capacity(width * height);
    for y in 0..height {
        let rows = along(y, cr.size[1], fy == 2, conversion, 1);
        for x in 0..width {
            let columns = along(x, cr.size[0], fx == 2, conversion, 0);
            let chroma = |channel| {
                let mut sum = 0;
                for (row, of_row) in rows {
                    for (column, of_column) in columns {
                        sum += of_row * of_column * code(frame.format, channel, column, row);
                    }
                }
                sum as f32
            };
            let (cr, luma, cb) = (chroma(cr), code(frame.format, luma, x, y) as f32, chroma(cb));
            let byte = |row: usize| {
                let [r, g, b] = matrix[row];
                let sum = luma * g + (cr * (r / 16.0) + (cb * (b / 16.0) + offset[row]));
                sum.round_ties_even().clamp(0.0, 255.0) as u8
            };
            out.push([byte(0), byte(1), byte(2), 255]);
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
                        components: match is(4) {
                            true => [Component::Blue, Component::Green, Component::Red],
                            false => Conversion::IDENTITY,
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
