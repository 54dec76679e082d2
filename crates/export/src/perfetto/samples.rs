//! CPU samples, as `stack_sample`.
//!
//! A stack is defined by the first sample that has it, with its frames and names that were not
//! defined yet.

use super::packets::{
    DATA_NEEDED, INTERNED_DATA, Packets, SEQUENCE_FLAGS, STACK_SAMPLE, TIMESTAMP, id, time,
};
use crate::Result;
use crate::protobuf::Message;
use crate::stacks::method_name;
use crate::timeline::{Sample, Scene, Used};

// Fields of `InternedData`.
const FUNCTION_NAMES: u32 = 5;
const FRAMES: u32 = 6;
const CALLSTACKS: u32 = 7;
const MAPPING_PATHS: u32 = 17;
const MAPPINGS: u32 = 19;

/// The definitions so far. Numbers of definitions are the numbers of the extract, from 1.
#[derive(Default)]
pub(super) struct Stacks {
    stacks: Used,
    frames: Used,
    names: Used,
    modules: Used,
}

/// Returns a number of a definition: 0 would mean none.
fn number(of: i32) -> u64 {
    u64::try_from(of).map_or(0, |of| of + 1)
}

/// Returns the defaults of all samples: their source and the unit of their weight.
pub(super) fn defaults() -> Message {
    const NANOSECONDS: u64 = 1;
    let weight = Message::new().text(2, "cpu").number(3, NANOSECONDS);
    let of_samples = Message::new().text(1, "etw").message(2, &weight);
    Message::new().message(100, &of_samples)
}

impl Stacks {
    pub(super) fn sample(
        &mut self,
        packets: &mut Packets<'_>,
        (at, thread): (i64, Option<i64>),
        sample: &Sample,
        scene: &Scene<'_>,
    ) -> Result<()> {
        let process = scene.process(thread);
        let task = Message::new()
            .some(process, |message, process| {
                message.number(2, id(process.pid))
            })
            .some(scene.thread(thread), |message, thread| {
                message.number(3, id(thread.tid))
            });
        let of = Message::new()
            .message(1, &task)
            .message(3, &Message::new().number(2, id(sample.cpu)))
            .number(6, number(sample.stack_id))
            .number(11, time(sample.weight_ns));
        let mut packet = Message::new()
            .number(TIMESTAMP, time(at))
            .number(SEQUENCE_FLAGS, DATA_NEEDED);
        // Defined with the first packet that refers to it: the trace processor reads the packets of
        // a sequence in their order.
        if self.stacks.add(sample.stack_id) {
            packet = packet.message(INTERNED_DATA, &self.defined(sample.stack_id, scene));
        }
        packets.write(packet.message(STACK_SAMPLE, &of))
    }

    /// Returns the definition of a stack, with its frames that are not defined yet.
    fn defined(&mut self, stack: i32, scene: &Scene<'_>) -> Message {
        let mut frames: Vec<i32> = scene.frames.stack(stack).collect();
        frames.reverse();
        let mut data = Message::new();
        let mut callstack = Message::new().number(1, number(stack));
        for frame in frames {
            if self.frames.add(frame) {
                data = self.frame(data, frame, scene);
            }
            callstack = callstack.number(2, number(frame));
        }
        data.message(CALLSTACKS, &callstack)
    }

    /// Returns the definition of a frame. Frames of one method share its name, and frames of one
    /// file its mapping.
    fn frame(&mut self, mut data: Message, frame: i32, scene: &Scene<'_>) -> Message {
        let frames = scene.frames;
        let interned = |number: u64, text: &str| Message::new().number(1, number).text(2, text);
        let name = frames
            .identity(frame)
            .and_then(|name| i32::try_from(name).ok())
            .unwrap_or(-1);
        if self.names.add(name) {
            let text = method_name(frames, frame);
            data = data.message(FUNCTION_NAMES, &interned(number(name), &text));
        }
        // A frame of a mapping needs its offset in it; code that was compiled at run time has no
        // mapping.
        let mapped = frames.module_id(frame).zip(frames.offset(frame));
        if let Some((module, _)) = mapped
            && self.modules.add(module)
        {
            let path = frames.module_path(frame).unwrap_or("");
            let mapping = Message::new()
                .number(1, number(module))
                .number(7, number(module));
            data = data
                .message(MAPPING_PATHS, &interned(number(module), path))
                .message(MAPPINGS, &mapping);
        }
        let of = Message::new()
            .number(1, number(frame))
            .number(2, number(name))
            .some(mapped, |message, (module, offset)| {
                message
                    .number(3, number(module))
                    .number(4, offset.cast_unsigned())
            });
        data.message(FRAMES, &of)
    }
}
