//! Facts about a trace that every dump needs.

use etwkit_extract::{extract_row, run_id};

use super::{Result, ask};
use etwkit_sql::Session;
use etwkit_sql::time_format::TraceClock;

declare! {
    /// The recording, as headings and time formats need it.
    pub row TraceInfo {
        file_name: String = "File name of the trace.",
        computer: Option<String> = "Computer.",
        start_filetime: i64 = "Start in units of 100 ns since 1601.",
        time_zone_bias_minutes: Option<i64> =
            "Minutes to add to the local time of the recorded machine to get UTC.",
        duration_ns: i64 = "Length of the recording, or of the part that was extracted.",
        extract_path: Option<String> = "Path of the extract.",
        start_utc: Option<String> = "Start in UTC, as the table `trace` has it.",
        of_several: bool =
            "Whether several extracts are queried, so rows have to name theirs.",
        named: Option<String> = "The trace or extract as the user named it, for command lines about it.",
        baseline: Option<String> = "Version of the main module of the product, if requested.",
        run_id: Option<i64> = "Number of the trace, see `extract`; missing if there are several.",
        labels: Option<String> = "Labels of the extract, in the form NAME=VALUE with ; between them.",
    }
}

declare! {
    /// The version of the main module of the product.
    row Baseline {
        value: String = "The version.",
    }
}

/// The SQL for it.
pub const INFO: &str = "SELECT file_name, computer, start_filetime, time_zone_bias_minutes,
       coalesce(range_end_ns - range_start_ns, duration_ns) AS duration_ns,
       CAST(NULL AS VARCHAR) AS extract_path, start_utc, false AS of_several,
       CAST(NULL AS VARCHAR) AS named, CAST(NULL AS VARCHAR) AS baseline,
       CAST(NULL AS BIGINT) AS run_id, CAST(NULL AS VARCHAR) AS labels
FROM trace";

impl TraceInfo {
    /// Returns the trace of a session with one extract; all zero if it is not known.
    ///
    /// # Errors
    /// The query fails.
    pub fn ask(session: &Session) -> Result<Self> {
        // Tables without a trace, as of a test, have nothing to describe.
        // The path is not part of what extracts can be queried for together.
        let info: Self = ask(session, INFO)?.into_iter().next().unwrap_or_default();
        let manifest = session.manifests().next().map(|(_, manifest)| manifest);
        Ok(Self {
            extract_path: session.extract_path().map(str::to_owned),
            run_id: manifest.map(|manifest| run_id(&manifest.source.hash)),
            labels: manifest.and_then(|manifest| extract_row(manifest, None).labels),
            ..info
        })
    }

    /// Queries the version of the main module of the product, which extracts of ETWAnalyzer can
    /// have.
    ///
    /// # Errors
    /// The query fails.
    pub fn with_baseline(self, session: &Session) -> Result<Self> {
        let sql = "SELECT value FROM system_config WHERE topic = 'main_module_version' AND name = 'version'";
        let values: Vec<Baseline> = ask(session, sql)?;
        Ok(Self {
            baseline: values.into_iter().next().map(|value| value.value),
            ..self
        })
    }

    /// Returns the clock of the trace, with its start.
    #[must_use]
    pub fn clock(&self) -> TraceClock {
        let bias_minutes = self
            .time_zone_bias_minutes
            .and_then(|bias| i32::try_from(bias).ok());
        TraceClock {
            start_filetime: self.start_filetime,
            bias_minutes,
        }
    }
}
