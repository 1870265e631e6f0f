//! Runs a module of any guest: what is bound to it is named as the module names it.

use super::arguments::{Argument, Element, Number, rows};
use super::{Args, Backend};
use crate::failure::{self, usage};
use anyhow::{Result, anyhow, bail};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use xenoglot::guest::Guest;
use xenoglot_interp::{Bindings, End, Event, Interpreter, Limits, Visit};
use xenoglot_ir::imm::Dim;
use xenoglot_ir::module::{Access, Count, Direction, ImageFormat, ResourceKind, VarData};
use xenoglot_ir::ty::Kind;
use xenoglot_ir::{Bits, Module, Resource, Stage, Type, Var};

/// A resource with what is bound to it.
struct Bound {
    resource: Resource,
    element: Element,
    bytes: Vec<u8>,
}

/// What a run leaves.
#[derive(Default)]
struct Left {
    /// Bytes of what is bound, in the same order.
    buffers: Vec<Vec<u8>>,
    /// Outputs with their elements.
    outputs: Vec<(Var, Vec<Bits>)>,
    events: Vec<Event>,
    ended: Option<End>,
    trace: Vec<Visit>,
}

/// Runs the program that the arguments choose; gives what is to be printed.
pub fn run(args: &Args, name: &str, guest: &dyn Guest, bytes: &[u8]) -> Result<String> {
    if !args.uniform.is_empty() || args.inputs.is_some() {
        return Err(usage("--uniform and --inputs are of PICA200 shaders: name a buffer with --bind"));
    }
    if !args.args.is_empty() {
        return Err(usage("--args are of kernels in cubins"));
    }
    let image = guest.load(bytes)?;
    let &[program] = args.select.programs(&*image)?.as_slice() else {
        bail!("several programs inside: choose one with --entry or --kernel");
    };
    let mut module = image.lift(program, &guest.options())?;
    let bound = bound(&module, &args.bind)?;
    let inputs = inputs(&module, &args.input)?;
    if args.optimized && args.backend == Backend::Interp {
        xenoglot::Translator::new().optimize(&mut module, None);
    }
    let left = match args.backend {
        Backend::Interp => interpret(&module, &bound, &inputs, args)?,
        Backend::Native => native(&mut module.clone(), &bound, args)?,
        #[cfg(feature = "vulkan")]
        Backend::Vulkan if module.stage == Stage::Compute => {
            vulkan(&mut module.clone(), &bound, args.grid.0, args.device.as_deref())?
        }
        #[cfg(feature = "vulkan")]
        Backend::Vulkan => bail!("only kernels run on a device; this is a {} shader", module.stage.name()),
    };
    Ok(match args.json {
        true => format!("{:#}\n", left_json(name, &module, &bound, &left)),
        false => left_text(&module, &bound, &left),
    })
}

/// What messages call a resource, and how it is named on the command line.
fn label(module: &Module, resource: Resource) -> String {
    let data = &module.resources[resource];
    format!("{} ({} {}.{})", data.name, data.kind.name().name(), data.set, data.binding)
}

/// Reads `NAME=BUFFER`, or `SET.BINDING=BUFFER`, for every resource of a module.
fn bound(module: &Module, texts: &[String]) -> Result<Vec<Bound>> {
    let mut all: Vec<Bound> = Vec::new();
    for text in texts {
        let bad = |error: anyhow::Error| usage(format!("--bind {text}: {}", failure::text(&error)));
        let Some((name, buffer)) = text.split_once('=') else {
            return Err(bad(anyhow!("expected NAME=TYPE[COUNT]")));
        };
        let place = name.split_once('.').and_then(|(s, b)| Some((s.parse().ok()?, b.parse().ok()?)));
        let found = module
            .resources
            .iter()
            .find(|(_, data)| data.name == name || place == Some((data.set, data.binding)));
        let (resource, _) = found.ok_or_else(|| bad(anyhow!("no resource has this name or place")))?;
        if all.iter().any(|b| b.resource == resource) {
            return Err(bad(anyhow!("it is bound already")));
        }
        match Argument::parse(buffer).map_err(bad)? {
            Argument::Buffer { element, bytes } => all.push(Bound { resource, element, bytes }),
            Argument::Number(_) | Argument::Structure(_) => {
                return Err(bad(anyhow!("expected TYPE[COUNT] behind the name")));
            }
        }
    }
    for (resource, data) in module.resources.iter() {
        let label = label(module, resource);
        match data.kind {
            _ if data.count != Count::One => bail!("{label} is an array, which cannot be given"),
            ResourceKind::UniformBuffer { .. }
            | ResourceKind::StorageBuffer { .. }
            | ResourceKind::PushConstants { .. }
            | ResourceKind::Texture { dim: Dim::Buffer, .. }
            | ResourceKind::Image { dim: Dim::Buffer, .. } => {
                if all.iter().all(|b| b.resource != resource) {
                    return Err(usage(format!(
                        "nothing is bound to {label}: --bind '{}=u32[COUNT]'",
                        data.name
                    )));
                }
            }
            _ => bail!("{label} cannot be given"),
        }
    }
    Ok(all)
}

/// Reads `NAME=NUMBERS` for inputs; those not given are zeros.
fn inputs(module: &Module, texts: &[String]) -> Result<Vec<(Var, Vec<Bits>)>> {
    let is_input = |data: &VarData| data.direction == Direction::Input;
    let mut all: Vec<(Var, Vec<Bits>)> = Vec::new();
    // A dispatch numbers its invocations itself.
    if module.stage != Stage::Compute {
        let zeros = |data: &VarData| vec![Bits::default(); data.array.unwrap_or(1) as usize];
        all.extend(module.vars.iter().filter(|(_, v)| is_input(v)).map(|(var, v)| (var, zeros(v))));
    }
    for text in texts {
        let bad = |error: anyhow::Error| usage(format!("--input {text}: {}", failure::text(&error)));
        let (name, numbers) = text.split_once('=').ok_or_else(|| bad(anyhow!("expected NAME=NUMBERS")))?;
        let found = module.vars.iter().find(|(_, data)| is_input(data) && data.name == name);
        let (var, data) = found.ok_or_else(|| bad(anyhow!("there is no such input")))?;
        let values = values(data, numbers).map_err(bad)?;
        match all.iter_mut().find(|(v, _)| *v == var) {
            Some(given) => given.1 = values,
            None => all.push((var, values)),
        }
    }
    Ok(all)
}

/// An input's elements from the numbers of all their lanes; those left out are zeros.
fn values(data: &VarData, numbers: &str) -> Result<Vec<Bits>> {
    let (lanes, count) = (usize::from(data.ty.lanes()), data.array.unwrap_or(1) as usize);
    let element = element(data.ty.kind());
    let words = numbers.split(',').map(|text| element.bits(text.trim()));
    let words: Vec<u64> = words.collect::<Result<_>>()?;
    if words.len() > lanes * count {
        bail!("{} numbers for {count} of {lanes} lanes", words.len());
    }
    let word = |at: usize| words.get(at).copied().unwrap_or(0);
    let value =
        |n: usize| Bits(std::array::from_fn(|lane| if lane < lanes { word(n * lanes + lane) } else { 0 }));
    Ok((0..count).map(value).collect())
}

/// How numbers of a kind are written.
fn element(kind: Kind) -> Element {
    let name = match kind {
        Kind::Bool | Kind::I8 => "i8",
        Kind::I16 => "i16",
        Kind::F16 => "u16",
        Kind::I64 => "i64",
        Kind::F32 => "f32",
        Kind::F64 => "f64",
        _ => "i32",
    };
    Element::named(name).unwrap_or(Element::WORD)
}

fn interpret(module: &Module, bound: &[Bound], inputs: &[(Var, Vec<Bits>)], args: &Args) -> Result<Left> {
    let mut interpreter = Interpreter::new(module)?;
    let mut bindings = Bindings::new(module);
    for Bound { resource, element, bytes } in bound {
        match texels(&module.resources[*resource].kind, *element)? {
            Some(format) => bindings.set_texels(*resource, bytes.clone(), format),
            None => bindings.set_buffer(*resource, bytes.clone()),
        }
    }
    for (var, values) in inputs {
        bindings.set_input_array(*var, values);
    }
    let limits = Limits { fuel: args.shader_fuel(), trace: args.trace.unwrap_or(0), ..Limits::default() };
    let mut left = Left::default();
    if module.stage == Stage::Compute {
        let done =
            interpreter.dispatch(args.grid.0, &mut bindings, &limits).map_err(|trap| anyhow!("{trap}"))?;
        left.trace = done.trace;
    } else {
        let done = interpreter.run_entry(&mut bindings, &limits).map_err(|trap| anyhow!("{trap}"))?;
        (left.trace, left.events, left.ended) = (done.trace, done.events, Some(done.end));
        let outputs = module.vars.iter().filter(|(_, data)| data.direction == Direction::Output);
        left.outputs = outputs.map(|(var, _)| (var, bindings.output(var).to_vec())).collect();
    }
    left.buffers = bound.iter().map(|b| bindings.buffer(b.resource).to_vec()).collect();
    Ok(left)
}

/// The format of a buffer of texels; `None` of other buffers.
fn texels(kind: &ResourceKind, element: Element) -> Result<Option<ImageFormat>> {
    let is_texels = matches!(
        kind,
        ResourceKind::Texture { dim: Dim::Buffer, .. } | ResourceKind::Image { dim: Dim::Buffer, .. }
    );
    if !is_texels {
        return Ok(None);
    }
    Ok(Some(match element.name() {
        "f32" => ImageFormat::R32f,
        "u32" => ImageFormat::R32ui,
        "i32" => ImageFormat::R32i,
        name => bail!("texels are f32, u32 or i32, not {name}"),
    }))
}

/// Runs a kernel as machine code of the CPU.
fn native(module: &mut Module, bound: &[Bound], args: &Args) -> Result<Left> {
    let [x, 1, 1] = args.grid.0 else { bail!("machine code runs along x only: --grid X,1,1") };
    let [size, 1, 1] = module.workgroup else {
        bail!("machine code runs workgroups of one dimension only");
    };
    let invocations = size.checked_mul(x);
    let invocations = invocations.ok_or_else(|| anyhow!("2^32 invocations or more"))?;
    let program = super::machine_code(module)?;
    let mut left = Left { buffers: bound.iter().map(|b| b.bytes.clone()).collect(), ..Left::default() };
    let mut bindings = xenoglot_native::Bindings::new();
    // Passes move resources that share a binding; they drop none.
    for (b, bytes) in bound.iter().zip(&mut left.buffers) {
        let data = &module.resources[b.resource];
        bindings.write(data.set, data.binding, bytes);
    }
    let limits = xenoglot_native::Limits { fuel: args.shader_fuel() };
    program.run(&mut bindings, 0..invocations, &limits)?;
    Ok(left)
}

/// Runs a kernel on a Vulkan device, in a worker process: a driver may not survive a shader.
#[cfg(feature = "vulkan")]
fn vulkan(module: &mut Module, bound: &[Bound], groups: [u32; 3], device: Option<&str>) -> Result<Left> {
    use super::device;
    use xenoglot::Code;
    use xenoglot_vulkan::isolated::IsolatedOptions;
    use xenoglot_vulkan::{BufferBinding, BufferKind, ComputeJob, ComputeRun, Job};

    let mut options = IsolatedOptions::default();
    if device.is_some() {
        options.device.selector = device.map(str::to_owned);
    }
    let (mut isolated, host) = device::open(options)?;
    // What the driver is given is what the module declares now: passes may drop resources.
    let kinds: Vec<_> = bound.iter().map(|b| module.resources[b.resource].clone()).collect();
    let Code::Words(spirv) = xenoglot::compile(module, &host, &Default::default())? else {
        bail!("SPIR-V is words");
    };
    let (mut buffers, mut push_constants, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (n, (b, data)) in bound.iter().zip(&kinds).enumerate() {
        let kind = match data.kind {
            ResourceKind::UniformBuffer { .. } => BufferKind::Uniform,
            ResourceKind::StorageBuffer { .. } => BufferKind::Storage,
            ResourceKind::PushConstants { .. } => {
                push_constants = b.bytes.clone();
                continue;
            }
            _ => bail!("buffers of texels are bound on the interpreter only"),
        };
        places.push(n);
        buffers.push(BufferBinding { set: data.set, binding: data.binding, kind, data: b.bytes.clone() });
    }
    let job = ComputeJob {
        spirv,
        entry: "main".into(),
        runs: vec![ComputeRun { buffers, push_constants, groups }],
    };
    let outputs = isolated.run(&Job::Compute(job))?;
    let results = outputs.into_iter().next().ok_or_else(|| anyhow!("results are missing"))?.buffers;
    let mut left = Left { buffers: bound.iter().map(|b| b.bytes.clone()).collect(), ..Left::default() };
    for (place, bytes) in places.into_iter().zip(results) {
        left.buffers[place] = bytes;
    }
    Ok(left)
}

/// Whether what a run leaves in a resource is worth showing.
fn is_written(module: &Module, resource: Resource) -> bool {
    match module.resources[resource].kind {
        ResourceKind::StorageBuffer { access } | ResourceKind::Image { access, .. } => access != Access::Read,
        _ => false,
    }
}

/// The lanes of a value as numbers.
fn lanes(ty: Type, value: &Bits) -> Vec<Number> {
    let element = element(ty.kind());
    (0..usize::from(ty.lanes())).map(|lane| element.number(value.lane(lane))).collect()
}

fn left_text(module: &Module, bound: &[Bound], left: &Left) -> String {
    let mut out = format!("{}\n", module.name);
    // Writing to a string cannot fail.
    for (b, bytes) in bound.iter().zip(&left.buffers).filter(|(b, _)| is_written(module, b.resource)) {
        let numbers: Vec<Number> = b.element.decode(bytes).collect();
        let _ =
            writeln!(out, "{}: {}[{}]", module.resources[b.resource].name, b.element.name(), numbers.len());
        rows(&mut out, &numbers);
    }
    for (var, elements) in &left.outputs {
        let data = &module.vars[*var];
        let numbers: Vec<Number> = elements.iter().flat_map(|value| lanes(data.ty, value)).collect();
        let _ = write!(out, "{}:", data.name);
        for number in &numbers {
            let _ = write!(out, " {number}");
        }
        out.push('\n');
    }
    for (n, event) in left.events.iter().enumerate() {
        let what = match event {
            Event::Vertex(_) => "vertex",
            Event::EndPrimitive => "end of a primitive",
        };
        let _ = writeln!(out, "event {n}: {what}");
    }
    if left.ended == Some(End::Kill) {
        let _ = writeln!(out, "ended by kill");
    }
    for visit in &left.trace {
        let _ = writeln!(out, "  {}: lanes {:#x} of subgroup {}", visit.block, visit.lanes, visit.subgroup);
    }
    out
}

fn left_json(input: &str, module: &Module, bound: &[Bound], left: &Left) -> Value {
    let written = bound.iter().zip(&left.buffers).filter(|(b, _)| is_written(module, b.resource));
    let buffer = |(b, bytes): (&Bound, &Vec<u8>)| {
        let values: Vec<Value> = b.element.decode(bytes).map(Number::json).collect();
        json!({ "name": module.resources[b.resource].name, "type": b.element.name(), "values": values })
    };
    let output = |(var, elements): &(Var, Vec<Bits>)| {
        let data = &module.vars[*var];
        let values: Vec<Value> = elements.iter().flat_map(|v| lanes(data.ty, v)).map(Number::json).collect();
        (data.name.clone(), values.into())
    };
    json!({
        "input": input,
        "module": module.name,
        "buffers": written.map(buffer).collect::<Vec<_>>(),
        "outputs": left.outputs.iter().map(output).collect::<Map<_, _>>(),
        "events": left.events.len(),
        "killed": left.ended == Some(End::Kill),
    })
}
