//! `xenoglot cfg`: pictures of control flow.

use crate::batch::{Artifact, BatchArgs, Content};
use crate::draw;
use crate::lift::LiftArgs;
use crate::program::{Select, Unit, each_unit};
use anyhow::{Context, Result};
use clap::ValueEnum;
use serde_json::{Map, Value};
use std::fmt::Write;
use std::path::Path;
use xenoglot::Translator;
use xenoglot_structure::{Options, structure, tree::Stats};

/// Which picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// The graph of basic blocks, as the guest jumps.
    Guest,
    /// Structured control flow.
    Structured,
    /// Both, as two files.
    #[default]
    Both,
}

/// Arguments of `cfg`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    lift: LiftArgs,
    /// Which picture.
    #[arg(long, value_enum, default_value_t)]
    what: What,
    /// Draw the program after all passes, as back ends see it, instead of as lifted.
    #[arg(long)]
    optimized: bool,
    /// Most constructs around a statement of the structured form.
    #[arg(long, value_name = "N", default_value_t = Options::DEPTH_LIMIT)]
    depth_limit: u32,
    /// Print what structuring did instead of pictures.
    #[arg(long)]
    stats: bool,
}

/// Draws.
pub fn run(args: &Args) -> Result<bool> {
    each_unit(&args.batch, &args.select, &args.lift, true, |translator, source, unit| {
        match one(args, translator, &source.name, unit) {
            Ok(artifacts) => artifacts.into_iter().map(Ok).collect(),
            Err(e) => vec![Err(e)],
        }
    })
}

fn one(args: &Args, translator: &mut Translator, input: &str, unit: Unit) -> Result<Vec<Artifact>> {
    let Unit { mut module, suffix, .. } = unit;
    if args.optimized {
        translator.optimize(&mut module, None);
    }
    let f = module.entry_func().or(module.funcs.values().next()).context("the module has no function")?;
    let options = Options { depth_limit: args.depth_limit.min(Options::DEPTH_LIMIT), ..Options::default() };
    let tree = structure(f, &options)?;
    if args.stats {
        let facts = stats(tree.stats());
        let text = facts.iter().fold(String::new(), |mut text, (name, value)| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:16} {value}");
            text
        });
        let content = if args.batch.json { Content::None } else { Content::Text(text) };
        return Ok(vec![Artifact { suffix: format!("{suffix}.stats.txt"), content, facts }]);
    }
    let file = Path::new(input).file_name().map_or(input.into(), |name| name.to_string_lossy());
    let title = |what| format!("{file} · {} · {what}", module.name);
    let mut out = Vec::new();
    if args.what != What::Structured {
        let svg = draw::graph(&module, f, &title("control flow"))?;
        out.push(Artifact::text(format!("{suffix}.guest.svg"), svg).fact("picture", "guest"));
    }
    if args.what != What::Guest {
        let svg = draw::nest(&module, f, &tree, &title("structured"));
        out.push(Artifact::text(format!("{suffix}.structured.svg"), svg).fact("picture", "structured"));
    }
    Ok(out)
}

/// What structuring did, by name.
pub fn stats(s: &Stats) -> Map<String, Value> {
    let rows = [
        ("blocks", u64::from(s.blocks)),
        ("loops", s.loops.into()),
        ("selections", s.selections.into()),
        ("guards", s.guards.into()),
        ("dispatches", s.dispatches.into()),
        ("routes", s.routes.into()),
        ("reparented", s.reparented.into()),
        ("selector sets", s.sets.into()),
        ("depth", s.max_depth.into()),
        ("steps", s.steps),
    ];
    rows.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}
