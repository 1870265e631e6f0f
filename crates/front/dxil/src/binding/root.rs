//! Registers by a root signature.

use super::{Argument, BindError, Checks, DescriptorKind, Heap, Registers, Remapper, Slot, Target, Windows};
use crate::model::{ResourceClass, ShaderKind};
use crate::root_signature::{ParameterKind, Range, Register, RootFlags, RootSignature, Visibility, starts};
use std::collections::BTreeMap;

/// The descriptor sets of heaps and static samplers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapSets {
    /// The set of the resource heap: a binding for each [`DescriptorKind`], by its number.
    pub resources: u32,
    /// The set of the sampler heap: binding 0.
    pub samplers: u32,
    /// The set of static samplers: a binding for each.
    pub static_samplers: u32,
    /// [`Remapper::descriptor_checks`] of the resource heap, if accesses are to be checked; those of the sampler heap are at the next
    /// binding.
    pub checks: Option<Checks>,
    /// [`Remapper::buffer_windows`], if there are any.
    pub windows: Option<Windows>,
    /// [`Remapper::texel_windows`], if there are any.
    pub texel_windows: Option<Windows>,
    /// [`Remapper::argument_block`], if the arguments of the root signature are no push constants.
    pub arguments: Option<Slot>,
}

impl Default for HeapSets {
    /// Resources in set 0, samplers in set 1, static samplers in set 2; neither checks nor windows; arguments in push constants.
    fn default() -> HeapSets {
        HeapSets {
            resources: 0,
            samplers: 1,
            static_samplers: 2,
            checks: None,
            windows: None,
            texel_windows: None,
            arguments: None,
        }
    }
}

impl HeapSets {
    pub(super) fn slot(&self, heap: Heap, kind: DescriptorKind) -> Slot {
        match heap {
            Heap::Resources => Slot { set: self.resources, binding: kind as u32 },
            Heap::Samplers => Slot { set: self.samplers, binding: 0 },
        }
    }

    pub(super) fn checks(&self, heap: Heap) -> Option<Checks> {
        let behind = match heap {
            Heap::Resources => 0,
            Heap::Samplers => 1,
        };
        let moved = |Slot { set, binding }| Slot { set, binding: binding.saturating_add(behind) };
        self.checks.map(|checks| Checks { slot: moved(checks.slot), ..checks })
    }
}

/// Registers that a parameter or a static sampler binds.
#[derive(Clone, Copy, Debug)]
struct Bound {
    first: u32,
    last: u32,
    visibility: Visibility,
    /// Of the first register.
    target: Target,
}

/// What a root signature binds, by class and space; in each the ranges in the order of their registers.
type Index = BTreeMap<(ResourceClass, u32), Vec<Bound>>;

/// The binding model of root signatures.
///
/// Arguments of the global root signature are push constants in the order of its parameters: the constants themselves,
/// 64-bit addresses at even words, tables' places in their heap as a word each. Arguments of the local one lie in shader
/// records as Direct3D puts them ([`RootSignature::record_layout`]).
#[derive(Clone, Debug)]
pub struct RootSignatureMap {
    sets: HeapSets,
    flags: RootFlags,
    global: Index,
    local: Index,
    push_words: u32,
    /// The first word of each parameter.
    words: Vec<u32>,
}

impl RootSignatureMap {
    /// The map of a global root signature, and of a local one for ray tracing, which is looked at first. They should have
    /// been validated: of registers that are bound twice, one binding wins.
    pub fn new(global: &RootSignature, local: Option<&RootSignature>, sets: HeapSets) -> RootSignatureMap {
        let mut end = 0u32;
        let words: Vec<u32> = global
            .parameters
            .iter()
            .map(|parameter| {
                let align = if matches!(parameter.kind, ParameterKind::Descriptor { .. }) { 2 } else { 1 };
                let start = end.checked_next_multiple_of(align).unwrap_or(u32::MAX);
                end = start.saturating_add(parameter.words());
                start
            })
            .collect();
        let (push, record) = (words.iter().map(|&word| Argument::Push(word)), |offset: u64| {
            Argument::Record(u32::try_from(offset).unwrap_or(u32::MAX))
        });
        RootSignatureMap {
            sets,
            flags: global.flags,
            global: index(global, push, &sets, 0),
            local: local.map_or_else(Index::new, |local| {
                // Static samplers of both are bound side by side.
                let first = global.samplers.len() as u32;
                index(local, local.record_layout().0.into_iter().map(record), &sets, first)
            }),
            push_words: end,
            words,
        }
    }

    /// The first word of a parameter of the global root signature in the push constants.
    pub fn word(&self, parameter: usize) -> Option<u32> {
        self.words.get(parameter).copied()
    }

    fn find(&self, registers: &Registers) -> Result<Target, BindError> {
        let global = if self.is_denied(registers.stage) { None } else { Some(&self.global) };
        let key = (registers.class, registers.first.space);
        let lists = [Some(&self.local), global].into_iter().flatten().filter_map(|index| index.get(&key));
        let first = registers.first.number;
        for list in lists {
            // Shaders of one stage see few ranges of a space, and those that begin behind the register not at all.
            let end = list.partition_point(|bound| bound.first <= first);
            let seen = list[..end]
                .iter()
                .rev()
                .find(|bound| bound.last >= first && is_seen(bound.visibility, registers.stage));
            let Some(bound) = seen else { continue };
            let last = registers.last();
            if last > bound.last {
                let (letter, space) = (registers.class.letter(), registers.first.space);
                return Err(BindError::Partial { letter, first, last, space });
            }
            return Ok(match bound.target {
                Target::Table { at, heap, offset } => {
                    let offset = offset.checked_add(first - bound.first);
                    Target::Table { at, heap, offset: offset.ok_or(BindError::beyond(registers))? }
                }
                target => target,
            });
        }
        Err(BindError::unbound(registers))
    }

    /// Whether a stage sees nothing of the global root signature.
    fn is_denied(&self, stage: ShaderKind) -> bool {
        self.flags.contains(match stage {
            ShaderKind::Vertex => RootFlags::DENY_VERTEX_SHADER_ROOT_ACCESS,
            ShaderKind::Hull => RootFlags::DENY_HULL_SHADER_ROOT_ACCESS,
            ShaderKind::Domain => RootFlags::DENY_DOMAIN_SHADER_ROOT_ACCESS,
            ShaderKind::Geometry => RootFlags::DENY_GEOMETRY_SHADER_ROOT_ACCESS,
            ShaderKind::Pixel => RootFlags::DENY_PIXEL_SHADER_ROOT_ACCESS,
            ShaderKind::Amplification => RootFlags::DENY_AMPLIFICATION_SHADER_ROOT_ACCESS,
            ShaderKind::Mesh => RootFlags::DENY_MESH_SHADER_ROOT_ACCESS,
            _ => return false,
        })
    }
}

fn is_seen(visibility: Visibility, stage: ShaderKind) -> bool {
    match visibility {
        Visibility::All => true,
        Visibility::Vertex => stage == ShaderKind::Vertex,
        Visibility::Hull => stage == ShaderKind::Hull,
        Visibility::Domain => stage == ShaderKind::Domain,
        Visibility::Geometry => stage == ShaderKind::Geometry,
        Visibility::Pixel => stage == ShaderKind::Pixel,
        Visibility::Amplification => stage == ShaderKind::Amplification,
        Visibility::Mesh => stage == ShaderKind::Mesh,
    }
}

fn index(
    signature: &RootSignature,
    arguments: impl Iterator<Item = Argument>,
    sets: &HeapSets,
    first_sampler: u32,
) -> Index {
    let mut index = Index::new();
    let mut bind = |class: ResourceClass, register: Register, count: u32, visibility, target| {
        let first = register.number;
        let last = match count {
            0 => return,
            Range::UNBOUNDED => u32::MAX,
            count => first.saturating_add(count - 1),
        };
        index.entry((class, register.space)).or_default().push(Bound { first, last, visibility, target });
    };
    for (parameter, at) in signature.parameters.iter().zip(arguments) {
        let visibility = parameter.visibility;
        match &parameter.kind {
            ParameterKind::Constants { register, count } => {
                let target = Target::Constants { at, words: *count };
                bind(ResourceClass::Cbv, *register, 1, visibility, target);
            }
            ParameterKind::Descriptor { class, register, .. } => {
                bind(*class, *register, 1, visibility, Target::Address { at });
            }
            ParameterKind::Table(ranges) => {
                for (range, offset) in ranges.iter().zip(starts(ranges)) {
                    let target = Target::Table { at, heap: Heap::of(range.class), offset };
                    bind(range.class, range.register, range.count, visibility, target);
                }
            }
        }
    }
    for (sampler, index) in signature.samplers.iter().zip(first_sampler..) {
        let slot = Slot { set: sets.static_samplers, binding: index };
        let target = Target::StaticSampler { index, slot };
        bind(ResourceClass::Sampler, sampler.register, 1, sampler.visibility, target);
    }
    index.values_mut().for_each(|list| list.sort_by_key(|bound| bound.first));
    index
}

impl Remapper for RootSignatureMap {
    fn resource(&self, registers: &Registers) -> Result<Target, BindError> {
        self.find(registers)
    }

    /// The counter of a descriptor is bound beside it; root descriptors have none.
    fn counter(&self, registers: &Registers) -> Result<Target, BindError> {
        match self.find(registers)? {
            target @ Target::Table { .. } => Ok(target),
            _ => Err(BindError::unbound(registers)),
        }
    }

    fn heap(&self, heap: Heap, kind: DescriptorKind) -> Result<Slot, BindError> {
        Ok(self.sets.slot(heap, kind))
    }

    fn is_heap_indexed(&self, heap: Heap) -> bool {
        self.flags.contains(match heap {
            Heap::Resources => RootFlags::CBV_SRV_UAV_HEAP_DIRECTLY_INDEXED,
            Heap::Samplers => RootFlags::SAMPLER_HEAP_DIRECTLY_INDEXED,
        })
    }

    fn descriptor_checks(&self, heap: Heap) -> Option<Checks> {
        self.sets.checks(heap)
    }

    fn buffer_windows(&self) -> Option<Windows> {
        self.sets.windows
    }

    fn texel_windows(&self) -> Option<Windows> {
        self.sets.texel_windows
    }

    fn push_words(&self) -> u32 {
        self.push_words
    }

    fn argument_block(&self) -> Option<Slot> {
        self.sets.arguments
    }
}
