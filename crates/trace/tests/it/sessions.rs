//! Recording sessions, connected standby and activities: events in, rows out.

use etwkit_decode::kernel::power_setting::KERNEL_POWER;
use etwkit_decode::session_events::EVENT_TRACING;
use etwkit_etl::Guid;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::writer::ManifestEvent;
use etwkit_trace::import::Range;
use etwkit_trace::table::{GenericEvent, Logger, LoggerEvent, Row, Standby};

use crate::counters::{Recording, bytes, read, wide, words};

const DNS: Guid = Guid::literal("1c95126e-7eea-49a9-a3fe-a378b03ddb4d");

impl Recording {
    /// An event of a provider.
    fn provider(&mut self, us: i64, provider: Guid, (id, version): (u16, u8), payload: &[u8]) {
        self.of_activity(us, provider, (id, version), payload, Guid::ZERO);
    }

    fn of_activity(
        &mut self,
        us: i64,
        provider: Guid,
        kind: (u16, u8),
        payload: &[u8],
        activity_id: Guid,
    ) {
        let (id, version) = kind;
        let event = ManifestEvent {
            timestamp: self.start + us,
            provider,
            descriptor: Descriptor {
                id,
                version,
                ..Descriptor::default()
            },
            process_id: 100,
            thread_id: 101,
            payload,
            activity_id,
            ..ManifestEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    /// A session starts (ID 10), stops (11) or is running already (20).
    fn session(&mut self, us: i64, kind: (u16, u8), name: &str, numbers: &[u64]) {
        let guid = Guid::literal("11111111-2222-3333-4444-555555555555").to_bytes();
        let tail = bytes(&numbers.iter().map(|n| (*n, 4)).collect::<Vec<_>>());
        let payload = [
            &guid[..],
            &bytes(&[(0x1000_0100, 4)]),
            &wide(name),
            &wide("c:\\a.etl"),
            &tail,
        ]
        .concat();
        self.provider(us, EVENT_TRACING, kind, &payload);
    }
}

#[test]
fn a_session_goes_on_when_another_of_its_name_cannot_start() {
    let mut trace = Recording::new();
    trace.session(10, (10, 1), "Audit", &[4, 64, 128, 4, 4, 0]);
    let guid = Guid::literal("11111111-2222-3333-4444-555555555555").to_bytes();
    let collision = [
        &guid[..],
        &wide("AUDIT"),
        &wide(""),
        &bytes(&[(0, 4), (0xC000_0035, 4)]),
    ]
    .concat();
    trace.provider(20, EVENT_TRACING, (2, 0), &collision);
    trace.session(30, (11, 2), "Audit", &[4, 64, 128, 9, 8, 0, 7, 2, 1, 33]);
    let rows = trace.rows(Range::ALL);
    let times = read(&rows, Logger::TABLE, ["start_ns", "stop_ns"]);
    // The last one is the session of the trace itself.
    assert_eq!(times, [[None, None], [Some(10), Some(30)], [None, None]]);
    assert_eq!(
        words(&rows, LoggerEvent::TABLE, "kind"),
        ["start", "start_error", "stop"]
    );
}

/// The example of `docs/numbers/sessions.md`.
#[test]
fn a_session_is_a_row_of_its_start_and_its_stop() {
    let mut trace = Recording::new();
    trace.session(10, (10, 1), "Audit", &[4, 64, 128, 4, 4, 0]);
    trace.provider(20, EVENT_TRACING, (14, 1), &{
        let tail = bytes(&[(0xFF, 8), (0, 8), (1, 4), (4, 1)]);
        [&DNS.to_bytes()[..], &wide("Audit"), &tail].concat()
    });
    trace.session(30, (11, 2), "AUDIT", &[4, 64, 128, 9, 8, 0, 7, 2, 1, 33]);
    // The same name again, and the stop of a third session, which started before the trace.
    trace.session(40, (10, 0), "Audit", &[]);
    trace.session(50, (11, 0), "Old", &[]);
    trace.session(60, (20, 1), "Busy", &[4, 64, 128, 9, 8, 0, 5, 0, 0, 3]);
    // The session of the trace itself.
    trace.session(
        70,
        (20, 1),
        "nt kernel logger",
        &[2, 20, 64, 3, 3, 0, 0, 0, 0, 1],
    );
    let mask = bytes(&[
        (0x2_0003, 4),
        (0, 4),
        (0x100_0000, 4),
        (0, 4),
        (0, 4),
        (0, 4),
        (0, 4),
        (0, 4),
        (85, 4),
    ]);
    trace.kernel(80, 0, (0, 5, 2), &mask);
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        words(&rows, Logger::TABLE, "name"),
        ["AUDIT", "Old", "NT Kernel Logger", "Audit", "Busy"]
    );
    let columns = [
        "start_ns",
        "stop_ns",
        "events_lost",
        "buffers_lost",
        "peak_buffers",
        "logger_id",
    ];
    assert_eq!(
        read(&rows, Logger::TABLE, columns),
        [
            [Some(10), Some(30), Some(7), Some(2), Some(9), Some(33)],
            [None, Some(50), None, None, None, None],
            [None, None, Some(0), Some(0), Some(3), Some(1)],
            [Some(40), None, None, None, None, None],
            [None, None, Some(5), Some(0), Some(9), Some(3)],
        ]
    );
    assert_eq!(
        words(&rows, Logger::TABLE, "modes")[0],
        "real_time+no_per_processor_buffering"
    );
    let keywords = words(&rows, Logger::TABLE, "kernel_keywords");
    assert_eq!(
        keywords,
        ["-", "-", "PROC_THREAD+REGISTRY+REG_HIVE", "-", "-"]
    );
    assert_eq!(
        words(&rows, LoggerEvent::TABLE, "kind"),
        [
            "start", "enable", "stop", "start", "stop", "running", "running"
        ]
    );
    assert_eq!(
        words(&rows, LoggerEvent::TABLE, "provider")[1],
        "Microsoft-Windows-DNS-Client"
    );
    let columns = ["ts_ns", "any_keyword", "level", "enable_property"];
    assert_eq!(
        read(&rows, LoggerEvent::TABLE, columns)[1],
        [20, 0xFF, 4, 1].map(Some)
    );
    // Events that the rows do not show in full also stay generic events.
    assert_eq!(read(&rows, GenericEvent::TABLE, ["event_id"]).len(), 8);
}

#[test]
fn errors_and_losses_are_reported_with_their_status() {
    let mut trace = Recording::new();
    let denied = 0xC000_0022u64;
    let error = [
        wide("Full"),
        wide("c:\\b.etl"),
        bytes(&[(denied, 4), (1, 4)]),
    ]
    .concat();
    trace.provider(10, EVENT_TRACING, (2, 0), &error);
    let lost = [
        &DNS.to_bytes()[..],
        &bytes(&[(denied, 4), (3008, 2)]),
        &wide("Audit"),
    ]
    .concat();
    trace.provider(20, EVENT_TRACING, (19, 0), &lost);
    let named = [
        &DNS.to_bytes()[..],
        &bytes(&[(denied, 4)]),
        b"Paint\0",
        &wide("Audit"),
    ]
    .concat();
    trace.provider(30, EVENT_TRACING, (31, 0), &named);
    trace.provider(
        40,
        EVENT_TRACING,
        (34, 0),
        &[bytes(&[(0x0524, 2), (denied, 4)]), wide("Audit")].concat(),
    );
    // No session, and an unknown layout.
    trace.provider(50, EVENT_TRACING, (77, 0), &[0; 4]);
    trace.provider(60, EVENT_TRACING, (8, 0), &[0; 4]);
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        words(&rows, LoggerEvent::TABLE, "kind"),
        [
            "start_error",
            "lost_event",
            "lost_event",
            "lost_system_event"
        ]
    );
    let denied = Some(i64::from(denied as u32 as i32));
    assert_eq!(
        read(&rows, LoggerEvent::TABLE, ["status"]).concat(),
        [denied; 4]
    );
    let ids = read(&rows, LoggerEvent::TABLE, ["event_id"]).concat();
    assert_eq!(ids, [None, Some(3008), None, Some(0x0524)]);
    assert_eq!(
        words(&rows, LoggerEvent::TABLE, "event_name"),
        ["-", "-", "Paint", "-"]
    );
    assert_eq!(
        words(&rows, Logger::TABLE, "name"),
        ["Full", "NT Kernel Logger"]
    );
    assert_eq!(
        read(&rows, Logger::TABLE, ["status"]).concat(),
        [denied, None]
    );
}

/// An exit: its reason, the microseconds of the stay, and of the deepest state.
fn exit(reason: u64, duration: u64, drips: u64) -> Vec<u8> {
    bytes(&[
        (3, 4),
        (25, 8),
        (40, 8),
        (15, 8),
        (drips, 8),
        (duration, 8),
        (6, 4),
        (96, 1),
        (1, 4),
        (reason, 4),
        (0, 8),
        (0, 8),
        (0, 4),
        (7, 8),
    ])
}

/// The example of `docs/numbers/standby.md`.
#[test]
fn a_stay_in_standby_lasts_from_its_entry_to_its_exit() {
    let mut trace = Recording::new();
    let enter = bytes(&[
        (15, 4),
        (0, 4),
        (1, 4),
        (9, 1),
        (4000, 4),
        (5000, 4),
        (77, 8),
        (42, 4),
    ]);
    trace.provider(100, KERNEL_POWER, (506, 3), &enter);
    // The clock of the trace stopped in between, so the machine reports more time than the trace.
    trace.provider(400, KERNEL_POWER, (507, 12), &exit(31, 1000, 900));
    trace.provider(500, KERNEL_POWER, (507, 0), &exit(99, 200, 0));
    trace.provider(600, KERNEL_POWER, (506, 0), &bytes(&[(12, 4)]));
    trace.provider(700, KERNEL_POWER, (506, 0), &bytes(&[(12, 4)]));
    let rows = trace.rows(Range::ALL);
    let columns = [
        "enter_ns",
        "exit_ns",
        "duration_ns",
        "told_duration_ns",
        "drips_ns",
        "non_drips_ns",
        "first_drips_ns",
    ];
    assert_eq!(
        read(&rows, Standby::TABLE, columns),
        [
            [
                Some(100),
                Some(400),
                Some(300),
                Some(1000),
                Some(900),
                Some(100),
                Some(15)
            ],
            [
                None,
                Some(500),
                Some(200),
                Some(200),
                Some(0),
                Some(200),
                Some(15)
            ],
            [Some(600), None, None, None, None, None, None],
            [Some(700), None, None, None, None, None, None],
        ]
    );
    let columns = [
        "scenario",
        "enter_reason",
        "exit_reason",
        "drips_transitions",
        "energy_drain",
        "remaining_capacity",
    ];
    assert_eq!(
        read(&rows, Standby::TABLE, columns)[0],
        [77, 15, 31, 6, 3, 4000].map(Some)
    );
    assert_eq!(
        words(&rows, Standby::TABLE, "enter_reason_name"),
        ["lid", "-", "idle timeout", "idle timeout"]
    );
    assert_eq!(
        words(&rows, Standby::TABLE, "exit_reason_name"),
        ["keyboard", "-", "-", "-"]
    );
}

#[test]
fn an_event_has_its_activity() {
    let mut trace = Recording::new();
    let provider = Guid::literal("99999999-0000-0000-0000-000000000001");
    let [a, b] = [1, 2].map(|n| Guid::from_bytes([n; 16]));
    for (us, activity) in [(1, a), (2, a), (3, Guid::ZERO), (4, b), (5, a)] {
        trace.of_activity(us, provider, (1, 0), &[], activity);
    }
    let rows = trace.rows(Range::ALL);
    let [a, b] = [a, b].map(|guid| guid.to_string());
    assert_eq!(
        words(&rows, GenericEvent::TABLE, "activity_id"),
        [&a, &a, "-", &b, &a]
    );
}
