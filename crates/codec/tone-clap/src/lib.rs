//! The filter of 48 musical tones as a CLAP plug-in: a stereo effect without parameters, [`TonePlayer`] between a host's
//! buffers.
//!
//! ```sh
//! cargo build --release -p xenoglot-tone-clap
//! cp target/release/libxenoglot_tone_clap.so ~/.clap/xenoglot-tone.clap    # Linux
//! ```
//!
//! Activation fails for sample rates that [`TonePlayer::new`] does not accept.
#![deny(missing_docs)]

use clack_extensions::audio_ports::{
    AudioPortFlags, AudioPortInfo, AudioPortInfoWriter, AudioPortType, PluginAudioPorts, PluginAudioPortsImpl,
};
use clack_plugin::plugin::features::{AUDIO_EFFECT, FILTER, STEREO};
use clack_plugin::prelude::*;
use xenoglot_tone::{Channels, TonePlayer};

/// What hosts know the plug-in by.
pub const ID: &str = "org.xenoglot.tone";

/// Frames that are interleaved at a time.
const CHUNK: usize = 256;

/// The plug-in.
pub struct Tone;

impl Plugin for Tone {
    type AudioProcessor<'a> = Processor;
    type Shared<'a> = ();
    type MainThread<'a> = Ports;

    fn declare_extensions(builder: &mut PluginExtensions<Self>, _: Option<&()>) {
        builder.register::<PluginAudioPorts>();
    }
}

impl DefaultPluginFactory for Tone {
    fn get_descriptor() -> PluginDescriptor {
        PluginDescriptor::new(ID, "Xenoglot Tone")
            .with_vendor("Xenoglot")
            .with_version(env!("CARGO_PKG_VERSION"))
            .with_description("48 resonant tones of four octaves, gated by their power")
            .with_features([AUDIO_EFFECT, FILTER, STEREO])
    }

    fn new_shared(_: HostSharedHandle<'_>) -> Result<(), PluginError> {
        Ok(())
    }

    fn new_main_thread<'a>(_: HostMainThreadHandle<'a>, _: &'a ()) -> Result<Ports, PluginError> {
        Ok(Ports)
    }
}

/// One stereo port on each side, which may be the same memory.
pub struct Ports;

impl PluginMainThread<'_, ()> for Ports {}

impl PluginAudioPortsImpl for Ports {
    fn count(&self, _: bool) -> u32 {
        1
    }

    fn get(&self, index: u32, is_input: bool, writer: &mut AudioPortInfoWriter) {
        if index == 0 {
            let [own, other] = if is_input { [0, 1] } else { [1, 0] }.map(ClapId::new);
            writer.set(&AudioPortInfo {
                id: own,
                name: if is_input { b"in" } else { b"out" },
                channel_count: 2,
                flags: AudioPortFlags::IS_MAIN,
                port_type: Some(AudioPortType::STEREO),
                in_place_pair: Some(other),
            });
        }
    }
}

/// The player at work, and one at rest.
pub struct Processor {
    player: TonePlayer,
    rest: TonePlayer,
}

impl<'a> PluginAudioProcessor<'a, (), Ports> for Processor {
    fn activate(
        _: HostAudioProcessorHandle<'a>,
        _: &Ports,
        _: &'a (),
        config: PluginAudioConfiguration,
    ) -> Result<Self, PluginError> {
        // Rates of hosts are whole numbers of Hz; what is out of range stays so.
        let rest = TonePlayer::new(config.sample_rate as u32, Channels::Stereo)?;
        Ok(Processor { player: rest.clone(), rest })
    }

    fn process(&mut self, _: Process, mut audio: Audio, _: Events) -> Result<ProcessStatus, PluginError> {
        let Some(mut port) = audio.port_pair(0) else { return Ok(ProcessStatus::Continue) };
        let channels = port.channels()?.into_f32();
        let mut channels = channels.ok_or(PluginError::Message("samples are not of 32 bits"))?;
        let [left, right] = [0, 1].map(|side| channels.channel_pair(side).and_then(heard));
        let (Some(left), Some(right)) = (left, right) else {
            return Err(PluginError::Message("the port is not stereo"));
        };
        self.stereo(left, right);
        Ok(ProcessStatus::Continue)
    }

    fn reset(&mut self) {
        self.player.clone_from(&self.rest);
    }
}

/// A channel's output with its input in it.
fn heard(channel: ChannelPair<'_, f32>) -> Option<&mut [f32]> {
    match channel {
        ChannelPair::InputOnly(_) => None,
        ChannelPair::InPlace(samples) => Some(samples),
        ChannelPair::OutputOnly(output) => {
            output.fill(0.0);
            Some(output)
        }
        ChannelPair::InputOutput(input, output) => {
            output.iter_mut().zip(input).for_each(|(to, &from)| *to = from);
            Some(output)
        }
    }
}

impl Processor {
    fn stereo(&mut self, left: &mut [f32], right: &mut [f32]) {
        let mut samples = [[0.0; 2]; CHUNK];
        for (left, right) in left.chunks_mut(CHUNK).zip(right.chunks_mut(CHUNK)) {
            let frames = left.len().min(right.len());
            let samples = &mut samples[..frames];
            for ((frame, &left), &right) in samples.iter_mut().zip(&*left).zip(&*right) {
                *frame = [left, right];
            }
            self.player.process(samples.as_flattened_mut());
            for ((frame, left), right) in samples.iter().zip(left).zip(right) {
                [*left, *right] = *frame;
            }
        }
    }
}

clack_export_entry!(SinglePluginEntry<Tone>);
