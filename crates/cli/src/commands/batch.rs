//! `xenoglot batch`: corpora of tens of thousands of shaders, with a table of what became of each.

use crate::cache::{self, Place};
use crate::commands::translate::{Chosen, Language};
use crate::commands::translate::{extension, parse_host};
use crate::corpus::{self, Item};
use crate::failure::usage;
use crate::lift::MaxwellArgs;
use crate::output::{self, check_folder};
use crate::print;
use crate::progress::Progress;
use crate::rows::{self, Row, Table};
use crate::whole::{self, Program};
use anyhow::Result;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use xenoglot::{Host, Options};

/// Arguments of `batch`.
#[derive(clap::Args)]
pub struct Args {
    /// Folders, and tar or zip archives (tar also packed by xz, zstd or gzip).
    #[arg(required = true, value_name = "DIR|TAR|ZIP")]
    inputs: Vec<PathBuf>,
    /// The language.
    #[arg(long, value_enum, required_unless_present = "host", conflicts_with = "host")]
    to: Option<Language>,
    /// A host by name, as in `translate`.
    #[arg(long, value_name = "NAME", value_parser = parse_host)]
    host: Option<Chosen>,
    /// The folder for code, for `table.jsonl` with a row for each program, and at the end for `table.parquet`. A batch that was
    /// interrupted goes on when it is started again.
    #[arg(short, long, value_name = "FOLDER", required = true)]
    output: PathBuf,
    /// Guard against hostile shaders, as in `translate`.
    #[arg(long)]
    robust: bool,
    #[command(flatten)]
    maxwell: MaxwellArgs,
    // Without a folder the cache is in memory, and saves the work of files that are the same.
    #[command(flatten)]
    place: Place,
    /// Print a summary as JSON.
    #[arg(long)]
    json: bool,
}

/// What came of it all.
#[derive(Debug, Default, Serialize)]
struct Summary {
    /// Files that were looked at.
    files: usize,
    /// Of these, files that were done before.
    resumed: usize,
    /// Files that are none of ours.
    passed_over: usize,
    /// Programs in the others.
    programs: usize,
    /// Programs with code.
    ok: usize,
    /// Words of it.
    words: u64,
    /// Seconds.
    seconds: f64,
    /// Kinds of failures and how many programs have them.
    failures: Vec<(String, usize)>,
}

/// Translates.
pub fn run(args: &Args) -> Result<bool> {
    let start = Instant::now();
    check_folder(&args.output)?;
    std::fs::create_dir_all(&args.output)?;
    let host = match (&args.host, args.to) {
        (Some(chosen), _) => chosen.host.clone(),
        (None, Some(language)) => language.host(),
        (None, None) => return Err(usage("--to or --host is needed")),
    };
    let options = Options { robust: args.robust, ..Options::default() };
    let cache = args.place.open_if_wanted()?;
    let settings = format!(
        "{} robust={} {} versions={:016x}",
        serde_json::to_string(&host)?,
        args.robust,
        args.maxwell.text(),
        cache.versions().stamp()
    );
    let mut table = Table::open(&args.output.join("table.jsonl"), &settings)?;
    let done = std::mem::take(&mut table.done);
    let (mut summary, mut all) = (Summary::default(), Vec::new());
    let progress = Progress::new(0);
    corpus::each_window(&args.inputs, &mut |items| {
        progress.add_total(items.len());
        summary.files += items.len();
        let (old, new): (Vec<Item>, Vec<Item>) =
            items.into_iter().partition(|item| is_done(&done, item, &args.output));
        for item in old {
            summary.resumed += 1;
            progress.step();
            all.extend(done.get(&item.name).into_iter().flatten().cloned());
        }
        let translated: Vec<Result<Vec<Row>>> = new
            .par_iter()
            .map(|item| {
                let rows = translate(item, &cache, &host, &options, args);
                progress.step();
                rows
            })
            .collect();
        for rows in translated {
            let rows = rows?;
            summary.passed_over += usize::from(rows.is_empty());
            table.add(&rows)?;
            all.extend(rows);
        }
        let failed = all.iter().filter(|row| !row.is_ok()).count();
        progress.say(format!("{failed} failed"));
        Ok(())
    })?;
    drop(progress);
    cache::report_problem(&cache);
    finish(args, &mut summary, &all, start)
}

/// Whether the table has the rows of a file, and its results are there.
fn is_done(done: &BTreeMap<String, Vec<Row>>, item: &Item, folder: &Path) -> bool {
    let (Some(rows), Ok(bytes)) = (done.get(&item.name), &item.bytes) else { return false };
    let hash = hash(bytes);
    rows.iter().all(|row| row.hash == hash && (row.file.is_empty() || folder.join(&row.file).is_file()))
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The rows of a file's programs, whose code is written; none for a file that is none of ours.
fn translate(
    item: &Item,
    cache: &xenoglot_cache::Cache,
    host: &Host,
    options: &Options,
    args: &Args,
) -> Result<Vec<Row>> {
    let row = |hash: String| Row {
        input: item.name.clone(),
        program: String::new(),
        hash,
        guest: String::new(),
        stage: String::new(),
        words: 0,
        us: 0,
        outcome: String::new(),
        cause: String::new(),
        file: String::new(),
    };
    let bytes = match &item.bytes {
        Ok(bytes) => bytes,
        Err(error) => {
            let outcome = "unreadable".into();
            return Ok(vec![Row { outcome, cause: crate::failure::text(error), ..row(String::new()) }]);
        }
    };
    let Some(guest) = whole::guest(bytes) else { return Ok(Vec::new()) };
    let (programs, us) = whole::translate(cache, bytes, host, options, &args.maxwell);
    let row = Row { guest: guest.name().into(), us, ..row(hash(bytes)) };
    let programs = match programs {
        Ok(programs) => programs,
        Err(failure) => {
            return Ok(vec![Row { outcome: failure.cause.name().into(), cause: failure.text, ..row }]);
        }
    };
    let stem = corpus::stem(&item.name);
    let each = |program: Program| {
        let Program { suffix, stage, code } = program;
        let row = Row { program: suffix.clone(), stage: stage.clone(), ..row.clone() };
        let code = match code {
            Ok(code) => code,
            Err(failure) => {
                return Ok(Row { outcome: failure.cause.name().into(), cause: failure.text, ..row });
            }
        };
        let mut name = stem.clone().into_os_string();
        // Files that differ in their ending only would meet.
        if let Some(ending) = Path::new(&item.name).extension() {
            name.push(".");
            name.push(ending);
        }
        name.push(format!("{suffix}.{}", extension(host.language, &stage)));
        output::write(&args.output.join(&name), &code)?;
        let file = PathBuf::from(name).display().to_string();
        Ok(Row { words: code.len().div_ceil(4) as u64, outcome: "ok".into(), file, ..row })
    };
    programs.into_iter().map(each).collect()
}

fn finish(args: &Args, summary: &mut Summary, all: &[Row], start: Instant) -> Result<bool> {
    let mut rows: Vec<&Row> = all.iter().collect();
    rows.sort_by(|a, b| (&a.input, &a.program).cmp(&(&b.input, &b.program)));
    #[cfg(feature = "parquet")]
    output::write(&args.output.join("table.parquet"), &crate::parquet::file(&rows)?)?;
    summary.programs = rows.len();
    summary.ok = rows.iter().filter(|row| row.is_ok()).count();
    summary.words = rows.iter().map(|row| row.words).sum();
    summary.failures = rows::causes(rows.iter().copied());
    summary.seconds = start.elapsed().as_secs_f64();
    let mut out = print::stdout();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&summary)?)?;
    } else {
        let Summary { files, resumed, passed_over, programs, ok, words, seconds, failures } = &*summary;
        writeln!(
            out,
            "{files} files ({resumed} done before, {passed_over} passed over), {programs} programs, {ok} translated, \
             {words} words, {seconds:.1} s"
        )?;
        for (cause, count) in failures {
            writeln!(out, "{count:6}  {cause}")?;
        }
    }
    Ok(summary.ok == summary.programs)
}
