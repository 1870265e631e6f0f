//! What a cache on disk keeps of the guest: pixel states and vertex programs, from which their code for any host is made
//! again after an update.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use xenoglot_cache::{Cache, Guest, Recording, from_bytes, to_bytes};
use xenoglot_host::{Device, Error};
use xenoglot_ir::Module;

use crate::fragment::tile::{self, TileKey};
use crate::fragment::{Options, Scale};
use crate::raster::Chip;
use crate::regs::{COUNT, Registers};
use crate::shader::{Program, Shader, Source, module_for_host};

/// A pixel state: options, and pairs of register and value, all others 0.
const PIXELS: &str = "pica pixels 2";
/// A shader: code, descriptors, entry point, outputs that EMIT copies.
const SHADER: &str = "pica shader 1";

type PixelsBytes = (OptionsBytes, Vec<(u32, u32)>);
/// Samples along each axis; filters, levels of detail, permissions. Draws that need the rest of [`Chip`] have no programs.
type OptionsBytes = (u32, [bool; 3]);
type ShaderBytes = (Vec<u32>, Vec<u32>, u32, Option<u16>);

/// The key of a tile program, with the registers it is of where somebody wants to keep them.
#[derive(Clone, Debug)]
pub(super) struct PixelState {
    key: TileKey,
    options: Options,
    regs: Option<Registers>,
}

impl PartialEq for PixelState {
    fn eq(&self, other: &PixelState) -> bool {
        self.key == other.key
    }
}

impl Eq for PixelState {}

impl Hash for PixelState {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl PixelState {
    /// The state of a draw; none if it changes nothing.
    pub fn decode(regs: &Registers, options: Options, cache: &Cache) -> Option<PixelState> {
        let key = TileKey::decode(regs, options)?;
        Some(PixelState { key, options, regs: cache.is_kept().then(|| regs.clone()) })
    }

    /// What decides about the code.
    pub fn key(&self) -> &TileKey {
        &self.key
    }

    /// The program. The state is kept in the cache.
    pub fn generate(&self, cache: &Cache) -> Module {
        if let Some(regs) = &self.regs {
            cache.remember(&self.guest(regs));
        }
        tile::generate(&self.key)
    }

    fn guest(&self, regs: &Registers) -> Guest {
        let Options { scale, chip, .. } = self.options;
        let options = (scale.get(), [chip.filters, chip.mipmaps, chip.permissions]);
        let bytes: PixelsBytes = (options, self.needed(regs));
        let program = to_bytes(&bytes).unwrap_or_default();
        Guest { kind: PIXELS.into(), program, recording: Recording::default() }
    }

    /// The registers without which the key would be another: states that differ in other ones only are kept once.
    fn needed(&self, regs: &Registers) -> Vec<(u32, u32)> {
        let mut left = regs.clone();
        for register in 0..COUNT as u32 {
            let value = left.get(register);
            left.set(register, 0);
            if value != 0 && TileKey::decode(&left, self.options).as_ref() != Some(&self.key) {
                left.set(register, value);
            }
        }
        (0..COUNT as u32).map(|n| (n, left.get(n))).filter(|&(_, value)| value != 0).collect()
    }
}

/// What a cache keeps of a draw's pixel state on renderers with these options; none if the draw changes nothing.
pub fn guest_of_pixels(regs: &Registers, options: Options) -> Option<Guest> {
    Some(PixelState { key: TileKey::decode(regs, options)?, options, regs: None }.guest(regs))
}

/// Keeps a shader in a cache.
pub(crate) fn remember(cache: &Cache, shader: &Shader) {
    if cache.is_kept() {
        let Source { program, .. } = &*shader.source;
        let bytes: ShaderBytes =
            (program.code.clone(), program.descriptors.clone(), shader.entry, shader.geometry);
        let program = to_bytes(&bytes).unwrap_or_default();
        cache.remember(&Guest { kind: SHADER.into(), program, recording: Recording::default() });
    }
}

/// The module that a guest in a cache becomes on a GPU of the host; none if it is not of the PICA200.
fn module(guest: &Guest) -> Option<Module> {
    match guest.kind.as_str() {
        PIXELS => {
            let mut regs = Registers::default();
            let ((scale, [filters, mipmaps, permissions]), values) =
                from_bytes::<PixelsBytes>(&guest.program)?;
            values.into_iter().for_each(|(n, value)| regs.set(n, value));
            let chip = Chip { filters, mipmaps, permissions, ..Chip::default() };
            let options = Options { scale: Scale::new(scale)?, chip, ..Options::default() };
            Some(tile::generate(&TileKey::decode(&regs, options)?))
        }
        SHADER => {
            let (code, descriptors, entry, geometry) = from_bytes::<ShaderBytes>(&guest.program)?;
            let shader = Shader { source: Arc::new(Source::new(&code, &descriptors)), entry, geometry };
            module_for_host(&Program::new(&shader).ok()?)
        }
        _ => None,
    }
}

/// Translates a pixel state or shader that a cache has kept for a device, if it was not since the last update: for
/// [`Cache::refill`](xenoglot_cache::Cache). Gives whether it is one of ours.
///
/// # Errors
/// [`Error::Translation`] for what cannot be translated.
pub fn translate_again(device: &Device, guest: &Guest) -> Result<bool, Error> {
    module(guest).map_or(Ok(false), |module| device.translate(module).map(|()| true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regs::{COLOR_WRITE, FRAGMENT_MODE};

    #[test]
    fn a_state_is_kept_without_what_does_not_matter() {
        let mut regs = Registers::default();
        // Copies colours; blending off, all channels written.
        regs.set(FRAGMENT_MODE, 1 << 8);
        regs.set(crate::regs::DEPTH_TEST, 0xf00);
        regs.set(COLOR_WRITE, 0xf);
        for n in (0..0x300).step_by(7) {
            if regs.get(n) == 0 {
                regs.set(n, 0x0012_3457 * n);
            }
        }
        let options = Options { scale: Scale::MAX, ..Options::default() };
        let key = TileKey::decode(&regs, options).unwrap();
        let state = PixelState { key: key.clone(), options, regs: None };
        let needed = state.needed(&regs);
        let mut again = Registers::default();
        needed.iter().for_each(|&(n, value)| again.set(n, value));
        assert_eq!(TileKey::decode(&again, options), Some(key));
        assert!(needed.len() < 40, "{needed:x?}");
        // Nothing of a vertex shader matters.
        assert!(needed.iter().all(|&(n, _)| n < 0x280));
        regs.set(0x2c1, 99);
        assert_eq!(state.needed(&regs), needed);
        let guest = Guest {
            kind: PIXELS.into(),
            program: state.guest(&regs).program,
            recording: Recording::default(),
        };
        assert_eq!(module(&guest).unwrap().to_string(), tile::generate(state.key()).to_string());
        assert!(module(&Guest { kind: "file 1".into(), ..guest }).is_none());
    }
}
