//! What is written on a block: guest instructions with their addresses where there are some, else IR.

use xenoglot_ir::{Block, Function, Module, NO_GUEST};

/// Most lines on a block; more are counted only.
const MOST_LINES: usize = 28;
/// Most characters of a line.
const MOST_COLUMNS: usize = 72;

/// A block's lines: address (may be empty) and text.
pub struct Label {
    /// Name of the block.
    pub title: String,
    /// Lines.
    pub lines: Vec<(String, String)>,
}

impl Label {
    /// Width of the widest line in characters.
    pub fn columns(&self) -> usize {
        let lines = self.lines.iter().map(|(a, t)| a.chars().count() + 1 + t.chars().count());
        lines.max().unwrap_or(0).max(self.title.chars().count())
    }
}

/// The label of a block.
pub fn label(module: &Module, f: &Function, block: Block) -> Label {
    let guest = guest_addresses(f, block);
    let mut lines: Vec<(String, String)> = if guest.is_empty() && !module.listing.is_empty() {
        // What a front end puts around the guest's program.
        vec![(String::new(), format!("entry wrapper, {} instructions", f.blocks[block].insts.len()))]
    } else if guest.is_empty() {
        let insts = f.blocks[block].insts.iter();
        insts.map(|&i| (String::new(), shorten(&f.display_inst(module, i).to_string()))).collect()
    } else {
        let text = |a| shorten(module.listing_at(a).unwrap_or(""));
        guest.iter().map(|&a| (format!("{a:03x}"), text(a))).collect()
    };
    if lines.len() > MOST_LINES {
        let more = lines.len() - MOST_LINES;
        lines.truncate(MOST_LINES);
        lines.push((String::new(), format!("… {more} more")));
    }
    Label { title: block.to_string(), lines }
}

/// The guest addresses in a block, in order, each once in a row.
pub fn guest_addresses(f: &Function, block: Block) -> Vec<u32> {
    let insts = f.blocks[block].insts.iter().map(|&i| f.insts[i].guest);
    let mut out: Vec<u32> = insts.chain([f.term(block).guest]).filter(|&a| a != NO_GUEST).collect();
    out.dedup();
    out
}

/// The text on one line, cut if it is long.
fn shorten(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(MOST_COLUMNS) {
        Some((end, _)) => format!("{}…", &flat[..end]),
        None => flat,
    }
}
