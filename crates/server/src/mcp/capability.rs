//! Questions that a trace can answer, and for the others the recording that they need.

use etwkit_engine::{Gaps, can_answer, data_tables, of_paths, questions};
use etwkit_question::trace::TraceInfo;
use etwkit_question::{AnyQuestion, Values};
use etwkit_record::profiles;
use etwkit_sql::Session;
use serde_json::{Value, json};

use crate::mcp::problem::Result;
use crate::mcp::tool::Answer;

/// Largest number of profiles that are named for one question, the most used first.
const MOST_PROFILES: usize = 2;

/// Returns a short description of a trace, for an agent that has just opened it.
pub(crate) fn summary(session: &Session) -> Result<Answer> {
    let info = TraceInfo::ask(session)?;
    let mut answer = Answer::new();
    answer.insert("file".into(), info.file_name.into());
    answer.insert("length_s".into(), (info.duration_ns as f64 / 1e9).into());
    answer.insert("start_utc".into(), info.start_utc.into());
    if let Some((_, manifest)) = session.manifests().next() {
        let machine = &manifest.machine;
        answer.insert("computer".into(), json!(machine.computer));
        answer.insert("os".into(), json!(machine.os_version));
        answer.insert("processors".into(), json!(machine.processors));
        answer.insert("keeps_single_events".into(), manifest.has_all_rows().into());
    }
    let lost: Vec<String> = of_paths(&["trace".into()], session)
        .iter()
        .map(Gaps::words)
        .collect();
    answer.insert("is_incomplete".into(), (!lost.is_empty()).into());
    answer.insert("lost".into(), lost.into());
    Ok(answer)
}

/// Returns the description of a trace, its missing data, and the questions that it can answer.
pub(crate) fn health(session: &Session) -> Result<Answer> {
    let mut answer = summary(session)?;
    let manifests = || {
        session
            .manifests()
            .flat_map(|(_, manifest)| &manifest.topics)
    };
    let recorded: Vec<&str> = manifests()
        .filter(|topic| topic.recorded)
        .map(|topic| topic.topic.as_str())
        .collect();
    let missing: Vec<Value> = manifests()
        .filter(|topic| !topic.recorded)
        .map(|topic| json!({"topic": topic.topic, "record_with": names(profiles::of_topic(&topic.topic))}))
        .collect();
    let damage: Vec<Value> = session
        .manifests()
        .flat_map(|(_, manifest)| &manifest.diagnostics)
        .map(|one| json!({"kind": one.kind, "count": one.count, "message": one.message}))
        .collect();
    let (can, cannot): (Vec<_>, Vec<_>) =
        // Questions about names of recordings need no trace, so neither list contains them.
        questions().filter(|question| !is_of_names(*question)).partition(|question| can(session, *question));
    let cannot: Vec<Value> = cannot
        .into_iter()
        .map(|question| of_question(session, question))
        .collect();
    answer.insert("recorded".into(), json!(recorded));
    answer.insert("not_recorded".into(), missing.into());
    answer.insert("diagnostics".into(), damage.into());
    answer.insert(
        "can_answer".into(),
        can.into_iter()
            .map(AnyQuestion::name)
            .collect::<Vec<_>>()
            .into(),
    );
    answer.insert("cannot_answer".into(), cannot.into());
    let unproven = unproven(session);
    answer.insert("does_not_prove".into(), unproven.into());
    Ok(answer)
}

/// Returns what the trace does not prove.
fn unproven(session: &Session) -> Vec<String> {
    let mut unproven = vec!["that activity that was not recorded did not happen".to_owned()];
    let gaps = of_paths(&["this trace".into()], session);
    let incomplete = gaps.iter().filter(|gaps| gaps.is_incomplete());
    unproven.extend(incomplete.map(|gaps| {
        format!(
            "that totals are complete: {}; counts and times are lower bounds",
            gaps.words()
        )
    }));
    unproven
}

/// True for questions about names of recordings, which are not about a trace.
fn is_of_names(question: &dyn AnyQuestion) -> bool {
    question
        .read(&Values::new())
        .is_ok_and(|request| request.of_names().is_some())
}

/// True if a trace can answer a question. If the tables are known only when the question is run,
/// the answer is true.
pub(crate) fn can(session: &Session, question: &dyn AnyQuestion) -> bool {
    // A question that cannot be read without options requires one, and its tables depend on the
    // given values.
    let Ok(request) = question.read(&Values::new()) else {
        return true;
    };
    can_answer(session, &*request)
}

/// Returns true if a trace can answer a question; otherwise the reason and the recording that the
/// question needs.
pub(crate) fn of_question(session: &Session, question: &dyn AnyQuestion) -> Value {
    if can(session, question) {
        return json!({"question": question.name(), "can_answer": true});
    }
    // A question that needs options has no SQL without them, and so no tables to name.
    let request = question.read(&Values::new()).ok();
    let tables = request.and_then(|request| data_tables(session, &request.show_sql()));
    let tables = tables.unwrap_or_default();
    json!({
        "question": question.name(),
        "can_answer": false,
        "why": format!("no rows in {}", tables.join(", ")),
        "record_with": names(profiles::of_question(question.name())),
    })
}

/// Returns the first names of profiles, in the form of `etwkit record start`.
pub(crate) fn names<'p>(found: impl Iterator<Item = &'p profiles::Profile>) -> Vec<&'p str> {
    found
        .take(MOST_PROFILES)
        .map(|profile| profile.name)
        .collect()
}
