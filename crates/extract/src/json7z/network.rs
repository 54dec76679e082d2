//! `Network`: DNS queries and TCP connections.

use etwkit_trace::table::{DnsQuery, TcpConnection, TcpEvent, TcpRetransmit};

use crate::json7z::error::Result;
use crate::json7z::import::Import;
use crate::json7z::reader::Reader;
use crate::json7z::rows::{Rows, write_all};
use crate::json7z::times::START_NS;

/// Templates that Windows has, as traces name them.
const TEMPLATES: [&str; 7] = [
    "Internet",
    "DataCenter",
    "Compat",
    "DatacenterCustom",
    "InternetCustom",
    "Default",
    "Automatic",
];

/// Reads the section.
pub(crate) fn read(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    reader.object(|reader, name| match name {
        "DnsClient" => {
            reader.object(|reader, name| match name {
                "Events" => dns(reader, import),
                _ => reader.unknown(),
            })?;
            Ok(())
        }
        "TcpData" => {
            reader.object(|reader, name| match name {
                "Connections" => connections(reader, import),
                "Retransmissions" => retransmissions(reader, import),
                "PostIssues" | "TcpPostIssues" => post_issues(reader, import),
                "TcpIssues" => issues(reader, import),
                _ => reader.unknown(),
            })?;
            Ok(())
        }
        "TcpIssues" => issues(reader, import),
        _ => reader.unknown(),
    })?;
    Ok(())
}

fn dns(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    let mut rows: Vec<DnsQuery> = Vec::new();
    reader.list(|reader| {
        let mut row = DnsQuery::default();
        reader.object(|reader, name| {
            match name {
                "ProcessIdx" => row.process_key = import.process_index(reader)?,
                "Query" => row.name = reader.given(Reader::text)?.into(),
                "Start" => row.start_ns = import.time(reader)?,
                "Duration" => row.duration_ns = reader.span()?,
                "Result" => row.result = reader.filled_text()?,
                "ServerList" => row.servers = reader.filled_text()?,
                "TimedOut" => row.is_timed_out = reader.flag()?.unwrap_or(false),
                "TimedOutServer" => row.timed_out_servers = reader.filled_text()?,
                "Adapters" => row.adapters = reader.filled_text()?,
                "QueryStatus" => row.status = reader.bits()?.map(|status| status as i32),
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        row.status = row.status.or(Some(0));
        row.end_ns = row
            .start_ns
            .zip(row.duration_ns)
            .map(|(start, duration)| start.saturating_add(duration));
        rows.push(row);
        Ok(())
    })?;
    // As the table is declared: a query is known when it ends.
    rows.sort_by_key(|row| row.end_ns);
    import.lack(
        "dns_query: threads, types of records, options, and queries without an answer",
        rows.len(),
    );
    write_all(rows, import.sink)
}

fn connections(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    let mut rows = Rows::default();
    let mut connection_id = 0;
    reader.list(|reader| {
        let mut row = TcpConnection {
            connection_id,
            kind: "unknown",
            ..TcpConnection::default()
        };
        reader.object(|reader, name| connection(reader, import, name, &mut row))?;
        // The file does not say which side opened a connection. One without a time existed before.
        if row.open_ns.is_none() {
            row.kind = "rundown";
        }
        let times = [
            row.open_ns,
            row.last_send_ns,
            row.last_receive_ns,
            row.close_ns,
        ];
        // One without any time was open all along.
        row.first_ns = times.into_iter().flatten().min().unwrap_or(START_NS);
        if row.posts > 0 || row.injects > 0 {
            // The bytes sent are those that programs posted. Without reported segments they also
            // count as the bytes of the segments.
            row.post_bytes = row.send_bytes;
        }
        rows.push(&row, import.sink)?;
        // Other sections refer to connections by index, so every connection keeps its number.
        connection_id += 1;
        Ok(())
    })?;
    rows.flush(import.sink)?;
    import.lack(
        "tcp_connection: first events, resets by the other side, segments, round-trip times",
        connection_id as usize,
    );
    Ok(())
}

fn connection(
    reader: &mut Reader,
    import: &mut Import<'_>,
    name: &str,
    row: &mut TcpConnection,
) -> Result<()> {
    match name {
        "Tcb" => row.tcb = reader.given(Reader::bits)?,
        "LocalIpAndPort" => (row.local_address, row.local_port) = end(reader)?,
        "RemoteIpAndPort" => (row.remote_address, row.remote_port) = end(reader)?,
        "TimeStampOpen" => row.open_ns = import.time(reader)?,
        "TimeStampClose" => row.close_ns = import.time(reader)?,
        "LastTcpTemplate" => {
            let text = reader.filled_text()?;
            row.template = text.as_ref().and_then(|text| template(text));
            import.drop(
                "Network.TcpData: templates that are not known",
                usize::from(text.is_some() && row.template.is_none()),
            );
        }
        "BytesReceived" => row.receive_bytes = reader.given(Reader::int)?,
        "DatagramsReceived" => row.receives = reader.given(Reader::int)?,
        "BytesSent" => row.send_bytes = reader.given(Reader::int)?,
        "DatagramsSent" => row.sends = reader.given(Reader::int)?,
        "ProcessIdx" => row.process_key = import.process_index(reader)?,
        "RetransmitTimeout" => row.retransmit_timeout_ns = import.time(reader)?,
        // Older files have these two here.
        "LastSent" => row.last_send_ns = import.time(reader)?,
        "LastReceived" => row.last_receive_ns = import.time(reader)?,
        "Statistics" => _ = reader.object(|reader, name| statistics(reader, import, name, row))?,
        _ => reader.unknown()?,
    }
    Ok(())
}

fn statistics(
    reader: &mut Reader,
    import: &mut Import<'_>,
    name: &str,
    row: &mut TcpConnection,
) -> Result<()> {
    match name {
        // The file has a flag and no number.
        "KeepAlive" => row.keep_alives = i64::from(reader.flag()? == Some(true)),
        "MaxSendDelayS" => row.max_send_gap_ns = reader.seconds()?,
        "MaxReceiveDelayS" => row.max_receive_gap_ns = reader.seconds()?,
        "LastSent" => row.last_send_ns = import.time(reader)?,
        "LastReceived" => row.last_receive_ns = import.time(reader)?,
        "DataBytesIn" => row.stat_in_bytes = reader.int()?,
        "DataBytesOut" => row.stat_out_bytes = reader.int()?,
        "SegmentsIn" => row.stat_in_packets = reader.int()?,
        "SegmentsOut" => row.stat_out_packets = reader.int()?,
        "AverageSendRate" => row.send_bytes_per_s = reader.float()?,
        "AverageReceiveRate" => row.receive_bytes_per_s = reader.float()?,
        "SendPostedPosted" => row.posts = reader.given(Reader::int)?,
        "SendPostedInjected" => row.injects = reader.given(Reader::int)?,
        "RstReceivedTime" => row.abort_ns = import.time(reader)?,
        other if other.starts_with("Aggregated") => {
            import.leave_out(
                reader,
                "Network.TcpData: rates of several connections together",
            )?;
        }
        _ => reader.unknown()?,
    }
    Ok(())
}

fn issues(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    reader.object(|reader, name| match name {
        "PostIssues" => post_issues(reader, import),
        _ => reader.unknown(),
    })?;
    Ok(())
}

/// Sends that a filter held back and released too late. The three sends of each case become events,
/// from which the query reconstructs the case.
fn post_issues(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    let mut rows: Vec<TcpEvent> = Vec::new();
    reader.list(|reader| {
        let mut connection_id = -1;
        let begin = rows.len();
        reader.object(|reader, name| {
            match name {
                "ConnectionIdx" => connection_id = reader.int32()?.unwrap_or(-1),
                "PreviousPosted" | "OutOfOrderPost" => rows.extend(send(reader, import, "post")?),
                "Injected" => rows.extend(send(reader, import, "inject")?),
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        rows.iter_mut()
            .skip(begin)
            .for_each(|row| row.connection_id = connection_id);
        Ok(())
    })?;
    rows.sort_by_key(|row| row.ts_ns);
    import.lack(
        "tcp_event: events other than the sends of a filter that let them go too late",
        rows.len(),
    );
    write_all(rows, import.sink)
}

fn send(reader: &mut Reader, import: &Import<'_>, kind: &'static str) -> Result<Option<TcpEvent>> {
    let mut row = TcpEvent {
        kind,
        ..TcpEvent::default()
    };
    let mut ts_ns = None;
    reader.object(|reader, name| {
        match name {
            "Time" => ts_ns = import.time(reader)?,
            "NumBytes" => row.size_bytes = reader.int()?,
            "SndNext" => row.sequence = reader.int()?,
            // The name of the member already contains the reason.
            "InjectedReason" => reader.skip()?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    Ok(ts_ns.map(|ts_ns| TcpEvent { ts_ns, ..row }))
}

/// Address and port; brackets around an address are only punctuation.
fn end(reader: &mut Reader) -> Result<(Option<String>, Option<i32>)> {
    let mut address = None;
    let mut port = None;
    reader.object(|reader, name| {
        match name {
            "Address" => {
                let text = reader.filled_text()?;
                address = text.map(|text| {
                    text.trim_start_matches('[')
                        .trim_end_matches(']')
                        .to_owned()
                });
            }
            "Port" => port = reader.int32()?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    Ok((address, port))
}

fn template(text: &str) -> Option<&'static str> {
    TEMPLATES
        .iter()
        .find(|known| known.eq_ignore_ascii_case(text))
        .copied()
}

fn retransmissions(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    let mut rows: Vec<TcpRetransmit> = Vec::new();
    reader.list(|reader| {
        let mut row = TcpRetransmit {
            connection_id: -1,
            kind: "retransmit",
            ..TcpRetransmit::default()
        };
        let mut again = None;
        let mut sent = None;
        reader.object(|reader, name| {
            match name {
                "ConnectionIdx" => row.connection_id = reader.int32()?.unwrap_or(-1),
                "RetransmitTime" => again = import.time(reader)?,
                "SendTime" => sent = import.time(reader)?,
                "SequenceNumber" => row.sequence = reader.given(Reader::int)?,
                "NumBytes" => row.size_bytes = reader.given(Reader::int)?,
                "IsClientRetransmission" => {
                    if reader.flag()? == Some(true) {
                        row.kind = "client";
                    }
                }
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        let Some(ts_ns) = again.or(sent) else {
            import.drop("Network.TcpData: retransmissions without a time", 1);
            return Ok(());
        };
        row.ts_ns = ts_ns;
        row.first_ns = sent.unwrap_or(ts_ns);
        row.delay_ns = ts_ns.saturating_sub(row.first_ns);
        rows.push(row);
        Ok(())
    })?;
    rows.sort_by_key(|row| row.ts_ns);
    write_all(rows, import.sink)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_found_in_any_case() {
        assert_eq!(
            (template("internet"), template("Datacenter"), template("x")),
            (Some("Internet"), Some("DataCenter"), None)
        );
    }
}
