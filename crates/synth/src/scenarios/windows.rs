//! Common parts of the scenarios with named code: images of Windows, the idle process, System, and
//! a few processes that always do a little work.

use crate::plan::{Maker, ModulePlan, ProgramPlan, reason};
use crate::script::{Builder, Reading, Step};
use crate::table::{File, Module, Program};

pub(crate) static MICROSOFT: Maker = Maker {
    company: "Microsoft Corporation",
    product: "Microsoft\u{ae} Windows\u{ae} Operating System",
    version: "10.0.19041.4170",
    sources: r"minkernel\",
};

/// Folder as the kernel names it, and as users do.
type Folder = (&'static str, &'static str);

pub(crate) const SYSTEM32: Folder = (
    r"\Device\HarddiskVolume3\Windows\System32\",
    r"C:\Windows\System32\",
);
pub(crate) const WINDOWS: Folder = (r"\Device\HarddiskVolume3\Windows\", r"C:\Windows\");
const KERNEL: Folder = (r"\SystemRoot\system32\", r"C:\Windows\system32\");
pub(crate) const DRIVERS: Folder = (
    r"\SystemRoot\System32\drivers\",
    r"C:\Windows\System32\drivers\",
);

/// Returns an image of Windows: alias, file name, PDB.
const fn windows(
    (alias, name, pdb): (&'static str, &'static str, &'static str),
    folder: Folder,
    base: u64,
    size: u32,
) -> ModulePlan {
    image((alias, name, pdb), folder, (base, size), &MICROSOFT)
}

/// Returns an image: alias, file name, PDB; folder; base and size.
pub(crate) const fn image(
    (alias, name, pdb): (&'static str, &'static str, &'static str),
    (nt_folder, dos_folder): Folder,
    (base, size): (u64, u32),
    maker: &'static Maker,
) -> ModulePlan {
    ModulePlan {
        name,
        nt_folder,
        dos_folder,
        base,
        size,
        alias,
        pdb,
        maker,
        identity: 0,
        is_nameless: false,
    }
}

const MODULES: [ModulePlan; 18] = [
    windows(
        ("nt", "ntoskrnl.exe", "ntkrnlmp.pdb"),
        KERNEL,
        0xFFFF_F806_1A40_0000,
        0x0104_6000,
    ),
    windows(
        ("storport", "storport.sys", "storport.pdb"),
        DRIVERS,
        0xFFFF_F806_1F20_0000,
        0x000C_0000,
    ),
    windows(
        ("i8042prt", "i8042prt.sys", "i8042prt.pdb"),
        DRIVERS,
        0xFFFF_F806_2107_0000,
        0x0002_4000,
    ),
    windows(
        ("FLTMGR", "FLTMGR.SYS", "fltMgr.pdb"),
        DRIVERS,
        0xFFFF_F806_1E5A_0000,
        0x0007_3000,
    ),
    windows(
        ("Ntfs", "Ntfs.sys", "ntfs.pdb"),
        DRIVERS,
        0xFFFF_F806_1E80_0000,
        0x002D_9000,
    ),
    windows(
        ("Npfs", "Npfs.SYS", "npfs.pdb"),
        DRIVERS,
        0xFFFF_F806_2140_0000,
        0x0001_C000,
    ),
    windows(
        ("win32kfull", "win32kfull.sys", "win32kfull.pdb"),
        KERNEL,
        0xFFFF_F806_4A80_0000,
        0x003B_5000,
    ),
    windows(
        ("ntdll", "ntdll.dll", "ntdll.pdb"),
        SYSTEM32,
        0x7FF9_6C3D_0000,
        0x001F_8000,
    ),
    windows(
        ("kernel32", "kernel32.dll", "kernel32.pdb"),
        SYSTEM32,
        0x7FF9_6AB1_0000,
        0x000B_F000,
    ),
    windows(
        ("KERNELBASE", "KernelBase.dll", "kernelbase.pdb"),
        SYSTEM32,
        0x7FF9_69E0_0000,
        0x002F_6000,
    ),
    windows(
        ("user32", "user32.dll", "user32.pdb"),
        SYSTEM32,
        0x7FF9_6B20_0000,
        0x0019_E000,
    ),
    windows(
        ("rpcrt4", "rpcrt4.dll", "rpcrt4.pdb"),
        SYSTEM32,
        0x7FF9_6B90_0000,
        0x0012_3000,
    ),
    windows(
        ("explorer", "explorer.exe", "explorer.pdb"),
        WINDOWS,
        0x7FF6_4D2F_0000,
        0x0047_C000,
    ),
    windows(
        ("shell32", "shell32.dll", "shell32.pdb"),
        SYSTEM32,
        0x7FF9_6D00_0000,
        0x0074_4000,
    ),
    windows(
        ("dwmcore", "dwmcore.dll", "dwmcore.pdb"),
        SYSTEM32,
        0x7FF9_6420_0000,
        0x002F_7000,
    ),
    windows(
        ("dwm", "dwm.exe", "dwm.pdb"),
        SYSTEM32,
        0x7FF6_9E1C_0000,
        0x0001_B000,
    ),
    windows(
        ("svchost", "svchost.exe", "svchost.pdb"),
        SYSTEM32,
        0x7FF7_3C5A_0000,
        0x0001_1000,
    ),
    windows(
        ("SearchIndexer", "SearchIndexer.exe", "SearchIndexer.pdb"),
        SYSTEM32,
        0x7FF6_E0B4_0000,
        0x000E_B000,
    ),
];

/// The first image that a scenario has of its own.
pub(crate) const OWN: usize = MODULES.len();
/// The process of the system.
pub(crate) const SYSTEM: Program = Program(1);
pub(crate) const NTDLL: Module = Module(7);
pub(crate) const KERNEL32: Module = Module(8);
pub(crate) const KERNELBASE: Module = Module(9);
pub(crate) const USER32: Module = Module(10);
pub(crate) const RPCRT4: Module = Module(11);
pub(crate) const EXPLORER: Module = Module(12);
pub(crate) const SHELL32: Module = Module(13);
const DWMCORE: Module = Module(14);
const DWM: Module = Module(15);
const SVCHOST: Module = Module(16);
const SEARCH_INDEXER: Module = Module(17);
/// Images of the kernel.
const KERNEL_IMAGES: &[Module] = &[
    Module(0),
    Module(1),
    Module(2),
    Module(3),
    Module(4),
    Module(5),
    Module(6),
];
/// Images of the kernel of a machine without own drivers.
pub(crate) const fn kernel_images() -> &'static [Module] {
    KERNEL_IMAGES
}

/// Images of the kernel and the first own one, which is a driver.
const KERNEL_IMAGES_AND_OWN: &[Module] = &[
    Module(0),
    Module(1),
    Module(2),
    Module(3),
    Module(4),
    Module(5),
    Module(6),
    Module(OWN),
];

/// Frames of every user thread.
pub(crate) const USER: &str = "ntdll!RtlUserThreadStart kernel32!BaseThreadInitThunk";
/// A system call.
pub(crate) const SYSCALL: &str = "nt!KiSystemServiceCopyEnd";
/// Waiting for an object, or for the time.
pub(crate) const WAIT_FOR_OBJECT: &str = "KERNELBASE!WaitForSingleObjectEx ntdll!NtWaitForSingleObject \
    nt!KiSystemServiceCopyEnd nt!NtWaitForSingleObject nt!ObWaitForSingleObject";
pub(crate) const SLEEPS: &str = "KERNELBASE!SleepEx ntdll!NtDelayExecution nt!KiSystemServiceCopyEnd \
    nt!NtDelayExecution nt!KeDelayExecutionThread nt!KiCommitThreadWait nt!KiSwapThread nt!KiSwapContext";
/// Signalling an event.
pub(crate) const SETS_EVENT: &str =
    "KERNELBASE!SetEvent ntdll!NtSetEvent nt!KiSystemServiceCopyEnd nt!NtSetEvent nt!KeSetEvent";
/// Reading a file from the disk.
pub(crate) const READS_FILE: &str = "KERNELBASE!ReadFile ntdll!NtReadFile nt!KiSystemServiceCopyEnd nt!NtReadFile \
    nt!IopSynchronousServiceTail nt!IofCallDriver FLTMGR!FltpDispatch \
    FLTMGR!FltpLegacyProcessingAfterPreCallbacksCompleted nt!IofCallDriver Ntfs!NtfsFsdRead \
    Ntfs!NtfsCommonRead \
    Ntfs!NtfsNonCachedIo Ntfs!NtfsWaitSync";

/// Returns a process of the user.
pub(crate) const fn user_program(
    (pid, parent): (u32, u32),
    name: &'static str,
    command_line: &'static str,
    modules: &'static [Module],
) -> ProgramPlan {
    ProgramPlan {
        pid,
        parent,
        session: 1,
        name,
        command_line,
        modules,
        system: false,
        flags: 0,
    }
}

/// Returns a process of the system.
pub(crate) const fn service(
    (pid, parent): (u32, u32),
    name: &'static str,
    command_line: &'static str,
    modules: &'static [Module],
) -> ProgramPlan {
    ProgramPlan {
        session: 0,
        system: true,
        ..user_program((pid, parent), name, command_line, modules)
    }
}

/// Builds a machine with images of Windows and of a scenario; its idle process and System.
/// `has_driver` is true if the first image of the scenario is a driver.
pub(crate) fn machine(cpus: u16, seconds: u32, own: &[ModulePlan], has_driver: bool) -> Builder {
    machine_of(
        cpus,
        seconds,
        own,
        if has_driver {
            KERNEL_IMAGES_AND_OWN
        } else {
            KERNEL_IMAGES
        },
    )
}

/// Returns a machine whose kernel has these images.
pub(crate) fn machine_of(
    cpus: u16,
    seconds: u32,
    own: &[ModulePlan],
    kernel: &'static [Module],
) -> Builder {
    let images = MODULES.iter().chain(own).copied();
    let mut b = Builder::new(cpus, seconds, images);
    // Id 0 is the first program, and its images are the images of the kernel: the simulation relies
    // on both.
    b.program(service((0, 0), "Idle", "", kernel));
    let system = b.program(service((4, 0), "System", "", &[NTDLL]));
    // Workers of the kernel have a higher priority than most programs, so programs are preempted
    // now and then.
    for (priority, from_us, to_us) in [(16, 60_000, 140_000), (12, 15_000, 45_000)] {
        let thread = b.thread(system, priority, "nt!ExpWorkerThread");
        let begins = "nt!KiStartSystemThread nt!PspSystemThreadStartup nt!ExpWorkerThread";
        let code = b.code(
            &[begins],
            &[
                "nt!CcWorkerThread nt!CcWriteBehind",
                "nt!IopProcessWorkItem",
            ],
        );
        let waits = b.waits(&[begins, "nt!KeRemovePriQueue"]);
        b.script(
            thread,
            &[],
            &[Step::Sleep(waits, from_us, to_us), Step::Run(code, 30, 250)],
        );
    }
    b
}

/// Window manager, services and indexer: a few percent of a processor, and some reads.
pub(crate) fn background(b: &mut Builder) {
    let ids = (b.id(), 812);
    let dwm = b.program(service(
        ids,
        "dwm.exe",
        "\"dwm.exe\"",
        &[DWM, NTDLL, KERNEL32, KERNELBASE, DWMCORE],
    ));
    let thread = b.thread(
        dwm,
        15,
        "dwmcore!CPartitionVerticalBlankScheduler::ScheduleThread",
    );
    let begins = [
        USER,
        "dwmcore!CPartitionVerticalBlankScheduler::ScheduleThread",
    ];
    let frame = "dwmcore!CComposition::ProcessComposition";
    let waits = b.waits(&[begins[0], begins[1], WAIT_FOR_OBJECT]);
    let code = b.code(
        &[begins[0], begins[1], frame],
        &[
            "dwmcore!CDrawingContext::DrawVisualTree",
            "dwmcore!COcclusionContext::Compute",
            "dwmcore!CRenderTarget::Present",
        ],
    );
    // 60 frames a second, above all programs: the window manager preempts every running thread.
    b.script(
        thread,
        &[],
        &[
            Step::Sleep(waits, 15_600, 17_400),
            Step::Run(code, 250, 900),
        ],
    );
    for group in ["netsvcs", "LocalServiceNetworkRestricted"] {
        let line = if group == "netsvcs" {
            r"C:\Windows\system32\svchost.exe -k netsvcs -p"
        } else {
            r"C:\Windows\system32\svchost.exe -k LocalServiceNetworkRestricted -p"
        };
        let ids = (b.id(), 804);
        let images = &[SVCHOST, NTDLL, KERNEL32, KERNELBASE, RPCRT4];
        let program = b.program(service(ids, "svchost.exe", line, images));
        for _ in 0..2 {
            svchost_thread(b, program);
        }
    }
    indexer(b);
}

fn svchost_thread(b: &mut Builder, program: Program) {
    let thread = b.thread(program, 9, "ntdll!TppWorkerThread");
    let begins = [USER, "ntdll!TppWorkerThread"];
    let waits = b.waits(&[
        begins[0],
        begins[1],
        "ntdll!NtWaitForWorkViaWorkerFactory",
        SYSCALL,
    ]);
    let call = "ntdll!TppAlpcpExecuteCallback rpcrt4!LrpcIoComplete rpcrt4!LRPC_ADDRESS::ProcessIO";
    let code = b.code(
        &[begins[0], begins[1], call],
        &["rpcrt4!Invoke", "rpcrt4!NdrStubCall2"],
    );
    b.script(
        thread,
        &[],
        &[
            Step::Sleep(waits, 80_000, 420_000),
            Step::Run(code, 100, 2_500),
        ],
    );
}

fn indexer(b: &mut Builder) {
    let ids = (b.id(), 804);
    let images = &[SEARCH_INDEXER, NTDLL, KERNEL32, KERNELBASE];
    let line = r"C:\Windows\system32\SearchIndexer.exe /Embedding";
    let program = b.program(service(ids, "SearchIndexer.exe", line, images));
    let file = b.file(r"ProgramData\Microsoft\Search\Data\Applications\Windows\Windows.edb");
    let thread = b.thread(program, 7, "SearchIndexer!CGatherThread::Main");
    let begins = [USER, "SearchIndexer!CGatherThread::Main"];
    let waits = b.waits(&[begins[0], begins[1], SLEEPS]);
    let reads = b.waits(&[
        begins[0],
        begins[1],
        "SearchIndexer!CPropertyStore::ReadPage",
        READS_FILE,
    ]);
    let code = b.code(
        &[begins[0], begins[1]],
        &[
            "SearchIndexer!CWordBreaker::Next",
            "SearchIndexer!CInvertedIndex::Merge",
        ],
    );
    let reading = reading(file, 1, 8192, (code, 300, 900));
    let steps = [
        Step::Sleep(waits, 250_000, 700_000),
        Step::Read(reads, reading),
        Step::Run(code, 800, 4000),
    ];
    b.script(thread, &[], &steps);
}

/// Reading of a file: transfers, bytes of each, and the code that runs after each of them.
pub(crate) const fn reading(
    file: File,
    parts: u32,
    bytes: u32,
    (code, low, high): (crate::table::Code, u32, u32),
) -> Reading {
    Reading {
        file,
        parts,
        bytes,
        code,
        low,
        high,
    }
}

/// Reason of a wait for another thread of the same process.
pub(crate) const FOR_THREAD: u8 = reason::USER_REQUEST;
