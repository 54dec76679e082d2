//! `etwkit dump`: ready-made questions to extracts. Requests and numbers are of `etwkit_query::dump`; here are arguments and text.

pub(crate) mod args;
mod asking;
mod cells;
mod columns;
pub(crate) mod critical_path;
mod critical_path_text;
mod declared;
mod exception;
mod first_last;
mod in_order;
mod output;
pub(crate) mod overview;
mod overview_contents;
mod power;
mod recordings;
mod region;
mod stack_lines;
mod stats;
mod test_args;
mod test_run;
mod text;
mod time;
mod trace_log;

use args::{AnyDump, Dump, DumpArgs};
pub(crate) use test_args::TestSelectionArgs;
pub(crate) use text::rounded;

use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) fn run(args: &DumpArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let dump = match &args.dump {
        AnyDump::Declared(args) => return declared::run(args, printer),
        AnyDump::Own(dump) => &**dump,
    };
    match dump {
        Dump::Overview(args) => overview::run(args, printer),
        Dump::Exception(args) => exception::run(args, printer),
        Dump::TraceLog(args) => trace_log::run(args, printer),
        Dump::Power(args) => power::run(args, printer),
        Dump::TestRun(args) => test_run::run(args, printer),
        Dump::Region(args) => region::run(args, printer),
        Dump::Stats(args) => stats::run(args, printer),
        Dump::Time(args) => time::run(args, printer),
    }
}
