//! SSA form over the structured output, made while it is emitted.
//!
//! A *variable* here is something with a value that reads cannot name directly: block parameters, the selectors of
//! the structured form, values whose definition does not enclose a use, and the fuel of guarded loops. A read walks
//! back from its block to the writes. Constructs that do not write the variable are stepped over; where several
//! ways with writes meet, a phi is placed and its operands are read in turn (an explicit work list: no recursion).
//! Loop headers get a phi if the loop writes the variable at all, and its second operand once the loop is closed.
//! Phis whose operands are all one value are removed at the end, and phis of a block that never differ are joined.
//!
//! Blocks are numbered in the order of emission, so the blocks of a construct lie between its head and its merge.

use crate::places::Loop;
use crate::unit::{Id, MOST_WORDS, PHI};
use spirv::Op;
use std::ops::Range;

mod join;

/// The value of a variable that was not written.
pub(crate) const UNDEF: Id = 0;

/// How control gets to a block.
pub(crate) enum From {
    /// The function's first block.
    Entry,
    /// From one block.
    One(u32),
    /// From the blocks `preds` (a range of [`Ssa::preds`]), all inside the construct that `head` heads.
    Merge { head: u32, preds: Range<u32> },
    /// A loop header: from `pre`, and from `back` once the loop is closed.
    Loop { pre: u32, back: Option<u32>, around: Loop },
}

/// A block of the output.
pub(crate) struct BlockInfo {
    pub(crate) label: Id,
    /// Where its instructions start in the body, behind the label.
    pub(crate) start: usize,
    /// Whether control gets there at all.
    pub(crate) reachable: bool,
    pub(crate) from: From,
    /// How many blocks dominate it up to the loop header around it, or the entry.
    depth: u32,
    /// One of these blocks, or itself if it is a header or the entry: half of the way or less, so that a walk up takes
    /// a logarithm of steps (the skew-binary lists of E. W. Myers, 1983).
    jump: u32,
}

/// A range of places in the tree, both ends included.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl Span {
    pub(crate) const EMPTY: Span = Span { first: u32::MAX, last: 0 };
    pub(crate) const ALL: Span = Span { first: 0, last: u32::MAX };

    /// Grows to hold `place`.
    pub(crate) fn add(&mut self, place: u32) {
        self.first = self.first.min(place);
        self.last = self.last.max(place);
    }

    fn holds(self, place: u32) -> bool {
        self.first <= place && place <= self.last
    }

    fn meets(self, other: Span) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// What is known about a variable beforehand.
pub(crate) struct Made {
    /// Where it is written.
    pub(crate) writes: Span,
    /// Where its value is made, in half places.
    pub(crate) made: u32,
}

struct Phi {
    block: u32,
    var: u32,
    operands: Range<u32>,
    /// What it turned out to be: itself, or what replaces it.
    is: Id,
    /// The id in the output of what it is, once something needs it.
    id: Id,
    /// The next phi of the block that is in the output, plus one.
    next: u32,
}

/// What became of a phi.
#[derive(PartialEq, Eq)]
enum Simplified {
    /// It stands for one value.
    Yes,
    /// It does not.
    No,
    /// It does not as long as phis with lower numbers stay.
    Later,
}

/// The blocks, writes and phis of the function at work.
#[derive(Default)]
pub(crate) struct Ssa {
    pub(crate) blocks: Vec<BlockInfo>,
    preds: Vec<u32>,
    phis: Vec<Phi>,
    operands: Vec<Id>,
    /// Writes by variable, sorted by block. They keep their memory from function to function.
    writes: Vec<Vec<(u32, Id)>>,
    /// Variables that have writes.
    written: Vec<u32>,
    /// Where each variable is written.
    vars: Vec<Made>,
    /// See [`Ssa::simplify`].
    starts: Vec<u32>,
    users: Vec<u32>,
    work: Vec<u32>,
    unfilled: Vec<u32>,
    open: Vec<u32>,
}

impl Ssa {
    /// Empties the state for a function with these variables.
    pub(crate) fn reset(&mut self, made: impl ExactSizeIterator<Item = Made>) {
        let vars = made.len();
        self.blocks.clear();
        self.preds.clear();
        self.phis.clear();
        self.operands.clear();
        self.unfilled.clear();
        self.open.clear();
        for var in self.written.drain(..) {
            self.writes[var as usize].clear();
        }
        if self.writes.len() < vars {
            self.writes.resize_with(vars, Vec::new);
        }
        self.vars.clear();
        self.vars.extend(made);
    }

    /// The function's first block.
    pub(crate) fn add_entry(&mut self, label: Id, start: usize) -> u32 {
        self.add_block(label, start, From::Entry, None, true)
    }

    /// A block that `pred` leads to.
    pub(crate) fn add_one(&mut self, label: Id, start: usize, pred: u32) -> u32 {
        self.add_block(label, start, From::One(pred), Some(pred), self.reachable(pred))
    }

    /// A loop's header; see [`From::Loop`].
    pub(crate) fn add_loop(&mut self, label: Id, start: usize, pre: u32, around: Loop) -> u32 {
        self.add_block(label, start, From::Loop { pre, back: None, around }, None, self.reachable(pre))
    }

    /// A block that `preds` lead to.
    pub(crate) fn add_merge(&mut self, label: Id, start: usize, head: u32, preds: &[u32]) -> u32 {
        let reachable = preds.iter().any(|&p| self.reachable(p));
        let first = self.preds.len() as u32;
        self.preds.extend_from_slice(preds);
        let preds = first..self.preds.len() as u32;
        self.add_block(label, start, From::Merge { head, preds }, Some(head), reachable)
    }

    fn reachable(&self, block: u32) -> bool {
        self.blocks[block as usize].reachable
    }

    /// A new block, which `above` dominates, with no loop header between. Inlined, so that `from` is made where it stays.
    #[inline(always)]
    fn add_block(&mut self, label: Id, start: usize, from: From, above: Option<u32>, reachable: bool) -> u32 {
        let block = self.blocks.len() as u32;
        let (depth, jump) = match above {
            Some(above) => {
                let a = &self.blocks[above as usize];
                let b = &self.blocks[a.jump as usize];
                let c = &self.blocks[b.jump as usize];
                (a.depth + 1, if a.depth - b.depth == b.depth - c.depth { b.jump } else { above })
            }
            None => (0, block),
        };
        self.blocks.push(BlockInfo { label, start, reachable, from, depth, jump });
        block
    }

    /// Closes a loop: `back` is its continue block, and all writes in it are known.
    pub(crate) fn close_loop(&mut self, header: u32, by: u32) {
        if let From::Loop { back, .. } = &mut self.blocks[header as usize].from {
            *back = Some(by);
        }
        let Ssa { open, unfilled, phis, .. } = self;
        open.retain(|&phi| {
            let stays = phis[phi as usize].block < header;
            if !stays {
                unfilled.push(phi);
            }
            stays
        });
        self.fill();
    }

    /// `var` is `id` from here on in `block`, the last block.
    pub(crate) fn write(&mut self, var: u32, block: u32, id: Id) {
        let writes = &mut self.writes[var as usize];
        match writes.last_mut() {
            Some(last) if last.0 == block => last.1 = id,
            Some(_) => writes.push((block, id)),
            None => {
                writes.push((block, id));
                self.written.push(var);
            }
        }
    }

    /// The value of `var` at the end of what is emitted of `block`; [`UNDEF`] if no write reaches it.
    pub(crate) fn read(&mut self, var: u32, block: u32) -> Id {
        let id = self.find(var, block);
        self.fill();
        id
    }

    fn find(&mut self, var: u32, mut block: u32) -> Id {
        let Some(writes) = self.writes.get(var as usize) else { return UNDEF };
        let mut writes = &writes[..];
        loop {
            writes = &writes[..writes_up_to(writes, block)];
            // One past the block of the last write up to `block`.
            let past = match writes.last() {
                Some(last) if last.0 == block => return last.1,
                Some(last) => last.0 + 1,
                None => 0,
            };
            // As far as all writes up to here lie above.
            let Some(mut info) = self.blocks.get(block as usize) else { return UNDEF };
            let up = loop {
                // No loop lies between: nothing stops the walk before.
                let up = if info.jump != block && past <= info.jump + 1 {
                    info.jump
                } else {
                    match &info.from {
                        From::Entry => return UNDEF,
                        From::One(p) => *p,
                        From::Merge { head, .. } if past <= *head + 1 => *head,
                        From::Merge { preds, .. } if preds.is_empty() => return UNDEF,
                        From::Merge { preds, .. } if preds.len() == 1 => self.preds[preds.start as usize],
                        From::Loop { pre, around, .. }
                            if !around.span.meets(self.vars[var as usize].writes) =>
                        {
                            *pre
                        }
                        From::Loop { around, .. } if around.dead.holds(self.vars[var as usize].made) => {
                            return UNDEF;
                        }
                        from => {
                            let closed = !matches!(from, From::Loop { back: None, .. });
                            let at = writes.len();
                            return self.place_phi(var, block, at, closed);
                        }
                    }
                };
                if past > up {
                    break up;
                }
                block = up;
                let Some(above) = self.blocks.get(block as usize) else { return UNDEF };
                info = above;
            };
            block = up;
        }
    }

    /// A phi of `var` in `block`, as the write before the `at`th one.
    fn place_phi(&mut self, var: u32, block: u32, at: usize, closed: bool) -> Id {
        let number = self.phis.len() as u32;
        let id = PHI + number;
        self.phis.push(Phi { block, var, operands: 0..0, is: id, id: 0, next: 0 });
        let writes = &mut self.writes[var as usize];
        if writes.is_empty() {
            self.written.push(var);
        }
        if at == writes.len() {
            writes.push((block, id));
        } else {
            writes.insert(at, (block, id));
        }
        if closed { &mut self.unfilled } else { &mut self.open }.push(number);
        id
    }

    fn fill(&mut self) {
        while let Some(number) = self.unfilled.pop() {
            let Phi { block, var, .. } = self.phis[number as usize];
            let start = self.operands.len() as u32;
            match self.blocks[block as usize].from {
                From::Merge { ref preds, .. } => {
                    for p in preds.clone() {
                        let operand = self.find(var, self.preds[p as usize]);
                        self.operands.push(operand);
                    }
                }
                From::Loop { pre, back, .. } => {
                    for p in [Some(pre), back].into_iter().flatten() {
                        let operand = self.find(var, p);
                        self.operands.push(operand);
                    }
                }
                From::Entry | From::One(_) => {}
            }
            self.phis[number as usize].operands = start..self.operands.len() as u32;
        }
    }

    /// What `id` stands for: a phi that was removed stands for its only operand.
    pub(crate) fn root(&mut self, id: Id) -> Id {
        root(&mut self.phis, id)
    }

    #[inline]
    fn phi(&self, id: Id) -> Option<&Phi> {
        self.phis.get(phi_number(id)?)
    }

    /// Removes phis that stand for one value. Where some of a phi's operands are undefined and the others are one constant, it is
    /// that: constants, which `constants` tells by id, are there everywhere.
    pub(crate) fn simplify(&mut self, constants: &[bool]) {
        // Operands are mostly found after what uses them, so one round from the last phi to the first does nearly all.
        self.work.clear();
        for n in (0..self.phis.len() as u32).rev() {
            if self.simplify_phi(n, constants) == Simplified::Later {
                self.work.push(n);
            }
        }
        // The others use what a loop carries around.
        let mut work = std::mem::take(&mut self.work);
        work.retain(|&n| self.uses_gone(n) && self.simplify_phi(n, constants) == Simplified::Yes);
        self.work = work;
        if !self.work.is_empty() {
            self.simplify_users(constants);
        }
    }

    /// Whether an operand of a phi is a phi that went.
    fn uses_gone(&self, n: u32) -> bool {
        let operands = &self.operands[range(&self.phis[n as usize].operands)];
        operands.iter().any(|&id| self.phi(id).is_some_and(|phi| phi.is != id))
    }

    /// Removes a phi if it stands for one value, and replaces its operands by what they stand for.
    fn simplify_phi(&mut self, n: u32, constants: &[bool]) -> Simplified {
        let own = PHI + n;
        let Ssa { phis, operands, .. } = self;
        // `own` is no operand that counts, so it says that there was none.
        let (mut only, mut several, mut later, mut undefined) = (own, false, false, false);
        for operand in &mut operands[range(&phis[n as usize].operands)] {
            let mut id = *operand;
            if phi_number(id).and_then(|m| phis.get(m)).is_some_and(|phi| phi.is != id) {
                id = root(phis, id);
                *operand = id;
            }
            undefined |= id == UNDEF;
            if id != own && id != UNDEF {
                several |= only != own && only != id;
                only = id;
                later |= (PHI..own).contains(&id);
            }
        }
        several |= undefined && only != own && !constants.get(only as usize).is_some_and(|&is| is);
        match several {
            true if later => Simplified::Later,
            true => Simplified::No,
            false => {
                phis[n as usize].is = if only == own { UNDEF } else { only };
                Simplified::Yes
            }
        }
    }

    /// Looks at the phis that use those in `work`, which went, and so on.
    fn simplify_users(&mut self, constants: &[bool]) {
        // The phis that use each phi, one after the other; `starts` is shifted by one while they are filled in.
        let Ssa { starts, users, .. } = self;
        starts.clear();
        starts.resize(self.phis.len() + 2, 0);
        let used = |phi: &Phi| self.operands[range(&phi.operands)].iter().filter_map(|&id| phi_number(id));
        self.phis.iter().flat_map(used).for_each(|m| starts[m + 2] += 1);
        for i in 2..starts.len() {
            starts[i] += starts[i - 1];
        }
        users.clear();
        users.resize(starts[starts.len() - 1] as usize, 0);
        for (n, phi) in self.phis.iter().enumerate() {
            for m in used(phi) {
                users[starts[m + 1] as usize] = n as u32;
                starts[m + 1] += 1;
            }
        }
        while let Some(gone) = self.work.pop() {
            let [from, to] = [0, 1].map(|k| self.starts[gone as usize + k] as usize);
            for at in from..to {
                let n = self.users[at];
                if self.phis[n as usize].is == PHI + n && self.simplify_phi(n, constants) == Simplified::Yes {
                    self.work.push(n);
                }
            }
        }
    }

    /// Gives each value that a loop carries a phi in the loop's continue block, be it of one operand or of equal
    /// ones. naga's MSL and HLSL writers put what the continue block does in front of the loop's body, where nothing
    /// that the body computes has a name yet; phis are variables there. After [`Ssa::simplify`].
    pub(crate) fn carry_by_phis(&mut self) {
        for number in 0..self.phis.len() {
            let Phi { block, var, ref operands, is, .. } = self.phis[number];
            let From::Loop { back: Some(again), .. } = self.blocks[block as usize].from else { continue };
            let From::Merge { ref preds, .. } = self.blocks[again as usize].from else { continue };
            let (place, count) = (operands.start + 1, preds.len());
            if is != PHI + number as u32 || operands.len() != 2 {
                continue;
            }
            let carried = self.root(self.operands[place as usize]);
            if carried == UNDEF || self.phi(carried).is_some_and(|phi| phi.block == again) {
                continue;
            }
            let start = self.operands.len() as u32;
            self.operands.extend(std::iter::repeat_n(carried, count));
            let id = PHI + self.phis.len() as u32;
            self.phis.push(Phi {
                block: again,
                var,
                operands: start..start + count as u32,
                is: id,
                id: 0,
                next: 0,
            });
            self.operands[place as usize] = id;
        }
    }

    /// The variable a provisional id was made for.
    pub(crate) fn var_of(&self, id: Id) -> u32 {
        self.phi(id).map_or(0, |phi| phi.var)
    }

    /// The id in the output of what a provisional id stands for, if it was asked for before.
    #[inline]
    pub(crate) fn known_name(&self, id: Id) -> Option<Id> {
        self.phi(id).map(|phi| phi.id).filter(|&id| id != 0)
    }

    /// Notes the id in the output of what a provisional id stands for.
    pub(crate) fn set_name(&mut self, id: Id, name: Id) {
        if let Some(phi) = phi_number(id).and_then(|number| self.phis.get_mut(number)) {
            phi.id = name;
        }
    }

    /// The id in the output of a root, with `new` making those of phis when they are first met.
    #[inline]
    pub(crate) fn name_root(&mut self, root: Id, new: impl FnOnce() -> Id) -> Id {
        let Some(number) = phi_number(root) else { return root };
        let Some(phi) = self.phis.get_mut(number) else { return root };
        if phi.id == 0 {
            phi.id = new();
            self.unfilled.push(number as u32);
        }
        phi.id
    }

    /// Phis that [`Ssa::name_root`] met since the last call.
    pub(crate) fn newly_used(&mut self) -> Option<u32> {
        self.unfilled.pop()
    }

    /// The operands of all phis; [`UNDEF`] there stands for the undefined value of the phi's variable.
    pub(crate) fn operands(&mut self) -> &mut Vec<Id> {
        &mut self.operands
    }

    /// The places of a phi's operands among them.
    pub(crate) fn operands_of(&self, number: u32) -> Range<usize> {
        range(&self.phis[number as usize].operands)
    }

    /// The variable of a phi.
    pub(crate) fn var(&self, number: u32) -> u32 {
        self.phis[number as usize].var
    }

    /// Chains the phis of each block that are in the output, in the order of their numbers.
    pub(crate) fn chain_phis(&mut self) {
        self.starts.clear();
        self.starts.resize(self.blocks.len(), 0);
        for (number, phi) in self.phis.iter_mut().enumerate().rev() {
            if phi.id != 0 && phi.is == PHI + number as u32 {
                phi.next = std::mem::replace(&mut self.starts[phi.block as usize], number as u32 + 1);
            }
        }
    }

    /// The blocks that have phis in the output, and where their instructions start, after [`Ssa::chain_phis`].
    pub(crate) fn blocks_with_phis(&self) -> impl Iterator<Item = (u32, usize)> {
        let all = (0..).zip(self.starts.iter().zip(&self.blocks));
        all.filter(|(_, (first, _))| **first != 0).map(|(block, (_, info))| (block, info.start))
    }

    /// Writes the phis of a block that are in the output, after [`Ssa::chain_phis`]; `ty` gives the types of variables.
    /// False if one has more words than an instruction can have.
    pub(crate) fn write_phis(&self, block: u32, out: &mut Vec<u32>, mut ty: impl FnMut(u32) -> Id) -> bool {
        let mut fits = true;
        let label = |pred: u32| self.blocks[pred as usize].label;
        let ends;
        let preds = match self.blocks[block as usize].from {
            From::Merge { ref preds, .. } => &self.preds[range(preds)],
            From::Loop { pre, back, .. } => {
                ends = [pre, back.unwrap_or(pre)];
                &ends[..]
            }
            From::Entry | From::One(_) => &[],
        };
        let mut next = self.starts[block as usize];
        while let Some(phi) = next.checked_sub(1).and_then(|number| self.phis.get(number as usize)) {
            next = phi.next;
            let operands = &self.operands[range(&phi.operands)];
            let words = 2 * operands.len() + 3;
            fits &= words <= MOST_WORDS;
            let header = (words as u32) << 16 | Op::Phi as u32;
            let type_id = ty(phi.var);
            // Most have two operands: those are copied at once.
            if let (&[a, b], &[p, q]) = (operands, preds) {
                out.extend_from_slice(&[header, type_id, phi.id, a, label(p), b, label(q)]);
                continue;
            }
            out.extend_from_slice(&[header, type_id, phi.id]);
            for (&operand, &pred) in operands.iter().zip(preds) {
                out.extend_from_slice(&[operand, label(pred)]);
            }
        }
        fits
    }

    /// How many phis there are, those that are in no output too.
    pub(crate) fn phi_count(&self) -> usize {
        self.phis.len()
    }
}

/// See [`Ssa::root`].
fn root(phis: &mut [Phi], id: Id) -> Id {
    let is =
        |phis: &[Phi], id: Id| phi_number(id).and_then(|number| phis.get(number)).map_or(id, |phi| phi.is);
    let mut root = id;
    while is(phis, root) != root {
        root = is(phis, root);
    }
    let mut at = id;
    while let Some(phi) = phi_number(at).filter(|_| at != root).and_then(|number| phis.get_mut(number)) {
        at = std::mem::replace(&mut phi.is, root);
    }
    root
}

/// How many of `writes` are in blocks up to `block`. Mostly all or nearly all are.
#[inline]
fn writes_up_to(writes: &[(u32, Id)], block: u32) -> usize {
    const FEW: usize = 12;
    match writes {
        few if few.len() <= FEW => few.len() - few.iter().rev().take_while(|w| w.0 > block).count(),
        [.., last] if last.0 <= block => writes.len(),
        many => many.partition_point(|w| w.0 <= block),
    }
}

fn range(r: &Range<u32>) -> Range<usize> {
    r.start as usize..r.end as usize
}

/// The number of a phi's provisional id.
pub(crate) fn phi_number(id: Id) -> Option<usize> {
    id.checked_sub(PHI).map(|n| n as usize)
}
