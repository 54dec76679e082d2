//! `MemoryUsage`: memory of the machine and of processes at the start and at the end.

use etwkit_trace::table::{MemoryMachine, MemorySample};

use crate::json7z::error::Result;
use crate::json7z::import::Import;
use crate::json7z::reader::Reader;
use crate::json7z::rows::write_all;

/// Reads the section. The first sample is taken at the start, at time zero, the second one at the
/// end.
pub(crate) fn read(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    let mut begin = MemoryMachine::default();
    let mut end = MemoryMachine::default();
    let mut first = Vec::new();
    let mut last = Vec::new();
    reader.object(|reader, name| {
        match name {
            "MachineCommitStartMiB" => begin.commit_bytes = mib(reader)?,
            "MachineCommitEndMiB" => end.commit_bytes = mib(reader)?,
            "MachineActiveStartMiB" => begin.in_use_bytes = mib(reader)?,
            "MachineActiveEndMiB" => end.in_use_bytes = mib(reader)?,
            // Differences of the members above.
            "MachineCommitDiffMiB" | "MachineActiveDiffMiB" => reader.skip()?,
            "WorkingSetsAtStart" => {
                first = reader.all(|reader| sample(reader, import))?;
            }
            "WorkingSetsAtEnd" => last = reader.all(|reader| sample(reader, import))?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    let end_ns = import.duration_ns;
    end.ts_ns = end_ns;
    last.iter_mut()
        .for_each(|row: &mut MemorySample| row.ts_ns = end_ns);
    let lacking = "memory_sample: addresses in use, and when it was sampled: start and end of the recording \
                   stand for it";
    import.lack(lacking, first.len() + last.len());
    write_all(first.into_iter().chain(last), import.sink)?;
    let has_any = |row: &MemoryMachine| row.commit_bytes.is_some() || row.in_use_bytes.is_some();
    if has_any(&begin) || has_any(&end) {
        import.lack(
            "memory_machine: all but memory in use and committed memory",
            2,
        );
        write_all([begin, end], import.sink)?;
    }
    Ok(())
}

/// The memory of a process; `None` if it does not say of which.
fn sample(reader: &mut Reader, import: &mut Import<'_>) -> Result<Option<MemorySample>> {
    let mut row = MemorySample::default();
    let mut pid = None;
    reader.object(|reader, name| {
        match name {
            "Process" => pid = owner(reader, import, &mut row)?,
            "WorkingSetInMiB" => row.working_set_bytes = reader.given(mib)?,
            "CommitInMiB" => row.commit_bytes = reader.given(mib)?,
            "WorkingsetPrivateInMiB" => row.private_working_set_bytes = reader.given(mib)?,
            "SharedCommitSizeInMiB" => row.shared_commit_bytes = mib(reader)?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    if pid.is_none() {
        import.drop("MemoryUsage: memory of a process without an ID", 1);
    }
    Ok(pid.map(|pid| MemorySample { pid, ..row }))
}

/// The process ID that parts of the system have here. No list of processes contains it.
const PART: i32 = 1;

/// Sets the process or the part of the system. Returns the process ID.
fn owner(
    reader: &mut Reader,
    import: &mut Import<'_>,
    row: &mut MemorySample,
) -> Result<Option<i32>> {
    // Parts of the system look like processes with an ID of their own, which no list has. They must
    // not be reported as processes that are missing in the list.
    let missing = import.processes.missing;
    let named = import.named_process(reader)?;
    row.process_key = named.key;
    if named.key.is_none() && named.pid == Some(PART) {
        import.processes.missing = missing;
        row.part = named.name;
    }
    Ok(import.processes.pid(named.key).or(named.pid))
}

fn mib(reader: &mut Reader) -> Result<Option<i64>> {
    Ok(reader.int()?.map(|mib| mib.saturating_mul(1 << 20)))
}
