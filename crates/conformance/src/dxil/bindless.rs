//! The `bindless` engine: shaders bound by root signature, on the interpreter and on a Vulkan device in a worker process.
//!
//! Constants are push constants, root descriptors are addresses, and tables are places in a heap of descriptors that is
//! an array for each kind. A container without a root signature gets one that puts all it declares in tables. Each is run a
//! second time with descriptors that are checked and buffers that are seen through windows.

use super::format::{Class, HEAP, Kind, Resource, Test, Vector, texel_bytes};
use super::{FOR_DEVICES, compare, gpu, interp};
use crate::vulkan::{Language, Runner};
use crate::{Error, Request};
use std::collections::BTreeMap;
use xenoglot::dxil::{
    HeapSets, LiftOptions, Remapper, RootSignature, RootSignatureMap, lift_bound, load, program,
};
use xenoglot_dxil::binding::checks::{self, Faults};
use xenoglot_dxil::binding::{
    self, Argument, Checks, DescriptorKind, Heap, Registers, Slot, Target, Windows,
};
use xenoglot_dxil::container::Container;
use xenoglot_dxil::model::{ResourceClass, ShaderKind};
use xenoglot_dxil::root_signature::Register;
use xenoglot_interp::{Bindings, Interpreter};
use xenoglot_ir::Module;
use xenoglot_ir::module::ResourceKind;
use xenoglot_opt::pipeline::Level;
use xenoglot_vulkan::{
    AddressedBuffer, ArrayElement, BindlessJob, BufferBinding, BufferKind, DeviceInfo, Job, glslang,
};

/// Where the first table begins in the heap, and descriptors from one to the next: not at 0, so that a place that is
/// taken for an offset is found.
const TABLES: (u32, u32) = (3, 64);
/// The first address on the interpreter, and bytes from one to the next.
const ADDRESSES: (u64, u64) = (0x10_0000_0000, 0x1000_0000);

/// The set of buffers for checks and windows.
const OWN_SET: u32 = 3;
/// Windows among words that are something else.
const WINDOWS: Windows = Windows { slot: Slot { set: OWN_SET, binding: 2 }, stride: 16, start: 4, size: 12 };
/// What lies around the part of a buffer that a shader is to see.
const AROUND: [u8; 16] = [0xa5; 16];

/// A device with a translator: one per thread.
pub struct Engine(Runner);

/// What a resource of a test is bound as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Its contents are push constants from this byte on.
    Constants(usize),
    /// Its address is at this byte of the push constants.
    Address(usize),
    /// A descriptor of the heap.
    Element(DescriptorKind, u32),
    /// The shader does not see it.
    Nowhere,
}

/// A test's resources as a root signature binds them.
struct Layout<'t> {
    test: &'t Test,
    map: &'t RootSignatureMap,
    places: Vec<Place>,
    /// Push constants without the addresses.
    constants: Vec<u8>,
    /// Where descriptors are checked and buffers seen through windows, if they are.
    own: Option<HeapSets>,
}

impl Engine {
    /// An engine on `device`, found for the same request.
    ///
    /// # Errors
    /// What [`Runner::new`] says.
    pub fn new(request: &Request, device: &DeviceInfo) -> Result<Engine, Error> {
        Runner::new(Language::Spirv, request, device).map(Engine)
    }

    /// Translates a shader and runs its test, if it has one.
    ///
    /// # Errors
    /// What cannot be translated or run, or what differs.
    pub fn run(&mut self, vector: &Vector) -> Result<(), String> {
        let signature = root_signature(&vector.container)?;
        self.run_with(vector, &signature, HeapSets::default())?;
        let own = HeapSets {
            checks: Some(Checks { slot: Slot { set: OWN_SET, binding: 0 }, program: 1 }),
            windows: Some(WINDOWS),
            texel_windows: Some(WINDOWS),
            ..HeapSets::default()
        };
        self.run_with(vector, &signature, own).map_err(|e| format!("with checks and windows: {e}"))
    }

    fn run_with(&mut self, vector: &Vector, signature: &RootSignature, sets: HeapSets) -> Result<(), String> {
        let map = RootSignatureMap::new(signature, None, sets);
        let mut module = lifted(vector, &map, &LiftOptions::default())?;
        let Some(test) = &vector.test else { return Ok(()) };
        let layout = Layout::new(test, &map, sets.checks.map(|_| sets))?;
        // The interpreter has no derivatives.
        let ways: &[&str] = match vector.needs().any(|need| need == super::DERIVATIVES) {
            true => &[],
            false => &["as lifted", "optimised"],
        };
        for &way in ways {
            if way == "optimised" {
                self.0.translator.optimize(&mut module, Some(Level::Full));
            }
            let after = layout.interpreted(&module);
            after.and_then(|after| compare(test, &after)).map_err(|e| format!("interpreter, {way}: {e}"))?;
        }
        let mut module = lifted(vector, &map, &FOR_DEVICES)?;
        let spirv = self.0.compile(&mut module, glslang::Stage::Compute)?;
        let job = layout.job(&module, spirv);
        let outputs = self.0.device.run(&Job::Bindless(job.clone())).map_err(|e| e.to_string())?;
        let outputs = outputs.into_iter().next().map(|o| o.buffers).ok_or("results are missing")?;
        let elements = job.elements.iter().map(|e| &e.buffer).zip(&outputs);
        let mut checks = elements.filter(|(b, _)| (b.set, b.binding) == (OWN_SET, 0) && layout.own.is_some());
        checks.try_for_each(|(_, data)| no_fault(data))?;
        compare(test, &layout.after(&outputs, job.elements.len()))
    }
}

/// A container's own root signature, or one that covers its resources.
fn root_signature(container: &[u8]) -> Result<RootSignature, String> {
    let own = Container::parse(container).and_then(|c| c.root_signature()).map_err(|e| e.to_string())?;
    Ok(match own {
        Some(own) => own,
        None => {
            let module = load(container).map_err(|e| e.to_string())?;
            binding::covering(&program(&module).map_err(|e| e.to_string())?.resources)
        }
    })
}

fn no_fault(checks: &[u8]) -> Result<(), String> {
    let faults = Faults::read(checks).map_err(|e| e.to_string())?;
    if faults.told == 0 { Ok(()) } else { Err(format!("faults where there are none: {faults:?}")) }
}

fn lifted(vector: &Vector, map: &RootSignatureMap, options: &LiftOptions) -> Result<Module, String> {
    let module = load(&vector.container).map_err(|e| e.to_string())?;
    Ok(lift_bound(&module, options, map).map_err(|e| e.to_string())?.module)
}

fn descriptor(resource: &Resource) -> DescriptorKind {
    match (resource.kind, resource.class) {
        (Kind::ConstantBuffer, _) => DescriptorKind::UniformBuffer,
        (Kind::Typed(_), Class::Uav) => DescriptorKind::StorageTexelBuffer,
        (Kind::Typed(_), _) => DescriptorKind::UniformTexelBuffer,
        (Kind::Raw | Kind::Structured, _) => DescriptorKind::StorageBuffer,
    }
}

impl<'t> Layout<'t> {
    fn new(test: &'t Test, map: &'t RootSignatureMap, own: Option<HeapSets>) -> Result<Layout<'t>, String> {
        let constants = vec![0; 4 * map.push_words() as usize];
        let mut layout = Layout { test, map, places: Vec::new(), constants, own };
        let mut tables: BTreeMap<u32, u32> = BTreeMap::new();
        for resource in &test.resources {
            let place = layout.place(resource, &mut tables)?;
            let taken = matches!(place, Place::Element(..)) && layout.places.contains(&place);
            if taken {
                return Err("two resources have one place in the heap".into());
            }
            layout.places.push(place);
        }
        for (word, start) in tables {
            layout.put(4 * word as usize, &start.to_le_bytes());
        }
        Ok(layout)
    }

    fn place(&mut self, resource: &Resource, tables: &mut BTreeMap<u32, u32>) -> Result<Place, String> {
        let kind = descriptor(resource);
        if resource.space == HEAP {
            return Ok(Place::Element(kind, resource.register));
        }
        let class = match resource.class {
            Class::Srv => ResourceClass::Srv,
            Class::Uav => ResourceClass::Uav,
            Class::Cbv => ResourceClass::Cbv,
        };
        let first = Register { number: resource.register, space: resource.space };
        let registers = Registers { class, first, count: Some(1), stage: ShaderKind::Compute };
        Ok(match self.map.resource(&registers) {
            Ok(Target::Constants { at: Argument::Push(word), words }) => {
                let length = resource.data.len().min(4 * words as usize);
                self.put(4 * word as usize, &resource.data[..length]);
                Place::Constants(4 * word as usize)
            }
            Ok(Target::Address { at: Argument::Push(word) }) => Place::Address(4 * word as usize),
            Ok(Target::Table { at: Argument::Push(word), offset, .. }) => {
                let next = TABLES.0 + TABLES.1 * tables.len() as u32;
                Place::Element(kind, tables.entry(word).or_insert(next).saturating_add(offset))
            }
            Ok(other) => return Err(format!("a resource that is bound as {other:?}")),
            Err(_) => Place::Nowhere,
        })
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        if let Some(to) = self.constants.get_mut(at..).and_then(|c| c.get_mut(..bytes.len())) {
            to.copy_from_slice(bytes);
        }
    }

    fn slot(&self, kind: DescriptorKind) -> Result<Slot, String> {
        self.map.heap(Heap::Resources, kind).map_err(|e| e.to_string())
    }

    /// Whether a shader sees a descriptor's buffer through a window.
    fn is_window(&self, kind: DescriptorKind) -> bool {
        let may_be = [
            DescriptorKind::StorageBuffer,
            DescriptorKind::UniformTexelBuffer,
            DescriptorKind::StorageTexelBuffer,
        ];
        self.own.is_some() && may_be.contains(&kind)
    }

    /// What a descriptor's buffer has in it: where there are windows, more than what the shader is to see.
    fn contents(&self, kind: DescriptorKind, resource: &Resource) -> Vec<u8> {
        match self.is_window(kind) {
            true => [&AROUND[..], &resource.data, &AROUND].concat(),
            false => resource.data.clone(),
        }
    }

    /// What a shader is to see of what is in a descriptor's buffer.
    fn seen(&self, kind: DescriptorKind, resource: &Resource, contents: &[u8]) -> Vec<u8> {
        match self.is_window(kind) {
            true => {
                let seen = contents.get(AROUND.len()..AROUND.len() + resource.data.len());
                seen.unwrap_or_default().to_vec()
            }
            false => contents.to_vec(),
        }
    }

    /// The buffers that the module has for checks and windows, with what is in them.
    fn own_buffers(&self, module: &Module) -> Vec<(Slot, Vec<u8>)> {
        let Some(HeapSets { checks: Some(checks), windows: Some(windows), .. }) = self.own else {
            return Vec::new();
        };
        let places = || {
            let element = |(resource, place): (&'t Resource, &Place)| match *place {
                Place::Element(kind, n) => Some((resource, kind, n)),
                _ => None,
            };
            self.test.resources.iter().zip(&self.places).filter_map(element)
        };
        let count = places().map(|(_, _, n)| n + 1).max().unwrap_or(0);
        let mut words = vec![0; count as usize];
        let mut seen = vec![0; (windows.stride / 4 * count) as usize];
        for (resource, kind, n) in places() {
            let n = n as usize;
            // A structured buffer's counter is at its place.
            words[n] = checks::word(&[kind, DescriptorKind::Counter]);
            let at = |byte: u32| (windows.stride as usize * n + byte as usize) / 4;
            // Of typed buffers in texels.
            let unit = match resource.kind {
                Kind::Typed(format) => texel_bytes(format),
                _ => 1,
            };
            seen[at(windows.start)] = AROUND.len() as u32 / unit;
            seen[at(windows.size)] = resource.data.len() as u32 / unit;
        }
        let seen = seen.iter().flat_map(|w: &u32| w.to_le_bytes()).collect();
        let own = [(checks.slot, checks::buffer(&words, 4)), (windows.slot, seen)];
        let is_declared =
            |slot: Slot| module.resources.values().any(|r| (r.set, r.binding) == (slot.set, slot.binding));
        own.into_iter().filter(|(slot, _)| is_declared(*slot)).collect()
    }

    /// Heap places of counters, if the module counts.
    fn counters(&self, module: &Module) -> Vec<(Slot, u32)> {
        let Ok(slot) = self.slot(DescriptorKind::Counter) else { return Vec::new() };
        if !module.resources.values().any(|r| (r.set, r.binding) == (slot.set, slot.binding)) {
            return Vec::new();
        }
        let place = |place: &Place| match *place {
            Place::Element(DescriptorKind::StorageBuffer, n) => Some((slot, n)),
            _ => None,
        };
        self.places.iter().filter_map(place).collect()
    }

    /// The resources after a dispatch on the interpreter.
    fn interpreted(&self, module: &Module) -> Result<Vec<Vec<u8>>, String> {
        let mut interpreter = Interpreter::new(module).map_err(|e| e.to_string())?;
        let mut bindings = Bindings::new(module);
        let mut constants = self.constants.clone();
        let at = |slot: Slot| {
            let is_it = move |r: &&xenoglot_ir::module::ResourceData| {
                (r.set, r.binding) == (slot.set, slot.binding)
                    && !matches!(r.kind, ResourceKind::PushConstants { .. })
            };
            module.resources.iter().filter(move |(_, r)| is_it(r)).map(|(id, _)| id)
        };
        let address = |n: usize| ADDRESSES.0 + ADDRESSES.1 * n as u64;
        for (n, (resource, &place)) in self.test.resources.iter().zip(&self.places).enumerate() {
            match place {
                Place::Address(at) => {
                    constants[at..at + 8].copy_from_slice(&address(n).to_le_bytes());
                    bindings.set_memory(address(n), resource.data.clone());
                }
                Place::Element(kind, element) => {
                    for id in at(self.slot(kind)?) {
                        match resource.kind {
                            Kind::Typed(format) => {
                                bindings.set_element_texels(
                                    id,
                                    element,
                                    self.contents(kind, resource),
                                    format,
                                );
                            }
                            _ => bindings.set_element(id, element, self.contents(kind, resource)),
                        }
                    }
                }
                Place::Constants(_) | Place::Nowhere => {}
            }
        }
        for (slot, element) in self.counters(module) {
            at(slot).for_each(|id| bindings.set_element(id, element, vec![0; 4]));
        }
        for (slot, data) in self.own_buffers(module) {
            at(slot).for_each(|id| bindings.set_buffer(id, data.clone()));
        }
        for (id, data) in &module.resources {
            if matches!(data.kind, ResourceKind::PushConstants { .. }) {
                bindings.set_buffer(id, constants.clone());
            }
        }
        interpreter.dispatch(self.test.groups, &mut bindings, &interp::LIMITS).map_err(|t| t.to_string())?;
        if let Some(checks) = self.own.and_then(|own| own.checks) {
            at(checks.slot).try_for_each(|id| no_fault(bindings.buffer(id)))?;
        }
        let mut after = Vec::new();
        for (n, (resource, &place)) in self.test.resources.iter().zip(&self.places).enumerate() {
            after.push(match place {
                Place::Address(_) => bindings.memory(address(n)).to_vec(),
                Place::Element(kind, element) => match at(self.slot(kind)?).next() {
                    Some(id) => self.seen(kind, resource, bindings.element_buffer(id, element)),
                    None => resource.data.clone(),
                },
                Place::Constants(_) | Place::Nowhere => resource.data.clone(),
            });
        }
        Ok(after)
    }

    /// The dispatch on a device.
    fn job(&self, module: &Module, spirv: Vec<u32>) -> BindlessJob {
        let (mut elements, mut addressed) = (Vec::new(), Vec::new());
        for (resource, &place) in self.test.resources.iter().zip(&self.places) {
            match place {
                Place::Address(at) => {
                    let (data, addresses) = (resource.data.clone(), Vec::new());
                    addressed.push(AddressedBuffer { offset: at as u32, data, addresses });
                }
                Place::Element(kind, element) => {
                    let Ok(slot) = self.slot(kind) else { continue };
                    let data = self.contents(kind, resource);
                    elements.push(array_element(slot, element, gpu::kind(resource), data));
                }
                Place::Constants(_) | Place::Nowhere => {}
            }
        }
        for (slot, element) in self.counters(module) {
            elements.push(array_element(slot, element, BufferKind::Storage, vec![0; 4]));
        }
        for (slot, data) in self.own_buffers(module) {
            elements.push(array_element(slot, 0, BufferKind::Storage, data));
        }
        BindlessJob {
            spirv,
            entry: "main".into(),
            elements,
            addressed,
            push_constants: self.constants.clone(),
            groups: self.test.groups,
        }
    }

    /// The resources after a job, whose elements come first.
    fn after(&self, outputs: &[Vec<u8>], elements: usize) -> Vec<Vec<u8>> {
        let (of_elements, of_addresses) = outputs.split_at(elements.min(outputs.len()));
        let (mut of_elements, mut of_addresses) = (of_elements.iter(), of_addresses.iter());
        let after = |(resource, place): (&Resource, &Place)| {
            let found = match *place {
                Place::Element(kind, _) => of_elements.next().map(|data| self.seen(kind, resource, data)),
                Place::Address(_) => of_addresses.next().cloned(),
                _ => None,
            };
            found.unwrap_or_else(|| resource.data.clone())
        };
        self.test.resources.iter().zip(&self.places).map(after).collect()
    }
}

fn array_element(slot: Slot, element: u32, kind: BufferKind, data: Vec<u8>) -> ArrayElement {
    ArrayElement { element, buffer: BufferBinding { set: slot.set, binding: slot.binding, kind, data } }
}
