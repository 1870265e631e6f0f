//! Prints the text of instruction words: hexadecimal, one in a line of the standard input.

use std::io::{self, BufRead, Write};
use xenoglot_maxwell::decode;
use xenoglot_maxwell::disasm::{Options, Targets};

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let options = Options { targets: Targets::Placeholder, ..Options::default() };
    for line in io::stdin().lock().lines() {
        let line = line?;
        let word = u64::from_str_radix(line.trim().trim_start_matches("0x"), 16).map_err(io::Error::other)?;
        match decode(0, word) {
            Ok(inst) => writeln!(out, "{word:016x}\t{}", inst.display(options))?,
            Err(e) => writeln!(out, "{word:016x}\t!{}", e.reason)?,
        }
    }
    Ok(())
}
