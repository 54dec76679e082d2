//! The critical path as a question: the lines above its rows, and the limits of text.

use std::collections::BTreeSet;

use etwkit_question::Error;
use etwkit_question::Format::FineMilliseconds;
use etwkit_question::group::Top;
use etwkit_question::rows::Field;
use etwkit_question::{Answer, Example, Form, Line, Question, fields};
use etwkit_sql::Session;
use etwkit_sql::time_format::seconds;

use super::rows::{LeftOut, Node, ProcessShare, Segment, Share, keep_largest};
use super::view::{PROCESSES, PathProperties, SEGMENTS, SHARES, TREE, WithStacks, who};
use super::{CriticalPath, PathAnswer, PathRequest, ThreadChoice};
use crate::Result;
use crate::slice::question;
use crate::stacks::{StackText, Stacks};
use crate::threads::Thread;

/// Default number of rows in text: together with the lines above them about a screenful.
const SHOWN: usize = 20;

/// Number of rows of shares of the time if other rows are below them.
const SHOWN_ABOVE: usize = 8;

/// Maximum number of processes that are listed if several match.
const LISTED: usize = 20;

impl Question for PathRequest {
    const NAME: &'static str = "critical-path";
    const SENTENCE: &'static str = "Where the time of a process or thread went, \
                                    with each wait replaced by the work of the thread that ended it";
    const USUAL: &'static [&'static str] = &["thread", "tree", "by-process", "sums"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "--process setup slow.etl",
            answer: "what the start of setup.exe consists of",
        },
        Example {
            words: "--process setup --tree slow.etl",
            answer: "the same as a tree of calls",
        },
    ];

    fn form(&self) -> Form<Self> {
        // The SQL is the query for context switches, along which a path is followed from row to
        // row.
        let sql = question(&[self.time]);
        // JSON and CSV get all rows, unless a number is given.
        // An answer for programs is complete; people get what fits a screen.
        let answer = |asked: &Self, session: &Session| {
            Self {
                top: asked.top.or(Some(0)),
                ..asked.clone()
            }
            .answer_for_people(session)
        };
        let all = PathProperties { has_unknown: true };
        let form = if self.by_process {
            let describe = move |_: &Self, fields: &mut [Field]| {
                PROCESSES.describe::<ProcessShare>(&all, Into::into, fields);
            };
            Form::made::<ProcessShare>(sql, answer).describing(describe)
        } else if self.sums {
            let describe = move |_: &Self, fields: &mut [Field]| {
                SHARES.describe::<Share>(&all, Into::into, fields);
            };
            Form::made::<Share>(sql, answer).describing(describe)
        } else if self.tree {
            Form::made::<Node>(sql, answer).with_fields(fields::<Stacks>())
        } else {
            Form::made::<Segment>(sql, answer).with_fields(fields::<Stacks>())
        };
        form.top(Top {
            count: self.top,
            skip: 0,
        })
    }

    fn answer_for_people(&self, session: &Session) -> Result<Answer> {
        // The number of segments is known before the path is followed, so that the others are not
        // held.
        match self.ask_keeping(session, self.segments())? {
            PathAnswer::Path(path) => self.shown(*path, &StackText::new(session)?),
            PathAnswer::Several(threads) => Err(several(&threads)),
            PathAnswer::None => {
                let nothing = "no matching thread ran";
                let none = Answer::rows(
                    &PathProperties { has_unknown: false },
                    &SEGMENTS,
                    Vec::new(),
                );
                Ok(none.or_line(Line::new(nothing)))
            }
        }
    }
}

/// Returns the error for several processes, which have no common path.
fn several(threads: &[Thread]) -> Error {
    let name = |thread: &Thread| {
        who(
            thread.process.as_deref().or(Some("?")),
            thread.pid.or(Some(-1)),
            None,
        )
    };
    let names: Vec<String> = threads.iter().take(LISTED).map(name).collect();
    let message = format!(
        "{} processes match, and a path is of one process: {}",
        threads.len(),
        names.join(" ")
    );
    let ids: BTreeSet<_> = threads.iter().map(|thread| thread.pid).collect();
    let how = if ids.len() < threads.len() {
        "ids were reused: name one by its id and command line, --process ID --cmdline \"*TEXT*\", or a time in \
         which no other ran, --range A..B"
    } else {
        "name one of them by its id: --process ID"
    };
    Error::TooWide { message, how }
}

impl PathRequest {
    fn shown(&self, mut path: CriticalPath, stacks: &StackText) -> Result<Answer> {
        let head = head(&path);
        let shown = PathProperties {
            has_unknown: path.processes.iter().any(|row| row.unknown_ns > 0),
        };
        if self.by_process {
            let more = self.cut(&mut path.processes, |row| row.total_ns);
            return Ok(Answer::rows(&shown, &PROCESSES, path.processes)
                .with_head(head)
                .with_foot(more));
        }
        if self.sums {
            let more = self.cut(&mut path.shares, |row| row.duration_ns);
            return Ok(Answer::rows(&shown, &SHARES, path.shares)
                .with_head(head)
                .with_foot(more));
        }
        let more = cut(&mut path.shares, SHOWN_ABOVE, |row| row.duration_ns);
        let more = more.map(|line| line.words(" (--sums shows more)"));
        let above = Answer::rows(&shown, &SHARES, path.shares).with_head(head);
        let above = above
            // The shares above are a summary of what follows.
            .with_foot(more.into_iter().chain([Line::default()]))
            .aside();
        let below = if self.tree {
            let more = self.cut_tree(&mut path.tree);
            let of = |row: &Node| (row.stack_id, row.readying_stack_id);
            Answer::rows(&shown, &TREE, self.with_stacks(path.tree, stacks, of)).with_foot(more)
        } else {
            let more = self.more_segments(path.left_out);
            let of = |row: &Segment| (row.stack_id, row.readying_stack_id);
            Answer::rows(
                &shown,
                &SEGMENTS,
                self.with_stacks(path.segments, stacks, of),
            )
            .with_foot(more)
        };
        Ok(Answer::report([
            ("", String::new(), above),
            ("", String::new(), below),
        ]))
    }

    fn with_stacks<R>(
        &self,
        rows: Vec<R>,
        stacks: &StackText,
        ids: impl Fn(&R) -> (Option<i64>, Option<i64>),
    ) -> Vec<WithStacks<R>> {
        let with_stacks = |row: R| WithStacks {
            stacks: Stacks::of(stacks, self.stacks, ids(&row)),
            row,
        };
        rows.into_iter().map(with_stacks).collect()
    }

    /// Returns the number of rows that are shown.
    fn most(&self) -> usize {
        match self.top {
            Some(0) => usize::MAX,
            top => top.unwrap_or(SHOWN),
        }
    }

    /// Keeps the first rows, which are the largest; returns a line with the number of omitted ones,
    /// unless a number of rows was given.
    fn cut<R>(&self, rows: &mut Vec<R>, duration: fn(&R) -> i64) -> Option<Line> {
        let more = cut(rows, self.most(), duration);
        // Whoever gives a number knows that there are more.
        more.filter(|_| self.top.is_none())
            .map(|line| line.words(ALL))
    }

    /// Returns the number of segments that the answer has.
    fn segments(&self) -> usize {
        if self.tree || self.by_process || self.sums {
            0
        } else {
            self.most()
        }
    }

    /// Returns a line with the number of omitted segments, unless a number of them was given. It has
    /// their time, since many short segments may be most of a path.
    fn more_segments(&self, left_out: LeftOut) -> Option<Line> {
        let LeftOut {
            segments,
            duration_ns,
        } = left_out;
        (segments > 0 && self.top.is_none()).then(|| more(segments, duration_ns).words(ALL))
    }

    /// Keeps the threads with most time. The thread above a kept one is also kept: it has at least
    /// as much time, and comes before it.
    fn cut_tree(&self, tree: &mut Vec<Node>) -> Option<Line> {
        let (left_out, _) = keep_largest(tree, self.most(), |row| row.total_ns);
        let line = || {
            Line::new("… ")
                .whole(count(left_out))
                .words(" more")
                .words(ALL)
        };
        (left_out > 0 && self.top.is_none()).then(line)
    }
}

/// Text about the option for all rows.
const ALL: &str = " (--top 0 shows all)";

fn count(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// Returns the line with the number of rows that are left out, and their time.
fn more(left_out: usize, duration_ns: i64) -> Line {
    let line = Line::new("… ").whole(count(left_out)).words(" more, ");
    line.value(FineMilliseconds, duration_ns).words(" ms")
}

fn sum<R>(rows: &[R], of: fn(&R) -> i64) -> i64 {
    rows.iter().map(of).fold(0, i64::saturating_add)
}

fn cut<R>(rows: &mut Vec<R>, count: usize, duration: fn(&R) -> i64) -> Option<Line> {
    // Only the first rows are kept; they are sorted by their size.
    let rest = rows.split_off(count.min(rows.len()));
    (!rest.is_empty()).then(|| more(rest.len(), sum(&rest, duration)))
}

/// Returns the lines about the thread, its choice, other matching threads, and its wait when the
/// trace ended.
fn head(path: &CriticalPath) -> Vec<Line> {
    let CriticalPath {
        thread,
        from_ns,
        to_ns,
        ..
    } = path;
    let of = who(thread.process.as_deref(), thread.pid, Some(thread.tid));
    let from = seconds(*from_ns, 6);
    let to = seconds(*to_ns, 6);
    let heading = Line::heading(format!("Critical path of {of} from {from} to {to} s: "));
    let heading = heading
        .value(FineMilliseconds, to_ns.saturating_sub(*from_ns))
        .words(" ms");
    let since = path
        .open_wait
        .as_ref()
        // Otherwise the wait is part of the path and is shown there.
        .filter(|(since, _)| since >= to_ns)
        .map(|(since, reason)| {
            let since = seconds(*since, 6);
            let reason = reason.as_deref().unwrap_or("unknown reason");
            Line::new(format!(
                "Since {since} s it waits ({reason}), and did when the trace ended"
            ))
        });
    std::iter::once(heading)
        .chain(others(path))
        .chain(since)
        .collect()
}

/// Returns the lines about the choice of this thread among the matching ones, and the others that
/// ran longest.
fn others(path: &CriticalPath) -> Vec<Line> {
    if path.others == 0 {
        return Vec::new();
    }
    let rule = match path.chosen {
        ThreadChoice::First => "It is the first thread of its process",
        ThreadChoice::Longest => "It is the thread that ran longest",
        // What computes most is more often the cause than the program that is slow.
        ThreadChoice::LongestOfAll => {
            "It is the thread that ran longest, for which a slow program may only wait: \
             --process names that program"
        }
    };
    let threads = if path.others == 1 {
        "thread matches"
    } else {
        "threads match"
    };
    let listed = path.best_others.len();
    let which = if listed < path.others {
        ", those that ran longest"
    } else {
        ""
    };
    let line = Line::new(format!("{rule}; ")).whole(count(path.others));
    let line = line.words(format!(" other {threads}, --thread names one{which}:"));
    let other = |(thread, run_ns): &(Thread, i64)| {
        let of = who(thread.process.as_deref(), thread.pid, Some(thread.tid));
        Line::new(format!("  {of} ran "))
            .value(FineMilliseconds, *run_ns)
            .words(" ms")
    };
    std::iter::once(line)
        .chain(path.best_others.iter().map(other))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_had_one_id_are_named_by_more_than_it() {
        let hint = |pids: [i64; 2]| {
            let thread = |pid| Thread {
                pid: Some(pid),
                process: Some("tool.exe".into()),
                ..Thread::default()
            };
            match several(&pids.map(thread)) {
                Error::TooWide { how, .. } => how,
                error => panic!("{error}"),
            }
        };
        assert_eq!(hint([8, 12]), "name one of them by its id: --process ID");
        assert!(hint([8, 8]).contains("--cmdline"), "{}", hint([8, 8]));
    }
}
