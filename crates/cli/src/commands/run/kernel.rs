//! Runs a kernel of a cubin: its buffers laid out in global memory, and what it leaves in them printed.

use super::arguments::{Argument, Element, Member, Number, encode, rows};
use super::{Args, Backend};
use crate::failure::{self, usage};
use crate::program::Select;
use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};
use std::fmt::Write as _;
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::{Module, Resource};
use xenoglot_maxwell::container::{self, Cubin, Format, Kernel};
use xenoglot_maxwell::launch::{Launch, Memory, place_globals, put, shared_bytes, stack_bytes};
use xenoglot_maxwell::lift::layout::{BANK_SIZE, GLOBAL_BINDING, bank_binding};
use xenoglot_maxwell::lift::{self, ConstantBank, GlobalMemory, LiftOptions, lift_compute};

/// Guest address of global memory.
const BASE: u64 = 0x1_0000_0000;

/// Threads of a warp.
const WARP: u8 = 32;

/// How long a device may take: one of software needs a while for long kernels.
#[cfg(feature = "vulkan")]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(120);

/// A kernel with all that it runs on.
struct Run<'a> {
    kernel: &'a Kernel<'a>,
    grid: [u32; 3],
    workgroup: [u32; 3],
    /// Bytes of shared memory beside what the file states.
    dynamic_shared: u32,
    /// Bytes of a stack that the file states no bound of.
    stack: u32,
    memory: Memory,
    /// Buffers of the module's global data, which come first.
    globals: usize,
    /// What is in each buffer, and the number of its argument.
    buffers: Vec<(usize, Element)>,
    /// Constant banks by number.
    banks: Vec<(u32, Vec<u8>)>,
}

/// Runs the kernel that the arguments choose; gives what is to be printed.
pub fn run(args: &Args, name: &str, bytes: &[u8]) -> Result<String> {
    let others = [args.inputs.is_some(), args.trace.is_some(), args.numeric.is_some()];
    if !args.input.is_empty() || !args.uniform.is_empty() || !args.bind.is_empty() || others.contains(&true) {
        return Err(usage("a kernel takes --args; inputs, bindings, --numeric and --trace are of shaders"));
    }
    let unpacked = unpack(args, bytes)?;
    let bytes = unpacked.as_deref().unwrap_or(bytes);
    let name_inside = choose(&Cubin::parse(bytes)?, &args.select)?.name.clone();
    let mut memory = Memory::new(BASE);
    let linked = place_globals(bytes, &name_inside, &mut memory)?;
    let cubin = Cubin::parse(&linked)?;
    let mut run = Run::new(args, choose(&cubin, &args.select)?, memory)?;
    let module = run.lift()?;
    let left = match args.backend {
        Backend::Interp => run.interpret(module, args)?,
        Backend::Native => {
            return Err(usage("machine code has no global memory: --backend interp or vulkan"));
        }
        #[cfg(feature = "vulkan")]
        Backend::Vulkan => run.vulkan(module, args.device.as_deref())?,
    };
    Ok(if args.json { format!("{:#}\n", run.json(name, &left)) } else { run.text(&left) })
}

/// The cubin of a fat binary that has the kernel which the arguments name; nothing if the file is a cubin itself.
fn unpack(args: &Args, bytes: &[u8]) -> Result<Option<Vec<u8>>> {
    if container::detect(bytes) == Some(Format::Cubin) {
        return Ok(None);
    }
    let Some(kernel) = &args.select.kernel else {
        return Err(usage("a fat binary: choose one of its kernels with --kernel"));
    };
    let cubin = xenoglot::maxwell::cubin_with(bytes, kernel)?;
    cubin.map(Some).context("there is no such kernel inside")
}

fn choose<'c, 'a>(cubin: &'c Cubin<'a>, select: &Select) -> Result<&'c Kernel<'a>> {
    let chosen = |&(n, kernel): &(usize, &Kernel)| {
        select.entry.is_none_or(|entry| entry == n)
            && select.kernel.as_ref().is_none_or(|k| *k == kernel.name)
    };
    let mut found = cubin.kernels.iter().enumerate().filter(chosen);
    match (found.next(), found.next()) {
        (Some((_, kernel)), None) => Ok(kernel),
        (Some(_), Some(_)) => bail!("several kernels inside: choose one with --kernel or --entry"),
        (None, _) => bail!("there is no such kernel inside"),
    }
}

impl<'a> Run<'a> {
    fn new(args: &Args, kernel: &'a Kernel<'a>, mut memory: Memory) -> Result<Run<'a>> {
        let (grid, workgroup) = (args.grid.0, args.workgroup.0);
        let options = LiftOptions::default();
        let launch = Launch {
            grid,
            workgroup,
            shared_window: options.shared_window,
            local_window: options.local_window,
            local_bytes: stack_bytes(kernel.local_bytes, args.stack_bytes),
        };
        let mut bank = vec![0; kernel.bank0_bytes.min(BANK_SIZE) as usize];
        launch.fill(&mut bank)?;
        if args.args.len() != kernel.params.len() {
            let (given, wanted) = (args.args.len(), kernel.params.len());
            return Err(usage(format!("{}: {given} arguments for {wanted} parameters", kernel.name)));
        }
        let (globals, mut buffers) = (memory.buffers().len(), Vec::new());
        for (n, (text, param)) in args.args.iter().zip(&kernel.params).enumerate() {
            let bytes = Argument::parse(text).and_then(|argument| {
                Ok(match argument {
                    Argument::Number(number) => encode(&number, param.size as usize)?,
                    Argument::Buffer { element, bytes } if param.size == 8 => {
                        buffers.push((n, element));
                        memory.add(&bytes).to_le_bytes().to_vec()
                    }
                    Argument::Structure(members) => {
                        let mut all = vec![0; param.size as usize];
                        for (offset, member) in members {
                            let bytes = match member {
                                Member::Number(bytes) => bytes,
                                Member::Buffer { element, bytes } => {
                                    buffers.push((n, element));
                                    memory.add(&bytes).to_le_bytes().to_vec()
                                }
                            };
                            let place =
                                offset.checked_add(bytes.len()).and_then(|end| all.get_mut(offset..end));
                            let size = param.size;
                            place
                                .with_context(|| format!("the parameter has {size} bytes"))?
                                .copy_from_slice(&bytes);
                        }
                        all
                    }
                    Argument::Buffer { .. } => bail!("the parameter has {} bytes: no address", param.size),
                })
            });
            let bytes = bytes.map_err(|e| usage(format!("argument {n}, {text}: {}", failure::text(&e))))?;
            put(&mut bank, param.offset, &bytes)?;
        }
        let others = kernel.banks.iter().map(|bank| (bank.bank, bank.data.to_vec()));
        let banks = std::iter::once((0, bank)).chain(others).collect();
        let (dynamic_shared, stack) = (args.shared_bytes, args.stack_bytes);
        Ok(Run { kernel, grid, workgroup, dynamic_shared, stack, memory, globals, buffers, banks })
    }

    fn lift(&self) -> Result<Module> {
        let constants: Vec<ConstantBank> =
            self.kernel.banks.iter().map(|b| ConstantBank { bank: b.bank, data: b.data }).collect();
        let program = lift::Kernel {
            code: self.kernel.code,
            entry: self.kernel.entry,
            workgroup: self.workgroup,
            shared_bytes: shared_bytes(self.kernel.shared_bytes, self.dynamic_shared),
            local_bytes: stack_bytes(self.kernel.local_bytes, self.stack),
            constants: &constants,
            functions: &self.kernel.functions,
        };
        let options = LiftOptions { global: GlobalMemory::Window { base: BASE }, ..LiftOptions::default() };
        let lifted = lift_compute(&program, &options).with_context(|| self.kernel.name.clone())?;
        match lifted.info.textures.len() + lifted.info.images.len() {
            0 => Ok(lifted.module),
            _ => bail!("{} uses textures or images, which cannot be given", self.kernel.name),
        }
    }

    /// Global memory after a run on the interpreter.
    fn interpret(&mut self, mut module: Module, args: &Args) -> Result<Vec<u8>> {
        if args.optimized {
            xenoglot::Translator::new().optimize(&mut module, None);
        }
        let mut interpreter = Interpreter::new(&module)?;
        interpreter.set_subgroup_width(WARP);
        let mut bindings = Bindings::new(&module);
        let resource = |binding: u32| -> Option<Resource> {
            module.resources.iter().find(|(_, r)| r.binding == binding).map(|(id, _)| id)
        };
        for (bank, data) in &self.banks {
            if let Some(id) = resource(bank_binding(*bank)) {
                bindings.set_buffer(id, data.clone());
            }
        }
        let global = resource(GLOBAL_BINDING);
        if let Some(id) = global {
            bindings.set_buffer(id, self.memory.bytes().to_vec());
        }
        let limits = Limits { fuel: args.shader_fuel(), ..Limits::default() };
        interpreter.dispatch(self.grid, &mut bindings, &limits).map_err(|trap| anyhow!("{trap}"))?;
        Ok(global.map_or_else(|| self.memory.bytes().to_vec(), |id| bindings.buffer(id).to_vec()))
    }

    /// Global memory after a run on a Vulkan device, in a worker process: a driver may not survive a shader.
    #[cfg(feature = "vulkan")]
    fn vulkan(&mut self, mut module: Module, device: Option<&str>) -> Result<Vec<u8>> {
        use super::device;
        use xenoglot::Code;
        use xenoglot_vulkan::isolated::IsolatedOptions;
        use xenoglot_vulkan::{BufferBinding, BufferKind, ComputeJob, ComputeRun, Job};

        let mut options = IsolatedOptions { timeout: PATIENCE, ..IsolatedOptions::default() };
        options.device.timeout_ms = PATIENCE.as_millis() as u64;
        if device.is_some() {
            options.device.selector = device.map(str::to_owned);
        }
        let (mut isolated, host) = device::open(options)?;
        let code = xenoglot::compile(&mut module, &host, &Default::default())?;
        let Code::Words(spirv) = code else { bail!("SPIR-V is words") };
        let buffer = |binding, kind, data| BufferBinding { set: 0, binding, kind, data };
        let mut buffers = vec![buffer(GLOBAL_BINDING, BufferKind::Storage, self.memory.bytes().to_vec())];
        for (bank, data) in &self.banks {
            let mut data = data.clone();
            data.resize(BANK_SIZE as usize, 0);
            buffers.push(buffer(bank_binding(*bank), BufferKind::Uniform, data));
        }
        let run = ComputeRun { buffers, push_constants: Vec::new(), groups: self.grid };
        let job = ComputeJob { spirv, entry: "main".into(), runs: vec![run] };
        let outputs = isolated.run(&Job::Compute(job))?;
        let memory = outputs.into_iter().next().and_then(|o| o.buffers.into_iter().next());
        memory.context("results are missing")
    }

    /// The buffers after a run: the numbers of their arguments, what is in them, their bytes.
    fn left<'r>(&'r self, memory: &'r [u8]) -> impl Iterator<Item = (usize, Element, &'r [u8])> {
        let places = self
            .memory
            .buffers()
            .iter()
            .skip(self.globals)
            .map(|place| memory.get(place.clone()).unwrap_or_default());
        self.buffers.iter().zip(places).map(|(&(n, element), bytes)| (n, element, bytes))
    }

    fn json(&self, input: &str, memory: &[u8]) -> Value {
        let buffer = |(n, element, bytes): (usize, Element, &[u8])| {
            let values: Vec<Value> = element.decode(bytes).map(|number| number.json()).collect();
            json!({ "argument": n, "type": element.name(), "values": values })
        };
        json!({
            "input": input,
            "kernel": self.kernel.name,
            "grid": self.grid,
            "workgroup": self.workgroup,
            "buffers": self.left(memory).map(buffer).collect::<Vec<_>>(),
        })
    }

    fn text(&self, memory: &[u8]) -> String {
        let mut out = format!("{}\n", self.kernel.name);
        for (n, element, bytes) in self.left(memory) {
            let numbers: Vec<Number> = element.decode(bytes).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(out, "argument {n}: {}[{}]", element.name(), numbers.len());
            rows(&mut out, &numbers);
        }
        out
    }
}
