//! `etwkit dump`: ready-made questions. Requests and numbers are of `etwkit_query`; here are arguments and
//! text.

mod args;
mod asking;
mod cells;
mod chosen;
mod columns;
mod copy;
pub(crate) mod critical_path;
mod declared;
pub(crate) mod explain;
mod output;
pub(crate) mod own;
pub(crate) mod root;

use root::DumpArgs;

use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) fn run(args: &DumpArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    declared::run(&args.question, printer)
}
