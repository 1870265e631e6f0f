//! Whole shaders: what they look like, and that the compilers of all versions take them.

mod common;

use common::{accepted, compiler, lowered};
use xenoglot_glsl::{Error, Options, Target, emit};
use xenoglot_ir::module::ListingLine;
use xenoglot_ir::text::{Limits, parse};
use xenoglot_ir::{Module, Op, Stage};

fn module(text: &str) -> Module {
    parse(text, &Limits::default()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

const VERTEX: &str = r#"
module vertex "cube.vsh" {
  input %v0 = location 0 : f32x4
  input %v1 = location 1 : f32x4
  output %position = builtin position : f32x4
  output %color = location 0 : f32x4
  uniform @c = set 0 binding 0 size 1536 oob zero

  entry func @main() {
    slot r0 : f32x4
    slot r1 : f32x4
    slot a0 : i32
  block0:
    v0 : f32x4 = input %v0
    v1 : f32x4 = input %v1
    v2 : i32 = const 0x70
    @0x0 v3 : f32x4 = load uniform @c align 16, v2
    @0x0 v4(r0) : f32x4 = fmul.zw v3, v0
    @0x4 v5 : f32x4 = fadd v4, v1
    @0x4 v6(r0) : f32x4 = shuffle [4 5 2 3], v4, v5
    @0x8 v7 : f32 = extract 3, v6
    v8 : f32 = const 0x3f000000
    @0x8 v9 : bool = fcmp.olt v7, v8
    @0x8 branch v9, block1(v6), block2
  block1(v10(r0) : f32x4):
    @0x14 output %position, v10
    @0x14 output %color, v1
    return
  block2:
    @0xc v11(a0) : i32 = f2s.clamp v7
    v12 : i32 = const 0x4
    v13 : i32 = shl v11, v12
    @0x10 v14 : f32x4 = load uniform @c align 16, v13
    @0x10 v15(r0) : f32x4 = fadd v6, v14
    jump block1(v15)
  }
}
"#;

#[test]
fn a_vertex_shader_reads_like_one_written_by_hand() {
    let mut m = module(VERTEX);
    m.listing = [
        (0, "mul r0, c7, v0"),
        (4, "add r0.xy, r0, v1"),
        (8, "cmp r0.w, lt, c8.x"),
        (12, "mova a0.x, r0.w"),
        (16, "add r0, r0, c0[a0.x]"),
        (20, "end"),
    ]
    .map(|(address, text)| ListingLine { address, text: text.to_owned() })
    .into();
    let options = Options { guest_comments: true, ..Options::default() };
    let text = emit(&lowered(&m, &options), &options).unwrap();
    let main = text.split("void main()").nth(1).unwrap();
    let want = " {
    precise float t0;
    precise vec4 r0;
    // 0x0000 mul r0, c7, v0
    r0 = fmul_zw_f32x4(c[7], v0);
    // 0x0004 add r0.xy, r0, v1
    r0.xy = r0.xy + v1.xy;
    // 0x0008 cmp r0.w, lt, c8.x
    t0 = r0.w;
    if (!(t0 < 0.5)) {
        // 0x000c mova a0.x, r0.w
        // 0x0010 add r0, r0, c0[a0.x]
        r0 = r0 + load_c_f32x4(f2s_clamp_f32_i32(t0) << 4u);
    }
    // 0x0014 end
    gl_Position = r0;
    color = v1;
}

";
    assert_eq!(main, want, "\n{text}");
}

/// Modules of every family the writer knows, and the targets that take them.
fn shaders() -> Vec<(Module, &'static [Target])> {
    const ALL: &[Target] = &Target::ALL;
    const BUFFERS: &[Target] = &[Target::Gl450, Target::Vulkan450, Target::Es310];
    const MODERN: &[Target] = &[Target::Gl450, Target::Vulkan450];
    vec![
        (module(VERTEX), ALL),
        (
            module(
                r#"
module fragment "loop" {
  input %uv = location 0 : f32x2
  output %color = location 0 : f32x4
  uniform @limits = set 0 binding 3 size 64 oob zero
  entry func @main() {
  block0:
    v0 : f32x2 = input %uv
    v1 : f32 = const 0x0
    v2 : i32 = const 0x0
    v3 : f32 = const 0x3f800000
    jump block1(v1, v3, v2)
  block1(v4 : f32, v5 : f32, v6 : i32):
    v7 : i32 = load uniform @limits align 4, v2
    v8 : bool = icmp.ult v6, v7
    branch v8, block2, block3
  block2:
    v9 : i32 = const 0x1
    v10 : i32 = iadd v6, v9
    v11 : f32 = extract 0, v0
    v12 : f32 = fadd v4, v11
    v13 : bool = fcmp.uno v12, v12
    branch v13, block4, block1(v5, v12, v10)
  block3:
    v14 : f32x4 = build v4, v5, v4, v5
    output %color, v14
    return
  block4:
    kill
  }
}
"#,
            ),
            ALL,
        ),
        (
            module(
                r#"
module compute "switch" {
  workgroup 64 1 1
  shared 256
  input %id = builtin global_invocation_id : i32x3
  input %local = builtin local_invocation_index : i32
  storage @data = set 0 binding 0 readwrite oob zero
  push @push = set 0 binding 5 size 8 oob zero
  func @both(v0 : i32, v1 : f32) -> i32, f32 {
  block0:
    v2 : i32 = iadd v0, v0
    v3 : f32 = fmul v1, v1
    return v2, v3
  }
  func @one(v0 : i32) -> i32 {
  block0:
    v1 : i32, v2 : f32 = call @both, v0, v3
    return v1
  }
  entry func @main() {
    private 64
  block0:
    v0 : i32x3 = input %id
    v1 : i32 = extract 0, v0
    v2 : i32 = const 0x4
    v3 : i32 = imul v1, v2
    v4 : i32 = load storage @data align 4, v3
    jump block1(v4)
  block1(v5 : i32):
    switch v5, [0x0: block2, 0x1: block3(v5), 0x7: block4], block5
  block2:
    v6 : i32 = const 0x1
    jump block3(v6)
  block3(v7 : i32):
    v8 : i32 = iadd v7, v7
    v9 : i32 = load push @push align 4, v2
    v10 : bool = icmp.eq v8, v9
    branch v10, block5, block1(v8)
  block4:
    store private align 4, v3, v5
    v11 : i32 = load private align 4, v2
    store shared align 4, v3, v11
    barrier workgroup shared exec
    v12 : i32 = atomic.add shared align 4, v2, v11
    v13 : i32 = atomic.smin storage @data align 4, v3, v12
    jump block5
  block5:
    v14 : i32 = load shared align 4, v3
    store storage @data align 4, v3, v14
    return
  }
}
"#
                .replace(
                    "    v1 : i32, v2 : f32 = call @both, v0, v3\n",
                    "    v3 : f32 = const 0x40000000\n    v1 : i32, v2 : f32 = call @both, v0, v3\n",
                )
                .as_str(),
            ),
            BUFFERS,
        ),
        (
            module(
                r#"
module compute "subgroups" {
  workgroup 64 1 1
  storage @data = set 0 binding 0 readwrite
  entry func @main() {
  block0:
    v0 : i32 = sg.id width 0 iadd
    v1 : i32 = sg.reduce width 0 imax, v0
    v2 : i32 = sg.scan width 0 iadd exclusive, v1
    v3 : i32 = const 0x4
    v4 : i32 = imul v0, v3
    v5 : i64 = zext v2
    v6 : i64 = imul v5, v5
    v7 : i32 = trunc_int v6
    store storage @data align 4, v4, v7
    return
  }
}
"#,
            ),
            MODERN,
        ),
    ]
}

#[test]
fn compilers_of_all_versions_accept() {
    if !compiler() {
        return;
    }
    for (m, targets) in shaders() {
        for target in Target::ALL {
            for (switch_as_if_chain, guest_comments) in [(false, true), (true, false)] {
                let options = Options { target, switch_as_if_chain, guest_comments, ..Options::default() };
                match accepted(&m, &options) {
                    Ok(_) => assert!(targets.contains(&target), "{} {}", m.name, target.name()),
                    Err(
                        Error::Unsupported { .. }
                        | Error::UnsupportedStage(_)
                        | Error::UnsupportedDeclaration { .. },
                    ) => assert!(!targets.contains(&target), "{} {}", m.name, target.name()),
                    Err(e) => panic!("{}: {e}", m.name),
                }
            }
        }
    }
}

#[test]
fn swaps_around_a_loop_go_through_a_scratch() {
    let text = emit(&lowered(&shaders()[1].0, &Options::default()), &Options::default()).unwrap();
    assert!(text.contains("x_saved0"), "{text}");
}

#[test]
fn transform_feedback_lays_out_all_outputs() {
    let mut captured = module(VERTEX);
    captured.capture_outputs();
    let options = Options::default();
    let text = if compiler() {
        accepted(&captured, &options).unwrap()
    } else {
        emit(&lowered(&captured, &options), &options).unwrap()
    };
    assert!(text.contains("xfb_stride = 32, xfb_offset = 16"), "{text}");
}

#[test]
fn vertex_shaders_that_choose_a_layer_require_its_extension() {
    const EXTENSION: &str = "#extension GL_ARB_shader_viewport_layer_array : require\n";
    for (name, builtin) in [("gl_Layer", "layer"), ("gl_ViewportIndex", "viewport_index")] {
        let text = format!(
            "module vertex \"layers\" {{\n  input %n = builtin instance_index : i32\n  \
             output %chosen = builtin {builtin} : i32\n  entry func @main() {{\n  block0:\n    \
             v0 : i32 = input %n\n    output %chosen, v0\n    return\n  }}\n}}\n"
        );
        for target in [Target::Gl450, Target::Vulkan450] {
            let options = Options { target, ..Options::default() };
            let m = module(&text);
            let text = if compiler() { accepted(&m, &options) } else { emit(&m, &options) }.unwrap();
            assert!(text.contains(EXTENSION) && text.contains(name), "{text}");
        }
    }
    let plain = lowered(&module(VERTEX), &Options::default());
    assert!(!emit(&plain, &Options::default()).unwrap().contains(EXTENSION));
}

#[test]
fn refusals_name_op_and_address() {
    let m = module(
        "module compute \"no\" {\n  storage @d = set 0 binding 0 readwrite\n  entry func @main() {\n  block0:\n    v0 : i32 = const 0x0\n    @0x40 v1 : f64 = load storage @d align 8, v0\n    @0x48 store storage @d align 8, v0, v1\n    return\n  }\n}\n",
    );
    let Err(Error::Unsupported { op, guest, .. }) = emit(&m, &Options::default()) else { panic!("accepted") };
    assert_eq!((op, guest.0), (Op::Store, Some(0x48)));
    let old = Options { target: Target::Gl330, ..Options::default() };
    let geometry = emit(&Module::new(Stage::Geometry, "g"), &old);
    assert_eq!(geometry, Err(Error::UnsupportedStage(Stage::Geometry)));
}

#[test]
fn switches_of_more_labels_than_an_op_switch_takes_are_split() {
    const MOST: usize = 16_383;
    for (cases, switches) in [(MOST, 1), (MOST + 1, 2), (2 * MOST + 7, 3)] {
        let list: Vec<String> = (0..cases).map(|n| format!("{n}: block{}", 1 + n % 2)).collect();
        let text = emit(
            &module(&format!(
                "module compute \"switch\" {{
                   workgroup 64 1 1
                   input %id = builtin global_invocation_id : i32x3 flat
                   storage @found = set 0 binding 0 readwrite oob undefined
                   entry func @main() {{
                   block0:
                     v0 : i32x3 = input %id
                     v1 : i32 = extract 0, v0
                     v2 : i32 = const 2
                     v3 : i32 = shl v1, v2
                     v4 : i32 = const 5
                     switch v1, [{}], block3(v2)
                   block1:
                     jump block3(v4)
                   block2:
                     jump block3(v3)
                   block3(v5 : i32):
                     store storage @found align 4, v3, v5
                     return
                   }}
                 }}",
                list.join(", ")
            )),
            &Options::default(),
        )
        .unwrap();
        assert_eq!(text.matches("switch (").count(), switches, "{cases} cases");
        assert_eq!(text.matches("case ").count(), cases);
        if compiler() {
            // What the compiler makes of it keeps to the limit.
            let words = xenoglot_vulkan::glslang::compile(&text, xenoglot_vulkan::glslang::Stage::Compute);
            let words = words.unwrap_or_else(|e| panic!("{cases} cases: {e}"));
            let mut at = 5;
            let mut most = 0;
            while at < words.len() {
                let length = (words[at] >> 16) as usize;
                assert!(length > 0, "an instruction without words");
                if words[at] & 0xffff == 251 {
                    most = most.max((length - 3) / 2);
                }
                at += length;
            }
            assert_eq!(most, MOST, "{cases} cases");
        }
    }
}
