//! Delays of programs with windows that Windows detected: sums by process and kind, or single ones.

use etwkit_question::Format::{Id, Milliseconds, Moment, Process, ProcessLine, Whole, Word};
use etwkit_question::Recorded;
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS, ProcessQuery, stack_text};
use etwkit_question::{Column, Example, Form, Question, Ranked, View, frames, group, option};

declare! {
    /// Orders of sums and of single delays.
    pub orders UiDelaySort {
        "duration" => Duration: "union_ns" / "d.duration_ns" =
            "Time in which at least one delay was under way; of single delays their length.",
        "max" => Max: "max_duration_ns" / "d.duration_ns" = "Longest delay.",
        "count" => Count: "count" / "d.start_ns" = "How many.",
        "time" => Time: "union_ns" / "d.start_ns" = "Start of single delays.",
    }

    /// Options of `dump ui-delay`.
    #[derive(Eq)]
    pub request UiDelayRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Only this kind: no look at messages, input that waited, the cursor that asks to wait
        kind: Option<String> = option("KIND").among(&["message", "input", "wait-cursor"]),
        /// Only delays of windows of this class, or inside one of this class (*, ?, several with ;,
        /// ! excludes)
        class: Option<String> = option("NAMES").called("class-name"),
        /// Only delays of this length (ms)
        duration: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only delays that reach into this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Single delays
        details: bool = option("").shape(),
        /// With --details: stacks
        stacks: bool = option("").called("show-stack").requires("details").output(),
        /// Order; of single delays duration or time
        sort: UiDelaySort = option("ORDER").called("sort-by").shape(),
    }

    /// Delays of a kind of a process.
    pub row UiDelayRow: process {
        ..process = "Process; missing if it is not known.",
        kind: String = "`message`, `input` or `wait_cursor`.",
        count: i64 = "Delays.",
        union_ns: i64 = "Time in which at least one of them was under way.",
        duration_ns: i64 = "Sum of their lengths.",
        max_duration_ns: i64 = "Longest delay.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// A delay.
    pub row UiDelayEvent: process {
        start_ns: i64 = "Start.",
        ts_ns: i64 = "End.",
        duration_ns: i64 = "How long.",
        kind: String = "`message`, `input` or `wait_cursor`.",
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread.",
        since_input_remove_ns: Option<i64> = "Time since the thread took input.",
        since_oldest_input_ns: Option<i64> = "Age of the oldest input that waited.",
        class_name: Option<String> = "Class of the window.",
        top_level_class_name: Option<String> = "Class of the window at the top.",
        image_path: Option<String> = "Path of the program.",
        package: Option<String> = "Package, of programs of the store.",
        message_id: Option<i64> = "The message that the thread worked on.",
        wparam: Option<i64> = "First parameter of the message.",
        flags: Option<i64> = "Bits that describe the thread.",
        cursor_type: Option<i64> = "Which cursor was shown.",
        stack_id: Option<i64> = "The stack.",
        stack: Option<String> = "Frames of the stack, innermost first, if requested.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type UiDelayColumn = Column<UiDelayRequest, UiDelayRow>;

const SUMS: View<UiDelayRequest, UiDelayRow> = View::new(
    &[
        UiDelayColumn::new("Time", "Time ms", Milliseconds, |_, row| {
            row.union_ns.into()
        })
        .cost(),
        UiDelayColumn::new("Sum", "Sum ms", Milliseconds, |_, row| {
            row.duration_ns.into()
        })
        .cost()
        .hidden(),
        UiDelayColumn::new("Max", "Max ms", Milliseconds, |_, row| {
            row.max_duration_ns.into()
        })
        .worst(),
        UiDelayColumn::new("Count", "Count", Whole, |_, row| row.count.into()).cost(),
        UiDelayColumn::new("Kind", "Kind", Word, |_, row| word_of(&row.kind).into()),
        UiDelayColumn::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.sort_value,
);

type UiDelayEventColumn = Column<UiDelayRequest, UiDelayEvent>;

const DELAYS: View<UiDelayRequest, UiDelayEvent> = View::new(
    &[
        UiDelayEventColumn::new("Start", "Start", Moment, |_, row| row.start_ns.into()),
        UiDelayEventColumn::new("End", "End", Moment, |_, row| row.ts_ns.into()).hidden(),
        UiDelayEventColumn::new("Duration", "Duration ms", Milliseconds, |_, row| {
            row.duration_ns.into()
        })
        .cost(),
        UiDelayEventColumn::new("Kind", "Kind", Word, |_, row| word_of(&row.kind).into()),
        UiDelayEventColumn::new(
            "SinceInputRemove",
            "Since input ms",
            Milliseconds,
            |_, row| row.since_input_remove_ns.into(),
        )
        .hidden(),
        UiDelayEventColumn::new(
            "SinceOldestInput",
            "Oldest input ms",
            Milliseconds,
            |_, row| row.since_oldest_input_ns.into(),
        )
        .worst()
        .hidden(),
        UiDelayEventColumn::new("Tid", "Tid", Id, |_, row| row.tid.into()),
        UiDelayEventColumn::new("Process", "Process", Process, |_, row| row.into()),
        UiDelayEventColumn::new("Class", "Class", Word, |_, row| {
            row.class_name.clone().into()
        }),
        UiDelayEventColumn::new("TopLevelClass", "Top-level class", Word, |_, row| {
            row.top_level_class_name.clone().into()
        }),
        UiDelayEventColumn::new("Message", "Message", Word, |_, row| {
            row.message_id.map(|id| format!("{id:#06x}")).into()
        }),
        UiDelayEventColumn::new("WParam", "WParam", Word, |_, row| {
            row.wparam.map(hexadecimal).into()
        })
        .hidden(),
        UiDelayEventColumn::new("Flags", "Flags", Word, |_, row| {
            row.flags.map(hexadecimal).into()
        })
        .hidden(),
        UiDelayEventColumn::new("ImagePath", "Image path", Word, |_, row| {
            row.image_path.clone().into()
        })
        .hidden(),
        UiDelayEventColumn::new("Package", "Package", Word, |_, row| {
            row.package.clone().into()
        })
        .hidden(),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(matches!(asked.sort, UiDelaySort::Count | UiDelaySort::Time)))
.with_below(|_, row| frames(row.stack.as_deref()));

/// Returns the option value of a kind.
fn word_of(kind: &str) -> String {
    kind.replace('_', "-")
}

fn hexadecimal(number: i64) -> String {
    format!("{number:#x}")
}

impl Question for UiDelayRequest {
    const NAME: &'static str = "ui-delay";
    const SENTENCE: &'static str =
        "Delays of programs with windows: input and messages that waited, wait cursors";
    const USUAL: &'static [&'static str] = &["kind", "class-name", "duration"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "windows that did not react",
        },
        Example {
            words: "--duration 500ms.. slow.etl",
            answer: "the long delays",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::rows(&DELAYS, self.events_sql())
        } else {
            Form::rows(&SUMS, self.sql())
        };
        form.needs(&UI_DELAY, self.details).top(self.top)
    }
}

impl UiDelayRequest {
    fn conditions(&self) -> Conditions {
        // Words of options have dashes.
        let kind = self.kind.as_deref().map(|kind| kind.replace('-', "_"));
        self.processes
            .conditions()
            .word("d.kind", kind.as_deref())
            .any_text(
                &["d.class_name", "d.top_level_class_name"],
                self.class.as_deref(),
            )
            .range("d.duration_ns", self.duration)
            .overlap("d.start_ns", "d.ts_ns", self.time)
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let sort = self.sort.sql();
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, kind";
        // Several threads of a program can be late at the same time: their union is the time that
        // the user waited.
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT {keys}, count(*) AS count, coalesce(union_duration(start_ns, ts_ns), 0) AS union_ns, sum(duration_ns) AS duration_ns,
  max(duration_ns) AS max_duration_ns
FROM (
  SELECT d.process_key, {PROCESS_COLUMNS}, d.kind, d.start_ns, d.ts_ns, d.duration_ns
  FROM ui_delay d
  LEFT JOIN process p ON p.process_key = d.process_key{conditions}
)
GROUP BY {keys}
)
ORDER BY sort_value, max_duration_ns, count, process_key, kind",
            conditions = self.conditions(),
        )
    }

    /// Returns the SQL for single delays.
    #[must_use]
    pub fn events_sql(&self) -> String {
        let sort = self.sort.single_sql();
        let (text, join) = stack_text("d.stack_id", "stack", self.stacks);
        format!(
            "SELECT d.start_ns, d.ts_ns, d.duration_ns, d.kind, d.process_key, {PROCESS_COLUMNS}, t.tid, d.since_input_remove_ns, d.since_oldest_input_ns,
  d.class_name, d.top_level_class_name, d.image_path, d.package, d.message_id, d.wparam, d.flags, d.cursor_type, d.stack_id, {text},
  CAST({sort} AS DOUBLE) AS sort_value
FROM ui_delay d
LEFT JOIN process p ON p.process_key = d.process_key
LEFT JOIN thread t ON t.thread_key = d.thread_key{join}{conditions}
ORDER BY sort_value, d.start_ns, d.ts_ns, d.process_key, d.kind",
            conditions = self.conditions(),
        )
    }
}

const UI_DELAY: Recorded = Recorded::rows(
    "ui_delay",
    "delays of programs with windows",
    "record the provider Microsoft-Windows-Win32k with the keywords 0x42000 (0x40000 for delays, 0x2000 for the focus); \
     where that was recorded, no program was late by 200 ms or more",
);
