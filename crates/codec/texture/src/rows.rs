//! From blocks of 4×4 texels to rows.

/// Blocks that are prepared together.
pub const BATCH: usize = 64;

/// Decodes rows of blocks of `B` bytes to texels of `N` bytes, `width` to a row. `data` and `out` are of the same rows;
/// what hangs over the right or lower edge is dropped.
#[inline(always)]
pub fn decode<const B: usize, const N: usize>(
    width: usize,
    data: &[u8],
    out: &mut [u8],
    block: impl Fn(&[u8; B]) -> [[[u8; N]; 4]; 4],
) {
    decode_prepared(
        width,
        data,
        out,
        #[inline(always)]
        |_, _: &mut [(); BATCH]| (),
        #[inline(always)]
        |data, ()| block(data),
    );
}

/// As [`decode`]; up to [`BATCH`] adjacent blocks are prepared in one loop.
#[inline(always)]
pub fn decode_prepared<const B: usize, const N: usize, P: Copy + Default>(
    width: usize,
    data: &[u8],
    out: &mut [u8],
    prepare: impl Fn(&[[u8; B]], &mut [P; BATCH]),
    block: impl Fn(&[u8; B], &P) -> [[[u8; N]; 4]; 4],
) {
    let pitch = width * N;
    let mut prepared = [P::default(); BATCH];
    let rows_of_blocks = data.chunks_exact(width.div_ceil(4) * B);
    for (blocks, rows) in rows_of_blocks.zip(out.chunks_mut(4 * pitch)) {
        let (blocks, _) = blocks.as_chunks::<B>();
        // Whole blocks are stored without looking at the edges again.
        let whole = if rows.len() == 4 * pitch { width / 4 } else { 0 };
        let (inner, edge) = blocks.split_at(whole);
        {
            let [a, b, c, d] = split(rows, pitch);
            let (mut a, mut b) = (texels::<N>(a), texels::<N>(b));
            let (mut c, mut d) = (texels::<N>(c), texels::<N>(d));
            for batch in inner.chunks(BATCH) {
                prepare(batch, &mut prepared);
                let rows = a.by_ref().zip(b.by_ref()).zip(c.by_ref()).zip(d.by_ref());
                for ((data, prepared), (((a, b), c), d)) in batch.iter().zip(&prepared).zip(rows) {
                    [*a, *b, *c, *d] = block(data, prepared);
                }
            }
        }
        for (batch, data) in edge.chunks(BATCH).enumerate() {
            prepare(data, &mut prepared);
            for (x, (data, prepared)) in data.iter().zip(&prepared).enumerate() {
                let first = (whole + batch * BATCH + x) * 4;
                let count = (width - first).min(4);
                for (row, texels) in rows.chunks_exact_mut(pitch).zip(block(data, prepared)) {
                    let texels = &texels.as_flattened()[..count * N];
                    row[first * N..][..texels.len()].copy_from_slice(texels);
                }
            }
        }
    }
}

/// The four rows of `rows`; empty ones where there are fewer.
#[inline(always)]
fn split(rows: &mut [u8], pitch: usize) -> [&mut [u8]; 4] {
    let mut rows = rows.chunks_exact_mut(pitch);
    core::array::from_fn(|_| rows.next().unwrap_or_default())
}

/// A row as quadruples of texels.
#[inline(always)]
fn texels<const N: usize>(row: &mut [u8]) -> impl Iterator<Item = &mut [[u8; N]; 4]> {
    row.as_chunks_mut::<N>().0.as_chunks_mut::<4>().0.iter_mut()
}
