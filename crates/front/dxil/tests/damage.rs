//! Real containers with every byte changed, and cut off at every byte: they are read or refused, and nothing takes more
//! than 64 bytes of memory for each of theirs.

mod corpus;

use corpus::{File, vectors};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use xenoglot_dxil::binding::{HeapSets, RootSignatureMap};
use xenoglot_dxil::bitcode::{Limits, read};
use xenoglot_dxil::container::{Container, bitcode};
use xenoglot_dxil::lift::{LiftOptions, lift};
use xenoglot_dxil::root_signature::RootSignature;
use xenoglot_testgen::memory::{Counting, peak};

#[global_allocator]
static COUNTING: Counting = Counting;

const BYTES_PER_BYTE: usize = 64;

/// The smallest file with each of the rare parts, and the smallest of all: twenty.
fn sample() -> Vec<File> {
    let mut files = vectors();
    files.sort_by_key(|file| file.bytes.len());
    let parts = ["RTS0", "RDAT", "PSG1"];
    let has = |file: &File, part: &str| {
        Container::parse(&file.bytes).unwrap().parts.iter().any(|p| p.name.to_string() == part)
    };
    let mut chosen: Vec<File> = Vec::new();
    for part in parts {
        let at = files.iter().position(|file| has(file, part)).unwrap();
        chosen.push(files.remove(at));
    }
    chosen.extend(files.into_iter().take(20 - parts.len()));
    chosen
}

/// Runs `check` on every file of the sample with each byte changed by each of `changes`, and cut off in front of it.
fn damage(changes: &[fn(u8, usize) -> u8], check: impl Fn(&[u8]) + Sync) {
    let files = sample();
    assert_eq!(files.len(), 20);
    let most = AtomicUsize::new(0);
    let run = |file: &File| {
        let mut bytes = file.bytes.clone();
        for at in 0..bytes.len() {
            let byte = bytes[at];
            for change in changes {
                bytes[at] = change(byte, at);
                let held = peak(|| check(&bytes));
                most.fetch_max(held / bytes.len(), Relaxed);
                let limit = BYTES_PER_BYTE * bytes.len();
                assert!(held <= limit, "{}, {at:#x} = {:#x}: {held} bytes", file.name, bytes[at]);
            }
            bytes[at] = byte;
            let held = peak(|| check(&bytes[..at]));
            assert!(held <= BYTES_PER_BYTE * at.max(64), "{} up to {at:#x}: {held} bytes", file.name);
        }
    };
    std::thread::scope(|scope| files.iter().for_each(|file| drop(scope.spawn(|| run(file)))));
    println!("at most {} bytes for each byte of a file", most.into_inner());
}

const FLIP: fn(u8, usize) -> u8 = |byte, at| byte ^ 1 << (at % 8);
const INVERT: fn(u8, usize) -> u8 = |byte, _| !byte;
const INCREMENT: fn(u8, usize) -> u8 = |byte, _| byte.wrapping_add(1);
const ALL: &[fn(u8, usize) -> u8] = &[FLIP, INVERT, INCREMENT];

#[test]
fn containers() {
    damage(ALL, |bytes| {
        let Ok(container) = Container::parse(bytes) else { return };
        let _ = container.program();
        for part in &container.parts {
            let _ = container.content(part);
        }
    });
}

#[test]
fn root_signatures() {
    damage(ALL, |bytes| {
        let Ok(signature) = RootSignature::parse(bytes) else { return };
        let _ = (signature.validate(), signature.write());
        RootSignatureMap::new(&signature, None, HeapSets::default());
    });
}

#[test]
fn modules() {
    damage(&[FLIP], |bytes| {
        if let Ok(code) = bitcode(bytes) {
            let _ = read(code.bytes, &Limits::default());
        }
    });
}

#[test]
fn shaders() {
    damage(&[FLIP], |bytes| {
        let Ok(code) = bitcode(bytes) else { return };
        let Ok(module) = read(code.bytes, &Limits::default()) else { return };
        let _ = lift(&module, &LiftOptions::default());
    });
}
