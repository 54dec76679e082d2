//! `etwkit dump`: ready-made questions to extracts. Requests and numbers are of `etwkit_query::dump`; here are arguments and text.

pub(crate) mod args;
mod asking;
mod below;
mod chain;
mod columns;
mod cores;
mod cpu;
mod cpu_args;
pub(crate) mod critical_path;
mod critical_path_text;
mod cut;
mod disk;
mod dns;
mod exception;
mod file;
mod first_last;
mod focus;
mod gdi_user;
mod in_order;
mod lbr;
mod loggers;
mod mark;
mod memory;
mod method;
mod object_ref;
mod output;
pub(crate) mod overview;
mod overview_contents;
mod pmc;
mod power;
mod process;
mod recordings;
mod region;
mod registry;
mod screenshot;
mod stack_lines;
mod stacks;
mod standby;
mod stats;
mod status;
mod syscall;
mod tcp;
mod tcp_args;
mod test_args;
mod test_run;
mod text;
mod thread_pool;
mod time;
mod trace_log;
mod ui_delay;
mod user_lock;
mod version;
mod virtual_alloc;
mod wait;
mod wait_args;

use args::{Dump, DumpArgs};
pub(crate) use test_args::TestSelectionArgs;
pub(crate) use text::{cpu_word, rounded};

use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) fn run(args: &DumpArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if let Dump::Cpu(args) = &args.dump {
        args.tags.apply(&args.common.chosen()?, printer)?;
    }
    match &args.dump {
        Dump::Overview(args) => overview::run(args, printer),
        Dump::Process(args) => process::run(args, printer),
        Dump::Cpu(args) if args.stacks.is_asked() => stacks::run(args, printer),
        Dump::Cpu(args) if args.asks_methods() => method::run(args, printer),
        Dump::Cpu(args) => cpu::run(args, printer),
        Dump::Disk(args) => disk::run(args, printer),
        Dump::File(args) => file::run(args, printer),
        Dump::Dns(args) => dns::run(args, printer),
        Dump::Tcp(args) => tcp::run(args, printer),
        Dump::Cores(args) => cores::run(args, printer),
        Dump::Pmc(args) => pmc::run(args, printer),
        Dump::Lbr(args) => lbr::run(args, printer),
        Dump::Exception(args) => exception::run(args, printer),
        Dump::Mark(args) => mark::run(args, printer),
        Dump::TraceLog(args) => trace_log::run(args, printer),
        Dump::ThreadPool(args) => thread_pool::run(args, printer),
        Dump::Power(args) => power::run(args, printer),
        Dump::Memory(args) => memory::run(args, printer),
        Dump::TestRun(args) => test_run::run(args, printer),
        Dump::Syscall(args) => syscall::run(args, printer),
        Dump::ObjectRef(args) => object_ref::run(args, printer),
        Dump::VirtualAlloc(args) => virtual_alloc::run(args, printer),
        Dump::UserLock(args) => user_lock::run(args, printer),
        Dump::GdiUser(args) => gdi_user::run(args, printer),
        Dump::UiDelay(args) => ui_delay::run(args, printer),
        Dump::Focus(args) => focus::run(args, printer),
        Dump::Screenshot(args) => screenshot::run(args, printer),
        Dump::Registry(args) => registry::run(args, printer),
        Dump::Region(args) => region::run(args, printer),
        Dump::Loggers(args) => loggers::run(args, printer),
        Dump::Standby(args) => standby::run(args, printer),
        Dump::Stats(args) => stats::run(args, printer),
        Dump::Time(args) => time::run(args, printer),
        Dump::Version(args) => version::run(args, printer),
        Dump::Wait(args) => wait::run(args, printer),
    }
}
