//! Panics of one piece of work as its error, so that the others go on.

use anyhow::Result;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use thiserror::Error;

/// A panic.
#[derive(Debug, Error)]
#[error("this is a bug in xenoglot, please report it: {0}")]
pub struct Panicked(String);

thread_local! {
    /// Pieces of work around this place, each in the one before it.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// What the last panic in them said, and where.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps panics in [`attempt`] off standard error; others are printed as ever.
pub fn install() {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if DEPTH.get() == 0 {
            default(info);
        } else {
            SAID.set(Some(said(info)));
        }
    }));
}

fn said(info: &PanicHookInfo<'_>) -> String {
    let what = info.payload_as_str().unwrap_or("a panic");
    info.location().map_or_else(|| what.to_owned(), |at| format!("{what} ({at})"))
}

/// Does `work`, whose panic is an error. What it was changing may be half changed, and is not to be used again.
pub fn attempt<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    DEPTH.set(DEPTH.get() + 1);
    let done = catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    done.unwrap_or_else(|payload| {
        let text = || {
            let text = payload.downcast_ref::<String>().cloned();
            text.or_else(|| payload.downcast_ref::<&str>().map(|s| (*s).to_owned()))
        };
        // Of a panic on another thread there is only the payload here.
        let said = SAID.take().or_else(text).unwrap_or_else(|| "a panic".into());
        Err(Panicked(said).into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_and_the_next_work_goes_on() {
        let error = attempt(|| -> Result<()> { panic!("number {}", 7) }).unwrap_err();
        assert!(error.is::<Panicked>() && error.to_string().contains("number 7"), "{error}");
        assert_eq!(attempt(|| Ok(1)).unwrap(), 1);
        let nested = attempt(|| {
            let inner = attempt(|| -> Result<()> { panic!("inner") });
            assert!(inner.is_err());
            Ok(2)
        });
        assert_eq!(nested.unwrap(), 2);
    }
}
