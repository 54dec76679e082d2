//! Checks before a recording starts: conditions under which it would fail or lack its data.

use anyhow::Result;
use etwkit_terminal::errors::advised;

use crate::args::StartArgs;
use crate::profiles::{self, WPRP};
use crate::recording::Machine;
use crate::steps;

/// The kernel session, which only one recorder at a time can have, by its name in our profiles.
const KERNEL: &str = "NT Kernel Logger";

/// The file of etwkit's profiles, adapted to this machine, and notes on it for the user.
pub(crate) struct Profiles {
    pub(crate) text: String,
    pub(crate) warning: Option<String>,
}

/// Checks that a recording can start. If another recorder has the kernel session, our profiles use
/// another one: since Windows 8 there can be several.
///
/// # Errors
/// It cannot start.
pub(crate) fn check(
    machine: &mut Machine<'_>,
    args: &StartArgs,
    sessions: &[String],
) -> Result<Profiles> {
    if machine.is_recording()? {
        return Err(advised(
            "wpr is recording already",
            "`etwkit record stop NAME` writes that recording, `etwkit record cancel` throws it away",
        ));
    }
    counters(machine, args)?;
    // A boot recording starts with Windows, when none of the present sessions runs.
    if args.boot || !sessions.iter().any(|name| name == KERNEL) {
        return Ok(Profiles {
            text: WPRP.to_owned(),
            warning: None,
        });
    }
    if let Some(other) = args
        .profiles
        .iter()
        .find(|name| profiles::find(name).is_none())
    {
        return Err(advised(
            format!("another recorder has the session {KERNEL}, which {other} needs"),
            "close it (xperf, Process Monitor, an antivirus), or end it with `logman stop \"NT Kernel \
             Logger\" -ets`; profiles of `etwkit record profiles` use another session then",
        ));
    }
    let warning = format!(
        "another recorder has the session {KERNEL}: the session \"etwkit kernel\" is used instead"
    );
    Ok(Profiles {
        text: WPRP.replace(KERNEL, "etwkit kernel"),
        warning: Some(warning),
    })
}

/// Checks that the processor has the counters that a profile needs.
fn counters(machine: &mut Machine<'_>, args: &StartArgs) -> Result<()> {
    let own = args.profiles.iter().filter_map(|name| profiles::find(name));
    let Some(own) = own.into_iter().find(|own| own.needs_counters) else {
        return Ok(());
    };
    let outcome = machine.done(&steps::counters())?;
    // A line of a counter starts with its number. The timer is listed even if the processor has no
    // counters.
    let is_counter = |line: &str| {
        let mut words = line.split_whitespace();
        words.next().is_some_and(|id| id.parse::<u32>().is_ok())
            && words.next().is_some_and(|name| !name.starts_with("Timer"))
    };
    if outcome.said().any(is_counter) {
        return Ok(());
    }
    let message = format!(
        "{} needs counters of the processor, and there are none here",
        own.name
    );
    Err(advised(
        message,
        "virtual machines have none, nor has Windows while Hyper-V is on; see `etwkit record counters`",
    ))
}
