//! File names of tests.

use chrono::{NaiveDate, NaiveDateTime};
use etwkit_base::endings;

/// The side of a test that was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeneratedAt {
    /// `CLT`: the client.
    Client,
    /// `SRV`: the server.
    Server,
    /// `SINGLE`: a test with one machine.
    Single,
}

/// The result of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestStatus {
    /// The test passed.
    Passed,
    /// The test failed.
    Failed,
}

/// A name in one of the forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestName {
    /// The test case.
    pub test_case: String,
    /// Duration of the test, in milliseconds.
    pub duration_ms: u64,
    /// The recorded machine.
    pub machine: String,
    /// The recorded side, if the name has it.
    pub generated_at: Option<GeneratedAt>,
    /// The result of the test, if the name has it.
    pub status: Option<TestStatus>,
    /// Local wall-clock time of the test, if the name has it.
    pub performed_at: Option<NaiveDateTime>,
}

/// File name extensions of extracts, the longest first.
const OF_EXTRACTS: [&str; 4] = [".etwx.zip", ".etwx", ".json7z", ".json"];

/// Returns a file name without the ending of a trace, archive or extract; `None` for other files.
#[must_use]
pub fn stem(file_name: &str) -> Option<&str> {
    // Extracts come first, so that `.etwx.zip` is not taken for `.zip`.
    OF_EXTRACTS
        .iter()
        .find_map(|ending| endings::strip(file_name, ending))
        .or_else(|| endings::stem(file_name))
}

impl TestName {
    /// Parses the name of a trace, archive or extract; `None` if it has none of the forms.
    #[must_use]
    pub fn parse(file_name: &str) -> Option<Self> {
        let stem = stem(file_name)?;
        // A test case may itself contain such a part: the last matching one counts.
        let places = stem
            .match_indices('_')
            .map(|(at, _)| at)
            .collect::<Vec<_>>();
        places.into_iter().rev().find_map(|at| {
            let test_case = stem.get(..at)?;
            let rest = stem.get(at + 1..)?;
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let duration_ms = rest.get(..digits)?.parse().ok()?;
            let rest = rest.get(digits..)?.strip_prefix("ms")?;
            let name = Self {
                test_case: test_case.to_owned(),
                duration_ms,
                machine: String::new(),
                generated_at: None,
                status: None,
                performed_at: None,
            };
            if test_case.is_empty() {
                None
            } else {
                name.of_rest(rest)
            }
        })
    }

    fn of_rest(&self, rest: &str) -> Option<Self> {
        // The forms with a date first: the last one takes any word that can be the name of a
        // machine.
        self.long(rest)
            .or_else(|| self.short(rest))
            .or_else(|| self.undated(rest))
    }

    /// Parses `_MACHINE_CLT_TestStatus-Passed_20200717-124447`.
    fn long(&self, rest: &str) -> Option<Self> {
        let (rest, date) = rest.strip_prefix('_')?.rsplit_once('_')?;
        let (rest, status) = rest.rsplit_once('_')?;
        let (machine, side) = rest.rsplit_once('_')?;
        let generated_at = match side {
            "CLT" => GeneratedAt::Client,
            "SRV" => GeneratedAt::Server,
            "SINGLE" => GeneratedAt::Single,
            _ => return None,
        };
        let status = match status.strip_prefix("TestStatus-")? {
            "Passed" => Some(TestStatus::Passed),
            "Failed" => Some(TestStatus::Failed),
            "Unknown" => None,
            _ => return None,
        };
        let performed_at = Some(date_time(date)?);
        let machine = Some(machine.to_owned()).filter(|machine| !machine.is_empty())?;
        Some(Self {
            machine,
            generated_at: Some(generated_at),
            status,
            performed_at,
            ..self.clone()
        })
    }

    /// Parses `MACHINE.20200717-124447`, or the same with a dash before the date.
    fn short(&self, rest: &str) -> Option<Self> {
        let at = rest.len().checked_sub("20200717-124447".len())?;
        let performed_at = Some(date_time(rest.get(at..)?)?);
        let machine = rest.get(..at)?;
        // A point, a dash, or a point and a dash separate the machine and the date.
        let end = machine
            .strip_suffix('-')
            .map_or(machine, |machine| machine.trim_end_matches('.'));
        let end = end.strip_suffix('.').unwrap_or(end);
        if end.len() == machine.len() || end.is_empty() || end.starts_with('_') {
            return None;
        }
        Some(Self {
            machine: end.to_owned(),
            performed_at,
            ..self.clone()
        })
    }

    /// Parses `MACHINE`, as in names without a date: letters, digits, dashes and underscores, up to
    /// the first point. Two last parts of digits behind dashes are a date, which nobody can read.
    fn undated(&self, rest: &str) -> Option<Self> {
        let (machine, date) = rest.split_once('.').unwrap_or((rest, ""));
        let machine = without_number(machine)
            .and_then(without_number)
            .unwrap_or(machine);
        let is_name = machine.starts_with(|c: char| c.is_ascii_alphanumeric())
            && machine
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        // A date after the machine without a dot between is not one of the forms.
        let at = machine.len().saturating_sub("20200717-124447".len());
        let has_date = date.is_empty() && machine.get(at..).and_then(date_time).is_some();
        (is_name && !has_date).then(|| Self {
            machine: machine.to_owned(),
            ..self.clone()
        })
    }
}

/// Returns the text before a last dash that only digits follow.
fn without_number(text: &str) -> Option<&str> {
    let (before, digits) = text.rsplit_once('-')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(before)
}

/// Parses `20200717-124447`.
fn date_time(text: &str) -> Option<NaiveDateTime> {
    let (date, time) = text.split_once('-')?;
    let is_number =
        |text: &str, length| text.len() == length && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(date, 8) || !is_number(time, 6) {
        return None;
    }
    let part = |text: &str, from: usize, to: usize| text.get(from..to)?.parse::<u32>().ok();
    let year = i32::try_from(part(date, 0, 4)?).ok()?;
    let day = NaiveDate::from_ymd_opt(year, part(date, 4, 6)?, part(date, 6, 8)?)?;
    day.and_hms_opt(part(time, 0, 2)?, part(time, 2, 4)?, part(time, 4, 6)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names() {
        let name =
            TestName::parse("CallupAdhocWarmReadingCT_3117msFO9DE01T0162PC.20200717-124447.7z")
                .unwrap();
        assert_eq!(
            (&*name.test_case, name.duration_ms),
            ("CallupAdhocWarmReadingCT", 3117)
        );
        assert_eq!(
            (&*name.machine, name.generated_at, name.status),
            ("FO9DE01T0162PC", None, None)
        );
        assert_eq!(
            name.performed_at.unwrap().to_string(),
            "2020-07-17 12:44:47"
        );
        for other in [
            "Case_5msPC-20200717-124447.etl",
            "Case_5msPC.-20200717-124447.ETWX",
            "Case_5msPC.20200717-124447.etwx.zip",
        ] {
            let name = TestName::parse(other).unwrap();
            assert_eq!(
                (&*name.test_case, &*name.machine, name.duration_ms),
                ("Case", "PC", 5),
                "{other}"
            );
        }
    }

    #[test]
    fn long_names() {
        let text = "Open_My_Case_3117ms_MY_PC-1_SRV_TestStatus-Failed_20200717-124447.etl";
        let name = TestName::parse(text).unwrap();
        assert_eq!(
            (&*name.test_case, name.duration_ms, &*name.machine),
            ("Open_My_Case", 3117, "MY_PC-1")
        );
        assert_eq!(
            (name.generated_at, name.status),
            (Some(GeneratedAt::Server), Some(TestStatus::Failed))
        );
        let unknown =
            TestName::parse("A_1ms_PC_SINGLE_TestStatus-Unknown_20200717-124447.zip").unwrap();
        assert_eq!(
            (unknown.generated_at, unknown.status),
            (Some(GeneratedAt::Single), None)
        );
        // A test case that looks like a duration.
        let name = TestName::parse("Wait_5ms_7msPC.20200717-124447.etl").unwrap();
        assert_eq!((&*name.test_case, name.duration_ms), ("Wait_5ms", 7));
    }

    #[test]
    fn names_without_a_date() {
        for (text, case, duration_ms, machine) in [
            ("Case_11341msPC.json7z", "Case", 11341, "PC"),
            (
                "Open_Case_7ms_9msFO9DE01-PC.etl",
                "Open_Case_7ms",
                9,
                "FO9DE01-PC",
            ),
            // What other programs add to a name stays with the machine, or ends it.
            (
                "Case_500msMachine-With_SomeOtherData.7z",
                "Case",
                500,
                "Machine-With_SomeOtherData",
            ),
            ("Case_5msMY_PC.etl", "Case", 5, "MY_PC"),
            ("Case_5msPC.10-06-2022.19-46-16.json", "Case", 5, "PC"),
            ("Case_5msPC.before.the.patch.etl", "Case", 5, "PC"),
            // No calendar has this date.
            ("Case_5msPC.20201317-124447.etl", "Case", 5, "PC"),
            ("Case_5msMY-PC-20201317-124447.etl", "Case", 5, "MY-PC"),
            ("Case_5msPC-7.etl", "Case", 5, "PC-7"),
        ] {
            let name = TestName::parse(text).unwrap();
            assert_eq!(
                (&*name.test_case, name.duration_ms, &*name.machine),
                (case, duration_ms, machine)
            );
            assert_eq!(
                (name.performed_at, name.generated_at),
                (None, None),
                "{text}"
            );
        }
    }

    #[test]
    fn other_names() {
        for text in [
            "trace.etl",
            "Case_5msPC.20200717-124447.txt",
            "Case_5msPC20200717-124447.etl",
            "Case_5ms.20200717-124447.etl",
            "Case_msPC.20200717-124447.etl",
            "_5msPC.20200717-124447.etl",
            "Case_99999999999999999999msPC.20200717-124447.etl",
            "Case_5ms_PC_OTHER_TestStatus-Passed_20200717-124447.etl",
            "Käse_5msPÇ.2020071é-124447.etl",
            ".etl",
            "",
        ] {
            assert_eq!(TestName::parse(text), None, "{text}");
        }
    }
}
