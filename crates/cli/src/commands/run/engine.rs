//! Runs the compute wrapper of a program: one invocation per vertex, its buffers laid out and read back.

use super::values::{Inputs, Registers, Vertex};
use crate::draw::guest_code;
use anyhow::{Result, anyhow};
use xenoglot::pica::EMIT_CAPACITY;
use xenoglot_interp::{Bindings, Interpreter, Limits, Visit};
use xenoglot_ir::{Bits, Block, Func, Module};
use xenoglot_pica_shader::container::{Dvle, ShaderKind};
use xenoglot_pica_shader::lift::layout::*;
use xenoglot_pica_shader::lift::record::{self, Sent, sent};

/// What a geometry program sent.
pub enum Event {
    /// The next triangle's winding is reversed.
    Winding,
    /// A vertex: the output registers of the mask.
    Vertex(Vec<(u8, [u32; 4])>),
}

/// A block that was executed.
pub struct Visited {
    /// The block.
    pub block: Block,
    func: Func,
}

impl Visited {
    /// The guest addresses in it.
    pub fn guest(&self, module: &Module) -> Vec<u32> {
        module.funcs.get(self.func).map_or_else(Vec::new, |f| guest_code(f, self.block).0)
    }
}

/// What a vertex left behind.
pub struct Run {
    /// o0 to o15.
    pub outputs: Vec<[u32; 4]>,
    /// r0 to r15.
    pub temps: Vec<[u32; 4]>,
    /// a0.x, a0.y, aL.
    pub address: [i32; 3],
    /// Condition flags.
    pub flags: [bool; 2],
    /// Guest instructions executed.
    pub steps: u32,
    /// Events in order.
    pub events: Vec<Event>,
    /// EMITs there was no room for.
    pub lost_emits: u32,
    /// Executed blocks, if asked for.
    pub trace: Vec<Visited>,
}

/// The buffers of an invocation by binding.
struct Buffers {
    uniforms: Vec<u8>,
    inputs: Vec<u8>,
    state: Vec<u8>,
    events: Vec<u8>,
}

impl Buffers {
    fn new(dvle: &Dvle, uniforms: &Registers) -> Buffers {
        let geometry = dvle.kind == ShaderKind::Geometry;
        let state = if geometry { GEOMETRY_STATE_STRIDE } else { VERTEX_STATE_STRIDE };
        let events = if geometry { event_stride(EMIT_CAPACITY) } else { 0 };
        Buffers {
            uniforms: uniforms.bytes(),
            inputs: Vec::new(),
            state: vec![0; state as usize],
            events: vec![0; events as usize],
        }
    }

    /// The buffers for the next vertex. A geometry program finds the state its predecessor left.
    fn begin(&mut self, dvle: &Dvle, vertex: &Vertex) {
        self.inputs = vertex.bytes();
        if dvle.kind == ShaderKind::Vertex {
            self.state.fill(0);
        }
    }

    fn all(&self) -> [(u32, &[u8]); 4] {
        [
            (UNIFORM_BINDING, &self.uniforms),
            (INPUT_BINDING, &self.inputs),
            (STATE_BINDING, &self.state),
            (EVENT_BINDING, &self.events),
        ]
    }

    fn set(&mut self, binding: u32, bytes: Vec<u8>) {
        match binding {
            STATE_BINDING => self.state = bytes,
            EVENT_BINDING => self.events = bytes,
            _ => {}
        }
    }

    /// Reads back what the invocation left.
    fn finish(&self, dvle: &Dvle, trace: Vec<Visited>) -> Run {
        let word = |bytes: &[u8], at: u32| {
            let word = bytes.get(at as usize..).and_then(|rest| rest.first_chunk::<4>());
            word.map_or(0, |w| u32::from_le_bytes(*w))
        };
        let register = |bytes: &[u8], at: u32| [0, 4, 8, 12].map(|i| word(bytes, at + i));
        let file = |at: u32| (0..16).map(|n| register(&self.state, at + n * 16)).collect();
        let flags = word(&self.state, STATE_ADDRESS + 12);
        let geometry = dvle.kind == ShaderKind::Geometry;
        let sent = if geometry { sent(&self.state, &self.events, EMIT_CAPACITY) } else { Sent::default() };
        let masked = |registers: Box<[[u32; 4]; 16]>| {
            let masked = (0..16u8).filter(|n| dvle.output_mask >> n & 1 == 1);
            Event::Vertex(masked.map(|n| (n, registers[usize::from(n)])).collect())
        };
        let events = sent.events.into_iter().map(|e| match e {
            record::Event::Winding => Event::Winding,
            record::Event::Vertex(registers) => masked(registers),
        });
        let events = events.collect();
        Run {
            outputs: file(STATE_OUTPUTS),
            temps: file(STATE_TEMPS),
            address: [0, 4, 8].map(|at| word(&self.state, STATE_ADDRESS + at) as i32),
            flags: [flags & 1 != 0, flags & 2 != 0],
            steps: word(&self.state, STATE_COUNTERS),
            events,
            lost_emits: sent.lost,
            trace,
        }
    }
}

/// Runs on the interpreter.
pub fn interpret(module: &Module, dvle: &Dvle, inputs: &Inputs, fuel: u64, trace: usize) -> Result<Vec<Run>> {
    let mut interpreter = Interpreter::new(module)?;
    let limits = Limits { fuel, trace, ..Limits::default() };
    let mut buffers = Buffers::new(dvle, &inputs.uniforms);
    let mut out = Vec::new();
    for vertex in &inputs.vertices {
        buffers.begin(dvle, vertex);
        let mut bindings = Bindings::new(module);
        let resource =
            |binding| module.resources.iter().find(|(_, r)| r.binding == binding).map(|(id, _)| id);
        for (binding, bytes) in buffers.all() {
            if let Some(id) = resource(binding) {
                bindings.set_buffer(id, bytes.to_vec());
            }
        }
        // The wrapper's one variable is the number of the invocation.
        for var in module.vars.keys() {
            bindings.set_input(var, Bits::default());
        }
        let outcome = interpreter
            .run_entry(&mut bindings, &limits)
            .map_err(|trap| anyhow!("vertex {}: {trap}", out.len()))?;
        for binding in [STATE_BINDING, EVENT_BINDING] {
            if let Some(id) = resource(binding) {
                buffers.set(binding, bindings.buffer(id).to_vec());
            }
        }
        let visited = |v: Visit| Visited { block: v.block, func: v.func };
        out.push(buffers.finish(dvle, outcome.trace.into_iter().map(visited).collect()));
    }
    Ok(out)
}

/// Runs as machine code of the CPU.
pub fn native(module: &mut Module, dvle: &Dvle, inputs: &Inputs, fuel: u64) -> Result<Vec<Run>> {
    let program = super::machine_code(module)?;
    let limits = xenoglot_native::Limits { fuel };
    let mut buffers = Buffers::new(dvle, &inputs.uniforms);
    let mut out = Vec::new();
    for vertex in &inputs.vertices {
        buffers.begin(dvle, vertex);
        let Buffers { uniforms, inputs, state, events } = &mut buffers;
        let mut bindings = xenoglot_native::Bindings::new();
        bindings.read(0, UNIFORM_BINDING, uniforms).read(0, INPUT_BINDING, inputs);
        bindings.write(0, STATE_BINDING, state).write(0, EVENT_BINDING, events);
        program.run(&mut bindings, 0..1, &limits).map_err(|e| anyhow!("vertex {}: {e}", out.len()))?;
        out.push(buffers.finish(dvle, Vec::new()));
    }
    Ok(out)
}

/// Runs on a Vulkan device, in a worker process: a driver may not survive a shader.
#[cfg(feature = "vulkan")]
pub fn vulkan(module: &mut Module, dvle: &Dvle, inputs: &Inputs, device: Option<&str>) -> Result<Vec<Run>> {
    use super::device;
    use xenoglot::Code;
    use xenoglot_vulkan::isolated::IsolatedOptions;
    use xenoglot_vulkan::{BufferBinding, BufferKind, ComputeJob, ComputeRun, Job};

    let mut options = IsolatedOptions::default();
    if device.is_some() {
        options.device.selector = device.map(str::to_owned);
    }
    let (mut isolated, host) = device::open(options)?;
    let Code::Words(spirv) = xenoglot::compile(module, &host, &Default::default())? else {
        return Err(anyhow!("SPIR-V is words"));
    };
    let mut buffers = Buffers::new(dvle, &inputs.uniforms);
    let mut out = Vec::new();
    for vertex in &inputs.vertices {
        buffers.begin(dvle, vertex);
        let bound: Vec<BufferBinding> = buffers
            .all()
            .into_iter()
            .map(|(binding, data)| BufferBinding {
                set: 0,
                binding,
                kind: if binding == UNIFORM_BINDING { BufferKind::Uniform } else { BufferKind::Storage },
                data: data.to_vec(),
            })
            .collect();
        let run = ComputeRun { buffers: bound, push_constants: Vec::new(), groups: [1; 3] };
        let job = ComputeJob { spirv: spirv.clone(), entry: "main".into(), runs: vec![run] };
        let outputs = isolated.run(&Job::Compute(job))?;
        let results = outputs.into_iter().next().map(|o| o.buffers).unwrap_or_default();
        for (binding, bytes) in
            [UNIFORM_BINDING, INPUT_BINDING, STATE_BINDING, EVENT_BINDING].into_iter().zip(results)
        {
            buffers.set(binding, bytes);
        }
        out.push(buffers.finish(dvle, Vec::new()));
    }
    Ok(out)
}
