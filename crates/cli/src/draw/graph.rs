//! The graph of a function's blocks. Where they go is layout-rs' work; what they look like is ours.

use super::label::{Label, label};
use super::svg::{CHAR, LINE, Paper};
use layout::core::base::Orientation;
use layout::core::format::{ClipHandle, RenderBackend};
use layout::core::geometry::Point;
use layout::core::style::{LineStyleKind, StyleAttr};
use layout::std_shapes::shapes::{Arrow, Element, LineEndKind, ShapeKind};
use layout::topo::layout::VisualGraph;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use thiserror::Error;
use xenoglot_ir::analysis::Cfg;
use xenoglot_ir::{Block, Function, Module, TermKind};

/// Most blocks and edges of a picture, where an edge counts once for each row it passes: that is what the placement
/// has to place, in more than quadratic time.
const MOST_PARTS: usize = 1500;

/// Why a graph was not drawn.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DrawError {
    /// Too many blocks or edges, or edges over too many rows.
    #[error("{blocks} blocks and {edges} edges are too large or too tangled a graph for a picture")]
    TooLarge {
        /// Blocks.
        blocks: usize,
        /// Edges.
        edges: usize,
    },
    /// The placement failed.
    #[error("the graph could not be placed")]
    Placement,
}

const PAD: f64 = 8.0;
const BAR: f64 = 20.0;
const TOP: f64 = 74.0;
const LEFT: f64 = 16.0;

/// What an edge looks like, packed into the text that layout-rs carries along for it.
struct Look {
    class: &'static str,
    tag: String,
}

impl Look {
    fn pack(&self, back: bool) -> String {
        format!("{}\n{}\n{}", self.class, u8::from(back), self.tag)
    }

    fn unpack(text: &str) -> (&str, bool, &str) {
        let mut parts = text.splitn(3, '\n');
        let mut next = || parts.next().unwrap_or("");
        (next(), next() == "1", next())
    }
}

/// Draws the blocks that the entry reaches.
pub fn draw(module: &Module, f: &Function, title: &str) -> Result<String, DrawError> {
    let mut cfg = Cfg::default();
    cfg.compute(f);
    let order = cfg.rpo();
    let number = order.iter().enumerate().map(|(n, &b)| (b, n)).collect();
    let edges: Vec<Vec<(usize, Look)>> = order.iter().map(|&b| merged(f, b, &number)).collect();
    if parts(&edges) > MOST_PARTS {
        return Err(DrawError::TooLarge { blocks: order.len(), edges: edges.iter().map(Vec::len).sum() });
    }
    let labels: Vec<Label> = order.iter().map(|&b| label(module, f, b)).collect();
    let mut canvas = Canvas { paper: Paper::default(), labels: &labels, edges: &edges };
    canvas.paper.text("title", LEFT, 28.0, title);
    legend(&mut canvas.paper);
    if !order.is_empty() {
        let mut graph = build(&labels, &edges);
        // Placement asserts what it believes about itself.
        let placed = catch_unwind(AssertUnwindSafe(|| graph.do_it(false, false, false, &mut canvas)));
        placed.map_err(|_| DrawError::Placement)?;
    }
    Ok(canvas.paper.finish())
}

/// Blocks, and edges by the rows they pass.
fn parts(edges: &[Vec<(usize, Look)>]) -> usize {
    let ends = |(from, out): (usize, &Vec<(usize, Look)>)| -> Vec<(usize, usize)> {
        out.iter().map(|&(to, _)| (from.min(to), from.max(to))).collect()
    };
    let mut down: Vec<(usize, usize)> = edges.iter().enumerate().flat_map(ends).collect();
    down.sort_unstable();
    let mut row = vec![0; edges.len()];
    for &(from, to) in down.iter().filter(|(from, to)| from != to) {
        row[to] = row[to].max(row[from] + 1);
    }
    edges.len() + down.iter().map(|&(from, to)| row[to] - row[from]).sum::<usize>()
}

fn build(labels: &[Label], edges: &[Vec<(usize, Look)>]) -> VisualGraph {
    let down = Orientation::TopToBottom;
    let mut graph = VisualGraph::new(down);
    // Its checks take exponential time.
    graph.dag.set_validate(false);
    let mut nodes = Vec::new();
    for (n, label) in labels.iter().enumerate() {
        let (shape, look) = (ShapeKind::Box(String::new()), StyleAttr::simple());
        let element = Element::create_with_properties(shape, look, down, block_size(label), n.to_string());
        nodes.push(graph.add_node(element));
    }
    // Every edge goes down in this order, sources in order: then the search for cycles, which takes exponential time
    // where there is something to search, finds nothing to search.
    let mut arrows: Vec<(usize, usize, bool, &Look)> = Vec::new();
    for (from, out) in edges.iter().enumerate() {
        for (to, look) in out.iter().filter(|(to, _)| *to != from) {
            arrows.push((from.min(*to), from.max(*to), *to < from, look));
        }
    }
    arrows.sort_by_key(|&(from, to, back, _)| (from, to, back));
    let mut last = None;
    for (from, to, back, look) in arrows {
        let (start, end) = match back {
            true => (LineEndKind::Arrow, LineEndKind::None),
            false => (LineEndKind::None, LineEndKind::Arrow),
        };
        let (Some(&from_node), Some(&to_node)) = (nodes.get(from), nodes.get(to)) else { continue };
        let add = |graph: &mut VisualGraph, look: &Look, (start, end), from, to| {
            let (solid, style) = (LineStyleKind::Normal, StyleAttr::simple());
            let arrow = Arrow::with_properties(start, end, solid, "", &style, look.pack(back), &None, &None);
            graph.add_edge(arrow, from, to);
        };
        if last != Some((from, to)) {
            add(&mut graph, look, (start, end), from_node, to_node);
        } else {
            // There and back: one of the two goes around by a node that is not drawn, or they would be one line.
            let (shape, style) = (ShapeKind::Box(String::new()), StyleAttr::simple());
            let way = graph.add_node(Element::create(shape, style, down, Point::new(2.0, 2.0)));
            let half = Look { class: look.class, tag: String::new() };
            add(&mut graph, &half, (start, LineEndKind::None), from_node, way);
            add(&mut graph, look, (LineEndKind::None, end), way, to_node);
        }
        last = Some((from, to));
    }
    graph
}

/// The edges of a block by target, those to the same target as one.
fn merged(f: &Function, block: Block, number: &BTreeMap<Block, usize>) -> Vec<(usize, Look)> {
    let term = f.term(block);
    let mut out: Vec<(usize, Look)> = Vec::new();
    for (i, edge) in term.edges.iter().enumerate() {
        let Some(&to) = number.get(&edge.block) else { continue };
        let (class, tag) = match term.kind {
            TermKind::Branch if i == 0 => ("yes", "true".to_owned()),
            TermKind::Branch => ("no", "false".to_owned()),
            TermKind::Switch => ("case", term.cases.get(i).map_or("else".to_owned(), |c| format!("{c:#x}"))),
            _ => ("jump", String::new()),
        };
        match out.iter_mut().find(|(target, _)| *target == to) {
            Some((_, look)) if term.kind == TermKind::Branch => {
                *look = Look { class: "jump", tag: String::new() };
            }
            Some((_, look)) => {
                look.tag.push(' ');
                look.tag.push_str(&tag);
            }
            None => out.push((to, Look { class, tag })),
        }
    }
    out
}

fn block_size(label: &Label) -> Point {
    let height = BAR + PAD + LINE * label.lines.len().max(1) as f64;
    Point::new((label.columns() as f64 * CHAR + 2.0 * PAD).max(72.0), height)
}

/// Draws a block with its upper left corner at (x, y).
fn block(paper: &mut Paper, label: &Label, entry: bool, x: f64, y: f64) {
    let size = block_size(label);
    let bar = if entry { "entrybar" } else { "bar" };
    paper.rect(if entry { "block entry" } else { "block" }, x, y, size.x, size.y, 6.0);
    paper.tab(bar, x + 1.0, y + 1.0, size.x - 2.0, BAR - 1.0, 5.0);
    paper.text("head", x + PAD, y + 14.5, &label.title);
    lines(paper, label, x + PAD, y + BAR + 14.0);
}

/// Writes the lines of a block, the first with its baseline at `y`.
pub(super) fn lines(paper: &mut Paper, label: &Label, x: f64, y: f64) {
    for (n, (address, text)) in label.lines.iter().enumerate() {
        let y = y + n as f64 * LINE;
        let mut x = x;
        if !address.is_empty() {
            paper.text("addr", x, y, address);
            x += (address.chars().count() + 1) as f64 * CHAR;
        }
        paper.text("", x, y, text);
    }
}

fn legend(paper: &mut Paper) {
    let mut x = LEFT;
    for (class, text) in [
        ("edge yes", "if true"),
        ("edge no", "if false"),
        ("edge case", "case"),
        ("edge jump", "always"),
        ("edge jump back", "back"),
    ] {
        paper.path(class, &format!("M{x:.0} 50h28"));
        paper.text("key", x + 34.0, 54.0, text);
        x += 34.0 + text.len() as f64 * CHAR + 22.0;
    }
}

/// Draws what layout-rs has placed.
struct Canvas<'a> {
    paper: Paper,
    labels: &'a [Label],
    edges: &'a [Vec<(usize, Look)>],
}

fn place(p: Point) -> (f64, f64) {
    (p.x + LEFT, p.y + TOP)
}

impl RenderBackend for Canvas<'_> {
    fn draw_rect(
        &mut self,
        xy: Point,
        _: Point,
        _: &StyleAttr,
        properties: Option<String>,
        _: Option<ClipHandle>,
    ) {
        let number = properties.and_then(|p| p.parse::<usize>().ok());
        if let Some((n, label)) = number.and_then(|n| Some((n, self.labels.get(n)?))) {
            let (x, y) = place(xy);
            block(&mut self.paper, label, n == 0, x, y);
            let own = self.edges.get(n).and_then(|out| out.iter().find(|(to, _)| *to == n));
            if let Some((_, look)) = own {
                self.own_loop(look, x, y, block_size(label));
            }
        }
    }

    fn draw_arrow(
        &mut self,
        path: &[(Point, Point)],
        _: bool,
        head: (bool, bool),
        _: &StyleAttr,
        properties: Option<String>,
        _: &str,
    ) {
        let packed = properties.unwrap_or_default();
        let (class, back, tag) = Look::unpack(&packed);
        let Some((&first, rest)) = path.split_first() else { return };
        let Some(&last) = rest.last() else { return };
        // The first pair is start and control point, the others control point and end.
        let (start, control) = (place(first.0), place(first.1));
        let mut d = format!("M{:.1} {:.1}C{:.1} {:.1}", start.0, start.1, control.0, control.1);
        for (n, &(control, end)) in rest.iter().enumerate() {
            let (c, e) = (place(control), place(end));
            let smooth = if n == 0 { " " } else { "S" };
            d.push_str(&format!("{smooth}{:.1} {:.1} {:.1} {:.1}", c.0, c.1, e.0, e.1));
            self.paper.touch(e.0, e.1);
        }
        let dashed = if back { " back" } else { "" };
        self.paper.path(&format!("edge {class}{dashed}"), &d);
        let end = (place(last.1), place(last.0));
        let begin = (start, control);
        if head.0 {
            self.tip(class, begin);
        }
        if head.1 {
            self.tip(class, end);
        }
        if !tag.is_empty() {
            // At the guest's source of the edge, which is the lower end if it leads up.
            let ((x, y), (cx, cy)) = if back { end } else { begin };
            let (dx, dy) = unit(cx - x, cy - y);
            self.paper.tag(class, x + dx * 16.0 + 5.0, y + dy * 16.0 + 2.0, tag);
        }
    }

    fn draw_line(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}

    fn draw_circle(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}

    fn draw_text(&mut self, _: Point, _: &str, _: &StyleAttr) {}

    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        0
    }
}

fn unit(x: f64, y: f64) -> (f64, f64) {
    let length = x.hypot(y);
    if length > 0.0 { (x / length, y / length) } else { (0.0, 1.0) }
}

impl Canvas<'_> {
    /// An edge from a block to itself, at its right side.
    fn own_loop(&mut self, look: &Look, x: f64, y: f64, size: Point) {
        let (right, low, high) = (x + size.x, y + size.y - 9.0, y + 12.0);
        let out = right + 30.0;
        let d = format!("M{right:.1} {low:.1}C{out:.1} {low:.1} {out:.1} {high:.1} {right:.1} {high:.1}");
        self.paper.touch(out, low);
        self.paper.path(&format!("edge {} back", look.class), &d);
        self.tip(look.class, ((right, high), (out, high)));
        self.paper.tag(look.class, right + 26.0, (low + high) / 2.0 + 4.0, &look.tag);
    }

    /// The tip of an arrow that ends at the first point and comes from the second.
    fn tip(&mut self, class: &str, ((x, y), (fx, fy)): ((f64, f64), (f64, f64))) {
        let (dx, dy) = unit(fx - x, fy - y);
        let (bx, by) = (x + dx * 9.0, y + dy * 9.0);
        let (nx, ny) = (-dy * 4.0, dx * 4.0);
        let d = format!("M{x:.1} {y:.1}L{:.1} {:.1}L{:.1} {:.1}z", bx + nx, by + ny, bx - nx, by - ny);
        self.paper.path(&format!("tip {class}"), &d);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xenoglot_ir::{Builder, Stage};
    use xenoglot_testgen::cfg::{self, Succs};
    use xenoglot_testgen::rng::Rng;

    fn module(succs: &Succs) -> Module {
        let mut f = Function::new("f");
        let blocks: Vec<Block> = succs.iter().map(|_| f.add_block()).collect();
        for (&block, out) in blocks.iter().zip(succs) {
            let mut b = Builder::new(&mut f, block);
            let targets: Vec<Block> = out.iter().map(|&s| blocks[s as usize]).collect();
            match targets.as_slice() {
                [] => b.ret(&[]),
                &[to] => b.jump(to, &[]),
                [cases @ .., last] => {
                    let v = b.i32(0);
                    let cases: Vec<_> = cases.iter().zip(0..).map(|(&to, n)| (n, to, &[][..])).collect();
                    b.switch(v, &cases, (*last, &[]));
                }
            }
        }
        let mut module = Module::new(Stage::Compute, "m");
        module.entry = Some(module.funcs.push(f)).into();
        module
    }

    fn draw_cfg(succs: &Succs) -> Result<String, DrawError> {
        let module = module(succs);
        draw(&module, module.entry_func().unwrap(), "test")
    }

    /// Every reachable block is drawn once, with edges, whatever the graph.
    fn check(succs: &Succs) {
        let succs = cfg::keep_reachable(succs.clone());
        let svg = draw_cfg(&succs).unwrap();
        assert_eq!(svg.matches("class=\"head\"").count(), succs.len(), "{succs:?}");
        let mut targets = 0;
        for out in &succs {
            let mut out = out.clone();
            out.sort_unstable();
            out.dedup();
            targets += out.len();
        }
        let both_ways = (0..succs.len())
            .flat_map(|a| (0..a).map(move |b| (a, b)))
            .filter(|&(a, b)| succs[a].contains(&(b as u32)) && succs[b].contains(&(a as u32)))
            .count();
        // Five are the legend's; one of two opposite edges has two parts.
        assert_eq!(svg.matches("class=\"edge ").count(), targets + both_ways + 5, "{succs:?}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{succs:?}");
    }

    #[test]
    fn any_graph_is_drawn() {
        let mut rng = Rng::new(7);
        for _ in 0..300 {
            check(&cfg::random(&mut rng, 24));
        }
    }

    #[test]
    fn shapes_with_many_paths_are_drawn_too() {
        for succs in [
            cfg::chain(100),
            cfg::clique(12),
            cfg::nested_loops(30),
            cfg::ifs_in_a_row(60),
            cfg::irreducible_row(20),
            cfg::guard_chain(20),
            cfg::exits_and_endless_loops(20),
        ] {
            check(&succs);
        }
    }

    #[test]
    fn huge_graphs_are_refused() {
        let error = draw_cfg(&cfg::chain(MOST_PARTS as u32)).unwrap_err();
        assert_eq!(error, DrawError::TooLarge { blocks: MOST_PARTS, edges: MOST_PARTS - 1 });
        assert!(matches!(draw_cfg(&cfg::clique(60)), Err(DrawError::TooLarge { .. })));
    }
}
