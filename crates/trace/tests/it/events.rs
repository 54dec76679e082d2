//! The events that traces describe themselves, against the truth.

use std::ops::ControlFlow;

use etwkit_decode::Decoder;
use etwkit_etl::{Order, Session};
use etwkit_trace::events::EventsSummary;
use serde_json::Value;

use crate::compare::Comparison;
use crate::traces::samples;

fn section(session: &Session) -> (Value, Decoder) {
    let mut decoder = Decoder::new();
    session
        .for_each(Order::File, |event| {
            decoder.observe(event);
            ControlFlow::Continue(())
        })
        .unwrap();
    decoder.finish_observing();
    let mut summary = EventsSummary::new();
    session
        .for_each(Order::Time, |event| {
            summary.event(event, &decoder, session.clock());
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(summary.left_out(), 0);
    (summary.to_json(), decoder)
}

#[test]
fn every_sample_agrees_with_the_truth() {
    let (mut traces, mut compared) = (0, 0);
    for sample in samples() {
        let truth = &sample.truth["events"];
        let (ours, decoder) = section(&sample.open());
        let comparison = Comparison::of(&sample.name, truth, &ours);
        comparison.assert_equal();
        // The comparison ignores keys that only we have, but here they would be events too many.
        assert_eq!(ours.as_object().unwrap().len(), truth.as_object().unwrap().len(), "{}", sample.name);
        let problems: Vec<_> = decoder.problems().counts().collect();
        eprintln!("{}: {} values agree {problems:?}", sample.name, comparison.compared);
        traces += 1;
        compared += comparison.compared;
    }
    eprintln!("{traces} traces, {compared} values");
}
