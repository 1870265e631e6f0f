//! Random sequences of instructions on the interpreter and under qemu-user: registers, FCSR and memory are the same.

#![cfg(target_os = "linux")]

mod common;

use common::run;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use xenoglot_guest::linux::Config;
use xenoglot_mips::{Endian, disasm};
use xenoglot_testgen::mips::{MEMORY_WORDS, STATE_WORDS, Sequences, elf, sequences};
use xenoglot_testgen::property::{budget, seed};
use xenoglot_testgen::rng::Rng;

/// Sequences of a program.
const BATCH: usize = 250;

/// What a program prints under qemu; `None`, having said so, when there is none.
fn qemu(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("program");
    let mut file = std::fs::File::create(&path).expect("a file");
    file.write_all(bytes).expect("written");
    file.set_permissions(std::fs::Permissions::from_mode(0o755)).expect("executable");
    drop(file);
    let Ok(ran) = Command::new(name).arg(&path).stdin(Stdio::null()).output() else {
        xenoglot_testgen::skip(&format!("no {name}"));
        return None;
    };
    assert!(ran.status.success(), "{name}: {ran:?}");
    Some(ran.stdout)
}

fn compare(endian: Endian, name: &str, all: &Sequences, seed: u64) -> bool {
    let bytes = elf(endian, &all.code, all.data);
    let Some(wanted) = qemu(name, &bytes) else { return false };
    let ran = run(Config::default(), bytes, &[], "", 1 << 30);
    assert_eq!(ran.code(), 0, "{:?}", ran.deaths);
    assert_eq!((ran.stdout.len(), wanted.len()), (all.data as usize, all.data as usize));
    let state = 4 * (STATE_WORDS + MEMORY_WORDS);
    for ((got, wanted), sequence) in ran.stdout.chunks(state).zip(wanted.chunks(state)).zip(&all.sequences) {
        if got == wanted {
            continue;
        }
        let words =
            |bytes: &[u8]| bytes.as_chunks().0.iter().map(|word| endian.word(*word)).collect::<Vec<u32>>();
        let (got, wanted) = (words(got), words(wanted));
        let differences: String = (0..got.len())
            .filter(|&at| got[at] != wanted[at])
            .map(|at| format!("  word {at}: {:08x}, qemu {:08x}\n", got[at], wanted[at]))
            .collect();
        let text: String = sequence.iter().map(|&word| format!("  {}\n", disasm::text(word, 0))).collect();
        panic!("seed {seed}, {name}:\n{text}{differences}");
    }
    true
}

#[test]
fn random_sequences_end_as_under_qemu() {
    let first = seed();
    let batches = budget(10_000, 1_000_000) / BATCH as u64;
    for batch in 0..batches {
        let seed = first.wrapping_add(batch);
        let all = sequences(&mut Rng::new(seed), BATCH, 24);
        let (endian, name) =
            if batch % 2 == 0 { (Endian::Big, "qemu-mips") } else { (Endian::Little, "qemu-mipsel") };
        if !compare(endian, name, &all, seed) {
            return;
        }
    }
}
