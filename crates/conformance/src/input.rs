//! Reading suites from files and folders; files may be zstd-compressed.

use crate::Error;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Most bytes a file may unpack to.
pub const MAX_BYTES: u64 = 1 << 30;

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The bytes of a file, unpacked if they are zstd.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let io = |source| Error::Io { path: path.into(), source };
    let file = std::fs::File::open(path).map_err(io)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Error::TooLarge { path: path.into() });
    }
    if bytes.starts_with(&ZSTD_MAGIC) { unpack(&bytes, path) } else { Ok(bytes) }
}

/// The contents of a file, unpacked if they are zstd.
pub fn unpack(bytes: &[u8], path: &Path) -> Result<Vec<u8>, Error> {
    if !bytes.starts_with(&ZSTD_MAGIC) {
        return Ok(bytes.into());
    }
    let unpacked = ruzstd::decoding::StreamingDecoder::new(bytes)
        .map_err(|e| Error::Zstd { path: path.into(), reason: e.to_string() })?;
    let mut out = Vec::new();
    unpacked
        .take(MAX_BYTES + 1)
        .read_to_end(&mut out)
        .map_err(|e| Error::Zstd { path: path.into(), reason: e.to_string() })?;
    if out.len() as u64 > MAX_BYTES {
        return Err(Error::TooLarge { path: path.into() });
    }
    Ok(out)
}

/// `path` itself if it is a file, else the files directly in it, by name.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let io = |source| Error::Io { path: path.into(), source };
    if !std::fs::metadata(path).map_err(io)?.is_dir() {
        return Ok(vec![path.into()]);
    }
    let mut out = Vec::new();
    for entry in std::fs::read_dir(path).map_err(io)? {
        let entry = entry.map_err(io)?;
        if entry.path().is_file() {
            out.push(entry.path());
        }
    }
    out.sort();
    Ok(out)
}

/// The unpacked files at `path` that start with `magic`. A file named as such must; in a folder others are passed over.
pub fn with_magic(path: &Path, magic: &[u8]) -> Result<Vec<(PathBuf, Vec<u8>)>, Error> {
    let files = files(path)?;
    let named = files.len() == 1 && files.first().is_some_and(|f| f == path);
    let mut out = Vec::new();
    for file in files {
        let bytes = match read(&file) {
            Ok(bytes) => bytes,
            Err(e) if named => return Err(e),
            Err(_) => continue,
        };
        if bytes.starts_with(magic) {
            out.push((file, bytes));
        }
    }
    if out.is_empty() {
        let magic = String::from_utf8_lossy(magic).into_owned();
        return Err(Error::NoVectors { path: path.into(), magic });
    }
    Ok(out)
}

/// A cursor over hostile little-endian bytes.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// A cursor at the start.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    /// Bytes read so far.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The next `n` bytes.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Error> {
        let slice = self.at.checked_add(n).and_then(|end| self.bytes.get(self.at..end));
        let slice = slice.ok_or(Error::Truncated { offset: self.at, needed: n })?;
        self.at += n;
        Ok(slice)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    /// A byte.
    pub fn u8(&mut self) -> Result<u8, Error> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    /// Two bytes.
    pub fn u16(&mut self) -> Result<u16, Error> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Four bytes.
    pub fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Eight bytes.
    pub fn u64(&mut self) -> Result<u64, Error> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// `n` words of four bytes.
    pub fn words(&mut self, n: usize) -> Result<Vec<u32>, Error> {
        let bytes = n.checked_mul(4).ok_or(Error::Truncated { offset: self.at, needed: n })?;
        let words = self.take(bytes)?.chunks_exact(4);
        Ok(words.map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect())
    }
}
