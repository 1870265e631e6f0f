//! `xenoglot cache`: looking after the cache of translated shaders.

use crate::cache::{Place, report_problem};
use crate::commands::translate::{Chosen, parse_host};
use crate::corpus;
use crate::failure::usage;
use crate::lift::MaxwellArgs;
use crate::output::is_stdout;
use crate::print;
use crate::progress::Progress;
use crate::whole::{self, Program};
use anyhow::{Context, Result};
use clap::Subcommand;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use xenoglot::Options;
use xenoglot_cache::foz::{self, Written};
use xenoglot_cache::store::{Gc, Store};
use xenoglot_cache::{Cache, Guest, Kind, Refill, Title, entry, from_bytes};

/// Arguments of `cache`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    place: Place,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Say what is in the cache.
    Stats,
    /// Check every entry; damaged ones are removed.
    Verify,
    /// Remove what was made by older versions of this program, and then the least recently used.
    Gc {
        /// Until at most so many bytes are left.
        #[arg(long, value_name = "BYTES")]
        to: Option<u64>,
        /// All entries of the title given by --title, current or not.
        #[arg(long)]
        all: bool,
    },
    /// Write all code in the cache, or that of a title, to a pack.
    Export {
        /// The pack; `-` for standard output.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Write a database for fossilize-replay instead: SPIR-V modules, and pipelines of compute programs.
        #[arg(long)]
        foz: bool,
    },
    /// Take from a pack what the cache lacks. Nothing is replaced, and damaged entries are left out.
    Import {
        /// The pack; `-` for standard input.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Translate corpora into the cache, so that nothing waits for it later; or, after an update, what the cache knows.
    Warm {
        /// Folders, and tar or zip archives; without them, what was warmed before.
        #[arg(value_name = "DIR|TAR|ZIP")]
        inputs: Vec<PathBuf>,
        /// Hosts by name, as in `translate`; several separated by commas.
        #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "vulkan", value_parser = parse_host)]
        host: Vec<Chosen>,
    },
}

/// Does what was asked.
pub fn run(args: &Args) -> Result<bool> {
    let cache = args.place.open()?;
    let stores = || cache.hosts().into_iter().chain(cache.guests());
    let (facts, well) = match &args.command {
        Command::Stats => (stats(stores(), false)?, true),
        Command::Verify => {
            let facts = stats(stores(), true)?;
            cache.flush()?;
            let damaged = facts.iter().map(|facts| facts.damaged).sum::<usize>();
            (facts, damaged == 0)
        }
        Command::Gc { to, all } => {
            if *all && args.place.title.is_none() {
                return Err(usage("--all needs --title: without one, remove the folder"));
            }
            let mut removed = cache.drop_outdated(*to)?;
            if *all {
                let gc = Gc { title: args.place.title(), all: true, ..Gc::default() };
                for store in stores() {
                    removed += store.collect(&gc)?;
                }
            }
            return say(args, &json!({ "removed": removed }), &format!("{removed} entries removed\n"));
        }
        Command::Export { file, foz: false } => return export(args, &cache, file),
        Command::Export { file, foz: true } => return export_foz(args, &cache, file),
        Command::Import { file } => return import(args, &cache, file),
        Command::Warm { inputs, host } => return warm(args, &cache, inputs, host),
    };
    let text = facts.iter().fold(String::new(), |mut text, facts| {
        facts.print(&mut text);
        text
    });
    say(args, &serde_json::to_value(&facts)?, &text)?;
    Ok(well)
}

fn say(args: &Args, value: &Value, text: &str) -> Result<bool> {
    let mut out = print::stdout();
    match args.json {
        true => writeln!(out, "{}", serde_json::to_string_pretty(value)?)?,
        false => out.write_all(text.as_bytes())?,
    }
    Ok(true)
}

/// What a store has.
#[derive(Debug, Serialize)]
struct Facts {
    file: PathBuf,
    /// Bytes of the file.
    file_bytes: u64,
    /// Entries and their bytes by kind.
    kinds: Vec<(&'static str, u64, u64)>,
    /// Bytes of payloads before they were packed.
    unpacked: u64,
    /// Entries whose bytes were wrong.
    damaged: usize,
    verified: bool,
}

impl Facts {
    fn print(&self, text: &mut String) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {} bytes", self.file.display(), self.file_bytes);
        for (kind, count, bytes) in &self.kinds {
            let _ = writeln!(text, "  {kind:10} {count:8} entries {bytes:12} bytes");
        }
        let stored: u64 = self.kinds.iter().map(|(_, _, bytes)| bytes).sum();
        let _ = writeln!(text, "  {} bytes packed to {stored}", self.unpacked);
        if self.verified {
            let _ = writeln!(text, "  {} damaged", self.damaged);
        }
    }
}

fn stats<'a>(stores: impl Iterator<Item = &'a Store>, verified: bool) -> Result<Vec<Facts>> {
    let of = |store: &Store| {
        // Counting by kind reads every header anyway; the hashes come with it.
        let scan = store.verify()?;
        let kinds = Kind::ALL.iter().zip(scan.kinds).filter(|(_, (count, _))| *count > 0);
        Ok(Facts {
            file: store.path().to_path_buf(),
            file_bytes: std::fs::metadata(store.path()).map_or(0, |data| data.len()),
            kinds: kinds.map(|(kind, (count, bytes))| (kind.name(), count, bytes)).collect(),
            unpacked: scan.unpacked,
            damaged: scan.damaged.len(),
            verified,
        })
    };
    stores.map(of).collect()
}

fn export(args: &Args, cache: &Cache, file: &Path) -> Result<bool> {
    let store = cache.hosts().context("the cache is not on disk")?;
    let count = if is_stdout(file) {
        store.export(args.place.title(), BufWriter::new(print::stdout()))?
    } else {
        let mut output = xenoglot_output::Output::create(file)?;
        let count = store.export(args.place.title(), BufWriter::new(&mut output))?;
        output.finish(xenoglot_output::Durability::Cached)?;
        count
    };
    let text = format!("{count} entries\n");
    if is_stdout(file) { Ok(true) } else { say(args, &json!({ "entries": count }), &text) }
}

/// Writes the SPIR-V of the host store for `fossilize-replay`.
fn export_foz(args: &Args, cache: &Cache, file: &Path) -> Result<bool> {
    let store = cache.hosts().context("the cache is not on disk")?;
    let written = if is_stdout(file) {
        foz(store, args.place.title(), BufWriter::new(print::stdout()))?
    } else {
        let mut output = xenoglot_output::Output::create(file)?;
        let written = foz(store, args.place.title(), BufWriter::new(&mut output))?;
        output.finish(xenoglot_output::Durability::Cached)?;
        written
    };
    let Written { modules, pipelines, .. } = written;
    let text = format!("{modules} modules, {pipelines} compute pipelines\n");
    let facts = json!({ "modules": modules, "pipelines": pipelines });
    if is_stdout(file) { Ok(true) } else { say(args, &facts, &text) }
}

/// What SPIR-V begins with.
const SPIRV: [u8; 4] = 0x0723_0203u32.to_le_bytes();

fn foz(store: &Store, title: Option<Title>, to: impl Write) -> Result<Written> {
    store.flush()?;
    let mut writer = foz::Writer::new(to)?;
    let mut failed = None;
    store.scan(|item| {
        let Ok(entry) = entry::decode(&item.key, item.bytes) else { return ControlFlow::Continue(()) };
        if entry.kind != Kind::Artifact || title.is_some_and(|title| title != entry.title) {
            return ControlFlow::Continue(());
        }
        // Entries of this program have all programs of a file; those of emulators have code.
        let is_code = entry.payload.starts_with(&SPIRV);
        let added = match from_bytes::<Vec<Program>>(&entry.payload).filter(|_| !is_code) {
            Some(programs) => programs.iter().flat_map(|p| &p.code).try_for_each(|code| writer.add(code)),
            None => writer.add(&entry.payload),
        };
        match added {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(writer.finish()?),
    }
}

fn import(args: &Args, cache: &Cache, file: &Path) -> Result<bool> {
    let store = cache.hosts().context("the cache is not on disk")?;
    let from: Box<dyn Read> = match file.as_os_str() == "-" {
        true => Box::new(std::io::stdin().lock()),
        false => Box::new(File::open(file).with_context(|| file.display().to_string())?),
    };
    let done = store.import(BufReader::new(from)).with_context(|| file.display().to_string())?;
    let text = format!("{} entries added, {} known, {} damaged\n", done.added, done.known, done.damaged);
    say(args, &json!({ "added": done.added, "known": done.known, "damaged": done.damaged }), &text)?;
    Ok(done.damaged == 0)
}

fn warm(args: &Args, cache: &Cache, inputs: &[PathBuf], hosts: &[Chosen]) -> Result<bool> {
    let (progress, files, failed) = (Progress::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let translate = |bytes: &[u8]| {
        files.fetch_add(1, Ordering::Relaxed);
        for Chosen { host, .. } in hosts {
            let programs =
                whole::translate(cache, bytes, host, &Options::default(), &MaxwellArgs::default()).0;
            let bad = programs.map_or(1, |p| p.iter().filter(|program| program.code.is_err()).count());
            failed.fetch_add(bad, Ordering::Relaxed);
        }
    };
    if inputs.is_empty() {
        let workers = rayon::current_num_threads();
        let first = std::sync::Once::new();
        let refill = Refill {
            workers,
            cancel: &AtomicBool::new(false),
            progress: &|_, total| {
                first.call_once(|| progress.add_total(total));
                progress.step();
            },
        };
        cache.refill(&refill, &|guest: &Guest| {
            if guest.kind == whole::KIND {
                translate(&guest.program);
            }
        })?;
    }
    corpus::each_window(inputs, &mut |items| {
        progress.add_total(items.len());
        items.par_iter().for_each(|item| {
            if let Ok(bytes) = &item.bytes
                && whole::guest(bytes).is_some()
            {
                translate(bytes);
                whole::remember(cache, bytes);
            }
            progress.step();
        });
        Ok(())
    })?;
    drop(progress);
    report_problem(cache);
    let (files, failed, counts) = (files.into_inner(), failed.into_inner(), cache.counts());
    let text =
        format!("{files} files, {} new, {} known, {failed} programs failed\n", counts.misses, counts.hits);
    say(args, &json!({ "files": files, "new": counts.misses, "known": counts.hits, "failed": failed }), &text)
}
