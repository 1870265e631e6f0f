//! A test program as a compute kernel or vertex shader, its buffers, and how its results are read back.

use super::compare::Observed;
use super::format::{Event, Set, TestProgram};
use xenoglot_pica_shader::lift::layout::*;
use xenoglot_pica_shader::lift::record::{self, Sent};
use xenoglot_pica_shader::lift::{
    GeometryWrapper, LiftError, LiftOptions, Lifted, VertexOutputs, Wrapper, lift,
};

/// EMITs of an invocation: more than any program of the suite.
const EMIT_CAPACITY: u32 = 256;

/// Lifts as a compute kernel of one invocation that counts its instructions.
pub fn compute(p: &TestProgram) -> Result<Lifted, LiftError> {
    let geometry =
        p.geometry.then_some(GeometryWrapper { output_mask: p.output_mask, emit_capacity: EMIT_CAPACITY });
    let wrapper = Wrapper::Compute { workgroup: 1, persistent: false, geometry };
    let options = LiftOptions::compute(p.entry.into());
    lift(&p.program, &LiftOptions { wrapper, count_steps: true, ..options })
}

/// Lifts as a vertex shader that gives all output registers at their locations.
pub fn vertex(p: &TestProgram) -> Result<Lifted, LiftError> {
    let options = LiftOptions::vertex(p.entry.into(), VertexOutputs::Registers(u16::MAX));
    lift(&p.program, &options)
}

fn words_to_bytes<'w>(words: impl IntoIterator<Item = &'w u32>) -> Vec<u8> {
    words.into_iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// The words of little-endian bytes; a rest of less than a word is dropped.
pub fn bytes_to_words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

/// The uniform buffer.
pub fn uniforms(p: &TestProgram, set: &Set) -> Vec<u8> {
    uniform_buffer(p.floats.iter().copied(), set.ints, set.bools).to_vec()
}

/// The input buffer.
pub fn inputs(set: &Set) -> Vec<u8> {
    words_to_bytes(&set.inputs)
}

/// Size of the state buffer.
pub fn state_size(p: &TestProgram) -> usize {
    (if p.geometry { GEOMETRY_STATE_STRIDE } else { VERTEX_STATE_STRIDE }) as usize
}

/// Size of the event buffer; 0 if there is none.
pub fn event_size(p: &TestProgram) -> usize {
    if p.geometry { event_stride(EMIT_CAPACITY) as usize } else { 0 }
}

fn word(words: &[u32], at: u32) -> u32 {
    words.get(at as usize / 4).copied().unwrap_or(0)
}

fn slice(words: &[u32], at: u32, n: usize) -> Vec<u32> {
    words.iter().skip(at as usize / 4).take(n).copied().collect()
}

/// Reads the state and event buffers back.
pub fn observe(p: &TestProgram, state: &[u8], events: &[u8]) -> Result<Observed, String> {
    let sent = if p.geometry { record::sent(state, events, EMIT_CAPACITY) } else { Sent::default() };
    if sent.lost != 0 {
        return Err(format!("{} EMITs more than the {EMIT_CAPACITY} there is room for", sent.lost));
    }
    Ok(observe_sent(p, state, sent.events))
}

/// As [`observe`], with what was sent.
pub fn observe_sent(p: &TestProgram, state: &[u8], sent: Vec<record::Event>) -> Observed {
    let packed = |registers: Box<[[u32; 4]; 16]>| {
        let masked = (0..16).filter(|n| p.output_mask >> n & 1 == 1);
        Event::Vertex(masked.flat_map(|n| registers[n]).collect())
    };
    let events = sent.into_iter().map(|e| match e {
        record::Event::Winding => Event::Winding,
        record::Event::Vertex(registers) => packed(registers),
    });
    let events = events.collect();
    let state = bytes_to_words(state);
    let address = [0, 4, 8].map(|at| word(&state, STATE_ADDRESS + at) as i32);
    let flags = word(&state, STATE_ADDRESS + 12);
    Observed {
        outputs: slice(&state, STATE_OUTPUTS, 64),
        temps: Some(slice(&state, STATE_TEMPS, 64)),
        address: Some(address),
        flags: Some([flags & 1 != 0, flags & 2 != 0]),
        steps: Some(word(&state, STATE_COUNTERS)),
        may_flush: false,
        events,
    }
}
