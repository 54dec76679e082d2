//! Call trees of processes or threads: sampled CPU, waits or ready times by call stack.
//!
//! Waits and ready times are summed over threads, unlike those of `dump cpu`, which are unions:
//! only sums add up in a tree.

use super::call_tree::{CallTree, Fold};
use super::names::Names;
use crate::cpu::fact;
use crate::cpu::source::{CpuSource, SAMPLED, SAMPLED_EVENTS, column};
use crate::cpu::{By, CpuRequest, Metric, check, check_waits};
use etwkit_question::declare;
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS};
use etwkit_question::tag_query::TagQuery;
use etwkit_question::{Error, FromRows, Result, Words, ask, has_rows, is_recorded};
use etwkit_sql::Session;
use etwkit_sql::filter::TextFilter;
use etwkit_sql::frames::TraceFrames;

/// Shape of the trees.
enum Shape<'a> {
    /// From the outermost frames to their callees.
    TopDown,
    /// From the innermost frames to their callers.
    BottomUp,
    /// Callers and callees of methods: a filter on names with or without their module. A stack
    /// counts once, by the outermost frame that matches.
    Butterfly(&'a str),
}

/// Scope of a tree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TreeBy {
    /// Each process.
    Process,
    /// Each thread.
    Thread,
    /// Everything in one tree.
    All,
}

declare! {
    /// The weight of a stack in a process or thread.
    pub row StackRow {
        ..process = "Process key.",
        command_line: Option<String> = "Command line.",
        process_start_ns: Option<i64> = "Start of the process, if in the trace.",
        process_stop_ns: Option<i64> = "End of the process, if in the trace.",
        thread_key: Option<i64> = "Thread.",
        tid: Option<i64> = "Thread id.",
        stack_id: Option<i64> = "Stack; missing if none was recorded.",
        source: String = "What `value_ns` is computed from, see [`CpuSource`].",
        value_ns: i64 = "What it weighs.",
        samples: i64 = "Samples, or intervals.",
    }

    /// A node of a tree, or several that are folded into one row.
    pub row TreeRow {
        ..process =
            "Process key; missing in a tree of everything, and for threads whose process is not known.",
        tid: Option<i64> = "Thread id, in trees of threads.",
        metric: String = "`cpu`, `wait` or `ready`.",
        source: String =
            "What it is computed from, see [`CpuSource`]: waits and ready times always from context \
             switches.",
        tree: String = "`top_down`, `bottom_up`, `callers` or `callees`.",
        id: i64 = "Number of the node in its tree, from 0.",
        parent: Option<i64> = "Number of its parent; missing for roots.",
        depth: i64 = "0 for roots.",
        module: Option<String> = "File name of the module.",
        method: Option<String> =
            "Method, or offset in the module; missing where nodes are folded, and for stacks that were \
             not recorded.",
        folded: i64 = "Nodes folded into this row; 0 for a node.",
        inclusive_ns: i64 = "What stacks through the node weigh.",
        exclusive_ns: i64 = "What ran in the method of the node itself; in trees of callers of their roots.",
        samples: i64 = "Samples with a stack through the node; waits or ready times.",
        percent: f64 = "Share of the tree in percent.",
    }
}

/// The trees of a process, of a thread, or of everything.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeGroup {
    /// File name of the executable; missing in a tree of everything.
    pub process: Option<String>,
    /// Process id.
    pub pid: Option<i64>,
    /// Command line.
    pub command_line: Option<String>,
    /// Start of the process, if in the trace.
    pub process_start_ns: Option<i64>,
    /// End of the process, if in the trace.
    pub process_stop_ns: Option<i64>,
    /// Thread id, in trees of threads.
    pub tid: Option<i64>,
    /// The source of the weights.
    pub source: CpuSource,
    /// Weight of all its stacks; in a butterfly, of the stacks with the method.
    pub total_ns: i64,
    /// Its nodes, each before its children; callers before callees.
    pub rows: Vec<TreeRow>,
}

/// Call trees, and the weights of stacks that they are made of.
impl CpuRequest {
    const fn tree_by(&self) -> TreeBy {
        match self.by {
            _ if self.is_merged => TreeBy::All,
            By::Thread => TreeBy::Thread,
            By::Process | By::Method | By::Module => TreeBy::Process,
        }
    }

    fn shape(&self) -> Shape<'_> {
        match &self.butterfly {
            Some(methods) => Shape::Butterfly(methods),
            None if self.bottom_up => Shape::BottomUp,
            None => Shape::TopDown,
        }
    }

    const fn fold(&self) -> Fold {
        Fold {
            min_percent: self.min_percent,
            levels: self.max_depth,
            children: self.top_children,
        }
    }

    /// Returns the SQL for stacks whose tags match, and their weights.
    #[must_use]
    pub fn stack_sql(&self, tags: &TagQuery) -> String {
        // The idle process is left out, but not threads whose process is not known: a missing id
        // compared with 0 would drop them as well.
        let conditions = Conditions::new()
            .and([
                "coalesce(p.pid, -1) <> 0".to_owned(),
                "s.samples > 0".to_owned(),
            ])
            .and(self.processes.conditions())
            .and(tags.condition("s.stack_id"));
        let by_thread = self.tree_by() == TreeBy::Thread;
        let (with, source) = if self.is_answered_by_sums() {
            (String::new(), SUMS.replace("SAMPLED", SAMPLED))
        } else {
            (
                format!("WITH {}\n", fact::rows(self.time, &self.processes)),
                self.stack_facts(by_thread),
            )
        };
        let source_name = match self.metric {
            Metric::Cpu if self.is_answered_by_sums() => column(SAMPLED, "source"),
            Metric::Cpu => column(SAMPLED_EVENTS, "source"),
            Metric::Wait | Metric::Ready => "'context_switches' AS source".to_owned(),
        };
        let tid = if by_thread {
            "t.tid"
        } else {
            "CAST(NULL AS INT) AS tid"
        };
        let thread = if by_thread {
            "\nLEFT JOIN thread t ON t.thread_key = s.thread_key"
        } else {
            ""
        };
        format!(
            "{with}SELECT s.process_key, {PROCESS_COLUMNS}, s.thread_key, {tid}, s.stack_id, {source_name}, s.value_ns, s.samples
FROM ({source}
) s
LEFT JOIN process p ON p.process_key = s.process_key{thread}{conditions}
ORDER BY s.process_key, s.thread_key, s.stack_id"
        )
    }

    /// Returns `true` if sums by stack are enough.
    fn is_answered_by_sums(&self) -> bool {
        self.metric == Metric::Cpu && self.tree_by() != TreeBy::Thread && self.time.is_unlimited()
    }

    fn stack_facts(&self, by_thread: bool) -> String {
        let interval = |name: &str| {
            let is_some = format!("{name}_end > {name}_start");
            let sum =
                format!("coalesce(sum({name}_end - {name}_start) FILTER (WHERE {is_some}), 0)");
            (sum, format!("count(*) FILTER (WHERE {is_some})"))
        };
        let (value, samples) = match self.metric {
            Metric::Cpu => {
                let (run, runs) = interval("run");
                // Checked for the trace as a whole: a process without samples in a trace that has
                // some did not run long enough to be sampled, and its slices must not be mixed with
                // samples of others.
                let has_samples = format!("({SAMPLED_EVENTS}) > 0");
                (
                    format!("CASE WHEN {has_samples} THEN coalesce(sum(cpu_ns), 0) ELSE {run} END"),
                    format!("CASE WHEN {has_samples} THEN count(cpu_ns) ELSE {runs} END"),
                )
            }
            Metric::Wait => interval("wait"),
            Metric::Ready => interval("ready"),
        };
        let (thread, group) = if by_thread {
            ("thread_key", "process_key, thread_key, stack_id")
        } else {
            ("CAST(NULL AS INT) AS thread_key", "process_key, stack_id")
        };
        format!(
            "
  SELECT process_key, {thread}, stack_id, {value} AS value_ns, {samples} AS samples
  FROM {} GROUP BY {group}",
            fact::TABLE
        )
    }

    /// Queries call trees.
    ///
    /// # Errors
    /// The trace has neither samples nor context switches, or the extract only sums of them; the
    /// query fails.
    pub fn call_trees(&self, session: &Session) -> Result<Vec<TreeGroup>> {
        self.check_stacks(session)?;
        let rows: Vec<StackRow> = ask(session, &self.stack_sql(&self.tags_of_trees()))?;
        let frames = session.frames()?;
        let empty = TraceFrames::default();
        let mut names = Names::new(frames.trace(0).unwrap_or(&empty));
        let mut groups: Vec<TreeGroup> = Vec::new();
        let by = self.tree_by();
        let key = |row: &StackRow| match by {
            TreeBy::Process => (row.process_key, None),
            TreeBy::Thread => (row.process_key, row.thread_key),
            TreeBy::All => (None, None),
        };
        // Rows are sorted by these keys, so that the rows of one group are adjacent.
        for rows in rows.chunk_by(|a, b| key(a) == key(b)) {
            groups.extend(self.tree_group(rows, &mut names));
        }
        // The largest group comes last, which is next to the prompt when a terminal has scrolled;
        // the sort is stable, so that equal ones keep the order of the statement.
        groups.sort_by_key(|group| group.total_ns);
        self.top.cut(&mut groups);
        Ok(groups)
    }

    /// Returns the weight of each stack whose tags match, by process, thread and stack, batch by
    /// batch.
    ///
    /// # Errors
    /// The errors of [`Self::call_trees`]; later errors are items.
    pub fn stack_rows(
        &self,
        session: &Session,
        tags: &TagQuery,
    ) -> Result<impl Iterator<Item = Result<Vec<StackRow>>>> {
        self.check_stacks(session)?;
        let answer = session.sql(&self.stack_sql(tags))?;
        Ok(answer.map(|batch| Ok(StackRow::read(&batch?)?)))
    }

    fn check_stacks(&self, session: &Session) -> Result<()> {
        check(session, self.time)?;
        let has_switches = is_recorded(session, "context_switch")?;
        match self.metric {
            Metric::Cpu if self.is_answered_by_sums() && has_rows(session, "cpu_stack")? => Ok(()),
            Metric::Cpu if has_switches || is_recorded(session, "cpu_sample")? => Ok(()),
            Metric::Cpu => Err(Error::NeedsRows {
                what: "samples and context switches",
            }),
            _ if has_switches => Ok(()),
            _ => check_waits(session).and(Err(Error::NeedsRows {
                what: "context switches",
            })),
        }
    }

    /// Returns the trees of one group of stacks; `None` if no stack has the method of a butterfly.
    fn tree_group(&self, rows: &[StackRow], names: &mut Names<'_>) -> Option<TreeGroup> {
        let first = rows.first()?;
        let source = CpuSource::named(&first.source).unwrap_or(CpuSource::ContextSwitches);
        let (process_key, group) = match self.tree_by() {
            TreeBy::All => (None, StackRow::default()),
            _ => (first.process_key, first.clone()),
        };
        let mut all = Vec::new();
        let mut total_ns = 0;
        for (tree, stacks) in self.trees_of(rows, names) {
            total_ns = stacks.total();
            let lines = stacks.lines(self.fold(), |name| names.text(name));
            let of = TreeRow {
                process_key,
                pid: group.pid,
                process: group.process.clone(),
                tid: group.tid,
                metric: self.metric.word().to_owned(),
                source: source.name().to_owned(),
                tree: tree.to_owned(),
                ..TreeRow::default()
            };
            all.extend(
                lines
                    .iter()
                    .enumerate()
                    .map(|(id, line)| names.row(&of, id, line, total_ns)),
            );
        }
        let group = TreeGroup {
            process: group.process,
            pid: group.pid,
            command_line: group.command_line,
            process_start_ns: group.process_start_ns,
            process_stop_ns: group.process_stop_ns,
            tid: group.tid,
            source,
            total_ns,
            rows: all,
        };
        (!group.rows.is_empty()).then_some(group)
    }

    /// Returns `true` if all names are addresses. Each address has a small share, so all nodes
    /// would be folded into one meaningless line.
    fn is_folded_without_names(&self, rows: &[StackRow], names: &mut Names<'_>) -> bool {
        let folds = self.min_percent > 0.0 && self.butterfly.is_none();
        folds
            && !rows.iter().any(|row| {
                names
                    .stack(row.stack_id)
                    .iter()
                    .any(|name| names.is_named(*name))
            })
    }

    fn trees_of(
        &self,
        rows: &[StackRow],
        names: &mut Names<'_>,
    ) -> Vec<(&'static str, CallTree<u32>)> {
        let mut down = CallTree::default();
        let mut up = CallTree::default();
        let by_module = self.by == By::Module || self.is_folded_without_names(rows, names);
        let shape = self.shape();
        let mut fitting = match shape {
            Shape::Butterfly(filter) => Some(Fitting {
                filter: TextFilter::parse(filter),
                known: Vec::new(),
            }),
            _ => None,
        };
        for row in rows {
            let mut innermost_first = names.stack(row.stack_id);
            if by_module {
                innermost_first
                    .iter_mut()
                    .for_each(|name| *name = names.module(*name));
                // Adjacent frames of one module are one call into it.
                innermost_first.dedup();
            }
            let outermost_first = || innermost_first.iter().rev().copied();
            match (&shape, &mut fitting) {
                (Shape::BottomUp, _) => {
                    up.add_callers(innermost_first, row.value_ns, row.value_ns, row.samples);
                }
                (_, None) => down.add(outermost_first(), row.value_ns, row.samples),
                (_, Some(fitting)) => {
                    let fits = |name: &u32| fitting.has(*name, names);
                    // The outermost frame that matches: a stack through a recursive method would
                    // otherwise count once for each of its frames.
                    let Some(at) = innermost_first.iter().rposition(fits) else {
                        continue;
                    };
                    let method = innermost_first.get(at);
                    // A method that calls itself is in the middle by its outermost frame, and runs
                    // in its innermost one.
                    let own = if innermost_first.first() == method {
                        row.value_ns
                    } else {
                        0
                    };
                    let callers = innermost_first.iter().skip(at).copied();
                    up.add_callers(callers, row.value_ns, own, row.samples);
                    let callees = innermost_first.iter().take(at + 1).rev().copied();
                    down.add(callees, row.value_ns, row.samples);
                }
            }
        }
        match shape {
            Shape::TopDown => vec![("top_down", down)],
            Shape::BottomUp => vec![("bottom_up", up)],
            Shape::Butterfly(_) => vec![("callers", up), ("callees", down)],
        }
    }
}

/// Stacks with their weights, from the sums; without samples from the scheduling slices.
const SUMS: &str = "
  SELECT process_key, CAST(NULL AS INT) AS thread_key, stack_id, cpu_ns AS value_ns, samples FROM cpu_stack
  UNION ALL
  SELECT process_key, CAST(NULL AS INT), stack_id, sum(run_ns), count(*) FROM context_switch
  WHERE run_ns IS NOT NULL AND (SAMPLED) = 0
  GROUP BY process_key, stack_id";

/// Methods that match a filter; each one is tested once.
struct Fitting {
    filter: TextFilter,
    known: Vec<Option<bool>>,
}

impl Fitting {
    fn has(&mut self, name: u32, names: &Names<'_>) -> bool {
        let at = name as usize;
        if self.known.len() <= at {
            self.known.resize(at + 1, None);
        }
        let fits = || {
            let Some(of) = names.of(name) else {
                return false;
            };
            self.filter.matches(Some(&of.text()))
                || of.method.is_some() && self.filter.matches(of.method.as_deref())
        };
        let known = self.known.get(at).copied().flatten().unwrap_or_else(fits);
        self.known
            .get_mut(at)
            .into_iter()
            .for_each(|slot| *slot = Some(known));
        known
    }
}
