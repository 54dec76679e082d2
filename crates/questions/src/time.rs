//! A time of a log or of another trace, converted to the time of the given traces.

use etwkit_question::Result;
use etwkit_question::clock::{WrittenError, WrittenTime};
use etwkit_question::declare;
use etwkit_question::trace::{INFO, TraceInfo};
use etwkit_question::{
    Above, Answer, Example, Form, Line, OptionError, Question, Ranked, Shows, View, option,
};
use etwkit_sql::time_format::{MAX_DIGITS, TimeFormat, TimeWriter, seconds};

declare! {
    /// Options of `dump time`.
    #[derive(Eq)]
    pub request TimeRequest {
        /// Seconds since the start (12.5), a time of day (17:47:38.416) or a date with time
        /// (2022-10-02 17:47:38). Clock times are in the time zone of the recorded machine unless
        /// +02:00 or Z follows
        time: Option<String> = option("TIME") => Some("0".to_owned()),
    }

    /// The time in a trace.
    pub row TimeRow {
        ts_ns: i64 = "Nanoseconds since its start.",
        local_time: String = "On the recorded machine.",
        utc_time: String = "In UTC.",
        is_utc: bool = "Whether the time of day matches the trace only as UTC.",
    }
}

/// Rows of JSON and CSV: text has a sentence for each trace.
const PLACES: View<TimeRequest, TimeRow> = View::new(&[], |_| 0.0).ranking(|_| Ranked::No);

impl Question for TimeRequest {
    const NAME: &'static str = "time";
    const SENTENCE: &'static str =
        "A time from a log or another trace, as seconds and clock time of these traces";
    const USUAL: &'static [&'static str] = &["time"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "--time 14:23:06.786 slow.etl",
            answer: "the moment of a line in a log",
        },
        Example {
            words: "--time 12.5 slow.etl",
            answer: "the clock time of a moment of the trace",
        },
    ];

    fn form(&self) -> Form<Self> {
        Form::made::<TimeRow>(INFO.to_owned(), |asked: &Self, session| {
            let info = TraceInfo::ask(session)?;
            let rows = asked.place(&info)?.into_iter().collect();
            Ok(Answer::rows(asked, &PLACES, rows)
                .showing(Shows::Sums)
                .below(Above::Nothing))
        })
    }

    fn check(&self) -> std::result::Result<(), OptionError> {
        self.written().map(|_| ())
    }

    fn compares(&self) -> bool {
        true
    }

    /// The names of the traces, and whether one of them ran at that time, are known only with all
    /// answers.
    fn across(&self, all: &mut [(&TraceInfo, &mut Answer)]) -> Result<Option<Answer>> {
        for (info, answer) in &mut *all {
            let lines: Vec<Line> = answer
                .rows_of::<Self, TimeRow>()
                .map(|row| row.sentence(&info.file_name))
                .collect();
            if let Some(part) = answer.parts.last_mut() {
                part.foot.extend(lines);
            }
        }
        if all.iter().any(|(_, answer)| !answer.is_empty()) {
            return Ok(None);
        }
        let never = Line::new(format!("No recording ran at {}", self.text()));
        Ok(Some(
            Answer::rows(self, &PLACES, Vec::<TimeRow>::new()).or_line(never),
        ))
    }
}

impl TimeRow {
    fn sentence(&self, trace: &str) -> Line {
        let note = if self.is_utc {
            ", where it was taken as UTC"
        } else {
            ""
        };
        let at = seconds(self.ts_ns, MAX_DIGITS);
        let local = &self.local_time;
        let utc = &self.utc_time;
        Line::new(format!("{at} s  {local} local  {utc} UTC  {trace}{note}"))
    }
}

impl TimeRequest {
    fn text(&self) -> &str {
        self.time.as_deref().unwrap_or("")
    }

    fn written(&self) -> std::result::Result<WrittenTime, OptionError> {
        let wrong = |error: WrittenError| OptionError::Value {
            option: "time",
            problem: error.to_string(),
        };
        self.text().parse().map_err(wrong)
    }

    /// Returns the position of the time in a trace; `None` if the trace did not run then.
    fn place(&self, info: &TraceInfo) -> Result<Option<TimeRow>> {
        let Some(place) = self.written()?.place(info.clock(), info.duration_ns) else {
            return Ok(None);
        };
        let write = |format| TimeWriter::new(format, MAX_DIGITS, info.clock()).write(place.ts_ns);
        Ok(Some(TimeRow {
            ts_ns: place.ts_ns,
            local_time: write(TimeFormat::Local),
            utc_time: write(TimeFormat::Utc),
            is_utc: place.is_utc,
        }))
    }
}
