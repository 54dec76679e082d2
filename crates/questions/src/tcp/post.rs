//! Sends that a filter of the network stack held back and released too late: later sends of the
//! program overtook them.

use super::rows::end;
use super::view::tcb;
use super::{TcpRequest, recorded};
use etwkit_question::Format::{Id, Moment, ProcessLine, Whole, Word};
use etwkit_question::declare;
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS};
use etwkit_question::{Column, Line, Ranked, View};
use etwkit_question::{Error, Result, ask, has_rows};
use etwkit_sql::Session;

/// Maximum number of events of a connection between a held-back send and its injection.
const WINDOW: usize = 100;

/// All three sends of an issue lie within this time.
const NEAR_NS: i64 = 10_000_000;

declare! {
    /// A send.
    row PostRow {
        connection_id: i64 = "Number of the connection.",
        ..process = "Process.",
        tcb: String = "Address of the control block.",
        local: String = "Local address and port.",
        remote: String = "Remote address and port.",
        ts_ns: i64 = "Time.",
        kind: String = "`post` or `inject`.",
        size_bytes: i64 = "Bytes.",
        sequence: i64 = "Sequence number at the time of the send.",
        ..process_details,
    }

    /// One of the three sends of an issue.
    pub row PostIssueRow: process {
        issue: i64 = "Number of the issue, from 1.",
        role: String =
            "`captured`: the send that the filter held back; `overtaking`: the send in that time; \
             `injected`: the moment at which it was let go.",
        connection_id: i64 = "Number of the connection.",
        ..process = "Process.",
        tcb: String = "Address of the control block.",
        local: String = "Local address and port.",
        remote: String = "Remote address and port.",
        ts_ns: i64 = "Time.",
        size_bytes: i64 = "Bytes.",
        sequence: i64 = "Sequence number at the time of the send.",
        sequence_difference: Option<i64> =
            "By how much the stream has advanced since the send was held back; only for `injected`.",
        ..process_details,
    }
}

type PostIssueColumn = Column<TcpRequest, PostIssueRow>;

/// Columns of overtaken sends.
pub(super) const ISSUES: View<TcpRequest, PostIssueRow> = View::new(
    &[
        PostIssueColumn::new("Issue", "Issue", Whole, |_, row| row.issue.into()),
        PostIssueColumn::new("Role", "What", Word, |_, row| {
            match row.role.as_str() {
                "captured" => "Posted, captured by a filter",
                "overtaking" => "Posted behind it",
                _ => "Injected too late",
            }
            .into()
        }),
        PostIssueColumn::new("EventTime", "Time", Moment, |_, row| row.ts_ns.into()),
        PostIssueColumn::new("Bytes", "Bytes", Whole, |_, row| row.size_bytes.into()),
        PostIssueColumn::new("SndNext", "SndNext", Id, |_, row| row.sequence.into()),
        PostIssueColumn::new("SequenceDiff", "SequenceNr Diff", Whole, |_, row| {
            row.sequence_difference.into()
        }),
        PostIssueColumn::new(
            "Connection",
            "Local IP/port -> remote IP/port",
            Word,
            |_, row| format!("{} -> {}", row.local, row.remote).into(),
        ),
        PostIssueColumn::new("TCB", "TCB", Word, |_, row| tcb(&row.tcb).into())
            .shown_if(|asked| asked.details),
        PostIssueColumn::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.ts_ns as f64,
)
.ranking(|_| Ranked::No)
.with_total(|_, rows, _| vec![Line::new("Issues: ").whole(rows.len() as i64 / 3)]);

impl TcpRequest {
    /// Returns the SQL for all sends of programs, in which overtaken ones are searched for.
    #[must_use]
    pub fn posts_sql(&self) -> String {
        let conditions = Conditions::of("e.kind IN ('post', 'inject')").and(self.conditions());
        format!(
            "SELECT c.connection_id, c.process_key, {PROCESS_COLUMNS}, hex(c.tcb) AS tcb, {} AS local, {} AS remote,
  {} AS ts_ns, e.kind, e.size_bytes, e.sequence
FROM tcp_event e
JOIN tcp_connection c ON c.connection_id = e.connection_id
LEFT JOIN process p ON p.process_key = c.process_key{}{conditions}
ORDER BY c.connection_id, e.ts_ns",
            end("local"),
            end("remote"),
            self.zero.moved("e.ts_ns"),
            self.zero.join()
        )
    }

    /// Queries sends that were overtaken.
    ///
    /// # Errors
    /// No connections were recorded; the extract has no single events; the query fails.
    pub fn ask_post_issues(&self, session: &Session) -> Result<Vec<PostIssueRow>> {
        recorded(session)?;
        if !has_rows(session, "tcp_event")? {
            return Err(Error::NeedsRows {
                what: "events of TCP connections",
            });
        }
        let rows: Vec<PostRow> = ask(session, &self.posts_sql())?;
        let mut found = Vec::new();
        for posts in rows.chunk_by(|a, b| a.connection_id == b.connection_id) {
            for (captured, overtaking, injected) in issues(posts) {
                let issue = (found.len() / 3 + 1) as i64;
                let difference = sequence_difference(captured.sequence, injected.sequence);
                found.push(row(issue, "captured", captured, None));
                found.push(row(issue, "overtaking", overtaking, None));
                found.push(row(issue, "injected", injected, Some(difference)));
            }
        }
        Ok(found)
    }
}

fn row(issue: i64, role: &str, post: &PostRow, sequence_difference: Option<i64>) -> PostIssueRow {
    let PostRow {
        connection_id,
        process_key,
        pid,
        ts_ns,
        size_bytes,
        sequence,
        ..
    } = *post;
    PostIssueRow {
        issue,
        role: role.to_owned(),
        connection_id,
        process_key,
        pid,
        process: post.process.clone(),
        tcb: post.tcb.clone(),
        local: post.local.clone(),
        remote: post.remote.clone(),
        ts_ns,
        size_bytes,
        sequence,
        sequence_difference,
        process_start_ns: post.process_start_ns,
        process_stop_ns: post.process_stop_ns,
        session_id: post.session_id,
        command_line: post.command_line.clone(),
    }
}

/// Returns the difference of two sequence numbers, which have 32 bits and wrap.
fn sequence_difference(from: i64, to: i64) -> i64 {
    i64::from((to as u32).wrapping_sub(from as u32).cast_signed())
}

/// Returns the late sends of one connection, whose events are in order of time: the held-back send,
/// the send that overtook it, and the release.
///
/// A send that is released where it was held back (same bytes, same sequence number) is in order.
/// Of the others, the last earlier send of the same size was held back; it was overtaken if another
/// send followed it that was not held back itself.
fn issues(posts: &[PostRow]) -> Vec<(&PostRow, &PostRow, &PostRow)> {
    // A send that was released in order belongs to its own event, and cannot be the one that was
    // held back for another.
    let mut is_in_order = vec![false; posts.len()];
    let mut has_own = vec![false; posts.len()];
    for (at, injected) in posts
        .iter()
        .enumerate()
        .filter(|(_, post)| post.kind == "inject")
    {
        let first = at.saturating_sub(WINDOW);
        // The latest earlier one: a program may send the same bytes several times.
        let same = (first..at).rev().find(|before| {
            posts.get(*before).is_some_and(|post| {
                post.kind == "post"
                    && post.size_bytes == injected.size_bytes
                    && post.sequence == injected.sequence
            })
        });
        if let Some(same) = same {
            is_in_order
                .get_mut(at)
                .into_iter()
                .for_each(|in_order| *in_order = true);
            has_own
                .get_mut(same)
                .into_iter()
                .for_each(|own| *own = true);
        }
    }
    let late = posts.iter().enumerate().zip(&is_in_order);
    let late = late.filter(|((_, post), in_order)| post.kind == "inject" && !**in_order);
    late.filter_map(|((at, injected), _)| overtaken(posts, &has_own, at, injected))
        .collect()
}

fn overtaken<'p>(
    posts: &'p [PostRow],
    has_own: &[bool],
    at: usize,
    injected: &'p PostRow,
) -> Option<(&'p PostRow, &'p PostRow, &'p PostRow)> {
    let first = at.saturating_sub(WINDOW);
    let before = posts.get(first..at)?;
    let own = has_own.get(first..at)?;
    let free = |index: usize| own.get(index) == Some(&false);
    // In reverse, since the filter releases a send a short time after it held it back.
    let candidates = before.iter().enumerate().rev();
    let mut captured = candidates.filter(|(index, post)| {
        post.kind == "post"
            && free(*index)
            && post.size_bytes == injected.size_bytes
            && injected.ts_ns.saturating_sub(post.ts_ns) <= NEAR_NS
    });
    captured.find_map(|(index, captured)| {
        let mut behind = before.iter().enumerate().skip(index + 1);
        let overtaking = behind.find(|(index, post)| post.kind == "post" && free(*index));
        overtaking.map(|(_, overtaking)| (captured, overtaking, injected))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sends(sends: &[(i64, &str, i64, i64)]) -> Vec<PostRow> {
        let row = |(ms, kind, size_bytes, sequence): &(i64, &str, i64, i64)| PostRow {
            ts_ns: ms * 1_000_000,
            kind: (*kind).to_owned(),
            size_bytes: *size_bytes,
            sequence: *sequence,
            ..PostRow::default()
        };
        sends.iter().map(row).collect()
    }

    /// Returns the times of each result in ms.
    fn found(list: &[(i64, &str, i64, i64)]) -> Vec<[i64; 3]> {
        let rows = sends(list);
        let ms = |row: &PostRow| row.ts_ns / 1_000_000;
        issues(&rows)
            .into_iter()
            .map(|(a, b, c)| [ms(a), ms(b), ms(c)])
            .collect()
    }

    #[test]
    fn a_send_that_is_let_go_behind_the_next_one_was_overtaken() {
        let overtaken = [
            (0, "post", 100, 1000),
            (1, "post", 50, 1000),
            (2, "inject", 100, 1050),
        ];
        assert_eq!(found(&overtaken), [[0, 1, 2]]);
        let rows = sends(&overtaken);
        assert_eq!(sequence_difference(rows[0].sequence, rows[2].sequence), 50);
        assert_eq!(sequence_difference(0xFFFF_FFF0, 0x10), 0x20);
    }

    #[test]
    fn sends_in_order_are_none() {
        // Released at the same place, and so is the second one.
        assert!(found(&[(0, "post", 100, 1000), (1, "inject", 100, 1000)]).is_empty());
        let both = [
            (0, "post", 100, 1000),
            (1, "inject", 100, 1000),
            (2, "post", 100, 1100),
            (3, "post", 70, 1200),
            (4, "inject", 100, 1100),
        ];
        assert!(found(&both).is_empty());
        // No send in between, or only the held-back one.
        assert!(found(&[(0, "post", 100, 1000), (1, "inject", 100, 1050)]).is_empty());
        let held = [
            (0, "post", 100, 1000),
            (1, "post", 50, 1000),
            (2, "inject", 50, 1000),
            (3, "inject", 100, 1050),
        ];
        assert!(found(&held).is_empty());
    }

    #[test]
    fn an_issue_lies_within_ten_milliseconds() {
        let at = |ms| {
            [
                (0, "post", 100, 1000),
                (1, "post", 50, 1000),
                (ms, "inject", 100, 1050),
            ]
        };
        assert_eq!((found(&at(10)).len(), found(&at(11)).len()), (1, 0));
    }
}
