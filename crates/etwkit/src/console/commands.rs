//! Commands that only a console has, and commands of ETWAnalyzer for the loaded files.

use std::ffi::OsString;

use anyhow::{Context, bail, ensure};
use clap::CommandFactory;
use etwkit_compat::{Find, Plan, console as etwanalyzer};
use etwkit_terminal::{Exit, Table};

use super::directory;
use super::state::Console;
use super::words::behind_first;
use crate::cli::Cli;
use crate::compat::carry_out;
use crate::printer::Printer;

/// A line that begins with a command.
#[derive(Debug)]
pub(super) struct CommandLine<'l> {
    /// As it was typed.
    pub(super) line: &'l str,
    /// Words after the command.
    pub(super) words: &'l [String],
}

/// Carries out a line.
type Run = fn(&mut Console, &CommandLine<'_>, &mut Printer<'_>) -> anyhow::Result<Exit>;

/// A command.
pub(super) struct Dot {
    /// Its names; the first one is listed.
    pub(super) names: &'static [&'static str],
    /// Arguments that it accepts.
    args: &'static str,
    help: &'static str,
    pub(super) run: Run,
}

/// All commands except the ones that leave.
pub(super) const COMMANDS: &[Dot] = &[
    Dot {
        names: &[".load"],
        args: "[-all] [-r] FILE|FOLDER|QUERY…",
        help: "loads these in place of the loaded files; -all reads the data of most questions now, -r also searches subfolders",
        run: |console, asked, printer| load(console, asked, false, printer),
    },
    Dot {
        names: &[".load+"],
        args: "[-all] [-r] FILE|FOLDER|QUERY…",
        help: "also loads these",
        run: |console, asked, printer| load(console, asked, true, printer),
    },
    Dot {
        names: &[".unload"],
        args: "[FILE|QUERY…]",
        help: "forgets these, or all",
        run: |console, asked, printer| {
            console.set.borrow_mut().unload(asked.words, printer)?;
            Ok(Exit::Answered)
        },
    },
    Dot {
        names: &[".list"],
        args: "",
        help: "what is loaded",
        run: |console, _, printer| {
            console.set.borrow().list(printer)?;
            Ok(Exit::Answered)
        },
    },
    Dot {
        names: &[".dump"],
        args: "WHAT [-fd FILE|QUERY] …",
        help: "-dump of ETWAnalyzer over what is loaded, or what of it -fd names",
        run: |console, asked, printer| over(console, asked, printer, etwanalyzer::dump),
    },
    Dot {
        names: &[".converttime"],
        args: "-time TIME [-fd FILE|QUERY]",
        help: "converts a clock time to seconds of the loaded files, and back",
        run: |console, asked, printer| over(console, asked, printer, etwanalyzer::convert_time),
    },
    Dot {
        names: &[".sql"],
        args: "SQL",
        help: "asks what is loaded in SQL; the rest of the line is the question, without quotes",
        run: sql,
    },
    Dot {
        names: &[".dir"],
        args: "[-r] [-od] [FOLDER|QUERY]",
        help: "lists files; -od by date, -r also in subfolders",
        run: |_, asked, printer| directory::list(asked.words, printer),
    },
    Dot {
        names: &[".cd"],
        args: "[FOLDER]",
        help: "changes the current folder, or shows it",
        run: cd,
    },
    Dot {
        names: &[".cls"],
        args: "",
        help: "clears the screen",
        run: clear,
    },
    Dot {
        names: &[".clip"],
        args: "[0|1]",
        help: "whether lines are cut at the width of the terminal",
        run: |console, asked, printer| answer(console.settings.clip(asked.words), printer),
    },
    Dot {
        names: &[".sffn"],
        args: "",
        help: "whether whole paths of extracts are shown",
        run: |console, _, printer| answer(Ok(console.settings.full_names()), printer),
    },
    Dot {
        names: &[".timefmt"],
        args: "[FORMAT [DIGITS]]",
        help: "how all dumps write times: s, local, localtime, utc, utctime, here, heretime",
        run: |console, asked, printer| answer(console.settings.time_format(asked.words), printer),
    },
    Dot {
        names: &[".timedigits"],
        args: "[N]",
        help: "digits of a second in all dumps",
        run: |console, asked, printer| answer(console.settings.time_digits(asked.words), printer),
    },
    Dot {
        names: &[".processfmt"],
        args: "[FORMAT]",
        help: "start and end after processes in all dumps: none or a time format",
        run: |console, asked, printer| {
            answer(console.settings.process_format(asked.words), printer)
        },
    },
    Dot {
        names: &[".help", "help", "?", ".?"],
        args: "[COMMAND]",
        help: "this list, or what a command understands: .help dump cpu",
        run: help,
    },
];

/// Words that leave the console.
pub(super) const LEAVE: [&str; 6] = [".quit", ".q", "q", "quit", ".exit", "exit"];

/// True if a line with this first word leaves the console.
pub(super) fn leaves(first: &str) -> bool {
    LEAVE.iter().any(|word| first.eq_ignore_ascii_case(word))
}

/// Returns the command of that name.
pub(super) fn find(first: &str) -> Option<&'static Dot> {
    COMMANDS.iter().find(|dot| {
        dot.names
            .iter()
            .any(|name| first.eq_ignore_ascii_case(name))
    })
}

fn load(
    console: &Console,
    asked: &CommandLine<'_>,
    keeps: bool,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    let mut reads_now = false;
    let mut is_recursive = false;
    let mut queries = Vec::new();
    for word in asked.words {
        match word.to_lowercase().as_str() {
            "-all" => reads_now = true,
            "-r" | "-rec" | "-recursive" => is_recursive = true,
            "-fd" | "-filedir" => {}
            switch if switch.starts_with('-') => bail!("there is no switch {word} of .load"),
            _ => queries.push(word.clone()),
        }
    }
    let mut set = console.set.borrow_mut();
    set.load(&queries, is_recursive, keeps, printer)?;
    if reads_now {
        set.read_now(printer)?;
    }
    Ok(Exit::Answered)
}

/// Creates the plan of an ETWAnalyzer command from its words and a function that finds files.
type OfEtwAnalyzer = fn(&[String], Find<'_>) -> anyhow::Result<Plan>;

fn over(
    console: &Console,
    asked: &CommandLine<'_>,
    printer: &mut Printer<'_>,
    plan: OfEtwAnalyzer,
) -> anyhow::Result<Exit> {
    // Notes about the search for files come before the notes of the answer.
    let mut quiet = std::io::sink();
    let notes = std::cell::RefCell::new(Printer::new(&mut quiet).with_context(printer.context()));
    let find = |queries: &[String], _| {
        console
            .set
            .borrow_mut()
            .choose(queries, &mut notes.borrow_mut())
    };
    let adjust = |args: &mut Vec<OsString>| {
        console.settings.add(args);
    };
    let exit = plan(asked.words, &find).and_then(|plan| carry_out(plan, &adjust, printer));
    let found = notes.borrow_mut().take_notes();
    printer.notes().splice(0..0, found);
    exit
}

fn sql(
    console: &mut Console,
    asked: &CommandLine<'_>,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    let text = behind_first(asked.line);
    ensure!(
        !text.is_empty(),
        ".sql needs a question: .sql SELECT count(*) FROM process"
    );
    // SQL does not start with a quote unless the user quoted it as for a shell.
    let quoted = ['"', '\'']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    console.ours(
        vec!["sql".into(), "--".into(), quoted.unwrap_or(text).into()],
        printer,
    )
}

fn cd(_: &mut Console, asked: &CommandLine<'_>, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if let Some(folder) = asked.words.first() {
        let folder = etwanalyzer::path(folder);
        std::env::set_current_dir(&folder)
            .with_context(|| format!("cannot go to {}", folder.display()))?;
    }
    printer.line(&std::env::current_dir()?.display().to_string())?;
    Ok(Exit::Answered)
}

fn clear(console: &mut Console, _: &CommandLine<'_>, _: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if console.is_interactive {
        ::console::Term::stdout().clear_screen()?;
    }
    Ok(Exit::Answered)
}

fn answer(what: anyhow::Result<String>, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    printer.line(&what?)?;
    Ok(Exit::Answered)
}

/// Prints the commands, or the help of ETWAnalyzer's subcommand or of our command with the given
/// name.
fn help(
    _: &mut Console,
    asked: &CommandLine<'_>,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    if let Some(first) = asked.words.first() {
        return help_about(first, asked.words, printer);
    }
    let mut table = Table::pairs();
    for dot in COMMANDS {
        table.row([
            format!("{} {}", dot.names.join(" "), dot.args),
            dot.help.to_owned(),
        ]);
    }
    table.row([
        LEAVE.join(" "),
        "leaves; so does the end of the input".to_owned(),
    ]);
    printer.table(&table)?;
    printer.heading("Commands of etwkit, which ask what is loaded unless they name files:")?;
    let ours = Cli::command();
    let mut table = Table::pairs();
    for command in ours
        .get_subcommands()
        .filter(|command| command.get_name() != "console")
    {
        let about = command
            .get_about()
            .map_or_else(String::new, ToString::to_string);
        table.row([command.get_name().to_owned(), about]);
    }
    printer.table(&table)?;
    Ok(Exit::Answered)
}

/// Prints the help of a dump of ETWAnalyzer, of a command of the console, or of a command of ours.
fn help_about(first: &str, words: &[String], printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if etwanalyzer::dumps().any(|dump| first.eq_ignore_ascii_case(dump)) {
        let words = [first.to_owned(), "-help".to_owned()];
        let plan = etwanalyzer::dump(&words, &|_, _| Ok(Vec::new()))?;
        return carry_out(plan, &|_| {}, printer);
    }
    if let Some(dot) = find(first) {
        printer.line(&format!("{} {}", dot.names.join(" "), dot.args))?;
        printer.line(&format!("  {}", dot.help))?;
        return Ok(Exit::Answered);
    }
    let words = words.iter().map(String::as_str);
    let args = ["etwkit"].into_iter().chain(words).chain(["--help"]);
    let args: Vec<OsString> = args.map(Into::into).collect();
    crate::line(&args, printer)
}
