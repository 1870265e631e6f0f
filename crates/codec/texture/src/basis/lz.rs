//! BasisLZ: pictures of ETC1S as codes for two tables that all pictures of a file share, one of colours with the
//! distances of their shades, one of the shades that sixteen texels have.

pub use super::huffman::Error;
use super::huffman::{Bits, Table};

/// Most shades that are remembered.
const MAX_HISTORY: usize = 1 << 13;

/// The symbol of the places of colours that says that the last one is repeated.
const REPEAT: u32 = 256;
const FEWEST_REPEATS: u32 = 3;

/// The longest run of shades that is a symbol; longer ones follow in chunks.
const LONGEST_RUN: u32 = 63;
const SHORTEST_RUN: u32 = 3;

/// A colour of five bits each of red, green and blue, and the table of modifiers.
#[derive(Clone, Copy)]
struct Endpoint {
    color: [u8; 3],
    modifiers: u8,
}

/// What all pictures of a file share.
pub struct Codebook {
    /// First four bytes of blocks.
    endpoints: Vec<[u8; 4]>,
    /// Last four bytes of blocks.
    selectors: Vec<[u8; 4]>,
    places: Table,
    steps: Table,
    shades: Table,
    runs: Table,
    history: usize,
}

/// The parts of a file that a [`Codebook`] is made of.
pub struct Sections<'a> {
    pub endpoint_count: u16,
    pub endpoints: &'a [u8],
    pub selector_count: u16,
    pub selectors: &'a [u8],
    pub tables: &'a [u8],
}

impl Codebook {
    pub fn new(sections: &Sections<'_>) -> Result<Codebook, Error> {
        let endpoints = endpoints(sections.endpoints, sections.endpoint_count.into())?;
        let selectors = selectors(sections.selectors, sections.selector_count.into())?;
        let mut bits = Bits::new(sections.tables);
        let [places, steps, shades, runs] = [
            Table::read(&mut bits)?,
            Table::read(&mut bits)?,
            Table::read(&mut bits)?,
            Table::read(&mut bits)?,
        ];
        let history = bits.take(13)? as usize;
        Ok(Codebook { endpoints, selectors, places, steps, shades, runs, history })
    }

    /// Bytes that it holds.
    pub fn held_bytes(sections: &Sections<'_>) -> usize {
        // The tables of codes are of bounded size.
        (usize::from(sections.endpoint_count) + usize::from(sections.selector_count)) * 4 + (1 << 19)
    }
}

/// Colours, each as the difference from the last: of a model for how bright that was.
fn endpoints(data: &[u8], count: usize) -> Result<Vec<[u8; 4]>, Error> {
    let mut bits = Bits::new(data);
    let models = [Table::read(&mut bits)?, Table::read(&mut bits)?, Table::read(&mut bits)?];
    let modifiers = Table::read(&mut bits)?;
    let is_grey = bits.take(1)? == 1;
    let mut last = Endpoint { color: [16; 3], modifiers: 0 };
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        last.modifiers = (u32::from(last.modifiers) + bits.symbol(&modifiers)?) as u8 & 7;
        for component in last.color.iter_mut().take(if is_grey { 1 } else { 3 }) {
            let [dark, middle, bright] = &models;
            let model = match *component {
                0..=9 => dark,
                10..=21 => middle,
                _ => bright,
            };
            *component = (u32::from(*component) + bits.symbol(model)?) as u8 & 31;
        }
        if is_grey {
            last.color = [last.color[0]; 3];
        }
        all.push(last.bytes());
    }
    Ok(all)
}

impl Endpoint {
    /// The first half of a block of ETC1: differential without a difference, the same modifiers on both sides.
    fn bytes(self) -> [u8; 4] {
        let [r, g, b] = self.color.map(|c| c << 3);
        [r, g, b, self.modifiers << 5 | self.modifiers << 2 | 0b10]
    }
}

/// Shades of texels, each row as its difference from that of the last.
fn selectors(data: &[u8], count: usize) -> Result<Vec<[u8; 4]>, Error> {
    let mut bits = Bits::new(data);
    if bits.take(2)? != 0 {
        return Err(Error::Table);
    }
    let is_raw = bits.take(1)? == 1;
    let model = if is_raw { None } else { Some(Table::read(&mut bits)?) };
    let mut rows = [0u8; 4];
    let mut all = Vec::with_capacity(count);
    for i in 0..count {
        for row in &mut rows {
            *row = match &model {
                Some(model) if i > 0 => *row ^ bits.symbol(model)? as u8,
                _ => bits.take(8)? as u8,
            };
        }
        all.push(shades(rows));
    }
    Ok(all)
}

/// The second half of a block of ETC1: of each texel, column by column, the high bits and then the low ones.
fn shades(rows: [u8; 4]) -> [u8; 4] {
    /// The codes of ETC1 from the darkest up.
    const CODES: [u32; 4] = [0b11, 0b10, 0b00, 0b01];
    let mut word = 0;
    for (y, row) in rows.into_iter().enumerate() {
        for x in 0..4 {
            let code = CODES[usize::from(row >> (2 * x) & 3)];
            let texel = 4 * x + y;
            word |= (code & 1) << texel | (code >> 1) << (16 + texel);
        }
    }
    word.to_be_bytes()
}

/// Numbers of a picture's colours and shades, for the next frame of a film, whose blocks may be those of the last.
#[derive(Default)]
pub struct Frame(Vec<[u16; 2]>);

impl Codebook {
    /// Unpacks a picture of `width` by `height` blocks: `put` is given the number of each block and the block.
    /// `last` is the frame before and becomes this one; it holds four bytes a block if `is_film`.
    pub fn picture(
        &self,
        data: &[u8],
        [width, height]: [usize; 2],
        film: Option<(&mut Frame, bool)>,
        mut put: impl FnMut(usize, [u8; 8]),
    ) -> Result<(), Error> {
        let mut bits = Bits::new(data);
        // Two rows of numbers of colours.
        let (mut above, mut row) = (vec![0u16; width], vec![0u16; width]);
        let mut later = vec![0u8; width.div_ceil(2)];
        let (mut places, mut last_places, mut repeats) = (0, 0, 0);
        let mut endpoint = 0u32;
        let mut shades = Shades::new(self.history);
        let (mut frame, is_difference) = match film {
            Some((frame, is_difference)) => (Some(frame), is_difference),
            None => (None, false),
        };
        if let Some(frame) = &mut frame {
            frame.0.resize(width * height, [0; 2]);
        }
        for y in 0..height {
            for x in 0..width {
                if x % 2 == 0 {
                    let later = later.get_mut(x / 2).ok_or(Error::Reference)?;
                    if y % 2 == 1 {
                        places = (*later).into();
                    } else {
                        if repeats > 0 {
                            repeats -= 1;
                            places = last_places;
                        } else {
                            places = bits.symbol(&self.places)?;
                            if places == REPEAT {
                                repeats = bits.chunks(4)?.saturating_add(FEWEST_REPEATS - 1);
                                places = last_places;
                            } else {
                                last_places = places;
                            }
                        }
                        *later = (places >> 4) as u8;
                    }
                }
                let place = places & 3;
                places >>= 2;
                let number = y * width + x;
                let mut selector = None;
                endpoint = match place {
                    0 if x > 0 => endpoint,
                    1 if y > 0 => above[x].into(),
                    2 if is_difference => {
                        let [endpoint, same] = frame
                            .as_ref()
                            .and_then(|frame| frame.0.get(number))
                            .copied()
                            .ok_or(Error::Reference)?;
                        selector = Some(u32::from(same));
                        endpoint.into()
                    }
                    2 if x > 0 && y > 0 => above[x - 1].into(),
                    3 => {
                        let next = endpoint + bits.symbol(&self.steps)?;
                        let count = self.endpoints.len() as u32;
                        if next >= count { next - count.min(next) } else { next }
                    }
                    _ => return Err(Error::Reference),
                };
                let selector = match selector {
                    Some(same) => same,
                    None => shades.next(&mut bits, self)?,
                };
                row[x] = endpoint as u16;
                if let Some(last) = frame.as_mut().and_then(|frame| frame.0.get_mut(number)) {
                    *last = [endpoint as u16, selector as u16];
                }
                let color = self.endpoints.get(endpoint as usize).ok_or(Error::Reference)?;
                let shades = self.selectors.get(selector as usize).ok_or(Error::Reference)?;
                let ([a, b, c, d], [e, f, g, h]) = (*color, *shades);
                put(number, [a, b, c, d, e, f, g, h]);
            }
            core::mem::swap(&mut above, &mut row);
        }
        Ok(())
    }
}

/// The shades used of late, the most used in front.
struct Shades {
    /// Numbers of shades.
    recent: Vec<u32>,
    /// Where the next new one is put: in the second half.
    next: usize,
    /// How often the one in front is used again.
    run: u32,
}

impl Shades {
    fn new(size: usize) -> Shades {
        let size = size.min(MAX_HISTORY);
        Shades { recent: vec![0; size], next: size / 2, run: 0 }
    }

    fn next(&mut self, bits: &mut Bits<'_>, codebook: &Codebook) -> Result<u32, Error> {
        let count = codebook.selectors.len() as u32;
        let mut symbol = count;
        if self.run > 0 {
            self.run -= 1;
        } else {
            symbol = bits.symbol(&codebook.shades)?;
            if symbol == count + self.recent.len() as u32 {
                let run = match bits.symbol(&codebook.runs)? {
                    LONGEST_RUN => bits.chunks(7)?,
                    run => run,
                };
                self.run = run.saturating_add(SHORTEST_RUN - 1);
                symbol = count;
            }
        }
        let Some(at) = symbol.checked_sub(count) else {
            if let Some(place) = self.recent.get_mut(self.next) {
                *place = symbol;
                self.next += 1;
                if self.next == self.recent.len() {
                    self.next = self.recent.len() / 2;
                }
            }
            return Ok(symbol);
        };
        let at = at as usize;
        let found = *self.recent.get(at).ok_or(Error::Reference)?;
        // Half way to the front each time.
        self.recent.swap(at / 2, at);
        Ok(found)
    }
}
