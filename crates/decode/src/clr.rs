//! Typed views of the .NET runtime's events that trackers read.

mod heaps;
mod il_map;

use etwkit_etl::bytes::Cursor;
use etwkit_etl::{Guid, RawEvent};

pub use heaps::HeapStats;
pub use il_map::{IlToNative, MAX_IL_OFFSET, WHOLE_CODE};

use crate::kernel::merge::Pdb;

/// Microsoft-Windows-DotNETRuntime.
pub const RUNTIME: Guid = Guid::literal("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4");
/// Microsoft-Windows-DotNETRuntimeRundown.
pub const RUNDOWN: Guid = Guid::literal("a669021c-c450-4609-a035-5af59af4df18");

/// IDs of [`RUNTIME`].
pub mod id {
    /// A collection starts.
    pub const GC_START: u16 = 1;
    /// A collection ends.
    pub const GC_END: u16 = 2;
    /// All threads are resumed after a collection.
    pub const GC_RESTART_END: u16 = 3;
    /// Sizes of the heaps after a collection.
    pub const GC_HEAP_STATS: u16 = 4;
    /// The runtime starts to resume threads after a collection.
    pub const GC_RESTART_BEGIN: u16 = 7;
    /// All threads are suspended for a collection.
    pub const GC_SUSPEND_END: u16 = 8;
    /// The runtime starts to suspend threads for a collection.
    pub const GC_SUSPEND_BEGIN: u16 = 9;
    /// Another 100 KB were allocated.
    pub const ALLOCATION_TICK: u16 = 10;
    /// A worker thread of the thread pool started.
    pub const WORKER_START: u16 = 50;
    /// A worker thread ended.
    pub const WORKER_STOP: u16 = 51;
    /// A worker thread retired: it ends unless it is needed again.
    pub const WORKER_RETIREMENT_START: u16 = 52;
    /// A retired worker thread works again.
    pub const WORKER_RETIREMENT_STOP: u16 = 53;
    /// The thread pool measured its throughput.
    pub const WORKER_SAMPLE: u16 = 54;
    /// The thread pool changed the number of its worker threads.
    pub const WORKER_ADJUSTMENT: u16 = 55;
    /// A worker thread waits for work.
    pub const WORKER_WAIT: u16 = 57;
    /// Number of active worker threads.
    pub const WORKING_COUNT: u16 = 60;
    /// An exception was thrown.
    pub const EXCEPTION: u16 = 80;
    /// The stack of the event before, of the same thread.
    pub const STACK: u16 = 82;
    /// A method was loaded (rundown: it exists at the start).
    pub const METHOD_LOAD_VERBOSE: u16 = 143;
    /// A method was unloaded (rundown: it exists at the end).
    pub const METHOD_UNLOAD_VERBOSE: u16 = 144;
    /// A method is about to be compiled.
    pub const JITTING_STARTED: u16 = 145;
    /// A domain loaded a module (rundown: it has it at the start).
    pub const DOMAIN_MODULE_LOAD: u16 = 151;
    /// Rundown only: a domain has a module at the end.
    pub const DOMAIN_MODULE_DC_END: u16 = 152;
    /// A module was loaded.
    pub const MODULE_LOAD: u16 = 152;
    /// A module was unloaded (rundown: it exists at the start).
    pub const MODULE_UNLOAD: u16 = 153;
    /// Rundown only: a module exists at the end.
    pub const MODULE_DC_END: u16 = 154;
    /// Version and identity of the runtime.
    pub const RUNTIME_INFORMATION: u16 = 187;
    /// IL to native offsets.
    pub const IL_TO_NATIVE_MAP: u16 = 190;
    /// Rundown only: IL to native offsets, behind the method that exists at the start.
    pub const IL_TO_NATIVE_MAP_DC_START: u16 = 149;
    /// Rundown only: IL to native offsets, before the method that exists at the end.
    pub const IL_TO_NATIVE_MAP_DC_END: u16 = 150;
}

/// Bits of `MethodFlags`.
pub mod method_flag {
    /// Compiled from no module.
    pub const DYNAMIC: u32 = 0x1;
    /// Compiled while the program ran.
    pub const JITTED: u32 = 0x8;

    /// Optimization tier of the compiled code (bits 7 to 9); `None` if the runtime does not report
    /// it.
    #[must_use]
    pub const fn tier(flags: u32) -> Option<&'static str> {
        Some(match flags >> 7 & 7 {
            1 => "minimal",
            2 => "optimized",
            3 => "tier0",
            4 => "tier1",
            5 => "tier1_osr",
            6 => "tier0_instrumented",
            7 => "tier1_instrumented",
            _ => return None,
        })
    }
}

/// The provider of an event: runtime or rundown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// [`RUNTIME`].
    Runtime,
    /// [`RUNDOWN`].
    Rundown,
}

/// The origin of an event, if it is one of the runtime's.
#[inline]
#[must_use]
pub fn origin(event: &RawEvent<'_>) -> Option<Origin> {
    // All versions of the runtime log with a manifest.
    if !event.kind.is_manifest() {
        return None;
    }
    match event.provider() {
        RUNTIME => Some(Origin::Runtime),
        RUNDOWN => Some(Origin::Rundown),
        _ => None,
    }
}

/// `MethodLoadVerbose` and its kin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    /// ID in the runtime.
    pub method_id: u64,
    /// ID of the module.
    pub module_id: u64,
    /// Start of the code.
    pub start: u64,
    /// Bytes of code.
    pub size: u32,
    /// Metadata token in its module; 0 for code that has no metadata.
    pub token: u32,
    /// Bits of [`method_flag`] and others.
    pub flags: u32,
    /// Namespace and type.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Signature.
    pub signature: String,
}

impl Method {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let method_id = c.u64()?;
        let module_id = c.u64()?;
        let start = c.u64()?;
        let size = c.u32()?;
        let token = c.u32()?;
        let flags = c.u32()?;
        Some(Self {
            method_id,
            module_id,
            start,
            size,
            token,
            flags,
            // The texts come last, each ended by a zero.
            namespace: c.text(),
            name: c.text(),
            signature: c.text(),
        })
    }
}

/// `ModuleLoad` and its kin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// ID in the runtime.
    pub module_id: u64,
    /// `ModuleFlags`.
    pub flags: u32,
    /// Path of the IL image.
    pub il_path: String,
    /// Path of the precompiled image, if there is one.
    pub native_path: String,
    /// PDB of the IL image (version 2 and later).
    pub pdb: Option<Pdb>,
}

impl Module {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8], version: u8) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let module_id = c.u64()?;
        let _assembly = c.u64()?;
        let flags = c.u32()?;
        let _reserved = c.u32()?;
        let il_path = c.text();
        let native_path = c.text();
        let mut pdb = None;
        // Older versions end before the symbol file.
        if version >= 2 {
            c.u16()?; // CLR instance
            let guid = c.guid()?;
            let age = c.u32()?;
            let name = c.text();
            // A zero GUID means that the module has no symbol file.
            pdb = (guid != Guid::ZERO).then_some(Pdb { guid, age, name });
        }
        Some(Self {
            module_id,
            flags,
            il_path,
            native_path,
            pdb,
        })
    }

    /// Reads the payload of `DomainModuleLoad` and its kin, which name the domain and no symbol
    /// file.
    #[must_use]
    pub fn parse_domain(payload: &[u8]) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let module_id = c.u64()?;
        let _assembly = c.u64()?;
        let _domain = c.u64()?;
        let flags = c.u32()?;
        let _reserved = c.u32()?;
        let il_path = c.text();
        let native_path = c.text();
        Some(Self {
            module_id,
            flags,
            il_path,
            native_path,
            pdb: None,
        })
    }
}

/// `GCStart`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GcStart {
    /// Number of the collection in its runtime.
    pub number: u32,
    /// Generation; `None` in version 0.
    pub depth: Option<u32>,
    /// The reason.
    pub reason: u32,
    /// 0 blocking, 1 in the background, 2 blocking while one runs in the background; `None` in
    /// version 0.
    pub kind: Option<u32>,
    /// Instance of the runtime in the process.
    pub clr_instance: u16,
}

impl GcStart {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8], version: u8) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let number = c.u32()?;
        // The first version has neither a generation nor the kind of collection.
        if version == 0 {
            return Some(Self {
                number,
                depth: None,
                reason: c.u32()?,
                kind: None,
                clr_instance: 0,
            });
        }
        let depth = c.u32()?;
        let reason = c.u32()?;
        let kind = c.u32()?;
        Some(Self {
            number,
            depth: Some(depth),
            reason,
            kind: Some(kind),
            clr_instance: c.u16()?,
        })
    }
}

/// `GCEnd`: number of the collection and instance of the runtime.
#[must_use]
pub fn gc_end(payload: &[u8], version: u8) -> Option<(u32, u16)> {
    let mut c = Cursor::new(payload);
    let number = c.u32()?;
    // Runtimes before version 4 had no number, and a process had only one of them.
    if version == 0 {
        return Some((number, 0));
    }
    c.u32()?; // generation
    Some((number, c.u16()?))
}

/// `GCSuspendEEBegin`: a thread starts to suspend the threads of its runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suspend {
    /// The reason, see [`suspend_reason`].
    pub reason: u32,
    /// Instance of the runtime in the process.
    pub clr_instance: u16,
}

/// Reasons for suspending threads. Other values are debuggers, the end of the program, and the
/// like.
pub mod suspend_reason {
    /// A garbage collection.
    pub const GC: u32 = 1;
    /// To prepare or to end a collection in the background.
    pub const GC_PREP: u32 = 6;
}

impl Suspend {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8], version: u8) -> Option<Self> {
        let mut c = Cursor::new(payload);
        // The reason became wider in later versions.
        if version == 0 {
            return Some(Self {
                reason: c.u16()?.into(),
                clr_instance: 0,
            });
        }
        let reason = c.u32()?;
        c.u32()?; // number of the collection
        Some(Self {
            reason,
            clr_instance: c.u16()?,
        })
    }

    /// True if threads are suspended for a collection.
    #[must_use]
    pub const fn is_for_gc(self) -> bool {
        matches!(self.reason, suspend_reason::GC | suspend_reason::GC_PREP)
    }
}

/// `MethodJittingStarted`: the method in its runtime and bytes of its intermediate code.
#[must_use]
pub fn jitting_started(payload: &[u8]) -> Option<(u64, u32)> {
    let mut c = Cursor::new(payload);
    let method_id = c.u64()?;
    c.take(8 + 4)?; // module, token
    Some((method_id, c.u32()?))
}

/// Bytes of an `AllocationTick`; 64-bit from version 2 on.
#[must_use]
pub fn allocation_tick_bytes(payload: &[u8], version: u8) -> Option<u64> {
    let mut c = Cursor::new(payload);
    let small = c.u32()?;
    // Wide from version 2 on, since large objects overflowed the old field.
    if version < 2 {
        return Some(small.into());
    }
    c.take(4 + 2)?; // kind, CLR instance
    c.u64()
}

/// An event of the thread pool.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ThreadPool {
    /// The kind of event, as one word.
    pub kind: &'static str,
    /// Number of active worker threads, or their target number after an adjustment.
    pub workers: Option<u32>,
    /// Worker threads that retired.
    pub retired: Option<u32>,
    /// Work that was done, as the runtime measures it.
    pub throughput: Option<f64>,
    /// Reason for the adjustment.
    pub reason: Option<u32>,
}

impl ThreadPool {
    /// Reads the payload of event `id`; `None` for other IDs and short payloads.
    #[must_use]
    pub fn parse(id: u16, payload: &[u8]) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let kind = match id {
            id::WORKER_START => "start",
            id::WORKER_STOP => "stop",
            id::WORKER_RETIREMENT_START => "retirement_start",
            id::WORKER_RETIREMENT_STOP => "retirement_stop",
            id::WORKER_WAIT => "wait",
            id::WORKING_COUNT => {
                return Some(Self {
                    kind: "working",
                    workers: Some(c.u32()?),
                    ..Self::default()
                });
            }
            id::WORKER_SAMPLE => {
                let throughput = Some(f64::from_bits(c.u64()?));
                return Some(Self {
                    kind: "sample",
                    throughput,
                    ..Self::default()
                });
            }
            id::WORKER_ADJUSTMENT => {
                let throughput = Some(f64::from_bits(c.u64()?));
                let workers = Some(c.u32()?);
                let reason = Some(c.u32()?);
                return Some(Self {
                    kind: "adjustment",
                    workers,
                    throughput,
                    reason,
                    ..Self::default()
                });
            }
            _ => return None,
        };
        Some(Self {
            kind,
            workers: Some(c.u32()?),
            retired: Some(c.u32()?),
            ..Self::default()
        })
    }
}

/// True if an event is the stack of the event before it.
#[inline]
#[must_use]
pub fn is_stack(event: &RawEvent<'_>) -> bool {
    event.descriptor().id == id::STACK && origin(event) == Some(Origin::Runtime)
}

/// The addresses of a `ClrStackWalk`, innermost first.
#[must_use]
pub fn stack(payload: &[u8], pointer_size: usize) -> Vec<u64> {
    let mut c = Cursor::new(payload);
    let head = c.take(4).and_then(|_| c.u32()); // CLR instance and two reserved bytes, number of frames
    // The count can only shorten the stack: if it claims more frames than the payload holds, all
    // frames in the payload are taken.
    let Some(count) = head.and_then(|count| usize::try_from(count).ok()) else {
        return Vec::new();
    };
    crate::kernel::stack::frames(payload, 8, pointer_size)
        .take(count)
        .collect()
}

/// `Exception`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exception {
    /// Type.
    pub type_name: String,
    /// Message.
    pub message: String,
    /// Address of the instruction that threw it.
    pub eip: u64,
    /// HRESULT.
    pub hresult: u32,
    /// `ExceptionFlags`.
    pub flags: u16,
}

impl Exception {
    /// Reads a payload; version 0 has none.
    #[must_use]
    pub fn parse(payload: &[u8], pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let type_name = c.text();
        let message = c.text();
        Some(Self {
            type_name,
            message,
            eip: c.pointer(pointer_size)?,
            hresult: c.u32()?,
            flags: c.u16()?,
        })
    }
}

/// `RuntimeInformation`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuntimeInformation {
    /// Instance in the process.
    pub clr_instance: u16,
    /// 1 desktop, 2 Core.
    pub sku: u16,
    /// Version of the base class library.
    pub bcl_version: [u16; 4],
    /// Version of the runtime.
    pub vm_version: [u16; 4],
    /// Start-up flags.
    pub startup_flags: u32,
    /// Start-up mode.
    pub startup_mode: u8,
    /// Command line.
    pub command_line: String,
    /// Path of the runtime's DLL.
    pub runtime_dll: String,
}

impl RuntimeInformation {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let clr_instance = c.u16()?;
        let sku = c.u16()?;
        let bcl_version = [c.u16()?, c.u16()?, c.u16()?, c.u16()?];
        let vm_version = [c.u16()?, c.u16()?, c.u16()?, c.u16()?];
        let startup_flags = c.u32()?;
        let startup_mode = c.u8()?;
        let command_line = c.text();
        c.guid()?;
        let runtime_dll = c.text();
        Some(Self {
            clr_instance,
            sku,
            bcl_version,
            vm_version,
            startup_flags,
            startup_mode,
            command_line,
            runtime_dll,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tier_of_a_method_stands_in_three_bits_of_its_flags() {
        let tier = |bits: u32| method_flag::tier(bits << 7 | method_flag::JITTED | 1 << 28);
        assert_eq!(
            [1, 2, 3].map(tier),
            ["minimal", "optimized", "tier0"].map(Some)
        );
        assert_eq!((tier(4), tier(5)), (Some("tier1"), Some("tier1_osr")));
        assert_eq!(
            (tier(6), tier(7)),
            (Some("tier0_instrumented"), Some("tier1_instrumented"))
        );
        assert_eq!(tier(0), None);
    }

    #[test]
    fn stacks() {
        let payload = [
            &[7, 0, 0, 0][..],
            &2u32.to_le_bytes(),
            &1u64.to_le_bytes(),
            &2u64.to_le_bytes(),
        ]
        .concat();
        assert_eq!(stack(&payload, 8), [1, 2]);
        assert_eq!(
            stack(&payload, 4),
            [1, 0],
            "no more than the number of frames"
        );
        assert_eq!(stack(&payload[..20], 8), [1], "no more than there are");
        assert!(stack(&payload[..7], 8).is_empty());
    }

    #[test]
    fn events_of_the_thread_pool() {
        let adjustment = [
            &2.5f64.to_le_bytes()[..],
            &9u32.to_le_bytes(),
            &6u32.to_le_bytes(),
            &[7, 0],
        ]
        .concat();
        let parsed = ThreadPool::parse(id::WORKER_ADJUSTMENT, &adjustment).unwrap();
        assert_eq!(
            (parsed.throughput, parsed.workers, parsed.reason),
            (Some(2.5), Some(9), Some(6))
        );
        assert_eq!(
            ThreadPool::parse(id::WORKER_ADJUSTMENT, &adjustment[..15]),
            None
        );
        let counts = [4u32.to_le_bytes(), 1u32.to_le_bytes()].concat();
        for (id, kind) in [
            (50, "start"),
            (51, "stop"),
            (52, "retirement_start"),
            (53, "retirement_stop"),
            (57, "wait"),
        ] {
            let parsed = ThreadPool::parse(id, &counts).unwrap();
            assert_eq!(
                (parsed.kind, parsed.workers, parsed.retired),
                (kind, Some(4), Some(1))
            );
            assert_eq!(ThreadPool::parse(id, &counts[..7]), None);
        }
        assert_eq!(
            ThreadPool::parse(id::WORKING_COUNT, &counts)
                .unwrap()
                .workers,
            Some(4)
        );
        assert_eq!(
            ThreadPool::parse(id::WORKER_SAMPLE, &adjustment)
                .unwrap()
                .throughput,
            Some(2.5)
        );
        assert_eq!(ThreadPool::parse(56, &adjustment), None);
    }
}
