//! Arbitrary records, and the expected results of reading them.

use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::wire::message::MessageParts;
use etwkit_etl::writer::{
    ClassicEvent, Instance, KernelContext, KernelEvent, ManifestEvent, MessageEvent, MessageSource,
    Record, Width,
};
use etwkit_etl::{Guid, HeaderKind, Identity, RawEvent};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// One record that owns its parts. The kind decides which of them are used.
#[derive(Debug, Clone)]
pub struct Spec {
    pub kind: HeaderKind,
    /// Ticks since the event before it on its processor.
    pub step: u8,
    pub untimed: bool,
    pub thread_id: u32,
    pub process_id: u32,
    pub times: (u32, u32),
    pub guids: (Guid, Guid),
    pub words: (u32, u32),
    pub bytes: (u8, u8, u8, u8),
    pub shorts: (u16, u16, u16),
    pub keyword: u64,
    pub pebs_index: Option<u64>,
    pub pmc_values: Vec<u64>,
    pub extended: Vec<(u16, Vec<u8>)>,
    pub sequence: Option<u32>,
    pub source: u8,
    pub ids: bool,
    pub width: Option<bool>,
    pub payload: Vec<u8>,
}

fn guid() -> impl Strategy<Value = Guid> {
    prop_oneof![
        Just(Guid::ZERO),
        any::<[u8; 16]>().prop_map(Guid::from_bytes)
    ]
}

fn payload() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => vec(any::<u8>(), 0..60),
        2 => vec(0u8..3, 0..900),
        1 => vec(any::<u8>(), 900..9000),
    ]
}

prop_compose! {
    fn heads()(
        kind in proptest::sample::select(HeaderKind::ALL.to_vec()),
        step in prop_oneof![Just(0), 0u8..4, any::<u8>()],
        untimed in proptest::bool::weighted(0.1),
        thread_id in prop_oneof![Just(u32::MAX), any::<u32>()],
        process_id in prop_oneof![Just(u32::MAX), any::<u32>()],
        times in any::<(u32, u32)>(),
        guids in (guid(), guid()),
        words in any::<(u32, u32)>(),
        bytes in any::<(u8, u8, u8, u8)>(),
        shorts in any::<(u16, u16, u16)>(),
        keyword in any::<u64>(),
    ) -> Spec {
        Spec {
            kind, step, untimed, thread_id, process_id, times, guids, words, bytes, shorts, keyword,
            pebs_index: None, pmc_values: Vec::new(), extended: Vec::new(), sequence: None, source: 0,
            ids: false, width: None, payload: Vec::new(),
        }
    }
}

prop_compose! {
    pub fn spec()(
        head in heads(),
        pebs_index in option::of(any::<u64>()),
        pmc_values in vec(any::<u64>(), 0..8),
        extended in vec((any::<u16>(), vec(any::<u8>(), 0..40)), 0..4),
        sequence in option::of(any::<u32>()),
        source in 0u8..3,
        ids in any::<bool>(),
        width in any::<Option<bool>>(),
        payload in payload(),
    ) -> Spec {
        Spec { pebs_index, pmc_values, extended, sequence, source, ids, width, payload, ..head }
    }
}

impl Spec {
    fn context(&self) -> KernelContext {
        let (thread_id, process_id) = (self.thread_id, self.process_id);
        match self.kind {
            HeaderKind::System32 | HeaderKind::System64 => KernelContext::IdsAndTimes {
                thread_id,
                process_id,
                kernel_time: self.times.0,
                user_time: self.times.1,
            },
            HeaderKind::Compact32 | HeaderKind::Compact64 => KernelContext::Ids {
                thread_id,
                process_id,
            },
            _ => KernelContext::None,
        }
    }

    fn processor_time(&self) -> u64 {
        u64::from(self.times.0) | u64::from(self.times.1) << 32
    }

    fn instance(&self) -> Option<Instance> {
        matches!(self.kind, HeaderKind::Instance32 | HeaderKind::Instance64).then_some(Instance {
            id: self.words.0,
            parent_id: self.words.1,
            parent_class: self.guids.1,
        })
    }

    fn descriptor(&self) -> Descriptor {
        Descriptor {
            id: self.shorts.0,
            version: self.bytes.0,
            channel: self.bytes.1,
            level: self.bytes.2,
            opcode: self.bytes.3,
            task: self.shorts.1,
            keyword: self.keyword,
        }
    }

    pub fn is_untimed(&self) -> bool {
        self.kind == HeaderKind::Message && self.untimed
    }

    /// The record with that time stamp.
    pub fn with_record<T>(&self, timestamp: i64, use_it: impl FnOnce(Record<'_>) -> T) -> T {
        let width = if self.kind.pointer_size() == 4 {
            Width::Bits32
        } else {
            Width::Bits64
        };
        let payload = &self.payload[..];
        let items: Vec<(u16, &[u8])> = self
            .extended
            .iter()
            .map(|(kind, data)| (*kind, &data[..]))
            .collect();
        use_it(match self.kind {
            kind if kind.is_kernel() => Record::Kernel(KernelEvent {
                width,
                context: self.context(),
                timestamp,
                group: self.bytes.0,
                opcode: self.bytes.1,
                version: self.bytes.2,
                pebs_index: self.pebs_index,
                pmc_values: &self.pmc_values,
                payload,
            }),
            kind if kind.is_classic() => Record::Classic(ClassicEvent {
                width,
                timestamp,
                class: self.guids.0,
                opcode: self.bytes.0,
                level: self.bytes.1,
                version: self.shorts.0,
                thread_id: self.thread_id,
                process_id: self.process_id,
                processor_time: self.processor_time(),
                instance: self.instance(),
                payload,
            }),
            HeaderKind::Message => Record::Message(self.message(timestamp)),
            _ => Record::Manifest(ManifestEvent {
                width,
                timestamp,
                provider: self.guids.0,
                descriptor: self.descriptor(),
                property: self.shorts.2,
                thread_id: self.thread_id,
                process_id: self.process_id,
                processor_time: self.processor_time(),
                activity_id: self.guids.1,
                extended: &items,
                payload,
            }),
        })
    }

    fn message(&self, timestamp: i64) -> MessageEvent<'_> {
        MessageEvent {
            width: self
                .width
                .map(|wide| if wide { Width::Bits64 } else { Width::Bits32 }),
            number: self.shorts.0,
            sequence: self.sequence,
            source: match self.source {
                0 => MessageSource::None,
                1 => MessageSource::Guid(self.guids.0),
                _ => MessageSource::Component(self.words.0),
            },
            timestamp: (!self.untimed).then_some(timestamp),
            ids: self.ids.then_some((self.thread_id, self.process_id)),
            payload: &self.payload,
        }
    }

    /// Compares every accessor of the event that was read with the record.
    pub fn check(&self, event: &RawEvent<'_>) {
        assert_eq!(event.kind, self.kind);
        assert_eq!(event.payload(), self.payload, "payload");
        let ids = match self.kind {
            HeaderKind::Perfinfo32 | HeaderKind::Perfinfo64 => None,
            HeaderKind::Message => self.ids.then_some((self.thread_id, self.process_id)),
            _ => Some((self.thread_id, self.process_id)),
        };
        assert_eq!(
            event.thread_id(),
            ids.map(|ids| ids.0).filter(|id| *id != u32::MAX)
        );
        assert_eq!(
            event.process_id(),
            ids.map(|ids| ids.1).filter(|id| *id != u32::MAX)
        );
        match self.kind {
            kind if kind.is_kernel() => self.check_kernel(event),
            kind if kind.is_classic() => self.check_classic(event),
            HeaderKind::Message => self.check_message(event),
            _ => self.check_manifest(event),
        }
        if !self.kind.is_kernel() {
            assert_eq!(
                (
                    event.hook_id(),
                    event.pebs_index(),
                    event.pmc_values().count()
                ),
                (None, None, 0)
            );
        }
        if !self.kind.is_manifest() {
            assert_eq!((event.extended().count(), event.activity_id()), (0, None));
            assert_eq!(event.descriptor(), Descriptor::default());
        }
    }

    fn check_kernel(&self, event: &RawEvent<'_>) {
        let (group, opcode, version) = (self.bytes.0, self.bytes.1, self.bytes.2);
        assert_eq!(
            event.identity(),
            Identity::Kernel {
                group,
                opcode,
                version
            }
        );
        assert_eq!(
            event.hook_id(),
            Some(u16::from(group) << 8 | u16::from(opcode))
        );
        assert_eq!(
            (event.opcode(), event.version(), event.level()),
            (opcode, version.into(), 0)
        );
        assert_eq!(event.provider(), Guid::ZERO);
        assert_eq!(event.pebs_index(), self.pebs_index);
        assert_eq!(event.pmc_values().collect::<Vec<_>>(), self.pmc_values);
        assert_eq!(event.pointer_size(), self.kind.pointer_size());
        if let KernelContext::IdsAndTimes { .. } = self.context() {
            assert_eq!(event.record[24..32], self.processor_time().to_le_bytes());
        }
    }

    fn check_classic(&self, event: &RawEvent<'_>) {
        let (class, opcode, version) = (self.guids.0, self.bytes.0, self.shorts.0);
        assert_eq!(
            event.identity(),
            Identity::Classic {
                class,
                opcode,
                version
            }
        );
        assert_eq!(
            (event.opcode(), event.version(), event.level()),
            (opcode, version, self.bytes.1)
        );
        assert_eq!(event.provider(), class);
        assert_eq!(event.pointer_size(), self.kind.pointer_size());
        assert_eq!(event.record[40..48], self.processor_time().to_le_bytes());
        if let Some(instance) = self.instance() {
            assert_eq!(event.record[48..52], instance.id.to_le_bytes());
            assert_eq!(event.record[52..56], instance.parent_id.to_le_bytes());
            assert_eq!(event.record[56..72], instance.parent_class.to_bytes());
        }
    }

    fn check_message(&self, event: &RawEvent<'_>) {
        let guid = if self.source == 1 {
            self.guids.0
        } else {
            Guid::ZERO
        };
        assert_eq!(
            event.identity(),
            Identity::Message {
                guid,
                number: self.shorts.0
            }
        );
        assert_eq!((event.opcode(), event.version(), event.level()), (0, 0, 0));
        assert_eq!(event.provider(), guid);
        assert_eq!(
            event.pointer_size(),
            if self.width == Some(false) { 4 } else { 8 }
        );
        let parts = MessageParts::parse(event.record);
        assert_eq!(parts.sequence, self.sequence);
        assert_eq!(parts.timestamp, (!self.untimed).then_some(event.timestamp));
        if self.source == 2 {
            let at = if self.sequence.is_some() { 12 } else { 8 };
            assert_eq!(event.record[at..at + 4], self.words.0.to_le_bytes());
        }
    }

    fn check_manifest(&self, event: &RawEvent<'_>) {
        let d = self.descriptor();
        let (provider, id, version, opcode) = (self.guids.0, d.id, d.version, d.opcode);
        assert_eq!(
            event.identity(),
            Identity::Manifest {
                provider,
                id,
                version,
                opcode
            }
        );
        assert_eq!(
            (event.opcode(), event.version(), event.level()),
            (opcode, version.into(), d.level)
        );
        assert_eq!((event.provider(), event.descriptor()), (provider, d));
        assert_eq!(
            event.activity_id(),
            Some(self.guids.1).filter(|id| *id != Guid::ZERO)
        );
        assert_eq!(event.pointer_size(), self.kind.pointer_size());
        assert_eq!(event.record[6..8], self.shorts.2.to_le_bytes());
        assert_eq!(event.record[56..64], self.processor_time().to_le_bytes());
        let items: Vec<(u16, Vec<u8>)> = event
            .extended()
            .map(|item| (item.kind, item.data.to_vec()))
            .collect();
        assert_eq!(items, self.extended);
    }
}
