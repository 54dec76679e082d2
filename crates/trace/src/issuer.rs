//! The thread that issued a disk access.
//!
//! From version 3 on (Windows 8) the completion has the thread in its payload. Before, only headers
//! have it: the start of the access is logged by its issuer, and the kernel puts the same thread
//! into the header of the completion.

use etwkit_decode::kernel::disk::DiskIo;
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use crate::directory::Directory;
use crate::tracker::process::ProcessKey;

/// Maximum number of accesses without completion. If there are more, all are forgotten. No machine
/// has this many in progress, but a malicious file can claim them.
const MAX_OPEN: usize = 1 << 18;

/// The thread that issued an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Issuer {
    /// Thread ID.
    pub(crate) tid: u32,
    /// Process ID, if a header names it.
    pid: Option<u32>,
    /// Raw time at which both were valid.
    time: i64,
}

impl Issuer {
    fn of_header(event: &RawEvent<'_>) -> Option<Self> {
        Some(Self {
            tid: event.thread_id()?,
            pid: event.process_id(),
            time: event.timestamp,
        })
    }

    /// The process of the thread, otherwise the process of the ID in the header.
    pub(crate) fn process(self, directory: &Directory) -> Option<ProcessKey> {
        let by_header = || directory.process_at(self.pid?, self.time);
        directory
            .process_of_thread(self.tid, self.time)
            .or_else(by_header)
    }

    /// Raw time at which the IDs held.
    pub(crate) const fn time(self) -> i64 {
        self.time
    }
}

/// Remembers the issuers of the accesses in progress, by request packet.
#[derive(Debug, Default)]
pub(crate) struct Issuers {
    open: FxHashMap<u64, Issuer>,
}

impl Issuers {
    /// Takes the start of an access. `tid` is the thread in its payload. Returns the issuer.
    pub(crate) fn start(
        &mut self,
        irp: u64,
        tid: Option<u32>,
        event: &RawEvent<'_>,
    ) -> Option<Issuer> {
        let named = tid.map(|tid| Issuer {
            tid,
            pid: None,
            time: event.timestamp,
        });
        let issuer = named.or_else(|| Issuer::of_header(event));
        if self.open.len() >= MAX_OPEN {
            self.open.clear();
        }
        match issuer {
            Some(issuer) => _ = self.open.insert(irp, issuer),
            // Addresses of packets are reused: without this the completion would be attributed to
            // the issuer of an earlier access.
            None => _ = self.open.remove(&irp),
        }
        issuer
    }

    /// The issuer of a completed access: the thread in its payload, otherwise in its start event,
    /// otherwise in its header.
    pub(crate) fn completed(&mut self, io: &DiskIo, event: &RawEvent<'_>) -> Option<Issuer> {
        let started = self.open.remove(&io.irp).filter(|_| io.irp != 0);
        let named = io.tid.map(|tid| Issuer {
            tid,
            pid: None,
            time: event.timestamp,
        });
        named.or(started).or_else(|| Issuer::of_header(event))
    }
}
