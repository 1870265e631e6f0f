//! Float ops that `lower_floats` makes of others, on a device: the bits of the fold functions.

use xenoglot::host::Language;
use xenoglot::{Code, Host, Options, Translator};
use xenoglot_conformance::vulkan;
use xenoglot_ir::fold::{self, Cx};
use xenoglot_ir::module::{
    Access, Builtin, Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind, Semantic,
    VarData,
};
use xenoglot_ir::{
    Bits, Builder, Flags, Function, Imm, Kind, MemInfo, Module, Op, Round, Space, Stage, Type, Value,
};
use xenoglot_testgen::lanes::sample;
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;
use xenoglot_testgen::skip::skip;
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand, serve_if_worker};
use xenoglot_vulkan::{ComputeJob, DeviceInfo, DeviceKind, Job};

const INVOCATIONS: usize = 2048;

/// Not a test: what the others start as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

/// A kernel that applies an op to two words for each operand; its result fills two words as well.
fn kernel(op: Op, flags: Flags, from: Kind, to: Kind, count: u32) -> Module {
    let mut m = Module::new(Stage::Compute, "floats");
    m.workgroup = [64, 1, 1];
    let id = m.vars.push(VarData {
        name: "id".into(),
        direction: Direction::Input,
        ty: Type::I32X3,
        semantic: Semantic::Builtin(Builtin::GlobalInvocationId),
        interpolation: Interpolation::Flat,
        array: None,
        inner: None,
        stream: 0,
    });
    let [input, output] = [0, 1].map(|binding| {
        m.resources.push(ResourceData {
            name: format!("b{binding}"),
            kind: ResourceKind::StorageBuffer { access: Access::ReadWrite },
            set: 0,
            binding,
            count: Count::One,
            oob: OutOfBounds::Zero,
        })
    });
    let mut f = Function::new("main");
    let block = f.add_block();
    let mut b = Builder::new(&mut f, block);
    let id = b.input(id, Type::I32X3);
    let id = b.extract(id, 0);
    let place = |b: &mut Builder, bytes: u32, offset: u32| -> Value {
        let (bytes, offset) = (b.i32(bytes), b.i32(offset));
        let at = b.op(Op::Imul, &[id, bytes]);
        b.op(Op::Iadd, &[at, offset])
    };
    let args: Vec<Value> = (0..count)
        .map(|i| {
            let at = place(&mut b, 8 * count, 8 * i);
            let words = b.load(MemInfo::plain(Space::Storage, Some(input), 2), at, Type::I32X2);
            let v = b.extract(words, 0);
            match (from, from.bits()) {
                (Kind::I32, _) => v,
                (Kind::I64 | Kind::F64, _) => b.convert(Op::Bitcast, Flags::NONE, words, Type::scalar(from)),
                (_, 16) => {
                    let v = b.convert(Op::TruncInt, Flags::NONE, v, Type::scalar(Kind::I16));
                    b.convert(Op::Bitcast, Flags::NONE, v, Type::scalar(from))
                }
                _ => b.convert(Op::Bitcast, Flags::NONE, v, Type::scalar(from)),
            }
        })
        .collect();
    let made = b.inst(op, flags, Imm::None, &args, &[Type::scalar(to)]);
    let v = b.func.results(made)[0];
    let words = match to {
        Kind::F64 => b.convert(Op::Bitcast, Flags::NONE, v, Type::I32X2),
        Kind::F16 => {
            let v = b.convert(Op::Bitcast, Flags::NONE, v, Type::scalar(Kind::I16));
            let (v, zero) = (b.convert(Op::Zext, Flags::NONE, v, Type::I32), b.i32(0));
            b.op(Op::Build, &[v, zero])
        }
        _ => {
            let (v, zero) = (b.convert(Op::Bitcast, Flags::NONE, v, Type::I32), b.i32(0));
            b.op(Op::Build, &[v, zero])
        }
    };
    let at = place(&mut b, 8, 0);
    b.store(MemInfo::plain(Space::Storage, Some(output), 2), at, words);
    b.ret(&[]);
    m.entry = m.funcs.push(f).into();
    m
}

/// Whether a device may take zeros for denormals: GPUs that cannot be asked to keep those of 32 bits do.
fn flushes(info: &DeviceInfo) -> bool {
    info.kind != DeviceKind::Cpu && !info.float_controls.denorm_preserve[1]
}

fn is_denormal(kind: Kind, bits: u64) -> bool {
    kind == Kind::F32 && bits & 0x7f80_0000 == 0 && bits & 0x007f_ffff != 0
}

/// How many of the results are wrong, with the first. Those with denormals do not count on a device that flushes them.
fn wrong(
    device: &mut Isolated,
    (host, flushes): (&Host, bool),
    rng: &mut Rng,
    (op, flags, from, to, count): (Op, Flags, Kind, Kind, u32),
) -> Option<String> {
    let mut module = kernel(op, flags, from, to, count);
    let mut translator = Translator::new();
    let Ok(Code::Words(spirv)) = translator.compile(&mut module, host, &Options::default()) else {
        return Some(format!("{op:?}{flags} {from:?} {to:?} is refused"));
    };
    let args: Vec<u64> = (0..INVOCATIONS * count as usize).map(|_| sample(rng, from)).collect();
    let words: Vec<u32> = args.iter().flat_map(|&a| [a as u32, (a >> 32) as u32]).collect();
    let buffers = [(0, words), (1, vec![0; 2 * INVOCATIONS])];
    let job = Job::Compute(ComputeJob::on_words(spirv, &buffers, INVOCATIONS as u32 / 64));
    let got = device.run(&job).unwrap()[0].words();
    let (arg, result) = (Type::scalar(from), Type::scalar(to));
    let cx = Cx { result, arg, flags, imm: Imm::None };
    let failed: Vec<String> = args
        .chunks(count as usize)
        .zip(got[1].chunks(2))
        .filter_map(|(args, got)| {
            let operands: Vec<Bits> = args.iter().map(|&a| Bits::scalar(a)).collect();
            let want = fold::eval(op, &cx, &operands, &vec![arg; operands.len()]).ok()?.lane(0);
            let got = u64::from(got[0]) | u64::from(got[1]) << 32;
            let denormals = args.iter().any(|&a| is_denormal(from, a)) || is_denormal(to, want);
            if flushes && denormals {
                return None;
            }
            let nans = fold::float::is_nan(to, want) && fold::float::is_nan(to, got);
            (got != want && !nans).then(|| format!("{args:x?} gives {got:x}, not {want:x}"))
        })
        .collect();
    let first = failed.first()?;
    Some(format!("{op:?}{flags} {from:?} {to:?}: {} wrong, {first}", failed.len()))
}

#[test]
fn a_device_rounds_as_asked() {
    let worker = WorkerCommand::this_test("vulkan_worker").unwrap();
    let request = xenoglot_conformance::Request::new("", "spirv").with_worker(worker.clone());
    let info = match vulkan::device(&request) {
        Ok(info) => info,
        Err(e) => return skip(&e.to_string()),
    };
    let mut device = Isolated::new(worker, IsolatedOptions::default());
    let host = Host { language: Language::Spirv(None), ..Host::of_vulkan(&info) };
    let mut rng = property::rng(5);
    let mut failures = Vec::new();
    let none = Flags::NONE;
    for kind in [Kind::F16, Kind::F32, Kind::F64] {
        for round in [Round::Natural, Round::Zero, Round::Up, Round::Down] {
            for flags in [none, none.with_ftz(), none.with_sat()] {
                let flags = flags.with_round(round);
                let mut cases = vec![(Op::Fma, flags, kind, kind, 3)];
                if round != Round::Natural {
                    cases.extend([Op::Fadd, Op::Fsub, Op::Fmul].map(|op| (op, flags, kind, kind, 2)));
                    let floats = [Kind::F16, Kind::F32, Kind::F64].into_iter().filter(|&k| k != kind);
                    cases.extend(floats.map(|from| (Op::F2f, flags, from, kind, 1)));
                    for from in [Kind::I32, Kind::I64] {
                        cases.extend([Op::S2f, Op::U2f].map(|op| (op, flags, from, kind, 1)));
                    }
                }
                failures.extend(
                    cases
                        .into_iter()
                        .filter_map(|c| wrong(&mut device, (&host, flushes(&info)), &mut rng, c)),
                );
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
