//! Scenario `git-bash`: Git Bash takes ten seconds to open. Each process that starts waits until a virus scanner has read
//! its image: a filter driver asks a service whenever a section of an image is made. The processors are hardly busy.

use super::windows::{
    DRIVERS, EXPLORER, FOR_THREAD, KERNEL32, KERNELBASE, MICROSOFT, NTDLL, OWN, READS_FILE, SHELL32, SLEEPS,
    SYSCALL, USER, USER32, WAIT_FOR_OBJECT, background, image, machine, reading, service, user_program,
};
use crate::Options;
use crate::plan::{Maker, ModulePlan, Plan, reason};
use crate::script::{Ask, Builder, Step};
use crate::table::{Event, File, Module, Port, Program, Thread};

/// Seconds for each opening.
const SECONDS: u32 = 13;
/// Milliseconds until the user clicks.
const CLICK_MS: u32 = 1000;

static GIT: Maker = Maker {
    company: "The Git Development Community",
    product: "Git for Windows",
    version: "2.44.0.1",
    sources: r"D:\git-sdk-64\usr\src\",
};
static NORTHWALL: Maker = Maker {
    company: "Northwall Security",
    product: "Northwall Endpoint Shield",
    version: "11.2.540.0",
    sources: r"E:\shield\src\",
};

type Folder = (&'static str, &'static str);
const GIT_FOLDER: Folder = (r"\Device\HarddiskVolume3\Program Files\Git\", r"C:\Program Files\Git\");
const GIT_BIN: Folder =
    (r"\Device\HarddiskVolume3\Program Files\Git\usr\bin\", r"C:\Program Files\Git\usr\bin\");
const MINGW_BIN: Folder =
    (r"\Device\HarddiskVolume3\Program Files\Git\mingw64\bin\", r"C:\Program Files\Git\mingw64\bin\");
const SHIELD: Folder =
    (r"\Device\HarddiskVolume3\Program Files\Northwall\Shield\", r"C:\Program Files\Northwall\Shield\");

/// Programs of MSYS are all linked to this address, and are not moved.
const MSYS_EXE: u64 = 0x1_0040_0000;

const fn tool(alias: &'static str, name: &'static str, pdb: &'static str, size: u32) -> ModulePlan {
    image((alias, name, pdb), GIT_BIN, (MSYS_EXE, size), &GIT)
}

/// The first one is the driver.
const IMAGES: [ModulePlan; 14] = [
    image(
        ("nwshield", "nwshield.sys", "nwshield.pdb"),
        DRIVERS,
        (0xFFFF_F806_2A10_0000, 0x5_8000),
        &NORTHWALL,
    ),
    image(("NwScanSvc", "NwScanSvc.exe", "NwScanSvc.pdb"), SHIELD, (0x7FF7_1B90_0000, 0x9_4000), &NORTHWALL),
    image(("nwengine", "nwengine.dll", "nwengine.pdb"), SHIELD, (0x7FF9_3B40_0000, 0x61_2000), &NORTHWALL),
    image(
        ("FLTLIB", "fltLib.dll", "fltLib.pdb"),
        super::windows::SYSTEM32,
        (0x7FF9_67A0_0000, 0xB000),
        &MICROSOFT,
    ),
    image(("git-bash", "git-bash.exe", "git-bash.pdb"), GIT_FOLDER, (0x1_4000_0000, 0x2_4000), &GIT),
    tool("mintty", "mintty.exe", "mintty.pdb", 0xB_6000),
    tool("bash", "bash.exe", "bash.pdb", 0x24_E000),
    image(("msys-2.0", "msys-2.0.dll", "msys-2.0.pdb"), GIT_BIN, (0x1_8004_0000, 0x33_0000), &GIT),
    tool("uname", "uname.exe", "uname.pdb", 0x1_B000),
    tool("hostname", "hostname.exe", "hostname.pdb", 0x1_A000),
    tool("id", "id.exe", "id.pdb", 0x1_F000),
    tool("cygpath", "cygpath.exe", "cygpath.pdb", 0x1_C000),
    tool("dircolors", "dircolors.exe", "dircolors.pdb", 0x1_E000),
    image(("git", "git.exe", "git.pdb"), MINGW_BIN, (0x1_4000_0000, 0x3D_1000), &GIT),
];

const fn own(index: usize) -> Module {
    Module(OWN + index)
}

const MSYS: Module = own(7);
const SCANNER_IMAGES: &[Module] = &[own(1), NTDLL, KERNEL32, KERNELBASE, own(2), own(3)];
const EXPLORER_IMAGES: &[Module] = &[EXPLORER, NTDLL, KERNEL32, KERNELBASE, USER32, SHELL32];
const GIT_BASH_IMAGES: &[Module] = &[own(4), NTDLL, KERNEL32, KERNELBASE];
const MINTTY_IMAGES: &[Module] = &[own(5), NTDLL, KERNEL32, KERNELBASE, USER32, MSYS];
const BASH_IMAGES: &[Module] = &[own(6), NTDLL, KERNEL32, KERNELBASE, MSYS];

/// A program that bash starts: name, command line, images, what it computes.
struct Tool {
    name: &'static str,
    line: &'static str,
    images: &'static [Module],
    path: &'static str,
    /// Name of the call that starts it.
    call: &'static str,
    main: &'static str,
}

macro_rules! msys_tool {
    ($index:literal, $name:literal, $line:literal, $main:literal) => {
        Tool {
            name: concat!($name, ".exe"),
            line: $line,
            images: &[own($index), NTDLL, KERNEL32, KERNELBASE, MSYS],
            path: concat!(r"Program Files\Git\usr\bin\", $name, ".exe"),
            call: concat!("CreateProcess ", $name, ".exe"),
            main: $main,
        }
    };
}

/// What the profile of the shell runs, each in a subshell.
const TOOLS: [Tool; 6] = [
    msys_tool!(8, "uname", "/usr/bin/uname -s", "uname!main uname!print_element"),
    msys_tool!(9, "hostname", "/usr/bin/hostname", "hostname!main hostname!localhost"),
    msys_tool!(10, "id", "/usr/bin/id -un", "id!main id!print_user"),
    msys_tool!(11, "cygpath", "/usr/bin/cygpath -u -f -", "cygpath!main cygpath!do_pathconv"),
    msys_tool!(
        12,
        "dircolors",
        "/usr/bin/dircolors -b /etc/DIR_COLORS",
        "dircolors!main dircolors!dc_parse_stream"
    ),
    Tool {
        name: "git.exe",
        line: "git.exe rev-parse --git-dir --is-inside-git-dir",
        images: &[own(13), NTDLL, KERNEL32, KERNELBASE],
        path: r"Program Files\Git\mingw64\bin\git.exe",
        call: "CreateProcess git.exe",
        main: "git!cmd_main git!run_builtin git!cmd_rev_parse git!setup_git_directory_gently",
    },
];

const BASH_EXE: &str = r"Program Files\Git\usr\bin\bash.exe";
/// Frames of the main threads.
const MSYS_MAIN: &str = "msys-2.0!_cygtls::call msys-2.0!_cygtls::call2 msys-2.0!dll_crt0_1";
const BASH_MAIN: &str = "bash!main bash!reader_loop bash!execute_command bash!execute_command_internal";
const FORK: &str = "bash!command_substitute bash!make_child msys-2.0!fork msys-2.0!frok::parent";
const SPAWN: &str = "bash!shell_execve msys-2.0!execve msys-2.0!child_info_spawn::worker";
const GETS_MESSAGE: &str = "user32!GetMessageW win32kfull!NtUserGetMessage win32kfull!xxxSleepThread";
const EXPLORER_MAIN: &str = "explorer!CTray::MainThreadProc explorer!CTray::_MessageLoop";
const LAUNCHES: &str =
    "explorer!CTaskListWnd::_Launch shell32!ShellExecuteExW shell32!CShellExecute::_DoExecute";
const CREATE: &str = "KERNELBASE!CreateProcessW KERNELBASE!CreateProcessInternalW";
const NT_CREATE: &str = "ntdll!NtCreateUserProcess nt!KiSystemServiceCopyEnd nt!NtCreateUserProcess";
/// A section of an image is made, and the filter driver asks about it.
const SECTION: &str = "nt!PspBuildCreateProcessContext nt!MmCreateSpecialImageSection nt!MiCreateSection \
    nt!MiCreateImageOrDataSection nt!FsRtlAcquireToCreateMappedSection nt!FsFilterPerformCallbacks \
    FLTMGR!FltpPreFsFilterOperation FLTMGR!FltpPerformPreCallbacks";
const ASKS: &str = "nwshield!CSectionFilter::PreAcquireForSection nwshield!CScanClient::AskService \
    FLTMGR!FltSendMessage";
const WAITS_FOR_CHILD: &str = "ntdll!NtWaitForMultipleObjects nt!KiSystemServiceCopyEnd \
    nt!NtWaitForMultipleObjects nt!ObWaitForMultipleObjects";
const READS_PIPE: &str = "bash!read_comsub msys-2.0!read msys-2.0!fhandler_pipe::raw_read ntdll!NtReadFile \
    nt!KiSystemServiceCopyEnd nt!NtReadFile nt!IopSynchronousServiceTail";
const WRITES_PIPE: &str = "msys-2.0!write msys-2.0!fhandler_pipe::raw_write ntdll!NtWriteFile \
    nt!KiSystemServiceCopyEnd nt!NtWriteFile nt!IofCallDriver Npfs!NpFsdWrite Npfs!NpWriteDataQueue \
    nt!IofCompleteRequest nt!IopCompleteRequest nt!KeSetEvent";
const EXITS: &str = "ntdll!RtlExitUserProcess ntdll!NtTerminateProcess nt!KiSystemServiceCopyEnd \
    nt!NtTerminateProcess nt!PspTerminateThreadByPointer nt!PspExitThread nt!PspExitProcess nt!KeSetProcess";

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), SECONDS, &IMAGES, true);
    // A hard disk that has other things to do.
    b.disk(11_000, 24_000);
    background(&mut b);
    let port = b.port();
    scanner(&mut b, port);
    let ids = (b.id(), 5120);
    let explorer = b.program(user_program(ids, "explorer.exe", r"C:\Windows\Explorer.EXE", EXPLORER_IMAGES));
    let thread = b.thread(explorer, 10, "explorer!CTray::MainThreadProc");
    let mut once = Vec::new();
    for round in 0..options.scale {
        once.extend(clicks(&mut b, port, explorer, 1000 * SECONDS * round + CLICK_MS));
    }
    let waits = b.waits(&[USER, EXPLORER_MAIN, GETS_MESSAGE]);
    let paints = b.code(&[USER, EXPLORER_MAIN], &["explorer!CTaskListWnd::_HandlePaint"]);
    b.script(thread, &once, &[Step::Sleep(waits, 150_000, 450_000), Step::Run(paints, 200, 900)]);
    b.finish()
}

/// The user clicks on Git Bash at that time, and the desktop starts it.
fn clicks(b: &mut Builder, port: Port, explorer: Program, at_ms: u32) -> Vec<Step> {
    let waits = b.waits(&[USER, EXPLORER_MAIN, GETS_MESSAGE]);
    let code = b.code(&[USER, EXPLORER_MAIN, LAUNCHES], &["shell32!CShellExecute::_PrepareEnvironment"]);
    let git_bash = git_bash(b, port, explorer);
    let mut steps =
        vec![Step::Click(waits, at_ms), Step::Mark("Git Bash clicked"), Step::Run(code, 2_000, 4_000)];
    steps.extend(creates(b, &[USER, EXPLORER_MAIN, LAUNCHES], port, git_bash));
    steps
}

/// The service that scans: a pool of threads that answer the driver, and one that looks for updates.
fn scanner(b: &mut Builder, port: Port) {
    let ids = (b.id(), 804);
    let line = r#""C:\Program Files\Northwall\Shield\NwScanSvc.exe""#;
    let program = b.program(service(ids, "NwScanSvc.exe", line, SCANNER_IMAGES));
    let begins = [USER, "nwengine!CWorkerPool::ThreadProc"];
    let [begins0, begins1] = begins;
    let control = "ntdll!NtDeviceIoControlFile nt!KiSystemServiceCopyEnd nt!NtDeviceIoControlFile \
        nt!IopXxxControlFile nt!IofCallDriver FLTMGR!FltpDispatch FLTMGR!FltpMsgDispatch";
    let takes = b.waits(&[
        begins0,
        begins1,
        "nwengine!CFilterPort::NextMessage KERNELBASE!GetQueuedCompletionStatus ntdll!NtRemoveIoCompletion",
        SYSCALL,
        "nt!NtRemoveIoCompletion nt!IoRemoveIoCompletion nt!KeRemoveQueueEx",
    ]);
    let scan = "nwengine!CScanEngine::ScanFile";
    let reads = b.waits(&[begins0, begins1, scan, "nwengine!CFileReader::Fill", READS_FILE]);
    let engine = b.code(
        &[begins0, begins1, scan],
        &[
            "nwengine!CSignatureTree::Match",
            "nwengine!CSignatureTree::Match nwengine!CAutomaton::Advance",
            "nwengine!CUnpacker::Unpack nwengine!CInflate::DecodeBlock",
            "nwengine!CHash::Update",
        ],
    );
    let emulator =
        b.code(&[begins0, begins1, scan, "nwengine!CEmulator::Run"], &["nwengine!CEmulator::Step"]);
    let unpacks = b.code(&[begins0, begins1], &["nwengine!CFilterPort::Dispatch", "nwengine!CCache::Find"]);
    let answers = b.path(&[
        begins0,
        begins1,
        "nwengine!CFilterPort::Reply FLTLIB!FilterReplyMessage",
        control,
        "FLTMGR!FltpMsgDeviceControl FLTMGR!FltpReplyMessage nt!KeSetEvent",
    ]);
    let signatures = b.file(r"ProgramData\Northwall\Shield\signatures.dat");
    let pool = [
        Step::Take(takes, port),
        Step::Run(unpacks, 150, 500),
        Step::ReadAsked(reads, reading(signatures, 17, 65_536, (engine, 12_000, 21_000))),
        Step::Run(emulator, 18_000, 42_000),
        Step::Answer(answers),
    ];
    for _ in 0..4 {
        let thread = b.thread(program, 8, "nwengine!CWorkerPool::ThreadProc");
        b.script(thread, &[], &pool);
    }
    let thread = b.thread(program, 8, "NwScanSvc!CUpdater::ThreadProc");
    let begins = [USER, "NwScanSvc!CUpdater::ThreadProc"];
    let waits = b.waits(&[begins[0], begins[1], SLEEPS]);
    let code = b.code(&begins, &["NwScanSvc!CUpdater::Poll"]);
    b.script(thread, &[], &[Step::Sleep(waits, 400_000, 900_000), Step::Run(code, 100, 600)]);
}

/// A process that will be started: its name, and its first thread.
#[derive(Clone, Copy)]
struct Child {
    call: &'static str,
    file: File,
    thread: Thread,
}

/// The steps of a `CreateProcess` in code with these frames.
fn creates(b: &mut Builder, frames: &[&str], port: Port, child: Child) -> Vec<Step> {
    let inner = |parts: &[&'static str]| -> Vec<String> {
        frames.iter().chain(parts).map(|part| (*part).to_owned()).collect()
    };
    let text = |parts: &[&'static str]| inner(parts).join(" ");
    let prepares = b.code(
        &[&text(&[CREATE])],
        &["KERNELBASE!BasepCreateProcessParameters", "ntdll!RtlCreateProcessParametersEx"],
    );
    let begins = b.code(
        &[&text(&[CREATE, NT_CREATE])],
        &["nt!PspBuildCreateProcessContext", "nt!ObOpenObjectByNameEx nt!ObpLookupObjectName"],
    );
    let asking = text(&[CREATE, NT_CREATE, SECTION, ASKS]);
    let sends = b.path(&[&asking, "nt!IofCompleteRequest nt!IopfCompleteRequest nt!KeInsertQueueEx"]);
    let waits = b.waits(&[&asking]);
    let goes_on = b.code(
        &[&text(&[CREATE, NT_CREATE])],
        &["nt!PspAllocateProcess nt!MmInitializeProcessAddressSpace", "nt!PspAllocateThread nt!KeInitThread"],
    );
    let inserts =
        b.path(&[&text(&[CREATE, NT_CREATE]), "nt!PspInsertThread nt!KeStartThread nt!KeReadyThread"]);
    let tells = b.code(
        &[&text(&[CREATE])],
        &["KERNELBASE!BasepConstructSxsCreateProcessMessage", "ntdll!CsrClientCallServer"],
    );
    vec![
        Step::Begin(child.call, None),
        Step::Run(prepares, 300, 900),
        Step::Run(begins, 150, 400),
        Step::Ask(sends, Ask { port, file: child.file, waits, reason: reason::EXECUTIVE }),
        Step::Run(goes_on, 300, 800),
        Step::Start(inserts, child.thread),
        Step::Run(tells, 150, 450),
        Step::End,
    ]
}

/// What every new process does first.
fn loads(b: &mut Builder, runtime: &[&str]) -> Vec<Step> {
    let loader = b.code(
        &["ntdll!LdrInitializeThunk ntdll!LdrpInitialize ntdll!LdrpInitializeProcess"],
        &[
            "ntdll!LdrpLoadDllInternal ntdll!LdrpFindOrPrepareLoadingModule",
            "ntdll!LdrpLoadDllInternal ntdll!LdrpSnapModule",
            "ntdll!LdrpInitializeGraphRecurse ntdll!LdrpCallInitRoutine",
        ],
    );
    let init = b.code(runtime, &["KERNELBASE!GetModuleFileNameW", "ntdll!RtlAllocateHeap"]);
    vec![Step::Run(loader, 2_000, 5_000), Step::Run(init, 600, 1_800)]
}

/// A program of Git Bash with its main thread, which a step starts.
fn program(
    b: &mut Builder,
    parent: Program,
    (name, line, images): (&'static str, &'static str, &'static [Module]),
    start: &str,
) -> (Program, Thread) {
    let ids = (b.id(), b.pid(parent));
    let program = b.program(user_program(ids, name, line, images));
    let thread = b.thread(program, 8, start);
    b.is_started(thread);
    (program, thread)
}

/// The launcher: it starts the terminal and waits for its end.
fn git_bash(b: &mut Builder, port: Port, explorer: Program) -> Child {
    let name = ("git-bash.exe", r#""C:\Program Files\Git\git-bash.exe" --cd-to-home"#, GIT_BASH_IMAGES);
    let (program, thread) = program(b, explorer, name, "git-bash!wWinMain");
    let main = [USER, "git-bash!wWinMain"];
    let terminal = mintty(b, port, program);
    let mut steps = loads(b, &main);
    steps.extend(creates(b, &main, port, terminal));
    let (waits, never) = (b.waits(&[main[0], main[1], WAIT_FOR_OBJECT]), b.event(0));
    steps.push(Step::Await(waits, FOR_THREAD, never));
    b.script(thread, &steps, &[]);
    let file = b.file(r"Program Files\Git\git-bash.exe");
    Child { call: "CreateProcess git-bash.exe", file, thread }
}

/// The terminal: it starts the shell and shows what that writes.
fn mintty(b: &mut Builder, port: Port, parent: Program) -> Child {
    let line = "usr\\bin\\mintty.exe --nodaemon -o AppID=GitForWindows.Bash -o RelaunchDisplayName=\"Git Bash\" \
        -i /mingw64/share/git/git-for-windows.ico /usr/bin/bash --login -i";
    let (program, thread) = program(b, parent, ("mintty.exe", line, MINTTY_IMAGES), "msys-2.0!dll_crt0_0");
    let (main, writes) = ([USER, MSYS_MAIN, "mintty!main"], b.event(0));
    let shell = shell(b, port, program, writes);
    let mut steps = loads(b, &main);
    let opens = b.code(&main, &["mintty!win_init_fonts", "mintty!win_reconfig"]);
    steps.push(Step::Run(opens, 6_000, 12_000));
    let forks = "mintty!child_create msys-2.0!forkpty msys-2.0!fork msys-2.0!frok::parent";
    steps.extend(creates(b, &[main[0], main[1], main[2], forks], port, shell));
    let waits = b.waits(&[main[0], main[1], main[2], "user32!RealMsgWaitForMultipleObjectsEx"]);
    let paints = b.code(&main, &["mintty!win_paint mintty!do_update", "mintty!term_write"]);
    steps.extend([
        Step::Await(waits, reason::WR_USER_REQUEST, writes),
        Step::Run(paints, 3_000, 6_000),
        Step::Mark("Prompt"),
    ]);
    let again = [Step::Sleep(waits, 480_000, 520_000), Step::Run(paints, 200, 500)];
    b.script(thread, &steps, &again);
    let file = b.file(r"Program Files\Git\usr\bin\mintty.exe");
    Child { call: "CreateProcess mintty.exe", file, thread }
}

/// The shell: it runs the profile, each tool of it in a subshell, and shows a prompt.
fn shell(b: &mut Builder, port: Port, parent: Program, writes: Event) -> Child {
    let name = ("bash.exe", "/usr/bin/bash --login -i", BASH_IMAGES);
    let (program, thread) = program(b, parent, name, "msys-2.0!dll_crt0_0");
    let main = [USER, MSYS_MAIN, BASH_MAIN];
    let mut steps = loads(b, &main);
    let parses = b.code(
        &main,
        &["bash!yyparse bash!yylex", "bash!expand_word_list_internal", "bash!execute_simple_command"],
    );
    for tool in &TOOLS {
        let (output, ended) = (b.event(0), b.event(0));
        let child = subshell(b, port, program, Some((tool, output)), ended);
        steps.push(Step::Run(parses, 900, 2_600));
        steps.extend(forks(b, port, &main, child, Some(output), ended));
    }
    // The prompt needs one more, which runs nothing.
    let ended = b.event(0);
    let child = subshell(b, port, program, None, ended);
    steps.push(Step::Run(parses, 900, 2_600));
    steps.extend(forks(b, port, &main, child, None, ended));
    let prompt =
        b.path(&[main[0], main[1], "bash!main bash!reader_loop bash!rl_display_prompt", WRITES_PIPE]);
    let reads = b.waits(&[main[0], main[1], "bash!main bash!reader_loop bash!readline", WAIT_FOR_OBJECT]);
    let never = b.event(0);
    steps.extend([
        Step::Run(parses, 2_000, 4_000),
        Step::Set(prompt, writes),
        Step::Await(reads, FOR_THREAD, never),
    ]);
    b.script(thread, &steps, &[]);
    let file = b.file(BASH_EXE);
    Child { call: "CreateProcess bash.exe", file, thread }
}

/// The shell starts a subshell, reads what it writes, and waits for its end.
fn forks(
    b: &mut Builder,
    port: Port,
    main: &[&str; 3],
    child: Child,
    output: Option<Event>,
    ended: Event,
) -> Vec<Step> {
    let [user, msys, bash] = main;
    let mut steps = creates(b, &[user, msys, bash, FORK], port, child);
    let reads = b.waits(&[user, msys, bash, READS_PIPE]);
    let waits =
        b.waits(&[user, msys, bash, "bash!wait_for msys-2.0!wait4 msys-2.0!cygwait", WAITS_FOR_CHILD]);
    steps.extend(output.map(|output| Step::Await(reads, reason::EXECUTIVE, output)));
    steps.push(Step::Await(waits, FOR_THREAD, ended));
    steps
}

/// A copy of the shell, which starts a tool or does a little itself.
fn subshell(
    b: &mut Builder,
    port: Port,
    parent: Program,
    tool: Option<(&Tool, Event)>,
    ended: Event,
) -> Child {
    let name = ("bash.exe", "/usr/bin/bash --login -i", BASH_IMAGES);
    let (program, thread) = program(b, parent, name, "msys-2.0!dll_crt0_0");
    let main = [USER, MSYS_MAIN, BASH_MAIN];
    let mut steps = loads(b, &main);
    let copies = b.code(
        &[USER, MSYS_MAIN, "msys-2.0!fork msys-2.0!frok::child"],
        &["msys-2.0!fixup_after_fork msys-2.0!child_copy", "msys-2.0!dll_list::load_after_fork"],
    );
    steps.push(Step::Run(copies, 3_000, 7_000));
    if let Some((tool, output)) = tool {
        let tool_ended = b.event(0);
        let child = run_tool(b, program, tool, output, tool_ended);
        steps.extend(creates(b, &[USER, MSYS_MAIN, BASH_MAIN, SPAWN], port, child));
        let waits = b.waits(&[
            USER,
            MSYS_MAIN,
            "msys-2.0!child_info_spawn::worker msys-2.0!cygwait",
            WAITS_FOR_CHILD,
        ]);
        steps.push(Step::Await(waits, FOR_THREAD, tool_ended));
    }
    steps.push(Step::Set(b.path(&[USER, MSYS_MAIN, "msys-2.0!do_exit", EXITS]), ended));
    b.script(thread, &steps, &[]);
    let file = b.file(BASH_EXE);
    Child { call: "CreateProcess bash.exe", file, thread }
}

/// A tool: it writes a line into the pipe that the shell reads.
fn run_tool(b: &mut Builder, parent: Program, tool: &Tool, output: Event, ended: Event) -> Child {
    let (_, thread) = program(b, parent, (tool.name, tool.line, tool.images), "kernel32!BaseThreadInitThunk");
    let main = [USER, tool.main];
    let mut steps = loads(b, &main);
    let works = b.code(&main, &["KERNELBASE!CreateFileW ntdll!NtCreateFile", "ntdll!RtlAllocateHeap"]);
    // Git for Windows knows nothing of the POSIX layer.
    let writes = if tool.images.contains(&MSYS) {
        WRITES_PIPE
    } else {
        "KERNELBASE!WriteFile ntdll!NtWriteFile nt!KiSystemServiceCopyEnd nt!NtWriteFile nt!IofCallDriver \
        Npfs!NpFsdWrite Npfs!NpWriteDataQueue nt!IofCompleteRequest nt!IopCompleteRequest nt!KeSetEvent"
    };
    steps.extend([
        Step::Run(works, 1_000, 4_000),
        Step::Set(b.path(&[main[0], main[1], writes]), output),
        Step::Run(works, 200, 600),
        Step::Set(b.path(&[USER, EXITS]), ended),
    ]);
    b.script(thread, &steps, &[]);
    let file = b.file(tool.path);
    Child { call: tool.call, file, thread }
}
