// Takes polygons out of the tiles that their bounds touch, but none of their spans.

/// Where the extent of a polygon in a row of tiles is, behind the words of all tiles.
fn extent_place(polygon: u32, tile_row: u32) -> u32 {
    let count = tile_count(frame.band);
    return tile_base(frame.band, vec2(0u, count.y)) + polygon * count.y + tile_row;
}

/// First and last column that a polygon has in a row of tiles; of a mask that clears a row, all of the row.
@compute @workgroup_size(64)
fn extents(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= tile_count(frame.band).y {
        return;
    }
    let band = polygons[id.y].band;
    let top = frame.first + id.x * TILE;
    let first = max(top, band.x);
    let last = min(top + TILE, band.x + band.y);
    var low = i32(frame.band.size.x);
    var high = -1;
    for (var y = first; y < last; y++) {
        let place = spans[band.z + y - band.x].place;
        let shown = unpack_halves(place.x);
        if shown.x <= shown.y {
            low = min(low, shown.x);
            high = max(high, shown.y);
        }
        if (place.y & CLEARS) != 0u {
            low = 0;
            high = i32(frame.band.size.x) - 1;
        }
    }
    tiles[extent_place(id.y, id.x)] = pack_halves(low, high);
}

/// An invocation has a tile.
@compute @workgroup_size(64)
fn narrow(@builtin(global_invocation_id) id: vec3<u32>) {
    let grid = frame.band;
    if id.x >= tile_count(grid).x {
        return;
    }
    let base = tile_base(grid, id.xy);
    let words = base + summary_words(grid);
    let left = i32(id.x * TILE);
    for (var s = 0u; s < summary_words(grid); s++) {
        let summary = tiles[base + s];
        var kept = summary;
        for (var rest = summary; rest != 0u; rest &= rest - 1u) {
            let bit = firstTrailingBit(rest);
            let word = s * 32u + bit;
            let touching = tiles[words + word];
            var bits = touching;
            for (var candidates = touching; candidates != 0u; candidates &= candidates - 1u) {
                let candidate = firstTrailingBit(candidates);
                let extent = unpack_halves(tiles[extent_place(word * 32u + candidate, id.y)]);
                if extent.x >= left + i32(TILE) || extent.y < left {
                    bits &= ~(1u << candidate);
                }
            }
            if bits != touching {
                tiles[words + word] = bits;
            }
            if bits == 0u {
                kept &= ~(1u << bit);
            }
        }
        if kept != summary {
            tiles[base + s] = kept;
        }
    }
}
