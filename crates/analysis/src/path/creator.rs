//! Creators of threads. Until a thread exists, a wait for it is a wait for the activity of its
//! creator.

use super::Parts;

impl Parts {
    /// Returns the start of a thread and the thread that created it; `None` if its start is not in
    /// the trace or names no thread.
    pub(super) fn creator(&self, thread_key: i32) -> Option<(i64, i32)> {
        let thread = self.threads.get(thread_key)?;
        // The key comes from a table and is 64 bits wide there.
        let creator = i32::try_from(thread.creator_thread_key?).ok()?;
        // A start whose creator is not known names the idle thread, which cannot create threads.
        let is_other = creator != thread_key && !self.threads.is_idle(creator);
        is_other.then_some((thread.start_ns?, creator))
    }
}
