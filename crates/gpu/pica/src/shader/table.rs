//! What is kept of shaders.

use super::engine::EngineError;
use super::program::Shader;
use rustc_hash::FxHashMap;

/// Shaders that are kept. A title has some dozens; one that makes new ones without end starts over.
const SHADERS: usize = 1024;

/// What a translation costs of the instructions that may be executed; else a list that changes its program before each
/// draw could keep the GPU busy for hours.
const TRANSLATION: u64 = 1 << 20;

/// Translated shaders, and why others could not be translated.
#[derive(Debug)]
pub(super) struct Table<T, E> {
    shaders: FxHashMap<Shader, Result<T, E>>,
}

impl<T, E> Default for Table<T, E> {
    fn default() -> Self {
        Table { shaders: FxHashMap::default() }
    }
}

impl<T, E: Clone + Into<EngineError>> Table<T, E> {
    /// What the shader was translated to; it is now if it is new.
    pub fn get(
        &mut self,
        shader: &Shader,
        fuel: &mut u64,
        translate: impl FnOnce() -> Result<T, E>,
    ) -> Result<&T, EngineError> {
        if !self.contains(shader) {
            *fuel = fuel.checked_sub(TRANSLATION).ok_or(EngineError::Fuel)?;
            self.make_room();
        }
        let translated = self.shaders.entry(shader.clone()).or_insert_with(translate);
        translated.as_ref().map_err(|error| error.clone().into())
    }

    /// Takes what was translated elsewhere.
    #[cfg(feature = "native")]
    pub fn insert(&mut self, shader: Shader, translated: Result<T, E>) {
        self.make_room();
        self.shaders.insert(shader, translated);
    }

    fn make_room(&mut self) {
        if self.shaders.len() >= SHADERS {
            self.shaders.clear();
        }
    }

    /// Whether the shader is there, translated or not.
    pub fn contains(&self, shader: &Shader) -> bool {
        self.shaders.contains_key(shader)
    }

    /// Shaders in the table.
    pub fn len(&self) -> usize {
        self.shaders.len()
    }
}
