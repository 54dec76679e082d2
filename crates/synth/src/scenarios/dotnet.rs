//! Common parts of the scenarios with .NET programs: images of the runtime, a command prompt that
//! starts programs, and the first steps of these.

use super::windows::{
    FOR_THREAD, MICROSOFT, SLEEPS, SYSTEM32, USER, WAIT_FOR_OBJECT, image, user_program,
};
use crate::plan::{Maker, ModulePlan};
use crate::script::{Builder, Step};
use crate::table::{Event, Module, Program, Thread};

static DOTNET: Maker = Maker {
    company: "Microsoft Corporation",
    product: "Microsoft\u{ae} .NET",
    version: "7.0.222.60605",
    sources: "/_/src/",
};
const SHARED: (&str, &str) = (
    r"\Device\HarddiskVolume3\Program Files\dotnet\shared\Microsoft.NETCore.App\7.0.2\",
    r"C:\Program Files\dotnet\shared\Microsoft.NETCore.App\7.0.2\",
);
pub(super) const CMD: ModulePlan = image(
    ("cmd", "cmd.exe", "cmd.pdb"),
    SYSTEM32,
    (0x7FF6_2E80_0000, 0x6_7000),
    &MICROSOFT,
);
pub(crate) const CORECLR: ModulePlan = image(
    ("coreclr", "coreclr.dll", "coreclr.pdb"),
    SHARED,
    (0x7FF9_1C20_0000, 0x4F_B000),
    &DOTNET,
);
pub(crate) const CLRJIT: ModulePlan = image(
    ("clrjit", "clrjit.dll", "clrjit.pdb"),
    SHARED,
    (0x7FF9_1BF0_0000, 0x1D_1000),
    &DOTNET,
);
pub(crate) const CORE_LIB: ModulePlan = image(
    (
        "CoreLib",
        "System.Private.CoreLib.dll",
        "System.Private.CoreLib.pdb",
    ),
    SHARED,
    (0x7FF9_1B20_0000, 0xC2_A000),
    &DOTNET,
);

/// Frames of a program's main thread before its `Main`.
pub(crate) const HOST: &str =
    "coreclr!coreclr_execute_assembly coreclr!Assembly::ExecuteMainMethod";
/// Frames of a thread of the pool.
pub(super) const TASK: &str = "coreclr!ThreadNative::KickOffThread CoreLib!System.Threading.PortableThreadPool.WorkerThread.WorkerThreadStart \
    CoreLib!System.Threading.Tasks.Task.ExecuteEntryUnsafe";
const EXITS: &str = "ntdll!RtlExitUserProcess ntdll!NtTerminateProcess nt!KiSystemServiceCopyEnd nt!NtTerminateProcess \
    nt!PspTerminateThreadByPointer nt!PspExitThread nt!PspExitProcess nt!KeSetProcess";
const CREATES: &str = "cmd!main cmd!Dispatch cmd!ExecPgm KERNELBASE!CreateProcessW ntdll!NtCreateUserProcess \
    nt!KiSystemServiceCopyEnd nt!NtCreateUserProcess nt!PspInsertThread nt!KeStartThread nt!KeReadyThread";

/// A command prompt.
pub(super) struct Prompt {
    program: Program,
    thread: Thread,
    steps: Vec<Step>,
}

impl Prompt {
    /// Creates a prompt with these images, the executable first.
    pub(super) fn new(b: &mut Builder, cmd: &'static [Module]) -> Self {
        let ids = (b.id(), 5120);
        let program = b.program(user_program(
            ids,
            "cmd.exe",
            r"C:\Windows\system32\cmd.exe",
            cmd,
        ));
        let thread = b.thread(program, 8, "cmd!main");
        Self {
            program,
            thread,
            steps: Vec::new(),
        }
    }

    /// Adds a process that the prompt will start, with its main thread.
    pub(super) fn child(
        &self,
        b: &mut Builder,
        name: &'static str,
        command_line: &'static str,
        images: &'static [Module],
    ) -> (Program, Thread) {
        let ids = (b.id(), b.pid(self.program));
        let program = b.program(user_program(ids, name, command_line, images));
        let thread = b.thread(program, 8, "coreclr!coreclr_execute_assembly");
        b.is_started(thread);
        (program, thread)
    }

    /// Lets the user type the next command at that time.
    pub(super) fn types(&mut self, b: &mut Builder, at_ms: u32) {
        let reads = b.waits(&[
            USER,
            "cmd!main cmd!Parser cmd!ReadBufFromConsole ntdll!NtReadFile",
        ]);
        self.steps.push(Step::Click(reads, at_ms));
    }

    /// Lets the prompt start a process and wait for its end.
    pub(super) fn starts(&mut self, b: &mut Builder, thread: Thread, ended: Event) {
        let prepares = b.code(
            &[USER, "cmd!main cmd!Dispatch"],
            &["cmd!SearchForExecutable"],
        );
        let creates = b.path(&[USER, CREATES]);
        let waits = b.waits(&[
            USER,
            "cmd!main cmd!Dispatch cmd!ExecPgm cmd!WaitProc",
            WAIT_FOR_OBJECT,
        ]);
        self.steps.extend([
            Step::Run(prepares, 300, 900),
            Step::Start(creates, thread),
            Step::Await(waits, FOR_THREAD, ended),
        ]);
    }

    /// No command follows; the prompt waits for input until the trace ends.
    pub(super) fn done(mut self, b: &mut Builder) {
        let reads = b.waits(&[
            USER,
            "cmd!main cmd!Parser cmd!ReadBufFromConsole ntdll!NtReadFile",
        ]);
        // The prompt outlives the trace: it waits for input that does not come.
        let never = b.event(0);
        self.steps.push(Step::Await(reads, FOR_THREAD, never));
        b.script(self.thread, &self.steps, &[]);
    }
}

/// Returns the steps of a program before its `Main`; durations are in microseconds.
pub(super) fn begins(
    b: &mut Builder,
    runtime: &str,
    loads_us: u32,
    initializes_us: u32,
) -> Vec<Step> {
    let loader = b.code(
        &["ntdll!LdrInitializeThunk ntdll!LdrpInitialize ntdll!LdrpInitializeProcess"],
        &[
            "ntdll!LdrpLoadDllInternal ntdll!LdrpSnapModule",
            "ntdll!LdrpLoadDllInternal ntdll!LdrpMapDll",
        ],
    );
    let init = b.code(
        &[USER, runtime],
        &["ntdll!RtlAllocateHeap", "KERNELBASE!MapViewOfFile"],
    );
    let around = |us: u32| (us - us / 10, us + us / 10);
    let ((load_low, load_high), (low, high)) = (around(loads_us), around(initializes_us));
    vec![
        Step::Run(loader, load_low, load_high),
        Step::Run(init, low, high),
    ]
}

/// Returns the step at the end of a program.
pub(super) fn ends(b: &mut Builder, ended: Event) -> Step {
    Step::Set(b.path(&[USER, EXITS]), ended)
}

/// Adds the thread of the runtime that sleeps and recompiles hot methods, `times` times.
pub(super) fn tiers(b: &mut Builder, program: Program, times: usize) -> Thread {
    let thread = b.thread(
        program,
        8,
        "coreclr!TieredCompilationManager::BackgroundWorkerStart",
    );
    b.is_started(thread);
    let root = [
        USER,
        "coreclr!TieredCompilationManager::BackgroundWorkerStart",
    ];
    let sleeps = b.waits(&[root[0], root[1], "coreclr!ClrSleepEx", SLEEPS]);
    let compiles = b.code(
        &root,
        &["coreclr!MethodDesc::JitCompileCode clrjit!jitNativeCode"],
    );
    let once = [
        Step::Sleep(sleeps, 100_000, 110_000),
        Step::Run(compiles, 900, 3_200),
    ];
    // The thread ends by itself, as the runtime lets it go when no method is left to compile again.
    b.script(thread, &once.repeat(times), &[]);
    thread
}
