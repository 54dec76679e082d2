//! Queries of an overview, and the conversion of rows of other questions to its own.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::rows::{
    Answering, FileShare, IdleCpu, MethodShare, ModuleShare, ProcessShare, ProviderEvents,
    Recording,
};
use super::sql::{COUNTS, NOTES, PROVIDERS, TOPICS};
use super::{Contents, Overview, OverviewRequest, OverviewTable};
use crate::cpu::{CpuAnswer, CpuRow};
use crate::disk::DiskRow;
use crate::method::MethodRow;
use etwkit_question::covered::{Covered, Recorder};
use etwkit_question::{Error, Result, ask};
use etwkit_sql::Session;

impl Contents {
    pub(super) fn ask(session: &Session, top: usize) -> Result<Self> {
        let mut providers: Vec<ProviderEvents> = ask(session, PROVIDERS)?;
        let provider_count = providers.len();
        // All of them are read, since their number is shown as well.
        providers.truncate(top);
        providers.reverse();
        Ok(Self {
            topics: ask(session, TOPICS)?,
            counts: ask(session, COUNTS)?,
            providers,
            provider_count,
        })
    }
}

impl Overview {
    /// Queries a session with one extract.
    ///
    /// # Errors
    /// A range is requested, and the extract has only sums; a query fails.
    pub fn ask(session: &Session, asked: &OverviewRequest) -> Result<Self> {
        let top = asked.most();
        let is_part = !asked.time.is_unlimited();
        let cpu = answered(asked.processes().process_answer(session), is_part)?;
        let cpu = cpu.unwrap_or_else(|| CpuAnswer::new(Vec::new()));
        let files = answered(asked.files().ask(session), is_part)?
            .map_or_else(Vec::new, |disk| disk.groups);
        let files = files.into_iter().flat_map(|group| group.rows).collect();
        let recording = asked.sql(OverviewTable::Recording);
        let recording: Recording = ask(session, &recording)?
            .into_iter()
            .next()
            .unwrap_or_default();
        // The same part as of `dump cpu --over-time`, for all processors.
        let covered = Covered::new(Recorder::Kernel, asked.time).length_ns(session)?;
        let machine_ns = covered as f64 * recording.processors.max(1) as f64;
        let process = |row| ProcessShare::of(row, machine_ns);
        let (modules, methods) = Self::code(session, asked)?;
        let idle: Vec<IdleCpu> = ask(session, &asked.idle_sql())?;
        Ok(Self {
            contents: if recording.has_cpu() {
                None
            } else {
                Some(Contents::ask(session, top)?)
            },
            recording,
            cpu: (cpu.total.cpu_ns, percent(cpu.total.cpu_ns, machine_ns)),
            idle_ns: idle.first().map_or(0, |idle| idle.cpu_ns),
            processes: largest(cpu.rows, top, |row| row.cpu_ns)
                .into_iter()
                .map(process)
                .collect(),
            modules,
            methods,
            files: largest(files, top, |row: &DiskRow| row.total_service_ns)
                .into_iter()
                .map(FileShare::from)
                .collect(),
            notes: ask(session, NOTES)?,
            dumps: ask::<Answering>(session, &asked.sql(OverviewTable::Next))?
                .into_iter()
                .map(|answering| answering.dump)
                .collect(),
        })
    }

    /// Returns the modules and methods with most CPU of their own.
    fn code(
        session: &Session,
        asked: &OverviewRequest,
    ) -> Result<(Vec<ModuleShare>, Vec<MethodShare>)> {
        let top = asked.most();
        let Some(methods) = asked.methods() else {
            let mut modules: Vec<ModuleShare> = ask(session, &asked.sql(OverviewTable::Modules))?;
            let mut methods: Vec<MethodShare> = ask(session, &asked.sql(OverviewTable::Methods))?;
            // The SQL sorts descending, so that LIMIT keeps the largest; lists are ascending.
            modules.reverse();
            methods.reverse();
            return Ok((modules, methods));
        };
        let Some(answer) = answered(methods.method_answer(session), true)? else {
            return Ok(Default::default());
        };
        let rows = answer.processes.into_iter().flat_map(|group| group.rows);
        // Both lists are by CPU of their own: methods that only call others would be rows of 0.
        let rows: Vec<MethodRow> = rows
            .filter(|row| row.exclusive_ns.is_some_and(|ns| ns > 0))
            .collect();
        let mut modules: BTreeMap<(&str, String), ModuleShare> = BTreeMap::new();
        for row in &rows {
            // Windows ignores the case of paths.
            let path = row.module_path.as_ref().or(row.module.as_ref());
            let key = (
                kind(row),
                path.map_or_else(String::new, |path| path.to_lowercase()),
            );
            let share = modules.entry(key).or_insert_with(|| ModuleShare {
                kind: kind(row).to_owned(),
                module: row.module.clone(),
                module_path: row.module_path.clone(),
                exclusive_ns: 0,
            });
            share.exclusive_ns = share.exclusive_ns.saturating_add(exclusive_ns(row));
        }
        let modules: Vec<ModuleShare> = modules.into_values().collect();
        let methods: Vec<MethodShare> = rows.into_iter().map(MethodShare::from).collect();
        let modules = largest(modules, top, |row| row.exclusive_ns);
        let methods = largest(methods, top, |row| row.exclusive_ns);
        Ok((modules, methods))
    }
}

/// Returns the kind of code of a method. Only code that .NET compiled at run time has a name
/// without a file.
fn kind(row: &MethodRow) -> &'static str {
    match &row.module {
        Some(_) => "module",
        None if row.method.starts_with('+') || row.method.starts_with("0x") => "unknown",
        None => "dotnet",
    }
}

/// Returns the time of a method alone. One that only calls others has none.
fn exclusive_ns(row: &MethodRow) -> i64 {
    row.exclusive_ns.unwrap_or(0)
}

impl ProcessShare {
    fn of(row: CpuRow, machine_ns: f64) -> Self {
        Self {
            process_key: row.process_key,
            pid: row.pid,
            process: row.process,
            cpu_ns: row.cpu_ns,
            machine_percent: percent(row.cpu_ns, machine_ns),
            wait_ns: row.wait_ns,
            ready_ns: row.ready_ns,
            switches: row.switches,
        }
    }
}

impl From<MethodRow> for MethodShare {
    fn from(row: MethodRow) -> Self {
        Self {
            exclusive_ns: exclusive_ns(&row),
            process: row.process,
            pid: row.pid,
            module: row.module,
            method: row.method,
            cpu_ns: row.cpu_ns,
            wait_ns: row.wait_ns,
        }
    }
}

impl From<DiskRow> for FileShare {
    fn from(row: DiskRow) -> Self {
        let counts = [row.reads, row.writes, row.flushes];
        let operations = counts
            .into_iter()
            .try_fold(0i64, |sum, count| Some(sum.saturating_add(count?)));
        Self {
            path: row.path,
            service_ns: row.total_service_ns,
            operations,
            read_bytes: row.read_bytes,
            write_bytes: row.write_bytes,
        }
    }
}

/// Returns the share of the time of all processors; `None` if there is no time, as in damaged
/// numbers.
fn percent(ns: i64, machine_ns: f64) -> Option<f64> {
    (machine_ns > 0.0).then(|| ns as f64 * 100.0 / machine_ns)
}

/// Returns the answer, or `None` if the trace has no such data. An extract that cannot answer for
/// ranges of a trace is an error.
fn answered<A>(answer: Result<A>, is_part: bool) -> Result<Option<A>> {
    match answer {
        Err(error @ Error::NeedsRows { .. }) if is_part => Err(error),
        Err(error) if error.is_nothing() => Ok(None),
        answer => answer.map(Some),
    }
}

/// Returns the largest rows of a list, ascending; among rows of equal size the first ones count as
/// the largest.
fn largest<R>(mut rows: Vec<R>, top: usize, size: impl Fn(&R) -> i64) -> Vec<R> {
    rows.sort_by_key(|row| Reverse(size(row)));
    rows.truncate(top);
    rows.reverse();
    rows
}
