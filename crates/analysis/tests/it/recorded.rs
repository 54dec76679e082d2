//! Data that a trace must have recorded.

use etwkit_analysis::path::PathRequest;
use etwkit_analysis::wait::WaitRequest;
use etwkit_question::Error;
use etwkit_trace::table::CpuProcess;

use super::support::{Machine, first, off};

#[track_caller]
fn nothing(machine: &Machine) -> Error {
    let session = machine.session();
    let error = WaitRequest::default().ask(&session).unwrap_err();
    assert!(error.is_nothing(), "{error}");
    let same = [
        WaitRequest::default().list(&session).unwrap_err(),
        PathRequest::default().ask(&session).unwrap_err(),
    ];
    same.iter()
        .for_each(|other| assert_eq!(other.to_string(), error.to_string()));
    error
}

#[test]
fn without_context_switches_the_recording_is_named_that_has_them() {
    let error = nothing(&Machine::new(&["a.exe"], 100));
    assert_eq!(error.to_string(), "the trace recorded no context switches");
    assert!(error.hint().unwrap().contains("CSWITCH+DISPATCHER"));
}

#[test]
fn without_ready_events_nobody_ended_a_wait() {
    let mut machine = Machine::new(&["a.exe"], 100);
    machine.add(first(1, 0, 10)).add(off(1, 10).ran(20, 30));
    let error = nothing(&machine);
    assert_eq!(
        error.to_string(),
        "the trace recorded no events that make threads ready (ReadyThread)"
    );
    // A machine on which nothing waited has none either.
    let mut machine = Machine::new(&["a.exe"], 100);
    machine
        .add(first(1, 0, 10))
        .add(off(1, 10).preempted().ran(20, 30));
    assert_eq!(
        WaitRequest::default().ask(&machine.session()).unwrap()[0].ready_ns,
        10
    );
}

#[test]
fn sums_do_not_say_who_waited_for_whom() {
    let mut machine = Machine::new(&["a.exe"], 100);
    machine.sums.push(CpuProcess {
        process_key: Some(1),
        run_ns: Some(5),
        wait_ns: Some(5),
        ..CpuProcess::default()
    });
    let error = nothing(&machine);
    assert!(matches!(
        error,
        Error::NeedsEvents {
            what: "context switches"
        }
    ));
    assert!(error.hint().unwrap().contains("--detail full"));
}
