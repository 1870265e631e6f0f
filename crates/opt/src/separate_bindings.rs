//! Gives each resource a binding of its own, for languages in which two cannot share one.
//!
//! ```text
//! uniform @a = set 0 binding 4 size 16           uniform @a = set 0 binding 4 size 16
//! uniform @b = set 0 binding 4 size 80      =>   uniform @b = set 0 binding 7 size 80
//! texture @t = set 0 binding 6 2d                texture @t = set 0 binding 6 2d
//! ```
//!
//! Front ends declare a descriptor again for each way that a shader looks at it. The first declaration keeps the binding, the
//! others get the next ones behind the last of their set, not counting the samplers that
//! [`separate_samplers`](crate::separate_samplers) puts far behind: whoever binds resources binds them there, too.

use crate::separate_samplers::SAMPLERS;
use crate::{Changed, Lacks};
use std::collections::BTreeSet;
use xenoglot_ir::Module;
use xenoglot_ir::module::ResourceKind;

/// Moves resources whose binding another has.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    if !lacks.shared_bindings {
        return Changed::NONE;
    }
    let mut declared: BTreeSet<(u32, u32)> = BTreeSet::new();
    let mut again = Vec::new();
    for (resource, data) in module.resources.iter().filter(|(_, data)| is_bound(data.kind)) {
        if !declared.insert((data.set, data.binding)) {
            again.push(resource);
        }
    }
    for &resource in &again {
        let data = &mut module.resources[resource];
        let mut of_set = declared.range((data.set, 0)..(data.set, SAMPLERS));
        let last = of_set.next_back().map_or(data.binding, |&(_, binding)| binding);
        let mut binding = last.saturating_add(1);
        while declared.contains(&(data.set, binding)) && binding < u32::MAX {
            binding += 1;
        }
        data.binding = binding;
        declared.insert((data.set, binding));
    }
    Changed::insts_if(!again.is_empty())
}

/// Whether a resource is bound by a set and a binding.
fn is_bound(kind: ResourceKind) -> bool {
    !matches!(kind, ResourceKind::PushConstants { .. })
}
