//! What came of a scene of whole pictures, beside what should.

use super::{Expected, Player, Whole};
use crate::video::{Picture, Video};

/// A row's colours as bytes.
fn row_bytes(row: &[u32; 256]) -> Vec<u8> {
    row.iter().flat_map(|color| color.to_le_bytes()).collect()
}

fn screen_name(screen: u8) -> &'static str {
    if screen == 0 { "upper screen" } else { "lower screen" }
}

fn rows(picture: &Picture, screen: u8, sums: &[u32]) -> Option<String> {
    let differ = |(row, sum): (&[u32; 256], &u32)| crc32fast::hash(&row_bytes(row)) != *sum;
    let count = picture.iter().zip(sums).filter(|&pair| differ(pair)).count();
    let first = picture.iter().zip(sums).position(differ)?;
    Some(format!("{}: {count} rows differ, first {first}", screen_name(screen)))
}

fn pixels(picture: &Picture, screen: u8, colors: &[u32]) -> Option<String> {
    let pairs = || picture.as_flattened().iter().zip(colors);
    let at = pairs().position(|(got, wanted)| got != wanted)?;
    let count = pairs().filter(|(got, wanted)| got != wanted).count();
    let (got, wanted) = pairs().nth(at)?;
    let place = format!("{}, {}", at % 256, at / 256);
    Some(format!(
        "{}: {count} pixels differ, first {place}: {got:05x}, expected {wanted:05x}",
        screen_name(screen)
    ))
}

fn memory(video: &Video, bank: u8, offset: u32, halves: &[u16]) -> Option<String> {
    let bytes = video.vram().bank(bank.into()).get(offset as usize..).unwrap_or_default();
    let got = bytes.as_chunks::<2>().0;
    let name = char::from(b'A' + bank % 9);
    if got.len() < halves.len() {
        return Some(format!(
            "bank {name}: {} bytes are expected beyond its end",
            2 * (halves.len() - got.len())
        ));
    }
    let differ = |(got, wanted): (&[u8; 2], &u16)| u16::from_le_bytes(*got) != *wanted;
    let at = got.iter().zip(halves).position(differ)?;
    let count = got.iter().zip(halves).filter(|&pair| differ(pair)).count();
    let (got, wanted) = got.iter().zip(halves).nth(at)?;
    let (got, place) = (u16::from_le_bytes(*got), offset as usize + 2 * at);
    Some(format!(
        "bank {name}: {count} halfwords differ, first at {place:#x}: {got:04x}, expected {wanted:04x}"
    ))
}

impl Whole {
    /// How a frame that was just played differs from what is expected of it: the first difference of each chunk. A chunk that is
    /// not known counts as a difference: nobody has looked at what it asks for or expects.
    fn frame_differences(&self, number: u32, video: &mut Video) -> Vec<String> {
        let mut out = Vec::new();
        for expected in &self.expected {
            out.extend(match expected {
                Expected::Rows { frame, screen, sums } if *frame == number => {
                    rows(video.screen((*screen).into()), *screen, sums)
                }
                Expected::Pixels { frame, screen, colors } if *frame == number => {
                    pixels(video.screen((*screen).into()), *screen, colors)
                }
                Expected::Memory { frame, bank, offset, halves } if *frame == number => {
                    memory(video, *bank, *offset, halves)
                }
                Expected::Sums { frame, banks, capture } if *frame == number => {
                    let sums: [u32; 9] = std::array::from_fn(|bank| crc32fast::hash(video.vram().bank(bank)));
                    let name = |at: usize| char::from(b'A' + at as u8);
                    let read = video.capture_control().0;
                    match sums.iter().zip(banks).position(|(got, wanted)| got != wanted) {
                        Some(at) => Some(format!("bank {} differs", name(at))),
                        None => (read != *capture)
                            .then(|| format!("DISPCAPCNT is {read:08x}, expected {capture:08x}")),
                    }
                }
                _ => None,
            });
        }
        out.into_iter().map(|what| format!("frame {number}: {what}")).collect()
    }
}

impl Player<'_> {
    /// Plays all frames; how they differ from what is expected. A scene that expects nothing differs.
    ///
    /// # Errors
    /// If the renderer fails.
    pub fn differences<R: crate::video::Rasterizer>(
        &mut self,
        rasterizer: &mut R,
    ) -> Result<Vec<String>, super::PlayError>
    where
        R::Error: std::fmt::Display,
    {
        let whole = self.whole();
        let unknown = whole.expected.iter().filter_map(|expected| match expected {
            Expected::Unknown(tag) => Some(tag),
            _ => None,
        });
        let mut out: Vec<String> = unknown
            .chain(&whole.unknown)
            .map(|tag| format!("chunk {} is not known", tag.escape_ascii()))
            .collect();
        if whole.expected.is_empty() {
            out.push("the scene expects nothing".into());
        }
        for _ in 0..whole.frames {
            let number = self.frame(rasterizer)?;
            out.extend(whole.frame_differences(number, &mut self.video));
        }
        Ok(out)
    }
}
