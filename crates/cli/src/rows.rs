//! The table of a batch: a row for each program, as lines of JSON while it is made, and as Parquet at the end.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;

/// A program and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The file it is in.
    pub input: String,
    /// What tells it from the file's others; empty if there are none.
    pub program: String,
    /// BLAKE3 of the file.
    pub hash: String,
    /// Whose program it is.
    pub guest: String,
    /// Its stage; empty if it was not lifted.
    pub stage: String,
    /// Words of its code: four bytes each.
    pub words: u64,
    /// Microseconds that lifting the file and compiling its programs took; 0 if it came from the cache.
    pub us: u64,
    /// `ok`, or what kind of failure.
    pub outcome: String,
    /// Why it failed; empty if it did not.
    pub cause: String,
    /// The file with its code, from the results' folder.
    pub file: String,
}

impl Row {
    /// Whether there is code.
    pub fn is_ok(&self) -> bool {
        self.outcome == "ok"
    }
}

/// The first line: what the rows were made with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Settings {
    settings: String,
}

/// A table that is being made.
pub struct Table {
    file: File,
    /// Rows that are there already, by input.
    pub done: BTreeMap<String, Vec<Row>>,
}

impl Table {
    /// Opens the table in a file to go on with it, or begins one. Rows that were made with other settings are no use: the
    /// table begins anew then. A line that is not whole, and what comes after it, is made again.
    pub fn open(path: &Path, settings: &str) -> Result<Table> {
        let context = || path.display().to_string();
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(path).with_context(context)?;
        let (mut done, mut end) = (BTreeMap::<String, Vec<Row>>::new(), 0);
        let mut reader = BufReader::new(&mut file);
        let mut line = String::new();
        let mut first = true;
        while reader.read_line(&mut line).is_ok_and(|length| length > 0) && line.ends_with('\n') {
            if first {
                if serde_json::from_str::<Settings>(&line).ok().is_none_or(|s| s.settings != settings) {
                    break;
                }
                first = false;
            } else {
                let Ok(row) = serde_json::from_str::<Row>(&line) else { break };
                done.entry(row.input.clone()).or_default().push(row);
            }
            end += line.len() as u64;
            line.clear();
        }
        drop(reader);
        file.set_len(end).with_context(context)?;
        file.seek(SeekFrom::End(0)).with_context(context)?;
        let mut table = Table { file, done };
        if end == 0 {
            table.line(&Settings { settings: settings.to_owned() })?;
        }
        Ok(table)
    }

    fn line(&mut self, value: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_string(value)?;
        text.push('\n');
        Ok(self.file.write_all(text.as_bytes())?)
    }

    /// Adds the rows of an input: all of them, or none if the process ends here.
    pub fn add(&mut self, rows: &[Row]) -> Result<()> {
        let mut text = String::new();
        for row in rows {
            text += &serde_json::to_string(row)?;
            text.push('\n');
        }
        Ok(self.file.write_all(text.as_bytes())?)
    }
}

/// Causes that differ in numbers, names and addresses only, with how many rows have them; the most frequent first.
pub fn causes<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<(String, usize)> {
    let mut counts = BTreeMap::<String, usize>::new();
    rows.filter(|row| !row.is_ok()).for_each(|row| *counts.entry(general(row)).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts
}

/// A row's cause without its numbers, mangled names of C++ and operands of quoted instructions.
fn general(row: &Row) -> String {
    let mut text = format!("{}: ", row.outcome);
    let mut word = String::new();
    let finish = |word: &mut String, text: &mut String| {
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        let is_mangled = word.starts_with("_Z");
        text.push_str(if is_number || is_mangled { "#" } else { word });
        word.clear();
    };
    let (mut quoted, mut operands) = (false, false);
    for c in row.cause.chars() {
        quoted ^= c == '`';
        operands = quoted && (operands || c == ' ');
        if operands {
            continue;
        }
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            finish(&mut word, &mut text);
            text.push(c);
        }
    }
    finish(&mut word, &mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(input: &str, cause: &str) -> Row {
        Row {
            input: input.into(),
            program: String::new(),
            hash: "00".into(),
            guest: "pica".into(),
            stage: "vertex".into(),
            words: 3,
            us: 7,
            outcome: if cause.is_empty() { "ok" } else { "refused" }.into(),
            cause: cause.into(),
            file: String::new(),
        }
    }

    #[test]
    fn a_table_goes_on_where_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.jsonl");
        let mut table = Table::open(&path, "one").unwrap();
        table.add(&[row("a", ""), row("a", "x")]).unwrap();
        table.add(&[row("b", "")]).unwrap();
        drop(table);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&whole[..], b"{\"input\":\"c\""].concat()).unwrap();
        let table = Table::open(&path, "one").unwrap();
        assert_eq!(
            table.done.iter().map(|(name, rows)| (&**name, rows.len())).collect::<Vec<_>>(),
            [("a", 2), ("b", 1)]
        );
        drop(table);
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        assert!(Table::open(&path, "other").unwrap().done.is_empty());
    }

    #[test]
    fn causes_that_differ_in_numbers_are_one() {
        let rows = [
            row("a", "0x10: `f2i` is not supported"),
            row("b", "0x28: `f2i` is not supported"),
            row("c", ""),
            row("d", "_Z3addPf: 0x98: `STS.64 [R3], R4`: no shared memory"),
            row("e", "_Z3subPf: 0x90: `STS.64 [R2], R8`: no shared memory"),
        ];
        let wanted = ["refused: #: #: `STS.#`: no shared memory", "refused: #: `f2i` is not supported"];
        assert_eq!(causes(rows.iter()), wanted.map(|cause| (cause.to_owned(), 2)));
    }
}
