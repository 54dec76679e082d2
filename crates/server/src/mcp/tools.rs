//! The tools, and the functions of the ones that need no file of their own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use etwkit_analysis::questions::{CRITICAL_PATH, DIAGNOSE, DIFF};
use etwkit_base::lock::lock;
use etwkit_base::shell::quoted;
use etwkit_engine::{Engine, question, questions, refuse_address};
use etwkit_question::{AnyQuestion, Values, request_schema, row_schema};
use serde_json::{Value, json};

use crate::mcp::arguments::Arguments;
use crate::mcp::ask::{self, QuestionRequest};
use crate::mcp::capability;
use crate::mcp::evidence::Evidence;
use crate::mcp::problem::{Problem, Result};
use crate::mcp::reply::{self, BYTES};
use crate::mcp::shared::{Call, DIAGNOSIS, EXTRACTION, QUESTION};
use crate::mcp::tool::{Answer, Tool, Work, options_of};
use crate::mcp::traces::Trace;
use crate::words::trace_word;
use crate::{Limits, Server, ServerOptions, asked, said};

/// Returns the tools, in the order in which an investigation needs them.
pub(crate) fn tools() -> Vec<Tool> {
    let wait = question("wait");
    vec![
        Tool {
            most: EXTRACTION,
            ..tool(
                "open",
                OPEN,
                json!({"path": text("Path of the trace or extract")}),
                &["path"],
                open,
            )
        },
        tool(
            "list",
            "The traces that are open, with their handles.",
            json!({}),
            &[],
            list,
        ),
        tool(
            "close",
            "Closes a trace. Its handle is never used again.",
            of_trace(),
            &["trace"],
            close,
        ),
        tool("health", HEALTH, of_trace(), &["trace"], health),
        tool(
            "questions",
            QUESTIONS,
            json!({"name": text("A question, for its options and columns; without it all are listed"),
                   "trace": text("Handle of a trace: marks which questions it can answer")}),
            &[],
            list_questions,
        ),
        tool(
            "ask",
            ASK,
            ask_arguments(),
            &["trace", "question"],
            ask_question,
        ),
        asking(
            "wait_chain",
            WAIT_CHAIN,
            wait,
            &["by", "chain", "sort-by"],
            QUESTION,
            wait_chain,
        ),
        asking(
            "critical_path",
            CRITICAL,
            Some(CRITICAL_PATH),
            &[],
            QUESTION,
            ask_declared,
        ),
        asking(
            "diagnose",
            DIAGNOSIS_SAYS,
            Some(DIAGNOSE),
            &["table", "top", "rules"],
            DIAGNOSIS,
            ask::diagnose,
        ),
        diff(),
        tool("sql", SQL, sql_arguments(), &["trace", "sql"], sql),
        tool("view", VIEW, of_trace(), &["trace"], view),
    ]
}

const OPEN: &str = "Opens a Windows event trace (.etl, or .zip, .7z, .cab, .diagsession, .etlgz, .etl.gz, .zst, \
    .xz, .bz2, .lz4 with one) or an extract (.etwx) and answers a short handle such as t1, which all other tools \
    take. The first time a trace is extracted into a cache, which can take minutes for gigabytes; progress is \
    reported.";

const HEALTH: &str = "Describes a trace and the limits of its answers: machine, length, lost events and damage, \
    recorded topics, the questions that it can answer, and for the others the recording profile that would. \
    Ask it before anything else.";

const QUESTIONS: &str = "Lists all declared questions with one sentence each, or, with a name, the JSON schema \
    of its options and the columns of its rows. `ask` answers any of them.";

const ASK: &str = "Asks a declared question by its name, with its options as JSON. The answer has rows, and \
    says which values are measured, which are only correlated, which conclusions follow, and which are not proved.";

const WAIT_CHAIN: &str = "The longest waits, each with the thread that ended it and the wait of that thread, down to \
    the root. Needs context switches. Who ended a wait is recorded; that it caused the wait is for you to show.";

const CRITICAL: &str = "Where the time of one process or thread went, with each wait replaced by \
    the work of the thread that ended it. Needs context switches.";

const DIAGNOSIS_SAYS: &str = "Asks all rules what made the machine slow: findings with their cost, evidence, \
    fix and limits of the proof; and the rules that could not be checked since their data was not recorded.";

const SQL: &str = "Asks one statement of SQL over the tables of a trace, which cannot be changed. Bounded in \
    time, memory and rows. SHOW TABLES lists the tables, DESCRIBE a table its columns; times are \
    nanoseconds since the start of the trace (ts_ns), and null is not zero.";

const VIEW: &str = "A link that opens the trace in a browser of this machine (timeline, flame graph, tables), \
    for the person you work for, and the command line that does it.";

/// Creates a tool that runs at most one question.
fn tool(
    name: &str,
    sentence: &str,
    arguments: Value,
    required: &'static [&'static str],
    work: Work,
) -> Tool {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Values::new(),
    };
    let name = name.to_owned();
    let sentence = sentence.to_owned();
    Tool {
        name,
        sentence,
        arguments,
        required,
        most: QUESTION,
        writes: false,
        question: None,
        work,
    }
}

/// Creates a tool for one declared question, with its options except the ones that the tool decides
/// itself.
fn asking(
    name: &str,
    sentence: &str,
    question: Option<&'static dyn AnyQuestion>,
    decided: &[&str],
    most: Duration,
    work: Work,
) -> Tool {
    let mut arguments = with_page(of_trace());
    let options = question.map(options_of);
    arguments.extend(
        options
            .into_iter()
            .flatten()
            .filter(|(name, _)| !decided.contains(&name.as_str())),
    );
    Tool {
        most,
        question,
        ..tool(name, sentence, arguments.into(), &["trace"], work)
    }
}

fn diff() -> Tool {
    let mut arguments = with_page(json!({
        "before": text("Handle of the trace to compare with, the good one"),
        "after": text("Handle of the other trace, the slow one; the same one with two ranges compares two \
                       parts of it"),
    }));
    arguments.extend(options_of(DIFF));
    let sentence = format!(
        "{}. One pair of recordings shows differences, not their causes.",
        DIFF.sentence()
    );
    let tool = tool(
        "diff",
        &sentence,
        arguments.into(),
        &["before", "after"],
        ask_both,
    );
    Tool {
        most: DIAGNOSIS,
        question: Some(DIFF),
        ..tool
    }
}

fn text(sentence: &str) -> Value {
    json!({"type": "string", "description": sentence})
}

fn of_trace() -> Value {
    json!({"trace": text("Handle of the trace, from `open`")})
}

fn with_page(arguments: Value) -> Values {
    let mut all = match arguments {
        Value::Object(all) => all,
        _ => Values::new(),
    };
    all.insert(
        "rows".into(),
        json!({"type": "integer", "minimum": 1, "maximum": 500, "default": 20,
               "description": "Rows of each table, at most"}),
    );
    all.insert(
        "skip".into(),
        json!({"type": "integer", "minimum": 0, "description": "Rows to leave out in front"}),
    );
    all
}

fn ask_arguments() -> Value {
    let others = "Handles of other traces that get the same question; explain, test-run and diff put them together";
    with_page(json!({
        "trace": text("Handle of the trace, from `open`"),
        "more_traces": {"type": "array", "items": {"type": "string"}, "description": others},
        "question": text("Name of a question, from `questions`"),
        "options": {"type": "object", "description": "Options by their words, as the schema of the question has them"},
    }))
    .into()
}

fn sql_arguments() -> Value {
    with_page(json!({
        "trace": text("Handle of the trace, from `open`"),
        "sql": text("One statement that only asks"),
    }))
    .into()
}

fn open(call: &Call<'_>, given: Arguments<'_>, _: &Tool) -> Result<Answer> {
    let path = Path::new(given.required("path")?);
    refuse_address(path)?;
    // A relative path has to find the handle of the absolute one.
    let path = std::path::absolute(path).map_err(|error| Problem::bad(said(&error)))?;
    if !path.exists() {
        return Err(Problem::bad(format!("there is no file or folder {}", path.display())).with_hint(
            "name a trace (.etl, .etl.gz, .zip, .7z, .cab, .diagsession) or an extract (.etwx) by its whole path",
        ));
    }
    call.shared.check_place(&path)?;
    let traces = &call.shared.traces;
    let mut notes = Vec::new();
    let trace = match traces.find(&path) {
        Some(open) => open,
        None => {
            // Checked before the extraction, which may take minutes and would be in vain.
            traces.check_room()?;
            let extract = call
                .shared
                .engine
                .extract_of(call.asking, &path, &mut notes)?;
            // A trace that cannot be queried gets no handle.
            let only = std::slice::from_ref(&extract);
            call.shared.engine.open(call.asking, only, &mut notes)?;
            traces.add(&path, extract)?
        }
    };
    call.shared.keep_open();
    let mut answer = named(&trace);
    answer.extend(capability::summary(&call.session(&trace)?)?);
    answer.insert("notes".into(), notes.into());
    answer.insert("next".into(), "health, then diagnose, then ask".into());
    Ok(answer)
}

/// Returns the handle and the path of a trace.
fn named(trace: &Trace) -> Answer {
    let path = trace.named.display().to_string();
    [
        ("trace".to_owned(), trace.handle.as_str().into()),
        ("path".to_owned(), path.into()),
    ]
    .into_iter()
    .collect()
}

fn list(call: &Call<'_>, _: Arguments<'_>, _: &Tool) -> Result<Answer> {
    let all: Vec<Value> = call
        .shared
        .traces
        .all()
        .iter()
        .map(|trace| named(trace).into())
        .collect();
    Ok([("traces".to_owned(), all.into())].into_iter().collect())
}

fn close(call: &Call<'_>, given: Arguments<'_>, _: &Tool) -> Result<Answer> {
    let trace = call.shared.traces.close(given.required("trace")?)?;
    call.shared.keep_open();
    Ok([("closed".to_owned(), trace.handle.as_str().into())]
        .into_iter()
        .collect())
}

fn health(call: &Call<'_>, given: Arguments<'_>, _: &Tool) -> Result<Answer> {
    let trace = call.shared.traces.get(given.required("trace")?)?;
    let mut answer = named(&trace);
    answer.extend(capability::health(&call.session(&trace)?)?);
    Ok(answer)
}

fn list_questions(call: &Call<'_>, given: Arguments<'_>, _: &Tool) -> Result<Answer> {
    let trace = given
        .text("trace")?
        .map(|handle| call.shared.traces.get(handle))
        .transpose()?;
    let session = trace.map(|trace| call.session(&trace)).transpose()?;
    if let Some(name) = given.text("name")? {
        let question = ask::find(name)?;
        // A question that needs options has no fields to list without them.
        let fields = question
            .read(&Values::new())
            .map(|request| request.fields())
            .unwrap_or_default();
        let mut answer = Answer::new();
        answer.insert("options".into(), request_schema(question));
        answer.insert("columns".into(), row_schema(&fields));
        if let Some(session) = &session {
            answer.insert("can".into(), capability::of_question(session, question));
        }
        return Ok(answer);
    }
    let one = |question: &dyn AnyQuestion| {
        let mut one = json!({"name": question.name(), "sentence": question.sentence()});
        if let (Some(one), Some(session)) = (one.as_object_mut(), &session) {
            one.insert(
                "can_answer".into(),
                capability::can(session, question).into(),
            );
        }
        one
    };
    let all: Vec<Value> = questions().map(one).collect();
    Ok([("questions".to_owned(), all.into())].into_iter().collect())
}

fn ask_question(call: &Call<'_>, given: Arguments<'_>, _: &Tool) -> Result<Answer> {
    let question = ask::find(given.required("question")?)?;
    let handles = std::iter::once(given.required("trace")?).chain(given.texts("more_traces")?);
    let traces = handles
        .map(|handle| call.shared.traces.get(handle))
        .collect::<Result<Vec<_>>>()?;
    let values = given.options("options")?;
    ask::ask(
        call,
        &QuestionRequest {
            question,
            traces,
            values,
            page: given.page()?,
        },
    )
}

/// Returns the options of a tool's question among the arguments.
fn options(given: Arguments<'_>, tool: &Tool) -> Result<Values> {
    let known = options_of(tool.question()?);
    let is_option = |(name, _): &(&String, &Value)| known.contains_key(*name);
    Ok(given
        .0
        .iter()
        .filter(is_option)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect())
}

fn ask_with(
    call: &Call<'_>,
    given: Arguments<'_>,
    tool: &Tool,
    traces: &[&str],
    values: Values,
) -> Result<Answer> {
    let traces: Vec<Arc<Trace>> = traces
        .iter()
        .map(|name| call.shared.traces.get(given.required(name)?))
        .collect::<Result<_>>()?;
    ask::ask(
        call,
        &QuestionRequest {
            question: tool.question()?,
            traces,
            values,
            page: given.page()?,
        },
    )
}

fn ask_declared(call: &Call<'_>, given: Arguments<'_>, tool: &Tool) -> Result<Answer> {
    ask_with(call, given, tool, &["trace"], options(given, tool)?)
}

fn ask_both(call: &Call<'_>, given: Arguments<'_>, tool: &Tool) -> Result<Answer> {
    ask_with(
        call,
        given,
        tool,
        &["before", "after"],
        options(given, tool)?,
    )
}

fn wait_chain(call: &Call<'_>, given: Arguments<'_>, tool: &Tool) -> Result<Answer> {
    let mut values = options(given, tool)?;
    values.insert("chain".into(), true.into());
    ask_with(call, given, tool, &["trace"], values)
}

fn sql(call: &Call<'_>, given: Arguments<'_>, _: &Tool) -> Result<Answer> {
    let trace = call.shared.traces.get(given.required("trace")?)?;
    let session = call.session(&trace)?;
    let sql = given.required("sql")?;
    let page = given.page()?;
    let most = page.skip.saturating_add(page.rows);
    let rows = asked(&session, sql, most)?;
    let names: Vec<String> = rows
        .schema
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    let cell = |(name, cell)| reply::cell(name, serde_json::to_value(cell).unwrap_or(Value::Null));
    let row = |at: usize| -> Value {
        rows.rows.get(at).map_or(Value::Null, |row| {
            names
                .iter()
                .map(String::as_str)
                .zip(row)
                .map(cell)
                .collect()
        })
    };
    let mut answer = Answer::new();
    answer.insert("columns".into(), names.clone().into());
    let mut table = reply::rows(rows.rows.len(), page, BYTES, row);
    if let (true, Some(cut)) = (
        rows.is_cut,
        table.get_mut("cut").and_then(Value::as_object_mut),
    ) {
        // The query returned no more rows than the page needs, so the total is not known.
        cut.insert("of".into(), Value::Null);
    }
    answer.extend(table);
    if rows.is_cut {
        let more = "there are more rows, not counted: ask again with skip, or count(*)";
        answer.insert("more".into(), more.into());
    }
    let mut evidence = Evidence::default();
    evidence.of_sql(&session, &trace.handle, sql);
    if rows.rows.is_empty() {
        evidence.nothing("no row matches the statement".to_owned());
    }
    answer.extend(evidence.json());
    let command = format!(
        "etwkit sql {} {}",
        trace_word(&trace.named.display().to_string()),
        quoted(sql)
    );
    answer.insert("command".into(), command.into());
    Ok(answer)
}

fn view(call: &Call<'_>, given: Arguments<'_>, _: &Tool) -> Result<Answer> {
    let trace = call.shared.traces.get(given.required("trace")?)?;
    let mut answer = named(&trace);
    let command = format!(
        "etwkit view {}",
        trace_word(&trace.named.display().to_string())
    );
    answer.insert("command".into(), command.into());
    match link(call, &trace) {
        Ok(link) => answer.insert("link".into(), link.into()),
        // A page that cannot be opened is not a failure of the tool: the command line also opens
        // it.
        Err(why) => answer.insert("no_link".into(), why.to_string().into()),
    };
    Ok(answer)
}

/// Returns the link to a page with the open trace. The page ends with this server.
fn link(call: &Call<'_>, trace: &Trace) -> Result<String> {
    // The lock is held while the page starts, so that two concurrent calls do not start two.
    let mut page = lock(&call.shared.page);
    if page.is_none() {
        // An engine of its own, since each of them decides which extracts stay open.
        let engine = Engine::new(call.shared.engine.settings().clone());
        let cache = engine.settings().cache.clone();
        let cache = cache
            .ok_or_else(|| Problem::failed("there is no folder for the cache; set ETWKIT_CACHE"))?;
        let limits = Limits::default();
        let options = ServerOptions {
            engine,
            port: None,
            cache_folder: cache.join("page"),
            demo: None,
            recorder: None,
            limits,
        };
        *page = Some(Server::start(options).map_err(|error| Problem::failed(said(&error)))?);
    }
    let Some(running) = page.as_ref() else {
        return Err(Problem::failed("there is no page"));
    };
    if !running.has_page() {
        return Err(Problem::failed("this program was built without the page"));
    }
    running
        .open(std::slice::from_ref(&trace.named))
        .map_err(Problem::failed)?;
    Ok(running.link.clone())
}
