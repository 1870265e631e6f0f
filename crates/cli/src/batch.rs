//! Many inputs at once: on all cores, with a progress bar, results written in the order of the inputs.

use crate::failure::{self, describe, usage};
use crate::isolate::{Panicked, attempt};
use crate::output::{self, Inputs, check_ending, check_folder, ends_with_slash, is_stdout};
use crate::print;
use crate::progress::Progress;
use crate::source::{Source, sources};
use anyhow::{Result, bail};
use clap::Args;
use rayon::prelude::*;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Which inputs, and where results go.
#[derive(Args)]
pub struct BatchArgs {
    /// Files, folders, or `-` for standard input.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// A file, a folder for several results, or `-` for standard output.
    #[arg(short, long, value_name = "FILE|FOLDER")]
    pub output: Option<PathBuf>,
    /// Print an array of JSON objects, one for each result or error.
    #[arg(long)]
    pub json: bool,
}

/// What a result holds.
pub enum Content {
    /// Nothing but facts.
    None,
    /// Text.
    Text(String),
    /// Bytes of a binary format.
    Bytes(Vec<u8>),
}

/// One result.
pub struct Artifact {
    /// What comes after the input's name without extension, in the result's name.
    pub suffix: String,
    /// What is written.
    pub content: Content,
    /// What is said about it in JSON.
    pub facts: Map<String, Value>,
}

impl Artifact {
    /// A text.
    pub fn text(suffix: impl Into<String>, text: String) -> Artifact {
        Artifact { suffix: suffix.into(), content: Content::Text(text), facts: Map::new() }
    }

    /// A binary.
    pub fn bytes(suffix: impl Into<String>, bytes: Vec<u8>) -> Artifact {
        Artifact { suffix: suffix.into(), content: Content::Bytes(bytes), facts: Map::new() }
    }

    /// Adds a fact.
    pub fn fact(mut self, name: &str, value: impl Into<Value>) -> Artifact {
        self.facts.insert(name.into(), value.into());
        self
    }
}

/// The results of an input; each may have failed on its own.
pub type Outcome = Result<Vec<Result<Artifact>>>;

/// Inputs in work or waiting to be written, per thread: bounds the memory for results.
const WINDOW: usize = 16;

/// Does `work` on every input and writes what comes of it. `state` makes what a thread reuses from input to input.
/// A panic of `work` is an error of its input. Gives whether everything went well.
pub fn run<S>(
    args: &BatchArgs,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &Source, &[u8]) -> Outcome + Sync,
) -> Result<bool> {
    let sources = sources(&args.inputs)?;
    let mut writer = Writer::new(args, &sources)?;
    let progress = Progress::new(sources.len());
    for window in sources.chunks(WINDOW * rayon::current_num_threads()) {
        let outcomes: Vec<Outcome> = window
            .par_iter()
            .map_init(&state, |reused, source| {
                tracing::info!(input = source.name, "start");
                let outcome = source.read().and_then(|bytes| attempt(|| work(reused, source, &bytes)));
                if outcome.as_ref().is_err_and(|e| e.is::<Panicked>()) {
                    *reused = state();
                }
                progress.step();
                outcome
            })
            .collect();
        for (source, outcome) in window.iter().zip(outcomes) {
            progress.suspend(|| writer.outcome(source, outcome))?;
        }
    }
    drop(progress);
    writer.finish()
}

/// Where results go.
struct Writer<'a> {
    args: &'a BatchArgs,
    several: bool,
    /// `-o`, if it is not standard output.
    output: Option<&'a Path>,
    inputs: Inputs,
    written: BTreeSet<PathBuf>,
    printed: usize,
    failed: bool,
}

impl<'a> Writer<'a> {
    /// Refuses where no result could go.
    fn new(args: &'a BatchArgs, sources: &[Source]) -> Result<Writer<'a>> {
        let output = args.output.as_deref().filter(|path| !is_stdout(path));
        let several = sources.len() > 1;
        // How many files a folder holds does not change what `-o` means.
        if let Some(output) = output.filter(|_| several || sources.iter().any(|source| !source.named)) {
            check_folder(output)?;
        }
        let inputs = match output {
            Some(_) => Inputs::new(sources.iter().filter_map(Source::path)),
            None => Inputs::default(),
        };
        Ok(Writer { args, several, output, inputs, written: BTreeSet::new(), printed: 0, failed: false })
    }

    fn outcome(&mut self, source: &Source, outcome: Outcome) -> Result<()> {
        let results = match outcome {
            Ok(results) => results,
            Err(e) if !source.named && is_no_input(&e) => {
                tracing::info!(input = source.name, "passed over: {e}");
                return Ok(());
            }
            Err(e) => vec![Err(e)],
        };
        let several = self.several || results.len() > 1;
        for result in results {
            match result.and_then(|artifact| self.artifact(source, artifact, several)) {
                Ok(()) => {}
                Err(e) if e.is::<crate::failure::Usage>() || print::is_failure(&e) => return Err(e),
                Err(e) => self.error(source, &e)?,
            }
        }
        Ok(())
    }

    fn error(&mut self, source: &Source, error: &anyhow::Error) -> Result<()> {
        self.failed = true;
        print::error(describe(&source.name, error));
        if self.args.json {
            let mut object = Map::new();
            object.insert("input".into(), source.name.clone().into());
            object.insert("error".into(), failure::text(error).into());
            self.json(&object)?;
        }
        Ok(())
    }

    fn artifact(&mut self, source: &Source, artifact: Artifact, several: bool) -> Result<()> {
        let file = match (self.output, &artifact.content) {
            (None, _) | (_, Content::None) => None,
            (Some(output), content) => {
                Some(self.write(output, source, &artifact.suffix, content, several)?)
            }
        };
        if self.args.json {
            let mut object = Map::new();
            object.insert("input".into(), source.name.clone().into());
            object.extend(artifact.facts);
            match (file, artifact.content) {
                (Some(file), _) => drop(object.insert("file".into(), file.display().to_string().into())),
                (None, Content::Text(text)) => drop(object.insert("text".into(), text.into())),
                (None, Content::Bytes(bytes)) => drop(object.insert("hex".into(), hex(&bytes).into())),
                (None, Content::None) => {}
            }
            return self.json(&object);
        }
        match (file, artifact.content) {
            (None, Content::Text(text)) => self.print(source, &artifact.suffix, &text, several),
            (None, Content::Bytes(bytes)) => {
                if several {
                    return Err(usage("several binary results need -o FOLDER"));
                }
                if std::io::stdout().is_terminal() && self.args.output.is_none() {
                    return Err(usage("the result is binary: give -o FILE, or -o - for standard output"));
                }
                Ok(print::stdout().write_all(&bytes)?)
            }
            (Some(_), _) | (_, Content::None) => Ok(()),
        }
    }

    fn print(&mut self, source: &Source, suffix: &str, text: &str, several: bool) -> Result<()> {
        let mut out = print::stdout();
        if several {
            let gap = if self.printed > 0 { "\n" } else { "" };
            let start = suffix.trim_start_matches('.');
            writeln!(out, "{gap}==> {} ({start}) <==", source.name)?;
        }
        self.printed += 1;
        Ok(out.write_all(text.as_bytes())?)
    }

    /// Writes a file and says which.
    fn write(
        &mut self,
        output: &Path,
        source: &Source,
        suffix: &str,
        content: &Content,
        several: bool,
    ) -> Result<PathBuf> {
        let path = if several || ends_with_slash(output) || output.is_dir() {
            check_folder(output)?;
            let mut name = source.stem.clone().into_os_string();
            name.push(suffix);
            output.join(name)
        } else {
            check_ending(output, suffix.rsplit('.').next().unwrap_or_default())?;
            output.to_path_buf()
        };
        if !self.written.insert(path.clone()) {
            bail!("{} would be written twice", path.display());
        }
        self.inputs.check(&path)?;
        let bytes = match content {
            Content::Text(text) => text.as_bytes(),
            Content::Bytes(bytes) => bytes,
            Content::None => &[],
        };
        output::write(&path, bytes)?;
        Ok(path)
    }

    fn json(&mut self, object: &Map<String, Value>) -> Result<()> {
        let text = serde_json::to_string_pretty(object)?;
        let start = if self.printed == 0 { "[\n" } else { ",\n" };
        self.printed += 1;
        Ok(write!(print::stdout(), "{start}{text}")?)
    }

    fn finish(self) -> Result<bool> {
        if self.args.json {
            let end = if self.printed == 0 { "[]\n" } else { "\n]\n" };
            print::stdout().write_all(end.as_bytes())?;
        }
        Ok(!self.failed)
    }
}

/// Whether the error only says that a file is none of ours.
fn is_no_input(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(xenoglot::Error::UnknownFormat))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
