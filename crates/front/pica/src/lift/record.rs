//! Reads what a geometry kernel sent back out of its buffers.

use super::layout::{PRIMITIVE_STRIDE, STATE_COUNTERS, VERTEX_STRIDE, event_primitives};

/// A vertex or a change of winding, in the order the emitter sends them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Reverses the winding of the next triangle.
    Winding,
    /// A vertex: o0 to o15 as bits. Registers outside the output mask mean nothing.
    Vertex(Box<[[u32; 4]; 16]>),
}

/// What an invocation sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// In order.
    pub events: Vec<Event>,
    /// EMITs there was no room for.
    pub lost: u32,
}

/// Reads an invocation's part of the state buffer and of the event buffer, which has room for `capacity` EMITs. What lies
/// outside the given bytes reads as zero.
pub fn sent(state: &[u8], events: &[u8], capacity: u32) -> Sent {
    let word = |bytes: &[u8], at: u32| {
        let word = bytes.get(at as usize..).and_then(|rest| rest.first_chunk::<4>());
        word.map_or(0, |w| u32::from_le_bytes(*w))
    };
    let [primitives, emits] = [4, 8].map(|at| word(state, STATE_COUNTERS + at));
    let mut out = Sent { events: Vec::new(), lost: emits.saturating_sub(capacity) };
    let room = (events.len() as u32).saturating_sub(event_primitives(capacity)) / PRIMITIVE_STRIDE;
    for i in 0..primitives.min(capacity).min(room) {
        let at = event_primitives(capacity) + i * PRIMITIVE_STRIDE;
        if word(events, at) != 0 {
            out.events.push(Event::Winding);
        }
        for k in 1..4 {
            let vertex = word(events, at + 4 * k).saturating_mul(VERTEX_STRIDE);
            let register =
                |n: usize| [0, 4, 8, 12].map(|c| word(events, vertex.saturating_add(n as u32 * 16 + c)));
            out.events.push(Event::Vertex(Box::new(std::array::from_fn(register))));
        }
    }
    out
}
