//! Shading apart from depth and blending: a program for each variant of the state.

use super::batch::{Batch, GRID_BYTES, Scene};
use super::options::Options;
use crate::draw::Draw;
use crate::program::{PRIMITIVE_WORDS, frame_words, output, shading};
use crate::rules::Variant;
use std::collections::HashMap;
use xenoglot_host::{
    Access, Arguments, Binding, Buffer, Commands, Compilation, Device, Error, Layout, Program, State, Table,
};
use xenoglot_raster::host::{Lists, Sorter};
use xenoglot_raster::shade_program::{LIST_BYTES, list_words};
use xenoglot_raster::{Coverage, Edges, Grid};

/// The programs, and what they share from batch to batch.
#[derive(Debug)]
pub struct Split {
    options: Options,
    sorter: Sorter,
    shading_layout: Layout,
    /// The shading program of all states.
    general: Program,
    variants: Table<Variant>,
    output_layout: Layout,
    output: Program,
    scratch: Option<Scratch>,
}

/// Tiles of primitives between shading and output. Batches use it one after the other, since a queue runs one dispatch
/// after the other.
#[derive(Clone, Debug)]
struct Scratch {
    instances: u64,
    items: Buffer,
    shaded: Buffer,
}

/// The programs of a draw's variants.
#[derive(Default)]
pub struct Plan {
    programs: Vec<Program>,
}

impl Split {
    pub fn new(device: &Device, options: Options, compilation: Compilation) -> Result<Split, Error> {
        let tile = options.tile;
        let (read, write) = (Access::Read, Access::ReadWrite);
        let layout = |accesses: [Access; 8]| {
            let bindings: Vec<Binding> =
                (0..).zip(accesses).map(|(number, access)| Binding::new(number, access)).collect();
            device.layout(&bindings)
        };
        let list = Access::Uniform { size: LIST_BYTES };
        let shading_layout = layout([list, read, read, write, read, read, read, read]);
        let output_layout = layout([read, read, read, read, read, read, write, write]);
        let translate = move |variant: &Variant| Ok(shading(tile, *variant));
        Ok(Split {
            options,
            sorter: Sorter::new(device, tile)?,
            general: device.program(&shading_layout, shading(tile, Variant::General))?,
            variants: Table::new(device, &shading_layout, compilation, translate),
            output: device.program(&output_layout, output(tile))?,
            shading_layout,
            output_layout,
            scratch: None,
        })
    }

    /// The programs for a draw's states, and which of them each state has. States share the general one until their
    /// variant's is there.
    pub fn plan(&self, draw: &Draw<'_>) -> (Plan, Vec<u32>) {
        let mut programs = Vec::new();
        let mut numbers: HashMap<Variant, u32> = HashMap::new();
        let mut variant_of = Vec::new();
        for state in draw.states() {
            let wanted = Variant::of(state);
            let (variant, program) = match self.variants.get(&wanted) {
                State::Ready(program) => (wanted, program),
                State::Compiling | State::Failed(_) => (Variant::General, self.general.clone()),
            };
            variant_of.push(*numbers.entry(variant).or_insert_with(|| {
                programs.push(program);
                programs.len() as u32 - 1
            }));
        }
        (Plan { programs }, variant_of)
    }

    /// How many of a frame's primitives fit into the scratch, by the tiles of their boxes; at least one.
    pub fn fitting(&self, grid: &Grid, edges: &[Edges]) -> u32 {
        let most = self.options.instances(grid.size);
        let mut tiles = 0;
        let fits = edges.iter().take_while(|edges| {
            tiles += u64::from(grid.tiles_of(&edges.bounds()));
            tiles <= most
        });
        (fits.count() as u32).max(1)
    }

    /// Bytes of what batches share.
    pub fn bytes(&self) -> u64 {
        self.scratch.as_ref().map_or(0, |scratch| scratch.items.size() + scratch.shaded.size())
    }

    /// Records drawing of a batch; the bytes of buffers for it.
    pub fn record(
        &mut self,
        device: &Device,
        commands: &mut Commands,
        scene: &Scene<'_>,
        plan: &Plan,
        batch: &Batch,
    ) -> Result<u64, Error> {
        let scratch = self.scratch(device, &batch.grid)?;
        let Batch { grid, primitives, tiles, .. } = batch;
        let lengths = lengths(scene, plan, batch);
        let firsts: Vec<u32> =
            lengths.iter().scan(0, |end, length| Some(std::mem::replace(end, *end + length))).collect();
        commands.stage("sorting");
        let records = (primitives, PRIMITIVE_WORDS);
        let lists = self.sorter.record(device, commands, grid, records, tiles, (&firsts, &scratch.items))?;
        commands.stage("shading");
        let uniform =
            self.shade(device, commands, (scene, plan, batch), (&scratch, &lists, &firsts, &lengths))?;
        commands.stage("output");
        let frame = device.buffer_of(&frame_words(grid))?;
        let Scene { colors, depths, states, .. } = scene;
        let buffers = [&frame, tiles, &lists.slots, &scratch.shaded, primitives, states, colors, depths];
        let arguments = Arguments::new(device, &self.output_layout, &buffers)?;
        let [columns, rows] = grid.tiles();
        commands.dispatch(&self.output, &arguments, &[], [columns, rows, 1]);
        Ok(GRID_BYTES + lists.bytes() + uniform.size() + frame.size())
    }

    /// Records shading of all lists; their uniform buffer.
    fn shade(
        &self,
        device: &Device,
        commands: &mut Commands,
        (scene, plan, batch): (&Scene<'_>, &Plan, &Batch),
        (scratch, lists, firsts, most): (&Scratch, &Lists, &[u32], &[u32]),
    ) -> Result<Buffer, Error> {
        let Scratch { items, shaded, .. } = scratch;
        let stride = device.uniform_alignment().max(LIST_BYTES);
        let mut words = Vec::new();
        for (number, &first) in (0..).zip(firsts) {
            words.extend(list_words(&batch.grid, first, number));
            words.resize((stride / 4 * (number + 1)) as usize, 0);
        }
        let uniform = device.buffer_of(&words)?;
        let Scene { states, guest, sizes, .. } = scene;
        let buffers = [&uniform, items, &lists.lengths, shaded, &batch.primitives, states, guest, sizes];
        let arguments = Arguments::new(device, &self.shading_layout, &buffers)?;
        for ((number, program), _) in (0..).zip(&plan.programs).zip(most).filter(|(_, most)| **most > 0) {
            let groups = (&lists.groups, 16 * u64::from(number));
            commands.dispatch_indirect(program, &arguments, &[stride * number], groups);
        }
        Ok(uniform)
    }

    /// The scratch, made anew where a frame needs a larger one.
    fn scratch(&mut self, device: &Device, grid: &Grid) -> Result<Scratch, Error> {
        let instances = self.options.instances(grid.size);
        if let Some(scratch) = self.scratch.as_ref().filter(|scratch| scratch.instances >= instances) {
            return Ok(scratch.clone());
        }
        let [items, shaded] = self.options.scratch(instances);
        let (items, shaded) = (device.buffer(items)?, device.buffer(shaded)?);
        Ok(self.scratch.insert(Scratch { instances, items, shaded }).clone())
    }
}

/// The most items of each variant's list: the tiles of its primitives' boxes.
fn lengths(scene: &Scene<'_>, plan: &Plan, batch: &Batch) -> Vec<u32> {
    let mut lengths = vec![0; plan.programs.len()];
    let edges = scene.edges_from(batch.first).iter().take(batch.grid.primitives as usize);
    let states = scene.draw.state_of().iter().skip(batch.first);
    for (edges, state) in edges.zip(states) {
        let variant = scene.variant_of.get(usize::from(*state)).copied().unwrap_or(0);
        if let Some(length) = lengths.get_mut(variant as usize) {
            *length += batch.grid.tiles_of(&edges.bounds());
        }
    }
    lengths
}
