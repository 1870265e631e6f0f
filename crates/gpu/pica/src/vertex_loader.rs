//! From arrays in memory to vertex attributes (vectors/picagpu/FORMAT.md, section 4).

use crate::memory::Memory;
use crate::regs::*;
use crate::shader::Bank;

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

    /// The value of [`Element::size`] bytes. Integers are converted, not normalised.
    fn value(self, bytes: &[u8]) -> f32 {
        match (self, bytes) {
            (Element::S8, &[b]) => f32::from(b as i8),
            (Element::U8, &[b]) => f32::from(b),
            (Element::S16, &[a, b]) => f32::from(i16::from_le_bytes([a, b])),
            (Element::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
            _ => 0.0,
        }
    }
}

/// Where an attribute comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    /// No loader has it.
    Nowhere,
    /// The same value for all vertices.
    Fixed([f32; 4]),
    /// An array.
    Array { address: u32, stride: u32, element: Element, elements: u32 },
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
        let mut arrays = [Source::Nowhere; ATTRIBUTES];
        (0..LOADERS).for_each(|i| walk(regs, i, &mut arrays));
        let count = (regs.bits(ATTRIBUTE_FORMATS_HIGH, 28, 4) as usize + 1).min(ATTRIBUTES);
        let sources = arrays.into_iter().zip(fixed).zip(0..).take(count).map(|((array, &value), i)| {
            if regs.bit(ATTRIBUTE_FORMATS_HIGH, 16 + i) { Source::Fixed(value) } else { array }
        });
        let kind = crate::shader::Kind::Vertex;
        Loader { sources: sources.collect(), permutation: kind.permutation(regs), inputs: kind.inputs(regs) }
    }

    /// Adds the input registers of `vertices` to `inputs`. What lies outside memory reads as zero, and so does an
    /// attribute that no loader has.
    pub fn load(&self, memory: &dyn Memory, vertices: &[u32], inputs: &mut Vec<Bank>) {
        let first = inputs.len();
        inputs.resize(first + vertices.len(), Bank::default());
        let inputs = inputs.get_mut(first..).unwrap_or_default();
        // As many attributes as the unit takes: the rest of the loaded ones goes nowhere.
        for (source, register) in self.sources.iter().zip(self.permutation).take(self.inputs) {
            let places = inputs.iter_mut().filter_map(|bank| bank.get_mut(register));
            match *source {
                Source::Nowhere => places.for_each(|place| *place = [0.0; 4]),
                Source::Fixed(value) => places.for_each(|place| *place = value),
                Source::Array { address, stride, element, elements } => {
                    let size = element.size() * elements;
                    for (place, &vertex) in places.zip(vertices) {
                        let address = address.wrapping_add(stride.wrapping_mul(vertex));
                        *place = [0.0, 0.0, 0.0, 1.0];
                        match memory.bytes(address, size) {
                            Some(bytes) => {
                                let values = bytes.chunks_exact(element.size() as usize);
                                place.iter_mut().zip(values).for_each(|(p, v)| *p = element.value(v));
                            }
                            None => place.iter_mut().take(elements as usize).for_each(|p| *p = 0.0),
                        }
                    }
                }
            }
        }
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
        *slot = Source::Array { address: base.wrapping_add(offset), stride, element, elements };
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
        let mut inputs = Vec::new();
        Loader::new(regs, &fixed).load(&memory, vertices, &mut inputs);
        inputs
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
