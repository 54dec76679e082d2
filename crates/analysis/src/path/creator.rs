//! Who created a thread. Before a thread exists, what its creator does is what everybody waits for who waits for the thread.

use super::Parts;

impl Parts {
    /// When a thread began, and the thread that created it: the one of its process that ran then, or for the first thread of a process
    /// one of the process that started it. No event names it, so `None` if none or several ran.
    pub(super) fn creator(&self, thread_key: i32) -> Option<(i64, i32)> {
        let thread = self.threads.get(thread_key)?;
        let (start, process) = (thread.start_ns?, thread.process_key?);
        let is_first = self.threads.first_of(process) == Some(thread_key);
        let creating = if is_first { thread.parent_process_key? } else { process };
        let ran = |other: &i32| {
            *other != thread_key
                && !self.threads.is_idle(*other)
                && self.stays.running(*other, start).is_some_and(|stay| stay.end() > Some(start))
        };
        let mut running = self.threads.of_process(creating).iter().copied().filter(ran);
        let creator = running.next()?;
        running.next().is_none().then_some((start, creator))
    }
}
