//! From arrays in memory to vertex attributes (vectors/picagpu/FORMAT.md, section 4).

use crate::memory::Memory;
use crate::regs::*;
use crate::shader::{Bank, Packed};
use std::ops::Range;

/// Attributes that can be loaded.
pub const ATTRIBUTES: usize = 12;
const LOADERS: u32 = 12;

/// How an element of an attribute is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Signed byte.
    S8,
    /// Unsigned byte.
    U8,
    /// Signed, two bytes.
    S16,
    /// IEEE single.
    F32,
}

impl Element {
    /// Of the field's value; only its two lowest bits count.
    pub fn of(field: u32) -> Element {
        match field & 3 {
            0 => Element::S8,
            1 => Element::U8,
            2 => Element::S16,
            _ => Element::F32,
        }
    }

    /// Bytes.
    pub fn size(self) -> u32 {
        match self {
            Element::S8 | Element::U8 => 1,
            Element::S16 => 2,
            Element::F32 => 4,
        }
    }
}

/// Where an attribute comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// No loader has it.
    Nowhere,
    /// The same value for all vertices.
    Fixed([f32; 4]),
    /// An array.
    Array(Array),
}

/// Where an attribute of a vertex is: `elements` of them (1 to 4) at `address` and each `stride` further on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Array {
    address: u32,
    pub stride: u32,
    pub element: Element,
    pub elements: u32,
}

/// The attributes of a draw.
#[derive(Clone, Debug)]
pub struct Loader {
    /// By attribute; those beyond the draw's number of attributes are not there.
    sources: Vec<Source>,
    permutation: [usize; 16],
    inputs: usize,
}

impl Loader {
    /// What the registers say; `fixed` are the fixed attributes.
    pub fn new(regs: &Registers, fixed: &Bank) -> Loader {
        Loader::retaining(regs, fixed, None)
    }

    /// The same where an attribute that no loader has is as in `retained`.
    pub(crate) fn retaining(regs: &Registers, fixed: &Bank, retained: Option<&Bank>) -> Loader {
        let mut arrays = [Source::Nowhere; ATTRIBUTES];
        (0..LOADERS).for_each(|i| walk(regs, i, &mut arrays));
        let count = (regs.bits(ATTRIBUTE_FORMATS_HIGH, 28, 4) as usize + 1).min(ATTRIBUTES);
        let sources =
            arrays.into_iter().zip(fixed).zip(0..).take(count).map(|((array, &value), i)| match array {
                _ if regs.bit(ATTRIBUTE_FORMATS_HIGH, 16 + i) => Source::Fixed(value),
                Source::Nowhere => retained
                    .and_then(|retained| retained.get(i as usize))
                    .map_or(Source::Nowhere, |&value| Source::Fixed(value)),
                array => array,
            });
        let kind = crate::shader::Kind::Vertex;
        Loader { sources: sources.collect(), permutation: kind.permutation(regs), inputs: kind.inputs(regs) }
    }

    /// Sets the registers of `inputs`, as many vertices as `vertices` has numbers. What lies outside memory reads as zero,
    /// and so does a register or an attribute that no loader has.
    pub fn load(&self, memory: &dyn Memory, vertices: &[u32], inputs: &mut Packed) {
        let stride = inputs.registers();
        for (place, source) in self.sources(inputs.set()).enumerate() {
            let places = inputs.values_mut().iter_mut().skip(place).step_by(stride);
            match source {
                Source::Nowhere => places.for_each(|place| *place = [0.0; 4]),
                Source::Fixed(value) => places.for_each(|place| *place = value),
                Source::Array(array) => array.load(memory, vertices, places),
            }
        }
    }

    /// Sets the attributes that a vertex has.
    pub(crate) fn load_attributes(&self, memory: &dyn Memory, vertex: u32, attributes: &mut Bank) {
        for (place, source) in attributes.iter_mut().zip(&self.sources) {
            match source {
                Source::Nowhere => {}
                Source::Fixed(value) => *place = *value,
                Source::Array(array) => array.load(memory, &[vertex], [place].into_iter()),
            }
        }
    }

    /// Where the registers of a set come from, lowest first.
    pub(crate) fn sources(&self, set: u16) -> impl Iterator<Item = Source> {
        // As many attributes as the unit takes: the rest of the loaded ones goes nowhere. Of several attributes of a register
        // the last counts.
        let attributes = self.sources.iter().zip(self.permutation).take(self.inputs);
        (0..16).filter(move |n| set >> n & 1 == 1).map(move |register| {
            attributes.clone().rfind(|a| a.1 == register).map_or(Source::Nowhere, |a| *a.0)
        })
    }
}

impl Array {
    fn load<'p>(
        &self,
        memory: &dyn Memory,
        vertices: &[u32],
        places: impl Iterator<Item = &'p mut [f32; 4]>,
    ) {
        match self.element {
            Element::S8 => self.load_as(memory, vertices, places, |[b]: [u8; 1]| f32::from(b as i8)),
            Element::U8 => self.load_as(memory, vertices, places, |[b]: [u8; 1]| f32::from(b)),
            Element::S16 => self.load_as(memory, vertices, places, |b| f32::from(i16::from_le_bytes(b))),
            Element::F32 => self.load_as(memory, vertices, places, f32::from_le_bytes),
        }
    }

    /// Loads elements of `SIZE` bytes. Integers are converted, not normalised.
    fn load_as<'p, const SIZE: usize>(
        &self,
        memory: &dyn Memory,
        vertices: &[u32],
        places: impl Iterator<Item = &'p mut [f32; 4]>,
        value: impl Fn([u8; SIZE]) -> f32 + Copy,
    ) {
        match self.elements {
            1 => self.load_elements::<SIZE, 1>(memory, vertices, places, value),
            2 => self.load_elements::<SIZE, 2>(memory, vertices, places, value),
            3 => self.load_elements::<SIZE, 3>(memory, vertices, places, value),
            _ => self.load_elements::<SIZE, 4>(memory, vertices, places, value),
        }
    }

    fn load_elements<'p, const SIZE: usize, const COUNT: usize>(
        &self,
        memory: &dyn Memory,
        vertices: &[u32],
        places: impl Iterator<Item = &'p mut [f32; 4]>,
        value: impl Fn([u8; SIZE]) -> f32,
    ) {
        let bytes = self.span(memory, vertices);
        for (place, &vertex) in places.zip(vertices) {
            let elements = match bytes {
                // A guest's whole array is looked up once.
                Some((first, bytes)) => {
                    let at = (vertex.wrapping_sub(first) as usize).wrapping_mul(self.stride as usize);
                    bytes.get(at..).and_then(|b| b.get(..SIZE * COUNT))
                }
                None => memory.bytes(
                    self.address.wrapping_add(self.stride.wrapping_mul(vertex)),
                    (SIZE * COUNT) as u32,
                ),
            };
            let elements = elements.and_then(|b| b.as_chunks::<SIZE>().0.first_chunk::<COUNT>());
            // Where an array has too few elements, and is memory at all, y, z and w are 0, 0 and 1.
            *place = [0.0, 0.0, 0.0, if COUNT < 4 { 1.0 } else { 0.0 }];
            for (place, &bytes) in place.iter_mut().zip(elements.into_iter().flatten()) {
                *place = value(bytes);
            }
        }
    }

    /// The bytes of all of `vertices`, from the lowest one on, which is given, too. Nothing where they are not all memory, or
    /// addresses wrap.
    fn span<'m>(&self, memory: &'m dyn Memory, vertices: &[u32]) -> Option<(u32, &'m [u8])> {
        let (first, last) = (vertices.iter().copied().min()?, vertices.iter().copied().max()?);
        let range = self.range(first, last)?;
        Some((first, memory.bytes(range.start, range.end - range.start)?))
    }

    /// The addresses of the vertices from `first` to `last`. Nothing where they wrap.
    pub(crate) fn range(&self, first: u32, last: u32) -> Option<Range<u32>> {
        let start = self.address.checked_add(self.stride.checked_mul(first)?)?;
        let len = self.stride.checked_mul(last.checked_sub(first)?)?;
        Some(start..start.checked_add(len.checked_add(self.element.size() * self.elements)?)?)
    }
}

/// Physical address that arrays are relative to.
pub(crate) fn attribute_base(regs: &Registers) -> u32 {
    regs.bits(ATTRIBUTE_BASE, 1, 28) * 16
}

/// Finds the places of a loader's attributes. Of several loaders with an attribute the last counts.
fn walk(regs: &Registers, number: u32, arrays: &mut [Source; ATTRIBUTES]) {
    let first = LOADER + number * 3;
    let base = attribute_base(regs).wrapping_add(regs.bits(first, 0, 28));
    let components = u64::from(regs.get(first + 1)) | u64::from(regs.bits(first + 2, 0, 16)) << 32;
    let stride = regs.bits(first + 2, 16, 8);
    let count = regs.bits(first + 2, 28, 4).min(12);
    let formats = u64::from(regs.get(ATTRIBUTE_FORMATS)) | u64::from(regs.get(ATTRIBUTE_FORMATS_HIGH)) << 32;
    let mut offset = 0u32;
    for i in 0..count {
        let component = components >> (4 * i) & 15;
        let Some(slot) = arrays.get_mut(component as usize) else {
            // 12 to 15 are padding of 4 to 16 bytes.
            offset = offset.next_multiple_of(4) + (component as u32 - 11) * 4;
            continue;
        };
        let format = (formats >> (4 * component)) as u32;
        let (element, elements) = (Element::of(format), (format >> 2 & 3) + 1);
        offset = offset.next_multiple_of(element.size());
        *slot = Source::Array(Array { address: base.wrapping_add(offset), stride, element, elements });
        offset += element.size() * elements;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{FCRAM, Regions};

    const IDENTITY: [u32; 2] = [0x7654_3210, 0xfedc_ba98];

    fn registers(attributes: u32, formats: u32) -> Registers {
        let mut regs = Registers::default();
        regs.set(ATTRIBUTE_BASE, FCRAM / 8);
        regs.set(ATTRIBUTE_FORMATS, formats);
        regs.set(ATTRIBUTE_FORMATS_HIGH, (attributes - 1) << 28);
        regs.set(VERTEX_INPUTS, attributes - 1);
        regs.set(VERTEX_PERMUTATION, IDENTITY[0]);
        regs.set(VERTEX_PERMUTATION + 1, IDENTITY[1]);
        regs
    }

    fn load(regs: &Registers, bytes: &[u8], vertices: &[u32]) -> Vec<Bank> {
        let mut memory = Regions::new();
        memory.add(FCRAM, bytes.to_vec());
        let mut fixed = Bank::default();
        fixed[1] = [9.0; 4];
        let mut inputs = Packed::default();
        inputs.reset(u16::MAX, vertices.len());
        inputs.values_mut().fill([f32::NAN; 4]);
        Loader::new(regs, &fixed).load(&memory, vertices, &mut inputs);
        inputs.values().as_chunks().0.to_vec()
    }

    fn loader(regs: &mut Registers, number: u32, offset: u32, components: u64, stride: u32, count: u32) {
        let first = LOADER + number * 3;
        regs.set(first, offset);
        regs.set(first + 1, components as u32);
        regs.set(first + 2, (components >> 32) as u32 | stride << 16 | count << 28);
    }

    #[test]
    fn every_format_with_missing_elements() {
        // Two s8, one u8, three s16, four f32: each on its own alignment.
        let mut regs = registers(4, 0xf << 12 | 0xa << 8 | 0x1 << 4 | 0x4);
        loader(&mut regs, 0, 0, 0x3210, 28, 4);
        let mut bytes = vec![0xff, 2, 200, 0xee];
        bytes.extend([-300i16, 4, 5].iter().flat_map(|v| v.to_le_bytes()));
        bytes.extend([0xee; 2]);
        bytes.extend([1.5f32, -2.0, 0.25, 8.0].iter().flat_map(|v| v.to_le_bytes()));
        let inputs = load(&regs, &bytes, &[0]);
        assert_eq!(inputs[0][0], [-1.0, 2.0, 0.0, 1.0]);
        assert_eq!(inputs[0][1], [200.0, 0.0, 0.0, 1.0]);
        assert_eq!(inputs[0][2], [-300.0, 4.0, 5.0, 1.0]);
        assert_eq!(inputs[0][3], [1.5, -2.0, 0.25, 8.0]);
    }

    #[test]
    fn padding_stride_and_offsets() {
        // A byte, padding of eight bytes from the next word on, a byte.
        let mut regs = registers(2, 0x11);
        loader(&mut regs, 3, 1, 0x1d0, 20, 3);
        let bytes: Vec<u8> = (0..64).collect();
        let inputs = load(&regs, &bytes, &[0, 2]);
        assert_eq!([inputs[0][0][0], inputs[0][1][0]], [1.0, 13.0]);
        assert_eq!([inputs[1][0][0], inputs[1][1][0]], [41.0, 53.0]);
    }

    #[test]
    fn fixed_attributes_win_and_the_permutation_places_them() {
        let mut regs = registers(2, 0x11);
        regs.set(ATTRIBUTE_FORMATS_HIGH, 1 << 28 | 1 << 17);
        regs.set(VERTEX_PERMUTATION, 0x5a);
        loader(&mut regs, 0, 0, 0x10, 2, 2);
        let inputs = load(&regs, &[7, 8], &[0]);
        assert_eq!(inputs[0][10], [7.0, 0.0, 0.0, 1.0]);
        assert_eq!(inputs[0][5], [9.0; 4]);
        assert_eq!(inputs[0][0], [0.0; 4]);
    }

    #[test]
    fn outside_memory_is_zero() {
        let mut regs = registers(1, 0xb);
        loader(&mut regs, 0, 0, 0, 12, 1);
        let inputs = load(&regs, &[0x3f; 12], &[0, 1, u32::MAX]);
        assert_ne!(inputs[0][0][0], 0.0);
        assert_eq!(inputs[1][0], [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(inputs[2][0], [0.0, 0.0, 0.0, 1.0]);
    }
}
