//! How byte-addressed resources look in GLSL: as an array of vectors where every access allows it, else of words.

use crate::error::Error;
use crate::options::Target;
use xenoglot_ir::entity::{PrimaryMap, SecondaryMap};
use xenoglot_ir::imm::Order;
use xenoglot_ir::module::{Count, OutOfBounds, ResourceData, ResourceKind};
use xenoglot_ir::{Imm, Kind, Module, Op, Resource};

/// Element of the array a resource is declared as.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Element {
    /// `vec4`.
    #[default]
    Floats,
    /// `uvec4`.
    Words,
    /// `uint`.
    Word,
}

impl Element {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Element::Floats => "vec4",
            Element::Words => "uvec4",
            Element::Word => "uint",
        }
    }

    /// Words in an element.
    pub(crate) fn words(self) -> u32 {
        if self == Element::Word { 1 } else { 4 }
    }
}

/// How a resource is declared and accessed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct View {
    pub(crate) element: Element,
    /// Elements; `None` if known only when the buffer is bound.
    pub(crate) count: Option<u32>,
    /// Accesses outside have to be kept from happening.
    pub(crate) checked: bool,
    /// Some access is volatile.
    pub(crate) volatile: bool,
    /// Some access is atomic or ordered.
    pub(crate) coherent: bool,
    pub(crate) used: bool,
    /// Declared a second time for 64-bit atomics, as an array of `uint64_t`.
    pub(crate) wide: bool,
}

/// Accesses of one resource.
#[derive(Clone, Copy, Default)]
struct Seen {
    any: bool,
    floats: bool,
    words: bool,
    /// An access that is not a whole aligned vector, or has to be tested lane by lane.
    narrow: bool,
    volatile: bool,
    ordered: bool,
    /// A 64-bit atomic.
    wide: bool,
}

/// The views of a module's buffers.
#[derive(Default)]
pub(crate) struct Buffers {
    views: SecondaryMap<Resource, View>,
    /// Whether shared memory is accessed.
    pub(crate) shared: bool,
}

impl Buffers {
    pub(crate) fn view(&self, r: Resource) -> View {
        self.views[r]
    }

    /// Chooses views by all accesses of the module.
    pub(crate) fn compute(&mut self, module: &Module, target: Target) -> Result<(), Error> {
        let mut seen: SecondaryMap<Resource, Seen> = SecondaryMap::new();
        self.shared = false;
        for f in module.funcs.values() {
            for &b in &f.layout {
                for &inst in &f.blocks[b].insts {
                    let data = &f.insts[inst];
                    if let (Op::BufferSize, Imm::Resource(r)) = (data.op, data.imm) {
                        seen[r].any = true;
                        seen[r].words = true;
                        // A size of words tells the last bytes, too.
                        seen[r].narrow = true;
                    }
                    let Imm::Mem(mem) = data.imm else { continue };
                    self.shared |= mem.space == xenoglot_ir::Space::Shared;
                    let Some(r) = mem.resource.expand() else { continue };
                    let value = match data.op {
                        Op::Store => f.args(inst).get(1).copied(),
                        _ => f.results(inst).first().copied(),
                    };
                    let Some(ty) = value.map(|v| f.ty(v)) else { continue };
                    let s = &mut seen[r];
                    s.any = true;
                    s.floats |= ty.kind() == Kind::F32;
                    s.words |= ty.kind() != Kind::F32;
                    s.narrow |= ty.bits() != 128
                        || ty.kind().bits() != 32
                        || mem.align_log2 < 4
                        || (mem.apart && module.resources[r].oob != OutOfBounds::Undefined)
                        || !matches!(data.op, Op::Load | Op::Store);
                    s.wide |= ty.kind().bits() == 64 && !matches!(data.op, Op::Load | Op::Store);
                    s.volatile |= mem.volatile;
                    s.ordered |= mem.order != Order::None || !matches!(data.op, Op::Load | Op::Store);
                }
            }
        }
        self.views.clear();
        for (r, data) in module.resources.iter() {
            if let Some(view) = view(data, seen[r], target)? {
                self.views[r] = view;
            }
        }
        Ok(())
    }
}

fn view(data: &ResourceData, seen: Seen, target: Target) -> Result<Option<View>, Error> {
    let unsupported = |reason| Err(Error::UnsupportedDeclaration { name: data.name.clone(), reason });
    if !seen.any {
        return Ok(None);
    }
    if data.count != Count::One {
        return unsupported("arrays of buffers");
    }
    if data.oob == OutOfBounds::Fault {
        return unsupported("accesses outside that fault");
    }
    let vector = if seen.floats { Element::Floats } else { Element::Words };
    let push_words = |size: u32| (seen.narrow || !size.is_multiple_of(16)) && target == Target::Vulkan450;
    let (element, bytes) = match data.kind {
        ResourceKind::UniformBuffer { size } => (vector, Some(size)),
        ResourceKind::PushConstants { size } if push_words(size) => (Element::Word, Some(size)),
        ResourceKind::PushConstants { size } => (vector, Some(size)),
        ResourceKind::StorageBuffer { .. } if target == Target::Gl330 => {
            return unsupported("version 330 has no storage buffers");
        }
        ResourceKind::StorageBuffer { .. } if seen.narrow => (Element::Word, None),
        // Integers do not pass through float elements: a host may change NaNs on the way to memory.
        ResourceKind::StorageBuffer { .. } if seen.words => (Element::Words, None),
        ResourceKind::StorageBuffer { .. } => (Element::Floats, None),
        _ => return unsupported("not a buffer"),
    };
    Ok(Some(View {
        element,
        count: bytes.map(|b| b.div_ceil(4 * element.words()).max(1)),
        checked: data.oob != OutOfBounds::Undefined,
        volatile: seen.volatile,
        coherent: seen.ordered,
        used: true,
        wide: seen.wide,
    }))
}

/// The resources of a module by what the writer calls them.
pub(crate) type Names<K> = PrimaryMap<K, String>;
