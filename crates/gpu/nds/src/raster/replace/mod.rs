//! Texture replacement: pictures in place of the guest's textures, usually of more texels.
//!
//! An emulator implements [`Replacements`], or takes [`TexturePack`], a table of pictures. Both renderers ask it about each texture
//! that they have not seen before. A picture is looked up by what the texture shows ([`TextureKey`]): it makes no difference where
//! in memory the texture lies, or when the guest writes it.

mod guest;

pub use guest::{GuestTexture, NotAKey, TextureKey};

use super::lanes::{Lanes, SignedLanes, gather};
use super::shade::Color;
use super::texture::{Format, Wrap, wraps};
use crate::geometry::polygon::PolygonList;
use crate::memory::TextureMemory;
use fearless_simd::prelude::*;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// Most columns or rows of a picture.
pub const MAX_SIDE: u32 = 1 << 14;
/// Most texels of a frame's pictures: 126 MiB. Textures above it are drawn as they are.
pub const MAX_TEXELS: usize = (1 << 25) - (1 << 19);

/// Why a picture cannot replace a texture.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ReplacementError {
    /// It is empty or too large.
    #[error("a picture of {} x {}; columns and rows are 1 to {MAX_SIDE}, and texels up to {MAX_TEXELS}", .0[0], .0[1])]
    Size([u32; 2]),
    /// It has more or fewer texels than its size says.
    #[error("{got} texels for a size of {wanted}")]
    Texels {
        /// As given.
        got: usize,
        /// As the size says.
        wanted: usize,
    },
}

/// A picture in place of a texture. It may have any size: it is stretched over the texture, and sampled without a filter.
#[derive(Clone, PartialEq, Eq)]
pub struct Replacement {
    size: [u32; 2],
    texels: Vec<Color>,
}

impl fmt::Debug for Replacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replacement").field("size", &self.size).finish_non_exhaustive()
    }
}

impl Replacement {
    /// A picture of 8 bits of red, green, blue and alpha, row by row from the top. The DS has 6 bits of colours and 5 of alpha.
    ///
    /// # Errors
    /// If its size is impossible, or not that of its texels.
    pub fn from_rgba8(size: [u32; 2], texels: &[[u8; 4]]) -> Result<Replacement, ReplacementError> {
        let can_be = size.iter().all(|side| (1..=MAX_SIDE).contains(side));
        let Some(wanted) =
            can_be.then(|| size[0] as usize * size[1] as usize).filter(|&wanted| wanted <= MAX_TEXELS)
        else {
            return Err(ReplacementError::Size(size));
        };
        if texels.len() != wanted {
            return Err(ReplacementError::Texels { got: texels.len(), wanted });
        }
        Ok(Replacement { size, texels: texels.iter().map(|&texel| guest::from_rgba8(texel)).collect() })
    }

    /// Columns and rows.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }
}

/// What there is in place of a texture.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Nothing: it is drawn as it is, and not asked about again.
    None,
    /// Nothing yet, for example as a file is still being read: ask in the next frame.
    Later,
    /// A picture.
    Picture(Arc<Replacement>),
}

/// Where pictures come from. A renderer asks in the middle of a frame: an answer is to be quick.
pub trait Replacements: Send + Sync {
    /// What there is in place of a texture.
    fn replacement(&self, texture: &GuestTexture) -> Answer;
}

/// Pictures in memory.
#[derive(Clone, Debug, Default)]
pub struct TexturePack(pub HashMap<TextureKey, Arc<Replacement>>);

impl Replacements for TexturePack {
    fn replacement(&self, texture: &GuestTexture) -> Answer {
        self.0.get(&texture.key).cloned().map_or(Answer::None, Answer::Picture)
    }
}

/// Distinct contents of textures that are remembered besides those of the frame at hand.
const REMEMBERED: usize = 4096;

/// Finds the pictures of a frame.
#[derive(Clone, Default)]
pub(crate) struct Replacer {
    source: Option<Arc<dyn Replacements>>,
    /// By memory that a texture is read from.
    answers: HashMap<u64, Option<Arc<Replacement>>>,
    /// Pictures of the frame, each once.
    pictures: Vec<Arc<Replacement>>,
    /// Their places by TEXIMAGE_PARAM and PLTT_BASE.
    places: HashMap<(u32, u32), Option<u32>>,
}

impl fmt::Debug for Replacer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replacer").field("pictures", &self.pictures).finish_non_exhaustive()
    }
}

impl Replacer {
    /// From where pictures come from.
    pub fn new(source: Option<Arc<dyn Replacements>>) -> Replacer {
        Replacer { source, ..Replacer::default() }
    }

    /// Finds the pictures of a frame's polygons. Whether they are others than those of the frame before.
    pub fn find(&mut self, list: &PolygonList, memory: &TextureMemory) -> bool {
        let Some(source) = &self.source else { return false };
        let before = std::mem::take(&mut self.pictures);
        self.places.clear();
        let palettes = memory.palettes();
        let mut used = HashSet::new();
        let mut texels = 0;
        for polygon in &list.polygons {
            let texture = (polygon.texture, polygon.palette);
            if Format::from(polygon.texture >> 26) == Format::None || self.places.contains_key(&texture) {
                continue;
            }
            let hash = guest::memory_hash(polygon.texture, polygon.palette, memory, &palettes);
            used.insert(hash);
            let picture = self.answers.get(&hash).cloned().or_else(|| {
                let texture = GuestTexture::read(polygon.texture, polygon.palette, memory);
                let answer = match source.replacement(&texture) {
                    Answer::Later => return None,
                    Answer::None => None,
                    Answer::Picture(picture) => Some(picture),
                };
                self.answers.insert(hash, answer.clone());
                Some(answer)
            });
            let place = match picture.flatten() {
                Some(picture) => match self.pictures.iter().position(|other| Arc::ptr_eq(other, &picture)) {
                    None if texels + picture.texels.len() > MAX_TEXELS => None,
                    None => {
                        texels += picture.texels.len();
                        self.pictures.push(picture);
                        Some(self.pictures.len() as u32 - 1)
                    }
                    there => there.map(|place| place as u32),
                },
                None => None,
            };
            self.places.insert(texture, place);
        }
        if self.answers.len() > REMEMBERED {
            self.answers.retain(|hash, _| used.contains(hash));
        }
        let is_same = |(a, b): (&Arc<Replacement>, &Arc<Replacement>)| Arc::ptr_eq(a, b);
        before.len() != self.pictures.len() || !before.iter().zip(&self.pictures).all(is_same)
    }

    /// The pictures that were found.
    pub fn pictures(&self) -> &[Arc<Replacement>] {
        &self.pictures
    }

    /// The place of a texture's picture.
    pub fn place(&self, param: u32, palette: u32) -> Option<u32> {
        self.places.get(&(param, palette)).copied().flatten()
    }
}

/// A picture as a polygon's pixels take it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replaced {
    /// Its place among the frame's.
    pub place: u32,
    /// In sixteenths of the guest's texels.
    wrap: [Wrap; 2],
    /// Bits of a column and a row, in these sixteenths.
    bits: [u32; 2],
}

impl Replaced {
    /// The picture at a place, in place of the texture of TEXIMAGE_PARAM.
    pub fn new(place: u32, param: u32) -> Replaced {
        Replaced { place, wrap: wraps(param, 16), bits: [7 + (param >> 20 & 7), 7 + (param >> 23 & 7)] }
    }

    /// Texels at coordinates of 12.4: the nearest ones.
    #[inline(always)]
    pub fn texels<S: Simd>(&self, pictures: &[Arc<Replacement>], at: [SignedLanes<S>; 2]) -> Lanes<S> {
        let [s, t] = [0, 1].map(
            #[inline(always)]
            |axis| self.wrap[axis].apply(at[axis]),
        );
        let Some(picture) = pictures.get(self.place as usize) else { return Lanes::splat(s.token(), 0) };
        let [width, height] = picture.size;
        let places = ((t * height) >> self.bits[1]) * width + ((s * width) >> self.bits[0]);
        gather(
            places,
            #[inline(always)]
            |place| picture.texels.get(place as usize).copied().unwrap_or(0),
        )
    }
}

#[cfg(feature = "compute")]
impl Replacement {
    /// Its texels, as the compute renderer reads them.
    pub(super) fn words(&self) -> &[u32] {
        &self.texels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_sizes_are_refused() {
        for size in [[0, 1], [1, MAX_SIDE + 1], [MAX_SIDE, MAX_SIDE], [u32::MAX; 2]] {
            assert_eq!(Replacement::from_rgba8(size, &[]), Err(ReplacementError::Size(size)));
        }
        let few = ReplacementError::Texels { got: 5, wanted: 6 };
        assert_eq!(Replacement::from_rgba8([2, 3], &[[0; 4]; 5]), Err(few));
        assert_eq!(Replacement::from_rgba8([2, 3], &[[0; 4]; 6]).map(|picture| picture.size()), Ok([2, 3]));
    }
}
