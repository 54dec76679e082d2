//! Times at which planted causes act, from the scripts of cards.

use std::io::{Seek, Write};

use super::Sim;
use crate::table::Thread;
use crate::truth::Acted;

/// A cause that is acting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Acts {
    card: &'static str,
    since: i64,
    /// The cause acts only while the thread could run and does not.
    on_ready: bool,
}

impl<W: Write + Seek> Sim<W> {
    pub(super) fn acts(&mut self, thread: Thread, card: &'static str, on_ready: bool) {
        self.threads[thread].acts = Some(Acts {
            card,
            since: self.tape.now(),
            on_ready,
        });
    }

    /// Ends the cause of a thread. A cause that took no time, like a free lock, had no effect.
    pub(super) fn acts_no_more(&mut self, thread: Thread) {
        let acted = self.threads[thread]
            .acts
            .take()
            .filter(|acts| !acts.on_ready);
        if let Some(Acts { card, since, .. }) = acted.filter(|acts| acts.since < self.tape.now()) {
            self.acted(card, since, self.tape.now());
        }
    }

    /// Records that a cause has held up a thread, before it is switched in.
    pub(super) fn is_held_up(&mut self, thread: Thread, switch_in: i64) {
        let held_up = self.threads[thread].acts.filter(|acts| acts.on_ready);
        if let (Some(acts), Some(since)) = (held_up, self.threads[thread].account.ready_since()) {
            self.acted(acts.card, since, switch_in);
        }
    }

    /// Ends the causes that act at the end of the trace.
    pub(super) fn finish_causes(&mut self) {
        for thread in self.threads.keys() {
            let Some(Acts {
                card,
                since,
                on_ready,
            }) = self.threads[thread].acts
            else {
                continue;
            };
            // A cause that holds a thread up is over when the thread runs, so that only one that is
            // ready at the end is held up until then.
            let since = if on_ready {
                self.threads[thread].account.ready_since()
            } else {
                Some(since)
            };
            if let Some(since) = since {
                self.acted(card, since, self.end);
            }
        }
    }

    fn acted(&mut self, card: &'static str, from: i64, to: i64) {
        let (from_ns, to_ns) = (Self::ns(from), Self::ns(to));
        let acted = self
            .truth
            .acted
            .entry(card)
            .or_insert(Acted { from_ns, to_ns });
        // One span for each card, from its first effect to its last one: there can be thousands of
        // effects.
        acted.from_ns = acted.from_ns.min(from_ns);
        acted.to_ns = acted.to_ns.max(to_ns);
    }
}
