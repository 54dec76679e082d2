//! The contents of a trace, as the JSON of `etwkit info --json`.
//!
//! Two passes over the session: the first feeds the [`Directory`] and everything that needs no
//! lookup, the second attributes samples, transfers and faults.

mod cpu;
mod header;
mod io;
mod modules;
mod network;
mod processes;
mod recorded;
mod schedule;

use std::ops::ControlFlow;

use etwkit_decode::Decoder;
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::session::Pass;
use etwkit_etl::{Order, Session};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::counts::Counts;
pub use crate::declared::{Recorded, Topic};
use crate::directory::Directory;
pub use crate::dotnet_summary::DotnetSummary;
use crate::events::EventsSummary;
use crate::first_pass::{self, FirstPass};
use crate::gaps::{self, BufferTimes};
use crate::import::Range;
use crate::mentions::is_of_kernel_logger;
use crate::processors::Processors;
use crate::reach;
use crate::report::counts::EventCounts;
pub use crate::system_config::SystemConfig;
use crate::topics;
use crate::tracker::process::{ProcessInstance, ProcessKey};
pub use cpu::{CpuTotals, TopRow};
pub use recorded::ProviderCount;
pub use schedule::{ScheduleSummary, Times};

use cpu::CpuSummary;
use io::IoSummary;
use network::NetworkSummary;

/// Facts collected by one pass over a session, in any order of its events.
pub struct Facts {
    /// The result of the pass.
    pub pass: Pass,
    /// The topics, recorded or not.
    pub recorded: Vec<Recorded>,
    /// Providers with events, those with most first.
    pub providers: Vec<ProviderCount>,
    /// Raw times of the first and the last event.
    pub times: Option<(i64, i64)>,
    /// The machine.
    pub config: SystemConfig,
    /// Numbers of processors.
    pub(crate) processors: Processors,
    /// Raw times of the first and the last event of each file, headers excluded.
    pub(crate) times_of_files: Vec<Option<(i64, i64)>>,
    /// Files whose events cover only a part of the recording, as a sentence each.
    pub(crate) parts: Vec<String>,
    /// Raw time from which all processors are recorded, if a ring of buffers begins at another
    /// time on each.
    pub(crate) complete_since: Option<i64>,
}

impl Facts {
    /// Reads the session once, in the order of its files: the cheapest pass.
    ///
    /// # Errors
    /// [`etwkit_etl::Error::Io`] if the system cannot read a file.
    pub fn read(session: &Session) -> etwkit_etl::Result<Self> {
        let mut collected = first_pass::Tally::default();
        let mut times = BufferTimes::default();
        let is_ring = session.files().iter().any(gaps::lacks_its_start);
        let pass = session.for_each(Order::File, |event| {
            let hook = collected.observe(event);
            if is_ring {
                times.observe(hook.filter(|hook| is_of_kernel_logger(*hook)), event);
            }
            ControlFlow::Continue(())
        })?;
        collected.decoder.finish_observing();
        let first_pass::Tally {
            counts,
            config,
            decoder,
        } = collected;
        // Losses have gaps of their own, and move no start.
        let complete_since = gaps::find(session, &times, &[]).complete_since;
        Ok(Self {
            complete_since,
            ..Self::new(session, pass, &counts, config, &decoder)
        })
    }

    fn new(
        session: &Session,
        pass: Pass,
        counts: &Counts,
        config: SystemConfig,
        decoder: &Decoder,
    ) -> Self {
        let files = 0..session.files().len();
        Self {
            processors: Processors::of(session, &config, counts),
            times_of_files: files.map(|file| counts.times_of_file(file)).collect(),
            parts: reach::parts(session, counts),
            pass,
            recorded: topics::recorded(counts.identities(), counts.enabled()),
            providers: recorded::providers(counts.identities(), decoder),
            times: counts.times(),
            config,
            complete_since: None,
        }
    }
}

/// The complete output of `etwkit info` for a session.
pub struct Summary {
    /// The sections, in the order in which they are printed.
    pub sections: Map<String, Value>,
    /// Facts from one pass.
    pub facts: Facts,
    /// Number of CPU samples.
    pub cpu_totals: CpuTotals,
    /// Processes by busy CPU samples, most first.
    pub top_processes: Vec<TopRow>,
    /// Modules by busy CPU samples in them (callees excluded), most first.
    pub top_modules: Vec<TopRow>,
    /// Processes by time on a processor, from context switches; empty if there are none.
    pub processes_on_cpu: Vec<ScheduledRow>,
    /// Interval of the samples in units of 100 ns.
    pub profile_interval_100ns: Option<u32>,
}

impl Summary {
    /// Reads the session twice.
    ///
    /// # Errors
    /// [`etwkit_etl::Error::Io`] if the system cannot read a file.
    pub fn read(session: &Session) -> etwkit_etl::Result<Self> {
        let mut first = FirstPass::new(session);
        let pass = session.for_each(Order::Time, |event| {
            first.observe(event);
            ControlFlow::Continue(())
        })?;
        let FirstPass {
            facts,
            builder,
            mut dotnet,
            ..
        } = first;
        let first_pass::Tally {
            counts,
            config,
            mut decoder,
        } = facts;
        let mut directory = builder.finish(session.pointer_size(), session.clock().frequency);
        directory.find_gaps(session, &pass.damage);
        let complete_since = directory.complete_since;

        let methods = dotnet.finish_methods();
        decoder.finish_observing();
        let mut cpu = CpuSummary::new(&directory, &methods, session.clock());
        let mut io = IoSummary::new(&directory, session.clock());
        let mut network = NetworkSummary::new(&directory);
        let mut events = EventsSummary::new();
        let mut schedule = ScheduleSummary::new(&directory, session);
        let range = Range::ALL.within(directory.cut);
        session.for_each(Order::Time, |event| {
            if range != Range::ALL && !range.contains(session.clock().nanoseconds(event.timestamp))
            {
                return ControlFlow::Continue(());
            }
            if let Some(hook) = Hook::of(event) {
                match hook.group {
                    group::PERFINFO | group::STACK => cpu.add(hook, event),
                    group::THREAD => schedule.add(hook, event),
                    group::DISK | group::MEMORY => io.add(hook, event),
                    group::TCP | group::UDP => network.add_kernel(hook, event),
                    _ => {}
                }
            } else {
                network.add_provider(event);
                events.event(event, &decoder, session.clock());
            }
            ControlFlow::Continue(())
        })?;

        schedule.finish();
        let on_cpu = schedule.processes();
        let mut sections = Map::new();
        sections.insert("header".into(), header::section(session, &counts));
        sections.insert("counts".into(), json!(EventCounts::of(&counts, None)));
        sections.insert("totals".into(), processes::totals(&directory));
        sections.insert(
            "processes".into(),
            processes::section(&directory, session.clock()),
        );
        sections.insert("cpu".into(), cpu.section());
        let (disk, faults) = io.sections();
        sections.insert(
            "schedule".into(),
            schedule::section(&on_cpu, &directory, session.clock()),
        );
        sections.insert("disk".into(), disk);
        sections.insert("faults".into(), faults);
        sections.insert("network".into(), network.section());
        sections.insert(
            "dotnet".into(),
            dotnet.section(session.clock(), &methods, cpu.managed()),
        );
        sections.insert("events".into(), events.to_json());
        sections.insert("sysconfig".into(), config.section(session.clock()));
        let top_processes = cpu.top_processes();
        let top_modules = cpu.top_modules();
        let processes_on_cpu = scheduled(&directory, &on_cpu, session);
        let profile_interval_100ns = cpu.profile_interval_100ns();
        Ok(Self {
            sections,
            facts: Facts {
                complete_since,
                ..Facts::new(session, pass, &counts, config, &decoder)
            },
            cpu_totals: cpu.totals(),
            top_processes,
            top_modules,
            processes_on_cpu,
            profile_interval_100ns,
        })
    }
}

/// The activity of a process, from context switches. Times are seconds, summed over its threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScheduledRow {
    /// `name (pid)`.
    pub name: String,
    /// Time on a processor.
    pub running_s: f64,
    /// Ready to run, without a processor.
    pub ready_s: f64,
    /// Waiting, as far as the waits ended in the trace.
    pub waiting_s: f64,
    /// Switch-ins.
    pub switches: u64,
}

fn scheduled(
    directory: &Directory,
    processes: &[(Option<ProcessKey>, Times)],
    session: &Session,
) -> Vec<ScheduledRow> {
    let seconds = |ticks| session.clock().duration_seconds(ticks);
    let row = |(process, t): &(Option<ProcessKey>, Times)| ScheduledRow {
        name: process_name(directory, *process),
        running_s: seconds(t.on_cpu()),
        ready_s: seconds(t.ready),
        waiting_s: seconds(t.waiting),
        switches: t.switches,
    };
    processes.iter().map(row).collect()
}

/// `name (pid)`, for display.
fn process_name(directory: &Directory, key: Option<ProcessKey>) -> String {
    match key.and_then(|key| directory.processes.instance(key)) {
        Some(p) if p.pid == 0 => "Idle (DPCs and interrupts)".to_owned(),
        Some(p) if p.name.is_empty() => format!("? ({})", p.key_text()),
        Some(p) => format!("{} ({})", p.name, p.key_text()),
        None => "?".to_owned(),
    }
}

/// Key of a process in machine-readable output: `?` if unknown.
fn process_text(directory: &Directory, key: Option<ProcessKey>) -> String {
    key.and_then(|key| directory.processes.instance(key))
        .map_or_else(|| "?".to_owned(), ProcessInstance::key_text)
}
