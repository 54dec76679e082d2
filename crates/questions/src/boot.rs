//! Phases of a boot, which begin and end with the start of known processes.

use etwkit_question::Format::{Moment, Seconds, Word};
use etwkit_question::Recorded;
use etwkit_question::declare;
use etwkit_question::sql::Conditions;
use etwkit_question::{Column, Example, Form, Question, Ranked, View, option};

declare! {
    /// Options of `dump boot`.
    #[derive(Eq)]
    pub request BootRequest {
        /// Only these phases: kernel, session, logon, desktop (several with ;, ! excludes)
        phase: Option<String> = option("PHASES"),
    }

    /// A phase of a boot.
    pub row BootPhaseRow {
        phase: String = "`kernel`, `session`, `logon` or `desktop`.",
        start_ns: i64 = "Start.",
        end_ns: Option<i64> = "End; missing if the trace ended before.",
        duration_ns: Option<i64> = "Duration; missing if the trace ended before.",
        usual_s: i64 = "Usual duration at most, in seconds.",
        is_long: Option<bool> = "Whether the phase took longer than usual; missing if the trace ended before.",
        starts_with: String = "Event at its start.",
        ends_with: String = "Event at its end.",
        busiest: Option<String> = "Program with the most CPU time in the phase; missing without CPU samples.",
        busiest_cpu_ns: Option<i64> = "Its CPU time.",
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type BootPhaseColumn = Column<BootRequest, BootPhaseRow>;

const PHASES: View<BootRequest, BootPhaseRow> = View::new(
    &[
        BootPhaseColumn::new("Phase", "Phase", Word, |_, row| row.phase.clone().into()),
        BootPhaseColumn::new("Start", "Start", Moment, |_, row| row.start_ns.into()),
        BootPhaseColumn::new("End", "End", Moment, |_, row| row.end_ns.into()).or("?"),
        BootPhaseColumn::new("Duration", "Duration s", Seconds(3), |_, row| {
            row.duration_ns.into()
        })
        .or("?"),
        BootPhaseColumn::new("Verdict", "Verdict", Word, |_, row| verdict(row).into()),
        BootPhaseColumn::new("From", "From", Word, |_, row| {
            row.starts_with.clone().into()
        }),
        BootPhaseColumn::new("Until", "Until", Word, |_, row| {
            row.ends_with.clone().into()
        }),
        BootPhaseColumn::new("Cpu", "CPU s", Seconds(3), |_, row| {
            row.busiest_cpu_ns.into()
        }),
        BootPhaseColumn::new("Busiest", "Busiest program", Word, |_, row| {
            row.busiest.clone().into()
        }),
    ],
    |row| row.sort_value,
)
.ranking(|_| Ranked::rows_unless(true));

fn verdict(row: &BootPhaseRow) -> String {
    match row.is_long {
        Some(true) => format!("long, usual up to {} s", row.usual_s),
        Some(false) => "usual".to_owned(),
        None => "not over".to_owned(),
    }
}

impl Question for BootRequest {
    const NAME: &'static str = "boot";
    const SENTENCE: &'static str = "Phases of a boot, from the kernel to an idle desktop";
    const USUAL: &'static [&'static str] = &["phase"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "boot.etl",
            answer: "the phases, and which of them took long",
        },
        Example {
            words: "fast.etl boot.etl",
            answer: "the phases of two boots",
        },
    ];

    fn form(&self) -> Form<Self> {
        Form::rows(&PHASES, self.sql()).needs(&BOOT, true)
    }
}

impl BootRequest {
    fn sql(&self) -> String {
        let conditions = Conditions::new().text("h.phase", self.phase.as_deref());
        format!("{PHASES_SQL}{conditions}\nORDER BY sort_value")
    }
}

const BOOT: Recorded = Recorded::rows(
    "process",
    "processes",
    "record a boot: `wpr -boottrace -addboot GeneralProfile`, or `xbootmgr -trace boot`",
);

/// A SELECT of the rows of [`BootPhaseRow`], without an order.
///
/// The session manager, the logon and the shell start one after the other. Later sessions have a copy of
/// the session manager, which is its child and not one of the system process. A desktop is at rest when the
/// processors are idle for 80 % of ten seconds, by CPU samples.
pub const PHASES_SQL: &str = "WITH begun AS (
  SELECT min(CASE WHEN lower(name) = 'smss.exe' AND parent_pid = 4 THEN start_ns END) AS session_ns,
    min(CASE WHEN lower(name) = 'winlogon.exe' THEN start_ns END) AS logon_ns,
    min(CASE WHEN lower(name) = 'explorer.exe' THEN start_ns END) AS desktop_ns
  FROM process
), busy AS (
  SELECT ts_ns / 1000000000 AS second, sum(CASE WHEN is_idle THEN 0 ELSE weight_ns END) AS cpu_ns
  FROM cpu_sample GROUP BY ts_ns / 1000000000
), ten AS (
  SELECT second, sum(cpu_ns) OVER (ORDER BY second RANGE BETWEEN CURRENT ROW AND 9 FOLLOWING) AS cpu_ns FROM busy
), rest AS (
  SELECT min(greatest(t.second * 1000000000, b.desktop_ns)) AS rest_ns
  FROM ten t CROSS JOIN begun b CROSS JOIN (
    SELECT max(least(coalesce(range_end_ns, duration_ns), coalesce(kernel_end_ns, duration_ns))) AS end_ns, max(processors) AS cpus
    FROM trace
  ) r
  WHERE (t.second + 1) * 1000000000 > b.desktop_ns AND (t.second + 10) * 1000000000 <= r.end_ns AND t.cpu_ns <= r.cpus * 2000000000
), phase AS (
  SELECT 1 AS place, 'kernel' AS phase, CAST(0 AS BIGINT) AS start_ns, session_ns AS end_ns, 9 AS usual_s,
    'start of the trace' AS starts_with, 'smss.exe' AS ends_with
  FROM begun WHERE session_ns IS NOT NULL
  UNION ALL
  SELECT 2, 'session', session_ns, logon_ns, 12, 'smss.exe', 'winlogon.exe' FROM begun WHERE session_ns IS NOT NULL
  UNION ALL
  SELECT 3, 'logon', logon_ns, desktop_ns, 60, 'winlogon.exe', 'explorer.exe' FROM begun WHERE session_ns <= logon_ns
  UNION ALL
  SELECT 4, 'desktop', desktop_ns, rest_ns, 6, 'explorer.exe', 'idle for ten seconds' FROM begun CROSS JOIN rest
  WHERE session_ns <= logon_ns AND logon_ns <= desktop_ns
), used AS (
  SELECT h.place, p.name || ' (' || p.pid || ')' AS busiest, sum(s.weight_ns) AS cpu_ns
  FROM phase h
  JOIN cpu_sample s ON s.ts_ns >= h.start_ns AND s.ts_ns < coalesce(h.end_ns, 9223372036854775807)
  JOIN process p ON p.process_key = s.process_key
  WHERE NOT s.is_idle
  GROUP BY h.place, p.name, p.pid
), first AS (
  SELECT place, busiest, cpu_ns, row_number() OVER (PARTITION BY place ORDER BY cpu_ns DESC, busiest) AS nth FROM used
)
SELECT h.phase, h.start_ns, h.end_ns, h.end_ns - h.start_ns AS duration_ns, CAST(h.usual_s AS BIGINT) AS usual_s,
  h.end_ns - h.start_ns > h.usual_s * 1000000000 AS is_long, h.starts_with, h.ends_with, f.busiest, f.cpu_ns AS busiest_cpu_ns,
  CAST(h.place AS DOUBLE) AS sort_value
FROM phase h LEFT JOIN first f ON f.place = h.place AND f.nth = 1";
