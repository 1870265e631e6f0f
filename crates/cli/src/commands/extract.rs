//! `xenoglot extract`: shader binaries inside other files. Of fat binaries, and of programs and libraries that have some, their
//! members; of other files, the shader binaries of the PICA200.

use crate::batch::{self, Artifact, BatchArgs, Content};
use crate::source::Source;
use anyhow::Result;
use serde_json::{Map, json};
use std::fmt::Write;
use xenoglot_maxwell::container::FatBinary;
use xenoglot_maxwell::container::fatbin::{Compression, Kind, Member};
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
            if FatBinary::is_one(bytes) || FatBinary::is_inside(bytes) {
                return members(args, bytes);
            }
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

/// Most bytes of a member.
const MAX_MEMBER_BYTES: u64 = 1 << 30;

/// The members of a fat binary, or a list of them.
fn members(args: &Args, bytes: &[u8]) -> Result<Vec<Result<Artifact>>> {
    let members = FatBinary::parse(bytes)?.members;
    if args.batch.output.is_some() || args.batch.json {
        return Ok(members.iter().map(|member| of_member(args, member)).collect());
    }
    let mut out = String::new();
    for member in &members {
        let how = member.compression.map_or("", |how| match how {
            Compression::Lz4 => "  (LZ4)",
            Compression::Zstd => "  (Zstandard)",
        });
        let Member { offset, bytes, sm, .. } = member;
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{offset:#010x}  {bytes:9} bytes  sm_{sm:<3}  {}{how}", extension(member));
    }
    Ok(vec![Ok(Artifact::text(".list", out))])
}

fn extension(member: &Member) -> &'static str {
    match member.kind {
        Kind::Ptx => "ptx",
        Kind::Cubin => "cubin",
        Kind::Other(_) => "bin",
    }
}

fn of_member(args: &Args, member: &Member) -> Result<Artifact> {
    let content = match &args.batch.output {
        Some(_) => Content::Bytes(member.contents(MAX_MEMBER_BYTES)?.into_owned()),
        None => Content::None,
    };
    let mut facts = Map::new();
    facts.insert("offset".into(), json!(member.offset));
    facts.insert("size".into(), json!(member.bytes));
    facts.insert("kind".into(), json!(member.kind));
    facts.insert("sm".into(), json!(member.sm));
    facts.insert("compression".into(), json!(member.compression));
    let suffix = format!(".{:06x}.sm_{}.{}", member.offset, member.sm, extension(member));
    Ok(Artifact { suffix, content, facts })
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
