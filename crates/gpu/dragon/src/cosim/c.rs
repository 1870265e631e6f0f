//! Models behind the C ABI.

use super::{Config, Model};
use std::ffi::{c_int, c_void};
use std::ptr;
use thiserror::Error;

/// Version of the ABI, which changes with every structure and meaning in `include/xenoglot_dragon.h`.
pub const ABI: u32 = 2;

/// Bytes of a state that a model can have.
const MAX_STATE: usize = 64 << 20;

/// A model as a table of functions; `xenoglot_dragon_raster_model` and so on in the header. All functions get `user` as their first argument.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Table<I, O> {
    /// [`ABI`].
    pub abi: u32,
    /// Not used.
    pub reserved: u32,
    /// The model's own.
    pub user: *mut c_void,
    /// [`Model::reset`].
    pub reset: Option<unsafe extern "C" fn(*mut c_void, *const Config)>,
    /// [`Model::tick`]; the output is zero before.
    pub tick: Option<unsafe extern "C" fn(*mut c_void, *const I, *mut O)>,
    /// [`Model::save`]: writes the state if it has at most so many bytes; gives its size, 0 if the model cannot be saved.
    /// Null if the model cannot be saved.
    pub save: Option<unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> usize>,
    /// [`Model::load`]: not 0 if it was taken. Null if the model cannot be saved.
    pub load: Option<unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int>,
    /// The model is not used any more. May be null.
    pub destroy: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// Why a table is none.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum AbiError {
    /// Another version.
    #[error("a model of ABI version {0}; this program has version {ABI}")]
    Version(u32),
    /// A function that every model has.
    #[error("a model without {0}")]
    Missing(&'static str),
}

/// A [`Model`] that calls the functions of a C table.
#[derive(Debug)]
pub struct CModel<I, O>(Table<I, O>);

impl<I, O> CModel<I, O> {
    /// The model of a table, which is destroyed with it.
    ///
    /// # Safety
    /// The functions are those of this table's type and can be called, from any thread but only from one at a time,
    /// until `destroy` was. They read and write nothing but `user`'s data and what their arguments point to, in the
    /// length that is given, and keep no pointer to it.
    ///
    /// # Errors
    /// Another version of the ABI, or functions that are missing. `destroy` is not called then.
    pub unsafe fn new(table: Table<I, O>) -> Result<CModel<I, O>, AbiError> {
        if table.abi != ABI {
            return Err(AbiError::Version(table.abi));
        }
        table.reset.ok_or(AbiError::Missing("reset"))?;
        table.tick.ok_or(AbiError::Missing("tick"))?;
        Ok(CModel(table))
    }
}

// SAFETY: `new` demands functions that can be called from any thread.
unsafe impl<I, O> Send for CModel<I, O> {}

impl<I, O: Default> Model<I, O> for CModel<I, O> {
    fn reset(&mut self, config: &Config) {
        if let Some(reset) = self.0.reset {
            // SAFETY: `new` demands that it can be called with its user and such a pointer.
            unsafe { reset(self.0.user, config) }
        }
    }

    fn tick(&mut self, input: &I) -> O {
        let mut output = O::default();
        if let Some(tick) = self.0.tick {
            // SAFETY: as above; any bytes are an output, which has integers only.
            unsafe { tick(self.0.user, input, &mut output) }
        }
        output
    }

    fn save(&self) -> Option<Vec<u8>> {
        let (save, user) = (self.0.save?, self.0.user);
        // SAFETY: as above; nothing is written to a buffer of no bytes.
        let length = unsafe { save(user, ptr::null_mut(), 0) };
        if !(1..=MAX_STATE).contains(&length) {
            return None;
        }
        let mut state = vec![0; length];
        // SAFETY: as above; the buffer has this length.
        let written = unsafe { save(user, state.as_mut_ptr(), length) };
        (written == length).then_some(state)
    }

    fn load(&mut self, state: &[u8]) -> bool {
        // SAFETY: as above; the buffer has this length.
        self.0.load.is_some_and(|load| unsafe { load(self.0.user, state.as_ptr(), state.len()) != 0 })
    }
}

impl<I, O> Drop for CModel<I, O> {
    fn drop(&mut self) {
        if let Some(destroy) = self.0.destroy {
            // SAFETY: as above; nothing is called after this.
            unsafe { destroy(self.0.user) }
        }
    }
}
