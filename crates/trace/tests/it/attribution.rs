//! The thread of an event without IDs.

use std::sync::Arc;

use etwkit_decode::kernel::{group, net, sample, scheduler};
use etwkit_decode::{Plan, Tables};
use etwkit_etl::{HeaderKind, RawEvent};
use etwkit_trace::attribution::{Attributor, Ids};
use etwkit_trace::directory::{Directory, DirectoryBuilder};

/// An event with the short kernel header, which has no IDs.
struct Made {
    cpu: u16,
    record: Vec<u8>,
}

impl Made {
    fn new(cpu: u16, (group, opcode, version): (u8, u8, u16), words: &[u32]) -> Self {
        let mut record = version.to_le_bytes().to_vec();
        record.extend([HeaderKind::Perfinfo64 as u8, 0xC0]);
        record.extend((16 + 4 * words.len() as u16).to_le_bytes());
        record.extend([opcode, group]);
        record.extend([0; 8]);
        record.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        Self { cpu, record }
    }

    fn switch(cpu: u16, new: u32, old: u32) -> Self {
        Self::new(
            cpu,
            (group::THREAD, scheduler::opcode::CONTEXT_SWITCH, 4),
            &[new, old, 0, 0, 0, 0],
        )
    }

    fn call(cpu: u16) -> Self {
        Self::new(cpu, (group::PERFINFO, 51, 2), &[0, 0])
    }

    fn raw(&self) -> RawEvent<'_> {
        RawEvent {
            kind: HeaderKind::Perfinfo64,
            timestamp: 0,
            cpu: self.cpu,
            file: 0,
            buffer: 0,
            position: 0,
            record: &self.record,
        }
    }

    fn plan(&self) -> Option<Arc<Plan>> {
        Tables::new().plan(self.raw().identity(), 8, self.raw().payload())
    }
}

fn directory(events: &[Made]) -> Directory {
    let mut builder = DirectoryBuilder::default();
    events
        .iter()
        .for_each(|event| builder.observe(&event.raw()));
    builder.finish(8, 10_000_000)
}

fn ids(events: &[Made]) -> Vec<Ids> {
    let mut attributor = Attributor::new(directory(events).first_threads);
    events
        .iter()
        .map(|event| attributor.ids(&event.raw(), event.plan().as_ref()))
        .collect()
}

#[test]
fn a_call_belongs_to_the_thread_on_its_processor_even_before_the_first_switch() {
    let events = [
        Made::call(0),
        Made::call(1),
        Made::switch(0, 8, 7),
        Made::call(0),
        Made::switch(0, 9, 8),
        Made::call(0),
        Made::call(1),
    ];
    let tids: Vec<Option<u32>> = ids(&events).iter().map(|ids| ids.tid).collect();
    assert_eq!(
        tids,
        [Some(7), None, Some(8), Some(8), Some(9), Some(9), None]
    );
}

#[test]
fn a_sample_names_its_thread_itself() {
    let sample = Made::new(
        0,
        (group::PERFINFO, sample::opcode::SAMPLE, 2),
        &[0, 0, 5, 1],
    );
    assert_eq!(ids(&[Made::switch(0, 8, 7), sample])[1].tid, Some(5));
}

#[test]
fn the_oldest_transfers_have_addresses_in_front() {
    let words = [0x0100_007F, 0x0200_007F, 0x5000_BB01, 1500, 4242];
    let of =
        |group, version| net::process_and_size(&Made::new(0, (group, 10, version), &words).raw());
    assert_eq!(of(group::TCP, 0), Some((4242, 1500)));
    assert_eq!(of(group::UDP, 0), None);
    assert_eq!(of(group::TCP, 2), Some((words[0], words[1])));
    let tcp = Made::new(0, (group::TCP, 10, 0), &words);
    assert_eq!(ids(&[tcp])[0].pid, Some(4242));
}
