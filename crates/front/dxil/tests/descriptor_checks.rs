//! Descriptors of a heap that are not what a shader uses them as, on the interpreter: the first fault is told, and accesses
//! go to null descriptors.

mod corpus;

use xenoglot_dxil::binding::checks::{self, ALIVE, Fault};
use xenoglot_dxil::binding::{DescriptorKind, HeapSets, RootSignatureMap, covering};
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
    fault: Option<Fault>,
    written: Vec<u32>,
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Runs a shader that reads sixteen words and writes as many, its table at a place, with words for the two descriptors.
fn run(table: u32, words: [u32; 2]) -> After {
    let file = corpus::own_vectors().into_iter().find(|file| file.name == "quad_vote").unwrap();
    let module = bitcode::read(bitcode(&file.bytes).unwrap().bytes, &bitcode::Limits::default()).unwrap();
    let signature = covering(&Program::of(&module).unwrap().resources);
    let sets = HeapSets { checks: Some(3), ..HeapSets::default() };
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
    let mut told = vec![0; (checks::WORDS / 4 + COUNT) as usize];
    told[checks::COUNT as usize / 4] = COUNT;
    for (place, word) in (PLACE..).zip(words) {
        told[(checks::WORDS / 4 + place) as usize] = word;
    }
    bindings.set_buffer(own, bytes(&told));
    bindings.set_element(heap, PLACE, bytes(&[15; 16]));
    bindings.set_element(heap, PLACE + 1, vec![0; 64]);
    // The null descriptor.
    bindings.set_element(heap, COUNT, Vec::new());
    let limits = Limits { fuel: 1 << 20, ..Limits::default() };
    Interpreter::new(&lifted.module).unwrap().dispatch([1; 3], &mut bindings, &limits).unwrap();
    let written = bindings.element_buffer(heap, PLACE + 1).as_chunks().0.iter();
    After {
        fault: Fault::read(bindings.buffer(own)),
        written: written.map(|w| u32::from_le_bytes(*w)).collect(),
    }
}

const BUFFER: DescriptorKind = DescriptorKind::StorageBuffer;

#[test]
fn good_descriptors_are_used() {
    let after = run(PLACE, [checks::word(&[BUFFER]); 2]);
    assert_eq!(after.fault, None);
    assert_eq!(after.written, [0xff; 16]);
}

#[test]
fn a_resource_that_is_gone_reads_as_zeros() {
    let dead = checks::word(&[BUFFER]) & !ALIVE;
    let after = run(PLACE, [dead, checks::word(&[BUFFER])]);
    let fault = after.fault.unwrap();
    assert_eq!((fault.place, fault.used_as, fault.word), (PLACE, BUFFER as u32, dead));
    assert_eq!(after.written, [0; 16]);
}

#[test]
fn a_descriptor_of_another_kind_is_not_written() {
    let other = checks::word(&[DescriptorKind::StorageImage, DescriptorKind::UniformBuffer]);
    let after = run(PLACE, [checks::word(&[BUFFER]), other]);
    let fault = after.fault.unwrap();
    assert_eq!((fault.place, fault.used_as, fault.word), (PLACE + 1, BUFFER as u32, other));
    assert!(fault.instruction > 0);
    assert_eq!(after.written, [0; 16]);
}

#[test]
fn places_behind_the_last_descriptor_are_told() {
    for place in [COUNT, COUNT + 100, u32::MAX - 1, 0x4000_0000] {
        let after = run(place, [checks::word(&[BUFFER]); 2]);
        let fault = after.fault.unwrap();
        assert_eq!((fault.place, fault.used_as, fault.word), (place, BUFFER as u32, 0));
        assert_eq!(after.written, [0; 16]);
    }
}

#[test]
fn nothing_is_told_of_less_than_a_header() {
    assert_eq!(Fault::read(&[1; 8]), None);
}
