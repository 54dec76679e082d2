//! Names of numbers that Windows and .NET log.

use std::sync::{Arc, LazyLock};

use datafusion::arrow::array::{ArrayRef, AsArray, StringArray};
use datafusion::arrow::datatypes::{DataType, Int32Type};
use datafusion::error::Result;

use super::{Function, arguments};
use crate::nt_status::status_name;
use crate::win32_error::win32_error_name;

pub(super) static FUNCTIONS: &[Function] = &[
    Function {
        call: "wait_reason_name(wait_reason)",
        doc: "Name of a `KWAIT_REASON`; the number itself if it has no name. From 37 on, kernels differ.",
        example: "SELECT wait_reason_name(6), wait_reason_name(99)",
        answer: "UserRequest|99",
        arguments: &[DataType::Int32],
        returns: DataType::Utf8,
        compute: |columns| named(columns, &WAIT_REASONS),
    },
    Function {
        call: "thread_state_name(prev_state)",
        doc: "Name of a `KTHREAD_STATE`; the number itself if it has no name.",
        example: "SELECT thread_state_name(5)",
        answer: "Waiting",
        arguments: &[DataType::Int32],
        returns: DataType::Utf8,
        compute: |columns| named(columns, &THREAD_STATES),
    },
    Function {
        call: "gc_reason_name(reason)",
        doc: "Name of the reason for a garbage collection; the number itself if it has no name.",
        example: "SELECT gc_reason_name(1)",
        answer: "Induced",
        arguments: &[DataType::Int32],
        returns: DataType::Utf8,
        compute: |columns| named(columns, &GC_REASONS),
    },
    Function {
        call: "thread_pool_reason_name(reason)",
        doc: "Name of the reason for another number of threads of a .NET thread pool; the number itself if it has no name.",
        example: "SELECT thread_pool_reason_name(6)",
        answer: "Starvation",
        arguments: &[DataType::Int32],
        returns: DataType::Utf8,
        compute: |columns| named(columns, &THREAD_POOL_REASONS),
    },
    Function {
        call: "ntstatus_name(status)",
        doc: "Name of a common NTSTATUS without `STATUS_`; hexadecimal digits for others.",
        example: "SELECT ntstatus_name(-1073741772), ntstatus_name(-2147483600)",
        answer: "OBJECT_NAME_NOT_FOUND|0x80000030",
        arguments: &[DataType::Int32],
        returns: DataType::Utf8,
        compute: |columns| {
            texts(columns, |status| {
                status_name(status).map_or_else(|| format!("{status:#010x}"), str::to_owned)
            })
        },
    },
    Function {
        call: "win32_error_name(status)",
        doc: "Name of a Win32 error that name resolution ends with; the number itself if it has no name here.",
        example: "SELECT win32_error_name(9003), win32_error_name(77)",
        answer: "DNS_ERROR_RCODE_NAME_ERROR|77",
        arguments: &[DataType::Int32],
        returns: DataType::Utf8,
        compute: |columns| texts(columns, win32_error_name),
    },
    Function {
        call: "registry_key_name(key)",
        doc: "Path of a registry key as programs name it: `HKLM` and `HKU` for the roots of machine and users. Others stay.",
        example: r"SELECT registry_key_name('\REGISTRY\MACHINE\SOFTWARE'), registry_key_name('\registry\machines')",
        answer: r"HKLM\SOFTWARE|\registry\machines",
        arguments: &[DataType::Utf8],
        returns: DataType::Utf8,
        compute: |columns| {
            let [keys] = arguments(columns)?;
            let names = keys
                .as_string::<i32>()
                .iter()
                .map(|key| key.map(registry_key_name));
            Ok(Arc::new(names.collect::<StringArray>()))
        },
    },
];

/// Returns the path of a registry key as programs name it.
fn registry_key_name(key: &str) -> String {
    const ROOTS: [(&str, &str); 2] = [(r"\REGISTRY\MACHINE", "HKLM"), (r"\REGISTRY\USER", "HKU")];
    let named = ROOTS.iter().find_map(|(root, name)| {
        // A root is followed by a separator or the end: `\REGISTRY\MACHINES` only starts like one.
        let (start, rest) = key.split_at_checked(root.len())?;
        let is_root =
            start.eq_ignore_ascii_case(root) && (rest.is_empty() || rest.starts_with('\\'));
        is_root.then(|| format!("{name}{rest}"))
    });
    named.unwrap_or_else(|| key.to_owned())
}

/// Returns the functions that name numbers from 0 on, with these names.
pub(crate) fn lists_of_names() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let lists: [(&'static str, &'static [&'static str]); 4] = [
        ("wait_reason_name", &WAIT_REASONS),
        ("thread_state_name", &THREAD_STATES),
        ("gc_reason_name", &GC_REASONS),
        ("thread_pool_reason_name", &THREAD_POOL_REASONS),
    ];
    lists.into_iter()
}

/// Returns the name of a `KWAIT_REASON`, like the SQL function of that name.
#[must_use]
pub fn wait_reason_name(reason: i32) -> String {
    name_of(reason, &WAIT_REASONS)
}

fn texts(columns: &[ArrayRef], text: impl Fn(i32) -> String) -> Result<ArrayRef> {
    let [numbers] = arguments(columns)?;
    let texts = numbers
        .as_primitive::<Int32Type>()
        .iter()
        .map(|number| number.map(&text));
    Ok(Arc::new(texts.collect::<StringArray>()))
}

fn named(columns: &[ArrayRef], names: &[&str]) -> Result<ArrayRef> {
    texts(columns, |number| name_of(number, names))
}

/// Returns the name with that number, or the number itself if it has none.
fn name_of(number: i32, names: &[&str]) -> String {
    let name = usize::try_from(number)
        .ok()
        .and_then(|number| names.get(number));
    name.map_or_else(|| number.to_string(), |name| (*name).to_owned())
}

/// Names of numbers, by number.
type Names = LazyLock<Vec<&'static str>>;

static WAIT_REASONS: Names = LazyLock::new(|| read("wait_reason"));
static THREAD_STATES: Names = LazyLock::new(|| read("thread_state"));
static GC_REASONS: Names = LazyLock::new(|| read("gc_reason"));
static THREAD_POOL_REASONS: Names = LazyLock::new(|| read("thread_pool_reason"));

const FILE: &str = include_str!("names.tsv");

/// Reads a list of the file.
fn read(list: &str) -> Vec<&'static str> {
    let of_list = |line: &Line| line.list == list;
    let mut lines: Vec<Line> = FILE.lines().filter_map(parsed).filter(of_list).collect();
    lines.sort_by_key(|line| line.number);
    lines.into_iter().map(|line| line.name).collect()
}

/// A line of the file.
struct Line {
    list: &'static str,
    number: usize,
    name: &'static str,
}

/// Parses a line: the list, the number and its name, separated by tabs. Lines with `#` are comments.
fn parsed(line: &'static str) -> Option<Line> {
    let mut fields = line.split('\t');
    Some(Line {
        list: fields.next()?,
        number: fields.next()?.parse().ok()?,
        name: fields.next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_file_is_at_the_place_of_its_number() {
        let lines = FILE
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let entry = parsed(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(
                read(entry.list).get(entry.number),
                Some(&entry.name),
                "{line}"
            );
        }
        let lengths = lists_of_names().map(|(_, names)| names.len());
        assert_eq!(lengths.collect::<Vec<_>>(), [40, 10, 14, 9]);
    }
}
