//! Instruction words and their text: `vectors/maxwell/FORMAT.md`, section 4, as a TSV file that may be packed by xz.

use crate::limit::{Emit, Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request, input};
use std::io::Read;
use std::path::Path;
use xenoglot_maxwell::disasm::{Options, Targets};
use xenoglot_maxwell::{Opcode, decode};

/// Suite `maxwell-decode`: a case for each word.
pub(crate) fn words(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let text = read(&request.path)?;
    let item = |(word, want): (u64, &str)| Item::single(format!("{word:016x}"), (word, want.to_owned()));
    let items: Vec<_> = text.lines().filter_map(parse).map(item).collect();
    if items.is_empty() {
        return Err(Error::NoVectors { path: request.path.clone(), magic: "WORD<TAB>n|m<TAB>TEXT".into() });
    }
    let judge = |item: &Item<(u64, String)>, emit: &mut Emit| emit(case(item.data.0, &item.data.1));
    Work::plain(items, judge).run(observer)
}

fn read(path: &Path) -> Result<String, Error> {
    let damaged = |reason: String| Error::Archive { path: path.into(), reason };
    let mut bytes = input::read(path)?;
    if bytes.starts_with(super::format::XZ_MAGIC) {
        let mut out = Vec::new();
        let reader = lzma_rust2::XzReader::new(bytes.as_slice(), false);
        reader.take(input::MAX_BYTES).read_to_end(&mut out).map_err(|e| damaged(e.to_string()))?;
        bytes = out;
    }
    String::from_utf8(bytes).map_err(|e| damaged(e.to_string()))
}

fn parse(line: &str) -> Option<(u64, &str)> {
    let mut fields = line.splitn(3, '\t');
    let word = u64::from_str_radix(fields.next()?, 16).ok()?;
    Some((word, fields.nth(1)?))
}

fn case(word: u64, want: &str) -> Case {
    let options = Options { targets: Targets::Placeholder, ..Options::default() };
    let inst = decode(0, word);
    // The sign of a code address, unlike that of an offset beside a register, depends on where the word stood.
    let is_offset = inst.is_ok_and(|inst| matches!(inst.op, Opcode::Brx | Opcode::Jmx));
    let want = if is_offset { want.into() } else { want.replace("-<target>", "<target>") };
    let got = inst.map_or_else(|e| e.to_string(), |inst| inst.display(options).to_string());
    let verdict =
        if got == want { Verdict::Passed } else { Verdict::Failed(format!("{got}; expected {want}")) };
    Case { name: format!("{word:016x}"), verdict }
}
