//! Alpha that has no part in colours: put into texels when those are made.

use super::codes::{Code, Reader, Word};
use super::lanes::Lanes;
use super::{Plan, Texel};
use pulp::NullaryFnOnce;

/// Texels for which codes are read at a time.
const TILE: usize = 512;

/// Sets alpha of rows from the `first` on.
pub(super) struct Fill<'a, L, T> {
    pub lanes: L,
    pub plan: &'a Plan<'a>,
    pub first: usize,
    pub rows: &'a mut [T],
}

impl<L: Lanes, T: Texel> NullaryFnOnce for Fill<'_, L, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Fill { lanes, plan, first, rows } = self;
        let (format, width) = (plan.frame.format, plan.frame.size[0]);
        let (factor, offset) = (plan.affine.matrix[3][3], plan.affine.offset[3]);
        let Some(channel) = &plan.frame.alpha else {
            rows.iter_mut().for_each(|texel| texel.set_alpha(offset));
            return;
        };
        let reader = Reader::new(format, false);
        let mut room = [0u16; TILE];
        for (y, row) in (first..).zip(rows.chunks_mut(width)) {
            for (tile, texels) in row.chunks_mut(TILE).enumerate() {
                let columns = tile * TILE..tile * TILE + texels.len();
                let room = &mut room[..];
                if format.bits == 8 {
                    let bytes = pulp::bytemuck::cast_slice_mut::<_, u8>(room);
                    set(
                        texels,
                        reader,
                        reader.read_apart(lanes, channel, y, columns, bytes),
                        [factor, offset],
                    );
                } else {
                    let words = pulp::bytemuck::cast_slice_mut(room);
                    set(
                        texels,
                        reader,
                        reader.read_apart::<L, Word>(lanes, channel, y, columns, words),
                        [factor, offset],
                    );
                }
            }
        }
    }
}

#[inline(always)]
fn set<T: Texel, C: Code>(texels: &mut [T], reader: Reader, codes: &[C], [factor, offset]: [f32; 2]) {
    for (texel, &code) in texels.iter_mut().zip(codes) {
        texel.set_alpha(f32::from(code.number(reader)) * factor + offset);
    }
}
