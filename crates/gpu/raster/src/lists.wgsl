// Lists of tiles and primitives by the primitives' variants.

struct Item {
    /// Column and row of the tile, in halves.
    tile: u32,
    primitive: u32,
    slot: u32,
}

@group(0) @binding(0) var<storage, read> grid: Grid;
@group(0) @binding(1) var<storage, read> primitives: array<u32>;
@group(0) @binding(2) var<storage, read> tiles: array<u32>;
/// Where the list of each variant begins.
@group(0) @binding(3) var<storage, read> firsts: array<u32>;
/// The first slot of each word of each tile's bitmap.
@group(0) @binding(4) var<storage, read_write> slots: array<u32>;
/// Slots, then the length of each list.
@group(0) @binding(5) var<storage, read_write> lengths: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> items: array<Item>;
/// Workgroups of each list, four words each.
@group(0) @binding(7) var<storage, read_write> groups: array<vec4<u32>>;

/// Runs over columns of tiles, rows of tiles, words of the summary. Slots of a word follow each other in drawing order;
/// all other orders are as they come, and no pixel depends on them.
@compute @workgroup_size(64)
fn collect(@builtin(global_invocation_id) id: vec3<u32>) {
    let tile = id.xy;
    if tile.x >= tile_count(grid).x {
        return;
    }
    let base = tile_base(grid, tile);
    let own = (tile.y * tile_count(grid).x + tile.x) * primitive_words(grid);
    var summary = tiles[base + id.z];
    while summary != 0u {
        let word = id.z * 32u + firstTrailingBit(summary);
        summary &= summary - 1u;
        var bits = tiles[base + summary_words(grid) + word];
        var slot = atomicAdd(&lengths[0], countOneBits(bits));
        slots[own + word] = slot;
        while bits != 0u {
            let primitive = word * 32u + firstTrailingBit(bits);
            bits &= bits - 1u;
            let variant = primitives[primitive * grid.stride + VARIANT];
            let number = atomicAdd(&lengths[1u + variant], 1u);
            items[firsts[variant] + number] = Item(tile.x | tile.y << 16u, primitive, slot);
            slot += 1u;
        }
    }
}

/// Runs over variants.
@compute @workgroup_size(64)
fn measure(@builtin(global_invocation_id) id: vec3<u32>) {
    let variant = id.x;
    if variant >= arrayLength(&groups) {
        return;
    }
    let length = atomicLoad(&lengths[1u + variant]);
    groups[variant] = vec4(min(length, ROW), (length + ROW - 1u) / ROW, 1u, 0u);
}
