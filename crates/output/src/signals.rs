//! Signals that end the process.

use crate::pending::discard;
use std::io;

/// From now on, signals that end the process (SIGINT, SIGTERM, SIGHUP; Ctrl-C elsewhere) first remove what is half
/// written. The process then ends by the signal, so that a shell sees it. A signal that is ignored stays so.
///
/// # Errors
/// The system's, if the handlers cannot be set up.
#[cfg(unix)]
pub fn discard_on_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&s| !is_ignored(s)))?;
    let wait = move || {
        for signal in signals.forever() {
            // Held until the process is gone, so that nothing new is begun.
            let _held = discard();
            if emulate_default_handler(signal).is_err() {
                std::process::abort();
            }
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait)?;
    Ok(())
}

/// Whether the process was started with this signal ignored, as by `nohup` and by shells for jobs in the background.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    // SAFETY: zeros are a valid `sigaction`, which is plain data. Without a new action the call only writes the current
    // one to the place it is given, which lives through it.
    unsafe {
        let mut current: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut current) == 0 && current.sa_sigaction == libc::SIG_IGN
    }
}

/// From now on, Ctrl-C first removes what is half written.
///
/// # Errors
/// The system's, if the handler cannot be set up.
#[cfg(windows)]
pub fn discard_on_signals() -> io::Result<()> {
    /// What a process that Ctrl-C ended returns.
    const INTERRUPTED: i32 = 130;
    ctrlc::set_handler(|| {
        let _held = discard();
        std::process::exit(INTERRUPTED);
    })
    .map_err(io::Error::other)
}

/// Does nothing: no signals end a process here.
///
/// # Errors
/// None.
#[cfg(not(any(unix, windows)))]
pub fn discard_on_signals() -> io::Result<()> {
    Ok(())
}
