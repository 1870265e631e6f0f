// Ends as codes of a few bits.

// What codes stand for: `step` times the code, with the code's highest bits repeated below, and the lowest bit of the end where it
// is stored apart.
struct Grid {
    // The highest codes.
    top: vec4<f32>,
    // Codes of a value of 1.
    scale: vec4<f32>,
    step: vec4<f32>,
    repeat: f32,
}

// Ends as a block stores them, and as decoders read them.
struct Stored {
    first: vec4<f32>,
    second: vec4<f32>,
    // The lowest bits that are stored apart.
    lowest: vec2<f32>,
    ends: Ends,
}

fn value_of(grid: Grid, code: vec4<f32>, lowest: f32) -> vec4<f32> {
    return code * grid.step + floor(code * grid.repeat) + lowest;
}

// The code of a value, not rounded.
fn code_of(grid: Grid, value: vec4<f32>, lowest: f32) -> vec4<f32> {
    return value * grid.scale - 0.5 * lowest;
}

fn nearest_code(grid: Grid, code: vec4<f32>) -> vec4<f32> {
    return round(clamp(code, vec4(0.0), grid.top));
}

// First ends of these codes, and the best second ends for them.
fn stored_with(least: Least, grid: Grid, first: vec4<f32>, lowest: vec2<f32>) -> Stored {
    let value = value_of(grid, first, lowest.x);
    let second = nearest_code(grid, code_of(grid, partner(least, value), lowest.y));
    return Stored(first, second, lowest, Ends(value, value_of(grid, second, lowest.y)));
}

// The best codes for fixed levels. Each component of the first end is rounded down and up, and the second end is the best one for it.
fn stored(least: Least, grid: Grid, lowest: vec2<f32>) -> Stored {
    let down = nearest_code(grid, code_of(grid, least.ends.first, lowest.x) - 0.5);
    let below = stored_with(least, grid, down, lowest);
    let above = stored_with(least, grid, min(down + 1.0, grid.top), lowest);
    let is_above = cost(least, above.ends) < cost(least, below.ends);
    return Stored(
        select(below.first, above.first, is_above),
        select(below.second, above.second, is_above),
        lowest,
        Ends(
            select(below.ends.first, above.ends.first, is_above),
            select(below.ends.second, above.ends.second, is_above),
        ),
    );
}
