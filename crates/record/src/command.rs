//! `etwkit record`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use etwkit_base::shell;
use etwkit_terminal::errors::advised;
use etwkit_terminal::{Align, Exit, Lines, Table};

use crate::args::{
    BootArgs, MarkArgs, NowArgs, ProfilesArgs, RecordArgs, RecordCommand, StartArgs, StopArgs,
};
use crate::facts;
use crate::line;
use crate::listen;
use crate::now;
use crate::profiles::{self, ELSEWHERE, FILE_NAME, PROFILES, Profile, WPRP};
use crate::recording::Machine;
use crate::step::{Step, literal};
use crate::{pictures, rotate, script, steps, wprp};

/// Runs the command on a machine and prints its result.
///
/// # Errors
/// A name is wrong, a recorder cannot do it, or nothing can be printed. The error reports the
/// recordings so far.
pub fn run(args: &RecordArgs, machine: &mut Machine<'_>, lines: &mut Lines<'_>) -> Result<Exit> {
    let is_here = machine.is_windows && !args.script;
    match &args.command {
        RecordCommand::Profiles(args) => return list(args, lines),
        RecordCommand::Check(args) => return wprp::show(args, lines),
        RecordCommand::Now(args) if is_here => return now::now(args, machine, lines),
        RecordCommand::Start(args) if is_here && args.rotate.is_some() => {
            return rotate::rotate(args, machine, lines);
        }
        RecordCommand::Start(args) if is_here => return start(args, machine, lines),
        RecordCommand::Stop(args) if is_here => stop(args, machine, lines)?,
        RecordCommand::Cancel(args) if is_here => cancel(args, machine, lines)?,
        RecordCommand::Wpr(args) => {
            return verbatim(&line::read("wpr", &args.args)?, is_here, machine, lines);
        }
        RecordCommand::Xperf(args) => {
            return verbatim(&line::read("xperf", &args.args)?, is_here, machine, lines);
        }
        RecordCommand::Now(args) => print_now(args, lines)?,
        RecordCommand::Start(args) => print_start(args, lines)?,
        RecordCommand::Stop(args) => print_stop(args, lines)?,
        RecordCommand::Cancel(args) => script::print(&[steps::cancel(args)], NO_NOTES, lines)?,
        RecordCommand::Status => return one(&steps::status(), is_here, machine, lines),
        RecordCommand::Counters => return one(&steps::counters(), is_here, machine, lines),
        RecordCommand::Sessions => return one(&steps::sessions(), is_here, machine, lines),
        RecordCommand::Mark(args) if is_here => return listen::mark(args, machine, lines),
        RecordCommand::Listen(args) if is_here => return listen::listen(args, machine, lines),
        RecordCommand::Mark(args) if args.also.is_empty() => print_mark(args, lines)?,
        RecordCommand::Mark(_) => return Err(no_script("--also")),
        RecordCommand::Listen(_) => return Err(no_script("listen")),
    }
    Ok(Exit::Answered)
}

/// A script without notes.
const NO_NOTES: &[&str] = &[];

/// Returns the error for something that this program does itself, so no script can do it.
fn no_script(what: &str) -> anyhow::Error {
    advised(
        format!("{what} works only on Windows, and not as a script"),
        "run the same line on the machine that is recorded, without --script",
    )
}

/// Note about the file of the profiles of etwkit.
const OWN_PROFILES: &str =
    "etwkit.wprp has to be in the same folder: `etwkit record profiles --write FOLDER` writes it.";

/// Note about `--for` with a command.
const NO_LIMIT: &str = "The recording ends with the command: only `etwkit record now` on Windows also ends it \
    after the time of --for.";

/// Throws the recording away, with its pictures.
fn cancel(args: &BootArgs, machine: &mut Machine<'_>, lines: &mut Lines<'_>) -> Result<()> {
    machine.cancel(args)?;
    machine.forget_pictures();
    machine.unwatch();
    lines.line("The recording was thrown away")?;
    Ok(())
}

/// Prints the script that starts a recording.
fn print_start(args: &StartArgs, lines: &mut Lines<'_>) -> Result<()> {
    if args.rotate.is_some() {
        return Err(no_script("--rotate"));
    }
    let mut names = args.profiles.iter();
    let is_own = names.any(|name| profiles::find(name).is_some());
    let notes: &[&str] = if is_own {
        &[OWN_PROFILES, SYMBOL_FILES]
    } else {
        &[SYMBOL_FILES]
    };
    script::print(&start_lines(args)?, notes, lines)
}

/// Returns the lines of a script that start a recording.
fn start_lines(args: &StartArgs) -> Result<Vec<Step>> {
    let steps = steps::start(args, Path::new(""))?;
    Ok(steps.into_iter().map(Step::into_script).collect())
}

/// Prints the script that stops a recording.
fn print_stop(args: &StopArgs, lines: &mut Lines<'_>) -> Result<()> {
    let file = file_of(args);
    let mut all = vec![steps::stop(args, &file)];
    if args.zip {
        all.push(pack(file));
    }
    let interval =
        "Where the start set the interval of CPU samples, `wpr -resetprofint` restores it.";
    let mut notes = vec![interval.to_owned()];
    if args.extract {
        notes.push(format!("Afterwards: {}", extract_line(&[], "FILE")));
    }
    script::print(&all, &notes, lines)
}

fn pack(file: String) -> Step {
    let options = ["-a", "-c", "-f"].map(str::to_owned).into_iter();
    Step {
        program: "tar",
        args: options.chain([format!("{file}.zip"), file]).collect(),
        why: "Packs the recording; Windows has tar since version 10 1803.".to_owned(),
    }
}

/// Prints the script that sets a mark.
fn print_mark(args: &MarkArgs, lines: &mut Lines<'_>) -> Result<()> {
    let mut all = vec![steps::mark(&literal(&args.text))];
    if args.picture {
        all.push(pictures::step("Screenshot.jpg"));
    }
    script::print(&all, NO_NOTES, lines)
}

/// Prints the script of a recording from start to stop.
fn print_now(args: &NowArgs, lines: &mut Lines<'_>) -> Result<()> {
    let target = now::target(args);
    let start = start_lines(&StartArgs::of(args.profiles.clone()))?;
    let stop = steps::stop(&target, &file_of(&target));
    let mut notes = vec![OWN_PROFILES.to_owned()];
    if !args.symbols.is_empty() {
        notes.push(format!(
            "Afterwards: {}",
            extract_line(&args.symbols, "FILE")
        ));
    }
    notes.push("Afterwards: etwkit diagnose FILE".to_owned());
    if args.time.is_some() && !args.command.is_empty() {
        notes.push(NO_LIMIT.to_owned());
    }
    script::print_recording(&start, &steps::recorded(args), &stop, &notes, lines)
}

/// Returns the command line that extracts a recording with these places of symbol files.
#[must_use]
pub fn extract_line(symbols: &[String], file: &str) -> String {
    let places = symbols
        .iter()
        .flat_map(|place| ["--symbols", place.as_str()]);
    let words = ["etwkit", "extract"].into_iter().chain(places);
    shell::joined(words.chain([file]))
}

/// The file of a recording in a script. Its name has no time: the form of `%DATE%` depends on the
/// language of Windows.
fn file_of(args: &StopArgs) -> String {
    let name = literal(&args.name);
    if steps::ends_with(&name, ".etl") {
        name
    } else {
        format!("{name}_%COMPUTERNAME%.etl")
    }
}

/// Note about a part of `stop` that users do not expect.
const SYMBOL_FILES: &str = "stop also makes symbol files of precompiled .NET code: 10 to 60 minutes after an \
    update of .NET, unless it has --no-native-pdb (-skipPdbGen)";

/// Starts a recording. Ctrl-C during the start stops a recording that has already begun, which
/// would otherwise continue unnoticed.
fn start(args: &StartArgs, machine: &mut Machine<'_>, lines: &mut Lines<'_>) -> Result<Exit> {
    // From here on Ctrl-C is polled and does not end this program.
    if !machine.clock.pause(Duration::ZERO) {
        return Ok(Exit::Interrupted);
    }
    let warning = machine.start(args)?;
    if !machine.clock.pause(Duration::ZERO) {
        let cancelled = machine.cancel(&BootArgs { boot: args.boot });
        cancelled.context("something is still being recorded, `etwkit record cancel` ends it")?;
        lines.line("Ctrl-C while the recording started: it was ended again and thrown away")?;
        return Ok(Exit::Interrupted);
    }
    if let Some(warning) = warning {
        lines.labelled(&format!("warning: {warning}"))?;
    }
    for note in steps::defaults(&args.profiles) {
        lines.labelled(&format!("note: {note}"))?;
    }
    lines.line(if args.boot {
        "The next start of Windows is recorded"
    } else {
        "Recording"
    })?;
    let boot = if args.boot { " --boot" } else { "" };
    lines.labelled(&format!(
        "hint: `etwkit record stop NAME{boot}` ends it and writes the file"
    ))?;
    lines.labelled(&format!("note: {SYMBOL_FILES}"))?;
    Ok(Exit::Answered)
}

/// Stops the recording and writes its additional files next to it.
pub(crate) fn stop(
    args: &StopArgs,
    machine: &mut Machine<'_>,
    lines: &mut Lines<'_>,
) -> Result<()> {
    if !args.boot {
        // Queried before the stop: afterwards the sessions of the recording itself are gone.
        machine.see_sessions();
        if let Some(change) = machine.change() {
            lines.labelled(&format!("warning: {change}"))?;
        }
    }
    let file = machine.stop(args)?;
    machine.written = Some(file.clone());
    lines.line(&format!("Recorded {}", file.display()))?;
    // The recording is complete, even if a later step fails.
    match machine.move_pictures(&facts::unpacked(&file)) {
        Ok(0) => {}
        Ok(count) => lines.line(&format!("Pictures of the screen next to it: {count}"))?,
        Err(error) => lines.labelled(&format!("warning: {error:#}"))?,
    }
    match machine.write_facts(args, &file) {
        Ok(None) => {}
        Ok(Some(facts)) => lines.line(&format!(
            "Next to it are {facts} facts about the machine, which `etwkit extract` takes in"
        ))?,
        Err(error) => {
            lines.labelled(&format!(
                "warning: there are no facts about the machine: {error:#}"
            ))?;
        }
    }
    Ok(())
}

/// Runs a line and prints the output of the program, or prints only the line.
fn one(
    step: &Step,
    is_here: bool,
    machine: &mut Machine<'_>,
    lines: &mut Lines<'_>,
) -> Result<Exit> {
    if is_here {
        let outcome = machine.done(step)?;
        lines.block(outcome.text.trim())?;
    } else {
        script::print(std::slice::from_ref(step), NO_NOTES, lines)?;
    }
    Ok(Exit::Answered)
}

fn verbatim(
    line: &line::RecorderLine,
    is_here: bool,
    machine: &mut Machine<'_>,
    lines: &mut Lines<'_>,
) -> Result<Exit> {
    if !is_here {
        script::explain(line, lines)?;
        return Ok(Exit::Answered);
    }
    for note in &line.notes {
        lines.labelled(&format!("note: {note}"))?;
    }
    one(&line.step, true, machine, lines)
}

/// Lists profiles, or writes their file.
fn list(args: &ProfilesArgs, lines: &mut Lines<'_>) -> Result<Exit> {
    if let Some(folder) = &args.write {
        let file = folder.join(FILE_NAME);
        let written = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&file);
        std::io::Write::write_all(
            &mut written.with_context(|| format!("cannot write {}", file.display()))?,
            WPRP.as_bytes(),
        )
        .with_context(|| format!("cannot write {}", file.display()))?;
        lines.line(&format!("Wrote {}", file.display()))?;
        return Ok(Exit::Answered);
    }
    let found: Vec<&Profile> = match (&args.topic, &args.question) {
        (Some(topic), _) => profiles::of_topic(topic).collect(),
        (None, Some(question)) => profiles::of_question(question).collect(),
        (None, None) => PROFILES.iter().collect(),
    };
    if found.is_empty() {
        return Err(unknown(args));
    }
    lines.heading("Recording profiles")?;
    let mut table = Table::new(&[
        ("profile", Align::Left),
        ("records", Align::Left),
        ("questions", Align::Left),
    ]);
    for profile in found {
        table.row([
            profile.name.to_owned(),
            profile.sentence.to_owned(),
            profile.questions.join(", "),
        ]);
    }
    lines.table(&table)?;
    Ok(Exit::Answered)
}

/// Returns the error for a topic or question without a profile: either there is another way, or the
/// name is wrong.
fn unknown(args: &ProfilesArgs) -> anyhow::Error {
    if let Some(topic) = &args.topic {
        if let Some((_, how)) = ELSEWHERE.iter().find(|(name, _)| name == topic) {
            return advised(
                format!("no profile records {topic}"),
                format!("it is recorded by {how}"),
            );
        }
        let mut topics: Vec<&str> = PROFILES
            .iter()
            .flat_map(|profile| profile.topics)
            .copied()
            .collect();
        topics.sort_unstable();
        topics.dedup();
        return advised(
            format!("no profile records \"{topic}\""),
            format!("topics are {}", topics.join(", ")),
        );
    }
    let question = args.question.as_deref().unwrap_or("");
    advised(
        format!("no profile is there for the question \"{question}\""),
        "`etwkit record profiles` lists the questions of all",
    )
}
