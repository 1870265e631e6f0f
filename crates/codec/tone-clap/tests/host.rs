//! The plug-in in a host: what it makes of a signal, with buffers apart and shared, and after a reset.

use clack_host::events::io::{InputEvents, OutputEvents};
use clack_host::prelude::*;
use clack_host::process::StartedPluginAudioProcessor;
use clack_plugin::entry::SinglePluginEntry;
use std::ffi::CString;
use xenoglot_tone::{Channels, TonePlayer};
use xenoglot_tone_clap::{ID, Tone};

struct Shared;

impl SharedHandler<'_> for Shared {
    fn request_restart(&self) {}
    fn request_process(&self) {}
    fn request_callback(&self) {}
}

struct Host;

impl HostHandlers for Host {
    type Shared<'a> = Shared;
    type MainThread<'a> = ();
    type AudioProcessor<'a> = ();
}

const FRAMES: usize = 1000;

fn config(sample_rate: f64) -> PluginAudioConfiguration {
    PluginAudioConfiguration { sample_rate, min_frames_count: 1, max_frames_count: FRAMES as u32 }
}

fn instance() -> PluginInstance<Host> {
    let entry = PluginEntry::load_from_clack::<SinglePluginEntry<Tone>>(c"/xenoglot-tone.clap").unwrap();
    let info = HostInfo::new("test", "Xenoglot", "", "0").unwrap();
    let id = CString::new(ID).unwrap();
    PluginInstance::<Host>::new(|_| Shared, |_| (), &entry, &id, &info).unwrap()
}

/// A chord on the left, the same later on the right.
fn signal() -> [Vec<f32>; 2] {
    let sample = |n: usize| (0..4).map(|k| (n as f32 * (0.03 + 0.011 * k as f32)).sin()).sum::<f32>() / 4.0;
    [0, 77].map(|delay| (0..FRAMES).map(|n| sample(n + delay)).collect())
}

/// What the player makes of it.
fn expected() -> [Vec<f32>; 2] {
    let [left, right] = signal();
    let mut samples: Vec<f32> = left.iter().zip(&right).flat_map(|(&l, &r)| [l, r]).collect();
    TonePlayer::new(48_000, Channels::Stereo).unwrap().process(&mut samples);
    [0, 1].map(|side| samples.chunks_exact(2).map(|frame| frame[side]).collect())
}

fn process(processor: &mut StartedPluginAudioProcessor<Host>) -> [Vec<f32>; 2] {
    let [mut inputs, mut outputs] = [signal(), [vec![0.0; FRAMES], vec![0.0; FRAMES]]];
    let mut ports = [AudioPorts::with_capacity(2, 1), AudioPorts::with_capacity(2, 1)];
    let [input, output] = &mut ports;
    let channels = inputs.iter_mut().map(InputChannel::variable);
    let input = input.with_input_buffers([AudioPortBuffer {
        latency: 0,
        channels: AudioPortBufferType::f32_input_only(channels),
    }]);
    let channels = outputs.iter_mut().map(Vec::as_mut_slice);
    let mut output = output.with_output_buffers([AudioPortBuffer {
        latency: 0,
        channels: AudioPortBufferType::f32_output_only(channels),
    }]);
    let (events, mut out_events) = (InputEvents::empty(), OutputEvents::void());
    processor.process(&input, &mut output, &events, &mut out_events, None, None).unwrap();
    outputs
}

#[test]
fn a_host_hears_what_the_player_plays() {
    let mut instance = instance();
    let mut processor = instance.activate(|_, _| (), config(48_000.0)).unwrap().start_processing().unwrap();
    assert!(process(&mut processor) == expected());
    // State goes on, until it is reset.
    assert!(process(&mut processor) != expected());
    processor.reset();
    assert!(process(&mut processor) == expected());
    instance.deactivate(processor.stop_processing());
}

#[test]
fn a_rate_out_of_range_is_refused() {
    assert!(instance().activate(|_, _| (), config(1_000.0)).is_err());
}
