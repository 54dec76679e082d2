//! `TraceLogging`: events that describe themselves.

use std::collections::HashMap;
use std::sync::Arc;

use etwkit_trace::table::GenericEvent;
use serde_json::{Map, Value};

use crate::json7z::error::Result;
use crate::json7z::import::Import;
use crate::json7z::memory_alloc::stacks;
use crate::json7z::reader::Reader;
use crate::json7z::rows::write_all;
use crate::json7z::stacks::StackList;

/// The events of the part.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// Rows, with the numbers of their stacks.
    rows: Vec<(GenericEvent, Option<i64>)>,
    stacks: Vec<String>,
}

impl Events {
    /// Reads the part.
    pub(crate) fn read(&mut self, reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
        reader.object(|reader, name| {
            match name {
                "EventsByProvider" => {
                    reader.object(|reader, name| self.provider(reader, import, name))?;
                }
                "Stacks" => self.stacks = stacks(reader)?,
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        Ok(())
    }

    fn provider(&mut self, reader: &mut Reader, import: &mut Import<'_>, key: &str) -> Result<()> {
        let mut guid = String::new();
        let mut provider = None;
        let begin = self.rows.len();
        let mut names: HashMap<i32, Arc<str>> = HashMap::new();
        reader.object(|reader, name| {
            match name {
                "ProviderId" => guid = reader.given(Reader::text)?.to_lowercase(),
                "ProviderName" => provider = reader.filled_text()?,
                "EventDescriptors" => {
                    reader.object(|reader, id| {
                        let (id, name) = descriptor(reader, id)?;
                        names.extend(name.map(|name| (id, Arc::from(name))));
                        Ok(())
                    })?;
                }
                "Events" => _ = reader.list(|reader| self.event(reader, import))?,
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        // The members of a provider can come in any order, so its events get its names only at the
        // end.
        let guid: Arc<str> = guid.into();
        let provider: Arc<str> = provider.as_deref().unwrap_or(key).into();
        for (row, _) in self.rows.iter_mut().skip(begin) {
            row.provider_guid = Arc::clone(&guid);
            row.provider = Some(Arc::clone(&provider));
            row.name = names.get(&row.event_id).cloned();
        }
        Ok(())
    }

    fn event(&mut self, reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
        let mut row = GenericEvent {
            described_by: Some("tracelogging"),
            ..GenericEvent::default()
        };
        let mut stack = None;
        let mut tid = None;
        let mut ts_ns = None;
        let mut fields = Map::new();
        reader.object(|reader, name| {
            match name {
                "EventId" => row.event_id = reader.given(Reader::int32)?,
                "ThreadId" => tid = reader.bits()?,
                "StackIdx" => stack = reader.int()?,
                "Process" | "ProcessIdx" => row.process_key = import.process_index(reader)?,
                "TimeStamp" => ts_ns = import.time(reader)?,
                "Fields" => {
                    reader.object(|reader, name| {
                        fields.insert(
                            name.to_owned(),
                            reader.text()?.map_or(Value::Null, Value::String),
                        );
                        Ok(())
                    })?;
                }
                "Lists" => {
                    reader.object(|reader, name| {
                        let items = reader.all(Reader::text)?;
                        fields.insert(
                            name.to_owned(),
                            Value::Array(items.into_iter().map(Value::String).collect()),
                        );
                        Ok(())
                    })?;
                }
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        let Some(ts_ns) = ts_ns else {
            import.drop("TraceLogging: events without a time", 1);
            return Ok(());
        };
        row.ts_ns = ts_ns;
        row.thread_key = tid.map(|tid| import.threads.key(row.process_key, tid));
        row.fields = Some(Value::Object(fields).to_string());
        self.rows.push((row, stack));
        Ok(())
    }

    /// Writes `generic_event`. `beside` holds the stacks of a separate part.
    pub(crate) fn write(mut self, beside: Vec<String>, import: &mut Import<'_>) -> Result<()> {
        let mut list = StackList::new(if beside.is_empty() {
            self.stacks
        } else {
            beside
        });
        self.rows.sort_by_key(|(row, _)| row.ts_ns);
        let mut rows = Vec::new();
        for (mut row, stack) in self.rows {
            row.stack_id = list.get(stack, row.process_key, &mut import.stacks);
            rows.push(row);
        }
        import.missing_stacks += list.missing;
        import.lack(
            "generic_event: processors, levels, keywords, opcodes",
            rows.len(),
        );
        write_all(rows, import.sink)
    }
}

/// ID and name of a kind of event.
fn descriptor(reader: &mut Reader, id: &str) -> Result<(i32, Option<String>)> {
    let wrong = || reader.unexpected("the id of an event as name", format!("the name {id:?}"));
    let id = id.parse().map_err(|_| wrong())?;
    let mut name = None;
    reader.object(|reader, member| {
        match member {
            "Name" => name = reader.filled_text()?,
            // The events name their fields themselves.
            "EventId" | "FieldNames" | "ListNames" => reader.skip()?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    Ok((id, name))
}
