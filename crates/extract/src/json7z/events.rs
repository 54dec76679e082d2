//! Sections with single events: marks, exceptions, thread pools that starved.

use std::cmp::Ordering;

use etwkit_trace::table::{Exception, Mark, SystemConfigItem, ThreadPool};

use crate::json7z::error::Result;
use crate::json7z::import::Import;
use crate::json7z::reader::Reader;
use crate::json7z::rows::write_all;

/// Number of the reason "starvation" of a change of a thread pool.
const STARVATION: i32 = 6;

/// Name of the fact that holds the number of recorded thread pool events.
const THREAD_POOL_EVENTS: &str = "thread_pool_event_count";

/// `ETWMarks`.
pub(crate) fn marks(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    let mut rows = Vec::new();
    reader.list(|reader| {
        let mut row = Mark::default();
        let mut ts_ns = None;
        reader.object(|reader, name| {
            match name {
                // A date, or seconds since the start.
                "Time" => {
                    ts_ns = if reader.is_text()? {
                        import.time(reader)?
                    } else {
                        reader.seconds()?
                    };
                }
                "MarkMessage" => row.text = reader.given(Reader::text)?,
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        match ts_ns {
            Some(ts_ns) => rows.push(Mark { ts_ns, ..row }),
            None => import.drop("ETWMarks: marks without a time", 1),
        }
        Ok(())
    })?;
    rows.sort_by_key(|row| row.ts_ns);
    import.lack("mark: processor, process and thread", rows.len());
    write_all(rows, import.sink)
}

/// `Exceptions`: stack → messages → lists of processes, threads and times.
pub(crate) fn exceptions(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    let mut rows = Vec::new();
    reader.object(|reader, name| match name {
        "Stacks" => {
            reader.object(|reader, name| match name {
                "Stack2Messages" => {
                    reader.object(|reader, stack| {
                        reader.list(|reader| message(reader, import, stack, &mut rows))?;
                        Ok(())
                    })?;
                    Ok(())
                }
                _ => reader.unknown(),
            })?;
            Ok(())
        }
        // The exceptions of `Stacks` repeated in another form.
        "Exceptions" => reader.skip(),
        _ => reader.unknown(),
    })?;
    rows.sort_by(|a: &Exception, b| a.ts_ns.cmp(&b.ts_ns).then(Ordering::Equal));
    import.lack("exception: hresult, flags", rows.len());
    write_all(rows, import.sink)
}

/// All exceptions with one message and stack.
fn message(
    reader: &mut Reader,
    import: &mut Import<'_>,
    stack: &str,
    rows: &mut Vec<Exception>,
) -> Result<()> {
    let mut text = String::new();
    let mut exception_type = String::new();
    let mut processes = Vec::new();
    let mut tids = Vec::new();
    let mut times = Vec::new();
    reader.object(|reader, name| {
        match name {
            // An exception may be thrown without a message.
            "Message" => text = reader.text()?.unwrap_or_default(),
            "Type" => exception_type = reader.given(Reader::text)?,
            "Processes" => {
                processes = reader.all(|reader| import.process_index(reader).map(Some))?;
            }
            "Threads" => tids = reader.all(Reader::bits)?,
            "Times" => times = reader.all(|reader| import.time(reader))?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    if processes.len() != times.len() || tids.len() != times.len() {
        let found = format!("{}, {} and {}", processes.len(), tids.len(), times.len());
        return Err(reader.unexpected("as many processes as threads and times", found));
    }
    for ((process_key, tid), ts_ns) in processes.into_iter().zip(tids).zip(times) {
        rows.push(Exception {
            ts_ns,
            process_key,
            thread_key: Some(import.threads.key(process_key, tid)),
            exception_type: exception_type.clone(),
            message: text.clone(),
            hresult: None,
            flags: 0,
            stack_id: import.stacks.add(stack, process_key),
        });
    }
    Ok(())
}

/// `ThreadPool`: process → when its thread pool starved.
pub(crate) fn thread_pools(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    let mut rows = Vec::new();
    reader.object(|reader, name| {
        match name {
            "PerProcessThreadPoolStarvations" => {
                reader.object(|reader, process| {
                    let process_key = import.process_text(reader, process)?;
                    reader.list(|reader| {
                        match starvation(reader, import)? {
                            Some(row) => rows.push(ThreadPool { process_key, ..row }),
                            None => import.drop("ThreadPool: starvations without a time", 1),
                        }
                        Ok(())
                    })?;
                    Ok(())
                })?;
            }
            "ThreadPoolEventCount" => {
                let count = reader.int()?;
                import.found(".NET", count.is_some_and(|count| count > 0));
                import.facts.extend(count.map(|count| SystemConfigItem {
                    topic: "etwanalyzer".to_owned(),
                    item: 0,
                    name: THREAD_POOL_EVENTS.to_owned(),
                    value: Some(count.to_string()),
                }));
            }
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    rows.sort_by_key(|row| row.ts_ns);
    import.lack(
        "thread_pool: threads, throughput, and changes for other reasons than starvation",
        rows.len(),
    );
    write_all(rows, import.sink)
}

/// A change of a thread pool that starved; `None` if its time is missing.
fn starvation(reader: &mut Reader, import: &Import<'_>) -> Result<Option<ThreadPool>> {
    let mut row = ThreadPool {
        kind: "adjustment",
        reason: Some(STARVATION),
        ..ThreadPool::default()
    };
    let mut date = None;
    let mut seconds = None;
    reader.object(|reader, name| {
        match name {
            "NewWorkerThreadCount" => row.worker_threads = reader.int32()?,
            "DateTime" => date = import.time(reader)?,
            "TotalSeconds" => seconds = reader.seconds()?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    // The seconds come from the recorder; the date was computed from them.
    Ok(seconds.or(date).map(|ts_ns| ThreadPool { ts_ns, ..row }))
}
