//! Everything that can be asked of a session.

use std::hint::black_box;
use std::ops::ControlFlow;

use etwkit_decode::Decoder;
use etwkit_decode::render::{Limits, Renderer};
use etwkit_etl::damage::DamageKind;
use etwkit_etl::session::Pass;
use etwkit_etl::{Order, RawEvent, Session};
use etwkit_trace::events::EventsSummary;
use etwkit_trace::import::{Options, import};
use etwkit_trace::summary::Summary;

use crate::rules::{self, Rows};

/// Reads all events, and all parts of each that its header leads to.
pub fn read(session: &Session, order: Order) -> Pass {
    let pass = session.for_each(order, |event| {
        touch(event);
        ControlFlow::Continue(())
    });
    pass.expect("memory can be read")
}

fn touch(event: &RawEvent<'_>) {
    black_box((
        event.identity(),
        event.descriptor(),
        event.version(),
        event.level(),
        event.payload().len(),
    ));
    black_box((
        event.activity_id(),
        event.thread_id(),
        event.process_id(),
        event.pebs_index(),
        event.pointer_size(),
    ));
    black_box(event.pmc_values().count());
    black_box(event.extended().map(|item| item.data.len()).sum::<usize>());
}

/// Whether a pass had to leave out buffers because too many were open.
#[must_use]
pub fn left_out_buffers(pass: &Pass) -> bool {
    pass.damage
        .counts()
        .any(|(kind, _)| kind == DamageKind::TooManyOpenBuffers)
}

/// Decodes and renders all events, in the two passes that a decoder wants.
pub fn decode(session: &Session) {
    let mut decoder = Decoder::new();
    let each = |visit: &mut dyn FnMut(&RawEvent<'_>)| {
        let pass = session.for_each(Order::File, |event| {
            visit(event);
            ControlFlow::Continue(())
        });
        pass.expect("memory can be read");
    };
    each(&mut |event| decoder.observe(event));
    decoder.finish_observing();
    let mut events = EventsSummary::new();
    each(&mut |event| {
        events.event(event, &decoder, session.clock());
        if let Some(plan) = decoder.plan(event) {
            for limits in [Limits::INFO, Limits::NONE] {
                let renderer = Renderer {
                    clock: Some(session.clock()),
                    limits,
                };
                let (fields, _) = renderer.object(&plan, event.payload());
                black_box(decoder.text(event, &plan, &fields));
                black_box(serde_json::Value::Object(fields).to_string());
            }
        }
        black_box(decoder.provider_name(event.provider()));
    });
    black_box((
        events.to_json().to_string(),
        decoder.problems().counts().count(),
    ));
}

/// What `etwkit info` says.
pub fn summary(session: &Session) {
    let summary = Summary::read(session).expect("memory can be read");
    black_box(serde_json::Value::Object(summary.sections).to_string());
}

/// All tables; they must keep the rules.
pub fn tables(session: &Session) -> Rows {
    let mut rows = Vec::new();
    let imported = import(session, &Options::default(), &mut rows, &mut |_| {
        ControlFlow::Continue(())
    });
    imported.expect("neither memory nor a list fails");
    rules::check(rows)
}
