//! TCP connections as a question, with columns and lines.

use etwkit_question::declare;
use serde::Serialize;

use super::lines::{counts, rate, retransmit_line, total_line};
use super::post::{ISSUES, PostIssueRow};
use super::{TcpAnswer, TcpRequest, TcpRetransmitRow, TcpRow, TcpSort, TcpTotals, total};
use etwkit_question::Format::{
    FineMilliseconds, Fixed, Milliseconds, Moment, PlainBytes, ProcessLine, Seconds, Whole, Word,
};
use etwkit_question::Result;
use etwkit_question::group::Top;
use etwkit_question::{Answer, Column, Example, Form, Question, Shows, Style, View, fields};
use etwkit_sql::Session;

/// A connection with its retransmissions that are shown.
#[derive(Serialize)]
struct Connection {
    #[serde(flatten)]
    row: TcpRow,
    #[serde(skip)]
    retransmits: Vec<TcpRetransmitRow>,
}

declare! {
    /// Columns that a row of a retransmission has in addition to the columns of its connection.
    row RetransmissionColumns {
        retransmission_kind: String = "`retransmit`, `tail_loss_probe` or `client`.",
        retransmission_ns: i64 = "When it was sent or received again.",
        retransmission_first_ns: i64 = "When it was last sent, or first received.",
        retransmission_delay_ns: i64 = "Time between the two.",
        retransmission_size_bytes: i64 = "Bytes of the retransmission.",
        retransmission_sequence: i64 = "Sequence number of the retransmission.",
    }
}

/// A retransmission with its connection, for JSON and CSV.
#[derive(Serialize)]
struct Retransmission {
    #[serde(flatten)]
    connection: TcpRow,
    #[serde(flatten)]
    columns: RetransmissionColumns,
}

type ConnectionColumn = Column<TcpRequest, Connection>;

const CONNECTIONS: View<TcpRequest, Connection> = View::new(
    &[
        ConnectionColumn::new(
            "Connection",
            "Local IP/port -> remote IP/port",
            Word,
            |_, one| {
                let local = one.row.local.as_deref();
                let remote = one.row.remote.as_deref();
                format!("{} -> {}", local.unwrap_or("?"), remote.unwrap_or("?")).into()
            },
        ),
        ConnectionColumn::new("ReceivedPackets", "Received packets", Whole, |_, one| {
            one.row.received_packets.into()
        })
        .cost(),
        ConnectionColumn::new("ReceivedBytes", "Received", PlainBytes, |_, one| {
            one.row.received_bytes.into()
        })
        .cost(),
        ConnectionColumn::new("SentPackets", "Sent packets", Whole, |_, one| {
            one.row.sent_packets.into()
        })
        .cost(),
        ConnectionColumn::new("SentBytes", "Sent", PlainBytes, |_, one| {
            one.row.sent_bytes.into()
        })
        .cost(),
        ConnectionColumn::new("ReceiveRate", "Received MiB/s", Fixed(3), |_, one| {
            rate(one.row.receive_bytes_per_s)
        }),
        ConnectionColumn::new("SendRate", "Sent MiB/s", Fixed(3), |_, one| {
            rate(one.row.send_bytes_per_s)
        }),
        ConnectionColumn::new("StatPacketsIn", "Packets in", Whole, |_, one| {
            one.row.stat_in_packets.into()
        })
        .cost()
        .shown_if(|asked| asked.stats),
        ConnectionColumn::new("StatBytesIn", "Bytes in", PlainBytes, |_, one| {
            one.row.stat_in_bytes.into()
        })
        .cost()
        .shown_if(|asked| asked.stats),
        ConnectionColumn::new("StatPacketsOut", "Packets out", Whole, |_, one| {
            one.row.stat_out_packets.into()
        })
        .cost()
        .shown_if(|asked| asked.stats),
        ConnectionColumn::new("StatBytesOut", "Bytes out", PlainBytes, |_, one| {
            one.row.stat_out_bytes.into()
        })
        .cost()
        .shown_if(|asked| asked.stats),
        ConnectionColumn::new("Posted", "Posted packets", Whole, |_, one| {
            one.row.posts.into()
        })
        .cost()
        .shown_if(|asked| asked.stats),
        ConnectionColumn::new("Injected", "Injected packets", Whole, |_, one| {
            one.row.injects.into()
        })
        .cost()
        .shown_if(|asked| asked.stats),
        ConnectionColumn::new("Total", "", PlainBytes, |asked, one| {
            if counts(asked) {
                one.row.total_packets
            } else {
                one.row.total_bytes
            }
            .into()
        })
        .titled(|asked| {
            if counts(asked) {
                "Total packets"
            } else {
                "Total bytes"
            }
            .to_owned()
        })
        .formatted(|asked| if counts(asked) { Whole } else { PlainBytes })
        .cost()
        .shown_if(|asked| matches!(asked.sort, TcpSort::TotalCount | TcpSort::TotalSize)),
        // Each side is next to its own share; ETWAnalyzer has both sides in one number, and the
        // share of this one.
        ConnectionColumn::new("RetransCount", "Retransmits", Whole, |_, one| {
            one.row.retransmits.into()
        })
        .cost()
        .in_style(Style::EtwAnalyzer),
        ConnectionColumn::new("OwnRetransCount", "Sent again", Whole, |_, one| {
            one.row.own_retransmits.into()
        })
        .cost()
        .in_style(Style::Own),
        ConnectionColumn::new("RetransPercent", "% of sent", Fixed(1), |_, one| {
            one.row.retransmit_percent.into()
        })
        .worst()
        .in_style(Style::Own),
        ConnectionColumn::new("RetransPercent", "%", Fixed(0), |_, one| {
            one.row.retransmit_percent.into()
        })
        .worst()
        .in_style(Style::EtwAnalyzer),
        ConnectionColumn::new("ClientRetransCount", "Received again", Whole, |_, one| {
            one.row.client_retransmits.into()
        })
        .cost()
        .in_style(Style::Own),
        ConnectionColumn::new("RetransDelay", "Delay ms", Milliseconds, |_, one| {
            one.row.retransmit_ns.into()
        })
        .cost(),
        ConnectionColumn::new("RetransMin", "Min ms", Milliseconds, |_, one| {
            one.row.retransmit_min_ns.into()
        })
        .shown_if(|asked| asked.details),
        ConnectionColumn::new("RetransMax", "Max ms", Milliseconds, |_, one| {
            one.row.retransmit_max_ns.into()
        })
        .worst()
        .shown_if(|asked| asked.details),
        ConnectionColumn::new("RetransMedian", "Median ms", Fixed(0), |_, one| {
            one.row.retransmit_median_ns.map(|ns| ns / 1e6).into()
        })
        .worst()
        .shown_if(|asked| asked.details),
        ConnectionColumn::new("Template", "Template", Word, |_, one| {
            one.row.template.clone().into()
        })
        .shown_if(|asked| asked.details),
        ConnectionColumn::new("ConnectTime", "Connect", Moment, |_, one| {
            one.row.open_ns.into()
        })
        .shown_if(|asked| asked.details),
        ConnectionColumn::new("DisconnectTime", "Disconnect", Moment, |_, one| {
            one.row.close_ns.into()
        })
        .shown_if(|asked| asked.details),
        ConnectionColumn::new("ResetTime", "Connection reset", Moment, |_, one| {
            one.row.retransmit_timeout_ns.into()
        })
        .shown_if(|asked| asked.details),
        ConnectionColumn::new("ClientResetTime", "Client RST", Moment, |_, one| {
            one.row.abort_ns.into()
        })
        .shown_if(|asked| asked.details),
        ConnectionColumn::new("RemoteResetTime", "Remote RST", Moment, |_, one| {
            one.row.remote_reset_ns.into()
        })
        .shown_if(|asked| asked.details),
        ConnectionColumn::new("LastSentTime", "Last sent", Moment, |_, one| {
            one.row.last_send_ns.into()
        })
        .shown_if(|asked| asked.details),
        ConnectionColumn::new("LastReceivedTime", "Last received", Moment, |_, one| {
            one.row.last_receive_ns.into()
        })
        .shown_if(|asked| asked.details),
        ConnectionColumn::new("KeepAlive", "KeepAlives", Whole, |_, one| {
            one.row.keep_alives.into()
        })
        .sum()
        .shown_if(|asked| asked.details),
        ConnectionColumn::new("MaxSendDelay", "Max send delay s", Seconds(3), |_, one| {
            one.row.max_send_gap_ns.into()
        })
        .worst()
        .shown_if(|asked| asked.details),
        ConnectionColumn::new(
            "MaxReceiveDelay",
            "Max receive delay s",
            Seconds(3),
            |_, one| one.row.max_receive_gap_ns.into(),
        )
        .worst()
        .shown_if(|asked| asked.details),
        ConnectionColumn::new("RTT", "RTT ms", FineMilliseconds, |_, one| {
            one.row.rtt_ns.into()
        })
        .worst()
        .hidden(),
        ConnectionColumn::new("TCB", "TCB", Word, |_, one| {
            one.row.tcb.as_deref().map(tcb).into()
        })
        .shown_if(|asked| asked.details),
        ConnectionColumn::new("Process", "Process", ProcessLine, |_, one| {
            match one.row.processes {
                several if several > 1 => format!("Multiple ({several})").into(),
                _ => (&one.row).into(),
            }
        }),
    ],
    |one| one.row.sort_value,
)
.with_below(|_, one| one.retransmits.iter().map(retransmit_line).collect())
.with_total(|asked, rows, _| {
    let has_total = match asked.show_total {
        TcpTotals::File => rows.len() > 1,
        TcpTotals::Total => true,
        TcpTotals::None => false,
    };
    let line = || total_line(&total(rows.iter().map(|one| &one.row)));
    has_total.then(line).into_iter().collect()
});

/// Formats `0x` and 16 digits.
pub(super) fn tcb(hex: &str) -> String {
    format!("0x{:0>16}", hex.trim_start_matches("0x"))
}

impl Question for TcpRequest {
    const NAME: &'static str = "tcp";
    const SENTENCE: &'static str = "TCP connections: bytes, retransmissions, delays, resets";
    const USUAL: &'static [&'static str] = &[
        "ip-port",
        "reset",
        "group-by",
        "show-retransmit",
        "retransmit-delay",
        "stats",
    ];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "connections by bytes",
        },
        Example {
            words: "--retransmit-delay 1s.. --show-retransmit slow.etl",
            answer: "connections that lost data",
        },
    ];

    fn form(&self) -> Form<Self> {
        if self.issue.is_some() {
            let answer = |asked: &Self, session: &Session| {
                Answer::rows(asked, &ISSUES, asked.ask_post_issues(session)?)
                    .moved(&asked.zero, session)
            };
            return Form::made::<PostIssueRow>(self.posts_sql(), answer)
                .shows(&ISSUES)
                .top(self.top);
        }
        let sql = if self.show_retransmit {
            self.retransmits_sql()
        } else {
            self.sql()
        };
        let form = Form::made::<TcpRow>(sql, Self::compute).top(self.top);
        let form = form.shows_as(&CONNECTIONS, |row| Connection {
            row,
            retransmits: Vec::new(),
        });
        if self.show_retransmit {
            form.with_fields(fields::<RetransmissionColumns>())
        } else {
            form
        }
    }
}

impl TcpRequest {
    /// Returns connections; with retransmissions, these replace the connections in JSON and CSV.
    fn compute(&self, session: &Session) -> Result<Answer> {
        let TcpAnswer {
            rows, retransmits, ..
        } = self.ask(session)?;
        let shown = retransmits.into_iter().map(|all| self.shown(all));
        let all = rows
            .into_iter()
            .zip(shown)
            .map(|(row, retransmits)| Connection { row, retransmits });
        let all: Vec<Connection> = all.collect();
        let records = self
            .show_retransmit
            .then(|| all.iter().flat_map(retransmissions).collect());
        let shows = if self.show_total == TcpTotals::Total {
            Shows::Sums
        } else {
            Shows::Rows
        };
        let answer = Answer::rows(self, &CONNECTIONS, all).showing(shows);
        let answer = match records {
            Some(records) => answer.with_records::<Retransmission>(records),
            None => answer,
        };
        answer.moved(&self.zero, session)
    }

    /// Returns the retransmissions of a row that are shown, in their order.
    fn shown(&self, mut rows: Vec<TcpRetransmitRow>) -> Vec<TcpRetransmitRow> {
        if !self.show_retransmit {
            return Vec::new();
        }
        if self.by_delay {
            rows.sort_by_key(|row| row.delay_ns);
        }
        Top {
            count: self.top_retransmits,
            skip: self.skip_retransmits,
        }
        .cut(&mut rows);
        rows
    }
}

/// Returns the retransmissions of a connection, each with its columns.
fn retransmissions(one: &Connection) -> Vec<Retransmission> {
    let with_connection = |row: &TcpRetransmitRow| Retransmission {
        connection: one.row.clone(),
        columns: RetransmissionColumns {
            retransmission_kind: row.kind.clone(),
            retransmission_ns: row.ts_ns,
            retransmission_first_ns: row.first_ns,
            retransmission_delay_ns: row.delay_ns,
            retransmission_size_bytes: row.size_bytes,
            retransmission_sequence: row.sequence,
        },
    };
    one.retransmits.iter().map(with_connection).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::RETRANSMIT_BYTES;
    use crate::tcp::lines::milliseconds;
    use etwkit_question::Request;

    #[test]
    fn the_default_of_retransmitted_bytes_is_written_as_it_is_read() {
        let option = TcpRequest::options()
            .into_iter()
            .find(|option| option.name == "retransmit-bytes");
        let default = option.and_then(|option| option.default).unwrap();
        let values = [("retransmit-bytes".to_owned(), default.into())]
            .into_iter()
            .collect();
        assert_eq!(
            TcpRequest::read(&values).unwrap().retransmit_bytes,
            RETRANSMIT_BYTES
        );
    }

    #[test]
    fn limits_are_read_as_they_are_written() {
        let values = [
            ("bytes".to_owned(), "1kb..".into()),
            ("connect".to_owned(), "0..2".into()),
        ];
        let request = TcpRequest::from_json(&values.into_iter().collect()).unwrap();
        assert_eq!(request.limits.iter().count(), 2);
        assert_eq!(
            TcpRequest::from_json(&Request::write(&request)).unwrap(),
            request
        );
    }

    #[test]
    fn delays_are_rounded_half_to_even() {
        for (ns, expected) in [
            (500_000, 0),
            (1_500_000, 2),
            (2_500_001, 3),
            (-1_500_000, -2),
        ] {
            assert_eq!(milliseconds(ns), expected, "{ns}");
        }
    }
}
