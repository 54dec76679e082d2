//! GDI and USER objects that processes created and did not destroy: by type, by creating stack, or
//! one by one.

use etwkit_question::declare;
mod sql;

use etwkit_question::Format::{Moment, Process, ProcessLine, Seconds, Whole, Word};
use etwkit_question::Recorded;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::ProcessQuery;
use etwkit_question::{
    Column, Example, Form, Line, Question, Ranked, Value, View, frames, group, option,
};

declare! {
    /// Grouping of the rows.
    pub words GdiUserBy {
        "process-type" => ProcessType = "Objects of one type in a process.",
        "process" => Process = "All objects of a process.",
        "type" => Type = "All objects of a type.",
        "stack" => Stack = "Objects of one type in a process that one stack created.",
    }

    /// Orders of sums and of single objects.
    pub orders GdiUserSort {
        "outstanding" => Outstanding: "outstanding" =
            "Objects that were there at the end; single ones by time.",
        "created" => Created: "created" = "Objects that were created; single ones by time.",
        "destroyed" => Destroyed: "destroyed + destroyed_preexisting" =
            "Objects that were destroyed; single ones by time.",
        "lifetime" => Lifetime: "coalesce(max_lifetime_ns, 0)" =
            "Longest lifetime, of single objects their lifetime; those without one come last.",
        "time" => Time: "outstanding" = "Time of the creation of single objects.",
    }

    /// Options of `dump gdi-user`.
    #[derive(Eq)]
    pub request GdiUserRequest {
        /// Processes that have them, or had them last
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by type and process, by process, by type, or by type, process and the stack
        /// that created the objects
        by: GdiUserBy = option("WHAT").shape(),
        /// Only objects that were created in the trace and were there at its end, or rows that have
        /// any
        leaked: bool = option("").called("leak"),
        /// Only objects of this class
        class: Option<String> = option("CLASS").among(&["gdi", "user"]),
        /// Only objects of these types: Window, Menu, Bitmap, Font, ... (*, ?, several with ;, !
        /// excludes)
        type_name: Option<String> = option("TYPES").called("type"),
        /// Only objects with this handle: 0x1050aaa (*, ?, several with ;, ! excludes)
        handle: Option<String> = option("HANDLES"),
        /// Only objects with this lifetime (s); one that did not end, or whose creation is not
        /// known, has 9999 s
        lifetime: Range = option("A..B").unit(Unit::Seconds),
        /// Only objects that were created in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Only objects whose creation has this frame in its stack (*, ?, several with ;, !
        /// excludes)
        create_stack: Option<String> = option("FRAMES").called("create-stack"),
        /// Only objects whose end has this frame in its stack
        destroy_stack: Option<String> = option("FRAMES").called("destroy-stack"),
        /// Single objects
        details: bool = option("").excludes(&["by"]).shape(),
        /// With --details or --by stack: frames
        stacks: bool = option("").called("show-stack").output(),
        /// Order; of single objects time or lifetime
        sort: GdiUserSort = option("ORDER").called("sort-by").shape(),
        /// Sums after the rows: total, or none
        with_total: bool = option("WHAT").called("show-total").either("none", "total").output() => true,
    }

    /// Objects by process, type or stack.
    pub row GdiUserRow: process {
        ..process =
            "Process that has them, or had them last; missing where none has them, or with rows by type.",
        class: Option<String> = "`gdi` or `user`; missing with rows by process.",
        type_name: Option<String> = "Name of the type; its number where it has none.",
        created: i64 = "Objects that were created in the trace.",
        destroyed: i64 = "Objects that were created and destroyed in the trace.",
        destroyed_preexisting: i64 = "Objects that were there before the trace and were destroyed in it.",
        outstanding: i64 = "Objects that were created in the trace and were there at its end.",
        lifetime_ns: i64 = "Sum of the lifetimes of those that were created and destroyed.",
        max_lifetime_ns: Option<i64> = "Longest lifetime of one.",
        stack_id: Option<i64> =
            "The stack that created them, with rows by stack; missing where none was recorded.",
        stack: Option<String> = "Frames of the stack, innermost first, if requested.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// An object.
    pub row GdiUserObjectRow: process {
        create_ns: Option<i64> = "When it was created, if that is in the trace.",
        destroy_ns: Option<i64> = "When it was destroyed, if that was recorded.",
        lifetime_ns: Option<i64> = "From creation to destruction.",
        class: String = "`gdi` or `user`.",
        type_name: String = "Name of the type; its number where it has none.",
        handle: String = "Handle, in hexadecimal digits; the last one if it changed.",
        outcome: String = "`destroyed`, `open`, `process_end` or `reused`.",
        owner_changes: i64 = "How often another process got it.",
        handle_changes: i64 = "How often its handle became another one.",
        ..process = "Process that has it, or had it last.",
        create_pid: Option<i64> = "Process id of who created it.",
        create_process: Option<String> = "Name of who created it.",
        create_tid: Option<i64> = "Thread that created it.",
        destroy_pid: Option<i64> = "Process id of who destroyed it.",
        destroy_process: Option<String> = "Name of who destroyed it.",
        destroy_tid: Option<i64> = "Thread that destroyed it.",
        create_stack_id: Option<i64> = "Stack that created it.",
        create_stack: Option<String> = "Frames of the stack, innermost first, if requested.",
        destroy_stack_id: Option<i64> = "Stack that destroyed it.",
        destroy_stack: Option<String> = "Frames of the stack, innermost first, if requested.",
        process_start_ns: Option<i64> = "Start of the process, if in the trace.",
        process_stop_ns: Option<i64> = "End of the process, if in the trace.",
        session_id: Option<i64> = "Terminal session of the object.",
        command_line: Option<String> = "Command line.",
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type GdiUserColumn = Column<GdiUserRequest, GdiUserRow>;

const SUMS: View<GdiUserRequest, GdiUserRow> = View::new(
    &[
        GdiUserColumn::new("Outstanding", "Outstanding", Whole, |_, row| row.outstanding.into()).cost(),
        GdiUserColumn::new("Created", "Created", Whole, |_, row| row.created.into()).sum(),
        GdiUserColumn::new("Destroyed", "Destroyed", Whole, |_, row| row.destroyed.into()).sum(),
        GdiUserColumn::new("DestroyedPreexisting", "Destroyed, there before", Whole, |_, row| {
            row.destroyed_preexisting.into()
        })
        .sum(),
        GdiUserColumn::new("MeanLifetime", "Mean lifetime s", Seconds(6), |_, row| {
            row.lifetime_ns.checked_div(row.destroyed).into()
        }),
        GdiUserColumn::new("MaxLifetime", "Max s", Seconds(6), |_, row| row.max_lifetime_ns.into()).hidden(),
        GdiUserColumn::new("Class", "Class", Word, |_, row| row.class.clone().into()).shown_if(is_by_type),
        GdiUserColumn::new("Type", "Type", Word, |_, row| row.type_name.clone().into()).shown_if(is_by_type),
        GdiUserColumn::new("StackId", "Stack", Word, |_, row| row.stack_id.into())
            .or("(none)")
            .shown_if(|asked| asked.by == GdiUserBy::Stack),
        GdiUserColumn::new("Process", "Process", ProcessLine, |_, row| {
            row.process_key.map(|_| Value::from(row)).into()
        })
        .or("(none)")
        .shown_if(|asked| asked.by != GdiUserBy::Type),
    ],
    |row| row.sort_value,
)
.with_below(|_, row| frames(row.stack.as_deref()))
.with_sums(
    "Total: {Created} created, {Destroyed} destroyed, {Outstanding} outstanding; {DestroyedPreexisting} destroyed that were \
     there before",
    |asked, _| asked.with_total,
);

/// Returns `true` if there is a row for each type.
fn is_by_type(asked: &GdiUserRequest) -> bool {
    asked.by != GdiUserBy::Process
}

type GdiUserObjectColumn = Column<GdiUserRequest, GdiUserObjectRow>;

const OBJECTS: View<GdiUserRequest, GdiUserObjectRow> = View::new(
    &[
        GdiUserObjectColumn::new("Created", "Created", Moment, |_, row| row.create_ns.into()),
        GdiUserObjectColumn::new("Destroyed", "Destroyed", Moment, |_, row| {
            row.destroy_ns.into()
        }),
        GdiUserObjectColumn::new("Lifetime", "Lifetime s", Seconds(6), |_, row| {
            row.lifetime_ns.into()
        }),
        GdiUserObjectColumn::new("Outcome", "Outcome", Word, |_, row| {
            row.outcome.clone().into()
        }),
        GdiUserObjectColumn::new("Class", "Class", Word, |_, row| row.class.clone().into()),
        GdiUserObjectColumn::new("Type", "Type", Word, |_, row| row.type_name.clone().into()),
        GdiUserObjectColumn::new("Handle", "Handle", Word, |_, row| row.handle.clone().into()),
        GdiUserObjectColumn::new("OwnerChanges", "Owner changes", Whole, |_, row| {
            row.owner_changes.into()
        })
        .sum()
        .hidden(),
        GdiUserObjectColumn::new("HandleChanges", "Handle changes", Whole, |_, row| {
            row.handle_changes.into()
        })
        .sum()
        .hidden(),
        GdiUserObjectColumn::new("CreatedBy", "Created by", Word, |_, row| {
            by(
                row.create_process.as_deref(),
                row.create_pid,
                row.create_tid,
            )
            .into()
        }),
        GdiUserObjectColumn::new("DestroyedBy", "Destroyed by", Word, |_, row| {
            by(
                row.destroy_process.as_deref(),
                row.destroy_pid,
                row.destroy_tid,
            )
            .into()
        })
        .hidden(),
        GdiUserObjectColumn::new("Process", "Process", Process, |_, row| {
            row.process_key.map(|_| Value::from(row)).into()
        })
        .or("(none)"),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(asked.sort != GdiUserSort::Lifetime))
.with_below(|_, row| {
    let destroyed = row
        .destroy_stack
        .is_some()
        .then(|| Line::new("    destroyed by"));
    let created = frames(row.create_stack.as_deref()).into_iter();
    created
        .chain(destroyed)
        .chain(frames(row.destroy_stack.as_deref()))
        .collect()
});

/// Returns a process with its thread.
fn by(process: Option<&str>, pid: Option<i64>, tid: Option<i64>) -> String {
    let name = process.or(pid.map(|_| "?")).unwrap_or("");
    let pid = pid.map_or_else(String::new, |pid| format!("({pid})"));
    let tid = tid.map_or_else(String::new, |tid| format!(" {tid}"));
    format!("{name}{pid}{tid}").trim_start().to_owned()
}

impl Question for GdiUserRequest {
    const NAME: &'static str = "gdi-user";
    const SENTENCE: &'static str =
        "GDI and USER objects: created, destroyed, outstanding, and by which stacks";
    const USUAL: &'static [&'static str] = &["leak", "class", "type", "lifetime", "create-stack"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "objects by process and type",
        },
        Example {
            words: "--leak --by stack slow.etl",
            answer: "the stacks that leak them",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::rows(&OBJECTS, self.objects_sql())
        } else {
            Form::rows(&SUMS, self.sql())
        };
        form.needs(&GDI_USER, self.details || self.needs_rows())
            .top(self.top)
    }
}

const GDI_USER: Recorded = Recorded {
    sums: "gdi_user_type",
    rows: "gdi_user_object",
    single: "objects",
    what: "GDI or USER objects",
    how: "record the provider Microsoft-Windows-Win32k with the keywords 0x30000000000 (0x10000000000 for GDI, \
          0x20000000000 for USER) and with stacks, on Windows 10 1903 or later",
};
