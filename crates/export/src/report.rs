//! The summary of a file that was written, in words and as JSON.

use etwkit_base::digits::noun;
use etwkit_question::numbers::{Numbers, rounded};
use etwkit_questions::cpu::Metric;
use etwkit_questions::cpu::source::CpuSource;
use serde_json::{Value, json};

use crate::packets::PacketSums;
use crate::profile::{ExportRequest, WrittenProfile};

impl WrittenProfile {
    /// Returns `true` if the file has nothing of the requested data.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        if let Some(timeline) = &self.timeline {
            return timeline.is_empty();
        }
        self.packets
            .map_or(self.stacks == 0, |packets| packets.packets == 0)
    }

    /// Returns JSON of the file, with sums in the units that their names have.
    #[must_use]
    pub fn json(&self, file: &str, request: &ExportRequest) -> Value {
        if let Some(timeline) = &self.timeline {
            return timeline.json(file);
        }
        if let Some(PacketSums {
            packets,
            bytes,
            interfaces,
            left_out,
        }) = self.packets
        {
            return json!({"file": file, "packets": packets, "bytes": bytes, "interfaces": interfaces,
                "left_out": left_out});
        }
        json!({"file": file, "processes": request.process_count, "stacks": self.stacks, "frames": self.frames,
            "total_ns": self.total_ns, "source": self.source.map(CpuSource::name)})
    }

    /// Returns the lines for people, after the name of the file.
    #[must_use]
    pub fn lines(&self, numbers: &Numbers, request: &ExportRequest) -> Vec<String> {
        if let Some(timeline) = &self.timeline {
            return timeline.lines(numbers);
        }
        if let Some(packets) = &self.packets {
            return packets.lines(numbers, request);
        }
        let ms = numbers.whole(rounded(self.total_ns, 1_000_000));
        let processes = counted(request.process_count as u64, ["process", "processes"]);
        let stacks = counted(self.stacks, ["stack", "stacks"]);
        let names = counted(self.frames as u64, ["name", "names"]);
        let mut lines = vec![format!("  {ms} ms of {processes} in {stacks}, {names}")];
        if request.metric == Metric::Cpu && self.source == Some(CpuSource::ContextSwitches) {
            lines.push(
                "  no CPU was sampled: weights are time on processors, from context switches"
                    .to_owned(),
            );
        }
        lines
    }
}

/// Returns a number with its noun.
fn counted(number: u64, nouns: [&str; 2]) -> String {
    format!("{number} {}", noun(number, nouns))
}

impl PacketSums {
    fn lines(&self, numbers: &Numbers, request: &ExportRequest) -> Vec<String> {
        let count =
            |count: u64, nouns| format!("{} {}", numbers.grouped(count), noun(count, nouns));
        let interfaces = self.interfaces as u64;
        let mut lines = vec![format!(
            "  {}, {}, {}",
            count(self.packets, ["packet", "packets"]),
            count(self.bytes, ["byte", "bytes"]),
            count(interfaces, ["interface", "interfaces"])
        )];
        if self.left_out > 0 {
            let events = count(self.left_out, ["event", "events"]);
            lines.push(format!(
                "  {events} left out: not decoded, of a link that is not known, or a part alone"
            ));
        }
        if request.processes.process.is_some() {
            lines.push(
                "  processes: those on the processor when a packet was logged, seldom its own"
                    .to_owned(),
            );
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_kind_is_singular() {
        let written = WrittenProfile {
            stacks: 1,
            frames: 2,
            ..WrittenProfile::default()
        };
        let request = ExportRequest {
            process_count: 1,
            ..ExportRequest::default()
        };
        assert_eq!(
            written.lines(&Numbers::default(), &request),
            ["  0 ms of 1 process in 1 stack, 2 names"]
        );
    }

    #[test]
    fn packets_are_counted_and_what_is_left_out_is_said() {
        let numbers = Numbers::default();
        let sums = PacketSums {
            packets: 1,
            bytes: 98,
            interfaces: 2,
            left_out: 0,
        };
        let request = ExportRequest::default();
        assert_eq!(
            sums.lines(&numbers, &request),
            ["  1 packet, 98 bytes, 2 interfaces"]
        );
        let sums = PacketSums {
            left_out: 3,
            ..sums
        };
        assert!(sums.lines(&numbers, &request)[1].starts_with("  3 events left out"));
    }
}
