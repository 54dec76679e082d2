//! Declared questions: values in, rows and their evidence out.

use std::path::PathBuf;
use std::sync::Arc;

use etwkit_analysis::diagnose::{DiagnoseRequest, Diagnosis, RuleRow};
use etwkit_base::digits::counted;
use etwkit_engine::{question as declared, questions};
use etwkit_question::nothing::RowFilters;
use etwkit_question::trace::TraceInfo;
use etwkit_question::{AnyQuestion, AnyRequest, Request, Values, record};
use etwkit_record::profiles;
use etwkit_sql::similar;
use serde_json::{Value, json};

use crate::mcp::arguments::{Arguments, Page};
use crate::mcp::capability;
use crate::mcp::evidence::{Evidence, renamed};
use crate::mcp::problem::{Problem, Result};
use crate::mcp::reply::{self, BYTES};
use crate::mcp::shared::Call;
use crate::mcp::tool::{Answer, Tool, options_of};
use crate::mcp::traces::Trace;
use crate::{command_line, said, text};

/// A question with the values of its options.
pub(crate) struct QuestionRequest {
    pub(crate) question: &'static dyn AnyQuestion,
    pub(crate) traces: Vec<Arc<Trace>>,
    pub(crate) values: Values,
    pub(crate) page: Page,
}

/// Returns the question of that name.
pub(crate) fn find(name: &str) -> Result<&'static dyn AnyQuestion> {
    let known =
        declared(name).or_else(|| questions().find(|question| question.aliases().contains(&name)));
    known.ok_or_else(|| {
        let names: Vec<&str> = questions().map(AnyQuestion::name).collect();
        let like = similar(name, &names);
        let hint = match like.as_slice() {
            [] => "`questions` lists all".to_owned(),
            like => format!("similar: {}; `questions` lists all", like.join(", ")),
        };
        Problem::bad(format!("there is no question {name:?}")).with_hint(hint)
    })
}

/// Runs a question on one or more traces.
pub(crate) fn ask(call: &Call<'_>, asked: &QuestionRequest) -> Result<Answer> {
    let QuestionRequest {
        question,
        traces,
        values,
        page,
    } = asked;
    let name = question.name();
    let mut request = question
        .read(values)
        .map_err(|error| Problem::of_option(&error, name))?;
    // These questions read folders of recordings, which have no handles.
    if request.of_names().is_some() {
        let why = format!("{name} takes names of recordings, not open traces");
        return Err(Problem::bad(why).with_hint(format!("run `etwkit dump {name}` on a folder")));
    }
    let extracts: Vec<PathBuf> = traces.iter().map(|trace| trace.extract.clone()).collect();
    let mut all = Vec::new();
    // An answer becomes JSON as soon as it is there: a page of rows takes less memory than all.
    let take = |request: &dyn AnyRequest, one| {
        let at = all.len();
        // One answer to all traces depends on each of them, so everything that they lack counts for
        // it.
        let about = if request.is_of_all() {
            traces.as_slice()
        } else {
            // Answers are in the order of the traces.
            traces
                .get(at..=at)
                .ok_or_else(|| Problem::failed("there are more answers than traces"))?
        };
        all.push(answer_of(call, asked, request, about, *page, one)?);
        Ok::<_, Problem>(())
    };
    let engine = &call.shared.engine;
    let notes = engine.ask(call.asking, &extracts, &mut *request, take)?;
    let mut answer = match <[Answer; 1]>::try_from(all) {
        Ok([only]) => only,
        Err(several) => {
            let all: Vec<Value> = several.into_iter().map(Value::from).collect();
            // Several traces have an answer each, under its own handle.
            [("answers".to_owned(), all.into())].into_iter().collect()
        }
    };
    if !notes.is_empty() {
        answer.insert("notes".into(), notes.into());
    }
    Ok(answer)
}

/// Returns the answer of one trace, or of all together.
fn answer_of(
    call: &Call<'_>,
    asked: &QuestionRequest,
    request: &dyn AnyRequest,
    about: &[Arc<Trace>],
    page: Page,
    one: etwkit_engine::ExtractAnswer<etwkit_question::Answer>,
) -> Result<Answer> {
    let name = asked.question.name();
    let mut evidence = Evidence::default();
    let handles: Vec<&str> = about.iter().map(|trace| trace.handle.as_str()).collect();
    let mut answer = Answer::new();
    answer.insert("trace".into(), handles.join(", ").into());
    answer.insert("question".into(), name.into());
    let (info, rows) = one.answer?;
    // Before the sentences on tables, since an answer has at most 12 sentences of each kind.
    if rows.is_ok() {
        evidence.of_question(name);
    }
    for trace in about {
        let session = call.session(trace)?;
        evidence.of_sql(&session, &trace.handle, &request.show_sql());
    }
    // The gaps of several traces come with the statement above, each under its own handle.
    if let [only] = about {
        one.gaps
            .iter()
            .for_each(|gaps| evidence.gaps(&renamed(gaps, only)));
    }
    match rows {
        Ok(rows) => {
            if rows.is_empty() {
                evidence.nothing(why_nothing(call, asked, about)?);
            }
            lines(&mut evidence, &info, &rows);
            answer.extend(tables(&rows, page));
            if !rows.notes.is_empty() {
                answer.insert("remarks".into(), rows.notes.into());
            }
        }
        // This is not a failure of the call: the agent has to learn that the data was not recorded,
        // and the recording profile that contains it.
        Err(error) if error.is_nothing() => not_recorded(&mut answer, &mut evidence, name, &error),
        Err(error) => return Err(error.into()),
    }
    answer.extend(evidence.json());
    if !one.notes.is_empty() {
        answer.insert("notes".into(), one.notes.into());
    }
    answer.insert("command".into(), command(asked, about).into());
    Ok(answer)
}

/// Builds the answer to a question whose data the trace does not have.
fn not_recorded(
    answer: &mut Answer,
    evidence: &mut Evidence,
    name: &str,
    error: &etwkit_question::Error,
) {
    answer.insert("answered".into(), false.into());
    answer.insert("why_not".into(), said(error).into());
    answer.insert("how_to_record".into(), error.hint().into());
    answer.insert(
        "record_with".into(),
        json!(capability::names(profiles::of_question(name))),
    );
    evidence.unproven(format!(
        "anything about {name}: it may have happened without being recorded"
    ));
}

/// Returns the reason why the answer to a question has no rows.
fn why_nothing(call: &Call<'_>, asked: &QuestionRequest, about: &[Arc<Trace>]) -> Result<String> {
    let Some(trace) = about.first() else {
        return Ok("there is no row".to_owned());
    };
    let open = || -> std::result::Result<_, etwkit_engine::Error> {
        let only = std::slice::from_ref(&trace.extract);
        Ok(Arc::new(call.shared.engine.open(
            call.asking,
            only,
            &mut Vec::new(),
        )?))
    };
    Ok(RowFilters::of(asked.question, &asked.values).sentence(&trace.handle, open)?)
}

/// Adds the sentences around the rows of an answer to the evidence.
fn lines(evidence: &mut Evidence, info: &TraceInfo, rows: &etwkit_question::Answer) {
    let text = text(info.clock());
    rows.heading
        .iter()
        .for_each(|line| evidence.follows(&text.line(line)));
    for part in &rows.parts {
        let instead = part.instead.iter().filter(|_| part.table.is_empty());
        let around = part.head.iter().chain(instead).map(|line| text.line(line));
        around.for_each(|line| evidence.follows(&line));
        let total = part.table.total();
        total
            .iter()
            .chain(&part.foot)
            .for_each(|line| evidence.follows(&text.line(line)));
    }
}

/// Returns the rows of a table, or of the tables of a report.
fn tables(rows: &etwkit_question::Answer, page: Page) -> Answer {
    let parts: Vec<_> = rows.parts.iter().filter(|part| !part.is_aside).collect();
    // Tables share the size of an answer: otherwise a long one at the start would leave no room for
    // the others.
    let bytes = BYTES / parts.len().max(1);
    let table = |part: &&etwkit_question::AnswerPart| -> Answer {
        let row = |at| part.records().record(at).map_or(Value::Null, reply::row);
        reply::rows(part.records().len(), page, bytes, row)
    };
    match parts.as_slice() {
        [only] => table(only),
        several => {
            let all = several
                .iter()
                .map(|part| (part.name.to_owned(), table(part).into()));
            [("tables".to_owned(), Value::Object(all.collect()))]
                .into_iter()
                .collect()
        }
    }
}

/// Returns the command line that runs the same question.
fn command(asked: &QuestionRequest, about: &[Arc<Trace>]) -> String {
    let paths: Vec<String> = about
        .iter()
        .map(|trace| trace.named.display().to_string())
        .collect();
    command_line(
        &asked.question.options(),
        asked.question.name(),
        &asked.values,
        &paths,
    )
}

/// Runs the rules on a trace.
pub(crate) fn diagnose(call: &Call<'_>, given: Arguments<'_>, tool: &Tool) -> Result<Answer> {
    let trace = call.shared.traces.get(given.required("trace")?)?;
    let question = tool.question()?;
    let page = given.page()?;
    let values = values_of(question, given);
    let request = DiagnoseRequest::from_json(&values)
        .map_err(|error| Problem::of_option(&error, question.name()))?;
    let session = call.session(&trace)?;
    let diagnosis = request.ask_without_costs(&session)?;
    let mut evidence = Evidence::default();
    let gaps = etwkit_engine::of_paths(&[PathBuf::from(&trace.handle)], &session);
    gaps.iter().for_each(|gaps| evidence.gaps(gaps));
    findings_follow(&diagnosis, page, &mut evidence);
    let mut answer = Answer::new();
    answer.insert("trace".into(), trace.handle.as_str().into());
    answer.extend(findings(&diagnosis, page));
    answer.insert("rules".into(), rules(&diagnosis.rules, &mut evidence));
    let behind = rules_behind(&diagnosis, page);
    for rule in request.chosen() {
        if behind.contains(&rule.name.as_str()) {
            evidence.of_sql(&session, &trace.handle, &rule.query().sql(false));
        }
    }
    answer.extend(evidence.json());
    let asked = QuestionRequest {
        question,
        traces: vec![trace],
        values,
        page,
    };
    answer.insert("command".into(), command(&asked, &asked.traces).into());
    Ok(answer)
}

/// Returns the arguments that are options of a question.
fn values_of(question: &dyn AnyQuestion, given: Arguments<'_>) -> Values {
    let known = options_of(question);
    let chosen = given.0.iter().filter(|(name, _)| known.contains_key(*name));
    chosen
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Adds the sentences of findings to the evidence.
fn findings_follow(diagnosis: &Diagnosis, page: Page, evidence: &mut Evidence) {
    for finding in diagnosis.findings.iter().skip(page.skip).take(page.rows) {
        evidence.follows(&finding.sentence);
        evidence.unproven(format!("{}: {}", finding.rule, finding.not_proved));
    }
    if diagnosis.findings.is_empty() {
        evidence.nothing("no rule found anything".to_owned());
        evidence.unproven("that nothing was slow: the rules look for known causes alone");
    }
}

/// Returns the findings of a page as rows.
fn findings(diagnosis: &Diagnosis, page: Page) -> Answer {
    let row = |at: usize| {
        let finding = diagnosis.findings.get(at);
        let row = finding.and_then(|finding| record(finding).ok());
        row.map_or(Value::Null, reply::row)
    };
    reply::rows(diagnosis.findings.len(), page, BYTES, row)
}

/// Returns the rules whose tables the answer is based on: the rules with findings, or all rules that
/// ran if there are no findings.
fn rules_behind(diagnosis: &Diagnosis, page: Page) -> Vec<&str> {
    if diagnosis.findings.is_empty() {
        let ran = diagnosis.rules.iter().filter(|row| row.state == "nothing");
        return ran.map(|row| row.rule.as_str()).collect();
    }
    let shown = diagnosis.findings.iter().skip(page.skip).take(page.rows);
    shown.map(|row| row.rule.as_str()).collect()
}

/// Returns the number of rules by outcome, and the rules without an outcome because data was not
/// recorded or they failed.
fn rules(all: &[RuleRow], evidence: &mut Evidence) -> Value {
    let of = |state: &str| all.iter().filter(|rule| rule.state == state).count();
    let silent = all
        .iter()
        .filter(|rule| rule.state == "not checked" || rule.state == "failed");
    let silent: Vec<Value> = silent
        .map(|rule| json!({"rule": rule.rule, "state": rule.state, "missing": rule.missing}))
        .collect();
    // Rules that could not run are named as well: a missing finding must not be read as the absence
    // of the cause.
    if !silent.is_empty() {
        evidence.unproven(format!(
            "that the causes of {} not be checked are absent (see rules)",
            counted(silent.len() as u64, ["rule that could", "rules that could"])
        ));
    }
    json!({"asked": all.len(), "found": of("found"), "found_nothing": of("nothing"), "not_checked": silent})
}
