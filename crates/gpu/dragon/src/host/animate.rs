//! Frames drawn side by side, each on a machine of its own.

use super::scene::{Animation, DemoError, Frame};
use crate::machine::{Faults, Machine};
use crate::params::{ParamError, Params};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::mpsc;
use thiserror::Error;
use xenoglot_trace::Trace;

/// What of frames is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnimateOptions {
    /// Whether what units do is recorded.
    pub traced: bool,
    /// Whether counters are kept that take time ([`Machine::start_profile`]).
    pub profiled: bool,
    /// Frames that are drawn at a time; 0 for as many as there are cores, or two if they are traced, as each recording takes
    /// tens of megabytes.
    pub jobs: usize,
}

/// A frame that is drawn, and the machine that drew it.
#[derive(Debug)]
pub struct Drawn {
    /// Its number.
    pub number: u32,
    /// Picture and ticks.
    pub frame: Frame,
    /// What went wrong.
    pub faults: Faults,
    /// What units did; from tick 0 of the frame.
    pub trace: Option<Trace>,
    /// The machine after the frame.
    pub machine: Machine,
}

/// Why frames are not drawn.
#[derive(Debug, Error)]
pub enum AnimateError<E> {
    /// Parameters that are not possible.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A frame that cannot be drawn.
    #[error("frame {number}: {error}")]
    Demo {
        /// The frame.
        number: u32,
        /// What is wrong.
        error: DemoError,
    },
    /// No threads to draw with.
    #[error(transparent)]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// Of who is told.
    #[error("{0}")]
    Other(E),
}

/// Frames that are traced at a time where the caller does not say.
const TRACED: usize = 2;

/// Draws frames side by side and hands them over in order, while others are drawn; at most twice as many are in memory as are
/// drawn at a time, and of those that are traced as many. A frame takes what it takes on a machine that was just switched on,
/// however many are drawn.
///
/// # Errors
/// The first that `each` gives, or a frame that cannot be drawn.
pub fn animate<E: Send>(
    animation: &dyn Animation,
    params: &Params,
    frames: Range<u32>,
    options: AnimateOptions,
    mut each: impl FnMut(Drawn) -> Result<(), E>,
) -> Result<(), AnimateError<E>> {
    params.check()?;
    let draw = |number: u32| -> Result<Drawn, AnimateError<E>> {
        let mut machine = Machine::new(params.clone())?;
        if options.traced {
            machine.start_trace();
        }
        if options.profiled {
            machine.start_profile();
        }
        let frame = animation
            .scene(number)
            .draw(&mut machine)
            .map_err(|error| AnimateError::Demo { number, error })?;
        let (faults, trace) = (machine.faults(), machine.take_trace());
        Ok(Drawn { number, frame, faults, trace, machine })
    };
    let jobs = if options.jobs == 0 && options.traced { TRACED } else { options.jobs };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build()?;
    // A recording takes tens of megabytes, so that no more are kept than have to be.
    let threads = pool.current_num_threads();
    let window = if options.traced { threads } else { 2 * threads };
    let mut waiting: VecDeque<mpsc::Receiver<_>> = VecDeque::new();
    pool.in_place_scope(|scope| {
        let start = |number| {
            let (sender, receiver) = mpsc::channel();
            let draw = &draw;
            // Nobody waits for it any more if a frame before has failed.
            scope.spawn(move |_| drop(sender.send(draw(number))));
            receiver
        };
        let mut next = frames.map(start);
        waiting.extend(next.by_ref().take(window));
        // Without an answer the thread has panicked, which the scope passes on.
        while let Some(Ok(drawn)) = waiting.front().map(mpsc::Receiver::recv) {
            each(drawn?).map_err(AnimateError::Other)?;
            waiting.pop_front();
            waiting.extend(next.next());
        }
        Ok(())
    })
}
