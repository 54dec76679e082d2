//! Scenario `slow-system`: a user opens the folder of downloads in Explorer and starts a downloaded
//! program from a command prompt. Both wait for more than a second, since the filter driver of the
//! virus scanner, which has no symbols, sends each new file to its service, which scans it. A
//! browser uses more CPU time than the scanner and is not to blame.

use super::windows::{
    DRIVERS, EXPLORER, KERNEL32, KERNELBASE, MICROSOFT, NTDLL, OWN, READS_FILE, SHELL32, SLEEPS,
    SYSCALL, SYSTEM32, USER, USER32, background, image, machine, reading, service, user_program,
};
use crate::Options;
use crate::plan::{Maker, ModulePlan, Plan, reason};
use crate::scenarios::dotnet::CMD;
use crate::script::{Ask, Builder, Step};
use crate::table::{File, Module, Port, Program};

static DEFENDER: Maker = Maker {
    company: "Microsoft Corporation",
    product: "Microsoft\u{ae} Windows\u{ae} Operating System",
    version: "4.18.24030.9",
    sources: r"onecore\antimalware\",
};
static EDGE: Maker = Maker {
    company: "Microsoft Corporation",
    product: "Microsoft Edge",
    version: "124.0.2478.80",
    sources: r"C:\edge\src\",
};
static FABRIKAM: Maker = Maker {
    company: "Fabrikam",
    product: "Fabrikam Setup",
    version: "2.1.0.0",
    sources: r"D:\setup\",
};
const PLATFORM: (&str, &str) = (
    r"\Device\HarddiskVolume3\ProgramData\Microsoft\Windows Defender\Platform\4.18.24030.9-0\",
    r"C:\ProgramData\Microsoft\Windows Defender\Platform\4.18.24030.9-0\",
);
const EDGE_FOLDER: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files (x86)\Microsoft\Edge\Application\",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\",
);
const DOWNLOADS: (&str, &str) = (
    r"\Device\HarddiskVolume3\Users\anna\Downloads\",
    r"C:\Users\anna\Downloads\",
);
const IMAGES: [ModulePlan; 7] = [
    // Only its maker has its symbols.
    ModulePlan {
        is_nameless: true,
        ..image(
            ("WdFilter", "WdFilter.sys", "WdFilter.pdb"),
            DRIVERS,
            (0xFFFF_F806_2A10_0000, 0x8_4000),
            &DEFENDER,
        )
    },
    image(
        ("MsMpEng", "MsMpEng.exe", "MsMpEng.pdb"),
        PLATFORM,
        (0x7FF7_1B90_0000, 0x2_4000),
        &DEFENDER,
    ),
    image(
        ("mpengine", "mpengine.dll", "mpengine.pdb"),
        PLATFORM,
        (0x7FF8_9B90_0000, 0x125_4000),
        &DEFENDER,
    ),
    CMD,
    image(
        ("msedge", "msedge.exe", "msedge.exe.pdb"),
        EDGE_FOLDER,
        (0x7FF7_AB10_0000, 0x3F_A000),
        &EDGE,
    ),
    image(
        ("FabrikamSetup", "FabrikamSetup.exe", "FabrikamSetup.pdb"),
        DOWNLOADS,
        (0x7FF6_58D0_0000, 0x8_B000),
        &FABRIKAM,
    ),
    image(
        ("apphelp", "apphelp.dll", "apphelp.pdb"),
        SYSTEM32,
        (0x7FF9_6510_0000, 0x9_0000),
        &MICROSOFT,
    ),
];
const SCANNER: &[Module] = &[
    Module(OWN + 1),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    Module(OWN + 2),
];
const PROMPT: &[Module] = &[
    Module(OWN + 3),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    Module(OWN + 6),
];
const BROWSER: &[Module] = &[Module(OWN + 4), NTDLL, KERNEL32, KERNELBASE];
const SETUP: &[Module] = &[Module(OWN + 5), NTDLL, KERNEL32, KERNELBASE];
const SHELL: &[Module] = &[EXPLORER, NTDLL, KERNEL32, KERNELBASE, USER32, SHELL32];

/// Seconds of a trace of scale 1.
const SECONDS: u32 = 12;
/// Times of the user's actions, in milliseconds after the start of a round.
const OPENS_MS: u32 = 2_500;
const STARTS_MS: u32 = 6_200;
/// Durations of the scans of files that Explorer opens, and of the program: once when it is opened
/// and once when it is mapped. In microseconds, the two in the prompt together 1.349 s.
const OPEN_US: u32 = 1_462_000;
const PROGRAM_US: u32 = 431_000;
const SECTION_US: u32 = 917_600;

const CREATES: &str = "kernel32!CreateProcessW KERNELBASE!CreateProcessW KERNELBASE!CreateProcessInternalW \
    ntdll!NtCreateUserProcess nt!KiSystemServiceCopyEnd nt!NtCreateUserProcess";
const OPENS_FILE: &str = "nt!ObOpenObjectByName nt!IopParseDevice nt!IofCallDriver FLTMGR!FltpCreate \
    FLTMGR!FltpPerformPostCallbacks";
const MAPS_IMAGE: &str = "nt!MmCreateSpecialImageSection nt!MiCreateSection nt!FsRtlAcquireFileExclusiveCommon \
    FLTMGR!FltpPreFsFilterOperation FLTMGR!FltpPerformPreCallbacksWorker";
const OPENS_IN_SHELL: &str = "shell32!CDefView::_GetFileInfo shell32!CFSFolder::ReadHeader KERNELBASE!CreateFileW \
    KERNELBASE!CreateFileInternal ntdll!NtCreateFile nt!KiSystemServiceCopyEnd nt!NtCreateFile";
const AFTER_OPEN: &str = "WdFilter!PostCreate WdFilter!Send FLTMGR!FltSendMessage";
const BEFORE_MAP: &str = "WdFilter!PreSection WdFilter!Send FLTMGR!FltSendMessage";
const WINDOW: &str = "explorer!CTray::MainThreadProc shell32!CDefView::_WndProc";

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), SECONDS, &IMAGES, true);
    background(&mut b);
    browser(&mut b);
    let setup = b.file(r"Users\anna\Downloads\FabrikamSetup.exe");
    let engine = engine(&mut b);
    explorer(&mut b, options.scale, (engine, setup));
    prompt(&mut b, options.scale, (engine, setup));
    b.finish()
}

/// Adds a thread of the scanner's service that scans each file for this long.
fn scans(b: &mut Builder, program: Program, us: u32) -> Port {
    // Each kind of file has its own thread and port, since the script of a thread fixes the
    // duration of its scans.
    let port = b.port();
    let root = [USER, "mpengine!CResmgr::Worker"];
    let control = "ntdll!NtRemoveIoCompletion nt!KiSystemServiceCopyEnd nt!NtRemoveIoCompletion nt!KeRemoveQueueEx";
    let takes = b.waits(&[root[0], root[1], control]);
    let reads = b.waits(&[root[0], root[1], "mpengine!UfsFile::Read", READS_FILE]);
    let code = b.code(
        &root,
        &[
            "mpengine!CEmulator::Run",
            "mpengine!CHstr::Match",
            "ntdll!memcpy",
        ],
    );
    let reply = "ntdll!NtDeviceIoControlFile nt!KiSystemServiceCopyEnd nt!NtDeviceIoControlFile \
        FLTMGR!FltpDispatch FLTMGR!FltpMsgDispatch FLTMGR!FltpReplyMessage nt!KeSetEvent";
    let answers = b.path(&[root[0], root[1], reply]);
    let file = b.file(r"ProgramData\Microsoft\Windows Defender\Definition Updates\mpavbase.vdm");
    let thread = b.thread(program, 8, "mpengine!CResmgr::Worker");
    let steps = [
        Step::Take(takes, port),
        Step::ReadAsked(reads, reading(file, 2, 65_536, (code, 400, 600))),
        Step::Run(code, us, us),
        Step::Answer(answers),
    ];
    b.script(thread, &[], &steps);
    port
}

/// Adds the service of the scanner.
fn engine(b: &mut Builder) -> Program {
    let ids = (b.id(), 804);
    let line = r#""C:\ProgramData\Microsoft\Windows Defender\Platform\4.18.24030.9-0\MsMpEng.exe""#;
    b.program(service(ids, "MsMpEng.exe", line, SCANNER))
}

/// Returns the step that sends a file to the service and waits for the answer.
fn ask(b: &mut Builder, frames: &[&str], port: Port, file: File) -> Step {
    let waits = b.waits(frames);
    Step::Ask(
        b.path(frames),
        Ask {
            port,
            file,
            waits,
            reason: reason::EXECUTIVE,
        },
    )
}

/// Lets the user open the folder of downloads; the desktop reads the kinds of the files in it.
fn explorer(b: &mut Builder, rounds: u32, (engine, file): (Program, File)) {
    let ids = (b.id(), 5120);
    let program = b.program(user_program(
        ids,
        "explorer.exe",
        r"C:\Windows\Explorer.EXE",
        SHELL,
    ));
    let thread = b.thread(program, 10, "explorer!CTray::MainThreadProc");
    let messages = b.waits(&[
        USER,
        WINDOW,
        "user32!GetMessageW",
        SYSCALL,
        "win32kfull!NtUserGetMessage",
    ]);
    let draws = b.code(
        &[USER, WINDOW],
        &["shell32!CListView::Paint", "ntdll!memcpy"],
    );
    let port = scans(b, engine, OPEN_US);
    let asks = ask(
        b,
        &[USER, WINDOW, OPENS_IN_SHELL, OPENS_FILE, AFTER_OPEN],
        port,
        file,
    );
    let opens = b.code(
        &[USER, WINDOW, OPENS_IN_SHELL],
        &["nt!IopCreateFile", "nt!ObOpenObjectByName"],
    );
    let mut once = Vec::new();
    for round in 0..rounds {
        once.push(Step::Click(messages, 1000 * SECONDS * round + OPENS_MS));
        once.extend([
            Step::Run(opens, 2_000, 2_000),
            asks,
            Step::Run(opens, 1_500, 1_500),
        ]);
        once.push(Step::Run(draws, 20_000, 30_000));
    }
    b.script(
        thread,
        &once,
        &[
            Step::Sleep(messages, 150_000, 450_000),
            Step::Run(draws, 200, 900),
        ],
    );
}

/// Lets the user start the downloaded program.
fn prompt(b: &mut Builder, rounds: u32, (engine, file): (Program, File)) {
    let ids = (b.id(), 5120);
    let program = b.program(user_program(
        ids,
        "cmd.exe",
        r"C:\Windows\system32\cmd.exe",
        PROMPT,
    ));
    let thread = b.thread(program, 8, "cmd!main");
    let reads = b.waits(&[
        USER,
        "cmd!main cmd!Parser cmd!ReadBufFromConsole ntdll!NtReadFile",
    ]);
    let starts = [USER, "cmd!main cmd!Dispatch cmd!ExecPgm", CREATES];
    let prepares = b.code(
        &starts,
        &["apphelp!ApphelpCheckRunAppEx", "nt!PspAllocateProcess"],
    );
    let inserts = b.path(&[&starts[..], &["nt!PspInsertThread nt!KeReadyThread"]].concat());
    let ports = (scans(b, engine, PROGRAM_US), scans(b, engine, SECTION_US));
    let opened = ask(
        b,
        &[&starts[..], &[OPENS_FILE, AFTER_OPEN]].concat(),
        ports.0,
        file,
    );
    let mapped = ask(
        b,
        &[&starts[..], &[MAPS_IMAGE, BEFORE_MAP]].concat(),
        ports.1,
        file,
    );
    let mut once = Vec::new();
    for round in 0..rounds {
        let ids = (b.id(), b.pid(program));
        let setup = b.program(user_program(
            ids,
            "FabrikamSetup.exe",
            "FabrikamSetup.exe /quiet",
            SETUP,
        ));
        let main = b.thread(setup, 8, "FabrikamSetup!main");
        b.is_started(main);
        let unpacks = b.code(
            &[USER, "FabrikamSetup!main"],
            &["FabrikamSetup!CCabinet::Next", "ntdll!memcpy"],
        );
        b.script(main, &[Step::Run(unpacks, 250_000, 300_000)], &[]);
        once.push(Step::Click(reads, 1000 * SECONDS * round + STARTS_MS));
        once.extend([
            Step::Run(prepares, 3_000, 3_000),
            opened,
            Step::Run(prepares, 1_000, 1_000),
            mapped,
        ]);
        once.extend([
            Step::Run(prepares, 2_000, 2_000),
            Step::Start(inserts, main),
        ]);
    }
    let never = b.event(0);
    once.push(Step::Await(reads, super::windows::FOR_THREAD, never));
    b.script(thread, &once, &[]);
}

/// Adds a browser that plays a video: it uses more CPU than all other programs.
fn browser(b: &mut Builder) {
    let ids = (b.id(), 5120);
    let line = r#""C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe" --type=renderer"#;
    let program = b.program(user_program(ids, "msedge.exe", line, BROWSER));
    for name in [
        "msedge!base::RunLoop::Run",
        "msedge!media::VideoRenderer::Run",
    ] {
        let thread = b.thread(program, 9, name);
        let waits = b.waits(&[USER, name, SLEEPS]);
        let code = b.code(
            &[USER, name],
            &[
                "msedge!blink::Paint",
                "msedge!media::Decode",
                "ntdll!memcpy",
            ],
        );
        b.script(
            thread,
            &[],
            &[
                Step::Sleep(waits, 6_000, 12_000),
                Step::Run(code, 2_500, 5_000),
            ],
        );
    }
}
