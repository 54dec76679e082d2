//! Tables of the window manager (provider Microsoft-Windows-Win32k), and tables computed from them.

use std::sync::Arc;

tables! {
    /// An acquisition of the global lock of the window manager (`UserCrit`), which every thread
    /// needs that handles windows and input: from the wait for it to its release (provider
    /// Microsoft-Windows-Win32k, keyword 0x10000000). A release ends the last acquisition of its
    /// thread.
    UserLock / UserLockColumns = "user_lock", order ["release_ns"] {
        /// Process.
        process_key: Option<i32>, "key";
        /// Thread.
        thread_key: Option<i32>, "key";
        /// `exclusive` or `shared`; null if only the release was recorded.
        mode: Option<&'static str>;
        /// Time at which the thread acquired it; null if only the release was recorded.
        acquire_ns: Option<i64>, "ns";
        /// Time at which it released it; null if that was not recorded.
        release_ns: Option<i64>, "ns";
        /// Time that it had waited until `acquire_ns`, from the event; null if only the release was
        /// recorded.
        wait_ns: Option<i64>, "ns";
        /// `release_ns` − `acquire_ns`.
        hold_ns: Option<i64>, "ns";
        /// Time that it held it, from the release event. Older versions of Windows include the
        /// wait.
        told_hold_ns: Option<i64>, "ns";
        /// True if the system also logged it as slow.
        is_slow: bool;
        /// Number of the acquisition, as bit pattern; null if only the release was recorded.
        token: Option<i64>;
        /// Stack that acquired it.
        stack_id: Option<i32>, "key";
    }

    /// A GDI or USER object, from its creation to its end (provider Microsoft-Windows-Win32k,
    /// keywords 0x10000000000 for GDI, 0x20000000000 for USER).
    GdiUserObject / GdiUserObjectColumns = "gdi_user_object", order ["destroy_ns"] {
        /// Process that has it, or had it last; null if none has it.
        process_key: Option<i32>, "key";
        /// `gdi`: font, bitmap, …, or `user`: window, menu, ….
        class: &'static str;
        /// Number of its type.
        type_id: i32;
        /// Name of the type; null for unknown numbers.
        type_name: Option<&'static str>;
        /// Handle of the object, the last one if it changed.
        handle: i64;
        /// Terminal session.
        session_id: i32;
        /// Origin: `create`, or `unknown` if it existed before the trace.
        origin: &'static str;
        /// Outcome: `destroyed`; `open` to the end; `process_end`: its end was not recorded, and
        /// its process ended; `reused`: its handle was given again, so its end is missing.
        outcome: &'static str;
        /// Time at which it was created; null if that is not in the trace.
        create_ns: Option<i64>, "ns";
        /// Time at which it was destroyed; null if no event reports it.
        destroy_ns: Option<i64>, "ns";
        /// `destroy_ns` − `create_ns`.
        lifetime_ns: Option<i64>, "ns";
        /// Process that created it.
        create_process_key: Option<i32>, "key";
        /// Thread that created it.
        create_thread_key: Option<i32>, "key";
        /// Process that destroyed it.
        destroy_process_key: Option<i32>, "key";
        /// Thread that destroyed it.
        destroy_thread_key: Option<i32>, "key";
        /// Number of changes of its owner.
        owner_changes: i32;
        /// Number of changes of its handle.
        handle_changes: i32;
        /// Stack that created it.
        create_stack_id: Option<i32>, "key";
        /// Stack that destroyed it.
        destroy_stack_id: Option<i32>, "key";
    }

    /// A delay of a program with windows, detected by the system (provider
    /// Microsoft-Windows-Win32k, keyword 0x40000). It is reported at its end.
    UiDelay / UiDelayColumns = "ui_delay", order ["ts_ns"] {
        /// End.
        ts_ns: i64, "ns";
        /// `ts_ns` − `duration_ns`.
        start_ns: i64, "ns";
        /// Process.
        process_key: Option<i32>, "key";
        /// Thread.
        thread_key: Option<i32>, "key";
        /// `message`: the thread did not pump messages; `input`: input waited for the thread,
        /// which was busy with other input; `wait_cursor`: the wait cursor was shown.
        kind: &'static str;
        /// Duration, with the resolution of the system tick (10 to 16 ms). For `input` the age of
        /// the oldest waiting input.
        duration_ns: i64, "ns";
        /// Bits that describe the thread, as recorded.
        flags: Option<i32>;
        /// Time since the thread retrieved input.
        since_input_remove_ns: Option<i64>, "ns";
        /// Age of the oldest waiting input.
        since_oldest_input_ns: Option<i64>, "ns";
        /// Class of the window; null if the version does not contain it, as all below.
        class_name: Option<String>;
        /// Class of the window at the top.
        top_level_class_name: Option<String>;
        /// Path of the program.
        image_path: Option<String>;
        /// Package, for programs of the store.
        package: Option<String>;
        /// Number of the message that the thread was handling.
        message_id: Option<i32>;
        /// First parameter of the message, as bit pattern.
        wparam: Option<i64>;
        /// The cursor that was shown.
        cursor_type: Option<i32>;
        /// Stack.
        stack_id: Option<i32>, "key";
    }

    /// A period in which a terminal session's focus was on a thread or process (provider
    /// Microsoft-Windows-Win32k, keywords 0x2000 for threads, 0x20000 for processes).
    FocusChange / FocusChangeColumns = "focus_change", order ["end_ns"] {
        /// Time at which it came; null if it came before the trace, or that was not recorded.
        ts_ns: Option<i64>, "ns";
        /// Time at which it left; null if it stayed to the end of the trace, or that was not
        /// recorded.
        end_ns: Option<i64>, "ns";
        /// Time that it stayed in the trace: from `ts_ns`, or the start of the trace, to `end_ns`,
        /// or the end of the trace; null if a change was not recorded.
        duration_ns: Option<i64>, "ns";
        /// `thread` or `process`. Both kinds of rows report the same focus, so they must not be
        /// added up.
        level: &'static str;
        /// Terminal session; null if unknown.
        session_id: Option<i32>;
        /// Process.
        process_key: Option<i32>, "key";
        /// Thread; null in rows of processes.
        thread_key: Option<i32>, "key";
    }

    /// Acquisitions of the global lock of the window manager by process and mode.
    UserLockProcess / UserLockProcessColumns = "user_lock_process", order ["process_key"] {
        /// Process; null if unknown.
        process_key: Option<i32>, "key";
        /// `exclusive` or `shared`; null for releases whose acquisition is not in the trace.
        mode: Option<Arc<str>>;
        /// Number of acquisitions.
        acquisitions: i64;
        /// Number of acquisitions that the system also logged as slow.
        slow: i64;
        /// Sum of waits.
        wait_ns: i64, "ns";
        /// Longest wait; null without an acquisition.
        max_wait_ns: Option<i64>, "ns";
        /// Acquisitions with a release.
        released: i64;
        /// Sum of the times between acquisition and release.
        hold_ns: i64, "ns";
        /// Longest one; null if there is none.
        max_hold_ns: Option<i64>, "ns";
        /// Releases whose acquisition is not in the trace.
        only_released: i64;
    }

    /// GDI and USER objects by process and type.
    GdiUserType / GdiUserTypeColumns = "gdi_user_type", order ["process_key"] {
        /// Process that has them, or had them last; null if none has them.
        process_key: Option<i32>, "key";
        /// `gdi` or `user`.
        class: Arc<str>;
        /// Number of the type.
        type_id: i32;
        /// Name of the type; null for unknown numbers.
        type_name: Option<Arc<str>>;
        /// Objects that were created in the trace.
        created: i64;
        /// Objects that were created in the trace and destroyed in it.
        destroyed: i64;
        /// Objects that existed before the trace and were destroyed in it.
        destroyed_preexisting: i64;
        /// Objects that were created in the trace and still existed at its end.
        outstanding: i64;
        /// Sum of the lifetimes of objects that were created and destroyed.
        lifetime_ns: i64, "ns";
        /// Longest lifetime of one; null if there is none.
        max_lifetime_ns: Option<i64>, "ns";
    }
}
