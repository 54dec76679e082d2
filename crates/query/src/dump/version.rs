//! Modules of processes and their versions; symbol files that are missing.

use super::group::{Group, grouped};
use super::sql::{PROCESS_COLUMNS, ProcessQuery, filtered, text_condition};
use super::{Result, Top, ask, check_recorded};
use crate::Session;

/// Which modules of which processes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VersionRequest {
    /// Which processes.
    pub processes: ProcessQuery,
    /// A filter on file names.
    pub dll: Option<String>,
    /// A filter on the path with everything that its version resource tells behind it.
    pub version: Option<String>,
    /// How many processes from the end of the list.
    pub top: Top,
}

rows! {
    /// A module of a process.
    pub struct ModuleRow {
        /// Process; missing for the kernel and drivers.
        process_key: Option<i64>,
        /// Process id.
        pid: Option<i64>,
        /// Name of the process.
        process: Option<String>,
        /// File name.
        module: String,
        /// Path.
        path: String,
        /// File version.
        file_version: Option<String>,
        /// Product version.
        product_version: Option<String>,
        /// Product.
        product_name: Option<String>,
        /// Company.
        company: Option<String>,
        /// Description.
        description: Option<String>,
        /// Size in memory.
        size_bytes: i64,
        /// Modules of the process, whether they pass the filters or not.
        all_modules: i64,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Its terminal session.
        session_id: Option<i64>,
        /// Its command line.
        command_line: Option<String>,
    }
    /// A symbol file that was not found for a module with CPU samples.
    pub struct MissingPdb {
        /// File name of the symbol file.
        pdb: String,
        /// Age.
        pdb_age: Option<i64>,
        /// Identity.
        pdb_guid: Option<String>,
        /// File name of the module.
        module: String,
        /// Highest sampled CPU of one address of it without a name in one process.
        cpu_ns: i64,
        /// Symbol files of all modules.
        all_pdbs: i64,
    }
}

impl VersionRequest {
    /// The question.
    #[must_use]
    pub fn sql(&self) -> String {
        let mut conditions = self.processes.conditions();
        conditions.extend(text_condition("m.name", self.dll.as_deref()));
        let text = "concat_ws(' ', m.path, m.file_version, m.product_version, m.product_name, m.company, m.description)";
        conditions.extend(text_condition(text, self.version.as_deref()));
        format!(
            "SELECT m.process_key, {PROCESS_COLUMNS}, m.name AS module, m.path, m.file_version, m.product_version, m.product_name,
  m.company, m.description, m.size AS size_bytes, m.all_modules
FROM (SELECT *, count(*) OVER (PARTITION BY process_key) AS all_modules FROM module) m
LEFT JOIN process p ON p.process_key = m.process_key{}
ORDER BY lower(p.name) NULLS FIRST, p.pid, m.process_key, lower(m.name), m.path, m.load_ns",
            filtered(&conditions)
        )
    }

    /// Modules by process; the sum of a group is the number of all modules of the process.
    ///
    /// # Errors
    /// There are no modules; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<Group<ModuleRow, i64>>> {
        check(session)?;
        let all = |rows: &[ModuleRow]| rows.first().map_or(0, |row| row.all_modules);
        let mut groups =
            grouped(ask(session, &self.sql())?, |row: &ModuleRow| row.process_key, Top::default(), all);
        self.top.cut(&mut groups);
        Ok(groups)
    }
}

/// The question which symbol files are missing, for those whose file names pass the filter.
#[must_use]
pub fn missing_pdbs_sql(filter: Option<&str>) -> String {
    let pdb = "regexp_replace(m.pdb_name, '^.*[\\\\/]', '')";
    let mut conditions = vec!["m.pdb_name IS NOT NULL".to_owned()];
    conditions.extend(text_condition(pdb, filter));
    format!(
        "SELECT {pdb} AS pdb, m.pdb_age, m.pdb_guid, min(m.name) AS module, max(c.cpu_ns) AS cpu_ns,
  max((SELECT count(DISTINCT concat(pdb_guid, pdb_age)) FROM module WHERE pdb_name IS NOT NULL)) AS all_pdbs
FROM module m
JOIN (
  SELECT module_path, max(cpu_ns) AS cpu_ns FROM cpu_method
  WHERE starts_with(method, '+') AND cpu_ns > 0 GROUP BY module_path
) c ON c.module_path = m.path{}
GROUP BY {pdb}, m.pdb_age, m.pdb_guid
ORDER BY cpu_ns, pdb",
        filtered(&conditions)
    )
}

/// Symbol files that are missing.
#[derive(Debug, Clone, PartialEq)]
pub struct MissingPdbs {
    /// Those of code with CPU samples, those with most CPU last.
    pub rows: Vec<MissingPdb>,
    /// Symbol files of all modules, as far as they are known.
    pub all_pdbs: i64,
    /// Whether the extract was imported: such a one knows only symbol files that were not found.
    pub is_imported: bool,
}

/// Symbol files that are missing.
///
/// # Errors
/// There are no modules; the query fails.
pub fn missing_pdbs(session: &Session, filter: Option<&str>) -> Result<MissingPdbs> {
    check(session)?;
    let rows: Vec<MissingPdb> = ask(session, &missing_pdbs_sql(filter))?;
    let all_pdbs = match rows.first() {
        Some(row) => row.all_pdbs,
        None => {
            let all = "SELECT count(DISTINCT concat(pdb_guid, pdb_age)) AS rows
FROM module WHERE pdb_name IS NOT NULL";
            let counts: Vec<super::Count> = ask(session, all)?;
            counts.first().map_or(0, |count| count.rows)
        }
    };
    Ok(MissingPdbs { rows, all_pdbs, is_imported: session.is_imported() })
}

fn check(session: &Session) -> Result<()> {
    check_recorded(
        session,
        "module",
        "modules",
        "record with the kernel keyword LOADER, which every profile of wpr has",
    )
}
