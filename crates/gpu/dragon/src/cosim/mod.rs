//! Co-simulation: a model from outside, such as HDL in Verilator, in the place of a unit.
//!
//! A [`Model`] is ticked when the unit would be, is handed what other units have for it and whether there is room for
//! what it makes, and answers what it did. The rasteriser and the tile buffer fill have such a seam
//! ([`Machine::attach_rasterizer`], [`Machine::attach_fill`]); everything around them is the machine's, so that pixels,
//! ticks and traces can be compared with its own units'. [`CModel`] is a model behind the C ABI of
//! `include/xenoglot_dragon.h`.
//!
//! Time: ticks in which no unit can do anything are skipped, for models as well. A model says with `until` up to when it
//! does nothing by itself: `u64::MAX` while it waits to be handed something or for room, 0 to be ticked in the next tick
//! whatever happens, which is what a model that counts clocks by itself wants. After a tick in which something was handed
//! over, either way, the next one always comes.
//!
//! Copies and checkpoints: a [clone](Clone) of a machine, and one that is [loaded](crate::checkpoint::load), has no
//! models. It keeps the state that [`Model::save`] gave, and hands it to [`Model::load`] of the model that is attached
//! next; until then the unit does nothing. A machine whose model cannot be saved has no checkpoint.
//!
//! A model may answer anything. What the machine has no room for, what lies outside of the tile buffer or the triangle,
//! and what is of no triangle is dropped, and sets [`Faults::MODEL`](crate::Faults::MODEL).
//!
//! ```
//! use xenoglot_dragon::command::{Command, sig};
//! use xenoglot_dragon::cosim::{Config, FillInput, FillOutput, Model};
//! use xenoglot_dragon::{Event, Machine, Params};
//!
//! /// Fills a tile buffer in the tick it is told to.
//! struct Quick;
//!
//! impl Model<FillInput, FillOutput> for Quick {
//!     fn reset(&mut self, _: &Config) {}
//!
//!     fn tick(&mut self, input: &FillInput) -> FillOutput {
//!         let event = if input.valid != 0 { Event::Tick } else { Event::GenericIdle };
//!         let count = if input.valid != 0 { input.pixels } else { 0 };
//!         FillOutput { until: u64::MAX, event: event as u32, finished: input.valid, first: 0, count }
//!     }
//! }
//!
//! let mut machine = Machine::new(Params::default())?;
//! machine.attach_fill(Box::new(Quick))?;
//! let writes = [
//!     Command::SetFillTileBufferValue(0, 7),
//!     Command::ExecFillTileBuffer { tile: 0, sig: sig::CLEAR_TILE },
//!     Command::SigWait(sig::CLEAR_TILE),
//! ];
//! assert_eq!(machine.run(&writes.map(Command::encode))?, 4);
//! assert_eq!(machine.tile_pixel(0, 31, 31), Some(7));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod c;
mod slot;

pub use c::{ABI, AbiError, CModel, Table};
pub(crate) use slot::Slot;

use crate::machine::Machine;
use crate::params::Params;
use crate::unit::external;
use thiserror::Error;

/// A model of a unit: `I` is its input in a tick, `O` its output.
pub trait Model<I, O>: Send {
    /// As after power-up, in a machine like this. Called when it is attached.
    fn reset(&mut self, config: &Config);

    /// A tick. Ticks that are skipped are not reported; `now` in the input tells.
    fn tick(&mut self, input: &I) -> O;

    /// All of its state; `None` if the model cannot be saved.
    fn save(&self) -> Option<Vec<u8>> {
        None
    }

    /// Restores a state that the model saved. False if the bytes are not one.
    fn load(&mut self, _state: &[u8]) -> bool {
        false
    }
}

/// A model of the rasteriser.
pub type RasterModel = dyn Model<RasterInput, RasterOutput>;
/// A model of the tile buffer fill.
pub type FillModel = dyn Model<FillInput, FillOutput>;

/// Parameters that models need.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Config {
    /// Width and height of a tile buffer in pixels.
    pub bin_size: u32,
    /// VPUs, 1 to 8. The pixel at x and y goes to VPU `(x / 2 + y / 2) % vpus`.
    pub vpus: u32,
    /// Pixels of a row that the rasteriser tests in a tick.
    pub raster_pixels: u32,
    /// Whether it skips the rest of a row after the last covered pixel: 0 or 1.
    pub row_skip: u32,
    /// Pixels that a fill writes in a tick.
    pub fill_pixels: u32,
}

impl Config {
    pub(crate) fn new(params: &Params) -> Config {
        Config {
            bin_size: params.bin_size,
            vpus: params.vpus,
            raster_pixels: params.raster.pixels,
            row_skip: params.raster.row_skip.into(),
            fill_pixels: params.fill_pixels,
        }
    }
}

/// An edge function: `value + x * dx + y * dy`, in 1/256 of a pixel's area. A pixel is covered where it is at least
/// `bias` for all three edges.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Edge {
    /// At the centre of the tile buffer's first pixel.
    pub value: i64,
    /// From pixel to pixel, to the right.
    pub dx: i64,
    /// From pixel to pixel, downwards.
    pub dy: i64,
    /// 1 where a pixel on the edge is outside, else 0.
    pub bias: i64,
}

/// What the rasteriser is handed in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RasterInput {
    /// The tick.
    pub now: u64,
    /// 1 if a triangle is handed over. That happens only after a tick with `ready`.
    pub valid: u32,
    /// First pixel of the triangle's bounding box in the tile buffer: x and y.
    pub first: [u32; 2],
    /// Last pixel, which is inside.
    pub last: [u32; 2],
    /// Not used.
    pub reserved: u32,
    /// Edges.
    pub edges: [Edge; 3],
    /// Fragments that the queue of each VPU has room for.
    pub room: [u32; 8],
}

/// A pixel of a tile buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Pixel {
    /// From the left.
    pub x: u16,
    /// From the top.
    pub y: u16,
}

/// Most pixels the rasteriser hands on in a tick.
pub const MAX_PIXELS: usize = 16;

/// What the rasteriser did in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RasterOutput {
    /// The tick before which it does nothing by itself.
    pub until: u64,
    /// What it did: a number of [`Event::ALL`](crate::Event::ALL).
    pub event: u32,
    /// 1 if it takes another triangle in the next tick.
    pub ready: u32,
    /// 1 if the triangle it was handed first is finished, with the pixels of this tick.
    pub finished: u32,
    /// How many of `pixels` are covered by that triangle and handed on.
    pub count: u32,
    /// Pixels, in the order in which VPUs receive them.
    pub pixels: [Pixel; MAX_PIXELS],
}

/// What the tile buffer fill is handed in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FillInput {
    /// The tick.
    pub now: u64,
    /// 1 if a fill is started. That happens only after the one before is finished.
    pub valid: u32,
    /// Pixels of the tile buffer.
    pub pixels: u32,
}

/// What the tile buffer fill did in a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FillOutput {
    /// The tick before which it does nothing by itself.
    pub until: u64,
    /// What it did: a number of [`Event::ALL`](crate::Event::ALL).
    pub event: u32,
    /// 1 if the fill is finished.
    pub finished: u32,
    /// The first pixel that gets the value, row by row.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// Why a model cannot take a unit's place.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum AttachError {
    /// The unit there has something under way, and no state that the model could take over.
    #[error("the unit is busy")]
    Busy,
    /// The unit's state was saved by another model.
    #[error("the model does not take back the state that was saved")]
    State,
}

impl Machine {
    /// Puts a model in the place of the rasteriser, or of the model there.
    ///
    /// # Errors
    /// [`AttachError`]; the machine is as before.
    pub fn attach_rasterizer(&mut self, model: Box<RasterModel>) -> Result<(), AttachError> {
        external::Raster::attach(&mut self.units.raster, model, &Config::new(&self.shared.params))
    }

    /// Puts a model in the place of the tile buffer fill, or of the model there.
    ///
    /// # Errors
    /// [`AttachError`]; the machine is as before.
    pub fn attach_fill(&mut self, model: Box<FillModel>) -> Result<(), AttachError> {
        external::Fill::attach(&mut self.units.fill, model, &Config::new(&self.shared.params))
    }
}
