//! `HandleData`: kernel objects with their handles and references, and mapped files.

use std::collections::HashMap;
use std::sync::Arc;

use etwkit_trace::table::{FileMap, Handle, Object, ObjectRef};

use crate::json7z::error::Result;
use crate::json7z::import::Import;
use crate::json7z::memory_alloc::stacks;
use crate::json7z::reader::Reader;
use crate::json7z::rows::write_all;
use crate::json7z::stacks::StackList;

/// The objects and mapped files of the part.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    types: HashMap<i32, Arc<str>>,
    stored: Vec<Stored>,
    stacks: Vec<String>,
}

/// An object or mapped file.
#[derive(Debug, Default)]
struct Stored {
    address: i64,
    type_id: Option<i32>,
    name: Option<String>,
    create: Option<Event>,
    destroy: Option<Event>,
    /// Handles that were open before, with their processes.
    existing: Vec<(i64, Option<i32>)>,
    creates: Vec<Event>,
    duplicates: Vec<Event>,
    closes: Vec<Event>,
    references: Vec<Event>,
    maps: Vec<Event>,
    unmaps: Vec<Event>,
}

/// Something that happened to an object.
#[derive(Debug, Default, Clone)]
struct Event {
    ts_ns: i64,
    process_key: Option<i32>,
    tid: Option<i64>,
    stack: Option<i64>,
    handle: i64,
    source_handle: Option<i64>,
    source_process: Option<i32>,
    change: i64,
    base: i64,
    file: i64,
    size: i64,
    offset: Option<i64>,
}

impl Objects {
    /// Reads the part.
    pub(crate) fn read(&mut self, reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
        reader.object(|reader, name| {
            match name {
                "ObjectTypeMap" => {
                    reader.object(|reader, id| {
                        let wrong = || {
                            reader.unexpected(
                                "the number of a type as name",
                                format!("the name {id:?}"),
                            )
                        };
                        let id = id.parse().map_err(|_| wrong())?;
                        let name = reader.text()?;
                        self.types.extend(name.map(|name| (id, Arc::from(name))));
                        Ok(())
                    })?;
                }
                "ObjectReferences" => {
                    reader.list(|reader| {
                        let stored = object(reader, import)?;
                        self.stored.push(stored);
                        Ok(())
                    })?;
                }
                "Stacks" => self.stacks = stacks(reader)?,
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Writes the rows. `beside` holds the stacks of a separate part.
    pub(crate) fn write(self, beside: Vec<String>, import: &mut Import<'_>) -> Result<()> {
        let stacks = StackList::new(if beside.is_empty() {
            self.stacks
        } else {
            beside
        });
        let mut out = Out {
            stacks,
            ..Out::default()
        };
        for stored in &self.stored {
            if stored.maps.is_empty() && stored.unmaps.is_empty() {
                out.object(stored, &self.types, import);
            } else {
                out.maps(stored, import);
            }
        }
        import.missing_stacks += out.stacks.missing;
        // As these tables are declared: a row is complete when its handle or its view ends.
        out.handles
            .sort_by_key(|row| row.close_ns.unwrap_or(i64::MAX));
        out.references.sort_by_key(|row| row.ts_ns);
        out.maps.sort_by_key(|row| row.unmap_ns.unwrap_or(i64::MAX));
        import.lack(
            "handle: handles that were inherited, and those whose process ended",
            out.handles.len(),
        );
        import.lack("file_map: paths and flags", out.maps.len());
        write_all(out.objects, import.sink)?;
        write_all(out.handles, import.sink)?;
        write_all(out.references, import.sink)?;
        write_all(out.maps, import.sink)
    }
}

fn object(reader: &mut Reader, import: &mut Import<'_>) -> Result<Stored> {
    let mut stored = Stored::default();
    reader.object(|reader, name| {
        match name {
            "ObjectPtr" => stored.address = reader.given(Reader::bits)?,
            "ObjectType" => stored.type_id = reader.int32()?,
            "Name" => stored.name = reader.filled_text()?,
            "CreateEvent" => stored.create = event(reader, import)?,
            "DestroyEvent" => stored.destroy = event(reader, import)?,
            "Existing" => {
                stored.existing = reader.all(|reader| existing(reader, import).map(Some))?;
            }
            "HandleCreateEvents" => stored.creates = reader.all(|reader| event(reader, import))?,
            "HandleDuplicateEvents" => {
                stored.duplicates = reader.all(|reader| event(reader, import))?;
            }
            "HandleCloseEvents" => stored.closes = reader.all(|reader| event(reader, import))?,
            "RefChanges" => stored.references = reader.all(|reader| event(reader, import))?,
            "FileMapEvents" => stored.maps = reader.all(|reader| event(reader, import))?,
            "FileUnmapEvents" => stored.unmaps = reader.all(|reader| event(reader, import))?,
            // Only older files have these, and the events name their processes themselves.
            "ProcessIndex" | "ProcessIdx" => reader.skip()?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    Ok(stored)
}

fn existing(reader: &mut Reader, import: &mut Import<'_>) -> Result<(i64, Option<i32>)> {
    let mut handle = 0;
    let mut process = None;
    reader.object(|reader, name| {
        match name {
            "Handle" => handle = reader.given(Reader::bits)?,
            "Process" => process = import.process_index(reader)?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    Ok((handle, process))
}

fn event(reader: &mut Reader, import: &mut Import<'_>) -> Result<Option<Event>> {
    let mut event = Event::default();
    let is_there = reader.object(|reader, name| {
        match name {
            "TimeNs" => event.ts_ns = reader.given(Reader::int)?,
            "StackIdx" => event.stack = reader.int()?,
            "ProcessIdx" => event.process_key = import.process_index(reader)?,
            "ThreadId" => event.tid = reader.bits()?,
            "HandleValue" => event.handle = reader.given(Reader::bits)?,
            "SourceHandleValue" => event.source_handle = reader.bits()?,
            "SourceProcessIdx" => event.source_process = import.process_index(reader)?,
            "RefCountChange" => event.change = reader.given(Reader::int)?,
            "ViewBase" => event.base = reader.given(Reader::bits)?,
            "FileObject" => event.file = reader.given(Reader::bits)?,
            "ViewSize" => event.size = reader.given(Reader::int)?,
            "ByteOffset" => event.offset = reader.int()?,
            "MiscInfo" => import.leave_out(reader, "HandleData: MiscInfo of mapped files")?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    Ok(is_there.then_some(event))
}

/// Output rows.
#[derive(Default)]
struct Out {
    stacks: StackList,
    objects: Vec<Object>,
    handles: Vec<Handle>,
    references: Vec<ObjectRef>,
    maps: Vec<FileMap>,
}

impl Out {
    fn thread(event: &Event, import: &mut Import<'_>) -> Option<i32> {
        event
            .tid
            .map(|tid| import.threads.key(event.process_key, tid))
    }

    fn stack(&mut self, event: &Event, import: &mut Import<'_>) -> Option<i32> {
        self.stacks
            .get(event.stack, event.process_key, &mut import.stacks)
    }

    fn object(&mut self, stored: &Stored, types: &HashMap<i32, Arc<str>>, import: &mut Import<'_>) {
        let object_id = self.objects.len() as i32;
        // If object events were not recorded, ETWAnalyzer writes the first creation of a handle and
        // the last close instead. These have the time of a handle event and prove nothing about the
        // object.
        let is_own = |event: &&Event, others: &[Event]| {
            others.iter().all(|other| other.ts_ns != event.ts_ns)
        };
        let created = stored
            .create
            .as_ref()
            .filter(|event| is_own(event, &stored.creates));
        let deleted = stored
            .destroy
            .as_ref()
            .filter(|event| is_own(event, &stored.closes));
        let all = [
            &stored.creates,
            &stored.duplicates,
            &stored.closes,
            &stored.references,
        ];
        let first = all
            .into_iter()
            .flatten()
            .chain(created)
            .map(|event| event.ts_ns)
            .min();
        self.objects.push(Object {
            object_id,
            address: stored.address,
            type_id: stored.type_id,
            type_name: stored.type_id.and_then(|id| types.get(&id).cloned()),
            name: stored.name.as_deref().map(Arc::from),
            first_ns: first,
            created_ns: created.map(|event| event.ts_ns),
            deleted_ns: deleted.map(|event| event.ts_ns),
        });
        for (event, kind) in created
            .map(|event| (event, "create"))
            .into_iter()
            .chain(deleted.map(|event| (event, "delete")))
        {
            self.reference(event, kind, None, object_id, import);
        }
        for event in &stored.references {
            let kind = if event.change < 0 {
                "dereference"
            } else {
                "reference"
            };
            self.reference(
                event,
                kind,
                Some(event.change.saturating_abs()),
                object_id,
                import,
            );
        }
        self.object_handles(stored, object_id, import);
    }

    fn reference(
        &mut self,
        event: &Event,
        kind: &'static str,
        count: Option<i64>,
        object_id: i32,
        import: &mut Import<'_>,
    ) {
        let row = ObjectRef {
            ts_ns: event.ts_ns,
            process_key: event.process_key,
            thread_key: Self::thread(event, import),
            object_id: Some(object_id),
            kind,
            tag: None,
            count,
            stack_id: self.stack(event, import),
        };
        self.references.push(row);
    }

    /// A close belongs to the last handle with its value in its process that was opened before it.
    fn object_handles(&mut self, stored: &Stored, object_id: i32, import: &mut Import<'_>) {
        // Open handles by process and value. The handle opened last is on top.
        let mut open: HashMap<(Option<i32>, i64), Vec<usize>> = HashMap::new();
        for (handle, process_key) in &stored.existing {
            open.entry((*process_key, *handle))
                .or_default()
                .push(self.handles.len());
            self.handles.push(Handle {
                process_key: *process_key,
                handle: *handle,
                object_id: Some(object_id),
                origin: "rundown",
                outcome: "open",
                ..Handle::default()
            });
        }
        for (event, kind) in in_order(stored) {
            let key = (event.process_key, event.handle);
            let thread = Self::thread(event, import);
            let stack = self.stack(event, import);
            if kind != "close" {
                open.entry(key).or_default().push(self.handles.len());
                self.handles.push(Handle {
                    process_key: event.process_key,
                    handle: event.handle,
                    object_id: Some(object_id),
                    origin: kind,
                    outcome: "open",
                    open_ns: Some(event.ts_ns),
                    open_process_key: event.process_key,
                    open_thread_key: thread,
                    source_process_key: event.source_process,
                    source_handle: event.source_handle.filter(|_| kind == "duplicate"),
                    open_stack_id: stack,
                    ..Handle::default()
                });
                continue;
            }
            // A handle that was opened before the recording has a close and no open.
            let known = open.get_mut(&key).and_then(Vec::pop);
            let at = known.unwrap_or_else(|| {
                self.handles.push(Handle {
                    process_key: event.process_key,
                    handle: event.handle,
                    object_id: Some(object_id),
                    origin: "unknown",
                    ..Handle::default()
                });
                self.handles.len() - 1
            });
            if let Some(row) = self.handles.get_mut(at) {
                close(row, event, thread, stack);
            }
        }
    }

    fn maps(&mut self, stored: &Stored, import: &mut Import<'_>) {
        let mut open: HashMap<(Option<i32>, i64), Vec<usize>> = HashMap::new();
        let mapped = stored.maps.iter().map(|event| (event, true));
        let mut events: Vec<(&Event, bool)> = mapped
            .chain(stored.unmaps.iter().map(|event| (event, false)))
            .collect();
        // At equal times a view is mapped before it is unmapped.
        events.sort_by_key(|(event, is_map)| (event.ts_ns, !is_map));
        for (event, is_map) in events {
            let key = (event.process_key, event.base);
            let thread = Self::thread(event, import);
            let stack = self.stack(event, import);
            let row = FileMap {
                map_id: self.maps.len() as i32,
                process_key: event.process_key,
                address: event.base,
                size_bytes: event.size,
                offset_bytes: event.offset,
                file_key: event.file,
                origin: if is_map { "map" } else { "unknown" },
                outcome: if is_map { "open" } else { "unmapped" },
                ..FileMap::default()
            };
            if is_map {
                open.entry(key).or_default().push(self.maps.len());
                self.maps.push(FileMap {
                    map_ns: Some(event.ts_ns),
                    map_thread_key: thread,
                    map_stack_id: stack,
                    ..row
                });
                continue;
            }
            let at = open.get_mut(&key).and_then(Vec::pop).unwrap_or_else(|| {
                self.maps.push(row);
                self.maps.len() - 1
            });
            if let Some(row) = self.maps.get_mut(at) {
                row.outcome = "unmapped";
                row.unmap_ns = Some(event.ts_ns);
                row.lifetime_ns = row.map_ns.map(|map| event.ts_ns.saturating_sub(map));
                row.unmap_thread_key = thread;
                row.unmap_stack_id = stack;
            }
        }
    }
}

/// Returns the events of handles in the order of time, with their kinds.
fn in_order(stored: &Stored) -> Vec<(&Event, &'static str)> {
    let opened = stored.creates.iter().map(|event| (event, "create"));
    let copied = stored.duplicates.iter().map(|event| (event, "duplicate"));
    let closed = stored.closes.iter().map(|event| (event, "close"));
    let mut events: Vec<(&Event, &'static str)> = opened.chain(copied).chain(closed).collect();
    // At equal times, opening a handle comes before closing it.
    events.sort_by_key(|(event, kind)| (event.ts_ns, *kind == "close"));
    events
}

fn close(row: &mut Handle, event: &Event, thread: Option<i32>, stack: Option<i32>) {
    row.outcome = "closed";
    row.close_ns = Some(event.ts_ns);
    row.lifetime_ns = row.open_ns.map(|open| event.ts_ns.saturating_sub(open));
    row.close_process_key = event.process_key;
    row.close_thread_key = thread;
    row.close_stack_id = stack;
}
