//! Control flow that diverges: the function's structured tree, executed by those lanes whose mask is set.
//!
//! No statement is executed for an empty mask: where a selection or loop may leave no lane to go on, the rest of the list
//! is skipped. Values that are the same in all lanes which execute them therefore stay plain, with the same bits in every
//! SIMD lane. What one block defines and another uses has a home in memory (`homes`). A store to it is blended by the mask
//! where lanes that do not execute it may still need the old value: for block parameters, and for values that leave their
//! loop or live in a dispatch, whose blocks different lanes execute at different times.

use super::Emitter;
use super::homes::{Cell, Homes, Keep, outliving};
use crate::error::{CompileError, Fault};
use crate::plan::Plan;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I32X4;
use cranelift_codegen::ir::{Block as Label, BlockArg, InstBuilder, Value as Simd};
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::{Block, Function, Module, TermKind, Value, ValueDef};
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

/// The lanes that wait for the next round of a loop, and those that have left it.
#[derive(Clone, Copy)]
struct Waiting {
    again: Cell,
    left: Cell,
}

/// What masked control flow keeps.
pub(super) struct Masks {
    selectors: [Cell; 2],
    /// By depth: loops of the same depth are never under way at once.
    loops: Vec<Waiting>,
    /// Loops around what is emitted.
    depth: usize,
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
    let inside = |mut at: usize, outer: usize| {
        while at > outer {
            at = places[at].parent;
        }
        at == outer
    };
    let mut keep: SecondaryMap<Value, Keep> = SecondaryMap::with_capacity(f.values.len());
    outliving(f, plan, true, |v, from, to| {
        let is_param = matches!(f.values[v].def, ValueDef::Param(..));
        let stays = !is_param && inside(home[to], home[from]) && places[home[from]].in_step;
        let how = if plan.is_divergent(v) && !stays { Keep::Blend } else { Keep::Plain };
        keep[v] = keep[v].max(how);
    });
    keep
}

impl Emitter<'_> {
    /// The function along its tree.
    pub(super) fn tree(&mut self, tree: &Tree) -> Result<(), CompileError> {
        self.homes = Homes::new(self.f, self.plan, keeps(self.f, self.plan, tree))?;
        let selectors = [self.homes.cell()?, self.homes.cell()?];
        let zero = self.constant(I32X4, 0);
        selectors.into_iter().for_each(|cell| self.write(cell, zero));
        self.masked = Some(Masks { selectors, loops: Vec::new(), depth: 0, ends: 0 });
        self.list(tree, tree.root(), None)?;
        self.b.ins().jump(self.exits.next, &[]);
        Ok(())
    }

    fn masks(&mut self) -> &mut Masks {
        // `tree` sets it before anything else here is called.
        self.masked.as_mut().unwrap_or_else(|| unreachable!("masked control flow has masks"))
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

    /// Executes a list for the lanes of `mask`; at least one is set. Nesting is bounded by the depth limit of
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
            Stmt::Edge(edge) => self.copy_edge(edge.from, edge.index as usize),
            Stmt::Set { var, value } => {
                let selector = self.masks().selectors[var as usize];
                let mut simd = self.constant(I32X4, value);
                if let Some(mask) = mask {
                    let old = self.read(selector);
                    simd = self.blend(mask, simd, old);
                }
                self.write(selector, simd);
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
                if let Some(waiting) = self.innermost() {
                    let cell = if stmt == Stmt::Break { waiting.left } else { waiting.again };
                    let old = self.read(cell);
                    let both = self.b.ins().bor(old, lanes);
                    self.write(cell, both);
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
        let selector = self.read(selector);
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

    /// The innermost loop around what is emitted.
    fn innermost(&mut self) -> Option<Waiting> {
        let masks = self.masks();
        masks.loops.get(masks.depth.checked_sub(1)?).copied()
    }

    /// The masks of a loop at the current depth.
    fn waiting(&mut self) -> Result<Waiting, CompileError> {
        let depth = self.masks().depth;
        if let Some(&waiting) = self.masks().loops.get(depth) {
            return Ok(waiting);
        }
        let waiting = Waiting { again: self.homes.cell()?, left: self.homes.cell()? };
        self.masks().loops.push(waiting);
        Ok(waiting)
    }

    fn repeat(&mut self, tree: &Tree, body: List, mask: Option<Simd>) -> Result<Onward, CompileError> {
        let Waiting { again, left } = self.waiting()?;
        let nobody = self.constant(I32X4, 0);
        self.write(left, nobody);
        let entering = self.full(mask);
        let [head, after] = [(); 2].map(|()| self.b.create_block());
        let lanes = self.b.append_block_param(head, I32X4);
        self.b.ins().jump(head, &[BlockArg::Value(entering)]);
        self.go_to(head);
        self.burn();
        let nobody = self.constant(I32X4, 0);
        self.write(again, nobody);
        let before = self.masks().ends;
        self.masks().depth += 1;
        self.list(tree, body, Some(lanes))?;
        self.masks().depth -= 1;
        let more = self.read(again);
        let any = self.b.ins().vany_true(more);
        self.b.ins().brif(any, head, &[BlockArg::Value(more)], after, &[]);
        self.go_to(after);
        // Where no lane ends inside, all come out in the end.
        if self.masks().ends == before {
            return Ok(Onward::All);
        }
        Ok(Onward::Some(self.read(left)))
    }
}
