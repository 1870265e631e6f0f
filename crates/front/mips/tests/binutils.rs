//! The disassembler against `objdump` of the GNU binutils: sampled words with their text from `vectors/mips/decode`,
//! and, where binutils for MIPS is installed, fresh random words of every opcode.

use std::collections::BTreeSet;
use std::io::Read;
use std::process::Command;
use std::sync::LazyLock;
use xenoglot_mips::isa::{ALIASES, OPS};
use xenoglot_mips::{decode, disasm};
use xenoglot_testgen::rng::Rng;

/// Address of the first sampled word.
const BASE: u32 = 0x0040_0000;

/// What the disassembler prints against what binutils prints. Extensions that this crate does not decode (DSP, MSA,
/// privileged instructions) have a text there and none here, but never one of our own mnemonics.
fn compare(word: u32, pc: u32, expected: &str) -> Result<(), String> {
    let ours = disasm::text(word, pc);
    let error = || Err(format!("{pc:#x}: {word:08x}: ours {ours:?}, binutils {expected:?}"));
    if decode(word).is_ok() {
        return if ours == expected { Ok(()) } else { error() };
    }
    let mnemonic = expected.split('\t').next().unwrap_or_default();
    // The accumulators of DSP have the mnemonics of the plain operations.
    if mnemonic == ".word" || expected.contains("$ac") || !mnemonics().contains(mnemonic) {
        Ok(())
    } else {
        error()
    }
}

/// Every mnemonic that the disassembler can print, formats and conditions included.
fn mnemonics() -> &'static BTreeSet<String> {
    static NAMES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let mut names: BTreeSet<String> = ALIASES.iter().map(|alias| alias.name.to_owned()).collect();
        for row in OPS {
            for variant in 0..1024u32 {
                let word = row.bits | ((variant >> 5) << 21 | variant & 31) & !row.mask;
                let text = decode(word).map(|inst| inst.text(0).to_string()).unwrap_or_default();
                names.extend(text.split('\t').next().map(str::to_owned));
            }
        }
        names
    });
    &NAMES
}

#[test]
fn sampled_words_have_the_text_of_binutils() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../vectors/mips/decode/words.tsv.xz");
    let packed = std::fs::read(path).expect("vectors/mips/decode/words.tsv.xz");
    let mut text = String::new();
    lzma_rust2::XzReader::new(packed.as_slice(), false).read_to_string(&mut text).expect("xz");
    let mut count = 0;
    let mut seen = BTreeSet::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ' ');
        let mut number = || u32::from_str_radix(fields.next().expect("field"), 16).expect("hex");
        let (pc, word) = (number(), number());
        compare(word, pc, fields.next().expect("text")).unwrap_or_else(|e| panic!("{e}"));
        seen.extend(decode(word).ok().map(|inst| inst.op));
        count += 1;
    }
    assert!(count > 5_000, "{count}");
    let missing: Vec<_> = OPS.iter().filter(|row| !seen.contains(&row.op)).map(|row| row.op).collect();
    assert!(missing.is_empty(), "operations without a word: {missing:?}");
}

/// Words of each row with random operands, and random words.
fn random_words(rng: &mut Rng, each: usize) -> Vec<u32> {
    let mut words = Vec::new();
    for row in OPS {
        for _ in 0..each {
            // Formats are bits that the mask leaves out.
            words.push(row.bits | rng.next_u32() & !row.mask);
            words.push(
                row.bits
                    | [0x0200_0000, 0x0220_0000, 0x0280_0000, 0x02a0_0000][words.len() % 4]
                    | rng.next_u32() & !row.mask & 0x001f_ffff,
            );
        }
    }
    for opcode in 0..64 {
        words.extend((0..each * 8).map(|_| opcode << 26 | rng.next_u32() >> 6));
    }
    words
}

#[test]
fn random_words_have_the_text_of_the_installed_binutils() {
    let objdump = "mips-linux-gnu-objdump";
    if Command::new(objdump).arg("--version").output().is_err() {
        return xenoglot_testgen::skip::skip("no mips-linux-gnu-objdump (Debian: binutils-mips-linux-gnu)");
    }
    let long = std::env::var_os("XENOGLOT_LONG").is_some();
    let words = random_words(&mut Rng::new(0x6d69_7073), if long { 2000 } else { 40 });
    for (flag, bytes) in [
        ("-EB", words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>()),
        ("-EL", words.iter().flat_map(|word| word.to_le_bytes()).collect()),
    ] {
        let file = tempfile::NamedTempFile::new().expect("temporary file");
        std::fs::write(file.path(), &bytes).expect("temporary file");
        let vma = format!("--adjust-vma={BASE:#x}");
        let output = Command::new(objdump)
            .args(["-D", "-z", "-b", "binary", "-m", "mips:isa32r2", flag, &vma])
            .arg(file.path())
            .output()
            .expect("objdump runs");
        let text = String::from_utf8(output.stdout).expect("text");
        let mut lines = text.lines().filter_map(|line| line.split_once(":\t"));
        for (n, &word) in words.iter().enumerate() {
            let (address, rest) = lines.next().expect("a line for each word");
            let pc = BASE + 4 * n as u32;
            assert_eq!(u32::from_str_radix(address.trim(), 16), Ok(pc));
            let expected = rest.split_once(" \t").expect("word and text").1;
            compare(word, pc, expected.trim_end()).unwrap_or_else(|e| panic!("{e}"));
        }
    }
}
