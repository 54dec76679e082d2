//! `etwkit dump`: ready-made questions to extracts. Requests and numbers are of `etwkit_query::dump`; here
//! are arguments and text.

mod args;
mod asking;
mod cells;
mod columns;
pub(crate) mod critical_path;
mod declared;
mod first_last;
mod output;
pub(crate) mod root;
mod test_args;
mod test_run;
mod text;

use root::{AnyDump, DumpArgs};
pub(crate) use test_args::TestSelectionArgs;

use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) fn run(args: &DumpArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    match &args.dump {
        AnyDump::Declared(args) => declared::run(args, printer),
        AnyDump::TestRun(args) => test_run::run(args, printer),
    }
}
