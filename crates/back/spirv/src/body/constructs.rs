//! Selections, loops and ends of the structured form as SPIR-V constructs.

use super::*;

/// The most cases of an `OpSwitch`: the specification's universal limit.
const MOST_CASES: usize = 16_383;

/// The most nested `OpSwitch`es that one switch becomes. Drivers are silently wrong about deep nesting.
const MOST_LEVELS: usize = 16;

/// What is in an arm.
#[derive(Clone, Copy)]
pub(super) enum Arm {
    List(List),
    /// The next of [`Scratch::levels`].
    Level,
}

/// Some cases of a switch that has more than an `OpSwitch` takes.
pub(super) struct Level {
    on: Id,
    ty: Type,
    cases: Vec<u64>,
    /// As many as cases.
    bodies: Vec<List>,
    default: Arm,
}

impl Body<'_, '_> {
    pub(super) fn branch(&mut self, block: Block, arms: Arms, behind: Behind<'_>) -> Result<(), Error> {
        let function = self.function;
        let term = function.term(block);
        self.guest(term.guest);
        let Some(&operand) = function.term_args(block).first() else {
            return Err(Error::Invalid("a branch without operand"));
        };
        let arms = self.tree.arms(arms);
        let on = self.value(operand);
        if term.kind == TermKind::Branch {
            if let [yes, no] = arms {
                self.select(on, &[self.some(yes.body), self.some(no.body)], behind);
            }
            return Ok(());
        }
        let bodies: SmallVec<[List; 8]> = arms.iter().map(|a| a.body).collect();
        let ty = function.ty(operand);
        let cases: SmallVec<[u64; 8]> = term.cases.iter().map(|c| c & ty.kind().mask()).collect();
        self.switch(on, ty, &cases, &bodies, behind).map_err(|reason| reason.at(None, term.guest))
    }

    pub(super) fn switch_selector(
        &mut self,
        var: Selector,
        arms: Arms,
        behind: Behind<'_>,
    ) -> Result<(), Error> {
        let on = self.read(selector(self.function, var));
        let bodies: SmallVec<[List; 8]> = self.tree.arms(arms).iter().map(|a| a.body).collect();
        // The value is one of the labels, so the last needs no test.
        let labels = self.tree.arms(arms).iter().map(|a| u64::from(a.label));
        let cases: SmallVec<[u64; 8]> = labels.take(bodies.len().saturating_sub(1)).collect();
        self.switch(on, Type::I32, &cases, &bodies, behind).map_err(|reason| reason.at(None, NO_GUEST))
    }

    /// A list, unless it is empty.
    pub(super) fn some(&self, list: List) -> Option<List> {
        (!self.tree.list(list).is_empty()).then_some(list)
    }

    /// Opens a selection with the arms from `first` on; `head` leads to its end itself if it is among the blocks that do.
    pub(super) fn open_select(&mut self, first: usize, merge: Id, direct: Option<u32>, is_exit: bool) {
        let (head, preds) = (self.block, self.scratch.preds.len() as u32);
        self.scratch.preds.extend(direct);
        self.next_arm(Select { arms: first as u32, preds, head, merge, exit: None, is_exit });
    }

    /// A switch: one body per case and a last one for other values.
    fn switch(
        &mut self,
        on: Id,
        ty: Type,
        cases: &[u64],
        bodies: &[List],
        behind: Behind<'_>,
    ) -> Result<(), Reason> {
        let test = |unit: &mut Unit, op: S, case: u64| {
            let case = unit.splat(ty, case);
            unit.op(op, Type::BOOL, &[on, case])
        };
        if let ([case], [yes, no]) = (cases, bodies) {
            let cond = test(self.unit(), S::IEqual, *case);
            self.select(cond, &[self.some(*yes), self.some(*no)], behind);
            return Ok(());
        }
        let Some((&default, rest)) = bodies.split_last() else { return Ok(()) };
        if self.shared.unit.options.switch_as_if_chain {
            let mut arms: SmallVec<[(Id, Arm); 4]> = SmallVec::new();
            let mut none = None;
            for (&case, &body) in cases.iter().zip(rest) {
                let unit = &mut *self.shared.unit;
                let is_it = test(unit, S::IEqual, case);
                if !self.tree.list(body).is_empty() {
                    arms.push((is_it, Arm::List(body)));
                }
                let other = test(unit, S::INotEqual, case);
                none = Some(match none {
                    None => other,
                    Some(none) => unit.op(S::LogicalAnd, Type::BOOL, &[none, other]),
                });
            }
            if !self.tree.list(default).is_empty() {
                arms.extend(none.map(|none| (none, Arm::List(default))));
            }
            let first = self.scratch.arms.len();
            self.scratch.arms.extend(arms.into_iter().rev());
            self.link(first as u32);
            return Ok(());
        }
        // Cases beyond the limit of one `OpSwitch` go to another one in its default.
        let levels = cases.chunks(MOST_CASES).zip(rest.chunks(MOST_CASES));
        if levels.len() > MOST_LEVELS {
            return Err(Reason::Unsupported("a switch of so many cases"));
        }
        let inner = levels.skip(1).rev();
        let mut last = Arm::List(default);
        for (cases, bodies) in inner {
            let (cases, bodies) = (cases.to_vec(), bodies.to_vec());
            self.scratch.levels.push(Level { on, ty, cases, bodies, default: last });
            last = Arm::Level;
        }
        let outer = cases.len().min(MOST_CASES);
        self.level(on, ty, (&cases[..outer], &rest[..outer.min(rest.len())]), last);
        Ok(())
    }

    /// One `OpSwitch`.
    fn level(&mut self, on: Id, ty: Type, (cases, bodies): (&[u64], &[List]), default: Arm) {
        let merge = self.unit().id();
        let mut arms: SmallVec<[(Id, Arm); 8]> = SmallVec::with_capacity(bodies.len() + 1);
        for arm in bodies.iter().map(|&body| Arm::List(body)).chain([default]) {
            let is_empty = matches!(arm, Arm::List(list) if self.tree.list(list).is_empty());
            arms.push((if is_empty { merge } else { self.unit().id() }, arm));
        }
        let mut words: SmallVec<[u32; 16]> = SmallVec::from_slice(&[on]);
        words.extend(arms.last().map(|&(label, _)| label));
        for (&case, &(label, _)) in cases.iter().zip(&arms) {
            words.push(case as u32);
            if ty.kind() == Kind::I64 {
                words.push((case >> 32) as u32);
            }
            words.push(label);
        }
        self.unit().effect(S::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
        let unit = self.unit();
        unit.effect_of(S::Switch, &words);
        unit.no_ids(words.len().saturating_sub(1));
        self.ended = true;
        let to_merge = arms.iter().any(|&(label, _)| label == merge);
        let is_exit = self.is_worth_a_switch(bodies.iter().copied());
        let first = self.scratch.arms.len();
        self.scratch.arms.extend(arms.into_iter().rev().filter(|&(label, _)| label != merge));
        let direct = to_merge.then_some(self.block);
        self.open_select(first, merge, direct, is_exit);
    }

    /// Ends the arm at work of a selection and goes on with it.
    pub(super) fn end_arm(&mut self, select: Select) {
        match select.exit {
            Some(exit) => self.leave_to(exit),
            None => {
                if let Some(from) = self.leave(select.merge) {
                    self.scratch.preds.push(from);
                }
            }
        }
        self.next_arm(select);
    }

    /// Opens the next arm of a selection, or the merge block.
    pub(super) fn next_arm(&mut self, select: Select) {
        if self.scratch.arms.len() > select.arms as usize
            && let Some((label, body)) = self.scratch.arms.pop()
        {
            self.open_block(label, select.head);
            self.scratch.frames.push(Frame::Select(select));
            match body {
                Arm::List(list) => self.push_list(list, self.exit_of_arm(&select)),
                Arm::Level => {
                    if let Some(Level { on, ty, cases, bodies, default }) = self.scratch.levels.pop() {
                        self.level(on, ty, (&cases, &bodies), default);
                    }
                }
            }
            return;
        }
        if select.merge == 0 {
            return;
        }
        let first = select.preds as usize;
        let preds = self.scratch.preds.get(first..).unwrap_or_default();
        // Where the arms lead somewhere else, nothing leads to the merge block.
        let preds = if select.exit.is_some() { &[] } else { preds };
        let start = self.shared.unit.label(select.merge);
        self.block = self.scratch.ssa.add_merge(select.merge, start, select.head, preds);
        if select.exit.is_none() {
            self.scratch.preds.truncate(first);
        }
        self.opened();
    }

    /// Goes on with a chain whose arms start at `first`.
    pub(super) fn link(&mut self, first: u32) {
        if self.scratch.arms.len() > first as usize
            && let Some((cond, Arm::List(body))) = self.scratch.arms.pop()
        {
            self.scratch.frames.push(Frame::Chain(first));
            self.select(cond, &[Some(body), None], Behind::default());
        }
    }

    pub(super) fn open_loop(&mut self, body: List) {
        let [head, inner, merge, again] = std::array::from_fn(|_| self.unit().id());
        let pre = self.block;
        self.end(S::Branch, &[head]);
        let around = self.scratch.places.loops.get(self.loops_met).copied().unwrap_or(places::Loop::ANY);
        self.loops_met += 1;
        let start = self.unit().label(head);
        let header = self.scratch.ssa.add_loop(head, start, pre, around);
        self.block = header;
        self.opened();
        self.unit().effect(S::LoopMerge, &[merge, again, LoopControl::NONE.bits()]);
        self.end(S::Branch, &[inner]);
        self.open_block(inner, header);
        self.scratch.targets.push(Loop {
            header,
            pre,
            merge,
            breaks: SmallVec::new(),
            again,
            continues: SmallVec::new(),
        });
        if self.shared.unit.options.robust {
            self.burn();
        }
        self.scratch.frames.push(Frame::Loop);
        self.push_list(body, None);
    }

    /// Takes one unit of fuel, and returns from the function if there is none. It counts down: Intel drivers hang
    /// on guards that count up.
    pub(super) fn burn(&mut self) {
        let fuel = fuel(self.function);
        let left = self.read(fuel);
        let unit = self.unit();
        let (zero, one) = (unit.u32(0), unit.u32(1));
        let empty = unit.op(S::IEqual, Type::BOOL, &[left, zero]);
        let function = self.function;
        self.when(empty, |body| {
            if function.returns.is_empty() {
                body.end(S::Return, &[]);
            } else {
                let unit = body.unit();
                let ty = return_type(unit, &function.returns);
                let zeros = unit.null(ty);
                body.end(S::ReturnValue, &[zeros]);
            }
        });
        let less = self.unit().op(S::ISub, Type::I32, &[left, one]);
        self.write(fuel, less);
    }

    pub(super) fn close_loop(&mut self) {
        if !self.ended {
            self.end(S::Unreachable, &[]);
        }
        let Some(done) = self.scratch.targets.pop() else { return };
        let again = self.open_merge(done.again, done.header, &done.continues);
        let header = self.label(done.header);
        self.end(S::Branch, &[header]);
        self.scratch.ssa.close_loop(done.header, again);
        self.open_merge(done.merge, done.pre, &done.breaks);
    }

    /// Ends a block that has no successors.
    pub(super) fn terminate(&mut self, block: Block) -> Result<(), Error> {
        let function = self.function;
        let term = function.term(block);
        self.guest(term.guest);
        let unsupported = |what| Err(Reason::Unsupported(what).at(None, term.guest));
        match term.kind {
            TermKind::Return => {
                let values: SmallVec<[Id; 8]> =
                    function.term_args(block).iter().map(|&v| self.value(v)).collect();
                match values[..] {
                    [] => self.end(S::Return, &[]),
                    [v] => self.end(S::ReturnValue, &[v]),
                    ref many => {
                        let unit = self.unit();
                        let ty = return_type(unit, &function.returns);
                        let all = unit.op_raw_of(S::CompositeConstruct, ty, many);
                        self.end(S::ReturnValue, &[all]);
                    }
                }
                Ok(())
            }
            TermKind::Kill if self.shared.module.stage == Stage::Fragment => {
                self.end(S::Kill, &[]);
                Ok(())
            }
            TermKind::Unreachable => {
                self.end(S::Unreachable, &[]);
                Ok(())
            }
            TermKind::Kill => unsupported("`kill` outside a fragment shader"),
            TermKind::Exit | TermKind::TailCallGuest | TermKind::Trap => {
                unsupported("a guest address as a target")
            }
            _ => Err(Error::Invalid("a terminator without successors")),
        }
    }
}
