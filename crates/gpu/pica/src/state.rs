//! Save states: what a GPU keeps from one call to the next, as bytes.
//!
//! A state is [`MAGIC`], [`VERSION`] and a CRC-32 (that of zlib) of the rest, then the parts in postcard's encoding. Guest
//! memory is not in it. States are not trusted: one that no GPU can be in is refused.
//!
//! Version 1 is read, too. It ends before gas's table, attributes that are kept and the early depth test's buffer, which then
//! are as after reset.
//!
//! ```
//! use xenoglot_pica::gpu::Gpu;
//! use xenoglot_pica::memory::{FCRAM, Regions};
//! use xenoglot_pica::raster::Renderer;
//! use xenoglot_pica::regs::FOG_COLOR;
//!
//! let mut memory = Regions::console(1 << 20);
//! let mut gpu = Gpu::new(Renderer::default());
//! gpu.write_register(&mut memory, FOG_COLOR, 0x80_4020);
//! let state = gpu.save_state(&mut memory);
//! // Another GPU, perhaps with another renderer and other engines, goes on with a copy of the memory.
//! let mut other = Gpu::new(Renderer::default());
//! other.load_state(&state)?;
//! assert_eq!(other.registers(), gpu.registers());
//! # Ok::<(), xenoglot_pica::state::StateError>(())
//! ```

use crate::assembly::{Assembly, Topology};
use crate::early_depth::EarlyDepth;
use crate::geometry::Collector;
use crate::immediate::Immediate;
use crate::regs::{COUNT, Registers};
use crate::shader::{
    Bank, FLOAT_UNIFORMS, Feed, GeometryState, GeometryUnit, UniformPort, Uniforms, Unit, Upload, Words,
};
use crate::tables::Tables;
use crate::vertex::Vertex;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use xenoglot_pica_shader::lift::layout::STATE_SETEMIT;
use xenoglot_pica_shader::program::{MAX_CODE_WORDS, MAX_DESCRIPTORS};

/// First bytes of a state.
pub const MAGIC: [u8; 4] = *b"XPIC";
/// Version of the layout that is written. Older ones are read, newer ones refused.
pub const VERSION: u32 = 2;

/// Bytes of magic, version and checksum.
const HEAD: usize = 12;
/// Limit on the bytes of a state; the largest has about 30,000 words of up to five bytes, and two million depths of up to
/// four, each with a byte for its run.
const MAX_BYTES: usize = (1 << 19) + 5 * (1 << 21);

/// Why a state was not taken.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum StateError {
    /// The bytes do not start as a state does.
    #[error("not a state of a PICA200: it does not start with {}", MAGIC.escape_ascii())]
    Magic,
    /// Of a version that there is not yet.
    #[error("version {0} of the layout; this reads 1 to {VERSION}")]
    Version(u32),
    /// More bytes than a state has.
    #[error("{0} bytes are too many for a state")]
    Size(usize),
    /// The checksum does not match: the state is damaged.
    #[error("its checksum is {got:08x}, not {wanted:08x}")]
    Checksum {
        /// The checksum of its bytes.
        got: u32,
        /// The checksum that it states.
        wanted: u32,
    },
    /// It ends early, goes on after its end or is not encoded as a state.
    #[error("at byte {offset:#x}: {reason}")]
    Encoding {
        /// Offset in the state from which on it could not be read.
        offset: usize,
        /// What is wrong.
        reason: postcard::Error,
    },
    /// A part that a GPU cannot have.
    #[error("the state of {0} is impossible")]
    Contents(&'static str),
}

/// All that lasts from one call to the next.
pub(crate) struct Parts {
    pub regs: Registers,
    pub tables: Tables,
    /// Geometry and vertex unit.
    pub units: [Unit; 2],
    pub ports: [UniformPort; 2],
    pub unit: GeometryUnit,
    pub immediate: Immediate,
    pub assembly: Assembly,
    pub collector: Collector,
    pub interrupts: u64,
    pub retained: Bank,
    pub early_depth: EarlyDepth,
}

/// [`Parts`] as they are encoded. Floats are stored as bits, so that NaNs keep their payloads.
#[derive(Serialize, Deserialize)]
struct Encoded {
    registers: Vec<u32>,
    tables: Vec<u32>,
    units: [EncodedUnit; 2],
    geometry: EncodedGeometry,
    immediate: EncodedImmediate,
    assembly: EncodedAssembly,
    collector: EncodedCollector,
    interrupts: u64,
}

/// What version 2 has behind that.
#[derive(Default, Serialize, Deserialize)]
struct EncodedMore {
    gas: [u32; 16],
    retained: [Words; 16],
    /// What the early depth test's buffer was cleared to, and its runs.
    cleared: u32,
    depths: Vec<(u32, u32)>,
}

/// A shader unit and its uniform port.
#[derive(Serialize, Deserialize)]
struct EncodedUnit {
    code: Vec<u32>,
    descriptors: Vec<u32>,
    floats: Vec<Words>,
    /// x, y, z, w from the lowest byte.
    ints: [u32; 4],
    bools: u16,
    /// Words of the uniform that is under way.
    begun: Vec<u32>,
}

#[derive(Serialize, Deserialize)]
struct EncodedGeometry {
    record: Vec<u8>,
    inputs: [Words; 16],
}

#[derive(Serialize, Deserialize)]
struct EncodedImmediate {
    begun: Vec<u32>,
    fixed: [Words; 16],
    vertex: [Words; 16],
    attributes: u32,
}

#[derive(Serialize, Deserialize)]
struct EncodedAssembly {
    topology: u32,
    slots: [[u32; 24]; 2],
    next: u32,
    ready: bool,
    reversed: bool,
}

#[derive(Serialize, Deserialize)]
struct EncodedCollector {
    inputs: Vec<(u32, Words)>,
    uniforms: Vec<(u32, Words)>,
    have: u32,
    total: Option<u32>,
    next: u32,
}

/// The state of these parts.
pub(crate) fn save(parts: &Parts) -> Vec<u8> {
    let [geometry, vertex] = &parts.units;
    let [geometry_port, vertex_port] = &parts.ports;
    let encoded = Encoded {
        registers: (0..COUNT as u32).map(|n| parts.regs.get(n)).collect(),
        tables: slices(&parts.tables).concat(),
        units: [EncodedUnit::new(geometry, geometry_port), EncodedUnit::new(vertex, vertex_port)],
        geometry: EncodedGeometry {
            record: parts.unit.state.record.clone(),
            inputs: bits(&parts.unit.inputs),
        },
        immediate: EncodedImmediate::new(&parts.immediate),
        assembly: EncodedAssembly::new(&parts.assembly),
        collector: EncodedCollector::new(&parts.collector),
        interrupts: parts.interrupts,
    };
    let (cleared, depths) = parts.early_depth.runs();
    let more = EncodedMore { gas: parts.tables.gas, retained: bits(&parts.retained), cleared, depths };
    // This cannot fail: a vector grows as needed, and all sequences know their lengths.
    let payload = postcard::to_stdvec(&(encoded, more)).unwrap_or_default();
    let head = [VERSION.to_le_bytes(), crc32fast::hash(&payload).to_le_bytes()];
    [MAGIC.as_slice(), head.as_flattened(), &payload].concat()
}

/// The parts of a state.
pub(crate) fn load(state: &[u8]) -> Result<Parts, StateError> {
    if state.len() > MAX_BYTES {
        return Err(StateError::Size(state.len()));
    }
    let (head, payload) = state.split_first_chunk::<HEAD>().ok_or(StateError::Magic)?;
    let &[a, b, c, d, e, f, g, h, i, j, k, l] = head;
    if [a, b, c, d] != MAGIC {
        return Err(StateError::Magic);
    }
    let version = u32::from_le_bytes([e, f, g, h]);
    if !(1..=VERSION).contains(&version) {
        return Err(StateError::Version(version));
    }
    let (got, wanted) = (crc32fast::hash(payload), u32::from_le_bytes([i, j, k, l]));
    if got != wanted {
        return Err(StateError::Checksum { got, wanted });
    }
    let bad = |offset, reason| StateError::Encoding { offset, reason };
    let (encoded, rest) = postcard::take_from_bytes::<Encoded>(payload).map_err(|e| bad(HEAD, e))?;
    let (more, rest) = match version {
        1 => (EncodedMore::default(), rest),
        _ => postcard::take_from_bytes(rest).map_err(|e| bad(state.len() - rest.len(), e))?,
    };
    if !rest.is_empty() {
        return Err(bad(state.len() - rest.len(), postcard::Error::DeserializeBadEncoding));
    }
    encoded.parts(more)
}

impl Encoded {
    fn parts(self, more: EncodedMore) -> Result<Parts, StateError> {
        let [geometry, vertex] = self.units;
        let (geometry, geometry_port) = geometry.parts().ok_or(StateError::Contents("the geometry unit"))?;
        let (vertex, vertex_port) = vertex.parts().ok_or(StateError::Contents("the vertex unit"))?;
        Ok(Parts {
            regs: registers(&self.registers).ok_or(StateError::Contents("the registers"))?,
            tables: tables(&self.tables, more.gas).ok_or(StateError::Contents("the tables"))?,
            units: [geometry, vertex],
            ports: [geometry_port, vertex_port],
            unit: self.geometry.parts().ok_or(StateError::Contents("the geometry unit's registers"))?,
            immediate: self.immediate.parts().ok_or(StateError::Contents("immediate mode"))?,
            assembly: self.assembly.parts().ok_or(StateError::Contents("primitive assembly"))?,
            collector: self.collector.parts().ok_or(StateError::Contents("the geometry stage"))?,
            interrupts: self.interrupts,
            retained: floats(&more.retained),
            early_depth: EarlyDepth::from_runs(more.cleared, &more.depths)
                .ok_or(StateError::Contents("the early depth test"))?,
        })
    }
}

fn bits<const N: usize>(bank: &[[f32; 4]; N]) -> [Words; N] {
    bank.map(|register| register.map(f32::to_bits))
}

fn floats<const N: usize>(words: &[Words; N]) -> [[f32; 4]; N] {
    words.map(|register| register.map(f32::from_bits))
}

fn registers(words: &[u32]) -> Option<Registers> {
    let mut regs = Registers::default();
    (words.len() == COUNT).then(|| (0..).zip(words).for_each(|(n, &word)| regs.set(n, word)))?;
    Some(regs)
}

/// All tables but gas's, one after the other.
fn slices(tables: &Tables) -> [&[u32]; 7] {
    let Tables { lighting, fog, noise, color_map, alpha_map, colors, color_differences, gas: _ } = tables;
    [lighting.as_flattened(), fog, noise, color_map, alpha_map, colors, color_differences]
}

fn tables(words: &[u32], gas: [u32; 16]) -> Option<Tables> {
    let mut all = Tables { gas, ..Tables::default() };
    let Tables { lighting, fog, noise, color_map, alpha_map, colors, color_differences, gas: _ } = &mut all;
    let mut rest = words;
    for table in [lighting.as_flattened_mut(), fog, noise, color_map, alpha_map, colors, color_differences] {
        let (words, tail) = rest.split_at_checked(table.len())?;
        table.copy_from_slice(words);
        rest = tail;
    }
    rest.is_empty().then_some(all)
}

impl EncodedUnit {
    fn new(unit: &Unit, port: &UniformPort) -> EncodedUnit {
        let program = unit.clone().source();
        EncodedUnit {
            code: program.program.code.clone(),
            descriptors: program.program.descriptors.clone(),
            floats: (0..FLOAT_UNIFORMS).map(|n| unit.uniforms.float(n).map(f32::to_bits)).collect(),
            // Components are bytes.
            ints: [0, 1, 2, 3].map(|n| u32::from_le_bytes(unit.uniforms.int(n).map(|c| c as u8))),
            bools: unit.uniforms.bools(),
            begun: port.begun().to_vec(),
        }
    }

    fn parts(&self) -> Option<(Unit, UniformPort)> {
        let fits = self.code.len() <= MAX_CODE_WORDS
            && self.descriptors.len() <= MAX_DESCRIPTORS
            && self.floats.len() == FLOAT_UNIFORMS as usize;
        let mut uniforms = Uniforms::default();
        (0..).zip(&self.floats).for_each(|(n, &value)| uniforms.set_float(n, value));
        (0..).zip(self.ints).for_each(|(n, value)| uniforms.set_int(n, value));
        uniforms.set_bools(self.bools);
        let mut unit = Unit::default();
        unit.uniforms = uniforms;
        (0..).zip(&self.code).for_each(|(n, &word)| unit.take(Upload::Code(n, word)));
        (0..).zip(&self.descriptors).for_each(|(n, &word)| unit.take(Upload::Descriptor(n, word)));
        Some((unit, UniformPort::resume(&self.begun)?)).filter(|_| fits)
    }
}

impl EncodedGeometry {
    fn parts(self) -> Option<GeometryUnit> {
        let usual = GeometryState::default().record.len();
        let emitter = self.record.get(STATE_SETEMIT as usize..)?.as_chunks::<4>().0;
        let [vertex, primitive, winding] = emitter.first_chunk()?.map(u32::from_le_bytes);
        let is_possible = self.record.len() == usual && vertex <= 3 && primitive <= 1 && winding <= 1;
        let state = GeometryState { record: self.record };
        is_possible.then(|| GeometryUnit { state, inputs: floats(&self.inputs) })
    }
}

impl EncodedImmediate {
    fn new(immediate: &Immediate) -> EncodedImmediate {
        // Vertices do not wait from one call to the next.
        let Immediate { words, len, fixed, vertex, attributes, pending: _ } = immediate;
        EncodedImmediate {
            begun: words.get(..*len).unwrap_or_default().to_vec(),
            fixed: bits(fixed),
            vertex: bits(vertex),
            attributes: *attributes as u32,
        }
    }

    fn parts(&self) -> Option<Immediate> {
        let mut words = [0; 3];
        words.get_mut(..self.begun.len())?.copy_from_slice(&self.begun);
        let is_possible = self.begun.len() < words.len() && self.attributes < 16;
        is_possible.then(|| Immediate {
            words,
            len: self.begun.len(),
            fixed: floats(&self.fixed),
            vertex: floats(&self.vertex),
            attributes: self.attributes as usize,
            pending: Vec::new(),
        })
    }
}

impl EncodedAssembly {
    fn new(assembly: &Assembly) -> EncodedAssembly {
        let Assembly { topology, slots, next, ready, reversed } = assembly;
        EncodedAssembly {
            topology: *topology as u32,
            slots: slots.map(|vertex| vertex.values.map(f32::to_bits)),
            next: *next as u32,
            ready: *ready,
            reversed: *reversed,
        }
    }

    fn parts(&self) -> Option<Assembly> {
        let topology = Topology::of(self.topology);
        (topology as u32 == self.topology && self.next <= 2).then(|| Assembly {
            topology,
            slots: self.slots.map(|values| Vertex { values: values.map(f32::from_bits) }),
            next: self.next as usize,
            ready: self.ready,
            reversed: self.reversed,
        })
    }
}

impl EncodedCollector {
    fn new(collector: &Collector) -> EncodedCollector {
        let Collector { feed: Feed { inputs, uniforms }, have, total, next } = collector;
        let words = |value: &[f32; 4]| value.map(f32::to_bits);
        EncodedCollector {
            inputs: inputs.iter().map(|(register, value)| (*register as u32, words(value))).collect(),
            uniforms: uniforms.iter().map(|(register, value)| (*register, words(value))).collect(),
            have: *have,
            total: *total,
            next: *next,
        }
    }

    fn parts(&self) -> Option<Collector> {
        let registers = Bank::default().len();
        let is_possible = self.inputs.len() <= registers
            && self.inputs.iter().all(|&(register, _)| (register as usize) < registers)
            && self.uniforms.iter().all(|&(register, _)| register < FLOAT_UNIFORMS);
        let value = |words: &Words| words.map(f32::from_bits);
        is_possible.then(|| Collector {
            feed: Feed {
                inputs: self
                    .inputs
                    .iter()
                    .map(|(register, words)| (*register as usize, value(words)))
                    .collect(),
                uniforms: self.uniforms.iter().map(|(register, words)| (*register, value(words))).collect(),
            },
            have: self.have,
            total: self.total,
            next: self.next,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts() -> Parts {
        let mut geometry = Unit::default();
        geometry.take(Upload::Code(4095, 7));
        geometry.take(Upload::Int(2, 0x0403_0201));
        let mut unit = GeometryUnit::default();
        unit.inputs[3] = [f32::from_bits(0x7fc0_1234); 4];
        let mut collector = Collector::default();
        collector.count(3);
        Parts {
            regs: Registers::default(),
            tables: Tables { fog: [9; 128], gas: [4; 16], ..Tables::default() },
            units: [geometry, Unit::default()],
            ports: [UniformPort::resume(&[1, 2]).unwrap(), UniformPort::default()],
            unit,
            immediate: Immediate { len: 2, words: [5, 6, 0], ..Immediate::default() },
            assembly: Assembly { next: 2, topology: Topology::Fan, ..Assembly::default() },
            collector,
            interrupts: 3,
            retained: [[f32::from_bits(0x7fc0_4321); 4]; 16],
            early_depth: EarlyDepth::from_runs(7, &[(1, 2), (3, 4)]).unwrap(),
        }
    }

    /// The same state with a payload of one's own, and its checksum.
    fn seal(payload: &[u8]) -> Vec<u8> {
        let head = [VERSION.to_le_bytes(), crc32fast::hash(payload).to_le_bytes()];
        [MAGIC.as_slice(), head.as_flattened(), payload].concat()
    }

    #[test]
    fn a_state_is_read_to_the_same() {
        let state = save(&parts());
        let again = load(&state).unwrap();
        assert_eq!(save(&again), state);
        assert_eq!((again.tables.fog, again.tables.gas), ([9; 128], [4; 16]));
        assert_eq!(again.retained[15][3].to_bits(), 0x7fc0_4321);
        assert_eq!([0, 5, 6].map(|place| again.early_depth.get(place)), [1, 3, 7]);
        assert_eq!(again.unit.inputs[3][0].to_bits(), 0x7fc0_1234);
    }

    /// What version 1 has is the beginning of what is written now.
    #[test]
    fn version_1_is_read() {
        let parts = parts();
        let (_, rest) =
            postcard::take_from_bytes::<Encoded>(&save(&parts)[HEAD..]).map(|(e, r)| (e, r.len())).unwrap();
        let state = save(&parts);
        let old = &state[HEAD..state.len() - rest];
        let head = [1u32.to_le_bytes(), crc32fast::hash(old).to_le_bytes()];
        let again = load(&[MAGIC.as_slice(), head.as_flattened(), old].concat()).unwrap();
        assert_eq!((again.tables.fog, again.tables.gas), ([9; 128], [0; 16]));
        assert_eq!((again.retained, again.early_depth), (Bank::default(), EarlyDepth::default()));
        assert_eq!(again.interrupts, 3);
    }

    #[test]
    fn what_is_no_state_is_refused() {
        let state = save(&parts());
        let error = |state: &[u8]| load(state).err().unwrap();
        assert_eq!(error(&[]), StateError::Magic);
        assert_eq!(error(&[b"NDS0", &state[4..]].concat()), StateError::Magic);
        assert_eq!(error(&[&state[..4], &[9, 0, 0, 0], &state[8..]].concat()), StateError::Version(9));
        let mut damaged = state.clone();
        *damaged.last_mut().unwrap() ^= 1;
        assert!(matches!(error(&damaged), StateError::Checksum { .. }));
        let payload = &state[HEAD..];
        let longer = seal(&[payload, &[0]].concat());
        assert!(matches!(error(&longer), StateError::Encoding { offset, .. } if offset == longer.len() - 1));
        assert!(matches!(error(&seal(&payload[..100])), StateError::Encoding { .. }));
        assert_eq!(error(&vec![0; MAX_BYTES + 1]), StateError::Size(MAX_BYTES + 1));
        let mut wrong = parts();
        wrong.assembly.next = 3;
        assert_eq!(error(&save(&wrong)), StateError::Contents("primitive assembly"));
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(256))]

        #[test]
        fn any_payload_is_read_or_refused(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8)) {
            let state = save(&parts());
            let mut payload = state[HEAD..].to_vec();
            for (at, byte) in changes {
                let at = at.index(payload.len());
                payload[at] = byte;
            }
            if let Ok(parts) = load(&seal(&payload)) {
                let state = save(&parts);
                prop_assert_eq!(save(&load(&state).unwrap()), state);
            }
        }
    }
}
