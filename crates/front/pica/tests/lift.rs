//! Lifted programs on the IR interpreter against the direct interpreter of the machine, over random programs.
//!
//! `XENOGLOT_LONG` runs many more programs.

use proptest::prelude::*;
use std::collections::BTreeMap;
use xenoglot_interp::{Bindings, Cause, Interpreter, Limits as RunLimits};
use xenoglot_ir::Bits;
use xenoglot_pica_shader::Program;
use xenoglot_pica_shader::decode::DecodeError;
use xenoglot_pica_shader::desc::Component;
use xenoglot_pica_shader::float::{Denormals, F24};
use xenoglot_pica_shader::lift::layout::*;
use xenoglot_pica_shader::lift::record;
use xenoglot_pica_shader::lift::{
    ClipSpace, GeometryWrapper, LiftError, LiftOptions, Lifted, Limits, Numeric, OutputMap, Records,
    VertexOutputs, Wrapper, lift,
};
use xenoglot_testgen::pica::{self, Category, Environment, Sample, environment};
use xenoglot_testgen::pica_ref::{self, Arithmetic, End, Event, Job, State, Vec4};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;

/// Instructions of the machine a run may take.
const FUEL: u32 = 5000;
/// Events a lifted run may store.
const EMIT_CAPACITY: u32 = 256;

fn options(sample: &Sample, numeric: Numeric, limits: Limits) -> LiftOptions {
    let geometry =
        sample.geometry.map(|output_mask| GeometryWrapper { output_mask, emit_capacity: EMIT_CAPACITY });
    LiftOptions {
        numeric,
        wrapper: Wrapper::Compute { workgroup: 1, persistent: true, geometry },
        count_steps: true,
        limits,
        ..LiftOptions::compute(sample.entry)
    }
}

/// What a run leaves: the words of the state record, and the words of what it sent.
#[derive(Clone, Debug, Default)]
struct Record {
    state: Vec<u32>,
    events: Vec<u32>,
    /// EMITs there was no room for.
    lost: u32,
}

/// A sent event as words: the kind, then of a vertex the masked registers, the others zero.
fn event_words(mask: u16, vertex: Option<&[[u32; 4]; 16]>) -> Vec<u32> {
    let Some(registers) = vertex else { return vec![0] };
    let masked = (0..16).flat_map(|n| if mask >> n & 1 != 0 { registers[n] } else { [0; 4] });
    std::iter::once(1).chain(masked).collect()
}

fn state_size(sample: &Sample) -> usize {
    (if sample.geometry.is_some() { GEOMETRY_STATE_STRIDE } else { VERTEX_STATE_STRIDE }) as usize
}

/// Runs a lifted program on a state record. None if it is out of fuel.
fn run_lifted(
    lifted: &Lifted,
    sample: &Sample,
    environment: &Environment,
    state: &[u32],
    fuel: u64,
) -> Option<Record> {
    let module = &lifted.module;
    let resource = |binding| module.resources.iter().find(|(_, r)| r.binding == binding).map(|(id, _)| id);
    let mut bindings = Bindings::new(module);
    let floats = environment.floats.iter().flatten().copied();
    let uniforms = uniform_buffer(floats, environment.ints.iter().flatten().copied(), environment.bools);
    let uniforms: Vec<u32> = uniforms.as_chunks().0.iter().map(|&w| u32::from_le_bytes(w)).collect();
    let inputs: Vec<u32> = environment.inputs.iter().flatten().copied().collect();
    let events = vec![0; event_stride(EMIT_CAPACITY) as usize / 4];
    for (binding, words) in [
        (UNIFORM_BINDING, &uniforms[..]),
        (INPUT_BINDING, &inputs),
        (STATE_BINDING, state),
        (EVENT_BINDING, &events),
    ] {
        if let Some(r) = resource(binding) {
            bindings.set_words(r, words);
        }
    }
    for (var, _) in module.vars.iter() {
        bindings.set_input(var, Bits::default());
    }
    let mut interpreter = Interpreter::new(module).expect("lifted modules are whole");
    match interpreter.run_entry(&mut bindings, &RunLimits { fuel, ..RunLimits::default() }) {
        Ok(outcome) => assert_eq!(outcome.stats.out_of_bounds, 0),
        Err(trap) if trap.cause == Cause::Fuel => return None,
        Err(trap) => panic!("{trap}"),
    }
    let buffer = |binding| resource(binding).map(|r| bindings.buffer(r)).unwrap_or_default();
    let state = resource(STATE_BINDING).map(|r| bindings.words(r)).unwrap_or_default();
    assert_eq!(state.len() * 4, state_size(sample));
    let Some(mask) = sample.geometry else { return Some(Record { state, ..Record::default() }) };
    let sent = record::sent(buffer(STATE_BINDING), buffer(EVENT_BINDING), EMIT_CAPACITY);
    let events = sent.events.iter().flat_map(|e| match e {
        record::Event::Winding => event_words(mask, None),
        record::Event::Vertex(v) => event_words(mask, Some(v)),
    });
    Some(Record { state, events: events.collect(), lost: sent.lost })
}

fn put(words: &mut [u32], at: u32, registers: &[Vec4; 16]) {
    let all = registers.iter().flatten().map(|v| v.to_bits());
    words[at as usize / 4..].iter_mut().zip(all).for_each(|(word, v)| *word = v);
}

/// The record a run of the direct interpreter would leave.
fn expected(sample: &Sample, state: &State, steps: u32, sent: &[Event]) -> Record {
    let mut words = vec![0; state_size(sample) / 4];
    put(&mut words, STATE_OUTPUTS, &state.outputs);
    put(&mut words, STATE_TEMPS, &state.temps);
    let flags = u32::from(state.flags[0]) | u32::from(state.flags[1]) << 1;
    let address = [state.a0[0] as u32, state.a0[1] as u32, state.al as u32, flags];
    words[STATE_ADDRESS as usize / 4..][..4].copy_from_slice(&address);
    let vertices = sent.iter().filter(|e| matches!(e, Event::Vertex(_))).count();
    words[STATE_COUNTERS as usize / 4..][..2].copy_from_slice(&[steps, vertices as u32 / 3]);
    let mut events = Vec::new();
    if let Some(mask) = sample.geometry {
        put(&mut words, STATE_OTHER_BANK, &state.other_bank);
        for (n, buffer) in state.emitter.iter().enumerate() {
            put(&mut words, STATE_EMITTER + 256 * n as u32, buffer);
        }
        let (vertex, primitive, winding) = state.set_emit;
        let set = [vertex.into(), primitive.into(), winding.into()];
        words[STATE_SETEMIT as usize / 4..][..3].copy_from_slice(&set);
        for event in sent {
            let bits = match event {
                Event::Winding => None,
                Event::Vertex(v) => Some(v.map(|register| register.map(f32::to_bits))),
            };
            events.extend(event_words(mask, bits.as_ref()));
        }
    }
    Record { state: words, events, lost: 0 }
}

fn difference(expected: &Record, got: &Record) -> Option<String> {
    for (name, expected, got) in
        [("state", &expected.state, &got.state), ("events", &expected.events, &got.events)]
    {
        if name == "events" && expected.len() != got.len() {
            return Some(format!("{} words sent, expected {}", got.len(), expected.len()));
        }
        for (i, (&e, &g)) in expected.iter().zip(got).enumerate() {
            let both_nan = f32::from_bits(e).is_nan() && f32::from_bits(g).is_nan();
            if e != g && !both_nan {
                return Some(format!("{name} byte {}: {g:#010x}, expected {e:#010x}", 4 * i));
            }
        }
    }
    None
}

fn round_f24(v: f32) -> f32 {
    F24.to_f32(F24.from_f32(v, Denormals::Flush))
}

fn arithmetic(numeric: Numeric) -> Arithmetic {
    match numeric {
        Numeric::Single => Arithmetic::default(),
        Numeric::F24 => Arithmetic { round: round_f24, ..Arithmetic::default() },
        Numeric::Fast => Arithmetic { product_rule: false, ..Arithmetic::default() },
    }
}

/// Runs of one sample, two in succession on one state.
struct Check<'s> {
    sample: &'s Sample,
    numeric: Numeric,
    contexts: Lifted,
    stacks: Lifted,
    /// With nothing live at the end but the outputs; none for geometry programs.
    outputs: Option<Lifted>,
}

#[derive(Default, Debug)]
struct Stats {
    programs: u32,
    stacks_only: u32,
    runs: u32,
    ended: u32,
    steps: u64,
    events: u64,
}

impl<'s> Check<'s> {
    fn new(sample: &'s Sample, numeric: Numeric) -> Check<'s> {
        let lifted = |options: &LiftOptions| lift(&sample.program, options).expect("every word decodes");
        let whole = options(sample, numeric, Limits::default());
        // Every fourth with a trace of each instruction.
        let contexts =
            lifted(&LiftOptions { traceable: sample.program.code.len().is_multiple_of(4), ..whole });
        let stacks = lifted(&options(sample, numeric, Limits::STACKS_AS_DATA));
        assert!(stacks.flow.stacks_as_data);
        let wrapper = Wrapper::Compute { workgroup: 1, persistent: false, geometry: None };
        let outputs = LiftOptions { wrapper, records: Records::Outputs, ..whole };
        let outputs = sample.geometry.is_none().then(|| lifted(&outputs));
        Check { sample, numeric, contexts, stacks, outputs }
    }

    /// Whether a run of the program for its outputs only, from a fresh state, leaves the expected ones.
    fn run_for_outputs(&self, environment: &Environment, expected: &State, fuel: u64) -> Result<(), String> {
        let Some(lifted) = &self.outputs else { return Ok(()) };
        let start = vec![0; state_size(self.sample) / 4];
        let mut record = Record { state: start.clone(), ..Record::default() };
        put(&mut record.state, STATE_OUTPUTS, &expected.outputs);
        match run_lifted(lifted, self.sample, environment, &start, fuel) {
            Some(got) => difference(&record, &got).map_or(Ok(()), |d| Err(format!("outputs: {d}"))),
            None => Err("outputs: does not end".into()),
        }
    }

    fn run(&self, environments: &[Environment], stats: &mut Stats) -> Result<(), String> {
        let sample = self.sample;
        let mut state = State::default();
        let start = vec![0; state_size(sample) / 4];
        let mut records = [start.clone(), start];
        stats.programs += 1;
        stats.stacks_only += u32::from(self.contexts.flow.stacks_as_data);
        for (number, environment) in environments.iter().enumerate() {
            let job = Job {
                code: &sample.program.code,
                descriptors: &sample.program.descriptors,
                entry: sample.entry,
                geometry: sample.geometry,
                environment,
                arithmetic: arithmetic(self.numeric),
                fuel: FUEL,
            };
            let reference = pica_ref::run(&job, &mut state);
            stats.runs += 1;
            stats.steps += u64::from(reference.steps);
            stats.events += reference.events.len() as u64;
            let ended = reference.end == End::End;
            // Unending loops of NOPs take one instruction of IR per round at least.
            let fuel = if ended { 10_000_000 } else { 10 * u64::from(FUEL) };
            if ended && number == 0 {
                self.run_for_outputs(environment, &state, fuel)?;
            }
            for (name, lifted, record) in [("contexts", &self.contexts, 0), ("stacks", &self.stacks, 1)] {
                let got = run_lifted(lifted, sample, environment, &records[record], fuel);
                match (ended, got) {
                    // What was lost is missing in the emitter, too.
                    (true, Some(got)) if got.lost != 0 => return Ok(()),
                    (true, Some(got)) => {
                        let mut expected = expected(sample, &state, reference.steps, &reference.events);
                        // The reference does not count EMITs.
                        let emits = STATE_COUNTERS as usize / 4 + 2;
                        expected.state[emits] = got.state[emits];
                        if let Some(d) = difference(&expected, &got) {
                            return Err(format!("{name}: {d}"));
                        }
                        records[record] = got.state;
                    }
                    (true, None) => return Err(format!("{name}: does not end")),
                    (false, Some(got)) if got.state[STATE_COUNTERS as usize / 4] <= FUEL => {
                        return Err(format!("{name}: ends"));
                    }
                    (false, _) => {}
                }
            }
            if !ended {
                return Ok(());
            }
            stats.ended += 1;
        }
        Ok(())
    }
}

/// Twenty times as many programs of a long run.
fn programs(short: u64) -> u64 {
    property::budget(short, 20 * short)
}

fn sample(seed: u64) -> (Category, Sample, Rng) {
    let mut rng = Rng::new(seed);
    let max_words = if rng.percent(1) { pica::MAX_WORDS } else { 256 };
    let (category, sample) = pica::random(&mut rng, max_words);
    (category, sample, rng)
}

/// Compares a random program under random uniforms and inputs, twice in succession on one state.
fn compare(seed: u64, category: Category, sample: &Sample, rng: &mut Rng, stats: &mut Stats) {
    let numeric = [Numeric::Single, Numeric::Single, Numeric::F24, Numeric::Fast][rng.below(4) as usize];
    let environments = [environment(rng), environment(rng)];
    if let Err(e) = Check::new(sample, numeric).run(&environments, stats) {
        panic!("seed {seed} ({category:?}, {numeric:?}, {} words): {e}", sample.program.code.len());
    }
}

#[test]
fn lifted_programs_do_what_the_machine_does() {
    let mut stats: BTreeMap<String, Stats> = BTreeMap::new();
    for seed in property::seeds(programs(3000)) {
        let (category, sample, mut rng) = sample(seed);
        let stats = stats.entry(format!("{category:?}")).or_default();
        compare(seed, category, &sample, &mut rng, stats);
    }
    for (category, stats) in &stats {
        println!("{category}: {stats:?}");
        let ends = !matches!(category.as_str(), "Irreducible" | "Scopes" | "Wild");
        assert!(stats.ended * 2 > stats.runs && (!ends || stats.ended * 100 > stats.runs * 97));
    }
    assert_eq!(stats.len(), Category::ALL.len());
    assert!(stats["Geometry"].events > 1000);
}

#[test]
fn scopes_deeper_than_their_stacks_do_what_the_machine_does() {
    let mut stats = Stats::default();
    for seed in property::seeds(programs(1000)) {
        let mut rng = Rng::new(3_000_000 + seed);
        let words = 48 + rng.below(80);
        let sample = pica::program(&mut rng, Category::Scopes, words);
        compare(seed, Category::Scopes, &sample, &mut rng, &mut stats);
    }
    println!("{stats:?}");
    assert!(stats.ended * 2 > stats.runs);
}

/// What one run of `sample` leaves, with the stacks in the context; none if it does not end.
fn run_once(sample: &Sample, numeric: Numeric, environment: &Environment) -> Option<Record> {
    let lifted = lift(&sample.program, &options(sample, numeric, Limits::default()));
    let start = vec![0; state_size(sample) / 4];
    run_lifted(&lifted.expect("every word decodes"), sample, environment, &start, 500_000)
}

#[test]
fn results_in_24_bit_arithmetic_are_24_bit_floats() {
    let (mut runs, mut rounded) = (0, 0);
    for seed in property::seeds(programs(300)) {
        let (_, sample, mut rng) = sample(1_000_000 + seed);
        let environment = environment(&mut rng);
        let Some(got) = run_once(&sample, Numeric::F24, &environment) else { continue };
        let registers = |r: &Record| r.state[..(STATE_ADDRESS / 4) as usize].to_vec();
        for (i, bits) in registers(&got).into_iter().enumerate() {
            // MOV passes denormals on as they are.
            let v = f32::from_bits(bits);
            let same = F24.to_f32(F24.from_f32(v, Denormals::Keep)).to_bits() == bits;
            assert!(v.is_nan() || same, "seed {seed}: state byte {}: {v:e}", 4 * i);
        }
        runs += 1;
        let single = run_once(&sample, Numeric::Single, &environment);
        rounded += u32::from(single.is_some_and(|s| registers(&s) != registers(&got)));
    }
    println!("{runs} runs, {rounded} with results that differ from single precision");
    assert!(runs > 200 && rounded > 50);
}

#[test]
fn fast_arithmetic_differs_only_by_the_rule_for_products() {
    let (mut equal, mut with_rule) = (0, 0);
    for seed in property::seeds(programs(300)) {
        let (_, sample, mut rng) = sample(2_000_000 + seed);
        let environment = environment(&mut rng);
        let Some(fast) = run_once(&sample, Numeric::Fast, &environment) else { continue };
        let job = Job {
            code: &sample.program.code,
            descriptors: &sample.program.descriptors,
            entry: sample.entry,
            geometry: sample.geometry,
            environment: &environment,
            arithmetic: Arithmetic::default(),
            fuel: FUEL,
        };
        let reference = pica_ref::run(&job, &mut State::default());
        if reference.end != End::End || reference.zeroed_products != 0 {
            with_rule += 1;
            continue;
        }
        let single = run_once(&sample, Numeric::Single, &environment).expect("it ends on the machine");
        assert_eq!(difference(&single, &fast), None, "seed {seed}");
        equal += 1;
    }
    println!("{equal} runs without a product the rule concerns, {with_rule} others");
    assert!(equal > 150 && with_rule > 10);
}

fn wrappers() -> impl Strategy<Value = Wrapper> {
    let geometry = proptest::option::of((any::<u16>(), any::<u32>()));
    let compute = (any::<u32>(), any::<bool>(), geometry).prop_map(|(workgroup, persistent, geometry)| {
        let geometry =
            geometry.map(|(output_mask, emit_capacity)| GeometryWrapper { output_mask, emit_capacity });
        Wrapper::Compute { workgroup: workgroup % 1100, persistent, geometry }
    });
    let clip = prop_oneof![Just(ClipSpace::Guest), Just(ClipSpace::Vulkan), Just(ClipSpace::OpenGl)];
    let mapped = (clip, proptest::collection::vec((0..40u8, any::<u8>(), 0..4u32), 0..30)).prop_map(
        |(clip, entries)| {
            let mut map = OutputMap::default();
            entries.iter().for_each(|&(s, register, c)| map.set(s, register, Component::from_bits(c)));
            Wrapper::Vertex(VertexOutputs::Mapped(map, clip))
        },
    );
    let registers = any::<u16>().prop_map(|mask| Wrapper::Vertex(VertexOutputs::Registers(mask)));
    prop_oneof![compute, mapped, registers]
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn any_words_are_lifted_or_refused(
        code in proptest::collection::vec(any::<u32>(), 0..200),
        descriptors in proptest::collection::vec(any::<u32>(), 0..140),
        entry in prop_oneof![0..200u32, any::<u32>()],
        wrapper in wrappers(),
        max_nodes in prop_oneof![Just(0), 0..300usize],
        count_steps: bool,
    ) {
        let program = Program { code, descriptors };
        let options = LiftOptions {
            entry,
            wrapper,
            count_steps,
            limits: Limits { max_nodes, ..Limits::default() },
            ..LiftOptions::compute(0)
        };
        match lift(&program, &options) {
            Ok(lifted) => prop_assert!(Interpreter::new(&lifted.module).is_ok()),
            Err(LiftError::Entry { entry }) => prop_assert!(entry >= 4095),
            Err(LiftError::Workgroup(n)) => prop_assert!(n == 0 || n > 1024),
            Err(LiftError::Decode(DecodeError::UnknownOpcode { offset, word })) => {
                prop_assert_eq!(program.word(offset as u32 / 4), word);
            }
        }
    }
}
