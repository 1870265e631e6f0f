//! Regions that were lifted and are being compiled.

use crate::background::Ticket;
use crate::compiler::Job;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::Duration;
use xenoglot_guest::memory::PAGE_BITS;

/// How often a region's first block gets hot again until the guest's thread compiles what no other has begun: interpreting has
/// taken about as long as compiling will by then.
const PATIENCE: u32 = 8;

/// A region without code.
pub(crate) struct Order {
    /// The address that is to have code, and all that will.
    pub(crate) pc: u32,
    pub(crate) entries: Vec<u32>,
    /// The words that were lifted, in order.
    pub(crate) words: Vec<u32>,
    /// The time that lifting took.
    pub(crate) time: Duration,
}

/// A region that another thread compiles.
struct Ordered {
    order: Order,
    /// Dropped with the order, so that no thread begins to compile a region that was forgotten.
    ticket: Arc<Ticket>,
    /// How often its first block got hot since.
    again: u32,
}

impl Order {
    /// The numbers of the pages that its words are in, in order.
    pub(crate) fn pages(&self) -> Vec<u32> {
        let mut pages: Vec<u32> = self.words.iter().map(|word| word >> PAGE_BITS).collect();
        pages.dedup();
        pages
    }

    fn covers(&self, address: u32) -> bool {
        self.words.binary_search(&address).is_ok()
    }
}

/// What is to be done about a block that got hot.
pub(crate) enum Hot {
    /// It is in none of the regions.
    New,
    /// Another thread compiles it.
    Wait,
    /// None has begun to: this is compiled now.
    Take(Box<(Order, Job)>),
}

/// Those that other threads compile.
#[derive(Default)]
pub(crate) struct Orders {
    list: FxHashMap<u64, Ordered>,
    last: u64,
}

impl Orders {
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Adds an order; its number, which none had before.
    pub(crate) fn add(&mut self, order: Order, ticket: Arc<Ticket>) -> u64 {
        self.last += 1;
        self.list.insert(self.last, Ordered { order, ticket, again: 0 });
        self.last
    }

    /// The order of a number, unless it was forgotten.
    pub(crate) fn take(&mut self, number: u64) -> Option<Order> {
        self.list.remove(&number).map(|ordered| ordered.order)
    }

    /// What is to be done about a block that got hot.
    pub(crate) fn hot(&mut self, pc: u32) -> Hot {
        let Some((&number, ordered)) = self.list.iter_mut().find(|(_, ordered)| ordered.order.covers(pc))
        else {
            return Hot::New;
        };
        // The others of its blocks run as often.
        ordered.again += u32::from(ordered.order.pc == pc);
        if ordered.again < PATIENCE {
            return Hot::Wait;
        }
        ordered.again = 0;
        let Some(job) = ordered.ticket.begin() else { return Hot::Wait };
        self.take(number).map_or(Hot::Wait, |order| Hot::Take(Box::new((order, job))))
    }

    /// Whether there will be code that begins at an address.
    pub(crate) fn has_entry(&self, pc: u32) -> bool {
        self.list.values().any(|ordered| ordered.order.entries.contains(&pc))
    }

    /// Forgets the orders with words of a page; whether there were any.
    pub(crate) fn forget_page(&mut self, page: u32) -> bool {
        let before = self.list.len();
        let has = |order: &Order| order.words.iter().any(|word| word >> PAGE_BITS == page);
        self.list.retain(|_, ordered| !has(&ordered.order));
        self.list.len() < before
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
    }
}
