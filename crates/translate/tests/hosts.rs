//! Hosts: names, text forms, and that code for each is what its language's own tools take.

use std::collections::HashSet;
use xenoglot::host::{Capabilities, Host, Language, Subgroups};
use xenoglot::{Code, Error, Floats, Options, compile};
use xenoglot_ir::Module;
use xenoglot_ir::text::parse;
use xenoglot_spirv::Capability;

fn named() -> Vec<(&'static str, Host)> {
    Host::names().map(|name| (name, Host::named(name).unwrap())).collect()
}

fn module(text: &str) -> Module {
    let module = parse(text, &Default::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    xenoglot_ir::verify(&module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    module
}

/// A kernel that stores what `ops`, on the words at 0 and 4, leave in `v9`.
fn kernel(workgroup: u32, ops: &str) -> Module {
    module(&format!(
        r#"module compute "kernel" {{
  workgroup {workgroup} 1 1
  storage @buf = set 0 binding 0 readwrite
  entry func @main() {{
  block0:
    v0 : i32 = const 0
    v1 : i32 = const 4
    v2 : i32 = load storage @buf align 4, v0
    v3 : i32 = load storage @buf align 4, v1
    v4 : f32 = bitcast v2
    v5 : f32 = bitcast v3
    {ops}
    store storage @buf align 4, v0, v9
    return
  }}
}}"#
    ))
}

#[test]
fn names_are_found_and_others_are_refused_with_a_list() {
    for (name, host) in named() {
        assert_eq!(name.parse::<Host>().as_ref(), Ok(&host));
        assert!(Host::doc(name).is_some());
    }
    let error = "vulkan-9".parse::<Host>().unwrap_err().to_string();
    assert!(error.contains("`vulkan-9`") && error.contains("lavapipe-25"), "{error}");
}

#[test]
fn hosts_are_written_and_read_back() {
    let mut hosts: Vec<Host> = named().into_iter().map(|(_, host)| host).collect();
    hosts.push(Host {
        capabilities: Some([Capability::Int64, Capability::Shader].into_iter().collect()),
        without: [Capability::Float64].into_iter().collect(),
        subgroups: Subgroups { min: 4, max: 32 },
        robust_buffers: true,
        array_elements: 12,
        maximal_reconvergence: true,
        ..Host::default()
    });
    for host in &hosts {
        let text = serde_json::to_string(host).unwrap();
        assert_eq!(serde_json::from_str::<Host>(&text).unwrap(), *host, "{text}");
    }
    let distinct: HashSet<&Host> = hosts.iter().collect();
    assert_eq!(distinct.len(), hosts.len(), "two hosts are the same");
}

#[test]
fn damaged_texts_are_refused() {
    for text in ["spirv-1.7", "glsl", "glsl-1", "msl", "msl-2", "hlsl-a.b", "", "native-"] {
        assert!(text.parse::<Language>().is_err(), "{text}");
    }
    let unknown = serde_json::from_str::<Capabilities>(r#"["Shader", "Teapots"]"#);
    assert!(unknown.unwrap_err().to_string().contains("Teapots"));
}

#[test]
fn every_host_takes_what_it_lacks_when_that_is_made_of_what_it_has() {
    // Rounding downwards, a sum rounded once, and an access of a byte.
    let ops = "v6 : f32 = fadd.down v4, v5\n v7 : f32 = fma v4, v5, v6\n v8 : i8 = load storage @buf align 1, v1\n \
        v10 : i32 = zext v8\n v11 : i32 = bitcast v7\n v9 : i32 = iadd v10, v11";
    for (name, host) in named() {
        // There are no kernels in OpenGL 3.3. ES has no 64-bit integers, of which the rounding is made there.
        if matches!(name, "gl-3.3" | "gles-3.1") || name == "native" && cfg!(not(feature = "native")) {
            continue;
        }
        #[cfg(not(feature = "naga"))]
        if !matches!(host.language, Language::Spirv(_) | Language::Glsl(_)) {
            let error = compile(&mut kernel(1, ops), &host, &Options::default()).unwrap_err();
            assert!(matches!(error, Error::Language(_)), "{name}: {error}");
            continue;
        }
        let code = compile(&mut kernel(1, ops), &host, &Options::default());
        let code = code.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(matches!(code, Code::Words(_)), matches!(host.language, Language::Spirv(_)), "{name}");
    }
}

#[test]
fn subgroups_of_unknown_width_go_through_shared_memory() {
    let ballot = "v6 : bool = fcmp.olt v4, v5\n v9 : i32 = sg.ballot width 32 iadd, v6";
    for (subgroups, through_memory) in [
        (Subgroups::UNKNOWN, true),
        (Subgroups { min: 32, max: 64 }, true),
        (Subgroups::exactly(8), true),
        (Subgroups::exactly(32), false),
    ] {
        let mut module = kernel(64, ballot);
        let host = Host { subgroups, ..Host::default() };
        compile(&mut module, &host, &Options::default()).unwrap();
        assert_eq!(module.shared_size != 0, through_memory, "{subgroups:?}");
    }
}

#[test]
fn capabilities_that_a_host_lacks_are_refused_by_name() {
    let ops = "v6 : bool = fcmp.olt v4, v5\n v9 : i32 = sg.ballot width 0 iadd, v6";
    let ballot = Capability::GroupNonUniformBallot;
    let without = Host { without: [ballot].into_iter().collect(), ..Host::default() };
    let only = Host { capabilities: Some([Capability::Shader].into_iter().collect()), ..Host::default() };
    for host in [without, only] {
        let error = compile(&mut kernel(1, ops), &host, &Options::default()).unwrap_err();
        assert!(
            matches!(error, Error::Spirv(xenoglot_spirv::Error::Capability(of)) if of != Capability::Shader),
            "{error}"
        );
    }
    compile(&mut kernel(1, ops), &Host::default(), &Options::default()).unwrap();
}

/// Doubles, halves and integers of other widths than 32 bits are made of what a device has.
#[test]
fn numbers_that_a_host_lacks_are_computed_in_others() {
    let ops = "v6 : f64 = f2f v4\n v7 : f64 = fdiv v6, v6\n v8 : f16 = f2f v7\n v10 : i16 = bitcast v8\n \
               v11 : i8 = trunc_int v10\n v9 : i32 = sext v11";
    let only = Host { capabilities: Some([Capability::Shader].into_iter().collect()), ..Host::default() };
    let Code::Words(words) = compile(&mut kernel(1, ops), &only, &Options::default()).unwrap() else {
        panic!("SPIR-V is words")
    };
    const OP_CAPABILITY: u32 = 17 | 2 << 16;
    assert_eq!(words[5..].chunks(2).take_while(|w| w[0] == OP_CAPABILITY).count(), 1);
}

#[test]
fn relaxed_floats_are_named_as_such() {
    let ops = "v6 : f32 = fmul.ftz.zw v4, v5\n v9 : i32 = bitcast v6";
    for name in [
        "vulkan-1.3",
        "gl-4.5",
        #[cfg(feature = "naga")]
        "webgpu",
    ] {
        let host = Host::named(name).unwrap();
        let code = |floats| {
            let options = Options { floats, ..Options::default() };
            compile(&mut kernel(1, ops), &host, &options).unwrap().into_bytes()
        };
        let (exact, relaxed) = (code(Floats::Exact), code(Floats::Relaxed));
        let says = |bytes: &[u8]| bytes.windows(14).any(|w| w == b"relaxed floats");
        assert!(says(&relaxed) && !says(&exact), "{name}");
        assert!(relaxed.len() < exact.len(), "{name}: {} and {} bytes", relaxed.len(), exact.len());
    }
}

#[cfg(feature = "vulkan")]
#[test]
fn devices_lack_what_they_say() {
    use xenoglot_vulkan::{DeviceInfo, DeviceKind, Features, FloatControls, Limits};

    let info = DeviceInfo {
        name: "a device".into(),
        kind: DeviceKind::Discrete,
        driver: String::new(),
        api_version: (1, 2, 0),
        features: Features { shader_int64: true, ..Features::default() },
        float_controls: FloatControls::default(),
        limits: Limits { subgroup_size: 64, ..Limits::default() },
    };
    let host = Host::of_vulkan(&info);
    assert_eq!(host.language.to_string(), "spirv-1.5");
    assert_eq!(host.subgroups, Subgroups::exactly(64));
    assert!(host.without.as_slice().contains(&Capability::Float64) && !host.floats.doubles);
    assert!(!host.without.as_slice().contains(&Capability::Int64));
    assert!(host.floats.fused_fma);
    let cpu = Host::of_vulkan(&DeviceInfo { kind: DeviceKind::Cpu, ..info });
    assert!(!cpu.floats.fused_fma && !cpu.floats.zero_sums);
}

#[cfg(feature = "naga")]
#[test]
fn what_naga_does_not_say_is_made_of_what_it_says() {
    let ops = "v6 : f64 = f2f v4\n v7 : f64 = fma v6, v6, v6\n v8 : f32 = f2f v7\n v9 : i32 = bitcast v8";
    let code = compile(&mut kernel(1, ops), &Host::named("d3d12").unwrap(), &Options::default());
    code.expect("a sum of doubles");
    let mut capture = module(
        "module vertex \"capture\" {\n output %o = location 0 : f32\n entry func @main() {\n block0:\n \
         v0 : f32 = const 1.0\n output %o, v0\n return\n }\n}",
    );
    for name in ["webgpu", "metal", "d3d12"] {
        let host = Host::named(name).unwrap();
        compile(&mut capture.clone(), &host, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    compile(&mut capture, &Host::default(), &Options::default()).unwrap();
    assert_eq!(capture.vars.len(), 1, "Vulkan needs no position");
}

/// A host that flushes denormals by itself gets the code of a guest that has them; the others flush.
#[test]
fn nothing_is_written_for_hosts_that_flush() {
    let sum = |flag: &str| {
        module(&format!(
            r#"module fragment "sum" {{
  input %a = location 0 : f32x2
  output %o = location 0 : f32
  entry func @main() {{
  block0:
    v0 : f32x2 = input %a
    v1 : f32 = extract 0, v0
    v2 : f32 = extract 1, v0
    v3 : f32 = fadd{flag} v1, v2
    output %o, v3
    return
  }}
}}"#
        ))
    };
    for (name, host) in named() {
        // Kernels only, and it keeps denormals.
        if host.language == Language::Native {
            continue;
        }
        let mut flushing = host.clone();
        flushing.floats.flushes = true;
        let code =
            |host: &Host, flag| format!("{:?}", compile(&mut sum(flag), host, &Options::default()).unwrap());
        assert_eq!(code(&flushing, ".ftz"), code(&flushing, ""), "{name}");
        assert_ne!(code(&host, ".ftz"), code(&flushing, ".ftz"), "{name}");
    }
}
