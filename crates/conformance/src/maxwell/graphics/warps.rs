//! Votes and ballots of a source over warps of 32 invocations, whatever the device's subgroups are.

/// What sources call, and what stands for it.
const NAMES: [(&str, &str); 8] = [
    ("ballotARB", "warp_ballot"),
    ("anyInvocationARB", "warp_any"),
    ("allInvocationsARB", "warp_all"),
    ("allInvocationsEqualARB", "warp_equal"),
    ("readInvocationARB", "warp_read"),
    ("readFirstInvocationARB", "warp_read_first"),
    ("gl_SubGroupInvocationARB", "warp_lane()"),
    ("gl_SubGroupSizeARB", "32u"),
];

/// Each invocation tells the others of its workgroup a word; a warp is 32 that follow each other.
const WARPS: &str = "
shared uint warp_told[1024];
uint warp_lane() { return gl_LocalInvocationIndex & 31u; }
uint warp_place(uint lane) { return (gl_LocalInvocationIndex & ~31u) + lane; }
uint warp_lanes() { return min(32u, gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z - warp_place(0u)); }
void warp_tell(uint word) { barrier(); warp_told[gl_LocalInvocationIndex] = word; barrier(); }
uint warp_bits(bool p) {
  warp_tell(uint(p)); uint bits = 0u;
  for (uint lane = 0u; lane < warp_lanes(); lane++) bits |= warp_told[warp_place(lane)] << lane;
  return bits;
}
uint64_t warp_ballot(bool p) { return packUint2x32(uvec2(warp_bits(p), 0u)); }
bool warp_any(bool p) { return warp_bits(p) != 0u; }
bool warp_all(bool p) { return warp_bits(!p) == 0u; }
bool warp_equal(bool p) { bool all = warp_all(p); return warp_all(!p) || all; }
uint warp_read(uint word, uint lane) { warp_tell(word); return warp_told[warp_place(lane)]; }
int warp_read(int word, uint lane) { return int(warp_read(uint(word), lane)); }
float warp_read(float word, uint lane) { return uintBitsToFloat(warp_read(floatBitsToUint(word), lane)); }
uint warp_read_first(uint word) { return warp_read(word, 0u); }
int warp_read_first(int word) { return warp_read(word, 0u); }
float warp_read_first(float word) { return warp_read(word, 0u); }
";

/// A compute shader's source with its votes and ballots over warps. They are barriers then, so one that asks within braces,
/// where not all invocations may come by, stays as it is, as does one that asks nothing.
pub(super) fn widen(source: &str) -> String {
    let Some(main) = source.find("void main") else { return source.into() };
    let (declarations, body) = source.split_at(main);
    let mut depth = 0;
    let mut within = false;
    for (at, c) in body.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => within |= depth > 1 && NAMES.iter().any(|(name, _)| body[at..].starts_with(name)),
        }
    }
    if within || !NAMES.iter().any(|(name, _)| body.contains(name)) {
        return source.into();
    }
    let body = NAMES.iter().fold(body.to_owned(), |body, (name, instead)| body.replace(name, instead));
    format!("{declarations}{WARPS}{body}")
}

#[cfg(test)]
mod tests {
    use super::widen;

    #[test]
    fn votes_that_all_come_by_are_of_warps() {
        let source = "#version 450\nvoid main(){ if(anyInvocationARB(x)) { y=gl_LocalInvocationIndex; } }";
        let wide = widen(source);
        assert!(wide.ends_with("void main(){ if(warp_any(x)) { y=gl_LocalInvocationIndex; } }"), "{wide}");
        assert!(wide.starts_with("#version 450\n\nshared uint"), "{wide}");
    }

    #[test]
    fn other_shaders_stay_as_they_are() {
        for body in ["{ x = 1; }", "{ if (x) { y = ballotARB(z); } }"] {
            let source = format!("#version 450\nvoid main(){body}");
            assert_eq!(widen(&source), source);
        }
    }
}
