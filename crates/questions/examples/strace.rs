//! Prints system calls as `strace.exe(17016): NtOpenThreadTokenEx <- 0xC000007C`: `cargo run -p etwkit-questions
//! --example strace -- TRACE.etl`. An extract (`NAME.etwx`) has names of functions once symbols are loaded.

use std::{error::Error, io::Write, ops::ControlFlow, path::Path};

use etwkit_question::Question;
use etwkit_questions::syscall::{SyscallCall, SyscallRequest, SyscallSort};
use etwkit_sql::Session;
use etwkit_trace::import;

fn read(trace: &Path) -> Result<Session, Box<dyn Error>> {
    let input = etwkit_extract::open(&[trace.to_owned()], &etwkit_extract::Options::default())?;
    let (mut rows, options) = (Vec::new(), import::Options::default());
    import::import(input.session(), &options, &mut rows, &mut |_| {
        ControlFlow::Continue(())
    })?;
    Ok(Session::from_batches(
        rows.into_iter()
            .map(|(table, batch)| (table, vec![batch]))
            .collect(),
    )?)
}

/// Writes a line for each call that ended in a trace or extract.
pub(crate) fn strace(path: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let session = if path.is_dir() {
        Session::open(&[path])?
    } else {
        read(path)?
    };
    let calls = SyscallRequest {
        details: true,
        sort: SyscallSort::Time,
        ..SyscallRequest::default()
    };
    for call in calls.ask::<SyscallCall>(&session)? {
        let (Some(function), Some(status)) = (call.function, call.status) else {
            continue;
        };
        let module = call
            .module
            .filter(|_| function.starts_with('+'))
            .unwrap_or_default();
        let (image, pid) = (
            call.process.unwrap_or_default(),
            call.pid.unwrap_or_default(),
        );
        writeln!(
            out,
            "{image}({pid}): {module}{function} <- {:#X}",
            status as u32
        )?;
    }
    Ok(())
}

#[allow(dead_code, reason = "a test calls the function above")]
fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os()
        .nth(1)
        .ok_or("usage: strace TRACE.etl|NAME.etwx")?;
    strace(Path::new(&path), &mut std::io::stdout().lock())
}
