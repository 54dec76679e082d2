//! `CPU`: totals of processes, and costs of methods.

use std::collections::{BTreeMap, HashMap};

use etwkit_trace::table::{CpuCore, CpuMethod, CpuProcess};

use crate::json7z::error::Result;
use crate::json7z::import::Import;
use crate::json7z::reader::Reader;
use crate::json7z::rows::write_all;
use crate::json7z::stacks::{JsonMethod, Modules};
use crate::json7z::times::{START_NS, seconds_ns};

/// Nanoseconds of a millisecond and of a microsecond.
const MS: i64 = 1_000_000;
const US: i64 = 1000;

/// The form of the costs of a method, for errors.
const COSTS: &str = "costs of a method as \"0 12 34 0.5000 1.5000 2 7 1 10 99\"";

/// The CPU of processes and methods, and the processors of the section.
#[derive(Debug, Default)]
pub(crate) struct Cpu {
    totals: BTreeMap<Option<i32>, i64>,
    priorities: HashMap<i32, f64>,
    cores: HashMap<i32, Vec<i64>>,
    /// Names of all methods, by number.
    pub(crate) names: Vec<String>,
    costs: Vec<Cost>,
    has_switches: Option<bool>,
    /// True if another section of the file contains waits.
    pub(crate) has_other_waits: bool,
    has_samples: Option<bool>,
    /// Facts of each processor.
    topology: BTreeMap<i32, Core>,
}

/// A processor.
#[derive(Debug, Default, Clone, Copy)]
struct Core {
    mhz: Option<i32>,
    class: Option<i32>,
    performance: Option<i32>,
}

/// The costs of a method in a process.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Cost {
    process: Option<i32>,
    method: u32,
    cpu_ms: i64,
    wait_ms: i64,
    first_ns: i64,
    last_ns: i64,
    threads: i64,
    depth: i64,
    /// Older files do not have it.
    ready_ms: Option<i64>,
    ready_average_us: Option<i64>,
    switches: Option<i64>,
}

impl Cost {
    /// `method cpu wait first last threads depth ready ready-average switches`; the last ones were
    /// added in later versions.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(' ').filter(|part| !part.is_empty());
        let seconds = |text: &str| {
            text.parse()
                .ok()
                .filter(|seconds: &f64| seconds.is_finite())
                .map(seconds_ns)
        };
        let mut cost = Self {
            process: None,
            method: parts.next()?.parse().ok()?,
            cpu_ms: parts.next()?.parse().ok()?,
            wait_ms: parts.next()?.parse().ok()?,
            first_ns: seconds(parts.next()?)?,
            last_ns: seconds(parts.next()?)?,
            threads: parts.next()?.parse().ok()?,
            depth: parts.next()?.parse().ok()?,
            ..Self::default()
        };
        // The last numbers are missing in files of older versions.
        for later in [
            &mut cost.ready_ms,
            &mut cost.ready_average_us,
            &mut cost.switches,
        ] {
            *later = parts.next().map(str::parse).transpose().ok()?;
        }
        Some(cost)
    }
}

impl Cpu {
    /// Reads the section. `ExtendedCPUMetrics` may be in it; `extended` reads that.
    pub(crate) fn read(
        &mut self,
        reader: &mut Reader,
        import: &mut Import<'_>,
        mut extended: impl FnMut(&mut Reader, &mut Import<'_>) -> Result<()>,
    ) -> Result<()> {
        reader.object(|reader, name| {
            match name {
                "PerProcessCPUConsumptionInMs" => self.totals(reader, import)?,
                "PerProcessAvgCPUPriority" => self.priorities(reader, import)?,
                "PerProcessCoreUsage" => self.cores(reader, import)?,
                "PerProcessMethodCostsInclusive" => self.methods(reader, import)?,
                "Topology" => self.topology(reader)?,
                "TimeLine" => timeline(reader, import)?,
                "ExtendedCPUMetrics" => extended(reader, import)?,
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        Ok(())
    }

    fn totals(&mut self, reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
        reader.object(|reader, name| {
            let process = import.process_text(reader, name)?;
            let ms = reader.given(Reader::int)?;
            // Two names may mean one process, whose costs then add up.
            let total = self.totals.entry(process).or_default();
            *total = total.saturating_add(ms);
            Ok(())
        })?;
        Ok(())
    }

    fn priorities(&mut self, reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
        reader.object(|reader, name| {
            let process = import.process_name(reader, name)?;
            self.priorities.extend(process.zip(reader.float()?));
            Ok(())
        })?;
        Ok(())
    }

    fn cores(&mut self, reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
        reader.object(|reader, name| {
            let process = import.process_name(reader, name)?;
            let cores = reader.all(Reader::int)?;
            self.cores.extend(process.map(|process| (process, cores)));
            Ok(())
        })?;
        Ok(())
    }

    fn methods(&mut self, reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
        reader.object(|reader, name| {
            match name {
                "MethodNames" => self.names = reader.texts()?,
                "HasCSwitchData" => self.has_switches = reader.flag()?,
                "HasCPUSamplingData" => self.has_samples = reader.flag()?,
                "ContainsAllCPUData" => {
                    if reader.flag()? != Some(true) {
                        import.lack(
                            "cpu_method: methods with no more than 10 ms of CPU and of waits",
                            1,
                        );
                    }
                }
                "MethodStatsPerProcess" => _ = reader.list(|reader| self.costs(reader, import))?,
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        Ok(())
    }

    fn costs(&mut self, reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
        let mut process = None;
        let begin = self.costs.len();
        reader.object(|reader, name| {
            match name {
                "Process" => process = import.process(reader)?,
                "CostsAsString" => {
                    reader.list(|reader| {
                        let text = reader.text_of(COSTS)?;
                        let wrong = || reader.unexpected(COSTS, format!("the text {text:?}"));
                        self.costs.push(Cost::parse(&text).ok_or_else(wrong)?);
                        Ok(())
                    })?;
                }
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        // The process can follow its costs in the file.
        self.costs
            .iter_mut()
            .skip(begin)
            .for_each(|cost| cost.process = process);
        Ok(())
    }

    fn topology(&mut self, reader: &mut Reader) -> Result<()> {
        reader.object(|reader, name| {
            let wrong = || {
                reader.unexpected(
                    "the number of a processor as name",
                    format!("the name {name:?}"),
                )
            };
            let cpu: i32 = name.parse().map_err(|_| wrong())?;
            let mut core = Core::default();
            reader.object(|reader, name| {
                match name {
                    "NominalFrequencyMHz" => core.mhz = reader.int32()?,
                    "RelativePerformancePercentage" => core.performance = reader.int32()?,
                    "EfficiencyClass" => core.class = reader.int32()?,
                    _ => reader.unknown()?,
                }
                Ok(())
            })?;
            self.topology.insert(cpu, core);
            Ok(())
        })?;
        Ok(())
    }

    /// Nominal speed of a kind of core.
    pub(crate) fn nominal_mhz(&self, class: i32) -> Option<f64> {
        // Without classes all cores are of one kind, which is 0.
        let of = self
            .topology
            .values()
            .filter(|core| core.class.unwrap_or(0) == class);
        of.filter_map(|core| core.mhz)
            .max()
            .filter(|mhz| *mhz > 0)
            .map(f64::from)
    }

    /// Adds the facts of the processor topology to the rows of the processors.
    pub(crate) fn complete(&self, mut cores: Vec<CpuCore>) -> Vec<CpuCore> {
        for (cpu, core) in &self.topology {
            // Rows are numbered from 0 without gaps, so a processor's number is its index.
            let known = usize::try_from(*cpu).ok().and_then(|at| cores.get_mut(at));
            if let Some(row) = known {
                row.nominal_mhz = core.mhz;
                row.efficiency_class = core.class;
                row.relative_performance_percent = core.performance;
            }
        }
        cores
    }

    /// True if CPU times come from samples. Older files do not record this; their times always do.
    pub(crate) fn is_sampled(&self) -> bool {
        self.has_samples.unwrap_or(!self.totals.is_empty())
    }

    /// True if any process has CPU time.
    pub(crate) fn has_cpu(&self) -> bool {
        !self.totals.is_empty()
    }

    /// True if context switches were recorded.
    pub(crate) fn has_switches(&self) -> bool {
        // A file without this flag is judged by its contents.
        let waits =
            |cost: &Cost| cost.wait_ms > 0 || cost.switches.is_some_and(|switches| switches > 0);
        self.has_switches
            .unwrap_or_else(|| self.has_other_waits || self.costs.iter().any(waits))
    }

    /// Writes `cpu_process` and `cpu_method`.
    pub(crate) fn write(&mut self, import: &mut Import<'_>) -> Result<()> {
        let is_sampled = self.is_sampled();
        let has_switches = self.has_switches();
        // The sort is stable, so the methods of a process keep the order of the file.
        self.costs.sort_by_key(|cost| cost.process);
        // These columns cannot be null, so notes have to report that their values mean less.
        let lacking = "cpu_process: samples; threads is the most of one method, first and last come from \
                       its methods";
        import.lack(lacking, self.totals.len());
        import.lack("cpu_method: samples, exclusive_ns", self.costs.len());
        let mut spans: HashMap<Option<i32>, (i64, i64, i64)> = HashMap::new();
        for cost in &self.costs {
            let span = spans
                .entry(cost.process)
                .or_insert((cost.first_ns, cost.last_ns, 0));
            *span = (
                span.0.min(cost.first_ns),
                span.1.max(cost.last_ns),
                span.2.max(cost.threads),
            );
        }
        let mut processes = Vec::new();
        for (process_key, ms) in &self.totals {
            // A process whose methods were all below the limit of the file has no times of its own:
            // it used its CPU at some time during its life.
            let life = import.processes.life(*process_key, import.zero);
            let whole = (
                life.0.unwrap_or(START_NS),
                life.1.unwrap_or(import.duration_ns),
                0,
            );
            let (first_ns, last_ns, threads) = spans.get(process_key).copied().unwrap_or(whole);
            let cores = process_key
                .and_then(|key| self.cores.get(&key))
                .map_or(&[][..], Vec::as_slice);
            let ns = ms.saturating_mul(MS);
            processes.push(CpuProcess {
                process_key: *process_key,
                cpu_ns: if is_sampled { ns } else { 0 },
                // Without samples the CPU times come from context switches.
                run_ns: (!is_sampled).then_some(ns),
                threads,
                priority: process_key
                    .and_then(|key| self.priorities.get(&key))
                    .copied(),
                cores: ranges(cores),
                core_count: cores.len() as i32,
                first_ns,
                last_ns,
                ..CpuProcess::default()
            });
        }
        write_all(processes, import.sink)?;
        let names = &self.names;
        let system = import.system;
        let modules = &import.stacks.modules;
        let row = |cost: &Cost| method(cost, names, modules, (is_sampled, has_switches), system);
        write_all(self.costs.iter().map(row), import.sink)
    }
}

fn method(
    cost: &Cost,
    names: &[String],
    modules: &Modules,
    (is_sampled, has_switches): (bool, bool),
    system: Option<i32>,
) -> CpuMethod {
    // Costs without a name keep their number as the name. If they were dropped, the methods would
    // add up to less CPU than their process.
    let unnamed = format!("method {}", cost.method);
    let named = JsonMethod::parse(
        names
            .get(cost.method as usize)
            .map_or(&unnamed, String::as_str),
    );
    let path = |module| {
        modules
            .path(cost.process, system, module)
            .map(str::to_owned)
    };
    let cpu_ns = cost.cpu_ms.saturating_mul(MS);
    let switched = |ns: Option<i64>| ns.filter(|_| has_switches);
    // The file has the mean and not the sum. A method without a count gets the mean as its sum, for
    // one ready time.
    let count = cost.switches.map_or(1, |switches| switches.max(1));
    let average_ns = cost.ready_average_us.map(|us| us.saturating_mul(US));
    CpuMethod {
        process_key: cost.process,
        module: named.module.map(str::to_owned),
        method: named.method.to_owned(),
        module_path: named.module.and_then(path),
        cpu_ns: if is_sampled { cpu_ns } else { 0 },
        exclusive_ns: None,
        run_ns: (!is_sampled).then_some(cpu_ns),
        wait_ns: switched(Some(cost.wait_ms.saturating_mul(MS))),
        ready_ns: switched(cost.ready_ms.map(|ms| ms.saturating_mul(MS))),
        ready_sum_ns: switched(average_ns.map(|ns| ns.saturating_mul(count))),
        switches: switched(cost.switches),
        ready_count: switched(average_ns.map(|_| count)),
        threads: cost.threads,
        depth: cost.depth as f64,
        first_ns: cost.first_ns,
        last_ns: cost.last_ns,
        ..CpuMethod::default()
    }
}

/// `TimeLine`: milliseconds of CPU for each process and piece of time.
fn timeline(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    reader.object(|reader, name| match name {
        "ProcessTimeLines" => {
            import.leave_out(reader, "CPU.TimeLine, CPU of processes by pieces of time")
        }
        _ => reader.skip(),
    })?;
    Ok(())
}

/// Processors as `0-3,6`.
fn ranges(cores: &[i64]) -> String {
    let mut sorted = cores.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut parts: Vec<(i64, i64)> = Vec::new();
    for core in sorted {
        match parts.last_mut() {
            // The numbers come from the file, and the largest one has no successor.
            Some((_, end)) if end.checked_add(1) == Some(core) => *end = core,
            _ => parts.push((core, core)),
        }
    }
    let text = |(begin, end): &(i64, i64)| {
        if begin == end {
            begin.to_string()
        } else {
            format!("{begin}-{end}")
        }
    };
    parts.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_of_all_versions_are_read() {
        let short = Cost::parse("3 120 45 0.5000 12.3456 2 7").unwrap();
        assert_eq!(
            (
                short.method,
                short.cpu_ms,
                short.wait_ms,
                short.threads,
                short.depth
            ),
            (3, 120, 45, 2, 7)
        );
        assert_eq!(
            (short.first_ns, short.last_ns, short.ready_ms),
            (500_000_000, 12_345_600_000, None)
        );
        let long = Cost::parse("3 120 45 0.5000 12.3456 2 7 9 33 1000").unwrap();
        assert_eq!(
            (long.ready_ms, long.ready_average_us, long.switches),
            (Some(9), Some(33), Some(1000))
        );
        for wrong in [
            "",
            "1 2",
            "a 1 2 3 4 5 6",
            "1 2 3 NaN 4 5 6",
            "1 2 3 4 5 6 7 x",
            "-1 2 3 4 5 6 7",
        ] {
            assert_eq!(Cost::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn processors_are_ranges() {
        assert_eq!(ranges(&[6, 0, 1, 3, 2, 2]), "0-3,6");
        assert_eq!((ranges(&[]), ranges(&[4])), (String::new(), "4".to_owned()));
        assert_eq!(
            ranges(&[i64::MAX, i64::MAX - 1]),
            format!("{}-{}", i64::MAX - 1, i64::MAX)
        );
    }
}
