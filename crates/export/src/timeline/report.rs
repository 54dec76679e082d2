//! The summary of a timeline that was written, in words and as JSON.

use etwkit_question::numbers::{Numbers, rounded};
use serde_json::{Value, json};

use super::TimelineSums;

impl TimelineSums {
    /// Returns JSON of the file, with sums in the units that their names have.
    #[must_use]
    pub fn json(&self, file: &str) -> Value {
        json!({"file": file, "processes": self.processes, "threads": self.threads, "slices": self.slices,
            "run_ns": self.run_ns, "waits": self.waits, "samples": self.samples, "cpu_ns": self.cpu_ns,
            "operations": self.operations, "marks": self.marks})
    }

    /// Returns the lines for people, after the name of the file.
    #[must_use]
    pub fn lines(&self, numbers: &Numbers) -> Vec<String> {
        let ms = |ns| numbers.whole(rounded(ns, 1_000_000));
        let count = |count: u64, one: &str, many: &str| {
            format!(
                "{} {}",
                numbers.grouped(count),
                if count == 1 { one } else { many }
            )
        };
        let mut lines = vec![format!(
            "  {}, {}",
            count(self.processes as u64, "process", "processes"),
            count(self.threads as u64, "thread", "threads")
        )];
        if self.slices > 0 || self.waits > 0 {
            lines.push(format!(
                "  {} ms on processors in {}, {}",
                ms(self.run_ns),
                count(self.slices, "slice", "slices"),
                count(self.waits, "wait", "waits")
            ));
        }
        if self.samples > 0 {
            lines.push(format!(
                "  {} ms in {}",
                ms(self.cpu_ns),
                count(self.samples, "sample", "samples")
            ));
        }
        if self.operations > 0 || self.marks > 0 {
            lines.push(format!(
                "  {}, {}",
                count(
                    self.operations,
                    "disk or file operation",
                    "disk and file operations"
                ),
                count(self.marks, "mark", "marks")
            ));
        }
        if self.is_empty() {
            lines.push("  nothing happened there that was recorded".to_owned());
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_recorded_is_printed() {
        let printed = |sums: TimelineSums| sums.lines(&Numbers::default()).join("\n");
        let none = TimelineSums {
            processes: 1,
            threads: 2,
            ..TimelineSums::default()
        };
        assert_eq!(
            printed(none),
            "  1 process, 2 threads\n  nothing happened there that was recorded"
        );
        let some = TimelineSums {
            slices: 1,
            run_ns: 2_600_000,
            marks: 3,
            ..none
        };
        assert_eq!(
            printed(some),
            "  1 process, 2 threads\n  3 ms on processors in 1 slice, 0 waits\n  0 disk and file operations, 3 marks"
        );
    }
}
