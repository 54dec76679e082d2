//! `-Column`: names of ETWAnalyzer as our names.

use super::switch::{Native, has, pair, value_of, without};

/// Columns with another name here: sub command, name in lower case, our names.
const ALIASES: &[(&str, &str, &[&str])] = &[
    ("tcp", "postmode", &["Posted", "Injected"]),
    ("virtual-alloc", "stackcount", &["NotReleasedCount"]),
    ("virtual-alloc", "stacksize", &["NotReleasedSize"]),
];

/// Columns that only some lists of a sub command have. ETWAnalyzer accepts their names for every
/// list, and shows nothing for them.
struct OfList {
    dump: &'static str,
    /// Returns `true` if the arguments request the list with these columns.
    is_asked: fn(&Native) -> bool,
    /// Names in lower case.
    columns: &'static str,
}

const OF_LISTS: &[OfList] = &[
    OfList {
        dump: "tcp",
        is_asked: |native| has(native, "--issue"),
        columns: "eventtime sndnext issue",
    },
    OfList {
        dump: "tcp",
        is_asked: |native| !has(native, "--issue"),
        columns: "receivedpackets sentpackets statpacketsin statpacketsout postmode receivedbytes \
            sentbytes receiverate sendrate statbytesin statbytesout total retranscount retranspercent \
            retransdelay retransmin retransmax retransmedian template connecttime disconnecttime \
            resettime clientresettime lastsenttime lastreceivedtime keepalive maxsenddelay \
            maxreceivedelay",
    },
    OfList {
        dump: "virtual-alloc",
        is_asked: |native| !has(native, "--stack-id"),
        columns: "notreleasedcount commitsize commitcount maxcommitsize stackcount stacksize",
    },
    OfList {
        dump: "virtual-alloc",
        is_asked: |native| !has(native, "--stack-id") && !has(native, "--details"),
        columns: "freedsize freedcount",
    },
    OfList {
        dump: "virtual-alloc",
        is_asked: |native| has(native, "--stack-id") || !has(native, "--details"),
        columns: "process",
    },
    OfList {
        dump: "tracelog",
        is_asked: |native| {
            value_of(native, "--provider").is_some_and(|provider| provider.contains(':'))
        },
        columns: "time pid tid processname message",
    },
    OfList {
        dump: "tracelog",
        is_asked: |native| has(native, "--provider"),
        columns: "id eventname",
    },
];

/// Changes names of columns to ours, and reports those that the chosen list does not have.
pub(crate) fn columns(dump: &str, native: &mut Native, notes: &mut Vec<String>) {
    let Some(names) = value_of(native, "--column") else {
        return;
    };
    let mut ours = Vec::new();
    for part in names.split([';', ' ']).filter(|part| !part.is_empty()) {
        let name = part.trim_start_matches(['!', '+']);
        let sign = part.strip_suffix(name).unwrap_or("");
        let lower = name.to_lowercase();
        let of = OF_LISTS.iter().filter(|list| {
            list.dump == dump && list.columns.split(' ').any(|column| column == lower)
        });
        // A column of no such list is passed on unchanged: our own option refuses names that it
        // does not know.
        let lists: Vec<&OfList> = of.collect();
        if !lists.is_empty() && !lists.iter().any(|list| (list.is_asked)(native)) {
            notes.push(format!(
                "-column {part}: the list has no column of this name"
            ));
            continue;
        }
        match ALIASES
            .iter()
            .find(|(of, alias, _)| *of == dump && *alias == lower)
        {
            Some((_, _, names)) => ours.extend(names.iter().map(|name| format!("{sign}{name}"))),
            None => ours.push(part.to_owned()),
        }
    }
    without(native, &["--column"]);
    if !ours.is_empty() {
        pair(native, "--column", &ours.join(";"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_ours() {
        for (dump, line, expected, is_noted) in [
            (
                "tcp",
                "--column=PostMode;!TCB",
                "--column=Posted;Injected;!TCB",
                false,
            ),
            (
                "tcp",
                "--column=+postmode",
                "--column=+Posted;+Injected",
                false,
            ),
            ("tcp", "--column=SndNext", "", true),
            (
                "tcp",
                "--issue=post --column=SndNext;SentBytes",
                "--issue=post --column=SndNext",
                true,
            ),
            (
                "virtual-alloc",
                "--details --column=StackSize;FreedSize",
                "--details --column=NotReleasedSize",
                true,
            ),
            (
                "virtual-alloc",
                "--column=freed*;Process",
                "--column=freed*;Process",
                false,
            ),
            ("tracelog", "--column=Time", "", true),
            (
                "tracelog",
                "--provider=a:b --column=Time;PID",
                "--provider=a:b --column=Time;PID",
                false,
            ),
            (
                "file",
                "--column=SetSecurityCount",
                "--column=SetSecurityCount",
                false,
            ),
            ("file", "--details", "--details", false),
        ] {
            let mut native: Native = line.split(' ').map(Into::into).collect();
            let mut notes = Vec::new();
            columns(dump, &mut native, &mut notes);
            let changed: Vec<_> = native.iter().map(|arg| arg.to_string_lossy()).collect();
            assert_eq!(changed.join(" "), expected, "{dump} {line}");
            assert_eq!(!notes.is_empty(), is_noted, "{notes:?}");
        }
    }
}
