//! Lane shuffles: valid, and on a device what the interpreter says, where all lanes take part and where some do.

mod common;

use common::{device, emit_all, emit_valid, run};
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::imm::{Imm, Reduce, SubgroupInfo};
use xenoglot_ir::module::{
    Access, Builtin, Count, Direction, Interpolation, Module, OutOfBounds, ResourceData, ResourceKind,
    Semantic, VarData,
};
use xenoglot_ir::{Builder, Flags, Function, MemInfo, Op, Resource, Space, Stage, Type};
use xenoglot_spirv::{Options, Version};
use xenoglot_testgen::property;

/// lavapipe's subgroups have 8 lanes; the workgroup is one subgroup.
const LANES: u32 = 8;
const OPS: [Op; 4] = [Op::SgShuffle, Op::SgShuffleXor, Op::SgShuffleUp, Op::SgShuffleDown];

#[test]
fn vulkan_worker() {
    xenoglot_vulkan::isolated::serve_if_worker();
}

/// Each lane reads a value, an operand and whether it takes part; it writes what it gets, or all ones.
fn module(op: Op, ty: Type) -> Module {
    let mut module = Module::new(Stage::Compute, "shuffles");
    module.workgroup = [LANES, 1, 1];
    let [input, output] = [0, 1].map(|binding| {
        module.resources.push(ResourceData {
            name: format!("b{binding}"),
            kind: ResourceKind::StorageBuffer { access: Access::ReadWrite },
            set: 0,
            binding,
            count: Count::One,
            oob: OutOfBounds::Undefined,
        })
    });
    let lane = module.vars.push(VarData {
        name: "lane".into(),
        direction: Direction::Input,
        ty: Type::I32,
        semantic: Semantic::Builtin(Builtin::LocalInvocationIndex),
        interpolation: Interpolation::Smooth,
        array: None,
        inner: None,
        stream: 0,
    });
    let mut f = Function::new("main");
    let [entry, some, end] = [(); 3].map(|()| f.add_block());
    let out = f.add_param(end, Type::I32);
    let mut b = Builder::new(&mut f, entry);
    let (lane, twelve, four) = (b.input(lane, Type::I32), b.i32(12), b.i32(4));
    let base = b.op(Op::Imul, &[lane, twelve]);
    let to = b.op(Op::Imul, &[lane, four]);
    let mem = MemInfo::plain(Space::Storage, Some(input), 2);
    let words = [0, 4, 8].map(|offset| {
        let offset = b.i32(offset);
        let at = b.op(Op::Iadd, &[base, offset]);
        b.load(mem, at, Type::I32)
    });
    let (zero, ones) = (b.i32(0), b.i32(u32::MAX));
    let takes_part = b.op(Op::IcmpNe, &[words[2], zero]);
    b.branch(takes_part, (some, &[]), (end, &[ones]));
    b.switch_to(some);
    let value = match ty {
        Type::BOOL => b.op(Op::IcmpSlt, &[words[0], zero]),
        Type::I32 => words[0],
        _ => b.convert(Op::Bitcast, Flags::NONE, words[0], ty),
    };
    let info = Imm::Subgroup(SubgroupInfo { width: 0, reduce: Reduce::Iadd, exclusive: false });
    let got = b.op_imm(op, Flags::NONE, info, &[value, words[1]]);
    let got = match ty {
        Type::BOOL => b.convert(Op::Zext, Flags::NONE, got, Type::I32),
        Type::I32 => got,
        _ => b.convert(Op::Bitcast, Flags::NONE, got, Type::I32),
    };
    b.jump(end, &[got]);
    b.switch_to(end);
    b.store(MemInfo::plain(Space::Storage, Some(output), 2), to, out);
    b.ret(&[]);
    module.entry = Some(module.funcs.push(f)).into();
    xenoglot_ir::verify(&module).unwrap_or_else(|e| panic!("{e}"));
    module
}

fn simulate(module: &Module, words: &[u32]) -> Vec<u32> {
    let mut interpreter = Interpreter::new(module).unwrap();
    interpreter.set_subgroup_width(LANES as u8);
    let mut bindings = Bindings::new(module);
    bindings.set_words(Resource::new(0), words);
    bindings.set_words(Resource::new(1), &[0; LANES as usize]);
    interpreter.dispatch([1; 3], &mut bindings, &Limits::default()).unwrap();
    bindings.words(Resource::new(1))
}

const TYPES: [Type; 3] = [Type::I32, Type::F32, Type::BOOL];

#[test]
fn shuffles_are_valid() {
    for op in OPS {
        for ty in TYPES {
            emit_all(&module(op, ty), Version::V1_3);
        }
    }
}

#[test]
fn lanes_get_what_the_interpreter_says() {
    let Some(mut device) = device() else { return };
    let mut rng = property::rng(11);
    for op in OPS {
        for ty in TYPES {
            let module = module(op, ty);
            let spirv = emit_valid(&module, &Options::default());
            for round in 0..12 {
                let words: Vec<u32> = (0..LANES)
                    .flat_map(|_| {
                        let operand = match rng.below(4) {
                            0 => rng.next_u32(),
                            1 => rng.below(4).wrapping_sub(2),
                            _ => rng.below(2 * LANES),
                        };
                        // No NaNs, whose bits may change.
                        let value = if ty == Type::F32 { rng.below(1 << 20) } else { rng.next_u32() };
                        [value, operand, u32::from(round < 4 || rng.below(3) > 0)]
                    })
                    .collect();
                let buffers = [(0, words.clone()), (1, vec![0; LANES as usize])];
                let got = run(&mut device, spirv.clone(), &buffers, 1).remove(1);
                assert_eq!(got, simulate(&module, &words), "{op:?} {ty} {words:x?}");
            }
        }
    }
}
