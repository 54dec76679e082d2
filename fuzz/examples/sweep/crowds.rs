//! Whole traces with a hundred thousand of something: what is fast for ten of them may take hours for these.

use std::io::Cursor;

use etwkit_decode::clr;
use etwkit_decode::eventsource::CHUNK_ID;
use etwkit_etl::Guid;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::wire::extended::kind;
use etwkit_etl::writer::{
    KernelContext, KernelEvent, ManifestEvent, StackOwner, StackPart, TraceWriter,
};
use etwkit_fuzz::made;

/// How many.
pub(crate) const N: u32 = 100_000;

/// A trace that is being written.
pub(crate) struct Crowd {
    trace: TraceWriter<Cursor<Vec<u8>>>,
    now: i64,
}

/// A trace with what `each` does for every number.
pub(crate) fn crowd(count: u32, mut each: impl FnMut(&mut Crowd, u32)) -> Vec<u8> {
    let mut crowd = Crowd {
        trace: made::writer(8),
        now: 1,
    };
    for number in 0..count {
        each(&mut crowd, number);
    }
    made::bytes(crowd.trace)
}

impl Crowd {
    pub(crate) fn kernel(&mut self, group: u8, opcode: u8, version: u8, payload: &[u8]) {
        let (context, timestamp) = (KernelContext::ids(4, 8), self.now);
        let event = KernelEvent {
            context,
            timestamp,
            group,
            opcode,
            version,
            payload,
            ..KernelEvent::default()
        };
        made::add(&mut self.trace, 0, event);
        self.now += 1;
    }

    fn sample(&mut self, address: u64, tid: u32) {
        self.kernel(
            0x0F,
            46,
            2,
            &[
                &address.to_le_bytes()[..],
                &tid.to_le_bytes(),
                &[1, 0, 0x40, 0],
            ]
            .concat(),
        );
    }

    fn process(&mut self, opcode: u8, pid: u32) {
        let mut payload = u64::from(pid).to_le_bytes().to_vec();
        [pid, pid / 2, 1, 0]
            .into_iter()
            .for_each(|word| payload.extend(word.to_le_bytes()));
        payload.extend([0; 8 + 4 + 4]);
        payload.extend(format!("p{pid}.exe\0").bytes());
        payload.extend([0; 6]);
        self.kernel(3, opcode, 4, &payload);
    }

    fn thread(&mut self, opcode: u8, pid: u32, tid: u32) {
        self.kernel(
            5,
            opcode,
            3,
            &[&pid.to_le_bytes()[..], &tid.to_le_bytes(), &[0; 64]].concat(),
        );
    }

    fn image(&mut self, opcode: u8, base: u64, size: u64) {
        let mut payload = [base.to_le_bytes(), size.to_le_bytes()].concat();
        payload.extend(8u32.to_le_bytes());
        payload.extend([0; 12 + 8 + 16]);
        payload.extend(utf16(&format!("\\d{base:x}.dll")));
        self.kernel(0x14, opcode, 3, &payload);
    }

    fn file_name(&mut self, opcode: u8, key: u64, name: &str) {
        self.kernel(
            4,
            opcode,
            2,
            &[key.to_le_bytes().to_vec(), utf16(name)].concat(),
        );
    }

    fn disk(&mut self, opcode: u8, irp: u64) {
        let mut payload = vec![0; 8];
        payload.extend([0, 2, 0, 0, 0, 0, 0, 0]);
        [irp << 12, irp, irp, 50_000]
            .into_iter()
            .for_each(|long| payload.extend(long.to_le_bytes()));
        payload.extend(4u32.to_le_bytes());
        self.kernel(1, opcode, 3, &payload);
    }

    fn disk_init(&mut self, irp: u64) {
        self.kernel(
            1,
            12,
            3,
            &[&irp.to_le_bytes()[..], &4u32.to_le_bytes()].concat(),
        );
    }

    fn file_operation(&mut self, opcode: u8, irp: u64) {
        let words = [irp, 7, 7, 7].into_iter().flat_map(u64::to_le_bytes);
        self.kernel(
            4,
            opcode,
            3,
            &words.chain([4, 0, 0, 0, 0, 0, 0, 0]).collect::<Vec<u8>>(),
        );
    }

    fn switch(&mut self, new: u32, old: u32) {
        let rest = [8, 8, 0, 0, 7, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        self.kernel(
            5,
            36,
            4,
            &[&new.to_le_bytes()[..], &old.to_le_bytes(), &rest].concat(),
        );
    }

    fn owner(&self, tid: u32) -> StackOwner {
        StackOwner {
            timestamp: self.now - 1,
            process_id: 8,
            thread_id: tid,
        }
    }

    pub(crate) fn manifest(&mut self, provider: Guid, id: u16, version: u8, payload: &[u8]) {
        let descriptor = Descriptor {
            id,
            version,
            ..Descriptor::default()
        };
        self.described(provider, descriptor, &[], payload);
    }

    fn described(
        &mut self,
        provider: Guid,
        descriptor: Descriptor,
        extended: &[(u16, &[u8])],
        payload: &[u8],
    ) {
        let (timestamp, process_id, thread_id) = (self.now, 8, 4);
        let ids = ManifestEvent {
            process_id,
            thread_id,
            ..ManifestEvent::default()
        };
        let event = ManifestEvent {
            timestamp,
            provider,
            descriptor,
            extended,
            payload,
            ..ids
        };
        made::add(&mut self.trace, 0, event);
        self.now += 1;
    }

    fn method(&mut self, id: u64, start: u64, size: u32) {
        let mut payload: Vec<u8> = [id, 1, start]
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .collect();
        payload.extend(size.to_le_bytes());
        payload.extend([0; 8]);
        payload.extend([utf16("N"), utf16(&format!("m{id}")), utf16("")].concat());
        self.manifest(clr::RUNTIME, clr::id::METHOD_LOAD_VERBOSE, 1, &payload);
    }
}

pub(crate) fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16()
        .chain([0])
        .flat_map(u16::to_le_bytes)
        .collect()
}

const CODE: u64 = 0x7FF0_0000_0000;

pub(crate) fn processes() -> Vec<u8> {
    crowd(N, |c, n| c.process(1, n * 4))
}

pub(crate) fn one_process_id() -> Vec<u8> {
    crowd(N, |c, n| c.process(1 + (n % 2) as u8, 8))
}

pub(crate) fn threads() -> Vec<u8> {
    crowd(N, |c, n| c.thread(1, 8, n * 4))
}

pub(crate) fn one_thread_id() -> Vec<u8> {
    crowd(N, |c, n| c.thread(1, n, 4))
}

pub(crate) fn modules() -> Vec<u8> {
    crowd(N, |c, n| {
        c.image(10, CODE + (u64::from(n) << 16), 0x1000);
        c.sample(CODE + (u64::from(n / 2) << 16), 4);
    })
}

pub(crate) fn modules_at_one_address() -> Vec<u8> {
    crowd(N, |c, n| {
        c.image(if n % 2 == 0 { 10 } else { 2 }, CODE, 0x1000);
        c.sample(CODE + 5, 4);
    })
}

pub(crate) fn modules_in_modules() -> Vec<u8> {
    let mut all = Crowd {
        trace: made::writer(8),
        now: 1,
    };
    (0..u64::from(N)).for_each(|n| all.image(10, CODE + n, (u64::from(N) - n) * 2));
    (0..u64::from(N)).for_each(|n| all.sample(CODE + u64::from(N) * 2 + n, 4));
    made::bytes(all.trace)
}

pub(crate) fn file_names() -> Vec<u8> {
    crowd(N, |c, n| c.file_name(36, n.into(), &format!("\\f{n}.txt")))
}

pub(crate) fn names_of_one_file() -> Vec<u8> {
    crowd(N, |c, n| {
        c.file_name(0, 7, &format!("\\f{n}.txt"));
        c.file_operation(68, 7);
    })
}

pub(crate) fn methods_in_methods() -> Vec<u8> {
    crowd(N, |c, n| {
        c.method(n.into(), CODE + u64::from(n), (N - n) * 2);
        c.sample(CODE + u64::from(N + n), 4);
    })
}

pub(crate) fn stacks() -> Vec<u8> {
    crowd(N / 5, |c, n| {
        c.sample(CODE, 4);
        let frames: Vec<u64> = (0..180)
            .map(|depth| CODE + u64::from(n * 200 + depth))
            .collect();
        let owner = c.owner(4);
        let _ = c.trace.write_stack(0, c.now, owner, &frames);
    })
}

pub(crate) fn stacks_by_key() -> Vec<u8> {
    crowd(N, |c, n| {
        c.sample(CODE, 4);
        let (now, owner) = (c.now + 1, c.owner(4));
        let _ = c.trace.write_stack_key(
            0,
            now,
            owner,
            StackPart::Kernel,
            &[1 << 63 | u64::from(n), 1 << 63],
        );
        c.now += 4;
    })
}

/// Many events of one time and thread, each with its stack.
pub(crate) fn stacks_of_one_moment() -> Vec<u8> {
    let mut all = Crowd {
        trace: made::writer(8),
        now: 1,
    };
    for _ in 0..3 * N {
        all.now = 1;
        all.sample(CODE, 4);
    }
    for n in 0..3 * N {
        let owner = StackOwner {
            timestamp: 1,
            process_id: 8,
            thread_id: 4,
        };
        let _ = all
            .trace
            .write_stack(0, 2, owner, &[CODE + u64::from(n % 100)]);
    }
    made::bytes(all.trace)
}

/// Stacks far in front of their events, and events that never get theirs.
pub(crate) fn stacks_that_come_early() -> Vec<u8> {
    crowd(N, |c, n| {
        let owner = StackOwner {
            timestamp: i64::from(2 * N),
            process_id: 8,
            thread_id: n,
        };
        let _ = c.trace.write_stack(0, c.now, owner, &[CODE]);
        c.sample(CODE, n);
    })
}

pub(crate) fn reads_at_once() -> Vec<u8> {
    let mut all = Crowd {
        trace: made::writer(8),
        now: 1,
    };
    (0..u64::from(N)).for_each(|n| all.disk_init(n));
    (0..u64::from(N)).for_each(|n| all.disk(10, n));
    made::bytes(all.trace)
}

pub(crate) fn operations_without_end() -> Vec<u8> {
    crowd(3 * N, |c, n| {
        c.file_operation([67, 68, 74, 66][n as usize % 4], n.into())
    })
}

pub(crate) fn switches() -> Vec<u8> {
    crowd(3 * N, |c, n| {
        c.kernel(5, 50, 2, &[&(n + 2).to_le_bytes()[..], &[0; 4]].concat());
        c.switch(n + 1, n);
    })
}

pub(crate) fn one_moment() -> Vec<u8> {
    crowd(3 * N, |c, n| {
        c.now = 5;
        c.switch(n % 7 * 4, n % 5 * 4);
    })
}

pub(crate) fn collections_without_end() -> Vec<u8> {
    crowd(N, |c, n| {
        let payload = [n, 2, 0, 0, 0]
            .into_iter()
            .flat_map(u32::to_le_bytes)
            .collect::<Vec<u8>>();
        c.manifest(clr::RUNTIME, clr::id::GC_START, 1, &payload);
        c.manifest(clr::RUNTIME, clr::id::GC_SUSPEND_BEGIN, 1, &payload);
    })
}

/// Layouts of one name: each event has a field of another name.
pub(crate) fn layouts_of_one_name() -> Vec<u8> {
    crowd(N, |c, n| {
        let mut metadata = vec![0, 0, 0, b'e', 0];
        metadata.extend(format!("f{n}\0\x07").bytes());
        let len = metadata.len() as u16;
        metadata[..2].copy_from_slice(&len.to_le_bytes());
        let descriptor = Descriptor {
            channel: 11,
            ..Descriptor::default()
        };
        c.described(
            Guid::from_bytes([7; 16]),
            descriptor,
            &[(kind::EVENT_SCHEMA_TL, &metadata)],
            &[0; 4],
        );
    })
}

pub(crate) fn manifests() -> Vec<u8> {
    crowd(N / 10, |c, n| {
        let xml = format!(
            "<provider name='p{n}'><events>{}</events></provider>",
            (0..20)
                .map(|id| format!("<event value='{id}' version='0' template='t'/>"))
                .collect::<String>()
        );
        let payload = [&[1, 1, 0, 0x5B, 1, 0, 0, 0], xml.as_bytes()].concat();
        let mut provider = [9; 16];
        provider[..4].copy_from_slice(&n.to_le_bytes());
        let descriptor = Descriptor {
            id: CHUNK_ID,
            opcode: 0xFE,
            ..Descriptor::default()
        };
        c.described(Guid::from_bytes(provider), descriptor, &[], &payload);
    })
}

pub(crate) fn providers() -> Vec<u8> {
    crowd(N, |c, n| {
        let mut provider = [9; 16];
        provider[..4].copy_from_slice(&n.to_le_bytes());
        c.manifest(Guid::from_bytes(provider), n as u16, 0, &[1; 40]);
    })
}

/// Facts of the machine: processors, disks, volumes, network cards, services.
pub(crate) fn facts() -> Vec<u8> {
    crowd(N, |c, n| {
        let mut payload = n.to_le_bytes().to_vec();
        payload.extend([b'a', 0].repeat(500));
        payload.extend([0; 200]);
        c.kernel(
            0x0B,
            [10, 11, 12, 13, 15, 22, 25, 35][n as usize % 8],
            2,
            &payload,
        );
    })
}
