//! Words and listings of the vendor's disassembler: `vectors/maxwell/FORMAT.md`, sections 1, 3 and 4.

use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::Path;
use xenoglot_maxwell::disasm::{Options, Targets};
use xenoglot_maxwell::isa::FORMS;
use xenoglot_maxwell::{Control, Opcode, decode};

fn unpack(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../vectors/maxwell").join(name);
    let bytes = std::fs::read(path).unwrap();
    let mut out = Vec::new();
    lzma_rust2::XzReader::new(bytes.as_slice(), false).read_to_end(&mut out).unwrap();
    out
}

/// Panics with the first of the differences, and how many there are.
fn expect_none(total: usize, differences: &[String]) {
    let first = differences.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(differences.is_empty(), "{} of {total} differ:\n{first}", differences.len());
}

#[test]
fn words() {
    let text = String::from_utf8(unpack("decode/public.tsv.xz")).unwrap();
    let options = Options { targets: Targets::Placeholder, ..Options::default() };
    let mut differences = Vec::new();
    for line in text.lines() {
        let mut fields = line.split('\t');
        let word = u64::from_str_radix(fields.next().unwrap(), 16).unwrap();
        let mut want = fields.nth(1).unwrap().to_owned();
        let got = decode(0, word);
        // The sign of a code address, unlike that of BRX's offset, depends on where the word stood.
        if got.is_ok_and(|inst| !matches!(inst.op, Opcode::Brx | Opcode::Jmx)) {
            want = want.replace("-<target>", "<target>");
        }
        let got = got.map_or_else(|e| e.to_string(), |inst| inst.display(options).to_string());
        if got != want {
            differences.push(format!("{word:016x} {want} | {got}"));
        }
    }
    assert_eq!(text.lines().count(), 25_838);
    expect_none(text.lines().count(), &differences);
}

/// A listing: instructions with address, word and text, scheduling words, and where labels are.
#[derive(Default)]
struct Listing {
    instructions: Vec<(u32, u64, String)>,
    control: HashMap<u32, u64>,
    labels: HashMap<String, u32>,
}

impl Listing {
    fn parse(text: &str) -> Listing {
        let mut listing = Listing::default();
        let mut address = 0;
        let mut pending: Option<(u32, String)> = None;
        let mut new_labels = Vec::new();
        for line in text.lines() {
            let line = line.trim();
            if let Some(label) = line.strip_suffix(':') {
                new_labels.push(label.to_owned());
                continue;
            }
            let word = line
                .strip_suffix("*/")
                .and_then(|l| l.rsplit_once("/* 0x"))
                .and_then(|(rest, w)| Some((rest.trim(), u64::from_str_radix(w.trim(), 16).ok()?)));
            let (rest, word) = match word {
                Some((rest, word)) => (rest, Some(word)),
                None => (line, None),
            };
            let body = rest.strip_prefix("/*").and_then(|r| r.split_once("*/"));
            if let Some((at, body)) = body
                && let Ok(at) = u32::from_str_radix(at, 16)
            {
                address = at;
                for label in new_labels.drain(..) {
                    listing.labels.insert(label, at);
                }
                pending = Some((at, plain(body)));
            }
            match (word, pending.take()) {
                (Some(word), Some((at, body))) => {
                    listing.instructions.push((at, word, body));
                    address = at + 8;
                }
                (Some(word), None) => {
                    listing.control.insert(address, word);
                }
                (None, body) => pending = body,
            }
        }
        listing
    }

    /// The target that a listing names by its label is the label's line, or the scheduling word before it.
    fn resolve(&self, text: &str, got: &str) -> String {
        let Some((before, label)) = text.split_once("`(") else { return text.into() };
        let Some((label, after)) = label.split_once(')') else { return text.into() };
        let target = self.labels.get(label).copied().unwrap_or(0);
        let spell = |target: u32| format!("{before}{target:#x}{after}");
        if got == spell(target.saturating_sub(8)) && target % 32 == 8 {
            return got.into();
        }
        spell(target)
    }
}

/// The text without what the tool adds for its reader.
fn plain(body: &str) -> String {
    let body = body.trim().trim_start_matches('{').trim();
    let body = body.split_once("(*").map_or(body, |(text, _)| text);
    // A pair's brace stands far off.
    let body = body.trim();
    let body = body.strip_suffix('}').filter(|b| b.ends_with("  ")).unwrap_or(body);
    body.trim_end_matches([';', ' ']).to_owned()
}

fn listings(name: &str, most: &[&str]) -> usize {
    let mut differences = Vec::new();
    let mut total = 0;
    let tar = unpack(name);
    for entry in tar::Archive::new(tar.as_slice()).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().display().to_string();
        if !path.ends_with(".sass") {
            continue;
        }
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        // A listing may hold several functions, each with addresses of its own.
        for function in text.split("\n\t.section\t") {
            let listing = Listing::parse(function);
            for (address, word, want) in &listing.instructions {
                total += 1;
                let control = Control::of(listing.control[&(address & !31)], address / 8 % 4 - 1);
                let options = Options { reuse: control.reuse, ..Options::default() };
                let got = match decode(*address, *word) {
                    Ok(inst) => inst.display(options).to_string(),
                    Err(e) => e.to_string(),
                };
                let want = listing.resolve(want, &got);
                if got != want && !most.iter().any(|m| format!("{word:016x}").starts_with(m)) {
                    differences.push(format!("{path} {address:04x} {word:016x} {want} | {got}"));
                }
            }
        }
    }
    expect_none(total, &differences);
    total
}

#[test]
fn compute_listings() {
    assert!(listings("compute/public.tar.xz", &[]) > 20_000);
}

#[test]
fn graphics_listings() {
    // The tool refuses these words of SUATOM and prints NOP; they are surface atomics of another compiler.
    assert!(listings("graphics/public.tar.xz", &["ea7", "ead"]) > 1_000);
}

#[test]
fn every_operation_has_a_form() {
    let with_forms: HashSet<Opcode> = FORMS.iter().map(|f| f.op).collect();
    let without: Vec<_> = Opcode::ALL.iter().filter(|op| !with_forms.contains(op)).collect();
    assert!(without.is_empty(), "{without:?}");
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(20_000))]

    #[test]
    fn any_word(word: u64, address: u32, reuse in 0u8..16) {
        if let Ok(inst) = decode(address, word) {
            inst.operands();
            inst.display(Options { reuse, ..Options::default() }).to_string();
        }
    }

    #[test]
    fn any_bits_of_any_form(at in 0..FORMS.iter().count(), bits: u64, address: u32, reuse in 0u8..16) {
        let form = FORMS.iter().nth(at).unwrap();
        if let Ok(inst) = decode(address, bits & !form.mask | form.value) {
            prop_assert_eq!(inst.op, form.op);
            inst.operands();
            inst.display(Options { reuse, ..Options::default() }).to_string();
        }
    }
}
