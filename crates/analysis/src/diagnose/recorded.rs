//! Whether a trace has what a rule needs.

use std::collections::{BTreeSet, HashMap};

use etwkit_question::ask;
use etwkit_sql::filter::TextFilter;
use etwkit_sql::{Session, tables};
use etwkit_trace::table::{Row as _, RuleOutcome};
use etwkit_trace::topics;

use super::rule::Rule;
use crate::Result;

etwkit_question::declare! {
    row TopicRow {
        topic: String = "Topic.",
        is_recorded: bool = "Whether it was recorded.",
        tables: String = "Its tables, with `;` between them.",
        recorded_by: Option<String> = "What records it.",
    }

    row StackModule {
        module: String = "File name of a module that is in stacks, in small letters.",
        has_names: bool = "Whether its functions have names.",
    }

    row StackCount {
        rows: i64 = "1 if an event has a stack, otherwise 0.",
    }
}

/// Words for what rules need together, each with its parts; the first part that lacks is named.
// A summary has samples as a topic and is without their rows, so both are asked for.
const TOGETHER: [(&str, &[&str]); 4] = [
    (
        "samples with stacks",
        &["CPU samples", "cpu_sample", "stacks of CPU samples"],
    ),
    (
        "switches with stacks",
        &["context_switch", "stacks of context switches"],
    ),
    ("waits", &["context_switch", READY_EVENTS]),
    (
        "waits with stacks",
        &["context_switch", READY_EVENTS, "stacks of context switches"],
    ),
];

/// The topic of the events that end waits.
const READY_EVENTS: &str = "ready threads";

/// Events that have stacks of their own.
struct Stacked {
    /// Name of their stacks.
    stacks: &'static str,
    /// Table of the events.
    table: &'static str,
    /// Whether one of them has a stack.
    sql: &'static str,
    /// What records the stacks.
    recorded_by: &'static str,
}

/// Events whose stacks rules look into. One recording can have stacks of some and none of others.
// One row is enough; counting all would read millions of them.
const STACKED: [Stacked; 2] = [
    Stacked {
        stacks: "stacks of CPU samples",
        table: "cpu_sample",
        sql: "SELECT count(*) AS rows FROM (SELECT has_stack FROM cpu_sample WHERE has_stack LIMIT 1)",
        recorded_by: "-stackwalk Profile",
    },
    Stacked {
        stacks: "stacks of context switches",
        table: "context_switch",
        sql: "SELECT count(*) AS rows FROM (SELECT stack_id FROM context_switch WHERE stack_id IS NOT NULL LIMIT 1)",
        recorded_by: "-stackwalk CSwitch",
    },
];

impl Stacked {
    /// Returns `true` if there are such events, and none has a stack.
    fn is_stackless(&self, session: &Session) -> Result<bool> {
        if session.leaves_out(self.table) || session.has_rows(self.table) != Some(true) {
            return Ok(false);
        }
        let counts: Vec<StackCount> = ask(session, self.sql)?;
        Ok(counts.iter().all(|count| count.rows == 0))
    }
}

/// Modules in stacks. Where symbols were read, a few addresses lie between functions all the same; of several
/// builds of a module one may have symbols and the other none, which is as good as none.
// Half of the addresses: symbols never name all code, and exports name a little of it.
const STACK_MODULES: &str =
    "SELECT lower(m.name) AS module, 2 * count(r.method_id) >= count(*) AS has_names
    FROM frame r JOIN module m ON m.module_id = r.module_id
    GROUP BY lower(m.name)";

/// Modules of Windows, one of which is in the stacks of every trace.
// Kernels for one and several processors, with and without PAE; and what every process loads.
const WINDOWS: [&str; 5] = [
    "ntoskrnl.exe",
    "ntkrnlmp.exe",
    "ntkrnlpa.exe",
    "ntkrpamp.exe",
    "ntdll.dll",
];

/// Tables that show where time went.
const OF_TIME: [&str; 3] = ["context_switch", "cpu_sample", "disk_io"];

/// Tables of .NET whose events have a keyword of their own, and what to record for them. Events of other keywords do
/// not show that it was on.
const BY_KEYWORD: [(&str, &str); 3] = [
    (
        "gc",
        ".NET collections (Microsoft-Windows-DotNETRuntime, keyword GC)",
    ),
    (
        "jit",
        ".NET compilations (Microsoft-Windows-DotNETRuntime, keyword JIT)",
    ),
    (
        "thread_pool",
        ".NET thread pool events (Microsoft-Windows-DotNETRuntime, keyword Threading)",
    ),
];

/// What a rule lacks that cannot name the functions in stacks.
pub(super) const NAMES_OF_FUNCTIONS: &str = "names of functions";

/// The command that gets the names of functions, without the name of the program.
pub(super) const NAMED_BY: &str = "symbols load --symbols MS";

/// The end of the text on functions without names.
pub(super) fn how_named() -> String {
    format!(" (etwkit {NAMED_BY})")
}

/// What a trace recorded.
pub(super) struct Recorded {
    /// Topics by their names and by the names of their tables.
    topics: HashMap<String, Vec<TopicRow>>,
    /// Modules in stacks.
    modules: Vec<StackModule>,
    /// Kinds of events that are there without any stack.
    stackless: Vec<&'static Stacked>,
}

impl Recorded {
    pub(super) fn of(session: &Session) -> Result<Self> {
        let sql = "SELECT topic, is_recorded, tables, recorded_by FROM topic";
        let mut topics: HashMap<String, Vec<TopicRow>> = HashMap::new();
        for row in ask::<TopicRow>(session, sql)? {
            // A rule may name the topic or one of its tables.
            let names: Vec<String> = row
                .tables
                .split(';')
                .chain([row.topic.as_str()])
                .map(str::to_owned)
                .collect();
            for name in names {
                topics.entry(name).or_default().push(row.clone());
            }
        }
        let modules = ask(session, STACK_MODULES)?;
        let mut stackless = Vec::new();
        for stacked in &STACKED {
            if stacked.is_stackless(session)? {
                stackless.push(stacked);
            }
        }
        Ok(Self {
            topics,
            modules,
            stackless,
        })
    }

    /// What a rule lacks that found nothing, so that its silence proves nothing; `None` if it lacks nothing.
    pub(super) fn unproved(&self, session: &Session, rule: &Rule) -> Option<String> {
        self.first_lacking(session, &rule.needs_to_exclude)
            .or_else(|| self.moduleless(session, rule))
            .or_else(|| self.nameless(session, rule))
    }

    /// The events that say which modules were loaded, if a rule looks for modules and no address has one.
    fn moduleless(&self, session: &Session, rule: &Rule) -> Option<String> {
        let mut needed = rule.names.iter().chain(&rule.modules);
        let looks_for_modules = needed.any(|needed| !has_table(session, needed));
        if !self.modules.is_empty() || !looks_for_modules {
            return None;
        }
        self.lacks(session, "images")
    }

    /// Modules in stacks whose functions a rule has to know by name and that have no symbols, and what gets
    /// the names; `None` if it knows all that it looks for.
    fn nameless(&self, session: &Session, rule: &Rule) -> Option<String> {
        let mut needed = rule.names.iter().chain(&rule.modules);
        // Names of a redacted trace fit no pattern, and each rule would seem to have found
        // nothing.
        if self.has_other_names() && needed.any(|needed| !has_table(session, needed)) {
            return Some(
                "names of the modules of Windows (no stack has one, as in a redacted trace)"
                    .to_owned(),
            );
        }
        // Each module once and in order, however many needs it is for.
        let nameless: BTreeSet<&str> = rule
            .names
            .iter()
            .flat_map(|needed| self.nameless_of(session, needed))
            .collect();
        let modules: Vec<&str> = nameless.into_iter().collect();
        (!modules.is_empty()).then(|| {
            format!(
                "{NAMES_OF_FUNCTIONS} in {}{}",
                modules.join(", "),
                how_named()
            )
        })
    }

    /// Returns `true` if nothing was recorded that shows where time went.
    pub(super) fn is_blind(&self) -> bool {
        // Tables without a topic are unknown, which is not the same as not recorded.
        let is_missing = |table: &str| {
            let topics = self.topics.get(table);
            topics.is_some_and(|topics| topics.iter().all(|topic| !topic.is_recorded))
        };
        OF_TIME.into_iter().all(is_missing)
    }

    /// Returns `true` if the modules in stacks have other names than on a machine.
    fn has_other_names(&self) -> bool {
        let is_of_windows = |one: &StackModule| WINDOWS.contains(&one.module.as_str());
        // Without any stack, nothing can be said about names.
        !self.modules.is_empty() && !self.modules.iter().any(is_of_windows)
    }

    /// The modules that fit a need of a rule and have no names: none if another way of the same need, a
    /// module or a table, has what it takes.
    fn nameless_of(&self, session: &Session, needed: &str) -> Vec<&str> {
        if has_table(session, needed) {
            return Vec::new();
        }
        let mut nameless = Vec::new();
        // Tables among the ways were looked at above.
        for way in needed.split(" or ").filter(|way| !names_table(way)) {
            let pattern = TextFilter::parse(way);
            let mut fitting = self
                .modules
                .iter()
                .filter(|one| pattern.matches(Some(&one.module)))
                .peekable();
            let is_in_stacks = fitting.peek().is_some();
            let lacking: Vec<&str> = fitting
                .filter(|one| !one.has_names)
                .map(|one| one.module.as_str())
                .collect();
            // No module of the pattern in stacks is no proof that the names are known.
            if is_in_stacks && lacking.is_empty() {
                return Vec::new();
            }
            nameless.extend(lacking);
        }
        nameless
    }

    /// What a rule needs and the extract does not have, and how to record it; `None` if nothing is missing.
    pub(super) fn missing(&self, session: &Session, rule: &Rule) -> Option<String> {
        self.first_lacking(session, &rule.needs)
    }

    fn first_lacking(&self, session: &Session, needs: &[String]) -> Option<String> {
        needs.iter().find_map(|need| self.lacks(session, need))
    }

    fn lacks(&self, session: &Session, need: &str) -> Option<String> {
        if let Some(parts) = parts_of(need) {
            return parts.iter().find_map(|part| self.lacks(session, part));
        }
        if need == READY_EVENTS {
            return self.lacks_ready_events();
        }
        if let Some(stacked) = STACKED.iter().find(|stacked| stacked.stacks == need) {
            return self.lacks_stacks(session, stacked);
        }
        // The first alternative is the one that is named as missing, since rules list the better one first.
        if let Some((one, other)) = need.split_once(" or ") {
            // Of a table that no topic mentions only its rows show that it was recorded.
            let has_other = self.lacks(session, other).is_none()
                && (self.topics.contains_key(other)
                    || parts_of(other).is_some()
                    || session.has_rows(other) == Some(true));
            return self.lacks(session, one).filter(|_| !has_other);
        }
        // One recorded topic of several that fill a table is enough. What no topic mentions passes here, and
        // is looked up among the tables below.
        let topics = self.topics.get(need).map_or(&[][..], Vec::as_slice);
        if let Some(first) = topics
            .first()
            .filter(|_| topics.iter().all(|topic| !topic.is_recorded))
        {
            // An empty command would print empty brackets.
            let how = first.recorded_by.as_deref().filter(|how| !how.is_empty());
            return Some(how.map_or_else(
                || first.topic.clone(),
                |how| format!("{} ({how})", first.topic),
            ));
        }
        if self.topics.is_empty() && topics::all().iter().any(|topic| topic.name == need) {
            return lacks_rows_of(session, need);
        }
        let is_table = || tables().any(|table| table.name == need);
        // A mistyped need of a user's rule would otherwise always hold.
        if topics.is_empty() && !is_table() {
            return Some(format!("topic or table that is called {need}"));
        }
        // A summary keeps sums and leaves out the rows; other extracts may be without single tables.
        if session.leaves_out(need) {
            return Some(format!("rows of {need}: {}", why_left_out(session)));
        }
        // Without topics nothing is known about what was recorded.
        (!topics.is_empty())
            .then(|| without_keyword(session, need))
            .flatten()
    }

    /// The events that end waits, if they were not recorded.
    fn lacks_ready_events(&self) -> Option<String> {
        // Without topics nothing is known about what was recorded.
        let topics = self.topics.get(READY_EVENTS)?;
        let is_recorded = topics.iter().any(|topic| topic.is_recorded);
        (!is_recorded).then(|| "events that make threads ready (DISPATCHER)".to_owned())
    }

    /// The stacks of events, if no stack was recorded, or none of such an event.
    fn lacks_stacks(&self, session: &Session, stacked: &Stacked) -> Option<String> {
        if let Some(missing) = self.lacks(session, "stacks") {
            return Some(missing);
        }
        // Without topics nothing is known about what was recorded.
        let is_stackless = self.topics.contains_key("stacks")
            && self
                .stackless
                .iter()
                .any(|one| one.stacks == stacked.stacks);
        is_stackless.then(|| format!("{} ({})", stacked.stacks, stacked.recorded_by))
    }
}

/// The topic, if an extract has no row of it. In extracts without topics, such as those of other
/// programs, only rows show that something was recorded.
fn lacks_rows_of(session: &Session, topic: &str) -> Option<String> {
    let tables = topics::tables_of(topic);
    let has_rows = tables
        .iter()
        .any(|table| session.has_rows(table) == Some(true));
    // Names of processes are in every extract, whatever was recorded of them.
    (!tables.is_empty() && !has_rows).then(|| topic.to_owned())
}

/// The parts of a word for what rules need together; `None` for other words.
fn parts_of(need: &str) -> Option<&'static [&'static str]> {
    TOGETHER
        .iter()
        .find(|(word, _)| *word == need)
        .map(|(_, parts)| *parts)
}

/// The reason for which an extract is without the rows of a table.
fn why_left_out(session: &Session) -> &'static str {
    if !session.is_summary() {
        return "this extract was made without them";
    }
    // The trace has to be extracted again for findings, so the way to them is part of the reason.
    if session.has_rows(RuleOutcome::TABLE.name) == Some(true) {
        "this extract is a summary"
    } else {
        "this extract is a summary without findings (etwkit extract --findings)"
    }
}

/// The events that a table lacks, if it has no rows and a keyword of its own.
fn without_keyword(session: &Session, need: &str) -> Option<String> {
    let (_, events) = BY_KEYWORD.iter().find(|(table, _)| *table == need)?;
    (session.has_rows(need) == Some(false)).then(|| (*events).to_owned())
}

/// Returns `true` if one of the ways of a need is a table that has rows.
fn has_table(session: &Session, needed: &str) -> bool {
    needed
        .split(" or ")
        .any(|way| names_table(way) && session.has_rows(way) == Some(true))
}

/// Returns `true` for the name of a table: file names have a dot, tables have none.
fn names_table(way: &str) -> bool {
    !way.contains('.')
}

#[cfg(test)]
mod tests {
    use etwkit_sql::arrow::array::RecordBatch;
    use etwkit_trace::table::{Columns, ContextSwitch, CpuSample, Row, Table};

    use super::*;
    use crate::diagnose::rules;

    fn batches<R: Row>(rows: &[R]) -> (&'static Table, Vec<RecordBatch>) {
        let mut columns = R::Columns::default();
        rows.iter().for_each(|row| columns.push(row));
        (R::TABLE, vec![columns.take().unwrap()])
    }

    fn topic(name: &str, table: &str, is_recorded: bool) -> TopicRow {
        TopicRow {
            topic: name.to_owned(),
            is_recorded,
            tables: table.to_owned(),
            recorded_by: Some("KEYWORD".to_owned()),
        }
    }

    /// What a rule lacks in a trace of a switch and a sample, whose stacks are those of `stacks_of`, if nothing of
    /// the topic `without` was recorded.
    fn lacking(needs: &str, stacks_of: &[&str], without: &str) -> Option<String> {
        let switch = ContextSwitch {
            stack_id: stacks_of.contains(&"switch").then_some(0),
            ..ContextSwitch::default()
        };
        let sample = CpuSample {
            has_stack: stacks_of.contains(&"sample"),
            ..CpuSample::default()
        };
        let session = Session::from_batches(vec![batches(&[switch]), batches(&[sample])]).unwrap();
        let mut recorded = Recorded::of(&session).unwrap();
        for (name, table) in [
            ("CPU samples", "cpu_sample"),
            ("context switches", "context_switch"),
            (READY_EVENTS, READY_EVENTS),
            ("stacks", "stacks"),
        ] {
            let rows = vec![topic(name, table, name != without)];
            recorded.topics.insert(name.to_owned(), rows.clone());
            recorded.topics.insert(table.to_owned(), rows);
        }
        let text = format!("-- x\n-- sentence: x\n-- needs: {needs}\nSELECT 1");
        recorded.missing(&session, &Rule::read("x", &text).unwrap())
    }

    /// Commands of evidence, and what has to be recorded for their answers.
    const SHOWN: [(&str, &[&str]); 27] = [
        ("cores", &["cpu_core or cpu_frequency"]),
        ("cpu", &["cpu_sample or context_switch"]),
        ("disk", &["disk_io"]),
        ("dns", &["dns_query"]),
        ("dpc", &["dpc_isr"]),
        ("events", &["generic_event"]),
        ("file", &["file_io"]),
        ("gc", &["gc"]),
        ("gdi-user", &["gdi_user_object"]),
        ("hard-fault", &["hard_fault"]),
        ("jit", &["jit"]),
        // Extracts of all traces have sessions and counts of events.
        ("logger", &[]),
        ("net", &["net_io"]),
        ("objectref", &["handle"]),
        ("pmc", &["pmc"]),
        ("process", &["process or processes"]),
        ("ready", &["context_switch"]),
        ("registry", &["registry_io"]),
        ("start", &["process or processes"]),
        ("syscall", &["syscall"]),
        ("thread-pool", &["thread_pool"]),
        ("timer", &["timer_resolution"]),
        ("trace-stats", &[]),
        ("ui-delay", &["ui_delay"]),
        ("user-lock", &["user_lock"]),
        ("version", &["module"]),
        ("wait", &["context_switch", READY_EVENTS]),
    ];

    /// What is recorded where a need without alternatives is met.
    fn met(need: &str) -> Vec<&str> {
        let parts = parts_of(need).unwrap_or_default();
        if parts.is_empty() {
            vec![need]
        } else {
            parts.to_vec()
        }
    }

    /// A line of evidence that the recording cannot answer looks like a contradiction of the finding.
    #[test]
    fn evidence_shows_what_its_rule_needs_or_is_left_out() {
        for rule in rules() {
            let (one_way, several): (Vec<&str>, Vec<&str>) = rule
                .needs
                .iter()
                .map(String::as_str)
                .partition(|need| !need.contains(" or "));
            let always: Vec<&str> = one_way.into_iter().flat_map(met).collect();
            let ways: Vec<&str> = several
                .into_iter()
                .chain(rule.needs_to_exclude.iter().map(String::as_str))
                .flat_map(|need| need.split(" or "))
                .collect();
            for one in &rule.evidence {
                let command = one.template.split(' ').nth(1).unwrap();
                let shown = SHOWN.iter().find(|(name, _)| *name == command);
                let (_, needed) =
                    shown.unwrap_or_else(|| panic!("dump {command} is not in the list"));
                let is_enough = |recorded: &[&str]| {
                    let is_met =
                        |need: &&str| need.split(" or ").any(|way| recorded.contains(&way));
                    needed.iter().all(is_met)
                };
                let of_table: Vec<&str> = one.table.as_deref().into_iter().collect();
                // A column of its own is null in the rows that were found in another way.
                let is_of_a_way = one.template.contains("_pid}")
                    && ways
                        .iter()
                        .any(|way| is_enough(&[&always[..], &met(way)].concat()));
                assert!(
                    is_enough(&[always.as_slice(), &of_table].concat()) || is_of_a_way,
                    "{}: {one:?} needs {needed:?}",
                    rule.name
                );
            }
        }
    }

    #[test]
    fn waits_need_the_events_that_end_them() {
        let both = ["switch", "sample"];
        let events = Some("events that make threads ready (DISPATCHER)".to_owned());
        for (needs, missing) in [
            ("context_switch", None),
            ("switches with stacks", None),
            ("waits", events.clone()),
            ("waits with stacks", events.clone()),
            ("waits with stacks or ui_delay", events),
            ("waits with stacks or samples with stacks", None),
        ] {
            assert_eq!(lacking(needs, &both, READY_EVENTS), missing, "{needs}");
            assert_eq!(lacking(needs, &both, ""), None, "{needs}");
        }
        assert_eq!(
            lacking("waits", &both, "context switches").as_deref(),
            Some("context switches (KEYWORD)")
        );
    }

    /// Addresses without modules fit no pattern, and each rule would seem to have found nothing.
    #[test]
    fn rules_that_look_for_modules_need_the_events_that_name_them() {
        let session = Session::from_batches(vec![batches(&[ContextSwitch::default()])]).unwrap();
        let mut recorded = Recorded::of(&session).unwrap();
        for (line, is_recorded, missing) in [
            ("-- names: ntfs.sys\n", false, Some("images (KEYWORD)")),
            ("-- modules: amsi.dll\n", false, Some("images (KEYWORD)")),
            ("", false, None),
            ("-- names: ntfs.sys\n", true, None),
        ] {
            let images = topic("images", "module", is_recorded);
            recorded.topics.insert("images".to_owned(), vec![images]);
            let text = format!("-- x\n-- sentence: x\n{line}SELECT 1");
            let rule = Rule::read("x", &text).unwrap();
            let unproved = recorded.unproved(&session, &rule);
            assert_eq!(unproved.as_deref(), missing, "{line} {is_recorded}");
        }
    }

    #[test]
    fn stacks_of_one_kind_of_events_are_none_of_another() {
        let switches = Some("stacks of context switches (-stackwalk CSwitch)");
        let samples = Some("stacks of CPU samples (-stackwalk Profile)");
        for (needs, of_samples_alone, of_switches_alone) in [
            ("stacks", None, None),
            ("waits", None, None),
            ("waits with stacks", switches, None),
            ("switches with stacks", switches, None),
            ("samples with stacks", None, samples),
            ("waits with stacks or samples with stacks", None, None),
        ] {
            let of = |kind| lacking(needs, &[kind], "");
            assert_eq!(of("sample").as_deref(), of_samples_alone, "{needs}");
            assert_eq!(of("switch").as_deref(), of_switches_alone, "{needs}");
        }
        // Without any stack, the advice is to record all of them.
        for needs in ["waits with stacks", "samples with stacks"] {
            let missing = lacking(needs, &[], "stacks");
            assert_eq!(missing.as_deref(), Some("stacks (KEYWORD)"), "{needs}");
        }
    }
}
