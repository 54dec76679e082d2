//! Stacks, which are events of their own: attaches them to the events that they belong to.

use etwkit_decode::kernel::stack::{self, Owner, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;

use crate::declared::{Events, Topic, sums};
use crate::import::pipeline::line::{GivenStack, Half};
use crate::import::pipeline::{Context, Declaration, Importer, IsShown, Learned};
use crate::sink::{Sink, SinkError};
use crate::table::{Frame, Row, Stack};
use crate::tracker::stack::{StackKeys, StackPart};

const STACKS: Events = Events::Kernel(
    group::STACK,
    &[
        opcode::STACK,
        opcode::REFERENCE_KERNEL,
        opcode::REFERENCE_USER,
    ],
);

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[
        STACKS,
        // The first pass collected the stacks of these keys.
        Events::Kernel(
            group::STACK,
            &[opcode::KEY_CREATE, opcode::KEY_DELETE, opcode::KEY_RUNDOWN],
        ),
    ],
    // Written on the thread that creates rows, if rows need them.
    tables: &[sums(Frame::TABLE), sums(Stack::TABLE)],
    topics: &[Topic {
        place: 40,
        name: "stacks",
        answers: "who called it",
        recorded_by: "-stackwalk Profile+CSwitch+ReadyThread",
        events: &[STACKS],
        tables: &[],
    }],
    make: |learned| {
        let keys = &learned.collected.directory.stack_keys;
        Box::new(StackEvents {
            keys,
            unknown_keys: 0,
            addresses: Vec::new(),
        })
    },
    ..Declaration::EMPTY
};

/// Attaches stacks to waiting rows.
struct StackEvents<'k> {
    keys: &'k StackKeys,
    /// References to stacks that are defined nowhere.
    unknown_keys: u64,
    /// Memory for the addresses of one stack, reused for each.
    addresses: Vec<u64>,
}

impl Importer for StackEvents<'_> {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        let payload = event.payload();
        let pointer_size = event.pointer_size();
        let (part, half) = match hook.opcode {
            opcode::STACK => {
                let Some(owner) = Owner::parse(payload) else {
                    return Ok(false);
                };
                self.addresses.clear();
                self.addresses
                    .extend(stack::frames(payload, Owner::LEN, pointer_size));
                context.attach_whole(owner, &self.addresses, Some(event.cpu));
                return Ok(true);
            }
            opcode::REFERENCE_KERNEL => (StackPart::Kernel, Half::Kernel),
            opcode::REFERENCE_USER => (StackPart::User, Half::User),
            _ => return Ok(true),
        };
        let read = Owner::parse(payload).zip(stack::key(payload, Owner::LEN, pointer_size));
        let Some((owner, key)) = read else {
            return Ok(false);
        };
        match self.keys.resolve(event.timestamp, key, part) {
            Some(stack) => context.attach(owner, half, GivenStack::Keyed(stack), Some(event.cpu)),
            None => self.unknown_keys += 1,
        }
        Ok(true)
    }

    fn finish(
        self: Box<Self>,
        _: Learned<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        context.notes.unknown_keys = self.unknown_keys;
        Ok(())
    }
}
