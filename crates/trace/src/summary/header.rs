//! Section `header`: the trace header of the file that started first, and the properties that all
//! files of a session share.

use etwkit_etl::Session;
use etwkit_etl::clock::{FILETIME_PER_SECOND, utc_text};
use serde_json::{Value, json};

use crate::counts::Counts;

pub(super) fn section(session: &Session, counts: &Counts) -> Value {
    let files = session.files();
    let Some(first) = session.earliest() else {
        return Value::Null;
    };
    let h = first.header();
    let clock = session.clock();
    let (end, is_closed) = session.ends();
    let session_end = end.filter(|_| is_closed);
    let sum =
        |of: &dyn Fn(&etwkit_etl::session::TraceFile) -> u64| files.iter().map(of).sum::<u64>();
    let [os_major, os_minor, ..] = h.version;
    let length = h.length().filter(|_| h.start_time > 0);
    let duration = length.map(|length| length as f64 / FILETIME_PER_SECOND as f64);
    json!({
        "os_major": os_major,
        "os_minor": os_minor,
        "os_build": h.build,
        "cpu_count": h.cpu_count,
        "cpu_mhz": h.cpu_mhz,
        "pointer_size": h.pointer_size,
        "perf_freq": h.perf_freq,
        "clock_type": clock.kind.name(),
        "timer_resolution_100ns": h.timer_resolution,
        "buffer_size": h.buffer_size,
        "max_file_size_mb": h.max_file_size,
        "start_buffers": h.start_buffers,
        "log_file_mode": format!("{:#x}", h.log_file_mode),
        "start_utc": utc_text(h.start_time),
        "end_utc": utc_text(h.end_time),
        "boot_utc": utc_text(h.boot_time),
        "duration_s": duration,
        "session_end_utc": session_end.and_then(|end| utc_text(clock.filetime(end)?)),
        "session_duration_s": session_end.map(|end| clock.seconds(end)),
        "events_lost": sum(&|f| f.header().events_lost.into()),
        "buffers_lost": sum(&|f| f.header().buffers_lost.into()),
        "buffers_written": sum(&|f| f.header().buffers_written.into()),
        "buffers_in_file": sum(&|f| f.buffer_counts().total),
        "compressed_buffers": sum(&|f| f.buffer_counts().compressed),
        "files": files.len(),
        "session_name": h.session_name,
        "log_file_name": h.log_file_name,
        "timezone_bias_min": h.time_zone.bias,
        "timezone_standard_name": h.time_zone.standard_name,
        "timezone_daylight_name": h.time_zone.daylight_name,
        "first_event_s": counts.times().map(|(first, _)| clock.seconds(first)),
        "last_event_s": counts.times().map(|(_, last)| clock.seconds(last)),
    })
}
