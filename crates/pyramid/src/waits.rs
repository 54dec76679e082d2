//! Groups of wait reasons, by the number that the kernel reports.

/// Place in [`WAITS`](crate::WAITS) of a `KWAIT_REASON`.
pub(crate) const fn of_reason(reason: Option<i32>) -> usize {
    match reason {
        // UserRequest, EventPair, Queue, LpcReceive and LpcReply, Rendezvous, KeyedEvent, locks of
        // the kernel and of programs.
        Some(6 | 14..=17 | 20 | 21 | 27..=29 | 34..=37) => 1,
        // Executive, WrExecutive: the reasons that drivers and file systems use.
        Some(0 | 7) => 2,
        // DelayExecution.
        Some(4 | 11) => 3,
        // FreePage, PageIn, PoolAllocation, VirtualMemory, PageOut, ProcessInSwap, PhysicalFault.
        Some(1..=3 | 8..=10 | 18 | 19 | 23 | 39) => 4,
        // WrUserRequest: the window manager waits for input and messages.
        Some(13) => 5,
        // Suspended, CpuRateControl.
        Some(5 | 12 | 24) => 6,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WAITS;

    #[test]
    fn reasons_are_of_the_class_that_a_person_would_say() {
        for (reason, wanted) in [
            (Some(6), "sync"),
            (Some(17), "sync"),
            (Some(37), "sync"),
            (Some(0), "io"),
            (Some(11), "sleep"),
            (Some(2), "paging"),
            (Some(13), "ui"),
            (Some(5), "suspended"),
            (Some(30), "unknown"),
            (Some(-1), "unknown"),
            (None, "unknown"),
        ] {
            assert_eq!(WAITS[of_reason(reason)], wanted, "{reason:?}");
        }
    }
}
