//! Command lines of wpr and xperf that a user already has: their meaning and their mistakes.

use anyhow::Result;
use etwkit_terminal::errors::advised;

use crate::step::Step;
use crate::steps::ends_with;

/// Options and their effects, phrased to include the values that follow.
const WPR: &[(&str, &str)] = &[
    (
        "-start",
        "start recording this profile; several are recorded at once",
    ),
    (
        "-filemode",
        "write to the disk all the time, instead of keeping the last events in memory",
    ),
    (
        "-recordtempto",
        "folder of the files that are written while it records",
    ),
    ("-stop", "end the recording and write it into this file"),
    (
        "-skippdbgen",
        "leave out symbol files of precompiled .NET code, which can take many minutes",
    ),
    ("-compress", "compress the file"),
    ("-cancel", "end the recording and throw it away"),
    (
        "-status",
        "show the running recordings, and how many events were lost",
    ),
    (
        "-profiles",
        "list the profiles of this program, or of a file",
    ),
    ("-profiledetails", "list what the profiles record"),
    ("-exportprofile", "write a profile of wpr into a file"),
    ("-providers", "list all providers"),
    ("-marker", "put a mark with this text into the recording"),
    (
        "-markerflush",
        "put a mark with this text into the recording and empty working sets",
    ),
    ("-flush", "write what is in the buffers"),
    (
        "-merge",
        "put several files into one, with identities of modules and descriptions of events",
    ),
    ("-injectonly", "write identities and descriptions only"),
    (
        "-pmcsources",
        "list the counters of the processor; only Timer means that there are none",
    ),
    (
        "-pmcsessions",
        "list the sessions that use counters of the processor",
    ),
    (
        "-setprofint",
        "time between CPU samples, in units of 100 ns",
    ),
    ("-profint", "show the time between CPU samples"),
    ("-resetprofint", "back to one CPU sample each millisecond"),
    (
        "-boottrace",
        "what follows is about the next start of Windows",
    ),
    ("-addboot", "record this profile when Windows starts"),
    (
        "-stopboot",
        "end the recording of the start and write it into this file",
    ),
    ("-cancelboot", "record the next start no more"),
    (
        "-onoffscenario",
        "record a change of power: Boot, FastStartup, Shutdown, RebootCycle, Standby or Hibernate",
    ),
    ("-shutdown", "record how Windows shuts down"),
    ("-onoffresultspath", "folder of those recordings"),
    ("-onoffproblemdescription", "a text that goes with them"),
    ("-numiterations", "how often that is repeated"),
    (
        "-disablepagingexecutive",
        "keep the code of the kernel in memory, which Windows 7 needs for kernel stacks",
    ),
    (
        "-heaptracingconfig",
        "switch heap tracing of a program on or off; switch it off afterwards",
    ),
    ("-snapshotconfig", "switch heap snapshots on or off"),
    (
        "-enableperiodicsnapshot",
        "take heap snapshots again and again",
    ),
    ("-disableperiodicsnapshot", "take no more heap snapshots"),
    ("-singlesnapshot", "take one heap snapshot"),
    (
        "-capturestateondemand",
        "ask providers to write their state now",
    ),
    (
        "-purgecache",
        "empty the cache of symbol files of .NET code",
    ),
    ("-log", "the log of wpr itself"),
    (
        "-instancename",
        "name of this recording, which each later line needs",
    ),
    ("-help", "describe options"),
];

const XPERF: &[(&str, &str)] = &[
    ("-start", "start a session of this name"),
    ("-update", "change what a running session records"),
    (
        "-on",
        "start recording: kernel keywords or groups with + between, or providers",
    ),
    ("-stackwalk", "take the stack of these events"),
    ("-f", "file of the session"),
    ("-buffersize", "size of a buffer in KB"),
    ("-minbuffers", "buffers at least"),
    ("-maxbuffers", "buffers at most"),
    ("-maxfile", "size of the file at most, in MB"),
    ("-filemode", "Sequential, Circular, Append or NewFile"),
    ("-buffering", "keep the last events in memory"),
    ("-flushtimer", "write buffers after this many seconds"),
    ("-realtime", "write no file: a program listens"),
    ("-clocktype", "clock of the time stamps"),
    (
        "-setprofint",
        "time between CPU samples, in units of 100 ns",
    ),
    (
        "-seteresourcesample",
        "how many operations on locks of the kernel (ERESOURCE) make one event",
    ),
    (
        "-setspinlocksample",
        "how many operations on spin locks make one event",
    ),
    (
        "-lastbranch",
        "the last branches of the processor go with these events",
    ),
    (
        "-pmc",
        "values of these counters of the processor go with these events",
    ),
    ("-heap", "record heaps of a process"),
    ("-critsec", "record critical sections of a process"),
    ("-pids", "of these processes"),
    ("-waitfornewprocess", "of the next process that starts"),
    ("-pidnewprocess", "of a process that this line starts"),
    ("-pooltag", "allocations with these tags only"),
    (
        "-stop",
        "end the sessions, the kernel logger if none is named; the files are not merged yet",
    ),
    ("-stopall", "end all sessions of xperf"),
    ("-d", "end the sessions and merge their files into this one"),
    ("-save", "write what a profile has in memory into this file"),
    (
        "-merge",
        "put files into the last one, with identities of modules and descriptions of events: methods on \
                other machines need it",
    ),
    ("-injectonly", "write identities and descriptions only"),
    ("-suppresspii", "leave out what names persons"),
    ("-compress", "compress the file"),
    ("-cancel", "end sessions and throw them away"),
    ("-flush", "write what is in memory"),
    (
        "-capturestate",
        "ask providers of a session to write their state",
    ),
    ("-m", "put a mark with this text into the recording"),
    (
        "-mf",
        "put a mark with this text into the recording and write what is in memory",
    ),
    (
        "-loggers",
        "list all sessions, with their flags, buffers and lost events",
    ),
    ("-providers", "list providers, kernel keywords or groups"),
    ("-profiles", "list profiles"),
    ("-profileloggers", "list the sessions of profiles"),
    (
        "-boottrace",
        "record the next start of Windows with these keywords",
    ),
    ("-i", "read this file"),
    ("-o", "write the answer into this file"),
    ("-a", "run this report"),
    ("-target", "write the answer for people or for machines"),
    ("-quiet", "print no progress messages"),
    ("-tle", "also read files that lost events"),
    ("-tti", "also read files in which time goes backwards"),
    ("-symbols", "give native code its names"),
    ("-help", "describe options"),
];

/// A command line of a recorder, and the meaning of its parts.
#[derive(Debug)]
pub(crate) struct RecorderLine {
    /// The program and arguments to run.
    pub(crate) step: Step,
    /// Each option with its values, and its effect.
    pub(crate) parts: Vec<(String, &'static str)>,
    /// Corrections that were made to the line.
    pub(crate) notes: Vec<String>,
}

/// Reads a line. Typographic dashes and the doubled escapes of batch files are replaced by the
/// intended characters. Unknown options are passed on, since other versions and the reports of
/// xperf have options of their own.
///
/// # Errors
/// An option is a misspelled known one, or the line is a known mistake.
pub(crate) fn read(program: &'static str, args: &[String]) -> Result<RecorderLine> {
    let table = if program == "wpr" { WPR } else { XPERF };
    let mut notes = Vec::new();
    let mut read = Vec::new();
    for arg in args {
        // Word processors and web pages turn hyphens into dashes, and batch files escape `!` as
        // `^^!`.
        let plain = dashed(arg.replace("^^!", "!"), table);
        if plain != *arg {
            notes.push(format!("{arg} is read as {plain}"));
        }
        if let Some((file, inner)) = plain
            .split_once('!')
            .filter(|(file, _)| program == "wpr" && !file.is_empty() && !ends_with(file, ".wprp"))
        {
            notes.push(format!(
                "{plain}: files of profiles end with .wprp; {file}.wprp!{inner} may be meant"
            ));
        }
        read.push(plain);
    }
    slip(program, &read)?;
    let mut parts: Vec<(String, &'static str)> = Vec::new();
    let mut is_report = false;
    for arg in &read {
        let is_option = arg.starts_with('-') && arg.len() > 1;
        match (is_option, parts.last_mut()) {
            (true, _) => {
                let known = meaning(table, arg);
                // Options after `-a` belong to the report, and the table does not list them.
                if known.is_none() && !is_report {
                    check(program, table, arg)?;
                    notes.push(format!("{arg} is not known here and passed on as it is"));
                }
                is_report |= arg.eq_ignore_ascii_case("-a");
                let else_means = if is_report {
                    "an option of the report"
                } else {
                    "not known here"
                };
                parts.push((arg.clone(), known.unwrap_or(else_means)));
            }
            (false, Some((part, _))) => {
                part.push(' ');
                part.push_str(arg);
            }
            (false, None) => {
                let message = format!("expected an option of {program}, found \"{arg}\"");
                return Err(advised(
                    message,
                    format!("options start with -, as {program} -start"),
                ));
            }
        }
    }
    Ok(RecorderLine {
        step: Step {
            program,
            args: read,
            why: String::new(),
        },
        parts,
        notes,
    })
}

/// Returns an argument with a plain hyphen in place of another dash or a slash. A slash is replaced
/// only before a known option, since paths also start with one.
fn dashed(arg: String, table: &[(&str, &str)]) -> String {
    let mut letters = arg.chars();
    let first = letters.next();
    let option = format!("-{}", letters.as_str());
    let is_option = match first {
        Some('–' | '—') => letters.next().is_some_and(char::is_alphabetic),
        Some('/') => meaning(table, &option).is_some(),
        _ => false,
    };
    if is_option { option } else { arg }
}

fn meaning<'t>(table: &[(&str, &'t str)], option: &str) -> Option<&'t str> {
    table
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(option))
        .map(|(_, meaning)| *meaning)
}

/// Rejects an option that is a known one with an extra, missing or wrong letter.
fn check(program: &str, table: &[(&str, &str)], option: &str) -> Result<()> {
    let lower = option.to_lowercase();
    // Short options are not compared: nearly every word of three letters is one letter away from
    // another one.
    match table
        .iter()
        .find(|(name, _)| name.len() > 4 && is_near(name, &lower))
    {
        Some((name, _)) => Err(advised(
            format!("{program} has no option {option}"),
            format!("did you mean {name}?"),
        )),
        None => Ok(()),
    }
}

/// True if two words differ in one letter, which is extra, missing or wrong, or in two letters that
/// are swapped.
fn is_near(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    // The common start is cut off, so that the rest starts with the first different letter.
    let front = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let (Some(one), Some(other)) = (one.get(front..), other.get(front..)) else {
        return false;
    };
    match (one, other) {
        ([_, one @ ..], [_, other @ ..]) if one == other => true,
        ([_, shorter @ ..], _) if shorter == other => true,
        (_, [_, shorter @ ..]) if one == shorter => true,
        ([a, b, one @ ..], [c, d, other @ ..]) => a == d && b == c && one == other,
        _ => false,
    }
}

/// Rejects the common mistake of starting `FILE.etl`, which is a recording and not a profile, alone
/// or after a profile.
fn slip(program: &str, args: &[String]) -> Result<()> {
    let is_start = |option: &str| {
        ["-start", "-addboot"]
            .iter()
            .any(|start| option.eq_ignore_ascii_case(start))
    };
    // All values of an option are looked at: `-start CPU slow.etl` has two.
    let mut option = None;
    let mut found = None;
    for arg in args {
        if arg.starts_with('-') {
            option = Some(arg).filter(|option| is_start(option));
        } else if let Some(option) = option.filter(|_| ends_with(arg, ".etl")) {
            found = Some((option, arg));
            break;
        }
    }
    let Some((option, file)) = found else {
        return Ok(());
    };
    let other = if option.eq_ignore_ascii_case("-start") {
        "-stop"
    } else {
        "-stopboot"
    };
    let message = format!("{option} takes a profile, and {file} is a recording");
    Err(advised(
        message,
        format!("did you mean {other}? `{program} {other} {file}`"),
    ))
}
