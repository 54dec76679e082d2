//! Stacks and the events that they belong to: samples, switches, I/O; stacks that come early, late, twice, or
//! by keys that are defined anywhere; modules and methods that come and go below them.
//!
//! An input is a row of steps: kind (1 byte), processor (1 byte), ticks since the step before (1 byte),
//! operands.

#![no_main]

use std::io::Cursor;

use etwkit_decode::clr;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::writer::{
    KernelContext, KernelEvent, ManifestEvent, StackOwner, StackPart, TraceWriter,
};
use etwkit_fuzz::input::Input;
use etwkit_fuzz::{made, passes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut steps = Steps {
        input: Input(data),
        trace: made::writer(8),
        now: 1000,
        cpu: 0,
    };
    for _ in 0..1000 {
        if steps.input.is_empty() {
            break;
        }
        steps.step();
    }
    let _ = passes::tables(&made::session(steps.trace));
});

struct Steps<'a> {
    input: Input<'a>,
    trace: TraceWriter<Cursor<Vec<u8>>>,
    now: i64,
    cpu: u16,
}

impl Steps<'_> {
    fn step(&mut self) {
        let kind = self.input.u8() % 16;
        self.cpu = u16::from(self.input.u8() % 4);
        self.now = self.now.saturating_add(self.input.u8().into());
        match kind {
            0 | 1 => self.sample(),
            2 | 3 => self.switch(),
            4 => self.ready(),
            5 | 6 => self.whole_stack(),
            7 | 8 => self.stack_by_key(),
            9 => self.raw_reference(),
            10 => self.raw_definition(),
            11 => self.image(),
            12 => self.identity(),
            13 => self.any_event(),
            14 => self.method(),
            _ => self.time(),
        }
    }

    fn thread(&mut self) -> u32 {
        u32::from(self.input.u8() % 8) * 4
    }

    /// Few addresses, so that stacks share frames and modules hold them.
    fn address(&mut self) -> u64 {
        address_of(self.input.u8())
    }

    fn frames(&mut self) -> Vec<u64> {
        let len = self.input.u8() % 24;
        (0..len).map(|_| self.address()).collect()
    }

    /// The event that a stack belongs to: a few ticks ago, or ahead.
    fn owner(&mut self) -> StackOwner {
        let ago = self.input.u8() as i8;
        let timestamp = self.now.saturating_sub(ago.into());
        StackOwner {
            timestamp,
            process_id: 8,
            thread_id: self.thread(),
        }
    }

    fn kernel(&mut self, group: u8, opcode: u8, version: u8, payload: &[u8]) {
        let context = KernelContext::ids(4, 8);
        let event = KernelEvent {
            context,
            timestamp: self.now,
            group,
            opcode,
            version,
            payload,
            ..KernelEvent::default()
        };
        made::add(&mut self.trace, self.cpu, event);
    }

    fn sample(&mut self) {
        let (address, thread, flags) = (self.address(), self.thread(), self.input.u8());
        let payload = [
            &address.to_le_bytes()[..],
            &thread.to_le_bytes(),
            &[1, 0, flags, 0],
        ]
        .concat();
        self.kernel(0x0F, 46, 2, &payload);
    }

    fn switch(&mut self) {
        let (new, old, state) = (self.thread(), self.thread(), self.input.u8());
        let states = [
            8,
            8,
            0,
            0,
            state >> 3,
            0,
            state & 7,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ];
        self.kernel(
            5,
            36,
            4,
            &[&new.to_le_bytes()[..], &old.to_le_bytes(), &states].concat(),
        );
    }

    fn ready(&mut self) {
        let (thread, flags) = (self.thread(), self.input.u8());
        self.kernel(
            5,
            50,
            2,
            &[&thread.to_le_bytes()[..], &[0, 0, flags & 1, 0]].concat(),
        );
    }

    fn whole_stack(&mut self) {
        let (owner, frames) = (self.owner(), self.frames());
        let _ = self.trace.write_stack(self.cpu, self.now, owner, &frames);
    }

    fn stack_by_key(&mut self) {
        let part = if self.input.u8().is_multiple_of(2) {
            StackPart::Kernel
        } else {
            StackPart::User
        };
        let (owner, frames) = (self.owner(), self.frames());
        let _ = self
            .trace
            .write_stack_key(self.cpu, self.now, owner, part, &frames);
    }

    fn raw_reference(&mut self) {
        let (opcode, owner, key) = (37 + self.input.u8() % 2, self.owner(), self.input.u8() % 8);
        let owner = [
            owner.timestamp.to_le_bytes(),
            (u64::from(owner.thread_id) << 32 | 8).to_le_bytes(),
        ]
        .concat();
        self.kernel(
            0x18,
            opcode,
            2,
            &[owner, u64::from(key).to_le_bytes().to_vec()].concat(),
        );
    }

    fn raw_definition(&mut self) {
        let (opcode, key) = (34 + self.input.u8() % 3, self.input.u8() % 8);
        let words = [vec![u64::from(key)], self.frames()].concat();
        self.kernel(
            0x18,
            opcode,
            2,
            &words
                .into_iter()
                .flat_map(u64::to_le_bytes)
                .collect::<Vec<_>>(),
        );
    }

    fn image(&mut self) {
        let (which, base, size) = (
            self.input.u8(),
            self.address(),
            u64::from(self.input.u8()) * 64,
        );
        let process = if which & 0x10 == 0 { 8u32 } else { 0 };
        let opcode = [10, 2, 3, 4][usize::from(which % 4)];
        let mut payload = [base.to_le_bytes(), size.to_le_bytes()].concat();
        payload.extend(process.to_le_bytes());
        payload.extend([which; 4 + 4 + 4 + 8 + 16]);
        payload.extend([b'a', 0, b'0' + which % 10, 0, 0, 0]);
        self.kernel(0x14, opcode, 3, &payload);
    }

    /// Processes and threads that come and go.
    fn identity(&mut self) {
        let (which, thread) = (self.input.u8(), self.thread());
        let opcode = 1 + which % 4;
        if which & 0x10 == 0 {
            self.kernel(
                5,
                opcode,
                3,
                &[&8u32.to_le_bytes()[..], &thread.to_le_bytes(), &[0; 64]].concat(),
            );
        } else {
            let mut payload = vec![0; 8];
            payload.extend(8u32.to_le_bytes());
            payload.extend([0; 4 * 3 + 8 + 4]);
            payload.extend([0; 16]);
            payload.extend(b"p.exe\0\0\0");
            self.kernel(3, opcode, 4, &payload);
        }
    }

    /// I/O, faults and everything else that may have a stack.
    fn any_event(&mut self) {
        let (group, opcode, version) =
            (self.input.u8() % 0x20, self.input.u8(), self.input.u8() % 6);
        let payload = self.input.block();
        self.kernel(group, opcode, version, payload);
    }

    fn method(&mut self) {
        let (which, start, size) = (
            self.input.u8(),
            self.address(),
            u32::from(self.input.u8()) * 16,
        );
        let words = [u64::from(which), 1, start]
            .into_iter()
            .flat_map(u64::to_le_bytes);
        let mut payload: Vec<u8> = words.collect();
        payload.extend(size.to_le_bytes());
        payload.extend([0; 8]);
        payload.extend(b"N\0\0\0m\0\0\0s\0\0\0");
        let id = if which & 0x10 == 0 {
            clr::id::METHOD_LOAD_VERBOSE
        } else {
            clr::id::METHOD_UNLOAD_VERBOSE
        };
        let descriptor = Descriptor {
            id,
            version: 1,
            ..Descriptor::default()
        };
        let event = ManifestEvent {
            timestamp: self.now,
            provider: clr::RUNTIME,
            descriptor,
            process_id: 8,
            thread_id: 4,
            payload: &payload,
            ..ManifestEvent::default()
        };
        made::add(&mut self.trace, self.cpu, event);
    }

    /// Jumps of the clock, and buffers that end early.
    fn time(&mut self) {
        match self.input.u8() % 4 {
            0 => self.now = self.input.i64(),
            1 => self.now = self.now.saturating_sub(self.input.u16().into()),
            2 => self.now = self.now.saturating_add(i64::from(self.input.u32())),
            _ => drop(self.trace.flush(self.cpu)),
        }
    }
}

fn address_of(byte: u8) -> u64 {
    let base = if byte & 0x80 == 0 {
        0x7FF0_0000
    } else {
        0xFFFF_F800_0000_0000
    };
    base + u64::from(byte & 0x7F) * 0x100
}
