//! Services and the processes in which they ran.

use super::cpu::source::SAMPLED_OF_ALL;
use etwkit_question::Format::{Id, Milliseconds, Process, Whole, Word};
use etwkit_question::Recorded;
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::sql::ProcessQuery;
use etwkit_question::{Column, Example, Form, Question, View, group, option};

declare! {
    /// Orders of services.
    pub orders ServiceSort {
        "cpu" => Cpu: "coalesce(cpu_ns, 0)" = "CPU of the process.",
        "sharing" => Sharing: "services_in_process" = "How many services share the process.",
        "pid" => Pid: "pid" = "Process id.",
    }

    /// Options of `dump service`.
    #[derive(Eq)]
    pub request ServiceRequest {
        /// Processes of services
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Only these services: names, or names for people (*, ?, several with ;, ! excludes)
        service: Option<String> = option("NAMES"),
        /// Order
        sort: ServiceSort = option("ORDER").called("sort-by").shape(),
    }

    /// A service that was running when recording ended.
    pub row ServiceRow: process {
        service: String = "Name.",
        display_name: Option<String> = "Name for people.",
        services_in_process: i64 = "Services that share its process, with this one.",
        cpu_ns: Option<i64> =
            "CPU of the process, with all its services: sampled, without any samples from context switches.",
        ..process = "Process of the service.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type ServiceColumn = Column<ServiceRequest, ServiceRow>;

const SERVICES: View<ServiceRequest, ServiceRow> = View::new(
    &[
        // Not summed: services of one process would count its CPU once each.
        ServiceColumn::new("Cpu", "CPU ms of process", Milliseconds, |_, row| {
            row.cpu_ns.into()
        })
        .cost(),
        ServiceColumn::new("Sharing", "Services in it", Whole, |_, row| {
            row.services_in_process.into()
        }),
        ServiceColumn::new("Pid", "Pid", Id, |_, row| row.pid.into()).hidden(),
        ServiceColumn::new("Service", "Service", Word, |_, row| {
            row.service.clone().into()
        }),
        ServiceColumn::new("Name", "Name", Word, |_, row| {
            row.display_name.clone().into()
        }),
        ServiceColumn::new("Process", "Process", Process, |_, row| row.into()),
    ],
    |row| row.sort_value,
);

const RUNNING: Recorded = Recorded::rows(
    "service",
    "services",
    "record with a session of the kernel and stop it, as `etwkit record start default` and `stop` do: the recorder lists \
     services when it stops",
);

impl Question for ServiceRequest {
    const NAME: &'static str = "service";
    const SENTENCE: &'static str =
        "Services that ran and their processes, each with its number of services and its CPU";
    const USUAL: &'static [&'static str] = &["service"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "services with their processes",
        },
        Example {
            words: "--service \"win*\" slow.etl",
            answer: "services with matching names",
        },
    ];

    fn form(&self) -> Form<Self> {
        Form::rows(&SERVICES, self.sql())
            .needs(&RUNNING, true)
            .top(self.top)
    }
}

impl ServiceRequest {
    /// Returns the SQL of the question.
    #[must_use]
    pub fn sql(&self) -> String {
        let conditions = self
            .processes
            .conditions()
            .any_text(&["s.name", "s.display_name"], self.service.as_deref());
        format!(
            "SELECT *, CAST({} AS DOUBLE) AS sort_value
FROM (
  SELECT s.name AS service, s.display_name, n.services_in_process, s.process_key, s.pid,
    coalesce(p.name, s.process_name) AS process, p.command_line, p.session_id, p.start_ns AS process_start_ns,
    p.stop_ns AS process_stop_ns, CASE WHEN u.sampled > 0 THEN u.cpu_ns ELSE u.run_ns END AS cpu_ns
  FROM service s
  JOIN (SELECT pid, count(*) AS services_in_process FROM service GROUP BY pid) n ON n.pid = s.pid
  LEFT JOIN process p ON p.process_key = s.process_key
  LEFT JOIN (SELECT process_key, cpu_ns, run_ns, {SAMPLED_OF_ALL} AS sampled FROM cpu_process) u
    ON u.process_key = s.process_key{conditions}
)
ORDER BY sort_value, service DESC, display_name DESC, process_key",
            self.sort.sql()
        )
    }
}
