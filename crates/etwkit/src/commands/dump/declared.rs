//! Declared questions as commands: their options as arguments, their answers as text, JSON lines or
//! CSV.

use std::path::PathBuf;
use std::sync::LazyLock;

use anyhow::{bail, ensure};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Id};
use etwkit_base::digits::counted;
pub(super) use etwkit_engine::question;
use etwkit_engine::{DiskFiles, ask_names, questions};
use etwkit_question::nothing::RowFilters;
use etwkit_question::{
    Answer, AnyQuestion, AnyRequest, Opt, Tagging, Values, request_schema, row_schema,
};
use etwkit_sql::Session;
use etwkit_terminal::Exit;
use serde_json::json;

use super::answer_printer;
use super::args::{Common, ProcessOutput};
use super::copy::CopyArgs;
use super::output::show_sql;
use crate::arguments::WHERE;
use crate::context::Context;
use crate::dialect::of_declared_question;
use crate::extracts::open_extracts;
use crate::help;
use crate::options::{self, OUTPUT, SCHEMA};
use crate::printer::Printer;

/// The option of `diagnose` that writes one finding.
const FINDING: &str = "finding";

/// The option of one list over all extracts.
const MERGE: &str = "merge";

/// Names of the arguments that all questions have.
// The program knows all questions whenever it starts, so this is computed once and not for each.
static COMMON: LazyLock<Vec<Id>> = LazyLock::new(|| {
    let common = Common::augment_args(Command::new(""));
    common
        .get_arguments()
        .map(|arg| arg.get_id().clone())
        .collect()
});

/// Number of extracts that are searched for similar names. Each of them is opened for that.
const LOOKED_INTO: usize = 16;

/// Rows of a ranked list that a screen can show.
const MOST_ROWS: usize = 40;

/// SQL comment about options that choose rows of the answer.
const WITHOUT_RANK: &str = "-- without --top and --skip, which count from the last of these rows\n";

/// A declared question with its arguments.
pub(crate) struct Declared {
    pub(crate) common: Common,
    question: &'static dyn AnyQuestion,
    /// Format of processes, if rows have any.
    processes: Option<ProcessOutput>,
    /// One list over all extracts.
    merge: bool,
    /// Print the JSON schemas instead of the answer.
    show_schema: bool,
    /// Target of copied recordings, if the question is about their names.
    copy: Option<CopyArgs>,
    /// Options that are given.
    pub(super) values: Values,
}

impl std::fmt::Debug for Declared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Declared")
            .field(&self.question.name())
            .field(&self.values)
            .finish()
    }
}

/// Returns all questions as commands.
pub(super) fn commands() -> impl Iterator<Item = Command> {
    questions().map(command)
}

fn command(question: &'static dyn AnyQuestion) -> Command {
    let command = Command::new(question.name());
    let command = command.visible_aliases(question.aliases().iter().copied());
    let examples = help::examples(
        &format!("etwkit dump {}", question.name()),
        question.examples(),
    );
    // Groups of arguments have sentences of their own, which take the place of this one.
    arguments(question, command)
        .about(question.sentence())
        .after_help(examples)
        .override_usage(usage(&format!("dump {}", question.name()), question))
}

/// Returns the usage of a question as the command with that name. Options that need no extract
/// would turn its argument into an optional one there.
pub(super) fn usage(command: &str, question: &dyn AnyQuestion) -> String {
    let input = if asks_names(&question.options()) {
        "PATH"
    } else {
        "EXTRACT"
    };
    format!("etwkit {command} [OPTIONS] <{input}>...")
}

/// Returns a command with the options of a question.
pub(super) fn arguments(question: &'static dyn AnyQuestion, command: Command) -> Command {
    let options = question.options();
    let schema = Arg::new(SCHEMA)
        .long(SCHEMA)
        .action(ArgAction::SetTrue)
        .help_heading(OUTPUT);
    let schema = schema.help("Print JSON schemas of requests and rows instead of the answer");
    // All dumps have the options that choose tests. A question to names of recordings declares them
    // itself, and clap panics over an option that a command has twice.
    let is_new = |option: &&Opt| COMMON.iter().all(|arg| arg != option.name);
    let all: Vec<Arg> = options
        .iter()
        .filter(is_new)
        .map(options::arg)
        .chain([schema])
        .collect();
    // Help has options in the order in which they are added: first those of the question.
    let command = Common::augment_args(command.args(all));
    if asks_names(&options) {
        // The shared argument has the help of questions to extracts, which does not apply to names.
        let names = |arg: Arg| arg.value_name("PATH").help("Folders, traces and extracts");
        let without_manifests = |arg: Arg| arg.help("Not here: names of recordings have no labels");
        let command = command
            .mut_arg("extracts", names)
            .mut_arg(WHERE, without_manifests);
        return CopyArgs::augment_args(command);
    }
    let merge = Arg::new(MERGE).long(MERGE).action(ArgAction::SetTrue);
    let merge = merge.help("One list over all extracts, which names the trace of each row");
    let has_merge = has_option(&options, MERGE) || question.is_of_all();
    let command = if has_merge {
        command
    } else {
        command.arg(merge)
    };
    if has_processes(&options) {
        ProcessOutput::augment_args(command)
    } else {
        command
    }
}

fn has_option(options: &[Opt], name: &str) -> bool {
    options.iter().any(|option| option.name == name)
}

/// True if the rows of a question have processes, so that these can be selected.
fn has_processes(options: &[Opt]) -> bool {
    has_option(options, "process")
}

/// True if a question is about names of recordings, so that it searches folders itself.
fn asks_names(options: &[Opt]) -> bool {
    has_option(options, "recursive")
}

impl Declared {
    /// Reads a question with the values from the command line.
    pub(super) fn read(
        question: &'static dyn AnyQuestion,
        matches: &ArgMatches,
    ) -> Result<Self, clap::Error> {
        let options = question.options();
        let values = options::values(&options, matches);
        // A user who requests a number of rows gets that many, however long the list becomes.
        let is_cut = |name: &str| name.starts_with("top") || name.starts_with("skip");
        let is_listed = has_option(&options, "top") && !values.keys().any(|name| is_cut(name));
        let mut common = Common::from_arg_matches(matches)?;
        common.most_rows = is_listed.then_some(MOST_ROWS);
        common.is_of_two = question.is_of_two();
        // Only one command has this option.
        if matches.try_contains_id(FINDING).unwrap_or(false) {
            common.finding_file = common.out.take();
        }
        let has_processes = has_processes(&options);
        let has_merge =
            !asks_names(&options) && !has_option(&options, MERGE) && !question.is_of_all();
        Ok(Self {
            common,
            question,
            processes: has_processes
                .then(|| ProcessOutput::from_arg_matches(matches))
                .transpose()?,
            merge: has_merge && matches.get_flag(MERGE),
            show_schema: matches.get_flag(SCHEMA),
            copy: asks_names(&options)
                .then(|| CopyArgs::from_arg_matches(matches))
                .transpose()?,
            values,
        })
    }
}

/// Runs the question and prints the answer.
pub(super) fn run(args: &Declared, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    run_as(args, &format!("dump {}", args.question.name()), printer)
}

/// Runs the question and prints the answer as the command with that name.
pub(super) fn run_as(
    args: &Declared,
    command: &str,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    let mut request = args.question.read(&args.values)?;
    let merge = args.merge || request.merges();
    check_tables(args, &*request, merge)?;
    if args.show_schema {
        return print_schemas(args.question, &*request, printer);
    }
    request.read_files(&DiskFiles)?;
    if args.common.show_sql {
        return show_sql(printer, &sql_of(args, &*request)?);
    }
    let printed = answer_printer::PrintedQuestion {
        common: &args.common,
        processes: args.processes.as_ref(),
        command,
        fields: &request.fields(),
        merge: merge.then(|| request.top()),
        request: &*request,
    };
    if let Some(answer) = ask_names(&*request, &args.common.extracts)? {
        return answered_to_names(args, &printed, printer, answer);
    }
    prepare(args, &*request, printer)?;
    let answer = |session: &Session| answer_of(&args.common, &*request, session);
    let (exit, asked) = if request.is_of_all() {
        answer_printer::answered_together(&printed, printer, answer)?
    } else {
        answer_printer::answered(&printed, printer, answer)?
    };
    if exit == Exit::Nothing && !asked.is_empty() {
        say_why_nothing(args, &*request, merge, &asked, printer)?;
    }
    Ok(exit)
}

/// Returns the SQL of a request, in the dialect of another engine if one is chosen.
fn sql_of(args: &Declared, request: &dyn AnyRequest) -> anyhow::Result<String> {
    let sql = request.show_sql();
    let sql = match args.common.dialect {
        Some(engine) => of_declared_question(engine, args.question, &sql)?,
        None => sql,
    };
    let top = request.top();
    let is_cut = top.skip > 0 || top.most().is_some();
    // Lists of single events are cut by the question itself, which may have very many of them.
    let cuts_itself = sql
        .lines()
        .last()
        .is_some_and(|line| line.starts_with("LIMIT "));
    let comment = if is_cut && !cuts_itself {
        WITHOUT_RANK
    } else {
        ""
    };
    Ok(format!("{comment}{sql}"))
}

/// Prints the answer about names of recordings, and copies these if that is requested.
fn answered_to_names(
    args: &Declared,
    printed: &answer_printer::PrintedQuestion<'_>,
    printer: &mut Printer<'_>,
    answer: Answer,
) -> anyhow::Result<Exit> {
    ensure!(
        args.common.chosen_by.condition.is_none(),
        "--where chooses among extracts, and this question reads names of files alone"
    );
    let exit = answer_printer::answered_to_names(printed, printer, answer)?;
    if let Some(copy) = &args.copy {
        copy.run(&args.common, printer)?;
    }
    Ok(exit)
}

/// Asks an extract for the answer, in the order in which it is printed.
fn answer_of(
    common: &Common,
    request: &dyn AnyRequest,
    session: &Session,
) -> etwkit_question::Result<Answer> {
    let answer = if common.is_text() {
        request.answer_for_people(session)?
    } else {
        request.answer_for_rows(session)?
    };
    // ETWAnalyzer has the largest at the end.
    Ok(if common.is_etwanalyzer() {
        answer.largest_first(false)
    } else {
        answer
    })
}

/// Prints the reason for an answer without rows.
fn say_why_nothing(
    args: &Declared,
    request: &dyn AnyRequest,
    merge: bool,
    asked: &[PathBuf],
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    let chosen = RowFilters::of(args.question, &args.values);
    let nothing = request.nothing_found().filter(|_| chosen.is_empty());
    match nothing {
        // The text of the answer says it already.
        Some(_) if args.common.is_text() && !merge => Ok(()),
        Some(found) if merge => nothing_together(args, found, asked.len(), printer),
        _ => explain(args, &chosen, asked, printer),
    }
}

/// Checks that options which need one table are not given for several.
fn check_tables(args: &Declared, request: &dyn AnyRequest, merge: bool) -> anyhow::Result<()> {
    let Some(how) = request.one_table() else {
        return Ok(());
    };
    let options = [
        ("--csv", args.common.csv.is_some()),
        ("--format", args.common.typed()?.is_some()),
        ("--column", args.common.column.is_some()),
        ("--merge", merge),
    ];
    match options.iter().find(|(_, is_asked)| *is_asked) {
        Some((option, _)) => bail!("{option} needs one table: {how}"),
        None => Ok(()),
    }
}

/// Prints the schemas of requests and rows.
fn print_schemas(
    question: &dyn AnyQuestion,
    request: &dyn AnyRequest,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    let of_request = request_schema(question);
    let of_row = row_schema(&request.fields());
    let schemas = json!({"request": of_request, "row": of_row});
    printer.block(&serde_json::to_string_pretty(&schemas)?)?;
    Ok(Exit::Answered)
}

/// Prints the reason why extracts have no row.
fn explain(
    args: &Declared,
    chosen: &RowFilters,
    asked: &[PathBuf],
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    // A comparison may name one extract as both sides.
    let mut asked = asked.to_vec();
    asked.dedup();
    let of = match asked.as_slice() {
        [one] => one.display().to_string(),
        several => format!("{} extracts", several.len()),
    };
    let looked_into = asked.get(..LOOKED_INTO).unwrap_or(&asked);
    let sentence = chosen.sentence(&of, || open_extracts(looked_into, printer))?;
    say_nothing(args, &sentence, printer)
}

/// Prints that extracts together have no row of a question for which this means something.
fn nothing_together(
    args: &Declared,
    found: &str,
    extracts: usize,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    let of = counted(extracts as u64, ["extract", "extracts"]);
    let sentence = format!("{found} in {of}; without --merge there is more about each");
    say_nothing(args, &sentence, printer)
}

/// Prints the sentence about an answer without rows.
fn say_nothing(args: &Declared, sentence: &str, printer: &mut Printer<'_>) -> anyhow::Result<()> {
    if args.common.json {
        printer.json(&json!({ "nothing": sentence }))?;
    }
    printer.note(sentence);
    Ok(())
}

/// Makes sure that extracts have the requested stack tags, and reads the descriptions of events.
/// Without any files of tags there is nothing to do, and extracts are searched only for the query
/// itself.
fn prepare(
    args: &Declared,
    request: &dyn AnyRequest,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    let extracts = match request.tagging() {
        Tagging::Derived(files) if !files.is_empty() => args.common.chosen(printer)?,
        _ => &[],
    };
    let Context { engine, mut asking } = printer.context();
    engine.prepare(&mut asking, extracts, request, printer.notes())?;
    printer.ask_with(asking);
    Ok(())
}
