// Bitmaps of tiles to the bins and lists that tile programs read, for a window of triangles.

struct Window {
    /// Tiles in a row of the rectangle, and in all of it.
    columns: u32,
    tiles: u32,
    /// Its first tile in the frame.
    column: u32,
    row: u32,
    /// Words of a tile's summary, and of its bitmap behind it.
    summary_words: u32,
    words: u32,
    /// Words of the bitmap that are the window's.
    first: u32,
    count: u32,
    /// Room of a list.
    room: u32,
    number: u32,
}

@group(0) @binding(0) var<uniform> window: Window;
@group(0) @binding(1) var<storage, read> tiles: array<u32>;
/// Bins of four words, as many as there are tiles; then lists.
@group(0) @binding(2) var<storage, read_write> lists: array<u32>;
/// Arguments of indirect dispatches, four words for each window: first the number of its bins.
@group(0) @binding(3) var<storage, read_write> groups: array<atomic<u32>>;

@compute @workgroup_size(64)
fn gather(@builtin(global_invocation_id) id: vec3<u32>) {
    let tile = id.x;
    if tile >= window.tiles {
        return;
    }
    let bitmap = tile * (window.summary_words + window.words) + window.summary_words + window.first;
    var length = 0u;
    for (var i = 0u; i < window.count; i++) {
        length += countOneBits(tiles[bitmap + i]);
    }
    if length == 0u {
        return;
    }
    let bin = 4u * atomicAdd(&groups[4u * window.number], 1u);
    let list = 4u * window.tiles + tile * window.room;
    // Column and row of the tile, bytes from the first bin to the list, and its length.
    lists[bin] = window.column + tile % window.columns;
    lists[bin + 1u] = window.row + tile / window.columns;
    lists[bin + 2u] = 4u * list;
    lists[bin + 3u] = length;
    var at = list;
    for (var i = 0u; i < window.count; i++) {
        var bits = tiles[bitmap + i];
        while bits != 0u {
            lists[at] = 32u * i + firstTrailingBit(bits);
            bits &= bits - 1u;
            at += 1u;
        }
    }
}
