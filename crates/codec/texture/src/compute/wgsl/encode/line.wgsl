// Lines through the colours of a block. All functions take four components; what a format does not have is 0 in all texels, so
// that it adds nothing to any sum.

// The least divisor; smaller ones are replaced by it.
const LEAST: f32 = 1e-4;

// The texels of the block, row by row.
var<private> texels: array<vec4<f32>, 16>;

// Two ends of a line.
struct Ends {
    first: vec4<f32>,
    second: vec4<f32>,
}

// The least and the greatest of each component.
fn bounds() -> Ends {
    var ends = Ends(texels[0], texels[0]);
    for (var i = 1u; i < 16u; i++) {
        ends = Ends(min(ends.first, texels[i]), max(ends.second, texels[i]));
    }
    return ends;
}

fn sum_of_texels() -> vec4<f32> {
    var sum = vec4(0.0);
    for (var i = 0u; i < 16u; i++) {
        sum += texels[i];
    }
    return sum;
}

// The direction along which texels differ most, of any length; zero for a single colour. Power iteration of the scatter matrix, from
// its column with the greatest diagonal.
fn principal_axis(mean: vec4<f32>) -> vec4<f32> {
    var scatter = mat4x4<f32>();
    for (var i = 0u; i < 16u; i++) {
        let offset = texels[i] - mean;
        scatter += mat4x4(offset * offset.x, offset * offset.y, offset * offset.z, offset * offset.w);
    }
    // With a trace of 1, the greatest eigenvalue is 1/4 to 1: the column neither overflows nor vanishes.
    let diagonal = vec4(scatter[0].x, scatter[1].y, scatter[2].z, scatter[3].w);
    scatter *= 1.0 / max(dot(diagonal, vec4(1.0)), 1e-20);
    var axis = scatter[0];
    var greatest = diagonal.x;
    if diagonal.y > greatest {
        axis = scatter[1];
        greatest = diagonal.y;
    }
    if diagonal.z > greatest {
        axis = scatter[2];
        greatest = diagonal.z;
    }
    if diagonal.w > greatest {
        axis = scatter[3];
    }
    for (var i = 0u; i < 7u; i++) {
        axis = scatter * axis;
    }
    return axis;
}

// The ends of the shortest segment of the principal line that has the projections of all texels.
fn principal(mean: vec4<f32>) -> Ends {
    let axis = principal_axis(mean);
    var least = 0.0;
    var most = 0.0;
    for (var i = 0u; i < 16u; i++) {
        let at = dot(axis, texels[i] - mean);
        least = min(least, at);
        most = max(most, at);
    }
    let scale = 1.0 / max(dot(axis, axis), 1e-12);
    return Ends(mean + axis * (least * scale), mean + axis * (most * scale));
}

// The levels between two ends: the projection of a texel onto the line, of which the first end is 0 and the second `top`.
struct Levels {
    way: vec4<f32>,
    start: f32,
    top: f32,
    // The highest level of the first texel: some formats do not store its highest bit.
    first_top: f32,
}

fn levels_of(ends: Ends, top: f32) -> Levels {
    let way = ends.second - ends.first;
    let scaled = way * (top / max(dot(way, way), LEAST));
    return Levels(scaled, -dot(scaled, ends.first), top, top);
}

// The level that is nearest to texel `i`.
fn level(levels: Levels, i: u32) -> f32 {
    let at = dot(levels.way, texels[i]) + levels.start;
    return round(clamp(at, 0.0, select(levels.top, levels.first_top, i == 0u)));
}

// The levels of all texels, of `count` bits each, of eight texels in a word.
fn packed_levels(levels: Levels, count: u32) -> vec2<u32> {
    var halves = vec2(0u);
    for (var i = 0u; i < 8u; i++) {
        halves |= vec2(u32(level(levels, i)), u32(level(levels, i + 8u))) << vec2(count * i);
    }
    return halves;
}

// The sum of squared distances of texels from their levels.
fn squared_error(ends: Ends, levels: Levels) -> f32 {
    let step = (ends.second - ends.first) / levels.top;
    var error = 0.0;
    for (var i = 0u; i < 16u; i++) {
        let left = (texels[i] - ends.first) - level(levels, i) * step;
        error += dot(left, left);
    }
    return error;
}

// The ends of least squares, and the quadratic form that gives the error of any other ends. A texel at level l of `top` is the first
// end with the weight 1 - l / `top`, and the second with the weight l / `top`.
struct Least {
    ends: Ends,
    // Sums of the squares of the first end's weights, of the products of both, and of the squares of the second's.
    near: f32,
    both: f32,
    far: f32,
    // Sums of each component times either weight.
    with_near: vec4<f32>,
    with_far: vec4<f32>,
}

// Least squares for the levels that texels have between two ends. Where all are at one level, the ends stay as they are.
fn least_squares(ends: Ends, levels: Levels) -> Least {
    var sum = 0.0;
    var squares = 0.0;
    var all = vec4(0.0);
    var weighted = vec4(0.0);
    for (var i = 0u; i < 16u; i++) {
        let at = level(levels, i);
        sum += at;
        squares += at * at;
        all += texels[i];
        weighted += at * texels[i];
    }
    let unit = 1.0 / levels.top;
    let far = squares * (unit * unit);
    let with_far = weighted * unit;
    var found = Least(ends, 16.0 - 2.0 * (sum * unit) + far, sum * unit - far, far, all - with_far, with_far);
    let spread = 16.0 * squares - sum * sum;
    if spread > 0.5 {
        let step = (16.0 * weighted - sum * all) / spread;
        let first = (all - step * sum) / 16.0;
        found.ends = Ends(first, first + step * levels.top);
    }
    return found;
}

// The squared error of each component, without the term that does not depend on the ends.
fn cost(least: Least, ends: Ends) -> vec4<f32> {
    let own = least.near * ends.first + 2.0 * (least.both * ends.second - least.with_near);
    let other = least.far * ends.second - 2.0 * least.with_far;
    return ends.first * own + ends.second * other;
}

// The best second end for a first one.
fn partner(least: Least, first: vec4<f32>) -> vec4<f32> {
    return (least.with_far - least.both * first) / max(least.far, LEAST);
}
