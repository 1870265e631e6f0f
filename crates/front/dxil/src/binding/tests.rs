use super::*;
use crate::root_signature::{
    DescriptorFlags, Parameter, ParameterKind, Range, RootFlags, RootSignature, StaticSampler, Version,
    Visibility,
};
use ResourceClass::{Cbv, Sampler, Srv, Uav};
use proptest::prelude::*;

fn register(number: u32, space: u32) -> Register {
    Register { number, space }
}

fn asked(class: ResourceClass, number: u32, space: u32, count: Option<u32>) -> Registers {
    Registers { class, first: register(number, space), count, stage: ShaderKind::Pixel }
}

fn range(class: ResourceClass, number: u32, count: u32) -> Range {
    let flags = DescriptorFlags::empty();
    Range { class, count, register: register(number, 0), flags, offset: Range::APPEND }
}

fn descriptor(class: ResourceClass, number: u32, space: u32) -> ParameterKind {
    ParameterKind::Descriptor { class, register: register(number, space), flags: DescriptorFlags::empty() }
}

fn constants(number: u32, space: u32, count: u32) -> ParameterKind {
    ParameterKind::Constants { register: register(number, space), count }
}

fn signature(kinds: Vec<ParameterKind>) -> RootSignature {
    let visible = |kind| Parameter { kind, visibility: Visibility::All };
    RootSignature {
        version: Version::V1_1,
        flags: RootFlags::empty(),
        parameters: kinds.into_iter().map(visible).collect(),
        samplers: Vec::new(),
    }
}

fn table(at: u32, heap: Heap, offset: u32) -> Result<Target, BindError> {
    Ok(Target::Table { at: Argument::Push(at), heap, offset })
}

/// Three constants, an address at an even word, and two tables.
fn global() -> RootSignature {
    let mut high = range(Uav, 2, 2);
    high.offset = 10;
    let mut signature = signature(vec![
        constants(0, 0, 3),
        descriptor(Srv, 0, 1),
        ParameterKind::Table(vec![range(Srv, 1, 4), range(Cbv, 2, 1), high, range(Srv, 8, Range::UNBOUNDED)]),
        ParameterKind::Table(vec![range(Sampler, 0, 2)]),
    ]);
    signature.samplers = vec![StaticSampler::new(register(4, 0)), StaticSampler::new(register(5, 0))];
    signature
}

#[test]
fn spaces_are_sets() {
    let slot = |set, binding| Ok(Target::Slot(Slot { set, binding }));
    let plain = RegisterSpaces::default();
    assert_eq!(plain.resource(&asked(Srv, 3, 7, None)), slot(7, 3));
    assert_eq!(plain.heap(Heap::Samplers, DescriptorKind::Sampler), Err(BindError::Heap(Heap::Samplers)));
    let shifted =
        RegisterSpaces { shifts: [0, 100, 200, 300], counter_shift: 1000, ..RegisterSpaces::default() };
    assert_eq!(shifted.resource(&asked(Uav, 3, 0, Some(1))), slot(0, 103));
    assert_eq!(shifted.counter(&asked(Uav, 3, 0, Some(1))), slot(0, 1103));
    let error = BindError::Range { letter: 's', number: u32::MAX, space: 0 };
    assert_eq!(shifted.resource(&asked(Sampler, u32::MAX, 0, Some(1))), Err(error));
}

#[test]
fn registers_reach_their_arguments() {
    let map = RootSignatureMap::new(&global(), None, HeapSets::default());
    let at = Argument::Push;
    assert_eq!(map.push_words(), 8);
    assert_eq!((0..5).map(|n| map.word(n)).collect::<Vec<_>>(), [Some(0), Some(4), Some(6), Some(7), None]);
    assert_eq!(map.resource(&asked(Cbv, 0, 0, Some(1))), Ok(Target::Constants { at: at(0), words: 3 }));
    assert_eq!(map.resource(&asked(Srv, 0, 1, Some(1))), Ok(Target::Address { at: at(4) }));
    assert_eq!(map.resource(&asked(Srv, 2, 0, Some(1))), table(6, Heap::Resources, 1));
    assert_eq!(map.resource(&asked(Cbv, 2, 0, Some(1))), table(6, Heap::Resources, 4));
    assert_eq!(map.resource(&asked(Uav, 3, 0, Some(1))), table(6, Heap::Resources, 11));
    assert_eq!(map.resource(&asked(Srv, 20, 0, None)), table(6, Heap::Resources, 24));
    assert_eq!(map.resource(&asked(Sampler, 1, 0, Some(1))), table(7, Heap::Samplers, 1));
    let slot = Slot { set: 2, binding: 1 };
    assert_eq!(map.resource(&asked(Sampler, 5, 0, Some(1))), Ok(Target::StaticSampler { index: 1, slot }));
    assert_eq!(map.counter(&asked(Uav, 2, 0, Some(1))), table(6, Heap::Resources, 10));

    let unbound = BindError::Unbound { letter: 't', number: 7, space: 0 };
    assert_eq!(map.resource(&asked(Srv, 7, 0, Some(1))), Err(unbound));
    let partial = BindError::Partial { letter: 't', first: 1, last: 5, space: 0 };
    assert_eq!(map.resource(&asked(Srv, 1, 0, Some(5))), Err(partial));
    assert_eq!(map.resource(&asked(Srv, 1, 0, Some(4))), table(6, Heap::Resources, 0));
}

#[test]
fn stages_see_what_is_theirs() {
    let mut two = signature(vec![constants(0, 0, 1), constants(0, 0, 2)]);
    two.parameters[0].visibility = Visibility::Vertex;
    two.parameters[1].visibility = Visibility::Pixel;
    two.flags = RootFlags::DENY_HULL_SHADER_ROOT_ACCESS | RootFlags::SAMPLER_HEAP_DIRECTLY_INDEXED;
    assert_eq!(two.validate(), []);
    let map = RootSignatureMap::new(&two, None, HeapSets::default());
    let at = |stage| map.resource(&Registers { stage, ..asked(Cbv, 0, 0, Some(1)) });
    assert_eq!(at(ShaderKind::Vertex), Ok(Target::Constants { at: Argument::Push(0), words: 1 }));
    assert_eq!(at(ShaderKind::Pixel), Ok(Target::Constants { at: Argument::Push(1), words: 2 }));
    assert!(at(ShaderKind::Geometry).is_err());
    two.parameters[0].visibility = Visibility::All;
    let map = RootSignatureMap::new(&two, None, HeapSets::default());
    assert!(map.resource(&Registers { stage: ShaderKind::Hull, ..asked(Cbv, 0, 0, Some(1)) }).is_err());
    assert!(map.resource(&Registers { stage: ShaderKind::Domain, ..asked(Cbv, 0, 0, Some(1)) }).is_ok());
    assert!(map.is_heap_indexed(Heap::Samplers) && !map.is_heap_indexed(Heap::Resources));
}

#[test]
fn local_arguments_lie_in_records() {
    let local = signature(vec![
        constants(0, 15, 3),
        descriptor(Srv, 1, 15),
        ParameterKind::Table(vec![Range { register: register(0, 15), ..range(Sampler, 0, 1) }]),
    ]);
    let mut local = local;
    local.flags = RootFlags::LOCAL_ROOT_SIGNATURE;
    local.samplers = vec![StaticSampler::new(register(1, 15))];
    let map = RootSignatureMap::new(&global(), Some(&local), HeapSets::default());
    let asked = |class, number, space| {
        map.resource(&Registers { stage: ShaderKind::Miss, ..asked(class, number, space, Some(1)) })
    };
    let at = Argument::Record;
    assert_eq!(asked(Cbv, 0, 15), Ok(Target::Constants { at: at(0), words: 3 }));
    assert_eq!(asked(Srv, 1, 15), Ok(Target::Address { at: at(16) }));
    let heap = Heap::Samplers;
    assert_eq!(asked(Sampler, 0, 15), Ok(Target::Table { at: at(24), heap, offset: 0 }));
    let slot = Slot { set: 2, binding: 2 };
    assert_eq!(asked(Sampler, 1, 15), Ok(Target::StaticSampler { index: 2, slot }));
    assert_eq!(asked(Srv, 0, 1), Ok(Target::Address { at: Argument::Push(4) }));
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    /// Where a validated table says a register is, the map finds it.
    #[test]
    fn places_are_those_of_the_ranges(counts in prop::collection::vec((1..9u32, 0..4u32), 1..6)) {
        let mut number = 0;
        let ranges: Vec<Range> = counts
            .iter()
            .map(|&(count, gap)| {
                let range = range(Srv, number + gap, count);
                number += gap + count;
                range
            })
            .collect();
        let signature = signature(vec![ParameterKind::Table(ranges.clone())]);
        prop_assert_eq!(signature.validate(), []);
        let map = RootSignatureMap::new(&signature, None, HeapSets::default());
        let mut place = 0;
        for range in ranges {
            for i in 0..range.count {
                let found = map.resource(&asked(Srv, range.register.number + i, 0, Some(range.count - i)));
                prop_assert_eq!(found, table(0, Heap::Resources, place));
                place += 1;
            }
        }
        prop_assert!(map.resource(&asked(Srv, number, 0, Some(1))).is_err());
    }

    #[test]
    fn any_root_signature_is_mapped(words: Vec<u32>, number: u32, count: Option<u32>) {
        let bytes: Vec<u8> = [2].iter().chain(&words).flat_map(|w| w.to_le_bytes()).collect();
        let Ok(signature) = RootSignature::parse(&bytes) else { return Ok(()) };
        let map = RootSignatureMap::new(&signature, Some(&signature), HeapSets::default());
        let _ = map.resource(&asked(Srv, number, 0, count));
    }
}
