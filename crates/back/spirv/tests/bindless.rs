//! Arrays of descriptors, memory behind pointers, and what takes an extension beside them.

mod common;

use common::{disassemble, emit_all, emit_valid};
use xenoglot_ir::module::Module;
use xenoglot_ir::text::{Limits, parse};
use xenoglot_spirv::{Names, Options, Version};

fn module(text: &str) -> Module {
    let module = parse(text, &Limits::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    xenoglot_ir::verify(&module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    module
}

/// The listing, which is valid from SPIR-V 1.3 on, whether accesses are checked or not.
fn listing(module: &Module) -> String {
    emit_all(module, Version::V1_3);
    let options = Options { host_bounds: true, ..Options::version(Version::V1_6) };
    emit_valid(module, &options);
    disassemble(&emit_valid(module, &Options { names: Names::Interface, ..Options::default() }))
}

fn count(listing: &str, what: &str) -> usize {
    listing.lines().filter(|line| line.contains(what)).count()
}

#[test]
fn buffers_are_arrays_without_bound() {
    needs_spirv_tools!();
    let m = module(
        "module compute \"heap\" {
           workgroup 4 1 1
           input %id = builtin local_invocation_index : i32 flat
           storage @heap = set 0 binding 5 readwrite count unbounded oob zero
           uniform @cbvs = set 0 binding 4 size 32 count unbounded oob zero
           storage @eight = set 1 binding 0 read count 8 oob zero
           entry func @main() {
           block0:
             v0 : i32 = input %id
             v1 : i32 = const 8
             v2 : i32 = load.nonuniform storage @heap align 4, v1, v0
             v3 : i32 = load.nonuniform uniform @cbvs align 4, v2, v0
             v4 : i32 = load storage @eight align 4, v3, v1
             v5 : i32 = atomic.add.nonuniform storage @heap align 4 relaxed device, v1, v4, v0
             v6 : i32 = buffer_size.nonuniform @heap, v0
             v7 : i64 = zext v6
             v8 : i64 = atomic.umax.nonuniform storage @heap align 8 relaxed device, v1, v7, v0
             store.nonuniform storage @heap align 4, v6, v5, v0
             return
           }
         }",
    );
    let text = listing(&m);
    for capability in [
        "RuntimeDescriptorArray",
        "ShaderNonUniform",
        "StorageBufferArrayNonUniformIndexing",
        "UniformBufferArrayNonUniformIndexing",
        "UniformBufferArrayDynamicIndexing",
    ] {
        assert_eq!(count(&text, &format!("OpCapability {capability}")), 1, "{capability}\n{text}");
    }
    assert!(count(&text, "NonUniform") > 6, "{text}");
    assert!(count(&text, "OpArrayLength") >= 2, "{text}");
}

#[test]
fn one_heap_is_declared_for_each_kind_of_descriptor() {
    needs_spirv_tools!();
    let m = module(
        "module compute \"heap\" {
           workgroup 4 1 1
           input %id = builtin local_invocation_index : i32 flat
           storage @records = set 0 binding 5 readwrite count unbounded oob undefined
           storage @words = set 0 binding 5 read count unbounded oob undefined
           texture @textures = set 0 binding 0 2d float count unbounded
           texture @volumes = set 0 binding 0 3d uint count unbounded
           image @counts = set 0 binding 1 2d readwrite r32ui count unbounded
           image @wide = set 0 binding 1 2d readwrite r64ui count unbounded
           entry func @main() {
           block0:
             v0 : i32 = input %id
             v1 : i32 = const 0
             v2 : i32 = load storage @words align 4, v1, v0
             store storage @records align 4, v1, v2, v1
             v3 : img = resource_handle.nonuniform @counts, v0
             v4 : i32x2 = build v0, v2
             v5 : i32 = img.atomic.add 2d, v3, v4, v2
             v6 : img = resource_handle @wide, v1
             v7 : i64 = zext v5
             v8 : i64 = img.atomic.umax 2d, v6, v4, v7
             v9 : tex = resource_handle @textures, v1
             v10 : f32x4 = tex.fetch 2d, v9, v4
             v11 : tex = resource_handle @volumes, v1
             v12 : i32x3 = tex.query_size 3d, v11
             v13 : i32 = extract 0, v12
             store storage @records align 4, v1, v13, v13
             return
           }
         }",
    );
    let text = listing(&m);
    for name in ["records", "words"] {
        assert_eq!(count(&text, &format!("OpDecorate %{name} Aliased")), 1, "{text}");
    }
    assert_eq!(count(&text, "OpCapability Int64ImageEXT"), 1, "{text}");
}

#[test]
fn pointers_have_their_own_types() {
    needs_spirv_tools!();
    let m = module(
        "module compute \"pointers\" {
           workgroup 4 1 1
           input %id = builtin local_invocation_index : i32 flat
           push @root = set 0 binding 0 size 16
           entry func @main() {
           block0:
             v0 : i32 = input %id
             v1 : i32 = const 8
             v2 : i64 = load push @root align 8, v1
             v3 : i64 = zext v0
             v4 : i64 = iadd v2, v3
             v5 : f32x4 = load global align 4, v4
             v6 : i16 = load global align 2, v4
             v7 : i32 = zext v6
             v8 : i32 = atomic.cmpxchg global align 4 relaxed device, v4, v7, v0
             v9 : i64 = atomic.add global align 8 relaxed device, v4, v3
             store global align 4, v2, v8
             store global align 4, v4, v5
             return
           }
         }",
    );
    let text = listing(&m);
    assert_eq!(count(&text, "OpMemoryModel PhysicalStorageBuffer64"), 1, "{text}");
    assert_eq!(count(&text, "OpConvertUToPtr"), 6, "{text}");
    assert_eq!(count(&text, "Aligned 4"), 3, "{text}");
}

#[test]
fn quads_of_workgroups_are_four_invocations_after_each_other() {
    needs_spirv_tools!();
    for size in ["8 8 1", "64 1 1", "2 1 6"] {
        let m = module(&format!(
            "module compute \"quads\" {{
               workgroup {size}
               input %id = builtin local_invocation_index : i32 flat
               storage @b = set 0 binding 0 readwrite oob undefined
               entry func @main() {{
               block0:
                 v0 : i32 = input %id
                 v1 : f32 = u2f v0
                 v2 : f32 = ddx.coarse v1
                 store storage @b align 4, v0, v2
                 return
               }}
             }}"
        ));
        let text = listing(&m);
        assert_eq!(count(&text, "OpExecutionMode %main DerivativeGroupLinear"), 1, "{text}");
    }
}

#[test]
fn critical_sections_are_ordered_by_pixel() {
    needs_spirv_tools!();
    let m = module(
        "module fragment \"ordered\" {
           image @counts = set 0 binding 1 2d readwrite r32ui
           input %at = builtin frag_coord : f32x4 flat
           entry func @main() {
           block0:
             interlock.begin
             v0 : f32x4 = input %at
             v1 : f32 = extract 0, v0
             v2 : i32 = f2u v1
             v3 : i32x2 = build v2, v2
             v4 : img = resource_handle @counts
             v5 : i32x4 = img.load 2d, v4, v3
             img.store 2d, v4, v3, v5
             interlock.end
             return
           }
         }",
    );
    let text = listing(&m);
    assert_eq!(count(&text, "PixelInterlockOrderedEXT"), 1, "{text}");
    assert_eq!(count(&text, "InvocationInterlockEXT"), 2, "{text}");
}
