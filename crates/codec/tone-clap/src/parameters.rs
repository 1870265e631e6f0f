//! What hosts can set: the mix and the mode.

use crate::{Ports, Processor};
use clack_extensions::params::{
    ParamDisplayWriter, ParamInfo, ParamInfoFlags, ParamInfoWriter, PluginAudioProcessorParams,
    PluginMainThreadParams,
};
use clack_extensions::state::PluginStateImpl;
use clack_plugin::events::spaces::CoreEventSpace;
use clack_plugin::prelude::*;
use clack_plugin::stream::{InputStream, OutputStream};
use clack_plugin::utils::Cookie;
use std::ffi::CStr;
use std::fmt::{self, Write as _};
use std::io::{Read as _, Write as _};
use std::sync::atomic::{AtomicU32, Ordering};
use xenoglot_tone::{Mode, TonePlayer};

/// The part of the tones in what comes out, from 0 to 1.
pub const WET: ClapId = ClapId::new(0);

/// What is filtered: the place in [`Mode::ALL`].
pub const MODE: ClapId = ClapId::new(1);

/// The parameters, which the main thread and the audio thread share.
#[derive(Debug)]
pub struct Parameters {
    /// The bits of a single.
    wet: AtomicU32,
    mode: AtomicU32,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { wet: AtomicU32::new(0.5f32.to_bits()), mode: AtomicU32::new(0) }
    }
}

impl PluginShared<'_> for Parameters {}

impl Parameters {
    fn wet(&self) -> f32 {
        f32::from_bits(self.wet.load(Ordering::Relaxed))
    }

    fn mode(&self) -> Mode {
        let place = self.mode.load(Ordering::Relaxed) as usize;
        Mode::ALL.get(place).copied().unwrap_or_default()
    }

    fn get(&self, id: ClapId) -> Option<f64> {
        match id {
            WET => Some(self.wet().into()),
            MODE => Some(self.mode.load(Ordering::Relaxed).into()),
            _ => None,
        }
    }

    /// Sets a parameter, clamped; a NaN changes nothing.
    fn set(&self, id: ClapId, value: f64) {
        if value.is_nan() {
            return;
        }
        match id {
            WET => self.wet.store((value.clamp(0.0, 1.0) as f32).to_bits(), Ordering::Relaxed),
            // Hosts give steps as numbers, which are truncated.
            MODE => self.mode.store(value.clamp(0.0, LAST_MODE) as u32, Ordering::Relaxed),
            _ => {}
        }
    }

    /// Takes what an event says of a parameter.
    pub(crate) fn take(&self, event: &UnknownEvent) {
        if let Some(CoreEventSpace::ParamValue(event)) = event.as_core_event()
            && let Some(id) = event.param_id()
        {
            self.set(id, event.value());
        }
    }

    /// Gives a player what is set.
    pub(crate) fn apply(&self, player: &mut TonePlayer) {
        player.set_wet(self.wet());
        player.set_mode(self.mode());
    }
}

const LAST_MODE: f64 = (Mode::ALL.len() - 1) as f64;

impl PluginMainThreadParams for Ports<'_> {
    fn count(&self) -> u32 {
        2
    }

    fn get_info(&self, index: u32, writer: &mut ParamInfoWriter) {
        let automatable = ParamInfoFlags::IS_AUTOMATABLE;
        let (id, flags, name, max_value, default_value) = match index {
            0 => (WET, automatable, &b"Wet"[..], 1.0, 0.5),
            1 => {
                let stepped = ParamInfoFlags::IS_STEPPED | ParamInfoFlags::IS_ENUM;
                (MODE, automatable | stepped, &b"Mode"[..], LAST_MODE, 0.0)
            }
            _ => return,
        };
        let (cookie, module, min_value) = (Cookie::empty(), &b""[..], 0.0);
        writer.set(&ParamInfo { id, flags, cookie, name, module, min_value, max_value, default_value });
    }

    fn get_value(&self, id: ClapId) -> Option<f64> {
        self.parameters.get(id)
    }

    fn value_to_text(&self, id: ClapId, value: f64, writer: &mut ParamDisplayWriter) -> fmt::Result {
        match id {
            WET => write!(writer, "{:.0} %", value * 100.0),
            MODE => match Mode::ALL.get(value.clamp(0.0, LAST_MODE) as usize) {
                Some(mode) => write!(writer, "{mode}"),
                None => Err(fmt::Error),
            },
            _ => Err(fmt::Error),
        }
    }

    fn text_to_value(&self, id: ClapId, text: &CStr) -> Option<f64> {
        let text = text.to_str().ok()?.trim();
        match id {
            WET => {
                let percent: f64 = text.trim_end_matches('%').trim_end().parse().ok()?;
                Some((percent / 100.0).clamp(0.0, 1.0)).filter(|part| !part.is_nan())
            }
            MODE => Mode::ALL.iter().position(|mode| mode.name() == text).map(|place| place as f64),
            _ => None,
        }
    }

    fn flush(&self, changes: &InputEvents, _: &mut OutputEvents) {
        changes.iter().for_each(|event| self.parameters.take(event));
    }
}

impl PluginAudioProcessorParams for Processor<'_> {
    fn flush(&mut self, changes: &InputEvents, _: &mut OutputEvents) {
        changes.iter().for_each(|event| self.parameters.take(event));
    }
}

/// A saved state: this version, the mode, and the bits of the part of the tones, four bytes each, the lowest first.
const VERSION: u32 = 1;

impl PluginStateImpl for Ports<'_> {
    fn save(&self, output: &mut OutputStream) -> Result<(), PluginError> {
        let Parameters { wet, mode } = self.parameters;
        for word in [VERSION, mode.load(Ordering::Relaxed), wet.load(Ordering::Relaxed)] {
            output.write_all(&word.to_le_bytes())?;
        }
        Ok(())
    }

    fn load(&self, input: &mut InputStream) -> Result<(), PluginError> {
        let mut word = || -> Result<u32, PluginError> {
            let mut bytes = [0; 4];
            input.read_exact(&mut bytes)?;
            Ok(u32::from_le_bytes(bytes))
        };
        if word()? != VERSION {
            return Err(PluginError::Message("a state of another version"));
        }
        let (mode, wet) = (word()?, f32::from_bits(word()?));
        self.parameters.set(MODE, mode.into());
        self.parameters.set(WET, wet.into());
        Ok(())
    }
}
