//! Rows of our commands for a file of ETWAnalyzer: its files hold single rows if its text has sums,
//! in any order and number of rows of the text.

use crate::switch::{Native, has, without};

/// Changes arguments so that their rows are the rows of the file.
pub(crate) fn rows(dump: &str, native: &mut Native, notes: &mut Vec<String>) {
    let is_of_events = has(native, "--details") || has(native, "--stack-id");
    // Options that filter, order and add up rows of text, and the options that replace them.
    let (of_text, instead): (&[&str], &[&str]) = match dump {
        // Each query.
        "dns" => (
            &["--top-details", "--skip-details", "--sort-by", "--details"],
            &["--details"],
        ),
        "tcp" => (
            &[
                "--group-by",
                "--issue",
                "--top-retransmits",
                "--skip-retransmits",
            ],
            &[],
        ),
        "exception" => (&["--sort-by"], &["--sort-by=time"]),
        "tracelog" => (&[], &["--by=event"]),
        "mark" => (&["--diff"], &[]),
        "thread-pool" => (&[], &[]),
        "memory" => (&["--total-memory"], &[]),
        "objectref" => (&["--show-total", "--show-ref"], &["--show-ref"]),
        // Each commit.
        "virtual-alloc" if is_of_events => (
            &["--details", "--top-stacks", "--show-stack"],
            &["--events", "--show-stack"],
        ),
        // Each file in each process.
        "file" => (
            &["--dir-level", "--per-process", "--top-processes", "--merge"],
            &["--per-process", "--dir-level=100"],
        ),
        "stats" => return without(native, &["--properties", "--one-line"]),
        _ => return,
    };
    if has(native, "--total-memory") {
        notes.push("-csv: the file has memory of processes, not of the machine".to_owned());
    }
    without(native, &["--top", "--skip"]);
    without(native, of_text);
    native.extend(instead.iter().map(Into::into));
    let has_any = |options: &[&str]| options.iter().any(|option| has(native, option));
    let more = match dump {
        // Each retransmission.
        "tcp" if has_any(&["--details"]) => "--show-retransmit",
        "objectref" if has_any(&["--stack-filter", "--create-stack", "--destroy-stack"]) => {
            "--show-stack"
        }
        "file" => "--show-module",
        _ => return,
    };
    if !has_any(&[more]) {
        native.push(more.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_single_rows() {
        for (dump, line, expected) in [
            (
                "dns",
                "--top=5 --query=a --sort-by=count",
                "--query=a --details",
            ),
            (
                "tcp",
                "--group-by=x --details --skip=1",
                "--details --show-retransmit",
            ),
            ("tcp", "--stats", "--stats"),
            ("exception", "--top=1 --type=x", "--type=x --sort-by=time"),
            (
                "objectref",
                "--show-total=total --leak",
                "--leak --show-ref",
            ),
            (
                "objectref",
                "--create-stack=x",
                "--create-stack=x --show-ref --show-stack",
            ),
            ("virtual-alloc", "--top=3", "--top=3"),
            (
                "virtual-alloc",
                "--details --top-stacks=3",
                "--events --show-stack",
            ),
            ("memory", "--total-memory --commit=1..", "--commit=1.."),
            ("stats", "--properties=OS* --one-line", ""),
            (
                "file",
                "--top=5 --dir-level=2 --file=x",
                "--file=x --per-process --dir-level=100 --show-module",
            ),
            ("cpu", "--top=5", "--top=5"),
        ] {
            let mut native: Native = line.split(' ').map(Into::into).collect();
            let mut notes = Vec::new();
            rows(dump, &mut native, &mut notes);
            let changed: Vec<_> = native.iter().map(|arg| arg.to_string_lossy()).collect();
            assert_eq!(changed.join(" "), expected, "{dump}");
            assert_eq!(notes.len(), usize::from(line.contains("total-memory")));
        }
    }
}
