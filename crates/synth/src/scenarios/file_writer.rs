//! Scenarios `file-writer…`: a program writes 120 files of 100 KB. At first on one thread, while a
//! virus scanner reads each file when it is closed, NTFS writes checkpoints that block all others,
//! and pages have to come from the disk; then without these disturbances; then on three threads.

use super::dotnet::{CLRJIT, CMD, CORE_LIB, CORECLR, HOST, Prompt, TASK, begins, ends, tiers};
use super::windows::{
    DRIVERS, FOR_THREAD, KERNEL32, KERNELBASE, MICROSOFT, NTDLL, OWN, SETS_EVENT, SYSCALL, SYSTEM,
    USER, WAIT_FOR_OBJECT, background, image, machine, reading, service,
};
use crate::Options;
use crate::plan::{Maker, ModulePlan, Pace, Plan, reason};
use crate::script::{Ask, Builder, Step};
use crate::table::{Event, Module, Port};

static CONTOSO: Maker = Maker {
    company: "Contoso",
    product: "FileWriter",
    version: "1.2.0.0",
    sources: r"D:\source\filewriter\",
};
const FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Source\FileWriter\",
    r"C:\Source\FileWriter\",
);
const DEFENDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\ProgramData\Microsoft\Windows Defender\Platform\4.18.2205.7-0\",
    r"C:\ProgramData\Microsoft\Windows Defender\Platform\4.18.2205.7-0\",
);
/// The first one is the driver.
const IMAGES: [ModulePlan; 8] = [
    image(
        ("WdFilter", "WdFilter.sys", "WdFilter.pdb"),
        DRIVERS,
        (0xFFFF_F806_2A10_0000, 0x7_1000),
        &MICROSOFT,
    ),
    image(
        ("FileWriter", "FileWriter.exe", "FileWriter.pdb"),
        FOLDER,
        (0x7FF6_58D0_0000, 0x2_B000),
        &CONTOSO,
    ),
    image(
        ("MsMpEng", "MsMpEng.exe", "MsMpEng.pdb"),
        DEFENDER,
        (0x7FF7_08A0_0000, 0x2_3000),
        &MICROSOFT,
    ),
    image(
        ("mpengine", "mpengine.dll", "mpengine.pdb"),
        DEFENDER,
        (0x7FF9_3B40_0000, 0x11_2000),
        &MICROSOFT,
    ),
    CMD,
    CORECLR,
    CORE_LIB,
    CLRJIT,
];
const WRITER: &[Module] = &[
    Module(OWN + 1),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    Module(OWN + 5),
    Module(OWN + 6),
    Module(OWN + 7),
];
const SCANNER: &[Module] = &[
    Module(OWN + 2),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    Module(OWN + 3),
];
const PROMPT: &[Module] = &[Module(OWN + 4), NTDLL, KERNEL32, KERNELBASE];

/// Seconds of each round.
const SECONDS: u32 = 3;
const FILES: usize = 120;
const MAIN: &str =
    "FileWriter!FileWriter.Program.Main FileWriter!FileWriter.DataGenerator.CreateFiles";
const CREATE_FILE: &str = "FileWriter!FileWriter.DataGenerator.CreateFile";
const OPENS: &str = "CoreLib!System.IO.Strategies.OSFileStreamStrategy..ctor KERNELBASE!CreateFileW ntdll!NtCreateFile \
    nt!KiSystemServiceCopyEnd nt!NtCreateFile nt!IopCreateFile nt!ObOpenObjectByNameEx nt!IopParseDevice \
    nt!IofCallDriver FLTMGR!FltpCreate Ntfs!NtfsFsdCreate Ntfs!NtfsCommonCreate";
const WRITES: &str = "CoreLib!System.IO.StreamWriter.WriteLine CoreLib!System.IO.StreamWriter.Flush \
    CoreLib!System.IO.Strategies.OSFileStreamStrategy.Write KERNELBASE!WriteFile ntdll!NtWriteFile \
    nt!KiSystemServiceCopyEnd nt!NtWriteFile nt!IopSynchronousServiceTail nt!IofCallDriver FLTMGR!FltpDispatch";
const CLOSES: &str = "CoreLib!System.IO.StreamWriter.Dispose CoreLib!System.IO.Strategies.OSFileStreamStrategy.Dispose \
    KERNELBASE!CloseHandle ntdll!NtClose nt!KiSystemServiceCopyEnd nt!NtClose nt!IopCloseFile \
    nt!IofCallDriver \
    FLTMGR!FltpDispatch FLTMGR!FltpPerformPreCallbacks";
const FAULTS: &str = "CoreLib!System.IO.StreamWriter.WriteLine nt!KiPageFault nt!MmAccessFault nt!MiDispatchFault \
    nt!MiIssueHardFault";

/// Differences between the kinds of the scenario.
#[derive(Debug, Clone, Copy)]
struct Kind {
    /// Threads that write; 1: the main one.
    threads: usize,
    line: &'static str,
    /// The virus scanner, checkpoints and a cold cache.
    disturbed: bool,
    pace: Pace,
}

const fn pace(instructions: u32, llc_misses: u32) -> Pace {
    Pace {
        instructions,
        cycles: 3_000,
        llc_references: 40,
        llc_misses,
    }
}

pub(crate) fn serial(options: &Options) -> Plan {
    let line = r"FileWriter.exe -generate C:\temp\Test serial";
    plan(
        options,
        Kind {
            threads: 1,
            line,
            disturbed: true,
            pace: pace(2_500, 18),
        },
    )
}

pub(crate) fn quiet(options: &Options) -> Plan {
    let line = r"FileWriter.exe -generate C:\temp\Test serial";
    plan(
        options,
        Kind {
            threads: 1,
            line,
            disturbed: false,
            pace: pace(4_348, 6),
        },
    )
}

pub(crate) fn parallel(options: &Options) -> Plan {
    let line = r"FileWriter.exe -generate C:\temp\Test parallel -threads 3";
    plan(
        options,
        Kind {
            threads: 3,
            line,
            disturbed: false,
            pace: pace(4_000, 8),
        },
    )
}

/// State that threads share.
#[derive(Debug, Clone, Copy)]
struct Shared {
    kind: Kind,
    /// Queue of the virus scanner.
    port: Port,
    /// Lock of the volume.
    volume: Event,
}

fn plan(options: &Options, kind: Kind) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), SECONDS, &IMAGES, true);
    b.disk(900, 6_000);
    background(&mut b);
    let shared = Shared {
        kind,
        port: b.port(),
        volume: b.event(1),
    };
    scanner(&mut b, shared.port);
    lazy_writer(&mut b);
    if kind.disturbed {
        checkpoints(&mut b, shared.volume);
    }
    let mut prompt = Prompt::new(&mut b, PROMPT);
    for round in 0..options.scale {
        prompt.types(&mut b, 1000 * SECONDS * round + 100);
        run(&mut b, &mut prompt, shared);
    }
    prompt.done(&mut b);
    b.finish()
}

/// Adds the threads that scan closed files, and continue after they have answered.
fn scanner(b: &mut Builder, port: Port) {
    let ids = (b.id(), 804);
    let line = r#""C:\ProgramData\Microsoft\Windows Defender\Platform\4.18.2205.7-0\MsMpEng.exe""#;
    let program = b.program(service(ids, "MsMpEng.exe", line, SCANNER));
    let root = [USER, "MsMpEng!CFilterThread::Run"];
    let takes = b.waits(&[
        root[0],
        root[1],
        "ntdll!NtRemoveIoCompletion",
        SYSCALL,
        "nt!IoRemoveIoCompletion",
    ]);
    let unpacks = b.code(&root, &["MsMpEng!CFilterThread::Dispatch"]);
    let scans = b.code(
        &[root[0], root[1], "mpengine!rsignal mpengine!ScanBuffer"],
        &[
            "mpengine!MatchSignatures",
            "mpengine!MatchSignatures mpengine!CrcHash",
            "mpengine!ExpandArchive",
        ],
    );
    let answers = b.path(&[
        root[0],
        root[1],
        "ntdll!NtDeviceIoControlFile nt!KiSystemServiceCopyEnd FLTMGR!FltpReplyMessage nt!KeSetEvent",
    ]);
    let steps = [
        Step::Take(takes, port),
        Step::Run(unpacks, 60, 200),
        Step::Run(scans, 1_200, 3_400),
        Step::Answer(answers),
        // After the answer: the scanner uses CPU time that no thread waits for, in addition to the
        // time that the program waits for it.
        Step::Run(scans, 2_000, 6_000),
    ];
    for _ in 0..2 {
        let thread = b.thread(program, 8, "MsMpEng!CFilterThread::Run");
        b.script(thread, &[], &steps);
    }
}

/// Adds the thread that writes the contents of the cache.
fn lazy_writer(b: &mut Builder) {
    let root =
        "nt!KiStartSystemThread nt!PspSystemThreadStartup nt!ExpWorkerThread nt!CcWorkerThread";
    let thread = b.thread(SYSTEM, 12, "nt!ExpWorkerThread");
    let waits = b.waits(&[root, "nt!KeRemovePriQueue"]);
    let code = b.code(
        &[root, "nt!CcWriteBehind"],
        &["nt!CcFlushCacheOneRange", "nt!MiFlushSectionInternal"],
    );
    let writes = b.waits(&[
        root,
        "nt!CcWriteBehind nt!MmFlushSection nt!IoSynchronousPageWrite",
    ]);
    let file = b.file(r"temp\Test\File_0.txt");
    let steps = [
        Step::Sleep(waits, 180_000, 260_000),
        Step::Run(code, 300, 900),
        Step::WriteOut(writes, reading(file, 3, 262_144, (code, 50, 200))),
    ];
    b.script(thread, &[], &steps);
}

/// Holds the lock of the volume while it goes through long lists.
fn checkpoints(b: &mut Builder, volume: Event) {
    let root = "nt!KiStartSystemThread nt!PspSystemThreadStartup nt!ExpWorkerThread";
    let thread = b.thread(SYSTEM, 13, "Ntfs!NtfsCheckpointAllVolumes");
    let pauses = b.waits(&[root, "nt!KeRemovePriQueue"]);
    let checkpoint = "Ntfs!NtfsCheckpointAllVolumes Ntfs!NtfsCheckpointVolume";
    let locks = b.waits(&[
        root,
        checkpoint,
        "Ntfs!NtfsAcquireCheckpointSynchronization",
    ]);
    let unlocks = b.path(&[
        root,
        checkpoint,
        "Ntfs!NtfsReleaseCheckpointSynchronization nt!KeSetEvent",
    ]);
    let looks = b.code(
        &[root, checkpoint],
        &[
            "",
            "Ntfs!NtfsFreeRecentlyDeallocated",
            "nt!RtlClearBits",
            "nt!memset",
        ],
    );
    let writes = b.waits(&[
        root,
        checkpoint,
        "Ntfs!LfsWriteRestartArea Ntfs!LfsFlushToLsn nt!IoSynchronousPageWrite",
    ]);
    let file = b.file("$LogFile");
    let steps = [
        Step::Sleep(pauses, 420_000, 520_000),
        Step::Await(locks, reason::WR_RESOURCE, volume),
        Step::Run(looks, 170_000, 260_000),
        Step::WriteOut(writes, reading(file, 4, 65_536, (looks, 100, 400))),
        Step::Set(unlocks, volume),
    ];
    b.script(thread, &[], &steps);
}

/// Adds a process that writes all files.
fn run(b: &mut Builder, prompt: &mut Prompt, shared: Shared) {
    let (program, main) = prompt.child(b, "FileWriter.exe", shared.kind.line, WRITER);
    // The scanner and the cold cache take instructions per cycle from the program: the kinds of
    // this scenario also differ in that.
    b.pace(program, shared.kind.pace);
    let ended = b.event(0);
    let mut steps = begins(b, HOST, 9_000, 30_000);
    let compiler = tiers(b, program, 7);
    let starts = b.path(&[
        USER,
        HOST,
        "coreclr!TieredCompilationManager::CreateBackgroundWorker",
    ]);
    steps.push(Step::Start(starts, compiler));
    steps.push(Step::Begin("CreateFiles", None));
    if shared.kind.threads == 1 {
        for number in 0..FILES {
            steps.extend(writes(b, shared, &[USER, HOST, MAIN, CREATE_FILE], number));
        }
    } else {
        let starts = b.path(&[
            USER,
            HOST,
            MAIN,
            "CoreLib!System.Threading.Tasks.Parallel.For coreclr!ThreadNative::Start",
        ]);
        let waits = b.waits(&[
            USER,
            HOST,
            MAIN,
            "CoreLib!System.Threading.Tasks.Parallel.For",
            WAIT_FOR_OBJECT,
        ]);
        let parts: Vec<Event> = (0..shared.kind.threads).map(|_| b.event(0)).collect();
        for (part, done) in parts.iter().enumerate() {
            let thread = b.thread(program, 8, "coreclr!ThreadNative::KickOffThread");
            b.is_started(thread);
            let of_thread = part_of_files(b, shared, part, *done);
            b.script(thread, &of_thread, &[]);
            steps.push(Step::Start(starts, thread));
        }
        steps.extend(
            parts
                .into_iter()
                .map(|done| Step::Await(waits, FOR_THREAD, done)),
        );
    }
    steps.push(Step::End);
    steps.push(ends(b, ended));
    b.script(main, &steps, &[]);
    prompt.starts(b, main, ended);
}

fn part_of_files(b: &mut Builder, shared: Shared, part: usize, done: Event) -> Vec<Step> {
    let root = [USER, TASK, CREATE_FILE];
    let numbers = (0..FILES).filter(|number| number % shared.kind.threads == part);
    let mut steps: Vec<Step> = Vec::new();
    for number in numbers {
        steps.extend(writes(b, shared, &root, number));
    }
    steps.push(Step::Set(b.path(&[USER, TASK, SETS_EVENT]), done));
    steps
}

/// Returns the steps that open, write and close a file.
fn writes(b: &mut Builder, shared: Shared, root: &[&str], number: usize) -> Vec<Step> {
    let root = root.join(" ");
    let Shared { kind, port, volume } = shared;
    let file = b.file(format!(r"temp\Test\File_{number}.txt"));
    let opens = b.code(
        &[&root, OPENS],
        &[
            "Ntfs!NtfsCreateNewFile",
            "Ntfs!NtfsCreateNewFile Ntfs!NtfsAddLink",
        ],
    );
    let locks = b.waits(&[
        &root,
        OPENS,
        "Ntfs!NtfsAcquireExclusiveVcb nt!ExAcquireResourceExclusiveLite",
    ]);
    let unlocks = b.path(&[&root, OPENS, "Ntfs!NtfsReleaseVcb nt!ExReleaseResourceLite"]);
    let lines = b.code(
        &[&root],
        &[
            "CoreLib!System.IO.StreamWriter.WriteLine",
            "CoreLib!System.IO.StreamWriter.WriteLine CoreLib!System.IO.StreamWriter.WriteSpan",
            "CoreLib!System.Runtime.CompilerServices.DefaultInterpolatedStringHandler.AppendFormatted",
            "CoreLib!System.Runtime.CompilerServices.DefaultInterpolatedStringHandler.ToStringAndClear",
            "CoreLib!System.Buffers.TlsOverPerCoreLockedStacksArrayPool`1[System.Char].Rent",
        ],
    );
    let to_cache = b.code(
        &[&root, WRITES],
        &[
            "Ntfs!NtfsCopyWriteA nt!CcCopyWriteEx",
            "Ntfs!NtfsExtendFile",
        ],
    );
    let written = b.path(&[&root, WRITES]);
    let closes = b.code(
        &[&root, CLOSES],
        &["Ntfs!NtfsFsdCleanup Ntfs!NtfsCommonCleanup"],
    );
    let mut steps = Vec::new();
    // Where the cache is cold, code and tables have to be read first.
    if number < if kind.disturbed { 12 } else { 1 } {
        let faults = b.waits(&[&root, FAULTS, "nt!MiWaitForInPageComplete"]);
        let image = b.file(
            r"Program Files\dotnet\shared\Microsoft.NETCore.App\7.0.2\System.Private.CoreLib.dll",
        );
        steps.push(Step::PageIn(
            faults,
            reading(image, 1, 32_768, (lines, 5, 20)),
        ));
    }
    steps.extend([
        Step::Await(locks, reason::WR_RESOURCE, volume),
        Step::Run(opens, 250, 600),
        Step::Set(unlocks, volume),
        Step::Run(lines, 2_800, 4_400),
        Step::Write(written, reading(file, 4, 25_600, (to_cache, 60, 180))),
    ]);
    if kind.disturbed {
        let asks = [
            root.as_str(),
            CLOSES,
            "WdFilter!MpPreCleanup WdFilter!MpScanFile FLTMGR!FltSendMessage",
        ];
        let (sends, waits) = (b.path(&asks), b.waits(&asks));
        steps.push(Step::Ask(
            sends,
            Ask {
                port,
                file,
                waits,
                reason: reason::EXECUTIVE,
            },
        ));
    }
    steps.push(Step::Run(closes, 100, 260));
    steps
}
