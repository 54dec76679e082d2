//! Kernel objects and mapped files with their events; handles by type.

use etwkit_question::declare;
mod rows;
mod sql;
mod view;

use self::view::{OBJECTS, TYPES, total_lines};
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::ProcessQuery;
use etwkit_question::{Among, Answer, Example, Form, Question, group, option};
use etwkit_question::{Error, Result, ask, has_rows};
use etwkit_sql::Session;

pub use self::rows::{HandleTypeRow, ObjectEvent, ObjectRow};

declare! {
    /// Orders of objects.
    pub words ObjectSort {
        "id" => Id = "Number, so that objects come in the order in which the trace first mentions them.",
        "lifetime" => Lifetime = "Lifetime; objects without one come last.",
        "handles" => Handles = "Handles that were created or duplicated.",
        "leaked" => Leaked = "Handles that were open at the end.",
    }
}

/// Lifetime in nanoseconds that limits assume for objects that did not end, or whose start is not
/// known.
pub const NEVER_NS: i64 = 9_999_000_000_000;

declare! {
    /// Options of `dump objectref`.
    #[derive(Eq)]
    pub request ObjectRequest {
        /// Processes that created the object
        processes: ProcessQuery = group(),
        /// Number of objects, largest first
        top: Top = group(),
        /// Only objects with an event of these processes; --process means those that created them
        related: Option<String> = option("NAMES").called("related-process").of(Among::Processes),
        /// Only objects with this lifetime (s); one that did not end, or whose start is not known,
        /// has 9999 s
        lifetime: Range = option("A..B").unit(Unit::Seconds),
        /// Only objects with these numbers
        id: Range = option("A..B"),
        /// Only events in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Only objects whose first creation has this frame in its stack (*, ?, several with ;, !
        /// excludes)
        create_stack: Option<String> = option("FRAMES").called("create-stack"),
        /// Only objects whose last close or deletion has this frame in its stack
        destroy_stack: Option<String> = option("FRAMES").called("destroy-stack"),
        /// Only events with this frame in their stack
        stack: Option<String> = option("FRAMES").called("stack-filter"),
        /// Only objects at these addresses: 0xffffc28194000900 (*, ?, several with ;, ! excludes)
        object: Option<String> = option("ADDRESSES"),
        /// Only objects with this name; no mapped files
        name: Option<String> = option("NAMES").called("object-name"),
        /// Only objects of these types: Event, File, Key, FileMapping, ...
        type_name: Option<String> = option("TYPES").called("type"),
        /// Only objects with this handle: 0x1a4; no mapped files
        handle: Option<String> = option("HANDLES"),
        /// Only files that are mapped at this address
        view_base: Option<String> = option("ADDRESSES").called("view-base"),
        /// Only mapped files around this address: 0x7ff812340000
        pointer_in_map: Option<u64> = option("ADDRESS").called("ptr-in-map"),
        /// Only mapped files with so many bytes
        map_size: Range = option("A..B").called("map-size").unit(Unit::Bytes),
        /// 0: only objects, 1: only mapped files
        maps: Option<bool> = option("0|1").called("mapped").either("0", "1"),
        /// Only objects with handles, or mapped files, that were created in the trace and open at
        /// its end
        leaked: bool = option("").called("leak"),
        /// Only objects with events of several processes
        multi_process: bool = option("").called("multi-process"),
        /// Only objects with a handle that a process inherited
        inherited: bool = option("").called("inherit"),
        /// Only objects with several open handles at one time
        overlapped: bool = option(""),
        /// Show changes of references
        references: bool = option("").called("show-ref"),
        /// Show the stacks of events
        stacks: bool = option("").called("show-stack").output(),
        /// Order of objects
        sort: ObjectSort = option("ORDER").called("sort-by").shape(),
        /// total, handles by type; process, by process and type; none, no sums after objects
        total: Option<String> = option("WHAT").called("show-total").among(&["none", "total", "process"]).shape(),
    }
}

/// An object with its events.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectEvents {
    /// The object.
    pub object: ObjectRow,
    /// Its rows; never empty.
    pub events: Vec<ObjectEvent>,
}

impl Question for ObjectRequest {
    const NAME: &'static str = "objectref";
    const ALIASES: &'static [&'static str] = &["handles"];
    const SENTENCE: &'static str =
        "Handles, objects and mapped files: their events, lifetimes and leaks";
    const USUAL: &'static [&'static str] = &[
        "type",
        "object-name",
        "leak",
        "lifetime",
        "create-stack",
        "show-ref",
    ];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "objects that were created and destroyed",
        },
        Example {
            words: "--leak --type File slow.etl",
            answer: "files that were not closed",
        },
    ];

    fn form(&self) -> Form<Self> {
        if let Some(by_process) = self.types() {
            let answer = move |asked: &Self, session: &Session| {
                Ok(Answer::rows(
                    asked,
                    &TYPES,
                    asked.ask_types(session, by_process)?,
                ))
            };
            let form = Form::made::<HandleTypeRow>(self.types_sql(by_process), answer);
            return form.shows(&TYPES).top(self.top);
        }
        Form::made::<ObjectEvent>(self.sql(), |asked: &Self, session| {
            let objects = asked.ask(session)?;
            let total = if asked.total.is_none() {
                total_lines(&objects)
            } else {
                Vec::new()
            };
            let events = objects.into_iter().map(|of| of.events).collect();
            Ok(Answer::groups(asked, &OBJECTS, events).with_foot(total))
        })
        .shows(&OBJECTS)
        .top(self.top)
    }
}

impl ObjectRequest {
    /// Returns `true` if handles by type are requested for each process, `false` for the total,
    /// `None` for other answers.
    pub(super) fn types(&self) -> Option<bool> {
        match self.total.as_deref() {
            Some("process") => Some(true),
            Some("total") => Some(false),
            _ => None,
        }
    }

    /// Queries objects with their events.
    ///
    /// # Errors
    /// Neither handles nor objects nor mapped files were recorded; the extract holds sums only; the
    /// query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<ObjectEvents>> {
        let has_any = has_rows(session, "object")? || has_rows(session, "file_map")?;
        if !has_any {
            return Err(nothing(has_rows(session, "handle_type")?));
        }
        let mut objects: Vec<ObjectEvents> = Vec::new();
        for row in ask::<ObjectEvent>(session, &self.sql())? {
            let is_same = |of: &ObjectRow| of.id == row.object.id && of.is_map == row.object.is_map;
            // The SQL sorts by object, so that the events of one are adjacent.
            match objects.last_mut() {
                Some(last) if is_same(&last.object) => last.events.push(row),
                _ => objects.push(ObjectEvents {
                    object: row.object.clone(),
                    events: vec![row],
                }),
            }
        }
        self.top.cut(&mut objects);
        Ok(objects)
    }

    /// Queries handles by type.
    ///
    /// # Errors
    /// Handles were not recorded; the query fails.
    pub fn ask_types(&self, session: &Session, per_process: bool) -> Result<Vec<HandleTypeRow>> {
        if !has_rows(session, "handle_type")? {
            return Err(nothing(false));
        }
        let mut rows = ask(session, &self.types_sql(per_process))?;
        self.top.cut(&mut rows);
        Ok(rows)
    }
}

const fn nothing(has_sums: bool) -> Error {
    if has_sums {
        return Error::NeedsRows { what: "handles" };
    }
    Error::NotRecorded {
        what: "handles, objects or mapped files",
        how: "record with the kernel keywords OB_HANDLE+OB_OBJECT (handles, objects) and VAMAP (mapped files), with `-stackwalk \
              HandleCreate+HandleClose+HandleDuplicate+ObjectCreate+ObjectDelete+MapFile+UnMapFile` for stacks: `wpr -start Handle`",
        tables: Vec::new(),
    }
}
