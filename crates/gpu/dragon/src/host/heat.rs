//! Heat maps: where on the screen what is spent.

use super::picture::Picture;
use crate::profile::{BinProfile, Profile};

/// What a heat map shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heat {
    /// Fragments of each pixel.
    Overdraw,
    /// Instructions of each pixel's threads.
    Instructions,
    /// Ticks of the draws of each bin.
    Bins,
    /// Ticks of the stores of each bin's tile buffers.
    Tiles,
}

impl Heat {
    /// All of them.
    pub const ALL: [Heat; 4] = [Heat::Overdraw, Heat::Instructions, Heat::Bins, Heat::Tiles];

    /// Its name, as in file names.
    pub fn name(self) -> &'static str {
        match self {
            Heat::Overdraw => "overdraw",
            Heat::Instructions => "instructions",
            Heat::Bins => "bins",
            Heat::Tiles => "tiles",
        }
    }

    /// What its numbers are.
    pub fn unit(self) -> &'static str {
        match self {
            Heat::Overdraw => "fragments of a pixel",
            Heat::Instructions => "instructions of a pixel",
            Heat::Bins => "ticks to draw a bin",
            Heat::Tiles => "ticks to store a tile",
        }
    }

    fn of(self, bin: &BinProfile, pixel: usize) -> u64 {
        match self {
            Heat::Overdraw => bin.fragments.get(pixel).copied().unwrap_or(0).into(),
            Heat::Instructions => bin.instructions.get(pixel).copied().unwrap_or(0).into(),
            Heat::Bins => bin.draw_ticks,
            Heat::Tiles => bin.store_ticks,
        }
    }
}

/// Colours from nothing to the most: black, blue, red, yellow, white.
const RAMP: [[u8; 3]; 5] = [[0, 0, 0], [40, 20, 160], [210, 40, 60], [250, 190, 40], [255, 255, 255]];
/// Rows below the picture for the scale.
const SCALE: u32 = 20;
/// Digits, five rows of three bits each, the left one highest.
const DIGITS: [[u8; 5]; 10] = [
    [7, 5, 5, 5, 7],
    [2, 6, 2, 2, 7],
    [7, 1, 7, 4, 7],
    [7, 1, 7, 1, 7],
    [5, 5, 7, 1, 1],
    [7, 4, 7, 1, 7],
    [7, 4, 7, 5, 7],
    [7, 1, 1, 1, 1],
    [7, 5, 7, 5, 7],
    [7, 5, 7, 1, 7],
];

fn color(value: u64, most: u64) -> [u8; 3] {
    let at = value as f64 / most.max(1) as f64 * (RAMP.len() - 1) as f64;
    let n = (at as usize).min(RAMP.len() - 2);
    let part = at - n as f64;
    std::array::from_fn(|c| {
        (f64::from(RAMP[n][c]) * (1.0 - part) + f64::from(RAMP[n + 1][c]) * part).round() as u8
    })
}

/// A screen of so many pixels as a heat map, and the most of what it shows, which is white. Below it is the scale: from 0 on
/// the left to that number on the right.
pub fn heat_map(profile: &Profile, screen: [u16; 2], heat: Heat) -> (Picture, u64) {
    let [width, height] = screen.map(u32::from);
    let size = profile.bin_size.max(1);
    let value = |x: u32, y: u32| {
        let bin = [x / size * size, y / size * size].map(|v| v as u16);
        let pixel = (y % size * size + x % size) as usize;
        profile.bins.get(&bin).map_or(0, |bin| heat.of(bin, pixel))
    };
    let values: Vec<u64> =
        (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| value(x, y)).collect();
    let most = values.iter().copied().max().unwrap_or(0);
    let mut rgb: Vec<u8> = values.iter().flat_map(|&v| color(v, most)).collect();
    let text = most.to_string();
    let digit = |x: u32, y: u32| {
        // Twice their size: "0" on the left, the most on the right.
        let row = y.checked_sub(8).map(|y| y / 2).filter(|y| *y < 5);
        let length = text.len() as u32 * 8;
        let at = |from: u32, digits: &[u8]| {
            let x = x.checked_sub(from)? / 2;
            let digit = digits.get(x as usize / 4).filter(|_| x % 4 < 3)?;
            let bits = DIGITS.get(usize::from(digit - b'0'))?.get(row? as usize)?;
            Some(bits >> (2 - x % 4) & 1 != 0)
        };
        at(2, b"0").unwrap_or(false) || at(width.saturating_sub(length + 2), text.as_bytes()).unwrap_or(false)
    };
    for y in 0..SCALE {
        for x in 0..width {
            let bar = y < 6;
            rgb.extend(match bar {
                true => color(u64::from(x), u64::from(width.saturating_sub(1))),
                false if digit(x, y) => [255; 3],
                false => [0; 3],
            });
        }
    }
    (Picture { width, height: height + SCALE, rgb }, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_have_the_colour_of_their_number() {
        let fragments: Vec<u32> = (0..64).collect();
        let bin = BinProfile { fragments, draw_ticks: 500, ..BinProfile::default() };
        let mut profile = Profile::default();
        profile.bin_size = 8;
        profile.bins.insert([8, 0], bin);
        let (picture, most) = heat_map(&profile, [16, 8], Heat::Overdraw);
        assert_eq!((most, picture.width, picture.height), (63, 16, 8 + SCALE));
        let pixel = |x: usize, y: usize| &picture.rgb[(y * 16 + x) * 3..][..3];
        assert_eq!((pixel(0, 0), pixel(8, 0), pixel(15, 7)), (&[0; 3][..], &[0; 3][..], &[255; 3][..]));
        assert_eq!(heat_map(&profile, [16, 8], Heat::Bins).1, 500);
    }
}
