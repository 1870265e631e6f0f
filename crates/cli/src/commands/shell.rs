//! `xenoglot completions` and `xenoglot man`: what shells and manuals take from the definition of the arguments.

use crate::cli::Cli;
use crate::{output, print};
use anyhow::Result;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `completions`.
#[derive(clap::Args)]
pub struct CompletionArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Arguments of `man`.
#[derive(clap::Args)]
pub struct ManArgs {
    /// The folder to write to, for example `~/.local/share/man/man1`.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Prints the script that completes command lines.
pub fn completions(args: &CompletionArgs) -> Result<bool> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "xenoglot", &mut script);
    print::stdout().write_all(&script)?;
    Ok(true)
}

/// Writes a page for the program and one for each command.
pub fn man(args: &ManArgs) -> Result<bool> {
    output::check_folder(&args.folder)?;
    let mut root = Cli::command().disable_help_subcommand(true);
    // Gives commands the names of their pages: xenoglot-dragon-run.
    root.build();
    let pages = pages(&root)?;
    for (name, page) in &pages {
        output::write(&args.folder.join(name), page)?;
    }
    writeln!(print::stdout(), "{} pages in {}", pages.len(), args.folder.display())?;
    Ok(true)
}

/// File names and pages of a command and those below it.
fn pages(root: &Command) -> Result<Vec<(String, Vec<u8>)>> {
    let (mut todo, mut pages) = (vec![root], Vec::new());
    while let Some(command) = todo.pop() {
        let man = Man::new(command.clone());
        let mut page = Vec::new();
        man.render(&mut page)?;
        todo.extend(command.get_subcommands().filter(|c| c.get_name() != "help"));
        pages.push((man.get_filename(), page));
    }
    pages.sort();
    Ok(pages)
}
