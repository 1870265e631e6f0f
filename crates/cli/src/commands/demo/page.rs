//! The index: one HTML file without anything from elsewhere.

use super::{Card, Made};
use std::fmt::Write;

const HEAD: &str = r##"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Xenoglot: every guest</title>
<style>
:root{--ground:#f4f6f9;--card:#fff;--text:#1b2330;--soft:#5f6b7d;--line:#dde3eb;--accent:#2757c9;--code:#f7f9fc;--tag:#e6edfb}
@media (prefers-color-scheme:dark){:root{--ground:#12161d;--card:#1a2029;--text:#e4e9f1;--soft:#97a3b6;--line:#2c3542;--accent:#8bb0ff;--code:#141a22;--tag:#22304a}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:15px/1.5 system-ui,sans-serif}
main{max-width:1180px;margin:0 auto;padding:40px 24px 80px}
h1{font-size:30px;margin:0 0 6px;letter-spacing:-.02em}
.lead{color:var(--soft);max-width:72ch;margin:0 0 28px}
nav{display:flex;flex-wrap:wrap;gap:6px;margin-bottom:28px}
nav a,.files a{text-decoration:none;color:var(--accent);background:var(--tag);border-radius:99px;padding:2px 12px;font-size:13px}
article{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:22px 24px;margin-bottom:24px}
h2{margin:0;font-size:20px}
h2 small{font-weight:400;font-size:13px;color:var(--soft);margin-left:10px}
.about{margin:4px 0 14px;color:var(--soft)}
dl{display:flex;flex-wrap:wrap;gap:10px 28px;margin:0 0 16px}
dt{font-size:12px;color:var(--soft)}dd{margin:0;font-size:17px;font-variant-numeric:tabular-nums}
.pictures{display:grid;grid-template-columns:1fr 1fr;gap:14px;margin-bottom:14px}
.pictures a{display:block;height:340px;overflow:hidden;border:1px solid var(--line);border-radius:10px;background:#f7f8fa;position:relative;color:#5f6b7d}
.pictures img{display:block;max-width:100%;margin:30px auto 0}
.pictures span{position:absolute;inset:0 0 auto 0;padding:4px 12px;font-size:12px;background:#eef1f5;border-bottom:1px solid #dde3eb}
pre.commands{margin-bottom:14px}
.files{display:flex;flex-wrap:wrap;gap:6px}
details{margin-top:14px}summary{cursor:pointer;color:var(--accent)}
.code{display:grid;grid-template-columns:1fr 1fr;gap:14px;margin-top:10px}
figure{margin:0;min-width:0}figcaption{font-size:12px;color:var(--soft);margin-bottom:4px}
pre{margin:0;max-height:560px;overflow:auto;background:var(--code);border:1px solid var(--line);border-radius:10px;padding:12px;font:12px/1.45 ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;tab-size:4}
@media (max-width:820px){.pictures,.code{grid-template-columns:1fr}}
</style></head><body><main>
<h1>Xenoglot</h1>
<p class="lead">Every guest in a few files: what the commands below it make of it. After them the bundled PICA200 shaders,
from source through the assembler, the lifter, all passes and the structurer into every target language; their time is the
best of eight from binary to SPIR-V on the machine that made this page. Pictures open in full size.</p>
"##;

/// The page.
pub fn page(cards: &[Card]) -> String {
    let mut out = String::from(HEAD);
    out.push_str("<nav>");
    for Card { name, .. } in cards {
        // Writing to a string cannot fail.
        let _ = write!(out, "<a href=\"#{name}\">{name}</a>");
    }
    out.push_str("</nav>\n");
    for shown in cards {
        card(&mut out, shown);
    }
    out.push_str("</main></body></html>\n");
    out
}

fn is_picture(file: &Made) -> bool {
    [".svg", ".png"].iter().any(|ending| file.name.ends_with(ending))
}

fn card(out: &mut String, card: &Card) {
    let name = &card.name;
    let _ = write!(
        out,
        "<article id=\"{name}\"><h2>{name}<small>{}</small></h2><p class=\"about\">{}</p><dl>",
        card.kind,
        escape(&card.about)
    );
    for (term, value) in &card.facts {
        let _ = write!(out, "<div><dt>{term}</dt><dd>{value}</dd></div>");
    }
    out.push_str("</dl>");
    if !card.commands.is_empty() {
        let _ = write!(out, "<pre class=\"commands\">{}</pre>", escape(&card.commands.join("\n")));
    }
    out.push_str("<div class=\"pictures\">");
    for Made { name: file, title, .. } in card.files.iter().filter(|f| is_picture(f)) {
        let title = escape(title);
        let _ = write!(
            out,
            "<a href=\"{name}/{file}\"><span>{title}</span><img loading=\"lazy\" src=\"{name}/{file}\" \
             alt=\"{title} of {name}\"></a>"
        );
    }
    out.push_str("</div><div class=\"files\">");
    for file in card.files.iter().filter(|f| !is_picture(f)) {
        let _ = write!(out, "<a href=\"{name}/{}\">{}</a>", file.name, escape(&file.title));
    }
    out.push_str("</div>");
    if let Some(pair) = card.pair {
        let found = pair.iter().filter_map(|start| card.files.iter().find(|f| f.name.starts_with(start)));
        out.push_str("<details><summary>Side by side</summary><div class=\"code\">");
        for file in found {
            let text = String::from_utf8_lossy(&file.bytes);
            let title = escape(&file.title);
            let _ =
                write!(out, "<figure><figcaption>{title}</figcaption><pre>{}</pre></figure>", escape(&text));
        }
        out.push_str("</div></details>");
    }
    out.push_str("</article>\n");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
