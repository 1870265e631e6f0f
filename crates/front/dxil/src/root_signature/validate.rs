//! What a device demands of a root signature that reads well. All violations are listed, in the order of the places
//! they are at.

use super::*;
use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error;

/// Words of all parameters.
const MAX_WORDS: u64 = 64;
/// Bytes of a shader record behind the shader's identifier.
const MAX_RECORD_BYTES: u64 = 4096 - 32;
/// The first of the spaces that drivers and runtimes keep for themselves.
const RESERVED_SPACES: u32 = 0xffff_fff0;
/// Most samples of an anisotropic filter.
const MAX_ANISOTROPY: u32 = 16;
/// What may be added to a level.
const LOD_BIAS: std::ops::RangeInclusive<f32> = -16.0..=15.99;

/// A place in a root signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The whole.
    Signature,
    /// A parameter.
    Parameter(usize),
    /// A range of a parameter.
    Range(usize, usize),
    /// A static sampler.
    Sampler(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Place::Signature => write!(f, "root signature"),
            Place::Parameter(n) => write!(f, "parameter {n}"),
            Place::Range(n, range) => write!(f, "parameter {n}, range {range}"),
            Place::Sampler(n) => write!(f, "static sampler {n}"),
        }
    }
}

/// What is wrong, and where.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("{place}: {fault}")]
pub struct Violation {
    /// Where.
    pub place: Place,
    /// What.
    pub fault: Fault,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum Fault {
    /// Parameters do not fit.
    #[error("{size} {unit} of parameters, the limit is {limit}")]
    Size {
        /// Their size.
        size: u64,
        /// Of what.
        unit: &'static str,
        /// The limit.
        limit: u64,
    },
    /// Flags that do not exist, that the version or the place does not have, or that exclude each other.
    #[error("flags {0:#x} do not go here or not together")]
    Flags(u32),
    /// The space is not for applications.
    #[error("space {0:#x} is reserved")]
    ReservedSpace(u32),
    /// A range without descriptors.
    #[error("no descriptors")]
    Empty,
    /// Registers beyond the last.
    #[error("{count} registers from {first} on go beyond the last")]
    RegisterOverflow {
        /// The first register.
        first: u32,
        /// How many.
        count: u32,
    },
    /// Places in a table beyond the last.
    #[error("places in the table go beyond the last")]
    TableOverflow,
    /// It follows a range without an end.
    #[error("follows an unbounded range")]
    AfterUnbounded,
    /// Samplers have a heap of their own.
    #[error("samplers and other descriptors in a table")]
    MixedHeaps,
    /// A sampler as a root descriptor.
    #[error("a sampler is no root descriptor")]
    SamplerDescriptor,
    /// A shader sees a register twice.
    #[error("register {letter}{register}, space {space}, is also that of {other}")]
    Overlap {
        /// The letter of the register.
        letter: char,
        /// Its number.
        register: u32,
        /// Its space.
        space: u32,
        /// Where it is bound, too.
        other: Place,
    },
    /// A field of a static sampler is out of range.
    #[error("{0} is out of range")]
    Sampler(&'static str),
}

/// What a register range of shaders is bound to.
struct Bound {
    first: u32,
    last: u32,
    visibility: Visibility,
    place: Place,
}

#[derive(Default)]
struct Validator {
    violations: Vec<Violation>,
    /// By letter and space.
    bound: BTreeMap<(char, u32), Vec<Bound>>,
}

impl RootSignature {
    /// All violations of what devices demand; none if the root signature may be used.
    pub fn validate(&self) -> Vec<Violation> {
        let mut validator = Validator::default();
        validator.signature(self);
        for (n, parameter) in self.parameters.iter().enumerate() {
            validator.parameter(self.version, n, parameter);
        }
        for (n, sampler) in self.samplers.iter().enumerate() {
            validator.sampler(self.version, Place::Sampler(n), sampler);
        }
        validator.overlaps();
        validator.violations.sort_by_key(|v| v.place);
        validator.violations
    }

    /// Whether its arguments lie in shader records.
    pub fn is_local(&self) -> bool {
        self.flags.contains(RootFlags::LOCAL_ROOT_SIGNATURE)
    }

    /// Where the arguments lie in a shader record: byte offsets behind the shader's identifier, a parameter each, and
    /// the size of all. Constants are aligned to their words, addresses and handles of tables to 8 bytes.
    pub fn record_layout(&self) -> (Vec<u64>, u64) {
        let mut end = 0u64;
        let offsets = self.parameters.iter().map(|parameter| {
            let (start, size) = match parameter.kind {
                ParameterKind::Constants { count, .. } => (end, u64::from(count) * 4),
                _ => (end.next_multiple_of(8), 8),
            };
            end = start + size;
            start
        });
        (offsets.collect(), end)
    }
}

impl Validator {
    fn fault(&mut self, place: Place, fault: Fault) {
        self.violations.push(Violation { place, fault });
    }

    fn signature(&mut self, signature: &RootSignature) {
        let (size, unit, limit) = match signature.is_local() {
            true => (signature.record_layout().1, "bytes", MAX_RECORD_BYTES),
            false => (signature.parameters.iter().map(|p| u64::from(p.words())).sum(), "words", MAX_WORDS),
        };
        if size > limit {
            self.fault(Place::Signature, Fault::Size { size, unit, limit });
        }
        let known: RootFlags = RootFlags::all().iter_names().map(|(_, flag)| flag).collect();
        let flags = signature.flags;
        let alone = !signature.is_local() || flags == RootFlags::LOCAL_ROOT_SIGNATURE;
        if !known.contains(flags) || !alone {
            self.fault(Place::Signature, Fault::Flags(flags.bits()));
        }
    }

    fn parameter(&mut self, version: Version, n: usize, parameter: &Parameter) {
        let (place, visibility) = (Place::Parameter(n), parameter.visibility);
        match &parameter.kind {
            ParameterKind::Constants { register, .. } => {
                self.bind(place, ResourceClass::Cbv, *register, 1, visibility);
            }
            ParameterKind::Descriptor { class, register, flags } => {
                let allowed = DescriptorFlags::DATA_VOLATILE
                    | DescriptorFlags::DATA_STATIC_WHILE_SET_AT_EXECUTE
                    | DescriptorFlags::DATA_STATIC;
                if !allowed.contains(*flags)
                    || !agree(*flags)
                    || version == Version::V1_0 && !flags.is_empty()
                {
                    self.fault(place, Fault::Flags(flags.bits()));
                }
                if *class == ResourceClass::Sampler {
                    self.fault(place, Fault::SamplerDescriptor);
                }
                self.bind(place, *class, *register, 1, visibility);
            }
            ParameterKind::Table(ranges) => self.table(version, n, ranges, visibility),
        }
    }

    fn table(&mut self, version: Version, n: usize, ranges: &[Range], visibility: Visibility) {
        let is_sampler = |range: &Range| range.class == ResourceClass::Sampler;
        if ranges.iter().any(is_sampler) && !ranges.iter().all(is_sampler) {
            self.fault(Place::Parameter(n), Fault::MixedHeaps);
        }
        let mut unbounded = false;
        for (i, (range, start)) in ranges.iter().zip(starts(ranges)).enumerate() {
            let place = Place::Range(n, i);
            let allowed = match range.class {
                _ if version == Version::V1_0 => DescriptorFlags::empty(),
                ResourceClass::Sampler => DescriptorFlags::DESCRIPTORS_VOLATILE,
                _ => DescriptorFlags::all().iter_names().map(|(_, flag)| flag).collect(),
            };
            if !allowed.contains(range.flags) || !agree(range.flags) {
                self.fault(place, Fault::Flags(range.flags.bits()));
            }
            if unbounded && range.offset == Range::APPEND {
                self.fault(place, Fault::AfterUnbounded);
            }
            unbounded = range.count == Range::UNBOUNDED;
            if range.count == 0 {
                self.fault(place, Fault::Empty);
            } else if !unbounded && start.checked_add(range.count - 1).is_none() {
                self.fault(place, Fault::TableOverflow);
            }
            self.bind(place, range.class, range.register, range.count, visibility);
        }
    }

    fn sampler(&mut self, version: Version, place: Place, sampler: &StaticSampler) {
        let known: SamplerFlags = SamplerFlags::all().iter_names().map(|(_, flag)| flag).collect();
        let versioned = version == Version::V1_2 || sampler.flags.is_empty();
        if !known.contains(sampler.flags) || !versioned {
            self.fault(place, Fault::Flags(sampler.flags.bits()));
        }
        let compares = (0x80..0x100).contains(&sampler.filter.number());
        let checks = [
            ("mipLODBias", LOD_BIAS.contains(&sampler.mip_lod_bias)),
            ("maxAnisotropy", sampler.max_anisotropy <= MAX_ANISOTROPY),
            ("comparisonFunc", !compares || sampler.comparison != Comparison::None),
            ("minLOD", !sampler.min_lod.is_nan()),
            ("maxLOD", !sampler.max_lod.is_nan()),
        ];
        for (field, _) in checks.into_iter().filter(|(_, good)| !good) {
            self.fault(place, Fault::Sampler(field));
        }
        self.bind(place, ResourceClass::Sampler, sampler.register, 1, sampler.visibility);
    }

    fn bind(
        &mut self,
        place: Place,
        class: ResourceClass,
        register: Register,
        count: u32,
        visibility: Visibility,
    ) {
        let Register { number: first, space } = register;
        if space >= RESERVED_SPACES {
            self.fault(place, Fault::ReservedSpace(space));
        }
        let last = match count {
            0 => return,
            Range::UNBOUNDED => u32::MAX,
            count => first.checked_add(count - 1).unwrap_or_else(|| {
                self.fault(place, Fault::RegisterOverflow { first, count });
                u32::MAX
            }),
        };
        let bound = Bound { first, last, visibility, place };
        self.bound.entry((class.letter(), space)).or_default().push(bound);
    }

    /// Sweeps the ranges of each letter and space in the order of their registers. It is enough to know the one that
    /// ends last for each visibility.
    fn overlaps(&mut self) {
        for ((letter, space), mut bound) in std::mem::take(&mut self.bound) {
            bound.sort_by_key(|b| (b.first, b.place));
            let mut latest: [Option<(u32, Place)>; Visibility::ALL.len()] = Default::default();
            for Bound { first, last, visibility, place } in bound {
                let seen = Visibility::ALL.iter().zip(&latest).filter(|&(&other, _)| {
                    visibility == Visibility::All || other == Visibility::All || other == visibility
                });
                let overlapping = seen.filter_map(|(_, latest)| *latest).find(|(end, _)| *end >= first);
                if let Some((_, other)) = overlapping {
                    let (place, other) = (place.max(other), place.min(other));
                    self.fault(place, Fault::Overlap { letter, register: first, space, other });
                }
                let slot = &mut latest[visibility as usize];
                if slot.is_none_or(|(end, _)| end < last) {
                    *slot = Some((last, place));
                }
            }
        }
    }
}

/// Whether flags do not exclude each other.
fn agree(flags: DescriptorFlags) -> bool {
    let data = DescriptorFlags::DATA_VOLATILE
        | DescriptorFlags::DATA_STATIC_WHILE_SET_AT_EXECUTE
        | DescriptorFlags::DATA_STATIC;
    let clash = |pair: DescriptorFlags| flags.contains(pair);
    (flags & data).iter().count() <= 1
        && !clash(DescriptorFlags::DESCRIPTORS_VOLATILE | DescriptorFlags::DATA_STATIC)
        && !clash(
            DescriptorFlags::DESCRIPTORS_VOLATILE
                | DescriptorFlags::DESCRIPTORS_STATIC_KEEPING_BUFFER_BOUNDS_CHECKS,
        )
}
