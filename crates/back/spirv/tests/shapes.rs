//! What the output looks like where that matters, and the parts of a module that random programs do not reach.

mod common;

use common::{disassemble, emit_all, emit_valid, validate};
use xenoglot_ir::module::Module;
use xenoglot_ir::text::{Limits, parse};
use xenoglot_spirv::{Capability, Error, FloatControls, Names, Options, Version, emit};

fn module(text: &str) -> Module {
    let module = parse(text, &Limits::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    xenoglot_ir::verify(&module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    module
}

/// A compute module around blocks that may use `%id`, and load and store at `@b`.
fn compute(blocks: &str) -> Module {
    module(&format!(
        "module compute \"test\" {{
           workgroup 4 1 1
           input %id = builtin local_invocation_index : i32 flat
           storage @b = set 0 binding 0 readwrite oob undefined
           entry func @main() {{
             {blocks}
           }}
         }}"
    ))
}

fn count(listing: &str, op: &str) -> usize {
    listing.split_whitespace().filter(|word| *word == op).count()
}

fn listing(module: &Module, options: &Options) -> String {
    disassemble(&emit_valid(
        module,
        &Options { names: options.names.max(Names::Interface), ..options.clone() },
    ))
}

#[test]
fn a_parameter_of_a_join_is_one_phi() {
    needs_spirv_tools!();
    let m = compute(
        "block0:
           v0 : i32 = input %id
           v1 : i32 = const 4
           v2 : bool = icmp.ult v0, v1
           branch v2, block1(v0), block2
         block2:
           v3 : i32 = imul v0, v1
           jump block1(v3)
         block1(v4 : i32):
           v5 : i32 = const 0
           store storage @b align 4, v5, v4
           return",
    );
    let text = listing(&m, &Options::default());
    assert_eq!(count(&text, "OpPhi"), 1, "{text}");
    assert_eq!(count(&text, "OpVariable"), 2, "input and buffer only\n{text}");
    assert_eq!(count(&text, "OpSelectionMerge"), 1, "{text}");
    emit_all(&m, Version::V1_0);
}

#[test]
fn a_loop_has_phis_for_what_it_changes_only() {
    needs_spirv_tools!();
    let m = compute(
        "block0:
           v0 : i32 = input %id
           v1 : i32 = const 0
           v2 : i32 = const 1
           jump block1(v0, v1)
         block1(v3 : i32, v4 : i32):
           v5 : bool = icmp.ult v4, v0
           branch v5, block2, block3
         block2:
           v6 : i32 = iadd v3, v0
           v7 : i32 = iadd v4, v2
           jump block1(v6, v7)
         block3:
           store storage @b align 4, v1, v3
           return",
    );
    let text = listing(&m, &Options::default());
    assert_eq!(count(&text, "OpPhi"), 2, "{text}");
    assert_eq!(count(&text, "OpLoopMerge"), 1, "{text}");
    emit_all(&m, Version::V1_0);
}

#[test]
fn what_a_loop_only_passes_through_needs_no_phi() {
    needs_spirv_tools!();
    // v3 is written before and after the loop, not in it.
    let m = compute(
        "block0:
           v0 : i32 = input %id
           v1 : i32 = const 0
           v2 : bool = icmp.eq v0, v1
           branch v2, block1(v0), block1(v1)
         block1(v3 : i32):
           jump block2(v1)
         block2(v4 : i32):
           v5 : i32 = iadd v4, v3
           v6 : bool = icmp.ult v5, v0
           branch v6, block2(v5), block4
         block4:
           store storage @b align 4, v1, v3
           return",
    );
    let text = listing(&m, &Options::default());
    assert_eq!(count(&text, "OpPhi"), 1, "the counter's; the join is a choice\n{text}");
}

const TWO_ENTRIES: &str = "block0:
       v0 : i32 = input %id
       v1 : i32 = const 1
       v2 : bool = icmp.ult v0, v1
       branch v2, block1(v0), block2(v1)
     block1(v3 : i32):
       v4 : i32 = iadd v3, v1
       v5 : bool = icmp.ult v4, v0
       branch v5, block2(v4), block3(v4)
     block2(v6 : i32):
       v7 : i32 = iadd v6, v0
       v8 : bool = icmp.ult v7, v1
       branch v8, block1(v7), block3(v7)
     block3(v9 : i32):
       store storage @b align 4, v0, v9
       return";

#[test]
fn a_loop_with_two_entries_needs_no_memory() {
    needs_spirv_tools!();
    let m = compute(&TWO_ENTRIES.replace("align 4, v0", "align 4, v10").replace(
        "block3(v9 : i32):",
        "block3(v9 : i32):
           v11 : i32 = const 2
           v10 : i32 = shl v0, v11",
    ));
    let text = listing(&m, &Options::default());
    assert_eq!(count(&text, "OpVariable"), 2, "{text}");
    assert_eq!(count(&text, "OpStore"), 1, "{text}");
    emit_all(&m, Version::V1_0);
}

#[test]
fn endless_loops_and_switches_are_valid() {
    needs_spirv_tools!();
    let m = compute(
        "block0:
           v0 : i32 = input %id
           switch v0, [0: block1, 1: block2(v0), 0xffffffff: block2(v0)], block3
         block1:
           jump block1
         block2(v1 : i32):
           v2 : i32 = const 0
           store storage @b align 4, v2, v1
           return
         block3:
           return",
    );
    let text = listing(&m, &Options::default());
    assert_eq!(count(&text, "OpSwitch"), 1, "{text}");
    emit_all(&m, Version::V1_0);
    let text = listing(&m, &Options { switch_as_if_chain: true, ..Options::default() });
    assert_eq!(count(&text, "OpSwitch"), 0, "{text}");
}

#[test]
fn robust_loops_count_down_and_return() {
    needs_spirv_tools!();
    let m = compute("block0:\n jump block1\n block1:\n jump block1");
    let text = listing(&m, &Options { robust: true, loop_limit: 777, ..Options::default() });
    assert!(text.contains("%uint_777"), "{text}");
    assert_eq!(count(&text, "OpISub"), 1, "{text}");
    assert_eq!(count(&text, "OpReturn"), 1, "{text}");
}

#[test]
fn slots_become_variables_and_calls_return_several_results() {
    needs_spirv_tools!();
    let m = module(
        "module compute \"calls\" {
           workgroup 1 1 1
           storage @b = set 0 binding 0 readwrite oob undefined
           func @pair(v0 : i32, v1 : f32) -> i32, f32 {
             private 8
             slot r0 : i32
           block0:
             v2 : i32 = slot_get r0
             v3 : i32 = iadd v2, v0
             slot_set r0, v3
             v4 : i32 = slot_get r0
             v5 : i32 = const 4
             store private align 4, v5, v4
             v6 : i32 = load private align 4, v5
             return v6, v1
           }
           entry func @main() {
           block0:
             v0 : i32 = const 3
             v1 : f32 = const 1.5
             v2 : i32, v3 : f32 = call @pair, v0, v1
             v4 : i32 = const 0
             store storage @b align 4, v4, v2
             v5 : i32 = const 4
             store storage @b align 4, v5, v3
             return
           }
         }",
    );
    let text = listing(&m, &Options { names: Names::All, ..Options::default() });
    assert!(text.contains("%r0 = OpVariable"), "{text}");
    assert_eq!(count(&text, "OpCompositeExtract"), 2, "{text}");
    emit_all(&m, Version::V1_0);
}

/// A vertex shader over a uniform buffer.
const VERTEX: &str = "module vertex \"cube.vsh\" {
       input %pos = location 0 : f32x4
       input %index = builtin vertex_index : i32 flat
       output %clip = builtin position : f32x4
       output %color = location 1 : f32x3
       output %weight = location 0 component 2 : f32
       uniform @regs = set 0 binding 0 size 1536 oob OOB
       entry func @main() {
       block0:
         @0x0 v0 : f32x4 = input %pos
         v1 : i32 = const 0x70
         @0x4 v2 : f32x4 = load uniform @regs align 16, v1
         @0x8 v3 : i32 = input %index
         v4 : i32 = const 4
         v5 : i32 = shl v3, v4
         v6 : f32x4 = load uniform @regs align 16, v5
         v7 : i32 = load uniform @regs align 4, v5
         v8 : f32 = u2f v7
         v9 : f32x4 = fmul.zw v0, v2
         v10 : f32x4 = fadd v9, v6
         @0xc output %clip, v10
         v11 : f32x3 = shuffle [0 1 2], v10, v10
         output %color, v11
         output %weight, v8
         return
       }
     }";

#[test]
fn uniform_buffers_are_arrays_of_vectors() {
    needs_spirv_tools!();
    let m = module(&VERTEX.replace("OOB", "undefined"));
    let text = listing(&m, &Options::default());
    // A vector at a known place: no arithmetic, one load.
    assert!(text.contains("OpAccessChain %_ptr_Uniform_v4float %regs %uint_0 %uint_7"), "{text}");
    assert_eq!(count(&text, "OpCompositeConstruct"), 0, "{text}");
    assert!(text.contains("OpMemberName %regs_block 0 \"data\""), "{text}");
    emit_all(&m, Version::V1_0);
}

#[test]
fn accesses_outside_are_guarded_where_the_policy_or_the_caller_says_so() {
    needs_spirv_tools!();
    let guards = |oob: &str, options: &Options| {
        count(&listing(&module(&VERTEX.replace("OOB", oob)), options), "OpULessThan")
    };
    assert_eq!(guards("undefined", &Options::default()), 0);
    assert_eq!(guards("zero", &Options::default()), 2);
    assert_eq!(guards("zero", &Options { host_bounds: true, ..Options::default() }), 0);
    assert_eq!(guards("undefined", &Options { robust: true, ..Options::default() }), 2);
}

#[test]
fn transform_feedback_follows_the_layout() {
    needs_spirv_tools!();
    let mut m = module(&VERTEX.replace("OOB", "undefined"));
    m.capture_outputs();
    let text = listing(&m, &Options::default());
    for line in ["OpDecorate %color Offset 20", "OpDecorate %weight XfbStride 32", "ExecutionMode %main Xfb"]
    {
        assert!(text.contains(line), "{line}\n{text}");
    }
    emit_all(&m, Version::V1_0);
}

#[test]
fn guest_addresses_are_lines() {
    needs_spirv_tools!();
    let m = module(&VERTEX.replace("OOB", "undefined"));
    let text = listing(&m, &Options { guest_lines: true, ..Options::default() });
    assert!(text.contains("OpString \"cube.vsh\""), "{text}");
    let lines: Vec<&str> = text
        .lines()
        .filter_map(|l| l.trim().strip_prefix("OpLine "))
        .filter_map(|l| l.split(' ').nth(1))
        .collect();
    assert_eq!(lines, ["0", "4", "8", "12"], "{text}");
}

#[test]
fn fragment_and_geometry_shaders() {
    let fragment = module(
        "module fragment \"f\" {
           input %uv = location 0 : f32x2 linear
           input %id = location 1 : i32 flat
           input %front = builtin front_facing : bool flat
           output %color = location 0 : f32x4
           output %depth = builtin frag_depth : f32
           entry func @main() {
           block0:
             v0 : f32x2 = input %uv
             v1 : f32x2 = ddx.fine v0
             v2 : f32 = extract 0, v1
             v3 : bool = input %front
             discard_if v3
             v4 : bool = helper
             v5 : i32 = input %id
             v6 : f32 = u2f v5
             v7 : f32x4 = build v2, v6, v2, v6
             output %color, v7
             output %depth, v6
             branch v4, block1, block2
           block1:
             demote
             jump block2
           block2:
             v8 : bool = fcmp.uno v2, v6
             branch v8, block3, block4
           block3:
             kill
           block4:
             return
           }
         }",
    );
    emit_all(&fragment, Version::V1_0);
    let geometry = module(
        "module geometry \"g\" {
           geometry in 3 out 3 vertices 6 invocations 1
           input %in = location 0 : f32x4 array 3
           output %clip = builtin position : f32x4
           entry func @main() {
           block0:
             v0 : i32 = const 1
             v1 : f32x4 = input %in, v0
             output %clip, v1
             emit_vertex
             end_primitive
             return
           }
         }",
    );
    emit_all(&geometry, Version::V1_0);
}

#[test]
fn atomics_barriers_shared_memory_and_subgroups() {
    let m = module(
        "module compute \"shared\" {
           workgroup 64 1 1
           shared 256
           storage @b = set 0 binding 0 readwrite oob zero
           entry func @main() {
           block0:
             v0 : i32 = sg.id width 0 iadd
             v1 : i32 = const 2
             v2 : i32 = shl v0, v1
             store shared align 4, v2, v0
             barrier workgroup shared exec
             v3 : i32 = atomic.umax shared align 4 relaxed workgroup, v2, v1
             v4 : i32 = atomic.add storage @b align 4 acqrel device, v2, v3
             v5 : i32 = atomic.cmpxchg storage @b align 4 acqrel device, v2, v3, v4
             v6 : i32 = sg.reduce width 0 iadd, v5
             v7 : i32 = sg.scan width 0 xor exclusive, v6
             v8 : bool = icmp.ult v7, v6
             v9 : i64 = sg.ballot width 0 iadd, v8
             v10 : bool = sg.all width 0 iadd, v8
             v11 : bool = sg.elect width 0 iadd
             v12 : bool = and v10, v11
             v13 : i32 = zext v12
             v14 : i32 = trunc_int v9
             v15 : i32 = iadd v13, v14
             v16 : i32 = load storage @b align 4 acquire device, v2
             v17 : i32 = iadd v15, v16
             store storage @b align 4 release device, v2, v17
             v18 : i16 = load storage @b align 2, v2
             v19 : i32 = zext v18
             v20 : f64 = load storage @b align 8, v2
             store storage @b align 8, v19, v20
             barrier device storage
             return
           }
         }",
    );
    emit_all(&m, Version::V1_3);
    let error = emit(&m, &Options::version(Version::V1_2)).unwrap_err();
    assert!(error.to_string().contains("1.3"), "{error}");
}

#[test]
fn errors_name_the_op_and_the_guest_address() {
    let m = compute(
        "block0:
           v0 : i32 = input %id
           @0x40 v1 : i32 = udiv.trap v0, v0
           store storage @b align 4, v1, v1
           return",
    );
    let error = emit(&m, &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "`udiv` at guest address 0x40: a shader cannot trap a division by zero");
    let m = compute(
        "block0:
           v0 : i32 = input %id
           v1 : i64 = zext v0
           store storage @b align 8, v0, v1
           return",
    );
    let allowed = Options { capabilities: Some(vec![Capability::Shader]), ..Options::default() };
    assert_eq!(emit(&m, &allowed), Err(Error::Capability(Capability::Int64)));
    let mut m = compute("block0:\n  return");
    m.stage = xenoglot_ir::Stage::Geometry;
    assert!(matches!(emit(&m, &Options::default()), Err(Error::Invalid(_))));
    let mut m = Module::new(xenoglot_ir::Stage::Cpu, "none");
    assert_eq!(emit(&m, &Options::default()), Err(Error::Stage("cpu")));
    m.stage = xenoglot_ir::Stage::Compute;
    assert_eq!(emit(&m, &Options::default()), Err(Error::NoEntry));
}

#[test]
fn float_controls_and_reconvergence_are_declared() {
    needs_spirv_tools!();
    let m = compute("block0:\n return");
    for version in Version::ALL {
        let options = Options {
            float_controls: FloatControls::ALL,
            maximal_reconvergence: true,
            ..Options::version(version)
        };
        let words = emit(&m, &options).unwrap();
        validate(&words, version);
        let text = disassemble(&words);
        assert!(text.contains("MaximallyReconvergesKHR"), "{text}");
        assert_eq!(text.contains("SPV_KHR_float_controls"), version < Version::V1_4, "{text}");
    }
}
