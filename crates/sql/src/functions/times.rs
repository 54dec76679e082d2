//! Numbers and times for people.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array, StringArray};
use datafusion::arrow::compute::unary;
use datafusion::arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type};
use datafusion::error::Result;

use super::{Function, arguments};
use crate::time_format::{MAX_DIGITS, TimeFormat, TimeWriter, TraceClock};

pub(super) static FUNCTIONS: &[Function] = &[
    Function {
        call: "ms(ns)",
        doc: "Nanoseconds in milliseconds.",
        example: "SELECT ms(1500000)",
        answer: "1.5",
        arguments: &[DataType::Float64],
        returns: DataType::Float64,
        compute: |columns| divided(columns, 1e6),
    },
    Function {
        call: "us(ns)",
        doc: "Nanoseconds in microseconds.",
        example: "SELECT us(1500)",
        answer: "1.5",
        arguments: &[DataType::Float64],
        returns: DataType::Float64,
        compute: |columns| divided(columns, 1e3),
    },
    Function {
        call: "seconds(ns)",
        doc: "Nanoseconds in seconds.",
        example: "SELECT seconds(2500000000)",
        answer: "2.5",
        arguments: &[DataType::Float64],
        returns: DataType::Float64,
        compute: |columns| divided(columns, 1e9),
    },
    Function {
        call: "hex(number)",
        doc: "The bit pattern in hexadecimal digits; for addresses and keywords. Numbers of 32 bits, such as \
              an NTSTATUS, are extended with their sign: name those with `ntstatus_name`.",
        example: "SELECT hex(255), hex(-1)",
        answer: "0xff|0xffffffffffffffff",
        arguments: &[DataType::Int64],
        returns: DataType::Utf8,
        compute: |columns| {
            let [numbers] = arguments(columns)?;
            let numbers = numbers.as_primitive::<Int64Type>().iter();
            let texts = numbers.map(|number| number.map(|number| format!("{number:#x}")));
            Ok(Arc::new(texts.collect::<StringArray>()) as ArrayRef)
        },
    },
    Function {
        call: "utc_time(start_filetime, ns)",
        doc: "Date and time in UTC, to the microsecond, of a time in a trace; `start_filetime` is a column of table `trace`.",
        example: "SELECT utc_time(133590312000000000, 1500000000)",
        answer: "2024-05-01 10:00:01.500000",
        arguments: &[DataType::Int64, DataType::Int64],
        returns: DataType::Utf8,
        compute: |columns| {
            let [starts, times] = arguments(columns)?;
            let biases = (0..times.len()).map(|_| None);
            clock_times(TimeFormat::Utc, starts, biases, times)
        },
    },
    Function {
        call: "local_time(start_filetime, bias_minutes, ns)",
        doc: "Date and time on the recorded machine, to the microsecond; `bias_minutes` is `time_zone_bias_minutes` of \
              table `trace`. Without it the time is in UTC.",
        example: "SELECT local_time(133590312000000000, -120, 1500000000)",
        answer: "2024-05-01 12:00:01.500000",
        arguments: &[DataType::Int64, DataType::Int32, DataType::Int64],
        returns: DataType::Utf8,
        compute: |columns| {
            let [starts, biases, times] = arguments(columns)?;
            clock_times(
                TimeFormat::Local,
                starts,
                biases.as_primitive::<Int32Type>().iter(),
                times,
            )
        },
    },
];

fn divided(columns: &[ArrayRef], by: f64) -> Result<ArrayRef> {
    let [times] = arguments(columns)?;
    let quotients: Float64Array = unary(times.as_primitive::<Float64Type>(), |time| time / by);
    Ok(Arc::new(quotients))
}

fn clock_times(
    format: TimeFormat,
    starts: &ArrayRef,
    biases: impl Iterator<Item = Option<i32>>,
    times: &ArrayRef,
) -> Result<ArrayRef> {
    let rows = starts
        .as_primitive::<Int64Type>()
        .iter()
        .zip(biases)
        .zip(times.as_primitive::<Int64Type>());
    let texts = rows.map(|((start_filetime, bias_minutes), time)| {
        let clock = TraceClock {
            start_filetime: start_filetime?,
            bias_minutes,
        };
        Some(TimeWriter::new(format, MAX_DIGITS, clock).write(time?))
    });
    Ok(Arc::new(texts.collect::<StringArray>()))
}
