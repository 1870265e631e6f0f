//! Statements: the structured tree of a function, written with an explicit stack.

use crate::error::{Error, Guest};
use crate::expr::{ANY, POSTFIX, Sel};
use crate::literal::{lane, type_name};
use crate::writer::{Writer, block_exists};
use std::fmt::Write;
use xenoglot_ir::{Block, Kind, Stage, TermKind, Type};
use xenoglot_structure::tree::{Arms, List, Selector, Stmt, Tree};

/// A list of the tree being written.
struct Frame {
    list: List,
    next: u32,
    /// Falling off the list's end is what `after` says, so a last statement that says the same is left out.
    tail: Tail,
    close: Close,
}

/// What happens where control leaves the end of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// The function returns.
    Returns,
    /// The loop goes round.
    Repeats,
    /// Something else is executed.
    Other,
}

/// What is written when a list is done.
#[derive(Clone, Copy)]
enum Close {
    Nothing,
    Brace,
    /// Go on with this arm of a selection.
    Arm {
        arms: Arms,
        next: u32,
        form: Form,
    },
}

/// How a selection is written.
#[derive(Clone, Copy)]
enum Form {
    /// `if` on the condition of a block's branch.
    If,
    /// `switch` or if-chain over something.
    Many { over: Over, chain: bool },
}

/// What a `switch` decides over.
#[derive(Clone, Copy)]
enum Over {
    Selector(Selector),
    Block(Block),
}

/// The most labels of a `switch`, beside `default`. GLSL sets no limit, but what it is compiled to does: it is that of
/// SPIR-V's `OpSwitch`. The rest is a `switch` in the `default` of the one before.
const MOST_CASES: usize = 16_383;

/// How many `switch`es there are inside of the first one, for so many arms.
fn inner_switches(arms: usize) -> usize {
    arms.saturating_sub(2) / MOST_CASES
}

fn selector_name(s: Selector) -> &'static str {
    match s {
        Selector::Exit => "exit_to",
        Selector::Route => "route",
    }
}

/// Facts about the tree that are needed before it is written.
struct Scan {
    /// By the id of the arms: a loop is left from inside, which GLSL's `switch` would catch.
    breaks: Vec<Arms>,
    exit: bool,
    route: bool,
}

fn scan(tree: &Tree) -> Scan {
    let mut found = Scan { breaks: Vec::new(), exit: false, route: false };
    // Lists with the selections around them up to the innermost loop: an index into `around`, linked to the next.
    let mut around: Vec<(Arms, Option<usize>, bool)> = Vec::new();
    let mut work = vec![(tree.root(), None)];
    while let Some((list, inner)) = work.pop() {
        for &stmt in tree.list(list) {
            let mut note = |s: Selector| match s {
                Selector::Exit => found.exit = true,
                Selector::Route => found.route = true,
            };
            match stmt {
                Stmt::Set { var, .. } => note(var),
                Stmt::Guard { body, .. } => {
                    found.exit = true;
                    work.push((body, inner));
                }
                Stmt::Loop { body, .. } => work.push((body, None)),
                Stmt::Branch { arms, .. } | Stmt::Switch { arms, .. } => {
                    if let Stmt::Switch { var, .. } = stmt {
                        note(var);
                    }
                    around.push((arms, inner, false));
                    let me = Some(around.len() - 1);
                    work.extend(tree.arms(arms).iter().map(|a| (a.body, me)));
                }
                Stmt::Break => {
                    let mut at = inner;
                    while let Some(i) = at {
                        if std::mem::replace(&mut around[i].2, true) {
                            break;
                        }
                        at = around[i].1;
                    }
                }
                _ => {}
            }
        }
    }
    found.breaks.extend(around.into_iter().filter(|a| a.2).map(|a| a.0));
    found.breaks.sort_unstable_by_key(|a| arms_key(tree, *a));
    found
}

/// A number that tells non-empty arms of one tree apart.
fn arms_key(tree: &Tree, arms: Arms) -> usize {
    tree.arms(arms).as_ptr() as usize
}

impl Writer<'_> {
    /// Writes the whole function.
    pub(crate) fn function(&mut self, tree: &Tree, is_entry: bool) -> Result<(), Error> {
        let scan = scan(tree);
        self.signature(is_entry)?;
        self.declarations(&scan)?;
        let root = if is_entry { Tail::Returns } else { Tail::Other };
        let mut stack = vec![Frame { list: tree.root(), next: 0, tail: root, close: Close::Nothing }];
        while let Some(top) = stack.last_mut() {
            let list = tree.list(top.list);
            let Some(&stmt) = list.get(top.next as usize) else {
                let (list, tail, close) = (top.list, top.tail, top.close);
                stack.pop();
                if let Some(frame) = self.leave(tree, list, tail, close)? {
                    stack.push(frame);
                }
                continue;
            };
            top.next += 1;
            let last = top.next as usize == list.len();
            let tail = if last { top.tail } else { Tail::Other };
            match stmt {
                Stmt::Block(b) => self.block(b)?,
                Stmt::Edge(edge) => self.edge(edge)?,
                Stmt::Set { var, value } => {
                    self.pad();
                    let _ = writeln!(self.out, "{} = {value};", selector_name(var));
                }
                Stmt::Break => self.line("break;"),
                Stmt::Continue => {
                    if tail != Tail::Repeats {
                        self.line("continue;");
                    }
                }
                Stmt::Terminate(b) => self.terminate(b, tail == Tail::Returns)?,
                Stmt::Unreachable => {}
                Stmt::Loop { body, .. } => {
                    self.line("while (true) {");
                    self.indent += 1;
                    stack.push(Frame { list: body, next: 0, tail: Tail::Repeats, close: Close::Brace });
                }
                Stmt::Guard { value, body } => {
                    self.pad();
                    let _ = writeln!(self.out, "if (exit_to == {value}) {{");
                    self.indent += 1;
                    stack.push(Frame { list: body, next: 0, tail, close: Close::Brace });
                }
                Stmt::Branch { block, arms } => {
                    let form = match self.func.term(block).kind {
                        TermKind::Branch => Form::If,
                        _ => self.many(tree, &scan, arms, Over::Block(block)),
                    };
                    let frame = match form {
                        Form::If => self.open_if(tree, block, arms, tail)?,
                        Form::Many { .. } => self.open_many(tree, arms, form, tail)?,
                    };
                    stack.extend(frame);
                }
                Stmt::Switch { var, arms } => {
                    let form = self.many(tree, &scan, arms, Over::Selector(var));
                    stack.extend(self.open_many(tree, arms, form, tail)?);
                }
            }
            if self.out.len() > self.options.max_output {
                return Err(Error::TooLarge(self.options.max_output));
            }
        }
        self.out.push_str("}\n\n");
        Ok(())
    }

    fn many(&self, tree: &Tree, scan: &Scan, arms: Arms, over: Over) -> Form {
        let wide = match over {
            Over::Block(b) => {
                self.func.term_args(b).first().is_some_and(|&v| self.func.ty(v).kind() != Kind::I32)
            }
            Over::Selector(_) => false,
        };
        let breaks = || {
            let key = arms_key(tree, arms);
            scan.breaks.binary_search_by_key(&key, |a| arms_key(tree, *a)).is_ok()
        };
        Form::Many { over, chain: self.options.switch_as_if_chain || wide || breaks() }
    }

    /// Writes `if (..) {` and gives the first arm that does something.
    fn open_if(&mut self, tree: &Tree, block: Block, arms: Arms, tail: Tail) -> Result<Option<Frame>, Error> {
        let &[yes, no] = tree.arms(arms) else { return Err(Error::Malformed("a branch without two ways")) };
        let &condition =
            self.func.term_args(block).first().ok_or(Error::Malformed("a branch without condition"))?;
        let start = self.out.len();
        self.note_address(self.func.term(block).guest);
        self.pad();
        let empty_yes = self.is_silent(tree, yes.body, tail);
        if empty_yes && self.is_silent(tree, no.body, tail) {
            self.guests.clear();
            self.out.truncate(start);
            return Ok(None);
        }
        self.out.push_str(if empty_yes { "if (!" } else { "if (" });
        self.value(condition, if empty_yes { POSTFIX } else { ANY })?;
        self.out.push_str(") {\n");
        self.comment(start);
        self.indent += 1;
        let (list, next) = if empty_yes { (no.body, 2) } else { (yes.body, 1) };
        Ok(Some(Frame { list, next: 0, tail, close: Close::Arm { arms, next, form: Form::If } }))
    }

    fn open_many(&mut self, tree: &Tree, arms: Arms, form: Form, tail: Tail) -> Result<Option<Frame>, Error> {
        if let Form::Many { over, chain: false } = form {
            let start = self.out.len();
            self.pad();
            self.out.push_str("switch (");
            self.over(over)?;
            self.out.push_str(") {\n");
            self.comment(start);
        }
        self.next_arm(tree, arms, 0, form, tail)
    }

    fn over(&mut self, over: Over) -> Result<(), Error> {
        match over {
            Over::Selector(s) => self.out.push_str(selector_name(s)),
            Over::Block(b) => {
                self.note_address(self.func.term(b).guest);
                let &v =
                    self.func.term_args(b).first().ok_or(Error::Malformed("a switch without operand"))?;
                self.value(v, POSTFIX)?;
            }
        }
        Ok(())
    }

    /// Ends a list and gives the list to go on with.
    fn leave(&mut self, tree: &Tree, list: List, tail: Tail, close: Close) -> Result<Option<Frame>, Error> {
        match close {
            Close::Nothing => Ok(None),
            Close::Brace => {
                self.indent -= 1;
                self.line("}");
                Ok(None)
            }
            Close::Arm { arms, next, form: Form::If } => {
                self.indent -= 1;
                match tree.arms(arms).get(next as usize) {
                    Some(arm) if !self.is_silent(tree, arm.body, tail) => {
                        self.line("} else {");
                        self.indent += 1;
                        let close = Close::Arm { arms, next: next + 1, form: Form::If };
                        Ok(Some(Frame { list: arm.body, next: 0, tail, close }))
                    }
                    _ => {
                        self.line("}");
                        Ok(None)
                    }
                }
            }
            Close::Arm { arms, next, form: form @ Form::Many { chain, .. } } => {
                if !chain {
                    // What was left out at the end of a tail would go on into the next case.
                    let ends = !tree.falls_through(list) && !self.left_out(tree, list, tail);
                    if !ends {
                        self.line("break;");
                    }
                    self.indent -= 1;
                    self.line("}");
                } else {
                    self.indent -= 1;
                }
                self.next_arm(tree, arms, next, form, tail)
            }
        }
    }

    /// Whether nothing is written for a list: its edges copy nothing, and how it ends goes without saying.
    fn is_silent(&self, tree: &Tree, list: List, tail: Tail) -> bool {
        let Some((last, rest)) = tree.list(list).split_last() else { return true };
        let copies_nothing = |s: &Stmt| matches!(s, Stmt::Edge(e) if self.copies(*e).next().is_none());
        rest.iter().all(copies_nothing) && (copies_nothing(last) || self.left_out(tree, list, tail))
    }

    /// Whether the last statement of a list was not written because falling off means the same.
    fn left_out(&self, tree: &Tree, list: List, tail: Tail) -> bool {
        match (tree.list(list).last(), tail) {
            (Some(Stmt::Continue), Tail::Repeats) => true,
            (Some(Stmt::Unreachable), _) => true,
            (Some(&Stmt::Terminate(b)), _) => match self.func.blocks.get(b).map(|b| b.term.kind) {
                Some(TermKind::Return) => tail == Tail::Returns,
                kind => kind == Some(TermKind::Unreachable),
            },
            _ => false,
        }
    }

    /// Writes the head of arm `at` of a `switch` or if-chain.
    fn next_arm(
        &mut self,
        tree: &Tree,
        arms: Arms,
        at: u32,
        form: Form,
        tail: Tail,
    ) -> Result<Option<Frame>, Error> {
        let Form::Many { over, chain } = form else { return Err(Error::Malformed("an if is no switch")) };
        let all = tree.arms(arms);
        let Some(arm) = all.get(at as usize) else {
            self.line("}");
            if !chain {
                for _ in 0..inner_switches(all.len()) {
                    self.indent -= 1;
                    self.line("}");
                    self.line("}");
                }
            }
            return Ok(None);
        };
        let last = at as usize + 1 == all.len();
        let start = self.out.len();
        if !chain && !last && at > 0 && (at as usize).is_multiple_of(MOST_CASES) {
            self.line("default: {");
            self.indent += 1;
            self.pad();
            self.out.push_str("switch (");
            self.over(over)?;
            self.out.push_str(") {\n");
        }
        self.pad();
        if chain {
            self.out.push_str(match (at, last) {
                (0, true) => "{",
                (0, false) => "if (",
                (_, false) => "} else if (",
                (_, true) => "} else {",
            });
            if !last {
                self.over(over)?;
                self.out.push_str(" == ");
                self.label(over, arm.label)?;
                self.out.push_str(") {");
            }
            self.out.push('\n');
        } else {
            if last {
                self.out.push_str("default: {\n");
            } else {
                self.out.push_str("case ");
                self.label(over, arm.label)?;
                self.out.push_str(": {\n");
            }
        }
        self.comment(start);
        self.indent += 1;
        let close = Close::Arm { arms, next: at + 1, form };
        Ok(Some(Frame { list: arm.body, next: 0, tail, close }))
    }

    fn label(&mut self, over: Over, label: u32) -> Result<(), Error> {
        match over {
            Over::Selector(_) => {
                let _ = write!(self.out, "{label}");
            }
            Over::Block(b) => {
                let term = self.func.term(b);
                let kind = self.func.term_args(b).first().map_or(Kind::I32, |&v| self.func.ty(v).kind());
                let &case =
                    term.cases.get(label as usize).ok_or(Error::Malformed("a switch lacks a case"))?;
                // A label is a constant expression: always written without a sign.
                if kind == Kind::I32 {
                    let _ = write!(self.out, "{case}u");
                } else {
                    lane(self.out, kind, case)?;
                }
            }
        }
        Ok(())
    }

    fn signature(&mut self, is_entry: bool) -> Result<(), Error> {
        let f = self.func;
        let entry =
            f.entry().filter(|&b| block_exists(f, b)).ok_or(Error::Malformed("a function without blocks"))?;
        if is_entry {
            if !f.returns.is_empty() || !f.params(entry).is_empty() {
                return Err(Error::Malformed("an entry function with parameters or results"));
            }
            self.out.push_str("void main() {\n");
            return Ok(());
        }
        let single = match f.returns.as_slice() {
            &[ty] => Some(ty),
            _ => None,
        };
        let name = self.names.funcs.get(self.func_id).ok_or(Error::Malformed("a function without name"))?;
        let precise = crate::writer::precise(self.target());
        match single {
            Some(ty) if ty.kind().is_float() => self.out.push_str(precise),
            _ => {}
        }
        self.out.push_str(match single {
            Some(ty) => type_name(ty)?,
            None => "void",
        });
        let _ = write!(self.out, " {name}(");
        let mut first = true;
        for (i, &p) in f.params(entry).iter().enumerate() {
            self.out.push_str(if std::mem::take(&mut first) { "" } else { ", " });
            let ty = type_name(f.ty(p))?;
            let _ = match self.vars.of(p).and_then(|n| self.vars.get(n)) {
                Some(var) => write!(self.out, "{ty} {}", var.name),
                None => write!(self.out, "{ty} x_unused{i}"),
            };
        }
        if single.is_none() {
            for (i, &ty) in f.returns.iter().enumerate() {
                self.out.push_str(if std::mem::take(&mut first) { "" } else { ", " });
                let precise = if ty.kind().is_float() { precise } else { "" };
                let _ = write!(self.out, "{precise}out {} x_result{i}", type_name(ty)?);
            }
        }
        self.out.push_str(") {\n");
        Ok(())
    }

    /// Declares the variables, those of one type together.
    fn declarations(&mut self, scan: &Scan) -> Result<(), Error> {
        let f = self.func;
        let mut params: Vec<u32> = Vec::new();
        if let Some(entry) = f.entry() {
            params.extend(f.params(entry).iter().filter_map(|&p| self.vars.of(p)));
        }
        let vars = self.vars;
        let mut types: Vec<Type> = vars.all().iter().map(|v| v.ty).collect();
        types.sort_unstable_by_key(|t| (t.kind(), t.lanes()));
        types.dedup();
        for ty in types {
            let mut first = true;
            for (n, var) in (0u32..).zip(vars.all()) {
                if var.ty != ty || params.contains(&n) {
                    continue;
                }
                if std::mem::take(&mut first) {
                    self.pad();
                    if ty.kind().is_float() || ty.kind() == Kind::Bool {
                        self.out.push_str(crate::writer::precise(self.target()));
                    }
                    self.out.push_str(type_name(ty)?);
                    self.out.push(' ');
                } else {
                    self.out.push_str(", ");
                }
                self.out.push_str(&var.name);
            }
            if !first {
                self.out.push_str(";\n");
            }
        }
        for (slot, name) in f.slots.values().zip(self.slots) {
            self.pad();
            if slot.ty.kind().is_float() {
                self.out.push_str(crate::writer::precise(self.target()));
            }
            let _ = write!(self.out, "{} {name} = ", type_name(slot.ty)?);
            self.literal(slot.ty, &[0; 4], Sel::all(slot.ty), ANY)?;
            self.out.push_str(";\n");
        }
        for (used, s) in [(scan.exit, Selector::Exit), (scan.route, Selector::Route)] {
            if used {
                self.pad();
                let _ = writeln!(self.out, "int {};", selector_name(s));
            }
        }
        Ok(())
    }

    /// The indentation of a line: four blanks for each level, 16 levels at most. Without a limit, the text of n nested loops
    /// would have n² blanks.
    pub(crate) fn indentation(&self) -> &'static str {
        const BLANKS: &str = "                                                                ";
        &BLANKS[..BLANKS.len().min(4 * self.indent)]
    }

    pub(crate) fn pad(&mut self) {
        let blanks = self.indentation();
        self.out.push_str(blanks);
    }

    pub(crate) fn line(&mut self, text: &str) {
        self.pad();
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Puts the guest instructions noted since above the statement that begins at `start`.
    pub(crate) fn comment(&mut self, start: usize) {
        if self.guests.is_empty() {
            return;
        }
        self.guests.sort_unstable();
        self.guests.dedup();
        let mut text = String::new();
        for &address in self.guests.iter() {
            let _ = write!(text, "{}// {address:#06x}", self.indentation());
            if let Some(line) = self.module.listing_at(address) {
                text.push(' ');
                // A line break or a trailing backslash would continue the comment elsewhere.
                text.extend(line.chars().map(|c| if c.is_ascii_control() || c == '\\' { ' ' } else { c }));
            }
            text.push('\n');
            self.last_guest = address;
        }
        self.guests.clear();
        self.out.insert_str(start, &text);
    }

    fn block(&mut self, b: Block) -> Result<(), Error> {
        if !block_exists(self.func, b) {
            return Err(Error::Malformed("a block that does not exist"));
        }
        let f = self.func;
        for &inst in &f.blocks[b].insts {
            self.statement(inst)?;
        }
        Ok(())
    }

    fn terminate(&mut self, b: Block, tail: bool) -> Result<(), Error> {
        let f = self.func;
        if !block_exists(f, b) {
            return Err(Error::Malformed("a block that does not exist"));
        }
        let term = f.term(b);
        let start = self.out.len();
        let guest = Guest::new(term.guest);
        self.note_address(term.guest);
        match term.kind {
            TermKind::Return => match f.term_args(b) {
                [] if tail => self.guests.clear(),
                [] => self.line("return;"),
                &[v] => {
                    self.pad();
                    self.out.push_str("return ");
                    self.value(v, ANY)?;
                    self.out.push_str(";\n");
                }
                values => {
                    for (i, &v) in values.iter().enumerate() {
                        self.pad();
                        let _ = write!(self.out, "x_result{i} = ");
                        self.value(v, ANY)?;
                        self.out.push_str(";\n");
                    }
                    self.line("return;");
                }
            },
            TermKind::Kill if self.module.stage == Stage::Fragment => self.line("discard;"),
            TermKind::Unreachable => self.guests.clear(),
            kind => return Err(Error::UnsupportedTerminator { kind, guest }),
        }
        self.comment(start);
        Ok(())
    }
}
