//! Scenario `git-bash`: Git Bash takes ten seconds to open. Each process that starts waits until a
//! virus scanner has read its image: a filter driver asks a service whenever a section of an image
//! is made. The processors are hardly busy.

mod code;

use super::windows::{
    FOR_THREAD, READS_FILE, SLEEPS, SYSCALL, USER, WAIT_FOR_OBJECT, background, machine, reading,
    service, user_program,
};
use crate::Options;
use crate::plan::{Plan, reason};
use crate::script::{Ask, Builder, Step};
use crate::table::{Event, File, Module, Port, Program, Thread};
use code::{
    ASKS, BASH_EXE, BASH_IMAGES, BASH_MAIN, CREATE, EXITS, EXPLORER_IMAGES, EXPLORER_MAIN, FORK,
    GETS_MESSAGE, GIT_BASH_IMAGES, IMAGES, LAUNCHES, MINTTY_IMAGES, MSYS, MSYS_MAIN, NT_CREATE,
    READS_PIPE, SCANNER_IMAGES, SECTION, SPAWN, TOOLS, Tool, WAITS_FOR_CHILD, WRITES_PIPE,
};

/// Seconds for each opening.
const SECONDS: u32 = 13;
/// Milliseconds until the user clicks.
const CLICK_MS: u32 = 1000;

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), SECONDS, &IMAGES, true);
    // A hard disk that is kept busy, so that each transfer takes long.
    b.disk(11_000, 24_000);
    background(&mut b);
    let port = b.port();
    scanner(&mut b, port);
    let ids = (b.id(), 5120);
    let explorer = b.program(user_program(
        ids,
        "explorer.exe",
        r"C:\Windows\Explorer.EXE",
        EXPLORER_IMAGES,
    ));
    let thread = b.thread(explorer, 10, "explorer!CTray::MainThreadProc");
    let mut once = Vec::new();
    for round in 0..options.scale {
        // Each round has processes of its own, since a process of a plan lives once.
        once.extend(clicks(
            &mut b,
            port,
            explorer,
            1000 * SECONDS * round + CLICK_MS,
        ));
    }
    let waits = b.waits(&[USER, EXPLORER_MAIN, GETS_MESSAGE]);
    let paints = b.code(
        &[USER, EXPLORER_MAIN],
        &["explorer!CTaskListWnd::_HandlePaint"],
    );
    b.script(
        thread,
        &once,
        &[
            Step::Sleep(waits, 150_000, 450_000),
            Step::Run(paints, 200, 900),
        ],
    );
    b.finish()
}

/// Returns the steps of a click on Git Bash at that time: the desktop starts it.
fn clicks(b: &mut Builder, port: Port, explorer: Program, at_ms: u32) -> Vec<Step> {
    let waits = b.waits(&[USER, EXPLORER_MAIN, GETS_MESSAGE]);
    let code = b.code(
        &[USER, EXPLORER_MAIN, LAUNCHES],
        &["shell32!CShellExecute::_PrepareEnvironment"],
    );
    let git_bash = git_bash(b, port, explorer);
    let mut steps = vec![
        Step::Click(waits, at_ms),
        Step::Mark("Git Bash clicked"),
        Step::Run(code, 2_000, 4_000),
    ];
    steps.extend(creates(b, &[USER, EXPLORER_MAIN, LAUNCHES], port, git_bash));
    steps
}

/// Adds the scanner's service: a pool of threads that answer the driver, and one that looks for
/// updates.
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
    let reads = b.waits(&[
        begins0,
        begins1,
        scan,
        "nwengine!CFileReader::Fill",
        READS_FILE,
    ]);
    let engine = b.code(
        &[begins0, begins1, scan],
        &[
            "nwengine!CSignatureTree::Match",
            "nwengine!CSignatureTree::Match nwengine!CAutomaton::Advance",
            "nwengine!CUnpacker::Unpack nwengine!CInflate::DecodeBlock",
            "nwengine!CHash::Update",
        ],
    );
    let emulator = b.code(
        &[begins0, begins1, scan, "nwengine!CEmulator::Run"],
        &["nwengine!CEmulator::Step"],
    );
    let unpacks = b.code(
        &[begins0, begins1],
        &["nwengine!CFilterPort::Dispatch", "nwengine!CCache::Find"],
    );
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
        Step::ReadAsked(
            reads,
            reading(signatures, 17, 65_536, (engine, 12_000, 21_000)),
        ),
        Step::Run(emulator, 18_000, 42_000),
        Step::Answer(answers),
    ];
    // More threads than concurrent process starts: a start waits for the scan, not for the queue.
    for _ in 0..4 {
        let thread = b.thread(program, 8, "nwengine!CWorkerPool::ThreadProc");
        b.script(thread, &[], &pool);
    }
    let thread = b.thread(program, 8, "NwScanSvc!CUpdater::ThreadProc");
    let begins = [USER, "NwScanSvc!CUpdater::ThreadProc"];
    let waits = b.waits(&[begins[0], begins[1], SLEEPS]);
    let code = b.code(&begins, &["NwScanSvc!CUpdater::Poll"]);
    b.script(
        thread,
        &[],
        &[
            Step::Sleep(waits, 400_000, 900_000),
            Step::Run(code, 100, 600),
        ],
    );
}

/// A process that will be started: its name, and its first thread.
#[derive(Clone, Copy)]
struct Child {
    call: &'static str,
    file: File,
    thread: Thread,
}

/// Returns the steps of a `CreateProcess` in code with these frames.
fn creates(b: &mut Builder, frames: &[&str], port: Port, child: Child) -> Vec<Step> {
    let inner = |parts: &[&'static str]| -> Vec<String> {
        frames
            .iter()
            .chain(parts)
            .map(|part| (*part).to_owned())
            .collect()
    };
    let text = |parts: &[&'static str]| inner(parts).join(" ");
    let prepares = b.code(
        &[&text(&[CREATE])],
        &[
            "KERNELBASE!BasepCreateProcessParameters",
            "ntdll!RtlCreateProcessParametersEx",
        ],
    );
    let begins = b.code(
        &[&text(&[CREATE, NT_CREATE])],
        &[
            "nt!PspBuildCreateProcessContext",
            "nt!ObOpenObjectByNameEx nt!ObpLookupObjectName",
        ],
    );
    let asking = text(&[CREATE, NT_CREATE, SECTION, ASKS]);
    let sends = b.path(&[
        &asking,
        "nt!IofCompleteRequest nt!IopfCompleteRequest nt!KeInsertQueueEx",
    ]);
    let waits = b.waits(&[&asking]);
    let goes_on = b.code(
        &[&text(&[CREATE, NT_CREATE])],
        &[
            "nt!PspAllocateProcess nt!MmInitializeProcessAddressSpace",
            "nt!PspAllocateThread nt!KeInitThread",
        ],
    );
    let inserts = b.path(&[
        &text(&[CREATE, NT_CREATE]),
        "nt!PspInsertThread nt!KeStartThread nt!KeReadyThread",
    ]);
    let registers = b.code(
        &[&text(&[CREATE])],
        &[
            "KERNELBASE!BasepConstructSxsCreateProcessMessage",
            "ntdll!CsrClientCallServer",
        ],
    );
    vec![
        Step::Begin(child.call, None),
        Step::Run(prepares, 300, 900),
        Step::Run(begins, 150, 400),
        Step::Ask(
            sends,
            Ask {
                port,
                file: child.file,
                waits,
                reason: reason::EXECUTIVE,
            },
        ),
        Step::Run(goes_on, 300, 800),
        Step::Start(inserts, child.thread),
        Step::Run(registers, 150, 450),
        Step::End,
    ]
}

/// Returns the first steps of every new process.
fn loads(b: &mut Builder, runtime: &[&str]) -> Vec<Step> {
    let loader = b.code(
        &["ntdll!LdrInitializeThunk ntdll!LdrpInitialize ntdll!LdrpInitializeProcess"],
        &[
            "ntdll!LdrpLoadDllInternal ntdll!LdrpFindOrPrepareLoadingModule",
            "ntdll!LdrpLoadDllInternal ntdll!LdrpSnapModule",
            "ntdll!LdrpInitializeGraphRecurse ntdll!LdrpCallInitRoutine",
        ],
    );
    let init = b.code(
        runtime,
        &["KERNELBASE!GetModuleFileNameW", "ntdll!RtlAllocateHeap"],
    );
    vec![Step::Run(loader, 2_000, 5_000), Step::Run(init, 600, 1_800)]
}

/// Adds a program of Git Bash with its main thread, which a step starts.
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

/// Adds the launcher: it starts the terminal and waits for its end.
fn git_bash(b: &mut Builder, port: Port, explorer: Program) -> Child {
    let name = (
        "git-bash.exe",
        r#""C:\Program Files\Git\git-bash.exe" --cd-to-home"#,
        GIT_BASH_IMAGES,
    );
    let (program, thread) = program(b, explorer, name, "git-bash!wWinMain");
    let main = [USER, "git-bash!wWinMain"];
    let terminal = mintty(b, port, program);
    let mut steps = loads(b, &main);
    steps.extend(creates(b, &main, port, terminal));
    let (waits, never) = (b.waits(&[main[0], main[1], WAIT_FOR_OBJECT]), b.event(0));
    steps.push(Step::Await(waits, FOR_THREAD, never));
    b.script(thread, &steps, &[]);
    let file = b.file(r"Program Files\Git\git-bash.exe");
    Child {
        call: "CreateProcess git-bash.exe",
        file,
        thread,
    }
}

/// Adds the terminal: it starts the shell and shows its output.
fn mintty(b: &mut Builder, port: Port, parent: Program) -> Child {
    let line = "usr\\bin\\mintty.exe --nodaemon -o AppID=GitForWindows.Bash -o RelaunchDisplayName=\"Git Bash\" \
        -i /mingw64/share/git/git-for-windows.ico /usr/bin/bash --login -i";
    let (program, thread) = program(
        b,
        parent,
        ("mintty.exe", line, MINTTY_IMAGES),
        "msys-2.0!dll_crt0_0",
    );
    let (main, writes) = ([USER, MSYS_MAIN, "mintty!main"], b.event(0));
    // From the inside out: a thread has to be in the plan before the step that starts it.
    let shell = shell(b, port, program, writes);
    let mut steps = loads(b, &main);
    let opens = b.code(&main, &["mintty!win_init_fonts", "mintty!win_reconfig"]);
    steps.push(Step::Run(opens, 6_000, 12_000));
    let forks = "mintty!child_create msys-2.0!forkpty msys-2.0!fork msys-2.0!frok::parent";
    steps.extend(creates(b, &[main[0], main[1], main[2], forks], port, shell));
    let waits = b.waits(&[
        main[0],
        main[1],
        main[2],
        "user32!RealMsgWaitForMultipleObjectsEx",
    ]);
    let paints = b.code(
        &main,
        &["mintty!win_paint mintty!do_update", "mintty!term_write"],
    );
    steps.extend([
        Step::Await(waits, reason::WR_USER_REQUEST, writes),
        Step::Run(paints, 3_000, 6_000),
        Step::Mark("Prompt"),
    ]);
    let again = [
        Step::Sleep(waits, 480_000, 520_000),
        Step::Run(paints, 200, 500),
    ];
    b.script(thread, &steps, &again);
    let file = b.file(r"Program Files\Git\usr\bin\mintty.exe");
    Child {
        call: "CreateProcess mintty.exe",
        file,
        thread,
    }
}

/// Adds the shell: it runs the profile, each tool of it in a subshell, and shows a prompt.
fn shell(b: &mut Builder, port: Port, parent: Program, writes: Event) -> Child {
    let name = ("bash.exe", "/usr/bin/bash --login -i", BASH_IMAGES);
    let (program, thread) = program(b, parent, name, "msys-2.0!dll_crt0_0");
    let main = [USER, MSYS_MAIN, BASH_MAIN];
    let mut steps = loads(b, &main);
    let parses = b.code(
        &main,
        &[
            "bash!yyparse bash!yylex",
            "bash!expand_word_list_internal",
            "bash!execute_simple_command",
        ],
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
    let prompt = b.path(&[
        main[0],
        main[1],
        "bash!main bash!reader_loop bash!rl_display_prompt",
        WRITES_PIPE,
    ]);
    let reads = b.waits(&[
        main[0],
        main[1],
        "bash!main bash!reader_loop bash!readline",
        WAIT_FOR_OBJECT,
    ]);
    let never = b.event(0);
    steps.extend([
        Step::Run(parses, 2_000, 4_000),
        Step::Set(prompt, writes),
        Step::Await(reads, FOR_THREAD, never),
    ]);
    b.script(thread, &steps, &[]);
    let file = b.file(BASH_EXE);
    Child {
        call: "CreateProcess bash.exe",
        file,
        thread,
    }
}

/// Returns the steps in which the shell starts a subshell, reads its output, and waits for its end.
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
    let waits = b.waits(&[
        user,
        msys,
        bash,
        "bash!wait_for msys-2.0!wait4 msys-2.0!cygwait",
        WAITS_FOR_CHILD,
    ]);
    steps.extend(output.map(|output| Step::Await(reads, reason::EXECUTIVE, output)));
    steps.push(Step::Await(waits, FOR_THREAD, ended));
    steps
}

/// Adds a copy of the shell, which starts a tool or does a little itself.
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
        &[
            "msys-2.0!fixup_after_fork msys-2.0!child_copy",
            "msys-2.0!dll_list::load_after_fork",
        ],
    );
    steps.push(Step::Run(copies, 3_000, 7_000));
    if let Some((tool, output)) = tool {
        let tool_ended = b.event(0);
        let child = run_tool(b, program, tool, output, tool_ended);
        steps.extend(creates(
            b,
            &[USER, MSYS_MAIN, BASH_MAIN, SPAWN],
            port,
            child,
        ));
        let waits = b.waits(&[
            USER,
            MSYS_MAIN,
            "msys-2.0!child_info_spawn::worker msys-2.0!cygwait",
            WAITS_FOR_CHILD,
        ]);
        steps.push(Step::Await(waits, FOR_THREAD, tool_ended));
    }
    steps.push(Step::Set(
        b.path(&[USER, MSYS_MAIN, "msys-2.0!do_exit", EXITS]),
        ended,
    ));
    b.script(thread, &steps, &[]);
    let file = b.file(BASH_EXE);
    Child {
        call: "CreateProcess bash.exe",
        file,
        thread,
    }
}

/// Adds a tool: it writes a line into the pipe that the shell reads.
fn run_tool(b: &mut Builder, parent: Program, tool: &Tool, output: Event, ended: Event) -> Child {
    let (_, thread) = program(
        b,
        parent,
        (tool.name, tool.line, tool.images),
        "kernel32!BaseThreadInitThunk",
    );
    let main = [USER, tool.main];
    let mut steps = loads(b, &main);
    let works = b.code(
        &main,
        &[
            "KERNELBASE!CreateFileW ntdll!NtCreateFile",
            "ntdll!RtlAllocateHeap",
        ],
    );
    // Git for Windows writes to the pipe itself, without the POSIX layer.
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
    Child {
        call: tool.call,
        file,
        thread,
    }
}
