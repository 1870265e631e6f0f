//! Where real shaders' resources end up, by what the remapper says.

mod corpus;

use corpus::tests;
use xenoglot_dxil::binding::{
    BindError, DescriptorKind, Heap, HeapSets, Location, RegisterSpaces, Registers, Remapper,
    RootSignatureMap, Slot, StageVariable, Target, Windows, covering,
};
use xenoglot_dxil::bitcode::{Limits, Module, read};
use xenoglot_dxil::container::{Container, bitcode};
use xenoglot_dxil::lift::{LiftError, LiftOptions, lift_bound};
use xenoglot_dxil::model::ShaderKind;
use xenoglot_dxil::program::Program;
use xenoglot_ir::Module as IrModule;
use xenoglot_ir::module::{Count, Direction, ResourceData, ResourceKind, Semantic};
use xenoglot_ir::text::canonical;

fn container(name: &str) -> Vec<u8> {
    std::fs::read(tests().join("../../../../vectors/dxil").join(name)).unwrap()
}

fn module(container: &[u8]) -> Module {
    read(bitcode(container).unwrap().bytes, &Limits::default()).unwrap()
}

fn lifted(container: &[u8], remapper: &dyn Remapper) -> Result<IrModule, LiftError> {
    lift_bound(&module(container), &LiftOptions::default(), remapper).map(|l| l.module)
}

/// By the container's own root signature.
fn own(container: &[u8]) -> RootSignatureMap {
    let signature = Container::parse(container).unwrap().root_signature().unwrap().unwrap();
    RootSignatureMap::new(&signature, None, HeapSets::default())
}

fn at(module: &IrModule, set: u32, binding: u32) -> Vec<&ResourceData> {
    let is_it = |r: &&ResourceData| {
        (r.set, r.binding) == (set, binding) && !matches!(r.kind, ResourceKind::PushConstants { .. })
    };
    module.resources.values().filter(is_it).collect()
}

#[test]
fn root_descriptors_are_addresses() {
    let bytes = container("bindless/root_addresses.dxil");
    let module = lifted(&bytes, &own(&bytes)).unwrap();
    let text = canonical(&module);
    let [only] = module.resources.values().collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert_eq!(only.kind, ResourceKind::PushConstants { size: 4 * 14 });
    for access in ["load global align 4", "store global align 4", "atomic.add global", "atomic.umax global"] {
        assert!(text.contains(access), "{access}\n{text}");
    }
}

#[test]
fn tables_are_places_in_heaps() {
    let bytes = container("bindless/heap_tables.dxil");
    let module = lifted(&bytes, &own(&bytes)).unwrap();
    for (binding, kind) in [
        (DescriptorKind::StorageBuffer, "storage"),
        (DescriptorKind::UniformBuffer, "uniform"),
        (DescriptorKind::UniformTexelBuffer, "texture"),
    ] {
        let found = at(&module, 0, binding as u32);
        // Every buffer of the heap is of one array.
        let [heap] = found[..] else { panic!("{kind}: {found:?}") };
        assert_eq!((heap.count, heap.kind.name().name()), (Count::Unbounded, kind));
    }
    let text = canonical(&module);
    for op in ["load.nonuniform storage", "buffer_size @", "atomic.add storage", "load push"] {
        assert!(text.contains(op), "{op}\n{text}");
    }
}

#[test]
fn spaces_have_arrays_of_registers() {
    let bytes = container("bindless/heap_tables.dxil");
    let heaps = HeapSets { resources: 4, samplers: 5, static_samplers: 6, ..HeapSets::default() };
    let heaps = Some(heaps);
    let module = lifted(&bytes, &RegisterSpaces { heaps, ..RegisterSpaces::default() }).unwrap();
    let counts = |set, binding| at(&module, set, binding).iter().map(|r| r.count).collect::<Vec<_>>();
    assert_eq!(counts(0, 4), [Count::Fixed(4)]);
    assert_eq!(counts(0, 8), [Count::One]);
    assert_eq!(counts(1, 0), [Count::Unbounded]);
    assert_eq!(counts(4, DescriptorKind::StorageBuffer as u32), [Count::Unbounded]);
    let error = lifted(&bytes, &RegisterSpaces::default()).unwrap_err();
    assert_eq!(error, LiftError::Bind(BindError::Heap(Heap::Resources)));
}

#[test]
fn static_samplers_and_tables_of_the_container() {
    let bytes = container("stages/ps_rootsig.dxil");
    let module = lifted(&bytes, &own(&bytes)).unwrap();
    let [sampler] = at(&module, 2, 0)[..] else { panic!("{:?}", module.resources) };
    assert_eq!((sampler.kind, sampler.count), (ResourceKind::Sampler, Count::One));
    assert_eq!(at(&module, 1, 0)[0].count, Count::Unbounded);
    assert_eq!(at(&module, 0, DescriptorKind::SampledImage as u32).len(), 1);
}

#[test]
fn what_is_not_bound_is_an_error() {
    let other = own(&container("bindless/root_addresses.dxil"));
    let error = lifted(&container("stages/ps_rootsig.dxil"), &other).unwrap_err();
    assert!(matches!(error, LiftError::Bind(BindError::Unbound { .. })), "{error}");
}

#[test]
fn counters_have_their_own_descriptors() {
    let bytes = container("bindless/counter.dxil");
    let shifted = RegisterSpaces { counter_shift: 100, ..RegisterSpaces::default() };
    let plain = lifted(&bytes, &shifted).unwrap();
    assert_eq!((at(&plain, 0, 100).len(), at(&plain, 0, 101).len()), (1, 1));
    let signature = covering(&Program::of(&module(&bytes)).unwrap().resources);
    let map = RootSignatureMap::new(&signature, None, HeapSets::default());
    let heaps = lifted(&bytes, &map).unwrap();
    assert_eq!(at(&heaps, 0, DescriptorKind::Counter as u32).len(), 1);
    // Addresses have no counters.
    let none = own(&container("bindless/root_addresses.dxil"));
    let error = lifted(&bytes, &none).unwrap_err();
    assert!(matches!(error, LiftError::Bind(BindError::Unbound { letter: 'u', .. })), "{error}");
}

#[test]
fn libraries_records_hold_local_arguments() {
    use xenoglot_dxil::container::{Content, FourCc, SubobjectContent};
    use xenoglot_dxil::root_signature::RootSignature;
    let bytes = container("stages/lib_local_rootsig.dxil");
    let container = Container::parse(&bytes).unwrap();
    let part = container.part(FourCc::RDAT).unwrap();
    let Content::RuntimeData(data) = container.content(part).unwrap() else { panic!() };
    let (mut global, mut local) = (None, None);
    for subobject in &data.subobjects {
        match subobject.content {
            SubobjectContent::GlobalRootSignature(b) => global = Some(RootSignature::parse(b).unwrap()),
            SubobjectContent::LocalRootSignature(b) => local = Some(RootSignature::parse(b).unwrap()),
            _ => {}
        }
    }
    let map = RootSignatureMap::new(&global.unwrap(), local.as_ref(), HeapSets::default());
    let bitcode = module(&bytes);
    let mut texts = String::new();
    for entry in 0..Program::all(&bitcode).unwrap().len() {
        let options = LiftOptions { entry, ..LiftOptions::default() };
        let module = lift_bound(&bitcode, &options, &map).unwrap().module;
        texts.push_str(&canonical(&module));
    }
    // Five words, an address and the handle of a table; and the structure by its address.
    for text in ["record @record = set 0 binding 0 size 36", "load record @record align 8", "accel_at"] {
        assert!(texts.contains(text), "{text}\n{texts}");
    }
}

/// Everything at one place, and locations that tell what was asked.
struct Odd;

impl Remapper for Odd {
    fn resource(&self, registers: &Registers) -> Result<Target, BindError> {
        Ok(Target::Slot(Slot { set: 7, binding: 10 * registers.class as u32 + registers.first.number }))
    }

    fn counter(&self, registers: &Registers) -> Result<Target, BindError> {
        self.resource(registers)
    }

    fn heap(&self, heap: Heap, _kind: DescriptorKind) -> Result<Slot, BindError> {
        Err(BindError::Heap(heap))
    }

    fn is_heap_indexed(&self, _heap: Heap) -> bool {
        false
    }

    fn input(&self, stage: ShaderKind, variable: &StageVariable) -> Location {
        assert_eq!(stage, ShaderKind::Vertex);
        Location { location: 20 + variable.row, component: variable.column }
    }

    fn output(&self, _stage: ShaderKind, variable: &StageVariable) -> Location {
        assert!(!variable.semantic.is_empty());
        Location { location: 30 + variable.row, component: variable.column }
    }
}

#[test]
fn variables_lie_where_the_remapper_says() {
    let module = lifted(&container("stages/vs_basic.dxil"), &Odd).unwrap();
    let mut seen = [0; 2];
    for var in module.vars.values() {
        let Semantic::Location { location, .. } = var.semantic else { continue };
        let (least, n) = if var.direction == Direction::Input { (20, 0) } else { (30, 1) };
        assert!((least..least + 10).contains(&location), "{var:?}");
        seen[n] += 1;
    }
    assert!(seen.iter().all(|&n| n > 0), "{seen:?}");
}

#[test]
fn records_of_quads_are_loaded_at_once() {
    use xenoglot_ir::{Imm, Op, Type};
    let loads = |map: &dyn Remapper| -> Vec<Type> {
        let module = lifted(&container("compute-own/legacy.dxil"), map).unwrap();
        let records = module.resources.iter().find(|(_, r)| r.name.starts_with('t')).unwrap().0;
        let function = module.funcs.values().next().unwrap();
        let of_records = |&inst: &xenoglot_ir::Inst| match function.insts[inst].imm {
            Imm::Mem(mem) => function.insts[inst].op == Op::Load && mem.resource.expand() == Some(records),
            _ => false,
        };
        let blocks = function.layout.iter().flat_map(|&b| &function.blocks[b].insts);
        blocks.copied().filter(of_records).map(|i| function.ty(function.result(i).unwrap())).collect()
    };
    assert_eq!(loads(&RegisterSpaces::default()), [Type::I32X4]);
    // Parts of buffers may begin at any word.
    let windows = Some(Windows::pairs(Slot { set: 3, binding: 2 }));
    let resources = Program::of(&module(&container("compute-own/legacy.dxil"))).unwrap().resources;
    let sets = HeapSets { windows, ..HeapSets::default() };
    let map = RootSignatureMap::new(&covering(&resources), None, sets);
    assert_eq!(loads(&map), [Type::I32; 4]);
}
