//! The parts of a scenario: the machine, its programs, and the work of their threads. Data only;
//! [`crate::sim`] runs it.

use std::borrow::Cow;
use std::net::Ipv4Addr;

use etwkit_etl::Guid;

use crate::act::{ObjectPlan, SessionPlan};
use crate::code::CodeMap;
use crate::script::{CodePlan, EventPlan, PortPlan, ScriptPlan};
use crate::table::{
    Code, Cpu, Device, Event, File, Function, Module, Path, Port, Program, RegistryKey, Script,
    Table, Thread,
};

/// Wait reasons of threads (`KWAIT_REASON`).
pub(crate) mod reason {
    pub(crate) const EXECUTIVE: u8 = 0;
    pub(crate) const DELAY_EXECUTION: u8 = 4;
    pub(crate) const USER_REQUEST: u8 = 6;
    pub(crate) const WR_USER_REQUEST: u8 = 13;
    pub(crate) const WR_QUEUE: u8 = 15;
    pub(crate) const WR_LPC_REPLY: u8 = 17;
    pub(crate) const WR_PAGE_IN: u8 = 18;
    pub(crate) const WR_TERMINATED: u8 = 22;
    pub(crate) const WR_RESOURCE: u8 = 27;
    pub(crate) const WR_QUANTUM_END: u8 = 30;
    pub(crate) const WR_PREEMPTED: u8 = 32;
    pub(crate) const WR_ALERT_BY_THREAD_ID: u8 = 37;
}

/// Default number of ticks between two samples of a processor.
pub(crate) const INTERVAL: u32 = 10_000;

/// Groups that all scenarios record: processes, threads, images, disk, file I/O, switches, DPCs,
/// interrupts, samples.
pub(crate) const GROUPS: [u32; 8] = [0x0300_7F0F, 0, 0, 0, 0, 0, 0, 0];

/// A whole scenario.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) cpus: u16,
    /// Seconds of a trace of scale 1.
    pub(crate) seconds: u32,
    pub(crate) modules: Table<Module, ModulePlan>,
    pub(crate) programs: Table<Program, ProgramPlan>,
    pub(crate) threads: Table<Thread, ThreadPlan>,
    pub(crate) files: Table<File, FilePlan>,
    /// Marks: per mille of the duration, text.
    pub(crate) marks: &'static [(u32, &'static str)],
    /// Event groups that the session has enabled, as the header event reports them.
    pub(crate) groups: [u32; 8],
    pub(crate) routines: Routines,
    /// Duration of a disk transfer, from..to, in microseconds.
    pub(crate) disk_us: (u32, u32),
    /// Files in bad places of the disk: additional time of each transfer, from..to, in microseconds.
    pub(crate) slow_files: Vec<(File, (u32, u32))>,
    /// Threads in background mode: their disk requests have low priority and give way to all
    /// others.
    pub(crate) background: Vec<Thread>,
    /// Threads that may run on one processor only.
    pub(crate) bound: Vec<(Thread, Cpu)>,
    /// Devices whose interrupts are switched on and off by scripts.
    pub(crate) devices: Table<Device, DevicePlan>,
    /// The disk keeps written data in a cache of its own.
    pub(crate) has_write_cache: bool,
    /// Processors are sampled.
    pub(crate) is_sampled: bool,
    /// Processors of different kinds.
    pub(crate) hybrid: Option<HybridPlan>,
    /// Ticks between two samples of a processor.
    pub(crate) interval: u32,
    /// The truth reports the costs of starts and exits of processes.
    pub(crate) reports_starts: bool,
    /// Keys of the registry that have a control block at some time.
    pub(crate) keys: Table<RegistryKey, KeyPlan>,
    /// Handles that are open before the trace.
    pub(crate) handles: Vec<(Program, ObjectPlan)>,
    /// Sessions of the tracing system that run before the trace.
    pub(crate) sessions: Vec<SessionPlan>,
    /// Adapters of the network, whose servers resolve names.
    pub(crate) adapters: Vec<AdapterPlan>,
    /// Timers and settings; `None` where the session does not record them.
    pub(crate) power: Option<PowerPlan>,
    /// Speed of the code of programs. If none is given, switches carry no performance counters.
    pub(crate) paces: Vec<(Program, Pace)>,
    /// Speed of the first program's code while the second one also runs and takes its cache.
    pub(crate) disturbed: Vec<(Program, Program, Pace)>,
    /// Code of threads with a script; empty if there is none.
    pub(crate) code: CodeMap,
    pub(crate) scripts: Table<Script, ScriptPlan>,
    pub(crate) codes: Table<Code, CodePlan>,
    pub(crate) events: Table<Event, EventPlan>,
    pub(crate) ports: Table<Port, PortPlan>,
}

/// Addresses of code that interrupts run, and of the idle loop.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Routines {
    pub(crate) idle: u64,
    /// Address at which samples hit a DPC; they also hit the 256 bytes after it.
    pub(crate) in_dpc: u64,
    /// DPC of the timer.
    pub(crate) timer: u64,
    /// Interrupt and DPC of the disk.
    pub(crate) disk: (u64, u64),
    /// Interrupt and DPC of the keyboard.
    pub(crate) keyboard: (u64, u64),
}

/// A device whose driver handles each interrupt in a DPC that keeps its processor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DevicePlan {
    /// The processor that its interrupts go to; `None`: an idle one, if there is one.
    pub(crate) cpu: Option<Cpu>,
    pub(crate) isr: Function,
    pub(crate) dpc: Function,
    /// Stack of samples in the DPC.
    pub(crate) path: Path,
    /// Duration of a DPC, from..to, in microseconds.
    pub(crate) dpc_us: (u32, u32),
    /// Time from the end of a DPC to the next interrupt, from..to, in microseconds.
    pub(crate) pause_us: (u32, u32),
}

/// Counts of the performance counters for each microsecond that a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    pub(crate) instructions: u32,
    pub(crate) cycles: u32,
    pub(crate) llc_references: u32,
    pub(crate) llc_misses: u32,
}

/// State before the trace: the timer resolution that each process has requested (in units of 100
/// ns), and settings.
#[derive(Debug, Clone, Default)]
pub(crate) struct PowerPlan {
    pub(crate) timers: Vec<(Program, u32)>,
    pub(crate) settings: Vec<(Guid, &'static [u8])>,
}

/// A key of the registry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyPlan {
    pub(crate) path: &'static str,
    /// Place of its control block, which another key may have at another time.
    pub(crate) place: u32,
    /// True if the key has a control block from before the trace.
    pub(crate) is_there: bool,
    /// The control block is listed when the session starts; otherwise only when the session ends.
    pub(crate) is_listed_first: bool,
}

/// A network adapter and its name servers, in the order in which they are queried.
#[derive(Debug, Clone)]
pub(crate) struct AdapterPlan {
    pub(crate) name: &'static str,
    /// The address that the machine has there.
    pub(crate) address: &'static str,
    pub(crate) servers: Vec<Ipv4Addr>,
}

impl AdapterPlan {
    /// Returns the adapter that all machines have.
    pub(crate) fn first() -> Self {
        let servers = vec![Ipv4Addr::new(192, 168, 1, 1), Ipv4Addr::new(192, 168, 1, 2)];
        Self {
            name: "Ethernet",
            address: "192.168.1.20",
            servers,
        }
    }
}

/// Performance and efficiency cores: the last processors are efficient.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HybridPlan {
    /// Efficient ones among four processors.
    pub(crate) efficient_of_four: u16,
    /// Nominal frequency in MHz of efficient and performant ones.
    pub(crate) mhz: (u32, u32),
}

/// An image.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModulePlan {
    /// File name.
    pub(crate) name: &'static str,
    /// Folder as the kernel names it.
    pub(crate) nt_folder: &'static str,
    /// Folder as users name it.
    pub(crate) dos_folder: &'static str,
    pub(crate) base: u64,
    pub(crate) size: u32,
    /// Its name in frames: `nt`.
    pub(crate) alias: &'static str,
    /// File name of its PDB.
    pub(crate) pdb: &'static str,
    pub(crate) maker: &'static Maker,
    /// Seed of its link time and of the identity of its PDB.
    pub(crate) identity: u64,
    /// It has no symbol file.
    pub(crate) is_nameless: bool,
}

/// The producer of an image, from its version resource.
#[derive(Debug)]
pub(crate) struct Maker {
    pub(crate) company: &'static str,
    pub(crate) product: &'static str,
    pub(crate) version: &'static str,
    /// Folder of the sources.
    pub(crate) sources: &'static str,
}

impl ModulePlan {
    pub(crate) fn nt_path(&self) -> String {
        format!("{}{}", self.nt_folder, self.name)
    }

    pub(crate) fn dos_path(&self) -> String {
        format!("{}{}", self.dos_folder, self.name)
    }

    pub(crate) const fn is_kernel(&self) -> bool {
        // Addresses of the kernel are the upper half of the address space.
        self.base >> 63 != 0
    }
}

/// A process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProgramPlan {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) session: u32,
    pub(crate) name: &'static str,
    pub(crate) command_line: &'static str,
    /// Its images in the order of loading, the executable first; kernel images for process 0.
    pub(crate) modules: &'static [Module],
    /// The user it belongs to is the system.
    pub(crate) system: bool,
    /// `Flags` of its events: 2 for one of 32 bits, 4 for a protected one.
    pub(crate) flags: u32,
}

/// A thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadPlan {
    pub(crate) tid: u32,
    pub(crate) program: Program,
    pub(crate) priority: u8,
    /// Its repeated work: chance per mille of each action, in this order.
    pub(crate) work: &'static [(u64, Action)],
    /// Its work, if it is a script.
    pub(crate) script: Option<Script>,
    pub(crate) born: Born,
    /// End of the thread, in per mille of the duration. `None`: it runs on.
    pub(crate) dies: Option<u32>,
    /// Address of its start function.
    pub(crate) start: u64,
    /// The thread runs on efficient cores only.
    pub(crate) efficient: bool,
}

/// Origin of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Born {
    /// The thread runs from before the trace.
    Before,
    /// The thread that starts it, and the time of the start, in per mille of the duration.
    At(Thread, u32),
    /// A step of a script starts it.
    Started,
}

/// An action of a thread. Durations are in microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    /// Computes about so long.
    Compute(u32),
    /// Sleeps from..to.
    Sleep(u32, u32),
    /// Waits for input of the user, which comes after from..to.
    Input(u32, u32),
    /// Sends a request to a server and waits for its answer.
    Call,
    /// Waits for the call of a client.
    Serve,
    /// Answers the call.
    Reply,
    /// Gives a work item to a kernel worker.
    Post,
    /// Waits for a work item.
    TakeWork,
    /// Wakes a thread that waits for a signal.
    Signal(Thread),
    /// Waits for a signal.
    AwaitSignal,
    /// Opens a file, reads from it, closes it. The given per mille of the reads come from the
    /// cache.
    Read {
        /// Per mille.
        cached: u64,
    },
    /// Opens a file, writes to it through the cache, closes it.
    Write,
}

/// A file that programs read and write.
#[derive(Debug, Clone)]
pub(crate) struct FilePlan {
    /// Path without the volume.
    pub(crate) path: Cow<'static, str>,
}

/// The volume of all files, as the kernel names it and as users do.
pub(crate) const VOLUME: (&str, &str) = (r"\Device\HarddiskVolume3\", r"C:\");

impl FilePlan {
    /// True if it is on a share, so that its path has no volume.
    fn is_remote(&self) -> bool {
        self.path.starts_with(r"\Device\Mup\")
    }

    pub(crate) fn nt_path(&self) -> String {
        if self.is_remote() {
            self.path.to_string()
        } else {
            format!("{}{}", VOLUME.0, self.path)
        }
    }

    pub(crate) fn dos_path(&self) -> String {
        if self.is_remote() {
            self.path.to_string()
        } else {
            format!("{}{}", VOLUME.1, self.path)
        }
    }
}

/// `FileKey` of a file.
pub(crate) const fn file_key(file: File) -> u64 {
    // One key for each file, unlike the object of an open file, which belongs to a thread here.
    0xFFFF_C50B_2000_0000 + 0x1C0 * file.0 as u64
}
