//! Manifests that EventSource providers write into the trace, cut into chunks.
//!
//! Each chunk is an event with the ID [`CHUNK_ID`]. Its layout is `ManifestEnvelope` in the sources
//! of .NET. A provider writes its manifest each time a session enables it, in every process that
//! has it.

mod chunks;

use std::hash::Hasher;

use etwkit_etl::{Guid, RawEvent};
use rustc_hash::{FxHashMap, FxHasher};

use crate::bounds::{Budget, Problems};
use crate::manifest::{self, Manifest};

pub use chunks::{CHUNK_ID, CHUNK_OPCODE, Chunk};

/// Reads the XML of a manifest; `None` if the text is not one. Events belong to `provider`, the
/// GUID in their headers, and not to the GUID in the XML.
#[must_use]
pub fn parse(provider: Guid, text: &str) -> Option<Manifest> {
    manifest::of_provider(provider, text)
}

/// A manifest that is complete.
#[derive(Debug)]
struct Complete {
    manifest: Manifest,
    /// Time stamp of its last chunk the last time it was written.
    written: i64,
}

/// Assembles manifests during the first pass.
///
/// Events may come in any order: the time stamps determine which manifest is the latest.
#[derive(Debug)]
pub struct Collector {
    assembler: chunks::Assembler,
    /// By provider, hash and length of the XML: each distinct one is read once.
    complete: FxHashMap<(Guid, u64, usize), Option<Complete>>,
    budget: Budget,
}

impl Default for Collector {
    fn default() -> Self {
        Self {
            assembler: chunks::Assembler::default(),
            complete: FxHashMap::default(),
            budget: Budget::new(crate::bounds::MAX_SCHEMA_BYTES),
        }
    }
}

impl Collector {
    /// Takes an event with the ID [`CHUNK_ID`]; others that happen to have it are left alone.
    pub fn observe(&mut self, event: &RawEvent<'_>, problems: &mut Problems) {
        let Some(chunk) = Chunk::of(event) else {
            return;
        };
        let writer = chunks::Writer {
            provider: event.provider(),
            process: event.process_id(),
            thread: event.thread_id(),
        };
        match self.assembler.add(writer, chunk, event.timestamp) {
            Ok(Some((text, written))) => self.add(writer.provider, &text, written, problems),
            Ok(None) => {}
            Err(chunks::Refused::Broken) => problems.manifest_chunks += 1,
            Err(chunks::Refused::TooMuch) => problems.over_limit += 1,
        }
    }

    fn add(&mut self, provider: Guid, bytes: &[u8], written: i64, problems: &mut Problems) {
        // Every process that has the provider writes the same manifest, and again for each session
        // that enables it.
        let mut hasher = FxHasher::default();
        hasher.write(bytes);
        let key = (provider, hasher.finish(), bytes.len());
        if let Some(known) = self.complete.get_mut(&key) {
            if let Some(known) = known {
                known.written = known.written.max(written);
            }
            return;
        }
        let manifest = parse(provider, &String::from_utf8_lossy(bytes));
        let complete = match manifest {
            None => {
                problems.manifests += 1;
                None
            }
            Some(manifest) if self.budget.take(manifest.cost()).is_none() => {
                problems.over_limit += 1;
                None
            }
            Some(manifest) => {
                problems.manifest_events += manifest.broken_events.len() as u64;
                Some(Complete { manifest, written })
            }
        };
        // A manifest that could not be read is also remembered, so that it is counted once.
        self.complete.insert(key, complete);
    }

    /// All manifests, the latest ones last. Those that lack a chunk are counted.
    pub fn finish(self, problems: &mut Problems) -> Vec<(Guid, Manifest)> {
        problems.incomplete_manifests += self.assembler.pending();
        let mut all: Vec<_> = self
            .complete
            .into_iter()
            .filter_map(|(key, complete)| {
                complete.map(|complete| (complete.written, key, complete.manifest))
            })
            .collect();
        // The rest of the key breaks ties, so that the result does not depend on the order of a
        // hash table.
        all.sort_by_key(|(written, key, _)| (*written, *key));
        all.into_iter()
            .map(|(_, key, manifest)| (key.0, manifest))
            .collect()
    }
}

#[cfg(test)]
mod tests;
