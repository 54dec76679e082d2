//! Who created a thread. Until a thread exists, whoever waits for it waits for what its creator does.

use super::Parts;

impl Parts {
    /// When a thread started, and the thread that created it; `None` where its start is not in the trace or
    /// names no thread.
    pub(super) fn creator(&self, thread_key: i32) -> Option<(i64, i32)> {
        let thread = self.threads.get(thread_key)?;
        let creator = i32::try_from(thread.creator_thread_key?).ok()?;
        // The idle thread is what a start names whose creator is not known; it cannot create threads.
        let is_other = creator != thread_key && !self.threads.is_idle(creator);
        is_other.then_some((thread.start_ns?, creator))
    }
}
