//! A machine with the frame it draws: what checkpoints of the command line hold.

use super::SceneArgs;
use super::scene::Stage;
use crate::output;
use crate::source::{name, read};
use anyhow::{Context, Result};
use std::path::Path;
use xenoglot_dragon::host::Drawing;
use xenoglot_dragon::{Machine, checkpoint};

/// A machine that draws a frame.
pub struct Session {
    pub machine: Machine,
    /// The frame's number.
    pub frame: u32,
    pub drawing: Drawing,
}

impl Session {
    /// Frame `frame` before its first tick, or what a checkpoint holds.
    pub fn start(scene: &SceneArgs, stage: &Stage, frame: u32, resume: Option<&Path>) -> Result<Session> {
        let Some(path) = resume else {
            let mut machine = Machine::new(scene.params()?)?;
            let drawing = stage.animation.scene(frame).begin(&mut machine)?;
            return Ok(Session { machine, frame, drawing });
        };
        let bytes = read(path)?;
        let (machine, (frame, drawing)) = checkpoint::load(&bytes).with_context(|| name(path))?;
        Ok(Session { machine, frame, drawing })
    }

    /// As [`Machine::run_until`]: gives whether the frame is drawn.
    pub fn run_until(&mut self, before: u64, stop: impl FnMut(&Machine) -> bool) -> Result<bool> {
        Ok(self.drawing.run_until(&mut self.machine, before, stop)?)
    }

    /// Writes a checkpoint, which may have taken hours.
    pub fn save(&self, path: &Path) -> Result<()> {
        output::write_synced(path, &checkpoint::save(&self.machine, &(self.frame, &self.drawing))?)
    }
}
