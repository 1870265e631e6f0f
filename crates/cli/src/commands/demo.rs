//! `xenoglot demo`: every guest, and the bundled shaders through everything.

use crate::isolate::attempt;
use crate::progress::Progress;
use crate::{failure, output, print};
use anyhow::{Context, Result};
use guests::GUESTS;
use rayon::prelude::*;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;
use xenoglot::Translator;
use xenoglot_pica_shader::bundled::SHADERS;

mod guests;
mod page;
mod shaders;

/// Arguments of `demo`.
#[derive(clap::Args)]
pub struct Args {
    /// The folder to write to.
    #[arg(short, long, value_name = "FOLDER", default_value = "demo")]
    output: PathBuf,
}

/// A file of the demonstration.
struct Made {
    /// Its name in the folder of its card.
    name: String,
    /// What it shows.
    title: String,
    bytes: Vec<u8>,
}

/// A guest or shader with all that was made of it.
struct Card {
    /// Also its folder's name.
    name: String,
    kind: String,
    about: String,
    /// Names and values of what was counted.
    facts: Vec<(&'static str, String)>,
    /// The command lines that made the files, if any did.
    commands: Vec<String>,
    files: Vec<Made>,
    /// The starts of the names of two files to be shown side by side.
    pair: Option<[&'static str; 2]>,
}

/// Writes the demonstration.
pub fn run(args: &Args) -> Result<bool> {
    output::check_folder(&args.output)?;
    let start = Instant::now();
    let progress = Progress::new(GUESTS.len() + SHADERS.len());
    let shader = |reused: &mut Translator, shader| {
        let card = attempt(|| shaders::show(reused, shader, &args.output)).with_context(|| shader.name);
        if card.is_err() {
            *reused = Translator::new();
        }
        progress.step();
        card
    };
    let guest = |guest: &guests::Guest| {
        let card = guests::show(guest, &args.output);
        progress.step();
        card
    };
    let (mut cards, shaders): (Vec<_>, Vec<_>) = rayon::join(
        || GUESTS.par_iter().map(guest).collect::<Vec<_>>(),
        || SHADERS.par_iter().map_init(Translator::new, shader).collect::<Vec<_>>(),
    );
    drop(progress);
    cards.extend(shaders);
    let (mut done, mut ok) = (Vec::new(), true);
    for card in cards {
        match card {
            Ok(card) => done.push(card),
            Err(e) => {
                ok = false;
                print::error(failure::text(&e));
            }
        }
    }
    let index = args.output.join("index.html");
    output::write(&index, page::page(&done).as_bytes())?;
    let files: usize = done.iter().map(|card| card.files.len()).sum();
    writeln!(
        print::stdout(),
        "{} guests and shaders, {files} files in {:.2} s. Open {}",
        done.len(),
        start.elapsed().as_secs_f64(),
        index.display()
    )?;
    Ok(ok)
}
