//! A capture as bytes and as a file.

use crate::chunk;
use crate::{Capture, Error, MAGIC, VERSION};
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

    /// Writes the file, whole or not at all, and waits for the disk: what was captured may not happen again.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        xenoglot_output::write_synced(path, &self.to_bytes())
            .map_err(|error| Error::Io { path: path.into(), source: error.into() })
    }
}
