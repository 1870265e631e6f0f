//! Alpha that has no part in colours: put into texels when those are made.

use super::codes::Reader;
use super::{Plan, Texel};

/// Texels for which codes are read at a time.
const TILE: usize = 512;

/// Sets alpha of rows from the `first` on.
pub(super) fn fill<T: Texel>(plan: &Plan<'_>, first: usize, rows: &mut [T]) {
    let (format, width) = (plan.frame.format, plan.frame.size[0]);
    let (factor, offset) = (plan.affine.matrix[3][3], plan.affine.offset[3]);
    let Some(channel) = &plan.frame.alpha else {
        rows.iter_mut().for_each(|texel| texel.set_alpha(offset));
        return;
    };
    let reader = Reader::new(format, false);
    let mut room = [[0u16; TILE]];
    for (y, row) in (first..).zip(rows.chunks_mut(width)) {
        for (tile, texels) in row.chunks_mut(TILE).enumerate() {
            let columns = tile * TILE..tile * TILE + texels.len();
            let mut set = |i: usize, code: u16| {
                if let Some(texel) = texels.get_mut(i) {
                    texel.set_alpha(f32::from(code) * factor + offset);
                }
            };
            let [room] = &mut room;
            if format.bits == 8 {
                let bytes: &mut [u8] = pulp::bytemuck::cast_slice_mut(room);
                let codes = reader.read(channel, y, columns, 0, bytes);
                codes.iter().enumerate().for_each(|(i, &code)| set(i, code.into()));
            } else {
                let codes = reader.read(channel, y, columns, 0, &mut room[..]);
                codes.iter().enumerate().for_each(|(i, &code)| set(i, code));
            }
        }
    }
}
