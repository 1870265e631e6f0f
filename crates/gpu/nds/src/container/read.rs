//! Reading scene files.

use super::{ContainerError, Expectation, FIRST, Limits, Problem, Scene, VERSION};
use crate::registers::{REGISTER_BYTES, Registers};

pub(crate) type Result<T> = std::result::Result<T, ContainerError>;

pub(crate) fn error<T>(offset: usize, problem: Problem) -> Result<T> {
    Err(ContainerError { offset, problem })
}

/// A chunk of a file.
pub(crate) struct Chunk<'a> {
    pub(crate) tag: [u8; 4],
    /// Where its payload starts.
    pub(crate) offset: usize,
    pub(crate) payload: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// The chunk at `at`, which lies within the file.
    pub(crate) fn read(bytes: &'a [u8], at: usize) -> Result<Chunk<'a>> {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some((head, rest)) = rest.split_first_chunk::<8>() else {
            return error(at, Problem::Truncated(8 - rest.len()));
        };
        let [t0, t1, t2, t3, length @ ..] = *head;
        let length = u32::from_le_bytes(length) as usize;
        match rest.get(..length) {
            Some(payload) => Ok(Chunk { tag: [t0, t1, t2, t3], offset: at + 8, payload }),
            None => error(at + 8, Problem::Truncated(length - rest.len())),
        }
    }

    fn wrong_length<T>(&self) -> Result<T> {
        error(self.offset, Problem::Length { tag: self.tag, length: self.payload.len() })
    }

    fn words(&self, limit: usize) -> Result<Vec<u32>> {
        let (words, rest) = self.payload.as_chunks::<4>();
        if !rest.is_empty() {
            return self.wrong_length();
        }
        if words.len() > limit {
            return error(self.offset, Problem::Limit { what: "words", limit });
        }
        Ok(words.iter().map(|w| u32::from_le_bytes(*w)).collect())
    }

    fn text(&self) -> Result<String> {
        let contents = Problem::Contents { tag: self.tag, what: "not UTF-8" };
        String::from_utf8(self.payload.into()).map_err(|e| ContainerError {
            offset: self.offset + e.utf8_error().valid_up_to(),
            problem: contents,
        })
    }

    /// An address and bytes.
    fn block(&self) -> Result<(u32, Vec<u8>)> {
        match self.payload.split_first_chunk::<4>() {
            Some((address, bytes)) => Ok((u32::from_le_bytes(*address), bytes.into())),
            None => self.wrong_length(),
        }
    }
}

impl Scene {
    /// Reads an unpacked file.
    ///
    /// # Errors
    /// With the offset in `bytes`, if it is not a scene, is damaged or exceeds `limits`.
    pub fn from_bytes(bytes: &[u8], limits: &Limits) -> Result<Scene> {
        if !bytes.starts_with(&FIRST) {
            return error(0, Problem::Magic(FIRST));
        }
        if bytes.len() > limits.bytes {
            return error(limits.bytes, Problem::Limit { what: "bytes", limit: limits.bytes });
        }
        let mut scene = Scene::default();
        let (mut at, mut chunks) = (0, 0);
        while at < bytes.len() {
            let chunk = Chunk::read(bytes, at)?;
            chunks += 1;
            if chunks > limits.chunks {
                return error(at, Problem::Limit { what: "chunks", limit: limits.chunks });
            }
            scene.take(&chunk, limits)?;
            at = chunk.offset + chunk.payload.len();
        }
        Ok(scene)
    }

    fn take(&mut self, chunk: &Chunk, limits: &Limits) -> Result<()> {
        match &chunk.tag {
            b"NDSF" => match *chunk.payload {
                [a, b, c, d] => match u32::from_le_bytes([a, b, c, d]) {
                    VERSION => {}
                    version => return error(chunk.offset, Problem::Version(version)),
                },
                _ => return chunk.wrong_length(),
            },
            b"META" => self.meta = chunk.text()?,
            b"REGS" => match <&[u8; REGISTER_BYTES]>::try_from(chunk.payload) {
                Ok(bytes) => self.registers = Registers::from_bytes(bytes),
                Err(_) => return chunk.wrong_length(),
            },
            b"TEXR" => {
                let name = chunk.text()?;
                let name = name.trim_end_matches('\0');
                // It becomes a part of a path.
                if name.is_empty()
                    || !name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-')
                {
                    let what = "not a plain name";
                    return error(chunk.offset, Problem::Contents { tag: chunk.tag, what });
                }
                self.memory = Some(name.into());
            }
            b"TEXW" => self.textures.push(chunk.block()?),
            b"PALW" => self.palettes.push(chunk.block()?),
            b"GXST" => self.stream = chunk.words(limits.words)?,
            b"PRBI" => {
                self.probes = chunk.words(limits.words)?;
                if !self.probes.is_sorted() {
                    let what = "word counts do not ascend";
                    return error(chunk.offset, Problem::Contents { tag: chunk.tag, what });
                }
            }
            [b'X', ..] => {
                self.expected.push(Expectation { tag: chunk.tag, bytes: chunk.payload.into() });
            }
            tag if self.unknown.contains(tag) => {}
            tag => self.unknown.push(*tag),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene() -> Scene {
        Scene {
            meta: "name=x\nabout=y".into(),
            memory: Some("va".into()),
            textures: vec![(4, vec![1, 2, 3])],
            stream: vec![0x50, 0],
            probes: vec![1, 2],
            expected: vec![Expectation { tag: *b"XORD", bytes: vec![0, 0] }],
            ..Scene::default()
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = scene().to_bytes();
        assert_eq!(Scene::from_bytes(&bytes, &Limits::default()), Ok(scene()));
        assert_eq!(scene().meta("about"), Some("y"));
    }

    #[test]
    fn errors_have_offsets() {
        let bytes = scene().to_bytes();
        let read = |bytes: &[u8]| Scene::from_bytes(bytes, &Limits::default()).unwrap_err();
        assert_eq!(read(b"XXXX").problem, Problem::Magic(FIRST));
        let cut = read(&bytes[..bytes.len() - 1]);
        assert_eq!((cut.offset, cut.problem), (bytes.len() - 2, Problem::Truncated(1)));
        let mut later = bytes.clone();
        later[8] = 2;
        assert_eq!(read(&later), ContainerError { offset: 8, problem: Problem::Version(2) });
        let path = Scene { memory: Some("../x".into()), ..Scene::default() };
        assert!(matches!(read(&path.to_bytes()).problem, Problem::Contents { tag: [b'T', ..], .. }));
    }

    #[test]
    fn tags_of_chunks_that_are_skipped_are_kept() {
        let extra = |tag: &[u8; 4]| [&tag[..], &[1, 0, 0, 0, 7]].concat();
        let bytes = [scene().to_bytes(), extra(b"WRIT"), extra(b"MEMW"), extra(b"WRIT")].concat();
        let read = Scene::from_bytes(&bytes, &Limits::default()).unwrap();
        assert_eq!(read.unknown, [*b"WRIT", *b"MEMW"]);
    }

    #[test]
    fn limits_hold() {
        let bytes = scene().to_bytes();
        let limits = Limits { words: 1, ..Limits::default() };
        let error = Scene::from_bytes(&bytes, &limits).unwrap_err();
        assert_eq!(error.problem, Problem::Limit { what: "words", limit: 1 });
        assert!(Scene::from_bytes(&bytes, &Limits { chunks: 2, ..Limits::default() }).is_err());
        assert!(Scene::from_bytes(&bytes, &Limits { bytes: 8, ..Limits::default() }).is_err());
    }
}
