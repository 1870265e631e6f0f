//! The same programs in the simulator, in the IR interpreter, as native code and as SPIR-V: every pixel equal.

#[path = "common/programs.rs"]
mod programs;

use programs::PROGRAMS;
use xenoglot_dragon::command::{Command, sig};
use xenoglot_dragon::{Machine, Params};
use xenoglot_interp::{Bindings as InterpBindings, Interpreter, Limits as InterpLimits};
use xenoglot_ir::Module;
use xenoglot_native::{Bindings, Compiler, Limits};
use xenoglot_opt::{Context, Lacks, legalize};
use xenoglot_testgen::skip;
use xenoglot_vpu::asm::assemble;
use xenoglot_vpu::lift::layout::*;
use xenoglot_vpu::lift::record::{Record, global_bytes};
use xenoglot_vpu::lift::{LiftOptions, lift};
use xenoglot_vpu::number::{LANES, Lanes};
use xenoglot_vpu::texture::TexelFormat;
use xenoglot_vpu::{Number, Program, REGISTERS, Texture, TileFormat};
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand, serve_if_worker};
use xenoglot_vulkan::{BufferBinding, BufferKind, ComputeJob, ComputeRun, Job, spread};

const SIZE: u32 = 32;
const PIXELS: usize = (SIZE * SIZE) as usize;
const FORMATS: [TileFormat; 4] =
    [TileFormat::Rgb565, TileFormat::Z16, TileFormat::Rgba8888, TileFormat::Rgba5551];
const FILLS: [u32; 4] = [0x8c71, 0x9000, 0x4080_c0ff, 0x1235];
const MEMORY: u32 = 1 << 16;
const VERTICES: u32 = 0x1000;
const INDICES: u32 = 0x1100;

/// Not a test: what the device test starts as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

fn textures() -> [Texture; 4] {
    let texture = |address, format, log2_size, bilinear| Texture {
        address,
        palette: 0x2000,
        log2_size,
        format,
        bilinear,
    };
    [
        texture(0x4000, TexelFormat::Rgb565, [4, 4], false),
        texture(0x5000, TexelFormat::Rgba5551, [5, 3], true),
        texture(0x6000, TexelFormat::Palette4, [3, 6], false),
        texture(0x7000, TexelFormat::Palette4, [4, 4], true),
    ]
}

fn globals(number: Number) -> [Lanes; REGISTERS] {
    std::array::from_fn(|n| {
        std::array::from_fn(|lane| match n {
            0 => 0,
            _ => number.ratio(((n * 37 + lane * 101) % 512) as i32 - 256, 6),
        })
    })
}

/// A program with what the simulator starts its threads with and leaves of them.
struct Case {
    program: Program,
    options: LiftOptions,
    globals: [Lanes; REGISTERS],
    memory: Vec<u8>,
    before: Vec<Record>,
    after: Vec<[u32; 4]>,
}

/// Draws a square of two triangles over a whole tile.
fn simulate(source: &str, number: Number) -> Case {
    let params = Params { number, ..Params::default() }.with(&[format!("memory.bytes = {MEMORY}")]).unwrap();
    let mut machine = Machine::new(params).unwrap();
    let words = assemble(source).unwrap();
    let memory = machine.memory_mut();
    for (n, byte) in memory.bytes_mut().iter_mut().enumerate() {
        *byte = (n as u32).wrapping_mul(0x9e37_79b9).to_be_bytes()[0];
    }
    // An exit after the program.
    let code: Vec<u8> = words.iter().chain(&[1 << 26]).flat_map(|w| w.to_le_bytes()).collect();
    memory.write(0, &code).unwrap();
    let corners = [[0, 0], [512, 0], [512, 512], [0, 512]];
    for (n, [x, y]) in (0..).zip(corners) {
        let attribute = |a: i32, lane: i32| (((n * 5 + a * 3 + lane * 7) % 11) * 3000 - 12000) as i16;
        let depth = [12000 * n as u16, 20000 + 3000 * n as u16];
        let position = [x as u16, y as u16, depth[0], depth[1]].map(|v| v as i16);
        let rest = (1..4).flat_map(|a| (0..4).map(move |lane| attribute(a, lane)));
        let bytes: Vec<u8> = position.into_iter().chain(rest).flat_map(|v| v.to_le_bytes()).collect();
        memory.write(VERTICES + 32 * n as u32, &bytes).unwrap();
    }
    let indices: Vec<u8> = [0u16, 1, 2, 0, 2, 3].iter().flat_map(|i| i.to_le_bytes()).collect();
    memory.write(INDICES, &indices).unwrap();
    let mut commands = vec![
        Command::SetVpuProgram(0),
        Command::ExecVpuProgramLoad { sig: sig::VPU_PROG },
        Command::SetTriangleVertexFormat { attributes: 4, perspective: true },
        Command::SetTriangleVertexDataAddr(VERTICES),
        Command::SetTriangleIndexDataAddr(INDICES),
        Command::SetTriangleCount(2),
    ];
    let globals = globals(number);
    for (n, global) in (0..).zip(globals) {
        commands.extend((0..LANES).map(|lane| Command::SetVpuGlobal(lane as u8, global[lane])));
        commands.push(Command::ExecWriteVpuGlobal { global: n, sig: sig::GLOBAL });
        commands.push(Command::SigWait(sig::GLOBAL));
    }
    for (n, texture) in (0..).zip(textures()) {
        commands.push(Command::SetTextureAddr(n, texture.address));
        commands.push(Command::SetTexturePalette(n, texture.palette));
        commands.push(Command::SetTextureFormat(n, texture));
    }
    for n in 0..4 {
        commands.push(Command::SetVpuTileFormat(n, FORMATS[usize::from(n)]));
        commands.push(Command::SetFillTileBufferValue(n, FILLS[usize::from(n)]));
        commands.push(Command::ExecFillTileBuffer { tile: n, sig: sig::CLEAR_TILE });
        commands.push(Command::SigWait(sig::CLEAR_TILE));
    }
    commands.push(Command::SigWait(sig::VPU_PROG));
    commands.push(Command::ExecDrawTriangles { sig: sig::TRIANGLES });
    commands.push(Command::SigWait(sig::TRIANGLES));
    machine.log_fragments();
    machine.run(&commands.iter().map(|c| c.encode()).collect::<Vec<_>>()).unwrap();
    let fragments = machine.take_fragments();
    assert_eq!(fragments.len(), PIXELS, "each pixel once");
    let before =
        fragments.iter().map(|f| Record { registers: f.registers, tiles: FILLS, ended: 0 }).collect();
    let after = fragments
        .iter()
        .map(|f| std::array::from_fn(|tile| machine.tile_pixel(tile as u8, f.x, f.y).unwrap()))
        .collect();
    let options = LiftOptions { number, formats: FORMATS, textures: textures(), workgroup: 64 };
    let program = Program::from_words(&words);
    Case { program, options, globals, memory: machine.memory().bytes().to_vec(), before, after }
}

impl Case {
    fn threads(&self) -> Vec<u8> {
        self.before.iter().flat_map(Record::to_bytes).collect()
    }

    fn module(&self) -> Module {
        let mut module = lift(&self.program, &self.options).unwrap();
        let mut context = xenoglot_opt::Context::new();
        let options = xenoglot_opt::Options::default();
        let Ok(()) = xenoglot_opt::optimize(&mut module, &mut context, &options, &mut ());
        module
    }

    fn interpreted(&self, module: &Module) -> Vec<Record> {
        let mut bindings = InterpBindings::new(module);
        let resource = |binding| module.resources.iter().find(|(_, r)| r.binding == binding).unwrap().0;
        bindings.set_buffer(resource(GLOBAL_BINDING), global_bytes(&self.globals));
        bindings.set_buffer(resource(THREAD_BINDING), self.threads());
        bindings.set_buffer(resource(MEMORY_BINDING), self.memory.clone());
        let limits = InterpLimits { fuel: 100_000_000, ..InterpLimits::default() };
        let groups = [PIXELS as u32 / self.options.workgroup, 1, 1];
        Interpreter::new(module).unwrap().dispatch(groups, &mut bindings, &limits).unwrap();
        records(bindings.buffer(resource(THREAD_BINDING)))
    }

    fn native(&self, module: &Module) -> Vec<Record> {
        let program = Compiler::new().and_then(|mut c| c.compile(module)).unwrap();
        let (globals, mut threads) = (global_bytes(&self.globals), self.threads());
        let mut bindings = Bindings::new();
        bindings.read(0, GLOBAL_BINDING, &globals).read(0, MEMORY_BINDING, &self.memory);
        bindings.write(0, THREAD_BINDING, &mut threads);
        program.run(&mut bindings, 0..PIXELS as u32, &Limits::default()).unwrap();
        drop(bindings);
        records(&threads)
    }

    fn assert_pixels(&self, name: &str, engine: &str, records: &[Record]) {
        for (n, (record, want)) in records.iter().zip(&self.after).enumerate() {
            assert!(
                record.tiles == *want,
                "{name}, {engine}: thread {n}: {:x?}, not {want:x?}",
                record.tiles
            );
        }
    }
}

fn records(bytes: &[u8]) -> Vec<Record> {
    bytes.chunks(THREAD_STRIDE as usize).map(Record::from_bytes).collect()
}

fn numbers() -> [Number; 2] {
    [Number::Float, Number::default()]
}

#[test]
fn simulator_interpreter_and_native_code_agree() {
    for (name, source) in PROGRAMS {
        for number in numbers() {
            let case = simulate(source, number);
            let distinct: std::collections::BTreeSet<_> = case.after.iter().collect();
            assert!(
                distinct.len() > 1 || ["flat", "nothing but words"].contains(&name),
                "{name} shows nothing"
            );
            let module = case.module();
            let interpreted = case.interpreted(&module);
            case.assert_pixels(name, "interpreter", &interpreted);
            assert_eq!(case.native(&module), interpreted, "{name} {number}");
        }
    }
}

#[test]
fn simulator_and_device_agree() {
    let worker = WorkerCommand::this_test("vulkan_worker").unwrap();
    let info = match Isolated::new(worker.clone(), IsolatedOptions::default()).devices() {
        Ok(devices) if !devices.is_empty() => devices.into_iter().min_by_key(|d| d.kind).unwrap(),
        Ok(_) => return skip("no Vulkan device"),
        Err(e) => return skip(&e.to_string()),
    };
    let controls = xenoglot_spirv::FloatControls {
        signed_zero_inf_nan: info.float_controls.signed_zero_inf_nan_preserve,
        denorm_preserve: info.float_controls.denorm_preserve[1],
        round_even: info.float_controls.rounding_mode_rte[1],
    };
    let cases: Vec<_> =
        PROGRAMS.into_iter().flat_map(|program| numbers().map(|number| (program, number))).collect();
    let start = || Ok::<_, ()>(Isolated::new(worker.clone(), IsolatedOptions::default()));
    spread(&cases, start, |device, &((name, source), number)| {
        let case = simulate(source, number);
        let options = xenoglot_spirv::Options { float_controls: controls, ..Default::default() };
        let mut module = case.module();
        legalize::run(
            &mut module,
            &Lacks { arithmetic: legalize::Options::RULES, ..Lacks::default() },
            &mut Context::new(),
        );
        let spirv = xenoglot_spirv::emit(&module, &options).unwrap();
        let buffer = |binding, kind, data| BufferBinding { set: 0, binding, kind, data };
        let buffers = vec![
            buffer(GLOBAL_BINDING, BufferKind::Uniform, global_bytes(&case.globals)),
            buffer(THREAD_BINDING, BufferKind::Storage, case.threads()),
            buffer(MEMORY_BINDING, BufferKind::Storage, case.memory.clone()),
        ];
        let groups = [PIXELS as u32 / case.options.workgroup, 1, 1];
        let runs = vec![ComputeRun { buffers, push_constants: Vec::new(), groups }];
        let job = Job::Compute(ComputeJob { spirv, entry: "main".into(), runs });
        let outputs = device.run(&job).unwrap();
        case.assert_pixels(name, "device", &records(&outputs[0].buffers[1]));
    })
    .unwrap();
}
