// Sixteen lanes share a block: they unpack its weights and values together, a lane for each partition makes the
// endpoints, and then each makes every sixteenth texel. All of them read the header, which costs no more than one of them
// doing so.

// Profiles of `Profile::ALL`; those from the third on are of floats.
const SRGB: u32 = 1u;
const FLOAT16: u32 = 2u;
const HDR: u32 = 3u;

const LANES: u32 = 16u;
// Blocks of a workgroup.
const SLOTS: u32 = 4u;
const MAX_PARTITIONS: u32 = 4u;
// Room for the values of a block, and for what a partition of fewer than eight reads behind them.
const VALUE_ROOM: u32 = 24u;

var<workgroup> weights: array<u32, 256>;
var<workgroup> values: array<i32, 96>;
var<workgroup> pairs: array<Pair, 16>;

fn values_of(at: u32) -> Values {
    return Values(
        vec4(values[at], values[at + 1u], values[at + 2u], values[at + 3u]),
        vec4(values[at + 4u], values[at + 5u], values[at + 6u], values[at + 7u]),
    );
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = enter(workgroup, workgroups);
    let slot = local / LANES;
    let lane = local % LANES;
    let at = vec3(group.x * SLOTS + slot, group.yz);
    let inside = at.x < picture.blocks.x && at.z < picture.blocks.z;
    var block = vec4(0u);
    if inside {
        block = block_at(at);
    }
    let h = header_of(block);
    if h.legal {
        let reversed = cut(reverseBits(block.wzyx), h.weight_bits);
        for (var i = lane; i < h.weight_count; i += LANES) {
            weights[slot * MAX_WEIGHTS + i] = weight_at(reversed, h.weight_levels, i);
        }
        let packed = cut(block, h.values_at + sequence_bits(h.value_levels, h.value_count));
        for (var i = lane; i < h.value_count; i += LANES) {
            values[slot * VALUE_ROOM + i] = i32(value_at(packed, h.values_at, h.value_levels, i));
        }
    }
    workgroupBarrier();
    if h.legal && lane < h.partitions {
        var first = slot * VALUE_ROOM;
        for (var i = 0u; i < lane; i++) {
            first += value_count_of(h.modes[i]);
        }
        pairs[slot * MAX_PARTITIONS + lane] = pair_of(h.modes[lane], values_of(first));
    }
    workgroupBarrier();
    if !inside {
        return;
    }
    let constant = constant_color(block);
    let slopes = slopes_of(h);
    let size = picture.footprint;
    for (var i = lane; i < size.x * size.y * size.z; i += LANES) {
        let place = vec3(i % size.x, (i / size.x) % size.y, i / (size.x * size.y));
        let texel = at * size + place;
        if any(texel >= picture.size) {
            continue;
        }
        if !h.legal {
            store(texel, constant);
            continue;
        }
        let spot = spot_of(h, place);
        var weight = vec2(weight_of(slot, h, spot, 0u));
        if h.planes == 2u {
            weight.y = weight_of(slot, h, spot, 1u);
        }
        let pair = pairs[slot * MAX_PARTITIONS + partition_of(h, slopes, place)];
        store(texel, blended(h, pair, weight));
    }
}
