//! `etwkit demo`: a trace of a simulated machine, extracted and shown.

use anyhow::Context;

use super::dump::overview;
use super::{extract, synth};
use crate::cli::DemoArgs;
use crate::exit::Exit;
use crate::printer::Printer;

/// The scenario, its length in seconds, and the name of its files.
const SCENARIO: &str = "office";
const SCALE: u32 = 4;

pub(crate) fn run(args: &DemoArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let folder = &args.folder;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let trace = folder.join(format!("{SCENARIO}.etl"));
    if !trace.exists() {
        synth::write_scenario(SCENARIO, SCALE, &trace)?;
        printer.line(&format!("Wrote a trace of a simulated machine: {}", trace.display()))?;
    }
    let extract = extract::one_file(&trace)?;
    printer.line(&format!("Extracted it: {}", extract.display()))?;
    overview::show(&extract, overview::ROWS, printer)?;
    Ok(Exit::Answered)
}
