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
    let (guest, begins) = guest_code(f, block);
    let mut lines: Vec<(String, String)> = if guest.is_empty() && !module.listing.is_empty() {
        // What a front end puts around the guest's program.
        vec![(String::new(), format!("entry wrapper, {} instructions", f.blocks[block].insts.len()))]
    } else if guest.is_empty() {
        let insts = f.blocks[block].insts.iter();
        insts.map(|&i| (String::new(), shorten(&f.display_inst(module, i).to_string()))).collect()
    } else {
        let text = |a| {
            let text = shorten(module.listing_at(a).unwrap_or(""));
            if begins { text } else { format!("… {text}") }
        };
        guest.iter().map(|&a| (format!("{a:03x}"), text(a))).collect()
    };
    if lines.len() > MOST_LINES {
        let more = lines.len() - MOST_LINES;
        lines.truncate(MOST_LINES);
        lines.push((String::new(), format!("… {more} more")));
    }
    Label { title: block.to_string(), lines }
}

/// The addresses of the guest's instructions in a block, and whether they begin there: of a block that holds only a part
/// of what an instruction does, such as the way from a loop's last one back to its first, they do not.
///
/// As lifted, in the order in which the guest runs them. After passes, which move and drop instructions, those of which
/// something is left, by address.
pub fn guest_code(f: &Function, block: Block) -> (Vec<u32>, bool) {
    let own = f.guest_code.iter().filter(|(at, _)| *at == block).map(|(_, address)| *address);
    let own: Vec<u32> = own.collect();
    if !own.is_empty() {
        return (own, true);
    }
    let insts = f.blocks[block].insts.iter().map(|&i| f.insts[i].guest);
    let mut left: Vec<u32> = insts.chain([f.term(block).guest]).filter(|&a| a != NO_GUEST).collect();
    left.sort_unstable();
    left.dedup();
    (left, f.guest_code.is_empty())
}

/// The text on one line, cut if it is long.
fn shorten(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(MOST_COLUMNS) {
        Some((end, _)) => format!("{}…", &flat[..end]),
        None => flat,
    }
}
