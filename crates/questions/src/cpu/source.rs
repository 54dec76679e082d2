//! The source of CPU times: samples or context switches.
//!
//! All answers about a trace have one source, for every range and every process of it, so that rows
//! of one answer can be compared. Samples and context switches measure different things (see
//! `docs/numbers/cpu.md`), so answers of different sources cannot be compared.

use etwkit_question::{Error, Result};

/// More than 0 if the trace has a busy sample. An extract that was made of sums has CPU without
/// numbers of samples.
pub(crate) const SAMPLED: &str =
    "SELECT coalesce(sum(samples), 0) + coalesce(max(cpu_ns), 0) FROM cpu_process";

/// The value of [`SAMPLED`] as a column of each row of `cpu_process`, for questions that read the
/// table anyway.
pub(crate) const SAMPLED_OF_ALL: &str =
    "coalesce(sum(samples) OVER (), 0) + coalesce(max(cpu_ns) OVER (), 0)";

/// The source of CPU times from single events, for a question that reads these anyway. A range has
/// the source of the whole trace.
pub(crate) const SAMPLED_EVENTS: &str = "SELECT count(*) FROM cpu_sample WHERE NOT is_idle";

/// Returns the column that names the source; `sampled` is more than 0 if the trace has samples.
pub(crate) fn column(sampled: &str, name: &str) -> String {
    let samples = CpuSource::Samples.name();
    let switches = CpuSource::ContextSwitches.name();
    format!("CASE WHEN ({sampled}) > 0 THEN '{samples}' ELSE '{switches}' END AS {name}")
}

/// The source of CPU times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CpuSource {
    /// Weights of samples of the profile interrupt.
    Samples,
    /// Time on processors from context switches, if the trace has no busy sample. For a method or
    /// stack it is the time of the scheduling slices that started with it in the stack.
    ContextSwitches,
}

impl CpuSource {
    /// Returns its name in JSON and CSV.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Samples => "samples",
            Self::ContextSwitches => "context_switches",
        }
    }

    /// Returns the source of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Samples, Self::ContextSwitches]
            .into_iter()
            .find(|source| source.name() == name)
    }
}

/// Checks that CPU times of traces, each with its name, can be compared.
///
/// # Errors
/// Some traces are sampled and some are not.
pub fn check_comparable<'a>(
    all: impl IntoIterator<Item = (Option<CpuSource>, &'a str)>,
) -> Result<()> {
    let mut sampled = None;
    let mut switched = None;
    for (source, name) in all {
        match source {
            Some(CpuSource::Samples) => sampled = sampled.or(Some(name)),
            Some(CpuSource::ContextSwitches) => switched = switched.or(Some(name)),
            None => {}
        }
    }
    match sampled.zip(switched) {
        Some((sampled, switched)) => Err(Error::CpuSourcesDiffer {
            sampled: sampled.to_owned(),
            switched: switched.to_owned(),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_have_the_names_that_the_column_has() {
        for source in [CpuSource::Samples, CpuSource::ContextSwitches] {
            assert!(column(SAMPLED, "source").contains(&format!("'{}'", source.name())));
            assert_eq!(CpuSource::named(source.name()), Some(source));
        }
        assert_eq!(CpuSource::named("elsewhere"), None);
    }

    #[test]
    fn only_traces_of_one_source_are_comparable() {
        let (samples, switches) = (Some(CpuSource::Samples), Some(CpuSource::ContextSwitches));
        assert!(check_comparable([(samples, "a"), (None, "b"), (samples, "c")]).is_ok());
        assert!(check_comparable([(switches, "a"), (switches, "b")]).is_ok());
        let error = check_comparable([(None, "a"), (switches, "b"), (samples, "c")]).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("CPU of c is sampled, CPU of b is time on processors"),
            "{error}"
        );
        assert!(!error.is_nothing() && error.hint().is_some());
    }
}
