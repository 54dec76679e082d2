//! `-help`.

use crate::small::{CONVERT_TIME, LOAD_SYMBOL, QUIET};
use crate::switch::{Switch, To};
use crate::{console, convert, csv, extract, tables};

/// Returns the help of all commands, or the switches of the command or sub command of `-dump` that
/// the words name.
pub(crate) fn text(words: &[String]) -> String {
    let dump = words.iter().find_map(|word| tables::dump(word));
    let has = |name: &str| {
        words
            .iter()
            .any(|word| word.trim_start_matches('-').eq_ignore_ascii_case(name))
    };
    match (dump, SMALL.iter().find(|small| has(small.name))) {
        (Some(dump), _) => sub_command(dump),
        (None, Some(small)) => switches(
            &format!("-{}", small.name),
            small.native,
            small.switches,
            small.general.iter().copied(),
        ),
        (None, None) => all(),
    }
}

fn all() -> String {
    let names: Vec<&str> = tables::DUMPS
        .iter()
        .filter_map(|dump| dump.names.first())
        .copied()
        .collect();
    format!(
        "\
etwkit understands the command lines of ETWAnalyzer. Its own commands are listed by: etwkit --help

  -extract all -fd FILE|FOLDER|QUERY   extracts each trace into the folder Extract next to it
  -dump WHAT -fd FILE|FOLDER|QUERY     queries extracts: {}
  -dump WHAT -help                     the switches of that command
  -dump WHAT ... -debug                also prints the etwkit command line
  -loadsymbol -fd FILE -symserver MS   loads missing names of methods
  -converttime -fd FILE -time TIME     converts clock times to seconds of the trace, and back
  -convert -fd TRACE -pid N            writes a profile for speedscope
  -console [FILE|FOLDER|QUERY ...]     asks several questions in a row
  -help COMMAND                        the switches of extract, loadsymbol, converttime, convert, console",
        names.join(" ")
    )
}

fn sub_command(dump: &tables::Dump) -> String {
    let name = dump.names.first().copied().unwrap_or("");
    let has_csv = csv::is_known(dump.native);
    let general = GENERAL.iter().map(|(names, meaning)| match *names {
        "-csv" | "-nocsvseparator" if !has_csv => {
            (*names, "changes nothing: there is no file of it")
        }
        _ => (*names, *meaning),
    });
    switches(
        &format!("-dump {name}"),
        &format!("dump {}", dump.native),
        dump.switches,
        general,
    )
}

/// Returns the switches of a command, each with its translation.
fn switches<'m>(
    command: &str,
    native: &str,
    tables: &[&[Switch]],
    general: impl Iterator<Item = (&'m str, &'m str)>,
) -> String {
    let mut lines: Vec<String> = tables.iter().copied().flatten().map(line).collect();
    lines.extend(general.map(|(names, meaning)| aligned(names, meaning)));
    lines.sort();
    let title =
        format!("Switches of {command}; what they do is described by: etwkit {native} --help");
    format!("{title}\n{}", lines.join("\n"))
}

/// A command other than `-dump`.
struct Small {
    name: &'static str,
    /// Our command.
    native: &'static str,
    switches: &'static [&'static [Switch]],
    /// Switches that are in no table: for input files and output.
    general: &'static [(&'static str, &'static str)],
}

static SMALL: &[Small] = &[
    Small {
        name: "extract",
        native: "extract",
        switches: &[extract::SWITCHES, tables::shared::TESTS],
        general: &[
            (
                "ACTION...",
                "what is to be extracted; an extract holds all that the trace has in any case",
            ),
            ("-filedir -fd -dir", "traces and archives"),
            ("-recursive", "also search subfolders"),
            ("-outdir", "--out"),
            ("-extractregion", "--range, a file for each"),
            ("-dryrun", "lists the traces only"),
        ],
    },
    Small {
        name: "loadsymbol",
        native: "symbols load",
        switches: &[LOAD_SYMBOL, QUIET],
        general: &[
            ("-filedir -fd -dir", "extracts"),
            ("-recursive", "also search subfolders"),
        ],
    },
    Small {
        name: "converttime",
        native: "dump time",
        switches: &[CONVERT_TIME, QUIET],
        general: &[
            ("-filedir -fd -dir", "traces and extracts"),
            ("-recursive", "also search subfolders"),
        ],
    },
    Small {
        name: "convert",
        native: "export",
        switches: &[convert::SWITCHES],
        general: &[
            (
                "-filedir -fd -dir",
                "traces and extracts; each becomes a file of its own",
            ),
            ("-recursive", "also search subfolders"),
            ("-debug", "also print the etwkit command line"),
        ],
    },
    Small {
        name: "console",
        native: "console",
        switches: &[console::SWITCHES],
        general: &[
            ("FILE...", "traces and extracts to open first"),
            ("-filedir -fd -dir", "the same"),
            ("-recursive", "also search subfolders"),
        ],
    },
];

/// Switches of all sub commands for input files and output.
const GENERAL: [(&str, &str); 5] = [
    ("-filedir -fd -dir", "traces and extracts"),
    ("-recursive", "also search subfolders"),
    ("-csv", "a file of rows"),
    (
        "-nocsvseparator",
        "without the line that names the separator for Excel",
    ),
    ("-debug", "also print the etwkit command line"),
];

fn line(switch: &Switch) -> String {
    let names: Vec<String> = switch.names.iter().map(|name| format!("-{name}")).collect();
    let meaning = match switch.to {
        To::Flag(option)
        | To::Text(option)
        | To::Number(option)
        | To::Maybe(option)
        | To::Range(option) => option.to_owned(),
        To::Word(option, _) | To::MaybeWord(option, _) | To::Top(option, None) => option.to_owned(),
        To::Top(option, Some(skip)) => format!("{option} {skip}"),
        To::Special(_) => String::new(),
        To::Nothing(_, why) => format!("changes nothing: {why}"),
        To::Missing(why) => format!("is not there: {why}"),
    };
    aligned(&names.join(" "), &meaning)
}

fn aligned(names: &str, meaning: &str) -> String {
    format!("  {names:<28}  {meaning}")
}
