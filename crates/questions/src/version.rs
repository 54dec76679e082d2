//! Modules of processes and their versions; symbol files that are missing.

use chrono::NaiveDate;
use etwkit_question::Count;
use etwkit_question::declare;

use etwkit_question::Format::{Id, Milliseconds, ProcessLine, Whole, Word};
use etwkit_question::group::Top;
use etwkit_question::group::{Group, grouped};
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS, ProcessQuery};
use etwkit_question::{
    Among, Answer, Column, Example, Form, Line, Question, Ranked, Shows, Value, View, group, option,
};
use etwkit_question::{Error, Recorded, Result, ask};
use etwkit_sql::Session;

const NAMES: Among = Among::Texts("module", "modules", "SELECT name AS text FROM module");

declare! {
    /// Options of `dump version`.
    #[derive(Eq)]
    pub request VersionRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of processes from the end of the list
        top: Top = group(),
        /// Only modules with these file names (*, ?, several with ;, ! excludes)
        dll: Option<String> = option("NAMES").of(NAMES),
        /// Only modules where path, versions, product, company and description, joined, match
        version: Option<String> = option("TEXT"),
        /// Only modules that are in no recorded stack: loaded, and never seen to run
        in_no_stack: bool = option("").called("in-no-stack"),
        /// Symbol files that are missing for code with CPU samples instead; only those with these
        /// names
        missing_pdb: Option<String> =
            option("NAMES").called("missing-pdb").alone("*").apart().excludes(&["dll", "version"]),
        /// Parts of the product and their versions instead, by the modules that mark them; only
        /// parts with these names. Only extracts of ETWAnalyzer have them
        marked: Option<String> =
            option("NAMES").alone("*").apart().excludes(&["dll", "version", "missing-pdb"]),
        /// Sums: none, or total without modules
        show_total: Option<String> = option("WHAT").called("show-total").among(&["none", "total"]).output(),
    }

    /// A module of a process.
    pub row ModuleRow: process {
        ..process = "Process; missing for the kernel and drivers.",
        module: String = "File name.",
        path: String = "Path.",
        file_version: Option<String> = "File version.",
        product_version: Option<String> = "Product version.",
        product_name: Option<String> = "Product.",
        company: Option<String> = "Company.",
        description: Option<String> = "Description.",
        size_bytes: i64 = "Size in memory.",
        all_modules: i64 = "Modules of the process, whether they pass the filters or not.",
        ..process_details,
    }
    /// A part of the product, with the module that marks it.
    pub row MarkedPart {
        part: String = "Name of the part.",
        part_version: Option<String> = "Version of the module that marks it.",
        marker: Option<String> = "Module that marks it.",
        built: Option<String> = "Day of the build, which the version says: its third number is year and month, its fourth starts with the day.",
        main_version: Option<String> = "Version of the part that was built last, which stands for the product.",
        days_before_main: Option<i64> = "Days from the build of this part to the build of that one.",
    }
    /// A symbol file that was not found for a module with CPU samples.
    pub row MissingPdb {
        pdb: String = "File name of the symbol file.",
        pdb_age: Option<i64> = "Age of the symbol file.",
        pdb_guid: Option<String> = "GUID of the symbol file.",
        module: String = "File name of the module.",
        cpu_ns: i64 = "Highest sampled CPU of one address of it without a name in one process.",
        all_pdbs: i64 = "Symbol files of all modules.",
    }
}

type ModuleColumn = Column<VersionRequest, ModuleRow>;

const MODULES: View<VersionRequest, ModuleRow> = View::new(
    &[
        ModuleColumn::new("Module", "Module", Word, |_, row| row.module.clone().into()),
        ModuleColumn::new("FileVersion", "File version", Word, |_, row| {
            row.file_version.clone().into()
        }),
        ModuleColumn::new("ProductVersion", "Product version", Word, |_, row| {
            row.product_version.clone().into()
        }),
        ModuleColumn::new("ProductName", "Product", Word, |_, row| {
            row.product_name.clone().into()
        }),
        ModuleColumn::new("Company", "Company", Word, |_, row| {
            row.company.clone().into()
        })
        .hidden(),
        ModuleColumn::new("Description", "Description", Word, |_, row| {
            row.description.clone().into()
        })
        .hidden(),
        ModuleColumn::new("Path", "Path", Word, |_, row| row.path.clone().into()),
        ModuleColumn::new("Process", "Process", ProcessLine, |_, row| owner(row))
            .shown_when_merged(|_| true),
    ],
    // Modules are by process, and these by name.
    |_| 0.0,
)
.ranking(|_| Ranked::No)
.with_headings(|asked, rows| {
    let row = rows.first()?;
    let line = Line::new("  ").value(ProcessLine, owner(row));
    if asked.show_total.as_deref() == Some("none") {
        return Some(line);
    }
    let line = line
        .words("  [")
        .value(Id, rows.len() as i64)
        .words(" of ")
        .value(Id, row.all_modules)
        .noun(&row.all_modules.into(), ["module", "modules"]);
    Some(line.words("]"))
});

/// Returns the process that mapped a module.
fn owner(row: &ModuleRow) -> Value {
    if row.process_key.is_none() {
        "kernel and drivers".into()
    } else {
        row.into()
    }
}

type MissingPdbColumn = Column<VersionRequest, MissingPdb>;

const MISSING: View<VersionRequest, MissingPdb> = View::new(
    &[
        MissingPdbColumn::new("Cpu", "CPU ms up to", Milliseconds, |_, row| {
            row.cpu_ns.into()
        })
        .worst(),
        MissingPdbColumn::new("Pdb", "Symbol file", Word, |_, row| row.pdb.clone().into()),
        MissingPdbColumn::new("Age", "Age", Whole, |_, row| row.pdb_age.into()),
        MissingPdbColumn::new("Id", "Id", Word, |_, row| row.pdb_guid.clone().into()),
        MissingPdbColumn::new("Module", "Module", Word, |_, row| row.module.clone().into()),
    ],
    |row| row.cpu_ns as f64,
);

type MarkedPartColumn = Column<VersionRequest, MarkedPart>;

const MARKED: View<VersionRequest, MarkedPart> = View::new(
    &[
        MarkedPartColumn::new("Part", "Part", Word, |_, row| row.part.clone().into()),
        MarkedPartColumn::new("Version", "Version", Word, |_, row| {
            row.part_version.clone().into()
        }),
        MarkedPartColumn::new("Built", "Built", Word, |_, row| row.built.clone().into()).or("?"),
        MarkedPartColumn::new("DaysBeforeMain", "Days before main", Whole, |_, row| {
            row.days_before_main.into()
        }),
        MarkedPartColumn::new("Marker", "Module", Word, |_, row| row.marker.clone().into()),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No);

impl Question for VersionRequest {
    const NAME: &'static str = "version";
    const SENTENCE: &'static str = "Modules and their versions, and missing symbol files";
    const USUAL: &'static [&'static str] = &["dll", "version", "in-no-stack", "missing-pdb"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "modules with their versions",
        },
        Example {
            words: "--dll \"*.sys\" slow.etl",
            answer: "drivers with their companies",
        },
        Example {
            words: "--in-no-stack --process devenv slow.etl",
            answer: "modules that Visual Studio loads and was not seen to run",
        },
        Example {
            words: "--missing-pdb \"*\" slow.etl",
            answer: "modules without a symbol file",
        },
    ];

    fn form(&self) -> Form<Self> {
        if let Some(filter) = &self.missing_pdb {
            let answer = |asked: &Self, session: &Session| {
                let found = missing_pdbs(session, asked.missing_pdb.as_deref())?;
                let foot = found.sentence();
                Ok(Answer::rows(asked, &MISSING, found.rows).with_foot([foot]))
            };
            return Form::made::<MissingPdb>(missing_pdbs_sql(Some(filter)), answer)
                .shows(&MISSING);
        }
        if self.marked.is_some() {
            let answer = |asked: &Self, session: &Session| {
                let rows = asked.ask_marked(session)?;
                let main = rows.first().and_then(|row| row.main_version.clone());
                let foot = main.map(|version| Line::new(format!("Main version: {version}")));
                Ok(Answer::rows(asked, &MARKED, rows).with_foot(foot))
            };
            return Form::made::<MarkedPart>(self.marked_sql(), answer).shows(&MARKED);
        }
        // `top` counts processes, not rows.
        Form::made::<ModuleRow>(self.sql(), |asked: &Self, session| {
            let groups = asked
                .ask(session)?
                .into_iter()
                .map(|group| group.rows)
                .collect();
            let shows = if asked.show_total.as_deref() == Some("total") {
                Shows::Headings
            } else {
                Shows::Rows
            };
            Ok(Answer::groups(asked, &MODULES, groups).showing(shows))
        })
        .shows(&MODULES)
    }
}

const FRAME: Recorded = Recorded::rows(
    "frame",
    "stacks",
    "record stacks, for example `wpr -start CPU`: of samples, and of context switches",
);

impl VersionRequest {
    /// Returns the SQL of the question.
    #[must_use]
    pub fn sql(&self) -> String {
        let text = "concat_ws(' ', m.path, m.file_version, m.product_version, m.product_name, m.company, m.description)";
        let is_unseen =
            "m.module_id NOT IN (SELECT module_id FROM frame WHERE module_id IS NOT NULL)";
        let conditions = self
            .processes
            .conditions()
            .text("m.name", self.dll.as_deref())
            .text(text, self.version.as_deref())
            .when(self.in_no_stack, is_unseen);
        // All modules of a process are counted before the filters leave some of them out.
        format!(
            "SELECT m.process_key, {PROCESS_COLUMNS}, m.name AS module, m.path, m.file_version, m.product_version, m.product_name,
  m.company, m.description, m.size AS size_bytes, m.all_modules
FROM (SELECT *, count(*) OVER (PARTITION BY process_key) AS all_modules FROM module) m
LEFT JOIN process p ON p.process_key = m.process_key{conditions}
ORDER BY lower(p.name) NULLS FIRST, p.pid, m.process_key, lower(m.name), m.path, m.load_ns"
        )
    }

    /// Returns modules by process; the sum of a group is the number of all modules of the process.
    ///
    /// # Errors
    /// There are no modules; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<Group<ModuleRow, i64>>> {
        MODULE.check(session, true)?;
        if self.in_no_stack {
            // Without stacks no module would be in one.
            FRAME.check(session, true)?;
        }
        let all = |rows: &[ModuleRow]| rows.first().map_or(0, |row| row.all_modules);
        let mut groups = grouped(
            ask(session, &self.sql())?,
            |row: &ModuleRow| row.process_key,
            Top::default(),
            all,
        );
        self.top.cut(&mut groups);
        Ok(groups)
    }
}

impl VersionRequest {
    /// Returns the SQL for parts of the product.
    #[must_use]
    pub fn marked_sql(&self) -> String {
        let conditions = Conditions::of("part IS NOT NULL").text("part", self.marked.as_deref());
        // What the versions say of the builds is not SQL: a version can name a day that no
        // calendar has.
        format!(
            "SELECT part, part_version, marker, CAST(NULL AS VARCHAR) AS built,
  (SELECT max(value) FROM system_config WHERE topic = 'main_module_version' AND name = 'version') AS main_version,
  CAST(NULL AS BIGINT) AS days_before_main
FROM (
  SELECT item, max(value) FILTER (WHERE name = 'module') AS part,
    max(value) FILTER (WHERE name = 'version') AS part_version,
    max(value) FILTER (WHERE name = 'module_file') AS marker
  FROM system_config WHERE topic = 'module_version' GROUP BY item
){conditions}
ORDER BY item"
        )
    }

    /// Returns parts of the product in the order of the extract.
    ///
    /// # Errors
    /// The extract names none; the query fails.
    pub fn ask_marked(&self, session: &Session) -> Result<Vec<MarkedPart>> {
        let all = "SELECT count(*) AS rows FROM system_config WHERE topic = 'module_version'";
        let counts: Vec<Count> = ask(session, all)?;
        if counts.iter().all(|count| count.rows == 0) {
            let error = Error::NotRecorded {
                what: "versions of parts of a product",
                how: "only extracts of ETWAnalyzer have them; `etwkit dump version --dll NAMES` lists the versions of modules",
                tables: Vec::new(),
            };
            return Err(error);
        }
        let mut rows: Vec<MarkedPart> = ask(session, &self.marked_sql())?;
        for row in &mut rows {
            let built = row.part_version.as_deref().and_then(built_on);
            let main = row.main_version.as_deref().and_then(built_on);
            row.built = built.map(|day| day.to_string());
            let days = |(main, built): (NaiveDate, NaiveDate)| {
                main.signed_duration_since(built).num_days()
            };
            row.days_before_main = main.zip(built).map(days);
        }
        Ok(rows)
    }
}

/// Returns the day of the build that a version says: `1.2.2405.0103` is the third build of
/// 1 May 2024. Other versions say none.
fn built_on(version: &str) -> Option<NaiveDate> {
    let mut numbers = version.split('.').skip(2).map(str::parse::<u32>);
    let month = numbers.next()?.ok()?;
    let build = numbers.next()?.ok()?;
    let year = i32::try_from(2000 + month / 100).ok()?;
    NaiveDate::from_ymd_opt(year, month % 100, build / 100)
}

/// Returns the SQL for missing symbol files whose file names pass the filter.
#[must_use]
pub fn missing_pdbs_sql(filter: Option<&str>) -> String {
    // Linkers store the path of the symbol file on the build machine; only its last part is the
    // name.
    let pdb = "regexp_replace(m.pdb_name, '^.*[\\\\/]', '')";
    let conditions = Conditions::of("m.pdb_name IS NOT NULL").text(pdb, filter);
    format!(
        "SELECT {pdb} AS pdb, m.pdb_age, m.pdb_guid, min(m.name) AS module, max(c.cpu_ns) AS cpu_ns,
  max((SELECT count(DISTINCT concat(pdb_guid, pdb_age)) FROM module WHERE pdb_name IS NOT NULL)) AS all_pdbs
FROM module m
JOIN (
  SELECT module_path, max(cpu_ns) AS cpu_ns FROM cpu_method
  WHERE starts_with(method, '+') AND cpu_ns > 0 GROUP BY module_path
) c ON c.module_path = m.path{conditions}
GROUP BY {pdb}, m.pdb_age, m.pdb_guid
ORDER BY cpu_ns, pdb"
    )
}

/// Missing symbol files.
#[derive(Debug, Clone, PartialEq)]
pub struct MissingPdbs {
    /// Symbol files of code with CPU samples, the one with the most CPU last.
    pub rows: Vec<MissingPdb>,
    /// Symbol files of all modules, as far as they are known.
    pub all_pdbs: i64,
    /// True if the extract was imported: it then knows only symbol files that were not found.
    pub is_imported: bool,
}

impl MissingPdbs {
    /// Returns the number of missing symbol files, as far as the extract knows it.
    fn sentence(&self) -> Line {
        let Self {
            rows,
            all_pdbs,
            is_imported,
        } = self;
        let count = Line::default().whole(rows.len() as i64);
        match (is_imported, all_pdbs) {
            (false, _) => count
                .words(" of ")
                .whole(*all_pdbs)
                .words(" symbol files are missing for code with CPU samples"),
            (true, 0) => Line::new(
                "Which symbol files are missing is not known: this extract of ETWAnalyzer has no modules",
            ),
            // An imported extract names the symbol files that were not found, and no others.
            (true, _) => count
                .words(" symbol files are missing for code with CPU samples, of ")
                .whole(*all_pdbs)
                .words(" that were not found"),
        }
    }
}

/// Queries missing symbol files.
///
/// # Errors
/// There are no modules; the query fails.
pub fn missing_pdbs(session: &Session, filter: Option<&str>) -> Result<MissingPdbs> {
    MODULE.check(session, true)?;
    let rows: Vec<MissingPdb> = ask(session, &missing_pdbs_sql(filter))?;
    // The number is a column of the rows, and has to be queried if there are none.
    let all_pdbs = match rows.first() {
        Some(row) => row.all_pdbs,
        None => {
            let all = "SELECT count(DISTINCT concat(pdb_guid, pdb_age)) AS rows
FROM module WHERE pdb_name IS NOT NULL";
            let counts: Vec<Count> = ask(session, all)?;
            counts.first().map_or(0, |count| count.rows)
        }
    };
    Ok(MissingPdbs {
        rows,
        all_pdbs,
        is_imported: session.is_imported(),
    })
}

const MODULE: Recorded = Recorded::rows(
    "module",
    "modules",
    "record with the kernel keyword LOADER, which every profile of wpr has",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_say_the_day_of_the_build() {
        for (version, day) in [
            ("1.2.2405.0103", Some("2024-05-01")),
            ("1.2.2412.3101", Some("2024-12-31")),
            // No calendar has these days, and no version of Windows means one.
            ("1.2.2402.3001", None),
            ("1.2.2400.0101", None),
            ("10.0.19041.4170", None),
            ("1.2", None),
            ("1.2.x.0101", None),
            ("", None),
        ] {
            let built = built_on(version).map(|day| day.to_string());
            assert_eq!(built.as_deref(), day, "{version}");
        }
    }
}
