//! `MemoryUsage`: memory of the machine and of processes at the begin and at the end.

use etwkit_trace::table::{MemoryMachine, MemorySample};

use super::error::Result;
use super::import::Import;
use super::reader::Reader;
use super::rows::write_all;

/// Reads the section. The first sample is that of the begin, at time zero, the second one that of the end.
pub(super) fn read(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    let (mut begin, mut end) = (MemoryMachine::default(), MemoryMachine::default());
    let (mut first, mut last) = (Vec::new(), Vec::new());
    reader.object(|reader, name| {
        match name {
            "MachineCommitStartMiB" => begin.commit_bytes = mib(reader)?,
            "MachineCommitEndMiB" => end.commit_bytes = mib(reader)?,
            "MachineActiveStartMiB" => begin.in_use_bytes = mib(reader)?,
            "MachineActiveEndMiB" => end.in_use_bytes = mib(reader)?,
            // Made of the others.
            "MachineCommitDiffMiB" | "MachineActiveDiffMiB" => reader.skip()?,
            "WorkingSetsAtStart" => first = reader.all(|reader| sample(reader, import).map(Some))?,
            "WorkingSetsAtEnd" => last = reader.all(|reader| sample(reader, import).map(Some))?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    let end_ns = import.duration_ns;
    end.ts_ns = end_ns;
    last.iter_mut().for_each(|row: &mut MemorySample| row.ts_ns = end_ns);
    import.lack("memory_sample: addresses in use, and when it was sampled: begin and end of the recording stand for it", first.len() + last.len());
    write_all(first.into_iter().chain(last), import.writer)?;
    let has_any = |row: &MemoryMachine| row.commit_bytes.is_some() || row.in_use_bytes.is_some();
    if has_any(&begin) || has_any(&end) {
        import.lack("memory_machine: all but memory in use and committed memory", 2);
        write_all([begin, end], import.writer)?;
    }
    Ok(())
}

fn sample(reader: &mut Reader, import: &mut Import<'_>) -> Result<MemorySample> {
    let mut row = MemorySample::default();
    reader.object(|reader, name| {
        match name {
            "Process" => (row.process_key, row.pid) = owner(reader, import)?,
            "WorkingSetInMiB" => row.working_set_bytes = mib(reader)?.unwrap_or(0),
            "CommitInMiB" => row.commit_bytes = mib(reader)?.unwrap_or(0),
            "WorkingsetPrivateInMiB" => row.private_working_set_bytes = mib(reader)?.unwrap_or(0),
            "SharedCommitSizeInMiB" => row.shared_commit_bytes = mib(reader)?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    Ok(row)
}

/// A process and its id. Parts of the system are processes with id 1 that no list has.
fn owner(reader: &mut Reader, import: &mut Import<'_>) -> Result<(Option<i32>, i32)> {
    let missing = import.processes.missing;
    let (process, pid) = import.process_with_pid(reader)?;
    if pid == Some(1) {
        import.processes.missing = missing;
        import.drop("MemoryUsage: names of parts of the system", 1);
    }
    Ok((process, import.processes.pid(process).or(pid).unwrap_or(0)))
}

fn mib(reader: &mut Reader) -> Result<Option<i64>> {
    Ok(reader.int()?.map(|mib| mib.saturating_mul(1 << 20)))
}
