//! Programs on the host's GPU: an invocation per vertex, whose registers it finds and leaves in buffers. Attributes in guest
//! memory are fetched there, too ([`fetch`](super::fetch)).

use super::engine::{
    Bank, Batch, Cost, EMIT_CAPACITY, Engine, EngineError, GeometryState, Invocations, Readiness, keep,
};
use super::fetch::{self, Fetch};
use super::inputs::Inputs;
use super::program::Program;
use super::rounds::{self, has_loops};
use super::unit::Uniforms;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use thiserror::Error;
use xenoglot_host::{
    Access, Arguments, Binding, Buffer, Commands, Compilation, Device, Error as HostError, Layout,
    Program as Pipeline, State, Table,
};
use xenoglot_ir::Module;
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
    #[error("a loop has more rounds than one may have on the device")]
    Rounds,
}

/// Nothing can stop a program on a GPU but the driver, which takes the device away from everybody.
const LOOP: EngineError = EngineError::Declined("the program has a loop, which a guest could make endless");
/// How often an invocation may go back in loops. Loops of the chip have 256 rounds at most, those in others as many each time.
const ROUNDS: u32 = 1 << 12;

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

/// A program's module as it runs on a GPU of the host: loops of vertex programs are bounded. Nothing for one with other loops.
pub(crate) fn module_for_host(program: &Program) -> Option<Module> {
    let is_vertex = program.shader.geometry.is_none();
    let mut module = match has_loops(program.module()) {
        true if is_vertex => program.bounded(ROUNDS)?,
        true => return None,
        false => program.module().clone(),
    };
    if is_vertex {
        module.workgroup = [GROUP as u32, 1, 1];
    }
    // Software devices get the signs of constant zeros wrong.
    hide_zeros(&mut module);
    Some(module)
}

/// Whether a program has loops that nothing would stop.
fn is_unbounded(program: &Program) -> bool {
    program.shader.geometry.is_some() && has_loops(program.module())
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
            module_for_host(program).ok_or_else(|| HostError::Translation(LOOP.to_string()))
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
        if is_unbounded(program) {
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
        if is_unbounded(program) {
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
        let events = device.buffer(rounds::BYTES)?;
        dispatch(device, &self.layout, &pipeline, [&uniforms, &fetched, &state, &events], groups, commands)?;
        let bytes = size_of_val(outputs.values()) as u64;
        let parts = [(&state, 0..bytes), (&events, 0..rounds::BYTES)];
        let results = device.read(if has_loops(program.module()) { &parts } else { &parts[..1] })?;
        if let Some(&[gave_up, rounds]) = results.get(1).and_then(|words| words.first_chunk()) {
            // The first round is paid for.
            let left = fuel.checked_sub(program.insts.saturating_mul(rounds.into()));
            *fuel = left.unwrap_or(0);
            left.ok_or(EngineError::Fuel)?;
            if gave_up != 0 {
                return Err(NotHere::Rounds.into());
            }
        }
        let places = outputs.values_mut().as_flattened_mut().iter_mut();
        places.zip(results.iter().take(1).flatten()).for_each(|(place, &word)| *place = f32::from_bits(word));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::lanes::tests::{program, shade, uniforms};
    use crate::shader::{Interp, Packed};
    use xenoglot_host::DeviceOptions;
    use xenoglot_pica_shader::asm::assemble;
    use xenoglot_testgen::pica::{self, Sample, environment};
    use xenoglot_testgen::rng::Rng;
    use xenoglot_testgen::skip::skip;

    /// Instructions of the IR that a batch may take.
    const REFERENCE_FUEL: u64 = 1 << 21;

    fn host() -> Option<Host> {
        match Device::open(&DeviceOptions::from_env()) {
            Ok(device) if device.is_software() => Some(Host::new(&device, Compilation::Blocking)),
            Ok(_) => {
                skip("values are equal where quotients and roots are the processor's");
                None
            }
            Err(error) => {
                skip(&error.to_string());
                None
            }
        }
    }

    #[test]
    fn random_vertex_programs_do_what_they_do_on_the_ir_interpreter() {
        let Some(mut host) = host() else { return };
        let [mut ended, mut looped] = [0; 2];
        // Drawn here once: devices may decide otherwise where a branch hangs on the last bit of a root.
        for seed in 0..120 {
            let mut rng = Rng::new(seed);
            let (category, sample) = pica::random(&mut rng, 64);
            let Some(program) = program(&sample).filter(|program| program.shader.geometry.is_none()) else {
                continue;
            };
            let uniforms = uniforms(&environment(&mut rng));
            let mut inputs = Packed::default();
            inputs.reset(program.inputs, 1 + rng.below(100) as usize);
            for value in inputs.values_mut() {
                *value = environment(&mut rng).inputs[0].map(f32::from_bits);
            }
            let reference = &mut Interp::new();
            let Some(expected) = shade(reference, &program, &uniforms, &inputs, REFERENCE_FUEL) else {
                continue;
            };
            let mut outputs = Packed::default();
            let batch = Batch {
                program: &program,
                uniforms: &uniforms,
                inputs: (&inputs).into(),
                outputs: &mut outputs,
                fuel: &mut u64::MAX.clone(),
            };
            if let Err(error) = host.shade(batch) {
                println!("seed {seed}: {category:?}: {error}");
                continue;
            }
            let got = outputs.values().as_flattened();
            let is_near = |(&got, expected): (&f32, &u32)| {
                let expected = f32::from_bits(*expected);
                got == expected
                    || got.is_nan() && expected.is_nan()
                    || (got - expected).abs() <= 1e-6 * expected.abs()
            };
            let far = got.iter().zip(expected.as_flattened()).position(|pair| !is_near(pair));
            assert_eq!(far, None, "seed {seed}: {category:?}: expected {expected:x?}, got {got:?}");
            ended += 1;
            looped += u32::from(has_loops(program.module()));
        }
        println!("{ended} programs, {looped} with loops");
        assert!(looped > 5);
    }

    fn assembled(source: &str) -> Arc<Program> {
        let sample = Sample { program: assemble(source).unwrap().program, entry: 0, geometry: None };
        program(&sample).unwrap()
    }

    /// Drivers may take uniforms for constants in loops.
    #[test]
    fn loops_have_as_many_rounds_as_a_uniform_says() {
        let Some(mut host) = host() else { return };
        let program = assembled(
            ".in v\n.out p position\n.proc main\n mov r0, v\n for i0\n add r0, v, r0\n .end\n mov p, r0\n end\n.end\n",
        );
        for rounds in [0, 1, 3, 200] {
            let mut inputs = Packed::default();
            inputs.reset(program.inputs, 2);
            inputs.values_mut().iter_mut().for_each(|v| *v = [1.0, 2.0, 3.0, 4.0]);
            let mut uniforms = Uniforms::default();
            uniforms.set_int(0, rounds);
            let expected = shade(&mut Interp::new(), &program, &uniforms, &inputs, REFERENCE_FUEL).unwrap();
            let got = shade(&mut host, &program, &uniforms, &inputs, u64::MAX);
            assert_eq!(got.as_ref(), Some(&expected), "{rounds}");
        }
    }

    #[test]
    fn an_endless_program_is_left_to_the_next_engine() {
        let Some(mut host) = host() else { return };
        let program = assembled(
            ".in v\n.out p position\n.proc main\nagain:\n mov p, v\n jmpu !b0, again\n end\n.end\n",
        );
        let mut inputs = Packed::default();
        inputs.reset(program.inputs, 3);
        let (uniforms, mut outputs, mut fuel) = (Uniforms::default(), Packed::default(), u64::MAX);
        let batch = Batch {
            program: &program,
            uniforms: &uniforms,
            inputs: (&inputs).into(),
            outputs: &mut outputs,
            fuel: &mut fuel,
        };
        let error = host.shade(batch).unwrap_err();
        assert!(error.to_string().contains("rounds"), "{error}");
        assert!(fuel <= u64::MAX - program.insts * u64::from(ROUNDS) * 3);
    }
}
