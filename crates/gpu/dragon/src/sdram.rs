//! How long an SDRAM takes: banks with a row open each, a data bus that all accesses share, and refresh.
//!
//! The chips are told of accesses in the order in which units ask, and move their data in that order; rows of other banks
//! are opened meanwhile. Times are computed when an access is asked for, so that nothing ticks:
//!
//! * A row that is open is read `cas` after the column command, written with it; a burst has the bus for its ticks.
//! * A bank without an open row first takes an ACTIVE command, `rcd` before the column's; with another row open, before that
//!   a PRECHARGE, `rp` before the ACTIVE.
//! * A row stays open `ras` at least, and `wr` after the last data written; the same bank is activated every `rc` at most,
//!   any bank `rrd` after the one before.
//! * Every `refresh` ticks all banks are closed and busy for `rfc`. A refresh that is due comes before the next burst.

use crate::memory::Direction;
use crate::params::Sdram as Timing;
use serde::{Deserialize, Serialize};

/// How a burst found its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// Open.
    Hit,
    /// The bank had no row open.
    Closed,
    /// The bank had another row open.
    Conflict,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Bank {
    /// The row that is open.
    open: Option<u32>,
    /// The earliest column command of the open row.
    column: u64,
    /// The earliest PRECHARGE.
    precharge: u64,
    /// The earliest ACTIVE.
    activate: u64,
}

/// The chips' state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Chips {
    banks: Vec<Bank>,
    /// When the data bus is free.
    free_at: u64,
    /// What the last burst was.
    last: Direction,
    /// The earliest ACTIVE of any bank.
    activate: u64,
    /// When the next refresh is due.
    refresh_at: u64,
    /// Refreshes that have been made.
    pub refreshes: u64,
}

impl Chips {
    pub fn new(timing: &Timing) -> Chips {
        Chips {
            banks: vec![Bank::default(); timing.banks as usize],
            free_at: 0,
            last: Direction::Read,
            activate: 0,
            refresh_at: timing.refresh.into(),
            refreshes: 0,
        }
    }

    /// Whether this state is valid for `timing`, and no time in it is later than `latest`.
    pub fn is_sound(&self, timing: &Timing, latest: u64) -> bool {
        let times = |b: &Bank| [b.column, b.precharge, b.activate].iter().all(|&t| t <= latest);
        self.banks.len() == timing.banks as usize
            && self.banks.iter().all(times)
            && [self.free_at, self.activate, self.refresh_at].iter().all(|&t| t <= latest)
            && self.refreshes <= latest
    }

    /// When the data bus is free.
    pub fn free_at(&self) -> u64 {
        self.free_at
    }

    /// Moves a burst that reaches the chips at `at` and has the bus for `ticks`; gives when its data have passed.
    pub fn burst(
        &mut self,
        timing: &Timing,
        ticks: u64,
        at: u64,
        direction: Direction,
        address: u32,
    ) -> (u64, Row) {
        self.refresh(timing, at.max(self.free_at));
        let [cas, rcd, rp, ras, rc, rrd, wr, turn] = [
            timing.cas,
            timing.rcd,
            timing.rp,
            timing.ras,
            timing.rc,
            timing.rrd,
            timing.wr,
            timing.turnaround,
        ]
        .map(u64::from);
        let row = address / timing.row_bytes;
        let count = self.banks.len();
        let bank = &mut self.banks[row as usize % count];
        let found = match bank.open {
            Some(open) if open == row => Row::Hit,
            Some(_) => Row::Conflict,
            None => Row::Closed,
        };
        if found != Row::Hit {
            let closed = if found == Row::Conflict { at.max(bank.precharge) + rp } else { at };
            let active = closed.max(bank.activate).max(self.activate);
            *bank = Bank {
                open: Some(row),
                column: active + rcd,
                precharge: active + ras,
                activate: active + rc,
            };
            self.activate = active + rrd;
        }
        // Reads that follow writes, and writes that follow reads, leave the bus for a while.
        let free = if self.last == direction { self.free_at } else { self.free_at + turn };
        let column = at.max(bank.column);
        let data = match direction {
            Direction::Read => (column + cas).max(free),
            Direction::Write => column.max(free),
        };
        let end = data + ticks;
        // A PRECHARGE ends a read `cas` before its last data, so that it may come with the last column's time.
        let closable = match direction {
            Direction::Read => end.saturating_sub(cas),
            Direction::Write => end + wr,
        };
        bank.precharge = bank.precharge.max(closable);
        (self.free_at, self.last) = (end, direction);
        (end, found)
    }

    /// Makes the refreshes that are due at `at`.
    fn refresh(&mut self, timing: &Timing, at: u64) {
        let interval = u64::from(timing.refresh);
        if interval == 0 || self.refresh_at > at {
            return;
        }
        // Of those that are long over nothing is left to see.
        let over = ((at - self.refresh_at) / interval).saturating_sub(1);
        self.refresh_at += over * interval;
        self.refreshes += over;
        while self.refresh_at <= at {
            let open = self.banks.iter().any(|b| b.open.is_some());
            let ready = self.banks.iter().map(|b| if b.open.is_some() { b.precharge } else { b.activate });
            let start = ready.fold(self.refresh_at.max(self.free_at), u64::max);
            let closed = if open { start + u64::from(timing.rp) } else { start };
            let end = closed + u64::from(timing.rfc);
            self.banks.fill(Bank { open: None, column: 0, precharge: 0, activate: end });
            self.refresh_at += interval;
            self.refreshes += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// PC100 at 100 MHz without refresh, and no controller before it.
    fn timing() -> Timing {
        Timing { controller: 0, refresh: 0, ..Timing::default() }
    }

    /// Ends of bursts of 4 ticks that are asked for one after the other, each when the one before is over.
    fn ends(timing: &Timing, accesses: &[(Direction, u32)]) -> Vec<(u64, Row)> {
        let mut chips = Chips::new(timing);
        let mut now = 0;
        let mut ask = |&(direction, address): &(Direction, u32)| {
            let (end, row) = chips.burst(timing, 4, now, direction, address);
            let took = end - now;
            now = end;
            (took, row)
        };
        accesses.iter().map(&mut ask).collect()
    }

    use Direction::{Read, Write};

    /// PC100, tCK 10 ns, CL 2: tRCD 20 ns, tRP 20 ns.
    #[test]
    fn rows_take_what_the_data_sheet_says() {
        let t = timing();
        let other = t.row_bytes * t.banks;
        // ACTIVE, tRCD 2, CL 2, four data; then CL 2 and four; then PRECHARGE, tRP 2, and as at first.
        assert_eq!(
            ends(&t, &[(Read, 0), (Read, 32), (Read, other)]),
            [(8, Row::Closed), (6, Row::Hit), (10, Row::Conflict)]
        );
        // Data are written with the command; a PRECHARGE waits for tWR, 2, after them.
        assert_eq!(
            ends(&t, &[(Write, 0), (Write, 32), (Write, other)]),
            [(6, Row::Closed), (4, Row::Hit), (2 + 2 + 2 + 4, Row::Conflict)]
        );
    }

    /// A row stays open for tRAS, 50 ns, and its bank is activated every tRC, 70 ns.
    #[test]
    fn rows_stay_open_for_their_time() {
        let t = timing();
        let mut chips = Chips::new(&t);
        // One datum: it is over after 5, before tRAS; PRECHARGE at 5, ACTIVE at 7 and so on.
        assert_eq!(chips.burst(&t, 1, 0, Read, 0), (5, Row::Closed));
        let other = t.row_bytes * t.banks;
        assert_eq!(chips.burst(&t, 1, 3, Read, other), (5 + 2 + 2 + 2 + 1, Row::Conflict));
        let long = Timing { rc: 30, ..timing() };
        let mut chips = Chips::new(&long);
        chips.burst(&long, 1, 0, Read, 0);
        assert_eq!(chips.burst(&long, 1, 3, Read, other), (30 + 2 + 2 + 1, Row::Conflict));
    }

    /// A stream of hits has data in every tick; another bank is opened meanwhile, tRRD after the one before.
    #[test]
    fn banks_work_beside_each_other() {
        let t = timing();
        let mut chips = Chips::new(&t);
        let next_bank = t.row_bytes;
        let ends: Vec<u64> = [0, 32, 64, next_bank, next_bank + 32, 2 * next_bank]
            .iter()
            .map(|&address| chips.burst(&t, 4, 0, Read, address).0)
            .collect();
        assert_eq!(ends, [8, 12, 16, 20, 24, 28]);
        // Asked for at once, the second bank's row opens 2 ticks after the first one's; its data follow at once.
        let mut chips = Chips::new(&t);
        assert_eq!(chips.burst(&t, 1, 0, Read, 0).0, 5);
        assert_eq!(chips.burst(&t, 1, 0, Read, next_bank).0, 2 + 2 + 2 + 1);
        // A bus that turns around is free a tick later.
        let mut chips = Chips::new(&t);
        chips.burst(&t, 4, 0, Read, 0);
        assert_eq!(chips.burst(&t, 4, 0, Write, 32).0, 8 + 1 + 4);
    }

    /// 4096 rows in 64 ms: every 15.6 µs all banks are closed, tRP 20 ns, and busy for tRFC, 70 ns.
    #[test]
    fn refresh_closes_all_banks() {
        let t = Timing { refresh: 1562, ..timing() };
        let mut chips = Chips::new(&t);
        chips.burst(&t, 4, 0, Read, 0);
        assert_eq!(chips.burst(&t, 4, 1561, Read, 0), (1561 + 6, Row::Hit));
        // Due at 1562, after the data at 1567: PRECHARGE 2, refresh 7, ACTIVE.
        assert_eq!(chips.burst(&t, 4, 1563, Read, 0), (1567 + 2 + 7 + 8, Row::Closed));
        // Nothing is open after one that is long over, and nothing is to be waited for.
        let later = 1562 * 1000 + 800;
        assert_eq!(chips.burst(&t, 4, later, Read, 0), (later + 8, Row::Closed));
        assert_eq!(chips.refreshes, 1000);
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(256))]

        /// Data never overlap on the bus, no burst is faster than a hit, and none waits for longer than a conflict, a refresh
        /// and those before it.
        #[test]
        fn bursts_have_the_bus_one_after_the_other(
            accesses in prop::collection::vec((any::<bool>(), 0u32..1 << 16, 0u64..40), 1..100),
            refresh in 40u32..2000,
        ) {
            let t = Timing { refresh, ..timing() };
            let mut chips = Chips::new(&t);
            let (mut now, mut before) = (0, 0);
            for (write, address, gap) in accesses {
                now += gap;
                let direction = if write { Write } else { Read };
                let (end, _) = chips.burst(&t, 4, now, direction, address);
                prop_assert!(end >= before + 4 && end >= now + 4);
                prop_assert!(end <= now.max(before) + 2 * (2 + 7) + 7 + 2 + 2 + 2 + 2 + 1 + 4, "{} {} {}", now, before, end);
                before = end;
            }
        }
    }
}
