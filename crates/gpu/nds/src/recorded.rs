//! Pixels recorded on a console: the chunk `XSPN` of scene files (`vectors/nds-console/FORMAT.md`).

use crate::raster::Frame;
use crate::raster::buffers::{HEIGHT, WIDTH};

/// A reader of the chunk.
struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn u8(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes([self.u8()?, self.u8()?]))
    }
}

/// What is recorded of a pixel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Recorded {
    Black,
    Lit,
    /// A colour, as far as the mask says.
    Color(u16),
}

/// The pixels of all rows, and the mask of the colours' bits that are recorded; `None` if the chunk is damaged.
fn read(bytes: &[u8]) -> Option<(Vec<[Recorded; WIDTH]>, u16)> {
    let mut reader = Reader { rest: bytes };
    reader.u16()?;
    let mask = reader.u16()?;
    let mut rows = Vec::with_capacity(HEIGHT);
    for _ in 0..HEIGHT {
        let mut row = [Recorded::Black; WIDTH];
        for _ in 0..reader.u8()? {
            let (first, last, known) = (reader.u8()?, reader.u8()?, reader.u8()?);
            for x in first..=last {
                let color = if known == 1 { Recorded::Color(reader.u16()?) } else { Recorded::Lit };
                row[usize::from(x)] = color;
            }
        }
        rows.push(row);
    }
    reader.rest.is_empty().then_some((rows, mask))
}

/// A colour of the frame in 15 bits.
fn rgb555(color: u32) -> u16 {
    let [red, green, blue, _] = color.to_le_bytes().map(|c| u16::from(c >> 1 & 31));
    red | green << 5 | blue << 10
}

/// How a frame differs from what a chunk recorded.
pub(crate) fn difference(bytes: &[u8], frame: &dyn Frame) -> Option<String> {
    let Some((rows, mask)) = read(bytes) else { return Some("recorded pixels: the chunk is damaged".into()) };
    let mut wrong = Vec::new();
    for (y, recorded) in rows.iter().enumerate() {
        let Some(row) = frame.row(y) else { return Some(format!("recorded pixels: there is no row {y}")) };
        for (x, recorded) in recorded.iter().enumerate() {
            let color = row.color.get(x).map_or(0, |&color| rgb555(color));
            let is_right = match *recorded {
                Recorded::Black => color == 0,
                Recorded::Lit => color != 0,
                Recorded::Color(wanted) => color != 0 && color & mask == wanted,
            };
            if !is_right {
                wrong.push([x, y]);
            }
        }
    }
    let [x, y] = wrong.first()?;
    Some(format!("recorded pixels: {} differ, first {x}, {y}", wrong.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raster::Renderer;
    use proptest::prelude::*;

    /// A recording whose first row is lit from `first` to `last`.
    fn lit(first: u8, last: u8) -> Vec<u8> {
        let mut bytes = vec![0, 0, 0, 0, 1, first, last, 0];
        bytes.resize(bytes.len() + HEIGHT - 1, 0);
        bytes
    }

    #[test]
    fn an_empty_frame_differs_where_pixels_are_lit() {
        let frame = Renderer::default();
        let said = difference(&lit(3, 5), &frame).unwrap();
        assert_eq!(said, "recorded pixels: 3 differ, first 3, 0");
        assert_eq!(difference(&[&[0, 0, 0, 0][..], &[0; HEIGHT]].concat(), &frame), None);
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(256))]

        #[test]
        fn any_bytes_are_compared_or_damaged(bytes: Vec<u8>, cut in 0usize..300) {
            let frame = Renderer::default();
            difference(&bytes, &frame);
            let recording = lit(0, 255);
            if cut < recording.len() {
                prop_assert_eq!(
                    difference(&recording[..cut], &frame).unwrap(),
                    "recorded pixels: the chunk is damaged"
                );
            }
        }
    }
}
