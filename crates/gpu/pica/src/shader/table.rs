//! What engines keep of programs.

use super::engine::{EngineError, Shader};
use rustc_hash::FxHashMap;

/// Programs that are kept. A title has some dozens; one that makes new ones without end starts over.
const PROGRAMS: usize = 1024;

/// What a translation costs of the instructions that may be executed; else a list that changes its program before each
/// draw could keep the GPU busy for hours.
const TRANSLATION: u64 = 1 << 20;

/// Translated programs, and why others could not be translated.
#[derive(Debug)]
pub(super) struct Table<T, E> {
    programs: FxHashMap<Shader, Result<T, E>>,
}

impl<T, E> Default for Table<T, E> {
    fn default() -> Self {
        Table { programs: FxHashMap::default() }
    }
}

impl<T, E: Clone + Into<EngineError>> Table<T, E> {
    /// The program, translated if it is new.
    pub fn get(
        &mut self,
        shader: &Shader,
        fuel: &mut u64,
        translate: impl FnOnce() -> Result<T, E>,
    ) -> Result<&T, EngineError> {
        if !self.programs.contains_key(shader) {
            *fuel = fuel.checked_sub(TRANSLATION).ok_or(EngineError::Fuel)?;
            if self.programs.len() >= PROGRAMS {
                self.programs.clear();
            }
        }
        let program = self.programs.entry(shader.clone()).or_insert_with(translate);
        program.as_ref().map_err(|error| error.clone().into())
    }

    /// Programs in the table.
    pub fn len(&self) -> usize {
        self.programs.len()
    }
}
