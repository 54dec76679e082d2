//! Workloads of case studies about slow machines, to be reproduced on one's own machine. Each
//! causes the slowness of a case study, measures it, and names the recording that shows it.
//!
//! ```text
//! args ─► a workload (one file each) ─► Report: lines for people, values for machines, what records it
//! ```
//!
//! A workload runs on every system unless it says otherwise. It leaves no files except the
//! requested ones.

mod cfg_start;
mod cold_read;
mod copy_file;
mod cpu_load;
mod cpu_time;
mod crowd;
mod delay_load;
mod dns;
mod executable;
mod family;
mod file_churn;
mod folder;
mod growth;
mod hang;
mod imports;
mod leak;
mod lock;
mod noise;
mod priority;
mod probe;
mod process_create;
mod program;
mod report;
mod spin;
mod spread;
mod syscall_storm;
mod wait_chain;
mod write_cache;
mod write_files;

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use clap::{Args, Subcommand};

pub use report::{Report, Value};

/// The environment of a workload.
pub struct Bench<'b> {
    /// This program, which some workloads start again as other processes.
    pub program: &'b Path,
    /// Returns true if the user has stopped the workload. Called often.
    pub is_stopped: &'b dyn Fn() -> bool,
    /// Receives the progress as done and total. Called often.
    pub progress: &'b dyn Fn(u64, u64),
}

impl Bench<'_> {
    fn progress(&self, done: u32, all: u32) {
        (self.progress)(done.into(), all.into());
    }

    /// Reports the progress of work with a fixed duration.
    fn until(&self, begun: Instant, end: Instant) {
        let milliseconds = |time: Instant| time.saturating_duration_since(begun).as_millis() as u64;
        (self.progress)(milliseconds(Instant::now()), milliseconds(end));
    }
}

/// A workload and its amounts.
#[derive(Debug, Clone, Args)]
pub struct LabArgs {
    #[command(subcommand)]
    workload: Workload,
    /// Print one JSON object with the values
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Clone, Subcommand)]
enum Workload {
    /// Create and end many processes, which all live at the same time
    ProcessCreate(process_create::ProcessCreateArgs),
    /// Start programs with more and more functions, with and without Control Flow Guard
    CfgStart(cfg_start::CfgStartArgs),
    /// Create and end processes that import a library which they never call: at once, with delay,
    /// or not
    DelayLoad(delay_load::DelayLoadArgs),
    /// Keep processors busy for a while: less CPU than asked for is what others took
    CpuLoad(cpu_load::CpuLoadArgs),
    /// Write many small files, one after the other or with several threads
    WriteFiles(write_files::WriteFilesArgs),
    /// Write a large file: without waiting for the disk, waiting at the end, and after each piece
    WriteCache(write_cache::WriteCacheArgs),
    /// Create and delete very many files, then time the creation of some
    FileChurn(file_churn::FileChurnArgs),
    /// Read a file that is not in memory, and then again
    ColdRead(cold_read::ColdReadArgs),
    /// Copy a file as the system does it, and compare the copy
    CopyFile(copy_file::CopyFileArgs),
    /// Open handles and keep memory with each click, and give nothing back
    Leak(leak::LeakArgs),
    /// A window whose thread does something else instead of pumping messages
    Hang(hang::HangArgs),
    /// Call the system as often as possible: what a call costs, and what recording calls adds
    SyscallStorm(syscall_storm::SyscallStormArgs),
    /// Threads that wait in a loop for the next piece of parallel work, or sleep until it is there
    Spin(spin::SpinArgs),
    /// Look names up at servers of which the first one does not answer
    Dns(dns::DnsArgs),
    /// Threads of which each waits for the next one, down to the one that sleeps
    WaitChain(wait_chain::WaitChainArgs),
    /// A process that another workload started
    #[command(hide = true)]
    Child(process_create::Child),
}

/// Runs a workload. Returns `None` if the user stopped it, or for a child process, which has no
/// report.
///
/// # Errors
/// The system refuses processes, files, or sockets.
pub fn run(args: &LabArgs, bench: &Bench<'_>) -> Result<Option<Report>> {
    // A process gets its priority at its start, so the load runs in another one, which prints its
    // report.
    if let Workload::CpuLoad(amount) = &args.workload
        && let Some(priority) = amount.priority
    {
        return priority
            .run(bench, &amount.without_priority(args.json))
            .map(|()| None);
    }
    let report = match &args.workload {
        Workload::ProcessCreate(amount) => amount.run(bench),
        Workload::CfgStart(amount) => amount.run(bench),
        Workload::DelayLoad(amount) => amount.run(bench),
        Workload::CpuLoad(amount) => amount.run(bench),
        Workload::WriteFiles(amount) => amount.run(bench),
        Workload::WriteCache(amount) => amount.run(bench),
        Workload::FileChurn(amount) => amount.run(bench),
        Workload::ColdRead(amount) => amount.run(bench),
        Workload::CopyFile(amount) => amount.run(bench),
        Workload::Leak(amount) => amount.run(bench),
        Workload::Hang(amount) => amount.run(bench),
        Workload::SyscallStorm(amount) => amount.run(bench),
        Workload::Spin(amount) => amount.run(bench),
        Workload::Dns(amount) => amount.run(bench),
        Workload::WaitChain(amount) => amount.run(bench),
        Workload::Child(child) => return child.run(bench).map(|()| None),
    };
    match report {
        // A failure after the user has stopped the workload is not an error.
        _ if (bench.is_stopped)() => Ok(None),
        report => report.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Never stops, and ignores progress.
    pub(crate) fn bench() -> Bench<'static> {
        Bench {
            program: Path::new(""),
            is_stopped: &|| false,
            progress: &|_, _| (),
        }
    }

    /// Writes a program for Windows into a folder. Returns the folder and the command that runs it,
    /// with Wine on other systems. Without Wine, returns `None` with a note.
    pub(crate) fn wine(
        test: &str,
        program: &program::Program,
    ) -> Option<(tempfile::TempDir, Command)> {
        let wine = std::env::var_os("ETWKIT_WINE").filter(|wine| !wine.is_empty());
        if wine.is_none() && !cfg!(windows) {
            etwkit_testkit::skip(&format!("{test}: ETWKIT_WINE names no program"));
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program.exe");
        std::fs::write(&path, program.bytes().unwrap()).unwrap();
        let mut command = Command::new(wine.as_deref().unwrap_or(path.as_os_str()));
        if wine.is_some() {
            command.arg(&path).env("WINEDEBUG", "-all");
        }
        Some((folder, command))
    }
}
