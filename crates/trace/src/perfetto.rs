//! Perfetto traces: a sequence of `TracePacket`s with track descriptors and track events.
//!
//! The messages are the few fields needed of Perfetto's public schema (`protos/perfetto/trace/`: `trace_packet.proto`,
//! `track_event/track_event.proto`, `track_descriptor.proto`, `process_descriptor.proto`, `counter_descriptor.proto`,
//! `interned_data.proto`), with its field numbers. Names of events are interned. Times are nanoseconds.

use crate::chrome::lanes;
use crate::{Kind, Trace};
use prost::Message;
use std::io::{self, Write};

#[derive(Message)]
struct TracePacket {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    interned_data: Option<InternedData>,
    #[prost(uint32, optional, tag = "13")]
    sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Message)]
struct TrackEvent {
    #[prost(uint32, optional, tag = "9")]
    r#type: Option<u32>,
    #[prost(uint64, optional, tag = "10")]
    name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "11")]
    track_uuid: Option<u64>,
    #[prost(string, optional, tag = "23")]
    name: Option<String>,
    #[prost(int64, optional, tag = "30")]
    counter_value: Option<i64>,
}

#[derive(Message)]
struct InternedData {
    #[prost(message, repeated, tag = "2")]
    event_names: Vec<EventName>,
}

#[derive(Message)]
struct EventName {
    #[prost(uint64, optional, tag = "1")]
    iid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
}

#[derive(Message)]
struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(message, optional, tag = "3")]
    process: Option<ProcessDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    counter: Option<CounterDescriptor>,
}

#[derive(Message)]
struct ProcessDescriptor {
    #[prost(int32, optional, tag = "1")]
    pid: Option<i32>,
    #[prost(string, optional, tag = "6")]
    process_name: Option<String>,
}

#[derive(Message)]
struct CounterDescriptor {}

/// Tag of `Trace.packet`.
const PACKET: u32 = 1;
const SLICE_BEGIN: u32 = 1;
const SLICE_END: u32 = 2;
const COUNTER: u32 = 4;
/// `SEQ_INCREMENTAL_STATE_CLEARED`: the first packet, and what is interned starts here.
const CLEARED: u32 = 1;
/// `SEQ_NEEDS_INCREMENTAL_STATE`.
const NEEDS: u32 = 2;
const SEQUENCE: u32 = 1;
const PROCESS_UUID: u64 = 1;

fn track_uuid(n: usize) -> u64 {
    1000 + n as u64
}

struct Packets<'w, W: Write> {
    out: &'w mut W,
    buffer: Vec<u8>,
}

impl<W: Write> Packets<'_, W> {
    fn write(&mut self, packet: TracePacket) -> io::Result<()> {
        self.buffer.clear();
        let packet = TracePacket { trusted_packet_sequence_id: Some(SEQUENCE), ..packet };
        prost::encoding::message::encode(PACKET, &packet, &mut self.buffer);
        self.out.write_all(&self.buffer)
    }

    fn track(&mut self, uuid: u64, name: &str, counter: bool) -> io::Result<()> {
        let descriptor = TrackDescriptor {
            uuid: Some(uuid),
            name: Some(name.into()),
            parent_uuid: Some(PROCESS_UUID),
            counter: counter.then_some(CounterDescriptor {}),
            ..TrackDescriptor::default()
        };
        self.write(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() })
    }

    fn event(&mut self, timestamp: u64, event: TrackEvent) -> io::Result<()> {
        self.write(TracePacket {
            timestamp: Some(timestamp),
            track_event: Some(event),
            sequence_flags: Some(NEEDS),
            ..TracePacket::default()
        })
    }

    fn slice(&mut self, track: u64, ns: (u64, u64), name: TrackEvent) -> io::Result<()> {
        let (begin, end) = (Some(SLICE_BEGIN), Some(SLICE_END));
        self.event(ns.0, TrackEvent { r#type: begin, track_uuid: Some(track), ..name })?;
        self.event(ns.1, TrackEvent { r#type: end, track_uuid: Some(track), ..TrackEvent::default() })
    }
}

/// Writes a trace.
///
/// # Errors
/// The writer's.
pub fn write(trace: &Trace, out: &mut impl Write) -> io::Result<()> {
    let mut packets = Packets { out, buffer: Vec::new() };
    let names = trace.events.iter().enumerate().filter(|(_, (_, kind))| *kind != Kind::Idle);
    let interned = InternedData {
        event_names: names
            .map(|(n, (name, _))| EventName { iid: Some(n as u64 + 1), name: Some(name.clone()) })
            .collect(),
    };
    let process = TrackDescriptor {
        uuid: Some(PROCESS_UUID),
        process: Some(ProcessDescriptor { pid: Some(1), process_name: Some(trace.process.clone()) }),
        ..TrackDescriptor::default()
    };
    packets.write(TracePacket {
        track_descriptor: Some(process),
        interned_data: Some(interned),
        sequence_flags: Some(CLEARED),
        ..TracePacket::default()
    })?;
    let lanes = lanes(trace);
    let counters = trace.tracks.len();
    let phases = counters + trace.counters.len();
    for (n, track) in trace.tracks.iter().enumerate() {
        packets.track(track_uuid(n), &track.name, false)?;
    }
    for (n, counter) in trace.counters.iter().enumerate() {
        packets.track(track_uuid(counters + n), &counter.name, true)?;
    }
    for lane in 0..lanes.iter().max().map_or(0, |m| m + 1) {
        packets.track(track_uuid(phases + lane), &format!("phases {lane}"), false)?;
    }
    let ns = |start: u64, end: u64| (trace.nanoseconds(start), trace.nanoseconds(end));
    for (n, track) in trace.tracks.iter().enumerate() {
        for s in &track.spans {
            let name = TrackEvent { name_iid: Some(u64::from(s.event) + 1), ..TrackEvent::default() };
            packets.slice(track_uuid(n), ns(s.start, s.end()), name)?;
        }
    }
    for (phase, lane) in trace.phases.iter().zip(lanes) {
        let name = TrackEvent { name: Some(phase.name.clone()), ..TrackEvent::default() };
        packets.slice(track_uuid(phases + lane), ns(phase.start, phase.end), name)?;
    }
    for (n, counter) in trace.counters.iter().enumerate() {
        for &(tick, value) in &counter.samples {
            let track_uuid = Some(track_uuid(counters + n));
            let event = TrackEvent {
                r#type: Some(COUNTER),
                track_uuid,
                counter_value: Some(value),
                ..TrackEvent::default()
            };
            packets.event(trace.nanoseconds(tick), event)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Message)]
    struct File {
        #[prost(message, repeated, tag = "1")]
        packet: Vec<TracePacket>,
    }

    #[test]
    fn what_is_written_decodes() {
        let trace = crate::report::tests::sample();
        let mut bytes = Vec::new();
        write(&trace, &mut bytes).unwrap();
        let file = File::decode(bytes.as_slice()).unwrap();
        let events = file.packet.iter().filter_map(|p| p.track_event.as_ref());
        let begins = events.clone().filter(|e| e.r#type == Some(SLICE_BEGIN)).count();
        let spans: usize = trace.tracks.iter().map(|t| t.spans.len()).sum();
        assert_eq!(begins, spans + trace.phases.len());
        let samples: usize = trace.counters.iter().map(|c| c.samples.len()).sum();
        assert_eq!(events.filter(|e| e.r#type == Some(COUNTER)).count(), samples);
    }
}
