//! `PMC`: performance counters of processes, and branches between methods.

use std::sync::Arc;

use etwkit_trace::table::{LbrMethod, PmcCounter, PmcThread};

use crate::json7z::error::Result;
use crate::json7z::import::Import;
use crate::json7z::reader::Reader;
use crate::json7z::rows::write_all;
use crate::json7z::stacks::JsonMethod;

/// Reads the section.
pub(crate) fn read(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    let mut counters = Vec::new();
    let mut values = Vec::new();
    reader.object(|reader, name| {
        match name {
            "Counters" => {
                _ = reader.list(|reader| counter(reader, import, &mut counters, &mut values))?;
            }
            "LBRData" => branches(reader, import)?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    values.sort_by_key(|row: &PmcThread| row.process_key);
    import.lack(
        "pmc_thread: threads, scheduling slices and their time",
        values.len(),
    );
    write_all(counters, import.sink)?;
    write_all(values, import.sink)
}

fn counter(
    reader: &mut Reader,
    import: &mut Import<'_>,
    counters: &mut Vec<PmcCounter>,
    values: &mut Vec<PmcThread>,
) -> Result<()> {
    let mut counter = String::new();
    let begin = values.len();
    reader.object(|reader, name| {
        match name {
            "CounterName" => counter = reader.given(Reader::text)?,
            "ProcessMap" => {
                reader.object(|reader, index| {
                    let process_key = import.process_name(reader, index)?;
                    let value = reader.given(Reader::int)?;
                    // The file has values of whole processes only. One thread without an ID holds
                    // them.
                    let thread_key = import.threads.key(process_key, NO_THREAD);
                    values.push(PmcThread {
                        process_key,
                        thread_key,
                        kind: "counted",
                        value,
                        ..PmcThread::default()
                    });
                    Ok(())
                })?;
            }
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    values
        .iter_mut()
        .skip(begin)
        .for_each(|row| row.counter.clone_from(&counter));
    counters.push(PmcCounter {
        position: Some(counters.len() as i32),
        name: counter,
        ..PmcCounter::default()
    });
    Ok(())
}

/// ID of the thread that holds the values of a whole process.
// Windows gives no thread this ID, so it cannot collide with one that another section names.
const NO_THREAD: i64 = -1;

/// Reads the names of methods, and branches as `caller callee process count`, where methods are
/// numbers.
fn branches(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    let mut methods = Vec::new();
    let mut costs = Vec::new();
    reader.object(|reader, name| {
        match name {
            "Methods" => methods = reader.texts()?,
            "Costs" => costs = reader.all(|reader| cost(reader).map(Some))?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    let mut rows = Vec::new();
    for [caller, callee, process, count] in costs {
        let name = |number: i64| {
            usize::try_from(number)
                .ok()
                .and_then(|number| methods.get(number))
        };
        let (Some(caller), Some(callee)) = (name(caller), name(callee)) else {
            import.drop(
                "PMC.LBRData: branches of methods that are not in the list",
                1,
            );
            continue;
        };
        let caller = JsonMethod::parse(caller);
        let callee = JsonMethod::parse(callee);
        rows.push(LbrMethod {
            process_key: import.processes.at(process),
            caller_module: caller.module.map(Arc::from),
            caller: caller.method.to_owned(),
            callee_module: callee.module.map(Arc::from),
            callee: callee.method.to_owned(),
            count,
        });
    }
    rows.sort_by_key(|row| row.process_key);
    write_all(rows, import.sink)
}

fn cost(reader: &mut Reader) -> Result<[i64; 4]> {
    let expected = "a branch as \"0 1 2 3\"";
    let text = reader.text_of(expected)?;
    let numbers: Option<Vec<i64>> = text.split(' ').map(|part| part.parse().ok()).collect();
    let four = numbers.and_then(|numbers| <[i64; 4]>::try_from(numbers).ok());
    four.ok_or_else(|| reader.unexpected(expected, format!("the text {text:?}")))
}
