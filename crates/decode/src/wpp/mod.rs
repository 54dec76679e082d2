//! Messages of WPP: text and arguments, by the trace message format files (TMF) of their programs.
//!
//! A message in a trace has the GUID of its source file, a number, and the bytes of its arguments.
//! Only the symbol file of the program contains their meaning. The tool `tracepdb` converts it to
//! TMF files: a format for each message, the types of its arguments, and the names of enumerations.

mod item;
mod tmf;

use std::sync::Arc;

use etwkit_etl::wire::message::MessageParts;
use etwkit_etl::{Guid, RawEvent};

pub use tmf::read;

use crate::element::{self, Context};
use crate::message::printf::Argument;
use crate::message::{Piece, Template};
use crate::schema::Schema;
use crate::{Plan, Spans};
use etwkit_etl::bytes::Cursor;
use item::Item;

/// A message as a TMF file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// GUID of the source file.
    pub guid: Guid,
    /// Number of the message in it.
    pub number: u16,
    /// Arguments as fields, named by the expressions that the program logs.
    pub schema: Schema,
    /// The source of its text.
    pub text: Text,
}

/// The parts of a message's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The program, as the file names it.
    pub component: Arc<str>,
    /// Source file.
    pub source: Arc<str>,
    /// Source file and line, as the file names them.
    pub tag: Box<str>,
    /// Name of the level, empty without one.
    pub level: Box<str>,
    /// Names of the flags; empty if there are none.
    pub flags: Box<str>,
    /// The function that logs the message.
    pub function: Box<str>,
    template: Template,
    /// Number of each argument, and how it is shown; in the order of the payload.
    items: Vec<(u16, Item)>,
}

impl Text {
    /// The text of an event. An argument that its payload lacks is shown by its number, `%10`.
    #[must_use]
    pub fn of(&self, event: &RawEvent<'_>, plan: &Plan, spans: &mut Spans) -> String {
        let payload = event.payload();
        // Missing fields do not matter: arguments after a cut are shown by their numbers.
        plan.locate(payload, spans);
        self.template.text(|piece| match piece {
            Piece::Text(text) => text.to_string(),
            Piece::Named(name) => self.named(name),
            Piece::Value(number, spec) => {
                let Some(argument) = self.argument(*number, event, plan, spans) else {
                    return format!("%{number}");
                };
                match spec {
                    // A text form takes precedence over its number only if a text is expected.
                    Some(spec) => {
                        let (number, text) = argument;
                        let argument = if spec.is_text() {
                            Argument::Text(text)
                        } else {
                            number
                        };
                        spec.format(&argument, plan.pointer_size())
                    }
                    None => argument.1,
                }
            }
        })
    }

    fn named(&self, name: &str) -> String {
        match name {
            "FUNC" => self.function.to_string(),
            "LEVEL" => self.level.to_string(),
            "FLAGS" => self.flags.to_string(),
            "COMPNAME" => self.component.to_string(),
            "FILE" => self.source.to_string(),
            // The tag ends with the line: `Queue_c2319`.
            "LINE" => self
                .tag
                .rsplit_once(|c: char| !c.is_ascii_digit())
                .map_or(&*self.tag, |(_, line)| line)
                .to_owned(),
            // Prefixes of lines, which are columns here.
            _ => String::new(),
        }
    }

    /// The value of an argument as a number, if it is one, and as a text.
    fn argument(
        &self,
        number: u16,
        event: &RawEvent<'_>,
        plan: &Plan,
        spans: &Spans,
    ) -> Option<(Argument, String)> {
        let Some(position) = self.items.iter().position(|(own, _)| *own == number) else {
            return self.of_header(number, event);
        };
        let (field, (_, item)) = (
            plan.schema().fields.get(position)?,
            self.items.get(position)?,
        );
        let mut cursor = Cursor::new(spans.bytes(event.payload(), position)?);
        let bytes = element::take(field, &mut cursor, &Context::new(plan.pointer_size(), 0))?;
        Some(item.value(field, bytes))
    }

    /// The arguments with numbers below 10: parts of the header. Its times are a column.
    fn of_header(&self, number: u16, event: &RawEvent<'_>) -> Option<(Argument, String)> {
        let text = |text: &str| (Argument::Text(text.to_owned()), text.to_owned());
        let of_number = |number: Option<u32>| {
            let argument = number.map_or_else(
                || Argument::Text(String::new()),
                |number| Argument::unsigned(number.into(), 4),
            );
            let natural = argument.natural();
            (argument, natural)
        };
        Some(match number {
            1 => text(&self.component),
            2 => text(&self.tag),
            3 => of_number(event.thread_id()),
            4..=6 => text(""),
            7 => of_number(MessageParts::parse(event.record).sequence),
            8 => of_number(event.process_id()),
            9 => of_number(Some(event.cpu.into())),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests;
