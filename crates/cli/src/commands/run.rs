//! `xenoglot run`: a shader on given inputs, a kernel on given arguments, a module on given buffers, a MIPS program for Linux.

use crate::executable::executables;
use crate::failure::{self, usage};
use crate::lift::{NumericArg, Workgroup, parse_workgroup};
use crate::print;
use crate::program::Select;
use crate::source::{Source, sources};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use xenoglot::pica::{Options, Shape, lift_executable};
use xenoglot::{Code, Host};
use xenoglot_ir::Module;
use xenoglot_maxwell::container::{self, FatBinary, Format};
use xenoglot_maxwell::launch::STACK_BYTES;
use xenoglot_pica_shader::container::Dvle;
use xenoglot_pica_shader::names::Names;

mod arguments;
#[cfg(feature = "vulkan")]
pub mod device;
mod engine;
mod guest;
mod kernel;
mod module;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod perf_map;
mod values;
#[cfg(target_os = "linux")]
mod watch;

use engine::{Event, Run};
use values::{Inputs, Registers};

const INPUTS_HELP: &str = r#"The file of --inputs:
  {
    "uniforms": { "c0": [1, 0, 0, 0], "mvp": [[1,0,0,0], [0,1,0,0], [0,0,1,0], [0,0,0,1]],
                  "i0": [3, 0, 1, 0], "b1": true },
    "vertices": [ { "v0": [0.5, 0.5, 0, 1], "v1": [1, 1, 1] }, { "v0": [1, 0, 0] } ]
  }
Names are registers (c0-c95, i0-i3, b0-b15, v0-v15) or those of the shader's uniform table, with an optional [index]. More than four values continue in the next register. Values are numbers, "inf", "-inf", "nan", or bits such as "0x3f800000". Everything else is 0, but the fourth component of an input that is given is 1. Constants of the shader are loaded first.

Arguments of a kernel (--args), one for each of its parameters:
  42  -1  0x10  1.5  nan     a number with the size of the parameter
  u32[64]                    the address of a buffer of 64 zeros
  f32[8]=1,2.5               the address of 8 floats that start with these; without the 8: of these only
  u8[]=@data.bin             the address of the bytes of a file; `-` for standard input
  {u32=5; f32[8]=1,2; 24: i16=-1}
                             a structure: numbers with their type, addresses of buffers as above; each where C puts it, or at the
                             byte in front of it
Direct3D shaders, other graphics stages and IR text take a buffer for each resource (--bind), by the module's name for it or by SET.BINDING, as above: `--bind out=u32[64]`. `xenoglot ir` shows the names. Inputs of stages are given by their names and numbers: `--input in0=1,0.5`.

Types are u8, i8, u16, i16, u32, i32, u64, i64, f32 and f64. Every buffer is printed after the run."#;

/// Where to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// The interpreter: no graphics processor needed.
    #[default]
    Interp,
    /// The CPU's machine code: PICA200 shaders, and kernels of Direct3D and IR text whose invocations lie along x and share
    /// nothing.
    Native,
    /// A Vulkan device, through SPIR-V.
    #[cfg(feature = "vulkan")]
    Vulkan,
}

/// Arguments of `run`.
#[derive(clap::Args)]
#[command(after_long_help = INPUTS_HELP)]
pub struct Args {
    /// A file, or `-` for standard input.
    shader: PathBuf,
    #[command(flatten)]
    select: Select,
    /// A JSON file with uniforms and vertices, or `-`; --help shows one.
    #[arg(long, value_name = "FILE")]
    inputs: Option<PathBuf>,
    /// An input: of the first vertex for PICA200 shaders, `v0=1,2,3,1`, else of the one invocation.
    #[arg(long, value_name = "NAME=VALUES", allow_hyphen_values = true)]
    input: Vec<String>,
    /// A uniform: `c0=1,2,3,4`, `mvp=` and 16 numbers, `i0=3,0,1,0`, `b1=true`.
    #[arg(long, value_name = "NAME=VALUES", allow_hyphen_values = true)]
    uniform: Vec<String>,
    /// Arguments of a kernel; --help says what they look like.
    #[arg(long, value_name = "ARGUMENT", num_args = 1.., allow_negative_numbers = true)]
    args: Vec<String>,
    /// What a resource of a module is bound to; --help says what it looks like.
    #[arg(long, value_name = "NAME=BUFFER")]
    bind: Vec<String>,
    /// Workgroups of a kernel along x, y and z.
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_workgroup, default_value = "1,1,1")]
    grid: Workgroup,
    /// Invocations of a kernel's workgroup along x, y and z.
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_workgroup, default_value = "32,1,1")]
    workgroup: Workgroup,
    /// Bytes of shared memory of a kernel's workgroup beside what its file states (`extern __shared__`).
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    shared_bytes: u32,
    /// Bytes of local memory of an invocation of a kernel whose functions call themselves.
    #[arg(long, value_name = "BYTES", default_value_t = STACK_BYTES)]
    stack_bytes: u32,
    /// Where to run.
    #[arg(long, value_enum, default_value_t)]
    backend: Backend,
    /// Part of the name of the Vulkan device to use; any if not given.
    #[cfg(feature = "vulkan")]
    #[arg(long)]
    device: Option<String>,
    /// Arithmetic of a PICA200 shader's results; single if not given.
    #[arg(long, value_enum)]
    numeric: Option<NumericArg>,
    /// Run the program after all passes instead of as lifted. Vulkan always does.
    #[arg(long)]
    optimized: bool,
    /// Show the blocks that were executed, with their guest addresses; at most this many. Interpreter only. Of a MIPS program: its
    /// first instructions, on standard error.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1000")]
    trace: Option<usize>,
    /// The most instructions to execute: of IR for each vertex or kernel (default: 10,000,000; rounds of loops where it is machine
    /// code, no limit on a Vulkan device), of the program itself for MIPS (default: no limit).
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
    /// Show all registers, not only those that are not 0.
    #[arg(long)]
    all: bool,
    /// Print an object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    guest: guest::GuestArgs,
}

/// A kernel as machine code of the CPU.
fn machine_code(module: &mut Module) -> Result<Arc<xenoglot_native::Program>> {
    let host: Host = "native".parse()?;
    match xenoglot::compile(module, &host, &Default::default())? {
        Code::Native(program) => Ok(program),
        _ => bail!("the native host gave no machine code"),
    }
}

impl Args {
    fn shader_fuel(&self) -> u64 {
        self.fuel.unwrap_or(10_000_000)
    }
}

/// Runs.
pub fn run(args: &Args) -> Result<bool> {
    let sources = sources(std::slice::from_ref(&args.shader))?;
    let [source] = sources.as_slice() else { return Err(usage("run takes one file, not a folder")) };
    if args.trace.is_some() && args.backend != Backend::Interp {
        return Err(usage("only the interpreter traces"));
    }
    let result = read_and_run(args, source);
    result.map(|()| true).or_else(|e| {
        if e.is::<failure::Usage>() || e.is::<failure::GuestExit>() || print::is_failure(&e) {
            return Err(e);
        }
        print::error(failure::describe(&source.name, &e));
        Ok(false)
    })
}

fn read_and_run(args: &Args, source: &Source) -> Result<()> {
    let bytes = source.read()?;
    let (program, _) = args.select.guest(&bytes)?;
    if program.name() == "mips" {
        return guest::run(&args.guest, args.fuel, args.trace, &args.shader, bytes);
    }
    if args.guest.is_given() {
        return Err(usage("arguments behind -- and the options of guests are for MIPS programs"));
    }
    let is_kernel = match container::detect(&bytes) {
        Some(format) => format == Format::Cubin,
        None => FatBinary::is_one(&bytes) || FatBinary::is_inside(&bytes),
    };
    let text = match program.name() {
        "pica" => shader(args, source, &bytes)?,
        "maxwell" if is_kernel => kernel::run(args, &source.name, &bytes)?,
        _ => module::run(args, &source.name, program, &bytes)?,
    };
    Ok(print::stdout().write_all(text.as_bytes())?)
}

/// Runs a PICA200 shader; gives what is to be printed.
fn shader(args: &Args, source: &Source, bytes: &[u8]) -> Result<String> {
    if !args.args.is_empty() || !args.bind.is_empty() {
        return Err(usage("--args are of kernels, --bind of modules"));
    }
    let mut found = executables(bytes, &args.select)?.into_iter();
    let (Some(executable), None) = (found.next(), found.next()) else {
        bail!("several executables inside: choose one with --entry or --at");
    };
    let dvle = executable.dvle()?;
    let inputs = inputs(args, dvle)?;
    let options = Options {
        shape: Shape::Compute,
        numeric: args.numeric.map(NumericArg::mode).unwrap_or_default(),
        count_steps: true,
        traceable: args.trace.is_some(),
        ..Options::default()
    };
    let mut module = lift_executable(&executable.shbin, executable.index, &options)?.module;
    module.workgroup = [1; 3];
    let runs = match args.backend {
        Backend::Interp => {
            if args.optimized {
                xenoglot::Translator::new().optimize(&mut module, None);
            }
            engine::interpret(&module, dvle, &inputs, args.shader_fuel(), args.trace.unwrap_or(0))?
        }
        Backend::Native => engine::native(&mut module, dvle, &inputs, args.shader_fuel())?,
        #[cfg(feature = "vulkan")]
        Backend::Vulkan => engine::vulkan(&mut module, dvle, &inputs, args.device.as_deref())?,
    };
    let names = Names::from_dvle(dvle);
    Ok(if args.json {
        let vertices: Vec<Value> = runs.iter().map(|r| run_json(r, &module, dvle, &names)).collect();
        format!("{:#}\n", json!({ "input": source.name, "vertices": vertices }))
    } else {
        let runs = runs.iter().enumerate();
        runs.map(|(n, run)| run_text(n, run, args.all, &module, dvle, &names)).collect()
    })
}

/// The text of a run on the interpreter with plausible inputs.
pub fn sample(module: &Module, dvle: &Dvle) -> Result<String> {
    let inputs = Inputs::sample(dvle);
    let runs = engine::interpret(module, dvle, &inputs, 10_000_000, 0)?;
    let names = Names::from_dvle(dvle);
    Ok(runs.iter().enumerate().map(|(n, run)| run_text(n, run, false, module, dvle, &names)).collect())
}

fn inputs(args: &Args, dvle: &Dvle) -> Result<Inputs> {
    let mut inputs = Inputs { uniforms: Registers::with_constants(dvle), vertices: Vec::new() };
    if let Some(path) = &args.inputs {
        let sources = sources(std::slice::from_ref(path))?;
        let [source] = sources.as_slice() else { return Err(usage("--inputs takes one file")) };
        if path.as_os_str() == "-" && args.shader.as_os_str() == "-" {
            return Err(usage("only one of the shader and its inputs can be standard input"));
        }
        let bytes = source.read().with_context(|| source.name.clone())?;
        inputs.add_json(&bytes, dvle).with_context(|| source.name.clone())?;
    }
    for text in &args.uniform {
        inputs
            .add_uniform_flag(text, dvle)
            .map_err(|e| usage(format!("--uniform {text}: {}", failure::text(&e))))?;
    }
    for text in &args.input {
        inputs
            .add_input_flag(text, dvle)
            .map_err(|e| usage(format!("--input {text}: {}", failure::text(&e))))?;
    }
    if inputs.vertices.is_empty() {
        inputs.vertices.push(Default::default());
    }
    Ok(inputs)
}

/// The registers of a file to show: all, or the mask's and every other that is not 0.
fn shown(registers: &[[u32; 4]], mask: u16, all: bool) -> impl Iterator<Item = (usize, [u32; 4])> {
    let mask = u32::from(mask);
    let wanted = move |&(n, v): &(usize, [u32; 4])| all || mask >> n & 1 == 1 || v != [0; 4];
    registers.iter().copied().enumerate().filter(wanted)
}

fn floats(v: [u32; 4]) -> String {
    v.map(|bits| format!("{:>12}", f32::from_bits(bits).to_string())).join(" ")
}

fn run_text(n: usize, run: &Run, all: bool, module: &Module, dvle: &Dvle, names: &Names) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "vertex {n}: {} instructions", run.steps);
    for (n, v) in shown(&run.outputs, dvle.output_mask, all) {
        let name = names.output(n as u8).unwrap_or("");
        let _ = writeln!(out, "  o{n:<3} {} {name}", floats(v));
    }
    for (n, v) in shown(&run.temps, 0, all) {
        let _ = writeln!(out, "  r{n:<3} {}", floats(v));
    }
    let [x, y, l] = run.address;
    let [fx, fy] = run.flags.map(u8::from);
    let _ = writeln!(out, "  a0.x {x}  a0.y {y}  aL {l}  cmp.x {fx}  cmp.y {fy}");
    for (n, event) in run.events.iter().enumerate() {
        match event {
            Event::Winding => drop(writeln!(out, "  event {n}: reversed winding")),
            Event::Vertex(registers) => {
                let _ = writeln!(out, "  event {n}: vertex");
                for &(n, v) in registers {
                    let name = names.output(n).unwrap_or("");
                    let _ = writeln!(out, "    o{n:<3} {} {name}", floats(v));
                }
            }
        }
    }
    if run.lost_emits > 0 {
        let _ = writeln!(out, "  {} EMITs more than there is room for", run.lost_emits);
    }
    for visit in &run.trace {
        let at: String = visit.guest(module).iter().map(|a| format!(" {a:03x}")).collect();
        let _ = writeln!(out, "  {}:{at}", visit.block);
    }
    out
}

/// A component as a number, or as text if JSON has no number for it.
fn float_json(bits: u32) -> Value {
    let x = f32::from_bits(bits);
    serde_json::Number::from_f64(x.into()).map_or_else(|| x.to_string().to_lowercase().into(), Value::Number)
}

fn register_json(v: [u32; 4]) -> Value {
    json!({ "value": v.map(float_json), "bits": v.map(|b| format!("{b:#010x}")) })
}

fn run_json(run: &Run, module: &Module, dvle: &Dvle, names: &Names) -> Value {
    let file = |letter: char, registers: &[[u32; 4]]| -> Map<String, Value> {
        let rows = registers.iter().enumerate();
        rows.map(|(n, &v)| (format!("{letter}{n}"), register_json(v))).collect()
    };
    let mapped: Map<String, Value> = (0..16u8)
        .filter(|n| dvle.output_mask >> n & 1 == 1)
        .filter_map(|n| Some((names.output(n)?.to_owned(), format!("o{n}").into())))
        .collect();
    let event = |event: &Event| match event {
        Event::Winding => json!({ "kind": "winding" }),
        Event::Vertex(registers) => {
            let rows = registers.iter().map(|&(n, v)| (format!("o{n}"), register_json(v)));
            json!({ "kind": "vertex", "outputs": rows.collect::<Map<_, _>>() })
        }
    };
    let visits = run.trace.iter();
    let trace: Vec<Value> =
        visits.map(|v| json!({ "block": v.block.to_string(), "guest": v.guest(module) })).collect();
    json!({
        "steps": run.steps,
        "names": mapped,
        "outputs": file('o', &run.outputs),
        "temporaries": file('r', &run.temps),
        "address": { "a0.x": run.address[0], "a0.y": run.address[1], "aL": run.address[2] },
        "flags": run.flags,
        "events": run.events.iter().map(event).collect::<Vec<_>>(),
        "lost emits": run.lost_emits,
        "trace": trace,
    })
}
