//! Titles of columns, derived from their names.

/// Titles of columns whose names alone do not say what is measured.
const TITLES: [(&str, &str); 8] = [
    ("ts_ns", "Time"),
    ("init_ns", "Started"),
    ("complete_ns", "Completed"),
    ("io_ns", "I/O time"),
    ("service_ns", "Service time"),
    ("queue_ns", "Queue time"),
    ("result_bytes", "Bytes transferred"),
    ("size_bytes", "Size"),
];

/// Endings of names that a title leaves out: units, which are written after values, and the kind of
/// a number.
const UNITS: [&str; 2] = ["_ns", "_bytes"];

/// Terms of several words, each after the `_` that separates it from the word before it.
const TERMS: [(&str, &str); 3] = [
    ("_dpc_isr", "_dpc/isr"),
    ("_c_state", "_c-state"),
    ("_hyper_threaded", "_hyper-threaded"),
];

/// Abbreviations and names, which keep their spelling inside a title.
const SPELLINGS: [(&str, &str); 38] = [
    ("ac", "AC"),
    ("c-state", "C-state"),
    ("clr", "CLR"),
    ("cpu", "CPU"),
    ("dns", "DNS"),
    ("dpc", "DPC"),
    ("dpc/isr", "DPC/ISR"),
    ("drips", "DRIPS"),
    ("gc", "GC"),
    ("guid", "GUID"),
    ("hresult", "HRESULT"),
    ("id", "ID"),
    ("il", "IL"),
    ("io", "I/O"),
    ("ipv4", "IPv4"),
    ("ipv6", "IPv6"),
    ("irp", "IRP"),
    ("isr", "ISR"),
    ("mac", "MAC"),
    ("mdl", "MDL"),
    ("mhz", "MHz"),
    ("mtu", "MTU"),
    ("nt", "NT"),
    ("numa", "NUMA"),
    ("os", "OS"),
    ("pdb", "PDB"),
    ("pid", "PID"),
    ("prev", "previous"),
    ("rtt", "RTT"),
    ("rva", "RVA"),
    ("sid", "SID"),
    ("tcb", "TCB"),
    ("tcp", "TCP"),
    ("tid", "TID"),
    ("udp", "UDP"),
    ("utc", "UTC"),
    ("wow64", "WOW64"),
    ("wparam", "wParam"),
];

/// Returns the title of a column: its name in words, without the unit.
pub(crate) fn of_name(name: &str) -> String {
    if let Some((_, title)) = TITLES.iter().find(|(known, _)| *known == name) {
        return (*title).to_owned();
    }
    let name = UNITS
        .iter()
        .find_map(|unit| name.strip_suffix(unit))
        .unwrap_or(name);
    let name = name.strip_suffix("_key").unwrap_or(name);
    in_words(name)
}

/// Returns a name such as `ReadTime` in words.
pub(crate) fn of_camel_case(name: &str) -> String {
    let mut words = String::new();
    let mut was_small = false;
    for letter in name.chars() {
        if was_small && letter.is_uppercase() {
            words.push('_');
        }
        was_small = letter.is_lowercase();
        words.extend(letter.to_lowercase());
    }
    in_words(&words)
}

/// Returns the words of a name that `_` separates, as a title.
fn in_words(name: &str) -> String {
    let name = TERMS
        .iter()
        .fold(format!("_{name}"), |name, (words, term)| {
            name.replace(words, term)
        });
    let words: Vec<&str> = name.split('_').skip(1).map(spelled).collect();
    capitalized(&words.join(" "))
}

/// Returns a word as people write it inside a sentence.
fn spelled(word: &str) -> &str {
    SPELLINGS
        .iter()
        .find(|(name, _)| *name == word)
        .map_or(word, |(_, spelling)| *spelling)
}

fn capitalized(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn titles_are_words_in_their_spelling() {
        for (name, title) in [
            ("ts_ns", "Time"),
            ("is_dpc_isr", "Is DPC/ISR"),
            ("dpc_isr_cpu_ns", "DPC/ISR CPU"),
            ("prev_c_state", "Previous C-state"),
            ("prev_state", "Previous state"),
            ("sync_state", "Sync state"),
            ("pdb_guid", "PDB GUID"),
            ("event_id", "Event ID"),
            ("io_ns", "I/O time"),
            ("read_io_ns", "Read I/O"),
            ("creator_thread_key", "Creator thread"),
            ("queue_depth_start", "Queue depth start"),
            ("remote_address", "Remote address"),
        ] {
            assert_eq!(of_name(name), title, "{name}");
        }
    }

    #[test]
    fn names_of_answers_become_words() {
        for (name, title) in [
            ("ReadTime", "Read time"),
            ("DiskBytes", "Disk bytes"),
            ("InsteadTid", "Instead TID"),
            ("IO", "I/O"),
        ] {
            assert_eq!(of_camel_case(name), title, "{name}");
        }
    }

    #[test]
    fn abbreviations_keep_their_case() {
        let is_vowel = |letter: char| "aeiouy".contains(letter);
        for table in etwkit_sql::tables() {
            for column in table.columns {
                let title = of_name(column.name);
                for word in title.split(' ').map(str::to_lowercase) {
                    let is_word = word.len() == 1 || word.contains(is_vowel);
                    let is_word = is_word || !word.bytes().all(|byte| byte.is_ascii_lowercase());
                    let is_spelled = SPELLINGS.iter().any(|(name, _)| *name == word);
                    assert!(is_word || is_spelled, "{}: {title}", column.name);
                }
            }
        }
    }

    #[test]
    fn columns_of_a_table_have_titles_of_their_own() {
        for table in etwkit_sql::tables() {
            let mut titles = HashSet::new();
            for column in table.columns {
                let title = of_name(column.name);
                let is_key = column.name.ends_with("_key");
                assert!(
                    is_key || titles.insert(title.clone()),
                    "{}: {title}",
                    table.name
                );
            }
        }
    }
}
