//! Random programs as WGSL, through wgpu: the same words as in the interpreter.

use xenoglot::host::Floats;
use xenoglot::{Code, Host, Translator};
use xenoglot_host::{Access, Arguments, Binding, Commands, Device, DeviceOptions};
use xenoglot_ir::Kind;
use xenoglot_testgen::skip::skip;
use xenoglot_testgen::{ir, property};

/// WGSL on a device that keeps to no more than WGSL says of floats: `fma` may round twice, and a sum with zero may be dropped.
fn host() -> Host {
    let floats = Floats { fused_fma: false, zero_sums: false, doubles: false, ..Floats::GPU };
    Host { floats, ..Host::named("webgpu").unwrap() }
}

/// Compares `count` programs with the interpreter; gives how many of them ran to their end.
fn compare(device: &Device, count: u64, options: &ir::Options) -> usize {
    let layout = device
        .layout(&[Binding::new(ir::INPUT, Access::ReadWrite), Binding::new(ir::OUTPUT, Access::ReadWrite)]);
    let (mut translator, mut ended) = (Translator::new(), 0);
    for seed in property::seeds(count) {
        let words = ir::output_words(options);
        let module = ir::generate(seed, options);
        let input = ir::inputs(seed, options);
        let Some(want) = ir::interpret(&module, &input, words) else { continue };
        let code = translator.compile(&mut module.clone(), &host(), &Default::default());
        let code = code.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{module}"));
        let Code::Text(wgsl) = code else { panic!("WGSL is text") };
        let program = device.wgsl_program(&layout, &wgsl, "main");
        let program = program.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{wgsl}"));
        let input = device.buffer_of(&input).unwrap();
        let output = device.buffer_of(&vec![0; words]).unwrap();
        let arguments = Arguments::new(device, &layout, &[&input, &output]).unwrap();
        let mut commands = Commands::default();
        commands.dispatch(&program, &arguments, &[], [1; 3]);
        commands.submit(device).unwrap();
        let got = device.read(&[(&output, 0..4 * words as u64)]).unwrap();
        assert_eq!(got, [want], "seed {seed}\n{}\n{wgsl}", xenoglot_ir::text::canonical(&module));
        ended += 1;
    }
    ended
}

fn compare_on_device(count: u64, options: &ir::Options) {
    let device = match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => device,
        Err(error) => return skip(&error.to_string()),
    };
    let ended = compare(&device, count, options);
    assert!(ended as u64 > count / 2, "{ended}");
}

#[test]
fn words_agree_with_the_interpreter() {
    compare_on_device(60, &ir::Options::integers());
}

/// Integers that WGSL has none of.
#[test]
fn integers_of_other_widths_agree_with_the_interpreter() {
    let kinds = vec![Kind::I64, Kind::I16, Kind::I8];
    compare_on_device(60, &ir::Options { kinds, ..ir::Options::integers() });
}

/// Floats of 32 bits, and of widths that WGSL has none of: these are computed in integers, or in 32 bits.
#[test]
fn floats_agree_with_the_interpreter() {
    let kinds = vec![Kind::F64, Kind::F16, Kind::I64];
    compare_on_device(30, &ir::Options { kinds, ..ir::Options::default() });
}
