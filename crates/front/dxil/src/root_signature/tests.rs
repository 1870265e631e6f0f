use super::validate::{Fault, Place};
use super::*;
use proptest::prelude::*;

fn register(number: u32, space: u32) -> Register {
    Register { number, space }
}

fn range(class: ResourceClass, number: u32, count: u32) -> Range {
    let flags = DescriptorFlags::empty();
    Range { class, count, register: register(number, 0), flags, offset: Range::APPEND }
}

fn table(ranges: Vec<Range>) -> Parameter {
    Parameter { kind: ParameterKind::Table(ranges), visibility: Visibility::All }
}

fn constants(number: u32, count: u32) -> Parameter {
    let kind = ParameterKind::Constants { register: register(number, 0), count };
    Parameter { kind, visibility: Visibility::All }
}

fn signature(parameters: Vec<Parameter>) -> RootSignature {
    RootSignature { version: Version::V1_1, flags: RootFlags::empty(), parameters, samplers: Vec::new() }
}

fn faults(signature: &RootSignature) -> Vec<(Place, Fault)> {
    signature.validate().into_iter().map(|v| (v.place, v.fault)).collect()
}

#[test]
fn sixty_four_words_fit() {
    assert_eq!(faults(&signature(vec![constants(0, 63), table(vec![range(ResourceClass::Srv, 0, 1)])])), []);
    let size = Fault::Size { size: 65, unit: "words", limit: 64 };
    assert_eq!(faults(&signature(vec![constants(0, 65)])), [(Place::Signature, size)]);
    let mut local = signature(vec![constants(0, 65)]);
    local.flags = RootFlags::LOCAL_ROOT_SIGNATURE;
    assert_eq!(faults(&local), []);
    local.parameters = vec![constants(0, 1017)];
    let size = Fault::Size { size: 4068, unit: "bytes", limit: 4064 };
    assert_eq!(faults(&local), [(Place::Signature, size)]);
}

#[test]
fn records_align_addresses() {
    let descriptor = ParameterKind::Descriptor {
        class: ResourceClass::Srv,
        register: register(0, 0),
        flags: DescriptorFlags::empty(),
    };
    let descriptor = Parameter { kind: descriptor, visibility: Visibility::All };
    let parameters = vec![constants(0, 3), descriptor, constants(1, 1), table(vec![]), constants(2, 1)];
    assert_eq!(signature(parameters).record_layout(), (vec![0, 16, 24, 32, 40], 44));
}

#[test]
fn registers_are_bound_once() {
    let overlap = |letter, register, other| Fault::Overlap { letter, register, space: 0, other };
    let both = signature(vec![table(vec![range(ResourceClass::Srv, 0, 4), range(ResourceClass::Srv, 3, 1)])]);
    assert_eq!(faults(&both), [(Place::Range(0, 1), overlap('t', 3, Place::Range(0, 0)))]);

    // Constants are constant buffers; stages that do not see each other's do not mind.
    let mut parameters = vec![constants(0, 1), table(vec![range(ResourceClass::Cbv, 0, 1)])];
    let clash = [(Place::Range(1, 0), overlap('b', 0, Place::Parameter(0)))];
    assert_eq!(faults(&signature(parameters.clone())), clash);
    parameters[0].visibility = Visibility::Pixel;
    assert_eq!(faults(&signature(parameters.clone())), clash);
    parameters[1].visibility = Visibility::Vertex;
    assert_eq!(faults(&signature(parameters)), []);

    // A short range behind a long one does not hide it.
    let ranges = vec![
        range(ResourceClass::Uav, 0, Range::UNBOUNDED),
        range(ResourceClass::Uav, 1, 1),
        range(ResourceClass::Uav, 5, 1),
    ];
    let mut ranges = ranges;
    ranges[1].offset = 0;
    let first = Place::Range(0, 0);
    let expected =
        [(Place::Range(0, 1), overlap('u', 1, first)), (Place::Range(0, 2), overlap('u', 5, first))];
    assert_eq!(faults(&signature(vec![table(ranges)])), expected);

    let mut samplers = signature(vec![table(vec![range(ResourceClass::Sampler, 0, 2)])]);
    samplers.samplers.push(StaticSampler::new(register(1, 0)));
    assert_eq!(faults(&samplers), [(Place::Sampler(0), overlap('s', 1, Place::Range(0, 0)))]);
}

#[test]
fn tables_have_an_end() {
    let unbounded = range(ResourceClass::Srv, 0, Range::UNBOUNDED);
    let after = signature(vec![table(vec![unbounded, range(ResourceClass::Uav, 0, 1)])]);
    assert_eq!(faults(&after), [(Place::Range(0, 1), Fault::AfterUnbounded)]);
    let mixed =
        signature(vec![table(vec![range(ResourceClass::Srv, 0, 1), range(ResourceClass::Sampler, 0, 1)])]);
    assert_eq!(faults(&mixed), [(Place::Parameter(0), Fault::MixedHeaps)]);
    let empty = signature(vec![table(vec![range(ResourceClass::Srv, 0, 0)])]);
    assert_eq!(faults(&empty), [(Place::Range(0, 0), Fault::Empty)]);
    let mut beyond = range(ResourceClass::Srv, 0xffff_fffe, 3);
    beyond.offset = 0xffff_fffe;
    let overflow = Fault::RegisterOverflow { first: 0xffff_fffe, count: 3 };
    let expected = [(Place::Range(0, 0), Fault::TableOverflow), (Place::Range(0, 0), overflow)];
    assert_eq!(faults(&signature(vec![table(vec![beyond])])), expected);
}

#[test]
fn flags_must_agree() {
    let with = |flags| {
        let mut range = range(ResourceClass::Srv, 0, 1);
        range.flags = flags;
        faults(&signature(vec![table(vec![range])])).is_empty()
    };
    use DescriptorFlags as F;
    assert!(with(F::DESCRIPTORS_VOLATILE | F::DATA_VOLATILE));
    assert!(with(F::DESCRIPTORS_STATIC_KEEPING_BUFFER_BOUNDS_CHECKS | F::DATA_STATIC));
    assert!(!with(F::DESCRIPTORS_VOLATILE | F::DATA_STATIC));
    assert!(!with(F::DATA_STATIC | F::DATA_VOLATILE));
    assert!(!with(F::DESCRIPTORS_VOLATILE | F::DESCRIPTORS_STATIC_KEEPING_BUFFER_BOUNDS_CHECKS));
    assert!(!with(F::from_bits_retain(0x20)));
    let mut local = signature(vec![]);
    local.flags = RootFlags::LOCAL_ROOT_SIGNATURE | RootFlags::ALLOW_STREAM_OUTPUT;
    assert_eq!(faults(&local), [(Place::Signature, Fault::Flags(0xc0))]);
}

#[test]
fn samplers_are_in_range() {
    let mut signature = signature(vec![]);
    let mut sampler = StaticSampler::new(register(0, 0xffff_fff0));
    sampler.mip_lod_bias = 16.0;
    sampler.max_anisotropy = 17;
    sampler.min_lod = f32::NAN;
    sampler.flags = SamplerFlags::SAMPLER_FLAG_UINT_BORDER_COLOR;
    sampler.filter = Filter::ComparisonAnisotropic;
    sampler.comparison = Comparison::None;
    signature.samplers.push(sampler);
    let texts: Vec<String> = signature.validate().iter().map(Violation::to_string).collect();
    let expected = [
        "static sampler 0: flags 0x1 do not go here or not together",
        "static sampler 0: mipLODBias is out of range",
        "static sampler 0: maxAnisotropy is out of range",
        "static sampler 0: comparisonFunc is out of range",
        "static sampler 0: minLOD is out of range",
        "static sampler 0: space 0xfffffff0 is reserved",
    ];
    assert_eq!(texts, expected);
}

fn any_register() -> impl Strategy<Value = Register> {
    (any::<u32>(), any::<u32>()).prop_map(|(number, space)| Register { number, space })
}

fn any_of<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(all)
}

fn any_range() -> impl Strategy<Value = Range> {
    (any_of(ResourceClass::ALL), any::<u32>(), any_register(), any::<u32>(), any::<u32>()).prop_map(
        |(class, count, register, flags, offset)| {
            let flags = DescriptorFlags::from_bits_retain(flags);
            Range { class, count, register, flags, offset }
        },
    )
}

fn any_kind() -> impl Strategy<Value = ParameterKind> {
    let class = any_of(&[ResourceClass::Srv, ResourceClass::Uav, ResourceClass::Cbv]);
    prop_oneof![
        (any_register(), any::<u32>())
            .prop_map(|(register, count)| ParameterKind::Constants { register, count }),
        (class, any_register(), any::<u32>()).prop_map(|(class, register, flags)| {
            let flags = DescriptorFlags::from_bits_retain(flags);
            ParameterKind::Descriptor { class, register, flags }
        }),
        prop::collection::vec(any_range(), 0..5).prop_map(ParameterKind::Table),
    ]
}

fn any_sampler() -> impl Strategy<Value = StaticSampler> {
    let address = any_of(AddressMode::ALL);
    let modes = (any_of(Filter::ALL), address, any_of(Comparison::ALL), any_of(BorderColor::ALL));
    let numbers = (any::<f32>(), any::<u32>(), any::<f32>(), any::<f32>(), any::<u32>());
    (modes, numbers, any_register(), any_of(Visibility::ALL)).prop_map(
        |((filter, mode, comparison, border), (bias, anisotropy, min, max, flags), register, visibility)| {
            StaticSampler {
                filter,
                address: [AddressMode::Wrap, mode, AddressMode::MirrorOnce],
                mip_lod_bias: bias,
                max_anisotropy: anisotropy,
                comparison,
                border,
                min_lod: min,
                max_lod: max,
                register,
                visibility,
                flags: SamplerFlags::from_bits_retain(flags),
            }
        },
    )
}

fn any_signature() -> impl Strategy<Value = RootSignature> {
    let parameter =
        (any_kind(), any_of(Visibility::ALL)).prop_map(|(kind, visibility)| Parameter { kind, visibility });
    let parameters = prop::collection::vec(parameter, 0..8);
    let samplers = prop::collection::vec(any_sampler(), 0..4);
    (any::<u32>(), parameters, samplers).prop_map(|(flags, parameters, samplers)| {
        let flags = RootFlags::from_bits_retain(flags);
        RootSignature { version: Version::V1_2, flags, parameters, samplers }
    })
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn what_is_written_is_read(signature in any_signature()) {
        let written = signature.write();
        let read = RootSignature::parse(&written).unwrap();
        // NaN is not equal to itself.
        prop_assert_eq!(read.write(), written);
        prop_assert_eq!(&read.parameters, &signature.parameters);
        for version in [Version::V1_0, Version::V1_1] {
            let written = RootSignature { version, ..signature.clone() }.write();
            prop_assert_eq!(RootSignature::parse(&written).unwrap().write(), written);
        }
    }

    #[test]
    fn any_is_validated_and_printed(signature in any_signature()) {
        let _ = signature.validate();
        prop_assert!(signature.to_string().matches("StaticSampler(").count() == signature.samplers.len());
    }

    #[test]
    fn any_bytes_are_read_or_refused(version in 0..5u32, words: Vec<u32>) {
        let bytes: Vec<u8> = [version].iter().chain(&words).flat_map(|w| w.to_le_bytes()).collect();
        if let Ok(signature) = RootSignature::parse(&bytes) {
            let _ = signature.validate();
        }
    }

    /// Small numbers, so that tables are found.
    #[test]
    fn damaged_ones_are_read_or_refused(signature in any_signature(), at: prop::sample::Index, byte: u8) {
        let mut bytes = signature.write();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(signature) = RootSignature::parse(&bytes) {
            let _ = signature.validate();
        }
        let _ = RootSignature::parse(&bytes[..at]);
    }
}
