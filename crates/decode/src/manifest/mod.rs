//! Instrumentation manifests: the XML that describes the events of a provider.
//!
//! .NET providers write their manifests into the trace ([`crate::eventsource`]). Manifests of
//! others are files, which the user names.

mod build;
mod xml;

use std::sync::Arc;

use etwkit_etl::Guid;

pub(crate) use xml::integer;

use crate::bounds::cost;
use crate::describe::Wrong;
use crate::message;
use crate::schema::{Schema, Source, ValueMap};

/// A description of the file format, for errors.
pub(crate) const HINT: &str = "an instrumentation manifest (.man) as `mc` and `wevtutil im` take it: \
     <instrumentationManifest> with a <provider>";

/// The content of a manifest for one provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Name of the provider.
    pub name: Option<Arc<str>>,
    /// Its keywords: bits and names.
    pub keywords: ValueMap,
    /// Its events.
    pub events: Vec<ManifestEvent>,
    /// Events that could not be used because they refer to something the manifest does not have.
    pub broken_events: Vec<BrokenEvent>,
}

/// An event of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestEvent {
    /// Event ID.
    pub id: u16,
    /// Version of the layout.
    pub version: u8,
    /// Its fields.
    pub schema: Schema,
    /// Text with inserts `%1`, `%2` and so on for the fields.
    pub message: Option<Box<str>>,
}

/// An event that is of no use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenEvent {
    /// Byte of the text.
    pub at: usize,
    /// The expected content.
    pub expected: &'static str,
    /// The content found there.
    pub found: String,
}

impl Manifest {
    /// Bytes of memory, roughly.
    #[must_use]
    pub fn cost(&self) -> usize {
        let events = self.events.iter().map(|event| {
            let message = event.message.as_deref().map_or(0, message::cost);
            size_of::<ManifestEvent>()
                + event.schema.name.len()
                + message
                + cost(&event.schema.fields)
        });
        let keywords = self
            .keywords
            .entries
            .iter()
            .map(|(_, name)| 32 + name.len());
        events.chain(keywords).sum()
    }
}

/// Reads the XML that a provider wrote into a trace; `None` if it is not a manifest. Events belong
/// to `guid`, and not to the GUID in the XML.
///
/// Entities other than the five of XML itself are refused, so that expansion is impossible.
pub(crate) fn of_provider(guid: Guid, text: &str) -> Option<Manifest> {
    let document = xml::read(text).ok()?;
    build::manifest(
        guid,
        document.providers.first()?,
        &document.strings,
        Source::EventSource,
    )
}

/// Reads a file with the manifests of one or more providers.
///
/// # Errors
/// [`Wrong`] with the invalid line: a file that the user names is used completely or not at all.
pub fn read(text: &str) -> Result<Vec<(Guid, Manifest)>, Wrong> {
    let wrong =
        |at: usize, expected: &str, found: &str| Wrong::in_text(text, at, expected, found, HINT);
    let document =
        xml::read(text).map_err(|broken| wrong(broken.at, broken.expected, &broken.found))?;
    if document.is_cut {
        return Err(wrong(
            text.len(),
            "</instrumentationManifest>",
            "the end of the file",
        ));
    }
    let mut all = Vec::new();
    for provider in &document.providers {
        let guid = provider.guid.parse().map_err(|_| {
            wrong(
                provider.at,
                "a <provider> with a guid",
                &format!("{:?}", provider.guid),
            )
        })?;
        let manifest = build::manifest(guid, provider, &document.strings, Source::Manifest)
            .ok_or_else(|| wrong(provider.at, "events within the memory limit", "too many"))?;
        if let Some(broken) = manifest.broken_events.first() {
            return Err(wrong(broken.at, broken.expected, &broken.found));
        }
        all.push((guid, manifest));
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
