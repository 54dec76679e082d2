//! `etwkit dump tcp`.

use etwkit_query::Session;
use etwkit_query::dump::tcp::{TcpAnswer, TcpRequest, TcpRetransmitRow, TcpRow, TcpSort, TcpTotal};
use etwkit_query::dump::tcp_post::PostIssueRow;
use serde::Serialize;

use super::output::{Answered, Columns, Lines, ask_from_zero, show_sql, streamed_from_zero, written};
use super::tcp_args::TcpArgs;
use super::text::{ProcessText, Text, rounded};
use crate::exit::Exit;
use crate::printer::Printer;

/// Bytes for each second as MiB, with three digits.
fn rate(text: &Text, bytes_per_s: Option<f64>) -> String {
    text.maybe_fixed(bytes_per_s.map(|rate| rate / 1_048_576.0), 3)
}

fn columns<'a>(args: &'a TcpArgs, text: &'a Text) -> anyhow::Result<Columns<'a, TcpRow>> {
    let (more, stats) = (args.details, args.stats);
    let at = |ns: Option<i64>| ns.map(|ns| text.times.write(ns)).unwrap_or_default();
    let maybe_s = |ns: Option<i64>| text.maybe_s(ns, 3);
    let bytes = |n: i64| format!("{} B", text.int(n));
    let maybe_bytes = move |n: Option<i64>| n.map(bytes).unwrap_or_default();
    let has_total = matches!(args.sort_by, TcpSort::TotalCount | TcpSort::TotalSize);
    let total_title = if args.sort_by == TcpSort::TotalCount { "Total packets" } else { "Total bytes" };
    let mut columns = Columns::new();
    columns.word("Connection", "Source IP/Port -> Destination IP/Port", true, |row: &TcpRow| {
        format!("{} -> {}", row.local.as_deref().unwrap_or("?"), row.remote.as_deref().unwrap_or("?"))
    });
    columns.number("ReceivedPackets", "Received packets", true, |row| text.int(row.received_packets));
    columns.number("ReceivedBytes", "Received", true, move |row| bytes(row.received_bytes));
    columns.number("SentPackets", "Sent packets", true, |row| text.int(row.sent_packets));
    columns.number("SentBytes", "Sent", true, move |row| bytes(row.sent_bytes));
    columns.number("ReceiveRate", "Received MiB/s", true, |row| rate(text, row.receive_bytes_per_s));
    columns.number("SendRate", "Sent MiB/s", true, |row| rate(text, row.send_bytes_per_s));
    columns.number("StatPacketsIn", "Packets in", stats, |row| text.maybe_int(row.stat_in_packets));
    columns.number("StatBytesIn", "Bytes in", stats, move |row| maybe_bytes(row.stat_in_bytes));
    columns.number("StatPacketsOut", "Packets out", stats, |row| text.maybe_int(row.stat_out_packets));
    columns.number("StatBytesOut", "Bytes out", stats, move |row| maybe_bytes(row.stat_out_bytes));
    columns.number("Posted", "Posted packets", stats, |row| text.int(row.posts));
    columns.number("Injected", "Injected packets", stats, |row| text.int(row.injects));
    columns.number("Total", total_title, has_total, move |row| match args.sort_by {
        TcpSort::TotalCount => text.int(row.total_packets),
        _ => bytes(row.total_bytes),
    });
    // Each side stands beside its own share; ETWAnalyzer has both sides in one number, and the share of this one.
    let (both, each) = (args.common.is_etwanalyzer(), !args.common.is_etwanalyzer());
    let (percent, digits) = if both { ("%", 0) } else { ("% of sent", 1) };
    columns.number("RetransCount", "Retransmits", both, |row| text.int(row.retransmits));
    columns.number("OwnRetransCount", "Sent again", each, |row| text.int(row.own_retransmits));
    columns
        .number("RetransPercent", percent, true, move |row| text.maybe_fixed(row.retransmit_percent, digits));
    columns.number("ClientRetransCount", "Received again", each, |row| text.int(row.client_retransmits));
    columns.number("RetransDelay", "Delay ms", true, |row| text.ms(row.retransmit_ns));
    columns.number("RetransMin", "Min ms", more, |row| text.maybe_ms(row.retransmit_min_ns));
    columns.number("RetransMax", "Max ms", more, |row| text.maybe_ms(row.retransmit_max_ns));
    columns.number("RetransMedian", "Median ms", more, |row| {
        text.maybe_fixed(row.retransmit_median_ns.map(|ns| ns / 1e6), 0)
    });
    columns.word("Template", "Template", more, |row| row.template.clone().unwrap_or_default());
    columns.number("ConnectTime", "Connect", more, move |row| at(row.open_ns));
    columns.number("DisconnectTime", "Disconnect", more, move |row| at(row.close_ns));
    columns.number("ResetTime", "Connection reset", more, move |row| at(row.retransmit_timeout_ns));
    columns.number("ClientResetTime", "Client RST", more, move |row| at(row.abort_ns));
    columns.number("RemoteResetTime", "Remote RST", more, move |row| at(row.remote_reset_ns));
    columns.number("LastSentTime", "Last sent", more, move |row| at(row.last_send_ns));
    columns.number("LastReceivedTime", "Last received", more, move |row| at(row.last_receive_ns));
    columns.number("KeepAlive", "KeepAlives", more, |row| text.int(row.keep_alives));
    columns.number("MaxSendDelay", "Max send delay s", more, move |row| maybe_s(row.max_send_gap_ns));
    columns
        .number("MaxReceiveDelay", "Max receive delay s", more, move |row| maybe_s(row.max_receive_gap_ns));
    columns.number("RTT", "RTT ms", false, |row| text.maybe_fine_ms(row.rtt_ns));
    columns.word("TCB", "TCB", more, |row| row.tcb.as_deref().map(tcb).unwrap_or_default());
    columns.word("Process", "Process", true, |row| {
        if row.processes > 1 {
            return format!("Multiple ({})", row.processes);
        }
        text.process_line(row.into())
    });
    columns.choose(args.common.column.as_deref())?;
    Ok(columns)
}

/// `0x` and 16 digits.
fn tcb(hex: &str) -> String {
    format!("0x{:0>16}", hex.trim_start_matches("0x"))
}

/// The retransmissions of a row that are shown, in their order.
fn shown(args: &TcpArgs, all: &[TcpRetransmitRow]) -> Vec<TcpRetransmitRow> {
    let mut rows = all.to_vec();
    if args.sort_retransmit_by == "delay" {
        rows.sort_by_key(|row| row.delay_ns);
    }
    args.top_retransmits().cut(&mut rows);
    rows
}

fn retransmit_line(text: &Text, row: &TcpRetransmitRow) -> String {
    let client = if row.kind == "client" { " ClientRetransmission: True" } else { "" };
    let probe = if row.kind == "tail_loss_probe" { " TailLossProbe: True" } else { "" };
    format!(
        "{} ms delay at {} {} bytes SequenceNr: {}{client}{probe}",
        rounded(row.delay_ns, 1_000_000),
        text.times.write(row.ts_ns),
        text.int(row.size_bytes),
        row.sequence
    )
}

fn total_line(text: &Text, total: &TcpTotal) -> String {
    let bytes = total.received_bytes.saturating_add(total.sent_bytes);
    format!(
        "Totals: received {} packets {} Bytes, sent {} packets {} Bytes, together {} Bytes; {} retransmissions - {} ms; \
         Connections: {}",
        text.int(total.received_packets),
        text.int(total.received_bytes),
        text.int(total.sent_packets),
        text.int(total.sent_bytes),
        text.int(bytes),
        text.int(total.retransmits),
        text.ms(total.retransmit_ns),
        text.int(total.connections)
    )
}

fn print(
    args: &TcpArgs,
    request: &TcpRequest,
    one: &Answered<TcpAnswer>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info).moved(&request.zero);
    lines.file(&one.info, &text, "")?;
    let answer = &one.answer;
    if args.show_total != "total" {
        let printed = columns(args, &text)?.lines(answer.rows.iter());
        let mut printed = printed.iter();
        printed.next().map_or(Ok(()), |titles| lines.line(titles))?;
        for (line, retransmits) in printed.zip(&answer.retransmits) {
            lines.line(line)?;
            if args.show_retransmit {
                shown(args, retransmits)
                    .iter()
                    .try_for_each(|row| lines.line(&format!("    {}", retransmit_line(&text, row))))?;
            }
        }
    }
    let has_total = match args.show_total.as_str() {
        "file" => answer.rows.len() > 1,
        what => what == "total",
    };
    if has_total { lines.line(&total_line(&text, &answer.total)) } else { Ok(()) }
}

/// A connection with one of its retransmissions.
#[derive(Serialize)]
struct WithRetransmission<'a> {
    #[serde(flatten)]
    connection: &'a TcpRow,
    /// `retransmit`, `tail_loss_probe` or `client`.
    retransmission_kind: String,
    /// When it was sent or received again.
    retransmission_ns: i64,
    /// When it was last sent, or first received.
    retransmission_first_ns: i64,
    /// Time between.
    retransmission_delay_ns: i64,
    /// Its bytes.
    retransmission_size_bytes: i64,
    /// Its sequence number.
    retransmission_sequence: i64,
}

fn with_retransmissions<'a>(args: &TcpArgs, answer: &'a TcpAnswer) -> Vec<WithRetransmission<'a>> {
    let mut all = Vec::new();
    for (connection, retransmits) in answer.rows.iter().zip(&answer.retransmits) {
        all.extend(shown(args, retransmits).into_iter().map(|row| WithRetransmission {
            connection,
            retransmission_kind: row.kind,
            retransmission_ns: row.ts_ns,
            retransmission_first_ns: row.first_ns,
            retransmission_delay_ns: row.delay_ns,
            retransmission_size_bytes: row.size_bytes,
            retransmission_sequence: row.sequence,
        }));
    }
    all
}

const COMMAND: &str = "dump tcp";

pub(super) fn run(args: &TcpArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = args.request()?;
    if args.issue.is_some() {
        return issues(args, &request, printer);
    }
    if args.common.show_sql {
        let sql = if args.show_retransmit { request.retransmits_sql() } else { request.sql() };
        return show_sql(printer, &sql);
    }
    let (from_zero, question) = ((&args.common, &request.zero), |session: &Session| request.ask(session));
    if !args.show_retransmit {
        return streamed_from_zero(
            from_zero,
            COMMAND,
            printer,
            question,
            |answer| answer.rows.iter().collect(),
            |one, lines| print(args, &request, one, lines),
        );
    }
    let answers = ask_from_zero(&args.common, COMMAND, &request.zero, printer, question)?;
    let text =
        |lines: &mut Lines<'_, '_>| answers.iter().try_for_each(|one| print(args, &request, one, lines));
    let rows: Vec<_> =
        answers.iter().map(|one| (&one.info, with_retransmissions(args, &one.answer))).collect();
    let rows = rows.iter().flat_map(|(info, rows)| rows.iter().map(move |row| (*info, row)));
    written(&args.common, printer, rows, text)
}

/// Sends that a filter let go too late.
fn issues(args: &TcpArgs, request: &TcpRequest, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if args.common.show_sql {
        return show_sql(printer, &request.posts_sql());
    }
    let question = |session: &Session| request.ask_post_issues(session);
    let from_zero = (&args.common, &request.zero);
    streamed_from_zero(
        from_zero,
        COMMAND,
        printer,
        question,
        |rows| rows.iter().collect(),
        |one, lines| {
            let text = Text::new(&args.common, Some(&args.processes), &one.info).moved(&request.zero);
            lines.file(&one.info, &text, "")?;
            issue_columns(args, &text)?
                .lines(one.answer.iter())
                .iter()
                .try_for_each(|line| lines.line(line))?;
            lines.line(&format!("Issues: {}", text.int(one.answer.len() as i64 / 3)))
        },
    )
}

fn issue_columns<'a>(args: &TcpArgs, text: &'a Text) -> anyhow::Result<Columns<'a, PostIssueRow>> {
    let mut columns = Columns::new();
    columns.number("Issue", "Issue", true, |row: &PostIssueRow| text.int(row.issue));
    columns.word("Role", "What", true, |row| {
        match row.role.as_str() {
            "captured" => "Posted, captured by a filter",
            "overtaking" => "Posted behind it",
            _ => "Injected too late",
        }
        .to_owned()
    });
    columns.number("EventTime", "Time", true, |row| text.times.write(row.ts_ns));
    columns.number("Bytes", "Bytes", true, |row| text.int(row.size_bytes));
    columns.number("SndNext", "SndNext", true, |row| row.sequence.to_string());
    columns.number("SequenceDiff", "SequenceNr Diff", true, |row| text.maybe_int(row.sequence_difference));
    columns.word("Connection", "Source IP/Port -> Destination IP/Port", true, |row| {
        format!("{} -> {}", row.local, row.remote)
    });
    columns.word("TCB", "TCB", args.details, |row| tcb(&row.tcb));
    columns.word("Process", "Process", true, |row| text.process_line(ProcessText::from(row)));
    columns.choose(args.common.column.as_deref())?;
    Ok(columns)
}
