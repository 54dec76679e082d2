//! Two computations at the same time: answers wait for decoding, so a second thread does half of
//! it.

/// Runs `beside` on a thread of its own, and `here` at the same time. If the system has no thread
/// left, they run one after the other.
pub(crate) fn both<B: Send, H>(beside: impl Fn() -> B + Sync, here: impl FnOnce() -> H) -> (B, H) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, &beside);
        let here = here();
        // If the other thread panicked, its work is repeated here, where callers catch the panic.
        let done = thread.ok().and_then(|thread| thread.join().ok());
        (done.unwrap_or_else(&beside), here)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_answers_come_each_in_its_place() {
        let mut begun = 0;
        let (beside, here) = both(|| "beside", || begun += 1);
        assert_eq!((beside, here, begun), ("beside", (), 1));
    }
}
