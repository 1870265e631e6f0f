//! How tests draw random cases.
//!
//! A run draws the same cases as any other, so that nobody's first run depends on luck. With `XENOGLOT_LONG=1`
//! (`./test.sh --long`) the cases are fresh ones. Every test that draws prints its seed, which the test harness shows if
//! the test fails; `XENOGLOT_SEED=N` draws the cases of seed N again.
//!
//! What such a test ever found is kept as a case that every run tries: by proptest, in a file
//! `TEST.proptest-regressions` beside the test, which belongs into the repository; elsewhere as a test of its own.

use crate::rng::Rng;
#[cfg(feature = "proptest")]
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed};
use std::sync::OnceLock;

/// The environment variable that asks for long runs with fresh cases, if it is `1`.
pub const LONG: &str = "XENOGLOT_LONG";
/// The environment variable that sets the seed.
pub const SEED: &str = "XENOGLOT_SEED";

/// Whether this is a long run.
pub fn is_long() -> bool {
    std::env::var_os(LONG).is_some_and(|value| value == "1")
}

/// `short`, or `long` in long runs: how much a test is to try.
pub fn budget<T>(short: T, long: T) -> T {
    if is_long() { long } else { short }
}

/// The seed of this process: 0 unless the environment says otherwise.
///
/// # Panics
/// If `XENOGLOT_SEED` is no number.
pub fn seed() -> u64 {
    static CHOSEN: OnceLock<u64> = OnceLock::new();
    let seed = *CHOSEN.get_or_init(|| match std::env::var(SEED) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{SEED}={text} is no number")),
        Err(_) if is_long() => fresh(),
        Err(_) => 0,
    });
    eprintln!("random cases of seed {seed}; {SEED}={seed} draws them again");
    seed
}

/// A seed that no run had before, in all likelihood. There is room above it for the cases of a run.
fn fresh() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    // The standard library draws its keys from the system's source of randomness.
    RandomState::new().hash_one(std::process::id()) >> 8
}

/// The configuration of a property test made with proptest.
///
/// ```
/// proptest::proptest! {
///     #![proptest_config(xenoglot_testgen::property::config(100))]
///     # /*
///     #[test]
///     # */
///     fn sums_commute(a: u32, b: u32) {
///         assert_eq!(a.wrapping_add(b), b.wrapping_add(a));
///     }
/// }
/// # sums_commute();
/// ```
#[cfg(feature = "proptest")]
pub fn config(cases: u32) -> Config {
    Config {
        cases: budget(cases, cases.saturating_mul(10)),
        rng_seed: RngSeed::Fixed(seed()),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("proptest-regressions"))),
        ..Config::default()
    }
}

/// The same for `proptest!` with a closure, which does not know its own `file!()`.
#[cfg(feature = "proptest")]
pub fn config_in(file: &'static str, cases: u32) -> Config {
    Config { source_file: Some(file), ..config(cases) }
}

/// Seeds of `count` cases of a test's own generator.
pub fn seeds(count: u64) -> std::ops::Range<u64> {
    let first = seed();
    first..first.saturating_add(count)
}

/// Random numbers for a test that draws all its cases from one stream; `stream` tells tests apart.
pub fn rng(stream: u64) -> Rng {
    match seed() {
        0 => Rng::new(stream),
        seed => Rng::new(Rng::new(seed).next_u64() ^ stream),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "proptest")]
    #[test]
    fn proptest_draws_the_same_cases_again() {
        use proptest::prelude::*;
        use proptest::strategy::ValueTree;
        let drawn = || {
            let mut runner = proptest::test_runner::TestRunner::new(config(8));
            (0..8).map(|_| any::<u64>().new_tree(&mut runner).unwrap().current()).collect::<Vec<_>>()
        };
        assert_eq!(drawn(), drawn());
    }

    #[test]
    fn runs_draw_the_same_cases_again() {
        assert_eq!(rng(3).next_u64(), rng(3).next_u64());
        assert_ne!(rng(3).next_u64(), rng(4).next_u64());
        assert_eq!(seeds(5).count(), 5);
        if std::env::var_os(SEED).is_none() && !is_long() {
            assert_eq!((seed(), seeds(5)), (0, 0..5));
        }
    }

    #[test]
    fn fresh_seeds_differ_and_leave_room() {
        let (a, b) = (fresh(), fresh());
        assert_ne!(a, b);
        assert!(a.max(b) < u64::MAX / 2);
    }
}
