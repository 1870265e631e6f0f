//! SVG text: metrics, escaping, and the few shapes the pictures are made of.

use std::fmt::Write;

/// Width of a character of code.
pub const CHAR: f64 = 7.3;
/// Height of a line of code.
pub const LINE: f64 = 16.0;

/// Styles of everything in the pictures, by class. Blocks are white on a light ground; each kind of edge and each kind
/// of construct has one colour.
const STYLE: &str = "\
svg{background:#f7f8fa}\
text{font:12px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#1f2937;white-space:pre}\
.title{font:600 15px system-ui,'DejaVu Sans',sans-serif}\
.note,.key{font:12px system-ui,'DejaVu Sans',sans-serif;fill:#6b7280}\
.head{font-weight:600}.dim{fill:#9ca3af}.addr{fill:#9aa3b2}\
.block{fill:#fff;stroke:#94a3b8}.entry{stroke:#0f172a;stroke-width:2}.bar{fill:#e8edf3}.entrybar{fill:#dbe4ee}\
.edge{fill:none;stroke-width:1.6}\
.jump{stroke:#64748b}.yes{stroke:#15803d}.no{stroke:#b91c1c}.case{stroke:#7c3aed}.back{stroke-dasharray:7 4;stroke-width:2}\
.tip{stroke:none}.tip.jump{fill:#64748b}.tip.yes{fill:#15803d}.tip.no{fill:#b91c1c}.tip.case{fill:#7c3aed}\
.tag{paint-order:stroke;stroke:#f7f8fa;stroke-width:4px;stroke-linejoin:round}\
.tag.yes{fill:#15803d}.tag.no{fill:#b91c1c}.tag.case{fill:#7c3aed}\
.loop{fill:#eaf2ff;stroke:#2563eb}.branch{fill:#eefaf1;stroke:#15803d}.switch{fill:#f4efff;stroke:#7c3aed}\
.guard{fill:#fff6e5;stroke:#d97706}.arm{fill:#fff;fill-opacity:.55;stroke:#cbd5e1;stroke-dasharray:3 3}\
.pill{fill:#fff;stroke:#94a3b8}.pill.set{fill:#fff3d6;stroke:#d97706}.pill.break{fill:#fde8e8;stroke:#b91c1c}\
.pill.continue{fill:#dfeaff;stroke:#2563eb}.pill.end{fill:#e5e7eb;stroke:#4b5563}";

/// Characters of `text`.
pub fn columns(text: &str) -> f64 {
    text.chars().count() as f64
}

/// A picture being made.
#[derive(Default)]
pub struct Paper {
    body: String,
    /// Texts that stand on lines, drawn last.
    tags: Vec<(String, f64, f64, String)>,
    width: f64,
    height: f64,
}

// Writing to a string cannot fail.
macro_rules! put {
    ($paper:expr, $($text:tt)*) => {
        let _ = writeln!($paper.body, $($text)*);
    };
}

impl Paper {
    /// Makes room for a point.
    fn reach(&mut self, x: f64, y: f64) {
        self.width = self.width.max(x);
        self.height = self.height.max(y);
    }

    /// A box with rounded corners.
    pub fn rect(&mut self, class: &str, x: f64, y: f64, w: f64, h: f64, radius: f64) {
        self.reach(x + w, y + h);
        put!(
            self,
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}" rx="{radius}"/>"#
        );
    }

    /// A box whose upper corners alone are rounded.
    pub fn tab(&mut self, class: &str, x: f64, y: f64, w: f64, h: f64, radius: f64) {
        let (r, inner, down) = (radius, w - 2.0 * radius, h - radius);
        put!(
            self,
            r#"<path class="{class}" d="M{x:.1} {:.1}v-{down:.1}a{r} {r} 0 0 1 {r} -{r}h{inner:.1}a{r} {r} 0 0 1 {r} {r}v{down:.1}z"/>"#,
            y + h
        );
    }

    /// A line of text with its baseline at `y`.
    pub fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        self.reach(x + columns(text) * CHAR, y);
        put!(self, r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{}</text>"#, Escaped(text));
    }

    /// A line of text above everything else.
    pub fn tag(&mut self, class: &str, x: f64, y: f64, text: &str) {
        self.tags.push((format!("tag {class}"), x, y, text.to_owned()));
    }

    /// A path.
    pub fn path(&mut self, class: &str, d: &str) {
        put!(self, r#"<path class="{class}" d="{d}"/>"#);
    }

    /// Makes room around a point of a path.
    pub fn touch(&mut self, x: f64, y: f64) {
        self.reach(x + 12.0, y + 12.0);
    }

    /// The whole file.
    pub fn finish(mut self) -> String {
        for (class, x, y, text) in std::mem::take(&mut self.tags) {
            self.text(&class, x, y, &text);
        }
        let (w, h) = (self.width + 20.0, self.height + 20.0);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\">\n\
             <style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#f7f8fa\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// Text as XML character data: markup escaped, control characters replaced.
struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for c in self.0.chars() {
            match c {
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '"' => f.write_str("&quot;")?,
                '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}')?,
                c if c.is_control() => f.write_char('\u{fffd}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_text() {
        let mut paper = Paper::default();
        paper.text("note", 0.0, 10.0, "</text><script>\0\u{1b}&\"");
        let svg = paper.finish();
        assert!(svg.contains("&lt;/text&gt;&lt;script&gt;\u{fffd}\u{fffd}&amp;&quot;</text>"), "{svg}");
    }
}
