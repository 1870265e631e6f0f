//! Modules through our SPIR-V to every target: naga takes them, and what it writes as WGSL it reads back.

use xenoglot_ir::module::Module;
use xenoglot_ir::text::{Limits, parse};
use xenoglot_naga::{Error, Options, to_hlsl, to_msl, to_wgsl};
use xenoglot_opt::{Context, Lacks, legalize};
use xenoglot_testgen::ir;
use xenoglot_testgen::property;

fn spirv(module: &Module) -> Vec<u32> {
    let mut module = module.clone();
    legalize::run(
        &mut module,
        &Lacks { arithmetic: legalize::Options::ALL, ..Lacks::default() },
        &mut Context::new(),
    );
    xenoglot_spirv::emit(&module, &xenoglot_spirv::Options::for_naga())
        .unwrap_or_else(|e| panic!("{}: {e}", module.name))
}

/// WGSL, MSL and HLSL of a module.
fn all(module: &Module) -> [String; 3] {
    let (words, options) = (spirv(module), Options::default());
    let texts = [to_wgsl(&words, &options), to_msl(&words, &options), to_hlsl(&words, &options)];
    let texts = texts.map(|t| t.unwrap_or_else(|e| panic!("{}: {e}", module.name)));
    let back = naga::front::wgsl::parse_str(&texts[0]);
    if let Err(error) = back {
        panic!("{}: {}\n{}", module.name, error.emit_to_string(&texts[0]), texts[0]);
    }
    texts
}

const VERTEX: &str = "module vertex \"cube.vsh\" {
       input %pos = location 0 : f32x4
       output %clip = builtin position : f32x4
       output %color = location 0 : f32x4
       uniform @regs = set 0 binding 0 size 1536 oob zero
       entry func @main() {
       block0:
         v0 : f32x4 = input %pos
         v1 : i32 = const 0x70
         v2 : f32x4 = load uniform @regs align 16, v1
         v3 : i32 = load uniform @regs align 4, v1
         v4 : i32 = const 4
         v5 : i32 = shl v3, v4
         v6 : f32x4 = load uniform @regs align 16, v5
         v7 : f32x4 = fmul.zw v0, v2
         v8 : f32x4 = fmin.second v7, v6
         v9 : f32 = fdot4.zw v8, v2
         v10 : f32 = extract 0, v8
         v11 : bool = fcmp.ult v10, v9
         branch v11, block1(v8), block2
       block2:
         v12 : f32x4 = fadd v8, v2
         jump block1(v12)
       block1(v13 : f32x4):
         output %clip, v13
         output %color, v7
         return
       }
     }";

#[test]
fn a_vertex_shader_keeps_its_names() {
    let module = parse(VERTEX, &Limits::default()).unwrap();
    let [wgsl, msl, hlsl] = all(&module);
    assert!(
        wgsl.contains("@vertex") && wgsl.contains("regs") && wgsl.contains("@builtin(position)"),
        "{wgsl}"
    );
    assert!(msl.contains("vertex ") && msl.contains("regs"), "{msl}");
    assert!(hlsl.contains("SV_Position") && hlsl.contains("regs"), "{hlsl}");
    // The unordered compare became the opposite of an ordered one.
    assert!(wgsl.contains("!("), "{wgsl}");
}

#[test]
fn random_programs_reach_every_target() {
    let options = ir::Options::default();
    for seed in property::seeds(40) {
        all(&ir::generate(seed, &options));
    }
}

#[test]
fn what_naga_does_not_take_is_an_error() {
    let options = Options::default();
    assert!(matches!(to_wgsl(&[], &options), Err(Error::Read(_))));
    assert!(matches!(to_msl(&[1, 2, 3], &options), Err(Error::Read(_))));
    let module = parse(VERTEX, &Limits::default()).unwrap();
    let mut words = spirv(&module);
    words.truncate(words.len() / 2);
    assert!(to_hlsl(&words, &options).is_err());
}
