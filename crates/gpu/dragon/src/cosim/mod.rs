//! Co-simulation: a model from outside, such as HDL in Verilator, in the place of a unit.
//!
//! A [`Model`] is ticked when the unit would be, is handed what other units have for it and whether there is room for
//! what it makes, and answers what it did. Every unit has such a seam, of one kind: [`Machine::attach`] takes a
//! [`UnitModel`], which says what each unit is handed and answers. Everything around a model is the machine's, so that
//! pixels, ticks and traces can be compared with its own units'. [`CModel`] is a model behind the C ABI of
//! `include/xenoglot_dragon.h`.
//!
//! Memory: a model that needs it answers with a [`Request`], and is handed a [`Reply`] in each tick until that says that the
//! access is over. Who gets the bus, and how long an access takes, is memory's matter, which can be a model itself.
//!
//! The parameters `instant.*` of a unit with a model have no effect on what the model does.
//!
//! Time: ticks in which no unit can do anything are skipped, for models as well. A model says with `until` up to when it
//! does nothing by itself: `u64::MAX` while it waits to be handed something or for room, 0 to be ticked in the next tick
//! whatever happens, which is what a model that counts clocks by itself wants. After a tick in which something was handed
//! over, either way, the next one always comes.
//!
//! Copies and checkpoints: a [clone](Clone) of a machine, and one that is [loaded](crate::checkpoint::load), has no
//! models. It keeps the state that [`Model::save`] gave, and hands it to [`Model::load`] of the model that is attached
//! next; until then the unit does nothing, and memory answers nothing. A machine whose model cannot be saved has no checkpoint.
//!
//! A model may answer anything. What the machine has no room for, what lies outside of the tile buffer or the triangle,
//! and what is of no triangle is dropped, and sets [`Faults::MODEL`](crate::Faults::MODEL).
//!
//! ```
//! use xenoglot_dragon::command::{Command, sig};
//! use xenoglot_dragon::cosim::{Config, FillInput, FillOutput, Model, UnitModel};
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
//! machine.attach(UnitModel::Fill(Box::new(Quick)))?;
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
mod ports;
mod seam;

pub use c::{ABI, AbiError, CModel, Table};
pub use ports::*;
pub(crate) use seam::{Answer, Outcome, Replaceable, Seam};

use crate::machine::{Machine, Units};
use crate::unit::{Unit, VPU_NAMES};
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

macro_rules! units {
    ($($(#[$doc:meta])* $unit:ident $input:ident $output:ident,)+) => {
        /// A model, and the unit whose place it takes.
        pub enum UnitModel {
            $($(#[$doc])* $unit(Box<dyn Model<$input, $output>>),)+
            /// The VPU of this number.
            Vpu(usize, Box<dyn Model<VpuInput, VpuOutput>>),
        }
    };
}

units! {
    /// `command`: the command processor. The registers stay the machine's.
    Command CommandInput CommandOutput,
    /// `vpu_program_load`.
    ProgramLoad ProgramLoadInput ProgramLoadOutput,
    /// `triangle_draw`: indices, vertices, triangle set-up.
    Draw DrawInput DrawOutput,
    /// `vertex_cache`.
    VertexCache VertexCacheInput VertexCacheOutput,
    /// `rasterizer`. Interpolation stays the machine's.
    Rasterizer RasterInput RasterOutput,
    /// `texture`. Addresses of texels and filtering stay the machine's.
    Texture TextureInput TextureOutput,
    /// `tile_buffer_fill`.
    Fill FillInput FillOutput,
    /// `tile_buffer_store`.
    Store TransferInput TransferOutput,
    /// `tile_buffer_load`.
    Load TransferInput TransferOutput,
    /// `write_vpu_global`.
    WriteGlobal WriteGlobalInput WriteGlobalOutput,
    /// How long memory takes. Its contents stay the machine's.
    Memory MemoryInput MemoryOutput,
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
    /// There is no such VPU.
    #[error("there is no such VPU")]
    Unit,
}

impl Machine {
    /// Puts a model in the place of a unit, or of the model there.
    ///
    /// # Errors
    /// [`AttachError`]; the machine is as before.
    pub fn attach(&mut self, model: UnitModel) -> Result<(), AttachError> {
        let config = &Config::new(&self.shared.params);
        let idle = self.is_idle();
        let units = &mut self.units;
        match model {
            UnitModel::Command(model) => self.control.attach(model, config),
            UnitModel::ProgramLoad(model) => units.program_load.attach(model, config),
            UnitModel::Draw(model) => units.draw.attach(model, config),
            UnitModel::VertexCache(model) => units.vertex_cache.attach(model, config),
            UnitModel::Rasterizer(model) => units.raster.attach(model, config),
            UnitModel::Texture(model) => units.textures.attach(model, config),
            UnitModel::Fill(model) => units.fill.attach(model, config),
            UnitModel::Store(model) => units.store.attach(model, config),
            UnitModel::Load(model) => units.load.attach(model, config),
            UnitModel::WriteGlobal(model) => units.write_global.attach(model, config),
            UnitModel::Memory(model) => self.shared.memory.seam.attach(model, config, idle),
            UnitModel::Vpu(n, model) => units.vpus.get_mut(n).ok_or(AttachError::Unit)?.attach(model, config),
        }
    }

    /// A unit whose model cannot be saved.
    pub(crate) fn unsavable(&self) -> Option<&'static str> {
        let Units {
            vpus,
            program_load,
            draw,
            raster,
            store,
            load,
            fill,
            write_global,
            vertex_cache,
            textures,
        } = &self.units;
        let units = [
            (Unit::Command.name(), self.control.is_savable()),
            (Unit::ProgramLoad.name(), program_load.is_savable()),
            (Unit::Draw.name(), draw.is_savable()),
            (Unit::VertexCache.name(), vertex_cache.is_savable()),
            (Unit::Raster.name(), raster.is_savable()),
            (Unit::Texture.name(), textures.is_savable()),
            (Unit::Fill.name(), fill.is_savable()),
            (Unit::Store.name(), store.is_savable()),
            (Unit::Load.name(), load.is_savable()),
            (Unit::WriteGlobal.name(), write_global.is_savable()),
            ("memory", self.shared.memory.seam.is_savable()),
        ];
        let vpus = VPU_NAMES.into_iter().zip(vpus.iter().map(Replaceable::is_savable));
        units.into_iter().chain(vpus).find(|(_, savable)| !savable).map(|(name, _)| name)
    }
}
