//! Images: their addresses, processes and times, and the PDB of each.

use std::sync::Arc;

use etwkit_decode::kernel::image::{Image, NewDll, opcode};
use etwkit_decode::kernel::merge::{FileVersion, ImageInfo, Pdb};
use rustc_hash::FxHashMap;

use crate::interner::Interner;

/// One image in one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageInstance {
    /// Process ID of its events; 0 for the kernel.
    pub pid: u32,
    /// Base address.
    pub base: u64,
    /// Size in bytes.
    pub size: u64,
    /// NT path.
    pub path: Arc<str>,
    /// Time stamp of the PE header: the first of its events that has one.
    pub time_date_stamp: u32,
    /// Checksum of the PE header: the first of its events that has one.
    pub checksum: u32,
    /// Raw time of the load; `None` if it was loaded before.
    pub load: Option<i64>,
    /// Raw time of the unload; `None` if it was still loaded.
    pub unload: Option<i64>,
    /// Raw time of its first event.
    pub first_seen: i64,
    /// Identity of its PDB.
    pub pdb: Option<Arc<Pdb>>,
    /// PE header as the merge step read it from the file.
    pub info: Option<Arc<ImageInfo>>,
    /// Version resource.
    pub version: Option<Arc<FileVersion>>,
    /// The reason for which the loader of its process mapped it, and the position of the image that
    /// needed it.
    pub reason: Option<(u32, Option<u32>)>,
}

impl ImageInstance {
    /// True if an address is in it.
    #[must_use]
    pub const fn contains(&self, address: u64) -> bool {
        // Wrapping: an address below the base becomes a huge number, so that one comparison is
        // enough.
        address.wrapping_sub(self.base) < self.size
    }

    /// True if it is mapped at that raw time.
    #[must_use]
    pub fn is_loaded_at(&self, timestamp: i64) -> bool {
        // Both ends count as loaded, because events of one tick have no order.
        self.load.is_none_or(|load| load <= timestamp)
            && self.unload.is_none_or(|unload| timestamp <= unload)
    }
}

/// Raw time, base address and process ID of an image event, by which the merge step's records find
/// it.
type EventPlace = (i64, u64, u32);

/// All images of a session.
#[derive(Debug, Default)]
pub struct ImageTracker {
    images: Vec<ImageInstance>,
    open: FxHashMap<(u32, u64), u32>,
    places: FxHashMap<EventPlace, u32>,
    /// The images that have an event at a time and base, in any process.
    by_time_and_base: FxHashMap<(i64, u64), Vec<u32>>,
    paths: Interner,
    rsds: FxHashMap<EventPlace, Arc<Pdb>>,
    il_rsds: FxHashMap<EventPlace, Arc<Pdb>>,
    infos: Vec<(i64, Option<u32>, Arc<ImageInfo>)>,
    versions: FxHashMap<(u32, u32, String), Arc<FileVersion>>,
    events: u64,
}

impl ImageTracker {
    /// Takes an image event of process `pid`; events must come in order of time.
    pub fn add(&mut self, op: u8, timestamp: i64, pid: u32, event: &Image) {
        if !matches!(
            op,
            opcode::LOAD | opcode::UNLOAD | opcode::DC_START | opcode::DC_END
        ) {
            return;
        }
        self.events += 1;
        let place = (pid, event.base);
        // A load at an occupied base is another image: the unload of the previous one was lost.
        let open = self
            .open
            .get(&place)
            .copied()
            .filter(|_| op != opcode::LOAD);
        // A rundown repeats images that are known already.
        let key = open.unwrap_or_else(|| self.new_image(op, timestamp, pid, event));
        if op == opcode::UNLOAD {
            self.open.remove(&place);
        } else {
            self.open.insert(place, key);
        }
        // The first event of a place keeps it: records of the merge step refer to that one.
        self.places
            .entry((timestamp, event.base, pid))
            .or_insert(key);
        let same_time = self
            .by_time_and_base
            .entry((timestamp, event.base))
            .or_default();
        if !same_time.contains(&key) {
            same_time.push(key);
        }
        if let Some(image) = self.images.get_mut(key as usize) {
            if op == opcode::UNLOAD {
                image.unload = Some(timestamp);
            }
            // Zero means that the event does not have it.
            let keep = |own: &mut u32, new: u32| *own = if *own == 0 { new } else { *own };
            keep(&mut image.time_date_stamp, event.time_date_stamp);
            keep(&mut image.checksum, event.checksum);
        }
    }

    fn new_image(&mut self, op: u8, timestamp: i64, pid: u32, event: &Image) -> u32 {
        let key = self.images.len() as u32;
        let path = self.paths.intern(&event.path);
        self.images.push(ImageInstance {
            pid,
            base: event.base,
            size: event.size,
            path,
            time_date_stamp: 0,
            checksum: 0,
            // Images of the rundown were loaded at an unknown time.
            load: (op == opcode::LOAD).then_some(timestamp),
            unload: None,
            first_seen: timestamp,
            pdb: None,
            info: None,
            version: None,
            reason: None,
        });
        key
    }

    /// Stores the reason for which a process loaded the image at an address. The first reason
    /// counts.
    pub fn add_reason(&mut self, pid: u32, event: NewDll) {
        let at = |base| self.open.get(&(pid, base)).copied();
        // An image that names itself as its parent has none.
        let parent = at(event.parent_base).filter(|_| event.parent_base != event.base);
        if let Some(image) = at(event.base).and_then(|key| self.images.get_mut(key as usize)) {
            image.reason.get_or_insert((event.reason, parent));
        }
    }

    /// Takes the PDB identity of the image at `base` in `pid` whose event has that raw time.
    pub fn add_pdb(&mut self, timestamp: i64, base: u64, pid: u32, pdb: Pdb, il: bool) {
        let map = if il {
            &mut self.il_rsds
        } else {
            &mut self.rsds
        };
        // The first record of a place; merging a merged trace repeats them.
        map.entry((timestamp, base, pid))
            .or_insert_with(|| Arc::new(pdb));
    }

    /// Takes the data that the merge step read from a file; `header_pid` is the process ID of the
    /// event's header.
    pub fn add_info(&mut self, timestamp: i64, header_pid: Option<u32>, info: ImageInfo) {
        self.infos.push((timestamp, header_pid, Arc::new(info)));
    }

    /// Takes a version resource.
    pub fn add_version(&mut self, version: FileVersion) {
        // The record names no address. Stamp, size and name of the file identify it.
        let key = (
            version.time_date_stamp,
            version.size,
            version.original_name.clone(),
        );
        self.versions
            .entry(key)
            .or_insert_with(|| Arc::new(version));
    }

    /// Joins images with the data of the merge step; call it once after all events.
    pub fn finish(&mut self) {
        let mut first = FxHashMap::default();
        let mut first_il = FxHashMap::default();
        let earliest = |into: &mut FxHashMap<u32, (i64, Arc<Pdb>)>,
                        from: &FxHashMap<EventPlace, Arc<Pdb>>| {
            for (place, pdb) in from {
                let Some(key) = self.places.get(place) else {
                    continue;
                };
                let best = into
                    .entry(*key)
                    .or_insert_with(|| (place.0, Arc::clone(pdb)));
                // The map has no order; the earliest record wins.
                // A file that was replaced while it ran has two records, and the first is of the
                // code that ran.
                if place.0 < best.0 {
                    *best = (place.0, Arc::clone(pdb));
                }
            }
        };
        earliest(&mut first, &self.rsds);
        earliest(&mut first_il, &self.il_rsds);
        // In order of the images, so that the same trace gives the same PDBs.
        for (image, key) in self.images.iter_mut().zip(0..) {
            // A precompiled .NET image has a PDB for its native code and one for its IL. Sampled
            // addresses are in the native code, so that PDB is preferred.
            image.pdb = first
                .remove(&key)
                .or_else(|| first_il.remove(&key))
                .map(|(_, pdb)| pdb);
        }
        // Joined only now, as records may come before or after the events of their images.
        for (timestamp, header_pid, info) in std::mem::take(&mut self.infos) {
            self.join_info(timestamp, header_pid, &info);
        }
        // Only records of the merge step use these maps, and all of them are joined now.
        (self.rsds, self.il_rsds) = (FxHashMap::default(), FxHashMap::default());
        (self.places, self.by_time_and_base) = (FxHashMap::default(), FxHashMap::default());
    }

    fn join_info(&mut self, timestamp: i64, header_pid: Option<u32>, info: &Arc<ImageInfo>) {
        let Some(keys) = self.by_time_and_base.get(&(timestamp, info.base)) else {
            return;
        };
        let image = |key: &u32| self.images.get(*key as usize);
        // If several processes mapped an image at this base at the same time, the process ID of the
        // header decides. If it matches none of them, all of them get the record.
        let own = keys
            .iter()
            // One process with the base needs no decision.
            .find(|key| keys.len() > 1 && image(key).map(|i| i.pid) == header_pid);
        let targets: Vec<u32> = own.map_or_else(|| keys.clone(), |key| vec![*key]);
        let version_key = (
            info.time_date_stamp,
            info.size as u32,
            info.original_name.clone(),
        );
        let version = self.versions.get(&version_key).cloned();
        for key in targets {
            let Some(image) = self
                .images
                .get_mut(key as usize)
                // The first record counts, as with PDBs.
                .filter(|i| i.info.is_none())
            else {
                continue;
            };
            image.info = Some(Arc::clone(info));
            image.version.clone_from(&version);
        }
    }

    /// All images, in order of first occurrence.
    #[must_use]
    pub fn images(&self) -> &[ImageInstance] {
        &self.images
    }

    /// Number of events that were read.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }
}

/// Finds the image of an address: one sorted list for each process, and one for the kernel.
#[derive(Debug, Default)]
pub struct ImageIndex {
    lists: Vec<AddressList>,
    kernel: AddressList,
}

#[derive(Debug, Default)]
struct AddressList {
    /// Base address, position in the tracker, and the largest end of this and all entries before
    /// it.
    entries: Vec<(u64, u32, u64)>,
}

impl ImageIndex {
    /// Sorts images by owner: `owner_of` returns the list (a process key) of an image. Kernel
    /// addresses belong to no process.
    #[must_use]
    pub fn new(
        images: &[ImageInstance],
        pointer_size: usize,
        lists: usize,
        owner_of: impl Fn(&ImageInstance) -> Option<u32>,
    ) -> Self {
        let mut index = Self {
            lists: Vec::new(),
            kernel: AddressList::default(),
        };
        index.lists.resize_with(lists, AddressList::default);
        for (image, key) in images.iter().zip(0u32..) {
            // By the address and not by the process: drivers are logged with the process that
            // loaded them.
            let list = if is_kernel(image.base, pointer_size) {
                Some(&mut index.kernel)
            } else {
                owner_of(image).and_then(|owner| index.lists.get_mut(owner as usize))
            };
            if let Some(list) = list {
                list.entries
                    // Saturating: the size of a damaged event may reach past the end of the address
                    // space.
                    .push((image.base, key, image.base.saturating_add(image.size)));
            }
        }
        for list in index.lists.iter_mut().chain([&mut index.kernel]) {
            // By base, so that a binary search finds the last one that starts at or before an
            // address.
            list.entries.sort_unstable();
            // Entries are sorted by base, and a large image may hold addresses far after the starts
            // of later ones. The largest end so far shows when a search further back is in vain.
            let mut reach = 0;
            for (.., end) in &mut list.entries {
                reach = reach.max(*end);
                *end = reach;
            }
        }
        index
    }

    /// The image at an address of a process at a raw time; of several the one loaded last.
    #[must_use]
    pub fn find<'i>(
        &self,
        images: &'i [ImageInstance],
        process: Option<u32>,
        address: u64,
        timestamp: i64,
        pointer_size: usize,
    ) -> Option<(u32, &'i ImageInstance)> {
        let list = if is_kernel(address, pointer_size) {
            &self.kernel
        } else {
            self.lists.get(process? as usize)?
        };
        let behind = list.entries.partition_point(|(base, ..)| *base <= address);
        let mut best: Option<(u32, &ImageInstance)> = None;
        // Backwards: of overlapping images the one with the nearest base is the likeliest.
        for (_, key, reach) in list.entries.get(..behind)?.iter().rev() {
            if *reach <= address {
                break;
            }
            let Some(image) = images.get(*key as usize) else {
                continue;
            };
            // `None`, an image that was loaded before the trace, is less than every time.
            if image.contains(address)
                && image.is_loaded_at(timestamp)
                && best.is_none_or(|(_, other)| image.load > other.load)
            {
                best = Some((*key, image));
            }
        }
        best
    }
}

const fn is_kernel(address: u64, pointer_size: usize) -> bool {
    etwkit_decode::kernel::stack::is_kernel_address(address, pointer_size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(base: u64, path: &str) -> Image {
        Image {
            base,
            size: 0x1000,
            path: path.into(),
            ..Image::default()
        }
    }

    #[test]
    fn an_address_belongs_to_the_image_loaded_at_that_time() {
        let mut tracker = ImageTracker::default();
        tracker.add(opcode::LOAD, 10, 8, &event(0x1000, "a"));
        tracker.add(opcode::UNLOAD, 20, 8, &event(0x1000, "a"));
        tracker.add(opcode::LOAD, 30, 8, &event(0x1000, "b"));
        tracker.add(opcode::DC_END, 40, 8, &event(0x1000, "b"));
        tracker.add(opcode::DC_END, 40, 8, &event(0x8000, "c"));
        tracker.finish();
        let images = tracker.images();
        let index = ImageIndex::new(images, 8, 1, |_| Some(0));
        let path = |address, time| {
            index
                .find(images, Some(0), address, time, 8)
                .map(|(_, i)| &*i.path)
        };
        assert_eq!(
            [5, 10, 20, 25, 30, 99].map(|t| path(0x1fff, t)),
            [None, Some("a"), Some("a"), None, Some("b"), Some("b")]
        );
        assert_eq!(
            [path(0x8000, 0), path(0x9000, 0), path(0, 0)],
            [Some("c"), None, None]
        );
        assert_eq!((images.len(), tracker.events()), (3, 5));
    }

    #[test]
    fn identities_are_joined_by_time_base_and_process() {
        let mut tracker = ImageTracker::default();
        let pdb = |name: &str| Pdb {
            guid: etwkit_etl::Guid::ZERO,
            age: 1,
            name: name.into(),
        };
        tracker.add_pdb(10, 0x1000, 8, pdb("il"), true);
        tracker.add_pdb(10, 0x1000, 8, pdb("native"), false);
        tracker.add_pdb(11, 0x1000, 8, pdb("other time"), false);
        tracker.add(opcode::DC_END, 10, 8, &event(0x1000, "a"));
        tracker.add(opcode::DC_END, 10, 9, &event(0x1000, "a"));
        let info = ImageInfo {
            base: 0x1000,
            size: 0x1000,
            pid: 8,
            time_date_stamp: 5,
            original_name: "A".into(),
        };
        tracker.add_info(10, Some(9), info);
        tracker.finish();
        let names = |i: &ImageInstance| (i.pdb.as_ref().map(|p| p.name.clone()), i.info.is_some());
        assert_eq!(names(&tracker.images()[0]), (Some("native".into()), false));
        assert_eq!(names(&tracker.images()[1]), (None, true));
    }
}
