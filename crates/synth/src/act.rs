//! Actions of a thread that have events of their own, in addition to scheduling events.
//!
//! An action that lasts begins with one step and ends with a later one, so the thread can compute,
//! wait or be preempted in between.

use std::net::Ipv4Addr;

use etwkit_etl::Guid;

use crate::table::{Cpu, Device, File, Function, Program, RegistryKey, Thread};

/// An action of a thread, with events of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Act {
    /// An operation on a file begins; the cache does all of it.
    FileBegins(FileOperation),
    /// The operation ends with that status.
    FileEnds(u32),
    /// A callback of a filter driver begins, within an operation on a file.
    CallbackBegins(Callback),
    /// The innermost callback ends, with the status that it gives the operation.
    CallbackEnds(u32),
    /// Touches a page that is not mapped.
    Fault(FaultKind),
    /// Allocates kernel pool memory.
    PoolAllocates(Pool),
    /// Frees the oldest block of a tag.
    PoolFrees(&'static str),
    /// Frees a block with this tag and size in bytes that was allocated before the trace.
    PoolFreesEarlier(&'static str, u32),
    /// Creates the heap with that number.
    HeapBegins(u32),
    /// Allocates from..to bytes from a heap.
    HeapAllocates(u32, u32, u32),
    /// Resizes the oldest block of a heap to from..to bytes.
    HeapResizes(u32, u32, u32),
    /// Frees the oldest block of a heap.
    HeapFrees(u32),
    /// Destroys a heap with all of its blocks.
    HeapEnds(u32),
    /// Enters a function of the kernel.
    CallBegins(Function),
    /// Leaves the function with that status.
    CallEnds(u32),
    /// Requests that a process ends with that status: its own, or another one.
    Terminates(Program, u32),
    /// Requests a timer resolution in units of 100 ns, which the system may ignore; 0 releases it.
    AsksTimer(u32, bool),
    /// A driver requests a timer resolution.
    KernelAsksTimer(u32),
    /// Sets a setting of the power scheme.
    SetsPower(Guid, &'static [u8]),
    /// Queries the address of a host.
    LookupBegins(Lookup),
    /// Receives the answer to its query.
    LookupEnds,
    /// The service queries the servers of the adapter with that number for its client.
    LookupAdapter(usize),
    /// The service queries the server with that number, counted over all adapters.
    LookupServer(usize),
    /// That server does not answer in time.
    LookupTimesOut(usize),
    /// An operation of the registry begins.
    RegistryBegins(RegistryAct),
    /// The operation ends with that status.
    RegistryEnds(u32),
    /// A key gets a control block.
    BlockBegins(RegistryKey),
    /// The control block of a key goes away.
    BlockEnds(RegistryKey),
    /// Creates an object and opens a handle to it.
    HandleOpens(ObjectPlan),
    /// Opens a handle to a process.
    HandleOpensProcess(Program),
    /// Duplicates the newest handle into another process.
    HandleDuplicates(Program),
    /// Closes the oldest handle of the process.
    HandleCloses,
    /// Requests the lock of the window manager.
    LockAsks,
    /// Acquires the lock of the window manager, alone or shared.
    LockHas { exclusive: bool },
    /// Releases the lock of the window manager.
    LockGives,
    /// Creates an object of the window manager.
    GuiCreates(GuiKind),
    /// Destroys the oldest object of the process.
    GuiDestroys,
    /// Gives the newest object to another process.
    GuiMoves(Program),
    /// Gives the newest object another handle.
    GuiTransforms,
    /// Has the focus from before the trace.
    FocusIs,
    /// Moves the focus to a thread.
    FocusMoves(Thread),
    /// Stops pumping messages.
    DelayBegins,
    /// Pumps messages again.
    DelayEnds(Delayed),
    /// Starts a session of the tracing system.
    SessionStarts(SessionPlan),
    /// Starts a session in place of the one that records the kernel for this trace.
    TakesKernel(SessionPlan),
    /// Stops the session with this name, which has lost this number of events.
    SessionStops(&'static str, u32),
    /// Enables a provider.
    ProviderOn(Enabled),
    /// Disables a provider.
    ProviderOff(Enabled),
    /// Registers a provider.
    Registers(Guid),
    /// Unregisters a provider.
    Unregisters(Guid),
    /// Loses an event of that id.
    LosesEvent(Enabled, u16),
    /// The .NET runtime collects.
    Collects(CollectionStep),
    /// The .NET runtime begins to compile a method.
    CompileBegins(Compiled),
    /// The method is compiled.
    CompileEnds,
    /// The .NET runtime lists its methods, since a session asks for it.
    Lists(Listed),
    /// The .NET runtime changes the number of threads of its pool.
    AdjustsPool(PoolAdjustment),
    /// Sends, receives or repeats a packet of a TCP connection.
    Transfers(Packet),
    /// Parks a processor: no thread is sent to it.
    Parks(Cpu),
    /// Marks a processor as one to spare as long as the others suffice.
    ParksSoftly(Cpu),
    /// Unparks a processor that is parked.
    Unparks(Cpu),
    /// Switches the interrupts of a device on.
    DeviceOn(Device),
    /// Switches the interrupts of a device off.
    DeviceOff(Device),
    /// Writes an event of a provider whose layout is not described in the trace: id, and bytes of
    /// its payload.
    WritesForeign(Guid, u16, u32),
}

/// An operation on a file, which filter drivers call a major function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Major {
    Create,
    Read,
    Write,
    Cleanup,
    Close,
}

impl Major {
    pub(crate) const fn number(self) -> u32 {
        match self {
            Self::Create => 0,
            Self::Close => 2,
            Self::Read => 3,
            Self::Write => 4,
            Self::Cleanup => 18,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Close => "close",
            Self::Read => "read",
            Self::Write => "write",
            Self::Cleanup => "cleanup",
        }
    }
}

/// An operation on a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileOperation {
    pub(crate) major: Major,
    pub(crate) file: File,
    /// Bytes of a transfer.
    pub(crate) bytes: u32,
}

/// A callback of a filter driver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Callback {
    /// Function of the driver.
    pub(crate) routine: Function,
    /// The callback is called after the operation, not before it.
    pub(crate) is_post: bool,
}

/// Handling of a page that was not mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// The page is still in memory.
    Transition,
    /// The page is a new one, of zeros.
    DemandZero,
    /// The page is copied, since it is shared.
    CopyOnWrite,
    /// The page guards the end of a stack.
    GuardPage,
    /// There is no page.
    AccessViolation,
}

impl FaultKind {
    /// Type of its event.
    pub(crate) const fn opcode(self) -> u8 {
        match self {
            Self::Transition => 10,
            Self::DemandZero => 11,
            Self::CopyOnWrite => 12,
            Self::GuardPage => 13,
            Self::AccessViolation => 15,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Transition => "transition",
            Self::DemandZero => "demand_zero",
            Self::CopyOnWrite => "copy_on_write",
            Self::GuardPage => "guard_page",
            Self::AccessViolation => "access_violation",
        }
    }
}

/// An operation of the registry, as the event names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegistryOperation {
    CreateKey,
    OpenKey,
    SetValue,
    QueryValue,
    EnumerateKey,
    CloseKey,
}

impl RegistryOperation {
    /// Type of its event.
    pub(crate) const fn opcode(self) -> u8 {
        match self {
            Self::CreateKey => 10,
            Self::OpenKey => 11,
            Self::SetValue => 14,
            Self::QueryValue => 16,
            Self::EnumerateKey => 17,
            Self::CloseKey => 27,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::CreateKey => "create_key",
            Self::OpenKey => "open_key",
            Self::SetValue => "set_value",
            Self::QueryValue => "query_value",
            Self::EnumerateKey => "enumerate_key",
            Self::CloseKey => "close_key",
        }
    }

    /// True if its text is the name of a value and not of a subkey of the control block.
    pub(crate) const fn names_value(self) -> bool {
        matches!(self, Self::SetValue | Self::QueryValue)
    }
}

/// An operation on a key: with the name of a key below it or of a value, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RegistryAct {
    pub(crate) operation: RegistryOperation,
    pub(crate) key: RegistryKey,
    pub(crate) name: &'static str,
}

/// Type of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Event,
    Mutant,
    File,
    Key,
    Process,
}

impl ObjectKind {
    /// Types that the rundowns at the start and the end list.
    pub(crate) const ALL: [Self; 4] = [Self::Event, Self::Mutant, Self::File, Self::Key];

    pub(crate) const fn number(self) -> u16 {
        match self {
            Self::Event => 16,
            Self::Mutant => 17,
            Self::File => 37,
            Self::Key => 44,
            Self::Process => 7,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Event => "Event",
            Self::Mutant => "Mutant",
            Self::File => "File",
            Self::Key => "Key",
            Self::Process => "Process",
        }
    }
}

/// An object: its type, and its name or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ObjectPlan {
    pub(crate) kind: ObjectKind,
    pub(crate) name: &'static str,
}

/// Type of an object of the window manager, as the table of handles numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GuiKind {
    /// The object belongs to GDI, not to USER.
    pub(crate) is_gdi: bool,
    pub(crate) number: u32,
    pub(crate) name: &'static str,
}

/// The kind of delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delayed {
    Messages,
    Input,
    Cursor,
}

impl Delayed {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Messages => "message",
            Self::Input => "input",
            Self::Cursor => "wait_cursor",
        }
    }
}

/// A session of the tracing system.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionPlan {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) guid: Guid,
    /// `LogFileMode`.
    pub(crate) mode: u32,
}

/// A provider that is switched on for a session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Enabled {
    pub(crate) session: &'static str,
    pub(crate) provider: Guid,
    pub(crate) keywords: u64,
    pub(crate) level: u8,
}

/// A step of a garbage collection of the .NET runtime.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CollectionStep {
    /// All threads are requested to stop, for that reason.
    SuspendBegins(u32),
    /// All threads have stopped.
    SuspendEnds,
    /// A collection of that generation begins, and whether it goes on in the background.
    Begins(u32, bool),
    /// The collection in the background ends (`true`), or the blocking one.
    Ends(bool),
    /// Resuming the threads begins.
    RestartBegins,
    /// All threads run again.
    RestartEnds,
}

/// A method of a .NET program, and how it is compiled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compiled {
    /// Namespace and type.
    pub(crate) namespace: &'static str,
    pub(crate) name: &'static str,
    pub(crate) il_bytes: u32,
    pub(crate) tier: Tier,
}

/// A part of the list of compiled methods.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Listed {
    Begins,
    Method(Compiled),
    Ends,
}

/// Optimization tier of compiled code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    /// The first call waits for it.
    First,
    /// A thread of the runtime compiles the method again, while the older code runs.
    Again,
}

impl Tier {
    /// Number of the tier in the flags of a method.
    pub(crate) const fn number(self) -> u32 {
        match self {
            Self::First => 3,
            Self::Again => 4,
        }
    }
}

/// The new number of threads in the pool of a .NET runtime.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolAdjustment {
    pub(crate) workers: u32,
    pub(crate) reason: PoolReason,
}

/// Reason for a new number of threads in a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PoolReason {
    /// The runtime looks for the number that finishes most work.
    ClimbingMove,
    /// No work was finished for a while.
    Starvation,
}

impl PoolReason {
    /// Number of the reason in its event.
    pub(crate) const fn number(self) -> u32 {
        match self {
            Self::ClimbingMove => 3,
            Self::Starvation => 6,
        }
    }
}

/// A TCP connection of a program: the other machine and both ports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Connection {
    pub(crate) program: Program,
    pub(crate) remote: Ipv4Addr,
    pub(crate) remote_port: u16,
    pub(crate) local_port: u16,
}

/// A packet of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet {
    pub(crate) connection: Connection,
    pub(crate) way: Way,
    pub(crate) bytes: u32,
}

/// Direction of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Sent,
    /// Sent once more, since no answer came.
    SentAgain,
    Received,
}

/// A query of a name: type of record (1 A, 28 AAAA), and its answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup {
    pub(crate) name: &'static str,
    pub(crate) kind: u32,
    pub(crate) status: u32,
    pub(crate) result: &'static str,
}

/// Kernel pool memory: a four-character tag, type of pool, from..to bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pool {
    pub(crate) tag: &'static str,
    pub(crate) kind: u32,
    pub(crate) low: u32,
    pub(crate) high: u32,
}
