//! The chain of waits behind a finding: whom the victim waited for in the longest piece, whom that thread
//! waited for, and so on down to the root.

use etwkit_question::group::Top;
use etwkit_question::range::Range;
use etwkit_sql::Session;

use super::finding::FindingRow;
use crate::Result;
use crate::chain::{Chain, ChainContext, ChainRow, MAX_LINKS};
use crate::duration::duration;
use crate::root::RootKind;
use crate::wait::{WaitRequest, WaitSort};

/// A wait must fill at least half of a piece for its chain to explain the piece: the rest is CPU or ready
/// time, about which the wait says nothing.
// As a divisor: a share would need floating-point numbers for times that have to be exact.
const LEAST_SHARE: i64 = 2;
/// Between names and ids, as in the sentences of findings.
const GAP: &str = " ";

/// The chain of the longest wait in the longest piece of a finding, one line for each wait, the victim's
/// first; nothing where the piece is not a wait.
pub(super) fn of(
    session: &Session,
    finding: &FindingRow,
    known: &ChainContext,
) -> Result<Option<String>> {
    // Rules about files or settings name no thread, and so have no wait.
    let FindingRow {
        tid: Some(tid),
        thread_key,
        at_ns: Some(from),
        longest_ns: Some(length),
        ..
    } = finding
    else {
        return Ok(None);
    };
    let request = WaitRequest {
        tid: Some(*tid),
        time: Range {
            min: *from,
            // A range has both of its ends, and the wait after the piece starts where that ends.
            max: from.saturating_add(*length).saturating_sub(1),
        },
        // The longest wait only, since the piece is the longest one and others would not explain
        // it.
        sort: WaitSort::Wait,
        top: Top {
            count: Some(1),
            ..Top::default()
        },
        // Chains leave out sleeps by default; one that a rule reports is one that a process suffers
        // from.
        all_waits: true,
        ..WaitRequest::default()
    };
    let chains = match request.chains_of(session, known) {
        Ok(chains) => chains,
        // Without the events that end waits nothing can be followed. The finding is valid all the same.
        Err(error) if error.is_nothing() => return Ok(None),
        Err(error) => return Err(error),
    };
    let is_it = |chain: &&Chain| {
        let wait = chain.links.first();
        // A range also selects waits that only reach into it, and thread ids are reused.
        let is_inside =
            wait.is_some_and(|wait| wait.thread_key == *thread_key && wait.start_ns >= Some(*from));
        let is_long = |total: i64| total.saturating_mul(LEAST_SHARE) >= *length;
        is_inside && chain.total_wait_ns().is_some_and(is_long)
    };
    Ok(chains.iter().find(is_it).map(text))
}

/// One line for each wait: who waited, how long, why, and for what.
fn text(chain: &Chain) -> String {
    let lines = chain.links.iter().enumerate().map(|(at, link)| {
        let target = match chain.links.get(at + 1) {
            Some(next) => next.who(GAP),
            // The readying thread is known, even if nothing of it is: its name is still of use.
            None if chain.root.kind == RootKind::NotRecorded.name() => match link.readying(GAP) {
                Some(by) => format!("{by}, of which nothing was recorded"),
                None => "something that was not recorded".to_owned(),
            },
            None => root(&chain.root),
        };
        let reason = link.wait_reason.as_deref().unwrap_or("unknown reason");
        format!(
            "{} waited {} ({reason}) for {target}",
            link.who(GAP),
            time(link.wait_ns)
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What the last thread of the chain waited for.
fn root(root: &ChainRow) -> String {
    match root.kind.as_str() {
        "thread_ran" => {
            // A thread that did not have to wait for a processor needs no such words.
            let ready = match root.ready_ns {
                Some(0) => String::new(),
                ready => format!(" and was ready {}", time(ready)),
            };
            format!("{}, which ran {}{ready}", root.who(GAP), time(root.run_ns))
        }
        "disk_io" => {
            let operation = root.operation.as_deref();
            let file = root.object.as_deref();
            let length = root
                .start_ns
                .zip(root.readied_ns)
                .map(|(from, to)| to.saturating_sub(from));
            let bytes = root.size_bytes.map_or_else(
                // The size may be missing, as the file name may be.
                || "an unknown number of".to_owned(),
                |bytes| bytes.to_string(),
            );
            let operation = operation.unwrap_or("transfer");
            format!(
                "a disk {operation} of {bytes} bytes in {}: {}",
                time(length),
                file.unwrap_or("(no file name)")
            )
        }
        "timer" => "a timer".to_owned(),
        "io_completion" => "the completion of an I/O request".to_owned(),
        "dpc" => match &root.object {
            Some(routine) => format!("a DPC or interrupt in {routine}"),
            None => "a DPC or interrupt".to_owned(),
        },
        // The trace does not show what would have ended the wait.
        "open" => "what had not come when the trace ended".to_owned(),
        "cycle" => "a wait that the chain already has: the extract is damaged".to_owned(),
        "too_deep" => format!("the next of more than {MAX_LINKS} waits"),
        other => other.replace('_', " "),
    }
}

fn time(ns: Option<i64>) -> String {
    ns.map_or_else(|| "an unknown time".to_owned(), duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_of_unknown_size_is_not_one_of_0_bytes() {
        let mut transfer = ChainRow {
            kind: "disk_io".to_owned(),
            operation: Some("read".to_owned()),
            size_bytes: Some(4096),
            ..ChainRow::default()
        };
        let known = "a disk read of 4096 bytes in an unknown time: (no file name)";
        assert_eq!(root(&transfer), known);
        transfer.size_bytes = None;
        let unknown =
            "a disk read of an unknown number of bytes in an unknown time: (no file name)";
        assert_eq!(root(&transfer), unknown);
    }

    #[test]
    fn a_chain_that_is_not_followed_to_its_end_says_so() {
        let deep = ChainRow {
            kind: RootKind::TooDeep.name().to_owned(),
            ..ChainRow::default()
        };
        assert_eq!(root(&deep), "the next of more than 64 waits");
    }
}
