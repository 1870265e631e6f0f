//! The plug-in in a host: what it makes of a signal, with buffers apart and shared, and after a reset.

use clack_extensions::params::{ParamInfoBuffer, ParamInfoFlags, PluginParams};
use clack_extensions::state::PluginState;
use clack_host::events::Pckn;
use clack_host::events::event_types::ParamValueEvent;
use clack_host::events::io::{EventBuffer, InputEvents, OutputEvents};
use clack_host::prelude::*;
use clack_host::process::StartedPluginAudioProcessor;
use clack_plugin::entry::SinglePluginEntry;
use std::ffi::CString;
use xenoglot_tone::{Channels, Mode, TonePlayer};
use xenoglot_tone_clap::{ID, MODE, Tone, WET};

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
    played(|player, samples| player.process(samples))
}

/// What a player makes of it, as `play` has it.
fn played(play: impl Fn(&mut TonePlayer, &mut [f32])) -> [Vec<f32>; 2] {
    let [left, right] = signal();
    let mut samples: Vec<f32> = left.iter().zip(&right).flat_map(|(&l, &r)| [l, r]).collect();
    play(&mut TonePlayer::new(48_000, Channels::Stereo).unwrap(), &mut samples);
    [0, 1].map(|side| samples.chunks_exact(2).map(|frame| frame[side]).collect())
}

fn process(processor: &mut StartedPluginAudioProcessor<Host>) -> [Vec<f32>; 2] {
    process_with(processor, &InputEvents::empty())
}

fn process_with(
    processor: &mut StartedPluginAudioProcessor<Host>,
    events: &InputEvents<'_>,
) -> [Vec<f32>; 2] {
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
    let mut out_events = OutputEvents::void();
    processor.process(&input, &mut output, events, &mut out_events, None, None).unwrap();
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

fn set(time: u32, id: ClapId, value: f64) -> ParamValueEvent {
    ParamValueEvent::new(time, id, Pckn::match_all(), value)
}

#[test]
fn parameters_change_at_their_frames() {
    let mut instance = instance();
    let mut processor = instance.activate(|_, _| (), config(48_000.0)).unwrap().start_processing().unwrap();
    let mut events = EventBuffer::new();
    events.push(&set(0, WET, 1.0));
    events.push(&set(300, WET, 0.25));
    events.push(&set(300, MODE, 1.0));
    // Behind the end, and of no parameter.
    events.push(&set(5000, WET, 0.0));
    events.push(&set(5000, ClapId::new(9), 1.0));
    let expected = played(|player, samples| {
        let (first, last) = samples.split_at_mut(600);
        player.set_wet(1.0);
        player.process(first);
        player.set_wet(0.25);
        player.set_mode(Mode::Each);
        player.process(last);
    });
    assert!(process_with(&mut processor, &events.as_input()) == expected);
    instance.deactivate(processor.stop_processing());
    let handle = instance.plugin_handle();
    let parameters: PluginParams = handle.get_extension().unwrap();
    assert_eq!(parameters.get_value(&instance.plugin_handle(), WET), Some(0.0));
    assert_eq!(parameters.get_value(&instance.plugin_handle(), MODE), Some(1.0));
}

#[test]
fn hosts_see_and_save_the_parameters() {
    let mut of = instance();
    let parameters: PluginParams = of.plugin_handle().get_extension().unwrap();
    let handle = of.plugin_handle();
    assert_eq!(parameters.count(&handle), 2);
    let mut buffer = ParamInfoBuffer::new();
    let info = parameters.get_info(&handle, 0, &mut buffer).unwrap();
    assert_eq!((info.id, info.name, info.max_value, info.default_value), (WET, &b"Wet"[..], 1.0, 0.5));
    let info = parameters.get_info(&handle, 1, &mut buffer).unwrap();
    assert_eq!((info.id, info.name, info.max_value), (MODE, &b"Mode"[..], 1.0));
    assert!(info.flags.contains(ParamInfoFlags::IS_STEPPED | ParamInfoFlags::IS_ENUM));
    assert!(parameters.get_info(&handle, 2, &mut buffer).is_none());
    assert_eq!(parameters.text_to_value(&handle, WET, c"75 %"), Some(0.75));
    assert_eq!(parameters.text_to_value(&handle, MODE, c"each"), Some(1.0));
    assert_eq!(parameters.text_to_value(&handle, MODE, c"both"), None);

    // Changed without processing, saved, and loaded into another instance.
    let mut events = EventBuffer::new();
    events.push(&set(0, WET, 0.75));
    events.push(&set(0, WET, f64::NAN));
    events.push(&set(0, MODE, 1.0));
    let mut inactive = of.inactive_plugin_handle().unwrap();
    parameters.flush(&mut inactive, &events.as_input(), &mut OutputEvents::void());
    let handle = of.plugin_handle();
    let state: PluginState = handle.get_extension().unwrap();
    let mut saved = Vec::new();
    state.save(&handle, &mut saved).unwrap();
    let mut other = instance();
    let handle = other.plugin_handle();
    let (parameters, state): (PluginParams, PluginState) =
        (handle.get_extension().unwrap(), handle.get_extension().unwrap());
    assert_eq!(parameters.get_value(&handle, WET), Some(0.5));
    state.load(&handle, &mut saved.as_slice()).unwrap();
    assert_eq!(parameters.get_value(&handle, WET), Some(0.75));
    assert_eq!(parameters.get_value(&handle, MODE), Some(1.0));
    // Too short, and of another version.
    assert!(state.load(&handle, &mut &saved[..5]).is_err());
    saved[0] ^= 2;
    assert!(state.load(&handle, &mut saved.as_slice()).is_err());
    assert_eq!(parameters.get_value(&handle, WET), Some(0.75));
}
