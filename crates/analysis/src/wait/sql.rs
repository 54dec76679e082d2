//! The SQL of questions about waits.

use etwkit_question::Tagging;
use etwkit_question::covered::{Covered, Recorder};
use etwkit_question::sql::{Conditions, ends};
use etwkit_sql::DEFAULT_TAG_SET;
use etwkit_sql::filter::TextFilter;
use etwkit_sql::functions::wait_reason_name;
use etwkit_sql::literal::quoted;

use super::grouping::{Grouping, METHODS, MODULES};
use super::window::Window;
use super::{WaitBy, WaitRequest, WaitSort};

impl WaitRequest {
    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let grouping = Grouping::of(self.by);
        let (columns, group) = grouping.columns();
        let (a, b) = ends(self.time);
        // In sums by tag the filter chooses rows, not waits: a wait also has other tags.
        let tag = self.tag.as_deref().filter(|_| self.by != WaitBy::Tag);
        let in_stack = match self.by {
            WaitBy::Method => format!(",\n{METHODS}"),
            WaitBy::Module => format!(",\n{MODULES}"),
            WaitBy::Tag => format!(",\n{}", self.tagged()),
            _ => String::new(),
        };
        format!(
            "WITH {wait}{in_stack}
SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
  SELECT w.process_key, min(w.pid) AS pid, min(w.process) AS process, {columns},
    count(*) FILTER (WHERE wait_end >= wait_start) AS waits,
    coalesce(union_duration(wait_start, wait_end), 0) AS wait_ns,
    coalesce(sum(wait_end - wait_start) FILTER (WHERE wait_end >= wait_start), 0) AS wait_sum_ns,
    max(wait_end - wait_start) FILTER (WHERE wait_end >= wait_start) AS wait_max_ns,
    sum(wait_end - wait_start) FILTER (WHERE wait_end >= wait_start)
      / nullif(count(*) FILTER (WHERE wait_end >= wait_start), 0) AS wait_mean_ns,
    coalesce(union_duration(ready_start, ready_end), 0) AS ready_ns,
    coalesce(sum(ready_end - ready_start) FILTER (WHERE ready_end >= ready_start), 0) AS ready_sum_ns,
    max(ready_end - ready_start) FILTER (WHERE ready_end >= ready_start) AS ready_max_ns,
    count(*) FILTER (WHERE is_preempted AND w.in_ns BETWEEN {a} AND {b}) AS preemptions,
    count(*) FILTER (WHERE is_unknown) AS \"unknown\",
    count(*) FILTER (WHERE is_open_wait) AS open_waits,
    max(CASE WHEN is_open_wait THEN open_ns END) AS open_max_ns,
    count(DISTINCT w.thread_key) AS threads,
    min(coalesce(w.wait_start, w.ready_start, w.start_ns)) AS first_ns,
    min(w.process_start_ns) AS process_start_ns, min(w.process_stop_ns) AS process_stop_ns,
    min(w.command_line) AS command_line
  FROM {from} w{join}
  GROUP BY w.process_key{group}
){limits}
ORDER BY sort_value, wait_sum_ns, process_key{order}",
            wait = self.wait(tag),
            from = if self.by == WaitBy::Tag { "tagged" } else { "wait" },
            join = grouping.join,
            sort = self.sum_order(),
            limits = self.sum_limits(),
            order = grouping.keys.iter().map(|(_, name)| format!(", {name}")).collect::<String>(),
        )
    }

    /// Returns the SQL for waits with stacks that reach into a window, from which sums by method or
    /// module are made.
    pub(super) fn stack_sql(&self, window: Window) -> String {
        let (a, b) = ends(self.time);
        format!(
            "WITH {wait}
SELECT w.process_key, w.thread_key, w.stack_id, w.in_ns, w.wait_start, w.wait_end, w.ready_start, w.ready_end,
  coalesce(w.wait_start, w.ready_start, w.start_ns) AS first_ns, w.open_ns, w.is_open_wait, w.is_unknown,
  coalesce(w.is_preempted AND w.in_ns BETWEEN {a} AND {b}, false) AS is_preemption
FROM wait w
WHERE w.stack_id IS NOT NULL",
            wait = self.wait_in(window, self.tag.as_deref())
        )
    }

    /// Returns the SQL for single waits.
    #[must_use]
    pub fn list_sql(&self) -> String {
        let is_by_ready = matches!(
            self.sort,
            WaitSort::Ready | WaitSort::ReadyMax | WaitSort::ReadySum
        );
        // A preempted thread was ready and did not wait, so it has a place only in an order by
        // ready time.
        let has_preempted = is_by_ready && !self.chain;
        let conditions = Conditions::new()
            .when(!has_preempted, "NOT coalesce(is_preempted, false)")
            .when(self.sort == WaitSort::Open, "is_open_wait")
            // Limits on lengths are of single waits here.
            .ranges([("wait_ns", self.wait), ("ready_ns", self.ready)]);
        format!(
            "WITH {wait}
SELECT * FROM (
  SELECT w.process_key, w.pid, w.process, w.thread_key, t.tid, w.start_ns, w.readied_ns, w.in_ns,
    CASE WHEN w.is_open_wait THEN w.open_ns ELSE w.wait_ns END AS wait_ns, w.ready_ns, w.reason AS wait_reason, w.is_open_wait,
    w.ended_by, rp.pid AS readying_pid, rp.name AS readying_process, rt.tid AS readying_tid, w.stack_id, w.readying_stack_id,
    w.process_start_ns, w.process_stop_ns, w.command_line, w.is_preempted, CAST({sort} AS DOUBLE) AS sort_value
  FROM wait w
  LEFT JOIN thread t ON t.thread_key = w.thread_key
  LEFT JOIN thread rt ON rt.thread_key = w.readying_thread_key
  LEFT JOIN process rp ON rp.process_key = rt.process_key
){conditions}
ORDER BY sort_value{direction}, start_ns, thread_key{limit}",
            wait = self.wait(self.tag.as_deref()),
            sort = self.list_order(),
            direction = if self.top.most().is_some() { " DESC" } else { "" },
            limit = self.limit(),
        )
    }

    /// Returns the limit of the SQL: the engine chooses the largest rows, and need not hold the
    /// others.
    // Rows that are skipped have to be computed as well.
    fn limit(&self) -> String {
        let limit = |count: usize| {
            format!(
                "\nLIMIT {}",
                count.saturating_add(self.top.skip).min(1 << 40)
            )
        };
        self.top.most().map_or_else(String::new, limit)
    }

    /// Returns rows of switch-outs, clipped to the range of the trace; with `tag`, only those with
    /// a matching tag in some set.
    fn wait(&self, tag: Option<&str>) -> String {
        self.wait_in(Window::ALL, tag)
    }

    /// Returns these rows, as far as they may reach into a window.
    fn wait_in(&self, window: Window, tag: Option<&str>) -> String {
        let (a, b) = ends(self.time);
        // Joined with the condition of the process, which is computed once for each process.
        let (process, fits) = self.process();
        let is_range = !self.time.is_unlimited();
        let method = self.method.as_deref();
        // The idle process waits for nothing. A thread whose process is not known is kept, which a
        // plain comparison with null would drop.
        let is_not_idle = "coalesce(p.pid, -1) <> 0".to_owned();
        let conditions =
            Conditions::of("c.last_out_ns IS NOT NULL")
                .and([is_not_idle])
                .and(fits)
                // Redundant with the clipping below, but rows outside need not be computed then, and
                // their row groups need not be read.
                .and(is_range.then(|| {
                    format!("c.last_out_ns <= {b} AND (c.in_ns >= {a} OR c.in_ns IS NULL)")
                }))
                // Rows of other windows are not read.
                .and(window.condition())
                .and(self.tid.map(|tid| {
                    format!("c.thread_key IN (SELECT thread_key FROM thread WHERE tid = {tid})")
                }))
                .and(self.reason.as_deref().map(reason_condition))
                .and(method.map(|filter| {
                    format!("stack_contains(c.stack_id, {})", quoted(&frames(filter)))
                }))
                .text(&self.tags_of("c.stack_id"), tag);
        let reaches = if self.time.is_unlimited() {
            String::new()
        } else {
            "\n  WHERE wait_end >= wait_start OR ready_end >= ready_start OR (is_open_wait AND open_ns >= 0) OR is_unknown".to_owned()
        };
        let end = Covered::whole(Recorder::Kernel).end;
        format!(
            "wait AS (
  SELECT * FROM (
    SELECT c.process_key, p.pid, p.name AS process, p.start_ns AS process_start_ns, p.stop_ns AS process_stop_ns,
      p.command_line, c.thread_key, c.stack_id, c.readying_thread_key, c.readying_stack_id, c.is_open_wait,
      wait_reason_name(c.wait_reason) AS reason, c.last_out_ns AS start_ns, c.readied_ns, c.in_ns, c.wait_ns, c.ready_ns,
      c.prev_state IN (1, 3, 7) AS is_preempted,
      c.wait_ns IS NULL AND NOT c.is_open_wait AND c.in_ns BETWEEN {a} AND {b} AS is_unknown,
      CASE WHEN c.prev_state IN (1, 3, 7) THEN NULL WHEN c.is_open_wait THEN 'open'
        WHEN c.is_readied_by_dpc THEN 'dpc' WHEN c.readying_thread_key IS NOT NULL THEN 'thread' ELSE 'not_recorded' END AS ended_by,
      CASE WHEN c.prev_state NOT IN (1, 3, 7) AND c.wait_ns IS NOT NULL THEN greatest(c.last_out_ns, {a}) END AS wait_start,
      CASE WHEN c.prev_state NOT IN (1, 3, 7) AND c.wait_ns IS NOT NULL THEN least(c.last_out_ns + c.wait_ns, {b}) END AS wait_end,
      CASE WHEN c.ready_ns IS NOT NULL THEN greatest(coalesce(c.in_ns, e.end_ns) - c.ready_ns, {a}) END AS ready_start,
      CASE WHEN c.ready_ns IS NOT NULL THEN least(coalesce(c.in_ns, e.end_ns), {b}) END AS ready_end,
      CASE WHEN c.is_open_wait THEN least(e.end_ns, {b}) - greatest(c.last_out_ns, {a}) END AS open_ns
    FROM context_switch c
    LEFT JOIN {process} p ON p.process_key = c.process_key
    CROSS JOIN (SELECT coalesce(max({end}), 0) AS end_ns FROM trace) e{conditions}
  ){reaches}
)"
        )
    }

    /// Returns the names of sets of stack tags, as SQL texts.
    fn sets(&self) -> Vec<String> {
        let own = Tagging::names(&self.stack_tag_file);
        let all = std::iter::once(DEFAULT_TAG_SET.to_owned()).chain(own);
        all.map(|set| quoted(&set)).collect()
    }

    /// Returns the tags of a stack by all sets, one per line; a filter looks at each line.
    fn tags_of(&self, stack: &str) -> String {
        // Each set is a line of its own, so that a filter can match any of them.
        let tags: Vec<String> = self
            .sets()
            .iter()
            .map(|set| format!("coalesce(stack_tag({stack}, {set}), '')"))
            .collect();
        tags.join(" || chr(10) || ")
    }

    /// Returns waits with their tags, once for each set that has one for their stack.
    fn tagged(&self) -> String {
        let sets: Vec<String> = self.sets().iter().map(|set| format!("({set})")).collect();
        let conditions = Conditions::of("tag IS NOT NULL").text("tag", self.tag.as_deref());
        format!(
            "tagged AS (
  SELECT * FROM (
    SELECT w.*, s.tag_set, stack_tag(w.stack_id, s.tag_set) AS tag
    FROM wait w CROSS JOIN (VALUES {}) AS s(tag_set)
  ){conditions}
)",
            sets.join(", "),
        )
    }

    /// Returns the table of processes, and the condition that a process matches, which is computed
    /// once for each process. A thread without a process counts as one of a process without a name.
    fn process(&self) -> (String, Option<String>) {
        let conditions = self.processes.conditions();
        // A plain join is faster than one with a column that is always true.
        if conditions.is_empty() {
            return ("process".to_owned(), None);
        }
        let fits = conditions.joined();
        let unknown = "SELECT CAST(NULL AS INT) AS process_key, CAST(NULL AS INT) AS pid, CAST(NULL AS VARCHAR) AS name, \
             CAST(NULL AS VARCHAR) AS command_line, CAST(NULL AS INT) AS session_id, CAST(NULL AS VARCHAR) AS sid, \
             CAST(NULL AS BIGINT) AS start_ns, CAST(NULL AS BIGINT) AS stop_ns";
        let table = format!("(SELECT *, {fits} AS fits FROM process p)");
        (
            table,
            Some(format!(
                "coalesce(p.fits, (SELECT {fits} FROM ({unknown}) p))"
            )),
        )
    }

    fn sum_limits(&self) -> Conditions {
        Conditions::new().ranges([
            ("wait_ns", self.wait),
            ("ready_ns", self.ready),
            ("waits", self.count),
            ("wait_max_ns", self.max),
        ])
    }

    const fn sum_order(&self) -> &'static str {
        match self.sort {
            WaitSort::Wait => "wait_ns",
            WaitSort::WaitSum => "wait_sum_ns",
            WaitSort::WaitMax => "coalesce(wait_max_ns, 0)",
            WaitSort::WaitMean => "coalesce(wait_mean_ns, 0)",
            WaitSort::Ready => "ready_ns",
            WaitSort::ReadySum => "ready_sum_ns",
            WaitSort::ReadyMax => "coalesce(ready_max_ns, 0)",
            WaitSort::Count => "waits",
            WaitSort::Open => "coalesce(open_max_ns, 0)",
            WaitSort::Time => "coalesce(first_ns, 0)",
        }
    }

    const fn list_order(&self) -> &'static str {
        match self.sort {
            WaitSort::Ready | WaitSort::ReadySum | WaitSort::ReadyMax => "coalesce(w.ready_ns, 0)",
            WaitSort::Open => "coalesce(w.open_ns, 0)",
            WaitSort::Time => "w.start_ns",
            _ => "coalesce(CASE WHEN w.is_open_wait THEN w.open_ns ELSE w.wait_ns END, 0)",
        }
    }
}

/// Turns a filter on methods into one on frames, which start with their module.
fn frames(filter: &str) -> String {
    let frame = |part: &str| {
        let part = part.trim();
        let (sign, name) = part
            .strip_prefix('!')
            .map_or(("", part), |name| ("!", name.trim()));
        let has_module = name.contains(['!', '+']) || name == "*";
        // A filter with a module is already one on frames.
        if name.is_empty() || has_module {
            part.to_owned()
        } else {
            format!("{sign}*!{name};{sign}{name}")
        }
    };
    filter.split(';').map(frame).collect::<Vec<_>>().join(";")
}

/// Returns the condition that a wait reason passes a filter by its name or number. The filter is
/// applied to the 256 reasons here: there are millions of switches, and comparing texts would take
/// longer than the rest of the query.
fn reason_condition(filter: &str) -> String {
    let filter = TextFilter::parse(filter);
    let (fits, others): (Vec<i32>, Vec<i32>) = (0..=i32::from(u8::MAX)).partition(|reason| {
        filter.matches(Some(&format!("{}\n{reason}", wait_reason_name(*reason))))
    });
    // A missing reason has neither name nor number: it passes a filter that only excludes.
    let is_none_fit = filter.matches(Some("\n"));
    let list = |reasons: &[i32]| {
        reasons
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match (fits.as_slice(), others.as_slice()) {
        ([], _) if !is_none_fit => "FALSE".to_owned(),
        ([], _) => "c.wait_reason IS NULL".to_owned(),
        (_, []) if is_none_fit => "TRUE".to_owned(),
        (_, []) => "c.wait_reason IS NOT NULL".to_owned(),
        // The shorter list of both, since it is compared with each row.
        (few, many) if few.len() < many.len() => {
            format!("coalesce(c.wait_reason IN ({}), {is_none_fit})", list(few))
        }
        (_, few) => format!(
            "coalesce(c.wait_reason NOT IN ({}), {is_none_fit})",
            list(few)
        ),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn reasons_are_chosen_by_name_or_number() {
        for (filter, condition) in [
            (
                "DelayExecution;14",
                "coalesce(c.wait_reason IN (4, 14), false)",
            ),
            (
                "!DelayExecution;!Wr*Release",
                "coalesce(c.wait_reason NOT IN (4), true)",
            ),
            ("delay*;!4", "FALSE"),
            ("*", "TRUE"),
        ] {
            assert_eq!(super::reason_condition(filter), condition, "{filter}");
        }
    }

    #[test]
    fn methods_without_a_module_are_in_any() {
        for (filter, meaning) in [
            ("NtReadFile", "*!NtReadFile;NtReadFile"),
            ("ntdll.dll!*; flt*", "ntdll.dll!*;*!flt*;flt*"),
            ("!Wait*;a.sys+*", "!*!Wait*;!Wait*;a.sys+*"),
            ("*", "*"),
        ] {
            assert_eq!(super::frames(filter), meaning, "{filter}");
        }
    }
}
