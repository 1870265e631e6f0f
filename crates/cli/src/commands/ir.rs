//! `xenoglot ir`: the intermediate representation as text.

use crate::batch::{Artifact, BatchArgs};
use crate::failure::usage;
use crate::lift::LiftArgs;
use crate::program::{Select, Unit, each_unit};
use anyhow::{Context, Result, bail};
use std::fmt::Write;
use std::time::Duration;
use xenoglot::Translator;
use xenoglot_ir::text::{GuestStyle, Numbers, Style};
use xenoglot_ir::{Function, Module, verify};
use xenoglot_opt::pipeline::{Observer, PASSES, Ran, pass};

/// Arguments of `ir`.
#[derive(clap::Args)]
#[command(after_long_help = pass_list())]
pub struct Args {
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    lift: LiftArgs,
    /// Run the passes and print the end result. Without it the module is printed as lifted, which `translate` takes in
    /// place of the program.
    #[arg(long)]
    optimize: bool,
    /// Print after this pass, every time it runs; `lift` prints before the first, `all` after each that changed
    /// something.
    #[arg(long, value_name = "PASS|lift|all")]
    print_after: Option<String>,
    /// Print how long each pass took instead of the text.
    #[arg(long, conflicts_with = "print_after")]
    time: bool,
    /// End with scalar ops only; implies --optimize.
    #[arg(long)]
    scalarize: bool,
    /// Check the module after each pass; implies --optimize.
    #[arg(long)]
    verify: bool,
    /// Show guest addresses and instructions as comments at the right. Such text parses back without them.
    #[arg(long)]
    comments: bool,
}

fn pass_list() -> String {
    PASSES.iter().fold("Passes:\n".into(), |mut text, pass| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:16} {}", pass.name, pass.doc);
        text
    })
}

/// Prints modules.
pub fn run(args: &Args) -> Result<bool> {
    if let Some(name) = args.print_after.as_deref()
        && !matches!(name, "all" | "lift")
        && pass(name).is_none()
    {
        let names: Vec<&str> = PASSES.iter().map(|p| p.name).collect();
        return Err(usage(format!("no pass is called {name:?}; there are: lift, all, {}", names.join(", "))));
    }
    each_unit(&args.batch, &args.select, &args.lift, args.comments, |translator, _, unit| {
        vec![one(args, translator, unit)]
    })
}

fn one(args: &Args, translator: &mut Translator, unit: Unit) -> Result<Artifact> {
    let mut module = unit.module;
    let guest = if args.comments { GuestStyle::Comment } else { GuestStyle::Prefix };
    let style = Style { guest, numbers: Numbers::Ids };
    let passes = args.optimize || args.print_after.is_some() || args.time || args.scalarize || args.verify;
    if !passes || args.print_after.as_deref() == Some("lift") {
        return Ok(artifact(&unit.suffix, module.display(style).to_string(), &module));
    }
    let mut watch = Watch { args, style, text: String::new(), times: Vec::new() };
    let options = xenoglot_opt::Options { scalarize: args.scalarize, ..Default::default() };
    if args.print_after.as_deref() == Some("all") {
        let _ = write!(watch.text, "; lift\n{}", module.display(style));
    }
    translator.optimize_before(&mut module, &options, &mut watch)?;
    let Watch { text, times, .. } = watch;
    let text = match (&args.print_after, args.time) {
        (_, true) => table(&times),
        (Some(name), _) if text.is_empty() => bail!("the pass {name} does not run"),
        (Some(_), _) => text,
        (None, _) => module.display(style).to_string(),
    };
    let times: Vec<_> = times.iter().map(Timed::json).collect();
    Ok(artifact(&unit.suffix, text, &module).fact("passes", times))
}

fn artifact(suffix: &str, text: String, module: &Module) -> Artifact {
    let instructions: usize = module.funcs.values().map(Function::inst_count).sum();
    Artifact::text(format!("{suffix}.xir"), text)
        .fact("module", module.name.clone())
        .fact("instructions", instructions)
}

/// A pass that ran.
struct Timed {
    pass: &'static str,
    took: Duration,
    changed: bool,
    instructions: usize,
    blocks: usize,
}

impl Timed {
    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "pass": self.pass,
            "nanoseconds": self.took.as_nanos() as u64,
            "changed": self.changed,
            "instructions": self.instructions,
            "blocks": self.blocks,
        })
    }
}

/// Prints, measures and checks after each pass.
struct Watch<'a> {
    args: &'a Args,
    style: Style,
    text: String,
    times: Vec<Timed>,
}

impl Observer for Watch<'_> {
    type Error = anyhow::Error;

    fn after(&mut self, ran: Ran<'_>) -> Result<()> {
        let pass = ran.pass.name;
        let funcs = ran.module.funcs.iter().filter(|(func, _)| ran.func.is_none_or(|of| of == *func));
        let funcs: Vec<&Function> = funcs.map(|(_, f)| f).collect();
        let instructions = funcs.iter().map(|f| f.inst_count()).sum();
        let (blocks, changed) = (funcs.iter().map(|f| f.layout.len()).sum(), ran.changed.any());
        self.times.push(Timed { pass, took: ran.took, changed, instructions, blocks });
        let wanted = match self.args.print_after.as_deref() {
            Some("all") => changed,
            other => other == Some(pass),
        };
        if wanted {
            // Writing to a string cannot fail.
            let _ = match ran.func {
                Some(_) => funcs.iter().try_for_each(|f| {
                    write!(self.text, "; {pass} @{}\n{}", f.name, f.display(ran.module, self.style))
                }),
                None => write!(self.text, "; {pass}\n{}", ran.module.display(self.style)),
            };
        }
        if self.args.verify {
            let verified = ran
                .func
                .map_or_else(|| verify::verify(ran.module), |func| verify::verify_func(ran.module, func));
            verified.with_context(|| format!("after {pass}"))?;
        }
        Ok(())
    }

    fn timed(&self) -> bool {
        self.args.time
    }
}

fn table(times: &[Timed]) -> String {
    let mut out = format!("{:16} {:>10}  {:>12} {:>6}\n", "pass", "µs", "instructions", "blocks");
    let micros = |d: Duration| d.as_secs_f64() * 1e6;
    for t in times {
        let _ = writeln!(
            out,
            "{:16} {:>10.1}  {:>12} {:>6}{}",
            t.pass,
            micros(t.took),
            t.instructions,
            t.blocks,
            if t.changed { "" } else { "  no change" }
        );
    }
    let _ = writeln!(out, "{:16} {:>10.1}", "total", micros(times.iter().map(|t| t.took).sum()));
    out
}
