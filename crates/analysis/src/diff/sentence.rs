//! A comparison in one sentence, made only of rows that are below it.

use etwkit_sql::time_format::seconds;

use super::awaited::{Awaited, explanation};
use super::rows::{Change, Fact, FindingChange};
use super::side::{Sides, Wall};
use super::totals::taken;
use crate::explain::capital;

/// Minimum share of the growth of a process for which a module is named.
const MOST_OF_IT: f64 = 0.5;

/// Maximum share. The other code of a process may take a little less in this run: two runs differ
/// by about 5 %, as `--noise-percent` says.
const ALL_OF_IT: f64 = 1.05;

/// Minimum share of the cost of a finding for which a process is named below it.
const LEAST_BESIDE: f64 = 0.1;

/// Minimum share of the shorter recording for which a process is named, where nothing measures the same
/// work on both sides.
const LEAST_OF_A_RECORDING: f64 = 0.02;

/// Difference for which a process is named however long the recordings are. Programs that do the same,
/// each time at other moments, differ by less.
const LEAST_NS: f64 = 100e6;

/// Minimum ratio of the times of a named module on both sides: code that is in every stack grows
/// with everything, and explains nothing.
const NEW_RATIO: f64 = 2.0;

/// Modules of Windows that are in nearly every stack: threads start in them, waits end in them, and
/// operations on files go through them.
const IN_EVERY_STACK: [&str; 5] = [
    "ntoskrnl.exe",
    "ntdll.dll",
    "kernel32.dll",
    "kernelbase.dll",
    "fltmgr.sys",
];

/// The rows that the sentence is made of. Those of tables are ascending: the last one explains most.
pub(super) struct Rows<'r> {
    /// The finding that explains most.
    pub(super) finding: Option<&'r FindingChange>,
    /// True if there is a topic that both sides recorded.
    pub(super) has_shared: bool,
    pub(super) settings: &'r [Fact],
    /// True if both sides recorded times of processes.
    pub(super) has_processes: bool,
    pub(super) processes: &'r [Change],
    pub(super) modules: &'r [Change],
    pub(super) methods: &'r [Change],
    /// Reads and queries that threads wait for.
    pub(super) awaited: &'r [Awaited],
}

/// Returns the sentence: the wall times and their explanation. A cause that one side alone has
/// explains more than any sum; a changed setting explains more than a process where nothing says
/// what took long.
pub(super) fn sentence(both: &Sides, rows: &Rows<'_>, is_same: bool) -> String {
    if is_same && rows.finding.is_none() {
        return same(rows.has_shared).to_owned();
    }
    let wall = wall(both);
    let is_measured = both.wall != Wall::Recording;
    let cause = rows.finding.map(finding).or_else(|| {
        (!is_measured)
            .then(|| changed(rows.settings, are_other_computers(both)))
            .flatten()
    });
    match (cause, busiest(both, rows)) {
        (Some(cause), _) if is_measured => format!("{wall}; {cause}"),
        // The length of a recording explains nothing, so the cause goes first.
        (Some(cause), _) => format!("{} ({wall})", capital(&cause)),
        (None, Some(busiest)) => format!("{wall}; {busiest}"),
        (None, None) if is_measured || !rows.has_processes => wall,
        (None, None) if both.is_alike => {
            format!("Processes that ran from start to end on both sides took equally long ({wall})")
        }
        (None, None) => format!("No process differs by more than noise ({wall})"),
    }
}

/// Returns the sentence of sides without a difference: where nothing was compared, that means nothing.
const fn same(has_shared: bool) -> &'static str {
    if has_shared {
        "Nothing differs between A and B"
    } else {
        "A and B recorded nothing that can be compared"
    }
}

/// Returns `true` if the sides are known to be of two computers.
fn are_other_computers(both: &Sides) -> bool {
    let [a, b] = &both.sides;
    let computers = a
        .recording
        .computer
        .as_ref()
        .zip(b.recording.computer.as_ref());
    computers.is_some_and(|(a, b)| a != b)
}

/// Returns the setting that explains most. Another computer has another disk and other processors, which explains
/// nothing; a write cache that is off does.
fn changed(settings: &[Fact], are_other_computers: bool) -> Option<String> {
    let is_news = |fact: &&Fact| !are_other_computers || fact.name.starts_with("write cache ");
    settings.iter().find(is_news).and_then(setting)
}

/// Returns the process that explains most, if one differs by more than noise.
pub(super) fn busiest(both: &Sides, rows: &Rows<'_>) -> Option<String> {
    let top = named(&both.wall, noise_ns(both), rows)?;
    // Threads without work wait for any time: where the processes that ran from start to end took as
    // long, such waits explain nothing.
    let is_news = !both.is_alike || !is_unexplained_wait(top, rows);
    is_news.then(|| explained(top, rows))
}

/// Returns `true` if a process waits, and nothing says for what.
fn is_unexplained_wait(top: &Change, rows: &Rows<'_>) -> bool {
    top.of_time == "wait"
        && module(top, rows.modules).is_none()
        && explanation(top, rows.awaited).is_none()
}

/// Returns the process to name below a sentence that names a finding: none that is small against
/// it.
pub(super) fn below(both: &Sides, rows: &Rows<'_>) -> Option<String> {
    let top = named(&both.wall, noise_ns(both), rows)?;
    (!is_small(top, rows.finding)).then(|| explained(top, rows))
}

/// Returns the difference of a process that is noise in a sentence: a share of the shorter side, where
/// recordings are compared that may have seen different work. Rows of measured work are real beyond the
/// noise of tables.
fn noise_ns(both: &Sides) -> f64 {
    if both.wall != Wall::Recording {
        return 0.0;
    }
    let [a, b] = &both.sides;
    let shorter = a.wall_ns.min(b.wall_ns) as f64;
    (shorter * LEAST_OF_A_RECORDING).min(LEAST_NS)
}

/// Returns the row of the process to name. If that one differs by less than noise, it is one that waits
/// for something that is known.
fn named<'r>(wall: &Wall, noise_ns: f64, rows: &Rows<'r>) -> Option<&'r Change> {
    let is_real = |row: &&Change| row.difference_ns.unsigned_abs() as f64 >= noise_ns;
    let waits_for_it = |row: &&Change| explanation(row, rows.awaited).is_some();
    let explained = || {
        rows.processes
            .iter()
            .rev()
            .filter(is_real)
            .find(waits_for_it)
    };
    best(wall, rows).filter(is_real).or_else(explained)
}

/// Returns the row of the process that explains most.
fn best<'r>(wall: &Wall, rows: &Rows<'r>) -> Option<&'r Change> {
    let victim = rows.finding.and_then(|finding| finding.process.as_deref());
    let is_victim = |row: &&Change| victim.is_some_and(|name| row.name.eq_ignore_ascii_case(name));
    // The measured process goes first, if there is one. Without one, waits are mostly those of
    // threads without work: what computes more or waits for a processor goes before them.
    let is_best = |row: &&Change| match wall {
        Wall::Process(name) => row.name.eq_ignore_ascii_case(name),
        Wall::Recording => row.of_time != "wait",
        _ => true,
    };
    let all = || rows.processes.iter().rev();
    all()
        .find(is_victim)
        .or_else(|| all().find(is_best))
        .or_else(|| all().next())
}

/// Returns `true` if a process differs by far less than a finding costs.
fn is_small(row: &Change, finding: Option<&FindingChange>) -> bool {
    finding.is_some_and(|finding| {
        let least = finding.difference_ns.unsigned_abs() as f64 * LEAST_BESIDE;
        (row.difference_ns.unsigned_abs() as f64) < least
    })
}

/// Formats a process; if no module explains it, with what it waits for outside of itself, or the
/// method in which it computes or waits.
fn explained(top: &Change, rows: &Rows<'_>) -> String {
    let does = process(top, rows.modules);
    if module(top, rows.modules).is_some() {
        return does;
    }
    if let Some(why) = explanation(top, rows.awaited) {
        return format!("{does}, and {why}");
    }
    match method(top, rows.methods).filter(|_| top.only_in.is_none()) {
        Some((method, of_it)) => {
            let part = seconds(part(top, of_it), 3);
            format!("{does}, {part} s of it in {method}")
        }
        None => does,
    }
}

/// Returns the length of a part. It is not longer than the whole, although other code took less.
fn part(whole: &Change, of_it: i64) -> i64 {
    let whole_ns = whole.difference_ns.saturating_abs();
    of_it.saturating_abs().min(whole_ns)
}

/// Formats `only in B: Threads of cmd.exe (1) waited 3 s for …`, or `in B, not checked in A: …`.
fn finding(row: &FindingChange) -> String {
    let sentence = &row.sentence;
    if let Some(side) = &row.not_checked_in {
        let found_in = if side == "A" { "B" } else { "A" };
        return format!("in {found_in}, not checked in {side}: {sentence}");
    }
    match (&row.only_in, row.a_ns, row.b_ns) {
        (Some(side), ..) => format!("only in {side}: {sentence}"),
        (None, Some(a), Some(b)) => {
            let (more, less, side) = if b > a { (b, a, "B") } else { (a, b, "A") };
            format!(
                "more in {side} ({} s instead of {} s): {sentence}",
                seconds(more, 3),
                seconds(less, 3)
            )
        }
        _ => sentence.clone(),
    }
}

/// Formats `write cache of disk 0 is off in B and on in A`. Only settings of the hardware count:
/// services and facts differ between any two recordings.
fn setting(fact: &Fact) -> Option<String> {
    let topic = fact.topic.as_deref()?;
    let a = fact.a.as_deref()?;
    let b = fact.b.as_deref()?;
    ["disk", "volume", "power", "cpu", "adapter"]
        .contains(&topic)
        .then(|| format!("{} is {b} in B and {a} in A", fact.name))
}

/// Formats `B takes 4.200 s longer (11.800 s against 7.600 s between "Start" and "End")`.
fn wall(both: &Sides) -> String {
    let [a, b] = &both.sides;
    let of_a = seconds(a.wall_ns, 3);
    let of_b = seconds(b.wall_ns, 3);
    let what = match &both.wall {
        Wall::Marks(from, to) => format!(" between {from:?} and {to:?}"),
        Wall::Process(name) => format!(" from start to end of {name}"),
        Wall::Range => " of the parts that were chosen".to_owned(),
        Wall::Recording => {
            return format!("A is a recording of {of_a} s, B one of {of_b} s");
        }
    };
    let difference = b.wall_ns.saturating_sub(a.wall_ns);
    match difference {
        // A difference that would be printed as 0.000 s does not count.
        -499_999..=499_999 => format!("B takes as long as A ({of_a} s{what})"),
        _ => {
            let word = if difference > 0 { "longer" } else { "less" };
            format!(
                "B takes {} s {word} ({of_b} s against {of_a} s{what})",
                seconds(difference.saturating_abs(), 3)
            )
        }
    }
}

/// Formats `FileWriter.exe waits 3.900 s longer, with nwshield.sys in its stacks`.
fn process(top: &Change, modules: &[Change]) -> String {
    let Change {
        name,
        difference_ns,
        of_time,
        only_in,
        ..
    } = top;
    let length = seconds(difference_ns.saturating_abs(), 3);
    let more = *difference_ns > 0;
    if let Some(side) = only_in {
        let does = match of_time.as_str() {
            "cpu" => "has a CPU time of",
            "ready" => "is ready for",
            _ => "waits for",
        };
        return format!("{name} runs in {side} alone and {does} {length} s");
    }
    let does = match (of_time.as_str(), more) {
        ("cpu", true) => format!("{name} needs {length} s more CPU"),
        ("cpu", false) => format!("{name} needs {length} s less CPU"),
        ("ready", true) => format!("{name} is ready {length} s longer without a processor"),
        ("ready", false) => format!("{name} is ready {length} s less without a processor"),
        (_, true) => format!("{name} waits {length} s longer"),
        (_, false) => format!("{name} waits {length} s less"),
    };
    match module(top, modules) {
        Some((module, of_it)) => {
            let part = seconds(part(top, of_it), 3);
            format!("{does}, {part} s of it with {module} in the stacks")
        }
        None => does,
    }
}

/// Returns the module with most of the difference, and its part of it, if there is one that the
/// other side hardly uses. The executable of the process explains nothing, and neither do the
/// modules in which all threads start and wait.
fn module<'r>(top: &Change, modules: &'r [Change]) -> Option<(&'r str, i64)> {
    // Every stack of a process has its own executable.
    let is_other_code = |row: &Change| {
        let is_everywhere = |name: &&str| row.name.eq_ignore_ascii_case(name);
        !row.name.eq_ignore_ascii_case(&top.name) && !IN_EVERY_STACK.iter().any(is_everywhere)
    };
    code(top, modules, is_other_code)
}

/// Returns the method with most of the difference in CPU or in waits, as `module` does. Addresses without
/// names differ between any two versions of a program, and all waits end in the same methods of Windows.
fn method<'r>(top: &Change, methods: &'r [Change]) -> Option<(&'r str, i64)> {
    let is_named = |row: &Change| row.is_shown && row.name.contains('!');
    // Of a chain of calls that waits, the innermost method is one of Windows.
    let is_own = |row: &Change| {
        row.name
            .split_once('!')
            .is_some_and(|(module, _)| module.eq_ignore_ascii_case(&top.name))
    };
    match top.of_time.as_str() {
        "cpu" => code(top, methods, is_named),
        "wait" => code(top, methods, |row| is_own(row) && has_new_share(top, row)),
        _ => None,
    }
}

/// Returns `true` if the share of a method in the waits of its process is at least twice that of the
/// other side: frames such as `main` have all of them on both.
fn has_new_share(top: &Change, method: &Change) -> bool {
    let sides = |row: &Change| {
        let (a, b) = (taken(row.wait_a_ns) as f64, taken(row.wait_b_ns) as f64);
        if top.difference_ns > 0 {
            (a, b)
        } else {
            (b, a)
        }
    };
    let (of_less, of_more) = sides(top);
    let (less, more) = sides(method);
    // Next to a side without waits, each frame would be new.
    of_less > 0.0 && more * of_less >= NEW_RATIO * less * of_more
}

/// Returns the code with most of the difference of a process, and its part of it, if there is one
/// that the other side hardly uses.
fn code<'r>(
    top: &Change,
    rows: &'r [Change],
    is_candidate: impl Fn(&Change) -> bool,
) -> Option<(&'r str, i64)> {
    let times = |row: &Change| match top.of_time.as_str() {
        "cpu" => row
            .cpu_a_ns
            .zip(row.cpu_b_ns)
            .or(one(row.cpu_a_ns, row.cpu_b_ns)),
        "ready" => row
            .ready_a_ns
            .zip(row.ready_b_ns)
            .or(one(row.ready_a_ns, row.ready_b_ns)),
        _ => row
            .wait_a_ns
            .zip(row.wait_b_ns)
            .or(one(row.wait_a_ns, row.wait_b_ns)),
    };
    let ratio = |(a, b): (i64, i64)| {
        let (smaller, larger) = if top.difference_ns > 0 {
            (a, b)
        } else {
            (b, a)
        };
        // A thousandth is added to both, so that a time of 0 on one side does not give an infinite
        // ratio.
        let least = top.difference_ns.unsigned_abs() as f64 / 1000.0;
        (larger as f64 + least) / (smaller as f64 + least)
    };
    let is_same = |row: &&Change| {
        row.of
            .as_deref()
            .is_some_and(|of| of.eq_ignore_ascii_case(&top.name))
    };
    let all = rows
        .iter()
        .filter(is_same)
        .filter(|row| is_candidate(row))
        .filter_map(|row| Some((row, times(row)?)));
    let most = all.filter(|(_, (a, b))| {
        let share = b.saturating_sub(*a) as f64 / top.difference_ns as f64;
        // A share far above 1 means that something else compensated for the growth: the sentence
        // would name more than the whole difference.
        (MOST_OF_IT..=ALL_OF_IT).contains(&share)
    });
    let best = most.max_by(|(x, of_x), (y, of_y)| {
        ratio(*of_x)
            .total_cmp(&ratio(*of_y))
            .then_with(|| y.name.cmp(&x.name))
    });
    let (row, (a, b)) = best.filter(|(_, times)| ratio(*times) >= NEW_RATIO)?;
    Some((&row.name, b.saturating_sub(a)))
}

/// Returns both values of a time that one side may lack, with 0 for the missing one.
fn one(a: Option<i64>, b: Option<i64>) -> Option<(i64, i64)> {
    (a.is_some() || b.is_some()).then(|| (taken(a), taken(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::DiffTable;

    const MS: i64 = 1_000_000;

    fn wait(name: &str, of: &str, b_ms: i64) -> Change {
        Change {
            name: name.to_owned(),
            of: Some(of.to_owned()),
            of_time: "wait".to_owned(),
            difference_ns: b_ms * MS,
            wait_a_ns: Some(0),
            wait_b_ns: Some(b_ms * MS),
            ..Change::default()
        }
    }

    #[test]
    fn below_a_finding_its_victim_is_named_and_nothing_small() {
        let busy = |name: &str, cpu_ms: i64| Change {
            of_time: "cpu".to_owned(),
            ..wait(name, "/all", cpu_ms)
        };
        let finding = FindingChange {
            process: Some("report.exe".to_owned()),
            difference_ns: 500 * MS,
            ..FindingChange::default()
        };
        let processes = [wait("Report.exe", "/all", 480), busy("svchost.exe", 11)];
        let rows = |finding, processes| Rows {
            finding,
            has_shared: true,
            settings: &[],
            has_processes: true,
            processes,
            modules: &[],
            methods: &[],
            awaited: &[],
        };
        let named = |rows: &Rows<'_>| {
            let row = best(&Wall::Recording, rows).unwrap();
            (row.name.clone(), is_small(row, rows.finding))
        };
        let with_victim = rows(Some(&finding), &processes[..]);
        assert_eq!(named(&with_victim), ("Report.exe".to_owned(), false));
        let without_victim = rows(Some(&finding), &processes[1..]);
        assert_eq!(named(&without_victim), ("svchost.exe".to_owned(), true));
        let without_finding = rows(None, &processes[..]);
        assert_eq!(named(&without_finding), ("svchost.exe".to_owned(), false));
    }

    #[test]
    fn of_two_recordings_a_process_that_differs_by_little_is_not_named() {
        let awaited: Vec<Awaited> =
            Awaited::all(DiffTable::Dns, &[wait("a.example", "/all", 290)]).collect();
        let busy = Change {
            of_time: "cpu".to_owned(),
            ..wait("dwm.exe", "/all", 50)
        };
        let processes = [
            wait("idle.exe", "/all", 900),
            wait("Report.exe", "/all", 300),
            busy,
        ];
        let named = |wall: &Wall, processes: &[Change], awaited: &[Awaited]| {
            let rows = Rows {
                finding: None,
                has_shared: true,
                settings: &[],
                has_processes: true,
                processes,
                modules: &[],
                methods: &[],
                awaited,
            };
            named(wall, 100e6, &rows).map(|row| row.name.clone())
        };
        assert_eq!(named(&Wall::Recording, &processes, &[]), None);
        let expected = Some("Report.exe".to_owned());
        assert_eq!(named(&Wall::Recording, &processes, &awaited), expected);
        assert_eq!(named(&Wall::Recording, &processes[..2], &[]), expected);
    }

    #[test]
    fn the_hardware_of_another_computer_explains_nothing() {
        let of_disk = |name: &str, a: &str, b: &str| Fact {
            topic: Some("disk".to_owned()),
            name: name.to_owned(),
            a: Some(a.to_owned()),
            b: Some(b.to_owned()),
        };
        let settings = [
            of_disk("model of disk 0", "Virtual HD", "SSD 970"),
            of_disk("write cache of disk 0", "on", "off"),
        ];
        let model = "model of disk 0 is SSD 970 in B and Virtual HD in A";
        assert_eq!(changed(&settings, false).as_deref(), Some(model));
        let cache = "write cache of disk 0 is off in B and on in A";
        assert_eq!(changed(&settings, true).as_deref(), Some(cache));
        assert_eq!(changed(&settings[..1], true), None);
    }

    #[test]
    fn where_nothing_is_compared_nothing_is_the_same() {
        assert_eq!(same(true), "Nothing differs between A and B");
        assert_eq!(same(false), "A and B recorded nothing that can be compared");
    }

    #[test]
    fn the_executable_of_a_process_does_not_explain_its_waits() {
        let top = wait("Report.exe", "/all", 100);
        let own = wait("REPORT.EXE", "Report.exe", 100);
        let start = wait("KERNEL32.DLL", "Report.exe", 100);
        let driver = wait("filter.sys", "Report.exe", 60);
        assert_eq!(
            process(&top, &[own.clone(), start, driver]),
            "Report.exe waits 0.100 s longer, 0.060 s of it with filter.sys in the stacks"
        );
        assert_eq!(process(&top, &[own]), "Report.exe waits 0.100 s longer");
    }

    #[test]
    fn operations_on_files_are_of_the_file_system_and_not_of_the_filter_manager() {
        let top = wait("Report.exe", "/all", 100);
        let manager = wait("FLTMGR.SYS", "Report.exe", 90);
        let file_system = wait("Ntfs.sys", "Report.exe", 90);
        assert_eq!(
            process(&top, &[manager, file_system]),
            "Report.exe waits 0.100 s longer, 0.090 s of it with Ntfs.sys in the stacks"
        );
    }

    #[test]
    fn a_wait_is_explained_by_a_module_or_by_what_it_is_for() {
        let top = wait("Report.exe", "/all", 100);
        let driver = [wait("filter.sys", "Report.exe", 60)];
        let query = [wait("a.example", "/all", 98)];
        let awaited: Vec<Awaited> = Awaited::all(DiffTable::Dns, &query).collect();
        let is_unexplained = |modules: &[Change], awaited: &[Awaited]| {
            let rows = Rows {
                finding: None,
                has_shared: true,
                settings: &[],
                has_processes: true,
                processes: &[],
                modules,
                methods: &[],
                awaited,
            };
            is_unexplained_wait(&top, &rows)
        };
        assert!(is_unexplained(&[], &[]));
        assert!(!is_unexplained(&driver, &[]));
        assert!(!is_unexplained(&[], &awaited));
    }

    #[test]
    fn a_module_explains_all_of_a_growth_that_other_code_lessens_by_noise() {
        let top = wait("Report.exe", "/all", 100);
        assert_eq!(
            process(&top, &[wait("overlay.dll", "Report.exe", 103)]),
            "Report.exe waits 0.100 s longer, 0.100 s of it with overlay.dll in the stacks"
        );
        assert_eq!(
            process(&top, &[wait("overlay.dll", "Report.exe", 120)]),
            "Report.exe waits 0.100 s longer"
        );
    }

    #[test]
    fn the_method_of_a_program_that_waits_longer_is_named_and_main_is_not() {
        let waits = |name: &str, of: &str, a_ms: i64, b_ms: i64| Change {
            difference_ns: (b_ms - a_ms) * MS,
            wait_a_ns: Some(a_ms * MS),
            is_shown: true,
            ..wait(name, of, b_ms)
        };
        let top = waits("Report.exe", "/all", 100, 500);
        let methods = [
            waits("Report.exe!main", "Report.exe", 100, 500),
            waits("KernelBase.dll!SleepEx", "Report.exe", 0, 400),
            waits("Report.exe!Retry", "Report.exe", 1, 390),
        ];
        let said_of = |row: &Change, methods: &[Change]| {
            let rows = Rows {
                finding: None,
                has_shared: true,
                settings: &[],
                has_processes: true,
                processes: &[],
                modules: &[],
                methods,
                awaited: &[],
            };
            explained(row, &rows)
        };
        let said = |methods: &[Change]| said_of(&top, methods);
        assert_eq!(
            said(&methods[..]),
            "Report.exe waits 0.400 s longer, 0.389 s of it in Report.exe!Retry"
        );
        assert_eq!(said(&methods[..2]), "Report.exe waits 0.400 s longer");
        let new = waits("Report.exe", "/all", 0, 400);
        let main = waits("Report.exe!main", "Report.exe", 0, 400);
        assert_eq!(said_of(&new, &[main]), "Report.exe waits 0.400 s longer");
    }

    #[test]
    fn the_method_that_a_process_computes_in_is_named_if_no_module_is() {
        let cpu = |name: &str, of: &str, a_ms: i64, b_ms: i64| Change {
            name: name.to_owned(),
            of: Some(of.to_owned()),
            of_time: "cpu".to_owned(),
            difference_ns: (b_ms - a_ms) * MS,
            cpu_a_ns: Some(a_ms * MS),
            cpu_b_ns: Some(b_ms * MS),
            is_shown: true,
            ..Change::default()
        };
        let top = cpu("Report.exe", "/all", 400, 1400);
        let methods = [
            cpu("Report.exe!main", "Report.exe", 400, 1400),
            cpu("Report.exe+0x1200", "Report.exe", 0, 1000),
            cpu("Report.exe!Search", "Report.exe", 50, 1040),
        ];
        let rows = Rows {
            finding: None,
            has_shared: true,
            settings: &[],
            has_processes: true,
            processes: &[],
            modules: &[],
            methods: &methods,
            awaited: &[],
        };
        assert_eq!(
            explained(&top, &rows),
            "Report.exe needs 1.000 s more CPU, 0.990 s of it in Report.exe!Search"
        );
    }
}
