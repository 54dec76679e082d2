//! Scenario `process-starts`: a build starts short programs from three threads, a broker starts
//! some for the desktop. Children run on a free processor, which is mostly not their creator's.
//! System calls are recorded, so that the creator's call has a beginning; some fail, and some
//! children are ended by their creator.

use super::windows::{
    EXPLORER, KERNEL32, KERNELBASE, NTDLL, OWN, SLEEPS, USER, background, image, machine, service,
    user_program,
};
use crate::Options;
use crate::act::Act;
use crate::plan::{Maker, ModulePlan, Plan, ProgramPlan};
use crate::script::{Builder, Step};
use crate::table::{Module, Program, Thread};

static CONTOSO: Maker = Maker {
    company: "Contoso",
    product: "Contoso Build",
    version: "1.9.0.0",
    sources: r"D:\build\make\src\",
};
const FOLDER: (&str, &str) = (r"\Device\HarddiskVolume3\Build\", r"C:\Build\");
const IMAGES: [ModulePlan; 4] = [
    image(
        ("Make", "Make.exe", "Make.pdb"),
        FOLDER,
        (0x7FF6_5A10_0000, 0x31_0000),
        &CONTOSO,
    ),
    image(
        ("Compile", "Compile.exe", "Compile.pdb"),
        FOLDER,
        (0x7FF7_12C0_0000, 0x1C_0000),
        &CONTOSO,
    ),
    image(
        ("passes", "passes.dll", "passes.pdb"),
        FOLDER,
        (0x7FF9_3B40_0000, 0x11_2000),
        &CONTOSO,
    ),
    image(
        ("Broker", "Broker.exe", "Broker.pdb"),
        FOLDER,
        (0x7FF6_E7A0_0000, 0x16_0000),
        &CONTOSO,
    ),
];
const MAKE: &[Module] = &[Module(OWN), NTDLL, KERNEL32, KERNELBASE];
const COMPILE: &[Module] = &[
    Module(OWN + 1),
    NTDLL,
    KERNEL32,
    KERNELBASE,
    Module(OWN + 2),
];
const BROKER: &[Module] = &[Module(OWN + 3), NTDLL, KERNEL32, KERNELBASE];
const DESKTOP: &[Module] = &[EXPLORER, NTDLL, KERNEL32, KERNELBASE];

/// Milliseconds of each thread's round, in which it starts two programs.
const ROUND_MS: u32 = 70;
/// `Flags` of a process of 32 bits and of a protected one.
const WOW64: u32 = 2;
const PROTECTED: u32 = 4;
/// Status of a missing file (`STATUS_OBJECT_NAME_NOT_FOUND`), and of terminated processes.
const NOT_FOUND: u32 = 0xC000_0034;
const ENDED: u32 = 0x4001_0004;

const CREATES: &str = "KERNELBASE!CreateProcessW KERNELBASE!CreateProcessInternalW ntdll!NtCreateUserProcess \
    nt!KiSystemServiceCopyEnd";
const ENDS: &str = "KERNELBASE!TerminateProcess ntdll!NtTerminateProcess nt!KiSystemServiceCopyEnd";

pub(crate) fn plan(options: &Options) -> Plan {
    let mut b = machine(options.cpus.unwrap_or(4), 1, &IMAGES, false);
    // System calls: the cost of a start counts from the call of its creator.
    b.records(&[(0, 0x80), (2, 0x40)]);
    b.reports_starts();
    background(&mut b);
    let ids = (b.id(), 5120);
    let make = b.program(user_program(ids, "Make.exe", "Make.exe all", MAKE));
    // Each round has processes of its own, since a process of a plan lives once: this is the number
    // of rounds that the trace has time for.
    let rounds = 1000 * options.scale / ROUND_MS;
    for thread in 0..3 {
        creator(
            &mut b,
            (make, make),
            thread,
            ("Make!CJob::ThreadProc", rounds),
        );
    }
    let ids = (b.id(), 800);
    let desktop = b.program(user_program(
        ids,
        "explorer.exe",
        r"C:\Windows\Explorer.EXE",
        DESKTOP,
    ));
    let thread = b.thread(desktop, 10, "explorer!CTray::MainThreadProc");
    let waits = b.waits(&[USER, "explorer!CTray::MainThreadProc", SLEEPS]);
    let paints = b.code(
        &[USER, "explorer!CTray::MainThreadProc"],
        &["explorer!CTaskListWnd::_HandlePaint"],
    );
    b.script(
        thread,
        &[],
        &[
            Step::Sleep(waits, 50_000, 90_000),
            Step::Run(paints, 200, 900),
        ],
    );
    let ids = (b.id(), 804);
    let broker = b.program(service(ids, "Broker.exe", "Broker.exe /service", BROKER));
    // The parent of these children is the desktop, and the broker creates them: readers must not
    // confuse the two.
    creator(
        &mut b,
        (broker, desktop),
        3,
        ("Broker!CRequest::Launch", rounds),
    );
    b.finish()
}

/// Adds a thread that starts programs: each round one that ends itself, and one that it terminates
/// or that does not exist.
fn creator(
    b: &mut Builder,
    (program, parent): (Program, Program),
    number: u32,
    (name, rounds): (&'static str, u32),
) {
    let thread = b.thread(program, 8, name);
    let waits = b.waits(&[USER, name, SLEEPS]);
    let code = b.code(
        &[USER, name],
        &["KERNELBASE!SearchPathW", "ntdll!RtlAllocateHeap"],
    );
    let mut steps = Vec::new();
    for round in 0..rounds {
        let flags = if round % 3 == 1 { WOW64 } else { 0 };
        let (_, first) = child(b, parent, flags, false);
        steps.extend([Step::Sleep(waits, 8_000, 16_000), Step::Run(code, 200, 700)]);
        steps.extend(creates(b, name, Ok(first)));
        steps.push(Step::Sleep(waits, 18_000, 24_000));
        // Out of step between the threads, so that failures and ends do not all come at the same
        // time.
        if (round + number).is_multiple_of(2) {
            steps.extend(creates(b, name, Err(NOT_FOUND)));
            continue;
        }
        let (other, first) = child(b, parent, PROTECTED, true);
        steps.extend(creates(b, name, Ok(first)));
        steps.push(Step::Sleep(waits, 6_000, 10_000));
        let (ends, code) = (b.path(&[USER, name, ENDS, "nt!NtTerminateProcess"]), code);
        steps.extend([
            Step::Act(ends, Act::Terminates(other, ENDED)),
            Step::Run(code, 50, 100),
        ]);
    }
    b.script(
        thread,
        &steps,
        &[
            Step::Sleep(waits, 40_000, 60_000),
            Step::Run(code, 100, 200),
        ],
    );
}

/// Returns the steps of a process creation, which succeeds or fails.
fn creates(b: &mut Builder, name: &str, child: Result<Thread, u32>) -> Vec<Step> {
    let function = b.function("nt!NtCreateUserProcess");
    let calls = b.path(&[USER, name, CREATES]);
    let inside = [USER, name, CREATES, "nt!NtCreateUserProcess"];
    let looks = b.code(
        &inside,
        &["nt!PspBuildCreateProcessContext", "nt!ObOpenObjectByNameEx"],
    );
    let makes = b.code(
        &inside,
        &["nt!PspAllocateProcess nt!MmInitializeProcessAddressSpace"],
    );
    let inserts = b.path(&[
        inside[0],
        inside[1],
        inside[2],
        inside[3],
        "nt!PspInsertThread nt!KeStartThread nt!KeReadyThread",
    ]);
    let mut steps = vec![
        Step::Act(calls, Act::CallBegins(function)),
        Step::Run(looks, 150, 700),
    ];
    match child {
        Ok(thread) => steps.extend([
            Step::Run(makes, 200, 900),
            Step::Start(inserts, thread),
            Step::Run(makes, 40, 160),
            Step::Act(calls, Act::CallEnds(0)),
        ]),
        Err(status) => steps.push(Step::Act(calls, Act::CallEnds(status))),
    }
    steps
}

/// Adds a program that computes a little and ends, or waits until it is terminated.
fn child(b: &mut Builder, parent: Program, flags: u32, waits: bool) -> (Program, Thread) {
    let ids = (b.id(), b.pid(parent));
    let plan = user_program(ids, "Compile.exe", "Compile.exe /c unit.c", COMPILE);
    let program = b.program(ProgramPlan { flags, ..plan });
    let thread = b.thread(program, 8, "Compile!main");
    b.is_started(thread);
    let loads = b.code(
        &["ntdll!LdrInitializeThunk ntdll!LdrpInitialize ntdll!LdrpInitializeProcess"],
        &[
            "ntdll!LdrpLoadDllInternal ntdll!LdrpSnapModule",
            "ntdll!LdrpCallInitRoutine",
        ],
    );
    let main = [USER, "Compile!main"];
    let works = b.code(&main, &["passes!CLexer::Next", "passes!CAllocator::Color"]);
    let mut steps = vec![Step::Run(loads, 400, 1_200), Step::Run(works, 600, 3_000)];
    if waits {
        let waits = b.waits(&[main[0], main[1], SLEEPS]);
        // Wakes often, since a thread ends only when it runs: the time from the request to the end
        // stays short.
        b.script(
            thread,
            &steps,
            &[Step::Sleep(waits, 900, 2_500), Step::Run(works, 20, 80)],
        );
        return (program, thread);
    }
    let exits = "ntdll!RtlExitUserProcess ntdll!NtTerminateProcess nt!KiSystemServiceCopyEnd nt!NtTerminateProcess";
    let ends = b.path(&[main[0], main[1], exits]);
    let cleans = b.code(
        &[main[0], main[1], exits],
        &[
            "nt!ObKillProcess nt!ObpCloseHandle",
            "nt!MmCleanProcessAddressSpace",
        ],
    );
    steps.extend([
        Step::Act(ends, Act::Terminates(program, 0)),
        Step::Run(cleans, 100, 900),
    ]);
    b.script(thread, &steps, &[]);
    (program, thread)
}
