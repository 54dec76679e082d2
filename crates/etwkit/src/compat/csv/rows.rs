//! Which rows of ours a file of ETWAnalyzer has: its files hold single rows where its text has sums, whatever the order and number of rows of the text.

use crate::compat::switch::{Native, has, without};

/// Options that choose and order rows of text.
const OF_TEXT: &[&str] = &["--top", "--skip"];

/// Changes arguments so that their rows are those of the file.
pub(in crate::compat) fn rows(dump: &str, native: &mut Native, notes: &mut Vec<String>) {
    match dump {
        "dns" => {
            // Each query.
            without(native, OF_TEXT);
            without(native, &["--top-details", "--skip-details", "--sort-by", "--details"]);
            native.push("--details".into());
        }
        "tcp" => {
            without(native, OF_TEXT);
            without(native, &["--group-by", "--issue", "--top-retransmits", "--skip-retransmits"]);
            // Each retransmission.
            if has(native, "--details") && !has(native, "--show-retransmit") {
                native.push("--show-retransmit".into());
            }
        }
        "exception" => {
            without(native, OF_TEXT);
            without(native, &["--sort-by"]);
            native.push("--sort-by=time".into());
        }
        "tracelog" => {
            without(native, OF_TEXT);
            native.push("--by=event".into());
        }
        "mark" => {
            without(native, OF_TEXT);
            without(native, &["--diff"]);
        }
        "thread-pool" => without(native, OF_TEXT),
        "memory" => {
            without(native, OF_TEXT);
            if has(native, "--total-memory") {
                without(native, &["--total-memory"]);
                notes.push("-csv: the file has memory of processes, not of the machine".to_owned());
            }
        }
        "objectref" => {
            without(native, OF_TEXT);
            without(native, &["--show-total", "--show-ref"]);
            native.push("--show-ref".into());
            let filters = ["--stack-filter", "--create-stack", "--destroy-stack"];
            if filters.iter().any(|filter| has(native, filter)) && !has(native, "--show-stack") {
                native.push("--show-stack".into());
            }
        }
        "virtual-alloc" if has(native, "--details") || has(native, "--stack-id") => {
            // Each commit.
            without(native, &["--details", "--top-stacks", "--show-stack", "--top", "--skip"]);
            native.extend(["--events", "--show-stack"].map(Into::into));
        }
        "file" => {
            // Each file in each process.
            without(native, OF_TEXT);
            without(native, &["--dir-level", "--per-process", "--top-processes", "--merge"]);
            native.extend(["--per-process", "--dir-level=100"].map(Into::into));
            if !has(native, "--show-module") {
                native.push("--show-module".into());
            }
        }
        "stats" => without(native, &["--properties", "--one-line"]),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_single_rows() {
        for (dump, line, expected) in [
            ("dns", "--top=5 --query=a --sort-by=count", "--query=a --details"),
            ("tcp", "--group-by=x --details --skip=1", "--details --show-retransmit"),
            ("tcp", "--stats", "--stats"),
            ("exception", "--top=1 --type=x", "--type=x --sort-by=time"),
            ("objectref", "--show-total=total --leak", "--leak --show-ref"),
            ("objectref", "--create-stack=x", "--create-stack=x --show-ref --show-stack"),
            ("virtual-alloc", "--top=3", "--top=3"),
            ("virtual-alloc", "--details --top-stacks=3", "--events --show-stack"),
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
