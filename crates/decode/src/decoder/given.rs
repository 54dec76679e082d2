//! Descriptions of events from files that the user names.

use std::sync::Arc;

use etwkit_etl::Guid;
use rustc_hash::FxHashMap;

use super::{Described, Key, Text, plans};
use crate::bounds::{Budget, MAX_SCHEMA_BYTES};
use crate::describe::Wrong;
use crate::schema::ValueMap;
use crate::{manifest, wpp};

/// Descriptions of events from files. One set serves any number of traces.
#[derive(Debug)]
pub struct Descriptions {
    described: FxHashMap<Key, Described>,
    names: FxHashMap<Guid, Arc<str>>,
    keywords: FxHashMap<Guid, ValueMap>,
    budget: Budget,
}

impl Default for Descriptions {
    fn default() -> Self {
        Self {
            described: FxHashMap::default(),
            names: FxHashMap::default(),
            keywords: FxHashMap::default(),
            budget: Budget::new(MAX_SCHEMA_BYTES),
        }
    }
}

impl Descriptions {
    /// Adds the messages of a trace message format file. Later files override earlier ones. Returns
    /// the number of messages.
    ///
    /// # Errors
    /// [`Wrong`] with the invalid line. In this case nothing is added.
    pub fn add_tmf(&mut self, text: &str) -> Result<usize, Wrong> {
        let messages = wpp::read(text, &mut self.budget)?;
        let count = messages.len();
        for wpp::Message {
            guid,
            number,
            schema,
            text,
        } in messages
        {
            if let Some(name) = &schema.provider_name {
                self.names.insert(guid, Arc::clone(name));
            }
            let described = Described {
                plans: plans(schema),
                text: Some(Text::Wpp(Box::new(text))),
            };
            self.described.insert(Key::Message(guid, number), described);
        }
        Ok(count)
    }

    /// Adds the events of an instrumentation manifest. Later files override earlier ones. Returns
    /// the number of events.
    ///
    /// # Errors
    /// [`Wrong`] with the invalid line. In this case nothing is added.
    pub fn add_manifest(&mut self, text: &str) -> Result<usize, Wrong> {
        // Everything is read before anything is added, so that a file with a mistake adds nothing.
        let manifests = manifest::read(text)?;
        // Counted twice, because every schema is compiled for both pointer sizes.
        let cost = manifests
            .iter()
            .map(|(_, manifest)| 2 * manifest.cost())
            .sum();
        if self.budget.take(cost).is_none() {
            return Err(Wrong::at(
                1,
                "manifests within the memory limit",
                "too many events",
                manifest::HINT,
            ));
        }
        let mut count = 0;
        for (guid, manifest) in manifests {
            count += manifest.events.len();
            self.names.extend(manifest.name.map(|name| (guid, name)));
            self.keywords.insert(guid, manifest.keywords);
            for event in manifest.events {
                let key = Key::Manifest(guid, event.id, event.version);
                self.described
                    .insert(key, Described::new(event.schema, event.message.as_deref()));
            }
        }
        Ok(count)
    }

    /// True if there are no descriptions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.described.is_empty()
    }

    pub(super) fn find(&self, key: Key) -> Option<&Described> {
        // Nearly always there are no such files, and this is called for every event.
        if self.described.is_empty() {
            None
        } else {
            self.described.get(&key)
        }
    }

    pub(super) fn provider_name(&self, provider: Guid) -> Option<Arc<str>> {
        self.names.get(&provider).cloned()
    }

    pub(super) fn keywords(&self, provider: Guid) -> Option<&ValueMap> {
        self.keywords.get(&provider)
    }
}
