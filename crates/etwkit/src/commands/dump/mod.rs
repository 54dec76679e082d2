//! `etwkit dump`: ready-made questions to extracts. Requests and numbers are of `etwkit_query::dump`; here are arguments and text.

pub(crate) mod args;
mod below;
mod chain;
mod cores;
mod cpu;
mod cpu_args;
pub(crate) mod critical_path;
mod critical_path_text;
mod cut;
mod disk;
mod file;
mod first_last;
mod in_order;
mod lbr;
mod method;
mod object_ref;
mod output;
pub(crate) mod overview;
mod pmc;
mod process;
mod stacks;
mod stats;
mod status;
mod syscall;
mod text;
mod time;
mod version;
mod virtual_alloc;
mod wait;
mod wait_args;

use args::{Dump, DumpArgs};
pub(crate) use text::rounded;

use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) fn run(args: &DumpArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if let Dump::Cpu(args) = &args.dump {
        args.tags.apply(&args.common.extracts, printer)?;
    }
    match &args.dump {
        Dump::Overview(args) => overview::run(args, printer),
        Dump::Process(args) => process::run(args, printer),
        Dump::Cpu(args) if args.stacks.is_asked() => stacks::run(args, printer),
        Dump::Cpu(args) if args.asks_methods() => method::run(args, printer),
        Dump::Cpu(args) => cpu::run(args, printer),
        Dump::Disk(args) => disk::run(args, printer),
        Dump::File(args) => file::run(args, printer),
        Dump::Cores(args) => cores::run(args, printer),
        Dump::Pmc(args) => pmc::run(args, printer),
        Dump::Lbr(args) => lbr::run(args, printer),
        Dump::Syscall(args) => syscall::run(args, printer),
        Dump::ObjectRef(args) => object_ref::run(args, printer),
        Dump::VirtualAlloc(args) => virtual_alloc::run(args, printer),
        Dump::Stats(args) => stats::run(args, printer),
        Dump::Time(args) => time::run(args, printer),
        Dump::Version(args) => version::run(args, printer),
        Dump::Wait(args) => wait::run(args, printer),
    }
}
