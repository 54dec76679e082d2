//! `CPUExtended`: speeds of processors, CPU of methods by kind of core, ready times as percentiles.

use std::sync::Arc;

use etwkit_trace::table::{CpuFrequency, CpuMethodClass, ReadyPercentile};

use crate::json7z::cpu::Cpu;
use crate::json7z::error::Result;
use crate::json7z::import::Import;
use crate::json7z::reader::Reader;
use crate::json7z::rows::write_all;
use crate::json7z::stacks::JsonMethod;

/// Bits of a combined index that number the method; those above number the process.
const METHOD_BITS: u32 = 20;

/// The speeds of processors and the methods of the part.
#[derive(Debug, Default)]
pub(crate) struct Extended {
    frequencies: Vec<CpuFrequency>,
    methods: Vec<Method>,
}

/// CPU and ready times of a method in a process.
#[derive(Debug, Default)]
struct Method {
    index: i64,
    usages: Vec<Usage>,
    /// Ready times after a deep sleep, and others.
    deep: Vec<f64>,
    other: Vec<f64>,
}

/// CPU on one kind of core.
#[derive(Debug, Default)]
struct Usage {
    class: Option<i32>,
    mhz: i64,
    cpu_ms: i64,
    cores: i32,
    first_ns: i64,
    last_ns: i64,
}

impl Extended {
    /// Reads the part.
    pub(crate) fn read(&mut self, reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
        reader.object(|reader, name| {
            match name {
                "CPUToFrequencyDurations" => self.frequencies(reader)?,
                "MethodData" => {
                    reader.list(|reader| {
                        let method = method(reader, import)?;
                        self.methods.push(method);
                        Ok(())
                    })?;
                }
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        Ok(())
    }

    fn frequencies(&mut self, reader: &mut Reader) -> Result<()> {
        reader.object(|reader, name| {
            let wrong = || {
                reader.unexpected(
                    "the number of a processor as name",
                    format!("the name {name:?}"),
                )
            };
            let cpu: i32 = name.parse().map_err(|_| wrong())?;
            let mut starts = Vec::new();
            let mut stops = Vec::new();
            let mut mhz = Vec::new();
            reader.object(|reader, name| {
                match name {
                    "StartTimesS" => starts = reader.all(Reader::seconds)?,
                    "EndTimesS" => stops = reader.all(Reader::seconds)?,
                    "AverageFrequencyMHz" => mhz = reader.all(Reader::int32)?,
                    _ => reader.unknown()?,
                }
                Ok(())
            })?;
            if starts.len() != stops.len() || starts.len() != mhz.len() {
                let found = format!("{}, {} and {}", starts.len(), stops.len(), mhz.len());
                return Err(reader.unexpected("as many starts as ends and speeds", found));
            }
            let row = |((start_ns, stop_ns), mhz)| CpuFrequency {
                cpu,
                start_ns,
                stop_ns,
                mhz,
                kind: "delivered",
                performance_percent: None,
            };
            self.frequencies
                .extend(starts.into_iter().zip(stops).zip(mhz).map(row));
            Ok(())
        })?;
        Ok(())
    }

    /// Writes the rows.
    pub(crate) fn write(mut self, cpu: &Cpu, import: &mut Import<'_>) -> Result<()> {
        let has_speeds = !self.frequencies.is_empty();
        self.frequencies.sort_by_key(|row| (row.stop_ns, row.cpu));
        write_all(self.frequencies, import.sink)?;
        // By process, whose number is in the upper bits, as the tables are declared.
        self.methods.sort_by_key(|method| method.index);
        let mut classes = Vec::new();
        let mut percentiles = Vec::new();
        for method in &self.methods {
            // The shift is arithmetic, so -1 stays -1, the index that means no process.
            let process_key = import.processes.at(method.index >> METHOD_BITS);
            let number = (method.index & ((1 << METHOD_BITS) - 1)) as usize;
            let Some(name) = cpu.names.get(number) else {
                import.drop("CPUExtended.MethodData, a method without a name", 1);
                continue;
            };
            let named = JsonMethod::parse(name);
            let path = named.module.and_then(|module| {
                import
                    .stacks
                    .modules
                    .path(process_key, import.system, module)
            });
            for usage in &method.usages {
                classes.push(class(usage, (process_key, named, path), cpu, has_speeds));
            }
            let of = |is_deep_sleep, times: &[f64]| {
                percentile(times, (process_key, named, path), is_deep_sleep)
            };
            percentiles.extend(of(false, &method.other));
            percentiles.extend(of(true, &method.deep));
        }
        import.lack("cpu_method_class: cores", classes.len());
        // Lists of eleven numbers or fewer lack the last one, which later versions added.
        let short = |method: &Method| {
            usize::from((1..=11).contains(&method.other.len()))
                + usize::from((1..=11).contains(&method.deep.len()))
        };
        import.lack(
            "ready_percentile: longest_sum_ns",
            self.methods.iter().map(short).sum(),
        );
        write_all(classes, import.sink)?;
        write_all(percentiles, import.sink)
    }
}

fn method(reader: &mut Reader, import: &mut Import<'_>) -> Result<Method> {
    let mut method = Method::default();
    reader.object(|reader, name| {
        match name {
            "Index" => method.index = reader.int()?.unwrap_or(-1),
            "CPUConsumption" => {
                method.usages = reader.all(|reader| usage(reader, import).map(Some))?;
            }
            "ReadyMetrics" => {
                reader.object(|reader, name| {
                    match name {
                        "Other" => method.other = times(reader)?,
                        "DeepSleep" => method.deep = times(reader)?,
                        _ => reader.unknown()?,
                    }
                    Ok(())
                })?;
            }
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    Ok(method)
}

fn usage(reader: &mut Reader, import: &mut Import<'_>) -> Result<Usage> {
    let mut usage = Usage::default();
    reader.object(|reader, name| {
        match name {
            "EfficiencyClass" => usage.class = reader.int32()?,
            "AverageMHz" => usage.mhz = reader.given(Reader::int)?,
            "CPUMs" => usage.cpu_ms = reader.given(Reader::int)?,
            "UsedCores" => usage.cores = reader.given(Reader::int32)?,
            "EnabledCPUsAvg" => import.leave_out(
                reader,
                "CPUExtended.EnabledCPUsAvg, cores that threads were allowed to run on",
            )?,
            "FirstS" => usage.first_ns = reader.given(Reader::seconds)?,
            "LastS" => usage.last_ns = reader.given(Reader::seconds)?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    Ok(usage)
}

/// `version, count, min, max, p5, p25, p50, p90, p95, p99, sum` and in later files the sum of the
/// longest ones; microseconds.
fn times(reader: &mut Reader) -> Result<Vec<f64>> {
    // A number's meaning is its position, so a missing number keeps its place.
    let times = reader.all(|reader| Ok(Some(reader.float()?.unwrap_or(0.0))))?;
    if times.is_empty() || times.len() >= 11 {
        return Ok(times);
    }
    Err(reader.unexpected("11 numbers or more", times.len().to_string()))
}

type Owner<'t> = (Option<i32>, JsonMethod<'t>, Option<&'t str>);

fn class(
    usage: &Usage,
    (process_key, named, path): Owner<'_>,
    cpu: &Cpu,
    has_speeds: bool,
) -> CpuMethodClass {
    let nominal_mhz = usage.class.and_then(|class| cpu.nominal_mhz(class));
    let cpu_ns = usage.cpu_ms.saturating_mul(1_000_000);
    let mean_mhz = Some(usage.mhz as f64).filter(|mhz| *mhz > 0.0);
    let measured = mean_mhz.filter(|_| has_speeds);
    CpuMethodClass {
        process_key,
        module: named.module.map(Arc::from),
        method: named.method.to_owned(),
        module_path: path.map(Arc::from),
        efficiency_class: usage.class,
        cpu_ns,
        normalized_ns: measured
            .zip(nominal_mhz)
            .map(|(mean, nominal)| (cpu_ns as f64 * mean / nominal).round() as i64),
        mean_mhz,
        nominal_mhz,
        measured_ns: if measured.is_some() { cpu_ns } else { 0 },
        cores: String::new(),
        core_count: usage.cores,
        first_ns: usage.first_ns,
        last_ns: usage.last_ns,
    }
}

fn percentile(
    times: &[f64],
    (process_key, named, path): Owner<'_>,
    is_deep_sleep: bool,
) -> Option<ReadyPercentile> {
    let ns = |at: usize| times.get(at).map_or(0, |us| (us * 1000.0).round() as i64);
    (times.len() >= 11).then(|| ReadyPercentile {
        process_key,
        module: named.module.map(str::to_owned),
        method: Some(named.method.to_owned()),
        module_path: path.map(str::to_owned),
        is_deep_sleep,
        count: times.get(1).map_or(0, |count| *count as i64),
        min_ns: ns(2),
        max_ns: ns(3),
        p5_ns: ns(4),
        p25_ns: ns(5),
        p50_ns: ns(6),
        p90_ns: ns(7),
        p95_ns: ns(8),
        p99_ns: ns(9),
        sum_ns: ns(10),
        longest_sum_ns: ns(11),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_missing_keeps_its_place() {
        let json = br#"[1, 2, "NaN", 4, null, 6, 7, 8, 9, 10, 11, 12]"#;
        let mut reader = Reader::new("x.json", Box::new(std::io::Cursor::new(json))).unwrap();
        assert_eq!(
            times(&mut reader).unwrap(),
            [1., 2., 0., 4., 0., 6., 7., 8., 9., 10., 11., 12.]
        );
    }
}
