//! What a front end asked, and what it was answered.
//!
//! A translation depends on its program, its options, and on the answers to the questions that the front end put to the
//! state around the program: on nothing else of that state. A [`Recorder`] stands between the two and keeps both. Later,
//! the same questions are put to the state of the day ([`State`]); where all answers are as recorded, the result is.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// A question and its answer, as canonical bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fact {
    /// What was asked.
    pub query: Vec<u8>,
    /// What was answered.
    pub answer: Vec<u8>,
}

/// Whatever can be asked again.
pub trait State {
    /// The answer to a question that a recorder has seen; `None` if it cannot be understood, as one of another schema.
    fn answer(&self, query: &[u8]) -> Option<Vec<u8>>;
}

/// The state of programs that ask nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stateless;

impl State for Stateless {
    fn answer(&self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

/// All that a translation asked and made use of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// Questions in the order they were first asked.
    pub facts: Vec<Fact>,
    /// Names of what had a part in it: see [`Versions`](crate::Versions).
    pub parts: BTreeSet<String>,
}

impl State for Recording {
    fn answer(&self, query: &[u8]) -> Option<Vec<u8>> {
        self.facts.iter().find(|fact| fact.query == query).map(|fact| fact.answer.clone())
    }
}

/// Keeps what is asked.
#[derive(Debug, Default)]
pub struct Recorder(RefCell<Recording>);

impl Recorder {
    /// Nothing was asked yet.
    pub fn new() -> Recorder {
        Recorder::default()
    }

    /// Notes that `query` was asked, and what `answer` says of it. What was asked before is not noted again.
    pub fn note<Q: Serialize>(&self, query: &Q, answer: impl FnOnce() -> Option<Vec<u8>>) {
        // What cannot be serialised is kept as a query that nobody can answer: its entry is never found again.
        let query = to_bytes(query).unwrap_or_default();
        if self.0.borrow().facts.iter().all(|fact| fact.query != query) {
            let answer = answer().unwrap_or_default();
            self.0.borrow_mut().facts.push(Fact { query, answer });
        }
    }

    /// Notes that what is called `name` has a part in the translation, before it has: if it fails, the failure depends
    /// on it, too.
    pub fn uses(&self, name: &str) {
        let mut recording = self.0.borrow_mut();
        if !recording.parts.contains(name) {
            recording.parts.insert(name.to_owned());
        }
    }

    /// Everything so far.
    pub fn recording(&self) -> Recording {
        self.0.borrow().clone()
    }
}

/// Bytes of a question or an answer.
pub fn to_bytes<T: Serialize + ?Sized>(value: &T) -> Option<Vec<u8>> {
    postcard::to_stdvec(value).ok()
}

/// A question or an answer of its bytes; `None` if they are not all of one.
pub fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::take_from_bytes(bytes).ok().and_then(|(value, rest)| rest.is_empty().then_some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_noted_once_and_answered_again() {
        let recorder = Recorder::new();
        recorder.note(&1u8, || to_bytes(&true));
        recorder.note(&2u8, || to_bytes(&300u32));
        recorder.note(&1u8, || to_bytes(&true));
        recorder.uses("pass");
        let recording = recorder.recording();
        assert_eq!(recording.facts.len(), 2);
        assert_eq!(recording.answer(&[2]).and_then(|bytes| from_bytes::<u32>(&bytes)), Some(300));
        assert_eq!(recording.answer(&[3]), None);
        assert_eq!(from_bytes::<Recording>(&to_bytes(&recording).unwrap()), Some(recording));
    }

    #[test]
    fn bytes_with_a_rest_are_no_answer() {
        assert_eq!(from_bytes::<bool>(&[1]), Some(true));
        assert_eq!(from_bytes::<bool>(&[1, 0]), None);
    }
}
