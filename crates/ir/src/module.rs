//! A module: functions, interface, resources, and the facts about how it is run.

mod interface;
mod resource;

pub use interface::{Builtin, Capture, Direction, Interpolation, Semantic, VarData};
pub use resource::{
    Access, Count, ImageFormat, OutOfBounds, PayloadKind, ResourceData, ResourceKind, ResourceName, Texel,
};

use crate::entities::{Func, Resource, Var};
use crate::func::Function;
use crate::imm::named_enum;
use crate::stage::{Denormals, Pipeline, Samplers};
use cranelift_entity::PrimaryMap;
use cranelift_entity::packed_option::PackedOption;

named_enum! {
    /// What a module is run as.
    Stage {
        /// Vertex shader.
        Vertex "vertex",
        /// Tessellation control shader.
        TessControl "tess_control",
        /// Tessellation evaluation shader.
        TessEval "tess_eval",
        /// Geometry shader.
        Geometry "geometry",
        /// Fragment shader.
        Fragment "fragment",
        /// Compute kernel.
        Compute "compute",
        /// Mesh shader.
        Mesh "mesh",
        /// Task (amplification) shader.
        Task "task",
        /// Ray generation shader.
        RayGen "ray_gen",
        /// Intersection shader.
        Intersection "intersection",
        /// Any-hit shader.
        AnyHit "any_hit",
        /// Closest-hit shader.
        ClosestHit "closest_hit",
        /// Miss shader.
        Miss "miss",
        /// Callable shader.
        Callable "callable",
        /// Code of a CPU guest.
        Cpu "cpu",
    }
}

/// A line of the guest's listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListingLine {
    /// Guest address.
    pub address: u32,
    /// The instruction's text.
    pub text: String,
}

/// A module.
#[derive(Clone, Debug)]
pub struct Module {
    /// What it is run as.
    pub stage: Stage,
    /// A name for people; any text.
    pub name: String,
    /// Functions.
    pub funcs: PrimaryMap<Func, Function>,
    /// The one that is run.
    pub entry: PackedOption<Func>,
    /// Inputs and outputs.
    pub vars: PrimaryMap<Var, VarData>,
    /// Outputs that are captured, in the order of their variables.
    pub captures: Vec<Capture>,
    /// Resources.
    pub resources: PrimaryMap<Resource, ResourceData>,
    /// Invocations of a workgroup along x, y and z. Lanes of its subgroups follow each other by rows, as
    /// `local_invocation_index` counts, and so do the four of each quad.
    pub workgroup: [u32; 3],
    /// Bytes of memory shared by the workgroup.
    pub shared_size: u32,
    /// The fixed functions around the stage.
    pub pipeline: Pipeline,
    /// What the guest asks of denormals.
    pub denormals: Denormals,
    /// How textures meet their samplers.
    pub samplers: Samplers,
    /// Whether the guest's compiler has optimised the code, so that the pass list does less.
    pub optimized: bool,
    /// Whether floats are the host's, not the guest's: a pass dropped what only the guest does with denormals, zeros, NaNs
    /// and rounding. Back ends say so in their output.
    pub relaxed_floats: bool,
    /// The guest's listing in order of addresses; may be empty. Not part of the text form.
    pub listing: Vec<ListingLine>,
}

impl Module {
    /// An empty module.
    pub fn new(stage: Stage, name: impl Into<String>) -> Module {
        Module {
            stage,
            name: name.into(),
            funcs: PrimaryMap::new(),
            entry: None.into(),
            vars: PrimaryMap::new(),
            captures: Vec::new(),
            resources: PrimaryMap::new(),
            workgroup: [1; 3],
            shared_size: 0,
            pipeline: Pipeline::default(),
            denormals: Denormals::Any,
            samplers: Samplers::Combined,
            optimized: false,
            relaxed_floats: false,
            listing: Vec::new(),
        }
    }

    /// The entry function; `None` if it was never set.
    pub fn entry_func(&self) -> Option<&Function> {
        self.entry.expand().and_then(|f| self.funcs.get(f))
    }

    /// Captures every output at a location, and the position, in buffer 0: position first, then by location and
    /// component, each directly behind the one before (outputs of 64-bit lanes at multiples of 8 bytes).
    pub fn capture_outputs(&mut self) {
        let mut order: Vec<(u32, u8, Var)> = self
            .vars
            .iter()
            .filter(|(_, data)| data.direction == Direction::Output)
            .filter_map(|(var, data)| match data.semantic {
                Semantic::Location { location, component } => {
                    Some((location.saturating_add(1), component, var))
                }
                Semantic::Builtin(Builtin::Position) => Some((0, 0, var)),
                Semantic::Builtin(_) => None,
            })
            .collect();
        order.sort_unstable_by_key(|&(location, component, var)| (location, component, var.as_u32()));
        let (mut end, mut widest) = (0u32, 4u32);
        self.captures.clear();
        for (_, _, var) in order {
            let data = &self.vars[var];
            let lane = data.ty.kind().bits().div_ceil(8).max(4);
            widest = widest.max(lane);
            let offset = end.next_multiple_of(lane);
            self.captures.push(Capture { var, buffer: 0, offset, stride: 0 });
            let elements = data.array.unwrap_or(1);
            end = offset.saturating_add((lane * u32::from(data.ty.lanes())).saturating_mul(elements));
        }
        let stride = end.next_multiple_of(widest);
        self.captures.iter_mut().for_each(|capture| capture.stride = stride);
        self.captures.sort_unstable_by_key(|capture| capture.var);
    }

    /// The listing's text for a guest address.
    pub fn listing_at(&self, address: u32) -> Option<&str> {
        let i = self.listing.binary_search_by_key(&address, |l| l.address).ok()?;
        Some(&self.listing[i].text)
    }
}
