//! Random programs as WGSL, through wgpu: the same words as in the interpreter.

use xenoglot::host::Floats;
use xenoglot::{Code, Host, Translator};
use xenoglot_host::{Access, Arguments, Binding, Commands, Device, DeviceOptions, Layout, Program};
use xenoglot_ir::text::{Limits as TextLimits, parse};
use xenoglot_ir::{Kind, Module};
use xenoglot_testgen::skip::skip;
use xenoglot_testgen::{ir, property};

/// WGSL on a device that keeps to no more than WGSL says of floats: `fma` may round twice, and a sum with zero may be dropped.
fn host() -> Host {
    let floats = Floats { fused_fma: false, zero_sums: false, doubles: false, ..Floats::GPU };
    Host { floats, ..Host::named("webgpu").unwrap() }
}

fn layout(device: &Device) -> Layout {
    device.layout(&[Binding::new(ir::INPUT, Access::Read), Binding::new(ir::OUTPUT, Access::ReadWrite)])
}

/// A program for WGSL.
fn as_wgsl(device: &Device, seed: u64, module: &Module) -> Program {
    let code = Translator::new().compile(&mut module.clone(), &host(), &Default::default());
    let code = code.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{module}"));
    let Code::Text(wgsl) = code else { panic!("WGSL is text") };
    let program = device.wgsl_program(&layout(device), &wgsl, "main");
    program.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{wgsl}"))
}

/// The same device, opened by an application that asks for no features: naga translates our SPIR-V.
fn of_a_caller(device: &Device) -> Device {
    let name = device.wgpu().0.adapter_info().name;
    let (device, queue) = pollster::block_on(async {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapters = instance.enumerate_adapters(wgpu::Backends::all()).await;
        let adapter = adapters.into_iter().find(|adapter| adapter.get_info().name == name).unwrap();
        adapter.request_device(&wgpu::DeviceDescriptor::default()).await.unwrap()
    });
    let device = Device::from_wgpu(&device, &queue);
    assert!(!device.is_native());
    device
}

/// Words that a program writes.
fn run(device: &Device, program: &Program, input: &[u32], words: usize) -> Vec<u32> {
    let input = device.buffer_of(input).unwrap();
    let output = device.buffer_of(&vec![0; words]).unwrap();
    let arguments = Arguments::new(device, &layout(device), &[&input, &output]).unwrap();
    let mut commands = Commands::default();
    commands.dispatch(program, &arguments, &[], [1; 3]);
    commands.submit(device).unwrap();
    device.read(&[(&output, 0..4 * words as u64)]).unwrap().remove(0)
}

/// Compares `count` programs with the interpreter; gives how many of them ran to their end.
fn compare(
    device: &Device,
    count: u64,
    options: &ir::Options,
    program: impl Fn(&Device, u64, &Module) -> Program,
) -> usize {
    let mut ended = 0;
    for seed in property::seeds(count) {
        let words = ir::output_words(options);
        let module = ir::generate(seed, options);
        let input = ir::inputs(seed, options);
        let Some(want) = ir::interpret(&module, &input, words) else { continue };
        let program = program(device, seed, &module);
        let got = run(device, &program, &input, words);
        assert_eq!(got, want, "seed {seed}\n{}", xenoglot_ir::text::canonical(&module));
        ended += 1;
    }
    ended
}

fn compare_on_device(count: u64, options: &ir::Options) {
    let device = match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => device,
        Err(error) => return skip(&error.to_string()),
    };
    let ended = compare(&device, count, options, as_wgsl);
    assert!(ended as u64 > count / 2, "{ended}");
    let device = of_a_caller(&device);
    let ended = compare(&device, count, options, |device, seed, module| {
        let program = device.program(&layout(device), module.clone());
        program.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{module}"))
    });
    assert!(ended as u64 > count / 2, "{ended}");
}

#[test]
fn words_agree_with_the_interpreter() {
    compare_on_device(200, &ir::Options::integers());
}

/// Integers that WGSL has none of.
#[test]
fn integers_of_other_widths_agree_with_the_interpreter() {
    let kinds = vec![Kind::I64, Kind::I16, Kind::I8];
    compare_on_device(200, &ir::Options { kinds, ..ir::Options::integers() });
}

/// Floats of 32 bits, and of widths that WGSL has none of: these are computed in integers, or in 32 bits.
#[test]
fn floats_agree_with_the_interpreter() {
    let kinds = vec![Kind::F64, Kind::F16, Kind::I64];
    compare_on_device(60, &ir::Options { kinds, ..ir::Options::default() });
}

/// WGSL goes by types where the IR goes by ops: what is signed here is negative.
#[test]
fn signed_ops_are_signed() {
    const TEXT: &str = r#"module compute "signed" {
  workgroup 1 1 1
  storage @from = set 0 binding 0 read
  storage @to = set 0 binding 1 readwrite

  entry func @main() {
  block0:
    v0 : i32 = const 0
    v1 : i32 = const 4
    v2 : i32 = const 8
    v3 : i32 = const 12
    v4 : i32 = const 16
    v5 : i32 = const 20
    v6 : i32 = const 24
    v10 : i32 = load storage @from align 4, v0
    v11 : f32 = load storage @from align 4, v1
    v12 : f32 = s2f v10
    store storage @to align 4, v0, v12
    v13 : i32 = f2s v11
    store storage @to align 4, v1, v13
    v14 : i32 = f2s.clamp.even v11
    store storage @to align 4, v2, v14
    v15 : i32 = atomic.smin storage @to align 4 relaxed device, v3, v10
    v16 : i32 = atomic.smin storage @to align 4 relaxed device, v3, v0
    store storage @to align 4, v4, v10
    v17 : i32 = atomic.smax storage @to align 4 relaxed device, v4, v0
    v18 : i32 = sshr v10, v1
    v19 : i32 = imax v18, v13
    store storage @to align 4, v5, v19
    v20 : i32 = find_msb_s v10
    v21 : i32 = bitfield_s v10, v1, v2
    v22 : i32 = iadd v20, v21
    store storage @to align 4, v6, v22
    return
  }
}"#;
    let device = match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => device,
        Err(error) => return skip(&error.to_string()),
    };
    let module = parse(TEXT, &TextLimits::default()).unwrap();
    let input = [-77i32 as u32, (-5.5f32).to_bits(), 0, 0];
    let expected = ir::interpret(&module, &input, 7).unwrap();
    assert_eq!(expected[..4], [(-77f32).to_bits(), -5i32 as u32, -6i32 as u32, -77i32 as u32]);
    let of_caller = of_a_caller(&device);
    let programs = [
        (&device, as_wgsl(&device, 0, &module)),
        (&of_caller, of_caller.program(&layout(&of_caller), module.clone()).unwrap()),
    ];
    for (device, program) in programs {
        assert_eq!(run(device, &program, &input, 7), expected);
    }
}
