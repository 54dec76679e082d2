//! Features: quantities that have one value in each run, such as the wait of a method in a process.

use std::collections::HashMap;

use etwkit_sql::filter::TextFilter;

/// Maximum number of features that are kept: those that are largest in some run.
const MOST_FEATURES: usize = 10_000;

/// The subject of a feature; kinds that name a cause best come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
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

impl Kind {
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
    pub(super) kind: Kind,
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
                Kind::Method => is_in("fltmgr.sys"),
                Kind::Tag => self.what.split('\\').any(|part| part == "Filter Manager"),
                _ => false,
            }
    }

    /// Returns the name in a sentence.
    pub(super) fn text(&self) -> String {
        let (kind, measure) = (self.kind.word(), self.measure.word());
        let what = match (self.kind, self.measure) {
            (Kind::Module | Kind::Setting, _) => format!("{kind} {}", self.what),
            (Kind::Process, _) => format!("{measure} of the process"),
            (Kind::Pmc, _) => self.what.clone(),
            (Kind::Method, _) => format!("{measure} in {}", self.what),
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

/// The features of all runs.
#[derive(Debug, Default)]
pub(super) struct Matrix {
    pub(super) runs: usize,
    pub(super) features: Vec<Feature>,
    places: HashMap<Name, usize>,
}

impl Matrix {
    pub(super) fn new(runs: usize) -> Self {
        Self {
            runs,
            features: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Adds to the value of a feature in a run. The caller limits the number of features.
    pub(super) fn add(&mut self, run: usize, name: Name, depth: f64, value: f64) {
        let place = match self.places.get(&name) {
            Some(place) => *place,
            None => {
                let values = vec![0.0; self.runs];
                self.features.push(Feature {
                    name: name.clone(),
                    is_measured: false,
                    depth,
                    values,
                });
                self.places
                    .insert(name, self.features.len().saturating_sub(1));
                self.features.len().saturating_sub(1)
            }
        };
        let Some(feature) = self.features.get_mut(place) else {
            return;
        };
        // The least depth of any run: a method is near to where threads stop if it is so even once.
        feature.depth = feature.depth.min(depth);
        if let Some(of_run) = feature.values.get_mut(run) {
            *of_run += narrow(value);
        }
    }

    /// Sorts features into an order that does not depend on the order of rows, drops features that
    /// are equal in all runs, and keeps the largest of each measure.
    pub(super) fn finish(&mut self) {
        // Places change below; nothing is added after this.
        self.places = HashMap::new();
        let differs = |feature: &Feature| {
            let by_first = feature.values.split_first();
            by_first.is_some_and(|(first, others)| {
                others.iter().any(|value| value.total_cmp(first).is_ne())
            })
        };
        self.features.retain(|feature| differs(feature));
        self.features.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        if self.features.len() > MOST_FEATURES {
            // Times first: other measures have other units, and bytes would always be the largest.
            let is_time = |feature: &Feature| feature.name.measure.is_time();
            let most = |feature: &Feature| feature.values.iter().copied().fold(0.0, f32::max);
            let by_size = |a: &Feature, b: &Feature| {
                is_time(b)
                    .cmp(&is_time(a))
                    .then_with(|| most(b).total_cmp(&most(a)))
            };
            self.features.sort_by(by_size);
            self.features.truncate(MOST_FEATURES);
            self.features.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        }
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
            .filter(|feature| feature.name.kind == Kind::Process)
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
            places: HashMap::new(),
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
            kind: Kind::Method,
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
    }

    #[test]
    fn the_program_that_differs_most_is_found_by_its_cpu() {
        let mut matrix = Matrix::new(2);
        let of = |process: &str, measure| Name {
            kind: Kind::Process,
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
        assert_eq!(of(Kind::HardFault, Measure::Time, "").text(), "hard faults");
        assert_eq!(
            of(Kind::Dns, Measure::Time, "a.example").text(),
            "DNS query a.example"
        );
        assert_eq!(
            of(Kind::Tag, Measure::Cpu, "Antivirus").text(),
            "stack tag Antivirus (CPU)"
        );
        assert_eq!(
            of(Kind::Setting, Measure::Present, "write cache: off").text(),
            "setting write cache: off"
        );
    }
}
