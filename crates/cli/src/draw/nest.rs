//! The structured form: constructs as boxes in boxes, from top to bottom.

use super::graph::lines;
use super::label::{Label, label};
use super::svg::{CHAR, LINE, Paper, columns};
use xenoglot_ir::{Block, Function, Module, TermKind};
use xenoglot_structure::Tree;
use xenoglot_structure::tree::{List, Selector, Stmt};

const PAD: f64 = 8.0;
const GAP: f64 = 6.0;
const HEAD: f64 = 20.0;
const LEFT: f64 = 16.0;
const TOP: f64 = 74.0;
/// Arms stand side by side up to this width, above each other beyond.
const WIDE: f64 = 1300.0;

/// A box with what is inside, measured.
struct Boxed {
    class: &'static str,
    title: String,
    inside: Inside,
    width: f64,
    height: f64,
}

enum Inside {
    /// Lines of code.
    Code(Label),
    /// One after the other.
    Down(Vec<Boxed>),
    /// Side by side.
    Across(Vec<Boxed>),
    /// The title alone, on a pill.
    Pill,
}

/// Draws a function's structured form.
pub fn draw(module: &Module, f: &Function, tree: &Tree, title: &str) -> String {
    let maker = Maker { module, f, tree };
    let mut paper = Paper::default();
    let stats = tree.stats();
    paper.text("title", LEFT, 28.0, title);
    let note = format!(
        "{} blocks · {} loops · {} selections · {} guards · {} dispatches · {} moved · depth {}",
        stats.blocks,
        stats.loops,
        stats.selections,
        stats.guards,
        stats.dispatches,
        stats.reparented,
        stats.max_depth
    );
    paper.text("note", LEFT, 52.0, &note);
    let mut y = TOP;
    for boxed in maker.list(tree.root()) {
        put(&mut paper, &boxed, LEFT, y);
        y += boxed.height + GAP;
    }
    paper.finish()
}

struct Maker<'a> {
    module: &'a Module,
    f: &'a Function,
    tree: &'a Tree,
}

impl Maker<'_> {
    /// The boxes of a list. The recursion is as deep as constructs nest, which structuring bounds by its depth limit.
    fn list(&self, list: List) -> Vec<Boxed> {
        self.tree.list(list).iter().filter_map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&self, stmt: &Stmt) -> Option<Boxed> {
        Some(match *stmt {
            Stmt::Block(block) => code(label(self.module, self.f, block)),
            Stmt::Edge(edge) => {
                let to = self.f.edges(edge.from).get(edge.index as usize)?;
                // Only an edge that hands over values does anything.
                if self.f.edge_args(to).is_empty() {
                    return None;
                }
                pill("pill", format!("values for {}", to.block))
            }
            Stmt::Set { var, value } => pill("pill set", format!("{var} = {}", self.target(value))),
            Stmt::Branch { block, arms } => {
                let term = self.f.term(block);
                let what = if term.kind == TermKind::Switch { "switch" } else { "if" };
                let title = format!("{what} at the end of {block}");
                let arms = self.tree.arms(arms).iter().map(|arm| {
                    let name = match (term.kind, term.cases.get(arm.label as usize)) {
                        (TermKind::Switch, Some(case)) => format!("{case:#x}"),
                        (TermKind::Switch, None) => "else".into(),
                        _ if arm.label == 0 => "true".into(),
                        _ => "false".into(),
                    };
                    construct("arm", name, self.list(arm.body))
                });
                across("branch", title, arms.collect())
            }
            Stmt::Switch { var, arms } => {
                let arms = self.tree.arms(arms).iter();
                let arms = arms.map(|arm| construct("arm", self.target(arm.label), self.list(arm.body)));
                across("switch", format!("dispatch on {var}"), arms.collect())
            }
            Stmt::Guard { value, body } => {
                let title = format!("if {} is {}", Selector::Exit, self.target(value));
                construct("guard", title, self.list(body))
            }
            Stmt::Loop { header, body } => {
                let title = header.map_or("loop with several entries".into(), |b| format!("loop {b}"));
                construct("loop", title, self.list(body))
            }
            Stmt::Break => pill("pill break", "break".into()),
            Stmt::Continue => pill("pill continue", "continue".into()),
            Stmt::Terminate(block) => pill("pill end", self.f.term(block).kind.name().into()),
            Stmt::Unreachable => pill("pill end", "never reached".into()),
        })
    }

    /// What a selector's value stands for.
    fn target(&self, value: u32) -> String {
        if (value as usize) < self.tree.block_count() {
            Block::from_u32(value).to_string()
        } else {
            format!("dispatch {}", value as usize - self.tree.block_count())
        }
    }
}

fn code(label: Label) -> Boxed {
    let width = (label.columns() as f64 * CHAR + 2.0 * PAD).max(72.0);
    let height = HEAD + PAD + LINE * label.lines.len() as f64;
    Boxed { class: "block", title: label.title.clone(), inside: Inside::Code(label), width, height }
}

fn pill(class: &'static str, title: String) -> Boxed {
    Boxed { class, width: columns(&title) * CHAR + 20.0, height: 20.0, title, inside: Inside::Pill }
}

fn construct(class: &'static str, title: String, inside: Vec<Boxed>) -> Boxed {
    let widest = inside.iter().map(|b| b.width).fold(0.0, f64::max);
    let height: f64 = inside.iter().map(|b| b.height + GAP).sum();
    let width = widest.max(columns(&title) * CHAR) + 2.0 * PAD;
    Boxed { class, title, inside: Inside::Down(inside), width, height: HEAD + height + PAD - GAP + 4.0 }
}

fn across(class: &'static str, title: String, arms: Vec<Boxed>) -> Boxed {
    let total: f64 = arms.iter().map(|b| b.width + GAP).sum::<f64>() - GAP;
    if total > WIDE {
        return construct(class, title, arms);
    }
    let tallest = arms.iter().map(|b| b.height).fold(0.0, f64::max);
    let width = total.max(columns(&title) * CHAR) + 2.0 * PAD;
    Boxed { class, title, inside: Inside::Across(arms), width, height: HEAD + tallest + PAD + 4.0 }
}

/// Draws a box with its upper left corner at (x, y).
fn put(paper: &mut Paper, b: &Boxed, x: f64, y: f64) {
    let radius = if matches!(b.inside, Inside::Pill) { 10.0 } else { 6.0 };
    paper.rect(b.class, x, y, b.width, b.height, radius);
    match &b.inside {
        Inside::Pill => paper.text("", x + 10.0, y + 14.0, &b.title),
        Inside::Code(label) => {
            paper.tab("bar", x + 1.0, y + 1.0, b.width - 2.0, HEAD - 1.0, 5.0);
            paper.text("head", x + PAD, y + 14.5, &b.title);
            lines(paper, label, x + PAD, y + HEAD + 14.0);
        }
        Inside::Down(inside) => {
            paper.text("head", x + PAD, y + 14.5, &b.title);
            let mut y = y + HEAD + 2.0;
            for b in inside {
                put(paper, b, x + PAD, y);
                y += b.height + GAP;
            }
        }
        Inside::Across(inside) => {
            paper.text("head", x + PAD, y + 14.5, &b.title);
            let mut x = x + PAD;
            for b in inside {
                put(paper, b, x, y + HEAD + 2.0);
                x += b.width + GAP;
            }
        }
    }
}
