//! Descriptors of a heap that are not what a shader uses them as, on the interpreter: faults are told, and accesses go to null
//! descriptors.

mod corpus;

use proptest::prelude::*;
use xenoglot_dxil::binding::checks::{self, ALIVE, Fault, Faults, ReadError};
use xenoglot_dxil::binding::{Checks, DescriptorKind, HeapSets, RootSignatureMap, Slot, covering};
use xenoglot_dxil::bitcode;
use xenoglot_dxil::container::bitcode;
use xenoglot_dxil::lift::{LiftOptions, lift_bound};
use xenoglot_dxil::program::Program;
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::Resource;

/// Where the buffer is that is read; the one that is written comes next.
const PLACE: u32 = 2;
/// Descriptors of the heap.
const COUNT: u32 = 6;

/// What a dispatch leaves.
struct After {
    faults: Faults,
    written: Vec<u32>,
}

impl After {
    /// What all faults have in common: place, use and word.
    fn fault(&self) -> (u32, u32, u32) {
        let what = |fault: &Fault| (fault.place, fault.used_as, fault.word);
        let first = self.faults.faults.first().map(what).unwrap();
        assert!(self.faults.faults.iter().all(|fault| what(fault) == first), "{:?}", self.faults);
        assert!(self.faults.faults.iter().all(|fault| fault.program == PROGRAM && fault.instruction > 0));
        first
    }
}

/// The shader's number in faults.
const PROGRAM: u32 = 77;

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Runs a shader that reads sixteen words and writes as many, its table at a place, with words for the two descriptors, and a ring
/// large enough for all faults.
fn run(table: u32, words: [u32; 2]) -> After {
    run_with(table, words, 64)
}

fn run_with(table: u32, words: [u32; 2], capacity: u32) -> After {
    let file = corpus::own_vectors().into_iter().find(|file| file.name == "quad_vote").unwrap();
    let module = bitcode::read(bitcode(&file.bytes).unwrap().bytes, &bitcode::Limits::default()).unwrap();
    let signature = covering(&Program::of(&module).unwrap().resources);
    let slot = Slot { set: 3, binding: 0 };
    let sets = HeapSets { checks: Some(Checks { slot, program: PROGRAM }), ..HeapSets::default() };
    let map = RootSignatureMap::new(&signature, None, sets);
    let lifted = lift_bound(&module, &LiftOptions::default(), &map).unwrap();
    let find = |set: u32, binding: u32| -> Resource {
        let mut found = lifted.module.resources.iter().filter(|(_, r)| (r.set, r.binding) == (set, binding));
        found.next_back().unwrap().0
    };
    let (heap, own) = (find(0, DescriptorKind::StorageBuffer as u32), find(3, 0));
    let push = lifted.module.resources.iter().find(|(_, r)| r.name == "root").unwrap().0;

    let mut bindings = Bindings::new(&lifted.module);
    bindings.set_buffer(push, bytes(&[table]));
    let mut descriptors = [0; COUNT as usize];
    descriptors[PLACE as usize..][..2].copy_from_slice(&words);
    bindings.set_buffer(own, checks::buffer(&descriptors, capacity));
    bindings.set_element(heap, PLACE, bytes(&[15; 16]));
    bindings.set_element(heap, PLACE + 1, vec![0; 64]);
    // The null descriptor.
    bindings.set_element(heap, COUNT, Vec::new());
    let limits = Limits { fuel: 1 << 20, ..Limits::default() };
    Interpreter::new(&lifted.module).unwrap().dispatch([1; 3], &mut bindings, &limits).unwrap();
    let written = bindings.element_buffer(heap, PLACE + 1).as_chunks().0.iter();
    After {
        faults: Faults::read(bindings.buffer(own)).unwrap(),
        written: written.map(|w| u32::from_le_bytes(*w)).collect(),
    }
}

const BUFFER: DescriptorKind = DescriptorKind::StorageBuffer;

#[test]
fn good_descriptors_are_used() {
    let after = run(PLACE, [checks::word(&[BUFFER]); 2]);
    assert_eq!(after.faults, Faults { told: 0, descriptors: COUNT, faults: Vec::new() });
    assert_eq!(after.written, [0xff; 16]);
}

#[test]
fn a_resource_that_is_gone_reads_as_zeros() {
    let dead = checks::word(&[BUFFER]) & !ALIVE;
    let after = run(PLACE, [dead, checks::word(&[BUFFER])]);
    assert_eq!(after.fault(), (PLACE, BUFFER as u32, dead));
    assert_eq!(after.written, [0; 16]);
}

#[test]
fn a_descriptor_of_another_kind_is_not_written() {
    let other = checks::word(&[DescriptorKind::StorageImage, DescriptorKind::UniformBuffer]);
    let after = run(PLACE, [checks::word(&[BUFFER]), other]);
    assert_eq!(after.fault(), (PLACE + 1, BUFFER as u32, other));
    assert!(checks::kinds(other).eq([DescriptorKind::StorageImage, DescriptorKind::UniformBuffer]));
    assert_eq!(after.written, [0; 16]);
}

#[test]
fn places_behind_the_last_descriptor_are_told() {
    for place in [COUNT, COUNT + 100, u32::MAX - 1, 0x4000_0000] {
        let after = run(place, [checks::word(&[BUFFER]); 2]);
        let first = after.faults.faults.iter().find(|fault| fault.place == place).unwrap();
        assert_eq!((first.used_as, first.word), (BUFFER as u32, 0));
        assert_eq!(after.written, [0; 16]);
    }
}

/// Each of sixteen invocations has a fault at what it reads and one at what it writes.
#[test]
fn every_fault_is_told_with_its_number() {
    let after = run(PLACE, [0; 2]);
    assert_eq!(after.faults.told, 32);
    assert!(after.faults.faults.iter().map(|fault| fault.number).eq(1..=32));
    for place in [PLACE, PLACE + 1] {
        assert_eq!(after.faults.faults.iter().filter(|fault| fault.place == place).count(), 16);
    }
}

#[test]
fn the_last_faults_stay_in_a_ring_that_is_too_small() {
    for capacity in [0, 1, 5, 31] {
        let after = run_with(PLACE, [0; 2], capacity);
        assert_eq!(after.faults.told, 32);
        assert!(after.faults.faults.iter().map(|fault| fault.number).eq(33 - capacity..=32));
        assert_eq!(after.written, [0; 16]);
    }
}

#[test]
fn numbers_that_wrapped_around_are_in_order() {
    let mut buffer = checks::buffer(&[], 4);
    buffer[..4].copy_from_slice(&2u32.to_le_bytes());
    // Fault 2^32 has the number 0, as an entry that tells of nothing.
    for (entry, number) in [(2, u32::MAX - 1), (3, u32::MAX), (0, 1), (1, 2u32)] {
        let at = (checks::WORDS + entry * checks::ENTRY) as usize;
        buffer[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
    let faults = Faults::read(&buffer).unwrap().faults;
    assert!(faults.iter().map(|fault| fault.number).eq([u32::MAX - 1, u32::MAX, 1, 2]));
}

#[test]
fn buffers_that_are_too_short_say_what_is_missing() {
    let length = 8;
    assert_eq!(Faults::read(&[1; 8]), Err(ReadError::Short { what: "the header", end: 32, length }));
    let buffer = checks::buffer(&[0; 3], 2);
    assert!(Faults::read(&buffer).is_ok());
    let error = Faults::read(&buffer[..buffer.len() - 1]).unwrap_err();
    assert_eq!(error.to_string(), "the buffer ends at byte 0x5b: the ring would end at 0x5c");
    assert!(Faults::read(&[0xff; 64]).is_err());
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(400))]

    /// Any bytes, with a header that may say what they have room for.
    #[test]
    fn any_buffer_is_read_or_refused(
        mut buffer in proptest::collection::vec(any::<u8>(), 0..200),
        header in proptest::array::uniform2(0..12u32),
    ) {
        let header = header.into_iter().flat_map(u32::to_le_bytes);
        buffer.iter_mut().skip(checks::CAPACITY as usize).zip(header).for_each(|(to, from)| *to = from);
        if let Ok(faults) = Faults::read(&buffer) {
            prop_assert!(faults.faults.len() <= 11);
        }
    }
}
