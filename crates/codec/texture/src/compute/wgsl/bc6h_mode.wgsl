// The modes of BC6H.

// A row of MODES.
struct Mode {
    regions: u32,
    transformed: u32,
    width: u32,
    deltas: vec3<u32>,
    header: u32,
    code: u32,
    // RUNS from the first to one behind the last.
    runs: vec2<u32>,
}

fn mode_of(number: u32) -> Mode {
    let row = MODES + 10u * number;
    return Mode(
        tables[row], tables[row + 1u], tables[row + 2u],
        vec3(tables[row + 3u], tables[row + 4u], tables[row + 5u]),
        tables[row + 6u], tables[row + 7u], vec2(tables[row + 8u], tables[row + 9u]),
    );
}
