//! Filters, subsamplings and places beside a model of them in doubles.

use xenoglot_testgen::rng::Rng;
use xenoglot_yuv::{
    Conversion, Filter, Format, Frame, Layout, Model, Precision, Range, Reconstruction, Siting, Subsampling,
    convert, convert_rgba8, convert_rgba8_with, sample,
};

/// Planes of luma, Cb, Cr and alpha, of 8 or 16 bits.
struct Planes {
    size: [usize; 2],
    format: Format,
    data: Vec<u8>,
}

impl Planes {
    fn random(rng: &mut Rng, subsampling: Subsampling, bits: u32, size: [usize; 2]) -> Planes {
        let format = Format { layout: Layout::PlanarAlpha, subsampling, bits, high: false };
        let count = format.bytes(size[0], size[1]).unwrap();
        Planes { size, format, data: (0..count).map(|_| rng.next_u32() as u8).collect() }
    }

    fn frame(&self) -> Frame<'_> {
        Frame::tight(self.format, self.size[0], self.size[1], &self.data).unwrap()
    }

    fn factors(&self, plane: usize) -> [usize; 2] {
        // Luma and alpha are the first and the last.
        if matches!(plane, 0 | 3) { [1, 1] } else { self.format.subsampling.factors() }
    }

    fn plane_size(&self, plane: usize) -> [usize; 2] {
        let factors = self.factors(plane);
        [0, 1].map(|axis| self.size[axis].div_ceil(factors[axis]))
    }

    /// A sample as a part of the highest code; outside of the plane that at its edge.
    fn at(&self, plane: usize, x: i64, y: i64) -> f64 {
        let before: usize = (0..plane).map(|plane| self.plane_size(plane).iter().product::<usize>()).sum();
        let [width, height] = self.plane_size(plane).map(|size| size as i64);
        let at = before + (y.clamp(0, height - 1) * width + x.clamp(0, width - 1)) as usize;
        match self.format.bits {
            8 => f64::from(self.data[at]) / 255.0,
            _ => f64::from(u16::from_le_bytes([self.data[2 * at], self.data[2 * at + 1]])) / 65535.0,
        }
    }

    /// A plane at a place, where samples are at whole numbers: the sum of all near it by a filter's kernel.
    fn filtered(&self, plane: usize, filter: Filter, [x, y]: [f64; 2]) -> f64 {
        filtered(filter, [x, y], |x, y| self.at(plane, x, y))
    }

    /// Where a place among luma samples lies among those of a plane.
    fn place(&self, plane: usize, luma: [f64; 2], siting: [Siting; 2]) -> [f64; 2] {
        let factors = self.factors(plane);
        [0, 1].map(|axis| {
            let factor = factors[axis] as f64;
            // Of the first sample, in luma samples.
            let first = match siting[axis] {
                Siting::CositedEven => 0.0,
                Siting::Midpoint => (factor - 1.0) / 2.0,
            };
            (luma[axis] - first) / factor
        })
    }

    /// What a sampler gives, with BT.709 and the narrow range, at a place among luma samples.
    fn sampled(&self, conversion: &Conversion, filter: Filter, at: [f64; 2]) -> [f64; 4] {
        let [y, u, v, a] = [0, 1, 2, 3].map(|plane| {
            if matches!(plane, 0 | 3) {
                return self.filtered(plane, filter, at);
            }
            match conversion.reconstruction {
                Reconstruction::Implicit => {
                    self.filtered(plane, conversion.filter, self.place(plane, at, conversion.siting))
                }
                Reconstruction::Explicit => filtered(filter, at, |x, y| {
                    // Beyond the frame is what is at its edge.
                    let [width, height] = self.size.map(|size| size as i64);
                    self.reconstructed(plane, conversion, [x.clamp(0, width - 1), y.clamp(0, height - 1)])
                }),
            }
        });
        let scale = if self.format.bits == 8 { 255.0 } else { 65535.0 / 256.0 };
        let (y, u, v) =
            ((y * scale - 16.0) / 219.0, (u * scale - 128.0) / 224.0, (v * scale - 128.0) / 224.0);
        let (red, blue) = (y + 2.0 * (1.0 - 0.2126) * v, y + 2.0 * (1.0 - 0.0722) * u);
        [red, (y - 0.2126 * red - 0.0722 * blue) / 0.7152, blue, a]
    }

    /// Chroma for a luma sample.
    fn reconstructed(&self, plane: usize, conversion: &Conversion, [x, y]: [i64; 2]) -> f64 {
        let factors = self.factors(plane).map(|factor| factor as i64);
        if conversion.filter == Filter::Nearest {
            return self.at(plane, x / factors[0], y / factors[1]);
        }
        let place = self.place(plane, [x as f64, y as f64], conversion.siting);
        self.filtered(plane, conversion.filter, place)
    }
}

fn filtered(filter: Filter, [x, y]: [f64; 2], at: impl Fn(i64, i64) -> f64) -> f64 {
    if filter == Filter::Nearest {
        return at((x + 0.5).floor() as i64, (y + 0.5).floor() as i64);
    }
    let kernel = |distance: f64| {
        let d = distance.abs();
        match filter {
            Filter::Linear => (1.0 - d).max(0.0),
            // Of Catmull and Rom, with a slope of -1/2.
            _ if d <= 1.0 => 1.5 * d.powi(3) - 2.5 * d.powi(2) + 1.0,
            _ if d < 2.0 => -0.5 * d.powi(3) + 2.5 * d.powi(2) - 4.0 * d + 2.0,
            _ => 0.0,
        }
    };
    let mut sum = 0.0;
    for j in -2..=3 {
        for i in -2..=3 {
            let (column, row) = (x.floor() as i64 + i, y.floor() as i64 + j);
            sum += kernel(x - column as f64) * kernel(y - row as f64) * at(column, row);
        }
    }
    sum
}

fn conversions() -> impl Iterator<Item = Conversion> {
    let siting = |is: bool| if is { Siting::Midpoint } else { Siting::CositedEven };
    (0..24).map(move |number| Conversion {
        filter: [Filter::Nearest, Filter::Linear, Filter::Cubic][number % 3],
        siting: [siting(number & 4 != 0), siting(number & 8 != 0)],
        reconstruction: [Reconstruction::Explicit, Reconstruction::Implicit][number / 12],
        components: Conversion::IDENTITY,
        ..Conversion::default()
    })
}

fn close(shown: [f32; 4], meant: [f64; 4]) -> bool {
    shown.iter().zip(meant).all(|(&shown, meant)| (f64::from(shown) - meant).abs() < 1e-5)
}

#[test]
fn texels_are_those_of_the_model() {
    let mut rng = Rng::new(5);
    for subsampling in Subsampling::ALL {
        for (bits, size) in [(8, [37, 11]), (16, [1, 3]), (16, [530, 2]), (8, [16, 9])] {
            let planes = Planes::random(&mut rng, subsampling, bits, size);
            for conversion in conversions() {
                let mut out = vec![[0.0; 4]; size[0] * size[1]];
                convert(&planes.frame(), &conversion, &mut out).unwrap();
                let (mut bytes, mut within_one) = (vec![[0; 4]; out.len()], vec![[0; 4]; out.len()]);
                convert_rgba8(&planes.frame(), &conversion, &mut bytes).unwrap();
                let precision = Precision::WithinOne;
                convert_rgba8_with(&planes.frame(), &conversion, precision, &mut within_one).unwrap();
                for (i, texel) in out.iter().enumerate() {
                    let [x, y] = [i % size[0], i / size[0]];
                    let meant = planes.sampled(&conversion, Filter::Nearest, [x as f64, y as f64]);
                    assert!(
                        close(*texel, meant),
                        "{:?} {conversion:?} {x} {y}: {texel:?}, not {meant:?}",
                        planes.format
                    );
                    for (c, meant) in meant.into_iter().enumerate() {
                        let meant = meant.clamp(0.0, 1.0) * 255.0;
                        assert!((f64::from(bytes[i][c]) - meant).abs() < 0.501);
                        assert!((f64::from(within_one[i][c]) - meant).abs() < 1.501);
                    }
                }
            }
        }
    }
}

/// At the centres of texels samples are what a conversion gives, with every filter of luma.
#[test]
fn samples_at_centres() {
    let mut rng = Rng::new(6);
    for subsampling in Subsampling::ALL {
        let size = [23, 9];
        let planes = Planes::random(&mut rng, subsampling, 8, size);
        let places: Vec<[f32; 2]> = (0..size[0] * size[1])
            .map(|i| [(i % size[0]) as f32 + 0.5, (i / size[0]) as f32 + 0.5])
            .collect();
        for conversion in conversions() {
            for model in [Model::Bt709, Model::RgbIdentity] {
                let conversion = Conversion { model, range: Range::Full, ..conversion };
                let mut meant = vec![[0.0; 4]; places.len()];
                convert(&planes.frame(), &conversion, &mut meant).unwrap();
                for filter in [Filter::Nearest, Filter::Linear, Filter::Cubic] {
                    let mut out = vec![[0.0; 4]; places.len()];
                    sample(&planes.frame(), &conversion, filter, &places, &mut out).unwrap();
                    for (out, meant) in out.iter().zip(&meant) {
                        assert!(
                            close(*out, meant.map(f64::from)),
                            "{conversion:?} {filter:?}: {out:?}, not {meant:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn samples_at_any_place() {
    let mut rng = Rng::new(7);
    for subsampling in Subsampling::ALL {
        for size in [[23, 9], [2, 40], [1, 1]] {
            let planes = Planes::random(&mut rng, subsampling, 16, size);
            // Multiples of 1/64 are exact, and those of 1/4 are left out: the nearest is not clear half way.
            let mut coordinate = |size: usize| {
                let parts = rng.below(64 * (size as u32 + 8)) as f32;
                (parts - 4.0 * 64.0) / 64.0 + 1.0 / 256.0
            };
            let places: Vec<[f32; 2]> =
                (0..200).map(|_| [coordinate(size[0]), coordinate(size[1])]).collect();
            for conversion in conversions() {
                for filter in [Filter::Nearest, Filter::Linear, Filter::Cubic] {
                    let mut out = vec![[0.0; 4]; places.len()];
                    sample(&planes.frame(), &conversion, filter, &places, &mut out).unwrap();
                    for (out, place) in out.iter().zip(&places) {
                        let meant = planes.sampled(&conversion, filter, place.map(|c| f64::from(c) - 0.5));
                        assert!(
                            close(*out, meant),
                            "{subsampling:?} {conversion:?} {filter:?} {place:?}: {out:?}, not {meant:?}"
                        );
                    }
                }
            }
        }
    }
}
