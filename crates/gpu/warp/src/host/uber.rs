//! One program for all states.

use super::batch::{Batch, Scene};
use crate::program::{frame_words, uber};
use xenoglot_host::{Access, Arguments, Binding, Commands, Device, Error, Layout, Program};

/// The program, compiled.
#[derive(Debug)]
pub struct Uber {
    layout: Layout,
    program: Program,
}

impl Uber {
    pub fn new(device: &Device, tile: u32) -> Result<Uber, Error> {
        let access = |number| if number == 5 || number == 6 { Access::ReadWrite } else { Access::Read };
        let bindings: Vec<Binding> = (0..8).map(|number| Binding::new(number, access(number))).collect();
        let layout = device.layout(&bindings);
        let program = device.program(&layout, uber(tile))?;
        Ok(Uber { layout, program })
    }

    /// Records drawing of a batch; the bytes of buffers for it.
    pub fn record(
        &self,
        device: &Device,
        commands: &mut Commands,
        scene: &Scene<'_>,
        batch: &Batch,
    ) -> Result<u64, Error> {
        let frame = device.buffer_of(&frame_words(&batch.grid))?;
        let Scene { colors, depths, states, guest, sizes, .. } = scene;
        let buffers = [&frame, &batch.tiles, &batch.primitives, states, guest, colors, depths, sizes];
        let arguments = Arguments::new(device, &self.layout, &buffers)?;
        let [columns, rows] = batch.grid.tiles();
        commands.stage("drawing");
        commands.dispatch(&self.program, &arguments, &[], [columns, rows, 1]);
        Ok(frame.size())
    }
}
