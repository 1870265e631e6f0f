//! Perfetto traces: `TracePacket`s with track descriptors and track events, written part by part.
//!
//! The messages are the few fields needed of Perfetto's public schema (`protos/perfetto/trace/`: `trace_packet.proto`,
//! `trace_packet_defaults.proto`, `clock_snapshot.proto`, `track_event/track_event.proto`, `track_descriptor.proto`,
//! `process_descriptor.proto`, `counter_descriptor.proto`, `interned_data.proto`), with its field numbers.
//!
//! Each track is a packet sequence of its own, whose defaults say the track, whose names are interned and whose clock
//! counts nanoseconds since the packet before. What a track does is repetitive; written like that it is so to the byte,
//! and the compressed packets get small.

use crate::{Kind, Trace};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use prost::Message;
use prost::encoding::WireType;
use std::io::{self, Write};

#[derive(Message)]
struct TracePacket {
    #[prost(message, optional, tag = "6")]
    clock_snapshot: Option<ClockSnapshot>,
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    interned_data: Option<InternedData>,
    #[prost(uint32, optional, tag = "13")]
    sequence_flags: Option<u32>,
    #[prost(bytes = "vec", optional, tag = "50")]
    compressed_packets: Option<Vec<u8>>,
    #[prost(message, optional, tag = "59")]
    trace_packet_defaults: Option<TracePacketDefaults>,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Message)]
struct TracePacketDefaults {
    #[prost(message, optional, tag = "11")]
    track_event_defaults: Option<TrackEventDefaults>,
    #[prost(uint32, optional, tag = "58")]
    timestamp_clock_id: Option<u32>,
}

#[derive(Message)]
struct TrackEventDefaults {
    #[prost(uint64, optional, tag = "11")]
    track_uuid: Option<u64>,
}

#[derive(Message)]
struct ClockSnapshot {
    #[prost(message, repeated, tag = "1")]
    clocks: Vec<Clock>,
}

#[derive(Message)]
struct Clock {
    #[prost(uint32, optional, tag = "1")]
    clock_id: Option<u32>,
    #[prost(uint64, optional, tag = "2")]
    timestamp: Option<u64>,
    #[prost(bool, optional, tag = "3")]
    is_incremental: Option<bool>,
}

/// A field of [`TracePacket`].
#[derive(Message)]
struct SequenceId {
    #[prost(uint32, optional, tag = "10")]
    trusted_packet_sequence_id: Option<u32>,
}

#[derive(Message)]
struct TrackEvent {
    #[prost(uint32, optional, tag = "9")]
    r#type: Option<u32>,
    #[prost(uint64, optional, tag = "10")]
    name_iid: Option<u64>,
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

#[derive(Clone, Message)]
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
const PROCESS_UUID: u64 = 1;
/// The sequence that declares tracks.
const TRACKS: u32 = 1;
/// The sequence of the first track; others follow.
const FIRST: u32 = 2;
/// `BUILTIN_CLOCK_BOOTTIME`, the clock of traces.
const BOOTTIME: u32 = 6;
/// A clock of a sequence's own: these numbers are free from 64 to 127.
const SINCE_LAST: u32 = 64;
/// Bytes of packets that are compressed together.
const BLOCK: usize = 1 << 20;

/// Writes a trace part by part: what is held is a block of packets, however long the trace.
pub struct Writer<W: Write> {
    out: W,
    /// Packets that are not compressed yet.
    block: Vec<u8>,
    /// Names of events by number, with a number from 1 on where they are no idling.
    events: Vec<EventName>,
    /// Nanoseconds of the last packet of each sequence, from [`FIRST`] on.
    last: Vec<u64>,
    tracks: usize,
    counters: usize,
    /// When the last phase of each lane ends.
    lanes: Vec<u64>,
}

impl<W: Write> Writer<W> {
    /// Begins a trace of the machine that `trace` is of. What it did is not written yet.
    ///
    /// # Errors
    /// The writer's.
    pub fn new(out: W, trace: &Trace) -> io::Result<Writer<W>> {
        let names = (1..).zip(&trace.events).filter(|(_, (_, kind))| *kind != Kind::Idle);
        let events = names.map(|(iid, (name, _))| EventName { iid: Some(iid), name: Some(name.clone()) });
        let mut writer = Writer {
            out,
            block: Vec::new(),
            events: events.collect(),
            last: Vec::new(),
            tracks: trace.tracks.len(),
            counters: trace.counters.len(),
            lanes: Vec::new(),
        };
        let process = ProcessDescriptor { pid: Some(1), process_name: Some(trace.process.clone()) };
        let descriptor = TrackDescriptor {
            uuid: Some(PROCESS_UUID),
            process: Some(process),
            ..TrackDescriptor::default()
        };
        writer.packet(
            TRACKS,
            &TracePacket {
                track_descriptor: Some(descriptor),
                sequence_flags: Some(CLEARED),
                ..TracePacket::default()
            },
        )?;
        for track in &trace.tracks {
            writer.declare(&track.name, false)?;
        }
        for counter in &trace.counters {
            writer.declare(&counter.name, true)?;
        }
        Ok(writer)
    }

    /// Adds what happened after what was added before.
    ///
    /// # Errors
    /// The writer's.
    pub fn push(&mut self, part: &Trace) -> io::Result<()> {
        for (n, track) in part.tracks.iter().enumerate().take(self.tracks) {
            for s in &track.spans {
                let name = TrackEvent { name_iid: Some(u64::from(s.event) + 1), ..TrackEvent::default() };
                self.slice(n, part.nanoseconds(s.start), part.nanoseconds(s.end()), name)?;
            }
        }
        for (n, counter) in part.counters.iter().enumerate().take(self.counters) {
            for &(tick, value) in &counter.samples {
                let event =
                    TrackEvent { r#type: Some(COUNTER), counter_value: Some(value), ..TrackEvent::default() };
                self.event(self.tracks + n, part.nanoseconds(tick), event)?;
            }
        }
        for phase in &part.phases {
            let lane = self.lane(phase.start, phase.end)?;
            let name = TrackEvent { name: Some(phase.name.clone()), ..TrackEvent::default() };
            let track = self.tracks + self.counters + lane;
            self.slice(track, part.nanoseconds(phase.start), part.nanoseconds(phase.end), name)?;
        }
        Ok(())
    }

    /// Writes what is held, and gives the writer back.
    ///
    /// # Errors
    /// The writer's.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// A lane that is free from `start` on; a new one where none is.
    fn lane(&mut self, start: u64, end: u64) -> io::Result<usize> {
        let free = self.lanes.iter().position(|&end| end <= start);
        let lane = match free {
            Some(lane) => lane,
            None => {
                self.declare(&format!("phases {}", self.lanes.len()), false)?;
                self.lanes.push(0);
                self.lanes.len() - 1
            }
        };
        self.lanes[lane] = end;
        Ok(lane)
    }

    /// The next track, with a sequence of its own.
    fn declare(&mut self, name: &str, counter: bool) -> io::Result<()> {
        // There are fewer tracks than 2^32: each is in memory.
        let number = self.last.len() as u32;
        let uuid = 1000 + u64::from(number);
        self.last.push(0);
        let descriptor = TrackDescriptor {
            uuid: Some(uuid),
            name: Some(name.into()),
            parent_uuid: Some(PROCESS_UUID),
            counter: counter.then_some(CounterDescriptor {}),
            ..TrackDescriptor::default()
        };
        self.packet(TRACKS, &TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() })?;
        let clock =
            |clock_id, is_incremental| Clock { clock_id: Some(clock_id), timestamp: Some(0), is_incremental };
        let snapshot = ClockSnapshot { clocks: vec![clock(BOOTTIME, None), clock(SINCE_LAST, Some(true))] };
        let defaults = TracePacketDefaults {
            track_event_defaults: Some(TrackEventDefaults { track_uuid: Some(uuid) }),
            timestamp_clock_id: Some(SINCE_LAST),
        };
        let sequence = FIRST + number;
        let begin = TracePacket {
            interned_data: Some(InternedData { event_names: self.events.clone() }),
            trace_packet_defaults: Some(defaults),
            sequence_flags: Some(CLEARED),
            ..TracePacket::default()
        };
        self.packet(sequence, &begin)?;
        let clocks = TracePacket { clock_snapshot: Some(snapshot), ..TracePacket::default() };
        self.packet(sequence, &clocks)
    }

    fn slice(&mut self, track: usize, begin: u64, end: u64, name: TrackEvent) -> io::Result<()> {
        self.event(track, begin, TrackEvent { r#type: Some(SLICE_BEGIN), ..name })?;
        self.event(track, end, TrackEvent { r#type: Some(SLICE_END), ..TrackEvent::default() })
    }

    fn event(&mut self, track: usize, nanoseconds: u64, event: TrackEvent) -> io::Result<()> {
        let Some(last) = self.last.get_mut(track) else { return Ok(()) };
        let since = nanoseconds.saturating_sub(*last);
        *last = nanoseconds;
        let packet = TracePacket {
            timestamp: Some(since),
            track_event: Some(event),
            sequence_flags: Some(NEEDS),
            ..TracePacket::default()
        };
        self.packet(FIRST + track as u32, &packet)
    }

    fn packet(&mut self, sequence: u32, packet: &TracePacket) -> io::Result<()> {
        // The sequence is written behind the message: fields may come in any order, and the packet need not be copied.
        let sequence = SequenceId { trusted_packet_sequence_id: Some(sequence) };
        prost::encoding::encode_key(PACKET, WireType::LengthDelimited, &mut self.block);
        let length = packet.encoded_len() + sequence.encoded_len();
        prost::encoding::encode_varint(length as u64, &mut self.block);
        packet.encode_raw(&mut self.block);
        sequence.encode_raw(&mut self.block);
        if self.block.len() >= BLOCK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&self.block)?;
        self.block.clear();
        let packet = TracePacket { compressed_packets: Some(encoder.finish()?), ..TracePacket::default() };
        let mut bytes = Vec::new();
        prost::encoding::message::encode(PACKET, &packet, &mut bytes);
        self.out.write_all(&bytes)
    }
}

/// Writes a whole trace.
///
/// # Errors
/// The writer's.
pub fn write(trace: &Trace, out: &mut impl Write) -> io::Result<()> {
    let mut writer = Writer::new(out, trace)?;
    writer.push(trace)?;
    writer.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[derive(Message)]
    struct File {
        #[prost(message, repeated, tag = "1")]
        packet: Vec<TracePacket>,
    }

    /// Packets of a file, and the sequence that each is of.
    fn packets(bytes: &[u8]) -> Vec<TracePacket> {
        let mut all = Vec::new();
        for packet in File::decode(bytes).unwrap().packet {
            let mut block = Vec::new();
            let compressed = packet.compressed_packets.unwrap();
            flate2::read::ZlibDecoder::new(compressed.as_slice()).read_to_end(&mut block).unwrap();
            all.extend(File::decode(block.as_slice()).unwrap().packet);
        }
        all
    }

    #[test]
    fn what_is_written_decodes() {
        let trace = crate::report::tests::sample();
        let mut bytes = Vec::new();
        write(&trace, &mut bytes).unwrap();
        let packets = packets(&bytes);
        let events = packets.iter().filter_map(|p| p.track_event.as_ref());
        let begins = events.clone().filter(|e| e.r#type == Some(SLICE_BEGIN)).count();
        let spans: usize = trace.tracks.iter().map(|t| t.spans.len()).sum();
        assert_eq!(begins, spans + trace.phases.len());
        let samples: usize = trace.counters.iter().map(|c| c.samples.len()).sum();
        assert_eq!(events.filter(|e| e.r#type == Some(COUNTER)).count(), samples);
        // Times of a track, since the one before, add up to its last end.
        let of_front = packets.iter().filter(|p| p.track_event.is_some()).filter_map(|p| p.timestamp);
        assert!(of_front.sum::<u64>() > 0);
    }
}
