//! Writing scene files.

use super::{FIRST, Scene, VERSION};

fn chunk(out: &mut Vec<u8>, tag: [u8; 4], parts: &[&[u8]]) {
    out.extend(tag);
    let length: usize = parts.iter().map(|p| p.len()).sum();
    out.extend((length as u32).to_le_bytes());
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

impl Scene {
    /// The file, not compressed.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        chunk(&mut out, FIRST, &[&VERSION.to_le_bytes()]);
        if !self.meta.is_empty() {
            chunk(&mut out, *b"META", &[self.meta.as_bytes()]);
        }
        chunk(&mut out, *b"REGS", &[&self.registers.to_bytes()]);
        if let Some(name) = &self.memory {
            chunk(&mut out, *b"TEXR", &[name.as_bytes()]);
        }
        for (tag, blocks) in [(*b"TEXW", &self.textures), (*b"PALW", &self.palettes)] {
            for (address, bytes) in blocks {
                chunk(&mut out, tag, &[&address.to_le_bytes(), bytes]);
            }
        }
        chunk(&mut out, *b"GXST", &[&words(&self.stream)]);
        if !self.probes.is_empty() {
            chunk(&mut out, *b"PRBI", &[&words(&self.probes)]);
        }
        for expected in &self.expected {
            chunk(&mut out, expected.tag, &[&expected.bytes]);
        }
        out
    }
}
