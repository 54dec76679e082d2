//! `etwkit completions` and `etwkit man`: descriptions of the commands for shells and for `man`.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use clap_complete::Shell;
use etwkit_terminal::Exit;

use crate::cli;
use crate::printer::Printer;

const PROGRAM: &str = "etwkit";

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Folder that gets a page for each command
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Prints a script that completes words in a shell.
pub(crate) fn completions(
    args: &CompletionsArgs,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::command(), PROGRAM, &mut script);
    printer.raw(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Answered)
}

/// Writes manual pages.
pub(crate) fn man(args: &ManArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let folder = &args.folder;
    let context = || format!("cannot write into {}", folder.display());
    std::fs::create_dir_all(folder).with_context(context)?;
    clap_mangen::generate_to(cli::command(), folder).with_context(context)?;
    printer.line(&format!("Wrote manual pages into {}", folder.display()))?;
    Ok(Exit::Answered)
}
