//! Elements of arrays of buffers, and memory behind addresses.

use xenoglot_interp::{Bindings, Cause, Interpreter, Limits};
use xenoglot_ir::module::ImageFormat;
use xenoglot_ir::text::{self, parse};
use xenoglot_ir::{Module, Resource};

const LIMITS: Limits = Limits { fuel: 10_000, call_depth: 8, memory: 1 << 20, events: 0, trace: 0 };

fn module(text: &str) -> Module {
    let module = parse(text, &text::Limits::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    xenoglot_ir::verify(&module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    module
}

fn find(module: &Module, name: &str) -> Resource {
    module.resources.iter().find(|(_, r)| r.name == name).unwrap().0
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect()
}

#[test]
fn accesses_name_the_element() {
    let m = module(
        "module compute \"heap\" {
           workgroup 1 1 1
           storage @heap = set 0 binding 5 count unbounded readwrite oob zero
           texture @texels = set 0 binding 2 count 4 buffer uint
           entry func @main() {
           block0:
             v0 : i32 = const 4
             v1 : i32 = const 7
             v2 : i32 = load storage @heap align 4, v0, v1
             v3 : i32 = buffer_size @heap, v1
             v4 : i32 = iadd v2, v3
             v5 : i32 = const 2
             v6 : tex = resource_handle @texels, v5
             v7 : i32x4 = tex.fetch buffer, v6, v5
             v8 : i32 = extract 0, v7
             v9 : i32 = iadd v4, v8
             v10 : i32 = atomic.add storage @heap align 4 relaxed device, v0, v9, v5
             store storage @heap align 4, v3, v10, v5
             return
           }
         }",
    );
    let (heap, texels) = (find(&m, "heap"), find(&m, "texels"));
    let mut bindings = Bindings::new(&m);
    bindings.set_element(heap, 7, [1u32, 20].iter().flat_map(|w| w.to_le_bytes()).collect());
    bindings.set_element(heap, 2, vec![0; 16]);
    let texel = [0u32, 0, 300].iter().flat_map(|w| w.to_le_bytes()).collect();
    bindings.set_element_texels(texels, 2, texel, ImageFormat::R32ui);
    Interpreter::new(&m).unwrap().run_entry(&mut bindings, &LIMITS).unwrap();
    assert_eq!(words(bindings.element_buffer(heap, 2)), [0, 328, 0, 0]);
    assert!(bindings.element_buffer(heap, 3).is_empty());

    let mut empty = Bindings::new(&m);
    let trap = Interpreter::new(&m).unwrap().run_entry(&mut empty, &LIMITS).unwrap_err();
    assert_eq!(trap.cause, Cause::UnboundResource { resource: heap });
}

#[test]
fn addresses_lead_into_blocks() {
    let m = module(
        "module compute \"pointers\" {
           workgroup 1 1 1
           push @root = size 16
           entry func @main() {
           block0:
             v0 : i32 = const 8
             v1 : i64 = load push @root align 8, v0
             v2 : i32 = load global align 4, v1
             v3 : i32 = const 0
             v4 : i64 = load push @root align 8, v3
             store global align 4, v4, v2
             v5 : i32 = atomic.add global align 4 relaxed device, v1, v2
             return
           }
         }",
    );
    let root = find(&m, "root");
    let run = |to: u64, from: u64| {
        let mut bindings = Bindings::new(&m);
        bindings.set_buffer(root, [to, from].iter().flat_map(|a| a.to_le_bytes()).collect());
        bindings.set_memory(0x1000, vec![0; 16]);
        bindings.set_memory(0x8000_0000_0000, vec![5; 8]);
        let result = Interpreter::new(&m).unwrap().run_entry(&mut bindings, &LIMITS);
        result.map(|_| bindings).map_err(|trap| trap.cause)
    };
    let bindings = run(0x100c, 0x8000_0000_0004).unwrap();
    assert_eq!(words(bindings.memory(0x1000)), [0, 0, 0, 0x0505_0505]);
    assert_eq!(words(bindings.memory(0x8000_0000_0000)), [0x0505_0505, 0x0a0a_0a0a]);
    for (to, from) in [(0x100c, 0x800), (0x1010, 0x8000_0000_0000), (u64::MAX - 3, 0x8000_0000_0000)] {
        assert!(matches!(run(to, from), Err(Cause::OutOfBounds { .. })), "{to:#x} {from:#x}");
    }
}
