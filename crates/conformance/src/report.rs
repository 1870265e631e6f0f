//! What a suite says about its cases.

use serde::Serialize;

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "verdict", content = "difference")]
pub enum Verdict {
    /// As expected.
    Passed,
    /// Not as expected: what differed first.
    Failed(String),
    /// Not as expected, but the suite's format calls the expectation itself doubtful, or the device is free to differ
    /// there, and the text says so.
    Unconfirmed(String),
    /// It had not ended when its time was over: how long that was.
    TimedOut(String),
}

impl Verdict {
    /// Passed if nothing differs.
    pub fn of_differences(differences: &[String]) -> Verdict {
        if differences.is_empty() { Verdict::Passed } else { Verdict::Failed(differences.join("; ")) }
    }
}

/// A case and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Case {
    /// Its name: unique in the suite.
    pub name: String,
    /// How it ended.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// The counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Cases as expected.
    pub passed: usize,
    /// Cases that differ, or took too long.
    pub failed: usize,
    /// Cases that differ where they may.
    pub unconfirmed: usize,
}

impl Summary {
    /// Counts cases.
    pub fn of<'c>(cases: impl IntoIterator<Item = &'c Case>) -> Summary {
        cases.into_iter().fold(Summary::default(), |mut s, case| {
            match case.verdict {
                Verdict::Passed => s.passed += 1,
                Verdict::Failed(_) | Verdict::TimedOut(_) => s.failed += 1,
                Verdict::Unconfirmed(_) => s.unconfirmed += 1,
            }
            s
        })
    }

    /// The sum of counts.
    pub fn total(summaries: impl IntoIterator<Item = Summary>) -> Summary {
        summaries.into_iter().fold(Summary::default(), |a, b| Summary {
            passed: a.passed + b.passed,
            failed: a.failed + b.failed,
            unconfirmed: a.unconfirmed + b.unconfirmed,
        })
    }
}

/// The closing line of a run.
impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed, {} unconfirmed", self.passed, self.failed, self.unconfirmed)
    }
}

/// Told about a run while it goes on; from several threads.
pub trait Observer: Sync {
    /// Whether the n-th program, scene or file of the suite shall run. All do if this is not overridden.
    fn wants(&self, _item: usize) -> bool {
        true
    }
    /// So many cases will come.
    fn total(&self, cases: usize);
    /// A case has ended.
    fn case(&self, case: &Case);
}

/// An observer that does not care.
pub struct Silent;

impl Observer for Silent {
    fn total(&self, _cases: usize) {}
    fn case(&self, _case: &Case) {}
}
