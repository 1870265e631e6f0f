//! Control flow that diverges: the function's structured tree, executed by those lanes whose mask is set.
//!
//! No statement is executed for an empty mask: where a selection or loop may leave no lane to go on, the rest of the list
//! is skipped. Values that are the same in all lanes which execute them therefore stay plain, with the same bits in every
//! SIMD lane. What one block defines and another uses is a variable. A store to it is blended by the mask where lanes that
//! do not execute it may still need the old value: for block parameters, and for values that leave their loop or live in a
//! dispatch, whose blocks different lanes execute at different times.

use super::Emitter;
use crate::error::{CompileError, Fault};
use crate::plan::{Plan, components};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I32X4;
use cranelift_codegen::ir::{Block as Label, BlockArg, InstBuilder, Value as Simd};
use cranelift_frontend::Variable;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::{Block, Function, Module, TermKind, Value};
use xenoglot_structure::graph::Edge;
use xenoglot_structure::tree::{Arms, List, Selector, Stmt, Tree};
use xenoglot_structure::{Options, structure};

/// The structured tree if the function needs it.
pub(super) fn tree(module: &Module, f: &Function, plan: &mut Plan) -> Result<Option<Tree>, CompileError> {
    if !plan.diverges {
        return Ok(None);
    }
    let tree = structure(f, &Options::default()).map_err(|e| CompileError::Codegen(e.to_string()))?;
    if tree.stats().dispatches > 0 {
        plan.spread_params(module, f);
    }
    Ok(Some(tree))
}

/// How a value is kept.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Keep {
    /// Used in its block only.
    #[default]
    Local,
    /// A variable that is overwritten.
    Plain,
    /// A variable whose other lanes stay.
    Blend,
}

/// The lanes that wait for the next round of a loop, and those that have left it.
#[derive(Clone, Copy)]
struct Waiting {
    again: Variable,
    left: Variable,
}

/// What masked control flow keeps.
pub(super) struct Variables {
    keep: SecondaryMap<Value, Keep>,
    values: SecondaryMap<Value, [Option<Variable>; 4]>,
    /// Values known in the current block.
    local: Vec<Value>,
    selectors: [Variable; 2],
    loops: Vec<Waiting>,
    /// Places emitted so far at which lanes end.
    ends: u32,
}

/// Which lanes go on behind a statement.
#[derive(Clone, Copy)]
enum Onward {
    /// All that came.
    All,
    /// Those of the mask, perhaps none.
    Some(Simd),
    Nobody,
}

/// A loop of the tree. The function's body is the first.
struct Place {
    parent: usize,
    /// Whether its lanes are all in the same round and every block is executed once in it.
    in_step: bool,
}

/// Where in the loops of the tree each block is.
fn places(tree: &Tree) -> (Vec<Place>, SecondaryMap<Block, usize>) {
    let mut places = vec![Place { parent: 0, in_step: true }];
    let mut home = SecondaryMap::new();
    let mut todo = vec![(tree.root(), 0)];
    while let Some((list, at)) = todo.pop() {
        for stmt in tree.list(list) {
            match *stmt {
                Stmt::Block(block) => home[block] = at,
                Stmt::Guard { body, .. } => todo.push((body, at)),
                Stmt::Branch { arms, .. } | Stmt::Switch { arms, .. } => {
                    todo.extend(tree.arms(arms).iter().map(|a| (a.body, at)));
                }
                Stmt::Loop { header, body } => {
                    places.push(Place { parent: at, in_step: header.is_some() });
                    todo.push((body, places.len() - 1));
                }
                _ => {}
            }
        }
    }
    (places, home)
}

/// How each value is kept.
fn keeps(f: &Function, plan: &Plan, tree: &Tree) -> SecondaryMap<Value, Keep> {
    let (places, home) = places(tree);
    let mut keep: SecondaryMap<Value, Keep> = SecondaryMap::with_capacity(f.values.len());
    let mut defined: SecondaryMap<Value, Option<Block>> = SecondaryMap::with_capacity(f.values.len());
    for &block in plan.cfg.rpo() {
        f.params(block).iter().for_each(|&p| {
            keep[p] = if plan.is_divergent(p) { Keep::Blend } else { Keep::Plain };
        });
        let results = f.blocks[block].insts.iter().flat_map(|&i| f.results(i));
        results.for_each(|&v| defined[v] = Some(block));
    }
    let inside = |mut at: usize, outer: usize| {
        while at > outer {
            at = places[at].parent;
        }
        at == outer
    };
    for &block in plan.cfg.rpo() {
        let arms = f.edges(block).len() > 1;
        let mut used = |v: Value, late: bool| {
            let Some(from) = defined[v] else { return };
            if from == block && !late {
                return;
            }
            let stays = inside(home[block], home[from]) && places[home[from]].in_step;
            let how = if plan.is_divergent(v) && !stays { Keep::Blend } else { Keep::Plain };
            keep[v] = keep[v].max(how);
        };
        for &inst in &f.blocks[block].insts {
            f.args(inst).iter().for_each(|&v| used(v, false));
        }
        f.term_args(block).iter().for_each(|&v| used(v, false));
        for edge in f.edges(block) {
            f.edge_args(edge).iter().for_each(|&v| used(v, arms));
        }
    }
    keep
}

impl Emitter<'_> {
    /// The function along its tree.
    pub(super) fn tree(&mut self, tree: &Tree) -> Result<(), CompileError> {
        let (f, plan) = (self.f, self.plan);
        let keep = keeps(f, plan, tree);
        let mut values: SecondaryMap<Value, [Option<Variable>; 4]> =
            SecondaryMap::with_capacity(f.values.len());
        // All start anew, so that nothing is carried from group to group.
        for v in f.values.keys().filter(|&v| keep[v] != Keep::Local) {
            for c in components(plan.live(v)) {
                let ty = Self::simd(f.ty(v).kind());
                let variable = self.b.declare_var(ty);
                let zero = self.constant(ty, 0);
                self.b.def_var(variable, zero);
                values[v][c] = Some(variable);
            }
        }
        let zero = self.constant(I32X4, 0);
        let selectors = [(); 2].map(|()| {
            let selector = self.b.declare_var(I32X4);
            self.b.def_var(selector, zero);
            selector
        });
        self.masked =
            Some(Variables { keep, values, local: Vec::new(), selectors, loops: Vec::new(), ends: 0 });
        self.list(tree, tree.root(), None)?;
        self.b.ins().jump(self.exits.next, &[]);
        Ok(())
    }

    fn masks(&mut self) -> &mut Variables {
        // `tree` sets it before anything else here is called.
        self.masked.as_mut().unwrap_or_else(|| unreachable!("masked control flow has variables"))
    }

    /// A component that another block may have defined.
    pub(super) fn variable(&mut self, v: Value, c: usize) -> Option<Simd> {
        let variable = self.masked.as_ref()?.values[v][c]?;
        let simd = self.b.use_var(variable);
        self.values[v][c] = Some(simd);
        self.masks().local.push(v);
        Some(simd)
    }

    /// Keeps a component for other blocks.
    pub(super) fn set_variable(&mut self, v: Value, c: usize, simd: Simd) {
        let Some(masked) = &mut self.masked else { return };
        masked.local.push(v);
        let keep = masked.keep[v];
        let Some(variable) = masked.values[v][c] else { return };
        let mut simd = simd;
        if let (Keep::Blend, Some(mask)) = (keep, self.mask) {
            let old = self.b.use_var(variable);
            simd = self.blend(mask, simd, old);
        }
        self.b.def_var(variable, simd);
    }

    /// Forgets what was known in the last block.
    fn leave(&mut self) {
        let local = std::mem::take(&mut self.masks().local);
        for &v in &local {
            self.values[v] = [None; 4];
        }
        let masked = self.masks();
        masked.local = local;
        masked.local.clear();
    }

    fn go_to(&mut self, label: Label) {
        self.enter(label);
        self.leave();
    }

    fn full(&mut self, mask: Option<Simd>) -> Simd {
        mask.unwrap_or_else(|| self.constant(I32X4, u32::MAX))
    }

    fn narrowed(&mut self, mask: Option<Simd>, by: Simd) -> Simd {
        mask.map_or(by, |mask| self.b.ins().band(mask, by))
    }

    /// Executes a list for the lanes of `mask`, of which there is one. Nesting is bounded by the depth limit of
    /// structuring, so recursion is, too.
    fn list(&mut self, tree: &Tree, list: List, mask: Option<Simd>) -> Result<Onward, CompileError> {
        let stmts = tree.list(list);
        let (mut mask, mut whole) = (mask, true);
        // Where control goes when no lane is left before the list ends.
        let mut end: Option<Label> = None;
        let mut last = Onward::All;
        for (n, stmt) in stmts.iter().enumerate() {
            last = self.stmt(tree, *stmt, mask)?;
            match last {
                Onward::All => {}
                Onward::Nobody => break,
                Onward::Some(lanes) => {
                    (mask, whole) = (Some(lanes), false);
                    if n + 1 < stmts.len() {
                        let end = *end.get_or_insert_with(|| {
                            let end = self.b.create_block();
                            self.b.append_block_param(end, I32X4);
                            end
                        });
                        let any = self.b.ins().vany_true(lanes);
                        let rest = self.b.create_block();
                        self.b.ins().brif(any, rest, &[], end, &[BlockArg::Value(lanes)]);
                        self.b.switch_to_block(rest);
                    }
                }
            }
        }
        let onward = match (last, mask) {
            (Onward::Nobody, _) => Onward::Nobody,
            (_, Some(lanes)) if !whole => Onward::Some(lanes),
            _ => Onward::All,
        };
        let Some(end) = end else { return Ok(onward) };
        let lanes = match onward {
            Onward::Some(lanes) => lanes,
            _ => self.constant(I32X4, 0),
        };
        self.b.ins().jump(end, &[BlockArg::Value(lanes)]);
        self.go_to(end);
        Ok(match onward {
            Onward::Nobody => Onward::Nobody,
            _ => Onward::Some(self.b.block_params(end)[0]),
        })
    }

    fn stmt(&mut self, tree: &Tree, stmt: Stmt, mask: Option<Simd>) -> Result<Onward, CompileError> {
        self.mask = mask;
        match stmt {
            Stmt::Block(block) => {
                self.leave();
                self.block(block)?;
            }
            Stmt::Edge(edge) => self.edge(edge),
            Stmt::Set { var, value } => {
                let selector = self.masks().selectors[var as usize];
                let mut simd = self.constant(I32X4, value);
                if let Some(mask) = mask {
                    let old = self.b.use_var(selector);
                    simd = self.blend(mask, simd, old);
                }
                self.b.def_var(selector, simd);
            }
            Stmt::Branch { block, arms } => return self.branch(tree, block, arms, mask),
            Stmt::Switch { var, arms } => {
                let conditions: Vec<Simd> =
                    tree.arms(arms).iter().map(|arm| self.selected(var, arm.label)).collect();
                return self.arms(tree, arms, &conditions, mask);
            }
            Stmt::Guard { value, body } => {
                let here = self.selected(Selector::Exit, value);
                let inside = self.narrowed(mask, here);
                let lanes = self.arm(tree, body, inside)?;
                let all = self.full(mask);
                return Ok(match lanes {
                    Onward::All => Onward::All,
                    onward => {
                        let outside = self.b.ins().band_not(all, inside);
                        Onward::Some(self.either(outside, onward))
                    }
                });
            }
            Stmt::Loop { body, .. } => return self.repeat(tree, body, mask),
            Stmt::Break | Stmt::Continue => {
                let lanes = self.full(mask);
                if let Some(&waiting) = self.masks().loops.last() {
                    let variable = if stmt == Stmt::Break { waiting.left } else { waiting.again };
                    let old = self.b.use_var(variable);
                    let both = self.b.ins().bor(old, lanes);
                    self.b.def_var(variable, both);
                }
                return Ok(Onward::Nobody);
            }
            Stmt::Terminate(block) => {
                self.masks().ends += 1;
                match self.f.term(block).kind {
                    TermKind::Return => {}
                    TermKind::Unreachable => {
                        self.fault(Fault::Unreachable);
                        let dead = self.b.create_block();
                        self.go_to(dead);
                    }
                    kind => return Err(CompileError::unsupported(format!("`{}`", kind.name()), None)),
                }
                return Ok(Onward::Nobody);
            }
            Stmt::Unreachable => return Ok(Onward::Nobody),
        }
        Ok(Onward::All)
    }

    /// The lanes whose selector is `value`.
    fn selected(&mut self, var: Selector, value: u32) -> Simd {
        let selector = self.masks().selectors[var as usize];
        let selector = self.b.use_var(selector);
        let value = self.constant(I32X4, value);
        self.b.ins().icmp(IntCC::Equal, selector, value)
    }

    /// Lanes of a mask and those that go on.
    fn either(&mut self, lanes: Simd, onward: Onward) -> Simd {
        match onward {
            Onward::Some(more) => self.b.ins().bor(lanes, more),
            _ => lanes,
        }
    }

    /// The parallel copy of an edge.
    fn edge(&mut self, edge: Edge) {
        let f = self.f;
        let edge = &f.edges(edge.from)[edge.index as usize];
        let mut copies = Vec::new();
        for (&p, &a) in f.params(edge.block).iter().zip(f.edge_args(edge)) {
            for c in components(self.plan.live(p)) {
                copies.push((p, c, self.get(a, c)));
            }
        }
        for (p, c, simd) in copies {
            self.set_variable(p, c, simd);
            // Where it goes to it is read as the variable says.
            self.values[p][c] = None;
        }
    }

    fn branch(
        &mut self,
        tree: &Tree,
        block: Block,
        arms: Arms,
        mask: Option<Simd>,
    ) -> Result<Onward, CompileError> {
        let f = self.f;
        let term = f.term(block);
        let value = self.get(f.term_args(block)[0], 0);
        let conditions: Vec<Simd> = if term.kind == TermKind::Branch {
            vec![value, self.b.ins().bnot(value)]
        } else {
            let mut rest = None;
            let mut conditions: Vec<Simd> = Vec::with_capacity(term.cases.len() + 1);
            for &case in &term.cases {
                let case = self.constant(I32X4, case as u32);
                let here = self.b.ins().icmp(IntCC::Equal, value, case);
                rest = Some(rest.map_or(here, |rest| self.b.ins().bor(rest, here)));
                conditions.push(here);
            }
            conditions.push(match rest {
                Some(rest) => self.b.ins().bnot(rest),
                None => self.full(None),
            });
            conditions
        };
        if self.plan.branch_diverges(f, block) || conditions.len() != 2 {
            return self.arms(tree, arms, &conditions, mask);
        }
        self.together(tree, arms, conditions[0], mask)
    }

    /// A branch that all lanes take the same way.
    fn together(
        &mut self,
        tree: &Tree,
        arms: Arms,
        condition: Simd,
        mask: Option<Simd>,
    ) -> Result<Onward, CompileError> {
        let [yes, no, after] = [(); 3].map(|()| self.b.create_block());
        let lanes = self.b.append_block_param(after, I32X4);
        let condition = self.b.ins().vany_true(condition);
        self.b.ins().brif(condition, yes, &[], no, &[]);
        let (mut everyone, mut anyone) = (true, false);
        for (label, arm) in [yes, no].into_iter().zip(tree.arms(arms)) {
            self.go_to(label);
            let onward = self.list(tree, arm.body, mask)?;
            everyone &= matches!(onward, Onward::All);
            anyone |= !matches!(onward, Onward::Nobody);
            let lanes = match onward {
                Onward::All => self.full(mask),
                Onward::Some(lanes) => lanes,
                Onward::Nobody => self.constant(I32X4, 0),
            };
            self.b.ins().jump(after, &[BlockArg::Value(lanes)]);
        }
        self.go_to(after);
        Ok(match (everyone, anyone) {
            (true, _) => Onward::All,
            (_, true) => Onward::Some(lanes),
            _ => Onward::Nobody,
        })
    }

    /// Arms, each for the lanes of its condition; every lane has one.
    fn arms(
        &mut self,
        tree: &Tree,
        arms: Arms,
        conditions: &[Simd],
        mask: Option<Simd>,
    ) -> Result<Onward, CompileError> {
        let (mut everyone, mut lanes) = (true, None);
        for (arm, &condition) in tree.arms(arms).iter().zip(conditions) {
            let here = self.narrowed(mask, condition);
            let onward = self.arm(tree, arm.body, here)?;
            everyone &= matches!(onward, Onward::All);
            let more = match onward {
                Onward::All => here,
                Onward::Some(lanes) => lanes,
                Onward::Nobody => continue,
            };
            lanes = Some(lanes.map_or(more, |lanes| self.b.ins().bor(lanes, more)));
        }
        Ok(match lanes {
            _ if everyone => Onward::All,
            Some(lanes) => Onward::Some(lanes),
            None => Onward::Nobody,
        })
    }

    /// A list for the lanes of `mask`, if there are any.
    fn arm(&mut self, tree: &Tree, list: List, mask: Simd) -> Result<Onward, CompileError> {
        if tree.list(list).is_empty() {
            return Ok(Onward::All);
        }
        let [inside, after] = [(); 2].map(|()| self.b.create_block());
        let lanes = self.b.append_block_param(after, I32X4);
        let any = self.b.ins().vany_true(mask);
        self.b.ins().brif(any, inside, &[], after, &[BlockArg::Value(mask)]);
        self.go_to(inside);
        let onward = self.list(tree, list, Some(mask))?;
        let left = match onward {
            Onward::All => mask,
            Onward::Some(lanes) => lanes,
            Onward::Nobody => self.constant(I32X4, 0),
        };
        self.b.ins().jump(after, &[BlockArg::Value(left)]);
        self.go_to(after);
        Ok(if let Onward::Some(_) = onward { Onward::Some(lanes) } else { onward })
    }

    fn repeat(&mut self, tree: &Tree, body: List, mask: Option<Simd>) -> Result<Onward, CompileError> {
        let [again, left] = [(); 2].map(|()| self.b.declare_var(I32X4));
        let nobody = self.constant(I32X4, 0);
        self.b.def_var(left, nobody);
        let entering = self.full(mask);
        let [head, after] = [(); 2].map(|()| self.b.create_block());
        let lanes = self.b.append_block_param(head, I32X4);
        self.b.ins().jump(head, &[BlockArg::Value(entering)]);
        self.go_to(head);
        self.burn();
        let nobody = self.constant(I32X4, 0);
        self.b.def_var(again, nobody);
        let before = self.masks().ends;
        self.masks().loops.push(Waiting { again, left });
        self.list(tree, body, Some(lanes))?;
        self.masks().loops.pop();
        let more = self.b.use_var(again);
        let any = self.b.ins().vany_true(more);
        self.b.ins().brif(any, head, &[BlockArg::Value(more)], after, &[]);
        self.go_to(after);
        // Where no lane ends inside, all come out in the end.
        if self.masks().ends == before {
            return Ok(Onward::All);
        }
        Ok(Onward::Some(self.b.use_var(left)))
    }
}
