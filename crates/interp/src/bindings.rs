//! What a module is connected to: buffers, inputs, outputs.

use crate::trap::Cause;
use std::collections::BTreeMap;
use std::ops::Range;
use xenoglot_ir::entity::{EntityRef, SecondaryMap};
use xenoglot_ir::module::{Direction, ImageFormat};
use xenoglot_ir::{Bits, Module, Resource, Type, Var};

/// Elements of an output array that the interpreter keeps; a write past them is a [`Cause::Element`].
pub const MAX_ELEMENTS: u32 = 4096;

/// Buffers, inputs and outputs of a module. They outlive a run: stores stay until they are overwritten.
#[derive(Clone, Debug)]
pub struct Bindings {
    buffers: SecondaryMap<Resource, Option<Vec<u8>>>,
    /// Elements of arrays.
    elements: BTreeMap<(Resource, u32), Vec<u8>>,
    /// Formats of buffers of texels.
    formats: SecondaryMap<Resource, Option<ImageFormat>>,
    element_formats: BTreeMap<(Resource, u32), ImageFormat>,
    /// What lies behind addresses, by the first.
    memory: BTreeMap<u64, Vec<u8>>,
    inputs: SecondaryMap<Var, Option<Vec<Bits>>>,
    types: Vec<Type>,
    /// Where each variable's elements lie in `outputs`; empty for inputs.
    places: Vec<Range<usize>>,
    outputs: Vec<Bits>,
}

impl Bindings {
    /// Bindings for `module` with nothing bound.
    pub fn new(module: &Module) -> Bindings {
        let mut total = 0;
        let places = module
            .vars
            .values()
            .map(|var| {
                let n = match var.direction {
                    Direction::Input => 0,
                    Direction::Output => var.array.unwrap_or(1).min(MAX_ELEMENTS) as usize,
                };
                total += n;
                total - n..total
            })
            .collect();
        Bindings {
            buffers: SecondaryMap::new(),
            elements: BTreeMap::new(),
            formats: SecondaryMap::new(),
            element_formats: BTreeMap::new(),
            memory: BTreeMap::new(),
            inputs: SecondaryMap::new(),
            types: module.vars.values().map(|v| v.ty).collect(),
            places,
            outputs: vec![Bits::default(); total],
        }
    }

    /// Binds `bytes` to a buffer; its size is what accesses are checked against.
    pub fn set_buffer(&mut self, resource: Resource, bytes: Vec<u8>) {
        self.buffers[resource] = Some(bytes);
    }

    /// Binds 32-bit words to a buffer, little-endian.
    pub fn set_words(&mut self, resource: Resource, words: &[u32]) {
        self.set_buffer(resource, words.iter().flat_map(|w| w.to_le_bytes()).collect());
    }

    /// Binds `bytes` to a buffer of texels of a format: one with 32 bits a component, accesses to others are
    /// [`Cause::Unsupported`].
    pub fn set_texels(&mut self, resource: Resource, bytes: Vec<u8>, format: ImageFormat) {
        self.set_buffer(resource, bytes);
        self.formats[resource] = Some(format);
    }

    /// Binds `bytes` to an element of an array of buffers.
    pub fn set_element(&mut self, resource: Resource, element: u32, bytes: Vec<u8>) {
        self.elements.insert((resource, element), bytes);
    }

    /// As [`set_texels`](Bindings::set_texels), for an element of an array.
    pub fn set_element_texels(
        &mut self,
        resource: Resource,
        element: u32,
        bytes: Vec<u8>,
        format: ImageFormat,
    ) {
        self.set_element(resource, element, bytes);
        self.element_formats.insert((resource, element), format);
    }

    /// The bytes of an element of an array; empty if none is bound.
    pub fn element_buffer(&self, resource: Resource, element: u32) -> &[u8] {
        self.elements.get(&(resource, element)).map_or(&[], Vec::as_slice)
    }

    /// Gives `global` memory bytes from an address on. Blocks must not overlap; an access goes to the one that begins
    /// last before it, and outside of it is a [`Cause::OutOfBounds`].
    pub fn set_memory(&mut self, address: u64, bytes: Vec<u8>) {
        self.memory.insert(address, bytes);
    }

    /// The block of `global` memory that begins at an address; empty if none does.
    pub fn memory(&self, address: u64) -> &[u8] {
        self.memory.get(&address).map_or(&[], Vec::as_slice)
    }

    /// The block of `global` memory that an address is in or behind, and where in it.
    pub(crate) fn memory_mut(&mut self, address: u64) -> Option<(&mut Vec<u8>, u64)> {
        let (&first, bytes) = self.memory.range_mut(..=address).next_back()?;
        Some((bytes, address - first))
    }

    pub(crate) fn texel_format(&self, resource: Resource, element: Option<u32>) -> Option<ImageFormat> {
        match element {
            None => self.formats[resource],
            Some(n) => self.element_formats.get(&(resource, n)).copied(),
        }
    }

    /// The bytes of a bound buffer, or of an element of an array.
    pub(crate) fn bound_mut(&mut self, resource: Resource, element: Option<u32>) -> Option<&mut Vec<u8>> {
        match element {
            None => self.buffer_mut(resource),
            Some(n) => self.elements.get_mut(&(resource, n)),
        }
    }

    /// The bytes of a buffer; empty if none is bound.
    pub fn buffer(&self, resource: Resource) -> &[u8] {
        self.buffers[resource].as_deref().unwrap_or_default()
    }

    /// The bytes of a bound buffer.
    pub fn buffer_mut(&mut self, resource: Resource) -> Option<&mut Vec<u8>> {
        self.buffers[resource].as_mut()
    }

    /// The whole 32-bit words of a buffer, little-endian.
    pub fn words(&self, resource: Resource) -> Vec<u32> {
        let (words, _) = self.buffer(resource).as_chunks::<4>();
        words.iter().map(|w| u32::from_le_bytes(*w)).collect()
    }

    /// Gives an input or builtin a value. A value set here wins over what a dispatch would provide.
    pub fn set_input(&mut self, var: Var, value: Bits) {
        self.set_input_array(var, &[value]);
    }

    /// Gives an input array its elements.
    pub fn set_input_array(&mut self, var: Var, values: &[Bits]) {
        let Some(&ty) = self.types.get(var.index()) else { return };
        let clean =
            |v: &Bits| Bits(std::array::from_fn(|i| v.lane(i) & Bits::splat(ty, ty.kind().mask()).0[i]));
        let values = values.iter().map(clean);
        match &mut self.inputs[var] {
            Some(old) => {
                old.clear();
                old.extend(values);
            }
            none => *none = Some(values.collect()),
        }
    }

    /// The elements of an output (one if it is no array), zeros where nothing was written in the last run.
    /// Empty for inputs.
    pub fn output(&self, var: Var) -> &[Bits] {
        self.places.get(var.index()).map_or(&[], |p| &self.outputs[p.clone()])
    }

    pub(crate) fn all_outputs(&self) -> &[Bits] {
        &self.outputs
    }

    pub(crate) fn clear_outputs(&mut self) {
        self.outputs.fill(Bits::default());
    }

    /// Where an element of an output lies among all of them.
    pub(crate) fn place(&self, var: Var, index: u32) -> Result<usize, Cause> {
        let mut place = self.places.get(var.index()).cloned().unwrap_or_default();
        place.nth(index as usize).ok_or(Cause::Element { var, index })
    }

    pub(crate) fn all_outputs_mut(&mut self) -> &mut [Bits] {
        &mut self.outputs
    }

    /// The element of an input; `None` if the input has no value.
    pub(crate) fn input(&self, var: Var, index: u32) -> Option<Result<Bits, Cause>> {
        let values = self.inputs[var].as_ref()?;
        Some(values.get(index as usize).copied().ok_or(Cause::Element { var, index }))
    }
}
