//! Signals: MIPS has its own numbers from 7 on, and 128 of them.

use std::fmt;

/// A signal by the number that MIPS has for it: 1 to 128.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signal(pub u32);

/// What happens when a program has no handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Default {
    Terminate,
    Ignore,
    /// Stopping processes is not supported; they go on.
    Stop,
}

macro_rules! signals {
    ($($name:ident $number:literal $host:literal;)+) => {
        /// Signals by name (`asm/signal.h`).
        pub mod sig {
            use super::Signal;
            $(
                #[doc = concat!("SIG", stringify!($name), ".")]
                pub const $name: Signal = Signal($number);
            )+
        }

        impl Signal {
            /// The name; `None` for real-time signals.
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some(concat!("SIG", stringify!($name))),)+
                    _ => None,
                }
            }

            /// The number on most other machines, x86 and Arm among them, which exit codes are made of.
            pub fn common_number(self) -> u32 {
                match self.0 {
                    $($number => $host,)+
                    other => other,
                }
            }
        }
    };
}

signals! {
    HUP 1 1; INT 2 2; QUIT 3 3; ILL 4 4; TRAP 5 5; ABRT 6 6; EMT 7 7; FPE 8 8; KILL 9 9; BUS 10 7; SEGV 11 11;
    SYS 12 31; PIPE 13 13; ALRM 14 14; TERM 15 15; USR1 16 10; USR2 17 12; CHLD 18 17; PWR 19 30; WINCH 20 28;
    URG 21 23; IO 22 29; STOP 23 19; TSTP 24 20; CONT 25 18; TTIN 26 21; TTOU 27 22; VTALRM 28 26; PROF 29 27;
    XCPU 30 24; XFSZ 31 25;
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "signal {}", self.0),
        }
    }
}

impl Signal {
    /// The greatest number.
    pub const MAX: u32 = 128;

    pub(crate) fn new(number: u32) -> Option<Signal> {
        (1..=Signal::MAX).contains(&number).then_some(Signal(number))
    }

    /// Whether it says that the program did something wrong: those that leave a core file.
    pub(crate) fn is_fault(self) -> bool {
        matches!(
            self,
            sig::QUIT
                | sig::ILL
                | sig::TRAP
                | sig::ABRT
                | sig::FPE
                | sig::BUS
                | sig::SEGV
                | sig::SYS
                | sig::XCPU
                | sig::XFSZ
        )
    }

    pub(crate) fn default_action(self) -> Default {
        match self {
            sig::CHLD | sig::CONT | sig::URG | sig::WINCH => Default::Ignore,
            sig::STOP | sig::TSTP | sig::TTIN | sig::TTOU => Default::Stop,
            _ => Default::Terminate,
        }
    }
}

/// A set of signals: bit n-1 is signal n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Set(pub u128);

impl Set {
    pub fn of(signal: Signal) -> Set {
        Set(1 << (signal.0.wrapping_sub(1) & 127))
    }

    pub fn has(self, signal: Signal) -> bool {
        self.0 & Set::of(signal).0 != 0
    }

    pub fn with(self, other: Set) -> Set {
        Set(self.0 | other.0)
    }

    pub fn without(self, other: Set) -> Set {
        Set(self.0 & !other.0)
    }

    /// SIGKILL and SIGSTOP cannot be blocked.
    pub fn blockable(self) -> Set {
        self.without(Set::of(sig::KILL).with(Set::of(sig::STOP)))
    }

    /// From the four words that a program has.
    pub fn from_words(words: [u32; 4]) -> Set {
        Set(words.iter().rev().fold(0, |set, &word| set << 32 | u128::from(word)))
    }

    pub fn words(self) -> [u32; 4] {
        std::array::from_fn(|i| (self.0 >> (32 * i)) as u32)
    }
}

/// `si_code` (`asm-generic/siginfo.h`).
pub(crate) mod code {
    pub const USER: i32 = 0;
    pub const QUEUE: i32 = -1;
    /// MIPS has this and the code of message queues the other way round.
    pub const TIMER: i32 = -3;
    pub const TKILL: i32 = -6;
    pub const KERNEL: i32 = 0x80;
    pub const SEGV_MAPERR: i32 = 1;
    pub const SEGV_ACCERR: i32 = 2;
    pub const BUS_ADRALN: i32 = 1;
    pub const FPE_INTDIV: i32 = 1;
    pub const FPE_INTOVF: i32 = 2;
    pub const FPE_FLTDIV: i32 = 3;
    pub const FPE_FLTOVF: i32 = 4;
    pub const FPE_FLTUND: i32 = 5;
    pub const FPE_FLTRES: i32 = 6;
    pub const FPE_FLTINV: i32 = 7;
    pub const TRAP_BRKPT: i32 = 1;
    pub const CLD_EXITED: i32 = 1;
    pub const CLD_KILLED: i32 = 2;
}
