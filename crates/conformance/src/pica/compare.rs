//! When a result is as expected: `vectors/pica/FORMAT.md`, section 5.

use super::format::{Event, OUT_OF_RANGE, Set, TestProgram, Third};
use crate::report::Verdict;

/// What a run left behind.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// o0 to o15.
    pub outputs: Vec<u32>,
    /// r0 to r15; none where the engine does not see them.
    pub temps: Option<Vec<u32>>,
    /// a0.x, a0.y, aL; none where the engine does not see them.
    pub address: Option<[i32; 3]>,
    /// Condition flags; none where the engine does not see them.
    pub flags: Option<[bool; 2]>,
    /// Instructions executed; none where the engine does not count.
    pub steps: Option<u32>,
    /// What a geometry program sent.
    pub events: Vec<Event>,
    /// Whether the engine's device may flush denormals.
    pub may_flush: bool,
}

const RELATIVE: f32 = 1.0 / 512.0;
const ABSOLUTE: f32 = 1e-6;

/// How close is equal.
#[derive(Clone, Copy, Default)]
struct Tolerance {
    /// The program uses ops whose results are approximate.
    approximate: bool,
    /// Zeros stand for denormals of their sign.
    flushed: bool,
}

fn same(expected: u32, got: u32, Tolerance { approximate, flushed }: Tolerance) -> bool {
    let (e, g) = (f32::from_bits(expected), f32::from_bits(got));
    if flushed && e.is_subnormal() && got == expected & 0x8000_0000 {
        return true;
    }
    if expected == got || (e.is_nan() && g.is_nan()) {
        return true;
    }
    let finite = e.is_finite() && g.is_finite();
    approximate && finite && (e - g).abs() <= ABSOLUTE.max(RELATIVE * e.abs())
}

fn registers(what: char, expected: &[u32], got: &[u32], tolerance: Tolerance) -> Option<String> {
    if expected.len() != got.len() {
        return Some(format!("{} words of {what} registers instead of {}", got.len(), expected.len()));
    }
    let i = expected.iter().zip(got).position(|(&e, &g)| !same(e, g, tolerance))?;
    let (e, g) = (expected[i], got[i]);
    let c = ["x", "y", "z", "w"][i % 4];
    Some(format!(
        "{what}{}.{c} is {g:#010x} ({}), expected {e:#010x} ({})",
        i / 4,
        f32::from_bits(g),
        f32::from_bits(e)
    ))
}

fn difference(program: &TestProgram, set: &Set, got: &Observed, flushed: bool) -> Option<String> {
    let tolerance = Tolerance { approximate: program.approximate, flushed };
    if let Some(d) = registers('o', &set.outputs, &got.outputs, tolerance) {
        return Some(d);
    }
    if let Some(d) = got.temps.as_ref().and_then(|t| registers('r', &set.temps, t, tolerance)) {
        return Some(d);
    }
    if let Some(a) = got.address {
        let fold = |v: i32| if (-128..=127).contains(&v) { v } else { OUT_OF_RANGE };
        let a = [fold(a[0]), fold(a[1]), a[2]];
        for (name, (e, g)) in ["a0.x", "a0.y", "aL"].iter().zip(set.address.iter().zip(a)) {
            if *e != g {
                return Some(format!("{name} is {g}, expected {e}"));
            }
        }
    }
    if let Some(f) = got.flags.filter(|f| *f != set.flags) {
        return Some(format!("condition flags are {f:?}, expected {:?}", set.flags));
    }
    if let Some(steps) = got.steps.filter(|&s| !program.geometry && s != set.steps) {
        return Some(format!("{steps} instructions executed, expected {}", set.steps));
    }
    if set.events.len() != got.events.len() {
        return Some(format!("{} events, expected {}", got.events.len(), set.events.len()));
    }
    set.events.iter().zip(&got.events).enumerate().find_map(|(i, pair)| match pair {
        (Event::Winding, Event::Winding) => None,
        (Event::Vertex(e), Event::Vertex(g)) => {
            registers('o', e, g, tolerance).map(|d| format!("event {i}, packed registers: {d}"))
        }
        (e, g) => Some(format!("event {i} is {g:?}, expected {e:?}")),
    })
}

/// Whether a run is as expected but for zeros in place of denormals.
pub fn is_flushed(program: &TestProgram, set: &Set, got: &Observed) -> bool {
    difference(program, set, got, false).is_some() && difference(program, set, got, true).is_none()
}

/// Judges what a run left behind.
pub fn judge(program: &TestProgram, set: &Set, got: &Observed) -> Verdict {
    match difference(program, set, got, false) {
        None => Verdict::Passed,
        Some(d) if got.may_flush && is_flushed(program, set, got) => {
            Verdict::Unconfirmed(format!("the device does not promise to keep denormals: {d}"))
        }
        Some(d) => doubt(set, d),
    }
}

/// A failure, or only a doubt where FORMAT calls the expectation unconfirmed.
pub fn doubt(set: &Set, difference: String) -> Verdict {
    if set.verdict >= 3 && matches!(set.third, Third::Differs | Third::Refused) {
        Verdict::Unconfirmed(difference)
    } else {
        Verdict::Failed(difference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_approximate_programs_have_a_tolerance() {
        let (exact, approximate) = (Tolerance::default(), Tolerance { approximate: true, flushed: false });
        let (one, near) = (1f32.to_bits(), 1.001f32.to_bits());
        assert!(same(one, near, approximate));
        assert!(!same(one, near, exact));
        assert!(!same(one, 1.01f32.to_bits(), approximate));
        assert!(!same(0, 0x8000_0000, exact), "zeros of different sign differ");
        assert!(same(0x7fc0_0000, 0xffff_ffff, exact), "all NaNs are one");
        assert!(!same(f32::INFINITY.to_bits(), one, approximate));
    }

    #[test]
    fn only_denormals_may_be_flushed_and_keep_their_sign() {
        let flushed = Tolerance { approximate: false, flushed: true };
        assert!(same(0x8000_0200, 0x8000_0000, flushed));
        assert!(!same(0x8000_0200, 0, flushed));
        assert!(!same(0x8000_0200, 0x8000_0000, Tolerance::default()));
        assert!(!same(f32::MIN_POSITIVE.to_bits(), 0, flushed));
    }
}
