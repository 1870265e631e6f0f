//! The engines of a GPU, and which of them does a batch.

use super::Readiness;
use super::cost::Meter;
use super::engine::{Bank, Batch, Engine, EngineError, GeometryState, Invocations};
use super::interp::Interp;
use super::lanes::Lanes;
use super::program::{Program, Programs, Shader};
use super::unit::{Uniforms, Words};
use std::sync::Arc;
use std::time::Instant;
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

/// How a batch was done.
#[derive(Debug, Default)]
pub struct Served {
    /// Who did it, if anybody could.
    pub engine: Option<&'static str>,
    /// Whether an engine that would have been faster is still translating the program.
    pub deferred: bool,
    /// Who could not.
    pub fallbacks: Vec<Fallback>,
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

/// How an engine is chosen. The results are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Choice {
    /// The first one, and of the others only if it fails. It translates new programs on the spot.
    #[default]
    First,
    /// The one that is expected to be done first, from the size of the batch and what the engines took so far. A program
    /// that a faster one has not translated yet is translated in the background meanwhile.
    Measured,
}

struct Slot {
    engine: Box<dyn Engine>,
    meter: Meter,
}

/// The engines of a GPU: the fastest first. The last resort is always there.
pub struct Engines {
    programs: Programs,
    slots: Vec<Slot>,
    choice: Choice,
}

impl Default for Engines {
    fn default() -> Self {
        Engines::new(Vec::new())
    }
}

impl Engines {
    /// Engines to try in this order before [`Lanes`] and the IR interpreter.
    pub fn new(faster: Vec<Box<dyn Engine>>) -> Engines {
        Engines::with_choice(faster, Choice::First)
    }

    /// These engines, [`Lanes`] and the IR interpreter; `choice` picks one for each batch.
    pub fn with_choice(mut faster: Vec<Box<dyn Engine>>, choice: Choice) -> Engines {
        faster.push(Box::new(Lanes::new()));
        Engines::only(faster, choice)
    }

    /// The IR interpreter alone: what the others are held against.
    pub fn reference() -> Engines {
        Engines::only(Vec::new(), Choice::First)
    }

    fn only(faster: Vec<Box<dyn Engine>>, choice: Choice) -> Engines {
        let reference: Box<dyn Engine> = Box::new(Interp::new());
        let slots = faster.into_iter().chain([reference]).map(|engine| {
            let meter = Meter::new(engine.cost());
            Slot { engine, meter }
        });
        Engines { programs: Programs::default(), slots: slots.collect(), choice }
    }

    /// The shader as engines take it. A new program costs 1,000,000 fuel.
    ///
    /// # Errors
    /// [`EngineError::Lift`] and [`EngineError::Fuel`].
    pub fn program(&mut self, shader: &Shader, fuel: &mut u64) -> Result<Arc<Program>, EngineError> {
        self.programs.get(shader, fuel)
    }

    /// Programs that are kept.
    pub fn programs(&self) -> usize {
        self.programs.len()
    }

    /// The engines in the order they are tried for a batch of so much work.
    fn order(&mut self, program: &Arc<Program>, work: f64, served: &mut Served) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.slots.len()).collect();
        if self.choice == Choice::First || self.slots.len() == 1 {
            return order;
        }
        let insts = program.insts as f64;
        let costs: Vec<(Readiness, f64, f64)> = self
            .slots
            .iter_mut()
            .map(|Slot { engine, meter }| {
                let (readiness, run) = (engine.readiness(program), meter.run(work));
                let translation = if readiness == Readiness::Ready { 0.0 } else { meter.translation(insts) };
                (readiness, run, run + translation)
            })
            .collect();
        let cost = |i: usize| costs.get(i).map_or(f64::INFINITY, |c| c.2);
        order.sort_by(|&a, &b| cost(a).total_cmp(&cost(b)));
        let chosen = order.first().and_then(|&i| costs.get(i)).map_or(0.0, |c| c.1);
        let others =
            self.slots.iter_mut().zip(&costs).enumerate().filter(|&(i, _)| order.first() != Some(&i));
        for (_, (slot, &(readiness, run, _))) in others {
            if run < chosen && readiness != Readiness::Ready {
                served.deferred = true;
                if readiness == Readiness::New {
                    slot.engine.prepare(program);
                }
            }
        }
        order
    }

    /// Does `work` on the first engine that can.
    fn first<T>(
        &mut self,
        program: &Arc<Program>,
        count: usize,
        served: &mut Served,
        mut work: impl FnMut(&mut dyn Engine) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let size = program.insts as f64 * count as f64;
        let order = self.order(program, size, served);
        for (n, &i) in order.iter().enumerate() {
            let Some(Slot { engine, meter }) = self.slots.get_mut(i) else { continue };
            let translates = engine.readiness(program) != Readiness::Ready;
            let start = Instant::now();
            match work(engine.as_mut()) {
                Ok(done) => {
                    let translated = translates.then_some(program.insts as f64);
                    meter.note(size, translated, start.elapsed().as_secs_f64());
                    served.engine = Some(engine.name());
                    return Ok(done);
                }
                Err(error) if n + 1 == order.len() => return Err(error),
                Err(error) => served.fallbacks.push(Fallback { engine: engine.name(), error }),
            }
        }
        // There is an interpreter in every list.
        Err(EngineError::Fuel)
    }

    /// As [`Engine::shade`].
    ///
    /// # Errors
    /// That of the last engine; those of the others are in `served` in any case.
    pub fn shade(&mut self, mut batch: Batch<'_>, served: &mut Served) -> Result<(), EngineError> {
        let (program, vertices) = (batch.program, batch.inputs.vertices());
        self.first(program, vertices, served, |engine| engine.shade(batch.again()))
    }

    /// Runs a geometry program once for each feed and gives what it sent. `unit` and `uniforms` are left as the last
    /// invocation left them.
    ///
    /// # Errors
    /// As [`Engines::shade`]; nothing has changed then.
    pub(crate) fn invoke(
        &mut self,
        program: &Arc<Program>,
        uniforms: &mut Uniforms,
        unit: &mut GeometryUnit,
        feeds: &[Feed],
        fuel: &mut u64,
        served: &mut Served,
    ) -> Result<Vec<Event>, EngineError> {
        let (events, new_uniforms, new_unit) = self.first(program, feeds.len(), served, |engine| {
            let (mut uniforms, mut unit) = (uniforms.clone(), unit.clone());
            let mut events = Vec::new();
            let mut ready = engine.geometry(program, fuel)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::{Cost, Packed, Source};
    use std::sync::Mutex;
    use xenoglot_pica_shader::asm::assemble;

    const SUM: &str = ".in v\n.out p position\n.proc main\n add p, c3, v\n end\n.end\n";

    fn shader(source: &str) -> Shader {
        let program = assemble(source).unwrap().program;
        let source = Arc::new(Source::new(&program.code, &program.descriptors));
        Shader { source, entry: 0, geometry: None }
    }

    /// x of o0 for vertices whose v0 is 0, 1, ..
    fn shade(
        engines: &mut Engines,
        source: &str,
        uniforms: &Uniforms,
        count: u8,
        served: &mut Served,
    ) -> Vec<f32> {
        let mut fuel = 1 << 24;
        let program = engines.program(&shader(source), &mut fuel).unwrap();
        let (mut inputs, mut outputs) = (Packed::default(), Packed::default());
        inputs.reset(program.inputs, count.into());
        for (value, n) in inputs.values_mut().iter_mut().zip(0u8..) {
            *value = [n.into(); 4];
        }
        let (inputs, fuel) = ((&inputs).into(), &mut fuel);
        let batch = Batch { program: &program, uniforms, inputs, outputs: &mut outputs, fuel };
        engines.shade(batch, served).unwrap();
        outputs.values().iter().map(|v| v[0]).collect()
    }

    #[test]
    fn uniforms_do_not_retranslate_and_programs_do() {
        let (mut engines, mut uniforms) = (Engines::default(), Uniforms::default());
        for value in [1.0f32, 2.5] {
            uniforms.set_float(3, [value.to_bits(); 4]);
            let sums = shade(&mut engines, SUM, &uniforms, 3, &mut Served::default());
            assert_eq!(sums, [value, value + 1.0, value + 2.0]);
        }
        assert_eq!(engines.programs(), 1);
        shade(&mut engines, &SUM.replace("c3", "c4"), &uniforms, 1, &mut Served::default());
        assert_eq!(engines.programs(), 2);
    }

    /// Costs what it is told; adds like the interpreter, which it has inside, and can say that it is not ready.
    struct Fake {
        cost: Cost,
        readiness: Arc<Mutex<Readiness>>,
    }

    impl Engine for Fake {
        fn name(&self) -> &'static str {
            "fake"
        }

        fn cost(&self) -> Cost {
            self.cost
        }

        fn readiness(&mut self, _: &Arc<Program>) -> Readiness {
            *self.readiness.lock().unwrap()
        }

        fn prepare(&mut self, _: &Arc<Program>) {
            *self.readiness.lock().unwrap() = Readiness::Preparing;
        }

        fn shade(&mut self, batch: Batch<'_>) -> Result<(), EngineError> {
            *self.readiness.lock().unwrap() = Readiness::Ready;
            Interp.shade(batch)
        }

        fn geometry<'e>(
            &'e mut self,
            _: &'e Arc<Program>,
            _: &mut u64,
        ) -> Result<Box<dyn Invocations + 'e>, EngineError> {
            Err(EngineError::Fuel)
        }
    }

    #[test]
    fn small_batches_go_to_who_is_ready_and_large_ones_wait() {
        let readiness = Arc::new(Mutex::new(Readiness::New));
        // A batch costs less than any of the interpreter's, a translation as much as thousands of its vertices.
        let cost = Cost { batch: 1e-9, inst: 1e-12, translation: 1e-4 };
        let fake = Fake { cost, readiness: readiness.clone() };
        let mut engines = Engines::with_choice(vec![Box::new(fake)], Choice::Measured);
        let uniforms = Uniforms::default();
        let mut serve = |count, set: Option<Readiness>| {
            set.into_iter().for_each(|r| *readiness.lock().unwrap() = r);
            let mut served = Served::default();
            let sums = shade(&mut engines, SUM, &uniforms, count, &mut served);
            assert_eq!(sums.len(), usize::from(count));
            (served.engine, served.deferred, *readiness.lock().unwrap())
        };
        assert_eq!(serve(3, None), (Some("lanes"), true, Readiness::Preparing));
        assert_eq!(serve(3, None), (Some("lanes"), true, Readiness::Preparing));
        assert_eq!(serve(3, Some(Readiness::Ready)), (Some("fake"), false, Readiness::Ready));
        // The others would take longer than translation does.
        for slot in engines.slots.iter_mut().skip(1) {
            slot.meter = Meter::new(Cost { batch: 1.0, ..cost });
        }
        let mut served = Served::default();
        *readiness.lock().unwrap() = Readiness::New;
        shade(&mut engines, SUM, &uniforms, 200, &mut served);
        assert_eq!((served.engine, served.deferred), (Some("fake"), false));
    }

    #[cfg(feature = "native")]
    #[test]
    fn native_code_is_made_in_the_background_and_does_the_same() {
        let native = super::super::Native::new().unwrap();
        let mut engines = Engines::with_choice(vec![Box::new(native)], Choice::Measured);
        let mut uniforms = Uniforms::default();
        uniforms.set_float(3, [0.5f32.to_bits(); 4]);
        let expected = [0.5, 1.5, 2.5];
        let mut names = Vec::new();
        for _ in 0..10_000 {
            let mut served = Served::default();
            assert_eq!(shade(&mut engines, SUM, &uniforms, 3, &mut served), expected);
            names.push(served.engine.unwrap());
            if names.last() == Some(&"native") {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!((names.first(), names.last()), (Some(&"lanes"), Some(&"native")));
    }
}
