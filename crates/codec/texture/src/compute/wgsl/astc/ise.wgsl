// Bounded integer sequences, a value at a time. Five digits of three share eight bits, three digits of five share seven.

// A row of LEVELS: bits, and digits to a group: 1, 5 of three, 3 of five.
fn levels_of(row: u32) -> vec2<u32> {
    return vec2(tables[LEVELS + 2u * row], tables[LEVELS + 2u * row + 1u]);
}

// Bits of `count` values.
fn sequence_bits(row: u32, count: u32) -> u32 {
    let levels = levels_of(row);
    switch levels.y {
        case 5u: {
            return count * levels.x + (8u * count + 4u) / 5u;
        }
        case 3u: {
            return count * levels.x + (7u * count + 2u) / 3u;
        }
        default: {
            return count * levels.x;
        }
    }
}

// The first `count` bits of a block, and zeros behind them: a sequence's last group may be cut short.
fn cut(block: vec4<u32>, count: u32) -> vec4<u32> {
    let left = vec4<u32>(clamp(vec4(i32(count)) - vec4(0, 32, 64, 96), vec4(0), vec4(32)));
    return select(block & ((vec4(1u) << left) - 1u), block, left == vec4(32u));
}

// Value `i` of those that begin at bit `at`: the digit above the bits.
fn packed_value(block: vec4<u32>, at: u32, row: u32, i: u32) -> u32 {
    let levels = levels_of(row);
    let n = levels.x;
    switch levels.y {
        case 5u: {
            let start = at + (i / 5u) * (5u * n + 8u);
            let k = i % 5u;
            let shared_bits = bits(block, start + n, 2u) | (bits(block, start + 2u * n + 2u, 2u) << 2u)
                | (bits(block, start + 3u * n + 4u, 1u) << 4u) | (bits(block, start + 4u * n + 5u, 2u) << 5u)
                | (bits(block, start + 5u * n + 7u, 1u) << 7u);
            let digit = (tables[TRITS + shared_bits] >> (2u * k)) & 3u;
            // Of the shared bits, 2, 4, 5 and 7 lie before the bits of the second to the fifth value.
            return (digit << n) | bits(block, start + k * n + ((0x75420u >> (4u * k)) & 0xfu), n);
        }
        case 3u: {
            let start = at + (i / 3u) * (3u * n + 7u);
            let k = i % 3u;
            let shared_bits = bits(block, start + n, 3u) | (bits(block, start + 2u * n + 3u, 2u) << 3u)
                | (bits(block, start + 3u * n + 5u, 2u) << 5u);
            let digit = (tables[QUINTS + shared_bits] >> (3u * k)) & 7u;
            return (digit << n) | bits(block, start + k * n + ((0x530u >> (4u * k)) & 0xfu), n);
        }
        default: {
            return bits(block, at + i * n, n);
        }
    }
}

// Weight `i`, 0 to 64, of a block whose bits are in reverse.
fn weight_at(reversed: vec4<u32>, row: u32, i: u32) -> u32 {
    return byte(WEIGHTS + 64u * row + packed_value(reversed, 0u, row, i));
}

// Value `i` of endpoints, 0 to 255.
fn value_at(block: vec4<u32>, at: u32, row: u32, i: u32) -> u32 {
    return byte(VALUES + 256u * row + packed_value(block, at, row, i));
}
