//! The search path in use: stores are searched from near to far, and files that are found are
//! copied back to the nearer ones.

use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::check::SymbolFileKind;
use super::fetch::{Client, Refusal};
use super::folder::{
    Origin, Unpacking, attempt, copy, find_flat, find_in_store, folder_in, keep, unpack,
};
use super::sought::Sought;
use super::{Attempt, NOT_THERE, StorePath, breakpad};
use crate::search_path::{Element, Store};
use crate::{Error, Event, Progress, Result, SearchPath};

/// A file that is the right one.
#[derive(Debug, Clone)]
pub(crate) struct FoundFile {
    /// Path at which it can be opened.
    pub(crate) path: PathBuf,
    pub(crate) kind: SymbolFileKind,
    /// Source of the file: a path or URL.
    pub(crate) source: String,
}

pub(crate) struct Search<'a> {
    pub(crate) path: &'a SearchPath,
    pub(crate) client: &'a Client,
    /// Cache of the user, for files that are packed in a folder.
    pub(crate) cache: Option<&'a Path>,
}

impl Search<'_> {
    /// The first file that matches. The reasons for which others were skipped go to `tried`.
    pub(crate) fn find(
        &self,
        sought: Sought<'_>,
        progress: &mut dyn Progress,
        tried: &mut Vec<Attempt>,
    ) -> Option<FoundFile> {
        self.path
            .elements()
            .iter()
            .find_map(|element| match element {
                Element::Folder(folder) => self.in_folder(folder, Origin::User, sought, tried),
                Element::Beside(folder) => self.in_folder(folder, Origin::Trace, sought, tried),
                Element::Chain(_) if matches!(sought, Sought::Carrier(..)) => None,
                Element::Chain(stores) => self.in_chain(stores, sought, progress, tried),
                Element::Unusable { text, reason } => {
                    tried.push(Attempt {
                        place: text.clone(),
                        reason: reason.clone(),
                    });
                    None
                }
                // Told once, not for each module.
                Element::Skipped { .. } => None,
            })
    }

    /// The file that plain folders have, if they come before all symbol stores: those may be far
    /// away, and keep packed files.
    pub(crate) fn nearby(&self, sought: Sought<'_>) -> Option<FoundFile> {
        let mut tried = Vec::new();
        self.path
            .elements()
            .iter()
            .take_while(|element| !matches!(element, Element::Chain(_)))
            .find_map(|element| match element {
                Element::Folder(folder) => self.in_folder(folder, Origin::User, sought, &mut tried),
                Element::Beside(folder) => {
                    self.in_folder(folder, Origin::Trace, sought, &mut tried)
                }
                Element::Chain(_) | Element::Unusable { .. } | Element::Skipped { .. } => None,
            })
    }

    fn in_folder(
        &self,
        folder: &Path,
        origin: Origin,
        sought: Sought<'_>,
        tried: &mut Vec<Attempt>,
    ) -> Option<FoundFile> {
        if let Err(error) = origin.path(folder.to_owned()) {
            tried.push(attempt(folder, &error));
            return None;
        }
        let before = tried.len();
        let unpacking = self.unpacking(self.cache);
        let found = find_in_store(folder, origin, sought, &unpacking, tried)
            .or_else(|| find_flat(folder, origin, sought, &unpacking, tried));
        if found.is_none() && tried.len() == before {
            tried.push(missing_in(folder));
        }
        found.map(|(path, kind)| FoundFile {
            source: path.display().to_string(),
            path,
            kind,
        })
    }

    fn in_chain(
        &self,
        stores: &[Store],
        sought: Sought<'_>,
        progress: &mut dyn Progress,
        tried: &mut Vec<Attempt>,
    ) -> Option<FoundFile> {
        for (far, store) in stores.iter().enumerate() {
            let nearer: Vec<&Path> = stores
                .iter()
                .take(far)
                .rev()
                .filter_map(folder_of)
                .collect();
            match store {
                Store::Folder(folder) => {
                    let nearest = nearer.last().copied().or(Some(folder));
                    let unpacking = self.unpacking(nearest);
                    let before = tried.len();
                    let found = find_in_store(folder, Origin::User, sought, &unpacking, tried)
                        .or_else(|| find_flat(folder, Origin::User, sought, &unpacking, tried));
                    if let Some((path, kind)) = found {
                        let source = path.display().to_string();
                        return Some(FoundFile {
                            source,
                            ..bring_nearer(path, kind, &nearer, sought, tried)
                        });
                    }
                    // A cache that does not have the file yet is not reported: only the last store
                    // of a chain is.
                    if tried.len() == before && far + 1 == stores.len() {
                        tried.push(missing_in(folder));
                    }
                }
                Store::Server(server) => {
                    let Some((first, rest)) = nearer.split_first() else {
                        tried.push(Attempt {
                            place: server.clone(),
                            reason: "no cache folder to keep it in".to_owned(),
                        });
                        continue;
                    };
                    let found = self.at_server(server, first, sought, progress, tried);
                    if let Some((path, kind, source)) = found {
                        return Some(FoundFile {
                            source,
                            ..bring_nearer(path, kind, rest, sought, tried)
                        });
                    }
                }
            }
        }
        None
    }

    fn unpacking<'p>(&self, store: Option<&'p Path>) -> Unpacking<'p> {
        Unpacking {
            store,
            limit: self.client.limits().bytes,
        }
    }

    /// Requests all places from a server until it has one of them, and keeps that file in `store`.
    fn at_server(
        &self,
        server: &str,
        store: &Path,
        sought: Sought<'_>,
        progress: &mut dyn Progress,
        tried: &mut Vec<Attempt>,
    ) -> Option<(PathBuf, SymbolFileKind, String)> {
        let before = tried.len();
        let mut asked = sought.places(false);
        if self.client.is_two_tier(server) {
            asked = sought.places(true);
        }
        for place in asked {
            let url = super::fetch::url(server, &place.parts);
            match self.download(server, &place, store, sought, progress) {
                Ok(Some((path, kind))) => return Some((path, kind, url)),
                Ok(None) => {}
                Err(Stop::Place(reason)) => tried.push(Attempt { place: url, reason }),
                Err(Stop::Server(reason)) => {
                    tried.push(Attempt {
                        place: server.to_owned(),
                        reason,
                    });
                    return None;
                }
            }
        }
        if tried.len() == before {
            tried.push(Attempt {
                place: server.to_owned(),
                reason: NOT_THERE.to_owned(),
            });
        }
        None
    }

    fn download(
        &self,
        server: &str,
        place: &StorePath,
        store: &Path,
        sought: Sought<'_>,
        progress: &mut dyn Progress,
    ) -> std::result::Result<Option<(PathBuf, SymbolFileKind)>, Stop> {
        let limits = self.client.limits();
        let mut refusal = None;
        let mut receive = |file: &mut std::fs::File| -> Result<()> {
            let mut received = |bytes, total| {
                progress.event(
                    sought.name(),
                    Event::Received {
                        server,
                        bytes,
                        total,
                    },
                );
            };
            self.client
                .get(server, &place.parts, file, &mut received)
                .map(drop)
                .map_err(|why| {
                    refusal = Some(why);
                    // The caller reads the reason from `refusal`; this error is dropped.
                    Error::Unsupported("it did not come")
                })
        };
        if place.is_pointer {
            // A server must not decide which file of this system is opened.
            return match receive(
                // Downloaded only to learn that it exists; its content is discarded.
                &mut tempfile::tempfile().map_err(|error| Stop::Place(error.to_string()))?,
            ) {
                Ok(()) => Err(Stop::Place(
                    "a pointer to another place; pointers of servers are not followed".to_owned(),
                )),
                Err(_) => stop(refusal),
            };
        }
        let is_breakpad = place
            .parts
            .last()
            .is_some_and(|file| *file == breakpad(sought.name()) && file != sought.name());
        let name = if is_breakpad {
            breakpad(sought.name())
        } else {
            sought.name().to_owned()
        };
        let folder = folder_in(store, sought);
        let kept = keep(store, sought, &name, |file| {
            if !place.is_packed {
                return receive(file);
            }
            let mut packed = tempfile::tempfile_in(&folder)?;
            receive(&mut packed)?;
            packed.seek(SeekFrom::Start(0))?;
            unpack(packed, file, limits.bytes)
        });
        match kept {
            Ok(kept) => Ok(Some(kept)),
            // The refusal has the reason; the error of `keep` only follows from it.
            Err(_) if refusal.is_some() => {
                remove_empty_folders(&folder, store);
                stop(refusal)
            }
            Err(error) => {
                remove_empty_folders(&folder, store);
                Err(Stop::Place(error.to_string()))
            }
        }
    }
}

/// The scope of a failed download: this place, or the whole server.
enum Stop {
    Place(String),
    Server(String),
}

fn stop<T>(refusal: Option<Refusal>) -> std::result::Result<Option<T>, Stop> {
    match refusal {
        None | Some(Refusal::Missing) => Ok(None),
        Some(Refusal::Failed(reason)) => Err(Stop::Place(reason)),
        Some(Refusal::Down(reason)) => Err(Stop::Server(reason)),
    }
}

/// Removes folders that were created for a file that no server has, so that the cache does not fill
/// with them.
fn remove_empty_folders(innermost: &Path, store: &Path) {
    for folder in innermost.ancestors().take_while(|folder| *folder != store) {
        // A folder with other files cannot be removed, and then its parents are not empty either.
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

/// Copies a file into all nearer stores, from far to near. The nearest copy is used; if none can be
/// created, the file itself.
fn bring_nearer(
    path: PathBuf,
    kind: SymbolFileKind,
    nearer: &[&Path],
    sought: Sought<'_>,
    tried: &mut Vec<Attempt>,
) -> FoundFile {
    let mut found = FoundFile {
        source: path.display().to_string(),
        path,
        kind,
    };
    for store in nearer {
        match copy(&found.path, store, sought, kind) {
            Ok(path) => found.path = path,
            Err(error) => {
                tried.push(Attempt {
                    place: store.display().to_string(),
                    reason: format!("cannot keep it: {error}"),
                });
            }
        }
    }
    found
}

fn folder_of(store: &Store) -> Option<&Path> {
    match store {
        Store::Folder(folder) => Some(folder),
        Store::Server(_) => None,
    }
}

fn missing_in(folder: &Path) -> Attempt {
    let reason = if folder.is_dir() {
        NOT_THERE
    } else {
        "is no folder"
    };
    Attempt {
        place: folder.display().to_string(),
        reason: reason.to_owned(),
    }
}
