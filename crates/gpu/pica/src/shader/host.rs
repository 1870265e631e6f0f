//! Programs on the host's GPU: an invocation per vertex, whose registers it finds and leaves in buffers. Attributes in guest
//! memory are fetched there, too ([`fetch`](super::fetch)).

use super::engine::{
    Bank, Batch, Cost, EMIT_CAPACITY, Engine, EngineError, GeometryState, Invocations, Readiness, keep,
};
use super::fetch::{self, Fetch};
use super::inputs::Inputs;
use super::program::Program;
use super::unit::Uniforms;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use thiserror::Error;
use xenoglot_host::{
    Access, Arguments, Binding, Buffer, Commands, Compilation, Device, Error as HostError, Layout,
    Program as Pipeline, State, Table,
};
use xenoglot_ir::Module;
use xenoglot_ir::analysis::Cfg;
use xenoglot_pica_shader::lift::hide_zeros;
use xenoglot_pica_shader::lift::layout::*;
use xenoglot_pica_shader::lift::record::{self, Event};

/// Vertices of a workgroup.
const GROUP: usize = fetch::GROUP;

/// Why the host's GPU does not run a program.
#[derive(Debug, Error)]
enum NotHere {
    #[error("the program is still being compiled")]
    Compiling,
    #[error("more vertices than the device takes at once")]
    Vertices,
}

/// Nothing can stop a program on a GPU but the driver, which takes the device away from everybody.
const LOOP: EngineError = EngineError::Declined("the program has a loop, which a guest could make endless");

impl From<NotHere> for EngineError {
    fn from(error: NotHere) -> EngineError {
        EngineError::Other(Box::new(error))
    }
}

impl From<HostError> for EngineError {
    fn from(error: HostError) -> EngineError {
        EngineError::Other(Box::new(error))
    }
}

/// A program by its shader.
#[derive(Clone)]
struct Key(Arc<Program>);

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.0.shader == other.0.shader
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.shader.hash(state);
    }
}

/// A program's module as it runs on a GPU of the host.
pub(crate) fn module_for_host(program: &Program) -> Module {
    let mut module = program.module().clone();
    if program.shader.geometry.is_none() {
        module.workgroup = [GROUP as u32, 1, 1];
    }
    // Software devices get the signs of constant zeros wrong.
    hide_zeros(&mut module);
    module
}

fn has_loops(module: &Module) -> bool {
    module.funcs.values().any(|f| {
        let mut cfg = Cfg::default();
        cfg.compute(f);
        let number = |block| cfg.rpo_number(block).unwrap_or(u32::MAX);
        cfg.rpo().iter().any(|&block| f.edges(block).iter().any(|e| number(e.block) <= number(block)))
    })
}

/// The engine. A draw goes to the device and its outputs come back before the next stage, so this pays for large ones.
pub struct Host {
    device: Device,
    layout: Layout,
    pipelines: Table<Key>,
    /// Vertex fetch; registers are sent to devices that do not take the program.
    fetch: Option<(Layout, Pipeline)>,
}

impl Host {
    /// An engine on a device. Programs that are asked for are waited for or not.
    pub fn new(device: &Device, compilation: Compilation) -> Host {
        let layout = device.layout(&[
            Binding::new(UNIFORM_BINDING, Access::Uniform { size: UNIFORM_SIZE }),
            Binding::new(INPUT_BINDING, Access::Read),
            Binding::new(STATE_BINDING, Access::ReadWrite),
            Binding::new(EVENT_BINDING, Access::ReadWrite),
        ]);
        let cache = Arc::clone(device.cache());
        let translate = move |Key(program): &Key| {
            crate::host::remember(&cache, &program.shader);
            Ok(module_for_host(program))
        };
        let pipelines = Table::new(device, &layout, compilation, translate);
        let fetch = device.layout(&[
            Binding::new(fetch::TABLE_BINDING, Access::Uniform { size: fetch::TABLE_SIZE }),
            Binding::new(fetch::ARRAY_BINDING, Access::Read),
            Binding::new(fetch::NUMBER_BINDING, Access::Read),
            Binding::new(fetch::REGISTER_BINDING, Access::ReadWrite),
        ]);
        let fetch = device.program(&fetch, fetch::program()).ok().map(|program| (fetch, program));
        Host { device: device.clone(), layout, pipelines, fetch }
    }

    /// A buffer with the input registers of so many groups of vertices, as `commands` leave it.
    fn inputs(&self, inputs: Inputs<'_>, groups: u32, commands: &mut Commands) -> Result<Buffer, HostError> {
        let (device, vertices) = (&self.device, groups as usize * GROUP);
        let arrays = inputs.arrays().filter(|arrays| arrays.set != 0);
        let fetch = arrays.and_then(|arrays| Some((Fetch::new(arrays)?, arrays.set)));
        if let (Some((layout, pipeline)), Some((fetch, set))) = (&self.fetch, fetch) {
            let registers = device.buffer((vertices * set.count_ones() as usize * 16) as u64)?;
            let [table, arrays, numbers] =
                [&fetch.table, &fetch.arrays, &fetch.numbers].map(|w| device.buffer_of(w));
            let arguments = Arguments::new(device, layout, &[&table?, &arrays?, &numbers?, &registers])?;
            commands.dispatch(pipeline, &arguments, &[0], [groups, set.count_ones(), 1]);
            return Ok(registers);
        }
        let inputs = inputs.registers();
        let mut words: Vec<u32> = inputs.values().as_flattened().iter().map(|v| v.to_bits()).collect();
        words.resize(vertices * inputs.registers() * 4, 0);
        device.buffer_of(&words)
    }

    fn pipeline(&mut self, program: &Arc<Program>) -> Result<Pipeline, EngineError> {
        if has_loops(program.module()) {
            return Err(LOOP);
        }
        match self.pipelines.get(&Key(program.clone())) {
            State::Ready(pipeline) => Ok(pipeline),
            State::Compiling => Err(NotHere::Compiling.into()),
            State::Failed(error) => Err(error.into()),
        }
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect()
}

/// Runs `groups` workgroups on buffers in the order of the layout, after `commands`.
fn dispatch(
    device: &Device,
    layout: &Layout,
    pipeline: &Pipeline,
    buffers: [&Buffer; 4],
    groups: u32,
    mut commands: Commands,
) -> Result<(), HostError> {
    let arguments = Arguments::new(device, layout, &buffers)?;
    commands.dispatch(pipeline, &arguments, &[0], [groups, 1, 1]);
    commands.submit(device)
}

impl Engine for Host {
    fn name(&self) -> &'static str {
        "gpu"
    }

    fn cost(&self) -> Cost {
        Cost { batch: 3e-4, inst: 1e-11, translation: 5e-5 }
    }

    fn readiness(&mut self, program: &Arc<Program>) -> Readiness {
        if has_loops(program.module()) {
            // It says so at once.
            return Readiness::Ready;
        }
        match self.pipelines.peek(&Key(program.clone())) {
            None => Readiness::New,
            Some(State::Compiling) => Readiness::Preparing,
            Some(State::Ready(_) | State::Failed(_)) => Readiness::Ready,
        }
    }

    fn prepare(&mut self, program: &Arc<Program>) {
        // Whether it compiles is seen when it is asked for again.
        let _ = self.pipeline(program);
    }

    fn shade(&mut self, batch: Batch<'_>) -> Result<(), EngineError> {
        let Batch { program, uniforms, inputs, outputs, fuel } = batch;
        let pipeline = self.pipeline(program)?;
        let vertices = inputs.vertices();
        let work = program.insts.saturating_mul(vertices as u64);
        *fuel = fuel.checked_sub(work).ok_or(EngineError::Fuel)?;
        outputs.reset(program.outputs, vertices);
        if outputs.values().is_empty() {
            return Ok(());
        }
        let groups = u32::try_from(vertices.div_ceil(GROUP)).ok().filter(|&n| n <= self.device.max_groups());
        let groups = groups.ok_or(NotHere::Vertices)?;
        // The buffers have room for whole workgroups.
        let mut commands = Commands::default();
        let fetched = self.inputs(inputs, groups, &mut commands)?;
        let device = &self.device;
        let uniforms = device.buffer_of(&words(uniforms.bytes()))?;
        let state = device.buffer((groups as usize * GROUP * outputs.registers() * 16) as u64)?;
        let events = device.buffer(4)?;
        dispatch(device, &self.layout, &pipeline, [&uniforms, &fetched, &state, &events], groups, commands)?;
        let bytes = size_of_val(outputs.values()) as u64;
        let results = device.read(&[(&state, 0..bytes)])?;
        let places = outputs.values_mut().as_flattened_mut().iter_mut();
        places.zip(results.iter().flatten()).for_each(|(place, &word)| *place = f32::from_bits(word));
        Ok(())
    }

    fn geometry<'e>(
        &'e mut self,
        program: &'e Arc<Program>,
        _: &mut u64,
    ) -> Result<Box<dyn Invocations + 'e>, EngineError> {
        let pipeline = self.pipeline(program)?;
        let events = self.device.buffer(event_stride(EMIT_CAPACITY).into())?;
        Ok(Box::new(Geometry { engine: self, insts: program.insts, pipeline, events }))
    }
}

struct Geometry<'e> {
    engine: &'e Host,
    insts: u64,
    pipeline: Pipeline,
    events: Buffer,
}

impl Invocations for Geometry<'_> {
    fn run(
        &mut self,
        uniforms: &Uniforms,
        inputs: &Bank,
        state: &mut GeometryState,
        events: &mut Vec<Event>,
        fuel: &mut u64,
    ) -> Result<(), EngineError> {
        *fuel = fuel.checked_sub(self.insts).ok_or(EngineError::Fuel)?;
        let Host { device, layout, .. } = self.engine;
        let uniforms = device.buffer_of(&words(uniforms.bytes()))?;
        let inputs: Vec<u32> = inputs.as_flattened().iter().map(|v| v.to_bits()).collect();
        let inputs = device.buffer_of(&inputs)?;
        let registers = device.buffer_of(&words(&state.record))?;
        dispatch(
            device,
            layout,
            &self.pipeline,
            [&uniforms, &inputs, &registers, &self.events],
            1,
            Commands::default(),
        )?;
        let sizes = [registers.size(), self.events.size()];
        let results = device.read(&[(&registers, 0..sizes[0]), (&self.events, 0..sizes[1])])?;
        let bytes = |words: &Vec<u32>| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        let results: Vec<Vec<u8>> = results.iter().map(bytes).collect();
        let [record, pool] = results.as_slice() else { return Err(NotHere::Vertices.into()) };
        keep(record::sent(record, pool, EMIT_CAPACITY), events)?;
        state.record.clone_from(record);
        Ok(())
    }
}
