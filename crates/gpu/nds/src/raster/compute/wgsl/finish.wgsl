// What happens to whole rows at the end: coverage, edge marking, fog, antialiasing, in this order. `finish.rs` says why.

/// Drawn pixels of a span's bitmap in columns `first` to `last`, without `last`.
fn count_drawn(edges: vec4<u32>, first: i32, last: i32) -> u32 {
    var count = 0u;
    var bit = u32(max(first - i32(edges.w), 0));
    let end = u32(max(last - i32(edges.w), 0));
    while bit < end {
        let word = bit >> 5u;
        let stop = min(end, (word + 1u) * 32u);
        let mask = (0xffffffffu >> (32u - (stop - bit))) << (bit & 31u);
        count += countOneBits(atomicLoad(&drawn[edges.z + word]) & mask);
        bit = stop;
    }
    return count;
}

/// Coverage that depends on how many pixels of the edge were drawn before. An invocation has a tile's columns of a row: few of their
/// pixels have any, and those are found in a loop of their own.
@compute @workgroup_size(8, 8)
fn cover(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.y >= frame.band.size.y {
        return;
    }
    let end = min((id.x + 1u) * TILE, frame.band.size.x);
    var x = id.x * TILE;
    loop {
        var place = 0u;
        var coverage = SETTLED;
        while coverage == SETTLED && x < end {
            place = pixel_place(x, frame.first + id.y);
            coverage = pixels[place].under.w;
            x++;
        }
        if coverage == SETTLED {
            break;
        }
        let span = coverage >> 1u;
        let side = coverage & 1u;
        let columns = spans[span].place;
        let edges = spans[span].edges;
        let inner = unpack_halves(columns.w);
        let first = select(unpack_halves(columns.z).x, max(inner.y, inner.x), side != 0u);
        let count = count_drawn(edges, first, i32(x) - 1);
        let rising = edges[side];
        let covered = min(((rising & 0x3ffu) + count * (rising >> 16u)) >> 5u, 31u);
        let falls = (columns.y & select(FALLS_LEFT, FALLS_RIGHT, side != 0u)) != 0u;
        pixels[place].top.z |= select(covered, 31u - covered, (side != 0u) != falls) << 8u;
    }
}

/// Whether a neighbour is of another opaque id and farther away.
fn is_outlined(own: Layer, x: i32, y: i32) -> bool {
    var depth = frame.clear_depth;
    var id = frame.clear_attributes & OPAQUE_ID;
    if x >= 0 && x < i32(frame.band.size.x) && y >= 0 && y < i32(frame.height) {
        let place = pixel_place(u32(x), u32(y));
        let top = pixels[place].top;
        depth = top.y;
        id = top.z & OPAQUE_ID;
    }
    return id != (own.attributes & OPAQUE_ID) && own.depth < depth;
}

fn fog_density(depth: u32) -> u32 {
    var density = frame.fog[0];
    if depth >= frame.fog_offset {
        // Large shifts wrap around in 32 bits.
        let place = ((depth - frame.fog_offset) >> 2u) << frame.fog_shift;
        let entry = place >> 17u;
        let fraction = place & 0x1ffffu;
        density = frame.fog[32];
        if entry < 32u {
            density = (frame.fog[entry] * (0x20000u - fraction) + frame.fog[entry + 1u] * fraction) >> 17u;
        }
    }
    // The largest density counts as 128.
    return select(density, 128u, density >= 127u);
}

fn fogged(layer: Layer) -> u32 {
    if (layer.attributes & FOG) == 0u {
        return layer.color;
    }
    let density = fog_density(layer.depth);
    var rgb = layer.color & 0xffffffu;
    if (frame.control & FOG_ALPHA_ONLY) == 0u {
        rgb = mix_color(frame.fog_color, layer.color, density, 7u);
    }
    let mixed = (alpha(frame.fog_color) * density + alpha(layer.color) * (128u - density)) >> 7u;
    return rgb | (mixed << 24u);
}

/// An edge pixel over what it covers.
fn antialiased(attributes: u32, color: u32, below: u32) -> u32 {
    let covered = (attributes & COVERAGE) >> 8u;
    if covered == 31u {
        return color;
    }
    if covered == 0u {
        return below;
    }
    let part = covered + 1u;
    var rgb = color & 0xffffffu;
    // Over nothing the colour stays.
    if alpha(below) > 0u {
        rgb = mix_color(color, below, part, 5u);
    }
    return rgb | (((alpha(color) * part + alpha(below) * (32u - part)) >> 5u) << 24u);
}

@compute @workgroup_size(8, 8)
fn finish(@builtin(global_invocation_id) id: vec3<u32>) {
    let width = frame.band.size.x;
    if id.x >= width || id.y >= frame.finish_count {
        return;
    }
    let y = frame.finish_first + id.y;
    let place = pixel_place(id.x, y);
    var top = layer(pixels[place].top);
    let is_edge = (top.attributes & EDGES) != 0u;
    if (frame.control & EDGE_MARKING) != 0u && is_edge {
        let x = i32(id.x);
        let row = i32(y);
        if is_outlined(top, x - 1, row) || is_outlined(top, x + 1, row) || is_outlined(top, x, row - 1)
            || is_outlined(top, x, row + 1) {
            top.color = frame.edge_colors[extractBits(top.attributes, 27u, 3u)] | (top.color & 0xff000000u);
            // Half transparent with antialiasing.
            top.attributes = (top.attributes & ~COVERAGE) | (16u << 8u);
        }
    }
    if (frame.control & FOG_ENABLED) != 0u {
        top.color = fogged(top);
    }
    if (frame.control & ANTIALIASING) != 0u && is_edge {
        var under = layer(pixels[place].under);
        if (frame.control & FOG_ENABLED) != 0u {
            under.color = fogged(under);
        }
        top.color = antialiased(top.attributes, top.color, under.color);
    }
    let at = id.y * width + id.x;
    let plane = frame.finish_count * width;
    finished[at] = top.color;
    if (frame.rules & COLORS_ONLY) != 0u {
        return;
    }
    finished[plane + at] = top.depth;
    finished[2u * plane + at] = top.attributes;
}
