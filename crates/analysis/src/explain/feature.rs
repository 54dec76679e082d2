//! Features: quantities that have one value in each run, such as the wait of a method in a process.

use std::collections::HashMap;

use etwkit_sql::filter::TextFilter;

/// Maximum number of features that are kept: those that are largest in some run.
const MOST_FEATURES: usize = 10_000;

/// Maximum number of values of all features that are kept. Of many runs, fewer features are kept.
const MOST_VALUES: usize = 40_960_000;

/// The subject of a feature; kinds that name a cause best come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum FeatureKind {
    Method,
    Driver,
    Dns,
    HardFault,
    Gc,
    Jit,
    Tag,
    Disk,
    File,
    Folder,
    Path,
    Reason,
    Process,
    Pmc,
    Module,
    Setting,
}

impl FeatureKind {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::Driver => "filter driver",
            Self::Dns => "DNS query",
            Self::HardFault => "hard faults",
            Self::Gc => "garbage collection",
            Self::Jit => "JIT",
            Self::Tag => "stack tag",
            Self::Disk => "disk I/O",
            Self::File => "file I/O",
            Self::Folder => "folder",
            Self::Path => "file",
            Self::Reason => "wait reason",
            Self::Process => "process",
            Self::Pmc => "performance counter",
            Self::Module => "module",
            Self::Setting => "setting",
        }
    }
}

/// The measured quantity. Measures that explain better why a thread was held up come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Measure {
    Wait,
    Time,
    Cpu,
    Ready,
    Bytes,
    Count,
    Ratio,
    Present,
}

impl Measure {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Time => "time",
            Self::Cpu => "CPU",
            Self::Ready => "ready",
            Self::Bytes => "bytes",
            Self::Count => "count",
            Self::Ratio => "ratio",
            Self::Present => "has it",
        }
    }

    pub(super) const fn unit(self) -> &'static str {
        match self {
            Self::Wait | Self::Time | Self::Cpu | Self::Ready => "ms",
            Self::Bytes => "bytes",
            Self::Count | Self::Ratio => "",
            Self::Present => "0 or 1",
        }
    }

    /// Returns `true` if it is a time, which adds up to the time of the run.
    pub(super) const fn is_time(self) -> bool {
        matches!(self, Self::Wait | Self::Time | Self::Cpu | Self::Ready)
    }
}

/// The name of a feature.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name {
    pub(super) kind: FeatureKind,
    pub(super) measure: Measure,
    /// Its subject: a method, a tag, a folder.
    pub(super) what: String,
    /// The name of the processes; `None` for features of the whole machine.
    pub(super) process: Option<String>,
}

impl Name {
    /// Returns `true` for waits in the filter manager, below which all filter drivers are.
    pub(super) fn is_wait_for_filters(&self) -> bool {
        let is_in = |module: &str| {
            let named = self.what.split_once('!');
            named.is_some_and(|(of, _)| of.eq_ignore_ascii_case(module))
        };
        self.measure == Measure::Wait
            && match self.kind {
                FeatureKind::Method => is_in("fltmgr.sys"),
                FeatureKind::Tag => self.what.split('\\').any(|part| part == "Filter Manager"),
                _ => false,
            }
    }

    /// Returns the name in a sentence.
    pub(super) fn text(&self) -> String {
        let (kind, measure) = (self.kind.word(), self.measure.word());
        let what = match (self.kind, self.measure) {
            (FeatureKind::Module | FeatureKind::Setting, _) => format!("{kind} {}", self.what),
            (FeatureKind::Process, _) => format!("{measure} of the process"),
            (FeatureKind::Pmc, _) => self.what.clone(),
            (FeatureKind::Method, _) => format!("{measure} in {}", self.what),
            (_, Measure::Time) if self.what.is_empty() => kind.to_owned(),
            (_, Measure::Time) => format!("{kind} {}", self.what),
            _ if self.what.is_empty() => format!("{kind} ({measure})"),
            _ => format!("{kind} {} ({measure})", self.what),
        };
        match &self.process {
            Some(process) => format!("{what} [{process}]"),
            None => what,
        }
    }
}

/// A feature with its value in each run.
#[derive(Debug, Clone)]
pub(super) struct Feature {
    pub(super) name: Name,
    /// True if it is of the measured process.
    pub(super) is_measured: bool,
    /// For a method: the minimum number of frames further in.
    pub(super) depth: f64,
    pub(super) values: Vec<f32>,
}

impl Feature {
    pub(super) fn numbers(&self) -> Vec<f64> {
        self.values.iter().map(|value| f64::from(*value)).collect()
    }
}

/// The values of a feature in the runs that have some: most files and folders are in few runs.
#[derive(Debug)]
struct Found {
    depth: f64,
    /// Each with its run.
    values: Vec<(u32, f32)>,
}

impl Found {
    /// Adds up the values of each run. Sorts them by run.
    fn summed(mut self) -> Self {
        // Stable, since the last digit of a sum depends on the order.
        self.values.sort_by_key(|(run, _)| *run);
        self.values.dedup_by(|next, first| {
            let is_same_run = next.0 == first.0;
            if is_same_run {
                first.1 += next.1;
            }
            is_same_run
        });
        self
    }

    /// Returns `true` if some runs have another value than others.
    fn differs(&self, runs: usize) -> bool {
        let has_all = self.values.len() == runs;
        let first = self.values.first().filter(|_| has_all);
        let usual = first.map_or(0.0, |(_, value)| *value);
        let mut values = self.values.iter();
        values.any(|(_, value)| value.total_cmp(&usual).is_ne())
    }

    fn largest(&self) -> f32 {
        let values = self.values.iter().map(|(_, value)| *value);
        values.fold(0.0, f32::max)
    }

    fn into_feature(self, name: Name, runs: usize) -> Feature {
        let mut values = vec![0.0; runs];
        for (run, value) in self.values {
            if let Some(of_run) = values.get_mut(run as usize) {
                *of_run = value;
            }
        }
        Feature {
            name,
            is_measured: false,
            depth: self.depth,
            values,
        }
    }
}

/// Returns the maximum number of features of so many runs.
fn most_features(runs: usize) -> usize {
    MOST_FEATURES.min(MOST_VALUES / runs.max(1))
}

/// The features of all runs.
#[derive(Debug, Default)]
pub(super) struct Matrix {
    pub(super) runs: usize,
    pub(super) features: Vec<Feature>,
    /// Features until all of their values are there.
    found: HashMap<Name, Found>,
}

impl Matrix {
    pub(super) fn new(runs: usize) -> Self {
        Self {
            runs,
            features: Vec::new(),
            found: HashMap::new(),
        }
    }

    /// Adds to the value of a feature in a run. The caller limits the number of values.
    pub(super) fn add(&mut self, run: usize, name: Name, depth: f64, value: f64) {
        let Some(run) = u32::try_from(run).ok().filter(|_| run < self.runs) else {
            return;
        };
        let found = self.found.entry(name).or_insert_with(|| Found {
            depth,
            values: Vec::new(),
        });
        // The least depth of any run: a method is near to where threads stop if it is so even once.
        found.depth = found.depth.min(depth);
        found.values.push((run, narrow(value)));
    }

    /// Sorts features into an order that does not depend on the order of rows, drops features that
    /// are equal in all runs, and keeps the largest of each measure.
    pub(super) fn finish(&mut self) {
        let runs = self.runs;
        let found = std::mem::take(&mut self.found).into_iter();
        let summed = found.map(|(name, found)| (name, found.summed()));
        let mut all: Vec<(Name, Found)> = summed.filter(|(_, found)| found.differs(runs)).collect();
        all.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let most = most_features(runs);
        if all.len() > most {
            // Times first: other measures have other units, and bytes would always be the largest.
            all.sort_by(|(a, of_a), (b, of_b)| {
                let by_measure = b.measure.is_time().cmp(&a.measure.is_time());
                by_measure.then_with(|| of_b.largest().total_cmp(&of_a.largest()))
            });
            all.truncate(most);
            all.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        }
        let features = all.into_iter();
        self.features = features
            .map(|(name, found)| found.into_feature(name, runs))
            .collect();
    }

    /// Marks the features of these processes as measured.
    pub(super) fn measure(&mut self, processes: &TextFilter) {
        for feature in &mut self.features {
            feature.is_measured = feature
                .name
                .process
                .as_deref()
                .is_some_and(|name| processes.matches(Some(name)));
        }
    }

    /// Returns the program that runs in each run and whose CPU time differs most.
    pub(super) fn program_that_differs(&self) -> Option<&str> {
        let spread = |feature: &Feature| {
            let most = feature.values.iter().copied().fold(f32::MIN, f32::max);
            let least = feature.values.iter().copied().fold(f32::MAX, f32::min);
            most - least
        };
        self.features
            .iter()
            .filter(|feature| feature.name.kind == FeatureKind::Process)
            .filter(|feature| feature.name.measure == Measure::Cpu)
            .filter(|feature| feature.values.iter().all(|value| *value > 0.0))
            .max_by(|a, b| spread(a).total_cmp(&spread(b)))
            .and_then(|feature| feature.name.process.as_deref())
    }

    /// Returns the matrix of these runs alone.
    pub(super) fn of_runs(&self, kept: &[usize]) -> Self {
        let feature = |feature: &Feature| {
            // A feature has a value for each run.
            let values = kept
                .iter()
                .map(|run| feature.values.get(*run).copied().unwrap_or_default());
            Feature {
                values: values.collect(),
                ..feature.clone()
            }
        };
        Self {
            runs: kept.len(),
            features: self.features.iter().map(feature).collect(),
            found: HashMap::new(),
        }
    }
}

/// Values are compared, not added up to the last digit: half the memory is enough.
#[expect(
    clippy::cast_possible_truncation,
    reason = "seven digits are enough to compare runs"
)]
fn narrow(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(what: &str, measure: Measure) -> Name {
        let process = Some("a.exe".to_owned());
        Name {
            kind: FeatureKind::Method,
            measure,
            what: what.to_owned(),
            process,
        }
    }

    #[test]
    fn values_add_up_and_equal_ones_go() {
        let mut matrix = Matrix::new(3);
        for (run, what, value) in [
            (0, "m!b", 5.0),
            (2, "m!b", 1.0),
            (2, "m!b", 2.0),
            (1, "m!a", 4.0),
        ] {
            matrix.add(run, name(what, Measure::Wait), 1.0, value);
        }
        for run in 0..3 {
            matrix.add(run, name("m!same", Measure::Wait), 1.0, 9.0);
        }
        matrix.add(7, name("m!a", Measure::Wait), 1.0, 9.0);
        matrix.finish();
        let all: Vec<(&str, &[f32])> = matrix
            .features
            .iter()
            .map(|f| (f.name.what.as_str(), f.values.as_slice()))
            .collect();
        assert_eq!(
            all,
            [("m!a", &[0.0, 4.0, 0.0][..]), ("m!b", &[5.0, 0.0, 3.0])]
        );
        assert_eq!(matrix.of_runs(&[2, 0]).features[1].values, [3.0, 5.0]);
    }

    #[test]
    fn memory_is_bounded() {
        let mut matrix = Matrix::new(2);
        for number in 0..MOST_FEATURES + 50 {
            matrix.add(
                0,
                name(&format!("m!{number}"), Measure::Wait),
                1.0,
                number as f64 + 1.0,
            );
        }
        matrix.finish();
        assert_eq!(matrix.features.len(), MOST_FEATURES);
        assert!(matrix.features.iter().all(|f| f.values[0] > 50.0));
        let most = [4_096, 8_192, 65_536].map(most_features);
        assert_eq!(most, [10_000, 5_000, 625]);
        // Before the largest are known, a feature of one run takes the memory of one value.
        let mut matrix = Matrix::new(1_000_000);
        matrix.add(999_999, name("m!rare", Measure::Wait), 1.0, 5.0);
        let values: usize = matrix.found.values().map(|found| found.values.len()).sum();
        assert_eq!(values, 1);
        matrix.finish();
        assert_eq!(matrix.features[0].values[999_998..], [0.0, 5.0]);
    }

    #[test]
    fn the_program_that_differs_most_is_found_by_its_cpu() {
        let mut matrix = Matrix::new(2);
        let of = |process: &str, measure| Name {
            kind: FeatureKind::Process,
            measure,
            what: String::new(),
            process: Some(process.to_owned()),
        };
        assert_eq!(matrix.program_that_differs(), None);
        for (run, process, measure, value) in [
            (0, "busy.exe", Measure::Cpu, 900.0),
            (1, "busy.exe", Measure::Cpu, 910.0),
            (0, "late.exe", Measure::Cpu, 5.0),
            (1, "late.exe", Measure::Cpu, 45.0),
            (1, "once.exe", Measure::Cpu, 700.0),
            (1, "idle.exe", Measure::Wait, 500.0),
        ] {
            matrix.add(run, of(process, measure), 0.0, value);
        }
        matrix.finish();
        assert_eq!(matrix.program_that_differs(), Some("late.exe"));
    }

    #[test]
    fn names_read_well() {
        assert_eq!(
            name("nt!KeWait", Measure::Wait).text(),
            "wait in nt!KeWait [a.exe]"
        );
        let of = |kind, measure, what: &str| Name {
            kind,
            measure,
            what: what.to_owned(),
            process: None,
        };
        assert_eq!(
            of(FeatureKind::HardFault, Measure::Time, "").text(),
            "hard faults"
        );
        assert_eq!(
            of(FeatureKind::Dns, Measure::Time, "a.example").text(),
            "DNS query a.example"
        );
        assert_eq!(
            of(FeatureKind::Tag, Measure::Cpu, "Antivirus").text(),
            "stack tag Antivirus (CPU)"
        );
        assert_eq!(
            of(FeatureKind::Setting, Measure::Present, "write cache: off").text(),
            "setting write cache: off"
        );
    }
}
