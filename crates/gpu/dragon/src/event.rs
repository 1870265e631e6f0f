//! What units report each tick.

use serde::{Deserialize, Serialize};
use xenoglot_trace::{Kind, Schema};

macro_rules! events {
    ($($name:ident $kind:ident $doc:literal;)+) => {
        /// What a unit did in a tick. Names up to `QueueFull` are the original's, the others this project's.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[repr(u16)]
        pub enum Event {
            $(#[doc = $doc] $name,)+
        }

        impl Event {
            /// All events, by number.
            pub const ALL: &[Event] = &[$(Event::$name),+];
        }

        /// Events for traces, by number.
        pub static SCHEMA: Schema = Schema {
            process: "dragon",
            events: &[$((stringify!($name), Kind::$kind)),+],
        };
    };
}

events! {
    GenericIdle Idle "Nothing to do.";
    Tick Work "Progress of a unit that has no other name for it.";
    GPUProcessCommand Work "The command processor took a command.";
    GPUWait Stall "The command processor waits for signals.";
    MemRead Stall "Waiting for what memory reads.";
    MemWrite Work "Memory is writing.";
    QueueFull Stall "The next unit's queue is full.";
    Exec Work "An instruction was issued.";
    Latency Stall "All threads wait for results of their instructions.";
    TexWait Stall "All threads wait for the texture unit.";
    Raster Work "Pixels were tested.";
    SetupTri Work "A triangle is set up.";
    VtxHit Work "A vertex was in the cache.";
    VtxMiss Stall "A vertex is fetched from memory.";
    VtxWait Stall "Waiting for the vertex cache.";
    Drain Stall "All triangles are drawn, their pixels are not finished.";
    UnitBusy Stall "The command processor waits for a unit to finish what it is doing before it starts again.";
}

impl Event {
    /// The event with a name.
    pub fn parse(name: &str) -> Option<Event> {
        let at = SCHEMA.events.iter().position(|(event, _)| *event == name)?;
        Event::ALL.get(at).copied()
    }
}

/// Nothing changes by itself.
pub(crate) const NEVER: u64 = u64::MAX;

/// What a unit's tick came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Activity {
    pub event: Event,
    /// The first tick in which the unit may do something else if no other unit does anything before.
    pub until: u64,
}

impl Activity {
    /// Nothing to do until another unit gives it something.
    pub const IDLE: Activity = Activity { event: Event::GenericIdle, until: NEVER };

    /// Something happened in tick `now`.
    pub fn busy(event: Event, now: u64) -> Activity {
        Activity { event, until: now + 1 }
    }

    /// Waiting until a tick.
    pub fn until(event: Event, until: u64) -> Activity {
        Activity { event, until }
    }

    /// Waiting for another unit.
    pub fn blocked(event: Event) -> Activity {
        Activity { event, until: NEVER }
    }
}
