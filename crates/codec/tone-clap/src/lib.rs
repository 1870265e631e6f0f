//! The filter of 48 musical tones as a CLAP plug-in: a stereo effect, [`TonePlayer`] between a host's buffers. Its parameters
//! are the part of the tones in what comes out, and whether they are those of both channels together or of each; hosts save them with
//! their projects.
//!
//! ```sh
//! cargo build --release -p xenoglot-tone-clap
//! cp target/release/libxenoglot_tone_clap.so ~/.clap/xenoglot-tone.clap    # Linux
//! ```
//!
//! Activation fails for sample rates that [`TonePlayer::new`] does not accept.
#![deny(missing_docs)]

mod parameters;

pub use parameters::{MODE, Parameters, WET};

use clack_extensions::audio_ports::{
    AudioPortFlags, AudioPortInfo, AudioPortInfoWriter, AudioPortType, PluginAudioPorts, PluginAudioPortsImpl,
};
use clack_extensions::params::PluginParams;
use clack_extensions::state::PluginState;
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
    type AudioProcessor<'a> = Processor<'a>;
    type Shared<'a> = Parameters;
    type MainThread<'a> = Ports<'a>;

    fn declare_extensions(builder: &mut PluginExtensions<Self>, _: Option<&Parameters>) {
        builder.register::<PluginAudioPorts>().register::<PluginParams>().register::<PluginState>();
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

    fn new_shared(_: HostSharedHandle<'_>) -> Result<Parameters, PluginError> {
        Ok(Parameters::default())
    }

    fn new_main_thread<'a>(
        _: HostMainThreadHandle<'a>,
        parameters: &'a Parameters,
    ) -> Result<Ports<'a>, PluginError> {
        Ok(Ports { parameters })
    }
}

/// What the main thread tells hosts: one stereo port on each side, which may be the same memory, and the parameters.
pub struct Ports<'a> {
    parameters: &'a Parameters,
}

impl<'a> PluginMainThread<'a, Parameters> for Ports<'a> {}

impl PluginAudioPortsImpl for Ports<'_> {
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

/// The player at work.
pub struct Processor<'a> {
    player: TonePlayer,
    parameters: &'a Parameters,
}

impl<'a> PluginAudioProcessor<'a, Parameters, Ports<'a>> for Processor<'a> {
    fn activate(
        _: HostAudioProcessorHandle<'a>,
        _: &Ports<'a>,
        parameters: &'a Parameters,
        config: PluginAudioConfiguration,
    ) -> Result<Self, PluginError> {
        // Rates of hosts are whole numbers of Hz; what is out of range stays so.
        let player = TonePlayer::new(config.sample_rate as u32, Channels::Stereo)?;
        Ok(Processor { player, parameters })
    }

    fn process(
        &mut self,
        _: Process,
        mut audio: Audio,
        events: Events,
    ) -> Result<ProcessStatus, PluginError> {
        let Some(mut port) = audio.port_pair(0) else { return Ok(ProcessStatus::Continue) };
        let channels = port.channels()?.into_f32();
        let mut channels = channels.ok_or(PluginError::Message("samples are not of 32 bits"))?;
        let [left, right] = [0, 1].map(|side| channels.channel_pair(side).and_then(heard));
        let (Some(left), Some(right)) = (left, right) else {
            return Err(PluginError::Message("the port is not stereo"));
        };
        // A parameter changes at the frame that its event names.
        for batch in events.input.batch() {
            batch.events().for_each(|event| self.parameters.take(event));
            self.parameters.apply(&mut self.player);
            let frames = left.len().min(right.len());
            let first = batch.first_sample().min(frames);
            let next = batch.next_batch_first_sample().unwrap_or(frames).clamp(first, frames);
            self.stereo(&mut left[first..next], &mut right[first..next]);
        }
        Ok(ProcessStatus::Continue)
    }

    fn reset(&mut self) {
        self.player.reset();
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

impl Processor<'_> {
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
