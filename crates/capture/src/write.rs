//! A capture as bytes and as a file.

use crate::chunk;
use crate::{Capture, Error, MAGIC, VERSION};
use std::io::Write;
use std::path::Path;

/// Bytes of operations per chunk: what is lost at most where a file is damaged.
const PIECE: usize = 1 << 16;

impl Capture {
    /// The file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&self.machine);
        let info = serde_json::to_vec(&self.info).unwrap_or_default();
        chunk::write(&mut out, *b"INFO", &info);
        let registers: Vec<u8> =
            self.registers.iter().flat_map(|(n, v)| [n.to_le_bytes(), v.to_le_bytes()]).flatten().collect();
        chunk::write(&mut out, *b"REGS", &registers);
        for block in &self.memory {
            chunk::write(
                &mut out,
                *b"MEMB",
                &[&block.address.to_le_bytes(), block.bytes.as_slice()].concat(),
            );
        }
        for piece in self.ops.pieces(PIECE) {
            chunk::write(&mut out, *b"OPER", piece);
        }
        for frame in &self.frames {
            let head = [frame.index, frame.width, frame.height].map(u32::to_le_bytes).concat();
            chunk::write(&mut out, *b"FRAM", &[&head, frame.rgba.as_slice()].concat());
        }
        chunk::write(&mut out, *b"DONE", &[]);
        out
    }

    /// Writes the file, whole or not at all: into a new file beside it that then takes its name.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(&self.to_bytes())?;
            file.as_file().sync_all()?;
            file.persist(path).map_err(|e| e.error)?;
            Ok(())
        };
        write().map_err(|source| Error::Io { path: path.into(), source })
    }
}
