//! Declared questions as commands: their options as arguments, their answers as text, JSON lines or CSV.

use anyhow::bail;
use clap::builder::{PossibleValuesParser, ValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
pub(super) use etwkit_engine::question;
use etwkit_engine::{DiskFiles, questions};
use etwkit_query::question::{AnyQuestion, Kind, Opt, Tagging, Values, request_schema, row_schema};
use serde_json::json;

use super::args::{Common, OUTPUT, ProcessOutput};
use super::cells;
use super::output::show_sql;
use crate::context::Context;
use crate::descriptions::DescriptionArgs;
use crate::exit::Exit;
use crate::printer::Printer;

/// The option of one list over all extracts.
const MERGE: &str = "merge";

/// Rows of a ranked list that fit a screen.
const MOST_ROWS: usize = 40;

/// The option that prints what requests and rows look like.
const SCHEMA: &str = "show-schema";

/// A declared question with its arguments.
pub(crate) struct Declared {
    pub(crate) common: Common,
    question: &'static dyn AnyQuestion,
    /// How processes are written, where rows have some.
    processes: Option<ProcessOutput>,
    /// One list over all extracts.
    merge: bool,
    /// Print the JSON schemas instead of the answer.
    show_schema: bool,
    /// Options that are given.
    values: Values,
    /// What describes the events that are asked for.
    pub(super) descriptions: Option<DescriptionArgs>,
}

impl std::fmt::Debug for Declared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Declared").field(&self.question.name()).field(&self.values).finish()
    }
}

/// All of them as commands.
pub(super) fn commands() -> impl Iterator<Item = Command> {
    questions().map(command)
}

fn command(question: &'static dyn AnyQuestion) -> Command {
    let command = Command::new(question.name());
    let command = command.visible_aliases(question.aliases().iter().copied());
    // Groups of arguments have sentences of their own, which take the place of this one.
    arguments(question, command).about(question.sentence())
}

/// A command with the options of a question.
pub(super) fn arguments(question: &'static dyn AnyQuestion, command: Command) -> Command {
    let options = question.options();
    let merge = Arg::new(MERGE).long(MERGE).action(ArgAction::SetTrue);
    let merge = merge.help("One list over all extracts, which names the trace of each row");
    let merge = Some(merge).filter(|_| !has_option(&options, MERGE));
    let schema = Arg::new(SCHEMA).long(SCHEMA).action(ArgAction::SetTrue).help_heading(OUTPUT);
    let schema = schema.help("Print JSON schemas of requests and rows instead of the answer");
    let all = options.iter().map(arg).chain(merge).chain([schema]);
    let command = all.fold(Common::augment_args(command), Command::arg);
    if has_processes(&options) { ProcessOutput::augment_args(command) } else { command }
}

fn has_option(options: &[Opt], name: &str) -> bool {
    options.iter().any(|option| option.name == name)
}

/// Whether rows of a question are of processes, so that these can be chosen.
fn has_processes(options: &[Opt]) -> bool {
    has_option(options, "process")
}

/// An option as an argument.
fn arg(option: &Opt) -> Arg {
    let arg = Arg::new(option.name).long(option.name).help(option.sentence);
    let arg = match &option.kind {
        Kind::Flag => arg.action(ArgAction::SetTrue),
        Kind::Text => arg
            .allow_hyphen_values(matches!(option.value_name, "NUMBERS" | "IDS" | "A..B" | "TIME"))
            .allow_negative_numbers(option.value_name == "STATUS"),
        Kind::Words(words) => arg.value_parser(PossibleValuesParser::new(words.iter().copied())),
        Kind::Several(words) => {
            let words = PossibleValuesParser::new(words.iter().copied());
            arg.action(ArgAction::Append).value_delimiter(',').value_parser(words)
        }
        Kind::Range(_) => arg.allow_hyphen_values(true),
        Kind::Whole(least, most) => arg
            .allow_negative_numbers(*least < 0)
            .value_parser(ValueParser::from(clap::value_parser!(i64).range(*least..=*most))),
        Kind::Number => arg.value_parser(clap::value_parser!(f64)),
        Kind::Files => arg.action(ArgAction::Append),
    };
    let arg = if option.kind == Kind::Flag { arg } else { arg.value_name(option.value_name) };
    let arg = option.alone.into_iter().fold(arg, |arg, value| {
        arg.num_args(0..=1).require_equals(!option.is_apart).default_missing_value(value)
    });
    let arg = option.default.iter().fold(arg, |arg, default| arg.default_value(default.clone()));
    let arg = arg.conflicts_with_all(option.excludes);
    let arg = option.requires.into_iter().fold(arg, Arg::requires);
    let arg = arg.visible_aliases(option.also.iter().copied());
    let arg = if option.is_required { arg.required_unless_present(SCHEMA) } else { arg };
    match option.heading {
        Some(heading) => arg.help_heading(heading),
        None if option.is_output() => arg.help_heading(OUTPUT),
        None => arg,
    }
}

impl Declared {
    /// The question with what was given on the command line.
    pub(super) fn read(
        question: &'static dyn AnyQuestion,
        matches: &ArgMatches,
    ) -> Result<Self, clap::Error> {
        let options = question.options();
        let mut values = Values::new();
        for option in &options {
            if matches.value_source(option.name) != Some(ValueSource::CommandLine) {
                continue;
            }
            let given = matches.get_raw(option.name).into_iter().flatten();
            let given: Vec<_> = given.map(|text| text.to_string_lossy()).collect();
            let value = match option.kind {
                Kind::Flag => true.into(),
                Kind::Files => given.iter().map(ToString::to_string).collect::<Vec<_>>().into(),
                _ => given.join(",").into(),
            };
            values.insert(option.name.to_owned(), value);
        }
        let processes =
            has_processes(&options).then(|| ProcessOutput::from_arg_matches(matches)).transpose()?;
        let mut common = Common::from_arg_matches(matches)?;
        let is_cut = |name: &str| name.starts_with("top") || name.starts_with("skip");
        common.most_rows =
            (has_option(&options, "top") && !values.keys().any(|name| is_cut(name))).then_some(MOST_ROWS);
        let request = question.read(&values).ok();
        let described = request.as_ref().and_then(|request| request.descriptions());
        Ok(Self {
            descriptions: described.map(DescriptionArgs::of),
            common,
            question,
            processes,
            merge: !has_option(&options, MERGE) && matches.get_flag(MERGE),
            show_schema: matches.get_flag(SCHEMA),
            values,
        })
    }
}

/// Asks and prints.
pub(super) fn run(args: &Declared, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    run_as(args, &format!("dump {}", args.question.name()), printer)
}

/// Asks and prints for the command of that name.
pub(super) fn run_as(args: &Declared, command: &str, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let mut request = args.question.read(&args.values)?;
    let merge = args.merge || request.merges();
    if let Some(how) = request.one_table() {
        let options = [
            ("--csv", args.common.csv.is_some()),
            ("--column", args.common.column.is_some()),
            ("--merge", merge),
        ];
        if let Some((option, _)) = options.iter().find(|(_, is_asked)| *is_asked) {
            bail!("{option} needs one table: {how}");
        }
    }
    if args.show_schema {
        let (request, row) = (request_schema(args.question), row_schema(&request.fields()));
        let text = serde_json::to_string_pretty(&json!({"request": request, "row": row}))?;
        printer.block(&text)?;
        return Ok(Exit::Answered);
    }
    request.read_files(&DiskFiles)?;
    if args.common.show_sql {
        return show_sql(printer, &request.show_sql());
    }
    tag(args, request.tagging(), printer)?;
    let is_text = !args.common.json && args.common.csv.is_none();
    let asking = cells::Asking {
        common: &args.common,
        processes: args.processes.as_ref(),
        command,
        fields: &request.fields(),
        merge: merge.then(|| request.top()),
        request: &*request,
    };
    cells::answered(&asking, printer, |session| {
        let answer = if is_text { request.answer_for_people(session) } else { request.answer(session) };
        // ETWAnalyzer has the largest at the end.
        answer.map(|answer| if args.common.is_etwanalyzer() { answer.largest_first(false) } else { answer })
    })
}

/// Makes sure that extracts have the stack tags that are asked for. Where no file names any there is nothing
/// to do, and extracts are looked for only when they are asked.
fn tag(args: &Declared, tagging: Tagging<'_>, printer: &mut Printer<'_>) -> anyhow::Result<()> {
    let extracts = match tagging {
        Tagging::Derived(files) if !files.is_empty() => args.common.chosen()?,
        _ => [].as_slice().into(),
    };
    let Context { engine, mut asking } = printer.context();
    engine.tag(&mut asking, tagging, &extracts, printer.notes())?;
    printer.ask_with(asking);
    Ok(())
}
