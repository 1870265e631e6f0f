//! Reading scenes of whole pictures.

use super::{Expected, FIRST, Limits, LineWrite, Piece, Region, Source, VERSION, Whole, Write};
use crate::container::Problem;
use crate::container::read::{self, Result, error};

/// Pixels of a picture.
const PIXELS: usize = 256 * 192;

/// What is left of a chunk's payload.
struct Chunk<'a> {
    tag: [u8; 4],
    /// Where in the file `rest` starts.
    offset: usize,
    rest: &'a [u8],
}

impl<'a> Chunk<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let Some((head, rest)) = self.rest.split_first_chunk::<N>() else { return self.wrong_length() };
        (self.rest, self.offset) = (rest, self.offset + N);
        Ok(*head)
    }

    fn slice(&mut self, length: usize) -> Result<&'a [u8]> {
        let Some((head, rest)) = self.rest.split_at_checked(length) else { return self.wrong_length() };
        (self.rest, self.offset) = (rest, self.offset + length);
        Ok(head)
    }

    fn word(&mut self) -> Result<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn wrong_length<T>(&self) -> Result<T> {
        error(self.offset, Problem::Length { tag: self.tag, length: self.rest.len() })
    }

    fn contents<T>(&self, what: &'static str) -> Result<T> {
        error(self.offset, Problem::Contents { tag: self.tag, what })
    }

    fn end(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { self.wrong_length() }
    }

    fn text(&mut self) -> Result<String> {
        match std::str::from_utf8(self.rest) {
            Ok(text) => Ok(text.into()),
            Err(_) => self.contents("not UTF-8"),
        }
    }

    fn words(&mut self) -> Result<Vec<u32>> {
        match self.rest.as_chunks() {
            (words, []) => Ok(words.iter().map(|&word| u32::from_le_bytes(word)).collect()),
            _ => self.wrong_length(),
        }
    }

    fn write(&mut self) -> Result<Write> {
        let (address, value) = (self.word()?, self.word()?);
        let [bytes, ..] = self.take::<4>()?;
        match bytes {
            1 | 2 | 4 => Ok(Write { address, value, bytes }),
            _ => self.contents("a write that is not of 1, 2 or 4 bytes"),
        }
    }

    fn region(&mut self) -> Result<Region> {
        let [region, ..] = self.take::<4>()?;
        Region::new(region).map_or_else(|| self.contents("no such memory"), Ok)
    }

    /// Values by a table of them: `read` reads one.
    fn indexed<T: Copy>(&mut self, count: usize, read: fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let colors = self.word()? as usize;
        // Each has at least two bytes in the file.
        if colors > self.rest.len() || colors > 0x10000 {
            return self.contents("more values than bytes");
        }
        let table = (0..colors).map(|_| read(self)).collect::<Result<Vec<T>>>()?;
        let low = self.slice(count)?;
        let high = if colors > 256 { self.slice(count)? } else { &[] };
        let value = |i: usize| {
            let high = high.get(i).map_or(0, |&high| usize::from(high) << 8);
            table.get(low.get(i).map_or(0, |&low| usize::from(low)) | high).copied()
        };
        (0..count).map(value).collect::<Option<Vec<T>>>().map_or_else(|| self.contents("no such value"), Ok)
    }
}

impl Whole {
    /// Reads an unpacked file.
    ///
    /// # Errors
    /// With the offset in `bytes`, if it is not a scene of whole pictures, is damaged or exceeds `limits`.
    pub fn from_bytes(bytes: &[u8], limits: &Limits) -> Result<Whole> {
        if !bytes.starts_with(&FIRST) {
            return error(0, Problem::Magic(FIRST));
        }
        if bytes.len() > limits.bytes {
            return error(limits.bytes, Problem::Limit { what: "bytes", limit: limits.bytes });
        }
        let mut whole = Whole::default();
        let (mut at, mut chunks) = (0, 0);
        while at < bytes.len() {
            let read::Chunk { tag, offset, payload } = read::Chunk::read(bytes, at)?;
            chunks += 1;
            if chunks > limits.chunks {
                return error(at, Problem::Limit { what: "chunks", limit: limits.chunks });
            }
            whole.take(&mut Chunk { tag, offset, rest: payload }, limits)?;
            at = offset + payload.len();
        }
        Ok(whole)
    }

    fn take(&mut self, chunk: &mut Chunk, limits: &Limits) -> Result<()> {
        match &chunk.tag {
            b"ND2D" => match chunk.word()? {
                VERSION => {}
                version => return error(chunk.offset - 4, Problem::Version(version)),
            },
            b"META" => {
                self.meta = chunk.text()?;
                let frames = self.meta("frames").and_then(|frames| frames.parse().ok());
                let Some(frames) = frames else { return chunk.contents("no number of frames") };
                if frames > limits.frames {
                    let limit = limits.frames as usize;
                    return error(chunk.offset, Problem::Limit { what: "frames", limit });
                }
                self.frames = frames;
            }
            b"MEMR" => {
                let (region, offset) = (chunk.region()?, chunk.word()?);
                let (from, length) = (chunk.word()?, chunk.word()?);
                let name = chunk.text()?;
                // It becomes a part of a path.
                if name.is_empty()
                    || !name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-')
                {
                    return chunk.contents("not a plain name");
                }
                self.piece(chunk, region, offset, length, Source::Image { name, offset: from, length })?;
            }
            b"MEMW" => {
                let (region, offset) = (chunk.region()?, chunk.word()?);
                let bytes = chunk.rest.to_vec();
                self.piece(chunk, region, offset, bytes.len() as u32, Source::Bytes(bytes))?;
            }
            b"REGI" => {
                while !chunk.rest.is_empty() {
                    self.start.push(chunk.write()?);
                }
            }
            b"WRIT" => {
                while !chunk.rest.is_empty() {
                    let [f0, f1, l0, l1] = chunk.take()?;
                    let (frame, line) = (i16::from_le_bytes([f0, f1]), u16::from_le_bytes([l0, l1]));
                    let write = chunk.write()?;
                    self.writes.push(LineWrite { frame, line, write });
                }
                if !self.writes.is_sorted_by_key(|w| (w.frame, w.line)) {
                    return chunk.contents("writes are not in order");
                }
            }
            b"GXST" => {
                let frame = chunk.word()?;
                self.streams.push((frame, chunk.words()?));
            }
            b"FIFO" => {
                let frame = chunk.word()?;
                let pixels =
                    chunk.slice(2 * PIXELS)?.as_chunks().0.iter().map(|&pair| u16::from_le_bytes(pair));
                self.display.push((frame, pixels.collect()));
                chunk.end()?;
            }
            b"XROW" => {
                let [frame, screen, _, _] = chunk.take()?;
                let sums = chunk.words()?;
                if sums.len() != 192 {
                    return chunk.wrong_length();
                }
                self.expected.push(Expected::Rows { frame: frame.into(), screen, sums });
            }
            b"XPIX" => {
                let [frame, screen, _, _] = chunk.take()?;
                let colors = chunk.indexed(PIXELS, Chunk::word)?;
                self.expected.push(Expected::Pixels { frame: frame.into(), screen, colors });
                chunk.end()?;
            }
            b"XVRM" => {
                let [frame, bank, _, _] = chunk.take()?;
                let (offset, length) = (chunk.word()?, chunk.word()?);
                if length > 0x20000 {
                    return chunk.contents("more than a bank");
                }
                let half = |chunk: &mut Chunk| chunk.take().map(u16::from_le_bytes);
                let halves = chunk.indexed(length as usize / 2, half)?;
                self.expected.push(Expected::Memory { frame: frame.into(), bank, offset, halves });
                chunk.end()?;
            }
            b"XSUM" => {
                let frame = chunk.word()?;
                let Ok(words) = <[u32; 10]>::try_from(chunk.words()?) else { return chunk.wrong_length() };
                let [banks @ .., capture] = words;
                self.expected.push(Expected::Sums { frame, banks, capture });
            }
            tag @ [b'X', ..] => self.expected.push(Expected::Unknown(*tag)),
            tag if self.unknown.contains(tag) => {}
            tag => self.unknown.push(*tag),
        }
        Ok(())
    }

    fn piece(
        &mut self,
        chunk: &Chunk,
        region: Region,
        offset: u32,
        length: u32,
        source: Source,
    ) -> Result<()> {
        if offset.checked_add(length).is_none_or(|end| end > region.size()) {
            return chunk.contents("beyond the end of its memory");
        }
        self.memory.push(Piece { region, offset, source });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(tag: &[u8; 4], payload: &[u8]) -> Vec<u8> {
        [&tag[..], &(payload.len() as u32).to_le_bytes(), payload].concat()
    }

    fn read(chunks: &[Vec<u8>]) -> Result<Whole> {
        let bytes = [vec![chunk(b"ND2D", &[1, 0, 0, 0])], chunks.to_vec()].concat().concat();
        Whole::from_bytes(&bytes, &Limits::default())
    }

    #[test]
    fn writes_and_memory_are_read() {
        let write = [4, 3, 2, 1, 8, 7, 6, 5, 4, 0, 0, 0];
        let at = [&[0xff, 0xff, 200, 0][..], &write].concat();
        let whole = read(&[
            chunk(b"META", b"name=x\nframes=2"),
            chunk(b"MEMW", &[9, 0, 0, 0, 4, 0, 0, 0, 1, 2]),
            chunk(b"REGI", &write),
            chunk(b"WRIT", &at),
        ])
        .unwrap();
        let write = Write { address: 0x1020304, value: 0x5060708, bytes: 4 };
        assert_eq!((whole.frames, &whole.start[..]), (2, &[write][..]));
        assert_eq!(whole.writes, [LineWrite { frame: -1, line: 200, write }]);
        assert_eq!(whole.memory[0].region, Region::Palettes);
    }

    #[test]
    fn errors_have_offsets() {
        let problem = |chunks: &[Vec<u8>]| read(chunks).unwrap_err();
        assert_eq!(problem(&[chunk(b"REGI", &[0; 11])]).offset, 20 + 8);
        assert!(matches!(
            problem(&[chunk(b"MEMW", &[10, 0, 0, 0, 0xff, 7, 0, 0, 1, 2])]).problem,
            Problem::Contents { tag: [b'M', ..], .. }
        ));
        assert!(matches!(problem(&[chunk(b"META", b"frames=5000")]).problem, Problem::Limit { .. }));
        assert_eq!(Whole::from_bytes(b"ND2", &Limits::default()).unwrap_err().problem, Problem::Magic(FIRST));
    }
}
