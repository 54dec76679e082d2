//! `-help`.

use super::switch::{Switch, To};
use super::{console, convert, tables};
use crate::exit::Exit;
use crate::printer::Printer;

/// The commands, or the switches of a sub command of `-dump`.
pub(super) fn print(words: &[String], printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let dump = words.iter().find_map(|word| tables::dump(word));
    let has = |name: &str| words.iter().any(|word| word.trim_start_matches('-').eq_ignore_ascii_case(name));
    match dump {
        Some(dump) => sub_command(dump, printer)?,
        None if has("convert") => small("convert", convert::SWITCHES, CONVERT, printer)?,
        None if has("console") => small("console", console::SWITCHES, CONSOLE, printer)?,
        None => all(printer)?,
    }
    Ok(Exit::Answered)
}

fn all(printer: &mut Printer<'_>) -> anyhow::Result<()> {
    let names: Vec<&str> = tables::DUMPS.iter().filter_map(|dump| dump.names.first()).copied().collect();
    printer.block(&format!(
        "\
etwkit understands the command lines of ETWAnalyzer. Its own commands are listed by: etwkit --help

  -extract all -fd FILE|FOLDER|QUERY   makes an extract of each trace in the folder Extract beside it
  -dump WHAT -fd FILE|FOLDER|QUERY     asks extracts: {}
  -dump WHAT -help                     the switches of that command
  -dump WHAT ... -debug                prints what the line is in our own words, too
  -convert -fd TRACE -pid N            writes a profile for speedscope
  -console [FILE|FOLDER|QUERY ...]     asks one question after the other",
        names.join(" ")
    ))?;
    Ok(())
}

fn sub_command(dump: &tables::Dump, printer: &mut Printer<'_>) -> anyhow::Result<()> {
    let name = dump.names.first().copied().unwrap_or_default();
    printer.line(&format!(
        "Switches of -dump {name}; what they do is described by: etwkit dump {} --help",
        dump.native
    ))?;
    let mut lines: Vec<String> = dump.switches.iter().flat_map(|table| table.iter()).map(line).collect();
    let has_csv = super::csv::is_known(dump.native);
    lines.extend(GENERAL.map(|(names, meaning)| match names {
        "-csv" | "-nocsvseparator" if !has_csv => aligned(names, "changes nothing: there is no file of it"),
        _ => aligned(names, meaning),
    }));
    lines.sort();
    lines.iter().try_for_each(|line| printer.line(line))?;
    Ok(())
}

/// Switches of a command that is no dump.
fn small(
    name: &str,
    switches: &[Switch],
    general: [(&str, &str); 3],
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    let ours = if name == "convert" { "export" } else { name };
    printer.line(&format!("Switches of -{name}; what they do is described by: etwkit {ours} --help"))?;
    let mut lines: Vec<String> = switches.iter().map(line).collect();
    lines.extend(general.map(|(names, meaning)| aligned(names, meaning)));
    lines.sort();
    lines.iter().try_for_each(|line| printer.line(line))?;
    Ok(())
}

const CONVERT: [(&str, &str); 3] = [
    ("-filedir -fd -dir", "traces and extracts; each becomes a file of its own"),
    ("-recursive", "folders in folders, too"),
    ("-debug", "what the line is in our own words, too"),
];

const CONSOLE: [(&str, &str); 3] = [
    ("FILE...", "traces and extracts to begin with"),
    ("-filedir -fd -dir", "the same"),
    ("-recursive", "folders in folders, too"),
];

/// Switches of all sub commands that say what is asked and what is written.
const GENERAL: [(&str, &str); 5] = [
    ("-filedir -fd -dir", "traces and extracts"),
    ("-recursive", "folders in folders, too"),
    ("-csv", "a file of rows"),
    ("-nocsvseparator", "without the line that tells Excel the separator"),
    ("-debug", "what the line is in our own words, too"),
];

fn line(switch: &Switch) -> String {
    let names: Vec<String> = switch.names.iter().map(|name| format!("-{name}")).collect();
    let meaning = match switch.to {
        To::Flag(option) | To::Text(option) | To::Number(option) | To::Maybe(option) | To::Range(option) => {
            option.to_owned()
        }
        To::Word(option, _) | To::Top(option, None) => option.to_owned(),
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
