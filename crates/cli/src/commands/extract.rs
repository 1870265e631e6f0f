//! `xenoglot extract`: shader binaries inside other files.

use crate::batch::{self, Artifact, BatchArgs, Content};
use crate::source::Source;
use anyhow::Result;
use serde_json::{Map, json};
use std::fmt::Write;
use xenoglot_pica_shader::container::Limits;
use xenoglot_pica_shader::container::extract::{Extraction, Found, extract};

/// Arguments of `extract`. Without `-o` the binaries are only listed.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    batch: BatchArgs,
    /// List what looked like a shader binary but is none, too.
    #[arg(long)]
    rejected: bool,
}

/// Searches.
pub fn run(args: &Args) -> Result<bool> {
    batch::run(
        &args.batch,
        || (),
        |(), source, bytes| {
            let extraction = extract(bytes, &Limits::default());
            if let Some(offset) = extraction.gave_up_at {
                tracing::warn!(
                    input = source.name,
                    "search ended at {offset:#x}: too many damaged candidates"
                );
            }
            if args.batch.output.is_some() || args.batch.json {
                return Ok(extraction.found.iter().map(|f| Ok(artifact(args, bytes, f))).collect());
            }
            Ok(vec![Ok(Artifact::text(".list", list(source, &extraction, args.rejected)))])
        },
    )
}

fn artifact(args: &Args, bytes: &[u8], found: &Found) -> Artifact {
    let data = bytes.get(found.offset..found.offset + found.len).unwrap_or_default();
    let content = if args.batch.output.is_some() { Content::Bytes(data.to_vec()) } else { Content::None };
    let mut facts = Map::new();
    facts.insert("offset".into(), json!(found.offset));
    facts.insert("size".into(), json!(found.len));
    facts.insert("words".into(), json!(found.shbin.program.code.len()));
    facts.insert("executables".into(), json!(found.shbin.executables.len()));
    Artifact { suffix: format!(".{:06x}.shbin", found.offset), content, facts }
}

fn list(source: &Source, extraction: &Extraction, rejected: bool) -> String {
    let mut out = String::new();
    for f in &extraction.found {
        let (words, executables) = (f.shbin.program.code.len(), f.shbin.executables.len());
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{:#010x}  {:6} bytes  {words:4} words  {executables} executables",
            f.offset, f.len
        );
    }
    if extraction.found.is_empty() {
        let _ = writeln!(out, "{}: no shader binary inside", source.name);
    }
    for (offset, reason) in extraction.rejected.iter().filter(|_| rejected) {
        let _ = writeln!(out, "{offset:#010x}  no shader binary: {reason}");
    }
    out
}
