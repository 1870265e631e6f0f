//! [`Precision::WithinOne`] beside [`Precision::Exact`], with every instruction set.

use super::tests::instruction_sets;
use super::*;
use crate::conversion::{Component, Filter, Model, Range, Reconstruction, Siting};
use crate::format::{Format, Layout, Subsampling};
use proptest::prelude::*;
use proptest::sample::select;

/// Converts both ways; how many components there are, and how many of them differ, by one.
fn compare(frame: &Frame<'_>, conversion: &Conversion) -> Result<[usize; 2], TestCaseError> {
    let [width, height] = frame.size();
    let mut exact = vec![[0; 4]; width * height];
    convert_rgba8(frame, conversion, &mut exact).unwrap();
    let mut first: Option<Vec<[u8; 4]>> = None;
    for arch in instruction_sets() {
        let mut out = vec![[0; 4]; width * height];
        bytes(arch, frame, conversion, Precision::WithinOne, &mut out).unwrap();
        let first = first.get_or_insert_with(|| out.clone());
        prop_assert!(*first == out, "{arch:?} differs: {:?} {conversion:?}", frame.format);
    }
    let (exact, out) = (exact.as_flattened(), first.unwrap_or_default());
    let mut differing = 0;
    for (i, (a, b)) in exact.iter().zip(out.as_flattened()).enumerate() {
        let (format, by) = (frame.format, a.abs_diff(*b));
        prop_assert!(by <= 1, "component {i}: {a}, not {b}: {format:?} {conversion:?} {width}x{height}");
        differing += usize::from(by);
    }
    Ok([exact.len(), differing])
}

fn formats() -> impl Strategy<Value = Format> {
    use Layout::*;
    use Subsampling::*;
    let layout = select(vec![
        (Planar, S420),
        (Planar, S422),
        (Planar, S440),
        (Planar, S444),
        (Planar, S411),
        (Planar, S410),
        (PlanarAlpha, S420),
        (SemiPlanar, S420),
        (SemiPlanar, S422),
        (SemiPlanarSwapped, S420),
        (SemiPlanarSwapped, S444),
        (PackedYuyv, S422),
        (PackedUyvy, S422),
        (PackedV210, S422),
        (PackedVuya, S444),
        (PackedUyva, S444),
        (PackedY410, S444),
        (Mono, S444),
    ]);
    (layout, 8u32..=16, any::<bool>()).prop_map(|((layout, subsampling), bits, high)| Format {
        layout,
        subsampling,
        bits: layout.bits().unwrap_or(bits),
        high,
    })
}

fn conversions() -> impl Strategy<Value = Conversion> {
    use Model::*;
    let model = select(vec![Bt709, Bt601, Bt2020, Bt709, Bt601, Bt2020, RgbIdentity, YcbcrIdentity]);
    let components = select(vec![
        Conversion::IDENTITY,
        Conversion::OPAQUE,
        Conversion::OPAQUE,
        [Component::Blue, Component::Green, Component::Red, Component::Zero],
        [Component::Zero, Component::Green, Component::One, Component::One],
        [Component::Red, Component::One, Component::Blue, Component::Green],
    ]);
    (model, components, any::<[bool; 5]>()).prop_map(
        |(model, components, [range, x, y, filter, explicit])| {
            let siting = |is_midpoint| if is_midpoint { Siting::Midpoint } else { Siting::CositedEven };
            Conversion {
                model,
                range: if range { Range::Full } else { Range::Narrow },
                siting: [siting(x), siting(y)],
                filter: if filter { Filter::Linear } else { Filter::Nearest },
                reconstruction: if explicit { Reconstruction::Explicit } else { Reconstruction::Implicit },
                components,
            }
        },
    )
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(512))]

    #[test]
    fn frames_of_any_size(
        format in formats(),
        conversion in conversions(),
        size in prop_oneof![[1usize..200, 1usize..7], [1000usize..4300, 1usize..4]],
        seed in any::<u64>(),
    ) {
        let [width, height] = size;
        let mut rng = xenoglot_testgen::rng::Rng::new(seed);
        let data: Vec<u8> = (0..format.bytes(width, height).unwrap()).map(|_| rng.next_u32() as u8).collect();
        compare(&Frame::tight(format, width, height, &data).unwrap(), &conversion)?;
    }
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
    let frame = Frame::tight(format, SIDE, SIDE, &data).unwrap();
    for model in [Model::Bt709, Model::Bt601, Model::Bt2020] {
        for range in [Range::Narrow, Range::Full] {
            let conversion = Conversion { model, range, ..Conversion::default() };
            let [all, differing] = compare(&frame, &conversion).unwrap();
            assert!(differing * 20 < all, "{differing} of {all} differ: {conversion:?}");
        }
    }
}

/// Conversions of luma and chroma have factors that words hold, so that they are not all converted exactly.
#[test]
fn words_hold_the_models() {
    for bits in 8..=16 {
        for model in [Model::Bt709, Model::Bt601, Model::Bt2020, Model::Smpte240M, Model::Fcc] {
            for range in [Range::Narrow, Range::Full] {
                let format =
                    Format { layout: Layout::Planar, subsampling: Subsampling::S444, bits, high: false };
                let frame = Frame::tight(format, 0, 0, &[]).unwrap();
                let conversion = Conversion { model, range, ..Conversion::default() };
                let Plan { matrix, offset, .. } = Plan::new(&frame, &conversion, 255.0);
                assert!(Factors::new(matrix, offset, bits).is_some(), "{bits} {model:?} {range:?}");
            }
        }
    }
}
