//! `-dump dns` and `-dump tcp`.

use crate::switch::{Switch, To, Words, range_in};

const DNS_SORTS: Words = &[
    ("default", ""),
    ("time", "time"),
    ("totaltime", "time"),
    ("count", "count"),
];

pub(crate) const DNS: &[Switch] = &[
    Switch {
        names: &["dnsqueryfilter"],
        to: To::Text("--query"),
    },
    Switch {
        names: &["sortby"],
        to: To::MaybeWord("--sort-by", DNS_SORTS),
    },
    Switch {
        names: &["details"],
        to: To::Flag("--details"),
    },
    Switch {
        names: &["topndetails"],
        to: To::Top("--top-details", Some("--skip-details")),
    },
    Switch {
        names: &["showprocess"],
        to: To::Flag("--show-process"),
    },
    Switch {
        names: &["showadapter"],
        to: To::Flag("--show-adapter"),
    },
    Switch {
        names: &["showreturncode"],
        to: To::Flag("--show-return-code"),
    },
    Switch {
        names: &["minmaxtotaltime"],
        to: To::Range("--total-time"),
    },
    Switch {
        names: &["minmaxtime"],
        to: To::Range("--time"),
    },
    // Until 2025 both switches had these names and were in milliseconds.
    Switch {
        names: &["minmaxtotaltimems"],
        to: To::Special(|line, native| {
            range_in("minmaxtotaltimems", "--total-time", "ms", line, native)
        }),
    },
    Switch {
        names: &["minmaxtimems"],
        to: To::Special(|line, native| range_in("minmaxtimems", "--time", "ms", line, native)),
    },
];

const TCP_SORTS: Words = &[
    ("default", ""),
    ("size", "total-size"),
    ("count", "total-count"),
    ("receivedcount", "received-count"),
    ("sentcount", "sent-count"),
    ("receivedsize", "received-size"),
    ("sentsize", "sent-size"),
    ("totalcount", "total-count"),
    ("totalsize", "total-size"),
    ("connecttime", "connect-time"),
    ("disconnecttime", "disconnect-time"),
    ("clientresettime", "client-reset-time"),
    ("retransmissioncount", "retransmission-count"),
    ("retransmissiontime", "retransmission-time"),
    ("maxretransmissiontime", "max-retransmission-time"),
    ("lastsenttime", "last-sent-time"),
    ("lastreceivedtime", "last-received-time"),
    ("maxsenddelay", "max-send-delay"),
    ("maxreceivedelay", "max-receive-delay"),
    ("sendrate", "send-rate"),
    ("receiverate", "receive-rate"),
    ("post", "post"),
    ("inject", "inject"),
];

const GROUPS: Words = &[
    ("none", ""),
    ("sourceipportremoteip", "source-ip-port-remote-ip"),
    ("sourceipremoteip", "source-ip-remote-ip"),
];
const RETRANSMIT_SORTS: Words = &[("default", ""), ("time", "time"), ("delay", "delay")];
const ISSUES: Words = &[("post", "post")];
const TCP_TOTALS: Words = &[
    ("file", "file"),
    ("none", "none"),
    ("total", "total"),
    ("process", ""),
    ("method", ""),
];

pub(crate) const TCP: &[Switch] = &[
    Switch {
        names: &["ipport"],
        to: To::Text("--ip-port"),
    },
    Switch {
        names: &["sourceipport"],
        to: To::Text("--local-ip-port"),
    },
    Switch {
        names: &["remoteipport"],
        to: To::Text("--remote-ip-port"),
    },
    Switch {
        names: &["tcb"],
        to: To::Text("--tcb"),
    },
    Switch {
        names: &["sortby"],
        to: To::MaybeWord("--sort-by", TCP_SORTS),
    },
    Switch {
        names: &["showretransmit", "showretransmits"],
        to: To::Flag("--show-retransmit"),
    },
    Switch {
        names: &["sortretransmitby"],
        to: To::MaybeWord("--sort-retransmit-by", RETRANSMIT_SORTS),
    },
    Switch {
        names: &["topnretrans"],
        to: To::Top("--top-retransmits", Some("--skip-retransmits")),
    },
    Switch {
        names: &["onlyclientretransmit"],
        to: To::Flag("--only-client-retransmit"),
    },
    Switch {
        names: &["groupby"],
        to: To::Word("--group-by", GROUPS),
    },
    Switch {
        names: &["issue"],
        to: To::Word("--issue", ISSUES),
    },
    Switch {
        names: &["reset"],
        to: To::Flag("--reset"),
    },
    Switch {
        names: &["keepalive"],
        to: To::Flag("--keep-alive"),
    },
    Switch {
        names: &["details"],
        to: To::Flag("--details"),
    },
    Switch {
        names: &["stats"],
        to: To::Flag("--stats"),
    },
    Switch {
        names: &["showtotal"],
        to: To::Word("--show-total", TCP_TOTALS),
    },
    Switch {
        names: &["minmaxsentbytes"],
        to: To::Range("--sent-bytes"),
    },
    Switch {
        names: &["minmaxreceivedbytes"],
        to: To::Range("--received-bytes"),
    },
    Switch {
        names: &["minmaxbytes"],
        to: To::Range("--bytes"),
    },
    Switch {
        names: &["minmaxsentpackets"],
        to: To::Range("--sent-packets"),
    },
    Switch {
        names: &["minmaxreceivedpackets"],
        to: To::Range("--received-packets"),
    },
    Switch {
        names: &["minmaxpackets"],
        to: To::Range("--packets"),
    },
    Switch {
        names: &["minmaxstatbytes"],
        to: To::Range("--stat-bytes"),
    },
    Switch {
        names: &["minmaxstatbytesin"],
        to: To::Range("--stat-bytes-in"),
    },
    Switch {
        names: &["minmaxstatbytesout"],
        to: To::Range("--stat-bytes-out"),
    },
    Switch {
        names: &["minmaxstatpackets"],
        to: To::Range("--stat-packets"),
    },
    Switch {
        names: &["minmaxstatpacketsin"],
        to: To::Range("--stat-packets-in"),
    },
    Switch {
        names: &["minmaxstatpacketsout"],
        to: To::Range("--stat-packets-out"),
    },
    Switch {
        names: &["minmaxretransdelayms"],
        to: To::Range("--retransmit-delay"),
    },
    Switch {
        names: &["minmaxretransbytes"],
        to: To::Range("--retransmit-bytes"),
    },
    Switch {
        names: &["minmaxretranscount"],
        to: To::Range("--retransmit-count"),
    },
    Switch {
        names: &["minmaxconnect"],
        to: To::Range("--connect"),
    },
    Switch {
        names: &["minmaxdisconnect"],
        to: To::Range("--disconnect"),
    },
    Switch {
        names: &["minmaxlastsents"],
        to: To::Range("--last-sent"),
    },
    Switch {
        names: &["minmaxlastreceiveds"],
        to: To::Range("--last-received"),
    },
    Switch {
        names: &["minmaxclientresets"],
        to: To::Range("--client-reset"),
    },
    Switch {
        names: &["minmaxconnectiondurations"],
        to: To::Range("--connection-duration"),
    },
    Switch {
        names: &["minmaxsentdelays", "minmaxsenddelays"],
        to: To::Range("--send-delay"),
    },
    Switch {
        names: &["minmaxreceivedelays"],
        to: To::Range("--receive-delay"),
    },
    Switch {
        names: &["minmaxsendmbs"],
        to: To::Range("--send-rate"),
    },
    Switch {
        names: &["minmaxrecmbs"],
        to: To::Range("--receive-rate"),
    },
    Switch {
        names: &["minmaxpost"],
        to: To::Range("--post"),
    },
    Switch {
        names: &["minmaxinject"],
        to: To::Range("--inject"),
    },
];
