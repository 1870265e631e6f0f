//! Engines in the order they are tried.

use super::engine::{Bank, Engine, EngineError, GeometryState, Invocations, Shader};
use super::interp::Interp;
use super::unit::{Uniforms, Words};
use xenoglot_pica_shader::lift::record::Event;

/// b15, which the geometry unit sets after each invocation.
const HAS_RUN: u16 = 1 << 15;

/// An engine that failed, so that the next one took over for this batch.
#[derive(Debug)]
pub struct Fallback {
    /// The engine's name.
    pub engine: &'static str,
    /// Why.
    pub error: EngineError,
}

/// What reaches the geometry unit before an invocation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Feed {
    /// Input registers, by number.
    pub inputs: Vec<(usize, [f32; 4])>,
    /// Float uniforms, by number.
    pub uniforms: Vec<(u32, [f32; 4])>,
}

/// The geometry unit's side of a draw: what invocations change.
#[derive(Clone, Debug, Default)]
pub struct GeometryUnit {
    /// Registers and emitter.
    pub state: GeometryState,
    /// v0 to v15. Those that an invocation's attributes do not name keep their values.
    pub inputs: Bank,
}

/// The engines of a GPU: the fastest first. The last resort is always there.
pub struct Engines {
    faster: Vec<Box<dyn Engine>>,
    reference: Interp,
}

impl Default for Engines {
    fn default() -> Self {
        Engines::new(Vec::new())
    }
}

impl Engines {
    /// Engines to try in this order before the interpreter.
    pub fn new(faster: Vec<Box<dyn Engine>>) -> Engines {
        Engines { faster, reference: Interp::new() }
    }

    /// Does `work` on the first engine that can.
    fn first<T>(
        &mut self,
        fallbacks: &mut Vec<Fallback>,
        mut work: impl FnMut(&mut dyn Engine) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        for engine in &mut self.faster {
            match work(engine.as_mut()) {
                Ok(done) => return Ok(done),
                Err(error) => fallbacks.push(Fallback { engine: engine.name(), error }),
            }
        }
        work(&mut self.reference)
    }

    /// As [`Engine::shade`], into `outputs` emptied before.
    ///
    /// # Errors
    /// That of the last engine; those of the others are added to `fallbacks` in any case.
    pub fn shade(
        &mut self,
        shader: &Shader,
        uniforms: &Uniforms,
        inputs: &[Bank],
        outputs: &mut Vec<Bank>,
        fuel: &mut u64,
        fallbacks: &mut Vec<Fallback>,
    ) -> Result<(), EngineError> {
        self.first(fallbacks, |engine| {
            outputs.clear();
            engine.shade(shader, uniforms, inputs, outputs, fuel)
        })
    }

    /// Runs a geometry program once for each feed and gives what it sent. `unit` and `uniforms` are left as the last
    /// invocation left them.
    ///
    /// # Errors
    /// As [`Engines::shade`]; nothing has changed then.
    pub(crate) fn invoke(
        &mut self,
        shader: &Shader,
        uniforms: &mut Uniforms,
        unit: &mut GeometryUnit,
        feeds: &[Feed],
        fuel: &mut u64,
        fallbacks: &mut Vec<Fallback>,
    ) -> Result<Vec<Event>, EngineError> {
        let (events, new_uniforms, new_unit) = self.first(fallbacks, |engine| {
            let (mut uniforms, mut unit) = (uniforms.clone(), unit.clone());
            let mut events = Vec::new();
            let mut ready = engine.geometry(shader, fuel)?;
            for feed in feeds {
                apply(feed, &mut uniforms, &mut unit.inputs);
                run(ready.as_mut(), &uniforms, &mut unit, &mut events, fuel)?;
                uniforms.set_bools(uniforms.bools() | HAS_RUN);
            }
            Ok((events, uniforms, unit))
        })?;
        *uniforms = new_uniforms;
        *unit = new_unit;
        Ok(events)
    }
}

fn run(
    ready: &mut dyn Invocations,
    uniforms: &Uniforms,
    unit: &mut GeometryUnit,
    events: &mut Vec<Event>,
    fuel: &mut u64,
) -> Result<(), EngineError> {
    let GeometryUnit { state, inputs } = unit;
    ready.run(uniforms, inputs, state, events, fuel)
}

fn apply(feed: &Feed, uniforms: &mut Uniforms, inputs: &mut Bank) {
    for &(register, value) in &feed.inputs {
        if let Some(input) = inputs.get_mut(register) {
            *input = value;
        }
    }
    for &(index, value) in &feed.uniforms {
        let words: Words = value.map(f32::to_bits);
        uniforms.set_float(index, words);
    }
}
