//! Windows command lines of our commands.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::Result;
use etwkit_terminal::errors::advised;

use crate::args::{BootArgs, NowArgs, StartArgs, StopArgs};
use crate::profiles::{self, FILE_NAME, PROFILES};
use crate::step::{CARET, CARET_NAME, Step, literal};
use crate::wprp::{self, Implied};

/// Returns the profile in the form of wpr's command line. Profiles of etwkit take precedence, unless
/// a name is spelled as wpr spells its own; `folder` contains their file. Profiles of other files
/// are checked.
fn profile(name: &str, folder: &Path, to_file: bool) -> Result<String> {
    if let Some(own) = profiles::find(name) {
        return Ok(format!("{}!{}", folder.join(FILE_NAME).display(), own.name));
    }
    match name.split_once('!') {
        Some((file, inner)) if !inner.is_empty() && ends_with(file, ".wprp") => {
            wprp::check_profile(Path::new(file), inner, to_file)?;
            return Ok(name.to_owned());
        }
        Some((file, inner)) => {
            let message = format!("expected FILE.wprp!PROFILE, found \"{name}\"");
            return Err(advised(
                message,
                format!("{file}.wprp!{inner} would have this form"),
            ));
        }
        None => {}
    }
    if profiles::built_in(name).is_some() {
        return Ok(name.to_owned());
    }
    if ends_with(name, ".etl") {
        let message = format!("start takes profiles, and {name} is a recording");
        return Err(advised(
            message,
            format!("did you mean `etwkit record stop {name}`?"),
        ));
    }
    if ends_with(name, ".wprp") {
        let path = Path::new(name);
        if let Some(Implied::Only(inner) | Implied::Default(inner)) = wprp::implied_profile(path) {
            wprp::check_profile(path, &inner, to_file)?;
            return Ok(format!("{name}!{inner}"));
        }
        let message = format!("start takes profiles, and {name} is a file of them");
        return Err(advised(
            message,
            format!("name one of them: {name}!PROFILE; `etwkit record check {name}` lists them"),
        ));
    }
    let names: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
    let hint = format!(
        "there are {}; the profiles of wpr; and FILE.wprp!PROFILE for others",
        names.join(", ")
    );
    Err(advised(format!("no profile is called \"{name}\""), hint))
}

/// Returns a note for each file of profiles of which the default one is started.
pub(crate) fn defaults(profiles: &[String]) -> Vec<String> {
    let files = profiles
        .iter()
        .filter(|name| !name.contains('!') && ends_with(name, ".wprp"));
    files
        .filter_map(|file| match wprp::implied_profile(Path::new(file)) {
            Some(Implied::Default(inner)) => Some(format!("Default profile of {file}: {inner}.")),
            _ => None,
        })
        .collect()
}

pub(crate) fn ends_with(text: &str, ending: &str) -> bool {
    text.to_ascii_lowercase().ends_with(ending)
}

/// Returns the lines that start a recording. The interval of samples is set after the start, since
/// wpr sets its own.
///
/// # Errors
/// A profile does not exist or cannot be recorded in this way.
pub(crate) fn start(args: &StartArgs, folder: &Path) -> Result<Vec<Step>> {
    let own = args.profiles.iter().filter_map(|name| profiles::find(name));
    let to_file = args.file || own.clone().any(|own| own.file_only);
    let names = args.profiles.iter();
    let names = names.map(|name| profile(name, folder, to_file));
    let names: Vec<String> = names.collect::<Result<_>>()?;
    if let Some(own) = own
        .clone()
        .find(|own| own.file_only && !args.file && !args.boot)
    {
        let message = format!("{} cannot keep the last events in memory", own.name);
        return Err(advised(
            message,
            "add --boot to record the next start of Windows, or --file",
        ));
    }
    let line = start_line(args, names, to_file);
    let mut why: String = own
        .map(|own| format!("{}: {}. ", own.name, own.sentence))
        .collect();
    for note in defaults(&args.profiles) {
        why.push_str(&note);
        why.push(' ');
    }
    why.push_str(match (args.boot, to_file) {
        (true, _) => "Recording starts with the next start of Windows.",
        (false, true) => "Events go to a file, which grows until the recording is stopped.",
        (false, false) => "The last events are kept in memory, those before are overwritten.",
    });
    let mut steps = vec![Step::wpr(line, why)];
    if let Some(ticks) = args.sample_every {
        let ticks = ticks.to_string();
        steps.push(Step::wpr(
            ["-setprofint", &ticks],
            "Time between CPU samples in units of 100 ns; after the \
            start, which sets its own.",
        ));
        steps.push(Step::wpr(
            ["-profint"],
            "Shows the interval that is in force now.",
        ));
    }
    Ok(steps)
}

/// Returns the arguments of `wpr` that start these profiles.
fn start_line(args: &StartArgs, profiles: Vec<String>, to_file: bool) -> Vec<String> {
    let mut line: Vec<String> = Vec::new();
    if args.boot {
        line.push("-boottrace".into());
    }
    let each = if args.boot { "-addboot" } else { "-start" };
    for profile in profiles {
        line.extend([each.to_owned(), profile]);
    }
    if to_file {
        line.push("-filemode".into());
    }
    if let Some(to) = &args.to {
        line.extend(["-recordtempto".to_owned(), to.display().to_string()]);
    }
    line
}

/// Returns the lines between start and stop of a recording in a script: the command, the time, or a
/// key that the user presses.
pub(crate) fn recorded(args: &NowArgs) -> Vec<Step> {
    if !args.command.is_empty() {
        return called(&args.command);
    }
    let (program, args, why) = match args.time {
        Some(time) => (
            "timeout",
            ["/t", &time.as_secs().to_string(), "/nobreak"]
                .map(str::to_owned)
                .to_vec(),
            "Seconds that are recorded.",
        ),
        None => (
            "pause",
            Vec::new(),
            "Reproduce the problem, then press a key.",
        ),
    };
    vec![Step {
        program,
        args,
        why: why.to_owned(),
    }]
}

/// Returns the lines of a script that run a command. `call` also returns from commands that are
/// scripts.
fn called(command: &[OsString]) -> Vec<Step> {
    let args: Vec<String> = command.iter().map(|word| called_word(word)).collect();
    let has_caret = args.iter().any(|word| word.contains(CARET));
    let caret = has_caret.then(|| Step {
        program: "set",
        args: vec![format!("{CARET_NAME}=^")],
        why: "`call` doubles this character, unless it is in a variable.".to_owned(),
    });
    let call = Step {
        program: "call",
        args,
        why: "The command that is recorded. Its failure does not keep the recording running."
            .to_owned(),
    };
    caret.into_iter().chain([call]).collect()
}

/// Returns a word for a line of `call`: the script and `call` both replace `%%` by `%`.
fn called_word(word: &OsStr) -> String {
    literal(&literal(&word.to_string_lossy())).replace('^', CARET)
}

/// Returns the line that stops a recording and writes it into that file.
pub(crate) fn stop(args: &StopArgs, file: &str) -> Step {
    let mut line: Vec<&str> = if args.boot {
        vec!["-boottrace", "-stopboot", file]
    } else {
        vec!["-stop", file]
    };
    let mut why =
        "Writes what was recorded, with the identities of modules and the descriptions of events, which \
                   only this machine knows."
            .to_owned();
    if args.no_native_pdb {
        line.push("-skipPdbGen");
    } else {
        why.push_str(
            " Symbol files of precompiled .NET code can take 10 to 60 minutes after an update of .NET.",
        );
    }
    Step::wpr(line, why)
}

/// Returns the line that discards a recording.
pub(crate) fn cancel(args: &BootArgs) -> Step {
    let line: &[&str] = if args.boot {
        &["-boottrace", "-cancelboot"]
    } else {
        &["-cancel"]
    };
    Step::wpr(
        line.iter().copied(),
        "Ends the recording and throws it away.",
    )
}

/// Returns the line that shows if a recording is running.
pub(crate) fn status() -> Step {
    Step::wpr(
        ["-status", "profiles", "collectors"],
        "What is being recorded, and how many events were lost.",
    )
}

/// Returns the line that puts a mark into a recording.
pub(crate) fn mark(text: &str) -> Step {
    Step::wpr(
        ["-marker", text],
        "Puts a mark into the recording, with the time of now.",
    )
}

/// Returns the line that lists the counters of the processor.
pub(crate) fn counters() -> Step {
    Step::wpr(
        ["-pmcsources"],
        "Counters of the processor. Only Timer: there are none, as where Hyper-V is on.",
    )
}

/// Returns the line that lists all sessions.
pub(crate) fn sessions() -> Step {
    Step {
        program: "logman",
        args: vec!["query".into(), "-ets".into()],
        why:
            "All sessions of all programs. Only one recorder at a time can have `NT Kernel Logger`."
                .into(),
    }
}

/// Returns the line that restores the interval of CPU samples, or the default where it is not
/// known.
pub(crate) fn restore_interval(before: Option<u32>) -> Step {
    match before {
        Some(ticks) => Step::wpr(
            ["-setprofint".to_owned(), ticks.to_string()],
            "The interval that was before.",
        ),
        None => Step::wpr(
            ["-resetprofint"],
            "Back to one CPU sample each millisecond.",
        ),
    }
}
